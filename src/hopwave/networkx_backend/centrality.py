"""Betweenness, load, PageRank, HITS, eigenvector and Katz centrality; triangles, squares, clustering, cores, degrees,
modularity (networkx.algorithms: centrality, bipartite, link_analysis, cluster, core, community.quality).

`edge_betweenness_centrality_subset` and `group_betweenness_centrality` follow the definition. NetworkX's
values sometimes differ from it (tests/networkx_backend/test_weighted.py).
"""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

import hopwave as hw
from hopwave.errors import ConvergenceError, GraphError
from hopwave.graph import Graph
from hopwave.graph.csr import arc_tails
from hopwave.networkx_backend import dispatch
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import SINCE_3_7, Arguments, WhyNot, serves, simple
from hopwave.networkx_backend.paths import max_levels
from hopwave.networkx_backend.traversal import arc_labels

Scores = dict[Any, float]
BRANDES = dispatch.CERTIFIED + " The samples (k, seed) are NetworkX's."
WITHOUT_KEYS = simple("scores of parallel edges need edge keys, which hopwave's graphs do not store")


def countable(G: NetworkXGraph, weight: Any) -> tuple[Graph, bool]:
    """The graph, and whether arcs have lengths from the edge attribute, each large enough to change any sum."""
    lengths = np.empty(0) if weight is None else G.lengths_of(weight).values
    if len(lengths) and lengths.min() <= lengths.max() * len(G) * 2.0**-53:
        raise NotImplementedError(
            f"the edge attribute {weight!r} has a value that is 0 or vanishes in a sum with larger values: "
            "the number of shortest paths may not be defined"
        )
    return G.weighted(weight), weight is not None


class WrappedGenerator(random.Random):
    """A random.Random for hopwave, around NetworkX's wrapper of NumPy's legacy generators."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def sample(self, population: Any, k: int, **_: Any) -> list[Any]:
        return list(self._generator.sample(list(population), k))


def check_sample(n: int, k: Any, endpoints: bool) -> None:
    """Raise NetworkX's errors for a k that cannot be sampled or leads to a division by 0."""
    if k is None or k == n:
        return
    if not isinstance(k, int) or not 0 <= k <= n:
        random.Random(0).sample(range(n), k)  # raises the same error as NetworkX's call
    if k == 0 and (n if endpoints else n - 1) >= 2:
        raise ZeroDivisionError("division by zero")


def scores_of(
    score: Any, G: NetworkXGraph, k: Any, normalized: bool, weight: Any, seed: Any, run: Any, **options: Any
) -> Any:
    """A score of hopwave from all or k sources. hopwave normalises samples; `normalize` scales all other scores."""
    graph, weighted = countable(G, weight)
    k = k or None  # check_sample accepts k=0 only if all scores are 0
    by_hopwave = bool(normalized) and k is not None
    if seed is not None and not isinstance(seed, random.Random):
        seed = WrappedGenerator(seed)
    options |= {"k": k, "seed": seed, "weights": weighted}
    scores = score(graph, normalized=by_hopwave, progress=False, **options, **run).scores
    return scores if by_hopwave or not normalized else normalize(G, scores, options.get("endpoints", True))


def normalize(G: NetworkXGraph, scores: Any, endpoints: bool) -> Any:
    """Raw scores, scaled bitwise as in NetworkX, because users compare with ==. For edges, endpoints is True."""
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
        countable(G, weight)  # raises before drawing numbers if NetworkX must run the call
        seed.sample(range(k), k)  # the sample is all vertices; drawing it advances the generator as NetworkX does
    return by_edge(G, scores_of(hw.edge_betweenness_centrality, G, k, normalized, weight, seed, run))


