"""The catalogue has every plan of the papers, with citations, and every plan runs."""

from __future__ import annotations

import dataclasses
import functools
import re
from pathlib import Path

import numpy as np
import pytest

import hopwave as hw
from hopwave import GraphError, PlanError, engines
from hopwave.planning import catalogue
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, Pull, Push
from hopwave.planning.rules import XBFS, Always, Beamer, Growing, OneWay, Ratio

PUBLISHED = {
    catalogue.TURBOBFS: [
        f"turbobfs-{name}" for name in ["td-sccooc", "td-sccsc", "td-vecsc", "bu-sc", "bu-ve", "tdbu"]
    ],
    catalogue.HIRAGUSHI: ["hiragushi-hybrid"],
    catalogue.MERRILL: ["merrill"],
    catalogue.XBFS_PAPER: ["xbfs", "xbfs-static", "xbfs-thread", "xbfs-donate", "xbfs-sync"],
    catalogue.PUSHPULL: [
        *(f"pushpull-{name}" for name in ("baseline", "structure", "direction", "masking", "exit")),
        "pushpull",
    ],
    catalogue.TURBOBC: ["turbobc-sccooc", "turbobc-sccsc", "turbobc-vecsc"],
    catalogue.BRANDES: ["brandes-dijkstra"],
    catalogue.DIJKSTRA: ["dijkstra", "dijkstra-buckets"],
    catalogue.MEYER: ["delta-stepping"],
    catalogue.KEPNER: ["bellman-ford"],
    catalogue.OURS: [
        "hopwave",
        *(f"hopwave-{name}" for name in ("dense", "paths", "block", "batch", "wide")),
        "near-far",
    ],
}
every_plan = pytest.mark.parametrize("plan", CATALOGUE.values(), ids=str)


def test_every_published_plan_is_there() -> None:
    for paper, names in PUBLISHED.items():
        assert [plan.name for plan in CATALOGUE.values() if plan.paper == paper] == names


def test_names_are_unique_and_their_own_keys() -> None:
    assert all(name == plan.name for name, plan in CATALOGUE.items())
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in CATALOGUE)
    assert "auto" not in CATALOGUE
    assert len(catalogue.PLANS) == len(CATALOGUE) > 20, "a second record of one name would silently replace the first"


@every_plan
def test_every_plan_cites_paper_and_section(plan: Plan, root: Path) -> None:
    assert plan.summary and "\n" not in plan.summary and "|" not in plan.summary
    if plan.paper == catalogue.OURS:
        assert (root / plan.section).is_file(), "our own are explained in the repository"
    else:
        assert re.search(r"(19|20)\d\d", plan.paper), "a paper has a year"
        assert re.search(r"\b(\d(\.\d)*|[IVX]+-[A-Z])\b", plan.section), "and its sections have numbers"


ON_GPUS_ALONE = {  # plan → the CPU's reason to refuse it; tests/engines/cuda runs these plans
    "near-far": "use method='delta-stepping', or device='cuda'",
    "hopwave-batch": "shares reads among GPU threads; on the CPU use 'hopwave-block' or plan='auto'",
}


@every_plan
def test_every_plan_runs_on_some_engine(plan: Plan) -> None:
    graph = hw.generate.path(3)
    if plan.task == "search":
        assert engines.engine("reference").why_not(plan, SearchJob()) is None
        assert hw.bfs(graph, 0, plan=plan.name).reached == 3
    elif plan.task == "betweenness":
        weights = np.ones(4) if plan.name == "brandes-dijkstra" else None
        run = functools.partial(hw.betweenness_centrality, graph, plan=plan.name, weights=weights, normalized=False)
        if plan.name in ON_GPUS_ALONE:
            with pytest.raises(PlanError, match=ON_GPUS_ALONE[plan.name]):
                run(device="cpu")
            return
        found = run(device="cpu")
        assert found.scores.tolist() == [0, 1, 0] and found.plan == plan.name
    else:
        graph = graph.with_weights(np.ones(4))
        if plan.name in ON_GPUS_ALONE:
            with pytest.raises(GraphError, match=ON_GPUS_ALONE[plan.name]):
                hw.sssp(graph, 0, method=plan.name, device="cpu")
            return
        method = "delta-stepping" if plan.name == "dijkstra-buckets" else plan.name  # one core is faster on a path
        delta = 1.0 if plan.name == "delta-stepping" else None
        assert hw.sssp(graph, 0, method=method, delta=delta).plan == plan.name


@every_plan
def test_every_plan_is_documented(plan: Plan, root: Path) -> None:
    assert f"`{plan.name}`" in (root / "docs" / "plans.md").read_text(encoding="utf-8")


def test_every_word_of_a_step_is_used_by_some_plan() -> None:
    """A value that no plan uses would be code without a paper."""
    steps = [step for plan in CATALOGUE.values() for step in plan.steps]
    pushes = [step for step in steps if isinstance(step, Push)]
    pulls = [step for step in steps if isinstance(step, Pull)]
    assert {push.mapping for push in pushes} == {"thread", "twc", "merge", "edge"}
    assert {push.output for push in pushes} == {"queue", "scan", "dense", "sort", "reuse"}
    assert {push.claim for push in pushes} == {"atomic", "benign"}
    assert {pull.mapping for pull in pulls} == {"thread", "warp", "merge"}
    assert {pull.rows for pull in pulls} == {"all", "unvisited", "compacted"}
    assert {pull.balance for pull in pulls} == {"static", "thread", "warp", "donate"}


# ---------------------------------------------------------------- plans as their papers describe them


def same_algorithm(one: str, other: str) -> bool:
    """Whether two plans differ only in name, section and summary."""
    words = {"name": "", "section": "", "summary": ""}
    return dataclasses.replace(CATALOGUE[one], **words) == dataclasses.replace(CATALOGUE[other], **words)  # type: ignore[arg-type]


