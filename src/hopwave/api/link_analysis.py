"""Centralities by power iteration: PageRank, eigenvector centrality, Katz centrality, hubs and authorities.

They use the graph's own weights when it has them. Each function checks its arguments, runs an algorithm of
`hopwave.linalg` and wraps the result. Here G may also be a `linalg.Matrix`, and device="auto" is where it is.
"""

from __future__ import annotations

from typing import Any

from hopwave.algebra.matrix import Matrix
from hopwave.api.algebra import vertex_scores
from hopwave.api.choice import has_gpu, product_device
from hopwave.api.weights import per_vertex, weighted
from hopwave.checks.numbers import is_number
from hopwave.checks.options import flag
from hopwave.graph import Graph
from hopwave.linalg import algorithms
from hopwave.linalg.algorithms.operands import check_weights, square
from hopwave.results.scores import HubsAndAuthorities, VertexScores


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
    """PageRank: how often a random walk visits every vertex, as NetworkX 3.6.1 computes it.

    The walk chooses among arcs in proportion to the graph's own weights, if it has any.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix, linalg.Matrix or NetworkX graph
        The graph. The values of a matrix are its weights, and so is the edge attribute "weight" of a NetworkX graph:
        1 if an edge lacks it, the sum of parallel edges.
        Weights are followed; `weights=False` leaves them out.
    alpha : float, optional
        The probability that the walk follows an arc. Otherwise it jumps to a random vertex.
    personalization : mapping, pandas Series or array, optional
        How likely each vertex is as the target of a jump: a mapping or a Series by vertex (0 for vertices it does not
        name), or one number per vertex. By default all are equally likely.
    max_iter : int, optional
        The greatest number of rounds.
    tol : float, optional
        Stop when a round changes the ranks by less than n · tol in total. This is NetworkX's rule, and it is weak on
        large graphs: with a million vertices, the default stops after a round or two. For ranks that are right to 1e-6
        in total, give `tol=1e-6 / G.n`. The CPU accelerates the rounds on large undirected graphs, by the same rule.
        From a total of 1e-6 on, a GPU reads the ranks of large unweighted graphs in float32; all sums are float64.
    nstart : mapping or array, optional
        The ranks to start with. By default all are equal.
    weights : bool, array or str, optional
        None: the graph's own weights, if it has any. True: the graph's own weights; an error if it has none. False: all
        arcs are equally likely. An array or the name of an edge attribute: as for `sssp`.
    dangling : mapping or array, optional
        Where the walk goes from vertices without arcs; by default as `personalization`.
    adaptive : bool, optional
        Do not update ranks that have settled. This saves work if most ranks settle early. The stopping rule stays the
        same and ranks are as accurate, but their last bits differ.
    device : {"auto", "cpu", "cuda"}, optional
        Where to compute. "auto" is where the graph is.

    Returns
    -------
    VertexScores
        One rank per vertex. They add up to 1.

    Raises
    ------
    ConvergenceError
        The ranks did not converge within `max_iter` rounds. (A kind of GraphError.)

    See Also
    --------
    hits, eigenvector_centrality, katz_centrality

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
    return vertex_scores("pagerank", found, graph)


def eigenvector_centrality(
    G: Any, max_iter: int = 100, tol: float = 1e-6, nstart: Any = None, weights: Any = None, *, device: str = "auto"
) -> VertexScores:
    """Eigenvector centrality: proportional to the sum over the vertices with arcs to it, as in NetworkX 3.6.1.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix, linalg.Matrix or NetworkX graph
        The graph, as for `pagerank`; the weights of parallel edges are added up. For arcs out of a vertex instead of
        arcs into it, give `G.reverse()`.
        Weights are followed; `weights=False` leaves them out.
    tol : float, optional
        Stop when a round changes the centralities by less than n · tol in total.
    nstart : mapping or array, optional
        The centralities to start with, none of them negative: a mapping by vertex (0 for vertices it does not name), or
        one number per vertex. By default all are equal.
    weights : bool, array or str, optional
        As for `pagerank`: None for the graph's own, if it has any; False for none. (NetworkX's `weight=None` ignores
        them.)
    max_iter, device
        As for `pagerank`.

    Returns
    -------
    VertexScores
        One number per vertex. Their squares add up to 1.

    Raises
    ------
    ConvergenceError
        The centralities did not converge within `max_iter` rounds. (A kind of GraphError.)

    See Also
    --------
    katz_centrality : also defined where arcs form no cycle.

    Notes
    -----
    Power iteration with A + I, where A is the adjacency matrix. If no cycle can be reached backwards from a vertex, its
    centrality tends to 0; what remains depends on `tol`.

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
    """Katz centrality: how many walks lead to a vertex, long ones counted less, as NetworkX 3.6.1 computes it.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix, linalg.Matrix or NetworkX graph
        The graph, as for `pagerank`; the weights of parallel edges are added up. For walks out of a vertex instead of
        walks into it, give `G.reverse()`.
        Weights are followed; `weights=False` leaves them out.
    alpha : float, optional
        A walk counts the product of alpha · weight over its arcs. alpha must be below 1 / the greatest eigenvalue of
        the adjacency matrix; otherwise the sums grow for ever, and an error says so.
    beta : float, mapping or array, optional
        The centrality that a vertex has without any walks: one number for all, or one per vertex (in a mapping, 0 for
        vertices it does not name).
    tol : float, optional
        Stop when a round changes the centralities by less than n · tol in total.
    nstart : mapping or array, optional
        The centralities to start with. By default all are 0.
    normalized : bool, optional
        Whether to scale the centralities so that their squares add up to 1.
    weights : bool, array or str, optional
        As for `pagerank`: None for the graph's own, if it has any; False for none. (NetworkX's `weight=None` ignores
        them.)
    max_iter, device
        As for `pagerank`.

    Raises
    ------
    ConvergenceError
        The centralities did not converge within `max_iter` rounds. (A kind of GraphError.)

    See Also
    --------
    eigenvector_centrality : its limit as alpha grows.

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

    Parameters
    ----------
    G : Graph, SciPy sparse matrix, linalg.Matrix or NetworkX graph
        The graph, as for `pagerank`; the weights of parallel edges are added up.
        Weights are followed; `weights=False` leaves them out.
    tol : float, optional
        Stop when a round changes the authorities (a vector of length 1) by less than this in total.
    nstart : mapping or array, optional
        The authorities to start with, none of them negative: a mapping by vertex (0 for vertices it does not name), or
        one number per vertex. By default all are equal.
    normalized : bool, optional
        Whether hubs and authorities each add up to 1. Otherwise the squares of the authorities do, and a hub is the
        sum of its authorities, each times the weight of the arc.
    weights : bool, array or str, optional
        As for `pagerank`: None for the graph's own, if it has any; False for none.
    max_iter, device
        As for `pagerank`.

    Returns
    -------
    HubsAndAuthorities
        `hubs` and `authorities`, one number per vertex each; a tuple of the two, as in NetworkX. All are 0 in a graph
        without arcs or without a weight above 0, for which NetworkX raises an error of ARPACK.

    Raises
    ------
    ConvergenceError
        The authorities did not converge within `max_iter` rounds. (A kind of GraphError.)

    See Also
    --------
    pagerank, eigenvector_centrality

    Notes
    -----
    The authorities are the first right singular vector of the adjacency matrix A. A round makes up to 20 products with
    AᵀA and takes the best linear combination of the vectors they give (Lanczos, with thick restarts), as ARPACK does
    for NetworkX; 20 vectors are kept in memory. If several singular vectors belong to the greatest singular value, as
    in undirected bipartite graphs, this returns the one nearest to `nstart`; NetworkX's choice is then random.

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
    """The graph, its matrix, and where to compute; raises a GraphError for weights that cannot be added up.

    packed: whether the rounds read compressed rows; they do not where there are weights.
    """
    graph, A = weighted(G, weights, parallel="sum")
    device = product_device(graph, device, packed and not A.has_values)
    A = square(_as_kept(graph, A, device), device, weights=True)
    check_weights(A, what, finite=True, called=graph.label)
    return graph, A, device


def _as_kept(graph: Graph, A: Matrix, device: str) -> Matrix:
    """The matrix of a graph as a GPU keeps it: in fewer bits, if its rows are compressed there."""
    if not isinstance(device, str) or device != "cuda" or not has_gpu():
        return A
    from hopwave.engines.cuda.linalg.power import matrix_of

    found: Matrix = matrix_of(graph, A)
    return found
