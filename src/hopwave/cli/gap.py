"""`hopwave gap`: the six kernels of the GAP benchmark suite, by its rules (Beamer, Asanović and Patterson, 2015).

RULES names them, gap_trials.py runs them. Every tree of a search is validated, every run of
betweenness is checked by its certificate, every other answer by other means than those that found it. The time to read
or generate the graph is not counted, nor that of the calls before the trials: they compile, and make what later ones
use (rows in another order, copies on a GPU).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import hopwave as hw
from hopwave.cli import gap_trials, options, terminal
from hopwave.cli.files import Reading, load
from hopwave.cli.info import sentence, sizes
from hopwave.errors import GraphError
from hopwave.graph import Graph

BFS_TRIALS, BC_TRIALS, BC_SOURCES = 64, 16, 4
TRIALS = {"bfs": BFS_TRIALS, "sssp": 64, "pr": 16, "cc": 16, "bc": BC_TRIALS, "tc": 3}  # by kernel, in GAP's order
RULES = {
    "bfs": "a random source each",
    "sssp": "a random source each, weights 1 to 255",
    "pr": "until all changes are below 1e-4",
    "cc": "weak components",
    "bc": "4 random sources each",
    "tc": "the number of triangles",
}
SEED = 27


def gap(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A graph in any format that hopwave reads; or give --scale instead."),
    ] = None,
    scale: Annotated[int | None, typer.Option(help="Generate a graph of 2^scale vertices.")] = None,
    uniform: Annotated[bool, typer.Option("--uniform", help="Generate GAP's urand instead of its kron.")] = False,
    kernel: Annotated[str, typer.Option(help="bfs, sssp, pr, cc, bc, tc or all.")] = "all",
    trials: Annotated[
        int | None,
        typer.Option(
            min=1, help="The number of trials, instead of GAP's 64 for bfs and sssp, 16 for pr, cc and bc, 3 for tc."
        ),
    ] = None,
    device: options.Device = "auto",
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Time searches, shortest paths, PageRank, components, betweenness and triangles by the rules of the GAP benchmark
    suite, and check every result.

    Loading, compiling and preparing the graph are not timed: calls before the trials do that.
    """
    if (file is None) == (scale is None):
        raise typer.BadParameter("give either a file, or --scale to generate a graph")
    if kernel not in (*TRIALS, "all"):
        raise typer.BadParameter(f"--kernel {kernel} is not known; use {', '.join(TRIALS)} or all")
    if uniform and file is not None:
        raise typer.BadParameter("--uniform is for a generated graph; leave it out, or give --scale instead of a file")
    graph = load(file, Reading()) if file is not None else generated(scale or 0, uniform)
    given = graph.without_weights() if graph.is_weighted else graph  # weights are for sssp alone
    counts = {name: trials or count for name, count in TRIALS.items() if kernel in (name, "all")}
    sources = pick_sources(graph, max(BFS_TRIALS, BC_TRIALS * BC_SOURCES, (trials or 0) * BC_SOURCES))
    results: dict[str, dict[str, Any]] = {}
    for name, count in counts.items():
        with gap_trials.threads_of(threads):
            if name == "bfs":
                results[name] = gap_trials.time_bfs(given, sources[:count], device, threads)
            elif name == "sssp":
                results[name] = gap_trials.time_sssp(graph, sources[:count], device)
            elif name == "bc":
                groups = [sources[i : i + BC_SOURCES] for i in range(0, len(sources), BC_SOURCES)]
                results[name] = gap_trials.time_bc(given, groups[:count], device, threads)
            else:
                time_kernel = {"pr": gap_trials.time_pr, "cc": gap_trials.time_cc, "tc": gap_trials.time_tc}[name]
                results[name] = time_kernel(given, count, device)
    if as_json:
        terminal.emit({**sizes(graph), **results})
        return
    shown = terminal.table(
        "GAP", "kernel", "trials", "average s", "fastest s", "slowest s", "rule", "checked", numbers=(1, 2, 3, 4)
    )
    for name, result in results.items():
        seconds = result["seconds"]
        figures = (np.mean(seconds), min(seconds), max(seconds))
        shown.add_row(name, str(len(seconds)), *(f"{figure:.6f}" for figure in figures), RULES[name], result["checked"])
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
