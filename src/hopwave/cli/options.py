"""Options of commands: the lines of a command's docstring declare them, `typed` passes them to typer.

A line is `name [--flag] [-f] [METAVAR] [min=N] [@Panel]: help`. Without a flag, the option is `--name`. Positional
parameters are arguments. The fields of a record, a dataclass among the parameters, are also options.
"""

import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

import hopwave as hw

KEYWORD = inspect.Parameter.KEYWORD_ONLY
LINE = re.compile(r"(\w+)((?: +[^\s:]+)*):(?: |$)")
SHARED = """
    file FILE: Graph in any format that hopwave reads, optionally compressed with gzip; - reads standard input.
    target_file OUT: File to write; its extension selects the format. - writes to standard output.
    directed --directed/--undirected @Reading: Read arcs unchanged, or add the reverse arcs. Default: as recorded in
        the file (CSV: undirected).
    format @Reading: Format of the file, if neither its extension nor its content identifies it.
    read_options --read-option -r NAME=VALUE @Reading: Any other argument of hopwave.read, such as n=100, names=True
        or source=from. Repeat for several.
    combine @Reading: How to merge the weights of repeated edges. Default: different weights raise an error.
    no_weights @Reading: Ignore the weights of the file: every edge counts 1.
    to_format --to FORMAT: Format of OUT.
    write_options --write-option -w NAME=VALUE: Any other argument of hopwave.write, such as isolated=False. Repeat for
        several.
    weights: Follow the weights of the file instead of counting hops.
    source -s: Vertex to start from: a label, or a number if the graph has no labels. Repeat for several sources.
        Default: the vertex of highest degree.
    limit: Maximum length of a path.
    limits --limit: Maximum distance; separate several by commas, as in 500,1000.
    direction: Follow arcs forwards (out) or backwards (in).
    seed: Seed of the sample; the same seed draws the same sample.
    plan @Running: Plan of 'hopwave plans'; auto chooses one.
    device @Running: auto, cpu or cuda.
    threads @Running: Threads of the CPU engine. Default: HOPWAVE_NUM_THREADS, else all cores.
    top min=0 @Output: Number of scores to show.
    out @Output: Write the result, one row per vertex or edge: .csv, .csv.gz, .parquet or .npz; - prints it as CSV and
        nothing else.
    plot @Output: Draw a picture: .png, .svg or .pdf.
    as_json --json @Output: Print one JSON object to stdout and nothing else.
"""


COMPLETIONS: dict[str, Callable[[], Iterable[str]]] = {  # words that the shell completes
    "plan": lambda: (plan.name for plan in hw.plans()),
    "device": lambda: ("auto", "cpu", "cuda", "reference"),
    "interval": lambda: ("guaranteed", "normal"),
}


def declared(lines: str, names: Iterable[str]) -> dict[str, tuple[list[str], str]]:
    """For each declared option: its flags and other words, and its help."""
    joined = re.sub(r"\n +", " ", inspect.cleandoc(lines)).splitlines()
    found = {match[1]: (match[2].split(), line[match.end() :]) for line in joined if (match := LINE.match(line))}
    return {name: line for name, line in found.items() if name in names}


def annotated(kind: Any, name: str, is_argument: bool, words: list[str], text: str) -> Any:
    """The type of a parameter, annotated for typer."""
    if kind is typer.Context:
        return kind
    more: dict[str, Any] = {"help": text}
    if kind is bool or kind == bool | None:
        more["metavar"] = " "  # newer versions of typer put <bool> behind each flag
    flags = [word for word in words if word.startswith("-")]
    if not any(flag.startswith("--") for flag in flags):
        flags.insert(0, f"--{name.replace('_', '-')}")
    for word in words:
        if word.startswith("@"):
            more["rich_help_panel"] = {"@Reading": "Reading the file"}.get(word, word[1:])
        elif word.startswith("min="):
            more["min"] = int(word[4:])
        elif not word.startswith("-"):
            more["metavar"] = word
    if name in COMPLETIONS:
        more["autocompletion"] = lambda incomplete: [w for w in COMPLETIONS[name]() if w.startswith(incomplete)]
    return Annotated[kind, typer.Argument(**more) if is_argument else typer.Option(*flags, **more)]


def typed(command: Callable[..., None], more: dict[str, tuple[Any, Any, bool]] | None = None) -> Callable[..., None]:
    """The command with a signature that typer reads: one parameter per argument and option; `more` for `**given`."""
    hints = get_type_hints(command)
    records: dict[str, Any] = {name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind)}
    wanted: dict[str, tuple[Any, Any, bool]] = {}  # name → type, default, whether it is an argument
    for given in inspect.signature(command).parameters.values():
        if given.name in records:
            kinds = get_type_hints(records[given.name])
            fields = dataclasses.fields(records[given.name])
            wanted |= {field.name: (kinds[field.name], field.default, False) for field in fields}
        elif given.kind is given.VAR_KEYWORD:
            wanted |= more or {}
        else:
            wanted[given.name] = hints[given.name], given.default, given.kind is not given.KEYWORD_ONLY
    about, _, last = inspect.cleandoc(command.__doc__ or "").rpartition("\n\n")
    own = declared(last, wanted)
    lines = declared(SHARED, wanted) | own
    order = sorted(wanted, key=lambda name: not wanted[name][2] and [*own, name].index(name))  # as in the docstring
    parameters = [
        inspect.Parameter(
            name, KEYWORD, default=default, annotation=annotated(kind, name, is_argument, *lines.get(name, ([], "")))
        )
        for name, (kind, default, is_argument) in ((name, wanted[name]) for name in order)
    ]

    @wraps(command)
    def called(**given: Any) -> None:
        for name, kind in records.items():
            given[name] = kind(**{part.name: given.pop(part.name) for part in dataclasses.fields(kind)})
        try:
            command(**given)
        except KeyboardInterrupt as stopped:  # here, because newer versions of typer catch it
            for note in getattr(stopped, "__notes__", ()):  # how to resume
                print(note, file=sys.stderr)
            raise

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    called.__doc__ = about if own else inspect.cleandoc(command.__doc__ or "")
    return called
