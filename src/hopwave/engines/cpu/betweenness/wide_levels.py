"""One level of betweenness on all threads, compiled: forward and backward. See betweenness/wide.py."""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import intrinsics as asm
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness.state import SHIFT
from hopwave.engines.cpu.crew import EDGES, FOUND, TAIL, next_chunk, next_of_regions
from hopwave.engines.cpu.integers import U0, U1, U4, U6, U8, U16
from hopwave.engines.cpu.intrinsics import inner, noinline
from hopwave.engines.cpu.search.state import BUFFER, BUFFER_CELLS
from hopwave.engines.cpu.search.steps import NEIGHBOURS_AHEAD, flush, push_chunk
from hopwave.engines.ledger import declare

# parent: negative as in a search (search/steps.py) before a vertex is visited, then its level; queue, buffers: as in a
# search; sigma: see wide.py; sums: one row per worker; levels: start of each in the queue, its shift of σ̂, its arcs.
# For sorted arcs: getters and values, one entry per arc; runs, one row per bucket of givers; cursors, one row per
# worker; gathered: sums of values.
WideState = namedtuple(
    "WideState", "parent queue visited buffers sigma total targets sums levels getters values runs cursors gathered"
)
FOUND_SUM, DUE, COUNTED = range(3)
SUM_COLUMNS = 16  # two cache lines


def wide_arrays(n, m, teams, workers, limited):
    """The arrays of one team's WideState, except its targets. If memory is limited, arcs are not sorted."""
    arcs, buckets = 0 if limited else policy.sorted_arcs(m), 1 + (n - 1 >> policy.bucket_bits(n))
    return (
        declare(np.int32, huge=True, parent=n)
        | declare(np.uint32, huge=True, queue=n, getters=arcs)
        | declare(np.float64, huge=True, sigma=(2, n), total=n if teams > 1 else 0, values=arcs, gathered=n)
        | declare(np.uint64, visited=-(-n // 64))
        | declare(np.uint32, buffers=(workers, BUFFER_CELLS))
        | declare(np.float64, fill=0, sums=(workers, SUM_COLUMNS))
        | declare(np.int64, levels=(n + 3, 4), runs=(buckets, buckets + 1), cursors=(workers, buckets))
    )


# Flags of a job. COUNTS, PUSHES: forward, the level's σ̂ must still be counted; the level is to be pushed.
# HAS_SUCCESSORS, IS_GATHERED: backward, the level has successors; their shares are in `gathered`. BY_WORDS: the job is
# over words of 64 vertices, not over indices in the queue. OUTWARDS: sorted arcs carry values to the next level, not to
# the previous one. The bits above the flags are the number of bits of a bucket.
COUNTS, PUSHES, HAS_SUCCESSORS, IS_GATHERED, WITH_ENDPOINTS, BY_WORDS, OUTWARDS = (1 << bit for bit in range(7))
FLAG_BITS = 7
FLAGS = (1 << FLAG_BITS) - 1


@inner
def forget(parent, sigma, unvisited, begin, end):
    noinline()
    even, odd = sigma[0], sigma[1]
    for v in range(begin, end):
        parent[v] = unvisited[v]
    for v in range(begin, end):
        even[v] = 0.0
    for v in range(begin, end):
        odd[v] = 0.0


@inner
def collect(parent, level, begin, end, found):
    """The vertices of a level among [begin, end), ascending. Returns their number."""
    noinline()
    count, level = U0, np.int32(level)
    for v in range(np.uint64(begin), np.uint64(end)):
        found[count] = np.uint32(v)
        count += np.uint64(parent[v] == level)
    return count


@inner
def next_part(W, board, me, level, region, by_words):
    """Some vertices of a level, as vertices[begin:stop], and their region; −1 if none remain."""
    if not by_words:
        begin, stop = next_chunk(board)
        return W.queue, begin, stop, region if begin < stop else np.int64(-1)
    begin, stop, region = next_of_regions(board, region)
    if region < 0:
        return W.queue, begin, stop, region
    buffer, last = W.buffers[me], min(np.uint64(stop) << U6, np.uint64(W.parent.size))
    found = collect(W.parent, level, np.uint64(begin) << U6, last, buffer)
    return buffer, np.int64(0), np.int64(found), region


# ------------------------------------------------------------------ forward


@inner
def count_vertices(A, sigma, vertices, begin, end, level):
    """σ̂ of vertices[begin:end], all of that level: the sum over the in-neighbours one level up."""
    noinline()
    in_indptr, in_indices, before, counted = A.in_indptr, A.in_indices, sigma[1 - level % 2], sigma[level % 2]
    begin, end, last = np.uint64(begin), np.uint64(end), np.uint64(max(0, in_indices.size - NEIGHBOURS_AHEAD))
    for i in range(begin, end):
        if last and i + U16 < end:  # as in search/steps.py
            asm.prefetch(in_indptr, vertices[i + U16])
            asm.prefetch(in_indices, in_indptr[vertices[i + U8]])
            first = min(np.uint64(in_indptr[vertices[i + U4]]), last)
            for j in range(np.uint64(NEIGHBOURS_AHEAD)):
                asm.prefetch(before, in_indices[first + j])
        v = np.uint64(vertices[i])
        paths = 0.0
        for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + U1])):
            paths += before[in_indices[j]]
        counted[v] = paths


