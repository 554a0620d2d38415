"""result.plot() draws what the result has, returns the Axes, and draws on Axes that it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

import hopwave as hw
from hopwave.display.drawing import COLOURS
from hopwave.planning.trace import Level, Trace

NAMED = hw.Graph.from_edges(["ann", "bob", "cyd", "cyd"], ["bob", "cyd", "dan", "eve"])
WEIGHTED = NAMED.with_weights([2.0] * NAMED.m)
RESULTS = {
    "bfs": lambda: hw.bfs(NAMED, "ann"),
    "trace": lambda: hw.bfs(NAMED, "ann", trace=True).trace,
    "sssp": lambda: hw.sssp(WEIGHTED, "ann"),
    "buckets": lambda: hw.sssp(WEIGHTED, "ann", trace=True).trace,
    "betweenness": lambda: hw.betweenness_centrality(NAMED),
    "edges": lambda: hw.edge_betweenness_centrality(NAMED),
    "closeness": lambda: hw.closeness_centrality(NAMED),
    "histogram": lambda: hw.distance_histogram(NAMED),
}
every_result = pytest.mark.parametrize("name", RESULTS)


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def heights(axes: Any) -> list[float]:
    return [bar.get_height() for bar in axes.patches]


def widths(axes: Any) -> list[float]:
    return [bar.get_width() for bar in axes.patches]


@every_result
def test_a_plot_returns_the_axes_of_a_new_figure_or_those_given(name: str) -> None:
    result = RESULTS[name]()
    new = result.plot()
    assert isinstance(new, Axes) and new.get_xlabel() and new.get_ylabel()
    given = pyplot.figure().add_subplot()
    assert result.plot(given) is result.plot(ax=given) is given
    new.figure.canvas.draw()


def test_levels_are_those_of_the_search() -> None:
    graph = hw.generate.kronecker(10, seed=1)
    root = int(np.argmax(graph.degrees))
    found = hw.bfs(graph, root, plan="pushpull", trace=True)
    counts = np.bincount(found.distances[found.distances >= 0]).tolist()
    for axes in (found.plot(), found.trace.plot()):
        assert heights(axes) == counts
        colours = [to_hex(bar.get_facecolor()) for bar in axes.patches]
        assert colours == [COLOURS[name] for name in ["source", *found.trace.directions][: len(counts)]]
    plain = hw.bfs(graph, root).plot()
    assert heights(plain) == counts and plain.get_legend() is None


def test_vertices_found_ahead_are_drawn_in_their_own_level() -> None:
    first = Level(1, 0, "pull(thread)", 1, 1, 1, found=5, checked=1, seconds=0.0, ahead=2)
    trace = Trace([first, Level(2, 0, "pull(thread)", 5, 1, 1, found=1, checked=1, seconds=0.0)])
    assert heights(trace.plot()) == [1, 3, 3] and heights(Trace().plot()) == []


def test_the_highest_scores_are_bars_with_names() -> None:
    axes = hw.betweenness_centrality(NAMED, normalized=False).plot(top=2)
    assert widths(axes) == [3.0, 5.0] and [text.get_text() for text in axes.get_yticklabels()] == ["bob", "cyd"]
    edges = hw.edge_betweenness_centrality(NAMED, normalized=False).plot(top=1)
    assert [text.get_text() for text in edges.get_yticklabels()] == ["bob – cyd"] and widths(edges) == [6.0]


@pytest.mark.parametrize("call", [hw.betweenness_centrality, hw.harmonic_centrality, hw.edge_betweenness_centrality])
def test_error_bars_are_the_bounds_of_a_sample(call: Any) -> None:
    graph = hw.generate.barabasi_albert(300, 3, seed=1)
    result = call(graph, k=100, seed=1)
    axes = result.plot(top=3)
    [bars] = [each for each in axes.containers if hasattr(each, "has_xerr") and each.has_xerr]
    right = [segment[1][0] for segment in bars.lines[2][0].get_segments()]
    frame = result.to_pandas().sort_values(result.name, kind="stable", ascending=False).head(3)
    expected = frame["high"] if "high" in frame else frame[result.name] + frame["bound"]
    assert np.allclose(sorted(right), sorted(expected))
    assert not [each for each in call(graph).plot(top=3).containers if getattr(each, "has_xerr", False)]


def test_all_that_were_asked_for_are_listed_and_drawn() -> None:
    graph = hw.generate.barabasi_albert(300, 3, seed=1)
    best, every = hw.closeness_centrality(graph, top=12), hw.closeness_centrality(graph)
    assert best.top() == every.top(12)
    assert len(best.top(3)) == 3 and len(every.top()) == 10
    assert widths(best.plot()) == [score for _, score in best.top()][::-1]


def test_a_distribution_shows_the_share_with_at_least_a_score() -> None:
    axes = hw.closeness_centrality(NAMED).plot()
    line = axes.lines[-1]
    scores = hw.closeness_centrality(NAMED).scores
    shares = [np.mean(scores >= score) for score in line.get_xdata()]
    assert line.get_ydata().tolist() == shares and len(shares) == len(set(scores.tolist()))
    nothing = hw.betweenness_centrality(hw.generate.complete(4)).plot()
    assert [text.get_text() for text in nothing.texts] == ["no score is above 0"]


def test_histograms_have_counts_and_error_bars() -> None:
    exact = hw.distance_histogram(NAMED)
    assert heights(exact.plot()) == exact.counts[1:].tolist()
    sampled = hw.distance_histogram(hw.generate.barabasi_albert(300, 3, seed=1), k=100, seed=1)
    [bars] = [each for each in sampled.plot().containers if getattr(each, "has_yerr", False)]
    upper = [segment[1][1] for segment in bars.lines[2][0].get_segments()]
    assert np.allclose(upper, sampled.counts[1:] + sampled.bounds[1:])
    apart = hw.Graph.from_edges([0, 2], [1, 3], weights=[1.5, 1.0])
    assert sum(heights(hw.sssp(apart, 0).plot())) == 2  # vertices without a path are not drawn
