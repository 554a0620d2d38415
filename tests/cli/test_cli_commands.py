"""What every command prints and writes if there is no error, as text and as JSON; pipes."""

import io
import json
import os
import re
import shlex
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from docs import readme

import hopwave as hw
from hopwave.cli import app, main, terminal
from hopwave.io import read, write

SHOWN = [  # command, what it prints; the text must not contain what follows "not "
    ("--version", f"hopwave {hw.__version__}\n"),
    ("info square.mtx.gz", "vertices            16", "edges               24", "4–7", "█"),
    ("info square.mtx.gz --memory", "Peak memory", "betweenness_centrality, k=1"),
    ("info none.mtx", "vertices            0"),
    ("convert named.csv out.mtx.gz --drop-labels", "labels dropped", "not with labels"),
    ("bfs named.csv --source ann", "4 of 6 vertices (66.6%) within 3 hops", "█", "the default", "not without --source"),
    ("bfs named.csv", "without --source, the search starts from bob, which has the highest degree, 2"),
    ("plans xbfs", "push(twc, reuse)"),
    (
        "bc named.csv --raw --top 3",
        "Highest betweenness, all 6 sources",
        "all 6 sources; arithmetic checked to 0.0e+00",
    ),
    ("bc named.csv --raw --top 3", "hopwave-block (one source per worker", "█", "1   bob                2"),
    ("bc named.csv --edges --top 1", "bob – cyd"),
    ("bc named.csv --edges --directed --top 1", "bob → cyd"),
    ("bc named.csv -k 1 --seed 1", "unknown"),
    ("bc karate.npz -k 20 --seed 1 --delta 0.2", "20 of 34 sources; scores ± 0.", "(80%); arithmetic checked to"),
    ("bc star.npz --epsilon 0.1 --seed 1 --delta 0.2", "of 8,997,000 pairs; scores ± 0.0", "(80%)", "drawn paths"),
    ("bc star.npz --epsilon 0.1 --seed 1 --method sources", "of 3,000 sources; scores ± 0.0", "(90%); arithmetic"),
    ("bc star.npz --epsilon 0.0001", "all 3,000 sources; scores exact"),
    ("bc triangle.mtx", "in hops; --weights follows the weights of the file"),
    ("bc twice.csv --weights --combine min", "brandes-dijkstra (weights are the lengths of arcs"),
    ("closeness triangle.mtx --weights", "along the weights of the file"),
    ("closeness karate.npz", "34 full searches, 0 stopped early, 0 skipped"),
    ("closeness karate.npz --all --top 2", "all 34 vertices", "Highest closeness centrality"),
    ("closeness karate.npz -k 20 --seed 1 --interval normal", "from 20 sources", "(about 90%, normal)"),
    ("sssp streets.csv -s a -t d -t f", "dijkstra (the graph is small)", "Shortest paths from a", "4 of 6 vertices"),
    ("sssp streets.csv -s a -t d -t f", "the weights of the file", "to d (7): a → b → c → d", "to f: no path"),
    ("sssp streets.csv --trace --combine min", "starts from c, which has the highest degree", "rounds"),
    ("pagerank karate.npz --no-weights --restart 5 --top 2", "Highest PageRank", "equally likely"),
    ("table ring.npz -s a -s b -t d", "2 × 1"),
    ("accessibility ring.npz --limit 15", "Most vertices within 15"),
    ("routes streets.csv -s a -t d", "Shortest paths from a to d", "7   a → b → c → d", "9   a → c → d"),
    ("cores streets.csv --no-weights", "core numbers: 2", "2          3   50"),
    ("bfs named.csv -s ann -s eve --depth-limit 2 --path-counts --validate", "5 of 5 rules hold", "not NOT"),
    ("bfs named.csv --directed --direction in -s cyd --validate", "5 of 5 rules hold", "not NOT"),
]
DEGREES = [(1, 1, 0), (2, 3, 12), (4, 7, 4)]
JOBS = {"vertex": "a", "jobs within 15": 100.0, "jobs within 40": 140.0, "rent within 15": 8.0, "rent within 40": 8.0}
LIMITS = ("--limit 15 --limit 40", "--limit 15,40")
NEAR = {"vertex": "d", "facility 1": "b", "distance 1": 35.0, "facility 2": None, "distance 2": None}
REACHED = {2: {"limit": 2.0, "vertices": 2, "arcs": 4}, 4: {"limit": 4.0, "vertices": 3, "arcs": 7}}
ANSWERED: list[tuple[str, dict[str, Any]]] = [  # command, part of its JSON
    ("info square.mtx.gz", {"n": 16, "m": 48, "edges": 24, "directed": False, "labels": False}),
    ("info square.mtx.gz", {"degrees": [dict(zip(("from", "to", "vertices"), row, strict=True)) for row in DEGREES]}),
    ("info named.csv -r source=to -r target=from --directed", {"directed": True}),
    ("info triangle.mtx", {"weights": {"type": "float64", "min": 1.0, "max": 4.0}}),
    ("info triangle.mtx --no-weights", {"weights": None}),
    ("convert named.csv out.npz", {"format": "npz", "labels_written": True}),
    ("bfs named.csv -s ann -s eve --depth-limit 2", {"sources": ["ann", "eve"], "reached": 5, "depth": 2}),
    ("bfs named.csv -s ann -s eve --depth-limit 2", {"vertices_by_level": [2, 2, 1], "source_given": True}),
    ("bfs named.csv --directed --direction in -s cyd", {"vertices_by_level": [1, 1, 1]}),
    ("bfs square.mtx.gz -s 0 --plan xbfs --device reference", {"plan": "xbfs", "engine": "reference"}),
    ("bfs twice.csv --source 0", {"depth": 1}),  # hops, whatever the weights
    ("bc twice.csv -r weights=false", {"n": 3}),
    ("bc karate.npz", {"n": 34, "m": 156, "edges": 78, "sources": 34, "scored": "vertices", "engine": "cpu"}),
    ("bc karate.npz", {"widest_bound": None}),
    ("bc karate.npz --top 0", {"top": []}),
    ("bc karate.npz --plan turbobc-sccsc --device cpu", {"plan": "turbobc-sccsc", "engine": "cpu"}),
    ("bc triangle.mtx --raw --weights --cutoff 5.5 --top 1", {"top": [{"vertex": 0, "betweenness": 1.0}]}),
    ("bc triangle.mtx --raw --weights --cutoff 5.5", {"weights": True, "plan": "brandes-dijkstra", "cutoff": 5.5}),
    ("bc triangle.mtx --raw --weights --edges --cutoff 3", {"scored": "edges", "cutoff": 3}),
    ("bc named.csv -s ann -t dan --raw --top 1", {"top": [{"vertex": "bob", "betweenness": 0.5}]}),
    ("bc lengths.tsv --weights -r weight=2 --raw --top 1", {"top": [{"vertex": "b", "betweenness": 1.0}]}),
    ("sssp streets.csv -s a -s f --limit 3", {"reached": 5, "greatest_distance": 3.0, "sources": ["a", "f"]}),
    ("sssp streets.csv -s a -t c", {"paths": [{"target": "c", "length": 3.0, "path": ["a", "b", "c"]}]}),
    ("sssp streets.csv -s a", {"buckets": None, "weights": True, "method": "dijkstra", "why": "the graph is small"}),
    ("sssp streets.csv --delta 2 --no-weights", {"sources": ["c"], "source_given": False, "method": "delta-stepping"}),
    ("sssp titled.tsv -r weight=km --source a", {"greatest_distance": 3.5}),
    ("sssp texts.csv -s 1 -t 0", {"paths": [{"target": "0", "length": 2.0, "path": ["1", "2", "0"]}]}),
    ("bfs numbers.csv -s 20", {"sources": [20]}),
    ("sssp twice.csv --source 0 -r weights=false", {"weights": False}),
    ("table ring.npz -s a -s b -t d --limit 40", {"distances": [[None], [35.0]]}),
    ("table ring.npz -s a --no-weights", {"distances": [[0, 1, 2, 1]]}),
    *((f"accessibility ring.npz --values jobs.csv {some} --top 1", {"top": [JOBS]}) for some in LIMITS),
    ("routes streets.csv -s a -t d -k 1 --no-weights", {"top": [{"length": 2.0, "path": ["a", "c", "d"]}]}),
    ("nearest ring.npz --facilities homes.txt -k 2 --limit 40 --top 1", {"top": [NEAR], "reached": 4}),
    ("nearest named.csv --directed --facility cyd --direction in", {"reached": 2}),
    ("isochrones streets.csv -s a --limit 2,4", {"top": [REACHED[2], REACHED[4]], "weights": True}),
    (
        "isochrones named.csv --directed -s cyd --direction in --limit 9",
        {"top": [{"limit": 9.0, "vertices": 3, "arcs": 2}]},
    ),
    ("components named.csv --directed --strong", {"count": 6}),
    ("cores karate.npz --top 1", {"top": [{"core number": 4, "vertices": 10, "%": 29.41}], "count": 4}),
]


