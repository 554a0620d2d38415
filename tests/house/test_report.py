"""The report has every measurement, loads nothing, and gives the source of each number. No browser is needed."""

import json
import math
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from benchmarks import pages, report
from benchmarks.pages import RESULTS

TIMES = re.compile(r"(^|\s)(ms|s|µs)$")  # columns whose unit is clear


class Reader(HTMLParser):
    """Tags with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@cache
def all_charts() -> list[report.Chart]:
    return report.read(RESULTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    report.write(RESULTS, out)
    return out


@pytest.fixture(scope="module")
def page(folder: Path) -> Reader:
    return Reader((folder / "index.html").read_text(encoding="utf-8"))


def test_every_measured_time_is_in_a_chart() -> None:
    drawn = {(chart.name, value) for chart in all_charts() for row in chart.rows for value in row.points.values()}
    for record in pages.every_line():
        if record["benchmark"] in ("sanitizer", "scaling") or len(record["rows"]) > pages.MOST:
            continue
        columns = [column for row in record["rows"] for column in report.flat(row)]
        times = {
            value for key, value in columns if TIMES.search(key) and isinstance(value, float) and math.isfinite(value)
        }
        assert {(record["benchmark"], value) for value in times} <= drawn, record["benchmark"]


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
    inside = {found["href"] for tag, found in page.tags if tag == "a"}
    assert inside <= {f"#{key}" for key in keys}


def test_every_figure_is_a_picture_with_every_point(folder: Path) -> None:
    found = all_charts()
    assert len({chart.key for chart in found}) == len(found)
    for chart in found:
        root = ElementTree.parse(folder / "figures" / f"{chart.key}.svg").getroot()
        titles = [element for element in root.iter() if element.tag.endswith("title")]
        assert len(titles) == sum(len(row.points) for row in chart.rows), chart.key


def test_a_new_benchmark_needs_no_entry(tmp_path: Path) -> None:
    row = {"graph": "a<b", "plan": "xbfs", "hopwave ms": 2.0, "Gunrock ms": 0.0, "paper's MTEPS": 70, "note": None}
    record = {"benchmark": "new", "title": "A & B", "where": {"gpu": "NVIDIA H200"}, "rows": [row], "note": ""}
    (tmp_path / "new.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    time, rate = report.write(tmp_path, tmp_path / "out")
    assert time.rows[0].points == {"hopwave": 2.0, "Gunrock": 0.0} and time.colours["hopwave"] == "k0"
    assert rate.unit == "MTEPS" and [report.mark_of(series) for series in rate.series] == ["paper"]
    text = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "a&lt;b" in text and "a<b" not in text and "A &amp; B" in text


def test_a_folder_without_measurements_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"has no \.jsonl file with measurements; run make bench first"):
        report.write(tmp_path, tmp_path / "out")
