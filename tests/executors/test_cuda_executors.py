"""executor= with device="cuda": workers with a GPU give the same bits as one process."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import hopwave as hw
from dealing import Call, answer, noted_deals
from hopwave import EngineError, Graph, generate
from hopwave.algorithms import many_sources
from hopwave.engines.cuda.betweenness import regimes
from hopwave.executors import deal

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

HUBS = generate.barabasi_albert(2000, 8, seed=1)
MESH = generate.delaunay(4000, seed=1)
SMALL = generate.barabasi_albert(200, 3, seed=1)
ONE_WAY = generate.rmat(11, 8, seed=3)
_source, _target = MESH.to_edges()
ROADS = Graph.from_edges(_source, _target, MESH.n, weights=np.random.default_rng(2).random(len(_source)))

BETWEENNESS, EDGES, SOURCES = hw.betweenness_centrality, hw.edge_betweenness_centrality, range(0, 4000, 9)
CALLS: dict[str, Call] = {
    "batches": (BETWEENNESS, HUBS, {"k": 700, "seed": 1, "plan": "hopwave-batch"}),
    "blocks": (BETWEENNESS, MESH, {"plan": "hopwave-block"}),
    "wide": (BETWEENNESS, HUBS, {"k": 4, "seed": 3, "plan": "hopwave-wide"}),
    "one way": (BETWEENNESS, ONE_WAY, {"endpoints": True}),
    "edges": (EDGES, HUBS, {"k": 300, "seed": 1, "deterministic": True}),
    "weights": (BETWEENNESS, ROADS, {"k": 999, "seed": 1, "weights": True}),
    "weighted edges": (EDGES, ROADS, {"k": 500, "seed": 1, "weights": True}),
    "TurboBC": (BETWEENNESS, HUBS, {"k": 20, "seed": 1, "plan": "turbobc-vecsc"}),
    "sampled sources": (BETWEENNESS, HUBS, {"epsilon": 0.1, "method": "sources", "seed": 1}),
    "squares": (BETWEENNESS, SMALL, {"epsilon": 0.3, "method": "sources", "seed": 1, "plan": "turbobc-sccsc"}),
    "sampled paths": (BETWEENNESS, HUBS, {"epsilon": 0.02, "method": "paths", "seed": 1}),
    "harmonic": (hw.harmonic_centrality, ONE_WAY, {}),
    "closeness": (hw.closeness_centrality, ROADS, {"weights": True}),
    "sampled closeness": (hw.closeness_centrality, ROADS, {"k": 999, "seed": 1, "weights": True}),
    "eccentricity": (hw.eccentricity, ROADS, {"weights": True}),
    "histogram": (hw.distance_histogram, HUBS, {}),
    "rows": (hw.bfs_many, MESH, {"sources": SOURCES}),
    "lengths": (hw.sssp_many, ROADS, {"sources": SOURCES}),
    "pairs": (hw.pairs_within, MESH, {"d": 2}),
}


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """Two processes, which share the GPU; on a machine with two GPUs each would have its own."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture
def deals(monkeypatch: pytest.MonkeyPatch) -> list[deal.Deal]:
    """Collects every deal. Blocks are small here, so that there are several."""
    made = noted_deals(monkeypatch)
    monkeypatch.setattr(regimes, "MAX_ROUNDS", 1)
    monkeypatch.setattr(regimes, "MAX_BATCHES", 1)
    monkeypatch.setattr(regimes, "block_size", lambda k, *more: min(k, 300))
    monkeypatch.setattr(many_sources, "block_rows", lambda n, block=0, weighted=False: 300)
    monkeypatch.setattr(deal, "ON_GPU", 1)
    monkeypatch.setattr(deal, "PAIRS", 500)
    return made


@pytest.mark.parametrize("name", CALLS)
def test_threads_give_the_bits_of_one_process(name: str, threads: Executor, deals: list[deal.Deal]) -> None:
    assert answer(CALLS[name], device="cuda") == answer(CALLS[name], device="cuda", executor=threads)
    assert sum(made.dealer.count for made in deals) > 1  # blocks


def test_processes_give_the_bits_of_one(processes: Executor, deals: list[deal.Deal]) -> None:
    """One of each kind of block, all in one test, so that the processes compile and load only once."""
    for name in ("batches", "weights", "sampled paths", "harmonic", "rows"):
        deals.clear()
        same = answer(CALLS[name], device="cuda") == answer(CALLS[name], device="cuda", executor=processes)
        blocks, graphs = sum(made.dealer.count for made in deals), sum(made.sent.graphs for made in deals)
        assert same and blocks >= 2 and graphs <= 4, name  # one graph per process, and sometimes one more


def test_results_of_a_gpu_graph_are_on_the_gpu(threads: Executor, processes: Executor, deals: list[deal.Deal]) -> None:
    import cupy

    hubs, one_way = (
        Graph.from_edges(*map(cupy.asarray, graph.to_edges()), graph.n, directed=graph.directed)
        for graph in (HUBS, ONE_WAY)
    )
    assert hubs.device == one_way.device == "cuda"
    for call in (
        lambda **how: BETWEENNESS(hubs, k=300, seed=1, device="cuda", **how).scores,
        lambda **how: hw.bfs_many(hubs, range(200), device="cuda", **how),
        lambda **how: hw.bfs_many(one_way, range(200), direction="in", device="cuda", **how),
        lambda **how: hw.harmonic_centrality(hubs, device="cuda", **how).scores,
    ):
        expected, *found = (call(executor=workers) for workers in (None, threads, processes))
        assert {type(one) for one in found} == {type(expected)} == {cupy.ndarray}
        assert {one.get().tobytes() for one in found} == {expected.get().tobytes()}


@pytest.mark.filterwarnings("ignore")  # the warning about forking a process with threads
@pytest.mark.parametrize("name", ["wide", "harmonic", "sampled paths"])
def test_a_forked_process_says_that_it_cannot(name: str, deals: list[deal.Deal]) -> None:
    answer(CALLS[name], device="cuda")
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool,
        pytest.raises(EngineError, match=r"forked from one that had started CUDA.*get_context\('spawn'\)"),
    ):
        answer(CALLS[name], device="cuda", executor=pool)
