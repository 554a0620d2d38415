"""Vectors that convert themselves, matrices that are not copied, and products that report what they did."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import hopwave as hw
from hopwave import linalg as la
from hopwave.engines.cpu import policy
from operands import machines


def entries(n: int, count: int) -> la.Vector:
    return la.Vector.from_entries(np.arange(count), True, n)


def test_a_vector_converts_itself_by_the_papers_rule() -> None:
    """Section 6.3: dense above 1% while rising, sparse below 1% while falling; in between unchanged."""
    x = entries(1000, 10)
    assert x.convert() == "sparse"  # 1% is not above 1%
    for count, kept in ((50, "dense"), (5, "sparse"), (8, "sparse"), (11, "dense"), (11, "dense"), (9, "sparse")):
        x.replace(entries(1000, count))
        assert x.convert() == kept, count
        assert x.format == kept
    x.replace(entries(1000, 5))
    x.rule = la.Shares(rising=0.5, falling=0.001)
    x.replace(entries(1000, 400))
    assert x.convert() == "sparse"


def test_a_products_result_goes_on_where_its_operand_was() -> None:
    """The rule looks at a sequence of frontiers: 2% after 5% is falling, but not yet below 1%."""
    A, x = la.Matrix.from_scipy(sp.eye_array(100, format="csr")), entries(100, 5)
    assert x.convert() == "dense"
    y = la.mxv(A, x, la.semiring.any_pair, mask=entries(100, 2))
    assert (y._before, y._was_dense, y.nnz) == (5, True, 2)
    _, why = la.mxv(A, y, la.semiring.any_pair, explain=True)
    assert why.direction == "pull"


def test_nothing_is_copied_from_and_to_scipy() -> None:
    S = sp.csr_array(np.random.default_rng(0).integers(0, 2, (30, 20)).astype(np.float64))
    A = la.Matrix.from_scipy(S)
    assert A.rows.values is S.data and A.rows.indptr is S.indptr and np.shares_memory(A.rows.indices, S.indices)
    back = A.to_scipy()
    assert all(np.shares_memory(getattr(back, part), getattr(S, part)) for part in ("data", "indices", "indptr"))
    C = la.Matrix.from_scipy(S.tocsc())
    assert C.shape == (30, 20) and (C.to_dense() == S.toarray()).all() and (A.T.to_dense() == S.toarray().T).all()
    assert A.T.columns.values is S.data
    twice = sp.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))
    assert la.Matrix.from_scipy(twice).to_dense().tolist() == [[3.0]] and twice.nnz == 2


@pytest.mark.parametrize("directed", [False, True])
def test_nothing_is_copied_from_a_graph(directed: bool) -> None:
    G = hw.generate.kronecker(6, directed=directed)
    A = la.Matrix.from_graph(G)
    assert A.rows.indices is G.indices and A.rows.indptr is G.indptr and not A.has_values
    assert la.Matrix.from_graph(G) is A
    assert np.array_equal(A.columns.indices, G.in_indices)
    assert (A.columns.indices is G.indices) == (not directed)
    weighted = la.Matrix.from_graph(G, np.arange(G.m))
    assert weighted.T.T.rows.values is weighted.rows.values
    assert np.array_equal(la.Matrix.from_graph(G.arranged()).rows.indices, G.indices)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16"])
def test_repeats_of_small_integers_are_added_up(kind: str) -> None:
    value = np.iinfo(kind).max
    A = sp.csr_array((np.full(2, value, kind), [1, 1], [0, 2, 2]), shape=(2, 2))
    edges = la.Matrix.from_edges([0, 0], [1, 1], np.full(2, value, kind), 2)
    for found in (edges, la.Matrix.from_scipy(A), la.Matrix.from_scipy(A.tocoo())):
        assert found.to_dense().max() == 2 * value


def test_types_of_results() -> None:
    A, x = la.Matrix.from_dense([[1, 2], [0, 3]]).astype("int32"), la.Vector.from_dense(np.array([1, 1], np.float32))
    names = {"plus_times": "float64", "plus_first": "int32", "any_pair": "bool", "plus_pair": "int64"}
    names |= {"min_secondi": "int32", "plus_second": "float32", "or_and": "bool"}
    for name, kind in names.items():
        assert la.mxv(A, x, la.semiring[name], device="reference").dtype == kind, name
    assert la.mxv(A, x, la.semiring.plus_pair, dtype="float32", device="reference").dtype == "float32"


@machines
def test_a_count_that_was_not_known_is_right_after_accumulating(device: str) -> None:
    bits = np.array([True, False, False, True])
    w = la.Vector.from_dense(np.arange(4.0), bits).to(device)
    la.assign(w, la.Vector.from_entries([0, 1, 2], [5.0, 6.0, 7.0], 4), accum=la.binary.plus, device=device)
    assert w.nnz == 4 and w.to("cpu").to_dense().tolist() == [5.0, 6.0, 7.0, 3.0]


def test_an_explanation_counts_what_was_touched() -> None:
    """Table 1: a row product touches everything, a masked one the mask's rows, a column one the vector's columns."""
    G = hw.generate.kronecker(10)
    A, n = la.Matrix.from_graph(G), G.n
    f, m = entries(n, 30).astype("float64"), la.Vector.from_entries(np.arange(n - 40, n), True, n)
    touched = {}
    for direction, mask in product(("pull", "push"), (None, m)):
        _, why = la.mxv(A, f, la.semiring.plus_second, mask=mask, direction=direction, explain=True)
        touched[why.product] = why.touched
        assert (why.direction, why.nnz_x, why.structure_only) == (direction, 30, True) and "plus_second" in str(why)
    rows, columns = G.degrees[n - 40 :].sum(), G.degrees[:30].sum()
    assert touched == {"by rows": G.m, "by rows, masked": rows, "by columns": columns, "by columns, masked": columns}
    v = la.bfs(A, 0)
    early, f = la.select(v, la.binary.le, 1), la.select(v, la.binary.eq, 1)
    keywords: Any = {"mask": early, "complement": True, "structural": True, "direction": "pull", "explain": True}
    (y, quick), (z, slow), (w, reuse), (_, plain) = (
        la.vxm(f, A, la.semiring.any_pair, **keywords, **switch)
        for switch in ({}, {"early_exit": False}, {"operand_reuse": True}, {"structure_only": False})
    )
    assert y.indices.tolist() == np.flatnonzero(v.to_dense(-1) == 2).tolist()
    assert y.to_dict() == z.to_dict() == w.to_dict()
    assert quick.early_exit and not slow.early_exit and reuse.operand_reuse
    assert quick.touched < slow.touched == G.degrees[early.to_dense(-1) == -1].sum()
    assert not plain.structure_only and quick.structure_only


def test_threads_change_no_bit_of_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if sums are rounded, and if the pushed list is in another order."""
    monkeypatch.setattr(policy, "ENTRIES_PER_THREAD", 64)
    A = la.Matrix.from_graph(hw.generate.kronecker(10))
    n, rng = A.shape[0], np.random.default_rng(2)
    x = la.Vector.from_dense(rng.random(n), rng.random(n) < 0.3)
    places, values = x.entries()
    mixed = rng.permutation(len(places))
    y = la.Vector.sparse(n, places[mixed], values[mixed], ascending=False)
    for direction in ("push", "pull"):
        sums = [
            la.mxv(A, one.copy(), la.semiring.plus_second, direction=direction, threads=threads).to_dict()
            for one in (x, y)
            for threads in (1, 2, 3)
        ]
        assert all(one == sums[0] for one in sums), direction


