"""`hopwave graph500`: the Graph500 benchmark, in this process or, under mpiexec, on all ranks."""

from __future__ import annotations

import os
import time
from typing import Annotated

import typer

from hopwave.cli import options, terminal
from hopwave.system import mpi
from hopwave.system.progress import Meter


def graph500(
    scale: Annotated[int, typer.Option(help="The graph has 2^scale vertices.")],
    edgefactor: Annotated[int, typer.Option(help="Edges per vertex.")] = 16,
    device: options.Device = "auto",
    nbfs: Annotated[
        int, typer.Option(min=1, help="How many searches, each from another root; the rules require 64.")
    ] = 64,
    seed: Annotated[int, typer.Option(help="Seed of the graph and of the roots.")] = 1,
    layout: Annotated[str, typer.Option(help="1d or 2d: how the graph is distributed over the ranks.")] = "1d",
    sssp: Annotated[
        bool, typer.Option("--sssp", help="Also run kernel 3: shortest paths with random edge lengths.")
    ] = False,
    plan: options.Plan = "auto",
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Run the Graph500 benchmark: generate, build, search, validate. With MPI: mpiexec -n 4 hopwave graph500 …"""
    from hopwave import graph500 as benchmark  # imports Numba, which other commands do not need
    from hopwave.distributed.ranks import world

    ranks = mpi.copies() > 1 or "PMIX_RANK" in os.environ  # started by mpiexec, srun, …
    prints = not ranks or world().rank == 0
    began = time.perf_counter()
    with Meter(f"graph500, scale {scale}", nbfs * (2 if sssp else 1), None if prints else False) as meter:

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
            plan=plan,
            progress=searched,
        )
    about = dict(outcome.about)
    if outcome.waiting_share is not None:
        about["waiting_share"] = round(outcome.waiting_share, 4)
    if prints and as_json:
        facts = {"valid": outcome.valid, "wall_seconds": time.perf_counter() - began, **about}
        terminal.emit({**outcome.values(), **facts})
    elif prints:
        for line in outcome.lines():
            terminal.line(line)
        words = ", ".join(f"{key} {value}" for key, value in about.items())
        terminal.line(
            f"validation: {'passed' if outcome.valid else 'FAILED'}, "
            f"{len(outcome.searches) + len(outcome.paths)} searches ({words})"
        )
    if not outcome.valid:
        bad = next(one for one in (*outcome.searches, *outcome.paths) if one.broken)
        failed = terminal.CheckFailed(f"the search from root {bad.root} broke the rules: {', '.join(bad.broken)}")
        failed.everywhere = ranks
        raise failed
