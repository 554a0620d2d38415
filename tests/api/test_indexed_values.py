"""Numbers per vertex in pandas and polars: an index names vertices, as a dictionary does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hopwave as hw
from hopwave import Graph
from together import in_one_test

pl = pytest.importorskip("polars")

PATH = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
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
    expected = np.asarray(ASK[name](numbers))
    assert np.asarray(ASK[name](pd.Series(numbers))).tolist() == expected.tolist()
    if left == 4:
        in_order = [NUMBERS[vertex] for vertex in "abcd"]
        for column in (pd.Series(in_order), pl.Series(in_order), np.array(in_order)):
            assert np.asarray(ASK[name](column)).tolist() == expected.tolist()


def test_a_table_is_read_by_its_index() -> None:
    frame = pd.DataFrame({"jobs": [10.0, 3.0], "rent": [np.nan, 8.0]}, index=["d", "b"])
    found = hw.accessibility(PATH, frame, limit=0)
    assert found.names == ("jobs", "rent")
    assert found.sums[:, :, 0].tolist() == [[0, 0], [3, 8], [0, 0], [10, 0]]
    assert found.counts[:, :, 0].tolist() == [[0, 0], [1, 1], [0, 0], [1, 0]]
    missing = pd.Series([1, None], index=["d", "b"], dtype="Int64")
    assert hw.accessibility(PATH, missing, limit=0).counts.ravel().tolist() == [0, 0, 0, 1]
    found = hw.accessibility(PATH, {1: [1.0, 2.0, 3.0, 4.0], 2: {"b": 6.0}}, limit=0)
    assert (found.names, found.sums[1].ravel().tolist()) == (("1", "2"), [2.0, 6.0])


def test_communities_by_vertex() -> None:
    right = hw.modularity(PATH, [{"a", "c"}, {"b", "d"}])
    by_vertex = {"d": "two", "b": "two", "a": "one", "c": "one"}
    numbers = pd.Series([4, 9, 4, 9])
    for given in (by_vertex, pd.Series(by_vertex), numbers, pl.Series([0, 1, 0, 1]), [0, 1, 0, 1]):
        assert hw.modularity(PATH, given) == right
    by_index = numbers.set_axis(["a", "b", "d", "c"])
    assert hw.modularity(PATH, by_index) == hw.modularity(PATH, [{"a", "d"}, {"b", "c"}])


def test_numbers_as_labels_and_without_labels() -> None:
    plain = hw.generate.path(3)

    def values(graph: Graph, series: Any) -> list[float]:
        return hw.accessibility(graph, series, limit=0).sums.ravel().tolist()

    assert values(plain, pd.Series({2: 5.0, 0: 1.0})) == [1, 0, 5]
    assert values(plain, pd.Series([5.0, 6.0, 7.0])) == [5, 6, 7]
    assert values(plain, pd.Series([5.0, 6.0, 7.0]).sort_values(ascending=False)) == [5, 6, 7]
    assert values(plain.relabel([2, 1, 0]), pd.Series([5.0, 6.0, 7.0])) == [7, 6, 5]  # by label


def test_new_names_and_places_by_index() -> None:
    import matplotlib

    matplotlib.use("agg")
    assert PATH.relabel(pd.Series({"d": "z", "a": "y"})).labels.tolist() == ["y", "b", "c", "z"]
    assert PATH.relabel(pd.Series([4, 3, 2, 1], index=list("dcba"))).labels.tolist() == [1, 2, 3, 4]
    found = hw.accessibility(PATH, sources=["a", "b"])
    expected = [[0, 0], [1, 5]]
    table = pd.DataFrame({"x": [3, 2, 1, 0], "y": [7, 6, 5, 0]}, index=list("dcba"))
    for xy in (table, table.loc[["b", "a"]], pd.Series({"b": (1, 5), "a": (0, 0)})):
        dots = found.plot(xy=xy).collections[0].get_offsets()
        assert sorted(np.asarray(dots).tolist()) == expected
    matplotlib.pyplot.close("all")


def test_scores_are_demand() -> None:
    scores = hw.pagerank(PATH)
    found = hw.betweenness_centrality(PATH, source_weights=scores)
    assert found.scores.tolist() == hw.betweenness_centrality(PATH, source_weights=scores.to_dict()).scores.tolist()


def test_a_search_is_validated_by_the_index() -> None:
    distances = pd.Series([2, 1, 0, 3], index=["c", "b", "a", "d"])
    assert hw.validate(PATH, "a", distances=distances).ok
    assert not hw.validate(PATH, "a", distances=distances.to_list()).ok
