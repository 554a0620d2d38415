"""Connectivity: components, bipartite graphs, biconnected components, and directed acyclic graphs."""

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
from hopwave.results.components import Blocks, Components
from hopwave.results.tables import named


def connected_components(G: Any, device: str = "auto") -> Components:
    """Connected components of an undirected graph. Weights are ignored.

    The result has `labels` (the component number of each vertex), `count` and `sizes`.

    Examples
    --------
    >>> hw.connected_components(hw.generate.path(3)).count
    1
    """
    return _find_components(_undirected(as_graph(G), "connected_components"), False, device)


def weakly_connected_components(G: Any, device: str = "auto") -> Components:
    """Weakly connected components: the connected components if arcs had no direction. Weights are ignored.

    Examples
    --------
    >>> hw.weakly_connected_components(hw.generate.path(3, directed=True)).count
    1
    """
    return _find_components(as_graph(G), False, device)


def strongly_connected_components(G: Any, device: str = "auto") -> Components:
    """Strongly connected components: maximal sets of vertices that can all reach each other. Weights are ignored.

    Examples
    --------
    >>> hw.strongly_connected_components(hw.Graph.from_edges([0, 1, 1], [1, 0, 2], directed=True)).labels.tolist()
    [0, 0, 1]
    """
    return _find_components(as_graph(G), True, device)


def is_connected(G: Any, device: str = "auto") -> bool:
    """Whether an undirected graph, with at least one vertex, has exactly one component. Weights are ignored.

    Examples
    --------
    >>> hw.is_connected(hw.generate.path(3))
    True
    """
    return _is_one(_undirected(as_graph(G), "is_connected"), False, device)


def is_weakly_connected(G: Any, device: str = "auto") -> bool:
    """Whether a graph with at least one vertex is one weakly connected component. Weights are ignored.

    Examples
    --------
    >>> hw.is_weakly_connected(hw.generate.path(3, directed=True))
    True
    """
    return _is_one(as_graph(G), False, device)


def is_strongly_connected(G: Any, device: str = "auto") -> bool:
    """Whether a graph with at least one vertex is one strongly connected component. Weights are ignored.

    Examples
    --------
    >>> hw.is_strongly_connected(hw.generate.path(3, directed=True))
    False
    """
    return _is_one(as_graph(G), True, device)


def _undirected(graph: Graph, name: str) -> Graph:
    if graph.directed:
        weak, strong = (name.replace("connected", f"{kind}ly_connected") for kind in ("weak", "strong"))
        raise GraphError(f"components of a directed graph may be weak or strong; use {weak} or {strong}")
    return graph


def _find_components(graph: Graph, strong: bool, device: str) -> Components:
    operation: Operation = "strong_components" if strong else "components"
    return Components(engine_for(operation, device, graph, None).components(graph, strong), graph)


def _is_one(graph: Graph, strong: bool, device: str) -> bool:
    """Whether the graph is one component. Strong connectivity needs two searches from one vertex (out and in)."""
    if graph.n == 0:
        raise GraphError("this graph has no vertices, so connectivity is undefined; pass a graph with vertices")
    if strong and graph.directed:
        return _distances.connected(engine_for("sweep", device, graph, None), graph)
    return _find_components(graph, False, device).count == 1


def is_bipartite(G: Any, device: str = "auto") -> bool:
    """Whether the vertices can be split into two sides such that every edge joins both sides.

    The direction of arcs does not matter. Weights are ignored.

    Examples
    --------
    >>> hw.is_bipartite(hw.generate.grid(3, 3)), hw.is_bipartite(hw.generate.complete(3))
    (True, False)
    """
    graph = as_graph(G)
    if _runs_on_gpu(graph, device):
        return _components.sides_on_gpu(graph) is not None
    graph = _without_directions(graph)
    if graph.m:  # most graphs that are not bipartite have an odd cycle near the vertex of highest degree
        hub = int(np.argmax(graph.degrees))
        if _components.shows_triangle(graph, hub):
            return False
        search = bfs(graph, graph.label(hub), predecessors=False, device=device)
        if not isinstance(_components.sides(graph, on_host(search.distances)), np.ndarray):
            return False
    return isinstance(_sides(graph, device), np.ndarray)


def bipartite_sides(G: Any, device: str = "auto") -> npt.NDArray[np.int8]:
    """Side of each vertex of a bipartite graph. The direction of arcs does not matter. Weights are ignored.

    A side is 0 or 1 (int8); the lowest vertex of each component is on side 0.

    Raises
    ------
    GraphError
        The graph is not bipartite; the message names an edge that closes a cycle of odd length.

    Examples
    --------
    >>> hw.bipartite_sides(hw.generate.path(4)).tolist()
    [0, 1, 0, 1]
    """
    graph = as_graph(G)
    found = _sides(graph, device)
    if isinstance(found, tuple):
        u, v = (graph.label(end) for end in found)
        problem = f"the graph is not bipartite: edge {u!r}, {v!r} closes a cycle of odd length"
        raise GraphError(f"{problem}; call is_bipartite first")
    return found


def _runs_on_gpu(graph: Graph, device: str) -> bool:
    """Whether a GPU finds the sides: it needs two 31-bit node numbers per vertex, and uncompressed adjacency lists."""
    if engine_for("components", device, graph, None).name != "cuda" or graph.n >= 1 << 30:
        return False
    return why_not_on_gpu(graph) is None and compressed_rows(graph) is None


