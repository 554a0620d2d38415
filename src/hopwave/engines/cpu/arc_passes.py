"""Passes over all arcs on all cores: the rules of a search (api/validate.py), arcs within a side or a community."""

import numpy as np

from hopwave.engines.cpu.crew import FOUND, NEXT_CHUNK, share
from hopwave.engines.cpu.integers import ONE, U1
from hopwave.engines.cpu.intrinsics import atomic_add, compare_and_swap, ordered_add, outer
from hopwave.engines.cpu.views import read_only, unsigned_rows

SHARE_OF_LOOK = 16  # the search for a triangle inspects at most 1/16 of all arcs


@outer
def look_at_arcs(indptr, indices, levels, tree, limit, found, end, size, board):
    """found[v] = 1 if an arc from its predecessor, or the level above, leads to v; board[FOUND] counts wrong arcs."""
    wrong = 0
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for u in range(begin, min(begin + size, end)):
            u = np.uint32(u)
            level = levels[u]
            for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                v = indices[j]
                there = levels[v]
                wrong += level >= 0 and (there > level + 1 or (there == -1 and level < limit))
                if np.int64(tree[v]) == np.int64(u) if tree.size else level >= 0 and there == level + 1:
                    found[v] = 1
    ordered_add(board, FOUND, wrong)


@outer
def judge_vertices(levels, tree, is_source, limit, found):
    """The number of vertices with an impossible level or predecessor; found[v] = 1 if v needs no arc."""
    wrong, n = 0, levels.size
    for v in range(n):
        level = levels[v]
        if is_source[v]:
            wrong += level != 0 or (tree.size > 0 and tree[v] != v)
        elif level == -1:
            wrong += tree.size > 0 and tree[v] != -1
        else:
            wrong += level <= 0 or level > limit
            if tree.size:
                wrong += not 0 <= tree[v] < n or levels[tree[v]] != level - 1
        found[v] = is_source[v] or level == -1
    return wrong


def obeys(graph, levels, tree, sources, limit):
    """Whether levels, and predecessors if passed, obey the rules of a search. All are int32; sources: ids."""
    is_source, found = np.zeros(graph.n, np.bool_), np.empty(graph.n, np.uint8)
    is_source[sources] = True
    levels, tree = read_only(levels), read_only(np.empty(0, np.int32) if tree is None else tree)
    limit = np.iinfo(np.int64).max if limit is None else limit
    if judge_vertices(levels, tree, is_source, limit, found):
        return False
    board = share(look_at_arcs, (*unsigned_rows(graph), levels, tree, limit, found), graph.n, graph.m, None)
    return board[FOUND] == 0 and bool(found.all())


@outer
def look_within(indptr, indices, distances, first, end, size, board):
    """first[0] = the lowest vertex with an arc whose endpoints have distances of the same parity; both were reached."""
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= min(end, first[0]):
            break
        for u in range(begin, min(begin + size, end)):
            u = np.uint32(u)
            if distances[u] < 0:
                continue
            for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                d = distances[indices[j]]
                if d >= 0 and (d ^ distances[u]) & 1 == 0:
                    before = first[0]
                    while np.int64(u) < before and not compare_and_swap(first, 0, before, np.int64(u)):
                        before = first[0]
                    return


@outer
def is_in_triangle(indptr, indices, hub, marks, most):
    """Whether two neighbours of a vertex are adjacent, tested with at most `most` lookups. marks: one 0 per vertex."""
    first, last = np.uint64(indptr[hub]), np.uint64(indptr[hub + ONE])
    for j in range(first, last):
        marks[indices[j]] = 1
    marks[hub] = 0
    for j in range(first, last):
        u = np.uint64(indices[j])
        for i in range(np.uint64(indptr[u]), np.uint64(indptr[u + U1])):
            if marks[indices[i]] and np.uint64(indices[i]) != u and u != np.uint64(hub):
                return True
        most -= np.int64(indptr[u + U1]) - np.int64(indptr[u])
        if most < 0:
            break
    return False


def shows_triangle(graph, hub):
    rows = unsigned_rows(graph)
    return is_in_triangle(*rows, np.uint32(hub), np.zeros(graph.n, np.uint8), graph.m // SHARE_OF_LOOK)


def arc_within(graph, distances):
    """The first arc (u, v) whose endpoints were reached at distances of the same parity, or None."""
    first = np.full(1, graph.n)
    share(look_within, (*unsigned_rows(graph), distances, first), graph.n, graph.m, None)
    u = int(first[0])
    if u == graph.n:
        return None
    row = graph.indices[graph.indptr[u] : graph.indptr[u + 1]]
    same = (distances[row] >= 0) & ((distances[row] ^ distances[u]) & 1 == 0)
    return u, int(row[np.argmax(same)])


@outer
def count_within(indptr, indices, label, end, size, board):
    found = 0
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for u in range(begin, min(begin + size, end)):
            u = np.uint32(u)
            for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                found += label[indices[j]] == label[u]
    ordered_add(board, FOUND, found)


def arcs_within(graph, label):
    board = share(count_within, (*unsigned_rows(graph), label.astype(np.int32)), graph.n, graph.m, None)
    return board[FOUND]
