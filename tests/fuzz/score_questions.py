"""Questions about betweenness, closeness and distances, against NetworkX, igraph and exact fractions."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from cases import Case, equal, listed, same

import hopwave as hw
import oracle


def betweenness(case: Case) -> int:
    given: dict[str, Any] = {"normalized": case.draw.random() < 0.5, "endpoints": case.draw.random() < 0.3}
    sources = case.some() if case.draw.random() < 0.4 else None
    targets = case.some() if case.draw.random() < 0.3 else None
    cutoff = case.draw.choice((None, None, 1, 2, 3))
    limits = {"sources": sources, "targets": targets, "cutoff": cutoff}
    found = hw.betweenness_centrality(case.plain, **given, **limits, **case.options())
    exact = oracle.betweenness(case.plain, sources, targets, cutoff=cutoff, **given)
    same(found.scores, [float(score) for score in exact], f"{given} {limits}")
    if sources is targets is cutoff is None:
        same(found.scores, listed(nx.betweenness_centrality(case.nx, **given), case.n), f"{given}")
    return 1


def betweenness_of_igraph(case: Case) -> int:
    cutoff = case.draw.choice((None, 1, 2, 4))
    found = hw.betweenness_centrality(case.plain, normalized=False, cutoff=cutoff, **case.options()).scores
    if case.n >= 3:
        same(found, case.igraph.betweenness(directed=case.directed, cutoff=cutoff), f"cutoff {cutoff}")
    return 1


def edge_betweenness(case: Case) -> int:
    normalized = case.draw.random() < 0.5
    found = hw.edge_betweenness_centrality(case.plain, normalized=normalized, **case.options()).to_dict()
    due = nx.edge_betweenness_centrality(case.nx, normalized=normalized)
    order = sorted(found)
    keys = [e if e in due else (e[1], e[0]) for e in order]
    same([found[e] for e in order], [due[e] for e in keys], f"edges {order}")
    equal(len(found), len(due))
    return 1


def weighted_betweenness(case: Case) -> int:
    given = {"normalized": case.draw.random() < 0.5, "endpoints": case.draw.random() < 0.3}
    found = hw.betweenness_centrality(case.weighted, weights=True, **given, **case.options())
    same(found.scores, listed(nx.betweenness_centrality(case.nx, weight="weight", **given), case.n), f"{given}")
    return 1


def sample(case: Case) -> int:
    k, seed = case.draw.randint(1, case.n), case.draw.randrange(1000)
    if k == 1:
        return 0  # NetworkX divides by zero for the source itself
    found = hw.betweenness_centrality(case.plain, k=k, seed=seed, **case.options())
    same(found.scores, listed(nx.betweenness_centrality(case.nx, k=k, seed=seed), case.n), f"k={k} seed={seed}")
    return 1


# ---------------------------------------------------------------- closeness and distances


def closeness(case: Case) -> int:
    improved, length = case.draw.random() < 0.5, case.draw.choice((None, "weight"))
    G = case.weighted if length else case.plain
    found = hw.closeness_centrality(G, wf_improved=improved, weights=True if length else None, **case.options())
    due = nx.closeness_centrality(case.nx, distance=length, wf_improved=improved)
    same(found.scores, listed(due, case.n), f"{length} {improved}")
    found = hw.harmonic_centrality(G, weights=True if length else None, **case.options())
    same(found.scores, listed(nx.harmonic_centrality(case.nx, distance=length), case.n), f"{length}")
    return 2


def highest(case: Case) -> int:
    top = case.draw.randint(1, case.n)
    for call, theirs in (
        (hw.closeness_centrality, nx.closeness_centrality),
        (hw.harmonic_centrality, nx.harmonic_centrality),
    ):
        found = call(case.plain, top=top, **case.options())
        scores = np.asarray(found.scores)
        best = sorted(theirs(case.nx).values(), reverse=True)[:top]
        same(sorted(scores[~np.isnan(scores)].tolist(), reverse=True)[:top], best, f"top={top}")
    return 2


def of_connected(case: Case) -> int:
    if not case.connected or case.n < 2:
        return 0
    G, N, options = case.plain, case.nx, case.options()
    far = nx.eccentricity(N)
    same(hw.eccentricity(G, **options).scores, listed(far, case.n))
    equal((hw.diameter(G, **options), hw.radius(G, **options)), (nx.diameter(N, far), nx.radius(N, far)))
    equal(sorted(hw.center(G, **options)), sorted(nx.center(N, far)))
    equal(sorted(hw.periphery(G, **options)), sorted(nx.periphery(N, far)))
    same(hw.average_shortest_path_length(G, **options), nx.average_shortest_path_length(N))
    same(hw.wiener_index(G, **options), nx.wiener_index(N))
    same(hw.eccentricity(case.weighted, weights=True, **options).scores, case.km.max(axis=1))
    return 8


def efficiency(case: Case) -> int:
    if case.n < 2:
        return 0
    if case.directed:  # NetworkX has no function for these: its formula, on SciPy's distances
        near = case.hops[np.isfinite(case.hops) & (case.hops > 0)]
        same(hw.global_efficiency(case.plain, **case.options()), (1 / near).sum() / (case.n * (case.n - 1)))
        return 1
    same(hw.global_efficiency(case.plain, **case.options()), nx.global_efficiency(case.nx))
    same(hw.local_efficiency(case.plain, **case.options()), nx.local_efficiency(case.nx))
    return 2
