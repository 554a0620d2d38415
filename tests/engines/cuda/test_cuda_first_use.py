"""A first use of the GPU must not wait for kernels that CuPy compiles for its own arithmetic, 0.1 to 1.7 s each.

hopwave's kernels that replace that arithmetic are compared with NumPy and SciPy.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import hopwave as hw
from hopwave import Graph, engines, generate
from hopwave.planning.catalogue import CATALOGUE

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

GUARD = """
import cupy, cupy.cuda.compiler as compiler
import numpy as np
import hopwave as hw

compile = compiler._compile_with_cache_cuda
asked = []

def only_ours(source, *arguments, **options):
    asked.append(source)
    assert "cupy/carray.cuh" not in source, "CuPy compiles a kernel of its own"
    return compile(source, *arguments, **options)

compiler._compile_with_cache_cuda = only_ours
try:
    cupy.arange(3)
    raise SystemExit("CuPy compiled a kernel without being noticed")
except AssertionError:
    assert asked
ends = np.random.default_rng(0).integers(0, 1 << 10, (2, 9000))
hub = np.arange(1, 900)
"""
CALLS = """
hw.bfs(graph, 0, device='cuda').distances
hw.bfs(graph, 0, path_counts=True, device='cuda').path_counts
hw.closeness_centrality(graph, device='cuda')
hw.bfs_many(graph, [0, 1, 2], device='cuda')
hw.pairs_within(graph, 2, device='cuda')
hw.betweenness_centrality(graph, k=8, seed=1, device='cuda')
hw.betweenness_centrality(graph, sources=[3], device='cuda')
hw.betweenness_centrality(graph, k=8, seed=1, plan='hopwave-block', device='cuda')
hw.edge_betweenness_centrality(graph, k=8, seed=1, device='cuda')
"""
RENUMBERED = """
from hopwave.engines.cuda.betweenness import regimes
regimes.MIN_ARCS_TO_RENUMBER, regimes.MIN_NEAR_SHARE = 1, 2.0
path = np.random.default_rng(1).permutation(3000)
graph = hw.Graph.from_edges(path[:-1], path[1:])
some = {'sources': [1, 2, 3], 'targets': range(0, 3000, 7), 'plan': 'hopwave-block', 'device': 'cuda'}
hw.betweenness_centrality(graph, **some)
hw.edge_betweenness_centrality(graph, **some)
"""


def test_cupy_compiles_nothing_for_us() -> None:
    """On a graph with a hub, a directed one, and a renumbered one; in a process that has compiled nothing yet."""
    program = "\n".join([
        GUARD,
        "graph = hw.Graph.from_edges(np.append(ends[0], 0 * hub), np.append(ends[1], hub))",
        "hw.connected_components(graph, device='cuda')",
        CALLS,
        "graph = hw.Graph.from_edges(*ends, directed=True)",
        CALLS,
        RENUMBERED,
    ])  # fmt: skip
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr[-2000:]


# ---------------------------------------------------------------- rows

LENGTHS: dict[str, Any] = {
    "no vertex": [],
    "one vertex": [0],
    "a loop": [1],
    "no arcs": [0] * 5000,
    "a hub": [*[1] * 4500, 70_000, *[1] * 4500],
    "about a chunk": [511, 512, 513, 0, 1024, 1025, 1, 1023, 512],
    "skewed": np.random.default_rng(1).pareto(0.6, 9000).astype(np.int64) % 30_000,
}
every_length = pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
both_offsets = pytest.mark.parametrize("dtype", [np.int32, np.int64])


def on_gpu(lengths: Any, dtype: Any) -> tuple[Any, Any, Any]:
    """The kernels for rows of these lengths, and the rows' offsets on the host and on the GPU."""
    import cupy

    from hopwave.engines.cuda.launch import kernels, offset_type

    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(dtype)
    return kernels(offset_type(offsets)), offsets, cupy.asarray(offsets)


@both_offsets
@every_length
def test_long_rows(lengths: Any, dtype: Any) -> None:
    from hopwave.engines.cuda.build import greatest_length, long_rows

    launch, offsets, there = on_gpu(lengths, dtype)
    lengths = np.diff(offsets)
    assert greatest_length(launch, there) == max(lengths, default=0)
    for least in (0, 1, 512, 4096, 10**6):
        right = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths > least)]
        found = long_rows(launch, there, int(offsets[-1]), least)
        assert found.dtype == np.int32 and (found.get() == right).all() and len(found) == len(right)


