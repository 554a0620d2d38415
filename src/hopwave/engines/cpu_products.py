"""Matrix times vector, by rows and by columns: kernels for any semiring (see cpu_rings for the words in them).

Offsets and indices are unsigned, so that no code for negative indices is made. Bits are bytes, 0 or 1, read eight at a
time where rows are skipped. Sums of a row are made by one thread in the order of its entries: threads change no bit.
"""

# ruff: noqa: F821 — term, plus, joined, stops, carries and weigh are written in by cpu_rings.specialise

from __future__ import annotations

import numpy as np
from numba import njit

from hopwave.engines.cpu_atoms import COMPILED, ONE, atomic_add, ordered_add, prefetch
from hopwave.engines.cpu_crew import ACTIVE, CHECKED, CHUNK, DONE, EPOCH, FOUND, close_job, join_job

EIGHT_ONES = np.uint64(0x0101010101010101)
AHEAD = 8  # entries of a list whose rows are asked for ahead of time


def pull(indptr, indices, a, x, present, rows, bits, complement, exits, out, found, identity, end, size, board):
    """y(i) = ⊕ₖ A(i,k) ⊗ x(k) for the rows of a list, those whose bit differs from `complement`, or all.

    present     x's bits; none of them where x is full
    rows, bits  the mask: a list, or a bit a row; both empty without a mask
    out, found  sums, and whether there are any; for a list of rows by place in the list
    """
    listed, masked, full = rows.size > 0, bits.size > 0, present.size == 0
    words = bits[: bits.size & ~7].view(np.uint64)
    skip = EIGHT_ONES if complement else np.uint64(0)
    count = 0
    touched = 0
    weight = 0.0
    while True:
        begin = atomic_add(board, CHUNK, size)
        if begin >= end:
            break
        stop = min(begin + size, end)
        place = begin
        while place < stop:
            if masked:
                if place & 7 == 0 and place + 8 <= stop and words[place >> 3] == skip:
                    place += 8
                    continue
                if bits[place] == complement:
                    place += 1
                    continue
            i = np.uint64(rows[place]) if listed else np.uint64(place)
            first = np.int64(indptr[i])
            last = np.int64(indptr[i + np.uint64(1)])
            total = identity
            here = False
            j = first
            while j < last:
                k = indices[j]
                if full or present[k]:
                    new = out.dtype.type(term(a[j], x[k], i, k, 0))
                    total = out.dtype.type(joined(total, new, here))
                    weight += weigh(a[j], x[k])
                    here = True
                    if exits and stops(total):
                        j += 1
                        break
                j += 1
            touched += j - first
            if here:
                if carries():
                    out[place] = total
                found[place] = True
                count += 1
            place += 1
    ordered_add(board, FOUND, count)
    ordered_add(board, CHECKED, touched)
    return weight


def push(indptr, indices, a, x, places, bits, complement, mark, total, queue):
    """The columns that x names, scattered: y(v) ⊕= A(v,u) ⊗ x(u). Returns how many v there are, and entries touched.

    mark    a byte a row, all 0 before and after        total   sums, where marked        queue   the rows marked
    """
    masked = bits.size > 0
    tail = 0
    touched = 0
    weight = 0.0
    for i in range(places.size):
        if i + AHEAD < places.size:
            prefetch(indptr, places[i + AHEAD])
        u = places[i]
        first = np.int64(indptr[u])
        last = np.int64(indptr[u + ONE])
        touched += last - first
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
            weight += weigh(a[j], x[i])
    return tail, touched, weight


@njit(**COMPILED)
def clear(mark, queue, tail):
    for i in range(tail):
        mark[queue[i]] = 0


# ------------------------------------------------------------------ one job for the crew


@njit(**COMPILED)
def enter(board):
    """Whether a helper came in time to help."""
    return join_job(board, np.int64(0)) > 0


@njit(**COMPILED)
def leave(board):
    ordered_add(board, ACTIVE, -1)


@njit(**COMPILED)
def finish(board):
    """Let nobody else in, wait for those who are, and send the others away."""
    close_job(board)
    board[DONE] = 1


def open_board(board):
    """A job that whoever is called may join at once."""
    board[EPOCH] = 1
    return board
