"""Files of commands: reading and writing graphs, results as columns, pictures, and printed summaries."""

import csv
import importlib.util
import io
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import typer
from rich.table import Table

import hopwave as hw
from hopwave.cli import terminal
from hopwave.display.drawing import INK, PALE, bars, distribution, short
from hopwave.errors import EngineError, FormatError, GraphError
from hopwave.graph import Graph
from hopwave.io import by_content, by_name, by_title, read, unknown, write
from hopwave.io.format import Format
from hopwave.io.lines import Source
from hopwave.results.tables import Tabled
from hopwave.system.files import checked, replacing, write_arrays
from hopwave.system.optional import install
from hopwave.system.progress import Meter

Result = TypeVar("Result")
Columns = dict[str, npt.NDArray[Any]]
STREAM = Path("-")  # standard input, or standard output
TABLES = (".csv", ".csv.gz", ".parquet", ".npz")
PICTURES = (".png", ".svg", ".pdf")
_ROWS_AT_ONCE = 100_000


# ------------------------------------------------------------------ graphs


@dataclass(frozen=True)
class Reading:
    """How to read the file, for a command that needs no weights."""

    directed: bool | None = None
    format: str | None = None
    read_options: list[str] | None = None
    no_weights: bool = False


@dataclass(frozen=True)
class Running:
    """Device and threads of a command."""

    device: str = "auto"
    threads: int | None = None


@dataclass(frozen=True)
class ReadingWeights(Reading):
    """How to read the file, for a command that counts hops, or follows weights with --weights."""

    combine: Literal["min", "max", "sum", "first"] | None = None


@dataclass(frozen=True)
class ReadingLengths(ReadingWeights):
    """How to read the file, for a command that follows the weights of the file."""


def load(file: Path, how: Reading, to: "Written | None" = None, *, weights: bool = False) -> Graph:
    """Read the graph after checking `to`. `weights`: --weights was passed, so a file without weights is an error."""
    if to is not None:
        to.check()
    given = parsed(how.read_options, "--read-option")
    chosen: dict[str, Any] = {"format": how.format, "directed": how.directed, "combine": getattr(how, "combine", None)}
    for name, value in chosen.items():
        if value is not None and name in given:
            raise typer.BadParameter(f"{name}= is set by an option and by --read-option; omit one of them")
    if weights and how.no_weights:
        raise typer.BadParameter("--weights cannot be combined with --no-weights; omit one of them")
    wanted, remedy = weights, "add --weights" if isinstance(how, ReadingWeights) else "omit it"
    if isinstance(how, ReadingLengths):
        wanted, remedy = not how.no_weights and given.get("weights") is not False, "omit --no-weights"
    said = given.pop("weights", wanted)
    if not isinstance(said, bool):
        raise typer.BadParameter(f"--read-option weights={said} must be True or False; weight= selects a column")
    if said is False and wanted:
        raise typer.BadParameter("--read-option weights=False cannot be combined with --weights; omit one of them")
    about = [f"--combine {chosen['combine']}"] if chosen["combine"] else []
    about += [f"--read-option weight={given['weight']}"] if "weight" in given else []
    about += ["--read-option weights=True"] if said else []
    if not wanted and about:
        raise typer.BadParameter(f"{about[0]} concerns weights, which are not read here; {remedy}")
    arguments = {name: value for name, value in chosen.items() if value is not None} | given
    with _seekable(file) as place:
        arguments.setdefault("format", _piped_format(file, place))
        with _explained("--read-option", given, place, file) as notes:
            graph = read(place, weights=wanted, **arguments)
    if weights and not graph.is_weighted:
        lacking = f"{file} contains no weights; omit --weights to count hops"
        raise typer.BadParameter("; ".join([*notes, lacking]))
    for note in notes:
        terminal.to_stderr("warning", note)
    return graph


