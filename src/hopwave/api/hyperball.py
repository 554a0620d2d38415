"""Distances of very large graphs from small counters: HyperBall."""

from __future__ import annotations

from typing import Any

from hopwave.algorithms import hyperball as _hyperball
from hopwave.api.arguments import as_graph, vertex_ids
from hopwave.api.choice import engine_for
from hopwave.checks.numbers import is_whole
from hopwave.errors import GraphError
from hopwave.planning.jobs import Progress
from hopwave.results.hyperball import HyperBall
from hopwave.results.scores import VertexScores

MOST_RUNS = 1 << 16


def hyperball(
    G: Any,
    precision: int = 8,
    runs: int = 8,
    seed: Any = None,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> HyperBall:
    """Mean distance, effective diameter, closeness and harmonic centrality of all vertices, estimated by HyperBall.

    Every vertex has a counter of 2^precision bytes, which estimates how many vertices reach it in t hops. A run takes
    as many steps as the graph is deep, each at most one pass over the arcs: for graphs that are too large for a search
    from every vertex, and that are not deep.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A graph with at least one vertex. Distances *into* a vertex count; for distances out of it, give
        `G.reverse()`. Weights are ignored.
    precision : int, optional
        From 4 to 16. The standard error of one counter is 1.04 / √2^precision of its size, in one run; all counters
        take 2 · n · 2^precision bytes.
    runs : int, optional
        How often to count, with other hashes; from 2 to 65,536: standard errors come from the spread of the runs.
    seed : int or NumPy generator, optional
        Makes the result repeatable, to the last bit, whatever the number of threads.
    device : {"auto", "cpu"}, optional
        Where to compute. A GPU does not offer this.
    progress : bool or callable, optional
        None shows a progress bar on a terminal after two seconds, True at once, False never. A function is called with
        (runs done, all runs).
    threads : int, optional
        Threads of the CPU engine; by default HOPWAVE_NUM_THREADS, else every core.

    Returns
    -------
    HyperBall
        `mean_distance`, `effective_diameter()`, `neighbourhood`, `closeness` and `harmonic`, all with standard errors.

    Raises
    ------
    EngineError
        The counters do not fit into memory.

    See Also
    --------
    average_shortest_path_length, distance_histogram, closeness_centrality : exact, or from `k` sources with bounds.

    Notes
    -----
    Boldi and Vigna, In-core computation of geometric centralities with HyperBall (2013), with Ertl's estimator (2017).

    Examples
    --------
    >>> G = hw.generate.smallworld(2000, 6, 0.1, seed=1)
    >>> value, error = hw.hyperball(G, seed=1).mean_distance
    >>> abs(value - hw.average_shortest_path_length(G)) < 3 * error
    True
    """
    graph = as_graph(G)
    for name, value, least, most in (("precision", precision, 4, 16), ("runs", runs, 2, MOST_RUNS)):
        if not is_whole(value) or not least <= value <= most:
            raise GraphError(f"{name}={value!r} cannot be used; give a whole number from {least} to {most}")
    if graph.n == 0:
        raise GraphError("this graph has no vertices, so it has no distances; give at least one")
    engine = engine_for("hyperball", device, graph, threads, int(runs))
    found = _hyperball.estimate(engine, graph, int(precision), int(runs), seed, progress, threads)
    (near, near_errors), (inverse, inverse_errors) = found.closeness, found.harmonic
    ids = vertex_ids(graph, None)
    return HyperBall(
        found.pairs,
        VertexScores("closeness", near, ids, graph),
        near_errors,
        VertexScores("harmonic", inverse, ids, graph),
        inverse_errors,
        int(precision),
    )
