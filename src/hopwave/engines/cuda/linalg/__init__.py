"""Products over semirings on the GPU: kernels/linalg*.cuh, compiled for each semiring when it is first used.

By rows, every row's terms are added in a fixed order. By columns, terms meet in an array by atomic operations: sums of
fractions then differ in their last bits from run to run; all others are exact. Nothing waits for the GPU except where
a length must be known: that of a list.
"""

from __future__ import annotations

from functools import wraps

import cupy
import numpy as np

from hopwave.engines.cuda import Engine
from hopwave.engines.cuda.errors import FEWER_ROWS, translated
from hopwave.engines.cuda.launch import BLOCK, NULL, kernels, truth
from hopwave.engines.cuda.linalg.scratch import Cuts, Pending, forget, room
from hopwave.engines.cuda.linalg.semiring_source import (
    binary_text,
    c_type,
    monoid_text,
    ring_text,
    unary_result,
    unary_text,
)
from hopwave.errors import EngineError
from hopwave.jobs import Touched
from hopwave.linalg.vector import Vector

COMMUTATIVE = ("plus", "times", "min", "max", "lor", "land", "lxor")
FALSE, TRUE = np.int8(0), np.int8(1)  # as kernels take them


def explained(verb):
    """CUDA's errors as ours, with what to do; the next call works again."""

    @wraps(verb)
    def called(self, *arguments):
        try:
            return verb(self, *arguments)
        except EngineError:
            raise
        except Exception as error:
            forget()
            reason = translated(error, "in linear algebra", remedy=FEWER_ROWS)
            if reason is None:
                raise
            raise EngineError(reason) from error

    return called


