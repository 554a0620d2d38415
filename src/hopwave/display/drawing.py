"""Plots with matplotlib, for `result.plot()` and the option `--plot`; matplotlib is imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.checks.keywords import offers
from hopwave.checks.numbers import is_whole
from hopwave.errors import GraphError
from hopwave.system.optional import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {"source": "#6b7280", "push": "#0e8fa9", "pull": "#b0468f"}
INK, PALE, _STREETS = "#1f2937", "#e5e7eb", "#c3c9d2"
_MOST_BARS_WITH_GAPS = 120  # above this number, bars are drawn without gaps
_MOST_POINTS = 4000  # maximum points of a distribution; more would not be visible
_AREA_OF_DOTS = 120_000.0  # total area of the dots of a map, in square points: most of the figure


def axes_for(ax: Axes | None, height: float = 4) -> Axes:
    """The caller's axes, or the axes of a new pyplot figure."""
    if ax is not None:
        if not hasattr(ax, "figure"):
            remedy = f"to save a file, call result.plot().figure.savefig({ax!r:.60})"
            raise GraphError(f"{ax!r:.60} is not a matplotlib Axes; {remedy}")
        return ax
    pyplot = optional("matplotlib.pyplot", "plot()")
    made: Axes = pyplot.subplots(figsize=(7, height), layout="constrained")[1]
    made.spines[["top", "right"]].set_visible(False)
    made.set_axisbelow(True)
    return made


@offers
class Plotted:
    """A result with a method `plot`; the docstring of each subclass describes the plot."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the result as the docstring of its class describes. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new pyplot figure.

        Examples
        --------
        >>> ax = hw.bfs(hw.generate.star(5), 1).plot()
        >>> [int(bar.get_height()) for bar in ax.patches]
        [1, 1, 3]
        """
        axes = axes_for(ax)
        self._draw(axes)
        return axes

    def _draw(self, axes: Axes) -> None:
        raise NotImplementedError


def bars(axes: Any, places: Sequence[float], heights: Any, directions: Sequence[str] = (), **more: Any) -> None:
    """Bars in the colours of their directions; many bars are drawn without gaps."""
    colours = [COLOURS.get(name, INK) for name in directions] or COLOURS["push"]
    axes.bar(places, heights, color=colours, width=0.8 if len(places) <= _MOST_BARS_WITH_GAPS else 1.0, **more)
    axes.grid(axis="y", color=PALE)


def levels(axes: Any, depths: Sequence[int], counts: Sequence[int], directions: Sequence[str]) -> None:
    """The number of vertices of each level, in the colour of its direction; empty levels are omitted."""
    from matplotlib.patches import Patch
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    shown = [row for row in zip(depths, counts, directions, strict=True) if row[1]]
    depths, counts, directions = (list(column) for column in zip(*shown, strict=True)) if shown else ([], [], [])
    bars(axes, depths, counts, directions)
    if max(counts, default=0) > 1000 * min(counts, default=1):  # keeps a level of one vertex visible next to a million
        axes.set_yscale("log")
        axes.set_ylim(0.7, max(counts) * 2)
    else:
        axes.set_ylim(0, max(counts, default=1) * 1.12)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set_ylabel("vertices")
    if len(counts) <= 16:
        for place in zip(depths, counts, strict=True):
            axes.annotate(f"{place[1]:,}", place, (0, 2), textcoords="offset points", ha="center", fontsize=7.5)
    named = dict.fromkeys(name for name in directions if name in COLOURS)
    if named:
        axes.legend(handles=[Patch(color=COLOURS[name], label=name) for name in named], frameon=False, fontsize=9)


