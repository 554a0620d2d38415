"""Checks of integers and real numbers: single values, and columns of integers."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.errors import GraphError


def is_whole(value: Any) -> bool:
    """Whether a value is an integer of Python or NumPy. True, False and 1.0 are not."""
    return type(value) is int or (isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64))


def check_bytes(name: str, value: Any, least: int = 1) -> int | None:
    """A memory limit in bytes, at least `least`; None means no limit."""
    if value is not None and (not is_whole(value) or value < least):
        raise GraphError(f"{name}={value!r} is not a number of bytes; pass an integer of at least {least}, or None")
    return None if value is None else int(value)


def is_number(value: Any) -> bool:
    """Whether a value is a real number within the range of float64. True, False, NaN and 10**400 are not."""
    return is_real(type(value)) and not isinstance(value, bool | np.bool_) and not math.isnan(as_float(value))


def as_float(value: Any) -> float:
    """A real number as a float; NaN if it exceeds the range of float64."""
    try:
        found = float(value)
    except OverflowError:
        return math.nan
    return found if math.isfinite(found) or value in (math.inf, -math.inf) else math.nan  # NaN: a large longdouble


def is_real(kind: type) -> bool:
    """Whether a type is one of real numbers, bools included. np.timedelta64, a subclass of np.integer, is not."""
    return issubclass(kind, int | float | np.integer | np.floating | np.bool_) and not issubclass(kind, np.timedelta64)


def shown(value: Any, most: int = 60) -> str:
    """The repr of a value for a message, shortened if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not print integers of more than 4,300 digits
        if not is_whole(value):
            return f"a {type(value).__name__} with such numbers"
        return f"a number of {math.floor(math.log10(abs(value))) + 1} digits"
    return text if len(text) <= most else f"{text[:most]}..."


def whole_numbers(values: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """A column as integers; raises a GraphError that names the column and a value that is not an integer.

    Floats with integer values are accepted: pandas converts integers to floats if a column has missing values.
    """
    kind = values.dtype.kind
    if len(values) == 0:
        return values.astype(np.int64)
    if kind == "i" or (kind == "u" and values.dtype.itemsize < 8):
        return values
    if kind == "u" or kind == "f":
        if kind == "f" and not np.isfinite(values).all():
            raise GraphError(f"{name} contains NaN or infinity; drop the rows without an endpoint")
        greatest = float(np.abs(values).max())
        if greatest >= 2.0**63:
            raise GraphError(f"{name} contains {greatest:g}, which exceeds 64 bits; renumber sparse ids first")
        if kind == "f" and greatest > 2.0 ** (bits := np.finfo(values.dtype).nmant + 1):
            problem = f"{name} contains {greatest:.17g} as {values.dtype}, which rounds integers above 2^{bits}"
            raise GraphError(f"{problem}; pass an array of an integer type")
        whole = values.astype(np.int64)
        if not np.array_equal(whole, values):
            bad = values[whole != values][0]
            raise GraphError(f"{name} contains {bad}, which is not an integer; vertices are numbered 0, 1, 2, …")
        return whole
    raise GraphError(f"{name} has type {values.dtype}; vertices must be integers, strings or other labels")
