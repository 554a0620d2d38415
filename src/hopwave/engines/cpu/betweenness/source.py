"""Betweenness from one source, compiled (Brandes; TurboBC, Algorithm 1). See betweenness/state.py for the arrays.

Only deeper levels have shares, which are negative: the sign identifies successors, without a branch.
"""

import math

import numpy as np

from hopwave.engines.cpu import intrinsics as asm
from hopwave.engines.cpu.betweenness import state
from hopwave.engines.cpu.integers import ONE, U0, U1, U4, U6, U8, U16, U63
from hopwave.engines.cpu.intrinsics import inner, noinline, outer
from hopwave.engines.cpu.path_counts import EXACT_BITS, LARGEST, add_scaled, rescale_level, two_to
from hopwave.engines.cpu.policy import PULL_ALWAYS, PULL_BY_RULE, PULL_NEVER
from hopwave.engines.cpu.search.state import choose, set_bits
from hopwave.engines.cpu.search.steps import NEIGHBOURS_AHEAD

# ------------------------------------------------------------------ forward


@inner
def push_counting(A, own, begin, end, used, arcs):
    """One forward level, by the arcs out of it. Returns the new ends of queue and successors (arcs if `arcs`)."""
    noinline()
    indptr, indices, sigma = A.indptr, A.indices, own.sigma
    queue, starts, successors = own.queue, own.starts, own.successors
    end, used = np.uint64(end), np.uint64(used)
    enough, last = indices.size >= NEIGHBOURS_AHEAD, np.uint64(indices.size - NEIGHBOURS_AHEAD)
    tail = end
    for i in range(np.uint64(begin), end):
        if enough and i + U16 < tail:
            asm.prefetch(indptr, queue[i + U16])
            asm.prefetch(indices, indptr[queue[i + U8]])
            first = min(np.uint64(indptr[queue[i + U4]]), last)
            for j in range(np.uint64(NEIGHBOURS_AHEAD)):
                asm.prefetch_to_write(sigma, indices[first + j])
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


@inner
def push_counting_cached(A, own, begin, end, used, arcs):
    """`push_counting` for graphs that fit into a cache, where a mispredicted branch costs more than a wasted store."""
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


@inner
def pull_counting(A, own, end, low, high):
    """One forward level, by unvisited rows among [low, high), 64 at a time. Returns the new end of the queue."""
    noinline()
    in_indptr, in_indices, sigma = A.in_indptr, A.in_indices, own.sigma
    queue, visited, sums = own.queue, own.visited, own.gathered
    tail = np.uint64(end)
    for w in range(low >> U6, (high + U63) >> U6):
        rows = ~visited[w]
        base = w << U6
        asking = rows
        while asking != U0:
            bit = asm.trailing_zeros(asking)
            asking &= asking - U1
            total = 0.0
            for j in range(np.uint64(in_indptr[base + bit]), np.uint64(in_indptr[base + bit + U1])):
                paths = sigma[in_indices[j]]
                total += paths if paths > 0.0 else 0.0
            sums[bit] = total
        while rows != U0:
            bit = asm.trailing_zeros(rows)
            rows &= rows - U1
            sigma[base + bit] = 0.0 - sums[bit]
            queue[tail] = np.uint32(base + bit)
            tail += np.uint64(sums[bit] > 0.0)
    return np.int64(tail)


@inner
def count_along_rows(A, own, begin, end):
    """Add up the σ̂ of a pushed level, queue[begin:end], again by rows, like threads that share a source."""
    noinline()
    in_indptr, in_indices, queue, sigma = A.in_indptr, A.in_indices, own.queue, own.sigma
    end = np.uint64(end)
    for i in range(np.uint64(begin), end):
        if i + U16 < end:
            asm.prefetch(in_indptr, queue[i + U16])
            asm.prefetch(in_indices, in_indptr[queue[i + U8]])
        v = queue[i]
        total = 0.0
        for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + ONE])):
            paths = sigma[in_indices[j]]
            total += paths if paths > 0.0 else 0.0
        sigma[v] = -total


@inner
def settle(A, own, begin, end, counting_arcs):
    """Make the σ̂ of the complete level queue[begin:end] positive. Returns its out-arcs and its largest σ̂."""
    noinline()
    indptr, queue, sigma = A.indptr, own.queue, own.sigma
    begin, end, greatest = np.uint64(begin), np.uint64(end), 0.0
    for i in range(begin, end):
        if i + U8 < end:
            asm.prefetch_to_write(sigma, queue[i + U8])
        paths = -sigma[queue[i]]
        sigma[queue[i]] = paths
        greatest = paths if paths > greatest else greatest
    total = np.int64(0)
    if counting_arcs:
        for i in range(begin, end):
            total += np.int64(indptr[queue[i] + ONE]) - np.int64(indptr[queue[i]])
    return total, greatest


