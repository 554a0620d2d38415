"""Matrix times matrix on the CPU, for any semiring (specialise.py explains the words in kernels), and its triangles.

A push marks row i of the *mask* and scatters the rows of B for the entries of A's row i (Gustavson); a pull marks row i
of *A* and gathers along the columns of B for the entries of the mask's row i. One thread computes a row, in the order
of its entries: threads do not affect results. Kernels accept (offsets, indices) or (offsets, indices, values).
"""

# ruff: noqa: F821 — term, plus, joined, stops and weighed are substituted by specialise.py

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import CHECKED, NEXT_CHUNK, NEXT_WORKER, share, thread_count
from hopwave.engines.cpu.integers import ONE, U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import atomic_add, inner, ordered_add, outer
from hopwave.engines.cpu.linalg.specialise import operands
from hopwave.engines.cpu.linalg.vector_kernels import locate
from hopwave.engines.cpu.policy import MUCH_LONGER
from hopwave.engines.cpu.views import read_only, unsigned, unsigned_rows
from hopwave.graph.csr import Rows
from hopwave.planning.jobs import Touched

NO_ROWS = read_only(np.zeros(1, np.uint32)), read_only(np.zeros(0, np.uint32))  # rows of an absent mask
SHORT = 24  # maximum entries at which insertion sort is faster


def multiply(A, B, product, mask, complement, by, threads):
    threads = thread_count(threads)
    if by == "auto":  # whichever reads fewer entries of B: along the mask's columns, or along A's rows
        along_columns = dot_terms(unsigned_rows(mask), unsigned(A.rows.indptr), unsigned(B.columns.indptr))
        along_rows = terms_of(unsigned(A.rows.indices), read_only(np.diff(B.rows.indptr)))
        by = "pull" if policy.PULL_COST * along_columns <= along_rows else "push"
    if by == "pull":
        return pulled(A, B, product, mask, threads)
    return pushed(A, B, product, mask, complement, threads)


