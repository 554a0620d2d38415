"""Connected, weak, strong and biconnected components, bridges, two colours (networkx.algorithms: components, bridges,
bipartite.basic).

Connected and weak components are listed in the order of their first vertices, strong and biconnected ones in the order
in which NetworkX's depth-first search closes them, bridges in the order of the graph's edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

import hopwave as hw
from hopwave.graph import Graph
from hopwave.networkx_backend import dispatch
from hopwave.networkx_backend.convert import NetworkXGraph, Rows
from hopwave.networkx_backend.dispatch import Threshold, serves
from hopwave.networkx_backend.traversal import Ids, compiled, search

Labels = npt.NDArray[np.int32]
IN_ORDER = "In the order in which NetworkX finds them."


def labelled(graph: Graph) -> tuple[Labels, int]:
    """The number of every vertex's component, in the order of first vertices, and the number of components."""
    found = hw.connected_components(graph)
    return found.labels, found.count


def strong_components(rows: Rows) -> tuple[Labels, int]:
    """The number of every vertex's strong component, in the order in which a depth-first search closes them, and how
    many there are."""
    label = np.full(len(rows[0]) - 1, -1, np.int32)
    return label, int(compiled().strong_components(*rows, label))


def members(G: NetworkXGraph, labels: Labels, count: int) -> Iterator[set[Any]]:
    """The vertices of component 0, 1, 2, …"""
    names = G.names(np.argsort(labels, kind="stable"))
    begin = 0
    for end in np.cumsum(np.bincount(labels, minlength=count)).tolist():
        yield set(names[begin:end])
        begin = end


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


def _both_ways(G: NetworkXGraph) -> Rows:
    return G.both_ways.indptr, G.both_ways.indices


def _connected_both_ways(G: NetworkXGraph) -> bool:
    check_not_null(G)
    return reaches_all(_both_ways(G))


def _family(
    kind: str,
    label: Callable[[NetworkXGraph], tuple[Labels, int]],
    connected: Callable[[NetworkXGraph], bool],
    threshold: Threshold,
    notes: str = "",
) -> None:
    """Serve the components of a kind as sets, their number, and whether there is one."""

    def components(G: NetworkXGraph) -> Iterator[set[Any]]:
        yield from members(G, *label(G))

    def number(G: NetworkXGraph) -> int:
        return label(G)[1]

    def is_connected(G: NetworkXGraph) -> bool:
        return connected(G)

    serves(f"{kind}connected_components", threshold=threshold, notes=notes)(components)
    serves(f"number_{kind}connected_components", threshold=threshold)(number)
    serves(f"is_{kind}connected", threshold=threshold)(is_connected)


_family("", lambda G: labelled(G.graph), reaches_each_other, dispatch.COMPONENTS)
_family("weakly_", lambda G: labelled(G.both_ways), _connected_both_ways, dispatch.COMPONENTS)
_family(
    "strongly_",
    lambda G: strong_components(G.out_rows),
    reaches_each_other,
    dispatch.STRONG,
    "In the order in which NetworkX closes them.",
)


@serves(threshold=dispatch.COMPONENTS, notes=dispatch.CONVERTED_BEFORE)
def node_connected_component(G: NetworkXGraph, n: Any) -> set[Any]:
    """The component of one vertex."""
    return set(G.names(search(G.out_rows, [G.number[n]]).order))


@serves(threshold=dispatch.STRONG, notes="Numbered as NetworkX numbers them.")
def condensation(G: NetworkXGraph, scc: Any) -> nx.DiGraph:
    """The acyclic NetworkX DiGraph of strong components (or of the sets given), with their members."""
    C = nx.DiGraph()
    mapping: dict[Any, int] = {}
    C.graph["mapping"] = mapping
    if len(G) == 0:
        return C
    sets = dict(enumerate(members(G, *strong_components(G.out_rows)) if scc is None else scc))
    for i, component in sets.items():
        mapping.update((node, i) for node in component)
    C.add_nodes_from((i, {"members": component}) for i, component in sets.items())
    label = np.fromiter((mapping.get(node, -1) for node in G.nodes), np.int64, len(G))
    indptr, indices = G.out_rows
    u, v = np.repeat(label, np.diff(indptr)), label[indices]
    lost = np.flatnonzero((label < 0) & ((np.diff(indptr) > 0) | (np.diff(G.in_rows[0]) > 0)))
    if len(lost):
        raise KeyError(G.nodes[lost[0]])  # the sets given lack an end of some edge
    across = u != v
    C.add_edges_from(zip(u[across].tolist(), v[across].tolist(), strict=True))
    return C


# ------------------------------------------------------------------ attracting components: no arc leaves them


def attracting(G: NetworkXGraph) -> tuple[Labels, int, list[int]]:
    """The number of every vertex's strong component, how many there are, and which of them no arc leaves."""
    label, count = strong_components(G.out_rows)
    indptr, indices = G.out_rows
    source = np.repeat(label, np.diff(indptr))
    leaves = np.zeros(count, np.bool_)
    leaves[source[source != label[indices]]] = True
    return label, count, np.flatnonzero(~leaves).tolist()


@serves(threshold=dispatch.ON_STRONG)
def attracting_components(G: NetworkXGraph) -> Iterator[set[Any]]:
    """The strong components that no arc leaves."""
    label, count, kept = attracting(G)
    every = list(members(G, label, count))
    yield from (every[number] for number in kept)


@serves(threshold=dispatch.ON_STRONG)
def number_attracting_components(G: NetworkXGraph) -> int:
    """How many strong components have no arc that leaves them."""
    return len(attracting(G)[2])


