"""The self-test of `hopwave doctor`: every engine that runs here searches small graphs whose answers are known."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

import hopwave as hw
from hopwave import engines
from hopwave.graph import Graph
from hopwave.validate import validate


@dataclass(frozen=True)
class Outcome:
    """How one check went on one engine; `passed` is None where the engine cannot run here, and `note` says why."""

    engine: str
    check: str
    passed: bool | None
    note: str = ""


def two_parts() -> Graph:
    """Two triangles, a loop, and a vertex of its own: not everything is reached."""
    return Graph.from_edges([0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 0], n=7)


SEARCHES: dict[str, Callable[[], Graph]] = {
    "a Kronecker graph": lambda: hw.generate.kronecker(scale=9, edge_factor=8, seed=1),
    "a directed R-MAT graph": lambda: hw.generate.rmat(scale=8, edge_factor=4, seed=1),
    "a grid": lambda: hw.generate.grid(20, 20),
    "two components": two_parts,
}


def names() -> list[str]:
    """The engines that this version of hopwave has, whether or not they run here."""
    return [name for name in engines.NAMES if importlib.util.find_spec(f"hopwave.engines.{name}") is not None]


def run() -> Iterator[Outcome]:
    """Every check on every engine, one after the other."""
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
        if engine != "reference":  # which searches only
            yield _outcome(engine, "betweenness", _betweenness)


def total() -> int:
    """At most so many outcomes."""
    return len(names()) * (len(SEARCHES) + 2)


def _outcome(engine: str, name: str, check: Callable[..., str], *arguments: Any) -> Outcome:
    """A check answers "" or what is wrong; what it raises is wrong too: a broken install must not stop the report."""
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
    """From corner to corner of a k × k grid lead C(2k − 2, k − 1) shortest paths, through k diamonds 2^k."""
    across = hw.bfs(hw.generate.grid(12, 12), 0, path_counts=True, device=engine).path_counts
    along = hw.bfs(hw.generate.diamonds(40), 0, path_counts=True, device=engine).path_counts
    found = (float(across[-1]), float(along[-1]))  # type: ignore[index]
    expected = (float(comb(22, 11)), 2.0**40)
    return "" if found == expected else f"counted {found} paths, expected {expected}"


def _betweenness(engine: str) -> str:
    """On a path of five, 0, 3, 4, 3, 0 pairs are parted by each vertex."""
    scores = hw.betweenness_centrality(hw.generate.path(5), normalized=False, device=engine).scores
    return (
        "" if np.allclose(scores, [0, 3, 4, 3, 0]) else f"found {np.asarray(scores).tolist()}, expected [0, 3, 4, 3, 0]"
    )
