"""Commands run in this process, in a folder with small graphs. A test's commands are strings, split at blanks."""

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import hopwave as hw
from hopwave.cli import main

PATTERN = "%%MatrixMarket matrix coordinate pattern symmetric\n"
SAMPLES: dict[str, Any] = {  # name → content, or the graph to write
    "named.csv": "from,to\nann,bob\nbob,cyd\ncyd,dan\neve,fay\n",
    "path3.mtx": f"{PATTERN}3 3 2\n2 1\n3 2\n",
    "tail.mtx": f"{PATTERN}4 4 1\n2 1\n",
    "none.mtx": f"{PATTERN}0 0 0\n",
    "square.mtx.gz": hw.generate.grid(4, 4),
    "deep.npz": hw.generate.path(100),
    "karate.npz": hw.Graph.from_networkx(nx.karate_club_graph()),
    "twice.csv": "source,target,weight\n0,1,2.5\n1,2,4\n2,0,1\n0,1,2\n",  # one edge has two weights
    "clean.csv": "source,target,weight\na,b,1\nb,c,2\n",
    "negative.csv": "source,target,weight\na,b,-1\n",
    "triangle.mtx": "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 2.5\n3 2 4\n3 1 1\n",
    "streets.csv": "source,target,weight\na,b,1\na,c,5\nb,c,2\nc,d,4\ne,f,1\n",
    "ring.npz": hw.Graph.from_edges(["a", "b", "c", "a"], ["b", "c", "d", "d"], weights=[10.0, 25.0, 10.0, 90.0]),
    "jobs.csv": "\ufeffplace;jobs;rent\nb;100;8\nc;40;\nd;7;6\n",
    "bad.csv": "place,jobs\nb,many\n",
    "jobs-twice.csv": "place,jobs,jobs\nb,1,2\n",
    "ragged.csv": "place,jobs\nb\n",
    "empty.txt": "\n",
    "b-twice.csv": "place,jobs\nb,1\nc,2\nb,3\n",
    "homes.txt": '\ufeff"b"\n\na\n',
    "lengths.tsv": "a\tb\t1.5\nb\tc\t2\na\tc\t4\n",  # two columns of vertices, and one that may be weights
    "titled.tsv": "origin\tdest\tkm\na\tb\t1.5\nb\tc\t2\na\tc\t4\n",
    "texts.csv": '"1","2"\n"2","0"\n"0","7"\n',  # labels that look like positions
    "no-header.csv": "a,\nb,1\n",
    "numbers.csv": "10,20\n20,0\n",
    "star.npz": hw.generate.star(3000),
}


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    for name, content in SAMPLES.items():
        (folder / name).write_text(content) if isinstance(content, str) else hw.write(folder / name, content)
    return folder


@pytest.fixture(autouse=True)
def folder(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, a new one with the samples."""
    shutil.copytree(samples, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Runs a command that must succeed with nothing on stderr; returns what it wrote to stdout."""

    def call(command: str) -> str:
        code = main(command.split())
        out, err = capsys.readouterr()
        assert (code, err) == (0, ""), command
        return out

    return call


@pytest.fixture
def answer(run: Callable[[str], str]) -> Callable[[str], dict[str, Any]]:
    """Runs a command with --json; returns the JSON object that it wrote, which must be all that it wrote."""

    def call(command: str) -> dict[str, Any]:
        text = run(f"{command} --json")
        assert text.count("\n") == 1
        found: dict[str, Any] = json.loads(text)
        return found

    return call


@pytest.fixture
def fail(capsys: pytest.CaptureFixture[str]) -> Callable[[str], tuple[int, str]]:
    """Runs a command that must fail, with nothing on stdout and one line on stderr; returns exit code and line."""

    def call(command: str) -> tuple[int, str]:
        code = main(command.split())
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("hopwave: error: ") and err.count("\n") == 1 and "Traceback" not in err
        return code, err.strip()

    return call


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes libraries look as if they were not installed."""
    find = importlib.util.find_spec

    def call(*names: str) -> None:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name, *r: None if name in names else find(name, *r))

    return call
