"""Centralities from arcs: degrees, and by power iteration PageRank, eigenvector and Katz centrality, HITS."""

from __future__ import annotations

from typing import Any

import numpy as np

from hopwave.algebra.matrix import Matrix
from hopwave.algorithms import components as _components
from hopwave.api.arguments import as_graph, vertex_ids
from hopwave.api.choice import has_gpu, product_device
from hopwave.api.clustering import vertex_scores
from hopwave.api.weights import per_vertex, weighted
from hopwave.checks.numbers import is_number
from hopwave.checks.options import flag
from hopwave.errors import GraphError, warn
from hopwave.graph import Graph
from hopwave.graph.csr import arc_tails
from hopwave.linalg import algorithms
from hopwave.linalg.algorithms.operands import check_weights, square
from hopwave.planning.jobs import Integers
from hopwave.results.scores import HubsAndAuthorities, VertexScores

DEFAULT_TOL, MOST_CHANGE = 1e-6, 0.01  # default tol of PageRank, and maximum n · tol without a warning


def degree_centrality(G: Any) -> VertexScores:
    """Degree centrality: the degree of each vertex, divided by n − 1, as in NetworkX.

    In a directed graph, in- and out-arcs both count. A loop counts twice, and parallel arcs count one by one, so that
    scores can exceed 1. Weights are ignored.

    Examples
    --------
    >>> hw.degree_centrality(hw.generate.star(5)).scores.tolist()
    [1.0, 0.25, 0.25, 0.25, 0.25]
    """
    graph = as_graph(G, repeats="keep")
    if graph.directed:
        return _share("degree", graph, graph.degrees.astype(np.int64) + graph.in_degrees)
    return _share("degree", graph, _components.degrees_with_loops(graph))


def in_degree_centrality(G: Any) -> VertexScores:
    """In-degree centrality of a directed graph: the in-degree of each vertex, divided by n − 1. Weights are ignored.

    Examples
    --------
    >>> hw.in_degree_centrality(hw.generate.path(3, directed=True)).scores.tolist()
    [0.0, 0.5, 0.5]
    """
    graph = _directed(as_graph(G, repeats="keep"))
    return _share("in-degree", graph, graph.in_degrees)


def out_degree_centrality(G: Any) -> VertexScores:
    """Out-degree centrality of a directed graph: the out-degree of each vertex over n − 1. Weights are ignored.

    Examples
    --------
    >>> hw.out_degree_centrality(hw.generate.path(3, directed=True)).scores.tolist()
    [0.5, 0.5, 0.0]
    """
    graph = _directed(as_graph(G, repeats="keep"))
    return _share("out-degree", graph, graph.degrees)


def strength(G: Any, weights: Any = None) -> VertexScores:
    """Strength (weighted degree): the sum of the weights of the edges at each vertex.

    In a directed graph, in- and out-arcs both count. A loop counts twice, and parallel edges are added up, as in
    NetworkX. Without weights, strengths are degrees. Weights are used; `weights=False` ignores them.

    Examples
    --------
    >>> hw.strength(hw.Graph.from_edges(["a", "a"], ["b", "c"], weights=[2.0, 0.5])).to_dict()
    {'a': 2.5, 'b': 2.0, 'c': 0.5}
    """
    graph, matrix = weighted(G, weights, parallel="sum")
    rows = matrix.to("cpu").rows
    tail, head = arc_tails(rows), rows.indices
    values = np.ones(len(head)) if rows.values is None else np.asarray(rows.values, np.float64)
    again = values if graph.directed else np.where(tail == head, values, 0.0)  # undirected edges are two arcs already
    scores = np.bincount(tail, values, graph.n) + np.bincount(head, again, graph.n)
    return VertexScores("strength", scores, vertex_ids(graph, None), graph)


def _directed(graph: Graph) -> Graph:
    if not graph.directed:
        raise GraphError("an undirected graph has no in- and out-degrees; use degree_centrality")
    return graph


def _share(name: str, graph: Graph, degrees: Integers) -> VertexScores:
    """Degrees times 1 / (n − 1), by the same operations as NetworkX; 1 in a graph of one vertex."""
    scores = np.ones(graph.n) if graph.n <= 1 else degrees * (1.0 / (graph.n - 1))
    return VertexScores(name, scores, vertex_ids(graph, None), graph)


