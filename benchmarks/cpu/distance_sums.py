"""Closeness and harmonic centrality of all vertices by reduction, beside the run without it, in one process.

    python -m benchmarks.cpu.distance_sums [--graphs NAME …] [--seconds 4] [--device cpu] [--note "what else ran"]

A run that takes longer is stopped, and its time is divided by its share. Both take turns, and the faster of two rounds
counts. Lengths are hops, and whole numbers from 1 to 255. Scores of runs that were made whole are compared.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.cpu.reduction import Enough
from benchmarks.cpu.sssp import with_lengths
from benchmarks.setting import command_line, gpu, hw, publish, real_graphs, tell

GRAPHS = (
    "luxembourg_osm", "moscow-roads", "osm-netherlands-cities", "PGPgiantcompo", "p2p-Gnutella31", "email-Enron",
    "delaunay_n15",
)  # fmt: skip
NOTE = (
    "Seconds of all vertices. Share: how much of the whole and of the reduced run was made; the rest has the same "
    "speed. Searched: the vertices that the reduced run searches from."
)


def run(ask: Any, graph: hw.Graph, seconds: float, **options: Any) -> tuple[float, float, Any]:
    """Seconds of all of a run, the share of it that was made, and its result if it is whole."""
    began = time.perf_counter()

    def watch(done: int, of: int) -> None:
        if 0 < done < of and time.perf_counter() - began > seconds:
            raise Enough(done / of)

    try:
        result = ask(graph, progress=watch, **options)
        return time.perf_counter() - began, 1.0, result
    except Enough as enough:
        return (time.perf_counter() - began) / enough.share, enough.share, None


def measured(name: str, graph: hw.Graph, weighted: bool, what: str, seconds: float, device: str) -> dict[str, Any]:
    """One row."""
    ask, given = getattr(hw, f"{what}_centrality"), {"weights": weighted or None, "device": device}
    best: dict[bool, tuple[float, float, Any]] = {}
    for _ in range(2):
        for reduce in (False, True):
            found = run(ask, graph, seconds, reduce=reduce, **given)
            best[reduce] = min(best.get(reduce, found), found, key=lambda one: one[0])
    (slow, share, whole), (fast, part, result) = best[False], best[True]
    about = None if result is None else result.reduction
    row: dict[str, Any] = {"graph": name, "score": what, "lengths": "1 to 255" if weighted else "hops"}
    row |= {"vertices": graph.n, "searched": about and about.vertices, "chains": about and about.chains}
    row |= {"whole s": slow, "share": share, "reduced s": fast, "share ": part, "times": slow / fast}
    if whole is not None and result is not None:
        right = np.asarray(whole.scores)
        row["apart"] = float((np.abs(np.asarray(result.scores) - right) / np.maximum(right, 1e-300)).max())
    return tell(row)


def main() -> None:
    given = command_line(
        __doc__,
        graphs=list(GRAPHS),
        seconds=4.0,
        scores=["closeness", "harmonic"],
        lengths=["hops", "weights"],
        device="cpu",
        note="",
    )
    rows = []
    for name, graph in real_graphs(given.graphs, directed=False, weights=False).items():
        for weighted in (one == "weights" for one in given.lengths):
            asked = with_lengths(graph) if weighted else graph
            rows += [measured(name, asked, weighted, what, given.seconds, given.device) for what in given.scores]
    if rows:
        page = "distance-sums" if given.device == "cpu" else f"distance-sums-{given.device}"
        publish(page, "Closeness and harmonic centrality by reduction", rows, f"{NOTE} {given.note}", gpu(given.device))


if __name__ == "__main__":
    main()
