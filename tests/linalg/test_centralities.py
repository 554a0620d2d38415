"""Eigenvector and Katz centrality against NetworkX; hubs and authorities against NumPy's singular vectors."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopwave as hw
from hopwave import ConvergenceError, GraphError
from hopwave import linalg as la
from operands import devices

EXACT = {"tol": 1e-11, "max_iter": 3000}


@st.composite
def networks(draw: Any) -> nx.Graph:
    """A small graph with loops and some weighted edges, including arcs of weight 0."""
    kind = draw(st.sampled_from([nx.Graph, nx.DiGraph]))
    G = kind()
    n = draw(st.integers(1, 9))
    G.add_nodes_from(range(n))
    vertex = st.integers(0, n - 1)
    G.add_edges_from(draw(st.lists(st.tuples(vertex, vertex), max_size=20)))
    for u, v in list(G.edges)[:: draw(st.integers(1, 3))]:
        G[u][v]["weight"] = draw(st.sampled_from([0, 0.5, 1, 2, 3]))
    return G


def scores_or_error(function: Any, *arguments: Any, **options: Any) -> Any:
    try:
        found = function(*arguments, **options)
    except (nx.PowerIterationFailedConvergence, ConvergenceError):
        return None
    return np.array(list(found.values())) if isinstance(found, dict) else found.scores


# Factors are chosen so that a regular graph's changes are not powers of ten: rounding would decide if 1e-6 < tol.
@settings(max_examples=settings.default.max_examples // 4)
@given(networks(), st.sampled_from([0.013, 0.11, 0.37]), st.data())
def test_centralities_are_those_of_networkx(G: nx.Graph, alpha: float, data: Any) -> None:
    numbers = st.lists(st.integers(1, 4), min_size=len(G), max_size=len(G))
    start = data.draw(st.none() | numbers.map(lambda found: dict(enumerate(found))))
    beta = data.draw(st.sampled_from([1.0, 0.5]) | numbers.map(lambda found: dict(enumerate(found))))
    normalized = data.draw(st.booleans())
    for weights, weight in ((None, "weight"), (False, None)):
        theirs = scores_or_error(nx.eigenvector_centrality, G, nstart=start, weight=weight)
        mine = scores_or_error(hw.eigenvector_centrality, G, nstart=start, weights=weights)
        assert (mine is None) == (theirs is None)
        assert mine is None or np.allclose(mine, theirs, rtol=1e-10, atol=1e-14)
        options = {"nstart": start, "normalized": normalized, "max_iter": 60}
        theirs = scores_or_error(nx.katz_centrality, G, alpha, beta, weight=weight, **options)
        mine = scores_or_error(hw.katz_centrality, G, alpha, beta, weights=weights, **options)
        assert (mine is None) == (theirs is None)
        assert mine is None or np.allclose(mine, theirs, rtol=1e-10, atol=1e-14)


@settings(max_examples=settings.default.max_examples // 4)
@given(networks(), st.booleans())
def test_authorities_are_the_first_singular_vector(G: nx.Graph, as_matrix: bool) -> None:
    A = nx.to_numpy_array(G)
    given_as = la.Matrix.from_graph(hw.Graph.from_networkx(G)) if as_matrix else G
    hubs, authorities = hw.hits(given_as, **EXACT, normalized=False)
    a, h = authorities.scores, hubs.scores
    if not A.any():
        assert not a.any() and not h.any()
        return
    assert (a >= 0).all() and math.isclose(a @ a, 1) and np.allclose(h, A @ a, atol=1e-12)
    greatest = np.linalg.svd(A)[1][0] ** 2
    assert np.allclose(A.T @ (A @ a), greatest * a, atol=1e-6 * greatest)
    hubs, authorities = hw.hits(given_as, **EXACT)
    assert np.allclose(hubs.scores, h / h.sum()) and np.allclose(authorities.scores, a / a.sum())


def test_of_several_authorities_the_nearest_to_the_start() -> None:
    """Two stars: any division of authority between their centres is a solution."""
    two = hw.Graph.from_edges([1, 2, 4, 5], [0, 0, 3, 3], directed=True)
    assert hw.hits(two).authorities.scores.round(12).tolist() == [0.5, 0, 0, 0.5, 0, 0]
    start = {0: 3, 3: 1}
    assert hw.hits(two, nstart=start).authorities.scores.round(12).tolist() == [0.75, 0, 0, 0.25, 0, 0]


def test_hubs_need_few_rounds_where_singular_values_are_close() -> None:
    """A path with a loop at one end: power iteration alone would take tens of thousands of products."""
    path = hw.Graph.from_edges([*range(150), 0], [*range(1, 151), 0])
    found = hw.hits(path, max_iter=60, normalized=False).authorities.scores
    exact = np.abs(np.linalg.svd(path.to_scipy().toarray().astype(float))[2][0])
    assert np.abs(found - exact).sum() < 1e-6


@devices
def test_centralities_run_where_the_products_run(device: str) -> None:
    G = hw.generate.kronecker(7, edge_factor=4, seed=5, directed=True)
    for ask in (hw.eigenvector_centrality, lambda *a, **k: hw.katz_centrality(*a, alpha=0.01, **k)):
        assert np.allclose(ask(G, device=device).scores, ask(G).scores, rtol=1e-9)
    assert np.allclose(hw.hits(G, device=device).hubs.scores, hw.hits(G).hubs.scores, atol=1e-9)


def test_parallel_edges_are_added_up() -> None:
    G = nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 0), (2, 0), (2, 0), (0, 0)])
    G.add_edge(1, 0, weight=0.5)
    one = nx.DiGraph()
    for u, v, weight in G.edges(data="weight", default=1):
        one.add_edge(u, v, weight=weight + (one[u][v]["weight"] if one.has_edge(u, v) else 0))
    for ask, theirs in (
        (hw.eigenvector_centrality, nx.eigenvector_centrality),
        (lambda g: hw.katz_centrality(g, 0.05), lambda g, weight: nx.katz_centrality(g, 0.05, weight=weight)),
    ):
        assert np.allclose(ask(G).scores, list(theirs(one, weight="weight").values()))
    assert np.allclose(hw.hits(G).hubs.scores, list(nx.hits(G)[0].values()))


def test_labels_and_empty_graphs() -> None:
    G = hw.Graph.from_edges(["ann", "bob"], ["bob", "cyd"], directed=True)
    assert hw.katz_centrality(G, 0.5, {"ann": 4}, normalized=False).to_dict() == {"ann": 4, "bob": 2, "cyd": 1}
    hubs, authorities = hw.hits(G, nstart={"cyd": 1})
    assert (hubs.top(1)[0][0], authorities.top(1)[0][0]) == ("bob", "cyd")
    nobody = hw.Graph.from_edges([], [], n=0)
    assert len(hw.eigenvector_centrality(nobody)) == len(hw.katz_centrality(nobody)) == len(hw.hits(nobody).hubs) == 0


def test_bad_arguments_of_centralities_are_refused() -> None:
    path = hw.generate.path(3, directed=True)
    eigenvector, katz, hits = hw.eigenvector_centrality, hw.katz_centrality, hw.hits
    for ask, options, why in (
        (eigenvector, {"tol": -1}, "tol=-1"),
        (eigenvector, {"max_iter": 0}, "max_iter=0"),
        (eigenvector, {"max_iter": 2.5}, r"max_iter=2.5 is not a number of rounds"),
        (eigenvector, {"tol": 0, "max_iter": 3}, "after 3 rounds the centralities still change.*larger max_iter"),
        (eigenvector, {"nstart": [0, 0, 0]}, "adds up to 0"),
        (eigenvector, {"weights": [1, -1]}, "weight -1.* is negative"),
        (eigenvector, {"weights": [1, math.inf]}, "infinite"),
        (eigenvector, {"weights": [1, 1e300]}, "1e\\+300, and sums of weights.*scale them"),
        (hits, {"weights": [1e-300, 1e-200]}, "scale them"),
        (hits, {"nstart": {0: 1}}, "0 at every vertex that an arc leads to"),
        (katz, {"alpha": math.nan}, "alpha=nan"),
        (katz, {"beta": [1, 2]}, r"shape \(2,\)"),
        (katz, {"beta": math.inf}, "not finite"),
        (katz, {"nstart": [1, 2, math.nan]}, "not finite"),
    ):
        with pytest.raises(GraphError, match=why):
            ask(path, **options)
    with pytest.raises(ConvergenceError, match=r"Katz diverged: alpha=2 is too large.*1 / the largest eigenvalue"):
        katz(hw.generate.complete(4), 2.0, max_iter=10_000)
    with pytest.raises(GraphError, match="after 1 rounds the authorities"):
        hits(hw.generate.grid(30, 30), max_iter=1)


def test_katz_says_that_it_diverged_and_what_converges() -> None:
    star = hw.generate.star(200)
    with pytest.raises(
        hw.ConvergenceError, match=r"Katz diverged: alpha=0.1 is too large .* at most 199, .*0.0045"
    ) as why:
        hw.katz_centrality(star)
    assert "inf" not in str(why.value)
    assert hw.katz_centrality(star, alpha=0.0045).top(1)[0][0] == 0
    with pytest.raises(hw.ConvergenceError, match="still change by"):
        hw.katz_centrality(star, alpha=0.05, max_iter=2)
