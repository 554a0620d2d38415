"""Wrong results and crashes that once occurred in linalg, each with the call that showed it."""

import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import hopwave as hw
from hopwave import linalg as la
from hopwave.engines.cpu.linalg.specialise import Ring
from operands import machines
from together import started

A = la.Matrix.from_dense([[1.0, 3.0], [0.5, 100.0]])


# ---------------------------------------------------------------- what a kernel was compiled for


def test_semirings_that_differ_in_their_terminal_do_not_share_machine_code() -> None:
    """Numba's cache on disk is keyed by a kernel's bytecode, not by the constants in it."""
    ones = la.Vector.full(2, 1.0)
    for terminal, right in ((1.0, [1.0, 100.0]), (100.0, [3.0, 100.0])):
        until = la.Semiring.define("until", la.binary.max, la.binary.times, identity=0.0, terminal=terminal)
        # terminal=1.0 asks to stop at the first 1.0: greater values break the promise.
        assert la.mxv(A, ones, until, direction="push").to_dense().tolist() == right, terminal
    most = la.binary.max
    kinds = [la.monoid.max, la.Monoid(most, 0), la.Monoid(most, "bottom", any_term=True), la.monoid.any]
    kinds += [la.Monoid(most, "bottom", terminal=1.0), la.Monoid(most, "bottom", 100.0), la.Monoid(la.binary.any, 0)]
    rings = [Ring(add, la.binary.times, "both", *switches).name for add in kinds for switches in np.ndindex(2, 2, 2)]
    assert len(set(rings)) == len(rings)


FACTOR = 1.0


def times_factor(x: float, y: float = 1.0) -> float:
    return x * y * FACTOR


@pytest.mark.slow
def test_functions_that_read_other_constants_are_other_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number outside a function is a constant in compiled code: code with another number must not be used."""
    x = la.Vector.from_dense(np.array([1, 2]))

    def scaled(factor: Any) -> Any:
        return la.apply(x, lambda value: value * factor)

    assert scaled(1).dtype == "int64" and scaled(1.0).dtype == "float64" and scaled(2).to_dense().tolist() == [2, 4]
    for factor in (3, 5):
        function = eval("lambda value: value * factor", {"factor": factor})
        assert la.apply(x, function).to_dense().tolist() == [factor, 2 * factor]
    for factor in (1.0, 3.0):
        monkeypatch.setattr(sys.modules[__name__], "FACTOR", factor)
        ring = la.Semiring.define("scaled", la.binary.plus, times_factor)
        assert la.mxv(la.Matrix.from_dense([[0, 5.0]]), x, ring).to_dict() == {0: 10 * factor}
        assert la.apply(x, times_factor).to_dict() == {0: factor, 1: 2 * factor}


@pytest.mark.slow
@machines
def test_an_operator_of_a_users_own_may_have_a_built_in_name(device: str) -> None:
    """Engines know built-in operators by name; a user's function with that name is another function."""
    u, v = la.Vector.from_dense([5, 7]), la.Vector.from_dense([2, 3])
    for name in ("first", "second"):
        own = la.BinaryOp.define(name, lambda x, y: x * 10 + y)
        assert la.ewise_mult(u, v, own, device=device).to("cpu").to_dense().tolist() == [52, 73], name
        w = la.Vector.from_dense([1, 1]).to(device)
        la.assign(w, la.Vector.from_dense([4, 5]), [0, 1], accum=own, device=device)
        assert w.to("cpu").to_dense().tolist() == [14, 15], name
    own = la.Semiring("own", la.Monoid(la.BinaryOp.define("plus", lambda x, y: max(x, y)), 0), la.binary.pair)
    B = la.Matrix.from_dense([[1, 1], [1, 0]])
    C = la.mxm(B, B, own, mask=B, direction="pull", device=device)
    assert C.to("cpu").to_dense().astype(int).tolist() == [[1, 1], [1, 0]]


# ---------------------------------------------------------------- who owns an array


def changed(u: la.Vector, w: la.Vector) -> bool:
    """Whether any way of changing w changes u."""
    before = u.to_dict()
    la.assign(w, 9, [1])
    la.assign(w, 8, mask=la.Vector.from_entries([2], True, n=4))
    la.assign(w, la.Vector.from_entries([0], [7], n=4), accum=la.binary.plus)
    la.apply(w, la.unary.negate, out=w, mask=[True, True, False, False], accum=la.binary.plus)
    return u.to_dict() != before


