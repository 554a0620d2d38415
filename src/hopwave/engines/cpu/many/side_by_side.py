"""Up to 64 searches at once, each level shared by all threads: for few batches of sources on many cores.

Workers with batches of their own (run.py) have four sources each if 64 are dealt to 16 of them, and read every arc 16
times as often as one with all 64. Here, all threads pull one level of the whole batch (kernels.py says how bits stand
for searches): every thread takes chunks of vertices, which nobody else writes to. The first levels, as long as they
have few arcs, are pushed by the leader.

Distances are kept as bits until a search is over: plane i has bit i of the levels. A row of the answer is then written
from its beginning to its end; written level by level, 64 rows would take each other's places in a cache. Levels from
DEEPEST on, which are seldom reached and small, are written as they are found.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import crew
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add, count_ones, noinline, ordered_add, uncounted
from hopwave.engines.cpu.many.kernels import (
    COLUMNS,
    LANES,
    ROWS,
    SUMS,
    count_lanes,
    fill_columns,
    fill_rows,
    fill_sums,
    push_wide,
    weights,
)
from hopwave.engines.ledger import declare
from hopwave.system.numba_cache import njit

CLEAR, PULL, WRITE = range(3)  # jobs
PLANES = 4
DEEPEST = 1 << PLANES
VERTICES_PER_CHUNK = 512
MOST_PUSHED = 1 << 14  # arcs of a level that the leader pushes alone
ZERO = np.int64(0)

# seen, front, fresh: as in kernels.py; lanes, histogram, columns: sums over all threads
State = namedtuple("State", "seen front fresh planes lanes histogram columns")


def arrays(n, keep):
    """The arrays of a State."""
    searched = declare(np.uint64, seen=n, front=n, fresh=n, planes=(PLANES if keep == "rows" else 0, n))
    return searched | declare(np.int64, fill=0, lanes=LANES) | sum_arrays(n, keep)


def sum_arrays(n, keep):
    """The last arrays of every State and WorkerState, which begin at 0 in every run."""
    sums, columns = n + 1 if keep in ("sums", "columns") else 0, n if keep == "columns" else 0
    return declare(np.int64, fill=0, histogram=sums, columns=(columns, 3))


@njit(**INNER)
def clear(own, low, high):
    """Nothing is seen of the vertices [low, high)."""
    own.seen[low:high] = U0
    own.front[low:high] = U0
    own.fresh[low:high] = U0
    for plane in range(own.planes.shape[0]):
        own.planes[plane, low:high] = U0


@njit(**INNER)
def settle(own, fresh, found, tail, depth):
    """Mark what was found in this level as seen. Returns how many pairs of source and vertex these are."""
    noinline()
    seen, planes, pairs = own.seen, own.planes, 0
    keeps = planes.shape[0] if depth < DEEPEST else 0
    for i in range(tail):
        v = found[i]
        new = fresh[v]
        seen[v] |= new
        pairs += count_ones(new)
        for plane in range(keeps):
            if (depth >> plane) & 1:
                planes[plane, v] |= new
    return pairs


@njit(**INNER)
def pull(A, seen, front, fresh, full, low, high, found):
    """What the vertices [low, high) find in their neighbours. Returns how many of them found something."""
    noinline()
    indptr, indices, tail = A.in_indptr, A.in_indices, 0
    for v in range(np.uint64(low), np.uint64(high)):
        missing = full & ~seen[v]
        left, j, end = missing, np.uint64(indptr[v]), np.uint64(indptr[v + U1])
        while left != U0 and j < end:
            left &= ~front[indices[j]]
            j += U1
        new = missing & ~left
        fresh[v] = new
        if new != U0:
            found[tail] = np.uint32(v)
            tail += 1
    return tail


@njit(**INNER)
def write(own, shared, first, count, low, high):
    """The distances of all searches to the vertices [low, high)."""
    noinline()
    seen, planes = own.seen, own.planes
    for lane in range(count):
        by, row = np.uint64(lane), shared.rows[shared.places[first + lane]]
        for v in range(low, high):
            depth = np.int32(0)
            for bit in range(PLANES):
                depth |= np.int32((planes[bit, v] >> by) & U1) << np.int32(bit)
            row[v] = depth - np.int32(1) + np.int32((seen[v] >> by) & U1)


@njit(**INNER)
def keep_level(own, shared, first, fresh, found, tail, depth, counts):
    """What is kept of vertices that were found; counts: those of each search are added up there."""
    keep = shared.limits.keep
    if keep & SUMS:
        some = np.empty(LANES, np.int64)
        count_lanes(fresh, found, tail, some)
        counts += some
    if keep & COLUMNS:
        weight, square = weights(shared.limits, depth)
        fill_columns(fresh, found, tail, own.columns, weight, square)
    if keep & ROWS and depth >= DEEPEST:
        fill_rows(fresh, found, tail, shared.rows, shared.places, first, np.int32(depth))


@njit(**INNER)
def work(A, own, shared, first, count, board):
    """A thread's share of a job."""
    noinline()
    kind, depth = board[crew.JOB_KIND], board[crew.JOB_DEPTH]
    front, fresh = (own.front, own.fresh) if depth & 1 else (own.fresh, own.front)
    full = ~U0 if count == LANES else (U1 << np.uint64(count)) - U1
    found, counts, pairs = np.empty(VERTICES_PER_CHUNK, np.uint32), np.zeros(LANES, np.int64), 0
    while True:
        begin, stop = crew.next_chunk(board)
        if begin >= stop:
            break
        if kind == CLEAR:
            clear(own, begin, stop)
        elif kind == WRITE:
            write(own, shared, first, count, begin, stop)
        else:
            tail = pull(A, own.seen, front, fresh, full, begin, stop, found)
            pairs += settle(own, fresh, found, tail, depth)
            keep_level(own, shared, first, fresh, found, tail, depth, counts)
    if pairs:
        ordered_add(board, crew.FOUND, pairs)
        for lane in range(count):
            if counts[lane]:
                atomic_add(own.lanes, lane, counts[lane])


