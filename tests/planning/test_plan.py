"""Plans: meaningless plans are refused, and a plan that cannot do something names one that can."""

from __future__ import annotations

import dataclasses
import re
from functools import wraps
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import PlanError
from hopwave.algebra.semiring import any_pair, any_secondi, plus_first
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, Pull, Push
from hopwave.planning.rules import Beamer, Sizes

COUNTING = SearchJob(path_counts=True)
SEARCHES = [plan for plan in CATALOGUE.values() if plan.task == "search"]
REFUSING = [plan for plan in SEARCHES if plan.why_not(COUNTING)]


def made(**changes: Any) -> Plan:
    given: dict[str, Any] = {
        "name": "mine",
        "paper": "none",
        "section": "1",
        "summary": "a test",
        "steps": (Push("thread"), Pull("thread")),
        "rule": Beamer(15, 18),
    }
    return Plan(**(given | changes))


# ---------------------------------------------------------------- meaningless plans are refused


@pytest.mark.parametrize("record", [Push("thread"), Pull("thread"), made(), Beamer(1, 2), COUNTING, plus_first])
def test_records_are_frozen(record: Any) -> None:
    for field in dataclasses.fields(record):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field.name, None)
    assert hash(record) == hash(dataclasses.replace(record)) and record == dataclasses.replace(record)


def test_plans_hold_no_arrays() -> None:
    def leaves(value: Any) -> list[Any]:
        if dataclasses.is_dataclass(value):
            return [leaf for field in dataclasses.fields(value) for leaf in leaves(getattr(value, field.name))]
        return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple) else [value]

    for plan in CATALOGUE.values():
        assert {type(leaf) for leaf in leaves(plan)} <= {str, int, float, bool}


# ---------------------------------------------------------------- the semiring belongs to the question


@pytest.mark.parametrize(
    "question, semiring",
    [
        (SearchJob(predecessors=False), any_pair),
        (SearchJob(), any_secondi),
        (COUNTING, plus_first),
        (SearchJob(predecessors=False, path_counts=True), plus_first),
    ],
)
def test_the_semiring_follows_the_question(question: SearchJob, semiring: Any) -> None:
    assert question.semiring is semiring
    assert semiring.any_term is not question.path_counts


# ---------------------------------------------------------------- early exit and path counts


def test_exactly_the_plans_that_skip_terms_cannot_count_paths() -> None:
    def skips(step: Push | Pull) -> bool:
        return isinstance(step, Pull) and (step.early_exit or step.operand == "visited" or step.asynchronous)

    assert [plan for plan in SEARCHES if any(map(skips, plan.steps))] == REFUSING
    assert len(REFUSING) > 5 and len(SEARCHES) - len(REFUSING) > 5


@pytest.mark.parametrize("plan", REFUSING, ids=str)
def test_a_refusal_names_a_plan_that_works(plan: Plan) -> None:
    graph = hw.generate.grid(4, 4)
    with pytest.raises(PlanError, match=f"plan '{plan.name}'.*cannot count paths; use plan='auto'") as error:
        hw.bfs(graph, 0, path_counts=True, plan=plan.name)
    named = set(re.findall(r"'([a-z0-9-]+)'", str(error.value))) - {plan.name}
    assert named & CATALOGUE.keys(), "the message names a published plan beside auto"
    for name in named:
        counts = hw.bfs(graph, 0, path_counts=True, plan=name).path_counts
        assert isinstance(counts, np.ndarray) and counts[15] == 20
    assert hw.bfs(graph, 0, plan=plan.name).distances[15] == 6, "without counts it works"


def test_auto_picks_by_the_question() -> None:
    graph = hw.generate.path(3)
    assert hw.bfs(graph, 0).plan == "hopwave"
    assert hw.bfs(graph, 0, path_counts=True).plan == "hopwave-paths"
    assert hw.bfs(hw.generate.complete(20), 0, device="cpu").plan == "hopwave-dense"


def test_a_user_defined_plan_runs() -> None:
    """A new search is one record; writing it needs no knowledge of an engine."""
    mine = made(steps=(Push("thread"), Pull("thread", "unvisited", "visited")), rule=Beamer(2, 2))
    result = hw.bfs(hw.generate.kronecker(6), 0, plan=mine, trace=True)
    assert result.plan == "mine" and result.plan.plan is mine
    assert result.trace is not None and set(result.trace.directions) == {"push", "pull"}


def test_steps_print_what_matters() -> None:
    assert str(Push("edge", "dense")) == "push(edge, dense)"
    assert str(Pull("thread", early_exit=False)) == "pull(thread, unvisited)"
    assert str(Pull("warp", "compacted", "visited", asynchronous=True)) == "pull(warp, compacted, visited, exit, async)"
    assert str(made()) == "mine"


ON_GPU = pytest.param({"device": "cuda"}, marks=pytest.mark.gpu)


@pytest.mark.parametrize("where", [{"device": "reference"}, {"device": "cpu"}, {"threads": 1}, ON_GPU])
def test_a_function_is_a_rule(where: dict[str, Any], request: pytest.FixtureRequest) -> None:
    if where == {"device": "cuda"}:
        request.getfixturevalue("gpu")
    graph = hw.generate.kronecker(8)
    seen: list[Sizes] = []

    def late(sizes: Sizes) -> int:
        seen.append(sizes)
        return int(sizes.nf > sizes.n / 10)

    def failing(sizes: Sizes) -> int:
        raise KeyError(sizes.n)

    mine = dataclasses.replace(hw.plan("pushpull"), name="mine", rule=late)
    found = hw.bfs(graph, 0, plan=mine, trace=True, **where)
    assert found.trace.directions == ["pull" if s.nf > s.n / 10 else "push" for s in seen]
    assert [level.vertices for level in found.trace] == [s.nf for s in seen]
    assert {"push", "pull"} == set(found.trace.directions) and str(mine.rule) == "late"
    assert np.array_equal(found.distances, hw.bfs(graph, 0).distances)
    with pytest.raises(PlanError, match="late chose step 7; return a whole number from 0 to 1"):
        hw.bfs(graph, 0, plan=dataclasses.replace(mine, rule=wraps(late)(lambda sizes: 7)), **where)
    with pytest.raises(KeyError, match="256"):
        hw.bfs(graph, 0, plan=dataclasses.replace(mine, rule=failing), **where)
    assert np.array_equal(hw.bfs(graph, 0, plan=mine, **where).distances, found.distances)
