"""Files that were once misread, and labels that did not survive a round trip. tests/fuzz tries random ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import hopwave as hw
from hopwave import FormatError, Graph
from hopwave.io import formats, lines
from hopwave.system import threads

# ---------------------------------------------------------------- files that were misread


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize(
    ("name", "line", "good"),
    [("a.csv", b"3,1 000 000\n", b"0,1\n"), ("a.csv", b"3,1\r4,5\n", b"0,1\n"), ("a.txt", b"0 1\r1 2\r2 0\n", b"0 1\n"),
     ("a.txt", b"# nothing\r1 2\n", b"0 1\n"), ("a.el", b"0 1\r1 2\n", b"0 1\n"), ("a.tsv", b"0\t1 2\n", b"0\t1\n")],
)  # fmt: skip
def test_a_line_is_refused_in_small_and_in_large_files(
    name: str, line: bytes, good: bytes, size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if size == "large":
        monkeypatch.setattr(lines, "MIN_BYTES_FOR_SCANNER", 8)
    (tmp_path / name).write_bytes(5 * good + line + good)
    with pytest.raises(FormatError):
        hw.read(tmp_path / name)


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
    b" edge [ source 1 target 2 ]\n edge [ source 2 target 0 ]\n]\n",
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


def test_any_white_space_in_a_table_is_read_or_refused(tmp_path: Path) -> None:
    for space in (b"\f", b"\v", b"\x1c", b"\xc2\x85", b"\xe2\x80\xa8", b" \f ", b'""', b"\t"):
        for text in (
            b"0 1\n%s\n1 2\n",
            b"%s\n0 1\n1 2\n",
            b"0 1\n1 2\n%s",
            b"0 1\n%s1 2\n",
            b"0 %s 1\n1 2\n",
            b"a,b\n%s\n",
        ):
            (tmp_path / "a.csv").write_bytes(text % space)
            try:
                assert hw.read(tmp_path / "a.csv", header=False, weights=False).n in (2, 3)
            except FormatError:
                continue


def test_files_are_read_where_no_thread_can_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(lines, "MIN_BYTES_FOR_SCANNER", 8)
    monkeypatch.setattr(threads, "crew", threads.Crew())
    monkeypatch.setattr(threads, "start_new_thread", failing)
    (tmp_path / "a.txt").write_bytes(b"0 1\n1 2\n2 3\n")
    assert hw.read(tmp_path / "a.txt").m == 6


LABELS = (
    *(
        " a",
        "a ",
        "a b",
        "a\nb",
        "a\n",
        "\ra",
        "a\r",
        "a\r\nb",
        "\ta",
        "a\tb",
        "\fa",
        "a\v",
        "\u2028a",
        "\x85a",
        "a\x1c",
    ),
    *(
        "#a",
        "%a",
        "c a",
        "",
        " ",
        "\0",
        "a\0",
        "\ud800",
        "\ufeffa",
        '"',
        'a"b',
        "'a",
        "a,b",
        "a;b",
        "1",
        "01",
        "-1",
        "1.5",
    ),
    *(
        "é",
        "日本",
        "🙂",
        "&amp;",
        "&#65;",
        "<a>",
        "]]>",
        "\x1b[31m",
        "\x7f",
        "\x01",
        "*Edges",
        "NA",
        "nan",
        "None",
        "true",
    ),
)


@pytest.mark.parametrize("extension", [known.extensions[0] for known in formats() if known.holds_labels])
def test_labels_are_read_back_or_refused(extension: str, tmp_path: Path) -> None:
    """Labels alone, at both ends of an edge, and beside the same label without its white space."""
    for label in LABELS:
        for names in ([label, "z", "y"], ["z", label, label.strip() or "y"]):
            if len(set(names)) < 3:
                continue
            path = tmp_path / f"a{extension}"
            G = Graph.from_edges([0, 1], [1, 2], labels=names)
            try:
                hw.write(path, G)
            except FormatError as error:
                assert re.search(r"label", str(error)), error
                continue
            back = hw.read(path, header=True) if extension == ".csv" else hw.read(path)
            assert back.labels is not None and back.labels.tolist() == names, label
            assert np.array_equal(back.indices, G.indices), label


def test_blanks_around_a_cell_are_no_part_of_a_name(tmp_path: Path) -> None:
    """In a line without quotes all of them; csv cannot tell which cell of a line had the quotes."""
    path = tmp_path / "roads.csv"
    path.write_text('source, target, km\nOslo, Bergen, 3\nBergen , Voss, 4\n" Oslo","Voss ", 5\n')
    found = hw.read(path, weight="km")
    assert found.labels is not None and found.labels.tolist() == ["Oslo", "Bergen", "Voss", " Oslo", "Voss "]
    assert sorted(edge[2] for edge in found.edges()) == [3.0, 4.0, 5.0]


EDGES = [("0", "1", 3.0), ("1", "2", 4.5)]


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize(
    "text",
    ["# my roads\nsource,target,weight\n0,1,3\n1,2,4.5\n", "\n# my roads, two of them\n\n#\nu,v,w\n0,1,3\n1,2,4.5\n",
     "#source,target,weight\n0,1,3\n1,2,4.5\n", "# roads\n#  source; target; weight\n0;1;3\n1;2;4.5\n",
     "# one, two, three\nfrom,to,weight\n0,1,3\n1,2,4.5\n", "#0,1,7\nfrom|to|weight\n0|1|3\n1|2|4.5\n",
     "#source\ttarget\tweight\n0\t1\t3\n1\t2\t4.5\n", "\n\ufeff# mark\nu,v,w\n0,1,3\n1,2,4.5\n",
     "\n\ufeffu,v,w\n0,1,3\n1,2,4.5\n"],
)  # fmt: skip
def test_comments_and_titles_after_a_hash(
    text: str, size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comments before the first row are skipped, and the last is a header if it has as many cells as that row."""
    if size == "large":
        monkeypatch.setattr(lines, "MIN_BYTES_FOR_SCANNER", 8)
    path = tmp_path / "roads.csv"
    path.write_text(text, encoding="utf-8")
    for names in (None, True):
        found = hw.read(path, names=names)
        assert [(str(a), str(b), weight) for a, b, weight in found.edges()] == EDGES


