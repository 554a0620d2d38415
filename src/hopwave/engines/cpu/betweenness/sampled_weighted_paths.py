"""One shortest path along weights between a random pair (s, t), drawn uniformly from all of them."""

from collections import namedtuple

import numpy as np

from hopwave.engines import uncountable
from hopwave.engines.cpu.betweenness import sampled_paths as hops
from hopwave.engines.cpu.betweenness import weighted
from hopwave.engines.cpu.betweenness.weighted import NONE, PATHS
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import atomic_add, inner, noinline, outer
from hopwave.engines.cpu.path_counts import two_to
from hopwave.engines.cpu.workers import FINISHED, next_batch

# A worker's arrays: a WeightedState, the path from its end to its beginning, and the worker's sums.
WeightedPathState = namedtuple("WeightedPathState", "search path counts sums")


@inner
def walk(own, path, s, exponent, key):
    """From path[0] back to s. Returns the number of arcs of the path, or -1 if it does not end or a count is wrong."""
    noinline()
    nodes, before, wide = own.nodes, own.before, exponent.size > 0
    v, length = path[0], 0
    while v != s:
        tail, tie = before.tail[v], np.uint64(before.tie[v])
        chosen, running, found = hops.fraction(key, 2 + length) * nodes[v, PATHS], 0.0, tail
        taken = False
        while True:
            running += nodes[tail, PATHS] * (two_to(exponent[tail] - exponent[v]) if wide else 1.0)
            if not taken:
                found, taken = tail, running > chosen
            if tie == NONE:
                break
            tail, tie = before.tie_tail[tie], np.uint64(before.following[tie])
        length += 1
        if length == path.size or not abs(running - nodes[v, PATHS]) <= hops.ROUNDING * nodes[v, PATHS]:
            return -1
        v = found
        path[length] = v
    return length


@inner
def count(A, own, path, length, counts):
    """Count the inner vertices. Returns whether the arcs of the path are in the graph and add up to the distance."""
    noinline()
    indptr, indices, lengths, distance = A.indptr, A.indices, A.lengths, own.distance
    here, right = 0.0, True
    for i in range(length, 0, -1):
        u, v = path[i], path[i - 1]
        there = False
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            if indices[j] == v and here + lengths[j] == distance[v]:
                there = True
                break
        right = right and there
        here = distance[v]
        if i > 1:
            counts[v] += 1
    return right


@inner
def sample(A, own, shared, key):
    """Draw one pair and one of its shortest paths, if one is within the cutoff. False if paths cannot be counted."""
    noinline()
    found, sums, path = own.search, own.sums, own.path
    s, t = hops.pair(key, found.distance.size)
    settled, greatest, flat = weighted.search(A, found, s, np.uint32(t))
    for i in range(settled):
        u = found.order[i]
        sums[hops.ARCS] += np.int64(A.indptr[u + ONE]) - np.int64(A.indptr[u])
    exponent = np.empty(0, np.int64)
    if flat or greatest > weighted.TOO_MANY:
        backwards, unready = weighted.sequence(found, settled)
        if np.uint64(backwards.size) < settled:
            weighted.report_cycle(found, shared, settled, unready)
            return False
        mantissa, exponent, _ = weighted.extended_counts(found, backwards, A.copies)
        for i in range(settled):
            found.nodes[found.order[i], PATHS] = mantissa[found.order[i]]
        sums[hops.RECOUNTED] += found.distance[t] < np.inf
    if found.distance[t] < np.inf:
        path[0] = t
        length = walk(found, path, np.uint32(s), exponent, key)
        right = length > 0 and count(A, found, path, length, own.counts)
        sums[hops.INNER_VERTICES] += max(length - 1, 0)
        sums[hops.WRONG] += not right
    else:
        sums[hops.UNCONNECTED] += 1
    weighted.forget(found, settled)
    return True


@outer
def take_weighted_pairs(A, own, shared):
    control = shared.control
    while True:
        first, until = next_batch(control, hops.PAIRS_PER_BATCH, shared.last)
        if first == until:
            return
        for i in range(first, until):
            if not sample(A, own, shared, hops.key_of(shared.start, i)):
                return
        atomic_add(control, FINISHED, until - first)


class WeightedPathSampling(hops.PathSampling):
    kernel = property(lambda self: take_weighted_pairs)

    def __init__(self, loaded, job, threads):
        super().__init__(loaded, job, threads)
        self._whole = loaded.graph
        check_zeros(self._whole, loaded.lengths)

    def _rows(self, loaded):
        return weighted.rows_with_lengths(loaded, self.job.cutoff)

    def _bytes_per_worker(self):
        return weighted.bytes_of_state(self._n, len(self._graph.indices), False) + 12 * self._n

    def _worker_state(self):
        return WeightedPathState(
            search=weighted.new_state(self._n, len(self._graph.indices), False),
            path=np.empty(self._n, np.uint32),
            counts=np.zeros(self._n, np.int64),
            sums=np.zeros(hops.SUM_CELLS, np.int64),
        )

    def _check(self, control):
        weighted.check_cycle(self._whole, control)


def check_zeros(graph, lengths):
    """Raise a GraphError if arcs of weight 0 form a cycle, even if no drawn pair meets it."""
    zero = np.flatnonzero(lengths == 0)
    if not len(zero):
        return
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    tails = np.searchsorted(graph.indptr, zero, side="right") - 1
    heads = graph.indices[zero]
    arcs = csr_array((np.ones(len(zero), np.int8), (tails, heads)), shape=(graph.n, graph.n))
    label = connected_components(arcs, directed=True, connection="strong")[1]
    cycles = np.flatnonzero((tails != heads) & (label[tails] == label[heads]))
    if len(cycles):
        u, v = int(tails[cycles[0]]), int(heads[cycles[0]])
        raise uncountable(graph, u, u, v)
