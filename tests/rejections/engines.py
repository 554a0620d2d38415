"""Rejections by engines, on each of them."""

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


def along(graph: Graph, device: str, **how: Any) -> Any:
    return hw.betweenness_centrality(graph, weights=True, device=device, **how)


SAMPLED: Any = {"epsilon": 0.3, "method": "paths", "seed": 1}


LOOP = Graph.from_edges(["a", "b", "c"], ["b", "c", "b"], directed=True, weights=[1.0, 0.0, 0.0])
BOTH = [hw.betweenness_centrality, hw.edge_betweenness_centrality]
PATH, TEN3 = generate.path(1600), range(1000)
DRAW = ["cpu", "reference"]  # a GPU draws paths by hops only

ROWS: list[Row] = [
    (lambda device: along(line(1, -2, 1), device), GraphError, "negative"),
    (lambda device: along(line(1, np.inf, 1), device), GraphError, "infinite"),
    (lambda device: along(line(1, 0, 1), device), GraphError, "0 of 1 – 2 adds"),
    (lambda device: along(line(1e20, 1, 1), device), GraphError, "weight 1 of"),
    *each(lambda where: along(line(1, 0, 1), where, **SAMPLED), DRAW, GraphError, "be counted: weight 0 of"),
    *each(lambda where: along(line(1e20, 1, 1), where, **SAMPLED), DRAW, GraphError, "be counted: weight 1 of"),
    (lambda: hw.betweenness_centrality(LOOP, weights=True), GraphError, "from 'a' cannot be counted: weight 0 of '"),
    *each(lambda f: f(line(1, 2, 3), weights=True, plan="hopwave-block"), BOTH, PlanError, "or 'brandes-dijkstra'"),
    *each(lambda f: f(line(1, 2, 3), weights=False, plan="brandes-dijkstra"), BOTH, PlanError, "weights="),
    *each(lambda f: f(line(1, 2, 3), weights=True, plan="xbfs"), BOTH, PlanError, "is a search"),
    *each(lambda x: along(line(1, 2, 3), "cpu", cutoff=x), [-1, "far", np.nan], GraphError, "is not a length"),
    (lambda: hw.bfs(PATH, 0, threads=2, device="reference"), EngineError, "threads=2 is for device='cpu'"),
    *[
        (lambda patch, x=x, ask=ask: (patch.setenv("HOPWAVE_NUM_THREADS", x), ask(PATH)), EngineError, "NUM_THREADS")
        for x in ("0", "-1", "two", "1.5")
        for ask in (lambda G: hw.bfs(G, 0, device="cpu"), lambda G: hw.betweenness_centrality(G, device="cpu"))
    ],
    (lambda: hw.bfs_many(generate.path(1 << 20), np.zeros(4_000_000, int)), EngineError, "4,000,000 × 1,048,576"),
    (lambda patch: hw.sssp_many(little_memory(patch), np.zeros(1000, int)), EngineError, "table of 1,000 × 1,000"),
    *[
        (lambda patch, f=f, to=to, how=how: f(little_memory(patch), TEN3, targets=to, **how), EngineError, "a table of")
        for f, to, how in (
            (hw.distance_table, [*range(1000)] * 2, {"dtype": "float32"}),
            (hw.bfs_many, [1] * 2000, {}),
            (hw.distance_table, [0] * 1900, {"weights": False}),
            (hw.distance_table, [0] * 1000, {}),
            (hw.sssp_many, None, {"weights": False}),
        )
    ],
]
