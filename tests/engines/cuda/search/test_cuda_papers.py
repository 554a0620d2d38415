"""The papers' plans on a GPU, besides right answers: one format, duplicates, levels ahead; their benchmarks."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hopwave as hw
import mixed
import oracle
from graphs import TRAPS
from hopwave import Graph, engines, generate
from hopwave.papers import xbfs
from hopwave.papers.lab import Lab
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan


def on_gpu(test: Any) -> Any:
    return pytest.mark.gpu(pytest.mark.usefixtures("gpu")(test))


SMALL = generate.kronecker(8, seed=1)
TURBOBFS = [plan for plan in CATALOGUE.values() if plan.name.startswith("turbobfs")]
AHEAD = [plan for plan in TURBOBFS if "tdbu" not in plan.name]


def searched(graph: Graph, plan: Plan, source: int, question: SearchJob, ahead: bool) -> tuple[Any, Any]:
    """The engine's results, and its levels without times: launched ahead, or one after the other."""
    from hopwave.engines import by_levels
    from hopwave.engines.cuda.search import steps

    engine: Any = engines.engine("cuda")
    search = engine.start(engine.load(graph, plan), (source,), question)
    if ahead:
        levels = engine.run(search, plan, False)
    else:
        levels = by_levels(steps, search, graph.n, graph.m, plan)
    return engine.fetch(search), [replace(level, seconds=0.0) for level in levels]


def values(counts: Any) -> Any:
    if counts is None:
        return None
    counts = counts.fetch() if hasattr(counts, "fetch") else counts
    return counts.tolist() if isinstance(counts, np.ndarray) else (counts.mantissa.tolist(), counts.exponent.tolist())


# ---------------------------------------------------------------- TurboBFS


def test_turbobfs_plans_without_a_change_of_direction_are_launched_ahead() -> None:
    ahead = pytest.importorskip("hopwave.engines.cuda.search.ahead", reason="CuPy is not installed")
    searches = [plan for plan in CATALOGUE.values() if plan.task == "search"]
    assert [plan for plan in searches if ahead.possible(plan)] == AHEAD


@on_gpu
@pytest.mark.parametrize("plan", AHEAD, ids=str)
@pytest.mark.parametrize("trap", ["kronecker-directed", "long-path", "two-components", "single-vertex"])
@pytest.mark.parametrize("limit", [None, 0, 1, 6])
def test_levels_ahead_are_those_of_the_host(plan: Plan, trap: str, limit: int | None) -> None:
    graph = TRAPS[trap]()
    counted = plan.why_not(SearchJob(path_counts=True)) is None
    question = SearchJob(depth_limit=limit, path_counts=counted)
    (found, levels), (expected, right) = (searched(graph, plan, 0, question, ahead) for ahead in (True, False))
    assert levels == right
    assert values(found["distances"]) == values(expected["distances"])
    assert (found["depth"], found["reached"]) == (expected["depth"], expected["reached"])
    assert values(found["path_counts"]) == values(expected["path_counts"])


@on_gpu
@pytest.mark.parametrize("plan", TURBOBFS, ids=str)
def test_turbobfs_holds_one_format_and_no_queue(plan: Plan) -> None:
    """Section III: a directed graph's arcs are kept once (COOC: with their columns); row offsets give out-degrees."""
    graph = mixed.fresh(TRAPS["kronecker-directed"]())
    result = hw.bfs(graph, 0, plan=plan, device="cuda", predecessors=False)
    assert result.distances.tolist() == oracle.distances(graph, [0])
    kept = mixed.uploaded(graph)
    (work,) = kept.workspaces
    assert "rows" not in kept.__dict__ and "next queue" not in work.arrays and len(work.arrays["queue"]) == 1
    arcs = graph.m * (2 if "cooc" in plan.name else 1)
    held = [one for value in vars(kept).values() for one in (value if isinstance(value, tuple) else (value,))]
    held = {id(one): one.nbytes for one in held if hasattr(one, "nbytes")}
    assert sum(held.values()) == 4 * (arcs + 2 * (graph.n + 1))


@on_gpu
def test_a_plan_with_pushes_after_one_without() -> None:
    """Rows and queues are made when a plan first needs them."""
    graph = mixed.fresh(TRAPS["kronecker-directed"]())
    for plan in ("turbobfs-td-sccsc", "xbfs", "turbobfs-td-sccooc", "hiragushi-hybrid", "hopwave"):
        for direction in ("out", "in"):
            result = hw.bfs(graph, 0, plan=plan, device="cuda", direction=direction)  # type: ignore[arg-type]
            turned = graph if direction == "out" else graph.reversed()
            assert result.distances.tolist() == oracle.distances(turned, [0])


