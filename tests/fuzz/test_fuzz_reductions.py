"""What users see of a reduction; tests/fuzz/reductions.py compares random graphs."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave.algorithms import reduction
from hopwave.algorithms.reduction import union as parts
from hopwave.algorithms.reduction.union import as_whole
from hopwave.arrays import on_host
from hopwave.engines.cpu.betweenness import core_run
from operands import devices


def lollipops() -> hw.Graph:
    """Two dense blocks, a long path between them, and many leaves."""
    rng = np.random.default_rng(5)
    dense = rng.integers(0, 300, (2, 900))
    path = np.arange(600, 900)
    leaves = np.arange(900, 2000)
    tails = np.concatenate([dense[0], dense[0] + 300, [0], path[:-1], [899], leaves])
    heads = np.concatenate([dense[1], dense[1] + 300, [600], path[1:], [300], rng.integers(0, 600, len(leaves))])
    return hw.Graph.from_edges(tails, heads, n=2000)


def test_a_result_says_what_remained() -> None:
    G = lollipops()
    found = hw.betweenness_centrality(G, device="cpu")
    assert found.reduction is not None and found.reduction.vertices < 650 and found.reduction.gain > 5
    assert str(found.reduction) in repr(found) and found.sources == 2000
    assert hw.betweenness_centrality(G, device="cpu", reduce=False).reduction is None
    for whole in (
        {"k": 1500, "seed": 1},
        {"cutoff": 5},
        {"plan": "hopwave-block"},
        {"device": "reference", "sources": [1]},
    ):
        assert hw.betweenness_centrality(G, **whole).reduction is None


def test_a_graph_with_nothing_to_remove_is_not_looked_at() -> None:
    found = hw.betweenness_centrality(hw.generate.delaunay(1100, seed=1), device="cpu")
    assert found.reduction is None and "few vertices have one or two neighbours, or a twin" in found.plan.why


def test_rounded_lengths_are_left_alone() -> None:
    G = hw.generate.path(1200)
    tenths, halves = (G.with_weights(np.full(G.m, length)) for length in (0.1, 0.5))
    rounded = hw.betweenness_centrality(tenths, weights=True, device="cpu")
    assert rounded.reduction is None and "lengths are rounded" in rounded.plan.why
    assert hw.betweenness_centrality(halves, weights=True, device="cpu").reduction is not None
    assert as_whole(G.with_weights(np.zeros(G.m))) is None


def subdivided(G: hw.Graph, pieces: int) -> hw.Graph:
    """Every edge becomes a chain of that many."""
    ends = np.stack(G.to_edges()[:2])
    inner = G.n + np.arange(ends.shape[1] * (pieces - 1)).reshape(-1, pieces - 1)
    path = np.concatenate([ends[:1].T, inner, ends[1:].T], axis=1)
    return hw.Graph.from_edges(path[:, :-1].ravel(), path[:, 1:].ravel(), n=G.n + inner.size)


def test_pairs_that_count_once_count_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several batches of the core; where sources are a part of the vertices, each pair counts by itself."""
    G = subdivided(hw.generate.uniform(300, 3), 5)
    once, some, rest = (
        hw.edge_betweenness_centrality(G, device="cpu", normalized=False, sources=sources)
        for sources in (None, np.arange(1500), np.arange(1500, G.n))
    )
    for found in (once, some, rest):
        assert found.reduction is not None and found.reduction.chains and found.reduction.vertices > 256
    assert np.allclose(once.scores, some.scores + rest.scores, rtol=1e-12, atol=0)
    monkeypatch.setattr(core_run.CoreRun, "halves", False)
    each = hw.edge_betweenness_centrality(G, device="cpu", normalized=False)
    assert np.allclose(once.scores, each.scores, rtol=1e-12, atol=0)


def with_twins(closed: bool) -> hw.Graph:
    """Every vertex of a graph of 400 two to four times; some have leaves."""
    G, rng = hw.generate.uniform(400, 6, seed=3), np.random.default_rng(4)
    of = np.concatenate([np.arange(400), np.arange(400), rng.integers(0, 400, 500)])
    own = np.argsort(of, kind="stable")
    tails, heads = np.nonzero((G.to_scipy().toarray())[np.ix_(of, of)] | ((of[:, None] == of) & closed))
    leaves = np.arange(300)
    return hw.Graph.from_edges(np.append(tails, own[:300]), np.append(heads, leaves + len(of)), n=len(of) + 300)


DEMAND = {"source_weights": 1.0 + np.arange(2000) % 3, "target_weights": (np.arange(2000) % 5).astype(float)}
SHAPES: dict[str, Callable[[], hw.Graph]] = {
    "blocks": lollipops,
    "chains": lambda: subdivided(hw.generate.uniform(60, 3), 9),
    "open twins": lambda: with_twins(False),
    "closed twins": lambda: with_twins(True),
}


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("ask", [hw.betweenness_centrality, hw.edge_betweenness_centrality])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_reduced_run(shape: str, ask: Any, tmp_path: Path) -> None:
    """The scores of the whole graph; the same bits with threads, a checkpoint and an executor."""
    G = SHAPES[shape]()
    demand = {name: values[: G.n] for name, values in DEMAND.items()}
    for given in ({}, demand, {"sources": range(1100), "targets": range(900, 1300)}):
        found, whole = ask(G, device="cpu", **given), ask(G, device="cpu", reduce=False, **given)
        assert found.reduction is not None and found.reduction.gain > 1.4 and str(found.reduction) in repr(found)
        assert np.allclose(found.scores, whole.scores, rtol=1e-11, atol=0) and found.certificate.error < 1e-12
    parts = found.reduction
    assert {"blocks": parts.vertices < 650, "chains": parts.chains > 150}.get(shape, parts.twins > 60)
    seen: list[int] = []
    with ThreadPoolExecutor(2) as pool:
        for more in (
            {"threads": 1},
            {"threads": 2},
            {"checkpoint": tmp_path / "one"},
            {"executor": pool},
            {"executor": pool, "checkpoint": tmp_path / "two"},
            {"progress": lambda done, of: seen.append(of)},
        ):
            again = ask(G, device="cpu", **given, **more)
            assert again.reduction == found.reduction and again.scores.tolist() == found.scores.tolist(), more
    assert shape != "chains" or set(seen) <= {parts.vertices, 1100}


