"""Label propagation on the GPU (kernels/linalg/labels.cuh): only vertices next to a change look again."""

import cupy
import numpy as np

from hopwave.engines.cuda.buffers import allocate
from hopwave.engines.cuda.launch import WARP, kernels, offset_type, together
from hopwave.engines.ledger import declare
from hopwave.generate import counter

HEADER = "linalg/labels.cuh"
together(
    HEADER, "list_long", "look_short", "count_labels", "best_labels", "look_long", "move", "spoil"
)  # fmt: skip
PIECE = 512  # ROW_PIECE in kernels/common/arcs.cuh
NO_LABEL = -1
STREAM = "labels"  # of coins, as in linalg/algorithms/labels.py


def label_arrays(n, m):
    """The arrays of one run. The table has two slots per arc."""
    return (
        declare(np.int32, fill=NO_LABEL, wins=n)
        | declare(np.uint8, fill=1, stale=n)
        | declare(np.uint8, moved=n)
        | declare(np.uint64, fill=0, best=n)
        | declare(np.uint64, pieces=n + m // PIECE)
        | declare(np.int32, labels=2 * m)
        | declare(np.uint32, frequencies=2 * m)
    )


class Labels:
    """See planning.jobs.LabelRounds."""

    def __init__(self, A, order):
        self.rows, self.n, self.m = A.rows[:2], A.shape[0], A.nnz
        self.launch = kernels(offset_type(A.rows.indptr))
        self.f, self.rank = cupy.arange(self.n, dtype=np.int32), order.astype(np.int32)
        self.label_at = cupy.empty_like(self.f)
        self.label_at[self.rank] = self.f
        for name, array in allocate(label_arrays(self.n, self.m)).items():
            setattr(self, name, array)
        self.restless_count = count = cupy.zeros(1, np.uint32)
        self.launch(HEADER, "list_long", self.n, self.rows[0], np.int32(self.n), self.pieces, count)
        self.count = int(count.get()[0])

    def settle(self, seed, most):
        """At most `most` rounds, until no vertex would move; returns whether none would."""
        for number in range(most):
            if self.restless() == 0:
                return True
            self.move(seed + number)
        return self.restless() == 0

    def restless(self):
        """How many vertices would move."""
        offsets, n, pieces = self.rows[0], np.int32(self.n), (self.pieces, np.uint64(self.count))
        ranked = self.f, self.rank
        table, work = (self.labels, self.frequencies), WARP * self.count
        self.labels.data.memset_async(0xFF, self.labels.nbytes)
        self.frequencies.data.memset_async(0, self.frequencies.nbytes)
        self.launch(
            HEADER, "look_short", WARP * self.n, *self.rows, n, *ranked, self.label_at, self.stale, self.wins
        )  # fmt: skip
        self.launch(HEADER, "count_labels", work, *self.rows, *pieces, self.f, self.stale, *table)
        self.launch(HEADER, "best_labels", work, offsets, *pieces, n, *ranked, self.stale, *table, self.best)
        self.restless_count.data.memset_async(0, self.restless_count.nbytes)
        found = self.best, self.wins, self.restless_count
        self.launch(HEADER, "look_long", self.n, offsets, n, self.label_at, self.stale, *found)
        return int(self.restless_count.get()[0])

    def move(self, seed):
        """Those whose coins show heads take the labels that they would move to."""
        begin = np.uint64(counter.start(seed, STREAM))
        self.launch(HEADER, "move", self.n, np.int32(self.n), begin, self.wins, self.f, self.moved, self.stale)
        arcs = np.int32(self.n), np.uint64(self.m)
        self.launch(HEADER, "spoil", self.m, *self.rows, *arcs, self.moved, self.stale)
