"""Δ-stepping, compiled: one bucket of distances after another, until none remains.

Meyer and Sanders, Δ-stepping: a parallelizable shortest path algorithm (2003). Separate bins for every thread: Beamer,
Asanović and Patterson, The GAP benchmark suite (2015). A thread continues with the few vertices that it puts into the
current bucket itself (bucket fusion): Zhang et al., Optimizing ordered graph algorithms with GraphIt (2020).

    FILL     before the first bucket: every distance is beyond all
    RELAX    relax the arcs of the current bucket's vertices
    SPREAD   put the entries of a bin with many buckets into finer bins
    FINISH   after the last bucket: distances become float64, infinite where they are beyond all

Distances are uint32 if all lengths are integers and no path reaches 2³². The order of relaxations does not affect
results: a distance is the minimum over all paths of lengths summed from the source; rounded addition is monotone.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import crew, team
from hopwave.engines.cpu import intrinsics as asm
from hopwave.engines.cpu.integers import ONE, U0, U1, U2, U6, U32, U63
from hopwave.engines.cpu.intrinsics import inner, noinline, outer
from hopwave.engines.cpu.policy import CHAIN_DEGREE, FUSED_BLOCKS, SMALL_BUCKET
from hopwave.engines.cpu.shortest_paths import bins

RELAX, SPREAD, FILL, FINISH = (np.int64(kind) for kind in range(1, 5))
FILLED = 1 << 14  # distances that a thread processes at a time
AHEAD = np.uint64(8)  # prefetch distance (entries)

# Cells of `here`: the state of the run.
NOW, LEFT, KIND, PHASE, ROUNDS, TRACED, BEGAN, BEFORE_VERTICES, BEFORE_ARCS, SETTLED, HERE_CELLS = range(11)
BEFORE, BETWEEN, WORKED, STOPPED, OVER = range(5)  # phases
TRACE_COLUMNS = 5  # bucket, rounds, vertices, arcs, nanoseconds

# d: the distances so far; beyond: one number, the distance of vertices that are unreached or beyond the limit; answer:
# the distances as float64, empty if d has them; rows: one per worker (bins.py); per_length: one number, buckets per
# length; targets: the search ends after the bucket of the last target
Run = namedtuple("Run", "d beyond answer pool rows here per_length targets")


@inner
def prefetch_vertex(A, d, v):
    asm.prefetch(d, v)
    asm.prefetch(A.indptr, v)


@inner
def prefetch_row(A, lengths, v):
    """Prefetch the first and last arcs of a row, which often has two cache lines."""
    for j in (np.uint64(A.indptr[v]), np.uint64(A.indptr[v + ONE]) - U1):
        asm.prefetch(A.indices, j)
        if lengths is not None:
            asm.prefetch(lengths, j)


@inner
def pass_on(A, lengths, d, pool, row, board, kind, now, per_length, shared, b):
    """Relax or spread the entries of a block. Returns whether there were enough free blocks; if not, entries remain."""
    noinline()
    indptr, indices = A.indptr, A.indices
    vertex, distance = pool.vertex, pool.distance
    chains = indices.size < CHAIN_DEGREE * indptr.size
    first, last = (b << U6) + np.uint64(pool.begin[b]), (b << U6) + np.uint64(pool.end[b])
    for i in range(first, min(first + AHEAD, last)):
        prefetch_vertex(A, d, vertex[i])
    for i in range(first, min(first + AHEAD // U2, last)):
        prefetch_row(A, lengths, vertex[i])
    for i in range(first, last):
        if i + AHEAD < last:
            prefetch_vertex(A, d, vertex[i + AHEAD])
        if i + AHEAD // U2 < last:
            prefetch_row(A, lengths, vertex[i + AHEAD // U2])
        u, du = vertex[i], distance[i]
        if d[u] != du:
            continue
        arcs = U1 if kind == SPREAD else np.uint64(indptr[u + ONE]) - np.uint64(indptr[u])
        need = (arcs >> U6) + min(arcs, bins.BINS) + U1
        if row[bins.FREE_COUNT] < need and not bins.reserve(pool, row, board, need):
            pool.begin[b] = np.uint8(i - (b << U6))
            return False
        if kind == SPREAD:
            bins.push(pool, row, now, per_length, u, du)
            continue
        while True:  # along a chain
            follow, farther, followed = u, du, False
            begin, end = np.uint64(indptr[u]), np.uint64(indptr[u + ONE])
            row[bins.VERTICES] += U1
            row[bins.ARCS] += end - begin
            for j in range(begin, end):
                v = np.uint32(indices[j])
                if lengths is None:
                    offer = du + (np.uint64(indices[j]) >> U32 ^ U1)
                else:
                    offer = du + lengths[j]
                if offer >= d[v]:
                    continue
                if shared:
                    if offer >= asm.atomic_least(d, v, offer):
                        continue
                else:
                    d[v] = offer
                k = np.uint64(np.int64(min(offer * per_length, bins.FARTHEST)))
                if chains and not followed and k == now and np.uint64(indptr[v + ONE]) - np.uint64(indptr[v]) <= U2:
                    follow, farther, followed = v, offer, True
                    continue
                bin, differ = k & U63, k ^ now
                if differ > U63:
                    level, digit = U0, k
                    while differ > U63:
                        differ >>= U6
                        digit >>= U6
                        level += U1
                    bin = (level << U6) + (digit & U63)
                at = row[bin]
                if at & U63 == U0:
                    at = bins.open_block(pool, row, bin, at)
                vertex[at] = v
                distance[at] = offer
                row[bin] = at + U1
            if not followed:
                break
            u, du = follow, farther
            if row[bins.FREE_COUNT] <= U2:  # too few for another vertex of the chain, but one exists
                bins.push(pool, row, now, per_length, u, du)
                break
    return True


@inner
def pass_on_chain(A, d, pool, row, board, kind, now, per_length, shared, b):
    """`pass_on` for every block of a chain. Finished blocks become free; the others become LEFT."""
    while b != U0:
        after = np.uint64(pool.link[b])
        if not pass_on(A, A.lengths, d, pool, row, board, kind, now, per_length, shared, b):
            row[bins.LEFT] = b
            return
        bins.release(pool, row, b)
        b = after


@inner
def is_short(pool, b, most):
    count = 0
    while b != U0 and count <= most:
        b = np.uint64(pool.link[b])
        count += 1
    return count <= most


@inner
def over_vertices(d, beyond, answer, board, kind):
    while True:
        begin, stop = crew.next_chunk(board)
        if begin >= d.size:
            return
        if kind == FILL:
            d[begin:stop] = beyond
        else:
            for v in range(begin, stop):
                answer[v] = d[v] if d[v] < beyond else np.inf


@inner
def work(A, W, board, me):
    noinline()
    d, pool, row, now, per_length = W.d, W.pool, W.rows[me], np.uint64(W.here[NOW]), W.per_length[0]
    kind = board[crew.JOB_KIND]
    if kind >= FILL:
        over_vertices(d, W.beyond[0], W.answer, board, kind)
        return
    cells, workers, whose, tried = W.rows.reshape(W.rows.size), W.rows.shape[0], me, 0
    while row[bins.LEFT] == U0 and tried < workers:  # own blocks first: this core's cache has their distances
        b = bins.take_queued(pool, cells, np.uint64(whose * bins.ROW_CELLS) + bins.QUEUE)
        if b == U0:
            whose, tried = whose + 1 if whose + 1 < workers else 0, tried + 1
            continue
        pool.link[b] = np.uint32(0)
        pass_on_chain(A, d, pool, row, board, kind, now, per_length, True, b)
    while kind == RELAX and row[bins.LEFT] == U0 and (row[bins.MASKS] >> (now & U63)) & U1:
        # Bucket fusion: a few vertices of this bucket that this worker found are not worth another job.
        if not is_short(pool, row[bins.BINS + (now & U63)], FUSED_BLOCKS):
            break
        chain = bins.take_bin(pool, row, U0, now & U63)
        pass_on_chain(A, d, pool, row, board, kind, now, per_length, True, chain)


@inner
def collect(pool, rows, level, digit):
    """Move this bin of every worker to the worker's queue."""
    cells, bin = rows.reshape(rows.size), (level << U6) + digit
    for w in range(np.uint64(rows.shape[0])):  # other cores wrote these cells last: prefetch all before reading one
        row = w * np.uint64(rows.shape[1])
        asm.prefetch_to_write(cells, row + bins.MASKS + level)
        asm.prefetch_to_write(cells, row + bin)
        asm.prefetch(cells, row + bins.HEADS + bin)
    for w in range(rows.shape[0]):
        rows[w, bins.QUEUE] = bins.take_bin(pool, rows[w], level, digit)


