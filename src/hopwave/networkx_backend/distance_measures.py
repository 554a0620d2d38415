"""Eccentricity, its extremes, and means of distances (networkx.algorithms: distance_measures, wiener, generic)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Unpack

import networkx as nx
import numpy as np

import hopwave as hw
from hopwave.networkx_backend.components import reaches_each_other
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import Arguments, Place, serves, unweighted
from hopwave.networkx_backend.hops import blocks, chosen, sums
from hopwave.networkx_backend.order import search

SINGLE_SOURCE = ("unweighted", "dijkstra", "bellman-ford")
ALL_PAIRS = ("floyd-warshall", "floyd-warshall-numpy")

Given = Mapping[Any, int] | None  # eccentricities that the caller has already


def without_distances(arguments: Arguments) -> str | None:
    """The caller's distances need no search, and need not be shortest ones."""
    return unweighted(arguments) if arguments["sp"] is None else "sp= gives the distances: nothing is left to search"


def without_attribute(arguments: Arguments) -> str | None:
    """A converted graph has no attributes to write to."""
    if arguments["attr"] is not None:
        return "attr= writes to the graph, which hopwave never does"
    return without_distances(arguments)


def by_search(arguments: Arguments) -> str | None:
    """Matrix algorithms find the same distances; a caller who names one gets it."""
    if arguments["method"] in ALL_PAIRS:
        return f"method={arguments['method']!r} is a matrix algorithm; hopwave searches"
    return unweighted(arguments)


# ------------------------------------------------------------------ eccentricity


@serves(can_run=without_distances)
def eccentricity(G: NetworkXGraph, v: Any = None, sp: Any = None, weight: Any = None, **place: Unpack[Place]) -> Any:
    """Hops to the farthest vertex: of one vertex, of some, or of all."""
    nodes = chosen(G, v)
    found = sums(G.graph, [G.number[node] for node in nodes], **place)
    if (found.reached != len(G)).any():
        raise nx.NetworkXError(unreached(G))
    far = dict(zip(nodes, found.farthest.tolist(), strict=True))
    return far[v] if v in G else far


def unreached(G: NetworkXGraph) -> str:
    """NetworkX's message for a graph that is not connected."""
    kind = "digraph is not strongly connected" if G.directed else "graph is not connected"
    return f"Found infinite path length because the {kind}"


def check_connected(G: NetworkXGraph, usebounds: Any) -> None:
    """Raises NetworkX's errors where eccentricities have no least or greatest value."""
    if len(G) == 0:
        max({}.values())  # Python's own message, which changes between versions
    if not reaches_each_other(G):
        bounded = usebounds is True and not G.directed
        raise nx.NetworkXError("Cannot compute metric because graph is not connected." if bounded else unreached(G))


@serves(can_run=unweighted)
def diameter(
    G: NetworkXGraph, e: Given = None, usebounds: Any = False, weight: Any = None, **place: Unpack[Place]
) -> int:
    """The greatest eccentricity. hopwave always uses bounds; NetworkX does with usebounds=True."""
    if e is not None:
        return max(e.values())
    check_connected(G, usebounds)
    return int(hw.diameter(G.graph, progress=False, **place))


@serves(can_run=unweighted)
def radius(
    G: NetworkXGraph, e: Given = None, usebounds: Any = False, weight: Any = None, **place: Unpack[Place]
) -> int:
    """The least eccentricity."""
    if e is not None:
        return min(e.values())
    if len(G) == 0 and (G.directed or usebounds is not True):
        min({}.values())
    check_connected(G, usebounds)
    return int(hw.radius(G.graph, progress=False, **place))


@serves(can_run=unweighted)
def periphery(
    G: NetworkXGraph, e: Given = None, usebounds: Any = False, weight: Any = None, **place: Unpack[Place]
) -> list[Any]:
    """The vertices of greatest eccentricity, in the graph's order."""
    if e is not None:
        most = max(e.values())
        return [node for node in e if e[node] == most]
    check_connected(G, usebounds)
    return G.names(sorted(hw.periphery(G.graph, progress=False, **place)))


