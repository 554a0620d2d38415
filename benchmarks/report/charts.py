"""Charts from the .jsonl files of benchmarks/results: the newest run of each file, as on its page.

A column whose name has a unit ("hopwave ms", "GPU µs per source", "gteps") is a series of the chart with that unit; one
file gives one chart per unit, and per `part` if its rows have one. Text and parameters make the label of a row. Ratios
of columns are left out, since the distance of two dots shows them. Other columns have no chart.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.papers.exhibits_page import MOST, NAMES
from benchmarks.report import facts
from benchmarks.setting import MACHINE, remarks

UNIT = re.compile(
    r"(?<![\w/'])(?P<unit>ms|s|µs|seconds|GTEPS|MTEPS|bytes|KB|MB|GB|words)(?P<per> (?:per|a) \w+)?(?![\w/]| over)"
    r"|(?P<error>\berror)$|^(?P<arcs>arcs), |, (?P<touched>touched)$",
    re.IGNORECASE,
)
SPELLED = {"seconds": "s", "gteps": "GTEPS", "mteps": "MTEPS", "touched": "arcs"}
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")  # a Markdown link, in a note
STEP = re.compile(r"ms in (?P<step>(?:push|pull)\(.*\))$")
KINDS = {
    "time": ("ms", "s", "µs"),
    "rate": ("GTEPS", "MTEPS"),
    "memory": ("bytes", "KB", "MB", "GB", "words"),
    "arcs": ("arcs",),
    "error": ("error",),
}


@dataclass(frozen=True)
class Point:
    """One number: who measured or stated it, with which plan, and where."""

    series: str
    value: float
    plan: str
    engine: str
    device: str
    mark: str  # "dot", "paper" or "aim"


@dataclass(frozen=True)
class Row:
    """One line of a chart: its points are compared with each other."""

    label: str
    graph: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Chart:
    """The rows of one file that have the same unit."""

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
    def heading(self) -> str:
        """The title, without the unit that tells charts of one file apart: it stands beside the heading."""
        return self.title.removesuffix(f", {self.unit}")

    @property
    def kind(self) -> str:
        """What is measured: a key of KINDS."""
        first = self.unit.partition(" ")[0]
        return next(kind for kind, units in KINDS.items() if first in units)

    @property
    def series(self) -> list[str]:
        """Names of the series in the order of their first points."""
        return list(dict.fromkeys(point.series for row in self.rows for point in row.points))


@dataclass(frozen=True)
class Run:
    """The newest run of one file."""

    name: str
    title: str
    where: dict[str, Any]
    note: str
    rows: list[dict[str, Any]]


def newest_runs(file: Path) -> list[Run]:
    """The newest run of a file. A paper's file has one for each of its tables and figures, in their order."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    if "number" not in lines[-1]:
        return [newest_run(file, lines)]
    shown = [line for line in lines if 0 < len(line["rows"]) <= MOST]  # a paper's own page draws its clouds of points
    return [
        Run(
            file.stem, f"{NAMES[one['paper']]}, {one['number']}: {one['title']}", one["where"], one["note"], one["rows"]
        )
        for one in shown
    ]


def newest_run(file: Path, lines: list[dict[str, Any]]) -> Run:
    """The last line if it holds all rows; else every line is one row or a few."""
    last, name = lines[-1], file.stem
    page = file.with_suffix(".md")
    title = last.get("title") or name
    if "title" not in last and page.exists():
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    where = last.get("where") or {key: last[key] for key in (*MACHINE, "machine", "cores") if key in last}
    whole = all("rows" in line for line in lines)
    rows = last["rows"] if whole else [row for line in lines for row in line.get("rows", [line])]
    about = remarks(row for row in rows if "name" in row or "graph" in row)
    note = LINK.sub(r"\1", " ".join(filter(None, [last.get("note"), *about])))
    if not whole:
        rows = [{key: row[key] for key in row if key not in {*where, "where"}} for row in rows]
    return Run(name, title, where, note, rows)


