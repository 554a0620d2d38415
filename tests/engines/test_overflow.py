"""Path counts grow like binomials; scores and counts stay right when no integer, no float32 and no float64 holds them.

An 18 × 18 grid passes 2³¹, a 170 × 170 grid float32, a chain of 1100 diamonds and a 1000 × 1000 grid float64. Where one
level spans more than float64 does, one scale a level is not enough, and the run must notice by itself.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from test_betweenness import PLANS, edge_scores, machines, ready, same

import hopwave as hw
import oracle
from hopwave import Graph, engines, generate
from hopwave.algorithms import brandes
from hopwave.arrays import ScaledCounts
from hopwave.catalogue import CATALOGUE
from hopwave.jobs import Job
from hopwave.plan import Plan

every_plan = pytest.mark.parametrize("plan", PLANS, ids=str)
CHAIN = 2200  # float64 spans 2^2098, from its least to its greatest


# ---------------------------------------------------------------- one scale a level


@cache
def right(name: str) -> tuple[Graph, list[int], Any, list[float]]:
    """A graph, sources, and the scores of vertices and edges by the oracle's integers of any length."""
    graph, sources = {
        "grid-30": lambda: (generate.grid(30, 30), [0, 29, 434, 899]),
        "grid-170": lambda: (generate.grid(170, 170), [0, 170 * 85 + 80]),
        "diamonds-1100": lambda: (generate.diamonds(1100), [0, 1, 1650, 3300]),
    }[name]()
    asked = {"normalized": False, "exact": False}
    return (
        graph,
        sources,
        oracle.betweenness(graph, sources, **asked),
        list(oracle.edge_betweenness(graph, sources, **asked).values()),
    )


@machines
@every_plan
@pytest.mark.parametrize("name", ["grid-30", "grid-170", "diamonds-1100"])
def test_vertices(device: str, plan: Plan, name: str) -> None:
    ready(device, plan)
    graph, sources, vertices, _ = right(name)
    found = hw.betweenness_centrality(graph, sources=sources, normalized=False, plan=plan, device=device)
    same(found.scores, vertices)
    assert found.certificate.error < 1e-11


@machines
@pytest.mark.parametrize("name", ["grid-30", "grid-170", "diamonds-1100"])
def test_edges(device: str, name: str) -> None:
    graph, sources, _, edges = right(name)
    found = hw.edge_betweenness_centrality(graph, sources=sources, normalized=False, device=device)
    same(edge_scores(found), edges)
    assert found.certificate.error < 1e-11


@machines
def test_all_sources_of_a_grid(device: str) -> None:
    graph = generate.grid(18, 18)
    same(hw.betweenness_centrality(graph, device=device).scores, oracle.betweenness(graph, exact=False))


