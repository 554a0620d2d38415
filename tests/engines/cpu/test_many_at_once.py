"""Many callers at once on the CPU: threads, process pools, asyncio, the interpreter's shutdown; and a soak test.

The GPU's half is in test_cuda_threads.py. This soak test makes some hundred calls; `python tests/engines/cpu/soak.py`
makes 10,000.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import mixed

G = mixed.graph()
NAMES = list(mixed.QUESTIONS)


@pytest.fixture(scope="module")
def right() -> dict[str, object]:
    return {name: mixed.answer(name, G, "cpu") for name in NAMES}


@pytest.mark.parametrize("shared", [True, False], ids=["one graph", "a graph each"])
def test_eight_threads_with_all_questions(shared: bool, right: dict[str, object]) -> None:
    """Nothing is prepared beforehand."""
    assert mixed.wrong_in_eight_threads(G, shared, "cpu", right) == [[]] * 8


def test_an_executor_of_asyncio(right: dict[str, object]) -> None:
    graph = mixed.fresh(G)

    async def all_of_them() -> list[object]:
        run = asyncio.get_running_loop().run_in_executor
        return await asyncio.gather(*(run(None, mixed.answer, name, graph, "cpu") for name in NAMES))

    assert all(mixed.agree(found, right[name]) for name, found in zip(NAMES, asyncio.run(all_of_them()), strict=True))


SOME = ["search", "betweenness", "closeness", "pagerank", "shortest paths", "product"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_a_pool_of_processes(way: str, right: dict[str, object]) -> None:
    """After this process has used its threads: a forked process has none of them."""
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {way} here")
    names = SOME if way == "fork" else SOME[:1]  # a spawned process compiles or loads everything anew
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(way)) as pool:
        begun = {name: pool.submit(mixed.answer, name, G, "cpu") for name in names}
        assert all(mixed.agree(found.result(timeout=120), right[name]) for name, found in begun.items())


def output_of(*arguments: str) -> str:
    """What a new process prints that ends without an error."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


ENDING = """
import threading, hopwave as hw
G = hw.generate.grid(60, 60)
begun = threading.Event()

def work():
    while True:
        hw.bfs(G, 0, device="cpu", threads=2)
        begun.set()
        hw.betweenness_centrality(G, device="cpu", threads=2)

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
assert begun.wait(100)
print("over", flush=True)
"""


@pytest.mark.slow
def test_the_interpreter_ends_during_work() -> None:
    assert output_of("-c", ENDING) == "over\n"


@pytest.mark.slow
def test_many_mixed_calls_keep_neither_memory_nor_threads() -> None:
    """In a new process, so that memory kept by other tests does not count."""
    assert "0 wrong" in output_of(str(Path(__file__).with_name("soak.py")), "150")
