"""Measure one paper, every study once; write its lines, and its page: one self-contained HTML file."""

import json
import platform
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

import hopwave as hw
from hopwave.display import charts
from hopwave.display import html as tables
from hopwave.papers.lab import Effort, Lab
from hopwave.papers.records import Drawing, Exhibit, Outcome, Paper, Row, slug
from hopwave.system.files import replacing

PAGE = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
COVERAGE = Path(__file__).parents[3] / "docs" / "papers.md"  # in a copy of the repository


def html(outcome: Outcome) -> str:
    """The page: measured exhibits first, in the paper's order."""
    paper, where = outcome.paper, outcome.where
    order = sorted(paper.exhibits, key=lambda one: not one.measured(outcome.found))
    links = "".join(
        f'<li><a href="#{slug(one.number)}">{escape(one.number)}</a> {escape(one.caption)}'
        f"{'' if one.measured(outcome.found) else ' (not measured here)'}</li>"
        for one in order
    )
    sections = "\n".join(section(paper.key, one, one.rows(outcome.found)) for one in order)
    quick = " With --quick: small graphs, one of each kind; do not compare its times." if outcome.quick else ""
    cpu = " Times of a CPU cannot be compared with the paper's GPU." if where["device"] == "cpu" else ""
    texts = {"key": paper.key, "title": paper.title, "authors": paper.authors, "theirs": paper.machine,
             "missing": "" if where.get("finished", True) else "The run has not finished: rows are missing. ",
             "method": paper.method, "seconds": round(outcome.seconds), **where, **outcome.summary()}  # fmt: skip
    escaped = {name.replace(" ", "_").replace("-", "_"): escape(str(text)) for name, text in texts.items()}
    return PAGE.substitute(escaped | {"quick": quick, "cpu": cpu, "links": links, "sections": sections})


def section(key: str, one: Exhibit, rows: list[Row]) -> str:
    """A table or figure, with the command that measures it and its row of docs/papers.md."""
    note = f'<p class="soft">{escape(one.note)}</p>' if one.note else ""
    drawn = "".join(f"<figure>{figure(drawing, rows)}</figure>" for drawing in one.drawings)
    listed = f'<div class="wide">{table(one, rows)}</div>' if rows and one.listed else ""
    command = f'<code>hopwave paper {key} --only "{escape(one.number)}"</code>'
    place = f"docs/papers.md#{slug(key, one.number)}"
    covered = f'<a href="{COVERAGE.as_uri()}#{slug(key, one.number)}">{place}</a>' if COVERAGE.exists() else place
    return (
        f'<section><h2 id="{slug(one.number)}">{escape(one.number)}. {escape(one.caption)}</h2>'
        f'<p class="soft">{command} · {covered}</p>{drawn}{listed}{note}</section>'
    )


def table(one: Exhibit, rows: list[Row]) -> str:
    """The rows, without empty columns; "" if only names of graphs remain."""
    columns = [column for column in one.columns or rows[0] if any(row.get(column) is not None for row in rows)]
    if one.drawings and columns in (["graph"], ["graph", "from"]):
        return ""
    return tables.table("", ([cell(row.get(column)) for column in columns] for row in rows), columns)


def cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return charts.shown(value) if value >= 0 else f"−{charts.shown(-value)}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def figure(drawing: Drawing, rows: list[Row]) -> str:
    """A figure in the paper's form; a sentence if there is nothing to draw."""
    rows = [row for row in rows if any(_number(row.get(name)) is not None for name in drawing.series)]
    if not rows:
        return '<p class="soft">This figure was not measured on this device.</p>'
    if drawing.form in ("bars", "stacked"):
        names = [str(row[drawing.x]) for row in rows]
        heights = {name: [_number(row.get(name)) for row in rows] for name in drawing.series}
        heights = {name: values for name, values in heights.items() if any(values)}
        return charts.bars(names, heights, drawing.unit, drawing.log[1], drawing.form == "stacked")
    series: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        for name in drawing.series:
            at, value = _number(row.get(drawing.x)), _number(row.get(name))
            if at is not None and value is not None:
                series.setdefault(str(row[drawing.by]) if drawing.by else name, []).append((at, value))
    return charts.lines(series, drawing.x, drawing.unit, drawing.log, drawing.form == "lines")


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


# ---------------------------------------------------------------- measuring


def measure(
    paper: Paper, device: str, quick: bool, say: Callable[[str], None], seconds: float = 0.0, out: Path | None = None
) -> Outcome:
    """Run every study that the paper's exhibits show. Rows are written to the folder `out` one by one."""
    lab, began = Lab(device, quick, say, seconds), time.perf_counter()
    where = machine(device, quick, lab.effort)
    shown = [one for one in paper.exhibits if one.study]
    if all(one.only is not None and one.only[0] == "table" for one in shown):
        lab.tables = frozenset(one.only[1] for one in shown if one.only is not None)
    lab.studies = paper.studies

    def so_far(**more: bool) -> Outcome:
        return Outcome(paper, quick, where | more, lab.results, time.perf_counter() - began, tuple(lab.wrong))

    if out is not None:
        lab.keep = lambda: write(so_far(finished=False), out)
    for study in paper.studies:
        if study in {one.study for one in shown}:
            lab.rows(study)
    return so_far()


def only(paper: Paper, number: str) -> Paper:
    """The paper with only the tables and figures of this number; "Figure 5" includes 5(a) and 5(b)."""
    asked = number.lower()
    chosen = tuple(one for one in paper.exhibits if asked in (one.number.lower(), one.number.lower().partition("(")[0]))
    return replace(paper, exhibits=chosen, part=number)


def machine(device: str, quick: bool, effort: Effort) -> dict[str, Any]:
    model = next((one.model for one in hw.devices() if one.kind == device), device)
    cores = next((one.cores for one in hw.devices() if one.kind == "cpu"), None)
    return {
        "device": device, "model": model, "cores": cores, "machine": platform.machine(),
        "date": date.today().isoformat(), "python": platform.python_version(), "numpy": np.__version__,
        "hopwave": hw.__version__, "quick": quick, "trials": effort.trials, "or seconds": effort.seconds,
    }  # fmt: skip


def write(outcome: Outcome, folder: Path) -> tuple[Path, Path]:
    """Write the page and the lines; returns both files."""
    folder.mkdir(parents=True, exist_ok=True)
    name = slug(outcome.paper.key, outcome.paper.part)
    files = folder / f"{name}.html", folder / f"{name}.jsonl"
    texts = html(outcome), "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in outcome.lines())
    for file, text in zip(files, texts, strict=True):
        with replacing(file) as stream:
            stream.write(text.encode())
    return files
