"""A first use waits for no kernel that CuPy compiles, and hopwave's own kernels handle rows of every length."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import Graph, engines, generate
from hopwave.arrays import on_host
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
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-2000:]


# ---------------------------------------------------------------- rows of every length, levels of every width

RNG = np.random.default_rng(1)
HUB, SHUFFLED = np.arange(3, 6000), RNG.permutation(5000)


def rows(lengths: list[int]) -> Graph:
    tails = np.repeat(np.arange(len(lengths)), lengths)
    return Graph.from_edges(tails, np.concatenate([np.arange(length) for length in lengths]), 5000, directed=True)


GRAPHS: dict[str, Any] = {
    "no arcs": lambda: Graph.from_edges([], [], n=5000),
    "a loop": lambda: Graph.from_edges([1], [1], n=30),
    "star": lambda: generate.star(9000),
    "about a chunk": lambda: rows([511, 512, 513, 0, 1024, 1025, 1, 1023, 512, 4096, 4097]),
    "skewed": lambda: generate.kronecker(12, 16, seed=1),
    "path": lambda: Graph.from_edges(SHUFFLED[:-1], SHUFFLED[1:]),
    "pieces": lambda: Graph.from_edges(*RNG.integers(0, 20_000, (2, 9000)), n=20_000, directed=True),
    "tiles": lambda: Graph.from_edges(np.arange(8192), np.arange(8192) // 4096 * 4096),
    # One level has two hubs, whose rows a whole block adds up, and thousands of rows for one lane each.
    "rows of every class": lambda: Graph.from_edges(
        np.concatenate([[0, 0], 0 * HUB + 1, 0 * HUB + 2]), np.concatenate([[1, 2], HUB, HUB])
    ),
}
ASKED: dict[str, Any] = {
    "components": lambda G, **on: hw.weakly_connected_components(G, **on).labels,
    "path counts": lambda G, **on: hw.bfs(G, 1, path_counts=True, **on).path_counts,
    "sums": lambda G, **on: hw.closeness_centrality(G, range(20), **on).scores,
    "betweenness": lambda G, **on: hw.betweenness_centrality(G, sources=range(20), **on).scores,
}


@pytest.mark.parametrize("offset", [np.int32, np.int64])
@pytest.mark.parametrize("name", GRAPHS)
def test_rows_of_every_length(name: str, offset: Any) -> None:
    graph = GRAPHS[name]()
    there = Graph(graph.indptr.astype(offset), graph.indices.copy(), directed=graph.directed)
    for asked, ask in ASKED.items():
        more: dict[str, Any] = {"plan": "hopwave-batch"} if asked == "betweenness" else {}
        found, right = ask(there, device="cuda", **more), ask(graph, device="cpu")
        np.testing.assert_allclose(on_host(found), right, rtol=1e-11, atol=1e-290, err_msg=asked)


@pytest.mark.parametrize("graph", [generate.grid(9, 30), generate.kronecker(9, directed=True)], ids=str)
def test_the_depth_of_a_graph_is_the_same_on_both_sides(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    from hopwave.engines.cuda.search import one_launch

    gpu, found = engines.engine("cuda"), []
    for kept in (False, True):
        monkeypatch.setattr(one_launch, "is_kept", lambda loaded, kept=kept: kept)
        loaded = gpu.load(graph.with_weights(np.ones(graph.m)), CATALOGUE["hopwave-block"])  # a graph without records
        found.append(one_launch.probed_depth(loaded))
    assert found[0] == found[1] == hw.bfs(graph, int(graph.degrees.argmax()), device="cuda").depth
