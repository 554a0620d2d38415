"""Products on the CPU: Numba kernels specialised to the semiring, rows shared among the crew."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from hopwave import engines
from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import BinaryOp, UnaryOp, constants_of
from hopwave.algebra.vector import Vector
from hopwave.arrays import Array
from hopwave.engines import found_in
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import CHECKED, FOUND, crew_size, share
from hopwave.engines.cpu.linalg import vector_kernels as kernels
from hopwave.engines.cpu.linalg.specialise import callable_from_compiled, operands
from hopwave.engines.cpu.views import kept, read_only, unsigned, unsigned_rows
from hopwave.engines.reference import linalg
from hopwave.graph.csr import Rows
from hopwave.graph.row_operations import Place
from hopwave.planning import jobs
from hopwave.planning.trace import Bucket
from hopwave.system.numba_cache import njit

NO_BITS = read_only(np.empty(0, np.uint8))
NO_ROWS = read_only(np.empty(0, np.uint32))


@kept
def rows_of(A: Matrix) -> tuple[Array, Array]:
    return unsigned_rows(A.rows)


@kept
def columns_of(A: Matrix) -> tuple[Array, Array]:
    return unsigned_rows(A.columns)


@kept
def filled_rows(A: Matrix) -> tuple[Array, int]:
    """Whether each row has entries, as bytes, and the number of empty rows."""
    filled = np.diff(A.rows.indptr) != 0
    return unsigned(filled), len(filled) - int(np.count_nonzero(filled))


def is_exact(product: jobs.Product) -> bool:
    """Whether sums are independent of the order of terms. If not, a list is pushed in ascending order."""
    add = product.add
    return add.any_term or (add.op.built_in and (product.dtype.kind != "f" or add.name in ("min", "max")))


class Algebra(linalg.Algebra):
    """See hopwave.engines.Algebra."""

    name = "cpu"

    def __init__(self) -> None:
        self._scratch: list[tuple[Array, Array]] = []  # mark and queue of pushes, each used by one thread at a time

    def pull(
        self, A: Matrix, x: Vector, product: jobs.Product, allowed: jobs.Allowed | None, threads: int | None
    ) -> tuple[Vector, jobs.Touched]:
        part = A.rows
        n, dtype = A.shape[0], product.dtype
        values, present = x.arrays()
        if allowed is None and not product.early_exit and x.nnz == x.n:
            return self._gather(A, values, product, threads)
        kernel, a, b = operands(kernels.pull, product, part, values)
        rows, bits, complement = NO_ROWS, NO_BITS, 0
        if allowed is not None:
            if allowed.rows is not None:
                rows = unsigned(allowed.rows)
                if rows.size == 0:
                    return Vector.sparse(n, allowed.rows, np.empty(0, dtype)), jobs.Touched()
            else:
                bits, complement = unsigned(allowed.bits), int(allowed.complement)
        size = len(rows) or n
        found = np.zeros(size, np.bool_)
        carries = not (product.term == "one" and product.add.any_term)
        out = np.empty(size if carries else 0, dtype)
        identity = dtype.type(product.add.identity(dtype))
        filled, empty = filled_rows(A)
        work = len(part.indices)
        if allowed is not None and allowed.count is not None:
            # A mask of unreached rows also admits empty rows.
            work = work * max(allowed.count - empty * allowed.complement, 0) // max(n, 1)
        matrix, vector, mask = (*rows_of(A), a), (b, unsigned(present)), (rows, bits, complement)
        # Whether x is so mixed that testing each entry costs more than reading all of them.
        plain = product.add.starts_from_identity and not product.add.any_term and len(a) == 0
        how = (int(product.early_exit), int(plain and x.nnz > policy.MIXED * x.n))
        arguments = (matrix, filled, vector, mask, how, (out, found, identity))
        board = share(kernel, arguments, size, work, threads)
        count, touched = int(board[FOUND]), jobs.Touched(int(board[CHECKED]))
        if allowed is not None and allowed.rows is not None:
            places = allowed.rows[found]
            sums = out[found] if carries else np.ones(count, dtype)
            return Vector.sparse(n, places, sums, ascending=allowed.ascending), touched
        if count * policy.SPARSE_FROM < n:
            places = np.flatnonzero(found).astype(np.int32)
            return Vector.sparse(n, places, out[places] if carries else np.ones(count, dtype)), touched
        if not carries:
            return Vector.dense(found if dtype == np.bool_ else found.astype(dtype), found, count), touched
        return Vector.dense(out, found, count), touched

    def _gather(
        self, A: Matrix, values: Array, product: jobs.Product, threads: int | None
    ) -> tuple[Vector, jobs.Touched]:
        part, n, dtype = A.rows, A.shape[0], product.dtype
        kernel, a, b = operands(kernels.gather, product, part, values)
        out, found = np.empty(n, dtype), np.empty(n, np.bool_)
        identity = dtype.type(product.add.identity(dtype))
        work = len(part.indices)
        board = share(kernel, ((*rows_of(A), a), b, (out, found, identity)), n, work, threads)
        return Vector.dense(out, found, int(board[FOUND])), jobs.Touched(work)

    def push(
        self, A: Matrix, x: Vector, product: jobs.Product, allowed: jobs.Allowed | None, threads: int | None
    ) -> tuple[Vector, jobs.Touched]:
        part = A.columns
        n, dtype = A.shape[0], product.dtype
        places, values = x.listed() if is_exact(product) else x.entries()
        kernel, a, b = operands(kernels.push, product, part, values)
        carries = not (product.term == "one" and product.add.any_term)
        bits, complement = NO_BITS, 0
        if allowed is not None:
            bits, complement = (
                (unsigned(allowed.bits), int(allowed.complement))
                if allowed.bits is not None
                else (unsigned(allowed.as_bits(n, np)), 0)
            )
        mark, queue = self._borrow(n)
        total = np.empty(n if carries else 0, dtype)
        (indptr, indices), places = columns_of(A), unsigned(places)
        work = kernels.entries_of(indptr, places, len(indices))
        crewed = crew_size(work, threads)
        parts = 1 if crewed == 1 else policy.PARTS_PER_THREAD * crewed
        bounds = np.array([n * part // parts for part in range(parts + 1)], np.int64)
        counts = np.zeros(parts, np.int64)
        matrix, vector, mask = (indptr, indices, a), (places, b), (bits, complement)
        arguments = (matrix, vector, mask, (mark, total, queue), (bounds, counts))
        share(kernel, arguments, parts, work, threads, chunk=1)
        count = sum(counts.tolist())
        if count * policy.DENSE_FROM > n:  # the result is then dense, and the marks show which values exist
            present = mark.view(np.bool_)
            values = total if carries else present if dtype == np.bool_ else present.astype(dtype)
            return Vector.dense(values, present, count), jobs.Touched(int(work))
        found = np.empty(count, np.int32)
        kernels.collect(mark, queue, bounds, counts, found.view(np.uint32))
        self._scratch.append((mark, queue))
        sums = total[found] if carries else np.ones(len(found), dtype)
        return Vector.sparse(n, found, sums, ascending=False), jobs.Touched(int(work))

    def count_entries(self, A: Matrix, x: Vector, enough: int) -> int:
        indptr, _ = columns_of(A)
        if x.format == "dense":
            return kernels.entries_where(indptr, unsigned(x.arrays()[1]))
        return kernels.entries_of(indptr, unsigned(x.listed()[0]), enough)

    def _borrow(self, n: int) -> tuple[Array, Array]:
        while self._scratch:
            mark, queue = self._scratch.pop()
            if len(mark) == n:
                return mark, queue
        return np.zeros(n, np.uint8), np.empty(n, np.uint32)

    multiply = found_in(f"{__name__}.matrix", "multiply")
    count_triangles = found_in(f"{__name__}.triangles", "count_triangles")
    triangles = found_in(f"{__name__}.triangles", "triangles_each")
    core_numbers = found_in(f"{__name__}.rounds", "core_numbers")
    label_propagation = found_in(f"{__name__}.rounds", "Labels")
    independent_set = found_in(f"{__name__}.rounds", "independent_set")
    power_iteration = found_in(f"{__name__}.power", "power_iteration")
    lanczos = found_in(f"{__name__}.lanczos", "lanczos")

    def by_place(self, part: Rows, where: Place, diagonal: int) -> Rows:
        if where not in ("tril", "triu"):
            return super().by_place(part, where, diagonal)
        from hopwave.engines.cpu.linalg.matrix import triangle

        return triangle(part, where == "tril", diagonal)

    def dijkstra(self, A: Matrix, search: jobs.ShortestPathsJob) -> jobs.Settled:
        from hopwave.engines.cpu.shortest_paths.delta_stepping import arcs_of
        from hopwave.engines.cpu.shortest_paths.dijkstra import dijkstra

        return jobs.Settled(*dijkstra(arcs_of(A), search.sources, search.limit, search.targets, search.most))

    def delta_stepping(
        self, A: Matrix, search: jobs.ShortestPathsJob, delta: float | None, trace: bool, threads: int | None
    ) -> jobs.FoundByBuckets:
        from hopwave.engines.cpu.shortest_paths.delta_stepping import delta_stepping

        found, width, rows, alone = delta_stepping(A, search, delta, threads, trace)
        levels = (
            Bucket(bucket * width, rounds, vertices, arcs, elapsed * 1e-9)
            for bucket, rounds, vertices, arcs, elapsed in rows
        )
        return jobs.FoundByBuckets(found, tuple(levels), alone)

    def fill(self, values: Array, present: Array, allowed: jobs.Allowed, value: Any) -> int | None:
        value, places = values.dtype.type(value), present.view(np.uint8)
        if allowed.rows is not None:
            kernels.fill_rows(values, places, unsigned(allowed.rows), value)
            return None
        return kernels.fill(values, places, unsigned(allowed.bits), int(allowed.complement), value)

    def binary(self, op: BinaryOp) -> Callable[[Array, Array], Array]:
        return super().binary(op) if op.array or op.built_in else vectorised(op)

    def unary(self, op: UnaryOp) -> Callable[[Array], Array]:
        if op.built_in and op.name == "one":
            return lambda values: np.ones(values.shape, np.bool_)
        return super().unary(op) if op.array else vectorised(op)

    def scatter(self, op: BinaryOp, target: Array, places: Array, values: Array) -> None:
        if op.array or op.built_in:
            super().scatter(op, target, places, values)
        else:
            one = callable_from_compiled(op.function)

            @njit(nogil=True)
            def loop(target, places, values):  # type: ignore[no-untyped-def]
                for i in range(places.size):
                    target[places[i]] = one(target[places[i]], values[i])

            loop(target, places, values)


_loops: dict[Any, Any] = {}


def loop_over(function: Callable[..., Any], operands: int) -> Any:
    """A user's function compiled into a loop. Identical lambdas, such as from a user's loop, are compiled once."""
    key: Any
    try:
        key = (function.__code__, constants_of(function), operands)
        hash(key)
    except (AttributeError, TypeError, ValueError):  # not plain Python, or it closes over an object that may change
        key = (function, operands)
    if key not in _loops:
        while len(_loops) >= policy.COMPILED_FUNCTIONS_KEPT:
            _loops.pop(next(iter(_loops)))
        _loops[key] = _looped(callable_from_compiled(function), operands)
    return _loops[key]


def _looped(one: Any, operands: int) -> Any:
    if operands == 1:

        @njit(nogil=True)
        def loop(x):  # type: ignore[no-untyped-def]
            return [one(v) for v in x]
    else:

        @njit(nogil=True)
        def loop(x, y):  # type: ignore[no-untyped-def]
            return [one(x[i], y[i]) for i in range(x.size)]

    return loop


def vectorised(op: BinaryOp | UnaryOp) -> Callable[..., Array]:
    def on_arrays(*arrays: Array) -> Array:
        columns = [np.ascontiguousarray(array) for array in np.broadcast_arrays(*arrays)]
        kind = op.result_type(*(column.dtype for column in columns))
        if columns[0].size == 0:
            return np.empty(0, kind)
        found = np.array(loop_over(op.function, len(columns))(*columns))
        if op.kind != "same":
            return found.astype(kind)
        narrow = found.dtype == np.int64 and all(column.dtype == np.int32 for column in columns)
        return found.astype(np.int32) if narrow else found

    return on_arrays


if TYPE_CHECKING:
    _: engines.Algebra = Algebra()  # mypy checks the protocol
