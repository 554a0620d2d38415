"""Helper threads kept between calls, all threads on one source of betweenness, and the first searches on a machine."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import Graph, generate
from hopwave.api.validate import check
from hopwave.engines.cpu import policy, team
from hopwave.engines.cpu.betweenness.run import Accumulation
from hopwave.engines.cpu.betweenness.wide import WideAccumulation
from hopwave.engines.cpu.graph import CpuGraph
from hopwave.engines.cpu.search.small import FirstSearches, first_searches
from hopwave.planning.jobs import SearchJob
from hopwave.system.numba_cache import njit

KRONECKER = generate.kronecker(14, 8, seed=3)
RING = generate.smallworld(20_000, 10, 0.1, seed=4)
DIRECTED = generate.kronecker(14, 8, seed=5, directed=True)


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
                check(graph, [round_ % 8], found.distances, found.predecessors)
        return True

    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(many, (KRONECKER, RING, KRONECKER, RING)))


def test_no_search_sorts_or_copies_the_graph():
    graph = generate.kronecker(12, directed=True)  # with hubs
    for source in range(40):
        search(graph, source, 1)
    prepared = graph._prepared.find(CpuGraph)._adjacency
    assert set(prepared) == {"plain", "hubs"} and "_arranged" not in vars(graph)
    for rows in prepared.values():
        assert np.shares_memory(rows.indices, graph.indices) and np.shares_memory(rows.in_indices, graph.in_indices)
    assert not len(prepared["plain"].hub) and len(prepared["hubs"].hub) == graph.n


# ------------------------------------------------------------------ helpers that wait


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


# ------------------------------------------------------------------ all threads on one source


def layers(count: int, width: int) -> Graph:
    """`count` layers; every vertex is joined to all of the next layer, so there are width^count paths."""
    here = np.arange(count * width).reshape(count, width)
    source, target = np.repeat(here[:-1], width, axis=1), np.tile(here[1:], (1, width))
    return Graph.from_edges(source.ravel(), target.ravel())


def braid(count: int, width: int, strands: int) -> Graph:
    """Layers; every vertex is joined to some of the next layer at random, so that path counts differ."""
    random = np.random.default_rng(count)
    tails = np.repeat(np.arange((count - 1) * width), strands)
    heads = (tails // width + 1) * width + random.integers(0, width, tails.size)
    return Graph.from_edges(tails, heads)


def scores(graph: Graph, plan: str, threads: int, **how: Any) -> Any:
    given = {"sources": [5, 6, 700], "device": "cpu", "progress": False} | how
    return hw.betweenness_centrality(graph, plan=plan, threads=threads, **given).scores.tobytes()


WAYS: list[dict[str, Any]] = [{}, {"endpoints": True}, {"targets": range(0, 9000, 7)}, {"cutoff": 3}]


@pytest.mark.parametrize("how", WAYS, ids=lambda how: next(iter(how), "plain"))
@pytest.mark.parametrize("graph", [KRONECKER, DIRECTED, RING], ids=["kronecker", "directed", "ring"])
def test_all_threads_on_one_source_give_the_scores_of_a_source_per_thread(graph: Graph, how: dict[str, Any]):
    how = {"sources": np.argsort(-graph.degrees, kind="stable")[::400][:6].tolist(), **how}
    wide = [scores(graph, "hopwave-wide", threads, **how) for threads in (1, 3)]
    assert wide[0] == wide[1] == scores(graph, "hopwave-block", 2, **how)


def test_rounded_path_counts_do_not_depend_on_threads():
    """Counts of more than 53 bits are rounded, so that a change in the order of additions is visible."""
    assert len({scores(layers(30, 150), "hopwave-wide", threads, sources=[0, 2000]) for threads in (1, 3)}) == 1


@pytest.mark.parametrize("graph", [layers(10, 8), braid(90, 12, 3), braid(60, 30, 8)], ids=["few", "flat", "many"])
def test_the_choice_of_threads_per_source_changes_no_bit(monkeypatch: pytest.MonkeyPatch, graph: Graph):
    """The braids' path counts need more than 53 bits, so a sum in another order would differ."""
    used: list[int] = []
    for name, value in {"VERTICES_PER_THREAD": 16, "SMALL_JOB": 0, "CACHED_VERTICES": 0}.items():
        monkeypatch.setattr(policy, name, value)
    begin = WideAccumulation.__init__
    monkeypatch.setattr(WideAccumulation, "__init__", lambda *given, **how: used.append(1) or begin(*given, **how))
    found = []
    for few in (True, False):
        monkeypatch.setattr(policy, "few_sources", lambda *given, few=few: few)
        found.append(hw.betweenness_centrality(graph, sources=[0, 9, 30], threads=4, device="cpu").scores)
    assert np.array_equal(*found) and found[0].max() > 0 and used == [1]


