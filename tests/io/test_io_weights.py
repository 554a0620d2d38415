"""Weights in files: every reader keeps them, every writer that can stores them, and they return bit for bit."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hopwave as hw
import hopwave.io as hio
from hopwave.errors import FormatError, GraphError
from hopwave.graph import Graph
from hopwave.io import lines as edge_lines
from hopwave.io import scan, source

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


@pytest.mark.parametrize("extension", WHOLE_WEIGHTS)
@pytest.mark.parametrize("weight", [0.5, math.inf, -1e300, None])
def test_weights_that_a_format_cannot_store_are_refused(extension, weight, tmp_path):
    wrong = RANGE[extension][0] - 1 if weight is None else weight
    graph = Graph.from_edges([0, 1], [1, 2], weights=[1, wrong])
    with pytest.raises(FormatError, match=r"the weight .* whole numbers from .* write .*\.npz, .* weights=False"):
        hio.write(tmp_path / f"g{extension}", graph)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("known", [known for known in hio.formats() if not known.holds_weights], ids=lambda k: k.name)
def test_formats_without_weights_refuse_them_unless_told_to_drop(known, tmp_path):
    graph = Graph.from_edges([0, 1], [1, 2], weights=[1, 2])
    path = tmp_path / f"g{known.extensions[0]}"
    with pytest.raises(FormatError, match=r"cannot store weights; use \.mtx, .* weights=False"):
        hio.write(path, graph, directed=graph.directed)
    hio.write(path, graph, weights=False, directed=graph.directed)
    assert hio.read(path, directed=False) == graph.without_weights()


@pytest.mark.parametrize("extension", [".wel", ".wsg"])
def test_formats_with_weights_only(extension, tmp_path):
    with pytest.raises(FormatError, match=r"without weights; .* write \.(el|sg) instead"):
        hio.write(tmp_path / f"g{extension}", Graph.from_edges([0], [1]))


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


def test_combine_is_checked(tmp_path):
    hio.write(tmp_path / "g.mtx", Graph.from_edges([0], [1]))
    with pytest.raises(GraphError, match="combine='mean' is not known"):
        hio.read(tmp_path / "g.mtx", combine="mean")
    assert not hio.read(tmp_path / "g.mtx", combine="min").is_weighted


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


@pytest.mark.filterwarnings("ignore::hopwave.IgnoredColumnWarning")
@pytest.mark.parametrize(
    ("text", "options", "weights"),
    [
        ("u,v,Cost\n0,1,2\n1,2,.5\n", {}, [2, 0.5]),
        ("distance;to;from\n2;1;0\n0.5;2;1\n", {}, [2, 0.5]),
        ("u,v,note,w\n0,1,x,2\n1,2,,5e-1\n", {}, [2, 0.5]),
        ("source,target,km\n0,1,2\n1,2,0.5\n", {}, None),
        ("source,target,km\n0,1,2\n1,2,0.5\n", {"weight": "km"}, [2, 0.5]),
        ("0,1,2\n1,2,0.5\n", {}, None),
        ("0,1,2\n1,2,0.5\n", {"weight": 2}, [2, 0.5]),
        ('"0","1","2"\n"1","2","0.5"\n', {"weight": 2, "names": False}, [2, 0.5]),
        ("0 1 9 2\n1 2 9 0.5\n", {"weight": 3}, [2, 0.5]),
    ],
)
def test_the_weight_column_of_a_table(text, options, weights, tmp_path):
    (tmp_path / "g.csv").write_text(text)
    assert hio.read(tmp_path / "g.csv", **options) == Graph.from_edges([0, 1], [1, 2], weights=weights)
    if weights:
        with pytest.raises(FormatError, match="no column 'tons'"):
            hio.read(tmp_path / "g.csv", **options | {"weight": "tons"})
    with pytest.raises(TypeError, match="give one of the two"):
        hio.read(tmp_path / "g.csv", weights=False, weight=2)


@pytest.mark.filterwarnings("ignore::hopwave.IgnoredColumnWarning")
@pytest.mark.parametrize(
    ("text", "options", "weighted"),
    [
        ("0 1 2\n1 2 3\n", {}, False),
        ("0 1 2\n1 2 3\n", {"weight": 2}, True),
        ("0 1 x 2\n1 2 y 3\n", {"weight": 3}, True),
        ("% sym unweighted\n0 1 2\n1 2 3\n", {}, False),
        ("% sym positive\n0 1 2\n1 2 3\n", {}, False),
        ("% sym posweighted\n% 2 3\n0 1 2\n1 2 3\n", {}, True),
        ("# Weights: third column\n0 1 2\n1 2 3\n", {}, True),
    ],
)
def test_the_third_column_of_an_edge_list(text, options, weighted, tmp_path):
    (tmp_path / "g.txt").write_text(text)
    expected = Graph.from_edges([0, 1], [1, 2], weights=[2, 3] if weighted else None)
    assert hio.read(tmp_path / "g.txt", **options) == expected
    with pytest.raises(TypeError, match="give 2 for the third column"):
        hio.read(tmp_path / "g.txt", weight=1)


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


# ---------------------------------------------------------------- distances


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("extension", [".mtx", ".txt", ".csv", ".parquet", ".npz", ".gr", ".wel", ".wsg", ".metis"])
def test_distances_are_those_of_scipy(extension, directed, tmp_path):
    if directed and extension == ".metis":
        directed = False
    rng = np.random.default_rng(11)
    u, v = rng.integers(0, 60, (2, 240))
    u, v = np.append(u[u != v], 58), np.append(v[u != v], 59)
    graph = Graph.from_edges(u, v, directed=directed, weights=rng.integers(1, 90, len(u)), combine="min")
    back = there_and_back(tmp_path / f"g{extension}", graph)
    expected = sp.csgraph.dijkstra(graph.to_scipy(), indices=0)
    assert np.array_equal(sp.csgraph.dijkstra(back.to_scipy(), indices=0), expected)
    assert np.array_equal(np.asarray(hw.sssp(back, 0, weights=back.weights).distances), expected)


# ---------------------------------------------------------------- the compiled scanner


@pytest.mark.parametrize("extension", [".mtx", ".txt", ".csv", ".gr", ".wel", ".metis"])
def test_large_files_read_like_small_ones(extension, tmp_path, monkeypatch):
    rng = np.random.default_rng(8)
    u, v = rng.integers(0, 50_000, (2, 100_000))
    weights = rng.random(len(u)) if extension in ANY_WEIGHTS else rng.integers(1, 2**31, len(u))
    keep = u != v
    graph = Graph.from_edges(u[keep], v[keep], weights=weights[keep], combine="first")
    hio.write(tmp_path / f"g{extension}", graph, directed=graph.directed)
    monkeypatch.setattr(source, "BLOCK", edge_lines.MIN_BYTES_FOR_SCANNER)
    assert hio.read(tmp_path / f"g{extension}", directed=False) == graph


numbers = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.from_regex(
    r"[+-]?[0-9]{0,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True
)
numbers |= st.integers(0, 2**70).map(str) | st.integers(-(2**60), 2**60).map(lambda i: f"{2 * i + 1}e{i % 60 - 30}")


@settings(max_examples=5 * EXAMPLES)
@given(numbers=st.lists(numbers, min_size=1, max_size=20), whole=st.booleans())
def test_scanned_numbers_are_those_of_python(numbers, whole):
    grammar = edge_lines.Grammar("a weight", values=1, weight=1, whole=whole)
    for text in numbers:
        block = f"1 2 {text}\n".encode()
        slow, fast = (edge_lines._parse(block, grammar, np.int64, compiled) for compiled in (False, True))
        assert (bits(slow.w), slow.trouble) == (bits(fast.w), fast.trouble)
        if slow.trouble is None:
            assert bits(slow.w) == bits([float(text)])


weighted_line = st.text('0123456789 \t,-+.eEnaif#%x\r\0"', max_size=14) | st.sampled_from(
    ["1 2 0.5", "3,4,7", "3,4,x,7e1", "a 1 2 -1.5e3", "3 4 x 7", "", "# x", "3,,"]
)
weighted_grammars = st.builds(
    edge_lines.Grammar,
    expected=st.just("an edge"),
    comments=st.sampled_from([b"", b"#%"]),
    prefix=st.sampled_from([b"", b"a"]),
    delimiter=st.sampled_from([b"", b",", b"\t"]),
    lone=st.booleans(),
    weight=st.integers(1, 2),
) | st.builds(
    edge_lines.Grammar,
    expected=st.just("an edge"),
    prefix=st.sampled_from([b"", b"a"]),
    values=st.just(1),
    whole=st.booleans(),
    weight=st.just(1),
)


@settings(max_examples=7 * EXAMPLES)
@given(lines=st.lists(weighted_line, max_size=6), grammar=weighted_grammars)
def test_the_weighted_scanner_never_differs_from_the_definition(lines, grammar):
    block = "".join(text + "\n" for text in lines).encode()
    slow, fast = (edge_lines._parse(block, grammar, np.int64, compiled) for compiled in (False, True))
    assert (slow.u.tolist(), slow.v.tolist(), bits(slow.w), slow.lines, slow.trouble) == (
        fast.u.tolist(),
        fast.v.tolist(),
        bits(fast.w),
        fast.lines,
        fast.trouble,
    )


@pytest.mark.parametrize(
    ("text", "grammar"),
    [
        (b"# c\n\n 1 2 0.30000000000000004\n3\t4 -7e-5\r\n5 6 .5 x\n", edge_lines.Grammar("", weight=1)),
        (b"1 2 -1.5E+3\n% c\n3 4 1e300 \n", edge_lines.Grammar("", comments=b"%", values=1, weight=1)),
        (b"a 1 2 +7\r\na\t3 4 0\n", edge_lines.Grammar("", prefix=b"a", values=1, whole=True, weight=1)),
        (b" 1 , 2 , x,3\n3,4,y z,0.1,\n", edge_lines.Grammar("", comments=b"", delimiter=b",", weight=2)),
        (b"1\t2\t3\n 3 \t 4\t1e22\n", edge_lines.Grammar("", delimiter=b"\t", weight=1)),
    ],
    ids=["snap", "real", "gr", "csv", "tsv"],
)
def test_the_weighted_scanner_reads_clean_lines_by_itself(text, grammar):
    u, v, w = np.empty(9, np.int64), np.empty(9, np.int64), np.empty(9, np.uint64)
    shape = scan.Shape(*grammar.as_numbers())
    position, row, lines = scan.pairs(np.frombuffer(text, np.uint8), 0, u, v, w, 0, shape)
    assert (position, lines) == (len(text), text.count(b"\n"))
    found = zip(u[:row].tolist(), v[:row].tolist(), w[:row].view(np.float64).tolist(), strict=True)
    assert list(found) == [edge for edge in map(grammar.row, text.splitlines()) if edge is not None]


@pytest.mark.parametrize(("name", "text"), [("g.txt", "0 1 2.5\n1 2 3\n"), ("g.csv", "0,1,2.5\n1,2,3\n")])
def test_a_column_that_may_be_weights_is_not_ignored_silently(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.warns(hw.IgnoredColumnWarning, match=r"column 3 may be weights \(2.5, …\) .* give weight=2"):
        assert not hw.read(path).is_weighted
    assert hw.read(path, weight=2).weights.max() == 3.0  # type: ignore[union-attr]
    assert not hw.read(path, weights=False).is_weighted


@pytest.mark.parametrize("name", ["g.csv", "g.parquet"])
def test_a_titled_column_that_may_be_weights_is_not_ignored_silently(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    ends = {"origin": ["oslo", "rome"], "dest": ["rome", "bern"]}
    table = pd.DataFrame({**ends, "by": ["air", "rail"], "km": [2000, 690]})
    (table.to_csv if name == "g.csv" else table.to_parquet)(path, index=False)
    with pytest.warns(hw.IgnoredColumnWarning, match=r"column 'km' may be weights .* give weight='km' to read it"):
        assert not hw.read(path).is_weighted
    assert hw.read(path, weight="km").weights.max() == 2000.0  # type: ignore[union-attr]
    assert not hw.read(path, weights=False).is_weighted
