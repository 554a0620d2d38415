"""Tables of distances: rows of sources, columns of targets, block by block; in memory or in a file."""

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import many_sources as _many
from hopwave.algorithms.checkpoint import Checkpoint, File, key_of
from hopwave.arrays import ignoring, module_of, on_gpu, on_host
from hopwave.checks.numbers import shown
from hopwave.engines import Engine
from hopwave.engines.host_memory import check_memory
from hopwave.errors import FormatError, GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.graph.columns import NO_COLUMN, library_columns
from hopwave.planning.jobs import Floats, Integers, Progress
from hopwave.planning.many_sources import Sweep, Swept, Valued
from hopwave.system.files import checked, part_of, replacing
from hopwave.system.optional import optional
from hopwave.system.progress import say

ENDINGS = (".npy", ".parquet", ".csv")
PLAIN = (str, int, float, date, np.number, np.datetime64)  # labels that can be written as text
ON_GPU = 16  # factor of rows per block over a CPU: a GPU searches from thousands of sources simultaneously


@dataclass(frozen=True)
class Table:
    """A requested table: distances of `dtype` from the sources to distinct targets, or to all vertices for None."""

    graph: Graph
    engine: Engine
    sources: Integers
    targets: Integers | None
    limit: float | None
    weighted: bool
    dtype: np.dtype[Any]
    threads: int | None

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.graph.n if self.targets is None else len(self.targets)

    @property
    def rows_at_once(self) -> int:
        """The number of rows of a block: it has at most BLOCK_BYTES, or one row."""
        wide = self.width if self.weighted else self.graph.n  # searches in hops compute full rows
        return rows_at_once(wide, self.weighted, self.engine.name)

    def sweep(self, begin: int, end: int, keep: Any) -> Sweep:
        """The searches from sources number begin to end."""
        targets = self.targets if keep == "rows" else None
        return Sweep(self.sources[begin:end], keep, self.limit, weighted=self.weighted, targets=targets)

    def rows(self, begin: int, end: int, progress: Progress) -> npt.NDArray[Any]:
        """The rows from number begin to end, with the columns of the targets."""
        job = self.sweep(begin, end, "rows")
        found = _many.sweep(self.engine, self.graph, job, "searches", progress, self.threads).rows
        xp = module_of(found)
        if not self.weighted and self.dtype.kind == "f":
            found = xp.where(found < 0, np.inf, found)
        if self.weighted and self.dtype.kind == "i":  # hops, computed along arcs of length 1
            found = xp.where(xp.isfinite(found), found, -1)
        return self._typed(found)

    @ignoring("over")
    def _typed(self, found: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Distances in the type of the table; raises a GraphError for a distance that overflows float32."""
        typed, xp = found.astype(self.dtype, copy=False), module_of(found)
        if self.dtype == np.float32 and bool((xp.isinf(typed) != xp.isinf(found)).any()):
            raise GraphError("a distance is above 3.4e38, the maximum of float32; pass dtype='float64'")
        return typed

    def entries(self, begin: int, end: int) -> tuple[Integers, Integers, npt.NDArray[Any]]:
        """(row, column, distance) of the pairs that are connected within the limit, by row, then by column."""
        job = self.sweep(begin, end, "pairs")
        found = _many.sweep(self.engine, self.graph, job, "searches", False, self.threads)
        row, column, distance = _with_sources(self.sources[begin:end], found)
        if self.targets is not None:
            places = np.full(self.graph.n, -1, np.int64)
            places[self.targets] = np.arange(self.width)
            column = places[column]
        order = np.lexsort((column, row))
        order = order[column[order] >= 0]
        return row[order] + begin, column[order], self._typed(distance[order])


def _with_sources(sources: Integers, found: Swept) -> tuple[Integers, Integers, Floats]:
    """(number of the source, vertex, distance) of all pairs found, and of each source with itself."""
    own = np.arange(len(sources))
    row = np.concatenate([own, np.repeat(own, found.reached)])
    return row, np.concatenate([sources, found.pairs[0]]), np.concatenate([np.zeros(len(sources)), found.pairs[1]])


def rows_at_once(width: int, weighted: bool, device: str) -> int:
    """The number of rows of a block: it has at most BLOCK_BYTES, or one row."""
    return _many.block_rows(width, _many.BLOCK_BYTES, weighted) * (ON_GPU if device == "cuda" else 1)


def dense(table: Table, progress: Progress, places: Integers | None = None) -> npt.NDArray[Any]:
    """The full table as one array; `places` repeats and orders its columns."""
    k, columns = len(table.sources), table.width if places is None else len(places)
    if table.graph.device == "cpu":  # else the table stays on the graph's device
        size = k * table.dtype.itemsize * (columns + (0 if places is None else table.width))
        check_memory(size, f"a table of {k:,} × {columns:,} distances")
    if table.weighted and table.dtype == np.float64:
        answer = table.rows(0, k, progress)
    else:
        answer = np.empty((k, table.width), table.dtype)
        with _many.polled("searches", k, progress) as poll:
            for begin, end in _spans(k, table.rows_at_once):
                rows = table.rows(begin, end, False)
                if not begin and on_gpu(rows):
                    answer = module_of(rows).empty(answer.shape, answer.dtype)
                answer[begin:end] = rows
                poll(end)
    return answer if places is None else answer[:, places]


def sparse(table: Table, progress: Progress) -> Any:
    """The pairs within the limit as a SciPy CSR array. A distance of 0 is also an entry."""
    from scipy.sparse import csr_array

    k, parts = len(table.sources), []
    with _many.polled("searches", k, progress) as poll:
        for begin, end in _spans(k, table.rows_at_once):
            parts.append(table.entries(begin, end))
            poll(end)
    empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, table.dtype))
    row, column, distance = (np.concatenate([empty[i], *(part[i] for part in parts)]) for i in range(3))
    starts = np.searchsorted(row, np.arange(k + 1))
    return csr_array((distance, column, starts), shape=(k, table.width))


def _spans(count: int, size: int, first: int = 0) -> Iterator[tuple[int, int]]:
    for begin in range(first, count, size):
        yield begin, min(begin + size, count)


def to_file(table: Table, out: Path, progress: Progress, checkpoint: File) -> None:
    """Write the table: as a NumPy array (.npy), or as columns source, target, distance of pairs (other formats)."""
    _check_names(table.graph, out)
    try:
        target = checked(out)
    except OSError as error:
        raise FormatError(error.strerror or "cannot be written", out) from None
    try:
        if checkpoint is not None:
            _continued(table, target, progress, checkpoint)
        else:
            parquet = out.suffix == ".parquet"
            with TemporaryFile(dir=target.parent) if parquet else replacing(target) as stream:
                for _ in _filled(stream, table, out.suffix, table.rows_at_once, 0, progress):
                    pass
                if parquet:
                    _write_parquet(table, stream, target)
    except BlockingIOError:
        raise FormatError("another process is writing this table; wait for it, or pass another path", out) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        saved = "".join(note.replace("hopwave:", ";", 1) for note in getattr(error, "__notes__", ()))
        raise FormatError(f"cannot be written ({reason}); free space, or pass another path{saved}", out) from error


def _check_names(graph: Graph, out: Path) -> None:
    """Raise an error before the first search if the file cannot store the names of the vertices."""
    if out.suffix == ".npy":
        return
    labels = () if graph.labels is None else graph.labels
    other = next((label for label in labels if not _is_plain(label)), None)
    problem = None if other is None else f"{shown(other)} is not text, a number or a date"
    if out.suffix == ".parquet":
        arrow, _ = (optional(name, "a Parquet file") for name in ("pyarrow", "pyarrow.parquet"))
        try:
            library_columns({"vertex": np.asarray(vertex_names(graph))}, arrow.array, "to_pylist")
        except GraphError:
            problem = problem or NO_COLUMN
    if problem is not None:
        raise FormatError(f"cannot store these labels: {problem}; use .npy, or G.relabel the vertices", out)


def _is_plain(label: Any) -> bool:
    """Whether a label can be written as text."""
    try:
        str(label).encode()  # fails for half of a surrogate pair, and for thousands of digits
    except ValueError:
        return False
    return isinstance(label, PLAIN)


def _continued(table: Table, out: Path, progress: Progress, checkpoint: Any) -> None:
    """Write the table, resuming after the rows that an earlier call with this checkpoint stored in a partial file."""
    k, size, labels = len(table.sources), table.rows_at_once, table.graph.labels
    names = None if labels is None or out.suffix == ".npy" else list(labels)
    what = ("distance_table", table.limit, table.weighted, str(table.dtype), table.engine.name, out.suffix, names)
    key = key_of(table.graph, table.weighted, table.sources, table.targets, what)
    saved = Checkpoint(checkpoint, key)
    # For a checkpoint: `total` is the file size after the completed blocks.
    run = SimpleNamespace(size=size, blocks=-(-k // size), total=np.zeros(1, np.int64), certificate=np.zeros((0, 2)))
    done = saved.load(run)
    with part_of(out, key[:16]) as part:
        if part.stream.seek(0, os.SEEK_END) < run.total[0]:
            run.total[0] = done = 0  # the file is already complete, or missing
        if done and progress is not False:
            say(saved.continues(f"{min(done * run.size, k):,} of {k:,} sources"))
        try:
            part.stream.truncate(int(run.total[0]))
            for end in _filled(part.stream, table, out.suffix, run.size, done * run.size, progress):
                run.total[0], done = end, done + 1
                if saved.is_due():
                    os.fsync(part.stream.fileno())
                    saved.save(run, done)
            if out.suffix == ".parquet":
                _write_parquet(table, part.stream, out)
            else:
                part.finish()
        except BaseException as error:  # rows with a checkpoint are kept, an incomplete block is not
            os.ftruncate(part.stream.fileno(), int(run.total[0]))
            if done > 0 and saved.save_and_tell(error, run, done):
                part.kept = True
                error.add_note(f"hopwave: completed rows are in {part.path}")
            raise
    saved.path.unlink(missing_ok=True)


def _filled(stream: IO[bytes], table: Table, suffix: str, size: int, first: int, progress: Progress) -> Iterator[int]:
    """Append the rows starting at number `first`, `size` at a time; yields the file size after each block."""
    k = len(table.sources)
    with _many.polled("searches", k, progress) as poll:
        if not first and suffix == ".npy":
            header = {"descr": table.dtype.str, "fortran_order": False, "shape": (k, table.width)}
            np.lib.format.write_array_header_1_0(stream, header)
        elif not first and suffix == ".csv":
            stream.write(b"source,target,distance\n")
        for begin, end in _spans(k, size, first):
            _append(stream, table, begin, end, suffix)
            stream.flush()
            yield stream.tell()
            poll(end)


def _record(table: Table) -> np.dtype[Any]:
    return np.dtype([("row", np.int64), ("column", np.int32), ("distance", table.dtype)])


def _append(stream: IO[bytes], table: Table, begin: int, end: int, suffix: str) -> None:
    if suffix == ".npy":
        stream.write(np.ascontiguousarray(on_host(table.rows(begin, end, False))).data)
        return
    parts = table.entries(begin, end)
    if suffix == ".csv":
        stream.write(_lines(table, *parts).encode())
        return
    records = np.empty(len(parts[0]), _record(table))
    for name, part in zip(records.dtype.names or (), parts, strict=True):
        records[name] = part
    stream.write(records.data)


def _lines(table: Table, row: Integers, column: Integers, distance: npt.NDArray[Any]) -> str:
    """The pairs as lines of a CSV file; names are quoted, as in `hopwave.write`."""

    def cells(vertices: Integers, places: Integers) -> Iterator[str]:
        used, place = np.unique(vertices[places], return_inverse=True)
        names = np.asarray(vertex_names(table.graph))[used].tolist()
        shown = ['"' + name.replace('"', '""') + '"' if isinstance(name, str) else str(name) for name in names]
        return map(shown.__getitem__, place.tolist())

    lines = zip(cells(table.sources, row), cells(_targets(table), column), distance.astype(str).tolist(), strict=True)
    return "".join(f"{source},{target},{length}\n" for source, target, length in lines)


def _targets(table: Table) -> Integers:
    return np.arange(table.graph.n) if table.targets is None else table.targets


def _write_parquet(table: Table, records: IO[bytes], out: Path, at_once: int = 1 << 22) -> None:
    """Turn the records of the finished blocks into a Parquet file, some millions at a time."""
    arrow, parquet = optional("pyarrow", "a Parquet file"), optional("pyarrow.parquet", "a Parquet file")
    names, targets = np.asarray(vertex_names(table.graph)), _targets(table)
    kind, writer = arrow.array(names).type, None  # the type of all names: some of them may fit into another
    records.seek(0)
    with replacing(out) as stream:
        while True:
            some = np.fromfile(records, _record(table), at_once)
            if writer is not None and not len(some):
                break
            columns = {
                "source": arrow.array(names[table.sources[some["row"]]], kind),
                "target": arrow.array(names[targets[some["column"]]], kind),
                "distance": arrow.array(np.ascontiguousarray(some["distance"])),
            }
            made = arrow.table(columns)
            if writer is None:
                writer = parquet.ParquetWriter(stream, made.schema)
            writer.write_table(made)
        writer.close()


def with_unit_lengths(graph: Graph) -> Graph:
    """The graph with arcs of length 1, for hops by a search along weights; created once and cached with the graph."""

    def make() -> Graph:
        rows = graph._rows._replace(values=np.ones(graph.m))  # symmetric, so no check is needed
        return graph._with(rows, order=graph._order)

    return graph._prepared.made("unit lengths", make)


def one_by_one(table: Table) -> Table:
    """The table with searches that stop at their targets, if searches with shared steps would be slower."""
    if table.weighted or table.targets is None or table.engine.why_not_operation("weighted_sweep", table.graph):
        return table
    depth = _many.probed_depth(table.engine, table.graph, table.threads)
    if _many.together(table.graph.n, depth, len(table.sources)):
        return table
    return replace(table, graph=with_unit_lengths(table.graph), weighted=True)


Fade = Callable[[Floats], npt.ArrayLike]  # the caller's f(d), applied to an array of distances


def value_sums(
    engine: Engine,
    graph: Graph,
    sources: Integers,
    valued: Valued,
    fade: Fade | None,
    progress: Progress,
    threads: int | None,
) -> Floats:
    """Σ value · f(d) as sources × columns × limits; `fade`, if passed, replaces the decay of `valued`."""
    limit = float(valued.limits[-1])
    longest = None if limit == np.inf else limit
    shape = len(sources), len(valued.columns), len(valued.limits)
    what = f"a table of {shape[0]:,} × {shape[1]:,} × {shape[2]:,} sums"
    check_memory(16 * math.prod(shape), what, "use fewer sources, columns or limits at a time")  # with a copy in order
    if fade is None:
        job = Sweep(sources, "values", longest, weighted=True, valued=valued)
        return _many.sweep(engine, graph, job, "accessibility", progress, threads).values
    answer = np.empty(shape)
    size = max(1, _many.BLOCK_BYTES // (12 * max(1, graph.n)))
    with _many.polled("accessibility", len(sources), progress) as poll:
        for begin in range(0, len(sources), size):
            some = sources[begin : begin + size]
            job = Sweep(some, "pairs", longest, weighted=True)
            found = _many.sweep(engine, graph, job, "accessibility", False, threads)
            row, vertex, d = _with_sources(some, found)
            terms = valued.columns[:, vertex] * faded(fade, d)
            for i, within in enumerate(valued.limits):
                near = d <= within
                for c, term in enumerate(terms):
                    answer[begin : begin + len(some), c, i] = np.bincount(row[near], term[near], len(some))
            poll(begin + len(some))
    return answer


def faded(fade: Fade, d: Floats) -> Floats:
    """The caller's function of the distances d; raises a GraphError unless it returns one finite number for each."""
    try:
        shares: Any = np.asarray(fade(d.copy()))  # the function may compute in place
    except (TypeError, ValueError) as error:  # raised by math.exp(d) and `if d < 5`
        raise GraphError(
            f"decay= failed for an array of {len(d)} distances ({error}); it must accept an array: compile it "
            "with numba.vectorize, wrap it in numpy.vectorize, or use NumPy's functions"
        ) from error
    if shares.shape != d.shape or shares.dtype.kind not in "fiub":
        raise GraphError(
            f"decay= returned {shares.dtype} of shape {shares.shape} for {len(d)} distances; it must return one number "
            "for each: compile it with numba.vectorize, or use NumPy's functions"
        )
    wrong = np.flatnonzero(~np.isfinite(shares))
    if len(wrong):
        raise GraphError(
            f"decay= returned {shares[wrong[0]]} for distance {d[wrong[0]]:g}; decay must be finite, also at 0"
        )
    return np.asarray(shares, np.float64)
