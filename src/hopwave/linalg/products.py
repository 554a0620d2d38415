"""Products over a semiring: y(i) = ⊕ₖ A(i,k) ⊗ x(k), by columns (push) or by rows (pull); and sums over a monoid.

The four products of push-pull's Table 1 (d entries per row, M rows; f the vector, m the mask):

    by rows              d·M                     by rows, masked       d·nnz(m)
    by columns           d·nnz(f) (· log …)      by columns, masked    d·nnz(f) (· log …)

The vector's format decides: a sparse vector (a list) is pushed, a dense vector (an array) is pulled
(section 6.3). The logarithm comes from a sort; hopwave's engines scatter into an array instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Unpack, get_args

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix, as_matrix
from hopwave.algebra.operators import BinaryOp, Monoid, binary, checked_dtype, monoid
from hopwave.algebra.semiring import Semiring, semiring
from hopwave.algebra.vector import Vector, as_vector
from hopwave.checks.keywords import shared
from hopwave.checks.numbers import is_whole
from hopwave.checks.options import check_thread_count, flag, one_of
from hopwave.engines import Algebra
from hopwave.errors import EngineError, LinalgError
from hopwave.graph.csr import Rows, arc_tails
from hopwave.graph.row_operations import rest_of
from hopwave.linalg.masking import (
    Writes,
    Writing,
    allowed_places,
    arrays,
    choose,
    compiling,
    convert,
    is_table,
    listed,
    mask_rows,
    write,
    write_matrix,
    writing,
)
from hopwave.planning.jobs import Allowed, Direction, Product, Term, Touched

DIRECTIONS = get_args(Direction)
MOST_PLACES = 1 << 31  # maximum positions of a pull under a complemented mask; each uses an int64 key and a byte

# ------------------------------------------------------------------ arithmetic


# Name of ⊗ (or its position) → kind of term: LEFT for A ⊕.⊗ x, RIGHT for x ⊕.⊗ A.
LEFT_MEANS: dict[str, Term] = {"pair": "one", "any": "a", "first": "a", "second": "x"}
RIGHT_MEANS: dict[str, Term] = {"pair": "one", "any": "x", "first": "x", "second": "a"}
LEFT_PLACES: dict[str, Term] = {"firsti": "out", "firstj": "inner", "secondi": "inner", "secondj": "zero"}
RIGHT_PLACES: dict[str, Term] = {"firsti": "zero", "firstj": "inner", "secondi": "inner", "secondj": "out"}


def arithmetic(
    ring: Semiring, A: Matrix, x: np.dtype[Any], flip: bool, dtype: npt.DTypeLike | None, early_exit: bool,
    structure_only: bool,
) -> Product:  # fmt: skip
    """The semiring in the engines' format: the kind of term, the type of sums, and the valid shortcuts."""
    given: Any = ring
    if not isinstance(given, Semiring):
        known = f"linalg.semiring.{given}" if isinstance(given, str) and given in semiring else "one of linalg.semiring"
        raise LinalgError(f"{given!r} is not a semiring; use {known}, or define one with Semiring.define")
    kind = None if dtype is None else checked_dtype(dtype)
    return _arithmetic(ring, A.dtype, A.has_values, x, flip, kind, early_exit, structure_only)


@lru_cache(maxsize=1024)  # equal arithmetic gives the same record, which is the engines' cache key for compiled kernels
def _arithmetic(
    ring: Semiring, a: np.dtype[Any], has_values: bool, x: np.dtype[Any], flip: bool, dtype: np.dtype[Any] | None,
    early_exit: bool, structure_only: bool,
) -> Product:  # fmt: skip
    multiply, add = ring.multiply, ring.add
    if multiply.position:
        term = (RIGHT_PLACES if flip else LEFT_PLACES)[multiply.position]
    else:
        term = (RIGHT_MEANS if flip else LEFT_MEANS).get(multiply.name, "both") if multiply.built_in else "both"
    if dtype is None:
        kind = add.sum_type(multiply.result_type(x, a) if flip else multiply.result_type(a, x))
        if add.op.kind == "bool":
            kind = np.dtype(np.bool_)
    else:
        kind = dtype
    # Without structure_only, values that ⊗ ignores are also read: the paper's ablation (section 5.5).
    skips = bool(structure_only) and (term not in ("a", "both") or not has_values)
    return Product(add, multiply, term, flip, kind, early_exit and add.short_circuits, skips)


