"""`make report`: all measurements on one self-contained page with a filter; every chart also as an SVG file.

    python -m benchmarks.report [--results benchmarks/results] [--out build/report]

writes OUT/index.html and OUT/figures/*.svg. The page loads nothing, so it can be sent as one file. `--results
build/bench-quick` shows what `make bench-quick` measured on this machine.

A column whose name has a unit ("hopwave ms", "GPU µs per source", "GTEPS") is a series of the chart with that unit; a
record gives one chart per unit. Text and parameters make the label of a row. Ratios are not drawn, since the distance
of two marks shows them. Other columns have no chart. Positions are in percent of a strip's width, so that one drawing
fits every window.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.pages import MOST, PAPERS, RESULTS, ROOT, Record, every_line, where
from hopwave.display.charts import Axis, shown

UNIT = re.compile(
    r"(?<![\w/'])(?P<unit>ms|s|µs|seconds|GTEPS|MTEPS|bytes|KB|MB|GB|words)(?P<per> (?:per|a) \w+)?(?![\w/]| over)"
    r"|(?P<error>\berror)$|^(?P<arcs>arcs), |, (?P<touched>touched)$",
    re.IGNORECASE,
)
SPELLED = {"seconds": "s", "gteps": "GTEPS", "mteps": "MTEPS", "touched": "arcs"}
PARAMETERS = {  # numbers that belong to the label of a row
    *("threads", "threads per rank", "ranks", "scale", "edge factor", "entries", "epsilon", "edges", "sources", "k"),
    *("layout", "millions", "share", "top"),
}
NOT_IN_LABELS = {"code", "remark", "verified", "transport", "first search", "searches valid", "its method", "plan"}
COLOURS = {  # on a light and on a dark page
    "k0": ("#0b66c3", "#58a6ff"), "k1": ("#c76a00", "#f0a04b"), "k2": ("#2b8a53", "#56d08b"),
    "k3": ("#7a5cc0", "#a78bfa"), "k4": ("#c43d5b", "#f07a94"), "k5": ("#00808a", "#4cc9d2"),
    "k6": ("#b3267e", "#f078c0"), "k7": ("#55677a", "#9fb2c6"), "k8": ("#4a90d9", "#9ccaff"),
    "k9": ("#8a6d00", "#d8b740"),
}  # fmt: skip
OF_PROGRAMS = {  # colours that are the same in every chart; a name must begin with the word
    "hopwave": "k0", "SciPy": "k1", "GAPBS": "k1", "igraph": "k2", "python-graphblas": "k3", "NetworkX": "k4",
    "best GPU code": "k4", "rustworkx": "k5", "CPU engine": "k8", "paper": "k6", "aim": "k7",
}  # fmt: skip
MARKS = (  # a circle for a measurement, a diamond for a paper's number, a bar for an aim
    '<defs><circle id="dot" r="5"/><path id="paper" d="M0-7 7 0 0 7-7 0z"/><path id="aim" d="M-1.5-9h3V9h-3z"/></defs>'
)
INTRODUCTION = (
    "Each row compares the numbers of one row of <code>benchmarks/results</code> on a logarithmic axis. A circle was "
    "measured by us, a diamond is what a paper states on its own machine, a bar is an aim."
)


@dataclass(frozen=True)
class Row:
    """One line of a chart: its label, and its numbers by series."""

    label: str
    points: dict[str, float]


@dataclass(frozen=True)
class Chart:
    """The rows of one record that have the same unit."""

    name: str
    title: str
    unit: str
    machine: str
    note: str
    rows: tuple[Row, ...]

    @property
    def key(self) -> str:
        """A name for links and files."""
        return re.sub(r"[^\w]+", "-", f"{self.name}-{self.title}-{self.unit}".lower()).strip("-")

    @property
    def series(self) -> list[str]:
        """Names of the series in the order of their first numbers."""
        return list(dict.fromkeys(series for row in self.rows for series in row.points))

    @property
    def colours(self) -> dict[str, str]:
        """A CSS class per series: that of its program, or the next one."""
        rest = iter(list(COLOURS)[5:] * len(self.series))
        named = {one: next((k for word, k in OF_PROGRAMS.items() if one.startswith(word)), "") for one in self.series}
        return {one: colour or next(rest) for one, colour in named.items()}


def mark_of(series: str) -> str:
    """The mark of a series."""
    return next((mark for mark in ("paper", "aim") if mark in re.findall(r"\w+", series.lower())), "dot")


# ---------------------------------------------------------------- charts


@cache
def unit_of(column: str) -> tuple[str, str]:
    """The unit of a column, or "", and the name of its series.

    >>> unit_of("GPU µs per source"), unit_of("best before, ms"), unit_of("times SciPy")
    (('µs per source', 'GPU'), ('ms', 'best before'), ('', 'times SciPy'))
    """
    found = UNIT.search(column)
    if found is None:
        return "", column
    unit = found["unit"] or found["error"] or found["arcs"] or found["touched"]
    unit = SPELLED.get(unit.lower(), unit) + (found["per"] or "")
    rest = re.sub(r"\s+(,)?", r"\1 ", f"{column[: found.start()]} {column[found.end() :]}")
    return unit, rest.strip(" ,:").removesuffix(" in") or "hopwave"


def flat(row: Record, before: str = "") -> Iterator[tuple[str, Any]]:
    """Columns of a row; columns of a nested row have both names.

    >>> dict(flat({"a": {"ms": 1, "plan": "xbfs"}, "b_s": 2}))
    {'a ms': 1, 'a plan': 'xbfs', 'b s': 2}
    """
    for key, value in row.items():
        name = f"{before} {key}".strip().replace("_", " ")
        if isinstance(value, dict):
            yield from flat(value, name)
        else:
            yield name, value


def label(row: Record) -> str:
    """Text and parameters of a row."""
    parts = []
    for key, value in row.items():
        if key in PARAMETERS and value is not None:
            parts.append(f"{key} {value:,}" if isinstance(value, int | float) else f"{key} {value}")
        elif isinstance(value, str) and key not in NOT_IN_LABELS:
            parts.append(value)
    return ", ".join(dict.fromkeys(parts)) or "one run"


def charts_of(record: Record) -> list[Chart]:
    """The charts of one record, one per unit; the fullest first."""
    found: dict[str, list[Row]] = {}
    for row in record["rows"]:
        by_unit: dict[str, dict[str, float]] = {}
        for column, value in flat(row):
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            unit, series = unit_of(column)
            if number and unit and column not in PARAMETERS:
                by_unit.setdefault(unit, {})[series] = float(value)
        for unit, points in by_unit.items():
            found.setdefault(unit, []).append(Row(label(row), points))
    title = (
        f"{PAPERS[record['paper']]}, {record['number']}: {record['title']}" if "paper" in record else record["title"]
    )
    name, about = record["benchmark"], where(record)
    made = [Chart(name, title, unit, about, record["note"], tuple(rows)) for unit, rows in found.items()]
    return sorted(made, key=lambda chart: -sum(len(row.points) for row in chart.rows))


def read(folder: Path) -> list[Chart]:
    """All charts of a folder; a paper's clouds of points are only on its own page."""
    records = [record for record in every_line(folder) if record["benchmark"] not in ("sanitizer", "scaling")]
    shown = [record for record in records if "paper" not in record or len(record["rows"]) <= MOST]
    return [chart for record in shown for chart in charts_of(record)]


