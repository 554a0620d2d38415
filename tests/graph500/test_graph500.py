"""The Graph500 benchmark: its statistics, its roots, its validator, its output."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import hopwave as hw
from hopwave import graph500
from hopwave.cli import main
from hopwave.errors import GraphError, PlanError
from hopwave.graph500 import Outcome, Searched, draw_roots
from hopwave.graph500.on_host import OnCpu, ShortestPaths
from hopwave.graph500.outcome import harmonic

KEYS = ["SCALE", "edgefactor", "NBFS", "graph_generation", "construction_time"]
for what in ("time", "nedge"):
    names = ("min", "firstquartile", "median", "thirdquartile", "max", "mean", "stddev")
    KEYS += [f"bfs_{name}_{what}" for name in names]
KEYS += [f"bfs_{name}_TEPS" for name in ("min", "firstquartile", "median", "thirdquartile", "max")]
KEYS += ["bfs_harmonic_mean_TEPS", "bfs_harmonic_stddev_TEPS"]


def test_the_harmonic_mean_and_its_deviation() -> None:
    """By hand: rates 1, 2, 4 have the harmonic mean 12/7, with Norris' deviation."""
    mean, deviation = harmonic(np.array([1.0, 2.0, 4.0]))
    assert mean == pytest.approx(12 / 7)
    spread = sum((1 / rate - 7 / 12) ** 2 for rate in (1, 2, 4)) ** 0.5
    assert deviation == pytest.approx(spread / 2 * (12 / 7) ** 2)
    assert harmonic(np.array([5.0])) == (5.0, 0.0)


def test_an_outcome_has_every_key_in_order() -> None:
    searches = [Searched(root, 0.5 * root, 1000, 5) for root in (1, 2, 3, 4)]
    values = Outcome(20, 16, 2.5, searches, 1.0).values()
    assert list(values) == KEYS
    assert values["bfs_median_time"] == 1.25 and values["bfs_mean_nedge"] == 1000
    assert values["bfs_max_TEPS"] == 2000 and values["NBFS"] == 4


def test_a_run_is_valid_and_repeatable() -> None:
    one, other = (graph500.run(9, roots=6, device="cpu", seed=3) for _ in range(2))
    assert one.valid and [s.root for s in one.searches] == [s.root for s in other.searches]
    assert [s.edges for s in one.searches] == [s.edges for s in other.searches]
    graph = hw.generate.kronecker(9, seed=3)
    u, v = hw.generate.kronecker_edges(9, seed=3)
    for found in one.searches:
        reached = hw.bfs(graph, found.root).distances >= 0
        assert found.edges == np.count_nonzero(reached[u] & reached[v])


def test_a_plan_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hiragushi's evaluation (section 5.2) is Graph500 with its own rule: α = 48, β = 20."""
    monkeypatch.setattr("hopwave.api.choice.has_gpu", lambda: True)
    one = graph500.run(8, roots=3, plan="hiragushi-hybrid", seed=3)  # one GPU does not run this plan; the CPU does
    assert one.valid and one.about["plan"] == "hiragushi-hybrid" and one.waiting_share is None
    with pytest.raises(PlanError, match=r"plan 'hiragushi-hybrid' cannot search .* use device='cpu'"):
        graph500.run(8, device="cuda", plan="hiragushi-hybrid")
    with pytest.raises(PlanError, match="computes betweenness"):
        graph500.run(8, device="cpu", plan="turbobc-sccsc")
    with pytest.raises(PlanError, match="'nope' is not known"):
        graph500.run(8, plan="nope")


