"""executor=: the same bits as one process, whoever computes the blocks and whatever fails."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pytest

import hopwave as hw
from dealing import noted_deals
from hopwave import EngineError, Graph, GraphError, engines, generate
from hopwave.algorithms import many_sources
from hopwave.api import choice
from hopwave.engines.cpu import policy as cpu_policy
from hopwave.engines.cpu.betweenness.run import RenumberedGraph
from hopwave.errors import ExecutorError
from hopwave.executors import deal

MESH = generate.delaunay(300, seed=1)  # large enough that betweenness has many blocks
_source, _target = MESH.to_edges()
ROADS = Graph.from_edges(_source, _target, MESH.n, weights=np.random.default_rng(2).random(len(_source)))

Call = Callable[..., Any]
CALLS: dict[str, Call] = {
    "vertices": lambda **how: hw.betweenness_centrality(MESH, **how).scores,
    "k": lambda **how: hw.betweenness_centrality(MESH, k=290, seed=3, endpoints=True, **how).scores,
    "targets": lambda **how: hw.betweenness_centrality(MESH, targets=[1, 2, 3], cutoff=9, **how).scores,
    "wide": lambda **how: hw.betweenness_centrality(MESH, k=5, seed=3, plan="hopwave-wide", **how).scores,
    "small": lambda **how: hw.betweenness_centrality(generate.path(9), **how).scores,
    "edges": lambda **how: hw.edge_betweenness_centrality(MESH, **how).scores,
    "weights": lambda **how: hw.betweenness_centrality(ROADS, weights=True, **how).scores,
    "sampled sources": lambda **how: (
        hw.betweenness_centrality(MESH, epsilon=0.2, method="sources", seed=1, **how).bounds
    ),
    "sampled paths": lambda **how: hw.betweenness_centrality(MESH, epsilon=0.02, method="paths", seed=1, **how).scores,
    "sampled roads": lambda **how: (
        hw.betweenness_centrality(ROADS, epsilon=0.05, method="paths", seed=1, weights=True, **how).scores
    ),
    "closeness": lambda **how: hw.closeness_centrality(ROADS, weights=True, **how).scores,
    "sampled closeness": lambda **how: hw.closeness_centrality(ROADS, k=99, seed=1, weights=True, **how).scores,
    "harmonic": lambda **how: hw.harmonic_centrality(MESH, **how).scores,
    "harmonic among": lambda **how: hw.harmonic_centrality(MESH, among=range(70), **how).scores,
    "eccentricity": lambda **how: hw.eccentricity(MESH, **how).scores,
    "diameter": lambda **how: np.array(hw.diameter(ROADS, weights=True, **how)),
    "radius": lambda **how: np.array(hw.radius(MESH, **how)),
    "center": lambda **how: np.array(hw.center(MESH, **how)),
    "periphery": lambda **how: np.array(hw.periphery(MESH, **how)),
    "barycenter": lambda **how: np.array(hw.barycenter(MESH, **how)),
    "mean": lambda **how: np.array(hw.average_shortest_path_length(ROADS, weights=True, **how)),
    "sampled mean": lambda **how: np.array(hw.average_shortest_path_length(MESH, k=99, seed=1, **how).value),
    "Wiener": lambda **how: np.array(hw.wiener_index(MESH, **how)),
    "efficiency": lambda **how: np.array(hw.global_efficiency(MESH, **how)),
    "histogram": lambda **how: hw.distance_histogram(MESH, **how).counts,
    "rows": lambda **how: hw.bfs_many(MESH, range(0, 300, 2), **how),
    "lengths": lambda **how: hw.sssp_many(ROADS, range(0, 300, 2), **how),
    "pairs": lambda **how: np.stack(hw.pairs_within(MESH, 2, **how)),
    "blocks": lambda **how: np.concatenate([rows for _, rows in hw.distance_blocks(MESH, range(40), **how)]),
}
every_call = pytest.mark.parametrize("call", CALLS)


@pytest.fixture
def deals(monkeypatch: pytest.MonkeyPatch) -> list[deal.Deal]:
    """Collects every deal. Blocks are small, so that there are several."""
    made = noted_deals(monkeypatch)
    monkeypatch.setattr(many_sources, "block_rows", lambda n, block=0, weighted=False: 16)
    monkeypatch.setattr(deal, "FIRST_TASKS", 4)  # however many cores there are
    monkeypatch.setattr(deal, "LANES", 16)
    monkeypatch.setattr(deal, "PAIRS", 50)
    return made


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@every_call
def test_threads_give_the_bits_of_one_process(call: str, threads: Executor, deals: list[deal.Deal]) -> None:
    expected, found = CALLS[call](), CALLS[call](executor=threads)
    assert (expected.dtype, expected.tobytes()) == (found.dtype, found.tobytes())
    assert sum(made.sent.tasks for made in deals) > (0 if call == "small" else 2)
    assert not any(made.sent.graphs for made in deals)  # threads share the graph


# ---------------------------------------------------------------- workers that share nothing


class Cluster(Executor):
    """Workers that share nothing, simulated in one thread: their arguments and results are pickled.

    Each computes its tasks when the caller waits. `fails(task number)` may raise the errors of an executor.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, workers: int = 3, fails: Any = None) -> None:
        self.patch, self.fails, self.tasks, self.sizes = monkeypatch, fails, 0, []
        self.workers: list[Any] = [OrderedDict() for _ in range(workers)]

    def submit(self, function: Any, /, *arguments: Any, **keywords: Any) -> Future[Any]:
        future: Future[Any] = Future()
        message = pickle.dumps((function, arguments))
        self.sizes.append(len(message))
        number, self.tasks = self.tasks, self.tasks + 1
        at = number % len(self.workers)
        with self.patch.context() as patch:
            patch.setattr(deal, "_at_home", WeakValueDictionary())
            patch.setattr(deal, "_received", self.workers[at])
            patch.setattr(deal, "_PROCESS", f"worker {at}")
            try:
                if self.fails is not None:
                    self.fails(number)
                function, arguments = pickle.loads(message)
                future.set_result(pickle.loads(pickle.dumps(function(*arguments))))
            except Exception as error:
                future.set_exception(error)
        return future


