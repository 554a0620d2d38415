"""Shortest paths: weighted distances from one source to all or the nearest vertices; paths between two vertices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from hopwave.algebra.matrix import Matrix
from hopwave.algorithms import shortest_paths as _paths
from hopwave.algorithms.shortest_paths import METHODS, MethodName
from hopwave.api.arguments import as_graph, check_distance, listed_vertices, source_ids
from hopwave.api.choice import choose_device, engine_for, product_device, search_work
from hopwave.api.search import bfs
from hopwave.api.weights import own_lengths, weighted
from hopwave.arrays import Deferred, on_host
from hopwave.checks.numbers import is_whole, shown
from hopwave.checks.options import check_thread_count, flag, one_of
from hopwave.errors import EngineError, GraphError
from hopwave.graph import Graph
from hopwave.linalg.algorithms.operands import check_lengths
from hopwave.planning.jobs import ShortestPathsJob
from hopwave.results.accessibility import Routes
from hopwave.results.search import ShortestPaths

MOST_PATHS = 2**62  # compiled code counts in 64 bits


def sssp(
    G: Any,
    source: Any,
    weights: Any = None,
    method: MethodName = "auto",
    delta: float | None = None,
    *,
    limit: float | None = None,
    targets: Iterable[Any] | None = None,
    device: str = "auto",
    threads: int | None = None,
    trace: bool = False,
) -> ShortestPaths:
    """Single-source shortest paths: the length of a shortest path from a source, or from the nearest of several.

    `bfs` counts hops faster; `sssp_each` searches from one source after another, `sssp_many` returns a table, `nearest`
    finds only the nearest vertices, and `shortest_path` one path between two vertices. The shortest of parallel edges
    counts. G may also be a `linalg.Matrix`. Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    method : {"auto", "dijkstra", "delta-stepping", "near-far", "bellman-ford"}, optional
        Algorithm. All algorithms give bitwise identical distances.
    delta : float, optional
        Width of the buckets of Δ-stepping and near-far.
    limit : float, optional
        Maximum length of a path. Vertices beyond it are not reached.
    targets : list of vertices, optional
        Vertices at which the search may end: it stops when all targets are settled, and vertices farther away than all
        targets are not reached. If a target is unreachable, the search visits everything that the source reaches.
    device : {"auto", "cpu", "cuda"}, optional
        Where to compute. "auto" is a GPU if there is one and the graph is on it or has a million arcs, else the CPU. A
        `linalg.Matrix` is searched on its own device.
    trace : bool, optional
        Whether to record each bucket. This selects an algorithm that supports traces: Δ-stepping on the CPU, or
        near-far on a GPU.

    Returns
    -------
    ShortestPaths
        `distances`, `predecessors`, paths by `path_to`, the `plan` that ran, and `trace` if requested.

    Notes
    -----
    Dijkstra's algorithm runs on one core, Δ-stepping on several cores (on a GPU by matrix products), near-far in one
    launch on a GPU, and Bellman-Ford by matrix products. "auto" is Δ-stepping on the CPU, Dijkstra's algorithm for
    small graphs, and near-far on a GPU. Matrix products compute all distances; other methods stop at `limit` and
    `targets`. For several calls with one array of weights, attach it once: `G.with_weights(weights)`.

    Examples
    --------
    >>> G = hw.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], weights=[1.0, 5.0, 2.0])
    >>> r = hw.sssp(G, "a")
    >>> r.distances.tolist(), r.path_to("c")
    ([0.0, 1.0, 3.0], ['a', 'b', 'c'])
    >>> hw.sssp(G, "a", limit=2).distances.tolist()
    [0.0, 1.0, inf]
    >>> hw.sssp(G, "a", targets=["b"]).distances.tolist()
    [0.0, 1.0, inf]
    """
    graph, A = weighted(G, weights, parallel="min")
    device = _device(G, graph, A, method, device, threads)
    aims: tuple[int, ...] = ()
    if targets is not None:
        aims = tuple(np.unique(listed_vertices(graph, targets)).tolist())
        if not aims:
            raise GraphError("targets=[] contains no vertex; pass at least one vertex, or omit targets=")
    return _searcher(graph, A, method, delta, limit, device, threads, trace, aims)(source_ids(graph, source))


def sssp_each(
    G: Any,
    sources: Iterable[Any],
    weights: Any = None,
    method: MethodName = "auto",
    delta: float | None = None,
    *,
    limit: float | None = None,
    device: str = "auto",
    threads: int | None = None,
) -> Iterator[ShortestPaths]:
    """Shortest paths from one source after another. The graph is prepared once for all searches.

    Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    sources : list of vertices
        Vertices where the searches start. All of them are checked before the first search.
    method, delta, limit
        See `sssp`.

    Examples
    --------
    >>> roads = hw.Graph.from_edges([0, 1], [1, 2], weights=[1.5, 2.0])
    >>> [r.distances.tolist() for r in hw.sssp_each(roads, [0, 2])]
    [[0.0, 1.5, 3.5], [3.5, 2.0, 0.0]]
    """
    graph, A = weighted(G, weights, parallel="min")
    ids = [(vertex,) for vertex in listed_vertices(graph, sources).tolist()]
    device = _device(G, graph, A, method, device, threads)
    return map(_searcher(graph, A, method, delta, limit, device, threads, False), ids)


def _searcher(
    graph: Graph,
    A: Matrix,
    method: str,
    delta: float | None,
    limit: float | None,
    device: str,
    threads: int | None,
    trace: bool,
    targets: tuple[int, ...] = (),
) -> Callable[[tuple[int, ...]], ShortestPaths]:
    """Check the arguments and choose a method once. Returns a function that searches from some sources."""
    check_lengths(A, graph.label)
    way = _paths.choose(graph, method, delta, device, threads, flag("trace", trace))
    longest = _longest(limit)

    def search(sources: tuple[int, ...]) -> ShortestPaths:
        found = _paths.distances(A, ShortestPathsJob(sources, longest, targets), way)
        d, choose = found.distances, found.predecessors
        if choose is not None and graph.device != "cuda":  # copy to the host when first read
            d, choose = Deferred(partial(found.to_host, d)), partial(_fetched, choose, found.to_host)
        return ShortestPaths(d, sources, way.method, found.plan, graph, A, found.buckets, choose)

    return search


def nearest(
    G: Any, source: Any, k: int | None = None, *, limit: float | None = None, weights: Any = None
) -> dict[Any, float]:
    """The nearest vertices, by label or id, and their distances: the k nearest, all within a limit, or both.

    Dijkstra's algorithm on one core of the CPU searches no farther than needed; GPUs are not supported. `k_hop` finds
    all vertices within a number of hops. Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    k : int, optional
        Number of vertices, sources included; fewer if fewer can be reached. Ties are ordered by lowest id.
    limit : float, optional
        Maximum distance.

    Raises
    ------
    GraphError
        Neither `k` nor `limit` is passed.

    Examples
    --------
    >>> roads = hw.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], weights=[1.0, 5.0, 2.0])
    >>> hw.nearest(roads, "a", 2)
    {'a': 0.0, 'b': 1.0}
    >>> hw.nearest(roads, "c", limit=2)
    {'c': 0.0, 'b': 2.0}
    """
    graph, A = weighted(G, weights, parallel="min")
    sources = source_ids(graph, source)
    if k is None and limit is None:
        raise GraphError("nearest needs k= or limit=, or both; for the distances of all vertices call sssp")
    if k is not None and (not is_whole(k) or k < 1):
        raise GraphError(f"k={k!r} is not a number of vertices; pass an integer of at least 1, or None for all")
    most = None if k is None else min(int(k), graph.n)
    check_lengths(A, graph.label)
    ids, lengths = _paths.nearest(A, ShortestPathsJob(sources, _longest(limit), most=most))
    return dict(zip(map(graph.label, ids.tolist()), lengths.tolist(), strict=True))


def _fetched(compute: Callable[[], Any], to_host: Callable[[Any], Any]) -> Any:
    """Compute an array on the GPU, and copy it to the host."""
    return to_host(compute())


def _device(G: Any, graph: Graph, A: Matrix, method: str, device: str, threads: int | None) -> str:
    """The device of a search: device=, or for "auto" the best device for the method."""
    one_of("method", method, METHODS)
    if not isinstance(device, str):
        raise EngineError(f"device {device!r} is not known; use 'auto', 'cuda' or 'cpu'")
    if device != "auto":
        return device
    if method in ("dijkstra", "near-far"):
        return "cpu" if method == "dijkstra" else "cuda"
    if isinstance(G, Matrix):
        return "cpu" if threads is not None else A.device
    if method == "auto" and threads is None and product_device(graph, device) == "cuda":
        return "cuda"
    return choose_device(search_work(graph), device, graph, threads) if method == "auto" else "cpu"


def _longest(limit: Any) -> float:
    """The maximum length of a path; infinite if there is no limit."""
    found = check_distance("limit", limit, weighted=True)
    return math.inf if found is None else found


def has_path(G: Any, source: Any, target: Any, device: str = "auto") -> bool:
    """Whether a path leads from source to target. Weights are ignored: an arc of any length makes a path.

    Examples
    --------
    >>> hw.has_path(hw.generate.path(3, directed=True), 2, 0)
    False
    """
    graph = as_graph(G)
    return _fewest_hops(graph, graph.index(source), graph.index(target), device) is not None


def shortest_path(G: Any, source: Any, target: Any, device: str = "auto", *, weights: Any = None) -> list[Any]:
    """One shortest path from source to target, by weights or in hops: labels or ids, both endpoints included.

    `all_shortest_paths` returns every shortest path, `shortest_paths` one path for each of many pairs.
    Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}, optional
        Where to compute. "auto" is the CPU, where a search starts from both endpoints. On a GPU, a weighted search
        starts only from the source.

    Raises
    ------
    GraphError
        There is no path.

    Notes
    -----
    With weights, Dijkstra's algorithm runs from both endpoints until the searches meet. If they do not meet soon, as in
    a mesh, all threads search from the source, as in `sssp(targets=)`; a GPU always does. The length of the path is
    bitwise identical to the distance of `sssp`.

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
    if has_lengths and _checked(device) == "cuda":
        found = _paths.one_path_on_gpu(Matrix.from_graph(graph), s, t)
    elif has_lengths:
        found = _paths.paths_of_pairs(graph, True, [(s, t)], None)[0][1]
    else:
        found = _fewest_hops(graph, s, t, device)
    if found is None:
        raise _no_path(source, target)
    return _named(graph, found)


