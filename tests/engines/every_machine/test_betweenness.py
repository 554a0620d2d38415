"""Every engine × every betweenness plan × every trap: scores equal the oracle's exact fractions to 1e-9.

Engines are found by name and plans in the catalogue; what an engine refuses is skipped, with its reason. NetworkX
defines scales and samples. It is no oracle for edges with targets: its `edge_betweenness_centrality_subset` divides δ
by the number of predecessors, not by their path counts.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopwave as hw
import oracle
from graphs import TRAPS, graphs
from hopwave import EngineError, Graph, engines, generate
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from hopwave.planning.plan import Plan
from together import in_one_test

PLANS = [plan for plan in CATALOGUE.values() if plan.task == "betweenness" and plan.lengths == "hops"]
SMALL = [name for name, make in TRAPS.items() if make().n <= 160 and make().m <= 2000]
LARGE = [name for name in TRAPS if name not in SMALL]


def able(device: str) -> bool:
    """Whether an engine is available. (test_search.py reports which are not.)"""
    try:
        engines.engine(device)
    except EngineError:
        return False
    return True


def on(names: list[str]) -> Any:
    """A test's parameter `device`."""
    return pytest.mark.parametrize(
        "device", [pytest.param(name, marks=pytest.mark.gpu) if name == "cuda" else name for name in names]
    )


HERE = [name for name in engines.NAMES if able(name)]
machines = on(HERE)
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


