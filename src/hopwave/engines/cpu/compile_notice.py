"""One line on stderr before Numba compiles for some seconds, which happens once per machine."""

from __future__ import annotations

import logging
from contextlib import contextmanager

from hopwave.system.progress import say

log = logging.getLogger("hopwave")

# About how long each function takes to compile, in seconds, on an idle machine; others take about three.
SECONDS = {
    "push_all": 1,
    "take_part": 10,
    "take_sources": 10,
    "take_pairs": 10,
    "take_batches": 8,
    "hook": 4,
    "take_rounds": 4,
    "count": 5,
    "tarjan": 2,
    "meet": 2,
}
_begun = set()


def is_compiled(function):
    """Whether an earlier process left machine code on disk. True also if none can be kept: a warning has said so."""
    try:
        return bool(list(function._cache._cache_file._load_index()))
    except Exception:  # Numba's private attributes, or a damaged file: without them the notice is lost, nothing else
        return True


@contextmanager
def compiling(function):
    """Say that compiling takes some seconds, if the function is not compiled yet. HOPWAVE_PROGRESS=0 silences it."""
    if function not in _begun:
        _begun.add(function)
        if not is_compiled(function):
            log.info("compiling %s for this machine", function.__name__)
            say(f"compiling for this machine, once (about {SECONDS.get(function.__name__, 3)} s)")
    yield
