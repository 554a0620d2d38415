"""What a product did, and why it chose its direction: `explain=True`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.semiring import Semiring
from hopwave.engines import Algebra
from hopwave.planning.jobs import Allowed, Product, Touched


@dataclass(frozen=True)
class Explanation:
    """Which product ran, and what it touched.

    `expected` is the count of memory accesses in the push-pull paper's Table 1 (without the logarithm); `touched` is
    the number of matrix entries that were really read, fewer if rows stopped early.

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
        masked = "" if self.nnz_mask is None else f", {self.nnz_mask:,} rows let through"
        return (
            f"{self.operation} over {self.semiring} on {self.engine}: {self.direction}, {self.product} ({self.why}); "
            f"{self.nnz_x:,} entries in{masked}; {self.touched:,} of {self.expected:,} expected entries touched"
            + (f"; {', '.join(tricks)}" if tricks else "")
        )


class VectorProduct(NamedTuple):
    """A vector product that was computed, as input for its Explanation."""

    operation: str
    ring: Semiring
    engine: Algebra
    A: Matrix
    product: Product
    allowed: Allowed | None
    pull: bool
    reused: bool
    nnz: int
    touched: Touched


def explained(done: VectorProduct, why: str) -> Explanation:
    """The Explanation of a product; `why` it chose its direction."""
    (rows, inner), allowed, xp = done.A.shape, done.allowed, done.engine.xp
    count = None
    if allowed is not None:
        count = int(xp.count_nonzero(allowed.as_bits(rows, xp))) if allowed.count is None else allowed.count
    d = done.A.nnz / max(rows if done.pull else inner, 1)
    expected = d * ((rows if count is None else count) if done.pull else done.nnz)
    return Explanation(
        done.operation, done.ring.name, done.engine.name, direction="pull" if done.pull else "push",
        product=("by rows" if done.pull else "by columns") + (", masked" if allowed is not None else ""), why=why,
        nnz_x=done.nnz, nnz_mask=count, expected=round(expected), touched=done.touched.count(),
        early_exit=done.product.early_exit and done.pull, operand_reuse=done.reused,
        structure_only=done.product.structure_only, notes=tuple(done.touched.notes),
    )  # fmt: skip