# ------------------------------------------------------------------ explanations


@dataclass(frozen=True)
class Explanation:
    """The product that ran, and the number of matrix entries that it read.

    `expected` is the count of memory accesses in the push-pull paper's Table 1 (without the logarithm); `touched` is
    the number of matrix entries that were actually read, fewer if rows stopped early.

    >>> A, x = la.Matrix.from_dense([[1.0] * 4] * 4), la.Vector.from_entries([0], [1.0], n=4)
    >>> y, why = la.mxv(A, x, direction="push", explain=True)
    >>> why.product, why.touched
    ('by columns', 4)
    """

    operation: str
    semiring: str
    engine: str
    direction: str
    product: str
    why: str
    nnz_x: int
    nnz_mask: int | None
    expected: int
    touched: int
    early_exit: bool
    operand_reuse: bool
    structure_only: bool
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        tricks = [word for word in ("early_exit", "operand_reuse", "structure_only") if getattr(self, word)]
        masked = "" if self.nnz_mask is None else f", {self.nnz_mask:,} rows allowed"
        return (
            f"{self.operation} over {self.semiring} on {self.engine}: {self.direction}, {self.product} ({self.why}); "
            f"{self.nnz_x:,} entries in{masked}; {self.touched:,} of {self.expected:,} expected entries touched"
            + (f"; {', '.join(tricks)}" if tricks else "")
        )


def explained(
    operation: str, ring: Semiring, engine: Algebra, A: Matrix, product: Product, allowed: Allowed | None, pull: bool,
    reused: bool, nnz: int, touched: Touched, why: str,
) -> Explanation:  # fmt: skip
    """The Explanation of a vector product; `why` is the reason for its direction."""
    (rows, inner), count = A.shape, None
    if allowed is not None:
        xp = engine.xp
        count = int(xp.count_nonzero(allowed.as_bits(rows, xp))) if allowed.count is None else allowed.count
    expected = A.nnz / max(rows if pull else inner, 1) * ((rows if count is None else count) if pull else nnz)
    return Explanation(
        operation, ring.name, engine.name, direction="pull" if pull else "push",
        product=("by rows" if pull else "by columns") + (", masked" if allowed is not None else ""), why=why,
        nnz_x=nnz, nnz_mask=count, expected=round(expected), touched=touched.count(),
        early_exit=product.early_exit and pull, operand_reuse=reused, structure_only=product.structure_only,
        notes=tuple(touched.notes),
    )  # fmt: skip


# ------------------------------------------------------------------ products


class Multiplies(Writes, total=False):
    """The keywords of products, for type checkers; `mxv` describes them."""

    dtype: npt.DTypeLike | None
    direction: Direction
    early_exit: bool
    structure_only: bool
    explain: bool
    device: str
    threads: int | None


@shared("Multiplies")
class Options(NamedTuple):
    """The keywords of `Multiplies` with their defaults."""

    out: Any = None
    mask: Any = None
    complement: bool = False
    structural: bool = False
    accum: Any = None
    replace: bool = False
    dtype: npt.DTypeLike | None = None
    direction: Direction = "auto"
    early_exit: bool = True
    structure_only: bool = True
    explain: bool = False
    device: str = "auto"
    threads: int | None = None

    def checked(self) -> Writing:
        """The keywords for writing the result; raises a LinalgError for invalid keywords."""
        flags = {"early_exit": self.early_exit, "structure_only": self.structure_only, "explain": self.explain}
        check_options(self.direction, **flags)
        return writing(Writing(*self[:6]))


