"""Connected, weak and strong components (networkx.algorithms.components).

Connected and weak components are listed in the order of their first vertices, strong components in the order in which
NetworkX's depth-first search closes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

import hopwave as hw
from hopwave.graph import Graph
from hopwave.networkx_backend.convert import NetworkXGraph, Rows
from hopwave.networkx_backend.dispatch import serves
from hopwave.networkx_backend.networkx_order import search, strong_components
from hopwave.networkx_backend.notes import CONVERTED_BEFORE
from hopwave.networkx_backend.thresholds import COMPONENTS, ON_STRONG, STRONG

Labels = npt.NDArray[np.int32]


def labelled(graph: Graph) -> tuple[Labels, int]:
    """The number of every vertex's component, in the order of first vertices, and the number of components."""
    found = hw.connected_components(graph)
    return found.labels, found.count


def sets(G: NetworkXGraph, labels: Labels, count: int) -> Iterator[set[Any]]:
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


# ------------------------------------------------------------------ undirected


@serves(threshold=COMPONENTS)
def connected_components(G: NetworkXGraph) -> Iterator[set[Any]]:
    """The components as sets of vertices."""
    yield from sets(G, *labelled(G.graph))


@serves(threshold=COMPONENTS)
def number_connected_components(G: NetworkXGraph) -> int:
    """How many components there are."""
    return labelled(G.graph)[1]


@serves(threshold=COMPONENTS)
def is_connected(G: NetworkXGraph) -> bool:
    """Whether there is one component."""
    check_not_null(G)
    return reaches_all(G.out_rows)


@serves(threshold=COMPONENTS, notes=CONVERTED_BEFORE)
def node_connected_component(G: NetworkXGraph, n: Any) -> set[Any]:
    """The component of one vertex."""
    return set(G.names(search(G.out_rows, [G.number[n]]).order))


def reaches_all(rows: Rows) -> bool:
    """Whether a search from the first vertex finds every other vertex."""
    return len(search(rows, [0]).order) == len(rows[0]) - 1


def reaches_each_other(G: NetworkXGraph) -> bool:
    """Whether every vertex reaches every other, in a directed or an undirected graph with at least one vertex."""
    return is_strongly_connected(G) if G.directed else is_connected(G)


# ------------------------------------------------------------------ weak


@serves(threshold=COMPONENTS)
def weakly_connected_components(G: NetworkXGraph) -> Iterator[set[Any]]:
    """The components of the graph with directions ignored."""
    yield from sets(G, *labelled(G.both_ways))


@serves(threshold=COMPONENTS)
def number_weakly_connected_components(G: NetworkXGraph) -> int:
    """How many weak components there are."""
    return labelled(G.both_ways)[1]


@serves(threshold=COMPONENTS)
def is_weakly_connected(G: NetworkXGraph) -> bool:
    """Whether there is one weak component."""
    check_not_null(G)
    return reaches_all((G.both_ways.indptr, G.both_ways.indices))


# ------------------------------------------------------------------ strong


@serves(threshold=STRONG, notes="In the order in which NetworkX closes them.")
def strongly_connected_components(G: NetworkXGraph) -> Iterator[set[Any]]:
    """The sets of vertices that reach each other."""
    yield from sets(G, *strong_components(G.out_rows))


@serves(threshold=STRONG)
def number_strongly_connected_components(G: NetworkXGraph) -> int:
    """How many strong components there are."""
    return strong_components(G.out_rows)[1]


@serves(threshold=STRONG)
def is_strongly_connected(G: NetworkXGraph) -> bool:
    """Whether every vertex reaches every other."""
    check_not_null(G)
    return reaches_all(G.out_rows) and reaches_all(G.in_rows)


@serves(threshold=STRONG, notes="Numbered as NetworkX numbers them.")
def condensation(G: NetworkXGraph, scc: Any = None) -> nx.DiGraph:
    """The acyclic NetworkX DiGraph of strong components (or of the sets given), with their members."""
    C = nx.DiGraph()
    mapping: dict[Any, int] = {}
    C.graph["mapping"] = mapping
    if len(G) == 0:
        return C
    members = dict(enumerate(strongly_connected_components(G) if scc is None else scc))
    for i, component in members.items():
        mapping.update((node, i) for node in component)
    C.add_nodes_from((i, {"members": component}) for i, component in members.items())
    label = np.fromiter((mapping.get(node, -1) for node in G.nodes), np.int64, len(G))
    indptr, indices = G.out_rows
    u, v = np.repeat(label, np.diff(indptr)), label[indices]
    lost = np.flatnonzero((label < 0) & ((np.diff(indptr) > 0) | (np.diff(G.in_rows[0]) > 0)))
    if len(lost):
        raise KeyError(G.nodes[lost[0]])  # the sets given leave out an end of some edge
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


@serves(threshold=ON_STRONG)
def attracting_components(G: NetworkXGraph) -> Iterator[set[Any]]:
    """The strong components that no arc leaves."""
    label, count, kept = attracting(G)
    every = list(sets(G, label, count))
    for number in kept:
        yield every[number]


@serves(threshold=ON_STRONG)
def number_attracting_components(G: NetworkXGraph) -> int:
    """How many strong components have no arc that leaves them."""
    return len(attracting(G)[2])


@serves(threshold=ON_STRONG)
def is_attracting_component(G: NetworkXGraph) -> bool:
    """Whether the whole graph is one strong component."""
    _, count, kept = attracting(G)
    return len(kept) == count == 1


@serves(threshold=ON_STRONG)
def is_semiconnected(G: NetworkXGraph) -> bool:
    """Whether of any two vertices one reaches the other: the strong components then form one chain."""
    check_not_null(G)
    label, count = strong_components(G.out_rows)
    indptr, indices = G.out_rows
    source, target = np.repeat(label, np.diff(indptr)), label[indices]
    # Components close in reverse topological order, so a chain leads from each one to the one closed before it.
    return len(np.unique(source[source == target + 1])) == count - 1
