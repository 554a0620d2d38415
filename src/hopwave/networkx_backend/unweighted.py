"""Shortest paths counted in hops (networkx.algorithms.shortest_paths.unweighted)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from hopwave.networkx_backend.convert import NetworkXGraph, Rows
from hopwave.networkx_backend.dispatch import serves
from hopwave.networkx_backend.networkx_order import max_levels, pair, search
from hopwave.networkx_backend.notes import CONVERTED_BEFORE, ORDER
from hopwave.networkx_backend.thresholds import LISTED_PATHS, ONE_SEARCH, PAIR
from hopwave.networkx_backend.traversal import arcs_from

Paths = dict[Any, list[Any]]
Lengths = dict[Any, int]


def lengths(G: NetworkXGraph, rows: Rows, v: int, cutoff: Any) -> Lengths:
    """Hops from v by node, nearest first."""
    found = search(rows, [v], math.inf if cutoff is None else cutoff)
    return dict(zip(G.names(found.order), found.level.tolist(), strict=True))


def paths(G: NetworkXGraph, rows: Rows, v: int, cutoff: Any, *, backwards: bool = False) -> Paths:
    """A path from v to each node, nearest nodes first; if `backwards`, from each node to v."""
    found = search(rows, [v], math.inf if cutoff is None else cutoff)
    names = G.names(found.order)
    by_id: dict[int, list[Any]] = {v: names[:1]}
    for w, parent, name in zip(found.order[1:].tolist(), found.parent[1:].tolist(), names[1:], strict=True):
        by_id[w] = [name, *by_id[parent]] if backwards else [*by_id[parent], name]
    return by_id if G.plain else dict(zip(names, by_id.values(), strict=True))


@serves(threshold=ONE_SEARCH, notes=ORDER)
def single_source_shortest_path_length(G: NetworkXGraph, source: Any, cutoff: Any = None) -> Lengths:
    """Hops from the source to every vertex it reaches."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return lengths(G, G.out_rows, G.number[source], cutoff)


@serves(threshold=ONE_SEARCH, notes=ORDER)
def single_target_shortest_path_length(G: NetworkXGraph, target: Any, cutoff: Any = None) -> Lengths:
    """Hops to the target from every vertex that reaches it."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return lengths(G, G.in_rows, G.number[target], cutoff)


@serves(notes=ORDER)
def all_pairs_shortest_path_length(G: NetworkXGraph, cutoff: Any = None) -> Iterator[tuple[Any, Lengths]]:
    """(source, hops from it) for every source."""
    for v, node in enumerate(G.nodes):
        yield node, lengths(G, G.out_rows, v, cutoff)


@serves(threshold=LISTED_PATHS, notes=ORDER)
def single_source_shortest_path(G: NetworkXGraph, source: Any, cutoff: Any = None) -> Paths:
    """One shortest path from the source to every vertex it reaches."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    return paths(G, G.out_rows, G.number[source], cutoff)


@serves(threshold=LISTED_PATHS, notes=ORDER)
def single_target_shortest_path(G: NetworkXGraph, target: Any, cutoff: Any = None) -> Paths:
    """One shortest path to the target from every vertex that reaches it."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} not in G")
    return paths(G, G.in_rows, G.number[target], cutoff, backwards=True)


@serves(notes=ORDER)
def all_pairs_shortest_path(G: NetworkXGraph, cutoff: Any = None) -> Iterator[tuple[Any, Paths]]:
    """(source, paths from it) for every source."""
    for v, node in enumerate(G.nodes):
        yield node, paths(G, G.out_rows, v, cutoff)


@serves(threshold=PAIR, notes=CONVERTED_BEFORE)
def bidirectional_shortest_path(G: NetworkXGraph, source: Any, target: Any) -> list[Any]:
    """A shortest path, found from both ends."""
    for role, node in (("Source", source), ("Target", target)):
        if node not in G:
            raise nx.NodeNotFound(f"{role} {node} is not in G")
    path = pair(G.out_rows, G.in_rows, G.number[source], G.number[target])
    if path is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return G.names(path)


@serves(threshold=LISTED_PATHS, notes=ORDER)
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
