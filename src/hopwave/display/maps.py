"""Maps: one dot per place, coloured by a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.display.drawing import axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AREA = 120_000.0  # of all dots together, in square points: most of the picture


def plot_map(xy: npt.NDArray[Any], numbers: npt.NDArray[Any], title: str, ax: Axes | None) -> Axes:
    """Draw the places with a bar that explains their colours. Larger numbers are drawn over smaller ones."""
    chosen = axes_for(ax, height=7)
    order = np.argsort(numbers, kind="stable")
    size = float(np.clip(AREA / max(1, len(numbers)), 0.5, 40.0))
    dots = chosen.scatter(xy[order, 0], xy[order, 1], size, numbers[order], cmap="viridis", linewidths=0)
    chosen.figure.colorbar(dots, ax=chosen, label=title, shrink=0.7)
    chosen.set_aspect("equal")
    chosen.set_axis_off()
    return chosen
