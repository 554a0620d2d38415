"""How the readers read: counts of real graphs, rules for direction, labels, weights and names, compiled scanners."""

import contextlib
import csv
import gzip
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from columns import TEXTS
from hypothesis import given, settings
from hypothesis import strategies as st
from test_io_malformed import GRAPHML, graphml

import hopwave.io as hio
from graphs import DATA
from hopwave.errors import FormatError, GraphError
from hopwave.graph import Graph
from hopwave.io import lines as edge_lines
from hopwave.io import scan
from together import in_one_test

MANIFEST = DATA / "MANIFEST.tsv"
EXAMPLES = settings.default.max_examples
REAL = list(csv.DictReader(MANIFEST.read_text().splitlines(), delimiter="\t")) if MANIFEST.exists() else []


@pytest.mark.skipif(not REAL, reason=f"there is no {MANIFEST}; set HOPWAVE_DATA to the folder of real graphs")
@pytest.mark.parametrize("known", REAL, ids=[known["file"] for known in REAL])
def test_real_graphs_have_the_published_counts(known, data):
    graph = hio.read(data / known["file"])
    entries, loops = int(known["stored_entries"]), int(known["self_loops"])
    undirected = known["kind"] == "undirected"
    assert graph.directed is not undirected
    assert (graph.n, graph.m) == (int(known["vertices"]), 2 * entries - loops if undirected else entries)
    assert graph.stats().self_loops == loops


# ---------------------------------------------------------------- rules, one row for each

G = Graph.from_edges
GENERAL = "%%MatrixMarket matrix coordinate pattern general\n"
MTX = GENERAL + "2 2 1\n1 2\n"
ARC, EDGE = G([0], [1], directed=True), G([0], [1])
SYMMETRIC = {"real skew-symmetric": "1", "complex hermitian": "1 -2", "real symmetric": "0.0"}
SPARSE = "# FromNodeId ToNodeId\n30 10\n10 7\n"
WORDS = "ann bob\nbob ann\nbob 7\n"
COMMENTS = {
    "# Directed graph (each unordered pair of nodes is saved once): web.txt\n": True,
    "# Undirected graph: ../../data/ca.txt\n": False,
    "% asym unweighted\n": True,
    "% sym unweighted\n": False,
}
REPEATED = {
    "g.mtx": "%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 2 5\n2 1 3\n2 3 1\n",
    "g.txt": "# Undirected graph\n# Weights: third column\n0 1 5\n1 0 3\n1 2 1\n",
    "g.csv": "source,target,weight\n0,1,5\n1,0,3\n1,2,1\n",
    "g.gr": "p sp 3 3\na 1 2 5\na 2 1 3\na 2 3 1\n",
    "g.wel": "0 1 5\n1 0 3\n1 2 1\n",
    "g.graph": "3 2 001\n2 5\n1 3 3 1\n2 1\n",
    "g.net": "*Vertices 3\n*Edges\n1 2 5\n2 1 3\n2 3\n",
}
FIVE = {
    "g.mtx": "%%MatrixMarket matrix coordinate real symmetric\n% hi\n\n5 5 4\n2 1 1.5\n3 1 -2e-3\n3 2 0\n5 4 inf\n",
    "g.txt": "# Nodes: 5 Edges: 4\n0 1\r\n0\t2 99\n\n 1 2 x y\n3 4\n",
    "g.csv": "from;to;weight\n0;1;a\n0;2;b\n1;2;c\n3;4;d\n",
    "g.graph": "% hi\n5 4 11 2\n9 9 2 7 3 7\n9 9 1 7 3 7\n% more\n9 9 1 7 2 7\n9 9 5 7\n9 9 4 7\n\n",
    "g.col": "c hi\np edge 5 4\ne 1 2\nc more\ne 1 3\ne 2 3\ne 4 5\n",
    "g.el": "0 1\n0 2\n1 2\n3 4\n",
    "g.gr": "c hi\np sp 5 4\na 1 2 10\na 1 3 1\na 2 3 4\na 4 5 1.5\n",
}
CITIES = (
    GRAPHML
    + """<key id="k0" for="node" attr.name="city" attr.type="string"><default>Rome</default></key>
    <key id="k1" for="edge" attr.name="km" attr.type="float"><default>7</default></key>
    <graph edgedefault="undirected"><desc>x</desc>
    <edge source="a" target="b"><data key="k1">1.5</data></edge>
    <node id="b"><data key="k0">Bonn</data></node><node id="a"/>
    <edge source="b" target="b"/></graph></graphml>"""
)
KINDS = (
    GRAPHML
    + """<key id="w" for="all" attr.name="weight"/><graph edgedefault="undirected"><node id="0"/><node id="1"/>
    <node id="2"/><edge source="0" target="1"><data key="w">3</data></edge><edge source="2" target="2"/>
    <edge source="1" target="2" directed="true"><data key="w">5</data></edge></graph></graphml>"""
)
GML = (
    'Creator "me"\n# hi\ngraph [ comment "x\ny ] [" directed 1 node [ id 5 graphics [ x 1.0 label "no" ] '
    'label "A&amp;B" ]\n edge [ target 5 source -2 value 1 ]node[id -2 label "&#233;"]]\n'
)
PAJEK = '*Network x\n*Vertices 4 2\n1 "a b" 0.1 box\n2 c\n3 d\n% hi\n*Arcs :1 "knows"\n1 2 2.5 c Blue\n*Edges\n3 2\n'
OFF = {"directed": False, "weights": False}
ROMAN = ["Bonn", "Rome"]
TWINS = '*Vertices 2\n1 "a"\n2 "a"\n*Edges\n1 2\n'

