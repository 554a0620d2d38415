"""Values within reach, nearest facilities and isochrones: names, ties, maps. tests/questions compares the numbers."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import Graph, generate
from hopwave.engines.cpu import policy

ROADS = Graph.from_edges(["a", "b", "c", "a"], ["b", "c", "d", "d"], weights=[10.0, 25.0, 10.0, 90.0])


def test_columns_by_name_and_what_has_no_value() -> None:
    import pandas as pd

    columns = {"jobs": {"b": 100, "c": 40}, "rent": [np.nan, 8.0, 10.0, 6.0]}
    found = hw.accessibility(ROADS, columns, limit=15, sources=["a", "c"])
    assert found.names == ("jobs", "rent")
    assert found.sums[:, :, 0].tolist() == [[100.0, 8.0], [40.0, 16.0]]
    assert found.counts[:, :, 0].tolist() == [[1.0, 1.0], [1.0, 2.0]]
    assert found.means[:, 1, 0].tolist() == [8.0, 8.0]
    frame = pd.DataFrame({"jobs": [0.0, 100, 40, 0], "rent": columns["rent"]})
    assert (hw.accessibility(ROADS, frame, limit=15, sources=["a", "c"]).sums == found.sums).all()
    assert found.to_pandas().loc["c"].to_dict() == {"jobs within 15": 40.0, "rent within 15": 16.0}
    assert found.to_polars().columns == ["vertex", "jobs within 15", "rent within 15"]
    assert np.isnan(hw.accessibility(ROADS, {"d": 1}, limit=1, sources=["a"]).means).all()
    named = hw.accessibility(ROADS, {"b": 100, "c": np.nan}, limit=15, sources=["a", "c"])  # c has no value
    assert named.sums.ravel().tolist() == [100.0, 0.0] and named.counts.ravel().tolist() == [1.0, 0.0]
    assert hw.accessibility(ROADS).sums[:, 0, 0].tolist() == [4, 4, 4, 4]


def test_limits_stay_in_the_order_given() -> None:
    for decay in (None, lambda d: 1 / (1 + d)):
        found = hw.accessibility(ROADS, limit=[40, 10, 15], decay=decay)
        assert found.limits == (40, 10, 15)
        assert list(found.to_pandas()) == ["vertices within 40", "vertices within 10", "vertices within 15"]
        far = hw.accessibility(ROADS, limit=[1000001, 1000000.5], decay=decay).to_pandas()
        assert list(far) == ["vertices within 1000001", "vertices within 1000000.5"]
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
    import matplotlib

    matplotlib.use("agg")
    found = hw.accessibility(ROADS, limit=[15, 40], sources=["a", "b", "c"])
    dots: Any = [
        found.plot(xy=xy).collections[0].get_offsets()
        for xy in ([[0, 0], [1, 0], [2, 1], [3, 1]], {"c": (2, 1), "a": (0, 0), "b": [1, 0]})
    ]
    assert len(dots[0]) == 3 and np.array_equal(*dots)
    matplotlib.pyplot.close("all")