@pytest.mark.parametrize("room", [0, 300, 3000, 10**6])
def test_room_for_sorted_arcs_changes_no_bit(monkeypatch: pytest.MonkeyPatch, room: int):
    """The room is sized by the arcs that leave a level. If more arcs lead into it, the team has no room for them."""
    graph = Graph(DIRECTED.indptr.copy(), DIRECTED.indices.copy(), directed=True)
    monkeypatch.setattr(policy, "sorted_arcs", lambda arcs: room)
    assert scores(graph, "hopwave-wide", 3) == scores(DIRECTED, "hopwave-block", 3)


def test_the_next_call_uses_the_arrays_of_the_last(monkeypatch: pytest.MonkeyPatch):
    """The scores are the same; a call with a memory limit leaves no arrays."""
    graph, made = generate.smallworld(9_000, 10, 0.1, seed=8), []
    make = Accumulation._worker_state
    monkeypatch.setattr(Accumulation, "_worker_state", lambda self: made.append(1) or make(self))
    limited = scores(graph, "auto", 2, memory_limit=1 << 30)
    assert len(made) == 2
    again = [scores(graph, "auto", 2, **how) for how in ({}, {}, {"cutoff": 4, "endpoints": True}, {})]
    assert len(made) == 4
    wide = [scores(graph, "hopwave-wide", 2) for _ in range(2)]
    assert {limited} == {again[0], again[1], again[3], *wide}


# ------------------------------------------------------------------ the first searches on a machine


def test_the_first_searches_are_plain_ones(monkeypatch: pytest.MonkeyPatch):
    """Searches are plain until the loop is compiled, by another thread once a few were made: no search waits for it."""
    for name, value in {"left": 2, "seconds_left": 100.0, "most_seconds": 1.0}.items():
        monkeypatch.setattr(FirstSearches, name, value)
    cache = SimpleNamespace(_cache_file=SimpleNamespace(_load_index=dict))
    loop = SimpleNamespace(overloads={}, py_func=search, _cache=cache)
    begun, may_end, ended = [], threading.Event(), threading.Event()

    def compiles(sources: tuple[int, ...]):
        begun.append(sources)
        assert may_end.wait(20)
        loop.overloads["compiled"] = 1
        ended.set()

    first = first_searches(RING, SearchJob(), None, loop, compiles)
    assert np.array_equal(first((3,), None)["distances"], search(RING, 3, 1).distances) and not begun
    for _ in range(4):
        found = first((3,), None)
        check(RING, [3], found["distances"], found["predecessors"])
    may_end.set()
    assert ended.wait(20) and begun == [(3,)]
    assert first((3,), None) is None and first_searches(RING, SearchJob(), None, loop, compiles) is None


def test_long_searches_compile_at_once_and_errors_are_left_to_the_next(monkeypatch: pytest.MonkeyPatch):
    for name, value in {"left": 1, "seconds_left": 100.0, "most_seconds": 1e-9}.items():
        monkeypatch.setattr(FirstSearches, name, value)
    loop, failed = SimpleNamespace(overloads={}), threading.Event()

    def fails(sources: tuple[int, ...]):
        failed.set()
        raise MemoryError

    first = FirstSearches(RING, SearchJob(), None, loop, fails)
    assert first((3,), None) is None and not failed.is_set()
    monkeypatch.setattr(FirstSearches, "most_seconds", 1.0)
    assert first((3,), None) is not None and failed.wait(20)
    for thread in threading.enumerate():
        if thread.name == "hopwave-compiling":
            thread.join(20)
    assert first((3,), None) is None
