"""Betweenness on every engine by every plan, its certificate, and what cannot be counted along weights."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from test_search import HERE, machines, on, ready

import hopwave as hw
import oracle
from graphs import TRAPS
from hopwave import EngineError, Graph, GraphError, engines, generate
from hopwave.algorithms import brandes
from hopwave.algorithms.checkpoint import key_of
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from hopwave.planning.plan import Plan
from questions.values import PLANS
from together import in_one_test

compiled_machines = on([name for name in HERE if name != "reference"])  # whose path counts are no Python integers
every_plan = pytest.mark.parametrize("plan", PLANS, ids=str)


def same(found: Any, expected: Any) -> None:
    """Equal to 1e-9 of each value; a value too small for float64 may be 0."""
    np.testing.assert_allclose(np.asarray(found, float), np.array(expected, float), rtol=1e-9, atol=1e-290)


def edge_scores(result: hw.EdgeBetweennessResult) -> list[float]:
    """Scores in the order of graph.to_edges()."""
    return list(result.to_dict().values())


@in_one_test("plan", PLANS)
def test_the_reference_runs_all_plans_alike(plan: Plan) -> None:
    graph = TRAPS["kronecker-directed"]()
    asked = {"sources": [0, graph.n // 3], "device": "reference"}
    for score in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        found = score(graph, **asked, plan=plan)
        assert (found.plan.name, found.engine) == (plan.name, "reference") and "regime" in found.plan.without
        assert np.array_equal(found.scores, score(graph, **asked).scores)


WIDE: dict[str, Any] = {
    "kronecker": lambda: generate.kronecker(16, edge_factor=8, seed=2),
    "rmat": lambda: generate.rmat(16, edge_factor=8, seed=2),
    "delaunay": lambda: generate.delaunay(40_000, seed=2),
    "grid": lambda: generate.grid(190, 180, missing=0.05, seed=2),
}


@cache
def wide_graph(name: str) -> tuple[Graph, list[int], Any]:
    """Graphs larger than a cache: numbered at random or along their shape, with or without hubs that are pulled."""
    graph = WIDE[name]()
    sources = np.argsort(-graph.degrees, kind="stable")[[0, graph.n // 3]].tolist()
    return graph, sources, oracle.scaled_betweenness(graph, sources)


@pytest.mark.slow
@compiled_machines
@every_plan
@in_one_test("name", WIDE)
def test_graphs_beyond_a_cache(device: str, plan: Plan, name: str) -> None:
    ready(device, plan)
    graph, sources, scores = wide_graph(name)
    found = hw.betweenness_centrality(graph, sources=sources, normalized=False, plan=plan, device=device)
    same(found.scores, scores)


@machines
@in_one_test("directed", [False, True])
def test_edges_of_an_arranged_graph_are_those_of_the_graph(device: str, directed: bool) -> None:
    """Arcs are in another order; both directions of an edge must still be added up."""
    graph = generate.kronecker(6, 4, seed=1, directed=directed)
    plain, arranged = (hw.edge_betweenness_centrality(G, device=device).to_dict() for G in (graph, graph.arranged()))
    assert arranged == pytest.approx(plain)


@machines
def test_deterministic_runs_agree_to_the_last_bit(device: str) -> None:
    graph = generate.kronecker(6 if device == "reference" else 9, 8, seed=2)
    for score in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        assert np.array_equal(*(score(graph, device=device, deterministic=True).scores for _ in range(2)))


# ---------------------------------------------------------------- certificates: sums that differ are an error


def lose(run: Any, again: Any) -> None:
    """A part of one source's dependencies."""
    run.certificate[2, 0] *= 1 - 1e-6


def add_again(run: Any, again: Any) -> None:
    """Each source's own sums are right, but the scores are wrong."""
    again.advance(0, lambda done: False)
    brandes.sums_of(run)[:] += brandes.sums_of(again)  # what is checked and read, on a device if left there


@machines
@pytest.mark.parametrize("spoil", [lose, add_again])
@pytest.mark.parametrize(
    "ask",
    [
        hw.betweenness_centrality,
        hw.edge_betweenness_centrality,
        lambda graph, **where: hw.betweenness_centrality(graph, targets=[0, 4], cutoff=5, **where),
        lambda graph, **where: hw.betweenness_centrality(graph, epsilon=0.3, seed=1, **where),
    ],
)
def test_damaged_sums_raise(device: str, spoil: Any, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engines.engine(device)
    accumulation = engine.accumulation

    def damaged(graph: Any, job: Any, *given: Any) -> Any:
        run, again = (accumulation(graph, one, *given) for one in (job, replace(job, sources=job.sources[:1])))
        advance = run.advance

        def wrong(*arguments: Any) -> int:
            done: int = advance(*arguments)
            spoil(run, again)
            return done

        run.advance = wrong
        return run

    monkeypatch.setattr(engine, "accumulation", damaged)
    words = "source number 2 sums to" if spoil is lose else "all sources sum to"
    with pytest.raises(EngineError, match=rf"{words} .* instead of .* please report"):
        ask(TRAPS["binary-tree"](), device=device)


@machines
def test_the_certificate_counts_what_was_computed(device: str) -> None:
    """Both sides come from the run: Σ δ from the sums themselves, Σ (d − 1) from the levels."""
    graph, job = TRAPS["delaunay"](), BetweennessJob(np.array([3, 50], np.int64))
    run = engines.engine(device).accumulation(graph, job, CATALOGUE["hopwave-block"])
    brandes.accumulate(run, job, "test", False, None)
    distances = np.array([oracle.distances(graph, s) for s in (3, 50)])
    assert run.certificate[:, 1].tolist() == (np.maximum(distances - 1, 0)).sum(axis=1).tolist()
    assert math.isclose(run.total.sum(), run.certificate[:, 0].sum(), rel_tol=1e-12)


# ---------------------------------------------------------------- along weights


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


def test_samples_with_bounds() -> None:
    graph = generate.barabasi_albert(600, 3, seed=1)
    asked: dict[str, Any] = {"weights": np.full(graph.m, 3.0)}
    found = hw.betweenness_centrality(graph, **asked, epsilon=0.2, seed=1, method="sources")
    assert found.sources < graph.n and found.bounds is not None and found.bounds.max() <= 0.2
    assert (np.abs(found.scores - hw.betweenness_centrality(graph, **asked).scores) <= found.bounds).all()


def test_the_key_of_a_checkpoint_reads_weights_only_along_weights() -> None:
    graph = generate.path(50, directed=True)
    weighted = graph.with_weights(np.arange(1.0, graph.m + 1))
    assert key_of(weighted, False, "x") == key_of(graph, False, "x") != key_of(weighted, True, "x")
    assert key_of(weighted, True, "x") != key_of(graph.with_weights(np.ones(graph.m)), True, "x")
