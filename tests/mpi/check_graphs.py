"""Graphs over ranks from generators, from arrays and from files; damaged files raise on every rank."""

from __future__ import annotations

import numpy as np
import pytest
from rank_setup import DEVICE, FOLDER, WORLD

import hopwave as hw
from hopwave import distributed as hd
from hopwave.errors import EngineError, FormatError, GraphError


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
        with pytest.raises(EngineError, match="GB per rank while the graph is built"):
            hd.kronecker(39, layout=ranges, device=DEVICE)
        with pytest.raises(EngineError, match="use more ranks"):
            hd.uniform(1 << 39, layout=ranges, device=DEVICE)


def check_every_rank_brings_its_share() -> None:
    rank, size = WORLD.rank, WORLD.size
    parts = hd.from_edges([rank], [rank + 1], directed=True)
    assert (parts.n, parts.m) == (size + 1, size)
    assert hd.bfs(parts, 0).depth == size
    one = hd.from_edges(*(([0, 1], [1, 2]) if rank == size - 1 else ([], [])), n=5)
    assert (one.n, one.m) == (5, 4)
    with pytest.raises(GraphError, match="9 is not a vertex"):
        hd.from_edges([0], [9 if rank == size - 1 else 1], n=5)
    with pytest.raises(GraphError, match=r"for names, .* spread\(hopwave.Graph.from_edges"):
        hd.from_edges(["a"], ["b"])
    with pytest.raises(GraphError, match="does not fit"):
        hd.from_edges([0], [1], layout=(size, 2))


def check_balance() -> None:
    """In a graph whose first vertices have most of the arcs, balanced ranges have more equal numbers of arcs."""
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
        if WORLD.rank == 0:
            hw.write(FOLDER / name, one, **options)
        WORLD.barrier()
        parts = hd.read(FOLDER / name)
        assert (parts.m, parts.directed) == (one.m, one.directed), name
        np.testing.assert_array_equal(parts.replicated().indices, one.indices)


def check_names() -> None:
    """Every format that holds labels keeps them on every rank, and so does `spread`; only they name vertices."""
    graph = hw.Graph.from_edges(["ann", "bob", "dan"], ["bob", "cat", "cat"], directed=True)
    for name in ("names.csv", "names.txt", "names.txt.gz", "names.gml", "names.graphml", "names.net", "names.npz"):
        if WORLD.rank == 0:
            hw.write(FOLDER / name, graph, directed=True)
        WORLD.barrier()
        parts = hd.read(FOLDER / name, directed=True)
        assert parts.labels is not None and parts.labels.tolist() == graph.labels.tolist(), name
        assert parts.replicated() == graph, name
        assert [parts.label(i) for i in hd.bfs(parts, "dan").sources] == ["dan"] and "bob" in parts, name
    one = hd.spread(graph if WORLD.rank == WORLD.size - 1 else None)
    assert one.labels.tolist() == graph.labels.tolist()
    found = hd.bfs(one, "bob").gather()
    assert found is None or found[0].tolist() == hw.bfs(graph, "bob").distances.tolist()
    for split in ("sources", "graph"):
        scores = hd.betweenness_centrality(one, sources=["ann"], split=split).gather()
        assert scores is None or scores.tolist() == hw.betweenness_centrality(graph, sources=["ann"]).scores.tolist()
        with pytest.raises(GraphError, match=r"0 is not a vertex .* for the one at position 0, give G.label\(0\)"):
            hd.betweenness_centrality(one, sources=[0], split=split)
    with pytest.raises(GraphError, match="'eve' is not a vertex of this graph; its vertices have labels such as 'ann'"):
        hd.bfs(one, "eve")


def check_numbers_with_gaps() -> None:
    """They are labels, as in one process, whether there are few gaps or many; all below 'Nodes:' are vertices."""
    graph = hw.generate.kronecker(7, edge_factor=2)
    for name, far in {"gaps.txt": 3, "sparse.txt": 10**12}.items():
        if WORLD.rank == 0:
            named = graph.largest_component().relabel(None)
            hw.write(FOLDER / name, named.relabel(far * np.arange(named.n) + 5))
        WORLD.barrier()
        one, parts = hw.read(FOLDER / name), hd.read(FOLDER / name)
        assert one.labels is not None and parts.replicated() == one
        assert hd.bfs(parts, far + 5).reached == one.n
    for text, n, labels in (
        ("# Nodes: 8\n0 1\n5 1\n", 8, None),
        ("# Nodes: 3\n0 1\n5 1\n", 3, [0, 1, 5]),
        ("# Node: 6\n0 1\n1 2\n", 4, [0, 1, 2, 6]),
        ("2 1\n0 1\n", 3, None),
    ):
        if WORLD.rank == 0:
            (FOLDER / "few.txt").write_text(text)
        WORLD.barrier()
        parts = hd.read(FOLDER / "few.txt")
        assert (parts.n, None if parts.labels is None else parts.labels.tolist()) == (n, labels)
        assert parts.replicated() == hw.read(FOLDER / "few.txt")
        WORLD.barrier()


