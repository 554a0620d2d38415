"""PageRank and Katz centrality on the CPU: compiled rounds, rows shared among threads.

All rounds of PageRank and of Katz centrality are one call. One round is  y = Aᵀ w + base + (Σ x at dead ends) · dead,
where w = x · scale / total is what an arc carries, without its own weight; at dead ends w = x. Ranks are stored as w.

On large undirected graphs the next ranks are  ω · (y − before) + before,  ω = 2 / (1 + √(1 − c²)), where ± c bounds the
eigenvalues: Golub and Varga, Chebyshev semi-iterative methods (1961). c is estimated from how fast changes shrink: a
mode that shrinks by z belongs to the eigenvalue (z² + ω − 1) / (ω z). If high precision is required, such a run starts
with  b + (1 − n b) · total / Σ total,  b = (1 − α) / (n − α · number of dead ends).
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import crew, policy, team
from hopwave.engines.cpu.graph import is_scattered
from hopwave.engines.cpu.integers import U0, U1, U2, U3, U4
from hopwave.engines.cpu.intrinsics import atomic_add, inner, noinline, outer
from hopwave.engines.cpu.views import left_or_new, new_array, read_only, unsigned, unsigned_rows
from hopwave.graph.csr import Rows
from hopwave.planning.jobs import PowerEnd

BEGIN, ROUND, END = (np.int64(kind) for kind in range(3))  # jobs; Numba would compile a version per literal
SCALE, LOST, MOMENTUM, BOUND, CHANGE, ROUNDS, SLOPE, NOW_CELLS = range(8)  # cells of Ranks.now
SMALLEST = 1e-200  # a factor below which arcs carry nothing
LARGEST = 0.99  # maximum eigenvalue that acceleration assumes

# The arcs into every vertex. values: empty if all are 1; totals: the sum of every vertex's weights, empty if it is the
# length of its row; bounds: start of each block of rows; order: the vertex of every row, empty if rows are in order
Arcs = namedtuple("Arcs", "indptr indices values totals bounds order")

# w: two rows, the ranks and the previous or next ranks; start, base, dead: one entry per vertex, or one for all; sums,
# per block: all changes, and the rank at its dead ends; x: the result; now: the state of the run
Ranks = namedtuple("Ranks", "w start base dead sums x now")

# No function is called per row: passing arrays to a function takes longer than a short row.


@inner
def begin_block(A, W, block):
    noinline()
    indptr, totals, start = A.indptr, A.totals, W.start
    scale, first, lost, plain, varies = W.now[SCALE], W.w[0], 0.0, totals.size == 0, start.size > 1
    order, in_order, slope = A.order, A.order.size == 0, W.now[SLOPE]
    for i in range(np.uint64(A.bounds[block]), np.uint64(A.bounds[block + 1])):
        total = np.float64(indptr[i + U1] - indptr[i]) if plain else totals[i]
        x = (start[i if in_order else np.uint64(order[i])] if varies else start[U0]) + slope * total
        if total == 0.0:
            first[i] = x
            lost += x
        else:
            first[i] = x * (scale / total)
    W.sums[block, 1] = lost


@inner
def round_block(A, W, which, block):
    """The next ranks of a block's rows, by four partial sums: an addition takes longer than a load."""
    noinline()
    indptr, indices, values, totals = A.indptr, A.indices, A.values, A.totals
    w, out, base, dead, order = W.w[which], W.w[1 - which], W.base, W.dead, A.order
    scale, lost, momentum = W.now[SCALE], W.now[LOST], W.now[MOMENTUM]
    back, weighs, plain, varies = 1.0 / scale, values.size > 0, totals.size == 0, base.size > 1 or dead.size > 1
    even, change, left = base[U0] + lost * dead[U0], 0.0, 0.0
    low, high = np.uint64(A.bounds[block]), np.uint64(A.bounds[block + 1])
    j = np.uint64(indptr[low])
    for i in range(low, high):
        end = np.uint64(indptr[i + U1])
        total = np.float64(end - j) if plain else totals[i]
        a, b, c, d = even, 0.0, 0.0, 0.0
        if varies:
            v = np.uint64(order[i]) if order.size else i
            a = base[v if base.size > 1 else U0] + lost * dead[v if dead.size > 1 else U0]
        if weighs:
            while j < end:
                a += values[j] * w[indices[j]]
                j += U1
        else:
            while j + U3 < end:
                a += w[indices[j]]
                b += w[indices[j + U1]]
                c += w[indices[j + U2]]
                d += w[indices[j + U3]]
                j += U4
            if j + U1 < end:
                a += w[indices[j]]
                b += w[indices[j + U1]]
                j += U2
            if j < end:
                c += w[indices[j]]
                j += U1
        y = (a + b) + (c + d)
        if total == 0.0:
            change += abs(y - w[i])
        else:
            change += abs(y - w[i] * total * back)
            y *= scale / total
        if momentum != 1.0:
            y = momentum * (y - out[i]) + out[i]
        out[i] = y
        if total == 0.0:
            left += y
    W.sums[block, 0], W.sums[block, 1] = change, left


