"""Matrix times matrix on the GPU: one dot product per entry of the mask, or all terms expanded, sorted and added."""

from itertools import pairwise

import cupy
import numpy as np

from hopwave.engines.cuda.linalg.scratch import BLOCK, Cuts, Pending, stream_scratch
from hopwave.engines.cuda.linalg.semiring_source import RING, kernels_of, operands
from hopwave.errors import EngineError
from hopwave.graph.csr import Rows, arc_tails
from hopwave.graph.row_operations import inside
from hopwave.planning.jobs import Touched

MOST_TERMS = 1 << 27  # maximum terms expanded at a time: about 40 bytes each, including the sort
MOST_ENTRIES = 2**31 - 1


def dots(A, B, product, mask):
    """C at the positions of the mask: each entry is a row of A times a column of B."""
    here = stream_scratch()
    left, right = A.rows, B.columns
    if left.indptr.dtype != right.indptr.dtype:
        left, right = (part._replace(indptr=part.indptr.astype(np.int64)) for part in (left, right))
    count = len(mask.indices)
    _check(count)
    found, sums = cupy.zeros(count, np.bool_), cupy.empty(count, product.dtype)
    touched = 0
    if count and len(left.indices) and len(right.indices):
        rows = arc_tails(mask)
        lengths = cupy.minimum(cupy.diff(left.indptr)[rows], cupy.diff(right.indptr)[mask.indices])
        cuts = Cuts(lengths)
        first, second = _kernels(here, product, left, right).get("dots")
        a, x = _values(here, product, left, right)
        both = left.indptr, left.indices, a, right.indptr, right.indices, x
        group, pending = here.group(count), Pending(here)
        given = (
            rows, mask.indices, np.uint64(count), np.int32(group), *both, sums, found, *cuts.arguments(here),
            cuts.partial(here), here.progress, pending.address,
        )  # fmt: skip
        first((here.spread(count, group),), (BLOCK,), given)
        if cuts.rows:
            second(cuts.grid(here), (BLOCK,), given)
        touched = pending.touched
    before = cupy.concatenate([cupy.zeros(1, np.int64), cupy.cumsum(found, dtype=np.int64)])
    indptr = before[mask.indptr].astype(mask.indptr.dtype)
    if product.add.any_term and product.term == "one":
        sums.fill(1)
    return Rows(indptr, mask.indices[found], sums[found]), Touched(touched, notes=["pull"])


def expanded(A, B, product, mask, complement):
    """C from all its terms (expand, sort, reduce), a range of rows of A at a time; the mask is applied last."""
    left, right = A.rows, B.rows
    shape = A.shape[0], B.shape[1]
    counts = cupy.diff(right.indptr).astype(np.int64)[left.indices]
    starts = cupy.concatenate([cupy.zeros(1, np.int64), cupy.cumsum(counts)])
    total = int(starts[-1])
    keys, sums = [], []
    for begin, end in _stretches(left, starts, total):
        some = _expand(product, left, right, shape[1], starts[begin : end + 1], begin, end, counts[begin:end])
        keys.append(some[0])
        sums.append(some[1])
    keys = cupy.concatenate(keys) if keys else cupy.empty(0, np.int64)
    sums = cupy.concatenate(sums) if sums else cupy.empty(0, product.dtype)
    if mask is not None:
        keep = inside(keys, mask, shape[1], complement, cupy)
        keys, sums = keys[keep], sums[keep]
    indptr = cupy.searchsorted(keys, cupy.arange(shape[0] + 1, dtype=np.int64) * shape[1])
    indptr = indptr.astype(np.int64 if len(keys) > MOST_ENTRIES else np.int32)
    return Rows(indptr, (keys % max(shape[1], 1)).astype(np.int32), sums), Touched(total, notes=["push"])


def _stretches(left, starts, total):
    """Ranges [begin, end) of A's entries, each of complete rows with about MOST_TERMS terms."""
    if not total:
        return []
    by_row = starts[left.indptr]  # number of terms before each row
    edges = cupy.searchsorted(by_row, cupy.arange(MOST_TERMS, total, MOST_TERMS, dtype=np.int64)).tolist()
    rows = sorted({0, *edges, len(left.indptr) - 1})
    cuts = left.indptr[cupy.asarray(rows)].tolist()
    return [(begin, end) for begin, end in pairwise(cuts) if begin < end]


def _expand(product, left, right, columns, starts, begin, end, counts):
    """Keys and sums of some entries of A times all of B."""
    here, count = stream_scratch(), end - begin
    total = int(starts[-1]) - int(starts[0])
    if not total:
        return cupy.empty(0, np.int64), cupy.empty(0, product.dtype)
    _check(count)
    cuts = Cuts(counts)
    rows = arc_tails(left)[begin:end]
    keys, terms = cupy.empty(total, np.int64), cupy.empty(total, product.dtype)
    kernels = _kernels(here, product, left, right)
    first, second = kernels.get("expand")
    a, x = _values(here, product, left, right)
    group, pending = here.group(count), Pending(here)
    given = (
        rows, left.indices[begin:end], a[begin:end] if isinstance(a, cupy.ndarray) else a, right.indptr, right.indices,
        x, starts - starts[0], np.int64(columns), keys, terms, np.uint64(count), np.int32(group),
        *cuts.arguments(here), here.progress, pending.address,
    )  # fmt: skip
    first((here.spread(count, group),), (BLOCK,), given)
    if cuts.rows:
        second(cuts.grid(here), (BLOCK,), given)
    order = cupy.argsort(keys, kind="stable").astype(np.int64, copy=False)
    keys = keys[order]
    heads = cupy.flatnonzero(cupy.concatenate([cupy.ones(1, np.bool_), keys[1:] != keys[:-1]]))
    size = len(heads)
    _check(size)
    heads = cupy.concatenate([heads.astype(np.int64), cupy.full(1, total, np.int64)])
    sums, found = cupy.empty(size, product.dtype), cupy.empty(size, np.bool_)
    pending = Pending(here)
    group = here.group(size)
    here.kernels.get("linalg/mxv.cuh", "segments", RING, kernels.text)(
        (here.spread(size, group),), (BLOCK,),
        (heads, order, terms, np.uint64(size), np.int32(group), sums, found, here.progress, pending.address),
    )  # fmt: skip
    if product.add.any_term and product.term == "one":
        sums.fill(1)
    return keys[heads[:-1]], sums


def _kernels(here, product, left, right):
    x = np.dtype(np.bool_) if right.values is None else right.values.dtype
    return kernels_of(here, product, left._replace(indptr=right.indptr), x)  # only B's offsets are read


def _values(here, product, left, right):
    ones = here.ones(len(right.indices), np.dtype(np.bool_)) if right.values is None else right.values
    return operands(here, product, left, ones)


def _check(count):
    if count > MOST_ENTRIES:
        raise EngineError(f"{count} entries exceed the limit of one product; compute fewer rows, or use device='cpu'")
