"""How the readers read: counts of real graphs, the rules for direction and labels, compiled scanners."""

from __future__ import annotations

import csv
import gzip
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hopwave.io as hio
from graphs import DATA
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.csr_compiled import sorted_rows
from hopwave.io import format as vertices
from hopwave.io import lines as edge_lines
from hopwave.io import scan, source

MANIFEST = DATA / "MANIFEST.tsv"
EXAMPLES = settings.default.max_examples
REAL = list(csv.DictReader(MANIFEST.read_text().splitlines(), delimiter="\t")) if MANIFEST.exists() else []


@pytest.fixture
def file(tmp_path):
    def make(name, text):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name

    return make


@pytest.mark.skipif(not REAL, reason=f"there is no {MANIFEST}; set HOPWAVE_DATA to the folder of real graphs")
@pytest.mark.parametrize("known", REAL, ids=[known["file"] for known in REAL])
def test_real_graphs_have_the_published_counts(known, data):
    graph = hio.read(data / known["file"])
    entries, loops = int(known["stored_entries"]), int(known["self_loops"])
    undirected = known["kind"] == "undirected"
    assert graph.directed is not undirected
    assert (graph.n, graph.m) == (int(known["vertices"]), 2 * entries - loops if undirected else entries)
    assert graph.stats().self_loops == loops


# ---------------------------------------------------------------- Matrix Market


