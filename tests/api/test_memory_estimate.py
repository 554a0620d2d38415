"""Memory estimates: compared with what a process takes and what the models count; and what is refused."""

from __future__ import annotations

import inspect
import os
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks.graphs import memory as measured

import hopwave as hw
from hopwave.api import choice
from hopwave.engines.cpu import footprint as on_cpu
from hopwave.engines.cpu.graph import CpuGraph
from hopwave.engines.cpu.views import HUGE_PAGE
from hopwave.engines.cuda import footprint as on_cuda
from hopwave.engines.ledger import Ask, Ledger, Shape
from hopwave.graph.arrays import arc_tails

MESH = Shape(10**6, 4 * 10**6, False, depth=2000, greatest=4)
ASKED = ("bfs", "components", "pagerank", "sssp_many, every arc 1, 8 sources", "edge betweenness, 8 sources")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of resident memory is read from /proc")
def test_the_peak_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """benchmarks/results/memory-cpu.md has all questions; here are some that take a second.

    Where an array's last page of 2 MB begins is chance, and these graphs are small: so one page more or less passes.
    """
    monkeypatch.setenv("HOPWAVE_NUM_THREADS", "2")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    graph = hw.generate.kronecker(17, 8, seed=1)
    peaks = measured.in_a_process(graph, list(ASKED))
    for name in ASKED:
        what, options = measured.asks(graph)[name]
        said = int(hw.estimate_memory(measured.fresh(graph, options), what, device="cpu", **options))
        assert abs(said - peaks[name]) < 0.15 * peaks[name] + HUGE_PAGE, (name, said, peaks[name])


