"""Rejections by the public functions about graphs."""

import math
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import hopwave as hw
from hopwave import EngineError, Graph, GraphError, HopwaveError, LinalgError, PlanError, generate
from hopwave import linalg as la
from hopwave.algorithms import shortest_paths
from hopwave.api import choice
from rejections import Row, each, masked

PATH = Graph.from_edges([0, 1, 2], [1, 2, 3], directed=True)
EDGES = generate.path(3)
ARCS = generate.path(3, directed=True)
EMPTY = Graph.from_edges([], [], n=0)
NAMED = Graph.from_edges(["ann", "bob"], ["bob", "cyd"])
ABCD = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
ROADS = Graph.from_edges(["a", "b", "c", "a"], ["b", "c", "d", "d"], weights=[10.0, 25.0, 10.0, 90.0])
LENGTHS = generate.path(3).with_weights([1.0, 1.0, 2.0, 2.0])
APART = Graph.from_edges([0, 2], [1, 3], weights=[0.5, 0.5])
TWO = Graph.from_edges([0], [1], n=3, weights=[1.0])
TENS = generate.path(3).relabel([10, 20, 30])
MIXED_UP = PATH.relabel([3, 1, 0, 2])
PARALLEL = Graph.from_edges([0, 0, 1, 0], [1, 1, 2, 2], repeats="keep")
DIAMONDS = generate.diamonds(1100)
NOT_A_NUMBER: list[Any] = ["x", None, [1], np.array([0.5, 0.5]), object(), 1j]
BROKEN_LENGTHS = {wrong: Graph.from_edges([0], [1], n=4, weights=[wrong]) for wrong in (-1.0, np.inf, 1e308)}