# ---------------------------------------------------------------- drawings


def span(axis: Axis, points: dict[str, float]) -> str:
    """The line from the least to the greatest point."""
    ends = [axis.place(value) for value in points.values() if value > 0]
    return f'<line class="span" x1="{min(ends):.2f}%" x2="{max(ends):.2f}%" y1="50%" y2="50%"/>' if ends else ""


def marks(axis: Axis, row: Row, colour: dict[str, str], unit: str = "") -> str:
    """The points of a row, with titles if there is a unit. A zero has no place on the axis, and no mark."""
    text = ""
    for series, value in reversed(row.points.items()):
        placed = f' x="{axis.place(value):.2f}%"' if value > 0 else ' style="display:none"'
        title = f"<title>{escape(f'{row.label}: {series} {shown(value)} {unit}')}</title>" if unit else ""
        text += f'<use href="#{mark_of(series)}" class="{colour[series]}"{placed} y="50%">{title}</use>'
    return text


def grid(axis: Axis) -> str:
    """Lines and numbers of the axis."""
    parts = []
    for tick in axis.ticks():
        x = f"{axis.place(tick):.2f}%"
        parts.append(f'<line x1="{x}" x2="{x}" y1="18" y2="100%"/><text x="{x}" y="12">{shown(tick)}</text>')
    return "".join(parts)


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


