"""The papers' records are what the papers state, every study measures what it says, and a page loads nothing."""

import json
import re
import time
import tomllib
import zlib
from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, get_args, get_type_hints
from unittest.mock import Mock

import numpy as np
import pytest
from benchmarks import pages, report

import hopwave as hw
from hopwave import papers
from hopwave.arrays import ScaledCounts
from hopwave.cli import benchmarks, main
from hopwave.datasets import published
from hopwave.display import charts
from hopwave.papers import graphs, hiragushi, lab, pushpull, records, run, turbobc, turbobfs, xbfs
from hopwave.papers.lab import Effort, Lab, WrongAnswer
from hopwave.papers.records import WHY, Case, Drawing, Exhibit, Outcome, Paper, Row, left_out, table
from hopwave.papers.turbobc import dependencies
from hopwave.planning.plan import Plan, Pull, Push
from hopwave.planning.rules import OneWay

DOCS = Path(__file__).resolve().parents[2] / "docs"
SMALL = hw.generate.kronecker(8, seed=1)
ROOT = int(np.argmax(SMALL.degrees))
FOUR = table("a x social U 1 3\nb y road U 1 3\nc z mesh U 1 3\nd w hub U 1 3", (), "1")
TINY = Effort(2, 0.0, 2, 2, 8, graphs.Limits(30_000, 0, 9_000, download=False), 60.0)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setitem(lab.EFFORTS, ("cpu", True), TINY)
    return Lab("cpu", quick=True, say=lambda text: None)


# ---------------------------------------------------------------- what the papers state


def test_tables_name_graphs_that_can_be_had() -> None:
    """Every graph of a group can be fetched, and families that follow from a rule are made."""
    cases = [case for name in papers.NAMES for one in records.tables(name) for case in one]
    assert {case.name for case in cases if "/" in case.name} <= {entry.name for entry in published()}
    assert {case.made[0] for case in cases if case.made} == graphs.MADE.keys()
    assert not [case for case in cases if "kron" in case.shown or "myciel" in case.shown if not case.made]


SUMS = {
    "turbobfs": {"table I": 1658110316, "table II": 1322945661, "table III": 2734540982, "claims": 774600145,
                 "fastest": 2908676067, "example": 2802610536, "texts": 2717116929},
    "hiragushi": {"table 1": 2414793917, "claims": 2975580992, "cluster": 3424824622, "texts": 2617561977},
    "turbobc": {"table 1": 2538544457, "table 2": 2194122413, "table 3": 3060569540, "table 4": 505703109,
                "table 5": 3723853490, "claims": 2878146481, "arrays": 698324411, "texts": 1016547389},
    "xbfs": {"table 1": 2632051289, "claims": 3920688102, "texts": 2629557290},
    "pushpull": {"table 3": 3734358399, "claims": 1041455972, "parents": 321454719, "ideas": 1104194478,
                 "costs": 3126438, "texts": 837733996},
}  # fmt: skip
DIFFER = {  # of the papers' own tables
    "turbobfs": ["ms on mycielskian19"], "xbfs": ["× Ligra"],
    "turbobc": ["× the sequential algorithm", "gunrock's memory, times, up to"],
    "pushpull": ["× SuiteSparse", "× CuSha", "× baseline", "× Ligra", "Gunrock, times faster",
                 "Gunrock, times faster, roads and mesh", "Ligra, times faster, roads and mesh"],
}  # fmt: skip


