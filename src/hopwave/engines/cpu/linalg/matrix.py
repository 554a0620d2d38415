"""Matrix times matrix on the CPU: which way, with what arrays, and the rows shared among threads."""

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import CHECKED, share, thread_count
from hopwave.engines.cpu.linalg import matrix_kernels as kernels
from hopwave.engines.cpu.linalg.specialise import compiled
from hopwave.engines.cpu.views import read_only, unsigned, unsigned_rows
from hopwave.graph.csr import Rows
from hopwave.planning.jobs import Touched

NO_ROWS = read_only(np.zeros(1, np.uint32)), read_only(np.zeros(0, np.uint32))  # of a mask that is not there


def multiply(A, B, product, mask, complement, by, threads):
    """See hopwave.engines.Algebra.multiply."""
    threads = thread_count(threads)
    if by == "auto":
        by = cheaper(A, B, mask)
    if by == "pull":
        return pulled(A, B, product, mask, threads)
    return pushed(A, B, product, mask, complement, threads)


def cheaper(A, B, mask):
    """The way that looks at fewer entries of B: along the columns that the mask names, or the rows that A names."""
    along_columns = kernels.dot_terms(unsigned_rows(mask), unsigned(A.rows.indptr), unsigned(B.columns.indptr))
    along_rows = kernels.terms_of(unsigned(A.rows.indices), read_only(np.diff(B.rows.indptr)))
    return "pull" if policy.PULL_COST * along_columns <= along_rows else "push"


def pulled(A, B, product, mask, threads):
    """One dot product for every entry of the mask."""
    left, right = A.rows, B.columns
    rows, inner = A.shape
    count = len(mask.indices)
    out = np.zeros(count, product.dtype)
    named = unsigned_rows(mask)
    work = kernels.dot_terms(named, unsigned(left.indptr), unsigned(right.indptr))
    if product.add.op.built_in and product.add.name == "plus" and product.term == "one" and product.structure_only:
        marks = np.zeros((threads, inner // 64 + 1), np.uint64)
        arguments = (unsigned_rows(left), unsigned_rows(right), named, out, marks)
        board = share(kernels.count_pairs, arguments, rows, work, threads)
        found = out != 0
    else:
        a, x = operands(product, left, right)
        kernel = compiled(kernels.dots, product, left.values is None and product.structure_only)
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
    """Rows of B scattered into an accumulator: once to count, once to add up."""
    left, right = A.rows, B.rows
    rows, columns = A.shape[0], B.shape[1]
    work = kernels.terms_of(unsigned(left.indices), read_only(np.diff(right.indptr)))
    stamps = np.zeros((threads, 2, columns), np.int32)
    lengths = np.zeros(rows + 1, np.int64)
    named = NO_ROWS if mask is None else unsigned_rows(mask)
    which = (*named, mask is not None, bool(complement))
    A_rows, B_rows = unsigned_rows(left), unsigned_rows(right)
    share(kernels.row_lengths, (A_rows, B_rows, which, stamps, lengths[1:]), rows, work, threads)
    indptr = np.cumsum(lengths)
    total = int(indptr[-1])
    out_columns, out = np.empty(total, np.uint32), np.empty(total, product.dtype)
    a, x = operands(product, left, right)
    kernel = compiled(kernels.scatter_rows, product, left.values is None and product.structure_only)
    sums = np.zeros((threads, columns), product.dtype)
    arguments = ((*A_rows, a), (*B_rows, x), which, stamps, sums, (indptr, out_columns, out))
    board = share(kernel, arguments, rows, work, threads)
    kind = np.int32 if total < 2**31 else np.int64
    return Rows(indptr.astype(kind), out_columns.view(np.int32), out), Touched(int(board[CHECKED]), notes=["push"])


def operands(product, left, right):
    """The values to read: of A and of B, or none."""
    reads_a = product.term in ("a", "both") or not product.structure_only
    reads_x = product.term in ("x", "both") or not product.structure_only
    nothing = np.empty(0, product.dtype)
    return tuple(
        read_only((np.ones(len(part.indices), np.bool_) if part.values is None else part.values) if reads else nothing)
        for part, reads in ((left, reads_a), (right, reads_x))
    )
