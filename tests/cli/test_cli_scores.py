"""`hopwave bc`, `closeness`, `pagerank`, `sssp`, `table` and `accessibility`: their numbers, files and checkpoints."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from calls import PNG, started

import hopwave as hw
from hopwave.cli import main, terminal
from hopwave.io import read, write

KARATE = nx.karate_club_graph()


def column(path: str, name: str) -> dict[str, str]:
    """A column of a CSV file, by vertex."""
    with Path(path).open() as stream:
        return {row["vertex"]: row[name] for row in csv.DictReader(stream)}


@pytest.mark.parametrize(
    ("options", "right"),
    [
        ("", nx.betweenness_centrality(KARATE)),
        ("-k 9 --seed 4", nx.betweenness_centrality(KARATE, k=9, seed=4)),
        ("--endpoints", nx.betweenness_centrality(KARATE, endpoints=True)),
        ("--raw", nx.betweenness_centrality(KARATE, normalized=False)),
        ("-s 0 -s 5 -t 33 --target 20 --raw", nx.betweenness_centrality_subset(KARATE, [0, 5], [33, 20])),
    ],
)
def test_options_as_networkx(answer, options: str, right: dict[Any, float]) -> None:
    found = answer(f"bc karate.npz --top 34 {options}")
    scores = {row["vertex"]: row["betweenness"] for row in found["top"]}
    assert scores == pytest.approx(right, rel=1e-9, abs=1e-12)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert found["scores_above_zero"] == np.count_nonzero(list(scores.values()))
    assert found["certificate"]["error"] <= found["certificate"]["tolerance"]


def test_edges_and_labels(answer) -> None:
    found = answer("bc karate.npz --edges --top 78")
    assert {(row["source"], row["target"]): row["betweenness"] for row in found["top"]} == pytest.approx(
        nx.edge_betweenness_centrality(KARATE)
    )
    assert found["scored"] == "edges" and len(found["top"]) == 78
    found = answer("bc named.csv -s ann -t dan --raw")
    assert {row["vertex"]: row["betweenness"] for row in found["top"]}["bob"] == 0.5
    found = answer("bc triangle.mtx --raw --weights --edges --cutoff 3 --top 1")
    assert found["top"][0]["betweenness"] == 1.0


def test_a_sample_shows_its_bounds(run, answer) -> None:
    write("star.npz", hw.generate.star(3000))
    text = run("bc star.npz --epsilon 0.1 --seed 1 --delta 0.2")
    assert "of 8,997,000 pairs; scores ± 0.0" in text and "(80%)" in text and "drawn paths checked" in text
    text = run("bc star.npz --epsilon 0.1 --seed 1 --method sources")
    assert "of 3,000 sources; scores ± 0.0" in text and "(90%); arithmetic checked to" in text
    assert "all 3,000 sources; scores exact" in run("bc star.npz --epsilon 0.0001")
    sample = "bc karate.npz -k 20 --seed 1 --delta 0.2"
    text = run(f"{sample} --plot out.png --out out.csv")
    assert "20 of 34 sources; scores ± 0." in text and "(80%); arithmetic checked to" in text
    assert Path("out.csv").read_text().startswith("vertex,betweenness,bound\n")
    right = hw.betweenness_centrality(hw.Graph.from_networkx(KARATE, weight=None), k=20, seed=1, delta=0.2)
    for edges in ("", "--edges"):
        found = answer(f"{sample} --top 100 {edges}")
        assert found["widest_bound"] == max(row["bound"] for row in found["top"]) and found["delta"] == 0.2
        assert edges or [row["bound"] for row in found["top"]] == [right.bounds[v] for v, _ in right.top(100)]
    found = answer("bc named.csv -k 1 --seed 1")  # the score of the only source is unknown
    assert [(row["betweenness"], row["bound"]) for row in found["top"]].count((None, None)) == 1


def test_numbers_for_a_table() -> None:
    assert [terminal.score(x) for x in (0.0, 0.5, 999.96, 123456.78)] == ["0", "0.5", "999.96", "123,456.8"]


def test_threads_reach_the_engine(run, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    def recording(function: Any) -> Any:
        return lambda *graph, **options: (given.append(options["threads"]), function(*graph, **options))[1]

    for name in ("betweenness_centrality", "bfs"):
        monkeypatch.setattr(hw, name, recording(getattr(hw, name)))
    run("bc karate.npz --threads 3")
    run("bfs karate.npz --threads 2")
    assert given == [3, 2]


def test_files_of_scores(run) -> None:
    assert "wrote out.csv" in run("bc named.csv --raw --out out.csv")
    assert list(column("out.csv", "betweenness").values()) == ["0.0", "2.0", "2.0", "0.0", "0.0", "0.0"]
    run("bc named.csv --edges --raw --out out.parquet")
    found = pq.read_table("out.parquet").to_pydict()
    assert found["source"] == ["ann", "bob", "cyd", "eve"] and found["target"] == ["bob", "cyd", "dan", "fay"]
    assert found["betweenness"] == [3.0, 4.0, 3.0, 1.0]
    run("bc named.csv --directed --epsilon 0.1 --out out.npz")
    with np.load("out.npz", allow_pickle=False) as arrays:
        assert arrays["vertex"].tolist()[:2] == ["ann", "bob"] and arrays["bound"].tolist() == [0.0] * 6
    run("sssp streets.csv --source a --out far.csv")
    assert list(column("far.csv", "distance").values()) == ["0.0", "1.0", "3.0", "7.0", "inf", "inf"]
    assert list(column("far.csv", "predecessor").values()) == ["a", "a", "b", "c", "", ""]
    Path("homes.txt").write_text("b\n\na\n")
    assert "wrote table.npy" in run("table ring.npz --sources homes.txt --out table.npy")
    assert (np.load("table.npy") == hw.distance_table(read("ring.npz"), ["b", "a"]).values).all()
    run("accessibility ring.npz --limit 15 --out reach.csv")
    assert Path("reach.csv").read_text() == "vertex,vertices within 15\na,2.0\nb,2.0\nc,2.0\nd,2.0\n"


def test_draws(run, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("karate.npz", "none.mtx"):
        assert "wrote scores.png" in run(f"bc {file} --plot scores.png")
        assert Path("scores.png").read_bytes()[:8] == PNG
    drawn: list[int] = []  # as many scores as the table shows
    monkeypatch.setattr("hopwave.display.drawing.highest", lambda axes, names, *more: drawn.append(len(names)))
    run("bc karate.npz --top 20 --plot out.png")
    assert drawn == [20]


@pytest.mark.slow
def test_draws_strange_scores(run) -> None:
    write("flat.npz", hw.generate.complete(6))
    write("many.npz", hw.generate.uniform(6000, edge_factor=3))
    for command in ("flat.npz", "named.csv -k 1", "many.npz -k 40 --edges", "many.npz -k 9"):
        run(f"bc {command} --plot out.png")
        assert Path("out.png").read_bytes()[:8] == PNG


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_ctrl_c_says_how_to_continue() -> None:
    """A signal in the middle of the run; then the same command again, which finishes."""
    write("mesh.npz", hw.generate.delaunay(2000, seed=1))
    script = (
        "import os, signal, sys, threading\n"
        "from hopwave.algorithms import many_sources\n"
        "from hopwave.cli import main\n"
        "class Meter(many_sources.Meter):\n"
        "    def update(self, done):\n"
        "        if 0 < done < 2000: os.kill(os.getpid(), signal.SIGINT)\n"
        "many_sources.Meter = Meter if len(sys.argv) > 1 else many_sources.Meter\n"
        "sys.exit(main(['bc', 'mesh.npz', '--checkpoint', 'run.npz', '--json']))\n"
    )
    code, out, err = started(sys.executable, "-c", script, "stop")
    assert (code, out) == (130, "") and err.splitlines() == [
        "hopwave: progress is saved in run.npz; repeat the same call or command to continue",
        "hopwave: error: stopped",
    ]
    with np.load("run.npz") as stored:
        assert stored["done"] > 0
    code, out, err = started(sys.executable, "-c", script)
    assert code == 0, err
    right = hw.betweenness_centrality(hw.generate.delaunay(2000, seed=1)).top(10)
    assert [(row["vertex"], row["betweenness"]) for row in json.loads(out)["top"]] == right


def test_a_failed_certificate_is_an_error_of_the_engine(fail, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopwave.algorithms.brandes.TOLERANCE", -1.0)
    code, message = fail("bc karate.npz --out out.csv")
    assert code == 4 and "failed its own check" in message and not Path("out.csv").exists()


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


# -------------------------------------------------------------------- closeness, PageRank, accessibility


def test_pagerank_is_that_of_networkx(answer) -> None:
    found = answer("pagerank karate.npz --tol 1e-9 --top 3 --out ranks.csv")
    assert found["weights"] is True and [row["vertex"] for row in found["top"]] == [33, 0, 32]
    ranks = {int(vertex): float(rank) for vertex, rank in column("ranks.csv", "pagerank").items()}
    assert ranks == pytest.approx(nx.pagerank(KARATE, tol=1e-9), abs=1e-7)
    plain = hw.pagerank(KARATE, weights=False, personalization={5: 1}).top(1)
    assert answer("pagerank karate.npz --no-weights --restart 5")["top"][0]["vertex"] == plain[0][0]


def test_closeness_is_that_of_networkx(run, answer, capsys: pytest.CaptureFixture[str]) -> None:
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
        assert len(column("scores.csv", "closeness")) == rows
    page = " ".join(run("closeness --help").replace("│", " ").split())
    assert "Write the computed scores, one row each: the highest (--top)" in page


def test_closeness_from_a_sample(run, answer) -> None:
    sample = "closeness karate.npz -k 20 --seed 1"
    found, narrow = answer(sample), answer(f"{sample} --interval normal")
    assert (found["k"], found["interval"], found["delta"]) == (20, "guaranteed", 0.1)
    for wide, less in zip(found["top"], narrow["top"], strict=True):
        assert wide["low"] <= less["low"] <= less["closeness"] == wide["closeness"] <= less["high"] <= wide["high"]
    text = run(f"{sample} --interval normal --out scores.csv --plot scores.png")
    assert "from 20 sources" in text and "(about 90%, normal)" in text
    assert Path("scores.csv").read_text().startswith("vertex,closeness,bound,low,high,standard_error\n")
    assert Path("scores.png").read_bytes().startswith(PNG)


def test_sssp_shows_buckets_and_accessibility_decays(answer) -> None:
    traced = answer("sssp streets.csv --delta 2 --trace --no-weights")
    assert sum(bucket["vertices"] for bucket in traced["buckets"]) == 4
    assert len(answer("accessibility ring.npz --decay power:1 --inwards --top 4")["top"]) == 4
