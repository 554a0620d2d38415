"""Tables of distances to some targets, and sums of values within limits, on the GPU (kernels/many/lengths.cuh).

Nothing but the columns of the targets, or the sums, leaves the GPU. Distances have the CPU engine's bits. While one
piece of the sources is copied to the host, the next is searched.
"""

import cupy
import numpy as np

from hopwave.engines.cuda import policy
from hopwave.engines.cuda.along_weights import Searches
from hopwave.engines.cuda.buffers import Pieces, free_memory
from hopwave.engines.cuda.host_copies import pinned
from hopwave.engines.cuda.many_weighted import WeightedRun
from hopwave.engines.cuda.records import filled, record
from hopwave.engines.cuda.search_arrays import length_arrays
from hopwave.engines.host_memory import check_memory
from hopwave.engines.ledger import total
from hopwave.planning.many_sources import Swept
from hopwave.system.threads import each

HEADER = "many/lengths.cuh"
PARTS = 8  # float64 numbers in a struct SomeSums
WORTH_STAGING = 1 << 26  # bytes of a piece from which it goes through pinned memory
COPIERS = 4  # threads that copy from there: the system gives a new array its pages when they are first written to

CHOSEN = record(HEADER, "Chosen", "ptr sources targets ticket rows", "i64 count width")
VALUES = record(
    HEADER, "Values", "ptr sources ticket columns limits sums parts", "f64 scale least",
    "i64 count width limit_count decay",
)  # fmt: skip


def sweep(loaded, job, poll):
    """Run all searches of the job; call poll(sources done) from time to time. See hopwave.algorithms.many_sources."""
    run = Run(loaded, job)
    pieces, under_way = Pieces(len(job.sources), run.at_once), None
    for begin, end in pieces:
        with pieces.halving():
            following = begin, end, *run.launch(begin, end, min(run.searches, pieces.size))
        if pieces.done:
            if under_way is not None:
                run.fetch(*under_way)
                poll(begin)
            under_way = following
    if under_way is not None:
        run.fetch(*under_way)
        poll(len(job.sources))
    return run.swept()


class Run(WeightedRun):
    """A job and its results so far: `at_once` sources per launch, of which `searches` run at the same time."""

    header = HEADER

    def __init__(self, loaded, job):
        super().__init__(loaded, job)
        self.copies = cupy.cuda.Stream(non_blocking=True)
        self.staging = None  # pinned memory for a piece
        k = len(job.sources)
        if job.valued is None:
            self.kernel, self.targets = "search_targets", cupy.asarray(job.targets.astype(np.int32))
            self.width = (len(job.targets),)
            follows = loaded.on_device.follows
            check_memory(0 if follows else 8 * k * self.width[0], f"a table of {k:,} × {self.width[0]:,} distances")
        else:
            self.kernel, follows = "search_values", False
            self.columns, self.limits = cupy.asarray(job.valued.columns), cupy.asarray(job.valued.limits)
            self.width = (len(self.columns), len(self.limits))
        self.found = (cupy if follows else np).empty((k, *self.width), np.float64)
        self.shape = self.shape_of_blocks()
        self.searches, self.at_once = self._fit(free_memory())

    def _fit(self, budget):
        """How many searches fit at the same time, and how many sources into one launch; two pieces are under way."""
        k, row = max(1, len(self.job.sources)), 8 * max(1, int(np.prod(self.width)))
        state = total(length_arrays(self.loaded.n, 1, True))
        self.require(state + row, budget // 2)
        return policy.table_fit(k, self.shape.blocks, state, row, budget)

    def launch(self, begin, end, searches):
        """Begin to search from sources begin to end. Returns where the results will be, and when they are there."""
        count, team, decay = end - begin, self.shape.team, self.job.valued and self.job.valued.decay
        searches = min(searches, count)
        sources, ticket = cupy.asarray(self.job.sources[begin:end].astype(np.int32)), cupy.zeros(1, np.uint32)
        piece = cupy.empty((count, *self.width), np.float64)
        state = Searches(self.loaded, searches, self.shape, self.job.limit)
        shared = {"sources": sources, "ticket": ticket, "count": count, "width": self.width[0]}
        if decay is None:
            wanted = filled(CHOSEN, targets=self.targets, rows=piece, **shared)
        else:
            parts = cupy.empty((searches * team, PARTS), np.float64)
            wanted = filled(
                VALUES, columns=self.columns, limits=self.limits, sums=piece, parts=parts, scale=decay.scale,
                least=decay.least, limit_count=self.width[1], decay=decay.kind, **shared,
            )  # fmt: skip
        self.launch_searches(searches, state, wanted)
        return piece, cupy.cuda.get_current_stream().record()

    def fetch(self, begin, end, piece, there):
        """Keep the results of a piece, once they are there."""
        if isinstance(self.found, cupy.ndarray):
            self.found[begin:end] = piece
            return
        self.copies.wait_event(there)
        rows = self.found[begin:end]
        if self.staging is None and piece.nbytes >= WORTH_STAGING:
            self.staging = pinned.array(piece.shape, piece.dtype)
        if self.staging is None or len(self.staging) < len(piece):
            piece.get(stream=self.copies, out=rows)
            return
        staged = self.staging[: len(piece)]
        piece.get(stream=self.copies, out=staged)
        share = -(-len(piece) // COPIERS)
        each(COPIERS, range(0, len(piece), share), lambda i: np.copyto(rows[i : i + share], staged[i : i + share]))

    def swept(self):
        """The result: one row per source in the job's order."""
        kept = "rows" if self.job.valued is None else "values"
        return Swept.of(len(self.job.sources), weighted=True, **{kept: self.found})
