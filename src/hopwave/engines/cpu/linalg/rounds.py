"""Rounds over the vertices on the CPU: label propagation, core numbers and independent sets."""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import crew, team
from hopwave.engines.cpu.integers import ONE, U1, U63
from hopwave.engines.cpu.intrinsics import atomic_add, compare_and_swap, inner, noinline, ordered_add, outer
from hopwave.engines.cpu.splitmix import WEYL, mix
from hopwave.engines.cpu.views import Rows, unsigned_rows
from hopwave.generate import counter

# ------------------------------------------------------------------ label propagation

# Each thread counts the labels of a vertex's neighbours in its own array. All rounds are one compiled call, in which
# helpers stay (team.py): a round of a large graph takes a few milliseconds.

LOOK, MOVE = range(2)  # jobs
ROUNDS, SETTLED, ARCS = range(3)  # cells of `now`: rounds computed, whether no vertex would move, arcs read
MOST_ARCS, ROUNDS_AT_ONCE = 1 << 28, 64  # maximum arcs read and rounds per call: Ctrl-C is handled between calls
COIN_STREAM = "labels"  # stream of coins, identical on every engine

# f: the label of every vertex; order: among equally frequent labels, the last wins; stale: whether the neighbours of a
# vertex have changed labels since `best`, its favourite label, was found (-1: none); scratch, per thread: the count of
# each label, 0 between two vertices, and the labels seen; starts: start of the coins of each round
Labelling = namedtuple("Labelling", "f order stale best scratch starts now")


@inner
def favourite(row, v, f, order, counts, seen):
    """The most frequent label among the neighbours: v's own label if tied, otherwise the last in order; -1: none."""
    size = 0
    most = np.int32(0)
    for u in row:
        if u != v:
            label = f[u]
            if counts[label] == 0:
                seen[size] = label
                size += 1
            counts[label] += np.int32(1)
            most = max(most, counts[label])
    best, place = np.int32(-1), np.int64(-1)
    own = f[v]
    if size and counts[own] == most:
        best = own
    for i in range(size):
        label = seen[i]
        if counts[label] == most and best != own and np.int64(order[label]) > place:
            best, place = label, np.int64(order[label])
        counts[label] = 0
    return best


@inner
def look(A, W, begin, end, me):
    """Find favourites of stale vertices. Returns how many of [begin, end) would move, and the number of arcs read."""
    noinline()
    counts, seen = W.scratch[me, 0], W.scratch[me, 1]
    moves, arcs = 0, 0
    for v in range(begin, end):
        v = np.uint32(v)
        if W.stale[v]:
            W.stale[v] = 0
            row = A.indices[np.uint64(A.indptr[v]) : np.uint64(A.indptr[v + ONE])]
            W.best[v] = favourite(row, v, W.f, W.order, counts, seen)
            arcs += row.size
        moves += W.best[v] >= 0 and W.best[v] != W.f[v]
    return moves, arcs


@inner
def move(A, W, begin, end, first):
    """Vertices that would move do so if their coins (jobs.LabelRounds; they start at `first`) are 1."""
    noinline()
    for v in range(begin, end):
        v = np.uint32(v)
        if W.best[v] < 0 or W.best[v] == W.f[v]:
            continue
        if mix(first + (np.uint64(v) + U1) * WEYL) >> U63:
            W.f[v] = W.best[v]
            for j in range(np.uint64(A.indptr[v]), np.uint64(A.indptr[v + ONE])):
                W.stale[A.indices[j]] = 1


@inner
def label(A, W, board, me):
    kind, region, moves, arcs = board[crew.JOB_KIND], me, 0, 0
    while True:
        begin, end, region = crew.next_of_regions(board, region)
        if region < 0:
            break
        if kind == LOOK:
            more = look(A, W, begin, end, me)
            moves += more[0]
            arcs += more[1]
        else:
            move(A, W, begin, end, W.starts[W.now[ROUNDS]])
    ordered_add(board, crew.FOUND, moves)
    ordered_add(board, crew.EDGES, arcs)


label_regions = team.regions(label)


