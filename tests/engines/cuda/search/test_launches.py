"""What steps launch, tested without a GPU: arguments are named like the kernels' parameters."""

from __future__ import annotations

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
from hopwave.engines.cuda.launch import check_names, parameters
from hopwave.engines.cuda.search import state, steps

STEPS = {step: plan for plan in CATALOGUE.values() if plan.task == "search" for step in plan.steps}


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


@pytest.fixture
def arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = SimpleNamespace(empty=Array, zeros=Array, ndarray=Array, cumsum=lambda sums: sums)
    for module in (buffers, state, steps):
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
        for launch in kind(search, step) or ():
            launch.make(search)
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
