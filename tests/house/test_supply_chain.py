"""What code runs and where it comes from: no pickle, no evaluated text, no foreign code; bounds of dependencies."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from benchmarks import pages
from benchmarks.sanitize import parts as sanitize_parts
from benchmarks.sanitize import run as sanitize
from benchmarks.sanitize import workers as sanitize_workers
from benchmarks.sanitize.building import one_level
from benchmarks.sanitize.searches import ladder
from docs import __main__ as docs
from docs import guarantees

import vulnerabilities
from hopwave import bfs, generate
from hopwave.algebra import operators
from hopwave.engines.cpu.rank.part import Part
from hopwave.system import numba_cache
from hopwave.system.user_folder import why_not_trusted

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
RUN_WHAT_THEY_READ = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "yaml"}
RUN_TEXT = {"eval", "exec", "compile", "__import__", "system", "popen"}
# hopwave's own kernels are rewritten for one arithmetic and compiled at run time. Machine code of a wheel is a part of
# the package, and trusted as its Python files are.
ALLOWED = {
    ("src/hopwave/system/shipped_code.py", "pickle"),
    ("src/hopwave/engines/cpu/linalg/specialise.py", "exec"),
    ("src/hopwave/engines/cpu/linalg/specialise.py", "compile"),
}


def found_in(text: str) -> Iterator[str]:
    """The names in a source text that would run code that was read."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if isinstance(node.func, ast.Attribute) and ast.unparse(node.func) in (
                "os.system",
                "os.popen",
                "builtins.eval",
            ):
                name = node.func.attr
            yield name
            for word in node.keywords:
                if word.arg in ("allow_pickle", "shell") and not (
                    isinstance(word.value, ast.Constant) and word.value.value is False
                ):
                    yield f"{word.arg}="


def test_nothing_is_unpickled_or_evaluated() -> None:
    forbidden = RUN_WHAT_THEY_READ | RUN_TEXT | {"allow_pickle=", "shell="}
    found = {
        (file.relative_to(ROOT).as_posix(), name)
        for file in SOURCES
        for name in found_in(file.read_text(encoding="utf-8"))
        if name in forbidden
    }
    assert found == ALLOWED


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import pickle", "pickle"),
        ("from marshal import loads", "marshal"),
        ("x = eval('1')", "eval"),
        ("import os\nos.system('ls')", "system"),
        ("np.load(f, allow_pickle=True)", "allow_pickle="),
        ("run('ls', shell=yes)", "shell="),
    ],
)
def test_each_of_them_would_be_found(text: str, name: str) -> None:
    assert name in set(found_in(text)) and "eval" not in set(found_in("re.compile('eval(x)')"))


def test_an_operator_is_its_text() -> None:
    """Numba compiles the text, Python runs the function: both are the same expression."""
    tree = ast.parse(Path(operators.__file__).read_text(encoding="utf-8"))
    pairs = [
        (call.args[1], call.args[2])
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "_op"
    ]
    assert len(pairs) == 19
    for function, text in pairs:
        assert isinstance(function, ast.Lambda) and isinstance(text, ast.Constant | ast.Name)
        written = text.value if isinstance(text, ast.Constant) else getattr(operators, text.id)
        assert ast.unparse(function.body) == ast.unparse(ast.parse(str(written), mode="eval").body)


# ---------------------------------------------------------------- caches


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_machine_code_of_others_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Numba's files are pickles: anyone who can write to their folder can run code here."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kept = Path(str(numba_cache.where_kept()))
    assert tmp_path in kept.parents and why_not_trusted(kept, shared=True) is None
    kept.chmod(0o777)
    monkeypatch.setattr(numba_cache, "_said", False)
    assert numba_cache.where_kept() is None
    assert "can be written to by others; run: chmod o-w" in caplog.text
    kept.chmod(0o775)  # group-writable, as with umask 002
    assert numba_cache.where_kept() == str(kept)
    monkeypatch.setattr(os, "getuid", lambda: kept.stat().st_uid + 1)
    if kept.stat().st_uid:  # files that belong to the administrator are trusted
        assert numba_cache.where_kept() is None


# ---------------------------------------------------------------- dependencies


def requirements() -> list[str]:
    project: Any = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]


