"""Fuzzing of linalg: every semiring over every pair of types, with masks, accumulators and replacement.

Results are compared with python-graphblas (SuiteSparse), those of a GPU with the reference engine. Values are small
multiples of a half, so that the order of additions does not matter but a conversion to whole numbers does. If ⊕ is
"any", all terms of a place are equal, or only the places are compared, since any term may be kept. Arithmetic on two
bools is left out: 1 + 1 is 2 in hopwave and 1 in SuiteSparse.
"""

import itertools
import os
import random
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hopwave import linalg as la
from questions import Difference

try:
    import graphblas as gb
except ImportError:  # on machines with a GPU
    gb = None
else:
    gb.ss.config["jit_c_control"] = "off"  # else SuiteSparse starts a C compiler for every new combination of types

# What the tests of linalg compile for the CPU engine anyway; the reference engine compiles nothing and gets all.
COMPILED = (("plus_times", "float64"), ("min_plus", "int64"), ("or_and", "bool"), ("any_pair", "bool"))
TYPES = ("int32", "int64", "float32", "float64")
ALL_TYPES = ("bool", *TYPES)
UNARY = {"identity": "identity", "negate": "ainv", "abs": "abs", "lnot": "lnot", "one": "one"}
ACCUMULATORS = ("plus", "minus", "times", "min", "max", "first", "second")
PLACES = ("firsti", "firstj", "secondi", "secondj")
OPERATORS = ("plus", "minus", "times", "min", "max", "first", "second", "eq", "ne", "lt", "le", "gt", "ge")
LOGICAL = ("or_and", "lxor_land")
DIRECTIONS = ("auto", "push", "pull")
KINDS = ("mxv", "vxm", "mxm")
FAST = ("-Ofc=max",)  # NVRTC's option for a fast compilation, without optimisation


# ---------------------------------------------------------------- operands


def their_semiring(name: str) -> Any:
    return getattr(gb.semiring.ss if name.endswith(PLACES) else gb.semiring, "lor_land" if name == "or_and" else name)


def values(draw: random.Random, count: int, dtype: str, equal: bool) -> Any:
    if equal:
        return np.full(count, 3 if dtype != "bool" else True, dtype)
    if dtype == "bool":
        return np.array([draw.random() < 0.7 for _ in range(count)], dtype)
    unit = 0.5 if dtype.startswith("float") else 1
    return np.array([unit * draw.randint(-3, 4) for _ in range(count)], dtype)


def vector(draw: random.Random, n: int, dtype: str, equal: bool = False) -> la.Vector:
    places = sorted(draw.sample(range(n), draw.randint(0, n)))
    return la.Vector.from_entries(np.array(places, np.int64), values(draw, len(places), dtype, equal), n)


def matrix(draw: random.Random, shape: tuple[int, int], dtype: str, equal: bool = False) -> la.Matrix:
    share = draw.choice((0.0, 0.2, 0.5, 0.9))
    cells = [(i, j) for i in range(shape[0]) for j in range(shape[1]) if draw.random() < share]
    indptr = np.cumsum([0, *np.bincount([i for i, _ in cells], minlength=shape[0])])
    columns = np.array([j for _, j in cells], np.int32)
    return la.Matrix.from_scipy(
        csr_array((values(draw, len(cells), dtype, equal), columns, indptr.astype(np.int32)), shape=shape)
    )


def theirs(own: la.Vector | la.Matrix) -> Any:
    if isinstance(own, la.Vector):
        return gb.Vector.from_coo(own.indices.astype(np.uint64), own.values, dtype=own.dtype, size=own.n)
    rows = np.repeat(np.arange(own.shape[0]), np.diff(own.rows.indptr))
    return gb.Matrix.from_coo(
        rows.astype(np.uint64), own.rows.indices.astype(np.uint64), own.stored_values(), nrows=own.shape[0],
        ncols=own.shape[1],
    )  # fmt: skip


