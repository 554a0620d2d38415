"""executor=: the same bits as one process, whoever computes the blocks, on CPUs or GPUs, and whatever fails."""

import multiprocessing
import os
import pickle
import signal
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from weakref import WeakValueDictionary

import numpy as np
import pytest

import hopwave as hw
from every_call import plain
from hopwave import EngineError, Graph, engines, generate
from hopwave.algorithms import apart, many_sources
from hopwave.api import choice
from hopwave.engines.cpu import policy as cpu_policy
from hopwave.engines.cpu.betweenness.run import RenumberedGraph
from hopwave.engines.cuda.betweenness import regimes
from hopwave.errors import ExecutorError
from hopwave.executors import deal

Call = tuple[Callable[..., Any], Graph, dict[str, Any]]


def with_lengths(graph: Graph) -> Graph:
    ends = graph.to_edges()
    return Graph.from_edges(*ends, graph.n, weights=np.random.default_rng(2).random(len(ends[0])))


MESH, FINE = generate.delaunay(300, seed=1), generate.delaunay(4000, seed=1)  # betweenness has many blocks
TWICE = Graph.from_edges(*(np.concatenate([end, end + 300]) for end in MESH.to_edges()))
ROADS, FINE_ROADS = with_lengths(MESH), with_lengths(FINE)
HUBS, SMALL = generate.barabasi_albert(2000, 8, seed=1), generate.barabasi_albert(200, 3, seed=1)
ONE_WAY = generate.rmat(11, 8, seed=3)

