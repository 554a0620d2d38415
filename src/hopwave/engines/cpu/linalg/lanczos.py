"""Steps of Lanczos' algorithm (HITS) and rounds of eigenvector centrality on the CPU, each in one compiled call.

Sums over vertices are sums over blocks of BLOCK vertices, so results do not depend on threads.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import crew, team
from hopwave.engines.cpu.integers import U0, U1, U2, U3, U4
from hopwave.engines.cpu.intrinsics import inner, noinline, outer
from hopwave.engines.cpu.views import new_array, read_only, unsigned_rows
from hopwave.planning.jobs import PowerEnd

OUT, BACK, TAKE_OUT, SCALE = range(4)  # jobs: h = A x; y = Aᵀ h; orthogonalise y against Q; normalise y
BLOCK = 1024

# The out-arcs and in-arcs of every vertex; values: of the in-arcs, empty if all are 1.
Arcs = namedtuple("Arcs", "indptr indices in_indptr in_indices values")
# Q: unit vectors, the last is x; empty for eigenvector centrality, where h is x; before: Q y, which is first projected
# out of y; after: Q y afterwards, per block; sums, per block: Σ y², then Σ |y − h|; length: of y; Σ |y − h|.
Vectors = namedtuple("Vectors", "Q h y before after sums length")


@inner
def product(indptr, indices, values, x, y, begin, end):
    """y = the sums of x along rows. Four partial sums: an addition takes longer than a load."""
    noinline()
    j = np.uint64(indptr[begin])
    for i in range(begin, end):
        stop = np.uint64(indptr[i + U1])
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        while values.size and j < stop:
            a += values[j] * x[indices[j]]
            j += U1
        while j + U3 < stop:
            a += x[indices[j]]
            b += x[indices[j + U1]]
            c += x[indices[j + U2]]
            d += x[indices[j + U3]]
            j += U4
        while j < stop:
            a += x[indices[j]]
            j += U1
        y[i] = (a + b) + (c + d)


@inner
def dot(x, y):
    noinline()
    a, b, c, d, j, end = 0.0, 0.0, 0.0, 0.0, U0, np.uint64(y.size)
    while j + U3 < end:
        a += x[j] * y[j]
        b += x[j + U1] * y[j + U1]
        c += x[j + U2] * y[j + U2]
        d += x[j + U3] * y[j + U3]
        j += U4
    while j < end:
        a += x[j] * y[j]
        j += U1
    return (a + b) + (c + d)


@inner
def take_out(W, block, begin, end):
    """y -= before · Q; then after[block] = Q y and sums[block] = Σ y², over a block's vertices."""
    noinline()
    y = W.y[begin:end]
    for i in range(W.Q.shape[0]):
        if W.before[i] != 0.0:
            y -= W.before[i] * W.Q[i, begin:end]
    for i in range(W.Q.shape[0]):
        W.after[block, i] = dot(W.Q[i, begin:end], y)
    W.sums[block] = dot(y, y)


@inner
def work(A, W, board, me):
    kind, region, n, vectors = board[crew.JOB_KIND], me, np.int64(W.y.size), W.Q.shape[0]
    while True:
        first, stop, region = crew.next_of_regions(board, region)
        if region < 0:
            return
        for block in range(first, stop):
            begin, end = np.uint64(block * BLOCK), np.uint64(min((block + 1) * BLOCK, n))
            if kind == OUT:
                product(A.indptr, A.indices, A.values, W.Q[vectors - 1], W.h, begin, end)
            elif kind == BACK:
                product(A.in_indptr, A.in_indices, A.values, W.h, W.y, begin, end)
                if vectors == 0:
                    for v in range(begin, end):
                        W.y[v] += W.h[v]
                    W.sums[block] = dot(W.y[begin:end], W.y[begin:end])
            elif kind == TAKE_OUT:
                take_out(W, block, begin, end)
            else:
                change, length = 0.0, W.length[0]
                for v in range(begin, end):
                    W.y[v] /= length
                    change += abs(W.y[v] - W.h[v])
                W.sums[block] = change


by_regions = team.regions(work)


@inner
def together(A, W, board, kind, threads):
    by_regions(A, W, board, kind, np.int64(W.sums.size), 1, 0, 0, 0, threads)


@inner
def lead(A, W, board, found, threads):
    """All jobs of a step; found: the initial products of Q and y."""
    noinline()
    if W.Q.shape[0]:
        together(A, W, board, np.int64(OUT), threads)
    together(A, W, board, np.int64(BACK), threads)
    W.before[:] = 0.0
    for pass_ in range(3 if W.Q.shape[0] else 0):  # project out twice: rounding spoils one pass if little of y remains
        together(A, W, board, np.int64(TAKE_OUT), threads)
        for i in range(W.before.size):
            W.before[i] = W.after[:, i].sum()
        if pass_ == 0:
            found[:] = W.before
    W.length[0] = np.sqrt(W.sums.sum())
    if W.length[0] > 0.0:
        together(A, W, board, np.int64(SCALE), threads)
    W.length[1] = W.sums.sum()


part_of = team.led(lead, work)


@outer
def take_step(A, W, board, found, threads, cells, helpers, me):
    part_of(A, W, board, (found, threads), cells, helpers, me)


def step(arcs, W, threads):
    """Returns the products of Q and y, the length of y, and Σ |y − h|."""
    found = np.zeros(len(W.Q))
    team.lead(threads - 1, take_step, (arcs, W, crew.new_board(), found, threads), arcs.in_indptr.itemsize)
    return found, float(W.length[0]), float(W.length[1])


def begun(arcs, Q, h, y):
    """The vectors of a step, and its number of threads."""
    (k, n), blocks = Q.shape, -(-len(y) // BLOCK)
    W = Vectors(Q, h, y, np.empty(k), np.empty((blocks, k)), np.empty(blocks), np.empty(2))
    return W, team.size_for(len(arcs.in_indices) + k * n)


def lanczos(A, Q, k):
    arcs = Arcs(*unsigned_rows(A.rows), *unsigned_rows(A.columns), read_only(np.empty(0)))
    return [step(arcs, *begun(arcs, Q[: k + 1], new_array(Q.shape[1], np.float64), Q[k + 1]))[:2]]


def eigenvector(A, job):
    part, n = A.columns, A.shape[0]
    values = read_only(np.empty(0) if part.values is None else part.values.astype(np.float64, copy=False))
    arcs, ends = Arcs(*unsigned_rows(part) * 2, values), (np.empty(n), np.empty(n))
    ends[0][:] = job.start
    turns = [begun(arcs, np.empty((0, n)), *pair) for pair in (ends, ends[::-1])]
    rounds, change = 0, 0.0
    while rounds < job.max_iter and change < np.inf:  # stop if x grows without bound
        change = step(arcs, *turns[rounds % 2])[2]
        rounds += 1
        if change < job.enough:
            break
    return PowerEnd(ends[rounds % 2], rounds, change)