def test_a_hash_in_names_and_titles(tmp_path: Path) -> None:
    path = tmp_path / "tags.csv"

    def labels(text: str, **options: Any) -> list[Any] | None:
        path.write_text(text, encoding="utf-8")
        found = hw.read(path, **options).labels
        return None if found is None else found.tolist()

    assert labels("source,target\n#a,b\n#c,d\n") == ["#a", "b", "#c", "d"]
    assert labels('"#a","b"\n#c,d\n', header=False) == ["#a", "b", "#c", "d"]
    assert labels("# x,y\na,b\n") == labels("# x,y\na,b\n", header=False) == ["a", "b"]
    assert labels("# all, 2020\nx,y\na,b\n", source="x", target="y") == ["a", "b"]
    assert labels("# z,y,x\na,b,c\n", source="x", target="y") == ["c", "b"]
    with pytest.raises(FormatError, match="found '#a,b', a comment or an edge"):
        labels("#a,b\nc,d\n", header=False)


def test_a_byte_order_mark_after_a_blank_line_is_no_part_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\n\ufeffa,b\nb,c\n", encoding="utf-8")
    found = hw.read(path, header=False).labels
    assert found is not None and found.tolist() == ["a", "b", "c"]


def test_a_semicolon_beside_decimal_commas_is_the_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("0;1;3,5\n1;2;4,5\n")
    with pytest.warns(hw.IgnoredColumnWarning, match="column 3 may be weights"):
        assert hw.read(path).edges().target.tolist() == [1, 2]
    with pytest.raises(FormatError, match=r"'3,5' as the weight; expected a decimal point: 3\.5$"):
        hw.read(path, weight=2)
    path.write_text("0;1;1,234\n1;2;4,5\n")
    with pytest.raises(FormatError, match=r"expected a decimal point: 1\.234, or 1234 if these are thousands$"):
        hw.read(path, weight=2)
    path.write_text("a,b,x;y;z;w\n")
    found = hw.read(path, header=False).labels
    assert found is not None and found.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    ["protein1 protein2 combined_score\n9606.P1 9606.P2 900\n9606.P2 9606.P3 150\n", "source\ttarget\n1\t2\n",
     "\ufeffsource target\na b\n", "# by hand\n\nx y weight\na b 5\n"],
)  # fmt: skip
def test_titles_of_an_edge_list_are_no_edge(text: str, tmp_path: Path) -> None:
    """They would add two vertices, make names of numbers, and hide that the third column may be weights."""
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    line = next(i for i, row in enumerate(text.split("\n"), 1) if row and row[0] != "#")
    with pytest.raises(FormatError, match=rf"a\.txt:{line}: found '.*', which looks like titles; .*format='table'"):
        hw.read(path)
    assert hw.read(path, format="table", weights=False).n in (2, 3)


