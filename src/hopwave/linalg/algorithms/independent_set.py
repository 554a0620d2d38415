"""A maximal independent set: no two of its vertices are neighbours, and no vertex can be added.

Luby, A simple parallel algorithm for the maximal independent set problem (1986): every candidate draws a number. A
vertex whose number is higher than those of all its neighbours joins the set, and its neighbours are out. About log n
rounds are expected.

r   the candidates with their numbers        m   the highest number among a candidate's neighbours
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hopwave.algebra.operators import binary, unary
from hopwave.algebra.semiring import semiring
from hopwave.algebra.vector import Vector
from hopwave.engines import algebra
from hopwave.generate import counter
from hopwave.linalg.algorithms.operands import generator, loopless, square
from hopwave.linalg.elementwise import apply, ewise_add, select
from hopwave.linalg.placing import assign
from hopwave.linalg.products import mxv, vxm

STREAM = "independent set"  # of random numbers (generate/counter.py); a round's seed is one more than the last one's


def maximal_independent_set(A: Any, seed: Any = None, *, device: str = "auto") -> Vector:
    """A maximal independent set, as a vector of True at its vertices. A is symmetric; loops do not count.

    The same seed gives the same set.

    Parameters
    ----------
    seed : int or Generator, optional
        The same seed gives the same answer.
    A, device
        As for `bfs`.

    Returns
    -------
    Vector
        True at the vertices of the set.

    See Also
    --------
    hopwave.maximal_independent_set

    Examples
    --------
    >>> la.algorithms.maximal_independent_set(hw.generate.star(5), seed=2).indices.tolist()
    [1, 2, 3, 4]
    """
    A, drawn = square(A, device), int(generator(seed).integers(2**63))
    engine = algebra(A.device)
    if engine.why_not_operation("independent_set") is None:
        found = engine.independent_set(A, drawn)
        return Vector.from_dense(found, found)
    A = loopless(A)
    n = A.shape[0]
    chosen = Vector(n, "bool").to(A.device)
    candidates = np.arange(n, dtype=np.int32)
    while len(candidates):
        # There are no ties: the highest of all wins, so that every round has a winner.
        r = Vector.from_entries(candidates, counter.priorities(candidates, drawn, STREAM), n).to(A.device)
        drawn += 1
        m = mxv(A, r, semiring.max_second, mask=r, structural=True)
        lost = select(m, binary.gt, r)
        won = apply(r, unary.one, mask=lost, complement=True, structural=True)
        assign(chosen, True, mask=won, structural=True)
        out = ewise_add(won, vxm(won, A, semiring.any_pair, mask=r, structural=True), binary.lor)
        left = apply(r, unary.one, mask=out, complement=True, structural=True).to("cpu")
        candidates = left.indices
    return chosen
