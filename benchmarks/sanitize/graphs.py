"""What the parts of sanitize.py share: the graphs on which compute-sanitizer runs, and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import hopwave as hw
from hopwave import generate
from hopwave.graph import csr

GRAPHS: dict[str, Callable[[], hw.Graph]] = {  # empty, short, long and very long rows; few levels, for few launches
    "hub": lambda: hw.Graph.from_edges(np.zeros(4999, int), np.arange(1, 5000)),
    "kronecker": lambda: generate.kronecker(8, edge_factor=8),
    "loops": lambda: hw.Graph.from_edges([0, 1, 1, 2], [0, 1, 2, 3], directed=True),
    "kronecker directed": lambda: generate.kronecker(8, edge_factor=8, directed=True),
    "one vertex": lambda: generate.path(1),
    "path of 7": lambda: generate.path(7),
}
FEW = ("hub", "kronecker", "loops")  # the graphs for each further tool, after a run without a tool on all graphs
chosen = list(GRAPHS)
repeats = [2]  # runs of a result that nothing else can check; under a tool one, since tools find races


def traps() -> dict[str, hw.Graph]:
    """The graphs of every part."""
    return {name: GRAPHS[name]() for name in chosen}


def tiny() -> dict[str, hw.Graph]:
    """The graphs of parts with long loops: racecheck does not get to the end of larger ones."""
    if len(chosen) == len(GRAPHS):
        return traps()
    return {"star": generate.star(600), "kronecker": generate.kronecker(5, edge_factor=8), "loops": GRAPHS["loops"]()}


def layers(width: int, count: int) -> hw.Graph:
    """Layers of vertices, each joined to all of the next: width^levels paths."""
    here = np.repeat(np.arange(width), width)
    there = np.tile(np.arange(width), width) + width
    steps = width * np.arange(count - 1)[:, None]
    return hw.Graph.from_edges((here + steps).ravel(), (there + steps).ravel())


def lengths(graph: hw.Graph) -> Any:
    """A weight for every arc, equal both ways, with many ties."""
    rows = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    return 1.0 + (rows + graph.indices) % 7


@contextmanager
def offsets(bits: int) -> Iterator[None]:
    """Give graphs row offsets of `bits` bits: with 64, they are searched like graphs of more than 2^31 arcs."""
    from hopwave.engines.cuda import build

    if bits == 32:
        yield
        return
    with patch.object(csr, "LARGEST_INT32_OFFSET", -1), patch.object(build, "offset_dtype", lambda arcs: np.int64):
        yield


def same(found: Any, right: Any, rtol: float = 1e-9) -> bool:
    """Whether two arrays agree up to rounding."""
    return bool(np.allclose(found, right, rtol=rtol, atol=0, equal_nan=True))


def brief(full: bool) -> None:
    """Run everything on all graphs, or each kernel on few."""
    chosen[:] = GRAPHS if full else FEW
    repeats[0] = 2 if full else 1


def repeated(computations: dict[str, Callable[[], Any]], where: str) -> Iterator[str]:
    """The names of results that differ between runs."""
    for name, compute in computations.items():
        answers = [compute().to("cpu").to_dense(-1) for _ in range(repeats[0])]
        if not all(same(answer, answers[0]) for answer in answers):
            yield f"{name} on {where}"


@contextmanager
def values_everywhere() -> Iterator[None]:
    """For initcheck: a vector's places without a value hold 0.

    Otherwise they hold anything, and CuPy's kernels copy them too. Messages about these copies do not concern hopwave's
    kernels, and would use up a process's limit on messages.
    """
    import cupy

    from hopwave.algebra.vector import Vector

    set_dense = Vector._set_dense

    def filled(self: Any, values: Any, present: Any, count: Any) -> None:
        if not isinstance(values, np.ndarray):
            given, values = values, cupy.zeros_like(values)
            values[present] = given[present]
        set_dense(self, values, present, count)

    with patch.object(Vector, "_set_dense", filled):
        yield
