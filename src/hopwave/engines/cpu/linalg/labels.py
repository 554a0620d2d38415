"""Label propagation on the CPU: the label that most neighbours of a vertex have, counted in an array of each thread."""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import FOUND, NEXT_CHUNK, NEXT_WORKER, crew_size, share
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add, ordered_add
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.generate import counter
from hopwave.system.numba_cache import njit


@njit(**INNER)
def favourite(row, v, f, order, counts, seen):
    """The most frequent label among the neighbours: v's own if it is one, else the last in the order; -1 if no label.

    counts is 0 everywhere before and after; seen has room for the row.
    """
    size = 0
    most = np.int32(0)
    for u in row:
        if u != v:
            label = f[u]
            if counts[label] == 0:
                seen[size] = label
                size += 1
            counts[label] += np.int32(1)
            most = max(most, counts[label])
    best, place = np.int32(-1), np.int64(-1)
    own = f[v]
    if size and counts[own] == most:
        best = own
    for i in range(size):
        label = seen[i]
        if counts[label] == most and best != own and np.int64(order[label]) > place:
            best, place = label, np.int64(order[label])
        counts[label] = 0
    return best


@njit(**COMPILED)
def find_favourites(indptr, indices, f, order, stale, best, scratch, end, size, board):
    """best[v], see `favourite`, for every stale v: one whose neighbours have other labels than when it was found."""
    counts, seen = scratch[atomic_add(board, NEXT_WORKER, 1)]
    moves = 0
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for v in range(begin, min(begin + size, end)):
            v = np.uint32(v)
            if stale[v]:
                stale[v] = 0
                row = indices[np.uint64(indptr[v]) : np.uint64(indptr[v + ONE])]
                best[v] = favourite(row, v, f, order, counts, seen)
            moves += best[v] >= 0 and best[v] != f[v]
    ordered_add(board, FOUND, moves)


@njit(**COMPILED)
def move(indptr, indices, places, f, best, stale, end, size, board):
    """These vertices take their favourite labels; their neighbours, and they themselves, have to look again."""
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(begin, min(begin + size, end)):
            v = np.uint32(places[i])
            f[v] = best[v]
            for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                stale[indices[j]] = 1


class Labels:
    """Rounds of label propagation; see engines.Shortcuts."""

    def __init__(self, part, order):
        n = len(part.indptr) - 1
        self.f = np.arange(n, dtype=np.int32)
        self._rows, self._order, self._arcs = unsigned_rows(part), order.astype(np.int32), len(part.indices)
        self._stale, self._best, self._places = np.ones(n, np.uint8), self.f.copy(), None
        threads = crew_size(self._arcs, None)
        self._scratch = np.zeros((threads, 2, n), np.int32)

    def restless(self):
        """How many vertices would move."""
        arguments = (*self._rows, self.f, self._order, self._stale, self._best, self._scratch)
        with compiling(find_favourites):
            board = share(find_favourites, arguments, len(self.f), self._arcs, None)
        if board[FOUND] == 0:
            return 0
        self._places = np.flatnonzero((self._best != self.f) & (self._best >= 0))
        return len(self._places)

    def move(self, seed):
        """Let those whose coins show heads take the labels that they would move to."""
        places = self._places[counter.coins(self._places, seed, "labels")]
        arguments = (*self._rows, places, self.f, self._best, self._stale)
        share(move, arguments, len(places), int(self._arcs * len(places) / max(1, len(self.f))), None)