BETWEENNESS, EDGES = hw.betweenness_centrality, hw.edge_betweenness_centrality
HOPS = (
    hw.harmonic_centrality, hw.eccentricity, hw.radius, hw.center, hw.periphery, hw.barycenter, hw.wiener_index,
    hw.global_efficiency, hw.distance_histogram,
)  # fmt: skip
ALONG_WEIGHTS = hw.betweenness_centrality, hw.closeness_centrality, hw.diameter, hw.average_shortest_path_length
CALLS: dict[str, Call] = {
    **{function.__name__: (function, MESH, {}) for function in HOPS},
    **{f"{function.__name__}, weights": (function, ROADS, {"weights": True}) for function in ALONG_WEIGHTS},
    "vertices": (BETWEENNESS, MESH, {}),
    "two components": (BETWEENNESS, TWICE, {}),
    "edges of two components": (EDGES, TWICE, {}),
    "closeness in two components": (hw.closeness_centrality, TWICE, {}),
    "k": (BETWEENNESS, MESH, {"k": 290, "seed": 3, "endpoints": True}),
    "targets": (BETWEENNESS, MESH, {"targets": [1, 2, 3], "cutoff": 9}),
    "wide": (BETWEENNESS, MESH, {"k": 5, "seed": 3, "plan": "hopwave-wide"}),
    "small": (BETWEENNESS, generate.path(9), {}),
    "edges": (EDGES, MESH, {}),
    "sampled sources": (BETWEENNESS, MESH, {"epsilon": 0.2, "method": "sources", "seed": 1}),
    "sampled paths": (BETWEENNESS, MESH, {"epsilon": 0.02, "method": "paths", "seed": 1}),
    "sampled roads": (BETWEENNESS, ROADS, {"epsilon": 0.05, "method": "paths", "seed": 1, "weights": True}),
    "sampled closeness": (hw.closeness_centrality, ROADS, {"k": 99, "seed": 1, "weights": True}),
    "sampled mean": (hw.average_shortest_path_length, MESH, {"k": 99, "seed": 1}),
    "among": (hw.harmonic_centrality, MESH, {"among": range(70)}),
    "rows": (hw.bfs_many, MESH, {"sources": range(0, 300, 2)}),
    "lengths": (hw.sssp_many, ROADS, {"sources": range(0, 300, 2)}),
    "table": (lambda G, **how: hw.distance_table(G, **how).values, ROADS, {"sources": range(0, 300, 2)}),
    "reach": (hw.accessibility, ROADS, {"limit": 2.0}),
    "pairs": (hw.pairs_within, MESH, {"d": 2}),
    "blocks": (hw.distance_blocks, MESH, {"sources": range(40)}),
}
GPU_CALLS: dict[str, Call] = {
    "batches": (BETWEENNESS, HUBS, {"k": 700, "seed": 1, "plan": "hopwave-batch"}),
    "blocks": (BETWEENNESS, FINE, {"plan": "hopwave-block"}),
    "wide": (BETWEENNESS, HUBS, {"k": 4, "seed": 3, "plan": "hopwave-wide"}),
    "one way": (BETWEENNESS, ONE_WAY, {"endpoints": True}),
    "edges": (EDGES, HUBS, {"k": 300, "seed": 1, "deterministic": True}),
    "weights": (BETWEENNESS, FINE_ROADS, {"k": 999, "seed": 1, "weights": True}),
    "weighted edges": (EDGES, FINE_ROADS, {"k": 500, "seed": 1, "weights": True}),
    "TurboBC": (BETWEENNESS, HUBS, {"k": 20, "seed": 1, "plan": "turbobc-vecsc"}),
    "sampled sources": (BETWEENNESS, HUBS, {"epsilon": 0.1, "method": "sources", "seed": 1}),
    "squares": (BETWEENNESS, SMALL, {"epsilon": 0.3, "method": "sources", "seed": 1, "plan": "turbobc-sccsc"}),
    "sampled paths": (BETWEENNESS, HUBS, {"epsilon": 0.02, "method": "paths", "seed": 1}),
    "harmonic": (hw.harmonic_centrality, ONE_WAY, {}),
    "closeness": (hw.closeness_centrality, FINE_ROADS, {"weights": True}),
    "sampled closeness": (hw.closeness_centrality, FINE_ROADS, {"k": 999, "seed": 1, "weights": True}),
    "eccentricity": (hw.eccentricity, FINE_ROADS, {"weights": True}),
    "histogram": (hw.distance_histogram, HUBS, {}),
    "rows": (hw.bfs_many, FINE, {"sources": range(0, 4000, 9)}),
    "lengths": (hw.sssp_many, FINE_ROADS, {"sources": range(0, 4000, 9)}),
    "pairs": (hw.pairs_within, FINE, {"d": 2}),
}


def on_gpu(test: Any) -> Any:
    return pytest.mark.gpu(pytest.mark.usefixtures("gpu")(test))


def answer(call: Call, **how: Any) -> Any:
    """What a call finds, to the last bit."""
    function, graph, given = call
    found = function(graph, **given, **how)
    return plain(found), plain(getattr(found, "bounds", None))


@pytest.fixture
def deals(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> list[deal.Deal]:
    """Collects every deal. Blocks are small, so that there are several, however many cores there are."""
    made: list[deal.Deal] = []
    begin = deal.Deal.__init__
    gpu = request.node.get_closest_marker("gpu") is not None
    for place, name, value in (
        (deal.Deal, "__init__", lambda self, *given: (begin(self, *given), made.append(self))[0]),
        (many_sources, "block_rows", lambda n, block=0, weighted=False: 300 if gpu else 16),
        (regimes, "MAX_ROUNDS", 1),
        (regimes, "MAX_BATCHES", 1),
        (regimes, "block_size", lambda k, *more: min(k, 300)),
        (deal, "FIRST_TASKS", deal.FIRST_TASKS if gpu else 4),
        (deal, "LANES", deal.LANES if gpu else 16),
        (deal, "PAIRS", 500 if gpu else 50),
        (deal, "ON_GPU", 1),
    ):
        monkeypatch.setattr(place, name, value)
    return made


@pytest.fixture(autouse=True)
def every_component_is_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("LEAST_SOURCES", 1), ("LEAST_VERTICES", {"cpu": 1, "cuda": 1}), ("MOST_COMPONENTS", 1)):
        monkeypatch.setattr(apart, name, value)


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.mark.parametrize("call", CALLS)
def test_threads_give_the_bits_of_one_process(call: str, threads: Executor, deals: list[deal.Deal]) -> None:
    assert answer(CALLS[call]) == answer(CALLS[call], executor=threads)
    assert sum(made.sent.tasks for made in deals) > (0 if call == "small" else 2)
    assert not any(made.sent.graphs for made in deals)  # threads share the graph