@pytest.mark.parametrize("threads", [1, 3])
def test_helpers_change_no_sum(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With enough work for helpers, and with columns so much longer than rows that entries are sought."""
    monkeypatch.setattr(policy, "ENTRIES_PER_THREAD", 64)
    G = hw.generate.kronecker(10)
    A = la.Matrix.from_graph(G)
    x, half = entries(G.n, G.n // 2), la.Vector.from_entries(np.arange(0, G.n, 2), True, G.n)
    for name in ("any_pair", "plus_second"):
        for mask in (None, half):
            z = la.mxv(A, x, la.semiring[name], mask=mask, device="reference")
            for direction in ("push", "pull"):
                y = la.mxv(A, x, la.semiring[name], mask=mask, direction=direction, threads=threads)
                assert y.to_dict() == z.to_dict(), name
    parents = la.mxv(A, x, la.semiring.any_secondi, direction="pull", threads=threads)
    assert all(x[p] and p in G.indices[G.indptr[v] : G.indptr[v + 1]] for v, p in parents.to_dict().items())
    star = la.Matrix.from_graph(hw.generate.star(400))
    for B in (A, star):
        for name in ("plus_pair", "any_secondi"):
            for direction in ("push", "pull"):
                C = la.mxm(B, B, la.semiring[name], mask=B, direction=direction, threads=threads)
                D = la.mxm(B, B, la.semiring[name], mask=B, device="reference")
                assert np.array_equal(C.rows.indices, D.rows.indices)
                assert name == "any_secondi" or np.array_equal(C.stored_values(), D.stored_values())
