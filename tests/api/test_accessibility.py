"""Values within reach, facilities and isochrones; numbers per vertex, which an index of pandas names like a dictionary.

tests/questions compares the sums and distances.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest

import hopwave as hw
from hopwave import Graph, generate
from hopwave.engines.cpu import policy
from together import in_one_test

pl = pytest.importorskip("polars")
ROADS = Graph.from_edges(["a", "b", "c", "a"], ["b", "c", "d", "d"], weights=[10.0, 25.0, 10.0, 90.0])
PATH = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])


def test_columns_by_name_and_what_has_no_value() -> None:
    columns = {"jobs": {"b": 100, "c": 40}, "rent": [np.nan, 8.0, 10.0, 6.0]}
    found = hw.accessibility(ROADS, columns, limit=15, sources=["a", "c"])
    assert found.names == ("jobs", "rent")
    assert found.sums[:, :, 0].tolist() == [[100.0, 8.0], [40.0, 16.0]]
    assert found.counts[:, :, 0].tolist() == [[1.0, 1.0], [1.0, 2.0]]
    assert found.means[:, 1, 0].tolist() == [8.0, 8.0]
    assert found.to_pandas().loc["c"].to_dict() == {"jobs within 15": 40.0, "rent within 15": 16.0}
    assert found.to_polars().columns == ["vertex", "jobs within 15", "rent within 15"]
    assert np.isnan(hw.accessibility(ROADS, {"d": 1}, limit=1, sources=["a"]).means).all()
    frame = pd.DataFrame({"jobs": [10.0, 3.0], "rent": [np.nan, 8.0]}, index=["d", "b"])
    found = hw.accessibility(PATH, frame, limit=0)
    assert found.sums[:, :, 0].tolist() == [[0, 0], [3, 8], [0, 0], [10, 0]]
    assert found.counts[:, :, 0].tolist() == [[0, 0], [1, 1], [0, 0], [1, 0]]
    for missing in ({"b": np.nan, "d": 1}, pd.Series([1, None], index=["d", "b"], dtype="Int64")):
        assert hw.accessibility(PATH, missing, limit=0).counts.ravel().tolist() == [0, 0, 0, 1]
    found = hw.accessibility(PATH, {1: [1.0, 2.0, 3.0, 4.0], 2: {"b": 6.0}}, limit=0)
    assert (found.names, found.sums[1].ravel().tolist()) == (("1", "2"), [2.0, 6.0])


def test_limits_stay_in_the_order_given() -> None:
    for decay in (None, lambda d: 1 / (1 + d)):
        found = hw.accessibility(ROADS, limit=[1000001, 10, 15.5], decay=decay)
        assert found.limits == (1000001, 10, 15.5)
        assert list(found.to_pandas()) == ["vertices within 1000001", "vertices within 10", "vertices within 15.5"]
    around = hw.isochrone(ROADS, "a", [40, 10])
    assert around.limits == (40, 10) and around.vertices().tolist() == ["a", "b", "c"]
    assert len(around.to_pandas(10)) <= len(around.arcs().tail)


def test_ties_among_facilities() -> None:
    ring = generate.cycle(6)
    found = hw.nearest_of(ring, [5, 1, 3], 3)
    assert found.facilities[0].tolist() == [1, 5, 3] and found.facilities[4].tolist() == [3, 5, 1]
    near = hw.nearest_of(ring, [2], 2, limit=1).facilities.tolist()
    assert near == [[-1, -1], [2, -1], [2, -1], [2, -1], [-1, -1], [-1, -1]]
    beside = Graph.from_edges([0, 1], [1, 2], weights=[0.0, 1.0], directed=True)
    assert hw.nearest_of(beside, [0, 1], direction="in").facilities.tolist() == [[0], [0], [0]]
    assert hw.nearest_of(ROADS, ["d"]).to_pandas().loc["a"].to_dict() == {"facility 1": "d", "distance 1": 45.0}


@pytest.mark.parametrize(("k", "rounds"), [(1, False), (3, False), (3, True)])
def test_ties_among_many_facilities(monkeypatch: pytest.MonkeyPatch, k: int, rounds: bool) -> None:
    """Hops, lengths from 0 and from 1; sevenths, whose sums are rounded, so that some become equal."""
    monkeypatch.setattr(policy, "ARCS_PER_PATH_THREAD", 1 << 10)  # several threads
    monkeypatch.setattr(policy, "ROUND_WORKERS", 1 if rounds else 1 << 10)
    monkeypatch.setattr(policy, "ROUND_ARCS", {True: 0, False: 0})
    source, target = generate.grid(40, 40).to_edges()
    for unit, least, directed in product((1.0, 1 / 7), (None, 0, 1), (False, True)):
        rng = np.random.default_rng(5)
        lengths = None if least is None else rng.integers(least, 4 if unit == 1 else 60, len(source)) * unit
        graph = Graph.from_edges(source, target, 1600, weights=lengths, directed=directed)
        facilities = np.sort(rng.choice(1600, 40, replace=False))
        table = hw.distance_table(graph, facilities, direction="in").values.T.astype(float)
        table[table < 0] = np.inf
        first = np.argsort(table, 1, kind="stable")[:, :k]
        found, d = hw.nearest_of(graph, facilities, k), np.take_along_axis(table, first, 1)
        assert (found.distances == d).all()
        assert (found.facilities == np.where(d < np.inf, facilities[first], -1)).all()
        assert (hw.nearest_of(graph, facilities, k, limit=3).distances == np.where(d <= 3, d, np.inf)).all()


def test_a_map_has_one_dot_per_source() -> None:
    matplotlib.use("agg")
    found = hw.accessibility(PATH, sources=["a", "b"])
    table = pd.DataFrame({"x": [3, 2, 1, 0], "y": [7, 6, 5, 0]}, index=list("dcba"))
    named = {"b": (1, 5), "a": [0, 0]}
    for xy in (table.to_numpy()[::-1], named, table, table.loc[["b", "a"]], pd.Series(named)):
        dots = found.plot(xy=xy).collections[0].get_offsets()
        assert sorted(np.asarray(dots).tolist()) == [[0, 0], [1, 5]]
    matplotlib.pyplot.close("all")


# ---------------------------------------------------------------- numbers per vertex

NUMBERS = {"d": 10.0, "c": 3.0, "b": 0.5, "a": 1.0}
ASK: dict[str, Callable[[Any], Any]] = {
    "accessibility": lambda x: hw.accessibility(PATH, x, limit=0).sums,
    "counts": lambda x: hw.accessibility(PATH, {"jobs": x}, limit=0).counts,
    "personalization": lambda x: hw.pagerank(PATH, personalization=x),
    "dangling": lambda x: hw.pagerank(Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], directed=True), dangling=x),
    "pagerank start": lambda x: hw.pagerank(PATH, nstart=x, tol=0.5),
    "eigenvector start": lambda x: hw.eigenvector_centrality(PATH, nstart=x, tol=0.1),
    "katz": lambda x: hw.katz_centrality(PATH, beta=x),
    "hits start": lambda x: hw.hits(PATH, nstart=x, tol=0.1).hubs,
    "sources": lambda x: hw.betweenness_centrality(PATH, source_weights=x).scores,
    "targets": lambda x: hw.edge_betweenness_centrality(PATH, target_weights=x).scores,
    "states": lambda x: hw.percolation_centrality(PATH, x).scores,
}


@pytest.mark.parametrize("left", [4, 2])  # all vertices, then some of them: the others have no number
@in_one_test("name", ASK)
def test_a_series_is_read_as_a_dictionary(name: str, left: int) -> None:
    numbers = dict(list(NUMBERS.items())[:left])
    expected = np.asarray(ASK[name](numbers)).tolist()
    in_order = [NUMBERS[vertex] for vertex in "abcd"]
    ordered = [pd.Series(in_order), pl.Series(in_order), np.array(in_order)] if left == 4 else []
    for given in (pd.Series(numbers), *ordered):
        assert np.asarray(ASK[name](given)).tolist() == expected


def test_communities_distances_scores_and_new_names_by_vertex() -> None:
    right = hw.modularity(PATH, [{"a", "c"}, {"b", "d"}])
    by_vertex = {"d": "two", "b": "two", "a": "one", "c": "one"}
    numbers = pd.Series([4, 9, 4, 9])
    for given in (by_vertex, pd.Series(by_vertex), numbers, pl.Series([0, 1, 0, 1]), [0, 1, 0, 1]):
        assert hw.modularity(PATH, given) == right
    by_index = numbers.set_axis(["a", "b", "d", "c"])
    assert hw.modularity(PATH, by_index) == hw.modularity(PATH, [{"a", "d"}, {"b", "c"}])
    distances = pd.Series([2, 1, 0, 3], index=["c", "b", "a", "d"])
    assert hw.validate(PATH, "a", distances=distances).ok
    assert not hw.validate(PATH, "a", distances=distances.to_list()).ok
    assert PATH.relabel(pd.Series({"d": "z", "a": "y"})).labels.tolist() == ["y", "b", "c", "z"]
    assert PATH.relabel(pd.Series([4, 3, 2, 1], index=list("dcba"))).labels.tolist() == [1, 2, 3, 4]
    scores = hw.pagerank(PATH)
    one, other = (hw.betweenness_centrality(PATH, source_weights=x).scores for x in (scores, scores.to_dict()))
    assert one.tolist() == other.tolist()


def test_numbers_as_labels_and_without_labels() -> None:
    plain, numbers = generate.path(3), pd.Series([5.0, 6.0, 7.0])
    for graph, series, right in (
        (plain, pd.Series({2: 5.0, 0: 1.0}), [1, 0, 5]),
        (plain, numbers.sort_values(ascending=False), [5, 6, 7]),
        (plain.relabel([2, 1, 0]), numbers, [7, 6, 5]),  # by label
    ):
        assert hw.accessibility(graph, series, limit=0).sums.ravel().tolist() == right
