"""Results as a dictionary, a table, a path and a picture; how they were computed."""

import pickle
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

import hopwave as hw
from hopwave import Graph
from hopwave.api.validate import validate
from hopwave.arrays import Deferred
from hopwave.display.drawing import COLOURS
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.plan import PlanUsed
from hopwave.planning.trace import Level, Trace
from hopwave.results.search import BFSResult

NAMED = Graph.from_edges(["ann", "bob", "dan"], ["bob", "cyd", "eve"])


def test_results_as_tables_name_vertices_by_their_labels() -> None:
    frame = hw.bfs(NAMED, "ann", path_counts=True).to_pandas()
    assert frame.index.tolist() == ["ann", "bob", "cyd", "dan", "eve"] and frame.index.name == "vertex"
    assert frame["distance"].tolist() == [0, 1, 2, -1, -1] and frame["path_count"].tolist() == [1, 1, 1, 0, 0]
    assert frame["predecessor"].tolist()[:3] == ["ann", "ann", "bob"] and frame["predecessor"].isna().sum() == 2
    assert hw.bfs(hw.generate.path(3), 0, predecessors=False).to_pandas().columns.tolist() == ["distance"]
    huge = hw.bfs(hw.generate.diamonds(1100), 0, path_counts=True).to_pandas()
    assert "path_count" not in huge and huge["path_count_log2"].iloc[-1] == 1100
    graph = Graph.from_edges(["ann", "bob"], ["bob", "cyd"], weights=[2.0, 3.0])
    for result, column, values in (
        (hw.sssp(graph, "bob"), "predecessor", ["bob", "bob", "bob"]),
        (hw.betweenness_centrality(graph, weights=False), "betweenness", [0.0, 1.0, 0.0]),
        (hw.core_numbers(graph), "core number", [1, 1, 1]),
        (hw.connected_components(graph), "component", [0, 0, 0]),
        (hw.label_propagation(graph, seed=1), "community", [0, 0, 0]),
    ):
        found = result.to_pandas()
        assert found.index.tolist() == ["ann", "bob", "cyd"] and found[column].tolist() == values
    edges = hw.edge_betweenness_centrality(graph, weights=False).to_pandas()
    assert edges["source"].tolist() == ["ann", "bob"] and edges["target"].tolist() == ["bob", "cyd"]
    pairs = hw.bfs(Graph.from_networkx(nx.grid_2d_graph(2, 2)), (0, 0)).to_pandas()  # labels may be tuples
    assert pairs.index[3] == (1, 1) and pairs["predecessor"].iloc[0] == (0, 0)
    numbers = hw.bfs(Graph.from_edges([0, 1], [1, 2], labels=[30, 20, 10]), 30).to_pandas()
    assert numbers.index.tolist() == [30, 20, 10] and numbers["predecessor"].tolist() == [30, 30, 20]


def test_vertices_that_a_question_returns_name_vertices() -> None:
    """Places would name others here: labels are the same numbers in another order."""
    graph = Graph.from_edges([0, 2, 3], [1, 3, 4], n=6).relabel([3, 4, 0, 1, 2, 5])
    found = hw.connected_components(graph)
    assert list(graph.subgraph(found.largest())) == [0, 1, 2]
    assert found.largest().dtype == found.members()[1].dtype == graph.labels.dtype  # type: ignore[union-attr]
    assert [some.tolist() for some in found.members()] == [[3, 4], [0, 1, 2], [5]]
    assert [some.tolist() for some in hw.biconnected_components(graph).members()] == [[3, 4], [0, 1], [1, 2]]
    chosen = set(hw.maximal_independent_set(graph, seed=1).tolist())
    assert 5 in chosen and len(chosen & {3, 4}) == 1 and chosen & {0, 1, 2} in ({0, 2}, {1})


def test_results_compare_as_themselves() -> None:
    for ask in (
        lambda: hw.distance_table(NAMED), lambda: hw.accessibility(NAMED), lambda: hw.nearest_of(NAMED, ["ann"]),
        lambda: hw.isochrone(NAMED, "ann", 1), lambda: hw.closeness_centrality(NAMED), lambda: hw.bfs(NAMED, "ann"),
    ):  # fmt: skip
        found = ask()
        assert found != ask() and found in {found}


# ---------------------------------------------------------------- tables in notebooks


def cells(result: Any) -> list[str]:
    """The text of every cell of a result's HTML, which must be well-formed."""
    page = ElementTree.fromstring(result._repr_html_())
    return [cell.text or "" for cell in page.iter() if cell.tag in ("td", "th", "caption")]