def test_roots_have_an_edge_to_another_vertex() -> None:
    machine = OnCpu(7, 1, seed=5, threads=1)
    roots = list(draw_roots(machine, 128, 200, seed=5))
    u, v = hw.generate.kronecker_edges(7, 1, seed=5)
    right = set(u[u != v].tolist()) | set(v[u != v].tolist())
    assert len(roots) == len(set(roots)) and set(roots) <= right
    assert len(roots) > 0.9 * len(right), "drawn long enough, all of them come"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda d, p, far, root: d.__setitem__(far, 100), "edges"),
        (lambda d, p, far, root: d.__setitem__(far, 1), "levels"),
        (lambda d, p, far, root: d.__setitem__(far, -1), "span"),
        (lambda d, p, far, root: p.__setitem__(far, far), "roots"),
        (lambda d, p, far, root: p.__setitem__(far, -1), "span"),
        (lambda d, p, far, root: p.__setitem__(root, far), "roots"),
        (lambda d, p, far, root: d.__setitem__(far, 0), "levels"),
        (lambda d, p, far, root: p.__setitem__(far, (far + 1) % 256), "links"),
    ],
)
def test_the_validator_finds_every_mistake(change: Any, rule: str) -> None:
    graph = hw.generate.kronecker(8)
    root = int(np.argmax(graph.degrees))
    found = hw.bfs(graph, root)
    distances, parents = found.distances.copy(), found.predecessors.copy()
    assert hw.validate(graph, root, distances, parents).broken == ()
    candidates = np.flatnonzero(distances == found.depth)
    far = next(v for v in candidates.tolist() if (v + 1) % 256 not in graph.indices[slice(*graph.indptr[v : v + 2])])
    change(distances, parents, far, root)
    assert rule in hw.validate(graph, root, distances, parents).broken


def test_refused_arguments() -> None:
    with pytest.raises(GraphError, match="scale"):
        graph500.run(0)
    with pytest.raises(GraphError, match="mpiexec"):
        graph500.run(8, layout="2d")
    with pytest.raises(GraphError, match="abacus"):
        graph500.run(8, device="abacus")
    with pytest.raises(GraphError, match="threads=2 are those of a CPU"):
        graph500.run(8, device="cuda", threads=2)


# ---------------------------------------------------------------- the commands


def test_the_command_prints_the_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph500", "--scale", "8", "--nbfs", "3", "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines[:-1]] == KEYS
    assert lines[-1].startswith("validation: passed, 3 searches")


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph500", "--scale", "8", "--nbfs", "2", "--device", "cpu", "--plan", "pushpull", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["plan"] == "pushpull" and "waiting_share" not in found
    assert found["valid"] is True and found["SCALE"] == 8 and found["device"] == "cpu"


def test_gap_runs_both_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gap", "--scale", "8", "--trials", "2", "--device", "cpu", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["bfs"]["seconds"]) == 2 and found["bfs"]["checked"] == "five rules"
    assert found["bc"]["checked"].startswith("certificate")
    assert main(["gap", "--scale", "8", "--uniform", "--kernel", "bfs", "--trials", "1", "--device", "cpu"]) == 0
    assert "five rules" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [[], ["--scale", "5", "a.mtx"], ["--scale", "5", "--kernel", "pagerank"]])
def test_gap_refuses(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gap", *wrong]) == 2
    assert "hopwave: error:" in capsys.readouterr().err


# ---------------------------------------------------------------- shortest paths


def test_the_third_kernel_runs_with_sssp() -> None:
    outcome = graph500.run(8, roots=3, device="cpu", sssp=True)
    values = outcome.values()
    assert outcome.valid and list(values) == KEYS + [k.replace("bfs", "sssp") for k in KEYS if k.startswith("bfs")]
    assert values["sssp_max_nedge"] == values["bfs_max_nedge"], "the same components"


def test_shortest_paths_are_right_and_wrong_ones_are_found() -> None:
    machine = OnCpu(7, 16, seed=3, threads=1)
    kernel = ShortestPaths(machine.graph, machine.tuples, seed=3)
    root = int(np.argmax(machine.graph.degrees))
    found = hw.sssp(kernel.matrix, root, device="cpu")
    distances, parents = found.distances, found.predecessors
    matrix = sp.csr_array((kernel.lengths, machine.graph.indices, machine.graph.indptr))
    np.testing.assert_allclose(distances, sp.csgraph.dijkstra(matrix, indices=root))
    assert kernel.broken(root, distances, parents) == ()
    far = int(np.argmax(np.where(np.isfinite(distances), distances, 0)))
    for change, rule in ((9.0, "edges"), (distances[far] / 2, "levels"), (np.inf, "span")):
        wrong = distances.copy()
        wrong[far] = change
        assert rule in kernel.broken(root, wrong, parents)
    for change, rule in ((far, "roots"), (-1, "span")):
        other = parents.copy()
        other[far] = change
        assert rule in kernel.broken(root, distances, other)
