"""Calls along an edge attribute: types of numbers, conversions, and what hopwave leaves to NetworkX."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest

from hopwave.networkx_backend import backend
from hopwave.networkx_backend.convert import convert_from_nx, convert_to_nx
from hopwave.networkx_backend.dispatch import Threshold

pytestmark = pytest.mark.usefixtures("quiet")


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
    for find, given in (
        (nx.diameter, {}),
        (nx.radius, {}),
        (nx.eccentricity, {"v": 0}),
        (nx.dijkstra_path_length, {"source": 0, "target": 2}),
    ):
        assert type(find(G, **given, weight="km", backend="hopwave")) is int
    assert nx.bidirectional_dijkstra(G, 0, 2, weight="km", backend="hopwave") == (7, [0, 1, 2])
    lengths = dict(nx.all_pairs_dijkstra_path_length(G, weight="km", backend="hopwave"))[0]
    assert {type(d) for d in lengths.values()} == {int}
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


def test_what_only_the_lengths_tell_is_left_to_networkx() -> None:
    G = nx.path_graph(30)
    G.add_edge(0, 29, weight=-1)
    with nx.config(backend_priority=["hopwave"], fallback_to_nx=True):
        for call in (lambda: nx.single_source_dijkstra(G, 0), lambda: nx.all_pairs_dijkstra(G)):
            with pytest.raises(ValueError, match="Contradictory paths"):
                list(call())
        assert nx.diameter(nx.path_graph(400), weight=lambda u, v, data: 2) == 798
    with pytest.raises(NotImplementedError, match="raised NotImplementedError"):  # not when the first path is read
        nx.shortest_simple_paths(G, 0, 1, weight="weight", backend="hopwave")
    paths = nx.shortest_simple_paths(G, 0, "nowhere", backend="hopwave")
    with pytest.raises(nx.NodeNotFound, match="node nowhere not in graph"):
        next(paths)  # not before, as in NetworkX