def entries(own: Any) -> tuple[list[Any], list[Any]]:
    """Places and values of a vector or matrix of either library."""
    if isinstance(own, la.Vector):
        return own.indices.tolist(), own.values.tolist()
    if isinstance(own, la.Matrix):
        rows = np.repeat(np.arange(own.shape[0]), np.diff(own.rows.indptr)).tolist()
        return list(zip(rows, own.rows.indices.tolist(), strict=True)), own.stored_values().tolist()
    *where, found = own.to_coo()
    places = where[0].tolist() if len(where) == 1 else list(zip(*(part.tolist() for part in where), strict=True))
    return places, found.tolist()


class Writing:
    """Mask, accumulator and replacement, drawn once for both libraries."""

    def __init__(self, draw: random.Random, size: Any, dtype: str, accums: Sequence[str] = ACCUMULATORS) -> None:
        make: Any = vector if isinstance(size, int) else matrix
        self.mask = make(draw, size, draw.choice(("bool", "int32"))) if draw.random() < 0.7 else None
        self.complement, self.structural = draw.random() < 0.5, draw.random() < 0.5
        self.out = make(draw, size, dtype) if draw.random() < 0.6 else None
        self.accum = draw.choice((None, *accums)) if self.out is not None else None
        self.replace = self.out is not None and self.mask is not None and draw.random() < 0.5

    def where(self) -> dict[str, Any]:
        masked = {"mask": self.mask, "complement": self.complement, "structural": self.structural}
        return masked if self.mask is not None else {}

    def mine(self) -> dict[str, Any]:
        return {
            **self.where(),
            "out": self.out.copy() if isinstance(self.out, la.Vector) else self.out,  # a matrix is never changed
            "accum": None if self.accum is None else la.binary[self.accum],
            "replace": self.replace,
        }

    def theirs(self) -> dict[str, Any]:
        """The keywords of the same call in python-graphblas."""
        given: dict[str, Any] = {}
        if self.mask is not None:
            m = theirs(self.mask)
            m = m.S if self.structural else m.V
            given["mask"] = ~m if self.complement else m
        if self.accum is not None:
            given["accum"] = getattr(gb.binary, self.accum)
        if self.replace:
            given["replace"] = True
        return given

    def into(self, expression: Any) -> Any:
        """SuiteSparse's result."""
        if self.out is None:
            return expression.new(**self.theirs())
        w = theirs(self.out)
        w(**self.theirs()) << expression
        return w

    def __repr__(self) -> str:
        shown = [f"out={entries(self.out)}"] if self.out is not None else []
        if self.mask is not None:
            shown.append(f"mask={entries(self.mask)} complement={self.complement} structural={self.structural}")
        return f"{' '.join(shown)} accum={self.accum} replace={self.replace}"


def compare(mine: Any, other: Any, about: str, only_places: bool = False) -> None:
    found, expected = entries(mine), entries(other)
    if found[0] != expected[0] or (not only_places and not np.array_equal(found[1], expected[1], equal_nan=True)):
        raise Difference(f"{about}: found {found}, expected {expected}")


# ---------------------------------------------------------------- operations


def numbers(own: la.Vector | la.Matrix, counted: bool) -> Any:
    """A vector or matrix for SuiteSparse; bools become whole numbers if hopwave counts them."""
    return theirs(own.astype("int64") if counted and own.dtype == "bool" else own)


def drawn(
    draw: random.Random, name: str, dtype: str, other: str, gpu: bool, kind: str
) -> tuple[la.Matrix | la.Vector, la.Matrix | la.Vector, dict[str, Any], Writing]:
    """Both operands of a product, its options, and how it is written."""
    rows, inner, columns = (draw.randint(1, 7) for _ in range(3))
    any_term = name.startswith("any_")
    A = matrix(draw, (rows, inner), dtype, any_term)
    types, accums = (("float64",), ("plus",)) if gpu else (ALL_TYPES, ACCUMULATORS)  # each compiles kernels
    result = "int64" if name.endswith(PLACES) else draw.choice(types)
    options: dict[str, Any] = {"semiring": la.semiring[name], "direction": draw.choice(DIRECTIONS)}
    if kind == "mxm":
        B = matrix(draw, (inner, columns), other, any_term)
        how = Writing(draw, (rows, columns), result, accums)
        if how.mask is None or how.complement:
            options["direction"] = "auto"  # a pull computes only the places of a mask
        return A, B, options, how
    x = vector(draw, inner if kind == "mxv" else rows, other, any_term)
    how = Writing(draw, rows if kind == "mxv" else inner, result, accums)
    return *((x, A) if kind == "vxm" else (A, x)), options, how


