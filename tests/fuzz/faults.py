"""Faults at every step of every public function: memory that runs out, a disk that fails, Ctrl-C.

A call is repeated, and another step of it fails each time. Python's own profiler, which sees the calls of C functions,
says what a step is:

    memory     NumPy allocates an array: MemoryError
    disk       a file is opened, read, written, flushed, renamed or removed: OSError, no space or a failing device
    interrupt  a C function has returned, or a function of Python begins, which is where Python handles signals: Ctrl-C

After each fault: the error is hopwave's or the fault itself, and says something; no file, thread, handler or lock is
left; an old file is the old one or the new one; and the same call, on the same graph and in another thread, is right.
Functions are found by the names in __all__; one whose arguments are not known fails the test. Faults of a GPU itself
are those of gpu_faults.py.
"""

import errno
import gc
import itertools
import operator
import os
import random
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import interrupts
import numpy as np

import every_call
import hopwave as hw
from every_call import Call, plain
from hopwave.engines.cpu.crew import thread_count
from hopwave.system.threads import host_cores
from questions import Difference
from together import some

KINDS = ("memory", "disk", "interrupt")
STEPS = some(3)  # of each kind per attempt
# Functions of NumPy that are written in C and allocate, but that a profiler does not see.
HIDDEN = ("concatenate", "where", "bincount", "copyto", "empty_like", "zeros_like", "full_like")
ARRAYS = {
    *("empty", "zeros", "array", "asarray", "ascontiguousarray", "arange", "fromiter", "frombuffer", "fromstring"),
    *("astype", "copy", "repeat", "nonzero", "cumsum", "argsort", "sort", "tobytes", "take", "searchsorted", "flatten"),
}
FILES = {
    *("open", "read", "readinto", "readline", "readlines", "write", "writelines", "flush", "fsync", "tofile"),
    *("truncate", "replace", "rename", "unlink", "remove", "mkdir", "stat", "chmod", "flock", "scandir", "listdir"),
}
OF_FILES = {"posix", "nt", "io", "_io", "fcntl", "FileIO", "BufferedWriter", "BufferedReader", "BufferedRandom"}


# ---------------------------------------------------------------- the steps of a call


class Steps:
    """Counts the steps of one kind in this thread, and lets one of them fail."""

    def __init__(self, kind: str, fails: int = 0, error: int = errno.ENOSPC) -> None:
        self.kind, self.fails, self.errno, self.count = kind, fails, error, 0
        self.raised: BaseException | None = None
        self.where: list[str] = []

    def __enter__(self) -> "Steps":
        if self.kind == "memory":
            self._kept = {name: getattr(np, name) for name in HIDDEN}
            for name, function in self._kept.items():
                setattr(np, name, partial(self._counted, function))
        sys.setprofile(self._see)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)
        if self.kind == "memory":
            for name, function in self._kept.items():
                setattr(np, name, function)

    def _counted(self, function: Callable[..., Any], *given: Any, **more: Any) -> Any:
        self._step()
        return function(*given, **more)

    def _see(self, frame: Any, event: str, called: Any) -> None:
        if self.kind == "interrupt":
            if event in ("call", "c_return") and frame.f_code is not Steps.__exit__.__code__:
                self._step()
        elif event == "c_call" and (_allocates(called) if self.kind == "memory" else _reads_or_writes(called)):
            self._step()

    def _step(self) -> None:
        self.count += 1
        if self.count == self.fails:
            self.raised = self._fault()
            self.where = [f"{Path(one.filename).name}:{one.lineno}" for one in traceback.extract_stack(limit=12)[:-2]]
            raise self.raised

    def _fault(self) -> BaseException:
        if self.kind == "memory":
            return MemoryError("Unable to allocate 8.00 GiB for an array with shape (1073741824,)")
        return KeyboardInterrupt() if self.kind == "interrupt" else OSError(self.errno, os.strerror(self.errno))


def _allocates(called: Any) -> bool:
    owner = getattr(called, "__self__", None)
    module = getattr(called, "__module__", None) or ""
    return getattr(called, "__name__", "") in ARRAYS and (module.startswith("numpy") or isinstance(owner, np.ndarray))


def _reads_or_writes(called: Any) -> bool:
    owner = getattr(called, "__self__", None)
    place = getattr(called, "__module__", None) or type(owner).__name__
    return getattr(called, "__name__", "") in FILES and place in OF_FILES and getattr(owner, "name", 0) not in (1, 2)


# ---------------------------------------------------------------- a fault


