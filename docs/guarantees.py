"""The tables of docs/guarantees.md, from docs/guarantees.toml: promises, the tests that check them, and counts.

Counts come from all recorded runs: benchmarks/results/fuzz.jsonl, a line per run of a fuzzer (`make fuzz MINUTES=60`),
and from other results by name. tests/house/test_supply_chain.py checks that every promise has a test and a fuzzer.
"""

from __future__ import annotations

import ast
import json
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(__file__).with_suffix(".toml")
RESULTS = ROOT / "benchmarks" / "results"
COUNTED = (
    "One row per fuzzer, over all recorded runs. A failure is any difference that a run printed, including mistakes of "
    "the fuzzer itself. Three runs of 2026-11-18 are missing. Two of *bits* and *memory* could not "
    "import the benchmarks; in one of *bits*, 23 of 1,051 inputs had a memory limit below what edge betweenness needs. "
    "For interrupts on cold processes, an input is one delivered signal in a new process with an empty cache of "
    "machine code."
)


@dataclass(frozen=True)
class Promise:
    """One promise, the tests that check it, the fuzzers that try to break it, and pages of results.

    `gpu` is the day on which its GPU tests last ran; `note` is what else a reader must know. `unfuzzed` is why there is
    nothing to draw at random.
    """

    promise: str
    tests: tuple[str, ...]
    fuzzer: str = ""
    results: str = ""
    gpu: str = ""
    note: str = ""
    unfuzzed: str = ""


@dataclass(frozen=True)
class Tried:
    """All recorded runs of one fuzzer: inputs, days, and the day of the last run with a wrong answer ("" if none)."""

    name: str
    inputs: int
    minutes: float
    first: str
    last: str
    failed: str
    note: str
    wrong: int
    today: int  # inputs on the last day

    def __str__(self) -> str:
        wrong = f"last wrong on {self.failed}" if self.failed else f"none wrong since {self.first}"
        tried = f"{self.inputs:,} inputs in {self.minutes:.0f} minutes"
        return f"{self.name}: {tried}, last on {self.last}, {wrong}{self.note}"


def read(data: Path = DATA) -> dict[str, list[Promise]]:
    """The promises by part, in the order of the file."""
    parts = tomllib.loads(data.read_text(encoding="utf-8"))["part"]
    return {part["title"]: [Promise(**{**row, "tests": tuple(row["tests"])}) for row in part["rows"]] for part in parts}


@cache
def functions(file: str) -> frozenset[str]:
    """The functions of a file below tests/; none if there is no such file."""
    path = ROOT / "tests" / file
    if not path.exists():
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def wrong(parts: dict[str, list[Promise]]) -> list[str]:
    """A sentence for every promise without a test or a fuzzer, and for every one of these that does not exist."""
    found = []
    for promise in (promise for some in parts.values() for promise in some):
        if not promise.tests:
            found.append(f"{promise.promise} No test holds it")
        if bool(promise.fuzzer) == bool(promise.unfuzzed):
            found.append(f"{promise.promise} It has no fuzzer and no reason why not, or both")
        for name in _names(promise.fuzzer):
            if name not in fuzzed():
                found.append(f"{promise.promise} No run of the fuzzer {name} is recorded")
        for test in promise.tests:
            file, _, name = test.partition("::")
            if name not in functions(file):
                found.append(f"{promise.promise} There is no test {test}")
    return found


def fuzzed(results: Path = RESULTS) -> dict[str, Tried]:
    """How often every fuzzer was tried, by name."""
    file = results / "fuzz.jsonl"
    rows = [json.loads(line) for line in (file.read_text(encoding="utf-8").splitlines() if file.exists() else [])]
    found = {}
    for name in dict.fromkeys(row["fuzzer"] for row in rows):
        runs = [row for row in rows if row["fuzzer"] == name]
        dates, failed = [row["date"] for row in runs], [row["date"] for row in runs if row["wrong"]]
        longest = max((row for row in runs if "whole" in row), key=lambda row: row["inputs"], default=None)
        whole = f", {longest['whole']} of {longest['of']} cases completed" if longest else ""
        found[name] = Tried(
            name, sum(row["inputs"] for row in runs), sum(row["minutes"] for row in runs), min(dates), max(dates),
            max(failed, default=""), whole, sum(row["wrong"] for row in runs),
            sum(row["inputs"] for row in runs if row["date"] == max(dates)),
        )  # fmt: skip
    return found


def markdown(results: Path = RESULTS) -> str:
    """All tables."""
    runs = fuzzed(results)
    lines = []
    for title, promises in read().items():
        lines += [f"## {title}", "", "| promise | tests | fuzzers and results |", "|---|---|---|"]
        for one in promises:
            tests = "<br>".join(
                f"[`{name}`](../tests/{file})" for file, _, name in (t.partition("::") for t in one.tests)
            )
            lines.append(f"| {one.promise} | {tests} | {_counts(one, runs, results)} |")
        lines.append("")
    return "\n".join([*lines, *surfaces(runs)]).rstrip()


def surfaces(runs: dict[str, Tried]) -> list[str]:
    """The counts of every fuzzer, then the surfaces that were tried by hand."""
    lines = ["## Counts by surface", "", COUNTED, ""]
    lines += [
        "| fuzzer | inputs | inputs on the last day | last day | failures | last failure |",
        "|---|--:|--:|---|--:|---|",
    ]
    for one in sorted(runs.values(), key=lambda one: -one.inputs):
        lines.append(
            f"| {one.name} | {one.inputs:,} | {one.today:,} | {one.last} | {one.wrong:,} | {one.failed or '–'} |"
        )
    lines += ["", "These surfaces have no fuzzer. They were tried by scripts on the day given.", ""]
    lines += ["| surface | checks | day | result |", "|---|--:|---|---|"]
    for hunt in tomllib.loads(DATA.read_text(encoding="utf-8"))["hunt"]:
        lines.append(f"| {hunt['surface']} | {hunt['checks']:,} | {hunt['day']} | {hunt['result']} |")
    return lines


def _counts(one: Promise, runs: dict[str, Tried], results: Path) -> str:
    said = []
    said += [f"fuzzer {runs[name]}" for name in _names(one.fuzzer) if name in runs]
    if one.unfuzzed:
        said.append(f"no fuzzer: {one.unfuzzed}")
    for name in _names(one.results):
        if (results / f"{name}.md").exists():
            said.append(f"[{name}](../benchmarks/results/{name}.md)")
    if one.gpu:
        said.append(f"tests on an H200: {one.gpu}")
    if one.note:
        said.append(one.note)
    return "<br>".join(said) or "–"


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]
