"""Connectivity: components, and the sides of a bipartite graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import components as _components
from hopwave.algorithms import distances as _distances
from hopwave.api.arguments import as_graph
from hopwave.api.choice import compressed_rows, engine_for, why_not_on_gpu
from hopwave.api.search import bfs
from hopwave.arrays import on_host
from hopwave.engines import Operation
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.results.components import Components

# ------------------------------------------------------------------ components


def connected_components(G: Any, device: str = "auto") -> Components:
    """The connected components of an undirected graph.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        An undirected graph. Weights are ignored.
    device : {"auto", "cpu", "cuda"}, optional
        Where to compute. "auto" is a GPU if there is one and the graph is worth the upload, else the CPU.

    Returns
    -------
    Components
        `labels`, the number of the component of every vertex; `count` and `sizes`.

    See Also
    --------
    weakly_connected_components, strongly_connected_components : for directed graphs.

    Examples
    --------
    >>> hw.connected_components(hw.generate.path(3)).count
    1
    """
    return _find_components(_undirected(as_graph(G), "components"), False, device)


def weakly_connected_components(G: Any, device: str = "auto") -> Components:
    """The components of a graph, ignoring the direction of arcs.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. Weights are ignored.
    device
        As for `connected_components`.

    See Also
    --------
    connected_components, is_weakly_connected

    Examples
    --------
    >>> hw.weakly_connected_components(hw.generate.path(3, directed=True)).count
    1
    """
    return _find_components(as_graph(G), False, device)


def strongly_connected_components(G: Any, device: str = "auto") -> Components:
    """The largest sets of vertices in which every vertex can reach every other.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. Weights are ignored.
    device
        As for `connected_components`.

    See Also
    --------
    weakly_connected_components, is_strongly_connected

    Examples
    --------
    >>> hw.strongly_connected_components(hw.Graph.from_edges([0, 1, 1], [1, 0, 2], directed=True)).labels.tolist()
    [0, 0, 1]
    """
    return _find_components(as_graph(G), True, device)


def is_connected(G: Any, device: str = "auto") -> bool:
    """Whether an undirected graph has exactly one component.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        An undirected graph with at least one vertex. Weights are ignored.
    device
        As for `connected_components`.

    See Also
    --------
    connected_components

    Examples
    --------
    >>> hw.is_connected(hw.generate.path(3))
    True
    """
    return _is_one(_undirected(as_graph(G), "connection"), False, device)


def is_weakly_connected(G: Any, device: str = "auto") -> bool:
    """Whether a graph has exactly one component, ignoring the direction of arcs.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A graph with at least one vertex. Weights are ignored.
    device
        As for `connected_components`.

    See Also
    --------
    weakly_connected_components

    Examples
    --------
    >>> hw.is_weakly_connected(hw.generate.path(3, directed=True))
    True
    """
    return _is_one(as_graph(G), False, device)


def is_strongly_connected(G: Any, device: str = "auto") -> bool:
    """Whether every vertex can reach every other.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A graph with at least one vertex. Weights are ignored.
    device
        As for `connected_components`.

    See Also
    --------
    strongly_connected_components

    Examples
    --------
    >>> hw.is_strongly_connected(hw.generate.path(3, directed=True))
    False
    """
    return _is_one(as_graph(G), True, device)


def _undirected(graph: Graph, what: str) -> Graph:
    if graph.directed:
        raise GraphError(f"{what} of a directed graph may be weak or strong; say weakly_… or strongly_connected")
    return graph


def _find_components(graph: Graph, strong: bool, device: str) -> Components:
    operation: Operation = "strong_components" if strong else "components"
    return Components(engine_for(operation, device, graph, None).components(graph, strong), graph)


def _is_one(graph: Graph, strong: bool, device: str) -> bool:
    """Whether the graph is one component. For strong components, two searches from one vertex tell (out and in)."""
    if graph.n == 0:
        raise GraphError("this graph has no vertices, so it is neither connected nor disconnected; give at least one")
    if strong and graph.directed:
        return _distances.connected(engine_for("sweep", device, graph, None), graph)
    return _find_components(graph, False, device).count == 1


# ------------------------------------------------------------------ bipartite graphs


def is_bipartite(G: Any, device: str = "auto") -> bool:
    """Whether the vertices fall into two sides such that every edge joins one side with the other.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. The direction of arcs does not matter. Weights are ignored.
    device
        As for `connected_components`.

    See Also
    --------
    bipartite_sides

    Examples
    --------
    >>> hw.is_bipartite(hw.generate.grid(3, 3)), hw.is_bipartite(hw.generate.complete(3))
    (True, False)
    """
    graph = as_graph(G)
    if _runs_on_gpu(graph, device):
        return _components.is_bipartite_on_gpu(graph)
    graph = _without_directions(graph)
    if graph.m:  # most graphs that are not bipartite show it where they are densest
        hub = int(np.argmax(graph.degrees))
        if _components.shows_triangle(graph, hub):
            return False
        search = bfs(graph, graph.label(hub), predecessors=False, device=device)
        if not isinstance(_components.sides(graph, on_host(search.distances)), np.ndarray):
            return False
    return isinstance(_sides(graph, device), np.ndarray)


def bipartite_sides(G: Any, device: str = "auto") -> npt.NDArray[np.int8]:
    """The side of every vertex of a bipartite graph.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. The direction of arcs does not matter. Weights are ignored.
    device
        As for `connected_components`.

    Returns
    -------
    array of int8
        0 or 1 per vertex. The lowest vertex of every component is on side 0.

    Raises
    ------
    GraphError
        The graph is not bipartite; the message names an edge that closes a cycle of odd length.

    See Also
    --------
    is_bipartite

    Examples
    --------
    >>> hw.bipartite_sides(hw.generate.path(4)).tolist()
    [0, 1, 0, 1]
    """
    graph = as_graph(G)
    found = _sides(graph, device)
    if isinstance(found, tuple):
        u, v = (graph.label(end) for end in found)
        raise GraphError(
            f"the graph is not bipartite: edge {u!r}, {v!r} closes a cycle of odd length; call is_bipartite first"
        )
    return found


def _runs_on_gpu(graph: Graph, device: str) -> bool:
    """Whether a GPU looks for the sides: it numbers two nodes for every vertex with 31 bits, and reads plain rows."""
    if engine_for("components", device, graph, None).name != "cuda" or graph.n >= 1 << 30:
        return False
    return why_not_on_gpu(graph) is None and compressed_rows(graph) is None


def _sides(graph: Graph, device: str) -> npt.NDArray[np.int8] | tuple[int, int]:
    """The side of every vertex, or an edge within one side if the graph is not bipartite."""
    if _runs_on_gpu(graph, device) and (found := _components.sides_on_gpu(graph)) is not None:
        return found
    graph = _without_directions(graph)
    if graph.n == 0:
        return np.zeros(0, np.int8)
    root = _components.roots(engine_for("components", device, graph, None).components(graph, False))
    root = root[graph.degrees[root] > 0]  # a vertex without neighbours needs no search
    if not len(root):
        return np.zeros(graph.n, np.int8)
    unlabelled = graph if graph.labels is None else Graph(graph.indptr, graph.indices, directed=False)
    search = bfs(unlabelled, root, predecessors=False, device=device)
    return _components.sides(graph, on_host(search.distances))


def _without_directions(graph: Graph) -> Graph:
    return Graph.from_edges(*graph.to_edges(), n=graph.n, directed=False) if graph.directed else graph
