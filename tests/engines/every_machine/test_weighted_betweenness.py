"""Betweenness along weights: what cannot be counted, bits, and overflow, beside what tests/questions asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from test_betweenness import same

import hopwave as hw
from graphs import TRAPS
from hopwave import Graph, GraphError, engines, generate
from hopwave.algorithms.checkpoint import key_of
from hopwave.api import choice
from hopwave.engines.cpu import policy
from hopwave.engines.cuda import Engine as CudaEngine
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from together import in_one_test

PLAN = CATALOGUE["brandes-dijkstra"]
NEXT = np.nextafter(1.0, 2.0)

# Weights of random edges, each kind with a trap. Only "zeros" has weights that add nothing to a distance.
KINDS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "ties": lambda rng, m: rng.integers(1, 4, m).astype(float),
    "equal": lambda rng, m: np.full(m, 0.1),
    "fractions": lambda rng, m: rng.integers(1, 12, m) / 10,  # 0.1 + 0.2 is not 0.3
    "last bit": lambda rng, m: np.where(rng.random(m) < 0.5, 1.0, NEXT),
    "tiny beside huge": lambda rng, m: np.where(rng.random(m) < 0.3, 1e-3, rng.integers(1, 3, m) * 1e9),
    "real": lambda rng, m: rng.random(m) + 0.01,
    "zeros": lambda rng, m: rng.integers(0, 3, m).astype(float),
}


def random_graph(seed: int, kind: str, directed: bool) -> Graph:
    """A graph of up to 16 vertices with isolated vertices and loops; weights of 0 only from lower to higher ids."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 17))
    src, dst = rng.integers(0, n, (2, int(rng.integers(0, 4 * n))))
    weights = KINDS[kind](rng, len(src))
    weights[(weights == 0) & (src >= dst)] = 1.0
    return Graph.from_edges(src, dst, n, directed, weights=weights, combine="min")


def as_nx(graph: Graph) -> Any:
    g = nx.DiGraph() if graph.directed else nx.Graph()
    g.add_nodes_from(range(graph.n))
    edges = graph.edges()
    g.add_weighted_edges_from(
        zip(edges.source.tolist(), edges.target.tolist(), edges.weights.tolist(), strict=True)  # type: ignore[union-attr]
    )
    return g


def random_graphs(count: int) -> Iterator[tuple[int, str, Graph]]:
    for seed in range(count):
        for kind in KINDS:
            if kind != "zeros":
                yield seed, kind, random_graph(seed, kind, directed=bool(seed % 2))


OPTIONS: list[dict[str, Any]] = [
    {"normalized": False},
    {"endpoints": True, "cutoff": 2.5},
    {"sources": [0], "targets": [0, 1], "cutoff": 3.0},
]


def both(graph: Graph, **options: Any) -> None:
    """The CPU and reference engines agree on vertices and edges, or refuse the graph for the same reason."""
    for score in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        if score is hw.edge_betweenness_centrality:
            options.pop("endpoints", None)
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
def test_every_trap_with_weights(trap: str) -> None:
    """With "zeros" many undirected graphs cannot be counted, and engines agree which; tests/questions has the rest."""
    bare = TRAPS[trap]()
    sources = sorted({0, bare.n // 3, bare.n - 1})
    source, target = bare.to_edges()
    for kind in ("zeros", "ties", "tiny beside huge"):
        drawn = KINDS[kind](np.random.default_rng(5), len(source))
        graph = Graph.from_edges(source, target, bare.n, bare.directed, weights=drawn)
        both(graph, sources=sources)
        if kind == "ties" and bare.n > 1:
            for options in OPTIONS if bare.n < 100 else OPTIONS[2:]:
                both(graph, **options)


def test_zeros_without_a_cycle_are_counted_by_the_definition() -> None:
    """Two arcs of weight 0 lead to a vertex that Dijkstra settles before one of their tails."""
    graph = Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 4], directed=True, weights=[1.0, 1.0, 0.0, 0.0, 1.0])
    assert hw.betweenness_centrality(graph, normalized=False, weights=True).scores.tolist() == [0, 1, 1, 3, 0]
    for seed in range(40):
        both(random_graph(seed, "zeros", directed=True), normalized=False, endpoints=True)


def test_equal_weights_are_hops() -> None:
    graph = generate.kronecker(7, edge_factor=4, seed=2)
    half = hw.betweenness_centrality(graph, weights=np.full(graph.m, 0.5))
    same(half.scores, hw.betweenness_centrality(graph).scores)
    same(
        hw.edge_betweenness_centrality(graph, weights=np.full(graph.m, 2), cutoff=5).scores,
        hw.edge_betweenness_centrality(graph, cutoff=2).scores,
    )


