"""Trials of the GAP benchmark (gap.py): searches, shortest paths, ranks, components, betweenness, triangles.

Every answer is checked, by other means than those that found it. A trial ends when its answer can be read on the host.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

import hopwave as hw
from hopwave import engines
from hopwave.algorithms.components import roots
from hopwave.cli import terminal
from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails
from hopwave.system.progress import Meter

LONGEST = 255  # weights of a graph without any are whole numbers from 1 to this, as GAP draws them
TOLERANCE, ALPHA = 1e-4, 0.85  # of ranks: the sum of all changes at which rounds end


@contextmanager
def threads_of(threads: int | None) -> Iterator[None]:
    """Let functions without threads= use that many."""
    before = os.environ.get("HOPWAVE_NUM_THREADS")
    if threads is not None:
        os.environ["HOPWAVE_NUM_THREADS"] = str(threads)
    try:
        yield
    finally:
        if threads is not None:
            os.environ.pop("HOPWAVE_NUM_THREADS")
            if before is not None:
                os.environ["HOPWAVE_NUM_THREADS"] = before


def with_lengths(graph: Graph) -> Graph:
    """The graph with its own weights, or with random ones that are equal in both directions of an edge."""
    if graph.is_weighted:
        return graph
    drawn = np.random.default_rng(graph.n).integers(0, LONGEST, graph.n)
    return graph.with_weights(1.0 + (drawn[arc_tails(graph)] + drawn[graph.indices]) % LONGEST)


def timed(
    name: str, questions: Iterable[Callable[[], Any]], check: Callable[[int, Any], str | None], checked: str
) -> dict[str, Any]:
    """Ask and check each question, the first one also before, to compile and prepare. A wrong answer is an error."""
    asked = list(questions)
    asked[0]()
    seconds = []
    with Meter(f"gap {name}", len(asked), None) as meter:
        for number, ask in enumerate(asked):
            began = time.perf_counter()
            found = ask()
            seconds.append(time.perf_counter() - began)
            if wrong := check(number, found):
                raise terminal.CheckFailed(f"{name}, trial {number + 1}: {wrong}")
            meter.update(number + 1)
    return {"seconds": seconds, "average": float(np.mean(seconds)), "checked": checked}


def time_bfs(graph: Graph, sources: list[Any], device: str, threads: int | None) -> dict[str, Any]:
    """One search per trial; a wrong tree is an error."""

    def ask(source: Any, plan: Any = "auto") -> Any:
        found = hw.bfs(graph, source, device=device, threads=threads, plan=plan)
        found.reached  # noqa: B018  # known when a GPU is done
        return found

    def check(number: int, found: Any) -> str | None:
        verdict = hw.validate(graph, sources[number], found.distances, found.predecessors)
        return None if verdict.ok else "; ".join(verdict.failures)

    first = ask(sources[0])
    if first.engine == "cpu":  # the loop of large searches, and what the engine would make after some of them
        from hopwave.engines import cpu

        plan = ask(sources[0], first.plan.plan).plan.plan
        engines.engine("cpu").load(graph, plan).prepare(cpu.neighbour_order(plan))
    trials = timed("bfs", [partial(ask, source) for source in sources], check, "five rules")
    return trials | {"engine": first.engine}


def time_sssp(graph: Graph, sources: list[Any], device: str) -> dict[str, Any]:
    """One search along weights per trial: no arc may lead nearer, and one must lead to each vertex that is reached."""
    lengths = with_lengths(graph)
    tail, head, length = arc_tails(lengths), lengths.indices, np.asarray(lengths.weights)

    def ask(source: Any) -> Any:
        return hw.sssp(lengths, source, device=device).distances

    def check(number: int, d: Any) -> str | None:
        start = lengths.index(sources[number])
        through = d[tail] + length
        led = np.zeros(lengths.n, bool)
        led[head[(through == d[head]) & np.isfinite(through)]] = True
        led[start] = True
        if d[start] != 0 or (through < d[head]).any():
            return "an arc leads nearer to a vertex than its distance"
        return None if np.array_equal(led, np.isfinite(d)) else "no arc leads to a vertex at its distance"

    return timed("sssp", [partial(ask, source) for source in sources], check, "every arc")


def time_pr(graph: Graph, trials: int, device: str) -> dict[str, Any]:
    """Ranks from the start in every trial: another round must change them by less than the tolerance."""
    tail, degrees = arc_tails(graph), np.asarray(graph.degrees)

    def check(number: int, x: Any) -> str | None:
        share = np.divide(x, degrees, out=np.zeros(graph.n), where=degrees > 0)
        after = ALPHA * (np.bincount(graph.indices, share[tail], graph.n) + x[degrees == 0].sum() / graph.n)
        change = float(np.abs(after + (1 - ALPHA) / graph.n - x).sum())
        return None if change < TOLERANCE else f"another round changes the ranks by {change:g}"

    def ask() -> Any:
        return hw.pagerank(graph, ALPHA, tol=TOLERANCE / graph.n, device=device).scores

    return timed("pr", [ask] * trials, check, "another round")


def time_cc(graph: Graph, trials: int, device: str) -> dict[str, Any]:
    """Weak components, each time of a new graph, which has none kept. Checked: both ends of every arc are in the same
    component, and a search from the lowest vertex of a component reaches all of it."""
    tail = arc_tails(graph)
    both_ways = graph.to_undirected() if graph.directed else graph
    new = iter([Graph(graph.indptr, graph.indices, directed=graph.directed) for _ in range(trials + 1)])

    def check(number: int, label: Any) -> str | None:
        if (label[tail] != label[graph.indices]).any():
            return "the ends of an arc are in different components"
        found = hw.bfs(both_ways, [both_ways.label(v) for v in roots(label).tolist()], device="cpu")
        joined = found.reached == graph.n and (label[found.predecessors] == label).all()
        return None if joined else "a component is not connected"

    return timed(
        "cc", [lambda: hw.weakly_connected_components(next(new), device=device).labels] * trials, check, "search"
    )


def time_tc(graph: Graph, trials: int, device: str) -> dict[str, Any]:
    """The number of triangles: three times as many are counted vertex by vertex."""
    undirected = graph.to_undirected() if graph.directed else graph
    expected = int(hw.triangles(undirected, device="cpu").scores.sum()) // 3

    def check(number: int, found: int) -> str | None:
        return None if found == expected else f"{found} triangles, but {expected} counted vertex by vertex"

    return timed("tc", [lambda: hw.triangle_count(undirected, device=device)] * trials, check, "per vertex")


def time_bc(graph: Graph, groups: list[list[Any]], device: str, threads: int | None) -> dict[str, Any]:
    """Four sources per trial; a run that fails its certificate raises an error."""
    errors: list[float] = []

    def ask(group: list[Any]) -> Any:
        return hw.betweenness_centrality(
            graph, sources=group, device=device, threads=threads, normalized=False, progress=False
        )

    def check(number: int, found: Any) -> None:
        errors.append(found.certificate.error)

    first = ask(groups[0])  # the second call finds all that the first has made
    trials = timed("bc", [partial(ask, group) for group in groups], check, "")
    return trials | {"engine": first.engine, "checked": f"certificate {max(errors):.1e}"}
