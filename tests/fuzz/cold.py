"""Signals while a new process imports Numba and compiles: at any import, any step of the compiler, or by a timer.

Each attempt is a process that makes one call until no signal breaks it off. Every signal raises its exception; nothing
else is raised, logged or printed; the answer is that of a process without signals, which ends by itself. The caller is
the main thread, or another one while the main thread waits.
"""

import faulthandler
import json
import logging
import os
import random
import signal
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from queue import SimpleQueue
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
    f"hw.bfs_many({GRID}, [0, 1])[1]",
    "hw.bfs(hw.generate.kronecker(13), 0).distances",
]
EVENTS = ("numba:run_pass", "numba:compile", "numba:compiler_lock", "numba:llvm_lock")
HANGS = 120  # seconds


class Signals:
    """Sends a signal at a step that is drawn: an import, or an event of Numba's, on whichever thread."""

    def __init__(self, draw: random.Random) -> None:
        self.draw, self.left, self.sent, self.listens = draw, 0, 0, False
        self.number = draw.choice([signal.SIGINT, signal.SIGALRM, signal.SIGTERM])
        self.rate, self.send = draw.choice([0.002, 0.01, 0.05]), draw.choice([signal.raise_signal, self.kill])
        signal.signal(self.number, self.raises)
        sys.meta_path.insert(0, self)  # type: ignore[arg-type]

    def raises(self, number: int, frame: Any) -> None:
        if frame.f_code is not child.__code__:  # which would end
            raise KeyboardInterrupt  # nothing that an `except OSError` or `except Exception` takes for its own

    def kill(self, number: int) -> None:
        os.kill(os.getpid(), number)

    def find_spec(self, *_: Any) -> None:
        events: Any = sys.modules.get("numba.core.event")
        if not self.listens and hasattr(events, "_registered"):
            self.listens = True
            for kind in EVENTS:
                events._registered[kind].append(SimpleNamespace(notify=self.find_spec))
        if self.left > 0 and self.draw.random() < self.rate:
            self.left -= 1
            self.sent += 1
            self.send(self.number)


def child(call: str, seed: int) -> None:
    """Make the call until it ends; print its answer, how many signals broke it off, and what was wrong, as JSON."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    draw, raised, found, wrong = random.Random(seed), 0, SimpleQueue[Any](), list[str]()
    sys.unraisablehook = lambda given: wrong.append(f"lost in {given.object!r}: {given.exc_value!r}")
    logging.getLogger("hopwave").addHandler(SimpleNamespace(level=0, handle=lambda r: wrong.append(r.getMessage())))
    import hopwave as hw

    def answer() -> None:
        found.put([float(x) for x in eval(call, {"hw": hw})])

    signals: Any = Signals(draw) if seed else SimpleNamespace(sent=0, number=0)
    alone = draw.random() < 0.8
    while found.empty():
        try:
            before, most = signals.sent, draw.choice([1, 1, 1, 3])
            signals.left = most
            if most == 3 and signals.number == signal.SIGALRM:  # again and again
                signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.001, 0.5), draw.uniform(0.0005, 0.05))
            answer() if alone else threading.Thread(target=answer).start()
            found.put(found.get())
            if alone and signals.sent - before == most == 1:
                wrong.append("the call went on after a signal")
        except KeyboardInterrupt:
            raised += 1
        finally:
            signals.left = 0
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    print(json.dumps([found.get(), raised, wrong]))


@cache
def attempt(call: str, seed: int, folder: str) -> tuple[Any, int]:
    """The answer of a new process, and how many signals broke the call off; without signals if the seed is 0."""
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NUMBA_CACHE_DIR": folder}
    command = [sys.executable, __file__, call, str(seed)]
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=2 * HANGS, check=False)
    found, raised, wrong = json.loads(done.stdout) if done.returncode == 0 else (None, 0, "")
    if done.returncode or done.stderr or wrong:
        raise RuntimeError(f"{call}, seed {seed}, {folder}: {done.returncode}, {done.stderr}, {wrong}")
    return found, raised


def inputs(draw: random.Random, folder: Path) -> int:
    """One process, with a new folder for machine code or one that others use; returns its interrupts."""
    call, seed, shared = draw.choice(CALLS), draw.randint(1, 1 << 40), str(folder / "shared")
    found, raised = attempt(call, seed, shared if draw.random() < 0.7 else str(folder / str(seed)))
    if found != attempt(call, 0, shared)[0]:
        raise RuntimeError(f"{call}, seed {seed}: another answer")
    return raised


if __name__ == "__main__":
    child(sys.argv[1], int(sys.argv[2]))
