"""Tables, edge lists and labels that are easily misread: read exactly so, or rejected with the option to pass."""

import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import hopwave as hw
from hopwave import FormatError, Graph
from hopwave.io import lines
from hopwave.system import threads
from together import in_one_test

AB = [("a", "b"), ("b", "c")]
NUMBERS = [(0, 1), (1, 2)]
WEIGHTED = [(0, 1, 2.0), (1, 2, 0.5)]
FLIGHTS = [("OSL", "CPH", 517.0), ("CPH", "ARN", 678.0)]
ROADS = [(0, 1, 3.0), (1, 2, 4.5)]
OFF: dict[str, Any] = {"weights": False}
KM: dict[str, Any] = {"weight": "km"}
NAMES: dict[str, Any] = {"names": True}
EDGES: dict[str, Any] = {"header": False}
MATRIX = "0,1,5\n1,0,2\n5,2,0\n"
LABELLED = ",ann,bob,cyd\nann,0,1,5\nbob,1,0,2\ncyd,5,2,0\n"

# (extension, text, options, edges)
READ: list[tuple[str, str, dict[str, Any], list[Any]]] = [
    # delimiters, headers and columns of names
    ("csv", "source,target\na,b\nb,c\n", {}, AB),
    ("csv", "a,b,1\nb,c,2.5\n", OFF, AB),
    ("csv", "ego,alter,weight\na,b,\nb,c,\n", OFF, AB),
    ("csv", "weight;to;from\n1;b;a\n2;c;b\n", OFF, AB),
    ("csv", "src\tdst\na\tb\nb\tc\n", {}, AB),
    ("csv", '"Source"|"Target"\n"a"|"b"\n"b"|"c"\n', {}, AB),
    ("csv", "\ufeffsource,target\r\na,b\r\n\r\nb,c\r\n", {}, AB),
    ("csv", "u v\na b\nb c", {}, AB),
    ("csv", '"a,1";b\nb;"c\n;"\n', EDGES, [("a,1", "b"), ("b", "c\n;")]),
    ("csv", "a:b\nb:c\n", {"delimiter": ":", **EDGES}, AB),
    ("csv", "source,target\na,b\nb,c\n", EDGES, [("source", "target"), *AB]),
    ("csv", "p,q\na,b\nb,c\n", {"header": True}, AB),
    ("csv", "sep=;\r\nsource;target;weight\r\nann;bob;3\r\nann\xa0;cyd;4\r\n", {},
     [("ann", "bob", 3.0), ("ann", "cyd", 4.0)]),
    ("csv", "sep=,\n0,1\n1,2\n", {}, NUMBERS),
    ("csv", 'source, target, km\nOslo, Bergen, 3\nBergen , Voss, 4\n" Oslo","Voss ", 5\n', KM,
     [("Oslo", "Bergen", 3.0), ("Bergen", "Voss", 4.0), (" Oslo", "Voss ", 5.0)]),
    # numbers
    *(("csv", text, {}, NUMBERS) for text in (
        "0,1\n1,2\n", "x,y\n0,1\n1,2\n", "0, 1\n 1,2\n", "0 1\n1 2\n", "0,1,\n1,2,\n",
        "# Vertices: rows without a target\n2,\n0,1\n1,2\n", '0,1,"a, b"\n1,2,"c"\n',
    )),
    ("csv", "0;1;9\n1;2;9\n", OFF, NUMBERS),
    *(("csv", text, {"decimal": ",", "weight": 2}, WEIGHTED) for text in ("0;1;2,0\n1;2;,5\n", '0,1,"2"\n1,2,"0,5"\n')),
    ("csv", '"1","2"\n"2","3"\n', {}, [("1", "2"), ("2", "3")]),
    ("csv", '"1","2"\n"2","3"\n', {"names": False}, [(1, 2), (2, 3)]),
    # columns by title, by position, by elimination
    ("csv", "id,when,a_end,b_end\n5,1,0,1\n6,2,1,2\n", {"source": "a_end", "target": "b_end", **OFF}, NUMBERS),
    ("csv", "id,when,a_end,b_end\n5,1,0,1\n6,2,1,2\n", {"source": 2, "target": 3, **OFF}, NUMBERS),
    ("csv", "id,source,target\n5,0,1\n6,1,2\n", {}, NUMBERS),
    ("csv", ",origin,dest,km\n0,OSL,CPH,517\n1,CPH,ARN,678\n", KM, FLIGHTS),
    ("csv", "Unnamed: 0,x,y,km\n0,OSL,CPH,517\n1,CPH,ARN,678\n", KM, FLIGHTS),
    ("csv", "flight,origin,dest,km\nSK1,OSL,CPH,517\nSK2,CPH,ARN,678\n", KM, FLIGHTS),
    ("csv", "weight,origin,dest\n517,OSL,CPH\n678,CPH,ARN\n", {}, FLIGHTS),
    ("csv", "weight,x,y\n517,OSL,CPH\n678,CPH,ARN\n", {}, FLIGHTS),
    ("csv", "km,x,dest\n517,OSL,CPH\n678,CPH,ARN\n", KM, FLIGHTS),
    ("csv", "x,km,y\nOSL,517,CPH\nCPH,678,ARN\n", KM, FLIGHTS),
    ("csv", "no,orig,dst,km\n1,OSL,CPH,517\n2,CPH,ARN,678\n", KM, FLIGHTS),
    ("csv", "origin,dest,km,km\nOSL,CPH,517,1\nCPH,ARN,678,1\n", {"weight": 2}, FLIGHTS),
    ("csv", "Id,Label\n1,ann\n", {"source": "Id", "target": "Label"}, [("1", "ann")]),
    # weights
    ("csv", "u,v,Cost\n0,1,2\n1,2,.5\n", {}, WEIGHTED),
    ("csv", "distance;to;from\n2;1;0\n0.5;2;1\n", {}, WEIGHTED),
    ("csv", "u,v,note,w\n0,1,x,2\n1,2,,5e-1\n", {}, WEIGHTED),
    ("csv", "source,target,km\n0,1,2\n1,2,0.5\n", KM, WEIGHTED),
    ("csv", "0,1,2\n1,2,0.5\n", {"weight": 2}, WEIGHTED),
    ("csv", '"0","1","2"\n"1","2","0.5"\n', {"weight": 2, "names": False}, WEIGHTED),
    ("csv", "0 1 9 2\n1 2 9 0.5\n", {"weight": 3}, WEIGHTED),
    ("csv", "u,v,length,weight\n0,1,30,2\n1,2,3,.5\n", {}, WEIGHTED),
    ("csv", "u,v,length,time\n0,1,2,12:30\n1,2,.5,12:31\n", {}, WEIGHTED),
    ("txt", "0 1 2\n1 2 0.5\n", {"weight": 2}, WEIGHTED),
    ("txt", "0 1 x 2\n1 2 y 0.5\n", {"weight": 3}, WEIGHTED),
    ("txt", "0 1 2\n1 2 3\n", OFF, NUMBERS),
    *(("txt", f"% sym {kind}\n0 1 2\n1 2 0.5\n", {}, NUMBERS) for kind in ("unweighted", "positive")),
    ("txt", "% sym posweighted\n% 2 3\n0 1 2\n1 2 0.5\n", {}, WEIGHTED),
    ("txt", "# Weights: third column\n0 1 2\n1 2 0.5\n", {}, WEIGHTED),
    ("txt", "0 1 {}\n1 2 {}\n", {}, NUMBERS),  # which NetworkX writes if there are no attributes
    ("csv", "source,target,weight\n0,1,2,\n1,2,0.5\n", {}, WEIGHTED),
    ("csv", "origin,dest,km\n0,1,2\n1,2,.5\n2,,\n", KM | {"isolated": True}, WEIGHTED),
    ("csv", "u,v\n1001,01003\n", NAMES, [("1001", "01003")]),
    ("csv", "u,v\n1001,01003\n", {"names": False}, [(1001, 1003)]),
    # comments
    *(("csv", text, {}, ROADS) for text in (
        "# my roads\nsource,target,weight\n0,1,3\n1,2,4.5\n", "\n# my roads, two of them\n\n#\nu,v,w\n0,1,3\n1,2,4.5\n",
        "# one, two, three\nfrom,to,weight\n0,1,3\n1,2,4.5\n", "#0,1,7\nfrom|to|weight\n0|1|3\n1|2|4.5\n",
    )),
    ("csv", "source,target\n#a,b\n#c,d\n", {}, [("#a", "b"), ("#c", "d")]),
    ("csv", '"#a","b"\n#c,d\n', EDGES, [("#a", "b"), ("#c", "d")]),
    ("csv", "# all, 2020\nx,y\na,b\nb,c\n", {"source": "x", "target": "y"}, AB),
    ("csv", "# x,y\na,b\nb,c\n", EDGES, AB),
    # names that look like something else
    ("csv", 'source,target\na,b\n"NA",b\nNAN,b\n', {}, [("a", "b"), ("b", "NA"), ("b", "NAN")]),
    ("csv", "source,target\na,b\nNA,b\n", NAMES, [("a", "b"), ("b", "NA")]),
    ("txt", "a b\nb null\n", NAMES, [("a", "b"), ("b", "null")]),
    ("txt", "1 2\n2 x\n", NAMES, [("1", "2"), ("2", "x")]),
    ("txt", "a, b\nb, c\n", {"format": "table", **EDGES}, AB),
    ("txt", '"New York" b\nb c\n', {"format": "table", **EDGES}, [("New York", "b"), ("b", "c")]),
    ("txt", "u v\nv weight\n", {"format": "table", **EDGES}, [("u", "v"), ("v", "weight")]),
    ("txt", "source\ttarget\n0\t1\n1\t2\n", {"format": "table"}, NUMBERS),
    ("csv", "Source,Target,Type\n0,1,Undirected\n1,2,Undirected\n", {}, NUMBERS),
    ("csv", "Source,Target,Type\n0,1,Directed\n1,2,Directed\n", {"directed": False}, NUMBERS),
    ("csv", MATRIX, {"source": 0, "target": 1, "weight": 2, "directed": True}, [(0, 1, 5.0), (1, 0, 2.0), (5, 2, 0.0)]),
]  # fmt: skip

