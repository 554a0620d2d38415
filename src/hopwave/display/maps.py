"""Maps: one dot per place, coloured by a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.system.optional import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCHES = 7.0
AREA = 4000.0  # of all dots together, in square points


def plot_map(xy: npt.NDArray[Any], numbers: npt.NDArray[Any], title: str, ax: Axes | None) -> Axes:
    """Draw the places with a bar that explains their colours. Larger numbers are drawn over smaller ones."""
    pyplot = optional("matplotlib.pyplot", "plot")
    chosen: Axes = pyplot.subplots(figsize=(INCHES, INCHES), layout="constrained")[1] if ax is None else ax
    order = np.argsort(numbers, kind="stable")
    size = float(np.clip(AREA / max(1, len(numbers)), 0.5, 40.0))
    dots = chosen.scatter(xy[order, 0], xy[order, 1], size, numbers[order], cmap="viridis", linewidths=0)
    chosen.figure.colorbar(dots, ax=chosen, label=title, shrink=0.7)
    chosen.set_aspect("equal")
    chosen.set_axis_off()
    return chosen
