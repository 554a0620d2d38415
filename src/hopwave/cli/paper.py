"""`hopwave paper NAME`: the tables and figures of one of the five papers, measured here."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hopwave import engines
from hopwave.cli import options, terminal
from hopwave.system.progress import say


class Name(StrEnum):
    """The papers."""

    TURBOBFS = "turbobfs"
    HIRAGUSHI = "hiragushi"
    TURBOBC = "turbobc"
    XBFS = "xbfs"
    PUSHPULL = "pushpull"


class Device(StrEnum):
    """Where a paper is measured."""

    CPU = "cpu"
    CUDA = "cuda"


def paper(
    name: Annotated[Name, typer.Argument(help="Which paper.")],
    device: Annotated[Device, options.running(help="Where to measure.")] = Device.CPU,
    quick: Annotated[
        bool, options.running("--quick", help="Small graphs, one of each kind: under two minutes.")
    ] = False,
    seconds: Annotated[
        float | None, options.running(min=1, help="How long to measure, spread over the graphs.")
    ] = None,
    out: Annotated[Path, options.printing(help="The folder for NAME.html and NAME.jsonl.")] = Path("papers"),
    as_json: options.Json = False,
) -> None:
    """Measure every table and figure of a paper, and write one page with the paper's numbers beside ours.

    Graphs are made, taken from the folder HOPWAVE_DATA, or downloaded; where none of these can be, a graph of the same
    kind stands in, and its row says so.
    """
    engines.engine(device.value)  # raises an error at once if the engine cannot run
    from hopwave import papers
    from hopwave.papers import run

    outcome = run.measure(papers.paper(name.value), device.value, quick, say, seconds or 0.0, out)
    page, lines = run.write(outcome, out)
    counts = outcome.summary()
    if as_json:
        terminal.emit(
            {"paper": name.value, "page": str(page), "lines": str(lines), "seconds": outcome.seconds, **counts}
        )
    else:
        terminal.line(
            f"{page}: {counts['measured']} of {counts['exhibits']} tables and figures, {counts['rows']} rows measured "
            f"({counts['stand-ins']} on stand-ins), {counts['left out']} left out, in {outcome.seconds:.0f} s; "
            f"numbers in {lines}"
        )
    if outcome.wrong:
        raise terminal.CheckFailed(f"answers were wrong: {'; '.join(outcome.wrong)}")
