"""A run over the core of a graph: one forward and one backward pass per core vertex, for all sources.

Workers take batches of neighbouring core vertices. A chain's decisions need the rows of both of its ends, so that a
batch also computes the rows of the ends around it.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from hopwave import engines
from hopwave.engines.cpu.betweenness import core_graph as cores
from hopwave.engines.cpu.betweenness import core_rows as rows
from hopwave.engines.cpu.betweenness.source import claim_block, finish_block
from hopwave.engines.cpu.betweenness.state import BLOCKS, LIMIT_CELLS, READY
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.intrinsics import COMPILED, ordered_store
from hopwave.engines.cpu.workers import FINISHED, NEXT_BATCH, new_control, run_workers
from hopwave.system.numba_cache import njit

BYTES_OF_ROWS = 1 << 26  # of one worker, for the rows of a batch
LONGEST = 1 << 16  # lengths of chains: buckets are that many
TOO_WIDE = READY - 1  # a cell of control: some path count outgrew float64

Own = namedtuple("Own", "distances paths orders T delta place buckets following vertices")
Shared = namedtuple("Shared", "scores total control limits parts")


@njit(**COMPILED)
def take_batches(C, own, shared):
    """A worker: batches of core vertices until none is left."""
    V_end, flow_end, out_end, inn_end, starts_end = shared.parts
    T, delta, place = own.T, own.delta, own.place
    while True:
        batch = claim_block(shared)
        if batch < 0:
            return
        sums = shared.scores[batch % shared.scores.shape[0]]
        V, flow, out, inn = sums[:V_end], sums[V_end:flow_end], sums[flow_end:out_end], sums[out_end:inn_end]
        starts, ends = sums[inn_end:starts_end], sums[starts_end:]
        first, last = C.member_begin[batch], C.member_begin[batch + 1]
        begin, stop = C.needed_begin[batch], C.needed_begin[batch + 1]
        for i in range(begin, stop):
            v = C.needed[i]
            place[v] = i - begin
            order = own.orders[min(i - begin, own.orders.shape[0] - 1)]
            low, high = C.first_vertex[C.component[v]], C.first_vertex[C.component[v] + 1]
            d, s = own.distances[i - begin], own.paths[i - begin]
            if rows.forward(C, v, low, high, d, s, order, own.buckets, own.following, own.vertices) > rows.TOO_MANY:
                ordered_store(shared.control, TOO_WIDE, 1)
        for i in range(last - first):
            e = C.needed[begin + i]
            component = C.component[e]
            low, high = C.first_vertex[component], C.first_vertex[component + 1]
            d, s = own.distances[i], own.paths[i]
            for z in range(low, high):
                T[z] = C.demand[e, 0] * C.demand[z, 1]
            passes = 0.0
            for slot in range(C.at[e], C.at[e + 1]):
                p = C.chains[slot]
                there = place[C.end[p ^ 1]]
                passes += rows.to_core(C, e, p, low, high, d, s, own.distances[there], own.paths[there], T, out)
                at = (C.begin[p - (p & 1)] >> 1) - (p >> 1)  # inner vertices before those of this chain
                inside = starts[at : at + C.size[p]], ends[at : at + C.size[p]]
                passes += rows.within(C, e, p, d, s, T, V, out, inn, *inside)
            for c in range(C.first_chain[component], C.first_chain[component + 1]):
                passes += rows.to_chain(C, e, 2 * c, d, s, own.distances, own.paths, place, T, V, out, inn)
            V[e] += passes
            rows.backward(C, e, d, s, own.orders[i], high - low, T, delta, V, flow)
        finish_block(shared, batch)


@njit(**COMPILED)
def chain_scores(C, through, out, inn, starts, ends, vertex, edge):
    """Scores of inner vertices, and of the edges of chains, one more per chain than inner vertices."""
    placed = 0
    for c in range(through.size):
        p, q, size = 2 * c, 2 * c + 1, C.size[2 * c]
        begin, other = C.begin[p], C.begin[q]
        by_x, by_y = np.zeros(size + 1), np.zeros(size + 1)  # on each edge: of vertices behind it, before it
        sent, taken = 0.0, 0.0
        own = np.empty(size)
        for i in range(size):
            sent += out[begin + i]
            taken += inn[begin + i]
            own[i] = (C.sent[begin + i + 1] - C.sent[begin + i]) * sent
            own[i] += (C.taken[begin + i + 1] - C.taken[begin + i]) * taken
        for i in range(size - 1, -1, -1):
            by_x[i] = by_x[i + 1] + own[i]
        sent, taken = 0.0, 0.0
        for i in range(size):
            sent += out[other + i]
            taken += inn[other + i]
            own[i] = (C.sent[other + i + 1] - C.sent[other + i]) * sent
            own[i] += (C.taken[other + i + 1] - C.taken[other + i]) * taken
        for i in range(size - 1, -1, -1):  # in the order of q, edge size - i is behind inner vertex i
            by_y[size - i] = by_y[size - i - 1] + own[i]
        inside = 0.0
        for i in range(size + 1):
            edge[placed + c + i] = through[c] + by_x[i] + by_y[i] + inside
            if i < size:
                vertex[placed + i] = through[c] + by_x[i + 1] + by_y[i] + (inside - ends[placed + i])
                inside += starts[placed + i] - ends[placed + i]
        placed += size


class CoreRun:
    """See planning.jobs.Accumulation. The graph's components are blocks; lengths are whole numbers, demand has two
    columns. `scores` makes scores of all vertices and arcs of the sums."""

    def __init__(self, graph, lengths, demand, threads):
        self.label = label = engines.engine("cpu").components(graph, False)
        is_core = cores.core_vertices(graph, label)
        found = cores.Chains(*cores.walk_chains(graph.indptr, graph.indices, lengths, is_core))
        order = np.argsort(label[found.ends[:, 0]], kind="stable")
        self._graph, self._found, self._demand, self._threads = graph, found, demand, threads
        kept = np.flatnonzero(is_core)
        self.core = kept = kept[np.argsort(label[kept], kind="stable")]  # core vertices, by component
        self._order, self._label = order, label[kept]
        number = np.full(graph.n, -1, np.int64)
        number[kept] = np.arange(len(kept))
        x, y = (np.concatenate([number[found.edges[:, k]], number[found.ends[order, k]]]) for k in (0, 1))
        all_lengths = np.concatenate([found.edges[:, 2], found.length[order]])
        self._rows = cores.arcs_of(len(kept), x, y, all_lengths)
        self.chains, self.longest = len(order), int(self._rows[2].max(initial=1))
        C = self.chains
        self.work = len(kept) * len(self._rows[1]) + (len(kept) + C) * 2 * C // 2

    @property
    def sizes(self):
        """Core vertices, pairs of them that are joined, and chains."""
        return len(self.core), len(self._rows[1]) // 2, self.chains

    def prepare(self):
        """The arrays of the run; only now, as they are not needed to know how much work it is."""
        found, order, graph, demand = self._found, self._order, self._graph, self._demand
        indptr, heads, lengths, counts, self._pairs = self._rows
        K, C = len(self.core), self.chains
        size = found.size[order]
        starts = np.concatenate([[0], np.cumsum(found.size)])
        take = np.concatenate([np.arange(starts[c], starts[c + 1]) for c in order]) if C else np.zeros(0, np.int64)
        self._inner = found.inner[take]
        edges_at = starts[:-1] + np.arange(C)
        spans = [np.arange(edges_at[c], edges_at[c] + found.size[c] + 1) for c in order]
        self._chain_arcs = found.arcs[np.concatenate(spans)] if C else np.zeros(0, np.int64)
        begins = np.concatenate([[0], np.cumsum(np.repeat(size + 1, 2))])
        number = np.full(graph.n, -1, np.int64)
        number[self.core] = np.arange(K)
        end = number[found.ends[order]].reshape(-1)
        twice, sent, taken = np.zeros(begins[-1], np.int64), np.zeros(begins[-1]), np.zeros(begins[-1])
        fill_chains(size, begins, found.length[order], found.distance[take], demand[self._inner], twice, sent, taken)
        components, self._first = np.unique(self._label, return_index=True)
        of_core = np.searchsorted(components, self._label)
        of_chain = of_core[end[::2]] if C else np.zeros(0, np.int64)
        first_vertex = np.append(self._first, K)
        first_chain = np.searchsorted(of_chain, np.arange(len(components) + 1))
        at = np.concatenate([[0], np.cumsum(np.bincount(end, minlength=K))])
        chains = np.argsort(end, kind="stable")
        most = max(8, min(128, BYTES_OF_ROWS // (16 * max(K, 1))))
        members, member_begin = cores.grow_batches(indptr, heads, most)
        needed, needed_begin = needed_rows(members, member_begin, at, chains, end, K)
        self._C = cores.Core(
            indptr, heads.astype(np.int32), lengths.astype(np.int32), counts, of_core, first_vertex, first_chain, at,
            chains, end, begins[:-1], np.repeat(size, 2), np.repeat(found.length[order], 2), twice, sent, taken,
            demand[self.core], members, member_begin, needed, needed_begin,
        )  # fmt: skip
        self.size, self.blocks = most, len(member_begin) - 1
        self.certificate = np.zeros((0, 2))
        inner, both = len(take), int(begins[-1])
        ends = np.cumsum([K, len(heads), both, both, inner])
        self._parts = tuple(int(one) for one in ends)
        self.total = np.zeros(int(ends[-1]) + inner)
        self._control, self._wide = new_control(), int(np.diff(needed_begin).max(initial=1))
        return self

    @property
    def done(self):
        """How many batches are in the sums."""
        return int(self._control[FINISHED])

    def advance(self, first, poll):
        """As hopwave.planning.jobs.Accumulation.advance."""
        if first >= self.blocks:
            return first
        workers = max(1, min(thread_count(self._threads), self.blocks))
        scores = np.zeros((max(2, min(2 * workers, self.blocks)), len(self.total)))
        control = new_control(READY + len(scores))
        control[NEXT_BATCH] = control[FINISHED] = first
        limits = np.zeros(LIMIT_CELLS, np.int64)
        limits[BLOCKS] = self.blocks
        self._control = control
        states = [self._state() for _ in range(workers)]
        with compiling(take_batches):
            run_workers(take_batches, self._C, states, Shared(scores, self.total, control, limits, self._parts), poll)
        return self.done

    @property
    def too_wide(self):
        """Whether a path count outgrew float64, so that the sums mean nothing."""
        return bool(self._control[TOO_WIDE])

    def _state(self):
        K, R, arcs = len(self.core), self._wide, len(self._C.heads)
        return Own(
            np.empty((R, K), np.int32), np.empty((R, K)), np.empty((self.size + 1, K), np.int32), np.zeros(K),
            np.zeros(K), np.zeros(K, np.int64), np.full(self.longest + 1, -1, np.int64),
            np.empty(arcs + 2, np.int64), np.empty(arcs + 2, np.int64),
        )  # fmt: skip

    def scores(self):
        """(scores of vertices, scores of arcs: that of an edge is at one of its two arcs, the other has 0)."""
        V, flow, out, inn, starts, ends = np.split(self.total, self._parts)
        graph, found, (both, pair) = self._graph, self._found, self._pairs
        through = np.where(pair >= 0, flow[both[pair, 0]] + flow[both[pair, 1]], 0.0)
        through /= np.where(pair >= 0, self._C.counts[both[pair, 0]], 1.0)
        vertex, arc = np.zeros(graph.n), np.zeros(graph.m)
        vertex[self.core] = V
        direct = len(found.edges)
        arc[found.edges[:, 3]] = through[:direct]
        inner, edges = np.zeros(len(self._inner)), np.zeros(len(self._chain_arcs))
        chain_scores(self._C, through[direct:], out, inn, starts, ends, inner, edges)
        vertex[self._inner], arc[self._chain_arcs] = inner, edges
        return vertex, arc


@njit(**COMPILED)
def fill_chains(size, begins, length, distance, demand, twice, sent, taken):
    """The numbers of all chains from both of their ends (core_graph.py)."""
    placed = 0
    for c in range(size.size):
        k, x, y = size[c], begins[2 * c], begins[2 * c + 1]
        for i in range(k):
            here, there = placed + i, placed + k - 1 - i
            twice[x + i], twice[y + i] = 2 * distance[here], 2 * (length[c] - distance[there])
            sent[x + i + 1], sent[y + i + 1] = sent[x + i] + demand[here, 0], sent[y + i] + demand[there, 0]
            taken[x + i + 1], taken[y + i + 1] = taken[x + i] + demand[here, 1], taken[y + i] + demand[there, 1]
        placed += k


@njit(**COMPILED)
def needed_rows(members, member_begin, at, chains, end, K):
    """Of each batch its core vertices, then the other ends of their chains; and where batches begin."""
    mark = np.full(K, -1, np.int64)
    needed = np.empty(members.size + chains.size, np.int64)
    begins, used = np.zeros(member_begin.size, np.int64), 0
    for batch in range(member_begin.size - 1):
        for i in range(member_begin[batch], member_begin[batch + 1]):
            mark[members[i]] = batch
            needed[used] = members[i]
            used += 1
        for i in range(member_begin[batch], member_begin[batch + 1]):
            for slot in range(at[members[i]], at[members[i] + 1]):
                f = end[chains[slot] ^ 1]
                if mark[f] != batch:
                    mark[f] = batch
                    needed[used] = f
                    used += 1
        begins[batch + 1] = used
    return needed[:used], begins
