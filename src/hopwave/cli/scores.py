"""`hopwave bc`, `closeness`, `pagerank`, `components` and `cores`: scores and groups of vertices."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.table import Table

import hopwave as hw
from hopwave.cli import files, terminal
from hopwave.cli.files import Drawn, Reading, ReadingLengths, ReadingWeights, Running, Written, load, timed, vertex
from hopwave.display.drawing import highest_places
from hopwave.results.scores import Scores, VertexScores


def highest(result: Scores, top: int) -> list[dict[str, Any]]:
    """The rows of the highest scores."""
    return files.rows(result, highest_places(result._columns()[result.name], top))


def top_table(title: str, column: str, result: Scores, top: int) -> Table:
    """The highest scores with bars; for a sample, also their bounds."""
    columns, joined = result._columns(), " → " if result.graph.directed else " – "
    bounds = {"low": "from", "high": "to"} if "low" in columns else {"bound": "±"} if "bound" in columns else {}
    rows = [
        (joined.join(str(row[head]) for head in result._heads), row[result.name], *(row[name] for name in bounds))
        for row in highest(result, top)
    ]
    return terminal.ranking(title, ["vertex" if len(result._heads) == 1 else "edge", column, *bounds.values()], rows)


def counted(weights: bool) -> str:
    """The unit of distances, for a summary; `weights`: --weights was passed."""
    return "along the weights of the file" if weights else "in hops; --weights follows the weights of the file"


# ------------------------------------------------------------------ betweenness


@dataclass(frozen=True)
class Betweenness(Running):
    """Arguments of hopwave.betweenness_centrality."""

    k: int | None = None
    seed: int | None = None
    epsilon: float | None = None
    method: str = "auto"
    delta: float = 0.1
    endpoints: bool = False
    weights: bool = False
    normalized: bool = True
    plan: str = "auto"
    memory_limit: int | None = None
    deterministic: bool = False
    checkpoint: Path | None = None
    reduce: bool = True


def bc(
    file: Path,
    reading: ReadingWeights,
    to: Drawn,
    asked: Betweenness,
    *,
    edges: bool = False,
    source: list[str] | None = None,
    target: list[str] | None = None,
    cutoff: float | None = None,
    top: int = 10,
) -> None:
    """Betweenness centrality of vertices or edges, exact or estimated from a sample of sources or paths.

    k -k: Sample this many sources, as NetworkX does; shows error bounds.
    epsilon: Sample until the error of every normalised score is at most epsilon.
    method: Method of --epsilon: auto, paths (between random pairs), sources, or exact. auto chooses the cheapest.
    delta: Probability that some score of a sample deviates by more than its bound.
    endpoints: Count paths for their first and last vertices, too.
    normalized --normalized/--raw: Scores as a fraction of all pairs, or as a number of pairs.
    edges: Score edges instead of vertices.
    source -s: Only paths from this vertex. Repeat for several.
    target -t: Only paths to this vertex. Repeat for several.
    cutoff: Only paths of at most this many hops; with --weights, of this length.
    memory_limit @Running: Maximum memory in bytes, in addition to the graph.
    deterministic @Running: Use only plans whose results are bitwise identical on every run.
    checkpoint @Running: Save progress to this file every minute and on Ctrl-C; resume from it if it exists.
    reduce --reduce/--whole @Running: Simplify the graph first if that saves work: trees, chains, articulation points.
    """
    if edges and (asked.epsilon is not None or asked.endpoints or asked.method != "auto"):
        raise typer.BadParameter("--edges cannot be combined with --epsilon, --method or --endpoints; omit one of them")
    if asked.k is not None and asked.k < 1:
        raise typer.BadParameter(f"-k {asked.k} samples no source; pass at least 1")
    to.check(asked.plan, "betweenness")
    graph = load(file, reading, weights=asked.weights)
    if cutoff is not None and not asked.weights and cutoff.is_integer():
        cutoff = int(cutoff)
    arguments: dict[str, Any] = vars(asked) | {"cutoff": cutoff}
    for name, ends in (("sources", source), ("targets", target)):
        arguments[name] = [vertex(graph, end) for end in ends] if ends else None
    ask: Any = hw.edge_betweenness_centrality if edges else hw.betweenness_centrality
    skipped = ("epsilon", "method", "endpoints") if edges else ()
    result, wall = timed("", lambda: ask(graph, **{k: v for k, v in arguments.items() if k not in skipped}))
    to.write(result, lambda path: files.draw_scores(path, result, top))
    given = ("k", "seed", "normalized", "cutoff", "weights", "endpoints", "epsilon", "method")
    pairs = getattr(result, "pairs", None)
    record = {name: arguments[name] for name in given} | {
        "delta": None if asked.epsilon is None and asked.k is None else asked.delta,
        "checkpoint": asked.checkpoint and str(asked.checkpoint),
        "scored": result._things,
        "sources": result.sources,
        "pairs": pairs,
        "plan": result.plan.name,
        "why": result.plan.why,
        "engine": result.engine,
        "reduction": result.reduction and asdict(result.reduction),
        "certificate": {"error": result.certificate.error, "tolerance": result.certificate.tolerance},
        "widest_bound": result._widest_bound,
        "scores_above_zero": int(np.count_nonzero(result._columns()["betweenness"] > 0)),
        "top": highest(result, top),
        "wall_seconds": wall,
    }
    searches, kind = (result.sources, "source") if pairs is None else (pairs, "pair")
    lines = {
        "paths": counted(asked.weights),
        "scores": "; ".join(result._about()),
        "plan": str(result.plan),
        "engine": result.engine,
        "time": f"{wall:,.2f} s" + (f", {terminal.milliseconds(wall / searches)} ms per {kind}" if searches else ""),
    }
    table = top_table(f"Highest betweenness, {result._drawn()}", "betweenness", result, top)
    to.tell(file, graph, record, [table, terminal.facts("", lines)])


# ------------------------------------------------------------------ closeness


def closeness(
    file: Path,
    reading: ReadingWeights,
    to: Drawn,
    *,
    weights: bool = False,
    harmonic: bool = False,
    outwards: bool = False,
    k: int | None = None,
    seed: int | None = None,
    delta: float = 0.1,
    interval: str = "guaranteed",
    every: bool = False,
    reduce: bool = True,
    run: Running,
    top: int = 10,
) -> None:
    """Closeness or harmonic centrality, in hops or weighted: the exact highest scores, or all scores from a sample.

    harmonic: Harmonic centrality, the sum of 1/distance, instead of closeness.
    outwards: In a directed graph, use distances from a vertex instead of distances to it.
    k -k: Estimate all scores from this many sources, with confidence intervals.
    delta: Probability that an interval of a sample misses the exact score.
    interval: guaranteed: all intervals hold simultaneously with probability at least 1 − delta. normal: each
        holds with probability about 1 − delta; far narrower.
    every --all: Compute all scores, for --out. By default, only the highest scores are computed.
    reduce --reduce/--whole @Running: With --all, simplify the graph first if that saves work: trees and chains.
    top min=1 @Output: Number of highest scores to compute and show.
    out @Output: Write the computed scores, one row each: the highest (--top), or with --all or -k the scores of all
        vertices. .csv, .csv.gz, .parquet or .npz; - prints them as CSV and nothing else.
    """
    graph = load(file, reading, to, weights=weights)
    ask: Any = hw.harmonic_centrality if harmonic else hw.closeness_centrality
    more: Any = {"delta": delta, "interval": interval, "reduce": reduce, **vars(run)}
    more |= {"weights": weights, "k": k, "seed": seed, "top": None if every or k is not None else top}
    result: VertexScores
    result, wall = timed("", lambda: ask(graph.reversed() if outwards else graph, **more))
    to.write(result, lambda path: files.draw_scores(path, result, top))
    if to.out is not None and len(result) < graph.n:
        only = f"only the {len(result):,} highest scores of {graph.n:,} vertices were written"
        terminal.to_stderr("note", f"{only}; --all computes and writes all")
    made, n = result.searches, graph.n
    record = {
        "score": result.name,
        "outwards": outwards,
        "weights": weights,
        "searches": made and asdict(made),
        "reduction": result.reduction and asdict(result.reduction),
        "k": k,
        "seed": seed,
        "interval": result.interval,
        "delta": result.delta,
        "top": highest(result, top),
        "wall_seconds": wall,
    }
    searches = f"from {min(k, n):,} sources" if k is not None else f"all {n:,} vertices"
    lines = {"distances": counted(weights), "searches": str(made or result.reduction or searches)}
    lines |= {} if result.bounds is None else {"scores": result._about()[0]}
    table = top_table(f"Highest {result.name} centrality", result.name, result, top)
    to.tell(file, graph, record, [table, terminal.facts("", lines | {"time": f"{wall:,.2f} s"})])


def pagerank(
    file: Path,
    reading: ReadingLengths,
    to: Written,
    *,
    alpha: float = 0.85,
    tol: float = 1e-6,
    max_iter: int = 100,
    restart: list[str] | None = None,
    device: str = "auto",
    top: int = 10,
) -> None:
    """PageRank: the stationary distribution of a random walk that follows edges in proportion to their weights.

    alpha: Probability that the walk follows an edge.
    tol: Stop when a round changes the scores by less than n · tol in total, as NetworkX does.
    max_iter: Maximum number of rounds.
    restart: Let the walk jump only to this vertex. Repeat for several.
    """
    graph = load(file, reading, to)
    jumps = {vertex(graph, name): 1.0 for name in restart} if restart else None
    result, wall = timed(f"ranking {file.name}", lambda: hw.pagerank(graph, alpha, jumps, max_iter, tol, device=device))
    to.write(result)
    record = {"alpha": alpha, "tol": tol, "max_iter": max_iter, "restart": list(jumps or ())} | {
        "weights": graph.is_weighted,
        "top": highest(result, top),
        "wall_seconds": wall,
    }
    lines = {
        "edges": "followed in proportion to their weights" if graph.is_weighted else "equally likely",
        "time": f"{terminal.milliseconds(wall)} ms",
    }
    to.tell(file, graph, record, [top_table("Highest PageRank", "rank", result, top), terminal.facts("", lines)])


# ------------------------------------------------------------------ structure


def components(
    file: Path, reading: Reading, to: Written, *, strong: bool = False, device: str = "auto", top: int = 10
) -> None:
    """Connected components: their number, and the sizes of the largest.

    strong: Strongly connected components of a directed graph. Default: ignore the direction of arcs.
    top min=1 @Output: Number of components to show, the largest first.
    """
    ask = hw.strongly_connected_components if strong else hw.weakly_connected_components
    tell_groups(file, reading, to, partial(ask, device=device), "component", top)


def cores(file: Path, reading: Reading, to: Written, *, device: str = "auto", top: int = 10) -> None:
    """Core numbers: the largest k such that a vertex is in a subgraph in which every vertex has at least k neighbours.

    top min=1 @Output: Number of core numbers to show, the highest first.
    """
    tell_groups(file, reading, to, partial(hw.core_numbers, device=device), "core number", top)


def tell_groups(file: Path, reading: Reading, to: Written, ask: Callable[..., Any], what: str, top: int) -> None:
    """Print the number of vertices per component (largest first) or core number (highest first)."""
    graph = load(file, reading, to)
    result, wall = timed("", lambda: ask(graph))
    to.write(result)
    found, sizes = np.unique(result._columns()[what], return_counts=True)
    best = highest_places(sizes if what == "component" else found, top)
    rows = [{what: found[i], "vertices": sizes[i], "%": round(100 * sizes[i] / graph.n, 2)} for i in best]
    to.tell_rows(file, graph, {"count": len(found)}, f"{what}s: {len(found):,}", rows, wall)