@inner
def end_block(A, W, which, block):
    noinline()
    indptr, totals, w, x, order, in_order = A.indptr, A.totals, W.w[which], W.x, A.order, A.order.size == 0
    back, plain = 1.0 / W.now[SCALE], totals.size == 0
    for i in range(np.uint64(A.bounds[block]), np.uint64(A.bounds[block + 1])):
        total = np.float64(indptr[i + U1] - indptr[i]) if plain else totals[i]
        x[i if in_order else np.uint64(order[i])] = w[i] if total == 0.0 else w[i] * total * back


@inner
def work(A, W, board, me):
    kind, which, region = board[crew.JOB_KIND], board[crew.JOB_WHICH], me
    while True:
        begin, stop, region = crew.next_of_regions(board, region)
        if region < 0:
            return
        for block in range(begin, stop):
            if kind == ROUND:
                round_block(A, W, which, block)
            elif kind == BEGIN:
                begin_block(A, W, block)
            else:
                end_block(A, W, which, block)


by_regions = team.regions(work)


@inner
def together(A, W, board, kind, which, threads):
    """A job over all blocks on all threads. Returns the sums over all blocks."""
    by_regions(A, W, board, kind, W.sums.shape[0], 1, 0, 0, which, threads)
    change = left = 0.0
    for block in range(W.sums.shape[0]):
        change += W.sums[block, 0]
        left += W.sums[block, 1]
    return change, left


@inner
def lead(A, W, board, factor, enough, rounds, threads):
    now, which, before = W.now, np.int64(0), 0.0
    _, left = together(A, W, board, BEGIN, which, threads)
    change, made, momentum, largest = 0.0, 0, 1.0, now[BOUND]
    bound = policy.FIRST_BOUND if now[SLOPE] != 0.0 else 0.0
    while True:
        now[LOST], now[MOMENTUM] = factor * left, momentum
        change, left = together(A, W, board, ROUND, which, threads)
        made += 1
        which = 1 - which
        if change < enough or made == rounds or not change < np.inf:
            break
        if made > 1 and largest > 0.0:
            shrunk = change / before
            estimate = policy.WIDEN * (shrunk * shrunk + momentum - 1.0) / (momentum * shrunk)
            bound = min(largest, max(bound, estimate)) if shrunk < 1.0 else 0.0
        momentum = 2.0 / (1.0 + np.sqrt(1.0 - bound * bound))
        before = change
    now[CHANGE], now[ROUNDS] = change, made
    # The sum of changes belongs to the previous ranks: if the step after them was accelerated, they are the result.
    together(A, W, board, END, which if now[MOMENTUM] == 1.0 else 1 - which, threads)


part_of = team.led(lead, work)


@outer
def take_rounds(A, W, board, factor, enough, rounds, threads, team_cells, helpers, me):
    part_of(A, W, board, (factor, enough, rounds, threads), team_cells, helpers, me)


