"""How every command prints: tables and bars on stdout, or only JSON; one-line errors on stderr."""

import json
import math
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from hopwave.graph import Graph
from hopwave.results.search import BFSResult, ShortestPaths
from hopwave.results.tables import first_names

# The colour of each direction in tables.
COLOURS = {"push": "cyan", "pull": "magenta", "source": "white"}
# Control characters that json.dumps does not escape: DEL, C1, and characters that change the direction of text.
_CONTROL = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
MOST_ROWS = 40  # maximum rows of a table of levels


class Hangup(Exception):
    """The reader of the output has closed the pipe, as in `hopwave plans | head`."""


class CheckFailed(Exception):
    """A check has failed: exit code 1. `everywhere`: every MPI rank raises this error."""

    everywhere = False


# ------------------------------------------------------------------ streams


class _Console(Console):
    def on_broken_pipe(self) -> None:
        self.quiet = True
        raise Hangup


def console() -> Console:
    """stdout as a rich console; at least 120 columns wide if it is not a terminal, so that tables are not cut."""
    out = _Console(highlight=False, emoji=False, markup=False)
    if not out.is_terminal and out.width < 120:
        out.width = 120
    return out


def printable(text: str) -> str:
    """A label or a path for a terminal: control characters, which could move the cursor, are escaped."""
    if text.isprintable():
        return text
    plain = (c.isprintable() or unicodedata.category(c) == "Zs" for c in text)
    return "".join(c if ok else c.encode("unicode_escape").decode() for c, ok in zip(text, plain, strict=True))


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def show(*parts: RenderableType) -> None:
    """Print tables and text to stdout."""
    out = console()
    for part in parts:
        out.print(part)


def line(text: str = "", style: str = "") -> None:
    """Print text to stdout. Lines are not wrapped, because they may contain a path to copy."""
    console().print(Text(_lines(text), style=style), soft_wrap=True)


def emit(value: dict[str, Any]) -> None:
    """Print one JSON object to stdout. NumPy's numbers become Python's; labels of types that JSON lacks become text."""
    plain: Any = {"default": lambda value: value.tolist() if hasattr(value, "tolist") else str(value)}
    text = json.dumps(value, **plain, allow_nan=False, ensure_ascii=False)
    try:
        print(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text), flush=True)
    except BrokenPipeError:  # click would exit with 1
        raise Hangup from None


def to_stderr(kind: str, message: str) -> None:
    """Print an error, a warning or a note to stderr, as one line; an empty message prints nothing."""
    with suppress(OSError, ValueError):  # stderr is closed: nothing can be printed
        if message:
            print(f"hopwave: {kind}:", printable(" ".join(message.split())), file=sys.stderr, flush=True)


@contextmanager
def escaping_unicode() -> Iterator[None]:
    """Print characters outside the terminal's encoding as \\u… instead of raising an error."""
    streams = [stream for stream in (sys.stdout, sys.stderr) if hasattr(stream, "reconfigure")]
    before = [stream.errors for stream in streams]
    for stream in streams:
        stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        for stream, errors in zip(streams, before, strict=True):
            stream.reconfigure(errors=errors)


# ------------------------------------------------------------------ tables and numbers


def table(
    title: str,
    *columns: str,
    rows: Iterable[Sequence[Any]] = (),
    numbers: Sequence[int] = (),
    caption: str | None = None,
) -> Table:
    """A table in hopwave's style; `numbers` are the columns to align right."""
    made = Table(title=printable(title), caption=caption, box=SIMPLE_HEAD, title_justify="left", caption_justify="left")
    made.title_style, made.caption_style = "bold", "dim"
    for place, name in enumerate(columns):
        made.add_column(name, justify="right" if place in numbers else "left", no_wrap=place in numbers)
    for row in rows:
        made.add_row(*row)
    return made


def table_of(title: str, rows: Sequence[dict[str, Any]]) -> Table:
    """A table of rows by header: numbers, labels, and paths as lists; – for missing values."""

    def cell(value: Any) -> str:
        if value is None or isinstance(value, float):
            return "–" if value is None else f"{value:,g}"
        return printable(" → ".join(map(str, value)) if isinstance(value, list) else str(value))

    heads = list(rows[0]) if rows else []
    numbers = [place for place, name in enumerate(heads) if not isinstance(rows[0][name], str | list)]
    return table(title, *heads, rows=[list(map(cell, row.values())) for row in rows], numbers=numbers)


def facts(title: str, pairs: dict[str, str]) -> Table:
    """A table of two columns: a name and its value."""
    made = table(title, "", "", rows=((Text(name), Text(_lines(value))) for name, value in pairs.items()))
    made.show_header, made.columns[0].style = False, "dim"
    return made


def bar(share: float, width: int = 40, style: str = "cyan") -> Text:
    """A bar of share × width characters, rounded up: a share above 0 is always visible."""
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    return Text(("█" if is_unicode else "#") * math.ceil(min(max(share, 0.0), 1.0) * width), style=style)


