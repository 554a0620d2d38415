"""Products over a semiring: y(i) = ⊕ₖ A(i,k) ⊗ x(k), by columns (push) or by rows (pull).

The four products of push-pull's Table 1 (d entries a row, M rows; f the vector, m the mask):

    by rows              d·M                     by rows, masked       d·nnz(m)
    by columns           d·nnz(f) (· log …)      by columns, masked    d·nnz(f) (· log …)

The vector chooses: it keeps itself as a list while it is sparse, and a list is pushed; as an array once it is not, and
an array is pulled (section 6.3). The logarithm is that of a sort: GPUs sort, the CPU scatters into an array instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.engines import Algebra
from hopwave.errors import EngineError, LinalgError
from hopwave.jobs import Allowed, Product, Term, Touched
from hopwave.linalg.engine import choose
from hopwave.linalg.masking import Writing, allowed_places, mask_rows, write, write_matrix, writing
from hopwave.linalg.matrix import Matrix, as_matrix
from hopwave.linalg.vector import Vector, as_vector
from hopwave.operators import checked_dtype
from hopwave.semiring import Semiring, semiring

if TYPE_CHECKING:
    from hopwave.linalg.matrix import Matrix
    from hopwave.linalg.vector import Vector

Direction = Literal["auto", "push", "pull"]


@dataclass(frozen=True)
class Explanation:
    """Which product ran, and what it touched.

    `expected` is Table 1's count of memory accesses for that product (without the logarithm); `touched` is how many
    entries of the matrix were really looked at: fewer where a row stopped early.

    >>> from hopwave import linalg as la
    >>> A, x = la.Matrix.from_dense(np.ones((4, 4))), la.Vector.from_entries([0], [1.0], n=4)
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
        masked = "" if self.nnz_mask is None else f", {self.nnz_mask:,} rows let through"
        return (
            f"{self.operation} over {self.semiring} on {self.engine}: {self.direction}, {self.product} ({self.why}); "
            f"{self.nnz_x:,} entries in{masked}; {self.touched:,} of {self.expected:,} expected entries touched"
            + (f"; {', '.join(tricks)}" if tricks else "")
        )


def mxv(
    A: Any,
    x: Any,
    semiring: Semiring = semiring.plus_times,
    *,
    out: Vector | None = None,
    mask: Any = None,
    complement: bool = False,
    structural: bool = False,
    accum: Any = None,
    replace: bool = False,
    dtype: npt.DTypeLike | None = None,
    direction: Direction = "auto",
    early_exit: bool = True,
    operand_reuse: bool = False,
    structure_only: bool = True,
    explain: bool = False,
    device: str = "auto",
    threads: int | None = None,
) -> Any:
    """out⟨mask⟩ ⊙= A ⊕.⊗ x: matrix times vector. Returns out, or a new vector; with explain=True, an Explanation too.

    A is a Matrix, a Graph, or a SciPy or CuPy sparse matrix; x a Vector or an array.

    mask, complement, structural    only where the mask is true (not true; there at all) is anything computed
    accum, replace, out             out(i) = accum(out(i), new); what the mask shuts out goes instead of staying
    direction                       "push" by columns, "pull" by rows; "auto": as the vector converts itself
    early_exit                      a row may stop once no further term changes its sum, where ⊕ has such a value
    structure_only                  values that ⊗ does not look at are not carried along
    operand_reuse                   a masked pull looks for the *mask's* entries instead of x's. Only for a search,
                                    where the mask is the visited vertices, x the newest of them, and ⊕ takes any term

    >>> import hopwave as hw
    >>> from hopwave import linalg as la
    >>> A = la.Matrix.from_graph(hw.generate.path(4))
    >>> frontier = la.Vector.from_entries([1], True, n=4)
    >>> la.mxv(A, frontier, la.semiring.any_secondi).to_dict()
    {0: 1, 2: 1}
    """
    how = writing(mask, complement, structural, accum, replace, out)
    matrix = as_matrix(A)
    return _product(
        "mxv", matrix, x, semiring, False, out, how, dtype, direction, early_exit, operand_reuse, structure_only,
        explain, device, threads,
    )  # fmt: skip


