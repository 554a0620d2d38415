"""Betweenness and load (networkx.algorithms.centrality: betweenness, betweenness_subset, load; bipartite.centrality).

`edge_betweenness_centrality_subset` follows the definition. NetworkX's own values differ from it for paths that meet at
a vertex that is no target: there it shares a dependency out by the number of predecessors, not by their path counts.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

import hopwave as hw
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import Asked, serves, unweighted
from hopwave.networkx_backend.order import loads, steps

Scores = dict[Any, float]


def without_keys(asked: Asked) -> str | None:
    """Parallel edges have keys, which a converted graph does not keep."""
    if asked["G"].is_multigraph():
        return "scores of parallel edges are listed by key, and hopwave's graphs have no keys"
    return unweighted(asked)


class Draws(random.Random):
    """NetworkX wraps NumPy's old generators in a class of its own; hopwave asks for one that is a random.Random."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def sample(self, population: Any, k: int, **_: Any) -> list[Any]:
        """The wrapped generator's draw."""
        return list(self._generator.sample(list(population), k))


def check_sample(n: int, k: Any, endpoints: bool) -> None:
    """NetworkX's own errors for a k that cannot be drawn, or that leaves nothing to divide by."""
    if k is None or k == n:
        return
    if not isinstance(k, int) or not 0 <= k <= n:
        random.Random(0).sample(range(n), k)  # raises what NetworkX's call raises
    if k == 0 and (n if endpoints else n - 1) >= 2:
        raise ZeroDivisionError("division by zero")


def generator(seed: Any) -> Any:
    """What arrives as seed, as hopwave takes it."""
    return seed if seed is None or isinstance(seed, random.Random) else Draws(seed)


@serves(can_run=unweighted)
def betweenness_centrality(
    G: NetworkXGraph,
    k: Any = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
    *,
    device: str = "auto",
    plan: Any = "auto",
    threads: int | None = None,
) -> Scores:
    """How many shortest paths lead through every vertex."""
    check_sample(len(G), k, endpoints)
    result = hw.betweenness_centrality(
        G.graph,
        k=k,
        normalized=normalized and k is not None,
        endpoints=endpoints,
        seed=generator(seed),
        device=device,
        plan=plan,
        progress=False,
        threads=threads,
    )
    return G.by_node(normalize(G, result.scores, endpoints) if normalized and k is None else result.scores)


def normalize(G: NetworkXGraph, scores: Any, endpoints: bool) -> Any:
    """Raw scores of all (or chosen) sources, scaled by NetworkX's own operations so that not even the last bit differs:
    its users compare with ==."""
    N = len(G) if endpoints else len(G) - 1
    return scores if N < 2 else scores * (1 if G.directed else 2) * (1 / (N * (N - 1)))


@serves(can_run=without_keys)
def edge_betweenness_centrality(
    G: NetworkXGraph,
    k: Any = None,
    normalized: bool = True,
    weight: Any = None,
    seed: Any = None,
    *,
    device: str = "auto",
    plan: Any = "auto",
    threads: int | None = None,
) -> Scores:
    """How many shortest paths lead over every edge, in the order of `G.edges`."""
    check_sample(len(G), k, True)
    if k is not None and k == len(G):
        seed.sample(range(k), k)  # a whole sample changes no score, but NetworkX draws it, and the next draw follows
    result = hw.edge_betweenness_centrality(
        G.graph,
        k=k,
        normalized=normalized and k is not None,
        seed=generator(seed),
        device=device,
        plan=plan,
        progress=False,
        threads=threads,
    )
    return by_edge(G, normalize(G, result.scores, True) if normalized and k is None else result.scores)


def by_edge(G: NetworkXGraph, scores: Any) -> Scores:
    """One score an arc of G.graph, by edge in the order of `G.edges`."""
    indptr, indices = G.out_rows
    source = np.repeat(np.arange(len(G), dtype=np.int32), np.diff(indptr))
    # Scores follow ascending rows; the arcs of NetworkX's order are found there by sorting within each row.
    ordered = np.empty(len(indices))
    ordered[np.lexsort((indices, source))] = scores
    once = slice(None) if G.directed else source <= indices
    edges = zip(G.names(source[once]), G.names(indices[once]), strict=True)
    return dict(zip(edges, ordered[once].tolist(), strict=True))


@serves(can_run=unweighted)
def betweenness_centrality_subset(
    G: NetworkXGraph,
    sources: Any,
    targets: Any,
    normalized: bool = False,
    weight: Any = None,
    *,
    device: str = "auto",
    plan: Any = "auto",
    threads: int | None = None,
) -> Scores:
    """How many shortest paths from sources to targets lead through every vertex."""
    how = {"device": device, "plan": plan, "threads": threads}
    total = between(hw.betweenness_centrality, len(G), G, sources, targets, **how)
    return G.by_node(normalize(G, total, False) if normalized else total)


@serves(can_run=without_keys)
def edge_betweenness_centrality_subset(
    G: NetworkXGraph,
    sources: Any,
    targets: Any,
    normalized: bool = False,
    weight: Any = None,
    *,
    device: str = "auto",
    plan: Any = "auto",
    threads: int | None = None,
) -> Scores:
    """How many shortest paths from sources to targets lead over every edge, in the order of `G.edges`."""
    how = {"device": device, "plan": plan, "threads": threads}
    total = between(hw.edge_betweenness_centrality, len(G.out_rows[1]), G, sources, targets, **how)
    return by_edge(G, normalize(G, total, True) if normalized else total)


def between(score: Any, size: int, G: NetworkXGraph, sources: Any, targets: Any, **how: Any) -> Any:
    """Sums of a score over the paths from sources to targets.

    NetworkX searches once from every mention of a source; a set of sources is the usual case and one round.
    """
    times = Counter(G.number[source] for source in sources)
    goal = [G.number[target] for target in set(targets) if target in G]
    total = np.zeros(size)
    for mention in range(1, max(times.values(), default=0) + 1 if goal else 1):
        some = [v for v, mentions in times.items() if mentions >= mention]
        total += score(G.graph, sources=some, targets=goal, normalized=False, progress=False, **how).scores
    return total


@serves(can_run=unweighted)
def newman_betweenness_centrality(
    G: NetworkXGraph, v: Any = None, cutoff: Any = None, normalized: bool = True, weight: Any = None
) -> Any:
    """Load centrality: betweenness with every fork split evenly."""
    total = loads(G.out_rows, steps(cutoff))
    n = len(G)
    if normalized and n > 2:
        total *= 1.0 / ((n - 1) * (n - 2))
    if v is None:
        return G.by_node(total)
    return float(total[G.number[v]]) if v in G else 0.0


@serves("bipartite_betweenness_centrality")
def bipartite_betweenness_centrality(
    G: NetworkXGraph, nodes: Any, *, device: str = "auto", plan: Any = "auto", threads: int | None = None
) -> Scores:
    """Betweenness, each side scaled by the most that it could have."""
    top = set(nodes)
    bottom = set(G) - top
    n, m = len(top), len(bottom)
    most_top, most_bottom = _most(n, m), _most(m, n)
    scores = betweenness_centrality(G, normalized=False, device=device, plan=plan, threads=threads)
    for side, most in ((top, most_top), (bottom, most_bottom)):
        for node in side:
            scores[node] /= most
    return scores


def _most(n: int, m: int) -> float:
    """The greatest betweenness of one of n vertices that face m others (Borgatti and Halgin)."""
    s, t = divmod(n - 1, m)
    return (m**2 * (s + 1) ** 2 + m * (s + 1) * (2 * t - s - 1) - t * (2 * s - t + 3)) / 2.0
