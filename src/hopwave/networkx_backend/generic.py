"""Shortest paths between chosen or all vertices (networkx.algorithms.shortest_paths.generic)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import Arguments, one_search, only_if_converted, serves, unweighted
from hopwave.networkx_backend.unweighted import (
    all_pairs_shortest_path,
    all_pairs_shortest_path_length,
    bidirectional_shortest_path,
    lengths,
    paths,
    predecessor,
    single_source_shortest_path,
    single_source_shortest_path_length,
)


def pair_or_search(arguments: Arguments) -> str | None:
    """A call with both ends is about one pair of vertices; one without is a search."""
    one_pair = arguments["source"] is not None and arguments["target"] is not None
    return only_if_converted(arguments) if one_pair else one_search(arguments)


def check_method(method: Any) -> None:
    """NetworkX checks the method even where it does not use it."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")


@serves(should_run=only_if_converted)
def has_path(G: NetworkXGraph, source: Any, target: Any) -> bool:
    """Whether the target can be reached from the source."""
    try:
        shortest_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


@serves(can_run=unweighted, should_run=pair_or_search)
def shortest_path(
    G: NetworkXGraph, source: Any = None, target: Any = None, weight: Any = None, method: Any = "dijkstra"
) -> Any:
    """A shortest path, or those from a source, to a target, or between all pairs."""
    check_method(method)
    if source is None and target is None:
        return all_pairs_shortest_path(G)
    if source is None:
        if target not in G:
            raise nx.NodeNotFound(f"Source {target} not in G")
        return paths(G, G.in_rows, G.number[target], None, backwards=True)
    if target is None:
        return single_source_shortest_path(G, source)
    return bidirectional_shortest_path(G, source, target)


@serves(can_run=unweighted, should_run=pair_or_search)
def shortest_path_length(
    G: NetworkXGraph, source: Any = None, target: Any = None, weight: Any = None, method: Any = "dijkstra"
) -> Any:
    """Hops of a shortest path, or of those from a source, to a target, or between all pairs."""
    check_method(method)
    if source is None and target is None:
        return all_pairs_shortest_path_length(G)
    if source is None:
        if target not in G:
            raise nx.NodeNotFound(f"Source {target} is not in G")
        return lengths(G, G.in_rows, G.number[target], None)
    if target is None:
        return single_source_shortest_path_length(G, source)
    return len(bidirectional_shortest_path(G, source, target)) - 1


@serves(can_run=unweighted, should_run=one_search)
def all_shortest_paths(
    G: NetworkXGraph, source: Any, target: Any, weight: Any = None, method: Any = "dijkstra"
) -> Iterator[list[Any]]:
    """Every shortest path between two vertices."""
    return _back(predecessor(G, source), target)


@serves(can_run=unweighted, should_run=one_search)
def single_source_all_shortest_paths(
    G: NetworkXGraph, source: Any, weight: Any = None, method: Any = "dijkstra"
) -> Iterator[tuple[Any, list[list[Any]]]]:
    """(vertex, every shortest path to it), for every vertex that the source reaches."""
    before = predecessor(G, source)
    for node in before:
        yield node, list(_back(before, node))


@serves(can_run=unweighted)
def all_pairs_all_shortest_paths(
    G: NetworkXGraph, weight: Any = None, method: Any = "dijkstra"
) -> Iterator[tuple[Any, dict[Any, list[list[Any]]]]]:
    """(source, {vertex: every shortest path to it}) for every source."""
    for node in G.nodes:
        yield node, dict(single_source_all_shortest_paths(G, node))


def _back(before: dict[Any, list[Any]], target: Any) -> Iterator[list[Any]]:
    """Every path that leads back from the target to the source, which alone has no predecessors."""
    if target not in before:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    path, choices = [target], [iter(before[target])]
    if not before[target]:
        yield [target]
    while path:
        node = next(choices[-1], None)
        if node is None:
            path.pop()
            choices.pop()
            continue
        path.append(node)
        choices.append(iter(before[node]))
        if not before[node]:
            yield path[::-1]
