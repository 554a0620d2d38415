"""The public questions, found by themselves, and the arguments that they are asked with.

A public function of hopwave is a question if its first argument is a graph. It is called as f(graph) unless ARGUMENTS
names more; one that needs more and is not named there fails in tests/house. Questions whose work grows with n · m are
asked of SMALL graphs, those that search until bounds meet of MIDDLE ones, and those about arcs that lead one way of an
acyclic orientation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.setting import generate, giant_sources, hw
from hopwave.prepared import Structure

NOT_QUESTIONS = {
    "estimate_memory": "says what another question would take",
    "read": "reads a file: files.md has its times",
    "write": "writes a file: files.md has its times",
    "plan": "is about plans, not about a graph",
}
SMALL = {
    "average_shortest_path_length", "barycenter", "distance_blocks", "global_efficiency",
    "group_betweenness_centrality", "load_centrality", "local_efficiency", "percolation_centrality",
    "square_clustering", "stress_centrality", "wiener_index",
}  # fmt: skip
DIRECTED = {
    "condensation", "in_degree_centrality", "is_directed_acyclic_graph", "is_strongly_connected",
    "out_degree_centrality", "strongly_connected_components", "topological_order",
}  # fmt: skip
WEIGHTED = {"nearest", "sssp", "sssp_each", "sssp_many"}
MIDDLE = {"center", "diameter", "periphery", "radius"}
KEPT = {
    "connected_components", "is_connected", "is_strongly_connected", "is_weakly_connected",
    "strongly_connected_components", "weakly_connected_components",
}  # fmt: skip
LIVES_THERE = {"validate"}  # runs where the graph is, and not where device= says
SEVERAL = {"all_shortest_paths", "bfs_each", "distance_blocks", "sssp_each"}  # iterators
MOST = 1000  # items that are asked for: a mesh has more shortest paths than anyone can list
GRAPHS: dict[str, Callable[[int], hw.Graph]] = {
    "kron": lambda scale: generate.kronecker(scale, 16, seed=1),
    "delaunay": lambda scale: generate.delaunay(1 << scale, seed=1),
}


@dataclass
class Case:
    """One of the two graphs, small and large, and what is derived from it; each is made when it is first needed."""

    name: str
    scale: int = 18
    middle_scale: int = 14
    small_scale: int = 11
    folder: Path | None = None  # where graphs are kept for other processes

    @cached_property
    def large(self) -> hw.Graph:
        return self.made(self.scale)

    @cached_property
    def middle(self) -> hw.Graph:
        return self.made(self.middle_scale)

    @cached_property
    def small(self) -> hw.Graph:
        return self.made(self.small_scale)

    def made(self, scale: int) -> hw.Graph:
        file = self.folder and self.folder / f"{self.name}{scale}.npz"
        if file and file.exists():
            return hw.read(file, progress=False)
        graph = GRAPHS[self.name](scale).largest_component().relabel(None)
        if file:
            hw.write(file, graph)
        return graph

    @cached_property
    def one_way(self) -> hw.Graph:
        """Every edge from its lower to its higher end."""
        tail, head = self.large.remove_self_loops().to_edges()
        return hw.Graph.from_edges(tail, head, self.large.n, directed=True)

    @cached_property
    def weighted(self) -> hw.Graph:
        """Lengths from 1 to 255, a hash of the ends."""
        G = self.large
        tail = np.repeat(np.arange(G.n, dtype=np.uint64), G.degrees)
        low, high = np.minimum(tail, G.indices), np.maximum(tail, G.indices)
        mixed = low.astype(np.uint64) * np.uint64(2654435761) + high.astype(np.uint64) * np.uint64(40503)
        return G.with_weights((mixed % np.uint64(255) + np.uint64(1)).astype(np.float32))

    @cached_property
    def grid(self) -> hw.Graph:
        return generate.grid(1 << self.scale // 2, 1 << self.scale // 2)

    @cached_property
    def sources(self) -> list[int]:
        return giant_sources(self.large, 64)

    @cached_property
    def search(self) -> hw.BFSResult:
        return hw.bfs(self.large, self.sources[0])

    @cached_property
    def communities(self) -> Any:
        return hw.connected_components(self.large, device="cpu")

    def graph(self, question: str) -> hw.Graph:
        """The graph that this question is asked of."""
        if question == "bipartite_sides":
            return self.grid
        if question in SMALL or question in MIDDLE:
            return self.small if question in SMALL else self.middle
        return self.one_way if question in DIRECTED else self.weighted if question in WEIGHTED else self.large


# What a question is asked with beside the graph: in words, and as arguments.
ARGUMENTS: dict[str, tuple[str, Callable[[Case], dict[str, Any]]]] = {
    "all_shortest_paths": ("the first 1,000", lambda c: {"source": c.sources[0], "target": c.sources[1]}),
    "betweenness_centrality": ("64 sources", lambda c: {"sources": c.sources}),
    "bfs": ("", lambda c: {"source": c.sources[0]}),
    "bfs_each": ("16 sources", lambda c: {"sources": c.sources[:16]}),
    "bfs_many": ("64 sources", lambda c: {"sources": c.sources}),
    "closeness_centrality": ("256 sources", lambda c: {"sources": range(min(256, c.large.n))}),
    "accessibility": ("hops, 2, 64 sources", lambda c: {"limit": 2, "weights": False, "sources": c.sources}),
    "distance_table": ("64 × 64", lambda c: {"sources": c.sources, "targets": c.sources}),
    "isochrone": ("2 hops", lambda c: {"source": c.sources[0], "limits": 2, "weights": False}),
    "nearest_of": ("64 facilities", lambda c: {"facilities": c.sources}),
    "distance_histogram": ("256 sources", lambda c: {"sources": range(min(256, c.large.n))}),
    "eccentricity": ("256 vertices", lambda c: {"vertices": range(min(256, c.large.n))}),
    "edge_betweenness_centrality": ("16 sources", lambda c: {"sources": c.sources[:16]}),
    "eigenvector_centrality": ("tol = 10⁻⁴", lambda c: {"max_iter": 1000, "tol": 1e-4}),
    "group_betweenness_centrality": ("3 vertices", lambda c: {"group": [1, 2, 3]}),
    "group_closeness_centrality": ("3 vertices", lambda c: {"group": [1, 2, 3]}),
    "harmonic_centrality": ("256 sources", lambda c: {"sources": range(min(256, c.large.n))}),
    "has_path": ("two vertices", lambda c: {"source": c.sources[0], "target": c.sources[1]}),
    "hyperball": ("2 runs", lambda c: {"runs": 2, "seed": 1}),
    "k_hop": ("2 hops", lambda c: {"vertex": c.sources[0], "k": 2}),
    "katz_centrality": ("α = 10⁻⁴", lambda c: {"alpha": 1e-4}),
    "label_propagation": ("", lambda c: {"seed": 1}),
    "maximal_independent_set": ("", lambda c: {"seed": 1}),
    "modularity": ("components", lambda c: {"communities": c.communities}),
    "k_shortest_paths": ("8 paths", lambda c: {"source": c.sources[0], "target": c.sources[1], "k": 8}),
    "shortest_paths": ("64 pairs", lambda c: {"pairs": [(c.sources[0], v) for v in c.sources]}),
    "nearest": ("100 vertices", lambda c: {"source": c.sources[0], "k": 100}),
    "pairs_within": ("2 hops, 64 sources", lambda c: {"d": 2, "sources": c.sources}),
    "shortest_path": ("two vertices", lambda c: {"source": c.sources[0], "target": c.sources[1]}),
    "sssp": ("", lambda c: {"source": c.sources[0]}),
    "sssp_each": ("4 sources", lambda c: {"sources": c.sources[:4]}),
    "sssp_many": ("16 sources", lambda c: {"sources": c.sources[:16]}),
    "validate": (
        "a search",
        lambda c: {
            "sources": c.sources[0],
            "distances": c.search.distances,
            "predecessors": c.search.predecessors,
        },
    ),
}
# Methods that rearrange a whole graph, beside the functions; the graph lives on the device.
METHODS: dict[str, Callable[[Case, str], Callable[[], Any]]] = {
    "Graph.subgraph": lambda c, device: partial(c.large.to(device).subgraph, np.arange(0, c.large.n, 2)),
    "Graph.to_undirected": lambda c, device: c.one_way.to(device).to_undirected,
    "generate.kronecker": lambda c, device: partial(generate.kronecker, c.scale, 16, seed=1),
    "shortest_path, weights": lambda c, device: partial(
        hw.shortest_path, c.weighted, c.sources[0], c.sources[1], device=device
    ),
}


def questions() -> list[str]:
    """The names of all public functions that ask something of a graph."""
    public = ((name, getattr(hw, name)) for name in hw.__all__)
    return sorted(
        name
        for name, function in public
        if inspect.isfunction(function) and name not in NOT_QUESTIONS and len(inspect.signature(function).parameters)
    )


def missing_arguments(question: str) -> list[str]:
    """What must be given beside the graph and is not in ARGUMENTS."""
    parameters = list(inspect.signature(getattr(hw, question)).parameters.values())[1:]
    needed = [one.name for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    return needed if question not in ARGUMENTS else []


def call(question: str, case: Case, device: str) -> Callable[[], Any] | None:
    """What asks the question; None if it does not run on that device."""
    if question in METHODS:
        return METHODS[question](case, device)
    function = getattr(hw, question)
    given = ARGUMENTS[question][1](case) if question in ARGUMENTS else {}
    parameters = inspect.signature(function).parameters
    if "device" in parameters:
        given["device"] = device
    elif device != "cpu" and question not in LIVES_THERE:
        return None
    if "progress" in parameters:
        given["progress"] = False
    graph = case.graph(question)
    if question in LIVES_THERE:
        graph = graph.to(device)

    def ask() -> Any:
        if question in KEPT:
            graph._prepared.record(Structure).components.clear()
        answer = function(graph, **given)
        return list(islice(answer, MOST)) if question in SEVERAL else answer

    return ask


def size(question: str, case: Case) -> tuple[int, int]:
    """Vertices and arcs of the graph that a question is asked of."""
    graph = case.large if question in METHODS else case.graph(question)
    return graph.n, graph.m
