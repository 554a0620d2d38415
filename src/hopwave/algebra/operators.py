"""Operators on scalars, from which ⊕ and ⊗ are built. A user's operator is only a Python function. Built-in operators
have its text (Numba), the name of the array function (NumPy and CuPy), and a C expression in x and y (CUDA).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from hopwave.arrays import masked_place
from hopwave.errors import LinalgError

Scalar = Any
DTYPES = tuple(np.dtype(t) for t in (np.bool_, np.int32, np.int64, np.float32, np.float64))
Position = Literal["firsti", "firstj", "secondi", "secondj"]


def refuse_masked(**arrays: Any) -> None:
    """Raise a LinalgError if NumPy's mask hides an entry: linalg represents missing entries differently."""
    for name, values in arrays.items():
        if (place := masked_place(values)) is not None:
            problem = f"{name} is masked at index {place}"
            raise LinalgError(f"{problem}; omit masked entries, or pass the mask's complement as present=")


def takes(function: Any, count: int) -> bool:
    """Whether this is a function that accepts `count` numbers, as far as Python can tell."""
    try:
        inspect.signature(function).bind(*range(count))
    except ValueError:  # a C function without a signature
        return callable(function)
    except TypeError:
        return False
    return True


def checked_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """The dtype, if it is one of linalg's five types."""
    try:
        found = None if dtype is None else np.dtype(dtype)
    except (TypeError, ValueError):
        found = None
    if found is None or found not in DTYPES:  # NumPy reads None as float64
        shown = f"dtype={dtype!r}" if found is None else found
        raise LinalgError(f"{shown} is not a type of linalg; use {', '.join(map(str, DTYPES))}")
    return found


def kept_dtype(given: np.dtype[Any], dtype: npt.DTypeLike | None = None) -> np.dtype[Any]:
    """linalg's type for values of a user's type, or the requested dtype; small integers become int32."""
    if dtype is None and given.kind in "iu" and given.itemsize <= 4:
        return np.dtype(np.int64 if given == np.uint32 else np.int32)
    return checked_dtype(given if dtype is None else dtype)


