"""Results as files of columns, one row per vertex or edge: .csv, .csv.gz, .parquet or .npz."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hopwave.cli import terminal
from hopwave.cli.files import STREAM
from hopwave.errors import FormatError
from hopwave.results.tables import Tabled
from hopwave.system.archives import write_arrays
from hopwave.system.atomic_file import checked, replacing

Columns = dict[str, npt.NDArray[Any]]

ENDINGS = (".csv", ".csv.gz", ".parquet", ".npz")
_ROWS_AT_ONCE = 100_000


def check(path: Path) -> None:
    """Raise an error if this file cannot be written; called before any work is done. "-" is standard output."""
    if path == STREAM:
        return
    ending(path, ENDINGS)
    checked(path)
    if path.suffix == ".parquet":
        terminal.need("pyarrow", "io", f"writing {path}")


def ending(path: Path, known: tuple[str, ...]) -> None:
    """Raise FormatError if the name does not end in a known extension."""
    if not path.name.lower().endswith(known):
        raise FormatError(f"an unknown extension; use {', '.join(known)}", path)


def of(result: Tabled) -> Columns:
    """The columns that name the vertices or edges, by label if the graph has labels, and those of the result.

    A vertex that was not reached has distance -1, or an infinite one along weights, and no predecessor (-1 without
    labels). Counts beyond float64 are given as binary logarithms, in path_count_log2. An undirected edge has one row.
    """
    return {**result._names(), **result._columns()}


def write(path: Path, columns: Columns) -> None:
    """Write the columns in the format of the file's extension. The old file is replaced only if that succeeds."""
    check(path)
    if path == STREAM:
        with _as_text(path):
            return _write_csv(sys.stdout.buffer, columns)
    name = path.name.lower()
    with _as_text(path), replacing(path, packed=name.endswith(".gz")) as stream:
        if name.endswith(".npz"):
            # Objects are written as text: NumPy could only pickle them, and loading a pickle can run any code.
            plain = {title: _text(column) if column.dtype == object else column for title, column in columns.items()}
            write_arrays(stream, plain, packed=True)
        elif name.endswith(".parquet"):
            _write_parquet(stream, columns)
        else:
            _write_csv(stream, columns)


@contextmanager
def _as_text(path: Path) -> Iterator[None]:
    """Raises a FormatError for a label that UTF-8 cannot hold."""
    try:
        yield
    except UnicodeEncodeError as error:
        label = error.object[:40]
        raise FormatError(f"label {label!r} has half of a surrogate pair, which is no text; write .npz", path) from None


def _write_csv(stream: IO[bytes], columns: Columns) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for first in range(0, max(map(len, columns.values())), _ROWS_AT_ONCE):
        part = [column[first : first + _ROWS_AT_ONCE].tolist() for column in columns.values()]
        writer.writerows(zip(*part, strict=True))
    text.detach()  # leaves the stream open: the caller closes it


def _write_parquet(stream: IO[bytes], columns: Columns) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {title: pa.array(_of_one_kind(column)) for title, column in columns.items()}
    pq.write_table(pa.table(arrays), stream)


def _of_one_kind(column: npt.NDArray[Any]) -> Any:
    """A Parquet column has one type: labels of several types become text."""
    if column.dtype != object:
        return column
    kinds = {type(value) for value in column.tolist()} - {type(None)}
    if kinds <= {str} or kinds <= {int}:
        return column.tolist()
    return [None if value is None else str(value) for value in column.tolist()]


def _text(column: npt.NDArray[Any]) -> npt.NDArray[np.str_]:
    return np.array(["" if value is None else str(value) for value in column.tolist()], dtype=np.str_)
