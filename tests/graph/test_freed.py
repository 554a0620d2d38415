"""A graph that nobody holds is freed at once, with all that was prepared for it: no circle waits for the collector."""

import gc
import time
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hopwave as hw
import mixed
from hopwave import Graph
from hopwave import linalg as la
from hopwave.engines import cpu
from hopwave.system.compile_notice import First


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def is_freed(held: weakref.ref[Any]) -> bool:
    """Helpers of the last call may still be on their way to sleep."""
    until = time.monotonic() + 10
    while held() is not None and time.monotonic() < until:
        time.sleep(0.001)
    return held() is None


def chains() -> Graph:
    """Paths between few crossings, and trees: betweenness contracts them."""
    paths = hw.generate.cycle(400)
    u, v = paths.to_edges()
    return Graph.from_edges([*u, *range(0, 400, 40)], [*v, *range(400, 410)], weights=np.ones(410))


MORE: dict[str, Callable[[Graph], Any]] = {
    "reverse": lambda G: G.reverse().reverse(),
    "arranged": lambda G: G.arranged(),
    "statistics": lambda G: G.stats(),
    "tables": lambda G: hw.distance_table(G, [0, 1], direction="in"),
    "pairs": lambda G: hw.shortest_paths(G, [(0, 1), (1, 2), (2, 3)]),
    "labels": lambda G: G.relabel([f"v{i}" for i in range(G.n)]).index("v3"),
    "lengths": lambda G: hw.betweenness_centrality(G, weights=True),
}


CASES = [(mixed.graph, name) for name in (*mixed.QUESTIONS, *MORE)]
CASES += [(chains, name) for name in ("betweenness", "betweenness of edges", "lengths", "closeness", "pairs")]


@pytest.mark.parametrize(("make", "question"), CASES)
def test_a_graph_is_freed_without_the_collector(make: Callable[[], Graph], question: str, no_collector: None) -> None:
    G = make()
    for _ in range(2):
        MORE[question](G) if question in MORE else mixed.QUESTIONS[question](G, "cpu")
    held, arrays = weakref.ref(G), weakref.ref(G.indices.base)
    del G
    assert is_freed(held) and is_freed(arrays)


def test_a_graph_is_freed_that_was_searched_before_the_loop_was_compiled(
    monkeypatch: pytest.MonkeyPatch, no_collector: None
) -> None:
    monkeypatch.setattr(cpu, "FIRST", first := First(SimpleNamespace(overloads=())))
    monkeypatch.setattr(first, "most_seconds", 1.0)
    monkeypatch.setattr(first, "is_compiled", lambda: False)
    G = hw.generate.grid(80, 80)  # too large for the short way
    assert hw.bfs(G, 0, device="cpu").reached == G.n and first.calls == 1
    held = weakref.ref(G)
    del G
    assert is_freed(held)


def test_a_matrix_is_freed_without_the_collector(no_collector: None) -> None:
    A = la.Matrix.from_graph(mixed.graph())
    for transpose in (A, A.T):
        la.mxv(transpose, la.Vector.from_dense(np.ones(A.shape[0])), la.semiring.plus_times)
    held = weakref.ref(A.rows.indices)
    del A, transpose
    assert is_freed(held)


def test_the_reverse_of_a_graph_outlives_it() -> None:
    G = mixed.graph()
    H = G.reverse()
    assert H.reverse() is G and G.reverse() is H
    expected = mixed.fresh(G)
    del G
    assert H.reverse() == expected and H.reverse() is H.reverse()
    assert H.reverse().reverse() is H
