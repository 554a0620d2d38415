"""The graphs on which compute-sanitizer watches (sanitize_parts.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hopwave as hw
from hopwave import generate

GRAPHS: dict[str, Callable[[], hw.Graph]] = {  # none, short, long and very long rows; few levels, for few launches
    "hub": lambda: hw.Graph.from_edges(np.zeros(4999, int), np.arange(1, 5000)),
    "kronecker": lambda: generate.kronecker(8, edge_factor=8),
    "loops": lambda: hw.Graph.from_edges([0, 1, 1, 2], [0, 1, 2, 3], directed=True),
    "kronecker directed": lambda: generate.kronecker(8, edge_factor=8, directed=True),
    "one vertex": lambda: generate.path(1),
    "path of 7": lambda: generate.path(7),
}
FEW = ("hub", "kronecker", "loops")  # for racecheck, which takes longest
chosen = list(GRAPHS)


def traps() -> dict[str, hw.Graph]:
    """The graphs of every part."""
    return {name: GRAPHS[name]() for name in chosen}


def layers(width: int, count: int) -> hw.Graph:
    """Layers of vertices, each joined to all of the next: width^levels paths."""
    here = np.repeat(np.arange(width), width)
    there = np.tile(np.arange(width), width) + width
    steps = width * np.arange(count - 1)[:, None]
    return hw.Graph.from_edges((here + steps).ravel(), (there + steps).ravel())


def lengths(graph: hw.Graph) -> Any:
    """A weight for every arc, the same both ways, with many ties."""
    rows = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    return 1.0 + (rows + graph.indices) % 7