def test_what_commands_print(run) -> None:
    for command, *words in SHOWN:
        text = run(command)
        for word in words:
            assert (word.removeprefix("not ") in text) != word.startswith("not "), f"{command}: {word}\n{text}"


def test_what_commands_answer_as_json(answer) -> None:
    for command, expected in ANSWERED:
        found = answer(command)
        assert {name: found[name] for name in expected} == expected, command


COMMANDS = ["generate", *(command.callback.__name__ for command in app.app.registered_commands)]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(run, command: str) -> None:
    assert f" {command} " in run("--help")
    text = run(f"{command} --help")
    assert "--json" in text and f"Example: hopwave {command}" in text
    own = [line for line in text.lower().splitlines() if "--help" not in line]  # flags have no type
    assert not any("<bool>" in line or "boolean" in line for line in own)


@pytest.mark.parametrize(
    ("words", "expected"),
    [("hopwave b", ["bfs", "bc", "bench"]), ("hopwave plans xbfs-s", ["xbfs-static", "xbfs-sync"])],
)
def test_the_shell_completes(words: str, expected: list[str], monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for name, value in {"_HOPWAVE_COMPLETE": "complete_bash", "COMP_WORDS": words}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    assert main([]) == 0
    assert capsys.readouterr().out.split() == expected


# -------------------------------------------------------------------- graph files


def test_info_tells_shapes_apart(answer) -> None:
    """One number is not enough: the scale-free metric of all these graphs is below TurboBC's threshold."""
    grid = hw.generate.grid(60, 60)
    hub = [np.append(end, more) for end, more in zip(grid.to_edges(), ([0] * 60, range(100, 160)), strict=True)]
    skewed, hubs = hw.generate.barabasi_albert(3000, 3, seed=1), hw.Graph.from_edges(*hub)
    for shape, graph in {"even": grid, "skewed": skewed, "even with hubs": hubs}.items():
        write("graph.npz", graph)
        found = answer("info graph.npz")
        assert (found["shape"], found["regular"]) == (shape, True)
    assert replace(grid.stats(), max_degree=2, busiest_share=0.05).shape == "uneven"


def test_convert_writes_the_graph_that_it_read(run) -> None:
    weighted = hw.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[2.5, 4, 1])
    for command, out, expected in (
        ("named.csv out.npz", "out.npz", read("named.csv")),
        ("named.csv out.mtx --drop-labels", "out.mtx", hw.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5])),
        ("square.mtx.gz plain --to metis", "square.mtx.gz", hw.generate.grid(4, 4)),
        ("plain back.sg --from metis", "back.sg", hw.generate.grid(4, 4)),
        ("square.mtx.gz square.mtx.gz", "square.mtx.gz", hw.generate.grid(4, 4)),  # in place
        ("triangle.mtx out.npz", "out.npz", weighted),
        ("twice.csv max.npz --combine max", "max.npz", weighted),
        ("twice.csv sum.npz --combine sum", "sum.npz", hw.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[4.5, 4, 1])),
        ("triangle.mtx bare.npz --no-weights", "bare.npz", weighted.without_weights()),
    ):
        run(f"convert {command}")
        assert read(out) == expected, command


