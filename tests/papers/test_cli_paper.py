"""`hopwave paper`: its files and its answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from hopwave import papers
from hopwave.cli import main
from hopwave.cli.benchmarks import paper
from hopwave.papers.lab import Lab, WrongAnswer
from hopwave.papers.records import Exhibit, Paper, Row


def one_row(lab: Lab) -> list[Row]:
    lab.say("one row")
    return [{"graph": "a", "ms": 1.5, "from": f"stand-in on {lab.device}"}]


SMALL = Paper("xbfs", "T", "A", "M", {"s": one_row}, (Exhibit("Table 1", "C", "s", ("graph", "ms", "from")),))


def test_the_command_knows_every_paper() -> None:
    assert get_args(get_type_hints(paper)["name"]) == tuple(papers.NAMES)


def test_it_writes_a_page_and_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(papers, "paper", lambda name: SMALL)
    monkeypatch.setenv("HOPWAVE_PROGRESS", "1")
    assert main(["paper", "xbfs", "--quick", "--out", str(tmp_path / "new"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["measured"], answer["rows"], answer["stand-ins"]) == (1, 1, 1)
    assert "<svg" not in Path(answer["page"]).read_text() and "1.5" in Path(answer["page"]).read_text()
    assert json.loads(Path(answer["lines"]).read_text())["rows"] == [
        {"graph": "a", "ms": 1.5, "from": "stand-in on cpu"}
    ]
    assert main(["paper", "xbfs", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "1 of 1 tables and figures, 1 rows measured (1 on stand-ins), 0 left out" in shown.out
    assert "hopwave: one row" in shown.err


def test_a_wrong_answer_is_shown_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def study(lab: Lab) -> list[Row]:
        raise WrongAnswer("level 3 is wrong")

    monkeypatch.setattr(papers, "paper", lambda name: replace(SMALL, studies={"s": study}))
    assert main(["paper", "xbfs", "--out", str(tmp_path)]) == 1
    assert "results were wrong: level 3 is wrong" in capsys.readouterr().err
    assert "WRONG: level 3 is wrong" in (tmp_path / "xbfs.html").read_text()
