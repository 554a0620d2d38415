"""PageRank, related centralities, clustering: NetworkX's values and exceptions, and what is left to NetworkX."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest
import served

from hopwave.networkx_backend.dispatch import SINCE_3_7

EXACT = {"tol": 1e-9, "max_iter": 400}
STARTS: list[Callable[[list[Any]], dict[str, Any]]] = [  # the nodes of a graph → arguments
    lambda nodes: {"nstart": {v: 1 + i % 3 for i, v in enumerate(reversed(nodes))}, "weight": "km"},
    lambda nodes: {"nstart": dict.fromkeys(nodes, 0), "max_iter": 3},
    lambda nodes: {"max_iter": 0},
]
CALLS: dict[Any, list[Callable[[list[Any]], dict[str, Any]]]] = {
    nx.pagerank: [
        lambda nodes: EXACT | {"weight": "km"},
        lambda nodes: EXACT | {"weight": None, "alpha": 0.5},
        lambda nodes: EXACT | {"personalization": {v: 1 + i % 3 for i, v in enumerate(nodes[:2])}},
        lambda nodes: EXACT | {"nstart": dict.fromkeys(nodes, 2), "dangling": dict.fromkeys(nodes[-2:], 1)},
        lambda nodes: {"personalization": {"nobody": 1}},
        lambda nodes: {"tol": 0, "max_iter": 3},
        lambda nodes: {"max_iter": 0},
    ],
    nx.eigenvector_centrality: [lambda nodes: {"max_iter": 30}, lambda nodes: {"weight": "km"}, *STARTS],
    nx.katz_centrality: [  # α is no power of ten: otherwise rounding would decide whether changes of 1e-6 are below tol
        lambda nodes: {"alpha": 0.013, "weight": "km", "max_iter": 40},
        lambda nodes: {"alpha": 0.11, "normalized": False, "beta": 0.5, "max_iter": 40},
        lambda nodes: {"alpha": 0.11, "beta": {v: i for i, v in enumerate(nodes)}, "max_iter": 40},
        lambda nodes: {"alpha": 0.11, "beta": {"nobody": 1}},
        *[lambda nodes, call=call: {"alpha": 0.11, "max_iter": 40} | call(nodes) for call in STARTS],
    ],
}


@pytest.mark.filterwarnings("ignore")
def test_ranks_are_those_of_networkx() -> None:
    draw, asked = random.Random(1), 0
    for _ in range(20):
        G, about = served.drawn_graph(draw)
        for ask, calls in CALLS.items():
            for call in calls:
                found, right = (
                    served.answer(lambda ask=ask, call=call, by=by: ask(G, **call(list(G)), backend=by))  # noqa: B023
                    for by in ("hopwave", "networkx")
                )
                if found[:2] != ["raises", "NotImplementedError"]:
                    asked += 1
                    assert served.agree(*map(served.untyped, (found, right))), f"{ask.__name__} of {about}"
    assert asked > 100


def test_hubs_and_authorities_are_those_of_networkx() -> None:
    """On graphs with a unique greatest singular value: otherwise NetworkX's answer is random."""
    for seed in range(4):
        G = nx.gnm_random_graph(30, 150, seed=seed, directed=seed % 2 == 1)
        for i, (u, v) in enumerate(G.edges):
            if i % 3:
                G[u][v]["weight"] = 1 + i % 4
        for options in ({}, {"normalized": False}, {"nstart": dict.fromkeys(reversed(list(G)), 2.0)}):
            with nx.config(warnings_to_ignore={"cache"}):
                theirs, mine = (nx.hits(G, **options, backend=which) for which in ("networkx", "hopwave"))
            for right, found in zip(theirs, mine, strict=True):
                assert list(found) == list(right) and type(found[0]) is float
                sign = 1 if right[0] >= 0 else -1  # SciPy chooses the sign of a singular vector
                close = 1e-7 if SINCE_3_7 else 1e-9  # (NetworkX 3.7 stops when a step changes less than 1e-8)
                assert list(found.values()) == pytest.approx([sign * x for x in right.values()], abs=close)
    for G, options, error in (
        (nx.path_graph(5), {"max_iter": 0}, nx.PowerIterationFailedConvergence),
        (nx.path_graph(50), {"max_iter": 1}, nx.PowerIterationFailedConvergence),
        (nx.empty_graph(3), {}, NotImplementedError),
        (nx.path_graph(5), {"nstart": dict.fromkeys(range(5), -1)}, NotImplementedError),
    ):
        with pytest.raises(error):
            nx.hits(G, **options, backend="hopwave")
    assert nx.hits(nx.Graph(), backend="hopwave") == ({}, {})


def test_what_is_left_to_networkx() -> None:
    G = nx.path_graph(3)
    G[0][1]["weight"] = -1
    with pytest.raises(NotImplementedError):
        nx.pagerank(G, backend="hopwave")
    with nx.config(backend_priority=["hopwave"], fallback_to_nx=True):
        assert nx.pagerank(nx.path_graph(3), alpha=1.5, tol=1e3) == nx.pagerank(
            nx.path_graph(3), alpha=1.5, tol=1e3, backend="networkx"
        )


def test_squares_of_graphs_with_hubs() -> None:
    """Large enough for several workers; the random graphs of tests/fuzz are small."""
    G = nx.barabasi_albert_graph(250, 8, seed=2)
    G.add_edges_from((v, v) for v in range(0, 250, 7))
    assert nx.square_clustering(G, backend="hopwave") == nx.square_clustering(G, backend="networkx")
