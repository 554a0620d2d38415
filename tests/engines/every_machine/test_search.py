"""Every engine × every search plan × every trap: the oracle's distances, valid trees, rules obeyed.

Engines are found by name and plans in the catalogue, so that a new engine or plan is tested without a change here.
Predecessors are validated, never compared: any shortest-path tree is right.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopwave as hw
import oracle
from graphs import TRAPS, graphs
from hopwave import EngineError, Graph, engines, generate
from hopwave.api.validate import validate
from hopwave.arrays import ScaledCounts
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, Pull
from hopwave.planning.rules import Sizes
from hopwave.results.search import BFSResult
from together import in_one_test

SEARCHES = [plan for plan in CATALOGUE.values() if plan.task == "search"]
COUNTING = [plan for plan in SEARCHES if plan.why_not(SearchJob(path_counts=True)) is None]
DEFAULTS = [CATALOGUE["hopwave"], CATALOGUE["hopwave-paths"]]
SMALL = [name for name, make in TRAPS.items() if make().n <= 160 and make().m <= 2000]
LARGE = [name for name in TRAPS if name not in SMALL]


def absent(device: str) -> str | None:
    """Why an engine cannot be tested here, or None."""
    try:
        engines.engine(device)
    except EngineError as error:
        return str(error)
    except ModuleNotFoundError as error:
        if error.name != f"hopwave.engines.{device}":
            raise
        return f"there is no engine {device!r} yet"
    return None


WHY_NOT = {device: absent(device) for device in engines.NAMES}
machines = pytest.mark.parametrize(
    "device",
    [pytest.param(name, marks=pytest.mark.gpu) if name == "cuda" else name for name in WHY_NOT if not WHY_NOT[name]],
)
every_search = pytest.mark.parametrize("plan", SEARCHES, ids=str)
every_count = pytest.mark.parametrize("plan", COUNTING, ids=str)
every_small_trap = in_one_test("trap", SMALL)


@pytest.mark.parametrize("device", engines.NAMES)
def test_engine_is_here(device: str) -> None:
    """One skip for a missing engine instead of thousands."""
    if WHY_NOT[device]:
        pytest.skip(WHY_NOT[device])
    assert engines.engine(device).name == device


def ready(device: str, plan: Plan, question: SearchJob) -> None:
    """Skip what the engine does not support, with its reason."""
    reason = engines.engine(device).why_not(plan, question)
    if reason:
        pytest.skip(f"{device}: {reason}")


def several(graph: Graph) -> list[int]:
    """Three sources at once, one of them twice."""
    return [0, graph.n // 2, graph.n - 1, 0]


def questions(graph: Graph) -> list[tuple[list[int], dict[str, Any]]]:
    """Sources and options: the trap's source, several sources, a depth limit, and backwards."""
    return [
        ([0], {}),
        ([0], {"direction": "in", "depth_limit": 2}),
        (several(graph), {"depth_limit": 1}),
        (several(graph), {"direction": "in"}),
    ]


def expect(result: BFSResult, graph: Graph, sources: list[int], distances: list[int], **options: Any) -> None:
    """Compare a whole result with the oracle's distances and the five rules."""
    assert result.distances.dtype == np.int32
    assert result.distances.tolist() == distances
    assert result.reached == sum(d >= 0 for d in distances)
    assert result.depth == max(distances)
    assert result.sources == tuple(dict.fromkeys(sources))
    if result.predecessors is not None:
        assert result.predecessors.dtype == np.int32
        assert validate(graph, sources, result.distances, result.predecessors, **options).failures == ()


