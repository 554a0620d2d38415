"""Questions that distances answer: check what was asked, choose an engine, search from many sources, wrap.

Everywhere G is a Graph, a SciPy sparse matrix or a NetworkX graph; a vertex is an id, or a label where the graph has
labels; `device` is "auto" or an engine's name; `threads` are the CPU engine's and change no bit of an answer;
`progress` is None (a bar on a terminal after two seconds), True, False, or a function of (sources done, all).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import distances as _distances
from hopwave.algorithms import many as _many
from hopwave.algorithms import sampled as _sampled
from hopwave.algorithms.brandes import Progress
from hopwave.algorithms.many import Integers, Sweep
from hopwave.answers import DistanceHistogram, VertexScores
from hopwave.api import as_graph, beside, bfs, hops
from hopwave.asked import answering, sampling, vertex_ids, walked
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph


def bfs_many(
    G: Any,
    sources: Iterable[Any],
    depth_limit: int | None = None,
    direction: Literal["out", "in"] = "out",
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> npt.NDArray[np.int32]:
    """Hops from each source to every vertex, one row a source in the order given; −1 where there is no way.

    Searches share their steps, up to 64 at a time, where that pays. The table takes 4 · sources · n bytes;
    `distance_blocks` gives it piece by piece.

    >>> import hopwave as hw
    >>> hw.bfs_many(hw.generate.path(4), [0, 2]).tolist()
    [[0, 1, 2, 3], [2, 1, 0, 1]]
    """
    graph = walked(as_graph(G), direction)
    job = Sweep(vertex_ids(graph, sources), "rows", hops("depth_limit", depth_limit))
    engine = answering("sweep", device, graph, threads, len(job.sources))
    return _many.sweep(engine, graph, job, "searches", progress, threads).rows


def distance_blocks(
    G: Any,
    sources: Iterable[Any] | None = None,
    depth_limit: int | None = None,
    direction: Literal["out", "in"] = "out",
    device: str = "auto",
    *,
    block_bytes: int = _many.BLOCK_BYTES,
    threads: int | None = None,
) -> Iterator[tuple[Integers, npt.NDArray[np.int32]]]:
    """The distances of `bfs_many` in pieces of at most block_bytes (but at least a row): (ids of sources, their rows).

    >>> import hopwave as hw
    >>> for ids, rows in hw.distance_blocks(hw.generate.path(3), block_bytes=24):
    ...     print(ids.tolist(), rows.tolist())
    [0, 1] [[0, 1, 2], [1, 0, 1]]
    [2] [[2, 1, 0]]
    """
    graph = walked(as_graph(G), direction)
    ids, limit = vertex_ids(graph, sources), hops("depth_limit", depth_limit)
    engine = answering("sweep", device, graph, threads, len(ids))
    return _many.distance_blocks(engine, graph, ids, threads, limit, block_bytes)


# ------------------------------------------------------------------ centralities


def closeness_centrality(
    G: Any,
    sources: Iterable[Any] | None = None,
    wf_improved: bool = True,
    k: int | None = None,
    seed: Any = None,
    delta: float = 0.1,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> VertexScores:
    """How near every vertex (or each of `sources`) is to those that can reach it, as NetworkX 3.6.1 defines it.

    Distances *into* a vertex count: for those out of it, give `G.reversed()`. `k` estimates all scores from that many
    sources; `bounds` then hold together with probability 1 − delta.

    >>> import hopwave as hw
    >>> hw.closeness_centrality(hw.generate.path(3)).to_dict()
    {0: 0.6666666666666666, 1: 1.0, 2: 0.6666666666666666}
    """
    graph = as_graph(G)
    drawn = sampling(graph, k, sources, delta)
    ids = vertex_ids(graph, sources)
    engine = answering("sweep", device, graph, threads, drawn or len(ids))
    if drawn is not None:
        found = _sampled.closeness(engine, graph, drawn, seed, delta, wf_improved, progress, threads)
        return _scores("closeness", *found, ids, graph, engine)
    sums = _many.sweep(engine, graph.reversed(), Sweep(ids, "sums"), "closeness", progress, threads)
    scores = _distances.closeness(sums.reached, sums.total, graph.n, wf_improved)
    return _scores("closeness", scores, None if k is None else np.zeros(len(ids)), ids, graph, engine)


def harmonic_centrality(
    G: Any,
    sources: Iterable[Any] | None = None,
    k: int | None = None,
    seed: Any = None,
    delta: float = 0.1,
    device: str = "auto",
    progress: Progress = None,
    *,
    among: Iterable[Any] | None = None,
    threads: int | None = None,
) -> VertexScores:
    """Σ 1/d over all that can reach a vertex, for every vertex or each of `sources` (NetworkX's `nbunch`).

    `among` sums over those vertices alone (NetworkX's `sources`). `k` estimates all scores from that many sources;
    `bounds` then hold together with probability 1 − delta.

    >>> import hopwave as hw
    >>> hw.harmonic_centrality(hw.generate.path(3)).scores.tolist()
    [1.5, 2.0, 1.5]
    """
    graph = as_graph(G)
    drawn = sampling(graph, k, sources if among is None else among, delta)
    ids = vertex_ids(graph, sources)
    chosen = None if among is None else np.unique(vertex_ids(graph, among))
    engine = answering("sweep", device, graph, threads, drawn or len(ids if chosen is None else chosen))
    if drawn is not None:
        estimate = _sampled.harmonic(engine, graph, drawn, seed, delta, progress, threads)
        return _scores("harmonic", *estimate, ids, graph, engine)
    if chosen is not None:
        shift = _sampled.reciprocal_bits(len(chosen))
        job = Sweep(chosen, "columns", weight="inverse", shift=shift)
        columns = _many.sweep(engine, graph, job, "harmonic centrality", progress, threads).columns
        return _scores("harmonic", columns[ids, 1] / 2.0**shift, None, ids, graph, engine)
    found = _many.sweep(engine, graph.reversed(), Sweep(ids, "sums"), "harmonic centrality", progress, threads)
    return _scores("harmonic", found.inverse, None if k is None else np.zeros(len(ids)), ids, graph, engine)


def _scores(name: str, scores: Any, bounds: Any, ids: Integers, graph: Graph, engine: Engine) -> VertexScores:
    scores, bounds = (beside(graph, engine, array) for array in (scores, bounds))
    return VertexScores(name, scores, ids, graph, bounds)


# ------------------------------------------------------------------ distances counted


def distance_histogram(
    G: Any,
    sources: Iterable[Any] | None = None,
    k: int | None = None,
    seed: Any = None,
    delta: float = 0.1,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> DistanceHistogram:
    """How many ordered pairs lie at each distance, from all sources or from those given.

    `k` estimates the counts for all sources from that many; `bounds` then hold together with probability 1 − delta.

    >>> import hopwave as hw
    >>> hw.distance_histogram(hw.generate.star(4)).counts.tolist()
    [4, 6, 6]
    """
    graph = as_graph(G)
    drawn = sampling(graph, k, sources, delta)
    ids = vertex_ids(graph, sources)
    engine = answering("sweep", device, graph, threads, drawn or len(ids))
    if drawn is not None:
        counts, bounds = _sampled.histogram(engine, graph, drawn, seed, delta, progress, threads)
        return DistanceHistogram(counts, graph.n**2, bounds)
    found = _many.sweep(engine, graph, Sweep(ids, "sums"), "distances", progress, threads)
    exact = np.trim_zeros(found.histogram, "b")
    return DistanceHistogram(exact, len(ids) * graph.n, None if k is None else np.zeros(len(exact)))


# ------------------------------------------------------------------ neighbourhoods


def k_hop(
    G: Any,
    vertex: Any,
    k: int,
    direction: Literal["out", "in"] = "out",
    device: str = "auto",
    *,
    threads: int | None = None,
) -> npt.NDArray[np.int64]:
    """The ids of all vertices within k hops of a vertex (or of the nearest of several), itself included, ascending.

    >>> import hopwave as hw
    >>> hw.k_hop(hw.generate.path(6), 2, 1).tolist()
    [1, 2, 3]
    """
    if k is None:
        raise GraphError("k=None is not a number of hops; give a whole number from 0")
    found = bfs(
        G, vertex, predecessors=False, depth_limit=hops("k", k), direction=direction, device=device, threads=threads
    )
    return (found.distances >= 0).nonzero()[0].astype(np.int64)  # CuPy's, where distances are


def pairs_within(
    G: Any,
    d: int,
    sources: Iterable[Any] | None = None,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """All pairs of different vertices within d hops of one another, as columns (source, target, distance) of ids.

    By source, and then nearest first. An undirected pair comes once, lower id first, unless `sources` are chosen.

    >>> import hopwave as hw
    >>> [column.tolist() for column in hw.pairs_within(hw.generate.path(4), 2)]
    [[0, 0, 1, 1, 2], [1, 2, 2, 3, 3], [1, 2, 1, 2, 1]]
    """
    graph = as_graph(G)
    limit = hops("d", d)
    if limit is None:
        raise GraphError("d=None is not a number of hops; give a whole number from 0")
    ids = vertex_ids(graph, sources)
    engine = answering("sweep", device, graph, threads, len(ids))
    job = Sweep(ids, "pairs", limit, upwards=not graph.directed and sources is None)
    found = _many.sweep(engine, graph, job, "pairs", progress, threads)
    return np.repeat(ids.astype(np.int32), found.reached), *found.pairs
