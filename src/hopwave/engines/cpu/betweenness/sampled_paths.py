"""One shortest path between a random pair (s, t), drawn uniformly from all of them; workers draw many.

Two searches, forward from s and backward from t. The side whose next level has fewer arcs continues, one full level at
a time. When a level beyond depth a meets the other side, at depth b, then d(s, t) = a + b + 1, and every shortest path
has exactly one arc (u, v) between the sides. So (u, v) is drawn in proportion to σ_s(u) · σ_t(v), and from both its
ends a walk leads to s and t, each step to a predecessor in proportion to its σ. (Borassi & Natale, KADABRA, section 3.)

    level[v]   0: unvisited; 1 + d(s, v) on the forward side; -1 - d(v, t) on the backward side
    σ          float64 below 2^MAX_BITS; otherwise counted again as mantissa · 2^exponent (`recount`), for this one pair
    random     number j of pair i is a hash of (start, i, j) only (generate/counter.py): identical on any thread
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.betweenness.state import READY, hop_limit
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import atomic_add, inner, noinline, outer, uncounted
from hopwave.engines.cpu.path_counts import recount, two_to
from hopwave.engines.cpu.splitmix import WEYL, mix
from hopwave.engines.cpu.views import allocate
from hopwave.engines.cpu.workers import FINISHED, NEXT_BATCH, new_control, next_batch, run_workers, workers_within
from hopwave.engines.ledger import declare

MAX_BITS = 480  # maximum bits of a path count: the sum over all arcs of a product of two then stays below 2^1024
PAIRS_PER_BATCH = 16  # pairs that a worker takes at a time
LONG = 64  # minimum arcs of a list at which a walk uses a faster search for the predecessors
SEARCHED = 16  # arcs of a list that take as long as one search in another vertex's list
ROUNDING = 1e-9  # maximum relative difference between the predecessors' path counts and their sum

# Rows of the graph, as two tuples: side 0 (forward) and side 1 (backward) expand along them; a walk back uses those of
# the other side. degree_bits: log2 of the maximum number of arcs into a vertex, for both sides.
Graph = namedtuple("Graph", "indptr indices degree_bits ascending cutoff")
# One worker's arrays. queues: one per side. here: a row of cells per side. before[i]: weight of the arcs across from
# the first i + 1 vertices of the level that met the other side.
WorkerState = namedtuple("WorkerState", "level sigma exponent queues here before path counts sums")
SharedState = namedtuple("SharedState", "control start last")

# Cells of here: start and end of the last level in the queue, the end of the queue, the number of arcs out of the last
# level, its depth, and an upper bound on log2 of its path counts.
BEGIN, END, TAIL, LEAVING, DEPTH, BITS = range(6)
HERE_CELLS = 6

# Cells of sums, in the order of jobs.PATH_SUMS.
ARCS, INNER_VERTICES, UNCONNECTED, RECOUNTED, WRONG = range(5)
SUM_CELLS = 5

U11 = np.uint64(11)


# ------------------------------------------------------------------ random numbers


@inner
def fraction(key, number):
    """Random number `number` of the pair with that key, uniform in [0, 1)."""
    return np.float64(mix(key + np.uint64(number + 1) * WEYL) >> U11) * 2.0**-53


@inner
def key_of(start, number):
    return mix(start + np.uint64(number + 1) * WEYL)


@inner
def pair(key, n):
    s = min(np.int64(fraction(key, 0) * n), n - 1)
    t = min(np.int64(fraction(key, 1) * (n - 1)), n - 2)
    return s, t + (t >= s)


# ------------------------------------------------------------------ two searches


@inner
def expand(indptr, indices, level, sigma, before, queue, begin, end, new):
    """One level of one side. Returns the new end of its queue, the number of arcs out of the new level, and Σ σ_s(u)
    σ_t(v) over the arcs (u, v) to the other side. (Passing a full record to a call takes longer than a small level.)"""
    noinline()
    tail, arcs, total, met = end, 0, 0.0, False
    for i in range(begin, end):
        u = queue[i]
        share, across = sigma[u], 0.0
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            at = level[v]
            if at == 0:
                if not met:  # vertices beyond the meeting level are on no shortest path
                    level[v] = new
                    sigma[v] = share
                    queue[tail] = v
                    tail += 1
                    arcs += np.int64(indptr[v + ONE]) - np.int64(indptr[v])
            elif at == new:
                sigma[v] += share
            elif (at < 0) != (new < 0):
                across += sigma[v]
                met = True
        total += share * across
        before[i - begin] = total
    return tail, arcs, total


@inner
def bits_of(sigma, queue, begin, end):
    """An upper bound on log2 of the largest σ of a level."""
    noinline()
    greatest = 1.0
    for i in range(begin, end):
        greatest = max(greatest, sigma[queue[i]])
    return np.int64(np.ceil(np.log2(greatest))) if greatest < np.inf else np.int64(2000)


@inner
def weigh_again(graph, own, side):
    """The sums of `expand` after a recount, divided by 2^top. Returns the total and top."""
    noinline()
    indptr, indices, queue, level = graph.indptr[side], graph.indices[side], own.queues[side], own.level
    sigma, exponent, before, step = own.sigma, own.exponent, own.before, 1 - 2 * side
    begin, end = own.here[side, BEGIN], own.here[side, END]
    top, total = np.int64(-(2**62)), 0.0
    for again in range(2):
        for i in range(begin, end):
            u = queue[i]
            for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
                v = indices[j]
                if level[v] * step < 0:
                    if again:
                        total += sigma[u] * sigma[v] * two_to(exponent[u] + exponent[v] - top)
                    else:
                        top = max(top, exponent[u] + exponent[v])
            if again:
                before[i - begin] = total
    return total, top


# ------------------------------------------------------------------ one path


@inner
def across(graph, own, side, wide, top, chosen):
    """The arc (u, v) between the sides at which the running sum of weights exceeds `chosen`."""
    noinline()
    indptr, indices, queue, level = graph.indptr[side], graph.indices[side], own.queues[side], own.level
    sigma, exponent, before, step = own.sigma, own.exponent, own.before, 1 - 2 * side
    begin, end = own.here[side, BEGIN], own.here[side, END]
    low = min(np.searchsorted(before[: end - begin], chosen, "right"), end - begin - 1)
    u = queue[begin + low]
    running = before[low - 1] if low else 0.0
    found = u
    for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
        v = indices[j]
        if level[v] * step < 0:
            running += sigma[u] * sigma[v] * (two_to(exponent[u] + exponent[v] - top) if wide else 1.0)
            found = v
            if running > chosen:
                break
    return u, found


@inner
def place_of(level, queue, end, step, wanted):
    """The first index in the queue of one side whose vertex is at that level or deeper. Levels are in order."""
    low, high = 0, end
    while low < high:
        middle = (low + high) // 2
        if level[queue[middle]] * step < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def arcs_between(indptr, indices, u, v):
    """The number of arcs from u to v. The list of u is in ascending order."""
    first, last, many = np.int64(indptr[u]), np.int64(indptr[u + ONE]), 0
    low = first + np.searchsorted(indices[first:last], v)
    while low < last and indices[low] == v:
        many, low = many + 1, low + 1
    return many


@inner
def walk(graph, own, side, place, wide, key, number):
    """From path[place] to its side's root, backwards on side 0. Returns its index, or -1 if σ do not add up."""
    noinline()
    level, sigma, exponent, path = own.level, own.sigma, own.exponent, own.path
    on, along, queue, tail = graph.indptr[side], graph.indices[side], own.queues[side], own.here[side, TAIL]
    back, along_back, step = graph.indptr[1 - side], graph.indices[1 - side], np.int32(1 - 2 * side)
    v = path[place]
    while level[v] != step:
        nearer = level[v] - step
        chosen, running, found, taken = fraction(key, number) * sigma[v], 0.0, v, False
        number += 1
        begin, end = 0, 0
        first, last = np.int64(back[v]), np.int64(back[v + ONE])
        if nearer != step and graph.ascending and last - first > LONG:
            begin = place_of(level, queue, tail, step, nearer * step)
            end = place_of(level, queue, tail, step, nearer * step + 1)
        if nearer == step:
            found, running = queue[0], sigma[v]  # the root is the only vertex of its level
        elif 0 < (end - begin) * SEARCHED < last - first:
            for i in range(begin, end):
                u = queue[i]
                many = arcs_between(on, along, u, v)
                if many:
                    running += many * (sigma[u] * two_to(exponent[u] - exponent[v]) if wide else sigma[u])
                    if not taken:
                        found, taken = u, running > chosen
        else:
            for j in range(first, last):
                u = along_back[j]
                if level[u] == nearer:
                    running += sigma[u] * two_to(exponent[u] - exponent[v]) if wide else sigma[u]
                    if not taken:
                        found, taken = u, running > chosen
        place -= step
        if found == v or not 0 <= place < path.size or not abs(running - sigma[v]) <= ROUNDING * sigma[v]:
            return -1
        v = found
        path[place] = v
    return place


