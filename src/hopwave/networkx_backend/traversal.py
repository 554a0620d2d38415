"""Searches in NetworkX's own order, breadth-first traversal (networkx.algorithms: traversal, dag; generators.ego).

hopwave's engines find a level in whatever order is fast. Some results of NetworkX depend on the order: the edges of a
search, which of several shortest paths is returned, the sequence of strong components. For these, sequential kernels
walk the rows that `convert` stored in NetworkX's order: one vertex after another, its neighbours in the order in which
they were added. Numba compiles the kernels on first use and caches them on disk.

`topological_sort` is left to NetworkX, which raises an error if the graph changes between two vertices of the order.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

import hopwave as hw
from hopwave.networkx_backend import dispatch
from hopwave.networkx_backend.convert import NetworkXGraph, Rows, convert_to_nx
from hopwave.networkx_backend.dispatch import SINCE_3_7, serve, serves

Ids = npt.NDArray[np.int32]
DEPRECATED = (  # the warning of NetworkX 3.7
    "\n\nbfs_predecessors is deprecated and will be removed in NetworkX 3.9\n"
    "Use ``(t, s) for (s, t) in bfs_edges`` instead"
)


@cache
def compiled() -> Any:
    """The kernels. Imported when first needed, because importing Numba takes long."""
    from hopwave.engines.cpu import row_order

    return row_order


@dataclass(frozen=True, eq=False)
class Search:
    """Vertices in the order found; for each, its level and the vertex that found it (a source: itself)."""

    order: Ids
    level: Ids
    parent: Ids


def search(rows: Rows, sources: list[int], limit: float | None = None) -> Search:
    """Breadth first from the sources in their order, `limit` hops deep."""
    n = len(rows[0]) - 1
    level, parent, order = np.full(n, -1, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    depth = math.inf if limit is None else float(limit)
    order = order[: compiled().search(*rows, np.array(sources, np.int32), depth, order, level, parent)]
    return Search(order, level[order], parent[order])


def arcs_from(rows: Rows, order: Ids) -> tuple[Any, Any, Any]:
    """Tails, heads and positions of the arcs that leave these vertices, in the order in which a search reads them."""
    indptr, indices = rows
    degree = np.diff(indptr)[order]
    arcs = np.arange(degree.sum()) + np.repeat(indptr[order] - (np.cumsum(degree) - degree), degree)
    return np.repeat(order, degree), indices[arcs], arcs


def pieces(listed: list[Any], ends: Any) -> Iterator[list[Any]]:
    """A list cut at the given ends."""
    return (listed[begin:end] for begin, end in pairwise([0, *ends.tolist()]))


def tree(G: NetworkXGraph, source: Any, reverse: bool = False, depth_limit: Any = None) -> Search:
    """The search that `bfs_edges` and the functions like it return; raises the error of NetworkX's `G.neighbors`."""
    v = G.number.get(source)
    if v is None:
        raise nx.NetworkXError(f"The node {source} is not in the {'digraph' if G.directed else 'graph'}.")
    return search(G.in_rows if reverse else G.out_rows, [v], depth_limit)


def tree_edges(G: NetworkXGraph, found: Search) -> Iterator[tuple[Any, Any]]:
    """(parent, child) for every vertex found, except the source."""
    return zip(G.names(found.parent[1:]), G.names(found.order[1:]), strict=True)


def sources_of(G: NetworkXGraph, sources: Any, ordered: Any) -> list[Any]:
    """One source, or several without repeats."""
    return [sources] if sources in G else list(ordered(sources))


# ------------------------------------------------------------------ edges of a search


@serves(threshold=dispatch.FOUND_BY_SEARCH, notes=dispatch.ORDER)
def generic_bfs_edges(G: NetworkXGraph, source: Any, depth_limit: Any) -> Iterator[tuple[Any, Any]]:
    yield from tree_edges(G, tree(G, source, depth_limit=depth_limit))


@serves(threshold=dispatch.FOUND_BY_SEARCH, notes=dispatch.ORDER)
def bfs_edges(G: NetworkXGraph, source: Any, reverse: bool, depth_limit: Any) -> Iterator[tuple[Any, Any]]:
    yield from tree_edges(G, tree(G, source, reverse, depth_limit))


