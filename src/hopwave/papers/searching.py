"""Searches from several sources, level by level: what Hiragushi's, XBFS's and push-pull's studies share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from statistics import median
from typing import Any

import hopwave as hw
from hopwave.graph import Graph
from hopwave.papers.lab import Lab, WrongAnswer, check_search
from hopwave.planning.plan import Plan

Levels = list[Any]  # the records of one search, hopwave.planning.trace.Level
Search = Callable[[int], tuple[Levels, Any]]  # source → levels and distances


def verified(lab: Lab, graph: Graph, count: int) -> tuple[list[int], list[Any]]:
    """Sources in the largest component, and their distances by hopwave's own plan; the first are checked by arrays."""
    sources = lab.sources(graph, count)
    right = [hw.bfs(graph, source, predecessors=False, device=lab.device).distances for source in sources]
    check_search(graph, right[0], None, sources[0])
    return sources, right


def searcher(lab: Lab, graph: Graph, plan: str | Plan, predecessors: bool = False) -> Search:
    """A function that searches by a plan and returns the levels and the distances."""

    def search(source: int) -> tuple[Levels, Any]:
        found = hw.bfs(graph, source, plan=plan, device=lab.device, predecessors=predecessors, trace=True)
        return list(found.trace or ()), found.distances

    return search


def in_turn(
    lab: Lab, searches: Mapping[str, Search], sources: Iterable[int], right: Iterable[Any]
) -> dict[str, list[Levels]]:
    """The levels of every search, by the name of its way; from fewer sources if the time granted is used up.

    From each source all ways search in turn, since levels include the host's time between launches, which drifts. The
    first search of each way, which may compile, is not counted. Every distance is compared.
    """
    sources = list(sources)
    for search in searches.values():
        search(sources[0])
    runs: dict[str, list[Levels]] = {name: [] for name in searches}
    for source, expected in zip(sources, right, strict=True):
        for name, search in searches.items():
            levels, distances = search(source)
            if not bool((distances == expected).all()):
                raise WrongAnswer(f"{name} is wrong from {source}; please report this")
            runs[name].append(levels)
        if time.perf_counter() > lab.until:
            break
    return runs


def ms_of(levels: Levels, direction: str = "") -> float:
    """Milliseconds inside levels, or inside those of one direction; by the GPU's clock on a GPU."""
    return 1e3 * float(sum(level.seconds for level in levels if direction in ("", level.direction)))


def median_ms(runs: Iterable[Levels], direction: str = "") -> float:
    """The median over searches."""
    return median(ms_of(levels, direction) for levels in runs)