def pulled(A, B, product, mask, threads):
    left, right = A.rows, B.columns
    rows, inner = A.shape
    count = len(mask.indices)
    out = np.zeros(count, product.dtype)
    named = unsigned_rows(mask)
    work = dot_terms(named, unsigned(left.indptr), unsigned(right.indptr))
    if product.add.op.built_in and product.add.name == "plus" and product.term == "one" and product.structure_only:
        marks = np.zeros((threads, inner // 64 + 1), np.uint64)
        arguments = (unsigned_rows(left), unsigned_rows(right), named, out, marks)
        board = share(count_pairs, arguments, rows, work, threads)
        found = out != 0
    else:
        kernel, a, x = operands(dots, product, left, right.values, len(right.indices))
        marks = np.zeros((threads, inner), np.int64)
        found = np.zeros(count, np.bool_)
        identity = product.dtype.type(product.add.identity(product.dtype))
        matrices = ((*unsigned_rows(left), a), (*unsigned_rows(right), x), named)
        arguments = (*matrices, int(product.early_exit), (out, found, identity), marks)
        board = share(kernel, arguments, rows, work, threads)
    touched = Touched(int(board[CHECKED]), notes=["pull"])
    if found.all():
        return Rows(mask.indptr, mask.indices, out), touched
    before = np.concatenate([[0], np.cumsum(found)])
    return Rows(before[mask.indptr].astype(mask.indptr.dtype), mask.indices[found], out[found]), touched


def pushed(A, B, product, mask, complement, threads):
    """Rows of B scattered into an accumulator: one pass to count, one to add up."""
    left, right = A.rows, B.rows
    rows, columns = A.shape[0], B.shape[1]
    work = terms_of(unsigned(left.indices), read_only(np.diff(right.indptr)))
    stamps = np.zeros((threads, 2, columns), np.int32)
    lengths = np.zeros(rows + 1, np.int64)
    named = NO_ROWS if mask is None else unsigned_rows(mask)
    which = (*named, mask is not None, bool(complement))
    A_rows, B_rows = unsigned_rows(left), unsigned_rows(right)
    share(row_lengths, (A_rows, B_rows, which, stamps, lengths[1:]), rows, work, threads)
    indptr = np.cumsum(lengths)
    total = int(indptr[-1])
    out_columns, out = np.empty(total, np.uint32), np.empty(total, product.dtype)
    kernel, a, x = operands(scatter_rows, product, left, right.values, len(right.indices))
    sums = np.zeros((threads, columns), product.dtype)
    arguments = ((*A_rows, a), (*B_rows, x), which, stamps, sums, (indptr, out_columns, out))
    board = share(kernel, arguments, rows, work, threads)
    kind = np.int32 if total < 2**31 else np.int64
    return Rows(indptr.astype(kind), out_columns.view(np.int32), out), Touched(int(board[CHECKED]), notes=["push"])


# ------------------------------------------------------------------ kernels


def dots(A, B, mask, exits, result, marks, end, size, board):
    """C(i,j) = ⊕ₖ A(i,k) ⊗ B(k,j) for entries of the mask; marks[worker, k]: 1 + the index of k in row i of A."""
    indptr, indices, a = A
    column_ptr, column_rows, x = B
    mask_ptr, mask_columns = mask
    out, found, identity = result
    place = marks[atomic_add(board, NEXT_WORKER, 1)]
    touched = 0
    weight = 0.0
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(begin, min(begin + size, end)):
            first, last = np.int64(mask_ptr[i]), np.int64(mask_ptr[i + 1])
            row, row_end = np.int64(indptr[i]), np.int64(indptr[i + 1])
            if first == last or row == row_end:
                continue
            for p in range(row, row_end):
                place[indices[p]] = p + 1
            for c in range(first, last):
                j = mask_columns[c]
                total = identity
                here = False
                q, ends = np.int64(column_ptr[j]), np.int64(column_ptr[j + ONE])
                searches = ends - q > MUCH_LONGER * (row_end - row)  # search the column for the row's entries
                p = row
                while q < ends:
                    if searches:
                        if p == row_end:
                            break
                        k = indices[p]
                        p += 1
                        q = locate(column_rows, q, ends, k)
                        at = p if q < ends and column_rows[q] == k else np.int64(0)
                    else:
                        k = column_rows[q]
                        at = place[k]
                        q += 1
                    touched += 1
                    if at:
                        b = q if searches else q - 1
                        new = out.dtype.type(term(a[at - 1], x[b], i, k, j))
                        total = out.dtype.type(joined(total, new, here))
                        weight = weighed(weight, a[at - 1], x[b])
                        here = True
                        if exits and stops(total):
                            break
                out[c] = total
                found[c] = here
            for p in range(row, row_end):
                place[indices[p]] = 0
    ordered_add(board, CHECKED, touched)
    return weight


@outer
def count_pairs(A, B, mask, out, marks, end, size, board):
    """`dots` for PLUS.PAIR, which counts triangles: marks are bits, and there is no branch per entry."""
    indptr, indices = A
    column_ptr, column_rows = B
    mask_ptr, mask_columns = mask
    bits = marks[atomic_add(board, NEXT_WORKER, 1)]
    touched = 0
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(begin, min(begin + size, end)):
            first, last = np.int64(mask_ptr[i]), np.int64(mask_ptr[i + 1])
            row, row_end = np.int64(indptr[i]), np.int64(indptr[i + 1])
            if first == last or row == row_end:
                continue
            for p in range(row, row_end):
                k = np.uint64(indices[p])
                bits[k >> U6] |= U1 << (k & U63)
            for c in range(first, last):
                j = mask_columns[c]
                begins, ends = np.int64(column_ptr[j]), np.int64(column_ptr[j + ONE])
                total = U0
                if ends - begins > MUCH_LONGER * (row_end - row):
                    q = begins
                    for p in range(row, row_end):
                        q = locate(column_rows, q, ends, indices[p])
                        if q == ends:
                            break
                        total += np.uint64(column_rows[q] == indices[p])
                    touched += row_end - row
                else:
                    for q in range(begins, ends):
                        k = np.uint64(column_rows[q])
                        total += (bits[k >> U6] >> (k & U63)) & U1
                    touched += ends - begins
                out[c] = total
            for p in range(row, row_end):
                bits[np.uint64(indices[p]) >> U6] = U0
    ordered_add(board, CHECKED, touched)


@inner
def mark_mask(mask_ptr, mask_columns, i, marked, stamp):
    for c in range(np.int64(mask_ptr[i]), np.int64(mask_ptr[i + 1])):
        marked[mask_columns[c]] = stamp


@outer
def row_lengths(A, B, mask, stamps, lengths, end, size, board):
    """Entries per row of C = A B; stamps, per worker and column: the last row with a term, and in the mask."""
    indptr, indices = A
    row_ptr, columns = B
    mask_ptr, mask_columns, masked, complement = mask
    me = atomic_add(board, NEXT_WORKER, 1)
    seen, marked = stamps[me, 0], stamps[me, 1]
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(begin, min(begin + size, end)):
            stamp = np.int32(i + 1)
            if masked:
                mark_mask(mask_ptr, mask_columns, i, marked, stamp)
            count = 0
            for p in range(np.int64(indptr[i]), np.int64(indptr[i + 1])):
                k = indices[p]
                for q in range(np.int64(row_ptr[k]), np.int64(row_ptr[k + ONE])):
                    j = columns[q]
                    if seen[j] != stamp and not (masked and (marked[j] == stamp) == complement):
                        seen[j] = stamp
                        count += 1
            lengths[i] = count


def scatter_rows(A, B, mask, stamps, sums, result, end, size, board):
    """C(i,:) ⊕= A(i,k) ⊗ B(k,:), rows ascending. Stamps are negative here, unlike those of row_lengths."""
    indptr, indices, a = A
    row_ptr, columns, x = B
    mask_ptr, mask_columns, masked, complement = mask
    out_ptr, out_columns, out = result
    me = atomic_add(board, NEXT_WORKER, 1)
    seen, marked, total = stamps[me, 0], stamps[me, 1], sums[me]
    touched = 0
    weight = 0.0
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(begin, min(begin + size, end)):
            stamp = np.int32(-1 - i)
            if masked:
                mark_mask(mask_ptr, mask_columns, i, marked, stamp)
            tail = out_ptr[i]
            for p in range(np.int64(indptr[i]), np.int64(indptr[i + 1])):
                k = indices[p]
                first, last = np.int64(row_ptr[k]), np.int64(row_ptr[k + ONE])
                touched += last - first
                for q in range(first, last):
                    j = columns[q]
                    if masked and (marked[j] == stamp) == complement:
                        continue
                    if seen[j] != stamp:
                        seen[j] = stamp
                        out_columns[tail] = j
                        tail += 1
                        total[j] = total.dtype.type(term(a[p], x[q], i, k, j))
                    elif not stops(total[j]):
                        new = total.dtype.type(term(a[p], x[q], i, k, j))
                        total[j] = total.dtype.type(plus(total[j], new))
                    weight = weighed(weight, a[p], x[q])
            ascend(out_columns, out_ptr[i], tail)
            for c in range(out_ptr[i], tail):
                out[c] = total[out_columns[c]]
    ordered_add(board, CHECKED, touched)
    return weight


@inner
def ascend(array, begin, end):
    """Sort array[begin:end]: by insertion if it is short, otherwise with NumPy."""
    if end - begin > SHORT:
        part = array[begin:end]
        part.sort()
        return
    for i in range(begin + 1, end):
        value = array[i]
        j = i - 1
        while j >= begin and array[j] > value:
            array[j + 1] = array[j]
            j -= 1
        array[j + 1] = value


@outer
def terms_of(indices, lengths):
    """Σ lengths[k] over the entries: the number of terms that a product by rows reads."""
    total = np.int64(0)
    for p in range(indices.size):
        total += np.int64(lengths[indices[p]])
    return total


@outer
def dot_terms(mask, indptr, column_ptr):
    """The number of terms that dot products read: per entry of the mask, the column's length, or less if searched."""
    mask_ptr, mask_columns = mask
    total = np.int64(0)
    for i in range(mask_ptr.size - 1):
        most = MUCH_LONGER * (np.int64(indptr[i + 1]) - np.int64(indptr[i]))
        for c in range(np.int64(mask_ptr[i]), np.int64(mask_ptr[i + 1])):
            j = mask_columns[c]
            total += min(most, np.int64(column_ptr[j + ONE]) - np.int64(column_ptr[j]))
    return total


# ------------------------------------------------------------------ triangles of a matrix


def triangle(part, lower, diagonal):
    """The entries (i, j) with j − i at most (lower) or at least (upper) `diagonal`: the first or last of each row."""
    begins, indptr = np.empty(len(part.indptr) - 1, np.int64), np.zeros(len(part.indptr), part.indptr.dtype)
    split_rows(*unsigned_rows(part), diagonal, lower, begins, indptr)
    copies = [None if array is None else np.empty(int(indptr[-1]), array.dtype) for array in part[1:]]
    for array, copy in zip(part[1:], copies, strict=True):
        if array is not None:
            copy_parts(read_only(array), begins, indptr, copy)
    return Rows(indptr, *copies)


@outer
def split_rows(indptr, indices, diagonal, lower, begins, ends):
    """The start of each row's part in its row, and the offsets of all parts, concatenated."""
    for i in range(begins.size):
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        bound = np.uint64(max(np.int64(0), i + diagonal + np.int64(lower)))  # the first column after a lower part
        cut = locate(indices, first, last, bound)
        begins[i] = np.int64(first if lower else cut)
        ends[i + 1] = ends[i] + np.int64(cut - first if lower else last - cut)


@outer
def copy_parts(array, begins, ends, out):
    for i in range(begins.size):
        source = begins[i]
        for target in range(np.int64(ends[i]), np.int64(ends[i + 1])):
            out[target] = array[source]
            source += 1