# graphs, sources, common options
ROWS: list[Row] = [
    *each(lambda G: hw.bfs(G, 0), [[[0, 1]], np.eye(2), "web.mtx", None, 5, {0: [1]}], GraphError, "hopwave.read("),
    *each(lambda s: hw.bfs(PATH, s), [-1, 4, 2**40, [0, -1], [0, 4], [0, 2**40]], GraphError, "numbers 0 to 3"),
    *each(
        lambda s: hw.bfs(PATH, s),
        [1.0, 0.5, float("nan"), "a", None, True, [[0]], [0.0], np.array([0.5])],
        GraphError,
        "is not a vertex of this graph; its vertices are the numbers 0 to 3",
    ),
    (lambda: hw.bfs(PATH, np.array([False, True, False, True])), GraphError, "np.flatnonzero(mask)"),
    *each(lambda x: hw.bfs(MIXED_UP, x), [[False, True], np.array([False, True])], GraphError, "G.labels[mask]"),
    *each(MIXED_UP.subgraph, [[False, True], np.array([False, True])], GraphError, "G.labels[mask]"),
    (lambda: hw.bfs(NAMED, "dan"), GraphError, "labels such as 'ann'"),
    *each(lambda s: hw.bfs(PATH, s), [[], (), np.array([], int), set()], GraphError, "sources is empty"),
    *each(lambda s: hw.bfs(EMPTY, s), [0, "a", [0]], GraphError, "the graph has no vertices"),
    *each(
        lambda x: hw.bfs(PATH, 0, depth_limit=x),
        [-1, 1.5, "3", True, math.inf, math.nan, 2 + 0j, np.timedelta64(2, "s")],
        GraphError,
        "is not a number of hops; pass an integer of at least 0, or None",
    ),
    (lambda: hw.bfs(PATH, 9), ValueError, "9"),
    (lambda: hw.bfs(PATH, 0, plan="x"), ValueError, "x"),
    (lambda: hw.bfs(PATH, 0, device="x"), RuntimeError, "x"),
    # Masked entries, and types that are not numbers.
    *each(lambda ask: ask(PATH, masked([0, 1])), [hw.bfs, hw.bfs_many], GraphError, "None is not a vertex"),
    (lambda: hw.sssp(EDGES, 0, masked(np.ones(4))), GraphError, "mask"),
    (lambda: hw.pagerank(EDGES, personalization=masked(np.ones(3))), GraphError, "mask"),
    *each(lambda x: hw.sssp(PATH, 0, delta=x), ["x", [1], 1j, math.nan, math.inf, 0, -1.0], HopwaveError, "delta"),
    *each(lambda x: hw.pagerank(PATH, tol=x), [*NOT_A_NUMBER, math.nan, -1], HopwaveError, "tol"),
    *each(lambda x: hw.label_propagation(EDGES, seed=x), ["x", 0.5, -1, object()], HopwaveError, "seed"),
    (lambda: hw.maximal_independent_set(EDGES, seed=0.5), HopwaveError, "seed"),
    *each(lambda x: hw.distance_blocks(PATH, block_bytes=x), ["x", 0.5, -1, np.array([5, 5])], HopwaveError, "block"),
    *each(lambda x: hw.bfs_each(PATH, x), [None, 0, "abc", np.array(0), 1j], HopwaveError, "list of vertices"),
    *each(lambda ask: ask(PATH, np.array(0)), [hw.sssp_each, hw.bfs_many], HopwaveError, "list of vertices"),
    (lambda: hw.bfs_each(NAMED, "abc"), GraphError, "pass ['abc']"),
    (lambda: Graph.from_edges([0], [1], labels=[None, "a"]), GraphError, "label is None or NaN"),
    (lambda: EDGES.arranged().with_weights([5, 6, 7, 7]), GraphError, "two different weights"),
    # many searches and distances
    (lambda: hw.bfs_many(EDGES, 1), GraphError, "for a single vertex pass [1]"),
    (lambda: hw.bfs_many(EDGES, [9]), GraphError, "numbers 0 to 2"),
    (lambda: hw.bfs_many(EDGES, np.array([0, 9])), GraphError, "not all in this graph"),
    (lambda: hw.bfs_many(EDGES, [0], depth_limit=-1), GraphError, "is not a number of hops"),
    *each(lambda k: hw.k_hop(EDGES, 0, k), [1.5, None], GraphError, "k="),
    (lambda: hw.pairs_within(EDGES, None), GraphError, "d=None"),
    (lambda: hw.closeness_centrality(EDGES, k=1, delta=2), GraphError, "delta=2"),
    (lambda: hw.closeness_centrality(EDGES, delta=2), GraphError, "delta=2"),
    (lambda: hw.closeness_centrality(EDGES, device="reference"), EngineError, "device='cpu'"),
    (lambda: hw.harmonic_centrality(EDGES, [0], k=1), GraphError, "k= cannot be combined with chosen"),
    (lambda: hw.harmonic_centrality(EDGES, among=[0], k=1), GraphError, "k= cannot be combined with chosen"),
    *each(lambda ask: ask(EMPTY), [hw.diameter, hw.radius, hw.center, hw.periphery], GraphError, "no vertices"),
    *each(lambda ask: ask(EMPTY), [hw.wiener_index, hw.local_efficiency, hw.hyperball], GraphError, "no vertices"),
    *each(lambda ask: ask(EMPTY), [hw.is_connected, hw.is_weakly_connected], GraphError, "no vertices"),
    (lambda: hw.is_strongly_connected(EMPTY), GraphError, "no vertices"),
    *each(
        lambda ask: ask(APART.without_weights()),
        [hw.eccentricity, hw.diameter, hw.radius, hw.center, hw.barycenter, hw.average_shortest_path_length],
        GraphError,
        "is infinite: the graph is not connected",
    ),
    (lambda device: hw.diameter(APART, weights=True, device=device), GraphError, "(2 components)"),
    (lambda device: hw.barycenter(APART, weights=True, device=device), GraphError, "(2 components)"),
    (lambda device: hw.average_shortest_path_length(APART, weights=True, device=device), GraphError, "(2 components)"),
    (lambda: hw.eccentricity(APART, [0], weights=True), GraphError, "infinite: only 2 of"),
    (lambda: hw.eccentricity(ARCS, [1]), GraphError, "eccentricity of 1 is infinite: only 2 of"),
    (lambda: hw.diameter(ARCS), GraphError, ".largest()"),
    *each(lambda ask: ask(ARCS), [hw.connected_components, hw.is_connected], GraphError, "weakly_connected"),
    *each(lambda k: hw.hyperball(EDGES, precision=k), [3, 17], GraphError, "from 4 to 16"),
    *each(lambda k: hw.hyperball(EDGES, runs=k), [1, 1 << 63], GraphError, "from 2 to 65536"),
    (lambda: hw.hyperball(EDGES, seed="x"), LinalgError, "not a seed"),
    (lambda: hw.hyperball(EDGES, device="reference"), EngineError, "one search at a time"),
    (lambda: hw.hyperball(EDGES).effective_diameter(1.5), GraphError, "share=1.5"),
    (lambda patch: (no_memory(patch, 6), hw.accessibility(ROADS)), EngineError, "4 × 2 × 1 sums needs 128 bytes"),
    (lambda patch: (no_memory(patch, 16), hw.hyperball(generate.path(400))), EngineError, "smaller precision="),
    (lambda: hw.distance_histogram(EDGES, k=0), GraphError, "k=0"),
    (lambda: hw.global_efficiency(EDGES, threads=0), EngineError, "threads"),
    (lambda: hw.weakly_connected_components(ARCS, device="tpu"), EngineError, "tpu"),
    # paths
    (lambda: hw.shortest_path(ARCS, 0, 5), GraphError, "5 is not a vertex"),
    (lambda: hw.has_path(ARCS, "a", 1), GraphError, "'a' is not a vertex"),
    *each(lambda ask: ask(ARCS, 2, 0), [hw.shortest_path, hw.all_shortest_paths], GraphError, "no path from 2 to 0"),
    *each(lambda ask: ask(TWO, 0, 2), [hw.shortest_path, hw.all_shortest_paths], GraphError, "no path from 0 to 2"),
    *each(lambda x: hw.sssp(LENGTHS, 0, limit=x), [-1, math.nan, "far", True], GraphError, "is not a length"),
    (lambda: hw.sssp_many(LENGTHS, [0], limit=-1), GraphError, "is not a length"),
    (lambda: hw.distance_blocks(LENGTHS, depth_limit=-1, weights=True), GraphError, "is not a length"),
    (lambda: hw.pairs_within(LENGTHS, -1, weights=True), GraphError, "not a length"),
    (lambda: hw.sssp(LENGTHS, 0, targets=[]), GraphError, "targets=[]"),
    (lambda: hw.sssp(LENGTHS, 0, targets=2), GraphError, "2 is not a list of vertices"),
    (lambda: hw.sssp(LENGTHS, 0, method="dijkstra", threads=2), GraphError, "not 'dijkstra' on 'cpu'"),
    *each(lambda x: hw.sssp(LENGTHS, 0, method=x, trace=True), ["dijkstra", "bellman-ford"], GraphError, "trace=True"),
    (lambda: hw.sssp_each(LENGTHS, [0, 99]), GraphError, "99 is not a vertex"),
    (lambda: hw.nearest(LENGTHS, 0), GraphError, "needs k= or limit="),
    *each(lambda k: hw.nearest(LENGTHS, 0, k), [0, -1, 1.5], GraphError, "is not a number of vertices"),
    (lambda: hw.shortest_path(LENGTHS, 0, 2, device="reference", weights=True), EngineError, "weighted paths"),
    (lambda: hw.all_shortest_paths(LENGTHS, 0, 2, weights=-LENGTHS.weights), GraphError, "negative"),
    (lambda: hw.all_shortest_paths(LENGTHS, 0, 2, weights=LENGTHS.weights * np.inf), GraphError, "infinite"),
    (lambda: hw.shortest_path(BROKEN_LENGTHS[-1.0], 0, 1), GraphError, "with weights=False"),
    (lambda: hw.k_shortest_paths(TWO, 0, 2, 1), HopwaveError, "there is no path"),
    (lambda: hw.k_shortest_paths(TWO, 0, 1, 0), HopwaveError, "k=0 is not a number of paths"),
    (lambda: hw.k_shortest_paths(TWO, 0, 1, 1, device="reference"), HopwaveError, "does not support weighted paths"),
    *each(lambda x: hw.shortest_paths(TWO, x), [[0, 1], [b"\0\1"]], HopwaveError, "is not a pair of vertices"),
    *each(lambda x: hw.shortest_paths(TWO, x), [5, np.array(5)], HopwaveError, "is not a list of pairs; pass"),
    (lambda: hw.shortest_paths(TWO, pd.DataFrame({"a": [0], "b": [1]})), HopwaveError, "to_numpy"),
    (lambda: hw.shortest_paths(TWO, [(0, 9)]), HopwaveError, "9"),
    # Which method runs on which device.
    (lambda: method(threads=2), GraphError, "threads= supports only Δ-stepping on the CPU"),
    (lambda: method(method="dijkstra"), GraphError, "use method='near-far'"),
    (lambda: method(method="near-far", device="cpu"), GraphError, "use method='delta-stepping', or device='cuda'"),
    (lambda: method(method="bellman-ford", trace=True), GraphError, "omit trace="),
]


