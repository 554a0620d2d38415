"""`hopwave bc FILE`: betweenness, with a table of the highest scores, and optionally a picture and a file."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

import hopwave as hw
from hopwave.cli import columns, options, output, picture, terminal
from hopwave.cli.bfs import vertex
from hopwave.cli.files import Combine, Directed, File, Format, ReadOptions, load_for_hops
from hopwave.graph import Graph
from hopwave.results.betweenness import BetweennessResult, EdgeBetweennessResult, describe, drawn, widest_bound
from hopwave.system.progress import Meter

Result = BetweennessResult | EdgeBetweennessResult


def bc(
    file: File,
    k: Annotated[
        int | None, typer.Option("--k", "-k", help="Sample this many sources, as NetworkX does; shows error bounds.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the sample: the same seed gives the same sample.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Sample until every normalised score is known to within ± epsilon.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(help="How: auto, paths (between random pairs), sources, or exact. auto takes the cheapest."),
    ] = "auto",
    delta: Annotated[
        float, typer.Option(help="The probability that some score of a sample is further off than its bound.")
    ] = 0.1,
    edges: Annotated[bool, typer.Option("--edges", help="Score edges instead of vertices.")] = False,
    normalized: Annotated[
        bool, typer.Option("--normalized/--raw", help="Scores as a share of all pairs, or as a number of pairs.")
    ] = True,
    endpoints: Annotated[
        bool, typer.Option("--endpoints", help="Count the first and last vertex of a path as on it.")
    ] = False,
    source: Annotated[
        list[str] | None, typer.Option("--source", "-s", help="Only paths from this vertex. Repeat for several.")
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", "-t", help="Only paths to this vertex. Repeat for several.")
    ] = None,
    cutoff: Annotated[
        float | None, typer.Option(help="Only paths of at most this many hops; with --weights, of this length.")
    ] = None,
    weights: Annotated[
        bool, typer.Option("--weights", help="Shortest paths by the weights of the file instead of by hops.")
    ] = False,
    plan: options.Plan = "auto",
    device: options.Device = "auto",
    threads: options.Threads = None,
    reduce: Annotated[
        bool,
        typer.Option(
            "--reduce/--whole",
            help="Search only what trees, chains and articulation points leave, where that is less work.",
            rich_help_panel=options.RUNNING,
        ),
    ] = True,
    memory_limit: Annotated[
        int | None,
        typer.Option(help="Bytes that the run may use in addition to the graph.", rich_help_panel=options.RUNNING),
    ] = None,
    deterministic: Annotated[
        bool,
        typer.Option(
            "--deterministic",
            help="Use only plans that give the same bits on every run.",
            rich_help_panel=options.RUNNING,
        ),
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="Save progress to this file every minute and on Ctrl-C; continue from it if it exists.",
            rich_help_panel=options.RUNNING,
        ),
    ] = None,
    directed: Directed = None,
    format: Format = None,
    read_options: ReadOptions = None,
    combine: Combine = None,
    top: Annotated[int, typer.Option(min=0, help="How many scores to show.", rich_help_panel=options.OUTPUT)] = 10,
    plot: options.Picture = None,
    out: options.ResultFile = None,
    as_json: options.Json = False,
) -> None:
    """Betweenness centrality of vertices or edges, exact or estimated from a sample of sources or paths."""
    if edges and (epsilon is not None or endpoints or method != "auto"):
        raise typer.BadParameter(
            "--edges cannot be combined with --epsilon, --method or --endpoints; leave out one of them"
        )
    if k is not None and k < 1:
        raise typer.BadParameter(f"-k {k} draws no source, so no score would be known; give at least 1")
    options.check(plan, out, plot, "betweenness")
    options.check_stream(out, as_json)
    graph = load_for_hops(file, directed, format, read_options, weights, combine)
    if cutoff is not None and not weights and cutoff.is_integer():
        cutoff = int(cutoff)
    arguments: dict[str, Any] = {
        "k": k,
        "seed": seed,
        "normalized": normalized,
        "sources": named(graph, source),
        "targets": named(graph, target),
        "cutoff": cutoff,
        "weights": weights,
        "plan": plan,
        "device": device,
        "threads": threads,
        "memory_limit": memory_limit,
        "reduce": reduce,
        "deterministic": deterministic,
        "checkpoint": checkpoint,
        "delta": delta,
    }
    if not edges:
        arguments |= {"endpoints": endpoints, "epsilon": epsilon, "method": method}
    began = time.perf_counter()
    result = scored(graph, edges, arguments)
    wall = time.perf_counter() - began
    write_files(result, out, plot, top)
    given = {name: arguments[name] for name in ("k", "seed", "normalized", "cutoff", "weights")}
    risk = None if epsilon is None and k is None else delta
    given |= {"endpoints": endpoints, "epsilon": epsilon, "delta": risk, "method": method}
    given["checkpoint"] = checkpoint and str(checkpoint)
    record = {**given, **in_json(result, top), "wall_seconds": wall}
    parts = [top_table(result, top), summary(result, wall)]
    output.tell(file, graph, as_json, record, parts, out=out, plot=plot)


def scored(graph: Graph, edges: bool, arguments: dict[str, Any]) -> Result:
    """The result of the library call. After Ctrl-C, prints how to continue."""
    try:
        return (hw.edge_betweenness_centrality if edges else hw.betweenness_centrality)(graph, **arguments)
    except KeyboardInterrupt as stopped:
        for note in getattr(stopped, "__notes__", ()):
            print(note.replace("the same call", "the same command"), file=sys.stderr)
        raise


def write_files(result: Result, out: Path | None, plot: Path | None, top: int) -> None:
    """Write the file of scores and the picture, if wanted."""
    with Meter("", None, None) as meter:
        if out is not None:
            meter.stage(f"writing {out.name}")
            columns.write(out, columns.of_betweenness(result))
        if plot is not None:
            meter.stage(f"drawing {plot.name}")
            picture.scores(plot, "betweenness", once(result), bars(result, top), heading(result), describe(result))


def named(graph: Graph, names: list[str] | None) -> list[Any] | None:
    """The labels of vertices that the user has typed."""
    return [graph.label(vertex(graph, name)) for name in names] if names else None


def once(result: Result) -> Any:
    """All scores; an undirected edge has one."""
    return columns.of_betweenness(result)["betweenness"]


def name_of(result: Result, key: Any) -> str:
    """The label of a vertex, or both labels of an edge."""
    if isinstance(result, BetweennessResult):
        return terminal.printable(str(key))
    return terminal.printable(f"{key[0]} {'→' if result.graph.directed else '–'} {key[1]}")


def bars(result: Result, top: int) -> list[tuple[str, float, float, float]]:
    """(name, score, ends of its error bar) of the highest scores; NaN scores are left out."""
    rows = [(name_of(result, key), score, bound or 0.0) for key, score, bound in highest(result, top)]
    return [(name, score, score - bound, score + bound) for name, score, bound in rows if not math.isnan(score)]


def highest(result: Result, top: int) -> list[tuple[Any, float, float | None]]:
    """The vertices or edges with the highest scores, their scores, and their bounds (None without a sample)."""
    best = result.top(top)
    if result.bounds is None:
        return [(key, score, None) for key, score in best]
    found = columns.of_betweenness(result)
    order = np.argsort(-found["betweenness"], kind="stable")[:top]  # as result.top does
    return [(key, score, float(bound)) for (key, score), bound in zip(best, found["bound"][order], strict=True)]


def heading(result: Result) -> str:
    """What was scored."""
    return "Betweenness of vertices" if isinstance(result, BetweennessResult) else "Betweenness of edges"


def top_table(result: Result, top: int) -> Table:
    """The highest scores with bars, and with their bounds if they are estimated."""
    sampled = result.bounds is not None
    kind = "vertex" if isinstance(result, BetweennessResult) else "edge"
    titles = ["", kind, "betweenness", *(["±"] if sampled else []), ""]
    made = terminal.table(f"Highest betweenness, {drawn(result)}", *titles, numbers=(0, 2, 3) if sampled else (0, 2))
    best = highest(result, top)
    most = max((score for _, score, _ in best if not math.isnan(score)), default=0.0) or 1.0
    names = [name_of(result, key) for key, _, _ in best]
    width = terminal.bar_width(40 + max(map(len, names), default=0))
    for place, (name, (_, score, bound)) in enumerate(zip(names, best, strict=True), start=1):
        row: list[Any] = [str(place), name, shown(score)]
        if bound is not None:
            row.append(shown(bound))
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


def summary(result: Result, wall: float) -> Table:
    """How the scores were computed, and how exact they are: by the sample, and by the arithmetic."""
    lines = {"scores": f"{describe(result)}; {result.certificate}", "plan": str(result.plan), "engine": result.engine}
    lines["time"] = f"{wall:,.2f} s"
    pairs = result.pairs if isinstance(result, BetweennessResult) else None
    searches, kind = (result.sources, "source") if pairs is None else (pairs, "pair")
    if searches:
        lines["time"] += f", {terminal.milliseconds(wall / searches)} ms per {kind}"
    return terminal.facts("", lines)


def in_json(result: Result, top: int) -> dict[str, Any]:
    """The run and its highest scores, for JSON; unknown values are null."""
    scores = once(result)
    rows = []
    for key, score, bound in highest(result, top):
        where = {"vertex": key} if isinstance(result, BetweennessResult) else {"source": key[0], "target": key[1]}
        off = {} if bound is None else {"bound": None if math.isnan(bound) else bound}
        rows.append({**where, "betweenness": None if math.isnan(score) else score, **off})
    return {
        "scored": "vertices" if isinstance(result, BetweennessResult) else "edges",
        "sources": result.sources,
        "pairs": result.pairs if isinstance(result, BetweennessResult) else None,
        "plan": result.plan.name,
        "why": result.plan.why,
        "engine": result.engine,
        "reduction": result.reduction and asdict(result.reduction),
        "certificate": {"error": result.certificate.error, "tolerance": result.certificate.tolerance},
        "widest_bound": widest_bound(result),
        "scores_above_zero": int(np.count_nonzero(scores > 0)),
        "top": rows,
    }
