"""Products over a semiring: y(i) = ⊕ₖ A(i,k) ⊗ x(k), by columns (push) or by rows (pull).

The four products of push-pull's Table 1 (d entries per row, M rows; f the vector, m the mask):

    by rows              d·M                     by rows, masked       d·nnz(m)
    by columns           d·nnz(f) (· log …)      by columns, masked    d·nnz(f) (· log …)

The vector's format chooses: a sparse vector is a list, and is pushed; a dense vector is an array, and is pulled
(section 6.3). The logarithm comes from a sort; our engines scatter into an array instead.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy.typing as npt

from hopwave.algebra.matrix import Matrix, as_matrix
from hopwave.algebra.semiring import Semiring, semiring
from hopwave.algebra.vector import Vector, as_vector
from hopwave.checks.options import check_thread_count, flag, one_of
from hopwave.engines import Algebra
from hopwave.errors import EngineError, LinalgError
from hopwave.graph.row_operations import rest_of
from hopwave.linalg.arithmetic import arithmetic
from hopwave.linalg.complement import check_places, rest_is_less_work
from hopwave.linalg.engine import choose, compiling
from hopwave.linalg.explanation import Explanation, VectorProduct, explained
from hopwave.linalg.formats import convert
from hopwave.linalg.masking import Writing, allowed_places, mask_rows, write, write_matrix, writing
from hopwave.planning.jobs import Allowed, Direction

DIRECTIONS = get_args(Direction)


class Options(NamedTuple):
    """The keywords that say how a vector product is computed; `mxv` documents them."""

    dtype: npt.DTypeLike | None
    direction: Direction
    early_exit: bool
    operand_reuse: bool
    structure_only: bool
    explain: bool
    device: str
    threads: int | None


@compiling
def mxv(
    A: Any, x: Any, semiring: Semiring = semiring.plus_times, *, out: Vector | None = None, mask: Any = None,
    complement: bool = False, structural: bool = False, accum: Any = None, replace: bool = False,
    dtype: npt.DTypeLike | None = None, direction: Direction = "auto", early_exit: bool = True,
    operand_reuse: bool = False, structure_only: bool = True, explain: bool = False, device: str = "auto",
    threads: int | None = None,
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
        Where to write; by default a new vector.
    mask : Vector or array, optional
        Compute only where it is true.
    complement, structural : bool, optional
        `complement`: compute where the mask is not true. `structural`: every entry of the mask counts as true.
    accum : operator, optional
        out(i) = accum(out(i), new), with `new` converted to the type of `out` first.
    replace : bool, optional
        Remove entries of `out` that the mask does not allow.
    dtype : optional
        The type of the result; by default the one that ⊕.⊗ settles on.
    direction : {"auto", "push", "pull"}, optional
        "push" by columns, "pull" by rows; "auto" as the vector's rule chooses.
    early_exit : bool, optional
        A row may stop once no further term can change its sum, if ⊕ has such a value (True for OR).
    operand_reuse : bool, optional
        A masked pull reads the *mask's* entries instead of x's. Only for a search, where the mask is the visited
        vertices, x the newest of them, and ⊕ takes any term.
    structure_only : bool, optional
        Values that ⊗ does not need are not read.
    explain : bool, optional
        Return what was done, too.
    device, threads
        As for `hopwave.bfs`.

    Returns
    -------
    Vector, or a pair of Vector and Explanation
        `out`, or a new vector; with `explain=True` also what was done.

    See Also
    --------
    vxm : a row vector times a matrix.
    mxm : matrix times matrix.
    waves : repeated products, until nothing new is reached.

    Examples
    --------
    >>> A = la.Matrix.from_graph(hw.generate.path(4))
    >>> frontier = la.Vector.from_entries([1], True, n=4)
    >>> la.mxv(A, frontier, la.semiring.any_secondi).to_dict()
    {0: 1, 2: 1}
    """
    how = writing(out, mask, complement, structural, accum, replace)
    options = Options(dtype, direction, early_exit, operand_reuse, structure_only, explain, device, threads)
    return _product("mxv", as_matrix(A), x, semiring, how, options)


