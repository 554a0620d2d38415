"""executor= with device="cuda": workers with a GPU give the same bits as one process."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from dealing import noted_deals
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

CALLS: dict[str, Callable[..., Any]] = {
    "batches": lambda **how: hw.betweenness_centrality(HUBS, k=700, seed=1, plan="hopwave-batch", **how).scores,
    "blocks": lambda **how: hw.betweenness_centrality(MESH, plan="hopwave-block", **how).scores,
    "wide": lambda **how: hw.betweenness_centrality(HUBS, k=4, seed=3, plan="hopwave-wide", **how).scores,
    "one way": lambda **how: hw.betweenness_centrality(ONE_WAY, endpoints=True, **how).scores,
    "edges": lambda **how: hw.edge_betweenness_centrality(HUBS, k=300, seed=1, deterministic=True, **how).scores,
    "weights": lambda **how: hw.betweenness_centrality(ROADS, k=999, seed=1, weights=True, **how).scores,
    "weighted edges": lambda **how: hw.edge_betweenness_centrality(ROADS, k=500, seed=1, weights=True, **how).scores,
    "TurboBC": lambda **how: hw.betweenness_centrality(HUBS, k=20, seed=1, plan="turbobc-vecsc", **how).scores,
    "sampled sources": lambda **how: (
        hw.betweenness_centrality(HUBS, epsilon=0.1, method="sources", seed=1, **how).bounds
    ),
    "TurboBC's squares": lambda **how: (
        hw.betweenness_centrality(SMALL, epsilon=0.3, method="sources", seed=1, plan="turbobc-sccsc", **how).bounds
    ),
    "sampled paths": lambda **how: hw.betweenness_centrality(HUBS, epsilon=0.02, method="paths", seed=1, **how).scores,
    "harmonic": lambda **how: hw.harmonic_centrality(ONE_WAY, **how).scores,
    "closeness": lambda **how: hw.closeness_centrality(ROADS, weights=True, **how).scores,
    "sampled closeness": lambda **how: hw.closeness_centrality(ROADS, k=999, seed=1, weights=True, **how).scores,
    "eccentricity": lambda **how: hw.eccentricity(ROADS, weights=True, **how).scores,
    "histogram": lambda **how: hw.distance_histogram(HUBS, **how).counts,
    "rows": lambda **how: hw.bfs_many(MESH, range(0, 4000, 9), **how),
    "lengths": lambda **how: hw.sssp_many(ROADS, range(0, 4000, 9), **how),
    "pairs": lambda **how: np.stack(hw.pairs_within(MESH, 2, **how)),
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
    alone, dealt = CALLS[name](device="cuda"), CALLS[name](device="cuda", executor=threads)
    assert (alone.dtype, alone.tobytes()) == (dealt.dtype, dealt.tobytes())
    assert sum(made.dealer.count for made in deals) > 1  # blocks


def test_processes_give_the_bits_of_one(processes: Executor, deals: list[deal.Deal]) -> None:
    """One of each kind of block, all in one test, so that the processes compile and load only once."""
    wrong: dict[str, Any] = {}
    for name in ("batches", "weights", "sampled paths", "harmonic", "rows"):
        deals.clear()
        alone, dealt = CALLS[name](device="cuda"), CALLS[name](device="cuda", executor=processes)
        blocks, graphs = sum(made.dealer.count for made in deals), sum(made.sent.graphs for made in deals)
        same = (alone.dtype, alone.tobytes()) == (dealt.dtype, dealt.tobytes())
        if not same or blocks < 2 or graphs > 4:  # one graph per process, and sometimes one more
            wrong[name] = same, blocks, graphs
    assert wrong == {}


def on_gpu(graph: Graph) -> Graph:
    """The graph, made of CuPy arrays."""
    import cupy

    source, target = (cupy.asarray(column) for column in graph.to_edges())
    made = Graph.from_edges(source, target, graph.n, directed=graph.directed)
    assert made.device == "cuda"
    return made


def test_results_of_a_gpu_graph_are_on_the_gpu(threads: Executor, processes: Executor, deals: list[deal.Deal]) -> None:
    import cupy

    hubs, one_way = on_gpu(HUBS), on_gpu(ONE_WAY)
    calls: dict[str, Callable[..., Any]] = {
        "scores": lambda **how: hw.betweenness_centrality(hubs, k=300, seed=1, device="cuda", **how).scores,
        "rows": lambda **how: hw.bfs_many(hubs, range(200), device="cuda", **how),
        "rows backwards": lambda **how: hw.bfs_many(one_way, range(200), direction="in", device="cuda", **how),
        "harmonic": lambda **how: hw.harmonic_centrality(hubs, device="cuda", **how).scores,
    }
    for name, call in calls.items():
        expected = call()
        for workers in (threads, processes):
            found = call(executor=workers)
            assert type(found) is type(expected) is cupy.ndarray, (name, workers)
            assert found.get().tobytes() == expected.get().tobytes(), (name, workers)


@pytest.mark.filterwarnings("ignore")  # the warning about forking a process with threads
@pytest.mark.parametrize("name", ["wide", "harmonic", "sampled paths"])
def test_a_forked_process_says_that_it_cannot(name: str, deals: list[deal.Deal]) -> None:
    CALLS[name](device="cuda")
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool,
        pytest.raises(EngineError, match=r"forked from one that had started CUDA.*get_context\('spawn'\)"),
    ):
        CALLS[name](device="cuda", executor=pool)
