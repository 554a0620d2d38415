"""Shortest paths in hops, and between chosen or all vertices (networkx.algorithms.shortest_paths: unweighted, generic).

Functions that differ only in their ends or in what they return are made from one table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np

from hopwave.algorithms.shortest_paths import simple_paths
from hopwave.networkx_backend import dispatch, weighted
from hopwave.networkx_backend.convert import NetworkXGraph, Rows
from hopwave.networkx_backend.dispatch import Threshold, by_ends, hops_or_dijkstra, serve, serves, unless_weighted
from hopwave.networkx_backend.traversal import arcs_from, pieces, search

Paths = dict[Any, list[Any]]


def max_levels(cutoff: Any) -> float:
    """How many levels NetworkX's loops run for a cutoff: at least one, and all levels for 0 or None."""
    return max(1, cutoff) if cutoff else float("inf")


def lengths(G: NetworkXGraph, rows: Rows, v: int, cutoff: Any = None, backwards: bool = False) -> dict[Any, int]:
    """Hops from v (or to v) by node, nearest first."""
    found = search(rows, [v], cutoff)
    return dict(zip(G.names(found.order), found.level.tolist(), strict=True))


def paths(G: NetworkXGraph, rows: Rows, v: int, cutoff: Any = None, backwards: bool = False) -> Paths:
    """A path from v to each node, nearest nodes first; if `backwards`, from each node to v."""
    found = search(rows, [v], cutoff)
    names = G.names(found.order)
    by_id: dict[int, list[Any]] = {v: names[:1]}
    for w, parent, name in zip(found.order[1:].tolist(), found.parent[1:].tolist(), names[1:], strict=True):
        by_id[w] = [name, *by_id[parent]] if backwards else [*by_id[parent], name]
    return by_id if G.plain else dict(zip(names, by_id.values(), strict=True))


def from_one(
    read: Any, G: NetworkXGraph, source: Any, cutoff: Any = None, end: str = "Source", to: bool = False
) -> Any:
    """Lengths or paths (`read`) from a source, or to a target; NetworkX's error calls it `end`."""
    if source not in G:
        raise nx.NodeNotFound(f"{end} {source} {'is ' if read is lengths else ''}not in G")
    return read(G, G.in_rows if to else G.out_rows, G.number[source], cutoff, to)


def from_all(read: Any, G: NetworkXGraph, cutoff: Any = None) -> Iterator[tuple[Any, Any]]:
    return ((node, read(G, G.out_rows, v, cutoff)) for v, node in enumerate(G.nodes))


def _family(read: Any, suffix: str, threshold: Threshold) -> None:
    one_end: dict[str, Any] = {
        f"single_source_shortest_path{suffix}": lambda G, source, cutoff: from_one(read, G, source, cutoff),
        f"single_target_shortest_path{suffix}": lambda G, target, cutoff: from_one(
            read, G, target, cutoff, "Target", True
        ),
    }
    serve(one_end, threshold=threshold, notes=dispatch.ORDER)
    serve({f"all_pairs_shortest_path{suffix}": lambda G, cutoff: from_all(read, G, cutoff)}, notes=dispatch.ORDER)


_family(lengths, "_length", dispatch.ONE_SEARCH)
_family(paths, "", dispatch.LISTED_PATHS)


@serves(threshold=dispatch.PAIR, notes=dispatch.CONVERTED_BEFORE)
def bidirectional_shortest_path(G: NetworkXGraph, source: Any, target: Any) -> list[Any]:
    weighted.check_ends(G, source, target)
    path = weighted.pair(G.out_rows, G.in_rows, G.number[source], G.number[target])
    if path is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return G.names(path)


@serves(threshold=dispatch.LISTED_PATHS, notes=dispatch.ORDER)
def predecessor(G: NetworkXGraph, source: Any, target: Any = None, cutoff: Any = None, return_seen: Any = None) -> Any:
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    found = search(G.out_rows, [G.number[source]], max_levels(cutoff))
    names = G.names(found.order)
    place = np.full(len(G), -1, np.int32)
    place[found.order] = np.arange(len(found.order), dtype=np.int32)
    u, v, _ = arcs_from(G.out_rows, found.order)
    u, v = place[u], place[v]
    leads = (v >= 0) & (found.level[v] == found.level[u] + 1)
    u, v = u[leads], v[leads]
    before = G.names(found.order[u[np.argsort(v, kind="stable")]])
    pred = dict(zip(names, pieces(before, np.cumsum(np.bincount(v, minlength=len(names)))), strict=True))
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
    try:
        shortest_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


