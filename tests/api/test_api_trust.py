"""Foreign errors, wasted memory and lost entries that once occurred, each with the call that showed it."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import hopwave as hw
from hopwave import FormatError, Graph
from hopwave.api.validate import check, validate
from hopwave.system.files import replacing
from together import in_one_test

PATH = hw.generate.path(4)


# ---------------------------------------------------------------- numbers and labels


def test_limits_that_no_path_reaches_are_no_limits() -> None:
    for limit in (2**31 - 1, 2**31, 2**63, 10**30):
        assert hw.bfs(PATH, 0, depth_limit=limit).distances.tolist() == [0, 1, 2, 3]
        assert hw.betweenness_centrality(PATH, cutoff=limit, normalized=False).scores.tolist() == [0, 2, 2, 0]
        assert np.array_equal(hw.pairs_within(PATH, limit), hw.pairs_within(PATH, 3))
        assert validate(PATH, 0, [0, 1, 2, 3], depth_limit=limit).ok
        assert len(list(hw.k_hop(PATH, 0, limit))) == len(list(hw.k_hop(PATH, 0, 3)))
        reached = hw.linalg.waves(hw.linalg.Vector.from_entries([0], True, n=4), PATH, depth_limit=limit)
        assert reached.levels.to_dense().tolist() == [0, 1, 2, 3]


def test_numbers_of_numpy_are_numbers() -> None:
    assert hw.generate.kronecker(np.int64(5)) == hw.generate.kronecker(5)  # type: ignore[arg-type]
    found = hw.generate.kronecker(np.int8(5), np.uint8(3), seed=np.int32(2))  # type: ignore[arg-type]
    assert found == hw.generate.kronecker(5, 3, seed=2)
    assert hw.generate.uniform(np.int32(50), np.int8(2)) == hw.generate.uniform(50, 2)  # type: ignore[arg-type]
    assert hw.generate.grid(np.int8(100), np.int8(3)).n == 300  # type: ignore[arg-type]


def test_validate_takes_vertices_and_graphs_as_searches_do() -> None:
    labels = [frozenset({1, 2}), ("a", "b"), "ab", 7]
    G = Graph.from_edges([0, 1, 2], [1, 2, 3], labels=labels)
    for source in (labels[0], labels[1], [labels[1], labels[3]], ("ab", 7), {labels[0], "ab"}, np.array([7])):
        found = hw.bfs(G, source)
        assert validate(G, source, found.distances, found.predecessors).ok, source
        check(G, source, found.distances)
    assert not validate(G, labels[0], [1, 0, 1, 2]).ok
    right = hw.bfs(PATH, 2).distances
    for same in (nx.path_graph(4), sp.csr_array(nx.to_scipy_sparse_array(nx.path_graph(4)))):
        assert validate(same, 2, right).ok and not validate(same, 1, right).ok


def test_edge_scores_of_parallel_edges_are_all_listed() -> None:
    G = Graph.from_edges([0, 0, 1, 2, 0], [1, 1, 2, 3, 1], repeats="keep")
    found = hw.edge_betweenness_centrality(G, normalized=False).to_dict()
    keys = [(0, 1, 0), (0, 1, 1), (0, 1, 2), (1, 2, 0), (2, 3, 0)]
    assert list(found) == keys == sorted(nx.MultiGraph([(0, 1), (0, 1), (0, 1), (1, 2), (2, 3)]).edges(keys=True))
    assert found[0, 1, 0] == found[0, 1, 1] == pytest.approx(1.0) and found[1, 2, 0] == 4.0
    assert list(hw.edge_betweenness_centrality(PATH).to_dict()) == [(0, 1), (1, 2), (2, 3)]
    assert hw.edge_betweenness_centrality(Graph.from_edges([], [], n=2)).to_dict() == {}


def test_a_sampled_histogram_bounds_what_it_did_not_meet() -> None:
    tail = hw.Graph.from_edges([*[0] * 400, 400, 401, 402], [*range(1, 401), 401, 402, 403])  # a star with a tail
    exact = hw.distance_histogram(tail)
    assert exact.beyond == 0.0 and len(exact.counts) == 6
    for seed in range(20):
        found = hw.distance_histogram(tail, k=5, seed=seed)
        assert found.bounds is not None and found.beyond > 0
        size = len(found.counts)
        missed = exact.counts[size:].sum()
        assert missed <= found.beyond
        assert (np.abs(exact.counts[:size] - found.counts) <= found.bounds).all()
    assert hw.distance_histogram(PATH, k=4).beyond == 0.0


# ---------------------------------------------------------------- files


def npz(path: Path, **changed: Any) -> Path:
    """An archive of a small graph with some entries replaced: by arrays, or by raw bytes."""
    arrays = {"hopwave": 3, "directed": True, "indptr": [0, 1, 1], "indices": [1]} | changed
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in arrays.items():
            stream = io.BytesIO()
            if not isinstance(value, bytes):
                np.lib.format.write_array(stream, np.asarray(value))
            archive.writestr(f"{name}.npy", value if isinstance(value, bytes) else stream.getvalue())
    return path


def header(text: str) -> bytes:
    """An .npy array whose header is `text`."""
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def test_labels_of_no_characters_take_no_memory(tmp_path: Path) -> None:
    """This file of 1 kB took gigabytes: a billion texts of no bytes each."""
    text = "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000,), }\n"
    path = npz(tmp_path / "a.npz", labels=header(text))
    with pytest.raises(FormatError, match=r"labels.npy' declares 1,000,000,000 bytes"):
        hw.read(path)
    assert hw.read(path, labels=False).n == 2


def test_entries_that_are_not_needed_are_not_read(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", labels=b"no array", more=b"no array")
    assert hw.read(path, labels=False).m == 1
    path = npz(tmp_path / "b.npz", weights=b"no array")
    assert hw.read(path, weights=False).m == 1
    with pytest.raises(FormatError, match="weights"):
        hw.read(path)


HEADERS = (
    "{'descr': '<i4', 'fortran_order': False, 'shape': (1,",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }}",
    "{'descr': '<i4', 'fortran_order': False, 'shape': ((((((1,), }",
    "'''",
    "(",
    "\x00\x00",
    "{'descr': [('a',", "{'descr': '|V0', 'fortran_order': False, 'shape': (3,), }\n",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (-1,), }\n",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (10**9,), }\n",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (9999999999999999999999,), }\n",
    "{'descr': '<M8[D]', 'fortran_order': False, 'shape': (1,), }\n" + "\x00" * 8,
    "{'descr': '" + "(" * 300 + "', 'fortran_order': False, 'shape': (1,), }\n",
)  # fmt: skip


@in_one_test("text", HEADERS)
def test_damaged_headers_are_errors_of_ours(tmp_path: Path, text: str) -> None:
    for name in ("indices", "indptr", "hopwave", "directed"):
        with pytest.raises(FormatError):
            hw.read(npz(tmp_path / "a.npz", **{name: header(text)}))
    given = {"k": 3, "seed": 1, "checkpoint": tmp_path / "c.npz", "device": "cpu"}
    (tmp_path / "c.npz").unlink(missing_ok=True)
    hw.betweenness_centrality(hw.generate.grid(3, 3), **given)  # type: ignore[arg-type]
    with zipfile.ZipFile(tmp_path / "c.npz") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    for name in ("total.npy", "format.npy", "done.npy"):
        with zipfile.ZipFile(tmp_path / "c.npz", "w") as archive:
            for entry, data in entries.items():
                archive.writestr(entry, header(text) if entry == name else data)
        with pytest.raises(FormatError, match="expected a checkpoint of a betweenness run"):
            hw.betweenness_centrality(hw.generate.grid(3, 3), **given)  # type: ignore[arg-type]


def test_counts_beyond_64_bits_in_a_header(tmp_path: Path) -> None:
    for head in (b"2 1 10 100000000000000000000", b"2 1 011 99999999999999999999", b"2 1 010 5000000"):
        (tmp_path / "a.graph").write_bytes(head + b"\n1 2\n1 1\n")
        with pytest.raises(FormatError, match="ncon is"):
            hw.read(tmp_path / "a.graph")


KILLED = """
import os, sys
from hopwave.system.files import replacing
with replacing(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files cannot be locked there")
@pytest.mark.slow
def test_the_temporary_file_of_a_killed_process_is_removed_by_the_next_write(tmp_path: Path) -> None:
    target, other = tmp_path / "graph[1].txt", tmp_path / "graph.txt"
    for path in (target, other):
        subprocess.run([sys.executable, "-c", KILLED, str(path)], timeout=60, check=False)
    assert len(list(tmp_path.glob(".*.part"))) == 2
    with replacing(target) as stream:
        stream.write(b"whole")
        assert len(list(tmp_path.glob(".*.part"))) == 2  # the other file's, and ours
        with replacing(target) as another:  # at the same time: neither may take the other's file for a stray
            another.write(b"first")
        assert target.read_bytes() == b"first"
    assert target.read_bytes() == b"whole"
    assert [path.name.startswith(".graph.txt.") for path in tmp_path.glob(".*.part")] == [True]


def test_numbers_of_any_type_and_size_are_taken_as_numbers() -> None:
    """There is no compiled code for float32; and a k above n means all vertices."""
    graph = hw.Graph.from_edges([0, 1], [1, 2], weights=[1.5, 2.0])
    assert hw.sssp(graph, 0, delta=np.float32(0.5)).distances.tolist() == [0.0, 1.5, 3.5]
    assert hw.nearest(graph, 0, k=2**70) == {0: 0.0, 1: 1.5, 2: 3.5}


# ---------------------------------------------------------------- parallel arcs, and weights of both directions


def test_parallel_arcs_are_one_neighbour_and_one_step() -> None:
    doubled = Graph.from_edges([0, 0, 1], [1, 1, 2], repeats="keep", weights=[1.0, 1.0, 1.0])
    assert hw.core_numbers(doubled).scores.tolist() == [1, 1, 1]
    assert list(hw.all_shortest_paths(doubled, 0, 2, weights=True)) == [[0, 1, 2]]


def test_weights_of_an_arranged_graph_are_the_same_in_both_directions() -> None:
    arranged = hw.generate.path(3).arranged()
    assert arranged.indices.tolist() == [1, 0, 2, 1]
    assert arranged.with_weights([5, 5, 7, 7]).weights.tolist() == [5, 5, 7, 7]


def test_where_no_weight_is_above_zero_nobody_is_a_hub() -> None:
    for normalized in (True, False):
        hubs, authorities = hw.hits(Graph.from_edges([0, 1], [1, 2], weights=[0.0, 0.0]), normalized=normalized)
        assert hubs.scores.tolist() == authorities.scores.tolist() == [0, 0, 0]
