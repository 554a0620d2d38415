"""The library that the linear-algebra benchmarks compare with: python-graphblas (SuiteSparse), used as in LAGraph.

Matrices are made, transposed and finished before timing starts. Each function is LAGraph's method of that name, in
float64 where hopwave computes in float64, with the same stopping rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from graphblas import Matrix, Vector, binary, monoid, select, semiring, unary

from benchmarks.setting import hw


def matrix(graph: hw.Graph, values: Any = None) -> Matrix:
    """The adjacency matrix, by rows, finished."""
    indptr, indices = graph.indptr.astype(np.uint64), graph.indices.astype(np.uint64)
    if values is None:
        found = Matrix.ss.import_csr(
            nrows=graph.n, ncols=graph.n, indptr=indptr, col_indices=indices, values=np.array([True]), is_iso=True,
            sorted_cols=True,
        )  # fmt: skip
    else:
        found = Matrix.ss.import_csr(
            nrows=graph.n, ncols=graph.n, indptr=indptr, col_indices=indices, values=np.array(values), sorted_cols=True
        )
    found.wait()
    return found


def pagerank(AT: Matrix, degrees: Vector, sinks: Vector, damping: float, tolerance: float, most: int) -> Vector:
    """LAGr_PageRank: sinks spread their rank over all vertices; stops when the sum of changes is within tolerance."""
    n = AT.nrows
    d = degrees.apply(binary.truediv, right=damping).new(dtype=float)
    smallest = Vector(float, n)
    smallest[:] = 1.0 / damping
    d(binary.max) << smallest
    r, t, w = Vector(float, n), Vector(float, n), Vector(float, n)
    r[:] = 1.0 / n
    plus_second = semiring.plus_second[float]
    for _ in range(most):
        teleport = (1 - damping) / n
        if sinks.nvals:
            at_sinks = Vector(float, n)
            at_sinks(sinks.S) << r
            teleport += damping / n * at_sinks.reduce(monoid.plus).new().value
        t, r = r, t
        w << t.ewise_mult(d, binary.truediv)
        r[:] = teleport
        r(binary.plus) << AT.mxv(w, plus_second)
        t(binary.minus) << r
        t << t.apply(unary.abs)
        if t.reduce(monoid.plus).new().value <= tolerance:
            break
    return r


def triangles(A: Matrix) -> int:
    """LAGr_TriangleCount, Sandia_LUT: the sum of L · Uᵀ at the entries of L, by dot products. A has no diagonal."""
    L, U = A.select(select.tril, -1).new(), A.select(select.triu, 1).new()
    C = Matrix("INT64", A.nrows, A.ncols)
    C(L.S) << L.mxm(U.T, semiring.plus_pair["INT64"])
    return int(C.reduce_scalar(monoid.plus).new().value or 0)


def delta_stepping(A: Matrix, source: int, delta: float) -> Vector:
    """LAGr_SingleSourceShortestPath (Sridhar et al., 2019); weights are positive."""
    n, kind = A.nrows, A.dtype
    light, heavy = A.select("<=", delta).new(), A.select(">", delta).new()
    light.wait()
    heavy.wait()
    t = Vector(kind, n)
    t[:] = np.inf
    t[source] = 0
    reach = Vector(bool, n)
    reach[source] = True
    s = Vector(bool, n)
    s[source] = True
    nothing = Vector(bool, n)
    step = 0
    while True:
        upper = (step + 1) * delta
        inside = Vector(kind, n)
        inside(reach.V) << t
        inside << inside.select("<", upper)
        while inside.nvals:
            request = inside.vxm(light, semiring.min_plus).new()
            s(inside.S) << True
            if not request.nvals:
                break
            less = request.ewise_mult(t, binary.lt).new()
            less << less.select("!=", False)
            if not less.nvals:
                break
            reach(less.S) << True
            inside.clear()
            inside(less.S) << request.select("<", upper)
            t(less.S) << request
        inside.clear()
        inside(s.S) << t
        request = inside.vxm(heavy, semiring.min_plus).new()
        less = request.ewise_mult(t, binary.lt).new()
        t(less.V) << request
        reach(less.V) << True
        reach(s.S) << nothing
        if not reach.nvals:
            return t
        s.clear()
        step += 1


def bellman_ford(A: Matrix, source: int) -> Vector:
    """python-graphblas's own example, v = min(v, v min.+ A), continuing only with distances that became shorter."""
    v = Vector(A.dtype, A.nrows)
    v[:] = np.inf
    v[source] = 0
    f = Vector(A.dtype, A.nrows)
    f[source] = 0
    while f.nvals:
        f << f.vxm(A, semiring.min_plus)
        less = f.ewise_mult(v, binary.lt).new()
        f(less.V, replace=True) << f
        v(f.S) << f
    return v