class Faults:
    """All calls with their right answers, and the state in which the process must be after each fault."""

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        self.folder = folder / "files"
        self.folder.mkdir()
        tempfile.tempdir = str(folder / "temporary")
        Path(tempfile.tempdir).mkdir()
        self.same = every_call.close if device == "cuda" else operator.eq
        self.calls = every_call.calls(device) | (every_call.files(self.folder) if device == "cpu" else {})
        self.right: dict[str, Any] = {}
        # Errors in `__del__`, which Python prints and ignores. As text: the frames of a closed generator hold its file.
        self._ignored: list[tuple[type[BaseException], str]] = []
        warnings.filterwarnings("ignore", "progress cannot be saved", RuntimeWarning)
        sys.unraisablehook = lambda caught: self._ignored.append((caught.exc_type, repr(caught.exc_value)))

    def known(self, name: str) -> Any:
        """The right answer of a call, which compiles what it needs."""
        if name not in self.right:
            self.right[name] = plain(self.calls[name]()())
            if not self.same(plain(self.calls[name]()()), self.right[name]):
                raise Difference(f"{name}: two calls give two answers")
        return self.right[name]

    def count(self, name: str, kind: str) -> int:
        """How many steps of a kind a call has."""
        self.known(name)
        call = self.calls[name]()
        with Steps(kind) as steps:
            plain(call())
        return steps.count

    def attempt(self, name: str, kind: str, fails: int, error: int = errno.ENOSPC) -> bool:
        """Let one step of a call fail, and look at what is left. Returns whether there was such a step."""
        right, where = self.known(name), f"{name}, {kind} {fails}"
        call = self.calls[name]()
        before, old = self._state(), self._contents()
        with interrupts.watched():
            steps = Steps(kind, fails, error)
            raised: BaseException | None = None
            try:
                with steps:
                    found = plain(call())
            except BaseException as caught:
                raised = caught
            if steps.raised is None:
                return False
            if raised is not None:
                self._look_at(raised, kind, where)
            elif not self.same(found, right):
                raise Difference(f"{where}: a wrong answer")
            elif kind == "interrupt" and not self._ignored:
                raise Difference(f"{where}: Ctrl-C was ignored at {' > '.join(steps.where)}")
            raised = steps.raised = None  # their frames hold files
            interrupts.settle()
            self._compare(before, old, where, name)
            again: list[Any] = []
            worker = threading.Thread(target=lambda: again.append(answer(call)))
            worker.start()
            worker.join()
            if not self.same(again[0], right):
                raise Difference(f"{where}: the next call gave {str(again[0])[:300]}")
        return True

    def _look_at(self, raised: BaseException, kind: str, where: str) -> None:
        allowed: dict[str, tuple[type[BaseException], ...]] = {
            "memory": (MemoryError, hw.HopwaveError),
            "disk": (OSError, hw.HopwaveError),
            "interrupt": (KeyboardInterrupt,),
        }
        if not isinstance(raised, allowed[kind]) or (kind != "interrupt" and not str(raised)):
            trace = raised.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            at = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
            raise Difference(f"{where}: {raised!r} at {at}")

    def _state(self) -> dict[str, Any]:
        mask = os.umask(0)
        os.umask(mask)
        return {
            "threads": threading.active_count(),
            "handlers": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)],
            "umask": mask,
            "error state of NumPy": np.geterr(),
            "temporary files": sorted(Path(tempfile.gettempdir()).iterdir()),
            "open files": len(list(Path("/dev/fd").iterdir())),
            "filters": len(warnings.filters),
        }

    def _contents(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def _compare(self, before: dict[str, Any], old: dict[str, bytes], where: str, name: str) -> None:
        after = self._state()
        if after != before:
            gc.collect()
            after = self._state()
        before["threads"] = max(before["threads"], after["threads"] if after["threads"] <= most_threads() else 0)
        for key, value in before.items():
            if after[key] != value:
                raise Difference(f"{where}: {key} were {value}, and are {after[key]}")
        ignored = [error for kind, error in self._ignored if not issubclass(kind, KeyboardInterrupt | ResourceWarning)]
        self._ignored.clear()
        if ignored:
            raise Difference(f"{where}: {ignored} on the error stream")
        for file, content in self._contents().items():
            changed = file not in old or content != old[file]
            if changed and name.startswith("write ") and content == self.right[name]:
                continue
            if changed and not name.startswith("a saved "):  # what such a run saved, the next call reads
                if file not in old:
                    (self.folder / file).unlink()
                raise Difference(f"{where}: {file} is left or has changed")


def answer(call: Call) -> Any:
    try:
        return plain(call())
    except BaseException as error:
        return repr(error)


def most_threads() -> int:
    """The threads that these calls may start: a crew for the leader, and one for an executor's two workers."""
    return 2 * max(thread_count(), host_cores()) + 8


# ---------------------------------------------------------------- many faults


@cache
def known(folder: Path, device: str) -> tuple[Faults, Iterator[str]]:
    """The calls, and their names in turn."""
    interrupts.eager()
    faults = Faults(folder, device=device)
    return faults, itertools.cycle(faults.calls)


def inputs(draw: random.Random, folder: Path, device: str = "cpu") -> int:
    """Faults of each kind at random steps of the next call."""
    faults, names = known(folder, device)
    name, tried = next(names), 0
    try:
        faults.known(name)
    except hw.HopwaveError as error:  # a GPU or compressed rows do not offer it, or another library is missing
        if device == "cpu" and "is not installed" not in str(error):
            raise
        return 0
    for kind in KINDS:
        count = faults.count(name, kind)
        for fails in draw.sample(range(1, count + 1), min(STEPS, count)):
            tried += faults.attempt(name, kind, fails, draw.choice((errno.ENOSPC, errno.EIO, errno.EDQUOT)))
    return tried


def on_cuda(draw: random.Random, folder: Path) -> int:
    """Faults of the host at random steps of a call on a GPU."""
    return inputs(draw, folder, "cuda")


def every(folder: Path) -> int:
    """How many attempts reach every call on the CPU."""
    return len(known(folder, "cpu")[0].calls)