def try_product(draw: random.Random, name: str, dtype: str, other: str, device: str, kind: str | None = None) -> int:
    """Try one product of a matrix with a vector or a matrix; if its kind is given, one that has terms."""
    gpu, needs_terms = device == "cuda", kind is not None
    kind = kind or draw.choice(KINDS)
    multiply = getattr(la, kind)
    left, right, options, how = drawn(draw, name, dtype, other, gpu, kind)
    while needs_terms and not multiply(left, right, la.semiring.any_pair, **how.where(), device="reference").nnz:
        left, right, options, how = drawn(draw, name, dtype, other, gpu, kind)
    mine = multiply(left, right, **options, **how.mine(), device=device)
    if gpu:
        mine, due = mine.to("cpu"), multiply(left, right, **options, **how.mine(), device="reference")
    else:
        counted = name not in LOGICAL
        due = how.into(their_semiring(name)(numbers(left, counted) @ numbers(right, counted)))
    about = f"{kind} {name} {dtype} {other} {options} {device} {entries(left)} {entries(right)} {how}"
    compare(mine, due, about, only_places=name.startswith("any_") and name.endswith(PLACES))
    return 1


def try_element_wise(draw: random.Random) -> int:
    """Try element-wise sums and products, apply, select, reduce and extract of vectors."""
    n, dtype, other_dtype = draw.randint(1, 8), draw.choice(TYPES), draw.choice(ALL_TYPES)
    u, v = vector(draw, n, dtype), vector(draw, n, other_dtype)
    name = draw.choice(OPERATORS)
    how = Writing(draw, n, draw.choice(ALL_TYPES))
    op, other = la.binary[name], getattr(gb.binary, name)
    about = f"{name} {dtype} {other_dtype} u={entries(u)} v={entries(v)} {how}"
    if name not in OPERATORS[7:]:  # if only one operand has a value, a comparison has no result
        expression = theirs(u).ewise_add(theirs(v), other)
        compare(la.ewise_add(u, v, op, **how.mine()), how.into(expression), f"ewise_add {about}")
    expression = theirs(u).ewise_mult(theirs(v), other)
    compare(la.ewise_mult(u, v, op, **how.mine()), how.into(expression), f"ewise_mult {about}")
    expression = theirs(u).apply(other, right=2)
    compare(la.apply(u, op, right=2, **how.mine()), how.into(expression), f"apply {about}")
    one_sided = draw.choice(list(UNARY))
    expression = numbers(v, one_sided == "negate").apply(getattr(gb.unary, UNARY[one_sided]))
    compare(la.apply(v, la.unary[one_sided], **how.mine()), how.into(expression), f"apply {one_sided} {about}")
    about = f"{dtype} u={entries(u)} {how}"
    sign, word = draw.choice(((">", "gt"), ("<=", "le"), ("==", "eq"), ("!=", "ne")))
    one = np.dtype(dtype).type(1)  # SuiteSparse reads the bits of a whole number as a float's
    expression = theirs(u).select(sign, one)
    compare(la.select(u, la.binary[word], one, **how.mine()), how.into(expression), f"{word} {about}")
    places = [draw.randrange(n) for _ in range(n)]
    compare(la.extract(u, places, **how.mine()), how.into(theirs(u)[places]), f"extract {places} {about}")
    for monoid in ("plus", "min", "max"):
        if u.nnz:
            mine, due = la.reduce(u, la.monoid[monoid]), theirs(u).reduce(getattr(gb.monoid, monoid)).new().value
            if mine != due:
                raise Difference(f"reduce {monoid} {entries(u)}: found {mine}, expected {due}")
    return 8


