"""Betweenness with vertices renumbered by degree: scores, sums of squares and checkpoints are unchanged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hopwave as hw
from graphs import TRAPS
from hopwave import generate
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness import run
from hopwave.engines.cpu.graph import CpuGraph
from hopwave.planning.jobs import BetweennessJob


@pytest.fixture
def ranked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Renumber every graph, however small; the list counts how often."""
    seen: list[int] = []

    def always(loaded: CpuGraph, job: BetweennessJob) -> bool:
        seen.append(loaded.n)
        return not job.edges

    monkeypatch.setattr(policy, "worth_renumbering", always)
    return seen


@pytest.mark.parametrize("trap", [name for name, make in TRAPS.items() if 0 < make().n <= 160])
def test_the_same_scores(trap: str, ranked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    options = [{}, {"endpoints": True, "normalized": False}, {"cutoff": 2}]
    graph = TRAPS[trap]()
    options.append({"sources": [0, graph.n - 1], "targets": [0, graph.n // 2]})
    found = [hw.betweenness_centrality(graph, device="cpu", **question) for question in options]
    assert len(ranked) == len(options)
    monkeypatch.undo()
    for result, question in zip(found, options, strict=True):
        plain = hw.betweenness_centrality(graph, device="cpu", **question)
        np.testing.assert_allclose(result.scores, plain.scores, rtol=1e-12, atol=1e-290)


@pytest.mark.parametrize("directed", [False, True])
def test_rows_are_the_same_graph(directed: bool) -> None:
    graph = generate.kronecker(8, 8, seed=3, directed=directed)
    new = run.RenumberedGraph(graph)
    source, target = graph.to_edges()
    again = hw.Graph.from_edges(new.rank[source], new.rank[target], n=graph.n, directed=directed)
    assert new.loaded.graph == again
    assert np.array_equal(new.loaded.graph.in_indices, again.in_indices)
    degrees = again.degrees + again.in_degrees
    assert np.all(np.diff(degrees.astype(int)) <= 0), "hubs first"


def test_samples_with_bounds(ranked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    graph = generate.kronecker(11, 8, seed=3)
    found = hw.betweenness_centrality(graph, epsilon=0.2, seed=5, method="sources", device="cpu")
    monkeypatch.undo()
    plain = hw.betweenness_centrality(graph, epsilon=0.2, seed=5, method="sources", device="cpu")
    assert ranked and found.sources == plain.sources < graph.n
    np.testing.assert_allclose(found.scores, plain.scores, rtol=1e-12)
    np.testing.assert_allclose(found.bounds, plain.bounds, rtol=1e-9)


def test_goes_on_bit_for_bit(ranked: list[int], tmp_path: Path) -> None:
    graph = generate.kronecker(9, 8, seed=3)
    whole = hw.betweenness_centrality(graph, device="cpu")

    def interrupt(done: int, total: int) -> None:
        if done >= total // 4:
            raise KeyboardInterrupt

    file = tmp_path / "run.npz"
    with pytest.raises(KeyboardInterrupt):
        hw.betweenness_centrality(graph, device="cpu", threads=1, progress=interrupt, checkpoint=file)
    again = hw.betweenness_centrality(graph, device="cpu", threads=2, checkpoint=file)
    assert np.array_equal(whole.scores, again.scores)


def test_large_graphs_with_hubs_and_many_sources_alone() -> None:
    graphs = hw.Graph.from_edges(np.zeros(40_000, int), np.arange(1, 40_001)), generate.grid(1, 40_000)
    star, path = map(CpuGraph, graphs)
    many, few = BetweennessJob(np.arange(32)), BetweennessJob(np.arange(31))
    assert policy.worth_renumbering(star, many)
    assert not policy.worth_renumbering(star, few)
    assert not policy.worth_renumbering(path, many)
    assert not policy.worth_renumbering(star, BetweennessJob(np.arange(32), edges=True))
    assert not policy.worth_renumbering(star, BetweennessJob(np.arange(32), memory_limit=10**9))
