"""Questions about hops and components, compared with SciPy, igraph, NetworkX and the oracle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import networkx as nx
import numpy as np
from cases import Case, equal, listed, same

import hopwave as hw
import oracle


def search(case: Case) -> int:
    s, direction = case.vertex(), case.draw.choice(("out", "in"))
    limit = case.draw.choice((None, None, 0, 1, 2, 5, case.n))
    found = hw.bfs(
        case.plain, s, path_counts=case.draw.random() < 0.5, depth_limit=limit, direction=direction, **case.engine()
    )
    row = (case.hops if direction == "out" else case.hops.T)[s]
    due = np.where(row <= (math.inf if limit is None else limit), row, -1)
    due = np.where(np.isfinite(due), due, -1)
    same(found.distances, due, f"distances from {s} {direction} within {limit}")
    equal((found.depth, found.reached), (int(due.max()), int((due >= 0).sum())))
    arcs = {(u, v) if direction == "out" else (v, u) for u, v in case.edges}
    arcs |= set() if case.directed else {(v, u) for u, v in arcs}
    for v, p in enumerate(found.predecessors.tolist()):
        right = p == -1 if due[v] < 0 else p in (s, -1) if v == s else (p, v) in arcs and due[p] == due[v] - 1
        equal(right, True, f"predecessor {p} of {v}")
    return 1


def path_counts(case: Case) -> int:
    sources = case.some()[:3]
    found = hw.bfs(case.plain, sources, path_counts=True, **case.engine())
    equal([int(count) for count in found.path_counts], oracle.path_counts(case.plain, sources), f"counts {sources}")
    same(found.distances, oracle.distances(case.plain, sources))
    return 1


def many(case: Case) -> int:
    sources = case.some()
    table = case.hops[sources]
    same(hw.bfs_many(case.plain, sources, **case.options()), np.where(np.isfinite(table), table, -1), f"{sources}")
    return 1


def histogram(case: Case) -> int:
    found = hw.distance_histogram(case.plain, **case.options())
    away = case.hops[np.isfinite(case.hops) & ~np.eye(case.n, dtype=bool)].astype(int)
    due = np.bincount(away, minlength=len(found.counts))
    same(np.asarray(found.counts)[1:], due[1:], "numbers of pairs")
    return 1


def neighbourhood(case: Case) -> int:
    v, k = case.vertex(), case.draw.randint(0, 4)
    equal(sorted(hw.k_hop(case.plain, v, k, **case.options()).tolist()), np.flatnonzero(case.hops[v] <= k).tolist())
    return 1


def one_path(case: Case) -> int:
    s, t = case.vertex(), case.vertex()
    equal(hw.has_path(case.plain, s, t, device=case.device), bool(np.isfinite(case.hops[s, t])))
    for G, far, name in ((case.plain, case.hops, None), (case.weighted, case.km, "weight")):
        try:
            path = hw.shortest_path(G, s, t, device=case.device, weights=name is not None)
        except hw.GraphError:
            equal(bool(np.isfinite(far[s, t])), False, f"no path {s} to {t}")
            continue
        due = sum(case.nx[u][v]["weight"] if name else 1 for u, v in pairwise(path))
        equal((path[0], path[-1]), (s, t))
        same(due, far[s, t], f"path {path}")
    return 3


def all_paths(case: Case) -> int:
    s, t = case.vertex(), case.vertex()
    if s == t or not np.isfinite(case.hops[s, t]) or case.n > 12:
        return 0
    for G, name in ((case.plain, None), (case.weighted, "weight")):
        found = sorted(hw.all_shortest_paths(G, s, t, device=case.device, weights=name is not None))
        equal(found, sorted(nx.all_shortest_paths(case.nx, s, t, weight=name)), f"{s} to {t}, {name}")
    return 2


def pairs_near(case: Case) -> int:
    d = case.draw.randint(0, 4)
    u, v, far = hw.pairs_within(case.plain, d, **case.options())
    found = sorted(zip(u.tolist(), v.tolist(), far.tolist(), strict=True))
    table = case.hops
    due = [(s, t, int(table[s, t])) for s in range(case.n) for t in range(case.n) if table[s, t] <= d]
    once = [row for row in due if (row[0] != row[1] if case.directed else row[0] < row[1])]  # no vertex with itself
    equal(found, once, f"within {d}")
    return 1


# ---------------------------------------------------------------- questions about components


def partition(labels: Sequence[int]) -> list[int]:
    """Labels by lowest vertex: equal for equal partitions."""
    first: dict[int, int] = {}
    return [first.setdefault(label, v) for v, label in enumerate(labels)]


def components(case: Case) -> int:
    if case.directed:
        for call, mode in ((hw.weakly_connected_components, "weak"), (hw.strongly_connected_components, "strong")):
            theirs = case.igraph.connected_components(mode=mode).membership
            equal(partition(call(case.plain, device=case.device).labels.tolist()), partition(theirs), mode)
        equal(hw.is_strongly_connected(case.plain, device=case.device), nx.is_strongly_connected(case.nx))
    else:
        theirs = case.igraph.connected_components().membership
        equal(partition(hw.connected_components(case.plain, device=case.device).labels.tolist()), partition(theirs))
        blocks = hw.biconnected_components(case.plain, device=case.device)
        parts = (sorted(part) for part in case.igraph.biconnected_components() if len(part) > 1)
        equal(sorted(part.tolist() for part in blocks.members()), sorted(parts), "biconnected components")
        equal(blocks.articulation_points.tolist(), sorted(case.igraph.articulation_points()), "articulation points")
        equal(hw.is_connected(case.plain, device=case.device), nx.is_connected(case.nx))
    return 3 if case.directed else 2


def sides(case: Case) -> int:
    found = hw.is_bipartite(case.plain, device=case.device)
    equal(found, nx.is_bipartite(case.nx))
    if found:
        colour = hw.bipartite_sides(case.plain, device=case.device)
        equal(all(colour[u] != colour[v] for u, v in case.edges), True)
    return 1 + found


def triangles(case: Case) -> int:
    if case.directed:
        return 0
    G = nx.Graph(case.nx)
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    same(hw.triangles(case.plain).scores, listed(nx.triangles(G), case.n))
    same(hw.core_numbers(case.plain).scores, listed(nx.core_number(G), case.n))
    return 2
