"""Shortest paths between chosen or all vertices (networkx.algorithms.shortest_paths.generic)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import networkx as nx

from hopwave.algorithms.shortest_paths import simple_paths
from hopwave.networkx_backend import unweighted, weighted
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import named_weights, serves
from hopwave.networkx_backend.notes import BOTH, CONVERTED_BEFORE
from hopwave.networkx_backend.thresholds import (
    LISTED_EDGES,
    LISTED_PATHS,
    ONE_SEARCH,
    PAIR,
    PAIR_PATHS,
    Arguments,
    by_ends,
    unless_weighted,
)


def hops_or_dijkstra(arguments: Arguments) -> str | None:
    """Why not, if Bellman-Ford is asked for: hopwave counts hops or runs Dijkstra's algorithm."""
    if arguments["weight"] is not None and arguments["method"] == "bellman-ford":
        return "Bellman-Ford's order of results is not Dijkstra's; hopwave runs method='dijkstra'"
    return named_weights(arguments)


def check_method(method: Any) -> None:
    """Raises NetworkX's error for an unknown method, even if the method is not used."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")


@serves(threshold=PAIR, notes=CONVERTED_BEFORE)
def has_path(G: NetworkXGraph, source: Any, target: Any) -> bool:
    """Whether the target can be reached from the source."""
    try:
        shortest_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


@serves(can_run=hops_or_dijkstra, threshold=by_ends(LISTED_PATHS), notes=BOTH + " Both ends given: " + CONVERTED_BEFORE)
def shortest_path(
    G: NetworkXGraph, source: Any = None, target: Any = None, weight: Any = None, method: Any = "dijkstra"
) -> Any:
    """A shortest path between two vertices, or paths from a source, to a target, or between all pairs."""
    check_method(method)
    if source is None and target is None:
        if weight is None:
            return unweighted.all_pairs_shortest_path(G)
        return weighted.all_pairs_dijkstra_path(G, weight=weight)
    if source is None:
        if weight is not None:
            return {node: path[::-1] for node, path in _into(G, target, weight).paths().items()}
        if target not in G:
            raise nx.NodeNotFound(f"Source {target} not in G")
        return unweighted.paths(G, G.in_rows, G.number[target], None, backwards=True)
    if target is None:
        if weight is None:
            return unweighted.single_source_shortest_path(G, source)
        return weighted.single_source_dijkstra_path(G, source, weight=weight)
    if weight is None:
        return unweighted.bidirectional_shortest_path(G, source, target)
    return weighted.bidirectional_dijkstra(G, source, target, weight)[1]


@serves(can_run=hops_or_dijkstra, threshold=by_ends(ONE_SEARCH), notes=BOTH + " Both ends given: " + CONVERTED_BEFORE)
def shortest_path_length(
    G: NetworkXGraph, source: Any = None, target: Any = None, weight: Any = None, method: Any = "dijkstra"
) -> Any:
    """The length of a shortest path between two vertices, or lengths from a source, to a target, or of all pairs."""
    check_method(method)
    if source is None and target is None:
        if weight is None:
            return unweighted.all_pairs_shortest_path_length(G)
        return weighted.all_pairs_dijkstra_path_length(G, weight=weight)
    if source is None:
        if weight is not None:
            return _into(G, target, weight).distances()
        if target not in G:
            raise nx.NodeNotFound(f"Source {target} is not in G")
        return unweighted.lengths(G, G.in_rows, G.number[target], None)
    if target is None:
        if weight is None:
            return unweighted.single_source_shortest_path_length(G, source)
        return weighted.single_source_dijkstra_path_length(G, source, weight=weight)
    if weight is None:
        return len(unweighted.bidirectional_shortest_path(G, source, target)) - 1
    return weighted.dijkstra_path_length(G, source, target, weight)


def _into(G: NetworkXGraph, target: Any, weight: Any) -> weighted.Search:
    """A search along an edge attribute, backwards from the target."""
    return replace(weighted.search(G, [target], weight), backwards=True)


def _predecessors(G: NetworkXGraph, source: Any, weight: Any, method: Any) -> dict[Any, list[Any]]:
    """All predecessors on shortest paths from the source, in hops or along an edge attribute."""
    if weight is None or method == "unweighted":
        hops: dict[Any, list[Any]] = unweighted.predecessor(G, source)
        return hops
    check_method(method)
    return weighted.dijkstra_predecessor_and_distance(G, source, weight=weight)[0]


@serves(can_run=hops_or_dijkstra, threshold=unless_weighted(PAIR_PATHS), notes=BOTH)
def all_shortest_paths(
    G: NetworkXGraph, source: Any, target: Any, weight: Any = None, method: Any = "dijkstra"
) -> Iterator[list[Any]]:
    """Every shortest path between two vertices."""
    return _back(_predecessors(G, source, weight, method), source, target)


@serves(can_run=hops_or_dijkstra, threshold=unless_weighted(LISTED_EDGES), notes=BOTH)
def single_source_all_shortest_paths(
    G: NetworkXGraph, source: Any, weight: Any = None, method: Any = "dijkstra"
) -> Iterator[tuple[Any, list[list[Any]]]]:
    """(vertex, every shortest path to it), for every vertex that the source reaches."""
    before = _predecessors(G, source, weight, method)
    return ((node, list(_back(before, source, node))) for node in before)


@serves(can_run=hops_or_dijkstra, threshold=LISTED_EDGES, notes=BOTH)
def all_pairs_all_shortest_paths(
    G: NetworkXGraph, weight: Any = None, method: Any = "dijkstra"
) -> Iterator[tuple[Any, dict[Any, list[list[Any]]]]]:
    """(source, {vertex: every shortest path to it}) for every source."""
    if weight is not None:
        G.lengths_of(weight)  # may raise NotImplementedError, which NetworkX must see before the iterator starts
    return ((node, dict(single_source_all_shortest_paths(G, node, weight, method))) for node in G.nodes)


def _back(before: dict[Any, list[Any]], source: Any, target: Any) -> Iterator[list[Any]]:
    """Every path from source to target, by predecessors. No path visits a vertex twice, even if arcs have length 0."""
    if target not in before:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    yield from simple_paths(lambda node: iter(before[node]), source, target)
