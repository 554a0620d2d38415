"""`hopwave bc` and --threads: what they print and write, and their errors."""

from __future__ import annotations

import csv
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from calls import PNG, Answer, Fail, Run, environment

import hopwave as hw
from hopwave.cli import main, terminal
from hopwave.io import write


def scores(found: dict[str, Any]) -> dict[Any, float]:
    return {row["vertex"]: row["betweenness"] for row in found["top"]}


def close(found: dict[Any, float], right: dict[Any, float]) -> None:
    assert found.keys() == right.keys()
    assert all(math.isclose(found[key], right[key], rel_tol=1e-9, abs_tol=1e-12) for key in right)


# -------------------------------------------------------------------- the table


def test_the_table(run: Run, named: Path) -> None:
    text = run("bc", named, "--raw", "--top", 3)
    rows = [line.split() for line in text.splitlines() if line.strip()[:1].isdigit()]
    assert [row[:3] for row in rows] == [["1", "bob", "2"], ["2", "cyd", "2"], ["3", "ann", "0"]]
    assert "█" in text and "Highest betweenness, all 6 sources" in text
    assert "all 6 sources; arithmetic checked to 0.0e+00" in text and "hopwave-block (one source per worker" in text


def test_edges_are_named_by_their_ends(run: Run, named: Path) -> None:
    assert "bob – cyd" in run("bc", named, "--edges", "--top", 1)
    assert "bob → cyd" in run("bc", named, "--edges", "--directed", "--top", 1)


def test_a_sample_shows_its_bounds(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "star.npz", hw.generate.star(3000))
    text = run("bc", "star.npz", "--epsilon", 0.1, "--seed", 1, "--delta", 0.2)
    assert "of 8,997,000 pairs; scores ± 0.0" in text and "(80%)" in text and "drawn paths checked" in text
    text = run("bc", "star.npz", "--epsilon", 0.1, "--seed", 1, "--method", "sources")
    assert "of 3,000 sources; scores ± 0.0" in text and "(90%); arithmetic checked to" in text
    assert "all 3,000 sources; scores exact" in run("bc", "star.npz", "--epsilon", 0.0001)


def test_a_sample_of_k_sources_shows_its_bounds(run: Run, answer: Answer, karate: Path) -> None:
    text = run("bc", karate, "-k", 20, "--seed", 1, "--delta", 0.2, "--plot", "out.png", "--out", "out.csv")
    assert "20 of 34 sources; scores ± 0." in text and "(80%); arithmetic checked to" in text
    assert Path("out.csv").read_text().startswith("vertex,betweenness,bound\n")
    graph = hw.Graph.from_networkx(nx.karate_club_graph(), weight=None)
    right = hw.betweenness_centrality(graph, k=20, seed=1, delta=0.2)
    for edges in ([], ["--edges"]):
        found = answer("bc", karate, "-k", 20, "--seed", 1, "--delta", 0.2, "--top", 100, *edges)
        assert found["widest_bound"] == max(row["bound"] for row in found["top"]) and found["delta"] == 0.2
        assert edges or [row["bound"] for row in found["top"]] == [right.bounds[v] for v, _ in right.top(100)]
    assert answer("bc", karate)["widest_bound"] is None


def test_the_score_of_the_only_source_is_unknown(run: Run, answer: Answer, named: Path) -> None:
    assert "unknown" in run("bc", named, "-k", 1, "--seed", 1)
    found = answer("bc", named, "-k", 1, "--seed", 1)
    assert [(row["betweenness"], row["bound"]) for row in found["top"]].count((None, None)) == 1


def test_numbers_for_a_table() -> None:
    assert [terminal.score(x) for x in (0.0, 0.5, 999.96, 123456.78)] == ["0", "0.5", "999.96", "123,456.8"]


# -------------------------------------------------------------------- options


