"""`hopwave closeness FILE`: the vertices with the highest closeness, without a search from every vertex."""

from __future__ import annotations

import time
from typing import Annotated

import typer

import hopwave as hw
from hopwave.cli import columns, options, output, terminal
from hopwave.cli.files import Combine, Directed, File, Format, ReadOptions, load_for_hops
from hopwave.cli.pagerank import score_table


def closeness(
    file: File,
    harmonic: Annotated[
        bool, typer.Option("--harmonic", help="Harmonic centrality, the sum of 1/distance, instead of closeness.")
    ] = False,
    outwards: Annotated[
        bool, typer.Option("--outwards", help="Distances out of a vertex instead of into it, in a directed graph.")
    ] = False,
    weights: Annotated[
        bool, typer.Option("--weights", help="Distances along the weights of the file instead of hops.")
    ] = False,
    device: options.Device = "auto",
    threads: options.Threads = None,
    directed: Directed = None,
    format: Format = None,
    combine: Combine = None,
    read_options: ReadOptions = None,
    every: Annotated[
        bool, typer.Option("--all", help="Compute all scores, for --out. By default only the highest are found.")
    ] = False,
    top: Annotated[
        int, typer.Option(min=1, help="How many of the highest to find and to show.", rich_help_panel=options.OUTPUT)
    ] = 10,
    out: options.ResultFile = None,
    as_json: options.Json = False,
) -> None:
    """Closeness or harmonic centrality: the highest scores, exactly; by hops, or with --weights by lengths."""
    options.check("auto", out, None)
    options.check_stream(out, as_json)
    graph = load_for_hops(file, directed, format, read_options, weights, combine)
    ask = hw.harmonic_centrality if harmonic else hw.closeness_centrality
    began = time.perf_counter()
    result = ask(
        graph.reversed() if outwards else graph,
        weights=weights,
        top=None if every else top,
        device=device,
        threads=threads,
    )
    wall = time.perf_counter() - began
    if out is not None:
        columns.write(out, columns.of_scores(result))
    lines = {"searches": str(result.searches or f"all {graph.n:,} whole"), "time": f"{wall:,.2f} s"}
    made = result.searches
    record = {
        "score": result.name,
        "outwards": outwards,
        "weights": weights,
        "searches": made and {"whole": made.whole, "cut_off": made.cut_off, "skipped": made.skipped},
        "top": [{"vertex": key, result.name: score} for key, score in result.top(top)],
        "wall_seconds": wall,
    }
    table = score_table(f"Highest {result.name} centrality", result.name, result, top)
    output.tell(file, graph, as_json, record, [table, terminal.facts("", lines)], out=out)
