"""While Numba compiles for some seconds, once per installation: a line on stderr, a word for meters, other ways."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hopwave.system import shipped_code
from hopwave.system.progress import instead, say
from hopwave.system.threads import beside

log = logging.getLogger("hopwave")

_said = False  # whether this process has printed the line
_telling = False  # whether a function is being compiled; only a thread that has Numba's lock changes it


def is_compiled(function: Any) -> bool:
    """Whether machine code is on disk or in the wheel. True also if none can be kept: a warning has said so."""
    try:
        return bool(list(function._cache._cache_file._load_index())) or shipped_code.holds(function.py_func)
    except Exception:  # Numba's private attributes, or a damaged file: without them it is compiled when it is needed
        return True


@contextmanager
def telling(function: Any) -> Iterator[None]:
    """While a function is compiled: say so, once per process, unless HOPWAVE_PROGRESS=0; meters show it."""
    global _said, _telling
    if _telling:  # for a function that calls this one
        yield
        return
    part = function.__module__.removeprefix("hopwave.").removeprefix("engines.cpu.").split(".")[0].replace("_", " ")
    log.info("compiling %s (%s) for this machine", function.__name__, part)
    if not _said:
        _said = True
        say(f"compiling for this machine, once: {part} (up to 10 s; `hopwave warmup` compiles most parts beforehand)")
    _telling = True
    instead("compiling")
    try:
        yield
    finally:
        _telling = False
        instead(None)


class First:
    """First calls on a machine where a function was never compiled: they do without it if that takes less time."""

    most_seconds = 4.0  # that a call may take without the function, and all of them together
    most_calls = 8

    def __init__(self, function: Any) -> None:
        self.function, self.calls, self.seconds, self._lock = function, 0, 0.0, threading.Lock()

    def is_compiled(self) -> bool:
        """Whether the function is compiled, in this process or, when it began, on disk."""
        return bool(self.function.overloads) or (not self.calls and is_compiled(self.function))

    def avoids(self, seconds: float, use: Callable[[], Any] | None = None) -> bool:
        """Whether a call, which takes that long without the function, avoids it.

        After some calls use() compiles it, on a thread that an ending process waits for; or, without `use`, the caller.
        """
        if seconds > self.most_seconds or self.is_compiled():
            return False
        with self._lock:
            enough = self.calls < self.most_calls and self.seconds < self.most_seconds
            self.calls, self.seconds = self.calls + 1, self.seconds + seconds
            ends = self.calls >= self.most_calls or self.seconds >= self.most_seconds
        if use is None:
            return enough
        return not (enough and ends) or beside("hopwave-compiling", self._compile, use)

    def _compile(self, use: Callable[[], Any]) -> None:
        try:
            use()
        except Exception:  # the next call meets it too, and raises it
            log.debug("a call in the background failed", exc_info=True)
            self.most_seconds = 0.0
