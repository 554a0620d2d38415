"""The output of every command about a graph: one JSON object, or text and tables, and the files written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.table import Table

from hopwave.cli import terminal
from hopwave.cli.files import STREAM
from hopwave.cli.info import sentence, sizes
from hopwave.cli.options import Written
from hopwave.graph import Graph


def tell(file: Path, graph: Graph, to: Written, record: dict[str, Any], parts: Iterable[str | Table]) -> None:
    """Print the record as JSON, or the parts; and the files written.

    Where the result itself was written to standard output (--out -), nothing is printed beside it.
    """
    files = to.files()
    if STREAM in files.values():
        return
    if to.as_json:
        written = {option: path and str(path) for option, path in files.items()}
        terminal.emit({"file": str(file), **sizes(graph), **record, **written})
        return
    terminal.line(f"{file}: {sentence(graph)}")
    for part in parts:
        terminal.line(part) if isinstance(part, str) else terminal.show(part)
    for path in filter(None, files.values()):
        terminal.line(f"wrote {path}")