def picture(title: str, panels: Sequence[Chart], width: int = WIDTH) -> str:
    """An SVG file of some charts with the same unit on one axis. Self-contained; follows light and dark mode.

    In a narrow picture, names are above their rows.
    """
    axis = Axis.of(value for chart in panels for row in chart.rows for value in row.points.values())
    colour = {series: name for chart in reversed(panels) for series, name in chart.colours.items()}
    names, line, up = (NAMES, LINE, -4) if width >= WIDTH else (16, 2 * LINE - 12, 15)
    legend, top = _legend(colour, width)
    height = top + sum(line * (len(chart.rows) + 1) + 8 for chart in panels) + 30
    strip = f'x="{names}" width="{width - names - 16}"'
    light, dark = (" ".join(f".{name} {{ fill: {pair[which]} }}" for name, pair in COLOURS.items()) for which in (0, 1))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}">',
        f"<style>{STYLE.replace('LIGHT', light).replace('DARK', dark)}</style>{MARKS}",
        f'<rect class="page" width="{width}" height="{height}"/>',
        f'<text class="title" x="16" y="24">{escape(title)}</text>',
        *legend,
        f'<svg class="grid" {strip} y="{top}" height="{height - top - 8}">{grid(axis)}</svg>',
    ]
    y = top + 8
    for chart in panels:
        y += line
        parts.append(f'<text class="title" x="16" y="{y + 8}">{escape(chart.title)}</text>')
        for row in chart.rows:
            y += line
            drawn = span(axis, row.points) + marks(axis, row, colour, chart.unit)
            parts.append(f'<text x="24" y="{y - up}">{escape(row.label)}</text>')
            parts.append(f'<svg {strip} y="{y - LINE // 2}" height="{LINE}">{drawn}</svg>')
        y += 8
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend(colour: dict[str, str], width: int) -> tuple[list[str], int]:
    """The names of the series in lines, and where the chart below begins."""
    parts, x, top = [], 16.0, TOP
    for name, kind in colour.items():
        if x + 16 + 6.6 * len(name) > width:
            x, top = 16.0, top + 20
        parts.append(f'<use href="#{mark_of(name)}" class="{kind}" x="{x + 5:g}" y="{top + 42 - TOP}"/>')
        parts.append(f'<text x="{x + 16:g}" y="{top + 46 - TOP}">{escape(name)}</text>')
        x += 34 + 6.6 * len(name)
    return parts, top


# ---------------------------------------------------------------- the page


def section(chart: Chart) -> str:
    """One chart on the page."""
    axis, colour = Axis.of(value for row in chart.rows for value in row.points.values()), chart.colours
    rows = "\n".join(
        f'<li class="row"><span class="l">{escape(row.label)}</span>'
        f'<svg class="s" aria-hidden="true">{span(axis, row.points)}{marks(axis, row, colour)}</svg><span class="v">'
        + " ".join(f'<span class="{colour[one]} {mark_of(one)}">{escape(one)} <b>{shown(value)}</b></span>'
                   for one, value in row.points.items())
        + "</span></li>"
        for row in chart.rows
    )  # fmt: skip
    legend = " ".join(f'<span class="{colour[one]} {mark_of(one)}">{escape(one)}</span>' for one in chart.series)
    note = f"<p>{escape(chart.note)}</p>" if chart.note else ""
    return f"""<section class="chart" id="{chart.key}" aria-labelledby="{chart.key}-title">
<h2 id="{chart.key}-title">{escape(chart.title)} <small>{chart.unit}</small></h2>
<p class="legend soft">{legend}</p>
<div class="plot"><svg class="grid" aria-hidden="true">{grid(axis)}</svg>
<ol>
{rows}
</ol></div>
<details class="soft"><summary>How it was measured</summary>{note}
<p>{escape(chart.machine)}. {chart.name}.</p></details>
</section>"""


def page(charts: list[Chart]) -> str:
    """The whole page."""
    numbers = sum(len(row.points) for chart in charts for row in chart.rows)
    colours = "\n".join(
        f".{name} {{ --own: light-dark({light}, {dark}); fill: var(--own) }}" for name, (light, dark) in COLOURS.items()
    )
    links = "\n".join(f'<li><a href="#{one.key}">{escape(one.title)}</a> ({one.unit})</li>' for one in charts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>hopwave: measurements</title>
<link rel="icon" href="data:,">
<style>
{(ROOT / "benchmarks/templates/report.css").read_text(encoding="utf-8")}{colours}
</style>
</head>
<body>
<a class="skip" href="#found">Skip to the charts</a>
<svg width="0" height="0" aria-hidden="true" style="position:absolute">{MARKS}</svg>
<h1>hopwave: measurements</h1>
<p>{INTRODUCTION} {numbers:,} numbers in {len(charts)} charts.</p>
<form><label>Show rows with <input type="search" placeholder="kron18, igraph, betweenness …"></label>
<output aria-live="polite"></output></form>
<details id="charts"><summary>All charts</summary><ul>
{links}
</ul></details>
<main id="found">
{chr(10).join(map(section, charts))}
</main>
<script>
{(ROOT / "benchmarks/templates/report.js").read_text(encoding="utf-8")}</script>
</body>
</html>
"""


def write(results: Path, out: Path) -> list[Chart]:
    """Write the page and the figures; returns the charts."""
    found = read(results)
    if not found:
        raise SystemExit(f"{results} has no .jsonl file with measurements; run make bench first")
    (out / "figures").mkdir(parents=True, exist_ok=True)
    (out / "index.html").write_text(page(found), encoding="utf-8")
    for chart in found:
        text = picture(f"{chart.title} ({chart.unit})", [chart])
        (out / "figures" / f"{chart.key}.svg").write_text(text, encoding="utf-8")
    return found


def main() -> None:
    """Write the report, and print where it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "report")
    given = parser.parse_args()
    found, file = write(given.results, given.out), given.out / "index.html"
    print(json.dumps({"page": str(file), "charts": len(found), "MB": round(file.stat().st_size / 1e6, 2)}))


if __name__ == "__main__":
    main()
