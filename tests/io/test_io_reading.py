"""How the readers read: counts of real graphs, the rules for direction and labels, compiled scanners."""

from __future__ import annotations

import csv
import gzip
import os
import re
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
from hopwave.errors import FormatError, GraphError, IgnoredColumnWarning
from hopwave.graph import Graph
from hopwave.graph.csr_compiled import sorted_rows
from hopwave.io import lines as edge_lines
from hopwave.io import scan, source, vertices

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


@pytest.mark.filterwarnings("ignore::hopwave.IgnoredColumnWarning")
def test_names_in_an_edge_list(file):
    path = file("g.edges", "ann bob 3\nbob 7\n")
    assert hio.read(path).labels.tolist() == ["ann", "bob", "7"]
    assert hio.read(path, labels=False).labels is None
    assert hio.read(file("h.edges", "1 2\n2 x\n"), names=True).labels.tolist() == ["1", "2", "x"]
    with pytest.raises(GraphError, match="leave n out"):
        hio.read(path, n=9)


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize(
    "text",
    [
        "source,target\na,b\nb,c\n",
        "a,b,1\nb,c,2.5\n",
        "ego,alter,since\na,b,1990\nb,c,2000\n",
        "ego,alter,weight\na,b,\nb,c,\n",
        "weight;to;from\n1;b;a\n2;c;b\n",
        "src\tdst\na\tb\nb\tc\n",
        '"Source"|"Target"\n"a"|"b"\n"b"|"c"\n',
        "\ufeffsource,target\r\na,b\r\n\r\nb,c\r\n",
        "u v\na b\nb c",
    ],
)
def test_tables_as_people_write_them(file, text):
    assert hio.read(file("g.csv", text), weights=False) == Graph.from_edges(["a", "b"], ["b", "c"])


@pytest.mark.filterwarnings("ignore::hopwave.IgnoredColumnWarning")
@pytest.mark.parametrize(
    "text",
    ["0,1\n1,2\n", "x,y\n0,1\n1,2\n", "0, 1\n 1,2\n", "0 1\n1 2\n", "0;1;9\n1;2;9\n", "0,1,\n1,2,\n", "2,\n0,1\n1,2\n"],
)
def test_tables_of_numbers(file, text):
    assert hio.read(file("g.csv", text)) == Graph.from_edges([0, 1], [1, 2])


@pytest.mark.filterwarnings("ignore::hopwave.IgnoredColumnWarning")
def test_columns_of_a_table_by_name_and_by_place(file):
    path = file("g.csv", "id,when,a_end,b_end\n5,1,0,1\n6,2,1,2\n")
    graph = Graph.from_edges([0, 1], [1, 2])
    assert hio.read(path, source="a_end", target="b_end") == hio.read(path, source=2, target=3) == graph
    with pytest.raises(ValueError, match="no column 'c_end'; expected one of 'id', 'when', 'a_end', 'b_end'"):
        hio.read(path, source="c_end")
    with pytest.raises(ValueError, match=r"no column 9; expected .* from 0 to 3"):
        hio.read(path, target=9)


FLIGHTS = Graph.from_edges(["OSL", "CPH"], ["CPH", "ARN"], weights=[517, 678])


@pytest.mark.parametrize(
    "text",
    [
        ",origin,dest,km\n0,OSL,CPH,517\n1,CPH,ARN,678\n",
        "Unnamed: 0,x,y,km\n0,OSL,CPH,517\n1,CPH,ARN,678\n",
        "flight,origin,dest,km\nSK1,OSL,CPH,517\nSK2,CPH,ARN,678\n",
        "weight,origin,dest\n517,OSL,CPH\n678,CPH,ARN\n",
        "weight,x,y\n517,OSL,CPH\n678,CPH,ARN\n",
        "km,origin,dest\n517,OSL,CPH\n678,CPH,ARN\n",
        "km,x,dest\n517,OSL,CPH\n678,CPH,ARN\n",
        "origin,km,dest\nOSL,517,CPH\nCPH,678,ARN\n",
        "x,km,y\nOSL,517,CPH\nCPH,678,ARN\n",
        "km,source,dest\n517,OSL,CPH\n678,CPH,ARN\n",
        "no,orig,dst,km\n1,OSL,CPH,517\n2,CPH,ARN,678\n",
    ],
)
def test_neither_an_index_nor_the_weight_is_an_end(file, text):
    assert hio.read(file("g.csv", text), weight="weight" if text.startswith("weight") else "km") == FLIGHTS


