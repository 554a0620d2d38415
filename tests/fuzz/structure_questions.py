"""Questions about clusters, cores, communities, order and groups, against NetworkX and the definitions."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, islice, pairwise, permutations
from typing import Any

import networkx as nx
import numpy as np
from cases import Case, equal, listed, same
from difference import Difference
from hop_questions import partition

import hopwave as hw


def without_loops(case: Case) -> Any:
    G = case.nx.copy()
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    return G


def arcs_of(case: Case) -> set[tuple[int, int]]:
    arcs = set(case.edges)
    return arcs if case.directed else arcs | {(v, u) for u, v in arcs}


# ---------------------------------------------------------------- clusters and cores


def clustering(case: Case) -> int:
    weight, G = case.draw.choice((None, "weight")), without_loops(case)
    graph = case.weighted if weight else case.plain
    given = {"weights": weight is not None}
    found = hw.clustering(graph, **given, device=case.device).scores  # loops count among the greatest weights alone
    same(found, listed(nx.clustering(case.nx, weight=weight), case.n), f"{weight}")
    zeros = case.draw.random() < 0.5 or not any(nx.clustering(G).values())
    found = hw.average_clustering(graph, zeros, **given, device=case.device)
    same(found, nx.average_clustering(case.nx, weight=weight, count_zeros=zeros), f"{weight} {zeros}")
    if case.directed:
        return 2
    same(hw.transitivity(case.plain, device=case.device), nx.transitivity(G))
    same(hw.square_clustering(case.plain).scores, listed(nx.square_clustering(G), case.n))
    equal(hw.triangle_count(case.plain, device=case.device), sum(nx.triangles(G).values()) // 3)
    return 5


def cores(case: Case) -> int:
    if case.directed:
        return 0
    k, G = case.draw.choice((None, 0, 1, 2, 3)), without_loops(case)
    found = hw.k_core(case.plain, k, device=case.device)
    due = nx.k_core(G, k)
    ids = found.labels.tolist() if found.labels is not None else list(range(found.n))
    equal(ids, sorted(due), f"{k}")
    loops = [(v, v) for v in ids if (v, v) in arcs_of(case)]
    equal(sorted(tuple(sorted(e)) for e in found.edges()), sorted(loops + [tuple(sorted(e)) for e in due.edges()]))
    return 2


def degrees(case: Case) -> int:
    asked = [(hw.degree_centrality, nx.degree_centrality)]
    if case.directed:
        asked += [(hw.in_degree_centrality, nx.in_degree_centrality)]
        asked += [(hw.out_degree_centrality, nx.out_degree_centrality)]
    for mine, theirs in asked:
        same(mine(case.plain).scores, listed(theirs(case.nx), case.n), mine.__name__)
    return len(asked)


# ---------------------------------------------------------------- communities


def communities(case: Case) -> int:
    if not case.edges:
        return 0
    parts = [case.draw.randrange(3) for _ in range(case.n)]
    sets = [{v for v in range(case.n) if parts[v] == part} for part in sorted(set(parts))]
    resolution, weight = case.draw.choice((1.0, 0.5, 2.0)), case.draw.choice((None, "weight"))
    given: Any = case.draw.choice((sets, parts, np.array(parts), dict(enumerate(parts))))
    found = hw.modularity(case.weighted, given, resolution, weights=weight is not None)
    same(found, nx.community.modularity(case.nx, sets, weight, resolution), f"{parts} {weight} {resolution}")
    if case.directed:
        return 1
    found = hw.label_propagation(case.plain, seed=case.draw.randrange(99), device=case.device)
    labels = found.labels.tolist()
    own: dict[int, set[int]] = {v: set() for v in range(case.n)}
    for u, v in arcs_of(case):
        if u != v:
            own[u].add(v)
    for v, neighbours in own.items():
        often = Counter(labels[u] for u in neighbours)
        if found.settled and neighbours and often[labels[v]] < max(often.values()):
            raise Difference(f"{v} has label {labels[v]} among {often}")
    sets = [{v for v in range(case.n) if labels[v] == part} for part in sorted(set(labels))]
    same(found.modularity, nx.community.modularity(case.nx, sets, None), f"{labels}")
    chosen = set(hw.maximal_independent_set(case.plain, seed=case.draw.randrange(99), device=case.device).tolist())
    equal([v for v in chosen if own[v] & chosen], [], "neighbours in a set")
    equal([v for v in range(case.n) if v not in chosen and not own[v] & chosen], [], "a vertex could be added")
    return 5


# ---------------------------------------------------------------- order, bridges


def order(case: Case) -> int:
    acyclic = case.directed and nx.is_directed_acyclic_graph(case.nx)
    equal(hw.is_directed_acyclic_graph(case.plain), acyclic)
    if not case.directed:
        due = sorted(tuple(sorted(e)) for e in nx.bridges(case.nx))
        equal(sorted(tuple(sorted(e)) for e in hw.bridges(case.plain, device=case.device)), due, "bridges")
        return 2
    equal(hw.is_weakly_connected(case.plain, device=case.device), nx.is_weakly_connected(case.nx))
    if acyclic:
        found = iter(hw.topological_order(case.plain))
        due = [sorted(part) for part in nx.topological_generations(case.nx)]
        equal([sorted(islice(found, len(part))) for part in due], due, "topological order")
    C, components = hw.condensation(case.plain)
    D = nx.condensation(case.nx)
    mine = components.labels.tolist()
    equal(partition(mine), partition([D.graph["mapping"][v] for v in range(case.n)]))
    first = {label: v for v, label in reversed(list(enumerate(mine)))}
    theirs = {label: min(D.nodes[label]["members"]) for label in D}
    equal({(first[u], first[v]) for u, v in C.edges()}, {(theirs[u], theirs[v]) for u, v in D.edges()})
    return 5


# ---------------------------------------------------------------- groups, load, stress


def groups(case: Case) -> int:
    group = case.some()[:3]
    same(
        hw.group_closeness_centrality(case.plain, group, device=case.device),
        nx.group_closeness_centrality(case.nx, group),
        f"{group}",
    )
    if case.n > 12:
        return 1
    others = [v for v in range(case.n) if v not in group]
    rest, total = case.nx.subgraph(others), 0.0
    for s, t in permutations(others, 2) if case.directed else combinations(others, 2):
        if np.isfinite(case.hops[s, t]):
            every = sum(1 for _ in nx.all_shortest_paths(case.nx, s, t))
            there = nx.has_path(rest, s, t) and nx.shortest_path_length(rest, s, t) == case.hops[s, t]
            total += 1 - (sum(1 for _ in nx.all_shortest_paths(rest, s, t)) if there else 0) / every
    found = hw.group_betweenness_centrality(case.plain, group, normalized=False, **case.options())
    same(found, total, f"{group}")
    return 2


def load(case: Case) -> int:
    cutoff, normalized = case.draw.choice((None, None, 1, 2, 3)), case.draw.random() < 0.5
    found = hw.load_centrality(case.plain, cutoff, normalized, **case.options()).scores
    if case.n > 2:
        same(found, listed(nx.load_centrality(case.nx, cutoff=cutoff, normalized=normalized), case.n), f"{cutoff}")
    if case.n > 12:
        return 1
    due = [0] * case.n
    for s, t in permutations(range(case.n), 2) if case.directed else combinations(range(case.n), 2):
        if np.isfinite(case.hops[s, t]):
            for path in nx.all_shortest_paths(case.nx, s, t):
                for v in path[1:-1]:
                    due[v] += 1
    same(hw.stress_centrality(case.plain, **case.options()).scores, due, "stress")
    return 2


# ---------------------------------------------------------------- one source after another


def in_turn(case: Case) -> int:
    sources, limit = [case.vertex() for _ in range(3)], case.draw.choice((None, 1, 3))
    far = np.where(case.hops <= (math.inf if limit is None else limit), case.hops, np.inf)
    for s, found in zip(sources, hw.bfs_each(case.plain, sources, depth_limit=limit, **case.engine()), strict=True):
        same(found.distances, np.where(np.isfinite(far[s]), far[s], -1), f"bfs_each {s} {limit}")
    for s, one in zip(sources, hw.sssp_each(case.weighted, sources, **case.options()), strict=True):
        same(one.distances, case.km[s], f"sssp_each {s}")
    for G, table in ((case.plain, case.hops), (case.weighted, case.km)):
        blocks = list(hw.distance_blocks(G, block_bytes=case.draw.choice((1, 64, 1 << 20)), **case.options()))
        equal([int(s) for some, _ in blocks for s in some], list(range(case.n)))
        rows = np.concatenate([np.asarray(rows, float) for _, rows in blocks])
        same(np.where(rows < 0, np.inf, rows), table, "distance_blocks")
    pairs = [(case.vertex(), case.vertex()) for _ in range(5)]
    for G, far in ((case.plain, case.hops), (case.weighted, case.km)):
        for (s, t), path in zip(pairs, hw.shortest_paths(G, pairs), strict=True):
            equal(path is None, not np.isfinite(far[s, t]), f"{s} to {t}")
            if path is not None:
                equal((path[0], path[-1]), (s, t), f"{path}")
                lengths = [case.nx[u][v]["weight"] if G is case.weighted else 1 for u, v in pairwise(path)]
                same(sum(lengths), far[s, t], f"{path}")
    return 18


def middle(case: Case) -> int:
    if not case.connected or case.n < 2:
        return 0
    length = case.draw.choice((None, "weight"))
    G = case.weighted if length else case.plain
    found = hw.barycenter(G, weights=length is not None, **case.options())
    equal(sorted(found), sorted(nx.barycenter(case.nx, weight=length)), f"{length}")
    return 1


def eigenvector(case: Case) -> int:
    rounds, weight = case.draw.choice((5, 100, 1000)), case.draw.choice((None, "weight"))
    try:
        due = nx.eigenvector_centrality(case.nx, max_iter=rounds, weight=weight)
    except nx.NetworkXException:
        due = None
    try:
        found = hw.eigenvector_centrality(
            case.weighted, max_iter=rounds, weights=weight is not None, device=case.device
        )
    except hw.ConvergenceError:
        found = None
    equal(found is None, due is None, f"converges in {rounds}, {weight}")
    if found is not None and due is not None:
        same(found.scores, listed(due, case.n), f"{rounds} {weight}")
    return 1


QUESTIONS = (clustering, cores, degrees, communities, order, groups, load, in_turn, middle, eigenvector)