@pytest.mark.parametrize("directed, arcs, each", [(False, 300_000, 15), (False, 300_000, 37), (True, 150_000, 44)])
def test_small_graphs_are_sorted_by_numpy_until_scipy_is_loaded(
    directed: bool, arcs: int, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scipy.sparse

    assert scipy.sparse
    if each != 15:
        monkeypatch.delitem(sys.modules, "scipy.sparse")
    said = hw.estimate_memory((30_000, 150_000), "from_edges", device="cpu", directed=directed)
    assert int(said) == each * arcs


def test_ties_are_those_of_the_sources_asked_for() -> None:
    """From a hub there are far fewer, and most are at other hubs: a sample of vertices has too few of them."""
    from hopwave.api.memory_estimate import _offers

    graph = measured.fresh(hw.generate.kronecker(13, 11, seed=28), {"weights": True})
    for source in np.flatnonzero(graph.degrees == 3)[:3].tolist():
        far = hw.sssp(graph, source, device="cpu").distances
        entries = ties = 0
        for v in np.flatnonzero(np.isfinite(far)).tolist():
            row, nearest = slice(graph.indptr[v], graph.indptr[v + 1]), np.inf
            lengths = graph.weights[row]
            for place in np.argsort(far[graph.indices[row]], kind="stable"):
                offer = far[graph.indices[row][place]] + lengths[place]
                if far[graph.indices[row][place]] > far[v]:
                    break
                entries, ties = entries + (offer < nearest), ties + (offer == nearest)
                nearest = min(nearest, offer)
        said = _offers(graph, source)[::2]
        assert said == pytest.approx((entries / graph.n, ties / graph.m), rel=0.2), source


def test_questions_are_those_of_both_devices_and_are_functions() -> None:
    from hopwave.api.memory_estimate import OPTIONS, WHAT

    assert set(WHAT) == set(on_cpu.QUESTIONS) == set(on_cuda.QUESTIONS)
    for name in WHAT:
        function = hw.Graph.from_edges if name == "from_edges" else getattr(hw, name)
        assert set(OPTIONS[name]) <= set(inspect.signature(function).parameters)


@pytest.mark.parametrize("what", on_cpu.QUESTIONS)
@pytest.mark.parametrize("model", [on_cpu, on_cuda], ids=["cpu", "cuda"])
def test_a_graph_ten_times_as_large_takes_ten_times_as_much(model: Any, what: str) -> None:
    ask = Ask(what, sources=64, edges=what.startswith("edge"), weighted=what == "sssp_many", threads=None)
    small, large = (model.footprint(shape, ask).peak for shape in (MESH, replace(MESH, n=10**7, m=4 * 10**7)))
    assert 4 < large / small < 12  # small graphs are sorted at once, large ones in parts


def test_estimates_are_what_was_measured_on_an_h200() -> None:
    """From a run on an H200: benchmarks/results/memory-cuda.md, kron17."""
    kron = Shape(131_072, 3_728_705, False, depth=6, greatest=20_000)
    assert on_cuda.footprint(kron, Ask("bfs")).peak == pytest.approx(91.7e6, rel=0.02)
    batch = Ask("betweenness_centrality", sources=64)
    assert on_cuda.footprint(kron, batch).peak == pytest.approx(183.3e6, rel=0.05)


def test_what_is_dropped_does_not_count_at_the_peak() -> None:
    run = Ledger()
    run.take("a", 5)
    run.passing("b", 7)
    run.take("c", 6)
    run.take("nothing", 0)
    assert (run.peak, run.at_peak, run.held) == (12, {"a": 5, "b": 7}, {"a": 5, "c": 6})


def test_less_may_be_used() -> None:
    """With memory_limit= there are fewer workers, and smaller batches."""
    for model, shape in ((on_cpu, MESH), (on_cuda, Shape(131_072, 3_728_705, False, depth=6))):
        whole, little = (
            model.footprint(
                shape, Ask("betweenness_centrality", 64, threads=8 if model is on_cpu else None, memory_limit=m)
            )
            for m in (None, 90_000_000)
        )
        assert little.peak < whole.peak


def test_an_estimate_says_what_is_held() -> None:
    graph = hw.generate.grid(300, 300)
    said = hw.estimate_memory(graph, hw.bfs_many, sources=range(100), device="cpu")
    assert int(said) == said.bytes == sum(said.parts.values()) and said.what == "bfs_many"
    assert said.parts["table of distances"] == 4 * 100 * graph.n and next(iter(said.parts)) == "table of distances"
    assert said.fits and "bfs_many on the CPU" in str(said) and "table of distances" in said._repr_html_()
    assert not replace(said, free=100).fits


def test_a_table_of_lengths_is_counted_whichever_lengths_they_are() -> None:
    """Hops are found as int32 and returned as float64; without weights= the graph's own weights are used."""
    graph, sources = hw.generate.grid(300, 300), range(50)
    hops = hw.estimate_memory(graph, "sssp_many", sources=sources, device="cpu")
    assert hops.bytes > 13 * len(sources) * graph.n and hops.parts["table of distances"] == 4 * len(sources) * graph.n
    for device in ("cpu", "cuda"):
        own = graph.with_weights(np.ones(graph.m))
        said, named = (
            hw.estimate_memory(own, "sssp_many", sources=sources, device=device, weights=weights)
            for weights in (None, True)
        )
        assert said.bytes == named.bytes and said.parts["table of distances"] == 8 * len(sources) * graph.n


def test_short_arcs_are_those_that_a_search_copies() -> None:
    """The shortest eighth of different lengths; of seven whole lengths none is below the eighth."""
    graph = hw.generate.kronecker(12, 16, seed=1)
    between = np.minimum(arc_tails(graph), graph.indices) * graph.n + np.maximum(arc_tails(graph), graph.indices)
    found = []
    for lengths in (1.0 + between % 7, 1.0 + between % 1009 / 1009):
        roads, sources = graph.with_weights(lengths), list(range(8))
        said = hw.estimate_memory(roads, "sssp_many", sources=sources, weights=True, device="cpu")
        hw.sssp_many(roads, sources, weights=True, device="cpu")
        copied = sum(array.nbytes for array in roads._prepared.find(CpuGraph).short_arcs(1)[0])  # type: ignore[union-attr]
        assert said.parts["short arcs"] == pytest.approx(copied, rel=0.1)
        found.append(copied)
    assert found[1] > 4 * found[0]


def test_a_table_has_the_columns_of_its_targets_alone() -> None:
    graph, rows = hw.generate.grid(300, 300), range(50)
    lengths = graph.with_weights(np.ones(graph.m))
    for device in ("cpu", "cuda"):
        few, many = (
            hw.estimate_memory(lengths, "distance_table", sources=rows, targets=range(count), device=device).bytes
            for count in (100, 90_000)
        )
        assert many - few == pytest.approx(8 * 50 * 89_900, rel=0.02)
    assert (
        hw.estimate_memory(lengths, "distance_table", sources=rows, targets=[0, 0, 1], device="cpu").parts[
            "table of distances"
        ]
        == 8 * 50 * 2
    )
    hops = hw.estimate_memory(graph, "distance_table", sources=rows, device="cpu")
    assert hops.parts["the whole table"] == hops.parts["table of distances"] == 4 * 50 * graph.n


def test_sums_of_values_by_columns_and_limits() -> None:
    graph = hw.generate.grid(300, 300)
    graph = graph.with_weights(np.ones(graph.m))
    one, more = (
        hw.estimate_memory(graph, hw.accessibility, values=np.ones((graph.n, c)), limit=limits, device="cpu")
        for c, limits in ((1, 5), (3, [5, 7]))
    )
    assert one.parts["sums of sources"] == 32 * graph.n
    assert one.parts["values"] == 8 * graph.n * (2 + 2 + 2) and more.parts["values"] == 8 * graph.n * (4 + 4 + 8)
    far = hw.estimate_memory(graph, "accessibility", device="cpu")  # searches without a limit fill their arrays
    assert far.parts["workers"] > 1.2 * one.parts["workers"]


def test_few_sources_fill_a_part_of_what_edges_keep() -> None:
    """Rows of 16 sources are allocated, and pages that nobody writes to take no memory."""
    graph = hw.generate.smallworld(1 << 17, 10, 0.1, seed=1)
    said = [
        hw.estimate_memory(graph, "edge_betweenness_centrality", sources=range(count), device="cpu").bytes
        for count in (2, 16, 40)
    ]
    assert said[0] < 0.8 * said[1]
    assert said[1] == said[2]


def test_refused() -> None:
    graph = hw.generate.path(5)
    with pytest.raises(hw.GraphError, match="no memory is known of 'diameter'; use one of 'bfs'"):
        hw.estimate_memory(graph, "diameter")
    with pytest.raises(hw.GraphError, match=r"for 'from_edges' give \(vertices, edges\)"):
        hw.estimate_memory(graph, "from_edges")
    for what, plan in (("bfs", "xbfs"), ("betweenness_centrality", "turbobc-sccsc")):
        with pytest.raises(hw.GraphError, match=f"no memory is known of {what} by plan '{plan}'"):
            hw.estimate_memory(graph, what, plan=plan)
    assert hw.estimate_memory(graph, "betweenness_centrality", plan="hopwave-block", device="cpu").bytes > 0
    for what, given in (("bfs", {"k": 3}), ("pagerank", {"threads": 2}), ("sssp", {"predecessors": False})):
        with pytest.raises(hw.GraphError, match=f"{what} has no {next(iter(given))}="):
            hw.estimate_memory(graph, what, device="cpu", **given)
    with pytest.raises(hw.GraphError, match="99"):
        hw.estimate_memory(graph, "bfs", source=99, device="cpu")
    with pytest.raises(hw.GraphError, match="device='tpu' is not known here"):
        hw.estimate_memory(graph, "bfs", device="tpu")


def test_a_graph_that_a_gpu_cannot_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """With device="auto" the CPU takes it; if the GPU is named, the error states the bytes."""
    graph = hw.generate.grid(30, 30)
    monkeypatch.setattr(choice, "has_gpu", lambda: True)
    monkeypatch.setattr(choice, "MIN_ARCS_FOR_GPU", 1)
    monkeypatch.setattr(choice, "free_on_gpu", lambda: 10_000)
    one = choice.search_work(graph, 1)
    # For a graph this small, free memory is not asked for.
    assert choice.choose_device(one, "auto", graph, None) == "cuda"
    monkeypatch.setattr(choice, "MIN_ARCS_TO_ASK", 1)
    assert choice.choose_device(one, "auto", graph, None) == "cpu"
    with pytest.raises(hw.EngineError, match=r"on the GPU needs .* kB and may use 10.00 kB; use device='cpu'"):
        choice.choose_device(one, "cuda", graph, None)
    monkeypatch.setattr(choice, "free_on_gpu", lambda: 10**9)
    assert {choice.choose_device(one, device, graph, None) for device in ("auto", "cuda")} == {"cuda"}


def test_rows_are_compressed_or_stay_on_the_host_if_they_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = hw.generate.kronecker(10, 64)
    monkeypatch.setattr(choice, "has_gpu", lambda: True)
    monkeypatch.setattr("hopwave.engines.cuda.betweenness.run.machine", lambda: None, raising=False)
    monkeypatch.setattr("hopwave.engines.cuda.policy.PACKED_ARCS", (1, 1))  # of a small graph, few are sorted at a time
    free = [10**9]
    monkeypatch.setattr(choice, "free_on_gpu", lambda: free[0])
    plain = hw.estimate_memory(graph, "bfs", device="cuda")
    assert plain.rows == "plain" and plain.host_bytes == 0 and "compressed" not in str(plain)
    free[0] = plain.bytes - 1
    packed = hw.estimate_memory(graph, "bfs", device="cuda")
    assert packed.rows == "compressed" and packed.fits and "its rows are compressed" in str(packed)
    free[0] = packed.bytes - packed.parts["compressed rows"] // 2
    bus = hw.estimate_memory(graph, "bfs", device="cuda")
    assert bus.rows == "across the bus" and bus.fits and bus.host_bytes >= packed.parts["compressed rows"] // 2 - 1
    assert "are read across the bus" in str(bus) and "across the bus" in bus._repr_html_()
    counted = hw.estimate_memory(graph, "bfs", path_counts=True, device="cuda")
    assert counted.rows == "plain" and not counted.fits
    free[0] = plain.bytes - 1
    for what in ("betweenness_centrality", "pagerank"):
        found = hw.estimate_memory(graph, what, device="cuda")
        assert found.rows == "compressed" and "rows" not in found.parts and "compressed rows" in found.parts
    assert hw.estimate_memory(graph, "edge_betweenness_centrality", device="cuda").rows == "plain"
    # A call takes the same way.
    monkeypatch.setattr(choice, "MIN_ARCS_TO_ASK", 1)
    assert choice.why_not_on_gpu(graph, packed=True) is None
    assert "may use" in str(choice.why_not_on_gpu(graph))
    monkeypatch.setattr(choice, "MIN_ARCS_FOR_GPU", 1)
    assert hw.estimate_memory(graph, "bfs").rows == "compressed"
    assert hw.estimate_memory(graph, "bfs", path_counts=True).device == "cpu"


def test_compressed_rows_are_known_to_the_estimate_and_left_alone_by_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph whose rows a GPU has compressed: what does not read them so computes on the CPU."""
    graph = hw.generate.kronecker(10, 64)
    monkeypatch.setattr(choice, "has_gpu", lambda: True)
    monkeypatch.setattr(choice, "free_on_gpu", lambda: 10**10)
    monkeypatch.setattr("hopwave.engines.cuda.betweenness.run.machine", lambda: None, raising=False)
    for least in ("ARCS", "SEARCHED_ARCS", "BETWEENNESS_ARCS"):
        monkeypatch.setattr(choice, f"MIN_{least}_FOR_GPU", 1)

    class CudaGraph:
        compressed = SimpleNamespace(host_bytes=0)

    monkeypatch.setitem(sys.modules, "hopwave.engines.cuda.graph", SimpleNamespace(CudaGraph=CudaGraph))
    plain = hw.estimate_memory(graph, "bfs")
    graph._prepared.keep(CudaGraph())
    packed = hw.estimate_memory(graph, "bfs")
    assert (plain.rows, packed.rows) == ("plain", "compressed") and packed.host_bytes == 0
    CudaGraph.compressed.host_bytes = 1000
    bus = hw.estimate_memory(graph, "bfs")
    assert bus.rows == "across the bus" and (bus.host_bytes, bus.bytes) == (1000, packed.bytes - 1000)
    for packed_too, expected in ((True, "cuda"), (False, "cpu")):
        work = choice.search_work(graph)
        assert choice.choose_device(work, "auto", graph, None, packed_too) == expected
        assert choice.choose_device(work, "cuda", graph, None, packed_too) == "cuda"  # if named, it answers or refuses


def test_the_estimate_is_of_the_device_that_the_call_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Betweenness and one search along weights are worth a GPU sooner than other work on the same graph."""
    graph = hw.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[1.0, 2.0, 3.0])
    monkeypatch.setattr(choice, "has_gpu", lambda: True)
    monkeypatch.setattr("hopwave.api.memory_estimate._estimated", lambda ask, shape, device, graph, beside: device)
    monkeypatch.setattr(choice, "MIN_BETWEENNESS_ARCS_FOR_GPU", 1)
    assert hw.estimate_memory(graph, "betweenness_centrality", weights=False) == "cuda"
    assert hw.estimate_memory(graph, "closeness_centrality", weights=False) == "cpu"
    monkeypatch.setattr(choice, "MIN_ARCS_FOR_GPU", 1)
    assert hw.estimate_memory(graph, "sssp") == "cuda"


