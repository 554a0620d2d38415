"""Which engine an operation of `linalg` runs on."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from hopwave.engines import Algebra, algebra
from hopwave.errors import EngineError, LinalgError

P = ParamSpec("P")
R = TypeVar("R")


def choose(device: str, *operands: Any) -> Algebra:
    """The engine for these operands: where they are, unless a device is named."""
    if not isinstance(device, str):
        raise EngineError(f"device {device!r} is not known; use 'auto', 'cuda', 'cpu' or 'reference'")
    if device == "auto":
        device = "cuda" if any(getattr(operand, "device", None) == "cuda" for operand in operands) else "cpu"
    return algebra(device)


def compiling(operation: Callable[P, R]) -> Callable[P, R]:
    """Decorates an operation that may compile a user's function: Numba's errors become LinalgErrors."""

    @wraps(operation)
    def explained(*given: P.args, **more: P.kwargs) -> R:
        try:
            return operation(*given, **more)
        except Exception as error:
            if not type(error).__module__.startswith("numba."):
                raise
            said = (line.strip() for line in str(error).splitlines())
            reason = next((line for line in said if line and not line.startswith("Failed in ")), type(error).__name__)
            raise LinalgError(
                f"a function given to {operation.__name__} cannot be compiled ({reason}); use numbers, arithmetic and "
                "functions that are compiled with numba.njit, or device='reference', which takes any function"
            ) from error

    return explained
