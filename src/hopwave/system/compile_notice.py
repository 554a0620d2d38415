"""While Numba compiles for some seconds, once per installation: a line on stderr, and a count for meters."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from numba.core.dispatcher import Dispatcher
from numba.core.event import Event, Listener, register, unregister

from hopwave.system import shipped_code
from hopwave.system.progress import instead, say

log = logging.getLogger("hopwave")

_said = False  # whether this process has printed the line
_counts: list[Count] = []  # the one under way; only a thread that has Numba's lock changes it


def is_compiled(function: Any) -> bool:
    """Whether machine code is on disk or in the wheel. True also if none can be kept: a warning has said so."""
    try:
        return bool(list(function._cache._cache_file._load_index())) or shipped_code.holds(function.py_func)
    except Exception:  # Numba's private attributes, or a damaged file: without them it is compiled when it is needed
        return True


class Count(Listener):
    """Tells meters how many of the functions that a function calls are compiled."""

    def __init__(self, function: Any) -> None:
        self.all, self.done = called(function), set[Any]()
        self._tell()

    def on_start(self, event: Event) -> None:
        """Nothing is known yet."""

    def on_end(self, event: Event) -> None:
        """Count a function."""
        self.done.add(event.data["dispatcher"])
        self._tell()

    def _tell(self) -> None:
        instead(f"compiling, {len(self.done & self.all)} of {len(self.all)} functions")


def called(function: Any) -> set[Any]:
    """The compiled functions that a compiled function calls, and those that they call, with itself."""
    found, left = set(), [function]
    while left:
        one = left.pop()
        if one in found:
            continue
        found.add(one)
        names, scope = one.py_func.__code__.co_names, one.py_func.__globals__
        places = [scope, *(vars(scope[name]) for name in names if isinstance(scope.get(name), ModuleType))]
        met = [place.get(name) for place in places for name in names]
        met += [cell.cell_contents for cell in one.py_func.__closure__ or ()]
        left += [function for function in met if isinstance(function, Dispatcher)]
    return found


@contextmanager
def telling(function: Any) -> Iterator[None]:
    """While a function is compiled: say so, once per process, unless HOPWAVE_PROGRESS=0; meters show how far it is."""
    global _said
    if _counts:  # for a function that calls this one
        yield
        return
    part = function.__module__.removeprefix("hopwave.").removeprefix("engines.cpu.").split(".")[0].replace("_", " ")
    log.info("compiling %s (%s) for this machine", function.__name__, part)
    if not _said:
        _said = True
        say(f"compiling for this machine, once: {part} (up to 10 s; `hopwave warmup` compiles all parts beforehand)")
    _counts.append(Count(function))
    register("numba:compile", _counts[0])  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        unregister("numba:compile", _counts.pop())  # type: ignore[no-untyped-call]
        instead(None)