@pytest.mark.parametrize(("name", "kind"), [("a.csv", "directed"), ("a.bin", "directed"), ("a.el", "undirected")])
def test_convert_notes_a_direction_that_the_file_cannot_hold(run, name: str, kind: str, capsys) -> None:
    assert main(["convert", "square.mtx.gz", name, f"--{kind}"]) == 0
    assert f"does not record that a graph is {kind}; pass directed={kind == 'directed'}" in capsys.readouterr().err
    run(f"convert square.mtx.gz {name} {'--undirected' if kind == 'directed' else '--directed'}")  # nothing on stderr


def test_generate_lists_every_generator_and_passes_its_options(run, answer) -> None:
    text, found = run("generate --list"), {kind["name"] for kind in answer("generate --list")["generators"]}
    assert found == set(hw.generate.generators()) and all(name.replace("_", "-") in text for name in found)
    options = "--scale 6 --edge-factor 4 --seed 7 --initiator .25,.25,.25,.25 --no-permute"
    expected = hw.generate.kronecker(6, 4, (0.25, 0.25, 0.25, 0.25), 7, permute=False)
    assert answer(f"generate kronecker {options} k.npz")["m"] == expected.m and read("k.npz") == expected


SMALL = {"scale": 4, "n": 12, "k": 4, "rows": 3, "columns": 4}