@pytest.mark.parametrize("name", papers.NAMES)
def test_no_quoted_number_changes_unnoticed(name: str) -> None:
    """A checksum per table, per other quotation of NAME.toml, and of texts' numbers: each equals the paper's."""
    found = tomllib.loads(Path(records.__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    parts = {f"table {number}": one for number, one in found.pop("tables").items()}
    texts = [one.get("note", "") for one in found.pop("exhibits")] + [found.pop("machine"), found.pop("method")]
    parts["texts"] = re.findall(r"\d[\d.,]*", " ".join(texts))
    parts |= {key: value for key, value in found.items() if key not in ("title", "authors", "shared")}
    assert {part: zlib.crc32(json.dumps(value).encode()) for part, value in parts.items()} == SUMS[name]


@pytest.mark.parametrize("name", papers.NAMES)
def test_claims_follow_from_the_papers_own_tables(name: str) -> None:
    """Within 3%, except those of DIFFER: pages show both numbers."""
    cases = [*chain(*records.tables(name))]
    stated: list[Any] = [(one.claim, one.paper, one.of_tables(cases)) for one in records.claims(name)]
    differ = [claim for claim, paper, own in stated if own and abs(own - paper) > max(0.06, 0.03 * paper)]
    assert differ == DIFFER.get(name, [])


@pytest.mark.parametrize("paper", [papers.paper(name) for name in papers.NAMES], ids=lambda paper: paper.key)
def test_an_exhibit_has_a_study_or_says_why_not(paper: Paper) -> None:
    numbers = [one.number for one in paper.exhibits]
    assert len(set(numbers)) == len(numbers)
    for one in paper.exhibits:
        assert one.study in paper.studies or (not one.study and one.note and not one.columns)
        assert all(drawing.form in ("bars", "stacked", "lines", "points") for drawing in one.drawings)


# ---------------------------------------------------------------- graphs


@pytest.mark.parametrize("kind", graphs.KINDS)
@pytest.mark.parametrize("directed", [False, True])
def test_a_stand_in_has_the_size_and_the_direction(kind: str, directed: bool) -> None:
    graph, what = graphs.KINDS[kind](2000, 12_000, directed, 30, 7)
    other, _ = graphs.KINDS[kind](2000, 12_000, directed, 30, 8)
    assert 1000 < graph.n < 3000 and graph.m > graph.n and what
    assert len(graph.indices) != len(other.indices) or (graph.indices != other.indices).any()  # a seed of its own
    assert graph.directed == (directed and kind not in ("mesh", "hub"))
    assert kind == "mesh" or hw.bfs(graph, 0).depth == 29
    if kind == "hub":
        assert graph.degrees.max() > 0.8 * graph.n and graph.m / graph.n == pytest.approx(2, abs=0.2)


def test_a_quick_run_makes_a_smaller_graph_and_a_whole_one_leaves_it_out() -> None:
    (case,) = table("m mycielskian:16 social U 49 33383", (), "3")
    quick, whole = (graphs.Shelf("cpu", graphs.Limits(50_000, 0, 100, download)) for download in (False, True))
    found = quick.get(case)
    assert found.graph is not None and found.graph.m <= 50_000 and found.origin.startswith("generated: mycielskian 10")
    assert whole.get(case).graph is None and "33,383,000 arcs" in whole.get(case).origin
    two = table("a g matrix D 9 90 7\na g matrix D 9 90 8", ("d",), "3")  # as two tables may state it
    assert [hw.bfs(quick.get(one).graph or SMALL, 0).depth for one in two] == [6, 7]
    (one,) = table("s soc social U 3 60 12", ("diameter",), "3")
    assert max(hw.bfs(quick.get(one).graph or SMALL, source).depth for source in range(64)) in (11, 12)


def test_a_folder_of_files_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWAVE_DATA", str(tmp_path))
    for name in ("email-Enron", "kron_g500-logn9"):
        hw.write(tmp_path / f"{name}.mtx.gz", hw.generate.path(5))
    for case in table("e SNAP/email-Enron social U 37 368\nkron-logn9 kron:9:48 social U 1 44", (), "I"):
        found = graphs.Shelf("cpu", TINY.limits).get(case)
        assert found.origin == "the paper's file" and found.graph is not None and found.graph.n == 5


# ---------------------------------------------------------------- checks


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_searches_are_checked_by_other_operations(device: str, request: pytest.FixtureRequest) -> None:
    if device == "cuda":
        request.getfixturevalue("gpu")
    graph, xp = SMALL.to(device), graphs.module(device)
    found = hw.bfs(SMALL, ROOT, device="cpu", path_counts=True)
    distance, counts = xp.asarray(found.distances), xp.asarray(found.path_counts)
    assert lab.wrong(graph, distance, counts, ROOT) == ""
    assert "path count" in lab.wrong(graph, distance, xp.where(distance == 1, 2 * counts, counts), ROOT)
    assert "more than one level" in lab.wrong(graph, xp.where(distance > 0, 2 * distance, distance), None, ROOT)
    with pytest.raises(WrongAnswer, match="source is not the only vertex at distance 0; please report"):
        lab.check_search(graph, distance + 1, None, ROOT)


@pytest.mark.parametrize("directed", [False, True])
def test_the_sequential_algorithm_is_brandes(directed: bool) -> None:
    graph = hw.generate.kronecker(7, 4, seed=2, directed=directed)
    for source in (0, 3, int(np.argmax(graph.degrees))):
        scores = hw.betweenness_centrality(graph, sources=[source], normalized=False, device="cpu").scores
        found = dependencies(graph.reversed() if directed else graph, source)
        np.testing.assert_allclose(found, scores * (1 if directed else 2), rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------- studies


def test_turbobfs_counts_paths_and_names_the_fastest(tiny: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    row = turbobfs.one_graph(tiny, turbobfs.TABLE_I[0], SMALL)
    assert row["best"] in turbobfs.PLANS and row["MTEPS"] == pytest.approx(SMALL.m / row[f"{row['best']} ms"] / 1e3)
    assert row["paths ms"] == min(row[f"{plan} ms"] for plan in turbobfs.PLANS[:3])
    assert row["d"] == hw.bfs(SMALL, tiny.root_of(SMALL)).depth + 1
    assert row["(GBLAS)x"] == pytest.approx(row["SuiteSparse ms"] / row[f"{row['best']} ms"])
    assert tiny.suitesparse_ms(hw.generate.path(15_002), 0, None) is None  # 30,002 arcs
    assert tiny.root_of(SMALL) == (0 if SMALL.degrees[0] else ROOT)
    assert tiny.root_of(hw.Graph.from_edges([1] * 300, range(2, 302), n=302)) == 1
    tiny.results["searches"] = []
    monkeypatch.setattr(lab, "no_suitesparse", lambda: "not installed")
    claims = {claim["claim"]: claim["remark"] for claim in turbobfs.STUDIES["claims"](tiny)}
    assert claims["× SuiteSparse:GraphBLAS"] == "not installed" and "a program" in claims["× GraphBLAST"]


def test_turbobfs_figures_1_to_3(tiny: Lab) -> None:
    assert [row["σ"] for row in turbobfs.example(tiny)] == ["0 1 0 0 0", "1 1 0 1 0", "1 1 2 1 1"]
    assert turbobfs.formats(tiny)[2]["values"] == "1 2 2 4 5 6"
    totals: Counter[str] = Counter()
    for row in turbobfs.histograms(tiny):
        totals[row["graph"]] += row["share of vertices"]
    assert list(totals.values()) == pytest.approx([1, 1])


def test_turbobc_beside_the_sequential_algorithm(tiny: Lab) -> None:
    row = turbobc.one_graph(tiny, turbobc.TABLE_1[0], SMALL)
    assert row["best"] in turbobc.PLANS and row["scf"] == SMALL.stats().scf and row["(sequential)x"] > 0
    assert row["7n + m, MB"] == pytest.approx((7 * SMALL.n + SMALL.m) * 4e-6)
    whole = turbobc.all_sources(tiny, turbobc.TABLE_5[0], SMALL)
    assert whole["how"] == "all sources" or whole["how"].startswith("projected from")
    assert whole["MTEPS"] == pytest.approx(SMALL.n * SMALL.m / whole["s"] / 1e6)
    with pytest.raises(WrongAnswer, match="turbobc-sccsc differs"):
        turbobc.timed(tiny, SMALL, "sccsc", np.full(2, ROOT), dependencies(SMALL, ROOT) * 1.1)


def test_hiragushi_builds_trees_and_shares_add_up(tiny: Lab) -> None:
    row = hiragushi.one_graph(tiny, hiragushi.TABLE_1[0], SMALL)
    assert row["bottom-up %"] + row["top-down %"] == pytest.approx(100)
    assert row["gain"] == pytest.approx(row["Merrill ms"] / row["hybrid ms"]) and row["hybrid GTEPS"] > 0
    with pytest.raises(WrongAnswer, match="parent"):
        hiragushi.check_tree(tiny, SMALL, ROOT, hw.bfs(SMALL, (ROOT + 1) % SMALL.n).distances)


def test_xbfs_counts_checks_and_vertices_found_ahead(tiny: Lab) -> None:
    row = xbfs.one_graph(tiny, xbfs.TABLE_1[0], SMALL)
    assert row["asynchronous checks"] <= row["synchronous checks"] and 0 <= row["fewer checks %"] < 100
    assert 0 <= row["found ahead %"] <= 100 and 0 <= row["Lemma 3 %"] <= 100
    tiny.results |= {"searches": [{"graph": "small"} | row], "queues": xbfs.queues(tiny)}
    assert all(point["arcs read"] <= point["degree"] for point in xbfs.points(tiny))
    assert WHY in tiny.results["queues"][0]
    claims = {row["claim"]: row for row in xbfs.STUDIES["claims"](tiny)}
    assert claims["fewer edge checks, %, the most (DP)"]["ours"] == row["fewer checks %"]
    assert "needs a program" in claims["× Ligra"]["remark"]
    assert "needs a GPU" in claims["share of scan-free, %"]["remark"]


def test_pushpulls_arcs_are_counted_by_where_they_lead() -> None:
    path = hw.generate.path(3)  # arcs read from 0: one forward, one back and one forward, one back
    rows = pushpull.kinds(path, np.array([0, 1, 2]))
    assert [tuple(row[kind] for kind in pushpull.KINDS) for row in rows] == [(0, 0, 1), (1, 0, 1), (1, 0, 0)]
    assert [(row["frontier"], row["unvisited"]) for row in rows] == [(1, 2), (1, 1), (1, 0)]


def test_pushpulls_table_2_and_figures(tiny: Lab) -> None:
    rows = pushpull.ideas(tiny)
    assert [row["optimisation"] for row in rows][::5] == ["Baseline", "Operand reuse"]
    arcs = [row["median arcs checked"] for row in rows]
    assert arcs[4] <= arcs[3] <= arcs[2]
    assert rows[1]["gain"] == pytest.approx(rows[0]["ms"] / rows[1]["ms"]) and rows[0]["median ms"] > 0
    row = pushpull.one_graph(tiny, pushpull.TABLE_3[4], SMALL)
    assert 0 < row["fastest ms"] <= row["push-pull ms"] <= row["slowest ms"] and row["SuiteSparse ms"] > 0
    found = pushpull.iterations(tiny)
    assert sum(row["frontier"] for row in found) + found[-1]["unvisited"] <= tiny.kron()[0].n
    tiny.studies = pushpull.STUDIES
    looks = pushpull.looks(tiny)  # measures the samples first
    assert looks[0]["iteration"] == 1 and looks[0]["pull ms"] > 0
    graph, _ = tiny.kron()
    assert 0 < looks[0]["parents read per unvisited vertex"] <= graph.m / (graph.n - 1)
    assert len(pushpull.fewer(tiny)) == len(tiny.results["samples"])


def test_pushpulls_products_are_compared_before_they_are_timed(tiny: Lab) -> None:
    tiny.results["products"] = rows = pushpull.products(tiny)
    assert len(rows) == len(pushpull.SHARES) and all(row[f"{one} ms"] > 0 for row in rows for one in pushpull.PRODUCTS)
    assert [row["paper: exponent"] for row in pushpull.costs(tiny)] == [0, 1, 1, 1, 1]
    graph, _ = tiny.kron()
    with pytest.raises(WrongAnswer, match="by columns, then mask"):
        pushpull.measure(tiny, hw.linalg.Matrix.from_graph(graph), pushpull.THEN, 9, 2 * graph.to_scipy(np.float64))


def test_stand_ins_that_are_alike_count_once() -> None:
    same: Row = {"table": "2", "n": 1000, "m": 9000, "from": "stand-in: 1,000 vertices"}
    rows = [same | {"gain": 1.0}, same | {"gain": 3.0, "n": 1001}, same | {"gain": 9.0, "m": 90_000}, {"gain": 5.0}]
    rows.append(rows[0] | {"table": "3", "gain": 7.0})
    assert [row["gain"] for row in lab.unlike(rows)] == [1.0, 9.0, 5.0]


def test_a_claim_is_about_the_graphs_that_the_paper_has(tiny: Lab) -> None:
    """Means are over different graphs, extremes over all; a graph without the paper's number counts in neither."""
    alike: Row = {"n": 1000, "m": 9000, "from": "stand-in: 1,000 vertices", "ms": 1.0, "paper: a ms": 3}
    gone = alike | {"a ms": 90.0, "n": 9000, "paper: a ms": "OOM"}
    tiny.results["searches"] = [alike | {"a ms": 2.0}, alike | {"a ms": 4.0}, gone, {"a ms": 6.0, "ms": 1.0}]
    for how, ours, remark in (("mean", 4.0, "mean of 2 different graphs"), ("max", 6.0, "max of 3 graphs")):
        row = tiny.claimed(records.Claim("1", "×", 9.0, "a ms", "ms", how), ())
        assert (row["ours"], row["remark"]) == (ours, remark)


def test_rows_share_the_time_and_one_that_fails_does_not_stop_the_others(tiny: Lab) -> None:
    kept, granted = list[int](), list[float]()
    errors = iter([None, WrongAnswer("no tree"), hw.EngineError("no memory"), None])
    tiny.study, tiny.keep = "searches", lambda: kept.append(len(tiny.results["searches"]))
    began = time.perf_counter()
    tiny.ends = began + 1000

    def measure(case: Case, graph: hw.Graph) -> Row:
        granted.append(tiny.until - began)
        if (error := next(errors)) is not None:
            raise error
        return {"ms": 1.0}

    rows = tiny.over(FOUR, measure, share=0.4)
    assert [row.get(WHY) for row in rows] == [None, "WRONG: no tree", "no memory", None] and tiny.wrong == ["no tree"]
    assert kept == [1, 2, 3, 4]
    assert granted == pytest.approx([100, 133, 200, 400], rel=0.1)  # 400 s: a quarter, a third, …, for what is left
    tiny.ends = began
    (late, *_) = tiny.over(FOUR, measure)
    assert late[WHY] == "not started: the limit was 60 seconds"
    for ends, searches in ((began + 1000, 4), (began, 1)):
        tiny.grant(1, ends)
        assert len(tiny.in_turn(tiny.kron()[0], {"push": "merrill"}, 4)[0]["push"]) == searches


def test_path_counts_beyond_float64_are_compared() -> None:
    tips = 3 * np.arange(1100)  # diamonds in a row: twice as many paths after each
    ends = [(tips, tips + 1), (tips, tips + 2), (tips + 1, tips + 3), (tips + 2, tips + 3)]
    graph = hw.Graph.from_edges(*(np.concatenate(side) for side in zip(*ends, strict=True)))
    found = hw.bfs(graph, 0, path_counts=True, device="cpu")
    counts: Any = found.path_counts
    assert isinstance(counts, ScaledCounts) and lab.wrong(graph, found.distances, counts, 0) == ""
    assert turbobfs.same(counts, ScaledCounts(2 * counts.mantissa, counts.exponent - 1), np)
    twice = ScaledCounts(counts.mantissa, counts.exponent + (np.arange(graph.n) == 1500))
    assert "path count" in lab.wrong(graph, found.distances, twice, 0) and not turbobfs.same(counts, twice, np)


def test_quick_runs_measure_one_graph_of_each_kind(tiny: Lab) -> None:
    cases = table("a x social U 1 3\nb y social U 1 3\nc z road U 1 3\nd mycielskian:30 social U 9 9e9", (), "1")
    rows = tiny.over(cases, lambda case, graph: {"ms": 1.0})
    assert [row.get(WHY, "") for row in rows] == ["", "--quick measures another graph of this kind", "", ""]
    assert [row["from"].partition(":")[0] for row in rows[::2]] == ["stand-in", "stand-in"]


# The toy graph of XBFS's examples (tests/planning/test_worked_examples.py).
TOY = [(0, 1), (0, 5), (1, 2), (1, 7), (5, 6), (5, 7), (2, 3), (3, 4), (3, 9), (8, 9), (4, 7), (6, 8)]


def test_degrees_work_and_lemma_3_of_the_toy_graph() -> None:
    """Example 5: rows 3, 4, 8, 9 of level 3 have degrees 3, 2, 2, 2; they read 1, 2, 1 neighbours, and 9 all.

    Lemma 3: Q = {3, 4, 8, 9}; 9 is at place 3 and has two neighbours of level 3: 1 - (1 - 3/4)².
    """
    graph = hw.Graph.from_edges(*np.array(TOY).T, n=10)
    distances = hw.bfs(graph, 0, device="cpu").distances
    degrees, work = xbfs.looks(np, graph.indptr, graph.indices, distances, 3)
    assert degrees.tolist() == [3, 2, 2, 2] and work.tolist() == [1, 2, 1, 2]
    chance = xbfs.chance_ahead(np, graph.indptr, graph.indices, distances, 3)
    assert chance == pytest.approx(1 - (1 - 3 / 4) ** 2)


def test_lemma_3_foretells_what_one_thread_finds_ahead() -> None:
    """With ids in random order, one thread that goes through the queue finds the share that the lemma predicts."""
    graph = hw.generate.uniform(1 << 14, 4, seed=3)
    plan = Plan("look", "XBFS", "5.2", "", (Push("twc"), Pull("thread", "compacted", asynchronous=True)), OneWay(0.02))
    found = hw.bfs(graph, 1, plan=plan, device="cpu", threads=1, trace=True)
    assert found.trace is not None
    first = next(level for level in found.trace if level.direction == "pull")
    measured = first.ahead / int((found.distances == first.depth + 1).sum())
    chance = xbfs.chance_ahead(np, graph.indptr, graph.indices, found.distances, first.depth)
    assert 0.3 < measured < 0.99 and abs(measured - chance) < 0.03


# ---------------------------------------------------------------- a run and its page


@pytest.mark.parametrize("log", [False, True])
def test_bars_of_a_group_begin_at_the_axis_and_stacked_ones_on_each_other(log: bool) -> None:
    def heights(text: str) -> list[float]:
        return [float(height) for height in re.findall(r'<rect [^>]*height="([\d.]+)"', text)]

    one, other, whole = heights(charts.bars(["a"], {"x": [10.0], "y": [20.0], "z": [30.0]}, "ms", log))
    assert one < other < whole and (log or other == pytest.approx(2 * one, rel=0.01))
    below, above = heights(charts.bars(["a"], {"x": [10.0], "y": [20.0]}, "ms", stacked=True))
    assert above == pytest.approx(2 * below, rel=0.01)


ROWS: list[Row] = [
    {"graph": "<one>", "ms": 2.0, "paper: ms": 3, "entries": 10, "table": "1"},
    {"graph": "two", "ms": 4.0, "paper: ms": "OOM", "entries": 100, "table": "1"},
    {"graph": "three", "paper: ms": 5, "table": "1"} | left_out("not here"),
]


def test_a_page_shows_everything_and_loads_nothing(tmp_path: Path) -> None:
    bars = Drawing("bars", "graph", ("ms", "paper: ms"), "ms", (False, True))
    drawings = (bars, Drawing("lines", "entries", ("ms",), "ms"))
    exhibits = (
        Exhibit("Table 1", "Times", "times", ("graph", "ms", "paper: ms", "from"), ("table", "1"), drawings),
        Exhibit("Figure 2", "A picture", note="Nothing to measure."),
        Exhibit("Table 3", "Nothing", "times", ("graph", "paper: ms"), ("table", "3")),
    )
    paper = Paper("own", "Title & more", "A. Author", "GPU", {"times": lambda lab: ROWS}, exhibits)
    said: list[str] = []
    outcome = run.measure(paper, "cpu", True, said.append, out=tmp_path / "out")
    text, lines = ((tmp_path / "out" / f"own.{end}").read_text(encoding="utf-8") for end in ("html", "jsonl"))
    links = re.findall(r'(?:src|href)="([^#"][^"]*)"', text)
    assert links[0] == "data:," and all("docs/papers.md#own-" in link for link in links[1:])
    assert text.index('<h2 id="table-1"') < text.index('<h2 id="figure-2"') and '--only "Table 1"' in text
    assert text.count("<svg") == 2 and text.count("<rect") == 4 and "has not finished" in text
    assert "&lt;one&gt;" in text and "<one>" not in text and "Title &amp; more" in text and "not here" in text
    assert [*outcome.summary().values()] == [3, 1, 2, 0, 0, 1] and "has not finished" not in run.html(outcome)
    found = [json.loads(line) for line in lines.splitlines()]
    assert [line["number"] for line in found] == ["Table 1", "Figure 2", "Table 3"]
    assert found[0]["rows"][0] == {"graph": "<one>", "ms": 2.0, "paper: ms": 3} and found[0]["where"]["quick"]
    assert said == ["times"] and "times the paper" not in text and not found[0]["where"]["finished"]


# ---------------------------------------------------------------- pages of results, and charts of the report by paper


def written(folder: Path, name: str, study: str, rows: list[Row]) -> None:
    outcome = Outcome(papers.paper(name), False, run.machine("cpu", False, TINY), {study: rows}, 1.0)
    run.write(outcome, folder)
    pages.keep(pages.of_paper(folder / f"{name}.jsonl"), folder / "kept")


def test_a_page_and_charts_by_paper(tmp_path: Path) -> None:
    row: Row = {"graph": "EAT-SR", "table": "II", "MTEPS": 12.5, "bu-ve ms": 3.0, "from": "stand-in: of scale 15"}
    gone: Row = {"graph": "mycielski19", "table": "II", "paper: MTEPS": 39778} | left_out("too large")
    written(tmp_path, "turbobfs", "searches", [row, gone])
    written(tmp_path, "pushpull", "ideas", [{"optimisation": "Baseline", "ms": 2.0, "paper: GTEPS": 0.874}])
    page = pages.rendered("papers-turbobfs", tmp_path / "kept")
    assert page.startswith("# The tables and figures of TurboBFS") and "## Table II: Irregular graphs" in page
    assert "| mycielski19 | – |" in page and "too large |" in page and "## Table I:" not in page
    assert "1 of 1 graphs are stand-ins" in page
    found = report.write(tmp_path / "kept", tmp_path / "out")
    assert [chart.title.partition(",")[0] for chart in found] == ["Push-pull"] * 2 + ["TurboBFS"] * 2
    (series,) = [one for chart in found for row_ in chart.rows for one, value in row_.points.items() if value == 39778]
    assert report.mark_of(series) == "paper" and set(pages.PAPERS) == set(papers.NAMES)


def test_lines_of_results_are_whole_papers() -> None:
    """A file of results has a line for each table and figure, of a run that was not quick, with the paper's numbers."""
    for name in pages.PAPERS:
        lines, stated = pages.lines(f"papers-{name}"), dict[str, list[Row]]()
        assert [line["number"] for line in lines] == [one.number for one in papers.paper(name).exhibits], name
        assert not any(line["where"]["quick"] for line in lines)
        for case in chain(*records.tables(name)):
            stated.setdefault(case.shown, []).append(records.stated(case))
        for row in chain(*(line["rows"] for line in lines)):
            assert any(row | one == one | row for one in stated.get(row.get("graph"), [{}])), (name, row)
        numbers = [row["paper"] for line in lines for row in line["rows"] if "claim" in row]
        assert sorted(map(str, numbers)) == sorted(str(one.paper) for one in records.claims(name))
    (table_2,) = (line["rows"] for line in pages.lines("papers-pushpull") if line["number"] == "Table 2")
    ideas = [[row[name] for name in ("optimisation", "paper: GTEPS", "paper: gain") if name in row] for row in table_2]
    assert ideas == [*records.quoted("pushpull")["ideas"].values()]


def test_no_number_in_the_notes_of_docs_papers_changes_unnoticed() -> None:
    """The papers' numbers are written out there; names in braces stand for ours, from benchmarks/results."""
    found = tomllib.loads((DOCS / "papers.toml").read_text(encoding="utf-8"))["paper"]
    text = " ".join(row["part"] + row["what"] + row.get("note", "") for one in found for row in one["rows"])
    numbers = re.findall(r"\d[\d.,]*", re.sub(r"\{\w+\}|`[^`]*`|\]\([^)]*\)", "", text))
    assert zlib.crc32(json.dumps(numbers).encode()) == 2448408636


# ---------------------------------------------------------------- `hopwave paper`


def one_row(lab: Lab) -> list[Row]:
    lab.say("one row")
    return [{"graph": "a", "ms": 1.5, "from": f"stand-in on {lab.device}"}]


ONE = Paper("xbfs", "T", "A", "M", {"s": one_row}, (Exhibit("Table 1", "C", "s", ("graph", "ms", "from")),))


def test_the_command_writes_a_page_and_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert get_args(get_type_hints(benchmarks.paper)["name"]) == tuple(papers.NAMES)
    monkeypatch.setattr(papers, "paper", lambda name: ONE)
    monkeypatch.setenv("HOPWAVE_PROGRESS", "1")
    assert main(["paper", "xbfs", "--quick", "--out", str(tmp_path / "new"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["measured"], answer["rows"], answer["stand-ins"]) == (1, 1, 1)
    assert "<svg" not in Path(answer["page"]).read_text() and "1.5" in Path(answer["page"]).read_text()
    (row,) = json.loads(Path(answer["lines"]).read_text())["rows"]
    assert row == {"graph": "a", "ms": 1.5, "from": "stand-in on cpu"}
    assert main(["paper", "xbfs", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "1 of 1 tables and figures measured, 1 rows; 1 of 1 graphs are stand-ins; 0 rows omitted" in shown.out
    assert "hopwave: one row" in shown.err
    study = Mock(side_effect=WrongAnswer("level 3 is wrong"))
    monkeypatch.setattr(papers, "paper", lambda name: replace(ONE, studies={"s": study}))
    assert main(["paper", "xbfs", "--out", str(tmp_path)]) == 1
    assert "results were wrong: level 3 is wrong" in capsys.readouterr().err
    assert "WRONG: level 3 is wrong" in (tmp_path / "xbfs.html").read_text()


def test_one_table_alone_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its graphs, and only the studies that it shows."""
    monkeypatch.setitem(lab.EFFORTS, ("cpu", True), TINY)
    assert main(["paper", "turbobfs", "--quick", "--only", "table ii", "--out", str(tmp_path)]) == 0
    rows = json.loads((tmp_path / "turbobfs-table-ii.jsonl").read_text())["rows"]
    assert [row["graph"] for row in rows] == [case.shown for case in turbobfs.TABLE_II]
    assert any("best" in row for row in rows)
    assert len(run.only(papers.paper("hiragushi"), "figure 4").exhibits) == 2