@serves(threshold=dispatch.FOUND_BY_SEARCH, notes=dispatch.ORDER)
def bfs_tree(G: NetworkXGraph, source: Any, reverse: bool, depth_limit: Any) -> nx.DiGraph:
    T = nx.DiGraph()
    T.add_node(source)
    T.add_edges_from(tree_edges(G, tree(G, source, reverse, depth_limit)))
    return T


@serves(threshold=dispatch.FOUND_BY_SEARCH, notes=dispatch.ORDER)
def bfs_predecessors(G: NetworkXGraph, source: Any, depth_limit: Any) -> Iterator[tuple[Any, Any]]:
    if SINCE_3_7:
        warnings.warn(DEPRECATED, DeprecationWarning, stacklevel=2)
    for parent, child in tree_edges(G, tree(G, source, depth_limit=depth_limit)):
        yield child, parent


@serves(threshold=dispatch.FOUND_BY_SEARCH, notes=dispatch.ORDER)
def bfs_successors(G: NetworkXGraph, source: Any, depth_limit: Any) -> Iterator[tuple[Any, list[Any]]]:
    found = tree(G, source, depth_limit=depth_limit)
    if len(found.order) == 1:
        yield source, []
    for parent, edges in groupby(tree_edges(G, found), key=itemgetter(0)):
        yield parent, [child for _, child in edges]


@serves(threshold=dispatch.LAYERS, notes=dispatch.ORDER)
def bfs_layers(G: NetworkXGraph, sources: Any) -> Iterator[list[Any]]:
    first = sources_of(G, sources, set)
    for source in first:
        if source not in G:
            raise nx.NetworkXError(f"The node {source} is not in the graph.")
    found = search(G.out_rows, [G.number[source] for source in first])
    ends = np.flatnonzero(np.diff(found.level, append=found.level[-1:] + 1)) + 1
    yield from pieces(G.names(found.order), ends)


@serves(threshold=dispatch.LISTED_EDGES, notes=dispatch.ORDER)
def bfs_labeled_edges(G: NetworkXGraph, sources: Any) -> Iterator[tuple[Any, Any, str]]:
    found = search(G.out_rows, [G.number[source] for source in sources_of(G, sources, dict.fromkeys)])
    place = np.empty(len(G), np.int32)
    place[found.order] = np.arange(len(found.order), dtype=np.int32)
    u, v, _ = arcs_from(G.out_rows, found.order)
    level_u, level_v = found.level[place[u]], found.level[place[v]]
    # A source is its own parent, so the level is tested too: a self-loop at a source is not a tree edge.
    is_tree = (found.parent[place[v]] == u) & (level_v == level_u + 1)
    is_level = (level_u == level_v) & (G.directed | (place[v] >= place[u]))
    kind = np.select([is_tree, is_level, level_u < level_v, (level_u > level_v) & G.directed], [0, 1, 2, 3], 4)
    kept = kind < 4
    labels = ("tree", "level", "forward", "reverse")
    for a, b, which in zip(G.names(u[kept]), G.names(v[kept]), kind[kept].tolist(), strict=True):
        yield a, b, labels[which]


# ------------------------------------------------------------------ sets of vertices


@serves(threshold=dispatch.NEAR)
def descendants_at_distance(G: NetworkXGraph, source: Any, distance: Any) -> set[Any]:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    found = search(G.out_rows, [G.number[source]], distance if isinstance(distance, int | float) else None)
    return set(G.names(found.order[found.level == distance]))


serve(
    {
        "descendants": lambda G, source: set(G.names(tree(G, source).order[1:])),
        "ancestors": lambda G, source: set(G.names(tree(G, source, reverse=True).order[1:])),
    },
    threshold=dispatch.FOUND_BY_SEARCH,
)
serve({"is_directed_acyclic_graph": lambda G: hw.is_directed_acyclic_graph(G.graph)}, threshold=dispatch.ONE_SEARCH)


@serves(threshold=dispatch.NEAR_GRAPH, notes="Unweighted; the attributes are copied from the graph itself.")
def ego_graph(G: NetworkXGraph, n: Any, radius: Any, center: bool, undirected: bool) -> nx.Graph:
    if n not in G:
        raise nx.NodeNotFound(f"Source {n} is not in G")
    near = search(G.rows_both_ways if undirected else G.out_rows, [G.number[n]], radius)
    original = convert_to_nx(G) if G.original is None else G.original
    H = original.subgraph(G.names(near.order)).copy()
    if not center:
        H.remove_node(n)
    return H
