"""The program: its commands, one-line error messages, and exit codes: those of the help, 70 for a bug in hopwave,
and 141 if the reader of the output has closed the pipe, as in `hopwave plans | head`."""

import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

import hopwave as hw
from hopwave.cli import benchmarks, graphs, options, scores, searches, start, terminal, warmup
from hopwave.errors import DownloadError, EngineError, HopwaveError
from hopwave.system import mpi

INTERRUPTED = 130
ON_EVERY_RANK = ("graph500", "doctor")  # commands that mpiexec may start
COMMANDS: dict[str, dict[str, Callable[..., None]]] = {  # panel → example → command
    "Start here": {"demo": start.demo, "doctor": start.doctor, "warmup": warmup.warmup},
    "Compute": {
        "bfs web.mtx.gz --source 0 --plot levels.png": searches.bfs,
        "bc web.mtx.gz --epsilon 0.01 --out scores.csv": scores.bc,
        "closeness web.mtx.gz --top 20": scores.closeness,
        "sssp roads.mtx.gz --source 0 --target 99": searches.sssp,
        "routes roads.mtx.gz --source 0 --target 99 -k 3": searches.routes,
        "isochrones roads.mtx.gz --source 0 --limit 500,1000": searches.isochrones,
        "nearest roads.mtx.gz --facilities schools.txt --out nearest.csv": searches.nearest,
        "table roads.mtx.gz --sources homes.txt --targets schools.txt --out table.parquet": searches.table,
        "accessibility roads.mtx.gz --limit 15,30 --out reach.csv": searches.accessibility,
        "pagerank web.mtx.gz --top 20": scores.pagerank,
        "components web.mtx.gz --strong": scores.components,
        "cores web.mtx.gz --out cores.csv": scores.cores,
    },
    "Graph files": {
        "info web.mtx.gz": graphs.info,
        "convert web.mtx.gz web.npz": graphs.convert,
        "fetch SNAP/email-Enron": graphs.fetch,
        "generate kronecker out.mtx.gz --scale 16": graphs.generate,
    },
    "Plans and benchmarks": {
        "plans hopwave": benchmarks.plans,
        "bench web.mtx.gz --plan hopwave --plan xbfs": benchmarks.bench,
        "graph500 --scale 20": benchmarks.graph500,
        "paper turbobfs --quick": benchmarks.paper,
    },
}
OTHER_NAMES = (  # beginnings of names that users try, and the command to use
    "betweenness=bc edge_betweenness=bc shortest_path=sssp dijkstra=sssp k_shortest_paths=routes distance_table=table "
    "search=bfs closeness=closeness harmonic=closeness connected=components core_numbers=cores k_core=cores"
)

