"""Betweenness from one source, the way out: path counts σ̂, level after level. See betweenness/state.py."""

import numpy as np

from hopwave.engines.cpu.betweenness import state
from hopwave.engines.cpu.integers import ONE, U0, U1, U4, U6, U8, U16, U63
from hopwave.engines.cpu.intrinsics import INNER, noinline, prefetch, prefetch_to_write, trailing_zeros
from hopwave.engines.cpu.path_counts import EXACT_BITS, LARGEST, rescale_level
from hopwave.engines.cpu.policy import PULL_ALWAYS, PULL_BY_RULE, PULL_NEVER
from hopwave.engines.cpu.search.state import choose, copy_words, set_bits
from hopwave.engines.cpu.search.steps import NEIGHBOURS_AHEAD
from hopwave.system.numba_cache import njit


@njit(**INNER)
def push_counting(A, own, begin, end, used, arcs):
    """One level forward, by the arcs that leave it. Its successors are recorded, as arc numbers where `arcs`.

    used: how many successors are recorded so far. Returns the new end of the queue, and of the successors. What the
    vertices 4, 8 and 16 places ahead will need is prefetched, as in search/steps.push_alone.
    """
    noinline()
    indptr, indices, sigma = A.indptr, A.indices, own.sigma
    queue, starts, successors = own.queue, own.starts, own.successors
    end, used = np.uint64(end), np.uint64(used)
    enough, last = indices.size >= NEIGHBOURS_AHEAD, np.uint64(indices.size - NEIGHBOURS_AHEAD)
    tail = end
    for i in range(np.uint64(begin), end):
        if enough and i + U16 < tail:
            prefetch(indptr, queue[i + U16])
            prefetch(indices, indptr[queue[i + U8]])
            first = min(np.uint64(indptr[queue[i + U4]]), last)
            for j in range(np.uint64(NEIGHBOURS_AHEAD)):
                prefetch_to_write(sigma, indices[first + j])
        u = queue[i]
        paths = sigma[u]
        starts[i] = used
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            there = sigma[v]
            if there <= 0.0:
                sigma[v] = there - paths
                if there == 0.0:
                    queue[tail] = v
                    tail += U1
                successors[used] = j if arcs else v
                used += U1
    starts[end] = used
    return np.int64(tail), np.int64(used)


@njit(**INNER)
def push_counting_cached(A, own, begin, end, used, arcs):
    """`push_counting` for graphs that fit into a cache, where a mispredicted branch costs more than a useless store.

    Every neighbour is stored, and the ends of queue and successors move on only if it belongs there. With branches, 256
    sources of 5,000 vertices (preferential attachment) take 1.3 times as long.
    """
    noinline()
    indptr, indices, sigma = A.indptr, A.indices, own.sigma
    queue, starts, successors = own.queue, own.starts, own.successors
    tail = end
    for i in range(begin, end):
        u = queue[i]
        paths = sigma[u]
        starts[i] = used
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            there = sigma[v]
            successor = there <= 0.0
            sigma[v] = there - (paths if successor else 0.0)
            queue[np.uint64(tail)] = v
            tail += there == 0.0
            successors[np.uint64(used)] = j if arcs else v
            used += successor
    starts[end] = used
    return tail, used


@njit(**INNER)
def pull_counting(A, own, end):
    """One level forward, by the rows of unvisited vertices: every in-neighbour in the frontier counts.

    Those are the neighbours with a positive σ̂: any vertex of an earlier level would have found v before. No branch
    depends on them, since it would be mispredicted for every third. The sums of 64 vertices are written together, so
    that no row waits for the sum of the row before. Returns the new end of the queue.
    """
    noinline()
    in_indptr, in_indices, sigma = A.in_indptr, A.in_indices, own.sigma
    queue, visited, sums = own.queue, own.visited, own.gathered
    tail = np.uint64(end)
    for w in range(np.uint64(visited.size)):
        rows = ~visited[w]
        base = w << U6
        asking = rows
        while asking != U0:
            bit = trailing_zeros(asking)
            asking &= asking - U1
            total = 0.0
            for j in range(np.uint64(in_indptr[base + bit]), np.uint64(in_indptr[base + bit + U1])):
                paths = sigma[in_indices[j]]
                total += paths if paths > 0.0 else 0.0
            sums[bit] = total
        while rows != U0:
            bit = trailing_zeros(rows)
            rows &= rows - U1
            sigma[base + bit] = 0.0 - sums[bit]
            queue[tail] = np.uint32(base + bit)
            tail += np.uint64(sums[bit] > 0.0)
    return np.int64(tail)


