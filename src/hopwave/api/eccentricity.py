"""Eccentricity, and what follows from it: diameter, radius, center and periphery."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import distances as _distances
from hopwave.algorithms import many_sources as _many
from hopwave.api.arguments import as_graph, vertex_ids
from hopwave.api.choice import engine_for, to_input_device
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.jobs import Progress, Sweep
from hopwave.results.scores import VertexScores


def eccentricity(
    G: Any,
    vertices: Iterable[Any] | None = None,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> VertexScores:
    """The distance from every vertex to the vertex farthest from it.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph. A directed graph must be strongly connected. Weights are ignored: distances count hops.
    vertices : list of vertices, optional
        Whose eccentricity to compute; by default that of all vertices.
    device : {"auto", "cpu", "cuda"}, optional
        Where to compute. "auto" is a GPU if there is one and the work is worth it, else the CPU.
    progress : bool or callable, optional
        None shows a progress bar on a terminal after two seconds, True at once, False never. A function is called with
        (sources done, all sources).
    threads : int, optional
        Threads of the CPU engine; by default HOPWAVE_NUM_THREADS, else every core.

    Returns
    -------
    VertexScores
        One distance per vertex.

    Raises
    ------
    GraphError
        The graph is empty or not connected.

    Notes
    -----
    Each search bounds the eccentricities of all vertices (Takes & Kosters 2013). A few searches settle most vertices,
    so that a search from every vertex is rarely needed. The result is exact.

    Examples
    --------
    >>> import hopwave as hw
    >>> hw.eccentricity(hw.generate.path(4)).to_dict()
    {0: 3, 1: 2, 2: 2, 3: 3}
    """
    graph = as_graph(G)
    ids = vertex_ids(graph, vertices)
    engine = engine_for("sweep", device, graph, threads, _distances.BATCH if vertices is None else len(ids))
    if not len(ids):
        return VertexScores("eccentricity", np.zeros(0, np.int64), ids, graph)
    if vertices is None:
        _distances.check_connected(engine, graph, "eccentricity")
        exact, _ = _distances.bounded_eccentricities(engine, graph, "eccentricity", progress, threads)
        return VertexScores("eccentricity", to_input_device(graph, engine, exact.astype(np.int64)), ids, graph)
    found = _many.sweep(engine, graph, Sweep(ids, "sums"), "eccentricity", progress, threads)
    if (found.reached < graph.n).any():
        lost = int(np.argmax(found.reached < graph.n))
        raise GraphError(
            f"eccentricity of {graph.label(int(ids[lost]))!r} is infinite: it reaches {found.reached[lost]:,} of "
            f"{graph.n:,} vertices; take a connected component"
        )
    return VertexScores("eccentricity", to_input_device(graph, engine, found.farthest), ids, graph)


def diameter(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> int:
    """The greatest distance between two vertices of a connected graph.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph. A directed graph must be strongly connected. Weights are ignored: distances count hops.
    device, progress, threads
        As for `eccentricity`.

    Returns
    -------
    int
        The greatest eccentricity.

    Examples
    --------
    >>> import hopwave as hw
    >>> hw.diameter(hw.generate.grid(3, 4))
    5
    """
    _, low, _ = _bounds(G, "diameter", device, progress, threads)
    return int(low.max())


def radius(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> int:
    """The least eccentricity in a connected graph.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph. A directed graph must be strongly connected. Weights are ignored: distances count hops.
    device, progress, threads
        As for `eccentricity`.

    Returns
    -------
    int
        The least eccentricity.

    Examples
    --------
    >>> import hopwave as hw
    >>> hw.radius(hw.generate.path(5))
    2
    """
    _, _, high = _bounds(G, "radius", device, progress, threads)
    return int(high.min())


def center(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> list[Any]:
    """The vertices whose eccentricity is the radius.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph. A directed graph must be strongly connected. Weights are ignored: distances count hops.
    device, progress, threads
        As for `eccentricity`.

    Returns
    -------
    list
        Labels or ids, in vertex order.

    Examples
    --------
    >>> import hopwave as hw
    >>> hw.center(hw.generate.path(4))
    [1, 2]
    """
    graph, _, high = _bounds(G, "center", device, progress, threads)
    return [graph.label(v) for v in np.flatnonzero(high == high.min()).tolist()]


def periphery(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> list[Any]:
    """The vertices whose eccentricity is the diameter.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph. A directed graph must be strongly connected. Weights are ignored: distances count hops.
    device, progress, threads
        As for `eccentricity`.

    Returns
    -------
    list
        Labels or ids, in vertex order.

    Examples
    --------
    >>> import hopwave as hw
    >>> hw.periphery(hw.generate.path(4))
    [0, 3]
    """
    graph, low, _ = _bounds(G, "periphery", device, progress, threads)
    return [graph.label(v) for v in np.flatnonzero(low == low.max()).tolist()]


def _bounds(
    G: Any, goal: _distances.Goal, device: str, progress: Progress, threads: int | None
) -> tuple[Graph, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The graph, and lower and upper bounds on its eccentricities that are tight enough for the goal."""
    graph = as_graph(G)
    engine = engine_for("sweep", device, graph, threads, _distances.BATCH)
    _distances.check_connected(engine, graph, goal)
    return graph, *_distances.bounded_eccentricities(engine, graph, goal, progress, threads)
