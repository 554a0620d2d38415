"""The records of a search, its frontier as a range of the queue and as a bitmap, and the rule that chooses a step."""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import inner, noinline, trailing_zeros
from hopwave.engines.ledger import declare
from hopwave.planning import rules

# A prepared graph (engines/cpu/graph.py). hub[v] is v's in-neighbour of highest degree, or hub is empty. The set bits
# of `closed` are vertices without in-arcs and the padding of the last word; those of `padding` are only the padding.
# unvisited: see search/steps.py.
Adjacency = namedtuple("Adjacency", "indptr indices in_indptr in_indices hub unvisited closed padding")

# The arrays of one search. segments: one row per level in the queue: (its start, its depth, the shift of its path
# counts). sigma is empty if no paths are counted.
Workspace = namedtuple("Workspace", "parent distance queue visited bitmaps buffers segments sigma")

BUFFER = 4096  # found vertices that a worker buffers before it reserves space in the queue
CANDIDATES = 64  # arcs that a worker reads before it claims their heads
BUFFER_CELLS = BUFFER + 4 * CANDIDATES  # per worker: found vertices, candidates, and the vertices that saw them


def workspace_arrays(n, threads):
    """The arrays of a Workspace that consecutive searches use. Each level writes one row of `segments`."""
    words = -(-n // 64)
    return (
        declare(np.uint32, huge=True, queue=n)
        | declare(np.uint64, visited=words, bitmaps=(4, words))
        | declare(np.int64, segments=(n + 3, 3))
        | declare(np.uint32, buffers=(threads, BUFFER_CELLS))
    )


# limits: the deepest level, threads, bits of the largest in-degree, whether a step reads distances during the search,
# the number of vertices with in-arcs (if negative: search until the frontier is empty), and the address of a caller's
# own rule, or 0.
DEPTH_LIMIT, THREADS, DEGREE_BITS, READS_DISTANCES, WITH_IN_ARCS, OWN_RULE = range(6)
# plan: one row per step. rule: its code in hopwave/planning/rules.py and its two parameters.
IS_PULL, STEP_FLAGS, IS_ASYNCHRONOUS = range(3)

# Result of one level: the vertices of the next frontier and their out-arcs; the new vertices, of this level or found
# early, and their arcs; arcs read; vertices of the next level, found early by an asynchronous pull, and their arcs.
Found = namedtuple("Found", "nf mf new new_arcs checked early early_arcs")

# Cells of `here`, which Python reads afterwards: the number of levels computed, of vertices in the last level, of
# vertices reached; rows of `segments` and of the queue; whether a level was too wide for one scale of path counts; rows
# of the trace.
DEPTH, NF, REACHED, SEGMENTS, QUEUE_END, OVERFLOWED, TRACED = range(7)
HERE_CELLS = 7

TRACE_COLUMNS = 9  # depth, choice, nf, mf, mu, found, checked, ahead, nanoseconds


# ------------------------------------------------------------------ rules and frontiers

_always, _beamer, _one_way, _ratio, _xbfs, _growing, _fewer = (inner(function) for function in rules.FUNCTIONS)


@inner
def choose(code, a, b, n, m, nf, mf, mu, nf0, mf0, last):
    if code == 1:
        return _beamer(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 2:
        return _one_way(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 3:
        return _ratio(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 4:
        return _xbfs(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 5:
        return _growing(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 6:
        return _fewer(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    return _always(a, b, n, m, nf, mf, mu, nf0, mf0, last)


@inner
def set_bits(words, queue, begin, end):
    noinline()
    for i in range(np.uint64(begin), np.uint64(end)):
        v = np.uint64(queue[i])
        words[v >> U6] |= U1 << (v & U63)


@inner
def append_bits(words, queue, tail):
    """Append the vertices of a bitmap, ascending, to the queue. Returns the new end."""
    noinline()
    place = np.uint64(tail)
    for w in range(np.uint64(words.size)):
        x = words[w]
        base = w << U6
        while x != U0:
            queue[place] = np.uint32(base + trailing_zeros(x))
            place += U1
            x &= x - U1
    return np.int64(place)


@inner
def merge_words(words, more):
    for w in range(np.uint64(words.size)):
        words[w] |= more[w]


@inner
def mark_frontier(visited, front, queue, marked, begin, end):
    """Bitmaps of visited vertices and of the frontier queue[begin:end]; queue[:marked] is already in the former."""
    noinline()
    front[:] = U0
    set_bits(front, queue, begin, end)
    set_bits(visited, queue, marked, begin)
    merge_words(visited, front)
