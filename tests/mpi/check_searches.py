"""Searches over ranks: distances, bytes sent, steps of plans, validation, and the simulation of many ranks."""

import sys
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from benchmarks.simulated import Search

import hopwave as hw
from checks import DEVICE, WORLD, hub, layouts, refused
from graphs import TRAPS
from hopwave import distributed as hd
from hopwave.api.validate import validate
from hopwave.distributed.delta_stepping import NEVER, UNIT, Paths
from hopwave.distributed.layout import Layout, grid_columns
from hopwave.distributed.validate import validate as validate_in_parts
from hopwave.distributed.wire import allgather_values, reduce_to_owners
from hopwave.errors import GraphError, PlanError
from hopwave.generate import counter
from hopwave.graph500.on_host import STREAM, lengths
from hopwave.planning.catalogue import CATALOGUE


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
    """1 rank takes half of the traps, 2 to 5 ranks another fifth each, without graphs of many levels: exchanges."""
    stride = 2 if WORLD.size == 1 else 5
    for turn, (name, make) in enumerate([*TRAPS.items()][WORLD.size % stride :: stride]):
        graph = make()
        if graph.n > 2000 or (WORLD.size > 1 and hw.bfs(graph, 0).depth > 12):
            continue
        for number, ranges in enumerate(layouts(graph.n)):
            if number > 1 and turn % 4:  # a quarter of the traps in the unusual layouts
                break
            if number == turn % 2:
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


def check_wide_slots() -> None:
    """Groups of more than 2^32 slots need 64-bit slots. A lower limit makes small graphs use them."""
    with patch("hopwave.distributed.layout.MAX_NARROW_SLOTS", 100):
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
            for plan in ("turbobfs-bu-sc", "merrill"):
                found = hd.bfs(parts, root + far, plan=plan)
                assert validate_in_parts(parts, found.sources, found.distances, found.predecessors).ok
                whole = found.gather()
                if whole is not None:
                    np.testing.assert_array_equal(whole[0], hw.bfs(graph, root).distances)
                    near = np.where(whole[1] < 0, -1, whole[1] - far)
                    assert validate(graph, root, whole[0], near).ok
            if not graph.directed:
                paths = Paths(parts, counter.start(3, STREAM))
                paths.run(root + far)
                assert paths.broken(root + far) == ()
            scores = hd.betweenness_centrality(parts, sources=[root + far], split="graph", normalized=False).gather()
            right = hw.betweenness_centrality(graph, sources=[root], normalized=False).scores
            if scores is not None:
                np.testing.assert_allclose(scores, right, rtol=1e-9, atol=1e-12)
    refused(GraphError, "not a vertex", hd.from_edges, [far], [far + 1000], n=far + graph.n, layout=far_range)


def check_bytes_sent() -> None:
    """In a pull, each rank sends at most n/8 bytes of bitmaps and, without parents, 200 bytes of counts."""
    root = int(np.argmax(np.bincount(hw.generate.kronecker_edges(13)[0])))
    for ranges in ("1d", "2d", (1, WORLD.size), (WORLD.size, 1)):
        parts = hd.kronecker(13, device=DEVICE, layout=ranges)
        for wanted in (True, False):
            found = hd.bfs(parts, root, plan="turbobfs-bu-sc", predecessors=wanted)  # with the fullest bitmaps
            for level in (*found.trace, *hd.bfs(parts, root, predecessors=wanted).trace):
                assert (level.sent > 0) == (WORLD.size > 1)
                assert max(level.sent_by_one, level.sent_for_parents) <= level.sent <= WORLD.size * level.sent_by_one
                assert level.sets_by_one <= level.sent_by_one and (wanted or level.sent_for_parents == 0)
                if level.direction == "pull":
                    assert level.sets_by_one <= parts.n / 8 + 200 * WORLD.size, (ranges, wanted, level)
    parts = hd.kronecker(13, device=DEVICE)
    plain = hd.bfs(parts, 1, plan="merrill", compress=False)
    packed = hd.bfs(parts, 1, plan="merrill")
    if WORLD.size > 1:
        assert sum(level.sent for level in packed.trace) < sum(level.sent for level in plain.trace) / 2
        assert "bytes sent" in str(packed.trace) and plain.reached == packed.reached


# ---------------------------------------------------------------- steps of plans


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
        grid = hd.spread(graph, layout="2d")  # a row ends where another rank found a parent; unmasked rows are all read
        for name, wanted in product(found, (True, False)):
            one = agrees(graph, grid, root, plan=f"pushpull-{name}", predecessors=wanted)
            assert all(level.checked == graph.m for level in one.trace if "all" in level.step)
            left_out = any("to the end" in words for words in one.plan.without)
            assert left_out == (grid.layout.columns > 1 and name != "exit")


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


# ---------------------------------------------------------------- validation


def stranger(graph: hw.Graph, vertex: int) -> int:
    """A vertex without an arc to this one."""
    near = graph.indices[slice(*graph.indptr[vertex : vertex + 2])]
    return next(v for v in range(graph.n) if v != vertex and v not in near)


