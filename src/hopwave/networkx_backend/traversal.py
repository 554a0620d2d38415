"""Searches in NetworkX's order: breadth-first traversal, components, bridges, two colours (networkx.algorithms:
traversal, dag, components, bridges, bipartite.basic; generators.ego).

Some results of NetworkX depend on the order of neighbours. For these, sequential kernels read the rows that `convert`
stored in NetworkX's order. `topological_sort` runs in NetworkX, which detects changes of the graph during iteration.
"""

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

import hopwave as hw
from hopwave.graph import Graph
from hopwave.networkx_backend import dispatch
from hopwave.networkx_backend.convert import NetworkXGraph, Rows, convert_to_nx
from hopwave.networkx_backend.dispatch import SINCE_3_7, Threshold, serves
from hopwave.system.threads import imported

Ids = npt.NDArray[np.int32]
compiled = partial(imported, "hopwave.engines.cpu.row_order")  # when first needed: importing Numba is slow
DEPRECATED = (  # the warning of NetworkX 3.7
    "\n\nbfs_predecessors is deprecated and will be removed in NetworkX 3.9\n"
    "Use ``(t, s) for (s, t) in bfs_edges`` instead"
)


@dataclass(frozen=True, eq=False)
class Search:
    """Vertices in the order found, with the level and the parent of each (a source is its own parent)."""

    order: Ids
    level: Ids
    parent: Ids


