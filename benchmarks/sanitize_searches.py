"""Searches under compute-sanitizer (sanitize_parts.py): every plan, plans of one's own, and counts beyond float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

import hopwave as hw
from benchmarks.sanitize_graphs import layers, same, traps
from hopwave import generate
from hopwave.catalogue import CATALOGUE
from hopwave.jobs import Question
from hopwave.plan import Plan, Pull, Push
from hopwave.rules import XBFS, Always

Part = Callable[[], Iterator[str]]


def searches(*names: str) -> Part:
    """Searches by these plans, with path counts where they have them."""
    return lambda: searched([hw.plan(name) for name in names], traps())


def searched(wanted: list[Plan], graphs: dict[str, hw.Graph]) -> Iterator[str]:
    """What these plans find, beside the reference."""
    for where, graph in graphs.items():
        expected = hw.bfs(graph, 0, path_counts=True, device="reference")
        for plan in wanted:
            counting = plan.why_not(Question(path_counts=True)) is None
            asked: list[dict[str, Any]] = [{}, {"predecessors": False}]
            for options in [*asked, {"path_counts": True}] if counting else asked:
                found = hw.bfs(graph, 0, plan=plan, device="cuda", **options)
                right = np.array_equal(found.distances, expected.distances)
                if found.path_counts is not None:
                    right &= same(found.path_counts, expected.path_counts, 1e-12)
                if not right:
                    yield f"{plan.name} on {where}, {options}"


def named(prefix: str) -> tuple[str, ...]:
    """The search plans whose names begin so."""
    return tuple(plan.name for plan in CATALOGUE.values() if plan.task == "search" and plan.name.startswith(prefix))


def own_plans(*kinds: type) -> Part:
    """Every step that the engine has a kernel for, alone; and early vertices of a pull beside a push."""

    def part() -> Iterator[str]:
        from hopwave.engines.cuda.search import steps

        some = [Plan(str(step), "", "", "", (step,), Always()) for kind in kinds for step in every_step(kind)]
        some = [plan for plan in some if steps.why_not(plan) is None]
        if Pull in kinds:
            mixed = (Push("block"), Push("warp", "scan", "benign"), CATALOGUE["xbfs"].steps[2], Push("thread", "reuse"))
            some.append(Plan("mixed", "", "", "", mixed, XBFS(0.02)))
        yield from searched(some, {"kronecker": generate.kronecker(7, edge_factor=8)})

    return part


def every_step(kind: type) -> Iterator[Any]:
    """All steps of a kind, those of no use included."""
    if kind is Push:
        words = ("thread", "warp", "block", "twc", "merge"), ("queue", "scan", "reuse"), ("atomic", "benign")
        yield from (Push(*chosen) for chosen in product(*words))
        return
    either = False, True
    for mapping, rows, operand, leaves in product(("thread", "warp", "merge"), ("all", "unvisited"), OPERANDS, either):
        yield Pull(mapping, rows, operand, leaves)
    for operand, early, balance in product(OPERANDS, either, ("static", "thread", "warp", "donate")):
        yield Pull("thread", "compacted", operand, True, early, balance)


OPERANDS = ("frontier", "visited")


def overflow() -> Iterator[str]:
    """Path counts beyond float64: scaled levels, then a mantissa and an exponent."""
    deep = layers(32, 220)
    for plan in ("hopwave-paths", "turbobfs-td-sccsc"):
        found = hw.bfs(deep, 0, plan=plan, path_counts=True, device="cuda")
        if found.depth != 219:
            yield f"{plan} on layers"
    u, v = deep.to_edges()
    path = np.r_[0, deep.n + np.arange(218), deep.n - 1]  # a single path beside 2^1090: too far apart for one scale
    spread = hw.Graph.from_edges(np.r_[u, path[:-1]], np.r_[v, path[1:]])
    for plan in ("hopwave-paths", "turbobfs-td-sccsc"):
        hw.bfs(spread, 0, plan=plan, path_counts=True, device="cuda")
    for sources in ([0], range(10)):  # several blocks for one source, and one block for each
        for options in ({"plan": "hopwave-block"}, {"weights": np.ones(spread.m)}):
            hw.betweenness_centrality(spread, sources=sources, device="cuda", progress=False, **options)


def turbobc_overflow() -> Iterator[str]:
    """TurboBC's plans on the same graphs; a level too far apart for one scale is left to the CPU."""
    deep = layers(32, 220)
    for plan in ("turbobc-sccsc", "turbobc-sccooc", "turbobc-vecsc"):
        scores = hw.betweenness_centrality(deep, sources=[0], plan=plan, device="cuda", progress=False).scores
        if not np.isfinite(scores).all():
            yield f"{plan} on layers"