@cache
def huge(name: str) -> tuple[Graph, list[int], Any, Any, Any]:
    kind, size = name.split("-")
    graph = generate.grid(int(size), int(size)) if kind == "grid" else generate.delaunay(1 << int(size), seed=1)
    sources = [0, graph.n // 2 + 321]
    each = [oracle.Scaled(graph, s) for s in sources]
    scores, flow = np.zeros(graph.n), np.zeros(graph.m)
    for s, one in zip(sources, each, strict=True):
        one.delta[s] = 0
        scores += one.delta
        flow += one.flow
    return graph, sources, scores / 2, flow, each[0]


@pytest.mark.slow
@machines
@pytest.mark.parametrize("name", ["grid-1000", "delaunay-18"])
@pytest.mark.parametrize("plan", ["hopwave-block", "hopwave-wide"])
def test_huge_graphs(device: str, plan: str, name: str) -> None:
    ready(device, CATALOGUE[plan])
    graph, sources, scores, _, _ = huge(name)
    found = hw.betweenness_centrality(graph, sources=sources, normalized=False, plan=plan, device=device)
    same(found.scores, scores)
    assert found.certificate.error < 1e-10


@pytest.mark.slow
@machines
@pytest.mark.parametrize("name", ["grid-1000", "delaunay-18"])
def test_edges_of_huge_graphs(device: str, name: str) -> None:
    graph, sources, _, flow, _ = huge(name)
    found = hw.edge_betweenness_centrality(graph, sources=sources, normalized=False, device=device)
    source, target = found.edges
    back = np.lexsort((source, target))
    same(found.scores, (flow + flow[back]) / 2)


@pytest.mark.slow
@machines
@pytest.mark.parametrize("name", ["grid-1000", "delaunay-18"])
def test_path_counts_of_huge_graphs(device: str, name: str) -> None:
    graph, sources, _, _, one = huge(name)
    counts = hw.bfs(graph, sources[0], path_counts=True, device=device).path_counts
    if isinstance(counts, ScaledCounts):
        mantissa, exponent = counts.mantissa, counts.exponent
    else:
        mantissa, exponent = np.frexp(counts)
    assert isinstance(counts, ScaledCounts) == (one.exponent.max() > 1024)
    shift = (exponent - one.exponent).astype(np.int32)  # ±1 where a mantissa is a rounding away from 1
    assert np.abs(shift).max() <= 1
    same(np.ldexp(mantissa, shift), one.mantissa)


# ---------------------------------------------------------------- a level that spans more than float64


def ladder(links: int = CHAIN) -> tuple[Graph, int]:
    """A chain of diamonds beside a plain path of the same length, joined at both ends, and a tail behind each.

    Where they meet, 2^links paths and one path come together; and the path's own vertices stand in one level with
    vertices of the chain that have up to 2^links times as many.
    """
    chain = generate.diamonds(links)
    source, target = (column.tolist() for column in chain.to_edges())
    path = [0, *range(chain.n, chain.n + 2 * links - 1), chain.n - 1]
    meeting, last = chain.n - 1, path[-2] + 1
    source += [*path[:-1], meeting, last, path[-2]]
    target += [*path[1:], last, last + 1, last + 2]
    return Graph.from_edges(source, target), meeting


@cache
def spanning() -> tuple[Graph, int]:
    return ladder()


def run(device: str, plan: str, graph: Graph, **asked: Any) -> Any:
    """A run to its end; the engine's own record of it."""
    engine = engines.engine(device)
    job = Job(**{"sources": np.array([0], np.int64), **asked})
    record = engine.accumulation(graph, job, CATALOGUE[plan])
    brandes.accumulate(record, job, "test", False, None)
    return record


def mask(graph: Graph, targets: list[int]) -> Any:
    chosen = np.zeros(graph.n, np.bool_)
    chosen[targets] = True
    return chosen


@machines
@pytest.mark.parametrize("plan", ["hopwave-block", "hopwave-wide", "turbobc-sccsc"])
def test_the_extended_way_is_taken_where_it_must_be(device: str, plan: str) -> None:
    ready(device, CATALOGUE[plan])
    graph, meeting = spanning()
    sources = np.array([0, meeting, 5], np.int64)
    found = run(device, plan, graph, sources=sources)
    assert found.extended >= 2  # from either end at least
    same(found.total / 2, oracle.betweenness(graph, sources.tolist(), normalized=False, exact=False))
    assert run(device, plan, generate.diamonds(CHAIN)).extended == 0, "one scale a level is enough here"


@pytest.mark.slow
@machines
@pytest.mark.parametrize("plan", ["hopwave-block", "hopwave-wide"])
def test_either_way_is_right_about_where_they_part(device: str, plan: str) -> None:
    ready(device, CATALOGUE[plan])
    ways = set()
    for links in (1000, 1300, 1500, 1700, 1900, 2000):
        graph, meeting = ladder(links)
        found = run(device, plan, graph, sources=np.array([0, meeting], np.int64))
        same(found.total / 2, oracle.betweenness(graph, [0, meeting], normalized=False, exact=False))
        ways.add(found.extended)
    assert ways == {0, 2}


ASKED: dict[str, dict[str, Any]] = {
    "all": {},
    "targets": {"targets": [2 * CHAIN, 3 * CHAIN, 3 * CHAIN + 700, 4]},
    "far": {"cutoff": 2 * CHAIN},
    "near": {"cutoff": 2 * CHAIN - 200},
    "both": {"targets": [3 * CHAIN, 3 * CHAIN - 5, 1900], "cutoff": 2 * CHAIN + 1},
}


@pytest.mark.slow
@machines
@pytest.mark.parametrize("plan", ["hopwave-block", "hopwave-wide"])
@pytest.mark.parametrize("asked", ASKED)
def test_vertices_of_a_level_that_spans(device: str, plan: str, asked: str) -> None:
    ready(device, CATALOGUE[plan])
    graph, meeting = spanning()
    for endpoints in (False, True):
        options = {"sources": [0, meeting], "normalized": False, "endpoints": endpoints, **ASKED[asked]}
        found = hw.betweenness_centrality(graph, plan=plan, device=device, **options)
        same(found.scores, oracle.betweenness(graph, exact=False, **options))


@machines
@pytest.mark.parametrize("asked", ASKED)
def test_edges_of_a_level_that_spans(device: str, asked: str) -> None:
    graph, meeting = spanning()
    options = {"sources": [0, meeting], "normalized": False, **ASKED[asked]}
    found = hw.edge_betweenness_centrality(graph, device=device, **options)
    same(edge_scores(found), list(oracle.edge_betweenness(graph, exact=False, **options).values()))
    targets = ASKED[asked].get("targets")
    job = {"edges": True, "cutoff": ASKED[asked].get("cutoff"), "targets": targets and mask(graph, targets)}
    assert run(device, "hopwave-block", graph, **job).extended == 1


@machines
def test_squares_of_a_level_that_spans(device: str) -> None:
    """What an adaptive sample adds up beside the scores."""
    graph, _ = spanning()
    found = run(device, "hopwave-block", graph, squares=True)
    delta = found.total[: graph.n]
    assert found.extended == 1
    np.testing.assert_allclose(found.total[graph.n :], delta**2, rtol=1e-12, atol=1e-290)


@machines
def test_path_counts_of_a_level_that_spans(device: str) -> None:
    graph, meeting = spanning()
    for source in (0, meeting):
        counts = hw.bfs(graph, source, path_counts=True, device=device).path_counts
        assert isinstance(counts, ScaledCounts)
        exact = oracle.path_counts(graph, source)
        for v in range(0, graph.n, 7):
            value = Fraction(counts.mantissa[v]) * Fraction(2) ** int(counts.exponent[v])
            assert abs(value - exact[v]) <= Fraction(exact[v], 10**12)


@machines
def test_ordinary_sources_beside_extended_ones(device: str) -> None:
    """A worker's state is clean after either way, and the order of sources changes no source's part."""
    graph, meeting = spanning()
    sources = [0, 40, meeting, 41, graph.n - 1]
    parts = [run(device, "hopwave-block", graph, sources=np.array([s], np.int64)).total for s in sources]
    whole = run(device, "hopwave-block", graph, sources=np.array(sources, np.int64)).total
    np.testing.assert_array_equal(whole, sum(parts))
