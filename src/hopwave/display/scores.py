"""The highest scores of a result, and the picture of its scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.checks.numbers import is_whole
from hopwave.display import drawing
from hopwave.errors import GraphError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def highest(scores: npt.NDArray[Any], k: int) -> list[int]:
    """The places of the k highest scores, highest first; equal scores in the order of their places.

    >>> highest(np.array([1.0, 3.0, 3.0]), 2)
    [1, 2]
    """
    if not is_whole(k) or k < 0:
        raise GraphError(f"{k!r} is not a number of the highest scores; give a whole number from 0")
    places: list[int] = np.argsort(-scores, kind="stable")[:k].tolist()
    return places


def plot_scores(
    ax: Axes | None, name: str, scores: Any, ends: Any, names: Callable[[list[int]], list[str]], top: int | None
) -> Axes:
    """The distribution of the scores, or the `top` highest as bars, with error bars between `ends`.

    names(places) returns the names of the vertices or edges with the scores at these places.
    """
    if top is not None and (not is_whole(top) or top < 1):
        raise GraphError(f"top={top!r} is not a number of bars; give a whole number from 1, or None for all scores")
    axes = drawing.axes_for(ax)
    if top is None:
        drawing.distribution(axes, scores, name)
        return axes
    best = highest(scores, top)
    sampled = None if ends is None else [end[best] for end in ends]
    drawing.highest(axes, names(best), scores[best], sampled, name)
    return axes
