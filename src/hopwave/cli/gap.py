"""`hopwave gap`: breadth-first search and betweenness by the rules of the GAP benchmark suite.

BFS: 64 trials from different sources that have an edge; every tree is validated. BC: 16 trials of 4 such sources each;
every run carries its certificate. The graph is in memory, loaded and symmetric, before any trial is timed.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import hopwave as hw
from hopwave.cli import terminal
from hopwave.cli.files import load
from hopwave.cli.info import sentence
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.progress import Meter

BFS_TRIALS, BC_TRIALS, BC_SOURCES = 64, 16, 4
SEED = 27


def gap(
    file: Annotated[Path | None, typer.Argument(help="A graph; or leave it out and say --scale.")] = None,
    scale: Annotated[int | None, typer.Option(help="Make a graph of 2^scale vertices.")] = None,
    uniform: Annotated[bool, typer.Option("--uniform", help="GAP's urand instead of its kron.")] = False,
    kernel: Annotated[str, typer.Option(help="bfs, bc or both.")] = "both",
    trials: Annotated[int | None, typer.Option(min=1, help="Fewer trials than GAP's 64 and 16.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    threads: terminal.Threads = None,
    as_json: terminal.Json = False,
) -> None:
    """Time BFS and betweenness by the rules of the GAP benchmark suite, every answer checked."""
    if (file is None) == (scale is None):
        raise typer.BadParameter("give a file, or --scale for a made graph, and not both")
    if kernel not in ("bfs", "bc", "both"):
        raise typer.BadParameter(f"--kernel {kernel} is not known; use bfs, bc or both")
    graph = load(file, None, None, None) if file is not None else made(scale or 0, uniform)
    sources = pick_sources(graph, max(BFS_TRIALS, BC_TRIALS * BC_SOURCES))
    results: dict[str, dict[str, Any]] = {}
    if kernel in ("bfs", "both"):
        results["bfs"] = time_bfs(graph, sources[: trials or BFS_TRIALS], device, threads)
    if kernel in ("bc", "both"):
        groups = [sources[i : i + BC_SOURCES] for i in range(0, len(sources), BC_SOURCES)]
        results["bc"] = time_bc(graph, groups[: trials or BC_TRIALS], device, threads)
    if as_json:
        terminal.emit({"n": graph.n, "m": graph.m, "directed": graph.directed, **results})
        return
    shown = terminal.table(
        "GAP", "kernel", "trials", "average s", "fastest s", "slowest s", "checked", numbers=(1, 2, 3, 4)
    )
    for name, result in results.items():
        seconds = result["seconds"]
        figures = (np.mean(seconds), min(seconds), max(seconds))
        shown.add_row(name, str(len(seconds)), *(f"{figure:.6f}" for figure in figures), result["checked"])
    terminal.line(f"{file or 'made'}: {sentence(graph)}")
    terminal.show(shown)


def made(scale: int, uniform: bool) -> Graph:
    """GAP's two made graphs: Kronecker as Graph500's, and uniform, both of degree 16 and undirected."""
    if uniform:
        return hw.generate.uniform(1 << scale if 0 <= scale < 31 else 0, 16)
    return hw.generate.kronecker(scale, 16)


def pick_sources(graph: Graph, count: int) -> list[int]:
    """Sources at random among the vertices that have an out-edge."""
    candidates = np.flatnonzero(graph.degrees)
    if not len(candidates):
        raise GraphError("this graph has no edge, so there is no source to search from; give another")
    return np.random.default_rng(SEED).choice(candidates, count, replace=len(candidates) < count).tolist()  # type: ignore[no-any-return]


def time_bfs(graph: Graph, sources: list[int], device: str, threads: int | None) -> dict[str, Any]:
    """Each source alone; a tree that is none ends the run."""
    hw.bfs(graph, sources[0], device=device, threads=threads)  # compiled, uploaded
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


def time_bc(graph: Graph, groups: list[list[int]], device: str, threads: int | None) -> dict[str, Any]:
    """Four sources a trial; a run that fails its certificate raises by itself."""
    asked = {"device": device, "threads": threads, "normalized": False, "progress": False}
    hw.betweenness_centrality(graph, sources=groups[0], **asked)  # type: ignore[arg-type]
    seconds, worst = [], 0.0
    with Meter("gap bc", len(groups), None) as meter:
        for number, group in enumerate(groups, start=1):
            began = time.perf_counter()
            found = hw.betweenness_centrality(graph, sources=group, **asked)  # type: ignore[arg-type]
            seconds.append(time.perf_counter() - began)
            worst = max(worst, found.certificate.error)
            meter.update(number)
    average = float(np.mean(seconds))
    return {"seconds": seconds, "average": average, "engine": found.engine, "checked": f"certificate {worst:.1e}"}