@contextmanager
def _seekable(file: Path) -> Iterator[Path]:
    """The file; a pipe is copied to a temporary file first, because readers read a file more than once."""
    if file != STREAM and not file.is_fifo():
        yield file
        return
    if file == STREAM and sys.stdin.isatty():
        raise typer.BadParameter("- reads standard input, which is this terminal; pipe a file into it, or name a file")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "stdin")
        with copy.open("wb") as out, nullcontext(sys.stdin.buffer) if file == STREAM else file.open("rb") as stream:
            shutil.copyfileobj(stream, out)
        yield copy


def _piped_format(file: Path, place: Path) -> str | None:
    """The format of a pipe's content if it has no signature: an edge list if it begins with a comment, else a table."""
    if place == file:
        return None
    start = Source(place, Meter("", None, False)).start()
    if not start or by_content(start) is not None:
        return None if start else "table"  # the reader of tables reports an empty file
    return "snap" if start.lstrip()[:1] in (b"#", b"%") else "table"


def save(out: Path, graph: Graph, format: str | None, options: list[str] | None, drop_labels: bool = False) -> None:
    """Write the graph with the command's options. If writing fails, the old file is unchanged."""
    given = parsed(options, "--write-option") | ({"labels": False} if drop_labels else {})
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "stdout") if out == STREAM else out  # stdout receives a complete file or nothing
        with _explained("--write-option", given, place, out) as notes:
            write(place, graph, format, **given)
        if out == STREAM:
            sys.stdout.buffer.write(place.read_bytes())
    for note in notes:
        terminal.to_stderr("note", note)


def target(out: Path, format: str | None, as_json: bool) -> Format:
    """The format to write; raises an error before any work is done."""
    check_stream(out, as_json)
    with _explained("--write-option", {}, out, out):
        found = by_title(format) if format is not None else by_name(out)
        if found is None:
            raise unknown(out)
        return found


@contextmanager
def _explained(flag: str, given: dict[str, Any], place: Path, file: Path) -> Iterator[list[str]]:
    """Collect the library's warnings. Warnings and errors that name an argument also name the flag that sets it."""

    def named(message: object, flag: str) -> str:
        text = str(message).replace(str(place), str(file))  # the user's file name
        return f"{text} (on the command line: {flag} NAME=VALUE)" if "=" in text else text

    notes: list[str] = []
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UserWarning)
            yield notes
        notes += [named(warning.message, "--read-option") for warning in told]  # options for reading the file back
    except FormatError as error:
        raise FormatError(named(error, flag)) from error
    except TypeError as error:  # an unknown option; without options, a bug in hopwave
        raise (typer.BadParameter(f"{flag}: {error}") if given else error) from error


def parsed(options: list[str] | None, flag: str) -> dict[str, Any]:
    """name=value pairs as Python values: numbers, True, False and None are recognised, the rest is text.

    >>> parsed(["n=5", "packed=true", "source=from", "format='npz'"], "-r")
    {'n': 5, 'packed': True, 'source': 'from', 'format': 'npz'}
    """
    words = {"true": True, "false": False, "none": None}
    found: dict[str, Any] = {}
    for option in options or ():
        name, equals, value = option.partition("=")
        if not equals or not name.isidentifier():
            raise typer.BadParameter(f"{flag} {option!r} is not NAME=VALUE; write, for example, n=100")
        text = value.strip()
        quoted = len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]
        number = int(text) if text.lstrip("-").isdecimal() else value
        found[name] = text[1:-1] if quoted else words.get(text.lower(), number)
    return found


def vertex(graph: Graph, name: str) -> Any:
    """The vertex that the user typed: a label, which may be a number, or an id in a graph without labels."""
    if name not in graph and name.isascii() and name.removeprefix("-").isdigit() and len(name) < 20:
        number = int(name)
        if graph.labels is None or number in graph:
            return graph.label(graph.index(number))
    parts = [part.strip() for part in name.split(",")]
    if name not in graph and all(part in graph or (part.isdecimal() and int(part) in graph) for part in parts):
        raise GraphError(f"{name!r} lists several vertices; pass one vertex per option")
    return graph.label(graph.index(name))


