"""Real graphs, compared with SciPy and with the oracle; without the folder of graphs all is skipped."""

from functools import cache
from pathlib import Path

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
def graph(data: Path, name: str) -> Graph:
    """The graph, read once."""
    path = data / f"{name}.mtx.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return hw.read(path, progress=False)


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


@pytest.mark.parametrize("name", ["luxembourg_osm", "osm-netherlands-cities", "moscow-roads"])
def test_tables_of_roads_equal_scipys(data: Path, name: str) -> None:
    """To the bit, also with the distance of a vertex as limit; edges lead one way, so that some pairs have no path."""
    u, v = graph(data, name).without_weights().relabel(None).to_edges()
    draw = np.random.default_rng(4)
    lengths = draw.integers(0, 1000, len(u)) / 7
    G = Graph.from_edges(u, v, directed=True, weights=lengths, combine="min")
    sources, targets = draw.integers(0, G.n, 4), draw.permutation(G.n)[:60]
    # The arrays as they are: SciPy takes a stored 0 for an arc of length 0, and conversions may drop it.
    right = dijkstra(csr_array((np.asarray(G.weights), G.indices, G.indptr), shape=(G.n, G.n)), indices=sources)
    near = np.sort(right[np.isfinite(right)])
    limit = float(near[len(near) // 3])
    within = np.where(right <= limit, right, np.inf)
    assert np.isinf(right).any() and np.array_equal(hw.distance_table(G, sources, targets).values, right[:, targets])
    assert np.array_equal(hw.distance_table(G, sources, targets, limit=limit).values, within[:, targets])
    assert hw.distance_table(G, sources, limit=limit, sparse=True).values.nnz == np.isfinite(within).sum()
    values = draw.integers(0, 9, G.n).astype(float)
    sums = hw.accessibility(G, values, limit, sources=sources).sums[:, 0, 0]
    assert np.array_equal(sums, np.where(np.isfinite(within), values, 0.0).sum(1))
