"""Searches under compute-sanitizer (parts.py): every plan, users' plans, and counts beyond float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np

import hopwave as hw
from benchmarks.sanitize.graphs import layers, repeats, same, traps
from hopwave import generate
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, Pull, Push
from hopwave.planning.rules import Always, Beamer

Part = Callable[[], Iterator[str]]


def searches(*names: str) -> Part:
    """Searches by these plans, with path counts if they have them."""
    return lambda: searched([hw.plan(name) for name in names], traps())


def filled() -> Iterator[str]:
    """Searches in one launch whose first pull writes every answer, as on graphs with many vertices."""
    from hopwave.engines.cuda.policy import LevelSplit
    from hopwave.engines.cuda.search import workspace

    with patch.object(workspace, "level_split", lambda m: LevelSplit(fill=0)):
        yield from searched([hw.plan("hopwave-dense")], traps())


def without_tiles(*names: str) -> Part:
    """Column products in which no frontier fits into one tile: the whole GPU sorts the keys."""

    def part() -> Iterator[str]:
        from hopwave.engines.cuda.search import steps

        with patch.object(steps, "FEW_ARCS", 0), patch.object(steps, "FEW_LISTS", 0):
            yield from searched([hw.plan(name) for name in names], traps())

    return part


def searched(wanted: list[Plan], graphs: dict[str, hw.Graph]) -> Iterator[str]:
    """Compare these plans' results with the reference engine."""
    for where, graph in graphs.items():
        expected = hw.bfs(graph, 0, path_counts=True, device="reference")
        for plan in wanted:
            counting = plan.why_not(SearchJob(path_counts=True)) is None
            asked: list[dict[str, Any]] = [{}, {"predecessors": False}]
            if plan.loop == "host":  # its kernels are the same without predecessors
                asked = asked[: repeats[0]]
            for options in [*asked, {"path_counts": True}] if counting else asked:
                found = hw.bfs(graph, 0, plan=plan, device="cuda", **options)
                right = np.array_equal(found.distances, expected.distances)
                if found.path_counts is not None:
                    right &= same(found.path_counts, expected.path_counts, 1e-12)
                if not right:
                    yield f"{plan.name} on {where}, {options}"


def named(prefix: str) -> tuple[str, ...]:
    """The search plans whose names begin with `prefix`."""
    return tuple(plan.name for plan in CATALOGUE.values() if plan.task == "search" and plan.name.startswith(prefix))


def own_plans(kind: type, *words: str) -> Part:
    """Every step of a kind that has a kernel, alone: those whose mapping or rows is one of the words."""

    def part() -> Iterator[str]:
        from hopwave.engines.cuda.search import steps

        some = [Plan(str(step), "", "", "", (step,), Always()) for step in every_step(kind) if word_of(step) in words]
        some = [plan for plan in some if steps.why_not(plan) is None]
        yield from searched(some, {"kronecker": generate.kronecker(7, edge_factor=8)})

    return part


def word_of(step: Any) -> str:
    """The word by which own_plans groups steps."""
    return "compacted" if getattr(step, "rows", "") == "compacted" else step.mapping


def after_pulls() -> Iterator[str]:
    """Pulls and pushes in turn: pushes use the queue of a pull, and the vertices that it found early."""
    pull = CATALOGUE["xbfs"].steps[2]
    some = [
        Plan(f"pull, then push({mapping}, {output})", "", "", "", (Push(mapping, output), pull), IN_TURN)
        for mapping, output in product(("thread", "twc"), ("queue", "reuse"))
    ]
    # Vertex 2 reads a long row before it meets 999, which the same pull has found meanwhile.
    late = hw.Graph.from_edges([0, 0, 2, *[2] * 900], [1, 999, 999, *range(3, 903)])
    yield from searched(some, {**traps(), "found early": late})


IN_TURN = Beamer(1e9, 1e-9)  # any frontier is large enough for a pull, and small enough for a push after one