# ------------------------------------------------------------------ results


def check_stream(out: Path | None, as_json: bool) -> None:
    """Raise an error if both the result and JSON would go to standard output."""
    if out == STREAM and as_json:
        raise typer.BadParameter("- and --json both write to standard output; omit one of them")


@dataclass(frozen=True)
class Written:
    """Output files of a result."""

    out: Path | None = None
    as_json: bool = False

    def check(self, plan: str = "auto", task: str = "search") -> None:
        """Raise an error for an unknown plan or a file that cannot be written; called before a large graph is read."""
        plot = getattr(self, "plot", None)
        if plot is not None:
            check(plot, PICTURES, "matplotlib", "plot")
        if self.out is not None and self.out != STREAM:
            check(self.out, TABLES, "pyarrow" if self.out.suffix == ".parquet" else None, "io")
        if plan != "auto":
            hw.plan(plan, task)
        check_stream(self.out, self.as_json)

    def write(self, result: Tabled | Columns, draw: Callable[[Path], None] | None = None) -> None:
        """Write the requested file and picture."""
        with Meter("", None, None) as meter:
            if self.out is not None:
                meter.stage(f"writing {self.out.name}")
                write_columns(self.out, result if isinstance(result, dict) else columns(result))
            plot = getattr(self, "plot", None)
            if plot is not None and draw is not None:
                meter.stage(f"drawing {plot.name}")
                draw(plot)

    def tell(self, file: Path, graph: Graph, record: dict[str, Any], parts: Iterable[str | Table]) -> None:
        """Print the record as JSON, or the parts, and name the files written; nothing if the result is on stdout."""
        files = {name: path for name, path in vars(self).items() if name != "as_json"}
        if STREAM in files.values():
            return
        if self.as_json:
            written = {option: path and str(path) for option, path in files.items()}
            terminal.emit({"file": str(file), **terminal.sizes(graph), **record, **written})
            return
        terminal.line(f"{file}: {terminal.sentence(graph)}")
        for part in parts:
            terminal.line(part) if isinstance(part, str) else terminal.show(part)
        for path in filter(None, files.values()):
            terminal.line(f"wrote {path}")

    def tell_rows(
        self, file: Path, graph: Graph, record: dict[str, Any], title: str, rows: list[dict[str, Any]], wall: float
    ) -> None:
        """Print rows of a result as a table, or as `top` in JSON."""
        record |= {"weights": graph.is_weighted, "top": rows, "wall_seconds": wall}
        self.tell(file, graph, record, [terminal.table_of(title, rows), f"time {wall:,.2f} s"])


@dataclass(frozen=True)
class Drawn(Written):
    """Output files of a result and of its picture."""

    plot: Path | None = None


def columns(result: Tabled) -> Columns:
    """The columns of a result: first the names of its rows, then the values."""
    return {**result._names(), **result._columns()}


def rows(result: Tabled, places: Iterable[int]) -> list[dict[str, Any]]:
    """Some rows of a result by title; None for infinite or unknown numbers, which JSON cannot represent."""
    made = {title: column[list(places)].tolist() for title, column in columns(result).items()}
    for column in made.values():
        column[:] = [None if isinstance(x, float) and not np.isfinite(x) else x for x in column]
    return [dict(zip(made, row, strict=True)) for row in zip(*made.values(), strict=True)]


def check(path: Path, endings: tuple[str, ...], library: str | None, extra: str) -> None:
    """Raise an error if this file cannot be written: unknown extension, missing folder or missing library."""
    if not path.name.lower().endswith(endings):
        raise FormatError(f"an unknown extension; use {', '.join(endings)}", path)
    checked(path)
    if library is not None and importlib.util.find_spec(library) is None:
        raise EngineError(f"writing {path} needs {library}, which is not installed; run: {install(extra)}")


