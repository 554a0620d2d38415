"""Every operation under every mask × complement × accum × replace, products in both directions: as plain Python."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dense
from hopwave import linalg as la
from operands import MATRICES, TRIED, WORDS, fixed, machines, matrix, vector, with_semirings

BOTH = [False, True]


def ways(*accum: Any) -> list[dict[str, Any]]:
    """Every way to write with one of these accumulators."""
    every = dense.every(mask=BOTH, complement=BOTH, structural=BOTH, replace=BOTH, accum=accum)
    return [how for how in every if how["mask"] or not (how["complement"] or how["structural"])]


HOWS = ways(None, la.binary.plus)


def check_writing(function: Any, right: Any, out: Any, mask: Any, how: dict[str, Any], device: str) -> Any:
    """Compare function(**keywords), in one way of writing, with the entries that are right before writing."""
    keywords, m = {key: value for key, value in how.items() if key != "mask"}, mask if how["mask"] else None
    into, masked = out.copy() if isinstance(out, la.Vector) else out, None if m is None else dense.table(m)
    found = function(out=into, mask=m, device=device, **keywords)
    assert m is None or dense.table(m) == masked
    assert (found is into) == isinstance(out, la.Vector)
    dense.agree(found, dense.written(None if out is None else dense.table(out), right, masked, found.dtype, **keywords))
    return found


def product_of(name: str, A: la.Matrix, x: la.Vector, ring: la.Semiring, device: str) -> tuple[Any, Any]:
    """mxv or vxm by name, and what it must find."""
    left, tables = name == "mxv", (dense.table(A), dense.table(x))
    multiply = partial(getattr(la, name), *((A, x) if left else (x, A)), ring)
    free = multiply(device=device)  # its type is the type of sums
    if left:
        found = dense.multiplied(*tables, ring, free.dtype, columns=1)
    else:
        row = dense.multiplied(dense.turned(tables[1], 1), tables[0], ring, free.dtype, columns=free.n)
        found = dense.turned(row, free.n)
    dense.agree(free, found)
    return multiply, found


@pytest.mark.sampled
@with_semirings(TRIED)
@pytest.mark.parametrize("name", ["mxv", "vxm"])
def test_every_way_to_write(device: str, name: str, ring: str, a: str | None, x: str) -> None:
    draw = fixed(len(ring))
    A = matrix(6, 5, a, draw)
    rows, inner = A.shape if name == "mxv" else A.shape[::-1]
    u, out, mask = vector(inner, x, draw), vector(rows, "float64", draw), vector(rows, "int32", draw)
    before, (multiply, right) = dense.table(u), product_of(name, A, u, la.semiring[ring], device)
    for how, direction in product(ways(None, la.binary.plus, la.binary.min), ("push", "pull")):
        for into in (out,) if how["accum"] or how["replace"] else (out, None):
            check_writing(partial(multiply, direction=direction), right, into, mask, how, device)
    assert dense.table(u) == before


@pytest.mark.parametrize("ring", list(la.semiring))
def test_every_semiring_and_type_on_the_reference(ring: str) -> None:
    draw = fixed(3)
    for a in (None, *WORDS):
        for x in WORDS:
            A, u, mask = matrix(4, 4, a, draw), vector(4, x, draw), vector(4, "bool", draw)
            for name in ("mxv", "vxm"):
                how = {"mask": True, "complement": True, "structural": True}
                check_writing(*product_of(name, A, u, la.semiring[ring], "reference"), None, mask, how, "reference")


@pytest.mark.sampled
@machines
@pytest.mark.parametrize("switches", dense.every(early_exit=[True, False], structure_only=[True, False]), ids=str)
@pytest.mark.parametrize("ring", ["any_pair", "plus_second"])
def test_switches_change_no_sum(device: str, switches: dict[str, bool], ring: str) -> None:
    draw = fixed(5)
    for (rows, n), direction in product(((9, 9), (0, 4), (4, 0)), ("push", "pull")):
        A, bits = matrix(rows, n, None, draw), np.array([draw(0, 1) for _ in range(n)], bool)
        x = la.Vector.from_dense(np.ones(n, bool), bits)
        y = la.mxv(A, x, la.semiring[ring], direction=direction, device=device, **switches)
        dense.agree(y, dense.multiplied(dense.table(A), dense.table(x), la.semiring[ring], y.dtype, 1))


@pytest.mark.slow
@machines
def test_a_users_own_semiring(device: str) -> None:
    draw = fixed(7)
    far = la.Semiring.define("far", lambda x, y: max(x, y), lambda x, y: abs(x - y), identity=0)
    A, x = matrix(8, 8, "int64", draw), vector(8, "int64", draw)
    for name, direction in (("mxv", "push"), ("mxv", "pull"), ("vxm", "pull")):
        multiply, right = product_of(name, A, x, far, device)
        dense.agree(multiply(direction=direction, device=device), right)


@with_semirings(MATRICES)
def test_matrix_times_matrix(device: str, ring: str, a: str | None, x: str) -> None:
    draw = fixed(len(ring) + 1)
    A, B = matrix(6, 5, a, draw), matrix(5, 7, None if x == "bool" else x, draw)
    mask, out = matrix(6, 7, "int32", draw), matrix(6, 7, "float64", draw)
    free = la.mxm(A, B, la.semiring[ring], device=device)
    found = dense.multiplied(dense.table(A), dense.table(B), la.semiring[ring], free.dtype, 7)
    dense.agree(free, found)
    for how in HOWS:
        for direction in ("auto", "push", "pull") if how["mask"] else ("auto", "push"):
            multiply = partial(la.mxm, A, B, la.semiring[ring], direction=direction)
            indptr, indices, _ = check_writing(multiply, found, out, mask, how, device).rows
            assert all((np.diff(indices[indptr[i] : indptr[i + 1]]) > 0).all() for i in range(6))


# ------------------------------------------------------------------ element by element, by place and by value

OPERATORS = [la.binary[name] for name in ("plus", "minus", "times", "min", "max", "first", "second", "pair")]
OPERATORS += [la.binary[name] for name in ("lor", "land", "lxor", "eq", "lt", "ge")]


def typed(right: Any, dtype: np.dtype[Any]) -> Any:
    """Values present in only one operand get the type of combined values."""
    return [[frozenset(None if x is None else dense.cast(x, dtype) for x in one) for one in row] for row in right]


def some(kind: str, dtype: str, draw: Any) -> Any:
    return vector(7, dtype, draw) if kind == "vector" else matrix(4, 5, dtype, draw)


@machines
@pytest.mark.parametrize("kind", ["vector", "matrix"])
@pytest.mark.parametrize("either", [True, False], ids=["add", "mult"])
def test_union_and_intersection(device: str, kind: str, either: bool) -> None:
    draw = fixed(11)
    for op in OPERATORS:
        u, v, out, mask = (some(kind, dtype, draw) for dtype in ("int32", "float64", "float64", "int32"))
        function = la.ewise_add if either else la.ewise_mult
        right = dense.elementwise(dense.table(u), dense.table(v), op, either)
        free = function(u, v, op, device=device)
        right = typed(right, free.dtype)
        dense.agree(free, right)
        for how in HOWS:
            check_writing(partial(function, u, v, op), right, out, mask, how, device)


@machines
@pytest.mark.parametrize("kind", ["vector", "matrix"])
def test_apply_and_select(device: str, kind: str) -> None:
    draw = fixed(13)
    u, out, mask = (some(kind, dtype, draw) for dtype in ("int64", "float64", "bool"))
    cases: list[tuple[Any, Any]] = [
        (partial(la.apply, u, la.unary.negate), lambda x: -x),
        (partial(la.apply, u, la.binary.minus, right=2), lambda x: x - 2),
        (partial(la.apply, u, la.binary.minus, left=2), lambda x: 2 - x),
        (partial(la.apply, u, lambda x: x - 2), lambda x: x - 2),
        (partial(la.select, u, la.binary.gt, 1), lambda x: x if x > 1 else None),
        (partial(la.select, u, lambda x: x % 2 == 0), lambda x: x if x % 2 == 0 else None),
    ]
    for (function, right), how in product(cases, HOWS):
        check_writing(function, dense.mapped(dense.table(u), right), out, mask, how, device)


@machines
@pytest.mark.parametrize("values", [True, False])
@given(st.data())
def test_triangles_and_diagonals_are_those_of_numpy(device: str, values: bool, data: Any) -> None:
    rows, columns = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    table = rng.integers(1, 9, (rows, columns)) * (rng.random((rows, columns)) < 0.6)
    A = la.Matrix.from_dense(table)
    A = A if values else A.pattern()
    diagonal = data.draw(st.integers(-45, 45))
    i, j = np.indices(table.shape)
    for where, keep in {
        "tril": j - i <= diagonal,
        "triu": j - i >= diagonal,
        "diag": j - i == diagonal,
        "offdiag": j - i != diagonal,
    }.items():
        found = la.select(A, where, diagonal, device=device)
        expected = table * keep
        assert np.array_equal(found.to_dense(), expected if values else expected != 0)
        assert found.has_values == values
        masked = la.select(A, where, diagonal, mask=la.Matrix.from_dense(i == 0), device=device)
        assert np.array_equal(masked.to_dense() != 0, expected * (i == 0) != 0)


@machines
@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_a_vector_is_compared_place_by_place(device: str, kind: Any) -> None:
    u = la.Vector.from_entries([5, 1, 3, 0], [5.0, 1.0, 3.0, 9.0], n=6)
    v = la.Vector.from_entries([1, 3, 5], [2.0, 3.0, 4.0], n=6)
    u.convert(kind)
    assert la.select(u, la.binary.lt, v, device=device).to_dict() == {1: 1.0}
    assert la.select(u, la.binary.ge, v, device=device).to_dict() == {3: 3.0, 5: 5.0}  # no entry if v has none


@machines
@pytest.mark.parametrize("format", ["sparse", "dense"])
def test_assign(device: str, format: str) -> None:
    draw = fixed(19)
    w, mask, u = vector(8, "float64", draw), vector(8, "int32", draw), vector(3, "int64", draw)
    w.convert(format)  # type: ignore[arg-type]
    places = [6, 1, 3]
    for value, indices in ((5, None), (5, places), (u, places), (vector(8, "bool", draw), None)):
        to = list(range(8)) if indices is None else indices
        new = dense.table(value) if isinstance(value, la.Vector) else [[value]] * len(to)
        for how in HOWS:
            m, keywords = mask if how["mask"] else None, {key: one for key, one in how.items() if key != "mask"}
            found = la.assign(w.copy(), value, indices, mask=m, device=device, **keywords)
            t: list[list[frozenset[Any]]] = [[frozenset([None])] for _ in range(8)]
            for place, [one] in zip(to, new, strict=True):
                t[place] = [frozenset([one])]
            table = None if m is None else dense.table(m)
            right = dense.written(dense.table(w), t, table, w.dtype, **keywords)
            for i in set(range(8)) - set(to):  # not named: unchanged, but entries outside the mask may be deleted
                shut = table is not None and not dense.lets(table, i, 0, how["complement"], how["structural"])
                right[i] = [frozenset([None if how["replace"] and shut else w[i]])]
            dense.agree(found, right)


@machines
def test_assign_to_a_place_named_twice_combines(device: str) -> None:
    f = la.Vector.from_dense(np.arange(6), present=[True] * 5 + [False])
    la.assign(f, la.Vector.from_dense([3, 1, 7, 4, 2]), [4, 4, 0, 5, 5], accum=la.binary.min, device=device)
    assert f.to_dict() == {0: 0, 1: 1, 2: 2, 3: 3, 4: 1, 5: 2}
    near = la.BinaryOp.define("near", lambda x, y: x if abs(x) < abs(y) else y)
    la.assign(f, la.Vector.from_dense([-1, 9]), [3, 3], accum=near, device=device)
    assert f[3] == -1


@machines
def test_extract(device: str) -> None:
    draw = fixed(23)
    u, out, mask = vector(6, "int32", draw), vector(4, "float64", draw), vector(4, "bool", draw)
    right = [[frozenset([u[i]])] for i in (5, 0, 0, 2)]
    for how in HOWS:
        check_writing(partial(la.extract, u, [5, 0, 0, 2]), right, out, mask, how, device)
    A = matrix(5, 6, "int64", draw)
    rows, columns = [4, 0, 2], [1, 5]
    found = la.extract(A, rows, columns, device=device)
    assert (found.to_dense() == A.to_dense()[np.ix_(rows, columns)]).all()
    assert (la.extract(A, rows, device=device).to_dense() == A.to_dense()[rows]).all()


@machines
def test_reduce(device: str) -> None:
    draw = fixed(29)
    u, A = vector(9, "int32", draw), matrix(5, 6, "float64", draw)
    assert la.reduce(u, device=device) == sum(u.values.tolist())
    assert la.reduce(u, la.monoid.min, device=device) == min(u.values.tolist())
    assert la.reduce(la.Vector(3, "float32"), la.monoid.min, device=device) == float("inf")
    assert la.reduce(A.pattern(), device=device) == A.nnz
    assert la.reduce(A, la.monoid.any, device=device) in A.rows.values
    for axis in (0, 1):
        sums = la.reduce(A, axis=axis, device=device)
        assert sums.to_dense().tolist() == A.to_dense().sum(axis=axis).tolist()
    counts = la.reduce(A.pattern(), axis=1, device=device)
    assert counts.to_dict() == {i: c for i, c in enumerate(np.diff(A.rows.indptr).tolist()) if c}


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_a_bound_value_that_does_not_fit_widens_the_result(device: str) -> None:
    whole, single = (la.Vector.from_dense(np.array([1, 2], kind)) for kind in (np.int32, np.float32))
    wide = la.apply(whole, la.binary.plus, right=2**40, device=device)
    assert wide.values.tolist() == [2**40 + 1, 2**40 + 2] and wide.dtype == "int64"
    assert la.apply(whole, la.binary.plus, right=2**30, device=device).dtype == "int32"
    large = la.apply(single, la.binary.times, left=1e300, device=device)
    assert large.values.tolist() == [1e300, 2e300] and large.dtype == "float64"
    assert la.apply(single, la.binary.times, left=np.inf, device=device).dtype == "float32"
