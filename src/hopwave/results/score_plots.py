"""The picture of any result that has one score per vertex or edge."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from hopwave import drawing
from hopwave.arrays import on_host
from hopwave.errors import GraphError
from hopwave.results.tables import highest
from hopwave.whole_numbers import is_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_scores(
    ax: Axes | None, name: str, scores: Any, bounds: Any, label: Callable[[int], str], top: int | None
) -> Axes:
    """The distribution of the scores, or the `top` highest as bars, with error bars where there are bounds.

    label(i) names what has the i-th score.
    """
    if top is not None and (not is_whole(top) or top < 1):
        raise GraphError(f"top={top!r} is not a number of bars; give a whole number from 1, or None for all scores")
    axes = drawing.axes_for(ax)
    if top is None:
        drawing.distribution(axes, scores, name)
        return axes
    best = highest(scores, top)
    off = np.zeros(len(best)) if bounds is None else on_host(bounds)[best]
    drawing.highest(axes, [label(i) for i in best], scores[best], off, name)
    return axes
