"""Arguments that the public functions accept, and the engine that they choose; rejections: tests/rejections."""

from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopwave as hw
from hopwave import EngineError, Graph, engines, generate
from hopwave.api import choice
from hopwave.engines.cuda import Engine as CudaEngine
from hopwave.engines.cuda.policy import pair_bits, words_for
from together import in_one_test

PATH = Graph.from_edges([0, 1, 2], [1, 2, 3], directed=True)
NAMED = Graph.from_edges(["ann", "bob"], ["bob", "cyd"])


def test_every_form_of_sources() -> None:
    for source in ("bob", np.str_("bob"), np.array("bob"), ["bob"], ("bob",), np.array(["bob"]), {"bob"}):
        result = hw.bfs(NAMED, source)
        assert (result.distances.tolist(), result.sources) == ([1, 0, 1], (1,))
    listed = [[0, 3], (0, 3), np.array([0, 3]), pd.Series([0, 3]), range(0, 4, 3), iter([0, 3]), [0, 3, 0, 3]]
    for sources in (*listed, {0: "", 3: ""}):
        result = hw.bfs(generate.path(5), sources)
        assert (result.distances.tolist(), result.sources) == ([0, 1, 1, 0, 1], (0, 3))
    graph = hw.Graph.from_networkx(nx.grid_2d_graph(2, 2))  # labels that look like collections
    assert hw.bfs(graph, (0, 1)).to_dict() == {(0, 0): 1, (0, 1): 0, (1, 0): 2, (1, 1): 1}
    assert hw.bfs(graph, [(0, 1), (1, 0)]).distances.max() == 1
    assert hw.bfs(Graph.from_edges([frozenset({1})], [frozenset({2})]), frozenset({2})).sources == (1,)
    assert Graph.from_edges([0], [1], labels=[False, True]).index(True) == 1


LIMITED = {
    "bfs": lambda limit: hw.bfs(PATH, 0, depth_limit=limit).distances,
    "distance_table": lambda limit: hw.distance_table(PATH, [0], limit=limit).values,
    "nearest_of": lambda limit: hw.nearest_of(PATH, [0], limit=limit).distances,
    "sssp_many": lambda limit: hw.sssp_many(PATH, [0], limit=limit),
    "accessibility": lambda limit: hw.accessibility(PATH, limit=limit).sums,
    "isochrone": lambda limit: hw.isochrone(PATH, 0, limit).vertices(),
    "sssp": lambda limit: hw.sssp(PATH, 0, limit=limit).distances,
    "bfs_many": lambda limit: hw.bfs_many(PATH, [0], depth_limit=limit),
    "k_hop": lambda limit: hw.k_hop(PATH, 0, limit),
    "pairs_within": lambda limit: hw.pairs_within(PATH, limit),
    "betweenness": lambda limit: hw.betweenness_centrality(PATH, cutoff=limit).scores,
    "load": lambda limit: hw.load_centrality(PATH, cutoff=limit).scores,
}


@in_one_test("name", LIMITED)
def test_limits_of_hops_may_be_floats_and_longer_than_any_path(name: str) -> None:
    for limit, same in ((2.0, 2), (np.int8(2), 2), (2**31 - 1, 4), (2**31, 4), (2**63, 4), (10**30, 4)):
        assert np.array_equal(LIMITED[name](limit), LIMITED[name](same)), limit


