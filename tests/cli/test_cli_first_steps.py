"""`hopwave demo`, `hopwave doctor` and `hopwave warmup`: what a new user runs first, with and without the extras."""

from __future__ import annotations

import math
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from calls import PNG, Answer, Run, hide

import hopwave as hw
from hopwave.cli import selftest, warmup
from hopwave.graph.csr_compiled import sorted_rows
from hopwave.io import lines

# -------------------------------------------------------------------- doctor, demo


def test_doctor_reports_and_runs_its_self_test(run: Run, answer: Answer) -> None:
    found = answer("doctor")
    assert found["ok"] is True and found["hopwave"] == hw.__version__
    assert {test["engine"] for test in found["self_test"]} == set(selftest.names())
    passed = [test for test in found["self_test"] if test["passed"]]
    assert {"search a grid", "count paths"} <= {test["check"] for test in passed if test["engine"] == "reference"}
    assert "betweenness" in {test["check"] for test in passed if test["engine"] == "cpu"}
    assert "All checks passed." in run("doctor")


def test_doctor_says_how_to_install_what_is_missing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "matplotlib", "cupy")
    text = run("doctor")
    assert "pip install matplotlib" in text and "pip install cupy-cuda1" in text


def test_demo_draws_a_picture_and_ends_with_a_table(run: Run) -> None:
    text = run("demo")
    assert Path("hopwave-demo.png").read_bytes()[:8] == PNG and "Both graphs are drawn in hopwave-demo.png" in text
    assert "Highest betweenness" in text and "arithmetic checked to" in text and "not installed" not in text
    rows = text.splitlines()[-11:-1]
    assert rows[0].split()[:3] == ["1", "Valjean", "0.5700"] and rows[-1].split()[0] == "10"


def test_demo_json_without_matplotlib(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "matplotlib")
    found = answer("demo")
    assert found["small"]["n"] == len(nx.les_miserables_graph()) and found["picture"] is None
    top = found["small"]["top"]
    assert len(top) == 10 and top[0]["vertex"] == "Valjean"
    assert math.isclose(top[0]["betweenness"], 0.5699890527836184)
    assert found["missing"] == ["matplotlib is not installed, so there is no picture; run: pip install matplotlib"]


def test_demo_without_extras_says_what_is_missing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "matplotlib", "networkx")
    text = run("demo")
    assert "matplotlib is not installed, so there is no picture; run: pip install matplotlib" in text
    assert "NetworkX is not installed" in text and "This is a generated small world instead" in text
    assert not Path("hopwave-demo.png").exists()


def test_demo_without_networkx_draws_a_ring_and_says_why(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "networkx")
    (reason,) = answer("demo")["missing"]
    assert Path("hopwave-demo.png").read_bytes()[:8] == PNG
    assert "drawn as a ring instead; run: pip install networkx" in reason


# -------------------------------------------------------------------- warmup


@pytest.mark.slow
def test_warmup(run: Run, answer: Answer) -> None:
    found = answer("warmup")
    assert [part["name"] for part in found["parts"]] == list(warmup.PARTS)
    assert math.isclose(found["seconds"], sum(part["seconds"] for part in found["parts"]))
    text = run("warmup")
    assert all(name in text for name in warmup.PARTS) and "already on disk" in text and "Ready in" in text


@pytest.mark.slow
def test_after_a_warmup_nothing_is_compiled(run: Run) -> None:
    from numba.core.event import install_recorder

    run("warmup")
    graph, large = hw.generate.kronecker(10), hw.generate.grid(300, 300)
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
        hw.betweenness_centrality(graph, weights=np.ones(graph.m), cutoff=2.5)
        hw.edge_betweenness_centrality(graph, k=9, weights=np.ones(graph.m))
        for weighted in (graph, graph.with_weights(np.ones(graph.m))):
            hw.pagerank(weighted)
            hw.hits(weighted)
            hw.sssp(weighted, 0, method="delta-stepping")
        for name in ("g.mtx", "g.txt", "g.csv", "g.el", "g.gr", "g.graph"):
            hw.write(name, large)
            assert Path(name).stat().st_size > lines.MIN_BYTES_FOR_SCANNER
            hw.read(name)
        sorted_rows(*(ends.astype(np.int32) for ends in large.to_edges()), large.n, symmetric=False)
    assert not record.buffer


def test_warmup_tells_what_it_compiled(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    def fresh() -> None:
        numba.njit(lambda x: x + 1)(1)

    monkeypatch.setattr(warmup, "PARTS", {"something new": fresh, "nothing": lambda: None})
    assert [part["compiled"] for part in answer("warmup")["parts"]] == [True, False]


@pytest.mark.parametrize("command", [["bfs"], ["bc"], ["generate", "kronecker"], ["generate"], []])
def test_flags_have_no_type_in_the_help(command: list[str], run: Run) -> None:
    text = run(*command, "--help")
    assert "<bool>" not in text.lower() and "boolean" not in text.lower() and "--help" in text
