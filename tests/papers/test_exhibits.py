"""What `hopwave paper` wrote becomes a page of results, and charts of the report by paper."""

from __future__ import annotations

from pathlib import Path

from benchmarks import pages, report

from hopwave import papers
from hopwave.papers import run
from hopwave.papers.records import Outcome, Row, left_out


def written(folder: Path, name: str, study: str, rows: list[Row]) -> None:
    outcome = Outcome(papers.paper(name), False, run.machine("cpu", False), {study: rows}, 1.0)
    run.write(outcome, folder)
    pages.keep(pages.of_paper(folder / f"{name}.jsonl"), folder / "kept")


def test_a_page_and_charts_by_paper(tmp_path: Path) -> None:
    row: Row = {"graph": "kron-logn16", "table": "II", "MTEPS": 12.5, "bu-ve ms": 3.0, "paper: MTEPS": 4466}
    gone: Row = {"graph": "mycielski19", "table": "II", "paper: MTEPS": 39778} | left_out("too large")
    written(tmp_path, "turbobfs", "searches", [row, gone])
    written(tmp_path, "pushpull", "ideas", [{"optimisation": "Baseline", "ms": 2.0, "paper: GTEPS": 0.874}])
    page = pages.rendered("papers-turbobfs", tmp_path / "kept")
    assert page.startswith("# The tables and figures of TurboBFS") and "## Table II: Irregular graphs" in page
    assert "| mycielski19 | – |" in page and "too large |" in page and "## Table I:" not in page
    found = report.write(tmp_path / "kept", tmp_path / "out")
    assert [chart.title.partition(",")[0] for chart in found] == ["Push-pull"] * 2 + ["TurboBFS"] * 2
    (series,) = [one for chart in found for row_ in chart.rows for one, value in row_.points.items() if value == 39778]
    assert report.mark_of(series) == "paper" and set(pages.PAPERS) == set(papers.NAMES)


def test_lines_of_results_are_whole_papers() -> None:
    """A file of results has a line for every table and figure, of a run that was not quick."""
    for name in pages.PAPERS:
        lines, paper = pages.lines(f"papers-{name}"), papers.paper(name)
        assert [line["number"] for line in lines] == [one.number for one in paper.exhibits], name
        assert not any(line["where"]["quick"] for line in lines)
