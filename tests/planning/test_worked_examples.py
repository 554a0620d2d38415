"""The papers' own small examples, step by step, and their claims about saved arcs, counted on small graphs.

If a picture is not in the text, its numbers determine the graph. benchmarks/results has times.
"""

from dataclasses import replace

import numpy as np
import pytest

import hopwave as hw
from hopwave import Graph
from hopwave.planning.plan import Plan, Pull, Push
from hopwave.planning.rules import Always, OneWay
from hopwave.planning.trace import Trace

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


def test_hiragushis_hybrid_checks_fewer_arcs_than_merrill() -> None:
    """Figure 4: in levels that go bottom-up, and only there."""
    hybrid, merrill = traced("hiragushi-hybrid"), traced("merrill")
    assert set(merrill.directions) == {"push"} and "pull" in hybrid.directions
    assert sum(level.checked for level in hybrid) < sum(level.checked for level in merrill)
