"""Questions along weights, and ranks, against SciPy and NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
from cases import Case, equal, listed, same

import hopwave as hw


def shortest(case: Case) -> int:
    s = case.vertex()
    methods = ("auto", "delta-stepping", "bellman-ford", "dijkstra")  # Dijkstra's runs on the CPU
    method = case.draw.choice(methods[: 3 if case.device == "cuda" else 4])
    found = hw.sssp(case.weighted, s, weights=True, method=method, device=case.device)
    same(found.distances, case.km[s], f"from {s} by {method}")
    for v, p in enumerate(found.predecessors.tolist()):
        if v != s and np.isfinite(case.km[s, v]):
            same(case.km[s, p] + case.nx[p][v]["weight"], case.km[s, v], f"predecessor {p} of {v}")
    return 1


def many_shortest(case: Case) -> int:
    sources, limit = case.some(), case.draw.choice((None, None, 0.5, 3.0, 20.0))
    found = hw.sssp_many(case.weighted, sources, weights=True, limit=limit, **case.options())
    table = case.km[sources]
    same(found, table if limit is None else np.where(table <= limit, table, np.inf), f"{sources} within {limit}")
    return 1


def near(case: Case) -> int:
    s, limit = case.vertex(), case.draw.choice((1.0, 5.0, 100.0))
    found = hw.nearest(case.weighted, s, limit=limit, weights=True)
    due = nx.single_source_dijkstra_path_length(case.nx, s, cutoff=limit)
    equal(sorted(found), sorted(due), f"from {s} within {limit}")
    same([found[v] for v in sorted(found)], [due[v] for v in sorted(due)])
    return 1


def pagerank(case: Case) -> int:
    alpha, length = case.draw.choice((0.3, 0.5, 0.85)), case.draw.choice((None, "weight"))
    found = hw.pagerank(
        case.weighted if length else case.plain, alpha=alpha, tol=1e-13, max_iter=500, device=case.device
    )
    due = nx.pagerank(case.nx, alpha=alpha, tol=1e-13, max_iter=500, weight=length)
    same(found.scores, listed(due, case.n), f"alpha={alpha} {length}")
    return 1


def katz(case: Case) -> int:
    if case.n == 1:
        return 0  # NetworkX cannot do this
    greatest = max((1, *(degree for _, degree in case.nx.degree)))
    alpha = 0.5 / greatest
    found = hw.katz_centrality(case.plain, alpha=alpha, tol=1e-13, device=case.device)
    due = nx.katz_centrality_numpy(case.nx, alpha=alpha, weight=None)
    same(found.scores, listed(due, case.n), f"alpha={alpha}")
    return 1
