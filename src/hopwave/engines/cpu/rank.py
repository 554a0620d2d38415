"""One rank's part of a graph on the CPU: the compiled loops of distributed searches (hopwave.distributed)."""

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import CHECKED, FOUND, NEXT_CHUNK, TAIL, share
from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import atomic_add, atomic_or, count_ones, inner, ordered_add, outer, trailing_zeros
from hopwave.engines.cpu.path_counts import add_scaled
from hopwave.engines.cpu.splitmix import WEYL, mix

# ------------------------------------------------------------------ searches

BUFFER = 1024  # found heads that a thread buffers before it reserves space for them
SORTED_TOGETHER = 1 << 20  # rows whose arcs are sorted at a time: limits memory, and keeps row · slots small


@outer
def set_places(words, places):
    for i in range(places.size):
        place = np.uint64(places[i])
        words[place >> U6] |= U1 << (place & U63)


@outer
def count_places(words):
    count = 0
    for w in range(words.size):
        count += count_ones(words[w])
    return count


@outer
def list_places(words):
    places = np.empty(count_places(words), np.int64)
    at = 0
    for w in range(words.size):
        x = words[w]
        while x != U0:
            places[at] = np.int64((np.uint64(w) << U6) + trailing_zeros(x))
            at += 1
            x &= x - U1
    return places


@inner
def flush(heads, tails, kept, found, parents, board):
    """Move a thread's finds to the next free indices, which the board counts."""
    place = atomic_add(board, TAIL, kept)
    for i in range(kept):
        found[place + i] = heads[i]
        parents[place + i] = tails[i]


@outer
def push_rows(offsets, heads, frontier, sent, found, parents, end, size, board):
    """Unsent heads of the frontier's rows, each with the row that found it; board[TAIL] counts, `sent` is set."""
    kept_heads, kept_tails = np.empty(BUFFER, found.dtype), np.empty(BUFFER, parents.dtype)
    kept = 0
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(begin, min(begin + size, end)):
            tail = np.int64(frontier[i])
            for j in range(offsets[tail], offsets[tail + 1]):
                head = np.uint64(heads[j])
                bit = U1 << (head & U63)
                if sent[head >> U6] & bit == U0 and atomic_or(sent, head >> U6, bit) & bit == U0:
                    if kept == BUFFER:
                        flush(kept_heads, kept_tails, kept, found, parents, board)
                        kept = 0
                    kept_heads[kept] = heads[j]
                    kept_tails[kept] = frontier[i]
                    kept += 1
    flush(kept_heads, kept_tails, kept, found, parents, board)


@outer
def pull_rows(offsets, tails, first, closed, front, parents, all_rows, early_exit, end, size, board):
    """A tail in `front` of each open row becomes its parent. first: the first row's slot; all_rows: reads all."""
    found, checked = 0, 0
    last = offsets.size - 1 - first
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for w in range(begin, min(begin + size, end)):
            mask = ~closed[w]
            rows = ~U0 if all_rows else mask
            new = U0
            while rows != U0:
                bit = trailing_zeros(rows)
                rows &= rows - U1
                row = np.int64((np.uint64(w) << U6) + bit)
                if row >= last:
                    break
                start, stop = offsets[first + row], offsets[first + row + 1]
                j, hit = start, start - 1
                while j < stop:
                    tail = np.uint64(tails[j])
                    j += 1
                    if (front[tail >> U6] >> (tail & U63)) & U1:
                        hit = j - 1
                        if early_exit:
                            break
                checked += j - start
                if hit >= start and (mask >> bit) & U1:
                    parents[row] = tails[hit]
                    new |= U1 << bit
                    found += 1
            closed[w] |= new
    ordered_add(board, FOUND, found)
    ordered_add(board, CHECKED, checked)


@outer
def claim_rows(heads, parents, visited, parent, kept):
    """Mark these vertices, unless visited; kept: whether each was new. Returns the number of new vertices."""
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


