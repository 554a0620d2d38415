"""Connected components on the CPU, compiled, numbered by their lowest vertex: vertex 0 is in component 0.

Strong components by Tarjan's algorithm, on one core. Weak components on all threads (Sutton, Ben-Nun and Barak,
Optimizing parallel graph connectivity computation via subgraph sampling, 2018, "Afforest"): every vertex has a parent
that is not higher; an arc hooks the higher root under the lower. The tree that is largest after a few arcs is skipped.

    HOOK     every vertex under its first neighbour, if that is lower: no other thread writes there
    LINK     along the next arc of every vertex
    FINISH   along all other arcs, except in the largest tree
    COUNT    every vertex directly under its root; list the roots of a block in its part of `label`
    NUMBER   number the roots of a block
    LABEL    write the number of its root to every vertex
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import crew, team
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import compare_and_swap, inner, noinline, outer, prefetch
from hopwave.engines.cpu.views import new_array, unsigned_rows

# NumPy's integers, not Python's, for each of which Numba would compile a separate version.
HOOK, LINK, FINISH, COUNT, NUMBER, LABEL = (np.int64(kind) for kind in range(6))
ZERO, ONE_EACH = np.int64(0), np.int64(1)
SAMPLE = 128  # sampled vertices that show the largest tree
BLOCK, BLOCKS = 4096, 64  # minimum vertices per block, maximum blocks: a chain passes through each
AHEAD = np.uint64(8)  # prefetch distance (vertices) for parents

# The arrays of a run: parents, in the memory of `copy`; the result twice; per block of vertices the number of its
# roots; later, in `first`, the number of its first root.
Forest = namedtuple("Forest", "parent label copy roots first")


@inner
def root_of(parent, v):
    """The root of a vertex; shortens the path to it. Other threads write only roots."""
    while True:
        above = parent[v]
        if above == v:
            return v
        higher = parent[above]
        if higher == above:
            return above
        parent[v] = higher
        v = higher


@inner
def link(parent, u, v):
    a, b = root_of(parent, u), root_of(parent, v)
    while a != b:
        if a < b:
            a, b = b, a
        if compare_and_swap(parent, a, a, b):
            return
        a, b = root_of(parent, a), root_of(parent, b)


@inner
def hook_block(indptr, indices, parent, begin, end):
    noinline()
    for v in range(begin, end):
        first, lowest = indptr[v], np.uint32(v)
        if first < indptr[v + U1] and indices[first] < lowest:
            lowest = indices[first]
            if lowest >= begin:  # its parent is already known: chains end at the start of a block
                lowest = parent[lowest]
        parent[v] = lowest


@inner
def link_block(indptr, indices, parent, begin, end):
    noinline()
    for v in range(begin, end):
        second = np.uint64(indptr[v]) + U1
        if v + AHEAD < end and np.uint64(indptr[v + AHEAD]) + U1 < np.uint64(indices.size):
            prefetch(parent, indices[np.uint64(indptr[v + AHEAD]) + U1])
        if second < np.uint64(indptr[v + U1]):
            link(parent, np.uint32(v), indices[second])


@inner
def finish_block(indptr, indices, parent, largest, begin, end):
    """Link vertices [begin, end) by all their arcs, except vertices of the largest tree (-1: unknown)."""
    noinline()
    for v in range(begin, end):
        j, last = np.uint64(indptr[v]), np.uint64(indptr[v + U1])
        if largest >= 0:
            root = root_of(parent, np.uint32(v))
            if root == largest or root == root_of(parent, np.uint32(largest)):
                continue
        while j < last:
            link(parent, np.uint32(v), indices[j])
            j += U1


@inner
def work(A, W, board, me):
    noinline()
    kind, region, parent, label = board[crew.JOB_KIND], me, W.parent, W.label
    n, blocks = parent.size, W.roots.size
    while True:
        block, _, region = crew.next_of_regions(board, region)
        if region < 0:
            return
        begin, end = np.uint64(n * block // blocks), np.uint64(n * (block + 1) // blocks)
        if kind == HOOK:
            hook_block(A.indptr, A.indices, parent, begin, end)
        elif kind == LINK:
            link_block(A.indptr, A.indices, parent, begin, end)
        elif kind == FINISH:
            finish_block(A.indptr, A.indices, parent, board[crew.JOB_WHICH], begin, end)
        elif kind == COUNT:
            count = U0
            for v in range(begin, end):
                if v + AHEAD < end:
                    prefetch(parent, parent[v + AHEAD])
                root = root_of(parent, np.uint32(v))
                parent[v] = root
                if np.uint64(root) == v:
                    label[begin + count] = np.int32(root)
                    count += U1
            W.roots[block] = np.int64(count)
        elif kind == NUMBER:
            for i in range(W.roots[block] - 1, -1, -1):  # a root is never before its index in the list
                label[label[begin + np.uint64(i)]] = W.first[block] + i
        else:
            for v in range(begin, end):
                label[v] = W.copy[v] = label[parent[v]]


by_regions = team.regions(work)


@inner
def together(A, W, board, kind, which, threads):
    by_regions(A, W, board, kind, W.roots.size, ONE_EACH, ZERO, ZERO, which, threads)


@inner
def largest_tree(parent):
    """The most frequent root of an evenly spread sample of vertices."""
    n, some = parent.size, min(SAMPLE, parent.size)
    roots = np.empty(SAMPLE, np.uint32)
    for i in range(some):
        roots[i] = root_of(parent, np.uint32(i * n // some))
    found, most = roots[0], 0
    for i in range(some):
        votes = 0
        for k in range(some):
            votes += roots[k] == roots[i]
        if votes > most:
            found, most = roots[i], votes
    return np.int64(found)


@inner
def lead(A, W, board, undirected, threads):
    together(A, W, board, HOOK, ZERO, threads)
    together(A, W, board, LINK, ZERO, threads)
    together(A, W, board, FINISH, largest_tree(W.parent) if undirected else np.int64(-1), threads)
    together(A, W, board, COUNT, ZERO, threads)
    number = 0
    for block in range(W.roots.size):
        number, W.first[block] = number + W.roots[block], number
    together(A, W, board, NUMBER, ZERO, threads)
    together(A, W, board, LABEL, ZERO, threads)


part_of = team.led(lead, work)


@outer
def hook(A, W, board, undirected, threads, team_cells, helpers, me):
    part_of(A, W, board, (undirected, threads), team_cells, helpers, me)


def components(graph, strong):
    """The component number of every vertex, int32: two equal arrays, one to cache and one to return."""
    n, A = graph.n, unsigned_rows(graph)
    if n == 0 or (strong and graph.directed):
        label = np.empty(n, np.int32)
        tarjan(*A, label)
        return label, label.copy()
    label, copy = new_array(n, np.int32), new_array(n, np.int32)
    W = Forest(copy.view(np.uint32), label, copy, *np.empty((2, max(1, min(n // BLOCK, BLOCKS))), np.int64))
    threads = team.size_for(n + graph.m)
    part = A, W, crew.new_board(), not graph.directed, threads
    team.lead(threads - 1, hook, part, A.indptr.itemsize)
    return label, copy


# ------------------------------------------------------------------ strong components


@outer
def close_components(indptr, indices, label):
    """Tarjan (1972): labels in reverse topological order; low: the earliest vertex on the stack in reach."""
    n = label.size
    time = np.zeros(n, np.uint32)
    low = np.zeros(n, np.uint32)
    arc = indptr[:n].copy()  # the next arc of v to follow
    path = np.empty(n, np.uint32)  # from the root down to the current vertex
    stack = np.empty(n, np.uint32)
    label[:] = -1
    clock = np.uint32(0)
    height, found = 0, 0
    for root in range(n):
        if time[root] != 0:
            continue
        deep = 0
        entering = np.uint32(root)
        while True:
            clock += ONE
            time[entering] = low[entering] = clock
            path[deep] = entering
            deep += 1
            stack[height] = entering
            height += 1
            descended = False
            while deep > 0 and not descended:
                v = path[deep - 1]
                lowest = low[v]
                j = arc[v]
                end = indptr[v + ONE]
                while j < end:
                    w = indices[j]
                    j += ONE
                    if time[w] == 0:
                        entering = w
                        descended = True
                        break
                    if label[w] < 0:  # still on the stack
                        lowest = min(lowest, time[w])
                arc[v] = j
                low[v] = lowest
                if descended:
                    break
                deep -= 1
                if deep > 0:
                    above = path[deep - 1]
                    low[above] = min(low[above], lowest)
                if lowest == time[v]:
                    while True:
                        height -= 1
                        w = stack[height]
                        label[w] = found
                        if w == v:
                            break
                    found += 1
            if not descended:
                break
    return found


@outer
def tarjan(indptr, indices, label):
    found = close_components(indptr, indices, label)
    number = np.full(found, -1, np.int32)
    count = 0
    for v in range(label.size):
        if number[label[v]] < 0:
            number[label[v]] = count
            count += 1
        label[v] = number[label[v]]
