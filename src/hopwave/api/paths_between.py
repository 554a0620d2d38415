"""Paths between two vertices, in hops or along weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from hopwave.algebra.matrix import Matrix
from hopwave.algorithms import shortest_paths as _shortest
from hopwave.algorithms.shortest_paths import ranked_paths
from hopwave.api.arguments import as_graph
from hopwave.api.choice import choose_device, engine_for, search_work
from hopwave.api.search import bfs
from hopwave.api.weights import own_lengths
from hopwave.arrays import on_host
from hopwave.checks.numbers import is_whole
from hopwave.checks.options import check_thread_count
from hopwave.errors import EngineError, GraphError
from hopwave.graph import Graph


def has_path(G: Any, source: Any, target: Any, device: str = "auto") -> bool:
    """Whether a path leads from source to target.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. Weights are ignored: an arc of any length makes a path.
    source, target : vertex
        An id, or a label if the graph has labels.

    Examples
    --------
    >>> hw.has_path(hw.generate.path(3, directed=True), 2, 0)
    False
    """
    graph = as_graph(G)
    return _fewest_hops(graph, graph.index(source), graph.index(target), device) is not None


def shortest_path(G: Any, source: Any, target: Any, device: str = "auto", *, weights: Any = None) -> list[Any]:
    """One shortest path from source to target, in hops or along weights.

    `all_shortest_paths` returns all of them, `shortest_paths` one for each of many pairs.
    Weights are followed; `weights=False` leaves them out.

    Parameters
    ----------
    source, target : vertex
        An id, or a label if the graph has labels.
    device : {"auto", "cpu", "cuda"}, optional
        Where to compute. "auto" is the CPU, where a search starts from both endpoints; on a GPU, a search along weights
        starts from the source only.

    Returns
    -------
    list
        Labels or ids of the vertices on the path, both endpoints included.

    Raises
    ------
    GraphError
        There is no path.

    Notes
    -----
    With weights, Dijkstra's algorithm runs from both endpoints until the searches meet; a GPU searches as
    `sssp(targets=)`. The sum of two halves may differ in the last bit from the length added up from the source, so the
    search from the source then continues through the other's settled vertices: the path is one that `sssp` could
    return.

    Examples
    --------
    >>> hw.shortest_path(hw.generate.path(4), 3, 1)
    [3, 2, 1]
    >>> roads = hw.Graph.from_edges(["a", "a", "b"], ["c", "b", "c"], weights=[9.0, 2.0, 3.0])
    >>> hw.shortest_path(roads, "a", "c"), hw.shortest_path(roads, "a", "c", weights=False)
    (['a', 'b', 'c'], ['a', 'c'])
    """
    graph, has_lengths = own_lengths(G, weights)
    s, t = graph.index(source), graph.index(target)
    if has_lengths:
        A, chosen = _lengths(graph, device)
        on_gpu = chosen == "cuda"
        found = _shortest.one_path_on_gpu(A, s, t) if on_gpu else _shortest.paths_of_pairs(graph, True, [(s, t)], 1)[0]
    else:
        found = _fewest_hops(graph, s, t, device)
    if found is None:
        raise _no_path(source, target)
    return _named(graph, found)


def shortest_paths(
    G: Any, pairs: Iterable[tuple[Any, Any]], weights: Any = None, *, threads: int | None = None
) -> list[list[Any] | None]:
    """One shortest path for each of many pairs, several at a time.

    Weights are followed; `weights=False` leaves them out.

    Parameters
    ----------
    pairs : list of (source, target)
        Ids, or labels if the graph has labels.

    Returns
    -------
    list of list or None
        For each pair the labels or ids of the vertices on the path, both endpoints included; None if there is no path.

    Examples
    --------
    >>> roads = hw.Graph.from_edges(["a", "a", "b"], ["c", "b", "c"], weights=[9.0, 2.0, 3.0])
    >>> hw.shortest_paths(roads, [("a", "c"), ("c", "b")])
    [['a', 'b', 'c'], ['c', 'b']]
    """
    graph, has_lengths = own_lengths(G, weights)
    check_thread_count(threads)
    if hasattr(pairs, "columns"):  # a table, which lists its titles or its columns
        raise GraphError(f"a {type(pairs).__name__} is not a list of pairs; give table[[source, target]].to_numpy()")
    if not isinstance(pairs, Iterable) or getattr(pairs, "ndim", 1) == 0:
        raise GraphError(f"{pairs!r} is not a list of pairs; give [(source, target), ...]")
    ids = []
    for pair in pairs:
        if not isinstance(pair, Iterable) or isinstance(pair, str | bytes) or len(two := list(pair)) != 2:
            raise GraphError(f"{pair!r} is not a pair of vertices; give (source, target)")
        ids.append((graph.index(two[0]), graph.index(two[1])))
    found = _shortest.paths_of_pairs(graph, has_lengths, ids, threads)
    return [None if path is None else _named(graph, path) for path in found]


def k_shortest_paths(
    G: Any, source: Any, target: Any, k: int, weights: Any = None, *, device: str = "auto"
) -> list[tuple[float, list[Any]]]:
    """The k shortest paths that visit no vertex twice, shortest first, with their lengths.

    Weights are followed; `weights=False` leaves them out.

    Parameters
    ----------
    source, target : vertex
        An id, or a label if the graph has labels.
    k : int
        Number of paths.
    device : {"auto", "cpu", "cuda"}, optional
        Where the two full searches run, as for `sssp`, and the searches for deviations if they are many.

    Returns
    -------
    list of (length, path)
        At most k; a path has the labels or ids of its vertices, both endpoints included.

    Raises
    ------
    GraphError
        There is no path.

    Notes
    -----
    Two full searches find the vertices that none of the k paths can visit, as in PeeK (Feng et al., SC '23). Yen's
    algorithm runs on the remaining graph, in rounds: each round takes half of the pending paths and searches for a
    deviation at every vertex of each. On a GPU these searches run simultaneously if they are many, otherwise on one
    core. Among equally long paths at the end of the list, any may be returned.

    Examples
    --------
    >>> roads = hw.Graph.from_edges(["a", "a", "b"], ["c", "b", "c"], weights=[9.0, 2.0, 3.0])
    >>> hw.k_shortest_paths(roads, "a", "c", 2)
    [(5.0, ['a', 'b', 'c']), (9.0, ['a', 'c'])]
    """
    graph, has_lengths = own_lengths(G, weights)
    s, t = graph.index(source), graph.index(target)
    if not is_whole(k) or k < 1:
        raise GraphError(f"k={k!r} is not a number of paths; give a whole number from 1")
    place = choose_device(search_work(graph), _checked(device), graph, None)
    paths = ranked_paths(graph, has_lengths, s, t, int(k), place)
    found = [(length, _named(graph, path)) for length, path in paths]
    if not found:
        raise _no_path(source, target)
    return found


def all_shortest_paths(
    G: Any, source: Any, target: Any, device: str = "auto", *, weights: Any = None
) -> Iterator[list[Any]]:
    """Every shortest path from source to target, one at a time: labels or ids of the vertices, endpoints included.

    Weights are followed; `weights=False` leaves them out.

    Parameters
    ----------
    source, target : vertex
        An id, or a label if the graph has labels.

    Raises
    ------
    GraphError
        There is no path.

    Notes
    -----
    Two paths are equally long if their lengths, added up from the source, are the same float64, as in NetworkX. Arcs of
    length 0 may form cycles, but no path visits a vertex twice.

    Examples
    --------
    >>> sorted(hw.all_shortest_paths(hw.generate.cycle(4), 0, 2))
    [[0, 1, 2], [0, 3, 2]]
    >>> roads = hw.Graph.from_edges([0, 0, 1], [2, 1, 2], weights=[5.0, 2.0, 3.0])
    >>> sorted(hw.all_shortest_paths(roads, 0, 2))
    [[0, 1, 2], [0, 2]]
    """
    graph, has_lengths = own_lengths(G, weights)
    s, t = graph.index(source), graph.index(target)
    found = _shortest.all_paths(*_lengths(graph, device), s, t) if has_lengths else _all_by_hops(graph, s, t, device)
    if found is None:
        raise _no_path(source, target)
    return (_named(graph, path) for path in found)


def _lengths(graph: Graph, device: str) -> tuple[Matrix, str]:
    """The matrix with the graph's weights, and where to search."""
    return Matrix.from_graph(graph), "cuda" if _checked(device) == "cuda" else "cpu"


def _checked(device: str) -> str:
    if not isinstance(device, str) or device not in ("auto", "cpu", "cuda"):
        raise EngineError(
            f"paths with weights between two vertices run on the CPU or a GPU, not on {device!r}; use device='cpu' or "
            f"'cuda', or weights=False to count hops"
        )
    return device


def _all_by_hops(graph: Graph, source: int, target: int, device: str) -> Iterator[list[int]] | None:
    one = _fewest_hops(graph, source, target, device)
    if one is None:
        return None
    found = bfs(graph, graph.label(source), predecessors=False, depth_limit=len(one) - 1, device=device)
    return _shortest.all_hop_paths(graph, on_host(found.distances), source, target)


def _fewest_hops(graph: Graph, source: int, target: int, device: str) -> list[int] | None:
    return engine_for("shortest_path", device, graph, None, searches=0).shortest_path(graph, source, target)


def _named(graph: Graph, path: list[int]) -> list[Any]:
    labels = graph.labels
    return path if labels is None else labels[path].tolist()


def _no_path(source: Any, target: Any) -> GraphError:
    return GraphError(f"there is no path from {source!r} to {target!r}; call has_path first, or choose another target")
