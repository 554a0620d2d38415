"""The rows of a graph without their long arcs: searches along weights look at the short ones first.

A path that is shorter than Δ has no arc of length Δ or more. So the vertices within Δ of the nearest that is not yet
settled are found by short arcs alone (Meyer and Sanders, Δ-stepping, 2003), and by then most vertices of a graph with
hubs are settled: they leave few long arcs that anybody has to look at.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import NEXT_CHUNK, share
from hopwave.engines.cpu.intrinsics import COMPILED, atomic_add
from hopwave.engines.cpu.views import read_only
from hopwave.system.numba_cache import njit

ShortArcs = namedtuple("ShortArcs", "indptr indices lengths")


def short_length(lengths):
    """Δ, and the share of the arcs that are shorter: few, or none, where many lengths are equal."""
    some = lengths[:: max(1, len(lengths) // policy.LENGTHS_LOOKED_AT)]
    delta = float(np.quantile(some, policy.SHORT_SHARE, method="higher"))
    return delta, float(np.mean(some < delta))


def short_arcs(indptr, indices, lengths, threads):
    """The arcs shorter than Δ, and Δ."""
    delta, _ = short_length(lengths)
    starts, nothing = np.zeros(len(indptr), indptr.dtype), (np.empty(0, indices.dtype), np.empty(0))
    with compiling(take_short):
        for to in (nothing, None):
            if to is None:
                np.cumsum(starts, out=starts)
                to = np.empty(int(starts[-1]), indices.dtype), np.empty(int(starts[-1]))
            share(take_short, ((indptr, indices, lengths), delta, starts, to), len(indptr) - 1, len(indices), threads)
    return ShortArcs(*map(read_only, (starts, *to))), delta


@njit(**COMPILED)
def take_short(rows, delta, starts, to, end, chunk, board):
    """Copy the arcs shorter than delta of all rows, or count those of row u in starts[u + 1] while `to` is empty."""
    indptr, indices, lengths = rows
    while True:
        begin = atomic_add(board, NEXT_CHUNK, chunk)
        if begin >= end:
            break
        for u in range(begin, min(begin + chunk, end)):
            place = np.uint64(starts[u]) if to[1].size else np.uint64(0)
            for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + 1])):
                if lengths[j] < delta:
                    if to[1].size:
                        to[0][place], to[1][place] = indices[j], lengths[j]
                    place += np.uint64(1)
            if to[1].size == 0:
                starts[u + 1] = place