def power_iteration(A, job):
    if job.normed:
        from hopwave.engines.cpu.linalg.lanczos import eigenvector

        return eigenvector(A, job)
    if job.totals is None and abs(job.factor) < SMALLEST:
        return None
    spare, n, sums = A._prepared.made(Ranks, list), A.shape[0], job.totals is not None  # the array w between two runs
    arcs, dead, total = A._prepared.made((_prepared, A._turned, sums), lambda: _prepared(A, job.totals))
    scale = job.factor
    if abs(scale) < SMALLEST:  # arcs carry nothing: as if there were none
        ones, scale = read_only(np.ones(n)), 1.0
        arcs = arcs._replace(indptr=read_only(np.zeros_like(arcs.indptr)), totals=ones)
    w = left_or_new(spare, lambda: new_array(2 * n, np.float64).reshape(2, n))
    now = np.zeros(NOW_CELLS)
    now[SCALE], now[MOMENTUM] = scale, 1.0
    undirected, start = sums and A.rows.indices is A.columns.indices, job.start
    if undirected and len(arcs.indices) >= policy.ARCS_TO_ACCELERATE:
        now[BOUND] = min(job.factor, LARGEST)
        even = isinstance(start, float) and isinstance(job.base, float) and isinstance(job.dead, float)
        if even and job.enough < policy.PRECISE and job.factor < 1:
            start = (1 - job.factor) / (n - job.factor * dead)
            now[SLOPE] = (1 - n * start) / total if total > 0 else 0.0
    given = (read_only(np.atleast_1d(np.asarray(array, np.float64))) for array in (start, job.base, job.dead))
    W = Ranks(w, *given, np.zeros((len(arcs.bounds) - 1, 2)), new_array(n, np.float64), now)
    threads = team.size_for(len(arcs.indices))
    rounds = float(job.factor), float(job.enough), int(min(job.max_iter, 2**63 - 1)), threads
    team.lead(threads - 1, take_rounds, (arcs, W, crew.new_board(), *rounds), arcs.indptr.itemsize)
    spare[:] = [w]  # one suffices, for any number of concurrent threads
    return PowerEnd(W.x, int(now[ROUNDS]), float(now[CHANGE]))


def _prepared(A, totals):
    """Data that does not change between runs: the arcs, the number of dead ends, and Σ total."""
    part, n = A.columns, A.shape[0]
    total = np.ones(n) if totals is None else np.asarray(totals(), np.float64)
    dead, whole = n - int(np.count_nonzero(total)), float(total.sum())
    undirected, order = A.rows.indices is part.indices, np.empty(0, np.uint32)
    degrees = np.diff(A.rows.indptr)
    irregular = int(degrees.max(initial=0)) * n > policy.IRREGULAR * len(part.indices)
    if irregular and is_scattered(part.indptr, part.indices):
        order, part = _by_degree(part, degrees)
        total = total[order]
    values = np.empty(0) if part.values is None else part.values.astype(np.float64, copy=False)
    if totals is not None and part.values is None and undirected:
        total = np.empty(0)
    work = part.indptr + np.arange(n + 1)
    blocks = max(1, min(int(work[-1]) // policy.WORK_PER_BLOCK, policy.MOST_BLOCKS, n))  # independent of threads
    bounds = np.searchsorted(work, np.arange(1, blocks) * (int(work[-1]) // blocks))
    bounds = np.concatenate(([0], bounds, [n])).astype(np.int64)
    arrays = (read_only(array) for array in (values, total, bounds, order))
    return Arcs(*unsigned_rows(part), *arrays), dead, whole


def _by_degree(part, degrees):
    """(the vertex of every row, the rows), with the vertices of highest degree first."""
    n = len(degrees)
    order = np.argsort(65535 - np.minimum(degrees, 65535).astype(np.uint16), kind="stable").astype(np.uint32)
    rank = np.empty(n, np.uint32)
    rank[order] = np.arange(n, dtype=np.uint32)
    indptr = np.zeros(n + 1, part.indptr.dtype)
    np.cumsum(np.diff(part.indptr)[order], out=indptr[1:])
    given = np.empty(0) if part.values is None else part.values.astype(np.float64, copy=False)
    indices, values = new_array(len(part.indices), np.uint32), new_array(len(given), np.float64)
    rows, made = (*unsigned_rows(part), read_only(given)), (unsigned(indptr), indices, values)
    crew.share(renumber, (rows, read_only(order), read_only(rank), made), n, len(indices), None)
    return order, Rows(indptr, indices.view(np.int32), None if part.values is None else values)


@outer
def renumber(rows, order, rank, made, end, size, board):
    """Copy rows into their new order, with the new numbers of their vertices."""
    indptr, indices, values = rows
    offsets, numbers, copies = made
    while True:
        begin = atomic_add(board, crew.NEXT_CHUNK, size)
        if begin >= end:
            return
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            v = np.uint64(order[i])
            j, place = np.uint64(indptr[v]), np.uint64(offsets[i])
            while j < np.uint64(indptr[v + U1]):
                numbers[place] = rank[indices[j]]
                if values.size:
                    copies[place] = values[j]
                j += U1
                place += U1
