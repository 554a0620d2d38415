"""The number of arcs from which hopwave is faster than NetworkX: hopwave's answer to NetworkX's `should_run`.

The numbers come from benchmarks/results/networkx.md, where every function of hops is timed on graphs of 34
to 30,000 nodes: with the conversion of the graph, and on a graph that was converted before (NetworkX caches conversions
until the graph changes). With fewer arcs NetworkX runs its own code, after a few µs. The thresholds for squares and
centralities were measured on random graphs of 12 to 10,000 nodes, in CPU time, because the machine was busy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import islice
from typing import Any

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Threshold:
    """The number of arcs from which a call is faster here, with and without a conversion of the graph. None: never."""

    converting: int | None
    converted: int | None

    def why_not(self, G: Any) -> str | None:
        """None if the call should run, else why NetworkX is likely to be faster."""
        adjacency = getattr(G, "_adj", None)
        if adjacency is None or getattr(G, "__networkx_backend__", None) == "hopwave":
            return None  # hopwave's own graph, or another backend's, which NetworkX would have to convert too
        converted = conversion_of(G)
        if self.converted is None:
            return "NetworkX is likely to stop after a few steps"
        if converted is not None:
            arcs, enough, what = len(converted.out_rows[1]), self.converted, "pays on a graph that was converted before"
        elif self.converting is None:
            return "this call is less work than converting the graph"
        else:
            enough, what = self.converting, "makes up for the conversion"
            if len(adjacency) ** 2 < enough:  # counting takes as long as some calls
                return f"a graph of {len(adjacency)} nodes has fewer than the {enough} arcs from which this call {what}"
            arcs = count_arcs(adjacency)
        return None if arcs >= enough else f"{arcs} arcs are fewer than the {enough} from which this call {what}"


COUNTED = 250  # rows whose arcs are counted, a sample of all rows: some calls take NetworkX only a few µs


def count_arcs(adjacency: Any) -> int:
    """The stored arcs of a graph; estimated from every step-th row if it has many rows."""
    step = 1 + len(adjacency) // COUNTED
    return step * sum(map(len, islice(adjacency.values(), 0, None, step)))


# A search from every vertex. NetworkX's own code would dispatch each of these searches again, which takes longer.
MANY_SEARCHES = Threshold(60, 20)
STRONG = Threshold(400, 100)  # NetworkX walks depth first, vertex by vertex
ON_STRONG = Threshold(100, 60)  # as STRONG, but NetworkX's own code would dispatch each of its steps again
MEANS = Threshold(450, 200)  # one search, whose hops NetworkX adds up from lists of paths or by Dijkstra's algorithm
ONE_SEARCH = Threshold(100_000, 1_500)  # takes NetworkX as long as a conversion; the next call is 4 to 8 × faster
FOUND_BY_SEARCH = Threshold(30_000, 1_500)  # as ONE_SEARCH, but NetworkX hands on every edge through a Python generator
ONE_VERTEX = Threshold(100_000, 3_000)  # closeness or eccentricity of one vertex, by functions that answer for many
COMPONENTS = Threshold(100_000, 1_500)  # as ONE_SEARCH
LAYERS = Threshold(None, 1_500)  # as ONE_SEARCH, but NetworkX's own functions call it and stop after a few layers
LISTED_PATHS = Threshold(100_000, 3_000)  # most time goes into Python's lists of paths, in both libraries
LISTED_EDGES = Threshold(100_000, 10_000)  # as LISTED_PATHS, with more lists
PAIR_PATHS = Threshold(
    None, 10_000
)  # one search and few lists: of 180,000 arcs, conversion and call took 3.6 × as long
NEAR = Threshold(None, 3_000)  # the search ends a few hops away
NEAR_GRAPH = Threshold(None, None)  # as NEAR, and most time goes into a new graph, in both libraries
TWO_SIDES = Threshold(None, None)  # NetworkX stops at the first odd cycle, which most graphs have nearby
PAIR = Threshold(None, 100_000)  # a search from both ends looks at a few vertices
DIJKSTRA = Threshold(2_000, 0)  # NetworkX's heap is Python code; also for PageRank
DIJKSTRA_PAIR = Threshold(None, 0)
TRIANGLES = Threshold(4_000, 2_000)
SQUARES = Threshold(150, 60)  # NetworkX intersects sets
POWERS = Threshold(500, 400)  # NetworkX's rounds are Python code; a product takes at least 60 µs here
SINGULAR = Threshold(20_000, 5_000)  # NetworkX calls ARPACK; the gain is that no SciPy matrix is made
DEGREES = Threshold(None, 1_500)  # one pass over the rows, which is less than a conversion; a guess, not measured
CORES = Threshold(20_000, 20_000)  # a product of vectors per core


# ------------------------------------------------------------------ by what is asked


def by_ends(from_one: Threshold) -> Callable[[Arguments], Threshold]:
    """The threshold of a function whose ends are both, one (`from_one`) or neither given."""

    def chosen(arguments: Arguments) -> Threshold:
        ends = sum(arguments[end] is not None for end in ("source", "target"))
        along_weights = arguments["weight"] is not None
        return ((MANY_SEARCHES, DIJKSTRA, DIJKSTRA_PAIR) if along_weights else (MANY_SEARCHES, from_one, PAIR))[ends]

    return chosen


def unless_weighted(in_hops: Threshold) -> Callable[[Arguments], Threshold]:
    """The threshold of a function that counts hops (`in_hops`), or runs Dijkstra's algorithm once."""
    return lambda arguments: in_hops if arguments["weight"] is None else DIJKSTRA


def of_one_or_all(keyword: str) -> Callable[[Arguments], Threshold]:
    """The threshold of a function that answers for one vertex if this argument is a vertex, else for many."""

    def chosen(arguments: Arguments) -> Threshold:
        one = arguments[keyword]
        if one is None or not isinstance(one, Hashable) or one not in arguments["G"]:
            return MANY_SEARCHES
        in_hops = arguments.get("weight") is None and arguments.get("distance") is None
        return ONE_VERTEX if in_hops else DIJKSTRA

    return chosen


def conversion_of(G: Any) -> Any:
    """The converted graph from G's cache, or None. (The cache may also say that a conversion failed.)"""
    cache = getattr(G, "__networkx_cache__", None) or {}
    kept = cache.get("backends", {}).get("hopwave", {}).values()
    return next((one for one in kept if hasattr(one, "out_rows")), None)
