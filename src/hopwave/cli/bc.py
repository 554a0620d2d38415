"""`hopwave bc FILE`: betweenness, the highest scores as a table with bars, on request a picture and a file."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

import hopwave as hw
from hopwave.cli import columns, picture, terminal
from hopwave.cli.bfs import vertex
from hopwave.cli.files import Directed, File, Format, ReadOptions, load
from hopwave.cli.info import sentence
from hopwave.graph import Graph
from hopwave.progress import Meter
from hopwave.results.betweenness import BetweennessResult, EdgeBetweennessResult

Result = BetweennessResult | EdgeBetweennessResult


def bc(
    file: File,
    k: Annotated[int | None, typer.Option("--k", "-k", help="Draw so many sources, as NetworkX does.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the draw, so that it can be repeated.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Draw sources until every normalised score is known to ± this.")
    ] = None,
    delta: Annotated[float, typer.Option(help="The risk that one of them is not.")] = 0.1,
    edges: Annotated[bool, typer.Option("--edges", help="Score edges instead of vertices.")] = False,
    normalized: Annotated[
        bool, typer.Option("--normalized/--raw", help="As a share of all pairs, or as their number.")
    ] = True,
    endpoints: Annotated[bool, typer.Option("--endpoints", help="Count the ends of a path as on it.")] = False,
    source: Annotated[
        list[str] | None, typer.Option("--source", "-s", help="Paths from here alone; again for several.")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", "-t", help="Paths to here alone; again for several.")
    ] = None,
    cutoff: Annotated[int | None, typer.Option(help="Paths of up to so many hops.")] = None,
    plan: Annotated[str, typer.Option(help="A name from 'hopwave plans'.")] = "auto",
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    threads: terminal.Threads = None,
    memory_limit: Annotated[int | None, typer.Option(help="Bytes that the run may take beside the graph.")] = None,
    deterministic: Annotated[
        bool, typer.Option("--deterministic", help="Refuse what may give other last bits on the next run.")
    ] = False,
    top: Annotated[int, typer.Option(min=0, help="How many rows to show.")] = 10,
    directed: Directed = None,
    format: Format = None,
    read_options: ReadOptions = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the scores: .png, .svg or .pdf.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write a row a score: .csv, .csv.gz, .parquet or .npz.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Save the run here every minute and on Ctrl-C; go on from it.")
    ] = None,
    as_json: terminal.Json = False,
) -> None:
    """Score vertices or edges by the shortest paths that lead over them, exactly or from a sample."""
    if edges and (epsilon is not None or endpoints):
        raise typer.BadParameter("--edges goes with neither --epsilon nor --endpoints; leave out one of them")
    if plot is not None:
        picture.check(plot)
    if out is not None:
        columns.check(out)
    if plan != "auto":
        hw.plan(plan)  # an unknown one is told before a long read

    graph = load(file, directed, format, read_options)
    asked: dict[str, Any] = {
        "k": k,
        "seed": seed,
        "normalized": normalized,
        "sources": named(graph, source),
        "targets": named(graph, target),
        "cutoff": cutoff,
        "plan": plan,
        "device": device,
        "threads": threads,
        "memory_limit": memory_limit,
        "deterministic": deterministic,
        "checkpoint": checkpoint,
    }
    if not edges:
        asked |= {"endpoints": endpoints, "epsilon": epsilon, "delta": delta}
    began = time.perf_counter()
    try:
        # A run of over two seconds shows its own progress, with the time left.
        result: Result = (hw.edge_betweenness_centrality if edges else hw.betweenness_centrality)(graph, **asked)
    except KeyboardInterrupt:
        if checkpoint is not None and checkpoint.exists():
            print(f"hopwave: what is done is in {checkpoint}; the same command goes on from there", file=sys.stderr)
        raise
    wall = time.perf_counter() - began
    with Meter("", None, None) as meter:
        if out is not None:
            meter.stage(f"writing {out.name}")
            columns.write(out, columns.of_betweenness(result))
        if plot is not None:
            meter.stage(f"drawing {plot.name}")
            picture.scores(plot, once(result), bars(result, 15), heading(result), drawn(result))

    if as_json:
        terminal.emit(
            {
                "file": str(file),
                **{name: asked[name] for name in ("k", "seed", "normalized", "cutoff")},
                "endpoints": endpoints,
                "epsilon": epsilon,
                "delta": delta if epsilon is not None else None,
                **record(result, top),
                "wall_seconds": wall,
                **{
                    name: path and str(path)
                    for name, path in (("out", out), ("plot", plot), ("checkpoint", checkpoint))
                },
            }
        )
        return
    terminal.line(f"{file}: {sentence(graph)}")
    terminal.show(top_table(result, top), summary(result, wall, delta))
    for path in filter(None, (out, plot)):
        terminal.line(f"wrote {path}")


def named(graph: Graph, names: list[str] | None) -> list[Any] | None:
    """Vertices typed by a person, as the library takes them."""
    return [graph.label(vertex(graph, name)) for name in names] if names else None


def once(result: Result) -> Any:
    """Every score; an undirected edge's once."""
    return columns.of_betweenness(result)["betweenness"]


