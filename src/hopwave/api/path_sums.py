"""Centralities from shortest paths other than betweenness: stress, load, and those of groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hopwave.algorithms import brandes as _sums
from hopwave.api.arguments import as_graph, check_hops, listed_vertices, vertex_ids
from hopwave.api.choice import engine_for
from hopwave.api.search import bfs
from hopwave.arrays import on_host
from hopwave.checks.options import flag
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import Integers, Progress
from hopwave.results.scores import VertexScores


def stress_centrality(
    G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None
) -> VertexScores:
    """Stress centrality: the number of shortest paths through every vertex.

    Betweenness divides by the number of shortest paths between the same endpoints; stress does not.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. In an undirected graph every pair of endpoints counts once. Parallel arcs are several paths; loops
        are on none. Weights are ignored.
    device : {"auto", "cpu", "reference"}, optional
        Where to compute; not on a GPU. "reference" counts in integers of any size and rounds once, for small graphs.

    Raises
    ------
    GraphError
        A score exceeds float64 (1.8e308). Path counts grow fast: on a grid of 520 × 520 they do.

    Notes
    -----
    Scores are exact up to 2⁵³. Larger ones are rounded: all terms are positive, so the relative error is at most about
    (n + 2 D Δ) · 2⁻⁵³, where D is the diameter and Δ the largest degree.

    Examples
    --------
    >>> hw.stress_centrality(hw.generate.cycle(4)).scores.tolist()  # two paths between opposite corners
    [1.0, 1.0, 1.0, 1.0]
    """
    graph = as_graph(G)
    engine = engine_for("path_sums", device, graph, threads, graph.n)
    scores = _sums.stress(engine, graph, progress, threads)
    return VertexScores("stress", scores, vertex_ids(graph, None), graph)


def load_centrality(
    G: Any,
    cutoff: int | None = None,
    normalized: bool = True,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> VertexScores:
    """Load centrality: the flow through a vertex if all send to all and every fork splits evenly, as in NetworkX.

    Betweenness splits by the number of shortest paths instead.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. A fork into parallel arcs has a share for each. Weights are ignored.
    cutoff : int, optional
        Maximum number of hops of the paths that count.
    normalized : bool, optional
        Whether to divide by (n − 1)(n − 2), the largest load possible.
    device : {"auto", "cpu", "reference"}, optional
        Where to compute; not on a GPU. "reference" computes with fractions, for small graphs.

    Examples
    --------
    >>> hw.load_centrality(hw.generate.path(4)).scores.round(4).tolist()
    [0.0, 0.6667, 0.6667, 0.0]
    """
    graph = as_graph(G)
    cutoff, normalized = check_hops("cutoff", cutoff), flag("normalized", normalized)
    engine = engine_for("path_sums", device, graph, threads, graph.n)
    scores = _sums.load(engine, graph, cutoff, normalized, progress, threads)
    return VertexScores("load", scores, vertex_ids(graph, None), graph)


def group_betweenness_centrality(
    G: Any,
    group: Iterable[Any],
    normalized: bool = True,
    endpoints: bool = False,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> float:
    """Group betweenness: the share of shortest paths between other vertices that visit a vertex of the group.

    It follows the definition, as NetworkX 3.7 does. Earlier versions differ for some groups of three and more, and in
    directed graphs that are not strongly connected. Weights are ignored.

    Parameters
    ----------
    group : list of vertices
        The group.
    normalized : bool, optional
        Whether to divide by the number of pairs, so that 1 means all paths. Otherwise every pair of an undirected graph
        counts once.
    endpoints : bool, optional
        Whether to count paths that begin or end in the group, too.

    Examples
    --------
    >>> hw.group_betweenness_centrality(hw.generate.star(5), [0])
    1.0
    """
    graph = as_graph(G)
    members = _group(graph, group)
    normalized, endpoints = flag("normalized", normalized), flag("endpoints", endpoints)
    engine = engine_for("path_sums", device, graph, threads, graph.n)
    total = _sums.through_group(engine, graph, members, endpoints, progress, threads)
    if not normalized:
        return total if graph.directed else total / 2
    others = graph.n if endpoints else graph.n - len(members)
    return total / (others * (others - 1)) if others > 1 else 0.0


def group_closeness_centrality(G: Any, group: Iterable[Any], device: str = "auto") -> float:
    """Group closeness: the reciprocal of the mean distance from other vertices to the nearest of the group.

    As in NetworkX, vertices without a path to the group count as if they were in it. It is 0 if there are no others.
    Weights are ignored.

    Parameters
    ----------
    group : list of vertices
        The group.

    Examples
    --------
    >>> hw.group_closeness_centrality(hw.generate.path(5), [1, 3])
    1.0
    """
    graph = as_graph(G)
    members = _group(graph, group)
    names = members.tolist() if graph.labels is None else [graph.label(v) for v in members.tolist()]
    distances = on_host(bfs(graph.reversed(), names, predecessors=False, device=device).distances)
    total = int(distances[distances > 0].sum(dtype=np.int64))
    return (graph.n - len(members)) / total if total else 0.0


def _group(graph: Graph, group: Iterable[Any]) -> Integers:
    """The ids of a group's vertices, each once."""
    members = np.unique(listed_vertices(graph, group))
    if not len(members):
        raise GraphError("the group is empty; give at least one vertex")
    return members
