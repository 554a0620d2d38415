"""Pictures, drawn without a display: the levels of a search, scores, and the small graph of the demo."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hopwave.cli import columns, terminal
from hopwave.cli.levels import Row
from hopwave.display import drawing
from hopwave.display.drawing import INK, PALE, short
from hopwave.system.atomic_file import checked, replacing

ENDINGS = (".png", ".svg", ".pdf")


def check(path: Path) -> None:
    """Raise an error if this picture cannot be drawn; called before any work is done."""
    columns.ending(path, ENDINGS)
    checked(path)
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
        above.set_title(short(title), loc="left", fontweight="bold", pad=22)
        above.annotate(subtitle, (0, 1), (0, 8), xycoords="axes fraction", textcoords="offset points", fontsize=9.5)
        profile(above, rows)
        directions = [row.direction for row in rows[1:]]
        drawing.bars(below, [row.first for row in rows[1:]], [row.seconds * 1e3 for row in rows[1:]], directions)
        below.set_ylabel("milliseconds")
        below.set_xlabel("hops from the source")


def scores(
    path: Path, name: str, values: Any, best: list[tuple[str, float, float, float]], title: str, subtitle: str
) -> None:
    """The distribution of the scores, and the highest of them: name, score, and the ends of its error bar."""
    with page(path, 11, min(max(5, len(best) / 4), 40)) as figure:  # a bar needs a quarter of an inch
        left, right = figure.subplots(1, 2, width_ratios=[3, 2])
        left.set_title(short(title), loc="left", fontweight="bold", pad=22)
        left.annotate(subtitle, (0, 1), (0, 8), xycoords="axes fraction", textcoords="offset points", fontsize=9.5)
        drawing.distribution(left, values, name)
        right.set_title("Highest", loc="left", fontweight="bold", pad=22)
        names, heights, *ends = zip(*best, strict=True) if best else ((), (), (), ())
        drawing.highest(right, names, heights, ends, name)


def profile(axes: Any, rows: list[Row]) -> None:
    """Bars of the vertices of each level; an empty last level is left out."""
    drawing.levels(axes, [row.first for row in rows], [row.vertices for row in rows], [row.direction for row in rows])


def network(axes: Any, places: Any, edges: Any, hops: Any, sizes: Any, names: dict[int, str]) -> None:
    """A small graph: vertices at `places`, coloured by hops, sized by `sizes`, and names for some of them.

    The most important names must come first: a name that would cover an earlier name is left out.
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