def check_damaged_files() -> None:
    """Every rank raises, whichever rank read the damage, and the line number counts from the beginning of the file."""
    lines = ["%%MatrixMarket matrix coordinate pattern general", "100 100 60", *(f"{i} {i + 1}" for i in range(1, 61))]
    damaged = {
        "letters": ([*lines[:58], "7 x", *lines[59:]], r":59: .*'x'"),
        "too-large": ([*lines[:4], "7 101", *lines[5:]], r":5: vertex 101 is too large"),
        "short": (lines[:-3], "57 edges.*60"),
        "banner": (["%%MatrixMarket vector", *lines[1:]], ":1: the banner"),
    }
    for name, (text, message) in damaged.items():
        path = FOLDER / f"{name}.mtx"
        if WORLD.rank == 0:
            path.write_text("\n".join(text) + "\n")
        WORLD.barrier()
        with pytest.raises(FormatError, match=message) as caught:
            hd.read(path)
        assert WORLD.allgather(str(caught.value)).count(str(caught.value)) == WORLD.size
    with pytest.raises(FormatError, match="no such file"):
        hd.read(FOLDER / "nowhere.mtx")
    if WORLD.size > 1:  # one copy per rank, the last truncated: edges would be lost or read twice
        mine = FOLDER / f"copy-{WORLD.rank}.txt"
        mine.write_text("\n".join(lines[2:] if WORLD.rank < WORLD.size - 1 else lines[2:40]) + "\n")
        with pytest.raises(FormatError, match=rf"on rank 0 and .* on rank {WORLD.size - 1}; expected the same file"):
            hd.read(mine)
        mine.write_text("\n".join(["1 2" if WORLD.rank < WORLD.size - 1 else "1 3", *lines[3:]]) + "\n")
        with pytest.raises(FormatError, match=rf"holds something else on rank {WORLD.size - 1} than on rank 0"):
            hd.read(mine)
        mine.write_text("\n".join(lines[2:]) + "\n")
        assert hd.read(mine).m == 2 * 60


BANNER = "%%MatrixMarket matrix coordinate"


def check_files_of_undirected_edges_as_directed_graphs() -> None:
    """Each edge becomes two arcs, as in one process."""
    edges = "2 1 {0}\n3 2 {0}\n5 4 {0}\n"
    for name, text in {
        "symmetric.mtx": f"{BANNER} pattern symmetric\n5 5 3\n{edges.format('')}",
        "skew.mtx": f"{BANNER} real skew-symmetric\n5 5 3\n{edges.format(1.5)}",
        "hermitian.mtx": f"{BANNER} complex hermitian\n5 5 3\n{edges.format('1 2')}",
        "general.mtx": f"{BANNER} pattern general\n5 5 3\n{edges.format('')}",
        "undirected.txt": "# Undirected graph\n# Nodes: 5 Edges: 2\n0 1\n1 2\n",
        "directed.txt": "# Directed graph\n0 1\n1 2\n",
        "silent.txt": "# Node: 6\n0 1\n1 2\n",
    }.items():
        if WORLD.rank == 0:
            (FOLDER / name).write_text(text)
        WORLD.barrier()
        for directed in (None, True, False):
            one = hw.read(FOLDER / name, directed=directed, weights=False, progress=False)
            parts = hd.read(FOLDER / name, directed=directed)
            assert (parts.n, parts.m, parts.directed) == (one.n, one.m, one.directed), (name, directed)
            assert hd.bfs(parts, 0).reached == hw.bfs(one, 0).reached, (name, directed)


def check_files_that_are_no_graph_or_too_large() -> None:
    """Refuses what one process refuses, and ids for which no machine has memory, before allocating anything."""
    path = FOLDER / "odd.txt"
    for text, error, message in (
        ("# a comment\n", FormatError, "contains no edge; expected lines of two vertices"),
        ("# Node: x\n0 1\n", FormatError, "a '# Node:' comment without a whole number"),
        ("# Nodes: 2\n0 1\n1 7\n", FormatError, "3 different vertices; expected the 2 of the comment 'Nodes:'"),
        ("# Nodes: 400000000000001\n0 1\n", EngineError, r"400,000,000,000,001 vertices and 1 edges? .* GB are free"),
    ):
        if WORLD.rank == 0:
            path.write_text(text)
        WORLD.barrier()
        with pytest.raises(error, match=message):
            hd.read(path)
        WORLD.barrier()