@outer
def hubs_first(offsets, tails, weight):
    """Put each row's tail of largest weight first: most pulls then end at the first tail."""
    for row in range(offsets.size - 1):
        start = offsets[row]
        best = start
        for j in range(start, offsets[row + 1]):
            if weight[tails[j]] > weight[tails[best]]:
                best = j
        if best > start:
            tails[start], tails[best] = tails[best], tails[start]


@inner
def note(wrong, rule, row, tail):
    """Count one more arc that violates a rule; the first is stored."""
    if wrong[rule, 0] == 0:
        wrong[rule, 1], wrong[rule, 2] = row, tail
    wrong[rule, 0] += 1


@outer
def check_rows(offsets, tails, lengths, distances, tail_distances, never, parents, linked, wrong):
    """The rules about arcs, all of length 1 if there are no lengths. wrong[rule] = (count, row, tail)."""
    for row in range(distances.size):
        here = np.int64(distances[row])
        for j in range(offsets[row], offsets[row + 1]):
            tail = np.int64(tails[j])
            above = np.int64(tail_distances[tail])
            by = above + (np.int64(lengths[j]) if lengths.size else 1)
            if above != never and here == never:
                note(wrong, 1, row, tail)  # the tail was reached, the head was not
            elif above != never and here > by:
                note(wrong, 0, row, tail)  # a shorter path exists
            if tail == parents[row]:
                linked[row] = 1
                if here != never and (above == never or by != here):
                    note(wrong, 2, row, tail)  # a tree arc of the wrong length


class Part:
    """The arrays of one rank, and the steps of a search on them. Same methods as the CUDA engine's Part."""

    xp = np
    device = "cpu"

    def __init__(self, out, into, threads):
        (self.out_offsets, self.heads), (self.in_offsets, self.tails) = out, into
        self.sorted_tails = None  # by descending in-degree: see sort_rows
        self.threads = max(1, threads)

    def tidy(self):
        """Nothing to do: host memory is freed automatically."""

    def finish(self):
        """Nothing to do: a loop is complete when it returns."""

    def push(self, frontier, sent):
        """New (heads, tails), in any order, one per head; sets their bits in `sent`."""
        rows = frontier.astype(np.int64)
        arcs = int((self.out_offsets[rows + 1] - self.out_offsets[rows]).sum())
        most = min(arcs, 64 * len(sent))
        found, parents = np.empty(most, self.heads.dtype), np.empty(most, frontier.dtype)
        arrays = self.out_offsets, self.heads, frontier, sent, found, parents
        chunk = policy.push_chunk(len(frontier), arcs, self.threads)
        count = int(share(push_rows, arrays, len(frontier), arcs, self.threads, chunk)[TAIL])
        return found[:count], parents[:count]

    def pull(self, first, closed, front, parents, all_rows=False, early_exit=True, sorted_rows=False):
        """See pull_rows: number of rows found, and of arcs read. sorted_rows: read rows in the order of sort_rows."""
        words, offsets = len(closed), self.in_offsets
        arcs = int(offsets[min(first + 64 * words, len(offsets) - 1)] - offsets[first])
        tails = self.sorted_tails if sorted_rows else self.tails
        arrays = offsets, tails, first, closed, front, parents, all_rows, early_exit
        board = share(pull_rows, arrays, words, arcs, self.threads, policy.pull_chunk(words, self.threads))
        return int(board[FOUND]), int(board[CHECKED])

    def claim(self, heads, parents, visited, parent):
        """The unvisited vertices of this rank among `heads`; sets their parents, unless `parent` is None."""
        kept = np.empty(len(heads), np.int64)
        given = np.empty(0, np.int64) if parent is None else parents
        target = np.empty(0, np.int64) if parent is None else parent
        return kept[: claim_rows(heads, given, visited, target, kept)]

    def hubs_first(self, weight):
        hubs_first(self.in_offsets, self.tails, weight)

    def sort_rows(self, weight):
        """A second copy of the rows of `into`, with tails sorted by descending weight; ties by slot."""
        order = np.argsort(-weight.astype(np.int64), kind="stable").astype(self.tails.dtype)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        self.sorted_tails, offsets = np.empty_like(self.tails), self.in_offsets
        for first in range(0, len(offsets) - 1, SORTED_TOGETHER):
            ends = offsets[first : first + SORTED_TOGETHER + 1]
            keys = np.repeat(np.arange(len(ends) - 1) * len(order), np.diff(ends))
            keys += place[self.tails[ends[0] : ends[-1]]]
            keys.sort()
            keys %= len(order)
            self.sorted_tails[ends[0] : ends[-1]] = order[keys]

    def check(self, levels, tail_levels, parents, linked):
        wrong, none = np.zeros((3, 3), np.int64), np.empty(0, np.uint32)
        check_rows(self.in_offsets, self.tails, none, levels, tail_levels, np.int64(-1), parents, linked, wrong)
        return wrong

    def lengths(self, out_names, into_names, n, start):
        return Lengths(self, out_names, into_names, n, start)