def expect_trace(result: BFSResult, graph: Graph, depth_limit: int | None = None, direction: str = "out") -> None:
    """The levels add up, and each took the step that the rule chooses when it is replayed on the recorded sizes."""
    assert result.trace is not None
    plan, d = result.plan.plan, result.distances
    degrees = graph.degrees if direction == "out" else graph.in_degrees
    assert [level.depth for level in result.trace] == list(range(1, len(result.trace) + 1))
    assert result.depth <= len(result.trace) <= (result.depth + 1 if depth_limit is None else depth_limit)
    assert sum(level.found for level in result.trace) == result.reached - len(result.sources)
    nf0 = mf0 = 0
    last, early = -1, 0
    for level in result.trace:
        frontier = d == level.depth - 1
        assert level.vertices == np.count_nonzero(frontier)
        assert level.edges == degrees[frontier].sum()
        unvisited = (d < 0) | (d >= level.depth)
        left = int(degrees[unvisited].sum())
        if early:  # the level before looked ahead: some vertices of this level are visited already
            assert left - degrees[d == level.depth].sum() <= level.unvisited_edges <= left
        else:
            assert level.unvisited_edges == left
        assert level.found == np.count_nonzero(d == level.depth) - early + level.ahead
        sizes = Sizes(graph.n, graph.m, level.vertices, level.edges, level.unvisited_edges, nf0, mf0, last)
        assert level.choice == plan.rule.choose(sizes)
        step = plan.steps[level.choice]
        assert level.step == str(step)
        assert level.direction == step.direction
        assert level.checked >= 0 and level.seconds >= 0
        assert level.ahead == 0 or (isinstance(step, Pull) and step.asynchronous)
        nf0, mf0, last, early = level.vertices, level.edges, level.choice, level.ahead


def expect_counts(found: Any, exact: list[int]) -> None:
    """Path counts within 1e-12 of the exact integers, however long those are."""
    assert found is not None and len(found) == len(exact)
    if isinstance(found, ScaledCounts):
        pairs = zip(found.mantissa.tolist(), found.exponent.tolist(), strict=True)
        values = [Fraction(mantissa) * Fraction(2) ** exponent for mantissa, exponent in pairs]
    else:
        assert found.dtype == np.float64
        values = [Fraction(value) for value in found.tolist()]
    tolerance = Fraction(1, 10**12)
    wrong = [(v, float(a), b) for v, (a, b) in enumerate(zip(values, exact, strict=True)) if abs(a - b) > tolerance * b]
    assert not wrong, f"{len(wrong)} counts are wrong, the first at vertex {wrong[0][0]}"


@cache
def expected(trap: str, sources: tuple[int, ...], **options: Any) -> tuple[list[int], list[int]]:
    return (
        oracle.distances(TRAPS[trap](), sources, **options),
        oracle.path_counts(TRAPS[trap](), sources, **options),
    )


# ---------------------------------------------------------------- the full product


@machines
@every_search
@every_small_trap
def test_distances_and_predecessors(device: str, plan: Plan, trap: str) -> None:
    ready(device, plan, SearchJob())
    graph = TRAPS[trap]()
    for sources, options in questions(graph):
        result = hw.bfs(graph, sources, plan=plan, device=device, trace=True, **options)
        expect(result, graph, sources, expected(trap, tuple(sources), **options)[0], **options)
        expect_trace(result, graph, **options)


@machines
@every_count
@every_small_trap
def test_path_counts(device: str, plan: Plan, trap: str) -> None:
    ready(device, plan, SearchJob(path_counts=True))
    graph = TRAPS[trap]()
    for sources, options in questions(graph):
        result = hw.bfs(graph, sources, path_counts=True, plan=plan, device=device, trace=True, **options)
        distances, counts = expected(trap, tuple(sources), **options)
        expect(result, graph, sources, distances, **options)
        expect_counts(result.path_counts, counts)
        expect_trace(result, graph, **options)


@pytest.mark.slow
@machines
@pytest.mark.parametrize("plan", DEFAULTS, ids=str)
@pytest.mark.parametrize("trap", LARGE)
def test_large_traps(device: str, plan: Plan, trap: str) -> None:
    counting = plan.why_not(SearchJob(path_counts=True)) is None
    ready(device, plan, SearchJob(path_counts=counting))
    graph = TRAPS[trap]()
    # The reference engine takes a second for each; small traps already test it with several sources.
    for sources in ([0],) if device == "reference" else ([0], several(graph)):
        result = hw.bfs(graph, sources, path_counts=counting, plan=plan, device=device, trace=True)
        distances, counts = expected(trap, tuple(sources))
        expect(result, graph, sources, distances)
        expect_trace(result, graph)
        if counting:
            expect_counts(result.path_counts, counts)


