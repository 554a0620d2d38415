"""Eigenvector centrality on the CPU, compiled; one pass over the arcs per round."""

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import NEXT_CHUNK, share
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, atomic_add
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.planning.jobs import PowerEnd
from hopwave.system.numba_cache import njit

BLOCK = 1024  # rows whose squares are added up together: the same rows however many threads there are


@njit(**COMPILED)
def spread(indptr, indices, values, x, y, squares, end, size, board):
    """y = x (A + I); Σ y² of every block of rows. Rows are the arcs into a vertex."""
    while True:
        block = atomic_add(board, NEXT_CHUNK, 1)
        if block * BLOCK >= end:
            break
        sum_of_squares = 0.0
        for i in range(block * BLOCK, min((block + 1) * BLOCK, end)):
            v = np.uint32(i)
            total = 0.0
            for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                total += x[indices[j]] * values[j] if values.size else x[indices[j]]
            total += x[v]
            y[v] = total
            sum_of_squares += total * total
        squares[block] = sum_of_squares


@njit(**COMPILED)
def settle(x, y, divisor):
    """y /= divisor; returns Σ |y − x|."""
    change = 0.0
    for i in range(y.size):
        y[i] /= divisor
        change += abs(y[i] - x[i])
    return change


def power_iteration(A, job):
    """See hopwave.engines.Shortcuts.power_iteration; `job` is normed."""
    part, n = A.columns, A.shape[0]
    values = np.empty(0) if part.values is None else part.values.astype(np.float64, copy=False)
    x, y, squares = np.empty(n), np.empty(n), np.empty(-(-n // BLOCK))
    x[:] = job.start
    rounds, change = 0, 0.0
    while rounds < job.max_iter and change < np.inf:  # stop if x grows without end
        arguments = (*unsigned_rows(part), values, x, y, squares)
        with compiling(spread):
            share(spread, arguments, n, len(part.indices), None)
        rounds, change = rounds + 1, settle(x, y, float(np.sqrt(squares.sum())))
        x, y = y, x
        if change < job.enough:
            break
    return PowerEnd(x, rounds, change)
