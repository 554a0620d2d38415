"""Products: every mask × complement × accum × replace × direction × semiring, against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dense
from hopwave import linalg as la
from operands import MATRICES, TRIED, WORDS, drawn, fixed, machines, matrix, vector, with_semirings

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


@pytest.mark.slow
@machines
@given(data=st.data())
def test_random_products(device: str, data: st.DataObject) -> None:
    draw = drawn(data)
    ring, a, x = data.draw(st.sampled_from(TRIED))
    name = data.draw(st.sampled_from(["mxv", "vxm"]))
    A = matrix(draw(0, 7), draw(0, 7), a, draw)
    rows, inner = A.shape if name == "mxv" else A.shape[::-1]
    out = vector(rows, data.draw(st.sampled_from(WORDS)), draw) if draw(0, 1) else None
    mask = vector(rows, data.draw(st.sampled_from(["bool", "float64"])), draw) if draw(0, 1) else None
    way = {"direction": data.draw(st.sampled_from(["auto", "push", "pull"])), "device": device}
    masked = {key: mask is not None and bool(draw(0, 1)) for key in ("complement", "structural")}
    how = {"accum": data.draw(st.sampled_from(ACCUM)), "replace": bool(draw(0, 1))} if out is not None else {}
    check(name, A, vector(inner, x, draw), la.semiring[ring], out, mask, way, **masked, **how)


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
    A, x = matrix(9, 9, None, draw), la.Vector.from_dense(np.ones(9, bool), np.array([draw(0, 1) for _ in range(9)]))
    for direction in ("push", "pull"):
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
