"""Results derived from distances: closeness, connectivity, eccentricities.

    d(u, v)   hops from u to v, or the length of a shortest path along weights
    r(v)      the vertices that can reach v, including v        n   all vertices
    e(v)      eccentricity, max over t of d(v, t); defined only if v reaches every t

Values equal NetworkX's exactly; sums along weights may differ by rounding.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algorithms.many_sources import block_rows, sweep
from hopwave.algorithms.reduction import Reduction
from hopwave.algorithms.reduction.distance_sums import sums
from hopwave.arrays import ignoring, on_host
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import Floats, Integers, Progress
from hopwave.planning.many_sources import Sweep

Goal = Literal["eccentricity", "diameter", "radius", "periphery", "center"]

SMALL = 256  # up to this many vertices, bounds save no time: all searches run in one batch
BATCH = 64  # searches per round of bounds
# If a search settles fewer other vertices on average, all remaining vertices are searched. A GPU searches thousands
# at a time, and the host compares their distances with the bounds row by row.
MIN_SETTLED, MIN_SETTLED_BY_GPU = 4, 256
FAR = np.int32(2**30)  # more than any distance


@ignoring("over")
def closeness(reached: Integers | Floats, total: Integers | Floats, n: int, wf_improved: bool) -> Floats:
    """(r − 1) / Σ d, times (r − 1) / (n − 1) for Wasserman and Faust; 0 for a vertex that no other vertex reaches."""
    others = reached - 1.0
    score: Floats = np.divide(others, total, out=np.zeros(len(total)), where=total > 0)
    if wf_improved and n > 1:
        score *= others / (n - 1)
    return score


def connected(engine: Engine, graph: Graph) -> bool:
    """Whether every vertex reaches every other; in a directed graph: vertex 0 reaches all, and all reach vertex 0."""
    if graph.n == 0:
        return False
    engine = counting_hops(engine, graph)
    if not graph.directed:
        return not engine.components(graph, strong=False).any()
    one = Sweep(np.zeros(1, np.int64), "sums")
    return all(sweep(engine, G, one, "connection", False).reached[0] == G.n for G in (graph, graph.reversed()))


def counting_hops(engine: Engine, graph: Graph) -> Engine:
    """The engine, or the CPU's if the engine supports only weighted distances."""
    return engine if engine.why_not_operation("sweep", graph) is None else engines.engine("cpu")


def check_connected(engine: Engine, graph: Graph, what: str) -> None:
    """Raise a GraphError if a distance is infinite. `what` names the quantity that needs finite distances."""
    if graph.n == 0:
        raise GraphError(f"the graph has no vertices, so {what} is undefined; pass a graph with at least one vertex")
    if not connected(engine, graph):
        kind = "strongly connected" if graph.directed else "connected"
        part = "strong component, G.subgraph(hw.strongly_connected_components(G).largest())"
        part = part if graph.directed else "component"
        finder = engines.engine("cpu") if graph.directed else counting_hops(engine, graph)
        count = int(finder.components(graph, graph.directed).max()) + 1
        raise GraphError(
            f"{what} is infinite: the graph is not {kind} ({count:,} components); "
            f"use its largest {part}, or harmonic centrality or efficiency, which allow infinite distances"
        )


# ------------------------------------------------------------------ bounds instead of all searches

# Takes & Kosters (2013). A search from s computes its eccentricity e(s), and bounds the eccentricity of every v:
#     max(d(v, s), e(s) − d(s, v))  ≤  e(v)  ≤  d(v, s) + e(s).
# A vertex is open while the result depends on its exact eccentricity.
#
# Along weights, computed distances have up to n rounding errors, so bounds are widened accordingly (`rounding`). The
# diameter and the radius must then come from a search, so they are found like the periphery and the center.
OPEN: dict[Goal, Callable[[Any, Any], Any]] = {
    "eccentricity": lambda low, high: low < high,
    "diameter": lambda low, high: high > low.max(),
    "radius": lambda low, high: low < high.min(),
    "periphery": lambda low, high: (low < high) & (high >= low.max()),
    "center": lambda low, high: (low < high) & (low <= high.min()),
}
FROM_SEARCHES: dict[Goal, Goal] = {"diameter": "periphery", "radius": "center"}