def searched(rows: Rows, sources: list[int], limit: float | None = None) -> tuple[Ids, Ids, Ids]:
    """A search from the sources in their order: the vertices found; level (or −1) and parent of every vertex."""
    n = len(rows[0]) - 1
    level, parent, order = np.full(n, -1, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    depth = math.inf if limit is None else float(limit)
    found = compiled().search(*rows, np.array(sources, np.int32), depth, order, level, parent)
    return order[:found], level, parent


def search(rows: Rows, sources: list[int], limit: float | None = None) -> Search:
    """Breadth-first search from the sources in their order, `limit` hops deep."""
    order, level, parent = searched(rows, sources, limit)
    return Search(order, level[order], parent[order])


def arcs_from(rows: Rows, order: Ids) -> tuple[Any, Any, Any]:
    """Tails, heads and positions of the arcs that leave these vertices, in the order in which a search reads them."""
    indptr, indices = rows
    degree = np.diff(indptr)[order]
    arcs = np.arange(degree.sum()) + np.repeat(indptr[order] - (np.cumsum(degree) - degree), degree)
    return np.repeat(order, degree), indices[arcs], arcs


def pieces(listed: list[Any], ends: Any) -> Iterator[list[Any]]:
    """Split a list at `ends`."""
    return (listed[begin:end] for begin, end in pairwise([0, *ends.tolist()]))


def tree(G: NetworkXGraph, source: Any, reverse: bool = False, depth_limit: Any = None) -> Search:
    """The search behind `bfs_edges` and similar functions; raises the error of NetworkX's `G.neighbors`."""
    v = G.number.get(source)
    if v is None:
        raise nx.NetworkXError(f"The node {source} is not in the {'digraph' if G.directed else 'graph'}.")
    return search(G.in_rows if reverse else G.out_rows, [v], depth_limit)


def tree_edges(G: NetworkXGraph, found: Search) -> Iterator[tuple[Any, Any]]:
    """(parent, child) for every vertex found, except the source."""
    return zip(G.names(found.parent[1:]), G.names(found.order[1:]), strict=True)


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
    first = [sources] if sources in G else list(set(sources))
    for source in first:
        if source not in G:
            raise nx.NetworkXError(f"The node {source} is not in the graph.")
    found = search(G.out_rows, [G.number[source] for source in first])
    ends = np.flatnonzero(np.diff(found.level, append=found.level[-1:] + 1)) + 1
    yield from pieces(G.names(found.order), ends)


@serves(threshold=dispatch.LISTED_EDGES, notes=dispatch.ORDER)
def bfs_labeled_edges(G: NetworkXGraph, sources: Any) -> Iterator[tuple[Any, Any, str]]:
    first = [sources] if sources in G else dict.fromkeys(sources)
    found = search(G.out_rows, [G.number[source] for source in first])
    place = np.empty(len(G), np.int32)
    place[found.order] = np.arange(len(found.order), dtype=np.int32)
    u, v, _ = arcs_from(G.out_rows, found.order)
    level_u, level_v = found.level[place[u]], found.level[place[v]]
    # A source is its own parent, so the level is also tested: a self-loop at a source is not a tree edge.
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


@serves(threshold=dispatch.FOUND_BY_SEARCH)
def descendants(G: NetworkXGraph, source: Any) -> set[Any]:
    return set(G.names(tree(G, source).order[1:]))


@serves(threshold=dispatch.FOUND_BY_SEARCH)
def ancestors(G: NetworkXGraph, source: Any) -> set[Any]:
    return set(G.names(tree(G, source, reverse=True).order[1:]))


serves("is_directed_acyclic_graph", threshold=dispatch.ONE_SEARCH)(lambda G: hw.is_directed_acyclic_graph(G.graph))


@serves(threshold=dispatch.NEAR_GRAPH, notes="Unweighted; attributes are copied from the graph.")
def ego_graph(G: NetworkXGraph, n: Any, radius: Any, center: bool, undirected: bool) -> nx.Graph:
    if n not in G:
        raise nx.NodeNotFound(f"Source {n} is not in G")
    near = search(G.rows_both_ways if undirected else G.out_rows, [G.number[n]], radius)
    original = convert_to_nx(G) if G.original is None else G.original
    H = original.subgraph(G.names(near.order)).copy()
    if not center:
        H.remove_node(n)
    return H


# ------------------------------------------------------------------ connected components

IN_ORDER = "In the order in which NetworkX finds them."


def labelled(graph: Graph) -> tuple[Ids, int]:
    """The component of every vertex, numbered in the order of first vertices, and the number of components."""
    found = hw.connected_components(graph)
    return found.labels, found.count


def strong_components(G: NetworkXGraph) -> tuple[Ids, int]:
    """The strong component of every vertex, numbered as a depth-first search completes them, and their number."""
    label = np.full(len(G), -1, np.int32)
    return label, int(compiled().strong_components(*G.out_rows, label))


def members(G: NetworkXGraph, labels: Ids, count: int) -> Iterator[set[Any]]:
    """The vertices of component 0, 1, 2, …"""
    names = G.names(np.argsort(labels, kind="stable"))
    return map(set, pieces(names, np.cumsum(np.bincount(labels, minlength=count))))


def check_not_null(G: NetworkXGraph, message: str = "Connectivity is undefined for the null graph.") -> None:
    """Raise NetworkX's error for a graph without vertices."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept(message)


def reaches_each_other(G: NetworkXGraph, both_ways: bool = False) -> bool:
    """Whether every vertex reaches every other; `both_ways`: arcs may also be followed backwards."""
    check_not_null(G)
    rows = [G.rows_both_ways] if both_ways else [G.out_rows, G.in_rows][: 1 + G.directed]
    return all(len(search(one, [0]).order) == len(G) for one in rows)


def _family(kind: str, label: Any, threshold: Threshold, notes: str = "") -> None:
    """Register the components of a kind as sets, their number, and whether there is exactly one."""

    def components(G: NetworkXGraph) -> Iterator[set[Any]]:
        yield from members(G, *label(G))

    serves(f"{kind}connected_components", threshold=threshold, notes=notes)(components)
    serves(f"number_{kind}connected_components", threshold=threshold)(lambda G: label(G)[1])
    serves(f"is_{kind}connected", threshold=threshold)(lambda G: reaches_each_other(G, kind == "weakly_"))


_family("", lambda G: labelled(G.graph), dispatch.ONE_SEARCH)
_family("weakly_", lambda G: labelled(G.both_ways), dispatch.ONE_SEARCH)
_family("strongly_", strong_components, dispatch.STRONG, "In the order in which NetworkX completes them.")


@serves(threshold=dispatch.ONE_SEARCH, notes=dispatch.CONVERTED_BEFORE)
def node_connected_component(G: NetworkXGraph, n: Any) -> set[Any]:
    return set(G.names(search(G.out_rows, [G.number[n]]).order))


@serves(threshold=dispatch.STRONG, notes="Numbered as NetworkX numbers them.")
def condensation(G: NetworkXGraph, scc: Any) -> nx.DiGraph:
    C = nx.DiGraph()
    mapping: dict[Any, int] = {}
    C.graph["mapping"] = mapping
    if len(G) == 0:
        return C
    sets = dict(enumerate(members(G, *strong_components(G)) if scc is None else scc))
    for i, component in sets.items():
        mapping.update((node, i) for node in component)
    C.add_nodes_from((i, {"members": component}) for i, component in sets.items())
    label = np.fromiter((mapping.get(node, -1) for node in G.nodes), np.int64, len(G))
    u, v = arc_labels(G, label)
    lost = np.flatnonzero((label < 0) & ((np.diff(G.out_rows[0]) > 0) | (np.diff(G.in_rows[0]) > 0)))
    if len(lost):
        raise KeyError(G.nodes[lost[0]])  # the sets of `scc` lack an endpoint of an edge
    across = u != v
    C.add_edges_from(zip(u[across].tolist(), v[across].tolist(), strict=True))
    return C


def arc_labels(G: NetworkXGraph, label: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The labels of the tail and of the head of every arc."""
    indptr, indices = G.out_rows
    return np.repeat(label, np.diff(indptr)), label[indices]


# ------------------------------------------------------------------ attracting components: no arc leaves them


def attracting(G: NetworkXGraph) -> tuple[Ids, int, list[int]]:
    """The strong component of every vertex, the number of components, and the components that no arc leaves."""
    label, count = strong_components(G)
    u, v = arc_labels(G, label)
    return label, count, np.setdiff1d(np.arange(count), u[u != v]).tolist()


@serves(threshold=dispatch.ON_STRONG)
def attracting_components(G: NetworkXGraph) -> Iterator[set[Any]]:
    label, count, kept = attracting(G)
    every = list(members(G, label, count))
    yield from (every[number] for number in kept)


serves("number_attracting_components", threshold=dispatch.ON_STRONG)(lambda G: len(attracting(G)[2]))
serves("is_attracting_component", threshold=dispatch.ON_STRONG)(lambda G: strong_components(G)[1] == 1)


@serves(threshold=dispatch.ON_STRONG)
def is_semiconnected(G: NetworkXGraph) -> bool:
    check_not_null(G)
    label, count = strong_components(G)
    u, v = arc_labels(G, label)
    # Components are completed in reverse topological order, so a chain leads from each one to the previous one.
    return len(np.unique(u[u == v + 1])) == count - 1


# ------------------------------------------------------------------ biconnected components


def blocks(G: NetworkXGraph) -> tuple[Ids, Ids, Ids, Ids]:
    """The edges (tails, heads) of all biconnected components in NetworkX's order, their ends, and the cut vertices."""
    n, m = len(G), len(G.out_rows[1])
    tails, heads, ends, points = (np.empty(size, np.int32) for size in (m, m, n, n))
    count, cuts = compiled().close_blocks(*G.out_rows, tails, heads, ends, points)
    edges = int(ends[count - 1]) if count else 0
    return tails[:edges], heads[:edges], ends[:count], points[:cuts]


@serves(threshold=dispatch.STRONG, notes=IN_ORDER)
def biconnected_component_edges(G: NetworkXGraph) -> Iterator[list[tuple[Any, Any]]]:
    tails, heads, ends, _ = blocks(G)
    yield from pieces(list(zip(G.names(tails), G.names(heads), strict=True)), ends)


@serves(threshold=dispatch.STRONG, notes=IN_ORDER)
def biconnected_components(G: NetworkXGraph) -> Iterator[set[Any]]:
    for edges in biconnected_component_edges(G):
        yield {end for edge in edges for end in edge}


serves("articulation_points", threshold=dispatch.STRONG, notes=IN_ORDER)(lambda G: iter(G.names(blocks(G)[3])))


@serves(threshold=dispatch.STRONG)
def is_biconnected(G: NetworkXGraph) -> bool:
    tails, heads, ends, _ = blocks(G)
    return len(ends) == 1 and len(np.unique([tails, heads])) == len(G)


@serves(threshold=dispatch.STRONG)
def bridges(G: NetworkXGraph) -> Iterator[tuple[Any, Any]]:
    (tails, heads, ends, _), n = blocks(G), len(G)
    number = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    joins = tails != heads  # a self-loop is also an edge of a component
    alone = joins & (np.bincount(number[joins], minlength=len(ends)) == 1)[number]
    low, high = np.sort([tails[alone], heads[alone]], axis=0).astype(np.int64)
    u, v = arc_labels(G, np.arange(n))
    wanted = (u < v) & np.isin(u * n + v, low * n + high)
    if G.multiplicity is not None:
        wanted &= G.multiplicity == 1
    yield from zip(G.names(u[wanted]), G.names(v[wanted]), strict=True)


serves("has_bridges", threshold=dispatch.STRONG)(lambda G: next(bridges(G), None) is not None)


# ------------------------------------------------------------------ two colours


@serves(threshold=dispatch.TWO_SIDES, notes="Runs in Python to keep NetworkX's order (last in, first out).")
def color(G: NetworkXGraph) -> dict[Any, int]:
    ways = [[part.tolist() for part in rows] for rows in ([G.in_rows] if G.directed else []) + [G.out_rows]]
    found: dict[int, int] = {}
    for start in np.flatnonzero(np.diff(G.out_rows[0])).tolist():
        waiting = [] if start in found else [start]
        found.setdefault(start, 1)
        while waiting:
            v = waiting.pop()
            near = dict.fromkeys((w for begin, heads in ways for w in heads[begin[v] : begin[v + 1]]), 1 - found[v])
            if any(found.get(w) == found[v] for w in near):
                raise nx.NetworkXError("Graph is not bipartite.")
            waiting += [w for w in near if w not in found]
            found |= near
    found |= {v: 0 for v in range(len(G)) if v not in found}
    return dict(zip(G.names([*found]), found.values(), strict=True))


serves("is_bipartite", threshold=dispatch.TWO_SIDES)(lambda G: hw.is_bipartite(G.both_ways))


@serves(threshold=dispatch.ONE_SEARCH)
def sets(G: NetworkXGraph, top_nodes: Any) -> tuple[set[Any], set[Any]]:
    if top_nodes is not None:
        top = set(top_nodes)
        return top, set(G) - top
    if not reaches_each_other(G, both_ways=True):
        raise nx.AmbiguousSolution("Disconnected graph: Ambiguous solution for bipartite sets.")
    found = color(G)
    return {v for v, side in found.items() if side}, {v for v, side in found.items() if not side}
