"""Graph files on the command line: the options for reading and writing them, and functions that do it."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from hopwave.cli import terminal
from hopwave.errors import FormatError, IgnoredColumnWarning, LostDirectionWarning, SparseIdsWarning
from hopwave.graph import Graph
from hopwave.io import read, write
from hopwave.io.detect import by_content, by_name, by_title, unknown
from hopwave.io.format import Format as FileFormat
from hopwave.io.source import Source
from hopwave.system.progress import Meter

reading = partial(typer.Option, rich_help_panel="Reading the file")
STREAM = Path("-")  # standard input, or standard output


class Rule(StrEnum):
    """What to do with the weights of repeated edges."""

    MIN = "min"
    MAX = "max"
    SUM = "sum"
    FIRST = "first"


File = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A graph in any format that hopwave reads, also .gz; - reads standard input."),
]
Out = Annotated[
    Path,
    typer.Argument(
        metavar="OUT", help="The file to write; its extension decides the format. - writes to standard output."
    ),
]
Directed = Annotated[
    bool | None,
    reading(
        "--directed/--undirected",
        help="Read arcs as they are, or add the reverse arcs. Default: as the file says (CSV: undirected).",
    ),
]
Format = Annotated[
    str | None, reading("--format", help="The file's format, if it is not known from its name or its content.")
]
ReadOptions = Annotated[
    list[str] | None,
    reading(
        "--read-option",
        "-r",
        metavar="NAME=VALUE",
        help="An option of the format's reader, such as n=100 or source=from. Repeat for several.",
    ),
]
Combine = Annotated[
    Rule | None,
    reading(help="Which weight repeated edges keep. Without it, repeated edges with different weights are an error."),
]
NoWeights = Annotated[bool, reading("--no-weights", help="Leave out the weights of the file.")]
WriteOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--write-option",
        "-w",
        metavar="NAME=VALUE",
        help="An option of the format's writer, such as isolated=False. Repeat for several.",
    ),
]


@dataclass(frozen=True)
class Reading:
    """How to read the file, for a command that needs no weights."""

    directed: Directed = None
    format: Format = None
    read_options: ReadOptions = None


@dataclass(frozen=True)
class ReadingWeights(Reading):
    """How to read the file, for a command that counts hops, or follows weights if it is given --weights."""

    combine: Combine = None


@dataclass(frozen=True)
class ReadingLengths(ReadingWeights):
    """How to read the file, for a command that follows the weights of the file."""

    no_weights: NoWeights = False


def counted(weights: bool) -> str:
    """What distances of such a command count, for its summary; `weights`: --weights was given."""
    return "along the weights of the file" if weights else "in hops; --weights follows the weights of the file"


def load(file: Path, how: Reading, *, weights: bool = False, flag: str = "--format") -> Graph:
    """Read the graph; `flag` is the name of the option for the format.

    `weights`: --weights was given, so a file without weights is an error.
    """
    said = parsed(how.read_options, "--read-option").get("weights")
    if said is not None and not isinstance(said, bool):
        raise typer.BadParameter(f"--read-option weights={said} is neither true nor false; weight= names a column")
    if said is False and weights:
        raise typer.BadParameter("--read-option weights=false leaves weights out, --weights follows them; give one")
    if isinstance(how, ReadingLengths):
        if said is True and how.no_weights:
            raise typer.BadParameter("--read-option weights=true reads weights, --no-weights leaves them out; give one")
        return _read(file, how, not how.no_weights and said is not False, how.combine, False, flag)
    if said is True and not weights:
        remedy = "add --weights" if isinstance(how, ReadingWeights) else "leave it out"
        raise typer.BadParameter(f"--read-option weights=true reads weights, and hops need none; {remedy}")
    combine = how.combine if isinstance(how, ReadingWeights) else None
    if combine is not None and not weights:
        raise typer.BadParameter(f"--combine {combine} says which weight to keep, and hops need none; add --weights")
    if not weights and "weight" in (given := parsed(how.read_options, "--read-option")):
        remedy = "add --weights" if isinstance(how, ReadingWeights) else "leave it out"
        raise typer.BadParameter(
            f"--read-option weight={given['weight']} names a column of weights, and hops need none; {remedy}"
        )
    return _read(file, how, weights, combine, weights, flag)


def _read(file: Path, how: Reading, weights: bool, combine: Rule | None, needed: bool, flag: str) -> Graph:
    given, without = parsed(how.read_options, "--read-option"), "leave out --weights" if needed else "--no-weights"
    given.pop("weights", None)  # `load` has heeded it
    if combine is not None and not weights:
        raise typer.BadParameter(
            f"--combine {combine} says which weight to keep, and --no-weights leaves them all out; give one of the two"
        )
    if combine is not None:
        given["combine"] = str(combine)
    with warnings.catch_warnings(record=True) as told:
        for kind in (IgnoredColumnWarning, SparseIdsWarning):
            warnings.simplefilter("always", kind)
        with _seekable(file) as place:
            try:
                graph = read(place, how.format or _piped_format(file, place), how.directed, weights=weights, **given)
            except FormatError as error:
                message = str(error).replace(str(place), str(file))
                raise FormatError(reworded(message, flag, "--read-option", without)) from error
            except TypeError as error:
                raise _usage(error, given, "--read-option") from error
    for warning in told:
        message = str(warning.message).replace(", or weights=False to leave it out", "").replace(str(place), str(file))
        message = reworded(message, flag, "--read-option")
        if needed and issubclass(warning.category, IgnoredColumnWarning) and " may be weights " in message:
            raise typer.BadParameter(f"{message}, or leave out --weights to count hops")
        terminal.warning(message)
    if needed and not graph.is_weighted:
        raise typer.BadParameter(f"{file} has no weights; leave out --weights to count hops")
    return graph


@contextmanager
def _seekable(file: Path) -> Iterator[Path]:
    """The file; what comes through a pipe is copied to one first, because readers look at a file more than once."""
    if file != STREAM and not file.is_fifo():
        yield file
        return
    if file == STREAM and sys.stdin.isatty():
        raise typer.BadParameter("- reads standard input, which is this terminal; pipe a file into it, or name one")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "stdin")
        with copy.open("wb") as out, nullcontext(sys.stdin.buffer) if file == STREAM else file.open("rb") as stream:
            shutil.copyfileobj(stream, out)
        yield copy


def _piped_format(file: Path, place: Path) -> str | None:
    """The format of what came through a pipe, which has no extension: text without a signature is a table of edges,
    or an edge list if it begins with a comment. None for a file.
    """
    if place == file:
        return None
    start = Source(place, Meter("", None, False)).start()
    if not start or by_content(start) is not None:
        return None if start else "table"  # whose reader says that it is empty
    return "snap" if start.lstrip()[:1] in (b"#", b"%") else "table"


def save(
    out: Path,
    graph: Graph,
    format: str | None,
    options: list[str] | None,
    drop_labels: bool = False,
    flag: str = "--to",
) -> None:
    """Write the graph as the command's arguments say. If that fails, the old file stays as it was."""
    given = parsed(options, "--write-option")
    if drop_labels:
        given["labels"] = False
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", LostDirectionWarning)
            if out == STREAM:
                with tempfile.TemporaryDirectory() as folder:  # readers of the output get a whole file, or none of it
                    place = Path(folder, "stdout")
                    write(place, graph, format, **given)
                    sys.stdout.buffer.write(place.read_bytes())
            else:
                write(place := out, graph, format, **given)
    except FormatError as error:
        raise FormatError(reworded(str(error), flag, "--write-option")) from error
    except TypeError as error:
        raise _usage(error, given, "--write-option") from error
    for warning in told:
        message = str(warning.message).removeprefix(f"{place}: ").partition(", and give ")[0]
        terminal.note(reworded(message, flag, "--write-option"))