def shortest_paths(
    G: Any, pairs: Iterable[tuple[Any, Any]], weights: Any = None, *, threads: int | None = None
) -> list[list[Any] | None]:
    """One shortest path for each of many pairs, found in parallel: labels or ids, or None if there is no path.

    Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    pairs : list of (source, target)
        Ids, or labels if the graph has labels.

    Examples
    --------
    >>> roads = hw.Graph.from_edges(["a", "a", "b"], ["c", "b", "c"], weights=[9.0, 2.0, 3.0])
    >>> hw.shortest_paths(roads, [("a", "c"), ("c", "b")])
    [['a', 'b', 'c'], ['c', 'b']]
    """
    if _is_one(pairs):
        remedy = "pass [(source, target), ...], or call shortest_path(G, source, target) for one pair"
        raise GraphError(f"{shown(pairs)} is not a list of pairs; {remedy}")
    graph, has_lengths = own_lengths(G, weights)
    check_thread_count(threads)
    if hasattr(pairs, "columns"):  # a table, which would iterate over its columns
        raise GraphError(f"a {type(pairs).__name__} is not a list of pairs; pass table[[source, target]].to_numpy()")
    ids = []
    for pair in pairs:
        if _is_one(pair) or len(two := list(pair)) != 2:
            raise GraphError(f"{pair!r} is not a pair of vertices; pass (source, target)")
        ids.append((graph.index(two[0]), graph.index(two[1])))
    found = _paths.paths_of_pairs(graph, has_lengths, ids, threads)
    return [None if path is None else _named(graph, path) for _, path in found]