def some(graph: Graph) -> tuple[list[int], list[int]]:
    """A few sources and targets, some of them both."""
    return sorted({0, graph.n // 3, graph.n - 1}), sorted({0, graph.n // 2, graph.n - 1, (2 * graph.n) // 3})


def questions(graph: Graph) -> list[dict[str, Any]]:
    sources, targets = some(graph)
    return [
        {"normalized": False},
        {"endpoints": True},
        {"cutoff": 2},
        {"cutoff": 0, "endpoints": True, "normalized": False},
        {"sources": sources},
        {"sources": sources, "targets": targets, "cutoff": 3},
        {"targets": targets, "endpoints": True, "normalized": False},
    ]


@cache
def expected(trap: str, number: int, edges: bool) -> list[float]:
    graph = TRAPS[trap]()
    asked = questions(graph)[number]
    if edges:
        asked.pop("endpoints", None)
        return [float(score) for score in oracle.edge_betweenness(graph, **asked).values()]
    return [float(score) for score in oracle.betweenness(graph, **asked)]


def edge_scores(result: hw.EdgeBetweennessResult) -> list[float]:
    """Scores in the order of graph.to_edges(); also checks the shape of the result."""
    source, target = result.edges
    assert result.scores.dtype == np.float64 and len(result.scores) == len(source) == result.graph.m
    assert np.array_equal(target, result.graph.indices)
    if not result.graph.directed:  # both arcs of an edge carry its score
        score = dict(zip(zip(source.tolist(), target.tolist(), strict=True), result.scores.tolist(), strict=True))
        assert all(score[v, u] == value for (u, v), value in score.items())
    return list(result.to_dict().values())


# ---------------------------------------------------------------- every plan, every trap


@machines
@every_plan
@in_one_test("trap", SMALL)
def test_vertices(device: str, plan: Plan, trap: str) -> None:
    ready(device, plan)
    graph = TRAPS[trap]()
    for number, asked in enumerate(questions(graph)):
        result = hw.betweenness_centrality(graph, **asked, plan=plan, device=device)
        assert result.scores.dtype == np.float64 and result.scores.shape == (graph.n,)
        assert (result.plan.name, result.plan.why, result.engine) == (plan.name, "asked for", device)
        assert result.sources == len(asked.get("sources", range(graph.n)))
        assert 0 <= result.certificate.error <= 1e-12 and result.bounds is None
        same(result.scores, expected(trap, number, edges=False))


@machines
@every_plan
@in_one_test("trap", SMALL)
def test_edges(device: str, plan: Plan, trap: str) -> None:
    ready(device, plan, edges=True)
    graph = TRAPS[trap]()
    for number, asked in enumerate(questions(graph)):
        asked.pop("endpoints", None)
        result = hw.edge_betweenness_centrality(graph, **asked, plan=plan, device=device)
        assert 0 <= result.certificate.error <= 1e-12
        same(edge_scores(result), expected(trap, number, edges=True))


@every_plan
def test_the_reference_runs_all_plans_alike(plan: Plan) -> None:
    graph = TRAPS["kronecker-directed"]()
    asked = {"sources": some(graph)[0], "device": "reference"}
    for score in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        found = score(graph, **asked, plan=plan)
        assert (found.plan.name, found.engine) == (plan.name, "reference") and "regime" in found.plan.without
        assert np.array_equal(found.scores, score(graph, **asked).scores)


@cache
def few(trap: str) -> tuple[list[float], list[float]]:
    graph = TRAPS[trap]()
    sources = some(graph)[0]
    return (
        [float(score) for score in oracle.betweenness(graph, sources, exact=False)],
        [float(score) for score in oracle.edge_betweenness(graph, sources, exact=False).values()],
    )


@machines
@every_plan
@pytest.mark.parametrize("trap", LARGE)
def test_large_traps_from_a_few_sources(device: str, plan: Plan, trap: str) -> None:
    ready(device, plan)
    graph = TRAPS[trap]()
    vertices, edges = few(trap)
    same(hw.betweenness_centrality(graph, sources=some(graph)[0], plan=plan, device=device).scores, vertices)
    if engines.engine(device).why_not(plan, BetweennessJob(np.zeros(1, np.int64), edges=True)) is None:
        asked = {"sources": some(graph)[0], "plan": plan, "device": device}
        same(edge_scores(hw.edge_betweenness_centrality(graph, **asked)), edges)


@cache
def wide_graph(name: str) -> tuple[Graph, list[int], Any]:
    """Graphs larger than a cache: numbered at random or along their shape, with or without hubs that are pulled."""
    make = {
        "kronecker": lambda: generate.kronecker(16, edge_factor=8, seed=2),
        "rmat": lambda: generate.rmat(16, edge_factor=8, seed=2),
        "delaunay": lambda: generate.delaunay(40_000, seed=2),
        "grid": lambda: generate.grid(190, 180, missing=0.05, seed=2),
    }
    graph = make[name]()
    sources = np.argsort(-graph.degrees, kind="stable")[[0, graph.n // 3]].tolist()
    return graph, sources, oracle.scaled_betweenness(graph, sources, normalized=False)


@pytest.mark.slow
@compiled_machines
@every_plan
@pytest.mark.parametrize("name", ["kronecker", "rmat", "delaunay", "grid"])
def test_graphs_beyond_a_cache(device: str, plan: Plan, name: str) -> None:
    ready(device, plan)
    graph, sources, scores = wide_graph(name)
    found = hw.betweenness_centrality(graph, sources=sources, normalized=False, plan=plan, device=device)
    same(found.scores, scores)


@machines
def test_int64_offsets(device: str) -> None:
    """A graph of over 2³¹ arcs has int64 offsets; a small one may have them too."""
    for trap in ("kronecker", "kronecker-directed"):
        narrow = TRAPS[trap]()
        wide = Graph(narrow.indptr.astype(np.int64), narrow.indices.copy(), directed=narrow.directed)
        sources = some(wide)[0]
        for plan in PLANS[: 1 if device == "reference" else None]:
            if engines.engine(device).why_not(plan, BetweennessJob(np.zeros(1, np.int64))) is None:
                found = hw.betweenness_centrality(wide, sources=sources, plan=plan, device=device).scores
                same(found, few(trap)[0])
        same(edge_scores(hw.edge_betweenness_centrality(wide, sources=sources, device=device)), few(trap)[1])


@machines
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@given(data=st.data())
def test_random_graphs(device: str, directed: bool, data: st.DataObject) -> None:
    graph = data.draw(graphs(max_n=16, directed=directed))
    chosen = st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=4, unique=True)
    asked = {
        "sources": data.draw(st.none() | chosen),
        "targets": data.draw(st.none() | chosen),
        "cutoff": data.draw(st.none() | st.integers(0, 6)),
        "normalized": data.draw(st.booleans()),
    }
    endpoints = data.draw(st.booleans())
    plan = data.draw(st.sampled_from(PLANS))
    if engines.engine(device).why_not(plan, BetweennessJob(np.zeros(1, np.int64))):
        plan = CATALOGUE["hopwave-block"]
    found = hw.betweenness_centrality(graph, **asked, endpoints=endpoints, plan=plan, device=device)
    same(found.scores, oracle.betweenness(graph, **asked, endpoints=endpoints))
    same(
        edge_scores(hw.edge_betweenness_centrality(graph, **asked, device=device)),
        list(oracle.edge_betweenness(graph, **asked).values()),
    )


@machines
def test_kept_repeats_are_different_paths(device: str) -> None:
    """0 ⇉ 1 → 3 and 0 → 2 → 3: two of three paths lead through 1."""
    ends = [0, 0, 1, 0, 2], [1, 1, 3, 2, 3]
    kept = Graph.from_edges(*ends, directed=True, repeats="keep")
    merged = Graph.from_edges(*ends, directed=True)
    scores = [hw.betweenness_centrality(g, normalized=False, device=device).scores for g in (kept, merged)]
    same(scores, [[0, 2 / 3, 1 / 3, 0], [0, 1 / 2, 1 / 2, 0]])


# ---------------------------------------------------------------- as NetworkX counts and scales


NETWORKX = {
    "karate": nx.karate_club_graph(),
    "miserables": nx.les_miserables_graph(),
    "directed": nx.gnp_random_graph(40, 0.08, seed=5, directed=True),
    "pieces": nx.disjoint_union(nx.path_graph(7), nx.cycle_graph(6)),
    "star": nx.star_graph(4),
    "edge": nx.path_graph(2),
    "vertex": nx.path_graph(1),
    "path3": nx.path_graph(3),
}
every_graph = pytest.mark.parametrize("name", NETWORKX)
both_scales = pytest.mark.parametrize("normalized", [True, False], ids=["normalized", "raw"])


def as_networkx(found: dict[Any, float], right: dict[Any, float], directed: bool = True) -> None:
    assert len(found) == len(right)
    for key, score in right.items():
        mine = found[key] if directed or key in found else found[key[::-1]]
        assert math.isclose(mine, score, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(mine) and math.isnan(score)), key


@machines
@every_graph
@both_scales
@pytest.mark.parametrize("endpoints", [False, True], ids=["interior", "endpoints"])
@pytest.mark.parametrize("k", [None, 1, 3, "all"])
def test_as_networkx(device: str, name: str, normalized: bool, endpoints: bool, k: Any) -> None:
    graph = NETWORKX[name]
    k = len(graph) if k == "all" else None if k is None else min(k, len(graph))
    asked = {"k": k, "normalized": normalized, "endpoints": endpoints, "seed": 11}
    found = hw.betweenness_centrality(graph, **asked, device=device)
    as_networkx(found.to_dict(), nx.betweenness_centrality(graph, **asked))
    assert found.sources == (len(graph) if k is None else k)


@machines
@every_graph
@both_scales
@pytest.mark.parametrize("k", [None, 1, 3, "all"])
def test_edges_as_networkx(device: str, name: str, normalized: bool, k: Any) -> None:
    graph = NETWORKX[name]
    k = len(graph) if k == "all" else None if k is None else min(k, len(graph))
    asked = {"k": k, "normalized": normalized, "seed": 11}
    found = hw.edge_betweenness_centrality(graph, **asked, device=device).to_dict()
    as_networkx(found, nx.edge_betweenness_centrality(graph, **asked), graph.is_directed())


@machines
@every_graph
@both_scales
def test_subsets_as_networkx(device: str, name: str, normalized: bool) -> None:
    graph = NETWORKX[name]
    nodes = list(graph)
    sources, targets = nodes[::3], nodes[::2]
    right = nx.betweenness_centrality_subset(graph, sources, targets, normalized=normalized)
    asked = {"sources": sources, "targets": targets, "normalized": normalized}
    as_networkx(hw.betweenness_centrality(graph, **asked, device=device).to_dict(), right)


@machines
@both_scales
def test_edges_of_subsets_as_networkx_where_it_is_right(device: str, normalized: bool) -> None:
    """On a tree every vertex has one predecessor, so NetworkX's 1/len(P[w]) is right."""
    tree = nx.balanced_tree(2, 4)
    nodes = list(tree)
    right = nx.edge_betweenness_centrality_subset(tree, nodes[::3], nodes[::2], normalized=normalized)
    asked = {"sources": nodes[::3], "targets": nodes[::2], "normalized": normalized}
    as_networkx(hw.edge_betweenness_centrality(tree, **asked, device=device).to_dict(), right, directed=False)


@machines
def test_edges_of_subsets_where_networkx_is_wrong(device: str) -> None:
    """Three paths lead from 0 to 6, two through 4 and one through 5; NetworkX gives 4 and 5 half each, because 7, where
    the paths meet, is no target.
    """
    graph = nx.DiGraph([(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 5), (4, 7), (5, 7), (7, 6)])
    found = hw.edge_betweenness_centrality(graph, sources=[0], targets=[6], normalized=False, device=device).to_dict()
    same([found[4, 7], found[5, 7], found[7, 6]], [2 / 3, 1 / 3, 1])
    theirs = nx.edge_betweenness_centrality_subset(graph, [0], [6])
    assert (theirs[4, 7], theirs[5, 7]) == (0.5, 0.5)


@machines
def test_golden_values_of_networkx(device: str) -> None:
    star, path = nx.star_graph(4), nx.path_graph(4, create_using=nx.DiGraph)
    one = hw.betweenness_centrality(star, k=1, seed=1, device=device).scores
    assert one[0] == 1.0 and math.isnan(one[1])
    assert hw.betweenness_centrality(star, k=3, seed=1, device=device).scores[0] == 1.0
    raw = hw.betweenness_centrality(path, k=2, seed=1, normalized=False, device=device).scores
    assert raw[2] == 3.0
    for normalized, score in ((True, 0.75), (False, 2.25)):
        edges = hw.edge_betweenness_centrality(
            nx.path_graph(3), k=2, seed=42, normalized=normalized, device=device
        ).scores
        assert edges.max() == score


@machines
def test_all_sources_named_give_what_none_named_gives(device: str) -> None:
    graph = TRAPS["small-world"]()
    for asked in ({}, {"endpoints": True}, {"normalized": False}):
        named = hw.betweenness_centrality(graph, sources=range(graph.n), **asked, device=device)
        plain = hw.betweenness_centrality(graph, **asked, device=device)
        same(named.scores, plain.scores)


@machines
def test_names_lead_in_and_out(device: str) -> None:
    graph = Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "dan"])
    found = hw.betweenness_centrality(graph, sources=["ann"], targets="dan", normalized=False, device=device)
    assert found.to_dict() == {"ann": 0.0, "bob": 0.5, "cyd": 0.5, "dan": 0.0}
    assert found.top(1) == [("bob", 0.5)]
    edges = hw.edge_betweenness_centrality(graph, sources="ann", targets=["cyd"], normalized=False, device=device)
    assert edges.to_dict() == {("ann", "bob"): 0.5, ("bob", "cyd"): 0.5, ("cyd", "dan"): 0.0}


@machines
@pytest.mark.parametrize("directed", [False, True])
def test_edges_of_an_arranged_graph_are_those_of_the_graph(device: str, directed: bool) -> None:
    """Arcs are in another order; both directions of an edge must still be added up."""
    graph = generate.kronecker(6, 4, seed=1, directed=directed)
    plain, arranged = (hw.edge_betweenness_centrality(G, device=device).to_dict() for G in (graph, graph.arranged()))
    assert arranged == pytest.approx(plain)


@machines
@pytest.mark.parametrize("n", [0, 1, 2])
def test_graphs_of_up_to_two_vertices(device: str, n: int) -> None:
    graph = Graph.from_edges([], [], n=n)
    assert hw.betweenness_centrality(graph, device=device).scores.tolist() == [0.0] * n
    assert hw.betweenness_centrality(graph, epsilon=0.1, device=device).scores.tolist() == [0.0] * n
    assert hw.edge_betweenness_centrality(graph, device=device).scores.tolist() == []


@machines
def test_deterministic_runs_agree_to_the_last_bit(device: str) -> None:
    graph = generate.kronecker(6 if device == "reference" else 9, 8, seed=2)
    vertices = [hw.betweenness_centrality(graph, device=device, deterministic=True).scores for _ in range(2)]
    edges = [hw.edge_betweenness_centrality(graph, device=device, deterministic=True).scores for _ in range(2)]
    assert np.array_equal(*vertices) and np.array_equal(*edges)
