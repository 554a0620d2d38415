"""What must hold on any number of ranks; test_ranks.py starts this file under mpiexec, one start for all checks.

    mpiexec -n 3 python tests/mpi/checks.py FOLDER [NAME ...]

A check that fails on one rank ends the whole job; its name and the reason stand on one line.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

import numpy as np  # noqa: E402
import pytest  # noqa: E402
import scipy.sparse as sp  # noqa: E402

import hopwave as hw  # noqa: E402
from graphs import TRAPS  # noqa: E402
from hopwave import distributed as hd  # noqa: E402
from hopwave.distributed import codec, delta_stepping, layout, wire  # noqa: E402
from hopwave.distributed.layout import Layout, grid_columns  # noqa: E402
from hopwave.distributed.validate import validate as validate_in_parts  # noqa: E402
from hopwave.errors import EngineError, FormatError, GraphError, PlanError  # noqa: E402
from hopwave.generate import counter  # noqa: E402
from hopwave.graph500.shortest import STREAM, lengths  # noqa: E402
from hopwave.validate import validate  # noqa: E402

WORLD = hd.world()
DEVICE = os.environ.get("HOPWAVE_CHECK_DEVICE", "cpu")  # where graphs lie: ranks may share one GPU
FOLDER = Path(sys.argv[1]) if __name__ == "__main__" else Path()
FEW_LEVELS = {name: make for name, make in TRAPS.items() if not name.startswith(("long-path", "overflow", "diamonds"))}


def only_rank_0(check: Callable[[], None]) -> None:
    if WORLD.rank == 0:
        check()


def layouts(n: int) -> Iterator[Any]:
    """Ways to share n vertices: balanced, on a grid, all on one rank, and with empty parts between."""
    size = WORLD.size
    yield "1d"
    yield "2d"
    yield (1, size)
    for owner in {0, size - 1}:
        yield Layout(np.array([0] * (owner + 1) + [n] * (size - owner), np.int64))
    if size > 2:
        yield Layout(np.array([0] + [n // 2] * (size - 1) + [n], np.int64))


def agrees(graph: hw.Graph, parts: hd.DistributedGraph, source: Any, **options: Any) -> None:
    """A search in parts is the search in one piece, and its predecessors are a tree of it."""
    found = hd.bfs(parts, source, **options)
    whole = found.gather()
    limit = options.get("depth_limit")
    right = hw.bfs(graph, source, depth_limit=limit)
    assert (found.depth, found.reached) == (right.depth, right.reached), (found, right)
    if limit is None:
        assert validate_in_parts(parts, found.sources, found.distances, found.predecessors).ok
    if whole is not None:
        distances, predecessors = whole
        np.testing.assert_array_equal(distances, right.distances)
        assert validate(graph, source, distances, predecessors, depth_limit=limit).ok


# ---------------------------------------------------------------- searches


def check_every_trap_in_every_layout() -> None:
    for turn, (name, make) in enumerate(FEW_LEVELS.items()):
        stride = min(WORLD.size, 3)  # one rank takes all traps, two a half, three and four a third each
        if turn % stride != WORLD.size % stride:
            continue
        graph = make()
        for number, ranges in enumerate(layouts(graph.n)):
            if number > 1 and turn // stride % 4:  # a quarter of the traps in the odder layouts
                break
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
            alone = hd.bfs(parts, 5, predecessors=False, plan=plan)
            assert alone.predecessors is None
            np.testing.assert_array_equal(alone.distances, hd.bfs(parts, 5).distances)
        for wrong in (340, -1, "a", []):
            with pytest.raises(GraphError):
                hd.bfs(parts, wrong)
        with pytest.raises(PlanError, match="hiragushi-hybrid"):
            hd.bfs(parts, 0, plan="xbfs")
        if WORLD.size > 1:
            with pytest.raises(GraphError, match="rank 1 asks another question"):
                hd.bfs(parts, int(WORLD.rank == 1))


def check_wide_slots() -> None:
    """Groups of more than 2^32 slots have 64-bit ones: pretended, by lowering the border."""
    before, layout.NARROW = layout.NARROW, 100
    graph_module = sys.modules["hopwave.distributed.graph"]
    graph_module.NARROW = 100
    try:
        for name in ("kronecker", "kronecker-directed"):
            for ranges in ("1d", "2d"):
                parts = hd.spread(TRAPS[name](), layout=ranges, device=DEVICE)
                assert parts.tail_type == np.uint64
                agrees(TRAPS[name](), parts, 3)
    finally:
        layout.NARROW = graph_module.NARROW = before


def check_ids_beyond_32_bits() -> None:
    """A small stretch of a huge range of ids: all that this job's ranks own. Searches, shortest paths, betweenness."""
    far = (1 << 40) + 3
    for name in ("kronecker", "kronecker-directed"):
        graph = TRAPS[name]()
        u, v = (ends.astype(np.int64)[WORLD.rank :: WORLD.size] + far for ends in graph.to_edges())
        for columns in {0, grid_columns("2d", WORLD.size)}:
            stretch = Layout(Layout.even(graph.n, WORLD.size).starts + far, columns)
            parts = hd.from_edges(u, v, n=far + graph.n, directed=graph.directed, layout=stretch, device=DEVICE)
            assert parts.id_type == np.int64 and parts.m == graph.m
            hub = int(np.argmax(graph.degrees))
            for plan in ("auto", "turbobfs-bu-sc", "merrill"):
                found = hd.bfs(parts, hub + far, plan=plan)
                assert validate_in_parts(parts, found.sources, found.distances, found.predecessors).ok
                whole = found.gather()
                if whole is not None:
                    np.testing.assert_array_equal(whole[0], hw.bfs(graph, hub).distances)
                    near = np.where(whole[1] < 0, -1, whole[1] - far)
                    assert validate(graph, hub, whole[0], near).ok
            if not graph.directed:
                paths = delta_stepping.Paths(parts, counter.start(3, STREAM))
                paths.run(hub + far)
                assert paths.broken(hub + far) == ()
            scores = hd.betweenness_centrality(parts, sources=[hub + far], split="graph", normalized=False).gather()
            right = hw.betweenness_centrality(graph, sources=[hub], normalized=False).scores
            if scores is not None:
                np.testing.assert_allclose(scores, right, rtol=1e-9, atol=1e-12)
    with pytest.raises(GraphError, match="not a vertex"):
        hd.from_edges([far], [far + 1000], n=far + graph.n, layout=stretch)


