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
from hopwave.engines.cpu.integers import ONE, U0, U1, U2, U6, U63
from hopwave.engines.cpu.intrinsics import inner, noinline, outer
from hopwave.engines.cpu.policy import CHAIN_DEGREE, FUSED_BLOCKS, HUB_ARCS, HUBS_AT_ONCE, SMALL_BUCKET
from hopwave.engines.cpu.shortest_paths import bins

RELAX, SPREAD, FILL, FINISH = (np.int64(kind) for kind in range(1, 5))
FILLED = 1 << 14  # distances that a thread processes at a time
AHEAD = np.uint64(4)  # prefetch distance (entries) for rows

# Cells of `here`: the state of the run.
NOW, BLOCKS, ENTRIES, KIND, PHASE, ROUNDS, TRACED, BEGAN, BEFORE_VERTICES, BEFORE_ARCS, SETTLED, HERE_CELLS = range(12)
BEFORE, BETWEEN, WORKED, STOPPED, OVER = range(5)  # phases
TRACE_COLUMNS = 5  # bucket, rounds, vertices, arcs, nanoseconds

# d: the distances so far; beyond: one number, the distance of vertices that are unreached or beyond the limit; answer:
# the distances as float64, empty if d has them; rows: one per worker (bins.py); F: the next blocks; numbers: buckets
# per length, and whether hubs are dealt; targets: the search ends after the bucket of the last target
Run = namedtuple("Run", "d beyond answer pool rows F here numbers targets")


