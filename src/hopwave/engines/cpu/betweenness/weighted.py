"""Betweenness along weights: the way back from one source, and a worker that takes block after block.

See betweenness/dijkstra.py for the way out, betweenness/state.py for δ and for what workers share. λ(v) / σ(v) is the
mean number of arcs on the shortest paths to v, so that Σ δ must be Σ (λ(t) / σ(t) - 1) over the targets: the
certificate.

σ and λ are plain float64 up to 2^LARGEST. A source with more paths is counted with an exponent per vertex
(betweenness/weighted_extended.py). So is one from which an arc adds nothing to a distance, because its weight is 0 or
too small: it joins vertices at the same distance, which must be put into order first. Where such arcs form a cycle, the
number of shortest paths is not defined, and the run stops.
"""

import numpy as np

from hopwave.engines import uncountable
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness import dijkstra, state
from hopwave.engines.cpu.betweenness.run import NO_CUTOFF, Accumulation
from hopwave.engines.cpu.betweenness.source import claim_block, finish_block
from hopwave.engines.cpu.betweenness.weighted_extended import extended_source, report_cycle, sequence
from hopwave.engines.cpu.integers import U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add, noinline
from hopwave.engines.cpu.path_counts import LARGEST
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.system.numba_cache import njit

TOO_MANY = 2.0**LARGEST
NO_COPIES = np.empty(0)
EVERY = np.uint32(2**32 - 1)  # the target of a search that settles all vertices: no vertex has this number


@njit(**INNER)
def walk_back(own, shared, demand, settled, row, squares):
    """δ from the vertices settled last to the source. Returns Σ δ, and what it must be."""
    noinline()
    nodes, order, before, targets = own.nodes, own.order, own.before, shared.targets
    edges, extra = shared.limits.edges, np.float64(shared.limits.endpoints)
    inner = 0.0 if edges else 1.0  # a path over h arcs has h - 1 inner vertices
    found, due, counted = 0.0, 0.0, 0.0
    i = settled
    while i > U1:
        i -= U1
        v = order[i]
        paths, delta = nodes[v, dijkstra.PATHS], nodes[v, dijkstra.DELTA]
        weight = state.counts(demand, targets, v)
        share = (weight + delta) / paths * state.copies_of(shared.copies, v)  # each predecessor u takes σ(u) times that
        u = before.tail[v]
        flow = nodes[u, dijkstra.PATHS] * share
        nodes[u, dijkstra.DELTA] += flow
        if edges:
            row[before.arc[v]] += flow
            found += flow
        tie = np.uint64(before.tie[v])
        while tie != dijkstra.NONE:
            u = before.tie_tail[tie]
            flow = nodes[u, dijkstra.PATHS] * share
            nodes[u, dijkstra.DELTA] += flow
            if edges:
                row[before.tie_arc[tie]] += flow
                found += flow
            tie = np.uint64(before.following[tie])
        due += (nodes[v, dijkstra.TOTAL] / paths - inner) * weight
        counted += weight
        if not edges:
            found += delta
            row[v] += delta + extra * weight
            if squares.size:
                squares[v] += delta * delta
    if not edges:
        row[order[U0]] += extra * counted  # the source is an end of every path
    return found, due


@njit(**INNER)
def one_source(A, own, shared, number, row, squares):
    """Add what one source contributes to row. Returns both sides of its certificate; negative if it cannot."""
    demand = state.demand_at(shared, number)
    settled, greatest, flat = dijkstra.search(A, own, shared.sources[number], EVERY)
    if not flat and greatest <= TOO_MANY:
        found, due = walk_back(own, shared, demand, settled, row, squares)
    else:
        backwards, unready = sequence(own, settled)
        if np.uint64(backwards.size) < settled:
            report_cycle(own, shared, settled, unready)
            return -1.0, -1.0
        atomic_add(shared.control, state.EXTENDED, 1)
        found, due = extended_source(own, shared, demand, backwards, row, squares)
    dijkstra.forget(own, settled)
    return found, due


@njit(**COMPILED)
def take_weighted_sources(A, own, shared):
    """A worker: blocks of sources until none is left."""
    scores, sources, size, n = shared.scores, shared.sources, shared.limits.size, own.distance.size
    while True:
        block = claim_block(shared)
        if block < 0:
            return
        row = scores[block % scores.shape[0]]
        squares = row[n:] if shared.limits.squares else row[:0]
        for i in range(block * size, min((block + 1) * size, sources.size)):
            found, due = one_source(A, own, shared, i, row, squares)
            if found < 0.0:
                return
            shared.certificate[i, 0], shared.certificate[i, 1] = found, due
        finish_block(shared, block)


def rows_with_lengths(loaded, cutoff, copies=NO_COPIES):
    """The graph as workers read it along weights."""
    graph, lengths, farthest = loaded.graph, loaded.lengths, np.finfo(np.float64).max
    cutoff = farthest if cutoff is None else min(float(cutoff), farthest)
    per_length, final = policy.length_buckets(*loaded.length_range)
    return dijkstra.Lengths(*unsigned_rows(graph), lengths, cutoff, per_length, final, loaded.scattered, copies)


def check_cycle(graph, control):
    """Raise a GraphError if a worker met a cycle of arcs that add nothing to a distance."""
    if control[state.CYCLE]:
        source, u, v = (int(cell) for cell in control[state.CYCLE + 1 : state.CYCLE + 4])
        raise uncountable(graph, source, u, v)


class WeightedAccumulation(Accumulation):
    """Like Accumulation, along the graph's weights."""

    kernel = property(lambda self: take_weighted_sources)
    reuses = False

    def __init__(self, loaded, job, plan, threads):
        super().__init__(loaded, job, plan, threads)
        self._graph = loaded.graph

    @staticmethod
    def bytes_per_worker(n, m, width, edges):
        return dijkstra.bytes_of_state(n, m, edges) + 16 * width

    def _rows(self, loaded):
        return rows_with_lengths(loaded, self.job.cutoff, self._copies)

    def _hop_limit(self):
        return NO_CUTOFF  # Lengths has the cutoff

    def _worker_state(self):
        return dijkstra.new_state(self._n, len(self.A.indices), self.job.edges)

    def _check(self, control):
        check_cycle(self._graph, control)
