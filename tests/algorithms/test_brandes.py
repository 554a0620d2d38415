"""Betweenness before and after an engine runs: sources, scaling, samples, plans, memory, arguments."""

from __future__ import annotations

import random
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.utils import create_py_random_state

import hopwave as hw
import oracle
from hopwave import Graph, engines, generate
from hopwave.algorithms.brandes import scale
from hopwave.algorithms.draws import draw_sources, half_width
from hopwave.engines import host_memory
from hopwave.engines.cpu import graph as cpu_graph
from hopwave.engines.cpu import workers as cpu_workers
from hopwave.engines.cpu.betweenness.run import Accumulation
from hopwave.engines.cpu.graph import is_scattered
from hopwave.planning.catalogue import CATALOGUE

# ---------------------------------------------------------------- scaling


@given(st.lists(st.floats(0, 1e6), max_size=9), st.booleans(), st.booleans(), st.booleans(), st.data())
def test_scale(sums: list[float], normalized: bool, directed: bool, endpoints: bool, data: st.DataObject) -> None:
    """Compared with the oracle, which test_oracle.py compares with NetworkX."""
    n = len(sums)
    vertices = st.lists(st.integers(0, n - 1), min_size=1, max_size=n - 1, unique=True)
    sampled = data.draw(st.none() | vertices) if n > 1 else None
    factors = oracle.rescaling(Graph.from_edges([], [], n=n, directed=directed), sampled, normalized, endpoints)
    how = {"normalized": normalized, "directed": directed, "endpoints": endpoints}
    found = scale(np.array(sums), n, **how, sampled=None if sampled is None else np.array(sampled, np.int64))
    np.testing.assert_allclose(found, np.array(sums) * np.array(factors, float), rtol=1e-14)


# ---------------------------------------------------------------- sources, as NetworkX draws them

SEEDS = {
    "int": lambda seed: seed,
    "numpy int": np.int64,
    "Random": random.Random,
    "Generator": np.random.default_rng,
    "RandomState": np.random.RandomState,
}


@pytest.mark.parametrize("kind", SEEDS)
@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 1), (10, 3), (10, 9), (100, 7), (1000, 40), (40_000, 25)])
def test_sources_are_drawn_as_networkx_draws_them(kind: str, n: int, k: int) -> None:
    for seed in (0, 1, 42, 2**31):
        right = create_py_random_state(int(seed) if kind == "numpy int" else SEEDS[kind](seed)).sample(range(n), k)
        assert draw_sources(n, k, SEEDS[kind](seed)).tolist() == list(right)


def test_generators_continue_their_sequence() -> None:
    """A generator that is given; without a seed, Python's own. Nothing is drawn where nothing is left out."""
    mine, theirs = np.random.default_rng(3), np.random.default_rng(3)
    wrapped = create_py_random_state(theirs)
    for _ in range(3):
        assert draw_sources(50, 5, mine).tolist() == wrapped.sample(range(50), 5)
        assert draw_sources(7, None, mine) is None and draw_sources(7, 7, mine) is None
    assert mine.random() == theirs.random()
    random.seed(9)
    assert draw_sources(50, 5, None).tolist() == random.Random(9).sample(range(50), 5)
    state = np.random.mtrand._rand
    before = state.get_state()
    first = draw_sources(50, 5, state).tolist()
    state.set_state(before)
    assert create_py_random_state(state).sample(range(50), 5) == first


# ---------------------------------------------------------------- samples that are large enough


def test_half_width_holds() -> None:
    """Means of draws with a known expectation are outside the bound less often than the risk."""
    generator, risk, k = np.random.default_rng(1), 0.05, 400
    for p in (0.0, 0.02, 0.3):
        draws = generator.random((2000, k)) < p
        mean = draws.mean(axis=1)
        outside = np.abs(mean - p) > half_width(mean, mean, k, risk)
        assert outside.mean() <= risk


def sampled(graph: Graph, **asked: Any) -> hw.BetweennessResult:
    return hw.betweenness_centrality(graph, epsilon=0.12, method="sources", **asked)


