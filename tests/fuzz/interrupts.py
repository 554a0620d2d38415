"""Ctrl-C at random moments of every public function that runs longer than a millisecond.

    python tests/fuzz/interrupts.py COUNT [--device cuda] [--only NAME ...] [--share 0/4] [--seconds S] [--minutes M]
        [--seed N] [--record ROWS]

A timer sends the signal, sometimes several times. Each call ends within a second of the first signal and leaves no busy
thread, and no more threads than these calls need; the next call gives the same bits as ever. If a call does not end
within a minute, the stacks of all threads are printed, and the process ends. --share 0/4 takes every fourth function.
"""

from __future__ import annotations

import argparse
import faulthandler
import math
import operator
import os
import random
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from difference import Attempt, Difference

import every_call
import hopwave as hw
import mixed
from every_call import plain
from hopwave.algorithms import checkpoint, reduction
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import thread_count
from hopwave.system import threads
from recorded import record

Call = Callable[[], Any]
HANGS = 60  # seconds after which a call counts as hanging
SECONDS = 1.0  # most seconds from a signal to the end of the call
MOST_AGAIN = 6  # most signals per call
MOST_WRONG = 50  # a GPU whose state is broken answers nothing any more
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
            self.left = 0  # the call is over: later signals do nothing
        except KeyboardInterrupt:
            self.left = 0
        except BaseException:  # of another kind: show it
            self.left = 0
            raise
        ended = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        return ended - self.first if self.first else None


class Interrupts:
    """The calls that take long enough, their answers, and the results so far."""

    def __init__(
        self,
        device: str,
        folder: Path,
        only: list[str] | None = None,
        limit: float = SECONDS,
        share: slice = slice(None),
    ) -> None:
        named = calls(device, folder)
        named = {name: named[name] for name in (only or list(named))[share]}
        self.calls: dict[str, Call] = {}
        self.right: dict[str, Any] = {}
        self.seconds: dict[str, float] = {}
        self.interrupted, self.slowest, self._limit = 0, 0.0, limit
        self._alarm = Alarm()
        self._same = every_call.close if device == "cuda" else operator.eq  # a GPU adds up floats in any order
        shortest = 0.0 if only else SHORTEST
        for name, call in named.items():
            try:
                call()  # compiles
            except hw.HopwaveError:  # a GPU does not offer it, or another library is missing
                continue
            began = time.perf_counter()
            answer = plain(call())
            took = time.perf_counter() - began
            if took >= shortest:
                self.calls[name], self.right[name], self.seconds[name] = call, answer, took
        settle()
        # If a call begins while threads are still leaving the last call, it starts others instead.
        self._threads = threading.active_count() + 2 * thread_count() + 2

    def attempt(self, draw: random.Random) -> int:
        """Interrupt one call, then ask again. Returns how many calls were interrupted, 0 or 1."""
        name = draw.choice(list(self.calls))
        times = draw.randint(2, MOST_AGAIN) if draw.random() < 0.3 else 1
        after, apart = max(1e-5, draw.random() * 1.1 * self.seconds[name]), draw.uniform(2e-5, 3e-3)
        with watched():
            where = f"{name}, interrupted {times} times from {after:.6f} s on, {apart:.6f} s apart"
            try:
                went_on = self._alarm.interrupt(self.calls[name], after, times, apart)
            except Exception as error:
                raise Difference(f"{where}: it raised {error!r}") from error
            try:
                answer = plain(self.calls[name]())
            except Exception as error:
                raise Difference(f"{where}: the next call raised {error!r}") from error
            if not self._same(answer, self.right[name]):
                raise Difference(f"{where}: the next call gave another answer")
            if draw.random() < 0.02:
                settle()
            count = threading.active_count()
        if count > self._threads:
            self._threads = count
            raise Difference(f"{where}: there are {count} threads; {[thread.name for thread in threading.enumerate()]}")
        if went_on is None:
            return 0
        self.interrupted, self.slowest = self.interrupted + 1, max(self.slowest, went_on)
        if went_on > self._limit:
            raise Difference(f"{where}: it went on for {went_on:.2f} s")
        return 1


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


def inputs(draw: random.Random, folder: Path) -> Iterator[Attempt]:
    """One interrupted call after another: see difference.py."""
    eager()
    known = Interrupts("cpu", folder)
    while True:
        yield partial(known.attempt, draw)


def main() -> int:
    """Interrupt COUNT calls, print the result and record the row."""
    parser = argparse.ArgumentParser(description="Interrupt calls at random moments.")
    parser.add_argument("count", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", nargs="+", help="names of calls")
    parser.add_argument("--share", default="0/1", help="which of how many shares of the calls")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="in which an interrupted call ends")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which it ends, whatever the count")
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--record", type=Path, help="a file of rows, to which this run is added")
    given = parser.parse_args()
    os.environ["HOPWAVE_PROGRESS"] = "0"
    warnings.simplefilter("ignore")
    eager()
    share, shares = map(int, given.share.split("/"))
    began, wrong, draw = time.monotonic(), 0, random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        known = Interrupts(given.device, Path(folder), given.only, given.seconds, slice(share, None, shares))
        while known.interrupted < given.count and wrong < MOST_WRONG and time.monotonic() - began < 60 * given.minutes:
            try:
                known.attempt(draw)
            except Exception as error:  # of any kind: the harness's own mistakes are reported too
                wrong += 1
                print(f"after {known.interrupted} interrupts: {error!r}", file=sys.stderr)
    row = record(
        given.record, f"interrupts on {given.device}", known.interrupted, wrong, began, given.device, seed=given.seed
    )
    print(
        f"{known.interrupted:,} interrupts of {len(known.calls)} calls on {given.device} in {row['minutes']} minutes, "
        f"the slowest ended after {known.slowest:.2f} s, {wrong} wrong"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
