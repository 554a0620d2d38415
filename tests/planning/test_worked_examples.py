"""The papers' own small examples, step by step. If a picture is not in the text, its numbers determine the graph."""

from __future__ import annotations

import numpy as np
import pytest

import hopwave as hw
from hopwave.planning.plan import Plan, Pull, Push
from hopwave.planning.rules import Always, OneWay

ENGINES = ("reference", "cpu")
ON_GPU = pytest.param("cuda", marks=pytest.mark.gpu)

# TurboBFS, Figure 3: the search from root 2 of the directed graph in Figure 1. The vectors f of the two levels
# determine the arcs: 2 → 1, 2 → 4, then both 1 → 3 and 4 → 3 (f = 2), and one arc to 5, from 1 or from 4. Arcs to
# vertices already found are masked and change nothing; 3 → 2 is added as one of these.
FORCED = [(2, 1), (2, 4), (1, 3), (4, 3)]
FIGURE_3 = {1: ([1, 0, 0, 1, 0], [1, 1, 0, 1, 0]), 2: ([0, 0, 2, 0, 1], [1, 1, 2, 1, 1])}  # depth: f, σ


@pytest.mark.parametrize("device", [*ENGINES, ON_GPU])
@pytest.mark.parametrize("plan", ["turbobfs-td-sccsc", "turbobfs-td-vecsc", "turbobfs-td-sccooc"])
@pytest.mark.parametrize("to_five", [(1, 5), (4, 5)])
def test_turbobfs_figure_3(device: str, plan: str, to_five: tuple[int, int], request: pytest.FixtureRequest) -> None:
    """f and σ after every level, and d = 3 as the paper counts it, with the last, empty level."""
    if device == "cuda":
        request.getfixturevalue("gpu")
    tails, heads = np.array([*FORCED, to_five, (3, 2)]).T - 1  # the paper counts from 1
    graph = hw.Graph.from_edges(tails, heads, n=5, directed=True)
    found = hw.bfs(graph, 1, path_counts=True, plan=plan, device=device, trace=True)
    counts = np.asarray(found.path_counts)
    for depth, (frontier, sigma) in FIGURE_3.items():
        np.testing.assert_array_equal(np.where(found.distances == depth, counts, 0), frontier)
        np.testing.assert_array_equal(np.where((found.distances >= 0) & (found.distances <= depth), counts, 0), sigma)
    assert found.trace is not None and [level.found for level in found.trace] == [2, 2, 0]


# XBFS, Figures 2, 4, 6 and 8: the toy graph of its Examples 1 to 6, as far as they name its edges. The last two edges
# are not named there: vertex 4 finds its parent at its second neighbour, 8 at its first, and each has degree two.
TOY = [(0, 1), (0, 5), (1, 2), (1, 7), (5, 6), (5, 7), (2, 3), (3, 4), (3, 9), (8, 9), (4, 7), (6, 8)]


def test_xbfs_examples_1_to_6() -> None:
    """Levels {1, 5}, {2, 6, 7}; bottom-up finds {3, 4, 8} at neighbours 1, 2 and 1, and 9 one level early at 2."""
    graph = hw.Graph.from_edges(*np.array(TOY).T, n=10, directed=False)
    steps = (Push("twc"), Pull("thread", "compacted", asynchronous=True))
    plan = Plan("toy", "XBFS", "5.2", "push twice, then pull with a look ahead", steps, OneWay(0.3))
    found = hw.bfs(graph, 0, plan=plan, device="cpu", threads=1, trace=True)
    levels = [[0], [1, 5], [2, 6, 7], [3, 4, 8], [9]]
    assert [np.flatnonzero(found.distances == depth).tolist() for depth in range(5)] == levels
    assert found.trace is not None and found.trace.directions[:3] == ["push", "push", "pull"]
    pull = found.trace[2]
    assert (pull.found, pull.ahead, pull.checked) == (4, 1, 1 + 2 + 1 + 2)


# ---------------------------------------------------------------- Hiragushi, section 3.4


@pytest.mark.parametrize("order", ["any", "degree"])
def test_vertices_without_in_arcs_are_never_looked_at(order: str) -> None:
    """A path of 4 vertices, and 100 vertices that have an arc to it but no in-arc."""
    arcs = [(0, 1), (1, 2), (2, 3), *((4 + i, 1) for i in range(100))]
    graph = hw.Graph.from_edges(*np.array(arcs).T, n=104, directed=True)
    pull = Plan("pull", "none", "3.4", "pull only", (Pull("thread", operand="visited"),), Always(), order=order)  # type: ignore[arg-type]
    found = hw.bfs(graph, 0, plan=pull, device="cpu", threads=1, trace=True)
    assert found.reached == 4 and found.trace is not None
    checked = [level.checked for level in found.trace]
    assert checked[1:] == [2, 1, 0] and checked[0] <= 103  # row 1 is long; then rows 2 and 3, then row 3, then none


@pytest.mark.parametrize("device", ENGINES)
def test_both_operands_in_one_plan(device: str) -> None:
    """Unreachable vertices must not become parents when the operand changes to the visited vertices."""
    arcs = [(0, 1), (0, 2), (1, 3), (3, 4), (5, 4), (4, 6)]  # 5 has no in-arc and is never visited
    graph = hw.Graph.from_edges(*np.array(arcs).T, n=7, directed=True)
    steps = (Pull("thread"), Pull("thread", operand="visited"))
    found = hw.bfs(graph, 0, plan=Plan("both", "none", "1", "a test", steps, OneWay(0.2)), device=device)
    np.testing.assert_array_equal(found.distances, [0, 1, 1, 2, 3, -1, 4])


# ---------------------------------------------------------------- Hiragushi's rule on a grid


def test_beamers_rule_alternates_at_the_end_of_a_grid() -> None:
    """As printed: m_u goes to 0, so every push is followed by a pull, and n_f < n/β ends every pull at once."""
    found = hw.bfs(hw.generate.grid(40, 40), 0, plan="hiragushi-hybrid", device="cpu", trace=True)
    assert found.trace is not None
    directions = found.trace.directions
    changes = [depth for depth in range(1, len(directions)) if directions[depth] != directions[depth - 1]]
    first = changes[0]
    assert len(changes) > 8 and set(directions[:first]) == {"push"}
    assert directions[first:] == (["pull", "push"] * len(directions))[: len(directions) - first], "it alternates"
    calm = hw.bfs(hw.generate.grid(40, 40), 0, plan="hopwave", device="cpu", trace=True)
    assert calm.trace is not None and calm.trace.directions == ["push"] * len(calm.trace), "hopwave's rule does not"
