"""Questions about clusters, cores, communities and order."""

from collections import Counter
from typing import Any

import networkx as nx
import numpy as np

import hopwave as hw
from questions import CPU, Row, check_independent, directed, scores, undirected
from questions.cases import Case
from questions.values import by_networkx


def weights(c: Case) -> dict[str, Any]:
    return {"weights": c.flag()}


def clustering(c: Case, weights: bool) -> Any:
    return c.listed(nx.clustering(c.nx, weight="weight" if weights else None))  # loops count among the greatest weights


def strength(c: Case, weights: bool) -> Any:
    return c.listed(dict(c.nx.degree(weight="weight" if weights else None)))


def average(c: Case) -> dict[str, Any]:
    given = weights(c)
    return given | {"count_zeros": c.flag() or not any(clustering(c, **given))}


def core(c: Case, k: int | None) -> Any:
    """Vertices and edges; loops stay with their vertex."""
    due = nx.k_core(c.simple, k)
    loops = [(v, v) for v in due if (v, v) in c.arcs]
    return sorted(due), {tuple(sorted(edge)) for edge in [*due.edges(), *loops]}


def read_core(G: hw.Graph) -> Any:
    ids = list(range(G.n)) if G.labels is None else G.labels.tolist()
    return ids, {tuple(sorted(edge)) for edge in G.edges()}


def split(c: Case) -> dict[str, Any]:
    parts = [c.draw.randrange(3) for _ in range(c.n)]
    c.memory["sets"] = [{v for v in range(c.n) if parts[v] == part} for part in sorted(set(parts))]
    given = c.draw.choice((c.memory["sets"], parts, np.array(parts), dict(enumerate(parts))))
    return {"communities": given, "resolution": c.draw.choice((1.0, 0.5, 2.0)), "weights": c.flag()}


def modularity(c: Case, resolution: float, weights: bool, **_: Any) -> float:
    return nx.community.modularity(c.nx, c.memory["sets"], "weight" if weights else None, resolution)  # type: ignore[no-any-return]


def check_communities(c: Case, found: Any, **_: Any) -> None:
    """A settled vertex has a label that is most frequent among its neighbours."""
    labels = found.labels.tolist()
    for v, neighbours in c.neighbours().items():
        often = Counter(labels[u] for u in neighbours)
        assert not found.settled or not neighbours or often[labels[v]] == max(often.values())
    sets = [{v for v in range(c.n) if labels[v] == part} for part in sorted(set(labels))]
    if c.edges:
        assert abs(found.modularity - nx.community.modularity(c.nx, sets, None)) < 1e-9


def check_order(c: Case, order: Any) -> None:
    at = 0
    for part in nx.topological_generations(c.nx):
        assert sorted(order[at : at + len(part)]) == sorted(part)
        at += len(part)
    assert at == len(order)


def acyclic(c: Case) -> bool:
    return c.directed and nx.is_directed_acyclic_graph(c.nx)


def seeded(c: Case) -> dict[str, Any]:
    return {"seed": c.draw.randrange(99)}


ROWS = [
    Row("hw.clustering", clustering, "weighted", weights, scores, only=lambda c: any(c.lengths), large=True),
    Row("hw.average_clustering",
        lambda c, weights, count_zeros: nx.average_clustering(c.nx, None, "weight" if weights else None, count_zeros),
        "weighted", average, only=lambda c: any(c.lengths)),
    Row("hw.transitivity", lambda c: float(nx.transitivity(c.simple)), only=undirected, large=True),
    Row("hw.square_clustering", lambda c: c.listed(nx.square_clustering(c.simple)), read=scores, only=undirected,
        devices=CPU),
    Row("hw.triangles", lambda c: c.listed(nx.triangles(c.simple)), read=scores, only=undirected, large=True),
    Row("hw.triangle_count", lambda c: sum(nx.triangles(c.simple).values()) // 3, only=undirected, large=True),
    Row("hw.core_numbers", lambda c: c.listed(nx.core_number(c.simple)), read=scores, only=undirected, large=True),
    Row("hw.k_core", core, given=lambda c: {"k": c.draw.choice((None, 0, 1, 2, 3))}, read=read_core, only=undirected),
    Row("hw.degree_centrality", by_networkx("degree_centrality"), read=scores, devices=CPU),
    Row("hw.strength", strength, "weighted", weights, read=scores, devices=CPU),
    Row("hw.in_degree_centrality", by_networkx("in_degree_centrality"), read=scores, only=directed, devices=CPU),
    Row("hw.out_degree_centrality", by_networkx("out_degree_centrality"), read=scores, only=directed, devices=CPU),
    Row("hw.modularity", modularity, "weighted", split, only=lambda c: sum(c.lengths) > 0, devices=CPU),
    Row("hw.label_propagation", given=seeded, read=None, check=check_communities, only=undirected),
    Row("hw.maximal_independent_set", given=seeded, read=None, check=check_independent, only=undirected),
    Row("hw.is_directed_acyclic_graph", acyclic, devices=CPU, large=True),
    Row("hw.topological_order", read=None, check=check_order, only=acyclic, devices=CPU),
]  # fmt: skip
