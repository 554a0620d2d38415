"""The semiring of a product as engines read it: what a term is, the type of sums, and which shortcuts are legal."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import checked_dtype
from hopwave.algebra.semiring import Semiring, semiring
from hopwave.errors import LinalgError
from hopwave.planning.jobs import Product, Term

# Name of ⊗ (or its position) → what a term is: LEFT for A ⊕.⊗ x, RIGHT for x ⊕.⊗ A.
LEFT_MEANS: dict[str, Term] = {"pair": "one", "any": "a", "first": "a", "second": "x"}
RIGHT_MEANS: dict[str, Term] = {"pair": "one", "any": "x", "first": "x", "second": "a"}
LEFT_PLACES: dict[str, Term] = {"firsti": "out", "firstj": "inner", "secondi": "inner", "secondj": "zero"}
RIGHT_PLACES: dict[str, Term] = {"firsti": "zero", "firstj": "inner", "secondi": "inner", "secondj": "out"}


def arithmetic(
    ring: Semiring, A: Matrix, x: np.dtype[Any], flip: bool, dtype: npt.DTypeLike | None, early_exit: bool,
    structure_only: bool,
) -> Product:  # fmt: skip
    """The semiring as engines read it: what a term is, the type of sums, and which shortcuts are legal."""
    given: Any = ring
    if not isinstance(given, Semiring):
        known = f"linalg.semiring.{given}" if isinstance(given, str) and given in semiring else "one of linalg.semiring"
        raise LinalgError(f"{given!r} is not a semiring; use {known}, or make one with Semiring.define")
    kind = None if dtype is None else checked_dtype(dtype)
    return _arithmetic(ring, A.dtype, A.has_values, x, flip, kind, early_exit, structure_only)


@lru_cache(maxsize=1024)  # equal arithmetic gives the same record, with which engines keep compiled kernels
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
    # Without structure_only, values that ⊗ ignores are read too: the paper's ablation (section 5.5).
    skips = structure_only and (term not in ("a", "both") or not has_values)
    return Product(add, multiply, term, flip, kind, early_exit and add.short_circuits, skips)
