"""Stale and wrong answers that once occurred, each compared with NetworkX's."""

from collections.abc import Callable
from functools import partial
from typing import Any

import networkx as nx
import pytest

import hopwave as hw
from hopwave import GraphError

VIEWS: dict[str, Callable[[Any], Any]] = {
    "subgraph": lambda G: G.subgraph(range(40)),
    "edges": lambda G: G.edge_subgraph(list(G.edges)[:90]),
    "reverse": lambda G: G.reverse(copy=False),
    "directed": lambda G: G.to_directed(as_view=True),
    "undirected": lambda G: G.to_undirected(as_view=True),
    "restricted": lambda G: nx.restricted_view(G, [7], [(1, 2)]),
    "view of a view": lambda G: nx.subgraph_view(G.subgraph(range(40)), filter_node=lambda v: v != 3),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.usefixtures("quiet")
def test_a_view_is_converted_anew_after_its_graph_changed(view: str) -> None:
    G = nx.gnp_random_graph(50, 0.1, seed=3, directed=True)
    shown = VIEWS[view](G)
    for change in (lambda: None, lambda: G.remove_node(5), lambda: G.add_edges_from([(1, 9), (9, 30)])):
        change()
        for _ in range(2):
            found = nx.betweenness_centrality(shown, backend="hopwave")
            assert found == pytest.approx(
                nx.betweenness_centrality(nx.Graph(shown) if not shown.is_directed() else nx.DiGraph(shown))
            )
    assert list(found) == list(shown)


@pytest.mark.filterwarnings("error")
def test_a_graph_that_is_no_view_is_still_converted_once() -> None:
    G = nx.gnp_random_graph(50, 0.1, seed=3)
    nx.betweenness_centrality(G, backend="hopwave")
    kept = G.__networkx_cache__["backends"]["hopwave"]
    assert len(kept) == 1
    with pytest.warns(UserWarning, match="cached graph is being used"):
        nx.betweenness_centrality(G, backend="hopwave")


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_an_attribute_that_was_changed_in_place_counts(kind: Any) -> None:
    """NetworkX does not notice it, and keeps the converted graph."""
    G = kind(nx.gnp_random_graph(30, 0.2, seed=3))
    edges = list(G.edges)
    for turn in range(3):
        found = nx.closeness_centrality(G, distance="km", backend="hopwave")
        assert found == pytest.approx(nx.closeness_centrality(G.copy(), distance="km", backend="networkx")), turn
        hops = nx.closeness_centrality(G, backend="hopwave")
        assert hops == pytest.approx(nx.closeness_centrality(G.copy(), backend="networkx"))
        G.edges[edges[turn]]["km"] = 7 + turn


@pytest.mark.parametrize("names", [[*range(11, 30), *range(11)], [f"v{v}" for v in range(30)]])
def test_samples_are_those_of_networkx_in_any_order_of_nodes(names: list[Any]) -> None:
    """NetworkX draws from its nodes in their order, which need not be 0 … n − 1."""
    G = nx.relabel_nodes(nx.gnp_random_graph(30, 0.15, seed=4), dict(enumerate(names)))
    for k in (5, 29, 30):
        right = nx.betweenness_centrality(G, k=k, seed=1)
        assert hw.betweenness_centrality(G, k=k, seed=1, device="cpu").to_dict() == pytest.approx(right), k
        edges = nx.edge_betweenness_centrality(G, k=k, seed=1)
        found = hw.edge_betweenness_centrality(G, k=k, seed=1, device="cpu").to_dict()
        assert {frozenset(edge): score for edge, score in found.items()} == pytest.approx(
            {frozenset(edge): score for edge, score in edges.items()}
        )


def test_a_sample_without_a_seed_has_no_checkpoint(tmp_path: Any) -> None:
    G = hw.generate.grid(5, 5)
    for function in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        with pytest.raises(GraphError, match="checkpoint= with k= needs seed="):
            function(G, k=5, checkpoint=tmp_path / "a.npz", device="cpu")
        function(G, k=5, seed=1, checkpoint=tmp_path / f"{function.__name__}.npz", device="cpu")
        function(G, k=25, checkpoint=tmp_path / f"{function.__name__}, all.npz", device="cpu")  # all: no sample


def test_an_undirected_view_whose_edges_have_two_weights_is_left_to_networkx() -> None:
    """hopwave's undirected graphs have one weight per edge; functions that follow arcs would see both weights."""
    directed = nx.DiGraph()
    directed.add_weighted_edges_from([(0, 1, 1), (1, 0, 5), (1, 2, 2), (2, 3, 1), (3, 0, 2), (3, 2, 4)])
    for view in (directed.to_undirected(as_view=True), directed.to_undirected(as_view=True).subgraph([0, 1, 2, 3])):
        weighted = (
            nx.pagerank, nx.hits, partial(nx.harmonic_centrality, distance="weight"),
            partial(nx.eccentricity, weight="weight"), partial(nx.betweenness_centrality, weight="weight"),
        )  # fmt: skip
        for call in weighted:
            with pytest.raises(NotImplementedError, match="backend raised NotImplementedError"):
                call(view, backend="hopwave")
        found = nx.single_source_dijkstra_path_length(view, 0, backend="hopwave")
        assert found == nx.single_source_dijkstra_path_length(view, 0)
    assert nx.pagerank(directed, backend="hopwave") == pytest.approx(nx.pagerank(directed), abs=1e-6)
    many = nx.star_graph(10_000)
    with pytest.warns(UserWarning, match=r"n · tol = 0.01 in total; pass tol=1e-10"):
        ranks = hw.pagerank(many)
    assert nx.pagerank(many, backend="hopwave")[0] == pytest.approx(ranks[0]), "without a warning"
