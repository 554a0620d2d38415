"""The table in docs/formats.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hopwave.io as hio

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| `")]


def test_every_format_has_its_row_in_order():
    assert [row[0].strip("`") for row in ROWS] == [known.name for known in hio.formats()]


@pytest.mark.parametrize("known", hio.formats(), ids=lambda known: known.name)
def test_the_row_of_a_format_is_true(known):
    row = next(row for row in ROWS if row[0] == f"`{known.name}`")
    ticked = [tuple(re.findall(r"`([^`]+)`", cell)) for cell in row]
    assert ticked[1] == known.extensions
    assert row[2] == ("yes" if known.holds_labels else "no")
    assert row[3] == ("yes" if known.holds_weights else "no")
    assert row[4] == known.directedness
    assert ticked[5] == known.read_options()
    assert ticked[6] == known.write_options()


def test_no_extension_belongs_to_two_formats():
    extensions = [extension for known in hio.formats() for extension in known.extensions]
    assert len(extensions) == len(set(extensions))
    # by_name() compares suffixes: no extension may end with another.
    assert not [(a, b) for a in extensions for b in extensions if a != b and a.endswith(b)]
