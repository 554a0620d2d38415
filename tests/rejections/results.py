"""Rejections by the methods of results: dictionaries, paths, tables, pictures."""

import sys
from datetime import date, datetime
from typing import Any

import pyarrow as pa

import hopwave as hw
from hopwave import EngineError, GraphError
from rejections import Row, each

NAMED = hw.Graph.from_edges(["ann", "bob", "dan"], ["bob", "cyd", "eve"])
STAR, MIXED = hw.generate.star(4), hw.generate.path(2).relabel([1, "a"])
DATES = hw.generate.path(2).relabel([date(2020, 1, 1), datetime(2020, 1, 1, 5)])
SCORES = [hw.closeness_centrality, hw.betweenness_centrality, hw.edge_betweenness_centrality]
TABLES = [
    lambda: hw.bfs(NAMED, "ann"), lambda: hw.sssp(NAMED, "ann"), lambda: hw.betweenness_centrality(NAMED),
    lambda: hw.edge_betweenness_centrality(NAMED), lambda: hw.core_numbers(NAMED),
    lambda: hw.distance_histogram(NAMED), lambda: hw.connected_components(NAMED),
    lambda: hw.bfs(NAMED, "ann", trace=True).trace, lambda: NAMED.edges(),
]  # fmt: skip
PLOTS = [
    lambda: hw.bfs(NAMED, "ann"), lambda: hw.bfs(NAMED, "ann", trace=True).trace, lambda: hw.sssp(NAMED, "ann"),
    lambda: hw.betweenness_centrality(NAMED), lambda: hw.distance_histogram(NAMED),
]  # fmt: skip


def without(patch: Any, module: str, ask: Any) -> Any:
    """The result of a call; a library is then missing."""
    found = ask()
    patch.setitem(sys.modules, module, None)
    return found


ROWS: list[Row] = [
    *each(lambda read: read(hw.bfs(MIXED, 1)), [hw.BFSResult.to_polars, pa.table], GraphError, "use to_pandas()"),
    (lambda: pa.table(hw.core_numbers(DATES)), GraphError, "several types, exceed 64 bits or would be rounded"),
    (lambda: hw.generate.path(3).relabel([0.5, 2**62 + 1, 7]).edges().to_polars(), GraphError, "would be rounded"),
    *each(lambda ask: ask(NAMED, "ann")["eve"], [hw.bfs, hw.sssp], GraphError, "this search did not reach"),
    *each(lambda ask: ask(NAMED, "ann")["zoe"], [hw.bfs, hw.sssp], GraphError, "'zoe' is not a vertex"),
    (lambda: hw.bfs(NAMED, "ann").path_to("eve"), GraphError, "this search did not reach"),
    (lambda: hw.bfs(hw.generate.path(3), 0, depth_limit=1).path_to(2), GraphError, "this search did not reach"),
    (lambda: hw.bfs(NAMED, "ann").path_to("zoe"), GraphError, "'zoe' is not a vertex"),
    (lambda: hw.bfs(NAMED, "ann", predecessors=False).path_to("bob"), GraphError, "predecessors=True"),
    *(row for k in (-1, 1.5, "all", None, True)
      for row in each(lambda ask, k=k: ask(STAR).top(k), SCORES, GraphError, "is not a number of scores")),
    *(row for top in (0, -1, 1.5, "3")
      for row in each(lambda ask, top=top: ask(STAR).plot(top=top), SCORES, GraphError, "is not a number of bars")),
    *each(lambda ask: ask().plot("x.png"), PLOTS, GraphError, "figure.savefig('x.png')"),
    *each(lambda ask, patch: without(patch, "pandas", ask).to_pandas(), TABLES, EngineError, '"hopwave[io]"'),
    *each(lambda ask, patch: without(patch, "matplotlib.pyplot", ask).plot(), PLOTS, EngineError, '"hopwave[plot]"'),
]  # fmt: skip
