"""Eccentricity, and what follows from it: diameter, radius, center and periphery."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import distances as _distances
from hopwave.algorithms.reduction.distance_sums import sums
from hopwave.api.arguments import vertex_ids
from hopwave.api.choice import distance_engine, to_input_device
from hopwave.api.weights import as_lengths
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import Progress
from hopwave.planning.many_sources import Sweep
from hopwave.results.scores import VertexScores


def eccentricity(
    G: Any,
    vertices: Iterable[Any] | None = None,
    device: str = "auto",
    progress: Progress = None,
    *,
    weights: Any = None,
    threads: int | None = None,
    executor: Executor | None = None,
    reduce: bool = True,
) -> VertexScores:
    """The distance from every vertex to the vertex farthest from it.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph. A directed graph must be strongly connected.
        Weights are ignored unless `weights=` says otherwise.
    vertices : list of vertices, optional
        Whose eccentricity to compute; by default that of all vertices.
    device, progress, weights, threads, executor
        As for `closeness_centrality`.
    reduce : bool, optional
        Leave out trees and chains, as `closeness_centrality` does, if that is less work and if bounds leave many
        vertices to search from (Notes). The result is the same.

    Returns
    -------
    VertexScores
        One distance per vertex; none of an empty graph.

    See Also
    --------
    diameter, radius, center, periphery

    Notes
    -----
    Each search bounds the eccentricities of all vertices (Takes & Kosters 2013). A few searches settle most vertices,
    so that a search from every vertex is rarely needed. The result is exact.

    Along weights the same bounds hold, up to rounding. They are widened by the greatest rounding error, so that the
    result is, bit for bit, that of a search from every vertex. The eccentricities of all vertices then need a search
    from each vertex, unless every sum is exact, as with whole numbers.

    Examples
    --------
    >>> hw.eccentricity(hw.generate.path(4)).to_dict()
    {0: 3, 1: 2, 2: 2, 3: 3}
    """
    graph, weighted = as_lengths(G, weights)
    ids = vertex_ids(graph, vertices)
    searches = _distances.BATCH if vertices is None else len(ids)
    engine = distance_engine(weighted, device, graph, threads, searches, executor)
    kind = np.float64 if weighted else np.int64
    if not len(ids):
        return VertexScores("eccentricity", np.zeros(0, kind), ids, graph)
    if vertices is None:
        _distances.check_connected(engine, graph, "eccentricity")
        exact, _, about = _distances.bounded_eccentricities(
            engine, graph, "eccentricity", progress, threads, weighted, executor is None, reduce
        )
        there = to_input_device(graph, engine, exact.astype(kind))
        return VertexScores("eccentricity", there, ids, graph, reduction=about)
    job, alone = Sweep(ids, "sums", weighted=weighted), executor is None
    found, about = sums(engine, graph, job, "farthest", "eccentricity", progress, threads, alone, reduce)
    if (found.reached < graph.n).any():
        lost = int(np.argmax(found.reached < graph.n))
        raise GraphError(
            f"eccentricity of {graph.label(int(ids[lost]))!r} is infinite: it reaches {found.reached[lost]:,} of "
            f"{graph.n:,} vertices; take a connected component"
        )
    there = to_input_device(graph, engine, found.farthest)
    return VertexScores("eccentricity", there, ids, graph, reduction=about)


def diameter(
    G: Any,
    device: str = "auto",
    progress: Progress = None,
    *,
    weights: Any = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> float:
    """The greatest distance between two vertices of a connected graph.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph with at least one vertex. A directed graph must be strongly connected.
        Weights are ignored unless `weights=` says otherwise.
    device, progress, weights, threads, executor
        As for `closeness_centrality`.

    Returns
    -------
    int, or float with `weights`
        The greatest eccentricity.

    See Also
    --------
    eccentricity, radius, periphery

    Examples
    --------
    >>> hw.diameter(hw.generate.grid(3, 4))
    5
    """
    _, low, _ = _bounds(G, "diameter", device, progress, weights, threads, executor)
    greatest: float = low.max().item()
    return greatest


def radius(
    G: Any,
    device: str = "auto",
    progress: Progress = None,
    *,
    weights: Any = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> float:
    """The least eccentricity in a connected graph.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph with at least one vertex. A directed graph must be strongly connected.
        Weights are ignored unless `weights=` says otherwise.
    device, progress, weights, threads, executor
        As for `closeness_centrality`.

    Returns
    -------
    int, or float with `weights`
        The least eccentricity.

    See Also
    --------
    eccentricity, diameter, center

    Examples
    --------
    >>> hw.radius(hw.generate.path(5))
    2
    """
    _, _, high = _bounds(G, "radius", device, progress, weights, threads, executor)
    least: float = high.min().item()
    return least


def center(
    G: Any,
    device: str = "auto",
    progress: Progress = None,
    *,
    weights: Any = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> list[Any]:
    """The vertices whose eccentricity is the radius.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph with at least one vertex. A directed graph must be strongly connected.
        Weights are ignored unless `weights=` says otherwise.
    device, progress, weights, threads, executor
        As for `closeness_centrality`.

    Returns
    -------
    list
        Labels or ids, in vertex order.

    See Also
    --------
    eccentricity, radius, periphery, barycenter

    Examples
    --------
    >>> hw.center(hw.generate.path(4))
    [1, 2]
    """
    graph, _, high = _bounds(G, "center", device, progress, weights, threads, executor)
    return [graph.label(v) for v in np.flatnonzero(high == high.min()).tolist()]


def periphery(
    G: Any,
    device: str = "auto",
    progress: Progress = None,
    *,
    weights: Any = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> list[Any]:
    """The vertices whose eccentricity is the diameter.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph with at least one vertex. A directed graph must be strongly connected.
        Weights are ignored unless `weights=` says otherwise.
    device, progress, weights, threads, executor
        As for `closeness_centrality`.

    Returns
    -------
    list
        Labels or ids, in vertex order.

    See Also
    --------
    eccentricity, diameter, center

    Examples
    --------
    >>> hw.periphery(hw.generate.path(4))
    [0, 3]
    """
    graph, low, _ = _bounds(G, "periphery", device, progress, weights, threads, executor)
    return [graph.label(v) for v in np.flatnonzero(low == low.max()).tolist()]


def _bounds(
    G: Any,
    goal: _distances.Goal,
    device: str,
    progress: Progress,
    weights: Any,
    threads: int | None,
    executor: Executor | None,
) -> tuple[Graph, npt.NDArray[Any], npt.NDArray[Any]]:
    """The graph, and lower and upper bounds on its eccentricities that are tight enough for the goal."""
    graph, weighted = as_lengths(G, weights)
    engine = distance_engine(weighted, device, graph, threads, _distances.BATCH, executor)
    _distances.check_connected(engine, graph, goal)
    low, high, _ = _distances.bounded_eccentricities(engine, graph, goal, progress, threads, weighted, executor is None)
    return graph, low, high
