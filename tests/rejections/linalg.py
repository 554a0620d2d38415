"""Rejections by hopwave.linalg and its algorithms."""

from __future__ import annotations

import hopwave as hw
from hopwave import GraphError, LinalgError
from hopwave import linalg as la
from rejections import Row, each

A = la.Matrix.from_graph(hw.generate.path(3))
U = la.Vector.from_entries([0, 2], [1.0, 2.0], 3)
LONG = la.Vector.from_entries([0], [1.0], 9)

ROWS: list[Row] = [
    (lambda: la.mxv(A, LONG), LinalgError, "x has 9 places where 3 are needed"),
    (lambda: la.vxm(LONG, A), LinalgError, "x has 9 places where 3 are needed"),
    (lambda: la.waves(LONG, A), LinalgError, "x has 9 places where 3 are needed"),
    (lambda: la.mxm(A, LONG), LinalgError, "not Vector"),
    (lambda: la.ewise_add(A, LONG), LinalgError, "u is a Matrix"),
    (lambda: la.ewise_mult(U, LONG), LinalgError, "v has 9 places"),
    (lambda: la.apply(U, "x"), LinalgError, "lambda"),
    (lambda: la.assign(U, LONG), LinalgError, "value has 9 places"),
    (lambda: la.extract(U, [9]), LinalgError, "places are 0 to 2"),
    (lambda: la.select(U, "nope"), LinalgError, "linalg.binary.gt"),
    (lambda: la.reduce("x"), LinalgError, "not str"),
    (lambda: la.bfs(A, 9), LinalgError, "outside 0 … 2"),
    (lambda: la.algorithms.bfs(A, 9), LinalgError, "outside 0 … 2"),
    (lambda: la.algorithms.betweenness(A, sources=[9]), GraphError, "source 9"),
    (lambda: la.algorithms.delta_stepping(A, 9), GraphError, "source 9"),
    (lambda: la.algorithms.sssp(A, 9), GraphError, "source 9"),
    (lambda: la.algorithms.eigenvector_centrality(A, max_iter=0), GraphError, "max_iter=0"),
    (lambda: la.algorithms.hits(A, tol=-1), GraphError, "tol=-1"),
    (lambda: la.algorithms.katz_centrality(A, alpha="x"), GraphError, "alpha='x'"),
    (lambda: la.algorithms.pagerank(A, alpha=2), GraphError, "alpha=2"),
    (lambda: la.algorithms.label_propagation(A, seed="x"), LinalgError, "seed='x'"),
    (lambda: la.algorithms.maximal_independent_set(A, seed="x"), LinalgError, "seed='x'"),
    *each(lambda ask: ask("x"), [la.algorithms.triangle_list, la.algorithms.triangles], LinalgError, "not str"),
    *each(lambda ask: ask("x"), [la.algorithms.core_numbers, la.algorithms.triangle_count], LinalgError, "not str"),
    (lambda: la.algorithms.connected_components("x"), LinalgError, "not str"),
]
