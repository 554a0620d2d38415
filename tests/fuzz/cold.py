"""Signals while a new process imports Numba and compiles: at any import, any pass of the compiler, or by a timer.

Each attempt is a process that makes one call again and again until no signal breaks it off. Every signal raises its
exception, once; nothing else is raised, logged or printed; the answer is that of a process without signals; the process
ends by itself. The caller is the main thread, or another one while the main thread waits.
"""

from __future__ import annotations

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

GRAPH = "hw.generate.grid(9, 9)"
WEIGHTED = f"{GRAPH}.with_weights([1.0] * 288)"
CALLS = {  # the quickest to compile first
    "bfs": f"hw.bfs({GRAPH}, 0).distances",
    "components": f"hw.connected_components({GRAPH}).labels",
    "product": f"hw.linalg.mxv(hw.linalg.Matrix.from_graph({GRAPH}), hw.linalg.Vector.full(81, 1.0)).to_dense(0)",
    "path": f"hw.shortest_path({WEIGHTED}, 0, 80, weights=True)",
    "sssp": f"hw.sssp({WEIGHTED}, 0).distances",
    "betweenness": f"hw.betweenness_centrality({GRAPH}).scores",
    "many": f"hw.bfs_many({GRAPH}, [0, 1])[1]",
    "large": "hw.bfs(hw.generate.kronecker(13), 0).distances",
}
HANGS = 60  # seconds


class Stopped(Exception):
    """What a user's handler raises."""


def handler(number: int, frame: Any) -> None:
    raise (KeyboardInterrupt if number == signal.SIGINT else Stopped)


class Signals:
    """Sends a signal at a step that is drawn: an import, or an event of Numba's, on whichever thread."""

    def __init__(self, draw: random.Random) -> None:
        self.draw, self.left, self.sent, self.listens = draw, 0, 0, False
        self.number = draw.choice([signal.SIGINT, signal.SIGINT, signal.SIGALRM, signal.SIGTERM])
        self.to_thread, self.rate = draw.random() < 0.3, draw.choice([0.002, 0.01, 0.05])
        signal.signal(self.number, handler)
        sys.meta_path.insert(0, self)  # type: ignore[arg-type]

    def find_spec(self, *_: Any) -> None:
        events = sys.modules.get("numba.core.event")
        if not self.listens and hasattr(events, "_registered"):
            self.listens, listener = True, SimpleNamespace(notify=lambda event: self.step())
            for kind in ("numba:run_pass", "numba:compile", "numba:compiler_lock", "numba:llvm_lock"):
                events._registered[kind].append(listener)  # type: ignore[union-attr]
        self.step()

    def step(self) -> None:
        if self.left > 0 and self.draw.random() < self.rate:
            self.left -= 1
            self.sent += 1
            signal.raise_signal(self.number) if self.to_thread else os.kill(os.getpid(), self.number)


def child(call: str, seed: int) -> None:
    """Make the call until it ends; print its answer and how many signals there were, as JSON."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    draw, raised, found = random.Random(seed), 0, SimpleQueue[Any]()
    wrong: list[str] = []
    sys.unraisablehook = lambda given: wrong.append(f"lost in {given.object!r}: {given.exc_value!r}")
    logging.getLogger("hopwave").addHandler(SimpleNamespace(level=0, handle=lambda r: wrong.append(r.getMessage())))
    import hopwave as hw

    def answer() -> None:
        found.put([float(x) for x in eval(call, {"hw": hw})])

    signals = Signals(draw) if seed else SimpleNamespace(left=0, sent=0, number=signal.SIGALRM)
    alone = draw.random() < 0.8
    while True:
        before, at_once = signals.sent, draw.choice([1, 1, 1, 3]) if seed else 0
        try:
            if at_once == 3 and draw.random() < 0.3 and signals.number == signal.SIGALRM:
                signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.001, 0.5), draw.uniform(0.0005, 0.05))
            signals.left = at_once
            answer() if alone else threading.Thread(target=answer).start()
            result = found.get()
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signals.left = 0
            if alone and signals.sent - before == at_once == 1:
                wrong.append("the call went on after a signal")
            break
        except (KeyboardInterrupt, Stopped):
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signals.left = 0
            raised += 1
    print(json.dumps([result, raised, wrong]))


@cache
def right(call: str) -> Any:
    return attempt(call, 0, {})[0]


def attempt(call: str, seed: int, environment: dict[str, str]) -> Any:
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    command = [sys.executable, __file__, call, str(seed)]
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=2 * HANGS, check=False)
    try:
        found, raised, wrong = json.loads(done.stdout)
    except ValueError:
        wrong = [done.stdout]
    if done.returncode or done.stderr or wrong:
        raise RuntimeError(f"{call}, seed {seed}, {environment}: {done.returncode}, {done.stderr}, {wrong}")
    return found, raised


def inputs(draw: random.Random, folder: Path) -> int:
    """One process, with a new folder for machine code or one that others use; returns its interrupts."""
    name, seed, kept = draw.choice(list(CALLS)), draw.randint(1, 1 << 40), draw.random() < 0.7
    call, cache = CALLS[name], str(folder / ("kept" if kept else str(seed)))
    found, raised = attempt(call, seed, {"NUMBA_CACHE_DIR": cache})
    if found != right(call):
        raise RuntimeError(f"{call}, seed {seed}: another answer")
    return int(raised)


if __name__ == "__main__":
    child(sys.argv[1], int(sys.argv[2]))