# ------------------------------------------------------------------ lengths (distributed/delta_stepping.py)

NEVER = np.int64(1 << 62)  # distance of an unreached vertex
U40 = np.uint64(40)


@inner
def id_of(slot, starts, shifts):
    low, high = 0, starts.size - 1
    while low < high:
        middle = (low + high + 1) // 2
        if starts[middle] <= slot:
            low = middle
        else:
            high = middle - 1
    return np.uint64(slot + shifts[low])


@outer
def draw_rows(offsets, neighbours, rows, columns, n, start, lengths):
    """graph500.shortest.lengths of every arc. rows, columns: (starts, shifts) for slots of rows and of neighbours."""
    for row in range(offsets.size - 1):
        u = id_of(row, rows[0], rows[1])
        for j in range(offsets[row], offsets[row + 1]):
            v = id_of(np.int64(neighbours[j]), columns[0], columns[1])
            lengths[j] = (mix((min(u, v) * n + max(u, v)) * WEYL + start + WEYL) >> U40) + U1


@outer
def relax_rows(offsets, heads, lengths, rows, distances, best, who, touched, found):
    """Offer every head of these rows the path through its row. Lists the heads for which it is the shortest so far."""
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


class Lengths:
    """The lengths of a Part's arcs, and the steps of shortest paths that use them. Methods as in the CUDA engine."""

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
        """Heads with a shorter path, in any order; sets best and who for them. `touched` is 0 before and after."""
        part = self.part
        found = np.empty(min(len(best), int((part.out_offsets[rows + 1] - part.out_offsets[rows]).sum())), np.int64)
        count = relax_rows(part.out_offsets, part.heads, self.out, rows, distances, best, who, touched, found)
        touched[found[:count] >> 6] = 0
        return found[:count]

    def check(self, distances, tail_distances, parents, linked):
        """See check_rows: three counts."""
        wrong, part = np.zeros((3, 3), np.int64), self.part
        given = part.in_offsets, part.tails, self.into, distances, tail_distances
        check_rows(*given, NEVER, parents, linked, wrong)
        return wrong[:, 0].tolist()


# ------------------------------------------------------------------ sums of mantissa · 2^exponent


@outer
def scatter(offsets, neighbours, width, cells, mantissas, exponents, skip, sums, powers, touched):
    """Add cells' numbers to those of neighbours not in skip; lists touched cells. Cell c of v is v · width + c."""
    count = 0
    for i in range(cells.size):
        row = cells[i] // width
        column = np.uint64(cells[i] - row * width)
        for j in range(offsets[row], offsets[row + 1]):
            place = np.uint64(neighbours[j]) * np.uint64(width) + column
            if skip.size and (skip[place >> U6] >> (place & U63)) & U1 != U0:
                continue
            if sums[place] == 0.0:
                touched[count] = place
                count += 1
            sums[place], powers[place] = add_scaled(sums[place], powers[place], mantissas[i], exponents[i])
    return count


@outer
def add_all(places, mantissas, exponents, sums, powers):
    for i in range(places.size):
        place = places[i]
        sums[place], powers[place] = add_scaled(sums[place], powers[place], mantissas[i], exponents[i])
