"""`make report`: all measurements on one self-contained page with filters; every chart also as an SVG file.

    python -m benchmarks.report [--results benchmarks/results] [--out build/report]

writes OUT/index.html and OUT/figures/*.svg. The page loads nothing, so it can be sent as one file. `--results
build/bench-quick` shows what `make bench-quick` measured on this machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from benchmarks.pages import RESULTS
from benchmarks.papers.exhibits_page import NAMES
from benchmarks.report import charts, drawing
from benchmarks.report.charts import Chart, Row
from benchmarks.setting import ROOT

HERE = Path(__file__).parent
INTRODUCTION = (
    "Each row compares the numbers of one line of <code>benchmarks/results</code>, the newest run of each file, on a "
    "logarithmic axis. A circle was measured by us, a diamond is what a paper states, a bar is an aim. Papers measured "
    "on other GPUs, named in the filter <em>device</em>. Ratios are not drawn: the distance of two circles shows them."
)


class Names:
    """The values of one filter, numbered in order of appearance; "" has no number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, name: str) -> str:
        """The number of a name, as text."""
        return str(self.numbers.setdefault(name, len(self.numbers))) if name else ""


class Page:
    """The page, made in one pass over the charts."""

    def __init__(self, all_charts: list[Chart], without: Iterable[str] = ()) -> None:
        self.charts, self.without = all_charts, sorted(without)
        self.facets = {facet: Names() for facet in ("graph", "plan", "engine", "device")}

    def html(self) -> str:
        """The whole page."""
        sections = "\n".join(self.section(chart) for chart in self.charts)
        numbers = sum(len(row.points) for chart in self.charts for row in chart.rows)
        colours = "\n".join(
            f".{name} {{ --own: light-dark({light}, {dark}); fill: var(--own) }}"
            for name, (light, dark) in drawing.COLOURS.items()
        )
        links = "\n".join(self.links())
        names = ", ".join(f"{name}.jsonl" for name in self.without)
        rest = f"<p>Without a chart, since no column of theirs has a unit: {escape(names)}.</p>\n" if names else ""
        return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>hopwave: measurements</title>
<link rel="icon" href="data:,">
<style>
{(HERE / "report.css").read_text(encoding="utf-8")}{colours}
</style>
</head>
<body>
<a class="skip" href="#found">Skip to the charts</a>
<svg width="0" height="0" aria-hidden="true" style="position:absolute">{drawing.MARKS}</svg>
<h1>hopwave: measurements</h1>
<p>{INTRODUCTION} {numbers:,} numbers in {len(self.charts)} charts.</p>
<form aria-label="Filters">
{self.filters()}
<button type="reset">Show all</button>
<output aria-live="polite"></output>
<button type="button" id="theme">Light or dark</button>
</form>
<details id="charts" open><summary>Summary: charts by paper, and the others</summary><ul>
{links}
</ul></details>
<main id="found">
{sections}
{rest}</main>
<script>
{(HERE / "report.js").read_text(encoding="utf-8")}</script>
</body>
</html>
"""

    def links(self) -> Iterator[str]:
        """The summary: a list per paper, figure by figure, and one of all other charts."""
        groups: dict[str, list[Chart]] = {name: [] for name in NAMES.values()}
        for chart in self.charts:
            paper = chart.title.partition(",")[0] if chart.name.startswith("papers-") else "Other measurements"
            groups.setdefault(paper, []).append(chart)
        for group, charts_ in groups.items():
            if charts_:
                numbers = sum(len(row.points) for chart in charts_ for row in chart.rows)
                yield f"<li><b>{escape(group)}</b>: {len(charts_)} charts, {numbers:,} numbers<ul>"
                for chart in charts_:
                    title = chart.heading.removeprefix(f"{group}, ")
                    yield f'<li><a href="#{chart.key}">{escape(title)}</a> <small>{chart.unit}</small></li>'
                yield "</ul></li>"

    def filters(self) -> str:
        """A list of boxes per filter; the values of a filter are sorted by name."""
        lists = {facet: names.numbers for facet, names in self.facets.items()}
        kinds = dict.fromkeys(chart.kind for chart in self.charts)
        boxes = {facet: sorted(numbers.items(), key=lambda item: item[0].lower()) for facet, numbers in lists.items()}
        return "\n".join(
            _choices(facet, some) for facet, some in {**boxes, "measure": [(kind, kind) for kind in kinds]}.items()
        )

    def section(self, chart: Chart) -> str:
        """One chart."""
        axis = drawing.Axis.of(point.value for row in chart.rows for point in row.points)
        colour = drawing.colours(chart)
        rows = "\n".join(self.row(row, axis, colour) for row in chart.rows)
        kinds = {point.series: point.mark for row in chart.rows for point in row.points}
        legend = " ".join(f'<span class="{colour[one]} {kinds[one]}">{escape(one)}</span>' for one in chart.series)
        note = f"<p>{escape(chart.note)}</p>" if chart.note else ""
        key = chart.key
        return f"""<section class="chart" id="{key}" data-measure="{chart.kind}" aria-labelledby="{key}-title">
