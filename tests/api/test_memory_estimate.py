"""Memory estimates: compared with the peak of a process, and with the models' own rules."""

import inspect
import os
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks import memory as measured

import hopwave as hw
from hopwave.api import choice
from hopwave.api.memory_estimate import OPTIONS, on_cpu
from hopwave.engines.cuda.footprint import footprint as on_cuda
from hopwave.engines.ledger import Ask, Parts, Shape

MESH = Shape(10**6, 4 * 10**6, False, depth=2000, greatest=4)
KRON = Shape(131_072, 3_728_705, False, depth=6, greatest=20_000)
ASKED = ("bfs", "components", "pagerank", "sssp_many, every arc 1, 8 sources", "edge betweenness, 8 sources")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of resident memory is read from /proc")
def test_the_peak_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """benchmarks/results/memory.md has all functions; here are some that take a second."""
    monkeypatch.setenv("HOPWAVE_NUM_THREADS", "2")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    graph = hw.generate.kronecker(17, 16, seed=1)
    peaks = measured.in_a_process(graph, list(ASKED))
    for name in ASKED:
        what, options = measured.asks(graph)[name]
        said = int(hw.estimate_memory(measured.fresh(graph, options), what, device="cpu", **options))
        assert abs(said - peaks[name]) < max(0.25 * peaks[name], 16e6), (name, said, peaks[name])


def test_the_options_of_an_estimate_are_those_of_the_function() -> None:
    for name, options in OPTIONS.items():
        function = hw.Graph.from_edges if name == "from_edges" else getattr(hw, name)
        assert set(options) <= set(inspect.signature(function).parameters)


def peak(parts: Parts) -> int:
    return sum(parts.values())


@pytest.mark.parametrize("what", OPTIONS)
@pytest.mark.parametrize("model", [on_cpu, on_cuda], ids=["cpu", "cuda"])
def test_a_graph_ten_times_as_large_takes_ten_times_as_much(model: Any, what: str) -> None:
    ask = Ask(what, sources=64, edges=what.startswith("edge"), weighted=what == "sssp_many", values=1)
    small, large = (peak(model(shape, ask)) for shape in (MESH, replace(MESH, n=10**7, m=4 * 10**7)))
    assert 4 < large / small < 12  # a GPU sorts small graphs at once, large ones in parts


def test_estimates_are_what_was_measured_on_an_h200() -> None:
    """From a run on an H200: benchmarks/results/memory.md, kron17."""
    assert peak(on_cuda(KRON, Ask("bfs"))) == pytest.approx(91.7e6, rel=0.02)
    assert peak(on_cuda(KRON, Ask("betweenness_centrality", sources=64))) == pytest.approx(183.3e6, rel=0.05)


def test_a_limit_leaves_fewer_workers_and_smaller_batches() -> None:
    ask = Ask("betweenness_centrality", 64, workers=8)
    for model, shape in ((on_cpu, MESH), (on_cuda, KRON)):
        whole, little = (peak(model(shape, replace(ask, memory_limit=limit))) for limit in (None, 90_000_000))
        assert little < whole
    one, two = (on_cpu(MESH, replace(ask, memory_limit=limit))["workers"] for limit in (100_000_000, 150_000_000))
    assert two == 2 * one  # each worker may take 57 MB of MESH


def test_an_estimate_says_what_is_held() -> None:
    graph = hw.generate.grid(300, 300)
    said = hw.estimate_memory(graph, hw.bfs_many, sources=range(100), device="cpu")
    assert int(said) == said.bytes == sum(said.parts.values()) and said.what == "bfs_many"
    assert said.parts["table of distances"] == 4 * 100 * graph.n and next(iter(said.parts)) == "table of distances"
    assert said.fits and "bfs_many on the CPU" in str(said) and "table of distances" in said._repr_html_()
    assert not replace(said, free=100).fits


def test_tables_are_counted_by_sources_targets_and_lengths() -> None:
    """Hops are found as int32 and returned as float64; without weights= the graph's own weights are used."""
    graph, rows = hw.generate.grid(300, 300), range(50)
    lengths = graph.with_weights(np.ones(graph.m))

    def said(graph: hw.Graph, what: str, device: str = "cpu", **given: Any) -> Any:
        return hw.estimate_memory(graph, what, sources=rows, device=device, **given)

    hops = said(graph, "sssp_many")
    assert hops.bytes > 13 * 50 * graph.n and hops.parts["table of distances"] == 4 * 50 * graph.n
    hops = said(graph, "distance_table")
    assert hops.parts["the whole table"] == hops.parts["table of distances"] == 4 * 50 * graph.n
    for device in ("cpu", "cuda"):
        own, named = (said(lengths, "sssp_many", device, weights=weights) for weights in (None, True))
        assert own.bytes == named.bytes and own.parts["table of distances"] == 8 * 50 * graph.n
        few, many = (said(lengths, "distance_table", device, targets=range(t)).bytes for t in (100, 90_000))
        assert many - few == pytest.approx(8 * 50 * 89_900, rel=0.02)
    one, more = (
        hw.estimate_memory(lengths, hw.accessibility, values=np.ones((graph.n, c)), limit=limits, device="cpu")
        for c, limits in ((1, 5), (3, [5, 7]))
    )
    assert more.parts["values"] > 2 * one.parts["values"] > 96 * graph.n