# ---------------------------------------------------------------- Merrill


@on_gpu
@pytest.mark.parametrize("trap", ["kronecker", "kronecker-directed", "hub-with-pendant", "path"])
@pytest.mark.parametrize("room", [0, 3, None])
def test_merrill_keeps_duplicates_and_counts_levels_exactly(
    trap: str, room: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the queue has too little room for them: the level is then taken from the status array."""
    from hopwave.engines.cuda.search import steps

    graph = TRAPS[trap]()
    if room is not None:
        monkeypatch.setattr(steps, "room", lambda search: room)
    result = hw.bfs(graph, 0, plan="merrill", device="cuda", trace=True)
    distances = oracle.distances(graph, [0])
    assert result.distances.tolist() == distances and result.trace is not None
    assert result.reached == sum(d >= 0 for d in distances)
    for level in result.trace:
        assert level.found == distances.count(level.depth) and level.vertices == distances.count(level.depth - 1)
        assert level.checked >= level.edges  # the arcs of a duplicate are read again


@on_gpu
def test_culling_leaves_few_duplicates() -> None:
    """Without culling, a level of kron 16 would be a queue of millions; with culling, few arcs are read twice."""
    graph = generate.kronecker(16, 16, seed=1)
    result = hw.bfs(graph, int(graph.degrees.argmax()), plan="merrill", device="cuda", trace=True)
    assert result.trace is not None
    read, there = (sum(getattr(level, name) for level in result.trace) for name in ("checked", "edges"))
    assert there <= read <= 2 * there


# ---------------------------------------------------------------- push-pull


@on_gpu
@pytest.mark.parametrize("plan", ["pushpull-baseline", "pushpull-structure", "pushpull"])
@pytest.mark.parametrize("trap", ["kronecker", "kronecker-directed", "hub-with-pendant", "path"])
@pytest.mark.parametrize(("lists", "arcs"), [(0, 0), (1 << 20, 0), (1 << 20, 4096)])
def test_a_column_product_is_one_launch_or_several(
    plan: str, trap: str, lists: int, arcs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three ways: many blocks in several launches; lists that one block sums; all in one block, up to a full tile."""
    from hopwave.engines.cuda.search import steps

    monkeypatch.setattr(steps, "FEW_LISTS", lists)
    monkeypatch.setattr(steps, "FEW_ARCS", arcs)
    graph = TRAPS[trap]()
    counted = hw.plan(plan).why_not(SearchJob(path_counts=True)) is None
    result = hw.bfs(graph, 0, plan=plan, device="cuda", path_counts=counted, trace=True)
    distances = oracle.distances(graph, [0])
    assert result.distances.tolist() == distances and result.trace is not None
    assert [level.found for level in result.trace] == [distances.count(level.depth) for level in result.trace]
    assert hw.validate(graph, 0, result.distances, result.predecessors).ok
    if counted:
        assert result.path_counts.tolist() == oracle.path_counts(graph, [0])


@on_gpu
def test_levels_are_timed_for_a_trace_only() -> None:
    graph, engine, plan = TRAPS["kronecker-directed"](), engines.engine("cuda"), hw.plan("xbfs")
    for trace in (True, False):
        levels = engine.run(engine.start(engine.load(graph, plan), (0,), SearchJob()), plan, trace)
        assert bool(levels) is trace and all(level.seconds > 0 for level in levels)


def launched(
    graph: Graph, plan: Plan = CATALOGUE["xbfs"], shapes: list[str] | None = None
) -> tuple[Any, Any, list[str]]:
    """A search by XBFS that has begun, and the names (and shapes) of the kernels that it launches from now on."""
    engine: Any = engines.engine("cuda")
    search = engine.start(engine.load(graph, plan), (0,), SearchJob())
    search.begin()
    launch, names = search.launch, []

    def noted(header: str, name: str, *arguments: Any, **options: Any) -> None:
        names.append(name)
        if shapes is not None and name == "pull_queue":
            shapes.append(options["shape"])
        launch(header, name, *arguments, **options)

    search.launch = noted
    return engine, search, names


@on_gpu
def test_xbfs_scans_nothing_where_every_vertex_is_visited() -> None:
    """The last level of a search that reaches everything looks for unvisited vertices and finds none."""
    graph = generate.complete(300)
    engine, search, names = launched(graph)
    levels = engine.run(search, CATALOGUE["xbfs"], True)
    assert [level.direction for level in levels] == ["push", "pull"] and "scan_segments" not in names
    assert values(engine.fetch(search)["distances"]) == oracle.distances(graph, [0])


@on_gpu
def test_no_generation_makes_no_pass_of_its_own() -> None:
    """XBFS, Observation 2: after a pull that looked ahead, one push reads its queue, and nothing else does."""
    from hopwave.engines.cuda.search import steps

    _, search, names = launched(TRAPS["kronecker"]())
    for depth, right in ((2, ["pull_queue"]), (3, ["push"])):
        steps.advance(search, CATALOGUE["xbfs"].steps[depth], depth)
        assert names[-1:] == right and (depth == 2 or len(names) == 1)
        names.clear()


@on_gpu
@pytest.mark.parametrize("count", [1, 31, 4096, 4097, 1_000_000])
@pytest.mark.parametrize("n", [1, 200, 1 << 15, 1 << 21, 2**31 - 1])
@pytest.mark.parametrize("pairs", [False, True])
def test_keys_are_sorted_and_values_follow(count: int, n: int, pairs: bool) -> None:
    """The radix sort of the column product: log n bits, stable; one block or many."""
    import cupy

    from hopwave.engines.cuda import buffers, launch
    from hopwave.engines.cuda.search import steps

    keys, work = np.random.default_rng(count + n).integers(0, n, count, dtype=np.int32), buffers.NamedBuffers()
    work.arrays["keys"] = cupy.asarray(keys)
    if pairs:
        work.arrays["values"] = cupy.arange(count, dtype=np.int32)
    on_device = SimpleNamespace(device=launch.Device())
    search: Any = SimpleNamespace(n=n, work=work, launch=launch.kernels("int"), on_device=on_device)
    found, theirs = steps.radix_sort(search, count, "keys", "values" if pairs else None)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(found.get(), keys[order])
    if pairs:
        np.testing.assert_array_equal(theirs.get(), order)


# ---------------------------------------------------------------- benchmarks check what they time


@on_gpu
@pytest.mark.parametrize(
    "graph", [generate.kronecker(12, seed=1), generate.path(70), generate.star(2000)], ids=["kronecker", "path", "star"]
)
def test_every_search_of_xbfss_figures_finds_the_distances(graph: Graph) -> None:
    """Figures 11 to 15: and every bottom-up level deals its rows out, and looks ahead, as its plan says."""
    plans, distances = xbfs.ways("cuda"), oracle.distances(graph, [0])
    assert {one.steps[2].balance for one in plans.values()} == {"static", "thread", "warp", "donate"}
    for name, plan in plans.items():
        shapes: list[str] = []
        engine, search, _ = launched(graph, plan, shapes)
        levels = engine.run(search, plan, True)
        assert values(engine.fetch(search)["distances"]) == distances, name
        assert [level.vertices for level in levels] == [distances.count(level.depth - 1) for level in levels], name
        pull: Any = plan.steps[2]
        kernel = f"Balance::{pull.balance.replace('static', 'static_')}, {'true' if pull.asynchronous else 'false'}"
        assert all(shape.endswith(kernel) for shape in shapes) and (graph.n != 1 << 12 or shapes), name


@on_gpu
def test_xbfss_figures_11_to_14_are_shares_and_ratios_of_the_same_levels() -> None:
    row = xbfs.one_graph(Lab("cuda", True), xbfs.TABLE_1[0], generate.kronecker(14).to("cuda"))
    assert row["gain: XBFS"] == pytest.approx(row["baseline ms"] / row["XBFS ms"])
    for stage in ("baseline", "after Ad", "XBFS"):
        assert 0 < row[f"bottom-up % ({stage})"] < 100
    saved = [row[f"saved by {way} %"] for way in xbfs.CHOICES]
    assert saved == [None] * 4 or sum(saved) == pytest.approx(100)
    for name in xbfs.BALANCES:
        assert row[f"balance: {name}"] == pytest.approx(row["+ Ad ms"] / row[f"{name} ms"])


@on_gpu
def test_the_queues_of_xbfss_figure_5_are_compared_before_they_are_timed() -> None:
    assert all(taken > 0 for share in xbfs.SHARES for taken in xbfs.queue_ms(1 << 20, share).values())
