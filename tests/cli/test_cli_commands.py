"""What every command prints and writes if there is no error, as text and as JSON."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from calls import PNG, Answer, Fail, Run

import hopwave as hw
from hopwave.cli import app, benchmarks, files, main, terminal
from hopwave.io import read, write


def columns_of(result: Any) -> dict[str, Any]:
    return {**result._names(), **result._columns()}


COMMANDS = ["generate", *(command.callback.__name__ for command in app.app.registered_commands)]


def test_version(run: Run) -> None:
    assert run("--version") == f"hopwave {hw.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(run: Run, command: str) -> None:
    assert f" {command} " in run("--help")
    text = run(command, "--help")
    assert "--json" in text and f"Example: hopwave {command}" in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [("hopwave b", ["bfs", "bc", "bench"]), ("hopwave plans xbfs-s", ["xbfs-static", "xbfs-sync"])],
)
def test_the_shell_completes(
    words: str, expected: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_HOPWAVE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    assert main([]) == 0
    assert capsys.readouterr().out.split() == expected


# -------------------------------------------------------------------- info


def test_info_shows_statistics_and_the_distribution(run: Run, square: Path) -> None:
    text = run("info", square)
    assert "vertices            16" in text and "edges               24" in text
    row = next(line for line in text.splitlines() if line.strip().startswith("4–7"))
    assert row.split()[1] == "4" and "█" in row  # the four inner vertices have degree 4


def test_info_tells_what_memory_questions_take(run: Run, answer: Answer, square: Path) -> None:
    needed = answer("info", square, "--memory")["memory"]
    assert all(sizes.keys() == {"cpu", "cuda"} and min(sizes.values()) > 0 for sizes in needed.values())
    assert "memory" not in answer("info", square)
    shown = run("info", square, "--memory")
    assert "Peak memory" in shown and "betweenness_centrality, all sources" in shown


def test_info_json(answer: Answer, square: Path) -> None:
    found = answer("info", square)
    assert (found["n"], found["m"], found["edges"], found["directed"], found["labels"]) == (16, 48, 24, False, False)
    assert found["degrees"] == [
        {"from": 1, "to": 1, "vertices": 0},
        {"from": 2, "to": 3, "vertices": 12},
        {"from": 4, "to": 7, "vertices": 4},
    ]


def test_info_tells_shapes_apart(answer: Answer, run: Run, tmp_path: Path) -> None:
    """One number is not enough: the scale-free metric of all four graphs is below TurboBC's threshold."""
    spokes = hw.generate.grid(60, 60).to_edges()
    hub = [np.append(end, more) for end, more in zip(spokes, (np.zeros(60, int), np.arange(100, 160)), strict=True)]
    for shape, graph in {
        "even": hw.generate.grid(60, 60),
        "skewed": hw.generate.barabasi_albert(3000, 3, seed=1),
        "even with hubs": hw.Graph.from_edges(*hub),
    }.items():
        write(tmp_path / "graph.npz", graph)
        found = answer("info", tmp_path / "graph.npz")
        assert (found["shape"], found["regular"]) == (shape, True)
    assert "even with hubs: the maximum is" in run("info", tmp_path / "graph.npz")
    mixed = hw.Graph.from_edges(*hw.generate.complete(30).to_edges(), n=3000)
    assert mixed.stats().busiest_share == 1.0 and mixed.stats().shape == "skewed"
    assert replace(mixed.stats(), max_degree=2, busiest_share=0.05).shape == "uneven"


def test_info_directed_as_the_user_says(answer: Answer, square: Path) -> None:
    assert answer("info", square, "--directed")["directed"] is True


def test_info_of_a_graph_without_vertices(run: Run, answer: Answer, tmp_path: Path) -> None:
    write(tmp_path / "none.npz", hw.Graph.from_edges([], [], n=0))
    assert answer("info", tmp_path / "none.npz")["degrees"] == []
    assert "vertices            0" in run("info", tmp_path / "none.npz")


def test_read_options_reach_the_reader(answer: Answer, named: Path) -> None:
    assert answer("info", named, "-r", "source=to", "-r", "target=from", "--directed")["directed"] is True


# -------------------------------------------------------------------- convert


def test_convert_keeps_graph_and_labels(answer: Answer, named: Path) -> None:
    found = answer("convert", named, "out.npz")
    assert (found["format"], found["labels_written"]) == ("npz", True)
    assert read("out.npz") == read(named)


