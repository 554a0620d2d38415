"""One line on the terminal while Numba compiles, which happens once per machine."""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager

log = logging.getLogger("hopwave")
_ready = set()


def is_compiled(function):
    """Whether an earlier process left its machine code on disk, or nothing is kept there, which has been said."""
    try:
        return bool(list(function._cache._cache_file._load_index()))
    except Exception:  # Numba's private attributes, or a damaged file: without them the notice is lost, nothing else
        return True


@contextmanager
def compiling(function):
    """Say that compiling takes some seconds, if the function is not compiled yet and stderr is a terminal."""
    if function not in _ready and not is_compiled(function):
        log.info("compiling %s for this machine", function.__name__)
        if sys.stderr.isatty():
            print("hopwave: compiling for this machine, once (about 10 s)…", file=sys.stderr)
    yield
    _ready.add(function)
