"""Betweenness from one source, compiled (Brandes; TurboBC, Algorithm 1), and a worker that takes source after source.

    σ̂   path counts over 2^shift, one shift a level            t   1 for a target, 0 for others (all are, mostly)
    δ   dependencies: δ(v) = Σ σ(v)/σ(w) · (t(w) + δ(w)) over the successors w of v

Encodings
    depth      of a vertex not yet visited is greater than any: "is a successor" is then one comparison.
    share[v]   on the way back is (t(v) + δ(v)) / σ̂(v), what each of v's predecessors u takes σ̂(u) times.
    successors of the vertices of pushed levels, in queue order, from the forward pass: the way back then reads nothing
               else. Levels that were pulled have none, and are walked back by bitmap.
    scores     are added up block by block of sources, in order, so that the number of threads changes no bit of them.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from hopwave.engines.cpu.graph import NEAR
from hopwave.engines.cpu.intrinsics import (
    COMPILED,
    INNER,
    ONE,
    U0,
    U1,
    U6,
    U63,
    atomic_add,
    compare_and_swap,
    kept_apart,
    ordered_load,
    ordered_store,
    pause,
    prefetch,
    trailing_zeros,
)
from hopwave.engines.cpu.search.loop import LARGEST, choose, rescale_level, set_bits, two_to

UNVISITED = np.int32(2**31 - 1)

# One worker's arrays. levels: begin in the queue, arcs, pulled?, shift; starts: where a vertex's successors begin.
Desk = namedtuple("Desk", "depth sigma share queue starts successors levels visited front")
# What all workers share. scores: one row a block in work, then rows for squares if asked for; total: what is committed.
Task = namedtuple("Task", "sources targets scores total certificate control rule limits")

NEXT_BLOCK, COMMITTED, STOP, LOCK, EXTENDED = 0, 16, 32, 48, 64
READY = 80  # one cell a row of scores
FAILED = 2  # in STOP: a worker raised
CUTOFF, BLOCK, ENDPOINTS, EDGES, SQUARES, DEGREE_BITS, PULLS, BLOCKS, FINDABLE = range(9)
# PULLS: 0 never, 1 by the rule, 2 always


@njit(**INNER)
def push_counting(A, D, begin, end, used, level, arcs):
    """One level forward; successors are written down on the way, as arcs for edge scores. Returns tail and used."""
    kept_apart()
    indptr, indices, depth, sigma = A.indptr, A.indices, D.depth, D.sigma
    queue, starts, successors, scattered = D.queue, D.starts, D.successors, A.scattered
    tail = end
    for i in range(begin, end):
        if scattered and i + 16 < end:
            prefetch(indptr, queue[i + 16])
            prefetch(indices, indptr[queue[i + 8]])
            x = queue[i + 4]
            first = np.int64(indptr[x])
            for j in range(first, min(first + 8, np.int64(indptr[x + ONE]))):
                prefetch(depth, indices[j])
                prefetch(sigma, indices[j])
        u = queue[i]
        paths = sigma[u]
        starts[i] = used
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            there = depth[v]
            if there >= level:
                if there > level:
                    depth[v] = level
                    sigma[v] = paths
                    queue[tail] = v
                    tail += 1
                else:
                    sigma[v] += paths
                successors[used] = j if arcs else v
                used += 1
    starts[end] = used
    return tail, used


@njit(**INNER)
def push_counting_near(A, D, begin, end, used, level, arcs):
    """The same for graphs that fit into the cache, where a wrong guess at a branch costs more than a store in vain.

    Everything is written, and the ends of queue and successors move on only where it was meant.
    """
    kept_apart()
    indptr, indices, depth, sigma = A.indptr, A.indices, D.depth, D.sigma
    queue, starts, successors = D.queue, D.starts, D.successors
    tail = end
    for i in range(begin, end):
        u = queue[i]
        paths = sigma[u]
        starts[i] = used
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            there = depth[v]
            successor = there >= level
            new = there > level
            depth[v] = min(there, level)
            sigma[v] = (0.0 if new else sigma[v]) + (paths if successor else 0.0)
            queue[np.uint64(tail)] = v
            tail += new
            successors[np.uint64(used)] = j if arcs else v
            used += successor
    starts[end] = used
    return tail, used


@njit(**INNER)
def pull_counting(A, D, end, level):
    """One level forward, by the rows of unvisited vertices: every in-neighbour in the frontier counts."""
    kept_apart()
    in_indptr, in_indices, depth, sigma = A.in_indptr, A.in_indices, D.depth, D.sigma
    queue, visited, front = D.queue, D.visited, D.front
    tail = end
    for w in range(visited.size):
        rows = ~visited[w]
        base = np.uint64(w) << U6
        while rows != U0:
            v = base + trailing_zeros(rows)
            rows &= rows - U1
            total = 0.0
            for j in range(np.int64(in_indptr[v]), np.int64(in_indptr[v + U1])):
                u = np.uint64(in_indices[j])
                if (front[u >> U6] >> (u & U63)) & U1:
                    total += sigma[u]
            if total > 0.0:
                depth[v] = level
                sigma[v] = total
                queue[tail] = np.uint32(v)
                tail += 1
    return tail


@njit(**INNER)
def degrees_of(indptr, queue, begin, end):
    """The arcs that leave a level. The offsets it reads are those the level's own push needs next."""
    kept_apart()
    total = 0
    for i in range(begin, end):
        total += np.int64(indptr[queue[i] + ONE]) - np.int64(indptr[queue[i]])
    return total