def test_convert_drops_labels_only_when_told(run: Run, named: Path) -> None:
    text = run("convert", named, "out.mtx.gz", "--drop-labels")
    assert "labels dropped" in text and "with labels" not in text
    assert read("out.mtx.gz").labels is None and read("out.mtx.gz").m == 8


def test_convert_takes_formats_by_name(run: Run, square: Path) -> None:
    run("convert", square, "plain", "--to", "metis")
    run("convert", "plain", "back.sg", "--from", "metis")
    assert read("back.sg") == read(square)


@pytest.mark.parametrize(("name", "kind"), [("a.csv", "directed"), ("a.bin", "directed"), ("a.el", "undirected")])
def test_convert_notes_a_direction_that_the_file_cannot_hold(
    run: Run, square: Path, name: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", str(square), name, f"--{kind}"]) == 0
    assert f"cannot say that a graph is {kind}; read it with directed={kind == 'directed'}" in capsys.readouterr().err
    run("convert", square, name, "--undirected" if kind == "directed" else "--directed")  # nothing on stderr


def test_convert_in_place(run: Run, square: Path) -> None:
    before = read(square)
    run("convert", square, square)
    assert read(square) == before


# -------------------------------------------------------------------- generate


def test_generate_list_names_every_generator(run: Run, answer: Answer) -> None:
    text = run("generate", "--list")
    found = {kind["name"] for kind in answer("generate", "--list")["generators"]}
    assert found == set(hw.generate.generators())
    assert all(name.replace("_", "-") in text for name in found)


def test_generate_kronecker(answer: Answer) -> None:
    arguments = ("--scale", 6, "--edge-factor", 4, "--seed", 7, "--initiator", ".25,.25,.25,.25", "--no-permute")
    found = answer("generate", "kronecker", *arguments, "k.npz")
    expected = hw.generate.kronecker(6, 4, (0.25, 0.25, 0.25, 0.25), 7, permute=False)
    assert read("k.npz") == expected and found["m"] == expected.m


SMALL = {"scale": 4, "n": 12, "k": 4, "rows": 3, "columns": 4}


@pytest.mark.parametrize("kind", sorted(hw.generate.generators()))
def test_generate_has_a_command_for_every_generator(run: Run, kind: str) -> None:
    needed = [parameter.name for parameter in hw.generate.generators()[kind].parameters if parameter.required]
    arguments = [word for name in needed for word in (f"--{name}", SMALL[name])]
    text = run("generate", kind.replace("_", "-"), "out.npz", *arguments)
    expected = hw.generate.generators()[kind].call({name: SMALL[name] for name in needed})
    assert read("out.npz") == expected and f"{expected.n} vertices" in text


# -------------------------------------------------------------------- bfs


def test_bfs_level_table(run: Run, named: Path) -> None:
    text = run("bfs", named, "--source", "ann")
    counts = [line.split() for line in text.splitlines() if line.strip()[:1].isdigit()]
    assert [row[0] for row in counts] == ["0", "1", "2", "3", "4"]
    assert "4 of 6 vertices (66.6%) within 3 hops" in text
    assert "█" in text and "the default" in text


def test_bfs_says_which_source_it_took(run: Run, named: Path) -> None:
    assert "no --source given: starting from bob, which has the highest degree, 2" in run("bfs", named)
    assert "no --source given" not in run("bfs", named, "-s", "ann")


def test_bfs_json(answer: Answer, named: Path) -> None:
    found = answer("bfs", named, "-s", "ann", "-s", "eve", "--depth-limit", 2, "--validate", "--path-counts")
    assert (found["sources"], found["reached"], found["depth"]) == (["ann", "eve"], 5, 2)
    assert found["vertices_by_level"] == [2, 2, 1]
    assert found["validation"]["ok"] is True and set(found["validation"]["rules"].values()) == {True}
    assert [level["depth"] for level in found["levels"]] == [1, 2]
    assert found["source_given"] is True and found["depth_limit"] == 2


def test_bfs_direction_in_follows_arcs_backwards(answer: Answer, named: Path) -> None:
    found = answer("bfs", named, "--directed", "--direction", "in", "-s", "cyd", "--validate")
    assert found["vertices_by_level"] == [1, 1, 1] and found["validation"]["ok"]


def test_bfs_plan_and_device_are_honoured(answer: Answer, square: Path) -> None:
    found = answer("bfs", square, "-s", 0, "--plan", "xbfs", "--device", "reference")
    assert (found["plan"], found["engine"]) == ("xbfs", "reference")
    assert found["why"] == hw.bfs(hw.generate.path(2), 0, plan="xbfs").plan.why


def test_a_number_is_a_label_never_a_position(answer: Answer, fail: Fail, named: Path, tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text('"1","2"\n"2","0"\n"0","7"\n')
    found = answer("sssp", "texts.csv", "-s", 1, "-t", 0)
    assert found["sources"] == ["1"] and found["paths"][0]["path"] == ["1", "2", "0"]
    (tmp_path / "numbers.csv").write_text("10,20\n20,0\n")
    assert answer("bfs", "numbers.csv", "-s", 20)["sources"] == [20]


def test_bfs_writes_csv(run: Run, named: Path) -> None:
    run("bfs", named, "-s", "ann", "--out", "out.csv", "--path-counts")
    with Path("out.csv").open() as stream:
        found = {row["vertex"]: row for row in csv.DictReader(stream)}
    assert found["cyd"] == {"vertex": "cyd", "distance": "2", "predecessor": "bob", "path_count": "1.0"}
    assert found["eve"] == {"vertex": "eve", "distance": "-1", "predecessor": "", "path_count": "0.0"}


def test_bfs_writes_parquet(run: Run, named: Path) -> None:
    run("bfs", named, "-s", "ann", "--out", "out.parquet")
    assert pq.read_table("out.parquet").to_pydict() == {
        "vertex": ["ann", "bob", "cyd", "dan", "eve", "fay"],
        "distance": [0, 1, 2, 3, -1, -1],
        "predecessor": ["ann", "ann", "bob", "cyd", None, None],
    }


def test_bfs_writes_npz_without_pickles(run: Run, named: Path, square: Path) -> None:
    run("bfs", named, "-s", "ann", "--out", "out.npz")
    with np.load("out.npz", allow_pickle=False) as found:
        assert found["predecessor"].tolist() == ["ann", "ann", "bob", "cyd", "", ""]
    run("bfs", square, "-s", 0, "--out", "out.npz")
    with np.load("out.npz", allow_pickle=False) as found:
        assert found["vertex"].tolist() == list(range(16)) and found["distance"][15] == 6


def test_counts_beyond_float64_are_written_as_logarithms() -> None:
    result = hw.bfs(hw.generate.diamonds(1100), 0, path_counts=True, device="cpu")
    assert columns_of(result)["path_count_log2"][-1] == 1100


def test_labels_of_several_kinds_become_text_in_parquet(tmp_path: Path) -> None:
    graph = hw.Graph.from_edges([("a", 1), "b"], ["b", 7])
    files.write_columns(tmp_path / "out.parquet", columns_of(hw.bfs(graph, "b", device="reference")))
    found = pq.read_table(tmp_path / "out.parquet").to_pydict()
    assert sorted(found["vertex"]) == ["('a', 1)", "7", "b"]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_bfs_draws(run: Run, square: Path, ending: str) -> None:
    text = run("bfs", square, "--plot", f"terminal.{ending}")
    assert f"wrote terminal.{ending}" in text
    begins = Path(f"terminal.{ending}").read_bytes()[:8]
    assert begins.startswith({"png": PNG, "svg": b"<?xml", "pdf": b"%PDF"}[ending])


def test_bfs_draws_deep_and_lonely_searches(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "deep.npz", hw.generate.path(150))  # more levels than bars that fit with gaps between them
    write(tmp_path / "lonely.npz", hw.Graph.from_edges([], [], n=3))
    for name in ("deep", "lonely"):
        run("bfs", f"{name}.npz", "-s", 0, "--plot", f"{name}.png", "--device", "reference")
        assert Path(f"{name}.png").read_bytes()[:8] == PNG


def test_many_levels_are_grouped_unless_all_levels_is_given(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "deep.npz", hw.generate.path(100))
    short = run("bfs", "deep.npz", "-s", 0, "--device", "reference")
    full = run("bfs", "deep.npz", "-s", 0, "--device", "reference", "--all-levels")
    assert "101 levels in groups" in short and len(short.splitlines()) < 60
    assert len(full.splitlines()) > 100


def test_groups_lose_nothing() -> None:
    rows = terminal.rows(hw.bfs(hw.generate.path(400), 0, trace=True, device="cpu"))
    grouped = terminal.grouped(rows)
    assert len(grouped) <= terminal.MOST_ROWS
    assert sum(row.vertices for row in grouped) == 400
    assert math.isclose(sum(row.seconds for row in grouped), sum(row.seconds for row in rows))
    assert (grouped[0].first, grouped[-1].last) == (0, rows[-1].last)


# -------------------------------------------------------------------- plans


def test_plans(run: Run, answer: Answer) -> None:
    text = run("plans")
    found = answer("plans")["plans"]
    assert [plan["name"] for plan in found] == [plan.name for plan in hw.plans()]
    assert all(plan["name"] in text and plan["paper"] for plan in found)
    assert run("plans", "--markdown") == hw.plans().markdown() + "\n"
    assert "push(twc, reuse)" in run("plans", "xbfs")


# -------------------------------------------------------------------- the terminal


def test_bars_are_ascii_in_an_ascii_terminal() -> None:
    class Old:
        encoding = "ascii"

    assert terminal.bar(0.0, 8).plain == "" and terminal.bar(1e-9, 8).plain == "▏"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", Old())
        assert terminal.bar(0.5, 8).plain == "####"


def test_json_holds_numpy_and_strange_labels(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.emit({"number": np.int32(3), "array": np.arange(2), "label": ("a", 1), "set": {1}})
    assert json.loads(capsys.readouterr().out) == {"number": 3, "array": [0, 1], "label": ["a", 1], "set": "{1}"}


# -------------------------------------------------------------------- bench


def test_bench_times_every_search_plan(answer: Answer, square: Path) -> None:
    found = answer("bench", square, "--sources", 2, "--device", "cpu")
    assert {row["plan"] for row in found["plans"]} == {plan.name for plan in hw.plans() if plan.task == "search"}
    timed = [row for row in found["plans"] if row["seconds"] is not None]
    assert timed == found["plans"][: len(timed)], "those without a time come last"
    assert [row["seconds"] for row in timed] == sorted(row["seconds"] for row in timed)
    assert all(row["teps"] == pytest.approx(48 / row["seconds"]) and not row["note"] for row in timed)
    assert all(0 < row["low"] <= row["seconds"] <= row["high"] for row in timed) and found["rounds"] == 5
    assert timed[0]["place"] == 1 and all(row["place"] is None for row in found["plans"][len(timed) :])
    assert len(found["sources"]) == 2 and found["arcs"] == 48


def test_bench_says_why_a_plan_has_no_time(run: Run, square: Path) -> None:
    text = run(
        "bench", square, "--task", "betweenness", "--device", "cpu", "-p", "hopwave-batch", "-p", "hopwave-block"
    )
    rows = [line.split() for line in text.splitlines() if " hopwave-" in line and "±" not in line]
    assert rows[0][:2] == ["1", "hopwave-block"] and float(rows[0][2]) > 0 and rows[0][4] == "%"
    assert rows[1][:3] == ["–", "hopwave-batch", "–"] and "GPU" in " ".join(rows[1])


def test_bench_does_not_rank_within_noise(monkeypatch: pytest.MonkeyPatch, answer: Answer, square: Path) -> None:
    """xbfs is faster than merrill in every round, pushpull only in some."""
    took = {"merrill": 2.0, "xbfs": 1.0, "pushpull": 1.5}
    rounds = iter([0.4, 1.6, 0.8, 1.2, 1.0])

    def once(graph: Any, plan: Any, *rest: Any) -> float:
        return took[plan.name] * (next(rounds) if plan.name == "pushpull" else 1.0)

    monkeypatch.setattr(benchmarks, "time_searches", once)
    found = answer("bench", square, "--device", "cpu", *(part for name in took for part in ("-p", name)))
    assert [(row["plan"], row["place"]) for row in found["plans"]] == [("xbfs", 1), ("pushpull", 2), ("merrill", 3)]
    rounds = iter([0.4, 1.6, 0.6, 1.4, 1.0])
    found = answer("bench", square, "--device", "cpu", *(part for name in took for part in ("-p", name)))
    assert [(row["plan"], row["place"]) for row in found["plans"]] == [("xbfs", 1), ("pushpull", 1), ("merrill", 3)]


def test_bench_finds_a_wrong_result(
    square: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = hw.bfs

    def wrong(*arguments: Any, **options: Any) -> Any:
        result = right(*arguments, **options)
        if "plan" in options:
            result.distances[:] = 0
        return result

    monkeypatch.setattr(hw, "bfs", wrong)
    assert main(["bench", str(square), "--device", "cpu", "-p", "hopwave"]) == 1
    out, err = capsys.readouterr()
    assert "WRONG" in out and "wrong result" in err