def test_results_show_themselves_as_tables() -> None:
    graph = Graph.from_edges(["<ann>", "bob", "cyd"], ["bob", "cyd", "dan"], weights=[2.0, 3.0, 0.5])
    found = hw.bfs(graph, "<ann>", trace=True)
    assert {"<ann>", "4 of 4 vertices", "3"} <= set(cells(found))
    assert "0, 1, 2, 3, 4, … (9 in total)" in cells(hw.bfs(hw.generate.path(9), range(9)))
    assert {"level", "checked", "found"} <= set(cells(found.trace)) and len(found.trace or ()) >= 3
    paths = cells(hw.sssp(graph, "bob"))
    assert {"bob", "3.5", "the weights of the arcs"} <= set(paths)
    assert "1 per arc" in cells(hw.sssp(graph, ["bob", "cyd"], weights=False))
    assert cells(hw.betweenness_centrality(graph, weights=False))[1:5] == ["vertex", "betweenness", "bob", "0.666667"]
    between = cells(hw.edge_betweenness_centrality(graph, weights=False))
    assert between[1:6] == ["source", "target", "betweenness", "bob", "cyd"]
    assert cells(hw.core_numbers(graph))[1:5] == ["vertex", "core number", "<ann>", "1"]
    assert cells(hw.connected_components(graph)) == [
        "Components(count=1, largest=4), largest first", "component", "vertices", "0", "4",
    ]  # fmt: skip
    assert "community" in cells(hw.label_propagation(graph, seed=1))
    assert cells(hw.distance_histogram(graph))[1:] == ["distance", "pairs", "0", "4", "1", "6", "2", "4", "3", "2"]
    assert cells(hw.distance_histogram(hw.generate.path(50)))[-2:] == ["…", ""]
    table = hw.distance_table(graph, ["<ann>"], ["bob", "dan"])
    assert cells(table)[1:] == ["from", "bob", "dan", "<ann>", "2", "5.5"]
    sampled = hw.betweenness_centrality(hw.generate.path(50), k=10, seed=1)
    assert cells(sampled)[1:4] == ["vertex", "betweenness", "±"] and "pass epsilon=0.01" in repr(sampled)
    assert "sources drawn" in cells(hw.average_shortest_path_length(hw.generate.grid(9, 9), k=20, seed=1))
    wrong = validate(hw.generate.path(3), 0, distances=[0, 1, 1])
    assert {"passed", "failed", "nothing to check", *wrong.failures} <= set(cells(wrong))


@pytest.mark.parametrize("ask", [hw.bfs, hw.sssp])
def test_searches_read_like_dictionaries(ask: Any) -> None:
    """Those of `to_dict`: a vertex that was not reached is not in it, a source at an infinite distance is."""
    found = ask(NAMED, "ann")
    assert found["cyd"] == 2 and "bob" in found and "eve" not in found and "zoe" not in found
    assert dict(found) == found.to_dict() == dict(found.items()) and list(found) == ["ann", "bob", "cyd"]
    assert len(found) == 3 and max(found, key=found.get) == "cyd" and found.get("eve", 9) == 9
    np.testing.assert_array_equal(np.asarray(found), found.distances)
    np.testing.assert_array_equal(np.from_dlpack(found), found.distances)
    heavy = hw.sssp(Graph.from_edges([0], [1], weights=[1e308]), 0)
    assert heavy[0] == 0 and 1 in heavy and dict(heavy) == heavy.to_dict()


def test_results_print_in_one_line_with_names() -> None:
    roads = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], weights=[1.0, 2.0, 4.0])
    printed = {
        "DistanceTable(1 source (b) × 4 targets (a, b, c, d))": hw.distance_table(roads, ["b"]),
        "DistanceTable(2 sources (a, b) × 1 target (c), sparse)": hw.distance_table(
            roads, ["a", "b"], ["c"], limit=9, sparse=True
        ),
        "Accessibility(4 sources; jobs within 2, jobs within 5)": hw.accessibility(
            roads, {"jobs": [1, 2, 3, 4]}, limit=[2, 5]
        ),
        "NearestOf(4 vertices, the 2 nearest of 2 facilities)": hw.nearest_of(roads, ["a", "d"], k=2),
        "Isochrone(of 4 vertices, 2 within 1, 3 within 3)": hw.isochrone(roads, "a", [1, 3]),
        "EdgeBetweennessResult(3 edges; all 4 sources; arithmetic checked to 0.0e+00 (tolerance 1e-09))": (
            hw.edge_betweenness_centrality(roads, weights=True)
        ),
    }
    for line, result in printed.items():
        assert repr(result) == str(result) == line


def test_paths_and_frozen_results() -> None:
    assert hw.bfs(NAMED, "ann").path_to("ann") == ["ann"]
    assert hw.bfs(hw.generate.path(9), [0, 8]).path_to(6) == [8, 7, 6]
    assert all(type(v) is int for v in hw.bfs(hw.generate.path(3), 0).path_to(np.int64(2)))
    result = hw.bfs(hw.generate.path(1200), 0, device="reference")
    with pytest.raises(AttributeError):
        result.depth = 3  # type: ignore[misc]
    assert repr(result) == "BFSResult(reached=1,200, depth=1199, plan=hopwave, engine=reference)"


