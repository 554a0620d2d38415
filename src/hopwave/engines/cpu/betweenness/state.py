"""What betweenness from one source works on: a worker's own arrays, and what all workers share.

    σ̂   path counts over 2^shift, one shift per level         t   what a path to a vertex counts, mostly 1
    δ   dependencies: δ(v) = Σ σ(v)/σ(w) · (t(w) + δ(w)) over the successors w of v
    m   copies, mostly 1: a vertex that stands for m passes on m times the paths that reach one of them, and takes
        shares of 1/m of them; σ and δ are those of all m

Encodings
    sigma[v]   0 before v is visited, -σ̂(v) while its level is being found, σ̂(v) afterwards: "is a successor" is one
               comparison, and a search reads one number per neighbour. On the way back it becomes v's share with
               a minus sign, -(t(v) + δ(v)) / σ̂(v), of which each predecessor u of v takes σ̂(u) times.
    successors of the vertices of pushed levels, in queue order, from the forward pass: the way back then reads nothing
               else. Levels that were pulled have none, and are walked back along their rows.
    scores     are added up block by block of sources, in order, so that the number of threads changes no bit of them.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.intrinsics import (
    atomic_add,
    compare_and_swap,
    inner,
    noinline,
    ordered_load,
    ordered_store,
    pause,
)
from hopwave.engines.cpu.workers import CONTROL_CELLS, FAILED, FINISHED, NEXT_BATCH, STOP
from hopwave.engines.ledger import declare

# One worker's arrays. levels: one row per level, with the columns below; starts: where a vertex's successors begin;
# gathered: what the vertices of a pulled level take from their successors; on the way out, the sums of 64 vertices.
WorkerState = namedtuple("WorkerState", "sigma gathered queue starts successors levels visited")
# scores: one row per block in work, with Σ δ², where wanted, behind Σ δ; total: what is committed. targets is empty
# where every vertex counts 1 as a target, and so are origins, one number per source, where every source counts 1, and
# copies, where every vertex stands for itself alone.
# certificate: two numbers per source (algorithms/brandes.certify).
SharedState = namedtuple(
    "SharedState", "sources targets origins copies scores total certificate control rule blocks limits"
)
# size: sources per block; findable: vertices with arcs into them; pulls: see policy.pulls_of; cached: whether the graph
# fits into a cache; along_rows: see policy.adds_along_rows.
Limits = namedtuple(
    "Limits", "cutoff size endpoints edges squares degree_bits findable pulls cached along_rows directed"
)
ALL_ALIKE = np.empty(0)  # targets, origins or copies that all count 1


@inner
def demand_at(shared, number):
    """What the paths from a source count."""
    return shared.origins[number] if shared.origins.size else 1.0


@inner
def counts(demand, targets, v):
    """What a path to v counts, from a source with that demand."""
    return demand if targets.size == 0 else demand * targets[v]


@inner
def copies_of(copies, v):
    """How many vertices v stands for."""
    return 1.0 if copies.size == 0 else copies[v]


@inner
def multiply(sigma, queue, begin, end, copies):
    """Path counts of one copy as those of all, or shares of all as those of one."""
    noinline()
    for i in range(begin, end):
        sigma[queue[i]] *= copies[queue[i]]


def demand_of(job):
    """What targets and sources count, as workers read it: see SharedState."""
    targets = ALL_ALIKE if job.targets is None else job.targets.astype(np.float64)
    return targets, ALL_ALIKE if job.origins is None else job.origins[job.sources]


def worker_arrays(n, m):
    """The arrays of a WorkerState. Pages that nobody writes to cost nothing: a level takes one row of levels, and
    successors are written only by pushed levels."""
    arc = np.uint32 if m < 2**32 else np.uint64
    return (
        declare(np.float64, huge=True, sigma=n, gathered=max(n, 64))
        | declare(np.uint32, huge=True, queue=n + 1)
        | declare(arc, huge=True, starts=n + 1, successors=m + 1)
        | declare(np.int64, levels=(n + 3, 4))
        | declare(np.uint64, visited=-(-n // 64))
    )


# Columns of levels: where the level begins in the queue, arcs that leave it, whether it was pulled, the shift of its σ̂.
BEGINS, ARCS, IS_PULLED, SHIFT = range(4)

# Cells of control, after those of every run (workers.py): who commits, sources counted the extended way, whether a
# cycle of arcs that add nothing was met (then the source, and the ends of an arc), and one cell per row of scores that
# says whether its block is done. FINISHED counts committed blocks.
LOCK, EXTENDED, CYCLE, READY = CONTROL_CELLS, CONTROL_CELLS + 16, CONTROL_CELLS + 20, CONTROL_CELLS + 32


# ------------------------------------------------------------------ blocks of sources


@inner
def commit(shared):
    """Add finished rows to the total, in the order of their blocks. One worker at a time does it; none waits for it."""
    noinline()
    control, scores, total = shared.control, shared.scores, shared.total
    rows = scores.shape[0]
    while ordered_load(control, READY + ordered_load(control, FINISHED) % rows) != 0:
        if not compare_and_swap(control, LOCK, 0, 1):
            return  # the worker that holds the lock looks again after it lets go
        block = ordered_load(control, FINISHED)
        while ordered_load(control, READY + block % rows) != 0:
            row = scores[block % rows]
            for v in range(row.size):
                total[v] += row[v]
                row[v] = 0.0
            ordered_store(control, READY + block % rows, 0)
            block += 1
            ordered_store(control, FINISHED, block)
        ordered_store(control, LOCK, 0)


@inner
def claim_block(shared):
    """The number of the next block; -1 if none remains or the run stops. Its row of scores is free."""
    noinline()
    control, rows = shared.control, shared.scores.shape[0]
    if ordered_load(control, STOP) != 0:
        return -1
    block = atomic_add(control, NEXT_BATCH, 1)
    if block >= shared.blocks:
        return -1
    while ordered_load(control, FINISHED) + rows <= block:  # its row still belongs to an earlier block
        if ordered_load(control, STOP) & FAILED:
            return -1  # that block will never be done
        commit(shared)
        pause()
    return block


@inner
def finish_block(shared, block):
    """The block's row of scores is complete."""
    ordered_store(shared.control, READY + block % shared.scores.shape[0], 1)
    commit(shared)