@njit(**INNER)
def forward(A, D, T, source):
    """All levels from the source. Returns their number, negative where a level's counts span more than float64 does."""
    indptr, queue, levels = A.indptr, D.queue, D.levels
    n = D.depth.size
    m = np.int64(indptr[n])
    bits, pulls = T.limits[DEGREE_BITS], T.limits[PULLS]
    D.depth[source], D.sigma[source], queue[0] = 0, 1.0, np.uint32(source)
    nf, mf = 1, degrees_of(indptr, queue, 0, 1)
    mu = m - mf
    nf0, mf0, last, marked, used, bound = 0, 0, -1, 0, np.int64(0), 0
    levels[0, 0], levels[0, 1], levels[0, 3], levels[1, 0] = 0, mf, 0, 1
    count = 1  # levels found; levels[count, 0] is where the last of them ends
    v = np.uint64(source)
    findable = T.limits[FINDABLE] + np.int64((A.closed[v >> U6] >> (v & U63)) & U1)
    while count <= T.limits[CUTOFF] and levels[count, 0] < findable:
        begin, end = levels[count - 1, 0], levels[count, 0]
        choice = pulls // 2
        if pulls == 1:
            choice = choose(np.int64(T.rule[0]), T.rule[1], T.rule[2], n, m, nf, mf, mu, nf0, mf0, last)
        nf0, mf0, last = nf, mf, choice
        levels[count - 1, 2] = choice
        if choice:
            if marked == 0:
                set_words(D.visited, A.closed)
            set_bits(D.visited, queue, marked, end)
            marked = end
            clear_words(D.front)
            set_bits(D.front, queue, begin, end)
            tail = pull_counting(A, D, end, np.int32(count))
        elif n <= NEAR:
            tail, used = push_counting_near(A, D, begin, end, used, np.int32(count), T.limits[EDGES] != 0)
        else:
            tail, used = push_counting(A, D, begin, end, used, np.int32(count), T.limits[EDGES] != 0)
        nf = tail - end
        if nf == 0:
            break
        mf = degrees_of(indptr, queue, end, tail) if pulls else 0
        mu -= mf
        levels[count, 1], levels[count, 3] = mf, 0
        bound += bits
        if bound + bits > LARGEST:
            bound, shift = rescale_level(D.sigma, queue, end, tail, bits)
            if shift < 0:
                levels[count + 1, 0] = tail
                return -count
            levels[count, 3] = shift
        count += 1
        levels[count, 0] = tail
    return count


@njit(**INNER)
def set_words(words, pattern):
    for w in range(words.size):
        words[w] = pattern[w]


@njit(**INNER)
def clear_words(words):
    for w in range(words.size):
        words[w] = U0


@njit(**INNER)
def back_by_successors(D, begin, end, row, squares, extra, targets, scattered):
    """δ of a level that was pushed: nothing but its successors is read. Returns Σ δ."""
    kept_apart()
    sigma, share, queue, starts, successors = D.sigma, D.share, D.queue, D.starts, D.successors
    total = 0.0
    for i in range(begin, end):
        if scattered and i + 8 < end:
            prefetch(sigma, queue[i + 8])
            prefetch(row, queue[i + 8])
            for p in range(starts[i + 4], min(starts[i + 4] + 8, starts[i + 5])):
                prefetch(share, successors[p])
        u = queue[i]
        gathered = 0.0
        for p in range(starts[i], starts[i + 1]):
            gathered += share[successors[p]]
        delta = sigma[u] * gathered
        weight = 1.0 if targets.size == 0 else targets[u]
        share[u] = (weight + delta) / sigma[u]
        row[u] += delta + extra * weight
        if squares.size:
            squares[u] += delta * delta
        total += delta
    return total