def flat(row: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
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


@cache
def unit_of(column: str, assumed: str = "") -> tuple[str, str]:
    """The unit of a column, or "", and the name of its series.

    >>> unit_of("GPU µs per source"), unit_of("best before, ms"), unit_of("× scipy")
    (('µs per source', 'GPU'), ('ms', 'best before'), ('', '× scipy'))
    """
    if step := STEP.match(column):
        return "ms in one step", step["step"]
    found = UNIT.search(column)
    if found is None:
        return assumed, column
    unit = found["unit"] or found["error"] or found["arcs"] or found["touched"]
    unit = SPELLED.get(unit.lower(), unit) + (found["per"] or "")
    rest = re.sub(r"\s+(,)?", r"\1 ", f"{column[: found.start()]} {column[found.end() :]}")
    return unit, rest.strip(" ,:").removesuffix(" in")


def points(run: Run, row: dict[str, Any]) -> Iterator[tuple[str, Point]]:
    """Each number of a row that has a unit, with that unit."""
    columns = dict(flat(row))
    for column, value in columns.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            continue
        if column in facts.PARAMETERS:
            continue
        unit, series = unit_of(column, facts.assumed_unit(run.name, run.title, column))
        if unit:
            unit = facts.SAME_UNIT.get((run.name, column), unit)
            source = facts.source_of(run.name, run.where, columns, series)
            name = source.name or "hopwave"
            yield unit, Point(name, float(value), source.plan, source.engine, source.device, source.mark)
    for unit, series, value, source in facts.stated(run.name, columns):
        yield unit, Point(series, value, source.plan, source.engine, source.device, source.mark)


def label(row: dict[str, Any]) -> str:
    """Text and parameters of a row, but not how its numbers were made."""
    parts = [row["name"]] if isinstance(row.get("name"), str) and "graph" not in row else []
    for key, value in row.items():
        if key in facts.PARAMETERS and value is not None:
            parts.append(f"{key} {value:,}" if isinstance(value, int | float) else f"{key} {value}")
        elif isinstance(value, str) and key not in facts.NOT_IN_LABELS:
            parts.append(value)
    return ", ".join(dict.fromkeys(parts)) or "one run"


def charts_of(file: Path, known: Collection[str] = ()) -> list[Chart]:
    """The charts of one file. known: names of graphs, to find them in longer texts."""
    return [chart for run in newest_runs(file) for chart in charts_of_run(run, known)]


def charts_of_run(run: Run, known: Collection[str] = ()) -> list[Chart]:
    """The charts of one run: one per part and unit."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in run.rows:
        by_unit: dict[str, list[Point]] = {}
        for unit, point in points(run, row):
            by_unit.setdefault(unit, []).append(point)
        part = "" if run.name.startswith("papers-") else str(row.get("part") or row.get("table") or "")
        graph = graph_of(row, run.title, known)
        for unit, some in by_unit.items():
            rows = found.setdefault((part, unit), [])
            name = label(row)
            if "method" in row and rows and rows[-1].label == name:  # methods of one question share a line
                rows[-1] = Row(name, graph, (*rows[-1].points, *some))
            else:
                rows.append(Row(name, graph, tuple(some)))
    machine = ", ".join(f"{key} {value}" for key, value in run.where.items())
    made = []
    for (part, unit), rows in found.items():
        title = f"{run.title}: {facts.PARTS.get(part, part)}" if part else run.title
        made.append(Chart(run.name, title, unit, machine, run.note, tuple(rows)))
    parts = list(dict.fromkeys(chart.title for chart in made))  # charts of a part stay together, the fullest first
    return sorted(made, key=lambda chart: (parts.index(chart.title), -sum(len(row.points) for row in chart.rows)))


def plain_graph(text: str) -> str:
    """The name of a graph without its size.

    >>> plain_graph("email-Enron (36,692 vertices, 367,662 arcs)")
    'email-Enron'
    """
    return text.partition(" (")[0]


def graph_of(row: dict[str, Any], title: str, known: Collection[str]) -> str:
    """The graph of a row: from its column, from the scale of a Kronecker graph, or named in its text or title."""
    if isinstance(named := row.get("graph", row.get("name")), str):
        return plain_graph(named)
    if isinstance(row.get("scale"), int):
        return f"kron{row['scale']}"
    if kron := re.search(r"\bkron (\d+)\b", title):
        return f"kron{kron[1]}"
    words = re.findall(r"[\w.-]+", " ".join(value for value in row.values() if isinstance(value, str)))
    return next((word for word in words if word in known), "")


def read(folder: Path) -> list[Chart]:
    """All charts of a folder: those of facts.FIRST, then the others by their files' names; no two have one title."""
    place = {name: number for number, name in enumerate(facts.FIRST)}
    files = [file for file in folder.glob("*.jsonl") if file.stem not in facts.NO_MEASUREMENTS]
    files.sort(key=lambda file: (place.get(file.stem, len(place)), file.stem))
    rows = [row for file in files for run in newest_runs(file) for row in run.rows]
    known = {plain_graph(row["graph"]) for row in rows if isinstance(row.get("graph"), str)}
    found = [chart for file in files for chart in charts_of(file, known)]
    for more in ("unit", "name"):  # two units of one file, or two files with one title
        often = Counter(chart.title for chart in found)
        found = [
            replace(one, title=f"{one.title}, {getattr(one, more)}") if often[one.title] > 1 else one for one in found
        ]
    return found