@pytest.mark.parametrize("field", ["pattern", "real", "integer"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.filterwarnings("ignore:The default value for .spmatrix. is changing")
def test_matrix_market_agrees_with_scipy(field, symmetry, tmp_path):
    rng = np.random.default_rng(3)
    A = sp.random_array((30, 30), density=0.1, rng=rng)
    A.data = np.round(A.data * 100) + 1
    A = (A + A.T) if symmetry == "symmetric" else A
    scipy.io.mmwrite(tmp_path / "A.mtx", A, field=field, symmetry=symmetry)
    graph = hio.read(tmp_path / "A.mtx")
    assert graph.directed == (symmetry == "general")
    B = scipy.io.mmread(tmp_path / "A.mtx")
    assert graph == Graph.from_scipy(B, directed=graph.directed, weights=field != "pattern")


def test_matrix_market_direction_is_what_the_banner_says_unless_asked(file):
    both = "2 2 2\n1 2\n2 1\n"
    general = file("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n" + both)
    assert hio.read(general).directed
    assert hio.read(general, directed=False) == Graph.from_edges([0], [1])
    one_way = file("o.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    assert hio.read(one_way, directed=False) == Graph.from_edges([0], [1])
    for field, symmetry, value in (
        ("real", "skew-symmetric", " 1"),
        ("complex", "hermitian", " 1 -2"),
        ("real", "symmetric", " 0.0"),
    ):
        path = file("s.mtx", f"%%matrixmarket MATRIX Coordinate {field} {symmetry}\n3 3 1\n2 1{value}\n")
        assert hio.read(path, weights=False) == Graph.from_edges([0], [1], n=3)
        both = Graph.from_edges([0, 1], [1, 0], n=3, directed=True)
        assert hio.read(path, directed=True, weights=False) == both


def test_more_vertices_than_the_file_tells(file):
    path = file("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    assert hio.read(path, n=5).n == 5


# ---------------------------------------------------------------- edge lists


def test_ids_of_an_edge_list_become_labels_only_when_they_must(file):
    assert hio.read(file("a.txt", "0 1\n1 2\n")).labels is None
    sparse = file("b.txt", "# FromNodeId ToNodeId\n30 10\n10 7\n")
    graph = hio.read(sparse)
    assert graph.labels.tolist() == [7, 10, 30] and graph.to_edges()[1].tolist() == [1, 2]
    assert hio.read(sparse, labels=False).n == 31
    assert hio.read(sparse, n=40).labels is None and hio.read(sparse, n=40).n == 40
    assert hio.read(file("c.txt", "# Nodes: 9 Edges: 2\n3 1\n1 7\n")).n == 9
    big = hio.read(file("d.txt", "5000000000 123456789012345678\n"))
    assert big.labels.tolist() == [5000000000, 123456789012345678]


@pytest.mark.parametrize(
    ("header", "directed"),
    [
        ("", False),
        ("# Directed graph (each unordered pair of nodes is saved once): web.txt\n", True),
        ("# Undirected graph: ../../data/ca.txt\n", False),
        ("% asym unweighted\n", True),
        ("% sym unweighted\n", False),
    ],
)
def test_comments_of_an_edge_list_tell_the_direction(file, header, directed):
    path = file("g.txt", header + "0 1\n1 2\n")
    assert hio.read(path).directed is directed
    assert hio.read(path, directed=True).directed
    assert not hio.read(path, directed=False).directed


def test_names_in_an_edge_list(file):
    path = file("g.edges", "ann bob\nbob ann\nbob 7\n")
    assert hio.read(path).labels.tolist() == ["ann", "bob", "7"]
    assert hio.read(path, labels=False).labels is None
    with pytest.raises(GraphError, match="leave n out"):
        hio.read(path, n=9)


# ---------------------------------------------------------------- names of files


def test_content_decides_where_names_do_not(file):
    mtx = b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"
    graph = Graph.from_edges([0], [1], directed=True)
    for name in ("g.txt", "g", "g.dat", "g.edges"):
        assert hio.read(file(name, mtx)) == graph
    assert hio.read(file("packed.mtx", gzip.compress(mtx))) == graph  # compressed, whatever its name
    assert hio.read(file("plain.mtx.gz", mtx)) == graph
    assert hio.read(file("G.MTX", mtx)) == graph
    assert hio.read(str(file("g.csv", mtx)), format="matrix-market") == graph
    assert hio.read(file("g.gr", "p edge 2 1\ne 1 2\n")) == Graph.from_edges([0], [1])
    assert hio.read(file("g.txt", "c hi\np sp 2 1\na 1 2 7\n")) == graph.with_weights([7])


def test_packed_in_several_pieces(file):
    pieces = [b"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n", b"1 2\n", b"2 3\n"]
    assert hio.read(file("g.mtx.gz", b"".join(map(gzip.compress, pieces)))).m == 2


def test_direction_of_serialised_graphs_can_be_changed(tmp_path):
    graph = Graph.from_edges([0, 1], [1, 2], directed=True)
    for name in ("g.sg", "g.npz"):
        hio.write(tmp_path / name, graph)
        assert hio.read(tmp_path / name, directed=False) == Graph.from_edges([0, 1], [1, 2])
        with pytest.raises(GraphError, match="leave n out"):
            hio.read(tmp_path / name, n=9)


# ---------------------------------------------------------------- the compiled scanners


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("extension", [".mtx", ".txt", ".csv", ".el", ".wel", ".gr", ".metis", ".txt.gz"])
def test_large_files_read_like_small_ones(extension, weighted, tmp_path, monkeypatch):
    """A file of several blocks, in which lines cross block boundaries."""
    weighted = (weighted and extension != ".el") or extension == ".wel"
    rng = np.random.default_rng(8)
    u, v = rng.integers(0, 50_000, (2, 100_000))
    w = rng.random(len(u)) if extension in (".mtx", ".txt", ".csv") else rng.integers(1, 2**31, len(u))
    options = {"weights": w[u != v], "combine": "first"} if weighted else {}
    graph = Graph.from_edges(u[u != v], v[u != v], **options)
    hio.write(tmp_path / f"g{extension}", graph, directed=False)
    monkeypatch.setattr(source, "BLOCK", edge_lines.MIN_BYTES_FOR_SCANNER)
    fast = hio.read(tmp_path / f"g{extension}", directed=False)
    assert fast == graph
    monkeypatch.setattr(edge_lines, "MIN_BYTES_FOR_SCANNER", 1 << 40)
    assert hio.read(tmp_path / f"g{extension}", directed=False) == fast


@settings(max_examples=2 * EXAMPLES)
@given(
    edges=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 4000)), max_size=60),
    hub=st.integers(0, 200),
    directed=st.booleans(),
)
def test_compiled_sorting_agrees_with_the_graph(edges, hub, directed):
    edges = [*edges, *((7, (37 * i) % 101) for i in range(hub))]
    u, v = np.array(edges, np.int32).reshape(-1, 2).T.copy()
    indptr, indices, _, _ = sorted_rows(u, v, 4001, symmetric=not directed)
    graph = Graph.from_edges(u, v, 4001, directed)
    assert np.array_equal(indptr, graph.indptr) and np.array_equal(indices, graph.indices)
    assert (indptr.dtype, indices.dtype) == (graph.indptr.dtype, graph.indices.dtype)


def test_compiled_sorting_of_nothing():
    none = np.empty(0, np.int32)
    for n in (0, 1, 5):
        indptr, indices, _, _ = sorted_rows(none, none, n, symmetric=True)
        assert indptr.tolist() == [0] * (n + 1) and len(indices) == 0


Grammar = edge_lines.Grammar


@pytest.mark.parametrize(
    ("text", "grammar"),
    [
        (b"# c\n\n 1 2\n3\t4 x\r\n5 6\n", Grammar("")),
        (b"1 2 -1.5E+3\n% c\n3 4 .5 \n", Grammar("", comments=b"%", values=1)),
        (b"a 1 2 +7\r\na\t3 4 0\n", Grammar("", prefix=b"a", values=1, whole=True)),
        (b" 1 , 2\n3,4,\n5,6,x\n", Grammar("", comments=b"", delimiter=b",")),
        (b"1\t2\n 3 \t 4\tx\n", Grammar("", delimiter=b"\t")),
        (b"# c\n\n 1 2 0.30000000000000004\n3\t4 -7e-5\r\n5 6 .5 x\n", Grammar("", weight=1)),
        (b"1 2 -1.5E+3\n% c\n3 4 1e300 \n", Grammar("", comments=b"%", values=1, weight=1)),
        (b"a 1 2 +7\r\na\t3 4 0\n", Grammar("", prefix=b"a", values=1, whole=True, weight=1)),
        (b" 1 , 2 , x,3\n3,4,y z,0.1,\n", Grammar("", comments=b"", delimiter=b",", weight=2)),
        (b"1\t2\t3\n 3 \t 4\t1e22\n", Grammar("", delimiter=b"\t", weight=1)),
    ],
)
def test_the_scanner_reads_clean_lines_by_itself(text, grammar):
    """A scanner that left every line to Python would pass all other tests, but be slow."""
    u, v, w = np.empty(9, np.int64), np.empty(9, np.int64), np.ones(9).view(np.uint64)
    position, row, lines = scan.pairs(
        np.frombuffer(text, np.uint8), 0, u, v, w if grammar.weight else None, 0, scan.Shape(*grammar.as_numbers())
    )
    assert (position, lines) == (len(text), text.count(b"\n"))
    found = zip(u[:row].tolist(), v[:row].tolist(), w[:row].view(np.float64).tolist(), strict=True)
    assert list(found) == [edge for edge in map(grammar.row, text.splitlines()) if edge is not None]


numbers = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.from_regex(
    r"[+-]?[0-9]{0,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True
)
numbers |= st.integers(0, 2**70).map(str) | st.integers(-(2**60), 2**60).map(lambda i: f"{2 * i + 1}e{i % 60 - 30}")


@settings(max_examples=5 * EXAMPLES)
@given(numbers=st.lists(numbers, min_size=1, max_size=20), whole=st.booleans())
def test_scanned_numbers_are_those_of_python(numbers, whole):
    grammar = Grammar("a weight", values=1, weight=1, whole=whole)
    for text in numbers:
        block = f"1 2 {text}\n".encode()
        slow, fast = (edge_lines._parse(block, grammar, np.int64, compiled) for compiled in (False, True))
        assert (slow.w.tobytes(), slow.trouble) == (fast.w.tobytes(), fast.trouble)
        if slow.trouble is None:
            assert slow.w.tobytes() == np.array([float(text)]).tobytes()


# ---------------------------------------------------------------- imports


def test_reading_a_small_file_imports_nothing_heavy(tmp_path):
    hio.write(tmp_path / "g.mtx", Graph.from_edges([0], [1]))
    code = f"""
import sys, hopwave.io as h
h.read({str(tmp_path / "g.mtx")!r})
print([m for m in ("numba", "pyarrow", "pandas", "networkx", "matplotlib") if m in sys.modules])
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "[]\n"


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1), st.sampled_from([np.int32, np.int64]))
def test_large_files_are_renumbered_on_all_cores(edges: Any, kind: Any) -> None:
    u, v = (np.array([edge[i] for edge in edges], kind) for i in range(2))
    lone = np.array([3], kind)
    plain = vertices.compact(u, v, lone)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vertices, "COMPILED_FROM", 0)
        compiled = vertices.compact(u, v, lone)
    assert [part if part is None else np.asarray(part).tolist() for part in compiled] == [
        part if part is None else np.asarray(part).tolist() for part in plain
    ]