def test_vertices_that_are_offered_shorter_ways_are_entered_again() -> None:
    """A star whose arms are joined by a ring: each arm first gets its own length, then a shorter path."""
    from hopwave.api.memory_estimate import _offers

    arms = np.arange(1, 200)
    star = hw.Graph.from_edges(np.zeros(199, int), arms, weights=np.ones(199))
    assert _offers(star, 0)[0] == pytest.approx(1.0, abs=0.01)
    ways = np.concatenate([[1.0], np.full(198, 500.0), np.ones(198)])  # along the ring from arm 1, ever longer
    ring = hw.Graph.from_edges(
        np.concatenate([np.zeros(199, int), arms[:-1]]), np.concatenate([arms, arms[1:]]), weights=ways
    )
    assert _offers(ring, 0)[0] == pytest.approx(2.0, abs=0.05)
    asked: dict[str, Any] = {"what": "betweenness_centrality", "sources": [0], "weights": True, "device": "cpu"}
    said = [hw.estimate_memory(graph, **asked) for graph in (star, ring)]
    assert said[1].parts["workers"] > said[0].parts["workers"]


@pytest.mark.parametrize("kind", ["grid", "kronecker"])
def test_entries_that_wait_at_a_time_are_those_of_the_engine(kind: str) -> None:
    """Searches use entries again: of a grid a small share waits at a time, of a graph with hubs most vertices."""
    from hopwave.api.memory_estimate import _offers
    from hopwave.engines.cpu.many import settling, waiting, weighted
    from hopwave.engines.cpu.policy import length_buckets
    from hopwave.engines.cpu.short_arcs import ShortArcs
    from hopwave.engines.cpu.views import allocate, unsigned_rows

    graph = hw.generate.grid(90, 90) if kind == "grid" else hw.generate.kronecker(12, 8, seed=1)
    graph = measured.fresh(graph, {"weights": True})
    lengths = np.asarray(graph.weights)
    own = weighted.WorkerState(waiting=waiting.new_waiting(graph.m), **allocate(weighted.vertex_arrays(graph.n, True)))
    own.waiting.key[:] = np.nan
    rows = ShortArcs(*unsigned_rows(graph), lengths)
    arcs = settling.Arcs(*rows, *length_buckets(lengths.min(), lengths.max()), rows, settling.ENDLESS)
    source = int(np.argmax(graph.degrees))
    settling.search(arcs, np.full(graph.n, np.inf), own, np.uint32(source), np.inf)
    used = int(np.count_nonzero(~np.isnan(own.waiting.key)))
    assert _offers(graph, source)[1] * graph.n == pytest.approx(used, rel=0.4, abs=0.03 * graph.n)  # of a sample
    assert (used < 0.1 * graph.n) == (kind == "grid")


