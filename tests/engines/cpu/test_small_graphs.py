"""The CPU has a short way for small graphs: it gives the same answers and errors as the way of large graphs.

A trace makes a search take the long way. `policy.SMALL_JOB = 0` does it for betweenness and for many searches.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import networkx as nx
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopwave as hw
from graphs import graphs
from hopwave import EngineError, Graph, GraphError, PlanError, engines, generate
from hopwave.api.validate import check
from hopwave.engines.cpu import compile_notice, policy
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob

CPU = engines.engine("cpu")


def steep(layers: int = 250, parallel: int = 24) -> Graph:
    """A path with many parallel edges at each step: its path counts outgrow float64 on few vertices."""
    source = np.repeat(np.arange(layers), parallel)
    return Graph.from_edges(source, source + 1, repeats="keep", directed=True)


# ------------------------------------------------------------------ searches


@given(
    graphs(),
    st.data(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 0, 1, 2, 10**30]),
    st.sampled_from(["out", "in"]),
)
def test_searches(
    graph: Graph, data: Any, predecessors: bool, path_counts: bool, limit: int | None, direction: Any
) -> None:
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=3))
    asked: Any = {"predecessors": predecessors, "path_counts": path_counts, "depth_limit": limit}
    asked |= {"direction": direction, "device": "cpu"}
    short, long = hw.bfs(graph, sources, **asked), hw.bfs(graph, sources, trace=True, **asked)
    assert "direction rule" in short.plan.without and "direction rule" not in long.plan.without
    assert np.array_equal(short.distances, long.distances) and short.distances.dtype == long.distances.dtype
    assert (short.depth, short.reached, short.sources) == (long.depth, long.reached, long.sources)
    assert (short.predecessors is None) == (not predecessors) and short.trace is None
    check(graph, sources, short.distances, short.predecessors, depth_limit=limit, direction=direction)
    if path_counts:
        assert np.array_equal(short.path_counts, long.path_counts)
    for one, source in zip(hw.bfs_each(graph, sources, **asked), sources, strict=True):
        assert np.array_equal(one.distances, hw.bfs(graph, source, trace=True, **asked).distances)


def test_counts_beyond_float64_are_scaled() -> None:
    graph = steep()
    assert graph.n + graph.m <= policy.SMALL_GRAPH
    short = hw.bfs(graph, 0, path_counts=True, device="cpu").path_counts
    long = hw.bfs(graph, 0, path_counts=True, device="cpu", trace=True).path_counts
    assert isinstance(short, hw.ScaledCounts) and np.array_equal(short.log2(), long.log2())
    assert short.log2()[-1] == pytest.approx(250 * np.log2(24))


def test_a_plan_that_is_named_runs_with_its_rule() -> None:
    graph = generate.path(9)
    assert "direction rule" not in hw.bfs(graph, 0, plan="hopwave", device="cpu").plan.without
    assert hw.bfs(graph, 0, device="cpu").plan == "hopwave"


BAD: dict[str, tuple[type[Exception], Any, dict[str, Any]]] = {
    "vertex": (GraphError, 9, {}),
    "negative": (GraphError, -1, {}),
    "bool": (GraphError, True, {}),
    "float": (GraphError, 1.0, {}),
    "no sources": (GraphError, [], {}),
    "direction": (GraphError, 0, {"direction": "up"}),
    "limit": (GraphError, 0, {"depth_limit": 2.5}),
    "plan": (PlanError, 0, {"plan": "none"}),
    "betweenness plan": (PlanError, 0, {"plan": "hopwave-block"}),
    "device": (EngineError, 0, {"device": "abacus"}),
    "threads": (EngineError, 0, {"threads": 1.5}),
    "no threads": (EngineError, 0, {"threads": 0}),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_arguments_after_good_ones(what: str) -> None:
    """What was kept for good arguments must not be used for bad ones that look like them."""
    graph = generate.path(9)
    error, source, asked = BAD[what]
    for good in ({}, {"depth_limit": 2}, {"threads": 1}, {"threads": 2}):
        hw.bfs(graph, 1, **good)  # type: ignore[arg-type]
    with pytest.raises(error) as kept:
        hw.bfs(graph, source, **asked)
    with pytest.raises(error) as fresh:
        hw.bfs(generate.path(9), source, trace=True, **asked)
    assert str(kept.value) == str(fresh.value)


def test_several_threads_search_one_graph() -> None:
    graph = Graph.from_networkx(nx.karate_club_graph(), weight=None)
    right = {v: hw.bfs(graph, v, trace=True, device="cpu").distances for v in range(graph.n)}
    scores = hw.betweenness_centrality(graph).scores
    graph = Graph.from_csr(graph.indptr, graph.indices, directed=False)  # nothing is kept with this one yet

    def search(v: int) -> bool:
        v %= graph.n
        found = [hw.bfs(graph, v) for _ in range(10)]  # all are held: no two may share arrays
        same = np.array_equal(hw.betweenness_centrality(graph).scores, scores)
        return same and all(np.array_equal(one.distances, right[v]) for one in found)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(search, range(200)))


# ------------------------------------------------------------------ betweenness


@given(graphs(), st.data())
def test_betweenness(graph: Graph, data: Any) -> None:
    vertices = st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=6, unique=True)
    sources = data.draw(st.one_of(st.just(list(range(graph.n))), vertices))
    targets = data.draw(st.one_of(st.none(), vertices))
    mask = None if targets is None else np.isin(np.arange(graph.n), targets)
    edges = data.draw(st.booleans())
    squares, endpoints = (not edges and data.draw(st.booleans()) for _ in range(2))
    cutoff = data.draw(st.sampled_from([None, 0, 1, 2, 10**30]))
    job = BetweennessJob(np.array(sources), mask, cutoff, edges=edges, squares=squares, endpoints=endpoints)
    plan = CATALOGUE["hopwave-block"]
    short, long = CPU.accumulation(graph, job, plan), CPU._by_workers(CPU.load(graph, plan), job, plan, 1)  # type: ignore[attr-defined]
    assert type(short) is not type(long)
    for run in (short, long):
        assert run.advance(0, lambda done: False) == run.blocks
    np.testing.assert_allclose(short.total, long.total, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(short.certificate, long.certificate, rtol=1e-12, atol=1e-12)


def test_betweenness_of_counts_that_do_not_fit() -> None:
    graph, sources = steep(), [0, 1, 2]
    assert len(sources) * (graph.n + graph.m) <= policy.SMALL_JOB
    found = hw.betweenness_centrality(graph, sources=sources, normalized=False, device="cpu").scores
    line = nx.path_graph(graph.n, create_using=nx.DiGraph)
    right = nx.betweenness_centrality_subset(line, sources, list(line))
    np.testing.assert_allclose(found, list(right.values()), rtol=1e-9)


def test_many_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = generate.kronecker(5, seed=1)
    calls = (
        lambda: hw.bfs_many(graph, range(graph.n), device="cpu"),
        lambda: hw.bfs_many(graph, [3, 4, 5], depth_limit=1, device="cpu"),
        lambda: hw.closeness_centrality(graph, device="cpu").scores,
        lambda: np.stack(hw.pairs_within(graph, 2, device="cpu")),
    )
    short = [call() for call in calls]
    monkeypatch.setattr(policy, "SMALL_JOB", 0)
    assert all(np.array_equal(one, call()) for one, call in zip(short, calls, strict=True))


# ------------------------------------------------------------------ the line before compiling


def test_compiling_is_announced_once_on_any_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @numba.njit
    def meet() -> None: ...

    @numba.njit
    def hook() -> None: ...

    monkeypatch.setattr(compile_notice, "is_compiled", lambda function: False)
    monkeypatch.delenv("HOPWAVE_PROGRESS")
    for _ in range(2):
        with compile_notice.compiling(meet):
            pass
    shown = capsys.readouterr()
    assert shown.err == "hopwave: compiling for this machine, once (about 2 s)\n" and shown.out == ""
    monkeypatch.setenv("HOPWAVE_PROGRESS", "0")
    with compile_notice.compiling(hook):
        pass
    assert capsys.readouterr().err == ""


@numba.njit
def halved(x: float) -> float:
    return x / 2


@numba.njit
def quartered(x: float) -> float:
    return float(halved(halved(x)))


def test_meters_show_how_many_functions_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_notice, "is_compiled", lambda function: False)
    told: list[str | None] = []
    monkeypatch.setattr(compile_notice, "instead", told.append)
    assert compile_notice.called(quartered) == {halved, quartered}
    with compile_notice.compiling(quartered):
        assert quartered(8.0) == 2
    first = "compiling, 0 of 2 functions"
    assert told == [first, first, "compiling, 1 of 2 functions", None, None]


def test_what_is_on_disk_is_not_announced(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("HOPWAVE_PROGRESS")
    hw.bfs(generate.path(5), 0, trace=True, device="cpu")  # leaves its machine code on disk, if it was not there
    capsys.readouterr()
    from hopwave.engines.cpu.search.loop import take_part

    monkeypatch.setattr(compile_notice, "_begun", set())
    with compile_notice.compiling(take_part):
        pass
    assert capsys.readouterr().err == ""
