"""Graphs over ranks from generators, arrays and files; damaged files raise on every rank; all that is sent arrives."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import hopwave as hw
from checks import DEVICE, FOLDER, WORLD, refused, written
from hopwave import distributed as hd
from hopwave.distributed import codec, wire
from hopwave.errors import EngineError, FormatError, GraphError


def check_generated_in_place() -> None:
    refused(GraphError, "scale", hd.kronecker, -1)
    for ranges in ("1d", "2d"):
        place = {"layout": ranges, "device": DEVICE}
        kronecker, uniform = hd.kronecker(7, seed=3, **place), hd.uniform(100, 3, seed=3, **place)
        assert kronecker.edges == 16 << 7 and uniform.m == hw.generate.uniform(100, 3, seed=3).m
        assert kronecker.replicated() == hw.generate.kronecker(7, seed=3)
        tuples = kronecker.gather(kronecker.tuples)
        if tuples is not None:
            ends = np.concatenate(hw.generate.kronecker_edges(7, seed=3))
            np.testing.assert_array_equal(tuples, np.bincount(ends, minlength=128))
        refused(EngineError, "GB per rank while the graph is built", hd.kronecker, 39, **place)
        refused(EngineError, "use more ranks", hd.uniform, 1 << 39, **place)


def check_every_rank_brings_its_share() -> None:
    rank, size = WORLD.rank, WORLD.size
    parts = hd.from_edges([rank], [rank + 1], directed=True)
    assert (parts.n, parts.m) == (size + 1, size)
    assert hd.bfs(parts, 0).depth == size
    one = hd.from_edges(*(([0, 1], [1, 2]) if rank == size - 1 else ([], [])), n=5)
    assert (one.n, one.m) == (5, 4)
    refused(GraphError, "9 is not a vertex", hd.from_edges, [0], [9 if rank == size - 1 else 1], n=5)
    refused(GraphError, r"for names, .* spread\(hopwave.Graph.from_edges", hd.from_edges, ["a"], ["b"])
    refused(GraphError, "source has 2 entries and target 1", hd.from_edges, [0, 1], [1])
    refused(GraphError, "does not fit", hd.from_edges, [0], [1], layout=(size, 2))
    refused(EngineError, "device='tpu' cannot store", hd.from_edges, [0], [1], device="tpu")


def check_balance() -> None:
    """In a graph whose first vertices have most of the arcs, balanced ranges have more equal numbers of arcs."""
    graph = hw.generate.rmat(10)
    parts = [hd.spread(graph, balance=balance).part for balance in (True, False)]
    balanced, even = (max(WORLD.allgather(len(part.heads) + len(part.tails))) for part in parts)
    assert balanced <= even and (WORLD.size != 4 or balanced < 0.8 * even)


BANNER = "%%MatrixMarket matrix coordinate"
EDGES = "2 1 {0}\n3 2 {0}\n5 4 {0}\n"
KRON = hw.generate.kronecker(7, edge_factor=2).largest_component().relabel(None)
FILES: dict[str, Any] = {
    "web.mtx": KRON, "web.txt": KRON, "web.g500": KRON, "packed.mtx.gz": KRON,
    "arcs.mtx": hw.generate.rmat(8), "arcs.npz": hw.generate.rmat(8),
    "symmetric.mtx": f"{BANNER} pattern symmetric\n5 5 3\n{EDGES.format('')}",
    "skew.mtx": f"{BANNER} real skew-symmetric\n5 5 3\n{EDGES.format(1.5)}",
    "hermitian.mtx": f"{BANNER} complex hermitian\n5 5 3\n{EDGES.format('1 2')}",
    "general.mtx": f"{BANNER} pattern general\n5 5 3\n{EDGES.format('')}",
    "undirected.txt": "# Undirected graph\n# Nodes: 5 Edges: 2\n0 1\n1 2\n",
    "directed.txt": "# Directed graph\n0 1\n1 2\n",
    # Numbers with gaps are labels, whether there are few gaps or many; all below 'Nodes:' are vertices.
    "few-gaps.txt": KRON.relabel(3 * np.arange(KRON.n) + 5), "gaps.txt": KRON.relabel(10**12 * np.arange(KRON.n) + 5),
    "nodes.txt": "# Nodes: 8\n0 1\n5 1\n", "few-nodes.txt": "# Nodes: 3\n0 1\n5 1\n",
    "listed.txt": "# Node: 6\n0 1\n1 2\n", "turned.txt": "2 1\n0 1\n",
}  # fmt: skip


def check_files() -> None:
    """Ranks read a file as one process does; an edge of an undirected file becomes two arcs of a directed graph."""
    for name, content in FILES.items():
        path = written(name, content)
        for directed in (None, True) if isinstance(content, str) else (None,):
            one = hw.read(path, directed=directed, weights=False, progress=False)
            assert hd.read(path, directed=directed).replicated() == one, (name, directed)
    assert hd.bfs(hd.read(FOLDER / "gaps.txt"), 10**12 + 5).reached == KRON.n


def check_names() -> None:
    """Every format that holds labels keeps them on every rank, and so does `spread`; only they name vertices."""
    graph = hw.Graph.from_edges(["ann", "bob", "dan"], ["bob", "cat", "cat"], directed=True)
    for name in ("names.csv", "names.txt", "names.txt.gz", "names.gml", "names.graphml", "names.net", "names.npz"):
        parts = hd.read(written(name, graph, directed=True), directed=True)
        assert parts.replicated() == graph, name
        assert [parts.label(i) for i in hd.bfs(parts, "dan").sources] == ["dan"] and "bob" in parts, name
    one = hd.spread(graph if WORLD.rank == WORLD.size - 1 else None)
    assert one.labels.tolist() == graph.labels.tolist()
    found = hd.bfs(one, "bob").gather()
    assert found is None or found[0].tolist() == hw.bfs(graph, "bob").distances.tolist()
    for split in ("sources", "graph"):
        scores = hd.betweenness_centrality(one, sources=["ann"], split=split).gather()
        assert scores is None or scores.tolist() == hw.betweenness_centrality(graph, sources=["ann"]).scores.tolist()
        message = r"0 is not a vertex .* for the vertex at position 0, pass G.label\(0\)"
        refused(GraphError, message, hd.betweenness_centrality, one, sources=[0], split=split)
    refused(GraphError, "'eve' is not a vertex of this graph; .* labels such as 'ann'", hd.bfs, one, "eve")


def check_damaged_files() -> None:
    """Every rank raises, whichever rank read the damage, and the line number counts from the beginning of the file."""
    lines = ["%%MatrixMarket matrix coordinate pattern general", "100 100 60", *(f"{i} {i + 1}" for i in range(1, 61))]
    for text, message in (
        ([*lines[:58], "7 x", *lines[59:]], r":59: .*'x'"),
        ([*lines[:4], "7 101", *lines[5:]], r":5: vertex 101 is too large"),
        (lines[:-3], "57 edges.*60"),
        (["%%MatrixMarket vector", *lines[1:]], ":1: the banner"),
    ):
        said = refused(FormatError, message, hd.read, written("damaged.mtx", "\n".join(text) + "\n"))
        assert WORLD.allgather(said).count(said) == WORLD.size
    refused(FormatError, "no such file", hd.read, FOLDER / "nowhere.mtx")
    if WORLD.size > 1:  # one copy per rank, the last truncated: edges would be lost or read twice
        mine, last = FOLDER / f"copy-{WORLD.rank}.txt", WORLD.size - 1
        for text in (
            lines[2:] if WORLD.rank < last else lines[2:40],
            ["1 2" if WORLD.rank < last else "1 3", *lines[3:]],
        ):
            mine.write_text("\n".join(text) + "\n")
            refused(FormatError, rf"differs between rank {last} and rank 0; copy the same file", hd.read, mine)
        mine.write_text("\n".join(lines[2:]) + "\n")
        assert hd.read(mine).m == 2 * 60


def check_files_that_are_no_graph_or_too_large() -> None:
    """Refuses what one process refuses, and ids for which no machine has memory, before allocating anything."""
    for text, error, message in (
        ("# a comment\n", FormatError, "contains no edge; expected lines of two vertices"),
        ("# Node: x\n0 1\n", FormatError, "a '# Node:' comment without an integer"),
        ("# Nodes: 2\n0 1\n1 7\n", FormatError, "3 different vertices; the comment 'Nodes:' declares 2"),
        ("# Nodes: 400000000000001\n0 1\n", EngineError, r"400,000,000,000,001 vertices and 1 edges? .* GB are free"),
    ):
        refused(error, message, hd.read, written("odd.txt", text))


# ---------------------------------------------------------------- packets and wires


def check_packets() -> None:
    """Packed ids unpack unchanged, as gaps or as a bitmap, on the CPU and on the GPU."""
    random = np.random.default_rng(WORLD.rank)
    xp = wire.wire_for(WORLD, DEVICE).xp
    forms = set()
    for length in (1, 63, 64, 65, 1000, 300_000):
        for share in (0.0, 0.001, 0.1, 0.9, 1.0):
            heads = np.flatnonzero(random.random(length) < share)
            values = random.integers(0, 1 << random.integers(1, 40), len(heads))
            given, numbers = xp.asarray(heads), xp.asarray(values)
            for compress in (True, False):
                shape, data = codec.pack(xp, given, codec.to_bytes(xp, numbers, compress), length, compress)
                forms.add(shape[1])
                assert len(data) == codec.packed_size(shape, length)
                assert not compress or len(data) <= 8 * len(heads) + 8 * (len(heads) > 0) + -(-length // 64) * 8
                back, columns = codec.unpack(xp, shape, data, length)
                assert back.tolist() == heads.tolist() and codec.from_bytes(xp, columns).tolist() == values.tolist()
                bits = codec.bitmap(xp, given, length)
                shape, data = codec.pack_bitmap(xp, bits, length, compress)
                assert len(data) == codec.packed_size(shape, length) <= bits.nbytes
                assert codec.unpack_bitmap(xp, shape, data, length).tolist() == bits.tolist()
    assert forms >= {0, 1, 2, 8}
    wide = xp.asarray(np.array([0, 1 << 33, (1 << 40) - 1]))
    shape, data = codec.pack(xp, wide, codec.to_bytes(xp, wide), 1 << 40)
    back, columns = codec.unpack(xp, shape, data, 1 << 40)
    assert shape == (3, 8, 5) and back.tolist() == codec.from_bytes(xp, columns).tolist() == wide.tolist()


def wires() -> Iterator[tuple[wire.HostWire, Any]]:
    """Every wire that can be tested here. NCCL needs one GPU per rank, so each rank tests it alone."""
    yield wire.wire_for(WORLD, DEVICE), WORLD.comm
    if DEVICE == "cuda":
        yield wire.PinnedWire(), WORLD.comm
        if wire.has_nccl():
            from mpi4py import MPI

            yield wire.NcclWire(), MPI.COMM_SELF


def check_wires() -> None:
    """Packets of several sizes, empty ones too, arrive whole and at the right rank."""
    for line, comm in wires():
        size, me = comm.Get_size(), comm.Get_rank()

        def packet(frm: int, to: int, line: wire.HostWire = line) -> Any:  # (frm + to) % 3 = 0: an empty packet
            return line.xp.full(8 * ((frm + to) % 3) * 1000, 10 * frm + to, np.uint8)

        def same_bytes(found: Any, right: Any) -> None:
            assert found.dtype == right.dtype and found.tolist() == right.tolist()

        sizes = [len(packet(rank, 7)) for rank in range(size)]
        found = line.allgatherv(comm, packet(me, 7), sizes)()
        same_bytes(found, line.xp.concatenate([packet(rank, 7) for rank in range(size)]))
        shapes = [(len(packet(me, to)) // 8, 8, 0) for to in range(size)]
        _, pending = line.alltoall_packets(comm, shapes, [packet(me, to) for to in range(size)], 1 << 20)
        for rank, piece in enumerate(pending()):
            same_bytes(piece, packet(rank, me) if rank != me else packet(rank, me)[:0])
        shape, pending = line.pass_packet(comm, (len(packet(me, 0)) // 8, 8, 0), packet(me, 0), 1 << 20)
        passed = pending()
        same_bytes(passed, packet((me + 1) % size, 0))
        assert shape == (len(passed) // 8, 8, 0)
