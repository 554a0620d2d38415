"""Arrays of NumPy or CuPy: where they are, those fetched when first read, and counts that cannot overflow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = Any  # of NumPy or CuPy


def on_gpu(array: Array) -> bool:
    """Whether an array is CuPy's."""
    return hasattr(
        type(array), "__cuda_array_interface__"
    )  # of the type: reading it from the array would build a record


def module_of(array: Array) -> Any:
    """The module of an array: NumPy or CuPy."""
    if on_gpu(array):
        import cupy

        return cupy
    return np


def on_device(*columns: Any) -> bool:
    """Whether all of these are arrays on a GPU."""
    return all(hasattr(column, "__cuda_array_interface__") for column in columns)


@dataclass(frozen=True, eq=False)
class ScaledCounts:
    """Path counts beyond float64: count[v] = mantissa[v] · 2^exponent[v], with mantissa in [0.5, 1), or 0.

    >>> ScaledCounts(np.array([0.5]), np.array([1101])).log2().tolist()
    [1100.0]
    """

    mantissa: npt.NDArray[np.float64]
    exponent: npt.NDArray[np.int64]

    def log2(self) -> npt.NDArray[np.float64]:
        """The binary logarithm of every count; −inf where there is no path."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log2(self.mantissa) + self.exponent)

    def __len__(self) -> int:
        return len(self.mantissa)

    @staticmethod
    def plain(
        mantissa: npt.NDArray[np.float64], exponent: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64] | ScaledCounts:
        """One float64 array where that can hold every count, else the pair."""
        if len(exponent) and int(exponent.max()) > 1024:  # a mantissa is below 1
            return ScaledCounts(mantissa, exponent)
        return np.asarray(np.ldexp(mantissa, exponent), np.float64)


class DeferredArray:
    """Part of a result that is still on the device: `fetch` copies it to the host when it is first read."""

    def __init__(self, fetch: Callable[[], Any]) -> None:
        self.fetch = fetch


def on_host(array: Any) -> npt.NDArray[Any]:
    """A NumPy array from one of NumPy or CuPy."""
    found: npt.NDArray[Any] = array.get() if hasattr(array, "get") else array
    return found
