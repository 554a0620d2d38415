"""Eccentricity, and what follows from it: diameter, radius, center and periphery."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import distances as _distances
from hopwave.algorithms.reduction.distance_sums import sums
from hopwave.api.arguments import vertex_ids
from hopwave.api.choice import to_input_device
from hopwave.api.options import Run, Running
from hopwave.api.weights import as_lengths
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.many_sources import Sweep
from hopwave.results.scores import VertexScores


def eccentricity(
    G: Any, vertices: Iterable[Any] | None = None, *, weights: Any = None, reduce: bool = True, **run: Unpack[Run]
) -> VertexScores:
    """Eccentricity of every vertex: the largest distance from it to another vertex.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph. A directed graph must be strongly connected.
        Weights are ignored unless `weights=` says otherwise.
    vertices : list of vertices, optional
        Vertices whose eccentricity to compute; by default all.
    reduce : bool, optional
        Whether to skip trees and chains, as `closeness_centrality` does, if that saves work and bounds leave many
        vertices to search from (Notes). Results are the same.

    Notes
    -----
    Each search bounds the eccentricities of all vertices (Takes & Kosters 2013), so that few searches are needed. The
    result is exact.

    Along weights, bounds are widened by the largest rounding error: the result is bitwise identical to that of a search
    from every vertex. The eccentricities of all vertices then need one search each, unless every sum is exact, as with
    integers.

    Examples
    --------
    >>> hw.eccentricity(hw.generate.path(4)).to_dict()
    {0: 3, 1: 2, 2: 2, 3: 3}
    """
    how, (graph, weighted) = Running(**run), as_lengths(G, weights)
    ids = vertex_ids(graph, vertices)
    engine = how.engine(weighted, graph, _distances.BATCH if vertices is None else len(ids))
    kind = np.float64 if weighted else np.int64
    if not len(ids):
        return VertexScores("eccentricity", np.zeros(0, kind), ids, graph)
    if vertices is None:
        _distances.check_connected(engine, graph, "eccentricity")
        farthest, _, about = _distances.bounded_eccentricities(
            engine, graph, "eccentricity", how.progress, how.threads, weighted, how.alone, reduce
        )
        farthest = farthest.astype(kind)
    else:
        job = Sweep(ids, "sums", weighted=weighted)
        found, about = sums(
            engine, graph, job, "farthest", "eccentricity", how.progress, how.threads, how.alone, reduce
        )
        if (found.reached < graph.n).any():
            lost = int(np.argmax(found.reached < graph.n))
            raise GraphError(
                f"eccentricity of {graph.label(int(ids[lost]))!r} is infinite: it reaches {found.reached[lost]:,} of "
                f"{graph.n:,} vertices; take a connected component"
            )
        farthest = found.farthest
    return VertexScores("eccentricity", to_input_device(graph, engine, farthest), ids, graph, reduction=about)


def diameter(G: Any, *, weights: Any = None, **run: Unpack[Run]) -> float:
    """Diameter: the largest eccentricity, which is the largest distance between two vertices.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph with at least one vertex. A directed graph must be strongly connected.
        Weights are ignored unless `weights=` says otherwise.

    Examples
    --------
    >>> hw.diameter(hw.generate.grid(3, 4))
    5
    """
    _, low, _ = _bounds(G, "diameter", weights, Running(**run))
    largest: float = low.max().item()
    return largest


def radius(G: Any, *, weights: Any = None, **run: Unpack[Run]) -> float:
    """Radius: the smallest eccentricity.

    The graph is as for `diameter`. Weights are ignored unless `weights=` says otherwise.

    Examples
    --------
    >>> hw.radius(hw.generate.path(5))
    2
    """
    _, _, high = _bounds(G, "radius", weights, Running(**run))
    smallest: float = high.min().item()
    return smallest


def center(G: Any, *, weights: Any = None, **run: Unpack[Run]) -> list[Any]:
    """Center: the vertices whose eccentricity is the radius, by label or id, in vertex order.

    The graph is as for `diameter`. Weights are ignored unless `weights=` says otherwise.

    Examples
    --------
    >>> hw.center(hw.generate.path(4))
    [1, 2]
    """
    graph, _, high = _bounds(G, "center", weights, Running(**run))
    return [graph.label(v) for v in np.flatnonzero(high == high.min()).tolist()]


def periphery(G: Any, *, weights: Any = None, **run: Unpack[Run]) -> list[Any]:
    """Periphery: the vertices whose eccentricity is the diameter, by label or id, in vertex order.

    The graph is as for `diameter`. Weights are ignored unless `weights=` says otherwise.

    Examples
    --------
    >>> hw.periphery(hw.generate.path(4))
    [0, 3]
    """
    graph, low, _ = _bounds(G, "periphery", weights, Running(**run))
    return [graph.label(v) for v in np.flatnonzero(low == low.max()).tolist()]


def _bounds(
    G: Any, goal: _distances.Goal, weights: Any, run: Running
) -> tuple[Graph, npt.NDArray[Any], npt.NDArray[Any]]:
    """The graph, and lower and upper bounds on its eccentricities that are tight enough for the goal."""
    graph, weighted = as_lengths(G, weights)
    engine = run.engine(weighted, graph, _distances.BATCH)
    _distances.check_connected(engine, graph, goal)
    low, high, _ = _distances.bounded_eccentricities(
        engine, graph, goal, run.progress, run.threads, weighted, run.alone
    )
    return graph, low, high