def method(**given: Any) -> Any:
    """The choice of an algorithm for shortest paths, for a GPU unless the device is given."""
    default: dict[str, Any] = {"method": "auto", "delta": None, "device": "cuda", "threads": None, "trace": False}
    return shortest_paths.choose(LENGTHS, **(default | given))


def no_memory(patch: Any, bits: int) -> None:
    """As if the machine had 2**bits bytes of free memory."""
    patch.setattr("hopwave.engines.host_memory.BYTES_ANYWHERE", 0)
    patch.setattr("hopwave.engines.host_memory.available_memory", lambda: 1 << bits)


# tables, accessibility, facilities
ROWS += [
    (lambda: hw.accessibility(ROADS, limit=[]), GraphError, "contains no distance"),
    (lambda: hw.accessibility(ROADS, limit=[10, 40, 10.0]), GraphError, "repeats a distance"),
    (lambda: hw.accessibility(ROADS, limit="far"), GraphError, "is not a length"),
    (lambda: hw.accessibility(ROADS, {"vertex": {"a": 1}}), GraphError, "would be called 'vertex'"),
    (lambda: hw.accessibility(ROADS, {"x": {}, "x within 1": {}}, [math.inf, 1]), GraphError, "called 'x within 1'"),
    (lambda: hw.accessibility(ROADS, decay=("linear", 3)), GraphError, "is not known"),
    (lambda: hw.accessibility(ROADS, decay=("gaussian", 0)), GraphError, "above 0"),
    (lambda: hw.accessibility(ROADS, decay=("gaussian", 1, 1)), GraphError, "too many"),
    (lambda: hw.accessibility(ROADS, decay=lambda d: d[:1]), GraphError, "one number for each"),
    (lambda: hw.accessibility(ROADS, decay=lambda d: math.exp(-d)), GraphError, "numpy.vectorize"),
    (lambda: hw.accessibility(ROADS, decay=lambda d: 1 if d < 5 else 0), GraphError, "must accept an array"),
    (lambda: hw.accessibility(ROADS, decay=lambda d: d - np.inf), GraphError, "finite"),
    (lambda: hw.accessibility(ROADS, [1.0, 2.0]), GraphError, "values has shape"),
    *each(lambda no: hw.accessibility(ROADS, no), [np.empty((4, 0)), pd.DataFrame([[]] * 4)], GraphError, "no columns"),
    (lambda: hw.accessibility(ROADS, {"a": {"b": "many"}}), GraphError, "not a 64-bit number"),
    (lambda: hw.accessibility(ROADS, [1.0, 2.0, np.inf, 0.0]), GraphError, "infinite"),
    (lambda: hw.accessibility(ABCD, pd.DataFrame({1: [1.0] * 4, "1": [5.0] * 4})), GraphError, "as text; rename"),
    (lambda: hw.accessibility(TENS, pd.Series([5.0, 6, 7])), GraphError, "labels such"),
    *each(lambda xy: hw.accessibility(ROADS).plot(xy=xy), [[[0, 0], [1, 1]]], GraphError, "xy has shape (2, 2)"),
    *each(lambda xy: hw.accessibility(ROADS).plot(xy=xy), [{"a": (0, 0), "b": (1, 0)}], GraphError, "coordinates"),
    *each(lambda xy: hw.accessibility(ROADS).plot(xy=xy), [{"nowhere": (0, 0)}], GraphError, "is not a vertex"),
    *each(lambda xy: hw.accessibility(ROADS).plot(xy=xy), [{"a"}, dict.fromkeys("abcd", "")], GraphError, "set_index"),
    (lambda: hw.nearest_of(ROADS, []), GraphError, "facilities is empty"),
    (lambda: hw.nearest_of(ROADS, ["a"], 0), GraphError, "k=0 is not a number of facilities"),
    (lambda: hw.isochrone(ROADS, "a", None), GraphError, "is not finite"),
    (lambda: hw.isochrone(ROADS, "a", [5]).arcs(6), GraphError, "is not a limit of this isochrone"),
    (lambda: hw.distance_table(ROADS, dtype="hops"), HopwaveError, "dtype='hops' cannot be combined"),
    (lambda: hw.distance_table(TWO.with_weights([1e300] * 2), dtype="float32"), GraphError, "dtype='float64'"),
    (lambda: hw.distance_table(ROADS, dtype="int8"), HopwaveError, "dtype='int8'"),
    (lambda: hw.distance_table(ROADS, checkpoint="x"), HopwaveError, "checkpoint= needs a table"),
    (lambda: hw.distance_table(ROADS, out="x.txt"), HopwaveError, "use .npy, .parquet or .csv"),
    (lambda: hw.distance_table(ROADS, out="x.npy", checkpoint="./x.npy"), HopwaveError, "pass two different files"),
    (lambda: hw.distance_table(ROADS, out=3), HopwaveError, "not a file name"),
    (lambda: hw.distance_table(ROADS, out="x.npy", sparse=True), HopwaveError, "sparse=True cannot be combined"),
    (lambda: hw.distance_table(ROADS, out="x.npy", targets=["a", "a"]), HopwaveError, "listed twice"),
    (lambda: hw.distance_table(ROADS, out=Path("no such folder") / "x.npy"), HopwaveError, "does not exist"),
    (lambda: hw.distance_table(ROADS, limit=-1), HopwaveError, "is not a length"),
    (lambda: hw.distance_table(ROADS, ["a"], ["b"], sparse=True)["b", "a"], GraphError, "'b' is not a source"),
    *each(lambda x: hw.distance_table(ROADS, sparse=True)[x], ["ab", "a", ("a",), 3], GraphError, "is not a pair"),
    (lambda: np.asarray(hw.distance_table(ROADS, sparse=True)), GraphError, "a sparse table is not an array"),
]

