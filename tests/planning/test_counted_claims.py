"""The papers' claims about saved arcs, counted on small graphs. benchmarks/results has times."""

from __future__ import annotations

from dataclasses import replace

import pytest

import hopwave as hw
from hopwave import Graph
from hopwave.planning.plan import Plan
from hopwave.planning.rules import Always
from hopwave.planning.trace import Trace

KRONECKER = hw.generate.kronecker(10, seed=1)
ROOT = int(KRONECKER.degrees.argmax())


def traced(plan: str | Plan, graph: Graph = KRONECKER, source: int = ROOT) -> Trace:
    found = hw.bfs(graph, source, plan=plan, device="cpu", trace=True)
    assert found.trace is not None
    return found.trace


def checked(trace: Trace, direction: str = "pull") -> int:
    """Arcs checked in the levels of one direction."""
    return sum(level.checked for level in trace if level.direction == direction)


def test_pushpull_table_2_saves_arcs_row_by_row() -> None:
    """A mask skips rows, an early exit the rest of a row; structure and operand reuse do not change the arcs read."""
    names = ("-baseline", "-structure", "-direction", "-masking", "-exit", "")
    baseline, structure, direction, masking, early, reuse = (traced(f"pushpull{name}") for name in names)
    assert checked(baseline) == checked(structure) == 0 and checked(baseline, "push") == checked(structure, "push") > 0
    assert checked(direction) > checked(masking) > checked(early) > 0
    assert checked(early) == checked(reuse), "the frontier and all visited vertices have the same first parent"


def test_a_pull_looks_at_fewer_parents_after_two_levels() -> None:
    """Push-pull 5.1 and Figure 6: many arcs per vertex found while little is visited, about one later."""
    early = hw.plan("pushpull-exit")
    levels = traced(replace(early, name="pull-only", steps=early.steps[1:], rule=Always()))
    looks = [level.checked / level.found for level in levels if level.found]
    assert looks[0] > 20 > 5 > looks[2] >= 1


def test_xbfs_checks_no_more_arcs_if_it_looks_ahead() -> None:
    """Figure 15: a row that was marked ahead is not read again."""
    ahead, still = (
        traced(name, graph=hw.generate.uniform(1 << 12, 4, seed=3), source=1) for name in ("xbfs", "xbfs-sync")
    )
    assert 0 < checked(ahead) <= checked(still)
    assert not any(level.ahead for level in still)


@pytest.mark.parametrize("way", ["static", "thread", "donate"])
def test_xbfs_balances_rows_without_changing_the_search(way: str) -> None:
    """Figure 14: the same levels, directions and frontiers, however rows are dealt out."""
    shown = [(level.direction, level.vertices, level.found) for level in traced(f"xbfs-{way}")]
    assert shown == [(level.direction, level.vertices, level.found) for level in traced("xbfs")]
    assert {"push", "pull"} == {direction for direction, *_ in shown}


def test_hiragushis_hybrid_checks_fewer_arcs_than_merrill() -> None:
    """Figure 4: in levels that go bottom-up, and only there."""
    hybrid, merrill = traced("hiragushi-hybrid"), traced("merrill")
    assert set(merrill.directions) == {"push"} and "pull" in hybrid.directions
    assert sum(level.checked for level in hybrid) < sum(level.checked for level in merrill)