@pytest.mark.parametrize(
    ("text", "ends", "other"),
    [
        ("flight,x,y,km\nSK1,OSL,CPH,517\n", ("flight", "x"), "y"),
        ("id,x,y,km\n1,OSL,CPH,517\n", ("id", "x"), "y"),
        ("flight,x,dest,km\nSK1,OSL,CPH,517\n", ("flight", "x"), "dest"),
        ("id,no,x,y,km\n1,1,OSL,CPH,517\n", ("id", "no"), "x"),
    ],
)
def test_ends_that_are_guessed_among_more_columns_are_told(file, text, ends, other):
    path = file("g.csv", text)
    with pytest.warns(IgnoredColumnWarning, match=f"columns '{ends[0]}' and '{ends[1]}' were read .* not '{other}'"):
        guessed = hio.read(path, weight="km")
    assert hio.read(path, weight="km", source=ends[0], target=ends[1]) == guessed  # no warning: the caller says so


def test_one_column_is_not_both_the_weight_and_an_end(file):
    with pytest.raises(FormatError, match="too few columns beside the weights, 'km': 1; expected 2"):
        hio.read(file("g.csv", "x,km\nA,5\n"), weight="km")
    with pytest.raises(FormatError, match="column 'b' is given as an end and as the weight"):
        hio.read(file("g.csv", "a,b,c\n0,1,2\n"), weight="b", source="b")


def test_one_column_is_not_both_ends(file):
    for ends in ({"source": "x", "target": 0}, {"source": 1, "target": "km"}):
        with pytest.raises(FormatError, match=r"column '(x|km)' is given as both ends of an edge"):
            hio.read(file("g.csv", "x,km\n1,5\n"), **ends)


@pytest.mark.parametrize("rows", [1, 400], ids=["small", "large"])
@pytest.mark.parametrize(
    ("titles", "row", "wide"),
    [
        ("source,target,weight\n", "1,2,3\n", "4,5,6,5\n"),
        ("source;target;weight\r\n", "1;2;3\r\n", "4;5;6;x\r\n"),
        ("source\ttarget\n", "1\t2\n", "4\t5\t6\n"),
        ("", "1 2\n", "4 5  6\n"),
        ("source,target,weight,a\n", "1,2,3,a\n", "4,5,6,b,c\n"),
    ],
)
def test_cells_beyond_the_first_row_are_not_dropped(file, titles, row, wide, rows):
    """A weight of 3,5 was read as 3."""
    count = titles.count("\n") + rows + 1
    with pytest.raises(
        FormatError, match=rf"g.csv:{count}: {len(wide.split(row[1]) if row[1] != ' ' else wide.split())} cells"
    ):
        hio.read(file("g.csv", titles + rows * row + wide + row), combine="max")
    hio.read(file("g.csv", titles + rows * row + row.rstrip() + row[1] + "\n" + row), combine="max")  # an empty cell


def test_of_two_columns_with_one_title_none_is_taken_silently(file):
    path = file("g.csv", "origin,dest,km,km\nOSL,CPH,517,1\nCPH,ARN,678,1\n")
    with pytest.raises(FormatError, match="2 columns 'km'; expected one: give its position, 2 and 3, instead"):
        hio.read(path, weight="km")
    assert hio.read(path, weight=2) == FLIGHTS
    for titles in ("origin,dest,weight,weight", "origin,dest,origin,weight"):
        with pytest.raises(FormatError, match=r"2 columns '(weight|origin)'; expected one"):
            hio.read(file("h.csv", titles + "\nOSL,CPH,517,1\n"))


def test_all_columns_that_may_be_weights_are_named(file):
    path = file("g.csv", "id,origin,dest,fare,km\n1,OSL,CPH,99,517\n")
    with pytest.warns(IgnoredColumnWarning, match=r"'fare' may .* 'km' may .*weight='fare' or weight='km'") as told:
        hio.read(path)
    assert "'id'" not in str(told[0].message)


def test_weights_that_were_chosen_among_several_columns_are_told(file):
    path = file("g.csv", "u,v,Length,cost\n1,2,30,4\n")
    with pytest.warns(IgnoredColumnWarning, match=r"'cost' was read .* not 'Length'; give weight='cost' .*='Length'"):
        graph = hio.read(path)
    assert graph.weights.tolist() == [4.0, 4.0] and hio.read(path, weight="cost") == graph
    assert hio.read(path, weight="Length").weights.tolist() == [30.0, 30.0]
    assert not hio.read(path, weights=False).is_weighted
    assert hio.read(file("h.csv", "u,v,length,weight\n1,2,30,4\n")).weights.tolist() == [4.0, 4.0]  # it is called so
    path = file("i.csv", "u,v,length,Travel_Time,time\n1,2,30,4,12:30\n")
    with pytest.warns(IgnoredColumnWarning, match=r"'length' was read .* not 'Travel_Time'; give weight='length'"):
        assert hio.read(path).weights.tolist() == [30.0, 30.0]
    assert hio.read(path, weight="Travel_Time").weights.tolist() == [4.0, 4.0]
    assert hio.read(file("j.csv", "u,v,length,time\n1,2,30,12:30\n")).is_weighted  # a time of day is no weight


