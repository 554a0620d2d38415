"""Graph500 on one GPU: the CPU's graph, roots and components, and a validator that finds errors."""

from itertools import pairwise

import numpy as np
import pytest

import hopwave as hw
from hopwave import graph500
from hopwave.api import choice

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not choice.has_gpu(), reason="no GPU")]


@pytest.mark.parametrize(("scale", "edge_factor"), [(1, 3), (5, 16), (11, 16), (14, 1), (17, 16)])
def test_a_gpu_finds_what_the_cpu_finds(scale: int, edge_factor: int) -> None:
    there, here = (
        graph500.run(scale, edge_factor, device, roots=min(8, 1 << scale), seed=2, sssp=True)
        for device in ("cuda", "cpu")
    )
    assert there.valid and here.valid
    for one, other in zip(there.searches + there.paths, here.searches + here.paths, strict=True):
        assert (one.root, one.edges, one.depth) == (other.root, other.edges, other.depth)


@pytest.mark.parametrize("by_degree", [True, False])
def test_the_rows_hold_every_input_edge(by_degree: bool) -> None:
    from hopwave.engines.cuda.kronecker import Rows

    rows = Rows(9, 16, seed=3, by_degree=by_degree)
    rows.check()
    u, v = hw.generate.kronecker_edges(9, seed=3)
    right = sorted(zip([*u.tolist(), *v.tolist()], [*v.tolist(), *u.tolist()], strict=True))
    ids = rows.ids.get() if by_degree else np.arange(rows.n)
    tails, heads = np.repeat(ids, np.diff(rows.offsets.get())), ids[rows.neighbours.get()]
    assert sorted(zip(tails.tolist(), heads.tolist(), strict=True)) == right
    rows.neighbours[0] ^= 1
    with pytest.raises(hw.errors.EngineError, match="differs from the edges drawn"):
        rows.check()


def test_edges_of_huge_graphs_are_those_of_the_cpu() -> None:
    """Ids of 36 bits, edges beyond number 2^39: a part of a graph that no GPU can hold."""
    from hopwave.engines.cuda.kronecker import edges

    there = edges(36, 5, (1 << 39) + 7, 1000)
    here = hw.generate.kronecker_edges(36, seed=5, first=(1 << 39) + 7, count=1000)
    for one, other in zip(there, here, strict=True):
        assert one.dtype == np.int64 and int(one.max()) > 1 << 32
        np.testing.assert_array_equal(one.get(), other)


@pytest.mark.parametrize(("scale", "edge_factor"), [(1, 3), (2, 40), (9, 2), (13, 16)])
def test_searches_of_numbered_vertices_answer_by_id(scale: int, edge_factor: int) -> None:
    """From up to five vertices with an edge. No vertex without an edge may be reached."""
    import cupy

    from hopwave.engines.cuda.kronecker import Rows
    from hopwave.engines.cuda.search.workspace import NumberedWorkspace
    from hopwave.graph500.on_cuda import broken_rules
    from hopwave.planning.jobs import SearchJob

    rows, graph = Rows(scale, edge_factor, 3), hw.generate.kronecker(scale, edge_factor, seed=3)
    offsets, neighbours = rows.offsets.get(), rows.neighbours.get()
    lengths = np.diff(offsets)
    assert (np.diff(lengths) <= 0).all() and rows.n == min(rows.vertices, np.count_nonzero(lengths) + 1)
    assert all((np.diff(neighbours[begin:end]) >= 0).all() for begin, end in pairwise(offsets.tolist()))
    searches, plan = NumberedWorkspace(rows), hw.plan("hopwave-dense")
    tails, _ = hw.generate.kronecker_edges(scale, edge_factor, seed=3)
    distance, parent = (cupy.empty(rows.vertices, np.int32) for _ in range(2))
    for root in np.flatnonzero(graph.degrees)[:: max(1, graph.n // 5)].tolist():
        right = hw.bfs(graph, root, device="reference").distances
        for predecessors in (False, True):
            distance.fill(7)
            searches.launch(distance, parent if predecessors else None, (root,), SearchJob(predecessors), plan)
            np.testing.assert_array_equal(distance.get(), right)
        assert broken_rules(rows, distance, parent, root) == ()
        assert rows.edges_within(distance >= 0) == np.count_nonzero(right[tails] >= 0)
    if lengths[-1] == 0:
        alone = int(cupy.flatnonzero(rows.numbering.numbers == rows.n - 1)[-1])
        distance[alone], parent[alone] = 1, root
        assert broken_rules(rows, distance, parent, root) == ("links",)


@pytest.mark.parametrize("rule", ["edges", "levels", "span", "roots", "links"])
def test_the_validator_on_the_gpu_finds_what_is_wrong(rule: str) -> None:
    from hopwave.graph500.on_cuda import OnCuda, broken_rules

    machine = OnCuda(8, 16, seed=1)
    graph = hw.generate.kronecker(8, seed=1)
    root = int(np.argmax(graph.degrees))
    assert machine.search(root).broken == ()
    distance, parent = machine.distance.get(), machine.parent.get()
    deepest = np.flatnonzero(distance == distance.max()).tolist()
    far = next(v for v in deepest if (v + 1) % 256 not in graph.indices[slice(*graph.indptr[v : v + 2])])
    array, value = {
        "edges": (distance, 100), "levels": (distance, 1), "span": (distance, -1), "roots": (parent, far),
        "links": (parent, (far + 1) % 256),
    }[rule]  # fmt: skip
    array[far] = value
    found = broken_rules(machine.graph, machine.cp.asarray(distance), machine.cp.asarray(parent), root)
    assert rule in found
