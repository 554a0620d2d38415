"""The Graph500 benchmark: its statistics, its roots, its validator, its output."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import hopwave as hw
from hopwave import graph500
from hopwave.cli import main
from hopwave.graph500 import Outcome, Searched, draw_roots
from hopwave.graph500.on_host import OnCpu, ShortestPaths
from hopwave.graph500.outcome import harmonic

QUARTILES = ("min", "firstquartile", "median", "thirdquartile", "max")
KEYS = ["SCALE", "edgefactor", "NBFS", "graph_generation", "construction_time"]
KEYS += [f"bfs_{name}_{what}" for what in ("time", "nedge") for name in (*QUARTILES, "mean", "stddev")]
KEYS += [f"bfs_{name}_TEPS" for name in (*QUARTILES, "harmonic_mean", "harmonic_stddev")]


def test_an_outcome_has_every_key_in_order_and_harmonic_means() -> None:
    """By hand: rates 1, 2, 4 have the harmonic mean 12/7, with Norris' deviation."""
    mean, deviation = harmonic(np.array([1.0, 2.0, 4.0]))
    spread = sum((1 / rate - 7 / 12) ** 2 for rate in (1, 2, 4)) ** 0.5
    assert (mean, deviation) == pytest.approx((12 / 7, spread / 2 * (12 / 7) ** 2))
    assert harmonic(np.array([5.0])) == (5.0, 0.0)
    values = Outcome(20, 16, 2.5, [Searched(root, 0.5 * root, 1000, 5) for root in (1, 2, 3, 4)], 1.0).values()
    assert list(values) == KEYS and values["bfs_median_time"] == 1.25 and values["bfs_mean_nedge"] == 1000
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


def test_roots_have_an_edge_to_another_vertex() -> None:
    machine = OnCpu(7, 1, seed=5, threads=1)
    roots = draw_roots(machine, 128, 200, seed=5)
    u, v = hw.generate.kronecker_edges(7, 1, seed=5)
    right = set(u[u != v].tolist()) | set(v[u != v].tolist())
    assert len(roots) == len(set(roots)) and set(roots) <= right
    assert len(roots) > 0.9 * len(right), "drawn long enough, all of them come"


# ---------------------------------------------------------------- the commands


def test_the_command_prints_keys_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    common = ["graph500", "--scale", "8", "--nbfs", "3", "--device", "cpu"]
    assert main(common) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines[:-1]] == KEYS
    assert lines[-1].startswith("validation: passed, 3 searches")
    assert main([*common, "--plan", "pushpull", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["plan"] == "pushpull" and "waiting_share" not in found
    assert found["valid"] is True and found["SCALE"] == 8 and found["device"] == "cpu"


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
    distances, parents = found.distances.copy(), found.predecessors.copy()
    matrix = sp.csr_array((kernel.lengths, machine.graph.indices, machine.graph.indptr))
    np.testing.assert_allclose(distances, sp.csgraph.dijkstra(matrix, indices=root))
    assert kernel.broken(root, distances, parents) == ()
    far = int(np.argmax(np.where(np.isfinite(distances), distances, 0)))
    for array, change, rule in (
        (distances, 9.0, "edges"),
        (distances, distances[far] / 2, "levels"),
        (distances, np.inf, "span"),
        (parents, far, "roots"),
        (parents, -1, "span"),
    ):
        kept, array[far] = array[far], change
        assert rule in kernel.broken(root, distances, parents)
        array[far] = kept
