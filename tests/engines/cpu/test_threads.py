"""The CPU engine's threads do not change answers, cost nothing when idle, and serve many callers, also after a fork."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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


BAD = [0, -2, 2.5, "many", float("nan"), float("inf"), [2]]


@pytest.mark.parametrize("threads", BAD, ids=str)
@pytest.mark.parametrize("question", ["vertices", "wide", "edges", "hops"])
def test_bad_numbers_of_threads(question: str, threads: Any) -> None:
    with pytest.raises(EngineError, match=r"threads=.* is not a number of threads; give a whole number from 1"):
        QUESTIONS[question](graph("grid"), threads=threads, device="cpu")


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5"])
def test_bad_numbers_in_the_environment(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWAVE_NUM_THREADS", value)
    for question in ("vertices", "hops"):
        with pytest.raises(EngineError, match="HOPWAVE_NUM_THREADS"):
            QUESTIONS[question](graph("grid"), device="cpu")


def test_threads_are_for_the_cpu() -> None:
    with pytest.raises(EngineError, match="threads=2 is for device='cpu'"):
        hw.bfs(graph("grid"), 0, threads=2, device="reference")


# ---------------------------------------------------------------- many callers


@pytest.mark.slow
@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("same", [True, False], ids=["one graph", "four graphs"])
def test_many_python_threads_at_once(same: bool) -> None:
    """All questions at once, on graphs with nothing prepared."""
    originals = [graph("kronecker")] * 4 if same else [graph(n) for n in ("kronecker", "directed", "delaunay", "grid")]
    right = {
        question: [QUESTIONS[question](G, threads=1, device="cpu") for G in originals]
        for question in ("vertices", "wide", "edges", "hops", "paths")
    }
    one = Graph(originals[0].indptr.copy(), originals[0].indices.copy(), directed=originals[0].directed)
    fresh = [one if same else Graph(G.indptr.copy(), G.indices.copy(), directed=G.directed) for G in originals]
    work = [(question, place) for _ in range(3) for question in right for place in range(4)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda w: QUESTIONS[w[0]](fresh[w[1]], threads=3, device="cpu"), work))
    for (question, place), answer in zip(work, found, strict=True):
        assert np.array_equal(answer, right[question][place]), question


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
    start, started = threading.Thread.start, []

    def failing(thread: threading.Thread) -> None:
        if thread.name.startswith("hopwave-") and len(started) >= able:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", failing)
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
    real_start(thread)
    return found.get(timeout=seconds)


real_start = threading.Thread.start


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


# ---------------------------------------------------------------- idle, forked, alone


@pytest.mark.usefixtures("eager")
def test_idle_helpers_use_no_processor() -> None:
    for question in ("vertices", "wide", "hops"):
        QUESTIONS[question](graph("kronecker"), threads=4, device="cpu")
    time.sleep(0.1)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.1, "four helpers that spin would have used some seconds of processor time"


def script(text: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


FORK = """
import os, sys, warnings
warnings.simplefilter("ignore")  # that forking a process with threads is a risk: it is what is tested
import numpy as np
import hopwave as hw
from hopwave.engines.cpu import crew, policy

policy.VERTICES_PER_THREAD = 16
G = hw.generate.kronecker(11, edge_factor=8, seed=4)
right = hw.bfs(G, 0, threads=3).distances, hw.betweenness_centrality(G, k=50, seed=1, threads=3).scores

def again():
    found = hw.bfs(G, 0, threads=3).distances, hw.betweenness_centrality(G, k=50, seed=1, threads=3).scores
    return all(np.array_equal(a, b) for a, b in zip(found, right))

children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        os._exit(0 if again() else 3)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
print(codes, again())
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_searches() -> None:
    done = script(FORK)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 0, 0] True\n", "")


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
    done = script(LAYER)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


ENDING = """
import hopwave as hw
hw.betweenness_centrality(hw.generate.grid(20, 20), threads=4)
print("over")
"""


@pytest.mark.slow
def test_helpers_do_not_keep_the_process_alive() -> None:
    done = script(ENDING)
    assert (done.returncode, done.stdout, done.stderr) == (0, "over\n", "")