@inner
def forward(A, own, shared, number):
    """All levels from source `number`. Returns how many, negated if one is too wide for a single scale."""
    indptr, queue, levels, source = A.indptr, own.queue, own.levels, shared.sources[number]
    n = own.sigma.size
    low, high = state.bounds(shared.ranges, number // shared.limits.size, n)
    m = np.int64(indptr[n])
    bits, pulls, arcs = shared.limits.degree_bits, shared.limits.pulls, shared.limits.edges
    own.sigma[source], queue[0] = -1.0, np.uint32(source)
    nf, along_rows, exact = np.int64(1), shared.limits.along_rows, 2.0 ** np.float64(EXACT_BITS - bits)
    mf, greatest = settle(A, own, np.int64(0), np.int64(1), np.bool_(True))  # literals would compile another version
    mu = m - mf
    nf0, mf0, last, marked, used, bound = np.int64(0), np.int64(0), np.int64(-1), np.int64(0), np.int64(0), 0
    levels[0, state.BEGINS], levels[0, state.ARCS], levels[0, state.SHIFT], levels[1, state.BEGINS] = 0, mf, 0, 1
    count = 1  # levels found; levels[count, BEGINS] is the end of the last one
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
                for w in range(low >> U6, (high + U63) >> U6):
                    own.visited[w] = A.closed[w]
            set_bits(own.visited, queue, marked, end)
            marked = end
            tail = pull_counting(A, own, end, low, high)
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


# ------------------------------------------------------------------ backward


@inner
def back_by_successors(A, own, begin, end, row, squares, extra, demand, targets, cached, edges):
    """δ of a pushed level, from its recorded successors; if `edges`, also their flows. Returns Σ δ."""
    noinline()
    indices, sigma, queue, starts, successors = A.indices, own.sigma, own.queue, own.starts, own.successors
    total = 0.0
    end = np.uint64(end)
    for i in range(np.uint64(begin), end):
        if not cached and i + U8 < end:
            asm.prefetch_to_write(sigma, queue[i + U8])
            asm.prefetch_to_write(row, queue[i + U8])
            asm.prefetch(sigma, successors[starts[i + U4]])
        u = queue[i]
        paths, gathered = sigma[u], 0.0
        if edges:
            for p in range(np.uint64(starts[i]), np.uint64(starts[i + U1])):
                j = successors[p]
                share = sigma[indices[j]]
                row[j] -= paths * share
                gathered -= share
        else:
            for p in range(np.uint64(starts[i]), np.uint64(starts[i + U1])):
                gathered -= sigma[successors[p]]
        delta = paths * gathered
        weight = state.counts(demand, targets, u)
        sigma[u] = -((weight + delta) / paths)
        if not edges:
            row[u] += delta + extra * weight
            if squares.size:
                squares[u] += delta * delta
        total += delta
    return total


@inner
def back_by_rows(A, own, begin, end, stop, gather, row, squares, extra, demand, targets):
    """δ of a pulled level, queue[begin:end], gathered or scattered from the next one, queue[end:stop]. Returns Σ δ."""
    noinline()
    sigma, gathered, queue = own.sigma, own.gathered, own.queue
    total = 0.0
    begin, end, stop = np.uint64(begin), np.uint64(end), np.uint64(stop)
    if gather:
        indptr, indices = A.indptr, A.indices
        for i in range(begin, end):
            if i + U16 < end:
                asm.prefetch(indptr, queue[i + U16])
                asm.prefetch(indices, indptr[queue[i + U8]])
            u = queue[i]
            sum_ = 0.0
            for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                share = sigma[indices[j]]
                sum_ -= share if share < 0.0 else 0.0
            gathered[u] = sum_
    else:
        in_indptr, in_indices = A.in_indptr, A.in_indices
        for i in range(begin, end):
            gathered[queue[i]] = 0.0
        for i in range(end, stop):
            if i + U16 < stop:
                asm.prefetch(in_indptr, queue[i + U16])
                asm.prefetch(in_indices, in_indptr[queue[i + U8]])
            v = queue[i]
            share = sigma[v]
            for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + ONE])):
                gathered[in_indices[j]] -= share  # also entries of other levels, overwritten before they are read
    for i in range(begin, end):  # only now: no vertex may mistake another of its level for a successor
        u = queue[i]
        delta = sigma[u] * gathered[u]
        weight = state.counts(demand, targets, u)
        sigma[u] = -((weight + delta) / sigma[u])
        row[u] += delta + extra * weight
        total += delta
        if squares.size:
            squares[u] += delta * delta
    return total


@inner
def last_level(own, begin, end, row, extra, demand, targets):
    noinline()
    sigma, queue = own.sigma, own.queue
    for i in range(begin, end):
        u = queue[i]
        weight = state.counts(demand, targets, u)
        sigma[u] = -(weight / sigma[u])
        if extra != 0.0:
            row[u] += extra * weight


