"""The core of a graph: vertices of degree three and more, joined by edges and by chains of vertices of degree two.

Every component is one block (biconnected), so that a chain has two different ends. A cycle has no core; two neighbours
of it are chosen. Each chain c is kept twice, from either end: p = 2c from x, p ^ 1 = 2c + 1 from y.

    end[p]     the core vertex that p begins at             begin[p]   where its numbers begin in the arrays below
    twice[..]  2 × the distance of its inner vertices from end[p], ascending, and a number that is never read
    sent[..]   Σ of the demand of its first inner vertices as sources, beginning with 0; taken[..]: as targets
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.system.numba_cache import njit

# The core as workers read it. Arcs have lengths and counts: how many edges and chains are that short. first_vertex,
# first_chain: of each component, and `component` of each core vertex. at, chains: the chains p that begin at a vertex.
Core = namedtuple(
    "Core",
    "indptr heads lengths counts component first_vertex first_chain at chains end begin size length twice sent taken "
    "demand members member_begin needed needed_begin",
)


class Chains(NamedTuple):
    """Chains in the numbers of the graph: ends, length, number of inner vertices; all inner vertices, their distances
    from x, and the arcs of all edges, one more per chain than inner vertices. `edges`: x, y, length, arc of the others.
    """

    ends: Any
    length: Any
    size: Any
    inner: Any
    distance: Any
    arcs: Any
    edges: Any


def core_vertices(graph: Any, label: Any) -> Any:
    """One bool per vertex; `label`: of components."""
    core = np.diff(graph.indptr) != 2
    without = np.setdiff1d(label, label[core])
    if len(without):
        first = np.unique(label, return_index=True)
        chosen = first[1][np.searchsorted(first[0], without)]
        core[chosen] = True
        core[graph.indices[graph.indptr[chosen]]] = True
    return core


@njit(**COMPILED)
def walk_chains(indptr, indices, lengths, core):
    """The arrays of Chains, each cut to what was found."""
    n, m = core.size, indices.size
    ends, length, size = np.empty((m, 2), np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    inner, distance, arcs = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(m, np.int64)
    edges, seen = np.empty((m, 4), np.int64), np.zeros(n, np.bool_)
    chains, placed, walked, direct = 0, 0, 0, 0
    for x in range(n):
        if not core[x]:
            continue
        for j in range(np.int64(indptr[x]), np.int64(indptr[x + 1])):
            v, so_far, arc = np.int64(indices[j]), np.int64(lengths[j]), j
            if core[v]:
                if x < v:
                    edges[direct, 0], edges[direct, 1], edges[direct, 2], edges[direct, 3] = x, v, so_far, j
                    direct += 1
                continue
            if seen[v]:
                continue
            before, k = x, 0
            while True:
                arcs[walked] = arc
                walked += 1
                if core[v]:
                    break
                seen[v] = True
                inner[placed], distance[placed] = v, so_far
                placed += 1
                k += 1
                arc = np.int64(indptr[v])
                if indices[arc] == before:
                    arc += 1
                before, v, so_far = v, np.int64(indices[arc]), so_far + np.int64(lengths[arc])
            ends[chains, 0], ends[chains, 1], length[chains], size[chains] = x, v, so_far, k
            chains += 1
    return (
        ends[:chains], length[:chains], size[:chains], inner[:placed], distance[:placed], arcs[:walked], edges[:direct]
    )  # fmt: skip


@njit(**COMPILED)
def grow_batches(indptr, heads, most):
    """Core vertices in batches of neighbours: vertices in order, and where batches begin."""
    n = indptr.size - 1
    order, taken, begins = np.empty(n, np.int64), np.zeros(n, np.bool_), [0]
    end, following, at = 0, 0, 0
    while end < n:
        if at == end:  # nothing is left around: go on anywhere
            while taken[following]:
                following += 1
            taken[following] = True
            order[end] = following
            end += 1
        v = order[at]
        at += 1
        for j in range(indptr[v], indptr[v + 1]):
            w = heads[j]
            if not taken[w] and end - begins[-1] < most:
                taken[w] = True
                order[end] = w
                end += 1
        if end - begins[-1] >= most:
            begins.append(end)
            at = end
    if begins[-1] != n:
        begins.append(n)
    return order, np.array(begins)


def arcs_of(K: int, x: Any, y: Any, length: Any) -> tuple[Any, Any, Any, Any, tuple[Any, Any]]:
    """Rows of the core graph: of all edges and chains between two ends the shortest, and how many are as short.

    Returns offsets, heads, lengths, counts; and the two arcs of each pair of ends, with the pair of every edge or
    chain, which is −1 if a shorter one exists.
    """
    low, high = np.minimum(x, y), np.maximum(x, y)
    order = np.lexsort((length, high, low))
    first = np.ones(len(order), bool)
    first[1:] = (low[order[1:]] != low[order[:-1]]) | (high[order[1:]] != high[order[:-1]])
    group = np.cumsum(first) - 1
    best = length[order][first]
    tight = length[order] == best[group]
    count = np.bincount(group[tight], minlength=len(best)).astype(np.float64)
    low, high = low[order][first], high[order][first]
    tails, heads = np.concatenate([low, high]), np.concatenate([high, low])
    rows = np.lexsort((heads, tails))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=K))])
    place = np.empty(len(rows), np.int64)
    place[rows] = np.arange(len(rows))
    both = np.stack([place[: len(best)], place[len(best) :]], axis=1)  # the two arcs of a pair of ends
    pair = np.empty(len(order), np.int64)
    pair[order] = np.where(tight, group, -1)
    return indptr, heads[rows], np.tile(best, 2)[rows], np.tile(count, 2)[rows], (both, pair)
