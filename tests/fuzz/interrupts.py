"""Ctrl-C at random moments of every public function that runs longer than a millisecond.

A timer sends the signal, sometimes several times. Each call ends within seconds of the first signal and leaves no busy
thread, and no more threads than these calls need; the next call gives the same bits as ever. If a call does not end
within a minute, the stacks of all threads are printed, and the process ends.
"""

import faulthandler
import operator
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import every_call
import hopwave as hw
import mixed
from every_call import plain
from hopwave.algorithms import checkpoint, reduction
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import thread_count
from hopwave.system import threads
from hopwave.system.threads import host_cores
from questions import Difference

Call = Callable[[], Any]
HANGS = 60  # seconds after which a call counts as hanging
SECONDS = float(os.environ.get("HOPWAVE_FUZZ_SECONDS", "1"))  # most seconds from a signal to the end of the call
MOST_AGAIN = 6  # most signals per call
SHORTEST = 0.0008  # seconds: shorter calls end before a signal arrives


def calls(device: str, folder: Path) -> dict[str, Call]:
    """One call of everything public, and of files; graphs are kept, as users do."""
    G = mixed.graph()
    named: dict[str, Call] = {name: partial(mixed.QUESTIONS[name], G, device) for name in mixed.QUESTIONS}
    others = every_call.calls(device, n=900) | every_call.files(folder)
    return named | {f"{name}, public": fresh() for name, fresh in others.items()}


class Alarm:
    """A timer that interrupts the main thread like Ctrl-C, up to some number of times."""

    def __init__(self) -> None:
        self.left, self.first = 0, 0.0
        signal.signal(signal.SIGALRM, self._ring)

    def _ring(self, number: int, frame: Any) -> None:
        if self.left > 0 and frame.f_code is not Alarm.interrupt.__code__:  # where it would escape while `left` is set
            self.left -= 1
            self.first = self.first or time.monotonic()
            raise KeyboardInterrupt

    def interrupt(self, call: Call, after: float, times: int, apart: float) -> float | None:
        """Make the call and interrupt it. Returns how long it ran after the first signal; None if it ended before."""
        self.left, self.first = times, 0.0
        try:
            signal.setitimer(signal.ITIMER_REAL, after, apart if times > 1 else 0.0)
            call()
        except KeyboardInterrupt:
            pass
        finally:
            self.left = 0  # the call is over: later signals do nothing
        ended = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        return ended - self.first if self.first else None


class Interrupts:
    """The calls that take long enough, and their answers."""

    def __init__(self, device: str, folder: Path) -> None:
        self.calls: dict[str, Call] = {}
        self.right: dict[str, Any] = {}
        self.seconds: dict[str, float] = {}
        self._alarm = Alarm()
        self._same = every_call.close if device == "cuda" else operator.eq  # a GPU adds up floats in any order
        for name, call in calls(device, folder).items():
            try:
                call()  # compiles
            except hw.HopwaveError:  # a GPU does not offer it, or another library is missing
                continue
            began = time.perf_counter()
            answer = plain(call())
            took = time.perf_counter() - began
            if took >= SHORTEST:
                self.calls[name], self.right[name], self.seconds[name] = call, answer, took
        settle()
        # If a call begins while threads are still leaving the last call, it starts others instead.
        self._threads = threading.active_count() + 2 * max(thread_count(), host_cores()) + 2  # files: by all cores

    def attempt(self, draw: random.Random) -> int:
        """Interrupt one call, then ask again. Returns how many calls were interrupted, 0 or 1."""
        name = draw.choice(list(self.calls))
        times = draw.randint(2, MOST_AGAIN) if draw.random() < 0.3 else 1
        after, apart = max(1e-5, draw.random() * 1.1 * self.seconds[name]), draw.uniform(2e-5, 3e-3)
        with watched():
            where = f"{name}, interrupted {times} times from {after:.6f} s on, {apart:.6f} s apart"
            said = "it"
            try:
                went_on = self._alarm.interrupt(self.calls[name], after, times, apart)
                said = "the next call"
                answer = plain(self.calls[name]())
            except Exception as error:
                raise Difference(f"{where}: {said} raised {error!r}") from error
            if not self._same(answer, self.right[name]):
                raise Difference(f"{where}: the next call gave another answer")
            if draw.random() < 0.02:
                settle()
            count = threading.active_count()
        if count > self._threads:
            self._threads = count
            raise Difference(f"{where}: there are {count} threads; {[thread.name for thread in threading.enumerate()]}")
        if went_on is not None and went_on > SECONDS:
            raise Difference(f"{where}: it went on for {went_on:.2f} s")
        return int(went_on is not None)


def settle() -> None:
    """Wait until no thread is busy; one that never ends counts as a hanging call."""
    while threads.crew._pending or threads.crew._away:
        time.sleep(0.001)


@contextmanager
def watched() -> Iterator[None]:
    """Ends the process and prints all stacks if the block does not end."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def eager() -> None:
    """Let helpers join small work too, and runs save all the time."""
    policy.VERTICES_PER_THREAD = 16
    policy.SMALL_JOB = 0
    checkpoint.INTERVAL = 0.0
    reduction.LEAST_WORK = {"cpu": 0, "cuda": 0}


@cache
def known(folder: Path, device: str = "cpu") -> Interrupts:
    eager()
    return Interrupts(device, folder)


def inputs(draw: random.Random, folder: Path) -> int:
    """One interrupted call."""
    return known(folder).attempt(draw)


def on_cuda(draw: random.Random, folder: Path) -> int:
    """One interrupted call on a GPU."""
    return known(folder, "cuda").attempt(draw)
