"""What leads through a vertex, beside betweenness: stress, load, and the paths through a group of vertices.

    σ(s, t)   shortest paths from s to t        σ(s, t | v)   those that visit v, which is neither s nor t

    stress(v) = Σ σ(s, t | v)
    group(C)  = Σ σ(s, t | C) / σ(s, t)
    load(v)   = what arrives at v if every t sends 1 to every s, and a vertex hands on what it has in equal parts to its
                neighbours one hop nearer to s

Engines sum over sources (`PathSums`); Brandes, On variants of shortest-path betweenness centrality (2008), sections 3.1
and 3.3; Everett and Borgatti, The centrality of groups and classes (1999).
"""

from __future__ import annotations

import numpy as np

from hopwave.algorithms.many_sources import polled
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import Floats, Integers, Progress
from hopwave.planning.many_sources import PathSums


def stress(engine: Engine, graph: Graph, progress: Progress, threads: int | None) -> Floats:
    """Shortest paths through every vertex. A pair of vertices of an undirected graph counts once."""
    with polled("stress", graph.n, progress) as poll:
        counts = engine.path_sums(graph, PathSums("stress"), poll, threads)
    beyond = np.flatnonzero(~np.isfinite(counts))
    if len(beyond):
        raise GraphError(
            f"more than 1.8e308 shortest paths lead through vertex {graph.label(int(beyond[0]))!r}, which float64 "
            "cannot hold; use betweenness_centrality, whose scores are shares of paths and never overflow"
        )
    return counts if graph.directed else counts / 2


def load(
    engine: Engine, graph: Graph, cutoff: int | None, normalized: bool, progress: Progress, threads: int | None
) -> Floats:
    """NetworkX's load: both directions of a pair count, also in an undirected graph."""
    with polled("load", graph.n, progress) as poll:
        scores = engine.path_sums(graph, PathSums("load", cutoff), poll, threads)
    n = graph.n
    return scores * (1.0 / ((n - 1) * (n - 2))) if normalized and n > 2 else scores


def through_group(
    engine: Engine, graph: Graph, group: Integers, endpoints: bool, progress: Progress, threads: int | None
) -> float:
    """Σ over ordered pairs of the share of their shortest paths that touch the group."""
    member = np.zeros(graph.n, np.bool_)
    member[group] = True
    with polled("group betweenness", graph.n, progress) as poll:
        return float(engine.path_sums(graph, PathSums("group", group=member, endpoints=endpoints), poll, threads).sum())
