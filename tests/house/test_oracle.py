"""The oracle compared with NetworkX, with itself in other arithmetics, and with the definition."""

import math
import random
from fractions import Fraction
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from graphs import TRAPS, graphs
from hopwave import Graph, generate


def close(ours: object, theirs: object) -> None:
    np.testing.assert_allclose(np.array(ours, dtype=float), np.array(theirs, dtype=float), rtol=1e-11, atol=1e-13)


def by_vertex(scores: dict[int, float]) -> list[float]:
    return [scores[v] for v in range(len(scores))]


def by_edge(graph: Graph, scores: dict[tuple[int, int], float]) -> list[float]:
    return [scores[edge] if edge in scores else scores[edge[::-1]] for edge in oracle.edge_betweenness(graph)]


# ---------------------------------------------------------------- searching


@given(graphs(), st.data())
def test_distances_equal_networkx(graph: Graph, data: st.DataObject) -> None:
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=3))
    limit = data.draw(st.none() | st.integers(0, 4))
    direction = data.draw(st.sampled_from(["out", "in"]))
    g = graph.to_networkx()
    if direction == "in" and graph.directed:
        g = g.reverse()
    expected = [-1] * graph.n
    for s in sources:
        for v, d in nx.single_source_shortest_path_length(g, s, cutoff=limit).items():
            expected[v] = d if expected[v] == -1 else min(d, expected[v])
    assert oracle.distances(graph, sources, limit, direction) == expected


@given(graphs(max_n=9), st.data())
def test_path_counts_are_the_paths_that_networkx_lists(graph: Graph, data: st.DataObject) -> None:
    s = data.draw(st.integers(0, graph.n - 1))
    g = graph.to_networkx()
    expected = [len(list(nx.all_shortest_paths(g, s, t))) if nx.has_path(g, s, t) else 0 for t in range(graph.n)]
    assert oracle.path_counts(graph, s) == expected


def test_path_counts_of_several_sources_add_up_where_they_meet() -> None:
    graph = generate.path(5)
    assert oracle.path_counts(graph, [0, 4]) == [1, 1, 2, 1, 1]
    assert oracle.path_counts(graph, [0, 0]) == [1, 1, 1, 1, 1]
    assert oracle.distances(graph, [0, 4], depth_limit=1) == [0, 1, -1, 1, 0]


def test_path_counts_are_exact_beyond_float64() -> None:
    assert oracle.path_counts(TRAPS["overflow-of-float64-diamonds"](), 0)[-1] == 2**1100
    assert oracle.path_counts(TRAPS["overflow-of-int64-grid"](), 0)[-1] == math.comb(78, 39)


# ---------------------------------------------------------------- betweenness against NetworkX


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("endpoints", [False, True])
@given(graph=graphs(max_n=13), data=st.data())
def test_samples_are_scaled_as_networkx_does(
    graph: Graph, normalized: bool, endpoints: bool, data: st.DataObject
) -> None:
    """Or all sources."""
    g, k = graph.to_networkx(), data.draw(st.none() | st.integers(1, graph.n))
    sample = {} if k is None else {"sources": random.Random(7).sample(list(g), k), "sampled": True}
    expected = nx.betweenness_centrality(g, k=k, normalized=normalized, endpoints=endpoints, seed=7)
    close(oracle.betweenness(graph, **sample, normalized=normalized, endpoints=endpoints), by_vertex(expected))
    expected = nx.edge_betweenness_centrality(g, k=k, normalized=normalized, seed=7)
    ours = oracle.edge_betweenness(graph, **sample, normalized=normalized)
    assert len(ours) == len(expected)
    close(list(ours.values()), by_edge(graph, expected))


# ---------------------------------------------------------------- betweenness by its definition


@given(graph=graphs(max_n=7), data=st.data())
def test_betweenness_equals_its_definition(graph: Graph, data: st.DataObject) -> None:
    """Lists and counts every shortest path: vertices and edges, subsets, cutoff and endpoints."""
    some = st.lists(st.integers(0, graph.n - 1), unique=True)
    sources, targets = data.draw(some), data.draw(some)
    cutoff = data.draw(st.none() | st.integers(0, 4))
    endpoints = data.draw(st.booleans())
    g = graph.to_networkx()
    vertices = [Fraction(0)] * graph.n
    edges = dict.fromkeys(oracle.edge_betweenness(graph), Fraction(0))
    for s in sources:
        for t in targets:
            if s == t or not nx.has_path(g, s, t):
                continue
            paths = list(nx.all_shortest_paths(g, s, t))
            if cutoff is not None and len(paths[0]) - 1 > cutoff:
                continue
            for path in paths:
                for v in path if endpoints else path[1:-1]:
                    vertices[v] += Fraction(1, len(paths))
                for u, v in pairwise(path):
                    edges[(u, v) if graph.directed or u < v else (v, u)] += Fraction(1, len(paths))
    half = 1 if graph.directed else 2
    ours = oracle.betweenness(graph, sources, targets, cutoff=cutoff, endpoints=endpoints, normalized=False)
    if graph.n > 2 or (endpoints and graph.n > 1):
        assert ours == [score / half for score in vertices]
    if graph.n > 1:
        ours_edges = oracle.edge_betweenness(graph, sources, targets, cutoff=cutoff, normalized=False)
        assert ours_edges == {edge: score / half for edge, score in edges.items()}


# ---------------------------------------------------------------- the other arithmetics


@given(graph=graphs(), data=st.data())
def test_the_three_arithmetics_agree(graph: Graph, data: st.DataObject) -> None:
    some = st.lists(st.integers(0, graph.n - 1), unique=True)
    sources, targets = data.draw(some), data.draw(st.none() | some)
    how = {"cutoff": data.draw(st.none() | st.integers(0, 4)), "endpoints": data.draw(st.booleans())}
    exact = oracle.betweenness(graph, sources, targets, **how)
    close(oracle.betweenness(graph, sources, targets, exact=False, **how), exact)
    close(oracle.scaled_betweenness(graph, sources), oracle.betweenness(graph, sources, normalized=False))


@pytest.mark.parametrize("name", ["overflow-of-float64-diamonds", "diamonds-directed", "overflow-of-int64-grid"])
def test_scaled_is_correct_where_float64_overflows(name: str) -> None:
    graph = TRAPS[name]()
    neighbours = oracle.adjacency(graph)
    for s in (0, graph.n // 3):
        scaled = oracle.Scaled(graph, s)
        delta, flow, _ = oracle.dependencies(neighbours, s, exact=False)
        close(scaled.delta, delta)
        tails = np.repeat(np.arange(graph.n), graph.degrees)
        arcs = zip(tails.tolist(), graph.indices.tolist(), strict=True)
        close(scaled.flow, [flow.get(arc, 0.0) for arc in arcs])
        assert scaled.distances.tolist() == oracle.distances(graph, s)
        sigma = oracle.path_counts(graph, s)
        for v in range(0, graph.n, 97):
            ours = Fraction(scaled.mantissa[v]) * Fraction(2) ** int(scaled.exponent[v])
            assert abs(ours - sigma[v]) * 10**12 <= sigma[v]


def test_scaled_satisfies_the_identity_of_every_exact_run() -> None:
    # Σ δ(v) over v ≠ s equals Σ (d(s, t) - 1) over the reached t ≠ s.
    graph = generate.grid(600, 600)  # its corner counts exceed float64
    scaled = oracle.Scaled(graph, 0)
    assert scaled.exponent.max() > 1024
    assert scaled.delta[1:].sum() == pytest.approx((scaled.distances[1:] - 1).sum(), rel=1e-12)
