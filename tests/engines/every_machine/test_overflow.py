"""Path counts grow like binomials; scores and counts stay right even if neither integers nor float64 can hold them.

An 18 × 18 grid exceeds 2³¹, a 170 × 170 grid float32, a chain of 1100 diamonds and a 600 × 600 grid float64. If one
level spans more than float64 does, one scale per level is not enough, and the run must notice that.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from test_betweenness import compiled_machines, edge_scores, every_plan, same
from test_search import machines, ready

import hopwave as hw
import oracle
from hopwave import Graph, engines, generate
from hopwave.algorithms import brandes
from hopwave.arrays import ScaledCounts
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from hopwave.planning.many_sources import PathSums
from hopwave.planning.plan import Plan
from questions.hops import expect_counts
from together import PROFILE, in_one_test

# The reference counts by Python's integers, which takes seconds: in `make test` only in test_vertices_and_edges.
exact_too = machines if PROFILE == "complete" else compiled_machines
block_or_wide = pytest.mark.parametrize("plan", ["hopwave-block", "hopwave-wide"])
CHAIN = 2200  # float64 spans a factor of 2^2098 from its least to its greatest number
GRAPHS: dict[str, Any] = {
    "grid-30": lambda: (generate.grid(30, 30), [0, 29, 434, 899]),
    "grid-170": lambda: (generate.grid(170, 170), [0, 170 * 85 + 80]),
    "diamonds-1100": lambda: (generate.diamonds(1100), [0, 1, 1650, 3300]),
}


@cache
def right(name: str) -> tuple[Graph, dict[str, Any], Any, list[float]]:
    """A graph, what is asked, and the scores of vertices and edges from the oracle's integers of any length."""
    graph, sources = GRAPHS[name]()
    asked = {"sources": sources, "normalized": False}
    edges = oracle.edge_betweenness(graph, **asked, exact=False)
    return graph, asked, oracle.betweenness(graph, **asked, exact=False), list(edges.values())


@pytest.mark.slow
@machines
@every_plan
@in_one_test("name", GRAPHS)
def test_vertices_and_edges(device: str, plan: Plan, name: str) -> None:
    ready(device, plan)
    if device == "reference" and name == "grid-170" and PROFILE != "complete":
        return  # 2^330 paths in Python's integers take seconds
    graph, asked, vertices, edges = right(name)
    found = hw.betweenness_centrality(graph, **asked, plan=plan, device=device)
    same(found.scores, vertices)
    assert found.certificate.error < 1e-11
    if plan.name == "hopwave-block":
        along = hw.edge_betweenness_centrality(graph, **asked, device=device)
        same(edge_scores(along), edges)
        assert along.certificate.error < 1e-11