def vxm(
    x: Any,
    A: Any,
    semiring: Semiring = semiring.plus_times,
    *,
    out: Vector | None = None,
    mask: Any = None,
    complement: bool = False,
    structural: bool = False,
    accum: Any = None,
    replace: bool = False,
    dtype: npt.DTypeLike | None = None,
    direction: Direction = "auto",
    early_exit: bool = True,
    operand_reuse: bool = False,
    structure_only: bool = True,
    explain: bool = False,
    device: str = "auto",
    threads: int | None = None,
) -> Any:
    """out⟨mask⟩ ⊙= x ⊕.⊗ A: a row vector times a matrix, so that values go along the arcs. Keywords as for `mxv`.

    >>> from hopwave import linalg as la
    >>> A = la.Matrix.from_edges([0, 0], [1, 2], [5.0, 7.0], shape=3)
    >>> la.vxm(la.Vector.from_entries([0], [1.0], n=3), A, la.semiring.min_plus).to_dict()
    {1: 6.0, 2: 8.0}
    """
    how = writing(mask, complement, structural, accum, replace, out)
    matrix = as_matrix(A).T
    return _product(
        "vxm", matrix, x, semiring, True, out, how, dtype, direction, early_exit, operand_reuse, structure_only,
        explain, device, threads,
    )  # fmt: skip


def _product(
    name: str,
    A: Matrix,
    x: Any,
    ring: Semiring,
    flip: bool,
    out: Vector | None,
    how: Writing,
    dtype: npt.DTypeLike | None,
    direction: Direction,
    early_exit: bool,
    operand_reuse: bool,
    structure_only: bool,
    explain: bool,
    device: str,
    threads: int | None,
) -> Any:
    """Both vector products: A's rows are the places of the result."""
    if direction not in ("auto", "push", "pull"):
        raise LinalgError(f"direction={direction!r} is not known; use 'auto', 'push' or 'pull'")
    rows, inner = A.shape
    x = as_vector(x, inner, "x")
    engine = choose(device, x, A)
    check_threads(threads, engine)
    A, x = A.to(engine.name), x.to(engine.name)
    product = arithmetic(ring, A, x.dtype, flip, dtype, early_exit, structure_only)
    allowed = allowed_places(how, rows, engine)
    if operand_reuse:
        check_reuse(ring, how, rows, inner)
    nnz = x.nnz if explain else 0  # a GPU need not be waited for
    pull = x.decide() == "dense" if direction == "auto" else direction == "pull"
    reused = operand_reuse and pull
    if reused:  # x itself need not be converted, which is the gain (section 5.4)
        assert allowed is not None
        operand = Vector.dense(allowed.bits, allowed.bits, None if allowed.count is None else rows - allowed.count)
    else:
        operand = x
        x.convert("dense" if pull else "sparse")
    found, touched = (engine.pull if pull else engine.push)(A, operand, product, allowed, threads)
    result = write(out, found, how, allowed, engine)
    if out is None:
        result.follow(x)
    if not explain:
        return result
    return result, explained(name, ring, engine, A, pull, direction, nnz, allowed, product, touched, reused)


def arithmetic(
    ring: Semiring,
    A: Matrix,
    x: np.dtype[Any],
    flip: bool,
    dtype: npt.DTypeLike | None,
    early_exit: bool,
    structure_only: bool,
) -> Product:
    """The semiring as engines read it: what a term is, of which type sums are, and which short cuts are legal."""
    kind = None if dtype is None else checked_dtype(dtype)
    return _arithmetic(ring, A.dtype, A.has_values, x, flip, kind, early_exit, structure_only)


@lru_cache(maxsize=1024)  # the same record for the same question: engines keep with it what they compiled
def _arithmetic(
    ring: Semiring,
    a: np.dtype[Any],
    has_values: bool,
    x: np.dtype[Any],
    flip: bool,
    dtype: np.dtype[Any] | None,
    early_exit: bool,
    structure_only: bool,
) -> Product:
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
    # Without it a pattern's values are read as well, and a list's carried along: the paper's ablation (section 5.5).
    skips = structure_only and (term not in ("a", "both") or not has_values)
    return Product(add, multiply, term, flip, kind, early_exit and add.short_circuits, skips)


def check_threads(threads: int | None, engine: Algebra) -> None:
    """Only the CPU engine can be told how many threads to take."""
    if threads is not None and engine.name != "cpu":
        raise EngineError(
            f"threads={threads!r} is for device='cpu', not {engine.name!r}; leave it out, or change device="
        )


def check_reuse(ring: Semiring, how: Writing, rows: int, inner: int) -> None:
    """Operand reuse where it would be meaningless is an error."""
    if how.mask is None or not how.complement or rows != inner:
        raise LinalgError("operand_reuse=True reads the mask in place of x; give a complemented mask of x's length")
    if not ring.any_term and ring.name != "or_and":
        raise LinalgError(
            f"operand_reuse=True with {ring.name} would add terms that x does not have; "
            "use it with any_pair or another semiring that takes any term"
        )
    if ring.multiply.name not in ("pair", "land") and not ring.multiply.position:
        raise LinalgError(f"operand_reuse=True with {ring.name} would read values that x does not have; use any_pair")


