"""Threads of this process, and methods of waiting for them that no signal can break.

Python runs signal handlers in the main thread, between any two steps of Python code, and the handler of Ctrl-C raises
an exception there. Inside Event.wait, Condition.__enter__, Thread.start or Future.result, which are Python code, that
exception may leave a lock locked for ever. This module therefore follows three rules:

1. A caller waits only in C code: SimpleQueue, or `with` on a plain lock. An exception is raised before or after.
2. A waiting thread also tests a flag periodically. If an exception swallows a wake-up, the result is late, not lost.
3. Steps that must not be separated are one call into C (`at_once`), or run on another thread, where no handler runs.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import pairwise
from operator import call
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import ref

from hopwave.errors import free_imports

if TYPE_CHECKING:  # `imported` below imports libraries safely, so this module must not import any itself
    import numpy.typing as npt

log = logging.getLogger("hopwave")

Result = TypeVar("Result")
LOOK_SECONDS = 0.05  # interval between two tests of a flag, in case a wake-up is lost
BEGIN_SECONDS = 1.0  # until `aside` makes a call itself: a new thread without memory for its first step ends silently


def at_once(*steps: Callable[[], Any]) -> None:
    """Call C functions one after the other; no signal handler can run between them."""
    deque(map(call, steps), maxlen=0)


class Flag:
    """An event that happens once; any number of threads may wait for it."""

    def __init__(self) -> None:
        self.is_set = False
        self._wake: SimpleQueue[Any] = SimpleQueue()

    def set(self) -> None:
        """Record that the event has happened, and wake the waiting threads."""
        self.is_set = True
        self._wake.put(None)

    def wait(self, seconds: float) -> bool:
        """Wait for at most `seconds`; returns whether the event has happened."""
        if not self.is_set:
            with suppress(Empty):
                self._wake.get(timeout=seconds)
                self._wake.put(None)  # for the next waiting thread
        return self.is_set


class Crew:
    """Sleeping threads that all calls of this process share; waking one takes a few microseconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: SimpleQueue[tuple[Callable[..., None], tuple[Any, ...], int, bool]] = SimpleQueue()
        self._threads = 0
        self._pending: list[int] = []  # one entry per call that is queued or running
        self._away: list[int] = []  # one entry per long call that is queued or running

    def help(self, count: int, function: Callable[..., None], *arguments: Any) -> None:
        """Let `count` threads run function(*arguments, number), number = 1 ... count, when idle; does not wait."""
        with self._lock:
            self._grow(len(self._away) + count)
            if count := min(count, self._threads):
                # The caller wakes only one thread, which wakes the others.
                first = self._help_first, (count, function, arguments), 1, False
                at_once(partial(self._pending.extend, range(count)), partial(self._calls.put, first))

    def _help_first(self, count: int, function: Callable[..., None], arguments: tuple[Any, ...], number: int) -> None:
        for other in range(2, count + 1):
            self._calls.put((function, arguments, other, False))
        function(*arguments, number)

    def start(self, count: int, function: Callable[..., None], *arguments: Any) -> int:
        """Like `help`, for long calls: each gets a thread immediately, and later helpers do not queue behind them.

        Returns the number of calls that run: fewer than `count` if the system cannot start more threads. After an
        exception (Ctrl-C), either all calls run or none.
        """
        with self._lock:
            self._grow(len(self._pending) + count)
            count = min(count, self._threads - len(self._away))
            posts = [partial(self._calls.put, (function, arguments, i, True)) for i in range(1, count + 1)]
            at_once(partial(self._pending.extend, range(count)), partial(self._away.extend, range(count)), *posts)
        return count

    def _grow(self, count: int) -> None:
        """Start threads until `count` threads serve, or as many as the system allows."""
        try:
            while self._threads < count:
                serves, held = Flag(), set[int]()
                ended = ref(held, serves._wake.put)  # a thread frees its arguments when it ends
                start_new_thread(self._serve, (serves, held))
                del held
                while not serves.wait(LOOK_SECONDS):
                    if ended() is None:
                        raise MemoryError("too little memory for the first step of a thread")
                self._threads += 1
        except (RuntimeError, MemoryError) as error:
            log.info("%d of %d threads run: %s", self._threads, count, error)

    def _serve(self, serves: Flag, held: set[int]) -> None:
        threading.current_thread().name = "hopwave"
        serves.set()
        while True:
            function, arguments, number, is_long = self._calls.get()
            try:
                function(*arguments, number)
            except Exception:  # the leader raises the same error; workers report their errors themselves
                log.debug("a helper failed", exc_info=True)
            del function, arguments  # otherwise a sleeping thread would keep a graph alive
            self._pending.pop()
            if is_long:
                self._away.pop()


crew = Crew()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=crew.__init__)  # type: ignore[misc]  # a child inherits the crew, not its threads


class Task(Generic[Result]):
    """A call on another thread, and its result."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._calls = [call]  # until a thread begins it
        self._over = Flag()
        self._found: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Make the call, unless another thread has begun it."""
        with suppress(IndexError):
            call = self._calls.pop()
            try:
                self._found = call()
            except BaseException as error:
                self.error = error
            del call  # before the caller continues, which may release a graph
            self._over.set()

    def wait(self, seconds: float = 1e9) -> None:
        """Wait until the call has ended. If no thread begins it within that time, make it here."""
        until = monotonic() + seconds
        while not self._over.wait(LOOK_SECONDS):
            if monotonic() > until:
                self.run()

    def result(self) -> Result:
        """Wait for the call; return its result, or raise its error."""
        self.wait()
        if self.error is not None:
            raise self.error
        return self._found  # type: ignore[no-any-return]


