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
import os
import random
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from difference import Attempt, Difference

import hopwave as hw
import mixed
from hopwave import generate
from hopwave import linalg as la
from hopwave.algorithms import checkpoint, reduction
from hopwave.arrays import on_host
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import thread_count
from hopwave.graph.arrays import arc_tails
from hopwave.system import threads
from recorded import record

Call = Callable[[], Any]
HANGS = 60  # seconds after which a call counts as hanging
SECONDS = 1.0  # most seconds from a signal to the end of the call
MOST_AGAIN = 6  # most signals per call
MOST_WRONG = 50  # a GPU whose state is broken answers nothing any more
SHORTEST = 0.0008  # seconds: shorter calls end before a signal arrives


def calls(device: str, folder: Path) -> dict[str, Call]:
    """One call of each function, on graphs with which most take some milliseconds; graphs are kept, as users do."""
    G, U, mesh = mixed.graph(), mixed.undirected(), generate.delaunay(700, seed=1)
    u, v = generate.uniform_edges(1 << 15, 4, seed=1)
    path = folder / "graph.txt"
    path.write_text("".join(f"{a} {b}\n" for a, b in zip(u.tolist(), v.tolist(), strict=True)))
    roads = with_chains(generate.delaunay(60, seed=1), 9)
    measured = roads.with_weights(1.0 + (arc_tails(roads) + roads.indices) % 7)
    trees = hw.Graph.from_edges(np.arange(1, 3000), np.arange(1, 3000) // 3)
    some = np.arange(mesh.n) % 4 / 4
    A = la.Matrix.from_graph(G)
    B = la.Matrix.from_graph(U)
    on = {"device": device}
    pool = ThreadPoolExecutor(2)

    def write(name: str) -> Any:
        hw.write(folder / name, mesh)
        return hw.read(folder / name).indices

    def saved(how: Callable[..., Any]) -> Call:
        file = folder / f"{how.__name__}.npz"  # the next run continues an interrupted one

        def run() -> Any:
            scores = how(checkpoint=file, **on).scores
            file.unlink(missing_ok=True)
            return scores

        return run

    def exact(**how: Any) -> Any:
        return hw.betweenness_centrality(mesh, **how)

    def wide(**how: Any) -> Any:
        return hw.betweenness_centrality(mesh, k=30, seed=1, plan="hopwave-wide", **how)

    def sampled(**how: Any) -> Any:
        return hw.betweenness_centrality(mesh, epsilon=0.03, method="paths", seed=1, **how)

    named: dict[str, Call] = {name: partial(mixed.QUESTIONS[name], G, device) for name in mixed.QUESTIONS}
    named |= {
        "betweenness of a mesh": lambda: hw.betweenness_centrality(mesh, **on).scores,
        "betweenness, saved": saved(exact),
        "betweenness of few sources, saved": saved(wide),
        "sampled paths, saved": saved(sampled),
        "sampled sources": lambda: hw.betweenness_centrality(U, epsilon=0.1, method="sources", seed=1, **on).bounds,
        "harmonic": lambda: hw.harmonic_centrality(mesh, **on).scores,
        "harmonic, the highest": lambda: hw.harmonic_centrality(mesh, top=5, **on).scores,
        "eccentricity": lambda: hw.eccentricity(mesh, **on).scores,
        "diameter": lambda: hw.diameter(mesh, **on),
        "radius": lambda: hw.radius(mesh, **on),
        "center": lambda: hw.center(mesh, **on),
        "barycenter": lambda: hw.barycenter(mesh, **on),
        "mean distance": lambda: hw.average_shortest_path_length(mesh, **on),
        "Wiener index": lambda: hw.wiener_index(mesh, **on),
        "global efficiency": lambda: hw.global_efficiency(mesh, **on),
        "local efficiency": lambda: hw.local_efficiency(U, **on),
        "load": lambda: hw.load_centrality(U, **on).scores,
        "HyperBall": lambda: hw.hyperball(U, seed=1, **on).pairs,
        "distance blocks": lambda: np.concatenate(
            [on_host(rows) for _, rows in hw.distance_blocks(mesh, range(99), **on)]
        ),
        "pairs within": lambda: np.stack([on_host(column) for column in hw.pairs_within(mesh, 2, **on)]),
        "nearest": lambda: list(hw.nearest(mesh, 0, 99).values()),
        "k-hop": lambda: hw.k_hop(mesh, 5, 3, **on),
        "paths in turn": lambda: [on_host(r.distances) for r in hw.sssp_each(G, range(9), **on)],
        "eigenvector": lambda: hw.eigenvector_centrality(U, **on).scores,
        "Katz": lambda: hw.katz_centrality(U, alpha=0.001, **on).scores,
        "components": lambda: hw.connected_components(U, **on).labels,
        "strong components": lambda: hw.strongly_connected_components(G, **on).labels,
        "triangles": lambda: hw.triangles(U, **on).scores,
        "label propagation": lambda: hw.label_propagation(U, seed=1, **on).labels,
        "independent set": lambda: hw.maximal_independent_set(U, seed=1, **on),
        "core numbers": lambda: hw.core_numbers(U, **on).scores,
        "product of matrices": lambda: la.mxm(A, A, la.semiring.plus_times, **on).to("cpu").stored_values(),
        "sums of matrices": lambda: la.reduce(B, la.monoid.plus),
        "PageRank, along products": lambda: la.algorithms.pagerank(A, **on).to("cpu").to_dense(0.0),
        "read": lambda: hw.read(path).indices,
        "write": lambda: write("written.mtx"),
        "write compressed": lambda: write("written.npz"),
        "from edges": lambda: hw.Graph.from_edges(u, v, 1 << 15).indices,
        "arranged": lambda: mixed.fresh(U).arranged().indices,
        "reversed": lambda: mixed.fresh(G).reversed().indices,
        "kronecker": lambda: generate.kronecker(13, 8, seed=1).indices,
        "delaunay": lambda: generate.delaunay(2000, seed=1).indices,
        "small world": lambda: generate.smallworld(5000, seed=1).indices,
        "validate": lambda: bool(hw.validate(mesh, 0, hw.bfs(mesh, 0, **on).distances)),
        "chains": lambda: hw.betweenness_centrality(roads, **on).scores,
        "chains, edges": lambda: hw.edge_betweenness_centrality(roads, **on).scores,
        "chains, lengths": lambda: hw.betweenness_centrality(measured, weights=True, **on).scores,
        "demand": lambda: hw.betweenness_centrality(mesh, source_weights=some, target_weights=some[::-1], **on).scores,
        "demand of edges": lambda: hw.edge_betweenness_centrality(mesh, source_weights=some, **on).scores,
        "percolation": lambda: hw.percolation_centrality(mesh, some, **on).scores,
        "blocks": lambda: hw.biconnected_components(mixed.fresh(roads), **on).arc_labels,
        "bridges": lambda: np.array(hw.bridges(mixed.fresh(trees), **on)),
        "table": lambda: on_host(hw.distance_table(G, range(99), range(50, 150), **on).values),
        "sums within reach": lambda: hw.accessibility(G, limit=[5.0, 9.0], **on).sums,
        "nearest of a set": lambda: hw.nearest_of(G, range(0, 500, 50), 3).distances,
        "isochrone": lambda: hw.isochrone(G, 0, [5.0, 9.0], **on).arcs(9.0).fraction,
        "ranked paths": lambda: [length for length, _ in hw.k_shortest_paths(mesh, 0, 350, 40, **on)],
        "clustering": lambda: hw.clustering(U, **on).scores,
        "read packed": lambda: write("written.txt.gz"),
        "an executor": lambda: hw.betweenness_centrality(mesh, executor=pool, **on).scores,
        "an executor, many": lambda: hw.closeness_centrality(mesh, executor=pool, **on).scores,
    }
    if device == "cuda":
        packed, far = (U.to("cuda", compressed=True, memory_limit=limit) for limit in (None, 0))
        weighed = np.arange(U.n) % 3 / 2
        named |= {
            "compressing": lambda: on_host(hw.bfs(U.to("cuda", compressed=True), 0, **on).distances),
            "compressed rows": lambda: on_host(hw.bfs_many(packed, range(200), **on)),
            "compressed, across the bus": lambda: on_host(hw.bfs_many(far, range(200), **on)),
            "compressed, betweenness": lambda: hw.betweenness_centrality(packed, **on).scores,
            "compressed, demand": lambda: hw.betweenness_centrality(packed, source_weights=weighed, **on).scores,
            "compressed, closeness": lambda: hw.closeness_centrality(packed, **on).scores,
            "compressed, PageRank": lambda: hw.pagerank(packed, tol=1e-12, **on).scores,
            "compressed, eigenvector": lambda: hw.eigenvector_centrality(packed, **on).scores,
            "compressed, Katz": lambda: hw.katz_centrality(packed, alpha=0.001, **on).scores,
            "compressed, components": lambda: hw.connected_components(packed, **on).labels,
        }
    return named


def with_chains(graph: hw.Graph, inner: int) -> hw.Graph:
    """The graph with that many vertices on every edge, which betweenness takes out."""
    u, v = graph.to_edges()
    inside = graph.n + np.arange(len(u) * inner).reshape(len(u), inner)
    path = np.column_stack([u, inside, v])
    return hw.Graph.from_edges(path[:, :-1].ravel(), path[:, 1:].ravel())


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
        self._device = device
        shortest = 0.0 if only else SHORTEST
        for name, call in named.items():
            try:
                call()  # compiles
            except hw.EngineError as error:
                print(f"left out: {name}: {error}", file=sys.stderr)
                continue
            began = time.perf_counter()
            answer = np.asarray(on_host(call()))
            took = time.perf_counter() - began
            if took >= shortest:
                self.calls[name], self.right[name], self.seconds[name] = call, answer, took
        self._settled()
        # If a call begins while threads are still leaving the last call, it starts others instead.
        self._threads = threading.active_count() + 2 * thread_count() + 2

    def attempt(self, draw: random.Random) -> int:
        """Interrupt one call, then ask again. Returns how many calls were interrupted, 0 or 1."""
        name = draw.choice(list(self.calls))
        times = draw.randint(2, MOST_AGAIN) if draw.random() < 0.3 else 1
        after, apart = max(1e-5, draw.random() * 1.1 * self.seconds[name]), draw.uniform(2e-5, 3e-3)
        with Watched():
            where = f"{name}, interrupted {times} times from {after:.6f} s on, {apart:.6f} s apart"
            try:
                went_on = self._alarm.interrupt(self.calls[name], after, times, apart)
            except Exception as error:
                raise Difference(f"{where}: it raised {error!r}") from error
            try:
                answer = np.asarray(on_host(self.calls[name]()))
            except Exception as error:
                raise Difference(f"{where}: the next call raised {error!r}") from error
            if not self._same(answer, self.right[name]):
                raise Difference(f"{where}: the next call gave another answer")
            if draw.random() < 0.02:
                self._settled()
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

    def _same(self, answer: Any, right: Any) -> bool:
        """To the last bit; a GPU adds up floats in another order each time."""
        if self._device == "cuda" and answer.dtype.kind == right.dtype.kind == "f" and answer.shape == right.shape:
            return np.allclose(answer, right, rtol=1e-9, atol=1e-12, equal_nan=True)
        return answer.dtype == right.dtype and np.array_equal(answer, right, equal_nan=True)

    @staticmethod
    def _settled() -> None:
        """Wait until no thread is busy; a thread that never ends counts as a hanging call."""
        while threads.crew._pending or threads.crew._away:
            time.sleep(0.01)


class Watched:
    """Ends the process and prints all stacks if the block does not end."""

    def __enter__(self) -> None:
        faulthandler.dump_traceback_later(HANGS, exit=True)

    def __exit__(self, *error: object) -> None:
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