@inner
def lead_labels(A, W, board, threads):
    """Rounds until the labels are settled, no coins remain, or Ctrl-C must be handled."""
    noinline()
    now, n = W.now, np.int64(W.f.size)
    size = max(np.int64(64), min(np.int64(1024), n // (32 * threads)))
    while True:
        label_regions(A, W, board, np.int64(LOOK), n, size, 0, 0, 0, threads)
        now[ARCS] += board[crew.EDGES]
        now[SETTLED] = board[crew.FOUND] == 0
        if now[SETTLED] or now[ROUNDS] == W.starts.size:
            return
        label_regions(A, W, board, np.int64(MOVE), n, size, 0, 0, 0, threads)
        now[ROUNDS] += 1
        if now[ARCS] > MOST_ARCS and now[ROUNDS] < W.starts.size:
            return


part_of_labels = team.led(lead_labels, label)


@outer
def take_rounds(A, W, board, threads, team_cells, helpers, me):
    part_of_labels(A, W, board, (threads,), team_cells, helpers, me)


class Labels:
    """See planning.jobs.LabelRounds."""

    def __init__(self, A, order):
        part, n, m = A.rows, A.shape[0], A.nnz
        self.f = np.arange(n, dtype=np.int32)
        self._threads = team.size_for(m)
        self._arcs = unsigned_rows(part)
        scratch = np.zeros((self._threads, 2, n), np.int32)
        self._arrays = self.f, order.astype(np.int32), np.ones(n, np.uint8), self.f.copy(), scratch

    def settle(self, seed, most):
        """At most `most` rounds, until no vertex would change its label; returns whether that state was reached."""
        done = 0
        while True:
            rounds = range(done, min(most, done + ROUNDS_AT_ONCE))
            starts = np.array([counter.start(seed + number, COIN_STREAM) for number in rounds], np.uint64)
            now = np.zeros(3, np.int64)
            part = self._arcs, Labelling(*self._arrays, starts, now), crew.new_board(), self._threads
            team.lead(self._threads - 1, take_rounds, part, self._arcs.indptr.itemsize)
            done += int(now[ROUNDS])
            if now[SETTLED] or done == most:
                return bool(now[SETTLED])


# ------------------------------------------------------------------ core numbers

# For k = 0, 1, 2, … one job visits all remaining vertices (Kabir and Madduri, Parallel k-core decomposition on
# multicore platforms, 2017). One thread claims each vertex with at most k remaining neighbours and removes it from the
# rows of its neighbours; neighbours that drop to k are claimed, too, and wait on that thread's own stack.

COUNT, PEEL = np.int64(0), np.int64(1)  # jobs
VERTICES_PER_CHUNK = np.int64(256)
ZERO = np.int64(0)

Arcs = namedtuple("Arcs", "rows columns")  # columns are empty unless in-neighbours count, too

# left: remaining neighbours; core: -1 until claimed; rest: vertices that may remain; stacks: one per thread
Peeling = namedtuple("Peeling", "left core rest stacks")


@inner
def neighbours(indptr, indices, v):
    """The number of entries of the row, without its loop."""
    count = np.int32(0)
    for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
        count += np.int32(indices[j] != v)
    return count


@inner
def take_out(indptr, indices, v, k, left, core, stack, height):
    """Remove v from its neighbours' rows. Neighbours that drop to k go onto the stack; returns its new height."""
    for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
        u = indices[j]
        if left[u] > k:
            before = atomic_add(left, u, -1)
            if before <= k:  # another thread was faster
                atomic_add(left, u, 1)
            elif before == k + 1 and compare_and_swap(core, u, -1, k):
                stack[height] = u
                height += 1
    return height


@inner
def peel(A, W, board, me):
    noinline()
    kind, k, peeled = board[crew.JOB_KIND], np.int32(board[crew.JOB_DEPTH]), 0
    indptr, indices, in_indptr, in_indices = A.rows.indptr, A.rows.indices, A.columns.indptr, A.columns.indices
    left, core, rest, stack, both = W.left, W.core, W.rest, W.stacks[me], in_indptr.size > 0
    while True:
        begin, stop = crew.next_chunk(board)
        if begin >= stop:
            break
        for i in range(begin, stop):
            v = rest[i]
            if kind == COUNT:
                left[v] = neighbours(indptr, indices, v)
                if both:
                    left[v] += neighbours(in_indptr, in_indices, v)
                continue
            if left[v] > k or core[v] >= 0 or not compare_and_swap(core, v, -1, k):
                continue
            stack[0] = v
            height = 1
            while height:
                height -= 1
                v = stack[height]
                peeled += 1
                height = take_out(indptr, indices, v, k, left, core, stack, height)
                if both:
                    height = take_out(in_indptr, in_indices, v, k, left, core, stack, height)
    ordered_add(board, crew.FOUND, peeled)


@inner
def drop_peeled(left, core, rest, size):
    """Keep the remaining vertices. Returns their number, and the minimum number of their neighbours."""
    kept, least = 0, np.int64(rest.size)
    for i in range(size):
        v = rest[i]
        if core[v] < 0:
            rest[kept] = v
            kept += 1
            least = min(least, np.int64(left[v]))
    return kept, least


together = team.chunks(peel)


@inner
def lead_peeling(A, W, board):
    remain = np.int64(W.rest.size)
    together(A, W, board, COUNT, ZERO, remain, VERTICES_PER_CHUNK, ZERO, ZERO, ZERO)
    size, k = drop_peeled(W.left, W.core, W.rest, remain)
    while remain > 0:
        together(A, W, board, PEEL, ZERO, size, VERTICES_PER_CHUNK, k, ZERO, ZERO)
        peeled = board[crew.FOUND]
        remain -= peeled
        k += 1
        if peeled == 0 or 2 * remain < size:  # no vertex was peeled at k: continue with the next k at which one is
            size, least = drop_peeled(W.left, W.core, W.rest, size)
            k = max(k, least)


part_of_peeling = team.led(lead_peeling, peel)


@outer
def peel_cores(A, W, board, cells, helpers, me):
    part_of_peeling(A, W, board, (), cells, helpers, me)


def core_numbers(A, both):
    """The core number of every row, int64. Loops do not count. both: whether in- and out-neighbours count."""
    rows, n = unsigned_rows(A.rows), A.shape[0]
    columns = unsigned_rows(A.columns) if both else Rows(rows.indptr[:0], rows.indices[:0])
    threads, core = team.size_for(A.nnz), np.full(n, -1, np.int32)
    rest, stacks = np.arange(n, dtype=np.uint32), np.empty((threads, n), np.uint32)
    part = Arcs(rows, columns), Peeling(np.zeros(n, np.int32), core, rest, stacks), crew.new_board()
    team.lead(threads - 1, peel_cores, part, rows.indptr.itemsize)
    return core.astype(np.int64)


# ------------------------------------------------------------------ independent sets

# Luby's algorithm: a row is read up to the first neighbour that decides.

STREAM = "independent set"  # identical on every engine
OPEN, WON, OUT = np.uint8(0), np.uint8(1), np.uint8(2)


@outer
def decide(choosing, indptr, indices, candidates, rank, state, end, size, board):
    """A candidate wins if no open neighbour has a higher rank. Then winners and their neighbours leave: rank -1."""
    while True:
        begin = atomic_add(board, crew.NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(begin, min(begin + size, end)):
            v = np.uint32(candidates[i])
            won, met = state[v] == WON, False
            j, last = np.uint64(indptr[v]), np.uint64(indptr[v + ONE])
            while j < last and not met and not won:
                met = rank[indices[j]] > rank[v] if choosing else state[indices[j]] == WON
                j += U1
            if choosing and not met:
                state[v] = WON
            elif not choosing and (met or won):
                rank[v] = -1
                state[v] = OUT if met else WON


def independent_set(A, seed):
    """Whether each vertex is in the set, bool. Every round draws priorities for the remaining candidates."""
    part, n, arcs = A.rows, A.shape[0], A.nnz
    candidates, rank, state = np.arange(n, dtype=np.int32), np.full(n, -1, np.int64), np.zeros(n, np.uint8)
    while len(candidates):
        # Priorities are unique, so the candidate with the highest one always wins: every round has a winner.
        rank[candidates] = counter.priorities(candidates, seed, STREAM)
        seed += 1
        work = arcs * len(candidates) // n
        for choosing in (True, False):
            arguments = choosing, *unsigned_rows(part), candidates, rank, state
            crew.share(decide, arguments, len(candidates), work, None)
        candidates = candidates[state[candidates] == OPEN]
    return state == WON