def _sides(graph: Graph, device: str) -> npt.NDArray[np.int8] | tuple[int, int]:
    """The side of each vertex, or an edge within one side if the graph is not bipartite."""
    if _runs_on_gpu(graph, device) and (found := _components.sides_on_gpu(graph)) is not None:
        return found
    graph = _without_directions(graph)
    if graph.n == 0:
        return np.zeros(0, np.int8)
    root = _components.roots(engine_for("components", device, graph, None).components(graph, False))
    root = root[graph.degrees[root] > 0]  # isolated vertices need no search
    if not len(root):
        return np.zeros(graph.n, np.int8)
    unlabelled = graph if graph.labels is None else Graph(graph.indptr, graph.indices, directed=False)
    search = bfs(unlabelled, root, predecessors=False, device=device)
    return _components.sides(graph, on_host(search.distances))


def _without_directions(graph: Graph) -> Graph:
    return Graph.from_edges(*graph.to_edges(), n=graph.n, directed=False) if graph.directed else graph


def biconnected_components(G: Any, device: str = "auto", *, threads: int | None = None) -> Blocks:
    """Biconnected components: maximal subgraphs that remain connected when any one vertex is removed.

    The graph must be undirected. The result has `members()` and `sets()`, `count` and `sizes`, `articulation_points`
    and `bridges`. Weights are ignored.

    Examples
    --------
    >>> two_triangles = hw.Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)])
    >>> [some.tolist() for some in hw.biconnected_components(two_triangles).members()]
    [[0, 1, 2], [2, 3, 4]]
    """
    return _blocks(G, device, threads, "biconnected components")


def articulation_points(G: Any, device: str = "auto", *, threads: int | None = None) -> list[Any]:
    """Articulation points of an undirected graph: vertices whose removal increases the number of components.

    The result has labels or ids, in vertex order. Weights are ignored.

    Examples
    --------
    >>> hw.articulation_points(hw.generate.path(4))
    [1, 2]
    """
    found = _blocks(G, device, threads, "articulation points")
    ids, graph = found.articulation_points.tolist(), found.graph
    return ids if graph.labels is None else [graph.label(v) for v in ids]


def bridges(G: Any, device: str = "auto", *, threads: int | None = None) -> list[tuple[Any, Any]]:
    """Bridges of an undirected graph: edges whose removal increases the number of components.

    Parallel edges are not bridges. Each bridge is a pair of labels or ids, in vertex order. Weights are ignored.

    Examples
    --------
    >>> hw.bridges(hw.Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)]))
    [(2, 3)]
    """
    found = _blocks(G, device, threads, "bridges")
    return list(zip(*named(found.graph, found.bridges.T).tolist(), strict=True))  # lists would cost garbage collections


def _blocks(G: Any, device: str, threads: int | None, asked: str) -> Blocks:
    graph = as_graph(G, repeats="keep")
    if graph.directed:
        raise GraphError(f"{asked} are not defined for directed graphs; call G.to_undirected() first")
    engine = engine_for("blocks", device, graph, threads)
    label = engine.components(graph, False)
    roots = _components.roots(label)
    roots = roots[np.diff(on_host(graph.indptr))[roots] > 0]
    if not len(roots):
        return Blocks(np.full(graph.n, -1, np.int32), np.zeros(0, np.int32), graph)
    plain = Graph(graph.indptr, graph.indices, directed=False) if graph.labels is not None else graph
    tree = bfs(plain, roots, device=engine.name, threads=threads)
    return Blocks(*engine.blocks(graph, on_host(tree.predecessors), on_host(tree.distances), threads), graph)


def topological_order(G: Any) -> list[Any]:
    """Topological order of a directed acyclic graph: each vertex comes before its successors. Weights are ignored.

    The result has labels or ids: first the vertices without in-arcs, then the vertices whose in-arcs all start at
    earlier vertices, and so on.

    Raises
    ------
    GraphError
        The graph is undirected or has a cycle; the message names a vertex that is on a cycle or reachable from one.

    Examples
    --------
    >>> hw.topological_order(hw.Graph.from_edges([2, 0], [0, 1], directed=True))
    [2, 0, 1]
    """
    graph = _directed(as_graph(G), "a topological order")
    order = _components.topological_order(graph)
    if len(order) < graph.n:
        left = np.ones(graph.n, np.bool_)
        left[order] = False
        vertex = graph.label(int(np.argmax(left)))
        problem = f"vertex {vertex!r} is on a cycle or reachable from one, so there is no order"
        raise GraphError(f"{problem}; condensation(G) joins cycles")
    return order.tolist() if graph.labels is None else [graph.label(v) for v in order.tolist()]


def is_directed_acyclic_graph(G: Any) -> bool:
    """Whether a graph is directed and has no cycle. Weights are ignored.

    Examples
    --------
    >>> hw.is_directed_acyclic_graph(hw.generate.path(3, directed=True))
    True
    """
    graph = as_graph(G)
    return graph.directed and len(_components.topological_order(graph)) == graph.n


def condensation(G: Any) -> tuple[Graph, Components]:
    """Condensation of a directed graph: the acyclic graph of its strongly connected components. Weights are ignored.

    Returns the acyclic graph and the components. Vertex i of the graph is component i: `components.members()[i]`.

    Examples
    --------
    >>> C, components = hw.condensation(hw.Graph.from_edges([0, 1, 1], [1, 0, 2], directed=True))
    >>> list(C.edges()), components.sets()
    ([(0, 1)], [{0, 1}, {2}])
    """
    graph = _directed(as_graph(G), "a condensation")
    found = strongly_connected_components(graph)
    return Graph.from_edges(*_components.arcs_between(graph, found.labels), n=found.count, directed=True), found


def _directed(graph: Graph, what: str) -> Graph:
    if not graph.directed:
        raise GraphError(f"{what} needs a directed graph, but this graph is undirected; see connected_components")
    return graph
