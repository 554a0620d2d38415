"""What `hopwave paper` wrote becomes a page of results, and charts of the report by paper."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import pages
from benchmarks.papers.exhibits_page import NAMES
from benchmarks.report import __main__ as report
from benchmarks.report import charts

from hopwave import papers
from hopwave.papers import run
from hopwave.papers.records import Outcome, Row, left_out


def written(folder: Path, name: str, study: str, rows: list[Row]) -> None:
    outcome = Outcome(papers.paper(name), False, run.machine("cpu", False), {study: rows}, 1.0)
    run.write(outcome, folder)
    (folder / f"{name}.jsonl").rename(folder / f"papers-{name}.jsonl")


def test_a_page_and_charts_by_paper(tmp_path: Path) -> None:
    row: Row = {"graph": "kron-logn16", "table": "II", "MTEPS": 12.5, "bu-ve ms": 3.0, "paper: MTEPS": 4466}
    gone: Row = {"graph": "mycielski19", "table": "II", "paper: MTEPS": 39778} | left_out("too large")
    written(tmp_path, "turbobfs", "searches", [row, gone])
    written(tmp_path, "pushpull", "ideas", [{"optimisation": "Baseline", "ms": 2.0, "paper: GTEPS": 0.874}])
    page = pages.rendered("papers-turbobfs", tmp_path)
    assert page.startswith("# The tables and figures of TurboBFS") and "## Table II: Irregular graphs" in page
    assert "| mycielski19 | – |" in page and "too large |" in page and "## Table I:" not in page
    found = charts.read(tmp_path)
    titles = [chart.title for chart in found]
    assert len(set(titles)) == len(titles)
    assert [title.partition(",")[0] for title in titles] == ["Push-pull"] * 2 + ["TurboBFS"] * 2
    (point,) = [point for chart in found for row_ in chart.rows for point in row_.points if point.value == 39778]
    assert (point.mark, point.device) == ("paper", "NVIDIA Titan Xp")
    report.write(tmp_path, tmp_path / "out")
    text = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert text.index("<b>TurboBFS</b>: 2 charts, 4 numbers") < text.index("<b>Push-pull</b>: 2 charts")
    assert set(NAMES) == set(papers.NAMES)


def test_no_two_charts_of_the_report_have_one_title() -> None:
    titles = [chart.title for chart in charts.read(pages.RESULTS)]
    assert len(set(titles)) == len(titles)


def test_lines_of_results_are_whole_papers() -> None:
    """A file of results has a line for every table and figure, of a run that was not quick."""
    for file in pages.RESULTS.glob("papers-*.jsonl"):
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        paper = papers.paper(lines[0]["paper"])
        assert [line["number"] for line in lines] == [one.number for one in paper.exhibits], file.name
        assert not any(line["where"]["quick"] for line in lines)
