"""Breadth-first searches: one, one after another, or from many sources at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algorithms import bfs as _bfs
from hopwave.algorithms import many_sources as _many
from hopwave.api.arguments import as_graph, hops, source_ids, vertex_ids, walked
from hopwave.api.choice import choose_device, choose_plan, engine_for
from hopwave.errors import GraphError
from hopwave.jobs import Integers, Progress, Question, Sweep
from hopwave.plan import Plan
from hopwave.results.search import BFSResult


def bfs(
    G: Any,
    source: Any,
    predecessors: bool = True,
    path_counts: bool = False,
    depth_limit: int | None = None,
    direction: Literal["out", "in"] = "out",
    plan: str | Plan = "auto",
    device: str = "auto",
    trace: bool = False,
    *,
    threads: int | None = None,
) -> BFSResult:
    """Hops from a source, or from the nearest of several, to every vertex.

    G is a Graph, a SciPy sparse matrix or a NetworkX graph. A source is a vertex id, or a label where the graph has
    labels; a list of them searches from all at once. `direction="in"` follows arcs backwards. `depth_limit` stops
    after that many hops. `plan` is a name from `hopwave.plans()`; `device` is "auto", "cpu", "cuda" or "reference".
    `trace=True` keeps what every level did. `threads` are the CPU engine's: by default the environment variable
    HOPWAVE_NUM_THREADS, else every core.

    >>> import hopwave as hw
    >>> r = hw.bfs(hw.generate.grid(3, 3), 0, path_counts=True)
    >>> r.distances.tolist()
    [0, 1, 2, 1, 2, 3, 2, 3, 4]
    >>> r.path_counts[8]
    np.float64(6.0)
    """
    graph = as_graph(G)
    if direction not in ("out", "in"):
        raise GraphError(f"direction={direction!r} is not known; use 'out' or 'in'")
    question = Question(predecessors, path_counts, hops("depth_limit", depth_limit))
    sources = source_ids(graph, source)
    engine = engines.engine(choose_device(device, graph, threads))
    chosen, why = choose_plan(plan, question, engine)
    walked = graph.reversed() if direction == "in" else graph
    return _bfs.search(engine, walked, sources, question, chosen, why, trace, threads)


def bfs_each(
    G: Any,
    sources: Iterable[Any],
    predecessors: bool = True,
    path_counts: bool = False,
    depth_limit: int | None = None,
    direction: Literal["out", "in"] = "out",
    plan: str | Plan = "auto",
    device: str = "auto",
    *,
    threads: int | None = None,
) -> Iterator[BFSResult]:
    """One search after another, each from its own source: one upload, workspaces used again, checks made once.

    Arguments as for `bfs`. Every source is checked before the first search begins.

    >>> import hopwave as hw
    >>> [r.depth for r in hw.bfs_each(hw.generate.path(4), [0, 1])]
    [3, 2]
    """
    graph = as_graph(G)
    if direction not in ("out", "in"):
        raise GraphError(f"direction={direction!r} is not known; use 'out' or 'in'")
    question = Question(predecessors, path_counts, hops("depth_limit", depth_limit))
    ids = [(graph.index(source),) for source in sources]
    engine = engines.engine(choose_device(device, graph, threads))
    chosen, why = choose_plan(plan, question, engine)
    walked = graph.reversed() if direction == "in" else graph
    return (_bfs.search(engine, walked, one, question, chosen, why, False, threads) for one in ids)


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
    engine = engine_for("sweep", device, graph, threads, len(job.sources))
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
    engine = engine_for("sweep", device, graph, threads, len(ids))
    return _many.distance_blocks(engine, graph, ids, threads, limit, block_bytes)
