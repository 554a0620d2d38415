"""Commands run in this process, in an empty folder, and small graph files for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from calls import Answer, Fail, Run

import hopwave as hw
from hopwave.cli import main
from hopwave.io import write


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command that must succeed with nothing on stderr; returns what it wrote to stdout."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> str:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        return out

    return call


@pytest.fixture
def answer(run: Run) -> Answer:
    """Runs a command with --json; returns the JSON object that it wrote, which must be all that it wrote."""

    def call(*arguments: object) -> dict[str, Any]:
        text = run(*arguments, "--json")
        assert text.count("\n") == 1
        found: dict[str, Any] = json.loads(text)
        return found

    return call


@pytest.fixture
def fail(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Runs a command that must fail, with nothing on stdout and one line on stderr; returns exit code and line."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, str]:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("hopwave: error: ") and err.count("\n") == 1 and "Traceback" not in err
        return code, err.strip()

    return call


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """ann - bob - cyd - dan, and separately eve - fay."""
    path = tmp_path / "named.csv"
    path.write_text("from,to\nann,bob\nbob,cyd\ncyd,dan\neve,fay\n")
    return path


@pytest.fixture
def square(tmp_path: Path) -> Path:
    """A grid of 4 × 4 vertices."""
    path = tmp_path / "square.mtx.gz"
    write(path, hw.generate.grid(4, 4))
    return path


@pytest.fixture
def karate(tmp_path: Path) -> Path:
    """Zachary's karate club, 34 vertices."""
    path = tmp_path / "karate.npz"
    write(path, hw.Graph.from_networkx(nx.karate_club_graph()))
    return path


@pytest.fixture
def path3(tmp_path: Path) -> Path:
    """A path of 3 vertices."""
    file = tmp_path / "path3.mtx"
    write(file, hw.generate.path(3))
    return file
