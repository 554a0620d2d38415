"""Small graphs that need no network: two famous ones as files, and two that our generators make when asked."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from hopwave import generate, io
from hopwave.datasets import collection
from hopwave.errors import GraphError
from hopwave.generate import counter
from hopwave.graph import Graph

BLOCK = 100.0  # metres between two crossings of `road`
DISPLACED = 30.0  # metres by which a crossing is moved, at most, along each axis


def names() -> tuple[str, ...]:
    """The names that `load` knows.

    See Also
    --------
    load, published

    Examples
    --------
    >>> names()
    ('karate', 'les-miserables', 'mesh', 'road')
    """
    return tuple(_GRAPHS)


def load(name: str) -> Graph:
    """A small graph by its name. No network is needed.

    - karate: 34 members of a karate club and their 78 friendships (W. W. Zachary, "An information flow model for
      conflict and fission in small groups", Journal of Anthropological Research 33, 1977).
    - les-miserables: 77 characters of the novel, as labels; the weight of an edge is the number of chapters in which
      both appear (D. E. Knuth, The Stanford GraphBase, 1993).
    - mesh: the Delaunay triangulation of 1,000 random points.
    - road: about 1,200 crossings of a made-up town and its streets; the weights are lengths in metres.

    Parameters
    ----------
    name : str
        One of `names()`.

    Raises
    ------
    GraphError
        The name is unknown; the nearest known names are given.

    See Also
    --------
    names, fetch

    Examples
    --------
    >>> load("les-miserables")
    Graph(77 vertices, 254 edges, undirected, weighted, labelled)
    >>> load("carate")
    Traceback (most recent call last):
    hopwave.errors.GraphError: 'carate' is not a graph that ships with hopwave; the nearest names: 'karate'
    """
    if name in _GRAPHS:
        return _GRAPHS[name]()
    if (entry := collection.find(name)) is not None:
        raise GraphError(f"{name!r} does not ship with hopwave; download it with datasets.fetch({entry.name!r})")
    near = get_close_matches(str(name), names(), 3, 0.5)
    found = f"the nearest names: {', '.join(map(repr, near))}" if near else f"use one of {', '.join(names())}"
    raise GraphError(f"{name!r} is not a graph that ships with hopwave; {found}")


def _from_file(name: str, **options: Any) -> Graph:
    return io.read(Path(__file__).with_name(name), progress=False, **options)


def _road() -> Graph:
    """Crossings on a grid, moved a little, so that streets differ in length; some streets are missing."""
    rows, columns = 30, 40
    streets = generate.grid(rows, columns, missing=0.15, seed=1)
    across = np.arange(streets.n) % columns * BLOCK
    along = np.arange(streets.n) // columns * BLOCK
    across = across + DISPLACED * (2 * counter.fractions(1, "datasets.road.x", 0, streets.n) - 1)
    along = along + DISPLACED * (2 * counter.fractions(1, "datasets.road.y", 0, streets.n) - 1)
    source, target = np.repeat(np.arange(streets.n), np.diff(streets.indptr)), streets.indices
    lengths = np.sqrt((across[source] - across[target]) ** 2 + (along[source] - along[target]) ** 2)
    return streets.with_weights(np.round(lengths, 1)).largest_component().relabel(None)


_GRAPHS: dict[str, Callable[[], Graph]] = {
    "karate": lambda: _from_file("karate.mtx"),
    "les-miserables": lambda: _from_file("les-miserables.tsv", header=True, weight="chapters", directed=False),
    "mesh": lambda: generate.delaunay(1000, seed=1),
    "road": _road,
}
