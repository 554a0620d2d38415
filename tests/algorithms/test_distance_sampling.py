"""Estimates from samples: bounds cover the exact values, narrow with k, and repeat with the seed.

Also: when searches share their steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopwave as hw
from hopwave import Graph, GraphError, generate
from hopwave.algorithms import many_sources
from hopwave.algorithms.distance_sampling import draw, reciprocal_bits, width
from hopwave.planning import jobs as jobs_module

GRAPHS = {
    "scale-free": generate.barabasi_albert(600, 3, seed=1),
    "grid": generate.grid(20, 20),
    "components": Graph.from_edges(
        *(
            np.concatenate([a, b])
            for a, b in zip(generate.cycle(200).to_edges(), ([300, 301, 305], [301, 302, 306]), strict=True)
        ),
        n=310,
    ),
    "strong": generate.cycle(90, directed=True),
    "kronecker": generate.kronecker(9, 4, seed=2),
}
every_graph = pytest.mark.parametrize("name", GRAPHS)


@every_graph
@pytest.mark.parametrize("k", [1, 2, 60, 250])
@pytest.mark.parametrize("wf", [True, False])
def test_closeness_is_within_its_bounds(name: str, k: int, wf: bool) -> None:
    graph = GRAPHS[name]
    exact = hw.closeness_centrality(graph, wf_improved=wf).scores
    found = hw.closeness_centrality(graph, wf_improved=wf, k=k, seed=4)
    assert found.bounds is not None
    assert (np.abs(found.scores - exact) <= found.bounds + 1e-12).all()
    assert np.isfinite(found.bounds).all()


@pytest.mark.parametrize("name", [*GRAPHS, "directed"])
@pytest.mark.parametrize("k", [1, 2, 60, 250])
def test_harmonic_is_within_its_bounds(name: str, k: int) -> None:
    graph = GRAPHS.get(name) or generate.kronecker(9, 4, seed=2, directed=True)
    exact = hw.harmonic_centrality(graph).scores
    found = hw.harmonic_centrality(graph, k=k, seed=4)
    assert found.bounds is not None
    assert (np.abs(found.scores - exact) <= found.bounds).all()


@pytest.mark.parametrize("name", ["scale-free", "grid", "strong"])
@pytest.mark.parametrize("k", [1, 60])
def test_path_length_is_within_its_error(name: str, k: int) -> None:
    exact = hw.average_shortest_path_length(GRAPHS[name])
    found = hw.average_shortest_path_length(GRAPHS[name], k=k, seed=3)
    assert isinstance(found, hw.Estimate) and isinstance(exact, float)
    low, high = found.bounds
    assert low <= exact <= high
    assert float(found) == found.value and "±" in str(found)


@every_graph
def test_histogram_is_within_its_bounds(name: str) -> None:
    exact = hw.distance_histogram(GRAPHS[name]).counts
    found = hw.distance_histogram(GRAPHS[name], k=80, seed=3)
    assert found.bounds is not None
    size = len(found.counts)
    assert (np.abs(found.counts - exact[:size]) <= found.bounds + 1e-9).all()
    assert found.counts[0] == GRAPHS[name].n


def test_bounds_hold_as_often_as_promised() -> None:
    """The risk holds for all vertices together: of 60 samples, at most a tenth may fail anywhere."""
    graph = GRAPHS["scale-free"]
    exact = hw.harmonic_centrality(graph).scores
    failed = 0
    for seed in range(60):
        found = hw.harmonic_centrality(graph, k=100, seed=seed)
        failed += bool((np.abs(found.scores - exact) > found.bounds).any())
    assert failed <= 6


def test_more_sources_give_narrower_bounds() -> None:
    graph = GRAPHS["grid"]
    few, more = (hw.closeness_centrality(graph, k=k, seed=1).bounds for k in (50, 350))
    assert few is not None and more is not None
    assert (more < few).all()
    assert more.mean() < 0.7 * few.mean()


def test_all_sources_give_exact_results() -> None:
    graph = GRAPHS["grid"]
    for ask in (hw.closeness_centrality, hw.harmonic_centrality):
        found = ask(graph, k=graph.n, seed=1)
        assert np.array_equal(found.scores, ask(graph).scores)
        assert found.bounds is not None and not found.bounds.any()
    assert hw.average_shortest_path_length(graph, k=10_000).error == 0.0  # type: ignore[union-attr]
    assert not hw.distance_histogram(graph, k=10_000).bounds.any()  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", [7, np.random.default_rng])
def test_a_seed_repeats(seed: Any) -> None:
    def ask(threads: int) -> bytes:
        return hw.harmonic_centrality(
            GRAPHS["grid"], k=70, seed=seed(1) if callable(seed) else seed, threads=threads
        ).scores.tobytes()

    assert ask(1) == ask(2) == ask(3)


def test_infinite_distances_cannot_be_sampled() -> None:
    graph = generate.path(40, directed=True)
    with pytest.raises(GraphError, match="not strongly connected; use harmonic_centrality"):
        hw.closeness_centrality(graph, k=5)
    with pytest.raises(GraphError, match="is infinite: the graph is not connected"):
        hw.average_shortest_path_length(GRAPHS["components"], k=5)


@given(k=st.integers(1, 2**40))
def test_sums_of_reciprocals_do_not_overflow(k: int) -> None:
    assert k * 2 ** reciprocal_bits(k) < 2**63
    assert 2 ** reciprocal_bits(k) * k >= 2**60, "and use the places there are"


@given(k=st.integers(1, 10**6), risk=st.floats(1e-9, 0.5))
def test_widths_do_not_exceed_hoeffdings(k: int, risk: float) -> None:
    spread = width(np.array([0.5]), np.array([0.5]), k, risk)
    assert 0 < spread <= np.sqrt(np.log(4 / risk) / (2 * k)) + 1e-12


def test_draws_are_vertices() -> None:
    assert set(draw(3, 200, seed=1).tolist()) == {0, 1, 2}


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
    from hopwave.engines.cpu import Engine

    jobs: list[jobs_module.Sweep] = []
    plain = Engine.sweep

    def counted(self: Any, graph: Graph, job: jobs_module.Sweep, *rest: Any) -> Any:
        jobs.append(job)
        return plain(self, graph, job, *rest)

    monkeypatch.setattr(Engine, "sweep", counted)
    graph = generate.path(400)
    hw.bfs_many(graph, [0, 9, 99])
    assert [(len(job.sources), job.together) for job in jobs] == [(1, False), (3, False)]
    jobs.clear()
    hw.bfs_many(graph, [0, 9, 99], depth_limit=5)
    assert [(len(job.sources), job.together) for job in jobs] == [(3, True)], "a limit makes a deep graph shallow"


@given(n=st.integers(0, 2**31), block=st.integers(0, 2**34))
def test_rows_fit_their_block(n: int, block: int) -> None:
    rows = many_sources.block_rows(n, block)
    assert rows == 1 or 4 * n * rows <= block
