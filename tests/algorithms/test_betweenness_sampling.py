"""Betweenness from sampled paths and sources: the promised error, paths, and what must not change an answer."""

from functools import partial
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy  # its stats take two seconds to import: only where they are used
from hypothesis import given
from hypothesis import strategies as st

import hopwave as hw
from hopwave import engines, generate
from hopwave.algorithms.betweenness_sampling import costs, paths, source_bounds
from hopwave.engines.cpu.betweenness import sampled_paths
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.planning.jobs import PATH_SUMS, BetweennessJob, SampleJob
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
    tail = np.minimum(scipy.stats.binom.cdf(run.counts, run.done, p), scipy.stats.binom.sf(run.counts - 1, run.done, p))
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
    assert scipy.stats.binom.sf(broken - 1, 40, delta) > 1e-3
    assert np.mean(errors) > epsilon / 10


def test_intervals_are_exact() -> None:
    """Each side fails with the stated risk, also for many pairs and tiny risks."""
    for pairs in (50, 10**4, 10**7):
        hits = np.unique(np.array([1, pairs // 1000 + 1, pairs // 10, pairs // 2, pairs * 9 // 10]))
        for risk in (0.05, 1e-6, 1e-12):
            low, high = paths.interval(hits, pairs, np.full(len(hits), risk))
            np.testing.assert_allclose(scipy.stats.binom.sf(hits - 1, pairs, low), risk, rtol=1e-2)
            np.testing.assert_allclose(scipy.stats.binom.cdf(hits, pairs, high), risk, rtol=1e-2)
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
    with pytest.raises(hw.EngineError, match="failed its check"):
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
    for how in ({}, {"normalized": False}):
        exact, right = (hw.betweenness_centrality(GRAPHS["grid"], epsilon=e, seed=1, **how) for e in (0.1, None))
        assert exact.sources == 81 and "exact: all 81 sources" in exact.plan.why and (exact.bounds == 0).all()
        np.testing.assert_allclose(exact.scores, right.scores, rtol=1e-12)
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


# ------------------------------------------------------------------ bounds of k sources

SHAPES = {
    "scale-free": generate.barabasi_albert(120, 2, seed=1),
    "components": generate.kronecker(7, 3, seed=2),
    "directed": generate.kronecker(7, 4, seed=2, directed=True),
    "path": generate.path(60),
}


@pytest.mark.parametrize(
    "options",
    [{}, {"endpoints": True}, {"normalized": False}, {"cutoff": 2}, {"weights": 1}, {"edges": 1}, {"edges": 0}],
    ids=str,
)
@pytest.mark.parametrize("name", SHAPES)
def test_scores_are_within_their_bounds(name: str, options: dict[str, Any]) -> None:
    graph, ask = SHAPES[name], hw.betweenness_centrality
    if "weights" in options:
        options = {"weights": np.arange(graph.m) % 3 + 1.0} if graph.directed else {}
    if "edges" in options:
        ask, options = hw.edge_betweenness_centrality, {"normalized": bool(options["edges"])}
    exact = ask(graph, **options)
    assert exact.bounds is None and exact.delta is None
    for k in (1, 2, 9, graph.n // 2, graph.n - 2, graph.n - 1):
        found = ask(graph, k=k, seed=k, delta=0.2, **options)
        off, known = np.abs(found.scores - exact.scores), ~np.isnan(found.scores)
        assert (np.isnan(found.bounds) == ~known).all() and found.delta == 0.2 and "(80%)" in repr(found)
        assert (off[known] <= found.bounds[known] + 1e-12 * np.abs(exact.scores[known])).all()
        assert len(found.to_pandas()) == len(found.to_dict()) and f"{k} of {graph.n} sources; " in repr(found)
    every = ask(graph, k=graph.n, **options)
    assert not every.bounds.any() and np.array_equal(every.scores, exact.scores) and "scores exact" in repr(every)


def tried(graph: hw.Graph, k: int, seeds: int) -> tuple[int, np.ndarray[Any, Any], hw.BetweennessResult]:
    """How many samples miss their bounds; per sample, greatest error over greatest bound; the last sample."""
    exact, failed, ratios = hw.betweenness_centrality(graph).scores, 0, []
    for seed in range(seeds):
        found = hw.betweenness_centrality(graph, k=k, seed=seed)
        off = np.abs(found.scores - exact)
        failed += bool((off > found.bounds + 1e-12).any())
        ratios.append(off.max() / found.bounds.max())
    return failed, np.array(ratios), found


@pytest.mark.slow
def test_bounds_hold_as_often_as_promised_and_are_not_much_too_wide() -> None:
    """Of 100 samples at most a tenth may fail. The score of the vertex where two cliques meet varies with each."""
    large, small = nx.complete_graph(41), nx.relabel_nodes(nx.complete_graph(11), lambda v: v and v + 40)
    failed, ratios, _ = tried(hw.Graph.from_networkx(nx.compose(large, small)), 10, 100)
    assert failed <= 10 and ratios.max() > 0.25, "a bound is at most four times the error that some sample makes"


@given(population=st.lists(st.floats(0, 1), min_size=5, max_size=7), k=st.integers(1, 4), needed=st.floats(0.5, 20))
def test_bets_win_no_more_than_they_are_worth(population: list[float], k: int, needed: float) -> None:
    """Over all samples without replacement, exp(evidence against the true mean) averages at most 1, on each side."""
    p = np.array([np.mean(population)])
    won = {True: 0.0, False: 0.0}
    samples = list(combinations(population, k))
    for drawn in samples:
        mean, square = np.array([np.mean(drawn)]), np.array([np.mean(np.square(drawn))])
        evidence = source_bounds.best_bet(mean, square, k, p, np.array([needed]))
        won[bool(p[0] > mean[0])] += float(np.exp(evidence[0])) / len(samples)
    assert max(won.values()) <= 1 + 1e-9


@given(data=st.data(), n=st.integers(3, 7), k=st.integers(1, 3), apart=st.integers(0, 2))
def test_rows_of_a_symmetric_matrix_are_seldom_so_low(data: st.DataObject, n: int, k: int, apart: int) -> None:
    """The share of samples with this mean or a lower one is at most exp(−evidence). `apart` rows are empty."""
    matrix = np.zeros((n + apart, n + apart))
    entry = st.sampled_from([0.0, 0.25, 1.0])
    for i, j in combinations(range(n), 2):
        matrix[i, j] = matrix[j, i] = data.draw(entry)
    R = (n - 1) / (n + apart - 1)
    rows = matrix.sum(1) / (n - 1)
    p, means = rows.mean(), np.array([np.mean(some) for some in combinations(rows.tolist(), k)])
    for mean in np.unique(means[means < p]):
        evidence = k * source_bounds.of_rows(np.array([mean]), np.array([p]), R)[0]
        assert (means <= mean + 1e-12).mean() <= np.exp(-evidence) * (1 + 1e-9)


@pytest.mark.parametrize("options", [{}, {"endpoints": True}, {"edges": True}], ids=str)
@pytest.mark.parametrize("name", SHAPES)
def test_no_source_adds_more_than_the_range_of_a_score(name: str, options: dict[str, Any]) -> None:
    graph = SHAPES[name]
    most = graph.n - 1 if options else graph.n - 2
    job = BetweennessJob(np.arange(graph.n), **options)
    ranges = source_bounds.ranges_of(graph, job, engines.engine("cpu").reach_bounds(graph)[1], most)
    call = hw.edge_betweenness_centrality if job.edges else hw.betweenness_centrality
    given = {} if job.edges else options
    halves = 1 if graph.directed else 2
    added = np.array([call(graph, sources=[s], normalized=False, **given).scores * halves for s in range(graph.n)])
    assert (added <= ranges * most + 1e-9).all()
    assert len(np.unique(ranges)) <= 2 + np.log2(graph.n)
    if name == "directed":
        assert 0 < ranges.max() < 0.9, "not all vertices can be reached, and the bounds use that"


def test_bounds_are_narrow_where_few_vertices_can_be_reached() -> None:
    """Most sources lead into a small core, as in wiki-Vote: no score can be high, whatever the sample has missed."""
    core = generate.kronecker(6, 6, seed=1, directed=True)
    tails, heads = np.repeat(np.arange(64), core.degrees), core.indices
    feet = np.arange(64, 640)
    graph = hw.Graph.from_edges(np.r_[tails, feet], np.r_[heads, feet % 64], n=640, directed=True)
    failed, ratios, last = tried(graph, 64, 12)
    assert failed <= 1 and np.median(ratios) > 0.1 and last.bounds.max() < 0.1


def test_squares_make_bounds_narrower_and_keep_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = generate.barabasi_albert(900, 2, seed=1)
    failed, ratios, found = tried(graph, 300, 8)
    assert failed <= 1 and 1 / 8 < np.median(ratios) < 1
    monkeypatch.setattr(source_bounds, "SQUARES_FROM", 301)
    plain = hw.betweenness_centrality(graph, k=300, seed=7)
    assert np.array_equal(plain.scores, found.scores) and plain.bounds.max() > 1.2 * found.bounds.max()


def test_bounds_narrow_with_the_sample() -> None:
    graph = SHAPES["scale-free"]
    widths = [hw.betweenness_centrality(graph, k=k, seed=1).bounds.max() for k in (5, 20, 60, 100, 118)]
    assert all(more < 0.75 * less for less, more in pairwise(widths))
    assert widths[2] < np.sqrt(np.log(2 * graph.n / 0.1) / (2 * 60)), "Hoeffding's bound is no narrower"
    assert not hw.betweenness_centrality(graph, k=3, seed=1).bounds[graph.degrees == 1].any()


@given(mean=st.floats(0, 1), k=st.integers(1, 400), N=st.integers(401, 500), load=st.sampled_from([0.5, 5.0, np.inf]))
def test_an_interval_excludes_what_the_inequality_excludes(mean: float, k: int, N: int, load: float) -> None:
    """At both ends, the evidence against p equals log(20 / its share of the risk), or the end is at a limit."""
    low, high = (x[0] for x in source_bounds._interval(np.array([mean]), source_bounds.Sample(k, N, 50, load, 0.1)))
    least, most = k * mean / N, (k * mean + N - k) / N
    assert least - 1e-12 <= low <= mean <= high <= most + 1e-12
    for p, limit in ((low, least), (high, most)):
        if abs(p - limit) < 1e-9:
            continue
        rest = (N * p - k * mean) / (N - k)
        sample, size = (mean, k) if 2 * k <= N else (rest, N - k)
        evidence = size * float(source_bounds.divergence(np.array(sample), np.array(p)))
        share = 1 / 50 if load == np.inf else p / (2 * load) + 1 / 100
        assert evidence == pytest.approx(np.log(20 / share), abs=1e-4)


def test_many_scores_take_the_bound_of_the_next_point() -> None:
    mean = np.random.default_rng(1).random(5000) ** 3
    sample = source_bounds.Sample(50, 9000, scores=5000, load=4.0, delta=0.1)
    few = source_bounds.half_widths(mean[:2000], sample)
    many = source_bounds.half_widths(mean, sample)[:2000]
    assert (many >= few - 1e-12).all() and (many <= few + 0.005).all()


def test_the_load_is_never_exceeded() -> None:
    for graph in (SHAPES["scale-free"], SHAPES["components"], SHAPES["path"]):
        right = hw.betweenness_centrality(graph).scores.sum()
        for k in (1, 3, 30):
            sources = np.random.default_rng(k).choice(graph.n, k, replace=False)
            sums = hw.betweenness_centrality(graph, sources=sources.tolist(), normalized=False).scores * 2
            load = source_bounds.load_bound(graph, BetweennessJob(sources), sums, (graph.n - 1) * (graph.n - 2))
            assert right <= load
            assert load < 4 * right + 3 or k < 30, "and is not far off where every large component was met"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [0, 1, 2, 5, 7])
@pytest.mark.parametrize("how", [{"k": 1}, {"epsilon": 0.1, "method": "paths"}, {"epsilon": 0.9, "method": "paths"}])
def test_no_path_has_an_inner_vertex(how: dict[str, Any], n: int) -> None:
    """Isolated vertices, or single edges. No score can be off by 0.9."""
    for tails, directed in product(([], range(0, n - 1, 2)), (False, True)) if n or "k" not in how else ():
        graph = hw.Graph.from_edges(tails, [u + 1 for u in tails], n=n, directed=directed)
        found = hw.betweenness_centrality(graph, **how, seed=1, device="cpu")
        assert not np.nan_to_num(found.scores).any() and len(found.bounds) == len(found.scores) == n
        assert "k" not in how or not np.nan_to_num(found.bounds).any()