def check_validation_finds_what_is_wrong() -> None:
    graph = hw.generate.kronecker(7)
    root, everything = hub(graph), hw.bfs(graph, hub(graph))
    far = int(np.flatnonzero(everything.distances == everything.depth)[0])
    for ranges in ("1d", "2d"):
        parts = hd.spread(graph, layout=ranges, device=DEVICE)
        found = hd.bfs(parts, root)
        for rule, level, parent in (
            ("", None, None),
            ("edges", 100, None),
            ("levels", 1, None),
            ("levels", 0, None),
            ("span", -1, None),
            ("span", None, -1),
            ("links", None, stranger(graph, far)),
            ("links", None, graph.n + 5),
            ("roots", None, far),
        ):
            levels, tree = found.distances.copy(), found.predecessors.copy()
            for array, value in ((levels, level), (tree, parent)):
                if value is not None and parts.first <= far < parts.first + parts.own:
                    array[far - parts.first] = value
            broken = validate_in_parts(parts, (root,), levels, tree).broken
            assert rule in broken if rule else broken == (), (rule, level, parent)


def check_shortest_paths() -> None:
    """Graph500's third kernel: exactly the distances of Dijkstra's algorithm; errors are found."""
    for scale, ranges in ((7, "1d"), (7, "2d"), (1, "1d"), (2, "2d")):
        parts = hd.kronecker(scale, 4, seed=3, layout=ranges, device=DEVICE)
        graph = parts.replicated()
        tails = np.repeat(np.arange(graph.n), graph.degrees)
        matrix = sp.csr_array((lengths(tails, graph.indices, graph.n, 3), graph.indices, graph.indptr))
        paths = Paths(parts, counter.start(3, STREAM))
        for root in dict.fromkeys([0, hub(graph)]):
            paths.run(root)
            assert paths.broken(root) == ()
            found, right = parts.gather(paths.distance), sp.csgraph.dijkstra(matrix, indices=root)
            if found is not None:
                np.testing.assert_array_equal(np.where(found == NEVER, np.inf, found / UNIT), right)
        if scale < 7:
            continue
        far = int(np.argmax(np.where(np.isfinite(right), right, 0)))
        longer, kept = int(right[far] * UNIT) + 1, {"distance": paths.distance.copy(), "parent": paths.parent.copy()}
        for name, value, rule in (
            ("distance", 9 * UNIT, "edges"),
            ("distance", longer, "edges"),
            ("distance", longer - 2, "levels"),
            ("distance", 0, "levels"),
            ("distance", NEVER, "span"),
            ("parent", far, "roots"),
            ("parent", -1, "span"),
            ("parent", stranger(graph, far), "links"),
        ):
            paths.distance, paths.parent = kept["distance"].copy(), kept["parent"].copy()
            if parts.first <= far < parts.first + parts.own:
                getattr(paths, name)[far - parts.first] = value
            assert rule in paths.broken(root), (name, value, rule)


# ---------------------------------------------------------------- simulated ranks


def check_simulated_counts_are_those_of_real_ranks() -> None:
    """Vertices found, arcs looked at, bytes and packets of every level, in both layouts."""
    for scale, layout, plan in (11, "1d", "hopwave"), (11, "2d", "merrill"), (13, "2d", "hopwave"):
        graph = hd.kronecker(scale, layout=layout, threads=1)
        whole = graph.replicated()
        packets = counted_packets(graph.wire)
        for root in (1, 77) if scale == 11 else (5,):
            packets.clear()
            real = hd.bfs(graph, root, plan=plan).trace
            packets_of_all = WORLD.total(sum(packets))
            if WORLD.rank:
                continue
            simulated = Search(whole, graph.layout, CATALOGUE[plan]).run(root)
            for ours, theirs in zip(simulated, real, strict=True):
                mine = (ours.direction, ours.vertices, ours.edges, ours.found, int(ours.checked.sum()))
                assert mine == (theirs.direction, theirs.vertices, theirs.edges, theirs.found, theirs.checked)
                bytes_sent = int(ours.sent.sum()), int(ours.for_parents.sum()), int(ours.sent.max())
                assert bytes_sent == (theirs.sent, theirs.sent_for_parents, theirs.sent_by_one)
                assert int((ours.sent - ours.for_parents).max()) == theirs.sets_by_one
            assert sum(int(level.packets.sum()) for level in simulated) == packets_of_all


def counted_packets(wire: Any) -> list[int]:
    """Counts the packets with data that this rank sends to others from now on, one number per exchange."""
    counts: list[int] = []

    def counting(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(comm: Any, data: Any, *sizes: Any) -> Any:
            each = sizes[0] if len(sizes) == 2 else [len(data)] * comm.Get_size()  # alltoallv: bytes to each rank
            counts.append(sum(size > 0 for rank, size in enumerate(each) if rank != comm.Get_rank()))
            return method(comm, data, *sizes)

        return call

    wire.allgatherv, wire.alltoallv = counting(wire.allgatherv), counting(wire.alltoallv)
    return counts
