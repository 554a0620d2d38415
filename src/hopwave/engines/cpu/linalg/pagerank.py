"""PageRank on the CPU: one round is one pass over the arcs, its rows shared among threads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hopwave.engines.cpu.crew import NEXT_CHUNK, share
from hopwave.engines.cpu.integers import U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.system.numba_cache import njit

SMALLEST = 1e-200  # α below which no arc carries any rank
BLOCK = 1024  # rows whose changes are added up together: the same rows however many threads there are


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
    """new += factor · p, which is one number per vertex, or one for all."""
    if p.size == 1:
        for i in range(new.size):
            new[i] += factor * p[0]
    else:
        for i in range(new.size):
            new[i] += factor * p[i]


@njit(**COMPILED)
def spread(arcs, factors, p, q, anew, lost, w, next_w, sums, end, size, board):
    """With x = w · back: y = Aᵀ w + anew · p + lost · q, and next_w = y · follow; Σ |y − x| of every block.

    arcs      (offsets, indices, values); no values where all are 1
    factors   (follow, back)
    """
    indptr, indices, values = arcs
    follow, back = factors
    blocks = (end + BLOCK - 1) // BLOCK
    scratch = np.empty(BLOCK)
    while True:
        block = atomic_add(board, NEXT_CHUNK, 1)
        if block >= blocks:
            break
        low, high = block * BLOCK, min((block + 1) * BLOCK, end)
        y, old, out = scratch[: high - low], w[low:high], next_w[low:high]
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
    """Rounds of PageRank on one matrix, starting from the ranks x; p and q are one number per vertex, or one for all.

    `total` is the sum of every vertex's weights, 0 at dead ends. Ranks are kept as w = x · follow, where follow =
    α/total: what an arc carries, without its own weight. At dead ends, whose w no arc carries, follow is 1.
    """

    def __init__(self, A, total, alpha, p, q, x):
        self.arcs, self.dead = prepared(A, total)
        if alpha < SMALLEST:  # no arc carries anything: as if there were none, since x is w divided by α/total
            self.arcs = (np.zeros_like(self.arcs[0]), *self.arcs[1:])
            self.follow = np.ones(len(x))
        else:
            self.follow = np.divide(alpha, total, out=np.ones(len(x)), where=total > 0)
        self.back = 1 / self.follow
        self.alpha, self.p, self.q = alpha, one_for_all(p), one_for_all(q)
        self.w, self.next_w = x * self.follow, np.empty(len(x))
        self.sums = np.zeros(-(-len(x) // BLOCK))

    def round(self):
        """One more round; returns the sum of all changes."""
        lost = self.alpha * float(self.w[self.dead].sum()) if len(self.dead) else 0.0
        factors, new = (self.follow, self.back), (self.p, self.q, 1 - self.alpha, lost)
        arguments = (self.arcs, factors, *new, self.w, self.next_w, self.sums)
        share(spread, arguments, len(self.w), len(self.arcs[1]), None)
        self.w, self.next_w = self.next_w, self.w
        return float(self.sums.sum())

    @property
    def x(self):
        """The ranks as they are now."""
        return self.w * self.back


@dataclass
class PreparedRanks:
    """Kept with a matrix: the arcs into each vertex with float64 values, and the dead ends; under True those of the
    transpose."""

    kept: dict[bool, Any] = field(default_factory=dict)


def prepared(A, total):
    """What does not change from one run to the next."""
    kept = A.prepared.record(PreparedRanks).kept
    if A.turned not in kept:
        part = A.columns
        values = np.empty(0) if part.values is None else part.values.astype(np.float64, copy=False)
        kept[A.turned] = (*unsigned_rows(part), values), np.flatnonzero(total == 0)
    return kept[A.turned]


def one_for_all(weights):
    """A single number where all are the same: there is less to read in every round."""
    return weights[:1] if (weights == weights[0]).all() else weights
