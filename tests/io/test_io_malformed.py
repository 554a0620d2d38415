"""Files with a mistake: each raises a FormatError that names the file, the line and what was expected."""

import gzip
import io
import json
import struct

import numpy as np
import pyarrow
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import hopwave.io as hio
from hopwave.errors import FormatError
from hopwave.graph import Graph
from hopwave.io import by_name, lines
from together import in_one_test

MTX = b"%%MatrixMarket matrix coordinate "
GENERAL = MTX + b"pattern general\n"
HUGE = str(10**18).encode()
GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def own_npz(**changes):
    entries = {"hopwave": np.array(3), "directed": np.array(True), "indptr": np.array([0, 1, 1])}
    entries |= {"indices": np.array([1])} | changes
    return npz(**{key: value for key, value in entries.items() if value is not None})


def scipy_npz(A):
    buffer = io.BytesIO()
    sp.save_npz(buffer, A)
    return buffer.getvalue()


def parquet(columns, notes=None):
    buffer = io.BytesIO()
    table = pyarrow.table(columns)
    if notes is not None:
        table = table.replace_schema_metadata({"hopwave": json.dumps(notes)})
    pq.write_table(table, buffer)
    return buffer.getvalue()


def sg(directed=0, m=2, n=2, offsets=(0, 1, 2), neighbours=(1, 0), rest=b""):
    arrays = np.array(offsets, "<i8").tobytes() + np.array(neighbours, "<i4").tobytes()
    return struct.pack("<Bqq", directed, m, n) + arrays + rest


def pairs(*ends):
    return np.array(ends, "<i8").tobytes()


def graphml(inside, before=""):
    return f'{before}{GRAPHML}\n<graph edgedefault="directed">\n<node id="a"/>\n{inside}\n</graph></graphml>'


FLAT = '<graph edgedefault="directed"/>'
LAUGHS = '<?xml version="1.0"?>\n<!DOCTYPE graphml [\n<!ENTITY a "ha">\n<!ENTITY b "&a;&a;&a;&a;">]>\n'
FALSE_LABELS = [(b"ab", [0, 1]), (b"ab", [0, 2, 1, 2]), (b"\xff\xfe", [0, 1, 2]), (b"ab", [])]