def timed(title: str, call: Callable[[], Result]) -> tuple[Result, float]:
    """The result of a call and its wall-clock time; with a title, the elapsed time is shown."""
    with Meter(title, None, None if title else False):
        began = time.perf_counter()
        return call(), time.perf_counter() - began


def write_columns(path: Path, columns: Columns) -> None:
    """Write the columns in the format of the file's extension. An existing file is replaced only on success."""
    name = path.name.lower()
    try:
        if path == STREAM:
            return _write_csv(sys.stdout.buffer, columns)
        with replacing(path, packed=name.endswith(".gz")) as stream:
            if name.endswith(".npz"):
                # Objects are written as text: NumPy could only pickle them, and loading a pickle can run any code.
                objects = {title: column.tolist() for title, column in columns.items() if column.dtype == object}
                texts = {title: np.array(["" if x is None else str(x) for x in row]) for title, row in objects.items()}
                write_arrays(stream, columns | texts, packed=True)
            elif name.endswith(".parquet"):
                import pyarrow as pa
                import pyarrow.parquet as pq

                pq.write_table(pa.table({title: _of_one_kind(column) for title, column in columns.items()}), stream)
            else:
                _write_csv(stream, columns)
    except UnicodeEncodeError as error:
        wrong = f"label {error.object[:40]!r} contains half of a surrogate pair, which is not text; write .npz"
        raise FormatError(wrong, path) from None


def _write_csv(stream: IO[bytes], columns: Columns) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for first in range(0, max(map(len, columns.values())), _ROWS_AT_ONCE):
        part = [column[first : first + _ROWS_AT_ONCE].tolist() for column in columns.values()]
        writer.writerows(zip(*part, strict=True))
    text.detach()  # the caller closes the stream


def _of_one_kind(column: npt.NDArray[Any]) -> Any:
    """A Parquet column has one type: labels of several types become text."""
    if column.dtype != object:
        return column
    kinds = {type(value) for value in column.tolist()} - {type(None)}
    if kinds <= {str} or kinds <= {int}:
        return column.tolist()
    return [None if value is None else str(value) for value in column.tolist()]


# ------------------------------------------------------------------ pictures


@contextmanager
def page(path: Path, width: float, height: float) -> Iterator[Any]:
    """An empty figure, written to the file at the end of the block. It needs no display and changes no global state."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style: Any = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK)
    style |= {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True}
    style |= {"grid.color": PALE, "svg.hashsalt": "hopwave"}  # deterministic SVG files
    with rc_context(style):
        figure = Figure(figsize=(width, height), dpi=150, layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        yield figure
        with replacing(path) as stream:
            figure.savefig(stream, format=path.suffix[1:].lower())


def draw_levels(path: Path, result: Any) -> None:
    """The vertices of each level, coloured by direction, and the time of each level."""
    with page(path, 8, 5) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        figure.suptitle(short(f"{terminal.title(result)}: {terminal.reach(result)}", 90), fontweight="bold")
        result.plot(above).set_xlabel("")
        later = terminal.levels(result)[1:]
        times = [seconds * 1e3 for *_, seconds in later]
        bars(below, [row[0] for row in later], times, [row[1].partition("(")[0] for row in later])
        below.set(xlabel="hops from the source", ylabel="milliseconds")


def draw_scores(path: Path, result: Any, top: int) -> None:
    """The distribution of the scores, and the highest scores."""
    with page(path, 11, min(max(5, min(top, len(result)) / 4), 40)) as figure:  # a bar needs a quarter of an inch
        left, right = figure.subplots(1, 2, width_ratios=[3, 2])
        title = "; ".join([f"{result.name.capitalize()} of {len(result):,} {result._things}", *result._about()])
        figure.suptitle(short(title, 120), fontweight="bold")
        distribution(left, result._columns()[result.name], result.name)
        result.plot(right, top=max(1, top))
