"""Questions beside searches, under compute-sanitizer (parts.py)."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import networkx as nx
import numpy as np
from scipy.sparse.csgraph import connected_components

import hopwave as hw
from benchmarks.sanitize.graphs import lengths, same, traps
from hopwave.api.validate import validate


def structure() -> Iterator[str]:
    """Strong components, sides, cores, triangles, independent sets, communities."""
    for where, graph in traps().items():
        right = connected_components(graph.to_scipy(), directed=graph.directed, connection="strong")[0]
        if hw.strongly_connected_components(graph, device="cuda").count != right:
            yield f"strong components of {where}"
        plain = graph.remove_self_loops().to_networkx()
        loops = graph.m > graph.remove_self_loops().m
        if hw.is_bipartite(graph, device="cuda") != (nx.is_bipartite(plain) and not loops):
            yield f"sides of {where}"
        cores = nx.core_number(plain)
        if hw.core_numbers(graph, device="cuda").scores.tolist() != [cores[v] for v in range(graph.n)]:
            yield f"cores of {where}"
        if graph.directed:
            continue
        triangles = nx.triangles(plain)
        if hw.triangles(graph, device="cuda").scores.tolist() != [triangles[v] for v in range(graph.n)]:
            yield f"triangles of {where}"
        chosen = set(hw.maximal_independent_set(graph, seed=1, device="cuda").tolist())
        if any((set(plain[v]) & chosen != set()) == (v in chosen) for v in plain):
            yield f"independent set of {where}"
        if len(hw.label_propagation(graph, seed=1, max_rounds=3, device="cuda").labels) != graph.n:
            yield f"communities of {where}"


def made_of_arcs() -> Iterator[str]:
    """Subgraphs, graphs without directions, validation, paths between two vertices, tables along weights."""
    for where, graph in traps().items():
        there, half = graph.to("cuda"), np.arange(0, graph.n, 2)
        if there.subgraph(half) != graph.subgraph(half) or there.to_undirected() != graph.to_undirected():
            yield f"graphs made of {where}"
        found = hw.bfs(there, 0, device="cuda")
        if not validate(there, 0, found.distances, found.predecessors) or not validate(there, 0, found.distances):
            yield f"validation on {where}"
        weighted = graph.with_weights(lengths(graph))
        row = hw.sssp_many(weighted, [0], device="cuda")[0]
        if not same(row, hw.sssp_many(weighted, [0], device="reference")[0]):
            yield f"table along weights on {where}"
        for target in np.flatnonzero(np.isfinite(row))[:3].tolist():
            if hw.shortest_path(weighted, 0, target, device="cuda")[-1] != target:
                yield f"path along weights on {where}"


def deep() -> Iterator[str]:
    """Searches with a block for each source: every graph counts as deep, and lists have little room."""
    from hopwave.engines.cuda import policy

    few = policy.SweepPolicy(each_deep=0, room=4)
    with patch.object(policy, "SWEEP", few), patch.object(policy, "LOW_DEGREE", np.inf):
        for where, graph in traps().items():
            sources = np.arange(0, graph.n, 1 + graph.n // 12)
            table = hw.bfs_many(graph, sources, device="cuda")
            if not same(table[0], hw.bfs(graph, 0, device="reference").distances):
                yield f"tables of {where}"
            if len(hw.closeness_centrality(graph, sources, device="cuda").scores) != len(sources):
                yield f"sums of {where}"
