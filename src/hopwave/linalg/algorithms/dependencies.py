"""Betweenness from several sources at once: one row per source, so one masked product advances all searches a level.

Brandes, A faster algorithm for betweenness centrality (2001); as products: Buluç and Gilbert, The Combinatorial BLAS
(2011), section 5.1, and LAGr_Betweenness.

Each level has its direction, as in a search: a product pulls if fewer arcs enter unvisited vertices than leave the
level before (Yang, Buluç and Owens, Implementing push-pull efficiently in GraphBLAS, 2018, section 5.6).

F   F(s, v): the number of shortest paths from source s to v, for v of one level        P   F of all levels so far
D   D(s, v): the dependency of s on v, for one level: Σ_{w after v} σ(v)/σ(w) · (1 + D(s, w))
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import binary, monoid, unary
from hopwave.algebra.semiring import semiring
from hopwave.algebra.vector import Vector
from hopwave.checks.numbers import is_whole
from hopwave.errors import GraphError
from hopwave.linalg.algorithms.operands import place, square
from hopwave.linalg.elementwise import apply, ewise_add, ewise_mult
from hopwave.linalg.masking import assign
from hopwave.linalg.products import mxm, reduce

plus_first = semiring.plus_first


def betweenness(A: Any, sources: Iterable[int] | None = None, batch: int = 32, *, device: str = "auto") -> Vector:
    """Σ_s D(s, v) for every v: betweenness without scaling; both directions of a pair count.

    This is the textbook form, `batch` sources at a time. hopwave.betweenness_centrality also scales, is faster, and
    never overflows; here path counts that exceed float64 raise an error.

    Parameters
    ----------
    sources : iterable of int, optional
        Where paths start; by default every vertex.
    batch : int, optional
        How many sources go together.

    Examples
    --------
    >>> la.algorithms.betweenness(hw.generate.path(4)).values.tolist()
    [0.0, 4.0, 4.0, 0.0]
    """
    if not is_whole(batch) or batch < 1:
        raise GraphError(f"batch={batch!r} is no number of sources; give a whole number from 1")
    A = square(A, device)
    n = A.shape[0]
    if sources is not None and (not isinstance(sources, Iterable) or getattr(sources, "ndim", 1) == 0):
        raise GraphError(f"{sources!r} is not a list of vertices; for a single one give [{sources!r}]")
    all_of_them = np.array(range(n) if sources is None else [place(A, s) for s in sources], np.int64)
    total = Vector.full(n, 0.0, device=A.device)
    for some in (all_of_them[i : i + batch] for i in range(0, len(all_of_them), batch)):
        levels = forward(A, some)
        for D in backward(A, levels):
            assign(total, reduce(D, monoid.plus, axis=0), accum=binary.plus)
    return total


def forward(A: Matrix, sources: Any) -> list[Matrix]:
    """F of every level, beginning with the sources themselves."""
    count = len(sources)
    F = P = Matrix.from_edges(np.arange(count), sources, np.ones(count), shape=(count, A.shape[0])).to(A.device)
    levels = []
    while F.nnz:
        levels.append(F)
        F = mxm(F, A, plus_first, mask=P, complement=True, structural=True)
        P = ewise_add(P, F)
    if not math.isfinite(reduce(P, monoid.max)):
        raise GraphError("there are more shortest paths than float64 can count; use hopwave.betweenness_centrality")
    return levels


def backward(A: Matrix, levels: list[Matrix]) -> Iterable[Matrix]:
    """D of every level, from the last but one to the first after the sources."""
    D = None
    for F, nearer in zip(levels[:1:-1], levels[-2:0:-1], strict=True):
        ones = apply(F, unary.one, dtype="float64")
        W = ewise_mult(ones if D is None else ewise_add(D, ones), F, binary.div)  # (1 + D) / σ
        D = ewise_mult(mxm(W, A.T, plus_first, mask=nearer, structural=True), nearer)
        yield D
