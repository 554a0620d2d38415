"""Shortest paths in hops, and between chosen or all vertices (networkx.algorithms.shortest_paths: unweighted, generic).

Functions that differ only in their ends or in what they return are made from one table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np

from hopwave.algorithms.shortest_paths import simple_paths
from hopwave.networkx_backend import dispatch, weighted
from hopwave.networkx_backend.convert import NetworkXGraph, Rows
from hopwave.networkx_backend.dispatch import Threshold, by_ends, hops_or_dijkstra, serves, unless_weighted
from hopwave.networkx_backend.traversal import arcs_from, search

Paths = dict[Any, list[Any]]


def max_levels(cutoff: Any) -> float:
    """How many levels NetworkX's loops run for a cutoff: at least one, and all levels for 0 or None."""
    return max(1, cutoff) if cutoff else float("inf")


def lengths(G: NetworkXGraph, rows: Rows, v: int, cutoff: Any = None, backwards: bool = False) -> dict[Any, int]:
    """Hops from v (or to v) by node, nearest first."""
    found = search(rows, [v], math.inf if cutoff is None else cutoff)
    return dict(zip(G.names(found.order), found.level.tolist(), strict=True))


def paths(G: NetworkXGraph, rows: Rows, v: int, cutoff: Any = None, backwards: bool = False) -> Paths:
    """A path from v to each node, nearest nodes first; if `backwards`, from each node to v."""
    found = search(rows, [v], math.inf if cutoff is None else cutoff)
    names = G.names(found.order)
    by_id: dict[int, list[Any]] = {v: names[:1]}
    for w, parent, name in zip(found.order[1:].tolist(), found.parent[1:].tolist(), names[1:], strict=True):
        by_id[w] = [name, *by_id[parent]] if backwards else [*by_id[parent], name]
    return by_id if G.plain else dict(zip(names, by_id.values(), strict=True))


def from_one(read: Any, G: NetworkXGraph, source: Any, cutoff: Any = None, end: str = "Source") -> Any:
    """Lengths or paths (`read`) from a source, or to a target (`end`)."""
    if source not in G:
        raise nx.NodeNotFound(f"{end} {source} {'is ' if read is lengths else ''}not in G")
    to_target = end == "Target"
    return read(G, G.in_rows if to_target else G.out_rows, G.number[source], cutoff, to_target)


def _family(read: Any, suffix: str, threshold: Threshold) -> None:
    def from_source(G: NetworkXGraph, source: Any, cutoff: Any) -> Any:
        return from_one(read, G, source, cutoff)

    def to_target(G: NetworkXGraph, target: Any, cutoff: Any) -> Any:
        return from_one(read, G, target, cutoff, "Target")

    def all_pairs(G: NetworkXGraph, cutoff: Any) -> Iterator[tuple[Any, Any]]:
        return ((node, read(G, G.out_rows, v, cutoff)) for v, node in enumerate(G.nodes))

    serves(f"single_source_shortest_path{suffix}", threshold=threshold, notes=dispatch.ORDER)(from_source)
    serves(f"single_target_shortest_path{suffix}", threshold=threshold, notes=dispatch.ORDER)(to_target)
    serves(f"all_pairs_shortest_path{suffix}", notes=dispatch.ORDER)(all_pairs)


_family(lengths, "_length", dispatch.ONE_SEARCH)
_family(paths, "", dispatch.LISTED_PATHS)


@serves(threshold=dispatch.PAIR, notes=dispatch.CONVERTED_BEFORE)
def bidirectional_shortest_path(G: NetworkXGraph, source: Any, target: Any) -> list[Any]:
    """A shortest path, found from both ends."""
    for role, node in (("Source", source), ("Target", target)):
        if node not in G:
            raise nx.NodeNotFound(f"{role} {node} is not in G")
    path = weighted.pair(G.out_rows, G.in_rows, G.number[source], G.number[target])
    if path is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return G.names(path)


@serves(threshold=dispatch.LISTED_PATHS, notes=dispatch.ORDER)
def predecessor(G: NetworkXGraph, source: Any, target: Any = None, cutoff: Any = None, return_seen: Any = None) -> Any:
    """For every vertex that the source reaches, its predecessors on shortest paths."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    found = search(G.out_rows, [G.number[source]], max_levels(cutoff))
    names = G.names(found.order)
    place = np.full(len(G), -1, np.int32)
    place[found.order] = np.arange(len(found.order), dtype=np.int32)
    u, v = arcs_from(G.out_rows, found)
    u, v = place[u], place[v]
    leads = (v >= 0) & (found.level[v] == found.level[u] + 1)
    u, v = u[leads], v[leads]
    before = G.names(found.order[u[np.argsort(v, kind="stable")]])
    ends = np.cumsum(np.bincount(v, minlength=len(names))).tolist()
    pred = {name: before[begin:end] for name, begin, end in zip(names, [0, *ends], ends, strict=False)}
    seen = dict(zip(names, found.level.tolist(), strict=True))
    if target is None:
        return (pred, seen) if return_seen else pred
    return (pred.get(target, []), seen.get(target, -1)) if return_seen else pred.get(target, [])


# ------------------------------------------------------------------ in hops or along an edge attribute

ENDS = dispatch.BOTH + " Both ends given: " + dispatch.CONVERTED_BEFORE


def check_method(method: Any) -> None:
    """Raises NetworkX's error for an unknown method, even if the method is not used."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")


