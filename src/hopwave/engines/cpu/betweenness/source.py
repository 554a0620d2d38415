"""Betweenness from one source, compiled (Brandes; TurboBC, Algorithm 1), and a worker that takes block after block."""

import numpy as np

from hopwave.engines.cpu.betweenness.backward import backward
from hopwave.engines.cpu.betweenness.extended import extended_source
from hopwave.engines.cpu.betweenness.forward import forward
from hopwave.engines.cpu.betweenness.state import BEGINS, EXTENDED, LOCK, READY, demand_at
from hopwave.engines.cpu.intrinsics import (
    COMPILED,
    INNER,
    atomic_add,
    compare_and_swap,
    noinline,
    ordered_load,
    ordered_store,
    pause,
    uncounted,
)
from hopwave.engines.cpu.workers import FAILED, FINISHED, NEXT_BATCH, STOP
from hopwave.system.numba_cache import njit


@njit(**INNER)
def forget(sigma, queue, reached):
    """Mark all vertices as unvisited: only those in the queue if they are few."""
    noinline()
    if reached < sigma.size // 8:
        for i in range(reached):
            sigma[queue[i]] = 0.0
    else:
        for v in range(sigma.size):
            sigma[v] = 0.0


@njit(**INNER)
def one_source(A, own, shared, number, row, squares):
    """Add what one source contributes to the scores to row. Returns both sides of its certificate."""
    source, demand = shared.sources[number], demand_at(shared, number)
    count = forward(A, own, shared, source)
    if count < 0:
        forget(own.sigma, own.queue, own.levels[1 - count, BEGINS])
        atomic_add(shared.control, EXTENDED, 1)
        n = own.sigma.size
        depth, exponent = np.empty(n, np.int32), np.empty(n, np.int32)
        return extended_source(A, own, shared, demand, source, row, squares, depth, np.empty(n), exponent, np.empty(n))
    found, due = backward(A, own, shared, demand, count, row, squares)
    forget(own.sigma, own.queue, own.levels[count, BEGINS])
    return found, due


@njit(**INNER)
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


@njit(**INNER)
def claim_block(shared):
    """The number of the next block; -1 if none is left or the run stops. Its row of scores is free."""
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


@njit(**INNER)
def finish_block(shared, block):
    """The block's row of scores is complete."""
    ordered_store(shared.control, READY + block % shared.scores.shape[0], 1)
    commit(shared)


@njit(**COMPILED)
def take_sources(A, own, shared):
    """A worker: blocks of sources until none is left. A block has a row of scores of its own until it is committed."""
    A, own, shared = uncounted(A), uncounted(own), uncounted(shared)
    scores, sources, size, n = shared.scores, shared.sources, shared.limits.size, own.sigma.size
    forget(own.sigma, own.queue, n)
    while True:
        block = claim_block(shared)
        if block < 0:
            return
        row = scores[block % scores.shape[0]]
        squares = row[n:] if shared.limits.squares else row[:0]
        for i in range(block * size, min((block + 1) * size, sources.size)):
            shared.certificate[i, 0], shared.certificate[i, 1] = one_source(A, own, shared, i, row, squares)
        finish_block(shared, block)
