"""The whole program: its commands, its exit codes, and its one-line error messages.

0    success
1    a check or the self-test failed
2    wrong usage: an unknown command or option
3    bad input: a file, a vertex, a plan
4    an engine, the hardware, the network, or an extra that is not installed
70   a bug in hopwave
130  stopped by Ctrl-C
141  the reader of the output has closed the pipe, as in `hopwave plans | head`
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

import hopwave as hw
from hopwave.cli import generate, options, plans, terminal
from hopwave.errors import DownloadError, EngineError, HopwaveError
from hopwave.system import mpi

INTERRUPTED = 130
ON_EVERY_RANK = ("graph500", "doctor")  # commands that mpiexec may start

app = typer.Typer(
    name="hopwave",
    cls=options.Group,
    help="Distances and centralities of large graphs: searches, shortest paths, betweenness, closeness, PageRank.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # main() prints the error
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    command, started = context.invoked_subcommand, mpi.copies()
    if started == 1 or command in ON_EVERY_RANK:
        return
    if not mpi.is_first():
        raise typer.Exit(2)
    raise typer.BadParameter(
        f"mpiexec started {started} copies of 'hopwave {command}', which runs in one process: each would do all the "
        "work and write the same files; leave out mpiexec, or call hopwave.distributed in Python (docs/distributed.md)"
    )


def _add(example: str, panel: str) -> None:
    """Add the command that an example begins with: the function of that name in the module of that name."""
    name = example.partition(" ")[0]
    command: Callable[..., None] = getattr(import_module(f"hopwave.cli.{name}"), name)
    app.command(epilog=f"Example: hopwave {example}", rich_help_panel=panel, cls=options.Command)(
        options.unfolded(command)
    )


_add("demo", "Start here")
_add("doctor", "Start here")
_add("warmup", "Start here")
_add("bfs web.mtx.gz --source 0 --plot levels.png", "Compute")
_add("bc web.mtx.gz --epsilon 0.01 --out scores.csv", "Compute")
_add("closeness web.mtx.gz --top 20", "Compute")
_add("table roads.mtx.gz --sources homes.txt --targets schools.txt --out table.parquet", "Compute")
_add("accessibility roads.mtx.gz --limit 15 --limit 30 --out reach.csv", "Compute")
_add("sssp roads.mtx.gz --source 0 --target 99", "Compute")
_add("pagerank web.mtx.gz --top 20", "Compute")
_add("info web.mtx.gz", "Graph files")
_add("convert web.mtx.gz web.npz", "Graph files")
_add("fetch SNAP/email-Enron", "Graph files")
app.add_typer(generate.app, name="generate", rich_help_panel="Graph files")
_add("plans hopwave", "Plans and benchmarks")
app.command("plan", hidden=True)(plans.plans)  # `hopwave plan xbfs` reads as well
_add("bench web.mtx.gz --plan hopwave --plan xbfs", "Plans and benchmarks")
_add("graph500 --scale 20", "Plans and benchmarks")
_add("gap --scale 20", "Plans and benchmarks")
_add("paper xbfs --quick", "Plans and benchmarks")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. An error is one line on stderr.

    >>> main(["--version"])  # doctest: +ELLIPSIS
    hopwave ...
    0
    """
    _open_missing_streams()
    try:
        with terminal.escaping_unicode():
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
        terminal.error("stopped")
        return INTERRUPTED
    except SystemExit as leaving:  # --help, or click met a closed pipe
        return leaving.code if isinstance(leaving.code, int) else 0
    except Exception as error:
        if os.environ.get("HOPWAVE_DEBUG"):
            traceback.print_exc()
        message, code = _explain(error)
        world = _world()
        if world is not None and getattr(error, "everywhere", False):  # all ranks have the same error: rank 0 prints it
            message = message if world.rank == 0 else ""
        elif world is not None and message:
            world.abort(message, code)
        terminal.error(message)
        return code


def _world() -> Any:
    """The MPI ranks of this run; None if there is only one rank, or if MPI was never started."""
    module = sys.modules.get("hopwave.distributed.ranks")
    return None if module is None else module.joined()


def _explain(error: Exception) -> tuple[str, int]:
    """The message and the exit code for an exception."""
    if isinstance(error, typer.Exit):
        return "", error.exit_code
    if hasattr(error, "format_message"):  # a usage error of click, whose module depends on typer's version
        return _usage(error), 2
    if isinstance(error, terminal.CheckFailed):
        return str(error), 1
    if isinstance(error, DownloadError | EngineError | terminal.MissingExtra):
        return str(error), 4
    if isinstance(error, HopwaveError):
        return str(error), 3
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return f"{error.filename}: {reason}" if error.filename is not None else reason, 3
    if isinstance(error, MemoryError):
        return f"out of memory ({error or 'no size given'}); use a smaller graph or a machine with more memory", 4
    kind = type(error).__name__
    return f"unexpected {kind}: {error}; please report this with the output of HOPWAVE_DEBUG=1", 70


def _usage(error: Any) -> str:
    message = error.format_message().rstrip(".").removeprefix("Invalid value: ")
    if not message:  # the help has been shown
        return ""
    if getattr(error, "option_name", None) == "--weight":
        message = "No such option: --weight; to name the column of weights, give --read-option weight=NAME"
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "hopwave"
    return f"{message} See '{command} --help'" if message.endswith("?") else f"{message}; see '{command} --help'"


def _open_missing_streams() -> None:
    """Open the null device for streams that the caller has closed, which are None in Python."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w"))  # noqa: SIM115


def _point_at_nothing(stream: Any) -> None:
    """Point a stream at the null device: Python flushes stdout at exit, and a closed pipe would print an error."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