@inner
def pass_on(A, d, pool, row, board, kind, now, per_length, shared, b):
    """Relax or spread the entries of a block. Returns whether there were enough free blocks; if not, entries remain."""
    noinline()
    indptr, indices, lengths = A.indptr, A.indices, A.lengths
    vertex, distance = pool.vertex, pool.distance
    chains, weighs = indices.size < CHAIN_DEGREE * indptr.size, lengths.size > 1
    first, last = (b << U6) + np.uint64(pool.begin[b]), (b << U6) + np.uint64(pool.end[b])
    for i in range(first, last):
        if i + AHEAD < last:
            asm.prefetch(d, vertex[i + AHEAD])
            asm.prefetch(indptr, vertex[i + AHEAD])
        if i + AHEAD // U2 < last:
            place = np.uint64(indptr[vertex[i + AHEAD // U2]])
            asm.prefetch(indices, place)
            if weighs:
                asm.prefetch(lengths, place)
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
            follow, length, followed = u, du, False
            begin, end = np.uint64(indptr[u]), np.uint64(indptr[u + ONE])
            row[bins.VERTICES] += U1
            row[bins.ARCS] += end - begin
            for j in range(begin, end):
                v = indices[j]
                offer = du + lengths[j if weighs else U0]
                if offer >= d[v]:
                    continue
                if shared:
                    if offer >= asm.atomic_least(d, v, offer):
                        continue
                else:
                    d[v] = offer
                k = np.uint64(np.int64(min(offer * per_length, bins.FARTHEST)))
                if chains and not followed and k == now and np.uint64(indptr[v + ONE]) - np.uint64(indptr[v]) <= U2:
                    follow, length, followed = v, offer, True
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
            u, du = follow, length
            if row[bins.FREE_COUNT] <= U2:  # too few for another vertex of the chain, but one exists
                bins.push(pool, row, now, per_length, u, du)
                break
    return True


@inner
def pass_on_chain(A, d, pool, row, board, kind, now, per_length, shared, b):
    """`pass_on` for every block of a chain. Finished blocks become free; the others become LEFT."""
    while b != U0:
        after = np.uint64(pool.link[b])
        if not pass_on(A, d, pool, row, board, kind, now, per_length, shared, b):
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
    d, pool, row, F, now, per_length = W.d, W.pool, W.rows[me], W.F, np.uint64(W.here[NOW]), W.numbers[0]
    kind, end = board[crew.JOB_KIND], board[crew.JOB_END]
    if kind >= FILL:
        over_vertices(d, W.beyond[0], W.answer, board, kind)
        return
    while row[bins.LEFT] == U0:
        i = asm.atomic_add(board, crew.NEXT_CHUNK, 1)
        if i >= end:
            break
        pool.link[F[i]] = np.uint32(0)
        pass_on_chain(A, d, pool, row, board, kind, now, per_length, True, np.uint64(F[i]))
    alone = kind == RELAX and W.numbers[1] == 0.0  # neighbours of hubs may be hubs, which are distributed
    while alone and row[bins.LEFT] == U0 and (row[bins.MASKS] >> (now & U63)) & U1:
        # Bucket fusion: a few vertices of this bucket that this worker found are not worth another job.
        if not is_short(pool, row[bins.BINS + (now & U63)], FUSED_BLOCKS):
            break
        chain = bins.take_bin(pool, row, U0, now & U63)
        pass_on_chain(A, d, pool, row, board, kind, now, per_length, True, chain)


@inner
def collect(pool, rows, F, here, level, digit):
    """Prepare the next job over this bin of all workers."""
    blocks, cells, bin = 0, rows.reshape(rows.size), (level << U6) + digit
    for w in range(np.uint64(rows.shape[0])):  # other cores wrote these cells last: prefetch all before reading one
        row = w * np.uint64(rows.shape[1])
        asm.prefetch_to_write(cells, row + bins.MASKS + level)
        asm.prefetch_to_write(cells, row + bin)
        asm.prefetch(cells, row + bins.HEADS + bin)
    for w in range(rows.shape[0]):
        b = bins.take_bin(pool, rows[w], level, digit)
        if b != U0:
            F[blocks] = np.uint32(b)
            blocks += 1
    add_chains(pool, F, here, blocks)


@inner
def add_chains(pool, F, here, blocks):
    """F starts with the first blocks of chains: add the others, chains interleaved, to overlap cache misses."""
    entries, i = 0, 0
    while i < blocks:
        b = F[i]
        entries += np.int64(pool.end[b]) - np.int64(pool.begin[b])
        if pool.link[b] != np.uint32(0):
            F[blocks] = pool.link[b]
            blocks += 1
        i += 1
    here[BLOCKS], here[ENTRIES] = blocks, entries


@inner
def deal_hubs(A, pool, row, board, F, here):
    """Whether the next job had few blocks with many arcs: each of its vertices then has its own block."""
    noinline()
    blocks, entries, arcs = here[BLOCKS], here[ENTRIES], U0
    if blocks > HUBS_AT_ONCE or here[KIND] != RELAX:
        return False
    for i in range(blocks):
        b = np.uint64(F[i])
        for place in range((b << U6) + np.uint64(pool.begin[b]), (b << U6) + np.uint64(pool.end[b])):
            v = pool.vertex[place]
            arcs += np.uint64(A.indptr[v + ONE]) - np.uint64(A.indptr[v])
    if np.int64(arcs) < HUB_ARCS * max(entries, SMALL_BUCKET) or not bins.reserve(pool, row, board, np.uint64(entries)):
        return False
    for i in range(blocks):
        b = np.uint64(F[i])
        pool.link[b] = np.uint32(0)
        first = (b << U6) + np.uint64(pool.begin[b])
        for place in range(first + U1, (b << U6) + np.uint64(pool.end[b])):
            alone = bins.take_block(pool, row, U1)
            pool.vertex[alone << U6] = pool.vertex[place]
            pool.distance[alone << U6] = pool.distance[place]
            F[here[BLOCKS]] = np.uint32(alone)
            here[BLOCKS] += 1
        pool.end[b] = np.uint8(pool.begin[b] + 1)
    return True


@inner
def collect_left(pool, rows, board, F, here):
    """Prepare the next job over the unfinished blocks of workers. Returns whether there are any."""
    taken, end = min(board[crew.NEXT_CHUNK], here[BLOCKS]), here[BLOCKS]
    left = False
    for w in range(rows.shape[0]):
        left |= rows[w, bins.LEFT] != U0
    if not left:
        return False
    for i in range(taken, end):  # untaken blocks; moved to the front
        pool.link[F[i]] = np.uint32(0)
        F[i - taken] = F[i]
    blocks = end - taken
    for w in range(rows.shape[0]):
        if rows[w, bins.LEFT] != U0:
            F[blocks] = np.uint32(rows[w, bins.LEFT])
            blocks += 1
        rows[w, bins.LEFT] = U0
    add_chains(pool, F, here, blocks)
    return True


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
def next_job(A, d, pool, rows, board, F, here, per_length, hubs, targets, trace):
    """The leader's work between jobs. Returns whether it posted a job: not if the run is over or must stop."""
    noinline()
    threads = rows.shape[0]
    while True:
        if here[PHASE] == WORKED:
            here[PHASE] = BETWEEN
            if collect_left(pool, rows, board, F, here):
                here[PHASE] = STOPPED  # Python enlarges the pool and calls again
                return False
            here[BLOCKS] = 0
        if here[BLOCKS] == 0:
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
            collect(pool, rows, F, here, level, digit)
        now, kind = np.uint64(here[NOW]), here[KIND]
        here[PHASE] = WORKED
        dealt = threads > 1 and hubs and deal_hubs(A, pool, rows[0], board, F, here)
        if threads > 1 and (dealt or here[ENTRIES] >= SMALL_BUCKET):
            crew.open_job(board, kind, 0, here[BLOCKS], 1, here[NOW], 0, 0)
            return True
        board[crew.NEXT_CHUNK] = 0
        row = rows[0]
        while board[crew.NEXT_CHUNK] < here[BLOCKS] and row[bins.LEFT] == U0:
            b = np.uint64(F[board[crew.NEXT_CHUNK]])
            board[crew.NEXT_CHUNK] += 1
            pool.link[b] = np.uint32(0)
            pass_on_chain(A, d, pool, row, board, kind, now, per_length, False, b)


together = team.chunks(work)


@inner
def lead(A, W, board, sources, trace):
    """Jobs until all buckets are done, or the trace is full, or the pool is empty."""
    noinline()
    d, pool, rows, F, here, per_length, hubs = W.d, W.pool, W.rows, W.F, W.here, W.numbers[0], W.numbers[1] > 0.0
    if trace.size and here[BEGAN] == 0:
        here[BEGAN] = asm.nanoseconds()
    if here[PHASE] == BEFORE:
        together(A, W, board, FILL, 0, W.d.size, FILLED, 0, 0, 0)
        for s in sources:
            d[s] = 0
            bins.reserve(pool, rows[0], board, U1)
            bins.push(pool, rows[0], U0, per_length, s, d[s])
    here[PHASE] = BETWEEN
    while next_job(A, d, pool, rows, board, F, here, per_length, hubs, W.targets, trace):
        work(A, W, board, np.int64(0))
        crew.close_job(board)
    if here[PHASE] == OVER and W.answer.size:
        together(A, W, board, FINISH, 0, W.d.size, FILLED, 0, 0, 0)


part_of = team.led(lead, work)


@outer
def take_part(A, W, board, sources, trace, cells, helpers, me):
    part_of(A, W, board, (sources, trace), cells, helpers, me)
