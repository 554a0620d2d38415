"""Questions besides searches on the GPU: the results of the CPU on graphs with long rows, and where results are stored.

tests/questions asks every public function on every trap.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from graphs import TRAPS
from hopwave import Graph, GraphError, generate
from hopwave.api.validate import validate

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

OTHERS: dict[str, Any] = {
    "kron": lambda: generate.kronecker(11, seed=3),  # a row of more pieces than one
    "rmat": lambda: generate.rmat(12, seed=5),
    "grid": lambda: generate.grid(40, 50),
    "sparse-directed": lambda: generate.uniform(3000, 4500, directed=True, seed=2),
    "loops": lambda: Graph.from_edges([0, 1, 2, 2, 3], [0, 1, 3, 4, 3], directed=True),
    "parallel": lambda: Graph.from_edges([0, 0, 1, 1, 2, 2], [1, 1, 2, 2, 2, 0], repeats="keep"),
    "chain of pairs": lambda: pairs_in_a_chain(500),
}  # fmt: skip


def pairs_in_a_chain(count: int) -> Graph:
    """Strong components of two vertices each, in a chain that no trimming takes apart."""
    first = np.arange(0, 2 * count, 2)
    sources = np.concatenate([first, first + 1, first[1:]])
    targets = np.concatenate([first + 1, first, first[:-1] + 1])
    return Graph.from_edges(sources, targets, directed=True)


@cache
def graph_of(name: str) -> Graph:
    graph: Graph = (TRAPS | OTHERS)[name]()
    return graph


FEW = [*list(TRAPS)[::6], *OTHERS]  # for what does not depend on the shape of a graph


@pytest.mark.parametrize("name", OTHERS)
def test_components_and_sides(name: str) -> None:
    graph = graph_of(name)
    strong = [hw.strongly_connected_components(fresh(graph), device=place).labels for place in ("cuda", "cpu")]
    assert strong[0].tolist() == strong[1].tolist()
    assert hw.is_bipartite(graph, device="cuda") == hw.is_bipartite(graph, device="cpu")
    if hw.is_bipartite(graph, device="cpu"):
        sides = [hw.bipartite_sides(graph, device=place).tolist() for place in ("cuda", "cpu")]
        assert sides[0] == sides[1]
    else:
        with pytest.raises(GraphError, match="odd length"):
            hw.bipartite_sides(graph, device="cuda")


@pytest.mark.parametrize("name", OTHERS)
def test_cores_labels_and_independent_sets(name: str) -> None:
    graph = graph_of(name)
    cores = [hw.core_numbers(graph, device=place).scores.tolist() for place in ("cuda", "cpu")]
    assert cores[0] == cores[1]
    if graph.directed:
        return
    if name != "parallel":
        counts = [hw.triangles(graph, device=place).scores for place in ("cuda", "cpu")]
        assert counts[0].tolist() == counts[1].tolist()
        assert 3 * hw.triangle_count(graph, device="cuda") == counts[1].sum()
    for seed in (1, 2):
        chosen = [hw.maximal_independent_set(graph, seed, device=place).tolist() for place in ("cuda", "cpu")]
        assert chosen[0] == chosen[1]
        if name == "parallel":  # refused on a CPU
            continue
        found = [hw.label_propagation(graph, seed, max_rounds=6, device=place) for place in ("cuda", "cpu")]
        assert found[0].labels.tolist() == found[1].labels.tolist()
        assert found[0].settled == found[1].settled


@pytest.mark.parametrize("name", FEW)
def test_graphs_made_on_the_gpu(name: str) -> None:
    graph = graph_of(name)
    there = graph.to("cuda")
    half = np.arange(0, graph.n, 2)
    part = there.subgraph(half)
    assert part == graph.subgraph(half) == graph.subgraph(half.tolist())
    assert part.device == "cuda"
    assert there.to_undirected() == graph.to_undirected()
    weighted = graph.with_weights(np.ones(graph.m) if not graph.directed else np.arange(graph.m) + 0.5)
    assert weighted.to("cuda").subgraph(half) == weighted.subgraph(half)
    assert weighted.to("cuda").to_undirected(combine="min") == weighted.to_undirected(combine="min")


@pytest.mark.parametrize("name", FEW)
def test_validation(name: str) -> None:
    graph = graph_of(name)
    if not graph.n:
        return
    there = graph.to("cuda")
    for depth_limit in (None, 1):
        found = hw.bfs(there, 0, depth_limit=depth_limit, device="cuda")
        d, p = found.distances, found.predecessors
        assert validate(there, 0, d, p, depth_limit=depth_limit).ok
        assert validate(there, 0, d, depth_limit=depth_limit).ok
        assert validate(there, 0, predecessors=p, depth_limit=depth_limit).ok
    d, p = (array.get() for array in (found.distances, found.predecessors))
    rng = np.random.default_rng(graph.n)
    for _ in range(20):  # one wrong entry: the same verdict and the same sentences as on the CPU
        wrong_d, wrong_p, at = d.copy(), p.copy(), rng.integers(graph.n)
        if rng.random() < 0.5:
            wrong_d[at] = rng.integers(-2, 4)
        else:
            wrong_p[at] = rng.integers(-2, graph.n + 1)
        for given in ((wrong_d, wrong_p), (wrong_d,)):
            here = validate(fresh(graph), 0, *given, depth_limit=1)
            assert validate(there, 0, *given, depth_limit=1) == here


@pytest.mark.parametrize("size", [9, 90])
def test_paths_that_one_block_does_not_walk_back(size: int) -> None:
    """A path with more vertices than a block walks back, and one that needs arcs of length 0."""
    for lengths in ([2.0] * (size - 1), [2.0, *[0.0] * (size - 2)]):
        graph = Graph.from_edges(range(size - 1), range(1, size), weights=lengths)
        assert hw.shortest_path(graph, 0, size - 1, device="cuda") == list(range(size))


def test_triangles_of_vertices_with_many_neighbours_above() -> None:
    """A table of a whole block: more than half of the slots of a warp's."""
    graph = generate.complete(700)
    assert hw.triangle_count(graph, device="cuda") == 700 * 699 * 698 // 6
    assert set(hw.triangles(graph, device="cuda").scores.tolist()) == {699 * 698 // 2}
    for graph in (generate.kronecker(11, 64, seed=1), generate.delaunay(900, seed=1), generate.star(70)):
        each = hw.triangles(graph, device="cpu").scores
        assert np.array_equal(hw.triangles(graph, device="cuda").scores, each)
        assert 3 * hw.triangle_count(graph, device="cuda") == each.sum()


def test_hubs_of_more_vertices_than_threads() -> None:
    """Blocks meet at a barrier: there are no more of them than the GPU holds at once."""
    graph = generate.kronecker(17, 4, seed=1)
    cuda, cpu = (hw.hits(graph, device=place) for place in ("cuda", "cpu"))
    np.testing.assert_allclose(cuda.hubs.scores, cpu.hubs.scores, atol=1e-7)


@pytest.mark.parametrize("directed", [False, True])
def test_deep_graphs_have_a_block_per_source(directed: bool) -> None:
    """Tables, sums and histograms of searches with more levels than policy.SWEEP.each_deep, bit for bit."""
    wide = generate.grid(300, 5)
    source, target = wide.to_edges()
    crowd = np.arange(1000)  # more neighbours at one level than a list in shared memory has room for
    source = np.concatenate([source, np.zeros(1000, int), 1500 + crowd])
    target = np.concatenate([target, 1500 + crowd, np.full(1000, 2500)])
    graph = Graph.from_edges(source, target, n=2600, directed=directed)
    sources = list(range(0, 2600, 3))
    for limit in (None, 250):
        tables = [hw.bfs_many(graph, sources, depth_limit=limit, device=place) for place in ("cuda", "cpu")]
        assert np.array_equal(*tables)
    for question in (hw.closeness_centrality, hw.harmonic_centrality):
        scores = [question(graph, sources, device=place).scores for place in ("cuda", "cpu")]
        assert np.array_equal(*scores)
    if not directed:
        path = graph.largest_component()
        far = [hw.eccentricity(path, device=place).scores for place in ("cuda", "cpu")]
        assert np.array_equal(*far)


def fresh(graph: Graph) -> Graph:
    """A copy of the graph with nothing prepared."""
    return Graph(graph.indptr.copy(), graph.indices.copy(), directed=graph.directed)


def test_kronecker_graphs_are_drawn_on_the_gpu() -> None:
    """The same graph as from the edges of the host; it stays where it was made until its rows are read."""
    for directed in (False, True):
        graph = generate.kronecker(18, seed=7, directed=directed)
        assert (graph.device, graph._host) == ("cpu", None)
        source, target = generate.kronecker_edges(18, seed=7)
        assert graph == Graph.from_edges(source, target, n=1 << 18, directed=directed, device="cpu")
    assert generate.kronecker(18, seed=7, permute=False) != graph


SCORES = {
    "pagerank": hw.pagerank,
    "eigenvector": hw.eigenvector_centrality,
    "katz": lambda graph, **options: hw.katz_centrality(graph, alpha=0.001, **options),
    "hubs": lambda graph, **options: hw.hits(graph, **options).hubs,
    "triangles": hw.triangles,
    "cores": hw.core_numbers,
    "clustering": hw.clustering,
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_of_a_graph_on_the_gpu_stay_there(name: str) -> None:
    import cupy

    ask, graph = SCORES[name], hw.generate.kronecker(8, seed=3)
    there, here = ask(graph.to("cuda")), ask(graph, device="cpu")
    assert isinstance(there.scores, cupy.ndarray)
    assert cupy.from_dlpack(there).data.ptr == there.scores.data.ptr  # no copy
    assert np.allclose(np.asarray(there), here.scores) and np.allclose(list(there.to_dict().values()), here.scores)
    assert np.isclose(there[5], here[5]) and np.isclose(there.top(1)[0][1], here.top(1)[0][1])
    assert isinstance(ask(graph, device="cuda").scores, np.ndarray)
    assert isinstance(ask(graph.to("cuda"), device="cpu").scores, np.ndarray)


@pytest.mark.parametrize("ask", [hw.triangles, hw.triangle_count, hw.clustering, hw.transitivity, hw.pagerank])
def test_rows_that_are_on_the_gpu_are_not_copied_to_the_host(ask: Any) -> None:
    import cupy

    graph = hw.generate.kronecker(9, seed=3)
    expected = ask(graph, device="cpu")
    there = Graph.from_edges(*map(cupy.asarray, graph.to_edges()), n=graph.n)
    found = ask(there)
    assert there._host is None
    assert np.allclose(np.asarray(found), np.asarray(expected))
    assert there == graph and hw.linalg.Matrix.from_graph(there).rows.indices.tolist() == graph.indices.tolist()


@pytest.mark.parametrize("whole", [True, False], ids=["whole lengths", "fractions"])
def test_tables_along_weights_by_searches_at_the_same_time(whole: bool) -> None:
    """From a million arcs on, four searches share the GPU; fewer have all of it."""
    graph = generate.kronecker(15, 24, seed=2)
    tails, heads = graph.to_edges()
    lengths = np.random.default_rng(1).random(len(tails))
    weighted = Graph.from_edges(tails, heads, graph.n, weights=np.rint(lengths * 255) if whole else lengths)
    assert weighted.m > 1 << 20
    for count in (3, 6):
        sources = list(range(count))
        right = hw.sssp_many(weighted, sources, device="cpu")
        assert (hw.sssp_many(weighted, sources, device="cuda") == right).all()
        assert (hw.sssp_many(weighted.to("cuda"), sources, device="cuda").get() == right).all()
