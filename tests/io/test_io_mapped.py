"""Graphs that stay in a file: run without a copy, shared by processes, larger than the memory allowed."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import hopwave as hw
from hopwave.errors import FormatError, GraphError

WEIGHTS = np.random.default_rng(3).integers(1, 9, 400)
ENDS = np.random.default_rng(4).integers(0, 60, (2, 400))


def graph_of(directed: bool, weighted: bool) -> hw.Graph:
    return hw.Graph.from_edges(
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


def test_reverses_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    graph, file = graph_of(True, False), tmp_path / "g.npz"
    np.savez(
        file, hopwave=3, directed=True, indptr=graph.indptr, indices=graph.indices,
        in_indptr=graph.in_indptr, in_indices=graph.in_indices[1:],
    )  # fmt: skip
    with pytest.raises(FormatError, match="not the reverses of the arcs"):
        hw.read(file, mmap=True)


def test_a_file_that_changed_or_went_away(tmp_path: Path) -> None:
    graph, file = graph_of(False, False), tmp_path / "g.npz"
    hw.write(file, graph)
    mapped = hw.read(file, mmap=True)
    sent = pickle.dumps(mapped)
    os.utime(file, ns=(1, 1))
    with pytest.raises(GraphError, match="changed after the graph was mapped"):
        pickle.loads(sent)
    file.unlink()
    with pytest.raises(GraphError, match="put the file where all processes see it"):
        pickle.loads(sent)
    # The pages are still there for the process that mapped them: it sends them as they are.
    assert pickle.loads(pickle.dumps(mapped)) == graph


def test_workers_map_the_file_too(tmp_path: Path) -> None:
    graph, file = graph_of(False, False), tmp_path / "g.npz"
    hw.write(file, graph)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = hw.betweenness_centrality(hw.read(file, mmap=True), executor=pool, device="cpu")
    assert np.allclose(found.scores, hw.betweenness_centrality(graph, device="cpu").scores, rtol=1e-12)


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
    big = hw.Graph.from_csr(indptr, indices, directed=True)
    hw.write(tmp_path / "g.npz", big, reverses=True)
    code = [sys.executable, "-c", LITTLE_MEMORY, str(tmp_path / "g.npz")]
    done = subprocess.run(code, capture_output=True, text=True, env={**os.environ, "HOPWAVE_PROGRESS": "0"})
    assert done.returncode == 0, done.stderr
    searches = [int(hw.bfs(big, source, device="cpu").distances.sum()) for source in range(20)]
    right = searches, 1, round(float(hw.pagerank(big, device="cpu").scores.max()), 9)
    assert done.stdout.splitlines() == [str(right), "no memory for a copy"]
