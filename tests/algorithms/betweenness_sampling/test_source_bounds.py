"""Error bounds of betweenness from k sources: they cover the exact scores, are not much too wide, and are shown."""

from __future__ import annotations

import pickle
from itertools import combinations, pairwise, product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopwave as hw
from hopwave import engines, generate
from hopwave.algorithms.betweenness_sampling import source_bounds
from hopwave.planning.jobs import BetweennessJob

GRAPHS = {
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
@pytest.mark.parametrize("name", GRAPHS)
def test_scores_are_within_their_bounds(name: str, options: dict[str, Any]) -> None:
    graph, ask = GRAPHS[name], hw.betweenness_centrality
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
        assert len(found.to_pandas()) == len(found.to_dict())
    every = ask(graph, k=graph.n, **options)
    assert not every.bounds.any() and np.array_equal(every.scores, exact.scores) and "scores exact" in repr(every)


def test_bounds_hold_as_often_as_promised_and_are_not_much_too_wide() -> None:
    """Of 100 samples at most a tenth may fail. The score of the vertex where two cliques meet varies with each."""
    large, small = nx.complete_graph(41), nx.relabel_nodes(nx.complete_graph(11), lambda v: v and v + 40)
    graph, k = hw.Graph.from_networkx(nx.compose(large, small)), 10
    exact = hw.betweenness_centrality(graph).scores
    failed, ratios = 0, []
    for seed in range(100):
        found = hw.betweenness_centrality(graph, k=k, seed=seed)
        off = np.abs(found.scores - exact)
        failed += bool((off > found.bounds + 1e-12).any())
        ratios.append(off[0] / found.bounds[0])
    assert failed <= 10
    assert max(ratios) > 0.25, "a bound is at most four times the error that some sample makes"


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
@pytest.mark.parametrize("name", GRAPHS)
def test_no_source_adds_more_than_the_range_of_a_score(name: str, options: dict[str, Any]) -> None:
    graph = GRAPHS[name]
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
    exact = hw.betweenness_centrality(graph).scores
    found = [hw.betweenness_centrality(graph, k=64, seed=seed) for seed in range(12)]
    off = [np.abs(some.scores - exact) for some in found]
    assert sum(bool((error > some.bounds).any()) for error, some in zip(off, found, strict=True)) <= 1
    ratios = [some.bounds.max() / error.max() for error, some in zip(off, found, strict=True)]
    assert np.median(ratios) < 10 and max(some.bounds.max() for some in found) < 0.1


def test_squares_make_bounds_narrower_and_keep_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = generate.barabasi_albert(900, 2, seed=1)
    exact = hw.betweenness_centrality(graph).scores
    failed, ratios = 0, []
    for seed in range(8):
        found = hw.betweenness_centrality(graph, k=300, seed=seed)
        off = np.abs(found.scores - exact)
        failed += bool((off > found.bounds).any())
        ratios.append(found.bounds.max() / off.max())
    assert failed <= 1 and 1 < np.median(ratios) < 8
    monkeypatch.setattr(source_bounds, "SQUARES_FROM", 301)
    plain = hw.betweenness_centrality(graph, k=300, seed=7)
    assert np.array_equal(plain.scores, found.scores) and plain.bounds.max() > 1.2 * found.bounds.max()


def test_bounds_narrow_with_the_sample() -> None:
    graph = GRAPHS["scale-free"]
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
    for graph in (GRAPHS["scale-free"], GRAPHS["components"], GRAPHS["path"]):
        right = hw.betweenness_centrality(graph).scores.sum()
        for k in (1, 3, 30):
            sources = np.random.default_rng(k).choice(graph.n, k, replace=False)
            sums = hw.betweenness_centrality(graph, sources=sources.tolist(), normalized=False).scores * 2
            load = source_bounds.load_bound(graph, BetweennessJob(sources), sums, (graph.n - 1) * (graph.n - 2))
            assert right <= load
            assert load < 4 * right + 3 or k < 30, "and is not far off where every large component was met"


def test_samples_are_those_of_networkx_and_travel() -> None:
    found = hw.betweenness_centrality(nx.karate_club_graph(), k=9, seed=4)
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == pytest.approx(nx.betweenness_centrality(nx.karate_club_graph(), k=9, seed=4))
    assert np.array_equal(found.bounds, again.bounds) and found.to_pandas()["bound"].tolist() == found.bounds.tolist()
    assert "9 of 34 sources; scores ± 0." in repr(found) and "(90%); arithmetic checked to" in repr(found)


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
