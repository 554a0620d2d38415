"""Questions besides searches on the GPU: the results of the CPU on graphs with long rows, and where they are stored."""

from typing import Any

import numpy as np
import pytest

import hopwave as hw
from graphs import TRAPS
from hopwave import Graph, generate
from hopwave.api.validate import validate

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

DEEP = generate.grid(300, 5)
GRAPHS: dict[str, Any] = {
    "kron": lambda: generate.kronecker(11, seed=3),  # a row of more pieces than one
    "rmat": lambda: generate.rmat(12, seed=5),
    "grid": lambda: generate.grid(40, 50),
    "sparse-directed": lambda: generate.uniform(3000, 4500, directed=True, seed=2),
    "parallel": lambda: Graph.from_edges([0, 0, 1, 1, 2, 2], [1, 1, 2, 2, 2, 0], repeats="keep"),
    "chain of pairs": lambda: pairs_in_a_chain(500),
    "hubs": lambda: generate.kronecker(11, 64, seed=1), "delaunay": lambda: generate.delaunay(900, seed=1),
    "deep": lambda: crowded(False), "deep-directed": lambda: crowded(True),
}  # fmt: skip
ROWS, SIMPLE, DEEPS = list(GRAPHS)[:6], ["kron", "grid"], ["deep", "deep-directed"]


def pairs_in_a_chain(count: int) -> Graph:
    """Strong components of two vertices each, in a chain that no trimming takes apart."""
    first = np.arange(0, 2 * count, 2)
    sources = np.concatenate([first, first + 1, first[1:]])
    targets = np.concatenate([first + 1, first, first[:-1] + 1])
    return Graph.from_edges(sources, targets, directed=True)


def crowded(directed: bool) -> Graph:
    """A deep graph in which one level has more vertices than a list in shared memory has room for."""
    crowd = 1500 + np.arange(1000)
    source, target = DEEP.to_edges()
    source, target = np.concatenate([source, 0 * crowd, crowd]), np.concatenate([target, crowd, 0 * crowd + 2500])
    return Graph.from_edges(source, target, n=2600, directed=directed)


def propagated(graph: Graph, **on: Any) -> Any:
    found = [hw.label_propagation(graph, seed, max_rounds=6, **on) for seed in (1, 2)]
    return [(*one.labels, one.settled) for one in found]


# Question → the graphs about which it is asked, and the answer.
ASKED: dict[str, tuple[Any, Any]] = {
    "strong components": (ROWS, lambda G, **on: hw.strongly_connected_components(G, **on).labels),
    "bipartite": (ROWS, lambda G, **on: hw.is_bipartite(G, **on)),
    "cores": (ROWS, lambda G, **on: hw.core_numbers(G, **on).scores),
    "triangles": ([*SIMPLE, "hubs", "delaunay"], lambda G, **on: hw.triangles(G, **on).scores),
    "independent set": ([*SIMPLE, "parallel"], lambda G, **on: hw.maximal_independent_set(G, 2, **on)),
    "labels": (SIMPLE, propagated),
    # Searches with more levels than policy.SWEEP.each_deep: a block per source.
    "table": (DEEPS, lambda G, **on: hw.bfs_many(G, range(0, 2600, 3), **on)),
    "limited table": (DEEPS, lambda G, **on: hw.bfs_many(G, range(0, 2600, 3), depth_limit=250, **on)),
    "closeness": (DEEPS, lambda G, **on: hw.closeness_centrality(G, range(0, 2600, 3), **on).scores),
    "harmonic": (DEEPS, lambda G, **on: hw.harmonic_centrality(G, range(0, 2600, 3), **on).scores),
    "eccentricity": (DEEPS[:1], lambda G, **on: hw.eccentricity(G.largest_component(), **on).scores),
}


@pytest.mark.parametrize(("asked", "name"), [(asked, name) for asked, (names, _) in ASKED.items() for name in names])
def test_answers_are_the_cpus_bit_for_bit(asked: str, name: str) -> None:
    graph = GRAPHS[name]()
    found, right = (ASKED[asked][1](graph, device=place) for place in ("cuda", "cpu"))
    assert np.array_equal(found, right)


@pytest.mark.parametrize("name", [*list(TRAPS)[::6], *ROWS])
def test_graphs_made_on_the_gpu(name: str) -> None:
    graph = (TRAPS | GRAPHS)[name]()
    there = graph.to("cuda")
    half = np.arange(0, graph.n, 2)
    part = there.subgraph(half)
    assert part == graph.subgraph(half) == graph.subgraph(half.tolist())
    assert part.device == "cuda"
    assert there.to_undirected() == graph.to_undirected()
    weighted = graph.with_weights(np.ones(graph.m) if not graph.directed else np.arange(graph.m) + 0.5)
    assert weighted.to("cuda").subgraph(half) == weighted.subgraph(half)
    assert weighted.to("cuda").to_undirected(combine="min") == weighted.to_undirected(combine="min")