def test_a_limit_leaves_as_many_workers_as_the_engine_starts() -> None:
    """Each worker takes 56 MB for MESH."""
    one, two = (
        on_cpu.footprint(MESH, Ask("betweenness_centrality", 64, threads=2, memory_limit=limit)).at_peak["workers"]
        for limit in (100_000_000, 150_000_000)
    )
    assert two == 2 * one


def test_the_most_shortest_paths_along_weights() -> None:
    """A chain of k diamonds with equal lengths has 2^k shortest paths; with one way shorter in every diamond, one."""
    from hopwave.api.memory_estimate import _path_bits

    chain = hw.generate.diamonds(40)
    u, v = chain.to_edges()
    assert _path_bits(chain.with_weights(np.ones(chain.m)), 0) == pytest.approx(40)
    lengths = np.ones(len(u))
    lengths[np.unique(u, return_index=True)[1]] = 0.5  # the first listed arc of every vertex
    uneven = hw.Graph.from_edges(u, v, weights=lengths)
    assert _path_bits(uneven, 0) < 40
    assert _path_bits(hw.Graph.from_edges([0, 1], [1, 2], n=4, weights=[1.0, 2.0]), 3) == 0.0  # no arc leads on


def test_what_is_held_while_arcs_become_edges() -> None:
    """Meanwhile workers' arrays stay with the graph, unless they are large or memory is limited."""
    small, large = (Shape(n, 20 * n, False, depth=6, greatest=50) for n in (9_000, 10**7))
    ask = Ask("edge_betweenness_centrality", 64, edges=True, plan="hopwave-block", threads=2)
    kept, limited, dropped = (
        on_cpu.footprint(shape, replace(ask, memory_limit=limit)).at_peak
        for shape, limit in ((small, None), (small, 10**9), (large, None))
    )
    assert "workers" in kept and "edges from arcs" in kept and kept["edges from arcs"] == 20 * small.m
    assert "edges from arcs" not in limited and "edges from arcs" not in dropped
    run = Ledger()
    on_cpu.transpose(run, Shape(1000, 10_000, True), weighted=True)
    assert run.peak == 32 * 10_000 + 8 * 1000


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
    with pytest.raises(hw.GraphError, match="reduce=False"):
        hw.estimate_memory(ring, "bfs", reduce=False)
