"""Searches in NetworkX's own order, breadth-first traversal (networkx.algorithms: traversal, dag; generators.ego).

hopwave's engines find a level in whatever order is fast. Some results of NetworkX depend on the order: the edges of a
search, which of several shortest paths is returned, the sequence of strong components. For these, sequential kernels
walk the rows that `convert` stored in NetworkX's order: one vertex after another, its neighbours in the order in which
they were added. Numba compiles the kernels on first use and caches them on disk.

`topological_sort` is left to NetworkX, which raises an error if the graph changes between two vertices of the order.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

import hopwave as hw
from hopwave.networkx_backend import dispatch
from hopwave.networkx_backend.convert import NetworkXGraph, Rows, convert_to_nx
from hopwave.networkx_backend.dispatch import SINCE_3_7, serves

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


def search(rows: Rows, sources: list[int], limit: float = float("inf")) -> Search:
    """Breadth first from the sources in their order, `limit` hops deep."""
    n = len(rows[0]) - 1
    level, parent, order = np.full(n, -1, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    found = compiled().search(*rows, np.array(sources, np.int32), float(limit), order, level, parent)
    order = order[:found]
    return Search(order, level[order], parent[order])


def arcs_from(rows: Rows, found: Search) -> tuple[Any, Any]:
    """Tails and heads of the arcs that leave the vertices found, in the order in which the search reads them."""
    indptr, indices = rows
    degree = (indptr[1:] - indptr[:-1])[found.order]
    ends = np.cumsum(degree)
    total = int(ends[-1]) if len(ends) else 0
    step = np.arange(total) + np.repeat(indptr[found.order] - (ends - degree), degree)
    return np.repeat(found.order, degree), indices[step]


def tree(G: NetworkXGraph, source: Any, reverse: bool = False, depth_limit: Any = None) -> Search:
    """The search that `bfs_edges` and the functions like it return; raises the error of NetworkX's `G.neighbors`."""
    v = G.number.get(source)
    if v is None:
        raise nx.NetworkXError(f"The node {source} is not in the {'digraph' if G.directed else 'graph'}.")
    return search(G.in_rows if reverse else G.out_rows, [v], float("inf") if depth_limit is None else depth_limit)


def tree_edges(G: NetworkXGraph, found: Search) -> Iterator[tuple[Any, Any]]:
    """(parent, child) for every vertex found, except the source."""
    return zip(G.names(found.parent[1:]), G.names(found.order[1:]), strict=True)


def sources_of(G: NetworkXGraph, sources: Any, ordered: Any) -> list[Any]:
    """One source, or several without repeats."""
    return [sources] if sources in G else list(ordered(sources))


# ------------------------------------------------------------------ edges of a search


@serves(threshold=dispatch.FOUND_BY_SEARCH, notes=dispatch.ORDER)
def generic_bfs_edges(G: NetworkXGraph, source: Any, depth_limit: Any) -> Iterator[tuple[Any, Any]]:
    """Edges of a search, in its order."""
    yield from tree_edges(G, tree(G, source, depth_limit=depth_limit))


@serves(threshold=dispatch.FOUND_BY_SEARCH, notes=dispatch.ORDER)
def bfs_edges(G: NetworkXGraph, source: Any, reverse: bool, depth_limit: Any) -> Iterator[tuple[Any, Any]]:
    """Edges of a search, in its order."""
    yield from tree_edges(G, tree(G, source, reverse, depth_limit))


@serves(threshold=dispatch.FOUND_BY_SEARCH, notes=dispatch.ORDER)
def bfs_tree(G: NetworkXGraph, source: Any, reverse: bool, depth_limit: Any) -> nx.DiGraph:
    """The tree of a search, as a NetworkX DiGraph."""
    T = nx.DiGraph()
    T.add_node(source)
    T.add_edges_from(tree_edges(G, tree(G, source, reverse, depth_limit)))
    return T