# numbers per vertex
PER_VERTEX: dict[str, Any] = {  # tests/api/test_accessibility.py asks them, too
    "accessibility": lambda x: hw.accessibility(ABCD, x, limit=0).sums,
    "counts": lambda x: hw.accessibility(ABCD, {"jobs": x}, limit=0).counts,
    "personalization": lambda x: hw.pagerank(ABCD, personalization=x),
    "dangling": lambda x: hw.pagerank(Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], directed=True), dangling=x),
    "pagerank start": lambda x: hw.pagerank(ABCD, nstart=x, tol=0.5),
    "eigenvector start": lambda x: hw.eigenvector_centrality(ABCD, nstart=x, tol=0.1),
    "katz": lambda x: hw.katz_centrality(ABCD, beta=x),
    "hits start": lambda x: hw.hits(ABCD, nstart=x, tol=0.1).hubs,
    "sources": lambda x: hw.betweenness_centrality(ABCD, source_weights=x).scores,
    "targets": lambda x: hw.edge_betweenness_centrality(ABCD, target_weights=x).scores,
    "states": lambda x: hw.percolation_centrality(ABCD, x).scores,
}
for index, word in (
    (pd.Series({"a": 1.0, "x": 1.0}), "has 'x', which is not a vertex"),
    (pd.Series([1.0, 2.0]), "has 0, which is not a vertex"),
    (pd.Series([1.0, 2.0, 3.0, 4.0])[::-1], "has 3, which is not a vertex"),
    (pd.Series([1.0, 2.0], index=["a", "a"]), "lists 'a' 2 times; pass one row per vertex"),
):
    ROWS += [row for ask in PER_VERTEX.values() for row in each(ask, [index], GraphError, word)]

