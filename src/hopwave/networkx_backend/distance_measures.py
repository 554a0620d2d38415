"""Eccentricity, its extremes, and means of distances (networkx.algorithms: distance_measures, wiener, generic)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Unpack

import networkx as nx
import numpy as np

import hopwave as hw
from hopwave.networkx_backend.components import reaches_each_other
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import SINCE_3_7, Place, named_weights, serves
from hopwave.networkx_backend.hops import Measured, blocks, chosen, measured, sums
from hopwave.networkx_backend.networkx_order import search
from hopwave.networkx_backend.notes import LENGTHS
from hopwave.networkx_backend.thresholds import Arguments, of_one_or_all

SINGLE_SOURCE = ("unweighted", "dijkstra", "bellman-ford")
ALL_PAIRS = ("floyd-warshall", "floyd-warshall-numpy")

Given = Mapping[Any, float] | None  # eccentricities that the caller has already


def without_distances(arguments: Arguments) -> str | None:
    """Why not, if the caller gives the distances: there is nothing to search."""
    return named_weights(arguments) if arguments["sp"] is None else "sp= gives the distances: nothing is left to search"


def without_attribute(arguments: Arguments) -> str | None:
    """Why not, if results must be written to an attribute: hopwave never writes to the graph."""
    if arguments["attr"] is not None:
        return "attr= writes to the graph, which hopwave never does"
    return without_distances(arguments)


def by_search(arguments: Arguments) -> str | None:
    """Why not, if the caller names a matrix algorithm: hopwave searches."""
    if arguments["method"] in ALL_PAIRS:
        return f"method={arguments['method']!r} is a matrix algorithm; hopwave searches"
    return named_weights(arguments)


# ------------------------------------------------------------------ eccentricity


@serves(can_run=without_distances, threshold=of_one_or_all("v"), notes=LENGTHS)
def eccentricity(G: NetworkXGraph, v: Any = None, sp: Any = None, weight: Any = None, **place: Unpack[Place]) -> Any:
    """The distance to the farthest vertex: of one vertex, of some, or of all."""
    if SINCE_3_7:
        check_not_null(G)
    nodes = chosen(G, v)
    by = measured(G, weight)
    found = sums(by, [G.number[node] for node in nodes], only="farthest", **place)
    if (found.reached != len(G)).any():
        raise nx.NetworkXError(unreached(G))
    far = dict(zip(nodes, by.numbers(found.farthest), strict=True))
    return far[v] if v in G else far


def unreached(G: NetworkXGraph) -> str:
    """NetworkX's message for a graph that is not connected."""
    kind = "digraph is not strongly connected" if G.directed else "graph is not connected"
    return f"Found infinite path length because the {kind}"


def check_not_null(G: NetworkXGraph) -> None:
    """Raises the error that NetworkX has since version 3.7 for a graph without vertices."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Cannot compute eccentricity of a null graph.")


def check_connected(G: NetworkXGraph, usebounds: Any) -> None:
    """Raises NetworkX's errors for graphs that are empty or not connected."""
    if SINCE_3_7 and (G.directed or usebounds is not True):
        check_not_null(G)
    if len(G) == 0:
        max({}.values())  # Python's own message, which changes between versions
    if not reaches_each_other(G):
        bounded = usebounds is True and not G.directed
        raise nx.NetworkXError("Cannot compute metric because graph is not connected." if bounded else unreached(G))


def extreme(find: Callable[..., float], by: Measured, place: Place) -> float:
    """The least or the greatest eccentricity, as NetworkX returns it."""
    found = find(by.graph, progress=False, weights=by.weighted, **place)
    return int(found) if by.whole else found


@serves(can_run=named_weights, notes=LENGTHS)
def diameter(
    G: NetworkXGraph, e: Given = None, usebounds: Any = False, weight: Any = None, **place: Unpack[Place]
) -> float:
    """The greatest eccentricity. hopwave always uses bounds; NetworkX does with usebounds=True."""
    if e is not None:
        return max(e.values())
    check_connected(G, usebounds)
    return extreme(hw.diameter, measured(G, weight), place)


@serves(can_run=named_weights, notes=LENGTHS)
def radius(
    G: NetworkXGraph, e: Given = None, usebounds: Any = False, weight: Any = None, **place: Unpack[Place]
) -> float:
    """The least eccentricity."""
    if e is not None:
        return min(e.values())
    if len(G) == 0 and (G.directed or usebounds is not True) and not SINCE_3_7:
        min({}.values())
    check_connected(G, usebounds)
    return extreme(hw.radius, measured(G, weight), place)


@serves(can_run=named_weights, notes=LENGTHS)
def periphery(
    G: NetworkXGraph, e: Given = None, usebounds: Any = False, weight: Any = None, **place: Unpack[Place]
) -> list[Any]:
    """The vertices of greatest eccentricity, in the graph's order."""
    if e is not None:
        most = max(e.values())
        return [node for node in e if e[node] == most]
    check_connected(G, usebounds)
    by = measured(G, weight)
    return G.names(sorted(hw.periphery(by.graph, progress=False, weights=by.weighted, **place)))