@inner
def count_and_push(A, W, board, me, level, flags):
    """Count the paths to a level, find its successors in the order of the queue, or both."""
    noinline()
    kept, edges, region = U0, 0, me
    while True:
        vertices, begin, stop, region = next_part(W, board, me, level, region, flags & BY_WORDS != 0)
        if region < 0:
            break
        if flags & COUNTS:
            count_vertices(A, W.sigma, vertices, begin, stop, level)
        if flags & PUSHES:
            kept, more = push_chunk(A, W, board, me, begin, stop, kept, level + 1)
            edges += more
    if flags & PUSHES:
        flush(W.buffers[me], kept, W.queue, board)
        asm.ordered_add(board, EDGES, edges)


@inner
def pull_counting(A, W, board, me, level):
    """Unvisited vertices add up the counts of their in-neighbours; only vertices of the previous level have counts."""
    noinline()
    in_indptr, in_indices, before, counted = A.in_indptr, A.in_indices, W.sigma[1 - level % 2], W.sigma[level % 2]
    visited, parent, queue, buffer = W.visited, W.parent, W.queue, W.buffers[me]
    capacity, kept, edges, mark, region = np.uint64(BUFFER), U0, 0, np.int32(level), me
    while True:
        begin, stop, region = next_of_regions(board, region)
        if region < 0:
            break
        for w in range(np.uint64(begin), np.uint64(stop)):
            rows = ~visited[w]
            fresh = U0
            base = w << U6
            while rows != U0:
                bit = asm.trailing_zeros(rows)
                rows &= rows - U1
                v = base + bit
                paths = 0.0
                for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + U1])):
                    paths += before[in_indices[j]]
                if paths > 0.0:
                    counted[v] = paths
                    edges -= parent[v] + 1
                    parent[v] = mark
                    fresh |= U1 << bit
                    if kept == capacity:
                        flush(buffer, kept, queue, board)
                        kept = U0
                    buffer[kept] = np.uint32(v)
                    kept += U1
            visited[w] |= fresh
    flush(buffer, kept, queue, board)
    asm.ordered_add(board, EDGES, edges)


# ------------------------------------------------------------------ sorted arcs


@inner
def sort_arcs(A, W, board, me, level, flags, bucket_bits):
    """A level's values, once per arc, sorted by the bucket of the receiver (see runs). FOUND: insufficient space."""
    noinline()
    indptr, indices, sign = A.in_indptr, A.in_indices, -1.0
    if flags & OUTWARDS:
        indptr, indices, sign = A.indptr, A.indices, 1.0
    getters, values, buffer, cursor, given = W.getters, W.values, W.buffers[me], W.cursors[me], W.sigma[level % 2]
    n, buckets, bits, region = np.uint64(W.parent.size), W.runs.shape[0], np.uint64(bucket_bits), me
    while True:
        bucket, _, region = next_of_regions(board, region)
        if region < 0:
            return
        runs, first = W.runs[bucket], np.uint64(bucket) << bits
        last = min(first + (U1 << bits), n)
        cursor[:] = 0
        for placing in range(2):
            if placing:
                total = cursor[:buckets].sum()
                place = np.int64(asm.atomic_add(board, TAIL, total))
                if place + total > getters.size:
                    asm.ordered_add(board, FOUND, 1)
                    break
                for b in range(buckets):
                    runs[b] = place
                    place += cursor[b]
                    cursor[b] = runs[b]
                runs[buckets] = place
            for begin in range(first, last, np.uint64(BUFFER)):
                found = collect(W.parent, level, begin, min(begin + np.uint64(BUFFER), last), buffer)
                walk_arcs(indptr, indices, buffer, found, cursor, bits, given, sign, getters, values, placing)