def test_the_callers_arrays_are_not_written_to() -> None:
    values, present = np.arange(4.0), np.array([True, True, True, True])
    for w in (la.Vector.from_dense(values), la.Vector.from_dense(values, present)):
        assert w.values.tolist() == values.tolist()
        changed(w.copy(), w)
        assert values.tolist() == [0, 1, 2, 3] and present.all()
    w = la.Vector.from_dense(values, present)
    la.apply(w, la.unary.one, out=w, accum=la.binary.plus)  # keeps the bits, replaces the values
    la.assign(w, la.Vector(4), [0, 1, 2, 3])
    assert w.nnz == 0 and values.tolist() == [0, 1, 2, 3] and present.all()
    x = la.Vector.from_entries([0], True, n=3)
    la.waves(x, hw.generate.path(3))
    assert x.to_dict() == {0: True} and x.format == "sparse"


# ---------------------------------------------------------------- identities, sizes, axes


@machines
@pytest.mark.parametrize("direction", ["push", "pull"])
def test_an_identity_is_found_and_never_added(direction: Any, device: str) -> None:
    x = la.Vector.from_entries([0, 1], [10, 20], n=3)
    B = la.Matrix.from_edges([0, 0, 1], [0, 1, 2], [1, 2, 5], shape=3)
    nearest = la.Semiring.define("nearest", la.binary.min, la.binary.plus)
    assert la.mxv(B, x, nearest, direction=direction, device=device).to("cpu").to_dict() == {0: 11}
    assert la.reduce(la.Vector(3, "int64"), nearest.add, device=device) == np.iinfo(np.int64).max
    if direction == "pull":  # a push never used the identity, and compiling takes seconds
        highest = la.Semiring.define("highest", la.binary.max, la.binary.plus, identity=0)  # right for positive values
        minus = la.Vector.from_entries([0, 1], [-10, -20], n=3)
        assert la.mxv(B, minus, highest, direction=direction, device=device).to("cpu").to_dict() == {0: -9}


def test_identities_that_are_right_are_taken_and_any_function_by_the_reference() -> None:
    x = la.Vector.full(2, 1.0)
    assert la.apply(x, lambda v: float(str(v)), device="reference").to_dense().tolist() == [1.0, 1.0]
    for add, identity in ((max, 0), (min, np.inf), (lambda x, y: (x + y) % 2, 0), (la.binary.eq, True), (max, None)):
        assert la.Semiring.define("right", add, la.binary.plus, identity=identity).add.neutral in (identity, 0)
    assert la.Semiring.define("either", la.binary.lor, la.binary.land) == la.Semiring(
        "either", la.monoid.lor, la.binary.land
    )


def test_numbers_beyond_64_bits() -> None:
    assert la.select(A, "tril", 10**30).nnz == 4 and la.select(A, "triu", 10**30).nnz == 0
    assert la.select(A, "tril", -(10**30)).nnz == 0 and la.select(A, "triu", -(10**30)).nnz == 4
    G = hw.generate.grid(2, 2)
    assert hw.pagerank(G, max_iter=10**30).scores.tolist() == hw.pagerank(G).scores.tolist()
    assert hw.betweenness_centrality(G, epsilon=5e-324).scores.tolist() == pytest.approx([1 / 6] * 4)


@machines
def test_accum_is_computed_only_where_both_have_a_value(device: str) -> None:
    """A place without a value may hold anything, and inf · 0 warns."""
    out = la.Vector.from_dense([np.inf, 2.0, 3.0], [True, True, False]).to(device)
    t = la.Vector.from_dense([0.0, 5.0, 7.0], [False, True, True]).to(device)
    la.apply(t, la.unary.identity, out=out, accum=la.binary.times, device=device)
    assert out.to("cpu").to_dict() == {0: np.inf, 1: 10.0, 2: 7.0}
    u = la.Vector.from_dense([np.inf, 1.0], [True, False]).to(device)
    v = la.Vector.from_dense([0.0, 2.0], [False, True]).to(device)
    assert la.ewise_add(u, v, la.binary.times, device=device).to("cpu").to_dict() == {0: np.inf, 1: 2.0}
    assert la.ewise_mult(u, v, la.binary.times, device=device).nnz == 0
    some = la.Vector.from_dense([np.inf, 1.0], [True, False]).to(device)
    assert la.select(some, la.binary.gt, v, device=device).nnz == 0