def one_value(name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """A single number, converted to `dtype`; raises a LinalgError for anything else."""
    refuse_masked(**{name: value})
    try:
        if np.ndim(value) == 0 and (dtype.kind == "f" or dtype.type(value) == value):  # 1.5 is not int, 2 is not bool
            return dtype.type(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise LinalgError(f"{name}={value!r} is not a number of type {dtype}; pass one")


def constants_of(function: Any) -> tuple[Any, ...]:
    """The types and values of a function's closure, defaults and globals, which are compiled into its code."""
    names, codes = [], [function.__code__]
    for code in codes:  # including functions defined inside it
        names += code.co_names
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    values += [*(function.__defaults__ or ()), function.__kwdefaults__]
    values += [function.__globals__.get(name) for name in names]
    # 1, 1.0 and True are equal but compile to different code, and so do 0.0 and -0.0.
    return tuple((type(value), repr(value) if isinstance(value, float) else value) for value in values)


def known_constants(function: Any) -> tuple[Any, ...]:
    """`constants_of` the function, if it is plain Python and its constants can be hashed; else ()."""
    try:
        found = constants_of(function)
        hash(found)
    except (AttributeError, TypeError, ValueError):
        return ()
    return found


@dataclass(frozen=True)
class BinaryOp:
    """A function of two scalars.

    `kind` is the type of results: "same" is NumPy's type for the two operands; "bool"; "x" or "y", the operand's type;
    "one" (PAIR: always 1). `position` is set if the result is a row or column number instead of a value.

    >>> clipped = la.BinaryOp.define("clipped", lambda x, y: min(x + y, 10))
    >>> clipped(7, 8), la.binary.plus(7, 8)
    (10, 15)
    """

    name: str
    function: Callable[[Scalar, Scalar], Scalar]
    array: str | None = None  # name in NumPy and CuPy
    expression: str | None = None  # C expression
    kind: Literal["same", "bool", "x", "y", "one"] = "same"
    position: Position | None = None
    built_in: bool = False
    python: str | None = None  # source text, which the CPU engine inserts into kernels
    constants: tuple[Any, ...] = field(default=(), repr=False)  # see constants_of

    @classmethod
    def define(
        cls, name: str, function: Callable[[Scalar, Scalar], Scalar], kind: Literal["same", "bool", "x", "y"] = "same"
    ) -> BinaryOp:
        """A user's operator: any function of two numbers that Numba can compile."""
        if not takes(function, 2):
            raise LinalgError(f"{function!r} is not a function of two numbers; pass one, such as lambda x, y: x + y")
        return cls(name, function, kind=kind, constants=known_constants(function))

    def __call__(self, x: Scalar, y: Scalar) -> Scalar:
        return self.function(x, y)

    def __str__(self) -> str:
        return self.name

    def result_type(self, x: np.dtype[Any], y: np.dtype[Any]) -> np.dtype[Any]:
        """The type of results for operands of these types.

        >>> la.binary.plus.result_type(np.dtype("bool"), np.dtype("float32"))
        dtype('float32')
        """
        if self.position:
            return np.dtype(np.int32)
        if self.kind in ("bool", "one"):
            return np.dtype(np.bool_)
        if self.kind in ("x", "y"):
            return x if self.kind == "x" else y
        found = np.result_type(x, y)
        if not self.built_in:
            return found
        if self.name == "div":
            return found if found.kind == "f" else np.dtype(np.float64)
        counts = found == np.bool_ and self.name in ("plus", "minus", "times")
        return np.dtype(np.int64) if counts else found  # True + True is 2


@dataclass(frozen=True)
class UnaryOp:
    """A function of one scalar, for `apply`.

    >>> la.UnaryOp.define("halved", lambda x: x / 2)(3)
    1.5
    """

    name: str
    function: Callable[[Scalar], Scalar]
    array: str | None = None
    expression: str | None = None
    kind: Literal["same", "bool", "float"] = "same"
    built_in: bool = False
    constants: tuple[Any, ...] = field(default=(), repr=False)

    @classmethod
    def define(
        cls, name: str, function: Callable[[Scalar], Scalar], kind: Literal["same", "bool", "float"] = "same"
    ) -> UnaryOp:
        """A user's operator: any function of one number that Numba can compile."""
        if not takes(function, 1):
            raise LinalgError(f"{function!r} is not a function of one number; pass one, such as lambda x: 2 * x")
        return cls(name, function, kind=kind, constants=known_constants(function))

    def __call__(self, x: Scalar) -> Scalar:
        return self.function(x)

    def __str__(self) -> str:
        return self.name

    def result_type(self, x: np.dtype[Any]) -> np.dtype[Any]:
        """The type of results for operands of type x."""
        if self.kind == "bool":
            return np.dtype(np.bool_)
        if self.kind == "float":
            return x if x.kind == "f" else np.dtype(np.float64)
        return np.dtype(np.int64) if self.built_in and self.name == "negate" and x == np.bool_ else x


@dataclass(frozen=True)
class Monoid:
    """⊕: an associative, commutative operator with its identity.

    `any_term`: any single term may serve as the sum (ANY). `terminal`: a value that no further term changes
    (True for OR). Both allow early exit.

    >>> la.monoid.min.identity(np.dtype("float64"))
    inf
    """

    op: BinaryOp
    neutral: Scalar  # a number, or "top" / "bottom": the maximum / minimum of the type
    terminal: Scalar = None
    any_term: bool = False

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.op.name

    def __str__(self) -> str:
        return self.name

    @property
    def starts_from_identity(self) -> bool:
        """Whether the identity is known to be neutral, so that sums may start from it instead of from their first term.

        >>> la.monoid.max.starts_from_identity, Monoid(la.binary.max, 0).starts_from_identity
        (True, False)
        """
        known = monoid.get(self.op.name)
        return known is not None and known.op is self.op and bool(known.neutral == self.neutral)

    @property
    def short_circuits(self) -> bool:
        """Whether a sum may stop before its last term."""
        return self.any_term or self.terminal is not None

    def identity(self, dtype: np.dtype[Any]) -> Scalar:
        """The value of an empty sum of type `dtype`."""
        if not isinstance(self.neutral, str):
            return dtype.type(self.neutral).item()
        if dtype.kind == "b":
            return self.neutral == "top"
        if dtype.kind == "f":
            return float("inf") if self.neutral == "top" else float("-inf")
        return int(np.iinfo(dtype).max if self.neutral == "top" else np.iinfo(dtype).min)

    def sum_type(self, term: np.dtype[Any]) -> np.dtype[Any]:
        """The type of sums of terms of type `term`: bool terms are counted."""
        counts = term == np.bool_ and self.op.built_in and self.name in ("plus", "times")
        return np.dtype(np.int64) if counts else term


def _op(
    name: str, function: Callable[[Scalar, Scalar], Scalar], python: str, array: str | None, expression: str,
    kind: Any = "same",
) -> BinaryOp:  # fmt: skip
    return BinaryOp(name, function, array, expression, kind, built_in=True, python=python)


def _position(name: Position) -> BinaryOp:
    def no_value(x: Scalar, y: Scalar) -> Scalar:
        raise LinalgError(f"{name} returns a row or column number, not a value; use it as the ⊗ of a product")

    return BinaryOp(name, no_value, position=name, built_in=True)


class Named:
    """A table of objects by name. An unknown name raises a LinalgError that lists all names."""

    def __init__(self, what: str, *items: Any) -> None:
        self._what, self._items = what, {item.name: item for item in items}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_items"][name]
        except KeyError:
            if name.startswith("__"):
                raise AttributeError(name) from None
            known = ", ".join(self)
            raise LinalgError(f"{name!r} is not a {self._what} of hopwave; use {known}, or define one") from None

    __getitem__ = __getattr__

    def get(self, name: str) -> Any:
        """The object with this name, or None."""
        return self._items.get(name)

    def __iter__(self) -> Any:
        return iter(self._items)

    def __dir__(self) -> list[str]:
        return list(self._items)


binary: Named = Named(
    "binary operator",
    _op("plus", lambda x, y: x + y, "x + y", "add", "x + y"),
    _op("minus", lambda x, y: x - y, "x - y", "subtract", "x - y"),
    _op("times", lambda x, y: x * y, "x * y", "multiply", "x * y"),
    _op("div", lambda x, y: x / y, "x / y", "true_divide", "x / y"),
    # NaN propagates, as in NumPy: comparisons with NaN are false
    _op(
        "min",
        lambda x, y: y if y < x or y != y else x,
        "y if y < x or y != y else x",
        "minimum",
        "(y < x || y != y) ? y : x",
    ),
    _op(
        "max",
        lambda x, y: y if y > x or y != y else x,
        "y if y > x or y != y else x",
        "maximum",
        "(y > x || y != y) ? y : x",
    ),
    _op("first", lambda x, y: x, "x", None, "x", "x"),
    _op("second", lambda x, y: y, "y", None, "y", "y"),
    _op("any", lambda x, y: x, "x", None, "x", "x"),
    _op("pair", lambda x, y: True, "True", None, "1", "one"),
    _op("lor", lambda x, y: bool(x) or bool(y), "bool(x) or bool(y)", "logical_or", "(x != 0) || (y != 0)", "bool"),
    _op("land", lambda x, y: bool(x) and bool(y), "bool(x) and bool(y)", "logical_and", "(x != 0) && (y != 0)", "bool"),
    _op("lxor", lambda x, y: bool(x) != bool(y), "bool(x) != bool(y)", "logical_xor", "(x != 0) != (y != 0)", "bool"),
    _op("eq", lambda x, y: x == y, "x == y", "equal", "x == y", "bool"),
    _op("ne", lambda x, y: x != y, "x != y", "not_equal", "x != y", "bool"),
    _op("lt", lambda x, y: x < y, "x < y", "less", "x < y", "bool"),
    _op("le", lambda x, y: x <= y, "x <= y", "less_equal", "x <= y", "bool"),
    _op("gt", lambda x, y: x > y, "x > y", "greater", "x > y", "bool"),
    _op("ge", lambda x, y: x >= y, "x >= y", "greater_equal", "x >= y", "bool"),
    *map(_position, get_args(Position)),
)

unary: Named = Named(
    "unary operator",
    UnaryOp("identity", lambda x: x, "copy", "x", built_in=True),
    UnaryOp("negate", lambda x: -x, "negative", "-x", built_in=True),
    UnaryOp("abs", lambda x: abs(x), "absolute", "x < 0 ? -x : x", built_in=True),
    UnaryOp("reciprocal", lambda x: 1.0 / x, "reciprocal", "1.0 / x", "float", built_in=True),
    UnaryOp("sqrt", lambda x: x**0.5, "sqrt", "sqrt(x)", "float", built_in=True),
    UnaryOp("lnot", lambda x: not x, "logical_not", "!x", "bool", built_in=True),
    UnaryOp("isfinite", lambda x: x - x == 0, "isfinite", "isfinite(x)", "bool", built_in=True),
    UnaryOp("one", lambda x: True, None, "1", "bool", built_in=True),
)

monoid: Named = Named(
    "monoid",
    Monoid(binary.plus, 0),
    Monoid(binary.times, 1),
    Monoid(binary.min, "top"),
    Monoid(binary.max, "bottom"),
    Monoid(binary.lor, False, terminal=True),
    Monoid(binary.land, True, terminal=False),
    Monoid(binary.lxor, False),
    Monoid(binary.any, 0, any_term=True),
)