@compiling
def mxv(
    A: Any, x: Any, semiring: Semiring = semiring.plus_times, *, operand_reuse: bool = False,
    **options: Unpack[Multiplies],
) -> Any:  # fmt: skip
    """out⟨mask⟩ ⊙= A ⊕.⊗ x: matrix times vector.

    Parameters
    ----------
    A : Matrix, Graph, or SciPy or CuPy sparse matrix
        The matrix.
    x : Vector or array
        The vector.
    semiring : Semiring, optional
        ⊕ and ⊗.
    out : Vector, optional
        Vector to write to; by default a new one.
    mask : Vector or array, optional
        Compute only where the mask is true.
    complement, structural : bool, optional
        `complement`: compute where the mask is not true. `structural`: every entry of the mask counts as true.
    accum : operator, optional
        out(i) = accum(out(i), new), with `new` converted to the type of `out` first.
    replace : bool, optional
        Whether to remove entries of `out` that the mask does not allow.
    dtype : optional
        Type of the result; by default the type that ⊕.⊗ gives.
    direction : {"auto", "push", "pull"}, optional
        "push" by columns, "pull" by rows; "auto" applies the vector's rule.
    early_exit : bool, optional
        Whether a row may stop once no further term can change its sum, for ⊕ with such a value (OR stops at True).
    operand_reuse : bool, optional
        Whether a masked pull reads the *mask's* entries instead of x's. Only for a search, in which the mask is the
        visited vertices, x the newest visited vertices, and ⊕ accepts any term.
    structure_only : bool, optional
        Whether to skip values that ⊗ does not need.
    explain : bool, optional
        Whether to return an Explanation also.
    device, threads
        As in `hopwave.bfs`.

    Returns
    -------
    Vector, or a pair of Vector and Explanation
        `out`, or a new vector; with `explain=True` also an explanation.

    Examples
    --------
    >>> A = la.Matrix.from_graph(hw.generate.path(4))
    >>> frontier = la.Vector.from_entries([1], True, n=4)
    >>> la.mxv(A, frontier, la.semiring.any_secondi).to_dict()
    {0: 1, 2: 1}
    """
    return _product("mxv", _matrix(A, "mxv"), x, semiring, operand_reuse, Options(**options))


@compiling
def vxm(
    x: Any, A: Any, semiring: Semiring = semiring.plus_times, *, operand_reuse: bool = False,
    **options: Unpack[Multiplies],
) -> Any:  # fmt: skip
    """out⟨mask⟩ ⊙= x ⊕.⊗ A: a row vector times a matrix, so that values follow the arcs.

    Parameters
    ----------
    x, A, semiring, operand_reuse
        As in `mxv`.

    Returns
    -------
    Vector, or a pair of Vector and Explanation
        As in `mxv`.

    Examples
    --------
    >>> A = la.Matrix.from_edges([0, 0], [1, 2], [5.0, 7.0], shape=3)
    >>> la.vxm(la.Vector.from_entries([0], [1.0], n=3), A, la.semiring.min_plus).to_dict()
    {1: 6.0, 2: 8.0}
    """
    return _product("vxm", _matrix(A, "vxm").T, x, semiring, operand_reuse, Options(**options))


def _matrix(A: Any, call: str) -> Matrix:
    """The operand A; for a Vector, the LinalgError shows the order of arguments."""
    if isinstance(A, Vector):
        raise LinalgError(f"{call} got a Vector instead of a matrix; write mxv(A, x), vxm(x, A) or mxm(A, B)")
    return as_matrix(A)


def multiplied(left: Any, right: Any) -> Any:
    """left @ right over plus_times."""
    if isinstance(left, Vector):
        return vxm(left, right)
    return mxm(left, right) if is_table(right) else mxv(left, right)


def _product(operation: Literal["mxv", "vxm"], A: Matrix, x: Any, ring: Semiring, reuse: bool, options: Options) -> Any:
    """mxv and vxm. A's rows are the positions of the result."""
    how = options.checked()
    flag("operand_reuse", reuse, LinalgError)
    rows, inner = A.shape
    x = as_vector(x, inner, "x")
    engine = choose(options.device, x, A)
    check_threads(options.threads, engine)
    A, x = A.to(engine.name), x.to(engine.name)
    flip = operation == "vxm"
    product = arithmetic(ring, A, x.dtype, flip, options.dtype, options.early_exit, options.structure_only)
    allowed = allowed_places(how, rows, engine)
    if reuse:
        check_reuse(ring, how, rows, inner)
    nnz = x.nnz if options.explain else 0  # only if needed: counting may have to wait for a GPU
    pull = x._decide() == "dense" if options.direction == "auto" else options.direction == "pull"
    reused = pull and reuse
    if reused:
        operand = visited(allowed, rows)
    else:
        operand = x
        convert(x, "dense" if pull else "sparse", engine)
    found, touched = (engine.pull if pull else engine.push)(A, operand, product, allowed, options.threads)
    result = write(found, how, allowed, engine)
    if how.out is None:
        result._follow(x)
    if not options.explain:
        return result
    why = "requested" if options.direction != "auto" else f"x is {nnz / max(inner, 1):.2%} full"
    return result, explained(operation, ring, engine, A, product, allowed, pull, reused, nnz, touched, why)