class Algebra:
    """See hopwave.linalg.engine.Algebra."""

    name = "cuda"
    xp = cupy

    def missing(self):
        return Engine().missing()

    # ---------------------------------------------------------------- matrix and vector

    @explained
    def pull(self, A, x, product, allowed, threads):
        here = room()
        part, n, dtype = A.rows, A.shape[0], product.dtype
        values, present = x.arrays()
        listed = allowed is not None and allowed.rows is not None
        count = len(allowed.rows) if listed else n
        if not count or not len(part.indices):
            return self._nothing(n, dtype), Touched()
        first, second = kernels_of(here, product, part, values.dtype).get("pull", listed)
        a, b = operands(here, product, part, values)
        matrix = part.indptr, part.indices, a, b, NULL if _full(x) else present
        rows, bits, complement = NULL, NULL, FALSE
        if listed:
            rows = allowed.rows
        elif allowed is not None:
            bits, complement = allowed.bits, TRUE if allowed.complement else FALSE
        carries = not (product.term == "one" and product.add.any_term)
        sums = cupy.empty(count, dtype) if carries else None
        out = NULL if sums is None else sums
        places = cupy.empty(count, np.int32) if listed else NULL
        found = NULL if listed else cupy.empty(n, np.bool_)
        cuts = _cuts(A, part, columns=False)
        told = Pending(here)
        group = here.group(count)
        ledger = cuts.arguments(here)
        first(
            (here.spread(count, group),), (BLOCK,),
            (*matrix, rows, bits, complement, np.uint64(count), np.int32(group), out, found, places, *ledger,
             here.progress, told.address),
        )  # fmt: skip
        if cuts.rows:
            partial = here.take("partial", 8 * cuts.pieces, np.uint8)
            second(
                cuts.grid(here), (BLOCK,),
                (*matrix, out, found, places, *ledger, partial, here.progress, told.address),
            )  # fmt: skip
        touched = Touched(told.touched)
        if listed:
            size = told.found()
            sums = _ones(size, dtype) if sums is None else sums[:size]
            return Vector.sparse(n, places[:size], sums, ascending=False), touched
        if sums is None:
            sums = found if dtype == np.bool_ else found.astype(dtype)
        return Vector.dense(sums, found, told.found), touched

    @explained
    def push(self, A, x, product, allowed, threads):
        here = room()
        part, n, dtype = A.columns, A.shape[0], product.dtype
        places, values = x.listed()
        count = len(places)
        if not count or not len(part.indices):
            return self._nothing(n, dtype), Touched()
        first, second = kernels_of(here, product, part, values.dtype).get("push")
        a, b = operands(here, product, part, values)
        bits, complement = NULL, FALSE
        if allowed is not None:
            bits = allowed.bits if allowed.bits is not None else allowed.as_bits(n, cupy)
            complement = TRUE if allowed.complement else FALSE
        any_term, carries = product.add.any_term, not (product.term == "one" and product.add.any_term)
        marks, stamp = here.marks(n)
        queue = cupy.empty(n, np.int32)
        totals = NULL if any_term else here.take("totals", 8 * n, np.uint8)
        sums = cupy.empty(n, dtype) if any_term and carries else None
        cuts = _cuts(A, part, columns=True)
        told = Pending(here)
        group = here.group(count)
        ledger = cuts.arguments(here)
        arguments = (
            part.indptr, part.indices, a, places, b, bits, complement, marks, np.uint32(stamp), totals, queue,
            NULL if sums is None else sums, here.progress,
        )  # fmt: skip
        first(
            (here.spread(count, group),), (BLOCK,),
            (*arguments, np.uint64(count), np.int32(group), *ledger, told.address),
        )  # fmt: skip
        size, _, pieces = told.wait()  # the list's length must be known anyway
        if pieces:
            second(cuts.grid(here), (BLOCK,), (*arguments, *ledger, told.address))
            told.again()
            size = told.found()
        queue = queue[:size]
        if any_term:
            sums = sums[:size] if carries else _ones(size, dtype)
        else:
            sums = cupy.empty(size, dtype)
            if size:
                take = here.array_kernel("take", dtype=dtype)
                here.launch(take, size, (totals, queue, np.uint64(size), sums))
        return Vector.sparse(n, queue, sums, ascending=False), Touched(told.touched())

    @explained
    def waves(self, A, x, product, depth_limit, alpha, beta, trace):
        from hopwave.engines.cuda.linalg import waves

        return waves.waves(A, x, product, depth_limit, alpha, beta, trace)

    def _nothing(self, n, dtype):
        return Vector.sparse(n, cupy.empty(0, np.int32), cupy.empty(0, dtype))

    # ---------------------------------------------------------------- matrix and matrix

    @explained
    def multiply(self, A, B, product, mask, complement, by, threads):
        from hopwave.engines.cuda.linalg import matrix as cuda_matrices

        if mask is not None and not complement and by != "push":
            return cuda_matrices.dots(A, B, product, mask)
        return cuda_matrices.expanded(A, B, product, mask, complement)

    # ---------------------------------------------------------------- arrays

    @explained
    def binary(self, op):
        @explained
        def on_arrays(_, x, y):
            x, y = cupy.asarray(x), cupy.asarray(y)
            kind = op.result_type(np.dtype(x.dtype), np.dtype(y.dtype))
            size = max(x.size, y.size) if x.size and y.size else 0
            found = cupy.empty(size if x.ndim or y.ndim else (), kind)
            if size:
                here = room()
                kernel = here.array_kernel("map_two", binary_text(op, x.dtype, y.dtype, kind))
                x, y = cupy.ascontiguousarray(x), cupy.ascontiguousarray(y)
                steps = np.int32(x.size > 1 or size == 1), np.int32(y.size > 1 or size == 1)
                here.launch(kernel, size, (x, steps[0], y, steps[1], found, np.uint64(size)))
            return found

        return lambda x, y: on_arrays(self, x, y)

    @explained
    def unary(self, op):
        @explained
        def on_array(_, x):
            x = cupy.ascontiguousarray(x)
            found = cupy.empty(x.shape, unary_result(op, np.dtype(x.dtype)))
            if x.size:
                here = room()
                kernel = here.array_kernel("map_one", unary_text(op, x.dtype, found.dtype))
                here.launch(kernel, x.size, (x, found, np.uint64(x.size)))
            return found

        return lambda x: on_array(self, x)

    @explained
    def reduce(self, add, values, dtype):
        if add.any_term:
            return values[0].item()
        here = room()
        blocks = min(-(-len(values) // BLOCK), here.blocks)
        parts = here.take("parts", 8 * here.blocks, np.uint8)
        found = cupy.empty(1, dtype)
        kernel = here.array_kernel("sum_all", monoid_text(add.op, values.dtype, dtype))
        values = cupy.ascontiguousarray(values)
        kernel((blocks,), (BLOCK,), (values, np.uint64(len(values)), parts, here.progress, found))
        return found.item()

    @explained
    def scatter(self, op, target, places, values):
        if (op.built_in and op.name in ("any", "first")) or not len(places):
            return
        here, count = room(), np.uint64(len(places))
        if op.built_in and op.name in COMMUTATIVE:
            kernel = here.array_kernel("combine_at", monoid_text(op, values.dtype, target.dtype))
            here.launch(kernel, len(places), (target, places, values, count))
            return
        text = binary_text(op, target.dtype, values.dtype, target.dtype)
        kernel = here.array_kernel("combine_sorted", text)
        order = cupy.argsort(places, kind="stable").astype(np.int64, copy=False)
        here.launch(kernel, len(places), (target, places, order, values, count))

    @explained
    def fill(self, values, present, allowed, value):
        """One value wherever the mask lets it, in place."""
        rows = NULL if allowed.rows is None else allowed.rows
        bits = NULL if allowed.bits is None else allowed.bits
        count = len(values) if allowed.rows is None else len(rows)
        if count:
            here = room()
            kernel = here.array_kernel("fill", dtype=values.dtype)
            complement = TRUE if allowed.complement else FALSE
            value = values.dtype.type(value)
            value = value.view(np.int8) if value.itemsize == 1 else value
            here.launch(kernel, count, (values, present, value, rows, bits, complement, np.uint64(count)))

    @explained
    def spread(self, n, places, values):
        """A list of entries as n values and n bits."""
        everywhere, present = cupy.empty(n, values.dtype), cupy.zeros(n, np.bool_)
        everywhere.data.memset_async(0, everywhere.nbytes)
        if len(places):
            here = room()
            kernel = here.array_kernel("spread", dtype=values.dtype)
            here.launch(kernel, len(places), (places, values, np.uint64(len(places)), everywhere, present))
        return everywhere, present

    @explained
    def collect(self, values, present):
        """The entries of n values and n bits, as a list in no order."""
        n = len(values)
        places, found = cupy.empty(n, np.int32), cupy.empty(n, values.dtype)
        if not n:
            return places, found
        here = room()
        told = Pending(here)
        kernel = here.array_kernel("collect", dtype=values.dtype)
        here.launch(kernel, n, (values, present, np.uint64(n), places, found, here.progress, told.address))
        size = told.found()
        return places[:size], found[:size]


class Kernels:
    """The kernels of one product, each compiled when it is first asked for."""

    def __init__(self, product, offset, a, x):
        self.offset = c_type(offset)
        self.text = ring_text(product, np.dtype(np.bool_) if a is None else a, x, a is None)
        self.found = {}

    def get(self, verb, listed=None):
        """A verb's kernel, and the one for the pieces of long rows."""
        key = verb, listed
        found = self.found.get(key)
        if found is None:
            shape = f"hopwave::Ring, {self.offset}" + ("" if listed is None else f", {truth(listed)}")
            found = self.found[key] = tuple(
                kernels().get(HEADERS[verb], name, shape, self.text) for name in (verb, f"{verb}_pieces")
            )
        return found


def kernels_of(here, product, part, x):
    """Compiled for a product, and kept with its record, which `linalg.products` uses again."""
    a = None if part.values is None else part.values.dtype
    kept = product.__dict__.setdefault("_cuda", {})
    key = here.device, part.indptr.dtype.char, None if a is None else a.char, x.char
    found = kept.get(key)
    if found is None:
        found = kept[key] = Kernels(product, part.indptr.dtype, a, x)
    return found


def operands(here, product, part, values):
    """The values that kernels are to read, of matrix and vector; null where they need not."""
    weighs = not product.structure_only
    a = b = NULL
    if part.values is not None:
        a = part.values if weighs or product.term in ("a", "both") else NULL
    elif weighs:
        a = here.truths(len(part.indices), np.dtype(np.bool_))
    if weighs or product.term in ("x", "both"):
        b = values
    return a, b


# Kernels that are instances for a ring, by header; those of pull also for a list of rows or none.
HEADERS = {"pull": "linalg/pull.cuh", "dots": "linalg/pull.cuh", "push": "linalg/push.cuh", "expand": "linalg/push.cuh"}


def _ones(size, dtype):
    """The sums of ANY.PAIR."""
    if dtype != np.bool_:
        return cupy.ones(size, dtype)
    ones = cupy.empty(size, dtype)
    ones.data.memset_async(1, size)  # quicker than a kernel
    return ones


def _full(x):
    """Whether a dense vector is known to have a value everywhere."""
    return isinstance(x._count, int) and x._count == x.n


def _cuts(A, part, columns):
    """What long rows need, kept with the matrix: its rows' or its columns'."""
    key = "cuts", A.turned != columns
    found = A.prepared.get(key)
    if found is None:
        found = A.prepared[key] = Cuts(cupy.diff(part.indptr))
    return found


def instances(offset):
    """Header and names of everything that is compiled for one ring and one type of offsets, for tests."""
    ring = f"hopwave::Ring, {offset}"
    verbs = [(header, f"hopwave::{verb}{more}<{ring}>") for verb, header in HEADERS.items() for more in ("", "_pieces")]
    for header, name in verbs:
        for listed in (", true>", ", false>") if "::pull" in name else (">",):
            yield header, name.removesuffix(">") + listed
    yield "linalg/pull.cuh", "hopwave::segments<hopwave::Ring>"


def array_instances():
    """Kernels on whole arrays: those for a ring's text, and those for a type of values."""
    for_text = [
        f"hopwave::{name}<hopwave::Ring>" for name in ("sum_all", "combine_at", "map_two", "combine_sorted", "map_one")
    ]
    return for_text, [
        f"hopwave::{name}<{kind}>" for name in ("spread", "collect", "fill", "take") for kind in ("bool", "double")
    ]
