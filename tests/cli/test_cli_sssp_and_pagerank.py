"""`hopwave sssp`, `hopwave pagerank` and `hopwave closeness`: what they print and write, and their errors."""

from __future__ import annotations

import csv
from pathlib import Path

import networkx as nx
import pytest
from calls import PNG, Answer, Fail, Run

import hopwave as hw
from hopwave.cli import main


@pytest.fixture
def roads(tmp_path: Path) -> Path:
    path = tmp_path / "roads.csv"
    path.write_text("source,target,weight\na,b,1\na,c,5\nb,c,2\nc,d,4\ne,f,1\n")
    return path


def test_sssp_prints_distances_and_paths(run: Run, roads: Path) -> None:
    text = run("sssp", roads, "--source", "a", "--target", "d", "--target", "f", "--out", "far.csv")
    assert "dijkstra (the graph is small)" in text
    assert "Shortest paths from a" in text and "4 of 6 vertices" in text and "the weights of the file" in text
    assert "to d (7): a → b → c → d" in text and "to f: no path" in text and "wrote far.csv" in text
    with Path("far.csv").open() as file:
        rows = {row["vertex"]: (row["distance"], row["predecessor"]) for row in csv.DictReader(file)}
    assert rows["d"] == ("7.0", "c") and rows["a"] == ("0.0", "a") and rows["f"] == ("inf", "")


def test_sssp_as_json(answer: Answer, roads: Path) -> None:
    found = answer("sssp", roads, "-s", "a", "-s", "f", "-t", "c", "--limit", "3")
    assert (found["reached"], found["greatest_distance"], found["sources"]) == (5, 3.0, ["a", "f"])
    assert found["paths"] == [{"target": "c", "length": 3.0, "path": ["a", "b", "c"]}]
    assert found["buckets"] is None and found["weights"] is True and found["method"] == "dijkstra"
    assert (found["plan"], found["why"]) == ("dijkstra", "the graph is small")
    traced = answer("sssp", roads, "--delta", "2", "--trace", "--no-weights")
    assert traced["sources"] == ["c"] and not traced["source_given"] and traced["method"] == "delta-stepping"
    assert sum(bucket["vertices"] for bucket in traced["buckets"]) == 4


def test_sssp_says_where_it_starts_and_shows_buckets(run: Run, roads: Path) -> None:
    text = run("sssp", roads, "--trace", "--combine", "min")
    assert "starting from c, which has the highest degree" in text
    assert ["from", "rounds", "vertices", "arcs", "ms"] in [line.split() for line in text.splitlines()]


def test_pagerank_is_that_of_networkx(run: Run, answer: Answer, karate: Path) -> None:
    right = nx.pagerank(nx.karate_club_graph(), tol=1e-9)
    found = answer("pagerank", karate, "--tol", "1e-9", "--top", "3", "--out", "ranks.csv")
    assert found["weights"] is True and [row["vertex"] for row in found["top"]] == [33, 0, 32]
    with Path("ranks.csv").open() as file:
        ranks = {int(row["vertex"]): float(row["pagerank"]) for row in csv.DictReader(file)}
    assert ranks == pytest.approx(right, abs=1e-7)
    text = run("pagerank", karate, "--no-weights", "--restart", "5", "--top", "2")
    assert "Highest PageRank" in text and "equally likely" in text
    plain = hw.pagerank(nx.karate_club_graph(), weights=False, personalization={5: 1}).top(1)
    assert answer("pagerank", karate, "--no-weights", "--restart", "5")["top"][0]["vertex"] == plain[0][0]


def test_closeness_is_that_of_networkx(run: Run, answer: Answer, karate: Path) -> None:
    G = nx.karate_club_graph()
    for options, right in (([], nx.closeness_centrality(G)), (["--harmonic"], nx.harmonic_centrality(G))):
        found = answer("closeness", karate, "--top", 4, *options)
        scores = [row[found["score"]] for row in found["top"]]
        assert scores == pytest.approx(sorted(right.values(), reverse=True)[:4])
        assert sum(found["searches"].values()) == 34
    text = run("closeness", karate, "--all", "--out", "scores.csv", "--top", 2)
    assert "all 34 whole" in text and "Highest closeness centrality" in text and "wrote scores.csv" in text
    assert len(Path("scores.csv").read_text().splitlines()) == 35
    assert "34 searches whole, 0 cut off, 0 skipped" in run("closeness", karate)


def test_a_file_of_the_highest_closeness_says_so(capsys: pytest.CaptureFixture[str], run: Run, karate: Path) -> None:
    assert main(["closeness", str(karate), "--out", "scores.csv"]) == 0
    note = "only the 10 highest scores of 34 vertices were written; --all computes and writes all"
    assert capsys.readouterr().err == f"hopwave: note: {note}\n"
    assert len(Path("scores.csv").read_text().splitlines()) == 11
    run("closeness", karate, "--out", "scores.csv", "--top", 34)  # nothing on stderr
    page = " ".join(run("closeness", "--help").replace("│", " ").split())
    assert "Write the computed scores, one row each: the highest (--top)" in page


def test_closeness_from_a_sample(run: Run, answer: Answer, fail: Fail, karate: Path) -> None:
    sample = ("closeness", karate, "-k", 20, "--seed", 1)
    found, narrow = answer(*sample), answer(*sample, "--interval", "normal")
    assert (found["k"], found["interval"], found["delta"]) == (20, "guaranteed", 0.1)
    for wide, less in zip(found["top"], narrow["top"], strict=True):
        assert wide["low"] <= less["low"] <= less["closeness"] == wide["closeness"] <= less["high"] <= wide["high"]
    text = run(*sample, "--interval", "normal", "--out", "scores.csv", "--plot", "scores.png")
    assert "from 20 sources" in text and "(about 90%, normal)" in text
    assert Path("scores.csv").read_text().startswith("vertex,closeness,bound,low,high,standard_error\n")
    assert Path("scores.png").read_bytes().startswith(PNG)


def test_closeness_along_arcs(answer: Answer, fail: Fail) -> None:
    hw.write("path.npz", hw.generate.path(3, directed=True))
    inwards, outwards = (answer("closeness", "path.npz", "--top", 1, *way) for way in ([], ["--outwards"]))
    assert (inwards["top"][0]["vertex"], outwards["top"][0]["vertex"]) == (2, 0)
