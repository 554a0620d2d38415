"""The tables of docs/guarantees.md, from docs/guarantees.toml: promises, the tests that check them, and counts.

Counts come from the last long runs: benchmarks/results/fuzz.jsonl, one line per fuzzer (`make fuzz MINUTES=60`), and
from other results by name. tests/house/test_supply_chain.py checks that every test exists.
"""

from __future__ import annotations

import ast
import json
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(__file__).with_suffix(".toml")
RESULTS = ROOT / "benchmarks" / "results"


@dataclass(frozen=True)
class Promise:
    """One promise, the tests that check it, the fuzzers that try to break it, and pages of results.

    `gpu` is the day on which its GPU tests last ran; `note` is what else a reader must know.
    """

    promise: str
    tests: tuple[str, ...]
    fuzzer: str = ""
    results: str = ""
    gpu: str = ""
    note: str = ""


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
    """A sentence for every promise without a test, and for every test that does not exist."""
    found = []
    for promise in (promise for some in parts.values() for promise in some):
        if not promise.tests:
            found.append(f"{promise.promise} No test holds it")
        for test in promise.tests:
            file, _, name = test.partition("::")
            if name not in functions(file):
                found.append(f"{promise.promise} There is no test {test}")
    return found


def fuzzed(results: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """The last run of every fuzzer, by name."""
    file = results / "fuzz.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {row["fuzzer"]: row for row in map(json.loads, lines)}


def markdown(results: Path = RESULTS) -> str:
    """All tables."""
    runs = fuzzed(results)
    lines = []
    for title, promises in read().items():
        lines += [f"## {title}", "", "| promise | held by | last long run |", "|---|---|---|"]
        for one in promises:
            tests = "<br>".join(
                f"[`{name}`](../tests/{file})" for file, _, name in (t.partition("::") for t in one.tests)
            )
            lines.append(f"| {one.promise} | {tests} | {_counts(one, runs, results)} |")
        lines.append("")
    return "\n".join(lines).rstrip()


def _counts(one: Promise, runs: dict[str, dict[str, Any]], results: Path) -> str:
    said = []
    for run in (runs[name] for name in _names(one.fuzzer) if name in runs):
        name, count = run["fuzzer"], f"{run['inputs']:,} inputs, {run['wrong']} wrong, {run['minutes']:g} minutes"
        if "whole" in run:
            count += f", {run['whole']} of {run['of']} questions to their end"
        said.append(f"fuzzer {name}: {count}")
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
