"""The numbers on the page of XBFS's figures: on the paper's toy graph, and against a search that looks ahead."""

from __future__ import annotations

import numpy as np
import pytest

import hopwave as hw
from hopwave.papers import xbfs_counts
from hopwave.planning.plan import Plan, Pull, Push
from hopwave.planning.rules import OneWay

# The toy graph of XBFS's examples (tests/planning/test_worked_examples.py).
TOY = [(0, 1), (0, 5), (1, 2), (1, 7), (5, 6), (5, 7), (2, 3), (3, 4), (3, 9), (8, 9), (4, 7), (6, 8)]


def test_example_5_degree_and_work() -> None:
    """Rows 3, 4, 8 and 9 of level 3 have degrees 3, 2, 2, 2; they read 1, 2, 1 neighbours, and 9 all of its own."""
    graph = hw.Graph.from_edges(*np.array(TOY).T, n=10)
    distances = hw.bfs(graph, 0, device="cpu").distances
    degrees, work = xbfs_counts.looks(np, graph.indptr, graph.indices, distances, 3)
    assert degrees.tolist() == [3, 2, 2, 2] and work.tolist() == [1, 2, 1, 2]


def test_lemma_3_on_the_toy_graph() -> None:
    """Q = {3, 4, 8, 9}; 9 is at place 3 and has two neighbours of level 3: 1 - (1 - 3/4)²."""
    graph = hw.Graph.from_edges(*np.array(TOY).T, n=10)
    distances = hw.bfs(graph, 0, device="cpu").distances
    chance = xbfs_counts.chance_ahead(np, graph.indptr, graph.indices, distances, 3)
    assert chance == pytest.approx(1 - (1 - 3 / 4) ** 2)


def test_lemma_3_foretells_what_one_thread_finds_ahead() -> None:
    """With ids in random order, one thread that goes through the queue finds the share that the lemma predicts."""
    graph = hw.generate.uniform(1 << 14, 4, seed=3)
    plan = Plan("look", "XBFS", "5.2", "", (Push("twc"), Pull("thread", "compacted", asynchronous=True)), OneWay(0.02))
    found = hw.bfs(graph, 1, plan=plan, device="cpu", threads=1, trace=True)
    assert found.trace is not None
    first = next(level for level in found.trace if level.direction == "pull")
    measured = first.ahead / int((found.distances == first.depth + 1).sum())
    chance = xbfs_counts.chance_ahead(np, graph.indptr, graph.indices, found.distances, first.depth)
    assert 0.3 < measured < 0.99 and abs(measured - chance) < 0.03
