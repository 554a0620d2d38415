"""Many callers of one machine: threads, pools of processes, asyncio, a long call meanwhile, the process's end."""

import asyncio
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from test_betweenness import compiled_machines

import hopwave as hw
import mixed
from hopwave import generate
from questions import available
from together import started

G = mixed.graph()
SOME = ["search", "betweenness", "closeness", "pagerank", "shortest paths", "product"]
POOLS: list[Any] = [("fork", "cpu"), ("spawn", "cpu")]  # CUDA does not survive a fork: see test_cuda_threads.py
POOLS += [pytest.param("spawn", "cuda", marks=pytest.mark.gpu)] * available("cuda")


@pytest.fixture(scope="module")
def right() -> dict[str, Any]:
    return {name: mixed.answer(name, G, "cpu") for name in mixed.QUESTIONS}


def in_new_thread(call: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result(timeout=600)


def output_of(*arguments: str, quiet: bool = True) -> str:
    """What a new process prints that ends without an error, and without a message if `quiet`."""
    code, out, err = started(sys.executable, *arguments)
    assert code == 0 and not (quiet and err), out + err
    return out


@compiled_machines
@pytest.mark.parametrize("shared", [True, False], ids=["one graph", "a graph each"])
def test_eight_threads_with_all_questions(device: str, shared: bool, right: dict[str, Any]) -> None:
    """Nothing is prepared beforehand."""
    assert mixed.wrong_in_eight_threads(G, shared, device, right) == [[]] * 8


@compiled_machines
def test_an_executor_of_asyncio(device: str, right: dict[str, Any]) -> None:
    graph = mixed.fresh(G)

    async def all_of_them() -> list[Any]:
        run = asyncio.get_running_loop().run_in_executor
        return await asyncio.gather(*(run(None, mixed.answer, name, graph, device) for name in right))

    assert all(map(mixed.agree, asyncio.run(all_of_them()), right.values()))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize(("way", "device"), POOLS)
def test_a_pool_of_processes(way: str, device: str, right: dict[str, Any]) -> None:
    """After this process has used its threads or its GPU: a forked process has none of its threads."""
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {way} here")
    assert mixed.agree(mixed.answer("search", mixed.fresh(G), device), right["search"])
    names = SOME[:1] if (way, device) == ("spawn", "cpu") else SOME  # it compiles or loads everything anew
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(way)) as pool:
        begun = {name: pool.submit(mixed.answer, name, G, device) for name in names}
        assert all(mixed.agree(found.result(timeout=600), right[name]) for name, found in begun.items())


@pytest.mark.slow
@compiled_machines
def test_a_small_call_beside_a_long_one_returns_at_once(device: str) -> None:
    """The long call would take minutes; it ends when it is told to. Until then it keeps all threads or the GPU busy."""
    small, enough, under_way = generate.path(5), Event(), Event()
    size = 500 if device == "cuda" else 300

    def ask() -> float:
        began = time.perf_counter()
        assert hw.bfs(small, 0, device=device).distances.tolist() == [0, 1, 2, 3, 4]
        assert hw.betweenness_centrality(small, device=device).scores.argmax() == 2
        return time.perf_counter() - began

    def progress(done: int, of: int) -> None:
        under_way.set()
        if enough.is_set():
            raise InterruptedError("enough")

    in_new_thread(ask)  # compile and load everything
    with ThreadPoolExecutor(1) as pool:
        long = pool.submit(hw.betweenness_centrality, generate.grid(size, size), device=device, progress=progress)
        try:
            assert under_way.wait(600)
            seconds = [in_new_thread(ask), ask(), ask()]
            assert max(seconds) < (1 if device == "cuda" else 30), seconds  # cores may be busy with other tests
            assert not long.done(), "the long call ended before the small ones"
        finally:
            enough.set()
        assert isinstance(long.exception(timeout=600), InterruptedError)


ENDING = """
import threading, hopwave as hw
G, begun, on = hw.generate.grid(60, 60), threading.Event(), {"device": "DEVICE"}

def work():
    while True:
        hw.bfs(G, 0, **on).distances
        begun.set()
        if on["device"] == "cpu":
            hw.betweenness_centrality(G, threads=2, **on)

for _ in range(3 if on["device"] == "cpu" else 1):
    threading.Thread(target=work, daemon=True).start()
assert begun.wait(600)
late = hw.bfs(G, 1, **on)
print("over", flush=True)
"""


@pytest.mark.slow
@compiled_machines
def test_the_interpreter_ends_during_work(device: str) -> None:
    assert output_of("-c", ENDING.replace("DEVICE", device), quiet=device == "cpu") == "over\n"


@pytest.mark.slow
@compiled_machines
def test_many_mixed_calls_keep_neither_memory_nor_threads(device: str) -> None:
    """In a new process, so that memory kept by other tests does not count."""
    soak = Path(__file__).parents[1] / "cpu" / "soak.py"
    assert "0 wrong" in output_of(str(soak), "150", "--device", device, quiet=device == "cpu")
