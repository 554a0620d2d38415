"""Every operation under every mask × complement × accum × replace, products in both directions: as plain Python."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dense
from hopwave import linalg as la
from operands import MATRICES, TRIED, WORDS, fixed, machines, matrix, vector, with_semirings

ACCUM = [None, la.binary.plus, la.binary.min]
MASKS = [
    {"mask": False, "complement": False, "structural": False},
    *dense.every(mask=[True], complement=[False, True], structural=[False, True]),
]


def check(
    name: str, A: la.Matrix, x: la.Vector, ring: la.Semiring, out: Any, mask: Any, where: Any, **how: Any
) -> None:
    """One product, mxv or vxm by name, of a matrix and a vector, written into out if it is given."""
    left, target = name == "mxv", None if out is None else out.copy()
    before = dense.table(x), None if mask is None else dense.table(mask)
    operands = (A, x) if left else (x, A)
    y = getattr(la, name)(*operands, ring, out=target, mask=mask, **where, **how)
    assert (dense.table(x), None if mask is None else dense.table(mask)) == before  # operands keep their entries
    free = getattr(la, name)(*operands, ring, **where)  # its type is the type of sums
    if left:
        found = dense.multiplied(dense.table(A), dense.table(x), ring, free.dtype, columns=1)
    else:
        row = dense.turned(dense.table(x), 1)
        [one] = dense.multiplied(row, dense.table(A), ring, free.dtype, columns=A.shape[1])
        found = [[entry] for entry in one]
    dense.agree(free, found)
    dense.agree(y, dense.written(None if out is None else dense.table(out), found, before[1], y.dtype, **how))
    assert (y is target) == (out is not None)


@with_semirings(TRIED)
@pytest.mark.parametrize("name", ["mxv", "vxm"])
def test_every_way_to_write(device: str, name: str, ring: str, a: str | None, x: str) -> None:
    draw = fixed(len(ring))
    A = matrix(6, 5, a, draw)
    rows, inner = A.shape if name == "mxv" else A.shape[::-1]
    u, out, mask = vector(inner, x, draw), vector(rows, "float64", draw), vector(rows, "int32", draw)
    for how in MASKS:
        m = mask if how["mask"] else None
        for more in dense.every(accum=ACCUM, replace=[False, True], direction=["push", "pull"], out=[out, None]):
            into, way = more.pop("out"), {"device": device, "direction": more.pop("direction")}
            if into is not None or not (more["accum"] or more["replace"]):
                given = {key: how[key] for key in ("complement", "structural")} | more
                check(name, A, u, la.semiring[ring], into, m, way, **given)


@pytest.mark.parametrize("ring", list(la.semiring))
def test_every_semiring_and_type_on_the_reference(ring: str) -> None:
    draw = fixed(3)
    for a in (None, *WORDS):
        for x in WORDS:
            A, u, mask = matrix(4, 4, a, draw), vector(4, x, draw), vector(4, "bool", draw)
            for name in ("mxv", "vxm"):
                how = {"complement": True, "structural": True}
                check(name, A, u, la.semiring[ring], None, mask, {"device": "reference"}, **how)


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
        y = la.mxv(A, x, far, direction=direction, device=device) if name == "mxv" else la.vxm(x, A, far, device=device)
        table = dense.table(A) if name == "mxv" else dense.turned(dense.table(A), 8)
        dense.agree(y, dense.multiplied(table, dense.table(x), far, y.dtype, 1))


@with_semirings(MATRICES)
def test_matrix_times_matrix(device: str, ring: str, a: str | None, x: str) -> None:
    draw = fixed(len(ring) + 1)
    A, B = matrix(6, 5, a, draw), matrix(5, 7, None if x == "bool" else x, draw)
    mask, out = matrix(6, 7, "int32", draw), matrix(6, 7, "float64", draw)
    free = la.mxm(A, B, la.semiring[ring], device=device)
    found = dense.multiplied(dense.table(A), dense.table(B), la.semiring[ring], free.dtype, 7)
    dense.agree(free, found)
    for how in MASKS:
        m = mask if how["mask"] else None
        ways = ["auto", "push", "pull"] if how["mask"] else ["auto", "push"]
        for more in dense.every(accum=[None, la.binary.plus], replace=[False, True], direction=ways):
            direction = more.pop("direction")
            given = {key: how[key] for key in ("complement", "structural")} | more
            C = la.mxm(A, B, la.semiring[ring], out=out, mask=m, device=device, direction=direction, **given)
            masked = None if m is None else dense.table(m)
            dense.agree(C, dense.written(dense.table(out), found, masked, C.dtype, **given))
            indptr, indices, _ = C.rows
            assert all((np.diff(indices[indptr[i] : indptr[i + 1]]) > 0).all() for i in range(6))


# ------------------------------------------------------------------ element by element, by place and by value

PLUS = la.binary.plus
OPERATORS = [la.binary[name] for name in ("plus", "minus", "times", "min", "max", "first", "second", "pair")]
OPERATORS += [la.binary[name] for name in ("lor", "land", "lxor", "eq", "lt", "ge")]
HOWS = [
    how
    for how in dense.every(
        mask=[0, 1], complement=[False, True], structural=[False, True], replace=[False, True], accum=[None, PLUS]
    )
    if how["mask"] or not (how["complement"] or how["structural"])
]


def check_writing(function: Any, right: Any, out: Any, mask: Any, how: dict[str, Any], device: str) -> None:
    """Compare function(**keywords), in one way of writing, with the entries that are right before writing."""
    keywords, m = {key: value for key, value in how.items() if key != "mask"}, mask if how["mask"] else None
    found = function(out=out.copy() if isinstance(out, la.Vector) else out, mask=m, device=device, **keywords)
    masked = None if m is None else dense.table(m)
    dense.agree(found, dense.written(dense.table(out), right, masked, found.dtype, **keywords))


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
            check_writing(
                lambda u=u, v=v, op=op, f=function, **more: f(u, v, op, **more), right, out, mask, how, device
            )


@machines
@pytest.mark.parametrize("kind", ["vector", "matrix"])
def test_apply_and_select(device: str, kind: str) -> None:
    draw = fixed(13)
    u, out, mask = (some(kind, dtype, draw) for dtype in ("int64", "float64", "bool"))
    negated = dense.mapped(dense.table(u), lambda x: -x)
    more_two = dense.mapped(dense.table(u), lambda x: x - 2)
    from_two = dense.mapped(dense.table(u), lambda x: 2 - x)
    above = dense.mapped(dense.table(u), lambda x: x if x > 1 else None)
    even = dense.mapped(dense.table(u), lambda x: x if x % 2 == 0 else None)
    for how in HOWS:
        check_writing(lambda **more: la.apply(u, la.unary.negate, **more), negated, out, mask, how, device)
        check_writing(lambda **more: la.apply(u, la.binary.minus, right=2, **more), more_two, out, mask, how, device)
        check_writing(lambda **more: la.apply(u, la.binary.minus, left=2, **more), from_two, out, mask, how, device)
        check_writing(lambda **more: la.apply(u, lambda x: x - 2, **more), more_two, out, mask, how, device)
        check_writing(lambda **more: la.select(u, la.binary.gt, 1, **more), above, out, mask, how, device)
        check_writing(lambda **more: la.select(u, lambda x: x % 2 == 0, **more), even, out, mask, how, device)


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
        check_writing(lambda **more: la.extract(u, [5, 0, 0, 2], **more), right, out, mask, how, device)
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