app = typer.Typer(
    name="hopwave",
    help="Distances and centralities of large graphs: searches, shortest paths, betweenness, closeness, PageRank.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # main() prints the error
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for panel, commands in COMMANDS.items():
    for example, command in commands.items():
        name = example.partition(" ")[0]
        more: dict[str, Any] = {"rich_help_panel": panel, "epilog": f"Example: hopwave {example}"}
        if command is graphs.generate:
            made = typer.Typer(invoke_without_command=True, subcommand_metavar="KIND OUT [OPTIONS]")
            made.callback(epilog=more["epilog"])(options.typed(command))
            for kind in hw.generate.generators().values():
                made.command(graphs.spelled(kind.name))(graphs.generator(kind))
            app.add_typer(made, name=name, rich_help_panel=panel)
        else:
            app.command(name, **more)(options.typed(command))
app.command("plan", hidden=True)(options.typed(benchmarks.plans))  # `hopwave plan xbfs` also reads well


def _version(wanted: bool) -> None:
    if wanted:
        terminal.line(f"hopwave {hw.__version__}")
        raise typer.Exit()


@app.callback(
    epilog="Exit codes: 0 success, 1 a check failed, 2 wrong usage, 3 bad input, 4 engine, hardware or network, "
    "130 Ctrl-C."
)
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.", metavar=" "),
    ] = False,
) -> None:
    command, started = context.invoked_subcommand, mpi.copies()
    if started == 1 or command in ON_EVERY_RANK:
        return
    if not mpi.is_first():
        raise typer.Exit(2)
    raise typer.BadParameter(
        f"mpiexec started {started} copies of 'hopwave {command}', which runs in one process: each would do all the "
        "work and write the same files; omit mpiexec, or call hopwave.distributed in Python (docs/distributed.md)"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. An error is one line on stderr.

    >>> main(["--version"])  # doctest: +ELLIPSIS
    hopwave ...
    0
    """
    for name in ("stdin", "stdout", "stderr"):  # a stream that the caller has closed is None
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w"))  # noqa: SIM115
    try:
        with terminal.escaping_unicode(), warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: terminal.to_stderr("warning", str(message))
            answer = app(
                args=None if arguments is None else list(arguments), prog_name="hopwave", standalone_mode=False
            )
            sys.stdout.flush()
        if answer == INTERRUPTED:  # newer versions of typer catch Ctrl-C themselves
            raise KeyboardInterrupt
        return answer if isinstance(answer, int) else 0
    except (terminal.Hangup, BrokenPipeError):
        _point_at_nothing(sys.stdout)
        return 141
    except (KeyboardInterrupt, typer.Abort):
        terminal.to_stderr("error", "stopped")
        return INTERRUPTED
    except SystemExit as leaving:  # --help, or a closed pipe in click
        return leaving.code if isinstance(leaving.code, int) else 0
    except Exception as error:
        if os.environ.get("HOPWAVE_DEBUG"):
            traceback.print_exc()
        message, code = _explain(error)
        ranks = sys.modules.get("hopwave.distributed.ranks")
        world: Any = None if ranks is None else ranks.joined()  # None if there is one rank, or MPI was never started
        if world is not None and getattr(error, "everywhere", False):  # all ranks have the same error: rank 0 prints it
            message = message if world.rank == 0 else ""
        elif world is not None and message:
            world.abort(message, code)
        terminal.to_stderr("error", message)
        return code


def _explain(error: Exception) -> tuple[str, int]:
    """The message and the exit code for an exception."""
    if isinstance(error, typer.Exit):
        return "", error.exit_code
    if hasattr(error, "format_message"):  # a usage error of click, whose module depends on typer's version
        return _usage(error), 2
    for kinds, code in ((terminal.CheckFailed, 1), (DownloadError | EngineError, 4), (HopwaveError, 3)):
        if isinstance(error, kinds):
            text = str(error)
            return text if "on the command line" in text else text.replace("weights=False", "--no-weights"), code
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return f"{error.filename}: {reason}" if error.filename is not None else reason, 3
    if isinstance(error, MemoryError):
        return f"out of memory ({error or 'no size given'}); use a smaller graph or a machine with more memory", 4
    kind = type(error).__name__
    return f"unexpected {kind}: {error}; please report this with the output of HOPWAVE_DEBUG=1", 70


def _usage(error: Any) -> str:
    message = error.format_message().rstrip(".").removeprefix("Invalid value: ").replace("Value error, ", "")
    if not message:  # the help has been shown
        return ""
    if getattr(error, "option_name", None) == "--weight":
        message = "No such option: --weight; to select the column of weights, pass --read-option weight=NAME"
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "hopwave"
    if message.startswith("No such option: --out") and re.match("hopwave (generate|convert)", command):
        message = f"No such option: --out; write the file without an option: {command} OUT"
    for wrong in getattr(error.__context__, "errors", list)():  # newer versions of typer convert values by pydantic
        option, _, rule = message.partition("Input should be ")
        message = f"{option}{wrong['input']!r} is not {rule.partition(',')[0]}" if rule else message
    if unknown := re.match("No such command '(.*?)'", message):
        message = _instead(unknown[1], command) or message
    return f"{message} See '{command} --help'" if message.endswith("?") else f"{message}; see '{command} --help'"


def _instead(name: str, command: str) -> str | None:
    """The message for an unknown command that has another name here, or exists only in Python; None otherwise."""
    if command.endswith(" generate"):
        return f"{name!r} is not a kind of graph; use {', '.join(map(graphs.spelled, hw.generate.generators()))}"
    word = name.lower().replace("-", "_")
    others = [other for start, other in (pair.split("=") for pair in OTHER_NAMES.split()) if word.startswith(start)]
    known = (example.partition(" ")[0] for group in COMMANDS.values() for example in group)
    others += get_close_matches(word, known, 1, 0.8)
    if others:
        return f"No such command {name!r}; use 'hopwave {others[0]}'"
    return f"No such command {name!r}; call hopwave.{word} in Python" if word in hw.__all__ else None


def _point_at_nothing(stream: Any) -> None:
    """Point a stream at the null device: Python flushes stdout at exit, and a closed pipe would print an error."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
