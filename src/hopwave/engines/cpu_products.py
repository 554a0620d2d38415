"""Matrix times vector, by rows and by columns: kernels for any semiring (see cpu_rings for the words in them).

Offsets and indices are unsigned, so that no code for negative indices is made. Bits are bytes, 0 or 1. Sums of a row
are made by one thread in the order of its entries: threads change no bit.
"""

# ruff: noqa: F821 — term, plus, joined, stops, can_stop, carries and weighed are written in by cpu_rings.specialise

from __future__ import annotations

import numpy as np
from numba import njit

from hopwave.engines.cpu_atoms import COMPILED, INNER, ONE, U0, U1, atomic_add, ordered_add, prefetch, trailing_zeros
from hopwave.engines.cpu_crew import CHECKED, CHUNK, FOUND

EIGHT_ONES, U3 = np.uint64(0x0101010101010101), np.uint64(3)
AHEAD = 16  # entries of a list whose rows are asked for ahead of time


@njit(**INNER)
def open_rows(filled, bits, complement, begin, stop, chosen):
    """The rows of [begin, stop) that are let through and have entries, eight bytes at a time; returns how many.

    filled, bits    a byte a row, 0 or 1; begin is a multiple of 8. Without a mask, bits is empty.
    """
    count = 0
    whole = filled.size & ~7
    filled_words, words = filled[:whole].view(np.uint64), bits[: bits.size & ~7].view(np.uint64)
    flip = EIGHT_ONES if complement else U0
    for w in range(begin >> 3, min(stop, whole) >> 3):
        word = filled_words[w]
        if bits.size:
            word &= words[w] ^ flip
        while word != U0:
            chosen[count] = np.uint32((w << 3) + np.int64(trailing_zeros(word) >> U3))
            count += 1
            word &= word - U1
    for i in range(max(begin, whole), stop):
        if filled[i] and (bits.size == 0 or bits[i] != complement):
            chosen[count] = np.uint32(i)
            count += 1
    return count


def pull(
    indptr,
    indices,
    filled,
    hub,
    a,
    x,
    present,
    rows,
    bits,
    complement,
    exits,
    blends,
    out,
    found,
    identity,
    end,
    size,
    board,
):
    """y(i) = ⊕ₖ A(i,k) ⊗ x(k) for the rows of a list, those whose bit differs from `complement`, or all.

    filled      which rows have entries, a byte each
    hub         each row's entry in the fullest column, or none: looked at first where one term may be enough
    present     x's bits
    rows, bits  the mask: a list, or a bit a row; both empty without a mask
    blends      whether absent entries are added as the identity: no branch that is hard to foresee, but more to read
    out, found  sums, and whether there are any; for a list of rows by place in the list
    """
    listed = rows.size > 0
    chosen = np.empty(size + 1, np.uint32)
    count = 0
    touched = 0
    weight = 0.0
    while True:
        begin = atomic_add(board, CHUNK, size)
        if begin >= end:
            break
        stop = min(begin + size, end)
        if listed:
            many = stop - begin
            chosen[:many] = rows[begin:stop]
        else:
            many = open_rows(filled, bits, complement, begin, stop, chosen)
        for c in range(many):
            i = chosen[c]
            place = np.int64(begin + c) if listed else np.int64(i)
            if hub.size and filled[i]:  # a list may name rows without entries, which have no hub
                touched += 1
                if present[hub[i]]:
                    if carries():
                        out[place] = out.dtype.type(term(a[0], x[hub[i]], i, hub[i], 0))
                    found[place] = True
                    count += 1
                    continue
            elif c + AHEAD < many:
                prefetch(indices, indptr[chosen[c + AHEAD]])
            first = np.int64(indptr[i])
            last = np.int64(indptr[i + ONE])
            total = identity
            here = False
            j = first
            if can_stop() and exits:
                while j < last:
                    k = indices[j]
                    j += 1
                    if present[k]:
                        new = out.dtype.type(term(a[j - 1], x[k], i, k, 0))
                        total = out.dtype.type(joined(total, new, here))
                        weight = weighed(weight, a[j - 1], x[k])
                        here = True
                        if stops(total):
                            break
                last = j
            elif blends:
                for j in range(first, last):
                    k = indices[j]
                    there = present[k] != 0
                    new = out.dtype.type(term(a[j], x[k], i, k, 0))
                    total = out.dtype.type(plus(total, new if there else identity))
                    weight = weighed(weight, a[j], x[k])
                    here |= there
            else:
                for j in range(first, last):
                    k = indices[j]
                    if present[k]:
                        new = out.dtype.type(term(a[j], x[k], i, k, 0))
                        total = out.dtype.type(joined(total, new, here))
                        weight = weighed(weight, a[j], x[k])
                        here = True
            touched += last - first
            if here:
                if carries():
                    out[place] = total
                found[place] = True
                count += 1
    ordered_add(board, FOUND, count)
    ordered_add(board, CHECKED, touched)
    return weight