# (extension, text, options, line, a part of the message)
REJECTED: list[tuple[str, str, dict[str, Any], int, str]] = [
    # columns that may be weights
    *(("csv", text, {}, 1, "column 3 may be weights; pass weight=2 to read it, or weights=False") for text in (
        "0,1,2.5\n1,2,3\n", "0;1;3,5\n".replace(",", "."), MATRIX, "1,2,3\n2,3,1\n3,1,2\n")),
    ("csv", "0,1,7,1\n1,2,8,1\n", {}, 1, "column 3, column 4 may be weights; pass weight=2 or weight=3"),
    ("csv", "source,target,km\n0,1,2\n", {}, 1, "column 'km' may be weights; pass weight='km'"),
    ("csv", "id,origin,dest,fare,km\n1,OSL,CPH,99,517\n", {}, 1, "'fare', column 'km' may be weights; pass"),
    ("csv", "u,v,Length,cost\n1,2,30,4\n", {}, 1, "column 'Length', column 'cost' may be weights; pass"),
    ("csv", "u,v,length,Travel_Time,time\n1,2,30,4,12:30\n", {}, 1, "'length', column 'Travel_Time' may be weights"),
    *(("txt", text, {}, 1, "column 3 may be weights") for text in (
        "0 1 2.5\n1 2 3\n", "0 1\n1 2 3\n", "0 1 2 3\n1 2\n", "a b\nb c d\n", "A binds B\nB binds C\n",
        "1 2 {'weight': 3.0}\n2 3 {'weight': 1.0}\n", MATRIX.replace(",", " "))),
    # ends
    ("csv", "flight,x,y,km\nSK1,OSL,CPH,517\n", KM, 1, "columns 'flight' or 'x' or 'y' may be the endpoints"),
    ("csv", "ego,alter,since\na,b,1990\n", {}, 1, "may be the endpoints"),
    ("csv", "id,when,a_end,b_end\n5,1,0,1\n", {"source": "a_end"}, 1, "pass source= and target="),
    *(("csv", text, {}, 1, "(Graph.from_scipy reads a matrix)") for text in (
        MATRIX, f"a,b,c\n{MATRIX}", f"0,1,2\n{MATRIX}", LABELLED, LABELLED.replace(",", ";"), ",a,b\na,0,1\nb,1,0\n",
        "0,1,0,0\n0,0,1,0\n0,0,0,1\n1,0,0,0\n", "1,.5,.5,0\n.5,1,0,0\n.5,0,1,0\n0,0,0,1\n",
        "\n".join(",".join("01"[i * j % 3 == 1] for i in range(70)) for j in range(70)))),
    ("csv", "Id,Label\n1,ann\n", {}, 1, "columns 'Label' may be the endpoints; pass source= and target="),
    ("csv", "v,w\n0,1\n1,2\n", {}, 1, "columns 'v' may be the endpoints; pass source= and target="),
    ("csv", "x,km\nA,5\n", KM, 1, "columns 'x' may be the endpoints; pass source= and target="),
    *(("csv", "x,km\n1,5\n", ends, 1, "is selected twice; pass different columns") for ends in (
        {"source": "x", "target": 0}, {"source": 1, "target": "km"}, {"source": "x", "weight": "x"})),
    ("csv", "a,b\n0,1\n", {"source": "c"}, 1, "no column 'c'; pass one of 'a', 'b'"),
    ("csv", "a,b\n0,1\n", {"target": 9}, 1, "no column 9; pass one of 'a', 'b', or a position from 0 to 1"),
    ("csv", "a,b\n0,1\n", {"target": True}, 1, "no column True"),
    ("csv", "origin,dest,km,km\nOSL,CPH,517,1\n", KM, 1, "2 columns are named 'km'; pass a position instead: 2 and 3"),
    ("csv", "origin,dest,weight,weight\nOSL,CPH,517,1\n", {}, 1, "2 columns are named 'weight'"),
    ("csv", "origin,dest,origin,weight\nOSL,CPH,517,1\n", {}, 1, "2 columns are named 'origin'"),
    # direction
    ("csv", "u,v,oneway\n1,2,y\n2,3,\n3,1,no\n", {}, None, "'oneway' contains 'y', '', which is not yes (one arc)"),
    ("csv", "u,v,oneway,directed\n1,2,no,yes\n", {}, None, "'oneway' and 'directed' both state which edges are"),
    # delimiter, header, comments
    ("csv", "0;1;3,5\n1;2;4,5\n", {}, 1, "the first row contains ',' and ';'; pass the delimiter"),
    ("csv", "0;1;1.234\n", {"decimal": ",", "weight": 2}, 1, "omit decimal=',' or the point"),
    ("csv", "0;1;3,5\n1;2;4,5\n", {"sep": ";", "weight": 2}, 1, "'3,5' as the weight; expected a decimal point"),
    ("csv", "0;1;1,234\n", {"delimiter": ";", "weight": 2}, 1, "point: 1.234, or 1234 if these are thousands"),
    *(("csv", text, {}, 1, "may be a header or an edge; pass header=True") for text in (
        "a,b\nb,c\n", "person,friend\nann,bob\n", "a,b\n", "a b\nb c\n", "ann,\nbob,cyd\n")),
    *(("csv", f"{text}\nc,d\n", EDGES, 1, f"found {text!r}, which may be a comment, a header or an edge")
      for text in ("#a,b", "#source,target", "#  target, source")),
    *(("txt", text, {}, line, "looks like a header; pass format='table'") for line, text in (
        (1, "protein1 protein2 combined_score\n9606.P1 9606.P2 900\n"), (1, "source\ttarget\n1\t2\n"),
        (1, "u v\nv weight\n"), (1, "\ufeffsource target\na b\n"), (3, "# by hand\n\nx y weight\na b 5\n"))),
    # cells
    *(("csv", text, {}, text.count("\n"), "too few cells: 1; expected 2") for text in (
        "0,1\n2\n", "source,target\n0,1\n2\n", "0 1\n2\n", "source,target\nann,bob\ncyd\n")),
    ("csv", "source,target\nann,bob\nSmith, John,bob\n", {}, 3, "3 cells; expected 2: quote names"),
    # cells beyond the first row: a weight of 3,5 would be read as 3
    *(("csv", text, {}, text.count("\n"), f"{cells} cells; expected {cells - 1}") for text, cells in (
        ("source,target,weight\n1,2,3\n4,5,6,5\n", 4), ("source;target;weight\r\n1;2;3\r\n4;5;6;x\r\n", 4),
        ("source\ttarget\n1\t2\n4\t5\t6\n", 3), ("1 2\n4 5  6\n", 3), ("u,v,weight,a\n1,2,3,a\n4,5,6,b,c\n", 5))),
    # a weight without a second end
    ("csv", "source,target\n1,2\n1,\n", {}, 3, "an empty cell after '1' instead of the second vertex; drop the row"),
    *(("csv", f"origin,dest,km\n{row}{row[-8:-5]},,678\n", options | {"isolated": True}, 3, "before '678' instead")
      for row, options in (("OSL,CPH,517\n", KM), ("101,102,517\n", KM), ("101,102,517\n", OFF))),
    # a zero that an integer would lose
    *(("csv", f"0{mark}10\n{text}\n", {}, 2, "has a leading zero, which an integer id would lose; pass names=True")
      for mark, text in ((",", "1001,01003"), (",", "01001,1003"), ("\t", "1001\t01003"),
                         (" ", "1001 01003"), (",", "0,00"))),
    # line ends and thousands
    ("csv", "0,1\n3,1 000 000\n", {}, 2, "found '1 000 000'; expected an integer"),
    ("tsv", "0\t1\n0\t1 2\n", {}, 2, "found '1 2'; expected an integer"),
    ("csv", "0,1\n3,1\r4,5\n", {}, 2, "new-line character seen"),
    *((extension, f"0 1\n{text}\n", {}, 2, "a carriage return inside the line") for extension, text in (
        ("txt", "0 1\r1 2\r2 0"), ("txt", "# nothing\r1 2"), ("el", "0 1\r1 2"))),
    # what is not a list of edges
    ("txt", "a, b\nb, c\n", {}, 1, "format='table' to read"),
    ("txt", "1;2\n2;3\n", {}, 1, "format='table' to read"),
    ("txt", '"a" "b"\n"b" "c"\n', {}, 1, "format='table' to read"),
    ("txt", "1.0e+00 2.0e+00\n", {}, 1, "names=True to keep them"),
    ("txt", "a b\nb null\n", {}, 2, "'null' may be a missing end"),
    ("csv", "source,target\na,b\nNaN,c\n", {}, 3, "'NaN' may be a"),
    ("txt", "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n", {}, 1, "a Git LFS pointer"),
    ("txt", "<!DOCTYPE html>\n<p>not found\n", {}, 1, "an HTML page"),
    ("csv", "source,target\n1.2E+11,2\n", {}, 2, "has a point or an exponent"),
]  # fmt: skip