def explained(
    name: str,
    ring: Semiring,
    engine: Algebra,
    A: Matrix,
    pull: bool,
    direction: Direction,
    nnz: int,
    allowed: Allowed | None,
    product: Product,
    touched: Touched,
    reused: bool,
) -> Explanation:
    """What a product was."""
    rows, inner = A.shape
    count = None
    if allowed is not None:
        count = allowed.count
        if count is None:
            count = int(engine.xp.count_nonzero(allowed.as_bits(rows, engine.xp)))
    d = A.nnz / max(rows if pull else inner, 1)
    expected = d * ((rows if count is None else count) if pull else nnz)
    why = "as asked" if direction != "auto" else f"x holds {nnz / max(inner, 1):.2%} of its places"
    return Explanation(
        operation=name,
        semiring=ring.name,
        engine=engine.name,
        direction="pull" if pull else "push",
        product=("by rows" if pull else "by columns") + (", masked" if allowed is not None else ""),
        why=why,
        nnz_x=nnz,
        nnz_mask=count,
        expected=round(expected),
        touched=touched.count(),
        early_exit=product.early_exit and pull,
        operand_reuse=reused,
        structure_only=product.structure_only,
        notes=tuple(touched.notes),
    )


def mxm(
    A: Any,
    B: Any,
    semiring: Semiring = semiring.plus_times,
    *,
    out: Matrix | None = None,
    mask: Any = None,
    complement: bool = False,
    structural: bool = False,
    accum: Any = None,
    replace: bool = False,
    dtype: npt.DTypeLike | None = None,
    direction: Direction = "auto",
    early_exit: bool = True,
    structure_only: bool = True,
    explain: bool = False,
    device: str = "auto",
    threads: int | None = None,
) -> Any:
    """out⟨mask⟩ ⊙= A ⊕.⊗ B: matrix times matrix. Keywords as for `mxv`; out is not changed, the result is returned.

    "push" scatters rows of B into an accumulator (Gustavson), looking up the mask; "pull" computes one dot product for
    every entry of the mask, and needs one that is not complemented. "auto" pulls where that is the less work.

    >>> import hopwave as hw
    >>> from hopwave import linalg as la
    >>> A = la.Matrix.from_graph(hw.generate.complete(4))
    >>> la.reduce(la.mxm(A, A, la.semiring.plus_pair, mask=A)) // 6  # triangles
    4
    """
    if direction not in ("auto", "push", "pull"):
        raise LinalgError(f"direction={direction!r} is not known; use 'auto', 'push' or 'pull'")
    how = writing(mask, complement, structural, accum, replace, out)
    left, right = as_matrix(A).checked(), as_matrix(B).checked()
    if left.shape[1] != right.shape[0]:
        raise LinalgError(f"{left.shape} times {right.shape}: A needs as many columns as B has rows")
    engine = choose(device, left, right)
    check_threads(threads, engine)
    left, right = left.to(engine.name), right.to(engine.name)
    shape = (left.shape[0], right.shape[1])
    let = mask_rows(how, shape, engine)
    product = arithmetic(semiring, left, right.dtype, False, dtype, early_exit, structure_only)
    pull = direction == "pull"
    if pull and (let is None or complement):
        raise LinalgError("direction='pull' computes the mask's entries alone; give a mask, not complemented")
    by = direction if direction != "auto" else "auto" if let is not None and not complement else "push"
    rows, touched = engine.multiply(left, right, product, let, complement, by, threads)
    result = write_matrix(out, Matrix.from_rows(rows, shape), how, let, engine)
    if not explain:
        return result
    count = None if let is None else len(let.indices)
    d = right.nnz / max(right.shape[0], 1)
    ran = touched.notes[0]
    return result, Explanation(
        operation="mxm",
        semiring=semiring.name,
        engine=engine.name,
        direction=ran,
        product=("by dot products" if ran == "pull" else "by rows of B") + (", masked" if let is not None else ""),
        why="as asked" if direction != "auto" else "the less work",
        nnz_x=left.nnz,
        nnz_mask=count,
        expected=round(d * (2 * (count or 0) if ran == "pull" else left.nnz)),
        touched=touched.count(),
        early_exit=product.early_exit,
        operand_reuse=False,
        structure_only=product.structure_only,
        notes=tuple(touched.notes[1:]),
    )


LEFT_MEANS: dict[str, Term] = {"pair": "one", "any": "a", "first": "a", "second": "x"}

RIGHT_MEANS: dict[str, Term] = {"pair": "one", "any": "x", "first": "x", "second": "a"}

LEFT_PLACES: dict[str, Term] = {"firsti": "out", "firstj": "inner", "secondi": "inner", "secondj": "zero"}

RIGHT_PLACES: dict[str, Term] = {"firsti": "zero", "firstj": "inner", "secondi": "inner", "secondj": "out"}
