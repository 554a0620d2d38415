"""Options that several commands have: how to run, and what to write. Options of graph files are in `files`.

Those that belong together are the fields of a record, which a command takes as one parameter (`unfolded`).
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

import hopwave as hw
from hopwave.cli import columns, picture
from hopwave.cli.files import STREAM


class _PlainFlags:
    """A command whose help shows flags without a type: newer versions of typer put <bool> behind each."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for option in self.get_params(ctx):  # type: ignore[attr-defined]
            if getattr(option, "is_flag", False):
                option.metavar = " "
        super().format_help(ctx, formatter)  # type: ignore[misc]


class Command(_PlainFlags, TyperCommand):
    """A command of hopwave."""


class Group(_PlainFlags, TyperGroup):
    """A command with commands of its own."""


# Options below the two headings of `--help`.
running = partial(typer.Option, rich_help_panel="Running")
printing = partial(typer.Option, rich_help_panel="Output")
KEYWORD = inspect.Parameter.KEYWORD_ONLY


def plan_names(incomplete: str) -> list[str]:
    """The plans whose names begin like this, for completion in the shell.

    >>> plan_names("xbfs-s")
    ['xbfs-static', 'xbfs-sync']
    """
    return [plan.name for plan in hw.plans() if plan.name.startswith(incomplete)]


def begin_so(*words: str) -> Callable[[str], list[str]]:
    """Those of the words that begin like what was typed, for completion in the shell."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


Plan = Annotated[str, running(help="A plan of 'hopwave plans'; auto chooses one.", autocompletion=plan_names)]
Device = Annotated[str, running(help="auto, cpu or cuda.", autocompletion=begin_so("auto", "cpu", "cuda"))]
SearchDevice = Annotated[
    str, running(help="auto, cpu, cuda or reference.", autocompletion=begin_so("auto", "cpu", "cuda", "reference"))
]
Threads = Annotated[
    int | None, running("--threads", help="Threads of the CPU engine. Default: HOPWAVE_NUM_THREADS, else all cores.")
]
Picture = Annotated[Path | None, printing(help="Draw a picture: .png, .svg or .pdf.")]
ResultFile = Annotated[
    Path | None,
    printing(
        help="Write the result, one row per vertex or edge: .csv, .csv.gz, .parquet or .npz; - prints it as CSV "
        "and nothing else."
    ),
]
HighestFile = Annotated[
    Path | None,
    printing(
        help="Write the scores found, one row each: the highest (--top), or with --all or -k those of all vertices. "
        ".csv, .csv.gz, .parquet or .npz; - prints them as CSV and nothing else."
    ),
]
Json = Annotated[bool, printing("--json", help="Print one JSON object to stdout and nothing else.")]


def check_stream(out: Path | None, as_json: bool) -> None:
    """Raise an error if both the result and JSON would go to standard output."""
    if out == STREAM and as_json:
        raise typer.BadParameter("- and --json both write to standard output; give one of the two")


@dataclass(frozen=True)
class Written:
    """Where the result goes."""

    out: ResultFile = None
    as_json: Json = False

    def check(self, plan: str = "auto", task: str = "search") -> None:
        """Raise an error for an unknown plan or a file that cannot be written; called before a large graph is read."""
        if self.out is not None:
            columns.check(self.out)
        if plan != "auto":
            hw.plan(plan, task)
        check_stream(self.out, self.as_json)

    def files(self) -> dict[str, Path | None]:
        """The files to write, by option."""
        return {"out": self.out}


@dataclass(frozen=True)
class Drawn(Written):
    """Where the result and its picture go."""

    plot: Picture = None

    def check(self, plan: str = "auto", task: str = "search") -> None:
        if self.plot is not None:
            picture.check(self.plot)
        super().check(plan, task)

    def files(self) -> dict[str, Path | None]:
        return super().files() | {"plot": self.plot}


@dataclass(frozen=True)
class DrawnHighest(Drawn):
    """Where the result and its picture go, if only the highest scores are found."""

    out: HighestFile = None


def unfolded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for every field of the records among its parameters: typer reads a signature."""
    hints = get_type_hints(command, include_extras=True)
    records: dict[str, Any] = {name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)}
    parameters = []
    for given in inspect.signature(command).parameters.values():
        parts: list[tuple[str, Any, Any]] = [(given.name, given.default, hints[given.name])]
        if given.name in records:
            kinds = get_type_hints(records[given.name], include_extras=True)
            parts = [(part.name, part.default, kinds[part.name]) for part in dataclasses.fields(records[given.name])]
        parameters += [inspect.Parameter(name, KEYWORD, default=default, annotation=a) for name, default, a in parts]

    @wraps(command)
    def called(**given: Any) -> None:
        for name, kind in records.items():
            given[name] = kind(**{part.name: given.pop(part.name) for part in dataclasses.fields(kind)})
        command(**given)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called
