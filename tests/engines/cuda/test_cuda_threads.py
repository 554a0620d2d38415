"""Many callers of one GPU: threads that are new to CUDA, several threads and processes at once, and forks."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopwave as hw
import mixed
from hopwave import generate
from hopwave.arrays import on_host

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

G = mixed.graph()
every_question = pytest.mark.parametrize("name", mixed.QUESTIONS)


def in_new_thread(call: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result(timeout=60)


def expected(name: str) -> Any:
    return mixed.answer(name, G, "cpu")


@every_question
@pytest.mark.parametrize("turns", ["here, there, here", "there, there, here"])
def test_one_thread_asks_what_another_has_prepared(name: str, turns: str) -> None:
    """A new thread has no current CUDA context until something needs one; what it has prepared outlives it."""
    graph = mixed.fresh(G)
    for turn in turns.split(", "):
        ask = partial(mixed.answer, name, graph, "cuda")
        assert mixed.agree(in_new_thread(ask) if turn == "there" else ask(), expected(name))


def test_a_result_is_read_in_another_thread_than_it_was_begun_in() -> None:
    """Arrays on the GPU are copied when they are first read."""
    graph = mixed.fresh(G)
    search = hw.bfs(graph, 0, device="cuda")
    paths = hw.sssp(graph, 0, device="cuda")
    scores = hw.betweenness_centrality(graph, sources=mixed.SOURCES, weights=False, device="cuda")
    found = in_new_thread(lambda: (search.distances, search.depth, paths.distances, scores.scores))
    assert mixed.agree(found[0], expected("search")) and found[1] == expected("search").max()
    assert mixed.agree(found[2], expected("shortest paths"))
    assert mixed.agree(found[3], expected("betweenness"))
    later = in_new_thread(lambda: hw.bfs(graph, 0, device="cuda"))
    assert mixed.agree(later.distances, expected("search"))


@pytest.mark.parametrize("shared", [True, False], ids=["one graph", "a graph each"])
def test_eight_threads_with_all_questions(shared: bool) -> None:
    """Nothing is prepared beforehand."""
    right = {name: expected(name) for name in mixed.QUESTIONS}
    assert mixed.wrong_in_eight_threads(G, shared, "cuda", right) == [[]] * 8


def test_threads_ask_the_cpu_and_the_gpu_at_once() -> None:
    graph, names = mixed.fresh(G), ["search", "closeness", "searches at once"]
    right = {name: mixed.answer(name, mixed.fresh(G), "cuda") for name in names}

    def wrong(thread: int) -> list[str]:
        device = "cuda" if thread % 2 else "cpu"
        turn = [names[(thread + i) % len(names)] for i in range(6)]
        found = {name: np.asarray(on_host(mixed.QUESTIONS[name](graph, device=device))) for name in turn}
        return [name for name in turn if not mixed.agree(found[name], right[name])]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(wrong, range(8))) == [[]] * 8


def test_an_executor_of_asyncio() -> None:
    graph, right = mixed.fresh(G), {name: expected(name) for name in mixed.QUESTIONS}

    async def ask(name: str) -> bool:
        found = await asyncio.get_running_loop().run_in_executor(None, mixed.answer, name, graph, "cuda")
        return mixed.agree(found, right[name])

    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*map(ask, right))

    assert all(asyncio.run(all_of_them()))


def test_a_small_call_beside_a_long_one_returns_at_once() -> None:
    """It returns within a second. The long call is told to end; until then its blocks keep the GPU busy."""
    small = generate.path(5)

    def ask() -> float:
        began = time.perf_counter()
        assert hw.bfs(small, 0, device="cuda").distances.tolist() == [0, 1, 2, 3, 4]
        assert hw.betweenness_centrality(small, device="cuda").scores.argmax() == 2
        return time.perf_counter() - began

    in_new_thread(ask)  # compile and load everything
    enough, under_way = threading.Event(), threading.Event()

    def progress(done: int, of: int) -> None:
        under_way.set()
        if enough.is_set():
            raise InterruptedError("enough")

    with ThreadPoolExecutor(1) as pool:
        long = pool.submit(hw.betweenness_centrality, generate.grid(500, 500), device="cuda", progress=progress)
        try:
            assert under_way.wait(30)
            seconds = [in_new_thread(ask), ask(), ask()]
            assert max(seconds) < 1, seconds
            assert not long.done(), "the long call ended before the small ones"
        finally:
            enough.set()
        assert isinstance(long.exception(timeout=60), InterruptedError)


def test_many_mixed_calls_keep_no_memory_of_the_gpu() -> None:
    import cupy

    names = list(mixed.QUESTIONS)
    graph = mixed.fresh(G)
    pool = cupy.get_default_memory_pool()

    def ask(count: int) -> tuple[int, int]:
        for turn in range(count):
            mixed.answer(names[turn % len(names)], graph if turn % 2 else mixed.fresh(G), "cuda")
        gc.collect()
        pool.free_all_blocks()
        return pool.used_bytes(), threading.active_count()

    used, threads = ask(4 * len(names))
    later, more = ask(400)
    assert later <= used + (1 << 20) and more <= threads


# ---------------------------------------------------------------- processes

FIRST = """
import threading, numpy as np, mixed
G, wrong, right = mixed.graph(), [], np.load({answers!r})

