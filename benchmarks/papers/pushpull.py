"""Push-pull's Figures 5 to 7 and Table 3 on one GPU, and what operand reuse saves.

    PYTHONPATH=src:. python -m benchmarks.papers.pushpull [--sources 1000] [--graphs kron21e44,rmat22e64]
        [--parts whole,kinds,reuse,iterations] [--go-on]

Figures 5 and 6 use the first graph: a search that only pushes and one that only pulls, iteration by iteration. Every
search is compared with the distances of `hopwave-gpu`. Times are those inside the levels, by the GPU's events. Writes
one line for each part, and gpu-pushpull.md from them (pushpull_page.py). --go-on keeps the other lines.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from benchmarks import pages
from benchmarks.gpu.graphs import LARGE, verified_searches
from benchmarks.gpu.search import GENERATED, head
from benchmarks.papers.ablations import GRAPH500, in_turn, levels_of
from benchmarks.setting import RESULTS, hw
from hopwave import Graph, engines
from hopwave.engines.cuda.search import steps
from hopwave.engines.host_loop import by_levels
from hopwave.papers import enterprise
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan
from hopwave.planning.rules import Always

GRAPHS = ["kron21e44", *LARGE]
PARTS = ["whole", "kinds", "reuse", "iterations"]
FEW = 16  # sources for Table 3
SHARES = (10, 50, 90)  # percentiles of Figure 6


def one_way() -> dict[str, Plan]:
    """Plans that only push, and only pull, as in the paper's Figures 5 and 6."""
    push, pull = hw.plan("pushpull-structure"), hw.plan("pushpull-exit").steps[1]
    return {"push": push, "pull": replace(push, name="pushpull-pull-only", steps=(pull,), rule=Always())}


def kinds(graph: Graph, distances: Any) -> list[dict[str, int]]:
    """Figure 5(a): for every level its vertices, the unvisited vertices, and where its out-arcs lead."""
    indptr, indices = cupy.asarray(graph.indptr), cupy.asarray(graph.indices)
    row = distances[cupy.searchsorted(indptr, cupy.arange(graph.m, dtype=indptr.dtype), side="right") - 1]
    onward = distances[indices] - row
    rows = []
    for level in range(int(distances.max()) + 1):
        arcs = onward[row == level]
        back, across, on = (int((arcs == step).sum()) for step in (-1, 0, 1))
        rows.append({"vertices": int((distances == level).sum()), "unvisited": int((distances > level).sum()),
                     "back": back, "across": across, "on": on})  # fmt: skip
    return rows


def by_iteration(engine: Any, graph: Graph, sources: list[int], right: list[Any]) -> dict[str, Any]:
    """Figure 6: sizes and milliseconds of every iteration, as percentiles over the sources."""
    found: dict[str, Any] = {}
    for name, plan in one_way().items():
        levels_of(engine, graph, plan, sources[0], right[0])
        runs = [levels_of(engine, graph, plan, s, one) for s, one in zip(sources, right, strict=True)]
        rows = []
        for depth in range(max(map(len, runs))):
            some = [run[depth] for run in runs if len(run) > depth]
            vertices = [level.vertices for level in some]
            left = [graph.n - sum(other.found for other in run[:depth]) - 1 for run in runs if len(run) > depth]
            rows.append({
                "searches": len(some), "frontier": np.percentile(vertices, SHARES).tolist(),
                "unvisited": np.percentile(left, SHARES).tolist(),
                "ms": np.percentile([level.seconds * 1e3 for level in some], SHARES).tolist(),
                "looks": sum(level.checked for level in some) / max(1, sum(level.found for level in some)),
            })  # fmt: skip
        found[name] = rows
    return found


def median_ms(runs: list[list[Any]]) -> float:
    """Milliseconds of all levels of a search: the median over searches."""
    return float(np.median([sum(level.seconds for level in run) * 1e3 for run in runs]))


