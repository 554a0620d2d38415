"""Distances from samples, searches that share their steps, and the highest scores without all searches."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopwave as hw
from graphs import graphs
from hopwave import Graph, engines, generate
from hopwave.algorithms import distance_sampling, many_sources, top_scores
from hopwave.algorithms.distance_sampling import draw, reciprocal_bits
from hopwave.engines.cpu import Engine
from hopwave.planning.many_sources import CutSweep

GRAPHS = {
    "scale-free": generate.barabasi_albert(600, 3, seed=1),
    "grid": generate.grid(20, 20),
    "components": Graph.from_edges([*range(200), 300, 301, 305], [*range(1, 200), 0, 301, 302, 306], n=310),
    "strong": generate.cycle(90, directed=True),
    "kronecker": generate.kronecker(9, 4, seed=2),
}
every_graph = pytest.mark.parametrize("name", GRAPHS)


@every_graph
def test_histogram_is_within_its_bounds(name: str) -> None:
    exact, found = hw.distance_histogram(GRAPHS[name]).counts, hw.distance_histogram(GRAPHS[name], k=80, seed=3)
    assert found.bounds is not None and found.counts[0] == GRAPHS[name].n
    assert (np.abs(found.counts - exact[: len(found.counts)]) <= found.bounds + 1e-9).all()


def test_bounds_hold_as_often_as_promised() -> None:
    """The risk holds for all vertices together: of 60 samples, at most a tenth may fail anywhere."""
    exact = hw.harmonic_centrality(GRAPHS["scale-free"]).scores
    found = (hw.harmonic_centrality(GRAPHS["scale-free"], k=100, seed=seed) for seed in range(60))
    assert sum(bool((np.abs(some.scores - exact) > some.bounds).any()) for some in found) <= 6


def test_all_sources_give_exact_results() -> None:
    graph = GRAPHS["grid"]
    for ask in (hw.closeness_centrality, hw.harmonic_centrality):
        found = ask(graph, k=graph.n, seed=1)
        assert np.array_equal(found.scores, ask(graph).scores)
        assert found.bounds is not None and not found.bounds.any()
    assert hw.average_shortest_path_length(graph, k=graph.n).error == 0.0  # type: ignore[union-attr]
    assert not hw.distance_histogram(graph, k=graph.n).bounds.any()  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", [int, np.random.default_rng])
def test_a_seed_repeats(seed: Any) -> None:
    one, *others = (hw.harmonic_centrality(GRAPHS["grid"], k=70, seed=seed(7), threads=t).scores for t in (1, 2, 3))
    assert all(np.array_equal(one, other) for other in others)


@given(k=st.integers(1, 2**40))
def test_sums_of_reciprocals_do_not_overflow(k: int) -> None:
    assert k * 2 ** reciprocal_bits(k) < 2**63
    assert 2 ** reciprocal_bits(k) * k >= 2**60, "and use the places there are"


# ---------------------------------------------------------------- intervals


@given(numbers=st.lists(st.floats(0, 1), min_size=2, max_size=40), N=st.integers(41, 10**6), risk=st.floats(1e-9, 0.5))
def test_intervals_hold_the_mean_and_are_no_wider_than_hoeffdings(numbers: list[float], N: int, risk: float) -> None:
    k, mean, variance = len(numbers), np.array([np.mean(numbers)]), np.array([np.var(numbers)])
    low, high = distance_sampling.guaranteed(mean, variance, k, N, risk)
    hoeffding = np.sqrt(np.log(6 / risk) / (2 * k)) + 1e-12
    assert 0 <= low <= mean + 1e-12 and mean - 1e-12 <= high <= 1
    assert mean - low <= hoeffding and high - mean <= hoeffding
    assert low >= k * mean / N - 1e-12 and high <= (k * mean + N - k) / N + 1e-12, "what is certain"
    mirrored = distance_sampling.guaranteed(1 - mean, variance, k, N, risk)
    assert np.allclose(1 - mirrored[1], low) and np.allclose(1 - mirrored[0], high)


@pytest.mark.parametrize("k", [5, 20, 80, 160, 199])
@pytest.mark.parametrize("kind", ["coins", "rare", "narrow"])
def test_intervals_of_means_fail_as_seldom_as_promised(kind: str, k: int) -> None:
    """Of 2,000 samples of a population of 200 numbers, at most a tenth may miss the mean of all."""
    rng = np.random.default_rng(1)
    everyone = {"coins": rng.integers(0, 2, 200), "rare": rng.random(200) < 0.03, "narrow": rng.normal(0.4, 0.03, 200)}
    population = np.clip(everyone[kind].astype(float), 0, 1)
    drawn = np.array([rng.choice(population, k, replace=False) for _ in range(2000)])
    low, high = distance_sampling.guaranteed(drawn.mean(1), drawn.var(1), k, 200, 0.1)
    off = (population.mean() < low - 1e-12) | (population.mean() > high + 1e-12)
    assert off.mean() <= 0.1
    if kind == "coins":
        low, high, error = distance_sampling.normal(drawn.mean(1), drawn.var(1), k, 200, 0.1)
        typical = np.sqrt(((drawn.mean(1) - population.mean()) ** 2).mean())
        assert error.mean() == pytest.approx(typical, rel=0.1), "the finite population counts"
        assert k < 20 or ((population.mean() < low) | (population.mean() > high)).mean() <= 0.15


@every_graph
def test_normal_intervals_and_standard_errors(name: str) -> None:
    """Over 40 seeds, a normal interval holds the exact score of a vertex about nine times in ten."""
    graph = GRAPHS[name]
    exact = hw.closeness_centrality(graph).scores
    means = []
    for seed in range(40):
        found = hw.closeness_centrality(graph, k=50, seed=seed, interval="normal")
        held = (found.low <= exact + 1e-12) & (exact <= found.high + 1e-12)
        known = np.isfinite(found.standard_errors)
        means.append([x[known].mean() for x in (held, found.standard_errors, np.abs(found.scores - exact))])
    held, errors, off = np.mean(means, axis=0)
    assert 0.82 <= held <= 1.0 and 0.5 * off <= errors
    assert name != "scale-free" or errors <= 1.5 * off


@pytest.mark.parametrize("ask", [hw.closeness_centrality, hw.harmonic_centrality])
def test_an_interval_never_exceeds_what_is_possible(ask: Any) -> None:
    roads = generate.grid(20, 20).with_weights(np.full(generate.grid(20, 20).m, 500.0))
    for graph, along in ((GRAPHS["grid"], False), (roads, True)):
        exact = ask(graph, weights=along).scores
        for k in (1, 2, 16):
            found = ask(graph, k=k, seed=1, weights=along)
            assert (found.low >= 0).all() and (found.low <= found.scores).all() and (found.scores <= found.high).all()
            hop = 500 if along else 1
            most = (400 if along else 202) if ask is hw.harmonic_centrality else 4 * exact.max() * hop
            assert found.high.max() * hop <= most, "no vertex is next to all others"
            assert np.array_equal(found.bounds, np.maximum(found.high - found.scores, found.scores - found.low))


def test_variance_narrows_guaranteed_intervals() -> None:
    """A bound without the variance would be 14 % of twice the eccentricity of a source, whatever was drawn."""
    guaranteed, normal = (
        hw.average_shortest_path_length(GRAPHS["scale-free"], k=100, seed=1, interval=kind)
        for kind in ("guaranteed", "normal")
    )
    assert isinstance(guaranteed, hw.Estimate) and isinstance(normal, hw.Estimate)
    assert float(guaranteed) == normal.value and guaranteed.standard_error == normal.standard_error
    assert normal.error < guaranteed.error < 0.45
    assert "90%, guaranteed" in str(guaranteed) and "about 90%, normal" in normal._repr_html_()


def test_bounds_have_room_for_rounding() -> None:
    """Of 15 vertices that are known exactly, the exact scores of 5 differ in the last bit."""
    graph = generate.barabasi_albert(2000, 3, seed=1)
    found, exact = hw.closeness_centrality(graph, k=64, seed=1), hw.closeness_centrality(graph).scores
    assert (found.low <= exact).all() and (exact <= found.high).all()
    assert (np.abs(found.scores - exact) <= found.bounds).all()
    known = found.bounds < 1e-12
    assert np.count_nonzero(known) == 15 and not found.standard_errors[known].any()
    assert set(np.flatnonzero(known)) <= set(draw(graph.n, 64, seed=1))


def test_intervals_are_shown() -> None:
    found = hw.closeness_centrality(GRAPHS["grid"], k=60, seed=1, delta=0.05)
    assert "(all simultaneously 95%, guaranteed)" in repr(found) and "guaranteed" in found._repr_html_()
    assert list(found.to_pandas()) == ["closeness", "bound", "low", "high", "standard_error"]
    axes = found.plot(top=3)
    ends = [segment[:, 0] for segment in axes.collections[0].get_segments()]
    best = np.argsort(-found.scores, kind="stable")[:3][::-1]
    assert np.allclose(ends, np.c_[found.low, found.high][best])


# ---------------------------------------------------------------- when searches share their steps


@pytest.mark.parametrize(
    ("n", "depth", "sources", "shared"),
    [
        (36_692, 9, 2, False),  # too few sources to share steps
        (36_692, 9, 3, True),
        (65_536, 101, 2000, True),  # a mesh of moderate depth, sources anywhere
        (114_599, 951, 2000, False),  # roads: random sources have nothing in common
        (114_599, 951, 114_599, True),  # all vertices: the sources of a batch are neighbours
        (10**6, 5000, 10**6, False),
    ],
)
def test_which_searches_share_their_steps(n: int, depth: int, sources: int, shared: bool) -> None:
    assert many_sources.together(n, depth, sources) == shared


def test_depth_is_probed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each job as (sources, together); a limit makes a deep graph shallow."""
    jobs: list[Any] = []
    plain, hops = Engine.sweep, many_sources.hops
    monkeypatch.setattr(Engine, "sweep", lambda self, *given: jobs.append(given[1]) or plain(self, *given))  # type: ignore[func-returns-value]
    monkeypatch.setattr(many_sources, "hops", lambda *given: jobs.append("probe") or hops(*given))  # type: ignore[func-returns-value]
    graph = generate.path(400)
    for limit, before, expected in ((None, ["probe"], (3, False)), (5, [], (3, True))):
        hw.bfs_many(graph, [0, 9, 99], depth_limit=limit)
        *probes, job = jobs
        assert probes == before and (len(job.sources), job.together) == expected
        jobs.clear()


