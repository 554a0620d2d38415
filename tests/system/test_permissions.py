"""What an ordinary user may not read or write is refused with a sentence. Root may do everything: it becomes nobody."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import hopwave as hw
from hopwave.cli import files
from hopwave.datasets import fetching

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions are those of POSIX")
NOBODY = 65534
GRAPH = hw.generate.path(5)


def as_a_user(ask: Callable[[], Any]) -> str:
    """What the call said, in a child process without root's permissions; "accepted" if it raised nothing."""
    answer, place = os.pipe()
    if not (child := os.fork()):
        said = "accepted"
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            ask()
        except BaseException as error:  # of any kind: it is compared with a sentence
            said = str(error) if isinstance(error, hw.HopwaveError | OSError) else repr(error)
        finally:
            os.write(place, said.encode())
            os._exit(0)
    os.close(place)
    os.waitpid(child, 0)
    with os.fdopen(answer) as words:
        return words.read()


@pytest.fixture(scope="module", autouse=True)
def imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the calls import: perhaps from folders that nobody may read."""
    place = tmp_path_factory.mktemp("imported")
    for name in ("graph.txt", "graph.csv"):
        hw.write(place / name, GRAPH)
        hw.read(place / name, directed=False)
    hw.betweenness_centrality(GRAPH, checkpoint=place / "run.npz")
    files.Written(place / "scores.csv").check()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with one that nobody may enter, one that nobody may write to, and one of the user's own."""
    root = tmp_path
    while root != root.parent and not root.stat().st_mode & 1:  # pytest's folders are root's alone
        with suppress(PermissionError):
            root.chmod(0o755)
        root = root.parent
    for name, mode in (("shut", 0o000), ("fixed", 0o555), ("own", 0o777)):
        (tmp_path / name).mkdir()
        for file in ("graph.txt", "hidden.txt"):
            (tmp_path / name / file).write_text("0 1\n")
            (tmp_path / name / file).chmod(0o444 if file == "graph.txt" else 0o000)
        (tmp_path / name).chmod(mode)
    yield tmp_path
    for name in ("shut", "fixed"):
        (tmp_path / name).chmod(0o755)


@pytest.mark.parametrize("file", ["shut/graph.txt", "shut/none.txt", "own/hidden.txt"])
def test_what_cannot_be_read(file: str, folder: Path) -> None:
    assert "not readable; ask its owner for permission" in as_a_user(lambda: hw.read(folder / file))
    assert as_a_user(lambda: hw.read(folder / "own/graph.txt", directed=False)) == "accepted"


@pytest.mark.parametrize("file", ["shut/new.txt", "shut/graph.csv", "fixed/new.csv", "own/graph.txt", "own/hidden.txt"])
def test_what_cannot_be_written(file: str, folder: Path) -> None:
    """A file that is not to be written is not replaced, in a folder where that could be done."""
    said = as_a_user(lambda: hw.write(folder / file, GRAPH))
    assert "is not writable; pass another" in said and ", or change its permissions" in said
    assert str(folder / file.partition("/")[0]) in said
    assert as_a_user(lambda: hw.write(folder / "own/new.txt", GRAPH)) == "accepted"


@pytest.mark.parametrize("place", ["shut", "fixed", "shut/deeper"])
def test_checkpoints_and_downloads(place: str, folder: Path) -> None:
    """A command, too, knows before its work that it cannot write."""
    new = folder / place / "new.npz"
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: files.Written(new).check(), "the folder is not writable"),
        (
            lambda: hw.betweenness_centrality(GRAPH, checkpoint=new),
            "the folder is not writable; pass another folder, or change its permissions (for the checkpoint)",
        ),
        (lambda: fetching.fetch("SNAP/email-Enron", cache=new), "(Permission denied); check the address, or set"),
        (lambda: fetching.fetch("SNAP/email-Enron", cache=new), "another folder with cache= or HOPWAVE_CACHE"),
    ]
    for call, words in calls:
        assert words in as_a_user(call)
