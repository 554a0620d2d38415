"""Betweenness and load (networkx.algorithms.centrality: betweenness, betweenness_subset, load, group; bipartite).

Along an edge attribute, NetworkX adds up path counts in the order in which it settles vertices. That is right unless
adding an edge does not change a length (it is 0, or too small compared to it); such calls are left to NetworkX.

`edge_betweenness_centrality_subset` follows the definition. NetworkX's own values differ from it if paths meet at a
vertex that is no target: NetworkX divides the dependency there by the number of predecessors, not by their path counts.

`group_betweenness_centrality` does so, too. Before NetworkX 3.7, its own values differ for some groups of three and
more, and in directed graphs that are not strongly connected, where it counts paths back that do not exist. With
endpoints, NetworkX 3.7 scales by all vertices.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import networkx as nx
import numpy as np

import hopwave as hw
from hopwave.graph import Graph
from hopwave.networkx_backend import dispatch
from hopwave.networkx_backend.components import arc_labels
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import SINCE_3_7, Arguments, serves, simple
from hopwave.networkx_backend.paths import max_levels

Scores = dict[Any, float]
BRANDES = dispatch.CERTIFIED + " Samples (k, seed) are those that NetworkX draws."
WITHOUT_KEYS = simple("scores of parallel edges are listed by key, and hopwave's graphs have no keys")


def countable(G: NetworkXGraph, weight: Any) -> tuple[Graph, bool]:
    """The graph, and whether the edge attribute gives its arcs lengths.

    Raises NotImplementedError if a length may be too small to change the length of a path of up to n - 1 arcs.
    """
    lengths = np.empty(0) if weight is None else G.lengths_of(weight).values
    if len(lengths) and lengths.min() <= lengths.max() * len(G) * 2.0**-53:
        raise NotImplementedError(
            f"the edge attribute {weight!r} is 0 somewhere, or so small beside others that it adds nothing to them: "
            "the number of shortest paths may not be defined"
        )
    return G.weighted(weight), weight is not None


class WrappedGenerator(random.Random):
    """A random.Random, as hopwave needs it, around the class in which NetworkX wraps NumPy's old generators."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def sample(self, population: Any, k: int, **_: Any) -> list[Any]:
        """The wrapped generator's sample."""
        return list(self._generator.sample(list(population), k))


def check_sample(n: int, k: Any, endpoints: bool) -> None:
    """Raises NetworkX's own errors for a k that cannot be drawn, or that would mean a division by 0."""
    if k is None or k == n:
        return
    if not isinstance(k, int) or not 0 <= k <= n:
        random.Random(0).sample(range(n), k)  # raises what NetworkX's call raises
    if k == 0 and (n if endpoints else n - 1) >= 2:
        raise ZeroDivisionError("division by zero")


def scores_of(
    score: Any, G: NetworkXGraph, k: Any, normalized: bool, weight: Any, seed: Any, run: Any, **options: Any
) -> Any:
    """One of hopwave's scores from all or k sources.

    hopwave normalises samples. Scores from all sources are scaled by NetworkX's own operations (see `normalize`).
    """
    graph, weighted = countable(G, weight)
    k = k or None  # a k of 0 that check_sample let pass: all scores are 0 in any case
    by_hopwave = bool(normalized) and k is not None
    if seed is not None and not isinstance(seed, random.Random):
        seed = WrappedGenerator(seed)
    options |= {"k": k, "seed": seed, "weights": weighted}
    scores = score(graph, normalized=by_hopwave, progress=False, **options, **run).scores
    return scores if by_hopwave or not normalized else normalize(G, scores, options.get("endpoints", True))


def normalize(G: NetworkXGraph, scores: Any, endpoints: bool) -> Any:
    """Raw scores scaled by the same operations in the same order as in NetworkX.

    So results are equal to the last bit: NetworkX's users compare with ==. For edges, endpoints is True.
    """
    N = len(G) if endpoints else len(G) - 1
    return scores if N < 2 else scores * (1 if G.directed else 2) * (1 / (N * (N - 1)))


@serves(notes=BRANDES)
def betweenness_centrality(
    G: NetworkXGraph, k: Any, normalized: bool, weight: Any, endpoints: bool, seed: Any, **run: Any
) -> Scores:
    check_sample(len(G), k, endpoints)
    ask = hw.betweenness_centrality
    return G.by_node(scores_of(ask, G, k, normalized, weight, seed, run, endpoints=bool(endpoints)))


@serves(why_not=WITHOUT_KEYS, notes=BRANDES + " Graphs without parallel edges.")
def edge_betweenness_centrality(
    G: NetworkXGraph, k: Any, normalized: bool, weight: Any, seed: Any, **run: Any
) -> Scores:
    check_sample(len(G), k, True)
    if k is not None and k == len(G):
        countable(G, weight)  # raises before a number is drawn, if NetworkX must answer the call
        seed.sample(range(k), k)  # the sample is all vertices; drawing it keeps the generator in step with NetworkX's
    return by_edge(G, scores_of(hw.edge_betweenness_centrality, G, k, normalized, weight, seed, run))


def by_edge(G: NetworkXGraph, scores: Any) -> Scores:
    """One score per arc of G.graph, by edge in the order of `G.edges`."""
    u, v = arc_labels(G, np.arange(len(G)))
    # Scores follow ascending rows. Sorting within each row finds the arcs in NetworkX's order.
    ordered = np.empty(len(u))
    ordered[np.lexsort((v, u))] = scores
    once = slice(None) if G.directed else u <= v
    edges = zip(G.names(u[once]), G.names(v[once]), strict=True)
    return dict(zip(edges, ordered[once].tolist(), strict=True))


