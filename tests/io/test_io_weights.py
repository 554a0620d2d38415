"""Weights in files: every reader keeps them, every writer that can stores them, and they return bit for bit."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hopwave.io as hio
from hopwave.errors import FormatError
from hopwave.graph import Graph

EXAMPLES = settings.default.max_examples
SILENT_ABOUT_DIRECTION = {".csv", ".tsv", ".wel"}
ANY_WEIGHTS = (".mtx", ".txt", ".csv", ".tsv", ".parquet", ".npz")
WHOLE_WEIGHTS = (".gr", ".metis", ".wel", ".wsg")  # formats, each with the least and the greatest weight that it stores
RANGE = {".gr": (0, 2**53), ".metis": (1, 2**31 - 1), ".wel": (-(2**31), 2**31 - 1), ".wsg": (-(2**31), 2**31 - 1)}


def there_and_back(path: Any, graph: Graph, **options: Any) -> Graph:
    hio.write(path, graph, directed=graph.directed)
    silent = path.name[path.name.index(".") :].removesuffix(".gz") in SILENT_ABOUT_DIRECTION
    return hio.read(path, directed=graph.directed if silent else None, **options)


def bits(weights: Any) -> list[int]:
    return np.asarray(weights, np.float64).view(np.uint64).tolist()  # type: ignore[no-any-return]


edges = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=20)
doubles = st.sampled_from([0.0, -0.0, 1.0, -2.5, 0.1, 1e-300, 1e300, 5e-324, math.inf, -math.inf, 2.0**53, 1e23])
doubles |= st.floats(allow_nan=False)
singles = st.floats(allow_nan=False, width=32)


@given(edges=edges, data=st.data(), directed=st.booleans(), single=st.booleans(), whole=st.booleans())
@pytest.mark.parametrize("extension", ANY_WEIGHTS)
def test_any_weights_come_back_bit_for_bit(extension, edges, data, directed, single, whole, tmp_path_factory):
    values = st.integers(-(2**53), 2**53).map(float) if whole and not single else singles if single else doubles
    weights = data.draw(st.lists(values, min_size=len(edges), max_size=len(edges)))
    u, v = zip(*edges, strict=True)
    kind = np.float32 if single else np.float64
    graph = Graph.from_edges(u, v, directed=directed, weights=np.array(weights, kind), combine="first", n=10)
    back = there_and_back(tmp_path_factory.mktemp("any") / f"g{extension}", graph)
    assert back == graph and bits(back.weights) == bits(graph.weights)
    if extension in (".parquet", ".npz"):
        assert back.weights.dtype == kind


@given(edges=edges, data=st.data(), directed=st.booleans())
@pytest.mark.parametrize("extension", WHOLE_WEIGHTS)
def test_whole_weights_come_back(extension, edges, data, directed, tmp_path_factory):
    least, most = RANGE[extension]
    if extension == ".metis":
        directed, edges = False, [(u, v) for u, v in edges if u != v]
    weights = data.draw(st.lists(st.integers(least, most), min_size=len(edges), max_size=len(edges)))
    u, v = [u for u, _ in edges] + [8], [v for _, v in edges] + [9]
    graph = Graph.from_edges(u, v, directed=directed, weights=[*map(float, weights), most], combine="min")
    back = there_and_back(tmp_path_factory.mktemp("any") / f"g{extension}.gz", graph)
    assert back == graph


@pytest.mark.parametrize("known", [known for known in hio.formats() if not known.holds_weights], ids=lambda k: k.name)
def test_formats_without_weights_refuse_them_unless_told_to_drop(known, tmp_path):
    graph = Graph.from_edges([0, 1], [1, 2], weights=[1, 2])
    path = tmp_path / f"g{known.extensions[0]}"
    with pytest.raises(FormatError, match=r"cannot store weights; use \.mtx, .* weights=False"):
        hio.write(path, graph, directed=graph.directed)
    hio.write(path, graph, weights=False, directed=graph.directed)
    assert hio.read(path, directed=False) == graph.without_weights()


@pytest.mark.parametrize("extension", [".mtx", ".txt", ".csv", ".tsv.gz", ".parquet", ".npz", ".gr", ".wel", ".wsg"])
@pytest.mark.parametrize("directed", [True, False])
def test_weights_can_be_left_out(extension, directed, tmp_path):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 2], weights=[3, 1, 2], directed=directed)
    path = tmp_path / f"g{extension}"
    assert there_and_back(path, graph, weights=False) == graph.without_weights()
    assert not there_and_back(tmp_path / "g.npz", graph.without_weights()).is_weighted


@pytest.mark.parametrize("extension", [".txt", ".csv", ".parquet", ".npz"])
def test_labels_and_weights(extension, tmp_path):
    graph = Graph.from_edges([2, 1], [1, 0], n=4, labels=["zoé", "ann", "bob", "lone"], weights=[0.25, 7])
    assert there_and_back(tmp_path / f"g{extension}", graph) == graph
    numbers = Graph.from_edges([0, 1], [1, 2], n=4, labels=[10, 20, 30, 40], weights=[0.25, 7])
    assert there_and_back(tmp_path / f"g{extension}", numbers) == numbers
    hio.write(tmp_path / f"g{extension}", graph, labels=False)
    assert hio.read(tmp_path / f"g{extension}") == graph.relabel(None)


# ---------------------------------------------------------------- repeated edges


REPEATED = {
    "g.mtx": "%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 2 5\n2 1 3\n2 3 1\n",
    "g.txt": "# Undirected graph\n0 1 5\n1 0 3\n1 2 1\n",
    "g.csv": "source,target,weight\n0,1,5\n1,0,3\n1,2,1\n",
    "g.gr": "p sp 3 3\na 1 2 5\na 2 1 3\na 2 3 1\n",
    "g.wel": "0 1 5\n1 0 3\n1 2 1\n",
    "g.graph": "3 2 001\n2 5\n1 3 3 1\n2 1\n",
}


@pytest.mark.parametrize("name", REPEATED)
@pytest.mark.parametrize(("combine", "kept"), [("min", 3), ("max", 5), ("sum", 8), ("first", 5)])
def test_repeated_edges(name, combine, kept, tmp_path):
    path = tmp_path / name
    path.write_text(REPEATED[name])
    options = {"weight": 2} if name == "g.txt" else {}
    with pytest.raises(FormatError, match=r"edge 0 to 1 .* combine='min', .* weights=False"):
        hio.read(path, directed=False, **options)
    graph = hio.read(path, directed=False, combine=combine, **options)
    assert graph.weights.tolist()[:2] == [kept, kept]


def test_serialised_graphs_are_combined_too(tmp_path):
    graph = Graph.from_edges([0, 1], [1, 0], directed=True, weights=[5, 3])
    for name in ("g.npz", "g.wsg"):
        hio.write(tmp_path / name, graph, directed=graph.directed)
        with pytest.raises(FormatError, match="combine='min'"):
            hio.read(tmp_path / name, directed=False)
        assert hio.read(tmp_path / name, directed=False, combine="sum").weights.tolist() == [8, 8]
    sp.save_npz(tmp_path / "A.npz", graph.to_scipy())
    with pytest.raises(FormatError, match="combine='min'"):
        hio.read(tmp_path / "A.npz", directed=False)
    assert hio.read(tmp_path / "A.npz", directed=False, combine="max").weights.tolist() == [5, 5]


def test_an_edge_listed_at_both_ends_is_no_repeat(tmp_path):
    graph = Graph.from_edges([0, 1], [1, 2], weights=[2, 3])
    for name in ("g.metis", "g.gr", "g.wsg", "g.npz"):
        hio.write(tmp_path / name, graph, directed=graph.directed)
        assert hio.read(tmp_path / name, combine="sum") == graph, name


# ---------------------------------------------------------------- what the formats say about weights


@pytest.mark.filterwarnings("ignore:The default value for .spmatrix. is changing")
def test_matrix_market_of_scipy(tmp_path):
    rng = np.random.default_rng(2)
    A = sp.random_array((40, 40), density=0.1, rng=rng)
    scipy.io.mmwrite(tmp_path / "A.mtx", A)
    B = scipy.io.mmread(tmp_path / "A.mtx").tocsr()
    graph = hio.read(tmp_path / "A.mtx")
    assert graph.directed and (graph.to_scipy() != B).nnz == 0
    hio.write(tmp_path / "B.mtx", graph)
    assert (scipy.io.mmread(tmp_path / "B.mtx").tocsr() != B).nnz == 0
    hio.write(tmp_path / "C.mtx", Graph.from_edges([0, 1], [1, 1], weights=[3, -7]))
    assert (tmp_path / "C.mtx").read_text().startswith("%%MatrixMarket matrix coordinate integer symmetric\n")
    assert scipy.io.mmread(tmp_path / "C.mtx").toarray().tolist() == [[0, 3], [3, -7]]


def test_a_skew_symmetric_matrix(tmp_path):
    A = np.array([[0, 2.5, 0], [-2.5, 0, -1], [0, 1, 0]])
    scipy.io.mmwrite(tmp_path / "A.mtx", sp.coo_array(A), symmetry="skew-symmetric")
    graph = hio.read(tmp_path / "A.mtx", directed=True)
    assert graph.directed and graph.to_scipy().toarray().tolist() == A.tolist()
    assert hio.read(tmp_path / "A.mtx", weights=False) == Graph.from_edges([0, 1], [1, 2])


def test_parquet_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"u": [0, 1], "v": [1, 2], "km": np.array([2, 3], "f4"), "fare": [7, 8], "w": ["x", "y"]})
    table.to_parquet(tmp_path / "g.parquet")
    with pytest.raises(FormatError, match=r"column 'w' is .*; expected numbers as weights: .* weights=False"):
        hio.read(tmp_path / "g.parquet")
    assert hio.read(tmp_path / "g.parquet", weight="fare").weights.tolist() == [7, 7, 8, 8]
    assert hio.read(tmp_path / "g.parquet", weight=2).weights.dtype == np.float32
    table.assign(w=[1.0, None]).to_parquet(tmp_path / "g.parquet")
    with pytest.raises(FormatError, match="1 missing values; expected a weight in every row"):
        hio.read(tmp_path / "g.parquet")


def test_archives_of_bool_have_no_weights(tmp_path):
    A = sp.csr_array(np.array([[0, 1.5], [1.5, 0]]))
    sp.save_npz(tmp_path / "A.npz", A)
    assert hio.read(tmp_path / "A.npz").weights.tolist() == [1.5, 1.5]
    sp.save_npz(tmp_path / "A.npz", A != 0)
    assert not hio.read(tmp_path / "A.npz").is_weighted


def test_gapbs_as_it_keeps_graphs(tmp_path):
    content = struct.pack("<?qq3q4i", False, 2, 2, 0, 1, 2, 1, 7, 0, 7)
    (tmp_path / "g.wsg").write_bytes(content)
    graph = Graph.from_edges([0], [1], weights=[7])
    assert hio.read(tmp_path / "g.wsg") == graph
    hio.write(tmp_path / "h.wsg", graph)
    assert (tmp_path / "h.wsg").read_bytes() == content
    hio.write(tmp_path / "h.wel", graph, directed=graph.directed)
    assert (tmp_path / "h.wel").read_text() == "0 1 7\n"


def test_weights_beside_a_graph500_list(tmp_path):
    np.array([[0, 1], [1, 2]], "<i8").tofile(tmp_path / "g.graph500")
    beside = tmp_path / "g.graph500.weights"
    assert not hio.read(tmp_path / "g.graph500").is_weighted
    np.array([0.25, 0.5], "<f4").tofile(beside)
    graph = hio.read(tmp_path / "g.graph500")
    assert graph.weights.dtype == np.float32 and graph.weights.tolist() == [0.25, 0.25, 0.5, 0.5]
    assert not hio.read(tmp_path / "g.graph500", weights=False).is_weighted
    for wrong in (1, 3):
        np.ones(wrong, "<f4").tofile(beside)
        with pytest.raises(FormatError, match=r"g\.graph500\.weights"):
            hio.read(tmp_path / "g.graph500")