def test_words_that_may_be_titles_are_an_edge_where_the_file_says_so(tmp_path: Path) -> None:
    G = Graph.from_edges(["u", "v"], ["v", "weight"])
    hw.write(tmp_path / "a.txt", G)
    assert hw.read(tmp_path / "a.txt") == G
    (tmp_path / "b.txt").write_text("u v\nv weight\n")
    with pytest.raises(FormatError, match="looks like titles"):
        hw.read(tmp_path / "b.txt")
    assert hw.read(tmp_path / "b.txt", format="table", header=False) == G


def test_a_third_word_of_an_edge_list_is_not_dropped_silently(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for text, word in (("A binds B\nB binds C\n", "B"), ("1 2 {'weight': 3.0}\n2 3 {'weight': 1.0}\n", "{'weight':")):
        path.write_text(text)
        with pytest.warns(hw.IgnoredColumnWarning, match=rf"and not the third \({re.escape(word)}, …\)"):
            hw.read(path)
    hw.read(path, weights=False)  # what is left out is no end
    path.write_text("1 2 {}\n2 3 {}\n")  # which NetworkX writes where there are no attributes
    assert hw.read(path).m == 4


@pytest.mark.parametrize("text", ["Source,Target,Type\n1,2,Directed\n", "u,v,oneway\n1,2,False\n2,3,True\n"])
def test_a_column_that_says_directed_is_not_dropped_silently(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.warns(
        hw.IgnoredColumnWarning, match="was not read, so that the graph is undirected; give directed=True"
    ):
        assert not hw.read(path, weights=False).directed
    assert hw.read(path, directed=True, weights=False).directed
    assert not hw.read(path, directed=False, weights=False).directed
    path.write_text("Source,Target,Type\n1,2,Undirected\n")
    assert not hw.read(path).directed


MATRIX = "0,1,5\n1,0,2\n5,2,0\n"
LABELLED = ",ann,bob,cyd\nann,0,1,5\nbob,1,0,2\ncyd,5,2,0\n"


@pytest.mark.parametrize(
    "text",
    [MATRIX, MATRIX.rstrip(), f"a,b,c\n{MATRIX}", f"0,1,2\n{MATRIX}", LABELLED, LABELLED.replace(",", ";"),
     "0,1,0,0\n0,0,1,0\n0,0,0,1\n1,0,0,0\n",
     "\n".join(",".join("01"[i * j % 3 == 1] for i in range(70)) for j in range(70)),
     "1,.5,.5,0\n.5,1,0,0\n.5,0,1,0\n0,0,0,1\n"],
)  # fmt: skip
def test_an_adjacency_matrix_is_not_read_as_edges(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"look like an adjacency matrix; expected a list of edges: .*from_scipy"):
        hw.read(path)
    hw.read(path, source=0, target=1, weights=False, names=True)
    bare = tmp_path / "a.txt"  # as numpy.savetxt writes it
    bare.write_text(text.replace(",", " "))
    if text[0] in "01":
        with pytest.raises(FormatError, match="look like an adjacency matrix"):
            hw.read(bare)


def test_what_the_message_about_matrices_says_works(tmp_path: Path) -> None:
    right = Graph.from_edges(["ann", "ann", "bob"], ["bob", "cyd", "cyd"], weights=[1, 5, 2])
    (tmp_path / "a.csv").write_text(MATRIX)
    matrix = np.loadtxt(tmp_path / "a.csv", delimiter=",")
    assert Graph.from_scipy(csr_array(matrix)) == right.relabel(None)
    (tmp_path / "b.csv").write_text(LABELLED)
    table = pd.read_csv(tmp_path / "b.csv", index_col=0)
    assert Graph.from_scipy(csr_array(table)).relabel(list(table)) == right


@pytest.mark.parametrize(
    "text", ["1,2,3\n2,3,1\n3,1,2\n", "0,1,2\n1,2,0\n2,0,1\n", "0,1,7,1\n1,2,8,1\n2,3,9,1\n3,0,6,1\n"]
)
def test_few_edges_with_weights_are_no_matrix(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "a.txt").write_text(text.replace(",", " "))
    for name in ("a.csv", "a.txt"):
        with pytest.warns(hw.IgnoredColumnWarning, match="column 3 may be weights"):
            assert hw.read(tmp_path / name).number_of_edges in (3, 4)
        assert hw.read(tmp_path / name, weight=2).is_weighted


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 1\n1 2 3\n", "column 3 may be weights"),
        ("0 1 2 3\n1 2\n", "lines have 2 to 4 words"),
        ("a b\nb c d\n", "the third"),
    ],
)
def test_words_behind_a_later_edge_are_not_dropped_silently(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text)
    with pytest.warns(hw.IgnoredColumnWarning, match=told):
        hw.read(tmp_path / "a.txt")


