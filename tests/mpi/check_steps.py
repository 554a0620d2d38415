"""The steps of a plan over ranks check as many arcs as the paper's steps; the trace names what is left out."""

from __future__ import annotations

import sys
from itertools import pairwise, product
from unittest.mock import patch

from check_searches import agrees
from rank_setup import DEVICE, WORLD, hub

import hopwave as hw
from graphs import TRAPS
from hopwave import distributed as hd
from hopwave.distributed.sides import allgather_values, reduce_to_owners

GRAPHS = [TRAPS[name]() for name in ("kronecker", "kronecker-directed")]


def checked(found: hd.DistributedBFSResult) -> list[int]:
    return [level.checked for level in found.trace]


def check_steps_of_plans() -> None:
    """Without early exit, ranks check the arcs that the specification checks; with it, as many as one process."""
    for graph in GRAPHS:
        root = hub(graph)
        parts = hd.spread(graph)
        found = {name: agrees(graph, parts, root, plan=f"pushpull-{name}") for name in ("direction", "masking", "exit")}
        for name in ("direction", "masking"):
            right = hw.bfs(graph, root, plan=f"pushpull-{name}", device="reference", trace=True).trace
            assert right is not None and checked(found[name]) == [level.checked for level in right], name
            assert [level.step for level in found[name].trace] == [level.step for level in right]
        sums = [sum(checked(one)) for one in found.values()]
        assert sums[0] > sums[1] > sums[2], sums
        assert "neighbour order" in found["exit"].plan.without
        agrees(graph, parts, root, plan="turbobfs-tdbu")


def check_hiragushis_hybrid() -> None:
    """Like the CPU engine: visited vertices instead of the frontier, rows sorted by in-degree, the same arcs checked.

    On GPUs ranks run the paper's kernels, and nothing is left out; on a grid, a row's parts end where one is found.
    """
    for graph in GRAPHS:
        root = hub(graph)
        right = hw.bfs(graph, root, plan="hiragushi-hybrid", device="cpu", trace=True)
        assert right.trace is not None and "pull" in right.trace.directions
        for layout, wanted in product(("1d", "2d"), (True, False)):
            parts = hd.spread(graph, layout=layout, device=DEVICE)
            found = agrees(graph, parts, root, plan="hiragushi-hybrid", predecessors=wanted)
            assert found.trace.directions == right.trace.directions
            assert layout == "2d" or checked(found) == [level.checked for level in right.trace]
            assert found.plan.without == (("thread mappings", "queue making") if DEVICE == "cpu" else ())


def check_steps_on_a_grid_of_ranks() -> None:
    """Unmasked rows are all read. Without early exit a row ends where another rank found a parent, as traced."""
    plans = "pushpull-direction", "pushpull-masking", "pushpull", "hiragushi-hybrid"
    for graph in GRAPHS:
        parts = hd.spread(graph, layout="2d")
        for name, wanted in product(plans, (True, False)):
            found = agrees(graph, parts, hub(graph), plan=name, predecessors=wanted)
            assert all(level.checked == graph.m for level in found.trace if "all" in level.step)
            left_out = any("to their end" in words for words in found.plan.without)
            assert left_out == (parts.layout.columns > 1 and name in plans[:2])


def check_time_spent_waiting() -> None:
    parts = hd.kronecker(8)
    found = hd.bfs(parts, 1, plan="pushpull-exit")
    assert all(0 <= level.waiting <= level.seconds for level in found.trace)
    assert (sum(level.waiting for level in found.trace) > 0) == (WORLD.size > 1)
    assert ("ms waiting" in str(found.trace)) == (WORLD.size > 1)


def check_rows_sorted_by_in_degree() -> None:
    """Hiragushi, section 3.4: the tails of every row by descending in-degree; sorts some rows at a time."""
    for graph in GRAPHS:
        parts = hd.spread(graph, device=DEVICE)
        with patch.object(sys.modules[type(parts.part).__module__], "SORTED_TOGETHER", 16):
            parts.sort_rows()
        in_degrees = reduce_to_owners(parts, parts.pull_heads, parts.part.xp.diff(parts.part.in_offsets))
        weight = allgather_values(parts, parts.pull_tails, in_degrees, unused=0).tolist()
        offsets, tails, found = (
            array.tolist() for array in (parts.part.in_offsets, parts.part.tails, parts.part.sorted_tails)
        )
        for begin, end in pairwise(offsets):
            assert found[begin:end] == sorted(tails[begin:end], key=lambda tail: (-weight[tail], tail))
