"""Pipes: a graph from standard input, a result or a graph to standard output."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import pytest
from calls import Answer, Fail, Run

import hopwave as hw
from hopwave.io import read


@pytest.fixture
def pipe_in(monkeypatch: pytest.MonkeyPatch):
    """Makes these bytes the standard input of the next command."""

    def give(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    return give


def test_a_graph_from_standard_input(answer: Answer, pipe_in, named: Path, square: Path, karate: Path) -> None:
    for file, n in ((named, 6), (square, 16), (karate, 34)):  # text, gzip with a signature, npz
        pipe_in(file.read_bytes())
        found = answer("info", "-")
        assert (found["file"], found["bytes"], found["n"]) == ("-", None, n)
    pipe_in(b"# Undirected graph\n0 1\n1 2\n")
    assert answer("bfs", "-", "--source", 0)["depth"] == 2
    pipe_in(b"0 1\n1 2\n")
    assert answer("bfs", "-", "--format", "snap", "--source", 0)["depth"] == 2


def test_a_graph_from_a_named_pipe(answer: Answer, named: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(named.read_bytes()))
    writer.start()
    assert answer("info", fifo)["n"] == 6
    writer.join()


def test_errors_name_standard_input(fail: Fail, pipe_in) -> None:
    pipe_in(b"a,b\nc\n")
    code, message = fail("info", "-", "-r", "header=false")
    assert code == 3 and message.startswith("hopwave: error: -:2: too few cells: 1; expected 2")
    pipe_in(b"")
    assert fail("info", "-")[1].startswith("hopwave: error: -:1: empty; expected")


def test_a_terminal_is_not_read(fail: Fail, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal())
    assert "- reads standard input, which is this terminal; pipe a file into it" in fail("info", "-")[1]


@pytest.mark.parametrize("command", ["bfs", "bc", "sssp", "closeness", "pagerank"])
def test_a_result_to_standard_output_is_the_file_and_nothing_else(
    run: Run, fail: Fail, command: str, named: Path
) -> None:
    assert run(command, named, "--out", "out.csv")
    assert run(command, named, "--out", "-") == Path("out.csv").read_text()
    assert not Path("-").exists()


def test_a_graph_to_standard_output(run: Run, fail: Fail, named: Path) -> None:
    Path("again.csv").write_text(run("convert", named, "-", "--to", "table"))
    assert read("again.csv") == read(named)
    Path("path.mtx").write_text(run("generate", "path", "--n", "3", "-", "--to", "matrix-market"))
    assert read("path.mtx") == hw.generate.path(3)