@cache
def shared_out(directed: bool) -> tuple[Graph, list[int], list[int], list[int]]:
    """A graph with enough arcs for several threads or blocks; a source of medium degree; the right answers."""
    graph = generate.kronecker(13, edge_factor=16, directed=directed)
    sources = [int(np.argsort(graph.degrees)[graph.n // 2])]
    return graph, sources, oracle.distances(graph, sources), oracle.path_counts(graph, sources)


@machines
@every_search
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_levels_shared_by_threads(device: str, plan: Plan, directed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_every_vertex_as_source(device: str, plan: Plan) -> None:
    ready(device, plan, SearchJob())
    for trap in ("isolated-vertices-between-directed", "cycle-with-tails-directed", "barbell"):
        graph = TRAPS[trap]()
        for source in range(graph.n):
            result = hw.bfs(graph, source, plan=plan, device=device)
            expect(result, graph, [source], expected(trap, (source,))[0])


# ---------------------------------------------------------------- exactly what was asked for


@machines
@every_search
def test_only_what_was_asked_for(device: str, plan: Plan) -> None:
    ready(device, plan, SearchJob(predecessors=False))
    graph = TRAPS["barbell"]()
    bare = hw.bfs(graph, 0, predecessors=False, plan=plan, device=device)
    assert bare.predecessors is None and bare.path_counts is None and bare.trace is None
    assert bare.distances.tolist() == expected("barbell", (0,))[0]
    assert bare.plan == plan.name and bare.plan.why == "asked for"
    assert bare.engine == device


@pytest.mark.slow
@machines
def test_counts_beyond_float64_come_scaled(device: str) -> None:
    ready(device, CATALOGUE["hopwave-paths"], SearchJob(path_counts=True))
    scaled = hw.bfs(generate.diamonds(1100), 0, path_counts=True, device=device).path_counts
    assert isinstance(scaled, ScaledCounts)
    assert scaled.log2()[3 * 1100] == 1100
    last = hw.bfs(generate.diamonds(1023), 0, path_counts=True, device=device).path_counts
    assert isinstance(last, np.ndarray), "2^1023 is a float64"
    assert last[3 * 1023] == 2.0**1023


@machines
@pytest.mark.parametrize("backwards", [False, True])
def test_one_level_may_span_more_than_float64(device: str, backwards: bool) -> None:
    """A chain of diamonds beside a plain path: one level has a vertex with 2^1100 paths and one with 1."""
    ready(device, CATALOGUE["hopwave-paths"], SearchJob(path_counts=True))
    diamonds = generate.diamonds(1100)
    path = [0, *range(diamonds.n, diamonds.n + 2200)]
    meeting, beside = path[-1] + 1, path[-1] + 2
    source, target = (column.tolist() for column in diamonds.to_edges())
    source += [*path[:-1], diamonds.n - 1, path[-1], path[-1]]
    target += [*path[1:], meeting, meeting, beside]
    last = beside if backwards else 0  # with reversed ids, the small count comes first
    turned = ([abs(last - v) for v in column] for column in (source, target))
    graph = Graph.from_edges(*turned)
    counts = hw.bfs(graph, last, path_counts=True, device=device).path_counts
    assert isinstance(counts, ScaledCounts)
    assert counts.log2()[[abs(last - meeting), abs(last - beside)]].tolist() == [1100, 0]


@machines
@every_search
def test_answers_belong_to_the_caller(device: str, plan: Plan) -> None:
    """Buffers may be reused between searches, but never arrays that were returned."""
    ready(device, plan, SearchJob())
    graph = TRAPS["kronecker"]()
    first = hw.bfs(graph, 0, plan=plan, device=device)
    distances, predecessors = first.distances.copy(), first.predecessors.copy()
    hw.bfs(graph, graph.n - 1, plan=plan, device=device)
    assert np.array_equal(first.distances, distances) and np.array_equal(first.predecessors, predecessors)


@machines
def test_int64_offsets(device: str) -> None:
    """A graph of over 2³¹ arcs has int64 offsets; a small one may have them too, so that engines can be tested."""
    ready(device, CATALOGUE["hopwave"], SearchJob())
    for trap in ("kronecker", "kronecker-directed"):
        narrow = TRAPS[trap]()
        wide = Graph(narrow.indptr.astype(np.int64), narrow.indices.copy(), directed=narrow.directed)
        assert wide.indptr.dtype == wide.in_indptr.dtype == np.int64
        for plan in ("hopwave", "xbfs", "pushpull"):
            if engines.engine(device).why_not(CATALOGUE[plan], SearchJob()) is None:
                expect(hw.bfs(wide, 0, plan=plan, device=device), wide, [0], expected(trap, (0,))[0])
        counted = hw.bfs(wide, 0, path_counts=True, device=device)
        expect_counts(counted.path_counts, expected(trap, (0,))[1])


@machines
def test_searches_from_several_threads(device: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    ready(device, CATALOGUE["hopwave"], SearchJob())
    shared = TRAPS["kronecker-directed"]()
    graph = Graph(shared.indptr.copy(), shared.indices.copy(), directed=True)  # nothing prepared yet
    sources = list(range(0, graph.n, 8))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda s: hw.bfs(graph, s, device=device), sources))
    for source, result in zip(sources, results, strict=True):
        expect(result, graph, [source], expected("kronecker-directed", (source,))[0])


@machines
@every_search
def test_a_limit_of_0_reaches_the_sources_alone(device: str, plan: Plan) -> None:
    ready(device, plan, SearchJob(depth_limit=0))
    graph = TRAPS["complete"]()
    result = hw.bfs(graph, [3, 5], depth_limit=0, plan=plan, device=device, trace=True)
    assert np.flatnonzero(result.distances >= 0).tolist() == [3, 5]
    assert (result.depth, result.reached, len(result.trace)) == (0, 2, 0)


@machines
def test_an_undirected_graph_is_searched_alike_both_ways(device: str) -> None:
    ready(device, CATALOGUE["hopwave"], SearchJob())
    graph = TRAPS["delaunay"]()
    there, back = (hw.bfs(graph, 0, direction=way, device=device) for way in ("out", "in"))
    assert np.array_equal(there.distances, back.distances)


# ---------------------------------------------------------------- random graphs


@machines
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@given(data=st.data())
def test_random_graphs(device: str, directed: bool, data: st.DataObject) -> None:
    ready(device, CATALOGUE["hopwave"], SearchJob())
    graph = data.draw(graphs(directed=directed))
    vertex = st.integers(0, graph.n - 1)
    sources = data.draw(st.lists(vertex, min_size=1, max_size=3))
    options = {
        "depth_limit": data.draw(st.none() | st.integers(0, 5)),
        "direction": data.draw(st.sampled_from(["out", "in"])),
    }
    plan = data.draw(st.sampled_from(SEARCHES))
    counting = data.draw(st.booleans()) and plan.why_not(SearchJob(path_counts=True)) is None
    question = SearchJob(path_counts=counting, depth_limit=options["depth_limit"])
    if engines.engine(device).why_not(plan, question):
        plan = CATALOGUE["hopwave-paths"]
    result = hw.bfs(graph, sources, path_counts=counting, plan=plan, device=device, trace=True, **options)
    expect(result, graph, sources, oracle.distances(graph, sources, **options), **options)
    expect_trace(result, graph, **options)
    if counting:
        expect_counts(result.path_counts, oracle.path_counts(graph, sources, **options))


@machines
@given(edges=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40), directed=st.booleans())
def test_kept_repeats_change_no_distance(device: str, edges: list[tuple[int, int]], directed: bool) -> None:
    ready(device, CATALOGUE["hopwave"], SearchJob())
    source, target = [u for u, _ in edges], [v for _, v in edges]
    merged, kept = (Graph.from_edges(source, target, n=12, directed=directed, repeats=how) for how in ("merge", "keep"))
    for plan in SEARCHES:
        if engines.engine(device).why_not(plan, SearchJob()) is None:
            result = hw.bfs(kept, 0, plan=plan, device=device, trace=True)
            expect(result, kept, [0], oracle.distances(merged, 0))
            expect_trace(result, kept)


@machines
@every_count
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_kept_repeats_are_different_paths(device: str, plan: Plan, directed: bool) -> None:
    ready(device, plan, SearchJob(path_counts=True))
    graph = Graph.from_edges([0, 0, 1, 1, 1, 2], [1, 1, 2, 2, 2, 2], directed=directed, repeats="keep")
    expect_counts(hw.bfs(graph, 0, path_counts=True, plan=plan, device=device).path_counts, [1, 2, 6])
