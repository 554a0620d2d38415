"""Rejections by executors: what is not one, one that cannot go on, and calls that cannot be dealt."""

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import hopwave as hw
from hopwave import EngineError, ExecutorError, GraphError, generate
from hopwave.system.progress import Meter
from rejections import Row, each

MESH, RING = generate.grid(9, 9), generate.cycle(3).with_weights([0.0] * 6)
POOL = ThreadPoolExecutor(1)  # starts no thread before it gets work
CLOSED = ThreadPoolExecutor(1)
CLOSED.shutdown()
CALLS: list[Callable[..., Any]] = [
    hw.betweenness_centrality,
    hw.harmonic_centrality,
    lambda G, **how: hw.betweenness_centrality(G, epsilon=0.1, **how),
]


class Forgetful(Executor):
    """Does the work, but returns nothing."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
        work(*arguments, **named)


class Other(Executor):
    """Returns something else than the work does."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
        future: Future[str] = Future()
        future.set_result("done")
        return future


ROWS: list[Row] = [
    *each(lambda ask: ask(MESH, executor=4), CALLS, GraphError, "executor=4 is not a concurrent.futures.Executor"),
    *each(lambda ask: ask(MESH, executor=POOL, threads=2), CALLS, GraphError, "omit threads="),
    (lambda: hw.betweenness_centrality(RING, weights=True, executor=POOL), GraphError, "adds nothing to the length"),
    (lambda: hw.harmonic_centrality(MESH, top=3, executor=POOL), GraphError, "top="),
    (lambda: hw.betweenness_centrality(MESH, executor=CLOSED), EngineError, "create a new executor and call again"),
    (lambda: hw.betweenness_centrality(MESH, executor=Forgetful()), ExecutorError, "is not a Future"),
    (lambda: hw.closeness_centrality(MESH, device="cpu", executor=Other()), ExecutorError, "returned 'done'"),
    (lambda: Meter("reading", 10, "yes"), GraphError, "progress='yes'"),  # type: ignore[arg-type]
]