@inner
def has_arc(indptr, indices, ascending, u, v):
    if ascending:
        return arcs_between(indptr, indices, u, v) > 0
    found = False
    for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
        found = found or indices[j] == v
    return found


@inner
def count(indptr, indices, ascending, path, first, last, counts):
    """Count the inner vertices of path[first : last + 1]. Returns whether all its arcs are in the graph."""
    noinline()
    right = has_arc(indptr, indices, ascending, path[first], path[first + 1])
    for i in range(first + 1, last):
        counts[path[i]] += 1
        right = right and has_arc(indptr, indices, ascending, path[i], path[i + 1])
    return right


@inner
def draw(graph, own, side, total, wide, key):
    """Draw a path through the level at which `side` met the other side, count its inner vertices, and check it."""
    noinline()
    path, here, top = own.path, own.here, np.int64(0)
    if wide:
        for i in range(2):
            way, along = graph.indptr[1 - i], graph.indices[1 - i]
            recount(way, along, own.level, own.sigma, own.exponent, own.queues[i], here[i, END], np.int32(1 - 2 * i))
        total, top = weigh_again(graph, own, side)
    u, v = across(graph, own, side, wide, top, fraction(key, 2) * total)
    place, distance = here[0, DEPTH], here[0, DEPTH] + here[1, DEPTH] + 1
    path[place + side], path[place + 1 - side] = u, v
    first = walk(graph, own, np.int64(0), place, wide, key, np.int64(3))
    last = walk(graph, own, np.int64(1), place + 1, wide, key, 3 + place)
    right = first == 0 and last == distance and path[0] == own.queues[0][0] and path[last] == own.queues[1][0]
    if right:
        right = count(graph.indptr[0], graph.indices[0], graph.ascending, path, first, last, own.counts)
    own.sums[INNER_VERTICES] += distance - 1
    own.sums[WRONG] += not right


