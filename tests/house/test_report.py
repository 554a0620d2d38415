"""The report has every measurement, loads nothing, and gives the source of each number. No browser is needed."""

from __future__ import annotations

import doctest
import json
import math
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from benchmarks.pages import RESULTS
from benchmarks.report import __main__ as report
from benchmarks.report import charts, facts

from hopwave.display.charts import EDGE, Axis

TIMES = re.compile(r"(^|\s)(ms|s|µs)$")  # columns whose unit is clear


class Reader(HTMLParser):
    """Tags with their attributes, and the numbers of each file."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.numbers: dict[str, set[str]] = {}
        self.waiting: set[str] = set()
        self.name_follows = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if value := found.get("data-v"):
            self.waiting.add(value)
        self.name_follows = tag == "code"

    def handle_data(self, data: str) -> None:
        if self.name_follows and data.endswith(".jsonl"):  # the file is named below its chart
            self.numbers.setdefault(data.removesuffix(".jsonl"), set()).update(self.waiting)
            self.waiting = set()


@cache
def all_charts() -> list[charts.Chart]:
    return charts.read(RESULTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    report.write(RESULTS, out)
    return out


@pytest.fixture(scope="module")
def page(folder: Path) -> Reader:
    return Reader((folder / "index.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", sorted(RESULTS.glob("*.jsonl")), ids=lambda file: file.stem)
def test_every_measured_time_is_in_the_page(page: Reader, file: Path) -> None:
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    rows = lines[-1].get("rows", lines)
    times = [
        f"{value:.6g}"
        for row in rows
        for key, value in charts.flat(row)
        if TIMES.search(key) and isinstance(value, float) and math.isfinite(value)
    ]
    assert set(times) <= page.numbers.get(file.stem, set())


def test_nearly_every_file_gives_a_chart(page: Reader) -> None:
    assert len(page.numbers) >= 40


def test_the_page_is_small_and_loads_nothing(folder: Path, page: Reader) -> None:
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 3_000_000
    assert not [tag for tag, _ in page.tags if tag in ("img", "iframe", "object", "embed", "base")]
    targets = [value for _, found in page.tags for key, value in found.items() if key in ("src", "href", "srcset")]
    assert all(value is not None and value.startswith(("#", "data:")) for value in targets)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(|WebSocket", text)


def test_the_page_can_be_used_without_a_mouse_or_a_screen(page: Reader) -> None:
    assert ("html", {"lang": "en"}) in page.tags
    keys = [found["id"] for _, found in page.tags if "id" in found]
    assert len(keys) == len(set(keys))
    sections = [found for tag, found in page.tags if tag == "section"]
    assert sections and all(found["aria-labelledby"] in keys for found in sections)
    drawings = [found for tag, found in page.tags if tag == "svg"]
    assert all(found.get("aria-hidden") == "true" for found in drawings), "numbers are also there as text"
    names = {found["name"] for tag, found in page.tags if tag == "input"}
    assert names == {"graph", "plan", "engine", "device", "measure"}
    inside = {found["href"] for tag, found in page.tags if tag == "a"}
    assert inside <= {f"#{key}" for key in keys}


def test_every_figure_is_a_picture_with_every_point(folder: Path) -> None:
    found = all_charts()
    assert len({chart.key for chart in found}) == len(found)
    for chart in found:
        root = ElementTree.parse(folder / "figures" / f"{chart.key}.svg").getroot()
        titles = [element for element in root.iter() if element.tag.endswith("title")]
        assert len(titles) == sum(len(row.points) for row in chart.rows), chart.key


def points(name: str, graph: str, unit: str, plan: str | None = None) -> Iterator[charts.Point]:
    for chart in all_charts():
        for row in chart.rows if (chart.name, chart.unit) == (name, unit) else ():
            if row.graph == graph and plan in (None, row.points[0].plan):
                yield from row.points


def test_papers_are_marks_beside_our_numbers() -> None:
    (one,) = [point for point in points("gpu-search", "kron21e44", "GTEPS", "pushpull") if point.mark == "paper"]
    assert (one.value, one.device) == (42.44, facts.K40)  # its Table 2
    some = [point for point in points("gpu-search", "email-Enron", "GTEPS", "turbobfs-bu-sc") if point.mark == "paper"]
    assert [point.value for point in some] == [0.613]  # TurboBFS, Table I


@pytest.mark.parametrize(
    ("name", "column", "expected"),
    [
        ("cpu-search", "scipy ms", ("SciPy", "2 Arm cores", "", "dot")),
        ("cpu-search", "hopwave ms", ("hopwave, CPU", "2 Arm cores", "auto", "dot")),
        ("gpu-many", "GPU µs per source", ("hopwave, GPU", "NVIDIA H200", "auto", "dot")),
        ("gpu-many", "CPU µs per source", ("hopwave, CPU", "2 Arm cores", "auto", "dot")),
        ("gpu-sssp", "SciPy ms", ("SciPy", "2 Arm cores", "", "dot")),
        ("gpu-ranks", "NetworkX's rule ms", ("hopwave, GPU", "NVIDIA H200", "auto", "dot")),
        ("gpu-betweenness", "TurboBC's paper, s", ("the papers", facts.TITAN, "", "paper")),
        ("gpu-sssp", "aim ms", ("an aim", "NVIDIA H200", "", "aim")),
        ("plans-checked", "arcs, 4 ranks", ("hopwave, ranks", "2 Arm cores", "auto", "dot")),
        ("plans-checked", "arcs, cuda", ("hopwave, GPU", "NVIDIA H200", "auto", "dot")),
        ("linalg-search-cuda", "plan pushpull ms", ("hopwave, GPU", "NVIDIA H200", "pushpull", "dot")),
    ],
)
def test_a_column_says_who_measured_where(name: str, column: str, expected: tuple[str, ...]) -> None:
    where: dict[str, Any] = {"machine": "aarch64", "cores": 2}
    where |= {"gpu": "NVIDIA H200"} if name.startswith(("gpu", "plans-checked")) else {}
    unit, series = charts.unit_of(column)
    source = facts.source_of(name, where, {}, series)
    assert unit and (source.engine, source.device, source.plan, source.mark) == expected


@pytest.mark.parametrize("column", ["× scipy", "times faster", "hopwave / GAPBS", "arcs", "n", "words over 7n + m"])
def test_ratios_and_sizes_are_not_drawn(column: str) -> None:
    assert charts.unit_of(column)[0] == ""


@pytest.mark.parametrize("values", [[3.0], [1.0, 1.01], [0.2, 7.0], [1e-7, 3.0, 2e9], [5.0, 0.0, 40.0], [0.0]])
def test_the_axis_holds_its_values_and_has_ticks(values: list[float]) -> None:
    axis = Axis.of(values)
    places = [axis.place(value) for value in sorted(values) if value]
    assert places == sorted(places) and all(EDGE - 1e-9 <= place <= 100 for place in places)
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 8 and all(axis.first <= tick <= axis.last * (1 + 1e-12) for tick in ticks)


def test_a_new_benchmark_needs_no_entry(tmp_path: Path) -> None:
    row = {"graph": "a<b", "plan": "xbfs", "hopwave ms": 2.0, "Gunrock ms": 0.0, "paper's MTEPS": 70, "note": None}
    record = {"benchmark": "new", "title": "A & B", "where": {"gpu": "NVIDIA H200"}, "rows": [row], "note": ""}
    (tmp_path / "new.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    bare = {"title": "No unit", "where": {}, "rows": [{"graph": "grid", "share": 0.5}]}
    (tmp_path / "bare.jsonl").write_text(json.dumps(bare) + "\n", encoding="utf-8")
    time, rate = report.write(tmp_path, tmp_path / "out")
    assert [(point.engine, point.plan, point.value) for point in time.rows[0].points] == [
        ("hopwave, GPU", "xbfs", 2.0),
        ("Gunrock", "", 0.0),
    ]
    assert rate.kind == "rate" and rate.rows[0].points[0].mark == "paper"
    text = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "a&lt;b" in text and "a<b" not in text and "A &amp; B" in text
    assert "no column of theirs has a unit: bare.jsonl." in text


@pytest.mark.parametrize("module", [charts, facts], ids=lambda module: module.__name__)
def test_examples_in_docstrings(module: Any) -> None:
    failed, tried = doctest.testmod(module)
    assert tried and not failed


def test_a_folder_without_measurements_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"has no \.jsonl file with measurements; run make bench first"):
        report.write(tmp_path, tmp_path / "out")