def bar_width(taken: int) -> int:
    """The length of the longest bar if the other columns need `taken` characters."""
    return max(10, min(60, console().width - taken))


def ranking(title: str, heads: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Table:
    """The highest scores with bars: rows of a name, a score and further numbers, below `heads`."""
    made = table(title, "", *heads, "", numbers=(0, *range(2, 1 + len(heads))))
    most = max((row[1] for row in rows if row[1] is not None), default=0.0) or 1.0
    width = bar_width(20 + 10 * len(heads) + max((len(row[0]) for row in rows), default=0))
    for place, (name, *numbers) in enumerate(rows, start=1):
        made.add_row(str(place), printable(name), *map(score, numbers), bar((numbers[0] or 0.0) / most, width))
    return made


def distribution(title: str, what: str, names: Iterable[str], counts: Sequence[int]) -> Table:
    """The number of vertices per value, as counts, shares and bars."""
    width, most, total = bar_width(46), max(counts, default=0) or 1, sum(counts) or 1
    cells = ((f"{count:,}", f"{100 * count / total:.2f}", bar(count / most, width)) for count in counts)
    rows = ((name, *row) for name, row in zip(names, cells, strict=True))
    return table(title, what, "vertices", "%", "", rows=rows, numbers=(0, 1, 2))


def score(value: float | None) -> str:
    """A score for a table."""
    if value is None:
        return "unknown"
    return f"{value:,.1f}" if value >= 1000 else f"{value:.5g}"


def milliseconds(seconds: float) -> str:
    """Milliseconds for a table, always with three decimals, so that the digits of a column align."""
    return f"{seconds * 1e3:,.3f}"


# ------------------------------------------------------------------ graphs and searches in words


def sizes(graph: Graph) -> dict[str, Any]:
    """The size of a graph, for the JSON of every command. An undirected edge counts 1 in `edges` and 2 in `m`."""
    return {"n": graph.n, "m": graph.m, "edges": graph.number_of_edges, "directed": graph.directed}


def record(result: BFSResult | ShortestPaths, *names: str) -> dict[str, Any]:
    """Sources, plan and these attributes of a search, for the JSON of a command."""
    about: dict[str, Any] = {"sources": [result.graph.label(start) for start in result.sources]}
    about |= {"plan": result.plan.name, "why": result.plan.why}
    return about | {name: getattr(result, name) for name in names}


def sentence(graph: Graph, labels: bool = True) -> str:
    """The size and kind of a graph, in a few words."""
    things, kind = ("arcs", "directed") if graph.directed else ("edges", "undirected")
    named = ", with labels" if labels and graph.labels is not None else ""
    named += ", with weights" if graph.is_weighted else ""
    return f"{graph.n:,} vertices, {graph.number_of_edges:,} {things}, {kind}{named}"


def title(result: BFSResult | ShortestPaths, what: str = "Search") -> str:
    """The sources of the search, as a heading."""
    return f"{what} from {first_names(result.graph, result.sources)}"


def reach(result: BFSResult) -> str:
    """How many vertices were reached, within how many hops."""
    share = math.floor(1000 * result.reached / result.graph.n) / 10  # rounded down, so that 100% means all vertices
    hops = "hop" if result.depth == 1 else "hops"
    return f"{result.reached:,} of {result.graph.n:,} vertices ({share:.1f}%) within {result.depth:,} {hops}"


def levels(result: BFSResult) -> list[tuple[int, str, int, float]]:
    """(depth, step, vertices, seconds) of the source and of every level that was computed; the last may be empty."""
    known = {level.depth: (level.step, level.seconds) for level in result.trace or ()}
    found = np.bincount(result.distances[result.distances >= 0], minlength=max(known, default=0) + 1).tolist()
    steps = ("source", 0.0), *(known.get(depth, ("", 0.0)) for depth in range(1, len(found)))
    return [(depth, step, found[depth], spent) for depth, (step, spent) in enumerate(steps)]


def level_table(result: BFSResult, every: bool = False) -> Table:
    """The table of levels, with a bar for the vertices of each level; of many levels, every k-th is shown."""
    found = levels(result)
    k = 1 if every else -(-len(found) // MOST_ROWS)
    caption = None if k == 1 else f"one in {k} of {len(found):,} levels; --all-levels shows each"
    made = table(title(result), "level", "step", "vertices", "", "ms", numbers=(0, 2, 4), caption=caption)
    width, most = bar_width(46 + max(len(row[1]) for row in found)), max(row[2] for row in found)
    for depth, step, vertices, spent in found[::k]:
        colour, time = COLOURS.get(step.partition("(")[0], "white"), milliseconds(spent) if depth else ""
        made.add_row(str(depth), Text(step, style=colour), f"{vertices:,}", bar(vertices / most, width, colour), time)
    return made
