"""Biconnected components and bridges (networkx.algorithms.components.biconnected, networkx.algorithms.bridges).

Components and articulation points are listed in the order in which NetworkX's depth-first search finds them, bridges in
the order of the graph's edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import serves
from hopwave.networkx_backend.networkx_order import blocks
from hopwave.networkx_backend.thresholds import STRONG, Arguments

IN_ORDER = "In the order in which NetworkX finds them."


@serves(threshold=STRONG, notes=IN_ORDER)
def biconnected_component_edges(G: NetworkXGraph) -> Iterator[list[tuple[Any, Any]]]:
    """The edges of every component, as lists."""
    found = blocks(G.out_rows)
    edges = list(zip(G.names(found.tails), G.names(found.heads), strict=True))
    begin = 0
    for end in found.ends.tolist():
        yield edges[begin:end]
        begin = end


@serves(threshold=STRONG, notes=IN_ORDER)
def biconnected_components(G: NetworkXGraph) -> Iterator[set[Any]]:
    """The components as sets of vertices."""
    for edges in biconnected_component_edges(G):
        yield {end for edge in edges for end in edge}


@serves(threshold=STRONG, notes=IN_ORDER)
def articulation_points(G: NetworkXGraph) -> Iterator[Any]:
    """The vertices without which the graph has more components."""
    yield from G.names(blocks(G.out_rows).points)


@serves(threshold=STRONG)
def is_biconnected(G: NetworkXGraph) -> bool:
    """Whether all vertices are in one component."""
    found = blocks(G.out_rows)
    return len(found.ends) == 1 and len(np.unique([found.tails, found.heads])) == len(G)


def rooted(arguments: Arguments) -> str | None:
    """Why not, if only the bridges around one vertex are asked for: NetworkX lists them in the order of a set."""
    return None if arguments["root"] is None else "hopwave lists the bridges of the whole graph; leave out root="


@serves(threshold=STRONG, can_run=rooted)
def bridges(G: NetworkXGraph, root: Any = None) -> Iterator[tuple[Any, Any]]:
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


@serves(threshold=STRONG, can_run=rooted)
def has_bridges(G: NetworkXGraph, root: Any = None) -> bool:
    """Whether there is one."""
    return next(bridges(G), None) is not None
