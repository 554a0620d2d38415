"""`hopwave fetch NAME [OUT]`: download a graph of the SuiteSparse collection, or write one of the small graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hopwave import datasets
from hopwave.cli import options, terminal
from hopwave.cli.files import STREAM, save, target
from hopwave.cli.info import record, sentence
from hopwave.system.progress import Meter


def fetch(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Group/name in the collection, or a small graph such as karate."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Argument(metavar="OUT", help="Also write the graph to this file; its extension decides the format."),
    ] = None,
    to_format: Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="The format of OUT.")] = None,
    url: Annotated[
        str | None, typer.Option(help="A mirror of the collection. Default: HOPWAVE_MIRROR, else its own site.")
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="Where downloads are kept. Default: HOPWAVE_CACHE, else the user's cache folder."),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the small graphs and those of the papers.")] = False,
    as_json: options.Json = False,
) -> None:
    """Download a graph of the SuiteSparse Matrix Collection, and print its path. A second call uses the cached file."""
    if listing:
        if name is not None:
            raise typer.BadParameter("--list takes no NAME; give one of the two")
        _list(as_json)
        return
    if name is None:
        raise typer.BadParameter("no NAME given; 'hopwave fetch --list' shows the known ones")
    if out is None and to_format is not None:
        raise typer.BadParameter(f"--to {to_format} is the format of OUT; give OUT, too")
    if out is not None:
        target(out, to_format)
        options.check_stream(out, as_json)
    elif name in datasets.names():
        raise typer.BadParameter(f"{name} ships with hopwave and is in no cache; give OUT, such as {name}.mtx")
    answer: dict[str, Any] = {"name": name}
    if name not in datasets.names():
        file = datasets.download(name, url=url, cache=cache)
        answer |= {"file": str(file), "bytes": file.stat().st_size}
        said = str(file)  # only the path, for hopwave info "$(hopwave fetch NAME)"
    if out is not None:
        graph = datasets.load(name) if name in datasets.names() else datasets.fetch(name, url=url, cache=cache)
        with Meter(f"writing {out.name}", None, None):
            save(out, graph, to_format, None)
        if out == STREAM:
            return
        answer |= {"out": str(out), **record(graph)}
        said = f"wrote {out}: {sentence(graph)}"
    if as_json:
        terminal.emit(answer)
    else:
        terminal.line(said)


def _list(as_json: bool) -> None:
    known = datasets.published()
    if as_json:
        rows = [
            {"name": entry.name, "vertices": entry.vertices, "arcs": entry.arcs, "papers": list(entry.papers)}
            for entry in known
        ]
        terminal.emit({"small": list(datasets.names()), "published": rows})
        return
    terminal.line(f"Small graphs, without a network: {', '.join(datasets.names())}")
    shown = terminal.table("Graphs of the papers", "name", "vertices", "arcs", "papers", numbers=(1, 2))
    for entry in known:
        sizes = ("–" if size is None else f"{size:,}" for size in (entry.vertices, entry.arcs))
        shown.add_row(entry.name, *sizes, ", ".join(entry.papers))
    terminal.show(shown)
