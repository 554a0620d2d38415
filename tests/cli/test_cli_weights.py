"""Weights on the command line: shown by info, kept by convert, combined or dropped on request, ignored by searches."""

from __future__ import annotations

from pathlib import Path

import pytest
from calls import Answer, Fail, Run

import hopwave as hw
from hopwave import Graph
from hopwave.io import read


@pytest.fixture
def roads(tmp_path: Path) -> Path:
    """Three roads, one of them listed twice with different lengths."""
    path = tmp_path / "roads.csv"
    path.write_text("source,target,weight\n0,1,2.5\n1,2,4\n2,0,1\n0,1,2\n")
    return path


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    path = tmp_path / "clean.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 2.5\n3 2 4\n3 1 1\n")
    return path


def test_info_shows_weights(run: Run, answer: Answer, clean: Path) -> None:
    assert "1 to 4, float64" in run("info", clean)
    assert answer("info", clean)["weights"] == {"type": "float64", "min": 1.0, "max": 4.0}
    assert answer("info", clean, "--no-weights")["weights"] is None
    words = run("info", clean, "--no-weights").split()
    assert words[words.index("weights") + 1] == "none"


@pytest.mark.parametrize("command", [["info"], ["bc"], ["sssp", "--source", "0"]])
def test_weights_are_left_out_by_an_option_of_reading(run: Run, fail: Fail, roads: Path, command: list[str]) -> None:
    words = [command[0], roads, *command[1:], "-r"]
    assert "warning" not in run(*words, "weights=false").lower()


def test_convert_keeps_weights(run: Run, answer: Answer, clean: Path) -> None:
    assert "with weights" in run("convert", clean, "out.npz")
    assert read("out.npz") == Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[2.5, 4, 1])
    assert answer("convert", clean, "bare.npz", "--no-weights")["weights"] is None
    assert read("bare.npz") == Graph.from_edges([0, 1, 2], [1, 2, 0])


@pytest.mark.parametrize(("rule", "weight"), [("min", 2.0), ("max", 2.5), ("sum", 4.5), ("first", 2.5)])
def test_repeated_edges_are_combined_as_told(run: Run, roads: Path, rule: str, weight: float) -> None:
    run("convert", roads, "out.npz", "--combine", rule)
    assert read("out.npz").edges().weights.tolist()[0] == weight  # type: ignore[union-attr]


def test_betweenness_along_weights(run: Run, answer: Answer, fail: Fail, roads: Path, clean: Path) -> None:
    """The path from 0 to 1 is shorter by way of 2; in hops no vertex lies between two others."""
    assert answer("bc", clean, "--raw")["top"][0]["betweenness"] == 0
    found = answer("bc", clean, "--raw", "--weights", "--cutoff", "5.5", "--top", 1)
    assert found["top"] == [{"vertex": 0, "betweenness": 1.0}]
    assert (found["weights"], found["plan"], found["cutoff"]) == (True, "brandes-dijkstra", 5.5)
    assert (
        answer("bc", clean, "--raw", "--weights", "--edges", "--cutoff", 3, "--top", 1)["top"][0]["betweenness"] == 1.0
    )
    assert "brandes-dijkstra (weights are the lengths of arcs" in run("bc", roads, "--weights", "--combine", "min")
    assert "combine=" in fail("bc", roads, "--weights")[1]


def test_closeness_along_weights(run: Run, answer: Answer, fail: Fail, clean: Path) -> None:
    right = hw.closeness_centrality(read(clean), weights=True).top(2)
    for options in ([], ["--all"]):
        found = answer("closeness", clean, "--weights", "--top", 2, *options)
        assert found["weights"] is True and [tuple(row.values()) for row in found["top"]] == right
    assert answer("closeness", clean)["top"][0]["closeness"] == 1.0


def test_a_column_that_may_be_weights_is_named(
    answer: Answer, fail: Fail, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The warning says in one line what to add to the command; with that option, lengths are used."""
    table = tmp_path / "lengths.tsv"
    table.write_text("a\tb\t1.5\nb\tc\t2\na\tc\t4\n")
    _, message = fail("convert", table, tmp_path / "bare.npz")
    assert "pass weight=2 to read it, or weights=False" in message and "--read-option NAME=VALUE" in message
    _, message = fail("bc", table, "--weights")
    assert "weight=2" in message
    found = answer("bc", table, "--weights", "-r", "weight=2", "--raw", "--top", 1)
    assert found["top"] == [{"vertex": "b", "betweenness": 1.0}]
    table.write_text("origin\tdest\tkm\na\tb\t1.5\nb\tc\t2\na\tc\t4\n")
    _, message = fail("sssp", table, "--source", "a")
    assert "column 'km' may be weights" in message and "weight='km'" in message
    found = answer("sssp", table, "-r", "weight=km", "--source", "a")
    assert found["weights"] and found["greatest_distance"] == 3.5


def test_searches_ignore_weights(answer: Answer, roads: Path) -> None:
    assert answer("bfs", roads, "--source", "0")["depth"] == 1
    assert answer("bc", roads)["n"] == 3


def test_centralities_say_what_their_distances_count(run: Run, clean: Path) -> None:
    for command in ("bc", "closeness"):
        assert "in hops; --weights follows the weights of the file" in run(command, clean)
        assert "along the weights of the file" in run(command, clean, "--weights")