def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Any = None,
    weights: Any = None,
    dangling: Any = None,
    *,
    adaptive: bool = False,
    device: str = "auto",
) -> VertexScores:
    """PageRank: how often a random walk visits each vertex, as NetworkX 3.6.1 computes it. The scores add up to 1.

    The walk chooses among arcs in proportion to their weights; weights of parallel edges are added up. G may also be a
    `linalg.Matrix`. Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    alpha : float, optional
        Probability that the walk follows an arc. Otherwise it jumps to a random vertex.
    personalization : mapping, pandas Series or array, optional
        Probability of each vertex as the target of a jump, up to a common factor: an array, or a mapping or Series by
        vertex (0 for missing vertices). By default, all vertices are equally likely.
    max_iter : int, optional
        Maximum number of rounds.
    tol : float, optional
        Stop when a round changes the scores by less than n · tol in total. This is NetworkX's rule, and it is weak on
        large graphs (the default gives a warning above 10,000 vertices): for a total error of about 1e-6, pass
        `tol=1e-6 / G.n`. If n · tol is at least 1e-6, a GPU reads the scores of large unweighted graphs in float32;
        sums are float64.
    nstart : mapping or array, optional
        Initial scores; default: all equal.
    dangling : mapping or array, optional
        Probabilities of the next vertex after a vertex without out-arcs; default: `personalization`.
    adaptive : bool, optional
        Whether to skip scores that have converged, which saves work if most converge early. The last bits may differ.

    Raises
    ------
    ConvergenceError
        The scores did not converge within `max_iter` rounds. (A kind of GraphError.)

    Examples
    --------
    >>> web = hw.Graph.from_edges([0, 1, 2, 3], [2, 2, 0, 2], directed=True)
    >>> hw.pagerank(web).scores.round(3).tolist()
    [0.445, 0.038, 0.48, 0.038]
    """
    adaptive = flag("adaptive", adaptive)
    graph, A, device = _ranked(G, weights, "rank", device, packed=not adaptive)
    found = algorithms.pagerank(
        A,
        alpha,
        per_vertex(graph, personalization, "personalization"),
        per_vertex(graph, dangling, "dangling"),
        per_vertex(graph, nstart, "nstart"),
        tol,
        max_iter,
        adaptive=adaptive,
        device=device,
    )
    if tol == DEFAULT_TOL and graph.n * tol > MOST_CHANGE:
        reason = f"PageRank stopped when a round changed the scores by less than n · tol = {graph.n * tol:.2g} in total"
        warn(f"{reason}; pass tol={1e-6 / graph.n:.0e} for a total of 1e-6", UserWarning)
    return vertex_scores("pagerank", found, graph)


def eigenvector_centrality(
    G: Any, max_iter: int = 100, tol: float = 1e-6, nstart: Any = None, weights: Any = None, *, device: str = "auto"
) -> VertexScores:
    """Eigenvector centrality: a score proportional to the sum of the predecessors' scores, as in NetworkX 3.6.1.

    G may also be a `linalg.Matrix`. For successors instead of predecessors, pass `G.reverse()`. `katz_centrality` is
    also defined for graphs without cycles. Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    tol : float, optional
        Stop when a round changes the scores by less than n · tol in total.
    nstart : mapping or array, optional
        Nonnegative initial scores: an array, or a mapping by vertex (0 for missing vertices); default: all equal.
    max_iter
        See `pagerank`.

    Notes
    -----
    Power iteration with A + I, where A is the adjacency matrix; the squares of the scores add up to 1. If no cycle can
    be reached backwards from a vertex, its score tends to 0, and the returned score depends on `tol`. If the scores do
    not converge within `max_iter` rounds, a ConvergenceError is raised. NetworkX's `weight=None` ignores weights.

    Examples
    --------
    >>> hw.eigenvector_centrality(hw.generate.path(4)).scores.round(2).tolist()
    [0.37, 0.6, 0.6, 0.37]
    """
    graph, A, device = _ranked(G, weights, "centrality", device)
    start = per_vertex(graph, nstart, "nstart")
    found = algorithms.eigenvector_centrality(A, max_iter, tol, start, device=device)
    return vertex_scores("eigenvector centrality", found, graph)


