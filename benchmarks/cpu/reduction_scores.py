"""Every score of exact betweenness by reduction beside the run without it, on data graphs and on parts of roads.

    python -m benchmarks.cpu.reduction_scores [--most 1e9] [--part 15000] [--note "…"]

Graphs of which sources × arcs are at most --most, as undirected ones. Of larger road graphs, the --part vertices that
are nearest to one of them: what is a chain there stays one. Lengths are hops, whole numbers from 1 to 4 (many ties),
and eighths, whose sums are exact too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.cpu.reduction import apart
from benchmarks.setting import command_line, files, hw, publish, real_graphs, timed

ROADS = ("luxembourg_osm", "moscow-roads", "osm-netherlands-cities")
LENGTHS: dict[str, Any] = {
    "hops": None,
    "1 to 4": lambda draw, m: draw.integers(1, 5, m).astype(float),
    "eighths": lambda draw, m: draw.integers(1, 1000, m) / 8,
}


def part_of(graph: hw.Graph, count: int) -> hw.Graph:
    """The vertices that are nearest to the one of highest degree."""
    far = hw.bfs(graph, int(np.argmax(graph.degrees)), predecessors=False).distances
    far = np.where(far < 0, graph.n, far)
    return graph.subgraph(np.sort(np.argsort(far, kind="stable")[:count])).relabel(None)


def compared(name: str, graph: hw.Graph, kind: str, what: str) -> dict[str, Any]:
    """One row."""
    weighted = LENGTHS[kind] is not None
    if weighted:
        source, target = graph.to_edges()
        lengths = LENGTHS[kind](np.random.default_rng(1), len(source))
        graph = hw.Graph.from_edges(source, target, graph.n, weights=lengths)
    ask = getattr(hw, f"{what}_centrality")

    def run(reduce: bool) -> tuple[float, Any]:
        return timed(lambda: ask(graph, weights=weighted, device="cpu", reduce=reduce, progress=False), 1)

    (fast, found), (slow, right) = run(True), run(False)
    about = found.reduction
    row: dict[str, Any] = {"graph": name, "scores": what.replace("_", " "), "lengths": kind, "vertices": graph.n}
    row |= {
        "edges": graph.m // 2,
        "remain": about and about.vertices,
        "chains": about and about.chains,
        "twins": about and about.twins,
    }
    row |= dict(zip(("of largest", "of itself"), apart(found, right), strict=True))
    row |= {"reduced s": fast, "whole s": slow}
    print(row, flush=True)
    if row["of largest"] > 1e-11 or row["of itself"] > 1e-9:
        raise SystemExit(f"{name}: scores are not those of the whole run")
    return row


def main() -> None:
    given = command_line(__doc__, most=1e9, part=15_000, note="")
    rows = []
    for name, graph in real_graphs(files(), directed=False, weights=False).items():
        asked = part_of(graph, given.part) if name in ROADS else graph.remove_self_loops()
        if asked.n * asked.m > given.most:
            continue
        title = f"{name}, {asked.n:,} vertices of it" if name in ROADS else name
        rows += [compared(title, asked, kind, f"{of}betweenness") for kind in LENGTHS for of in ("", "edge_")]
    note = "All sources, on the CPU. The greatest difference as a part of the largest score, and of the score itself."
    publish("reduction-scores", "Scores by reduction and of whole runs", rows, f"{note} {given.note}".strip())


if __name__ == "__main__":
    main()