@serves(threshold=dispatch.FOUND_BY_SEARCH, notes=dispatch.ORDER)
def bfs_predecessors(G: NetworkXGraph, source: Any, depth_limit: Any) -> Iterator[tuple[Any, Any]]:
    """(vertex, its predecessor), in the order of the search."""
    if SINCE_3_7:
        warnings.warn(DEPRECATED, DeprecationWarning, stacklevel=2)
    for parent, child in tree_edges(G, tree(G, source, depth_limit=depth_limit)):
        yield child, parent


@serves(threshold=dispatch.FOUND_BY_SEARCH, notes=dispatch.ORDER)
def bfs_successors(G: NetworkXGraph, source: Any, depth_limit: Any) -> Iterator[tuple[Any, list[Any]]]:
    """(vertex, its successors), in the order of the search; the source even if it has none."""
    found = tree(G, source, depth_limit=depth_limit)
    if len(found.order) == 1:
        yield source, []
    for parent, edges in groupby(tree_edges(G, found), key=itemgetter(0)):
        yield parent, [child for _, child in edges]


@serves(threshold=dispatch.LAYERS, notes=dispatch.ORDER)
def bfs_layers(G: NetworkXGraph, sources: Any) -> Iterator[list[Any]]:
    """The vertices at 0, 1, 2, … hops from the nearest source."""
    first = sources_of(G, sources, set)
    for source in first:
        if source not in G:
            raise nx.NetworkXError(f"The node {source} is not in the graph.")
    found = search(G.out_rows, [G.number[source] for source in first])
    ends = np.flatnonzero(np.diff(found.level, append=found.level[-1:] + 1)) + 1
    begin = 0
    for end in ends.tolist():
        yield G.names(found.order[begin:end])
        begin = end


@serves(threshold=dispatch.LISTED_EDGES, notes=dispatch.ORDER)
def bfs_labeled_edges(G: NetworkXGraph, sources: Any) -> Iterator[tuple[Any, Any, str]]:
    """Every edge that a search reads, with its label: tree, level, forward or (directed) reverse."""
    found = search(G.out_rows, [G.number[source] for source in sources_of(G, sources, dict.fromkeys)])
    place = np.empty(len(G), np.int32)
    place[found.order] = np.arange(len(found.order), dtype=np.int32)
    u, v = arcs_from(G.out_rows, found)
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
    """The vertices at exactly that many hops."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    limit = distance if isinstance(distance, int | float) else float("inf")
    found = search(G.out_rows, [G.number[source]], limit)
    return set(G.names(found.order[found.level == distance]))


@serves(threshold=dispatch.FOUND_BY_SEARCH)
def descendants(G: NetworkXGraph, source: Any) -> set[Any]:
    """Every vertex that the source reaches, except itself."""
    return set(G.names(tree(G, source).order[1:]))


@serves(threshold=dispatch.FOUND_BY_SEARCH)
def ancestors(G: NetworkXGraph, source: Any) -> set[Any]:
    """Every vertex that reaches the source, except itself."""
    return set(G.names(tree(G, source, reverse=True).order[1:]))


@serves(threshold=dispatch.ONE_SEARCH)
def is_directed_acyclic_graph(G: NetworkXGraph) -> bool:
    """Whether the graph is directed and has no cycle."""
    return hw.is_directed_acyclic_graph(G.graph)


@serves(threshold=dispatch.NEAR_GRAPH, notes="Unweighted; the attributes are copied from the graph itself.")
def ego_graph(G: NetworkXGraph, n: Any, radius: Any, center: bool, undirected: bool) -> nx.Graph:
    """The subgraph of the vertices within `radius` hops of n, as a NetworkX graph with its attributes."""
    if n not in G:
        raise nx.NodeNotFound(f"Source {n} is not in G")
    rows = (G.both_ways.indptr, G.both_ways.indices) if undirected and G.directed else G.out_rows
    near = search(rows, [G.number[n]], float("inf") if radius is None else radius)
    original = convert_to_nx(G) if G.original is None else G.original
    H = original.subgraph(G.names(near.order)).copy()
    if not center:
        H.remove_node(n)
    return H