def katz_centrality(
    G: Any,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    nstart: Any = None,
    normalized: bool = True,
    weights: Any = None,
    *,
    device: str = "auto",
) -> VertexScores:
    """Katz centrality: the number of walks to a vertex, with long walks counted less, as NetworkX 3.6.1 computes it.

    G may also be a `linalg.Matrix`. For walks out of a vertex, pass `G.reverse()`.
    Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    alpha : float, optional
        Factor per arc: a walk counts the product of alpha · weight over its arcs. alpha must be below 1 / the largest
        eigenvalue of the adjacency matrix; otherwise the sums diverge, and the call raises an error.
    beta : float, mapping or array, optional
        Score of a vertex without any walks: one number, or one per vertex (in a mapping, 0 for missing vertices).
    nstart : mapping or array, optional
        Initial scores; default: 0.
    normalized : bool, optional
        Whether to scale the scores so that their squares add up to 1.
    max_iter, tol
        See `eigenvector_centrality`, which is the limit as alpha approaches 1 / the largest eigenvalue. If the scores
        do not converge, a ConvergenceError is raised.

    Examples
    --------
    >>> chain = hw.Graph.from_edges([0, 1], [1, 2], directed=True)
    >>> hw.katz_centrality(chain, alpha=0.5, normalized=False).scores.tolist()
    [1.0, 1.5, 1.75]
    """
    graph, A, device = _ranked(G, weights, "centrality", device)
    own = beta if is_number(beta) else per_vertex(graph, beta, "beta")
    normalized = flag("normalized", normalized)
    start = per_vertex(graph, nstart, "nstart")
    found = algorithms.katz_centrality(A, alpha, own, max_iter, tol, start, normalized, device=device)
    return vertex_scores("katz centrality", found, graph)


def hits(
    G: Any,
    max_iter: int = 100,
    tol: float = 1e-8,
    nstart: Any = None,
    normalized: bool = True,
    weights: Any = None,
    *,
    device: str = "auto",
) -> HubsAndAuthorities:
    """HITS: good hubs have arcs to good authorities, and good authorities have arcs from good hubs.

    G may also be a `linalg.Matrix`. Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    tol : float, optional
        Stop when a round changes the authorities (a vector of length 1) by less than this in total.
    nstart
        Initial authorities; see `eigenvector_centrality`.
    normalized : bool, optional
        Whether hubs and authorities each add up to 1. Otherwise, the squares of the authorities add up to 1, and a hub
        is the sum of its authorities, each times the weight of the arc.
    max_iter
        See `pagerank`. If the authorities do not converge, a ConvergenceError is raised.

    Returns
    -------
    HubsAndAuthorities
        Tuple of `hubs` and `authorities`, each with one score per vertex, as in NetworkX. All scores are 0 in a graph
        without arcs or without a positive weight, where NetworkX raises an error of ARPACK.

    Notes
    -----
    The authorities are the first right singular vector of the adjacency matrix. Lanczos' algorithm finds it and stores
    20 vectors, as ARPACK does for NetworkX. If several singular vectors share the largest singular value, as in
    undirected bipartite graphs, the result is the vector nearest to `nstart`; NetworkX's choice is then random.

    Examples
    --------
    >>> web = hw.Graph.from_edges([0, 1, 1], [2, 2, 3], directed=True)
    >>> hubs, authorities = hw.hits(web)
    >>> hubs.scores.round(3).tolist(), authorities.top(1)[0][0]
    ([0.382, 0.618, 0.0, 0.0], 2)
    """
    graph, A, device = _ranked(G, weights, "centrality", device, packed=False)
    start = per_vertex(graph, nstart, "nstart")
    normalized = flag("normalized", normalized)
    hubs, authorities = algorithms.hits(A, max_iter, tol, start, normalized, device=device)
    return HubsAndAuthorities(vertex_scores("hub", hubs, graph), vertex_scores("authority", authorities, graph))


def _ranked(G: Any, weights: Any, what: str, device: str, packed: bool = True) -> tuple[Graph, Matrix, str]:
    """(graph, checked matrix, device). `packed`: whether unweighted rounds can read compressed adjacency lists."""
    graph, A = weighted(G, weights, parallel="sum")
    device = product_device(graph, device, packed and not A.has_values)
    if isinstance(device, str) and device == "cuda" and has_gpu():  # compressed, if the GPU stores the graph compressed
        from hopwave.engines.cuda.linalg.power import matrix_of

        A = matrix_of(graph, A)
    A = square(A, device, weights=True)
    check_weights(A, what, finite=True, called=graph.label)
    return graph, A, device
