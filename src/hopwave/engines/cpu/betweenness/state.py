"""Arrays of betweenness from one source, and the blocks of sources that workers process.

σ̂   path counts over 2^shift, one shift per level         t   weight of a path to a vertex, usually 1
δ   dependencies: δ(v) = Σ σ(v)/σ(w) · (t(w) + δ(w)) over the successors w of v
m   copies, usually 1: a vertex that represents m vertices passes on m times the paths that reach one of them

sigma[v]   0 before v is visited, -σ̂(v) while its level is being found, σ̂(v) afterwards; backward: v's share
           negated, -(t(v) + δ(v)) / σ̂(v), which each predecessor u multiplies by σ̂(u)
successors of pushed levels, in queue order; pulled levels use their rows in the backward pass
scores     are added in the order of blocks, independent of the number of threads
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import intrinsics as asm
from hopwave.engines.cpu.integers import U0
from hopwave.engines.cpu.intrinsics import inner, noinline
from hopwave.engines.cpu.workers import CONTROL_CELLS, FAILED, FINISHED, NEXT_BATCH, STOP
from hopwave.engines.ledger import declare
from hopwave.planning.jobs import component_ranges

# One worker's arrays. levels: one row per level, with the columns below; starts: start of a vertex's successors;
# gathered: shares from the successors of a pulled level; in the forward pass, the sums of 64 vertices.
WorkerState = namedtuple("WorkerState", "sigma gathered queue starts successors levels visited")
# scores: of unfinished blocks (row_of), Σ δ and, if wanted, Σ δ²; total: all committed blocks; certificate: two numbers
# per source (algorithms/brandes.certify). targets, origins (per source) and copies are empty if all entries are 1.
# ranges: the vertices that each block can reach (ranges_of); columns: of scores that it may change, or ANY.
SharedState = namedtuple(
    "SharedState", "sources targets origins copies scores total certificate control rule blocks limits ranges columns"
)
# size: sources per block; findable: vertices with in-arcs; pulls: see policy.pulls_of; cached: whether the graph fits
# into a cache; along_rows: see policy.adds_along_rows; call: see extended.
Limits = namedtuple("Limits", "cutoff size endpoints edges squares degree_bits findable pulls cached along_rows call")
ALL_ALIKE = np.empty(0)  # targets, origins or copies that are all 1
ANY = np.empty((0, 2), np.uint64)  # ranges or columns of blocks that are not limited
NO_CUTOFF = np.iinfo(np.int32).max


def hop_limit(cutoff):
    return NO_CUTOFF if cutoff is None else int(min(cutoff, NO_CUTOFF))


@inner
def demand_at(shared, number):
    return shared.origins[number] if shared.origins.size else 1.0


@inner
def counts(demand, targets, v):
    """The weight of a path to v, from a source with that demand."""
    return demand if targets.size == 0 else demand * targets[v]


@inner
def copies_of(copies, v):
    return 1.0 if copies.size == 0 else copies[v]


@inner
def multiply(sigma, queue, begin, end, copies):
    """Convert path counts of one copy to those of all copies, or shares of all copies to those of one."""
    noinline()
    for i in range(begin, end):
        sigma[queue[i]] *= copies[queue[i]]


def demand_of(job):
    targets = ALL_ALIKE if job.targets is None else job.targets.astype(np.float64)
    return targets, ALL_ALIKE if job.origins is None else job.origins[job.sources]


def ranges_of(job, size):
    """The first vertex and the end of the components of every block's sources; ANY if components are unknown."""
    if job.components is None:
        return ANY
    each, starts = component_ranges(job.components, job.sources), np.arange(0, len(job.sources), size)
    ranges = [np.minimum.reduceat(each[:, 0], starts), np.maximum.reduceat(each[:, 1], starts)]
    return np.stack(ranges, 1).astype(np.uint64)


@inner
def bounds(table, block, size):
    """A block's row of `ranges` or `columns`; 0 and size if the table is ANY."""
    if table.size == 0:
        return U0, np.uint64(size)
    return table[block, 0], table[block, 1]


