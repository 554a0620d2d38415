"""Betweenness from one source along weights, compiled: Dijkstra's algorithm, path counts, and the way back.

    d(v)   length of a shortest path to v: float64 sums along arcs     δ(v)   dependency, as in betweenness/state.py
    σ(v)   number of shortest paths to v                               λ(v)   arcs on all of them together

An arc u → v is on a shortest path if d(u) + its weight == d(v), exactly, as in NetworkX. Then σ(v) = Σ σ(u) and
λ(v) = Σ λ(u) + σ(u) over these arcs. λ(v) / σ(v) is the mean number of arcs to v, which the certificate needs: Σ δ must
be Σ (λ(t) / σ(t) - 1) over the targets.

Encodings
    distance   infinite, σ and λ 0 before and after every source; the way back resets what the search touched.
    arcs       on the way out, those that were as short as any to their head so far, in the order of their tails; once
               all distances are known, only the successors remain: arc numbers for edge scores, else their heads.

σ and λ are plain float64 up to 2^LARGEST. A source with more paths is counted with an exponent per vertex.

Vertices are settled in the order of their distance, so that predecessors come before successors, with one exception: an
arc that adds nothing to a distance (its weight is 0, or too small beside it) joins two vertices at the same distance.
Such arcs are put into order first (`sequence`). Where they form a cycle, a path can go round it any number of times,
and the run stops: the number of shortest paths is not defined.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from hopwave.engines.cpu.betweenness.run import NO_CUTOFF, Accumulation
from hopwave.engines.cpu.betweenness.source import claim_block, finish_block
from hopwave.engines.cpu.betweenness.state import BLOCK_SIZE, CYCLE, EDGES, ENDPOINTS, EXTENDED, SQUARES
from hopwave.engines.cpu.crew import FAILED, STOP
from hopwave.engines.cpu.intrinsics import (
    COMPILED,
    INNER,
    ONE,
    U0,
    U1,
    atomic_add,
    atomic_or,
    compare_and_swap,
    noinline,
)
from hopwave.engines.cpu.keyed_heap import PADDING, enter, remove_root
from hopwave.engines.cpu.path_counts import LARGEST, add_scaled, two_to
from hopwave.engines.cpu.views import unsigned
from hopwave.engines.uncountable import uncountable

TOO_MANY = 2.0**LARGEST

# The graph as a worker reads it, and how far it goes.
Lengths = namedtuple("Lengths", "indptr indices lengths cutoff")
# A worker's own arrays. starts: where the arcs of the i-th settled vertex begin.
WeightedState = namedtuple("WeightedState", "distance keys items order starts arcs sigma total share")


@njit(**INNER)
def search(A, own, source):
    """Settle all vertices up to the cutoff. Returns how many, and whether an arc added nothing to a distance."""
    noinline()
    indptr, indices, lengths, cutoff = A.indptr, A.indices, A.lengths, A.cutoff
    distance, keys, items = own.distance, own.keys, own.items
    order, starts, arcs = own.order, own.starts, own.arcs
    distance[source] = 0.0
    keys[U0], items[U0] = 0.0, np.uint32(source)
    size, settled, used, flat = U1, U0, U0, False
    while size > U0:
        u, here = items[U0], keys[U0]
        size -= U1
        remove_root(keys, items, size)
        if here > distance[u]:
            continue  # it was settled before, at a shorter distance
        order[settled], starts[settled] = u, used
        settled += U1
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            offer = here + lengths[j]
            known = distance[v]
            if offer <= known and offer <= cutoff:
                if offer == here:
                    if v == u:
                        continue  # a loop is on no path
                    flat = True
                arcs[used] = j
                used += U1
                if offer < known:
                    distance[v] = offer
                    enter(keys, items, size, offer, v)
                    size += U1
    starts[settled] = used
    return settled, flat


@njit(**INNER)
def count_paths(A, own, settled, edges):
    """Keep the arcs on shortest paths, and count σ and λ along them. Returns the greatest λ + σ."""
    noinline()
    indices, lengths, distance = A.indices, A.lengths, own.distance
    order, starts, arcs, sigma, total = own.order, own.starts, own.arcs, own.sigma, own.total
    sigma[order[U0]] = 1.0
    kept, begin, greatest = U0, U0, 0.0
    for i in range(settled):
        u = order[i]
        here, paths = distance[u], sigma[u]
        longer = total[u] + paths
        greatest = max(greatest, longer)
        end = starts[i + U1]
        starts[i] = kept
        for p in range(begin, end):
            j = np.uint64(arcs[p])
            v = indices[j]
            if here + lengths[j] == distance[v]:
                sigma[v] += paths
                total[v] += longer
                arcs[kept] = j if edges else v
                kept += U1
        begin = end
    starts[settled] = kept
    return greatest


@njit(**INNER)
def walk_back(A, own, shared, settled, row, squares):
    """δ from the farthest vertex to the source. Returns Σ δ, and what it must be."""
    noinline()
    indices, targets = A.indices, shared.targets
    order, starts, arcs, sigma, share = own.order, own.starts, own.arcs, own.sigma, own.share
    edges, extra = shared.limits[EDGES] != 0, np.float64(shared.limits[ENDPOINTS])
    inner = 0.0 if edges else 1.0  # a path over h arcs has h - 1 inner vertices
    found, due, counted = 0.0, 0.0, 0.0
    i = settled
    while i > U0:
        i -= U1
        u = order[i]
        paths, gathered = sigma[u], 0.0
        for p in range(starts[i], starts[i + U1]):
            if edges:
                j = np.uint64(arcs[p])
                flow = share[indices[j]]
                row[j] += paths * flow
                gathered += flow
            else:
                gathered += share[np.uint64(arcs[p])]
        delta = paths * gathered
        weight = 1.0 if targets.size == 0 else targets[u]
        share[u] = (weight + delta) / paths
        if edges:
            found += delta
        if i > U0:
            due += (own.total[u] / paths - inner) * weight
            counted += weight
            if not edges:
                found += delta
                row[u] += delta + extra * weight
                if squares.size:
                    squares[u] += delta * delta
        elif not edges:
            row[u] += extra * counted  # the source is an end of every path
        own.distance[u], sigma[u], own.total[u] = np.inf, 0.0, 0.0
    return found, due


# ------------------------------------------------------------------ where float64, or the order of distances, fails


@njit(**INNER)
def head(A, own, p, edges):
    """The head of the p-th kept arc."""
    return A.indices[np.uint64(own.arcs[p])] if edges else np.uint32(own.arcs[p])


@njit(**INNER)
def sequence(A, own, settled, edges):
    """Places in the order of settling, predecessors before successors; fewer than there are where arcs form a cycle."""
    noinline()
    order, starts = own.order, own.starts
    place, waiting = np.empty(own.distance.size, np.uint64), np.zeros(settled, np.int64)
    for i in range(settled):
        place[order[i]] = i
    for p in range(starts[settled]):
        waiting[place[head(A, own, p, edges)]] += 1
    ready = np.empty(settled, np.uint64)
    ready[U0] = U0
    tail, i = U1 if waiting[U0] == 0 else U0, U0
    while i < tail:
        at = ready[i]
        i += U1
        for p in range(starts[at], starts[at + U1]):
            behind = place[head(A, own, p, edges)]
            waiting[behind] -= 1
            if waiting[behind] == 0:
                ready[tail] = behind
                tail += U1
    return ready[:tail], waiting


@njit(**INNER)
def report_cycle(A, own, shared, settled, waiting, edges):
    """Stop the run, and name one arc of the nearest vertices that wait for each other."""
    noinline()
    order, starts, distance, control = own.order, own.starts, own.distance, shared.control
    atomic_or(control, STOP, FAILED)
    if not compare_and_swap(control, CYCLE, 0, 1):
        return
    control[CYCLE + 1] = np.int64(order[U0])
    for i in range(settled):
        for p in range(starts[i], starts[i + U1]):
            v = head(A, own, p, edges)
            if waiting[i] > 0 and distance[v] == distance[order[i]]:
                control[CYCLE + 2], control[CYCLE + 3] = np.int64(order[i]), np.int64(v)
                return


@njit(**INNER)
def extended_source(A, own, shared, settled, ready, row, squares):
    """σ as mantissa · 2^exponent per vertex, vertices in the order of `ready`. Returns as walk_back."""
    noinline()
    order, starts, targets = own.order, own.starts, shared.targets
    n = own.distance.size
    edges, extra = shared.limits[EDGES] != 0, np.float64(shared.limits[ENDPOINTS])
    inner = 0.0 if edges else 1.0
    mantissa, exponent, hops, delta = np.zeros(n), np.zeros(n, np.int64), np.zeros(n), np.zeros(n)
    mantissa[order[U0]], exponent[order[U0]] = 0.5, 1
    for i in ready:
        u = order[i]
        for p in range(starts[i], starts[i + U1]):
            v = head(A, own, p, edges)
            mantissa[v], exponent[v] = add_scaled(mantissa[v], exponent[v], mantissa[u], exponent[u])
    for i in ready:  # hops: the mean number of arcs, which needs σ(v) / σ(w)
        u = order[i]
        for p in range(starts[i], starts[i + U1]):
            v = head(A, own, p, edges)
            share = mantissa[u] / mantissa[v] * two_to(min(0, exponent[u] - exponent[v]))
            hops[v] += share * (hops[u] + 1.0)
    found, due, counted = 0.0, 0.0, 0.0
    at = np.uint64(ready.size)
    while at > U0:
        at -= U1
        i = ready[at]
        u = order[i]
        for p in range(starts[i], starts[i + U1]):
            v = head(A, own, p, edges)
            weight = 1.0 if targets.size == 0 else targets[v]
            share = mantissa[u] / mantissa[v] * two_to(min(0, exponent[u] - exponent[v])) * (weight + delta[v])
            delta[u] += share
            if edges:
                row[np.uint64(own.arcs[p])] += share
                found += share
        weight = 1.0 if targets.size == 0 else targets[u]
        if at > U0:
            due += (hops[u] - inner) * weight
            counted += weight
            if not edges:
                found += delta[u]
                row[u] += delta[u] + extra * weight
                if squares.size:
                    squares[u] += delta[u] * delta[u]
        elif not edges:
            row[u] += extra * counted
        own.distance[u], own.sigma[u], own.total[u] = np.inf, 0.0, 0.0
    return found, due


# ------------------------------------------------------------------ sources and workers


@njit(**INNER)
def one_source(A, own, shared, source, row, squares):
    """Add what one source contributes to row. Returns both sides of its certificate; negative where it cannot."""
    edges = shared.limits[EDGES] != 0
    settled, flat = search(A, own, source)
    greatest = count_paths(A, own, settled, edges)
    if not flat and greatest <= TOO_MANY:
        return walk_back(A, own, shared, settled, row, squares)
    ready, waiting = sequence(A, own, settled, edges)
    if np.uint64(ready.size) < settled:
        report_cycle(A, own, shared, settled, waiting, edges)
        return -1.0, -1.0
    atomic_add(shared.control, EXTENDED, 1)
    return extended_source(A, own, shared, settled, ready, row, squares)


@njit(**COMPILED)
def take_weighted_sources(A, own, shared):
    """A worker: blocks of sources until none is left."""
    scores, sources, size, n = shared.scores, shared.sources, shared.limits[BLOCK_SIZE], own.distance.size
    while True:
        block = claim_block(shared)
        if block < 0:
            return
        row = scores[block % scores.shape[0]]
        squares = row[n:] if shared.limits[SQUARES] else row[:0]
        for i in range(block * size, min((block + 1) * size, sources.size)):
            found, due = one_source(A, own, shared, sources[i], row, squares)
            if found < 0.0:
                return
            shared.certificate[i, 0], shared.certificate[i, 1] = found, due
        finish_block(shared, block)


class WeightedAccumulation(Accumulation):
    """As Accumulation, along the graph's weights."""

    kernel = property(lambda self: take_weighted_sources)

    def __init__(self, loaded, job, plan, threads):
        super().__init__(loaded, job, plan, threads)
        self._graph = loaded.graph

    @staticmethod
    def _bytes_per_worker(n, m, width):
        return 48 * n + 16 * m + 16 * width

    def _rows(self, loaded):
        farthest = np.finfo(np.float64).max  # an infinite sum is no distance
        cutoff = farthest if self.job.cutoff is None else min(float(self.job.cutoff), farthest)
        return Lengths(unsigned(loaded.graph.indptr), unsigned(loaded.graph.indices), loaded.lengths, cutoff)

    def _hop_limit(self):
        return NO_CUTOFF  # Lengths has the cutoff

    def _worker_state(self):
        n, m = self._n, len(self.A.indices)
        return WeightedState(
            distance=np.full(n, np.inf),
            keys=np.full(m + 1 + PADDING, np.inf),
            items=np.empty(m + 1 + PADDING, np.uint32),
            order=np.empty(n, np.uint32),
            starts=np.empty(n + 1, np.uint64),
            arcs=np.empty(m + 1, np.uint32 if m < 2**32 else np.uint64),
            sigma=np.zeros(n),
            total=np.zeros(n),
            share=np.empty(n),
        )

    def _check(self, control):
        """Raise a GraphError if a worker met a cycle of arcs that add nothing to a distance."""
        if not control[CYCLE]:
            return
        source, u, v = (int(cell) for cell in control[CYCLE + 1 : CYCLE + 4])
        raise uncountable(self._graph, source, u, v)
