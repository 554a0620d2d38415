"""Betweenness along weights: what cannot be counted, and overflow, beside what tests/questions asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_betweenness import same

import hopwave as hw
from graphs import TRAPS
from hopwave import Graph, GraphError, engines, generate
from hopwave.algorithms.checkpoint import key_of
from hopwave.api import choice
from hopwave.engines.cuda import Engine as CudaEngine
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from together import in_one_test

PLAN = CATALOGUE["brandes-dijkstra"]


def both(graph: Graph, **options: Any) -> None:
    """The CPU and reference engines agree on vertices and edges, or refuse the graph for the same reason."""
    for score in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        try:
            due = score(graph, weights=True, device="reference", **options)
        except GraphError as error:
            assert "cannot be counted" in str(error)
            with pytest.raises(GraphError, match=r"cannot be counted: weight .* adds nothing to the length of a path"):
                score(graph, weights=True, device="cpu", **options)
            continue
        found = score(graph, weights=True, device="cpu", **options)
        same(found.scores, due.scores)
        assert found.certificate.error < 1e-12 and due.certificate.error < 1e-12
        assert (found.sources, found.plan.name, due.engine) == (due.sources, due.plan.name, "reference")


@in_one_test("trap", [name for name, make in TRAPS.items() if make().m <= 2000])
def test_every_trap_with_weights_that_add_little(trap: str) -> None:
    """Weights that tests/questions leaves out. With zeros many undirected graphs cannot be counted."""
    bare, rng = TRAPS[trap](), np.random.default_rng(5)
    source, target = bare.to_edges()
    few = rng.integers(0, 3, len(source)).astype(float)
    for weights in (few, np.where(rng.random(len(source)) < 0.3, 1e-3, (few + 1) * 1e9)):
        graph = Graph.from_edges(source, target, bare.n, bare.directed, weights=weights)
        both(graph, sources=sorted({0, bare.n // 3, bare.n - 1}))


def test_zeros_without_a_cycle_are_counted_by_the_definition() -> None:
    """Two arcs of weight 0 lead to a vertex that Dijkstra settles before one of their tails."""
    graph = Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 4], directed=True, weights=[1.0, 1.0, 0.0, 0.0, 1.0])
    assert hw.betweenness_centrality(graph, normalized=False, weights=True).scores.tolist() == [0, 1, 1, 3, 0]
    for seed in range(40):  # arcs of weight 0 lead from lower to higher ids
        rng = np.random.default_rng(seed)
        ends = rng.integers(0, 12, (2, 30))
        weights = np.where(ends[0] < ends[1], rng.integers(0, 3, 30), 1.0)
        both(Graph.from_edges(*ends, 12, True, weights=weights, combine="min"), normalized=False)


@pytest.mark.parametrize("directed", [False, True])
@in_one_test("links", [1100, 2200])
def test_more_paths_than_float64_holds(directed: bool, links: int) -> None:
    """2^1100 shortest paths; and 2^2200 beside a single one, which exceeds the span of float64."""
    chain = generate.diamonds(links)
    source, target = (column.tolist() for column in chain.to_edges())
    last = chain.n - 1
    weights = [1.0] * len(source) + [2.0 * links]
    graph = Graph.from_edges([*source, 0], [*target, last], None, directed, weights=weights)
    asked: dict[str, Any] = {"sources": 0, "targets": last, "normalized": False, "weights": True}
    found = hw.betweenness_centrality(graph, **asked)
    same(found.scores[1:4], np.array([0.5, 0.5, 1]) / (1 if directed else 2))
    assert max(found.certificate.error, hw.edge_betweenness_centrality(graph, **asked).certificate.error) < 1e-10
    job = BetweennessJob(np.array([0, 5], np.int64), weighted=True)
    run: Any = engines.engine("cpu").accumulation(graph, job, PLAN)
    run.advance(0, lambda done: False)
    assert run.extended >= 1


def test_samples_with_bounds() -> None:
    graph = generate.barabasi_albert(600, 3, seed=1)
    weights = np.ones(graph.m) * 3
    exact = hw.betweenness_centrality(graph, weights=weights).scores
    found = hw.betweenness_centrality(graph, weights=weights, epsilon=0.2, seed=1, method="sources")
    assert found.sources < graph.n and found.bounds is not None and found.bounds.max() <= 0.2
    assert (np.abs(found.scores - exact) <= found.bounds).all()


def test_the_key_of_a_checkpoint_reads_weights_only_along_weights() -> None:
    graph = generate.path(50, directed=True)
    weighted = graph.with_weights(np.arange(1.0, graph.m + 1))
    assert key_of(weighted, False, "x") == key_of(graph, False, "x") != key_of(weighted, True, "x")
    assert key_of(weighted, True, "x") != key_of(graph.with_weights(np.ones(graph.m)), True, "x")


def test_a_gpu_takes_what_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cupy")
    real, cuda, graph = engines.engine, CudaEngine(), generate.delaunay(2000, seed=1)
    monkeypatch.setattr(choice, "has_gpu", lambda: True)
    monkeypatch.setattr(engines, "engine", lambda name: cuda if name == "cuda" else real(name))
    for sources, threads, device in ((1 << 20, None, "cuda"), (8, None, "cpu"), (1 << 20, 2, "cpu")):
        job = BetweennessJob(np.zeros(sources, np.int64), weighted=True)
        assert cuda.why_not(PLAN, job) is None
        for plan in ("auto", PLAN):
            assert choice.betweenness_engine("auto", graph, job, plan, threads).name == device