@serves(threshold=dispatch.ON_STRONG)
def is_attracting_component(G: NetworkXGraph) -> bool:
    """Whether the graph is one strong component."""
    _, count, kept = attracting(G)
    return len(kept) == count == 1


@serves(threshold=dispatch.ON_STRONG)
def is_semiconnected(G: NetworkXGraph) -> bool:
    """Whether of any two vertices one reaches the other: the strong components then form one chain."""
    check_not_null(G)
    label, count = strong_components(G.out_rows)
    indptr, indices = G.out_rows
    source, target = np.repeat(label, np.diff(indptr)), label[indices]
    # Components close in reverse topological order, so a chain leads from each one to the one closed before it.
    return len(np.unique(source[source == target + 1])) == count - 1


# ------------------------------------------------------------------ biconnected components


@dataclass(frozen=True, eq=False)
class Blocks:
    """The edges of all biconnected components one after another, where each ends, and the articulation points."""

    tails: Ids
    heads: Ids
    ends: Ids
    points: Ids


def blocks(rows: Rows) -> Blocks:
    """Biconnected components in the order in which NetworkX's depth-first search closes them."""
    n, m = len(rows[0]) - 1, len(rows[1])
    tails, heads, ends, points = (np.empty(size, np.int32) for size in (m, m, n, n))
    count, cuts = compiled().close_blocks(*rows, tails, heads, ends, points)
    edges = int(ends[count - 1]) if count else 0
    return Blocks(tails[:edges], heads[:edges], ends[:count], points[:cuts])


@serves(threshold=dispatch.STRONG, notes=IN_ORDER)
def biconnected_component_edges(G: NetworkXGraph) -> Iterator[list[tuple[Any, Any]]]:
    """The edges of every component, as lists."""
    found = blocks(G.out_rows)
    edges = list(zip(G.names(found.tails), G.names(found.heads), strict=True))
    begin = 0
    for end in found.ends.tolist():
        yield edges[begin:end]
        begin = end


@serves(threshold=dispatch.STRONG, notes=IN_ORDER)
def biconnected_components(G: NetworkXGraph) -> Iterator[set[Any]]:
    """The components as sets of vertices."""
    for edges in biconnected_component_edges(G):
        yield {end for edge in edges for end in edge}


@serves(threshold=dispatch.STRONG, notes=IN_ORDER)
def articulation_points(G: NetworkXGraph) -> Iterator[Any]:
    """Vertices whose removal increases the number of connected components."""
    yield from G.names(blocks(G.out_rows).points)


@serves(threshold=dispatch.STRONG)
def is_biconnected(G: NetworkXGraph) -> bool:
    """Whether all vertices are in one component."""
    found = blocks(G.out_rows)
    return len(found.ends) == 1 and len(np.unique([found.tails, found.heads])) == len(G)


@serves(threshold=dispatch.STRONG)
def bridges(G: NetworkXGraph) -> Iterator[tuple[Any, Any]]:
    """The edges that are a component by themselves, except parallel ones."""
    found, n = blocks(G.out_rows), len(G)
    number = np.repeat(np.arange(len(found.ends)), np.diff(found.ends, prepend=0))
    joins = found.tails != found.heads  # a loop is an edge of a component, too
    alone = joins & (np.bincount(number[joins], minlength=len(found.ends)) == 1)[number]
    ends = np.sort([found.tails[alone], found.heads[alone]], axis=0).astype(np.int64)
    indptr, heads = G.out_rows
    tails = np.repeat(np.arange(n), np.diff(indptr))
    wanted = (tails < heads) & np.isin(tails * n + heads, ends[0] * n + ends[1])
    if G.multiplicity is not None:
        wanted &= G.multiplicity == 1
    yield from zip(G.names(tails[wanted]), G.names(heads[wanted]), strict=True)


@serves(threshold=dispatch.STRONG)
def has_bridges(G: NetworkXGraph) -> bool:
    """Whether there is one."""
    return next(bridges(G), None) is not None


# ------------------------------------------------------------------ two colours


def colours(G: NetworkXGraph) -> Labels | None:
    """1 at even levels, 0 at odd ones, of a search from the first vertex with out-arcs in each component; 0 elsewhere.

    None if two neighbours would have the same colour.
    """
    graph = G.both_ways
    label, _ = labelled(graph)
    starts = np.flatnonzero(np.diff(G.out_rows[0]) > 0)
    _, first = np.unique(label[starts], return_index=True)
    found = search(_both_ways(G), starts[first].tolist())
    colour = np.zeros(len(G), np.int32)
    colour[found.order] = 1 - found.level % 2
    source = np.repeat(colour, np.diff(graph.indptr))
    return None if (source == colour[graph.indices]).any() else colour


@serves(threshold=dispatch.TWO_SIDES, notes="In the order of the nodes.")
def color(G: NetworkXGraph) -> dict[Any, int]:
    """A colour, 1 or 0, for every vertex."""
    found = colours(G)
    if found is None:
        raise nx.NetworkXError("Graph is not bipartite.")
    return G.by_node(found)


@serves(threshold=dispatch.TWO_SIDES)
def is_bipartite(G: NetworkXGraph) -> bool:
    """Whether two colours suffice."""
    return colours(G) is not None


@serves(threshold=dispatch.ONE_SEARCH)
def sets(G: NetworkXGraph, top_nodes: Any) -> tuple[set[Any], set[Any]]:
    """The two sides."""
    if top_nodes is not None:
        top = set(top_nodes)
        return top, set(G) - top
    if not _connected_both_ways(G):
        raise nx.AmbiguousSolution("Disconnected graph: Ambiguous solution for bipartite sets.")
    found = color(G)
    return {v for v, side in found.items() if side}, {v for v, side in found.items() if not side}
