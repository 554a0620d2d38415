"""What only large graphs do: archives that are mapped into memory, and text printed and read by compiled code."""

import os
import pickle
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import hopwave as hw
from hopwave import FormatError, Graph, GraphError, generate
from hopwave.io import format as formats
from hopwave.io import npz, suites
from together import started

PLAIN = generate.kronecker(7).remove_self_loops()
WEIGHTED = PLAIN.with_weights(np.ones(PLAIN.m))
NAMED = Graph.from_edges(["a", "b"], ["c", "é"])
PARALLEL = Graph.from_edges([0, 0, 1], [1, 1, 1], repeats="keep")
NO_EDGES = Graph.from_edges([], [], n=3)
GRAPHS = {"plain": PLAIN, "weighted": WEIGHTED, "named": NAMED, "parallel": PARALLEL, "no edges": NO_EDGES}


# ---------------------------------------------------------------- archives


@pytest.mark.parametrize("name", GRAPHS)
def test_an_archive_is_one_of_numpy_packed_mapped_or_neither(name: str, tmp_path: Path) -> None:
    graph, file = GRAPHS[name], tmp_path / "g.npz"
    for compress in (True, False):
        hw.write(file, graph, compress=compress)
        assert hw.read(file) == graph
        with np.load(file) as arrays:
            assert np.array_equal(arrays["indptr"], graph.indptr) and np.array_equal(arrays["indices"], graph.indices)
        with zipfile.ZipFile(file) as archive:
            assert archive.testzip() is None
            assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_DEFLATED if compress else 0}
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
        with pytest.raises(FormatError, match="omit mmap="):
            hw.read(tmp_path / name, mmap=True)
        assert hw.read(tmp_path / name) == PLAIN
    hw.write(tmp_path / "w.npz", WEIGHTED)
    with pytest.raises(GraphError, match="omit one of them"):
        hw.read(tmp_path / "w.npz", mmap=True, combine="sum")


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


# ---------------------------------------------------------------- archives that are mapped

WEIGHTS = np.random.default_rng(3).integers(1, 9, 400)
ENDS = np.random.default_rng(4).integers(0, 60, (2, 400))


def graph_of(directed: bool, weighted: bool) -> Graph:
    return Graph.from_edges(
        *ENDS, n=60, directed=directed, weights=WEIGHTS if weighted else None, combine="min" if weighted else None
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_a_mapped_graph_travels_as_its_place(directed: bool, weighted: bool, tmp_path: Path) -> None:
    graph, file = graph_of(directed, weighted), tmp_path / "g.npz"
    hw.write(file, graph, reverses=True)
    mapped = hw.read(file, mmap=True)
    sent = pickle.dumps(mapped)
    assert len(sent) < 1500 < len(pickle.dumps(graph))
    found = pickle.loads(sent)
    assert found == graph and found.is_mapped and mapped.is_mapped and not graph.is_mapped
    assert np.array_equal(found.in_indices, graph.in_indices) and np.array_equal(found.in_indptr, graph.in_indptr)
    if weighted:
        assert np.array_equal(found.in_weights, graph.in_weights)
    with pytest.raises(ValueError, match="read-only"):
        found.indices[0] = 1


def test_reverses_are_mapped_and_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, file = graph_of(True, False), tmp_path / "g.npz"
    hw.write(file, graph, reverses=True)
    distance = hw.bfs(graph, 0).distances
    monkeypatch.setattr("hopwave.graph.arrays.transposed", None)  # to make them would now be an error
    assert np.array_equal(hw.bfs(hw.read(file, mmap=True), 0).distances, distance)
    wrong = {"in_indptr": graph.in_indptr, "in_indices": graph.in_indices[1:]}
    np.savez(file, hopwave=3, directed=True, indptr=graph.indptr, indices=graph.indices, **wrong)
    with pytest.raises(FormatError, match="not the transpose"):
        hw.read(file, mmap=True)


def test_a_file_that_changed_or_went_away(tmp_path: Path) -> None:
    graph, file = graph_of(False, False), tmp_path / "g.npz"
    hw.write(file, graph)
    mapped = hw.read(file, mmap=True)
    sent = pickle.dumps(mapped)
    os.utime(file, ns=(1, 1))
    with pytest.raises(GraphError, match="has changed since the graph was"):
        pickle.loads(sent)
    file.unlink()
    with pytest.raises(GraphError, match="move the file where all processes can read it"):
        pickle.loads(sent)
    # The pages are still there for the process that mapped them: it sends them as they are.
    assert pickle.loads(pickle.dumps(mapped)) == graph


LITTLE_MEMORY = """
import re, resource, sys, numpy as np, hopwave as hw

def run(graph):
    searches = [int(hw.bfs(graph, source, device="cpu", threads=2).distances.sum()) for source in range(20)]
    parts = hw.weakly_connected_components(graph, device="cpu").count
    return searches, parts, round(float(hw.pagerank(graph, device="cpu").scores.max()), 9)

small = hw.generate.kronecker(16, 16, seed=1)
run(hw.Graph.from_csr(small.indptr, small.indices))  # loads all code
used = int(re.search(r"VmData:\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (used + (16 << 20),) * 2)
graph = hw.read(sys.argv[1], mmap=True)
assert graph.is_mapped and graph.indices.nbytes > 40 << 20, graph.indices.nbytes
print(run(graph))
try:
    graph.indices.copy()
except MemoryError:
    print("no memory for a copy")
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads what a process uses from /proc")
@pytest.mark.filterwarnings("ignore:PageRank stopped")
@pytest.mark.slow
def test_a_graph_of_twice_the_memory_allowed(tmp_path: Path) -> None:
    """A limit on private memory of half the graph: what is mapped is not private, a copy would be."""
    rng, n = np.random.default_rng(5), 1 << 14
    # Rows of 650 neighbours and a few hubs, as Graph.from_edges would make them.
    degree = np.full(n, 650)
    degree[:32] = 14_000
    indptr = np.concatenate([[0], np.cumsum(degree)]).astype(np.int32)
    step = np.repeat(n // degree, degree)
    place = np.arange(indptr[-1]) - np.repeat(indptr[:-1], degree)
    indices = np.minimum(place * step + rng.integers(0, 2, len(place)) * (step > 1), n - 1).astype(np.int32)
    big = Graph.from_csr(indptr, indices, directed=True)
    hw.write(tmp_path / "g.npz", big, reverses=True)
    code, out, err = started(sys.executable, "-c", LITTLE_MEMORY, str(tmp_path / "g.npz"), HOPWAVE_PROGRESS="0")
    assert code == 0, err
    searches = [int(hw.bfs(big, source, device="cpu").distances.sum()) for source in range(20)]
    right = searches, 1, round(float(hw.pagerank(big, device="cpu").scores.max()), 9)
    assert out.splitlines() == [str(right), "no memory for a copy"]


# ---------------------------------------------------------------- text


def printed(graph: Graph, name: str, folder: Path, patch: pytest.MonkeyPatch, compiled_from: int) -> bytes:
    patch.setattr(formats, "PRINTED_FROM", compiled_from)
    patch.setattr(suites, "PRINTED_FROM", compiled_from)
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
