"""While Numba compiles, once per installation: a notice on stderr and in progress bars, and slower alternatives."""

import gc
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hopwave.system import shipped_code
from hopwave.system.progress import instead, say
from hopwave.system.threads import beside

log = logging.getLogger("hopwave")

_said = False  # whether this process has printed the notice
_telling = False  # whether a function is being compiled; written only by the thread that holds Numba's lock


def is_compiled(function: Any) -> bool:
    """Whether machine code is on disk or in the wheel. Also True if machine code cannot be cached (see the log)."""
    with suppress(Exception):  # Numba's attributes changed, or a file is damaged: the function is compiled when called
        return bool(list(function._cache._cache_file._load_index())) or shipped_code.holds(function.py_func)
    return True


@contextmanager
def telling(function: Any) -> Iterator[None]:
    """Print a notice while a function is compiled, once per process, unless HOPWAVE_PROGRESS=0; meters show it too."""
    global _said, _telling
    if _telling:  # the caller of this function is being compiled
        yield
        return
    part = function.__module__.removeprefix("hopwave.").removeprefix("engines.cpu.").split(".")[0].replace("_", " ")
    log.info("compiling %s (%s) for this machine", function.__name__, part)
    if not _said:
        _said = True
        say(f"compiling for this machine, once: {part} (up to 10 s; `hopwave warmup` compiles most parts beforehand)")
    _telling, often = True, gc.get_threshold()
    gc.set_threshold(often[0] and 100_000, 20, 100)  # a compiler makes many objects and few cycles: 5% of its time
    instead("compiling")
    try:
        yield
    finally:
        _telling = False
        gc.set_threshold(*often)
        instead(None)


class First:
    """Lets the first calls avoid a function that is not compiled yet, if an alternative takes less time."""

    most_seconds = 4.0  # maximum time of the alternative, for one call and for all calls in total
    most_calls = 8  # maximum number of calls that avoid the function

    def __init__(self, function: Any) -> None:
        self.function, self.calls, self.seconds, self._lock = function, 0, 0.0, threading.Lock()
        self._compiling = False

    def is_compiled(self) -> bool:
        """Whether the function is compiled in this process, or was on disk before the first call."""
        return bool(self.function.overloads) or (not self.calls and is_compiled(self.function))

    def avoids(self, seconds: float, use: Callable[[], Any]) -> bool:
        """Whether a call avoids the function, if the alternative takes that many seconds.

        After some calls, use() compiles it, and all that it needs, on a thread that exit waits for.
        """
        if seconds > self.most_seconds or (self.is_compiled() and not self._compiling):
            return False
        with self._lock:
            enough = self.calls < self.most_calls and self.seconds < self.most_seconds
            self.calls, self.seconds = self.calls + 1, self.seconds + seconds
            ends = self.calls >= self.most_calls or self.seconds >= self.most_seconds
        if not (enough and ends):
            return True
        self._compiling = True
        started = beside("hopwave-compiling", self._compile, use)
        if not started:
            self._compiling = False
        return started

    def _compile(self, use: Callable[[], Any]) -> None:
        try:
            use()
        except Exception:  # the next call raises the same error
            log.debug("a call in the background failed", exc_info=True)
            self.most_seconds = 0.0
        self._compiling = False