# (name of the file, content, options, graph)


def packed(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)  # the same bytes in every process


READ: list[tuple[str, Any, dict[str, Any], Graph]] = [
    ("g.mtx", GENERAL + "2 2 2\n1 2\n2 1\n", {}, G([0, 1], [1, 0], directed=True)),
    ("g.mtx", GENERAL + "2 2 2\n1 2\n2 1\n", {"directed": False}, EDGE),
    ("g.mtx", MTX, {"directed": False}, EDGE),
    ("g.mtx", MTX, {"n": 5}, G([0], [1], 5, True)),
    *(("g.mtx", f"%%matrixmarket MATRIX Coordinate {kind}\n", {"weights": False, "directed": directed}, graph)
      for kind in (f"{kind}\n3 3 1\n2 1 {value}" for kind, value in SYMMETRIC.items())
      for directed, graph in ((None, G([0], [1], 3)), (True, G([0, 1], [1, 0], 3, True)))),
    ("g.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 -2.5\n3 2 1\n", {"directed": True},
     G([1, 0, 2, 1], [0, 1, 1, 2], directed=True, weights=[-2.5, 2.5, 1, -1])),
    # ids of an edge list become labels only when they must
    ("a.txt", "0 1\n1 2\n", {}, G([0, 1], [1, 2])),
    ("b.txt", SPARSE, {}, G([2, 1], [1, 0], labels=np.array([7, 10, 30]))),
    ("b.txt", SPARSE, {"labels": False}, G([30, 10], [10, 7], 31)),
    ("b.txt", SPARSE, {"n": 40}, G([30, 10], [10, 7], 40)),
    ("c.txt", "# Nodes: 9 Edges: 2\n3 1\n1 7\n", {}, G([3, 1], [1, 7], 9)),
    ("d.txt", "5000000000 123456789012345678\n", {}, G([0], [1], labels=np.array([5000000000, 123456789012345678]))),
    ("g.edges", WORDS, {}, G(["ann", "bob"], ["bob", "7"])),
    ("g.edges", WORDS, {"labels": False}, G([0, 1], [1, 2])),
    *(("g.txt", f"{text}0 1\n1 2\n", {"directed": asked}, G([0, 1], [1, 2], directed=said and asked is not False)
       if said or not asked else G([0, 1, 1, 2], [1, 0, 2, 1], directed=True))
      for text, said in COMMENTS.items() for asked in (None, False, True)),
    ("g.txt", "0 1\n1 2\n", {"directed": True}, G([0, 1], [1, 2], directed=True)),
    # the content decides where names do not
    *((name, MTX, {}, ARC) for name in ("g.txt", "g", "g.dat", "g.edges", "G.MTX", "plain.mtx.gz")),
    ("packed.mtx", packed(MTX), {}, ARC),
    ("pieces.mtx.gz", b"".join(map(packed, (GENERAL, "2 2 1\n", "1 2\n"))), {}, ARC),
    ("g.csv", MTX, {"format": "matrix-market"}, ARC),
    ("g.gr", "p edge 2 1\ne 1 2\n", {}, EDGE),
    ("g.txt", "c hi\np sp 2 1\na 1 2 7\n", {}, ARC.with_weights([7])),
    # weights of repeated edges
    *((name, text, {"directed": False, "combine": combine},
       G([0, 1], [1, 2], weights=[weight, 2 if (name, combine) == ("g.graph", "sum") else 1]))  # at both its ends
      for name, text in REPEATED.items() for combine, weight in (("min", 3), ("max", 5), ("sum", 8), ("first", 5))),
    *((name, text, OFF, G([0, 1], [1, 2])) for name, text in REPEATED.items()),
    *(("g.graph", text, {}, G([0, 1, 2, 3], [1, 2, 3, 0], weights=weights)) for text, weights in (
        ("4 4\n4 2\n1 3\n4 2\n1 3\n", None), ("4 4 1\n4 8 2 5\n1 5 3 6\n4 7 2 6\n1 8 3 7\n", [5, 6, 7, 8]))),
    *((name, text, OFF, G([0, 0, 1, 3], [1, 2, 2, 4])) for name, text in FIVE.items()),
    # attributes
    ("g.graphml", CITIES, {}, G([0, 0], [1, 0], labels=["b", "a"])),
    ("g.graphml", CITIES, {"label": "city", "weight": "km"}, G([0, 0], [1, 0], weights=[1.5, 7], labels=ROMAN)),
    ("g.graphml", CITIES, {"labels": False}, G([0, 0], [1, 0])),
    ("g.graphml", CITIES, {"directed": True}, G([0, 1, 0], [1, 0, 0], directed=True, labels=["b", "a"])),
    ("g.graphml", KINDS, {}, G([0, 1, 1, 2], [1, 0, 2, 2], directed=True, weights=[3, 3, 5, 1])),
    ("g.graphml", KINDS, {"directed": False}, G([0, 1, 2], [1, 2, 2], weights=[3, 5, 1])),
    ("g.graphml", KINDS, {"weight": None}, G([0, 1, 1, 2], [1, 0, 2, 2], directed=True)),
    ("g.gml", GML, {}, G([1], [0], directed=True, labels=["A&B", "é"])),
    ("g.gml", GML, {"label": None}, G([1], [0], directed=True, labels=np.array([5, -2]))),
    ("g.dat", GML, {"weight": "value"}, G([1], [0], directed=True, labels=["A&B", "é"], weights=[1])),
    ("g.net", PAJEK, {}, G([0, 1, 2], [1, 2, 1], 4, True, weights=[2.5, 1, 1], labels=["a b", "c", "d", "4"])),
    ("g.net", "*vertices 4\n*arcslist\n1 2 3\n*edgeslist\n3 4\n", {}, G([0, 0, 2, 3], [1, 2, 3, 2], directed=True)),
    ("g.net", "*Vertices 2\n*Matrix\n0 1\n2.5 0\n", {}, G([0, 1], [1, 0], directed=True, weights=[1, 2.5])),
    ("g.net", "*Vertices 2\n*Matrix\n0 1\n1 0\n", {}, G([0, 1], [1, 0], directed=True)),
    ("g.net", TWINS, {"labels": False}, EDGE),
    ("g.wsg", struct.pack("<?qq3q4i", False, 2, 2, 0, 1, 2, 1, 7, 0, 7), {}, EDGE.with_weights([7, 7])),
]  # fmt: skip
# (name of the file, content, options, a part of the message)
REFUSED: list[tuple[str, str, dict[str, Any], str]] = [
    *((name, text, {"directed": False}, "edge 0 to 1 .* combine='min', .* weights=False")
      for name, text in REPEATED.items()),
    ("g.edges", WORDS, {"n": 9}, "omit n="),
    ("g.graphml", CITIES, {"weight": "miles"}, "no edge attribute 'miles'; pass one of the declared attributes: 'km'"),
    ("g.graphml", CITIES, {"label": "town"}, "node 'b' has no attribute 'town'"),
    ("g.gml", GML, {"weight": "km"}, "no edge has 'km'"),
    *(("g.graphml", '<!DOCTYPE graphml SYSTEM "g.dtd">' + TEXTS["a.graphml"] % value, {}, words) for value, words in (
        ("1&foo;2", "uses an entity"), ("1<x>2</x>3", "'weight' of the edge contains elements"),
        ('1</data><data key="w">2', "a second 'weight' in one edge"), ("1e999", "too large for float64"))),
    ("g.net", TWINS, {}, "a second vertex is called 'a'.*labels=False"),
]  # fmt: skip


