"""A write that fails leaves the old file unchanged, and no other file."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

import hopwave.io as hio
from hopwave.graph import Graph
from hopwave.system.files import replacing

GRAPH = Graph.from_edges([0, 1], [1, 2])


def test_a_rename_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "g.mtx"
    path.write_bytes(b"what was there")

    def fail(self, target):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="Input/output"):
        hio.write(path, GRAPH)
    assert path.read_bytes() == b"what was there" and list(tmp_path.iterdir()) == [path]


def test_permissions_are_the_old_ones_or_the_usual(tmp_path):
    hio.write(tmp_path / "g.mtx", GRAPH)
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "g.mtx").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "g.mtx").chmod(0o640)
    hio.write(tmp_path / "g.mtx", GRAPH)
    assert hio.read(tmp_path / "g.mtx") == GRAPH and stat.S_IMODE((tmp_path / "g.mtx").stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.mtx").write_bytes(b"old")
    (tmp_path / "link.mtx").symlink_to("real.mtx")
    hio.write(tmp_path / "link.mtx", GRAPH)
    assert (tmp_path / "link.mtx").is_symlink()
    assert hio.read(tmp_path / "real.mtx") == GRAPH


def test_devices_are_written_to_and_not_replaced():
    before = Path(os.devnull).stat()
    hio.write(os.devnull, GRAPH, format="matrix-market")
    after = Path(os.devnull).stat()
    assert stat.S_ISCHR(after.st_mode) and before.st_ino == after.st_ino


def test_a_file_appears_only_when_it_is_complete(tmp_path):
    with replacing(tmp_path / "out.txt") as stream:
        stream.write(b"x")
        assert not (tmp_path / "out.txt").exists()
    assert (tmp_path / "out.txt").read_bytes() == b"x"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_forbidden_file(tmp_path):
    (tmp_path / "g.mtx").write_text("")
    (tmp_path / "g.mtx").chmod(0)
    with pytest.raises(PermissionError, match="ask its owner"):
        hio.read(tmp_path / "g.mtx")
