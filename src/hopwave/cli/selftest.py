"""The self-test of `hopwave doctor`: every engine that runs here solves small problems with known results."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

import hopwave as hw
from hopwave import engines
from hopwave.api.validate import validate
from hopwave.graph import Graph


@dataclass(frozen=True)
class Outcome:
    """The outcome of one check on one engine; `passed` is None if the engine cannot run here, and `note` says why."""

    engine: str
    check: str
    passed: bool | None
    note: str = ""


def two_parts() -> Graph:
    """Two triangles, a self-loop and an isolated vertex, so that a search does not reach every vertex."""
    return Graph.from_edges([0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 0], n=7)


SEARCHES: dict[str, Callable[[], Graph]] = {
    "a Kronecker graph": lambda: hw.generate.kronecker(scale=9, edge_factor=8, seed=1),
    "a directed R-MAT graph": lambda: hw.generate.rmat(scale=8, edge_factor=4, seed=1),
    "a grid": lambda: hw.generate.grid(20, 20),
    "two components": two_parts,
}


def names() -> list[str]:
    """All engines of this version of hopwave, whether they run here or not."""
    return [name for name in engines.NAMES if importlib.util.find_spec(f"hopwave.engines.{name}") is not None]


def run() -> Iterator[Outcome]:
    """Run every check on every engine."""
    for engine in names():
        try:
            engines.engine(engine)
        except hw.EngineError as error:
            yield Outcome(engine, "start", None, str(error))
            continue
        except Exception as error:
            yield Outcome(engine, "start", False, f"{type(error).__name__}: {error}")
            continue
        for check, make in SEARCHES.items():
            yield _outcome(engine, f"search {check}", _search, make)
        yield _outcome(engine, "count paths", _count_paths)
        yield _outcome(engine, "betweenness", _betweenness)


def total() -> int:
    """The greatest number of outcomes that `run` can give."""
    return len(names()) * (len(SEARCHES) + 2)


def _outcome(engine: str, name: str, check: Callable[..., str], *arguments: Any) -> Outcome:
    """The outcome of a check, which returns "" or what is wrong. An exception counts as a failure."""
    try:
        wrong = check(engine, *arguments)
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"
    return Outcome(engine, name, not wrong, wrong)


def _search(engine: str, make: Callable[[], Graph]) -> str:
    graph = make()
    result = hw.bfs(graph, 0, device=engine)
    return "; ".join(validate(graph, 0, result.distances, result.predecessors).failures)


def _count_paths(engine: str) -> str:
    """C(2k − 2, k − 1) shortest paths join opposite corners of a k × k grid, and 2^k lead through k diamonds."""
    across = hw.bfs(hw.generate.grid(12, 12), 0, path_counts=True, device=engine).path_counts
    along = hw.bfs(hw.generate.diamonds(40), 0, path_counts=True, device=engine).path_counts
    found = (float(across[-1]), float(along[-1]))  # type: ignore[index]
    expected = (float(comb(22, 11)), 2.0**40)
    return "" if found == expected else f"counted {found} paths, expected {expected}"


def _betweenness(engine: str) -> str:
    """On a path of five vertices, these lie between 0, 3, 4, 3 and 0 pairs."""
    scores = hw.betweenness_centrality(hw.generate.path(5), normalized=False, device=engine).scores
    return (
        "" if np.allclose(scores, [0, 3, 4, 3, 0]) else f"found {np.asarray(scores).tolist()}, expected [0, 3, 4, 3, 0]"
    )