# ---------------------------------------------------------------- workers that share nothing


class Cluster(Executor):
    """Workers that share nothing, simulated in one thread: their arguments and results are pickled.

    Each computes its tasks when the caller waits. `fails(task number)`: whether the worker is lost then.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, workers: int = 3, fails: Any = None) -> None:
        self.patch, self.fails, self.sizes, self.names = monkeypatch, fails, [], []
        self.workers: list[Any] = [OrderedDict() for _ in range(workers)]

    def submit(self, function: Any, /, *arguments: Any, **keywords: Any) -> Future[Any]:
        future: Future[Any] = Future()
        message = pickle.dumps((function, arguments))
        number, at = len(self.names), len(self.names) % len(self.workers)
        self.sizes.append(len(message))
        self.names.append(arguments[0].name)
        with self.patch.context() as patch:
            patch.setattr(deal, "_at_home", WeakValueDictionary())
            patch.setattr(deal, "_received", self.workers[at])
            patch.setattr(deal, "_PROCESS", f"worker {at}")
            try:
                if self.fails is not None and self.fails(number):
                    raise OSError("out of disk")
                function, arguments = pickle.loads(message)
                future.set_result(pickle.loads(pickle.dumps(function(*arguments))))
            except Exception as error:
                future.set_exception(error)
        return future


@pytest.mark.parametrize("call", ["vertices", "sampled paths", "sampled roads", "sampled closeness", "pairs"])
def test_a_graph_is_sent_once_to_each_worker(
    call: str, monkeypatch: pytest.MonkeyPatch, deals: list[deal.Deal]
) -> None:
    cluster = Cluster(monkeypatch)
    assert answer(CALLS[call]) == answer(CALLS[call], executor=cluster)
    assert sum(made.sent.graphs for made in deals) == len(cluster.workers)
    assert sum(size > ROADS.indices.nbytes for size in cluster.sizes) == len(cluster.workers)
    deals.clear()
    answer(CALLS[call], executor=cluster)  # workers keep the graph for the next call
    assert sum(made.sent.graphs for made in deals) == 0 < sum(made.sent.tasks for made in deals)
    assert len(set(cluster.names)) == len(cluster.names), "Dask computes equal calls only once"


def test_the_reverse_of_a_graph_is_not_sent(monkeypatch: pytest.MonkeyPatch, deals: list[deal.Deal]) -> None:
    one_way = Graph.from_edges(*MESH.to_edges(), MESH.n, directed=True)
    cluster = Cluster(monkeypatch)
    for graph in (one_way, one_way.reversed()):
        call = hw.harmonic_centrality, graph, {}
        assert answer(call) == answer(call, executor=cluster)
    assert sum(made.sent.graphs for made in deals) == len(cluster.workers)


def test_workers_map_the_file_of_a_mapped_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hw.write(tmp_path / "roads.npz", ROADS)
    function, _, given = CALLS["closeness_centrality, weights"]
    cluster, mapped = Cluster(monkeypatch), hw.read(tmp_path / "roads.npz", mmap=True)
    assert answer((function, mapped, given), executor=cluster) == answer((function, ROADS, given))
    assert max(cluster.sizes) < ROADS.indices.nbytes


def test_a_worker_keeps_few_graphs(monkeypatch: pytest.MonkeyPatch, deals: list[deal.Deal]) -> None:
    cluster = Cluster(monkeypatch)
    for n in (200, 300, 400):
        hw.closeness_centrality(generate.path(n), executor=cluster)
    assert [len(kept) for kept in cluster.workers] == [deal.GRAPHS_KEPT] * 3


@pytest.mark.slow
@pytest.mark.parametrize("how", [{}, {"device": "reference"}])
def test_blocks_of_a_renumbered_graph_and_of_the_reference(
    how: dict[str, Any], monkeypatch: pytest.MonkeyPatch, threads: Executor
) -> None:
    """The number of all sources decides about renumbering: for one block alone it would not pay."""
    monkeypatch.setattr(cpu_policy, "CACHED_VERTICES", 10)
    hubs = generate.barabasi_albert(800, 3)
    call = BETWEENNESS, hubs, {"k": 64, "seed": 1, **how}
    assert answer(call) == answer(call, executor=threads)
    assert (hubs._prepared.find(RenumberedGraph) is None) == bool(how)


# ---------------------------------------------------------------- failures


def test_a_block_whose_worker_died_is_done_again(monkeypatch: pytest.MonkeyPatch, deals: list[deal.Deal]) -> None:
    cluster = Cluster(monkeypatch, fails=lambda number: number % 5 == 2)
    assert answer(CALLS["vertices"], executor=cluster) == answer(CALLS["vertices"])
    with pytest.raises(EngineError, match=r"block \d+ of 300 failed on 3 workers .* with OSError: out of disk; check"):
        answer(CALLS["vertices"], executor=Cluster(monkeypatch, fails=lambda number: True))


def test_a_call_from_inside_a_pool_of_one_does_not_wait_for_itself() -> None:
    with ThreadPoolExecutor(1) as pool:
        for call in ("vertices", "eccentricity", "sampled paths"):
            nested = pool.submit(answer, CALLS[call], executor=pool)
            assert nested.result(timeout=600) == answer(CALLS[call])


@pytest.mark.parametrize("name", ["vertices", "two components", "edges of two components"])
def test_a_run_continues_with_or_without_an_executor(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: Executor
) -> None:
    expected, path = answer(CALLS[name]), tmp_path / "run.npz"

    def progress(done: int, count: int) -> None:
        if count // 3 <= done < count:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer(CALLS[name], executor=threads, checkpoint=path, progress=progress)
    assert 50 <= int(np.load(path)["done"]) < len(np.load(path)["certificate"])
    copy = tmp_path / "copy.npz"
    copy.write_bytes(path.read_bytes())
    assert answer(CALLS[name], checkpoint=path) == expected
    assert answer(CALLS[name], checkpoint=copy, executor=Cluster(monkeypatch)) == expected


def test_pauses_for_checkpoints_lose_no_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: Executor, deals: list[deal.Deal]
) -> None:
    monkeypatch.setattr("hopwave.algorithms.checkpoint.INTERVAL", 0.0)
    assert answer(CALLS["wide"], executor=threads, checkpoint=tmp_path / "run.npz") == answer(CALLS["wide"])
    assert [made.sent.tasks for made in deals] == [5]


# ---------------------------------------------------------------- real workers


@pytest.mark.slow
def test_a_run_continues_after_a_worker_process_died(tmp_path: Path) -> None:
    """A spawned worker shares nothing with this process. After its death the pool cannot continue; the run can."""
    path = tmp_path / "run.npz"
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        ends: list[Any] = []

        def progress(done: int, count: int) -> None:
            if done >= 50 and not ends:
                ends.append(pool.submit(os._exit, 1))
                ends[0].exception(timeout=600)  # wait until the pool knows that a worker has died

        with pytest.raises(ExecutorError, match=r"executor cannot continue: BrokenProcessPool.*create a new"):
            answer(CALLS["vertices"], executor=pool, checkpoint=path, progress=progress)
    assert int(np.load(path)["done"]) >= 50
    assert answer(CALLS["vertices"], checkpoint=path) == answer(CALLS["vertices"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own warnings
def test_dask(tmp_path: Path) -> None:
    """A real cluster, which replaces a worker that died: the run continues."""
    distributed = pytest.importorskip("dask.distributed")
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "local_directory": str(tmp_path)}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        killed: list[int] = []

        def progress(done: int, count: int) -> None:
            if done >= 50 and not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        found = answer(CALLS["vertices"], executor=client.get_executor(), progress=progress)
        assert killed and found == answer(CALLS["vertices"])
        assert answer(CALLS["lengths"], executor=client.get_executor()) == answer(CALLS["lengths"])


# ---------------------------------------------------------------- GPUs only on workers


@pytest.mark.parametrize("call", CALLS)
def test_a_process_without_gpu_asks_a_worker(
    call: str, monkeypatch: pytest.MonkeyPatch, deals: list[deal.Deal]
) -> None:
    """There is no GPU here. On a worker, device="cuda" is simulated by the CPU engine."""
    monkeypatch.setattr(choice, "has_gpu", lambda: False)
    monkeypatch.setattr(deal, "engine", lambda name: engines.engine("cpu" if name == "cuda" else name))
    assert answer(CALLS[call]) == answer(CALLS[call], device="cuda", executor=Cluster(monkeypatch))


def test_what_no_worker_computes_is_named(monkeypatch: pytest.MonkeyPatch, threads: Executor) -> None:
    monkeypatch.setattr(choice, "has_gpu", lambda: False)
    monkeypatch.setattr(deal, "engine", lambda name: engines.engine("cpu"))
    found = choice.distance_engine(False, "cuda", MESH, None, executor=threads)
    with pytest.raises(EngineError, match=r"device='cuda' is not available in this .* 'local_efficiencies'.*'cpu'"):
        found.local_efficiencies(MESH, print)
    monkeypatch.setattr(deal, "engine", Mock(side_effect=EngineError("a worker without GPU")))
    with pytest.raises(EngineError, match="a worker without GPU"):
        hw.betweenness_centrality(MESH, device="cuda", executor=threads)


# ---------------------------------------------------------------- workers with a GPU


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """Two processes, which share the GPU; on a machine with two GPUs each would have its own."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@on_gpu
@pytest.mark.parametrize("name", GPU_CALLS)
def test_threads_with_a_gpu_give_the_bits_of_one_process(name: str, threads: Executor, deals: list[deal.Deal]) -> None:
    assert answer(GPU_CALLS[name], device="cuda") == answer(GPU_CALLS[name], device="cuda", executor=threads)
    assert sum(made.dealer.count for made in deals) > 1  # blocks


@on_gpu
def test_processes_give_the_bits_of_one(processes: Executor, deals: list[deal.Deal]) -> None:
    """One of each kind of block, all in one test, so that the processes compile and load only once."""
    for name in ("batches", "weights", "sampled paths", "harmonic", "rows"):
        deals.clear()
        same = answer(GPU_CALLS[name], device="cuda") == answer(GPU_CALLS[name], device="cuda", executor=processes)
        blocks, graphs = sum(made.dealer.count for made in deals), sum(made.sent.graphs for made in deals)
        assert same and blocks >= 2 and graphs <= 4, name  # one graph per process, and sometimes one more


@on_gpu
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


@on_gpu
@pytest.mark.filterwarnings("ignore")  # the warning about forking a process with threads
@pytest.mark.parametrize("name", ["wide", "harmonic", "sampled paths"])
def test_a_forked_process_says_that_it_cannot(name: str, deals: list[deal.Deal]) -> None:
    answer(GPU_CALLS[name], device="cuda")
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool,
        pytest.raises(EngineError, match=r"forked from one that had started CUDA.*get_context\('spawn'\)"),
    ):
        answer(GPU_CALLS[name], device="cuda", executor=pool)
