"""How every command speaks: tables and bars on stdout, or JSON alone; errors of one line on stderr."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout and nothing else.")]
Threads = Annotated[
    int | None,
    typer.Option("--threads", help="Threads of the CPU engine. Default: HOPWAVE_NUM_THREADS, else every core."),
]

# One colour for each direction, in tables and pictures alike.
COLOURS = {"push": "cyan", "pull": "magenta", "source": "white"}
_EIGHTHS = " ▏▎▍▌▋▊▉"


class Hangup(Exception):
    """Whoever read our output has gone: `hopwave plans | head`."""


class CheckFailed(Exception):
    """A check that the user asked for came out wrong: exit code 1. `everywhere`: on every rank of a job alike."""

    everywhere = False


class MissingExtra(Exception):
    """An optional library is needed and not installed: exit code 4.

    >>> print(MissingExtra("a picture", "matplotlib", "plot"))
    a picture needs matplotlib, which is not installed; run: pip install 'hopwave[plot]'
    """

    def __init__(self, what: str, library: str, extra: str) -> None:
        super().__init__(f"{what} needs {library}, which is not installed; run: {install(extra)}")


def install(extra: str) -> str:
    """The command that installs an extra.

    >>> install("io")
    "pip install 'hopwave[io]'"
    """
    return f"pip install 'hopwave[{extra}]'"


def need(library: str, extra: str, what: str) -> None:
    """Raise MissingExtra, before any work is done, where an optional library is not there."""
    if importlib.util.find_spec(library) is None:
        raise MissingExtra(what, library, extra)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        self.quiet = True
        raise Hangup


def console() -> Console:
    """stdout as rich sees it; wide tables keep their columns when nobody is looking."""
    out = _Console(highlight=False, emoji=False, markup=False)
    if not out.is_terminal and out.width < 120:
        out.width = 120
    return out


def show(*parts: RenderableType) -> None:
    """Write tables and text to stdout."""
    out = console()
    for part in parts:
        out.print(part)


def line(text: str = "", style: str = "") -> None:
    """Write one line of text to stdout, not wrapped: it may be a path to copy."""
    console().print(Text(text, style=style), soft_wrap=True)


def emit(value: dict[str, Any]) -> None:
    """Write one JSON object to stdout."""
    try:
        print(json.dumps(value, default=_as_json, allow_nan=False, ensure_ascii=False), flush=True)
    except BrokenPipeError:
        raise Hangup from None


def _as_json(value: Any) -> Any:
    """Numbers that are NumPy's, arrays, and names of vertices that JSON has no word for."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def error(message: str) -> None:
    """One line on stderr, whatever the message holds."""
    if message:
        with suppress(OSError, ValueError):  # nobody can be told that nobody can be told
            print("hopwave: error:", " ".join(message.split()), file=sys.stderr, flush=True)


@contextmanager
def speaking_unicode() -> Iterator[None]:
    """A vertex may be called anything: what the terminal's encoding lacks is written as \\u…, not raised."""
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
    """An empty table in the house style; `numbers` are the columns that hold numbers.

    >>> table("levels", "level", "vertices", numbers=(0, 1)).columns[0].justify
    'right'
    """
    made = Table(title=title, caption=caption, box=SIMPLE_HEAD, title_justify="left", caption_justify="left")
    made.title_style, made.caption_style = "bold", "dim"
    for place, name in enumerate(columns):
        made.add_column(name, justify="right" if place in numbers else "left", no_wrap=place in numbers)
    return made


def facts(title: str, pairs: dict[str, str]) -> Table:
    """A table of two columns: what, and its value."""
    made = table(title, "", "")
    made.show_header = False
    made.columns[0].style = "dim"
    for name, value in pairs.items():
        made.add_row(Text(name), Text(value))
    return made


def bar(share: float, width: int = 40, style: str = "cyan") -> Text:
    """A bar as long as the share of the width, to an eighth of a character; what is not nothing is never invisible.

    >>> bar(0.5, width=8).plain
    '████'
    """
    share = min(max(share, 0.0), 1.0)
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    if (sys.stdout.encoding or "utf-8").lower().replace("-", "") not in ("utf8", "utf16", "utf32"):
        return Text("#" * -(-eighths // 8), style=style)
    whole, part = divmod(eighths, 8)
    return Text("█" * whole + (_EIGHTHS[part] if part else ""), style=style)


def bar_width(taken: int) -> int:
    """How long a bar may be beside columns that take so many characters."""
    return max(10, min(60, console().width - taken))


def milliseconds(seconds: float) -> str:
    """A time for a table, to the microsecond, so that a column of them lines up.

    >>> milliseconds(0.0000123), milliseconds(1.5)
    ('0.012', '1,500.000')
    """
    return f"{seconds * 1e3:,.3f}"


def size(count: int | None) -> str:
    """Bytes for people.

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
