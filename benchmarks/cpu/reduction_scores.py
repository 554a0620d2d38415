"""Every score of exact betweenness by reduction beside the run without it, on every graph of the data folder.

    python -m benchmarks.cpu.reduction_scores [--graphs NAME …] [--most 1e9] [--part 0] [--chains] [--note "…"]
        [--reduced cpu] [--whole cpu] [--lengths hops "1 to 4" eighths] [--scores betweenness edge_betweenness]

Graphs are undirected and without loops. All sources, or as many drawn ones that sources × arcs is --most: demand of a
part of the sources is exact too. The reduction is made also where it does not pay; chains are contracted by the usual
rule, with --chains wherever a quarter of the vertices is inside of one. --part: of larger road graphs, the vertices
that are nearest to one of them; what is a chain there stays one. Lengths are hops, whole numbers from 1 to 4 (many
ties), and eighths, whose sums are exact too. Rows of earlier runs stay on the page until they are measured again.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from benchmarks.cpu.reduction import apart
from benchmarks.setting import RESULTS, command_line, files, gpu, hw, publish, real_graphs, timed
from hopwave.algorithms import reduction
from hopwave.algorithms.reduction import chains

ROADS = ("luxembourg_osm", "moscow-roads", "osm-netherlands-cities")
KEY = ("graph", "scores", "lengths", "reduced by", "sources")
LENGTHS: dict[str, Any] = {
    "hops": None,
    "1 to 4": lambda draw, m: draw.integers(1, 5, m).astype(float),
    "eighths": lambda draw, m: draw.integers(1, 1000, m) / 8,
}
NOTE = (
    "The greatest difference as a part of the largest score, and of the score itself. The reduction was made also "
    "where it does not pay. Sources: all, or as many drawn ones as the run was given time for."
)


def part_of(graph: hw.Graph, count: int) -> hw.Graph:
    """The vertices that are nearest to the one of highest degree."""
    far = hw.bfs(graph, int(np.argmax(graph.degrees)), predecessors=False).distances
    far = np.where(far < 0, graph.n, far)
    return graph.subgraph(np.sort(np.argsort(far, kind="stable")[:count])).relabel(None)


def with_lengths(graph: hw.Graph, kind: str) -> hw.Graph:
    """The graph with drawn lengths of this kind."""
    if LENGTHS[kind] is None:
        return graph
    source, target = graph.to_edges()
    return hw.Graph.from_edges(source, target, graph.n, weights=LENGTHS[kind](np.random.default_rng(1), len(source)))


def compared(name: str, graph: hw.Graph, kind: str, what: str, given: argparse.Namespace) -> dict[str, Any]:
    """One row."""
    ask, count = getattr(hw, f"{what}_centrality"), min(graph.n, int(given.most) // graph.m)
    options: dict[str, Any] = {"weights": graph.is_weighted, "progress": False}
    if count < graph.n:
        options["sources"] = np.random.default_rng(2).choice(graph.n, count, replace=False)
    fast, found = timed(lambda: ask(graph, device=given.reduced, **options), 1)
    slow, right = timed(lambda: ask(graph, device=given.whole, reduce=False, **options), 1)
    about = found.reduction
    row: dict[str, Any] = {"graph": name, "scores": what.replace("_", " "), "lengths": kind, "sources": count}
    row |= {
        "of": graph.n,
        "reduced by": given.reduced,
        "remain": about and about.vertices,
        "chains": about and about.chains,
        "twins": about and about.twins,
    }
    row |= dict(zip(("of largest", "of itself"), apart(found, right), strict=True))
    print(json.dumps(row), f"{fast:.2f} and {slow:.2f} s", flush=True)
    if row["of largest"] > 1e-11 or row["of itself"] > 1e-9:
        raise SystemExit(f"{name}: scores are not those of the whole run")
    return row


def main() -> None:
    given = command_line(
        __doc__, graphs=[str], most=1e9, part=0, chains=False, reduced="cpu", whole="cpu", note="",
        lengths=list(LENGTHS), scores=["betweenness", "edge_betweenness"],
    )  # fmt: skip
    reduction.LEAST_SOURCES, reduction.LEAST_GAIN = 0, 0.0
    reduction.LEAST_WORK, reduction.LEAST_LOW = {"cpu": 0, "cuda": 0}, {"cpu": 0.0, "cuda": 0.0}
    if given.chains:
        chains.LEAST_GAIN = 0.0
    rows = []
    for name in given.graphs or files():
        for graph in real_graphs([name], directed=False, weights=False).values():
            title, asked = name, graph.remove_self_loops()
            if given.part and name in ROADS:
                title, asked = f"{name}, {given.part:,} vertices of it", part_of(graph, given.part)
            for kind in given.lengths:
                drawn = with_lengths(asked, kind)
                rows += [compared(title, drawn, kind, what, given) for what in given.scores]
    page = "reduction-scores-h200" if given.whole == "cuda" else "reduction-scores"
    file = RESULTS / f"{page}.jsonl"
    before = json.loads(file.read_text(encoding="utf-8").splitlines()[-1])["rows"] if file.exists() else []
    new = {tuple(row[key] for key in KEY) for row in rows}
    rows += [row for row in before if tuple(row.get(key) for key in KEY) not in new]
    title = "Scores by reduction and of whole runs" + " on a GPU" * (given.whole == "cuda")
    publish(page, title, rows, f"{NOTE} {given.note}".strip(), gpu(given.whole))


if __name__ == "__main__":
    main()
