"""A step of Lanczos' algorithm on the CPU: two products and two orthogonalisations in one compiled call.

Sums over vertices are sums over blocks of BLOCK vertices, the same however many threads there are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hopwave.engines.cpu import crew, policy, team
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import U1, U4
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, noinline, uncounted
from hopwave.engines.cpu.views import new_array, unsigned_rows
from hopwave.system.numba_cache import njit

OUT, BACK, TAKE_OUT, SCALE = range(4)  # jobs: h = A x; y = Aᵀ h; y made orthogonal to Q; y of length 1
BLOCK = 1024
U2, U3 = np.uint64(2), np.uint64(3)


class Arcs(NamedTuple):
    """The arcs out of and into every vertex."""

    indptr: Any
    indices: Any
    in_indptr: Any
    in_indices: Any


class Vectors(NamedTuple):
    """The arrays of one step."""

    Q: Any  # vectors of length 1; the last is x
    h: Any
    y: Any  # the next vector of Q
    before: Any  # Q y, whose part is taken out of y first
    after: Any  # Q y after that, of every block
    squares: Any  # Σ y² of every block
    length: Any  # of y, one number


@njit(**INNER)
def product(indptr, indices, x, y, begin, end):
    """y = the sums of x along rows. Four partial sums: an addition takes longer than a load."""
    noinline()
    j = np.uint64(indptr[begin])
    for i in range(begin, end):
        stop = np.uint64(indptr[i + U1])
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
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


@njit(**INNER)
def take_out(W, block, begin, end):
    """y -= before · Q; then after[block] = Q y and squares[block] = Σ y², of a block's vertices."""
    noinline()
    Q, y, before, after = W.Q, W.y, W.before, W.after[block]
    for i in range(np.uint64(Q.shape[0])):
        part = before[i]
        if part != 0.0:
            for j in range(begin, end):
                y[j] -= part * Q[i, j]
    for i in range(np.uint64(Q.shape[0])):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        j = begin
        while j + U3 < end:
            a += Q[i, j] * y[j]
            b += Q[i, j + U1] * y[j + U1]
            c += Q[i, j + U2] * y[j + U2]
            d += Q[i, j + U3] * y[j + U3]
            j += U4
        while j < end:
            a += Q[i, j] * y[j]
            j += U1
        after[i] = (a + b) + (c + d)
    total = 0.0
    for j in range(begin, end):
        total += y[j] * y[j]
    W.squares[block] = total


@njit(**INNER)
def work(A, W, board, me):
    """One thread's part in a job: the blocks of its own region first."""
    kind, region, n = board[crew.JOB_KIND], me, np.int64(W.y.size)
    x = W.Q[W.Q.shape[0] - 1]
    while True:
        first, stop, region = crew.next_of_regions(board, region)
        if region < 0:
            return
        for block in range(first, stop):
            begin, end = np.uint64(block * BLOCK), np.uint64(min((block + 1) * BLOCK, n))
            if kind == OUT:
                product(A.indptr, A.indices, x, W.h, begin, end)
            elif kind == BACK:
                product(A.in_indptr, A.in_indices, W.h, W.y, begin, end)
            elif kind == TAKE_OUT:
                take_out(W, np.uint64(block), begin, end)
            else:
                for j in range(begin, end):
                    W.y[j] /= W.length[0]


by_regions, assist = team.regions(work), team.assistance(work)


@njit(**INNER)
def together(A, W, board, kind, threads):
    by_regions(A, W, board, kind, np.int64(W.squares.size), 1, 0, 0, 0, threads)


@njit(**INNER)
def lead(A, W, board, found, threads):
    """All jobs of a step; found[0] and found[1]: the products of Q and y, before and after the first pass."""
    noinline()
    together(A, W, board, np.int64(OUT), threads)
    together(A, W, board, np.int64(BACK), threads)
    W.before[:] = 0.0
    for pass_ in range(3):  # measure; take out and measure; take out: rounding spoils one pass if hardly any y is left
        together(A, W, board, np.int64(TAKE_OUT), threads)
        if pass_ < 2:
            for i in range(W.before.size):
                total = 0.0
                for block in range(W.squares.size):
                    total += W.after[block, i]
                W.before[i] = found[pass_, i] = total
    W.length[0] = np.sqrt(W.squares.sum())
    if W.length[0] > 0.0:
        together(A, W, board, np.int64(SCALE), threads)


@njit(**COMPILED)
def take_step(A, W, board, found, threads, team_cells, helpers, me):
    """One thread's part: number 0 leads, others help."""
    if me != 0:
        assist(team_cells, A, W, board)
        return
    team.lend(team_cells, (A, W, board))
    team.open_offer(team_cells, helpers)
    lead(uncounted(A), uncounted(W), board, found, threads)
    team.close_offer(team_cells, helpers, board)


def steps(A, Q, k):
    """See hopwave.engines.Shortcuts.lanczos: one step at a time."""
    n, m, blocks = Q.shape[1], len(A.rows.indices), -(-Q.shape[1] // BLOCK)
    threads = min(crew.crew_size(m + (k + 1) * n, None), policy.MAX_TEAM + 1)
    arcs = Arcs(*unsigned_rows(A.rows), *unsigned_rows(A.columns))
    y, length = Q[k + 1], np.empty(1)
    W = Vectors(
        Q[: k + 1], new_array(n, np.float64), y, np.empty(k + 1), np.empty((blocks, k + 1)), np.empty(blocks), length
    )
    found = np.zeros((2, k + 1))
    with compiling(take_step):
        part = arcs, W, crew.new_board(), found, threads
        team.lead(threads - 1, take_step, part, arcs.indptr.itemsize)
    return [(found[0], float(length[0]))]
