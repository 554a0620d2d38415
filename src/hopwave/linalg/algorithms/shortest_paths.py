"""Shortest paths from one vertex by products: hops; lengths over min-plus, by Bellman-Ford's rounds and Δ-stepping.

A   weights: A(u, v) is the length of the arc u → v, never negative      d   the distances found so far
f   the vertices whose distance became shorter, with that distance       t   offers: the distances through f
Δ   the width of a bucket        L, H   the light arcs of A, at most Δ long, and the heavy ones

Hops: push-pull, Algorithm 1, which is `linalg.waves` over any_pair.
Bellman-Ford: Kepner and Gilbert, Graph Algorithms in the Language of Linear Algebra (2011), chapter 5. The vector is
sparse while few distances change, so that a round is cheap, and dense otherwise (push-pull, section 6.3).
Δ-stepping: Meyer and Sanders, Δ-stepping: a parallelizable shortest path algorithm (2003); as products: Sridhar et al.,
Delta-stepping SSSP: from vertices and edges to GraphBLAS implementations (2019), figure 2.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hopwave.algebra.matrix import Matrix, as_matrix
from hopwave.algebra.operators import binary, monoid
from hopwave.algebra.semiring import any_pair, semiring
from hopwave.algebra.vector import Shares, Vector
from hopwave.arrays import as_array
from hopwave.checks.numbers import is_number
from hopwave.errors import GraphError
from hopwave.linalg.algorithms.operands import check_lengths, extremes, place, square
from hopwave.linalg.elementwise import select
from hopwave.linalg.fixpoint import waves
from hopwave.linalg.masking import assign
from hopwave.linalg.products import reduce, vxm

min_plus, least, less = semiring.min_plus, binary.min, binary.lt
# A pull has no early exit here and reads every arc, so it pays only if a push would read about as many.
CONVERT = Shares(rising=0.3, falling=0.2)  # the rule of the plan bellman-ford
MANY = 1000  # if a bucket has less than 1/MANY of the vertices, the next bucket is twice as wide
WIDE, CHAINS = 2, 48  # Δ = max(WIDE, CHAINS / (mean degree)²) · longest arc


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


def sssp(A: Any, source: int | Sequence[int], *, device: str = "auto") -> Vector:
    """The length of a shortest path from the source to every vertex, infinite if there is none (Bellman-Ford).

    The values of the matrix (the weights of a Graph) are the lengths of the arcs. Without values every arc has length
    1.

    Parameters
    ----------
    source : int or list of int
        Where paths start; of several sources, the nearest counts.

    Examples
    --------
    >>> A = la.Matrix.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0], shape=4)
    >>> la.algorithms.sssp(A, 0).to_dense().tolist()
    [0.0, 1.0, 3.0, inf]
    """
    A, d, f = _begin(A, source, device)
    while f.nnz:
        # A pull may read d instead of f: offers from vertices outside f are not shorter than d.
        t = vxm(d, A, min_plus, direction="pull") if f._decide() == "dense" else vxm(f, A, min_plus, direction="push")
        f = select(t, less, d)._follow(f)
        assign(d, f, accum=least)
    return d


def delta_stepping(A: Any, source: int | Sequence[int], delta: float | None = None, *, device: str = "auto") -> Vector:
    """Like `sssp`, nearest vertices first: one bucket of distances after another, each Δ wide.

    Light arcs may lead back into the bucket, so they are relaxed until the bucket no longer changes; heavy arcs lead
    out of it, and are relaxed once. A small Δ relaxes few arcs twice (like Dijkstra's algorithm), a large Δ has few
    buckets (like Bellman-Ford).

    Parameters
    ----------
    delta : float, optional
        Δ, the width of a bucket; by default chosen from the weights.
    A, source, device
        As for `sssp`.

    Examples
    --------
    >>> A = la.Matrix.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0], shape=4)
    >>> la.algorithms.delta_stepping(A, 0, delta=2.0).to_dense().tolist()
    [0.0, 1.0, 3.0, inf]
    """
    A, d, f = _begin(A, source, device)
    given = delta is not None
    if delta is not None and not (is_number(delta) and 0 < delta < math.inf):
        raise GraphError(f"delta={delta!r} is not a bucket width; give a number above 0, or leave it out")
    delta = default_delta(A) if delta is None else float(delta)
    L, H = split(A, delta)
    waiting = f  # the vertices whose distance has not been passed on
    while waiting.nnz:
        nearest = reduce(waiting, monoid.min)
        end = max(nearest + delta, math.nextafter(nearest, math.inf))  # no bucket is empty, however small Δ is
        bucket = select(waiting, less, end)
        while bucket.nnz:
            t = select(vxm(bucket, L, min_plus), less, d)
            assign(d, t, accum=least)
            assign(waiting, t, accum=least)
            bucket = select(t, less, end)._follow(bucket)
        settled = select(waiting, less, end)
        waiting = select(waiting, binary.ge, end)
        if not given and settled.nnz * MANY < A.shape[0]:
            delta = min(
                2 * delta, sys.float_info.max
            )  # L is not made again: arcs that are light now stay in H, which is harmless
        if H.nnz:
            t = select(vxm(settled, H, min_plus), less, d)
            assign(d, t, accum=least)
            assign(waiting, t, accum=least)
    return d


@dataclass
class LastSplit:
    """Kept with a matrix: the last Δ, whether the transpose was split, the light arcs and the heavy arcs."""

    split: tuple[float, bool, Matrix, Matrix] | None = None


def split(A: Matrix, delta: float) -> tuple[Matrix, Matrix]:
    """The light and the heavy arcs, kept with the matrix for the next source."""
    record = A._prepared.record(LastSplit)
    kept = record.split
    if kept is None or kept[:2] != (delta, A._turned):
        light = A if extremes(A)[1] <= delta else select(A, binary.le, delta)
        kept = record.split = (delta, A._turned, light, select(A, binary.gt, delta))
    return kept[2:]


def default_delta(A: Matrix) -> float:
    """A few times the longest arc. Each bucket costs a scan of all vertices, so buckets are wide if the mean degree is
    low: relaxing an arc twice then seldom makes other arcs be relaxed again."""
    longest = extremes(A)[1]
    degree = A.nnz / max(A.shape[0], 1)
    return min(max(WIDE, CHAINS / max(degree, 1) ** 2) * longest, sys.float_info.max) if longest > 0 else 1.0


def _begin(A: Any, source: int | Sequence[int], device: str) -> tuple[Matrix, Vector, Vector]:
    """Returns the checked matrix; d, 0 at the sources and infinite elsewhere; f, which has only the sources."""
    A = square(A, device, weights=True)
    check_lengths(A)
    d = Vector.full(A.shape[0], math.inf, device=A.device)
    sources = np.unique([place(A, one) for one in np.atleast_1d(as_array(source, "source", GraphError)).tolist()])
    f = Vector.from_entries(sources.astype(np.int32), 0.0, A.shape[0]).to(A.device)
    f.rule = CONVERT
    return A, assign(d, f, accum=least), f
