"""Semirings: the arithmetic of a level, and of every product of `hopwave.linalg`.

A level of a search is q⟨¬v⟩ = q ⊕.⊗ A. ⊕ and ⊗ decide the values in q: only that a vertex was reached (ANY.PAIR), the
vertex it was reached from (ANY.SECONDI), or the number of shortest paths to it (PLUS.FIRST).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hopwave.algebra.operators import BinaryOp, Monoid, Named, binary, monoid
from hopwave.errors import LinalgError


@dataclass(frozen=True)
class Semiring:
    """⊕ with its identity, and ⊗. `define` creates a semiring from two Python functions.

    >>> la.semiring.any_pair.any_term, la.semiring.plus_first.any_term
    (True, False)
    >>> widest = la.Semiring.define("widest", max, min, identity=0)
    >>> la.mxv(la.Matrix.from_dense([[5, 0], [2, 9]]), la.Vector.from_dense([3, 4]), widest).to_dense().tolist()
    [3, 4]
    """

    name: str
    add: Monoid
    multiply: BinaryOp

    @classmethod
    def define(
        cls, name: str, add: Monoid | Callable[[Any, Any], Any], multiply: BinaryOp | Callable[[Any, Any], Any],
        identity: Any = None, terminal: Any = None,
    ) -> Semiring:  # fmt: skip
        """⊕ and ⊗ from Python functions of two numbers, or from existing operators.

        ⊕ must be associative and commutative, with the neutral element `identity`; by default that of the built-in
        operator, or 0. `terminal` is a value that no further term changes, if one exists; it allows early exit.
        Sums have the common type of the operands unless dtype= of a product selects another type.

        >>> Semiring.define("nearest", binary.min, binary.plus).add.neutral
        'top'
        >>> Semiring.define("nearest", min, binary.plus)
        Traceback (most recent call last):
        hopwave.errors.LinalgError: nearest_add(0, 1) is 0, so identity=0 is not an identity; pass a neutral value
        """
        if isinstance(add, Monoid):
            if identity is not None or terminal is not None:
                raise LinalgError(f"the monoid {add.name} has its own identity and terminal; omit these arguments")
        else:
            op = add if isinstance(add, BinaryOp) else BinaryOp.define(f"{name}_add", add)
            if op.position:
                raise LinalgError(f"{op.name} returns a position; use it as multiply, and any or min as add")
            add = _monoid_of(op, identity, terminal)
        if not isinstance(multiply, BinaryOp):
            multiply = BinaryOp.define(f"{name}_multiply", multiply)
        return cls(name, add, multiply)

    @property
    def any_term(self) -> bool:
        """Whether ⊕ may stop at the first term, because the sum may be any single term."""
        return self.add.any_term

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)  # fast, because every product looks up its arithmetic


def _monoid_of(op: BinaryOp, identity: Any, terminal: Any) -> Monoid:
    """A monoid of the operator; a built-in operator has a known identity and terminal. Checks the identity."""
    known: Monoid | None = monoid.get(op.name) if op.built_in else None
    if known is not None and identity in (None, known.neutral):
        return known if terminal is None else replace(known, terminal=terminal)
    neutral = 0 if identity is None else identity
    for term in (False, True) if op.kind == "bool" else (1,):  # 1 is a value of most semirings
        try:
            wrong = next((pair for pair in ((neutral, term), (term, neutral)) if op(*pair) != term), None)
        except Exception:  # a user's function may not accept this term
            continue
        if wrong is not None:
            raise LinalgError(
                f"{op.name}({wrong[0]!r}, {wrong[1]!r}) is {op(*wrong)!r}, so identity={neutral!r} is not an identity; "
                "pass a neutral value"
            )
    return Monoid(op, neutral, terminal)


# Names of ⊕ → names of its ⊗. A semiring is called ⊕_⊗: any_pair, plus_times, …; only or_and differs (lor, land).
PLACES = ("firsti", "firstj", "secondi", "secondj")

MADE_OF = {
    "any": ("pair", "first", "second", *PLACES),
    "plus": ("times", "first", "second", "pair", "plus", "min", "land"),
    "min": ("plus", "times", "first", "second", "max", *PLACES),
    "max": ("plus", "times", "first", "second", "min", *PLACES),
    "times": ("first", "second"),
    "lxor": ("land",),
}

semiring: Named = Named(
    "semiring",
    Semiring("or_and", monoid.lor, binary.land),
    *(Semiring(f"{add}_{times}", monoid[add], binary[times]) for add, many in MADE_OF.items() for times in many),
)

any_pair: Semiring = semiring.any_pair

any_secondi: Semiring = semiring.any_secondi

plus_first: Semiring = semiring.plus_first
