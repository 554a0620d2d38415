"""`hopwave generate KIND OUT`: generate a graph and write it. Kinds and options come from the list of generators."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from hopwave.cli import options, terminal
from hopwave.cli.files import STREAM, Out, WriteOptions, save, target
from hopwave.cli.info import record, sentence
from hopwave.generate import Generator, Parameter, generators
from hopwave.system.progress import Meter

ToFormat = Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="The format of OUT.")]
_KINDS = {"int": int, "float": float, "bool": bool, "numbers": str}


class Kinds(options.Group):
    """One command per generator, made when it is called, so that a new generator needs no code here."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, with hyphens for underscores."""
        return [_spelled(name) for name in generators()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None; click then reports an error."""
        found = generators().get(cmd_name.replace("-", "_"))
        if found is None:
            return None
        one = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})
        one.command(_spelled(found.name), help=found.summary, cls=options.Command)(_command(found))
        return get_command(one)


app = typer.Typer(
    cls=Kinds,
    invoke_without_command=True,
    subcommand_metavar="KIND OUT [OPTIONS]",
    epilog="Example: hopwave generate kronecker out.mtx.gz --scale 16",
)


@app.callback()
def generate(
    ctx: typer.Context,
    listing: Annotated[bool, typer.Option("--list", help="List the kinds of graphs with their options.")] = False,
    as_json: options.Json = False,
) -> None:
    """Generate a graph and write it to a file."""
    if ctx.invoked_subcommand is not None:
        if listing or as_json:
            option = "--list" if listing else "--json"
            hint = "takes no kind" if listing else f"goes after the kind: generate {ctx.invoked_subcommand} OUT --json"
            raise typer.BadParameter(f"{option} {hint}")
        return
    if not listing:
        raise typer.BadParameter("no kind of graph given; 'hopwave generate --list' lists them")
    if as_json:
        kinds = [
            {"name": kind.name, "summary": kind.summary, "options": _options(kind)} for kind in generators().values()
        ]
        terminal.emit({"generators": kinds})
        return
    caption = "hopwave generate KIND OUT --option value …; options in [ ] are optional"
    shown = terminal.table("Generators", "kind", "what it makes", "options", caption=caption)
    shown.columns[0].no_wrap, shown.columns[0].style = True, "cyan"
    for kind in generators().values():
        shown.add_row(_spelled(kind.name), kind.summary, " ".join(map(_usage, kind.parameters)))
    terminal.show(shown)


def _command(kind: Generator) -> Callable[..., None]:
    """A function whose parameters are the output file, those of the generator, and how to write the file."""

    def command(**arguments: Any) -> None:
        around = {name: arguments.pop(name) for name in ("out", "to_format", "write_options", "as_json")}
        _generate(kind, {name: value for name, value in arguments.items() if value is not None}, **around)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("out", keyword, annotation=Out)]
    for parameter in kind.parameters:
        # None means "not given": the generator has its own default.
        annotation: Any = _KINDS[parameter.kind] if parameter.required else _KINDS[parameter.kind] | None
        default = inspect.Parameter.empty if parameter.required else None
        annotation = Annotated[annotation, typer.Option(_flag(parameter), help=_help(parameter), show_default=False)]
        parameters.append(inspect.Parameter(parameter.name, keyword, default=default, annotation=annotation))
    parameters.append(inspect.Parameter("to_format", keyword, default=None, annotation=ToFormat))
    parameters.append(inspect.Parameter("write_options", keyword, default=None, annotation=WriteOptions))
    parameters.append(inspect.Parameter("as_json", keyword, default=False, annotation=options.Json))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _generate(
    kind: Generator,
    arguments: dict[str, Any],
    out: Path,
    to_format: str | None,
    write_options: list[str] | None,
    as_json: bool,
) -> None:
    target(out, to_format)
    options.check_stream(out, as_json)
    with Meter(f"generating a {_spelled(kind.name)} graph", None, None) as meter:
        graph = kind.call(arguments)
        meter.stage(f"writing {out.name}")
        save(out, graph, to_format, write_options)
    if out == STREAM:
        return
    if as_json:
        terminal.emit({"kind": kind.name, "arguments": arguments, "file": str(out), **record(graph)})
    else:
        terminal.line(f"wrote {out}: {sentence(graph)}")


def _flag(parameter: Parameter) -> str:
    name = _spelled(parameter.name)
    return f"--{name}/--no-{name}" if parameter.kind == "bool" else f"--{name}"


def _help(parameter: Parameter) -> str:
    if parameter.required:
        return ""
    what = "Numbers, separated by commas. " if parameter.kind == "numbers" else ""
    return f"{what}Default: {_shown(parameter.default)}."


def _usage(parameter: Parameter) -> str:
    if parameter.required:
        return f"--{_spelled(parameter.name)} {parameter.kind.upper()}"
    if parameter.kind == "bool":
        return f"[--{'no-' if parameter.default else ''}{_spelled(parameter.name)}]"
    value = parameter.kind.upper() if parameter.default is None else _shown(parameter.default)
    return f"[--{_spelled(parameter.name)} {value}]"


def _options(kind: Generator) -> list[dict[str, Any]]:
    return [
        {"name": parameter.name, "kind": parameter.kind, "required": parameter.required, "default": parameter.default}
        for parameter in kind.parameters
    ]


def _shown(default: Any) -> str:
    if default is None:
        return "depends on the size"
    return ",".join(f"{value:g}" for value in default) if isinstance(default, tuple) else str(default)


def _spelled(name: str) -> str:
    return name.replace("_", "-")