@serves(notes=dispatch.CERTIFIED)
def betweenness_centrality_subset(
    G: NetworkXGraph, sources: Any, targets: Any, normalized: bool, weight: Any, **run: Any
) -> Scores:
    total = subset_scores(hw.betweenness_centrality, len(G), G, sources, targets, weight, run)
    return G.by_node(normalize(G, total, False) if normalized else total)


@serves(
    why_not=WITHOUT_KEYS,
    notes=dispatch.CERTIFIED
    + " Graphs without parallel edges. By the definition, where NetworkX's own values differ from it: "
    "at a vertex that is not a target, dependencies are divided by path counts.",
)
def edge_betweenness_centrality_subset(
    G: NetworkXGraph, sources: Any, targets: Any, normalized: bool, weight: Any, **run: Any
) -> Scores:
    total = subset_scores(hw.edge_betweenness_centrality, len(G.out_rows[1]), G, sources, targets, weight, run)
    return by_edge(G, normalize(G, total, True) if normalized else total)


def subset_scores(score: Any, size: int, G: NetworkXGraph, sources: Any, targets: Any, weight: Any, run: Any) -> Any:
    """Sums of one of hopwave's scores over the paths from sources to targets.

    NetworkX searches once for every time a source is listed. Sources are usually distinct, and one round is enough.
    """
    graph, weighted = countable(G, weight)
    times = Counter(G.number[source] for source in sources)
    goal = [G.number[target] for target in set(targets) if target in G]
    total = np.zeros(size)
    for listed in range(1, max(times.values(), default=0) + 1 if goal else 1):
        some = [v for v, count in times.items() if count >= listed]
        found = score(graph, sources=some, targets=goal, normalized=False, progress=False, weights=weighted, **run)
        total += found.scores
    return total


def given_states(arguments: Arguments) -> str | None:
    """Why not, if the states are attributes of nodes, which a converted graph does not keep."""
    return "hopwave's graphs keep no attributes of nodes; pass states=" if arguments["states"] is None else None


@serves(why_not=given_states, notes=dispatch.CERTIFIED + " With `states=`.")
def percolation_centrality(G: NetworkXGraph, attribute: Any, states: Any, weight: Any, **run: Any) -> Scores:
    if not all(node in states for node in G):
        raise NotImplementedError("states lacks a node; NetworkX finds out only if a path begins or passes there")
    share = 1 / (len(G) - 2)  # of two vertices, NetworkX raises the same error
    graph, weighted = countable(G, weight)
    own = np.array([states[node] for node in G], np.float64)
    total = float(sum(states.values()))
    if len(G) > 2 and not (np.isfinite(own).all() and (own >= 0).all() and (total - own > 0).all()):
        raise NotImplementedError("states are negative, or one vertex has all of them: NetworkX divides by 0 there")
    if len(G) < 2:
        return G.by_node(np.zeros(len(G)) * share)
    options: Any = {"normalized": False, "progress": False, "weights": weighted, "source_weights": own}
    scores = hw.betweenness_centrality(graph, **options, **run).scores
    both = 1 if G.directed else 2  # of an undirected pair, hopwave counts the mean of its two directions
    return G.by_node(scores * both / (total - own) * share)


@serves(notes="Unweighted load centrality.")
def newman_betweenness_centrality(G: NetworkXGraph, v: Any, cutoff: Any, normalized: bool) -> Any:
    limit = math.ceil(min(max_levels(cutoff), len(G)))  # NetworkX ends the level that passes the cutoff
    scores = hw.load_centrality(G.graph, limit, bool(normalized), progress=False).scores
    if v is None:
        return G.by_node(scores)
    return float(scores[G.number[v]]) if v in G else 0.0


@serves(notes="Counted in hops. " + dispatch.CHECKED)
def bipartite_betweenness_centrality(G: NetworkXGraph, nodes: Any, **run: Any) -> Scores:
    top = set(nodes)
    bottom = set(G) - top
    largest = _most(len(top), len(bottom)), _most(len(bottom), len(top))
    scores = betweenness_centrality(G, None, False, None, False, None, **run)
    for side, most in zip((top, bottom), largest, strict=True):
        for node in side:
            scores[node] /= most
    return scores


def _most(n: int, m: int) -> float:
    """The greatest betweenness of one of n vertices on one side, with m on the other (Borgatti and Halgin)."""
    s, t = divmod(n - 1, m)
    return (m**2 * (s + 1) ** 2 + m * (s + 1) * (2 * t - s - 1) - t * (2 * s - t + 3)) / 2.0


@serves(
    notes="Unweighted. By the definition, where NetworkX's own values before 3.7 differ from it: for some groups of "
    "three and more, and in directed graphs that are not strongly connected.",
)
def group_betweenness_centrality(G: NetworkXGraph, C: Any, normalized: bool, endpoints: bool) -> Any:
    several = not any(member in G for member in C)
    groups = [set(group) for group in (C if several else [C])]
    lost = {node for group in groups for node in group if node not in G}
    if lost:
        raise nx.NodeNotFound(f"The node(s) {lost} are in C but not in G.")
    if SINCE_3_7 and len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    scores = []
    for group in groups:
        members = [G.number[node] for node in group]
        score = 0.0  # of an empty group
        if members:
            score = hw.group_betweenness_centrality(G.graph, members, False, bool(endpoints), progress=False)
        if normalized:
            rest = len(G) if endpoints and SINCE_3_7 else len(G) - len(group)
            pairs = rest * (rest - 1)
            score *= 1 if G.directed else 2
            score = score / pairs if SINCE_3_7 else score * (1 / pairs)
        scores.append(score)
    return scores if several else scores[0]
