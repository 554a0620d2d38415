"""How every command prints: tables and bars on stdout, or only JSON; one-line errors on stderr."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from hopwave.system.optional import install

# The colour of each direction in tables.
COLOURS = {"push": "cyan", "pull": "magenta", "source": "white"}
# Control characters that json.dumps does not escape: DEL, C1, and those that change the direction of text.
_CONTROL = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_EIGHTHS = " ▏▎▍▌▋▊▉"


class Hangup(Exception):
    """The reader of our output has closed the pipe: `hopwave plans | head`."""


class CheckFailed(Exception):
    """A check has failed: exit code 1. `everywhere`: every rank of the run raises this."""

    everywhere = False


class MissingExtra(Exception):
    """A feature needs an optional library that is not installed: exit code 4.

    >>> print(MissingExtra("a picture", "matplotlib", "plot"))
    a picture needs matplotlib, which is not installed; run: pip install matplotlib
    """

    def __init__(self, what: str, library: str, extra: str) -> None:
        super().__init__(f"{what} needs {library}, which is not installed; run: {install(extra)}")


def need(library: str, extra: str, what: str) -> None:
    """Raise MissingExtra if an optional library is not installed; called before any work is done."""
    if importlib.util.find_spec(library) is None:
        raise MissingExtra(what, library, extra)


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
    r"""A label or a path for a terminal: control characters, which could move the cursor, are escaped.

    >>> printable("a\x1b[31m é")
    'a\\x1b[31m é'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or unicodedata.category(c) == "Zs" else _escaped(c) for c in text)


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def show(*parts: RenderableType) -> None:
    """Print tables and text to stdout."""
    out = console()
    for part in parts:
        out.print(part)


def line(text: str = "", style: str = "") -> None:
    """Print text to stdout. Lines are not wrapped, because they may contain a path to copy."""
    console().print(Text(_lines(text), style=style), soft_wrap=True)


def emit(value: dict[str, Any]) -> None:
    """Print one JSON object to stdout."""
    try:
        text = json.dumps(value, default=_as_json, allow_nan=False, ensure_ascii=False)
        print(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text), flush=True)
    except BrokenPipeError:
        raise Hangup from None


def _as_json(value: Any) -> Any:
    """NumPy numbers and arrays as Python's; labels of types that JSON does not have as text."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def error(message: str) -> None:
    """Print an error to stderr, as one line."""
    if message:
        _to_stderr("hopwave: error:", message)


def warning(message: str) -> None:
    """Print a warning to stderr, as one line."""
    _to_stderr("hopwave: warning:", message)


def note(message: str) -> None:
    """Print to stderr, as one line, what the result alone does not tell."""
    _to_stderr("hopwave: note:", message)


def _to_stderr(start: str, message: str) -> None:
    with suppress(OSError, ValueError):  # stderr is closed: there is nowhere to print
        print(start, printable(" ".join(message.split())), file=sys.stderr, flush=True)


@contextmanager
def escaping_unicode() -> Iterator[None]:
    """Print characters that the terminal's encoding lacks as \\u…, instead of raising an error."""
    streams = [stream for stream in (sys.stdout, sys.stderr) if hasattr(stream, "reconfigure")]
    before = [stream.errors for stream in streams]
    for stream in streams:
        stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        for stream, errors in zip(streams, before, strict=True):
            stream.reconfigure(errors=errors)


def table(title: str, *columns: str, numbers: Sequence[int] = (), caption: str | None = None) -> Table:
    """An empty table in our style; `numbers` are the columns of numbers, aligned right.

    >>> table("levels", "level", "vertices", numbers=(0, 1)).columns[0].justify
    'right'
    """
    made = Table(title=printable(title), caption=caption, box=SIMPLE_HEAD, title_justify="left", caption_justify="left")
    made.title_style, made.caption_style = "bold", "dim"
    for place, name in enumerate(columns):
        made.add_column(name, justify="right" if place in numbers else "left", no_wrap=place in numbers)
    return made


def facts(title: str, pairs: dict[str, str]) -> Table:
    """A table of two columns: a name and its value."""
    made = table(title, "", "")
    made.show_header = False
    made.columns[0].style = "dim"
    for name, value in pairs.items():
        made.add_row(Text(name), Text(_lines(value)))
    return made


def bar(share: float, width: int = 40, style: str = "cyan") -> Text:
    """A bar of share × width characters, rounded to an eighth of a character; a share above 0 is always visible.

    >>> bar(0.5, width=8).plain
    '████'
    """
    share = min(max(share, 0.0), 1.0)
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    if (sys.stdout.encoding or "utf-8").lower().replace("-", "") not in ("utf8", "utf16", "utf32"):
        return Text("#" * -(-eighths // 8), style=style)
    whole, part = divmod(eighths, 8)
    return Text("█" * whole + (_EIGHTHS[part] if part else ""), style=style)


def ranking(title: str, heads: Sequence[str], rows: Sequence[tuple[Any, ...]], taken: int) -> Table:
    """The highest scores with bars: rows of a name, a score and further numbers, below `heads`.

    `taken`: the characters of a line without the names and the bars.
    """
    made = table(title, "", *heads, "", numbers=(0, *range(2, 1 + len(heads))))
    most = max((row[1] for row in rows if not math.isnan(row[1])), default=0.0) or 1.0
    width = bar_width(taken + max((len(row[0]) for row in rows), default=0))
    for place, (name, *numbers) in enumerate(rows, start=1):
        share = 0.0 if math.isnan(numbers[0]) else numbers[0] / most
        made.add_row(str(place), name, *map(score, numbers), bar(share, width))
    return made


def score(value: float) -> str:
    """A score for a table.

    >>> score(0.56998905), score(1234567.5), score(3e-7), score(math.nan)
    ('0.56999', '1,234,567.5', '3e-07', 'unknown')
    """
    if math.isnan(value):
        return "unknown"
    return f"{value:,.1f}" if value >= 1000 else f"{value:.5g}"


def bar_width(taken: int) -> int:
    """How long a bar may be if the other columns take `taken` characters."""
    return max(10, min(60, console().width - taken))


def milliseconds(seconds: float) -> str:
    """Milliseconds for a table, always with three decimals, so that the digits of a column line up.

    >>> milliseconds(0.0000123), milliseconds(1.5)
    ('0.012', '1,500.000')
    """
    return f"{seconds * 1e3:,.3f}"


def size(count: int | None) -> str:
    """A number of bytes, in a readable unit.

    >>> size(3 << 30), size(512)
    ('3.0 GiB', '512 bytes')
    """
    if count is None:
        return "unknown"
    if count < 1024:
        return f"{count} bytes"
    value, unit = count / 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.1f} {unit}"
