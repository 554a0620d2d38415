"""Communities by label propagation: every vertex takes the label that most of its neighbours have.

Raghavan, Albert and Kumara, Near linear time algorithm to detect community structures in large-scale networks (2007),
section III. If all moved at once, two sides of a bipartite part would swap labels forever (their figure 2). Instead of
their random order, which is sequential, a coin decides for each vertex whether it moves in this round.

L   labels, one entry per row: L(v, f(v))        C   how many neighbours have each label: C = A · L over plus_pair
"""

from __future__ import annotations

from typing import Any

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import monoid
from hopwave.algebra.semiring import semiring
from hopwave.algebra.vector import Vector
from hopwave.arrays import module_of
from hopwave.checks.numbers import is_whole
from hopwave.engines import algebra
from hopwave.errors import GraphError
from hopwave.generate import counter
from hopwave.graph.csr import Rows
from hopwave.graph.row_operations import row_of_each
from hopwave.linalg.algorithms.operands import generator, loopless, square
from hopwave.linalg.monoid_sums import reduce
from hopwave.linalg.products import mxm


def label_propagation(A: Any, seed: Any = None, max_rounds: int = 100, *, device: str = "auto") -> tuple[Vector, bool]:
    """The label of every vertex (the number of some vertex), and whether the labels settled within max_rounds.

    At the start, every vertex is its own label. In a round, a vertex whose label is not among the most frequent labels
    of its neighbours may take one of these: the last in a random order of labels. A coin decides whether it does. The
    seed decides the order and the coins. Labels are settled when no vertex would move. A is symmetric; loops do not
    count.

    Parameters
    ----------
    seed : int or Generator, optional
        The same seed gives the same answer.
    max_rounds : int, optional
        The most rounds.
    A, device
        As for `bfs`.

    Returns
    -------
    pair of Vector and bool
        Labels, and whether they settled.

    See Also
    --------
    hopwave.label_propagation

    Examples
    --------
    >>> import numpy as np
    >>> A = la.Matrix.from_dense(np.kron(np.eye(2), np.ones((4, 4))))
    >>> f, settled = la.algorithms.label_propagation(A, seed=1)
    >>> len(set(f.values[:4].tolist())), len(set(f.values[4:].tolist())), settled
    (1, 1, True)
    """
    if not is_whole(max_rounds) or max_rounds < 0:
        raise GraphError(f"max_rounds={max_rounds!r} is not a number of rounds; give a whole number from 0")
    A, rng = square(A, device), generator(seed)
    A = (A.pattern() if A.has_values else A).checked()
    engine = algebra(A.device)
    n, tossed = A.shape[0], int(rng.integers(2**62))
    order = counter.scramble(module_of(A.rows.indices).arange(n), n, tossed)  # of equals, the last in this order wins
    compiled = engine.why_not_operation("label_propagation") is None
    labels = engine.label_propagation(A, order) if compiled else ByProducts(A, order)
    settled = labels.settle(tossed, max_rounds)
    return Vector.from_dense(labels.f), settled


class ByProducts:
    """Label propagation by products; see planning.jobs.LabelRounds."""

    def __init__(self, A: Matrix, order: Any) -> None:
        self.A, n, xp = loopless(A), A.shape[0], module_of(A.rows.indices)
        self.order = xp.asarray(order)
        self.label_at = xp.argsort(self.order)
        self.f = xp.arange(n, dtype=xp.int32)
        self.one_per_row = xp.arange(n + 1, dtype=xp.int32)
        self.places: Any = None
        self.wins: Any = None

    def settle(self, seed: int, most: int) -> bool:
        """At most `most` rounds, until no vertex would move; returns whether none would."""
        for number in range(most):
            if self.restless() == 0:
                return True
            self.move(seed + number)
        return self.restless() == 0

    def restless(self) -> int:
        """How many vertices would move."""
        n, xp = len(self.f), module_of(self.f)
        C = mxm(self.A, Matrix.from_rows(Rows(self.one_per_row, self.f, None), (n, n)), semiring.plus_pair)
        places, scores = reduce(scored(C, self.f, self.order, xp), monoid.max, axis=1).entries()
        win = scores % (n + 1)
        places, win = places[win < n], win[win < n]  # n means that no label is more frequent than the vertex's own
        self.wins = xp.empty(n, xp.int32)
        self.wins[places] = self.label_at[win]
        self.places = places
        return len(places)

    def move(self, seed: int) -> None:
        """Those whose coins show heads take the labels that they would move to."""
        places = self.places[counter.coins(self.places, seed, "labels")]
        self.f = self.f.copy()
        self.f[places] = self.wins[places]


def scored(C: Matrix, f: Any, order: Any, xp: Any) -> Matrix:
    """A score per entry, frequency · (n + 1) + tie: ties go to the vertex's own label, then by the order of labels."""
    indptr, labels, _ = C.rows
    n = C.shape[0]
    vertex = row_of_each(C.rows, xp)
    ties = xp.where(labels == f[vertex], n, order[labels])
    return Matrix.from_rows(Rows(indptr, labels, C.stored_values().astype(xp.int64) * (n + 1) + ties), C.shape)
