"""Values within reach, nearest facilities and isochrones beside tables of distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_weighted_distances import weighted

import hopwave as hw
from hopwave import Graph, GraphError, generate
from hopwave.engines.cpu import policy

ROADS = Graph.from_edges(["a", "b", "c", "a"], ["b", "c", "d", "d"], weights=[10.0, 25.0, 10.0, 90.0])
DECAYS: dict[str, Any] = {
    "none": (None, lambda d: np.ones_like(d)),
    "exponential": (("exponential", 0.7), lambda d: np.exp(-d / 0.7)),
    "gaussian": (("gaussian", 0.7), lambda d: np.exp(-0.5 * (d / 0.7) ** 2)),
    "power": (("power", 1.5), lambda d: np.maximum(d, 1) ** -1.5),
    "power from": (("power", 2, 0.25), lambda d: np.maximum(d, 0.25) ** -2.0),
    "own": (lambda d: 1 / (1 + d), lambda d: 1 / (1 + d)),
}


@given(graph=weighted(), decay=st.sampled_from(sorted(DECAYS)), data=st.data())
def test_sums_are_those_over_the_table(graph: Graph, decay: str, data: Any) -> None:
    table = hw.distance_table(graph).values
    known = np.unique(table[np.isfinite(table)]).tolist()
    limits = sorted(set(data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))))
    values = np.random.default_rng(data.draw(st.integers(0, 9))).integers(-4, 9, (graph.n, 2)).astype(float)
    values[0, 1] = np.nan
    given_decay, f = DECAYS[decay]
    with np.errstate(over="ignore"):
        share = np.where(np.isfinite(table), f(np.where(np.isfinite(table), table, 0.0)), 0.0)
    for device in ("cpu", "reference"):
        found = hw.accessibility(graph, values, limits, given_decay, device=device)
        assert found.sums.shape == (graph.n, 2, len(limits))
        for i, limit in enumerate(limits):
            shares = np.where(table <= limit, share, 0.0)
            terms = shares[:, :, None] * np.nan_to_num(values)
            expected = np.array([[math.fsum(column) for column in row.T] for row in terms])
            np.testing.assert_allclose(found.sums[:, :, i], expected, rtol=1e-13, atol=1e-13)
            if decay == "none":
                assert (found.sums[:, :, i] == expected).all()  # whole numbers
                assert (found.counts[:, 1, i] == (shares * ~np.isnan(values[:, 1])).sum(1)).all()


def test_columns_by_name_and_what_has_no_value() -> None:
    import pandas as pd

    columns = {"jobs": {"b": 100, "c": 40}, "rent": [np.nan, 8.0, 10.0, 6.0]}
    found = hw.accessibility(ROADS, columns, limit=15, sources=["a", "c"])
    assert found.names == ("jobs", "rent")
    assert found.sums[:, :, 0].tolist() == [[100.0, 8.0], [40.0, 16.0]]
    assert found.counts[:, :, 0].tolist() == [[1.0, 1.0], [1.0, 2.0]]
    assert found.means[:, 1, 0].tolist() == [8.0, 8.0]
    frame = pd.DataFrame({"jobs": [0.0, 100, 40, 0], "rent": columns["rent"]})
    again = hw.accessibility(ROADS, frame, limit=15, sources=["a", "c"])
    assert (again.sums == found.sums).all()
    table = found.to_pandas()
    assert table.loc["c"].to_dict() == {"jobs within 15": 40.0, "rent within 15": 16.0}
    assert found.to_polars().columns == ["vertex", "jobs within 15", "rent within 15"]
    assert np.isnan(hw.accessibility(ROADS, {"d": 1}, limit=1, sources=["a"]).means).all()
    named = hw.accessibility(ROADS, {"b": 100, "c": np.nan}, limit=15, sources=["a", "c"])  # c has no value
    assert named.sums.ravel().tolist() == [100.0, 0.0] and named.counts.ravel().tolist() == [1.0, 0.0]


def test_hops_and_directions() -> None:
    line = generate.path(4, directed=True)
    assert hw.accessibility(line, limit=[0, 2]).sums[:, 0].tolist() == [[1, 3], [1, 3], [1, 2], [1, 1]]
    assert hw.accessibility(line, limit=2, direction="in").sums[:, 0, 0].tolist() == [1, 2, 3, 3]
    assert hw.accessibility(ROADS, weights=False, limit=1).sums[:, 0, 0].tolist() == [3, 3, 3, 3]
    assert hw.accessibility(ROADS).sums[:, 0, 0].tolist() == [4, 4, 4, 4]


@pytest.mark.parametrize("decay", [None, lambda d: 1 / (1 + d)])
def test_limits_stay_in_the_order_given(decay: Any) -> None:
    ascending = hw.accessibility(ROADS, limit=[10, 15, 40], decay=decay)
    found = hw.accessibility(ROADS, limit=[40, 10, 15], decay=decay)
    assert found.limits == (40, 10, 15)
    assert (found.sums == ascending.sums[:, :, [2, 0, 1]]).all()
    assert (found.counts == ascending.counts[:, :, [2, 0, 1]]).all()
    assert list(found.to_pandas()) == ["vertices within 40", "vertices within 10", "vertices within 15"]
    around = hw.isochrone(ROADS, "a", [40, 10])
    assert around.limits == (40, 10) and around.vertices().tolist() == ["a", "b", "c"]
    far = hw.accessibility(ROADS, limit=[1000001, 1000000.5], decay=decay).to_pandas()
    assert list(far) == ["vertices within 1000001", "vertices within 1000000.5"]


@given(graph=weighted(), k=st.integers(1, 4), data=st.data())
def test_the_nearest_are_those_of_the_table(graph: Graph, k: int, data: Any) -> None:
    """Equally near facilities come by lowest id. Lengths are added from the facility on: direction "in" of a table."""
    plain = graph.relabel(None)
    facilities = sorted(set(data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=6))))
    for direction, other in (("out", "in"), ("in", "out")):
        found = hw.nearest_of(plain, facilities, k, direction=direction)
        table = hw.distance_table(plain, facilities, direction=other).values.T
        for v in range(plain.n):
            pairs = sorted((d, f) for d, f in zip(table[v].tolist(), facilities, strict=True) if d < np.inf)[:k]
            near = list(zip(found.distances[v].tolist(), found.facilities[v].tolist(), strict=True))
            assert [pair[0] for pair in near[: len(pairs)]] == [pair[0] for pair in pairs]
            assert near[len(pairs) :] == [(np.inf, -1)] * (k - len(pairs))
            assert all(table[v, facilities.index(f)] == d for d, f in near[: len(pairs)])


def test_ties_among_facilities() -> None:
    ring = generate.cycle(6)
    found = hw.nearest_of(ring, [5, 1, 3], 3)
    assert found.facilities[0].tolist() == [1, 5, 3]
    assert found.facilities[4].tolist() == [3, 5, 1]
    assert hw.nearest_of(ring, [2], 2, limit=1).facilities.tolist() == [
        [-1, -1], [2, -1], [2, -1], [2, -1], [-1, -1], [-1, -1]
    ]  # fmt: skip
    beside = Graph.from_edges([0, 1], [1, 2], weights=[0.0, 1.0], directed=True)
    assert hw.nearest_of(beside, [0, 1], direction="in").facilities.tolist() == [[0], [0], [0]]
    assert hw.nearest_of(ROADS, ["d"]).to_pandas().loc["a"].to_dict() == {"facility 1": "d", "distance 1": 45.0}


@pytest.mark.parametrize("unit", [1.0, 1 / 7])  # sevenths: sums are rounded, and some become equal
@pytest.mark.parametrize("least", [None, 0, 1])  # None: hops
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("k", "rounds"), [(1, False), (3, False), (3, True)])
def test_ties_among_many_facilities(
    monkeypatch: pytest.MonkeyPatch, unit: float, least: int | None, directed: bool, k: int, rounds: bool
) -> None:
    monkeypatch.setattr(policy, "ARCS_PER_PATH_THREAD", 1 << 10)  # several threads
    monkeypatch.setattr(policy, "ROUND_WORKERS", 1 if rounds else 1 << 10)
    monkeypatch.setattr(policy, "ROUND_ARCS", {True: 0, False: 0})
    rng = np.random.default_rng(5)
    source, target = generate.grid(40, 40).to_edges()
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


@given(graph=weighted(), data=st.data())
def test_an_isochrone_has_what_is_left_of_the_limit(graph: Graph, data: Any) -> None:
    plain = graph.relabel(None)
    d = hw.sssp(plain, 0).distances
    at = float(data.draw(st.sampled_from(np.unique(d[np.isfinite(d)]).tolist())))
    limit = at * data.draw(st.sampled_from([1, 1.5]))
    found = hw.isochrone(plain, 0, [limit / 3, limit])
    assert sorted(found.vertices().tolist()) == np.flatnonzero(d <= limit).tolist()
    expected = {}
    for u in range(plain.n):
        for j in range(plain.indptr[u], plain.indptr[u + 1]):
            length = float(plain.weights[j])
            if d[u] <= limit and (part := 1.0 if limit - d[u] >= length else (limit - d[u]) / length) > 0:
                expected[u, int(plain.indices[j])] = part
    arcs = found.arcs()
    assert dict(zip(zip(arcs.tail.tolist(), arcs.head.tolist(), strict=True), arcs.fraction, strict=True)) == expected
    assert len(found.to_pandas(limit / 3)) <= len(arcs.tail)


def test_a_map_has_one_dot_per_source() -> None:
    import matplotlib

    matplotlib.use("agg")
    found = hw.accessibility(ROADS, limit=[15, 40], sources=["a", "b", "c"])
    ax = found.plot(xy=[[0, 0], [1, 0], [2, 1], [3, 1]])
    assert len(ax.collections[0].get_offsets()) == 3
    with pytest.raises(GraphError, match=r"xy has shape \(2, 2\)"):
        found.plot(xy=[[0, 0], [1, 1]])
    by_name = found.plot(xy={"c": (2, 1), "a": (0, 0), "b": [1, 0]})
    assert np.array_equal(by_name.collections[0].get_offsets(), ax.collections[0].get_offsets())
    for xy, message in (
        ({"a": (0, 0), "b": (1, 0)}, "xy has no place for 'c', which is a source; give every source"),
        ({"a": 3}, r"xy\['a'\] is 3, which is not a place; give two numbers"),
        ({"a": ("x", 1)}, r"xy\['a'\] is \('x', 1\), which is not a place"),
        ({"nowhere": (0, 0)}, "'nowhere' is not a vertex of this graph"),
        ({"a", "b"}, "is not an array of numbers; give two numbers for each of the 4 vertices, or a mapping"),
    ):
        with pytest.raises(GraphError, match=message):
            found.plot(xy=xy)
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: hw.accessibility(ROADS, limit=[]), r"limit=\[\] has no distance"),
        (lambda: hw.accessibility(ROADS, limit=[10, 40, 10.0]), "repeats a distance; give each once"),
        (lambda: hw.accessibility(ROADS, limit="far"), "is not a length"),
        (lambda: hw.accessibility(ROADS, decay=("linear", 3)), "decay=.* is not known"),
        (lambda: hw.accessibility(ROADS, decay=("gaussian", 0)), "needs numbers above 0"),
        (lambda: hw.accessibility(ROADS, decay=("gaussian", 1, 1)), "a number too many"),
        (lambda: hw.accessibility(ROADS, decay=lambda d: d[:1]), "must return one number for each"),
        (lambda: hw.accessibility(ROADS, decay=lambda d: math.exp(-d)), "decay= failed for an array .*numpy.vectorize"),
        (lambda: hw.accessibility(ROADS, decay=lambda d: 1 if d < 5 else 0), "ambiguous.*must take them all at once"),
        (lambda: hw.accessibility(ROADS, decay=lambda d: d - np.inf), "a share must be finite"),
        (lambda: hw.accessibility(ROADS, [1.0, 2.0]), "values has shape"),
        (lambda: hw.accessibility(ROADS, np.empty((4, 0))), "values has no columns"),
        (lambda: hw.accessibility(ROADS, {"a": {"b": "many"}}), "which is not a number"),
        (lambda: hw.accessibility(ROADS, [1.0, 2.0, np.inf, 0.0]), "infinite number"),
        (lambda: hw.nearest_of(ROADS, []), "list of facilities is empty"),
        (lambda: hw.nearest_of(ROADS, ["a"], 0), "k=0 is not a number of facilities"),
        (lambda: hw.isochrone(ROADS, "a", None), "has no end"),
        (lambda: hw.isochrone(ROADS, "a", [5]).arcs(6), "is none of this isochrone's"),
    ],
)
def test_what_cannot_be_used(call: Any, reason: str) -> None:
    with pytest.raises(GraphError, match=reason):
        call()