<h2 id="{key}-title">{escape(chart.heading)} <small>{chart.unit}</small></h2>
<p class="legend soft">{legend}</p>
<div class="plot"><svg class="grid" aria-hidden="true">{drawing.grid(axis)}</svg>
<ol>
{rows}
</ol></div>
<button type="button" hidden></button>
<details class="soft"><summary>How it was measured</summary>{note}
<p>{escape(chart.machine)}. From <code>{chart.name}.jsonl</code>.</p></details>
</section>"""

    def row(self, row: Row, axis: drawing.Axis, colour: dict[str, str]) -> str:
        """One row: its label, its strip, its numbers."""
        marks = "".join(drawing.mark(axis, point, colour[point.series]) for point in reversed(row.points))
        texts = []
        for point in row.points:
            numbers = [self.facets[facet].number(getattr(point, facet)) for facet in ("plan", "engine", "device")]
            texts.append(
                f'<span class="{colour[point.series]} {point.mark}" data-v="{point.value:.6g}" '
                f'data-a="{" ".join(numbers)}">{escape(point.series)} <b>{drawing.shown(point.value)}</b></span>'
            )
        return (
            f'<li class="row" data-g="{self.facets["graph"].number(row.graph)}">'
            f'<span class="l">{escape(row.label)}</span>'
            f'<svg class="s" aria-hidden="true">{drawing.span(axis, row.points)}{marks}</svg>'
            f'<span class="v">{" ".join(texts)}</span></li>'
        )


def _choices(facet: str, values: Iterable[tuple[str, object]]) -> str:
    boxes = "\n".join(
        f'<label><input type="checkbox" name="{facet}" value="{number}" data-name="{escape(name)}">'
        f"{escape(name)}</label>"
        for name, number in values
    )
    return f"""<details id="{facet}"><summary>{facet}</summary><fieldset><legend>{facet}</legend>
{boxes}
</fieldset></details>"""


def write(results: Path, out: Path) -> list[Chart]:
    """Write the page and the figures; returns the charts."""
    found = charts.read(results)
    if not any(chart.rows for chart in found):
        raise SystemExit(f"{results} has no .jsonl file with measurements; run make bench first")
    (out / "figures").mkdir(parents=True, exist_ok=True)
    without = {file.stem for file in results.glob("*.jsonl")} - {chart.name for chart in found}
    (out / "index.html").write_text(Page(found, without).html(), encoding="utf-8")
    for chart in found:
        (out / "figures" / f"{chart.key}.svg").write_text(
            drawing.picture(f"{chart.title} ({chart.unit})", [chart]), encoding="utf-8"
        )
    return found


def main() -> None:
    """Write the report, and print where it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "report")
    given = parser.parse_args()
    found = write(given.results, given.out)
    page = given.out / "index.html"
    print(
        f"{page}: {len(found)} charts, {page.stat().st_size / 1e6:.2f} MB; each chart also in {given.out / 'figures'}"
    )


if __name__ == "__main__":
    main()