def path_of(folder: Path, extension: str, text: str) -> Path:
    path = folder / f"a.{extension}"
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("size", ["small", "large"])
@in_one_test(("extension", "text", "options", "edges"), READ)
def test_what_is_read(
    extension: str, text: str, options: dict[str, Any], edges: Any, size: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if size == "large":
        monkeypatch.setattr(lines, "MIN_BYTES_FOR_SCANNER", 8)
    found = hw.read(path_of(tmp_path, extension, text), **options).edges()
    assert {(frozenset(edge[:2]), edge[2:]) for edge in found} == {(frozenset(edge[:2]), edge[2:]) for edge in edges}


@in_one_test(("extension", "text", "options", "line", "words"), REJECTED)
def test_what_is_no_list_of_edges_is_refused_and_not_read_as_one(
    extension: str, text: str, options: dict[str, Any], line: int, words: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for least in (1 << 20, 8):  # read by Python, then by the scanner
        monkeypatch.setattr(lines, "MIN_BYTES_FOR_SCANNER", least)
        with pytest.raises(FormatError, match=re.escape(words)) as caught:
            hw.read(path_of(tmp_path, extension, text), **options)
        assert caught.value.line == line and len(caught.value.args[0]) < 300


TRIANGLE = {
    "a.txt": b"# Nodes: 3 Edges: 3\n0 1\n1 2\n2 0\n",
    "b.txt": b"0 1\n1 2\n2 0\n",
    "a.csv": b"0,1\n1,2\n2,0\n",
    "b.csv": b"source,target\n0,1\n1,2\n2,0\n",
    "a.el": b"0 1\n1 2\n2 0\n",
    "a.mtx": b"%%MatrixMarket matrix coordinate pattern general\n% c\n3 3 3\n1 2\n2 3\n3 1\n",
    "a.gr": b"c x\np sp 3 3\na 1 2 1\na 2 3 1\na 3 1 1\n",
    "a.graph": b"% c\n3 3\n2 3\n1 3\n1 2\n",
    "a.net": b"% c\n*Vertices 3\n*Edges\n1 2\n2 3\n3 1\n",
    "a.gml": b"# c\ngraph [\n node [ id 0 ]\n node [ id 1 ]\n node [ id 2 ]\n edge [ source 0 target 1 ]\n"
    b" edge [ source 1 target 2 ] # c\n edge [ source 2 target 0 ]\n]\n",
}  # fmt: skip


@pytest.mark.parametrize("name", TRIANGLE)
def test_byte_order_marks_and_line_ends_of_other_systems(name: str, tmp_path: Path) -> None:
    """A byte-order mark and CRLF change nothing. Lone carriage returns are refused, or (in GML) read as line ends."""
    path, plain = tmp_path / name, TRIANGLE[name]

    def read(data: bytes) -> tuple[int, set[tuple[int, int]], Any]:
        path.write_bytes(data)
        G = hw.read(path, directed=False)
        return G.n, set(zip(*(ends.tolist() for ends in G.to_edges()), strict=True)), G.labels

    right = 3, {(0, 1), (0, 2), (1, 2)}, None
    mark = b"\xef\xbb\xbf"
    for data in (plain, mark + plain, plain.replace(b"\n", b"\r\n"), mark + plain.replace(b"\n", b"\r\n")):
        assert read(data) == right
    for only in (plain.replace(b"\n", b"\r"), plain.replace(b"\n", b"\r", 2), plain.replace(b"\n", b"\r")[:-1] + b"\n"):
        try:
            found = read(only)
        except FormatError:
            continue
        assert found == right


def test_files_are_read_where_no_thread_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MIN_BYTES_FOR_SCANNER", 8)
    monkeypatch.setattr(threads, "crew", threads.Crew())
    monkeypatch.setattr(threads, "start_new_thread", Mock(side_effect=RuntimeError("can't start new thread")))
    (tmp_path / "a.txt").write_bytes(b"0 1\n1 2\n2 3\n")
    assert hw.read(tmp_path / "a.txt").m == 6


def test_how_a_matrix_is_read(tmp_path: Path) -> None:
    """As docs/formats.md says."""
    right = Graph.from_edges(["ann", "ann", "bob"], ["bob", "cyd", "cyd"], weights=[1, 5, 2])
    matrix = np.loadtxt(path_of(tmp_path, "csv", MATRIX), delimiter=",")
    assert Graph.from_scipy(csr_array(matrix)) == right.relabel(None)
    table = pd.read_csv(path_of(tmp_path, "csv", LABELLED), index_col=0)
    assert Graph.from_scipy(csr_array(table)).relabel(list(table)) == right


def test_columns_of_parquet_follow_the_same_rule(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    ends = {"Source": [1, 2], "Target": [2, 3]}
    for more, words in (
        ({"oneway": [None, True]}, "'oneway' contains 'None', which is not yes"),
        ({"km": [30.0, 4.0]}, "column 'km' may be weights; pass weight='km'"),
        ({"length": [30.0, 4.0], "time": [4, 5]}, "column 'length', column 'time' may be weights"),
    ):
        pd.DataFrame({**ends, **more}).to_parquet(path)
        with pytest.raises(FormatError, match=words):
            hw.read(path)
        assert hw.read(path, directed=True, weights=False).m == 2
    pd.DataFrame({**ends, "oneway": [False, False], "km": [3, 4]}).to_parquet(path)
    assert hw.read(path, weight="km").weights.max() == 4.0  # type: ignore[union-attr]
