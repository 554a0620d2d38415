"""Plans: every published one is there as its paper describes it, cites it, and runs; records are plain."""

import dataclasses
import re
from functools import wraps
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import hopwave as hw
from hopwave import PlanError, engines
from hopwave.algebra.semiring import any_pair, any_secondi, plus_first
from hopwave.planning import catalogue
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob, SearchJob
from hopwave.planning.plan import Plan, Pull, Push, Step
from hopwave.planning.rules import XBFS, Always, Beamer, OneWay, Ratio, Sizes

COUNTING = SearchJob(path_counts=True)
SEARCHES = [plan for plan in CATALOGUE.values() if plan.task == "search"]
REFUSING = [plan for plan in SEARCHES if plan.why_not(COUNTING)]
MINE = Plan("mine", "none", "1", "a test", (Push("thread"), Pull("thread")), Beamer(2, 2))


def plans(*names: str) -> list[Plan]:
    return [CATALOGUE[name] for name in names]


def test_every_record_is_a_plan_of_its_own_name() -> None:
    assert list(CATALOGUE) == list(catalogue.RECORDS) and len(set(CATALOGUE.values())) > 20  # hashable: no arrays
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in CATALOGUE) and "auto" not in CATALOGUE


@pytest.mark.parametrize("plan", CATALOGUE.values(), ids=str)
def test_every_plan_cites_paper_and_section(plan: Plan, root: Path) -> None:
    assert plan.summary and "\n" not in plan.summary and "|" not in plan.summary
    assert f"`{plan.name}`" in (root / "docs" / "plans.md").read_text(encoding="utf-8")
    if plan.paper == "hopwave":
        assert (root / plan.section).is_file(), "our own are explained in the repository"
    else:
        assert re.search(r"(19|20)\d\d", plan.paper), "a paper has a year"
        assert re.search(r"\b(\d(\.\d)*|[IVX]+-[A-Z])\b", plan.section), "and its sections have numbers"


def test_every_plan_runs_on_some_engine() -> None:
    """tests/questions asks all that run; it, too, calls the methods of shortest paths by their names."""
    jobs = {"search": SearchJob(), "betweenness": BetweennessJob(np.zeros(1, np.int64))}
    asked = [plan for plan in CATALOGUE.values() if plan.task in jobs]
    refused = [plan.name for plan in asked if engines.engine("cpu").why_not(plan, jobs[plan.task])]
    assert refused == ["hopwave-batch"], "which needs a GPU"
    assert not any(engines.engine("reference").why_not(plan, SearchJob()) for plan in SEARCHES)


def test_every_word_of_a_step_is_used_by_some_plan() -> None:
    """A value that no plan uses would be code without a paper."""
    steps = [step for plan in CATALOGUE.values() for step in plan.steps]
    for kind, fields in ((Push, ("mapping", "output", "claim")), (Pull, ("mapping", "rows", "operand", "balance"))):
        for field in fields:
            used = {getattr(step, field) for step in steps if isinstance(step, kind)}
            assert used == set(get_args(get_type_hints(kind)[field]))


def test_turbobfs() -> None:
    """Its top-down CSC is a gather without early exit; only COOC scatters (sections III-A to III-C)."""
    names = ("td-sccooc", "td-sccsc", "td-vecsc", "bu-sc", "bu-ve", "tdbu", "tdbu-ve")
    scatter, thread, warp, up_thread, up_warp, both, by_warps = plans(*(f"turbobfs-{name}" for name in names))
    assert scatter.steps == (Push("edge", "dense", "atomic"),)
    assert thread.steps == (Pull("thread", early_exit=False),)
    assert warp.steps == (Pull("warp", early_exit=False),)
    assert up_thread.steps == (Pull("thread"),) and up_warp.steps == (Pull("warp"),)
    assert both.steps == thread.steps + up_thread.steps and both.rule == by_warps.rule == OneWay(0.10)
    assert by_warps.steps == warp.steps + up_thread.steps


def test_hiragushi() -> None:
    """Compacted bottom-up over the visited bitmap, rows by in-degree, α = 48, β = 20; the push claims by atomics."""
    plan, baseline = plans("hiragushi-hybrid", "merrill")
    assert plan.steps == (Push("twc", "queue", "atomic"), Pull("thread", "compacted", "visited"))
    assert plan.order == "degree" and plan.rule == Beamer(48, 20)
    assert baseline.steps == (Push("twc", "queue", "benign"),) and baseline.rule == Always()


def test_xbfs() -> None:
    """Four ways to make a queue (section 4), and ablations that differ only in the bottom-up step (section 5)."""
    (plan,) = plans("xbfs")
    scan_free, single_scan, double_scan, no_queue = (
        Push("twc", "queue", "atomic"), Push("twc", "scan", "benign"),
        Pull("thread", "compacted", asynchronous=True, balance="warp"), Push("twc", "reuse"),
    )  # fmt: skip
    assert plan.steps == (scan_free, single_scan, double_scan, no_queue, scan_free) and plan.rule == XBFS(0.1)
    changes: dict[str, Any] = {name: {"balance": name} for name in ("static", "thread", "donate")}
    for name, change in (changes | {"sync": {"asynchronous": False}}).items():
        (other,) = plans(f"xbfs-{name}")
        pull = dataclasses.replace(double_scan, **change)
        assert other.rule == plan.rule and other.steps == (*plan.steps[:2], pull, *plan.steps[3:])


