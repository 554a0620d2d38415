"""Checks every search plan on six graphs and every available engine: are the distances right, and do levels follow the
plan?

    python -m benchmarks.plans_checked [--engines reference,cpu,ranks] [--ranks 4] [--graphs kron12,grid]
    python -m benchmarks.plans_checked --engines cuda --counts FILE     on a machine with a GPU
    python -m benchmarks.plans_checked --with FILE …                    the page, with the GPU's counts

Nothing is timed: everything is a count, so that one table can show counts of two machines. For each graph, plan and
engine (reference, CPU on one thread, ranks, GPU):

    distances   equal SciPy's
    rule        replayed on the sizes of every level, it chooses the step that ran
    arcs        a push checks the arcs that leave the frontier (on a GPU, one thread per arc checks all arcs, and a
                queue made by plain stores may have duplicates); an unmasked pull checks all arcs; a masked pull without
                early exit checks the arcs into unvisited vertices; with early exit, no more than these. Our own
                hopwave-paths exits early on a GPU too: there a second pass counts the paths.

The table has the directions, the largest frontier, and the arcs checked on each engine. If anything is wrong, the run
prints a sentence for each error, and writes no page. Ranks leave out XBFS's plans, which look ahead.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse.csgraph as csgraph

from benchmarks.pages import publish
from benchmarks.ranks import run_job
from benchmarks.setting import generate, gpu, hw
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.plan import Plan, Push
from hopwave.planning.rules import Sizes
from hopwave.planning.trace import Level, Trace

GRAPHS: dict[str, Callable[[], hw.Graph]] = {
    "kron12": lambda: generate.kronecker(12, 16, seed=1),
    "rmat12-directed": lambda: generate.kronecker(12, 8, seed=1, directed=True),
    "uniform12": lambda: generate.uniform(1 << 12, 8, seed=1),
    "mycielskian9": lambda: generate.mycielskian(9),
    "delaunay11": lambda: generate.delaunay(1 << 11, seed=1),
    "grid": lambda: generate.grid(60, 60, missing=0.03, seed=1),
}
SEARCHES = [plan for plan in CATALOGUE.values() if plan.task == "search"]
NOTE = (
    "Counts from the vertex of highest degree; every search gave SciPy's distances, every level took the step that its "
    "rule chooses, and checked the arcs that its step has to check. Levels are written as runs: 3↓ 2↑ is three pushes, "
    "then two pulls. They are the same on every engine, but our own plans may leave out the last, empty level. The "
    "reference engine has no early exit; ranks put each row's neighbour of highest degree first; on a GPU one thread "
    "per arc reads all arcs, a warp reads 32 at a time, and `hopwave-paths` exits early, as a second pass counts its "
    "paths. A dash: not run there."
)


def root_of(graph: hw.Graph) -> int:
    """The source of searches on a graph."""
    return int(np.argmax(graph.degrees))


def right_distances(graph: hw.Graph) -> Any:
    """Hops by SciPy; -1: not reached."""
    found = csgraph.shortest_path(graph.to_scipy(np.float64), unweighted=True, indices=root_of(graph))
    return np.where(np.isfinite(found), found, -1).astype(np.int32)


def arcs_to_check(graph: hw.Graph, plan: Plan, level: Level, distances: Any, device: str) -> tuple[int, int]:
    """The fewest and the most arcs that a level may check."""
    step = plan.steps[level.choice]
    if isinstance(step, Push):
        if device != "cuda":
            return level.edges, level.edges
        if step.mapping == "edge":  # only GPUs have the mapping of one thread per arc
            return graph.m, graph.m
        duplicates = step.output == "queue" and step.claim == "benign"  # a vertex may be in the queue several times
        whole_queue = graph.n * int(graph.degrees.max())  # the queue has room for n vertices
        return level.edges, whole_queue if duplicates else level.edges
    unvisited = (distances < 0) | (distances >= level.depth)
    wanted = graph.m if step.rows == "all" else int(graph.in_degrees[unvisited].sum())
    reads_to_end = device == "reference" or not (step.early_exit or (device == "cuda" and plan.loop == "device"))
    return wanted if reads_to_end else 0, wanted


def wrong_level(graph: hw.Graph, plan: Plan, trace: Trace, distances: Any, device: str) -> str:
    """What some level did that its step should not, or ""."""
    nf0 = mf0 = 0
    last = -1
    for level in trace:
        sizes = Sizes(graph.n, graph.m, level.vertices, level.edges, level.unvisited_edges, nf0, mf0, last)
        if plan.rule.choose(sizes) != level.choice:
            return f"level {level.depth} took step {level.choice}, the rule chooses {plan.rule.choose(sizes)}"
        fewest, most = arcs_to_check(graph, plan, level, distances, device)
        if not fewest <= level.checked <= most:
            wanted = f"{most}" if fewest == most else f"{fewest} to {most}"
            return f"level {level.depth}, {level.step}, checked {level.checked} arcs and has to check {wanted}"
        nf0, mf0, last = level.vertices, level.edges, level.choice
    return ""


def runs(trace: Trace) -> str:
    """The directions as runs.

    >>> runs(hw.bfs(hw.generate.path(4), 0, plan="merrill", trace=True).trace)
    '4↓'
    """
    arrows = {"push": "↓", "pull": "↑"}
    found = [f"{len(list(some))}{arrows[direction]}" for direction, some in groupby(trace.directions)]
    return " ".join(found) if len(found) <= 9 else f"{' '.join(found[:4])} … {len(found) - 1} changes"


Counts = dict[str, dict[str, dict[str, Any]]]  # graph → plan → what was counted


def count(engine: str, names: list[str], plans: list[Plan]) -> tuple[Counts, list[str]]:
    """What an engine counts for these plans on these graphs, and a sentence for every error."""
    counts: Counts = {}
    wrong: list[str] = []
    options: dict[str, Any] = {"threads": 1} if engine == "cpu" else {}
    for name in names:
        graph = GRAPHS[name]()
        right = right_distances(graph)
        for plan in plans:
            found = hw.bfs(
                graph, root_of(graph), plan=plan.name, device=engine, trace=True, predecessors=False, **options
            )
            assert found.trace is not None
            wrong += _wrong(name, graph, plan, engine, found.trace, found.distances, right)
            counts.setdefault(name, {})[plan.name] = _counted(found.trace)
    return counts, wrong


def _counted(trace: Trace) -> dict[str, Any]:
    return {
        "levels": runs(trace),
        "largest frontier": max(level.vertices for level in trace),
        "found ahead": sum(level.ahead for level in trace),
        "arcs": sum(level.checked for level in trace),
    }


def _wrong(name: str, graph: hw.Graph, plan: Plan, engine: str, trace: Trace, found: Any, right: Any) -> list[str]:
    sentences = [] if np.array_equal(found, right) else ["the distances are not SciPy's"]
    sentences += filter(None, [wrong_level(graph, plan, trace, right, engine)])
    return [f"{name}, {plan.name}, {engine}: {sentence}" for sentence in sentences]


def work(settings: dict[str, Any]) -> None:
    """The work of every rank: all graphs and plans; rank 0 prints the counts."""
    from hopwave import distributed
    from hopwave.distributed.search import why_not

    counts: Counts = {}
    wrong: list[str] = []
    for name in settings["graphs"]:
        graph = GRAPHS[name]()
        parts, right = distributed.spread(graph), right_distances(graph)
        for plan in map(hw.plan, settings["plans"]):
            if why_not(plan):
                continue
            found = distributed.bfs(parts, root_of(graph), plan=plan)
            whole = found.gather()
            if whole is not None:
                wrong += _wrong(name, graph, plan, "ranks", found.trace, whole[0], right)
            counts.setdefault(name, {})[plan.name] = _counted(found.trace)
    if distributed.world().rank == 0:
        print(json.dumps({"counts": counts, "wrong": wrong}))


def main() -> None:
    """Search, check, publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", type=lambda text: text.split(","), default=["reference", "cpu", "ranks"])
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=list(GRAPHS))
    parser.add_argument("--plans", type=lambda text: text.split(","), default=[plan.name for plan in SEARCHES])
    parser.add_argument("--counts", type=Path, help="write the counts to this file, and no page")
    parser.add_argument("--with", type=Path, dest="others", nargs="+", default=[], help="add the counts of such files")
    parser.add_argument("--job", type=json.loads, default=None, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job is not None:
        work(given.job)
        return
    all_counts: dict[str, Counts] = {}
    wrong: list[str] = []
    more: dict[str, Any] = {}
    for engine in given.engines:
        if engine == "ranks":
            over_ranks = run_job(given.ranks, "benchmarks.plans_checked", graphs=given.graphs, plans=given.plans)
            counts, sentences = over_ranks["counts"], over_ranks["wrong"]
        else:
            counts, sentences = count(engine, given.graphs, [hw.plan(name) for name in given.plans])
        all_counts[f"{given.ranks} ranks" if engine == "ranks" else engine] = counts
        wrong += sentences
    if "cuda" in given.engines:
        more = gpu()
    for file in given.others:
        others = json.loads(file.read_text(encoding="utf-8"))
        for engine, counts in others["counts"].items():
            for graph, plans in counts.items():
                all_counts.setdefault(engine, {}).setdefault(graph, {}).update(plans)
        wrong, more = wrong + others["wrong"], more | others["where"]
    wrong += different_levels(all_counts)
    if given.counts is not None:
        record = {"where": more, "counts": all_counts, "wrong": wrong}
        given.counts.write_text(json.dumps(record) + "\n", encoding="utf-8")
    if wrong:
        raise SystemExit("\n".join(wrong))
    if given.counts is None:
        publish("plans-checked", "Every search plan, counted", table_rows(all_counts), NOTE, more)


def different_levels(all_counts: dict[str, Counts]) -> list[str]:
    """A sentence for each graph and published plan for which an engine's levels differ from the first engine's.

    Our own plans may end before the last, empty level.
    """
    published = {plan.name for plan in SEARCHES if plan.loop == "host"}
    (name, first), *others = all_counts.items()
    return [
        f"{graph}, {plan}: {engine} went {counted['levels']}, {name} {first[graph][plan]['levels']}"
        for engine, counts in others
        for graph in counts
        for plan, counted in counts[graph].items()
        if plan in published and any(counted[key] != first[graph][plan][key] for key in ("levels", "largest frontier"))
    ]


def table_rows(all_counts: dict[str, Counts]) -> list[dict[str, Any]]:
    """One row per graph and plan. Levels and frontiers are the CPU's, or the first engine's."""
    first = all_counts.get("cpu") or next(iter(all_counts.values()))
    rows = []
    for graph, plans in first.items():
        for plan, counted in plans.items():
            row = {"graph": graph, "plan": plan} | {key: counted[key] for key in counted if key != "arcs"}
            for engine, counts in all_counts.items():
                row[f"arcs, {engine}"] = counts.get(graph, {}).get(plan, {}).get("arcs")
            rows.append(row)
    return rows


if __name__ == "__main__":
    main()
