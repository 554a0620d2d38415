"""Every plan on a few small traps, for compute-sanitizer to watch (or those named on the command line):

for tool in memcheck racecheck synccheck; do
    PYTHONPATH=src compute-sanitizer --tool $tool --error-exitcode 1 python benchmarks/sanitize.py
done
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import hopwave as hw
from hopwave import engines, generate
from hopwave.algorithms.brandes import Job
from hopwave.catalogue import CATALOGUE
from hopwave.plan import Plan
from hopwave.semiring import Question


def traps() -> dict[str, hw.Graph]:
    hub = np.arange(1, 1200)
    return {
        "one vertex": generate.path(1),
        "path of 33": generate.path(33),
        "star of 65": generate.star(65),
        "hub": hw.Graph.from_edges(np.zeros_like(hub), hub),
        "isolated": hw.Graph.from_edges([1, 2], [2, 3], n=40),
        "loops": hw.Graph.from_edges([0, 1, 1, 2], [0, 1, 2, 3], directed=True),
        "kronecker": generate.kronecker(9, edge_factor=8),
        "kronecker directed": generate.kronecker(9, edge_factor=8, directed=True),
        "mycielskian": generate.mycielskian(7),
        "grid": generate.grid(12, 11),
        "diamonds": generate.diamonds(40),
    }


def between(graph: hw.Graph, plan: Plan) -> bool:
    """Whether betweenness by that plan is what the CPU engine says."""
    asked: dict[str, Any] = {"sources": range(min(graph.n, 5)), "endpoints": True}
    found = hw.betweenness_centrality(graph, **asked, plan=plan, device="cuda").scores
    right = np.allclose(found, hw.betweenness_centrality(graph, **asked, device="cpu").scores, rtol=1e-12, atol=0)
    if engines.engine("cuda").refuses(plan, Job(np.zeros(1, np.int64), edges=True)):
        return right
    asked = {"sources": range(min(graph.n, 5)), "targets": range(0, graph.n, 2)}
    arcs = hw.edge_betweenness_centrality(graph, **asked, plan=plan, device="cuda").scores
    expected = hw.edge_betweenness_centrality(graph, **asked, device="cpu").scores
    return right and np.allclose(arcs, expected, rtol=1e-12, atol=0)


def main() -> int:
    wrong = runs = 0
    for name, graph in traps().items():
        for plan in CATALOGUE.values():
            if sys.argv[1:] and plan.name not in sys.argv[1:]:
                continue
            if plan.task == "betweenness":
                if engines.engine("cuda").refuses(plan, Job(np.zeros(1, np.int64))):
                    continue
                runs += 1
                if not between(graph, plan):
                    wrong += 1
                    print(f"{plan.name} is wrong on {name}")
                continue
            counting = plan.refuses(Question(path_counts=True)) is None
            result = hw.bfs(graph, 0, plan=plan, path_counts=counting, device="cuda")
            expected = hw.bfs(graph, 0, path_counts=counting, device="reference")
            right = np.array_equal(result.distances, expected.distances)
            if counting:
                right &= result.path_counts is not None and np.allclose(
                    result.path_counts, expected.path_counts, rtol=1e-12
                )
            runs += 1
            if not right:
                wrong += 1
                print(f"{plan.name} is wrong on {name}")
    print(f"{runs} runs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