def test_pushpull_table_2_adds_one_optimisation_per_row() -> None:
    names = ("-baseline", "-structure", "-direction", "-masking", "-exit", "")
    baseline, structure, *others = plans(*(f"pushpull{name}" for name in names))
    keys = Push("merge", "sort")
    assert baseline.steps == (dataclasses.replace(keys, structure_only=False),) and structure.steps == (keys,)
    pull = Pull("merge", "all", "frontier", early_exit=False)  # ModernGPU's; the others are Algorithm 2
    changes = {}, {"mapping": "thread", "rows": "unvisited"}, {"early_exit": True}, {"operand": "visited"}
    for plan, change in zip(others, changes, strict=True):
        pull = dataclasses.replace(pull, **change)  # type: ignore[arg-type]
        assert plan.steps == (keys, pull) and plan.rule == Ratio(0.01, 0.01)


def test_steps_print_what_matters() -> None:
    assert str(Push("edge", "dense")) == "push(edge, dense)"
    assert str(Pull("thread", early_exit=False)) == "pull(thread, unvisited)"
    assert str(Pull("warp", "compacted", "visited", asynchronous=True)) == "pull(warp, compacted, visited, exit, async)"
    assert str(MINE) == "mine"


def test_the_table() -> None:
    table = hw.plans()
    assert hw.plan("xbfs") is CATALOGUE["xbfs"] is hw.plan(CATALOGUE["xbfs"])
    assert [plan.name for plan in table] == list(CATALOGUE)
    assert str(table) == repr(table) and len(str(table).splitlines()) == len(CATALOGUE)
    lines = table.markdown().splitlines()
    assert len(lines) == len(CATALOGUE) + 2
    assert {line.count("|") for line in lines} == {6}, "no cell breaks the table"
    for plan, line in zip(table, lines[2:], strict=True):
        assert line.startswith(f"| `{plan.name}` |")
        assert all(str(part) in line for part in (plan.paper, plan.section, plan.rule, *plan.steps))


def test_auto_and_the_semiring_follow_the_question() -> None:
    semirings = {(False, False): any_pair, (True, False): any_secondi, (True, True): plus_first}
    for (predecessors, counts), semiring in (semirings | {(False, True): plus_first}).items():
        assert SearchJob(predecessors, counts).semiring is semiring and semiring.any_term is not counts
    graph = hw.generate.path(3)
    assert hw.bfs(graph, 0).plan == "hopwave"
    assert hw.bfs(graph, 0, path_counts=True).plan == "hopwave-paths"
    assert hw.bfs(hw.generate.complete(20), 0, device="cpu").plan == "hopwave-dense"


def test_exactly_the_plans_that_skip_terms_cannot_count_paths() -> None:
    def skips(step: Step) -> bool:
        return isinstance(step, Pull) and (step.early_exit or step.operand == "visited" or step.asynchronous)

    assert [plan for plan in SEARCHES if any(map(skips, plan.steps))] == REFUSING
    assert len(REFUSING) > 5 and len(SEARCHES) - len(REFUSING) > 5
    scores = (plan for plan in CATALOGUE.values() if plan.task == "betweenness")
    assert not any(dataclasses.replace(plan, task="search").why_not(COUNTING) for plan in scores)


@pytest.mark.parametrize("plan", REFUSING, ids=str)
def test_a_refusal_names_a_plan_that_works(plan: Plan) -> None:
    graph = hw.generate.grid(4, 4)
    with pytest.raises(PlanError, match=f"plan '{plan.name}'.*cannot count paths; use plan='auto'") as error:
        hw.bfs(graph, 0, path_counts=True, plan=plan.name)
    named = set(re.findall(r"'([a-z0-9-]+)'", str(error.value))) - {plan.name}
    assert named & CATALOGUE.keys(), "the message names a published plan beside auto"
    assert {hw.bfs(graph, 0, path_counts=True, plan=name).path_counts[15] for name in named} == {20}


ON_GPU = pytest.param({"device": "cuda"}, marks=pytest.mark.gpu)


@pytest.mark.parametrize("where", [{"device": "reference"}, {"device": "cpu"}, {"threads": 1}, ON_GPU])
def test_a_plan_and_a_rule_of_ones_own(where: dict[str, Any], request: pytest.FixtureRequest) -> None:
    if where == {"device": "cuda"}:
        request.getfixturevalue("gpu")
    graph, seen = hw.generate.kronecker(8), []

    def late(sizes: Sizes) -> int:
        seen.append(sizes)
        return int(sizes.nf > sizes.n / 10)

    mine = dataclasses.replace(hw.plan("pushpull"), name="mine", rule=late)
    found = hw.bfs(graph, 0, plan=mine, trace=True, **where)
    assert found.plan == "mine" and found.plan.plan is mine and str(mine.rule) == "late"
    assert found.trace.directions == ["pull" if s.nf > s.n / 10 else "push" for s in seen]
    assert [level.vertices for level in found.trace] == [s.nf for s in seen]
    assert {"push", "pull"} == set(found.trace.directions)
    wrong: list[tuple[type[Exception], str, Any]] = [
        (PlanError, "late chose step 7; return an integer from 0 to 1", wraps(late)(lambda sizes: 7)),
        (KeyError, "256", lambda sizes: {}[sizes.n]),
    ]
    for error, words, rule in wrong:
        with pytest.raises(error, match=words):
            hw.bfs(graph, 0, plan=dataclasses.replace(mine, rule=rule), **where)
    for plan in (mine, MINE):
        assert np.array_equal(hw.bfs(graph, 0, plan=plan, **where).distances, found.distances)
