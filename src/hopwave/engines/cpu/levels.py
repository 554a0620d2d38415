"""Whether all arcs of a graph keep the rules of a search, compiled and on all cores (api/validate.py has the rules)."""

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import FOUND, NEXT_CHUNK, share
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, atomic_add, ordered_add
from hopwave.engines.cpu.views import read_only, unsigned_rows
from hopwave.system.numba_cache import njit


@njit(**COMPILED)
def look_at_arcs(indptr, indices, levels, tree, limit, found, end, size, board):
    """found[v] = 1 if an arc leads to v from its predecessor, or without a tree from the level above it.

    FOUND on the board counts arcs that skip a level, and those that lead out of what was reached.
    """
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


@njit(**COMPILED)
def judge_vertices(levels, tree, is_source, limit, found):
    """How many vertices have a level or a predecessor that they cannot have; found[v] = 1 if v needs no arc.

    A predecessor is one level above: so predecessors have no cycle, and lead to a source.
    """
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
    """Whether levels, and predecessors if they are given, obey the rules of a search. All are int32; sources: ids."""
    is_source, found = np.zeros(graph.n, np.bool_), np.empty(graph.n, np.uint8)
    is_source[sources] = True
    levels, tree = read_only(levels), read_only(np.empty(0, np.int32) if tree is None else tree)
    limit = np.iinfo(np.int64).max if limit is None else limit
    with compiling(look_at_arcs):
        if judge_vertices(levels, tree, is_source, limit, found):
            return False
        board = share(look_at_arcs, (*unsigned_rows(graph), levels, tree, limit, found), graph.n, graph.m, None)
    return board[FOUND] == 0 and bool(found.all())