def k_shortest_paths(G: Any, source: Any, target: Any, k: int, weights: Any = None, *, device: str = "auto") -> Routes:
    """The k shortest simple paths, which visit no vertex twice, shortest first, with their lengths.

    Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    k : int
        Number of paths.
    device : {"auto", "cpu", "cuda"}, optional
        Device of the two full searches, chosen as in `sssp`, and of the searches for deviations if there are many.

    Returns
    -------
    Routes, a list of (length, path)
        At most k paths. A path contains labels or ids, both endpoints included. `plot(xy=)` draws a map.

    Raises
    ------
    GraphError
        There is no path.

    Notes
    -----
    Two full searches remove the vertices that none of the k paths can visit, as in PeeK (Feng et al., SC '23). Yen's
    algorithm runs on the remaining graph. If paths tie for the last positions, any of the tied paths may be returned.

    Examples
    --------
    >>> roads = hw.Graph.from_edges(["a", "a", "b"], ["c", "b", "c"], weights=[9.0, 2.0, 3.0])
    >>> hw.k_shortest_paths(roads, "a", "c", 2)
    [(5.0, ['a', 'b', 'c']), (9.0, ['a', 'c'])]
    """
    graph, has_lengths = own_lengths(G, weights)
    s, t = graph.index(source), graph.index(target)
    if not is_whole(k) or k < 1:
        raise GraphError(f"k={k!r} is not a number of paths; pass an integer of at least 1")
    place = choose_device(search_work(graph), _checked(device), graph, None)
    paths = _paths.ranked_paths(graph, has_lengths, s, t, min(int(k), MOST_PATHS), place)
    found = Routes(((length, _named(graph, path)) for length, path in paths), graph)
    if not found:
        raise _no_path(source, target)
    return found


