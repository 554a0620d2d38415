"""A step of Lanczos' algorithm on the CPU: two products and two orthogonalisations, each a pass on all cores.

Sums over vertices are sums over blocks of BLOCK vertices, the same however many threads there are.
"""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import NEXT_CHUNK, share
from hopwave.engines.cpu.intrinsics import COMPILED, atomic_add
from hopwave.engines.cpu.linalg.eigenvector import BLOCK, spread
from hopwave.engines.cpu.views import new_array, unsigned_rows
from hopwave.system.numba_cache import njit


@njit(**COMPILED)
def take_out(Q, count, y, before, after, squares, end, size, board):
    """y -= before · Q; then after[block] = Q y of every block of vertices, and squares[block] = Σ y², of count rows."""
    while True:
        block = atomic_add(board, NEXT_CHUNK, 1)
        low, high = block * BLOCK, min((block + 1) * BLOCK, end)
        if low >= end:
            break
        for i in range(count if before.size else 0):
            part = before[i]
            for j in range(low, high):
                y[j] -= part * Q[i, j]
        for i in range(count if after.size else 0):
            a, b, c, d = 0.0, 0.0, 0.0, 0.0  # four sums: an addition takes longer than a load
            j = low
            while j + 3 < high:
                a += Q[i, j] * y[j]
                b += Q[i, j + 1] * y[j + 1]
                c += Q[i, j + 2] * y[j + 2]
                d += Q[i, j + 3] * y[j + 3]
                j += 4
            while j < high:
                a += Q[i, j] * y[j]
                j += 1
            after[block, i] = (a + b) + (c + d)
        total = 0.0
        for j in range(low, high):
            total += y[j] * y[j]
        squares[block] = total


def step(A, Q, k):
    """See hopwave.engines.Algebra.lanczos."""
    n, count = Q.shape[1], k + 1
    blocks = -(-n // BLOCK)
    squares, none, zero = np.empty(blocks), np.empty(0), np.zeros(1)
    x = Q[k]
    for part in (A.rows, A.columns):
        y = new_array(n, np.float64)
        with compiling(spread):
            given = *unsigned_rows(part), none, x, 1.0, zero, False, y, squares
            share(spread, given, n, len(part.indices), None)
        x = y
    parts, nothing = [none], np.empty((0, 0))
    with compiling(take_out):
        for last in (False, False, True):  # twice: rounding spoils one pass if y is almost a combination of them
            after = nothing if last else np.empty((blocks, count))
            share(take_out, (Q, count, y, parts[-1], after, squares), n, count * n, None)
            parts.append(after.sum(axis=0))
    return y, parts[1], float(np.sqrt(squares.sum()))