@serves(why_not=hops_or_dijkstra, threshold=by_ends(dispatch.LISTED_PATHS), notes=ENDS)
def shortest_path(
    G: NetworkXGraph, source: Any = None, target: Any = None, weight: Any = None, method: Any = "dijkstra"
) -> Any:
    check_method(method)
    if source is not None and target is not None:
        if weight is None:
            return bidirectional_shortest_path(G, source, target)
        return weighted.bidirectional_dijkstra(G, source, target, weight)[1]
    found = _ways(paths, weighted.Search.paths, G, source, target, weight)
    if weight is None or target is None:
        return found
    return {node: path[::-1] for node, path in found.items()}


@serves(why_not=hops_or_dijkstra, threshold=by_ends(dispatch.ONE_SEARCH), notes=ENDS)
def shortest_path_length(
    G: NetworkXGraph, source: Any = None, target: Any = None, weight: Any = None, method: Any = "dijkstra"
) -> Any:
    check_method(method)
    if source is not None and target is not None:
        if weight is None:
            return len(bidirectional_shortest_path(G, source, target)) - 1
        return weighted.dijkstra_path_length(G, source, target, weight)
    return _ways(lengths, weighted.Search.distances, G, source, target, weight)


def _ways(in_hops: Any, along: Any, G: NetworkXGraph, source: Any, target: Any, weight: Any) -> Any:
    """Lengths or paths from a source, to a target, or of all pairs; along weights, a path to a target begins at it."""
    if weight is None:
        if source is None and target is None:
            return from_all(in_hops, G)
        # NetworkX searches from a target in the reversed graph, as if it were a source.
        return from_one(in_hops, G, target if source is None else source, to=source is None)
    if source is None and target is None:
        return ((node, along(run)) for node, run in weighted.searches(G, None, weight))
    if source is not None:
        return along(weighted.search(G, {source}, weight))
    return along(replace(weighted.search(G, [target], weight), backwards=True))


def _predecessors(G: NetworkXGraph, source: Any, weight: Any, method: Any) -> dict[Any, list[Any]]:
    """All predecessors on shortest paths from the source, in hops or along an edge attribute."""
    if weight is None or method == "unweighted":
        hops: dict[Any, list[Any]] = predecessor(G, source)
        return hops
    check_method(method)
    return weighted.dijkstra_predecessor_and_distance(G, source, None, weight)[0]


@serves(why_not=hops_or_dijkstra, threshold=unless_weighted(dispatch.PAIR_PATHS), notes=dispatch.BOTH)
def all_shortest_paths(G: NetworkXGraph, source: Any, target: Any, weight: Any, method: Any) -> Iterator[list[Any]]:
    return _back(_predecessors(G, source, weight, method), source, target)


@serves(why_not=hops_or_dijkstra, threshold=unless_weighted(dispatch.LISTED_EDGES), notes=dispatch.BOTH)
def single_source_all_shortest_paths(
    G: NetworkXGraph, source: Any, weight: Any, method: Any
) -> Iterator[tuple[Any, list[list[Any]]]]:
    before = _predecessors(G, source, weight, method)
    return ((node, list(_back(before, source, node))) for node in before)


@serves(why_not=hops_or_dijkstra, threshold=dispatch.LISTED_EDGES, notes=dispatch.BOTH)
def all_pairs_all_shortest_paths(
    G: NetworkXGraph, weight: Any, method: Any
) -> Iterator[tuple[Any, dict[Any, list[list[Any]]]]]:
    if weight is not None:
        G.lengths_of(weight)  # may raise NotImplementedError, which NetworkX must see before the iterator starts
    return ((node, dict(single_source_all_shortest_paths(G, node, weight, method))) for node in G.nodes)


def _back(before: dict[Any, list[Any]], source: Any, target: Any) -> Iterator[list[Any]]:
    """Every path from source to target, by predecessors. No path visits a vertex twice, even if arcs have length 0."""
    if target not in before:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    yield from simple_paths(lambda node: iter(before[node]), source, target)
