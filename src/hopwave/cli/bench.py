"""`hopwave bench FILE`: time every plan on a graph, after checking its result; the fastest comes first."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
import typer

import hopwave as hw
from hopwave import engines
from hopwave.cli import options, terminal
from hopwave.cli.files import Directed, File, Format, ReadOptions, load
from hopwave.cli.info import sentence
from hopwave.errors import EngineError, GraphError, PlanError
from hopwave.graph import Graph
from hopwave.plan import Plan
from hopwave.progress import Meter
from hopwave.validate import validate


class Task(StrEnum):
    """What is timed: single searches, or one call of betweenness with all sources."""

    SEARCH = "search"
    BETWEENNESS = "betweenness"


@dataclass(frozen=True)
class Timed:
    """A plan's median time per source, or why it has none."""

    plan: str
    seconds: float | None
    note: str = ""


def bench(
    file: File,
    task: Annotated[Task, typer.Option(help="What to time.")] = Task.SEARCH,
    plan: Annotated[
        list[str] | None,
        typer.Option("--plan", "-p", help="Time this plan. Repeat for several. Default: all plans of the task."),
    ] = None,
    sources: Annotated[
        int, typer.Option(min=1, help="How many random sources, all reached from the vertex of highest degree.")
    ] = 8,
    seed: Annotated[int, typer.Option(help="Seed of the random sources.")] = 1,
    device: options.SearchDevice = "auto",
    threads: options.Threads = None,
    directed: Directed = None,
    format: Format = None,
    read_options: ReadOptions = None,
    as_json: options.Json = False,
) -> None:
    """Time every plan on a graph: check its results, then show its median time per source."""
    hops = [each for each in hw.plans() if each.task == task and each.lengths == "hops"]
    chosen = [hw.plan(name) for name in plan] if plan else hops
    for each in chosen:
        if each.task != task:
            remedy = f"add --task {each.task}" if each.task in list(Task) else "run it by hopwave sssp --method"
            raise PlanError(f"plan {each.name!r} computes {each.task}, not {task}; {remedy}, or choose another plan")
    if device != "auto":
        engines.engine(device)  # an engine that cannot run here is an error before a large graph is read
    graph = load(file, directed, format, read_options)
    starts = draw(graph, sources, seed)
    measure = search_times if task is Task.SEARCH else betweenness_times
    where = {"device": device, "threads": threads}
    rows: list[Timed] = []
    with Meter(f"timing {file.name}", len(chosen), None) as meter:
        for number, each in enumerate(chosen):
            meter.stage(each.name)
            rows.append(attempt(measure, graph, each, starts, where))
            meter.update(number + 1)
    rows.sort(key=lambda row: float("inf") if row.seconds is None else row.seconds)

    arcs = reached_arcs(graph, starts)
    if as_json:
        given = {"file": str(file), "n": graph.n, "m": graph.m, "directed": graph.directed, "task": task.value}
        found = [
            {"plan": row.plan, "seconds": row.seconds, "teps": row.seconds and arcs / row.seconds, "note": row.note}
            for row in rows
        ]
        terminal.emit({**given, **where, "sources": starts, "arcs": arcs, "plans": found})
    else:
        terminal.line(f"{file}: {sentence(graph)}")
        terminal.show(shown(rows, arcs, len(starts)))
    if any(row.note.startswith("WRONG") for row in rows):
        raise terminal.CheckFailed("a plan gave a wrong result; please report this")


def draw(graph: Graph, count: int, seed: int) -> list[int]:
    """Random vertices among those that the vertex of highest degree reaches."""
    if not graph.n:
        raise GraphError("the graph has no vertices, so there is nothing to time; use a graph with a vertex")
    inside = np.flatnonzero(hw.bfs(graph, graph.label(int(np.argmax(graph.degrees)))).distances >= 0)
    return [int(vertex) for vertex in np.random.default_rng(seed).choice(inside, min(count, len(inside)), False)]


def reached_arcs(graph: Graph, starts: Sequence[int]) -> float:
    """The arcs that a search from these sources follows, on average: TEPS is this number divided by the time."""
    seen = [graph.degrees[hw.bfs(graph, graph.label(start)).distances >= 0].sum(dtype=np.int64) for start in starts]
    return float(np.mean(seen))


Measure = Callable[[Graph, Plan, list[int], dict[str, Any]], Timed]


def attempt(measure: Measure, graph: Graph, plan: Plan, starts: list[int], where: dict[str, Any]) -> Timed:
    """A plan's time, or why the engine cannot run it."""
    try:
        return measure(graph, plan, starts, where)
    except (EngineError, PlanError) as error:
        return Timed(plan.name, None, str(error))


def search_times(graph: Graph, plan: Plan, starts: list[int], where: dict[str, Any]) -> Timed:
    """Check every search by Graph500's five rules, then time the same search again."""
    seconds = []
    for start in starts:
        source = graph.label(start)
        result = hw.bfs(graph, source, plan=plan, **where)
        verdict = validate(graph, source, result.distances, result.predecessors)
        if not verdict.ok:
            return Timed(plan.name, None, f"WRONG: {'; '.join(verdict.failures)}")
        began = time.perf_counter()
        hw.bfs(graph, source, plan=plan, **where)
        seconds.append(time.perf_counter() - began)
    return Timed(plan.name, statistics.median(seconds))


def betweenness_times(graph: Graph, plan: Plan, starts: list[int], where: dict[str, Any]) -> Timed:
    """The first run is checked by its certificate; the second is timed, and its time divided by its sources."""
    labels = [graph.label(start) for start in starts]
    hw.betweenness_centrality(graph, sources=labels, plan=plan, progress=False, **where)
    began = time.perf_counter()
    hw.betweenness_centrality(graph, sources=labels, plan=plan, progress=False, **where)
    return Timed(plan.name, (time.perf_counter() - began) / len(starts))


def shown(rows: list[Timed], arcs: float, sources: int) -> Any:
    """The table, with bars relative to the slowest plan."""
    timed = [row.seconds for row in rows if row.seconds is not None]
    caption = f"Median of {sources} sources, results checked first. GTEPS: {arcs:,.0f} arcs per source / time / 10^9."
    made = terminal.table("Plans on this graph", "plan", "ms", "GTEPS", "", numbers=(1, 2), caption=caption)
    for row in rows:
        if row.seconds is None:
            made.add_row(row.plan, "–", "–", row.note)
        else:
            bar = terminal.bar(row.seconds / max(timed), 30)
            made.add_row(row.plan, terminal.milliseconds(row.seconds), f"{arcs / row.seconds / 1e9:.3f}", bar)
    return made
