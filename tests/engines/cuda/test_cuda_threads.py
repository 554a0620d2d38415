"""Callers of one GPU: threads that are new to CUDA, the CPU at the same time, first calls in threads, and forks."""

import gc
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from test_callers import SOME, G, in_new_thread, output_of

import hopwave as hw
import mixed
from hopwave import linalg as la

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]


def expected(name: str) -> Any:
    return mixed.answer(name, G, "cpu")


@pytest.mark.parametrize("name", mixed.QUESTIONS)
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


def test_threads_ask_the_cpu_and_the_gpu_at_once() -> None:
    graph, names = mixed.fresh(G), ["search", "closeness", "searches at once"]
    right = {name: mixed.answer(name, mixed.fresh(G), "cuda") for name in names}

    def wrong(thread: int) -> list[str]:
        turn, ask = [names[(thread + i) % len(names)] for i in range(6)], partial(mixed.answer, G=graph)
        return [name for name in turn if not mixed.agree(ask(name, device=("cpu", "cuda")[thread % 2]), right[name])]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(wrong, range(8))) == [[]] * 8


def test_two_threads_prepare_one_set_of_arcs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arrays of the slower thread would be freed, although prepared launches use their addresses."""
    from hopwave.engines.cuda import shortest_paths

    A, meet, lengths_of = la.Matrix.from_graph(G, G.weights).to("cuda"), Barrier(2), shortest_paths.lengths_of
    monkeypatch.setattr(shortest_paths, "lengths_of", lambda *given: (meet.wait(60), lengths_of(*given))[1])
    with ThreadPoolExecutor(2) as pool:
        assert len(set(pool.map(shortest_paths.arcs_of, [A, A]))) == 1


# ---------------------------------------------------------------- processes

FIRST = """
import numpy as np, mixed
from concurrent.futures import ThreadPoolExecutor
G, right = mixed.graph(), np.load({answers!r})

def wrong():
    return [name for name in {names!r} if not mixed.agree(mixed.answer(name, G, "cuda"), right[name])]

print(ThreadPoolExecutor(1).submit(wrong).result())
"""
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


@pytest.mark.slow
def test_four_processes_whose_first_call_is_in_a_thread(tmp_path: Path) -> None:
    answers = tmp_path / "answers.npz"
    np.savez(answers, **{name: expected(name) for name in SOME})
    programs = [FIRST.format(names=SOME[i:] + SOME[:i], answers=str(answers)) for i in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(output_of, ["-c"] * 4, programs)) == ["[]\n"] * 4


@pytest.mark.slow
def test_a_forked_child_is_told_that_it_has_no_gpu() -> None:
    """CUDA does not survive a fork. The child can still search on the CPU, and its parent on the GPU."""
    first, *_, last = output_of("-c", FORKED, quiet=False).splitlines()
    assert first.startswith("refused: ") and "fork" in first and last == "0 True"


def test_arrays_of_the_gpu_are_freed_in_any_thread() -> None:
    graphs = [mixed.fresh(G) for _ in range(4)]
    results = [hw.bfs(graph, 0, device="cuda") for graph in graphs]
    in_new_thread(graphs.clear)
    right = expected("search")
    assert all(np.array_equal(result.distances, right) for result in results)
    in_new_thread(results.clear)
    gc.collect()
    assert mixed.agree(mixed.answer("search", mixed.fresh(G), "cuda"), right)
