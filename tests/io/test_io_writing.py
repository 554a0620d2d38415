"""A write that fails leaves the old file unchanged, and no other file; docs/formats.md says what formats store."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

import pytest

import hopwave.io as hio
from hopwave.graph import Graph
from hopwave.system.files import replacing

GRAPH = Graph.from_edges([0, 1], [1, 2])
PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| `")]


def test_a_rename_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "g.mtx"
    path.write_bytes(b"what was there")

    def fail(self, target):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="Input/output"):
        hio.write(path, GRAPH)
    assert path.read_bytes() == b"what was there" and list(tmp_path.iterdir()) == [path]


def test_permissions_links_and_devices_stay_what_they_are(tmp_path):
    graph, before = tmp_path / "g.mtx", Path(os.devnull).stat()
    hio.write(graph, GRAPH)
    (tmp_path / "plain").write_bytes(b"")
    assert graph.stat().st_mode == (tmp_path / "plain").stat().st_mode
    graph.chmod(0o640)
    (tmp_path / "link.mtx").symlink_to("g.mtx")
    hio.write(tmp_path / "link.mtx", GRAPH)
    assert (tmp_path / "link.mtx").is_symlink()
    assert hio.read(graph) == GRAPH and stat.S_IMODE(graph.stat().st_mode) == 0o640
    hio.write(os.devnull, GRAPH, format="matrix-market")
    after = Path(os.devnull).stat()
    assert stat.S_ISCHR(after.st_mode) and before.st_ino == after.st_ino


def test_a_file_appears_only_when_it_is_complete(tmp_path):
    with replacing(tmp_path / "out.txt") as stream:
        stream.write(b"x")
        assert not (tmp_path / "out.txt").exists()
    assert (tmp_path / "out.txt").read_bytes() == b"x"


def test_the_table_is_that_of_the_formats():
    assert len(ROWS) == len(hio.formats())
    for row, known in zip(ROWS, hio.formats(), strict=True):
        ticked = [tuple(re.findall(r"`([^`]+)`", cell)) for cell in row]
        held = ["yes" if holds else "no" for holds in (known.holds_labels, known.holds_weights)]
        assert ticked[:2] == [(known.name,), known.extensions]
        assert row[2:5] == [*held, known.directedness]
        assert ticked[5:7] == [known.read_options(), known.write_options()]


def test_no_extension_belongs_to_two_formats():
    extensions = [extension for known in hio.formats() for extension in known.extensions]
    assert len(extensions) == len(set(extensions))
    # by_name() compares suffixes: no extension may end with another.
    assert not [(a, b) for a in extensions for b in extensions if a != b and a.endswith(b)]