def test_times_beside_lengths_of_parquet_are_told(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"u": [1], "v": [2], "length": [30.0], "time": [4]}), tmp_path / "g.parquet")
    with pytest.warns(IgnoredColumnWarning, match=r"'length' was read .* not 'time'; give .* or weight='time'"):
        assert hio.read(tmp_path / "g.parquet").weights.tolist() == [30.0, 30.0]


def test_quoted_numbers_are_names_unless_asked(file):
    path = file("g.csv", '"1","2"\n"2","3"\n')
    assert hio.read(path).labels.tolist() == ["1", "2", "3"]
    assert hio.read(path, names=False).labels.tolist() == [1, 2, 3]
    assert hio.read(file("h.csv", "p,q\na,b\n"), header=True).labels.tolist() == ["a", "b"]
    assert hio.read(file("h.csv", "source,target\na,b\n"), header=False).n == 4
    assert hio.read(file("h.csv", "a:b\n"), delimiter=":", header=False).n == 2


@pytest.mark.parametrize("text", ["a,b\nb,c\n", "person,friend\nann,bob\n", "a,b\n", "a b\nb c\n", "ann,\nbob,cyd\n"])
def test_text_above_text_is_neither_header_nor_edge_until_told(file, text):
    path = file("g.csv", text)
    with pytest.raises(FormatError, match=r"may be a header or an edge.*header=True or header=False") as caught:
        hio.read(path)
    assert caught.value.line == 1
    edges = hio.read(path, header=False)
    assert str(edges.labels[0]) == re.split("[ ,]", text)[0]
    if text.count("\n") > 1:
        assert hio.read(path, header=True).n < edges.n


@pytest.mark.parametrize("text", ["0,1\n2\n", "source,target\n0,1\n2\n", "0 1\n2\n", "source,target\nann,bob\ncyd\n"])
def test_a_row_with_one_cell_is_not_a_vertex(file, text):
    with pytest.raises(FormatError, match="too few cells: 1; expected 2") as caught:
        hio.read(file("g.csv", text))
    assert caught.value.line == text.count("\n")
    assert hio.read(file("g.csv", text[:-1] + ",\n" if "," in text else "0,1\n2,\n")).n == 3


@pytest.mark.parametrize("rows", [1, pytest.param(250_000, marks=pytest.mark.slow)], ids=["small", "large"])
@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("origin,dest,km\nOSL,CPH,517\n{}CPH,,678\n", {"weight": "km"}),
        ("origin,dest,km\n1,2,517\n{}3,,678\n", {"weight": "km"}),
        ("origin,dest,km\n1,2,517\n{}3,,678\n", {"weights": False}),
    ],
)
def test_a_weight_without_a_second_end_is_no_vertex(file, text, options, rows):
    text = text.format((text.split("\n")[1] + "\n") * rows)
    with pytest.raises(FormatError, match="an empty cell before '678'; expected the second vertex") as caught:
        hio.read(file("g.csv", text), **options)
    assert caught.value.line == text.count("\n")
    assert hio.read(file("g.csv", text.replace("678", "")), **options).n == (2 if "OSL" in text else 3)


@pytest.mark.parametrize("rows", [1, pytest.param(300_000, marks=pytest.mark.slow)], ids=["small", "large"])
@pytest.mark.parametrize("row", ["1001,01003", "01001,1003", "01001,", "1001\t01003", "1001 01003", "0,00"])
def test_a_zero_before_an_id_is_not_lost(file, row, rows):
    mark = row.strip("0123456789") or ","
    text = f"u{mark}v\n" + f"0{mark}10\n" * rows + row + "\n"
    with pytest.raises(FormatError, match=r"vertex 0\d+ has a zero before it.*names=True") as caught:
        hio.read(file("g.csv", text))
    assert caught.value.line == rows + 2
    if rows == 1:
        assert set(filter(None, row.split(mark))) <= set(hio.read(file("g.csv", text), names=True).labels.tolist())
    assert hio.read(file("g.csv", text), names=False).n == len({0, 10, *map(int, filter(None, row.split(mark)))})


def test_a_name_with_the_delimiter_in_it_needs_quotes(file):
    with pytest.raises(FormatError, match="3 cells; expected 2: put a name"):
        hio.read(file("g.csv", "source,target\nann,bob\nSmith, John,bob\n"))


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