@inner
def backward(A, own, shared, demand, count, row, squares):
    """Add δ to row, and δ² to squares unless empty. Returns Σ δ, Σ (d - 1), which must be equal, and Σ t."""
    sigma, queue, levels, targets = own.sigma, own.queue, own.levels, shared.targets
    edges, extra = shared.limits.edges, np.float64(shared.limits.endpoints)
    cached = shared.limits.cached
    found, due, counted = 0.0, 0.0, 0.0
    for level in range(count - 1, -1, -1):
        begin, end = levels[level, state.BEGINS], levels[level + 1, state.BEGINS]
        reached = demand * np.float64(end - begin)
        if targets.size:
            reached = 0.0
            for i in range(begin, end):
                reached += demand * targets[queue[i]]
        if level:
            due += (level if edges else level - 1) * reached
            counted += reached
        if level == 0 and not edges:
            row[queue[0]] += extra * counted  # the source is an endpoint of every path
        elif level == count - 1:
            last_level(own, begin, end, row, 0.0 if edges else extra, demand, targets)
        elif levels[level, state.IS_PULLED]:
            stop, fewer = levels[level + 2, state.BEGINS], levels[level, state.ARCS] <= levels[level + 1, state.ARCS]
            found += back_by_rows(A, own, begin, end, stop, fewer, row, squares, extra, demand, targets)
        else:
            found += back_by_successors(A, own, begin, end, row, squares, extra, demand, targets, cached, edges)
        if shared.copies.size:
            state.multiply(sigma, queue, begin, end, shared.copies)
        if levels[level, state.SHIFT]:  # convert to the scale of the previous level
            factor = 2.0 ** np.float64(-levels[level, state.SHIFT])
            for i in range(begin, end):
                sigma[queue[i]] *= factor
    return found, due, counted


# ------------------------------------------------------------------ levels too wide for one scale


@inner
def count_outward(A, queue, source, cutoff, copies, depth, mantissa, exponent):
    """Search from the source; depth is -1 everywhere before. Returns the end of the queue."""
    noinline()
    indptr, indices = A.indptr, A.indices
    depth[source], mantissa[source], exponent[source] = 0, 0.5, 1
    queue[0] = np.uint32(source)
    tail, i = 1, 0
    while i < tail:
        u = queue[i]
        i += 1
        if copies.size and i > 1:
            mantissa[u], power = math.frexp(mantissa[u] * copies[u])
            exponent[u] += power
        if depth[u] == cutoff:
            break
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            if depth[v] < 0:
                depth[v] = depth[u] + 1
                queue[tail] = v
                tail += 1
            if depth[v] == depth[u] + 1:
                mantissa[v], exponent[v] = add_scaled(mantissa[v], exponent[v], mantissa[u], exponent[u])
    return tail


@outer
def extended_source(A, shared, number, queue, row, squares, depth, mantissa, exponent, shares):
    """one_source with σ = mantissa · 2^exponent; levels are < 0 and mantissas 0. Also returns Σ t."""
    indptr, indices, targets, copies = A.indptr, A.indices, shared.targets, shared.copies
    source, demand = shared.sources[number], state.demand_at(shared, number)
    tail = count_outward(A, queue, source, shared.limits.cutoff, copies, depth, mantissa, exponent)
    edges, extra = shared.limits.edges, np.float64(shared.limits.endpoints)
    found, due, counted = 0.0, 0.0, 0.0
    for i in range(tail - 1, -1, -1):
        u = queue[i]
        delta = 0.0
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            if depth[v] == depth[u] + 1:
                flow = mantissa[u] * shares[v] * two_to(min(0, exponent[u] - exponent[v]))
                delta += flow
                if edges:
                    row[j] += flow
                    found += flow
        weight = state.counts(demand, targets, u)
        shares[u] = (weight + delta) / mantissa[u] * state.copies_of(copies, u)
        if i > 0:
            due += (depth[u] if edges else depth[u] - 1) * weight
            counted += weight
            if not edges:
                found += delta
                row[u] += delta + extra * weight
                if squares.size:
                    squares[u] += delta * delta
        elif not edges:
            row[u] += extra * counted
    return found, due, counted


# ------------------------------------------------------------------ one source


@inner
def forget(sigma, queue, reached):
    """Mark all vertices as unvisited: only those in the queue if they are few."""
    noinline()
    if reached < sigma.size // 8:
        for i in range(reached):
            sigma[queue[i]] = 0.0
    else:
        for v in range(sigma.size):
            sigma[v] = 0.0


@inner
def one_source(A, own, shared, number, row, squares):
    """Add one source's contribution to the scores to row. Returns both sides of its certificate."""
    demand = state.demand_at(shared, number)
    count = forward(A, own, shared, number)
    if count < 0:
        forget(own.sigma, own.queue, own.levels[1 - count, state.BEGINS])
        if state.extended(shared, number):
            return shared.certificate[number, 0], shared.certificate[number, 1]
        return -1.0, 0.0
    found, due, _ = backward(A, own, shared, demand, count, row, squares)
    forget(own.sigma, own.queue, own.levels[count, state.BEGINS])
    return found, due


take_blocks = state.blocks_of(one_source)


@outer
def take_sources(A, own, shared):
    A, own, shared = asm.uncounted(A), asm.uncounted(own), asm.uncounted(shared)
    forget(own.sigma, own.queue, own.sigma.size)
    take_blocks(A, own, shared, own.sigma.size)
