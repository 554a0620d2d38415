"""The table in docs/formats.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import hopwave.io as hio

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| `")]


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
