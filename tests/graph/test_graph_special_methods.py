"""Methods of Graph: immutability, equality, copies, round trips to other libraries, labels, degrees, statistics."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs import TRAPS, graphs
from hopwave import Graph, generate

ARRAYS = ["indptr", "indices", "in_indptr", "in_indices", "degrees", "in_degrees"]


def rows(indptr: Any, indices: Any) -> list[list[int]]:
    return [indices[indptr[v] : indptr[v + 1]].tolist() for v in range(len(indptr) - 1)]


def sample(directed: bool = True) -> Graph:
    return Graph.from_edges([0, 0, 0, 1, 3, 2, 4], [1, 2, 3, 3, 1, 3, 4], n=6, directed=directed)


# ---------------------------------------------------------------- immutable


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_only(name: str, directed: bool) -> None:
    graph = sample(directed)
    for one in (graph, graph.arranged(), graph.reversed(), pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        with pytest.raises(ValueError, match="read-only"):
            getattr(one, name)[:] = 0


@pytest.mark.parametrize("name", ["n", "m", "directed", "labels", "order", "something_new", *ARRAYS])
def test_attributes_cannot_be_set(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(sample(), name, 1)


@pytest.mark.parametrize("names", [["a", "b"], np.array(["a", "b"]), np.array(["a", "b"], object)])
def test_labels_cannot_be_changed(names: Any) -> None:
    graph = Graph.from_edges([0], [1], labels=names)
    names[0] = "z"
    assert graph.labels is not None and graph.labels.tolist() == ["a", "b"]
    assert graph.index("a") == 0
    for one in (graph, pickle.loads(pickle.dumps(graph))):
        with pytest.raises(ValueError, match="read-only"):
            one.labels[0] = "z"


def test_building_leaves_the_input_alone() -> None:
    source, target = np.array([2, 1, 0], np.int32), np.array([0, 2, 1], np.int32)
    Graph.from_edges(source, target).in_degrees.sum()
    assert source.tolist() == [2, 1, 0] and target.tolist() == [0, 2, 1]
    assert source.flags.writeable and target.flags.writeable


def test_equality() -> None:
    graph = Graph.from_edges([0, 1], [1, 2])
    assert graph == Graph.from_edges([2, 1], [1, 0])
    assert graph != Graph.from_edges([0, 1], [1, 2], n=4)
    assert graph != Graph.from_edges([0, 1], [1, 0], n=3)
    assert graph != Graph.from_edges([0, 1], [1, 2], labels=["a", "b", "c"])
    assert Graph.from_edges(["a"], ["b"]) != Graph.from_edges(["a"], ["c"])
    assert Graph.from_edges(["a"], ["b"]) == Graph.from_edges(["a"], ["b"])
    symmetric = Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 1], directed=True)
    assert np.array_equal(symmetric.indices, graph.indices) and graph != symmetric
    assert graph != "a graph"
    with pytest.raises(TypeError, match="unhashable"):
        hash(graph)


def test_repr_and_len() -> None:
    assert repr(sample()) == "Graph(6 vertices, 7 edges, directed)"
    assert repr(Graph.from_edges(["a"], ["b"])) == "Graph(2 vertices, 1 edge, undirected, labelled)"
    assert repr(generate.path(1235)) == "Graph(1,235 vertices, 1,234 edges, undirected)"
    assert len(sample()) == 6


def test_edges_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loops = Graph.from_edges([0, 0, 1, 2, 2], [0, 1, 2, 2, 0])
    assert (loops.number_of_vertices, loops.number_of_edges, loops.m) == (3, 5, 8)
    assert Graph.from_edges([0, 0, 0], [1, 1, 0], repeats="keep").number_of_edges == 3
    monkeypatch.setattr("hopwave.graph.arrays._ROWS_AT_ONCE", 7)
    for directed in (False, True):
        many = generate.uniform(300, 2000, directed=directed, seed=1)
        assert many.number_of_edges == len(many.edges()) == many.to_networkx().number_of_edges()
    monkeypatch.setattr("hopwave.graph.arrays._COUNTED", 10)
    large = generate.path(9)
    assert "16 stored arcs" in repr(large), "counting would take long"
    assert large.number_of_edges == 8 and "8 edges" in repr(large)


def test_lazy_properties_are_safe_with_several_threads() -> None:
    lazy = ["in_indices", "degrees", "in_degrees", "stats", "arranged", "reversed"]
    for _ in range(5):
        graph = generate.kronecker(10, directed=True)
        alone = generate.kronecker(10, directed=True)

        def ask(name: str, graph: Graph = graph) -> Any:
            value = getattr(graph, name)
            return value() if callable(value) else value

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, lazy * 8))
        for name, answer in zip(lazy * 8, answers, strict=True):
            expected = ask(name, alone)
            assert np.array_equal(answer, expected) if isinstance(answer, np.ndarray) else answer == expected


# ---------------------------------------------------------------- any graph


@given(graphs(), st.randoms(use_true_random=False))
def test_any_graph(graph: Graph, random: Any) -> None:
    """Copies and round trips are equal; transpose, reverse, arranged rows and statistics are those of the matrix."""
    A, directed, stats = graph.to_scipy(np.int64).toarray(), graph.directed, graph.stats()
    arranged, back, degree = graph.arranged(), graph.reversed(), A.sum(axis=1)
    names = [f"v{i}" for i in range(graph.n)]
    random.shuffle(names)
    named = Graph.from_edges(*graph.to_edges(), n=graph.n, directed=directed, labels=names)
    assert Graph.from_networkx(named.to_networkx()) == named
    assert list(named.reversed()) == list(named.arranged()) == names
    for other in (
        pickle.loads(pickle.dumps(graph)), copy.copy(graph), copy.deepcopy(graph), back.reversed(),
        Graph.from_edges(*graph.to_edges(), n=graph.n, directed=directed),
        Graph.from_csr(graph.indptr, graph.indices, directed=directed),
        Graph.from_scipy(graph.to_scipy(), directed=directed), Graph.from_networkx(graph.to_networkx()),
    ):  # fmt: skip
        assert other == graph and other.stats() == stats
        assert other.directed or other.in_indices is other.indices, "an undirected graph keeps one copy"
    assert rows(graph.indptr, graph.indices) == [np.flatnonzero(row).tolist() for row in A]
    assert rows(graph.in_indptr, graph.in_indices) == [np.flatnonzero(column).tolist() for column in A.T]
    assert graph.degrees.tolist() == degree.tolist() and graph.in_degrees.tolist() == A.sum(axis=0).tolist()
    assert np.array_equal(back.to_scipy().toarray(), A.T) and back.directed == directed and (directed or back is graph)
    # neighbours by descending in-degree, ties ascending (Hiragushi, section 3.4)
    assert arranged.arranged() is arranged and graph.arranged() is arranged and arranged.stats() == stats
    assert (arranged.order, graph.order) == ("degree", "ascending") and np.array_equal(arranged.indptr, graph.indptr)
    assert list(map(sorted, rows(arranged.indptr, arranged.indices))) == rows(graph.indptr, graph.indices)
    for one in (arranged, arranged.reversed(), back.arranged()):
        rank = [(-into, v) for v, into in enumerate(one.in_degrees.tolist())]
        for row in rows(one.indptr, one.indices) + rows(one.in_indptr, one.in_indices):
            assert row == sorted(row, key=rank.__getitem__)
    assert (stats.n, stats.m, stats.max_degree) == (graph.n, A.sum(), degree.max())
    assert stats.mean_degree == pytest.approx(degree.mean()) and stats.std_degree == pytest.approx(degree.std())
    assert stats.self_loops == np.trace(A)
    assert stats.isolated == np.count_nonzero((A.sum(axis=0) == 0) & (degree == 0))
    if stats.m:
        assert stats.scf == pytest.approx(degree @ A @ degree / (graph.n * degree.max()))
    assert graph.stats() is stats, "computed once"


def test_exported_arrays_are_copies() -> None:
    graph = generate.path(3)
    for array in (*graph.to_edges(), graph.to_scipy().indices, graph.to_scipy().indptr):
        array[:] = 0
    assert rows(graph.indptr, graph.indices) == [[1], [0, 2], [1]]
    assert graph.to_scipy().dtype == np.bool_ and graph.to_scipy(np.float32).dtype == np.float32
    assert [column.dtype for column in graph.to_edges()] == [np.int32, np.int32]


def test_kept_repeats_are_in_the_transpose_too() -> None:
    graph = Graph.from_edges([0, 0, 1], [1, 1, 1], directed=True, repeats="keep")
    assert rows(graph.in_indptr, graph.in_indices) == [[], [0, 0, 1]]
    assert rows(graph.arranged().in_indptr, graph.arranged().in_indices) == [[], [1, 0, 0]]


# ---------------------------------------------------------------- labels and ids


def test_positions_and_labels_are_plain_integers() -> None:
    numbered = Graph.from_edges([0, 1], [1, 2], labels=np.array([30, 10, 20]))
    assert numbered.index(10) == generate.path(3).index(np.uint8(1)) == 1
    assert [type(graph.label(np.int64(1))) for graph in (numbered, generate.path(3))] == [int, int]


# ---------------------------------------------------------------- statistics


def test_the_share_of_the_busiest_vertices() -> None:
    assert sample().stats().busiest_share == 3 / 7, "one vertex, the least that 1 % can be"


def test_scf_of_mycielskians_and_the_papers_table_3() -> None:
    """TurboBC, Table 3. From M_k to M_k+1 every edge (i, j) becomes (i, j), (i, j') and (i', j), and a new vertex is
    joined to all i'. So n, m, the greatest degree, Q = Σ degree² and S = Σ degree·degree over the arcs follow from
    those of M_k. Our metric equals the paper's up to M_17, and differs at 18 and 19.
    """
    n, m, top, Q, S = 2, 2, 1, 2, 2  # M_2: one edge
    found = {}
    for k in range(3, 20):
        n, m, top, Q, S = (
            2 * n + 1,
            3 * m + 2 * n,
            max(2 * top, n),
            5 * Q + 2 * m + n + n * n,
            8 * S + 4 * Q + 2 * n * (m + n),
        )
        found[k] = S / (n * top)
        if k < 9:
            stats = generate.mycielskian(k).stats()
            assert (stats.n, stats.m, stats.max_degree) == (n, m, top) and stats.scf == pytest.approx(found[k])
    assert [round(found[k]) for k in (15, 16, 17)] == [41_166, 82_833, 166_407]
    assert [round(found[k]) for k in (18, 19)] == [333_912, 669_456] != [333_199, 651_837]


@pytest.mark.parametrize(
    "name, max_degree, mean, scf",
    [("delaunay_n15", 18, 6, 13), ("delaunay_n16", 17, 6, 14), ("luxembourg_osm", 6, 2, 2)],
)
def test_scf_of_real_graphs_is_turbobcs(data: Path, name: str, max_degree: int, mean: int, scf: int) -> None:
    """TurboBC, Table 1. Read by SciPy, so that this test depends on Graph alone."""
    import scipy.io

    stats = Graph.from_scipy(scipy.io.mmread(data / f"{name}.mtx.gz", spmatrix=False)).stats()
    assert not stats.directed
    assert (stats.max_degree, round(stats.mean_degree)) == (max_degree, mean)
    assert round(stats.scf) == scf
    assert stats.regular


# TurboBC, Tables 1, 2 and 4: mean degree → the greatest scf of its rows; then Tables 3 and 4: → the least one.
REGULAR = {2: 2, 3: 2, 5: 8, 6: 14, 10: 61, 14: 224}
IRREGULAR = {
    24: 126, 28: 543, 39: 1262, 81: 5846, 83: 6609, 85: 7410, 87: 8161, 452: 41166, 679: 82833, 1020: 166407,
    1531: 333199, 2297: 651837,
}  # fmt: skip


def test_regular_and_irregular() -> None:
    """TurboBC, section 3.1 and Tables 1 to 4: the mean degree divides its groups, and no border of scf does."""
    stats = TRAPS["long-path"]().stats()
    assert stats.regular and not generate.mycielskian(13).stats().regular
    for means, group in (((*REGULAR, 15), True), ((*IRREGULAR, 17), False)):  # TurboBFS' astro-ph and com-livejournal
        assert all(replace(stats, mean_degree=mean).regular == group for mean in means)
    assert max(REGULAR.values()) > min(IRREGULAR.values())
