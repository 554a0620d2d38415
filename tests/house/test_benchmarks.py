"""Pages of results follow from their JSON lines; the runner continues after a failure and reports what was left out."""

import dataclasses
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from benchmarks import __main__ as runner
from benchmarks import against, cases, harness, pages, plans_checked, sanitize, setting, turbo_kernels
from benchmarks.questions import ARGUMENTS, METHODS, NEW, NOT_QUESTIONS, Case, call, questions

import hopwave as hw
from hopwave.planning.trace import Trace


@pytest.mark.parametrize("name", pages.names())
def test_a_page_follows_from_its_records(name: str) -> None:
    page = (pages.RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert page == pages.rendered(name), f"run python -m benchmarks.pages {name}"


def test_every_page_has_records_and_a_link() -> None:
    """A page that no document links to goes."""
    there = {file.stem for file in pages.RESULTS.glob("*.md")}
    assert there == set(pages.names())
    text = "".join(file.read_text(encoding="utf-8") for file in (setting.ROOT / "docs").rglob("*.md"))
    assert not [name for name in there if f"results/{name}.md" not in text]


def test_every_case_has_a_page_and_every_question_is_asked() -> None:
    assert {case.benchmark for case in cases.CASES} == set(cases.BENCHMARKS)
    assert NOT_QUESTIONS.keys() <= set(hw.__all__) and ARGUMENTS.keys() <= set(questions())
    text = (pages.RESULTS / "questions.md").read_text(encoding="utf-8")
    missing = {name for name in [*questions(), *METHODS] if f"| {name} |" not in text and f"| {name} (" not in text}
    assert missing >= NEW, f"{NEW - missing} are on the page: remove them from NEW in benchmarks/questions.py"
    remedy = "run python -m benchmarks.questions on a machine with a GPU, or add them to NEW in benchmarks/questions.py"
    assert missing <= NEW, f"{missing - NEW} are not on benchmarks/results/questions.md: {remedy}"


def test_every_question_can_be_asked() -> None:
    """As the benchmark does, of a graph so small that nothing is measured; most new functions need no entry there."""
    case = Case("delaunay", 6)
    for question in questions():
        ask = call(question, case, "cpu")
        assert ask is not None and ask() is not None, question


def test_a_row_is_compared_before_it_is_timed() -> None:
    graph = hw.generate.grid(5, 5)
    ask = cases.each(hw.bfs, 2, predecessors=False)
    right = {"SciPy": cases.peers.scipy("dijkstra", indices=cases.some(2), unweighted=True)}
    case = harness.Case("none", "grid", "bfs", ask, right, cases.rows_of, 2, 0.0)
    row = harness.row_of(case, harness.Setup("grid", graph))
    assert row["hopwave ms"] > 0 and row["times SciPy"] == pytest.approx(row["SciPy ms"] / row["hopwave ms"])
    wrong = {"SciPy": lambda setup: harness.Peer(lambda: right["SciPy"](setup).call() + 1)}
    with pytest.raises(SystemExit, match="bfs, SciPy: hopwave and its peer differ"):
        harness.row_of(harness.Case("none", "grid", "bfs", ask, wrong, cases.rows_of, 2), harness.Setup("grid", graph))


@pytest.mark.slow
def test_two_trees_are_compared(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The same tree twice: no answer differs."""
    given = ["--scale", "7", "--only", "bfs", "diameter", "--rounds", "2", "--graphs", "kron", "--seconds", "600"]
    monkeypatch.setattr("sys.argv", ["against", str(setting.ROOT), *given])
    assert against.main() == 0
    assert "2 questions; new / old: median" in (said := capsys.readouterr().out) and "0 answers differ" in said


def test_benchmarks_time_compiled_code() -> None:
    """Whatever reads a clock imports the setting, which lets no work be done before its code is compiled."""
    files = [file for file in (setting.ROOT / "benchmarks").rglob("*.py") if file.name != "setting.py"]
    clocks = {file.name: text for file in files if "perf_counter()" in (text := file.read_text(encoding="utf-8"))}
    assert clocks and not [
        name for name, text in clocks.items() if "from benchmarks" not in text or "setting" not in text
    ]
    code = "from benchmarks import setting as at; assert at.First.most_seconds == 0.0"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=setting.ROOT)


NUMBERS = {"cpu-search": '"hopwave ms": ', "gpu-authors": '"ms in levels": ', "papers-xbfs": '"XBFS ms": '}


@pytest.mark.parametrize("name", NUMBERS)
def test_another_number_gives_another_page(name: str, tmp_path: Path) -> None:
    text, key = pages.file_of(name).read_text(encoding="utf-8"), NUMBERS[name]
    pages.file_of(name, tmp_path).write_text(text.replace(key, f"{key}7"), encoding="utf-8")
    assert pages.rendered(name, tmp_path) != pages.rendered(name)


def test_a_template_leaves_out_what_is_missing() -> None:
    template = "# {title}\n\nOf {some[one]:.1f}.\n\n## Rows\n\n| a |\n|---|\neach rows: | {a[b]} |\n\n## Last\n\nHere\n"
    full = pages.filled(template, {"title": "T", "some": {"one": 1.26}, "rows": [{"a": {"b": 0.12345}}, {"a": None}]})
    assert full == "# T\n\nOf 1.3.\n\n## Rows\n\n| a |\n|---|\n| 0.123 |\n| – |\n\n## Last\n\nHere\n"
    assert pages.filled(template, {"title": "T", "some": {}, "rows": []}) == "# T\n\n## Last\n\nHere\n"
    with pytest.raises(KeyError, match="some"):
        pages.filled(template, {"title": "T", "rows": []})


def test_publishing_writes_a_page_that_follows_from_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pages, "WRITTEN", tmp_path)
    for value in (1.0, 2.0):
        pages.publish("try", "A trial", [{"what": "é", "ms": value, "none": None}], "A note.", where={"cores": 2})
    pages.publish("try-more", "Another", [{"what": "è"}], where={})
    assert len((tmp_path / "try.jsonl").read_text().splitlines()) == 2  # a new run replaces its record
    page = (tmp_path / "try.md").read_text(encoding="utf-8")
    assert page == pages.rendered("try", tmp_path) and "| é | 2 | – |" in page and "| é | 2" in capsys.readouterr().out


def test_kernels_counted_by_ncu_belong_to_the_run_that_began_before_them(tmp_path: Path) -> None:
    """A product that takes 9 of 10 µs, whole numbers that take half of float64's time, and loads per second."""
    head = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
    times = {"forward_warps": (8, 16), "discover": (1, 1), "backward_warps": (1, 1), "run_begins": (5, 5)}
    rows, number = ["==PROF== Connected to process 7", head], 0
    for run in (0, 1):
        for kernel in ("run_begins", "forward_warps", "discover", "backward_warps"):
            for metric in turbo_kernels.METRICS:
                value = 1000 * times[kernel][run] * (1 if metric.startswith("gpu") else 4)
                rows.append(f'"{number}","void hopwave::betweenness::{kernel}<int>(u64)","{metric}","","{value:,}"')
            number += 1
    about = {"graph": "mycielskian15", "m": 20_000, "algorithm": "TurboBC veCSC"}
    runs = [about | {"counts": counts} for counts in ("unsigned", "double")]
    runs += [about | {"counts": "", "algorithm": "TurboBFS veCSC"}]
    found = turbo_kernels.launches("\n".join(rows))
    with pytest.raises(ValueError, match="ncu saw 2 runs and there were 3"):
        turbo_kernels.by_run(found, runs)
    lines = turbo_kernels.by_run([*found, *found[:3]], runs)
    pages.keep([{"benchmark": "gpu-turbo-kernels", "title": "", "where": {}, "rows": lines, "note": ""}], tmp_path)
    page = (tmp_path / "gpu-turbo-kernels.md").read_text(encoding="utf-8")
    assert "| mycielskian15 | TurboBC veCSC | whole numbers | 3 | 10 | 80.0% | 10.0% | 90.0% |" in page
    assert "| mycielskian15 | TurboBC veCSC | 8 | 16 | 2 |" in page and "2.00 to 2.00 times" in page
    assert "| mycielskian15 | 4 | 4 | 4 | 4 | 2000 | 6536 |" in page
    assert "89% to 89% in TurboBFS's, 90% to 94% in TurboBC's" in page


def test_plans_checked_notices_what_a_step_does_not_do() -> None:
    """A level that checked too few arcs, one whose step is not its rule's, and a pull with one arc too many."""
    graph, plan = plans_checked.generate.kronecker(8, seed=1), hw.plan("pushpull-masking")
    found = hw.bfs(graph, plans_checked.root_of(graph), plan=plan, device="reference", trace=True)
    assert found.trace is not None and {"push", "pull"} == set(found.trace.directions)
    assert found.distances.tolist() == plans_checked.right_distances(graph).tolist()
    assert plans_checked.wrong_level(graph, plan, found.trace, found.distances, "reference") == ""
    for change in ({"checked": found.trace[1].checked + 1}, {"checked": 0}, {"choice": 0}):
        levels = [dataclasses.replace(level, **(change if level.depth == 2 else {})) for level in found.trace]
        assert "level 2" in plans_checked.wrong_level(graph, plan, Trace(levels), found.distances, "cpu")


def test_plans_checked_compares_the_levels_of_engines() -> None:
    counts, wrong = plans_checked.count("reference", ["mycielskian9"], plans_checked.SEARCHES)
    assert wrong == [] and plans_checked.different_levels({"reference": counts, "cpu": counts}) == []
    other = {
        "mycielskian9": counts["mycielskian9"] | {"merrill": counts["mycielskian9"]["merrill"] | {"levels": "1↓ 2↑"}}
    }
    (sentence,) = plans_checked.different_levels({"reference": counts, "4 ranks": other})
    assert sentence.startswith("mycielskian9, merrill: 4 ranks went 1↓ 2↑, reference ")
    rows = plans_checked.table_rows({"reference": counts, "cuda": other})
    assert len(rows) == len(plans_checked.SEARCHES) and all(row["arcs, cuda"] for row in rows)


# ---------------------------------------------------------------- the runner


def test_every_benchmark_of_the_list_is_a_module() -> None:
    folder = Path(runner.__file__).parent
    assert [one.module for one in runner.ORDER if not (folder / f"{one.module}.py").exists()] == []


def test_a_failure_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = {"good": "print('left out: a graph')", "bad": "import sys; sys.exit('no')", "last": "print('fine')"}
    monkeypatch.setattr(runner, "ORDER", tuple(runner.Benchmark(name) for name in codes))
    monkeypatch.setattr(runner.Benchmark, "command", lambda self, quick: [sys.executable, "-c", codes[self.name]])
    assert runner.main([]) == 1
    shown = capsys.readouterr().out
    assert "2 of 3 benchmarks ran to their end" in shown and "FAILED, exit status 1" in shown
    assert shown.index("fine") < shown.index("2 of 3") < shown.index("      left out: a graph")
    assert runner.main(["good", "last"]) == 0
    capsys.readouterr()
    assert runner.main(["--quick"]) == 1  # two at a time: each prints all its lines together
    assert "== good\nleft out: a graph\n" in (shown := capsys.readouterr().out) and "== last\nfine\n" in shown


def test_real_graphs_that_are_missing_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setting, "DATA", tmp_path)
    hw.write(tmp_path / "here.mtx.gz", hw.generate.path(3))
    found = setting.real_graphs(["here", "email-Enron"])
    assert list(found) == ["here"] and found["here"].n == 3
    line = capsys.readouterr().out.strip()
    assert line.startswith(f"{setting.LEFT_OUT}email-Enron; ") and f"hopwave fetch email-Enron {tmp_path}" in line


def test_a_row_is_printed_and_options_have_the_types_of_their_defaults(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert setting.tell({"a": 1}) == {"a": 1} and capsys.readouterr().out == "{'a': 1}\n"
    monkeypatch.setattr("sys.argv", ["name", "kron", "--sources", "3", "--scales", "4", "5", "--whole", "--limit", "2"])
    given = setting.command_line("", {"graphs": ["grid"]}, sources=1, scales=[1], whole=False, limit=float, note="")
    assert vars(given) == {
        "graphs": ["kron"], "sources": 3, "scales": [4, 5], "whole": True, "limit": 2.0, "note": "",
    }  # fmt: skip


# ---------------------------------------------------------------- the sanitizer


def test_what_the_sanitizer_says_is_in_the_table(tmp_path: Path) -> None:
    log = (
        "========= Invalid __global__ write of size 4 bytes\n"
        "=========     at void hopwave::many::search_many<int, (int)2>(Many)+0x10\n=========\n"
        "========= ERROR SUMMARY: 1 error\n"
    )
    assert sanitize.messages(log) == ["hopwave::many::search_many"] and sanitize.messages("all is well\n") == []
    seen = {"memcheck": {"many/search.cuh: hopwave::many::search_many<int, 2>"}, "racecheck": set[str]()}
    said = {"memcheck": Counter(sanitize.messages(log)), "racecheck": Counter[str]()}
    rows = sanitize.kernel_rows(seen, said)
    assert rows == [{"kernel": "hopwave::many::search_many", "memcheck": "1: **1 messages**", "racecheck": None}]
    clean = sanitize.kernel_rows(seen, {"memcheck": Counter(), "racecheck": Counter()})
    assert clean[0]["memcheck"] == "1: clean"
    pages.keep([{"benchmark": "sanitizer", "title": "", "where": {}, "rows": rows, "note": ""}], tmp_path)
    page = (tmp_path / "sanitizer.md").read_text(encoding="utf-8")
    assert "With messages: hopwave::many::search_many (memcheck)." in page


def test_a_tool_that_looks_at_nothing_is_noticed() -> None:
    said = {"racecheck": Counter(["hopwave::control::racecheck"]), "memcheck": Counter[str]()}
    assert sanitize.silent(said) == ["memcheck does not report a deliberate mistake"] and not said["racecheck"]