@cache
def huge(name: str) -> tuple[Graph, list[int], Any, Any, Any]:
    graph = generate.grid(600, 600) if name == "grid" else generate.delaunay(1 << 16, seed=1)
    sources = [0, graph.n // 2 + 321]
    each = [oracle.Scaled(graph, s) for s in sources]
    for s, one in zip(sources, each, strict=True):
        one.delta[s] = 0
    return graph, sources, (each[0].delta + each[1].delta) / 2, each[0].flow + each[1].flow, each[0]


@pytest.mark.slow
@compiled_machines
@pytest.mark.parametrize("name", ["grid", "delaunay"])
@block_or_wide
def test_huge_graphs(device: str, plan: str, name: str) -> None:
    ready(device, CATALOGUE[plan])
    graph, sources, scores, flow, one = huge(name)
    found = hw.betweenness_centrality(graph, sources=sources, normalized=False, plan=plan, device=device)
    same(found.scores, scores)
    assert found.certificate.error < 1e-10
    if plan == "hopwave-block":
        edges = hw.edge_betweenness_centrality(graph, sources=sources, normalized=False, device=device)
        source, target = edges.edges
        same(edges.scores, (flow + flow[np.lexsort((source, target))]) / 2)
        counts = hw.bfs(graph, sources[0], path_counts=True, device=device).path_counts
        is_scaled = isinstance(counts, ScaledCounts)
        mantissa, exponent = (counts.mantissa, counts.exponent) if is_scaled else np.frexp(counts)
        assert is_scaled == (one.exponent.max() > 1024)
        shift = (exponent - one.exponent).astype(np.int32)  # ±1 if a mantissa rounds up to 1
        assert np.abs(shift).max() <= 1
        same(np.ldexp(mantissa, shift), one.mantissa)


# ---------------------------------------------------------------- a level that spans more than float64 does


@cache
def ladder(links: int = CHAIN, directed: bool = False) -> tuple[Graph, int]:
    """A chain of diamonds and a plain path of the same length, joined at both ends, with a tail at each end.

    Where they meet, 2^links paths join one path; and each level holds a vertex of the path and vertices of the chain
    with up to 2^links times as many paths.
    """
    chain = generate.diamonds(links)
    source, target = (column.tolist() for column in chain.to_edges())
    path = [0, *range(chain.n, chain.n + 2 * links - 1), chain.n - 1]
    meeting, last = chain.n - 1, path[-2] + 1
    source += [*path[:-1], meeting, last, path[-2]]
    target += [*path[1:], last, last + 1, last + 2]
    return Graph.from_edges(source, target, directed=directed), meeting


def run(device: str, plan: str, graph: Graph, *sources: int, **options: Any) -> Any:
    """Run to the end and return the engine's own record."""
    job = BetweennessJob(np.array(sources or [0], np.int64), **options)
    record = engines.engine(device).accumulation(graph, job, CATALOGUE[plan])
    brandes.accumulate(record, job, "test", False, None)
    return record


@compiled_machines
@pytest.mark.parametrize("plan", ["hopwave-block", "hopwave-wide", "turbobc-sccsc"])
def test_the_extended_way_is_taken_where_it_must_be(device: str, plan: str) -> None:
    """The order of sources does not change a source's part: a worker's state is clean after either way."""
    ready(device, CATALOGUE[plan])
    graph, meeting = ladder()
    sources = [0, meeting, 5]
    found = run(device, plan, graph, *sources)
    assert found.extended >= 2  # at least the two ends
    same(found.total / 2, oracle.betweenness(graph, sources, normalized=False, exact=False))
    assert run(device, plan, generate.diamonds(CHAIN)).extended == 0, "one scale per level is enough here"
    if plan == "hopwave-block":
        np.testing.assert_array_equal(found.total, sum(run(device, plan, graph, s).total for s in sources))
        both = run(device, plan, graph, squares=True)  # an adaptive sample adds up squares as well
        assert both.extended == 1
        np.testing.assert_allclose(both.total[graph.n :], both.total[: graph.n] ** 2, rtol=1e-12, atol=1e-290)


@pytest.mark.slow
@compiled_machines
@block_or_wide
def test_both_ways_are_right_around_the_limit(device: str, plan: str) -> None:
    ready(device, CATALOGUE[plan])
    ways = set()
    for links in (1000, 1300, 1500, 1700, 1900, 2000):
        graph, meeting = ladder(links)
        found = run(device, plan, graph, 0, meeting)
        same(found.total / 2, around_the_limit(links))
        ways.add(found.extended)
    assert ways == {0, 2}


@cache
def around_the_limit(links: int) -> Any:
    graph, meeting = ladder(links)
    return oracle.betweenness(graph, [0, meeting], normalized=False, exact=False)


OPTIONS: dict[str, dict[str, Any]] = {
    "all": {},
    "targets": {"targets": [2 * CHAIN, 3 * CHAIN, 3 * CHAIN + 700, 4]},
    "far": {"cutoff": 2 * CHAIN},
    "near": {"cutoff": 2 * CHAIN - 200},
    "both": {"targets": [3 * CHAIN, 3 * CHAIN - 5, 1900], "cutoff": 2 * CHAIN + 1},
}


@cache
def with_options(which: str) -> tuple[dict[str, Any], list[Any], list[float]]:
    """What is asked of the ladder, and the scores of vertices, without and with endpoints, and of edges."""
    graph, meeting = ladder()
    options = {"sources": [0, meeting], "normalized": False, **OPTIONS[which]}
    vertices = [oracle.betweenness(graph, exact=False, endpoints=ends, **options) for ends in (False, True)]
    return options, vertices, list(oracle.edge_betweenness(graph, exact=False, **options).values())


@pytest.mark.slow
@exact_too
@block_or_wide
@in_one_test("which", list(OPTIONS)[:: 1 if PROFILE == "complete" else 2])
def test_options_of_a_level_too_wide_for_one_scale(device: str, plan: str, which: str) -> None:
    ready(device, CATALOGUE[plan])
    graph, (options, vertices, along) = ladder()[0], with_options(which)
    for endpoints in (False, True):
        found = hw.betweenness_centrality(graph, plan=plan, device=device, endpoints=endpoints, **options)
        same(found.scores, vertices[endpoints])
    if plan == "hopwave-block":
        edges = hw.edge_betweenness_centrality(graph, device=device, **options)
        same(edge_scores(edges), along)


@pytest.mark.slow
@exact_too
def test_path_counts_of_a_level_too_wide_for_one_scale(device: str) -> None:
    graph, meeting = ladder()
    for source in (0, meeting):
        counts = hw.bfs(graph, source, path_counts=True, device=device).path_counts
        assert isinstance(counts, ScaledCounts)
        expect_counts(counts, oracle.path_counts(graph, source))
    last = hw.bfs(generate.diamonds(1023), 0, path_counts=True, device=device).path_counts
    assert isinstance(last, np.ndarray) and last[3 * 1023] == 2.0**1023, "2^1023 is a float64"


@pytest.mark.slow
def test_paths_through_a_group_where_a_level_is_too_wide() -> None:
    """The share of paths that touch a group, for path counts that one scale per level cannot hold."""
    graph, meeting = ladder()
    found = engines.engine("cpu").path_sums(
        graph, PathSums("group", group=np.arange(graph.n) == meeting), lambda done: None
    )
    assert found[0] == 2.0, "to the two vertices behind the meeting; all others are reached before it"


@compiled_machines
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("links", [1100, CHAIN])
def test_more_paths_along_weights_than_float64_holds(device: str, links: int, directed: bool) -> None:
    bare, meeting = ladder(links, directed)
    graph, sources = bare.with_weights(np.full(bare.m, 0.5)), [0, meeting]
    found = run(device, "brandes-dijkstra", graph, *sources, weighted=True)
    assert found.extended >= 1
    same(found.total / (2 - directed), oracle.betweenness(bare, sources, normalized=False, exact=False))
    edges = hw.edge_betweenness_centrality(graph, sources=sources, weights=True, normalized=False, device=device)
    same(edge_scores(edges), list(oracle.edge_betweenness(bare, sources, normalized=False, exact=False).values()))