@inner
def sample(graph, own, key, n):
    noinline()
    level, sigma, here, sums, before = own.level, own.sigma, own.here, own.sums, own.before
    s, t = pair(key, n)
    for side in range(2):
        root = t if side else s
        level[root], sigma[root] = 1 - 2 * side, 1.0
        own.queues[side][0] = root
        indptr = graph.indptr[side]
        here[side, BEGIN], here[side, END], here[side, TAIL], here[side, DEPTH], here[side, BITS] = 0, 1, 1, 0, 0
        here[side, LEAVING] = np.int64(indptr[root + 1]) - np.int64(indptr[root])
    wide, total = False, 0.0
    while here[0, LEAVING] > 0 and here[1, LEAVING] > 0 and here[0, DEPTH] + here[1, DEPTH] < graph.cutoff:
        side = int(here[0, LEAVING] > here[1, LEAVING])
        queue, mine = own.queues[side], here[side]
        sums[ARCS] += mine[LEAVING]
        new = np.int32((2 + mine[DEPTH]) * (1 - 2 * side))
        tail, leaving, total = expand(
            graph.indptr[side], graph.indices[side], level, sigma, before, queue, mine[BEGIN], mine[END], new
        )
        mine[TAIL] = tail
        if total > 0.0:
            draw(graph, own, side, total, wide, key)
            break
        mine[BEGIN], mine[END], mine[LEAVING] = mine[END], tail, leaving
        mine[DEPTH] += 1
        mine[BITS] += graph.degree_bits[side]
        if mine[BITS] > MAX_BITS and not wide:
            mine[BITS] = bits_of(sigma, queue, mine[BEGIN], tail)
            wide = mine[BITS] > MAX_BITS
    sums[UNCONNECTED] += total == 0.0
    sums[RECOUNTED] += wide and total > 0.0
    for side in range(2):
        queue = own.queues[side]
        for i in range(here[side, TAIL]):
            level[queue[i]] = 0


