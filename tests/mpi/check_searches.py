"""Searches over ranks: the same distances as one process finds, and few bytes sent."""

from __future__ import annotations

from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
from rank_setup import DEVICE, WORLD, hub, layouts, refused, share_of

import hopwave as hw
from graphs import TRAPS
from hopwave import distributed as hd
from hopwave.api.validate import validate
from hopwave.distributed import delta_stepping, layout
from hopwave.distributed.layout import Layout, grid_columns
from hopwave.distributed.validate import validate as validate_in_parts
from hopwave.errors import GraphError, PlanError
from hopwave.generate import counter
from hopwave.graph500.on_host import STREAM


def agrees(graph: hw.Graph, parts: hd.DistributedGraph, source: Any, **options: Any) -> hd.DistributedBFSResult:
    """A search over ranks finds what one process finds, and its predecessors form a valid tree."""
    found = hd.bfs(parts, source, **options)
    limit, wanted = options.get("depth_limit"), options.get("predecessors", True)
    right = hw.bfs(graph, source, depth_limit=limit)
    assert (found.depth, found.reached) == (right.depth, right.reached), (found, right)
    assert (found.predecessors is not None) == wanted
    if limit is None and wanted:
        assert validate_in_parts(parts, found.sources, found.distances, found.predecessors).ok
    if (whole := found.gather()) is not None:
        np.testing.assert_array_equal(whole[0], right.distances)
        assert not wanted or validate(graph, source, *whole, depth_limit=limit).ok
    return found


def check_every_trap_in_every_layout() -> None:
    """A level is several exchanges, so graphs with many levels are left to one rank."""
    for turn, (name, make) in enumerate(share_of(TRAPS.items())):
        graph = make()
        if graph.n > 2000 or (WORLD.size > 1 and hw.bfs(graph, 0).depth > 12):
            continue
        for number, ranges in enumerate(layouts(graph.n)):
            if number > 1 and turn % 4:  # a quarter of the traps in the unusual layouts
                break
            if WORLD.size > 1 and number == turn % 2:
                continue
            parts = hd.spread(graph, layout=ranges, device=DEVICE)
            assert (parts.n, parts.m) == (graph.n, graph.m), name
            agrees(graph, parts, (number * 7) % graph.n)
            if number < 2:
                agrees(graph, parts, 0, plan=("hiragushi-hybrid", "turbobfs-bu-sc")[number])


def check_sources_and_limits() -> None:
    graph = TRAPS["grid-with-missing-edges"]()
    for ranges in ("1d", "2d"):
        parts = hd.spread(graph, layout=ranges, device=DEVICE)
        agrees(graph, parts, [0, 200, 339])
        agrees(graph, parts, 5, depth_limit=0)
        agrees(graph, parts, 5, depth_limit=4)
        agrees(graph, parts, 5, plan="merrill", compress=False)
        for plan in ("turbobfs-bu-sc", "merrill"):
            agrees(graph, parts, 5, predecessors=False, plan=plan)
        for wrong in (340, -1, "a", []):
            refused(GraphError, "", hd.bfs, parts, wrong)
        refused(PlanError, "hiragushi-hybrid", hd.bfs, parts, 0, plan="xbfs")
        if WORLD.size > 1:
            refused(GraphError, "rank 1 gives other arguments than rank 0", hd.bfs, parts, int(WORLD.rank == 1))


def check_wide_slots() -> None:
    """Groups of more than 2^32 slots need 64-bit slots. A lower limit makes small graphs use them."""
    with patch.object(layout, "MAX_NARROW_SLOTS", 100):
        for name, ranges in product(("kronecker", "kronecker-directed"), ("1d", "2d")):
            parts = hd.spread(TRAPS[name](), layout=ranges, device=DEVICE)
            assert parts.tail_type == np.uint64
            agrees(TRAPS[name](), parts, 3)


def check_ids_beyond_32_bits() -> None:
    """The ranks own a small range of ids far above 2^32. Searches, shortest paths, betweenness."""
    far = (1 << 40) + 3
    for name in ("kronecker", "kronecker-directed"):
        graph = TRAPS[name]()
        u, v = (ends.astype(np.int64)[WORLD.rank :: WORLD.size] + far for ends in graph.to_edges())
        for columns in {0, grid_columns("2d", WORLD.size)}:
            far_range = Layout(Layout.even(graph.n, WORLD.size).starts + far, columns)
            parts = hd.from_edges(u, v, n=far + graph.n, directed=graph.directed, layout=far_range, device=DEVICE)
            assert parts.id_type == np.int64 and parts.m == graph.m
            root = hub(graph)
            for plan in ("auto", "turbobfs-bu-sc", "merrill"):
                found = hd.bfs(parts, root + far, plan=plan)
                assert validate_in_parts(parts, found.sources, found.distances, found.predecessors).ok
                whole = found.gather()
                if whole is not None:
                    np.testing.assert_array_equal(whole[0], hw.bfs(graph, root).distances)
                    near = np.where(whole[1] < 0, -1, whole[1] - far)
                    assert validate(graph, root, whole[0], near).ok
            if not graph.directed:
                paths = delta_stepping.Paths(parts, counter.start(3, STREAM))
                paths.run(root + far)
                assert paths.broken(root + far) == ()
            scores = hd.betweenness_centrality(parts, sources=[root + far], split="graph", normalized=False).gather()
            right = hw.betweenness_centrality(graph, sources=[root], normalized=False).scores
            if scores is not None:
                np.testing.assert_allclose(scores, right, rtol=1e-9, atol=1e-12)
    refused(GraphError, "not a vertex", hd.from_edges, [far], [far + 1000], n=far + graph.n, layout=far_range)


def check_bytes_sent() -> None:
    """Each rank sends at most n/8 bytes of bitmaps in a pull, in every layout. Parents are counted separately; without
    them, only the ranks' counts are sent too, 200 bytes per rank.
    """
    root = int(np.argmax(np.bincount(hw.generate.kronecker_edges(14)[0])))
    for ranges in ("1d", "2d", (1, WORLD.size), (WORLD.size, 1)):
        parts = hd.kronecker(14, device=DEVICE, layout=ranges)
        for wanted in (True, False):
            found = hd.bfs(parts, root, plan="turbobfs-bu-sc", predecessors=wanted)  # with the fullest bitmaps
            for level in (*found.trace, *hd.bfs(parts, root, predecessors=wanted).trace):
                assert (level.sent > 0) == (WORLD.size > 1)
                assert max(level.sent_by_one, level.sent_for_parents) <= level.sent <= WORLD.size * level.sent_by_one
                assert level.sets_by_one <= level.sent_by_one and (wanted or level.sent_for_parents == 0)
                if level.direction == "pull":
                    assert level.sets_by_one <= parts.n / 8 + 200 * WORLD.size, (ranges, wanted, level)
    parts = hd.kronecker(14, device=DEVICE)
    plain = hd.bfs(parts, 1, plan="merrill", compress=False)
    packed = hd.bfs(parts, 1, plan="merrill")
    if WORLD.size > 1:
        assert sum(level.sent for level in packed.trace) < sum(level.sent for level in plain.trace) / 2
        assert "bytes sent" in str(packed.trace) and plain.reached == packed.reached
