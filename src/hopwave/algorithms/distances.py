"""What distances add up to: closeness, efficiency, eccentricity.

    d(u, v)   hops from u to v        r(v)   the vertices that can reach v, itself included        n   all vertices
    e(v)      eccentricity, max over t of d(v, t); only where every t can be reached

Values are NetworkX's, to the letter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algorithms.many_sources import block_rows, sweep
from hopwave.arrays import on_host
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.jobs import Integers, Progress, Sweep

Floats = npt.NDArray[np.float64]
Goal = Literal["eccentricity", "diameter", "radius", "periphery", "center"]

SMALL = 256  # vertices up to which all searches are made at once: nothing to save
BATCH = 64
WORTH = 4  # vertices that a search must settle besides its own, or bounding is given up
FAR = np.int32(2**30)


def closeness(reached: Integers, total: Integers, n: int, wf_improved: bool) -> Floats:
    """(r − 1) / Σ d, times (r − 1) / (n − 1) for Wasserman and Faust; 0 for a vertex that nobody reaches.

    >>> closeness(np.array([3, 1]), np.array([3, 0]), 4, wf_improved=True).round(4).tolist()
    [0.4444, 0.0]
    """
    others = reached - 1.0
    score: Floats = np.divide(others, total, out=np.zeros(len(total)), where=total > 0)
    if wf_improved and n > 1:
        score *= others / (n - 1)
    return score


def connected(engine: Engine, graph: Graph) -> bool:
    """Whether every vertex can reach every other: in a directed graph, whether one reaches all and all reach it."""
    if graph.n == 0:
        return False
    if not graph.directed:
        return not engine.components(graph, strong=False).any()
    one = Sweep(np.zeros(1, np.int64), "sums")
    return all(sweep(engine, G, one, "connection", False).reached[0] == G.n for G in (graph, graph.reversed()))


def check_connected(engine: Engine, graph: Graph, what: str) -> None:
    """An error where distances are infinite."""
    if graph.n == 0:
        raise GraphError(f"this graph has no vertices, so it has no {what}; give at least one")
    if not connected(engine, graph):
        kind = "strongly connected" if graph.directed else "connected"
        count = int((engines.engine("cpu") if graph.directed else engine).components(graph, graph.directed).max()) + 1
        raise GraphError(
            f"{what} is infinite: the graph is not {kind} ({count:,} components); "
            "take its largest component, or ask for harmonic centrality or efficiency, which allow for infinity"
        )


# ------------------------------------------------------------------ bounds instead of all searches

# Takes & Kosters (2013). From a search that starts at s, with its eccentricity e(s), follows for every v
#     max(d(v, s), e(s) − d(s, v))  ≤  e(v)  ≤  d(v, s) + e(s).
# A vertex stays open while its bounds leave room for another answer to the question.
OPEN: dict[Goal, Callable[[Any, Any], Any]] = {
    "eccentricity": lambda low, high: low < high,
    "diameter": lambda low, high: high > low.max(),
    "radius": lambda low, high: low < high.min(),
    "periphery": lambda low, high: (low < high) & (high >= low.max()),
    "center": lambda low, high: (low < high) & (low <= high.min()),
}


def bounded_eccentricities(
    engine: Engine, graph: Graph, goal: Goal, progress: Progress, threads: int | None
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Bounds low ≤ e ≤ high, tight enough for the goal: max(low) is the diameter, min(high) the radius, and so on."""
    n = graph.n
    low, high = np.zeros(n, np.int32), np.full(n, FAR)
    size = 1
    chosen = np.array([np.argmax(graph.degrees)], np.int64)
    before = remaining = n
    while remaining:
        stuck = size == BATCH and before - remaining < WORTH * BATCH
        if n <= SMALL or stuck:
            rest = np.flatnonzero(OPEN[goal](low, high)).astype(np.int64)
            found = sweep(engine, graph, Sweep(rest, "sums"), goal, progress, threads)
            low[rest] = high[rest] = found.farthest
            break
        tighten(engine, graph, chosen, low, high, threads)
        still = np.flatnonzero(OPEN[goal](low, high))
        before, remaining = remaining, len(still)
        size = min(2 * size, BATCH, block_rows(n))
        chosen = most_promising(still, low, high, size)
    return low, high


def tighten(engine: Engine, graph: Graph, chosen: Integers, low: Any, high: Any, threads: int | None) -> None:
    """What searches from the chosen vertices say about all others."""
    away = on_host(sweep(engine, graph, Sweep(chosen, "rows"), "bounds", False, threads).rows)
    back = away
    if graph.directed:
        back = on_host(sweep(engine, graph.reversed(), Sweep(chosen, "rows"), "bounds", False, threads).rows)
    for s, from_s, to_s in zip(chosen, away, back, strict=True):
        e = from_s.max()
        np.maximum(low, to_s, out=low)
        np.maximum(low, e - from_s, out=low)
        np.minimum(high, to_s + e, out=high)
        low[s] = high[s] = e


def most_promising(still: npt.NDArray[np.intp], low: Any, high: Any, size: int) -> Integers:
    """Some with the greatest upper bounds (they raise the lower ones), some with the least lower bounds (they lower the
    upper ones), and as many as both evenly from all: the others tend to lie side by side, and to say the same.

    >>> most_promising(np.arange(6), np.array([3, 1, 2, 3, 3, 3]), np.array([4, 5, 9, 8, 8, 8]), 4).tolist()
    [0, 1, 2, 3]
    """
    if len(still) <= size:
        return still.astype(np.int64)
    if size == 1:
        return still[[np.argmax(high[still])]].astype(np.int64)
    quarter = max(1, size // 4)
    outer = still[np.argsort(-high[still], kind="stable")[:quarter]]
    inner = still[np.argsort(low[still], kind="stable")[:quarter]]
    spread = still[np.arange(size - 2 * quarter) * len(still) // max(1, size - 2 * quarter)]
    return np.unique(np.concatenate([outer, inner, spread])).astype(np.int64)
