"""Connected, weak, strong and biconnected components, bridges, two colours (networkx.algorithms: components, bridges,
bipartite.basic).

Connected and weak components are listed in the order of their first vertices, strong and biconnected ones in the order
in which NetworkX's depth-first search closes them, bridges in the order of the graph's edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

import hopwave as hw
from hopwave.graph import Graph
from hopwave.networkx_backend import dispatch
from hopwave.networkx_backend.convert import NetworkXGraph, Rows
from hopwave.networkx_backend.dispatch import Threshold, serve, serves
from hopwave.networkx_backend.traversal import Ids, compiled, pieces, search

Labels = npt.NDArray[np.int32]
IN_ORDER = "In the order in which NetworkX finds them."


def labelled(graph: Graph) -> tuple[Labels, int]:
    """The number of every vertex's component, in the order of first vertices, and the number of components."""
    found = hw.connected_components(graph)
    return found.labels, found.count


def strong_components(G: NetworkXGraph) -> tuple[Labels, int]:
    """The number of every vertex's strong component, in the order in which a depth-first search closes them, and the
    number of components."""
    label = np.full(len(G), -1, np.int32)
    return label, int(compiled().strong_components(*G.out_rows, label))


def members(G: NetworkXGraph, labels: Labels, count: int) -> Iterator[set[Any]]:
    """The vertices of component 0, 1, 2, …"""
    names = G.names(np.argsort(labels, kind="stable"))
    return map(set, pieces(names, np.cumsum(np.bincount(labels, minlength=count))))


def check_not_null(G: NetworkXGraph) -> None:
    """Raises NetworkX's error for a graph without vertices, which is neither connected nor disconnected."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")


def reaches_all(rows: Rows) -> bool:
    """Whether a search from the first vertex finds every other vertex."""
    return len(search(rows, [0]).order) == len(rows[0]) - 1


def reaches_each_other(G: NetworkXGraph) -> bool:
    """Whether every vertex reaches every other, in a directed or an undirected graph with at least one vertex."""
    check_not_null(G)
    return reaches_all(G.out_rows) and (not G.directed or reaches_all(G.in_rows))


def _connected_both_ways(G: NetworkXGraph) -> bool:
    check_not_null(G)
    return reaches_all(G.rows_both_ways)


def _family(kind: str, label: Any, connected: Any, threshold: Threshold, notes: str = "") -> None:
    """Serve the components of a kind as sets, their number, and whether there is one."""

    def components(G: NetworkXGraph) -> Iterator[set[Any]]:
        yield from members(G, *label(G))

    serve({f"{kind}connected_components": components}, threshold=threshold, notes=notes)
    serve({f"number_{kind}connected_components": lambda G: label(G)[1]}, threshold=threshold)
    serve({f"is_{kind}connected": lambda G: connected(G)}, threshold=threshold)


_family("", lambda G: labelled(G.graph), reaches_each_other, dispatch.COMPONENTS)
_family("weakly_", lambda G: labelled(G.both_ways), _connected_both_ways, dispatch.COMPONENTS)
CLOSED = "In the order in which NetworkX closes them."
_family("strongly_", strong_components, reaches_each_other, dispatch.STRONG, CLOSED)


@serves(threshold=dispatch.COMPONENTS, notes=dispatch.CONVERTED_BEFORE)
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
        raise KeyError(G.nodes[lost[0]])  # the sets given lack an end of some edge
    across = u != v
    C.add_edges_from(zip(u[across].tolist(), v[across].tolist(), strict=True))
    return C


def arc_labels(G: NetworkXGraph, label: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The labels of the tail and of the head of every arc."""
    indptr, indices = G.out_rows
    return np.repeat(label, np.diff(indptr)), label[indices]


# ------------------------------------------------------------------ attracting components: no arc leaves them


def attracting(G: NetworkXGraph) -> tuple[Labels, int, list[int]]:
    """The strong component of every vertex, the number of components, and those that no arc leaves."""
    label, count = strong_components(G)
    u, v = arc_labels(G, label)
    return label, count, np.setdiff1d(np.arange(count), u[u != v]).tolist()