@serves(can_run=unweighted)
def center(
    G: NetworkXGraph, e: Given = None, usebounds: Any = False, weight: Any = None, **place: Unpack[Place]
) -> list[Any]:
    """The vertices of least eccentricity, in the graph's order."""
    if e is not None:
        least = min(e.values())
        return [node for node in e if e[node] == least]
    if len(G) == 0 and not G.directed and usebounds is not True:
        raise nx.NetworkXPointlessConcept("G has no nodes.")  # NetworkX first tests whether it is a tree
    if len(G) == 0 and G.directed:
        min({}.values())
    check_connected(G, usebounds)
    return G.names(sorted(hw.center(G.graph, progress=False, **place)))


# ------------------------------------------------------------------ sums of distances


@serves(can_run=without_attribute)
def barycenter(
    G: NetworkXGraph, weight: Any = None, attr: Any = None, sp: Any = None, **place: Unpack[Place]
) -> list[Any]:
    """The vertices with the least sum of hops to all others."""
    if len(G) == 0:
        if not G.directed:
            raise nx.NetworkXPointlessConcept("G has no nodes.")
        return []
    found = sums(G.graph, **place)
    if (found.reached < len(G)).any():
        raise nx.NetworkXNoPath(
            f"Input graph {G} is disconnected, so every induced subgraph has infinite barycentricity."
        )
    least = np.flatnonzero(found.total == found.total.min())
    if len(least) == 2 and not G.directed and G.number_of_edges() == len(G) - 1:
        # NetworkX walks a tree from its first vertex and lists first the one it reaches first.
        level = np.empty(len(G), np.int32)
        walk = search(G.out_rows, [0])
        level[walk.order] = walk.level
        least = least[np.argsort(level[least])]
    return G.names(least)


@serves(can_run=by_search)
def average_shortest_path_length(
    G: NetworkXGraph, weight: Any = None, method: Any = None, **place: Unpack[Place]
) -> float:
    """The mean of hops over all ordered pairs."""
    if method is not None and method not in SINGLE_SOURCE + ALL_PAIRS:
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    if not reaches_each_other(G):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.directed else ''}connected.")
    return int(sums(G.graph, **place).total.sum()) / (n * (n - 1))


@serves(can_run=without_distances)
def harmonic_diameter(G: NetworkXGraph, sp: Any = None, *, weight: Any = None, **place: Unpack[Place]) -> float:
    """The harmonic mean of hops over all ordered pairs."""
    n = len(G)
    total = float(sums(G.graph, **place).inverse.sum())
    if total != 0:
        return n * (n - 1) / total
    return math.inf if n > 1 else math.nan


@serves(can_run=unweighted)
def wiener_index(G: NetworkXGraph, weight: Any = None, **place: Unpack[Place]) -> float:
    """The sum of hops over all pairs."""
    if not reaches_each_other(G):
        return math.inf
    total = int(sums(G.graph, **place).total.sum())
    return total if G.directed else total / 2


@serves(can_run=unweighted)
def hyper_wiener_index(G: NetworkXGraph, weight: Any = None, **place: Unpack[Place]) -> float:
    """The sum of hops and their squares over all pairs."""
    if not reaches_each_other(G):
        return math.inf
    pairs: list[int] = sums(G.graph, **place).histogram.tolist()
    return sum(count * (hops + hops**2) for hops, count in enumerate(pairs)) / 2


@serves(can_run=unweighted)
def schultz_index(G: NetworkXGraph, weight: Any = None, **place: Unpack[Place]) -> float:
    """The sum over all pairs of hops times the sum of the two degrees."""
    if not reaches_each_other(G):
        return math.inf
    return int(2 * (sums(G.graph, **place).total * degrees(G)).sum()) / 2


@serves(can_run=unweighted)
def gutman_index(G: NetworkXGraph, weight: Any = None, **place: Unpack[Place]) -> float:
    """The sum over all pairs of hops times the product of the two degrees."""
    if not reaches_each_other(G):
        return math.inf
    degree = degrees(G)
    return sum(int(degree[some] @ (hops @ degree)) for some, hops in blocks(G.graph, **place)) / 2


def degrees(G: NetworkXGraph) -> Any:
    """Degrees as NetworkX counts them: a self-loop twice."""
    indptr, indices = G.out_rows
    source = np.repeat(np.arange(len(G)), np.diff(indptr))
    return np.diff(indptr).astype(np.int64) + np.bincount(source[source == indices], minlength=len(G))