@pytest.mark.parametrize("directed", [False, True])
def test_more_paths_than_float64_holds(directed: bool) -> None:
    """2^1100 shortest paths; and 2^2200 beside a single one, which exceeds the span of float64."""
    for links in (1100, 2200):
        chain = generate.diamonds(links)
        source, target = (column.tolist() for column in chain.to_edges())
        last = chain.n - 1
        weights = [1.0] * len(source) + [2.0 * links]
        graph = Graph.from_edges([*source, 0], [*target, last], None, directed, weights=weights)
        found = hw.betweenness_centrality(graph, sources=0, targets=last, normalized=False, weights=True)
        same(found.scores[1:4], np.array([0.5, 0.5, 1]) if directed else np.array([0.25, 0.25, 0.5]))
        assert found.certificate.error < 1e-10
        edges = hw.edge_betweenness_centrality(graph, sources=0, targets=last, normalized=False, weights=True)
        assert edges.certificate.error < 1e-10
        job = BetweennessJob(np.array([0, 5], np.int64), weighted=True)
        run = engines.engine("cpu").accumulation(graph, job, PLAN)
        run.advance(0, lambda done: False)
        assert run.extended >= 1  # type: ignore[attr-defined]


def test_samples_with_bounds() -> None:
    graph = generate.barabasi_albert(600, 3, seed=1)
    weights = np.ones(graph.m) * 3
    exact = hw.betweenness_centrality(graph, weights=weights).scores
    found = hw.betweenness_centrality(graph, weights=weights, epsilon=0.2, seed=1, method="sources")
    assert found.sources < graph.n and found.bounds is not None and found.bounds.max() <= 0.2
    assert (np.abs(found.scores - exact) <= found.bounds).all()


def mesh(n: int = 900) -> Graph:
    graph = generate.delaunay(n, seed=1)
    source, target = graph.to_edges()
    return Graph.from_edges(source, target, n, weights=np.random.default_rng(2).integers(1, 9, len(source)) / 7)


def test_threads_change_no_bit() -> None:
    graph = mesh()
    for score in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        one, three = (score(graph, weights=True, threads=threads) for threads in (1, 3))
        assert np.array_equal(one.scores, three.scores) and one.certificate == three.certificate


def test_a_run_continues_after_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "POLL_SECONDS", 0.001)
    graph, path = mesh(2500), tmp_path / "run.npz"

    def stop(reached: int, total: int) -> None:
        if 0 < reached < total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hw.betweenness_centrality(graph, weights=True, checkpoint=path, progress=stop, threads=1)
    other = graph.with_weights(np.asarray(graph.weights) * 2)
    for question in ({"G": other, "weights": True}, {"G": graph, "weights": False}):
        with pytest.raises(GraphError, match="is of another graph, question, plan or device"):
            hw.betweenness_centrality(**question, checkpoint=path)
    heard: list[int] = []
    resumed = hw.betweenness_centrality(
        graph, weights=True, checkpoint=path, progress=lambda done, _: heard.append(done), threads=2
    )
    assert np.array_equal(resumed.scores, hw.betweenness_centrality(graph, weights=True).scores)
    assert min(heard) > 0, "it did not start anew"


def test_the_key_of_hops_does_not_read_weights() -> None:
    graph = mesh(50)
    assert key_of(graph, False, "x") == key_of(graph.without_weights(), False, "x")
    assert key_of(graph, False, "x") != key_of(graph, True, "x")


def test_a_gpu_takes_what_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cupy")
    real, cuda = engines.engine, CudaEngine()
    monkeypatch.setattr(choice, "has_gpu", lambda: True)
    monkeypatch.setattr(engines, "engine", lambda name: cuda if name == "cuda" else real(name))
    for sources, threads, device in ((1 << 20, None, "cuda"), (8, None, "cpu"), (1 << 20, 2, "cpu")):
        job = BetweennessJob(np.zeros(sources, np.int64), weighted=True)
        assert cuda.why_not(PLAN, job) is None
        for plan in ("auto", PLAN):
            assert choice.betweenness_engine("auto", mesh(2000), job, plan, threads).name == device


def test_every_form_of_weights() -> None:
    graph = mesh(40)
    due = hw.betweenness_centrality(graph, weights=True).scores
    g = as_nx(graph)
    nx.set_edge_attributes(g, {(u, v): w for u, v, w in g.edges.data("weight")}, "km")
    for given, weights in ((graph.without_weights(), graph.weights), (graph.to_scipy(), True), (g, True), (g, "km")):
        same(hw.betweenness_centrality(given, weights=weights).scores, due)
    hops = hw.betweenness_centrality(graph.without_weights()).scores
    same(hw.betweenness_centrality(graph, weights=False).scores, hops)
    assert hw.betweenness_centrality(nx.empty_graph(3), weights="km", cutoff=0.5).scores.tolist() == [0, 0, 0]
