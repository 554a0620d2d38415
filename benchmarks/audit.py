"""Every search plan on six graphs and every engine at hand: are the distances right, and do the levels do as planned?

    python -m benchmarks.audit [--ranks 4] [--cuda] [--graphs kron12,grid]

Nothing is timed: everything here is a count, and the same on any machine. For each graph, plan and engine (reference,
CPU on one thread, ranks, and with --cuda the GPU):

    distances   equal SciPy's
    rule        replayed on the sizes of every level, it chooses the step that ran
    arcs        a push checks the arcs that leave the frontier (on a GPU, one thread per arc checks all arcs); an
                unmasked pull checks all arcs; a masked pull without early exit checks the arcs into unvisited vertices;
                with early exit, no more than these

The table has the directions, the largest frontier, and the arcs checked on each engine. Anything wrong ends the run
with a sentence, and nothing is written. Ranks leave out XBFS's plans, which look ahead.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np
import scipy.sparse.csgraph as csgraph

from benchmarks.ranks import run_job
from benchmarks.setting import generate, hw, publish
from hopwave.catalogue import CATALOGUE
from hopwave.plan import Plan, Push
from hopwave.rules import Sizes
from hopwave.trace import Trace

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
    "then two pulls. The reference engine has no early exit; ranks put each row's neighbour of highest degree first."
)


def root_of(graph: hw.Graph) -> int:
    """Where searches of a graph begin."""
    return int(np.argmax(graph.degrees))


def right_distances(graph: hw.Graph) -> Any:
    """Hops by SciPy; -1 for what is not reached."""
    found = csgraph.shortest_path(graph.to_scipy(np.float64), unweighted=True, indices=root_of(graph))
    return np.where(np.isfinite(found), found, -1).astype(np.int32)


def wrong_level(graph: hw.Graph, plan: Plan, trace: Trace, distances: Any, device: str) -> str:
    """What some level did that its step does not do, or ""."""
    exits = device != "reference"  # it reads rows to their end
    nf0 = mf0 = 0
    last = -1
    for level in trace:
        sizes = Sizes(graph.n, graph.m, level.vertices, level.edges, level.unvisited_edges, nf0, mf0, last)
        if plan.rule.choose(sizes) != level.choice:
            return f"level {level.depth} took step {level.choice}, the rule chooses {plan.rule.choose(sizes)}"
        step = plan.steps[level.choice]
        unvisited = (distances < 0) | (distances >= level.depth)
        if isinstance(step, Push):  # one thread per arc of the graph is a mapping, which GPUs alone have
            wanted, exactly = graph.m if device == "cuda" and step.mapping == "edge" else level.edges, True
        elif step.rows == "all":
            wanted, exactly = graph.m, not (step.early_exit and exits)
        else:
            wanted, exactly = int(graph.in_degrees[unvisited].sum()), not (step.early_exit and exits)
        if level.checked > wanted or (exactly and level.checked != wanted):
            return f"level {level.depth}, {level.step}, checked {level.checked} arcs and has to check {wanted}"
        nf0, mf0, last = level.vertices, level.edges, level.choice
    return ""


def runs(trace: Trace) -> str:
    """Directions as runs.

    >>> runs(hw.bfs(hw.generate.path(4), 0, plan="merrill", trace=True).trace)
    '4↓'
    """
    arrows = {"push": "↓", "pull": "↑"}
    found = [f"{len(list(some))}{arrows[direction]}" for direction, some in groupby(trace.directions)]
    return " ".join(found) if len(found) <= 9 else f"{' '.join(found[:4])} … {len(found) - 1} changes"


def search(name: str, graph: hw.Graph, plan: Plan, device: str, right: Any) -> Trace:
    """The trace of one search, checked."""
    threads = {"threads": 1} if device == "cpu" else {}
    found = hw.bfs(graph, root_of(graph), plan=plan.name, device=device, trace=True, predecessors=False, **threads)
    assert found.trace is not None
    if not np.array_equal(found.distances, right):
        raise SystemExit(f"{name}, {plan.name}, {device}: the distances are not SciPy's")
    if bad := wrong_level(graph, plan, found.trace, right, device):
        raise SystemExit(f"{name}, {plan.name}, {device}: {bad}")
    return found.trace


def work(settings: dict[str, Any]) -> None:
    """What every rank does: all graphs and plans; rank 0 prints the arcs checked."""
    from hopwave import distributed
    from hopwave.distributed.steps import why_not

    checked: dict[str, dict[str, int]] = {}
    for name in settings["graphs"]:
        graph = GRAPHS[name]()
        parts, right = distributed.spread(graph), right_distances(graph)
        for plan in SEARCHES:
            if why_not(plan):
                continue
            found = distributed.bfs(parts, root_of(graph), plan=plan)
            whole = found.gather()
            if whole is not None and not np.array_equal(whole[0], right):
                raise SystemExit(f"{name}, {plan.name}, ranks: the distances are not SciPy's")
            if bad := wrong_level(graph, plan, found.trace, right, "ranks"):
                raise SystemExit(f"{name}, {plan.name}, ranks: {bad}")
            checked.setdefault(name, {})[plan.name] = sum(level.checked for level in found.trace)
    if distributed.world().rank == 0:
        print(json.dumps(checked))


def main() -> None:
    """Search, check, publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=4, help="0 leaves ranks out")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=list(GRAPHS))
    parser.add_argument("--job", type=json.loads, default=None)
    given = parser.parse_args()
    if given.job is not None:
        work(given.job)
        return
    over_ranks = run_job(given.ranks, "benchmarks.audit", graphs=given.graphs) if given.ranks else {}
    rows = []
    for name in given.graphs:
        graph = GRAPHS[name]()
        right = right_distances(graph)
        for plan in SEARCHES:
            traces = {
                device: search(name, graph, plan, device, right)
                for device in ("reference", "cpu", *["cuda"] * given.cuda)
            }
            cpu = traces["cpu"]
            row = {"graph": name, "plan": plan.name, "levels": runs(cpu)}
            row["largest frontier"] = max(level.vertices for level in cpu)
            row["found ahead"] = sum(level.ahead for level in cpu)
            row |= {f"arcs, {device}": sum(level.checked for level in trace) for device, trace in traces.items()}
            rows.append(row | {f"arcs, {given.ranks} ranks": over_ranks.get(name, {}).get(plan.name)})
    publish("audit", "Every search plan, counted", rows, NOTE)


if __name__ == "__main__":
    main()
