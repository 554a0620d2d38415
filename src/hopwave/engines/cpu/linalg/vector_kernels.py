"""Matrix times vector, by rows and by columns: kernels for any semiring (see specialise.py for the words in them).

Offsets, indices and counters of loops are unsigned, so that no code for negative indices is made. Bits are bytes, 0 or
1. Sums of a row are made by one thread in the order of its entries: threads change no bit.
"""

# ruff: noqa: F821 — term, plus, joined, stops, can_stop, carries and weighed are written in by specialise.py

from __future__ import annotations

import numpy as np
from numba import njit

from hopwave.engines.cpu.crew import CHECKED, CHUNK, FOUND
from hopwave.engines.cpu.intrinsics import (
    COMPILED,
    INNER,
    ONE,
    U0,
    U1,
    U6,
    U8,
    U16,
    atomic_add,
    kept_apart,
    ordered_add,
    prefetch,
    trailing_zeros,
)

EIGHT_ONES, U3, U56 = np.uint64(0x0101010101010101), np.uint64(3), np.uint64(56)
PACKING = np.uint64(0x0102040810204080)  # eight bytes, 0 or 1, times this: their bits in the top byte


@njit(**INNER)
def open_rows(filled, bits, complement, begin, stop, chosen):
    """The rows of [begin, stop) that are let through and have entries; returns how many.

    filled, bits    a byte a row, 0 or 1; begin is a multiple of 64. Without a mask, bits is empty.

    64 rows are made one word, so that the end of its ones, which nobody can foresee, comes once in 64 rows.
    """
    kept_apart()
    count = U0
    whole = np.uint64(filled.size & ~63)
    masked, flip = bits.size > 0, EIGHT_ONES if complement else U0
    filled_words = filled[:whole].view(np.uint64)
    words = bits[:whole].view(np.uint64) if masked else filled_words
    for group in range(begin >> U6, min(stop, whole) >> U6):
        rows = U0
        for byte in range(U0, U8):
            w = (group << U3) + byte
            word = filled_words[w]
            if masked:
                word &= words[w] ^ flip
            rows |= ((word * PACKING) >> U56) << (byte << U3)
        base = group << U6
        while rows != U0:
            chosen[count] = np.uint32(base + trailing_zeros(rows))
            count += U1
            rows &= rows - U1
    for i in range(max(begin, whole), stop):
        if filled[i] and (not masked or bits[i] != complement):
            chosen[count] = np.uint32(i)
            count += U1
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
    hub         each row's entry in the fullest column, or none: looked at first where one term may be enough; not for
                a list of rows, which may name some without entries
    present     x's bits
    rows, bits  the mask: a list, or a bit a row; both empty without a mask
    blends      whether absent entries are added as the identity: no branch that is hard to foresee, but more to read
    out, found  sums, and whether there are any; for a list of rows by place in the list
    """
    listed = rows.size > 0
    chosen = np.empty(size + 1, np.uint32)
    end, size = np.uint64(end), np.uint64(size)
    count = U0
    touched = U0
    weight = 0.0
    while True:
        begin = np.uint64(atomic_add(board, CHUNK, size))
        if begin >= end:
            break
        stop = min(begin + size, end)
        if listed:
            many = stop - begin
            for c in range(U0, many):
                chosen[c] = rows[begin + c]
        else:
            many = open_rows(filled, bits, complement, begin, stop, chosen)
        if hub.size:  # no branches, which nobody could foresee: the rows whose hub is not there move up
            missed = U0
            for c in range(U0, many):
                i = chosen[c]
                k = hub[i]
                if carries():
                    out[i] = out.dtype.type(term(a[U0], x[k], i, k, 0))
                found[i] = present[k]
                chosen[missed] = i
                missed += U1 - np.uint64(present[k])
            touched += many
            count += many - missed
            many = missed
        for c in range(U0, many):
            i = chosen[c]
            place = begin + c if listed else np.uint64(i)
            if c + U16 < many:
                prefetch(indices, indptr[chosen[c + U16]])
            first = np.uint64(indptr[i])
            last = np.uint64(indptr[i + ONE])
            total = identity
            here = False
            j = first
            if can_stop() and exits:
                while j < last:
                    k = indices[j]
                    if present[k]:
                        new = out.dtype.type(term(a[j], x[k], i, k, 0))
                        total = out.dtype.type(joined(total, new, here))
                        weight = weighed(weight, a[j], x[k])
                        here = True
                        if stops(total):
                            last = j + U1
                            break
                    j += U1
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
                count += U1
    ordered_add(board, FOUND, count)
    ordered_add(board, CHECKED, touched)
    return weight


def gather(indptr, indices, a, x, out, found, identity, end, size, board):
    """`pull` of a full vector into all rows to their ends: nothing to test, so nothing is tested."""
    end, size = np.uint64(end), np.uint64(size)
    weight = 0.0
    count = U0
    while True:
        begin = np.uint64(atomic_add(board, CHUNK, size))
        if begin >= end:
            break
        first = np.uint64(indptr[begin])
        for i in range(begin, min(begin + size, end)):
            last = np.uint64(indptr[i + U1])
            total = identity
            for j in range(first, last):
                k = indices[j]
                new = out.dtype.type(term(a[j], x[k], i, k, 0))
                total = out.dtype.type(joined(total, new, j > first))
                weight = weighed(weight, a[j], x[k])
            out[i] = total
            found[i] = last > first
            count += np.uint64(last > first)
            first = last
    ordered_add(board, FOUND, count)
    return weight


@njit(**INNER)
def locate(array, begin, end, value):
    """The first place in array[begin:end], ascending, that is not below value: strides that double, then halve."""
    step = U1
    low, high = begin, begin
    while high < end and array[high] < value:
        low = high + U1
        high += step
        step <<= U1
    high = min(high, end)
    while low < high:
        middle = (low + high) >> U1
        if array[middle] < value:
            low = middle + U1
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
    masked, many = bits.size > 0, np.uint64(places.size)
    weight = 0.0
    while True:
        part = atomic_add(board, CHUNK, size)
        if part >= end:
            break
        low, high = np.uint32(bounds[part]), np.uint32(bounds[part + 1])
        begin = tail = np.uint64(bounds[part])
        for i in range(U0, many):
            if i + U16 < many:
                prefetch(indptr, places[i + U16])
                prefetch(indices, indptr[places[i + U8]])
            u = places[i]
            first = np.uint64(indptr[u])
            last = np.uint64(indptr[u + ONE])
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
                    tail += U1
                    if carries():
                        total[v] = total.dtype.type(term(a[j], x[i], v, u, 0))
                elif not stops(total[v]):
                    new = total.dtype.type(term(a[j], x[i], v, u, 0))
                    total[v] = total.dtype.type(plus(total[v], new))
                weight = weighed(weight, a[j], x[i])
        counts[part] = tail - begin
    return weight


@njit(**COMPILED)
def entries_of(indptr, rows, enough):
    """How many entries these rows have; not counted further once they are more than enough."""
    total = np.int64(0)
    for i in range(U0, np.uint64(rows.size)):
        total += np.int64(indptr[rows[i] + ONE]) - np.int64(indptr[rows[i]])
        if total > enough:
            break
    return total


@njit(**COMPILED)
def entries_where(indptr, bits):
    """How many entries the rows have whose bit is set."""
    total = np.int64(0)
    for i in range(bits.size):
        total += (np.int64(indptr[i + 1]) - np.int64(indptr[i])) * bits[i]
    return total


@njit(**COMPILED)
def places_of(bits, places):
    """The places whose bit is set, ascending: few, so that most of 64 places have none."""
    whole = np.uint64(bits.size & ~63)
    words = bits[:whole].view(np.uint64)
    count = U0
    for group in range(U0, whole >> U6):
        first = group << U3
        together = U0
        for w in range(first, first + U8):
            together |= words[w]
        if together != U0:
            for i in range(group << U6, (group + U1) << U6):
                if bits[i]:
                    places[count] = np.uint32(i)
                    count += U1
    for i in range(whole, np.uint64(bits.size)):
        if bits[i]:
            places[count] = np.uint32(i)
            count += U1


@njit(**COMPILED)
def collect(mark, queue, bounds, counts, found):
    """The rows that a push marked, one part after the other; the marks are cleared."""
    tail = U0
    for part in range(counts.size):
        begin = np.uint64(bounds[part])
        for i in range(begin, begin + np.uint64(counts[part])):
            v = queue[i]
            mark[v] = 0
            found[tail] = v
            tail += U1


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
        count += np.int64(present[i])
    return count


@njit(**COMPILED)
def fill_rows(values, present, rows, value):
    """One value in every one of these rows."""
    for i in range(U0, np.uint64(rows.size)):
        values[rows[i]] = value
        present[rows[i]] = 1
