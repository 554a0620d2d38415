"""What counts as a whole number: one value, or a column of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.errors import GraphError


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy. True, False and 1.0 are not."""
    return type(value) is int or (isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64))


def check_bytes(name: str, value: Any, least: int = 1) -> int | None:
    """A limit on memory: a number of bytes from `least` on, or None for no limit."""
    if value is not None and (not is_whole(value) or value < least):
        raise GraphError(f"{name}={value!r} is not a number of bytes; give a whole number from {least}, or None")
    return None if value is None else int(value)


def is_number(value: Any) -> bool:
    """Whether a value is a real number that float64 can hold. True, False, NaN and 10**400 are not."""
    return is_real(type(value)) and not isinstance(value, bool | np.bool_) and not math.isnan(as_float(value))


def as_float(value: Any) -> float:
    """A real number as a float; NaN for one that float64 cannot hold."""
    try:
        found = float(value)
    except OverflowError:
        return math.nan
    return found if math.isfinite(found) or value in (math.inf, -math.inf) else math.nan  # else a longdouble


def is_real(kind: type) -> bool:
    """Whether all values of a type are real numbers (bools are); np.timedelta64 is not, whatever its classes say."""
    return issubclass(kind, int | float | np.integer | np.floating | np.bool_) and not issubclass(kind, np.timedelta64)


def shown(value: Any, most: int = 60) -> str:
    """A value for a message, cut if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes whole numbers of up to 4,300 digits
        if not is_whole(value):
            return f"a {type(value).__name__} with such numbers"
        return f"a number of {math.floor(math.log10(abs(value))) + 1} digits"
    return text if len(text) <= most else f"{text[:most]}..."


def whole_numbers(values: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """A column as integers; raises a GraphError that names the column and a value that is not whole.

    Floats that are whole are accepted: pandas turns integers into floats when some values of a column are missing.
    """
    kind = values.dtype.kind
    if len(values) == 0:
        return values.astype(np.int64)
    if kind == "i" or (kind == "u" and values.dtype.itemsize < 8):
        return values
    if kind == "u" or kind == "f":
        if kind == "f" and not np.isfinite(values).all():
            raise GraphError(f"{name} holds NaN or infinity; drop the rows that miss an end")
        greatest = float(np.abs(values).max())
        if greatest >= 2.0**63:
            raise GraphError(f"{name} holds {greatest:g}, more than 64 bits hold; renumber sparse ids first")
        if kind == "f" and greatest > 2.0 ** (bits := np.finfo(values.dtype).nmant + 1):
            raise GraphError(
                f"{name} holds {greatest:.17g} as {values.dtype}, which rounds whole numbers above 2^{bits}; "
                "give integers"
            )
        whole = values.astype(np.int64)
        if not np.array_equal(whole, values):
            bad = values[whole != values][0]
            raise GraphError(f"{name} holds {bad}, which is not a whole number; vertices are numbered 0, 1, 2, …")
        return whole
    raise GraphError(f"{name} holds {values.dtype}; vertices are whole numbers, strings or other labels")