def worker_arrays(n, m):
    """The arrays of a WorkerState; untouched pages of levels and successors use no memory."""
    arc = np.uint32 if m < 2**32 else np.uint64
    return (
        declare(np.float64, huge=True, sigma=n, gathered=max(n, 64))
        | declare(np.uint32, huge=True, queue=n + 1)
        | declare(arc, huge=True, starts=n + 1, successors=m + 1)
        | declare(np.int64, levels=(n + 3, 4))
        | declare(np.uint64, visited=-(-n // 64))
    )


# Columns of levels: start in the queue, out-arcs of the level, whether it was pulled, the shift of its σ̂.
BEGINS, ARCS, IS_PULLED, SHIFT = range(4)

# Cells of control, after those of every run (workers.py): the lock of commit; number of sources counted with exponents;
# whether a cycle of arcs that add nothing was found, its source and an arc's endpoints; per row of scores, whether its
# block is complete. FINISHED counts committed blocks.
LOCK, EXTENDED, CYCLE, READY = CONTROL_CELLS, CONTROL_CELLS + 16, CONTROL_CELLS + 20, CONTROL_CELLS + 32


# ------------------------------------------------------------------ blocks of sources


def score_cells(columns, width, rows):
    """The size of `scores` with that many rows, as wide as the most columns of a block; see row_start."""
    return width + rows * int((columns[:, 1] - columns[:, 0]).max()) if len(columns) else rows * width


def row_start(columns, block, rows, cells, width):
    """The start of an unfinished block's row: row[i] is column i. Rows of some columns follow `width` unused cells."""
    if columns.size == 0:
        return block % rows * width
    return width - np.int64(columns[block, 0]) + block % rows * ((cells - width) // rows)


start_of = inner(row_start)


@inner
def row_of(shared, block):
    rows = shared.control.size - READY
    return shared.scores[start_of(shared.columns, block, rows, shared.scores.size, shared.total.size) :]


@inner
def commit(shared):
    """Add complete rows to the total, in the order of their blocks. One worker at a time does it; none waits."""
    noinline()
    control, total, rows = shared.control, shared.total, shared.control.size - READY
    while asm.ordered_load(control, READY + asm.ordered_load(control, FINISHED) % rows) != 0:
        if not asm.compare_and_swap(control, LOCK, 0, 1):
            return  # the worker that holds the lock checks again after releasing it
        block = asm.ordered_load(control, FINISHED)
        while asm.ordered_load(control, READY + block % rows) != 0:
            begin, end = bounds(shared.columns, block, total.size)
            row, sums = row_of(shared, block)[begin:end], total[begin:end]
            for v in range(row.size):
                sums[v] += row[v]
                row[v] = 0.0
            asm.ordered_store(control, READY + block % rows, 0)
            block += 1
            asm.ordered_store(control, FINISHED, block)
        asm.ordered_store(control, LOCK, 0)


@inner
def claim_block(shared):
    """The number of the next block; -1 if none remains or the run stops. Its row of scores is free."""
    noinline()
    control, rows = shared.control, shared.control.size - READY
    if asm.ordered_load(control, STOP) != 0:
        return -1
    block = asm.atomic_add(control, NEXT_BATCH, 1)
    if block >= shared.blocks:
        return -1
    while asm.ordered_load(control, FINISHED) + rows <= block:  # its row still belongs to an earlier block
        if asm.ordered_load(control, STOP) & FAILED:
            return -1  # that block will never be complete
        commit(shared)
        asm.pause()
    return block


@inner
def extended(shared, number):
    """Process a source with exponents; False if that failed. Rare, so it is compiled when it is first needed."""
    asm.atomic_add(shared.control, EXTENDED, 1)
    if asm.call_address(shared.limits.call, (number,)) == 0:
        return True
    asm.atomic_or(shared.control, STOP, FAILED)
    return False


@inner
def finish_block(shared, block):
    asm.ordered_store(shared.control, READY + block % (shared.control.size - READY), 1)
    commit(shared)


def blocks_of(one_source):
    """A compiled function for a worker: blocks of sources until none remains, or a source returns a negative sum."""

    @inner
    def take_blocks(A, own, shared, n):
        sources, size = shared.sources, shared.limits.size
        while True:
            block = claim_block(shared)
            if block < 0:
                return
            row = row_of(shared, block)
            squares = row[n:] if shared.limits.squares else row[:0]
            for i in range(block * size, min((block + 1) * size, sources.size)):
                found, due = one_source(A, own, shared, i, row, squares)
                if found < 0.0:
                    return
                shared.certificate[i, 0], shared.certificate[i, 1] = found, due
            finish_block(shared, block)

    return take_blocks
