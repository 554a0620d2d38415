"""Compares our operations with python-graphblas (SuiteSparse), if installed, on equal inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import linalg as la

gb = pytest.importorskip("graphblas")

G = hw.generate.kronecker(8, directed=True)
RNG = np.random.default_rng(1)
WEIGHTS = {kind: RNG.integers(1, 9, G.m).astype(kind) for kind in ("int32", "int64", "float32", "float64")}
MASKS = [(False, False), (True, False), (False, True), (True, True)]  # complement, structural


def theirs(v: la.Vector) -> Any:
    return gb.Vector.from_coo(v.indices.astype(np.uint64), v.values, size=v.n)


def their_matrix(A: la.Matrix) -> Any:
    i = np.repeat(np.arange(A.shape[0]), np.diff(A.rows.indptr))
    return gb.Matrix.from_coo(
        i, A.rows.indices.astype(np.uint64), A.stored_values(), nrows=A.shape[0], ncols=A.shape[1]
    )


def same(mine: la.Vector, other: Any) -> None:
    places, values = other.to_coo()
    assert mine.indices.tolist() == places.tolist()
    np.testing.assert_allclose(mine.values, values, rtol=1e-5)


def vector(share: float, dtype: str) -> la.Vector:
    places = np.flatnonzero(RNG.random(G.n) < share)
    return la.Vector.from_entries(places, RNG.integers(0, 5, len(places)).astype(dtype), G.n)


PRODUCTS = [  # with types that other tests compile too
    ("plus_times", "float64", "float64"),
    ("min_plus", "int64", "int64"),
    ("max_times", "int32", "int64"),
    ("plus_second", None, "float64"),
]


@pytest.mark.parametrize("name, a, x", PRODUCTS)
@pytest.mark.parametrize("direction", ["push", "pull"])
def test_products(name: str, a: str | None, x: str, direction: Any) -> None:
    A = la.Matrix.from_graph(G, None if a is None else WEIGHTS[a])
    their, semiring = their_matrix(A), getattr(gb.semiring, name)
    for complement, structural in MASKS:
        u, mask, out = vector(0.2, x), vector(0.5, "int32"), vector(0.3, x)
        m = theirs(mask).S if structural else theirs(mask).V
        m = ~m if complement else m
        keywords: Any = {"mask": mask, "complement": complement, "structural": structural, "direction": direction}
        w = theirs(out)
        w(mask=m, accum=gb.binary.plus) << semiring(their @ theirs(u))
        same(la.mxv(A, u, la.semiring[name], out=out.copy(), accum=la.binary.plus, **keywords), w)
        if name != "plus_second":
            w = theirs(out)
            w(mask=m, replace=True) << semiring(theirs(u) @ their)
            same(la.vxm(u, A, la.semiring[name], out=out.copy(), replace=True, **keywords), w)


@pytest.mark.parametrize("name", ["plus_pair", "min_plus"])
def test_matrix_products(name: str) -> None:
    A = la.Matrix.from_graph(G, WEIGHTS["int64"])
    B, their = A.T, their_matrix(A)
    semiring = getattr(gb.semiring, name)
    for complement, structural in MASKS:
        mask = their.S if structural else their.V
        C = gb.Matrix("INT64", G.n, G.n)
        C(mask=~mask if complement else mask) << semiring(their @ their.T)
        mine = la.mxm(A, B, la.semiring[name], mask=A, complement=complement, structural=structural)
        i, j, values = C.to_coo()
        assert mine.nnz == len(i)
        assert mine.rows.indices.tolist() == j.tolist()
        assert mine.stored_values().tolist() == values.tolist()


def test_element_wise() -> None:
    u, v = vector(0.4, "int64"), vector(0.4, "float64")
    a, b = theirs(u), theirs(v)
    for name in ("plus", "times", "min", "max"):
        same(la.ewise_add(u, v, la.binary[name]), a.ewise_add(b, getattr(gb.binary, name)).new())
        same(la.ewise_mult(u, v, la.binary[name]), a.ewise_mult(b, getattr(gb.binary, name)).new())
    same(la.apply(u, la.binary.times, right=3), a.apply(gb.binary.times, right=3).new())
    same(la.select(v, la.binary.gt, 2), b.select(">", 2).new())
    assert la.reduce(u) == a.reduce(gb.monoid.plus).new().value
    assert la.reduce(v, la.monoid.max) == b.reduce(gb.monoid.max).new().value
    A = la.Matrix.from_graph(G, WEIGHTS["float64"])
    same(la.reduce(A, la.monoid.plus, axis=1), their_matrix(A).reduce_rowwise(gb.monoid.plus).new())
    same(la.extract(u, [5, 3, 3]), a[[5, 3, 3]].new())


def test_a_search() -> None:
    """LAGraph's search: parents by ANY.SECONDI, levels by the number of the round."""
    A = la.Matrix.from_graph(G)
    their = their_matrix(A)
    source = int(np.argmax(G.degrees))
    v, q, depth = gb.Vector("INT32", G.n), gb.Vector.from_coo([source], True, size=G.n), 0
    while q.nvals:
        v(q.S) << depth
        q(~v.S, replace=True) << gb.semiring.any_pair(q @ their)
        depth += 1
    same(la.bfs(A, source), v)
