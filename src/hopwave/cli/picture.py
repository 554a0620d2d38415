"""Pictures, drawn without a display: the levels of a search, scores, and the small graph of the demo."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hopwave.atomic_file import replacing
from hopwave.cli import columns, terminal
from hopwave.cli.levels import Row

ENDINGS = (".png", ".svg", ".pdf")
COLOURS = {"source": "#6b7280", "push": "#0e8fa9", "pull": "#b0468f"}
INK, PALE = "#1f2937", "#e5e7eb"
_MOST_BARS_WITH_GAPS = 120  # the bars of more levels touch each other


def check(path: Path) -> None:
    """Raise an error if this picture cannot be drawn; called before any work is done."""
    columns.ending(path, ENDINGS)
    columns.folder(path)
    terminal.need("matplotlib", "plot", f"drawing {path}")


@contextmanager
def page(path: Path, width: float, height: float) -> Iterator[Any]:
    """An empty figure, written to the file at the end of the block. It needs no display and changes no global state."""
    check(path)
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style: Any = {
        "font.size": 10,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "grid.color": PALE,
        "xtick.color": INK,
        "ytick.color": INK,
        "svg.hashsalt": "hopwave",  # the same picture gives the same file
    }
    with rc_context(style):
        figure = Figure(figsize=(width, height), dpi=150, layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        yield figure
        with replacing(path) as stream:
            figure.savefig(stream, format=path.suffix[1:].lower())


def levels(path: Path, rows: list[Row], title: str, subtitle: str) -> None:
    """The vertices of each level, coloured by its direction, and its time."""
    with page(path, 8, 5) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        above.set_title(_short(title), loc="left", fontweight="bold", pad=22)
        above.annotate(subtitle, (0, 1), (0, 8), xycoords="axes fraction", textcoords="offset points", fontsize=9.5)
        profile(above, rows)
        _bars(below, rows[1:], [row.seconds * 1e3 for row in rows[1:]])
        below.set_ylabel("milliseconds")
        below.set_xlabel("hops from the source")
        below.grid(axis="y")


def scores(path: Path, values: Any, best: list[tuple[str, float, float]], title: str, subtitle: str) -> None:
    """The distribution of the scores, the highest of them with their names, and error bars where a bound is not 0."""
    with page(path, 11, 5) as figure:
        left, right = figure.subplots(1, 2, width_ratios=[3, 2])
        left.set_title(_short(title), loc="left", fontweight="bold", pad=22)
        left.annotate(subtitle, (0, 1), (0, 8), xycoords="axes fraction", textcoords="offset points", fontsize=9.5)
        distribution(left, values)
        right.set_title("Highest", loc="left", fontweight="bold", pad=22)
        names = [_short(name, 28) for name, _, _ in reversed(best)]
        heights, bounds = ([row[i] for row in reversed(best)] for i in (1, 2))
        off = [[min(score, bound) for score, bound in zip(heights, bounds, strict=True)], bounds]  # no score is below 0
        sampled = {"xerr": off, "ecolor": INK, "capsize": 2, "error_kw": {"linewidth": 1}} if any(bounds) else {}
        right.barh(range(len(best)), heights, color=COLOURS["push"], **sampled)
        right.set_yticks(range(len(best)), names, fontsize=8.5)
        right.margins(y=0.01)
        right.set_xlabel("betweenness")
        right.ticklabel_format(axis="x", style="plain" if max([0.0, *(s for _, s, _ in best)]) < 1e5 else "sci")
        right.grid(axis="x")
        right.tick_params(axis="y", length=0)


def distribution(axes: Any, values: Any) -> None:
    """For every score, the share of scores that are at least as high; a power law gives a straight line."""
    import numpy as np
    from matplotlib.ticker import FuncFormatter

    known = np.sort(values[np.isfinite(values)])
    above = known[known > 0]
    axes.set_xlabel("betweenness")
    axes.set_ylabel("share with at least that score")
    axes.grid(which="major")
    if not len(above):
        axes.text(0.5, 0.5, "every score is 0", ha="center", va="center", transform=axes.transAxes)
        axes.set_xticks([])
        axes.set_yticks([])
        return
    share = np.arange(len(above), 0, -1) / len(known)
    shown = np.unique(np.concatenate([[True], np.diff(above) > 0]).nonzero()[0])  # one point per score
    if len(shown) > 4000:  # more cannot be seen; all of the highest are kept, since they are far apart
        shown = shown[len(shown) - np.unique(np.geomspace(1, len(shown), 4000).astype(int))[::-1]]
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
        note = f"{zero:.1%} have the score 0"
        axes.text(
            0.03, 0.04, note, transform=axes.transAxes, fontsize=9, backgroundcolor="white"
        )  # the curve leaves this corner free


def profile(axes: Any, rows: list[Row]) -> None:
    """Bars of the vertices of each level; an empty last level is left out."""
    from matplotlib.patches import Patch
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    rows = [row for row in rows if row.vertices]
    _bars(axes, rows, [row.vertices for row in rows])
    counts = [row.vertices for row in rows]
    if max(counts) > 1000 * min(counts):  # so that a level of one vertex is visible next to one of a million
        axes.set_yscale("log")
        axes.set_ylim(0.7, max(counts) * 2)
    else:
        axes.set_ylim(0, max(counts) * 1.12)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set_ylabel("vertices")
    axes.grid(axis="y")
    if len(rows) <= 16:
        for row in rows:
            place = (row.first, row.vertices)
            axes.annotate(f"{row.vertices:,}", place, (0, 2), textcoords="offset points", ha="center", fontsize=7.5)
    directions = dict.fromkeys(row.direction for row in rows if row.direction in COLOURS)
    axes.legend(handles=[Patch(color=COLOURS[name], label=name) for name in directions], frameon=False, fontsize=9)


def _bars(axes: Any, rows: list[Row], heights: list[float]) -> None:
    colours = [COLOURS.get(row.direction, INK) for row in rows]
    axes.bar(
        [row.first for row in rows], heights, color=colours, width=0.8 if len(rows) <= _MOST_BARS_WITH_GAPS else 1.0
    )


def network(axes: Any, places: Any, edges: Any, hops: Any, sizes: Any, names: dict[int, str]) -> None:
    """A small graph: vertices at `places`, coloured by hops, sized by `sizes`, and names for some of them.

    The most important names come first: a name that would cover an earlier one is left out.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    axes.add_collection(LineCollection([(places[u], places[v]) for u, v in edges], colors="#9ca3af", linewidths=0.5))
    points = axes.scatter(
        places[:, 0], places[:, 1], c=hops, s=sizes, cmap="viridis_r", edgecolors="white", linewidths=0.6, zorder=2
    )
    named: list[Any] = []
    room = (places.max(axis=0) - places.min(axis=0)) * (0.11, 0.03)
    for vertex, name in names.items():
        if any((abs(places[vertex] - other) < room).all() for other in named):
            continue
        named.append(places[vertex])
        axes.annotate(
            name,
            places[vertex],
            (0, math.sqrt(sizes[vertex]) / 2),  # a marker's size is the square of its width
            textcoords="offset points",
            ha="center",
            fontsize=8,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=3,
        )
    axes.legend(*points.legend_elements(num=None), title="hops", frameon=False, fontsize=8, loc="best")
    axes.set_axis_off()
    axes.margins(0.06)


def _short(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
