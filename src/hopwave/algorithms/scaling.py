"""From sums of dependencies to betweenness scores, scaled as NetworkX scales them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hopwave.arrays import Array, on_gpu, on_host
from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails
from hopwave.graph.csr import is_compiled_faster
from hopwave.planning.jobs import Floats
from hopwave.system.parts import parted


def scale(
    sums: npt.NDArray[np.float64],
    n: int,
    *,
    normalized: bool,
    directed: bool,
    endpoints: bool,
    sampled: npt.NDArray[np.int64] | None = None,
    subset: bool = False,
) -> npt.NDArray[np.float64]:
    """Sums over all sources, or over `sampled` ones, as scores: exactly NetworkX 3.6.1's `_rescale`.

    `subset`: the sums are over sources and targets that the caller named. They are then overwritten, if on the host.

    >>> scale(np.array([0.0, 2.0, 0.0]), 3, normalized=True, directed=False, endpoints=False).tolist()
    [0.0, 1.0, 0.0]
    """
    if subset:
        return scale_subset(sums, n, normalized=normalized, directed=directed, endpoints=endpoints)
    N = n if endpoints else n - 1
    if N < 2:
        return sums

    def factor(k: int) -> float:
        """The factor for a sum over k sources; NaN if k is 0."""
        if k == 0:
            return math.nan
        return 1 / (k * (N - 1)) if normalized else N / (k * (1 if directed else 2))

    if sampled is None:
        return times(sums, factor(N))
    scaled = times(sums, factor(len(sampled)))
    if not endpoints:
        # A source adds nothing to its own sum, so the sum of a sampled source is over k - 1 sources.
        scaled[sampled] = sums[sampled] * factor(len(sampled) - 1)
    return scaled


def scale_subset(
    sums: npt.NDArray[np.float64], n: int, *, normalized: bool, directed: bool, endpoints: bool
) -> npt.NDArray[np.float64]:
    """Sums over named sources and targets as scores: NetworkX's `betweenness_centrality_subset`.

    Overwrites `sums` on the host, because a new array would take longer than a search from one source.

    For edges, endpoints is always True. NetworkX has no endpoints= for subsets of vertices; here endpoints count as
    they do without a subset, so that naming all sources gives the same scores as naming none.

    >>> scale_subset(np.array([2.0]), 3, normalized=False, directed=False, endpoints=False).tolist()
    [1.0]
    """
    if normalized:
        pairs = n * (n - 1) if endpoints else (n - 1) * (n - 2)
        if pairs <= 0:
            return sums
        if on_gpu(sums):
            from hopwave.engines.cuda.arcs import scaled

            found: Floats = scaled(sums, divisor=pairs)
            return found
        return _overwritten(np.divide, sums, pairs)
    if directed:
        return sums
    return times(sums, 0.5) if on_gpu(sums) else _overwritten(np.multiply, sums, 0.5)


def times(sums: Floats, factor: float) -> Floats:
    """sums · factor, where the sums are."""
    if not on_gpu(sums):
        return sums * factor
    from hopwave.engines.cuda.arcs import scaled

    found: Floats = scaled(sums, factor)
    return found


def _overwritten(operation: np.ufunc, sums: Floats, number: float) -> Floats:
    """operation(sums, number) in their place, on all cores if they are many."""
    parted(lambda part: operation(part, number, out=part), sums)
    return sums


# ------------------------------------------------------------------ arcs


def of_both_directions(graph: Graph, values: Array) -> Array:
    """For every arc of an undirected graph, its value plus that of its reverse, on the device of the values.

    Overwrites `values` on the host, if they are many.
    """
    if not on_gpu(values) or graph.order != "ascending":
        values = on_host(values)
        if not _is_compiled(graph):
            return values + of_reverse_arcs(graph, values)
        from hopwave.graph.arcs_compiled import add_reverse_values

        add_reverse_values(graph.indptr, graph.indices, values)
        return values
    from hopwave.engines.cuda.arcs import with_reverse

    return with_reverse(graph, values)


def of_reverse_arcs(graph: Graph, values: Floats) -> Floats:
    """For every arc of an undirected graph, the value of its reverse.

    The i-th arc in the order (head, tail) is the reverse of the i-th arc in the order (tail, head). A graph with
    ascending rows stores its arcs by (tail, head).

    >>> graph = Graph.from_edges([0, 1, 1], [1, 2, 3])  # arcs 0 → 1, 1 → 0, 1 → 2, 1 → 3, 2 → 1, 3 → 1
    >>> of_reverse_arcs(graph, np.arange(6.0)).tolist()
    [1.0, 0.0, 4.0, 5.0, 2.0, 3.0]
    """
    if _is_compiled(graph):
        from hopwave.graph.arcs_compiled import reverse_values

        return reverse_values(graph.indptr, graph.indices, values)
    tails, heads = arc_tails(graph), graph.indices
    backward = values[np.lexsort((tails, heads))]
    if graph.order == "ascending":
        return backward
    found = np.empty_like(values)
    found[np.lexsort((heads, tails))] = backward
    return found


def _is_compiled(graph: Graph) -> bool:
    return graph.order == "ascending" and is_compiled_faster(graph.m)