def bounded_eccentricities(
    engine: Engine,
    graph: Graph,
    goal: Goal,
    progress: Progress,
    threads: int | None,
    weighted: bool = False,
    alone: bool = True,
    reduce: bool = True,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Reduction | None]:
    """Bounds low ≤ e ≤ high that are tight enough for the goal, and the reduction of the last searches."""
    n = graph.n
    low, high = (np.zeros(n), np.full(n, np.inf)) if weighted else (np.zeros(n, np.int32), np.full(n, FAR))
    error = rounding(graph) if weighted else 0.0
    is_open = OPEN[FROM_SEARCHES.get(goal, goal) if error else goal]
    every = n <= SMALL or (goal == "eccentricity" and error > 0)
    size, most = 1, min(BATCH, block_rows(n, weighted=weighted))
    fewest = most * (MIN_SETTLED_BY_GPU if engine.name == "cuda" else MIN_SETTLED)

    def tighten(chosen: Integers) -> None:
        """Tighten the bounds of all vertices by searches from `chosen`."""
        job = Sweep(chosen, "rows", weighted=weighted)
        away = on_host(sweep(engine, graph, job, "bounds", False, threads).rows)
        back = on_host(sweep(engine, graph.reversed(), job, "bounds", False, threads).rows) if graph.directed else away
        for s, from_s, to_s in zip(chosen, away, back, strict=True):
            e = from_s.max()
            near, far, rest = to_s, to_s + e, e - from_s
            if error:
                near, far, rest = near - error * near, far + error * far, rest - error * (e + from_s)
            np.maximum(low, near, out=low)
            np.maximum(low, rest, out=low)
            np.minimum(high, far, out=high)
            low[s] = high[s] = e

    chosen = np.array([np.argmax(graph.degrees)], np.int64)
    before, remaining, about = n, n, None
    while remaining:
        stuck = size == most and before - remaining < fewest
        if every or stuck:
            rest = np.flatnonzero(is_open(low, high)).astype(np.int64)
            job = Sweep(rest, "sums", weighted=weighted)
            found, about = sums(engine, graph, job, "farthest", goal, progress, threads, alone, reduce)
            low[rest] = high[rest] = found.farthest
            break
        tighten(chosen)
        still = np.flatnonzero(is_open(low, high))
        before, remaining = remaining, len(still)
        size = min(2 * size, most)
        chosen = most_promising(still, low, high, size)
    return low, high, about


def rounding(graph: Graph) -> float:
    """Relative rounding error of a bound along weights; 0 if every sum is exact.

    A path is rounded up to n − 1 times, each time by at most 2^-53; a bound compares a sum of two paths with a third.
    """
    weights = np.asarray(graph.weights, np.float64)
    above = int(np.frexp(weights.max(initial=0.0))[1]) + graph.n.bit_length()  # every path is shorter than 2^above
    whole = np.rint(np.ldexp(weights, 53 - above))
    return 0.0 if np.array_equal(np.ldexp(whole, above - 53), weights) else graph.n * 2.0**-51


def most_promising(still: npt.NDArray[np.intp], low: Any, high: Any, size: int) -> Integers:
    """The open vertices to search from next: highest upper bounds, lowest lower bounds, and as many others."""
    if len(still) <= size:
        return still.astype(np.int64)
    if size == 1:
        return still[[np.argmax(high[still])]].astype(np.int64)
    quarter = max(1, size // 4)
    outer, inner = still[least(-high[still], quarter)], still[least(low[still], quarter)]
    spread = still[np.arange(size - 2 * quarter) * len(still) // max(1, size - 2 * quarter)]
    return np.unique(np.concatenate([outer, inner, spread])).astype(np.int64)


def least(keys: Any, count: int) -> npt.NDArray[np.intp]:
    """The positions of the `count` smallest keys, unordered; ties are broken by position."""
    border = np.partition(keys, count - 1)[count - 1]
    below = np.flatnonzero(keys < border)
    return np.concatenate([below, np.flatnonzero(keys == border)[: count - len(below)]])
