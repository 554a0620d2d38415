"""The tables of docs/papers.md, from docs/papers.toml: what each paper has, where it is in hopwave, and how it differs.

A row of the data has

    part      where in the paper                     what     in a few words
    code      FILE::NAME, a list                     test     FILE::NAME, a list
    verdict   one of VERDICTS                        note     how it differs and why, or what is missing
    shows     the tables and figures of `hopwave paper` that belong to the row; they get anchors and a link

A number that we measured is written as {name} in a note; docs/papers_values.py finds it in benchmarks/results.
Files of code are below src/hopwave, kernels (.cuh) below its kernels/, benchmarks/ below the repository, tests below
tests/. A name in catalogue.py is a plan. tests/house/test_docs.py checks that all of them exist.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docs.papers_values import values
from hopwave.papers.records import slug

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(__file__).with_suffix(".toml")
VERDICTS = {
    "faithful": "as the paper says, apart from what the note states",
    "differs": "done differently; the note says how and why",
    "not done": "could be done and is not; the note says what is missing",
    "unavailable": "needs something that we do not have: a picture, a data set, a machine, another program",
}
WITHOUT_CODE = {"not done", "unavailable"}  # these rows need not name code or a test
OF_PAGES = {  # these test that a page follows from its lines, not what it is about
    "house/test_benchmarks.py::test_a_page_follows_from_its_records",
    "house/test_benchmarks.py::test_another_number_gives_another_page",
}


@dataclass(frozen=True)
class Row:
    """One algorithm, optimisation, rule, formula, table or figure of a paper."""

    part: str
    what: str
    verdict: str
    code: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    note: str = ""
    shows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper and its rows."""

    title: str
    rows: tuple[Row, ...]
    key: str = ""


def read(data: Path = DATA) -> list[Paper]:
    """The papers in the order of the file."""
    found = []
    for one in tomllib.loads(data.read_text(encoding="utf-8"))["paper"]:
        rows = [Row(**{key: tuple(v) if isinstance(v, list) else v for key, v in row.items()}) for row in one["rows"]]
        found.append(Paper(one["title"], tuple(rows), one["key"]))
    return found


def code_file(place: str) -> Path:
    """The file of FILE::NAME in a list of code."""
    file = place.partition("::")[0]
    if file.endswith(".cuh"):
        return ROOT / "src" / "hopwave" / "engines" / "cuda" / "kernels" / file
    return ROOT / file if file.startswith("benchmarks/") else ROOT / "src" / "hopwave" / file


def test_file(place: str) -> Path:
    """The file of FILE::NAME in a list of tests."""
    return ROOT / "tests" / place.partition("::")[0]


@cache
def names(file: Path) -> frozenset[str]:
    """The names that a file defines: functions, classes, methods as Class.method, top-level variables; kernels."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".cuh":
        text = text.replace("__launch_bounds__(BLOCK)", "")
        return frozenset(re.findall(r"^(?:__global__|__device__|struct)[^(;{]*?(\w+)\s*[({]", text, re.MULTILINE))
    found: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            found |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, ast.FunctionDef):
                    found.add(f"{node.name}.{inner.name}")
                elif isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
                    found.add(f"{node.name}.{inner.target.id}")
    return frozenset(found)


@cache
def skipped(file: Path) -> frozenset[str]:
    """The tests of a file that are always skipped, or may fail."""
    marks = ("skip", "xfail")
    return frozenset(
        node.name
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
        for mark in node.decorator_list
        if getattr(mark.func if isinstance(mark, ast.Call) else mark, "attr", "") in marks
    )


def runs(file: Path, name: str) -> bool:
    """Whether pytest runs a function: a test, or a check of ranks, which tests/mpi/test_ranks.py starts."""
    begins = {"test": "test_", "check": "check_"}.get(file.name.partition("_")[0])
    return begins is not None and name.startswith(begins) and name not in skipped(file)


def wrong(papers: list[Paper]) -> list[str]:
    """One sentence for every row that names something missing, or says too little."""
    from hopwave.planning.catalogue import CATALOGUE

    sentences = []
    for paper in papers:
        for row in paper.rows:
            where = f"{paper.title}, {row.part}"
            if row.verdict not in VERDICTS:
                sentences.append(f"{where}: the verdict {row.verdict!r} is none of {', '.join(VERDICTS)}")
            if row.verdict != "faithful" and not row.note:
                sentences.append(f"{where}: {row.verdict} needs a note that says why")
            if row.verdict not in WITHOUT_CODE and not (row.code and row.test):
                sentences.append(f"{where}: {row.verdict} needs code and a test")
            if row.test and set(row.test) <= OF_PAGES:
                sentences.append(f"{where}: {row.test[0]} tests how a page is made; name a test of the thing itself")
            for kind, places, file_of in (("code", row.code, code_file), ("test", row.test, test_file)):
                for place in places:
                    name = place.partition("::")[2]
                    known = CATALOGUE.keys() if place.startswith("planning/catalogue.py::") else None
                    if not file_of(place).is_file():
                        sentences.append(f"{where}: there is no file for {kind} {place}")
                    elif name not in (names(file_of(place)) if known is None else known):
                        sentences.append(f"{where}: {kind} {place} does not exist")
                    elif kind == "test" and not runs(file_of(place), name):
                        sentences.append(
                            f"{where}: {place} is not run; name a test_ function, or a check_ of tests/mpi"
                        )
    return sentences


def markdown() -> str:
    """The text between the marks of docs/papers.md."""
    papers = read()
    lines = ["| paper | " + " | ".join(VERDICTS) + " |", "|---|" + "---|" * len(VERDICTS)]
    for paper in papers:
        counts = Counter(row.verdict for row in paper.rows)
        lines.append(f"| {paper.title} | " + " | ".join(str(counts[verdict]) for verdict in VERDICTS) + " |")
    for paper in papers:
        lines += [
            "",
            f"## {paper.title}",
            "",
            "| part | what | code | test | verdict | note |",
            "|---|---|---|---|---|---|",
        ]
        for row in paper.rows:
            code = "<br>".join(_link(place, code_file(place)) for place in row.code)
            test = "<br>".join(_link(place, test_file(place)) for place in row.test)
            note = row.note.format_map(values())
            part, what, note = (text.replace("|", "\\|") for text in (row.part, row.what, note))
            if row.shows:
                anchors = "".join(f'<a id="{slug(paper.key, number)}"></a>' for number in row.shows)
                part = f"{anchors}[{part}](../benchmarks/results/papers-{paper.key}.md#{slug(row.shows[0])})"
            lines.append(f"| {part} | {what} | {code} | {test} | {row.verdict} | {note} |")
    return "\n".join(lines)


def _link(place: str, file: Path) -> str:
    name = place.partition("::")[2]
    return f"[`{name}`](../{file.relative_to(ROOT).as_posix()})"