@njit(**INNER)
def back_by_arcs(A, D, begin, end, row, extra, targets):
    """The same, and every arc's share goes to its own score. Returns Σ over the arcs."""
    kept_apart()
    indices, sigma, share, queue = A.indices, D.sigma, D.share, D.queue
    starts, successors = D.starts, D.successors
    total = 0.0
    for i in range(begin, end):
        u = queue[i]
        paths = sigma[u]
        gathered = 0.0
        for p in range(starts[i], starts[i + 1]):
            j = successors[p]
            flow = share[indices[j]]
            row[j] += paths * flow
            gathered += flow
        total += paths * gathered
        weight = 1.0 if targets.size == 0 else targets[u]
        share[u] = (weight + paths * gathered) / paths
    return total


@njit(**INNER)
def back_by_bitmap(A, D, begin, end, stop, fewer, row, squares, extra, targets):
    """δ of a level that was pulled: gathered from successors, or scattered by them, on the side with fewer arcs."""
    kept_apart()
    sigma, share, queue, front = D.sigma, D.share, D.queue, D.front
    total = 0.0
    clear_words(front)
    if fewer:
        indptr, indices = A.indptr, A.indices
        set_bits(front, queue, end, stop)
        for i in range(begin, end):
            if i + 16 < end:
                prefetch(indptr, queue[i + 16])
                prefetch(indices, indptr[queue[i + 8]])
            u = queue[i]
            gathered = 0.0
            for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
                v = np.uint64(indices[j])
                if (front[v >> U6] >> (v & U63)) & U1:
                    gathered += share[v]
            share[u] = gathered
    else:
        in_indptr, in_indices = A.in_indptr, A.in_indices
        set_bits(front, queue, begin, end)
        for i in range(begin, end):
            share[queue[i]] = 0.0
        for i in range(end, stop):
            if i + 16 < stop:
                prefetch(in_indptr, queue[i + 16])
                prefetch(in_indices, in_indptr[queue[i + 8]])
            v = queue[i]
            flow = share[v]
            for j in range(np.int64(in_indptr[v]), np.int64(in_indptr[v + ONE])):
                u = np.uint64(in_indices[j])
                if (front[u >> U6] >> (u & U63)) & U1:
                    share[u] += flow
    for i in range(begin, end):
        u = queue[i]
        delta = sigma[u] * share[u]
        weight = 1.0 if targets.size == 0 else targets[u]
        share[u] = (weight + delta) / sigma[u]
        row[u] += delta + extra * weight
        if squares.size:
            squares[u] += delta * delta
        total += delta
    return total


@njit(**INNER)
def backward(A, D, T, count, row, squares):
    """From the last level back to the source. Returns Σ δ, and what it must be: Σ (d - 1) over the targets."""
    share, queue, levels, targets = D.share, D.queue, D.levels, T.targets
    edges, extra = T.limits[EDGES] != 0, np.float64(T.limits[ENDPOINTS])
    found, due, counted = 0.0, 0.0, 0.0
    for level in range(count - 1, -1, -1):
        begin, end = levels[level, 0], levels[level + 1, 0]
        reached = np.float64(end - begin)
        if targets.size:
            reached = 0.0
            for i in range(begin, end):
                reached += targets[queue[i]]
        if level:
            due += (level if edges else level - 1) * reached
            counted += reached
        if edges:
            if level == count - 1:
                last_level(D, begin, end, row, squares, 0.0, targets)
            else:
                found += back_by_arcs(A, D, begin, end, row, extra, targets)
        elif level == 0:
            row[queue[0]] += extra * counted  # as an end of every path that starts here
        elif level == count - 1:
            last_level(D, begin, end, row, squares, extra, targets)
        elif levels[level, 2]:
            fewer = levels[level, 1] <= levels[level + 1, 1]
            found += back_by_bitmap(A, D, begin, end, levels[level + 2, 0], fewer, row, squares, extra, targets)
        else:
            found += back_by_successors(D, begin, end, row, squares, extra, targets, A.scattered)
        if levels[level, 3]:  # this level was scaled: the one before must see it in its own scale
            factor = 2.0 ** np.float64(-levels[level, 3])
            for i in range(begin, end):
                share[queue[i]] *= factor
    return found, due


@njit(**INNER)
def last_level(D, begin, end, row, squares, extra, targets):
    """No successors: δ is 0."""
    kept_apart()
    sigma, share, queue = D.sigma, D.share, D.queue
    for i in range(begin, end):
        u = queue[i]
        weight = 1.0 if targets.size == 0 else targets[u]
        share[u] = weight / sigma[u]
        if extra != 0.0:
            row[u] += extra * weight


@njit(**INNER)
def forget(depth, queue, reached):
    """Nothing is visited; by the queue where little was."""
    kept_apart()
    if reached < depth.size // 8:
        for i in range(reached):
            depth[queue[i]] = UNVISITED
    else:
        for v in range(depth.size):
            depth[v] = UNVISITED


