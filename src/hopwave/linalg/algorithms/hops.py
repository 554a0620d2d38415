"""Breadth-first search by masked products (push-pull, Algorithm 1).

    f   the frontier    v   the visited vertices    d   the depth    A   the adjacency matrix

    while f is not empty:  v⟨f⟩ = d;  f⟨¬v⟩ = f any.pair A;  d += 1

which is `linalg.waves` over any_pair.
"""

from __future__ import annotations

from typing import Any

from hopwave.algebra.matrix import as_matrix
from hopwave.algebra.semiring import any_pair
from hopwave.algebra.vector import Vector
from hopwave.linalg.fixpoint import waves


def bfs(A: Any, source: int, *, device: str = "auto") -> Vector:
    """Hops from the source to every vertex it reaches, as a vector of int32.

    `hopwave.bfs` also takes labels and returns a result object; this returns a plain vector.

    Parameters
    ----------
    A : Matrix, Graph, or SciPy or CuPy sparse matrix
        The graph: an entry (i, j) is an arc from i to j.
    source : int
        The vertex where it starts.
    device : {"auto", "cpu", "cuda"}, optional
        Where it runs; by default where `A` is.

    Returns
    -------
    Vector
        Hops, int32; no entry where there is no path.

    Examples
    --------
    >>> hw.linalg.bfs(hw.generate.grid(3, 3), 0).to_dense().tolist()
    [0, 1, 2, 1, 2, 3, 2, 3, 4]
    """
    A = as_matrix(A, weights=False)
    f = Vector.from_entries([source], True, A.shape[0])
    levels: Vector = waves(f, A, any_pair, device=device).levels
    return levels
