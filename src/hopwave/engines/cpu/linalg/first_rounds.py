"""The rounds of power.py by NumPy, to the same bits: for a first run, which would wait for the compiler instead.

`numpy.add.at` adds up in the order of its arguments. A row's four partial sums are four of its bins, and what the row
begins with stands there before all arcs. Some rows are taken at a time, and some arcs, so that such a run takes hardly
more memory than others: hw.estimate_memory does not know which it will be.
"""

import numpy as np

from hopwave.engines.cpu.linalg.rank_arrays import BEGIN, END, LOST, MOMENTUM, SCALE, SLOPE

ROUNDS = 50  # that a run is expected to take
SECONDS_PER_ROUND, SECONDS_PER_ARC = 1e-4, 1e-8  # about, in every round
AT_ONCE = 1 << 14  # rows and arcs


def expected_seconds(arcs, rounds):
    """About how long a run takes."""
    work = len(arcs.indices) + len(arcs.indptr)
    return min(rounds, ROUNDS) * (SECONDS_PER_ROUND + work * SECONDS_PER_ARC)


def pieces(indptr, begin, end):
    """The arcs of some rows: (from, to, the row of each, counted from the first), at most AT_ONCE at a time.

    >>> [(low, high, rows.tolist()) for low, high, rows in pieces(np.array([0, 2, 2, 3], np.uint32), 1, 3)]
    [(2, 3, [1])]
    """
    offsets = indptr[begin : end + 1].astype(np.int64)
    for low in range(int(offsets[0]), int(offsets[-1]), AT_ONCE):
        high = min(low + AT_ONCE, int(offsets[-1]))
        yield low, high, np.repeat(np.arange(end - begin), np.diff(offsets.clip(low, high)))


class FirstRounds:
    """`power.together` on one thread. It is made for the arcs of one run."""

    def __init__(self, A):
        self.blocks = max(1, AT_ONCE * len(A.bounds) // (len(A.indices) + len(A.indptr)))
        self.part = np.empty(0 if A.values.size else len(A.indices), np.uint8)  # which of its row's four sums
        for begin in range(0, len(A.indptr) - 1 if self.part.size else 0, AT_ONCE):
            end = min(begin + AT_ONCE, len(A.indptr) - 1)
            first, degrees = A.indptr[begin:end].astype(np.int64), np.diff(A.indptr[begin : end + 1]).astype(np.int64)
            for low, high, rows in pieces(A.indptr, begin, end):  # four at once, two, one
                place = np.arange(low, high) - first[rows]
                alone = np.where(degrees & 3 == 1, degrees - 1, -1)
                self.part[low:high] = np.where(place == alone[rows], 2, place & 3)

    def __call__(self, A, W, board, kind, which, threads):
        """The job over all blocks. Returns the sums over all of them: block after block, each from its first row on."""
        change = left = 0.0
        for first in range(0, len(A.bounds) - 1, self.blocks):
            bounds = A.bounds[first : first + self.blocks + 1]
            changes, lost = self._rows(A, W, kind, which, slice(int(bounds[0]), int(bounds[-1])))
            for begin, end in zip(bounds[:-1] - bounds[0], bounds[1:] - bounds[0], strict=True):
                if begin < end:
                    change += changes[begin:end].cumsum()[-1]
                    left += lost[begin:end].cumsum()[-1]
        return change, left

    def _rows(self, A, W, kind, which, rows):
        """The job over some rows. Returns the change of each, and what is lost there."""
        w, scale, lost = W.w[which, rows], W.now[SCALE], W.now[LOST]
        v = A.order[rows] if A.order.size else rows
        base, dead, start = (array[v] if array.size > 1 else array for array in (W.base, W.dead, W.start))
        total = A.totals[rows] if A.totals.size else np.diff(A.indptr[rows.start : rows.stop + 1]).astype(np.float64)
        ends, none = total == 0.0, np.zeros(len(w))
        share = scale / np.where(ends, 1.0, total)
        if kind == BEGIN:
            x = start + W.now[SLOPE] * total
            w[:] = np.where(ends, x, x * share)
            return none, np.where(ends, x, 0.0)
        before = np.where(ends, w, w * total * (1.0 / scale))
        if kind == END:
            W.x[v] = before
            return none, none
        y = self._sums(A, W.w[which], rows, base + lost * dead)
        changes, out, momentum = abs(y - before), W.w[1 - which, rows], W.now[MOMENTUM]
        y = np.where(ends, y, y * share)
        out[:] = y if momentum == 1.0 else momentum * (y - out) + out
        return changes, np.where(ends, out, 0.0)

    def _sums(self, A, w, rows, base):
        """What arcs carry to some rows, beside what these begin with."""
        count = rows.stop - rows.start
        sums = np.zeros((4, count))
        sums[0] = base
        for low, high, bins in pieces(A.indptr, rows.start, rows.stop):
            carried = w[A.indices[low:high]]
            if A.values.size:
                carried *= A.values[low:high]
            else:
                bins += self.part[low:high] * np.int64(count)
            np.add.at(sums.reshape(-1), bins, carried)
        return (sums[0] + sums[1]) + (sums[2] + sums[3])