def test_json(answer: Answer, karate: Path) -> None:
    found = answer("bc", karate, "--top", 34)
    close(scores(found), nx.betweenness_centrality(nx.karate_club_graph()))
    assert (found["n"], found["m"], found["edges"], found["sources"]) == (34, 156, 78, 34)
    assert (found["scored"], found["engine"]) == ("vertices", "cpu")
    assert found["certificate"]["error"] <= found["certificate"]["tolerance"]
    ordered = [row["betweenness"] for row in found["top"]]
    assert ordered == sorted(ordered, reverse=True) and found["scores_above_zero"] == np.count_nonzero(ordered)


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (["-k", 9, "--seed", 4], {"k": 9, "seed": 4}),
        (["--endpoints"], {"endpoints": True}),
        (["--raw"], {"normalized": False}),
    ],
)
def test_options_as_networkx(answer: Answer, karate: Path, options: list[Any], arguments: dict[str, Any]) -> None:
    found = answer("bc", karate, "--top", 34, *options)
    close(scores(found), nx.betweenness_centrality(nx.karate_club_graph(), **arguments))


def test_sources_targets_and_cutoff(answer: Answer, karate: Path) -> None:
    given = ("-s", 0, "-s", 5, "-t", 33, "--target", 20, "--raw")
    right = nx.betweenness_centrality_subset(nx.karate_club_graph(), [0, 5], [33, 20])
    close(scores(answer("bc", karate, "--top", 34, *given)), right)
    near = answer("bc", karate, "--cutoff", 1, "--top", 1)
    assert near["top"][0]["betweenness"] == 0 and near["cutoff"] == 1


def test_vertices_by_label(answer: Answer, named: Path) -> None:
    found = answer("bc", named, "-s", "ann", "-t", "dan", "--raw")
    assert scores(found)["bob"] == 0.5 and scores(found)["eve"] == 0


def test_edges(answer: Answer, karate: Path) -> None:
    found = answer("bc", karate, "--edges", "--top", 78)
    assert {(row["source"], row["target"]): row["betweenness"] for row in found["top"]} == pytest.approx(
        nx.edge_betweenness_centrality(nx.karate_club_graph())
    )
    assert found["scored"] == "edges" and len(found["top"]) == 78


