"""A few thousand inputs for every fuzzer of the readers; `make fuzz` tries more."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from readers import FILES, GRAMMARS, compare, try_file, try_lines, try_lists


@pytest.mark.parametrize("name", GRAMMARS)
def test_both_scanners_read_and_refuse_the_same_lines(name: str) -> None:
    draw = random.Random(name)
    for _ in range(500):
        try_lines(name, draw)


@pytest.mark.parametrize("blank", ["\v", "\f", "\x1c", "\x85", "\u3000"])
def test_both_scanners_know_the_blanks_between_cells(blank: str) -> None:
    for line in (f"7 12 {blank}12\n", f"1 2 a{blank}b\n", f"1 2 {blank}\n"):
        compare("table b''", line.encode())


def test_both_scanners_read_and_refuse_the_same_lists() -> None:
    draw = random.Random(1)
    for _ in range(1000):
        try_lists(draw)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_read_or_refused_in_the_same_way(name: str, tmp_path: Path) -> None:
    draw = random.Random(name)
    for _ in range(60):
        try_file(name, draw, tmp_path)
