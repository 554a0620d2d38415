"""The page of every public question: none is missing, and rows that need a reason have one."""

from __future__ import annotations

import pytest
from benchmarks import pages
from benchmarks.questions import page
from benchmarks.questions.calls import ARGUMENTS, METHODS, NOT_QUESTIONS, Case, call, questions

import hopwave as hw

LINES = pages.lines("questions")


def test_every_public_question_is_on_the_page_twice() -> None:
    """A new function changes the page: test_benchmarks then asks for a new one."""
    text = (pages.RESULTS / "questions.md").read_text(encoding="utf-8").splitlines()
    asked = [line.split(" | ")[0].removeprefix("| ").partition(" (")[0] for line in text if line.startswith("| ")]
    assert all(asked.count(name) == 2 for name in [*questions(), *METHODS])
    assert NOT_QUESTIONS.keys() <= set(hw.__all__) and ARGUMENTS.keys() <= set(questions())


@pytest.mark.parametrize("question", questions())
def test_a_question_can_be_asked(question: str) -> None:
    """As the benchmark does, of a graph so small that nothing is measured; a new function needs no entry there."""
    ask = call(question, Case("delaunay", 6, 5, 5), "cpu")
    assert ask is not None and ask() is not None


def test_rows_that_need_a_reason_have_one() -> None:
    assert page.without_reason(LINES) == []


def test_what_needs_a_reason() -> None:
    where = {"question": "none", "graph": "kron"}
    one, every, gpu = ({**where, "kind": kind, kind: ms} for kind, ms in (("one", 8.0), ("all", 4.0), ("gpu", 5.0)))
    peer = {**where, "kind": "peer", "peer": "igraph", "ms": 2.0}
    assert page.wanting(page.row("kron", "none", [one, every, gpu, peer])) == ["cores", "gpu", "peer"]
    assert len(page.without_reason([one, every, gpu, peer])) == 1
    measured = page.row("kron", "none", [one, every | {"busy": 1.0, "profile": ["90% work"]}])
    assert measured["reason"] == "1.0 cores busy; 90% work"
    fine = [one | {"one": 40.0}, every, gpu | {"gpu": 4.0}, peer | {"ms": 6.0}]
    assert page.wanting(page.row("kron", "none", fine)) == []
    wrong = page.row("kron", "none", [one | {"digest": 1.0}, every | {"digest": 2.0}])
    assert "one core gives another answer" in wrong["reason"]