def test_every_dependency_has_a_lower_bound() -> None:
    named = [one for one in requirements() if not one.startswith("hopwave[")]
    assert [one for one in named if not re.search(r">=\s*\d|==\s*\d", one)] == ["mpich; sys_platform != 'win32'"]


def test_the_oldest_versions_are_those_of_the_bounds() -> None:
    from oldest import oldest_versions

    assert oldest_versions(["numpy>=1.26", "cuda-toolkit[nvrtc]==12.*", "mpich; sys_platform != 'win32'"]) == [
        "numpy==1.26.*"
    ]


# ---------------------------------------------------------------- promises, kernels


def test_every_promise_is_held_by_a_test() -> None:
    parts = guarantees.read()
    assert not (wrong := guarantees.wrong(parts)), "\n".join(wrong)
    nothing = guarantees.Promise("p.", ("house/test_docs.py::test_no_such", "no_such_file.py::test_x"))
    assert len(guarantees.wrong({"": [nothing, guarantees.Promise("q.", (), fuzzer="readers")]})) == 4
    both = guarantees.Promise("r.", nothing.tests[:0], fuzzer="no such fuzzer", unfuzzed="a reason")
    assert len(guarantees.wrong({"": [both]})) == 3


def test_dependencies_can_be_audited() -> None:
    """pip-audit succeeds if it reaches no database; hopwave's audit must fail."""
    recipe = re.search(r"^audit:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert recipe is not None and "tests/vulnerabilities.py" in recipe[1]
    clean, unknown = {"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "not found on PyPI"}
    weak = {"name": "c", "version": "2", "vulns": [{"id": "CVE-1"}]}
    ours = {"name": "hopwave", "skip_reason": "not found on PyPI"}
    said = {
        "1 packages audited, none has": [clean, ours],
        "no audit was made: nothing is known of any of the 1 packages; run `make audit`": [unknown, ours],
        "1 packages audited without a finding, but nothing is known of b": [clean, unknown],
        "1 vulnerabilities: c 2 (CVE-1)": [clean, weak],
    }
    for sentence, packages in said.items():
        status, told = vulnerabilities.verdict({"dependencies": packages})
        assert sentence in told and (status == 0) == (packages == [clean, ours])


def test_the_page_of_promises_is_true() -> None:
    page = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    assert docs.with_guarantees(page) == page, "run `make docs`"


def test_counts_of_long_runs_are_shown(tmp_path: Path) -> None:
    rows = [("2026-01-01", 0), ("2026-01-02", 3), ("2026-01-03", 0)]
    run = {"fuzzer": "readers", "inputs": 1234567, "minutes": 60.0}
    lines = [json.dumps({**run, "date": date, "wrong": wrong}) for date, wrong in rows]
    (tmp_path / "fuzz.jsonl").write_text("\n".join(lines[:1]))
    said = "fuzzer readers: 1,234,567 inputs in 60 minutes, last on 2026-01-01, none wrong since 2026-01-01"
    assert said in guarantees.markdown(tmp_path)
    (tmp_path / "fuzz.jsonl").write_text("\n".join(lines))
    said = "fuzzer readers: 3,703,701 inputs in 180 minutes, last on 2026-01-03, last wrong on 2026-01-02"
    assert said in guarantees.markdown(tmp_path)


def test_the_sanitizer_looks_at_every_kernel() -> None:
    """Every GPU plan and both widths of offsets are in a part, and a tool's findings are noticed."""
    for task in ("betweenness", "search"):
        named = {f"{task}: {plan.name}" for plan in sanitize_parts.plans(task)} - {
            "search: hopwave"
        }  # as hopwave-dense
        assert named <= set(sanitize_parts.PARTS)
    assert {bits for _, bits in sanitize.tasks([])} == {32, 64}


def test_what_the_sanitizer_says_is_in_the_table(tmp_path: Path) -> None:
    log = tmp_path / "memcheck-0.log"
    log.write_text(
        "== many, 32 bits\n========= Invalid __global__ write of size 4 bytes\n"
        "=========     at void hopwave::many::search_many<int, (int)2>(Many)+0x10\n=========\n"
        "========= ERROR SUMMARY: 1 error\n"
    )
    (said,) = sanitize.complaints("memcheck", log)
    assert (said["part"], said["offsets"], said["kernel"]) == ("many", 32, "hopwave::many::search_many")
    launched = ["many/search.cuh: hopwave::many::search_many<int, 2>"]
    ran = {"tool": "memcheck", "part": "many", "offsets": 32, "seconds": 1.0, "wrong": [], "launched": launched}
    ran["sources"] = sanitize.sources(launched)
    late = {"tool": "racecheck", "part": "many", "offsets": 32, "failed": "not finished in time"}

    def page(*rows: Any) -> str:
        pages.write("sanitizer", tmp_path, list(rows))
        return (tmp_path / "sanitizer.md").read_text(encoding="utf-8")

    whole = page(ran, said, late)
    assert "| `hopwave::many::search_many` | – | 1: **1 messages** |" in whole
    assert "Not finished: racecheck, many" in whole
    assert "1: clean" in page(ran) and "Wrong" not in page(ran)
    assert "**Wrong answers**: memcheck, many, 32 bits (sums)." in page({**ran, "wrong": ["sums"]})
    file = tmp_path / "sanitizer.jsonl"
    file.write_text(json.dumps(ran) + "\n" + json.dumps(said) + "\n" + json.dumps(late) + "\n")
    again = {**ran, "failed": "not finished in time"}
    assert sanitize.merged([again], file) == [ran, said]  # finished results stay, with their findings
    assert sanitize.merged([ran], file) == [ran]
    file.write_text(json.dumps({**ran, "sources": {"many/search.cuh": "0"}}) + "\n")
    assert sanitize.merged([again], file) == [again]  # unless the kernel has changed
    assert sanitize.claim(tmp_path, "memcheck", "many", 32) and not sanitize.claim(tmp_path, "memcheck", "many", 32)


def test_a_comment_changes_no_record_of_the_sanitizer(monkeypatch: pytest.MonkeyPatch) -> None:
    def digits(text: bytes) -> str:
        monkeypatch.setattr(sanitize, "included", lambda *_: {"a.cuh": text})
        return sanitize.header_hash.__wrapped__("many/search.cuh")

    known = digits(b'#include "b.cuh"\nint f() { return g("a // b", 4 / 2); }\n')
    assert known == digits(
        b'/* one\n// two */ #include "b.cuh"  // "three"\n\nint  f() {  return g("a // b", 4 / 2); }\n// "four'
    )
    others = [b'#include "c.cuh"\nint f() { return g("a // b", 4 / 2); }', b'int f() { return g("a // b", 4 / 2); }']
    others += [b'#include "b.cuh"\nint f() { return g("a // c", 4 / 2); }']
    others += [b'#include "b.cuh"\nint f() { return g("a // b", 42); }']
    assert len({known, *map(digits, others)}) == 5


def test_a_part_of_another_name_counts_while_it_alone_has_seen_a_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched = ["many/search.cuh: hopwave::many::search_many<int, 2>"]
    old = {
        "tool": "memcheck",
        "part": "gone",
        "offsets": 32,
        "launched": launched,
        "sources": sanitize.sources(launched),
    }
    new = {**old, "part": "many"}
    (tmp_path / "sanitizer.jsonl").write_text(json.dumps(old) + "\n")
    assert sanitize.merged([], tmp_path / "sanitizer.jsonl") == [old]
    assert sanitize.merged([new], tmp_path / "sanitizer.jsonl") == [new]
    monkeypatch.setattr(sanitize, "RESULTS", tmp_path)
    assert sanitize.seen_before(["memcheck", "racecheck"]) == {"memcheck": launched, "racecheck": []}
    said = {"tool": "memcheck", "part": "gone", "offsets": 32, "kernel": "", "message": ["..."]}
    (tmp_path / "sanitizer.jsonl").write_text(json.dumps(old) + "\n" + json.dumps(said) + "\n")
    assert sanitize.seen_before(["memcheck"]) == {"memcheck": []}  # must run again
    (tmp_path / "sanitizer.jsonl").write_text(json.dumps({**old, "wrong": ["sums"]}) + "\n")
    assert sanitize.seen_before(["memcheck"]) == {"memcheck": []}  # must run again too


def test_what_the_sanitizer_compares_a_level_of_a_rank_with_is_right() -> None:
    """The CPU's part starts at a vertex with a loop: it is already visited and must not be found again."""
    graph = generate.kronecker(6, edge_factor=8)
    root, offsets = int(graph.degrees.argmax()), graph.indptr.astype(np.int64)
    assert root in graph.indices[offsets[root] : offsets[root + 1]]
    rows = offsets, graph.indices.astype(np.uint32)
    assert list(one_level(Part(rows, rows, 1), graph, root)) == []


def test_a_graph_for_overflow_has_as_many_paths_as_it_says() -> None:
    for bits, ways in ((6, 2), (7, 4)):
        graph = ladder(bits, ways)
        found = bfs(graph, 0, path_counts=True, device="cpu")
        last = int(np.argmax(found.distances))
        assert int(found.path_counts[last]) == 2 ** (-(-bits // (ways.bit_length() - 1)) * (ways.bit_length() - 1)) + 1
        assert np.count_nonzero(found.distances == found.distances[last] - 2) == 2  # a joint, and the path beside it


def test_tools_take_parts_with_most_new_kernels_first(tmp_path: Path) -> None:
    tasks = [("one", 32), ("two", 32), ("three", 32)]
    for (name, bits), launched in zip(tasks, ("a", "abc", "bcd"), strict=True):
        sanitize_workers.prepared(tmp_path, name, bits, launched)
    assert sanitize_workers.most_wanted(tmp_path, "memcheck", tasks, tasks, set()) == ("two", 32)
    assert sanitize_workers.most_wanted(tmp_path, "memcheck", tasks, tasks, {"a"}) == ("three", 32)
    assert sanitize.claim(tmp_path, "memcheck", "two", 32)  # another worker is checking its instances now
    assert sanitize_workers.most_wanted(tmp_path, "memcheck", tasks, [tasks[0], tasks[2]], set()) == ("three", 32)


def test_a_tool_that_looks_at_nothing_is_noticed(tmp_path: Path) -> None:
    report = (
        "========= Race reported between Write access at hopwave::control::racecheck(int *, int *)+0x10\n=========\n"
    )
    (tmp_path / "racecheck-0.log").write_text(report)
    (tmp_path / "memcheck-1.log").write_text("========= ERROR SUMMARY: 0 errors\n")
    rows = sanitize.collected(tmp_path, ["racecheck", "memcheck"], ["many"])
    assert {row["tool"]: row["reported"] for row in rows if "reported" in row} == {"racecheck": True, "memcheck": False}
    assert not any("message" in row for row in rows)
    pages.write("sanitizer", tmp_path, rows)
    page = (tmp_path / "sanitizer.md").read_text(encoding="utf-8")
    assert "| a mistake made for the tool | reported | **not reported** |" in page


WORKER = """
import sys, time
from pathlib import Path
from benchmarks.sanitize.workers import claim, prepared
tool, label, board = sys.argv[1], sys.argv[2], Path(sys.argv[3])
for part in ("one", "two", "slow"):
    if claim(board, tool, part, 32):
        (board / f"{label}.now").write_text(f'["{tool}", "{part}", 32, {time.time()}]')
        if tool == "none":
            prepared(board, part, 32)
        elif part == "slow":
            time.sleep(60)
        (board / f"{label}.jsonl").write_text("")
        (board / f"{label}.now").unlink()
        sys.exit()  # another one takes the next part
"""


def test_workers_are_replaced_when_they_end_or_take_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitize_workers, "under", lambda tool, line: line)
    monkeypatch.setattr(sanitize_workers, "SECONDS", 2.0)
    parts = [("one", 32), ("two", 32), ("slow", 32)]

    def command(tool: str, label: str) -> list[str]:
        return [sys.executable, "-c", WORKER, tool, label, str(tmp_path)]

    pool = sanitize_workers.Pool(tmp_path, ["memcheck"], parts, command, 2, ROOT)
    pool.run(time.time() + 60)
    assert not pool.running and len(pool.ended) >= 6  # some may have had nothing to do
    assert pool.left("none") == pool.left("memcheck") == 0
    (row,) = [json.loads(line) for file in tmp_path.glob("*.jsonl") for line in file.read_text().splitlines()]
    assert (row["tool"], row["part"], row["failed"]) == ("memcheck", "slow", "not finished in 2 s")