def ask():
    for name in {names!r}:
        try:
            if not mixed.agree(mixed.answer(name, G, "cuda"), right[name]):
                wrong.append(name)
        except BaseException as error:
            wrong.append(f"{{name}}: {{error!r}}")

thread = threading.Thread(target=ask)
thread.start()
thread.join()
print(wrong)
"""
SOME = ["search", "betweenness", "closeness", "pagerank", "strongly connected", "product", "shortest paths"]

FORKED = """
import os, warnings, mixed
warnings.simplefilter("ignore")
import hopwave as hw
G = mixed.graph()
right = mixed.answer("search", G, "cuda")
child = os.fork()
if child == 0:
    try:
        assert mixed.agree(mixed.answer("search", G, "cpu"), right)
        mixed.answer("search", mixed.fresh(G), "cuda")
    except hw.EngineError as error:
        print("refused:", error, flush=True)
        os._exit(0)
    except BaseException as error:
        print("other:", repr(error), flush=True)
        os._exit(4)
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), mixed.agree(mixed.answer("search", G, "cuda"), right))
"""


def started(text: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", text], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=100)
    finally:
        process.kill()
    return process.returncode, out, err


@pytest.mark.slow
def test_four_processes_whose_first_call_is_in_a_thread(tmp_path: Path) -> None:
    answers = tmp_path / "answers.npz"
    np.savez(answers, **{name: expected(name) for name in SOME})
    running = [started(FIRST.format(names=SOME[i:] + SOME[:i], answers=str(answers))) for i in range(4)]
    assert [ended(process) for process in running] == [(0, "[]\n", "")] * 4


@pytest.mark.slow
def test_a_pool_of_spawned_processes() -> None:
    """After this process has used the GPU."""
    names = ["search", "pagerank", "betweenness"]
    right = {name: mixed.answer(name, mixed.fresh(G), "cuda") for name in names}
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        begun = {name: pool.submit(mixed.answer, name, G, "cuda") for name in names}
        assert all(mixed.agree(found.result(timeout=120), right[name]) for name, found in begun.items())


@pytest.mark.slow
def test_a_forked_child_is_told_that_it_has_no_gpu() -> None:
    """CUDA does not survive a fork. The child can still search on the CPU, and its parent on the GPU."""
    code, out, err = ended(started(FORKED))
    lines = out.splitlines()
    assert code == 0 and lines[-1] == "0 True", (out, err)
    assert lines[0].startswith("refused: ") and "fork" in lines[0]


def test_interpreter_exit_during_work_on_the_gpu() -> None:
    text = """
import threading, hopwave as hw
G = hw.generate.kronecker(12, seed=1)
begun = threading.Event()

def work():
    while True:
        hw.bfs(G, 0, device="cuda").distances
        begun.set()

threading.Thread(target=work, daemon=True).start()
begun.wait(60)
late = hw.bfs(G, 1, device="cuda")
print("over")
"""
    code, out, err = ended(started(text))
    assert (code, out) == (0, "over\n"), err


def test_arrays_of_the_gpu_are_freed_in_any_thread() -> None:
    graphs = [mixed.fresh(G) for _ in range(4)]
    results = [hw.bfs(graph, 0, device="cuda") for graph in graphs]
    in_new_thread(graphs.clear)
    right = expected("search")
    assert all(np.array_equal(result.distances, right) for result in results)
    in_new_thread(results.clear)
    gc.collect()
    assert mixed.agree(mixed.answer("search", mixed.fresh(G), "cuda"), right)
