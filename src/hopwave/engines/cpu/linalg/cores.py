"""Core numbers on the CPU: every thread peels the vertices of its chunks, and what falls off with them, at once.

For k = 0, 1, 2, … one job goes through all vertices that are left (Kabir and Madduri, Parallel k-core decomposition on
multicore platforms, 2017). A vertex with at most k neighbours left is claimed by one thread, which takes it out of the
rows of its neighbours; those that fall to k are claimed too, and wait on that thread's own stack.

left    neighbours left        core    -1 until a vertex is claimed        rest    vertices that may be left
"""

import numpy as np

from hopwave.engines.cpu import crew
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add, compare_and_swap, noinline, ordered_add
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.system.numba_cache import njit

COUNT, PEEL = 0, 1  # jobs
VERTICES_PER_CHUNK = 256
ZERO = np.int64(0)


@njit(**INNER)
def neighbours(indptr, indices, v):
    """How many entries the row has beside its loop."""
    count = np.int32(0)
    for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
        count += np.int32(indices[j] != v)
    return count


@njit(**INNER)
def take_out(indptr, indices, v, k, left, core, stack, height):
    """Take v out of its neighbours' rows. Those that thereby fall to k go onto the stack; returns its new height."""
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


@njit(**INNER)
def work(rows, columns, left, core, rest, stack, board):
    """A thread's share of a job."""
    noinline()
    kind, k, peeled = board[crew.JOB_KIND], np.int32(board[crew.JOB_DEPTH]), 0
    both = columns[0].size > 0
    while True:
        begin, stop = crew.next_chunk(board)
        if begin >= stop:
            break
        for i in range(begin, stop):
            v = rest[i]
            if kind == COUNT:
                left[v] = neighbours(rows[0], rows[1], v)
                if both:
                    left[v] += neighbours(columns[0], columns[1], v)
                continue
            if left[v] > k or core[v] >= 0 or not compare_and_swap(core, v, -1, k):
                continue
            stack[0] = v
            height = 1
            while height:
                height -= 1
                v = stack[height]
                peeled += 1
                height = take_out(rows[0], rows[1], v, k, left, core, stack, height)
                if both:
                    height = take_out(columns[0], columns[1], v, k, left, core, stack, height)
    ordered_add(board, crew.FOUND, peeled)


@njit(**INNER)
def drop_peeled(left, core, rest, size):
    """Keep the vertices that are left. Returns how many, and the fewest neighbours that one of them has."""
    kept, least = 0, np.int64(rest.size)
    for i in range(size):
        v = rest[i]
        if core[v] < 0:
            rest[kept] = v
            kept += 1
            least = min(least, np.int64(left[v]))
    return kept, least


@njit(**COMPILED)
def peel_cores(rows, columns, left, core, rest, stacks, board, me):
    """A thread's part: thread 0 leads, the others join its jobs."""
    stack = stacks[me]
    if me:
        joined = np.int64(0)
        while True:
            joined = crew.join_job(board, joined, me)
            if joined < 0:
                return
            work(rows, columns, left, core, rest, stack, board)
            crew.leave_job(board)
    size = np.int64(rest.size)
    crew.open_job(board, COUNT, ZERO, size, VERTICES_PER_CHUNK, ZERO, ZERO, ZERO)
    work(rows, columns, left, core, rest, stack, board)
    crew.close_job(board)
    remain = size
    size, k = drop_peeled(left, core, rest, size)
    while remain > 0:
        crew.open_job(board, PEEL, ZERO, size, VERTICES_PER_CHUNK, k, ZERO, ZERO)
        work(rows, columns, left, core, rest, stack, board)
        crew.close_job(board)
        peeled = board[crew.FOUND]
        remain -= peeled
        k += 1
        if peeled == 0 or 2 * remain < size:  # no vertex was peeled at k: go on with the next k at which one is
            size, least = drop_peeled(left, core, rest, size)
            k = max(k, least)


def core_numbers(A, both):
    """The core number of every row, int64. Loops do not count. both: whether arcs in and out are neighbours."""
    part, n = A.rows, A.shape[0]
    nothing = part._replace(indptr=np.zeros(0, part.indptr.dtype), indices=np.zeros(0, np.int32))
    rows, turned = unsigned_rows(part), unsigned_rows(A.columns if both else nothing)
    threads = crew.crew_size(len(part.indices), None)
    left, core = np.zeros(n, np.int32), np.full(n, -1, np.int32)
    rest, stacks = np.arange(n, dtype=np.uint32), np.empty((threads, n), np.uint32)
    board = crew.new_board()
    with compiling(peel_cores):
        crew.lead(threads - 1, board, peel_cores, (rows, turned, left, core, rest, stacks, board))
    return core.astype(np.int64)