@compiling
def vxm(
    x: Any, A: Any, semiring: Semiring = semiring.plus_times, *, out: Vector | None = None, mask: Any = None,
    complement: bool = False, structural: bool = False, accum: Any = None, replace: bool = False,
    dtype: npt.DTypeLike | None = None, direction: Direction = "auto", early_exit: bool = True,
    operand_reuse: bool = False, structure_only: bool = True, explain: bool = False, device: str = "auto",
    threads: int | None = None,
) -> Any:  # fmt: skip
    """out⟨mask⟩ ⊙= x ⊕.⊗ A: a row vector times a matrix, so that values follow the arcs. Keywords as for `mxv`.

    Parameters
    ----------
    x : Vector or array
        The row vector.
    A : Matrix, Graph, or SciPy or CuPy sparse matrix
        The matrix.
    semiring : Semiring, optional
        ⊕ and ⊗.
    out, mask, complement, structural, accum, replace, dtype
        As for `mxv`.
    direction, early_exit, operand_reuse, structure_only, explain, device, threads
        As for `mxv`.

    Returns
    -------
    Vector, or a pair of Vector and Explanation
        As for `mxv`.

    See Also
    --------
    mxv, mxm

    Examples
    --------
    >>> A = la.Matrix.from_edges([0, 0], [1, 2], [5.0, 7.0], shape=3)
    >>> la.vxm(la.Vector.from_entries([0], [1.0], n=3), A, la.semiring.min_plus).to_dict()
    {1: 6.0, 2: 8.0}
    """
    how = writing(out, mask, complement, structural, accum, replace)
    options = Options(dtype, direction, early_exit, operand_reuse, structure_only, explain, device, threads)
    return _product("vxm", as_matrix(A).T, x, semiring, how, options)


def _product(
    operation: Literal["mxv", "vxm"], A: Matrix, x: Any, ring: Semiring, how: Writing, options: Options
) -> Any:
    """mxv and vxm. A's rows are the places of the result."""
    check_direction(options.direction)
    check_flags(
        early_exit=options.early_exit, operand_reuse=options.operand_reuse, structure_only=options.structure_only,
        explain=options.explain,
    )  # fmt: skip
    rows, inner = A.shape
    x = as_vector(x, inner, "x")
    engine = choose(options.device, x, A)
    check_threads(options.threads, engine)
    A, x = A.to(engine.name), x.to(engine.name)
    flip = operation == "vxm"
    product = arithmetic(ring, A, x.dtype, flip, options.dtype, options.early_exit, options.structure_only)
    allowed = allowed_places(how, rows, engine)
    if options.operand_reuse:
        check_reuse(ring, how, rows, inner)
    nnz = x.nnz if options.explain else 0  # only if needed: counting may have to wait for a GPU
    pull = x.decide() == "dense" if options.direction == "auto" else options.direction == "pull"
    reused = pull and options.operand_reuse
    if reused:
        operand = visited(allowed, rows)
    else:
        operand = x
        convert(x, "dense" if pull else "sparse", engine)
    found, touched = (engine.pull if pull else engine.push)(A, operand, product, allowed, options.threads)
    result = write(found, how, allowed, engine)
    if how.out is None:
        result.follow(x)
    if not options.explain:
        return result
    why = "as asked" if options.direction != "auto" else f"x holds {nnz / max(inner, 1):.2%} of its places"
    return result, explained(
        VectorProduct(operation, ring, engine, A, product, allowed, pull, reused, nnz, touched), why
    )


def visited(allowed: Allowed | None, n: int) -> Vector:
    """The entries of a complemented mask, as the operand of a pull: x need not be converted then (section 5.4)."""
    assert allowed is not None, "check_reuse"
    return Vector.dense(allowed.bits, allowed.bits, None if allowed.count is None else n - allowed.count)


def check_direction(direction: Direction) -> None:
    """Raise a LinalgError for an unknown direction."""
    one_of("direction", direction, DIRECTIONS, LinalgError)


def check_flags(**given: Any) -> None:
    """Raise a LinalgError for a flag that is neither True nor False."""
    for name, value in given.items():
        flag(name, value, LinalgError)


def check_threads(threads: int | None, engine: Algebra) -> None:
    """Raise an EngineError if threads= is given for any engine but the CPU's."""
    check_thread_count(threads)
    if threads is not None and engine.name != "cpu":
        raise EngineError(
            f"threads={threads!r} is for device='cpu', not {engine.name!r}; leave it out, or change device="
        )


