"""Before Numba compiles for some seconds, once per installation and function: a line on stderr."""

import logging
from contextlib import contextmanager, nullcontext
from types import ModuleType

from numba.core.dispatcher import Dispatcher
from numba.core.event import Listener, register, unregister

from hopwave.system import shipped_code
from hopwave.system.progress import instead, say

log = logging.getLogger("hopwave")

_begun = set()
_NOTHING_TO_SAY = nullcontext()


def is_compiled(function):
    """Whether machine code is on disk or in the wheel. True also if none can be kept: a warning has said so."""
    try:
        return bool(list(function._cache._cache_file._load_index())) or shipped_code.holds(function.py_func)
    except Exception:  # Numba's private attributes, or a damaged file: without them the notice is lost, nothing else
        return True


class Count(Listener):
    """Tells meters how many of the functions that a function calls are compiled."""

    def __init__(self, function):
        self.all, self.done, self.depth = called(function), set(), 0

    def on_start(self, event):
        self.depth += 1
        self._tell()

    def on_end(self, event):
        self.depth -= 1
        self.done.add(event.data["dispatcher"])
        self._tell()

    def _tell(self):
        done = len(self.done & self.all)
        instead(f"compiling, {done} of {len(self.all)} functions" if self.depth else None)


def called(function):
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


def compiling(function):
    """A context: say that compiling takes seconds, if it does, and how far it is. HOPWAVE_PROGRESS=0 silences it."""
    if function not in _begun and not is_compiled(function):
        _begun.add(function)
        return _telling(function)
    _begun.add(function)
    return _NOTHING_TO_SAY


@contextmanager
def _telling(function):
    log.info("compiling %s for this machine", function.__name__)
    say("compiling for this machine, once (up to 10 s)")
    count = Count(function)
    register("numba:compile", count)
    try:
        yield
    finally:
        unregister("numba:compile", count)
        instead(None)