def reuse(engine: Any, graph: Graph, sources: list[int], right: list[Any]) -> dict[str, Any]:
    """What operand reuse saves: making a bitmap of the frontier when a search changes to pulling."""
    spent: list[tuple[float, int]] = []

    def pull(search: Any, step: Any) -> None:
        events = cupy.cuda.Event(), cupy.cuda.Event()
        waits = not search.has_frontier_bits
        events[0].record()
        search.need_visited()
        search.need_frontier_bits()
        events[1].record()
        steps.pull_rows(search, step)
        events[1].synchronize()
        if waits:
            spent.append((cupy.cuda.get_elapsed_time(*events) * 1e3, search.nf))

    plan = hw.plan("pushpull-exit")
    loop = enterprise.Levels({1: pull})
    for source in sources:
        search = engine.start(engine.load(graph, plan), (source,), SearchJob(predecessors=False))
        by_levels(loop, search, graph.n, graph.m, plan)
        engine.fetch(search)
    both = {}
    for name, runs in in_turn(engine, graph, ("pushpull-exit", "pushpull"), sources, right).items():
        pushes, pulls = ([[level for level in run if level.direction == way] for run in runs]
                         for way in ("push", "pull"))  # fmt: skip
        both[name] = {
            "ms": median_ms(runs), "ms in pushes": median_ms(pushes), "ms in pulls": median_ms(pulls),
            "pulls": float(np.median([len(run) for run in pulls])),
            "checked": sum(level.checked for run in pulls for level in run),
        }  # fmt: skip
    times, sizes = zip(*spent, strict=True)
    return {"conversions": len(spent), "µs": float(np.median(times)), "vertices": int(np.median(sizes)), **both}


def whole(engine: Any, graph: Graph, sources: list[int], right: list[Any]) -> dict[str, Any]:
    """Table 3 and Figure 7: one graph, by the paper's plan, its baseline and ours."""
    degrees = cupy.asarray(graph.degrees)
    found: dict[str, Any] = {"n": graph.n, "m": graph.m, "degree": int(degrees.max())}
    found["levels"] = int(np.median([int(one.max()) for one in right]))
    for name, runs in in_turn(engine, graph, ("pushpull-baseline", "pushpull"), sources, right).items():
        found[name] = float(np.mean([sum(level.seconds for level in run) * 1e3 for run in runs]))
    own = []
    for source in sources * 2:  # the first round warms up
        events = cupy.cuda.Event(), cupy.cuda.Event()
        events[0].record()
        hw.bfs(graph, source, predecessors=False, plan="hopwave-gpu", device="cuda")
        events[1].record()
        events[1].synchronize()
        own.append(cupy.cuda.get_elapsed_time(*events))
    found["hopwave-gpu"] = float(np.mean(own[FEW:]))
    return found


def measured(part: str, engine: Any, graph: Graph, sources: list[int], right: list[Any]) -> dict[str, Any]:
    """Measure one part of the page."""
    if part == "kinds":
        return {"rows": kinds(graph, right[0])}
    if part == "iterations":
        return {"sources": len(sources), **by_iteration(engine, graph, sources, right)}
    few = FEW if part == "whole" else GRAPH500
    return (whole if part == "whole" else reuse)(engine, graph, sources[:few], right[:few])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=int, default=1000, help="of Figure 6")
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--parts", default=",".join(PARTS), help="all but whole are of the first graph")
    parser.add_argument("--go-on", action="store_true", help="keep the other lines")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    engine, names, parts = engines.engine("cuda"), given.graphs.split(","), given.parts.split(",")
    given.out.mkdir(parents=True, exist_ok=True)
    kept = given.out / "gpu-pushpull.jsonl"
    before = kept.read_text(encoding="utf-8").splitlines() if given.go_on else []
    lines: dict[tuple[str, str], dict[str, Any]] = {(one["part"], one["graph"]): one for one in map(json.loads, before)}
    for name in names:
        graph = (LARGE | GENERATED)[name]().to("cuda")
        wanted = parts if name == names[0] else [part for part in parts if part == "whole"]
        sources, right = verified_searches(graph, given.sources if "iterations" in wanted else GRAPH500)
        for part in wanted:
            found = measured(part, engine, graph, sources, right)
            lines[part, name] = {"part": part, "graph": name, "where": head(), **found}
            print(lines[part, name], flush=True)
        del sources, right
        ordered = sorted(lines.values(), key=lambda one: (PARTS.index(one["part"]), GRAPHS.index(one["graph"])))
        pages.write("gpu-pushpull", given.out, ordered)
        graph._prepared.clear()
        del graph
        cupy.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
