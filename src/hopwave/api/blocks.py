"""Biconnected components, articulation points and bridges: where a graph falls apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from hopwave.algorithms import components as _components
from hopwave.api.arguments import as_graph
from hopwave.api.choice import engine_for
from hopwave.api.search import bfs
from hopwave.arrays import on_host
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.results.blocks import Blocks


def biconnected_components(G: Any, device: str = "auto", *, threads: int | None = None) -> Blocks:
    """The parts of an undirected graph that no single vertex holds together.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        An undirected graph. Weights are ignored.
    device : {"auto", "cpu", "cuda"}, optional
        Where to compute. A GPU reads all arcs, and the host walks the tree.
    threads : int, optional
        How many threads of the CPU. By default all cores, or HOPWAVE_NUM_THREADS.

    Returns
    -------
    Blocks
        `members()` and `sets()`, `count` and `sizes`, the `articulation_points` and the `bridges`.

    See Also
    --------
    articulation_points, bridges, connected_components

    Examples
    --------
    >>> two_triangles = hw.Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)])
    >>> [some.tolist() for some in hw.biconnected_components(two_triangles).members()]
    [[0, 1, 2], [2, 3, 4]]
    """
    return _blocks(G, device, threads, "biconnected components")


def _blocks(G: Any, device: str, threads: int | None, asked: str) -> Blocks:
    graph = as_graph(G, repeats="keep")
    if graph.directed:
        raise GraphError(f"a directed graph has no {asked}; call G.to_undirected() first")
    engine = engine_for("blocks", device, graph, threads)
    label = engine.components(graph, False)
    roots = _components.roots(label)
    roots = roots[np.diff(on_host(graph.indptr))[roots] > 0]
    if not len(roots):
        return Blocks(np.full(graph.n, -1, np.int32), np.zeros(0, np.int32), graph)
    plain = Graph(graph.indptr, graph.indices, directed=False) if graph.labels is not None else graph
    tree = bfs(plain, roots, device=engine.name, threads=threads)
    return Blocks(*engine.blocks(graph, on_host(tree.predecessors), on_host(tree.distances), threads), graph)


def articulation_points(G: Any, device: str = "auto", *, threads: int | None = None) -> list[Any]:
    """The vertices without which a graph has more components.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        An undirected graph. Weights are ignored.
    device, threads
        As for `biconnected_components`.

    Returns
    -------
    list
        Labels or ids, in the order of the vertices.

    See Also
    --------
    biconnected_components, bridges

    Examples
    --------
    >>> hw.articulation_points(hw.generate.path(4))
    [1, 2]
    """
    found = _blocks(G, device, threads, "articulation points")
    return [found.graph.label(v) for v in found.articulation_points.tolist()]


def bridges(G: Any, device: str = "auto", *, threads: int | None = None) -> list[tuple[Any, Any]]:
    """The edges without which a graph has more components.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        An undirected graph. Weights are ignored. Of parallel edges none is a bridge.
    device, threads
        As for `biconnected_components`.

    Returns
    -------
    list of tuple
        Both ends of each edge, as labels or ids, in the order of the vertices.

    See Also
    --------
    biconnected_components, articulation_points

    Examples
    --------
    >>> hw.bridges(hw.Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)]))
    [(2, 3)]
    """
    found = _blocks(G, device, threads, "bridges")
    return [(found.graph.label(a), found.graph.label(b)) for a, b in found.bridges.tolist()]
