"""Paths, names and arguments that `read` and `write` refuse."""

from __future__ import annotations

import os
import sys

import networkx as nx
import pytest

import hopwave.io as hio
from hopwave.distributed.file_shares import read_share
from hopwave.errors import EngineError, FormatError, GraphError
from hopwave.graph import Graph

MTX = b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file; check the spelling"):
        hio.read(tmp_path / "absent.mtx")
    with pytest.raises(FileNotFoundError, match="no such folder to write to"):
        hio.write(tmp_path / "absent" / "g.mtx", Graph.from_edges([0], [1]))


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "folder.mtx").mkdir()
    with pytest.raises(FormatError, match="is a folder; expected a graph file"):
        hio.read(tmp_path / "folder.mtx")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        hio.write(tmp_path / "folder.mtx", Graph.from_edges([0], [1]))


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.mtx")
    with pytest.raises(FormatError, match="pipe or a device; expected a regular file"):
        hio.read(tmp_path / "pipe.mtx")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_forbidden_file(tmp_path):
    (tmp_path / "g.mtx").write_text("")
    (tmp_path / "g.mtx").chmod(0)
    with pytest.raises(PermissionError, match="ask its owner"):
        hio.read(tmp_path / "g.mtx")


@pytest.mark.parametrize("name", ["g", "g.xyz", "g.gz", "mtx"])
def test_an_unknown_name_lists_the_formats(name, tmp_path):
    (tmp_path / name).write_text("0 1\n")
    for action in (lambda: hio.read(tmp_path / name), lambda: hio.write(tmp_path / name, Graph.from_edges([0], [1]))):
        with pytest.raises(FormatError) as caught:
            action()
        assert all(known.name in str(caught.value) for known in hio.formats())
    assert (tmp_path / name).read_text() == "0 1\n"
    assert hio.read(tmp_path / name, format="snap").m == 2


def test_unknown_formats_and_options_are_refused(tmp_path):
    (tmp_path / "g.mtx").write_bytes(MTX)
    with pytest.raises(FormatError, match="format='yaml' is not known; use one of matrix-market"):
        hio.read(tmp_path / "g.mtx", format="yaml")
    with pytest.raises(TypeError, match="packed= is not an option of the format 'matrix-market'"):
        hio.read(tmp_path / "g.mtx", packed=True)
    with pytest.raises(TypeError, match="isolated= is not an option"):
        hio.write(tmp_path / "h.mtx", Graph.from_edges([0], [1]), isolated=False)
    with pytest.raises(TypeError, match="path comes first"):
        hio.write(Graph.from_edges([0], [1]), tmp_path / "h.mtx")
    with pytest.raises(TypeError, match=r"not networkx.*; path comes first, then a graph: Graph\.from_networkx\(g\)"):
        hio.write(tmp_path / "h.mtx", nx.path_graph(3))


@pytest.mark.parametrize("n", [1, -1, 2.0, True, 2**31])
def test_an_impossible_n(n, tmp_path):
    (tmp_path / "g.mtx").write_bytes(MTX)
    with pytest.raises(GraphError, match=f"n={n}"):
        hio.read(tmp_path / "g.mtx", n=n)


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(EngineError, match="pip install pyarrow"):
        hio.write(tmp_path / "g.parquet", Graph.from_edges([0], [1]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", [b"# nothing\n", b"\n\n", b"# Directed graph\n"])
def test_an_edge_list_without_edges_is_refused_by_one_process_and_by_ranks(text, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(text)
    for use in (lambda: hio.read(path, "snap"), lambda: read_share(path, "snap", None, 1, 2)):
        with pytest.raises(FormatError, match="contains no edge; expected lines of two vertices, or a comment"):
            use()