def all_shortest_paths(
    G: Any, source: Any, target: Any, device: str = "auto", *, weights: Any = None
) -> Iterator[list[Any]]:
    """Every shortest path from source to target, one at a time: labels or ids of the vertices, endpoints included.

    Weights are used; `weights=False` ignores them.

    Raises
    ------
    GraphError
        There is no path.

    Notes
    -----
    Two paths are equally long if the float64 sums of their weights from the source are equal, as in NetworkX. Arcs of
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
    if has_lengths:
        place = "cuda" if _checked(device) == "cuda" else "cpu"
        found = _paths.all_paths(Matrix.from_graph(graph), place, s, t)
    else:
        found = _all_by_hops(graph, s, t, device)
    if found is None:
        raise _no_path(source, target)
    return (_named(graph, path) for path in found)


def _checked(device: str) -> str:
    if not isinstance(device, str) or device not in ("auto", "cpu", "cuda"):
        problem = f"device={device!r} does not support weighted paths between two vertices"
        raise EngineError(f"{problem}; use device='cpu' or 'cuda', or weights=False to count hops")
    return device


def _all_by_hops(graph: Graph, source: int, target: int, device: str) -> Iterator[list[int]] | None:
    one = _fewest_hops(graph, source, target, device)
    if one is None:
        return None
    found = bfs(graph, graph.label(source), predecessors=False, depth_limit=len(one) - 1, device=device)
    return _paths.paths_back((graph.in_indptr, graph.in_indices, None), on_host(found.distances), source, target)


def _fewest_hops(graph: Graph, source: int, target: int, device: str) -> list[int] | None:
    return engine_for("shortest_path", device, graph, None, searches=0).shortest_path(graph, source, target)


def _is_one(value: Any) -> bool:
    return isinstance(value, str | bytes) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0


def _named(graph: Graph, path: list[int]) -> list[Any]:
    labels = graph.labels
    return path if labels is None else labels[path].tolist()


def _no_path(source: Any, target: Any) -> GraphError:
    return GraphError(f"there is no path from {source!r} to {target!r}; call has_path first, or choose another target")