def visited(allowed: Allowed | None, n: int) -> Vector:
    """The entries of a complemented mask, as the operand of a pull, so that x need not be converted (section 5.4)."""
    assert allowed is not None, "check_reuse"
    return Vector.dense(allowed.bits, allowed.bits, None if allowed.count is None else n - allowed.count)


def check_options(direction: Direction, **flags: Any) -> None:
    """Raise a LinalgError for an unknown direction, or a flag that is not a bool."""
    one_of("direction", direction, DIRECTIONS, LinalgError)
    for name, value in flags.items():
        flag(name, value, LinalgError)


def check_threads(threads: int | None, engine: Algebra) -> None:
    """Raise an EngineError if threads= is passed for an engine other than the CPU's."""
    check_thread_count(threads)
    if threads is not None and engine.name != "cpu":
        raise EngineError(f"threads={threads!r} is only for device='cpu', not {engine.name!r}; omit one of them")


def check_reuse(ring: Semiring, how: Writing, rows: int, inner: int) -> None:
    """Raise a LinalgError if reading the mask instead of x would change the result."""
    if how.mask is None or not how.complement or rows != inner:
        raise LinalgError("operand_reuse=True reads the mask instead of x; pass a complemented mask of x's length")
    if not ring.any_term and ring != semiring.or_and:
        problem = f"operand_reuse=True with {ring.name} would add terms that x does not have"
        raise LinalgError(f"{problem}; use it with any_pair or another semiring that accepts any term")
    reads_none = ring.multiply.built_in and ring.multiply.name in ("pair", "land")
    if not reads_none and not ring.multiply.position:
        raise LinalgError(f"operand_reuse=True with {ring.name} would read values that x does not have; use any_pair")


@compiling
def mxm(A: Any, B: Any, semiring: Semiring = semiring.plus_times, **options: Unpack[Multiplies]) -> Any:
    """out⟨mask⟩ ⊙= A ⊕.⊗ B: matrix times matrix. Matrices are immutable: the result is a new matrix.

    "push" scatters rows of B into an accumulator (Gustavson) and looks up the mask; "pull" computes one dot product for
    every position that the mask allows. "auto" pulls if pulling is less work.

    Parameters
    ----------
    A, B : Matrix, Graph, or SciPy or CuPy sparse matrix
        The matrices.
    semiring
        As in `mxv`.

    Returns
    -------
    Matrix, or a pair of Matrix and Explanation
        The result; with `explain=True` also an explanation.

    Examples
    --------
    >>> A = la.Matrix.from_graph(hw.generate.complete(4))
    >>> la.reduce(la.mxm(A, A, la.semiring.plus_pair, mask=A)) // 6  # triangles
    4
    """
    given = Options(**options)
    how, direction = given.checked(), given.direction
    left, right = _matrix(A, "mxm").checked(), _matrix(B, "mxm").checked()
    if left.shape[1] != right.shape[0]:
        raise LinalgError(f"{left.shape} times {right.shape} is undefined: A must have as many columns as B has rows")
    engine = choose(given.device, left, right)
    check_threads(given.threads, engine)
    left, right = left.to(engine.name), right.to(engine.name)
    shape = (left.shape[0], right.shape[1])
    let = mask_rows(how, shape, engine)
    product = arithmetic(semiring, left, right.dtype, False, given.dtype, given.early_exit, given.structure_only)
    if direction == "pull" and let is None:
        raise LinalgError("direction='pull' computes only entries of a mask; pass mask=, or direction='push'")
    places, shut = let, how.complement  # a mask, and whether it is complemented
    if let is not None and shut and (direction == "pull" or rest_is_less_work(left, right, let, given, engine)):
        if shape[0] * shape[1] > MOST_PLACES:
            raise LinalgError(
                f"direction='pull' under a complemented mask would list {shape[0]} × {shape[1]} positions, more than "
                f"{MOST_PLACES}; use direction='push', or fewer rows"
            )
        places, shut = rest_of(let, shape[1], engine.xp), False
    by: Direction = "push" if let is None or shut else "pull" if how.complement else direction
    rows, touched = engine.multiply(left, right, product, places, shut, by, given.threads)
    result = write_matrix(Matrix.from_rows(rows, shape), how, let, engine)
    if not given.explain:
        return result
    count = None if places is None else len(places.indices)
    d = right.nnz / max(right.shape[0], 1)
    ran = touched.notes[0]
    return result, Explanation(
        "mxm", semiring.name, engine.name, direction=ran,
        product=("by dot products" if ran == "pull" else "by rows of B") + (", masked" if let is not None else ""),
        why="requested" if direction != "auto" else "less work", nnz_x=left.nnz, nnz_mask=count,
        expected=round(d * (2 * (count or 0) if ran == "pull" else left.nnz)), touched=touched.count(),
        early_exit=product.early_exit, operand_reuse=False, structure_only=product.structure_only,
        notes=tuple(touched.notes[1:]),
    )  # fmt: skip


