"""Apache Parquet: a table with the columns `source`, `target`, `weight`. hopwave stores the rest in metadata."""

import io
import json
from functools import partial
from typing import IO, Any

import numpy as np

from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.columns import by_direction, factorize, object_array
from hopwave.io.columns import Column, Table, choose
from hopwave.io.format import Request, Target, explained, plain_labels
from hopwave.io.lines import Source
from hopwave.system.optional import optional

_KEY = b"hopwave"
_NAMES = "read it with Graph.from_arrow(pyarrow.parquet.read_table(path), …, names=True)"


def _pyarrow() -> Any:
    optional("pyarrow.parquet", "Parquet")
    return optional("pyarrow", "Parquet")


def read(
    file: Source, request: Request, *, source: Column = None, target: Column = None, weight: Column = None
) -> Graph:
    """Read a table of edges: undirected, unless its metadata or the caller says otherwise."""
    pyarrow = _pyarrow()
    file.meter.stage(f"reading {file.path.name}")
    with file.open() as stream:
        # pyarrow reads a file with several threads; only the content of a .gz passes through Python.
        content: IO[bytes] | str = io.BytesIO(file.whole(stream)) if file.packed else str(file.path)
        try:
            opened = partial(pyarrow.parquet.ParquetFile, content, memory_map=not file.packed)
            schema = opened().schema_arrow
            names = list(schema.names)
            parquet = opened(read_dictionary=[name for name in names if _is_text(schema.field(name).type)])
            table = Table(names, True, lambda place: _is_number(schema.field(place).type))
            first, second, third, way = choose(file, request, table, (source, target, weight))
            chosen = [names[place] for place in (first, second, third, way) if place is not None]
            # Strings stay dictionary-encoded until their size is known.
            file.unpack(8 * parquet.metadata.num_rows * len(chosen))
            read = parquet.read(columns=chosen)
            notes = _notes(file, (schema.metadata or {}).get(_KEY, b"{}"))
            ends = [_column(file, read.column(name), name) for name in chosen[:2]]
            weights = None if third is None else _column(file, read.column(chosen[2]), chosen[2], weight=True)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            reason = str(error).splitlines()[0]
            raise file.fail(f"not a readable Parquet file ({reason}): truncated, or another format") from None
    if way is not None:
        with explained(file):
            u, v, weights, turned = by_direction(names[way], read.column(names[way]), ends[0], ends[1], weights)
        ends = [u, v]
        notes |= {"directed": True} if turned else {}
    return _graph(file, request, ends, chosen, weights, notes)


def _notes(file: Source, text: bytes) -> dict[str, Any]:
    """The metadata that hopwave's writer stored, checked."""
    try:
        notes = json.loads(text)
        kinds = {"n": int, "directed": bool, "labels": list, "parallel": bool}
        if any(type(value) is not kinds[key] for key, value in notes.items()):
            raise ValueError
    except (ValueError, KeyError, AttributeError):
        message = "the 'hopwave' entry of the metadata cannot be read; expected n, directed and labels as JSON"
        raise file.fail(message) from None
    labels = notes.get("labels", [])
    if len(set(map(str, labels))) != len(labels) or not all(isinstance(label, str | int) for label in labels):
        raise file.fail("the labels in the metadata must be distinct strings or integers, one per vertex")
    return dict(notes)


def _column(source: Source, column: Any, name: str, weight: bool = False) -> np.ndarray[Any, Any]:
    """Endpoints of edges (integers or strings), or weights (numbers)."""
    import pyarrow.compute as compute
    import pyarrow.types as kinds

    if column.null_count:
        what = "a weight" if weight else "a vertex"
        raise source.fail(f"the column {name!r} has {column.null_count} missing values; expected {what} in every row")
    kind = column.type.value_type if kinds.is_dictionary(column.type) else column.type
    if weight and not _is_number(column.type):
        message = f"the column {name!r} is {column.type}; weights must be numbers"
        raise source.fail(f"{message}; pass another column as weight=, or weights=False to ignore it")
    if not weight and not (kinds.is_integer(kind) or _is_text(kind)):
        raise source.fail(f"the column {name!r} is {column.type}; vertices must be integers or strings")
    if kinds.is_dictionary(column.type):
        for chunk in column.chunks if _is_text(kind) else ():
            lengths = compute.binary_length(chunk.dictionary).cast("int64")
            source.unpack(compute.sum(lengths.take(chunk.indices)).as_py() or 0)
        column = column.cast(kind)
    values: np.ndarray[Any, Any] = column.to_numpy()
    return values


def _is_number(kind: Any) -> bool:
    from pyarrow.types import is_decimal, is_floating, is_integer

    return bool(is_integer(kind) or is_floating(kind) or is_decimal(kind))


def _is_text(kind: Any) -> bool:
    from pyarrow.types import is_large_string, is_string, is_string_view

    return bool(is_string(kind) or is_large_string(kind) or is_string_view(kind))


def _graph(
    source: Source, request: Request, ends: list[Any], titles: list[str], weights: Any, notes: dict[str, Any]
) -> Graph:
    said: dict[str, Any] = {"directed": notes.get("directed"), "parallel": notes.get("parallel", False)}
    u, v = ends
    labels = notes.get("labels")
    if labels is not None:
        number = {label: i for i, label in enumerate(labels)}
        try:
            u, v = (np.array([number[label] for label in column.tolist()], np.int64) for column in ends)
        except KeyError as error:
            found = f"an edge ends at {error.args[0]!r}"
            raise source.fail(f"{found}, which is not among the labels in the metadata") from None
        return request.graph(source, u, v, len(labels), **said, labels=object_array(labels), weights=weights)
    if u.dtype.kind == "O" or v.dtype.kind == "O":
        try:
            u, v, names = factorize(u, v, titles=(titles[0], titles[1]), remedy=_NAMES)
        except GraphError as error:
            raise source.fail(str(error)) from None
        return request.graph(source, u, v, len(names), **said, labels=names, weights=weights)
    reached = [int(found) for column in ends if len(column) for found in (column.min(), column.max())]
    if min(reached, default=0) < 0:
        raise source.fail(f"vertex {min(reached)} is negative; ids must be at least 0")
    if max(reached, default=0) >= 2**63:
        raise source.fail(f"vertex {max(reached)} is too large; ids must be below 2^63")
    return request.numbered(source, u, v, declared=notes.get("n"), weights=weights, **said)


def write(target: Target, graph: Graph) -> None:
    """Write `source` and `target`, as labels or ids, and `weight`; the metadata stores the rest of the graph."""
    pyarrow = _pyarrow()
    names = plain_labels(target, graph)
    edges = graph.edges()
    columns: list[Any] = [pyarrow.array(column) for column in (edges.source, edges.target)]
    if names is not None:
        values = pyarrow.array(names, pyarrow.int64() if names and isinstance(names[0], int) else pyarrow.string())
        columns = [values.take(column) for column in columns]
    notes: dict[str, Any] = {"n": graph.n, "directed": graph.directed} | ({} if names is None else {"labels": names})
    if graph.has_parallel_arcs:
        notes["parallel"] = True
    titles = ["source", "target"]
    if edges.weights is not None:
        columns.append(pyarrow.array(edges.weights))
        titles.append("weight")
    table = pyarrow.table(columns, names=titles)
    table = table.replace_schema_metadata({_KEY: json.dumps(notes).encode()})
    pyarrow.parquet.write_table(table, target.stream, compression="zstd")
