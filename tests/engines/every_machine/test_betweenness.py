"""Betweenness on every engine by every plan, beside what tests/questions asks of them on all traps.

NetworkX is no oracle for edges with targets: its `edge_betweenness_centrality_subset` divides δ by the number of
predecessors, not by their path counts.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest
from test_search import HERE, machines, on

import hopwave as hw
import oracle
from graphs import TRAPS
from hopwave import Graph, engines, generate
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from hopwave.planning.plan import Plan
from questions.values import PLANS
from together import in_one_test

compiled_machines = on([name for name in HERE if name != "reference"])  # whose path counts are no Python integers
every_plan = pytest.mark.parametrize("plan", PLANS, ids=str)


def ready(device: str, plan: Plan, **asked: Any) -> None:
    """Skip what the engine refuses, with its reason; the reference engine runs only one plan."""
    reason = engines.engine(device).why_not(plan, BetweennessJob(np.zeros(1, np.int64), **asked))
    if device == "reference" and plan is not CATALOGUE["hopwave-block"]:
        reason = "it runs all plans alike, as test_the_reference_runs_all_plans_alike says"
    if reason:
        pytest.skip(f"{device}: {reason}")


def same(found: Any, expected: Any) -> None:
    """Equal to 1e-9 of each value; a value too small for float64 may be 0."""
    np.testing.assert_allclose(np.asarray(found, float), np.array(expected, float), rtol=1e-9, atol=1e-290)


def edge_scores(result: hw.EdgeBetweennessResult) -> list[float]:
    """Scores in the order of graph.to_edges()."""
    return list(result.to_dict().values())


@in_one_test("plan", PLANS)
def test_the_reference_runs_all_plans_alike(plan: Plan) -> None:
    graph = TRAPS["kronecker-directed"]()
    asked = {"sources": [0, graph.n // 3], "device": "reference"}
    for score in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        found = score(graph, **asked, plan=plan)
        assert (found.plan.name, found.engine) == (plan.name, "reference") and "regime" in found.plan.without
        assert np.array_equal(found.scores, score(graph, **asked).scores)


WIDE: dict[str, Any] = {
    "kronecker": lambda: generate.kronecker(16, edge_factor=8, seed=2),
    "rmat": lambda: generate.rmat(16, edge_factor=8, seed=2),
    "delaunay": lambda: generate.delaunay(40_000, seed=2),
    "grid": lambda: generate.grid(190, 180, missing=0.05, seed=2),
}


@cache
def wide_graph(name: str) -> tuple[Graph, list[int], Any]:
    """Graphs larger than a cache: numbered at random or along their shape, with or without hubs that are pulled."""
    graph = WIDE[name]()
    sources = np.argsort(-graph.degrees, kind="stable")[[0, graph.n // 3]].tolist()
    return graph, sources, oracle.scaled_betweenness(graph, sources, normalized=False)


@pytest.mark.slow
@compiled_machines
@every_plan
@in_one_test("name", WIDE)
def test_graphs_beyond_a_cache(device: str, plan: Plan, name: str) -> None:
    ready(device, plan)
    graph, sources, scores = wide_graph(name)
    found = hw.betweenness_centrality(graph, sources=sources, normalized=False, plan=plan, device=device)
    same(found.scores, scores)


@machines
@in_one_test("normalized", [True, False])
def test_edges_of_subsets_as_networkx_where_it_is_right(device: str, normalized: bool) -> None:
    """On a tree every vertex has one predecessor, so NetworkX's 1/len(P[w]) is right."""
    tree = nx.balanced_tree(2, 4)
    given = range(0, 31, 3), range(0, 31, 2)
    right = nx.edge_betweenness_centrality_subset(tree, *given, normalized=normalized)
    asked = {"sources": given[0], "targets": given[1], "normalized": normalized}
    found = hw.edge_betweenness_centrality(tree, **asked, device=device).to_dict()
    assert {tuple(sorted(edge)): score for edge, score in found.items()} == pytest.approx(right)


@machines
def test_edges_of_subsets_where_networkx_is_wrong(device: str) -> None:
    """Of three paths from 0 to 6, two lead through 4 and one through 5; NetworkX gives 4 and 5 half each."""
    graph = nx.DiGraph([(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 5), (4, 7), (5, 7), (7, 6)])
    found = hw.edge_betweenness_centrality(graph, sources=[0], targets=[6], normalized=False, device=device).to_dict()
    same([found[4, 7], found[5, 7], found[7, 6]], [2 / 3, 1 / 3, 1])


@machines
@in_one_test("directed", [False, True])
def test_edges_of_an_arranged_graph_are_those_of_the_graph(device: str, directed: bool) -> None:
    """Arcs are in another order; both directions of an edge must still be added up."""
    graph = generate.kronecker(6, 4, seed=1, directed=directed)
    plain, arranged = (hw.edge_betweenness_centrality(G, device=device).to_dict() for G in (graph, graph.arranged()))
    assert arranged == pytest.approx(plain)


@machines
def test_deterministic_runs_agree_to_the_last_bit(device: str) -> None:
    graph = generate.kronecker(6 if device == "reference" else 9, 8, seed=2)
    for score in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        assert np.array_equal(*(score(graph, device=device, deterministic=True).scores for _ in range(2)))