@serves(can_run=named_weights, notes=LENGTHS)
def center(
    G: NetworkXGraph, e: Given = None, usebounds: Any = False, weight: Any = None, **place: Unpack[Place]
) -> list[Any]:
    """The vertices of least eccentricity, in the graph's order."""
    if e is not None:
        least = min(e.values())
        return [node for node in e if e[node] == least]
    if len(G) == 0 and not G.directed and usebounds is not True and weight is None:
        raise nx.NetworkXPointlessConcept("G has no nodes.")  # NetworkX first tests whether G is a tree
    if len(G) == 0 and (G.directed or usebounds is not True) and not SINCE_3_7:
        min({}.values())
    check_connected(G, usebounds)
    by = measured(G, weight)
    return G.names(sorted(hw.center(by.graph, progress=False, weights=by.weighted, **place)))


# ------------------------------------------------------------------ sums of distances


@serves(can_run=without_attribute, notes=LENGTHS)
def barycenter(
    G: NetworkXGraph, weight: Any = None, attr: Any = None, sp: Any = None, **place: Unpack[Place]
) -> list[Any]:
    """The vertices with the least sum of distances to all others."""
    if len(G) == 0:
        if not G.directed and weight is None:
            raise nx.NetworkXPointlessConcept("G has no nodes.")
        return []
    found = sums(measured(G, weight), **place)
    if (found.reached < len(G)).any():
        raise nx.NetworkXNoPath(
            f"Input graph {G} is disconnected, so every induced subgraph has infinite barycentricity."
        )
    least = np.flatnonzero(found.total == found.total.min())
    if len(least) == 2 and not G.directed and weight is None and G.number_of_edges() == len(G) - 1:
        # NetworkX walks a tree from its first vertex, and lists the two in the order in which it reaches them.
        level = np.empty(len(G), np.int32)
        walk = search(G.out_rows, [0])
        level[walk.order] = walk.level
        least = least[np.argsort(level[least])]
    return G.names(least)


# Before NetworkX 3.7, `centroid` was another function: the centroid of a tree.
serves("centroid", since=(3, 7), can_run=without_attribute, notes="The name of `barycenter` since NetworkX 3.7.")(
    barycenter
)


@serves(can_run=by_search, notes=LENGTHS)
def average_shortest_path_length(
    G: NetworkXGraph, weight: Any = None, method: Any = None, **place: Unpack[Place]
) -> float:
    """The mean distance over all ordered pairs."""
    if method is not None and method not in SINGLE_SOURCE + ALL_PAIRS:
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    if not reaches_each_other(G):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.directed else ''}connected.")
    by = measured(G, None if method == "unweighted" else weight)
    return by.total(sums(by, **place).total) / (n * (n - 1))


@serves(can_run=without_distances, notes=LENGTHS)
def harmonic_diameter(G: NetworkXGraph, sp: Any = None, *, weight: Any = None, **place: Unpack[Place]) -> float:
    """The harmonic mean of distances over all ordered pairs."""
    n = len(G)
    total = float(sums(measured(G, weight), **place).inverse.sum())
    if total != 0:
        return n * (n - 1) / total
    return math.inf if n > 1 else math.nan


@serves(can_run=named_weights, notes=LENGTHS)
def wiener_index(G: NetworkXGraph, weight: Any = None, **place: Unpack[Place]) -> float:
    """The sum of distances over all pairs."""
    if not reaches_each_other(G):
        return math.inf
    by = measured(G, weight)
    total = by.total(sums(by, **place).total)
    return total if G.directed else total / 2


@serves(can_run=named_weights, notes=LENGTHS)
def hyper_wiener_index(G: NetworkXGraph, weight: Any = None, **place: Unpack[Place]) -> float:
    """The sum of distances and their squares over all pairs."""
    if not reaches_each_other(G):
        return math.inf
    by = measured(G, weight)
    if by.weighted:
        return math.fsum(math.fsum(row + row * row) for _, rows in blocks(by, **place) for row in rows) / 2
    pairs: list[int] = sums(by, **place).histogram.tolist()
    return sum(count * (hops + hops**2) for hops, count in enumerate(pairs)) / 2


@serves(can_run=named_weights, notes=LENGTHS)
def schultz_index(G: NetworkXGraph, weight: Any = None, **place: Unpack[Place]) -> float:
    """Σ d(u, v) · (deg(u) + deg(v)) over all pairs."""
    if not reaches_each_other(G):
        return math.inf
    by = measured(G, weight)
    return 2 * by.total(sums(by, **place).total * degrees(G)) / 2


@serves(can_run=named_weights, notes=LENGTHS)
def gutman_index(G: NetworkXGraph, weight: Any = None, **place: Unpack[Place]) -> float:
    """Σ d(u, v) · deg(u) · deg(v) over all pairs."""
    if not reaches_each_other(G):
        return math.inf
    degree = degrees(G)
    by = measured(G, weight)
    return sum(by.total(degree[some] * (rows @ degree)) for some, rows in blocks(by, **place)) / 2


def degrees(G: NetworkXGraph) -> Any:
    """Degrees as NetworkX counts them: a self-loop twice."""
    indptr, indices = G.out_rows
    source = np.repeat(np.arange(len(G)), np.diff(indptr))
    return np.diff(indptr).astype(np.int64) + np.bincount(source[source == indices], minlength=len(G))
