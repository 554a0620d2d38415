"""Fuzzing of graphs × questions: the rows of tests/questions, asked about one random graph after another."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from difference import Attempt

from questions import Row, hops, lengths, others, structure, values
from questions.cases import Case


def asked(draw: random.Random, rows: Iterable[Row], device: str = "cpu") -> Iterator[Attempt]:
    """One question after another about one graph after another; a fifth of the graphs go to the reference engine."""
    while True:
        case = Case.drawn(draw, "reference" if device == "cpu" and draw.random() < 0.2 else device)
        for row in rows:
            yield lambda row=row, case=case: row.ask(case)


def inputs(draw: random.Random, folder: Path) -> Iterator[Attempt]:
    """Questions about hops, paths, scores and ranks."""
    return asked(draw, [*hops.ROWS, *values.ROWS])


def roads(draw: random.Random, folder: Path) -> Iterator[Attempt]:
    """Questions along weights."""
    return asked(draw, lengths.ROWS)


def structured(draw: random.Random, folder: Path) -> Iterator[Attempt]:
    """Questions about clusters, cores, communities and order; products and generators."""
    return asked(draw, [*structure.ROWS, *others.ROWS])


def on_cuda(draw: random.Random, folder: Path) -> Iterator[Attempt]:
    """All questions on a GPU."""
    return asked(draw, [*hops.ROWS, *values.ROWS, *lengths.ROWS, *structure.ROWS, *others.ROWS], "cuda")
