"""Tables, nearest facilities and accessibility on real roads: SciPy's Dijkstra to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra
from test_real_graphs import graph

import hopwave as hw

pytestmark = pytest.mark.slow
ROADS = ["luxembourg_osm", "osm-netherlands-cities", "moscow-roads"]
LENGTHS: dict[str, Any] = {
    "whole": lambda draw, m: draw.integers(0, 50, m),  # ties, and arcs of length 0
    "float64": lambda draw, m: draw.integers(1, 1000, m) / 7,
}


def roads(data: Path, name: str, lengths: str, directed: bool) -> Any:
    """The roads with lengths; directed: every edge one way, so that many pairs are not connected."""
    source, target = graph(data, name).without_weights().relabel(None).to_edges()
    draw = np.random.default_rng(4)
    if directed:
        turned = draw.random(len(source)) < 0.1
        source, target = np.where(turned, target, source), np.where(turned, source, target)
    n = int(max(source.max(), target.max())) + 1
    return hw.Graph.from_edges(source, target, n, directed, weights=LENGTHS[lengths](draw, len(source)), combine="min")


def by_scipy(G: Any, sources: Any, limit: float = np.inf) -> Any:
    """The arrays as they are: SciPy takes a stored 0 for an arc of length 0, and conversions may drop it."""
    from scipy.sparse import csr_array

    A = csr_array((np.asarray(G.weights, np.float64), G.indices, G.indptr), shape=(G.n, G.n))
    return dijkstra(A, indices=sources, limit=limit)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("name", ROADS)
def test_every_entry_is_scipys(data: Path, name: str, lengths: str, directed: bool) -> None:
    G = roads(data, name, lengths, directed)
    draw = np.random.default_rng(5)
    sources, targets = draw.integers(0, G.n, 4), draw.permutation(G.n)[:60]
    right = by_scipy(G, sources)
    found = hw.distance_table(G, sources, targets).values
    assert np.array_equal(found, right[:, targets])
    if directed:
        assert np.isinf(found).any()  # pairs without a path
    near = np.sort(right[0][np.isfinite(right[0])])
    limit = float(near[len(near) // 3])  # the distance of a vertex
    inside = np.flatnonzero(right[0] == limit)
    within = np.where(right <= limit, right, np.inf)
    assert np.array_equal(within, by_scipy(G, sources, limit))
    aims = np.unique(np.concatenate([targets, inside]))
    assert np.array_equal(hw.distance_table(G, sources, aims, limit=limit).values, within[:, aims])
    sparse = hw.distance_table(G, sources, limit=limit, sparse=True).values
    assert sparse.nnz == np.isfinite(within).sum()
    below = float(np.nextafter(limit, -1.0))
    assert np.isinf(hw.distance_table(G, sources[:1], inside, limit=max(below, 0.0)).values).all() or limit == 0
    values = draw.integers(0, 9, G.n).astype(float)
    sums = hw.accessibility(G, values, limit, sources=sources).sums[:, 0, 0]
    assert np.array_equal(sums, np.where(np.isfinite(within), values, 0.0).sum(1))
    one = hw.sssp(G, int(sources[0]), targets=aims[np.isfinite(within[0, aims])]).distances
    farthest = right[0, aims[np.isfinite(within[0, aims])]].max()
    assert np.array_equal(one, np.where(right[0] <= farthest, right[0], np.inf))


@pytest.mark.parametrize("name", ROADS[:2])
def test_the_nearest_with_ties_are_in_order_of_their_ids(data: Path, name: str) -> None:
    G = roads(data, name, "whole", False)
    facilities = np.sort(np.random.default_rng(6).choice(G.n, 12, replace=False))
    right = by_scipy(G, facilities)  # undirected: the same both ways, and whole numbers have no rounding
    order = np.argsort(right, axis=0, kind="stable")[:3]  # by distance, then by id
    found = hw.nearest_of(G, facilities, 3)
    assert np.array_equal(found.distances.T, np.take_along_axis(right, order, 0))
    assert np.array_equal(found.facilities.T, np.where(np.isfinite(found.distances.T), facilities[order], -1))
    assert (np.diff(found.distances) == 0).any()  # there are ties
