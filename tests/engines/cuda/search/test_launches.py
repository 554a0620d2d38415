"""What steps launch, tested without a GPU: arguments named like the kernels' parameters, and repeated launches."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hopwave import generate
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, Pull, Push

pytest.importorskip("cupy", reason="CuPy is not installed")
from hopwave.engines.cuda import buffers
from hopwave.engines.cuda.launch import NULL, check_names, parameters
from hopwave.engines.cuda.search import ahead, state, steps

STEPS = {step: plan for plan in CATALOGUE.values() if plan.task == "search" for step in plan.steps}
AHEAD = [plan for plan in CATALOGUE.values() if plan.task == "search" and ahead.possible(plan)]


class Array:
    """A substitute for a CuPy array."""

    def __init__(self, length: int, dtype: Any = np.int32) -> None:
        self.length, self.nbytes = length, length * np.dtype(dtype).itemsize
        self.data = SimpleNamespace(ptr=1 << 20, memset_async=lambda value, size: None)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, place: slice) -> Array:
        return self

    def fill(self, value: int) -> None:
        pass


class Launches:
    """A substitute for PackedLaunches: keeps (header, name, names of arguments) and checks the names too."""

    def __init__(self) -> None:
        self.made: list[tuple[str, str, dict[str, Any]]] = []

    def __call__(
        self, header: str, name: str, work: int, /, *arguments: Any, shape="", blocks=None, **named: Any
    ) -> None:
        assert work > 0 and len(arguments) + len(named) == len(parameters(header, name))
        if named:
            check_names(header, name, named, len(arguments))
        self.made.append((header, name, named))

    def get(self, header: str, name: str, shape: str) -> Any:
        return SimpleNamespace(ptr=(header, name, shape))

    def grid(self, work: int) -> int:
        return work // 2


@pytest.fixture
def arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = SimpleNamespace(empty=Array, zeros=Array, ndarray=Array, cumsum=lambda sums: sums)
    for module in (buffers, state, steps, ahead):
        monkeypatch.setattr(module, "cupy", cupy)


def begun(plan: Plan, question: SearchJob) -> Any:
    """A search in its second level, with a frontier of two vertices."""
    graph = generate.star(50)
    device = SimpleNamespace(blocks=10, multiprocessors=4)
    arrays = {name: Array(98) for name in ("arc_columns", "arc_values", "closed")}
    on_device = SimpleNamespace(launch=None, device=device, degree_bits=3, **arrays)
    rows = {name: Array(98) for name in ("offsets", "neighbours", "in_offsets", "in_neighbours")}
    loaded = SimpleNamespace(graph=graph, n=graph.n, m=graph.m, plan=plan, on_device=on_device, **rows)
    search = state.Search(loaded, (1,), question)
    search.work = buffers.NamedBuffers()
    search.work.rows = [Array(state.COUNTERS) for _ in range(state.MOST_AHEAD)]  # type: ignore[attr-defined]
    search.launch, search.all_counters, search.next_row = Launches(), Array(1), state.MOST_AHEAD
    search.queue, search.next_queue, search.marks = Array(graph.n), Array(graph.n), False
    search.counters, search.before = Array(state.COUNTERS), state.NO_LEVEL
    search.depth, search.nf, search.mf, search.reached, search.has_queue = 1, 2, 50, 2, True
    if question.path_counts:
        search.sigma = Array(graph.n, np.float64)
    return search


@pytest.mark.usefixtures("arrays")
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("few", [0, 1 << 20])
@pytest.mark.parametrize("step", STEPS, ids=str)
def test_arguments_have_the_names_of_the_parameters(
    step: Push | Pull, few: int, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every step of the catalogue: alone, and after a pull whose queue it uses; with short and with long lists."""
    plan = STEPS[step]
    if counted and plan.why_not(SearchJob(path_counts=True)):
        pytest.skip("the plan counts no paths")
    monkeypatch.setattr(steps, "FEW_LISTS", few)
    monkeypatch.setattr(steps, "FEW_ARCS", few)
    monkeypatch.setattr(steps, "SORT_TILE", max(few, 16))
    kind = steps.kind_of(step)
    assert kind is not None
    for waiting in (0, 7):
        search = begun(plan, SearchJob(path_counts=counted))
        search.waiting, search.early = waiting, waiting
        search.work.take("waiting", search.n, np.int32)
        kind(search, step)
        assert [named for _, _, named in search.launch.made if "counters" in named]


