"""Betweenness from sampled paths: the promised error, the paths, and options that must not change an answer."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import hopwave as hw
from hopwave import engines, generate
from hopwave.algorithms.betweenness_sampling import costs, paths
from hopwave.engines.cpu.betweenness import sampled_paths
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.planning.jobs import PATH_SUMS, SampleJob
from hopwave.system.numba_cache import njit

GRAPHS = {
    "kronecker": generate.kronecker(7, edge_factor=4, seed=1),  # several components
    "directed": generate.kronecker(7, edge_factor=6, seed=2, directed=True),
    "grid": generate.grid(9, 9),
}
LIKELY = GRAPHS | {
    "hubs": generate.kronecker(9, edge_factor=8, seed=3),  # a walk back searches the nearer level for predecessors
    "hubs directed": generate.kronecker(9, edge_factor=8, seed=3, directed=True),
}
FLAT = hw.Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 4], directed=True, weights=[1.0, 1.0, 0.0, 0.0, 0.0])
UNIT_DIAMONDS = generate.diamonds(1300).with_weights(np.ones(generate.diamonds(1300).m))


def weighted(graph: hw.Graph, unit: float = 1.0) -> hw.Graph:
    """Weights of one to three units on every arc, equal both ways: many ties; rounding breaks some if unit is 0.1."""
    tails = np.repeat(np.arange(graph.n), graph.degrees)
    low, high = np.minimum(tails, graph.indices), np.maximum(tails, graph.indices)
    return graph.with_weights(unit * ((7 * low + 13 * high) % 3 + 1))


def sampled(graph: hw.Graph, epsilon: float = 0.1, **asked: Any) -> hw.BetweennessResult:
    return hw.betweenness_centrality(graph, epsilon=epsilon, method="paths", **{"progress": False} | asked)


def drawn(graph: hw.Graph, pairs: int, device: str = "cpu", start: int = 3, **job: Any) -> Any:
    run = engines.engine(device).path_sampling(graph, SampleJob(start, **job))
    run.advance(pairs, lambda done: False)
    paths.check(run)
    return run


def assert_as_likely(graph: hw.Graph, run: Any, **exact: Any) -> None:
    """Counts are binomial with the exact probabilities: no vertex may deviate too much (Bonferroni)."""
    p = hw.betweenness_centrality(graph, device="cpu", **exact).scores * (graph.n - 2) / graph.n
    tail = np.minimum(stats.binom.cdf(run.counts, run.done, p), stats.binom.sf(run.counts - 1, run.done, p))
    assert tail.min() * 2 * graph.n > 1e-4
    assert (run.counts[p == 0] == 0).all() and run.counts.sum() == run.sums[PATH_SUMS.index("inner_vertices")]


# ------------------------------------------------------------------ the promise


@pytest.mark.parametrize("name, along", [*((name, False) for name in GRAPHS), ("directed", True)])
def test_the_promise_holds(name: str, along: bool) -> None:
    """In 40 runs, all scores are within epsilon and their bounds as often as promised, and not far more often."""
    graph, epsilon, delta = weighted(GRAPHS[name]) if along else GRAPHS[name], 0.06, 0.2
    right = hw.betweenness_centrality(graph, weights=along).scores
    broken, errors = 0, []
    for seed in range(40):
        found = sampled(graph, epsilon, delta=delta, seed=seed, weights=along)
        assert found.bounds is not None and found.bounds.max() <= epsilon and found.delta == delta
        off = np.abs(found.scores - right)
        broken += bool((off > found.bounds).any())
        errors.append(off.max())
    assert stats.binom.sf(broken - 1, 40, delta) > 1e-3
    assert np.mean(errors) > epsilon / 10


def test_intervals_are_exact() -> None:
    """Each side fails with the stated risk, also for many pairs and tiny risks."""
    for pairs in (50, 10**4, 10**7):
        hits = np.unique(np.array([1, pairs // 1000 + 1, pairs // 10, pairs // 2, pairs * 9 // 10]))
        for risk in (0.05, 1e-6, 1e-12):
            low, high = paths.interval(hits, pairs, np.full(len(hits), risk))
            np.testing.assert_allclose(stats.binom.sf(hits - 1, pairs, low), risk, rtol=1e-2)
            np.testing.assert_allclose(stats.binom.cdf(hits, pairs, high), risk, rtol=1e-2)
    low, high = paths.interval(np.array([0, 9]), 9, np.full(2, 0.1))
    assert low[0] == 0.0 and high[1] == 1.0


def test_risks_add_up_to_delta() -> None:
    """Also if p ± epsilon is outside [0, 1] for every p: all vertices then get the same risk."""
    counts = np.random.default_rng(1).poisson(3, 500)
    plan = paths.schedule(counts, 400, paths.Goal(0.02, 0.1))
    assert 2 * plan.shares[plan.group].sum() == pytest.approx(1.0, rel=1e-12)
    looks = [look for look, _ in zip(plan.looks(), range(2000), strict=False)]
    assert 0.0999 < sum(risk for _, risk in looks) <= 0.1
    assert all(one[0] < other[0] for one, other in pairwise(looks))
    plan = paths.schedule(np.array([40, 45, 50]), 100, paths.Goal(0.9, 0.5))
    assert np.isfinite(plan.shares).all() and plan.first <= 64


# ------------------------------------------------------------------ the paths


@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("name", LIKELY)
def test_counts_are_as_likely_as_they_should_be(name: str, device: str) -> None:
    if device == "cpu" or name in GRAPHS:
        assert_as_likely(LIKELY[name], drawn(LIKELY[name], 20_000 if device == "cpu" else 150, device))
    for unit, cutoff in ((1.0, None), (0.1, None), (1.0, 4.0)) if name in GRAPHS else ():
        graph, pairs = weighted(GRAPHS[name], unit), 20_000 if device == "cpu" else 100
        run = drawn(graph, pairs, device, weighted=True, cutoff=cutoff)
        assert_as_likely(graph, run, weights=True, cutoff=cutoff)


@pytest.mark.parametrize(
    ("graph", "how", "recounted"),
    [
        (FLAT, {"weights": True}, True),  # weights of 0 are counted if possible
        (generate.diamonds(300), {}, False),
        (generate.diamonds(600), {}, True),  # more paths than float64 can count
        (UNIT_DIAMONDS, {"weights": True}, True),
        (GRAPHS["kronecker"], {"cutoff": 1}, False),
        (GRAPHS["kronecker"], {"cutoff": 2}, False),
        (GRAPHS["kronecker"].arranged(), {}, False),
    ],
)
def test_odd_graphs_have_likely_counts(graph: hw.Graph, how: dict[str, Any], recounted: bool) -> None:
    run = drawn(graph, 1500, weighted="weights" in how, cutoff=how.get("cutoff"))
    assert (run.sums[PATH_SUMS.index("recounted")] > 0) == recounted
    assert_as_likely(graph, run, **how)


# ------------------------------------------------------------------ what must not change an answer


@pytest.mark.parametrize("along", [False, True])
def test_threads_and_blocks_change_nothing(along: bool) -> None:
    graph = weighted(GRAPHS["directed"])
    one, two, other = (sampled(graph, 0.05, seed=s, threads=t, weights=along) for s, t in ((4, 1), (4, 2), (5, 1)))
    assert np.array_equal(one.scores, two.scores) and np.array_equal(one.bounds, two.bounds) and one.pairs == two.pairs
    assert not np.array_equal(one.scores, other.scores)
    whole, parts = drawn(graph, 1000, weighted=along), drawn(graph, 1, weighted=along)
    for until in (130, 1000):
        parts.advance(until, lambda done: False)
    assert np.array_equal(whole.counts, parts.counts) and np.array_equal(whole.sums, parts.sums)


@pytest.mark.parametrize("damage", ["counts", "sums"])
def test_a_wrong_path_raises(damage: str) -> None:
    run = drawn(GRAPHS["grid"], 100)
    getattr(run, damage)[-1] += 1
    with pytest.raises(hw.EngineError, match="failed its own check"):
        paths.check(run)


@njit(**COMPILED)
def walk_back(graph: Any, own: Any) -> Any:  # compiled kernels cannot be called from Python
    return sampled_paths.walk(graph, own, np.int64(0), 4, False, np.uint64(5), 3)


def test_a_wrong_count_is_noticed() -> None:
    """On a walk back through a 3 × 3 grid, the counts of predecessors must add up."""
    graph = generate.grid(3, 3)
    run, search = engines.engine("cpu").path_sampling(graph, SampleJob(1)), hw.bfs(graph, 0, path_counts=True)
    own = run._worker_state()
    own.level[:], own.sigma[:] = search.distances + 1, search.path_counts
    own.queues[0][:9] = np.argsort(search.distances, kind="stable")
    own.here[0, sampled_paths.TAIL], own.path[4] = 9, 8

    assert walk_back(run._graph, own) == 0 and own.path[0] == 0
    own.sigma[5] += 1
    assert walk_back(run._graph, own) == -1


# ------------------------------------------------------------------ top, methods, arguments


def test_the_highest_are_separated() -> None:
    graph = generate.star(60)
    early, late = sampled(graph, 0.02, top=1, seed=1), sampled(graph, 0.02, seed=1)
    assert early.undecided == [] and early.top(1)[0][0] == 0 and early.pairs < late.pairs and late.undecided is None
    ring = sampled(generate.cycle(30), 0.1, top=3, seed=1)
    assert len(ring.undecided) == 30 and ring.bounds.max() <= 0.1
    assert sampled(graph, 0.2, top=60, seed=1).undecided == []


def test_auto_takes_the_cheapest(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = hw.betweenness_centrality(GRAPHS["grid"], epsilon=0.1, seed=1)
    assert exact.sources == 81 and "exact: all 81 sources" in exact.plan.why
    plan = paths.Schedule(paths.Goal(0.02, 0.1), 3000, np.zeros(1, np.intp), np.ones(1))
    for n, arcs, chosen in ((10**5, 100.0, "paths"), (10**6, 1e7, "sources"), (2000, 1e7, "exact")):
        pilot = paths.Pilot(plan, 400, arcs, 0.05)
        assert costs.after_pilot(n, 10**6, pilot, "cpu").method == chosen
        if chosen == "sources":
            assert costs.after_pilot(n, 10**6, pilot, "cpu", continued=True).method == "paths"
    monkeypatch.setattr(costs, "SMALL", 0)
    found = hw.betweenness_centrality(generate.kronecker(10, seed=1), epsilon=0.1, seed=1, progress=False)
    assert found.pairs and "paths cost less" in found.plan.why and found.plan == "path-sampling"
    named = hw.betweenness_centrality(GRAPHS["grid"], epsilon=0.1, seed=1, plan="hopwave-block")
    assert named.pairs is None and "plan= names" in named.plan.why


@pytest.mark.parametrize(("plan", "small"), [("auto", 0.0), ("auto", 1.0), ("hopwave-block", 0.0)])
def test_auto_continues_from_a_checkpoint(
    plan: str, small: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With each method: paths, all sources, or all sources because a plan is named."""
    monkeypatch.setattr(costs, "SMALL", small)
    graph, file = generate.kronecker(8, seed=1), tmp_path / "run.npz"
    call = partial(hw.betweenness_centrality, graph, epsilon=0.02, seed=1, plan=plan, threads=1)

    def stop(done: int, total: int) -> None:
        if file.exists() or done > 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        call(checkpoint=file, progress=stop)
    again, whole = call(checkpoint=file, progress=False), call(progress=False)
    assert file.exists() and (again.pairs is None) == (plan != "auto" or small > 0)
    if again.pairs == whole.pairs:
        assert np.array_equal(again.scores, whole.scores)
    else:  # without a checkpoint, the plan's sources are a sample
        assert "growing sample has no checkpoint" in again.plan.why and again.sources == graph.n
