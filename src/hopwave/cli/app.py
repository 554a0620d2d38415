"""The command as a whole: its commands, its exit codes, and its errors of one line.

0  done                              3  bad input: a file, a vertex, a plan
1  a check or the self-test failed   4  an engine, the hardware, or an extra that is not installed
2  the command was not understood    70 a fault of hopwave's own
130 stopped by Ctrl-C                141 whoever read the output went away
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer

import hopwave as hw
from hopwave.cli import bc, bench, bfs, convert, demo, doctor, gap, generate, graph500, info, plans, terminal, warmup
from hopwave.errors import EngineError, HopwaveError

INTERRUPTED = 130

app = typer.Typer(
    name="hopwave",
    help="Breadth-first search and betweenness centrality at the speed of the hardware.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # main() says what there is to say
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        terminal.line(f"hopwave {hw.__version__}")
        raise typer.Exit()


@app.callback(epilog="Exit codes: 0 done, 1 a check failed, 2 usage, 3 bad input, 4 engine or hardware, 130 Ctrl-C.")
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version and leave.")
    ] = False,
) -> None:
    pass


app.command("info")(info.info)
app.command("bfs")(bfs.bfs)
app.command("bc")(bc.bc)
app.command("convert")(convert.convert)
app.add_typer(generate.app, name="generate")
app.command("plans")(plans.plans)
app.command("bench")(bench.bench)
app.command("doctor")(doctor.doctor)
app.command("warmup")(warmup.warmup)
app.command("demo")(demo.demo)
app.command("graph500")(graph500.graph500)
app.command("gap")(gap.gap)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; what goes wrong is one line on stderr.

    >>> main(["--version"])
    hopwave 0.1.0
    0
    """
    try:
        with terminal.speaking_unicode():
            answer = app(
                args=None if arguments is None else list(arguments), prog_name="hopwave", standalone_mode=False
            )
            sys.stdout.flush()
        if answer == INTERRUPTED:  # newer versions of typer take Ctrl-C for themselves
            raise KeyboardInterrupt
        return answer if isinstance(answer, int) else 0
    except (terminal.Hangup, BrokenPipeError):
        _point_at_nothing(sys.stdout)
        return 141
    except (KeyboardInterrupt, typer.Abort):
        terminal.error("stopped")
        return INTERRUPTED
    except SystemExit as left:  # --help, and click's own way out of a broken pipe
        return left.code if isinstance(left.code, int) else 0
    except Exception as error:
        if os.environ.get("HOPWAVE_DEBUG"):
            traceback.print_exc()
        message, code = _explain(error)
        among = _ranks()
        if among is not None and getattr(error, "everywhere", False):  # every rank says the same: one of them does
            message = message if among.rank == 0 else ""
        elif among is not None and message:
            among.abort(message, code)
        terminal.error(message)
        return code


def _ranks() -> Any:
    """The ranks that this process has joined, if there are several; None where it never asked about any."""
    known = sys.modules.get("hopwave.distributed.world")
    return None if known is None else known.joined()


def _explain(error: Exception) -> tuple[str, int]:
    """What to say of an exception, and the exit code it stands for."""
    if isinstance(error, typer.Exit):
        return "", error.exit_code
    if hasattr(error, "format_message"):  # click's usage errors; where click lives depends on typer's version
        return _usage(error), 2
    if isinstance(error, terminal.CheckFailed):
        return str(error), 1
    if isinstance(error, EngineError | terminal.MissingExtra):
        return str(error), 4
    if isinstance(error, HopwaveError):
        return str(error), 3
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return f"{error.filename}: {reason}" if error.filename is not None else reason, 3
    if isinstance(error, MemoryError):
        return f"out of memory ({error or 'no size given'}); use a smaller graph or a larger machine", 4
    kind = type(error).__name__
    return f"unexpected {kind}: {error}; please report this, with what HOPWAVE_DEBUG=1 prints", 70


def _usage(error: Any) -> str:
    message = error.format_message().rstrip(".").removeprefix("Invalid value: ")
    if not message:  # the help was shown: there is nothing to add
        return ""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "hopwave"
    return f"{message}; see '{command} --help'"


def _point_at_nothing(stream: Any) -> None:
    """Python flushes stdout once more when it ends; into a closed pipe that would complain after all."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
