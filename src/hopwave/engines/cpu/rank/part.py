"""A rank's part of a graph on the CPU: the compiled loops of a distributed search (hopwave.distributed.search).

Rows are tails with their heads (`out`) and heads with their tails (`into`), all named by slots (distributed/layout.py).
Bitmaps are words of 64 slots. Loops without an order among them are shared by threads; a thread takes whole words, or
sets bits atomically.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numba import njit

from hopwave.engines.cpu.intrinsics import COMPILED, INNER, U0, U1, U6, U63, atomic_or, count_ones, trailing_zeros

CHUNKS = 4  # pieces of work a thread: arcs are not spread evenly
WORTH_SHARING = 1 << 14  # rows or arcs below which one thread is enough


@njit(**COMPILED)
def set_places(words, places):
    """Set these bits of a bitmap."""
    for i in range(places.size):
        place = np.uint64(places[i])
        words[place >> U6] |= U1 << (place & U63)


@njit(**COMPILED)
def list_places(words):
    """The set bits of a bitmap, ascending."""
    count = 0
    for w in range(words.size):
        count += count_ones(words[w])
    places = np.empty(count, np.int64)
    at = 0
    for w in range(words.size):
        x = words[w]
        while x != U0:
            places[at] = np.int64((np.uint64(w) << U6) + trailing_zeros(x))
            at += 1
            x &= x - U1
    return places


@njit(**COMPILED)
def push_rows(offsets, heads, frontier, begin, end, sent, found, parents):
    """The heads of these rows that nobody sent before, each with the row it was met in. Returns their number."""
    count = 0
    for i in range(begin, end):
        tail = np.int64(frontier[i])
        for j in range(offsets[tail], offsets[tail + 1]):
            head = np.uint64(heads[j])
            bit = U1 << (head & U63)
            if sent[head >> U6] & bit == U0 and atomic_or(sent, head >> U6, bit) & bit == U0:
                found[count] = heads[j]
                parents[count] = frontier[i]
                count += 1
    return count


@njit(**COMPILED)
def pull_rows(offsets, tails, first, begin, end, closed, front, parents):
    """For each open row of some words, the first of its tails in the frontier. Returns rows found and arcs seen.

    first: the slot of the segment's first row; parents[row] is set where one was found, and its bit in closed.
    """
    found, checked = 0, 0
    for w in range(begin, end):
        open_rows = ~closed[w]
        new = U0
        while open_rows != U0:
            bit = trailing_zeros(open_rows)
            open_rows &= open_rows - U1
            row = np.int64((np.uint64(w) << U6) + bit)
            start, stop = offsets[first + row], offsets[first + row + 1]
            j = start
            while j < stop:
                tail = np.uint64(tails[j])
                j += 1
                if (front[tail >> U6] >> (tail & U63)) & U1:
                    parents[row] = tails[j - 1]
                    new |= U1 << bit
                    found += 1
                    break
            checked += j - start
        closed[w] |= new
    return found, checked


@njit(**COMPILED)
def claim_rows(heads, parents, visited, parent, kept):
    """Mark these vertices, unless visited; kept says which were new. Returns their number."""
    count = 0
    for i in range(heads.size):
        head = np.uint64(heads[i])
        bit = U1 << (head & U63)
        if visited[head >> U6] & bit == U0:
            visited[head >> U6] |= bit
            if parents.size:
                parent[heads[i]] = parents[i]
            kept[count] = heads[i]
            count += 1
    return count


@njit(**COMPILED)
def hubs_first(offsets, tails, weight):
    """Put each row's heaviest tail first: most pulls then end at their first look."""
    for row in range(offsets.size - 1):
        start = offsets[row]
        best = start
        for j in range(start, offsets[row + 1]):
            if weight[tails[j]] > weight[tails[best]]:
                best = j
        if best > start:
            tails[start], tails[best] = tails[best], tails[start]


@njit(**INNER)
def note(wrong, rule, row, tail):
    """One more arc that breaks a rule; the first is remembered."""
    if wrong[rule, 0] == 0:
        wrong[rule, 1], wrong[rule, 2] = row, np.int64(tail)
    wrong[rule, 0] += 1