def rest_is_less_work(A: Matrix, B: Matrix, mask: Rows, options: Options, engine: Algebra) -> bool:
    """Whether dot products outside a mask read fewer entries than a push of A (push-pull, section 5.6)."""
    xp, places = engine.xp, A.shape[0] * B.shape[1]
    pushed = int(xp.diff(B.rows.indptr)[A.rows.indices].sum()) if A.nnz and options.direction == "auto" else 0
    if pushed <= places or places > MOST_PLACES:  # a pull reads at least one entry per position
        return False
    there = xp.diff(A.rows.indptr) > 0  # empty rows of A give no sums
    lengths = xp.diff(B.columns.indptr).astype(np.int64)
    shut = int(lengths[mask.indices][there[arc_tails(mask)]].sum())
    return int(there.sum()) * B.nnz - shut + places <= pushed


@compiling
def reduce(u: Any, add: Any = monoid.plus, *, axis: int | None = None, device: str = "auto") -> Any:
    """⊕ of all values of a vector or matrix, or of every row (axis=1) or column (axis=0) of a matrix.

    The sum of an empty vector or matrix is the monoid's identity; an empty row or column has no entry in the result.

    Parameters
    ----------
    u : Vector or Matrix
    add : Monoid or BinaryOp, optional
        ⊕.
    axis : {None, 0, 1}, optional
        None: one sum of all values. 0: one sum per column. 1: one sum per row.

    Returns
    -------
    number or Vector
        One sum, or one for every nonempty row or column.

    Examples
    --------
    >>> A = la.Matrix.from_dense([[1, 2], [0, 4]])
    >>> la.reduce(A), la.reduce(A, la.monoid.max, axis=1).to_dict()
    (7, {0: 2, 1: 4})
    """
    if axis is not None and (not is_whole(axis) or axis not in (0, 1)):
        raise LinalgError(f"axis={axis!r} is not known; use 0 for every column, 1 for every row, or None for all")
    if isinstance(add, BinaryOp):
        known = monoid.get(add.name)
        if known is None or known.op is not add:
            raise LinalgError(f"{add.name} has no known identity; pass a Monoid, such as Monoid({add.name}, 0)")
        add = known
    if not isinstance(add, Monoid):
        raise LinalgError(f"{add!r} is not a monoid; use one of linalg.monoid, such as linalg.monoid.plus")
    engine = choose(device, u)
    if axis is not None:
        if not is_table(u):
            raise LinalgError(f"axis={axis} is only for matrices; omit it for a vector")
        A = as_matrix(u)
        A = A if axis == 1 else A.T
        ones = Vector.full(A.shape[1], True, device=engine.name)
        ring = Semiring(f"{add.name}_first", add, binary.first)
        return mxv(A, ones, ring, direction="pull", device=engine.name)
    values = (u if isinstance(u, Vector) else as_matrix(u)).to(engine.name)
    if isinstance(values, Matrix):
        array = values.stored_values()
    else:
        array = arrays(values, engine)[0] if values.nnz == values.n else listed(values, engine)[1]
    kind = add.sum_type(np.dtype(array.dtype))
    return engine.reduce(add, array, kind) if len(array) else add.identity(kind)
