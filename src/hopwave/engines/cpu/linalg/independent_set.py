"""Rounds of Luby's algorithm on the CPU: a row is read until the first neighbour that decides."""

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import NEXT_CHUNK, share
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, atomic_add
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.generate import counter
from hopwave.system.numba_cache import njit

STREAM = "independent set"  # as in linalg/algorithms/independent_set.py
OPEN, WON, OUT = np.uint8(0), np.uint8(1), np.uint8(2)


@njit(**COMPILED)
def choose(indptr, indices, candidates, rank, state, end, size, board):
    """A candidate wins if no neighbour that is open has a higher rank; others have rank -1."""
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(begin, min(begin + size, end)):
            v = np.uint32(candidates[i])
            wins = True
            for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                if rank[indices[j]] > rank[v]:  # never of a loop
                    wins = False
                    break
            if wins:
                state[v] = WON


@njit(**COMPILED)
def leave(indptr, indices, candidates, rank, state, end, size, board):
    """Winners and their neighbours leave: their rank becomes -1."""
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(begin, min(begin + size, end)):
            v = np.uint32(candidates[i])
            if state[v] == WON:
                rank[v] = -1
                continue
            for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                if state[indices[j]] == WON:
                    state[v] = OUT
                    rank[v] = -1
                    break


def independent_set(A, seed):
    """Which vertices are in the set, bool. Every round draws priorities for the candidates that are left."""
    part, n, arcs = A.rows, A.shape[0], A.nnz
    candidates, rank, state = np.arange(n, dtype=np.int32), np.full(n, -1, np.int64), np.zeros(n, np.uint8)
    while len(candidates):
        # There are no ties: the highest of all wins, so that every round has a winner.
        rank[candidates] = counter.priorities(candidates, seed, STREAM)
        seed += 1
        arguments, work = (*unsigned_rows(part), candidates, rank, state), arcs * len(candidates) // n
        for kernel in (choose, leave):
            with compiling(kernel):
                share(kernel, arguments, len(candidates), work, None)
        candidates = candidates[state[candidates] == OPEN]
    return state == WON