@njit(**COMPILED)
def check_rows(offsets, tails, first, levels, tail_levels, parents, linked, wrong):
    """The rules about arcs, for rows from slot `first` on, one a level. wrong: a row of (count, row, tail) a rule."""
    for row in range(levels.size):
        level = np.int64(levels[row])
        for j in range(offsets[first + row], offsets[first + row + 1]):
            tail = tails[j]
            above = np.int64(tail_levels[tail])
            if above >= 0 and level < 0:
                note(wrong, 1, row, tail)  # the tail was reached, the head was not
            elif above >= 0 and level > above + 1:
                note(wrong, 0, row, tail)  # a level is skipped
            if np.int64(tail) == parents[row]:
                linked[row] = 1
                if level >= 0 and above + 1 != level:
                    note(wrong, 2, row, tail)  # a tree arc that joins other levels


class Part:
    """The arrays of one rank, and what a search does to them. The same face as the CUDA engine's rank/part.Part."""

    xp = np
    device = "cpu"

    def __init__(self, out, into, threads):
        (self.out_offsets, self.heads), (self.in_offsets, self.tails) = out, into
        self.threads = max(1, threads)
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def _shared(self, work, cuts):
        """work(begin, end) for every stretch between cuts, on all threads; the answers in order."""
        stretches = list(pairwise(cuts))
        if self._pool is None or len(stretches) == 1:
            return [work(begin, end) for begin, end in stretches]
        return list(self._pool.map(lambda stretch: work(*stretch), stretches))

    def tidy(self):
        """Host memory goes back by itself."""

    def finish(self):
        """Nothing is left under way when a loop returns."""

    def push(self, frontier, sent):
        """New (heads, tails), in no order, one for each head; their bits in sent are set."""
        degrees = self.out_offsets[frontier.astype(np.int64) + 1] - self.out_offsets[frontier.astype(np.int64)]
        arcs = np.concatenate([[0], np.cumsum(degrees)])
        pieces = self.threads * CHUNKS if arcs[-1] > WORTH_SHARING and self.threads > 1 else 1
        cuts = np.searchsorted(arcs, np.linspace(0, arcs[-1], pieces + 1)).tolist()
        cuts[0], cuts[-1] = 0, len(frontier)

        def work(begin, end):
            room = int(arcs[end] - arcs[begin])
            found, parents = np.empty(room, self.heads.dtype), np.empty(room, frontier.dtype)
            count = push_rows(self.out_offsets, self.heads, frontier, begin, end, sent, found, parents)
            return found[:count], parents[:count]

        parts = self._shared(work, cuts)
        return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))

    def pull(self, first, closed, front, parents):
        """Rows from slot `first` on: parents of those found, their bits in closed. Returns how many, and arcs seen."""
        words = len(closed)
        pieces = self.threads * CHUNKS if words * 64 > WORTH_SHARING and self.threads > 1 else 1
        cuts = np.linspace(0, words, pieces + 1).astype(np.int64).tolist()
        sums = self._shared(
            lambda begin, end: pull_rows(self.in_offsets, self.tails, first, begin, end, closed, front, parents), cuts
        )
        return sum(found for found, _ in sums), sum(checked for _, checked in sums)

    def claim(self, heads, parents, visited, parent):
        """Those of the own vertices `heads` that were not visited; parent (an array, or None) is set for them."""
        kept = np.empty(len(heads), np.int64)
        given = np.empty(0, np.int64) if parent is None else parents
        target = np.empty(0, np.int64) if parent is None else parent
        return kept[: claim_rows(heads, given, visited, target, kept)]

    def hubs_first(self, weight):
        """Arrange the rows of `into`."""
        hubs_first(self.in_offsets, self.tails, weight)

    def check(self, levels, tail_levels, parents, linked):
        """See check_rows; all rows."""
        wrong = np.zeros((3, 3), np.int64)
        check_rows(self.in_offsets, self.tails, 0, levels, tail_levels, parents, linked, wrong)
        return wrong

    def lengths(self, out_names, into_names, n, start):
        """Lengths for all arcs: see Lengths."""
        from hopwave.engines.cpu.rank.lengths import Lengths

        return Lengths(self, out_names, into_names, n, start)
