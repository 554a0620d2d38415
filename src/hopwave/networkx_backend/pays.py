"""From how many arcs on a call is faster here than in NetworkX: hopwave's answer to NetworkX's `should_run`.

The numbers come from benchmarks/results/small-calls-networkx.md, where every function of hops is timed on graphs of 34
to 30,000 nodes: with the conversion of the graph, and on a graph that was converted before (NetworkX keeps what was
converted until the graph changes). Below them NetworkX runs its own code, some µs later. Those for squares and
centralities were measured on random graphs of 12 to 10,000 nodes, in CPU time, since the machine was busy.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import islice
from typing import Any

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Pays:
    """The arcs from which a call gains: if the graph must be converted first, and if it need not be. None: never."""

    converting: int | None
    converted: int | None

    def why_not(self, G: Any) -> str | None:
        """None if the call should run, else why NetworkX is likely to be faster."""
        adjacency = getattr(G, "_adj", None)
        if adjacency is None or getattr(G, "__networkx_backend__", None) == "hopwave":
            return None  # hopwave's own graph, or another backend's, which would have to be converted for NetworkX too
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


COUNTED = 250  # rows of neighbours; more are estimated by these, since some calls take NetworkX a few microseconds


def count_arcs(adjacency: Any) -> int:
    """The stored arcs of a graph; if it has many rows, estimated by every so many of them."""
    step = 1 + len(adjacency) // COUNTED
    return step * sum(map(len, islice(adjacency.values(), 0, None, step)))


# From every vertex. What is left to NetworkX here dispatches every one of its searches anew, which takes longer.
MANY_SEARCHES = Pays(60, 20)
STRONG = Pays(400, 100)  # NetworkX walks depth first, vertex by vertex
ON_STRONG = Pays(100, 60)  # the same, and what is left to NetworkX dispatches each of its steps anew
MEANS = Pays(450, 200)  # one search, whose hops NetworkX adds up from lists of paths or by Dijkstra's algorithm
ONE_SEARCH = Pays(100_000, 1_500)  # takes NetworkX as long as a conversion; the next call is 4 to 8 × faster
FOUND_BY_SEARCH = Pays(30_000, 1_500)  # the same, and NetworkX hands on every edge through a Python generator
ONE_VERTEX = Pays(100_000, 3_000)  # closeness or eccentricity of one vertex, by functions that answer for many
COMPONENTS = Pays(100_000, 1_500)  # as one search
LAYERS = Pays(None, 1_500)  # the same, but NetworkX's own functions call them and stop after a few layers
LISTED_PATHS = Pays(100_000, 3_000)  # the time goes into Python's lists of paths, here and there
LISTED_EDGES = Pays(100_000, 10_000)  # the same, of more lists
PAIR_PATHS = Pays(None, 10_000)  # one search and few lists: of 180,000 arcs, conversion and call took 3.6 × as long
NEAR = Pays(None, 3_000)  # the search ends a few hops away
NEAR_GRAPH = Pays(None, None)  # the same; the time goes into a new graph, here and there
TWO_SIDES = Pays(None, None)  # most graphs have two colours only as far as the first odd cycle, where NetworkX stops
PAIR = Pays(None, 100_000)  # a search from both ends looks at a few vertices
DIJKSTRA = Pays(2_000, 0)  # NetworkX's heap is Python's; also PageRank
DIJKSTRA_PAIR = Pays(None, 0)
TRIANGLES = Pays(4_000, 2_000)
SQUARES = Pays(150, 60)  # NetworkX intersects sets
POWERS = Pays(500, 400)  # NetworkX's rounds are Python's; a product of vectors takes 60 µs at least
SINGULAR = Pays(20_000, 5_000)  # NetworkX calls ARPACK; what it saves here is making a SciPy matrix
CORES = Pays(20_000, 20_000)  # a product of vectors per core

BY_NAME = {
    **dict.fromkeys(("single_source_shortest_path_length", "single_target_shortest_path_length", "sets"), ONE_SEARCH),
    **dict.fromkeys(
        (
            "generic_bfs_edges", "bfs_edges", "bfs_tree", "bfs_predecessors", "bfs_successors", "descendants",
            "ancestors",
        ),
        FOUND_BY_SEARCH,
    ),
    **dict.fromkeys(("single_source_shortest_path", "single_target_shortest_path", "predecessor"), LISTED_PATHS),
    **dict.fromkeys(
        (
            "bfs_labeled_edges", "single_source_all_shortest_paths", "all_pairs_all_shortest_paths",
        ),
        LISTED_EDGES,
    ),
    "all_shortest_paths": PAIR_PATHS,
    "bfs_layers": LAYERS,
    **dict.fromkeys(("color", "is_bipartite"), TWO_SIDES),
    "descendants_at_distance": NEAR,
    "ego_graph": NEAR_GRAPH,
    **dict.fromkeys(("bidirectional_shortest_path", "has_path", "efficiency"), PAIR),
    **dict.fromkeys(
        (
            "connected_components", "number_connected_components", "is_connected", "node_connected_component",
            "weakly_connected_components", "number_weakly_connected_components", "is_weakly_connected",
        ),
        COMPONENTS,
    ),
    **dict.fromkeys(
        (
            "strongly_connected_components", "number_strongly_connected_components", "is_strongly_connected",
            "condensation",
        ),
        STRONG,
    ),
    **dict.fromkeys(
        ("attracting_components", "number_attracting_components", "is_attracting_component", "is_semiconnected"),
        ON_STRONG,
    ),
    **dict.fromkeys(
        (
            "multi_source_dijkstra", "multi_source_dijkstra_path", "multi_source_dijkstra_path_length",
            "single_source_dijkstra", "single_source_dijkstra_path", "single_source_dijkstra_path_length",
            "dijkstra_predecessor_and_distance", "pagerank",
        ),
        DIJKSTRA,
    ),
    **dict.fromkeys(("dijkstra_path", "dijkstra_path_length", "bidirectional_dijkstra"), DIJKSTRA_PAIR),
    **dict.fromkeys(("group_closeness_centrality", "local_reaching_centrality"), MEANS),
    **dict.fromkeys(("eigenvector_centrality", "katz_centrality"), POWERS),
    "hits": SINGULAR,
    "triangles": TRIANGLES,
    "square_clustering": SQUARES,
    "core_number": CORES,
}  # fmt: skip


BY_ARGUMENTS = {  # whose record depends on what is asked
    "shortest_path", "shortest_path_length", "all_shortest_paths", "single_source_all_shortest_paths",
    "closeness_centrality", "eccentricity",
}  # fmt: skip


def pays(name: str, arguments: Arguments) -> Pays:
    """The record for a call: by what is asked, for functions that answer for one vertex, for a pair or for all."""
    along_weights = arguments.get("weight") is not None
    if name in ("shortest_path", "shortest_path_length"):
        ends = [arguments[end] for end in ("source", "target") if arguments[end] is not None]
        listed = LISTED_PATHS if name == "shortest_path" else ONE_SEARCH
        by_ends = (MANY_SEARCHES, DIJKSTRA, DIJKSTRA_PAIR) if along_weights else (MANY_SEARCHES, listed, PAIR)
        return by_ends[len(ends)]
    if along_weights and name in ("all_shortest_paths", "single_source_all_shortest_paths"):
        return DIJKSTRA
    one = arguments.get({"closeness_centrality": "u", "eccentricity": "v"}.get(name, ""))
    if one is not None and isinstance(one, Hashable) and one in arguments["G"]:
        return DIJKSTRA if along_weights or arguments.get("distance") is not None else ONE_VERTEX
    return BY_NAME.get(name, MANY_SEARCHES)


def conversion_of(G: Any) -> Any:
    """What G was converted to, from its cache, or None. (NetworkX also notes there that a conversion failed.)"""
    cache = getattr(G, "__networkx_cache__", None) or {}
    kept = cache.get("backends", {}).get("hopwave", {}).values()
    return next((one for one in kept if hasattr(one, "out_rows")), None)
