"""What `linalg` asks of a machine, and which machine an operation runs on.

The meaning of masks, accumulators and replacement is written once, in this folder, over arrays of whichever module the
engine computes with (NumPy or CuPy). An engine adds what needs compiled code: the products, and users' operators.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from hopwave.engines import ready
from hopwave.operators import BinaryOp, Monoid, UnaryOp

if TYPE_CHECKING:
    from hopwave.linalg.matrix import Matrix, Rows
    from hopwave.linalg.vector import Vector

Array = Any  # of NumPy or CuPy
# What one term of a product is: 1, the vector's value, the matrix's value, the number of the row computed or of the
# entry met, 0, or ⊗ of both values. Engines see this instead of operators' names.
Term = Literal["one", "x", "a", "out", "inner", "zero", "both"]

LEFT_MEANS: dict[str, Term] = {"pair": "one", "any": "a", "first": "a", "second": "x"}
RIGHT_MEANS: dict[str, Term] = {"pair": "one", "any": "x", "first": "x", "second": "a"}
LEFT_PLACES: dict[str, Term] = {"firsti": "out", "firstj": "inner", "secondi": "inner", "secondj": "zero"}
RIGHT_PLACES: dict[str, Term] = {"firsti": "zero", "firstj": "inner", "secondi": "inner", "secondj": "out"}


@dataclass(frozen=True)
class Product:
    """The arithmetic of y(i) = ⊕ₖ A(i,k) ⊗ x(k), as engines read it.

    `flip` computes x ⊗ a instead of a ⊗ x (vxm). `early_exit` and `structure_only` are what was asked for *and* is
    legal. Without values, A(i,k) is 1 of type bool.
    """

    add: Monoid
    multiply: BinaryOp
    term: Term
    flip: bool
    dtype: np.dtype[Any]  # of sums; terms are cast to it before they are added
    early_exit: bool
    structure_only: bool


@dataclass(frozen=True)
class Allowed:
    """Which rows of a result a mask lets through: those listed, or those whose bit differs from `complement`.

    Either `rows` (int32, each once, in any order unless `ascending`) or `bits` (bool, one a row) is set, not both.
    """

    rows: Array | None = None
    bits: Array | None = None
    complement: bool = False
    ascending: bool = True
    count: int | None = None  # how many are let through, where it is known

    def as_bits(self, n: int, xp: Any) -> Array:
        """One bool a row, True where the row is let through."""
        if self.bits is not None:
            return ~self.bits if self.complement else self.bits
        found = xp.zeros(n, xp.bool_)
        found[self.rows] = True
        return found


@dataclass
class Touched:
    """What a product looked at: stored entries of the matrix, or how to ask for their number once it is known."""

    entries: int | Callable[[], int] = 0
    rows: int = 0
    notes: list[str] = field(default_factory=list)

    def count(self) -> int:
        """How many entries."""
        return self.entries() if callable(self.entries) else self.entries


class Algebra(Protocol):
    """What every file `engines/NAME_linalg.py` offers as its class `Algebra`."""

    name: str
    xp: Any  # numpy or cupy

    def missing(self) -> str | None:
        """Why this engine cannot run here and what to do about it, or None."""

    def push(
        self, A: Matrix, x: Vector, product: Product, allowed: Allowed | None, threads: int | None
    ) -> tuple[Vector, Touched]:
        """The product by columns of A (rows of A.T): x is sparse; the result may be either."""

    def pull(
        self, A: Matrix, x: Vector, product: Product, allowed: Allowed | None, threads: int | None
    ) -> tuple[Vector, Touched]:
        """The product by rows of A, only those allowed: x is dense; the result may be either."""

    def multiply(
        self, A: Matrix, B: Matrix, product: Product, mask: Rows | None, complement: bool, by: str, threads: int | None
    ) -> tuple[Rows, Touched]:
        """A ⊕.⊗ B; by rows of B ("push", Gustavson) or by dot products with its columns ("pull", masked only).

        In a term, a is A's value and x is B's; `out` is the row of A, `zero` the column of B.
        """

    def binary(self, op: BinaryOp) -> Callable[[Array, Array], Array]:
        """The operator on whole arrays."""

    def unary(self, op: UnaryOp) -> Callable[[Array], Array]:
        """The operator on a whole array."""

    def reduce(self, add: Monoid, values: Array, dtype: np.dtype[Any]) -> Any:
        """The sum of an array that is not empty, as a Python scalar."""

    def fill(self, values: Array, present: Array, allowed: Allowed, value: Any) -> int | None:
        """Write value, and set the bit, where the mask lets it; returns how many bits are set then, if it is known."""

    def scatter(self, op: BinaryOp, target: Array, places: Array, values: Array) -> None:
        """target[places] = op(target[places], values), where places may repeat: all of them are combined."""


@cache
def algebra(name: str) -> Algebra:
    """The engine of that name, ready to compute, or an EngineError that says what it lacks.

    >>> algebra("reference").name
    'reference'
    """
    found: Algebra = ready(name, f"hopwave.engines.{name}_linalg", "Algebra")
    return found


def on_gpu(array: Array) -> bool:
    """Whether an array is CuPy's."""
    return hasattr(type(array), "__cuda_array_interface__")  # of the type: asking the array would build a record


def module_of(array: Array) -> Any:
    """NumPy or CuPy, whichever the array is of."""
    if on_gpu(array):
        import cupy

        return cupy
    return np


def choose(device: str, *operands: Any) -> Algebra:
    """The engine for these operands: where they are, unless a device is named."""
    if device == "auto":
        device = "cuda" if any(getattr(operand, "device", None) == "cuda" for operand in operands) else "cpu"
    return algebra(device)
