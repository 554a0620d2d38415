"""Calls along an edge attribute: NetworkX's values, order and exceptions; and what hopwave leaves to NetworkX."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_backend import KINDS, Case, cases, numbered, outcome, same

from hopwave.networkx_backend import backend, dispatch
from hopwave.networkx_backend.convert import convert_from_nx, convert_to_nx
from hopwave.networkx_backend.thresholds import Threshold

pytestmark = pytest.mark.usefixtures("quiet")


KM = {"weight": "km"}
EXTREME: list[Callable[[Case], dict[str, Any]]] = [
    lambda c: KM,
    lambda c: KM | {"e": {v: i % 3 for i, v in enumerate(c.G)}},
    lambda c: {"weight": "no edge has it"},
]
ARGUMENTS: dict[str, list[Callable[[Case], dict[str, Any]]]] = {
    "closeness_centrality": [
        lambda c: {"distance": "km"},
        lambda c: {"distance": "km", "wf_improved": False},
        lambda c: {"distance": "km", "u": c.s},
    ],
    "harmonic_centrality": [
        lambda c: {"distance": "km"},
        lambda c: {"distance": "km", "nbunch": c.some, "sources": c.others},
    ],
    "eccentricity": [lambda c: KM, lambda c: KM | {"v": c.s}, lambda c: KM | {"v": [*c.some, c.t]}],
    "diameter": EXTREME,
    "radius": EXTREME,
    "center": EXTREME,
    "periphery": EXTREME,
    "centroid" if dispatch.SINCE_3_7 else "barycenter": [lambda c: KM],
    "average_shortest_path_length": [
        lambda c: KM,
        lambda c: KM | {"method": "unweighted"},
        lambda c: KM | {"method": "bellman-ford"},
    ],
    "harmonic_diameter": [lambda c: KM],
    "wiener_index": [lambda c: KM],
    "hyper_wiener_index": [lambda c: KM],
    "schultz_index": [lambda c: KM],
    "gutman_index": [lambda c: KM],
    "all_pairs_dijkstra_path_length": [
        lambda c: KM,
        lambda c: {},
        lambda c: KM | {"cutoff": c.hops},
        lambda c: KM | {"cutoff": -1},
    ],
}
UNDIRECTED = {"hyper_wiener_index", "schultz_index", "gutman_index"}  # no directed graphs, no multigraphs


@st.composite
def roads(draw: Any, kinds: tuple[type[nx.Graph], ...]) -> Case:
    """A case in which most edges have lengths: whole numbers, or fractions with exact sums, so that ties stay ties."""
    case: Case = draw(cases(kinds))
    lengths = draw(st.sampled_from([[0, 1, 2, 3], [0, 0.25, 1, 2.5], [1, 1, True]]))
    for *_, data in case.G.edges(data=True):
        if draw(st.integers(0, 9)):
            data["km"] = draw(st.sampled_from(lengths))
    return case


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", ARGUMENTS)
def test_equals_networkx(name: str) -> None:
    function = nx.utils.backends._registered_algorithms[name]
    kinds = (nx.Graph,) if name in UNDIRECTED else KINDS

    @settings(max_examples=settings.default.max_examples // 4)
    @given(roads(kinds))
    def check(case: Case) -> None:
        for call in ARGUMENTS[name]:
            theirs = outcome(function, case, call(case), "networkx", ordered=True)
            mine = outcome(function, case, call(case), "hopwave", ordered=True)
            assert same(mine, theirs), f"{name}({call(case)}): hopwave {mine}, NetworkX {theirs}"

    check()


BETWEENNESS: dict[str, list[Callable[[Case], dict[str, Any]]]] = {
    "betweenness_centrality": [
        lambda c: KM,
        lambda c: KM | {"normalized": False, "endpoints": True},
        lambda c: KM | {"k": len(c.G) // 2 + 1, "seed": random.Random(1)},
    ],
    "edge_betweenness_centrality": [
        lambda c: KM,
        lambda c: KM | {"k": len(c.G), "seed": random.Random(1), "normalized": False},
    ],
    "betweenness_centrality_subset": [lambda c: KM | {"sources": [c.s, *c.some], "targets": c.others}],
    "edge_betweenness_centrality_subset": [lambda c: KM | {"sources": c.some, "targets": list(c.G)}],
}


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", BETWEENNESS)
def test_betweenness_equals_networkx(name: str) -> None:
    """With lengths above 0; others are left to NetworkX. Edges with all targets, where NetworkX is right."""
    function = nx.utils.backends._registered_algorithms[name]

    @settings(max_examples=settings.default.max_examples // 4)
    @given(roads((nx.Graph, nx.DiGraph) if name.startswith("edge") else KINDS))
    def check(case: Case) -> None:
        if name.startswith("edge"):
            case = numbered(case)
        for *_, data in case.G.edges(data=True):
            if "km" in data:
                data["km"] += 1
        for call in BETWEENNESS[name]:
            theirs = outcome(function, case, call(case), "networkx", ordered=True)
            mine = outcome(function, case, call(case), "hopwave", ordered=True)
            assert same(mine, theirs), f"{name}({call(case)}): hopwave {mine}, NetworkX {theirs}"

    check()


@pytest.mark.parametrize("lengths", [(1, 0), (1.0, 1e-16), (1e200, 1.0)])
def test_paths_that_may_not_be_counted_are_left_to_networkx(
    lengths: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    G = nx.path_graph(3)
    nx.set_edge_attributes(G, dict(zip(G.edges, lengths, strict=True)), "km")
    with pytest.raises(NotImplementedError, match="'km' is 0 somewhere, or so small beside others"):
        backend.betweenness_centrality(convert_from_nx(G, edge_attrs={"km": 1}), weight="km")
    monkeypatch.setattr(Threshold, "why_not", lambda *_: None)  # so that hopwave is asked
    with nx.config(backend_priority=["hopwave"], fallback_to_nx=True):
        found = nx.betweenness_centrality(G, weight="km")
    assert found == nx.betweenness_centrality(G, weight="km", backend="networkx")


def test_whole_lengths_give_whole_distances() -> None:
    G = nx.Graph([(0, 1, {"km": 3}), (1, 2, {"km": 4})])
    for find in (nx.diameter, nx.radius, lambda *a, **k: nx.eccentricity(*a, v=0, **k)):
        assert type(find(G, weight="km", backend="hopwave")) is int
    assert [
        type(d) for d in dict(nx.all_pairs_dijkstra_path_length(G, weight="km", backend="hopwave"))[0].values()
    ] == [
        int,
        int,
        int,
    ]
    G[0][1]["km"] = 3.0
    nx._clear_cache(G)
    assert type(nx.diameter(G, weight="km", backend="hopwave")) is float


VALUES: dict[str, Any] = {
    "negative": -1,
    "infinite": float("inf"),
    "NaN": float("nan"),
    "hidden": None,
    "text": "far",
    "fraction": Fraction(1, 3),
    "decimal": Decimal("0.1"),
    "single precision": np.float32(0.1),
    "beyond float64": 2**70,
    "whole, beyond 2^53": 2**53 + 1,
    "so great that sums overflow": 1e308,
    "an array": np.array([1, 2]),
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("several", [False, True], ids=["simple", "multigraph"])
def test_lengths_that_are_left_to_networkx(value: str, several: bool) -> None:
    G = nx.MultiGraph() if several else nx.Graph()
    G.add_edges_from([(0, 1, {"km": 1}), (1, 2, {"km": VALUES[value]}), (2, 3, {"km": 2})])
    with pytest.raises(NotImplementedError, match="edge attribute 'km'"):
        convert_from_nx(G, edge_attrs={"km": 1})
    assert convert_from_nx(G).lengths == {}  # lengths do not matter for hops
    with nx.config(backend_priority=["hopwave"], fallback_to_nx=True):
        for call in (
            lambda **k: nx.closeness_centrality(G, distance="km", **k),
            lambda **k: nx.diameter(G, weight="km", **k),
        ):
            assert repr(result(call)) == repr(result(call, backend="networkx"))


def result(call: Callable[..., Any], **how: Any) -> Any:
    try:
        return call(**how)
    except Exception as error:
        return type(error)


def test_functions_as_weights_are_left_to_networkx() -> None:
    G = nx.path_graph(400)
    for name, keyword in (("closeness_centrality", "distance"), ("diameter", "weight"), ("wiener_index", "weight")):
        reason = backend.can_run(name, (G,), {keyword: lambda u, v, data: 2})
        assert reason == f"{keyword} is a Python function, which compiled searches cannot call"
        assert backend.can_run(name, (G,), {keyword: "km"}) is True
    with nx.config(backend_priority=["hopwave"], fallback_to_nx=True):
        assert nx.diameter(G, weight=lambda u, v, data: 2) == 798


def test_attributes_are_kept_with_the_converted_graph() -> None:
    G = nx.MultiDiGraph([("a", "b", {"km": 2.5}), ("a", "b", {"km": 1.5}), ("b", "c", {"m": 7}), ("c", "a", {})])
    H = convert_from_nx(G, edge_attrs={"km": 1, "m": 2})
    assert H.lengths_of("km").values.tolist() == [1.5, 1.0, 1.0] and H.lengths_of("m").values.tolist() == [2, 7, 2]
    assert H.weighted("km").weights.tolist() == [1.5, 1.0, 1.0]  # type: ignore[union-attr]
    assert nx.diameter(H, weight="m") == nx.diameter(
        nx.DiGraph([("a", "b", {"m": 2}), ("b", "c", {"m": 7}), ("c", "a", {"m": 2})]), weight="m", backend="networkx"
    )
    again = convert_to_nx(H)
    assert nx.diameter(again, weight="km", backend="networkx") == nx.diameter(G, weight="km", backend="networkx")
    with pytest.raises(NotImplementedError, match="converted without the edge attribute 'toll'"):
        convert_from_nx(G).lengths_of("toll")
    whole = convert_from_nx(G, preserve_edge_attrs=True)
    assert whole.lengths_of("km").values.tolist() == [1.5, 1.0, 1.0]