def check_bytes_sent() -> None:
    """A pull's bitmaps are n/8 bytes from each rank or less, in every layout; parents are counted apart, and without
    them nothing else is sent. Numbers of the ranks' progress, 200 bytes a rank, come on top.
    """
    hub = int(np.argmax(np.bincount(hw.generate.kronecker_edges(14)[0])))
    for ranges in ("1d", "2d", (1, WORLD.size), (WORLD.size, 1)):
        parts = hd.kronecker(14, device=DEVICE, layout=ranges)
        for wanted in (True, False):
            found = hd.bfs(parts, hub, plan="turbobfs-bu-sc", predecessors=wanted)  # the fullest bitmaps there are
            for level in (*found.trace, *hd.bfs(parts, hub, predecessors=wanted).trace):
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


# ---------------------------------------------------------------- graphs


def check_generated_in_place() -> None:
    for ranges in ("1d", "2d"):
        kronecker, uniform = (
            hd.kronecker(7, seed=3, layout=ranges, device=DEVICE),
            hd.uniform(100, 3, seed=3, layout=ranges, device=DEVICE),
        )
        assert kronecker.m == hw.generate.kronecker(7, seed=3).m and kronecker.edges == 16 << 7
        assert uniform.m == hw.generate.uniform(100, 3, seed=3).m
        whole = kronecker.replicated()
        np.testing.assert_array_equal(whole.indices, hw.generate.kronecker(7, seed=3).indices)
        tuples = kronecker.gather(kronecker.tuples)
        if tuples is not None:
            np.testing.assert_array_equal(
                tuples, np.bincount(np.concatenate(hw.generate.kronecker_edges(7, seed=3)), minlength=128)
            )
    with pytest.raises(GraphError, match="scale"):
        hd.kronecker(-1)
    for ranges in ("1d", "2d"):
        with pytest.raises(EngineError, match="GB a rank while it is built"):
            hd.kronecker(39, layout=ranges, device=DEVICE)
        with pytest.raises(EngineError, match="use more ranks"):
            hd.uniform(1 << 39, layout=ranges, device=DEVICE)


