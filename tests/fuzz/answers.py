"""Fuzzing of graphs × questions: the rows of tests/questions, asked about one random graph after another."""

import random
from pathlib import Path

from questions import Row, hops, lengths, others, structure, values
from questions.cases import Case


def asked(draw: random.Random, rows: list[Row], device: str = "cpu") -> int:
    """All these questions about one graph; a fifth of the graphs go to the reference engine."""
    case = Case.drawn(draw, "reference" if device == "cpu" and draw.random() < 0.2 else device)
    return sum(row.ask(case) for row in rows)


def inputs(draw: random.Random, folder: Path) -> int:
    """Questions about hops, paths, scores and ranks."""
    return asked(draw, [*hops.ROWS, *values.ROWS])


def roads(draw: random.Random, folder: Path) -> int:
    """Questions along weights."""
    return asked(draw, lengths.ROWS)


def structured(draw: random.Random, folder: Path) -> int:
    """Questions about clusters, cores, communities and order; products and generators."""
    return asked(draw, [*structure.ROWS, *others.ROWS])


def on_cuda(draw: random.Random, folder: Path) -> int:
    """All questions on a GPU."""
    return asked(draw, [*hops.ROWS, *values.ROWS, *lengths.ROWS, *structure.ROWS, *others.ROWS], "cuda")
