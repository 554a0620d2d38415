"""Matrix times vector, by rows and by columns: kernels for any semiring (see specialise.py for the words in them)."""

# ruff: noqa: F821 — term, plus, joined, stops, can_stop, carries and weighed are substituted by specialise.py

import numpy as np

from hopwave.engines.cpu.crew import CHECKED, FOUND, NEXT_CHUNK
from hopwave.engines.cpu.integers import ONE, U0, U1, U3, U6, U8, U16
from hopwave.engines.cpu.intrinsics import atomic_add, inner, noinline, ordered_add, outer, prefetch, trailing_zeros

EIGHT_ONES, U56 = np.uint64(0x0101010101010101), np.uint64(56)
PACKING = np.uint64(0x0102040810204080)  # multiplier that packs eight bytes, each 0 or 1, into the bits of the top byte


@inner
def open_rows(filled, bits, complement, begin, stop, chosen):
    """The non-empty rows of [begin, stop), begin a multiple of 64, that the mask admits; returns their number."""
    noinline()
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


@inner
def copy_rows(rows, begin, stop, chosen):
    for c in range(U0, stop - begin):
        chosen[c] = rows[begin + c]
    return stop - begin


def pull_chosen(A, x, how, result, chosen, many, begin, listed, weight):
    """Sums of the first `many` chosen rows. Returns the number with a term, the entries read, and the weight."""
    indptr, indices, a = A
    values, present = x
    exits, blends = how
    out, found, identity = result
    count, touched = U0, U0
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
                    new = out.dtype.type(term(a[j], values[k], i, k, 0))
                    total = out.dtype.type(joined(total, new, here))
                    weight = weighed(weight, a[j], values[k])
                    here = True
                    if stops(total):
                        last = j + U1
                        break
                j += U1
        elif blends:
            for j in range(first, last):
                k = indices[j]
                there = present[k] != 0
                new = out.dtype.type(term(a[j], values[k], i, k, 0))
                total = out.dtype.type(plus(total, new if there else identity))
                weight = weighed(weight, a[j], values[k])
                here |= there
        else:
            for j in range(first, last):
                k = indices[j]
                if present[k]:
                    new = out.dtype.type(term(a[j], values[k], i, k, 0))
                    total = out.dtype.type(joined(total, new, here))
                    weight = weighed(weight, a[j], values[k])
                    here = True
        touched += last - first
        if here:
            if carries():
                out[place] = total
            found[place] = True
            count += U1
    return count, touched, weight


def pull(A, filled, x, mask, how, result, end, size, board):
    """y(i) = ⊕ₖ A(i,k) ⊗ x(k) for listed rows, rows whose bit differs from `complement`, or all rows.

    mask     (rows, bits, complement): a list, or one bit per row; both empty without a mask
    how      (exits, blends): whether a row may stop early; whether absent entries are added as the identity
    result   (out, found, identity): sums, and whether each exists; for a list of rows, by index in the list
    """
    rows, bits, complement = mask
    listed = rows.size > 0
    chosen = np.empty(size + 1, np.uint32)
    end, size = np.uint64(end), np.uint64(size)
    count = U0
    touched = U0
    weight = 0.0
    while True:
        begin = np.uint64(atomic_add(board, NEXT_CHUNK, size))
        if begin >= end:
            break
        stop = min(begin + size, end)
        if listed:
            many = copy_rows(rows, begin, stop, chosen)
        else:
            many = open_rows(filled, bits, complement, begin, stop, chosen)
        more, looked, weight = pull_chosen(A, x, how, result, chosen, many, begin, listed, weight)
        count += more
        touched += looked
    ordered_add(board, FOUND, count)
    ordered_add(board, CHECKED, touched)
    return weight


def gather(A, values, result, end, size, board):
    """`pull` of a full vector into all rows without early exit: no tests."""
    indptr, indices, a = A
    out, found, identity = result
    end, size = np.uint64(end), np.uint64(size)
    weight = 0.0
    count = U0
    while True:
        begin = np.uint64(atomic_add(board, NEXT_CHUNK, size))
        if begin >= end:
            break
        first = np.uint64(indptr[begin])
        for i in range(begin, min(begin + size, end)):
            last = np.uint64(indptr[i + U1])
            total = identity
            for j in range(first, last):
                k = indices[j]
                new = out.dtype.type(term(a[j], values[k], i, k, 0))
                total = out.dtype.type(joined(total, new, j > first))
                weight = weighed(weight, a[j], values[k])
            out[i] = total
            found[i] = last > first
            count += np.uint64(last > first)
            first = last
    ordered_add(board, FOUND, count)
    return weight


@inner
def locate(array, begin, end, value):
    """The first index in array[begin:end], ascending, whose entry is not below value: strides double, then halve."""
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


def push(A, x, mask, result, parts, end, size, board):
    """Scatter the columns of A at the entries x = (places, values): y(v) ⊕= A(v,u) ⊗ x(u).

    mask     (bits, complement); bits are empty without a mask
    result   (mark, total, queue): one byte per row, 0 before; sums, if marked; the marked rows, part by part
    parts    (bounds, counts): one thread processes rows bounds[p] to bounds[p + 1], and marks counts[p] of them
    """
    indptr, indices, a = A
    places, values = x
    bits, complement = mask
    mark, total, queue = result
    bounds, counts = parts
    masked, many = bits.size > 0, np.uint64(places.size)
    weight = 0.0
    while True:
        part = atomic_add(board, NEXT_CHUNK, size)
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
                        total[v] = total.dtype.type(term(a[j], values[i], v, u, 0))
                elif not stops(total[v]):
                    new = total.dtype.type(term(a[j], values[i], v, u, 0))
                    total[v] = total.dtype.type(plus(total[v], new))
                weight = weighed(weight, a[j], values[i])
        counts[part] = tail - begin
    return weight


@outer
def entries_of(indptr, rows, enough):
    """The number of entries of these rows; counting stops above `enough`."""
    total = np.int64(0)
    for i in range(U0, np.uint64(rows.size)):
        total += np.int64(indptr[rows[i] + ONE]) - np.int64(indptr[rows[i]])
        if total > enough:
            break
    return total


@outer
def entries_where(indptr, bits):
    total = np.int64(0)
    for i in range(bits.size):
        total += (np.int64(indptr[i + 1]) - np.int64(indptr[i])) * bits[i]
    return total


@outer
def collect(mark, queue, bounds, counts, found):
    """List the rows that a push marked, part by part, and clear the marks. NumPy takes 7 µs longer."""
    tail = U0
    for part in range(counts.size):
        begin = np.uint64(bounds[part])
        for i in range(begin, begin + np.uint64(counts[part])):
            v = queue[i]
            mark[v] = 0
            found[tail] = v
            tail += U1


@outer
def fill(values, present, bits, complement, value):
    """Write a value where a bit differs from `complement`, in vectorised loops; returns how many are then present."""
    shut = np.uint8(complement)
    count = np.int64(0)
    for i in range(values.size):
        old = values[i]
        values[i] = value if bits[i] ^ shut != 0 else old
    for i in range(values.size):
        present[i] |= bits[i] ^ shut
        count += np.int64(present[i])
    return count


@outer
def fill_rows(values, present, rows, value):
    for i in range(U0, np.uint64(rows.size)):
        values[rows[i]] = value
        present[rows[i]] = 1