ROWS += [
    (lambda: hw.betweenness_centrality(EDGES, source_weights=[1.0]), GraphError, "shape (1,)"),
    (lambda: hw.betweenness_centrality(EDGES, target_weights=-np.ones(3)), GraphError, "finite numbers of at least 0"),
    (lambda: hw.betweenness_centrality(EDGES, target_weights={1: np.nan}), GraphError, "not a 64-bit number"),
    (lambda: hw.betweenness_centrality(EDGES, source_weights={9: 1.0}), GraphError, "9"),
    (lambda: hw.betweenness_centrality(EDGES, source_weights="all"), GraphError, "numbers in vertex order"),
    (lambda: hw.betweenness_centrality(EDGES, source_weights=np.ones(3), epsilon=0.1), GraphError, "epsilon"),
    (lambda: hw.betweenness_centrality(EDGES, source_weights={1: 1.0}, sources=[0]), GraphError, "omit sources="),
    (lambda: hw.betweenness_centrality(EDGES, target_weights={1: 1.0}, targets=[0, 2]), GraphError, "target_weights="),
    (lambda: hw.percolation_centrality(EDGES, {0: 1.0, 1: "ill"}), GraphError, "states[1] is 'ill'"),
    (lambda: hw.modularity(ABCD, pd.Series({"a": 1, "b": 2})), GraphError, "does not contain vertex 'c'"),
    (lambda: hw.modularity(ABCD, pd.Series([0, 1, None, 1])), GraphError, "type float64; pass one integer"),
    (lambda: hw.modularity(ABCD, {"a": {"a"}}), GraphError, "communities['a'] is {'a'}"),
    (lambda: hw.modularity(ABCD, {"x": 1}), GraphError, "'x' is not a vertex"),
    *each(
        lambda x: hw.validate(ABCD, "a", distances=x),
        [{"a": 0, "b": 1, "c": 2, "d": 3}, {0, 1, 2, 3}, pd.Series([2, 0, 3], index=["c", "a", "d"])],
        GraphError,
        "whose order is arbitrary; pass a list or an array",
    ),
    (lambda: Graph.from_edges({0: 1}, [1]), GraphError, "src={0: 1} is a dict"),
    # sums over paths, structure
    (lambda: hw.group_betweenness_centrality(EDGES, []), GraphError, "the group is empty"),
    (lambda: hw.group_closeness_centrality(EDGES, [5]), GraphError, "5"),
    (lambda: hw.group_closeness_centrality(EDGES, 1), GraphError, "not a list of vertices"),
    (lambda: hw.load_centrality(EDGES, cutoff=-1), GraphError, "cutoff=-1"),
    (lambda: hw.stress_centrality(EDGES, device="reference", threads=2), EngineError, "threads"),
    (lambda: hw.stress_centrality(DIAMONDS), GraphError, "more than 1.8e308 shortest paths lead through"),
    (lambda patch: (no_memory(patch, 10), hw.stress_centrality(generate.path(100))), EngineError, "100 sources"),
    *each(
        lambda ask: ask(ARCS),
        [hw.bridges, hw.articulation_points, hw.biconnected_components],
        GraphError,
        "call G.to_undirected() first",
    ),
    (lambda: hw.transitivity(ARCS), GraphError, "undirected"),
    (lambda: hw.square_clustering(ARCS), GraphError, "undirected"),
    (lambda: hw.square_clustering(PARALLEL), GraphError, "parallel edges"),
    (lambda: hw.average_clustering(EMPTY), GraphError, "pass a graph with vertices"),
    (lambda: hw.average_clustering(EDGES, count_zeros=False), GraphError, "pass count_zeros=True"),
    (lambda: hw.clustering(EDGES, weights=np.zeros(4)), GraphError, "every weight is 0"),
    (lambda: hw.clustering(EDGES, weights=-np.ones(4)), GraphError, "negative"),
    *each(lambda w: hw.clustering(parallel(False), weights=w), [False, True], LinalgError, "twice"),
    *each(lambda w: hw.clustering(parallel(True), weights=w), [False, True], LinalgError, "twice"),
    *each(
        lambda ask: ask(EDGES), [hw.in_degree_centrality, hw.out_degree_centrality], GraphError, "use degree_centrality"
    ),
    *each(lambda ask: ask("web.mtx"), [hw.degree_centrality, hw.core_numbers, hw.strength], GraphError, "not a graph"),
    (lambda: hw.strength(PATH, weights=True), GraphError, "weights=True"),
    (lambda: hw.shortest_paths(ABCD, "a", "b"), GraphError, "call shortest_path(G, source, target)"),
    (lambda: hw.bfs(NAMED, "Bob"), GraphError, "did you mean 'bob'?"),
    (lambda: hw.bfs(TENS, "20"), GraphError, "did you mean 20?"),
    (lambda: hw.louvain, AttributeError, "label_propagation"),
    (lambda: hw.closeness, AttributeError, "use `closeness_centrality`"),
    (lambda: hw.set_threads, AttributeError, "HOPWAVE_NUM_THREADS"),
    (lambda: hw.mxv, AttributeError, "use `hopwave.linalg.mxv`"),
    (lambda: EDGES.add_edge, AttributeError, "Graph.from_edges"),  # type: ignore[attr-defined]
    (lambda: EDGES.pagerank, AttributeError, "use `hopwave.pagerank`"),  # type: ignore[attr-defined]
    (lambda: EDGES[0], TypeError, "use G.neighbors(vertex)"),  # type: ignore[index]
    (lambda: hw.core_numbers(EDGES).to_csv, AttributeError, "to_pandas()"),  # type: ignore[attr-defined]
    (lambda: hw.is_directed_acyclic_graph("web.mtx"), GraphError, "is not a graph"),
    (lambda: hw.is_bipartite("web.mtx"), GraphError, "is not a graph"),
    (lambda: hw.bipartite_sides(generate.cycle(3)), GraphError, "cycle of odd length; call is_bipartite first"),
    *each(lambda k: hw.k_core(EDGES, k), [-1, True], GraphError, "not a number of neighbours"),
    (lambda: hw.modularity(EDGES, [{0, 1}]), GraphError, "vertex 2 is in 0 communities"),
    (lambda: hw.modularity(EDGES, [{0, 1}, {1, 2}]), GraphError, "vertex 1 is in 2 communities"),
    (lambda: hw.modularity(EDGES, [{0, 1, 2, 9}]), GraphError, "9"),
    *each(lambda x: hw.modularity(EDGES, x), [np.zeros(2, int), np.zeros(3)], GraphError, "one integer for each"),
    *each(lambda x: hw.modularity(EDGES, [{0, 1, 2}], x), [-1, True], GraphError, "resolution="),
    (lambda: hw.modularity(EMPTY, []), GraphError, "add up to 0"),
    (lambda: hw.topological_order(EDGES), GraphError, "needs a directed graph"),
    (lambda: hw.topological_order(generate.cycle(3, directed=True)), GraphError, "on a cycle or reachable"),
    (lambda: hw.condensation(EDGES), GraphError, "needs a directed graph"),
]