@inner
def is_small(pool, rows):
    """Whether the queues have so few entries that the leader processes all of them."""
    entries = 0
    for w in range(rows.shape[0]):
        b = rows[w, bins.QUEUE]
        while b != U0 and entries < SMALL_BUCKET:
            entries += np.int64(pool.end[b]) - np.int64(pool.begin[b])
            b = np.uint64(pool.link[b])
    return entries < SMALL_BUCKET


@inner
def queue_left(pool, rows):
    """Return unfinished blocks to the queues. Returns whether there were any."""
    left = False
    for w in range(rows.shape[0]):
        b = rows[w, bins.LEFT]
        if b != U0:
            left = True
            last = b
            while pool.link[last] != np.uint32(0):
                last = np.uint64(pool.link[last])
            pool.link[last] = np.uint32(rows[w, bins.QUEUE])
            rows[w, bins.QUEUE], rows[w, bins.LEFT] = b, U0
    return left


@inner
def note(rows, here, trace):
    vertices, arcs = U0, U0
    for w in range(rows.shape[0]):
        vertices += rows[w, bins.VERTICES]
        arcs += rows[w, bins.ARCS]
    if here[ROUNDS]:
        now = asm.nanoseconds()
        row = trace[here[TRACED]]
        row[0], row[1], row[2] = here[NOW], here[ROUNDS], np.int64(vertices) - here[BEFORE_VERTICES]
        row[3], row[4] = np.int64(arcs) - here[BEFORE_ARCS], now - here[BEGAN]
        here[TRACED] += 1
        here[BEGAN] = now
    here[BEFORE_VERTICES], here[BEFORE_ARCS], here[ROUNDS] = np.int64(vertices), np.int64(arcs), 0