def check_reuse(ring: Semiring, how: Writing, rows: int, inner: int) -> None:
    """Raise a LinalgError if reading the mask instead of x would change the result."""
    if how.mask is None or not how.complement or rows != inner:
        raise LinalgError("operand_reuse=True reads the mask in place of x; give a complemented mask of x's length")
    if not ring.any_term and ring != semiring.or_and:
        raise LinalgError(
            f"operand_reuse=True with {ring.name} would add terms that x does not have; "
            "use it with any_pair or another semiring that takes any term"
        )
    reads_none = ring.multiply.built_in and ring.multiply.name in ("pair", "land")
    if not reads_none and not ring.multiply.position:
        raise LinalgError(f"operand_reuse=True with {ring.name} would read values that x does not have; use any_pair")


@compiling
def mxm(
    A: Any, B: Any, semiring: Semiring = semiring.plus_times, *, out: Matrix | None = None, mask: Any = None,
    complement: bool = False, structural: bool = False, accum: Any = None, replace: bool = False,
    dtype: npt.DTypeLike | None = None, direction: Direction = "auto", early_exit: bool = True,
    structure_only: bool = True, explain: bool = False, device: str = "auto", threads: int | None = None,
) -> Any:  # fmt: skip
    """out⟨mask⟩ ⊙= A ⊕.⊗ B: matrix times matrix. Keywords as for `mxv`; out is not changed, the result is returned.

    "push" scatters rows of B into an accumulator (Gustavson), looking up the mask; "pull" computes one dot product for
    every place that the mask allows. "auto" pulls if that is less work.

    Parameters
    ----------
    A, B : Matrix, Graph, or SciPy or CuPy sparse matrix
        The matrices.
    semiring : Semiring, optional
        ⊕ and ⊗.
    out : Matrix, optional
        What `accum` and the mask apply to; it is not changed.
    mask, complement, structural, accum, replace, dtype
        As for `mxv`.
    direction, early_exit, structure_only, explain, device, threads
        As for `mxv`.

    Returns
    -------
    Matrix, or a pair of Matrix and Explanation
        The result; with `explain=True` also what was done.

    See Also
    --------
    mxv, vxm

    Examples
    --------
    >>> A = la.Matrix.from_graph(hw.generate.complete(4))
    >>> la.reduce(la.mxm(A, A, la.semiring.plus_pair, mask=A)) // 6  # triangles
    4
    """
    check_direction(direction)
    check_flags(early_exit=early_exit, structure_only=structure_only, explain=explain)
    how = writing(out, mask, complement, structural, accum, replace)
    left, right = as_matrix(A).checked(), as_matrix(B).checked()
    if left.shape[1] != right.shape[0]:
        raise LinalgError(f"{left.shape} times {right.shape}: A needs as many columns as B has rows")
    engine = choose(device, left, right)
    check_threads(threads, engine)
    left, right = left.to(engine.name), right.to(engine.name)
    shape = (left.shape[0], right.shape[1])
    let = mask_rows(how, shape, engine)
    product = arithmetic(semiring, left, right.dtype, False, dtype, early_exit, structure_only)
    by: Direction = "push" if let is None else direction
    if direction == "pull" and let is None:
        raise LinalgError("direction='pull' computes the mask's entries alone; give a mask, or direction='push'")
    places, shut = let, complement  # a mask, and whether it is complemented
    if let is not None and complement and direction != "push":
        check_places(direction, shape)
        by = "pull" if direction == "pull" or rest_is_less_work(left, right, let, engine) else "push"
        if by == "pull":
            places, shut = rest_of(let, shape[1], engine.xp), False
    rows, touched = engine.multiply(left, right, product, places, shut, by, threads)
    result = write_matrix(Matrix.from_rows(rows, shape), how, let, engine)
    if not explain:
        return result
    count = None if places is None else len(places.indices)
    d = right.nnz / max(right.shape[0], 1)
    ran = touched.notes[0]
    return result, Explanation(
        "mxm", semiring.name, engine.name, direction=ran,
        product=("by dot products" if ran == "pull" else "by rows of B") + (", masked" if let is not None else ""),
        why="as asked" if direction != "auto" else "less work", nnz_x=left.nnz, nnz_mask=count,
        expected=round(d * (2 * (count or 0) if ran == "pull" else left.nnz)), touched=touched.count(),
        early_exit=product.early_exit, operand_reuse=False, structure_only=product.structure_only,
        notes=tuple(touched.notes[1:]),
    )  # fmt: skip
