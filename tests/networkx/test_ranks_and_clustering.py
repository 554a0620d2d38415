"""PageRank and clustering: NetworkX's values and exceptions, and what is left to NetworkX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from test_backend import Case, outcome, same
from test_weighted import roads

from hopwave.networkx_backend import backend

EXACT = {"tol": 1e-9, "max_iter": 400}
CALLS: list[Callable[[Case], dict[str, Any]]] = [
    lambda c: EXACT | {"weight": "km"},
    lambda c: EXACT | {"weight": None, "alpha": 0.5},
    lambda c: EXACT | {"personalization": {v: 1 + i % 3 for i, v in enumerate([*c.some, *list(c.G)[:1]])}},
    lambda c: EXACT | {"nstart": dict.fromkeys(c.G, 2), "dangling": dict.fromkeys([*c.others, *list(c.G)[:1]], 1)},
    lambda c: {"personalization": {"nobody": 1}},
    lambda c: {"tol": 0, "max_iter": 3},
]


@settings(max_examples=settings.default.max_examples // 4)
@given(roads((nx.Graph, nx.DiGraph)))
def test_ranks_are_those_of_networkx(case: Case) -> None:
    for call in CALLS:
        with nx.config(warnings_to_ignore={"cache"}):
            theirs = outcome(nx.pagerank, case, call(case), "networkx", ordered=True)
            mine = outcome(nx.pagerank, case, call(case), "hopwave", ordered=True)
        assert same(mine, theirs), f"pagerank({call(case)}): hopwave {mine}, NetworkX {theirs}"


def test_what_is_left_to_networkx() -> None:
    G, arcs, several = nx.path_graph(3), nx.DiGraph([(0, 1)]), nx.MultiGraph([(0, 1), (0, 1)])
    for name, arguments, why in (
        ("pagerank", (several,), "adds up the weights of parallel edges"),
        ("clustering", (several,), "parallel edges"),
        ("clustering", (arcs,), "triangles of arcs"),
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
