"""`hopwave bc`, `hopwave warmup` and --threads: what they say and write, and what they say when something is wrong."""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest

import hopwave as hw
from hopwave.cli import bc, main, warmup
from hopwave.io import write

Run = Callable[..., str]
Fail = Callable[..., tuple[int, str]]
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in an empty folder and returns what it wrote to stdout; anything on stderr is a failure."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> str:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        return out

    return call


@pytest.fixture
def fail(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Runs a command that must fail, with nothing on stdout and one line on stderr; returns exit code and line."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, str]:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert out == "" and err.startswith("hopwave: error: ") and err.count("\n") == 1
        return code, err.strip()

    return call


def answer(run: Run, *arguments: object) -> dict[str, Any]:
    """The JSON object that a command writes, which must be all that it writes."""
    text = run(*arguments, "--json")
    assert text.count("\n") == 1
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """ann - bob - cyd - dan, and eve - fay apart."""
    path = tmp_path / "named.csv"
    path.write_text("from,to\nann,bob\nbob,cyd\ncyd,dan\neve,fay\n")
    return path


@pytest.fixture
def karate(tmp_path: Path) -> Path:
    path = tmp_path / "karate.npz"
    write(path, hw.Graph.from_networkx(nx.karate_club_graph()))
    return path


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
    assert "certified to 0.0e+00 over 6 sources" in text and "hopwave-block (one source per worker" in text


def test_edges_are_named_by_their_ends(run: Run, named: Path) -> None:
    assert "bob – cyd" in run("bc", named, "--edges", "--top", 1)
    assert "bob → cyd" in run("bc", named, "--edges", "--directed", "--top", 1)


def test_a_sample_shows_its_bounds(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "star.npz", hw.generate.star(3000))
    text = run("bc", "star.npz", "--epsilon", 0.1, "--seed", 1, "--delta", 0.2)
    assert "±" in text and "within its bound, with probability 0.8; the widest is ± 0.0" in text
    assert "exact: all sources were cheaper" in run("bc", "star.npz", "--epsilon", 0.0001)


def test_one_source_does_not_know_itself(run: Run, named: Path) -> None:
    assert "unknown" in run("bc", named, "-k", 1, "--seed", 1)
    found = answer(run, "bc", named, "-k", 1, "--seed", 1)
    assert [row["betweenness"] for row in found["top"]].count(None) == 1


def test_numbers_for_a_table() -> None:
    assert [bc.shown(x) for x in (0.0, 0.5, 999.96, 123456.78)] == ["0", "0.5", "999.96", "123,456.8"]


# -------------------------------------------------------------------- what is asked


def test_json(run: Run, karate: Path) -> None:
    found = answer(run, "bc", karate, "--top", 34)
    close(scores(found), nx.betweenness_centrality(nx.karate_club_graph()))
    assert (found["n"], found["m"], found["sources"], found["edges"], found["engine"]) == (34, 156, 34, False, "cpu")
    assert found["certificate"]["error"] <= found["certificate"]["tolerance"]
    ordered = [row["betweenness"] for row in found["top"]]
    assert ordered == sorted(ordered, reverse=True) and found["scores_above_zero"] == np.count_nonzero(ordered)


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        (["-k", 9, "--seed", 4], {"k": 9, "seed": 4}),
        (["--endpoints"], {"endpoints": True}),
        (["--raw"], {"normalized": False}),
    ],
)
def test_options_as_networkx(run: Run, karate: Path, options: list[Any], asked: dict[str, Any]) -> None:
    found = answer(run, "bc", karate, "--top", 34, *options)
    close(scores(found), nx.betweenness_centrality(nx.karate_club_graph(), **asked))


def test_sources_targets_and_cutoff(run: Run, karate: Path) -> None:
    given = ("-s", 0, "-s", 5, "-t", 33, "--target", 20, "--raw")
    right = nx.betweenness_centrality_subset(nx.karate_club_graph(), [0, 5], [33, 20])
    close(scores(answer(run, "bc", karate, "--top", 34, *given)), right)
    near = answer(run, "bc", karate, "--cutoff", 1, "--top", 1)
    assert near["top"][0]["betweenness"] == 0 and near["cutoff"] == 1


def test_names_typed_by_people(run: Run, named: Path) -> None:
    found = answer(run, "bc", named, "-s", "ann", "-t", 3, "--raw")
    assert scores(found)["bob"] == 0.5 and scores(found)["eve"] == 0


