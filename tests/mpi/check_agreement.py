"""Ranks that call different functions or pass different arguments: all ranks raise, and the next call works."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from rank_setup import FOLDER, WORLD

import hopwave as hw
from hopwave import Graph
from hopwave import distributed as hd
from hopwave.distributed import World
from hopwave.distributed.graph import rank_threads
from hopwave.errors import EngineError, GraphError

ODD = WORLD.size - 1  # the rank that disagrees
GRID = hw.generate.grid(4, 5)


def refused(call: Callable[..., Any], given: dict[str, Any], name: str, other: Any) -> None:
    """One rank passes another value for one argument; the message names that argument."""
    mine = {**given, name: other} if WORLD.rank == ODD else given
    with pytest.raises(GraphError, match=rf"rank {ODD} gives other arguments than rank 0 to \w+: {name}="):
        call(**mine)


def check_other_arguments() -> None:
    if WORLD.size == 1:
        return
    ends = {"source": [0, 1], "target": [1, 2]}
    for name, value, other in (
        ("n", 5, 6), ("n", None, 6), ("directed", False, True), ("layout", "1d", "2d"), ("balance", True, False),
    ):  # fmt: skip
        refused(hd.from_edges, {**ends, name: value}, name, other)
    for name, other in (("scale", 5), ("edge_factor", 3), ("seed", 2), ("directed", True), ("layout", (1, WORLD.size))):
        refused(hd.kronecker, {"scale": 4, "edge_factor": 2, "seed": 1, "directed": False, "layout": "1d"}, name, other)
    for name, other in (("n", 21), ("seed", 2)):
        refused(hd.uniform, {"n": 20, "edge_factor": 2, "seed": 1}, name, other)
    path = Path(FOLDER) / f"agreement-{WORLD.size}.mtx"
    if WORLD.rank == 0:
        hw.write(path, GRID)
    WORLD.barrier()
    refused(hd.read, {"path": path, "directed": False}, "directed", True)
    parts = hd.spread(GRID)
    for name, value, other in (
        ("source", 0, 1),
        ("depth_limit", 2, 3),
        ("predecessors", True, False),
        ("plan", "auto", "merrill"),
    ):
        refused(hd.bfs, {"G": parts, "source": 0, name: value}, name, other)
    for G in (GRID, parts):
        for name, value, other in (
            ("k", 3, 4), ("seed", 1, 2), ("sources", [1, 2], [1, 3]), ("cutoff", 2, 3), ("normalized", True, False),
            ("endpoints", False, True),
        ):  # fmt: skip
            given = {"G": G, name: value} | ({"k": 3} if name == "seed" else {"seed": 1} if name == "k" else {})
            refused(hd.betweenness_centrality, given, name, other)
    refused(hd.betweenness_centrality, {"G": parts, "split": "graph"}, "split", "sources")
    long = hw.generate.grid(40, 50)
    ones, other = np.ones(long.m), np.ones(long.m)
    other[long.m // 2] = 2.0  # in the middle, which a repr leaves out
    indexed = pd.Series(np.ones(long.n)), pd.Series(np.ones(long.n), index=np.arange(long.n)[::-1])
    for name, given, changed in (
        ("weights", ones, other),
        ("weights", pd.Series(ones), pd.Series(other)),
        ("source_weights", *indexed),
        ("source_weights", dict(enumerate(ones[: long.n])), dict(enumerate(2 * ones[: long.n]))),
        ("sources", np.array([0, 1], object), np.array([0, 2], object)),
    ):
        refused(hd.betweenness_centrality, {"G": long, "k": None, name: given}, name, changed)
    assert hd.bfs(parts, np.int64(0) if WORLD.rank == ODD else 0).reached == GRID.n
    assert hd.betweenness_centrality(GRID, k=3, seed=1).sources == 3


def check_sets_of_names() -> None:
    """Each process has another order of texts in a set: the same set is agreed on, and shared out in one order."""
    u, v = (np.array([f"place {i}" for i in ids], object) for ids in GRID.to_edges())
    G = Graph.from_edges(u, v)
    names, odd = ({f"place {i}" for i in range(begin, 20)} for begin in (3, 4))
    expected = hw.betweenness_centrality(G, sources=sorted(names), device="cpu").scores
    for given in (names, frozenset(names)):
        assert hd.betweenness_centrality(G, sources=given).scores == pytest.approx(expected)
    parts = hd.spread(G)
    assert hd.bfs(parts, names).reached == G.n
    if WORLD.size > 1:
        refused(hd.bfs, {"G": parts, "source": names}, "source", odd)


def check_other_calls() -> None:
    if WORLD.size == 1:
        return
    parts = hd.spread(GRID)
    result = hd.bfs(parts, 0)
    calls: list[Callable[[], Any]] = [
        lambda: hd.bfs(parts, 0),
        lambda: hd.kronecker(4),
        lambda: hd.uniform(20),
        lambda: hd.from_edges([0], [1]),
        lambda: hd.betweenness_centrality(parts),
        lambda: hd.betweenness_centrality(GRID),
        lambda: hd.spread(GRID),
        result.gather,
        result.edges,
        parts.replicated,
    ]
    for i, call in enumerate(calls):
        other = calls[(i + 1) % len(calls)]
        with pytest.raises(
            GraphError, match=rf"rank {ODD} (calls \w+ where rank 0 calls \w+|gives other arguments).*all ranks must"
        ):
            (other if WORLD.rank == ODD else call)()
        assert hd.bfs(parts, 0).reached == GRID.n, i


def check_other_graphs() -> None:
    if WORLD.size == 1:
        return
    other = hw.generate.grid(5, 4)
    one, two = hd.spread(GRID), hd.spread(other)  # with equally many vertices and arcs
    for call in (lambda G: hd.bfs(G, 0), hd.betweenness_centrality, lambda G: G.replicated(), lambda G: G.sort_rows()):
        with pytest.raises(GraphError, match=rf"rank {ODD} gives other arguments .*: G=.*graph \d+ of this job"):
            call(two if WORLD.rank == ODD else one)
    with pytest.raises(GraphError, match=rf"rank {ODD} calls bfs where rank 0 calls sort_rows"):
        (lambda: hd.bfs(one, 0) if WORLD.rank == ODD else one.sort_rows())()
    one.sort_rows()
    assert hd.bfs(one, 0).reached == GRID.n
    with pytest.raises(GraphError, match="give different graphs to spread"):
        hd.spread(other if WORLD.rank == ODD else GRID)
    with pytest.raises(GraphError, match="no rank gives a graph"):
        hd.spread(None)
    assert hd.spread(None if WORLD.rank == 0 else GRID).n == GRID.n
    with pytest.raises(GraphError, match=rf"rank {ODD} gives other arguments .* to betweenness_centrality: G="):
        hd.betweenness_centrality(other if WORLD.rank == ODD else GRID)
    named = [Graph.from_edges([0, 1], [1, 2], labels=labels) for labels in (["a", "b", "c"], ["c", "b", "a"])]
    with pytest.raises(GraphError, match=rf"rank {ODD} gives other arguments .* to betweenness_centrality: G="):
        hd.betweenness_centrality(named[WORLD.rank == ODD])
    assert hd.betweenness_centrality(named[0]).to_dict() == hw.betweenness_centrality(named[0]).to_dict()
    with pytest.raises(GraphError):
        hd.betweenness_centrality("no graph" if WORLD.rank == ODD else GRID)
    assert np.allclose(hd.betweenness_centrality(GRID).scores, hw.betweenness_centrality(GRID).scores)


def check_other_versions() -> None:
    if WORLD.size == 1:
        return
    with pytest.MonkeyPatch.context() as patch:
        if WORLD.rank == ODD:
            patch.setattr(hw, "__version__", "0.0.1")
        with pytest.raises(EngineError, match=rf"rank 0 runs hopwave .* and rank {ODD} runs 0.0.1; install the same"):
            World(WORLD.comm)


def check_what_is_no_graph_and_no_number() -> None:
    """If all ranks make the same mistake, each raises the usual error, and the next call works."""
    G = hd.spread(GRID)
    for call, message in (
        (lambda: hd.bfs(GRID, 0), "is not a DistributedGraph; make one with hopwave.distributed.spread"),  # type: ignore[arg-type]
        (lambda: hd.spread("grid"), "'grid' is not a hopwave.Graph; make one of it"),
        (lambda: hd.betweenness_centrality(G, memory_limit="1 GB"), "memory_limit='1 GB' is not a number of bytes"),
        (lambda: hd.bfs(G, [[0, 1]]), r"\[0, 1\] is not a vertex of this graph"),
    ):
        with pytest.raises(GraphError, match=message):
            call()
    assert hd.bfs(G, np.array(3)).reached == G.n


def check_ranks_bound_to_cores() -> None:
    """As Open MPI binds them: every rank has one core, and shares it only if there are more ranks than cores."""
    if not hasattr(os, "sched_setaffinity"):
        return
    free = os.sched_getaffinity(0)
    cores = sorted(free)
    try:
        os.sched_setaffinity(0, {cores[WORLD.rank % len(cores)]})
        bound = World(WORLD.comm)
    finally:
        os.sched_setaffinity(0, free)
    sharing = len(range(WORLD.rank % len(cores), WORLD.size, len(cores)))
    assert bound.oversubscribed == WORLD.oversubscribed == (WORLD.size > len(cores))
    assert (bound.ranks_per_core, WORLD.ranks_per_core) == (sharing, WORLD.size)
    with patch.dict(os.environ, {"HOPWAVE_NUM_THREADS": "4"}):
        assert rank_threads(bound, "cpu", None) == max(1, 4 // sharing)
        assert rank_threads(WORLD, "cpu", None) == max(1, 4 // WORLD.size)
