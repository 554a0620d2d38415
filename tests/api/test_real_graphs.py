"""Real graphs, compared with SciPy and with the oracle.

The graphs are looked for in HOPWAVE_DATA, or in shared/data beside the repository; without them all is skipped.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import hopwave as hw
import oracle
from hopwave import Graph, validate

NAMES = [
    "luxembourg_osm", "delaunay_n15", "delaunay_n16", "rgg_n_2_15_s0", "email-Enron", "astro-ph", "cit-HepPh",
    "ca-AstroPh", "wiki-Vote", "p2p-Gnutella31", "ego-Facebook", "ego-Twitter", "cnr-2000", "threads-math-sx",
    "osm-netherlands-cities", "moscow-roads", "larval-drosophila", "ppi-cancer", "mdual", "PGPgiantcompo",
]  # fmt: skip
every_graph = pytest.mark.parametrize("name", NAMES)


@cache
def load(path: Path) -> Graph:
    return hw.read(path, progress=False)


def graph(data: Path, name: str) -> Graph:
    """The graph, read once."""
    path = data / f"{name}.mtx.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return load(path)


def sources(graph: Graph, count: int) -> list[int]:
    """The vertex of highest degree, and others with out-neighbours."""
    able = np.flatnonzero(graph.degrees)
    drawn = np.random.default_rng(graph.n).choice(able, count - 1, replace=False)
    return [int(np.argmax(graph.degrees)), *drawn.tolist()]


@every_graph
def test_searches_equal_scipys(data: Path, name: str) -> None:
    G = graph(data, name)
    for source in sources(G, 3):
        d = dijkstra(G.to_scipy(float), indices=source, unweighted=True)
        right = np.where(np.isinf(d), -1, d)
        found = hw.bfs(G, source, device="cpu")
        assert np.array_equal(found.distances, right)
        assert validate(G, source, found.distances, found.predecessors).ok
        counted = hw.bfs(G, source, path_counts=True, device="cpu")
        assert np.array_equal(counted.distances, right)


@every_graph
def test_betweenness_equals_the_oracles(data: Path, name: str) -> None:
    """Within 1e-9 of each score, small scores too; vertices and edges, both plans."""
    G = graph(data, name)
    source = sources(G, 1)
    right = oracle.Scaled(G, source[0])
    right.delta[source] = 0
    for plan in ("hopwave-block", "hopwave-wide"):
        found = hw.betweenness_centrality(G, sources=source, normalized=False, plan=plan, device="cpu").scores
        np.testing.assert_allclose(found * (1 if G.directed else 2), right.delta, rtol=1e-9, atol=1e-290)
    edges = hw.edge_betweenness_centrality(G, sources=source, normalized=False, device="cpu")
    flow = right.flow if G.directed else right.flow + right.flow[np.lexsort(edges.edges)]
    np.testing.assert_allclose(edges.scores * (1 if G.directed else 2), flow, rtol=1e-9, atol=1e-290)


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


def roads_by_scipy(G: Any, sources: Any, limit: float = np.inf) -> Any:
    """The arrays as they are: SciPy takes a stored 0 for an arc of length 0, and conversions may drop it."""
    A = csr_array((np.asarray(G.weights, np.float64), G.indices, G.indptr), shape=(G.n, G.n))
    return dijkstra(A, indices=sources, limit=limit)


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("name", ROADS)
def test_every_entry_is_scipys(data: Path, name: str, lengths: str, directed: bool) -> None:
    G = roads(data, name, lengths, directed)
    draw = np.random.default_rng(5)
    sources, targets = draw.integers(0, G.n, 4), draw.permutation(G.n)[:60]
    right = roads_by_scipy(G, sources)
    found = hw.distance_table(G, sources, targets).values
    assert np.array_equal(found, right[:, targets])
    if directed:
        assert np.isinf(found).any()  # pairs without a path
    near = np.sort(right[0][np.isfinite(right[0])])
    limit = float(near[len(near) // 3])  # the distance of a vertex
    inside = np.flatnonzero(right[0] == limit)
    within = np.where(right <= limit, right, np.inf)
    assert np.array_equal(within, roads_by_scipy(G, sources, limit))
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