@pytest.mark.parametrize("kind", sorted(hw.generate.generators()))
def test_generate_has_a_command_for_every_generator(run, kind: str) -> None:
    needed = [parameter.name for parameter in hw.generate.generators()[kind].parameters if parameter.required]
    options = " ".join(f"--{name} {SMALL[name]}" for name in needed)
    text = run(f"generate {kind.replace('_', '-')} out.npz {options}")
    expected = hw.generate.generators()[kind].call({name: SMALL[name] for name in needed})
    assert read("out.npz") == expected and f"{expected.n} vertices" in text


def test_of_many_levels_some_are_shown_unless_all_levels_is_given(run) -> None:
    short, full = (run(f"bfs deep.npz -s 0 --device reference {option}") for option in ("", "--all-levels"))
    assert "one in 3 of 101 levels" in short and len(short.splitlines()) < 60 and len(full.splitlines()) > 100


# -------------------------------------------------------------------- plans, bench, the terminal


def test_plans(run, answer) -> None:
    text, found = run("plans"), answer("plans")["plans"]
    assert [plan["name"] for plan in found] == [plan.name for plan in hw.plans()]
    assert all(plan["name"] in text and plan["paper"] for plan in found)
    assert run("plans --markdown") == hw.plans().markdown() + "\n"