def by_edge(G: NetworkXGraph, scores: Any) -> Scores:
    """Convert one score per arc of G.graph to a dict by edge, in the order of `G.edges`."""
    u, v = arc_labels(G, np.arange(len(G)))
    # Scores are sorted by (u, v). lexsort gives the position of each score's arc in NetworkX's order.
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
    + " Graphs without parallel edges. hopwave follows the definition; at vertices that are not "
    "targets, NetworkX splits dependencies evenly among predecessors.",
)
def edge_betweenness_centrality_subset(
    G: NetworkXGraph, sources: Any, targets: Any, normalized: bool, weight: Any, **run: Any
) -> Scores:
    total = subset_scores(hw.edge_betweenness_centrality, len(G.out_rows[1]), G, sources, targets, weight, run)
    return by_edge(G, normalize(G, total, True) if normalized else total)


def subset_scores(score: Any, size: int, G: NetworkXGraph, sources: Any, targets: Any, weight: Any, run: Any) -> Any:
    """Sums of a score of hopwave over the paths from sources to targets; repeated sources count repeatedly."""
    graph, weighted = countable(G, weight)
    times = Counter(G.number[source] for source in sources)
    goal = [G.number[target] for target in set(targets) if target in G]
    total = np.zeros(size)
    for listed in range(1, max(times.values(), default=0) + 1 if goal else 1):
        some = [v for v, count in times.items() if count >= listed]
        found = score(graph, sources=some, targets=goal, normalized=False, progress=False, weights=weighted, **run)
        total += found.scores
    return total


NO_STATES = "hopwave's graphs do not store node attributes; pass states="


@serves(
    why_not=lambda given: NO_STATES if given["states"] is None else None, notes=dispatch.CERTIFIED + " With `states=`."
)
def percolation_centrality(G: NetworkXGraph, attribute: Any, states: Any, weight: Any, **run: Any) -> Scores:
    if not all(node in states for node in G):
        raise NotImplementedError("states lacks a node; NetworkX raises an error only if a path contains this node")
    share = 1 / (len(G) - 2)  # for two vertices, NetworkX raises the same error
    graph, weighted = countable(G, weight)
    own = np.array([states[node] for node in G], np.float64)
    total = float(sum(states.values()))
    if len(G) > 2 and not (np.isfinite(own).all() and (own >= 0).all() and (total - own > 0).all()):
        raise NotImplementedError("a state is negative, or only one state is above 0, so that NetworkX divides by 0")
    if len(G) < 2:
        return G.by_node(np.zeros(len(G)) * share)
    options: Any = {"normalized": False, "progress": False, "weights": weighted, "source_weights": own, **run}
    scores = hw.betweenness_centrality(graph, **options).scores
    both = 1 if G.directed else 2  # for an undirected pair, hopwave counts the mean of both directions
    return G.by_node(scores * both / (total - own) * share)


@serves(notes="Unweighted load centrality.")
def newman_betweenness_centrality(G: NetworkXGraph, v: Any, cutoff: Any, normalized: bool) -> Any:
    limit = math.ceil(min(max_levels(cutoff), len(G)))  # NetworkX completes the level that exceeds the cutoff
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
    """The maximum betweenness of a vertex, with n vertices on its side and m on the other (Borgatti and Halgin)."""
    s, t = divmod(n - 1, m)
    return (m**2 * (s + 1) ** 2 + m * (s + 1) * (2 * t - s - 1) - t * (2 * s - t + 3)) / 2.0


