"""Fuzzing of the NetworkX backend: change a graph again and again, and ask both hopwave and NetworkX about it.

hopwave keeps the converted graph with NetworkX's graph, so it must notice every change: edges and nodes that come and
go, attributes changed in place, views whose graph changes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from difference import Attempt, Difference

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
CHANGES_PER_GRAPH = 12
SIMPLE_ONLY = ("edge betweenness", "pagerank")  # not for multigraphs: parallel edges have own keys, or are added up


def change(G: Any, draw: random.Random) -> str:
    """Change a graph in one way; returns a description."""
    nodes, edges = list(G), list(G.edges)
    kind = draw.choice(("edge", "edge", "edge", "node", "cut", "cut", "drop", "weight", "weight", "forget", "many"))
    if kind == "edge":
        u, v = draw.choice(nodes), draw.choice([*nodes, len(nodes) + 50])
        G.add_edge(u, v, weight=draw.randint(1, 5))
        return f"add edge {u} {v}"
    if kind == "node":
        G.add_node(f"n{draw.randrange(9)}")
        return "add a node"
    if kind == "cut" and edges:
        edge = draw.choice(edges)
        G.remove_edge(*edge)
        return f"remove edge {edge}"
    if kind == "drop" and len(nodes) > 3:
        node = draw.choice(nodes)
        G.remove_node(node)
        return f"remove node {node}"
    if kind == "weight" and edges:
        edge = draw.choice(edges)
        G.edges[edge]["weight"] = draw.randint(1, 9)  # in place: NetworkX does not notice
        return f"weight of {edge}"
    if kind == "forget" and edges:
        edge = draw.choice(edges)
        G.edges[edge].pop("weight", None)
        return f"no weight of {edge}"
    if kind == "many":
        pairs = [(draw.choice(nodes), draw.choice(nodes)) for _ in range(4)]
        G.add_edges_from(pairs)
        return f"add edges {pairs}"
    return "nothing"


def view(G: Any, draw: random.Random) -> Any:
    """The graph itself, or a live view of it."""
    kind = draw.choice(("itself", "itself", "itself", "part", "turned"))
    if kind == "part":
        return G.subgraph(draw.sample(list(G), max(2, len(G) * 3 // 4)))
    if kind == "turned" and G.is_directed():
        return G.reverse(copy=False)
    return G


def _lengths(G: Any, draw: random.Random, **how: Any) -> Any:
    return nx.single_source_shortest_path_length(G, draw.choice(list(G)), **how)


def _dijkstra(G: Any, draw: random.Random, **how: Any) -> Any:
    return nx.single_source_dijkstra_path_length(G, draw.choice(list(G)), weight="weight", **how)


def _components(G: Any, draw: random.Random, **how: Any) -> Any:
    call = nx.weakly_connected_components if G.is_directed() else nx.connected_components
    return sorted(sorted(map(str, part)) for part in call(G, **how))


def _edges(G: Any, draw: random.Random, **how: Any) -> Any:
    found = nx.edge_betweenness_centrality(G, **how)
    return {tuple(sorted(map(str, edge))) if not G.is_directed() else edge: score for edge, score in found.items()}


QUESTIONS: dict[str, Callable[..., Any]] = {
    "betweenness": lambda G, draw, **how: nx.betweenness_centrality(G, **how),
    "weighted betweenness": lambda G, draw, **how: nx.betweenness_centrality(G, weight="weight", **how),
    "edge betweenness": _edges,
    "closeness": lambda G, draw, **how: nx.closeness_centrality(G, **how),
    "weighted closeness": lambda G, draw, **how: nx.closeness_centrality(G, distance="weight", **how),
    "harmonic": lambda G, draw, **how: nx.harmonic_centrality(G, **how),
    "lengths": _lengths,
    "dijkstra": _dijkstra,
    "all lengths": lambda G, draw, **how: {
        (s, t): d for s, row in nx.all_pairs_shortest_path_length(G, **how) for t, d in row.items()
    },
    "pagerank": lambda G, draw, **how: nx.pagerank(G, tol=1e-12, max_iter=500, **how),
    "components": _components,
}


def agree(found: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        if set(found) != set(expected):
            return False
        keys = list(expected)
        found, expected = [found[key] for key in keys], [expected[key] for key in keys]
        return bool(np.allclose(found, expected, rtol=1e-9, atol=1e-10, equal_nan=True))
    return bool(found == expected)


def try_graph(draw: random.Random) -> int:
    """Take one graph through its changes."""
    kind, n = draw.choice(KINDS), draw.randint(3, 10)
    G = kind()
    G.add_nodes_from(draw.sample(range(n), n))
    G.add_edges_from((draw.randrange(n), draw.randrange(n), {"weight": draw.randint(1, 5)}) for _ in range(2 * n))
    story = [f"{kind.__name__} {list(G)} {list(G.edges(data=True))}"]
    seen = view(G, draw)
    count = 0
    with nx.config(warnings_to_ignore={"cache"}):
        for _ in range(CHANGES_PER_GRAPH):
            story.append(change(G, draw))
            if not len(seen):
                break
            name = draw.choice(list(QUESTIONS))
            if name in SIMPLE_ONLY and G.is_multigraph():
                name = "closeness"
            state = draw.getstate()
            try:
                found = QUESTIONS[name](seen, draw, backend="hopwave")
                draw.setstate(state)
                fresh = kind(seen)  # a copy with which NetworkX keeps nothing
                expected = QUESTIONS[name](fresh, draw, backend="networkx")
            except Exception as error:
                raise Difference(f"{name} raises {type(error).__name__}: {error} after {story}") from error
            if not agree(found, expected):
                raise Difference(f"{name} found {found}, expected {expected} after {story}")
            count += 1
    return count


def inputs(draw: random.Random, folder: Path) -> Iterator[Attempt]:
    """One graph after another."""
    while True:
        yield lambda: try_graph(draw)