# ---------------------------------------------------------------- matrices from other libraries

DAMAGED = """
import numpy as np, scipy.sparse as sp
from hopwave import linalg as la
import hopwave as hw

places = [("indices", 400_000_000), ("indices", -7), ("indptr", 9), ("indptr", -1)]
cases = [(kind, *place) for kind in (sp.csr_array, sp.csc_array) for place in places]
cases += [(sp.coo_array, "row", 10**9), (sp.coo_array, "col", -3), (sp.bsr_array, "indices", 10**8)]
x = np.ones(4)
for kind, where, value in cases:
    for call in (lambda S: la.mxv(S, x), lambda S: la.vxm(x, S), lambda S: la.mxm(S, S), hw.Graph.from_scipy,
                 la.reduce, lambda S: hw.sssp(S, 0), lambda S: hw.bfs(S, 0)):
        S = kind(np.eye(4))
        getattr(S, where)[-1] = value
        try:
            call(S)
        except (la.LinalgError, hw.GraphError):
            continue
        print("accepted", kind, where, value)
"""


def test_damaged_matrices_are_refused_and_not_read_outside_their_arrays() -> None:
    """In a new process: without the checks, it crashed."""
    assert started(sys.executable, "-c", DAMAGED) == (0, "", "")


def test_arrays_longer_than_the_entries_are_cut() -> None:
    S = sp.csr_array(np.array([[0, 1.0], [2.0, 0]]))
    S.indices, S.data = np.append(S.indices, [9]).astype(np.int32), np.append(S.data, [5.0])
    assert la.Matrix.from_scipy(S).nnz == 2
    assert la.mxv(S, [1.0, 10.0]).to_dense().tolist() == [10.0, 2.0]
    assert hw.Graph.from_scipy(S).m == 2
    trusted = la.Matrix.from_scipy(S, check=False)
    assert trusted.to_dense().tolist() == [[0, 1], [2, 0]]


# ---------------------------------------------------------------- writing


@machines
def test_a_vector_may_be_the_mask_of_its_own_assignment(device: str) -> None:
    w = la.Vector.from_dense([1, 2, 3, 4], [True, False, False, True]).copy().to(device)  # its own arrays
    given: Any = {"mask": w, "complement": True, "structural": True, "replace": True, "device": device}
    assert la.assign(w, la.Vector.from_dense([5, 6]), [1, 3], **given).to("cpu").to_dict() == {1: 5}


@machines
@pytest.mark.parametrize("indices", [None, [0, 1], [1, 0]])
def test_what_is_accumulated_is_converted_first(indices: Any, device: str) -> None:
    """Values are converted to the type of the output, as in python-graphblas: 2 · ⌊1.5⌋ and 3 · ⌊2.5⌋."""
    places = [0, 1] if indices is None else indices
    t = la.Vector.from_dense(np.array([1.5, 2.5])[places]).to(device)
    w = la.Vector.from_dense([2, 3]).to(device)
    la.assign(w, t, indices, accum=la.binary.times, device=device)
    assert w.to("cpu").to_dict() == {0: 2, 1: 6}
    out = la.Matrix.from_dense([[2, 3]])
    B = la.Matrix.from_dense([[1.5, 2.5]])
    assert la.apply(B, la.unary.identity, out=out, accum=la.binary.times).to_dense().tolist() == [[2, 6]]


@machines
def test_arithmetic_on_bools_counts(device: str) -> None:
    u, v = la.Vector.from_dense([True, False, True]).to(device), la.Vector.from_dense([True, True, False]).to(device)
    assert la.apply(u, la.unary.identity, device=device).to("cpu").to_dense().tolist() == [True, False, True]
    assert la.apply(u, la.unary.negate, device=device).to("cpu").to_dense().tolist() == [-1, 0, -1]
    with np.errstate(divide="ignore"):
        assert la.ewise_mult(u, v, la.binary.div, device=device).to("cpu").to_dense().tolist() == [1.0, 0.0, np.inf]
    la.assign(u, v, [0, 1, 2], accum=la.binary.minus, device=device)  # nonzero values are true
    assert u.to("cpu").to_dense().tolist() == [False, True, True]
