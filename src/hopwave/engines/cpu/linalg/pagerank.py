"""PageRank on the CPU: a round in one pass over the arcs, rows dealt to the crew."""

from __future__ import annotations

import numpy as np
from numba import njit

from hopwave.engines.cpu.crew import CHUNK, share, unsigned_rows
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, U0, U1, atomic_add

SMALLEST = 1e-200  # α under which ranks do not move
BLOCK = 1024  # rows whose changes are added up together: the same ones however many threads there are


@njit(**INNER)
def gather(indptr, indices, values, w, low, high, new):
    """new = rows [low, high) of Aᵀ times w."""
    j = np.uint64(indptr[low])
    for i in range(U0, np.uint64(high - low)):
        end = np.uint64(indptr[np.uint64(low) + i + U1])
        total = 0.0
        if values.size:
            while j < end:
                total += values[j] * w[indices[j]]
                j += U1
        else:
            while j < end:
                total += w[indices[j]]
                j += U1
        new[i] = total


@njit(**INNER)
def add(new, factor, p):
    """new += factor · p, which is one number a vertex, or one for all."""
    if p.size == 1:
        for i in range(new.size):
            new[i] += factor * p[0]
    else:
        for i in range(new.size):
            new[i] += factor * p[i]


@njit(**COMPILED)
def spread(indptr, indices, values, p, q, anew, lost, follow, back, w, next_w, sums, end, size, board):
    """With x = w · back: y = Aᵀ w + anew · p + lost · q, and next_w = y · follow; Σ |y − x| of every block.

    values      of the arcs; none where all are 1
    """
    blocks = (end + BLOCK - 1) // BLOCK
    room = np.empty(BLOCK)
    while True:
        block = atomic_add(board, CHUNK, 1)
        if block >= blocks:
            break
        low, high = block * BLOCK, min((block + 1) * BLOCK, end)
        y, old, out = room[: high - low], w[low:high], next_w[low:high]
        factor, inverse = follow[low:high], back[low:high]
        gather(indptr, indices, values, w, low, high, y)
        add(y, anew, p[low:high] if p.size > 1 else p)
        if lost != 0:
            add(y, lost, q[low:high] if q.size > 1 else q)
        change = 0.0
        for i in range(y.size):
            change += abs(y[i] - old[i] * inverse[i])
            out[i] = y[i] * factor[i]
        sums[block] = change


class Ranks:
    """Rounds of PageRank on one matrix, from the ranks x on; p and q are one number a vertex, or one for all.

    `total` is the sum of every vertex's weights, 0 at dead ends. Ranks are kept as w = x · follow, follow = α/total:
    what an arc carries, but for its own weight. At dead ends, whose w no arc carries, it is 1.
    """

    def __init__(self, A, total, alpha, p, q, x):
        part = A.columns
        values = np.empty(0) if part.values is None else part.values.astype(np.float64, copy=False)
        self.arcs = (*unsigned_rows(part), values)
        self.dead = np.flatnonzero(total == 0)
        if alpha < SMALLEST:  # no arc carries anything: as if there were none, so that w can be divided
            self.arcs = (np.zeros_like(self.arcs[0]), *self.arcs[1:])
            self.follow = np.ones(len(x))
        else:
            self.follow = np.divide(alpha, total, out=np.ones(len(x)), where=total > 0)
        self.back = 1 / self.follow
        self.alpha, self.p, self.q = alpha, one_for_all(p), one_for_all(q)
        self.w, self.next_w = x * self.follow, np.empty(len(x))
        self.sums = np.zeros(-(-len(x) // BLOCK))

    def round(self):
        """One round more; returns the sum of all changes."""
        lost = self.alpha * float(self.w[self.dead].sum()) if len(self.dead) else 0.0
        ranks = (self.p, self.q, 1 - self.alpha, lost, self.follow, self.back, self.w, self.next_w, self.sums)
        share(spread, (*self.arcs, *ranks), len(self.w), len(self.arcs[1]), None)
        self.w, self.next_w = self.next_w, self.w
        return float(self.sums.sum())

    @property
    def x(self):
        """The ranks as they are now."""
        return self.w * self.back


def one_for_all(weights):
    """A single number where all are the same: less to read in every round."""
    return weights[:1] if (weights == weights[0]).all() else weights