@pytest.mark.parametrize("extension", [".mtx", ".txt", ".csv", ".el", ".gr", ".metis", ".txt.gz"])
def test_large_files_read_like_small_ones(extension, tmp_path, monkeypatch):
    """A file of several blocks, in which lines cross block boundaries."""
    rng = np.random.default_rng(8)
    u, v = rng.integers(0, 60_000, (2, 120_000))
    graph = Graph.from_edges(u[u != v], v[u != v], n=60_000)
    hio.write(tmp_path / f"g{extension}", graph, directed=graph.directed)
    monkeypatch.setattr(source, "BLOCK", edge_lines.MIN_BYTES_FOR_SCANNER)
    fast = hio.read(tmp_path / f"g{extension}", directed=False)
    assert fast == graph
    monkeypatch.setattr(edge_lines, "MIN_BYTES_FOR_SCANNER", 1 << 40)
    assert hio.read(tmp_path / f"g{extension}", directed=False) == fast


line = st.text('0123456789 \t,-+.eEnaif#%x\r\0"', max_size=14) | st.sampled_from(
    ["1 2", "3,4", "a 1 2 -1.5e3", "2 2 7", "", "# x"]
)
grammars = st.builds(
    edge_lines.Grammar,
    expected=st.just("an edge"),
    first=st.integers(0, 1),
    last=st.sampled_from([5, 2**31, edge_lines.LARGEST_NUMBER]),
    comments=st.sampled_from([b"", b"%", b"#%"]),
    prefix=st.sampled_from([b"", b"a"]),
    delimiter=st.sampled_from([b"", b",", b"\t"]),
    values=st.none(),
    lone=st.booleans(),
) | st.builds(
    edge_lines.Grammar,
    expected=st.just("an edge"),
    first=st.integers(0, 1),
    comments=st.sampled_from([b"", b"%"]),
    prefix=st.sampled_from([b"", b"a"]),
    values=st.integers(0, 2),
    whole=st.booleans(),
)


@settings(max_examples=7 * EXAMPLES)
@given(lines=st.lists(line, max_size=6), grammar=grammars)
def test_the_scanner_never_differs_from_the_definition(lines, grammar):
    block = "".join(text + "\n" for text in lines).encode()
    slow, fast = (edge_lines._parse(block, grammar, np.int64, compiled) for compiled in (False, True))
    assert (slow.u.tolist(), slow.v.tolist(), slow.lines, slow.trouble) == (
        fast.u.tolist(),
        fast.v.tolist(),
        fast.lines,
        fast.trouble,
    )


@settings(max_examples=2 * EXAMPLES)
@given(lines=st.lists(st.text("0123456789 \t%-x\r", max_size=12), max_size=6))
def test_the_scanner_of_lists_takes_only_what_the_definition_takes(lines):
    from hopwave.io.metis import _parse

    block = "".join(text.replace("\r", "") + ("\r\n" if "\r" in text else "\n") for text in lines).encode()
    slow, fast = _parse(block, False), _parse(block, True)
    if slow.trouble is None:
        assert (fast.values.tolist(), fast.ends.tolist(), fast.trouble) == (
            slow.values.tolist(), slow.ends.tolist(), None,
        )  # fmt: skip
    else:
        assert fast.trouble is not None and fast.trouble[0] == slow.trouble[0]


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


@pytest.mark.parametrize(
    ("text", "grammar"),
    [
        (b"# c\n\n 1 2\n3\t4 x\r\n5 6\n", edge_lines.Grammar("")),
        (b"1 2 -1.5E+3\n% c\n3 4 .5 \n", edge_lines.Grammar("", comments=b"%", values=1)),
        (b"a 1 2 +7\r\na\t3 4 0\n", edge_lines.Grammar("", prefix=b"a", values=1, whole=True)),
        (b" 1 , 2\n3,4,\n5,6,x\n", edge_lines.Grammar("", comments=b"", delimiter=b",")),
        (b"1\t2\n 3 \t 4\tx\n", edge_lines.Grammar("", delimiter=b"\t")),
    ],
    ids=["snap", "real", "gr", "csv", "tsv"],
)
def test_the_scanner_reads_clean_lines_by_itself(text, grammar):
    """A scanner that left every line to Python would pass all other tests, but be slow."""
    u, v = np.empty(9, np.int64), np.empty(9, np.int64)
    position, row, lines = scan.pairs(
        np.frombuffer(text, np.uint8), 0, u, v, None, 0, scan.Shape(*grammar.as_numbers())
    )
    assert (position, lines) == (len(text), text.count(b"\n"))
    edges = [edge[:2] for edge in map(grammar.row, text.splitlines()) if edge is not None]
    assert list(zip(u[:row].tolist(), v[:row].tolist(), strict=True)) == edges


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
