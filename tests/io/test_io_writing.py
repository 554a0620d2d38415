"""A write keeps permissions, links and devices; docs/formats.md says what formats store."""

import os
import re
import stat
from pathlib import Path

import pytest

import hopwave.io as hio
from hopwave.graph import Graph

GRAPH = Graph.from_edges([0, 1], [1, 2])
PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| `")]


def test_permissions_links_and_devices_stay_what_they_are(tmp_path, monkeypatch):
    graph, before = tmp_path / "g.mtx", Path(os.devnull).stat()
    hio.write(graph, GRAPH)
    (tmp_path / "plain").write_bytes(b"")
    assert graph.stat().st_mode == (tmp_path / "plain").stat().st_mode
    graph.chmod(0o640)
    (tmp_path / "link.mtx").symlink_to("g.mtx")
    hio.write(tmp_path / "link.mtx", GRAPH)
    assert (tmp_path / "link.mtx").is_symlink()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert hio.read("~/g.mtx") == GRAPH and stat.S_IMODE(graph.stat().st_mode) == 0o640
    hio.write(os.devnull, GRAPH, format="matrix-market")
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        hio.write("/dev/full", GRAPH, format="matrix-market")
    after = Path(os.devnull).stat()
    assert stat.S_ISCHR(after.st_mode) and before.st_ino == after.st_ino


def test_the_table_is_that_of_the_formats_and_no_extension_belongs_to_two():
    assert len(ROWS) == len(hio.formats())
    for row, known in zip(ROWS, hio.formats(), strict=True):
        ticked = [tuple(re.findall(r"`([^`]+)`", cell)) for cell in row]
        held = ["yes" if holds else "no" for holds in (known.holds_labels, known.holds_weights)]
        assert ticked[:2] == [(known.name,), known.extensions]
        assert row[2:5] == [*held, known.directedness]
        assert ticked[5:7] == [known.read_options(), known.write_options()]
    extensions = [extension for known in hio.formats() for extension in known.extensions]
    assert len(extensions) == len(set(extensions))
    # by_name() compares suffixes: no extension may end with another.
    assert not [(a, b) for a in extensions for b in extensions if a != b and a.endswith(b)]
