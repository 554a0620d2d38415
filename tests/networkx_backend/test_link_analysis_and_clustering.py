"""PageRank, related centralities, clustering: NetworkX's values and exceptions, and what is left to NetworkX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from test_backend import Case, outcome, same
from test_weighted import roads

from hopwave.networkx_backend import backend
from hopwave.networkx_backend.dispatch import SINCE_3_7

Calls = list[Callable[[Case], dict[str, Any]]]
EXACT = {"tol": 1e-9, "max_iter": 400}
RANKS: Calls = [
    lambda c: EXACT | {"weight": "km"},
    lambda c: EXACT | {"weight": None, "alpha": 0.5},
    lambda c: EXACT | {"personalization": {v: 1 + i % 3 for i, v in enumerate([*c.some, *list(c.G)[:1]])}},
    lambda c: EXACT | {"nstart": dict.fromkeys(c.G, 2), "dangling": dict.fromkeys([*c.others, *list(c.G)[:1]], 1)},
    lambda c: {"personalization": {"nobody": 1}},
    lambda c: {"tol": 0, "max_iter": 3},
    lambda c: {"max_iter": 0},
]
STARTS: Calls = [
    lambda c: {"nstart": {v: 1 + i % 3 for i, v in enumerate(reversed(list(c.G)))}, "weight": "km"},
    lambda c: {"nstart": dict.fromkeys(c.G, 0), "max_iter": 3},
    lambda c: {"max_iter": 0},
]
EIGENVECTOR: Calls = [lambda c: {"max_iter": 30}, lambda c: {"weight": "km"}, *STARTS]
KATZ: Calls = [  # α is no power of ten: otherwise rounding would decide whether changes of 1e-6 are below tol
    lambda c: {"alpha": 0.013, "weight": "km", "max_iter": 40},
    lambda c: {"alpha": 0.11, "normalized": False, "beta": 0.5, "max_iter": 40},
    lambda c: {"alpha": 0.11, "beta": {v: i for i, v in enumerate(c.G)}, "max_iter": 40},
    lambda c: {"alpha": 0.11, "beta": {"nobody": 1}},
    *[lambda c, call=call: {"alpha": 0.11, "max_iter": 40} | call(c) for call in STARTS],
]


@settings(max_examples=settings.default.max_examples // 4)
@given(roads((nx.Graph, nx.DiGraph)))
def test_ranks_are_those_of_networkx(case: Case) -> None:
    for ask, calls in ((nx.pagerank, RANKS), (nx.eigenvector_centrality, EIGENVECTOR), (nx.katz_centrality, KATZ)):
        for call in calls:
            with nx.config(warnings_to_ignore={"cache"}):
                theirs = outcome(ask, case, call(case), "networkx", ordered=True)
                mine = outcome(ask, case, call(case), "hopwave", ordered=True)
            assert same(mine, theirs), f"{ask.__name__}({call(case)}): hopwave {mine}, NetworkX {theirs}"


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
    G, arcs, several = nx.path_graph(3), nx.DiGraph([(0, 1)]), nx.MultiGraph([(0, 1), (0, 1)])
    for name, arguments, why in (
        ("pagerank", (several,), "adds up the weights of parallel edges"),
        ("hits", (several,), "adds up the weights of parallel edges"),
        ("hits", (G, 100, 1e-8, {0: 1}), "nstart does not name every node"),
        ("katz_centrality", (G, 0.1, 1.0, 100, 1e-6, [1, 1, 1]), "nstart does not name every node"),
        ("square_clustering", (arcs,), "squares of arcs"),
        ("square_clustering", (G, [0]), "nodes= asks for some vertices"),
        ("clustering", (several,), "parallel edges"),
        ("transitivity", (arcs,), "triangles of arcs"),
        ("clustering", (G, [0]), "nodes= asks for some vertices"),
        ("average_clustering", (G, None, "km"), "asks for weighted triangles"),
    ):
        assert why in str(backend.can_run(name, arguments, {}))
    G[0][1]["weight"] = -1
    with pytest.raises(NotImplementedError):
        nx.pagerank(G, backend="hopwave")
    with nx.config(backend_priority=["hopwave"], fallback_to_nx=True):
        assert nx.pagerank(nx.path_graph(3), alpha=1.5, tol=1e3) == nx.pagerank(
            nx.path_graph(3), alpha=1.5, tol=1e3, backend="networkx"
        )


def test_squares_of_graphs_with_hubs() -> None:
    """Large enough for several workers; the random graphs of test_backend.py are small."""
    G = nx.barabasi_albert_graph(250, 8, seed=2)
    G.add_edges_from((v, v) for v in range(0, 250, 7))
    assert nx.square_clustering(G, backend="hopwave") == nx.square_clustering(G, backend="networkx")
