"""`hopwave closeness FILE`: the vertices with the highest closeness, exactly or from a sample of sources."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import hopwave as hw
from hopwave.cli import columns, options, output, picture, terminal
from hopwave.cli.files import File, ReadingWeights, counted, load
from hopwave.cli.pagerank import best_scores, score_table
from hopwave.results.scores import VertexScores


@dataclass(frozen=True)
class Sample:
    """All scores exactly, or estimated from a sample."""

    k: Annotated[
        int | None,
        typer.Option("--k", "-k", help="Estimate all scores from this many sources, with the ends of their intervals."),
    ] = None
    seed: Annotated[int | None, typer.Option(help="Seed of the sample: the same seed gives the same sample.")] = None
    delta: Annotated[float, typer.Option(help="The risk of the intervals of a sample.")] = 0.1
    interval: Annotated[
        str,
        typer.Option(
            help="guaranteed: all exact scores lie in their intervals together, except with risk delta. "
            "normal: each does, about; far narrower.",
            autocompletion=options.begin_so("guaranteed", "normal"),
        ),
    ] = "guaranteed"


def closeness(
    file: File,
    reading: ReadingWeights,
    to: options.DrawnHighest,
    *,
    harmonic: Annotated[
        bool, typer.Option("--harmonic", help="Harmonic centrality, the sum of 1/distance, instead of closeness.")
    ] = False,
    outwards: Annotated[
        bool, typer.Option("--outwards", help="Distances out of a vertex instead of into it, in a directed graph.")
    ] = False,
    weights: Annotated[
        bool, typer.Option("--weights", help="Distances along the weights of the file instead of hops.")
    ] = False,
    sample: Sample,
    device: options.Device = "auto",
    threads: options.Threads = None,
    every: Annotated[
        bool, typer.Option("--all", help="Compute all scores, for --out. By default only the highest are found.")
    ] = False,
    reduce: Annotated[
        bool,
        options.running(
            "--reduce/--whole",
            help="With --all, search only from what trees and chains leave, where that is less work.",
        ),
    ] = True,
    top: Annotated[int, options.printing(min=1, help="How many of the highest to find and to show.")] = 10,
) -> None:
    """Closeness or harmonic centrality, by hops or by lengths: the highest scores exactly, or all from a sample."""
    to.check()
    graph = load(file, reading, weights=weights)
    ask = hw.harmonic_centrality if harmonic else hw.closeness_centrality
    began = time.perf_counter()
    highest = None if every or sample.k is not None else top
    given: dict[str, Any] = {"weights": weights, "top": highest, "device": device, "threads": threads, "reduce": reduce}
    result = ask(graph.reversed() if outwards else graph, **given, **vars(sample))
    wall = time.perf_counter() - began
    if to.out is not None:
        columns.write(to.out, columns.of(result))
        if len(result) < graph.n:
            only = f"only the {len(result):,} highest scores of {graph.n:,} vertices were written"
            terminal.note(f"{only}; --all computes and writes all")
    if to.plot is not None:
        draw(result, top, to.plot)
    lines = {"distances": counted(weights), **how(result, sample.k), "time": f"{wall:,.2f} s"}
    made = result.searches
    record = {
        "score": result.name,
        "outwards": outwards,
        "weights": weights,
        "searches": made and {"whole": made.whole, "cut_off": made.cut_off, "skipped": made.skipped},
        "reduction": result.reduction and asdict(result.reduction),
        "k": sample.k,
        "seed": sample.seed,
        "interval": result.interval,
        "delta": result.delta,
        "top": in_json(result, top),
        "wall_seconds": wall,
    }
    table = score_table(f"Highest {result.name} centrality", result.name, result, top)
    output.tell(file, graph, to, record, [table, terminal.facts("", lines)])


def how(result: VertexScores, k: int | None) -> dict[str, str]:
    """Lines of the summary: how many searches were made and, after a sample, how far scores may be off."""
    n = result.graph.n
    every_one = str(result.reduction or f"all {n:,} whole")
    searches = str(result.searches or (every_one if k is None else f"from {min(k, n):,} sources"))
    return {"searches": searches} | ({} if result.bounds is None else {"scores": result._about()[0]})


def in_json(result: VertexScores, top: int) -> list[dict[str, Any]]:
    """The highest scores; after a sample with the ends of their intervals. A missing end is null."""
    titles = ("vertex", result.name, "low", "high")
    rows = [dict(zip(titles, row, strict=False)) for row in best_scores(result, top)]
    return [row | ({"high": None} if row.get("high") == math.inf else {}) for row in rows]


def draw(result: VertexScores, top: int, plot: Path) -> None:
    """The picture of the scores."""
    rows = [(terminal.printable(str(row[0])), *(row[1:] + row[1:] * 2)[:3]) for row in best_scores(result, top)]
    title = f"{result.name.capitalize()} of {len(result):,} vertices"
    picture.scores(plot, result.name, result.scores, rows, title, "; ".join(result._about()))