@njit(**INNER)
def together(kind, depth, A, own, shared, first, count, board):
    """A job for all threads. Returns how many pairs they found."""
    crew.open_job(board, kind, ZERO, np.int64(own.seen.size), VERTICES_PER_CHUNK, depth, ZERO, ZERO)
    work(A, own, shared, first, count, board)
    crew.close_job(board)
    return board[crew.FOUND]


@njit(**INNER)
def arcs_of(A, active, size):
    arcs = np.uint64(0)
    for i in range(size):
        arcs += np.uint64(A.indptr[active[i] + ONE]) - np.uint64(A.indptr[active[i]])
    return np.int64(arcs)


@njit(**COMPILED)
def search(A, own, shared, first, count, most_pushed, board, me):
    """A thread's part of the searches from `count` sources, from number `first` on: thread 0 leads."""
    A, own, shared = uncounted(A), uncounted(own), uncounted(shared)
    if me:
        joined = ZERO
        while True:
            joined = crew.join_job(board, joined, me)
            if joined < 0:
                return
            work(A, own, shared, first, count, board)
            crew.leave_job(board)
    keeps_rows, limit = shared.limits.keep & ROWS, shared.limits.limit
    together(CLEAR, ZERO, A, own, shared, first, count, board)
    room = max(most_pushed, LANES)
    active, found = np.empty(room, np.uint32), np.empty(room, np.uint32)
    front, fresh, size, left = own.fresh, own.front, 0, 0
    for lane in range(count):
        s = shared.sources[first + lane]
        left += shared.reach[first + lane]
        if fresh[s] == U0:
            found[size] = np.uint32(s)
            size += 1
        fresh[s] |= U1 << np.uint64(lane)
    own.lanes[:] = 0
    depth, pairs, pushed, written = ZERO, settle(own, fresh, found, size, 0), True, False
    keep_level(own, shared, first, fresh, found, size, depth, own.lanes)
    while True:
        left -= pairs
        fill_sums(own, shared, first, count, depth)
        over = pairs == 0 or left <= 0 or depth >= limit
        if keeps_rows and not written and (over or depth == DEEPEST - 1):
            together(WRITE, depth, A, own, shared, first, count, board)
            written = True
        if over:
            return
        depth += 1
        own.lanes[:] = 0
        front, fresh = fresh, front
        active, found = found, active
        if pushed and arcs_of(A, active, size) <= most_pushed:
            tail = push_wide(A.indptr, A.indices, own.seen, front, fresh, active, size, found)
            for i in range(size):
                front[active[i]] = U0
            size = tail
            pairs = settle(own, fresh, found, size, depth)
            keep_level(own, shared, first, fresh, found, size, depth, own.lanes)
        else:
            pushed = False
            pairs = together(PULL, depth, A, own, shared, first, count, board)
