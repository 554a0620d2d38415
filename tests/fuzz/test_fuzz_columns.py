"""A few hundred inputs of every fuzzer of ids, labels, weights and files; `make fuzz` tries more."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from columns import EXTENSIONS, TEXTS, try_format, try_labels, try_names, try_number, try_weights

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("attempt", [try_labels, try_names, try_weights])
def test_what_goes_in_comes_back_or_is_refused(attempt) -> None:
    draw = random.Random(attempt.__name__)
    for _ in range(800):
        attempt(draw)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_every_format_keeps_odd_graphs_or_refuses_them(extension: str, tmp_path: Path) -> None:
    draw = random.Random(extension)
    for _ in range(60):
        try_format(extension, draw, tmp_path)


@pytest.mark.parametrize("name", TEXTS)
def test_numbers_are_read_as_python_reads_them_or_refused(name: str, tmp_path: Path) -> None:
    draw = random.Random(name)
    for _ in range(150):
        try_number(name, draw, tmp_path)
