"""One level of betweenness on all threads, compiled: the ways to go out and back. See betweenness/wide_kernels.py."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.crew import EDGES, NEXT_CHUNK, next_of_regions
from hopwave.engines.cpu.intrinsics import (
    INNER,
    ONE,
    U0,
    U1,
    U4,
    U6,
    U8,
    U16,
    U63,
    atomic_add,
    atomic_add_float,
    atomic_or,
    compare_and_swap,
    noinline,
    ordered_add,
    prefetch,
    prefetch_to_write,
    trailing_zeros,
)
from hopwave.engines.cpu.search.push import NEIGHBOURS_AHEAD, flush
from hopwave.engines.cpu.search.state import BUFFER
from hopwave.machine_code import njit

# queue, buffers: as in a search (search/steps.py); parent: negative as there before a vertex is visited, then the level
# of one that was pushed; gathered: what vertices take from their successors, where that is not added up along rows;
# sums: one row per worker, with the columns below; levels: where each begins in the queue, its shift of σ̂, its arcs.
WideState = namedtuple("WideState", "parent queue visited bitmaps buffers sigma gathered total targets sums levels")
FOUND_SUM, DUE, COUNTED, GREATEST = range(4)
SUM_COLUMNS = 16  # two cache lines
BEGINS, SHIFT, ARCS = range(3)
LEVEL_COLUMNS = 3

# Flags of the way back: the level has successors; what it takes from them is in `gathered`; endpoints count.
HAS_SUCCESSORS, IS_GATHERED, WITH_ENDPOINTS = 1, 2, 4


@njit(**INNER)
def push_adding(A, W, board, me, end, size, level):
    """Chunks of the frontier until none is left; counts are added up by atomics. Exact while they are below 2^53.

    What is noted as the greatest count is that of the frontier: that of the found level is not known yet.
    """
    noinline()
    indptr, indices, parent, queue, buffer, sigma = A.indptr, A.indices, W.parent, W.queue, W.buffers[me], W.sigma
    end, size, capacity, kept = np.uint64(end), np.uint64(size), np.uint64(BUFFER), U0
    enough, last = indices.size >= NEIGHBOURS_AHEAD, np.uint64(indices.size - NEIGHBOURS_AHEAD)
    level, edges, greatest = np.int32(level), 0, W.sums[me, GREATEST]
    while True:
        begin = np.uint64(atomic_add(board, NEXT_CHUNK, size))
        if begin >= end:
            break
        for i in range(begin, min(begin + size, end)):
            if enough and i + U16 < end:
                prefetch(indptr, queue[i + U16])
                prefetch(indices, indptr[queue[i + U8]])
                first = min(np.uint64(indptr[queue[i + U4]]), last)
                for j in range(np.uint64(NEIGHBOURS_AHEAD)):
                    prefetch_to_write(parent, indices[first + j])
            u = queue[i]
            paths = sigma[u]
            greatest = max(greatest, paths)
            for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                v = indices[j]
                c = parent[v]
                if c < 0:
                    if compare_and_swap(parent, v, c, level):
                        if kept == capacity:
                            flush(buffer, kept, queue, board)
                            kept = U0
                        buffer[kept] = v
                        kept += U1
                        edges -= c + 1
                    c = level  # or another thread has found it in this moment
                if c == level:
                    atomic_add_float(sigma, v, paths)
    flush(buffer, kept, queue, board)
    ordered_add(board, EDGES, edges)
    W.sums[me, GREATEST] = greatest


@njit(**INNER)
def pull_counting(A, W, board, me, which):
    """Unvisited vertices add up the counts of their in-neighbours in the frontier."""
    noinline()
    in_indptr, in_indices, sigma = A.in_indptr, A.in_indices, W.sigma
    front, new = W.bitmaps[which], W.bitmaps[1 - which]
    visited, parent, queue, buffer = W.visited, W.parent, W.queue, W.buffers[me]
    capacity, kept, edges, greatest = np.uint64(BUFFER), U0, 0, W.sums[me, GREATEST]
    region = me
    while True:
        begin, stop, region = next_of_regions(board, region)
        if region < 0:
            break
        for w in range(np.uint64(begin), np.uint64(stop)):
            rows = ~visited[w]
            fresh = U0
            base = w << U6
            while rows != U0:
                bit = trailing_zeros(rows)
                rows &= rows - U1
                v = base + bit
                paths = 0.0
                for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + U1])):
                    u = np.uint64(in_indices[j])
                    there = sigma[u]
                    paths += there if (front[u >> U6] >> (u & U63)) & U1 else 0.0
                if paths > 0.0:
                    sigma[v] = paths
                    greatest = max(greatest, paths)
                    edges -= parent[v] + 1
                    parent[v] = 0
                    fresh |= U1 << bit
                    if kept == capacity:
                        flush(buffer, kept, queue, board)
                        kept = U0
                    buffer[kept] = np.uint32(v)
                    kept += U1
            new[w] = fresh
            visited[w] |= fresh
    flush(buffer, kept, queue, board)
    ordered_add(board, EDGES, edges)
    W.sums[me, GREATEST] = greatest


@njit(**INNER)
def count_found(A, W, board, me, end, size, which):
    """The same for vertices that a push has found; their bits are set."""
    noinline()
    in_indptr, in_indices, queue, sigma = A.in_indptr, A.in_indices, W.queue, W.sigma
    front, new = W.bitmaps[which], W.bitmaps[1 - which]
    greatest = W.sums[me, GREATEST]
    last = np.uint64(end)
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            if i + U16 < last:
                prefetch(in_indptr, queue[i + U16])
                prefetch(in_indices, in_indptr[queue[i + U8]])
            v = np.uint64(queue[i])
            paths = 0.0
            for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + U1])):
                u = np.uint64(in_indices[j])
                there = sigma[u]
                paths += there if (front[u >> U6] >> (u & U63)) & U1 else 0.0
            sigma[v] = paths
            greatest = max(greatest, paths)
            atomic_or(new, v >> U6, U1 << (v & U63))
    W.sums[me, GREATEST] = greatest


@njit(**INNER)
def spread_back(A, W, board, me, which):
    """A level's vertices give their shares to all in-neighbours in a region of vertices, in the order of their numbers.

    So every sum is made by one thread, in the order of its row. Vertices of other levels get something too; it is set
    to 0 before it counts.
    """
    noinline()
    in_indptr, in_indices, sigma, gathered = A.in_indptr, A.in_indices, W.sigma, W.gathered
    front, n, region = W.bitmaps[which], np.uint64(W.parent.size), me
    while True:
        begin, stop, region = next_of_regions(board, region)
        if region < 0:
            break
        first, last = np.uint64(begin) << U6, min(np.uint64(stop) << U6, n)
        for u in range(first, last):
            gathered[u] = 0.0
        for w in range(np.uint64(front.size)):
            asking = front[w]
            base = w << U6
            while asking != U0:
                v = base + trailing_zeros(asking)
                asking &= asking - U1
                prefetch(in_indices, in_indptr[min(v + U16, n)])
                share = sigma[v]
                for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + U1])):
                    u = np.uint64(in_indices[j])
                    if u - first < last - first:
                        gathered[u] += share


@njit(**INNER)
def gather_back(A, W, board, me, end, size, level, flags, which):
    """δ of a level is added to the total; sigma becomes what its predecessors take their share of. Bits are set."""
    noinline()
    indptr, indices, queue, sigma, total, taken = A.indptr, A.indices, W.queue, W.sigma, W.total, W.gathered
    front, new = W.bitmaps[which], W.bitmaps[1 - which]
    targets, shift = W.targets, W.levels[level, SHIFT]
    factor = 2.0 ** np.float64(-shift) if shift else 1.0
    extra = 1.0 if flags & WITH_ENDPOINTS else 0.0
    found, due, counted = 0.0, 0.0, 0.0
    last = np.uint64(end)
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            if i + U16 < last:
                prefetch(indptr, queue[i + U16])
                prefetch(indices, indptr[queue[i + U8]])
                prefetch(sigma, queue[i + U8])
                prefetch(total, queue[i + U8])
            u = np.uint64(queue[i])
            gathered = 0.0
            if flags & IS_GATHERED:
                gathered = taken[u]
            elif flags & HAS_SUCCESSORS:
                for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + U1])):
                    v = np.uint64(indices[j])
                    share = sigma[v]
                    gathered += share if (front[v >> U6] >> (v & U63)) & U1 else 0.0
            paths = sigma[u]
            delta = paths * gathered
            weight = 1.0 if targets.size == 0 else targets[u]
            sigma[u] = (weight + delta) / paths * factor
            total[u] += delta + extra * weight
            found += delta
            due += (level - 1) * weight
            counted += weight
            atomic_or(new, u >> U6, U1 << (u & U63))
    W.sums[me, FOUND_SUM] += found
    W.sums[me, DUE] += due
    W.sums[me, COUNTED] += counted


@njit(**INNER)
def forget(parent, sigma, unvisited, begin, end):
    noinline()
    for v in range(begin, end):
        parent[v] = unvisited[v]
    for v in range(begin, end):
        sigma[v] = 0.0
