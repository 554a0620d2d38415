"""Connected components: trees of parents are joined until each component is one star (FastSV).

Zhang, Azad and Hu, FastSV: a distributed-memory connected component algorithm with fast convergence (2020), section 4.

f   f(v) ≤ v: every vertex's parent        g   its grandparent
m   the least grandparent among a vertex's neighbours
"""

from __future__ import annotations

from typing import Any

from hopwave.algebra.operators import binary, monoid
from hopwave.algebra.semiring import semiring
from hopwave.algebra.vector import Vector
from hopwave.arrays import module_of
from hopwave.linalg.algorithms.operands import is_symmetric, square
from hopwave.linalg.elementwise import ewise_add, ewise_mult
from hopwave.linalg.placing import assign, extract
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
