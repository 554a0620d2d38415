"""Exact betweenness by reduction on the CPU, beside the run without it, in one process.

    python -m benchmarks.cpu.reduction [--graphs NAME …] [--seconds 20] [--device cuda] [--note "what else ran"]

Whole: some sources, times how many there are. Reduced: the whole run, or some seconds of it, from the end of a batch
to that of another. Both take turns, and the faster of two rounds counts. Lengths are hops, and whole numbers from 1 to
255.
--device: all sources of the whole graph are also run there, vertices and edges, and every score is compared.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.cpu.sssp import with_lengths
from benchmarks.setting import command_line, gpu, hw, publish, real_graphs, tell, timed

GRAPHS = (
    "luxembourg_osm", "moscow-roads", "osm-netherlands-cities", "PGPgiantcompo", "p2p-Gnutella31", "email-Enron",
    "wiki-Vote", "ca-AstroPh", "delaunay_n15",
)  # fmt: skip
COMPARED = 5e10  # sources × arcs up to which all scores are compared
NOTE = (
    "Seconds of all sources. Whole: from {sources:,} sources. Reduced: share says how much of the run was made; the "
    "rest has the same speed. The greatest difference from all sources of the whole graph, over vertices and edges: as "
    "a part of the largest score, and of the score itself."
)


class Enough(Exception):
    """The run has shown how fast it is."""

    def __init__(self, share: float) -> None:
        self.share = share


def reduced(graph: hw.Graph, weighted: bool, seconds: float) -> tuple[float, float, Any]:
    """Seconds of the reduced run, the share of it that was made, and its result if it is whole.

    A part of a run is timed between two ends of batches: what comes before the first is done once, and others are under
    way at both.
    """
    began = time.perf_counter()
    marks = [(0, began)]

    def watch(done: int, of: int) -> None:
        if done > marks[-1][0]:
            marks.append((done, time.perf_counter()))
        if done < of and len(marks) > 3 and time.perf_counter() - began > seconds:
            raise Enough(done / of)

    try:
        result = hw.betweenness_centrality(graph, weights=weighted, device="cpu", progress=watch)
        return time.perf_counter() - began, 1.0, result
    except Enough as enough:
        (first, then), (last, now) = marks[1], marks[-1]
        each = (now - then) / (last - first)
        return max(then - began - first * each, 0.0) + last / enough.share * each, enough.share, None


def whole(graph: hw.Graph, weighted: bool, sources: Any, **options: Any) -> float:
    """Seconds of the run over these sources."""
    given = {"sources": sources, "weights": weighted, "device": "cpu", "progress": False, **options}
    return timed(lambda: hw.betweenness_centrality(graph, **given), 1)[0]


def apart(found: Any, right: Any) -> tuple[float, float]:
    """The greatest difference: of the largest score, and of scores themselves."""
    found, right = np.asarray(found.scores), np.asarray(right.scores)
    difference, largest = np.abs(found - right), right.max()
    some = right > 1e-15 * largest
    return float(difference.max() / largest), float((difference[some] / right[some]).max())


def measured(name: str, graph: hw.Graph, weighted: bool, count: int, seconds: float, device: str | None) -> Any:
    """One row."""
    sources = np.random.default_rng(1).choice(graph.n, min(count, graph.n), replace=False)
    hw.betweenness_centrality(graph, sources=[0], weights=weighted, device="cpu")  # compiles
    row: dict[str, Any] = {"graph": name, "lengths": "1 to 255" if weighted else "hops", "vertices": graph.n}
    slow, fast, share, result = np.inf, np.inf, 0.0, None
    for _ in range(2):
        slow = min(slow, whole(graph, weighted, sources, reduce=False) * graph.n / len(sources))
        took, share, found = reduced(graph, weighted, seconds)
        fast, result = min(fast, took), found or result
    about = result.reduction if result else None
    if result and about is None:  # nothing was removed: what does it cost to look?
        fast = min(whole(graph, weighted, sources) for _ in range(3)) * graph.n / len(sources)
        slow = min(whole(graph, weighted, sources, reduce=False) for _ in range(3)) * graph.n / len(sources)
    row |= {
        "edges": graph.m // 2,
        "remain": about.vertices if about else None,
        "chains": about and about.chains,
        "twins": about and about.twins,
    }
    row |= {"whole s": slow, "reduced s": fast, "share": share, "times": slow / fast}
    if device and result and graph.n * graph.m <= COMPARED:
        plain = {"weights": weighted, "device": device, "reduce": False, "progress": False}
        row[f"{device} s"], other = timed(lambda: hw.betweenness_centrality(graph, **plain), 1)
        edges = [
            hw.edge_betweenness_centrality(graph, weights=weighted, device=where, reduce=where == "cpu", progress=False)
            for where in ("cpu", device)
        ]
        both = np.array([apart(result, other), apart(*edges)]).max(axis=0)
        row["of largest"], row["of itself"] = both.tolist()
    return tell(row)


def main() -> None:
    given = command_line(
        __doc__, graphs=list(GRAPHS), sources=2000, seconds=20.0, lengths=["hops", "weights"], device=str, note=""
    )
    rows = []
    for name, graph in real_graphs(given.graphs, directed=False).items():
        for weighted in (one == "weights" for one in given.lengths):
            asked = with_lengths(graph) if weighted else graph
            rows.append(measured(name, asked, weighted, given.sources, given.seconds, given.device))
    if rows:
        note = f"{NOTE.format(sources=given.sources)} {given.note}"
        publish("cpu-reduction", "Exact betweenness by reduction", rows, note, gpu(given.device or "cpu"))


if __name__ == "__main__":
    main()
