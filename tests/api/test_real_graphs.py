"""Real graphs, compared with other libraries: searches with SciPy, betweenness with igraph.

The graphs are looked for in HOPWAVE_DATA, or in shared/data beside the repository; without them all is skipped.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.sparse.csgraph import breadth_first_order

import hopwave as hw
import oracle
from hopwave import Graph, validate

NAMES = [
    "luxembourg_osm",
    "delaunay_n15",
    "delaunay_n16",
    "rgg_n_2_15_s0",
    "email-Enron",
    "astro-ph",
    "cit-HepPh",
    "ca-AstroPh",
    "wiki-Vote",
    "p2p-Gnutella31",
    "ego-Facebook",
    "ego-Twitter",
    "cnr-2000",
    "threads-math-sx",
    "osm-netherlands-cities",
    "moscow-roads",
    "larval-drosophila",
    "ppi-cancer",
    "mdual",
    "PGPgiantcompo",
]
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


def hops(graph: Graph, source: int) -> npt.NDArray[np.int64]:
    """Distances from SciPy's order of visits: a vertex is one level below the vertex that found it."""
    order, predecessors = breadth_first_order(graph.to_scipy(), source, directed=True)
    place = np.zeros(graph.n, np.int64)
    place[order] = np.arange(len(order))
    found_by = place[predecessors[order[1:]]]  # ascending: vertices found first come first
    distances = np.full(graph.n, -1)
    begin, end, depth = 0, 1, 0
    while begin < end:
        distances[order[begin:end]] = depth
        begin, end, depth = end, 1 + int(np.searchsorted(found_by, end)), depth + 1
    return distances


@every_graph
def test_searches_equal_scipys(data: Path, name: str) -> None:
    G = graph(data, name)
    for source in sources(G, 3):
        right = hops(G, source)
        found = hw.bfs(G, source, device="cpu")
        assert np.array_equal(found.distances, right)
        assert validate(G, source, found.distances, found.predecessors).ok
        counted = hw.bfs(G, source, path_counts=True, device="cpu")
        assert np.array_equal(counted.distances, right)


@every_graph
def test_betweenness_equals_igraphs(data: Path, name: str) -> None:
    igraph = pytest.importorskip("igraph")
    G = graph(data, name)
    chosen = sources(G, 3)
    found = hw.betweenness_centrality(G, sources=chosen, normalized=False, device="cpu").scores
    edges = np.stack(G.to_edges(), axis=1)
    theirs = igraph.Graph(n=G.n, edges=edges[edges[:, 0] != edges[:, 1]], directed=G.directed)
    scores = np.array(theirs.betweenness(sources=chosen, directed=G.directed))
    np.testing.assert_allclose(found, scores, rtol=1e-9, atol=1e-9)


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
