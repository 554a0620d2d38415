"""Searches on every engine by every plan, beside what tests/questions asks of them on all traps."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import hopwave as hw
import oracle
from graphs import TRAPS
from hopwave import EngineError, Graph, engines, generate
from hopwave.planning.jobs import BetweennessJob, SearchJob
from hopwave.planning.plan import Plan
from questions import available
from questions.hops import COUNTING, SEARCHES, expect, expect_counts, expect_trace
from questions.values import PLANS
from together import PROFILE, in_one_test

HERE = [name for name in engines.NAMES if available(name)]


def on(names: list[str]) -> Any:
    """A test's parameter `device`."""
    marked = [pytest.param(name, marks=pytest.mark.gpu) if "cuda" in name else name for name in names]
    return pytest.mark.parametrize("device", marked)


machines = on(HERE)
every_search = pytest.mark.parametrize("plan", SEARCHES, ids=str)


@pytest.mark.parametrize("device", engines.NAMES)
def test_engine_is_here(device: str) -> None:
    """One skip for a missing engine instead of thousands."""
    try:
        assert engines.engine(device).name == device
    except EngineError as error:
        pytest.skip(str(error))


def ready(device: str, plan: Plan, job: SearchJob | None = None) -> None:
    """Skip what the engine does not support, with its reason; the reference runs one plan of betweenness."""
    reason = engines.engine(device).why_not(plan, job or BetweennessJob(np.zeros(1, np.int64)))
    if device == "reference" and job is None and plan.name != "hopwave-block":
        reason = "it runs all plans alike, as test_the_reference_runs_all_plans_alike says"
    if reason:
        pytest.skip(f"{device}: {reason}")


@cache
def shared_out(directed: bool) -> tuple[Graph, list[int], list[int], list[int]]:
    """A graph with enough arcs for several threads or blocks; a source of medium degree; the right answers."""
    graph = generate.kronecker(13, edge_factor=16, directed=directed)
    sources = [int(np.argsort(graph.degrees)[graph.n // 2])]
    return graph, sources, oracle.distances(graph, sources), oracle.path_counts(graph, sources)


@machines
@every_search
@in_one_test("directed", [False, True])
def test_levels_shared_by_threads(device: str, plan: Plan, monkeypatch: pytest.MonkeyPatch, directed: bool) -> None:
    monkeypatch.setenv("HOPWAVE_NUM_THREADS", "4")  # several threads, even on fewer cores
    ready(device, plan, SearchJob())
    graph, sources, distances, counts = shared_out(directed)
    result = hw.bfs(graph, sources, plan=plan, device=device, trace=True)
    expect(result, graph, sources, distances)
    expect_trace(result, graph)
    if engines.engine(device).why_not(plan, SearchJob(path_counts=True)) is None:
        expect_counts(hw.bfs(graph, sources, path_counts=True, plan=plan, device=device).path_counts, counts)


@machines
@every_search
def test_answers_hold_what_was_asked_for_and_belong_to_the_caller(device: str, plan: Plan) -> None:
    """Buffers may be reused between searches, but never arrays that were returned."""
    ready(device, plan, SearchJob(predecessors=False))
    graph = TRAPS["kronecker"]()
    bare = hw.bfs(graph, 0, predecessors=False, plan=plan, device=device)
    assert bare.predecessors is None and bare.path_counts is None and bare.trace is None
    first = hw.bfs(graph, 0, plan=plan, device=device)
    distances, predecessors = first.distances.copy(), first.predecessors.copy()
    hw.bfs(graph, graph.n - 1, plan=plan, device=device)
    assert np.array_equal(first.distances, distances) and np.array_equal(first.predecessors, predecessors)
    assert bare.distances.tolist() == distances.tolist() == oracle.distances(graph, 0)


@machines
@in_one_test("trap", ["kronecker", "kronecker-directed"])
def test_int64_offsets(device: str, trap: str) -> None:
    """A graph of over 2³¹ arcs has int64 offsets; a small one may have them too."""
    if device == "cpu" and PROFILE != "complete":
        pytest.skip("the CPU compiles every kernel a second time for int64 offsets: only in `make complete`")
    narrow, engine = TRAPS[trap](), engines.engine(device)
    wide = Graph(narrow.indptr.astype(np.int64), narrow.indices.copy(), directed=narrow.directed)
    assert wide.indptr.dtype == wide.in_indptr.dtype == np.int64
    distances = oracle.distances(narrow, 0)
    for plan in SEARCHES:
        if engine.why_not(plan, SearchJob()) is None:
            expect(hw.bfs(wide, 0, plan=plan, device=device), wide, [0], distances)
    counts = hw.bfs(wide, 0, path_counts=True, device=device).path_counts
    expect_counts(counts, oracle.path_counts(narrow, 0))
    ask: dict[str, Any] = {"sources": [0, narrow.n // 3], "device": device}
    for plan in PLANS[: 1 if device == "reference" else None]:
        if engine.why_not(plan, BetweennessJob(np.zeros(1, np.int64))) is None:
            pair = (hw.betweenness_centrality(graph, **ask, plan=plan).scores for graph in (wide, narrow))
            np.testing.assert_allclose(*pair, rtol=1e-12)
    np.testing.assert_allclose(*(hw.edge_betweenness_centrality(G, **ask).scores for G in (wide, narrow)), rtol=1e-12)
    for direction in ("push", "pull"):
        how: dict[str, Any] = {"mask": narrow, "direction": direction, "device": device}
        np.testing.assert_array_equal(*(hw.linalg.mxm(G, G, **how).to("cpu").to_dense() for G in (wide, narrow)))


@machines
@in_one_test("directed", [False, True])
def test_kept_repeats_change_no_distance_and_are_paths(device: str, directed: bool) -> None:
    graph = Graph.from_edges([0, 0, 1, 1, 1, 2, 5], [1, 1, 2, 2, 2, 2, 5], directed=directed, repeats="keep")
    for plan in SEARCHES:
        counted = plan in COUNTING
        if engines.engine(device).why_not(plan, SearchJob(path_counts=counted)) is None:
            result = hw.bfs(graph, 0, plan=plan, device=device, path_counts=counted, trace=True)
            expect(result, graph, [0], [0, 1, 2, -1, -1, -1])
            expect_trace(result, graph)
            if counted:
                expect_counts(result.path_counts, [1, 2, 6, 0, 0, 0])
