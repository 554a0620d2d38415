"""A run over the core of a graph: one forward and one backward pass per core vertex, for all sources.

Workers process batches of core vertices; a chain needs the rows of both endpoints, so a batch also computes others.
"""

from collections import namedtuple
from math import gcd

import numpy as np

from hopwave import engines
from hopwave.engines.cpu.betweenness import core_graph as cores
from hopwave.engines.cpu.betweenness import core_rows as rows
from hopwave.engines.cpu.betweenness.state import ANY, READY, claim_block, finish_block, row_of, score_cells
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.intrinsics import ordered_store, outer, uncounted
from hopwave.engines.cpu.views import allocate
from hopwave.engines.cpu.workers import FAILED, FINISHED, NEXT_BATCH, STOP, new_control, run_workers
from hopwave.engines.ledger import declare

BYTES_OF_ROWS = 1 << 26  # bytes per worker, for the rows of a batch
MOST_BUCKETS = 1 << 18
TOO_WIDE = READY - 1  # a cell of control: some path count exceeds float64

# One worker's arrays: distances, paths: rows of a batch; orders: of the rows of its core vertices, and one more; T,
# inner, x: of one core vertex; place: row of each vertex; codes: see core_rows.py; the others belong to a search.
Own = namedtuple("Own", "distances paths orders T inner x place codes buckets following vertices")
Shared = namedtuple("Shared", "scores total control blocks parts columns")


@outer
def take_batches(C, own, shared):
    C, own, shared = uncounted(C), uncounted(own), uncounted(shared)
    V_end, flow_end, first_end, single_end, into_end, starts_end = shared.parts
    T, inner, place, codes = own.T, own.inner, own.place, own.codes
    while True:
        batch = claim_block(shared)
        if batch < 0:
            return
        sums = row_of(shared, batch)
        V, flow, first = sums[:V_end], sums[V_end:flow_end], sums[flow_end:first_end]
        single, into = sums[first_end:single_end], sums[single_end:into_end]
        starts, ends = sums[into_end:starts_end], sums[starts_end:]
        some = (batch * C.stride) % (C.first.size - 1)
        begin, stop, members = C.needed_begin[some], C.needed_begin[some + 1], C.first[some + 1] - C.first[some]
        for i in range(begin, stop):
            place[C.needed[i]] = i - begin
        for row in range(stop - begin):
            e = C.needed[begin + row]
            low, high = C.first_vertex[C.component[e]], C.first_vertex[C.component[e] + 1]
            order, found = own.orders[min(row, members), : high - low], (own.distances[row], own.paths[row])
            if rows.search(C, e, low, high, *found, order, own.buckets, own.following, own.vertices) > rows.TOO_MANY:
                ordered_store(shared.control, TOO_WIDE, 1)
                ordered_store(shared.control, STOP, FAILED)
                return
        for i in range(members):
            e = C.needed[begin + i]
            component = C.component[e]
            low, high = C.first_vertex[component], C.first_vertex[component + 1]
            slot, last = C.at[e], C.at[e + 1]
            chains = C.first_chain[component], C.first_chain[component + 1]
            d, s, demand, passes = own.distances[i], own.paths[i], C.demand_out[e], 0.0
            for z in range(low, high):
                T[z], inner[z] = demand * C.demand_in[z], 0.0
            if C.half:
                T[low:e] = 0.0
                chains = C.entered[e] if slot == last else min(C.entered[e], (C.chains[slot] >> 1) + 1), chains[1]
            while True:
                upto = min(slot + rows.TOGETHER, last)
                for k in range(upto - slot):
                    p = C.chains[slot + k]
                    f = place[C.end[p ^ 1]]
                    there = own.distances[f], own.paths[f]
                    passes += rows.to_core(C, e, p, k, upto - slot, low, high, d, s, *there, T, first, codes)
                    if p & 1 == 0 or not C.half:
                        passes += rows.around(C, p, d, s, inner, single, into)
                    if p & 1 == 0:
                        rows.straight(C, p, d[C.end[p ^ 1]], s[C.end[p ^ 1]], starts, ends)
                passes += rows.to_chains(
                    C, e, demand, (slot, upto), low, chains, d, s, own.distances, own.paths, place, codes, inner, first,
                    single, into,
                )  # fmt: skip
                demand, slot = 0.0, upto
                if slot == last:
                    break
            inner[e] = 0.0
            V[e] += passes
            for z in range(low, high):
                T[z] += inner[z]
                V[z] += inner[z]
            rows.go_back(C, e, own.orders[i, : high - low], d, s, T, own.x, V, flow)
        finish_block(shared, batch)


