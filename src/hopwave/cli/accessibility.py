"""`hopwave accessibility FILE`: what every vertex has within reach."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import hopwave as hw
from hopwave.cli import columns, options, output, terminal
from hopwave.cli.bfs import vertex
from hopwave.cli.files import File, ReadingLengths, load
from hopwave.errors import FormatError


def accessibility(
    file: File,
    reading: ReadingLengths,
    to: options.Written,
    limit: Annotated[list[float] | None, typer.Option("--limit", help="A distance. Repeat for several.")] = None,
    values: Annotated[
        Path | None,
        typer.Option(help="A CSV file with a header: vertices, then columns of values. Default: count vertices."),
    ] = None,
    decay: Annotated[
        str | None, typer.Option(help="exponential:SCALE, gaussian:SCALE or power:P. Default: no decay.")
    ] = None,
    inwards: Annotated[bool, typer.Option("--inwards", help="What reaches a vertex, not what it reaches.")] = False,
    device: options.Device = "auto",
    threads: options.Threads = None,
    top: Annotated[int, options.printing(min=1, help="How many to show.")] = 10,
) -> None:
    """The values within reach of every vertex, or the number of vertices; within limits, or faded with distance."""
    to.check()
    graph = load(file, reading)
    began = time.perf_counter()
    result = hw.accessibility(
        graph,
        None if values is None else read_values(graph, values),
        limit or None,
        None if decay is None else faded(decay),
        direction="in" if inwards else "out",
        device=device,
        threads=threads,
    )
    wall = time.perf_counter() - began
    made = columns.of(result)
    if to.out is not None:
        columns.write(to.out, made)
    titles = list(made)[1:]
    best = np.argsort(-made[titles[0]], kind="stable")[:top]
    record = {
        "limits": [x for x in result.limits if x < np.inf],
        "decay": decay,
        "weights": graph.is_weighted,
        "top": [{title: _plain(column[v]) for title, column in made.items()} for v in best],
        "wall_seconds": wall,
    }
    shown = terminal.table(f"Most {titles[0]}", "vertex", *titles, numbers=range(1, 1 + len(titles)))
    for v in best:
        shown.add_row(terminal.printable(str(made["vertex"][v])), *(f"{made[title][v]:,g}" for title in titles))
    output.tell(file, graph, to, record, [shown, terminal.facts("", {"time": f"{wall:,.2f} s"})])


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def faded(text: str) -> tuple[str, float]:
    """A decay such as exponential:10, as `hopwave.accessibility` takes it.

    >>> faded("power:2")
    ('power', 2.0)
    """
    name, _, number = text.partition(":")
    try:
        return name, float(number)
    except ValueError:
        raise typer.BadParameter(f"--decay {text} has no number; give for example exponential:10") from None


def read_values(graph: hw.Graph, file: Path) -> dict[str, dict[Any, float]]:
    """The columns of a CSV file by name; its first column names vertices. An empty cell is no value."""
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            (_, *names), *rows = csv.reader(stream, skipinitialspace=True)
            found: dict[str, dict[Any, float]] = {name: {} for name in names}
            for first, *cells in filter(None, rows):
                for name, cell in zip(names, cells, strict=True):
                    if cell.strip():
                        found[name][graph.label(vertex(graph, first))] = float(cell)
    except (OSError, ValueError) as error:
        raise FormatError(f"expected a header, then a vertex and numbers on every line ({error})", file) from None
    return found