def test_a_wrong_hash_merges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the hash takes other vertices for twins, their neighbours are compared."""
    union = SimpleNamespace(graph=hw.generate.uniform(60, 5, seed=1), demand=np.ones((60, 2)), block=np.zeros(60, int))
    union.work = 60 * union.graph.m
    for wrong in ([0] * 60, [0, 0, *range(2, 60)]):
        monkeypatch.setattr(parts, "first_alike", lambda *given, wrong=wrong: np.array(wrong, np.int32))
        monkeypatch.setattr(parts, "LEAST_SHARE", 0.0)
        assert parts.merged(union, False, False) is None


def test_twins_of_many_paths() -> None:
    """A strip of twins, whose path counts outgrow float64: a chain closes the ring, so that blocks have twins."""
    G = strip(1300, 2)
    for graph, weights in ((G, False), (G.with_weights(np.full(G.m, 0.5)), True)):
        given = {"device": "cpu", "sources": range(1000), "weights": weights}
        for ask in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
            found, whole = ask(graph, **given), ask(graph, **given, reduce=False)
            assert found.reduction is not None and found.reduction.twins > 1000
            assert np.allclose(found.scores, whole.scores, rtol=1e-11, atol=1e-11 * whole.scores.max())


def test_demand_at_one_vertex_alone() -> None:
    G = subdivided(hw.generate.uniform(40, 3), 12)
    one = np.zeros(G.n)
    one[7] = 1e5 / 3
    found = hw.betweenness_centrality(G, device="cpu", source_weights=one + 1e-3, target_weights=one)
    assert found.reduction is not None and found.reduction.chains
    whole = hw.betweenness_centrality(G, device="cpu", source_weights=one + 1e-3, target_weights=one, reduce=False)
    assert np.allclose(found.scores, whole.scores, rtol=1e-9, atol=1e-11 * whole.scores.max())


def strip(length: int, inner: int) -> hw.Graph:
    """Squares with both diagonals, one after another, and a chain from the first to the last."""
    rungs, chain = np.arange(length), 2 * length + np.arange(inner)
    top, low = 2 * rungs, 2 * rungs + 1
    tails = np.concatenate([top, top[:-1], low[:-1], top[:-1], low[:-1], [0], chain])
    heads = np.concatenate([low, top[1:], low[1:], low[1:], top[1:], chain, [2 * length - 1]])
    return hw.Graph.from_edges(tails, heads, n=2 * length + inner)


@pytest.mark.slow
@devices
def test_too_many_paths_for_the_core(device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A strip of squares, closed to a ring of many shortest paths: the blocks are searched with scaled counts."""
    monkeypatch.setitem(reduction.LEAST_WORK, "cuda", 0)
    G, sources = strip(1200, 30_000), np.arange(1100)
    found = hw.betweenness_centrality(G, device=device, sources=sources, checkpoint=tmp_path / "file")
    assert found.reduction is not None and found.reduction.chains == 0


def test_twins_of_levels_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Diamonds beside a path, whose levels span more than float64 does: the two middles of a diamond are twins."""
    monkeypatch.setattr(reduction, "LEAST_SOURCES", 0)
    monkeypatch.setattr(parts, "LEAST_CHAIN_GAIN", np.inf)
    diamonds = hw.generate.diamonds(2200)
    tails, heads = diamonds.to_edges()
    path = np.array([0, *range(diamonds.n, diamonds.n + 4399), diamonds.n - 1])
    G = hw.Graph.from_edges(np.append(tails, path[:-1]), np.append(heads, path[1:]))
    for ask in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        found, whole = (ask(G, device="cpu", sources=[0, 3, 6600], reduce=reduce) for reduce in (True, False))
        assert found.reduction is not None and found.reduction.twins == 2200
        assert np.allclose(found.scores, whole.scores, rtol=1e-11, atol=0)


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_a_run_over_the_core_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hopwave.engines.cuda.betweenness import regimes

    monkeypatch.setitem(reduction.LEAST_WORK, "cuda", 0)
    G = subdivided(hw.generate.uniform(200, 3), 9)
    for ask in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        whole = ask(G, device="cpu", reduce=False)
        for most in (regimes.MOST_CORE_ROWS, 70):  # one batch, several
            monkeypatch.setattr(regimes, "MOST_CORE_ROWS", most)
            file = tmp_path / f"{ask.__name__}{most}"
            for graph in (G, G.to("cuda")):
                found = ask(graph, device="cuda", checkpoint=file)
                assert found.reduction is not None and found.reduction.chains > 500 and found.certificate.error < 1e-12
                assert np.allclose(on_host(found.scores), whole.scores, rtol=1e-10, atol=0)
    seen: list[int] = []
    hw.betweenness_centrality(G, device="cuda", progress=lambda done, of: seen.append(done))
    assert len(set(seen)) > 2
    again = [hw.betweenness_centrality(G, device="cuda", deterministic=True).scores.tolist() for _ in range(3)]
    assert again[0] == again[1] == again[2]
