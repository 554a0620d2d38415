"""Fuzzing of `nearest_of` along lengths with fractions, beside SciPy's searches from every facility.

Both add up a path's lengths, in opposite orders: sums of h lengths differ by at most 2 (h − 1) units in the last place.
A facility may stand in another's place only if their distances differ by no more than that; any other difference, of a
distance or a facility, is an error.
"""

import random
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import hopwave as hw
from hopwave import generate
from questions import Difference
from questions.cases import LENGTHS

UNIT = 2.0**-53


def drawn_graph(draw: random.Random) -> hw.Graph:
    """A graph whose lengths give many ties by rounding, or few."""
    n, seed, directed = draw.randint(6, 300), draw.randrange(1 << 30), draw.random() < 0.5
    G = draw.choice((
        lambda: generate.delaunay(n, seed=seed),
        lambda: generate.grid(draw.randint(2, 17), draw.randint(2, 17)),
        lambda: generate.kronecker(draw.randint(3, 8), draw.randint(1, 7), seed=seed),
        lambda: generate.smallworld(n, 4, 0.1, seed=seed),
    ))()  # fmt: skip
    length = LENGTHS[draw.choice(("fractions", "random", "last bits", "tiny beside huge"))]
    ends = [(v, u) if directed and draw.random() < 0.5 else (u, v) for u, v in G.edges()]
    return hw.Graph.from_edges(ends, n=G.n, weights=[length(draw) for _ in ends], directed=directed)


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
    G, k = drawn_graph(draw), draw.randint(1, 5)
    places = np.array(sorted(draw.sample(range(G.n), min(G.n, draw.randint(1, 19)))))
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
