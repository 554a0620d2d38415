"""The steps of a plan over ranks check as many arcs as the paper's steps; the trace names what is left out."""

from __future__ import annotations

import sys
from itertools import pairwise
from unittest.mock import patch

import numpy as np
from rank_setup import DEVICE, WORLD

import hopwave as hw
from graphs import TRAPS
from hopwave import distributed as hd
from hopwave.api.validate import validate
from hopwave.distributed.sides import allgather_values, reduce_to_owners

GRAPHS = {name: TRAPS[name] for name in ("kronecker", "kronecker-directed")}


def checked(found: hd.DistributedBFSResult) -> list[int]:
    return [level.checked for level in found.trace]


def check_steps_of_plans() -> None:
    """Without early exit, ranks check the arcs that the specification checks; with it, as many as one process."""
    for make in GRAPHS.values():
        graph = make()
        hub = int(np.argmax(graph.degrees))
        parts = hd.spread(graph)
        found = {name: hd.bfs(parts, hub, plan=f"pushpull-{name}") for name in ("direction", "masking", "exit")}
        for name in ("direction", "masking"):
            right = hw.bfs(graph, hub, plan=f"pushpull-{name}", device="reference", trace=True).trace
            assert right is not None and checked(found[name]) == [level.checked for level in right], name
            assert [level.step for level in found[name].trace] == [level.step for level in right]
        sums = [sum(checked(one)) for one in found.values()]
        assert sums[0] > sums[1] > sums[2], sums
        assert "neighbour order" in found["exit"].plan.without
        for one in (*found.values(), hd.bfs(parts, hub, plan="turbobfs-tdbu")):
            whole = one.gather()
            if whole is not None:
                np.testing.assert_array_equal(whole[0], hw.bfs(graph, hub).distances)


def check_hiragushis_hybrid() -> None:
    """Like the CPU engine: visited vertices instead of the frontier, rows sorted by in-degree, the same arcs checked.

    On GPUs ranks run the paper's kernels, and nothing is left out; on a grid, a row's parts end where one is found.
    """
    for make in GRAPHS.values():
        graph = make()
        hub = int(np.argmax(graph.degrees))
        right = hw.bfs(graph, hub, plan="hiragushi-hybrid", device="cpu", trace=True)
        assert right.trace is not None and "pull" in right.trace.directions
        for layout in ("1d", "2d"):
            for wanted in (True, False):
                parts = hd.spread(graph, layout=layout, device=DEVICE)
                found = hd.bfs(parts, hub, plan="hiragushi-hybrid", predecessors=wanted)
                assert found.trace.directions == right.trace.directions
                assert layout == "2d" or checked(found) == [level.checked for level in right.trace]
                assert found.plan.without == (("thread mappings", "queue making") if DEVICE == "cpu" else ())
                whole = found.gather()
                if whole is not None:
                    np.testing.assert_array_equal(whole[0], right.distances)
                    assert not wanted or validate(graph, hub, *whole).ok


def check_steps_on_a_grid_of_ranks() -> None:
    """Unmasked rows are all read. Without early exit a row ends where another rank found a parent, as traced."""
    for make in GRAPHS.values():
        graph = make()
        hub = int(np.argmax(graph.degrees))
        parts = hd.spread(graph, layout="2d")
        distances = hw.bfs(graph, hub).distances
        for name in ("pushpull-direction", "pushpull-masking", "pushpull", "hiragushi-hybrid"):
            for wanted in (True, False):
                found = hd.bfs(parts, hub, plan=name, predecessors=wanted)
                whole = found.gather()
                if whole is not None:
                    np.testing.assert_array_equal(whole[0], distances)
                for level in found.trace:
                    if "all" in level.step:
                        assert level.checked == graph.m
                left_out = any("to their end" in words for words in found.plan.without)
                in_rows = parts.layout.columns > 1
                assert left_out == (in_rows and name in ("pushpull-direction", "pushpull-masking"))


def check_time_spent_waiting() -> None:
    parts = hd.kronecker(8)
    found = hd.bfs(parts, 1, plan="pushpull-exit")
    assert all(0 <= level.waiting <= level.seconds for level in found.trace)
    assert (sum(level.waiting for level in found.trace) > 0) == (WORLD.size > 1)
    assert ("ms waiting" in str(found.trace)) == (WORLD.size > 1)


def check_rows_sorted_by_in_degree() -> None:
    """Hiragushi, section 3.4: the tails of every row by descending in-degree; sorts some rows at a time."""
    for make in GRAPHS.values():
        parts = hd.spread(make(), device=DEVICE)
        with patch.object(sys.modules[type(parts.part).__module__], "SORTED_TOGETHER", 16):
            parts.sort_rows()
        in_degrees = reduce_to_owners(parts, parts.pull_heads, parts.part.xp.diff(parts.part.in_offsets))
        weight = allgather_values(parts, parts.pull_tails, in_degrees, unused=0).tolist()
        offsets, tails, found = (
            array.tolist() for array in (parts.part.in_offsets, parts.part.tails, parts.part.sorted_tails)
        )
        for begin, end in pairwise(offsets):
            assert found[begin:end] == sorted(tails[begin:end], key=lambda tail: (-weight[tail], tail))
