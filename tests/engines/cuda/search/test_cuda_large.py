"""hopwave's search with what large graphs use: 64-bit offsets, whole lines of answers."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave.api import choice
from hopwave.planning.jobs import SearchJob
from hopwave.planning.rules import Growing

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not choice.has_gpu(), reason="no GPU")]

GARBAGE = -77


def hubs() -> hw.Graph:
    """Two vertices with more arcs than 16 bits can count, a path, vertices without arcs; n is no multiple of 32."""
    leaves = np.arange(2, 70_002)
    path = np.arange(70_001, 70_050)
    ends = np.concatenate([0 * leaves, 0 * leaves[::2] + 1, path]), np.concatenate([leaves, leaves[::2], path + 1])
    return hw.Graph.from_edges(*ends, n=70_117)


GRAPHS = {
    "hubs": (hubs, (0, 5, 70_050, 70_110)),
    "kronecker": (lambda: hw.generate.kronecker(13, 16, seed=3), (0, 17)),
    "path": (lambda: hw.generate.path(1000), (0, 500)),
    "sparse": (lambda: hw.generate.uniform(20_001, 1, seed=2), (0, 3)),
}
# Pulls from the first level on; the usual rule; no pull at all; pulls with pushes between them.
RULES = (Growing(1e12, 1e12), Growing(10, 18), Growing(0, 0), Growing(1e12, 2))


@pytest.mark.parametrize("offset", (np.int32, np.int64, np.uint64))
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("name", GRAPHS)
def test_large_graphs_are_searched_as_on_the_cpu(name: str, rule: Growing, offset: Any) -> None:
    import cupy

    from hopwave.engines.cuda.compressed import PackedRows
    from hopwave.engines.cuda.policy import LevelSplit
    from hopwave.engines.cuda.search.workspace import Workspace

    make, sources = GRAPHS[name]
    graph = make().arranged()
    offsets, neighbours = cupy.asarray(graph.indptr.astype(offset)), cupy.asarray(graph.indices)
    if offset == np.uint64:  # packed rows
        packed = PackedRows(graph.m)
        packed.add(neighbours)
        neighbours = packed.finish().heads
    loaded = SimpleNamespace(
        n=graph.n, m=graph.m, offsets=offsets, neighbours=neighbours, in_offsets=offsets, in_neighbours=neighbours
    )
    workspace = Workspace(loaded, LevelSplit(fill=0))
    assert (workspace.degrees is None) == (offset == np.int32)
    right = hw.bfs_many(graph, sources, device="cpu")
    for source, distances in zip(sources, right, strict=True):
        for parents in (False, True):
            distance, parent = (cupy.full(graph.n, GARBAGE, np.int32) for _ in range(2))
            plan = replace(hw.plan("hopwave-dense"), rule=rule)
            ids = cupy.asarray(np.array([source], np.int32))
            workspace.launch(distance, parent if parents else None, ids, SearchJob(parents), plan)
            np.testing.assert_array_equal(distance.get(), distances)
            if parents:
                assert hw.validate(graph, source, distances, parent.get()).ok