@pytest.mark.parametrize("call", ["vertices", "weights", "sampled paths", "sampled closeness", "histogram", "pairs"])
def test_a_graph_is_sent_once_to_each_worker(
    call: str, monkeypatch: pytest.MonkeyPatch, deals: list[deal.Deal]
) -> None:
    cluster = Cluster(monkeypatch)
    found = CALLS[call](executor=cluster)
    assert CALLS[call]().tobytes() == found.tobytes()
    assert sum(made.sent.graphs for made in deals) == len(cluster.workers)
    assert sum(size > ROADS.indices.nbytes for size in cluster.sizes) == len(cluster.workers)
    deals.clear()
    CALLS[call](executor=cluster)  # workers keep the graph for the next call
    assert sum(made.sent.graphs for made in deals) == 0 < sum(made.sent.tasks for made in deals)


def test_the_reverse_of_a_graph_is_not_sent(monkeypatch: pytest.MonkeyPatch, deals: list[deal.Deal]) -> None:
    one_way = Graph.from_edges(_source, _target, MESH.n, directed=True)
    cluster = Cluster(monkeypatch)
    there = hw.harmonic_centrality(one_way, executor=cluster)
    back = hw.harmonic_centrality(one_way.reversed(), executor=cluster)
    assert there.scores.tobytes() == hw.harmonic_centrality(one_way).scores.tobytes()
    assert back.scores.tobytes() == hw.harmonic_centrality(one_way.reversed()).scores.tobytes()
    assert sum(made.sent.graphs for made in deals) == len(cluster.workers)