def try_assign(draw: random.Random) -> int:
    """Try to write a number or a vector to all or some places of a vector; the mask may be the vector itself."""
    n = draw.randint(1, 8)
    how = Writing(draw, n, draw.choice(ALL_TYPES))
    w = how.out if how.out is not None else vector(draw, n, draw.choice(ALL_TYPES))
    places = draw.choice((None, draw.sample(range(n), draw.randint(1, n))))
    u = vector(draw, n if places is None else len(places), draw.choice(ALL_TYPES))
    value: Any = draw.choice((5, 2.5, u))
    mine, their = w.copy(), theirs(w)
    given: dict[str, Any] = {key: value for key, value in how.mine().items() if key != "out"}
    if how.mask is not None and draw.random() < 0.3:
        how.mask, given["mask"] = w, mine
    mine.convert(draw.choice(("sparse", "dense")))
    there = slice(None) if places is None else places
    their(**how.theirs())[there] << (theirs(value) if isinstance(value, la.Vector) else value)
    shown = entries(value) if isinstance(value, la.Vector) else value
    about = f"assign {shown} to {places} of {entries(w)} {w.dtype} {how}"
    compare(la.assign(mine, value, places, **given), their, about)
    return 1


@cache
def cases() -> list[tuple[str, str, str, str]]:
    """(semiring, types of both operands, engine) of every kind of product."""
    found = [(name, dtype, dtype, "cpu") for name, dtype in COMPILED]
    for name in dir(la.semiring):
        found += [(name, dtype, other, "reference") for dtype in ALL_TYPES for other in ALL_TYPES]
    return found


def inputs(draw: random.Random, folder: Path) -> int:
    """A product over any semiring and pair of types, and other operations."""
    return try_product(draw, *draw.choice(cases())) + try_element_wise(draw) + try_assign(draw)


def covering(draw: random.Random) -> list[tuple[str, str, str]]:
    """(semiring, types of both operands), all 900, in an order whose first few dozen have every semiring, every pair of
    types, and every ⊕ and every ⊗ with every type: each compiles code of its own, for seconds.
    """
    left = [(name, dtype, other) for name in dir(la.semiring) for dtype in ALL_TYPES for other in ALL_TYPES]
    draw.shuffle(left)
    parts = {case: covered_by(*case) for case in left}
    found, covered = [], set()
    while left:
        best = max(left, key=lambda case: len(parts[case] - covered))
        if parts[best] <= covered:
            break
        covered |= parts[best]
        left.remove(best)
        found.append(best)
    return found + left


def covered_by(name: str, dtype: str, other: str) -> set[tuple[str, ...]]:
    add, _, multiply = name.partition("_")
    return {(name,), (dtype, other), *(("⊕", add, one) for one in (dtype, other)),
            ("⊗", multiply, "first", dtype), ("⊗", multiply, "second", other)}  # fmt: skip


@cache
def order(device: str) -> Iterator[tuple[str, str, str]]:
    return itertools.cycle(covering(random.Random(7)))


def on_cpu(draw: random.Random, folder: Path) -> int:
    """The next semiring and pair of types on the CPU engine."""
    case = next(order("cpu"))
    return sum(try_product(draw, *case, "cpu", kind) for kind in KINDS)


@cache
def unoptimised(folder: Path) -> None:
    """Compile the kernels of products without optimisation, both of a kind at once: 900 rings take hours else."""
    from hopwave.engines.cuda import nvrtc
    from hopwave.engines.cuda.linalg.semiring_source import instances

    os.environ["HOPWAVE_CACHE"] = str(folder)  # users' calls must not find them
    compiled = nvrtc._compile
    both: dict[tuple[str, str], list[str]] = {}  # for whole rows, and for pieces of long ones
    for header, name in instances("int"):
        both.setdefault((header, whole_rows(name)), []).append(name)

    @cache
    def of_ring(header: str, arch: str, name: str, text: str) -> Any:
        return compiled(header, arch, both[header, name], FAST, text)

    def made(header: str, arch: str, names: Sequence[str], more: Sequence[str], text: str) -> Any:
        if (header, whole_rows(names[0])) not in both:
            return compiled(header, arch, names, (*more, *FAST), text)
        code, symbols = of_ring(header, arch, whole_rows(names[0]), text)
        return code, {name: symbols[name] for name in names}

    nvrtc._compile = made


def whole_rows(name: str) -> str:
    return name.replace("int, true", "int, false", 1)


def on_cuda(draw: random.Random, folder: Path) -> int:
    """The next semiring and pair of types on a GPU."""
    unoptimised(folder)
    case = next(order("cuda"))
    return sum(try_product(draw, *case, "cuda", kind) for kind in KINDS)
