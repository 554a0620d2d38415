"""`hopwave table FILE`: distances from sources to targets, on the screen, or written to a file block by block."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import hopwave as hw
from hopwave.cli import options, output, terminal
from hopwave.cli.bfs import vertex
from hopwave.cli.files import File, ReadingLengths, load
from hopwave.errors import FormatError

SHOWN = 12  # rows and columns of the table on the screen


@dataclass(frozen=True)
class TableFile(options.Written):
    """Where the table goes."""

    out: Annotated[
        Path | None, options.printing(help="Write the table: .npy, or the connected pairs as .parquet or .csv.")
    ] = None


def table(
    file: File,
    reading: ReadingLengths,
    to: TableFile,
    source: Annotated[list[str] | None, typer.Option("--source", "-s", help="A row. Repeat for several.")] = None,
    target: Annotated[list[str] | None, typer.Option("--target", "-t", help="A column. Repeat for several.")] = None,
    sources: Annotated[
        Path | None, typer.Option("--sources", help="A text file with one row per line. Default: all vertices.")
    ] = None,
    targets: Annotated[
        Path | None, typer.Option("--targets", help="A text file with one column per line. Default: all vertices.")
    ] = None,
    limit: Annotated[float | None, typer.Option(help="Only paths of at most this length.")] = None,
    dtype: Annotated[str, typer.Option(help="auto, float64, float32 or hops.")] = "auto",
    device: options.Device = "auto",
    threads: options.Threads = None,
    checkpoint: Annotated[
        Path | None, options.printing(help="With --out: continue from this file, if it exists.")
    ] = None,
) -> None:
    """Distances from every source to every target, along weights or in hops."""
    graph = load(file, reading)
    rows, columns = chosen(graph, source, sources), chosen(graph, target, targets)
    began = time.perf_counter()
    kind: Any = dtype  # checked there
    found = hw.distance_table(
        graph, rows, columns, limit=limit, dtype=kind, out=to.out, checkpoint=checkpoint, device=device, threads=threads
    )
    wall = time.perf_counter() - began
    shape = tuple(graph.n if part is None else len(part) for part in (rows, columns))
    record: dict[str, Any] = {"rows": shape[0], "columns": shape[1], "limit": limit, "weights": graph.is_weighted}
    parts: list[Any] = []
    if isinstance(found, hw.DistanceTable):
        few = found.values[:SHOWN, :SHOWN]
        names = [[graph.label(int(v)) for v in ids[:SHOWN]] for ids in (found.sources, found.targets)]
        record |= {"sources": names[0], "targets": names[1], "distances": [[shown(d) for d in row] for row in few]}
        made = terminal.table("Distances", "", *map(str, names[1]), numbers=range(1, 1 + len(names[1])))
        for name, row in zip(names[0], few, strict=True):
            made.add_row(terminal.printable(str(name)), *("–" if shown(d) is None else f"{d:g}" for d in row))
        parts.append(made)
    lines = {"table": f"{shape[0]:,} × {shape[1]:,}", "time": f"{wall:,.2f} s"}
    record["wall_seconds"] = wall
    output.tell(file, graph, to, record, [*parts, terminal.facts("", lines)])


def shown(distance: Any) -> Any:
    """A distance as JSON has it: null if there is no path."""
    return None if distance == np.inf or distance < 0 else distance.item()


def chosen(graph: hw.Graph, named: list[str] | None, file: Path | None) -> list[Any] | None:
    """The labels or ids of the vertices that options or the lines of a file name; None if neither is given."""
    if named and file is not None:
        raise typer.BadParameter(f"{file} and single vertices were given; give one of the two")
    if file is not None:
        try:
            named = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        except (OSError, UnicodeDecodeError) as error:
            raise FormatError(f"cannot be read as text ({error}); give a file with one vertex per line", file) from None
    return None if not named else [graph.label(vertex(graph, name)) for name in named]
