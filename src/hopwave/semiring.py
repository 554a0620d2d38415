"""The arithmetic of a level: which semiring a question needs, and what that semiring allows.

A level of a search is q⟨¬v⟩ = q ⊕.⊗ A. What ⊕ and ⊗ are decides what q carries: nothing but "here" (ANY.PAIR), the
vertex it came from (ANY.SECONDI), or how many shortest paths lead here (PLUS.FIRST).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Semiring:
    """⊕ with its identity, ⊗, and what the pair allows.

    `any_term` says that ⊕ may stop at the first term (its value does not depend on the others): this alone makes early
    exit legal. `structure_only` says that ⊗ never looks at a matrix value.

    >>> any_pair.any_term, plus_first.any_term
    (True, False)
    """

    name: str
    add: str
    multiply: str
    identity: float
    any_term: bool
    structure_only: bool


any_pair = Semiring("any_pair", "any", "pair", 0.0, any_term=True, structure_only=True)
any_secondi = Semiring("any_secondi", "any", "secondi", -1.0, any_term=True, structure_only=True)
plus_first = Semiring("plus_first", "plus", "first", 0.0, any_term=False, structure_only=True)


@dataclass(frozen=True)
class Question:
    """What a search is asked for. Distances always fall out; predecessors and path counts are asked for.

    >>> Question(path_counts=True).semiring.name
    'plus_first'
    """

    predecessors: bool = True
    path_counts: bool = False
    depth_limit: int | None = None

    @property
    def semiring(self) -> Semiring:
        """The cheapest semiring whose ⊕ keeps everything that was asked for."""
        if self.path_counts:
            return plus_first
        return any_secondi if self.predecessors else any_pair