@both_offsets
@every_length
def test_lists_cut_into_chunks(lengths: Any, dtype: Any) -> None:
    from hopwave.engines.cuda.betweenness.batch import CHUNK, LONG, cut
    from hopwave.engines.cuda.betweenness.regimes import CHUNK_ARCS

    launch, offsets, there = on_gpu(lengths, dtype)
    found = cut(launch, there, None)
    chunks = found.chunks.get().view(CHUNK).ravel().tolist()
    longs = found.longs.get().view(LONG).ravel().tolist()
    right, cuts, slots = [], [], 0
    for v, (begin, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        begins = range(begin, end, CHUNK_ARCS) or [begin]
        several = len(begins) > 1
        right += [
            (at, v, min(CHUNK_ARCS, end - at), slots + place if several else -1, 0) for place, at in enumerate(begins)
        ]
        cuts += [(v, slots, len(begins))] * several
        slots += len(begins) * several
    assert chunks == sorted(right, key=lambda chunk: -chunk[2])
    assert longs == cuts and found.slots == slots


# ---------------------------------------------------------------- levels


def distances(name: str) -> Any:
    rng = np.random.default_rng(2)
    return {
        "alone": np.zeros(1),
        "nothing else": np.where(np.arange(700) == 33, 0, -1),
        "few levels": rng.integers(-1, 7, 50_000),
        "as many bins as fit": rng.integers(-1, 256, 20_000),
        "one level more": rng.integers(-1, 257, 20_000),
        "a path": np.arange(5000),
        "a path, shuffled": rng.permutation(5000),
    }[name].astype(np.int32)


@both_offsets
@pytest.mark.parametrize(
    "name",
    ["alone", "nothing else", "few levels", "as many bins as fit", "one level more", "a path", "a path, shuffled"],
)
def test_vertices_by_level(name: str, dtype: Any) -> None:
    import cupy

    from hopwave.engines.cuda.search.by_level import by_level

    distance = distances(name)
    depth = int(distance.max())
    lengths = np.random.default_rng(3).pareto(0.5, len(distance)).astype(np.int64) % 5000
    launch, _, there = on_gpu(lengths, dtype)
    order, starts, arcs = (array.get() for array in by_level(launch, there, cupy.asarray(distance), depth))
    assert (np.diff(starts) == np.bincount(distance[distance >= 0], minlength=depth + 1)).all() and starts[0] == 0
    reached = order[: starts[-1]]
    assert (np.sort(reached) == np.flatnonzero(distance >= 0)).all()
    assert (distance[reached] == np.repeat(np.arange(depth + 1), np.diff(starts))).all()
    assert (arcs == np.bincount(distance[reached], lengths[reached], depth + 1)).all()
    classes = np.digitize(lengths[reached], [5, 17, 2048])  # kernels/one_launch/by_level.cuh
    assert (np.diff(distance[reached] * 4 + 3 - classes) >= 0).all()


def test_counts_where_a_level_has_rows_of_every_class() -> None:
    """One level has two hubs, whose rows a whole block adds up, and thousands of rows for one lane each."""
    hub = np.arange(3, 6000)
    edges = np.concatenate([[0, 0], 0 * hub + 1, 0 * hub + 2]), np.concatenate([[1, 2], hub, hub])
    graph = Graph.from_edges(*edges)
    for source in (0, 1, 5):
        found = hw.bfs(graph, source, path_counts=True, device="cuda").path_counts
        assert (found == hw.bfs(graph, source, path_counts=True, device="cpu").path_counts).all()


# ---------------------------------------------------------------- new numbers


def shuffled(name: str) -> Graph:
    rng = np.random.default_rng(5)
    path, grid = rng.permutation(5000), generate.grid(40, 50)
    names = rng.permutation(grid.n)
    return {
        "path": lambda: Graph.from_edges(path[:-1], path[1:]),
        "path directed": lambda: Graph.from_edges(path[:-1], path[1:], directed=True),
        "grid": lambda: Graph.from_edges(*(names[ends] for ends in grid.to_edges())),
        "pieces": lambda: Graph.from_edges(*rng.integers(0, 3000, (2, 2500)), n=3000),
        "no arcs": lambda: Graph.from_edges([], [], n=40),
    }[name]()


@pytest.mark.parametrize("name", ["path", "path directed", "grid", "pieces", "no arcs"])
def test_a_renumbered_graph_is_the_same_graph(name: str) -> None:
    from hopwave import engines
    from hopwave.engines.cuda.renumber import neighbours_near, renumbered
    from hopwave.engines.cuda.search.one_launch import distances_from
    from hopwave.planning.catalogue import CATALOGUE

    graph = shuffled(name)
    loaded = engines.engine("cuda").load(graph, CATALOGUE["hopwave-dense"])
    asked: list[int] = []

    def search(vertex: int) -> Any:
        asked.append(vertex)
        return distances_from(loaded, vertex)[0]

    found = renumbered(loaded, search)
    order, rank = found.order.get(), found.rank
    assert (rank[order] == np.arange(graph.n)).all()
    for offsets, neighbours, fresh, moved in (
        (loaded.offsets, loaded.neighbours, found.offsets, found.neighbours),
        (loaded.in_offsets, loaded.in_neighbours, found.in_offsets, found.in_neighbours),
    ):
        assert fresh.dtype == offsets.dtype
        rows = np.split(neighbours.get(), offsets.get()[1:-1])
        right = [rank[rows[v]] for v in order]
        assert (fresh.get() == np.cumsum([0, *map(len, right)])).all()
        assert (moved.get() == np.concatenate(right)).all()
    start, one, other, second = (np.asarray(hw.bfs(graph, v, device="cpu").distances) for v in asked)
    assert asked[1:] == [int(start.argmax()), int(one.argmax()), int(np.minimum(one, other).argmax())]
    # Morton's order: interleave the bits of the two distances.
    morton = np.zeros(graph.n, np.int64)
    for shift, distance in enumerate((one, second)):
        coordinate = np.where(distance < 0, distance.max() + 1, distance)[order]
        for bit in range(16):
            morton += (coordinate >> bit & 1) << (2 * bit + shift)
    assert (np.lexsort((order, morton)) == np.arange(graph.n)).all()
    tails = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    near = neighbours_near(loaded.on_device.launch, loaded.offsets, loaded.neighbours)
    assert near == (np.abs(tails - graph.indices) < 64).sum() / max(1, graph.m)


# ---------------------------------------------------------------- components


def pieces(name: str) -> Graph:
    rng = np.random.default_rng(4)
    return {
        "one vertex": lambda: generate.path(1),
        "no arcs": lambda: Graph.from_edges([], [], n=9000),
        "a loop": lambda: Graph.from_edges([1], [1], n=3),
        "pieces": lambda: Graph.from_edges(*rng.integers(0, 20_000, (2, 9000)), n=20_000),
        "pieces directed": lambda: Graph.from_edges(*rng.integers(0, 20_000, (2, 9000)), n=20_000, directed=True),
        "hub": lambda: generate.star(9000),
        "path": lambda: generate.path(9000),
        "tiles": lambda: Graph.from_edges(np.arange(8192), np.arange(8192) // 4096 * 4096),
    }[name]()


@pytest.mark.parametrize(
    "name", ["one vertex", "no arcs", "a loop", "pieces", "pieces directed", "hub", "path", "tiles"]
)
def test_components_are_numbered_by_their_lowest_vertices(name: str) -> None:
    from hopwave import engines

    graph = pieces(name)
    found = engines.engine("cuda").components(graph, False)
    matrix = csr_array((np.ones(graph.m), graph.indices, graph.indptr), shape=(graph.n, graph.n))
    count, labels = connected_components(matrix, directed=graph.directed, connection="weak")
    first = np.sort(np.unique(labels, return_index=True)[1])  # SciPy may number components in any order
    rank = np.empty(count, np.int64)
    rank[labels[first]] = np.arange(count)
    assert found.dtype == np.int32 and (found == rank[labels]).all()


@pytest.mark.parametrize("graph", [generate.grid(9, 30), generate.kronecker(9, directed=True)], ids=str)
def test_the_depth_of_a_graph_is_the_same_on_both_sides(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    from hopwave.engines.cuda.search import one_launch

    gpu, found = engines.engine("cuda"), []
    for kept in (False, True):
        monkeypatch.setattr(one_launch, "is_kept", lambda loaded, kept=kept: kept)
        loaded = gpu.load(graph.with_weights(np.ones(graph.m)), CATALOGUE["hopwave-block"])  # a graph without records
        found.append(one_launch.probed_depth(loaded))
    assert found[0] == found[1] == hw.bfs(graph, int(graph.degrees.argmax()), device="cuda").depth
