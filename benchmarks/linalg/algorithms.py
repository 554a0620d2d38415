"""PageRank, shortest paths and triangles by hopwave.linalg, compared in one run with python-graphblas (SuiteSparse).

    python -m benchmarks.linalg.algorithms [--graphs a,b] [--rounds 5] [--threads 2]

Uses every graph of the folder with over 300,000 arcs, or a Kronecker graph if the folder has none. Answers are compared
before anything is timed. Both libraries get finished matrices (for PageRank with their transpose). What an algorithm
derives from its matrix, such as the lower part, is timed for both. python-graphblas runs LAGraph's methods
(linalg/graphblas_peer.py). For shortest paths, these are Bellman-Ford and Δ-stepping with several widths; for
triangles, one method with and without sorting by degree first. The best of its times counts. hopwave runs the methods
that its public functions choose; for shortest paths, the better of two methods made of products is measured too. Rounds
of both libraries alternate, and the best of each is reported.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.setting import DATA, LEFT_OUT, QUICK, command_line, files, hw, publish, real_graphs, tell, timed
from hopwave import linalg as la

LEAST_ARCS = 300_000
STAND_IN = "kronecker 14"  # used if no real graph is available
TOLERANCE = 1e-6  # PageRank stops when the sum of all changes is below this
WIDTHS = (64.0, 256.0, 1024.0)  # Δ, for weights from 1 to 255 as in the GAP benchmark
NOTE = (
    "Times in milliseconds, the best of alternating rounds. `times` says how many times faster hopwave is. Weights are "
    "1 to 255. Triangles ignore directions. The last column names python-graphblas's best method."
)


def clocked(call: Callable[[], Any]) -> float:
    return timed(call, 1)[0]


def quickest(calls: dict[str, Callable[[], Any]]) -> str:
    """The name of the fastest call, by the better of two rounds."""
    return min(calls, key=lambda name: min(clocked(calls[name]), clocked(calls[name])))


def contest(ours: Callable[[], Any], peers: dict[str, Callable[[], Any]], rounds: int) -> tuple[float, float, str]:
    """hopwave's best time, the others' best time, and the name of that method."""
    best = quickest(peers)
    mine = theirs = float("inf")
    for _ in range(rounds):
        mine = min(mine, clocked(ours))
        theirs = min(theirs, clocked(peers[best]))
    return mine, theirs, best


def lengths(graph: hw.Graph) -> np.ndarray[Any, Any]:
    """Whole numbers from 1 to 255, equal in both directions, computed from the ids of the two ends."""
    u, v = np.repeat(np.arange(graph.n, dtype=np.int64), graph.degrees), graph.indices.astype(np.int64)
    mixed = (np.minimum(u, v) * 2654435761 + np.maximum(u, v) * 40503) % 4294967291
    return (mixed % 255 + 1).astype(np.float64)


def row(what: str, name: str, graph: hw.Graph, found: tuple[float, float, str]) -> dict[str, Any]:
    mine, theirs, method = found
    line = {
        "what": what,
        "graph": name,
        "vertices": graph.n,
        "arcs": graph.m,
        "hopwave ms": mine * 1e3,
        "python-graphblas ms": theirs * 1e3,
        "times": theirs / mine,
        "its method": method,
    }
    return tell(line)


def agree(what: str, right: bool) -> None:
    if not right:
        raise SystemExit(f"{what}: hopwave and python-graphblas disagree")


def ranks(name: str, graph: hw.Graph, rounds: int) -> list[dict[str, Any]]:
    import graphblas as gb

    from benchmarks.linalg import graphblas_peer as peer

    AT = peer.matrix(graph.reversed())
    degrees = gb.Vector.from_dense(graph.degrees.astype(np.float64), missing_value=0.0)
    sinks = gb.Vector(bool, graph.n)
    sinks(~degrees.S) << True
    A = la.Matrix.from_graph(graph)

    def ours() -> la.Vector:
        return la.algorithms.pagerank(A, tol=TOLERANCE / graph.n)

    def theirs() -> Any:
        return peer.pagerank(AT, degrees, sinks, 0.85, TOLERANCE, 100)

    agree(f"{name}, PageRank", np.allclose(ours().values, theirs().to_dense(), rtol=1e-9, atol=1e-14))
    return [row("PageRank", name, graph, contest(ours, {"LAGr_PageRank": theirs}, rounds))]


def paths(name: str, graph: hw.Graph, rounds: int) -> list[dict[str, Any]]:
    from benchmarks.linalg import graphblas_peer as peer

    weights = lengths(graph)
    W, A = peer.matrix(graph, weights), la.Matrix.from_graph(graph, weights)
    source = int(np.argmax(graph.degrees))
    peers: dict[str, Callable[[], Any]] = {"Bellman-Ford": lambda: peer.bellman_ford(W, source)}
    for width in WIDTHS:
        peers[f"Δ-stepping, Δ = {width:g}"] = lambda width=width: peer.delta_stepping(W, source, width)
    found = hw.sssp(A, source).distances
    for method, ask in peers.items():
        agree(f"{name}, {method}", np.array_equal(found, ask().to_dense(np.inf)))
    ours: dict[str, Callable[[], la.Vector]] = {
        "delta-stepping": lambda: la.algorithms.delta_stepping(A, source),
        "bellman-ford": lambda: la.algorithms.sssp(A, source),
    }
    for method, find in ours.items():
        agree(f"{name}, {method}", np.array_equal(found, find().values))
    by_products = ours[quickest(ours)]
    return [
        row("shortest paths", name, graph, contest(lambda: hw.sssp(A, source), peers, rounds)),
        row("shortest paths by products", name, graph, contest(by_products, peers, rounds)),
    ]


def triangles(name: str, graph: hw.Graph, rounds: int) -> list[dict[str, Any]]:
    from benchmarks.linalg import graphblas_peer as peer

    u, v = graph.to_edges()
    graph = hw.Graph.from_edges(u[u != v], v[u != v], n=graph.n)
    A = peer.matrix(graph)
    peers: dict[str, Callable[[], Any]] = {
        "Sandia_LUT": lambda: peer.triangles(A),
        "Sandia_LUT, sorted": lambda: peer.triangles(peer.by_degree(A)),
    }
    found = hw.triangle_count(graph)
    for method, ask in peers.items():
        agree(f"{name}, {method}", ask() == found)
    return [row("triangles", name, graph, contest(lambda: hw.triangle_count(graph), peers, rounds))]


def main() -> None:
    options = command_line(__doc__, graphs=str, rounds=5, threads=len(os.sched_getaffinity(0)))
    from benchmarks.linalg import graphblas_peer as peer

    os.environ["HOPWAVE_NUM_THREADS"] = str(options.threads)
    peer.threads(options.threads)
    wanted = options.graphs.split(",") if options.graphs else files()
    if not wanted:
        print(f"{LEFT_OUT}every real graph; {DATA} has none: set HOPWAVE_DATA to a folder of .mtx.gz files")
    rows = []
    for name in wanted if wanted and not QUICK else [STAND_IN]:
        graph = hw.generate.kronecker(14, 32, seed=1) if name == STAND_IN else real_graphs([name]).get(name)
        if graph is not None and graph.m > LEAST_ARCS:
            rows += [line for ask in (ranks, paths, triangles) for line in ask(name, graph, options.rounds)]
    rows.sort(key=lambda line: str(line["what"]))
    least = min(float(line["times"]) for line in rows)
    note = f"{NOTE} {peer.versions()}, {options.threads} threads each. The smallest of `times` is {least:.2f}."
    publish("linalg-algorithms", "PageRank, shortest paths and triangles on the CPU", rows, note)


if __name__ == "__main__":
    main()
