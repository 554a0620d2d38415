"""Rejections by hopwave.linalg and its algorithms."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

import hopwave as hw
from hopwave import ConvergenceError, EngineError, GraphError, LinalgError
from hopwave import linalg as la
from rejections import Row, each

A = la.Matrix.from_graph(hw.generate.path(3))
U = la.Vector.from_entries([0, 2], [1.0, 2.0], 3)
LONG = la.Vector.from_entries([0], [1.0], 9)

M = la.Matrix.from_dense([[1.0, 3.0], [0.5, 100.0]])
TALL = la.Matrix.from_dense(np.ones((3, 2)))
DIRECTED = hw.generate.path(3, directed=True)
RAGGED: Any = [[1], [1, 2]]
MASKED = np.ma.array([1, 2], mask=[True, False])
V = la.Vector.from_dense([1.0, 2.0, 3.0])


def twice(x: Any) -> Any:
    """Not compiled by Numba."""
    return 2 * x


ROWS: list[Row] = [
    (lambda: la.mxv(A, LONG), LinalgError, "x has length 9; pass a vector of length 3"),
    *each(lambda ask: ask(LONG, A), [la.vxm, la.waves], LinalgError, "x has length 9; pass a vector of length 3"),
    *each(lambda ask: ask(A, LONG), [la.mxm, la.vxm, lambda A, x: x @ x], LinalgError, "write mxv(A, x), vxm"),
    (lambda: la.ewise_add(A, LONG), LinalgError, "u is a Matrix"),
    (lambda: la.ewise_mult(U, LONG), LinalgError, "v has length 9"),
    (lambda: la.apply(U, "x"), LinalgError, "lambda"),
    (lambda: la.assign(U, LONG), LinalgError, "value has length 9"),
    (lambda: la.extract(U, [9]), LinalgError, "valid are 0 to 2"),
    (lambda: la.select(U, "nope"), LinalgError, "linalg.binary.gt"),
    (lambda: la.reduce("x"), LinalgError, "not str"),
    *each(lambda ask: ask(A, 9), [la.bfs, la.algorithms.bfs], LinalgError, "outside 0 … 2"),
    (lambda: la.pagerank, AttributeError, "use `hopwave.linalg.algorithms.pagerank`"),  # type: ignore[attr-defined]
    (lambda: la.algorithms.betweenness(A, sources=[9]), GraphError, "source 9"),
    *each(lambda ask: ask(A, 9), [la.algorithms.delta_stepping, la.algorithms.sssp], GraphError, "source 9"),
    (lambda: la.algorithms.eigenvector_centrality(A, max_iter=0), GraphError, "max_iter=0"),
    (lambda: la.algorithms.hits(A, tol=-1), GraphError, "tol=-1"),
    (lambda: la.algorithms.katz_centrality(A, alpha="x"), GraphError, "alpha='x'"),
    (lambda: la.algorithms.pagerank(A, alpha=2), GraphError, "alpha=2"),
    (lambda: la.algorithms.label_propagation(A, seed="x"), LinalgError, "seed='x'"),
    (lambda: la.algorithms.maximal_independent_set(A, seed="x"), LinalgError, "seed='x'"),
    *each(lambda ask: ask("x"), [la.algorithms.triangle_list, la.algorithms.triangles], LinalgError, "not str"),
    *each(lambda ask: ask("x"), [la.algorithms.core_numbers, la.algorithms.triangle_count], LinalgError, "not str"),
    (lambda: la.algorithms.connected_components("x"), LinalgError, "not str"),
    # ---- vectors and matrices
    *each(lambda n: la.Vector(n), [2**31, -1, 2.0], LinalgError, "is not a length"),
    (lambda: la.Vector([1.0, 2.0]), LinalgError, "use Vector.from_dense"),  # type: ignore[arg-type]
    *each(la.Matrix, [np.eye(2), [[1]], hw.generate.path(2)], LinalgError, "use Matrix.from_dense, from_scipy"),
    (lambda: la.Vector.from_entries([2**33 + 5], [1], n=2**34), LinalgError, "is not a length"),
    (lambda: la.Vector.from_entries([0, 0], 1, n=3), LinalgError, "occurs twice"),
    (lambda: la.Vector.from_entries([3], 1, n=3), LinalgError, "outside"),
    (lambda: la.Vector.from_entries(RAGGED, 1.0, 4), LinalgError, "indices has nested lists of different lengths"),
    (lambda: la.Vector.from_entries([0, 1], RAGGED, 4), LinalgError, "values has nested lists of different lengths"),
    (lambda: la.Vector.from_entries([0, 1], MASKED, n=2), LinalgError, "is masked at index 0"),
    *each(lambda ask: ask(MASKED), [la.Vector.from_dense, lambda x: V.from_entries(x, 1, 5)], LinalgError, "is masked"),
    (lambda: la.Vector.from_dense([1 + 2j]), LinalgError, "complex128 is not a type"),
    (lambda: la.Vector.from_dense([1.0, 2.0], RAGGED), LinalgError, "present has nested lists of different lengths"),
    (lambda: la.Vector.full(3, RAGGED), LinalgError, "is not a single number"),
    *each(lambda place: V[place], [0.5, "a", 3], LinalgError, "is not an index"),
    (lambda: la.Vector.from_entries([1], [7], n=2).to_dense(1.5), LinalgError, "missing=1.5"),
    (lambda: la.Vector.from_entries([1], True, n=2).to_dense(-1), LinalgError, "missing=-1"),
    (lambda: la.Matrix.from_dense([[0, 1]]).to_dense(0.5), LinalgError, "missing=0.5"),
    *each(lambda kept: kept.to("abacus"), [M, V], LinalgError, "'abacus' is not known"),
    (lambda: la.Matrix.from_edges([0], [2**33 + 5], shape=(1, 2**34)), LinalgError, "32-bit indices allow"),
    (lambda: la.Matrix.from_edges([0.5], [1], shape=3), LinalgError, "rows has type float64"),
    (lambda: la.Matrix.from_edges([0], ["b"], shape=3), LinalgError, "columns has type"),
    (lambda: la.Matrix.from_edges([0, 1], [0, 1], RAGGED), LinalgError, "values has nested lists of different lengths"),
    (lambda: la.Matrix.from_edges([0, 1], [1, 0], MASKED), LinalgError, "is masked at index 0"),
    (lambda: la.Matrix.from_graph(hw.generate.path(2), MASKED), LinalgError, "is masked at index 0"),
    (lambda: la.Matrix.from_dense(np.ma.array([[1, 2]], mask=[[True, False]])), LinalgError, "is masked at index 0"),
    (lambda: la.Matrix.from_dense(RAGGED), LinalgError, "values has nested lists of different lengths"),
    (lambda: la.Matrix.from_dense([1, 2]), LinalgError, "1 dimension"),
    (lambda: la.Matrix.from_dense([[1, 2]], present=[[True]]), LinalgError, "shapes must match"),
    # ---- semirings and functions
    (lambda: la.semiring.plus_plum, LinalgError, "is not a semiring of hopwave"),
    (lambda: la.Semiring.define("two", la.monoid.plus, la.binary.times, identity=0), LinalgError, "its own identity"),
    *each(
        lambda given: la.Semiring.define("wrong", given[0], la.binary.plus, identity=given[1]),
        [(la.binary.min, 0), (la.binary.plus, 5), (min, None), (la.binary.minus, None), (la.binary.eq, False)],
        LinalgError,
        "is not an identity",
    ),
    *each(lambda ask: ask(V, lambda v: twice(v) > 1, device="cpu"), [la.apply, la.select], LinalgError, "be compiled"),
    (lambda: la.ewise_add(V, V, lambda v, w: twice(v), device="cpu"), LinalgError, "cannot be compiled"),
    (lambda: la.apply(V, lambda v, w: v), LinalgError, "is not a function of one number"),
    # ---- operations
    (lambda: la.mxv(M, MASKED), LinalgError, "is masked at index 0"),
    (lambda: la.mxv(M, [1.0, 2.0], dtype="int16"), LinalgError, "int16 is not a type"),
    (lambda: la.mxv(M, [1.0, 2.0], operand_reuse=True), LinalgError, "complemented mask"),
    (lambda: la.mxv(M, [1.0, 2.0], "plus_times"), LinalgError, "use linalg.semiring.plus_times"),
    (lambda: la.mxv(M, [1.0, 2.0], device="reference", threads=2), EngineError, "threads=2 is only for device='cpu'"),
    (lambda: la.mxm(M, M, device="reference", threads=2), EngineError, "threads=2 is only for device='cpu'"),
    (lambda: la.mxm(np.eye(3), np.eye(3)), LinalgError, "from_scipy takes"),
    (lambda: la.mxm(M, M, operand_reuse=True), TypeError, "operand_reuse"),
    (lambda: la.waves(V, TALL), LinalgError, "3 × 2"),
    (lambda: la.waves(U, A, min), LinalgError, "is not a semiring"),
    *each(lambda limit: la.waves(U, A, depth_limit=limit), [-1, 1.5, True, "2"], LinalgError, "depth_limit"),
    (lambda: la.ewise_add(V, V, la.binary.secondi), LinalgError, "not an operator on two values"),
    (lambda: la.apply(V, la.binary.plus), LinalgError, "pass one of left= and right="),
    (lambda: la.apply(V, la.unary.abs, left=1), LinalgError, "omit left= and right="),
    *each(lambda x: la.apply(V, la.binary.plus, right=x), ["a", 2**70, [1, 2, 3]], LinalgError, "not a 64-bit number"),
    (lambda: la.apply(V, la.unary.abs, complement=True), LinalgError, "needs a mask"),
    (lambda: la.apply(V, la.unary.abs, accum=la.binary.plus), LinalgError, "accum=plus needs a result"),
    (lambda: la.apply(V, la.unary.abs, out=la.Vector(5)), LinalgError, "out has length 5"),
    (lambda: la.select(V, "tril"), LinalgError, "in a matrix"),
    (lambda: la.select(V, la.binary.gt), LinalgError, "thunk="),
    (lambda: la.select(V, la.binary.gt, [1, 2]), LinalgError, "is not a number"),
    *each(lambda ask: la.select(*ask, 3), [(V, lambda value: value > 0), (M, la.unary.abs)], LinalgError, "thunk=3"),
    (lambda: la.select(M, la.binary.gt, "x"), LinalgError, "thunk='x' is not a number"),
    (lambda: la.select(M, la.binary.gt, la.Vector(2)), LinalgError, "compared with a number"),
    (lambda: la.select(M, "tril", 0.5), LinalgError, "thunk=0.5 is not the number of a diagonal"),
    (lambda: la.select(M, "corner"), LinalgError, "'corner' is not known"),
    (lambda: la.assign(M, 1.0, [0]), LinalgError, "assign writes to a Vector, not Matrix"),
    (lambda: la.assign(la.Vector(4), RAGGED), LinalgError, "different lengths"),
    (lambda: la.assign(V, 1, [3]), LinalgError, "valid are 0 to 2"),
    (lambda: la.assign(V, 1, [0.5]), LinalgError, "a list of integers"),
    (lambda: la.assign(V, "a"), LinalgError, "'a' is not a 64-bit number"),
    *each(lambda m: la.assign(la.Vector(3, "int32"), 2**40, mask=m), [None, V], LinalgError, "does not fit int32"),
    (lambda: la.assign(la.Vector(3, "int64"), np.nan, [0]), LinalgError, "nan does not fit int64"),
    (lambda: la.extract(M, [1, 1]), LinalgError, "listed twice"),
    (lambda: la.reduce(V, "plus"), LinalgError, "is not a monoid"),
    (lambda: la.reduce(V, la.BinaryOp.define("plus", lambda x, y: x * y)), LinalgError, "no known identity"),
    *each(lambda axis: la.reduce(M, axis=axis), [5, -1, True, "rows"], LinalgError, "is not known"),
    (lambda: la.reduce(V, axis=1), LinalgError, "is only for matrices"),
    # ---- algorithms
    *each(lambda ask: ask(TALL), [la.algorithms.core_numbers, la.algorithms.triangle_count], LinalgError, "3 × 2"),
    (lambda: la.algorithms.core_numbers(A, device="abacus"), LinalgError, "device='abacus'"),
    (lambda: la.algorithms.core_numbers(A, directed=2.5), GraphError, "directed=2.5"),
    (lambda: la.algorithms.bfs(M, RAGGED), LinalgError, "different lengths"),
    (lambda: la.algorithms.sssp(M, RAGGED), GraphError, "different lengths"),
    (lambda: la.algorithms.betweenness(M, 1.5), GraphError, "is not a list of vertices"),
    *each(lambda batch: la.algorithms.betweenness(M, batch=batch), [0, "x"], GraphError, "batch="),
    (lambda: la.algorithms.pagerank(M, personalization=10**400), GraphError, "does not contain 64-bit numbers"),
    *each(lambda x: la.algorithms.label_propagation(A, max_rounds=x), [1.5, -1], GraphError, "max_rounds="),
    *each(lambda ask: ask(DIRECTED), [hw.triangles, hw.triangle_count], GraphError, "undirected"),
    *each(lambda ask: ask(DIRECTED), [hw.maximal_independent_set, hw.label_propagation], GraphError, "undirected"),
    (lambda: hw.eigenvector_centrality(DIRECTED, tol=-1), GraphError, "tol=-1"),
    (lambda: hw.eigenvector_centrality(DIRECTED, max_iter=2.5), GraphError, "max_iter=2.5"),
    (lambda: hw.eigenvector_centrality(DIRECTED, tol=0, max_iter=3), ConvergenceError, "round 3 changed them"),
    (lambda: hw.eigenvector_centrality(DIRECTED, nstart=[0, 0, 0]), GraphError, "has the sum 0"),
    *each(lambda w: hw.eigenvector_centrality(DIRECTED, weights=[1, w]), [-1, math.inf, 1e300], GraphError, "weight"),
    (lambda: hw.hits(DIRECTED, weights=[1e-300, 1e-200]), GraphError, "scale the weights"),
    (lambda: hw.hits(DIRECTED, nstart={0: 1}), GraphError, "0 at every vertex with in-arcs"),
    (lambda: hw.hits(hw.generate.grid(30, 30), max_iter=1), ConvergenceError, "authorities did not converge: round 1"),
    (lambda: hw.katz_centrality(DIRECTED, alpha=math.nan), GraphError, "alpha=nan"),
    (lambda: hw.katz_centrality(DIRECTED, beta=[1, 2]), GraphError, "shape (2,)"),
    (lambda: hw.katz_centrality(DIRECTED, beta=math.inf), GraphError, "not finite"),
    (lambda: hw.katz_centrality(DIRECTED, nstart=[1, 2, math.nan]), GraphError, "not finite"),
    (lambda: hw.katz_centrality(hw.generate.complete(4), 2.0, max_iter=10_000), ConvergenceError, "Katz diverged"),
    (lambda: hw.katz_centrality(hw.generate.star(200)), ConvergenceError, "in-weights; alpha=0.0045 converges"),
    (lambda: hw.katz_centrality(hw.generate.star(200), alpha=0.05, max_iter=2), ConvergenceError, "did not converge"),
    (lambda: hw.pagerank(DIRECTED, tol=0, max_iter=3, adaptive=False), ConvergenceError, "round 3 changed them"),
    (lambda: hw.pagerank(DIRECTED, tol=0, max_iter=3, adaptive=True), ConvergenceError, "round 3 changed them"),
    *each(lambda x: hw.pagerank(DIRECTED, personalization=x), [{7: 1}, {0: 0}], GraphError, ""),
    (lambda: hw.pagerank(DIRECTED, dangling=[1, -1, 1]), GraphError, "the minimum -1"),
    *each(lambda x: hw.pagerank(DIRECTED, nstart=x), [[1, math.nan, 1], [1, 2]], GraphError, "nstart"),
    *each(
        lambda x: hw.pagerank(DIRECTED, weights=[1, x]), [-1, math.nan, math.inf, 1e300, 1e-300], GraphError, "eight"
    ),
    *each(lambda x: hw.sssp(DIRECTED, 0, weights=x), [[-2, 1], [1, math.nan], [1.0]], GraphError, "weight"),
    (lambda: hw.sssp(DIRECTED, 0, weights=["long"] * 2), GraphError, "are not numbers"),
    (lambda: hw.sssp(DIRECTED, 0, weights="km"), GraphError, "names an edge attribute"),
    (lambda: hw.sssp(DIRECTED, 0, weights=[2.0, math.inf]), GraphError, "is infinite"),
    (lambda: hw.sssp(DIRECTED.to_scipy(np.float64), 0, weights=[1.0] * 2), GraphError, "omit weights"),
    (lambda: hw.sssp(sp.csr_array(np.ones((2, 3))), 0), GraphError, "square"),
    (lambda: hw.sssp(DIRECTED, 0, method="bellman-ford", delta=1.0), GraphError, "omit it"),
    (lambda: hw.sssp(DIRECTED, 2).path_to(0), GraphError, "did not reach"),
    (lambda: hw.nearest_of(hw.generate.grid(2, 2), [0], k=2**63), EngineError, "pass a smaller k"),
    (lambda: hw.isochrone(DIRECTED, 0, limits=np.ma.masked), GraphError, "limits=masked"),
]