def test_a_column_of_parquet_that_says_directed_is_not_dropped_silently(tmp_path: Path) -> None:
    path, told = tmp_path / "a.parquet", "was not read, so that the graph is undirected; give directed=True"
    for column in (["Undirected", "Directed"], [None, "directed"]):
        pd.DataFrame({"Source": [1, 2], "Target": [2, 3], "Type": column}).to_parquet(path)
        with pytest.warns(hw.IgnoredColumnWarning, match=told):
            assert not hw.read(path).directed
        assert hw.read(path, directed=True).directed
    pd.DataFrame({"u": [1, 2], "v": [2, 3], "oneway": [False, True]}).to_parquet(path)
    with pytest.warns(hw.IgnoredColumnWarning, match=told):
        hw.read(path)
    pd.DataFrame({"u": [1, 2], "v": [2, 3], "oneway": [False, False]}).to_parquet(path)
    assert not hw.read(path).directed


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [("a.txt", "a, b\nb, c\n", "format='table' reads"), ("b.txt", "1;2\n2;3\n", "format='table' reads"),
     ("c.txt", '"a" "b"\n"b" "c"\n', "format='table' reads"), ("d.txt", "1.0e+00 2.0e+00\n", "names=True to keep them"),
     ("e.txt", "a b\nb null\n", "'null' may be a missing end"),
     ("f.csv", "source,target\na,b\nNaN,c\n", "'NaN' may be a"),
     ("g.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n", "a pointer of Git LFS"),
     ("h.txt", "<!DOCTYPE html>\n<p>not found\n", "a page of HTML"),
     ("i.csv", "Id,Label\n1,ann\n", "a list of vertices has"),
     ("j.csv", "source,target\n1.2E+11,2\n", "has a point or an exponent")],
)  # fmt: skip
def test_what_is_no_list_of_edges_is_refused_and_not_read_as_one(
    name: str, text: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FormatError, match=re.escape(told)):
        hw.read(path)


def test_what_those_refusals_name_works(tmp_path: Path) -> None:
    def labels(name: str, text: str, **options: Any) -> list[Any] | None:
        (tmp_path / name).write_text(text)
        found = hw.read(tmp_path / name, **options).labels
        return None if found is None else found.tolist()

    assert labels("a.txt", "a, b\nb, c\n", format="table", header=False) == ["a", "b", "c"]
    assert labels("a.txt", '"New York" b\nb c\n', format="table", header=False) == ["New York", "b", "c"]
    assert labels("a.txt", "a b\nb null\n", names=True) == ["a", "b", "null"]
    assert labels("a.csv", "source,target\na,b\nNA,b\n", names=True) == ["a", "b", "NA"]
    assert labels("a.csv", 'source,target\na,b\n"NA",b\nNAN,b\n') == ["a", "b", "NA", "NAN"]
    assert labels("a.csv", "Id,Label\n1,ann\n", source="Id", target="Label") == ["1", "ann"]


def test_excel_names_its_delimiter_and_writes_blanks_that_do_not_break(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "\ufeffsep=;\r\nsource;target;weight\r\nann;bob;3\r\nann\xa0;cyd;4\r\n", encoding="utf-8", newline=""
    )
    assert hw.read(path) == Graph.from_edges(["ann", "ann"], ["bob", "cyd"], weights=[3, 4])
    path.write_text("sep=,\n1,2\n2,3\n")
    assert hw.read(path).number_of_edges == 2
