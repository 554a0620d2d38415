"""Distances along weights from up to 32 sources at once: an arc is relaxed for all of them by a few vector operations.

    rows[v, s]   length of the shortest known path to v from source number s; `beyond` if none is known within the limit

Vertices wait in a queue, in the order in which an entry of their row fell (Bellman 1958, Moore 1959). In shallow or
small graphs, an arc is relaxed about five times per 32 sources; in deep graphs, one search at a time is faster.
"""

import math
from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.integers import ONE, U0, U1, U6, U8
from hopwave.engines.cpu.intrinsics import inner, noinline, prefetch
from hopwave.engines.cpu.views import allocate
from hopwave.engines.ledger import declare

LANES = np.uint64(policy.SOURCES_AT_ONCE)
# cells: the rows, all `beyond` between searches (a worker first fills them); reached: vertices in the order of their
# first visits; marks: bit 0 of a vertex that waits, bit 1 of one that was visited.
AtOnce = namedtuple("AtOnce", "beyond cells reached marks queue")


def at_once_arrays(n):
    """The arrays of AtOnce for n vertices; 0 if searches are separate."""
    numbers = declare(np.uint32, reached=n, queue=1 << n.bit_length()) | declare(np.uint8, fill=0, marks=n)
    return declare(np.float64, huge=True, cells=n * policy.SOURCES_AT_ONCE) | numbers


def new_at_once(n, limit):
    return AtOnce(math.nextafter(limit, math.inf), **allocate(at_once_arrays(n)))


@inner
def settle_at_once(A, own, sources):
    """Fill the rows of all vertices within the limit. Returns their number; -1 if separate searches are faster."""
    noinline()
    indptr, indices, lengths, cells = A.indptr, A.indices, A.lengths, own.cells
    reached, marks, queue, ring = own.reached, own.marks, own.queue, np.uint64(own.queue.size) - U1
    head, tail, count, visits, arcs, over = U0, U0, 0, U0, U0, False
    for s in range(np.uint64(sources.size)):
        v = sources[s]
        cells[np.uint64(v) * LANES + s] = 0.0
        queue[tail] = v
        tail += np.uint64(marks[v] == 0)
        marks[v] = 1
    while head != tail:
        u = queue[head & ring]
        head += U1
        begin, end, row = np.uint64(indptr[u]), np.uint64(indptr[u + ONE]), np.uint64(u) * LANES
        visits += end - begin
        if marks[u] < 2:
            reached[count] = u
            count += 1
            arcs += end - begin
        marks[u] = 2
        over |= visits > arcs * np.uint64(policy.MOST_VISITS)
        if over:
            continue  # this empties the queue
        for j in range(begin, end):
            v, length, fell = indices[j], lengths[j], U0
            if j + U6 < end:
                ahead = np.uint64(indices[j + U6]) * LANES
                for line in range(U0, LANES, U8):
                    prefetch(cells, ahead + line)
            there = np.uint64(v) * LANES
            for s in range(LANES):
                offer, known = cells[row + s] + length, cells[there + s]
                fell |= np.uint64(offer < known)
                cells[there + s] = offer if offer < known else known
            queue[tail & ring] = v
            tail += fell & ~np.uint64(marks[v])
            marks[v] |= np.uint8(fell)
    for i in range(count):
        marks[reached[i]] = 0
    if over:
        forget_rows(own, count)
        return -1
    return count


@inner
def take_column(own, s, found, d, order):
    """Write distances from source number s to d, and the vertices that it reaches to order; returns their number."""
    noinline()
    count, beyond = 0, own.beyond
    for i in range(found):
        v = own.reached[i]
        x = own.cells[np.uint64(v) * LANES + np.uint64(s)]
        if x < beyond:
            d[v], order[count] = x, v
            count += 1
    return count


@inner
def forget_rows(own, found):
    noinline()
    cells, beyond = own.cells, own.beyond
    for i in range(found):
        row = np.uint64(own.reached[i]) * LANES
        for s in range(LANES):
            cells[row + s] = beyond
