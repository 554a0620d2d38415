"""Searches from many sources, compiled: 64 at a time as bits of a word, or one by one, and workers that take batches.

    lane         a source's index among the 64 of its batch: its bit in a word
    seen[v]      the lanes that have reached v            front[v], fresh[v]   lanes that did in this level, in the next
    active       the vertices with front[v] ≠ 0           found                the vertices with fresh[v] ≠ 0

A level costs one pass over the arcs of the active vertices, for any number of the 64 lanes. The results of a search are
added up level by level (KEEP bits):

    SUMS      per source: number reached, Σ d, Σ 1/d, maximum d; and the number of pairs at each distance
    COLUMNS   per vertex, over all sources: number that reached it, Σ w(d), Σ w(d)², as integers
    ROWS      every distance
    PAIRS     (vertex, distance) for each source in turn, in the order found
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import intrinsics as asm
from hopwave.engines.cpu.integers import ONE, U0, U1, U8
from hopwave.engines.cpu.intrinsics import inner, noinline, outer
from hopwave.engines.cpu.workers import FINISHED, next_batch

LANES = 64
SUMS, COLUMNS, ROWS, PAIRS = 1, 2, 4, 8

# One worker's arrays; arrays that its searches do not need are empty. lanes: newly reached vertices per lane; planes:
# bits of the levels, as in many/run.py.
WorkerState = namedtuple("WorkerState", "seen front fresh active found depth planes lanes histogram columns")
# sources: in the order of their batches; places: the row of the result that each source fills; reach: the maximum
# number of vertices it can reach; starts: the start of its pairs.
SharedState = namedtuple(
    "SharedState", "sources places reach sums inverse rows starts pair_vertex pair_distance control limits"
)

# width: sources per batch; limit: the depth of a search; pull_share, push_cost: see policy.py.
Limits = namedtuple("Limits", "width limit keep shift weight upwards pull_share push_cost")
REACHED, TOTAL, FARTHEST = 0, 1, 2  # columns of sums
HOPS, INVERSE = 0, 1  # values of `weight`: w(d) = d, or 2^shift / d rounded

BYTES = np.uint64(0x0101010101010101)
BYTE = np.uint64(255)
MOST_IN_BYTE = 255
PLANES = 4  # see many/run.py
DEEPEST = 1 << PLANES


# ------------------------------------------------------------------ one level, 64 searches


@inner
def push_wide(indptr, indices, seen, front, fresh, active, size, found):
    """Active vertices pass their lanes to their neighbours. Returns the number of vertices found."""
    noinline()
    tail = 0
    for i in range(size):
        if i + 16 < size:
            asm.prefetch(indptr, active[i + 16])
            asm.prefetch(indices, indptr[active[i + 8]])
        u = active[i]
        lanes = front[u]
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            new = lanes & ~seen[v]
            if new != U0:
                before = fresh[v]
                if before == U0:
                    found[tail] = v
                    tail += 1
                fresh[v] = before | new
    return tail


@inner
def pull_wide(in_indptr, in_indices, seen, front, fresh, full, low, high, found):
    """Vertices [low, high) look for missing lanes in neighbours. Returns how many found some, and arcs checked."""
    noinline()
    tail, checked = 0, 0
    for v in range(np.uint64(low), np.uint64(high)):
        missing = full & ~seen[v]
        left, begin, end = missing, np.uint64(in_indptr[v]), np.uint64(in_indptr[v + U1])
        j = begin
        while left != U0 and j < end:
            left &= ~front[in_indices[j]]
            j += U1
        checked += np.int64(j - begin)
        new = missing & ~left
        fresh[v] = new
        if new != U0:
            found[tail] = np.uint32(v)
            tail += 1
    return tail, checked


@inner
def settle(A, own, fresh, found, tail, depth):
    """Mark the found vertices as seen. Returns their out-arcs, and the number of new (source, vertex) pairs."""
    noinline()
    unvisited, seen, planes, arcs, pairs = A.unvisited, own.seen, own.planes, 0, 0
    keeps = planes.shape[0] if depth < DEEPEST else 0
    for i in range(tail):
        v = found[i]
        new = fresh[v]
        seen[v] |= new
        pairs += asm.count_ones(new)
        arcs -= unvisited[v] + 1
        for plane in range(keeps):
            if (depth >> plane) & 1:
                planes[plane, v] |= new
    return arcs, pairs


@inner
def count_lanes(fresh, found, tail, lanes):
    """lanes[i] += the number of found words with bit i; bits k, k + 8, … are counted jointly in the bytes of a word."""
    noinline()
    some = np.empty(MOST_IN_BYTE, np.uint64)
    for begin in range(0, tail, MOST_IN_BYTE):
        count = min(MOST_IN_BYTE, tail - begin)
        for i in range(count):
            some[i] = fresh[found[begin + i]]
        for k in range(8):
            counters, shift = U0, np.uint64(k)
            for i in range(count):
                counters += (some[i] >> shift) & BYTES
            for lane in range(k, LANES, 8):
                lanes[lane] += np.int64(counters & BYTE)
                counters >>= U8


@inner
def weights(limits, depth):
    """w(d) and w(d)² as integers; the square of 1/d in the same unit as 1/d."""
    if depth == 0:
        return np.int64(0), np.int64(0)
    if limits.weight == HOPS:
        return np.int64(depth), np.int64(depth) * depth
    unit = np.float64(np.int64(1) << limits.shift)
    return np.int64(np.rint(unit / depth)), np.int64(np.rint(unit / (np.float64(depth) * depth)))


@inner
def fill_columns(fresh, found, tail, columns, weight, square):
    noinline()
    for i in range(tail):
        v = found[i]
        count = asm.count_ones(fresh[v])
        columns[v, 0] += count
        columns[v, 1] += count * weight
        columns[v, 2] += count * square


@inner
def fill_rows(fresh, found, tail, rows, places, first, depth):
    noinline()
    for i in range(tail):
        v = found[i]
        new = fresh[v]
        while new != U0:
            lane = asm.trailing_zeros(new)
            new &= new - U1
            rows[places[first + np.int64(lane)], v] = depth


@inner
def fill_sums(own, shared, first, count, depth):
    """Move a level's counts to the sums of the sources, starting at number `first`."""
    lanes, sums, inverse, places, histogram = own.lanes, shared.sums, shared.inverse, shared.places, own.histogram
    reciprocal = 1.0 / depth if depth else 0.0
    for lane in range(count):
        new = lanes[lane]
        if new:
            lanes[lane] = 0
            place = places[first + lane]
            sums[place, REACHED] += new
            sums[place, TOTAL] += new * depth
            sums[place, FARTHEST] = depth
            inverse[place] += new * reciprocal
            histogram[depth] += new