def parallel(directed: bool) -> Graph:
    """Two edges between one pair."""
    return Graph.from_edges([0, 0, 1], [1, 1, 2], repeats="keep", directed=directed, weights=[1, 1, 1])


# weights
ALONG: dict[str, Any] = {  # tests/api/test_distances.py asks them, too
    "barycenter": hw.barycenter, "diameter": hw.diameter, "radius": hw.radius, "center": hw.center,
    "periphery": hw.periphery, "mean": hw.average_shortest_path_length, "sum": hw.wiener_index,
    "efficiency": hw.global_efficiency,
    "closeness": lambda G, **how: hw.closeness_centrality(G, **how).scores.tolist(),
    "harmonic": lambda G, **how: hw.harmonic_centrality(G, **how).scores.tolist(),
    "eccentricity": lambda G, **how: hw.eccentricity(G, **how).scores.tolist(),
    "blocks": lambda G, **how: [rows.tolist() for _, rows in hw.distance_blocks(G, **how)],
    "pairs": lambda G, **how: [column.tolist() for column in hw.pairs_within(G, 2, **how)],
    "table": lambda G, **how: hw.sssp_many(G, [0, 3], **how).tolist(),
}  # fmt: skip
for broken, word in (
    (-1.0, "-1 from 0 to 1 is negative"),
    (np.inf, "is infinite; omit"),
    (1e308, "is too large: sums"),
):
    ROWS += each(lambda ask, G=BROKEN_LENGTHS[broken]: ask(G, weights=True), ALONG.values(), GraphError, word)
