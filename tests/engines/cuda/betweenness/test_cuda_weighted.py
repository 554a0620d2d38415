"""Betweenness and distances along weights on the GPU: shapes, memory, overflow, pauses, and the CPU's bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_cuda_betweenness import GRAPHS, both

import hopwave as hw
from hopwave import Graph, engines, generate
from hopwave.arrays import on_host
from hopwave.engines.cuda.betweenness import regimes
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from hopwave.planning.many_sources import Sweep

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]


def agree(graph: Graph, **options: Any) -> None:
    for call in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        due, found = (call(graph, weights=True, device=device, **options) for device in ("cpu", "cuda"))
        np.testing.assert_allclose(on_host(found.scores), due.scores, rtol=1e-9, atol=1e-290)
        assert found.certificate.error < 1e-11 and found.plan == "brandes-dijkstra" and found.engine == "cuda"


KINDS: dict[str, Any] = {
    "ties": lambda rng, m: rng.integers(1, 4, m).astype(float),
    "fractions": lambda rng, m: rng.integers(1, 12, m) / 10,  # 0.1 + 0.2 is not 0.3
    "tiny beside huge": lambda rng, m: np.where(rng.random(m) < 0.3, 1e-3, rng.integers(1, 3, m) * 1e9),
    "random": lambda rng, m: rng.random(m),
    "zeros": lambda rng, m: np.floor(3 * rng.random(m)),
}


def drawn(bare: Graph, kind: str, seed: int = 5) -> Graph:
    source, target = bare.to_edges()
    values = KINDS[kind](np.random.default_rng(seed), len(source))
    return Graph.from_edges(source, target, bare.n, bare.directed, weights=values)


def large(name: str) -> Graph:
    return drawn(GRAPHS[name](), {"mesh": "fractions", "hubs": "tiny beside huge"}.get(name, "ties"))


SOURCES = list(range(0, 2000, 17))


@pytest.mark.parametrize("name", sorted(GRAPHS.keys() - {"pieces"}))
def test_large_graphs_as_on_the_cpu(name: str) -> None:
    agree(large(name), sources=SOURCES)
    agree(large(name), sources=SOURCES[:20], targets=SOURCES[5:50], normalized=False)


@both
@pytest.mark.parametrize("shape", [(64, 1, 1), (256, 4, 1), (1024, 32, 1), (256, 2, 4), (1024, 1, 16)])
@pytest.mark.parametrize("name", ["kronecker-directed", "mesh"])
def test_no_shape_changes_an_answer_and_each_repeats_its_bits(
    name: str, call: Any, shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shapes: threads per block, lanes per row, blocks per source."""
    threads, group, team = shape
    monkeypatch.setattr(regimes, "block_shape", lambda *_: regimes.Shape(threads, group, 5, 0, team))
    graph, options = large(name), {"sources": SOURCES[:12], "weights": True}
    first, again, due = (call(graph, device=device, **options) for device in ("cuda", "cuda", "cpu"))
    assert np.array_equal(first.scores, again.scores) and first.certificate == again.certificate
    np.testing.assert_allclose(first.scores, due.scores, rtol=1e-9, atol=1e-290)


@pytest.mark.parametrize("directed", [False, True])
def test_more_paths_than_float64_holds(directed: bool) -> None:
    for links in (1100, 2200):
        chain = generate.diamonds(links)
        source, target = (column.tolist() for column in chain.to_edges())
        last = chain.n - 1
        graph = Graph.from_edges(
            [*source, 0], [*target, last], None, directed, weights=[1.0] * len(source) + [2.0 * links]
        )
        agree(graph, sources=[0, 5], targets=last, normalized=False)
        accumulation = engines.engine("cuda").accumulation(
            graph, BetweennessJob(np.array([0, 5], np.int64), weighted=True), CATALOGUE["brandes-dijkstra"]
        )
        accumulation.advance(0, lambda done: False)
        assert accumulation.extended >= 1  # type: ignore[attr-defined]


# ---------------------------------------------------------------- distances from many sources


@pytest.mark.parametrize("team", [1, 4])
@pytest.mark.parametrize("kind", ["random", "zeros"])
def test_distances_and_columns_have_the_bits_of_the_cpu(kind: str, team: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regimes, "block_shape", lambda *_: regimes.Shape(128, 2, 7, 0, team))
    graph = drawn(generate.kronecker(9, edge_factor=8, seed=1, directed=True), kind)
    sources = np.random.default_rng(1).integers(0, graph.n, 70)

    def both(keep: Any, **more: Any) -> Any:
        job = Sweep(sources, keep, weighted=True, **more)
        return (engines.engine(device).sweep(graph, job, lambda done: None, None) for device in ("cuda", "cpu"))

    for keep, fields in (("rows", "rows"), ("columns", "columns reached farthest"), ("sums", "reached farthest")):
        found, due = both(keep, block=16, shift=-3)
        for field in fields.split():
            assert getattr(found, field).tobytes() == getattr(due, field).tobytes(), (keep, field)
        np.testing.assert_allclose(found.total, due.total, rtol=3e-16)
        np.testing.assert_allclose(found.inverse, due.inverse, rtol=3e-16)
    found, due = both("pairs", limit=0.5, upwards=True)
    assert np.array_equal(found.reached, due.reached) and np.array_equal(found.pairs[1], due.pairs[1])