def name_of(result: Result, key: Any) -> str:
    """A vertex's label, or an edge's two."""
    if isinstance(result, BetweennessResult):
        return str(key)
    return f"{key[0]} {'→' if result.graph.directed else '–'} {key[1]}"


def bars(result: Result, top: int) -> list[tuple[str, float]]:
    """The highest scores by name, without those that one sample cannot know (NaN)."""
    return [(name_of(result, key), score) for key, score in result.top(top) if not math.isnan(score)]


def heading(result: Result) -> str:
    """What was scored."""
    return "Betweenness of vertices" if isinstance(result, BetweennessResult) else "Betweenness of edges"


def drawn(result: Result) -> str:
    """How many sources were searched from."""
    n = result.graph.n
    return f"all {n:,} sources" if result.sources == n else f"{result.sources:,} sources for {n:,} vertices"


def top_table(result: Result, top: int) -> Table:
    """The highest scores with bars, and with their bounds after an adaptive sample."""
    bounds = result.bounds if isinstance(result, BetweennessResult) else None
    kind = "vertex" if isinstance(result, BetweennessResult) else "edge"
    titles = ["", kind, "betweenness", *([] if bounds is None else ["±"]), ""]
    made = terminal.table(
        f"Highest betweenness, {drawn(result)}", *titles, numbers=(0, 2, 3) if bounds is not None else (0, 2)
    )
    best = result.top(top)
    most = max((score for _, score in best if not math.isnan(score)), default=0.0) or 1.0
    names = [name_of(result, key) for key, _ in best]
    width = terminal.bar_width(40 + max(map(len, names), default=0))
    for place, (name, (key, score)) in enumerate(zip(names, best, strict=True), start=1):
        row: list[Any] = [str(place), name, shown(score)]
        if bounds is not None:
            row.append(shown(float(bounds[result.graph.index(key)])))
        made.add_row(*row, terminal.bar(0.0 if math.isnan(score) else score / most, width))
    return made


def shown(score: float) -> str:
    """A score for a table.

    >>> shown(0.56998905), shown(1234567.5), shown(3e-7), shown(math.nan)
    ('0.56999', '1,234,567.5', '3e-07', 'unknown')
    """
    if math.isnan(score):
        return "unknown"
    return f"{score:,.1f}" if score >= 1000 else f"{score:.5g}"


def summary(result: Result, wall: float, delta: float) -> Table:
    """How the scores were found, and how far they can be trusted."""
    lines = {"certificate": str(result.certificate)}
    if isinstance(result, BetweennessResult) and result.bounds is not None:
        widest = float(result.bounds.max(initial=0.0))
        sure = f"every score is within its bound, with probability {1 - delta:g}"
        lines["bounds"] = f"{sure}; the widest is ± {shown(widest)}" if widest else "exact: all sources were cheaper"
    lines |= {"plan": str(result.plan), "engine": result.engine, "time": f"{wall:,.2f} s"}
    if result.sources:
        lines["time"] += f", {terminal.milliseconds(wall / result.sources)} ms a source"
    return terminal.facts("", lines)


def record(result: Result, top: int) -> dict[str, Any]:
    """The run and its highest scores, for JSON; what is not known is null."""
    graph, scores = result.graph, once(result)
    bounds = result.bounds if isinstance(result, BetweennessResult) else None
    rows = []
    for key, score in result.top(top):
        where = {"vertex": key} if isinstance(result, BetweennessResult) else {"source": key[0], "target": key[1]}
        bound = {} if bounds is None else {"bound": float(bounds[graph.index(key)])}
        rows.append({**where, "betweenness": None if math.isnan(score) else score, **bound})
    return {
        "n": graph.n,
        "m": graph.m,
        "directed": graph.directed,
        "edges": isinstance(result, EdgeBetweennessResult),
        "sources": result.sources,
        "plan": result.plan.name,
        "why": result.plan.why,
        "engine": result.engine,
        "certificate": {"error": result.certificate.error, "tolerance": result.certificate.tolerance},
        "widest_bound": None if bounds is None else float(bounds.max(initial=0.0)),
        "scores_above_zero": int(np.count_nonzero(scores > 0)),
        "top": rows,
    }
