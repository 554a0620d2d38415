"""Dots on a logarithmic axis, one strip per row. These functions draw the page and the pictures of docs/.

Positions are in percent of a strip's width, so that one drawing fits every window. report.js computes them in the same
way when filters change the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from benchmarks.report.charts import Chart, Point
from hopwave.display.charts import Axis, shown

MARKS = (  # a circle for a measurement, a diamond for a paper's number, a bar for an aim
    '<defs><circle id="dot" r="5"/><path id="paper" d="M0-7 7 0 0 7-7 0z"/><path id="aim" d="M-1.5-9h3V9h-3z"/></defs>'
)
OF_PEERS = {  # colours that are the same in every chart
    "SciPy": "k1", "igraph": "k2", "python-graphblas": "k3", "NetworkX": "k4", "best GPU code": "k4",
    "GAP Benchmark Suite": "k1", "NetworKit": "k1", "rustworkx": "k5", "the papers": "k6", "an aim": "k7",
}  # fmt: skip
OF_HOPWAVE = ("k0", "k5", "k9", "k3", "k8", "k2")
COLOURS = {  # on a light and on a dark page
    "k0": ("#0b66c3", "#58a6ff"),
    "k1": ("#c76a00", "#f0a04b"),
    "k2": ("#2b8a53", "#56d08b"),
    "k3": ("#7a5cc0", "#a78bfa"),
    "k4": ("#c43d5b", "#f07a94"),
    "k5": ("#00808a", "#4cc9d2"),
    "k6": ("#b3267e", "#f078c0"),
    "k7": ("#55677a", "#9fb2c6"),
    "k8": ("#4a90d9", "#9ccaff"),
    "k9": ("#8a6d00", "#d8b740"),
}


def colours(chart: Chart) -> dict[str, str]:
    """A CSS class per series: that of its program, or the next one of hopwave's."""
    found: dict[str, str] = {}
    own = 0
    for point in (point for row in chart.rows for point in row.points):
        if point.series not in found:
            if point.engine in OF_PEERS:
                found[point.series] = OF_PEERS[point.engine]
            else:
                found[point.series] = OF_HOPWAVE[own % len(OF_HOPWAVE)]
                own += 1
    return found


def span(axis: Axis, points: Sequence[Point]) -> str:
    """The line from the least to the greatest point."""
    ends = [axis.place(point.value) for point in points if point.value > 0]
    return f'<line class="span" x1="{min(ends):.2f}%" x2="{max(ends):.2f}%" y1="50%" y2="50%"/>' if ends else ""


def mark(axis: Axis, point: Point, colour: str, inner: str = "") -> str:
    """One point. A zero has no place on the axis, and no mark."""
    where = f' x="{axis.place(point.value):.2f}%"' if point.value > 0 else ' style="display:none"'
    opened = f'<use href="#{point.mark}" class="{colour}"{where} y="50%"'
    return f"{opened}>{inner}</use>" if inner else f"{opened}/>"


def grid(axis: Axis) -> str:
    """Lines and numbers of the axis."""
    parts = []
    for tick in axis.ticks():
        x = f"{axis.place(tick):.2f}%"
        parts.append(f'<line x1="{x}" x2="{x}" y1="18" y2="100%"/><text x="{x}" y="12">{shown(tick)}</text>')
    return "".join(parts)


# ---------------------------------------------------------------- pictures

WIDTH, NAMES, LINE, TOP = 860, 250, 28, 56  # of a picture, in pixels
STYLE = """
  .page { fill: #fff } line { stroke: #d5dde6 } .span { stroke: #b4c1ce; stroke-width: 2 }
  text { font: 12px system-ui, sans-serif; fill: #1c2733 } .grid text { fill: #55677a; text-anchor: middle }
  .title { font-size: 14px; font-weight: 600 } LIGHT
  @media (prefers-color-scheme: dark) {
    .page { fill: #0f151c } line { stroke: #26323f } .span { stroke: #4a5a6b } text { fill: #e6edf5 }
    .grid text { fill: #9fb2c6 } DARK
  }
"""


def _style() -> str:
    light, dark = (" ".join(f".{name} {{ fill: {pair[which]} }}" for name, pair in COLOURS.items()) for which in (0, 1))
    return STYLE.replace("LIGHT", light).replace("DARK", dark)


def picture(title: str, panels: Sequence[Chart]) -> str:
    """An SVG file of some charts with the same unit on one axis. Self-contained; follows light and dark mode."""
    axis = Axis.of(point.value for chart in panels for row in chart.rows for point in row.points)
    colour = {series: name for chart in reversed(panels) for series, name in colours(chart).items()}
    height = TOP + sum(LINE * (len(chart.rows) + 1) + 8 for chart in panels) + 30
    strip = f'x="{NAMES}" width="{WIDTH - NAMES - 16}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}">',
        f"<style>{_style()}</style>{MARKS}",
        f'<rect class="page" width="{WIDTH}" height="{height}"/>',
        f'<text class="title" x="16" y="24">{escape(title)}</text>',
        *_legend({point.series: point for chart in panels for row in chart.rows for point in row.points}, colour),
        f'<svg class="grid" {strip} y="{TOP}" height="{height - TOP - 8}">{grid(axis)}</svg>',
    ]
    y = TOP + 8
    for chart in panels:
        y += LINE
        parts.append(f'<text class="title" x="16" y="{y + 8}">{escape(chart.title)}</text>')
        for row in chart.rows:
            y += LINE
            marks = ""
            for point in reversed(row.points):
                text = f"{row.label}: {point.series} {shown(point.value)} {chart.unit}"
                marks += mark(axis, point, colour[point.series], f"<title>{escape(text)}</title>")
            parts.append(f'<text x="24" y="{y + 4}">{escape(row.label)}</text>')
            parts.append(f'<svg {strip} y="{y - LINE // 2}" height="{LINE}">{span(axis, row.points)}{marks}</svg>')
        y += 8
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend(series: dict[str, Point], colour: dict[str, str]) -> list[str]:
    parts, x = [], 16.0
    for name, point in series.items():
        if x > WIDTH - 60:
            parts.append(f'<text x="{x:g}" y="46">…</text>')
            break
        parts.append(f'<use href="#{point.mark}" class="{colour[name]}" x="{x + 5:g}" y="42"/>')
        parts.append(f'<text x="{x + 16:g}" y="46">{escape(name)}</text>')
        x += 34 + 6.6 * len(name)
    return parts