@given(n=st.integers(0, 2**31), block=st.integers(0, 2**34))
def test_rows_fit_their_block(n: int, block: int) -> None:
    rows = many_sources.block_rows(n, block)
    assert rows == 1 or 4 * n * rows <= block


# ---------------------------------------------------------------- the highest scores, with fewer searches


def joined(*graphs: Graph) -> Graph:
    """The disjoint union of several graphs."""
    columns, first = [], 0
    for graph in graphs:
        columns.append(np.array(graph.to_edges()[:2]) + first)
        first += graph.n
    return Graph.from_edges(*np.concatenate(columns, axis=1), n=first, directed=graphs[0].directed)


TOP_GRAPHS = {
    "scale-free": generate.barabasi_albert(400, 2, seed=1),
    "components": joined(generate.barabasi_albert(200, 2, seed=1), generate.grid(9, 9), generate.star(40)),
    "grid": generate.grid(18, 18),
    "ring": generate.cycle(300),  # all scores are equal
    "kronecker": generate.kronecker(9, 4, seed=3),
    "directed": generate.kronecker(9, 4, seed=2, directed=True),
    "bow tie": joined(*(generate.uniform(150, edge_factor=2, seed=s, directed=True) for s in (1, 2, 3))),
    "path": generate.path(300, directed=True),
}