@pytest.mark.usefixtures("arrays")
def test_no_generation_makes_no_pass_of_its_own() -> None:
    """XBFS, Observation 2: after a pull that looked ahead, one push reads its queue, and nothing else does."""
    pull, no_queue = CATALOGUE["xbfs"].steps[2:4]
    search = begun(CATALOGUE["xbfs"], SearchJob())
    search.has_queue = False
    steps.pull_queue(search, pull)
    assert search.launch.made[-1][2]["next"] is search.next_queue, "the pull lists what it finds early"
    search.launch.made.clear()
    search.early = 7
    steps.push_fused(search, no_queue)
    (made,) = search.launch.made
    assert made[:2] == ("steps/push.cuh", "push") and made[2]["queue"] is search.work.arrays["waiting"]


def test_wrong_names_are_refused() -> None:
    right = dict.fromkeys(("visited", "found", "words"))
    check_names("steps/state.cuh", "merge_bits", right)
    check_names("steps/state.cuh", "merge_bits", {"words": None}, 2)
    for wrong in (("found", "visited", "words"), ("visited", "found"), ("visited", "found", "n")):
        with pytest.raises(TypeError, match="has the parameters visited, found, words, not "):
            check_names("steps/state.cuh", "merge_bits", dict.fromkeys(wrong))


# ---------------------------------------------------------------- repeated launches


class Prepared:
    """A substitute for PreparedLaunch: its launches are (kernel, blocks, arguments)."""

    seen: list[Any]

    def __init__(self, kernel: Any, blocks: int, threads: int, cooperative: bool, **named: Any) -> None:
        assert threads == ahead.BLOCK and not cooperative
        self.shape, self.named = (kernel.handle, blocks), named

    def __call__(self, **changed: Any) -> None:
        Prepared.seen.append((*self.shape, {name: int(value) for name, value in (self.named | changed).items()}))


@pytest.fixture
def prepared(arrays: None, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.setattr(ahead, "PreparedLaunch", Prepared)
    Prepared.seen = []
    return Prepared.seen


def launch(**arguments: Any) -> Any:
    return steps.Launch("steps/pull.cuh", "pull", 10, "x", arguments)


class Depths(Launches):
    """Records the depth of every launch."""

    def __init__(self, seen: list[Any]) -> None:
        self.seen = seen

    def __call__(self, *arguments: Any, depth: Any, **named: Any) -> None:
        self.seen.append(depth)


def recording(seen: list[Any]) -> Any:
    data = SimpleNamespace(ptr=1000, memset_async=lambda value, size: seen.append(("clear", size)))
    levels = {"level": np.int32(4), "before": state.NO_LEVEL, "counters": np.uint64(1000)}
    return SimpleNamespace(all_counters=SimpleNamespace(data=data), launch=Depths(seen), **levels)


def test_recorded_launches_are_made_again_with_another_level(prepared: list[Any]) -> None:
    """Markers change; other arguments stay, even a size that happens to equal the depth."""
    search = recording(prepared)
    markers = {"depth": steps.LEVEL, "before": steps.BEFORE, "counters": steps.COUNTERS}
    one = launch(n=np.int32(4), parent=NULL, visited=Array(1), **markers)
    recorded = ahead.Recorded(search, [steps.Clear(search.all_counters, 8), one, replace(one, work=0)])
    assert prepared == [("clear", 8), 4, 4], "each is made once while it is recorded"
    prepared.clear()
    recorded.again(6, 0)
    recorded.again(7, 2)
    fixed, kernel = {"n": 4, "parent": 0, "visited": 1 << 20}, (("steps/pull.cuh", "pull", "x"), 5)
    row = ahead.COUNTER_BYTES
    assert prepared == [
        ("clear", 8),
        (*kernel, fixed | {"depth": 6, "before": 0, "counters": 1000}),
        ("clear", 8),
        (*kernel, fixed | {"depth": 7, "before": 1000 + row, "counters": 1000 + 2 * row}),
    ]


@pytest.mark.parametrize("own", [np.int32(4), 4, np.uint64(1000), 0.5])
def test_a_number_that_is_not_marked_is_not_recorded(prepared: list[Any], own: Any) -> None:
    """A depth computed by the step itself would stay the same at every later level."""
    with pytest.raises(TypeError, match=r"depth=.* which later levels would repeat; pass LEVEL, BEFORE or COUNTERS"):
        ahead.Recorded(recording(prepared), [launch(depth=own)])


@pytest.mark.usefixtures("prepared")
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("plan", AHEAD, ids=str)
def test_every_plan_that_runs_ahead_can_be_recorded(plan: Plan, counted: bool) -> None:
    if counted and plan.why_not(SearchJob(path_counts=True)):
        pytest.skip("the plan counts no paths")
    search, (step,) = begun(plan, SearchJob(path_counts=counted)), plan.steps
    search.ahead = True
    ahead.Recorded(search, ahead.LAUNCHES[steps.kind_of(step)](search, step)).again(6, 2)
    assert all(one[2]["depth"] == 6 for one in Prepared.seen if "depth" in one[2])
    assert {"depth", "before", "counters"} <= Prepared.seen[0][2].keys()
