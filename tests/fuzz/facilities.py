"""Fuzzing of `nearest_of` along lengths with fractions, beside SciPy's searches from every facility.

Both add up a path's lengths, in opposite orders: sums of h lengths differ by at most 2 (h − 1) units in the last place.
A facility may stand in another's place only if their distances differ by no more than that; any other difference, of a
distance or a facility, is an error.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import hopwave as hw
from hopwave import generate
from questions import Difference

UNIT = 2.0**-53


def drawn_graph(rng: Any) -> hw.Graph:
    """A graph whose lengths give many ties by rounding, or few."""
    n, seed = int(rng.integers(2, 300)), int(rng.integers(1 << 30))
    G = (
        lambda: generate.delaunay(max(n, 3), seed=seed),
        lambda: generate.grid(int(rng.integers(2, 18)), int(rng.integers(2, 18))),
        lambda: generate.kronecker(int(rng.integers(3, 9)), int(rng.integers(1, 8)), seed=seed),
        lambda: generate.smallworld(max(n, 6), 4, 0.1, seed=seed),
    )[rng.integers(4)]()
    u, v = G.to_edges()
    lengths = (
        lambda: rng.integers(1, 4, len(u)) * 0.1,
        lambda: rng.random(len(u)) + 1e-9,
        lambda: np.full(len(u), 0.3),
        lambda: 10.0 ** rng.integers(-8, 8, len(u)),
    )[rng.integers(4)]()
    directed = bool(rng.integers(2))
    turned = (rng.random(len(u)) < 0.5) & directed
    return hw.Graph.from_edges(
        np.where(turned, v, u), np.where(turned, u, v), n=G.n, weights=lengths, directed=directed
    )


def hops_of(distances: Any, before: Any) -> Any:
    """How many arcs each shortest path has, by SciPy's predecessors."""
    hops = np.zeros(distances.shape, np.int64)
    for row, parent, found in zip(distances, before, hops, strict=True):
        for v in np.argsort(row, kind="stable"):
            if parent[v] >= 0:
                found[v] = found[parent[v]] + 1
    return hops


def inputs(draw: random.Random, folder: Path) -> int:
    """The nearest facilities of every vertex of one graph; returns how many places were compared."""
    rng = np.random.default_rng(draw.randrange(1 << 62))
    G, k = drawn_graph(rng), int(rng.integers(1, 6))
    places = np.sort(rng.choice(G.n, min(G.n, int(rng.integers(1, 20))), replace=False))
    away = csr_array((np.asarray(G.weights), G.indices, G.indptr), shape=(G.n, G.n))
    direction = draw.choice(("out", "in"))
    into, before = dijkstra(away.T if direction == "out" else away, indices=places, return_predecessors=True)
    result = hw.nearest_of(G, places, k=k, direction=direction)
    order = np.argsort(into, axis=0, kind="stable")[:k].T  # the k nearest of every vertex, by SciPy
    due = np.take_along_axis(into.T, order, 1)
    found, ids = result.distances[:, : order.shape[1]], result.ids[:, : order.shape[1]]
    about = f"{G} {G.to_edges()} {np.asarray(G.weights).tolist()} {places.tolist()} k={k} {direction}"
    reached = np.isfinite(due)
    if not np.array_equal(reached, np.isfinite(found)) or not np.array_equal(reached, ids >= 0):
        raise Difference(f"other vertices are reached: {about}")
    own = np.searchsorted(places, np.where(reached, ids, places[0]))
    rows = np.arange(G.n)[:, None]
    most = hops_of(into, before)
    # of both facilities, the one that hopwave names and the one that SciPy has at this place
    slack = 2 * UNIT * np.maximum(most[own, rows], most[order, rows]) * np.where(reached, due, 0.0) * (1 + 1e-9)
    for what, other in (("the distance of its facility", into[own, rows]), ("the distance of this place", due)):
        wrong = reached & (np.abs(np.where(reached, found - np.where(reached, other, 0), 0)) > slack)
        if wrong.any():
            raise Difference(f"{np.argwhere(wrong)[:3].tolist()}: not {what}: {about}")
    if any(len(set(row[there])) < there.sum() for row, there in zip(ids, reached, strict=True)):
        raise Difference(f"a facility stands twice: {about}")
    return int(reached.sum())
