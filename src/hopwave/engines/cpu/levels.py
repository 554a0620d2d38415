"""Whether all arcs of a graph keep the rules of a search, compiled and on all cores (api/validate.py has the rules)."""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import FOUND, NEXT_CHUNK, share
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, atomic_add, ordered_add
from hopwave.engines.cpu.views import unsigned_rows
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


def all_arcs_fit(graph, levels, tree, limit, found):
    """Whether no arc skips a level or leaves what was reached; sets found, one byte per vertex (see look_at_arcs)."""
    levels, tree = levels.astype(np.int32, copy=False), np.empty(0, np.int32) if tree is None else tree
    most = np.iinfo(np.int64).max if limit is None else limit
    given = *unsigned_rows(graph), levels, tree.astype(np.int32, copy=False), most, found.view(np.uint8)
    with compiling(look_at_arcs):
        return share(look_at_arcs, given, graph.n, graph.m, None)[FOUND] == 0
