"""A sample of tests/fuzz/reductions.py, and what users see of a reduction."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from reductions import compare

import hopwave as hw
from hopwave.algorithms.reduction.lengths import as_whole


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_random_graphs(first: int) -> None:
    for seed in range(first, first + 40):
        compare(seed)


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


def test_executors_and_checkpoints_of_a_reduced_run(tmp_path: Path) -> None:
    G = lollipops()
    for ask in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        alone = ask(G, device="cpu", threads=1)
        assert ask(G, device="cpu", threads=2).scores.tolist() == alone.scores.tolist()
        assert ask(G, checkpoint=tmp_path / ask.__name__, device="cpu").scores.tolist() == alone.scores.tolist()
        with ThreadPoolExecutor(2) as pool:
            dealt = ask(G, device="cpu", executor=pool)
        assert dealt.reduction is not None and dealt.scores.tolist() == alone.scores.tolist()


def test_rounded_lengths_are_left_alone() -> None:
    G = hw.generate.path(1200)
    tenths, halves = (G.with_weights(np.full(G.m, length)) for length in (0.1, 0.5))
    assert hw.betweenness_centrality(tenths, weights=True, device="cpu").reduction is None
    assert hw.betweenness_centrality(halves, weights=True, device="cpu").reduction is not None
    assert as_whole(G.with_weights(np.zeros(G.m))) is None
