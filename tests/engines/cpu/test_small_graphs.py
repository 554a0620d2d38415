"""The CPU has a short way for small graphs: it gives the same answers and errors as the way of large graphs.

A trace makes a search take the long way. tests/questions asks about searches and betweenness by both ways.
"""

from typing import Any

import networkx as nx
import numpy as np
import pytest

import hopwave as hw
from hopwave import EngineError, Graph, GraphError, PlanError, generate
from hopwave.engines.cpu import policy

# ------------------------------------------------------------------ searches


def test_counts_beyond_float64() -> None:
    """A path with many parallel edges at each step: its path counts outgrow float64 on few vertices."""
    steps = np.repeat(np.arange(250), 24)
    graph = Graph.from_edges(steps, steps + 1, repeats="keep", directed=True)
    assert graph.n + graph.m <= policy.SMALL_GRAPH and 3 * (graph.n + graph.m) <= policy.SMALL_JOB
    short, long = (hw.bfs(graph, 0, path_counts=True, device="cpu", trace=trace).path_counts for trace in (False, True))
    assert isinstance(short, hw.ScaledCounts) and np.array_equal(short.log2(), long.log2())
    assert short.log2()[-1] == pytest.approx(250 * np.log2(24))
    found = hw.betweenness_centrality(graph, sources=[0, 1, 2], normalized=False, device="cpu").scores
    line = nx.path_graph(graph.n, create_using=nx.DiGraph)
    right = nx.betweenness_centrality_subset(line, [0, 1, 2], list(line))
    np.testing.assert_allclose(found, list(right.values()), rtol=1e-9)


BAD: list[tuple[type[Exception], Any, dict[str, Any]]] = [
    *((GraphError, source, {}) for source in (9, -1, True, 1.0, [])),
    (GraphError, 0, {"direction": "up"}),
    (GraphError, 0, {"depth_limit": 2.5}),
    *((PlanError, 0, {"plan": plan}) for plan in ("none", "hopwave-block")),
    (EngineError, 0, {"device": "abacus"}),
    *((EngineError, 0, {"threads": threads}) for threads in (1.5, 0)),
]


@pytest.mark.parametrize(("error", "source", "asked"), BAD)
def test_bad_arguments_after_good_ones(error: type[Exception], source: Any, asked: dict[str, Any]) -> None:
    """What was kept for good arguments must not be used for bad ones that look like them."""
    graph = generate.path(9)
    for good in ({}, {"depth_limit": 2}, {"depth_limit": 10**30}, {"threads": 1}, {"threads": 2}):
        hw.bfs(graph, 1, **good)  # type: ignore[arg-type]
    assert "direction rule" in hw.bfs(graph, 1, device="cpu", depth_limit=10**30).plan.without
    with pytest.raises(error) as kept:
        hw.bfs(graph, source, **asked)
    with pytest.raises(error) as fresh:
        hw.bfs(generate.path(9), source, trace=True, **asked)
    assert str(kept.value) == str(fresh.value)
    assert "direction rule" not in hw.bfs(graph, 0, plan="hopwave", device="cpu").plan.without