def test_a_worker_keeps_few_graphs(monkeypatch: pytest.MonkeyPatch, deals: list[deal.Deal]) -> None:
    cluster = Cluster(monkeypatch)
    for n in (200, 300, 400):
        hw.closeness_centrality(generate.path(n), executor=cluster)
    assert [len(kept) for kept in cluster.workers] == [deal.GRAPHS_KEPT] * 3


def test_no_two_tasks_are_equal(monkeypatch: pytest.MonkeyPatch, deals: list[deal.Deal]) -> None:
    """Dask computes equal calls only once: a block refused because its worker lacked the graph would never run."""
    cluster, names = Cluster(monkeypatch), []
    submit = cluster.submit
    cluster.submit = lambda function, task, parcel: names.append(task.name) or submit(function, task, parcel)  # type: ignore
    for _ in range(2):
        CALLS["histogram"](executor=cluster)
    assert len(set(names)) == len(names) == sum(made.sent.tasks for made in deals)


def test_blocks_of_a_renumbered_graph(monkeypatch: pytest.MonkeyPatch, threads: Executor) -> None:
    """The number of all sources decides about renumbering: for one block alone it would not pay."""
    monkeypatch.setattr(cpu_policy, "CACHED_VERTICES", 10)
    hubs = generate.barabasi_albert(800, 3)
    alone, dealt = (hw.betweenness_centrality(hubs, k=64, seed=1, executor=how) for how in (None, threads))
    assert hubs._prepared.find(RenumberedGraph) is not None
    assert alone.scores.tobytes() == dealt.scores.tobytes()


# ---------------------------------------------------------------- failures


class Died(Exception):
    """The error of an executor that lost a worker and continues."""


def test_a_block_whose_worker_died_is_done_again(monkeypatch: pytest.MonkeyPatch, deals: list[deal.Deal]) -> None:
    def fails(number: int) -> None:
        if number % 5 == 2:
            raise Died

    assert CALLS["vertices"](executor=Cluster(monkeypatch, fails=fails)).tobytes() == CALLS["vertices"]().tobytes()


def test_a_block_that_fails_everywhere_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(number: int) -> None:
        raise Died("out of disk")

    with pytest.raises(EngineError, match=r"block \d+ of 300 failed on 3 workers .* with Died: out of disk; see"):
        CALLS["vertices"](executor=Cluster(monkeypatch, fails=fails))


def test_errors_of_hopwave_come_back_as_they_are(threads: Executor) -> None:
    ring = Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[0.0, 0.0, 0.0])
    with pytest.raises(GraphError) as alone:
        hw.betweenness_centrality(ring, sources=[0], weights=True)
    with pytest.raises(GraphError) as dealt:
        hw.betweenness_centrality(ring, sources=[0], weights=True, executor=threads)
    assert str(alone.value) == str(dealt.value)


def test_a_call_from_inside_a_pool_of_one_does_not_wait_for_itself() -> None:
    with ThreadPoolExecutor(1) as pool:
        for call in ("vertices", "closeness", "sampled paths"):
            nested = pool.submit(CALLS[call], executor=pool)
            assert nested.result(timeout=60).tobytes() == CALLS[call]().tobytes()


def test_a_run_continues_with_or_without_an_executor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: Executor
) -> None:
    expected, path = CALLS["vertices"](), tmp_path / "run.npz"

    def progress(done: int, count: int) -> None:
        if 100 <= done < count:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CALLS["vertices"](executor=threads, checkpoint=path, progress=progress)
    assert 50 <= int(np.load(path)["done"]) < 300
    copy = tmp_path / "copy.npz"
    copy.write_bytes(path.read_bytes())
    assert CALLS["vertices"](checkpoint=path).tobytes() == expected.tobytes()
    assert CALLS["vertices"](checkpoint=copy, executor=Cluster(monkeypatch)).tobytes() == expected.tobytes()