def every_step(kind: type) -> Iterator[Any]:
    """All steps of a kind, even useless ones."""
    if kind is Push:
        words = ("thread", "twc", "merge"), ("queue", "scan", "reuse"), ("atomic", "benign")
        yield from (Push(*chosen) for chosen in product(*words))
        return
    either = False, True
    for mapping, rows, operand, leaves in product(("thread", "warp", "merge"), ("all", "unvisited"), OPERANDS, either):
        yield Pull(mapping, rows, operand, leaves)
    for operand, early, balance in product(OPERANDS, either, ("static", "thread", "warp", "donate")):
        yield Pull("thread", "compacted", operand, True, early, balance)


OPERANDS = ("frontier", "visited")


def spread(count: int) -> hw.Graph:
    """Layers beside a path as long: its vertices are in one level with some that have 32^level times as many paths."""
    deep = layers(32, count)
    u, v = deep.to_edges()
    path = np.r_[0, deep.n + np.arange(count - 2), deep.n - 1]
    return hw.Graph.from_edges(np.r_[u, path[:-1]], np.r_[v, path[1:]])


def ladder(bits: int, ways: int) -> hw.Graph:
    """A chain of joints, each with `ways` ways to the next, beside a path of equal length: one level has 2^bits paths
    and one path. More ways mean fewer levels, and every level costs a tool barriers.
    """
    links = -(-bits // int(np.log2(ways)))
    joint, last = np.repeat(np.arange(links), ways), links + 1 + links * ways
    between = links + 1 + np.arange(links * ways)
    path = np.r_[0, last + np.arange(2 * links - 1), links]
    return hw.Graph.from_edges(np.r_[joint, between, path[:-1]], np.r_[between, joint + 1, path[1:]])


@contextmanager
def beyond(bits: int) -> Iterator[list[hw.Graph]]:
    """Graphs with path counts beyond 2^bits in one level; then graphs that also have counts smaller by 2^-bits in that
    level.

    Under a tool, a lower limit counts as overflow, so that a tenth of the levels is enough.
    """
    from hopwave.engines.cuda import count_scaling

    if repeats[0] > 1:
        yield [layers(32, bits // 5 + 20), spread(2 * (bits // 5) + 20)]
        return
    with patch.multiple(count_scaling, LARGEST=bits // 10, SMALLEST=-(bits // 10)):
        yield [layers(32, bits // 50 + 5), spread(2 * (bits // 50) + 10)]


def overflow(plan: str) -> Part:
    """Path counts of a search beyond float64: scaled levels, then a mantissa and an exponent."""

    def part() -> Iterator[str]:
        with beyond(1000) as graphs:
            for graph in graphs:
                found = hw.bfs(graph, 0, plan=plan, path_counts=True, device="cuda")
                if found.distances[graph.n - 1] < 0:
                    yield f"{plan} on layers"

    return part


def overflow_of_turbobc(plan: str, wider: bool) -> Part:
    """Overflow in TurboBC, which leaves counts too wide for one scale to the CPU engine; one plan is enough."""

    def part() -> Iterator[str]:
        with beyond(1000) as graphs:
            for graph in graphs[: 1 + wider]:
                found = hw.betweenness_centrality(graph, sources=[0], plan=plan, device="cuda")
                if not np.isfinite(found.scores).all():
                    yield f"{plan} on layers"
            arcs = hw.edge_betweenness_centrality(graphs[0], sources=[0], plan=plan, device="cuda")
            if not np.isfinite(arcs.scores).all():
                yield f"edges by {plan} on layers"

    return part


def overflow_of_sums(plan: str) -> Part:
    """Overflow in betweenness, which its kernels detect."""

    def part() -> Iterator[str]:
        graph = ladder(2000, 2 if repeats[0] > 1 else 128)
        weights = {"weights": np.ones(graph.m)} if plan == "brandes-dijkstra" else {}
        for sources in ([0], range(10))[: repeats[0]]:
            found = hw.betweenness_centrality(graph, sources=sources, plan=plan, device="cuda", **weights)
            if not np.isfinite(found.scores).all():
                yield f"{plan} on layers"

    return part
