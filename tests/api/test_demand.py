"""Demand: pairs that count source_weights[s] · target_weights[t] instead of 1."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import hopwave as hw
from hopwave import GraphError

random = np.random.default_rng(7)
N = 90
ENDS = random.integers(0, N, (2, 170))
A, B = random.random(N) * 9, random.random(N) * 0.3
A[::4], B[1::5] = 0, 0


def graph(directed: bool = False) -> hw.Graph:
    lengths = random.integers(1, 4, len(ENDS[0])).astype(float)
    return hw.Graph.from_edges(*ENDS, n=N, directed=directed, weights=lengths, combine="min")


def pair_by_pair(G: hw.Graph, edges: bool, weights: bool, endpoints: bool = False) -> np.ndarray:
    """Σ a(s) · b(t) · (scores of the one pair), by definition."""
    ask = hw.edge_betweenness_centrality if edges else hw.betweenness_centrality
    options = {} if edges else {"endpoints": endpoints}
    total = np.zeros(G.m if edges else G.n)
    for t in np.flatnonzero(B):
        for part, s in enumerate(np.flatnonzero(A)):
            if part % 6 == t % 6:  # a sample of pairs is enough: the others get no demand below
                found = ask(G, sources=[s], targets=[t], weights=weights, normalized=False, device="cpu", **options)
                total += A[s] * B[t] * found.scores
    return total


def by_demand(G: hw.Graph, edges: bool, weights: bool, device: str, **options: object) -> np.ndarray:
    ask = hw.edge_betweenness_centrality if edges else hw.betweenness_centrality
    total = np.zeros(G.m if edges else G.n)
    for rest in range(6):
        a, b = A.copy(), B.copy()
        chosen = np.flatnonzero(A)[rest::6]
        a[np.setdiff1d(np.arange(N), chosen)] = 0
        b[np.arange(N) % 6 != rest] = 0
        found = ask(G, source_weights=a, target_weights=b, weights=weights, normalized=False, device=device, **options)
        total += found.scores
        assert found.certificate.error < 1e-12
    return total


@pytest.mark.slow
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_every_pair_counts_its_demand(directed: bool, edges: bool, weights: bool) -> None:
    G = graph(directed)
    expected = pair_by_pair(G, edges, weights)
    for device in ("cpu", "reference"):
        found = by_demand(G, edges, weights, device)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * expected.max())


@pytest.mark.parametrize(
    "options", [{"plan": "hopwave-wide"}, {"endpoints": True}, {"cutoff": 3}, {"k": 40, "seed": 1}]
)
def test_engines_agree(options: dict[str, object]) -> None:
    G = graph().without_weights()
    demand = {"source_weights": A, "target_weights": B, "normalized": False}
    expected = hw.betweenness_centrality(
        G, **demand, device="reference", **{k: v for k, v in options.items() if k != "plan"}
    )
    found = hw.betweenness_centrality(G, **demand, device="cpu", **options)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-12, atol=1e-9)
    larger = hw.generate.grid(40, 40)
    twice = hw.betweenness_centrality(larger, source_weights=np.full(1600, 6.0), k=200, seed=1, device="cpu")
    plain = hw.betweenness_centrality(larger, k=200, seed=1, device="cpu")
    np.testing.assert_allclose(twice.scores, 6 * plain.scores, rtol=1e-12)


def test_weights_of_one_change_no_bit() -> None:
    G = hw.generate.kronecker(8, 8, seed=3)
    ones = np.ones(G.n)
    for ask in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        plain, same = ask(G), ask(G, source_weights=ones, target_weights=ones)
        assert plain.scores.tolist() == same.scores.tolist()


def test_subsets_dictionaries_and_units() -> None:
    G = graph().without_weights()
    some, goal = [3, 5, 7, 11], [2, 5, 13]
    named = hw.betweenness_centrality(G, sources=some, targets=goal, normalized=False)
    as_dictionary = hw.betweenness_centrality(
        G, source_weights=dict.fromkeys(some, 1e30), target_weights=dict.fromkeys(goal, 1e-40), normalized=False
    )
    assert as_dictionary.sources == 4
    np.testing.assert_allclose(as_dictionary.scores, named.scores * 1e-10, rtol=1e-12)
    both = hw.betweenness_centrality(G, sources=some, source_weights={3: 2.0, 50: 9.0}, normalized=False)
    np.testing.assert_allclose(both.scores, 2 * hw.betweenness_centrality(G, sources=3, normalized=False).scores)
    assert not hw.betweenness_centrality(G, source_weights=np.zeros(N)).scores.any()


def test_executors_and_checkpoints_give_the_same_bits(tmp_path: Path) -> None:
    G = hw.generate.grid(30, 30)
    demand = {"source_weights": np.arange(900.0), "target_weights": np.arange(900.0)[::-1], "device": "cpu"}
    alone = hw.betweenness_centrality(G, **demand)
    with ThreadPoolExecutor(2) as pool:
        assert hw.betweenness_centrality(G, **demand, executor=pool).scores.tolist() == alone.scores.tolist()
    file = tmp_path / "run"
    assert hw.betweenness_centrality(G, **demand, checkpoint=file).scores.tolist() == alone.scores.tolist()
    with pytest.raises(GraphError, match="another graph"):
        hw.betweenness_centrality(G, **{**demand, "source_weights": np.arange(900.0) + 1}, checkpoint=file)


def test_the_bounds_of_a_sample_hold() -> None:
    G = hw.generate.kronecker(9, 8, seed=1)
    a = np.random.default_rng(2).random(G.n) * 5
    exact = hw.betweenness_centrality(G, source_weights=a).scores
    drawn = hw.betweenness_centrality(G, source_weights=a, k=200, seed=4)
    assert (abs(drawn.scores - exact) <= drawn.bounds + 1e-12).all()
    assert drawn.bounds.max() < 5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"source_weights": [1.0]}, r"shape \(1,\)"),
        ({"target_weights": -np.ones(3)}, "finite numbers from 0"),
        ({"target_weights": {1: np.nan}}, "not a number"),
        ({"source_weights": {9: 1.0}}, "9"),
        ({"source_weights": "all"}, "numbers in vertex order"),
        ({"source_weights": np.ones(3), "epsilon": 0.1}, "leave out epsilon"),
        ({"source_weights": {1: 1.0}, "sources": [0]}, "source_weights= is 0 for all of sources=.*leave out sources="),
        ({"target_weights": {1: 1.0}, "targets": [0, 2]}, "target_weights= is 0 for all of targets="),
    ],
)
def test_demand_is_checked(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        hw.betweenness_centrality(hw.generate.path(3), **wrong)


@pytest.mark.parametrize("weights", [None, "length"])
@pytest.mark.parametrize("directed", [False, True])
def test_percolation_is_networkx(directed: bool, weights: str | None) -> None:
    G = nx.gnm_random_graph(40, 90, seed=2, directed=directed)
    nx.set_edge_attributes(G, {edge: 1 + place % 3 for place, edge in enumerate(G.edges)}, "length")
    states = {node: (node % 5) / 4 for node in G}
    expected = nx.percolation_centrality(G, states=states, weight=weights, backend="networkx")
    found = hw.percolation_centrality(G, states, weights=weights)
    np.testing.assert_allclose(found.scores, list(expected.values()), rtol=1e-12, atol=1e-14)
    one = hw.percolation_centrality(hw.generate.star(5), {0: 1.0})
    assert one.scores.tolist() == [0.0] * 5
    with pytest.raises(hw.GraphError, match=r"states\[1\] is 'ill', which is not a number"):
        hw.percolation_centrality(G, {0: 1.0, 1: "ill"})


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("name", ["small", "kronecker", "mesh"])  # blocks, batches, blocks of a deep graph
def test_demand_on_a_gpu(name: str, weights: bool, directed: bool) -> None:
    made = {
        "small": lambda: graph(directed),
        "kronecker": lambda: hw.generate.kronecker(11, edge_factor=16, seed=3, directed=directed),
        "mesh": lambda: hw.generate.delaunay(2000, seed=3),
    }
    G = made[name]()
    G = G if G.is_weighted else G.with_weights(np.ones(G.m)) if weights else G
    rng = np.random.default_rng(3)
    demand = {"source_weights": rng.random(G.n) * (rng.random(G.n) < 0.7), "target_weights": rng.random(G.n) * 9}
    given = demand | {"weights": weights, "reduce": False}
    asked = [(hw.edge_betweenness_centrality, given)]
    asked += [(hw.betweenness_centrality, given | {"endpoints": ends}) for ends in (False, True)]
    asked += [(hw.betweenness_centrality, given | {"sources": [1, 2, 3]})]
    if weights is False:
        asked += [
            (hw.betweenness_centrality, given | {"k": 80, "seed": 1}),
            (hw.betweenness_centrality, given | {"cutoff": 3}),
        ]
    for ask, options in asked:
        right, found = ask(G, device="cpu", **options), ask(G, device="cuda", **options)
        scores = np.asarray(found.scores)
        assert np.allclose(scores, right.scores, rtol=1e-11, atol=1e-13 * right.scores.max(initial=0.0)), options
        assert found.certificate.error < 1e-11 and found.engine == "cuda"


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_what_a_gpu_refuses_of_demand() -> None:
    G = hw.generate.kronecker(8, seed=1)
    ones = np.ones(G.n) / 3
    for options in ({"plan": "hopwave-wide"}, {"plan": "turbobc-sccsc"}, {"endpoints": True, "deterministic": True}):
        with pytest.raises(hw.PlanError):
            hw.betweenness_centrality(G, device="cuda", source_weights=ones, **options)