def made(folder: Path, name: str, content: str | bytes) -> Path:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / name


@in_one_test(("name", "content", "options", "graph"), READ)
def test_what_is_read(name: str, content: Any, options: dict[str, Any], graph: Graph, tmp_path: Path) -> None:
    found = hio.read(made(tmp_path, name, content), **options)
    assert found == graph
    if content is CITIES and found.is_weighted:
        assert found.weights.dtype == np.float32


@in_one_test(("name", "content", "options", "words"), REFUSED)
def test_what_is_refused(name: str, content: Any, options: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises((FormatError, GraphError), match=words):
        hio.read(made(tmp_path, name, content), **options)


def test_serialised_graphs_are_turned_and_combined_too(tmp_path: Path) -> None:
    graph = G([0, 1, 1], [1, 0, 2], directed=True, weights=[5, 3, 1])
    hio.write(tmp_path / "g.wsg", graph)
    hio.write(tmp_path / "g.npz", graph)
    sp.save_npz(tmp_path / "A.npz", graph.to_scipy())
    for name in ("g.npz", "g.wsg", "A.npz"):
        with pytest.raises(FormatError, match="combine='min'"):
            hio.read(tmp_path / name, directed=False)
        assert hio.read(tmp_path / name, directed=False, combine="sum").weights.tolist() == [8, 8, 1, 1]
        assert hio.read(tmp_path / name, directed=False, weights=False) == G([0, 1], [1, 2])
        with pytest.raises(GraphError, match="omit n="):
            hio.read(tmp_path / name, n=9)
    for name in ("g.metis", "g.gr", "g.wsg", "g.npz"):  # an edge that is listed at both ends is no repeat
        hio.write(tmp_path / name, G([0, 1], [1, 2], weights=[2, 3]))
        assert hio.read(tmp_path / name, combine="sum").weights.tolist() == [2, 2, 3, 3], name


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


LARGE: dict[str, Callable[[int], str]] = {
    "deep.gml": lambda k: "graph [ " + "a [ " * k + "] " * k + "]",
    "line.gml": lambda k: 'graph [ node [ id 1 label "' + "x\n" * k + '" ] ]',
    "deep.graphml": lambda k: graphml("<a>" * k + "</a>" * k),
    "text.graphml": lambda k: graphml("<desc>" + "x&amp;" * k + "</desc>"),
    "wide.net": lambda k: f"*Vertices {k}\n*Arcslist\n" + " ".join(map(str, range(1, k + 1))) + "\n",
    "blank.txt": lambda k: "\n" * k + "x",
    "entity.gml": lambda k: f'graph [ node [ id 0 label "&#{"1" * k}x;" ] ]',
}
# Digits, then a character that no number has: slow if every split of the digits is tried.
MALFORMED = ("{0}x", "1.{0}x", "1e{0}x", "{0}.{0}.", "1{1}x", "{0}")
ROWS = {**TEXTS, "bare.csv": "0,1,%s\n", "bare.txt": "0 1 %s\n"}


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "make"), [*LARGE.items(), *((name, bad) for name in ROWS for bad in MALFORMED)])
def test_time_grows_with_the_size(name: str, make: Any, tmp_path: Path) -> None:
    k = 200_000
    path = made(tmp_path, name, ROWS[name] % make.format("1" * k, " " * k) if name in ROWS else make(k))
    start = time.perf_counter()
    with contextlib.suppress(FormatError):
        hio.read(path)
    assert time.perf_counter() - start < 20  # takes a fraction of a second; quadratic work would take hours


