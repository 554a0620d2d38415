"""Components by products; cores, independent sets and communities, each round of which is one kernel of the engine.

Components: FastSV joins trees of parents until each component is one star (Zhang, Azad and Hu, FastSV: a
distributed-memory connected component algorithm with fast convergence, 2020, section 4).

    f   f(v) ≤ v: every vertex's parent      g   its grandparent      m   the least grandparent among its neighbours

Core numbers: peeling in rounds (Batagelj and Zaveršnik, An O(m) algorithm for cores decomposition of networks, 2003; in
rounds as in Dasari, Desh and Zubair, ParK, 2014): every vertex with at most k remaining neighbours is removed.

Independent sets: Luby, A simple parallel algorithm for the maximal independent set problem (1986). Every candidate
draws a number. A vertex whose number is higher than those of all its neighbours joins the set, and its neighbours
leave. About log n rounds are expected.

Communities: Raghavan, Albert and Kumara, Near linear time algorithm to detect community structures in large-scale
networks (2007), section III. If all vertices moved simultaneously, two sides of a bipartite part would swap labels
forever (their figure 2). Instead of their random order, which is sequential, a coin decides for each vertex whether it
moves in this round.
"""

from __future__ import annotations

from typing import Any

from hopwave.algebra.operators import binary, monoid
from hopwave.algebra.semiring import semiring
from hopwave.algebra.vector import Vector
from hopwave.arrays import module_of
from hopwave.checks.numbers import is_whole
from hopwave.checks.options import flag_or_none
from hopwave.engines import algebra
from hopwave.errors import GraphError
from hopwave.generate import counter
from hopwave.linalg.algorithms.operands import generator, is_symmetric, square, without_repeats
from hopwave.linalg.elementwise import ewise_add, ewise_mult
from hopwave.linalg.masking import assign, extract
from hopwave.linalg.products import mxv, reduce, vxm


def connected_components(A: Any, *, device: str = "auto") -> Vector:
    """For every vertex, the lowest vertex of its component; the direction of arcs does not matter.

    `hopwave.connected_components` is faster.

    Returns
    -------
    Vector
        One vertex id per vertex.

    Examples
    --------
    >>> la.algorithms.connected_components(la.Matrix.from_edges([4, 1], [2, 3], shape=5)).values.tolist()
    [0, 1, 2, 1, 2]
    """
    A = square(A, device)
    n = A.shape[0]
    xp = module_of(A.rows.indices)
    f = Vector.from_dense(xp.arange(n, dtype=xp.int32))
    g, moves = f, n > 0
    while moves:
        m = mxv(A, g, semiring.min_second)
        if not is_symmetric(A):
            m = ewise_add(m, vxm(g, A, semiring.min_first), binary.min)
        hooked = f.copy()
        assign(hooked, extract(m, m.indices), extract(f, m.indices).values, accum=binary.min)  # stochastic hooking
        f = ewise_add(hooked, m, binary.min)  # aggressive hooking
        f = ewise_add(f, g, binary.min)  # shortcutting
        g, before = extract(f, f.values), g
        moves = reduce(ewise_mult(g, before, binary.ne), monoid.lor)
    return f


def core_numbers(A: Any, directed: bool | None = None, *, device: str = "auto") -> Vector:
    """Core number of every vertex. Loops do not count, and parallel arcs count as one.

    Parameters
    ----------
    directed : bool, optional
        Whether an in-arc and an out-arc count as two neighbours; by default if the matrix is not symmetric.

    Examples
    --------
    >>> A = la.Matrix.from_edges([0, 1, 2, 2], [1, 2, 0, 3], shape=4)
    >>> la.algorithms.core_numbers(A).values.tolist()
    [2, 2, 2, 1]
    """
    A = square(A, device)
    A = A.pattern() if A.has_values else A
    both = flag_or_none("directed", directed)
    both = not is_symmetric(A) if both is None else both
    return Vector.from_dense(algebra(A.device).core_numbers(without_repeats(A), both))


def maximal_independent_set(A: Any, seed: Any = None, *, device: str = "auto") -> Vector:
    """Maximal independent set, as a vector of True at its vertices. A is symmetric; loops do not count.

    Parameters
    ----------
    seed : int or Generator, optional
        The same seed gives the same set.

    Examples
    --------
    >>> la.algorithms.maximal_independent_set(hw.generate.star(5), seed=2).indices.tolist()
    [1, 2, 3, 4]
    """
    A, drawn = square(A, device), int(generator(seed).integers(2**63))
    found = algebra(A.device).independent_set(A, drawn)
    return Vector.from_dense(found, found)


def label_propagation(A: Any, seed: Any = None, max_rounds: int = 100, *, device: str = "auto") -> tuple[Vector, bool]:
    """Label of every vertex (the number of some vertex), and whether the labels settled within max_rounds.

    Initially, every vertex is its own label. In a round, a vertex whose label is not among the most frequent labels of
    its neighbours may take the last of these in a random order of labels. A coin decides whether it does. Labels are
    settled when no vertex would move. A is symmetric; loops do not count.

    Parameters
    ----------
    seed : int or Generator, optional
        Seed of the order and the coins.
    max_rounds : int, optional
        Maximum number of rounds.

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
    labels = engine.label_propagation(A, order)
    settled = labels.settle(tossed, max_rounds)
    return Vector.from_dense(labels.f), settled