@inner
def all_settled(d, here, targets, now, per_length):
    """Whether there are targets, all in buckets before `now`; here[SETTLED]: the first that may not be settled."""
    i = here[SETTLED]
    while i < targets.size and bins.bucket_of(d[targets[i]], per_length) < now:
        i += 1
    here[SETTLED] = i
    return targets.size > 0 and i == targets.size


@inner
def next_job(A, d, pool, rows, board, here, per_length, targets, trace):
    """The leader's work between jobs. Returns whether it posted a job: not if the run is over or must stop."""
    noinline()
    threads = rows.shape[0]
    while True:
        if here[PHASE] == WORKED:
            here[PHASE] = BETWEEN
            here[LEFT] = queue_left(pool, rows)
            if here[LEFT]:
                here[PHASE] = STOPPED  # Python enlarges the pool and calls again
                return False
        if here[LEFT] == 0:
            level, digit = bins.first_bin(rows, threads)
            now = bins.moved_to(np.uint64(here[NOW]), level, digit) if level < np.uint64(bins.LEVELS) else U0
            if trace.size and (np.int64(now) != here[NOW] or level == np.uint64(bins.LEVELS)):
                if here[TRACED] == trace.shape[0]:
                    here[PHASE] = STOPPED  # Python copies the rows and calls again
                    return False
                note(rows, here, trace)
            if level == np.uint64(bins.LEVELS) or all_settled(d, here, targets, now, per_length):
                here[PHASE] = OVER
                return False
            here[NOW] = np.int64(now)
            here[KIND] = SPREAD if level else RELAX
            here[ROUNDS] += 0 if level else 1
            collect(pool, rows, level, digit)
        here[PHASE], here[LEFT] = WORKED, 0
        if threads > 1 and not is_small(pool, rows):
            crew.open_job(board, here[KIND], 0, threads, 1, here[NOW], 0, 0)
            return True
        for w in range(threads):
            if rows[0, bins.LEFT] == U0:
                b = rows[w, bins.QUEUE]
                rows[w, bins.QUEUE] = U0
                pass_on_chain(A, d, pool, rows[0], board, here[KIND], np.uint64(here[NOW]), per_length, False, b)


together = team.chunks(work)


@inner
def lead(A, W, board, sources, trace):
    """Jobs until all buckets are done, or the trace is full, or the pool is empty."""
    noinline()
    d, pool, rows, here, per_length = W.d, W.pool, W.rows, W.here, W.per_length[0]
    if trace.size and here[BEGAN] == 0:
        here[BEGAN] = asm.nanoseconds()
    if here[PHASE] == BEFORE:
        together(A, W, board, FILL, 0, W.d.size, FILLED, 0, 0, 0)
        for s in sources:
            d[s] = 0
            bins.reserve(pool, rows[0], board, U1)
            bins.push(pool, rows[0], U0, per_length, s, d[s])
    here[PHASE] = BETWEEN
    while next_job(A, d, pool, rows, board, here, per_length, W.targets, trace):
        work(A, W, board, np.int64(0))
        crew.close_job(board)
    if here[PHASE] == OVER and W.answer.size:
        together(A, W, board, FINISH, 0, W.d.size, FILLED, 0, 0, 0)


part_of = team.led(lead, work)


@outer
def take_part(A, W, board, sources, trace, cells, helpers, me):
    part_of(A, W, board, (sources, trace), cells, helpers, me)