def check_every_rank_brings_its_part() -> None:
    rank, size = WORLD.rank, WORLD.size
    parts = hd.from_edges([rank], [rank + 1], directed=True)
    assert (parts.n, parts.m) == (size + 1, size)
    assert hd.bfs(parts, 0).depth == size
    one = hd.from_edges(*(([0, 1], [1, 2]) if rank == size - 1 else ([], [])), n=5)
    assert (one.n, one.m) == (5, 4)
    with pytest.raises(GraphError, match="9 is not a vertex"):
        hd.from_edges([0], [9 if rank == size - 1 else 1], n=5)
    with pytest.raises(GraphError, match="labels"):
        hd.from_edges(["a"], ["b"])
    with pytest.raises(GraphError, match="does not fit"):
        hd.from_edges([0], [1], layout=(size, 2))


def check_balance() -> None:
    """A graph whose first vertices have most of the arcs: ranges by arcs are nearer to equal shares than by ids."""
    graph = hw.generate.rmat(10)
    shares = []
    for balance in (True, False):
        parts = hd.spread(graph, balance=balance)
        shares.append(max(WORLD.allgather(len(parts.part.heads) + len(parts.part.tails))))
    assert shares[0] <= shares[1]
    if WORLD.size == 4:
        assert shares[0] < 0.8 * shares[1]


def check_files() -> None:
    graph = hw.generate.kronecker(9, edge_factor=4)
    directed = hw.generate.rmat(8)
    files = {"web.mtx": graph, "arcs.mtx": directed, "web.txt": graph, "web.g500": graph, "packed.mtx.gz": graph}
    files |= {"web.npz": directed}
    for name, one in files.items():
        options = {"isolated": False} if name.endswith("g500") else {}
        only_rank_0(lambda name=name, one=one, options=options: hw.write(FOLDER / name, one, **options))
        WORLD.meet()
        parts = hd.read(FOLDER / name)
        assert (parts.m, parts.directed) == (one.m, one.directed), name
        np.testing.assert_array_equal(parts.replicated().indices, one.indices)


def check_damaged_files() -> None:
    """Every rank raises, whichever of them met the damage, and the line is counted from the file's beginning."""
    lines = ["%%MatrixMarket matrix coordinate pattern general", "100 100 60", *(f"{i} {i + 1}" for i in range(1, 61))]
    damaged = {
        "letters": ([*lines[:58], "7 x", *lines[59:]], r":59: .*'x'"),
        "too-large": ([*lines[:4], "7 101", *lines[5:]], r":5: vertex 101 is too large"),
        "short": (lines[:-3], "57 edges.*60"),
        "banner": (["%%MatrixMarket vector", *lines[1:]], ":1: the banner"),
    }
    for name, (text, message) in damaged.items():
        path = FOLDER / f"{name}.mtx"
        only_rank_0(lambda path=path, text=text: path.write_text("\n".join(text) + "\n"))
        WORLD.meet()
        with pytest.raises(FormatError, match=message) as caught:
            hd.read(path)
        assert WORLD.allgather(str(caught.value)).count(str(caught.value)) == WORLD.size
    with pytest.raises(FormatError, match="no such file"):
        hd.read(FOLDER / "nowhere.mtx")
    if WORLD.size > 1:  # a copy on every rank, of which the last is cut short: no edge may be lost or read twice
        mine = FOLDER / f"copy-{WORLD.rank}.txt"
        mine.write_text("\n".join(lines[2:] if WORLD.rank < WORLD.size - 1 else lines[2:40]) + "\n")
        with pytest.raises(FormatError, match=rf"on rank 0 and .* on rank {WORLD.size - 1}; expected the same file"):
            hd.read(mine)