@inner
def walk_arcs(indptr, indices, vertices, count, cursor, bits, given, sign, getters, values, placing):
    noinline()
    for i in range(count):
        if i + U16 < count:
            asm.prefetch(indptr, vertices[i + U16])
            asm.prefetch(indices, indptr[vertices[i + U8]])
            asm.prefetch(given, vertices[i + U8])
        v = np.uint64(vertices[i])
        value = sign * given[v]
        for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + U1])):
            u = np.uint64(indices[j])
            if placing:
                place = np.uint64(cursor[u >> bits])
                getters[place] = np.uint32(u)
                values[place] = value
            cursor[u >> bits] += 1


@inner
def add_sorted(A, W, board, me, level, flags, bucket_bits):
    """A level's vertices receive the sorted path counts or shares. Those of other vertices are never read."""
    noinline()
    getters, values, runs, gathered, buffer = W.getters, W.values, W.runs, W.gathered, W.buffers[me]
    counted, n, bits, region = W.sigma[level % 2], np.uint64(W.parent.size), np.uint64(bucket_bits), me
    while True:
        bucket, _, region = next_of_regions(board, region)
        if region < 0:
            return
        b, first = np.uint64(bucket), np.uint64(bucket) << bits
        last = min(first + (U1 << bits), n)
        for u in range(first, last):
            gathered[u] = 0.0
        for givers in range(np.uint64(runs.shape[0])):
            for place in range(np.uint64(runs[givers, b]), np.uint64(runs[givers, b + U1])):
                gathered[getters[place]] += values[place]
        for begin in range(first, last, np.uint64(BUFFER)):
            found = collect(W.parent, level, begin, min(begin + np.uint64(BUFFER), last), buffer)
            if flags & OUTWARDS:
                for i in range(found):
                    counted[buffer[i]] = gathered[buffer[i]]
            else:
                finish_vertices(A, W, buffer, 0, found, level, flags | IS_GATHERED, me)


# ------------------------------------------------------------------ backward


@inner
def finish_vertices(A, W, vertices, begin, end, level, flags, me):
    """Add δ of a level's vertices to the total; sigma becomes the value of which their predecessors take a share."""
    noinline()
    indptr, indices, total, gathered, targets = A.indptr, A.indices, W.total, W.gathered, W.targets
    sigma, later, shift = W.sigma[level % 2], W.sigma[1 - level % 2], W.levels[level, SHIFT]
    factor = 2.0 ** np.float64(-shift) if shift else 1.0
    extra = 1.0 if flags & WITH_ENDPOINTS else 0.0
    found, counted = 0.0, 0.0
    begin, end, last = np.uint64(begin), np.uint64(end), np.uint64(max(0, indices.size - NEIGHBOURS_AHEAD))
    gathers = last and flags & (HAS_SUCCESSORS | IS_GATHERED) == HAS_SUCCESSORS
    for i in range(begin, end):
        if i + U16 < end:
            if gathers:
                asm.prefetch(indptr, vertices[i + U16])
                asm.prefetch(indices, indptr[vertices[i + U8]])
                first = min(np.uint64(indptr[vertices[i + U4]]), last)
                for j in range(np.uint64(NEIGHBOURS_AHEAD)):
                    asm.prefetch(later, indices[first + j])
            asm.prefetch_to_write(sigma, vertices[i + U8])
            asm.prefetch_to_write(total, vertices[i + U8])
        u = np.uint64(vertices[i])
        taken = 0.0
        if flags & IS_GATHERED:
            taken = gathered[u]
        elif flags & HAS_SUCCESSORS:
            for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + U1])):
                share = later[indices[j]]
                taken -= share if share < 0.0 else 0.0
        paths = sigma[u]
        delta = paths * taken
        weight = 1.0 if targets.size == 0 else targets[u]
        sigma[u] = -((weight + delta) / paths * factor)
        total[u] += delta + extra * weight
        found += delta
        counted += weight
    W.sums[me, FOUND_SUM] += found
    W.sums[me, DUE] += (level - 1) * counted
    W.sums[me, COUNTED] += counted


@inner
def finish_level(A, W, board, me, level, flags):
    noinline()
    region = me
    while True:
        vertices, begin, stop, region = next_part(W, board, me, level, region, flags & BY_WORDS != 0)
        if region < 0:
            return
        finish_vertices(A, W, vertices, begin, stop, level, flags, me)
