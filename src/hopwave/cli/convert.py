"""`hopwave convert FILE OUT`: read a graph in one format and write it in another."""

from __future__ import annotations

from typing import Annotated

import typer

from hopwave.cli import files, options, terminal
from hopwave.cli.info import record, sentence
from hopwave.errors import FormatError
from hopwave.io import formats
from hopwave.system.progress import Meter


def convert(
    file: files.File,
    out: files.Out,
    from_format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="The format of FILE.")] = None,
    to_format: Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="The format of OUT.")] = None,
    directed: files.Directed = None,
    drop_labels: Annotated[
        bool, typer.Option("--drop-labels", help="Write vertices as numbers, without their labels.")
    ] = False,
    combine: files.Combine = None,
    no_weights: files.NoWeights = False,
    read_options: files.ReadOptions = None,
    write_options: files.WriteOptions = None,
    as_json: options.Json = False,
) -> None:
    """Convert a graph to another file format. Labels are dropped only with --drop-labels, weights with --no-weights."""
    chosen = files.target(out, to_format)
    options.check_stream(out, as_json)
    reading = files.ReadingLengths(directed, from_format, read_options, combine, no_weights)
    graph = files.load(file, reading, flag="--from")
    if graph.labels is not None and not drop_labels and not chosen.holds_labels:
        able = ", ".join(known.extensions[0] for known in formats() if known.holds_labels)
        raise FormatError(
            f"{chosen.title} cannot store the labels of {file}; use {able}, or drop them with --drop-labels", out
        )
    with Meter(f"writing {out.name}", None, None):
        files.save(out, graph, to_format, write_options, drop_labels)
    if out == files.STREAM:
        return
    if as_json:
        kept = graph.labels is not None and not drop_labels
        written = {"bytes": out.stat().st_size, "labels_written": kept}
        terminal.emit({"file": str(file), "out": str(out), "format": chosen.name, **record(graph), **written})
        return
    note = "; labels dropped" if drop_labels and graph.labels is not None else ""
    terminal.line(
        f"wrote {out} ({chosen.title}, {terminal.size(out.stat().st_size)}): {sentence(graph, not drop_labels)}{note}"
    )
