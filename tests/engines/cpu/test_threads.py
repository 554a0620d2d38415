"""The CPU engine's threads do not change results, cost nothing when idle, and serve many callers."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue
from threading import Event
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import EngineError, Graph, generate
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness import source
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.workers import NEXT_BATCH
from hopwave.system import threads as system_threads
from hopwave.system.devices import host_cores
from hopwave.system.threads import Crew

COUNTS = (2, 3, 5)


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
    for threads in COUNTS:
        assert np.array_equal(QUESTIONS[question](graph(name), threads=threads, device="cpu"), alone, equal_nan=True)


@every_graph
def test_the_environment_changes_no_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = QUESTIONS["k"](graph(name), threads=1, device="cpu")
    for threads in ("1", "3", ""):
        monkeypatch.setenv("HOPWAVE_NUM_THREADS", threads)
        assert np.array_equal(QUESTIONS["k"](graph(name), device="cpu"), alone)


def test_little_memory_changes_no_bit() -> None:
    """With memory for one worker, only one works."""
    job = hw.betweenness_centrality(graph("delaunay"), threads=5, device="cpu")
    least = 40 * 1500 + 4 * graph("delaunay").m + 16 * 1500
    assert np.array_equal(
        hw.betweenness_centrality(graph("delaunay"), threads=5, memory_limit=least, device="cpu").scores, job.scores
    )


# ---------------------------------------------------------------- how many


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
    working = source.take_sources
    begun = []

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
    with pytest.raises(MemoryError, match="no memory for a worker"):
        hw.betweenness_centrality(graph("delaunay"), threads=3, device="cpu")
    monkeypatch.undo()
    assert hw.betweenness_centrality(graph("delaunay"), threads=3, device="cpu").certificate.sources == 1500


def test_long_runs_do_not_hold_up_short_calls() -> None:
    """Helpers and other workers do not queue behind busy workers."""
    hands, leave = Crew(), Event()
    arrived: SimpleQueue[tuple[str, int]] = SimpleQueue()

    def stay(name: str, number: int) -> None:
        arrived.put((name, number))
        assert leave.wait(60)

    def pass_by(name: str, number: int) -> None:
        arrived.put((name, number))

    hands.start(3, stay, "first run")
    hands.start(2, stay, "second run")
    hands.help(2, pass_by, "helpers")
    found = {arrived.get(timeout=60) for _ in range(7)}
    leave.set()
    numbers = {"first run": 3, "second run": 2, "helpers": 2}
    assert found == {(name, i) for name, count in numbers.items() for i in range(1, count + 1)}


@pytest.mark.parametrize("able", [0, 1, 2])
def test_fewer_threads_than_wanted(able: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the system refuses another thread, the existing ones do the work; the next call tries again."""
    G = graph("delaunay")
    right = hw.betweenness_centrality(G, threads=3, device="cpu").scores
    hops = hw.bfs(G, 0, device="cpu").distances
    hands = Crew()
    monkeypatch.setattr(system_threads, "crew", hands)
    start, started = system_threads.start_new_thread, []

    def failing(*call: Any) -> None:
        if len(started) >= able:
            raise RuntimeError("can't start new thread")
        started.append(start(*call))

    with monkeypatch.context() as patch:
        patch.setattr(system_threads, "start_new_thread", failing)
        for _ in range(2):
            if able:
                found = within(60, lambda: hw.betweenness_centrality(G, threads=3, device="cpu").scores)
                assert np.array_equal(found, right)
            else:
                with pytest.raises(EngineError, match="starts no further thread, and this run needs one"):
                    hw.betweenness_centrality(G, threads=3, device="cpu", progress=True)
            assert np.array_equal(within(60, lambda: hw.bfs(G, 0, threads=3, device="cpu").distances), hops)
    assert len(started) == able
    assert np.array_equal(within(60, lambda: hw.betweenness_centrality(G, threads=3, device="cpu").scores), right)
    assert hands._threads == 3
    until = time.monotonic() + 30
    while hands._pending or hands._away:  # a thread's last steps come after its answer
        assert time.monotonic() < until


def within(seconds: float, call: Callable[[], Any]) -> Any:
    """Return the call's result if it comes in time. A call that hangs is abandoned."""
    found: SimpleQueue[Any] = SimpleQueue()
    thread = threading.Thread(target=lambda: found.put(call()), name="a caller", daemon=True)
    thread.start()
    return found.get(timeout=seconds)


@pytest.mark.slow
def test_a_small_call_beside_a_long_one_returns_at_once() -> None:
    """The long call would take minutes; it ends when it is told to."""
    enough, under_way = Event(), Event()

    def progress(done: int, of: int) -> None:
        under_way.set()
        if enough.is_set():
            raise InterruptedError("enough")

    def long() -> None:
        with pytest.raises(InterruptedError):
            hw.betweenness_centrality(generate.grid(300, 300), threads=3, device="cpu", progress=progress)
        ended.put(True)

    ended: SimpleQueue[bool] = SimpleQueue()
    threading.Thread(target=long, daemon=True).start()
    try:
        assert under_way.wait(60)
        tiny = generate.path(4)
        for question in ("vertices", "hops"):
            found = within(30, lambda question=question: QUESTIONS[question](tiny, threads=2, device="cpu"))
            assert len(found) == 4 and ended.empty()
    finally:
        enough.set()
    assert ended.get(timeout=60)


# ---------------------------------------------------------------- idle, alone


@pytest.mark.usefixtures("eager")
def test_idle_helpers_use_no_processor() -> None:
    for question in ("vertices", "wide", "hops"):
        QUESTIONS[question](graph("kronecker"), threads=4, device="cpu")
    time.sleep(0.1)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.1, "four helpers that spin would have used some seconds of processor time"


LAYER = """
import numba.np.ufunc.parallel as parallel
import hopwave as hw
from hopwave.engines.cpu import crew, policy

policy.VERTICES_PER_THREAD = 16
G = hw.generate.kronecker(10, seed=4)
hw.bfs(G, 0, threads=3, path_counts=True)
hw.betweenness_centrality(G, threads=3)
hw.betweenness_centrality(G, k=3, threads=3, plan="hopwave-wide")
print(parallel._is_initialized)
"""


@pytest.mark.slow
def test_no_threading_layer_of_numba_is_started() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", LAYER], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr
