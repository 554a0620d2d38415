"""Ranks that call different functions or pass different arguments: all ranks raise, and the next call works."""

import os
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import hopwave as hw
from checks import WORLD, refused, written
from hopwave import Graph
from hopwave import distributed as hd
from hopwave.distributed import World
from hopwave.distributed.graph import rank_threads
from hopwave.errors import EngineError, GraphError

ODD = WORLD.size - 1  # the rank that disagrees
GRID = hw.generate.grid(4, 5)


def disagree(call: Callable[..., Any], given: dict[str, Any], name: str, value: Any, other: Any) -> None:
    """One rank passes another value for one argument; the message names that argument."""
    given = given | {name: other if WORLD.rank == ODD else value}
    refused(GraphError, rf"rank {ODD} and rank 0 pass different arguments to \w+: {name}=", call, **given)


def check_other_arguments() -> None:
    if WORLD.size == 1:
        return
    parts, path = hd.spread(GRID), written("agreement.mtx", GRID)
    drawn = {"scale": 4, "edge_factor": 2, "seed": 1, "directed": False, "layout": "1d"}
    ends, way = {"source": [0, 1], "target": [1, 2]}, ("directed", False, True)
    long = hw.generate.grid(40, 50)
    ones, changed = np.ones(long.m), np.ones(long.m)
    changed[long.m // 2] = 2.0  # in the middle, which a repr leaves out
    scored = [("k", 3, 4), ("seed", 1, 2), ("sources", [1, 2], [1, 3]), ("cutoff", 2, 3), ("normalized", True, False),
              ("endpoints", False, True)]  # fmt: skip
    series = pd.Series(ones[: long.n])
    columns = [
        ("weights", ones, changed),
        ("source_weights", series, pd.Series(changed[long.m // 2 - 9 :][: long.n])),
        ("source_weights", series, series[::-1]),
        ("source_weights", dict(enumerate(ones[: long.n])), dict(enumerate(2 * ones[: long.n]))),
        ("sources", np.array([0, 1], object), np.array([0, 2], object)),
    ]
    calls: list[tuple[Any, dict[str, Any], list[tuple[str, Any, Any]]]] = [
        (hd.from_edges, ends, [("n", 5, 6), ("n", None, 6), way, ("layout", "1d", "2d"), ("balance", True, False)]),
        (hd.kronecker, drawn, [("scale", 4, 5), ("edge_factor", 2, 3), ("seed", 1, 2), way,
                               ("layout", "1d", (1, WORLD.size))]),
        (hd.uniform, {"n": 20}, [("n", 20, 21), ("seed", 1, 2)]),
        (hd.read, {"path": path}, [way]),
        (hd.bfs, {"G": parts, "source": 0}, [("source", 0, 1), ("depth_limit", 2, 3), ("predecessors", True, False),
                                             ("plan", "auto", "merrill")]),
        (hd.betweenness_centrality, {"G": GRID}, scored),
        (hd.betweenness_centrality, {"G": parts}, [*scored, ("split", "graph", "sources")]),
        (hd.betweenness_centrality, {"G": long}, columns),
    ]  # fmt: skip
    for call, given, arguments in calls:
        for name, value, other in arguments:
            disagree(call, given, name, value, other)
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
        disagree(hd.bfs, {"G": parts}, "source", names, odd)


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
        parts.sort_rows,
    ]
    message = rf"rank {ODD} (calls \w+, but rank 0 calls \w+|and rank 0 pass different arguments).*all ranks must"
    for i, call in enumerate(calls):
        refused(GraphError, message, calls[(i + 1) % len(calls)] if WORLD.rank == ODD else call)
        assert hd.bfs(parts, 0).reached == GRID.n, i


def check_other_graphs() -> None:
    if WORLD.size == 1:
        return
    other = hw.generate.grid(5, 4)
    one, two = hd.spread(GRID), hd.spread(other)  # with equally many vertices and arcs
    names = ["a", "b", "c"]
    named = [Graph.from_edges([0, 1], [1, 2], labels=labels) for labels in (names, names[::-1])]
    of_this_job, whole = r": G=.*graph \d+ of this job", "to betweenness_centrality: G="
    for call, ours, odd, message in (
        (lambda G: hd.bfs(G, 0), one, two, of_this_job),
        (hd.betweenness_centrality, one, two, of_this_job),
        (lambda G: G.replicated(), one, two, of_this_job),
        (lambda G: G.sort_rows(), one, two, of_this_job),
        (hd.spread, GRID, other, "pass different graphs to spread"),
        (hd.spread, None, None, "no rank passes a graph"),
        (hd.betweenness_centrality, GRID, other, whole),
        (hd.betweenness_centrality, named[0], named[1], whole),
        (hd.betweenness_centrality, GRID, "no graph", ""),
    ):
        refused(GraphError, message, call, odd if WORLD.rank == ODD else ours)
    one.sort_rows()
    assert hd.bfs(one, 0).reached == GRID.n
    assert hd.spread(None if WORLD.rank == 0 else GRID).n == GRID.n
    assert hd.betweenness_centrality(named[0]).to_dict() == hw.betweenness_centrality(named[0]).to_dict()
    assert np.allclose(hd.betweenness_centrality(GRID).scores, hw.betweenness_centrality(GRID).scores)


def check_other_versions() -> None:
    if WORLD.size > 1:
        with patch.object(hw, "__version__", "0.0.1" if WORLD.rank == ODD else hw.__version__):
            message = rf"rank 0 runs hopwave .* and rank {ODD} runs 0.0.1; install the same"
            refused(EngineError, message, World, WORLD.comm)


def check_what_is_no_graph_and_no_number() -> None:
    """If all ranks make the same mistake, each raises the usual error, and the next call works."""
    G = hd.spread(GRID)
    refused(GraphError, "is not a DistributedGraph; create one with hopwave.distributed.spread", hd.bfs, GRID, 0)
    refused(GraphError, "'grid' is not a hopwave.Graph; convert it", hd.spread, "grid")
    refused(GraphError, "memory_limit='1 GB' is not a number", hd.betweenness_centrality, G, memory_limit="1 GB")
    refused(GraphError, r"\[0, 1\] is not a vertex of this graph", hd.bfs, G, [[0, 1]])
    refused(TypeError, r"spread\(\) has no argument 'layuot'; did you mean layout=", hd.spread, GRID, layuot="2d")
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
