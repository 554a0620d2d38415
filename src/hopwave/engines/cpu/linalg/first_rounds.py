"""The rounds of power.py by NumPy, to the same bits: for a first run, which would wait for the compiler instead.

`numpy.bincount` adds up in the order of its arguments. A row's four partial sums are four of its bins, and what the row
begins with stands before all arcs.
"""

import numpy as np

from hopwave.engines.cpu.linalg.rank_arrays import BEGIN, END, LOST, MOMENTUM, SCALE, SLOPE

ROUNDS = 50  # that a run is expected to take
SECONDS_PER_ROUND, SECONDS_PER_ARC = 1e-4, 1e-8  # about, in every round


def expected_seconds(arcs, rounds):
    """About how long a run takes."""
    work = len(arcs.indices) + len(arcs.indptr)
    return min(rounds, ROUNDS) * (SECONDS_PER_ROUND + work * SECONDS_PER_ARC)


class FirstRounds:
    """`power.together` on one thread. It is made for the ranks and the arcs of one run."""

    def __init__(self, A, W):
        degrees = np.diff(A.indptr).astype(np.int64)
        n, rows = len(degrees), np.repeat(np.arange(len(degrees)), degrees)
        part = np.zeros(len(rows), np.int64)
        if not A.values.size:  # four arcs at a time, then those that are left
            place = np.arange(len(rows)) - A.indptr[:-1].astype(np.int64)[rows]
            part = np.where(place < (degrees & ~3)[rows], place & 3, 0)
        self.bins = np.concatenate([np.arange(n), part * n + rows])
        self.total = A.totals if A.totals.size else degrees.astype(np.float64)
        self.dead_end = self.total == 0.0
        self.base, self.dead, self.start = (
            array[A.order] if A.order.size and array.size > 1 else np.broadcast_to(array, n)
            for array in (W.base, W.dead, W.start)
        )

    def __call__(self, A, W, board, kind, which, threads):
        """The job over all blocks. Returns the sums over all of them."""
        scale, w = W.now[SCALE], W.w[which]
        if kind == BEGIN:
            x = self.start + W.now[SLOPE] * self.total
            w[:] = np.where(self.dead_end, x, x * scale * A.inverse)
            return 0.0, self._sum(A, np.where(self.dead_end, x, 0.0))
        before = np.where(self.dead_end, w, w * self.total * (1.0 / scale))
        if kind == END:
            W.x[A.order if A.order.size else slice(None)] = before
            return 0.0, 0.0
        out, lost, momentum = W.w[1 - which], W.now[LOST], W.now[MOMENTUM]
        carried = w[A.indices] * A.values if A.values.size else w[A.indices]
        sums = np.bincount(self.bins, np.concatenate([self.base, carried]), 4 * len(w)).reshape(4, -1)
        y = (sums[0] + sums[1]) + (sums[2] + sums[3])
        if lost != 0.0:
            y += lost * self.dead
        change = self._sum(A, abs(y - before))
        y = np.where(self.dead_end, y, y * (scale * A.inverse))
        out[:] = y if momentum == 1.0 else momentum * (y - out) + out
        return change, self._sum(A, np.where(self.dead_end, out, 0.0))

    def _sum(self, A, each):
        """Added up block after block, each from its first row on."""
        if not each.any():
            return 0.0
        found = 0.0
        for begin, end in zip(A.bounds[:-1], A.bounds[1:], strict=True):
            found += each[begin:end].cumsum()[-1] if begin < end else 0.0
        return found