@njit(**INNER)
def count_along_rows(A, own, begin, end):
    """Add up the σ̂ of a pushed level, queue[begin:end], again: in the order of rows, as threads do that share a source.

    Predecessors are the in-neighbours with a positive σ̂, as in a pull.
    """
    noinline()
    in_indptr, in_indices, queue, sigma = A.in_indptr, A.in_indices, own.queue, own.sigma
    end = np.uint64(end)
    for i in range(np.uint64(begin), end):
        if i + U16 < end:
            prefetch(in_indptr, queue[i + U16])
            prefetch(in_indices, in_indptr[queue[i + U8]])
        v = queue[i]
        total = 0.0
        for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + ONE])):
            paths = sigma[in_indices[j]]
            total += paths if paths > 0.0 else 0.0
        sigma[v] = -total


@njit(**INNER)
def settle(A, own, begin, end, counting_arcs):
    """Make the σ̂ of the complete level queue[begin:end] positive. Returns how many arcs leave it, or 0 if they are not
    wanted, and the greatest σ̂."""
    noinline()
    indptr, queue, sigma = A.indptr, own.queue, own.sigma
    begin, end, greatest = np.uint64(begin), np.uint64(end), 0.0
    for i in range(begin, end):
        if i + U8 < end:
            prefetch_to_write(sigma, queue[i + U8])
        paths = -sigma[queue[i]]
        sigma[queue[i]] = paths
        greatest = paths if paths > greatest else greatest
    total = np.int64(0)
    if counting_arcs:
        for i in range(begin, end):
            total += np.int64(indptr[queue[i] + ONE]) - np.int64(indptr[queue[i]])
    return total, greatest


@njit(**INNER)
def forward(A, own, shared, source):
    """All levels from the source. Returns their number, with a minus sign if one is too wide for a single scale."""
    indptr, queue, levels = A.indptr, own.queue, own.levels
    n = own.sigma.size
    m = np.int64(indptr[n])
    bits, pulls, arcs = shared.limits.degree_bits, shared.limits.pulls, shared.limits.edges
    own.sigma[source], queue[0] = -1.0, np.uint32(source)
    nf, along_rows, exact = np.int64(1), shared.limits.along_rows, 2.0 ** np.float64(EXACT_BITS - bits)
    mf, greatest = settle(A, own, np.int64(0), np.int64(1), np.bool_(True))  # literals would compile it once more
    mu = m - mf
    nf0, mf0, last, marked, used, bound = np.int64(0), np.int64(0), np.int64(-1), np.int64(0), np.int64(0), 0
    levels[0, state.BEGINS], levels[0, state.ARCS], levels[0, state.SHIFT], levels[1, state.BEGINS] = 0, mf, 0, 1
    count = 1  # levels found; levels[count, BEGINS] is where the last of them ends
    v = np.uint64(source)
    findable = shared.limits.findable + np.int64((A.closed[v >> U6] >> (v & U63)) & U1)
    while count <= shared.limits.cutoff and levels[count, state.BEGINS] < findable:
        begin, end = levels[count - 1, state.BEGINS], levels[count, state.BEGINS]
        choice = np.int64(pulls == PULL_ALWAYS)
        if pulls == PULL_BY_RULE:
            choice = choose(np.int64(shared.rule[0]), shared.rule[1], shared.rule[2], n, m, nf, mf, mu, nf0, mf0, last)
        nf0, mf0, last = nf, mf, choice
        levels[count - 1, state.IS_PULLED] = choice
        if choice:
            if marked == 0:
                copy_words(own.visited, A.closed)
            set_bits(own.visited, queue, marked, end)
            marked = end
            tail = pull_counting(A, own, end)
        elif shared.limits.cached:
            tail, used = push_counting_cached(A, own, begin, end, used, arcs)
        else:
            tail, used = push_counting(A, own, begin, end, used, arcs)
        nf = tail - end
        if nf == 0:
            break
        if along_rows and greatest > exact and choice == 0:
            count_along_rows(A, own, end, tail)
        if shared.copies.size:
            state.multiply(own.sigma, queue, end, tail, shared.copies)
        mf, largest = settle(A, own, end, tail, pulls != PULL_NEVER)
        greatest = largest if greatest <= exact else np.inf  # once rounded, counts may be fractions
        mu -= mf
        levels[count, state.ARCS], levels[count, state.SHIFT] = mf, 0
        bound += bits
        if bound + bits > LARGEST:
            bound, shift = rescale_level(own.sigma, queue, end, tail, bits)
            if shift < 0:
                levels[count + 1, state.BEGINS] = tail
                return -count
            levels[count, state.SHIFT] = shift
        count += 1
        levels[count, state.BEGINS] = tail
    return count
