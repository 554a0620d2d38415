"""Processes that are killed at random moments of a write, a conversion, a checkpointed run or a table of distances.

Afterwards an existing file is the old one or the new one, never neither; the next write removes what the killed process
left; a run that continues gives the same bits as one without a break. Each process is forked from this one, so that a
thousand kills take minutes.
"""

import itertools
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import hopwave as hw
from hopwave.algorithms import checkpoint, many_sources
from hopwave.cli.app import main as command
from hopwave.engines.cpu import policy
from questions import Difference

OLD = hw.generate.grid(40, 40)
NEW = hw.generate.delaunay(1500, seed=1)
RUN = hw.generate.grid(30, 30)
FILES = ("graph.txt", "graph.mtx", "graph.npz", "graph.csv.gz", "graph.graph")
LONGEST = 0.03  # most seconds from the start of a process to its end


def forked(work: Callable[[], None]) -> int:
    """A process that does this work; its exit status is 1 after an error."""
    if child := os.fork():
        return child
    try:
        work()
    except BaseException as error:
        sys.stderr.write(f"{error!r}\n")
        os._exit(1)
    os._exit(0)


def status_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed(work: Callable[[], None], after: float) -> bool:
    """Whether a process was still doing this work when it was killed."""
    child = forked(work)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    code = status_of(child)
    if code not in (0, -signal.SIGKILL):
        raise Difference(f"the process ended with {code}")
    return code != 0


def write_in_turn(path: Path, source: Path) -> None:
    for turn in range(100):
        hw.write(path, OLD if turn % 2 else NEW)


def convert(path: Path, source: Path) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for _ in range(100):
        if command(["convert", str(source), str(path)]):
            raise Difference("the command failed")


def try_file(work: Callable[[Path, Path], None], draw: random.Random, folder: Path) -> bool:
    """Kill a process that writes a file: it stays whole, and the next write leaves no other file beside it."""
    path, source = folder / draw.choice(FILES), folder / "source.npz"
    for file, graph in ((path, OLD), (source, NEW)):
        if not file.exists():
            hw.write(file, graph)
    was_killed = killed(lambda: work(path, source), LONGEST * draw.random())
    found = hw.read(path, directed=False, progress=False)
    if found not in (OLD, NEW):
        raise Difference(f"{path.name} is neither the old graph nor the new one")
    if draw.random() < 0.2:
        hw.write(path, OLD)
        if left := [other.name for other in folder.glob(f".{path.name}.*.part")]:
            raise Difference(f"{left} stay beside {path.name}")
    return was_killed


class Continued:
    """A run that saves all the time and is killed again and again, until a process finishes it."""

    def __init__(self) -> None:
        self.right = hw.betweenness_centrality(RUN, device="cpu").scores

    def __call__(self, draw: random.Random, folder: Path) -> bool:
        path = folder / "run.npz"
        checkpoint.INTERVAL, policy.POLL_SECONDS = 0.0, 0.0005

        def work() -> None:
            hw.betweenness_centrality(RUN, device="cpu", checkpoint=path, progress=lambda done, of: None, threads=1)

        was_killed = killed(work, 2 * LONGEST * draw.random())
        if not was_killed or draw.random() < 0.1:
            found = hw.betweenness_centrality(RUN, device="cpu", checkpoint=path)
            if not np.array_equal(found.scores, self.right):
                raise Difference("a continued run has other scores")
            path.unlink(missing_ok=True)
        return was_killed


class Table:
    """A table of distances that goes to a file, killed again and again: no row is lost, and none is twice."""

    def __init__(self, ending: str) -> None:
        source, target = RUN.to_edges()
        self.graph = hw.Graph.from_edges(source, target, weights=np.arange(len(source)) / 7 + 0.1)
        self.asked = {"sources": range(300), "targets": range(0, 900, 90), "device": "cpu"}
        self.right = np.asarray(hw.distance_table(self.graph, **self.asked).values)
        self.name = f"table{ending}"

    def __call__(self, draw: random.Random, folder: Path) -> bool:
        out = folder / self.name
        asked: Any = {**self.asked, "out": out, "checkpoint": folder / f"{self.name}.saved", "threads": 1}
        checkpoint.INTERVAL, many_sources.BLOCK_BYTES = 0.0, 8 * 10 * 3  # three rows at once

        def work() -> None:
            hw.distance_table(self.graph, progress=lambda done, of: None, **asked)

        was_killed = killed(work, 3 * LONGEST * draw.random())
        if not was_killed or draw.random() < 0.2:
            hw.distance_table(self.graph, **asked)
            if not self.is_right(out):
                raise Difference(f"{self.name} has other rows after it was killed")
            out.unlink()
            if left := [other.name for other in folder.glob(f"{self.name}*")]:
                raise Difference(f"{left} stay beside {self.name}")
        return was_killed

    def is_right(self, out: Path) -> bool:
        if out.suffix == ".npy":
            return np.array_equal(np.load(out), self.right)
        import pandas as pd

        found = pd.read_parquet(out) if out.suffix == ".parquet" else pd.read_csv(out, dtype=str).map(float)
        expected = {
            "source": np.repeat(self.asked["sources"], self.right.shape[1]),
            "target": np.tile(self.asked["targets"], self.right.shape[0]),
            "distance": self.right.ravel(),
        }
        return all(np.array_equal(found[name], column) for name, column in expected.items())


@cache
def kinds() -> Iterator[Callable[[random.Random, Path], bool]]:
    files = partial(try_file, write_in_turn), partial(try_file, convert)
    return itertools.cycle((*files, Continued(), Table(".npy"), Table(".parquet"), Table(".csv")))


def inputs(draw: random.Random, folder: Path) -> int:
    """One process, which was killed or had ended before."""
    return int(next(kinds())(draw, folder))