def distribution(axes: Any, values: Any, name: str) -> None:
    """For each score, the share of scores at least as high; a power law gives a straight line."""
    from matplotlib.ticker import FuncFormatter

    known = np.sort(values[np.isfinite(values)])
    above = known[known > 0]
    axes.set(xlabel=name, ylabel="share with at least that score")
    axes.grid(which="major", color=PALE)
    if not len(above):
        axes.text(0.5, 0.5, "no score is above 0", ha="center", va="center", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])
        return
    share = np.arange(len(above), 0, -1) / len(known)
    shown = np.flatnonzero(np.diff(above, prepend=-1.0))  # one point per score
    if len(shown) > _MOST_POINTS:  # geometric spacing keeps all of the highest scores, which are far apart
        shown = shown[len(shown) - np.unique(np.geomspace(1, len(shown), _MOST_POINTS).astype(int))[::-1]]
    axes.step(above[shown], share[shown], where="pre", color=COLOURS["push"], linewidth=1.6)
    axes.plot(above[shown], share[shown], "o", color=COLOURS["push"], markersize=2.5 if len(shown) < 400 else 0)
    if above[-1] > 100 * above[0]:
        axes.set_xscale("log")
    if share[0] > 100 * share[shown[-1]]:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, min(1.05, share[0] * 1.1))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.4g}%"))
    zero = 1 - len(above) / len(known)
    if zero:
        note = f"{zero:.1%} have the score 0" if known[0] >= 0 else f"{zero:.1%} have a score of 0 or less"
        # The curve never reaches this corner.
        axes.text(0.03, 0.04, note, transform=axes.transAxes, fontsize=9, backgroundcolor="white")


def short(text: str, most: int = 80) -> str:
    """The text, cut to at most `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def plot_map(ax: Axes | None, edges: Any, marks: Any, numbers: Any, title: str) -> Axes:
    """Draw edges in grey, then dots (k × 2) or lines (k × 2 × 2) coloured by their numbers; the last mark is on top."""
    from matplotlib.collections import LineCollection

    chosen = axes_for(ax, height=7)
    under: Any = {"rasterized": True, "zorder": 0.5}  # as vectors, the streets of a city make a file of 100 MB
    chosen.add_collection(LineCollection(edges, colors=_STREETS, linewidths=0.6, **under))
    if marks.ndim == 2:
        size = float(np.clip(_AREA_OF_DOTS / max(1, len(numbers)), 0.5, 40.0))
        drawn: Any = chosen.scatter(marks[:, 0], marks[:, 1], size, numbers, cmap="viridis", linewidths=0)
    else:
        drawn = LineCollection(marks, array=numbers, cmap="viridis", linewidths=2, capstyle="round")
        chosen.add_collection(drawn)
    chosen.autoscale_view()
    if len(numbers):
        chosen.figure.colorbar(drawn, ax=chosen, label=title, shrink=0.7)
    chosen.set_aspect("equal")
    chosen.set_axis_off()
    return chosen


def highest_places(scores: npt.NDArray[Any], k: int) -> list[int]:
    """Positions of the k highest scores, highest first; equal scores are ordered by position."""
    if not is_whole(k) or k < 0:
        raise GraphError(f"k={k!r} is not a number of scores; pass an integer of at least 0")
    places: list[int] = np.argsort(-scores, kind="stable")[:k].tolist()
    return places


def plot_scores(
    ax: Axes | None, name: str, scores: Any, ends: Any, names: Callable[[list[int]], list[str]], top: int | None
) -> Axes:
    """Plot the distribution of the scores, or the `top` highest as bars with names and error bars between `ends`."""
    if top is not None and (not is_whole(top) or top < 1):
        raise GraphError(f"top={top!r} is not a number of bars; pass an integer of at least 1, or None for all scores")
    axes = axes_for(ax)
    if top is None:
        distribution(axes, scores, name)
        return axes
    best = highest_places(scores, top)[::-1]  # the highest is drawn on top
    heights = np.asarray(scores[best], np.float64)
    sampled: Any = {}
    if ends is not None:
        low, high = (end[best] for end in ends)
        below, above = np.nan_to_num(heights - low), np.nan_to_num(high - heights, posinf=0.0)
        below = np.where(heights >= 0, np.minimum(heights, below), below)  # no error bar crosses 0
        if below.any() or above.any():
            off = np.maximum([below, above], 0.0)
            sampled = {"xerr": off, "ecolor": INK, "capsize": 2, "error_kw": {"linewidth": 1}}
    axes.barh(range(len(best)), heights, color=COLOURS["push"], **sampled)
    axes.set_yticks(range(len(best)), [short(each, 28) for each in names(best)], fontsize=8.5)
    axes.margins(y=0.01)
    axes.set_xlabel(name)
    axes.ticklabel_format(axis="x", style="plain" if heights.max(initial=0.0) < 1e5 else "sci")
    axes.grid(axis="x", color=PALE)
    axes.tick_params(axis="y", length=0)
    return axes
