"""Signals while a new process imports Numba and compiles: at any import, any step of the compiler, or by a timer.

Each attempt is a process that makes one call until no signal breaks it off, on the main thread, and in some on another
thread too. Every exception of a signal ends the call; nothing else is raised, logged or printed; the answers are those
of a process without signals.
"""

import faulthandler
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

GRID = "hw.generate.grid(9, 9)"
CALLS = [
    f"hw.bfs({GRID}, 0).distances",
    f"hw.connected_components({GRID}).labels",
    f"hw.linalg.mxv(hw.linalg.Matrix.from_graph({GRID}), hw.linalg.Vector.full(81, 1.0)).to_dense(0)",
    f"hw.shortest_path({GRID}.with_weights([1.0] * 288), 0, 80, weights=True)",
    f"hw.sssp({GRID}.with_weights([1.0] * 288), 0).distances",
    f"hw.betweenness_centrality({GRID}).scores",
]
NUMBERS = (signal.SIGINT, signal.SIGALRM, signal.SIGTERM)
HANGS = 120  # seconds


class Signals:
    """Sends signals at steps that are drawn (an import, or an event of Numba's, on any thread) and by a timer."""

    def __init__(self, draw: random.Random, most: int) -> None:
        self.draw, self.most, self.left, self.rate, self.raised, self.listens = draw, most, 0, 0.0, 0, False
        for number in NUMBERS:
            signal.signal(number, self.raises)
        sys.meta_path.insert(0, self)  # type: ignore[arg-type]

    def raises(self, number: int, frame: Any) -> None:
        if frame.f_code not in (child.__code__, Signals.raises.__code__):  # of which the first would end
            self.raised += 1
            raise KeyboardInterrupt  # nothing that an `except OSError` or `except Exception` takes for its own

    def begin(self) -> None:
        """Draw how many signals the next call gets, and how often."""
        if self.raised < self.most:
            self.left, self.rate = 1 if self.draw.random() < 0.02 else 1000, 2 ** self.draw.uniform(-6, -1)
            if self.draw.random() < 0.2:  # once, or again and again
                times = self.draw.uniform(0.0001, 0.5), self.draw.choice([0.0, self.draw.uniform(0.0005, 0.05)])
                signal.setitimer(signal.ITIMER_REAL, *times)

    def find_spec(self, *_: Any) -> None:
        events: Any = sys.modules.get("numba.core.event")
        if not self.listens and hasattr(events, "_registered"):
            self.listens = True
            for kind in ("numba:run_pass", "numba:compile", "numba:compiler_lock", "numba:llvm_lock"):
                events._registered[kind].append(SimpleNamespace(notify=self.find_spec))
        if self.left > 0 and self.draw.random() < self.rate:
            self.left -= 1
            self.draw.choice([signal.raise_signal, partial(os.kill, os.getpid())])(self.draw.choice(NUMBERS))


def child(call: str, seed: int) -> None:
    """Make the call until it ends; print the answers, how many signals were raised, and what was wrong, as JSON."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    draw, answers, wrong = random.Random(seed), list[list[float]](), list[str]()
    logging.getLogger("hopwave").addHandler(SimpleNamespace(level=0, handle=lambda r: wrong.append(r.getMessage())))
    import hopwave as hw

    def lost(given: Any) -> None:
        signals.raised -= 1
        if getattr(given.object, "__module__", "") != "importlib._bootstrap":  # where CPython drops all exceptions
            wrong.append(f"lost in {given.object!r}: {given.exc_value!r}")

    def answer() -> None:
        answers.append([float(x) for x in eval(call, {"hw": hw})])

    signals = Signals(draw, seed and draw.choice([200, 1000]))
    sys.unraisablehook, other, ended = lost, threading.Thread(target=answer), False
    if beside := draw.random() < 0.2:
        other.start()
    while not ended:
        try:
            before = signals.raised
            signals.begin()
            answer()
            ended = True
            if signals.raised > before:
                wrong.append("the call went on after a signal")
        except KeyboardInterrupt:
            pass
        finally:
            signals.left = 0
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    for number in NUMBERS:
        signal.signal(number, signal.SIG_IGN)
    if beside:
        other.join()
    print(json.dumps([answers, signals.raised, wrong]))


@cache
def attempt(call: str, seed: int, folder: str) -> tuple[Any, int]:
    """The answers of a new process, and how many signals were raised in it; none if the seed is 0."""
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBA_CACHE_DIR": folder}
    command = [sys.executable, __file__, call, str(seed)]
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=2 * HANGS, check=False)
    found, raised, wrong = json.loads(done.stdout) if done.returncode == 0 else ([], 0, "")
    if done.returncode or done.stderr or wrong:
        raise RuntimeError(f"{call}, seed {seed}, {folder}: {done.returncode}, {done.stderr}, {wrong}")
    return found, raised


def inputs(draw: random.Random, folder: Path) -> int:
    """One process with an empty folder for machine code; returns how many signals were raised in it."""
    call, seed = draw.choice(CALLS), draw.randint(1, 1 << 40)
    with tempfile.TemporaryDirectory(dir=folder) as empty:
        found, raised = attempt(call, seed, empty)
    if any(answer != attempt(call, 0, str(folder))[0][0] for answer in found):
        raise RuntimeError(f"{call}, seed {seed}: another answer")
    return raised


if __name__ == "__main__":
    child(sys.argv[1], int(sys.argv[2]))
