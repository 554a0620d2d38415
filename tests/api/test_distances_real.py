"""Many searches on real graphs: rows and components compared with SciPy, sums compared with rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components, shortest_path
from test_real_graphs import graph

import hopwave as hw

NAMES = ["email-Enron", "cit-HepPh", "luxembourg_osm", "delaunay_n15", "wiki-Vote", "p2p-Gnutella31"]


@pytest.mark.parametrize("name", NAMES)
def test_rows_and_sums(data: Path, name: str) -> None:
    G = graph(data, name)
    chosen = np.random.default_rng(3).integers(0, G.n, 70)
    rows = hw.bfs_many(G, chosen)
    right = shortest_path(G.to_scipy(float), unweighted=True, indices=chosen[:4])
    assert np.array_equal(rows[:4], np.where(np.isinf(right), -1, right))
    counts = hw.distance_histogram(G, chosen).counts
    assert np.array_equal(counts, np.bincount(rows[rows >= 0]))
    back = hw.bfs_many(G, chosen[:9], direction="in")
    closeness = hw.closeness_centrality(G, chosen[:9], wf_improved=False).scores
    total, reached = np.where(back > 0, back, 0).sum(1), (back >= 0).sum(1)
    assert np.array_equal(closeness, np.where(total > 0, (reached - 1) / np.maximum(total, 1), 0.0))


@pytest.mark.parametrize("name", NAMES)
def test_components(data: Path, name: str) -> None:
    G = graph(data, name)
    for ask, kind in ((hw.weakly_connected_components, "weak"), (hw.strongly_connected_components, "strong")):
        count, label = connected_components(G.to_scipy(float), directed=True, connection=kind)
        found = ask(G)
        assert found.count == count
        assert len(np.unique(found.labels.astype(np.int64) * count + label)) == count


@pytest.mark.parametrize("name", ["email-Enron", "PGPgiantcompo", "ca-AstroPh"])
def test_bounds_against_all_searches(data: Path, name: str) -> None:
    G = graph(data, name)
    inside = hw.connected_components(G).largest()
    G = hw.Graph.from_scipy(G.to_scipy()[inside][:, inside])
    exact = hw.eccentricity(G).scores
    sample = np.random.default_rng(1).integers(0, G.n, 200)
    assert np.array_equal(exact[sample], hw.eccentricity(G, sample).scores)
    assert (hw.diameter(G), hw.radius(G)) == (exact.max(), exact.min())
    assert hw.center(G) == np.flatnonzero(exact == exact.min()).tolist()
    assert hw.periphery(G) == np.flatnonzero(exact == exact.max()).tolist()
