"""`hopwave gap`: breadth-first search and betweenness by the rules of the GAP benchmark suite.

BFS: 64 trials from random sources that have an edge; every tree is validated. BC: 16 trials of 4 such sources each;
every run is checked by its certificate. The time to read or generate the graph is not counted, nor that of the searches
before the trials: they compile, and make what later ones use (rows in another order, copies on a GPU).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import hopwave as hw
from hopwave import engines
from hopwave.cli import options, terminal
from hopwave.cli.files import load
from hopwave.cli.info import sentence, sizes
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.system.progress import Meter

BFS_TRIALS, BC_TRIALS, BC_SOURCES = 64, 16, 4
SEED = 27


def gap(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A graph in any format that hopwave reads; or give --scale instead."),
    ] = None,
    scale: Annotated[int | None, typer.Option(help="Generate a graph of 2^scale vertices.")] = None,
    uniform: Annotated[bool, typer.Option("--uniform", help="Generate GAP's urand instead of its kron.")] = False,
    kernel: Annotated[str, typer.Option(help="bfs, bc or both.")] = "both",
    trials: Annotated[
        int | None, typer.Option(min=1, help="The number of trials, instead of GAP's 64 for bfs and 16 for bc.")
    ] = None,
    device: options.Device = "auto",
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Time BFS and betweenness by the rules of the GAP benchmark suite, and check every result.

    Loading, compiling and preparing the graph are not timed: searches before the trials do that.
    """
    if (file is None) == (scale is None):
        raise typer.BadParameter("give either a file, or --scale to generate a graph")
    if kernel not in ("bfs", "bc", "both"):
        raise typer.BadParameter(f"--kernel {kernel} is not known; use bfs, bc or both")
    if uniform and file is not None:
        raise typer.BadParameter("--uniform is for a generated graph; leave it out, or give --scale instead of a file")
    graph = load(file, None, None, None) if file is not None else generated(scale or 0, uniform)
    sources = pick_sources(graph, max(BFS_TRIALS, BC_TRIALS * BC_SOURCES, (trials or 0) * BC_SOURCES))
    results: dict[str, dict[str, Any]] = {}
    if kernel in ("bfs", "both"):
        results["bfs"] = time_bfs(graph, sources[: trials or BFS_TRIALS], device, threads)
    if kernel in ("bc", "both"):
        groups = [sources[i : i + BC_SOURCES] for i in range(0, len(sources), BC_SOURCES)]
        results["bc"] = time_bc(graph, groups[: trials or BC_TRIALS], device, threads)
    if as_json:
        terminal.emit({**sizes(graph), **results})
        return
    shown = terminal.table(
        "GAP", "kernel", "trials", "average s", "fastest s", "slowest s", "checked", numbers=(1, 2, 3, 4)
    )
    for name, result in results.items():
        seconds = result["seconds"]
        figures = (np.mean(seconds), min(seconds), max(seconds))
        shown.add_row(name, str(len(seconds)), *(f"{figure:.6f}" for figure in figures), result["checked"])
    terminal.line(f"{file or 'generated'}: {sentence(graph)}")
    terminal.show(shown)


def generated(scale: int, uniform: bool) -> Graph:
    """GAP's two generated graphs, both undirected with 16 edges per vertex: Kronecker as in Graph500, and uniform."""
    if uniform:
        if not 0 <= scale <= 30:
            raise GraphError(f"scale={scale} is out of range; give an integer from 0 to 30")
        return hw.generate.uniform(1 << scale, 16)
    return hw.generate.kronecker(scale, 16)


def pick_sources(graph: Graph, count: int) -> list[Any]:
    """Random sources among the vertices that have an out-edge, by their labels."""
    candidates = np.flatnonzero(graph.degrees)
    if not len(candidates):
        raise GraphError("the graph has no edge, so there is no source to search from; use another graph")
    drawn = np.random.default_rng(SEED).choice(candidates, count, replace=len(candidates) < count)
    return [graph.label(vertex) for vertex in drawn.tolist()]


def prepare(graph: Graph, source: Any, device: str, threads: int | None) -> None:
    """Compile, copy to a GPU, and make what the CPU engine would make after some searches, before anything is timed."""
    found = hw.bfs(graph, source, device=device, threads=threads)
    if found.engine == "cpu":
        from hopwave.engines import cpu

        plan = found.plan.plan
        hw.bfs(graph, source, device="cpu", threads=threads, plan=plan)  # the loop of large searches
        engines.engine("cpu").load(graph, plan).prepare(cpu.neighbour_order(plan))


def time_bfs(graph: Graph, sources: list[Any], device: str, threads: int | None) -> dict[str, Any]:
    """One search per trial; a wrong tree is an error."""
    prepare(graph, sources[0], device, threads)
    seconds = []
    with Meter("gap bfs", len(sources), None) as meter:
        for number, source in enumerate(sources, start=1):
            began = time.perf_counter()
            found = hw.bfs(graph, source, device=device, threads=threads)
            seconds.append(time.perf_counter() - began)
            verdict = hw.validate(graph, source, found.distances, found.predecessors)
            if not verdict.ok:
                raise terminal.CheckFailed(f"bfs from {source}: {'; '.join(verdict.failures)}")
            meter.update(number)
    return {"seconds": seconds, "average": float(np.mean(seconds)), "engine": found.engine, "checked": "five rules"}


def time_bc(graph: Graph, groups: list[list[Any]], device: str, threads: int | None) -> dict[str, Any]:
    """Four sources per trial; a run that fails its certificate raises an error."""
    how = {"device": device, "threads": threads, "normalized": False, "progress": False}
    for group in groups[:2]:  # the second finds all that the first has made
        hw.betweenness_centrality(graph, sources=group, **how)  # type: ignore[arg-type]
    seconds, worst = [], 0.0
    with Meter("gap bc", len(groups), None) as meter:
        for number, group in enumerate(groups, start=1):
            began = time.perf_counter()
            found = hw.betweenness_centrality(graph, sources=group, **how)  # type: ignore[arg-type]
            seconds.append(time.perf_counter() - began)
            worst = max(worst, found.certificate.error)
            meter.update(number)
    average = float(np.mean(seconds))
    return {"seconds": seconds, "average": average, "engine": found.engine, "checked": f"certificate {worst:.1e}"}