# (name of the file, content, line or None for binary formats, what the message must match)
CASES = [
    # Matrix Market
    ("empty.mtx", b"", 1, "empty; expected"),
    ("no-banner.mtx", b"3 3 1\n1 2\n", 1, "expected '%%MatrixMarket"),
    ("array.mtx", b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", 1, "dense.*expected a sparse matrix"),
    ("field.mtx", MTX + b"quaternion general\n1 1 0\n", 1, "'quaternion'.*expected one of pattern"),
    ("symmetry.mtx", MTX + b"real crooked\n1 1 0\n", 1, "'crooked'.*expected one of general"),
    ("banner-only.mtx", GENERAL, 1, "expected 'rows columns entries'"),
    ("rectangle.mtx", GENERAL + b"3 4 1\n1 2\n", 2, "3 rows and 4 columns; the matrix of a graph must be square"),
    ("truncated.mtx", GENERAL + b"3 3 3\n1 2\n2 3\n", 4, "ends after 2 entries; the header declares 3"),
    ("surplus.mtx", GENERAL + b"3 3 1\n1 2\n% hi\n2 3\n", 5, "more entries than the 1 in the header"),
    ("half-line.mtx", GENERAL + b"3 3 2\n1 2\n2\n", 4, "found '2'; expected row and column from 1 to 3"),
    ("zero.mtx", GENERAL + b"3 3 1\n0 2\n", 3, "vertex 0 is too small.*expected row and column from 1 to 3"),
    ("large.mtx", GENERAL + b"3 3 1\n1 4\n", 3, "vertex 4 is too large.*expected row and column from 1 to 3"),
    ("endless-id.mtx", GENERAL + b"3 3 1\n1 " + b"9" * 5000 + b"\n", 3, "5000 digits is too large.*expected"),
    ("pattern-value.mtx", GENERAL + b"3 3 1\n1 2 0.5\n", 3, "found '1 2 0.5'; expected row and column"),
    ("no-value.mtx", MTX + b"real general\n3 3 1\n1 2\n", 3, "expected row and column from 1 to 3, then 1 real value"),
    ("text-value.mtx", MTX + b"real general\n3 3 1\n1 2 much\n", 3, "'much' as the value; expected a number"),
    ("float.mtx", MTX + b"integer general\n3 3 1\n1 2 1.5\n", 3, "'1.5' as the value; expected an integer"),
    ("complex.mtx", MTX + b"complex general\n3 3 1\n1 2 1.5 0\n", 1, "complex values.* weights=False"),
    ("skew.mtx", MTX + b"real skew-symmetric\n3 3 1\n2 1 1.5\n", 1, "opposite weights; .* directed=True"),
    ("inexact.mtx", MTX + b"integer general\n3 3 1\n1 2 9007199254740993\n", 3, "float64 cannot represent exactly"),
    ("missing.txt", b"# Weights: third column\n0 1 3\n1 2\n", 3, "without a weight; expected two vertex ids"),
    ("two.wel", b"0 1\n", 1, "expected two vertex ids from 0, a weight and nothing else"),
    ("bare.wsg", struct.pack("<?qq2q1i", False, 1, 1, 0, 1, 0), None, "expected 8 bytes of neighbours on 1 arcs"),
    ("nul.mtx", GENERAL + b"3 3 1\n1\x00 2\n", 3, "NUL byte.*expected row and column"),
    # SNAP edge lists
    ("negative.txt", b"# hi\n0 1\n1 -2\n", 3, "vertex -2 is negative; expected two vertex ids"),
    ("text-later.txt", b"0 1\n1 2\n2 x\n", 3, "found 'x'.*expected two vertex ids"),
    ("too-large.txt", b"0 1\n1 99999999999999999999\n", 2, "too large.*expected two vertex ids"),
    ("more-edges.txt", b"# Nodes: 3 Edges: 1\n0 1\n1 2\n", 3, "more edges than the 1 in the header"),
    ("more-nodes.txt", b"# Nodes: 2 Edges: 2\n0 1\n1 7\n", 1, "3 different vertices; the file declares 2"),
    ("name-alone.txt", b"ann bob\ncyd\n", 2, "too few cells: 1; expected 2"),
    ("fewer-names.txt", b"# Nodes: 3 Edges: 5\nann bob\n", 1, "1 edges; the comment 'Edges:' declares 5"),
    # Tables
    ("cells.csv", b"|\n", 1, "contains no row besides comments"),
    ("one-column.csv", b"source\n1\n2\n", 1, "one column, 'source'; expected at least two"),
    ("text-later.csv", b"source,target\n0,1\n1,x\n", 3, "found 'x'; expected an integer"),
    ("negative.csv", b"0,1\n-1,2\n", 2, "vertex -1 is negative; ids must be"),
    ("too-large.csv", b"0,1\n1,9999999999999999999\n", 2, "too large; ids have at most 18 digits"),
    ("float.csv", b"0,1\n1,2.5\n", 2, "found '2.5'; expected an integer"),
    ("empty-cell.csv", b"source,target\n0,1\n,2\n", 3, "an empty cell instead of a vertex"),
    ("no-weight.csv", b"source,target,weight\n0,1,2\n1,2\n", 3, "too few cells: 2; expected 3, including the weight"),
    ("na.csv", b"source,target,weight\n0,1,2\n1,2,NA\n", 3, "found 'NA' as the weight; enter a number, or drop"),
    ("pointed.csv", b"source,target\n1.0,2.0\n2.0,3.0\n", 2, "vertex 1.0 has a point.*astype.*names=True"),
    ("hash-return.csv", b"# hi\r0,1\n1,2\n", 1, "a carriage return inside the line"),
    ("open-quote.csv", b'source,target\n"a","b"\n"c,"d"\n', 3, "expected a closing quote"),
    ("nul.csv", b"0,1\n1,\x002\n", 2, "NUL byte.*expected a table"),
    ("latin1.csv", b"source,target\nann,bob\nZ\xfcrich,x\n", 3, "is not UTF-8 .as Latin-1.*'Zürich,x'.*; save"),
    ("utf16.csv", "source,target\n".encode("utf-16"), 1, "the encoding is UTF-16; save the file as UTF-8"),
    # METIS
    ("header.graph", b"3 x\n", 1, "expected 'vertices edges"),
    ("fmt.graph", b"3 2 7\n2\n1 3\n2\n", 1, "fmt is 7; expected up to three digits"),
    ("text.graph", b"3 2\n2\n1 three\n2\n", 3, "found 'three'; expected vertices from 1 to 3"),
    ("large.graph", b"% hi\n3 2\n2\n1 4\n2\n", 4, "neighbour 4 of vertex 2; expected vertices from 1 to 3"),
    ("short.graph", b"3 2\n2\n1 3\n", 3, "ends after 2 vertices; expected one line for each of 3"),
    ("long.graph", b"2 1\n2\n1\n\n1\n", 5, "after vertex 2; expected the end"),
    *((f"ncon-{i}.graph", head + b"\n1 2\n1 1\n", 1, "ncon is") for i, head in enumerate(
        (b"2 1 10 100000000000000000000", b"2 1 011 99999999999999999999", b"2 1 010 5000000"))),
    ("count.graph", b"3 3\n2\n1 3\n2\n", 1, "4 neighbours are listed; expected 6"),
    ("one-sided.graph", b"3 2\n2 3\n1\n2\n", 2, "lists 3, which does not list it; both endpoints must"),
    ("loop.graph", b"2 1\n1 2\n1\n", 2, "vertex 1 lists itself; METIS files cannot store self-loops"),
    ("one-sided-1.graph", b"3 2 1\n2 5 3 6\n1 5\n2 6\n", 2, "lists 3, which does not list it; both endpoints must"),
    ("weights.graph", b"2 1 1\n2 5\n1\n", 3, "a weight is missing; fmt in the header"),
    # DIMACS
    ("empty.gr", b"c nothing\n", 1, "no problem line; expected 'p sp N M'"),
    ("early.gr", b"a 1 2 3\np sp 2 1\n", 1, "expected a problem line"),
    ("problem.gr", b"c hi\np max 3 1\na 1 2 3\n", 2, "found 'p max 3 1'; expected 'p sp N M'"),
    ("letter.gr", b"p sp 3 2\na 1 2 3\nb 2 3 1\n", 3, "found 'b 2 3 1'; expected an arc 'a u v weight'"),
    # GAPBS
    ("spaces.el", b"  \n", 1, "no edge; expected lines"),
    ("comment.el", b"# hi\n0 1\n", 1, "expected two vertex ids"),
    ("three.el", b"0 1\n1 2 3\n", 2, "expected two vertex ids from 0 and nothing else"),
    ("sparse.el", b"0 1\n1 2147483645\n", 2, "in only .* bytes; pass n=2147483646"),
    ("short.sg", b"\0\0\0", None, "expected 17 bytes of header"),
    ("flag.sg", sg(directed=7), None, "the first byte is 7; expected 0"),
    ("negative.sg", sg(n=-2), None, "declares -2 vertices.*must not be negative"),
    ("truncated.sg", sg()[:-1], None, "ends 1 bytes early; expected 8 bytes of neighbours"),
    ("no-transpose.sg", sg(directed=1), None, "expected 32 bytes of in-arcs"),
    ("goes-on.sg", sg(rest=b"x"), None, "continues after its 2 arcs: not a .sg file"),
    ("range.sg", sg(neighbours=(1, 5)), None, "not a graph: "),
    # Graph500
    ("ragged.graph500", b"x" * 17, None, "17 bytes; expected a multiple of 16.*packed=True"),
    ("negative.graph500", pairs(0, 1, 2, -3)[:32], None, "edge 1 has the endpoint -3; expected ids from 0"),
    ("large.graph500", pairs(0, 2**40), None, "edge 0 has the endpoint 1099511627776; expected ids"),
    ("sparse.graph500", pairs(0, 2**31 - 3), None, "in only .* bytes; pass n="),
    # NumPy archives
    ("truncated.npz", own_npz()[:-30], None, "not a complete .npz archive"),
    ("other.npz", npz(weights=np.arange(3)), None, "contains weights; expected an .npz of hopwave or SciPy"),
    ("objects.npz", npz(hopwave=np.array([{}], object)), None, "contains Python objects; expected"),
    ("missing.npz", own_npz(indices=None), None, "'indices' is missing; the archive contains"),
    ("version.npz", own_npz(hopwave=np.array(9)), None, "layout 9 is not supported, only 3"),
    ("range.npz", own_npz(indices=np.array([5])), None, "not a graph: "),
    ("floats.npz", own_npz(indices=np.array([0.5])), None, "not a graph: "),
    *((f"label-{i}.npz", own_npz(label_bytes=np.frombuffer(data, "u1"), label_offsets=np.array(at, int)), None, "label")
      for i, (data, at) in enumerate(FALSE_LABELS)),
    ("labels.npz", own_npz(labels=np.array([1])), None, "not a graph: "),
    ("twin-labels.npz", own_npz(labels=np.array([1, 1])), None, "not a graph: "),
    ("rectangle.npz", scipy_npz(sp.csr_array((2, 3))), None, r"shape \(2, 3\); a graph needs a square"),
    ("scipy.npz", npz(format=np.array("csr"), shape=np.array([2, 2])), None, "is missing; the archive"),
    ("kind.npz", npz(format=np.array("lil"), shape=np.array([2, 2])), None, "'lil'; expected csr"),
    ("hostile.npz", npz(format=np.array("coo"), shape=np.array([10**18] * 2)), None, "vertices; expected at most"),
    # Name and content differ
    ("npz.mtx", own_npz(), 1, "the extension says Matrix Market but the content is NumPy archive"),
    ("mtx.csv", GENERAL + b"1 1 0\n", 1, "the extension says CSV and TSV but the content is Matrix Market"),
    # Parquet
    ("truncated.parquet", parquet({"a": [1], "b": [2]})[:-20], None, "not a readable Parquet file.*truncated"),
    ("single.parquet", parquet({"a": [1]}), None, "one column, 'a'; expected at least two"),
    ("missing.parquet", parquet({"a": [1, None], "b": [2, 3]}), None, "'a' has 1 missing values; expected a vertex"),
    ("float.parquet", parquet({"a": [0.5], "b": [2.0]}), None, "'a' is double; vertices must be integers or strings"),
    ("negative.parquet", parquet({"a": [0], "b": [-2]}), None, "vertex -2 is negative; ids"),
    ("hostile.parquet", parquet({"a": [0], "b": [1]}, {"n": 10**18}), None, "vertices; expected at most"),
    ("notes.parquet", parquet({"a": [0], "b": [1]}, [1, 2]), None, "cannot be read; expected n, directed"),
    ("labels.parquet", parquet({"a": ["x"], "b": ["y"]}, {"labels": ["x"]}), None, "ends at 'y', which is not among"),
    ("twins.parquet", parquet({"a": ["x"], "b": ["y"]}, {"labels": ["x", "x"]}), None, "must be distinct strings"),
    # GraphML, GML and Pajek
    ("laughs.graphml", graphml("<desc>&b;</desc>", LAUGHS), 3, "declares or uses an entity, which is not supported"),
    ("open.graphml", graphml("<edge>"), 5, "not well-formed XML"),
    ("encoding.graphml", '<?xml version="1.0" encoding="klingon"?>\n<graphml/>', 1, "expected GraphML"),
    ("svg.graphml", "<svg></svg>", 1, "is <svg>; expected <graphml>"),
    ("none.graphml", "<graphml></graphml>", 1, "no <graph>; expected one"),
    ("two.graphml", f"{GRAPHML}{FLAT}\n{FLAT}</graphml>", 2, "second graph"),
    ("nested.graphml", graphml('<node id="b">\n<graph edgedefault="directed"/></node>'), 5, "graph inside another"),
    ("hyper.graphml", graphml("<hyperedge/>"), 4, "a hyperedge, which is not supported"),
    ("port.graphml", graphml('<node id="b"><port name="x"/></node>'), 4, "a port, which is not supported"),
    ("default.graphml", "<graphml>\n<graph/></graphml>", 2, "edgedefault is missing; expected"),
    ("target.graphml", graphml('<edge source="a"/>'), 4, "without target=; add"),
    ("absent.graphml", graphml('<edge source="a" target="x"/>'), 4, "ends at 'x'; expected a declared vertex"),
    ("twice.graphml", graphml('<node id="a"/>'), 4, "second vertex with the id 'a'"),
    ("key.graphml", graphml('<node id="b"><data key="z">1</data></node>'), 4, "for the key 'z'; declare it"),
    ("directed.graphml", graphml('<edge source="a" target="a" directed="maybe"/>'), 4, "directed='maybe'; expected"),
    ("empty.gml", "# nothing\n", 1, r"no graph; expected 'graph \[ ... \]'"),
    ("open.gml", "\ngraph [\n node [ id 0 ]\n", 2, r"'graph' does not end; expected \]"),
    ("quote.gml", 'graph [\n label "x\n\n', 2, "without a closing quote"),
    ("value.gml", "graph [ node ]\n", 1, "found ']' after 'node'; expected a value"),
    ("sign.gml", "graph [\n a ! ]\n", 2, "found '! ]'; expected a key, a number"),
    ("id.gml", "graph [\nnode [ label 3 ] ]\n", 2, "node has no id; expected"),
    ("id-text.gml", 'graph [\nnode [ id "x" ] ]\n', 2, "id of the node is 'x'; expected an integer"),
    ("names.gml", 'graph [ node [ id 1 label "a" ]\nnode [ id 2 label "a" ] ]\n', 2, "is called 'a'.*labels=False"),
    ("few.gml", 'graph [ node [ id 1 label "a" ]\nnode [ id 2 ] ]\n', 1, "1 of 2 nodes have no 'label'"),
    ("again.gml", "graph [ node [ id 1 ]\nedge [ source 1 target 1 weight 1 weight 2 ]]\n", 2, "a second 'weight'"),
    ("directed.gml", "graph [ directed 2 ]\n", 1, "directed is '2'; expected 0 or 1"),
    ("two.gml", "graph [ ]\ngraph [ ]\n", 2, "a second graph"),
    ("utf.gml", b"graph [\n \xff ]", 2, "not UTF-8"),
    ("empty.net", "% nothing\n", 1, r"no \*Vertices"),
    ("early.net", "1 2\n", 1, r"found '1 2'; expected '\*Vertices N'"),
    ("arcs.net", "*Arcs\n1 2\n", 1, r"before the vertices; expected '\*Vertices N' first"),
    ("section.net", "*Vertices 2\n*Partition\n", 2, "section '.Partition' is not known; expected one of"),
    ("large.net", "*Vertices 2\n*Arcs\n1 3\n", 3, "found '3'; expected a vertex from 1 to 2"),
    ("alone.net", "*Vertices 2\n*Arcs\n1\n", 3, "found '1'; expected two vertices"),
    ("quote.net", '*Vertices 2\n1 "a\n', 2, "expected a number and a label"),
    ("twice.net", "*Vertices 2\n1 a\n1 b\n", 3, "vertex 1 is listed a second time"),
    ("matrix.net", "*Vertices 2\n*Matrix\n0 1\n", 3, "ends after 1 rows; expected 2"),
    ("wide.net", "*Vertices 2\n*Matrix\n0 1 1\n", 3, "row 1 has 3 numbers; expected 2 rows of 2"),
    ("two-mode.net", "*Vertices 2 1\n*Matrix\n0 1\n", 2, "two-mode"),
    ("few.net", "*Vertices 90000000\n1 a\n", 1, "1 of 90,000,000 vertices have a label"),
    # gzip
    ("truncated.mtx.gz", gzip.compress(GENERAL + b"3 3 2\n1 2\n2 3\n")[:-9], 3, "gzip stream ends too early"),
    ("head.mtx.gz", gzip.compress(GENERAL)[:5], 1, "gzip stream"),
    ("damaged.txt.gz", b"\x1f\x8b\x08" + bytes(6) + b"\x03" + b"\xff" * 80, None, "gzip stream is damaged"),
    ("truncated.sg.gz", gzip.compress(sg())[:-9], None, "gzip stream ends too early"),
]  # fmt: skip


@pytest.mark.parametrize("scanned", [False, True], ids=["by Python", "by the scanner"])
@in_one_test(("name", "content", "line", "says"), CASES)
def test_a_malformed_file(name, content, line, says, scanned, tmp_path, monkeypatch):
    """The compiled scanner, here with blocks of a few lines, has the same complaint about the same line."""
    if scanned:
        monkeypatch.setattr(lines, "MIN_BYTES_FOR_SCANNER", 1)
        monkeypatch.setattr(lines, "BLOCK", 8)
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError, match=f"(?s){says}") as caught:
        hio.read(path)
    message, found = str(caught.value), caught.value.line
    assert caught.value.path == str(path)
    assert found == line or "somewhere after this line" in message
    assert message.startswith(f"{path}:{found}: " if line else f"{path}: ")
    assert "\n" not in message and "\0" not in message and len(message) < len(str(path)) + 300


@pytest.mark.parametrize(
    "extension", [known.extensions[0] + packed for known in hio.formats() for packed in ("", ".gz")]
)
def test_damage_of_any_kind_is_a_format_error_or_another_graph(extension, tmp_path):
    """Change, add and remove random bytes: FormatError is the only exception, and nothing crashes."""
    rng = np.random.default_rng(int.from_bytes(extension.encode(), "big") % 2**32)
    path = tmp_path / f"g{extension}"
    graph = Graph.from_edges([0, 1, 2, 2, 5], [1, 2, 3, 0, 4], weights=[3, 1, 4, 1, 5])
    hio.write(path, graph, weights=by_name(path).holds_weights, directed=graph.directed)
    good = path.read_bytes()
    refused = 0
    for _ in range(60):
        at = int(rng.integers(0, len(good)))
        middle = [b"", rng.bytes(2), b"9" * 12, b"-1", b"\n", b"nan", b"\0"][rng.integers(0, 7)]
        path.write_bytes(good[:at] + middle + good[at + int(rng.integers(0, 5)) :])
        try:
            hio.read(path)
        except FormatError as error:
            assert error.path == str(path)
            refused += 1
    assert refused > 0
