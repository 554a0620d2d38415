"""Products over semirings on the GPU: kernels/linalg/*.cuh, compiled for each semiring when it is first used."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from hopwave import engines
from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import BinaryOp, Monoid, UnaryOp
from hopwave.algebra.vector import Vector
from hopwave.arrays import Array, all_true
from hopwave.engines import NoShortcuts, found_in
from hopwave.engines.cuda import Engine, errors
from hopwave.engines.cuda.launch import BLOCK, NULL
from hopwave.engines.cuda.linalg import semiring_source as source
from hopwave.engines.cuda.linalg.scratch import Pending, cuts_of, forget, stream_scratch
from hopwave.errors import EngineError
from hopwave.graph.csr import Rows
from hopwave.graph.row_operations import Place, by_place
from hopwave.planning import jobs

COMMUTATIVE = ("plus", "times", "min", "max", "lor", "land", "lxor")


class _Explained(errors.explained):
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, EngineError):
            forget()  # so that the next call works again
        super().__exit__(kind, error, traceback)  # type: ignore[no-untyped-call]


explained = _Explained("in linear algebra", remedy=errors.FEWER_ROWS)


class Algebra(NoShortcuts):
    """See hopwave.engines.Algebra."""

    name = "cuda"
    xp: Any = cupy

    def missing(self) -> str | None:
        return Engine().missing()

    # ---------------------------------------------------------------- matrix and vector

    @explained
    def pull(
        self, A: Matrix, x: Vector, product: jobs.Product, allowed: jobs.Allowed | None, threads: int | None
    ) -> tuple[Vector, jobs.Touched]:
        here = stream_scratch()
        part, n, dtype = A.rows, A.shape[0], product.dtype
        values, present = x.arrays()
        chosen = None if allowed is None else allowed.rows
        listed = chosen is not None
        count = n if chosen is None else len(chosen)
        if not count or not len(part.indices):
            return self._nothing(n, dtype), jobs.Touched()
        first, second = source.kernels_of(here, product, part, values.dtype).get("pull", listed)
        a, b = source.operands(here, product, part, values)
        matrix = part.indptr, part.indices, a, b, NULL if x.count_if_known() == x.n else present
        rows: Array = NULL if chosen is None else chosen
        bits: Array = NULL if allowed is None or allowed.bits is None else allowed.bits
        complement = np.int8(allowed is not None and allowed.complement)
        carries = not (product.term == "one" and product.add.any_term)
        sums: Array = cupy.empty(count, dtype) if carries else None
        out = NULL if sums is None else sums
        places: Array = cupy.empty(count, np.int32) if listed else NULL
        found: Array = NULL if listed else cupy.empty(n, np.bool_)
        cuts = cuts_of(A, part, columns=False)
        pending = Pending(here)
        group = here.group(count)
        given = (
            *matrix, rows, bits, complement, np.uint64(count), np.int32(group), out, found, places,
            *cuts.arguments(here), cuts.partial(here), here.progress, pending.address,
        )  # fmt: skip
        first((here.spread(count, group),), (BLOCK,), given)
        if cuts.rows:
            second(cuts.grid(here), (BLOCK,), given)
        touched = jobs.Touched(pending.touched)
        if listed:
            size = pending.found()
            sums = _ones(size, dtype) if sums is None else sums[:size]
            return Vector.sparse(n, places[:size], sums, ascending=False), touched
        if sums is None:
            sums = found if dtype == np.bool_ else found.astype(dtype)
        return Vector.dense(sums, found, pending.found), touched

    @explained
    def push(
        self, A: Matrix, x: Vector, product: jobs.Product, allowed: jobs.Allowed | None, threads: int | None
    ) -> tuple[Vector, jobs.Touched]:
        here = stream_scratch()
        part, n, dtype = A.columns, A.shape[0], product.dtype
        places, values = x.listed()
        count = len(places)
        if not count or not len(part.indices):
            return self._nothing(n, dtype), jobs.Touched()
        first, second = source.kernels_of(here, product, part, values.dtype).get("push")
        a, b = source.operands(here, product, part, values)
        bits: Array = NULL
        if allowed is not None:
            bits = allowed.bits if allowed.bits is not None else allowed.as_bits(n, cupy)
        complement = np.int8(allowed is not None and allowed.complement)
        any_term, carries = product.add.any_term, not (product.term == "one" and product.add.any_term)
        marks, stamp = here.marks(n)
        queue = cupy.empty(n, np.int32)
        totals = NULL if any_term else here.take("totals", 8 * n, np.uint8)
        sums: Array = cupy.empty(n, dtype) if any_term and carries else None
        cuts = cuts_of(A, part, columns=True)
        pending = Pending(here)
        group = here.group(count)
        given = (
            part.indptr, part.indices, a, places, b, bits, complement, marks, np.uint32(stamp), totals, queue,
            NULL if sums is None else sums, np.uint64(count), np.int32(group), *cuts.arguments(here), here.progress,
            pending.address,
        )  # fmt: skip
        first((here.spread(count, group),), (BLOCK,), given)
        size, _, pieces = pending.wait()  # the length of the list is needed anyway
        if pieces:
            second(cuts.grid(here), (BLOCK,), given)
            pending.again()
            size = pending.found()
        queue = queue[:size]
        if any_term:
            sums = sums[:size] if carries else _ones(size, dtype)
        else:
            sums = cupy.empty(size, dtype)
            if size:
                take = here.array_kernel("take", dtype=dtype)
                here.launch(take, size, (totals, queue, np.uint64(size), sums))
        return Vector.sparse(n, queue, sums, ascending=False), jobs.Touched(pending.touched())

    @explained
    def waves(
        self, A: Matrix, x: Vector, product: jobs.Product, places: jobs.Product, depth_limit: int | None, alpha: float,
        beta: float, trace: bool,
    ) -> engines.FoundByWaves | None:  # fmt: skip
        from hopwave.engines.cuda.linalg.waves import waves

        if x.format == "dense":  # kernels read a list
            places_of_x, values = self.collect(*x.arrays())[:2] if x.device == "cuda" else x.entries()
            x = Vector.sparse(x.n, places_of_x, values, ascending=False)
        return waves(A, x, product, places, depth_limit, alpha, beta, trace)

    @explained
    def near_far(self, A: Matrix, search: jobs.ShortestPathsJob, delta: float | None, trace: bool) -> jobs.FoundNearFar:
        from hopwave.engines.cuda import shortest_paths as paths
        from hopwave.engines.cuda.buffers import to_host

        distances, buckets = paths.search(A, search, delta, trace)

        @explained
        def predecessors(_: Algebra) -> Array:
            return paths.predecessors(A, search.sources, distances)

        @explained
        def path(_: Algebra, target: int) -> list[int] | None:
            return paths.path_back(A, search.sources[0], target, distances)

        return jobs.FoundNearFar(
            distances, tuple(buckets), lambda: predecessors(self), to_host, lambda target: path(self, target)
        )

    power_iteration = explained(found_in(f"{__name__}.power", "iterate"))
    lanczos = explained(found_in(f"{__name__}.shortcuts", "lanczos_steps"))
    core_numbers = explained(found_in(f"{__name__}.shortcuts", "core_numbers"))
    label_propagation = explained(found_in(f"{__name__}.shortcuts", "Labels"))
    independent_set = explained(found_in(f"{__name__}.shortcuts", "independent_set"))
    count_triangles = explained(found_in(f"{__name__}.shortcuts", "count_triangles"))
    triangles = explained(found_in(f"{__name__}.shortcuts", "triangles"))

    def _nothing(self, n: int, dtype: np.dtype[Any]) -> Vector:
        return Vector.sparse(n, cupy.empty(0, np.int32), cupy.empty(0, dtype))

    # ---------------------------------------------------------------- matrix and matrix

    @explained
    def multiply(
        self, A: Matrix, B: Matrix, product: jobs.Product, mask: Rows | None, complement: bool, by: jobs.Direction,
        threads: int | None,
    ) -> tuple[Rows, jobs.Touched]:  # fmt: skip
        from hopwave.engines.cuda.linalg.matrix import dots, expanded

        if mask is not None and not complement and by != "push":
            return dots(A, B, product, mask)
        return expanded(A, B, product, mask, complement)

    # ---------------------------------------------------------------- arrays

    @explained
    def binary(self, op: BinaryOp) -> Callable[[Array, Array], Array]:
        @explained
        def on_arrays(_: Algebra, x: Array, y: Array) -> Array:
            x, y = cupy.asarray(x), cupy.asarray(y)
            kind = op.result_type(np.dtype(x.dtype), np.dtype(y.dtype))
            size = max(x.size, y.size) if x.size and y.size else 0
            found = cupy.empty(size if x.ndim or y.ndim else (), kind)
            if size:
                here = stream_scratch()
                kernel = here.array_kernel("map_two", source.binary_text(op, x.dtype, y.dtype, kind))
                x, y = cupy.ascontiguousarray(x), cupy.ascontiguousarray(y)
                steps = np.int32(x.size > 1 or size == 1), np.int32(y.size > 1 or size == 1)
                here.launch(kernel, size, (x, steps[0], y, steps[1], found, np.uint64(size)))
            return found

        return lambda x, y: on_arrays(self, x, y)

    @explained
    def unary(self, op: UnaryOp) -> Callable[[Array], Array]:
        @explained
        def on_array(_: Algebra, x: Array) -> Array:
            x = cupy.ascontiguousarray(x)
            found = cupy.empty(x.shape, source.unary_result(op, np.dtype(x.dtype)))
            if x.size:
                here = stream_scratch()
                kernel = here.array_kernel("map_one", source.unary_text(op, x.dtype, found.dtype))
                here.launch(kernel, x.size, (x, found, np.uint64(x.size)))
            return found

        return lambda x: on_array(self, x)

    @explained
    def reduce(self, add: Monoid, values: Array, dtype: np.dtype[Any]) -> Any:
        if add.any_term:
            return values[0].item()
        here = stream_scratch()
        blocks = min(-(-len(values) // BLOCK), here.blocks)
        parts = here.take("parts", 8 * here.blocks, np.uint8)
        found = cupy.empty(1, dtype)
        kernel = here.array_kernel("sum_all", source.monoid_text(add.op, values.dtype, dtype))
        values = cupy.ascontiguousarray(values)
        kernel((blocks,), (BLOCK,), (values, np.uint64(len(values)), parts, here.progress, found))
        return found.item()

    @explained
    def scatter(self, op: BinaryOp, target: Array, places: Array, values: Array) -> None:
        if (op.built_in and op.name in ("any", "first")) or not len(places):
            return
        here, count = stream_scratch(), np.uint64(len(places))
        if op.built_in and op.name in COMMUTATIVE:
            kernel = here.array_kernel("combine_at", source.monoid_text(op, values.dtype, target.dtype))
            here.launch(kernel, len(places), (target, places, values, count))
            return
        text = source.binary_text(op, target.dtype, values.dtype, target.dtype)
        kernel = here.array_kernel("combine_sorted", text)
        order = cupy.argsort(places, kind="stable").astype(np.int64, copy=False)
        here.launch(kernel, len(places), (target, places, order, values, count))

    @explained
    def fill(self, values: Array, present: Array, allowed: jobs.Allowed, value: Any) -> int | None:
        rows: Array = NULL if allowed.rows is None else allowed.rows
        bits = NULL if allowed.bits is None else allowed.bits
        count = len(values) if allowed.rows is None else len(rows)
        if count:
            here = stream_scratch()
            kernel = here.array_kernel("fill", dtype=values.dtype)
            complement = np.int8(allowed.complement)
            value = values.dtype.type(value)
            value = value.view(np.int8) if value.itemsize == 1 else value
            here.launch(kernel, count, (values, present, value, rows, bits, complement, np.uint64(count)))
        return None

    @explained
    def spread(self, n: int, places: Array, values: Array) -> tuple[Array, Array]:
        everywhere, present = cupy.zeros(n, values.dtype), cupy.zeros(n, np.bool_)
        if len(places):
            here = stream_scratch()
            kernel = here.array_kernel("spread", dtype=values.dtype)
            here.launch(kernel, len(places), (places, values, np.uint64(len(places)), everywhere, present))
        return everywhere, present

    @explained
    def collect(self, values: Array, present: Array) -> tuple[Array, Array, bool]:
        """The list is in the order in which thread blocks finish."""
        n = len(values)
        places, found = cupy.empty(n, np.int32), cupy.empty(n, values.dtype)
        if not n:
            return places, found, True
        here = stream_scratch()
        pending = Pending(here)
        kernel = here.array_kernel("collect", dtype=values.dtype)
        here.launch(kernel, n, (values, present, np.uint64(n), places, found, here.progress, pending.address))
        size = pending.found()
        return places[:size], found[:size], False

    @explained
    def by_place(self, part: Rows, where: Place, diagonal: int) -> Rows:
        return by_place(part, where, diagonal, cupy)


def _ones(size: int, dtype: np.dtype[Any]) -> Array:
    return cupy.ones(size, dtype) if dtype != np.bool_ else all_true(size, cupy)


if TYPE_CHECKING:
    _: engines.Algebra = Algebra()  # mypy checks the protocol