@serves(
    notes="Unweighted. hopwave follows the definition; NetworkX deviates from it for some groups, and before 3.7 in "
    "directed graphs that are not strongly connected.",
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
        score, members = 0.0, [G.number[node] for node in group]
        if members:
            score = hw.group_betweenness_centrality(G.graph, members, False, bool(endpoints), progress=False)
        if normalized:
            rest = len(G) if endpoints and SINCE_3_7 else len(G) - len(group)
            pairs = rest * (rest - 1)
            score *= 1 if G.directed else 2
            score = score / pairs if SINCE_3_7 else score * (1 / pairs)
        scores.append(score)
    return scores if several else scores[0]


CORNERS = "Unweighted, of all vertices, in graphs without parallel edges."
SIMPLE = "Graphs without parallel edges, if a converted graph is cached."
EVERY_NODE = "If `nstart` is omitted or contains every node."


# ------------------------------------------------------------------ iterative centralities

SUMS = simple("the function sums the weights of parallel edges, which hopwave does not store")


def complete_start(arguments: Arguments) -> str | None:
    """The reason for falling back if nstart lacks a node: NetworkX's result then depends on the missing nodes."""
    start = arguments["nstart"]
    if start is not None and not (isinstance(start, Mapping) and set(start) == set(arguments["G"])):
        return "nstart does not contain every node exactly once, as hopwave requires"
    return SUMS(arguments)


@serves(why_not=SUMS, threshold=dispatch.DIJKSTRA, notes="In graphs without parallel edges.")
def pagerank(
    G: NetworkXGraph, alpha: Any, personalization: Any, max_iter: Any, tol: Any, nstart: Any, weight: Any, dangling: Any
) -> Scores:
    if len(G) == 0:
        return {}
    graph = G.weighted(weight)
    jumps = _per_vertex(G, personalization)
    if jumps is not None and jumps.sum() == 0:
        raise ZeroDivisionError
    start, ends = _per_vertex(G, nstart), _per_vertex(G, dangling)
    with _errors_of_networkx(max_iter):
        found = hw.linalg.algorithms.pagerank(graph, alpha, jumps, ends, start, tol, max_iter)
        return G.by_node(found.to_dense())


@serves(why_not=complete_start, threshold=dispatch.POWERS, notes=EVERY_NODE)
def eigenvector_centrality(G: NetworkXGraph, max_iter: Any, tol: Any, nstart: Any, weight: Any) -> Scores:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    if nstart is not None and all(value == 0 for value in nstart.values()):
        raise nx.NetworkXError("initial vector cannot have all zero values")
    graph, start = G.weighted(weight or None), _per_vertex(G, nstart)
    with _errors_of_networkx(max_iter):
        return _in_order(G, hw.eigenvector_centrality(graph, max_iter, tol, start), nstart)


@serves(why_not=complete_start, threshold=dispatch.POWERS, notes=EVERY_NODE)
def katz_centrality(
    G: NetworkXGraph, alpha: Any, beta: Any, max_iter: Any, tol: Any, nstart: Any, normalized: Any, weight: Any
) -> Scores:
    if len(G) == 0:
        return {}
    try:
        own: Any = float(beta)
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G.nodes):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        own = _per_vertex(G, beta)
    graph, start = G.weighted(weight), _per_vertex(G, nstart)
    with _errors_of_networkx(max_iter):
        return _in_order(G, hw.katz_centrality(graph, alpha, own, max_iter, tol, start, bool(normalized)), nstart)


@serves(
    why_not=complete_start,
    threshold=dispatch.SINGULAR,
    notes="Graphs without parallel edges. If several results are correct, as in undirected bipartite graphs, hopwave "
    "returns the one nearest to `nstart`, NetworkX a random one.",
)
def hits(G: NetworkXGraph, max_iter: Any, tol: Any, nstart: Any, normalized: Any) -> tuple[Scores, Scores]:
    if len(G) == 0:
        return {}, {}
    if SINCE_3_7 and nstart is not None and (missing := set(G.nodes) - nstart.keys()):
        raise nx.NetworkXError(f"nstart must have a value for every node; missing: {missing}")
    if len(G) == 1 or len(G.out_rows[1]) == 0:
        raise NotImplementedError("NetworkX calls SciPy here, which cannot decompose such a small matrix")
    with _errors_of_networkx(max_iter):
        hubs, authorities = hw.hits(G.weighted("weight"), max_iter, tol, _per_vertex(G, nstart), bool(normalized))
    both = hubs.scores, authorities.scores
    if SINCE_3_7 and not normalized:  # the largest score is 1
        both = both[0] / both[0].max(), both[1] / both[1].max()
    return G.by_node(both[0]), G.by_node(both[1])


@contextmanager
def _errors_of_networkx(max_iter: Any) -> Iterator[None]:
    """Turn errors of hopwave into NetworkX's, or into NotImplementedError, after which NetworkX runs the call."""
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    try:
        yield
    except ConvergenceError as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error
    except GraphError as error:
        raise NotImplementedError(str(error)) from error