def test_plan_device_and_threads_are_honoured(
    run: Run, answer: Answer, karate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = answer("bc", karate, "--plan", "turbobc-sccsc", "--device", "cpu", "--threads", 2)
    assert (found["plan"], found["engine"]) == ("turbobc-sccsc", "cpu")
    given: list[Any] = []

    def recording(function: Any) -> Any:
        def call(*graph: Any, **options: Any) -> Any:
            given.append(options["threads"])
            return function(*graph, **options)

        return call

    monkeypatch.setattr(hw, "betweenness_centrality", recording(hw.betweenness_centrality))
    monkeypatch.setattr(hw, "bfs", recording(hw.bfs))
    run("bc", karate, "--threads", 3)
    run("bfs", karate, "--threads", 2)
    assert given == [3, 2]


def test_top_0_shows_no_scores(run: Run, answer: Answer, karate: Path) -> None:
    assert answer("bc", karate, "--top", 0)["top"] == []
    assert "arithmetic checked" in run("bc", karate, "--top", 0)


def test_a_graph_without_vertices(run: Run, answer: Answer, tmp_path: Path) -> None:
    write(tmp_path / "none.npz", hw.Graph.from_edges([], [], n=0))
    assert answer("bc", "none.npz")["top"] == []
    run("bc", "none.npz", "--plot", "none.png")
    assert Path("none.png").read_bytes()[:8] == PNG


# -------------------------------------------------------------------- files


def test_writes_csv(run: Run, named: Path) -> None:
    assert "wrote out.csv" in run("bc", named, "--raw", "--out", "out.csv")
    with Path("out.csv").open() as stream:
        found = {row["vertex"]: row["betweenness"] for row in csv.DictReader(stream)}
    assert found == {"ann": "0.0", "bob": "2.0", "cyd": "2.0", "dan": "0.0", "eve": "0.0", "fay": "0.0"}


def test_writes_edges_as_parquet(run: Run, named: Path) -> None:
    run("bc", named, "--edges", "--raw", "--out", "out.parquet")
    found = pq.read_table("out.parquet").to_pydict()
    assert found["source"] == ["ann", "bob", "cyd", "eve"] and found["target"] == ["bob", "cyd", "dan", "fay"]
    assert found["betweenness"] == [3.0, 4.0, 3.0, 1.0]


def test_writes_npz_with_bounds(run: Run, named: Path) -> None:
    run("bc", named, "--directed", "--epsilon", 0.1, "--out", "out.npz")
    with np.load("out.npz", allow_pickle=False) as found:
        assert found["vertex"].tolist()[:2] == ["ann", "bob"] and found["bound"].tolist() == [0.0] * 6


def test_draws(run: Run, karate: Path) -> None:
    assert "wrote scores.png" in run("bc", karate, "--plot", "scores.png")
    assert Path("scores.png").read_bytes()[:8] == PNG


@pytest.mark.slow
def test_draws_strange_scores(run: Run, tmp_path: Path, named: Path) -> None:
    write(tmp_path / "flat.npz", hw.generate.complete(6))
    write(tmp_path / "many.npz", hw.generate.uniform(6000, edge_factor=3))
    for arguments in (["flat.npz"], [named, "-k", "1"], ["many.npz", "-k", "40", "--edges"], ["many.npz", "-k", "9"]):
        run("bc", *arguments, "--plot", "out.png")
        assert Path("out.png").read_bytes()[:8] == PNG


def test_a_checkpoint_is_written_and_continued(answer: Answer, karate: Path) -> None:
    first = answer("bc", karate, "--checkpoint", "run.npz")
    assert first["checkpoint"] == "run.npz" and Path("run.npz").exists()
    assert answer("bc", karate, "--checkpoint", "run.npz")["top"] == first["top"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_ctrl_c_says_how_to_continue(tmp_path: Path) -> None:
    """A signal in the middle of the run; then the same command again, which finishes."""
    write(tmp_path / "mesh.npz", hw.generate.delaunay(2000, seed=1))
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

    def start(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", script, *arguments]
        return subprocess.run(command, env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=120)

    stopped = start("stop")
    assert (stopped.returncode, stopped.stdout) == (130, "")
    assert stopped.stderr.splitlines() == [
        "hopwave: progress is saved in run.npz; repeat the same call or command to continue",
        "hopwave: error: stopped",
    ]
    with np.load(tmp_path / "run.npz") as stored:
        assert stored["done"] > 0
    resumed = start()
    assert resumed.returncode == 0, resumed.stderr
    right = hw.betweenness_centrality(hw.generate.delaunay(2000, seed=1)).top(10)
    assert [(row["vertex"], row["betweenness"]) for row in json.loads(resumed.stdout)["top"]] == right


def test_a_failed_certificate_is_an_error_of_the_engine(
    fail: Fail, karate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hopwave.algorithms.brandes.TOLERANCE", -1.0)
    code, message = fail("bc", karate, "--out", "out.csv")
    assert code == 4 and "failed its own check" in message and not Path("out.csv").exists()


def test_a_continued_run_says_so(
    karate: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HOPWAVE_PROGRESS")
    monkeypatch.chdir(karate.parent)
    sampled = ("--epsilon", "0.2", "--method", "paths", "--seed", "1")
    for path, how, done in (("run.npz", (), "34 of 34 sources"), ("paths.npz", sampled, r"[\d,]+ pairs")):
        said = []
        for _ in range(2):
            assert main(["bc", str(karate), "--checkpoint", path, *how]) == 0
            said.append(capsys.readouterr().err)
        assert "continuing" not in said[0]
        assert re.search(f"^hopwave: continuing from {path}: {done} are done$", said[1], re.MULTILINE)


def test_a_picture_shows_as_many_scores_as_the_table(run: Run, karate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr("hopwave.display.drawing.highest", lambda axes, names, *more: drawn.append(len(names)))
    run("bc", karate, "--top", 20, "--plot", "out.png")
    assert drawn == [20]
