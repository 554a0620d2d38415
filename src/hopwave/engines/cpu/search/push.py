"""One level of a search, pushed: by one thread, or by all. For the encodings see search/steps.py."""

import numpy as np

from hopwave.engines.cpu.crew import EDGES, JOB_END, TAIL, next_chunk
from hopwave.engines.cpu.integers import ONE, U0, U1, U4, U8, U16
from hopwave.engines.cpu.intrinsics import (
    INNER,
    atomic_add,
    compare_and_swap,
    noinline,
    ordered_add,
    prefetch,
    prefetch_to_write,
)
from hopwave.engines.cpu.policy import NOTING_DEGREE
from hopwave.engines.cpu.search.state import BUFFER, CANDIDATES
from hopwave.system.numba_cache import njit

NEIGHBOURS_AHEAD = 6  # of a vertex that is pushed soon, prefetched; flat from 4 to 8


@njit(**INNER)
def push_alone(indptr, indices, parent, queue, begin, end, tail):
    """The whole level on one thread. Returns the new end of the queue and the arcs that leave the found vertices.

    What the vertices 4, 8 and 16 places ahead will need is prefetched, of the next level too. The number of neighbours
    prefetched is fixed: a loop that ends with the row costs a sixth of the time on a Delaunay mesh. (Here and below,
    these lines are not a function of their own: a call would count references to four arrays for every vertex.)
    """
    noinline()
    end, tail = np.uint64(end), np.uint64(tail)
    enough, last = indices.size >= NEIGHBOURS_AHEAD, np.uint64(indices.size - NEIGHBOURS_AHEAD)
    edges = 0
    for i in range(np.uint64(begin), end):
        if enough and i + U16 < tail:
            prefetch(indptr, queue[i + U16])
            prefetch(indices, indptr[queue[i + U8]])
            first = min(np.uint64(indptr[queue[i + U4]]), last)
            for j in range(np.uint64(NEIGHBOURS_AHEAD)):
                prefetch(parent, indices[first + j])
        u = queue[i]
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            c = parent[v]
            if c < 0:
                parent[v] = np.int32(u)
                queue[tail] = v
                tail += U1
                edges -= c + 1
    return np.int64(tail), edges


@njit(**INNER)
def flush(buffer, kept, queue, board):
    """Move a worker's found vertices into the queue, all at once."""
    place = np.uint64(atomic_add(board, TAIL, kept))
    for i in range(kept):
        queue[place + i] = buffer[i]


@njit(**INNER)
def claim_noted(parent, new, seen_from, noted, buffer, kept, queue, board):
    """Swap the parents of the vertices noted. Returns how many the buffer keeps, and the arcs of those claimed."""
    noinline()
    edges = 0
    for i in range(min(noted, U8)):
        prefetch_to_write(parent, new[i])
    for i in range(noted):
        if i + U8 < noted:
            prefetch_to_write(parent, new[i + U8])
        v = new[i]
        c = parent[v]
        if c < 0 and compare_and_swap(parent, v, c, seen_from[i]):
            if kept == np.uint64(BUFFER):
                flush(buffer, kept, queue, board)
                kept = U0
            buffer[kept] = v
            kept += U1
            edges -= c + 1
    return kept, edges


@njit(**INNER)
def push_chunk(A, W, board, me, begin, stop, kept, level):
    """Push queue[begin:stop]; a vertex belongs to the worker that swaps its parent first, for the vertex it was seen
    from, or for a level that is at least 0. Returns how many the buffer keeps, and the arcs that leave what was found.

    A swap waits for its cache line and lets nothing pass. So the vertices that look new are noted first, without a
    branch, and claimed some dozens at a time, their lines requested ahead. Where rows are short, noting costs more.
    """
    noinline()
    indptr, indices, parent, queue, buffer = A.indptr, A.indices, W.parent, W.queue, W.buffers[me]
    new, seen_from = W.buffers[me, BUFFER : BUFFER + 2 * CANDIDATES], W.buffers[me, BUFFER + 2 * CANDIDATES :]
    end, noted, many = np.uint64(board[JOB_END]), U0, np.uint64(CANDIDATES)
    enough, last = indices.size >= NEIGHBOURS_AHEAD, np.uint64(indices.size - NEIGHBOURS_AHEAD)
    noting, edges = indices.size >= NOTING_DEGREE * (indptr.size - 1), 0
    for i in range(np.uint64(begin), np.uint64(stop)):
        if enough and i + U16 < end:
            prefetch(indptr, queue[i + U16])
            prefetch(indices, indptr[queue[i + U8]])
            first = min(np.uint64(indptr[queue[i + U4]]), last)
            for ahead in range(np.uint64(NEIGHBOURS_AHEAD)):
                prefetch_to_write(parent, indices[first + ahead])
        u = queue[i]
        mark = u if level < 0 else np.uint32(level)
        j, row_end = np.uint64(indptr[u]), np.uint64(indptr[u + ONE])
        if not noting:
            for place in range(j, row_end):
                v = indices[place]
                c = parent[v]
                if c < 0 and compare_and_swap(parent, v, c, mark):
                    if kept == np.uint64(BUFFER):
                        flush(buffer, kept, queue, board)
                        kept = U0
                    buffer[kept] = v
                    kept += U1
                    edges -= c + 1
            j = row_end
        while j < row_end:
            for place in range(j, min(j + many, row_end)):
                v = indices[place]
                new[noted] = v
                seen_from[noted] = mark
                noted += np.uint64(parent[v] < 0)
            j += many
            if noted >= many:
                kept, more = claim_noted(parent, new, seen_from, noted, buffer, kept, queue, board)
                edges += more
                noted = U0
    kept, more = claim_noted(parent, new, seen_from, noted, buffer, kept, queue, board)
    return kept, edges + more


@njit(**INNER)
def push_shared(A, W, board, me):
    """Chunks of the frontier until none is left."""
    noinline()
    kept, edges, end = U0, 0, board[JOB_END]
    while True:
        begin, stop = next_chunk(board)
        if begin >= end:
            break
        kept, more = push_chunk(A, W, board, me, begin, stop, kept, -1)
        edges += more
    flush(W.buffers[me], kept, W.queue, board)
    ordered_add(board, EDGES, edges)