def _per_vertex(G: NetworkXGraph, given: Any) -> npt.NDArray[np.float64] | None:
    """One number per vertex, 0 for nodes that are not in the mapping."""
    return None if given is None else np.array([given.get(node, 0) for node in G.nodes], np.float64)


def _in_order(G: NetworkXGraph, found: Any, start: Any) -> Scores:
    """The scores, as in NetworkX in the order of the nodes of `start` if it is passed."""
    scores = G.by_node(found.scores)
    return scores if start is None else {node: scores[node] for node in start}


# ------------------------------------------------------------------ triangles, squares, cores, degrees


SINGLE_EDGES = simple("hopwave does not count triangles with parallel edges")


def shares(G: NetworkXGraph, found: Any) -> dict[Any, Any]:
    """Scores by node; a score of 0 is an int, as in NetworkX."""
    return {node: score or 0 for node, score in G.by_node(found.scores).items()}


@serves(why_not=SINGLE_EDGES, notes=CORNERS)
def average_clustering(G: NetworkXGraph, count_zeros: Any) -> Any:
    found = [c for c in shares(G, hw.clustering(G.graph)).values() if count_zeros or c]
    return sum(found) / len(found)


def undirected(what: str) -> WhyNot:
    """The reason for falling back if the graph is directed."""
    return lambda arguments: f"hopwave counts no {what} in directed graphs" if arguments["G"].is_directed() else None


serves(
    "triangles",
    why_not=SINGLE_EDGES,
    threshold=dispatch.TRIANGLES,
    notes="For all vertices, in graphs without parallel edges.",
)(lambda G: G.by_node(hw.triangles(G.graph).scores))
serves("clustering", why_not=SINGLE_EDGES, notes=CORNERS)(lambda G: shares(G, hw.clustering(G.graph)))
serves(
    "transitivity",
    why_not=lambda arguments: undirected("triangles")(arguments) or SINGLE_EDGES(arguments),
    notes="Undirected graphs without parallel edges.",
)(lambda G: hw.transitivity(G.graph) or 0)
serves(  # parallel edges count once, as in NetworkX
    "square_clustering",
    why_not=undirected("squares"),
    threshold=dispatch.SQUARES,
    notes="For all vertices, in undirected graphs; a score of 0 is an int.",
)(lambda G: shares(G, hw.square_clustering(G.graph)))


@serves(threshold=dispatch.CORES)
def core_number(G: NetworkXGraph) -> dict[Any, int]:
    if bool((G.graph.indices == arc_tails(G.graph)).any()):
        problem = "Input graph has self loops which is not permitted"
        raise nx.NetworkXNotImplemented(f"{problem}; Consider using G.remove_edges_from(nx.selfloop_edges(G)).")
    return G.by_node(hw.core_numbers(G.graph).scores)


ONCE = simple("hopwave counts parallel edges once")


def _degrees(name: str) -> None:
    """Register degrees / (n − 1) by node; for a single node, NetworkX returns the int 1."""
    serves(name, why_not=ONCE, threshold=dispatch.DEGREES, notes=SIMPLE)(
        lambda G: G.by_node(getattr(hw, name)(G.graph).scores) if len(G) > 1 else dict.fromkeys(G.nodes, 1)
    )


for name in ("degree_centrality", "in_degree_centrality", "out_degree_centrality"):
    _degrees(name)


@serves(why_not=ONCE, threshold=dispatch.DEGREES, notes=SIMPLE)
def modularity(G: NetworkXGraph, communities: Any, weight: Any, resolution: Any) -> float:
    communities = list(communities)
    listed = [node for some in communities for node in some]
    if not len(G) == len({node for node in listed if node in G}) == len(listed):
        raise nx.community.quality.NotAPartition(G, communities)
    graph, lengths = G.weighted(weight), G.lengths.get(weight)
    if not (G.number_of_edges() if lengths is None else lengths.values.any()):
        if SINCE_3_7:
            return 0
        raise ZeroDivisionError("division by zero" if lengths is None or lengths.whole else "float division by zero")
    sets = [[G.number[node] for node in some] for some in communities]
    return hw.modularity(graph, sets, resolution, weights=weight is not None)
