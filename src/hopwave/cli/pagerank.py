"""`hopwave pagerank FILE`: how often a random walk visits every vertex, with a table of the highest ranks."""

from __future__ import annotations

import time
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

import hopwave as hw
from hopwave.cli import columns, options, output, terminal
from hopwave.cli.bfs import vertex
from hopwave.cli.files import File, ReadingLengths, load
from hopwave.results.scores import VertexScores
from hopwave.system.progress import Meter


def pagerank(
    file: File,
    reading: ReadingLengths,
    to: options.Written,
    alpha: Annotated[float, typer.Option(help="The probability that the walk follows an edge.")] = 0.85,
    tol: Annotated[
        float, typer.Option(help="Stop when a round changes the ranks by less than n · tol in total, as NetworkX does.")
    ] = 1e-6,
    max_iter: Annotated[int, typer.Option(help="The greatest number of rounds.")] = 100,
    restart: Annotated[
        list[str] | None, typer.Option("--restart", help="Let the walk jump only to this vertex. Repeat for several.")
    ] = None,
    device: options.Device = "auto",
    top: Annotated[int, options.printing(min=0, help="How many ranks to show.")] = 10,
) -> None:
    """PageRank: how often a random walk visits every vertex. It follows edges in proportion to their weights."""
    to.check()
    graph = load(file, reading)
    jumps = {graph.label(vertex(graph, name)): 1.0 for name in restart} if restart else None
    with Meter(f"ranking {file.name}", None, None) as meter:
        began = time.perf_counter()
        result = hw.pagerank(graph, alpha, jumps, max_iter, tol, device=device)
        wall = time.perf_counter() - began
        if to.out is not None:
            meter.stage(f"writing {to.out.name}")
            columns.write(to.out, columns.of(result))
    record = {
        "alpha": alpha,
        "tol": tol,
        "max_iter": max_iter,
        "restart": list(jumps or ()),
        "weights": graph.is_weighted,
        "top": [{"vertex": key, "pagerank": rank} for key, rank in result.top(top)],
        "wall_seconds": wall,
    }
    lines = {
        "edges": "followed in proportion to their weights" if graph.is_weighted else "equally likely",
        "time": f"{terminal.milliseconds(wall)} ms",
    }
    table = score_table("Highest PageRank", "rank", result, top)
    output.tell(file, graph, to, record, [table, terminal.facts("", lines)])


def score_table(title: str, column: str, result: VertexScores, top: int) -> Table:
    """The highest scores with bars; after a sample with the ends of their intervals."""
    ends = [] if result.low is None else ["from", "to"]
    rows = [(terminal.printable(str(vertex)), *numbers) for vertex, *numbers in best_scores(result, top)]
    return terminal.ranking(title, ["vertex", column, *ends], rows, 60 if ends else 40)


def best_scores(result: VertexScores, top: int) -> list[tuple[Any, ...]]:
    """(vertex, score) of the highest scores; after a sample (vertex, score, low, high)."""
    if result.low is None or result.high is None:
        return list(result.top(top))
    order = np.argsort(-result.scores, kind="stable")[:top]  # as result.top does
    ends = zip(result.low[order].tolist(), result.high[order].tolist(), strict=True)
    return [(*row, *both) for row, both in zip(result.top(top), ends, strict=True)]