@pytest.mark.parametrize("name", TEXTS)
def test_numbers_that_would_change_are_refused(tmp_path: Path, name: str) -> None:
    """Those that float64 holds are read."""
    for text in ("1e999", "-1e999", "9007199254740993", "1_000", "١", "nan", "x"):
        with pytest.raises(FormatError):
            hio.read(made(tmp_path, name, TEXTS[name] % text))
    for text in ("9007199254740992", "1152921504606846976", "9007199254740993.0", "1e300", "-0.0", "00012"):
        weights = hio.read(made(tmp_path, name, TEXTS[name].replace("integer", "real") % text)).weights
        assert weights is not None and {repr(weight) for weight in weights.tolist()} == {repr(float(text))}


# ---------------------------------------------------------------- the compiled scanners


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("extension", [".mtx", ".txt", ".csv", ".el", ".wel", ".gr", ".metis", ".txt.gz"])
def test_large_files_read_like_small_ones(extension, weighted, tmp_path, monkeypatch):
    """A file of several blocks, in which lines cross block boundaries."""
    weighted = (weighted and extension != ".el") or extension == ".wel"
    rng = np.random.default_rng(8)
    u, v = rng.integers(0, 9000, (2, 20_000))
    w = rng.random(len(u)) if extension in (".mtx", ".txt", ".csv") else rng.integers(1, 2**31, len(u))
    options = {"weights": w[u != v], "combine": "first"} if weighted else {}
    graph = Graph.from_edges(u[u != v], v[u != v], **options)
    hio.write(tmp_path / f"g{extension}", graph, directed=False)
    for name in ("BLOCK", "MIN_BYTES_FOR_SCANNER"):
        monkeypatch.setattr(edge_lines, name, 1 << 16)
    fast = hio.read(tmp_path / f"g{extension}", directed=False)
    assert fast == graph
    monkeypatch.setattr(edge_lines, "MIN_BYTES_FOR_SCANNER", 1 << 40)
    assert hio.read(tmp_path / f"g{extension}", directed=False) == fast


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
        (b"7,,\n3,5,2.5\n4 , ,\r\n5,7,1e3\n", Grammar("", comments=b"", delimiter=b",", lone=True, weight=1)),
        (b"7,\n3,5\n4 , ,\r\n5,7\n", Grammar("", comments=b"", delimiter=b",", lone=True)),
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
