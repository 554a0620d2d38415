"""HyperBall: estimates and standard errors beside exact values, repeatable to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hopwave as hw
from graphs import TRAPS
from hopwave import EngineError, Graph, GraphError, generate

WORLD = generate.smallworld(400, 6, 0.1, seed=3)
ARCS = generate.kronecker(9, seed=2, directed=True)


def exact_pairs(graph: Graph) -> Any:
    return np.cumsum(hw.distance_histogram(graph).counts)


def exact_diameter(N: Any, share: float = 0.9) -> float:
    """By interpolation, as Palmer, Gibbons and Faloutsos (ANF) define it."""
    return float(np.interp(share * N[-1], N, np.arange(len(N))))


@pytest.mark.parametrize("graph", [WORLD, ARCS], ids=["small world", "arcs"])
def test_standard_errors_cover(graph: Graph) -> None:
    """Student's distribution puts 91% within 2 standard errors of 8 runs; over 60 seeds, 80% is 3 deviations less."""
    N = exact_pairs(graph)
    mean, diameter = hw.distance_histogram(graph).mean(), exact_diameter(N)
    harmonic = hw.harmonic_centrality(graph).scores
    closeness = hw.closeness_centrality(graph).scores
    inside, off = np.zeros((60, 3)), np.zeros((60, 3))
    near, close = [], []
    for seed in range(60):
        ball = hw.hyperball(graph, precision=6, seed=seed, progress=False)
        pairs, errors = ball.neighbourhood
        found = (ball.mean_distance, ball.effective_diameter(), (pairs[2], errors[2]))
        for i, ((value, error), truth) in enumerate(zip(found, (mean, diameter, N[2]), strict=True)):
            assert error > 0
            inside[seed, i], off[seed, i] = abs(value - truth) <= 2 * error, value / truth - 1
        near.append(np.abs(ball.harmonic.scores - harmonic) <= 2 * ball.harmonic_errors)
        close.append(np.abs(ball.closeness.scores - closeness) <= 2 * ball.closeness_errors)
    assert (inside.mean(0) >= 0.8).all(), inside.mean(0)
    assert (np.abs(off.mean(0)) <= 4 * off.std(0) / np.sqrt(60) + 0.005).all(), "next to no bias"
    assert (np.abs(off) < 0.15).all(), "and never far away"
    assert np.mean(near) >= 0.8 and np.mean(close) >= 0.8


def test_more_registers_are_more_exact() -> None:
    """The standard error of a counter is halved when its registers are quadrupled."""
    rough, fine = (hw.hyperball(WORLD, precision=p, seed=1).harmonic_errors.mean() for p in (4, 8))
    assert 3 < rough / fine < 5


def test_no_bit_depends_on_threads_and_a_seed_repeats() -> None:
    one, *others = (hw.hyperball(ARCS, seed=5, threads=threads) for threads in (1, 1, 2, 3))
    for other in others:
        assert (one.pairs == other.pairs).all()
        assert (one.closeness.scores == other.closeness.scores).all()
        assert (one.harmonic_errors == other.harmonic_errors).all()
    assert (one.pairs != hw.hyperball(ARCS, seed=6).pairs[:, : one.pairs.shape[1]]).any()


@pytest.mark.parametrize("name", TRAPS)
def test_traps(name: str) -> None:
    """With many registers, small balls are counted next to exactly, and no vertex is counted that is not reached."""
    graph = TRAPS[name]()
    if graph.n > 100:
        return
    ball, N = hw.hyperball(graph, precision=14, seed=1), exact_pairs(graph)
    pairs, _ = ball.neighbourhood
    assert len(pairs) == len(N) and pairs.tolist() == pytest.approx(N.tolist(), rel=0.01)
    assert ball.harmonic.scores.tolist() == pytest.approx(hw.harmonic_centrality(graph).scores.tolist(), rel=0.05)
    assert (ball.harmonic.scores[graph.in_degrees == 0] == 0).all()


def test_what_it_says() -> None:
    alone = hw.hyperball(Graph.from_edges([], [], n=2), seed=1)
    assert np.isnan(alone.mean_distance[0]) and alone.effective_diameter()[0] == 0.0
    named = hw.hyperball(Graph.from_edges(["a"], ["b"]), seed=1)
    assert named.closeness.to_dict() == pytest.approx({"a": 1.0, "b": 1.0}, rel=0.05)
    assert repr(named).startswith("HyperBall(mean distance 1 ± ") and "256 bytes" in repr(named)
    assert "effective diameter" in named._repr_html_()


@pytest.mark.parametrize(
    "ask, kind, message",
    [
        (lambda: hw.hyperball(WORLD, precision=3), GraphError, "precision=3 cannot be used"),
        (lambda: hw.hyperball(WORLD, precision=17), GraphError, "from 4 to 16"),
        (lambda: hw.hyperball(WORLD, runs=1), GraphError, "runs=1 cannot be used"),
        (lambda: hw.hyperball(Graph.from_edges([], [], n=0)), GraphError, "no vertices"),
        (lambda: hw.hyperball(WORLD, seed="x"), hw.LinalgError, "not a seed"),
        (lambda: hw.hyperball(WORLD, device="reference"), EngineError, "one search at a time"),
        (lambda: hw.hyperball(WORLD).effective_diameter(1.5), GraphError, "share=1.5"),
    ],
)
def test_errors(ask: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        ask()


def test_counters_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopwave.engines.host_memory.BYTES_ANYWHERE", 0)
    monkeypatch.setattr("hopwave.engines.host_memory.available_memory", lambda: 1 << 16)
    with pytest.raises(EngineError, match="smaller precision="):
        hw.hyperball(WORLD)