def beside(name: str, work: Callable[..., None], *arguments: Any) -> bool:
    """Call `work` on a separate thread that exit waits for. Returns whether the system could start the thread."""
    thread = threading.Thread(target=work, args=arguments, name=name, daemon=False)
    try:
        start_new_thread(_start, (thread,))  # a signal can break Thread.start
    except (RuntimeError, MemoryError) as error:
        log.info("no thread runs %s: %s", name, error)
        return False
    return True


def _start(thread: threading.Thread) -> None:
    try:
        thread.start()
    except (RuntimeError, MemoryError):  # the system cannot start a second thread
        thread.run()


def aside(call: Callable[..., Result], *arguments: Any) -> Result:
    """call(*arguments) on a thread without signal handlers, for calls such as imports that must not be interrupted.

    The caller waits. If a signal handler raises an exception meanwhile (Ctrl-C), it is raised after the call; a second
    exception is raised immediately, and exit waits for the call. A thread other than the main thread makes the call
    itself, unless it is a daemon: at exit, daemons stop, which would interrupt LLVM.
    """
    here = threading.current_thread()
    if here is not threading.main_thread() and not here.daemon:
        return call(*arguments)
    task = Task(partial(call, *arguments))
    free_imports()
    if not beside("hopwave-aside", task.run):
        task.run()
    try:
        task.wait(BEGIN_SECONDS)
    finally:
        task.wait(BEGIN_SECONDS)
    return task.result()


def imported(name: str) -> Any:
    """The module with that name, imported by `aside`: after an interrupted import, Numba cannot be imported again."""
    found = sys.modules.get(name)
    still = found is None or getattr(found.__spec__, "_initializing", False)  # this thread or another is importing it
    return aside(import_module, name) if still else found


class Pool:
    """Runs tasks on threads of the crew, or in the caller if the system cannot start a thread. It needs no closing.

    Tasks must not wait for other tasks. When `stopped` is set, tasks that have not begun are skipped.
    """

    def __init__(self, threads: int) -> None:
        self.stopped = False
        self.threads = threads
        self._serving = 0
        self._lock = threading.Lock()
        self._tasks: SimpleQueue[Task[Any]] = SimpleQueue()

    def begin(self, work: Callable[..., Result], *arguments: Any) -> Task[Result]:
        """Begin work(*arguments) on a thread of the pool; returns its task."""
        task = Task(partial(work, *arguments))
        self._tasks.put(task)
        with self._lock:
            if self._serving == self.threads:
                return task
            self._serving += 1
        if not crew.start(1, self._serve):
            self._serve()
        return task

    def _serve(self, number: int = 0) -> None:
        while True:
            with self._lock:  # `begin` reads `_serving` after queueing its task, so that no task is lost
                if self.stopped or self._tasks.empty():
                    self._serving -= 1
                    return
                task = self._tasks.get()
            task.run()


def each(threads: int, items: Iterable[Any], work: Callable[[Any], Result]) -> list[Result]:
    """[work(item) for item in items], on threads and in the caller. After an error, the remaining items are skipped."""
    given = list(items)
    if len(given) < 2 or threads < 2:
        return [work(item) for item in given]
    found: list[Any] = [None] * len(given)
    finished: list[int] = []  # operations on lists and iterators are atomic, so threads can share these without locks
    errors: dict[int, BaseException] = {}
    left, over = iter(range(len(given))), Flag()

    def take(_: int = 0) -> None:
        for place in left:
            if errors:
                return
            try:
                found[place] = work(given[place])
            except BaseException as error:
                errors[place] = error
            finished.append(place)
            if errors or len(finished) == len(given):
                over.set()

    try:
        crew.start(min(threads, len(given)) - 1, take)
        take()
        while not over.wait(LOOK_SECONDS):
            pass
    except BaseException as error:
        errors[-1] = error
        raise
    if errors:
        raise errors[min(errors)]
    return found


MOST_THREADS = 64
PARTS_PER_THREAD = 4
LONG = 1 << 21  # minimum entries for which one NumPy operation is faster with threads


def host_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count() -> int:
    """The number of threads that share the work."""
    return min(host_cores(), MOST_THREADS)


def parted(work: Callable[[npt.NDArray[Any]], Result], column: npt.NDArray[Any]) -> list[Result]:
    """[work(part)] on all cores, by `in_parts`, if the column is long; a short column is one part."""
    return [work(column)] if len(column) < LONG else in_parts(work, column)


def in_parts(work: Callable[..., Result], *columns: npt.NDArray[Any]) -> list[Result]:
    """[work(part of each column)] on all cores; the parts are contiguous and of equal length."""
    threads = thread_count()
    cuts = [len(columns[0]) * i // (PARTS_PER_THREAD * threads) for i in range(PARTS_PER_THREAD * threads + 1)]
    return each(threads, pairwise(cuts), lambda ends: work(*(column[slice(*ends)] for column in columns)))
