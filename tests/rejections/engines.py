"""Rejections by engines, on each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import hopwave as hw
from hopwave import EngineError, Graph, GraphError, PlanError, generate
from hopwave.engines import host_memory
from rejections import Row, each


def line(*weights: float) -> Graph:
    return Graph.from_edges([0, 1, 2], [1, 2, 3], weights=weights)


def little_memory(patch: Any) -> Graph:
    """A path with lengths, on a machine with 10 MB."""
    patch.setattr(host_memory, "BYTES_ANYWHERE", 0)
    patch.setattr(host_memory, "available_memory", lambda: 10**7)
    return generate.path(1000).with_weights(np.ones(1998))


def sampled(graph: Graph, device: str) -> Any:
    return hw.betweenness_centrality(graph, epsilon=0.3, method="paths", weights=True, device=device, seed=1)


LOOP = Graph.from_edges(["a", "b", "c"], ["b", "c", "b"], directed=True, weights=[1.0, 0.0, 0.0])
BOTH = [hw.betweenness_centrality, hw.edge_betweenness_centrality]
DRAW = ["cpu", "reference"]  # a GPU draws paths by hops only

ROWS: list[Row] = [
    (lambda device: hw.betweenness_centrality(line(1, -2, 1), weights=True, device=device), GraphError, "negative"),
    (lambda device: hw.betweenness_centrality(line(1, np.inf, 1), weights=True, device=device), GraphError, "infinite"),
    (
        lambda device: hw.betweenness_centrality(line(1, 0, 1), weights=True, device=device),
        GraphError,
        "0 of 1 – 2 adds",
    ),
    (
        lambda device: hw.betweenness_centrality(line(1e20, 1, 1), weights=True, device=device),
        GraphError,
        "weight 1 of",
    ),
    *each(lambda device: sampled(line(1, 0, 1), device), DRAW, GraphError, "cannot be counted: weight 0 of"),
    *each(lambda device: sampled(line(1e20, 1, 1), device), DRAW, GraphError, "cannot be counted: weight 1 of"),
    (lambda: hw.betweenness_centrality(LOOP, weights=True), GraphError, "from 'a' cannot be counted: weight 0 of '"),
    *each(lambda f: f(line(1, 2, 3), weights=True, plan="hopwave-block"), BOTH, PlanError, "or 'brandes-dijkstra'"),
    *each(lambda f: f(line(1, 2, 3), weights=False, plan="brandes-dijkstra"), BOTH, PlanError, "weights="),
    *each(lambda f: f(line(1, 2, 3), weights=True, plan="xbfs"), BOTH, PlanError, "is a search"),
    *each(
        lambda x: hw.betweenness_centrality(line(1, 2, 3), weights=True, cutoff=x),
        [-1, "far", float("nan")],
        GraphError,
        "is not a length",
    ),
    (lambda: hw.bfs_many(generate.path(1 << 20), np.zeros(4_000_000, int)), EngineError, "4,000,000 × 1,048,576"),
    (lambda patch: hw.sssp_many(little_memory(patch), np.zeros(1000, int)), EngineError, "table of 1,000 × 1,000"),
]