def test_turbobfs() -> None:
    """Its top-down CSC is a gather without early exit; only COOC scatters (sections III-A to III-C)."""
    scatter, thread, warp, up_thread, up_warp, both = (CATALOGUE[name] for name in PUBLISHED[catalogue.TURBOBFS])
    assert scatter.steps == (Push("edge", "dense", "atomic"),)
    assert thread.steps == (Pull("thread", early_exit=False),)
    assert warp.steps == (Pull("warp", early_exit=False),)
    assert up_thread.steps == (Pull("thread"),) and up_warp.steps == (Pull("warp"),)
    assert both.steps == thread.steps + up_thread.steps and both.rule == OneWay(0.10)


def test_hiragushi() -> None:
    """Compacted bottom-up over the visited bitmap, rows by in-degree, α = 48, β = 20; the push claims by atomics."""
    plan, baseline = CATALOGUE["hiragushi-hybrid"], CATALOGUE["merrill"]
    push, pull = plan.steps
    assert isinstance(push, Push) and isinstance(pull, Pull)
    assert (push.mapping, push.output, push.claim) == ("twc", "queue", "atomic")
    assert (pull.rows, pull.operand, pull.early_exit) == ("compacted", "visited", True)
    assert plan.order == "degree" and plan.rule == Beamer(48, 20)
    assert baseline.steps == (dataclasses.replace(push, claim="benign"),) and baseline.rule == Always()


def test_xbfs() -> None:
    """Four ways to make a queue (section 4), and ablations that differ only in the bottom-up step (section 5)."""
    plan = CATALOGUE["xbfs"]
    scan_free, single_scan, double_scan, no_queue, to_the_end = plan.steps
    assert isinstance(scan_free, Push) and isinstance(single_scan, Push) and isinstance(no_queue, Push)
    assert isinstance(double_scan, Pull)
    assert (scan_free.output, single_scan.output, no_queue.output) == ("queue", "scan", "reuse")
    assert (scan_free.claim, single_scan.claim) == ("atomic", "benign") and to_the_end == scan_free
    assert double_scan.asynchronous and double_scan.rows == "compacted"
    assert plan.rule == XBFS(0.1)
    for name in PUBLISHED[catalogue.XBFS_PAPER][1:]:
        other = CATALOGUE[name]
        assert other.rule == plan.rule
        assert other.steps[:2] + other.steps[3:] == plan.steps[:2] + plan.steps[3:]
    assert not same_algorithm("xbfs-donate", "xbfs")
    pulls = {name: CATALOGUE[name].steps[2] for name in PUBLISHED[catalogue.XBFS_PAPER]}
    assert pulls["xbfs-sync"] == dataclasses.replace(double_scan, asynchronous=False)
    assert double_scan.balance == "warp"
    for balance in ("static", "thread", "donate"):
        assert pulls[f"xbfs-{balance}"] == dataclasses.replace(double_scan, balance=balance)


def test_pushpull_table_2_adds_one_optimisation_per_row() -> None:
    baseline, structure, direction, masking, early, reuse = (CATALOGUE[name] for name in PUBLISHED[catalogue.PUSHPULL])
    (sort,) = baseline.steps
    assert isinstance(sort, Push) and sort.output == "sort" and not sort.structure_only
    (keys,) = structure.steps
    assert keys == dataclasses.replace(sort, structure_only=True)
    assert direction.steps[0] == masking.steps[0] == early.steps[0] == reuse.steps[0] == keys
    rows = [plan.steps[1] for plan in (direction, masking, early, reuse)]
    assert rows[0] == Pull("merge", "all", "frontier", early_exit=False)  # ModernGPU's; the others are Algorithm 2
    assert rows[1] == dataclasses.replace(rows[0], mapping="thread", rows="unvisited")
    assert rows[2] == dataclasses.replace(rows[1], early_exit=True)
    assert rows[3] == dataclasses.replace(rows[2], operand="visited")
    assert all(plan.rule == Ratio(0.01, 0.01) for plan in (direction, masking, early, reuse))


def test_hopwaves_own_plans() -> None:
    ours = CATALOGUE["hopwave"]
    assert ours.loop == "device" and ours.order == "degree" and isinstance(ours.rule, Growing)
    assert not same_algorithm("hopwave-dense", "hopwave")
    assert {CATALOGUE[f"hopwave-{name}"].regime for name in ("block", "batch", "wide")} == {"block", "batch", "wide"}
    assert CATALOGUE["hopwave-paths"].why_not(SearchJob(path_counts=True)) is None


def test_betweenness_plans_count_paths() -> None:
    for plan in CATALOGUE.values():
        if plan.task == "betweenness":
            search = dataclasses.replace(plan, task="search")
            assert search.why_not(SearchJob(path_counts=True)) is None, plan.name


# ---------------------------------------------------------------- lookup


def test_plan_by_name() -> None:
    assert hw.plan("xbfs") is CATALOGUE["xbfs"]
    assert hw.plan(CATALOGUE["xbfs"]) is CATALOGUE["xbfs"]


def test_the_table() -> None:
    table = hw.plans()
    assert [plan.name for plan in table] == list(CATALOGUE)
    assert str(table) == repr(table) and len(str(table).splitlines()) == len(CATALOGUE)
    lines = table.markdown().splitlines()
    assert len(lines) == len(CATALOGUE) + 2
    assert {line.count("|") for line in lines} == {6}, "no cell breaks the table"
    for plan, line in zip(table, lines[2:], strict=True):
        assert line.startswith(f"| `{plan.name}` |")
        assert plan.paper in line and plan.section in line and str(plan.rule) in line
        assert all(str(step) in line for step in plan.steps)