def test_edges(run: Run, karate: Path) -> None:
    found = answer(run, "bc", karate, "--edges", "--top", 78)
    assert {(row["source"], row["target"]): row["betweenness"] for row in found["top"]} == pytest.approx(
        nx.edge_betweenness_centrality(nx.karate_club_graph())
    )
    assert found["edges"] is True and len(found["top"]) == 78


def test_plan_device_and_threads_are_honoured(run: Run, karate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = answer(run, "bc", karate, "--plan", "turbobc-sccsc", "--device", "cpu", "--threads", 2)
    assert (found["plan"], found["why"], found["engine"]) == ("turbobc-sccsc", "asked for", "cpu")
    heard: list[Any] = []
    for name in ("betweenness_centrality", "bfs"):
        original = getattr(hw, name)
        monkeypatch.setattr(
            hw,
            name,
            lambda *given, original=original, **how: (heard.append(how["threads"]), original(*given, **how))[1],
        )
    run("bc", karate, "--threads", 3)
    run("bfs", karate, "--threads", 2)
    assert heard == [3, 2]


def test_top_0_shows_no_scores(run: Run, karate: Path) -> None:
    assert answer(run, "bc", karate, "--top", 0)["top"] == []
    assert "certified" in run("bc", karate, "--top", 0)


def test_a_graph_without_vertices(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "none.npz", hw.Graph.from_edges([], [], n=0))
    assert answer(run, "bc", "none.npz")["top"] == []
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


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_draws(run: Run, karate: Path, ending: str) -> None:
    assert f"wrote scores.{ending}" in run("bc", karate, "--plot", f"scores.{ending}")
    begins = Path(f"scores.{ending}").read_bytes()[:8]
    assert begins.startswith({"png": PNG, "svg": b"<?xml", "pdf": b"%PDF"}[ending])


def test_draws_strange_scores(run: Run, tmp_path: Path, named: Path) -> None:
    write(tmp_path / "flat.npz", hw.generate.complete(6))
    write(tmp_path / "many.npz", hw.generate.uniform(6000, edge_factor=3))
    for arguments in (["flat.npz"], [named, "-k", "1"], ["many.npz", "-k", "40", "--edges"], ["many.npz", "-k", "9"]):
        run("bc", *arguments, "--plot", "out.png")
        assert Path("out.png").read_bytes()[:8] == PNG


def test_a_checkpoint_is_written_and_taken_up(run: Run, karate: Path) -> None:
    first = answer(run, "bc", karate, "--checkpoint", "run.npz")
    assert first["checkpoint"] == "run.npz" and Path("run.npz").exists()
    assert answer(run, "bc", karate, "--checkpoint", "run.npz")["top"] == first["top"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    """A signal while sources are being done; then the same command again, to the end."""
    write(tmp_path / "mesh.npz", hw.generate.delaunay(6000, seed=1))
    script = (
        "import os, signal, sys, threading\n"
        "from hopwave.algorithms import brandes\n"
        "from hopwave.cli import main\n"
        "class Meter(brandes.Meter):\n"
        "    def update(self, done):\n"
        "        if 0 < done < 6000: os.kill(os.getpid(), signal.SIGINT)\n"
        "brandes.Meter = Meter if len(sys.argv) > 1 else brandes.Meter\n"
        "sys.exit(main(['bc', 'mesh.npz', '--checkpoint', 'run.npz', '--json']))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def start(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", script, *arguments]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    stopped = start("stop")
    assert (stopped.returncode, stopped.stdout) == (130, "")
    assert stopped.stderr.splitlines() == [
        "hopwave: what is done is in run.npz; the same command goes on from there",
        "hopwave: error: stopped",
    ]
    with np.load(tmp_path / "run.npz") as stored:
        assert stored["done"] > 0
    resumed = start()
    assert resumed.returncode == 0, resumed.stderr
    right = hw.betweenness_centrality(hw.generate.delaunay(6000, seed=1)).top(10)
    assert [(row["vertex"], row["betweenness"]) for row in json.loads(resumed.stdout)["top"]] == right


# -------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("code", "words", "arguments"),
    [
        (2, "--k", ["bc", "karate.npz", "-k", "few"]),
        (2, "--top", ["bc", "karate.npz", "--top", "-1"]),
        (2, "--edges goes with neither", ["bc", "karate.npz", "--edges", "--epsilon", "0.1"]),
        (2, "--edges goes with neither", ["bc", "karate.npz", "--edges", "--endpoints"]),
        (3, "no such file", ["bc", "missing.mtx"]),
        (3, "k=99 sources cannot be drawn from 34 vertices", ["bc", "karate.npz", "-k", "99"]),
        (3, "give one of the two", ["bc", "karate.npz", "-k", "9", "-s", "1"]),
        (3, "between 0 and 1", ["bc", "karate.npz", "--epsilon", "2"]),
        (3, "'zoe' is not a vertex", ["bc", "karate.npz", "-s", "zoe"]),
        (3, "cutoff=-1", ["bc", "karate.npz", "--cutoff", "-1"]),
        (3, "plan 'magic' is not known", ["bc", "karate.npz", "--plan", "magic"]),
        (3, "plan 'xbfs' is a search", ["bc", "karate.npz", "--plan", "xbfs"]),
        (3, "scores vertices alone", ["bc", "karate.npz", "--plan", "hopwave-wide", "--edges"]),
        (3, "the reference engine searches only", ["bc", "karate.npz", "--device", "reference"]),
        (3, "use .csv", ["bc", "karate.npz", "--out", "out.txt"]),
        (3, "use .png", ["bc", "karate.npz", "--plot", "out.gif"]),
        (3, "make it first", ["bc", "karate.npz", "--checkpoint", "missing/run.npz"]),
        (3, "expected a checkpoint", ["bc", "karate.npz", "--checkpoint", "karate.npz"]),
        (4, "threads=0 is not a number of threads", ["bc", "karate.npz", "--threads", "0"]),
        (4, "threads=-1 is not a number of threads", ["bfs", "karate.npz", "--threads", "-1"]),
        (4, "device 'tpu' is not known", ["bc", "karate.npz", "--device", "tpu"]),
        (4, "for one worker and may use 10 bytes; raise memory_limit=", ["bc", "karate.npz", "--memory-limit", "10"]),
    ],
)
def test_wrong_arguments(fail: Fail, karate: Path, code: int, words: str, arguments: list[str]) -> None:
    before = karate.read_bytes()
    found, message = fail(*arguments)
    assert found == code and words in message
    assert [path.name for path in Path.cwd().iterdir()] == ["karate.npz"] and karate.read_bytes() == before


def test_a_failed_certificate_is_an_error_of_the_engine(
    fail: Fail, karate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hopwave.algorithms.brandes.TOLERANCE", -1.0)
    code, message = fail("bc", karate, "--out", "out.csv")
    assert code == 4 and "failed its own check" in message and not Path("out.csv").exists()


# -------------------------------------------------------------------- warmup


def test_warmup(run: Run) -> None:
    found = answer(run, "warmup")
    assert [part["name"] for part in found["parts"]] == list(warmup.PARTS)
    assert math.isclose(found["seconds"], sum(part["seconds"] for part in found["parts"]))
    text = run("warmup")
    assert all(name in text for name in warmup.PARTS) and "was on disk" in text and "Ready in" in text


def test_after_a_warmup_nothing_is_compiled(run: Run) -> None:
    from numba.core.event import install_recorder

    run("warmup")
    graph = hw.generate.kronecker(10)
    with install_recorder("numba:compile") as record:
        for plan in hw.plans():
            if plan.task == "search":
                hw.bfs(graph, 0, plan=plan, device="cpu", trace=True)
        hw.bfs(graph, [0, 1], predecessors=False, path_counts=True, depth_limit=3, direction="in", device="cpu")
        hw.betweenness_centrality(graph, k=9, targets=None, endpoints=True, cutoff=3)
        hw.betweenness_centrality(graph, sources=[0], targets=[1], plan="hopwave-wide")
        hw.betweenness_centrality(hw.generate.rmat(9), plan="turbobc-vecsc")
        hw.betweenness_centrality(graph, epsilon=0.2)
        hw.edge_betweenness_centrality(graph, k=9)
    assert not record.buffer


def test_warmup_tells_what_it_compiled(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    def fresh() -> None:
        numba.njit(lambda x: x + 1)(1)

    monkeypatch.setattr(warmup, "PARTS", {"something new": fresh, "nothing": lambda: None})
    assert [part["compiled"] for part in answer(run, "warmup")["parts"]] == [True, False]
