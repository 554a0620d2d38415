"""`hopwave graph500`: the Graph500 benchmark, in this process or, under mpiexec, over all ranks."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from hopwave.cli import terminal
from hopwave.progress import Meter


def graph500(
    scale: Annotated[int, typer.Option(help="2^scale vertices.")],
    edgefactor: Annotated[int, typer.Option(help="Edges a vertex.")] = 16,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    nbfs: Annotated[int, typer.Option(min=1, help="Searches, each from its own root; the rules ask for 64.")] = 64,
    seed: Annotated[int, typer.Option(help="Of the graph and of the roots.")] = 1,
    layout: Annotated[str, typer.Option(help="1d or 2d: how ranks share the graph.")] = "1d",
    sssp: Annotated[bool, typer.Option("--sssp", help="Kernel 3 too: shortest paths over random lengths.")] = False,
    threads: terminal.Threads = None,
    as_json: terminal.Json = False,
) -> None:
    """Run the Graph500 benchmark: generate, build, search, validate. Over ranks: mpiexec -n 4 hopwave graph500 ..."""
    from hopwave import graph500 as benchmark  # and with it the compiler, which other commands can do without
    from hopwave.distributed.world import started_by_mpi, world

    ranks = started_by_mpi()
    speaks = not ranks or world().rank == 0
    began = time.perf_counter()
    with Meter(f"graph500, scale {scale}", nbfs * (2 if sssp else 1), None if speaks else False) as meter:

        def searched(number: int, _: object) -> None:
            meter.update(number)

        outcome = benchmark.run(
            scale,
            edgefactor,
            device,
            nbfs,
            seed,
            layout=layout,
            threads=threads,
            ranks=ranks,
            sssp=sssp,
            progress=searched,
        )
    if speaks and as_json:
        facts = {"valid": outcome.valid, "wall_seconds": time.perf_counter() - began, **outcome.about}
        terminal.emit({**outcome.values(), **facts})
    elif speaks:
        for line in outcome.lines():
            terminal.line(line)
        about = ", ".join(f"{key} {value}" for key, value in outcome.about.items())
        terminal.line(
            f"validation: {'passed' if outcome.valid else 'FAILED'}, "
            f"{len(outcome.searches) + len(outcome.paths)} searches ({about})"
        )
    if not outcome.valid:
        bad = next(one for one in (*outcome.searches, *outcome.paths) if one.broken)
        failed = terminal.CheckFailed(f"the search from root {bad.root} broke the rules: {', '.join(bad.broken)}")
        failed.everywhere = ranks
        raise failed