@pytest.mark.parametrize("name", [*list(TRAPS)[::6], *ROWS])
def test_validation(name: str) -> None:
    graph = (TRAPS | GRAPHS)[name]()
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
            here = validate(graph, 0, *given, depth_limit=1)
            assert validate(there, 0, *given, depth_limit=1) == here


def test_triangles_of_vertices_with_many_neighbours_above() -> None:
    """A table of a whole block: more than half of the slots of a warp's."""
    graph = generate.complete(700)
    assert hw.triangle_count(graph, device="cuda") == 700 * 699 * 698 // 6
    assert set(hw.triangles(graph, device="cuda").scores.tolist()) == {699 * 698 // 2}


def test_hubs_of_more_vertices_than_threads() -> None:
    """Blocks meet at a barrier: there are no more of them than the GPU holds at once."""
    graph = generate.kronecker(17, 4, seed=1)
    cuda, cpu = (hw.hits(graph, device=place) for place in ("cuda", "cpu"))
    np.testing.assert_allclose(cuda.hubs.scores, cpu.hubs.scores, atol=1e-7)


def test_kronecker_graphs_are_drawn_on_the_gpu() -> None:
    """The same graph as from the edges of the host; it stays where it was made until its rows are read."""
    for directed in (False, True):
        graph = generate.kronecker(18, seed=7, directed=directed)
        assert (graph.device, graph._host) == ("cpu", None)
        source, target = generate.kronecker_edges(18, seed=7)
        assert graph == Graph.from_edges(source, target, n=1 << 18, directed=directed, device="cpu")
    assert generate.kronecker(18, seed=7, permute=False) != graph


STAY: dict[str, Any] = {
    "search": lambda graph, **on: hw.bfs(graph, 0, **on).distances,
    "searches": lambda graph, **on: hw.bfs_many(graph, range(200), **on),
    "ball": lambda graph, **on: np.sort(hw.k_hop(graph, 0, 1, **on)),
    "paths": lambda graph, **on: hw.sssp(graph, 0, **on).distances,
    "many paths": lambda graph, **on: hw.sssp_many(graph, range(30), **on),
    "table": lambda graph, **on: hw.distance_table(graph, [0, 5], [7, 9], **on).values,
    "hops": lambda graph, **on: hw.distance_table(graph, [0, 5], weights=False, dtype="hops", **on).values,
    "float32": lambda graph, **on: hw.distance_table(graph, [0, 5], weights=False, dtype="float32", **on).values,
    "hubs": lambda graph, **on: hw.hits(graph, **on).hubs.scores,
    "katz": lambda graph, **on: hw.katz_centrality(graph, alpha=0.001, **on).scores,
    "some closeness": lambda graph, **on: hw.closeness_centrality(graph, k=20, seed=1, **on).scores,
    **{
        ask.__name__: lambda graph, ask=ask, **on: ask(graph, **on).scores
        for ask in (
            hw.pagerank, hw.eigenvector_centrality, hw.triangles, hw.core_numbers, hw.clustering,
            hw.betweenness_centrality, hw.edge_betweenness_centrality, hw.closeness_centrality, hw.harmonic_centrality,
            hw.eccentricity,
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", STAY)
def test_answers_about_a_graph_on_the_gpu_stay_there(name: str) -> None:
    cupy, ask = pytest.importorskip("cupy"), STAY[name]
    graph = generate.kronecker(8, seed=3).largest_component().relabel(None)
    if name in ("paths", "many paths", "table"):
        graph = graph.with_weights(1.0 + (np.repeat(np.arange(graph.n), graph.degrees) + graph.indices) % 7)
    found, host, here = ask(graph.to("cuda"), device="cuda"), ask(graph, device="cuda"), ask(graph, device="cpu")
    assert isinstance(found, cupy.ndarray) and isinstance(host, np.ndarray)
    assert np.allclose(found.get(), here) and np.allclose(host, here)
    assert isinstance(ask(graph.to("cuda"), device="cpu"), np.ndarray)


def test_scores_on_the_gpu_are_read_as_those_of_the_host() -> None:
    cupy, graph = pytest.importorskip("cupy"), generate.kronecker(8, seed=3)
    found, here = (hw.pagerank(graph.to(place), device=place) for place in ("cuda", "cpu"))
    assert cupy.from_dlpack(found).data.ptr == found.scores.data.ptr  # no copy
    assert np.allclose(np.asarray(found), here.scores)
    assert np.allclose(list(found.to_dict().values()), list(here.to_dict().values()))
    assert np.isclose(found.top(1)[0][1], here.top(1)[0][1]) and type(found.to_pandas()) is type(here.to_pandas())


@pytest.mark.parametrize("ask", [hw.triangles, hw.triangle_count, hw.clustering, hw.transitivity, hw.pagerank])
def test_rows_that_are_on_the_gpu_are_not_copied_to_the_host(ask: Any) -> None:
    import cupy

    graph = generate.kronecker(9, seed=3)
    there = Graph.from_edges(*map(cupy.asarray, graph.to_edges()), n=graph.n)
    found = ask(there)
    assert there._host is None
    assert np.allclose(np.asarray(found), np.asarray(ask(graph, device="cpu")))


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