def test_arrays_on_a_gpu_are_fetched_once_and_when_they_are_read() -> None:
    fetched: list[str] = []

    def later(name: str) -> Deferred:
        def fetch() -> Any:
            fetched.append(name)
            return np.array([0, 1, 2])

        return Deferred(fetch)

    def result() -> BFSResult:
        found = {"distances": later("distances"), "predecessors": later("predecessors"), "path_counts": None}
        used = PlanUsed(CATALOGUE["hopwave"], "requested", ())
        return BFSResult(**found, depth=2, reached=3, sources=(0,), plan=used, engine="cuda", trace=None, graph=NAMED)

    one = result()
    assert (one.depth, one.path_counts, fetched) == (2, None, [])
    assert one.distances is one.distances and fetched == ["distances"]
    assert one.predecessors.tolist() == [0, 1, 2] and fetched == ["distances", "predecessors"]
    with pytest.raises(AttributeError, match="no attribute 'distance'"):
        _ = one.distance  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(result()))
    assert again.distances.tolist() == again.predecessors.tolist() == [0, 1, 2]
    plain = hw.bfs(NAMED, "ann", trace=True, path_counts=True)
    again = pickle.loads(pickle.dumps(plain))
    assert again.to_dict() == plain.to_dict() and again.plan == plain.plan and again.trace == plain.trace


# ---------------------------------------------------------------- how they were computed


def test_plan_used() -> None:
    ran = hw.bfs(NAMED, "ann", plan="xbfs", device="reference").plan
    assert ran == "xbfs" and ran != "xbfs-sync" and ran.name == "xbfs" and ran != 5
    assert ran == PlanUsed(CATALOGUE["xbfs"], "requested", ran.without) and {ran: 1}["xbfs"] == 1
    assert str(ran) == "xbfs (requested)" and "look ahead" in ran.without, "the reference engine has none"
    used = PlanUsed(CATALOGUE["hiragushi-hybrid"], "requested", ("queue making",))
    steps = "push(twc, queue) · pull(thread, compacted, visited, exit)"
    about = f"steps: {steps}; rule: Beamer(48, 20); this engine ignores: queue making"
    assert repr(used) == f"PlanUsed(hiragushi-hybrid (requested); {about})"


def test_trace_prints_as_a_table() -> None:
    """tests/questions checks its numbers."""
    trace = hw.bfs(hw.generate.kronecker(8), 0, plan="pushpull", trace=True).trace
    assert trace is not None and "pull" in trace.directions and hw.bfs(NAMED, "ann").trace is None
    head, *lines = str(trace).splitlines()
    assert head.split() == ["level", "step", "vertices", "edges", "found", "checked", "ms"]
    assert len(lines) == len(trace)
    assert {len(line) for line in (head, *lines)} == {len(head)}, "columns stand under each other"


# ---------------------------------------------------------------- pictures

PEOPLE = hw.Graph.from_edges(["ann", "bob", "cyd", "cyd"], ["bob", "cyd", "dan", "eve"])
WEIGHTED = PEOPLE.with_weights([2.0] * PEOPLE.m)
RESULTS = {
    "bfs": lambda: hw.bfs(PEOPLE, "ann"),
    "trace": lambda: hw.bfs(PEOPLE, "ann", trace=True).trace,
    "sssp": lambda: hw.sssp(WEIGHTED, "ann"),
    "buckets": lambda: hw.sssp(WEIGHTED, "ann", trace=True).trace,
    "betweenness": lambda: hw.betweenness_centrality(PEOPLE),
    "edges": lambda: hw.edge_betweenness_centrality(PEOPLE),
    "closeness": lambda: hw.closeness_centrality(PEOPLE),
    "histogram": lambda: hw.distance_histogram(PEOPLE),
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
    axes = hw.betweenness_centrality(PEOPLE, normalized=False).plot(top=2)
    assert widths(axes) == [3.0, 5.0] and [text.get_text() for text in axes.get_yticklabels()] == ["bob", "cyd"]
    edges = hw.edge_betweenness_centrality(PEOPLE, normalized=False).plot(top=1)
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
    axes = hw.closeness_centrality(PEOPLE).plot()
    line = axes.lines[-1]
    scores = hw.closeness_centrality(PEOPLE).scores
    shares = [np.mean(scores >= score) for score in line.get_xdata()]
    assert line.get_ydata().tolist() == shares and len(shares) == len(set(scores.tolist()))
    nothing = hw.betweenness_centrality(hw.generate.complete(4)).plot()
    assert [text.get_text() for text in nothing.texts] == ["no score is above 0"]


def test_histograms_have_counts_and_error_bars() -> None:
    exact = hw.distance_histogram(PEOPLE)
    assert heights(exact.plot()) == exact.counts[1:].tolist()
    sampled = hw.distance_histogram(hw.generate.barabasi_albert(300, 3, seed=1), k=100, seed=1)
    [bars] = [each for each in sampled.plot().containers if getattr(each, "has_yerr", False)]
    upper = [segment[1][1] for segment in bars.lines[2][0].get_segments()]
    assert np.allclose(upper, sampled.counts[1:] + sampled.bounds[1:])
    apart = hw.Graph.from_edges([0, 2], [1, 3], weights=[1.5, 1.0])
    assert sum(heights(hw.sssp(apart, 0).plot())) == 2  # vertices without a path are not drawn
