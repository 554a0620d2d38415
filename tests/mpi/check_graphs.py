"""Graphs over ranks from generators, from arrays and from files; damaged files raise on every rank."""

from __future__ import annotations

import numpy as np
from rank_setup import DEVICE, FOLDER, WORLD, refused, written

import hopwave as hw
from hopwave import distributed as hd
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
    refused(GraphError, "source has 2 entries and target has 1", hd.from_edges, [0, 1], [1])
    refused(GraphError, "does not fit", hd.from_edges, [0], [1], layout=(size, 2))
    refused(EngineError, "device='tpu' cannot hold", hd.from_edges, [0], [1], device="tpu")


def check_balance() -> None:
    """In a graph whose first vertices have most of the arcs, balanced ranges have more equal numbers of arcs."""
    graph = hw.generate.rmat(10)
    parts = [hd.spread(graph, balance=balance).part for balance in (True, False)]
    balanced, even = (max(WORLD.allgather(len(part.heads) + len(part.tails))) for part in parts)
    assert balanced <= even and (WORLD.size != 4 or balanced < 0.8 * even)


def check_files() -> None:
    graph, directed = hw.generate.kronecker(9, edge_factor=4), hw.generate.rmat(8)
    files = {"web.mtx": graph, "arcs.mtx": directed, "web.txt": graph, "web.g500": graph, "packed.mtx.gz": graph}
    for name, one in (files | {"web.npz": directed}).items():
        parts = hd.read(written(name, one, **({"isolated": False} if name.endswith("g500") else {})))
        assert (parts.m, parts.directed) == (one.m, one.directed), name
        np.testing.assert_array_equal(parts.replicated().indices, one.indices)


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
        message = r"0 is not a vertex .* for the one at position 0, give G.label\(0\)"
        refused(GraphError, message, hd.betweenness_centrality, one, sources=[0], split=split)
    refused(GraphError, "'eve' is not a vertex of this graph; .* labels such as 'ann'", hd.bfs, one, "eve")


def check_numbers_with_gaps() -> None:
    """They are labels, as in one process, whether there are few gaps or many; all below 'Nodes:' are vertices."""
    graph = hw.generate.kronecker(7, edge_factor=2).largest_component().relabel(None)
    for far in (3, 10**12):
        path = written("gaps.txt", graph.relabel(far * np.arange(graph.n) + 5))
        one, parts = hw.read(path), hd.read(path)
        assert one.labels is not None and parts.replicated() == one
        assert hd.bfs(parts, far + 5).reached == one.n
    for text, n, labels in (
        ("# Nodes: 8\n0 1\n5 1\n", 8, None),
        ("# Nodes: 3\n0 1\n5 1\n", 3, [0, 1, 5]),
        ("# Node: 6\n0 1\n1 2\n", 4, [0, 1, 2, 6]),
        ("2 1\n0 1\n", 3, None),
    ):
        parts = hd.read(written("few.txt", text))
        assert (parts.n, None if parts.labels is None else parts.labels.tolist()) == (n, labels)
        assert parts.replicated() == hw.read(FOLDER / "few.txt")


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
        for text, message in (
            (
                lines[2:] if WORLD.rank < last else lines[2:40],
                rf"on rank 0 and .* on rank {last}; expected the same",
            ),
            (["1 2" if WORLD.rank < last else "1 3", *lines[3:]], rf"something else on rank {last} than on rank 0"),
        ):
            mine.write_text("\n".join(text) + "\n")
            refused(FormatError, message, hd.read, mine)
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
        path = written(name, text)
        for directed in (None, True, False):
            one = hw.read(path, directed=directed, weights=False, progress=False)
            assert hd.read(path, directed=directed).replicated() == one, (name, directed)


def check_files_that_are_no_graph_or_too_large() -> None:
    """Refuses what one process refuses, and ids for which no machine has memory, before allocating anything."""
    for text, error, message in (
        ("# a comment\n", FormatError, "contains no edge; expected lines of two vertices"),
        ("# Node: x\n0 1\n", FormatError, "a '# Node:' comment without a whole number"),
        ("# Nodes: 2\n0 1\n1 7\n", FormatError, "3 different vertices; expected the 2 of the comment 'Nodes:'"),
        ("# Nodes: 400000000000001\n0 1\n", EngineError, r"400,000,000,000,001 vertices and 1 edges? .* GB are free"),
    ):
        refused(error, message, hd.read, written("odd.txt", text))
