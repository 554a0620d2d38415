"""Which engine an operation of `linalg` runs on."""

from __future__ import annotations

from typing import Any

from hopwave.engines import Algebra, algebra


def choose(device: str, *operands: Any) -> Algebra:
    """The engine for these operands: where they are, unless a device is named."""
    if device == "auto":
        device = "cuda" if any(getattr(operand, "device", None) == "cuda" for operand in operands) else "cpu"
    return algebra(device)