@pytest.fixture
def gpu_of(monkeypatch: pytest.MonkeyPatch) -> Any:
    """As if there were a GPU: gpu_of(bytes) says how many bytes are free on it, gpu_of(LEAST=…) sets a threshold."""
    monkeypatch.setattr(choice, "has_gpu", lambda: True)
    monkeypatch.setattr("hopwave.engines.cuda.betweenness.run.machine", lambda: None, raising=False)

    def of(free: int = 10**9, **least: int) -> None:
        monkeypatch.setattr(choice, "free_on_gpu", lambda: free)
        for name, value in least.items():
            monkeypatch.setattr(choice, name, value)

    of()
    return of


def test_a_graph_that_a_gpu_cannot_hold(gpu_of: Any) -> None:
    """With device="auto" the CPU takes it; if the GPU is named, the error states the bytes."""
    graph = hw.generate.grid(30, 30)
    gpu_of(10_000, MIN_ARCS_FOR_GPU=1)
    one = choice.search_work(graph, 1)
    assert choice.choose_device(one, "auto", graph, None) == "cuda"  # so small that free memory is not asked for
    gpu_of(10_000, MIN_ARCS_TO_ASK=1)
    assert choice.choose_device(one, "auto", graph, None) == "cpu"
    with pytest.raises(hw.EngineError, match=r"on the GPU needs .* kB and may use 10.00 kB; use device='cpu'"):
        choice.choose_device(one, "cuda", graph, None)
    gpu_of(10**9)
    assert {choice.choose_device(one, device, graph, None) for device in ("auto", "cuda")} == {"cuda"}


def test_rows_are_compressed_if_they_do_not_fit(gpu_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """tests/engines/cuda/search/test_compressed.py compares with what a GPU does."""
    graph = hw.generate.kronecker(10, 64)
    monkeypatch.setattr("hopwave.engines.cuda.policy.PACKED_ARCS", (1, 1))  # of a small graph, few are sorted at a time
    plain = hw.estimate_memory(graph, "bfs", device="cuda")
    assert plain.rows == "plain" and plain.host_bytes == 0 and "compressed" not in str(plain)
    gpu_of(plain.bytes - 1)
    for what, rows in {"bfs": "compressed", "pagerank": "compressed", "edge_betweenness_centrality": "plain"}.items():
        found = hw.estimate_memory(graph, what, device="cuda")
        assert found.rows == rows and ("compressed rows" in found.parts) == (rows == "compressed")
    gpu_of(plain.bytes - 1, MIN_ARCS_TO_ASK=1, MIN_ARCS_FOR_GPU=1)
    packed = hw.estimate_memory(graph, "bfs")  # a call takes the same way
    assert packed.rows == "compressed" and packed.fits and "its rows are compressed" in str(packed)
    assert choice.why_not_on_gpu(graph, packed=True) is None and "may use" in str(choice.why_not_on_gpu(graph))
    assert hw.estimate_memory(graph, "bfs", path_counts=True).device == "cpu"
    gpu_of(packed.bytes - packed.parts["compressed rows"] // 2)
    bus = hw.estimate_memory(graph, "bfs", device="cuda")
    assert bus.rows == "across the bus" and bus.fits and "are read across the bus" in str(bus)


def test_the_estimate_is_of_the_device_that_the_call_takes(gpu_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Betweenness and one search along weights are worth a GPU sooner than other work on the same graph."""
    graph = hw.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[1.0, 2.0, 3.0])
    monkeypatch.setattr("hopwave.api.memory_estimate._estimated", lambda ask, shape, device, graph, besides: device)
    gpu_of(MIN_BETWEENNESS_ARCS_FOR_GPU=1)
    assert hw.estimate_memory(graph, "betweenness_centrality", weights=False) == "cuda"
    assert hw.estimate_memory(graph, "closeness_centrality", weights=False) == "cpu"
    gpu_of(MIN_ARCS_FOR_GPU=1)
    assert hw.estimate_memory(graph, "sssp") == "cuda"


@pytest.mark.parametrize(
    ("what", "device", "n"),
    [
        ("betweenness_centrality", "cpu", 1000),
        ("betweenness_centrality", "cuda", 70_000),
        ("closeness_centrality", "cpu", 24_000),
    ],
)
def test_reduced_runs_hold_the_core_and_its_rows(what: str, device: str, n: int) -> None:
    ring = hw.generate.cycle(n)
    found, whole = (hw.estimate_memory(ring, what, device=device, reduce=reduce) for reduce in (True, False))
    assert any("the core" in part for part in found.parts) and any("rows" in part for part in found.parts)
    assert not any("the core" in part for part in whole.parts)
