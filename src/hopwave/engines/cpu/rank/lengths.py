"""Arcs with lengths in one rank's part of a graph, on the CPU: the loops of distributed/delta_stepping.py.

Lengths and distances are whole numbers, so that sums are exact. A group of ranks names its vertices by slots; `starts`
are the slots where its ranges begin, and a slot of range r plus shifts[r] is the vertex's id.
"""

import numpy as np

from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import COMPILED, INNER
from hopwave.engines.cpu.splitmix import WEYL, mix
from hopwave.system.numba_cache import njit

NEVER = np.int64(1 << 62)  # the distance of what was not reached
U40 = np.uint64(40)


@njit(**INNER)
def id_of(slot, starts, shifts):
    """The vertex in a slot."""
    low, high = 0, starts.size - 1
    while low < high:
        middle = (low + high + 1) // 2
        if starts[middle] <= slot:
            low = middle
        else:
            high = middle - 1
    return np.uint64(slot + shifts[low])


@njit(**COMPILED)
def draw_rows(offsets, neighbours, rows, columns, n, start, lengths):
    """graph500.shortest.lengths of every arc. rows, columns: (starts, shifts) for slots of rows and of neighbours."""
    for row in range(offsets.size - 1):
        u = id_of(row, rows[0], rows[1])
        for j in range(offsets[row], offsets[row + 1]):
            v = id_of(np.int64(neighbours[j]), columns[0], columns[1])
            lengths[j] = (mix((min(u, v) * n + max(u, v)) * WEYL + start + WEYL) >> U40) + U1


@njit(**COMPILED)
def relax_rows(offsets, heads, lengths, rows, distances, best, who, touched, found):
    """Offer every head of these rows the way through its row. Lists the heads for which it is the shortest so far."""
    count = 0
    for i in range(rows.size):
        tail = np.int64(rows[i])
        for j in range(offsets[tail], offsets[tail + 1]):
            head = np.uint64(heads[j])
            offer = distances[i] + np.int64(lengths[j])
            if offer >= best[head]:
                continue
            best[head], who[head] = offer, tail
            bit = U1 << (head & U63)
            if touched[head >> U6] & bit == U0:
                touched[head >> U6] |= bit
                found[count] = np.int64(head)
                count += 1
    return count


@njit(**COMPILED)
def check_rows(offsets, tails, lengths, distances, tail_distances, parents, linked, wrong):
    """Count arcs that break a rule: a shorter way, a head that was not reached, a tree arc of the wrong length."""
    for row in range(offsets.size - 1):
        here = distances[row]
        for j in range(offsets[row], offsets[row + 1]):
            tail = np.int64(tails[j])
            above = tail_distances[tail]
            by = above + np.int64(lengths[j])
            if above != NEVER and here == NEVER:
                wrong[1] += 1
            elif above != NEVER and here > by:
                wrong[0] += 1
            if tail == parents[row]:
                linked[row] = 1
                if here != NEVER and (above == NEVER or by != here):
                    wrong[2] += 1


class Lengths:
    """The lengths of a Part's arcs, and what shortest paths do with them. The same methods as the CUDA engine's."""

    def __init__(self, part, out_names, into_names, n, start):
        self.part = part
        self.out = self._drawn(part.out_offsets, part.heads, *out_names, n, start)
        same = part.tails is part.heads
        self.into = self.out if same else self._drawn(part.in_offsets, part.tails, *into_names, n, start)

    @staticmethod
    def _drawn(offsets, neighbours, rows, columns, n, start):
        lengths = np.empty(len(neighbours), np.uint32)
        draw_rows(offsets, neighbours, rows, columns, np.uint64(n), np.uint64(start), lengths)
        return lengths

    def relax(self, rows, distances, best, who, touched):
        """Heads that got a shorter way, in no order; best and who are set for them. touched is 0 before and after."""
        part = self.part
        found = np.empty(min(len(best), int((part.out_offsets[rows + 1] - part.out_offsets[rows]).sum())), np.int64)
        count = relax_rows(part.out_offsets, part.heads, self.out, rows, distances, best, who, touched, found)
        touched[found[:count] >> 6] = 0
        return found[:count]

    def check(self, distances, tail_distances, parents, linked):
        """See check_rows: three counts."""
        wrong, part = np.zeros(3, np.int64), self.part
        check_rows(part.in_offsets, part.tails, self.into, distances, tail_distances, parents, linked, wrong)
        return wrong.tolist()