def target(out: Path, format: str | None, flag: str = "--to") -> FileFormat:
    """The format to write; raises a FormatError before any work is done."""
    try:
        found = by_title(format) if format is not None else by_name(out)
        if found is None:
            raise unknown(out)
    except FormatError as error:
        raise FormatError(reworded(str(error), flag, "--write-option")) from error
    return found


def reworded(message: str, format_flag: str, option_flag: str, without: str = "--no-weights") -> str:
    """The library's message, with the options of the command line instead of Python arguments.

    `without` says how the command leaves out weights.

    >>> reworded("rename it, or pass format='npz'", "--from", "-r")
    "rename it, or give --from 'npz'"
    """
    message = re.sub(r"\bdirected=(True|False)", lambda m: "--directed" if m[1] == "True" else "--undirected", message)
    message = message.replace("weights=False", without).replace("give n= ", f"give {option_flag} n=… ")
    message = message.replace("combine='min', 'max', 'sum' or 'first'", "--combine min, max, sum or first")
    message = re.sub(r"\b(pass )?format=(?=(.?))", lambda m: _flag(m, format_flag), message)
    if option_flag == "--write-option":
        message = message.replace("labels=False", "--drop-labels")
    return re.sub(
        r"\b(pass )?((?:n|names|packed|isolated|source|target|weight|header|labels)=[\w'\"])",
        rf"{option_flag} \2",
        message,
    )


def _flag(found: re.Match[str], flag: str) -> str:
    return f"{'give ' if found[1] else ''}{flag}{' ' if found[2].strip(',;') else ''}"


def _usage(error: TypeError, options: dict[str, Any], flag: str) -> Exception:
    """A usage error if options were given, because one of them is wrong; else the TypeError, a bug of hopwave."""
    return typer.BadParameter(f"{flag}: {error}") if options else error


def parsed(options: list[str] | None, flag: str) -> dict[str, Any]:
    """name=value pairs as Python values: numbers, True, False and None are recognised, the rest is text.

    >>> parsed(["n=5", "packed=true", "source=from"], "-r")
    {'n': 5, 'packed': True, 'source': 'from'}
    """
    words = {"true": True, "false": False, "none": None}
    found: dict[str, Any] = {}
    for option in options or ():
        name, equals, value = option.partition("=")
        if not equals or not name.isidentifier():
            raise typer.BadParameter(f"{flag} {option!r} is not NAME=VALUE; write, for example, n=100")
        text = value.strip()
        if text.lower() in words:
            found[name] = words[text.lower()]
        else:
            found[name] = int(text) if text.lstrip("-").isdecimal() else value
    return found