def gather(indptr, indices, a, x, out, found, identity, end, size, board):
    """`pull` of a full vector into all rows to their ends: nothing to test, so nothing is tested."""
    weight = 0.0
    count = 0
    while True:
        begin = atomic_add(board, CHUNK, size)
        if begin >= end:
            break
        first = np.int64(indptr[begin])
        for i in range(begin, min(begin + size, end)):
            last = np.int64(indptr[i + 1])
            total = identity
            for j in range(first, last):
                k = indices[j]
                new = out.dtype.type(term(a[j], x[k], i, k, 0))
                total = out.dtype.type(joined(total, new, j > first))
                weight = weighed(weight, a[j], x[k])
            out[i] = total
            found[i] = last > first
            count += last > first
            first = last
    ordered_add(board, FOUND, count)
    return weight


@njit(**INNER)
def locate(array, begin, end, value):
    """The first place in array[begin:end], ascending, that is not below value: strides that double, then halve."""
    step = np.int64(1)
    low, high = begin, begin
    while high < end and array[high] < value:
        low = high + 1
        high += step
        step <<= 1
    high = min(high, end)
    while low < high:
        middle = (low + high) >> 1
        if array[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def push(indptr, indices, a, x, places, bits, complement, mark, total, queue, bounds, counts, end, size, board):
    """The columns that x names, scattered: y(v) ⊕= A(v,u) ⊗ x(u).

    bounds   parts of the rows: each is filled by one thread, which goes through all columns but seeks its part of them,
             so that a row's terms are added in the order of x whoever does it
    mark     a byte a row, all 0 before and after      total    sums, where marked
    queue    the rows marked, each part's from its first row on          counts    how many there are of each part
    """
    masked = bits.size > 0
    weight = 0.0
    while True:
        part = atomic_add(board, CHUNK, size)
        if part >= end:
            break
        low, high = np.uint32(bounds[part]), np.uint32(bounds[part + 1])
        tail = bounds[part]
        for i in range(places.size):
            if i + AHEAD < places.size:
                prefetch(indptr, places[i + AHEAD])
            u = places[i]
            first = np.int64(indptr[u])
            last = np.int64(indptr[u + ONE])
            if end > 1:
                first = locate(indices, first, last, low)
                last = locate(indices, first, last, high)
            for j in range(first, last):
                v = indices[j]
                if masked and bits[v] == complement:
                    continue
                if mark[v] == 0:
                    mark[v] = 1
                    queue[tail] = v
                    tail += 1
                    if carries():
                        total[v] = total.dtype.type(term(a[j], x[i], v, u, 0))
                elif not stops(total[v]):
                    new = total.dtype.type(term(a[j], x[i], v, u, 0))
                    total[v] = total.dtype.type(plus(total[v], new))
                weight = weighed(weight, a[j], x[i])
        counts[part] = tail - bounds[part]
    return weight


@njit(**COMPILED)
def entries_of(indptr, rows):
    """How many entries these rows have."""
    total = np.int64(0)
    for i in range(rows.size):
        total += np.int64(indptr[rows[i] + ONE]) - np.int64(indptr[rows[i]])
    return total


@njit(**COMPILED)
def collect(mark, queue, bounds, counts, found):
    """The rows that a push marked, one part after the other; the marks are cleared."""
    tail = 0
    for part in range(counts.size):
        for i in range(bounds[part], bounds[part] + counts[part]):
            v = queue[i]
            mark[v] = 0
            found[tail] = v
            tail += 1


@njit(**COMPILED)
def fill(values, present, bits, complement, value):
    """One value where a bit differs from `complement`; returns how many are present afterwards.

    Loops as simple as that are done many places at a time.
    """
    shut = np.uint8(complement)
    count = np.int64(0)
    for i in range(values.size):
        old = values[i]
        values[i] = value if bits[i] ^ shut != 0 else old
    for i in range(values.size):
        present[i] |= bits[i] ^ shut
    for i in range(values.size):
        count += np.int64(present[i])
    return count


@njit(**COMPILED)
def fill_rows(values, present, rows, value):
    """One value in every one of these rows."""
    for i in range(rows.size):
        values[rows[i]] = value
        present[rows[i]] = 1