def test_json_holds_numpy_and_strange_labels(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.emit({"number": np.int32(3), "array": np.arange(2), "label": ("a", 1), "set": {1}})
    assert json.loads(capsys.readouterr().out) == {"number": 3, "array": [0, 1], "label": ["a", 1], "set": "{1}"}


def test_bench_times_every_search_plan(answer) -> None:
    found = answer("bench square.mtx.gz --sources 2 --device cpu")
    assert {row["plan"] for row in found["plans"]} == {plan.name for plan in hw.plans() if plan.task == "search"}
    timed = [row for row in found["plans"] if row["seconds"] is not None]
    assert timed == found["plans"][: len(timed)], "those without a time come last"
    assert [row["seconds"] for row in timed] == sorted(row["seconds"] for row in timed)
    assert all(row["teps"] == pytest.approx(48 / row["seconds"]) and not row["note"] for row in timed)
    assert all(0 < row["low"] <= row["seconds"] <= row["high"] for row in timed) and found["rounds"] == 5
    assert timed[0]["place"] == 1 and all(row["place"] is None for row in found["plans"][len(timed) :])
    assert len(found["sources"]) == 2 and found["arcs"] == 48


def test_bench_says_why_a_plan_has_no_time(run) -> None:
    text = run("bench square.mtx.gz --task betweenness --device cpu -p hopwave-batch -p hopwave-block")
    rows = [line.split() for line in text.splitlines() if " hopwave-" in line and "±" not in line]
    assert rows[0][:2] == ["1", "hopwave-block"] and float(rows[0][2]) > 0 and rows[0][4] == "%"
    assert rows[1][:3] == ["–", "hopwave-batch", "–"] and "GPU" in " ".join(rows[1])


def test_bench_finds_a_wrong_result(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    right = hw.bfs

    def wrong(*arguments: Any, **options: Any) -> Any:
        result = right(*arguments, **options)
        if "plan" in options:
            result.distances[:] = 0
        return result

    monkeypatch.setattr(hw, "bfs", wrong)
    assert main(["bench", "square.mtx.gz", "--device", "cpu", "-p", "hopwave"]) == 1
    out, err = capsys.readouterr()
    assert "WRONG" in out and "wrong result" in err


# -------------------------------------------------------------------- pipes


def pipe_in(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """Makes these bytes the standard input of the next command."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_a_graph_from_standard_input(answer, fail, monkeypatch: pytest.MonkeyPatch) -> None:
    for file, n in (("named.csv", 6), ("square.mtx.gz", 16), ("karate.npz", 34)):  # text, gzip with a signature, npz
        pipe_in(monkeypatch, Path(file).read_bytes())
        found = answer("info -")
        assert (found["file"], found["bytes"], found["n"]) == ("-", None, n)
    for content, option in ((b"# Undirected graph\n0 1\n1 2\n", ""), (b"0 1\n1 2\n", "--format snap")):
        pipe_in(monkeypatch, content)
        assert answer(f"bfs - --source 0 {option}")["depth"] == 2
    for content, option, words in ((b"a,b\nc\n", "-r header=false", "2: too few cells: 1"), (b"", "", "1: is empty")):
        pipe_in(monkeypatch, content)
        assert fail(f"info - {option}")[1].startswith(f"hopwave: error: -:{words}; expected")
    monkeypatch.setattr("sys.stdin", type("Terminal", (io.StringIO,), {"isatty": lambda self: True})())
    assert "- reads standard input, which is this terminal; pipe a file into it" in fail("info -")[1]


def test_a_graph_from_a_named_pipe(answer) -> None:
    os.mkfifo("fifo")
    writer = threading.Thread(target=lambda: Path("fifo").write_bytes(Path("named.csv").read_bytes()))
    writer.start()
    assert answer("info fifo")["n"] == 6
    writer.join()


def test_standard_output_gets_the_file_and_nothing_else(run) -> None:
    for command in ("bfs", "bc", "sssp", "closeness", "pagerank", "components", "cores"):
        assert run(f"{command} named.csv --out out.csv")
        assert run(f"{command} named.csv --out -") == Path("out.csv").read_text() and not Path("-").exists()
    Path("again.csv").write_text(run("convert named.csv - --to table"))
    assert read("again.csv") == read("named.csv")
    Path("path.mtx").write_text(run("generate path --n 3 - --to matrix-market"))
    assert read("path.mtx") == hw.generate.path(3)


# -------------------------------------------------------------------- the README

ELSEWHERE = ("warmup", "fetch", "paper")  # too slow for here; tests/datasets has a server; tests/papers


@pytest.mark.parametrize("command", [command for command in readme.commands() if command.split()[1] not in ELSEWHERE])
def test_commands_run_as_they_are_written(command: str, run) -> None:
    hw.write("web.mtx.gz", hw.generate.kronecker(6, 4, seed=1))
    grid = hw.generate.grid(10, 10)
    hw.write("roads.csv", grid.with_weights([2.5] * grid.m))
    words = shlex.split(re.sub(r"^mpiexec -n \d+ ", "", command))  # tests/mpi starts several processes
    assert words[0] == "hopwave"
    assert run(" ".join(readme.smaller(words[1:])))


def test_there_are_commands() -> None:
    assert {"info", "bfs", "bc", "sssp", "closeness", "doctor"} <= {command.split()[1] for command in readme.commands()}