@inner
def keep_level(own, shared, first, fresh, found, tail, depth, lanes):
    """Add the wanted results of a level, or of a part of it; `lanes` counts the pairs of each search."""
    keep = shared.limits.keep
    if keep & SUMS:
        count_lanes(fresh, found, tail, lanes)
    if keep & COLUMNS:
        weight, square = weights(shared.limits, depth)
        fill_columns(fresh, found, tail, own.columns, weight, square)
    if keep & ROWS and (depth >= DEEPEST or own.planes.shape[0] == 0):
        fill_rows(fresh, found, tail, shared.rows, shared.places, first, np.int32(depth))


@inner
def all_lanes(count):
    return ~U0 if count == LANES else (U1 << np.uint64(count)) - U1


@inner
def begin_lanes(shared, first, count, front, active):
    """Set the bits of `count` sources. Returns the number of their vertices, and the maximum number of pairs."""
    size, left = 0, 0
    for lane in range(count):
        s = shared.sources[first + lane]
        left += shared.reach[first + lane]
        if front[s] == U0:
            active[size] = np.uint32(s)
            size += 1
        front[s] |= U1 << np.uint64(lane)
    return size, left


@inner
def wide_search(A, own, shared, first, count):
    """Up to 64 joint searches, from `count` sources starting at number `first`."""
    noinline()
    seen, front, fresh, active, found = own.seen, own.front, own.fresh, own.active, own.found
    # The arcs that a pull would read: first a guess, then the last pull's number, which the next rarely exceeds.
    expected, push_cost = np.int64(A.indices.size) // shared.limits.pull_share, shared.limits.push_cost
    seen[:] = U0
    front[:] = U0
    fresh[:] = U0
    own.lanes[:] = 0
    size, left = begin_lanes(shared, first, count, front, active)
    depth, full = np.int64(0), all_lanes(count)
    arcs, pairs = settle(A, own, front, active, size, depth)
    left -= pairs
    keep_level(own, shared, first, front, active, size, depth, own.lanes)
    fill_sums(own, shared, first, count, depth)
    while size > 0 and left > 0 and depth < shared.limits.limit:
        depth += 1
        if arcs * push_cost <= expected:
            tail = push_wide(A.indptr, A.indices, seen, front, fresh, active, size, found)
        else:
            tail, expected = pull_wide(A.in_indptr, A.in_indices, seen, front, fresh, full, 0, seen.size, found)
        for i in range(size):
            front[active[i]] = U0
        arcs, pairs = settle(A, own, fresh, found, tail, depth)
        left -= pairs
        keep_level(own, shared, first, fresh, found, tail, depth, own.lanes)
        fill_sums(own, shared, first, count, depth)
        front, fresh = fresh, front
        active, found = found, active
        size = tail


