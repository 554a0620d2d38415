"""`hopwave sssp FILE`: shortest paths along edges with lengths, with a table of distances."""

from __future__ import annotations

import math
import time
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

import hopwave as hw
from hopwave.cli import columns, options, output, terminal
from hopwave.cli.bfs import busiest, vertex
from hopwave.cli.files import File, ReadingLengths, load
from hopwave.cli.levels import title
from hopwave.results.shortest_paths import ShortestPaths
from hopwave.system.progress import Meter

ROWS = 16  # of the table of distances


def sssp(
    file: File,
    reading: ReadingLengths,
    to: options.Written,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            "-s",
            help="Where paths start: a label, or a number where there are no labels. Repeat for several sources. "
            "Default: the vertex of highest degree.",
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", help="Show a shortest path to this vertex. Repeat for several."),
    ] = None,
    limit: Annotated[float | None, typer.Option(help="Only paths of at most this length.")] = None,
    method: Annotated[str, options.running(help="auto, dijkstra, delta-stepping, near-far or bellman-ford.")] = "auto",
    delta: Annotated[float | None, options.running(help="The width of the buckets of Δ-stepping and near-far.")] = None,
    device: options.Device = "auto",
    threads: options.Threads = None,
    trace: Annotated[bool, options.printing("--trace", help="Show what every bucket did.")] = False,
) -> None:
    """Shortest paths from a vertex to every other, along edges with lengths: the weights of the file, or 1 each."""
    to.check()
    graph = load(file, reading)
    starts = [vertex(graph, name) for name in source] if source else [busiest(graph)]
    ends = [graph.label(vertex(graph, name)) for name in target or ()]
    with Meter(f"searching {file.name}", None, None) as meter:
        began = time.perf_counter()
        result = hw.sssp(
            graph,
            [graph.label(start) for start in starts],
            method=method,  # type: ignore[arg-type]
            delta=delta,
            limit=limit,
            device=device,
            threads=threads,
            trace=trace,
        )
        wall = time.perf_counter() - began
        found = [path(result, end) for end in ends]
        if to.out is not None:
            meter.stage(f"writing {to.out.name}")
            columns.write(to.out, columns.of(result))
    given = {"source_given": bool(source), "limit": limit, "delta": delta}
    record = {**given, **in_json(result), "wall_seconds": wall, "paths": found}
    parts: list[Any] = [distance_table(result), summary(result, wall)]
    if not source:
        parts.insert(0, f"no --source given: starting from {graph.label(starts[0])}, which has the highest degree")
    if result.trace is not None:
        parts.append(str(result.trace))
    for one in found:
        way = " → ".join(map(str, one["path"])) if one["path"] else "no path"
        length = "" if one["length"] is None else f" ({one['length']:g})"
        parts.append(f"to {one['target']}{length}: {way}")
    output.tell(file, graph, to, record, parts)


def path(result: ShortestPaths, end: Any) -> dict[str, Any]:
    """The path to a vertex and its length; both None if there is no path."""
    length = float(result.distances[result.graph.index(end)])
    reached = math.isfinite(length)
    return {"target": end, "length": length if reached else None, "path": result.path_to(end) if reached else None}


def distance_table(result: ShortestPaths) -> Table:
    """The number of vertices in each range of distances; the ranges have equal length."""
    d = result.distances[np.isfinite(result.distances)]
    counts, ends = np.histogram(d, bins=min(ROWS, max(1, len(np.unique(d[:10_000])))))
    made = terminal.table(title(result.graph, result, "Shortest paths"), "distance", "vertices", "", numbers=(0, 1))
    width, most = terminal.bar_width(30), int(counts.max(initial=1))
    for count, low, high in zip(counts.tolist(), ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        made.add_row(f"{low:,.6g} – {high:,.6g}", f"{count:,}", terminal.bar(count / most, width))
    return made


def summary(result: ShortestPaths, wall: float) -> Any:
    """The result in a few lines."""
    d = result.distances[np.isfinite(result.distances)]
    lines = {
        "reached": f"{result.reached:,} of {result.graph.n:,} vertices",
        "greatest distance": f"{d.max(initial=0.0):g}",
        "lengths": "the weights of the file" if result.matrix.has_values else "1 per edge",
        "plan": str(result.plan),
        "time": f"{terminal.milliseconds(wall)} ms",
    }
    return terminal.facts("", lines)


def in_json(result: ShortestPaths) -> dict[str, Any]:
    """The search, for JSON."""
    graph, d = result.graph, result.distances[np.isfinite(result.distances)]
    buckets = None if result.trace is None else [vars(bucket) for bucket in result.trace]
    return {
        "weights": result.matrix.has_values,
        "sources": [graph.label(start) for start in result.sources],
        "reached": result.reached,
        "greatest_distance": float(d.max(initial=0.0)),
        "method": result.method,
        "plan": result.plan.name,
        "why": result.plan.why,
        "buckets": buckets,
    }
