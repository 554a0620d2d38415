"""`hopwave bc`, `closeness`, `pagerank` and other results: their numbers, tables, pictures and checkpoints."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest

import hopwave as hw
from hopwave.cli import files, main
from hopwave.io import read, write

KARATE = nx.karate_club_graph()


@pytest.mark.parametrize(
    ("options", "right"),
    [
        ("", nx.betweenness_centrality(KARATE)),
        ("-k 9 --seed 4", nx.betweenness_centrality(KARATE, k=9, seed=4)),
        ("--endpoints", nx.betweenness_centrality(KARATE, endpoints=True)),
        ("--raw", nx.betweenness_centrality(KARATE, normalized=False)),
        ("-s 0 -s 5 -t 33 --target 20 --raw", nx.betweenness_centrality_subset(KARATE, [0, 5], [33, 20])),
        ("--edges", nx.edge_betweenness_centrality(KARATE)),
    ],
)
def test_options_as_networkx(answer, options: str, right: dict[Any, float]) -> None:
    found = answer(f"bc karate.npz --top 78 {options}")
    scores = {row.get("vertex", (row.get("source"), row.get("target"))): row["betweenness"] for row in found["top"]}
    assert scores == pytest.approx(right, rel=1e-9, abs=1e-12)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert found["scores_above_zero"] == np.count_nonzero(list(scores.values()))
    assert found["certificate"]["error"] <= found["certificate"]["tolerance"]


def test_a_sample_shows_its_bounds(answer) -> None:
    right = hw.betweenness_centrality(hw.Graph.from_networkx(KARATE, weight=None), k=20, seed=1, delta=0.2)
    for edges in ("", "--edges"):
        found = answer(f"bc karate.npz -k 20 --seed 1 --delta 0.2 --top 100 {edges}")
        assert found["widest_bound"] == max(row["bound"] for row in found["top"]) and found["delta"] == 0.2
        assert edges or [row["bound"] for row in found["top"]] == [right.bounds[v] for v, _ in right.top(100)]
    found = answer("bc named.csv -k 1 --seed 1")  # the score of the only source is unknown
    assert [(row["betweenness"], row["bound"]) for row in found["top"]].count((None, None)) == 1
    sample = "closeness karate.npz -k 20 --seed 1"
    found, narrow = answer(sample), answer(f"{sample} --interval normal")
    assert (found["k"], found["interval"], found["delta"]) == (20, "guaranteed", 0.1)
    for wide, less in zip(found["top"], narrow["top"], strict=True):
        assert wide["low"] <= less["low"] <= less["closeness"] == wide["closeness"] <= less["high"] <= wide["high"]


def test_pagerank_takes_its_options(answer) -> None:
    for option, weights in (("", None), ("--no-weights", False)):
        found = answer(f"pagerank karate.npz --alpha 0.5 --tol 1e-9 --restart 5 --top 3 {option}")
        right = hw.pagerank(KARATE, 0.5, {5: 1}, tol=1e-9, weights=weights).top(3)
        assert dict(row.values() for row in found["top"]) == pytest.approx(dict(right))
        assert found["weights"] is (weights is None)


def test_closeness_takes_its_options(answer, capsys: pytest.CaptureFixture[str]) -> None:
    for option, right in (("", nx.closeness_centrality(KARATE)), ("--harmonic", nx.harmonic_centrality(KARATE))):
        found = answer(f"closeness karate.npz --top 4 {option}")
        scores = [row[found["score"]] for row in found["top"]]
        assert scores == pytest.approx(sorted(right.values(), reverse=True)[:4])
        assert sum(found["searches"].values()) == 34
    right = hw.closeness_centrality(read("triangle.mtx"), weights=True).top(2)
    for option in ("", "--all"):
        found = answer(f"closeness triangle.mtx --weights --top 2 {option}")
        assert found["weights"] is True and [tuple(row.values()) for row in found["top"]] == right
    write("path.npz", hw.generate.path(3, directed=True))
    assert [answer(f"closeness path.npz --top 1 {way}")["top"][0]["vertex"] for way in ("", "--outwards")] == [2, 0]
    for option, rows in (("--all", 34), ("--top 34", 34), ("", 10)):  # a file of the highest scores says so
        assert main(["closeness", "karate.npz", "--out", "scores.csv", *option.split()]) == 0
        note = "only the 10 highest scores of 34 vertices were written; --all computes and writes all"
        assert capsys.readouterr().err == (f"hopwave: note: {note}\n" if rows == 10 else "")
        assert len(columns("scores.csv")["closeness"]) == rows


def test_a_continued_run_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("HOPWAVE_PROGRESS")
    sampled = ("--epsilon", "0.2", "--method", "paths", "--seed", "1")
    for path, how, done in (("run.npz", (), "34 of 34 sources"), ("paths.npz", sampled, r"[\d,]+ pairs")):
        said = []
        for _ in range(2):
            assert main(["bc", "karate.npz", "--checkpoint", path, "--json", *how]) == 0
            said.append(capsys.readouterr())
        (first, second), notes = ([json.loads(one.out) for one in said], [one.err for one in said])
        assert first["checkpoint"] == path and second["top"] == first["top"] and "continuing" not in notes[0]
        assert re.search(f"^hopwave: continuing from {path}: {done} are done$", notes[1], re.MULTILINE)


# -------------------------------------------------------------------- tables and pictures


def columns(path: str) -> dict[str, Any]:
    """The columns of a file that a command wrote."""
    if path.endswith(".parquet"):
        return pq.read_table(path).to_pydict()  # type: ignore[no-any-return]
    if path.endswith(".csv"):
        with Path(path).open() as stream:
            titles, *rows = csv.reader(stream)
        return dict(zip(titles, map(list, zip(*rows, strict=True)), strict=True))
    found = np.load(path, allow_pickle=False)
    return {"table": found.tolist()} if path.endswith(".npy") else {name: found[name].tolist() for name in found}


PEOPLE = ["ann", "bob", "cyd", "dan", "eve", "fay"]
ENDS = {"source": ["ann", "bob", "cyd", "eve"], "target": ["bob", "cyd", "dan", "fay"]}
BEFORE = ["ann", "ann", "bob", "cyd"]
FILES: list[tuple[str, str, dict[str, Any]]] = [  # command, --out, columns of the file
    ("bfs named.csv -s ann", "out.csv", {"distance": [*"0123", "-1", "-1"], "predecessor": [*BEFORE, "", ""]}),
    ("bfs named.csv -s ann --path-counts", "out.csv", {"vertex": PEOPLE, "path_count": ["1.0"] * 4 + ["0.0"] * 2}),
    ("bfs named.csv -s ann", "out.parquet", {"vertex": PEOPLE, "distance": [0, 1, 2, 3, -1, -1]}),
    ("bfs named.csv -s ann", "out.parquet", {"predecessor": [*BEFORE, None, None]}),
    ("bfs named.csv -s ann", "out.npz", {"predecessor": [*BEFORE, "", ""]}),
    ("bfs square.mtx.gz -s 0", "out.npz", {"vertex": list(range(16))}),
    ("bc named.csv --raw", "out.csv", {"betweenness": ["0.0", "2.0", "2.0", "0.0", "0.0", "0.0"]}),
    ("bc named.csv --edges --raw", "out.parquet", ENDS | {"betweenness": [3.0, 4.0, 3.0, 1.0]}),
    ("bc named.csv --directed --epsilon 0.1", "out.npz", {"vertex": PEOPLE, "bound": [0.0] * 6}),
    ("sssp streets.csv --source a", "out.csv", {"distance": ["0.0", "1.0", "3.0", "7.0", "inf", "inf"]}),
    ("sssp streets.csv --source a", "out.csv", {"predecessor": ["a", "a", "b", "c", "", ""]}),
    ("table ring.npz --sources homes.txt", "out.npy", {"table": [[10, 0, 25, 35], [0, 10, 35, 45]]}),
    ("routes streets.csv -s a -t c", "out.npz", {"length": [3, 3, 3, 5, 5], "vertex": [*"abcac"]}),
    ("isochrones streets.csv -s a --limit 1,2", "out.npz", {"limit": [1, 1, 2, 2, 2, 2], "tail": [*"aaaabb"]}),
    ("nearest streets.csv --facility a", "out.csv", {"distance 1": ["0.0", "1.0", "3.0", "7.0", "inf", "inf"]}),
    ("cores streets.csv", "out.csv", {"core number": [*"222111"]}),
    ("components streets.csv", "out.csv", {"component": [*"000011"]}),
    ("accessibility ring.npz --limit 15", "out.csv", {"vertex": list("abcd"), "vertices within 15": ["2.0"] * 4}),
]


def test_files_of_results(run) -> None:
    for command, out, expected in FILES:
        assert f"wrote {out}" in run(f"{command} --out {out}")
        found = columns(out)
        assert {name: found[name] for name in expected} == expected, command
    sample = "--top 4 -k 20 --seed 1 --out out.csv"
    for command, titles in (("bc", "bound"), ("closeness --interval normal", "bound low high standard_error")):
        run(f"{command} karate.npz {sample}")
        assert list(columns("out.csv"))[2:] == titles.split()
    mixed = hw.bfs(hw.Graph.from_edges([("a", 1), "b"], ["b", 7]), "b", device="reference")
    files.write_columns(Path("out.parquet"), {**mixed._names(), **mixed._columns()})  # labels of several kinds: text
    assert sorted(columns("out.parquet")["vertex"]) == ["('a', 1)", "7", "b"]


FIRST = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF"}  # bytes of a picture
PICTURES = [
    *("bfs square.mtx.gz -s 0 --plot out.png", "bfs square.mtx.gz --plot out.svg", "bfs square.mtx.gz --plot out.pdf"),
    *("bfs deep.npz -s 0 --plot out.png", "bfs lonely.npz -s 0 --plot out.png"),  # more levels than bars; no edge
    *("bc karate.npz --plot out.png", "bc none.mtx --plot out.png", "closeness karate.npz -k 20 --plot out.png"),
    *("bc named.csv -k 1 --plot out.png", "bc flat.npz --plot out.png", "bc many.npz -k 40 --edges --plot out.png"),
]


@pytest.mark.slow
def test_pictures(run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("lonely.npz", hw.Graph.from_edges([], [], n=3))
    write("flat.npz", hw.generate.complete(6))
    write("many.npz", hw.generate.uniform(2000, edge_factor=3))
    for command in PICTURES:
        out = Path(command.split()[-1])
        assert f"wrote {out}" in run(command) and out.read_bytes().startswith(FIRST[out.suffix[1:]]), command
    drawn: list[int] = []  # as many scores as the table shows
    monkeypatch.setattr("hopwave.results.scores.plot_scores", lambda *given: drawn.append(given[-1]))
    run("bc karate.npz --top 20 --plot out.png")
    assert drawn == [20]