def test_numbers_of_any_type_and_size_are_taken_as_numbers() -> None:
    """Compiled code has no float32, and a k above n means all vertices."""
    roads = Graph.from_edges([0, 1], [1, 2], weights=[1.5, 2.0])
    assert hw.sssp(roads, 0, delta=np.float32(0.5)).distances.tolist() == [0.0, 1.5, 3.5]
    assert hw.nearest(roads, 0, k=2**70) == {0: 0.0, 1: 1.5, 2: 3.5}
    found = generate.kronecker(np.int8(5), np.uint8(3), seed=np.int32(2))  # type: ignore[arg-type]
    assert found == generate.kronecker(5, 3, seed=2)
    assert generate.grid(np.int8(100), np.int8(3)).n == 300  # type: ignore[arg-type]
    start = hw.linalg.Vector.from_entries([0], True, n=4)
    assert hw.linalg.waves(start, PATH, depth_limit=10**30).levels.to_dense().tolist() == [0, 1, 2, 3]
    assert hw.validate(PATH, 0, [0, 1, 2, 3], depth_limit=10**30).ok


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> CudaEngine:
    """The part of the CUDA engine that works without a GPU."""
    real, cuda = engines.engine, CudaEngine()
    monkeypatch.setattr(choice, "has_gpu", lambda: True)
    monkeypatch.setattr(cuda, "_cooperative", lambda: True)
    monkeypatch.setattr(engines, "engine", lambda name: cuda if name == "cuda" else real(name))
    return cuda


def on_gpu(arcs: int) -> Any:
    """A graph that is on the GPU already, so that it need not fit, with plain rows."""
    prepared = SimpleNamespace(find=lambda kind: None)
    return SimpleNamespace(device="cuda", m=arcs, n=1 << 20, directed=True, _prepared=prepared)


ENRON = 367_662  # arcs of email-Enron


@pytest.mark.parametrize(
    ("weighted", "arcs", "searches", "device"),
    [
        (False, ENRON, 36_692, "cuda"),  # closeness of all vertices
        (False, ENRON, 100, "cpu"),
        (False, ENRON, 1, "cpu"),
        (False, 1 << 20, 1, "cuda"),  # like one search
        (False, 156, 34, "cpu"),
        (False, 1 << 30, 0, "cpu"),  # one path, searched from both ends
        (True, ENRON, 1000, "cuda"),
        (True, ENRON, 100, "cpu"),
        (True, 1 << 24, 1, "cpu"),  # one search is left to the CPU even if the graph is large
        (True, 1 << 24, 16, "cuda"),
    ],
)
def test_auto_takes_the_gpu_for_large_work(
    weighted: bool, arcs: int, searches: int, device: str, cuda: CudaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = on_gpu(arcs)
    for asked, threads, name in (("auto", None, device), ("auto", 2, "cpu"), ("cuda", None, "cuda")):
        assert choice.distance_engine(weighted, asked, graph, threads, searches).name == name
    monkeypatch.setattr(choice, "has_gpu", lambda: False)
    assert choice.distance_engine(weighted, "auto", graph, None, searches).name == "cpu"


def test_operations_that_a_gpu_lacks_run_on_the_cpu(cuda: CudaEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    large = on_gpu(1 << 30)
    for operation in ("sweep", "components", "strong_components"):
        assert choice.engine_for(operation, "auto", large, None).name == "cuda"  # type: ignore[arg-type]
    assert choice.engine_for("local_efficiencies", "auto", large, None).name == "cpu"
    monkeypatch.setattr(cuda, "_cooperative", lambda: False)
    assert choice.engine_for("sweep", "auto", large, None).name == "cpu"
    with pytest.raises(EngineError, match="cannot launch cooperatively"):
        choice.engine_for("sweep", "cuda", large, None)


@given(st.integers(1, 10**6), st.integers(1, 2**31 - 2), st.integers(0, 10**11))
def test_rows_fit_into_the_memory(sources: int, n: int, free: int) -> None:
    words = words_for(sources, n, free)
    assert words == 2 or (24 * words * n <= free and sources > 128)


@given(st.integers(1, 2**31 - 2), st.none() | st.integers(0, 2**40))
def test_a_pair_fits_into_64_bits(n: int, limit: int | None) -> None:
    vertex, depth, width = pair_bits(n, limit, 1024)
    assert 1 <= width <= 1024
    assert n - 1 < 1 << vertex and min(n - 1, n if limit is None else limit) < 1 << depth
    assert (width - 1).bit_length() + depth + vertex <= 64