@outer
def take_pairs(graph, own, shared):
    graph, own = uncounted(graph), uncounted(own)
    n, control = own.level.size, shared.control
    while True:
        first, until = next_batch(control, PAIRS_PER_BATCH, shared.last)
        if first == until:
            return
        for i in range(first, until):
            sample(graph, own, key_of(shared.start, i), n)
        atomic_add(control, FINISHED, until - first)


# ------------------------------------------------------------------ runs

BYTES_PER_VERTEX = 48  # bytes per vertex of one worker's arrays
PAIRS_PER_WORKER = 64  # minimum pairs per worker


class PathSampling:
    """See hopwave.planning.jobs.PathSampling. Sums are of integers: threads and blocks do not affect results."""

    kernel = property(lambda self: take_pairs)

    def __init__(self, loaded, job, threads):
        self.job, self._n, self._threads = job, loaded.n, threads
        # Counts, sums, and the number of pairs in them. Replaced together: after Ctrl-C, all are old or all are new.
        self._state = np.zeros(loaded.n, np.int64), np.zeros(SUM_CELLS, np.int64), 0
        self._graph = self._rows(loaded)
        self._states = []

    counts = property(lambda self: self._state[0])
    sums = property(lambda self: self._state[1])

    @property
    def done(self):
        return self._state[2]

    @done.setter
    def done(self, pairs):
        self._state = *self._state[:2], pairs

    def _rows(self, loaded):
        A, graph = loaded.adjacency("any"), loaded.graph
        out_bits = int(np.ceil(np.log2(max(2, int(graph.degrees.max(initial=0)) + 1))))
        return Graph(
            (A.indptr, A.in_indptr),
            (A.indices, A.in_indices),
            (loaded.degree_bits, out_bits),
            graph._order == "ascending",
            hop_limit(self.job.cutoff),
        )

    def advance(self, until, poll):
        """Draw pairs up to number `until`, or until poll(done) returns true. Returns the number done."""
        if until <= self.done:
            return self.done
        workers = min(thread_count(self._threads), (until - self.done) // PAIRS_PER_WORKER)
        workers = workers_within(self.job.memory_limit, workers, self._bytes_per_worker(), "sampling paths")
        while len(self._states) < workers:
            self._states.append(self._worker_state())
        states = self._states[:workers]
        control = new_control(READY)
        control[NEXT_BATCH] = control[FINISHED] = self.done
        shared = SharedState(control, np.uint64(self.job.start), np.int64(until))
        try:
            run_workers(self.kernel, self._graph, states, shared, poll)
        finally:  # also after Ctrl-C: workers finished their batches, and batches are taken in order
            counts = self.counts + sum(state.counts for state in states)
            sums = self.sums + sum(state.sums for state in states)
            self._state = counts, sums, int(control[FINISHED])
            for state in states:
                state.counts[:] = 0
                state.sums[:] = 0
        self._check(control)
        return self.done

    def _check(self, control):
        """Raise an error if a worker found that the job is impossible."""

    def _bytes_per_worker(self):
        return BYTES_PER_VERTEX * self._n

    def _worker_state(self):
        n, queues = self._n, (np.empty(self._n, np.uint32), np.empty(self._n, np.uint32))
        own = declare(np.float64, sigma=n, before=n) | declare(np.uint32, path=n) | declare(np.int64, exponent=n)
        own |= declare(np.int32, fill=0, level=n)
        own |= declare(np.int64, fill=0, counts=n, here=(2, HERE_CELLS), sums=SUM_CELLS)
        return WorkerState(queues=queues, **allocate(own))
