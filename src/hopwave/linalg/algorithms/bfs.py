"""Breadth-first search by masked products (push-pull, Algorithm 1).

A   the adjacency matrix    f   the frontier    v   the visited vertices with their depths    d   the depth
"""

from __future__ import annotations

from typing import Any

from hopwave.linalg.engine import choose
from hopwave.linalg.matrix import as_matrix
from hopwave.linalg.placing import assign
from hopwave.linalg.products import vxm
from hopwave.linalg.vector import Vector
from hopwave.semiring import any_pair


def bfs(A: Any, source: int, *, device: str = "auto") -> Vector:
    """Hops from the source to every vertex it reaches, as a vector of int32.

    This is the textbook form, kept short to be read; `hopwave.bfs` is the one to use in earnest.

    >>> import hopwave as hw
    >>> hw.linalg.bfs(hw.generate.grid(3, 3), 0).to_dense().tolist()
    [0, 1, 2, 1, 2, 3, 2, 3, 4]
    """
    A = as_matrix(A)
    n, device = A.shape[0], choose(device, A).name
    f, v, d = Vector.from_entries([source], True, n).to(device), Vector(n, "int32").to(device), 0
    while f.nnz:
        assign(v, d, mask=f, structural=True, device=device)
        f = vxm(f, A, any_pair, mask=v, complement=True, structural=True, operand_reuse=True, device=device)
        d += 1
    return v