# ------------------------------------------------------------------ one search


@inner
def push_one(indptr, indices, depth, queue, begin, end, level):
    """One level of one search. Returns the new end of the queue."""
    noinline()
    tail = end
    for i in range(begin, end):
        if i + 16 < end:
            asm.prefetch(indptr, queue[i + 16])
            asm.prefetch(indices, indptr[queue[i + 8]])
        u = queue[i]
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            if depth[v] < 0:
                depth[v] = level
                queue[tail] = v
                tail += 1
    return tail


@inner
def single_search(A, own, shared, number):
    """One search from this source, by pushes; depth is -1 everywhere before and after."""
    noinline()
    queue, lanes, keep, columns = own.active, own.lanes, shared.limits.keep, own.columns
    place = shared.places[number]
    depth = shared.rows[place] if keep & ROWS else own.depth
    source = shared.sources[number]
    pair = shared.starts[place] if keep & PAIRS else np.int64(0)
    begin, tail, level = np.int64(0), np.int64(1), np.int64(0)  # literals would compile what they are passed to twice
    depth[source] = 0
    queue[0] = np.uint32(source)
    while tail > begin:
        if keep & SUMS:
            lanes[0] = tail - begin
            fill_sums(own, shared, number, np.int64(1), level)
        if keep & COLUMNS:
            weight, square = weights(shared.limits, level)
            for i in range(begin, tail):
                v = queue[i]
                columns[v, 0] += 1
                columns[v, 1] += weight
                columns[v, 2] += square
        if keep & PAIRS and level:
            pair = fill_pairs(queue, begin, tail, shared, source, level, pair)
        if level == shared.limits.limit or tail >= shared.reach[number]:
            break
        level += 1
        end = tail
        tail = push_one(A.indptr, A.indices, depth, queue, begin, end, np.int32(level))
        begin = end
    if keep & PAIRS:
        shared.sums[place, REACHED] = pair - shared.starts[place]
    if not keep & ROWS:
        for i in range(tail):
            depth[queue[i]] = -1


@inner
def fill_pairs(queue, begin, end, shared, source, level, pair):
    """Append a level's vertices to the pairs so far, or only count them while the pair arrays are empty."""
    noinline()
    vertices, depths, upwards = shared.pair_vertex, shared.pair_distance, shared.limits.upwards
    for i in range(begin, end):
        v = queue[i]
        if upwards and np.int64(v) < source:
            continue
        if vertices.size:
            vertices[pair] = np.int32(v)
            depths[pair] = np.int32(level)
        pair += 1
    return pair


@inner
def take(A, own, shared, wide):
    """Search from batches of sources. Numba compiles only the branch that the type of `wide` selects."""
    while True:
        first, stop = next_batch(shared.control, shared.limits.width, shared.sources.size)
        if first == stop:
            return
        if shared.limits.keep & ROWS:  # on all workers: filling new memory takes as long as the searches
            for number in range(first, stop):
                shared.rows[shared.places[number]][:] = -1
        if wide is None:
            single_search(A, own, shared, first)
        else:
            wide_search(A, own, shared, first, stop - first)
        asm.atomic_add(shared.control, FINISHED, stop - first)


@outer
def take_batches(A, own, shared):
    take(asm.uncounted(A), asm.uncounted(own), asm.uncounted(shared), True)


@outer
def take_sources(A, own, shared):
    take(asm.uncounted(A), asm.uncounted(own), asm.uncounted(shared), None)