# ---------------------------------------------------------------- betweenness


def same(graph: hw.Graph, parts: hd.DistributedGraph | hw.Graph, split: str, **options: Any) -> None:
    found = hd.betweenness_centrality(parts, split=split, **options)
    right = hw.betweenness_centrality(graph, **options)
    assert found.certificate.error <= found.certificate.tolerance and found.sources == right.sources
    scores = found.scores if parts is graph else found.gather()
    if scores is not None:
        np.testing.assert_allclose(scores, right.scores, rtol=1e-9, atol=1e-12)


def check_betweenness() -> None:
    names = ["kronecker", "kronecker-directed", "grid-with-missing-edges", "star-of-33", "two-isolated-vertices"]
    names += ["single-vertex", "self-loop-only", "repeats-directed", "one-edge", "layers-directed", "barbell"]
    for name in names:
        graph = TRAPS[name]()
        same(graph, graph, "sources")
        few = {"sources": [0, graph.n // 2]} if graph.n > 40 else {}
        for ranges in ("1d", "2d"):
            parts = hd.spread(graph, layout=ranges)
            same(graph, parts, "graph", **few)
            same(graph, parts, "graph", endpoints=True, normalized=False, cutoff=2, **few)
        same(graph, parts, "auto", **few)
    graph = TRAPS["kronecker"]()
    for split in ("sources", "graph"):
        same(graph, hd.spread(graph), split, k=7, seed=5)
        same(graph, hd.spread(graph), split, k=7, seed=5, endpoints=True)
    with pytest.raises(GraphError, match="split"):
        hd.betweenness_centrality(graph, split="halves")
    if WORLD.size > 1:
        with pytest.raises(GraphError, match="seed=None"):
            hd.betweenness_centrality(graph, k=3)


def check_betweenness_by_sources() -> None:
    """With the engine of the device that is checked: ranks that share a GPU take turns on it."""
    for name in ("kronecker", "grid-with-missing-edges", "kronecker-directed"):
        graph = TRAPS[name]()
        same(graph, graph, "sources", device=DEVICE)
    same(graph, hd.spread(graph, device=DEVICE), "sources", device=DEVICE, k=7, seed=5)


def check_path_counts_beyond_float64() -> None:
    """32 vertices a layer, all joined to the next: 2^1150 shortest paths from end to end."""
    width, depth = 32, 230
    layer = np.arange(width)
    u = np.concatenate([np.repeat(layer + d * width, width) for d in range(depth)])
    v = np.concatenate([np.tile(layer + (d + 1) * width, width) for d in range(depth)])
    graph = hw.Graph.from_edges(u, v, n=width * (depth + 1))
    same(graph, hd.spread(graph), "graph", sources=[0])


def check_an_error_inside_sources_ends_all() -> None:
    """A run that fails on one rank raises on all, and nobody waits for a block that will not come."""
    graph = TRAPS["kronecker"]()

    class Broken(GraphError):
        pass

    from hopwave.algorithms import brandes

    kept = brandes.accumulate
    if WORLD.rank == WORLD.size - 1:

        def failing(*_: Any) -> None:
            raise Broken("this rank is broken")

        brandes.accumulate = failing
    try:
        with pytest.raises(GraphError, match="broken"):
            hd.betweenness_centrality(graph)
    finally:
        brandes.accumulate = kept


# ---------------------------------------------------------------- the validator judges


def check_validation_finds_what_is_wrong() -> None:
    graph = hw.generate.kronecker(7)
    for ranges in ("1d", "2d"):
        parts = hd.spread(graph, layout=ranges, device=DEVICE)
        hub = int(np.argmax(graph.degrees))
        found = hd.bfs(parts, hub)
        d, p, first = found.distances, found.predecessors, parts.first
        everything = hw.bfs(graph, hub)
        far = int(np.flatnonzero(everything.distances == everything.depth)[0])
        mine = far - first if first <= far < first + parts.own else None

        def judged(change: Callable[[Any, Any], None]) -> tuple[str, ...]:
            levels, tree = d.copy(), p.copy()  # noqa: B023
            if mine is not None:  # noqa: B023
                change(levels, tree)
            return validate_in_parts(parts, (hub,), levels, tree).broken  # noqa: B023

        def level(value: int) -> Callable[[Any, Any], None]:
            return lambda levels, _: levels.__setitem__(mine, value)  # noqa: B023

        def parent(value: int) -> Callable[[Any, Any], None]:
            return lambda _, tree: tree.__setitem__(mine, value)  # noqa: B023

        stranger = next(
            v for v in range(graph.n) if v != far and far not in graph.indices[slice(*graph.indptr[v : v + 2])]
        )
        assert judged(lambda *_: None) == ()
        assert "edges" in judged(level(100))
        assert "levels" in judged(level(1))
        assert "span" in judged(level(-1))
        assert "links" in judged(parent(stranger))
        assert "links" in judged(parent(graph.n + 5))
        assert "roots" in judged(parent(far))
        assert "span" in judged(parent(-1))
        assert "levels" in judged(level(0))


def check_shortest_paths() -> None:
    """Graph500's third kernel: the distances of Dijkstra's algorithm, to the last bit, and a validator that judges."""
    for scale, ranges in ((8, "1d"), (8, "2d"), (1, "1d"), (2, "2d")):
        parts = hd.kronecker(scale, 4, seed=3, layout=ranges, device=DEVICE)
        graph = parts.replicated()
        tails = np.repeat(np.arange(graph.n), graph.degrees)
        matrix = sp.csr_array((lengths(tails, graph.indices, graph.n, 3), graph.indices, graph.indptr))
        paths = delta_stepping.Paths(parts, counter.start(3, STREAM))
        for root in {0, int(np.argmax(graph.degrees)), graph.n - 1}:
            paths.run(root)
            assert paths.broken(root) == ()
            found = parts.gather(paths.distance)
            if found is not None:
                found = np.where(found == delta_stepping.NEVER, np.inf, found / delta_stepping.UNIT)
                np.testing.assert_array_equal(found, sp.csgraph.dijkstra(matrix, indices=root))
        if scale < 8:
            continue
        hub = int(np.argmax(graph.degrees))
        right = sp.csgraph.dijkstra(matrix, indices=hub)
        far = int(np.argmax(np.where(np.isfinite(right), right, 0)))
        near = graph.indices[slice(*graph.indptr[far : far + 2])]
        stranger = next(v for v in range(graph.n) if v not in near and v != far)
        longer = int(right[far] * delta_stepping.UNIT) + 1
        for name, value, rule in (
            ("distance", 9 * delta_stepping.UNIT, "edges"),
            ("distance", longer, "edges"),
            ("distance", longer - 2, "levels"),
            ("distance", 0, "levels"),
            ("distance", delta_stepping.NEVER, "span"),
            ("parent", far, "roots"),
            ("parent", -1, "span"),
            ("parent", stranger, "links"),
        ):
            paths.run(hub)
            if parts.first <= far < parts.first + parts.own:
                getattr(paths, name)[far - parts.first] = value
            assert rule in paths.broken(hub), (name, value, rule)


def check_packets() -> None:
    """What is packed comes out again, in whichever form was shorter, wherever the arrays lie."""
    random = np.random.default_rng(WORLD.rank)
    xp = wire.wire_for(WORLD, DEVICE).xp
    forms = set()
    for length in (1, 63, 64, 65, 1000, 300_000):
        for share in (0.0, 0.001, 0.1, 0.9, 1.0):
            heads = np.flatnonzero(random.random(length) < share)
            values = random.integers(0, 1 << random.integers(1, 40), len(heads))
            given, numbers = xp.asarray(heads), xp.asarray(values)
            for compress in (True, False):
                shape, data = codec.pack(xp, given, codec.columns(xp, numbers, compress), length, compress)
                forms.add(shape[1])
                assert len(data) == codec.packed_size(shape, length)
                assert not compress or len(data) <= 8 * len(heads) + 8 * (len(heads) > 0) + -(-length // 64) * 8
                back, columns = codec.unpack(xp, shape, data, length)
                assert back.tolist() == heads.tolist() and codec.numbers(xp, columns).tolist() == values.tolist()
                bits = codec.bits_from(xp, given, length)
                shape, data = codec.pack_bits(xp, bits, length, compress)
                assert len(data) == codec.packed_size(shape, length) <= bits.nbytes
                assert codec.unpack_bits(xp, shape, data, length).tolist() == bits.tolist()
    assert forms >= {0, 1, 2, 8}
    wide = xp.asarray(np.array([0, 1 << 33, (1 << 40) - 1]))
    shape, data = codec.pack(xp, wide, codec.columns(xp, wide), 1 << 40)
    back, columns = codec.unpack(xp, shape, data, 1 << 40)
    assert shape == (3, 8, 5) and back.tolist() == codec.numbers(xp, columns).tolist() == wide.tolist()


def wires() -> Iterator[tuple[wire.HostWire, Any]]:
    """Every way between ranks that can be tried here. NCCL wants a GPU a rank: it is tried within each rank alone."""
    yield wire.wire_for(WORLD, DEVICE), WORLD.comm
    if DEVICE == "cuda":
        yield wire.PinnedWire(), WORLD.comm
        if wire.has_nccl():
            from mpi4py import MPI

            yield wire.NcclWire(), MPI.COMM_SELF


def check_wires() -> None:
    """Packets of all sizes, none among them, arrive whole and at the right rank."""
    for line, comm in wires():
        size, me = comm.Get_size(), comm.Get_rank()

        def packet(frm: int, to: int, line: wire.HostWire = line) -> Any:  # (frm + to) % 3 = 0: an empty one
            return line.xp.full(8 * ((frm + to) % 3) * 1000, 10 * frm + to, np.uint8)

        def same_bytes(found: Any, right: Any) -> None:
            assert found.dtype == right.dtype and found.tolist() == right.tolist()

        sizes = [len(packet(rank, 7)) for rank in range(size)]
        found = line.all_to_one(comm, packet(me, 7), sizes)()
        same_bytes(found, line.xp.concatenate([packet(rank, 7) for rank in range(size)]))
        shapes = [(len(packet(me, to)) // 8, 8, 0) for to in range(size)]
        _, pending = line.deal(comm, shapes, [packet(me, to) for to in range(size)], 1 << 20)
        for rank, piece in enumerate(pending()):
            same_bytes(piece, packet(rank, me) if rank != me else packet(rank, me)[:0])
        shape, pending = line.turn(comm, (len(packet(me, 0)) // 8, 8, 0), packet(me, 0), 1 << 20)
        turned = pending()
        same_bytes(turned, packet((me + 1) % size, 0))
        assert shape == (len(turned) // 8, 8, 0)


CHECKS = {name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")}


def main() -> None:
    for name in sys.argv[2:] or CHECKS:
        began = time.process_time()
        try:
            CHECKS[name]()
        except BaseException as error:
            import traceback

            traceback.print_exc()
            WORLD.abort(f"{name}: {type(error).__name__}: {str(error)[:500]}")
        WORLD.meet()
        if WORLD.rank == 0:
            print(f"passed {name} {time.process_time() - began:.2f} s", flush=True)


if __name__ == "__main__":
    main()