ROWS += each(
    lambda ask: ask(EDGES, weights=True), list(ALONG.values())[:-1], GraphError, "weights, but this graph has none"
)

UNUSABLE = {
    wrong: Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "ann"], weights=[1.0, wrong, 3.0])
    for wrong in (-2.0, np.inf)
}
for broken, word in ((-2.0, "from 'bob' to 'cyd' is negative; "), (np.inf, "from 'bob' to 'cyd' is infinite; ")):
    ROWS += each(
        lambda ask, G=UNUSABLE[broken]: ask(G),
        [
            hw.pagerank, hw.eigenvector_centrality, hw.katz_centrality, hw.hits, lambda G: hw.sssp(G, "ann"),
            lambda G: hw.sssp_each(G, ["ann"]), lambda G: hw.nearest(G, "ann", 2),
            lambda G: hw.shortest_path(G, "ann", "bob"), lambda G: hw.betweenness_centrality(G, weights=True),
        ],
        GraphError,
        word,
    )  # fmt: skip

FOUR = [lambda G: hw.bfs(G, 0), lambda G: hw.sssp(G, 0), hw.closeness_centrality, hw.pagerank]

LINE = Graph.from_edges([2, 0, 1], [3, 1, 2])
REMEDY = "build the graph with Graph.from_edges(src, dst, weights=...)"
ROWS += [
    *each(lambda x: hw.sssp(LINE, 0, weights=x), [[10.0, 1, 4], [10.0, 1, 4, 10, 1, 4]], GraphError, REMEDY),
    *each(lambda x: hw.pagerank(LINE, weights=x), [[10.0, 1, 4], [10.0, 1, 4, 10, 1, 4]], GraphError, REMEDY),
    (lambda: hw.sssp(LINE, 0, weights=[10.0, 1, 4]), GraphError, "one number for each of the 6 stored arcs"),
    (lambda: hw.sssp(LINE, 0, weights=[1.0, np.nan, 1, 1, 1, 1]), GraphError, "weights[1] is NaN"),
    (lambda: hw.sssp(EDGES, 0, weights=True), GraphError, "own weights, but this graph has none"),
    (lambda: hw.sssp(la.Matrix.from_graph(EDGES), 0, weights=True), GraphError, "uses the values of a matrix"),
    (lambda: hw.pagerank(EDGES, weights="km"), GraphError, "but a Graph has none"),
    (lambda: hw.closeness_centrality(LENGTHS, weights="km"), GraphError, "pass weights=True for its own weights"),
    (lambda: hw.sssp(nx.path_graph(3), 0, weights="km"), GraphError, "no edge has the attribute 'km'"),
    (lambda: hw.sssp(nx.path_graph(3), 0, weights=True), GraphError, "no edge has the attribute 'weight'"),
    *each(lambda w: hw.sssp(nx.Graph([(0, 1, {"weight": w})]), 0), ["far", None], GraphError, "which is not a number"),
    (lambda: pytest.importorskip("hopwave.distributed").spread(LENGTHS), GraphError, "without_weights"),
    *each(lambda ask: ask(pytest.importorskip("igraph").Graph.Ring(3)), FOUR, GraphError, "Graph.from_igraph(g)"),
    *each(lambda ask: ask(pd.DataFrame({"u": [0], "v": [1]})), FOUR, GraphError, "Graph.from_pandas(table, "),
    *each(
        lambda ask: ask(pytest.importorskip("polars").DataFrame([[0]])), FOUR, GraphError, "Graph.from_pandas(table, "
    ),
    # memory, devices, validation, plans
    *each(lambda x: hw.estimate_memory(EDGES, x), [None, 3, object()], HopwaveError, "use"),
    (lambda: hw.estimate_memory(EDGES, "diameter"), GraphError, "use one of 'bfs'"),
    (lambda: hw.estimate_memory(EDGES, "from_edges"), GraphError, "(vertices, edges)"),
    (lambda: hw.estimate_memory(EDGES, "bfs", plan="xbfs"), GraphError, "plan='xbfs'"),
    (lambda: hw.estimate_memory(EDGES, "betweenness_centrality", plan="turbobc-sccsc"), GraphError, "'turbobc-sccsc'"),
    (lambda: hw.estimate_memory(EDGES, "bfs", device="cpu", k=3), GraphError, "bfs do not use k="),
    (lambda: hw.estimate_memory(EDGES, "pagerank", device="cpu", threads=2), GraphError, "do not use threads="),
    (lambda: hw.estimate_memory(EDGES, "sssp", device="cpu", predecessors=False), GraphError, "not use predecessors="),
    (lambda: hw.estimate_memory(EDGES, "bfs", source=99, device="cpu"), GraphError, "99"),
    (lambda: hw.estimate_memory(EDGES, "bfs", reduce=False), GraphError, "reduce=False"),
    *each(lambda x: hw.validate(EDGES, 0, [0, 1, 2], depth_limit=x), [-1, 1.5, "2"], GraphError, "number of hops"),
    (lambda: hw.validate(EDGES, 0), GraphError, "both None"),
    *each(lambda s: hw.validate(EDGES, s, [0, 1, 2]), [9, -1], GraphError, "is not a vertex"),
    (lambda: hw.validate(EDGES, [], [0, 1, 2]), GraphError, "sources is empty"),
    (lambda: hw.validate(EDGES, 0, [0, 1]), GraphError, "distances has 2 entries, but the graph has 3 vertices"),
    (lambda: hw.validate(EDGES, 0, predecessors=[0, 0, 1, 1]), GraphError, "predecessors has 4 entries"),
    (lambda: hw.validate(EDGES, 0, [0, 1, 2.5]), GraphError, "distances contains 2.5"),
    (lambda patch: (cuda_without_a_gpu(patch), hw.local_efficiency(EDGES, device="cuda")), EngineError, "local eff"),
    *(
        (lambda patch, ask=ask: (cuda_without_a_gpu(patch), ask(EDGES, device="cuda")), EngineError, "device='cpu'")
        for ask in (hw.stress_centrality, hw.load_centrality, hw.hyperball)
    ),
]


def cuda_without_a_gpu(patch: Any) -> None:
    """The part of the CUDA engine that works without a GPU."""
    from hopwave.engines.cuda import Engine

    real, cuda = choice.engines.engine, Engine()
    patch.setattr(cuda, "_cooperative", lambda: True)
    patch.setattr(choice.engines, "engine", lambda name: cuda if name == "cuda" else real(name))


GPU_ROWS: list[Row] = [
    *each(
        lambda x: hw.betweenness_centrality(
            generate.kronecker(8, seed=1), device="cuda", source_weights=np.full(256, 0.3), **x
        ),
        [{"plan": "hopwave-wide"}, {"plan": "turbobc-sccsc"}, {"endpoints": True, "deterministic": True}],
        PlanError,
        "",
    ),
]
