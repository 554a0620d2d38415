"""Sorted rows from millions of edges: `csr.rows_of`, compiled and on all cores.

A bucket is a range of source vertices. Threads write each arc to its bucket as a 64-bit key (row in the bucket, target)
and radix-sort the buckets. The targets overwrite the keys, so the peak memory is 8 bytes per arc besides the edges.
"""

# Imported only for large graphs, so that `import hopwave` does not import Numba.
import os
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.system.numba_cache import njit
from hopwave.system.threads import MOST_THREADS, PARTS_PER_THREAD, each, host_cores, in_parts, thread_count

# Maximum number of buckets for which one cache line per bucket stays in the L2 cache while arcs are distributed.
MOST_BUCKETS = 2048
ARCS_PER_BUCKET = 1 << 16
DIGIT_BITS = 11
ARCS_PER_PLACE = 2  # maximum positions (threads × vertices) per arc; each thread has one position per vertex
U1, U32 = np.uint64(1), np.uint64(32)

KEEP, MERGE, SAME, MIN, MAX, SUM, FIRST = range(7)  # rules for repeated arcs
COMBINE = {None: SAME, "min": MIN, "max": MAX, "sum": SUM, "first": FIRST}


def sorted_rows(
    u: npt.NDArray[Any],
    v: npt.NDArray[Any],
    n: int,
    *,
    symmetric: bool,
    merge: bool = True,
    weights: npt.NDArray[Any] | None = None,
    combine: str | None = None,
    threads: int | None = None,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32], npt.NDArray[Any] | None, int]:
    """Offsets, neighbours and weights as in `csr.rows_of`, and the position of the first conflict, or -1."""
    threads = min(threads or host_cores(), MOST_THREADS)
    m = len(u)
    values = np.empty(0, np.float32) if weights is None else weights
    rule = (MERGE if weights is None else COMBINE[combine]) if merge else KEEP
    arcs_expected = 2 * m if symmetric else m
    wanted = min(MOST_BUCKETS, max(1, arcs_expected // ARCS_PER_BUCKET, 4 * threads))
    shift = max(0, max(n - 1, 0).bit_length() - (wanted - 1).bit_length())
    buckets = (max(n - 1, 0) >> shift) + 1
    parts = [(begin, end) for begin, end in pairwise(np.linspace(0, m, 2 * threads + 1).astype(np.int64).tolist())]
    counts = np.zeros((len(parts), buckets), np.int64)
    each(threads, range(len(parts)), lambda t: _count(u, v, *parts[t], symmetric, shift, counts[t]))
    # Inside a bucket, the arcs of each part follow the arcs of earlier parts.
    places = (np.cumsum(counts.T) - counts.T.ravel()).reshape(buckets, len(parts)).T.copy()
    starts = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    keys = np.empty(int(starts[-1]), np.uint64)
    dealt = np.empty(len(keys) if weights is not None else 0, values.dtype)
    target_bits = max(1, max(n - 1, 0).bit_length())

    def deal(t: int) -> None:
        _deal(u, v, values, *parts[t], symmetric, shift, target_bits, places[t], keys, dealt)

    each(threads, range(len(parts)), deal)
    degrees, kept = np.zeros(n, np.int64), np.zeros(buckets, np.int64)
    conflicts = np.full(buckets, -1, np.int64)
    largest = np.argsort(starts[:-1] - starts[1:], kind="stable")  # largest buckets first, for an even load

    def sort(b: int) -> None:
        part, rows = slice(starts[b], starts[b + 1]), slice(b << shift, min(n, (b + 1) << shift))
        own = dealt[part] if weights is not None else dealt
        kept[b], conflicts[b] = _sort_bucket(keys[part], own, target_bits, shift, degrees[rows], rule)

    each(threads, largest.tolist(), sort)
    indptr = np.zeros(n + 1, np.int64 if kept.sum() > np.iinfo(np.int32).max else np.int32)
    np.cumsum(degrees, out=indptr[1:])
    ends = np.concatenate([[0], np.cumsum(kept)])
    conflict = next((int(ends[b] + at) for b, at in enumerate(conflicts.tolist()) if at >= 0), -1)
    indices = _together(keys, starts, ends, threads)
    return indptr, indices, None if weights is None else _together(dealt, starts, ends, threads), conflict


def mark_ids(ids: npt.NDArray[Any], present: npt.NDArray[np.bool_]) -> None:
    """present[id] = True for every id, on all cores."""
    in_parts(lambda part: _mark(part, present), ids)


def looked_up(ids: npt.NDArray[Any], number: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """number[ids], on all cores."""
    found = np.empty(len(ids), number.dtype)
    in_parts(lambda part, out: _look_up(part, number, out), ids, found)
    return found


def induced_rows(
    indptr: npt.NDArray[Any],
    indices: npt.NDArray[np.int32],
    weights: npt.NDArray[Any] | None,
    vertices: npt.NDArray[np.int64],
    number: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[Any] | None]:
    """Lengths, neighbours and weights of these rows; `number` is the new number of each vertex, or -1 to omit it."""
    lengths = np.empty(len(vertices), np.int64)
    in_parts(lambda part, out: _count_inside(indptr, indices, part, number, out), vertices, lengths)
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    found = np.empty(total, np.int32)
    values = np.empty(0, np.float32) if weights is None else weights
    kept = np.empty(0 if weights is None else total, values.dtype)

    def copy(part: npt.NDArray[Any], begins: npt.NDArray[Any]) -> None:
        _copy_inside(indptr, indices, values, part, number, begins, found, kept)

    in_parts(copy, vertices, ends - lengths)
    return lengths, found, None if weights is None else kept


def is_symmetric_pattern(indptr: npt.NDArray[Any], indices: npt.NDArray[np.int32]) -> bool | None:
    """Whether every arc has a reverse arc, by sums of hashes (error probability 2⁻¹²⁸); None if rows do not ascend."""
    threads = thread_count()
    indptr, indices = indptr.view(), indices.view()
    indptr.flags.writeable = indices.flags.writeable = False  # like the arrays of a graph, so that one compilation does
    cuts = np.linspace(0, len(indices), PARTS_PER_THREAD * threads + 1)[1:-1].astype(np.int64)
    ends = [0, *np.searchsorted(indptr, cuts).tolist(), len(indptr) - 1]
    keys = np.frombuffer(os.urandom(16), np.uint64)
    sums = np.zeros((len(ends), 2), np.uint64)
    parts = enumerate(pairwise(ends))
    if not all(each(threads, parts, lambda part: _add_pairs(indptr, indices, *part[1], keys, sums[part[0]]))):
        return None
    return not sums.sum(axis=0).any()


def _together(
    array: npt.NDArray[Any], starts: npt.NDArray[Any], ends: npt.NDArray[Any], threads: int
) -> npt.NDArray[Any]:
    """The remaining entries of all buckets (32-bit targets over 64-bit keys, or weights), moved to be contiguous."""
    is_keys = array.dtype == np.uint64
    scale = 2 if is_keys else 1
    _move_all(array.view(np.int32) if is_keys else array, scale * starts, ends, threads)
    total = int(ends[-1])
    array.resize(-(-total // scale), refcheck=False)  # shrinks in place, without a copy
    return (array.view(np.int32) if is_keys else array)[:total]


def _move_all(found: npt.NDArray[Any], begins: npt.NDArray[Any], ends: npt.NDArray[Any], threads: int) -> None:
    """Move each bucket from begins[b] to the earlier position ends[b]; in parallel if the new positions are free."""
    b, buckets = 0, len(ends) - 1
    while b < buckets:
        free = max(b + 1, int(np.searchsorted(ends, begins[b], side="right")) - 1)
        moves = [(int(begins[i]), int(ends[i]), int(ends[i + 1] - ends[i])) for i in range(b, free)]
        each(min(threads, len(moves)), moves, lambda one: _move(found, *one))
        b = free


def count(u: Any, v: Any, begin: int, end: int, symmetric: bool, shift: int, counts: Any) -> None:
    """Count the arcs of the edges [begin, end) in each bucket."""
    for i in range(begin, end):
        counts[u[i] >> shift] += 1
        if symmetric and u[i] != v[i]:
            counts[v[i] >> shift] += 1


def deal(
    u: Any, v: Any, w: Any, begin: int, end: int, symmetric: bool, shift: int, target_bits: int, places: Any, keys: Any,
    dealt: Any,
) -> None:  # fmt: skip
    """Write each arc of the edges [begin, end), and its weight, to the next position of its bucket."""
    weighted, bits, rows = dealt.size > 0, np.uint64(target_bits), np.uint64((1 << shift) - 1)
    for i in range(begin, end):
        a, b = np.uint64(u[i]), np.uint64(v[i])
        bucket = u[i] >> shift
        place = places[bucket]
        keys[place] = (a & rows) << bits | b
        places[bucket] = place + 1
        if weighted:
            dealt[place] = w[i]
        if symmetric and a != b:
            bucket = v[i] >> shift
            place = places[bucket]
            keys[place] = (b & rows) << bits | a
            places[bucket] = place + 1
            if weighted:
                dealt[place] = w[i]


def sort_bucket(keys: Any, values: Any, target_bits: int, row_bits: int, degrees: Any, rule: int) -> Any:
    """Sort a bucket by (source, target), apply the rule for repeats, count degrees; returns (arcs, conflict or -1)."""
    m = keys.size
    weighted = values.size > 0
    mask = np.uint64((1 << DIGIT_BITS) - 1)
    low = np.uint64((1 << target_bits) - 1)
    bits = np.uint64(target_bits)
    passes = (target_bits + row_bits + DIGIT_BITS - 1) // DIGIT_BITS
    a, b = keys, np.empty(m, np.uint64)
    x = values
    y = np.empty(values.size, values.dtype)
    counts = np.zeros((passes, 1 << DIGIT_BITS), np.uint32)
    for i in range(m):
        key = a[i]
        for p in range(passes):
            counts[p, (key >> np.uint64(p * DIGIT_BITS)) & mask] += np.uint32(1)
    for p in range(passes):
        by = np.uint64(p * DIGIT_BITS)
        if m and counts[p, (a[0] >> by) & mask] == m:
            continue
        total = np.uint32(0)
        for d in range(1 << DIGIT_BITS):
            total, counts[p, d] = total + counts[p, d], total
        for i in range(m):
            digit = (a[i] >> by) & mask
            place = counts[p, digit]
            counts[p, digit] = place + np.uint32(1)
            b[place] = a[i]
            if weighted:
                y[place] = x[i]
        a, b = b, a
        x, y = y, x
    targets = keys.view(np.int32)
    size, conflict = 0, -1
    last = ~np.uint64(0)
    for i in range(m):
        key = a[i]
        if key != last or rule == KEEP:
            last = key
            targets[size] = np.int32(key & low)
            degrees[np.int64(key >> bits)] += 1
            if weighted:
                values[size] = x[i]
            size += 1
        elif weighted:
            if rule == MIN:
                values[size - 1] = min(values[size - 1], x[i])
            elif rule == MAX:
                values[size - 1] = max(values[size - 1], x[i])
            elif rule == SUM:
                values[size - 1] += x[i]
            elif rule == SAME and values[size - 1] != x[i] and conflict < 0:
                conflict = size - 1
    return size, conflict


def move(array: Any, begin: int, to: int, size: int) -> None:
    """array[to : to + size] = array[begin : begin + size], where to ≤ begin."""
    for i in range(size):
        array[to + i] = array[begin + i]


def mark(ids: Any, present: Any) -> None:
    """present[id] = True; several threads may write the same entry."""
    for i in range(ids.size):
        present[ids[i]] = True


def look_up(ids: Any, number: Any, found: Any) -> None:
    """found = number[ids]."""
    for i in range(ids.size):
        found[i] = number[ids[i]]


def count_inside(indptr: Any, indices: Any, vertices: Any, number: Any, lengths: Any) -> None:
    """lengths[i] = the number of neighbours of vertices[i] that are not omitted."""
    for i in range(vertices.size):
        count = 0
        for j in range(indptr[vertices[i]], indptr[vertices[i] + 1]):
            count += number[indices[j]] >= 0
        lengths[i] = count


def copy_inside(
    indptr: Any, indices: Any, values: Any, vertices: Any, number: Any, begins: Any, found: Any, kept: Any
) -> None:
    """Write the new numbers and weights of the neighbours of vertices[i], starting at position begins[i]."""
    for i in range(vertices.size):
        place = begins[i]
        for j in range(indptr[vertices[i]], indptr[vertices[i] + 1]):
            if number[indices[j]] >= 0:
                found[place] = number[indices[j]]
                if kept.size:
                    kept[place] = values[j]
                place += 1


def add_pairs(indptr: Any, indices: Any, low: int, high: int, keys: Any, sums: Any) -> bool:
    """Sum of hashes of arcs u → v, u < v, minus hashes of v → u, in rows [low, high). Returns whether rows ascend."""
    first = second = np.uint64(0)
    for v in range(low, high):
        for j in range(indptr[v], indptr[v + 1]):
            w = indices[j]
            if j > indptr[v] and indices[j - 1] >= w:
                return False
            pair = np.uint64(min(v, w)) << U32 | np.uint64(max(v, w))
            if v < w:
                first += mixed(pair ^ keys[0])
                second += mixed(pair ^ keys[1])
            elif v > w:
                first -= mixed(pair ^ keys[0])
                second -= mixed(pair ^ keys[1])
    sums[0], sums[1] = first, second
    return True


def _mixed(x: Any) -> Any:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014)."""
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


# ---------------------------------------------------------------- reversed arcs


def reverse_values(
    indptr: npt.NDArray[Any], indices: npt.NDArray[np.int32], values: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The value of the reverse of each arc, for symmetric, ascending rows; parallel arcs keep their order."""
    found = np.empty_like(values)
    _with_reverses(indptr, indices, lambda *part: _turn(indptr, indices, values, *part, found))
    return found


def add_reverse_values(
    indptr: npt.NDArray[Any], indices: npt.NDArray[np.int32], values: npt.NDArray[np.float64]
) -> None:
    """Add to the value of each arc the value of its reverse, in place, because filling new memory takes longer."""
    _with_reverses(indptr, indices, lambda *part: _add_both(indptr, indices, values, *part))


def _with_reverses(indptr: Any, indices: Any, work: Any) -> None:
    """Call work(first row, end, positions) for parts of the rows; positions[v] is where the next arc into v belongs."""
    threads = thread_count()
    parts, places = _counted(indptr, indices, threads)
    _place(places, indptr, threads)
    each(threads, parts, lambda part: work(*part[1], places[part[0]]))


def without_directions(indptr: npt.NDArray[Any], indices: npt.NDArray[np.int32]) -> tuple[Any, Any] | None:
    """Ascending rows with the reverse of every arc added, repeats merged; None if another method needs less memory."""
    threads, n = thread_count(), len(indptr) - 1
    if threads * n > ARCS_PER_PLACE * len(indices):
        return None
    parts, places = _counted(indptr, indices, threads)
    into = np.zeros(n + 1, np.int64)
    each(threads, _columns(places, threads), lambda some: _sum_up(places, *some, into[1:]))
    np.cumsum(into, out=into)
    _place(places, into, threads)
    tails = np.empty(len(indices), np.int32)
    each(threads, parts, lambda part: _write_tails(indptr, indices, *part[1], places[part[0]], tails))
    rows = indptr, indices, into, tails
    begins = indptr + into
    cuts = np.searchsorted(begins, np.linspace(0, 2 * len(indices), PARTS_PER_THREAD * threads + 1)[1:-1])
    pieces = list(pairwise([0, *cuts.tolist(), n]))
    ends, both = np.zeros(n + 1, np.int64), np.empty(2 * len(indices), np.int32)
    each(threads, pieces, lambda piece: _unite(*rows, *piece, ends, both))
    np.cumsum(ends, out=ends)
    found = np.empty(int(ends[-1]), np.int32)

    def copy(piece: tuple[int, int]) -> None:
        low, high = ends[list(piece)]
        found[low:high] = both[begins[piece[0]] :][: high - low]

    each(threads, pieces, copy)
    return ends, found


def _counted(indptr: Any, indices: Any, threads: int) -> tuple[list[tuple[int, tuple[int, int]]], npt.NDArray[Any]]:
    """(parts of the rows, one per thread; number of arcs of each part into each vertex)."""
    cuts = np.searchsorted(indptr, np.linspace(0, len(indices), threads + 1)[1:-1].astype(np.int64))
    parts = list(enumerate(pairwise([0, *cuts.tolist(), len(indptr) - 1])))
    places = np.empty((threads, len(indptr) - 1), indptr.dtype)  # each thread fills its own row
    each(threads, parts, lambda part: _count_heads(indptr, indices, *part[1], places[part[0]]))
    return parts, places


def _place(places: npt.NDArray[Any], begins: npt.NDArray[Any], threads: int) -> None:
    """Turn counts into positions at which each part writes its first arc into v; the first part starts at begins[v]."""
    each(threads, _columns(places, threads), lambda some: _add_before(begins, *some, places))


def _columns(places: npt.NDArray[Any], threads: int) -> list[tuple[int, int]]:
    """A range of vertices for each thread."""
    return list(pairwise(np.linspace(0, places.shape[1], threads + 1).astype(np.int64).tolist()))


def count_heads(indptr: Any, indices: Any, low: int, high: int, counts: Any) -> None:
    """Count the arcs of the rows [low, high) into each vertex."""
    counts[:] = 0
    for j in range(indptr[low], indptr[high]):
        counts[indices[j]] += 1


def sum_up(places: Any, low: int, high: int, into: Any) -> None:
    """into[v] += the number of arcs of all parts into v, for the vertices [low, high)."""
    for part in range(len(places)):
        for v in range(low, high):
            into[v] += places[part, v]


def add_before(begins: Any, low: int, high: int, places: Any) -> None:
    """Replace counts of arcs into the vertices [low, high), one row per part, by the position of each part's first."""
    for v in range(low, high):
        before = begins[v]
        for part in range(len(places)):
            count = places[part, v]
            places[part, v] = before
            before += count


def turn(indptr: Any, indices: Any, values: Any, low: int, high: int, places: Any, found: Any) -> None:
    """found[arc] = values[its reverse], for the arcs of the rows [low, high)."""
    for j in range(indptr[low], indptr[high]):
        v = indices[j]
        found[j] = values[places[v]]
        places[v] += 1


def add_both(indptr: Any, indices: Any, values: Any, low: int, high: int, places: Any) -> None:
    """values[arc] = values[its reverse] = their sum, for the arcs u → v of the rows [low, high) with u ≤ v."""
    for u in range(low, high):
        for j in range(indptr[u], indptr[u + 1]):
            v = indices[j]
            if u <= v:
                values[places[v]] = values[j] = values[places[v]] + values[j]
            places[v] += 1


def write_tails(indptr: Any, indices: Any, low: int, high: int, places: Any, tails: Any) -> None:
    """Write the tails of the arcs of the rows [low, high) to the positions of their heads."""
    for u in range(low, high):
        for j in range(indptr[u], indptr[u + 1]):
            v = indices[j]
            tails[places[v]] = u
            places[v] += 1


def write_rest(row: Any, i: Any, end: Any, both: Any, place: Any, last: Any) -> Any:
    """Append the rest of one of two rows, row[i:end]; returns the next position and the last number."""
    while i < end:
        w = row[i]
        i += U1
        both[place] = w
        place += np.uint64(w != last)
        last = w
    return place, last


def unite(indptr: Any, indices: Any, into: Any, tails: Any, low: int, high: int, ends: Any, both: Any) -> None:
    """Branch-free union of the rows [low, high) of both graphs, ascending; ends[v + 1] is the size of row v."""
    i, j = np.uint64(indptr[low]), np.uint64(into[low])
    place = i + j
    for v in range(low, high):
        begin, last = place, np.int32(-1)
        end, other_end = np.uint64(indptr[v + 1]), np.uint64(into[v + 1])
        while i < end and j < other_end:
            a, b = indices[i], tails[j]
            w = min(a, b)
            i += np.uint64(a <= b)
            j += np.uint64(b <= a)
            both[place] = w
            place += np.uint64(w != last)
            last = w
        place, last = _write_rest(indices, i, end, both, place, last)
        place, last = _write_rest(tails, j, other_end, both, place, last)
        i, j = end, other_end
        ends[v + 1] = place - begin


_compile = njit(nogil=True, cache=True, boundscheck=False)
_count, _deal, _sort_bucket, _move = _compile(count), _compile(deal), _compile(sort_bucket), _compile(move)
_mark, _look_up = _compile(mark), _compile(look_up)
_count_inside, _copy_inside = _compile(count_inside), _compile(copy_inside)
mixed, _add_pairs = _compile(_mixed), _compile(add_pairs)
_count_heads, _sum_up, _add_before = _compile(count_heads), _compile(sum_up), _compile(add_before)
_turn, _add_both = _compile(turn), _compile(add_both)
_write_tails, _write_rest, _unite = _compile(write_tails), _compile(write_rest), _compile(unite)
