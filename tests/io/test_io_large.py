"""What only large graphs do: archives that are mapped into memory, and text printed and read by compiled code."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

import hopwave as hw
from hopwave import FormatError, Graph, GraphError, generate
from hopwave.io import format as formats
from hopwave.io import lines, metis, npz

PLAIN = generate.kronecker(7).remove_self_loops()
WEIGHTED = PLAIN.with_weights(np.ones(PLAIN.m))
NAMED = Graph.from_edges(["a", "b"], ["c", "é"])
PARALLEL = Graph.from_edges([0, 0, 1], [1, 1, 1], repeats="keep")
NO_EDGES = Graph.from_edges([], [], n=3)
GRAPHS = {"plain": PLAIN, "weighted": WEIGHTED, "named": NAMED, "parallel": PARALLEL, "no edges": NO_EDGES}


# ---------------------------------------------------------------- archives


@pytest.mark.parametrize("name", GRAPHS)
def test_an_archive_is_one_of_numpy_packed_or_not(name: str, tmp_path: Path) -> None:
    graph, file = GRAPHS[name], tmp_path / "g.npz"
    for compress in (False, True):
        hw.write(file, graph, compress=compress)
        assert hw.read(file) == graph
        with np.load(file) as arrays:
            assert np.array_equal(arrays["indptr"], graph.indptr) and np.array_equal(arrays["indices"], graph.indices)
        with zipfile.ZipFile(file) as archive:
            assert archive.testzip() is None
            assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_DEFLATED if compress else 0}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_mapped_graph_is_the_same_and_reads_nothing_before(name: str, tmp_path: Path) -> None:
    graph, file = GRAPHS[name], tmp_path / "g.npz"
    hw.write(file, graph)
    found = hw.read(file, mmap=True)
    assert found == graph and found.has_parallel_arcs == graph.has_parallel_arcs
    if graph.m:
        base = found.indices
        while base.base is not None and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap) and base.ctypes.data % 64 == 0 and not found.indices.flags.writeable
    assert hw.read(file, mmap=True, directed=True).m == graph.m


def test_what_cannot_be_mapped_is_refused(tmp_path: Path) -> None:
    import scipy.sparse as sp

    hw.write(tmp_path / "packed.npz", PLAIN, compress=True)
    hw.write(tmp_path / "g.npz.gz", PLAIN)
    sp.save_npz(tmp_path / "scipy.npz", PLAIN.to_scipy(), compressed=False)
    for name in ("packed.npz", "g.npz.gz", "scipy.npz"):
        with pytest.raises(FormatError, match="leave mmap out"):
            hw.read(tmp_path / name, mmap=True)
        assert hw.read(tmp_path / name) == PLAIN
    hw.write(tmp_path / "w.npz", WEIGHTED)
    with pytest.raises(GraphError, match="leave out one of them"):
        hw.read(tmp_path / "w.npz", mmap=True, combine="sum")
    with pytest.raises(TypeError, match="mmap= is not an option of the format 'matrix-market'"):
        hw.write(tmp_path / "g.mtx", PLAIN)
        hw.read(tmp_path / "g.mtx", mmap=True)


@pytest.mark.parametrize("place", [0, 70, 200, -1])
def test_a_damaged_array_is_noticed(place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is read in one part or in several."""
    graph, file = hw.generate.grid(9, 9), tmp_path / "g.npz"
    hw.write(file, graph, directed=graph.directed)
    data = bytearray(file.read_bytes())
    at = data.index(graph.indices.tobytes()) + (place if place >= 0 else graph.indices.nbytes - 1)
    for size in (npz._PART_BYTES, 64):
        monkeypatch.setattr(npz, "_PART_BYTES", size)
        file.write_bytes(data)
        assert hw.read(file) == graph
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(FormatError, match=r"Bad CRC-32 for file 'indices\.npy'"):
            hw.read(file)
    file.write_bytes(data[:at])
    with pytest.raises(FormatError, match=r"not a complete \.npz archive"):
        hw.read(file, mmap=True)


# ---------------------------------------------------------------- text


def printed(graph: Graph, name: str, folder: Path, patch: pytest.MonkeyPatch, compiled_from: int) -> bytes:
    patch.setattr(formats, "PRINTED_FROM", compiled_from)
    patch.setattr(metis, "PRINTED_FROM", compiled_from)
    hw.write(folder / name, graph, directed=graph.directed)
    return (folder / name).read_bytes()


@pytest.mark.parametrize("name", ["g.mtx", "g.txt", "g.csv", "g.tsv", "g.gr", "g.col", "g.el", "g.wel", "g.graph"])
def test_compiled_printing_writes_the_same_bytes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = generate.smallworld(400, 6, 0.2, seed=1)
    graphs = [] if name == "g.wel" else [graph]
    if name not in ("g.el", "g.col"):
        u, v = graph.to_edges()
        graphs.append(Graph.from_edges(u, v, graph.n, weights=np.arange(1, len(u) + 1) * 1000))
    if name in ("g.mtx", "g.txt", "g.csv", "g.tsv"):
        graphs.append(Graph.from_edges([0, 5], [3, 2], weights=[-(2.0**53), 7], directed=name == "g.mtx"))
    for one in graphs:
        slow = printed(one, name, tmp_path, monkeypatch, 10**9)
        assert printed(one, name, tmp_path, monkeypatch, 0) == slow
        kept = None if name.endswith(("mtx", "gr", "txt", "graph")) else False
        assert hw.read(tmp_path / name, directed=kept) == one


def test_vertices_without_edges_are_read_by_the_scanner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MIN_BYTES_FOR_SCANNER", 0)
    asked: list[bytes] = []
    by_python = lines.Grammar.row
    monkeypatch.setattr(lines.Grammar, "row", lambda self, line: (asked.append(line), by_python(self, line))[1])
    for text in ("source,target,weight\n7,,\n3,5,2.5\n4 , ,\r\n5,7,1e3\n", "source,target\n7,\n3,5\n4 , ,\r\n5,7\n"):
        (tmp_path / "g.csv").write_bytes(text.encode())
        graph = hw.read(tmp_path / "g.csv")
        assert graph.labels is not None and graph.labels.tolist() == [3, 4, 5, 7] and graph.m == 4
        assert not graph.is_weighted or sorted(graph.weights.tolist()) == [2.5, 2.5, 1000, 1000]  # type: ignore[union-attr]
    assert all(line.startswith(b"source") for line in asked), asked


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("first", "words"),
    [("2 5 4 8", None), ("4 8 2 5", None), ("2 5 3 8", "does not list it"), ("1 5 4 8", "lists itself"),
     ("2 5 4 9", "combine=")],
)  # fmt: skip
def test_metis_lists_in_any_order(weighted: bool, first: str, words: str | None, tmp_path: Path) -> None:
    ring = hw.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], weights=[5, 6, 7, 8] if weighted else None)
    file = tmp_path / "g.graph"
    hw.write(file, ring)
    row = [line if weighted else " ".join(line.split()[::2]) for line in ("2 5 4 8", first)]
    file.write_text(file.read_text().replace(*row, 1))
    if words is None or (words == "combine=" and not weighted):
        assert hw.read(file) == ring
    else:
        with pytest.raises(FormatError, match=words):
            hw.read(file)
