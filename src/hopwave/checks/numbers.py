"""What counts as a whole number: one value, or a column of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.errors import GraphError


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy. True, False and 1.0 are not.

    >>> is_whole(3), is_whole(np.int32(3)), is_whole(True), is_whole(3.0)
    (True, True, False, False)
    """
    return type(value) is int or (isinstance(value, int | np.integer) and not isinstance(value, bool))


def is_number(value: Any) -> bool:
    """Whether a value is a real number of Python or NumPy. True, False and NaN are not.

    >>> is_number(3), is_number(np.float32(0.5)), is_number(True), is_number("3"), is_number(float("nan"))
    (True, True, False, False, False)
    """
    known = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return known and bool(value == value)


def whole_numbers(values: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """A column as integers, or a GraphError that names the column and the value that is not one.

    Floats that are whole are accepted: pandas turns integers into floats when some values of a column are missing.

    >>> whole_numbers(np.array([1.0, 2.0]), "src").tolist()
    [1, 2]
    """
    kind = values.dtype.kind
    if len(values) == 0:
        return values.astype(np.int64)
    if kind == "i" or (kind == "u" and values.dtype.itemsize < 8):
        return values
    if kind == "u" or kind == "f":
        if kind == "f" and not np.isfinite(values).all():
            raise GraphError(f"{name} holds NaN or infinity; drop the rows that miss an end")
        if np.abs(values).max() >= 2.0**63:
            raise GraphError(
                f"{name} holds {np.abs(values).max():g}, more than 64 bits hold; renumber sparse ids first"
            )
        whole = values.astype(np.int64)
        if not np.array_equal(whole, values):
            bad = values[whole != values][0]
            raise GraphError(f"{name} holds {bad}, which is not a whole number; vertices are numbered 0, 1, 2, …")
        return whole
    raise GraphError(f"{name} holds {values.dtype}; vertices are whole numbers, strings or other labels")
