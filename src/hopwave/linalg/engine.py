"""What `linalg` asks of a machine, and which machine an operation runs on.

The meaning of masks, accumulators and replacement is written once, in this folder, over arrays of whichever module the
engine computes with (NumPy or CuPy). An engine adds what needs compiled code: the products, and users' operators.
"""

from __future__ import annotations

from typing import Any

from hopwave.engines import Algebra, algebra


def choose(device: str, *operands: Any) -> Algebra:
    """The engine for these operands: where they are, unless a device is named."""
    if device == "auto":
        device = "cuda" if any(getattr(operand, "device", None) == "cuda" for operand in operands) else "cpu"
    return algebra(device)