def assert_same(graph: Graph, top: int, **options: Any) -> top_scores.Searches:
    """Compare with the full computation, exactly."""
    for ask in (hw.closeness_centrality, hw.harmonic_centrality):
        given = options if ask is hw.closeness_centrality else {}
        found, every = ask(graph, top=top, **given), ask(graph, **given)
        assert found.top(top) == every.top(top) == list(found.to_dict().items())
        assert found.searches is not None and every.searches is None
        assert found.searches.whole + found.searches.cut_off + found.searches.skipped == graph.n
    return found.searches


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat small graphs like large ones: rounds of a few searches."""
    monkeypatch.setattr(top_scores, "SMALL", 2)
    monkeypatch.setattr(top_scores, "ROUND", 20)


@pytest.mark.parametrize("share", [None, 0.0, 1.0])
@pytest.mark.parametrize("name", TOP_GRAPHS)
def test_the_highest_are_those_of_all_scores(name: str, share: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """By searches that are cut off or whole, as a rule decides; or all in one way."""
    if share is not None:
        monkeypatch.setattr(top_scores, "shared_arc", lambda depth: share)
    for top in (1, 7, 60, TOP_GRAPHS[name].n, 5000) if share is None else (4,):
        assert_same(TOP_GRAPHS[name], top)
    assert_same(TOP_GRAPHS[name], 5, wf_improved=False)


def test_searches_are_saved() -> None:
    found = hw.closeness_centrality(generate.barabasi_albert(3000, 3, seed=2), top=3)
    assert found.searches is not None and found.searches.whole < 300 and found.searches.skipped > 2000
    assert "the 3 highest of 3,000 vertices" in repr(found) and "skipped" in found._repr_html_()


@settings(max_examples=40)
@given(graphs(directed=True))
def test_reach_is_within_its_bounds(graph: Graph) -> None:
    low, high = engines.engine("cpu").reach_bounds(graph)
    reach = [1 + len(nx.descendants(graph.to_networkx(), v)) for v in range(graph.n)]
    assert (low <= reach).all() and (reach <= high).all()


def test_bounds_are_no_less_than_scores() -> None:
    for name in ("scale-free", "components", "grid", "directed", "bow tie", "path"):
        graph = TOP_GRAPHS[name].reversed()
        low, high = engines.engine("cpu").reach_bounds(graph)
        every: dict[Any, Any] = {
            "wasserman_faust": hw.closeness_centrality(TOP_GRAPHS[name]).scores,
            "closeness": hw.closeness_centrality(TOP_GRAPHS[name], wf_improved=False).scores,
            "harmonic": hw.harmonic_centrality(TOP_GRAPHS[name]).scores,
        }
        for score, right in every.items():
            bound = top_scores.degree_bounds(graph, score, low, high)
            assert (bound >= right).all()
            if not graph.directed:
                top_scores.tighten(engines.engine("cpu"), graph, score, high, bound, top_scores.Best(3), None)
                assert (bound >= right).all()
            for share in (0.5, 0.9, 1.1):  # a search is complete, or its score is below what was asked for
                least = share * float(right.max())
                job = CutSweep(np.arange(graph.n), score, least, low, high)
                cut = engines.engine("cpu").cut_sweep(graph, job, lambda done: None)
                assert (cut.whole | (right < least)).all() and (share < 1 or not cut.whole.all())