def test_pauses_for_checkpoints_lose_no_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: Executor, deals: list[deal.Deal]
) -> None:
    monkeypatch.setattr("hopwave.algorithms.checkpoint.INTERVAL", 0.0)
    found = CALLS["wide"](executor=threads, checkpoint=tmp_path / "run.npz")
    assert found.tobytes() == CALLS["wide"]().tobytes()
    assert [made.sent.tasks for made in deals] == [5]


# ---------------------------------------------------------------- arguments


def test_the_reference_engine_is_dealt_too(threads: Executor) -> None:
    few = Graph.from_edges(_source[:60], _target[:60], MESH.n, weights=np.arange(1.0, 61.0))
    how = {"weights": True, "device": "reference"}
    alone, dealt = (
        hw.betweenness_centrality(few, sources=range(30), **how, **more) for more in ({}, {"executor": threads})
    )
    assert alone.scores.tobytes() == dealt.scores.tobytes() and dealt.engine == "reference"


# ---------------------------------------------------------------- real workers


def end_this_process() -> None:
    os._exit(1)


@pytest.mark.slow
def test_a_run_continues_after_a_worker_process_died(tmp_path: Path) -> None:
    """A spawned worker shares nothing with this process. After its death the pool cannot continue; the run can."""
    path = tmp_path / "run.npz"
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        ends: list[Any] = []

        def progress(done: int, count: int) -> None:
            if done >= 50 and not ends:
                ends.append(pool.submit(end_this_process))
                ends[0].exception(timeout=60)  # wait until the pool knows that a worker has died

        with pytest.raises(ExecutorError, match=r"executor cannot go on: BrokenProcessPool.*make a new one"):
            CALLS["vertices"](executor=pool, checkpoint=path, progress=progress)
    assert int(np.load(path)["done"]) >= 50
    assert CALLS["vertices"](checkpoint=path).tobytes() == CALLS["vertices"]().tobytes()


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

        found = CALLS["vertices"](executor=client.get_executor(), progress=progress)
        assert killed and found.tobytes() == CALLS["vertices"]().tobytes()
        assert CALLS["closeness"](executor=client.get_executor()).tobytes() == CALLS["closeness"]().tobytes()


# ---------------------------------------------------------------- GPUs only on workers


@pytest.fixture
def gpus_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No GPU here. On a worker, device="cuda" is simulated by the CPU engine."""
    monkeypatch.setattr(choice, "has_gpu", lambda: False)
    monkeypatch.setattr(deal, "engine", lambda name: engines.engine("cpu" if name == "cuda" else name))


@every_call
def test_a_process_without_gpu_asks_a_worker(
    call: str, gpus_elsewhere: None, monkeypatch: pytest.MonkeyPatch, deals: list[deal.Deal]
) -> None:
    monkeypatch.setattr(deal, "ON_GPU", 1)
    expected, found = CALLS[call](), CALLS[call](device="cuda", executor=Cluster(monkeypatch))
    assert (expected.dtype, expected.tobytes()) == (found.dtype, found.tobytes())


def test_what_no_worker_computes_is_named(gpus_elsewhere: None, threads: Executor) -> None:
    found = choice.distance_engine(False, "cuda", MESH, None, executor=threads)
    with pytest.raises(EngineError, match=r"device='cuda' cannot run in this process.* 'local_efficiencies'.*'cpu'"):
        found.local_efficiencies(MESH, print)


def test_workers_without_gpu_say_so(monkeypatch: pytest.MonkeyPatch, threads: Executor) -> None:
    def missing(name: str) -> Any:
        raise EngineError(f"device={name!r} found no GPU here")

    monkeypatch.setattr(choice, "has_gpu", lambda: False)
    monkeypatch.setattr(deal, "engine", missing)
    with pytest.raises(EngineError, match="device='cuda' found no GPU here"):
        hw.betweenness_centrality(MESH, device="cuda", executor=threads)
