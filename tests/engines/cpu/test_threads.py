"""The CPU engine's threads do not change results and cost nothing when idle; first searches."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from queue import SimpleQueue
from threading import Event
from types import SimpleNamespace
from typing import Any

import numba.np.ufunc.parallel as layer
import numpy as np
import pytest

import hopwave as hw
from hopwave import EngineError, Graph, generate
from hopwave.algorithms import reduction
from hopwave.api.validate import validate
from hopwave.engines import cpu
from hopwave.engines.cpu import policy, team
from hopwave.engines.cpu.betweenness import source
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.graph import CpuGraph
from hopwave.engines.cpu.shortest_paths import delta_stepping
from hopwave.engines.cpu.workers import NEXT_BATCH
from hopwave.system import compile_notice
from hopwave.system import threads as system_threads
from hopwave.system.compile_notice import First
from hopwave.system.numba_cache import njit
from hopwave.system.threads import Crew, host_cores


@cache
def graph(name: str) -> Graph:
    return {
        "kronecker": lambda: generate.kronecker(11, edge_factor=8, seed=4),
        "directed": lambda: generate.rmat(11, edge_factor=6, seed=4),
        "delaunay": lambda: generate.delaunay(1500, seed=4),
        "grid": lambda: generate.grid(40, 40),
    }[name]()


every_graph = pytest.mark.parametrize("name", ["kronecker", "directed", "delaunay", "grid"])


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Helpers join searches of small graphs too."""
    monkeypatch.setattr(policy, "VERTICES_PER_THREAD", 16)


QUESTIONS: dict[str, Callable[..., Any]] = {
    "vertices": lambda G, **how: hw.betweenness_centrality(G, **how).scores,
    "k": lambda G, **how: hw.betweenness_centrality(G, k=300, seed=1, endpoints=True, **how).scores,
    "pulls": lambda G, **how: hw.betweenness_centrality(G, k=64, seed=1, plan="turbobc-sccsc", **how).scores,
    "wide": lambda G, **how: hw.betweenness_centrality(G, k=20, seed=1, plan="hopwave-wide", **how).scores,
    "sample": lambda G, **how: hw.betweenness_centrality(G, epsilon=0.15, seed=1, method="sources", **how).bounds,
    "sampled paths": lambda G, **how: hw.betweenness_centrality(G, epsilon=0.15, seed=1, method="paths", **how).bounds,
    "edges": lambda G, **how: hw.edge_betweenness_centrality(G, k=300, seed=1, **how).scores,
    "hops": lambda G, **how: hw.bfs(G, 0, **how).distances,
    "paths": lambda G, **how: hw.bfs(G, 0, path_counts=True, **how).path_counts,
}


@pytest.mark.usefixtures("eager")
@every_graph
@pytest.mark.parametrize("question", QUESTIONS)
def test_threads_change_no_bit(name: str, question: str) -> None:
    alone = QUESTIONS[question](graph(name), threads=1, device="cpu")
    for threads in (2, 3, 5):
        assert np.array_equal(QUESTIONS[question](graph(name), threads=threads, device="cpu"), alone, equal_nan=True)
    assert not layer._is_initialized, "Numba has started threads of its own"


def test_how_many_threads_a_call_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOPWAVE_NUM_THREADS", raising=False)
    assert thread_count() == host_cores() >= 1
    assert thread_count(3) == thread_count(np.int64(3)) == 3
    assert thread_count(10**6) == 256
    monkeypatch.setenv("HOPWAVE_NUM_THREADS", "7")
    assert (thread_count(), thread_count(2)) == (7, 2), "the argument wins"
    monkeypatch.setenv("HOPWAVE_NUM_THREADS", "")
    assert thread_count() == host_cores()


# ---------------------------------------------------------------- many callers