@serves(threshold=dispatch.ON_STRONG)
def attracting_components(G: NetworkXGraph) -> Iterator[set[Any]]:
    label, count, kept = attracting(G)
    every = list(members(G, label, count))
    yield from (every[number] for number in kept)


@serves(threshold=dispatch.ON_STRONG)
def number_attracting_components(G: NetworkXGraph) -> int:
    return len(attracting(G)[2])


@serves(threshold=dispatch.ON_STRONG)
def is_attracting_component(G: NetworkXGraph) -> bool:
    return attracting(G)[1] == 1  # no arc leaves the only component


@serves(threshold=dispatch.ON_STRONG)
def is_semiconnected(G: NetworkXGraph) -> bool:
    check_not_null(G)
    label, count = strong_components(G)
    u, v = arc_labels(G, label)
    # Components close in reverse topological order, so a chain leads from each one to the one closed before it.
    return len(np.unique(u[u == v + 1])) == count - 1


# ------------------------------------------------------------------ biconnected components


def blocks(G: NetworkXGraph) -> tuple[Ids, Ids, Ids, Ids]:
    """The edges (tails, heads) of all biconnected components one after another, where each ends, and the articulation
    points; components in the order in which NetworkX's depth-first search closes them."""
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


@serves(threshold=dispatch.STRONG, notes=IN_ORDER)
def articulation_points(G: NetworkXGraph) -> Iterator[Any]:
    yield from G.names(blocks(G)[3])


@serves(threshold=dispatch.STRONG)
def is_biconnected(G: NetworkXGraph) -> bool:
    tails, heads, ends, _ = blocks(G)
    return len(ends) == 1 and len(np.unique([tails, heads])) == len(G)


@serves(threshold=dispatch.STRONG)
def bridges(G: NetworkXGraph) -> Iterator[tuple[Any, Any]]:
    (tails, heads, ends, _), n = blocks(G), len(G)
    number = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    joins = tails != heads  # a loop is an edge of a component, too
    alone = joins & (np.bincount(number[joins], minlength=len(ends)) == 1)[number]
    low, high = np.sort([tails[alone], heads[alone]], axis=0).astype(np.int64)
    u, v = arc_labels(G, np.arange(n))
    wanted = (u < v) & np.isin(u * n + v, low * n + high)
    if G.multiplicity is not None:
        wanted &= G.multiplicity == 1
    yield from zip(G.names(u[wanted]), G.names(v[wanted]), strict=True)


@serves(threshold=dispatch.STRONG)
def has_bridges(G: NetworkXGraph) -> bool:
    return next(bridges(G), None) is not None


# ------------------------------------------------------------------ two colours


def colours(G: NetworkXGraph) -> Labels | None:
    """1 at even levels, 0 at odd ones, of a search from the first vertex with out-arcs in each component; 0 elsewhere.

    None if two neighbours would have the same colour.
    """
    label, _ = labelled(G.both_ways)
    starts = np.flatnonzero(np.diff(G.out_rows[0]) > 0)
    _, first = np.unique(label[starts], return_index=True)
    found = search(G.rows_both_ways, starts[first].tolist())
    colour = np.zeros(len(G), np.int32)
    colour[found.order] = 1 - found.level % 2
    u, v = arc_labels(G, colour)
    return None if (u == v).any() else colour


@serves(threshold=dispatch.TWO_SIDES, notes="In the order of the nodes.")
def color(G: NetworkXGraph) -> dict[Any, int]:
    found = colours(G)
    if found is None:
        raise nx.NetworkXError("Graph is not bipartite.")
    return G.by_node(found)


@serves(threshold=dispatch.TWO_SIDES)
def is_bipartite(G: NetworkXGraph) -> bool:
    return colours(G) is not None


@serves(threshold=dispatch.ONE_SEARCH)
def sets(G: NetworkXGraph, top_nodes: Any) -> tuple[set[Any], set[Any]]:
    if top_nodes is not None:
        top = set(top_nodes)
        return top, set(G) - top
    if not _connected_both_ways(G):
        raise nx.AmbiguousSolution("Disconnected graph: Ambiguous solution for bipartite sets.")
    found = color(G)
    return {v for v, side in found.items() if side}, {v for v, side in found.items() if not side}
