"""`hopwave bc FILE`: betweenness, with a table of the highest scores, and optionally a picture and a file."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

import hopwave as hw
from hopwave.cli import columns, options, output, picture, terminal
from hopwave.cli.bfs import vertex
from hopwave.cli.files import File, ReadingWeights, counted, load
from hopwave.graph import Graph
from hopwave.results.betweenness import BetweennessResult, EdgeBetweennessResult, describe, drawn, widest_bound
from hopwave.system.progress import Meter

Result = BetweennessResult | EdgeBetweennessResult


@dataclass(frozen=True)
class Precision:
    """Exact scores, or a sample, and how good it is."""

    k: Annotated[
        int | None, typer.Option("--k", "-k", help="Sample this many sources, as NetworkX does; shows error bounds.")
    ] = None
    seed: Annotated[int | None, typer.Option(help="Seed of the sample: the same seed gives the same sample.")] = None
    epsilon: Annotated[
        float | None, typer.Option(help="Sample until every normalised score is known to within ± epsilon.")
    ] = None
    method: Annotated[
        str, typer.Option(help="How: auto, paths (between random pairs), sources, or exact. auto takes the cheapest.")
    ] = "auto"
    delta: Annotated[
        float, typer.Option(help="The probability that some score of a sample is further off than its bound.")
    ] = 0.1


@dataclass(frozen=True)
class Paths:
    """The paths that count."""

    endpoints: Annotated[
        bool, typer.Option("--endpoints", help="Count the first and last vertex of a path as on it.")
    ] = False
    source: Annotated[
        list[str] | None, typer.Option("--source", "-s", help="Only paths from this vertex. Repeat for several.")
    ] = None
    target: Annotated[
        list[str] | None, typer.Option("--target", "-t", help="Only paths to this vertex. Repeat for several.")
    ] = None
    cutoff: Annotated[
        float | None, typer.Option(help="Only paths of at most this many hops; with --weights, of this length.")
    ] = None
    weights: Annotated[
        bool, typer.Option("--weights", help="Shortest paths by the weights of the file instead of by hops.")
    ] = False

    def arguments(self, graph: Graph) -> dict[str, Any]:
        """For the library, without `endpoints`."""
        cutoff = self.cutoff
        if cutoff is not None and not self.weights and cutoff.is_integer():
            cutoff = int(cutoff)
        ends = {"sources": named(graph, self.source), "targets": named(graph, self.target)}
        return ends | {"cutoff": cutoff, "weights": self.weights}


@dataclass(frozen=True)
class Running:
    """How to compute: as the arguments of the library."""

    plan: options.Plan = "auto"
    device: options.Device = "auto"
    threads: options.Threads = None
    memory_limit: Annotated[
        int | None, options.running(help="Bytes that the run may use in addition to the graph.")
    ] = None
    deterministic: Annotated[
        bool, options.running("--deterministic", help="Use only plans that give the same bits on every run.")
    ] = False
    checkpoint: Annotated[
        Path | None,
        options.running(help="Save progress to this file every minute and on Ctrl-C; continue from it if it exists."),
    ] = None
    reduce: Annotated[
        bool,
        options.running(
            "--reduce/--whole",
            help="Search only what trees, chains and articulation points leave, where that is less work.",
        ),
    ] = True


def bc(
    file: File,
    precision: Precision,
    paths: Paths,
    running: Running,
    reading: ReadingWeights,
    to: options.Drawn,
    edges: Annotated[bool, typer.Option("--edges", help="Score edges instead of vertices.")] = False,
    normalized: Annotated[
        bool, typer.Option("--normalized/--raw", help="Scores as a share of all pairs, or as a number of pairs.")
    ] = True,
    top: Annotated[int, options.printing(min=0, help="How many scores to show.")] = 10,
) -> None:
    """Betweenness centrality of vertices or edges, exact or estimated from a sample of sources or paths."""
    k, epsilon, method = precision.k, precision.epsilon, precision.method
    if edges and (epsilon is not None or paths.endpoints or method != "auto"):
        raise typer.BadParameter(
            "--edges cannot be combined with --epsilon, --method or --endpoints; leave out one of them"
        )
    if k is not None and k < 1:
        raise typer.BadParameter(f"-k {k} draws no source, so no score would be known; give at least 1")
    to.check(running.plan, "betweenness")
    graph = load(file, reading, weights=paths.weights)
    arguments = {"normalized": normalized} | vars(precision) | vars(running) | paths.arguments(graph)
    if edges:
        del arguments["epsilon"], arguments["method"]
    else:
        arguments["endpoints"] = paths.endpoints
    began = time.perf_counter()
    result = scored(graph, edges, arguments)
    wall = time.perf_counter() - began
    write_files(result, to, top)
    given = {name: arguments[name] for name in ("k", "seed", "normalized", "cutoff", "weights")}
    risk = None if epsilon is None and k is None else precision.delta
    given |= {"endpoints": paths.endpoints, "epsilon": epsilon, "delta": risk, "method": method}
    given["checkpoint"] = running.checkpoint and str(running.checkpoint)
    record = {**given, **in_json(result, top), "wall_seconds": wall}
    parts = [top_table(result, top), summary(result, wall, paths.weights)]
    output.tell(file, graph, to, record, parts)


def scored(graph: Graph, edges: bool, arguments: dict[str, Any]) -> Result:
    """The result of the library call. After Ctrl-C, prints how to continue."""
    try:
        return (hw.edge_betweenness_centrality if edges else hw.betweenness_centrality)(graph, **arguments)
    except KeyboardInterrupt as stopped:
        for note in getattr(stopped, "__notes__", ()):
            print(note.replace("the same call", "the same command"), file=sys.stderr)
        raise


def write_files(result: Result, to: options.Drawn, top: int) -> None:
    """Write the file of scores and the picture, if wanted."""
    with Meter("", None, None) as meter:
        if to.out is not None:
            meter.stage(f"writing {to.out.name}")
            columns.write(to.out, columns.of(result))
        if to.plot is not None:
            meter.stage(f"drawing {to.plot.name}")
            about = heading(result), describe(result)
            picture.scores(to.plot, "betweenness", once(result), bars(result, top), *about)


def named(graph: Graph, names: list[str] | None) -> list[Any] | None:
    """The labels of vertices that the user has typed."""
    return [graph.label(vertex(graph, name)) for name in names] if names else None


def once(result: Result) -> Any:
    """All scores; an undirected edge has one."""
    return columns.of(result)["betweenness"]


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
    found = columns.of(result)
    order = np.argsort(-found["betweenness"], kind="stable")[:top]  # as result.top does
    return [(key, score, float(bound)) for (key, score), bound in zip(best, found["bound"][order], strict=True)]


def heading(result: Result) -> str:
    """What was scored."""
    return "Betweenness of vertices" if isinstance(result, BetweennessResult) else "Betweenness of edges"


def top_table(result: Result, top: int) -> Table:
    """The highest scores with bars, and with their bounds if they are estimated."""
    kind = "vertex" if isinstance(result, BetweennessResult) else "edge"
    heads = [kind, "betweenness", *(["±"] if result.bounds is not None else [])]
    rows = [(name_of(result, key), *numbers[: len(heads) - 1]) for key, *numbers in highest(result, top)]
    return terminal.ranking(f"Highest betweenness, {drawn(result)}", heads, rows, 40)


def summary(result: Result, wall: float, weighted: bool) -> Table:
    """How the scores were computed, and how exact they are: by the sample, and by the arithmetic."""
    scores = f"{describe(result)}; {result.certificate}"
    lines = {"paths": counted(weighted), "scores": scores, "plan": str(result.plan), "engine": result.engine}
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
