"""`hopwave demo`, `hopwave doctor` and `hopwave warmup`: what a new user runs first, with and without the extras."""

import gc
import inspect
import math
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import hopwave as hw
from hopwave import engines
from hopwave.cli import warmup
from hopwave.graph.csr_compiled import sorted_rows
from hopwave.io import lines

# -------------------------------------------------------------------- doctor, demo


def test_doctor_reports_and_runs_its_self_test(run, answer) -> None:
    found = answer("doctor")
    assert found["ok"] is True and found["hopwave"] == hw.__version__
    assert {test["engine"] for test in found["self_test"]} == set(engines.NAMES)
    passed = [test for test in found["self_test"] if test["passed"]]
    assert {"search a grid", "count paths"} <= {test["check"] for test in passed if test["engine"] == "reference"}
    assert "betweenness" in {test["check"] for test in passed if test["engine"] == "cpu"}
    assert "All checks passed." in run("doctor")


def test_doctor_says_how_to_install_what_is_missing(run, hide) -> None:
    hide("matplotlib", "cupy")
    text = run("doctor")
    assert 'pip install "hopwave[plot]"' in text and 'pip install "hopwave[cuda1' in text


NO_PICTURE = 'matplotlib is not installed, so no picture is drawn; run: pip install "hopwave[plot]"'
NOT_DRAWN = 'networkx is not installed, so Les Misérables is not drawn; run: pip install "hopwave[networkx]"'


@pytest.mark.slow
@pytest.mark.parametrize("hidden", [{}, {"networkx": NOT_DRAWN}, {"networkx": NOT_DRAWN, "matplotlib": NO_PICTURE}])
def test_demo_with_and_without_extras(run, answer, hide, hidden: dict[str, str]) -> None:
    hide(*hidden)
    found, text = answer("demo"), run("demo")
    assert found["missing"] == list(hidden.values()) and all(reason in text for reason in hidden.values())
    assert (found["picture"] == "hopwave-demo.png") == ("drawn in hopwave-demo.png" in text) == (len(hidden) < 2)
    assert len(hidden) == 2 or Path("hopwave-demo.png").read_bytes()[1:4] == b"PNG"
    top, rows = found["small"]["top"], text.splitlines()[-11:-1]
    assert found["small"]["n"] == 77 and "arithmetic checked to" in text
    assert top[0]["vertex"] == "Valjean" and math.isclose(top[0]["betweenness"], 0.5699890527836184)
    assert rows[0].split()[:3] == ["1", "Valjean", "0.56999"] and rows[-1].split()[0] == str(len(top)) == "10"


# -------------------------------------------------------------------- warmup


@pytest.mark.slow
def test_warmup(run, answer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it compiles serves the other tests. A second run loads; of its parts, the shortest."""
    found = answer("warmup")
    assert [part["name"] for part in found["parts"]] == [*warmup.PARTS, warmup.LAST]
    assert found["seconds"] >= max(part["seconds"] for part in found["parts"][:-1])
    monkeypatch.setattr(warmup, "PARTS", {"path counts": warmup.PARTS["path counts"]})
    monkeypatch.setattr(warmup, "SHARES", 0)
    text = run("warmup")
    assert all(name in text for name in (*warmup.PARTS, warmup.LAST)) and "Ready in" in text
    assert text.count("already on disk") == 2


@pytest.mark.parametrize("signal", [2, 9])
def test_processes_end_with_a_warmup_that_is_interrupted_or_killed(signal: int) -> None:
    code = "import os, threading, time; from hopwave.cli import warmup; warmup.PARTS = {300: ()}; "
    code += f"warmup.use_part = time.sleep; threading.Timer(3, os.kill, (os.getpid(), {signal})).start(); "
    subprocess.run([sys.executable, "-c", f"{code}warmup.warmup()"], capture_output=True, timeout=600, check=False)


def test_warmup_knows_the_arguments_of_every_function() -> None:
    asked = dict(warmup.questions())
    assert {hw.bfs, hw.core_numbers, hw.triangles, hw.maximal_independent_set, hw.sssp} <= set(asked)
    with pytest.raises(KeyError, match=r"requires unheard: add a value to GIVEN in src/hopwave/cli/given.py"):
        warmup.required(lambda G, unheard, k, *, top=1: None)


def specialisations() -> set[tuple[str, str]]:
    """Every function and signature that this process has compiled, or loaded from disk."""
    from numba.core.registry import CPUDispatcher

    made = [one for one in gc.get_objects() if type(one) is CPUDispatcher]
    return {(one.py_func.__qualname__, str(signature)) for one in made for signature in one.signatures}


LINEAR = (
    hw.pagerank, hw.hits, hw.eigenvector_centrality, hw.core_numbers, hw.connected_components,
    hw.label_propagation, hw.triangle_count, hw.maximal_independent_set, hw.is_bipartite,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:PageRank stopped")
@pytest.mark.slow
def test_after_a_warmup_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor loaded: what only happens to be on disk, left there by other tests, was not compiled by the warmup."""
    monkeypatch.setenv("HOPWAVE_NUM_THREADS", "2")  # as processes of the warmup have it
    for name in (*warmup.PARTS, warmup.LAST):
        warmup.use_part(name)
    graph, large = hw.generate.kronecker(10), hw.generate.grid(300, 300)
    before = specialisations()
    whole, hubs = graph.largest_component().relabel(None), hw.generate.kronecker(16)
    for threads in ("1", "4"):
        monkeypatch.setenv("HOPWAVE_NUM_THREADS", threads)
        for function, given in warmup.questions():
            with suppress(hw.HopwaveError):
                found = function(whole, **given)
                list(found) if inspect.isgenerator(found) else None
        for function in LINEAR:  # several threads share a graph of this size
            function(hubs)
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
        hw.write(name, large, directed=False)
        assert Path(name).stat().st_size > lines.MIN_BYTES_FOR_SCANNER
        hw.read(name)
    sorted_rows(*(ends.astype(np.int32) for ends in large.to_edges()), large.n, symmetric=False)
    new = sorted(specialisations() - before)
    assert new == []


def test_warmup_tells_what_it_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    def fresh() -> None:
        numba.njit(lambda x: x + 1)(1)

    monkeypatch.setattr(warmup, "PARTS", {"something new": fresh, "nothing": lambda: None})
    assert [warmup.use_part(name)["compiled"] for name in warmup.PARTS] == [True, False]