@pytest.mark.parametrize("cutoff", [None, 2])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("directed", [False, True])
def test_adaptive_bounds_hold(seed: int, directed: bool, cutoff: int | None) -> None:
    graph = generate.kronecker(11, edge_factor=4, seed=seed, directed=directed)
    right = hw.betweenness_centrality(graph, cutoff=cutoff).scores
    found, raw = (sampled(graph, seed=seed, cutoff=cutoff, normalized=normalized) for normalized in (True, False))
    assert found.sources < graph.n and found.bounds is not None and found.bounds.max() <= 0.12
    assert (np.abs(found.scores - right) <= found.bounds).all()
    assert found.certificate.error < 1e-12 and found.certificate.sources == found.sources
    pairs = (graph.n - 1) * (graph.n - 2) / (1 if directed else 2)
    np.testing.assert_allclose(raw.scores, found.scores * pairs, rtol=1e-14)
    np.testing.assert_allclose(raw.bounds, found.bounds * pairs, rtol=1e-14)


def test_adaptive_samples_repeat_by_their_seed() -> None:
    graph = generate.kronecker(11, edge_factor=4)
    for make in SEEDS.values():
        first, second, other = (sampled(graph, seed=make(seed)) for seed in (7, 7, 8))
        assert np.array_equal(first.scores, second.scores) and np.array_equal(first.bounds, second.bounds)
        assert not np.array_equal(first.scores, other.scores)


# ---------------------------------------------------------------- blocks, memory


def test_a_shuffled_grid_is_scattered() -> None:
    cached, grid = generate.uniform(10_000, edge_factor=4), generate.grid(200, 200)
    assert not is_scattered(cached.indptr, cached.indices), "it fits into a cache"
    assert not is_scattered(grid.indptr, grid.indices)
    shuffle = np.random.default_rng(1).permutation(grid.n)
    source, target = grid.to_edges()
    shuffled = Graph.from_edges(shuffle[source], shuffle[target], n=grid.n)
    assert is_scattered(shuffled.indptr, shuffled.indices)


def test_graphs_are_prepared_once() -> None:
    graph = generate.kronecker(8)
    engine = engines.engine("cpu")
    assert engine.load(graph, CATALOGUE["hopwave"]) is engine.load(graph, CATALOGUE["hopwave-block"])
    prepared = cpu_graph.CpuGraph(graph)
    kinds = [prepared.adjacency("degree").hub.size for _ in range(3)]
    assert kinds == [0, graph.n, graph.n]


NEEDS = Accumulation.bytes_per_worker(1000, 2000, 1000, edges=False)


def test_as_many_workers_as_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to a limit, or to a part of the memory of the machine."""
    limits = NEEDS, 3 * NEEDS, 100 * NEEDS
    assert [cpu_workers.workers_within(limit, 8, NEEDS) for limit in limits] == [1, 3, 8]
    monkeypatch.setattr(host_memory, "available_memory", lambda: 4 * NEEDS)
    assert cpu_workers.workers_within(None, 8, NEEDS) == 8, "less than every machine has"
    monkeypatch.setattr(host_memory, "BYTES_ANYWHERE", 0)
    assert cpu_workers.workers_within(None, 8, NEEDS) == 3
    monkeypatch.setattr(host_memory, "available_memory", lambda: None)
    assert cpu_workers.workers_within(None, 8, NEEDS) == 8


# ---------------------------------------------------------------- plans and arguments


@pytest.mark.skipif("hopwave" not in nx.utils.backends.backends, reason="NetworkX finds backends by entry points")
def test_the_backend_takes_any_truth_value_as_networkx_does() -> None:
    for how in ({"endpoints": "yes"}, {"endpoints": None}, {"normalized": 2}, {"normalized": []}):
        karate = nx.karate_club_graph()
        found = nx.betweenness_centrality(karate, **how, backend="hopwave")
        assert found == pytest.approx(nx.betweenness_centrality(karate, **how, backend="networkx"), rel=1e-12)