def _stride(blocks):
    """The stride of batches: if pairs count once, the last batches have least work, and progress would mislead."""
    stride = max(1, int(0.618 * blocks))
    while gcd(stride, blocks) != 1:
        stride += 1
    return stride


def run_of(graph, job, threads):
    run = CoreRun(graph, np.stack([job.origins, job.targets], axis=1), job.weighted, threads, job.copies)
    run.prepare()
    return run


class CoreRun:
    """See planning.jobs.Accumulation. The graph's components are blocks; lengths are integers, demand has two columns,
    `copies` as in jobs.BetweennessJob. `scores` derives scores of all vertices and arcs from the sums."""

    halves = True  # symmetric demand: each pair is counted once, with twice the weight

    def __init__(self, graph, demand, weighted, threads, copies=None):
        self.label = label = engines.engine("cpu").components(graph, False)
        lengths = np.asarray(graph.weights).astype(np.int64) if weighted else np.ones(graph.m, np.int64)
        self._copies = copies
        self._found, self._kept = found, _ = cores.chains_of(graph, label, lengths, copies)
        self._graph, self._demand, self._threads, self.chains = graph, demand, threads, len(found.size)
        self.K = len(self._kept)
        self._rough = arcs = found.rows(cores.places(self._kept, graph.n), self.K)
        self.arcs, self.longest = len(arcs[1]), int(arcs[2].max(initial=1))
        self._shift = max(int(arcs[2].min(initial=1)).bit_length() - 1, 0)
        label_of = label[self._kept]
        of_chain = np.bincount(label[found.ends[:, 0]], minlength=label.max(initial=0) + 1)
        tails = np.repeat(label_of, np.diff(arcs[0]))
        vertices, along = (np.bincount(of, minlength=len(of_chain)) for of in (label_of, tails))
        self.passes, self.lookups = int((vertices * along).sum()), int((2 * of_chain * (vertices + of_chain)).sum())

    buckets = property(lambda self: 1 << ((self.longest >> self._shift) + 1).bit_length(), doc="Buckets of a search.")
    possible = property(lambda self: self.buckets <= MOST_BUCKETS, doc="Whether a search needs few enough buckets.")
    sizes = property(lambda self: (self.K, self.arcs // 2, self.chains), doc="Core vertices, joined pairs, chains.")

    def batch_size(self):
        return max(8, min(128, BYTES_OF_ROWS // (12 * max(self.K, 1)) // 8 * 8 + 8))

    def prepare(self, size=None):
        """Create the arrays of the run; not before, because estimating the work needs none. `size`: batch size."""
        found, graph, K, C = self._found, self._graph, self.K, self.chains
        self.size = size or self.batch_size()
        rough = self._rough[:2]
        chained = cores.chained_arcs(*rough, cores.places(self._kept, graph.n)[found.ends])
        order, first = cores.arrays_of(cores.grow_batches, *rough, chained, self.size)
        self.core = kept = self._kept[order]
        number = cores.places(kept, graph.n)
        indptr, heads, lengths, self._counts, self._pairs = found.rows(number, K)
        counts = back = self._counts
        if self._copies is not None:
            copies = self._copies[kept]
            counts, back = self._counts * copies[heads], self._counts * np.repeat(copies, np.diff(indptr))
        by_end = np.argsort(number[found.ends].min(axis=1), kind="stable")  # chains of near core vertices are near
        size, length, ends = found.size[by_end], found.length[by_end], number[found.ends[by_end]].reshape(-1)
        self._by_end, starts = by_end, np.cumsum(found.size) - found.size
        inner = np.repeat(starts[by_end] - (np.cumsum(size) - size), size) + np.arange(size.sum())
        self._inner = found.inner[inner]
        starts = starts + np.arange(C)
        arcs = np.repeat(starts[by_end] - (np.cumsum(size + 1) - size - 1), size + 1) + np.arange(size.sum() + C)
        self._chain_arcs = found.arcs[arcs]
        begins = np.concatenate([[0], np.cumsum(np.repeat(size + 1, 2))])
        labels, first_vertex = np.unique(self.label[kept], return_index=True)  # ascending: batches keep components
        component = np.searchsorted(labels, self.label[kept])
        first_chain = np.searchsorted(component[ends[::2]], np.arange(len(labels) + 1))
        self._half = self.halves and np.array_equal(*self._demand.T)
        least, entered = ends.reshape(-1, 2).min(axis=1), first_chain[component]
        if self._half:
            entered = np.searchsorted(least, np.arange(K))
        at = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=K))])
        chains = np.argsort(ends, kind="stable")
        demand = np.ascontiguousarray(self._demand[kept].T)
        self._C = cores.Core(
            indptr, heads.astype(np.int32), lengths.astype(np.int32), counts, back, self._shift,
            self._half, _stride(len(first) - 1), entered,
            component, np.append(first_vertex, K), first_chain, at, chains, ends, begins[:-1], np.repeat(size, 2),
            np.repeat(length, 2), *cores.arrays_of(cores.fill_chains, size, begins, length, found.distance[inner],
            self._demand[self._inner]), *demand, first, *cores.arrays_of(cores.needed_rows, first, at, chains, ends),
        )  # fmt: skip
        self.blocks = len(first) - 1
        self.certificate = np.zeros((0, 2))
        both = int(begins[-1])
        parts = np.cumsum([K, len(heads), both, both, both, len(inner)])
        self._parts = tuple(int(one) for one in parts)
        self.total = np.zeros(int(parts[-1]) + len(inner))
        self._control = new_control()
        self.rows, self._degree = (int(np.diff(x).max(initial=1)) for x in (self._C.needed_begin, at))

    @property
    def done(self):
        return int(self._control[FINISHED])

    def advance(self, first, poll):
        """See hopwave.planning.jobs.Accumulation.advance."""
        if first >= self.blocks:
            return first
        workers = max(1, min(thread_count(self._threads), self.blocks - first))
        self._control = new_control(READY + max(2, min(2 * workers, self.blocks)))
        self._take(first, self.blocks, workers, self.total, self._control, poll)
        return self.done

    def batches(self, first, end):
        """The sums of some batches. Thread-safe."""
        workers = max(1, min(thread_count(self._threads), end - first))
        total = np.zeros(len(self.total))
        self._take(first, end, workers, total, new_control(READY + 2 * workers), lambda done: False)
        return total

    def _take(self, first, end, workers, total, control, poll):
        control[NEXT_BATCH] = control[FINISHED] = first
        states = [Own(**allocate(self.state_arrays())) for _ in range(workers)]
        scores = np.zeros(score_cells(ANY, len(total), len(control) - READY))
        run_workers(take_batches, self._C, states, Shared(scores, total, control, end, self._parts, ANY), poll)
        if control[TOO_WIDE]:
            raise OverflowError("a number of shortest paths in the core exceeds float64")

    def state_arrays(self):
        K, rows_, entries = self.K, self.rows, self.arcs + 2
        codes = K * min(self._degree, rows.TOGETHER)
        return (
            declare(np.int32, distances=(rows_, K), orders=(self.size + 1, K), codes=codes)
            | declare(np.int32, following=entries, vertices=entries)
            | declare(np.int32, fill=-1, buckets=self.buckets)
            | declare(np.float64, paths=(rows_, K), x=K)
            | declare(np.float64, fill=0, T=K, inner=K)
            | declare(np.int64, fill=0, place=K)
        )

    @property
    def sums(self):
        """The input of `scores`, in consecutive parts."""
        if not self._half:
            return self.total
        inside = self._parts[-2]
        return np.concatenate([2 * self.total[:inside], self.total[inside:]])

    def scores(self):
        """(scores of vertices, scores of arcs: an edge's score is at one of its two arcs, the other has 0)."""
        V, flow, first, single, into, starts, ends = np.split(self.sums, self._parts)
        graph, found, (both, pair) = self._graph, self._found, self._pairs
        through = np.where(pair >= 0, flow[both[pair, 0]] + flow[both[pair, 1]], 0.0)
        through /= np.where(pair >= 0, self._counts[both[pair, 0]], 1.0)
        vertex, arc = np.zeros(graph.n), np.zeros(graph.m)
        vertex[self.core] = V
        direct = len(found.edges)
        arc[found.edges[:, 3]] = through[:direct]
        inner, edges = np.zeros(len(self._inner)), np.zeros(len(self._chain_arcs))
        by_end = through[direct:][self._by_end]
        cores.chain_scores(self._C, by_end, (first, single, into), starts, ends, inner, edges)
        vertex[self._inner], arc[self._chain_arcs] = inner, edges
        return vertex, arc