@serves(threshold=dispatch.PAIR, notes=dispatch.CONVERTED_BEFORE)
def has_path(G: NetworkXGraph, source: Any, target: Any) -> bool:
    """Whether the target can be reached from the source."""
    try:
        shortest_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


@serves(why_not=hops_or_dijkstra, threshold=by_ends(dispatch.LISTED_PATHS), notes=ENDS)
def shortest_path(
    G: NetworkXGraph, source: Any = None, target: Any = None, weight: Any = None, method: Any = "dijkstra"
) -> Any:
    """A shortest path between two vertices, or paths from a source, to a target, or between all pairs."""
    check_method(method)
    if source is not None and target is not None:
        if weight is None:
            return bidirectional_shortest_path(G, source, target)
        return weighted.bidirectional_dijkstra(G, source, target, weight)[1]
    if weight is None:
        return _in_hops(paths, G, source, target)
    found = _along(G, source, target, weight, weighted.Search.paths)
    return found if target is None else {node: path[::-1] for node, path in found.items()}


@serves(why_not=hops_or_dijkstra, threshold=by_ends(dispatch.ONE_SEARCH), notes=ENDS)
def shortest_path_length(
    G: NetworkXGraph, source: Any = None, target: Any = None, weight: Any = None, method: Any = "dijkstra"
) -> Any:
    """The length of a shortest path between two vertices, or lengths from a source, to a target, or of all pairs."""
    check_method(method)
    if source is not None and target is not None:
        if weight is None:
            return len(bidirectional_shortest_path(G, source, target)) - 1
        return weighted.dijkstra_path_length(G, source, target, weight)
    return (
        _in_hops(lengths, G, source, target)
        if weight is None
        else _along(G, source, target, weight, weighted.Search.distances)
    )


def _in_hops(read: Any, G: NetworkXGraph, source: Any, target: Any) -> Any:
    """Lengths or paths from a source, to a target, or of all pairs."""
    if source is None and target is None:
        return ((node, read(G, G.out_rows, v)) for v, node in enumerate(G.nodes))
    if source is not None:
        return from_one(read, G, source)
    if target not in G:  # NetworkX searches from the target in the reversed graph
        raise nx.NodeNotFound(f"Source {target} {'is ' if read is lengths else ''}not in G")
    return read(G, G.in_rows, G.number[target], None, True)


def _along(G: NetworkXGraph, source: Any, target: Any, weight: Any, read: Any) -> Any:
    """Lengths or paths along an edge attribute; those to a target begin at it."""
    if source is None and target is None:
        return ((node, read(run)) for node, run in weighted.searches(G, None, weight))
    if source is not None:
        return read(weighted.search(G, {source}, weight))
    return read(replace(weighted.search(G, [target], weight), backwards=True))


def _predecessors(G: NetworkXGraph, source: Any, weight: Any, method: Any) -> dict[Any, list[Any]]:
    """All predecessors on shortest paths from the source, in hops or along an edge attribute."""
    if weight is None or method == "unweighted":
        hops: dict[Any, list[Any]] = predecessor(G, source)
        return hops
    check_method(method)
    return weighted.dijkstra_predecessor_and_distance(G, source, None, weight)[0]


@serves(why_not=hops_or_dijkstra, threshold=unless_weighted(dispatch.PAIR_PATHS), notes=dispatch.BOTH)
def all_shortest_paths(G: NetworkXGraph, source: Any, target: Any, weight: Any, method: Any) -> Iterator[list[Any]]:
    """Every shortest path between two vertices."""
    return _back(_predecessors(G, source, weight, method), source, target)


@serves(why_not=hops_or_dijkstra, threshold=unless_weighted(dispatch.LISTED_EDGES), notes=dispatch.BOTH)
def single_source_all_shortest_paths(
    G: NetworkXGraph, source: Any, weight: Any, method: Any
) -> Iterator[tuple[Any, list[list[Any]]]]:
    """(vertex, every shortest path to it), for every vertex that the source reaches."""
    before = _predecessors(G, source, weight, method)
    return ((node, list(_back(before, source, node))) for node in before)


@serves(why_not=hops_or_dijkstra, threshold=dispatch.LISTED_EDGES, notes=dispatch.BOTH)
def all_pairs_all_shortest_paths(
    G: NetworkXGraph, weight: Any, method: Any
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