@njit(**INNER)
def one_source(A, D, T, source, row, squares):
    """A source's share of all scores, added to row. Returns both sides of the certificate."""
    count = forward(A, D, T, source)
    if count < 0:
        forget(D.depth, D.queue, D.levels[1 - count, 0])
        atomic_add(T.control, EXTENDED, 1)
        return extended_source(A, D, T, source, row, squares)
    found, due = backward(A, D, T, count, row, squares)
    forget(D.depth, D.queue, D.levels[count, 0])
    return found, due


@njit(**INNER)
def extended_source(A, D, T, source, row, squares):
    """The same with σ as mantissa · 2^exponent a vertex: slower, and right however much a level spans.

    Only ratios σ(v)/σ(w) ≤ 1 of neighbours are ever formed, so that δ itself needs no exponent.
    """
    kept_apart()
    indptr, indices, queue, targets = A.indptr, A.indices, D.queue, T.targets
    n = D.depth.size
    depth, delta = np.full(n, -1, np.int64), np.zeros(n)
    mantissa, exponent = np.zeros(n), np.zeros(n, np.int64)
    depth[source], mantissa[source], exponent[source] = 0, 0.5, 1
    queue[0] = np.uint32(source)
    tail, i = 1, 0
    while i < tail:
        u = queue[i]
        i += 1
        if depth[u] == T.limits[CUTOFF]:
            break
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            if depth[v] < 0:
                depth[v] = depth[u] + 1
                queue[tail] = v
                tail += 1
            if depth[v] == depth[u] + 1:
                gap = exponent[u] - exponent[v]
                if mantissa[v] == 0.0:
                    mantissa[v], exponent[v] = mantissa[u], exponent[u]
                elif gap > 0:
                    mantissa[v], exponent[v] = mantissa[v] * two_to(-gap) + mantissa[u], exponent[u]
                else:
                    mantissa[v] += mantissa[u] * two_to(gap)
                if mantissa[v] >= 1.0:
                    mantissa[v], exponent[v] = mantissa[v] * 0.5, exponent[v] + 1
    edges, extra = T.limits[EDGES] != 0, np.float64(T.limits[ENDPOINTS])
    found, due, counted = 0.0, 0.0, 0.0
    for i in range(tail - 1, -1, -1):
        u = queue[i]
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            if depth[v] == depth[u] + 1:
                weight = 1.0 if targets.size == 0 else targets[v]
                share = mantissa[u] / mantissa[v] * two_to(min(0, exponent[u] - exponent[v])) * (weight + delta[v])
                delta[u] += share
                if edges:
                    row[j] += share
                    found += share
        weight = 1.0 if targets.size == 0 else targets[u]
        if i > 0:
            due += (depth[u] if edges else depth[u] - 1) * weight
            counted += weight
            if not edges:
                found += delta[u]
                row[u] += delta[u] + extra * weight
                if squares.size:
                    squares[u] += delta[u] * delta[u]
        elif not edges:
            row[u] += extra * counted
    return found, due


@njit(**INNER)
def commit(T):
    """Add finished rows to the total, in the order of their blocks; one worker at a time, nobody waits."""
    kept_apart()
    control, scores, total = T.control, T.scores, T.total
    rows = scores.shape[0]
    while ordered_load(control, READY + ordered_load(control, COMMITTED) % rows) != 0:
        if not compare_and_swap(control, LOCK, 0, 1):
            return  # whoever holds the lock looks again after letting go
        block = ordered_load(control, COMMITTED)
        while ordered_load(control, READY + block % rows) != 0:
            row = scores[block % rows]
            for v in range(row.size):
                total[v] += row[v]
                row[v] = 0.0
            ordered_store(control, READY + block % rows, 0)
            block += 1
            ordered_store(control, COMMITTED, block)
        ordered_store(control, LOCK, 0)


@njit(**COMPILED)
def take_sources(A, D, T):
    """A worker: blocks of sources until none is left. A block has a row of scores of its own until it is committed."""
    control, scores, sources, size = T.control, T.scores, T.sources, T.limits[BLOCK]
    rows, n = scores.shape[0], D.depth.size
    forget(D.depth, D.queue, n)
    while ordered_load(control, STOP) == 0:
        block = atomic_add(control, NEXT_BLOCK, 1)
        if block >= T.limits[BLOCKS]:
            break
        while ordered_load(control, COMMITTED) + rows <= block:  # its row is still another block's
            if ordered_load(control, STOP) & FAILED:
                return  # that block will never be done
            commit(T)
            pause()
        row = scores[block % rows]
        squares = row[n:] if T.limits[SQUARES] else row[:0]
        for i in range(block * size, min((block + 1) * size, sources.size)):
            T.certificate[i, 0], T.certificate[i, 1] = one_source(A, D, T, sources[i], row, squares)
        ordered_store(control, READY + block % rows, 1)
        commit(T)