def test_the_error_of_a_worker_is_raised_and_the_others_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first worker takes a block and fails; the others must not wait for that block forever."""
    working, begun = source.take_sources, []

    def failing(A: Any, state: Any, shared: Any) -> None:
        begun.append(state)
        if len(begun) == 1:
            shared.control[NEXT_BATCH] += 1
            raise MemoryError("no memory for a worker")
        while shared.control[NEXT_BATCH] == 0:
            time.sleep(0.001)
        working(A, state, shared)

    monkeypatch.setattr(failing, "overloads", [None], raising=False)  # it counts as compiled
    monkeypatch.setattr(source, "take_sources", failing)
    with pytest.raises(EngineError, match="no memory for a worker in betweenness_centrality; use a smaller graph"):
        hw.betweenness_centrality(graph("delaunay"), threads=3, device="cpu")
    monkeypatch.undo()
    assert hw.betweenness_centrality(graph("delaunay"), threads=3, device="cpu").certificate.sources == 1500


def within(seconds: float, call: Callable[[], Any]) -> Any:
    """Return the call's result if it comes in time. A call that hangs is abandoned."""
    found: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=lambda: found.put(call()), name="a caller", daemon=True).start()
    return found.get(timeout=seconds)


@pytest.mark.parametrize("ends", [False, True])  # a thread without memory for its first step does
@pytest.mark.parametrize("able", [0, 1, 2])
def test_fewer_threads_than_wanted(able: int, ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the system refuses another thread, the existing ones do the work; the next call tries again."""
    ask = {name: partial(QUESTIONS[name], graph("delaunay"), threads=3, device="cpu") for name in ("vertices", "hops")}
    right = {name: call() for name, call in ask.items()}
    hands = Crew()
    monkeypatch.setattr(system_threads, "crew", hands)
    start, started = system_threads.start_new_thread, []

    def failing(*call: Any) -> None:
        if len(started) < able:
            started.append(start(*call))
        elif not ends:
            raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(system_threads, "start_new_thread", failing)
        for name in ("vertices", "hops") * 2:
            if able or name == "hops":
                assert np.array_equal(within(600, ask[name]), right[name])
            else:
                with pytest.raises(EngineError, match="cannot start another thread, which this run needs"):
                    ask[name]()
    assert len(started) == able
    assert np.array_equal(within(600, ask["vertices"]), right["vertices"]) and hands._threads == 3
    until = time.monotonic() + 30
    while hands._pending or hands._away:  # a thread's last steps come after its answer
        assert time.monotonic() < until


@pytest.mark.usefixtures("eager")
def test_idle_helpers_use_no_processor() -> None:
    for question in ("vertices", "wide", "hops"):
        QUESTIONS[question](graph("kronecker"), threads=4, device="cpu")
    time.sleep(0.1)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.1, "four helpers that spin would have used some seconds of processor time"


# ---------------------------------------------------------------- helpers that stay for the next search

KRONECKER = generate.kronecker(14, 8, seed=3)
RING = generate.smallworld(20_000, 10, 0.1, seed=4)


def search(graph: Graph, source: int, threads: int) -> Any:
    return hw.bfs(graph, source, plan="hopwave", device="cpu", threads=threads)


def test_searches_one_after_another_and_at_once_are_all_right():
    """Helpers move from one search to the next, and two leaders at a time have one team each."""
    right = {(id(g), s): search(g, s, 1).distances for g in (KRONECKER, RING) for s in range(8)}

    def many(graph: Graph) -> bool:
        for round_ in range(40):
            found = search(graph, round_ % 8, 4)
            if not np.array_equal(found.distances, right[id(graph), round_ % 8]):
                return False
            if round_ % 10 == 0:
                assert validate(graph, [round_ % 8], found.distances, found.predecessors)
        return True

    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(many, (KRONECKER, RING, KRONECKER, RING)))


def test_no_search_sorts_or_copies_the_graph():
    graph = generate.kronecker(12, directed=True)  # with hubs
    for vertex in range(40):
        search(graph, vertex, 1)
    prepared = graph._prepared.find(CpuGraph)._adjacency
    assert set(prepared) == {"plain", "hubs"} and "_arranged" not in vars(graph)
    for rows in prepared.values():
        assert np.shares_memory(rows.indices, graph.indices) and np.shares_memory(rows.in_indices, graph.in_indices)
    assert not len(prepared["plain"].hub) and len(prepared["hubs"].hub) == graph.n


@njit(nogil=True)
def wait_for_an_offer(cells: Any) -> Any:
    return team.await_offer(cells, np.int64(0))


def test_no_helper_leaves_between_a_count_and_an_offer():
    """The leader would not notice, and the call would have one thread less."""
    cells = np.zeros(team.TEAM_CELLS, np.int64)
    wait_for_an_offer(cells)  # no leader comes: the helper leaves
    assert cells[team.PRESENT] == -1
    cells[team.PRESENT], cells[team.EXPECTED] = 1, 1
    with ThreadPoolExecutor(1) as pool:
        helper = pool.submit(wait_for_an_offer, cells)
        time.sleep(0.2)
        stayed = not helper.done()
        cells[team.EXPECTED] = 0
        assert helper.result(20) == -1 and stayed and cells[team.PRESENT] == 0
        cells[team.PRESENT], cells[team.EXPECTED], cells[team.OFFER] = 1, 1, 1
        assert pool.submit(wait_for_an_offer, cells).result(20) == 1
    assert cells[team.PRESENT] == 1 and cells[team.READERS] == 1


def test_a_waiting_helper_holds_no_memory_of_pythons_and_no_graph():
    """It gives memory back after a call. If `tracemalloc` ends then, older Pythons crash (cpython#128679)."""
    cells = np.zeros(team.TEAM_CELLS, np.int64)
    cells[team.LEAVE] = 1
    assert wait_for_an_offer(cells) == -1
    (code,) = wait_for_an_offer.inspect_llvm().values()
    assert "NRT_MemInfo_alloc" not in code and "NRT_Allocate" not in code
    A = hw.engines.engine("cpu").load(RING, None).adjacency("any")
    empty = team._empty((A, np.zeros((2, 3)), 5))
    assert type(empty[0]) is type(A) and empty[2] == 5 and empty[1].shape == (0, 0)
    for mine, theirs in zip(A, empty[0], strict=True):
        assert theirs.size == 0 and theirs.dtype == mine.dtype and theirs.flags.writeable == mine.flags.writeable


# ------------------------------------------------------------------ the first calls on a machine


@pytest.fixture
def first(monkeypatch: pytest.MonkeyPatch) -> First:
    """Of a function that is not compiled."""
    monkeypatch.setattr(First, "most_seconds", 4.0)
    monkeypatch.setattr(compile_notice, "is_compiled", lambda function: False)
    return First(SimpleNamespace(overloads={}))


def test_first_calls_do_not_wait_for_the_compiler(first: First, monkeypatch: pytest.MonkeyPatch):
    """Another thread compiles after some calls; a call that would take longer than the compiler waits for it."""
    begun, may_end = [], Event()

    def compiles():
        first.function.overloads["compiled"] = 1  # before the rest is compiled
        begun.append(may_end.wait(20))

    assert all(first.avoids(0.1, compiles) for _ in range(10)) and not first.avoids(4.1, compiles)
    may_end.set()
    until = time.monotonic() + 20
    while first.avoids(0.1, compiles):
        assert time.monotonic() < until
    assert begun == [True]
    failing = First(SimpleNamespace(overloads={}))
    assert failing.avoids(4.0, lambda: 1 / 0)
    while failing.avoids(0.1, compiles):  # the error is left to the next call
        assert time.monotonic() < until
    monkeypatch.setattr(reduction, "_first_reductions", lambda: First(SimpleNamespace(overloads={})))
    job, road = SimpleNamespace(sources=range(114_599)), SimpleNamespace(m=239_332)
    found = [reduction.is_compiled_later(graph, job, compiles) for graph in (road, SimpleNamespace(m=10**6))]
    assert found == [True, False]


def test_first_searches_are_right(first: First, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cpu, "FIRST", first)
    monkeypatch.setattr(delta_stepping, "FIRST", first)
    monkeypatch.setattr(policy, "path_threads", lambda arcs: 4)
    found, (u, v) = hw.bfs(RING, 3, device="cpu"), RING.to_edges()
    assert np.array_equal(found.distances, search(RING, 3, 1).distances)
    assert validate(RING, [3], found.distances, found.predecessors)
    weighted = Graph.from_edges(u, v, weights=(u + v) % 9 + 1.0)
    along = hw.sssp(weighted, 3, device="cpu", threads=4)
    right = hw.sssp(weighted, 3, device="cpu", threads=4, method="delta-stepping", delta=2.0)
    assert first.calls == 2 and np.array_equal(along.distances, right.distances)
    monkeypatch.setattr("hopwave.engines.cpu.betweenness.run.FIRST", first)
    scores = []
    for seconds in (4.0, 0.0):  # on the calling thread, and by workers
        monkeypatch.setattr(First, "most_seconds", seconds)
        scores.append(hw.betweenness_centrality(hw.generate.grid(40, 60), k=40, seed=1, device="cpu").scores)
    assert first.calls == 3 and np.array_equal(*scores)
