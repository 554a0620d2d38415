"""`hopwave bench FILE`: time every plan on a graph, after checking its results; the fastest comes first.

Plans are timed in turn, round after round, so that other work on the machine slows all of them alike. A plan has one
time per round. Two plans get different places only if their times do not overlap: see `placed`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
import typer

import hopwave as hw
from hopwave import engines
from hopwave.api.validate import validate
from hopwave.checks.options import check_thread_count
from hopwave.cli import options, terminal
from hopwave.cli.files import File, Reading, load
from hopwave.cli.info import sentence, sizes
from hopwave.errors import EngineError, GraphError, PlanError
from hopwave.graph import Graph
from hopwave.planning.plan import Plan
from hopwave.system.progress import Meter


class Task(StrEnum):
    """What is timed: single searches, or one call of betweenness with all sources."""

    SEARCH = "search"
    BETWEENNESS = "betweenness"


@dataclass(frozen=True)
class Timed:
    """A plan's time per source: `seconds` is the median of its rounds, `low` and `high` are the quartiles.

    If the plan was not timed, `seconds` is None, and `note` says why.
    """

    plan: str
    seconds: float | None = None
    low: float = 0.0
    high: float = 0.0
    place: int | None = None
    note: str = ""

    @property
    def spread(self) -> float:
        """Half of the distance between the quartiles, as a share of the median."""
        return (self.high - self.low) / (2 * self.seconds) if self.seconds else 0.0


def bench(
    file: File,
    reading: Reading,
    task: Annotated[Task, typer.Option(help="What to time.")] = Task.SEARCH,
    plan: Annotated[
        list[str] | None,
        typer.Option(
            "--plan",
            "-p",
            help="Time this plan. Repeat for several. Default: all plans of the task.",
            autocompletion=options.plan_names,
        ),
    ] = None,
    sources: Annotated[
        int, typer.Option(min=1, help="How many random sources, all reached from the vertex of highest degree.")
    ] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random sources.")] = 1,
    rounds: Annotated[
        int, typer.Option(min=3, help="How often every plan is timed; the spread comes from these rounds.")
    ] = 5,
    device: options.SearchDevice = "auto",
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Check and time every plan on a graph, and rank the plans; those whose times overlap share a place."""
    hops = [each for each in hw.plans() if each.task == task and each.lengths == "hops"]
    chosen = [hw.plan(name) for name in dict.fromkeys(plan)] if plan else hops
    check_thread_count(threads)  # here, or every plan would fail with the same error
    for each in chosen:
        if each.task != task:
            remedy = f"add --task {each.task}" if each.task in list(Task) else "run it by hopwave sssp --method"
            raise PlanError(f"plan {each.name!r} computes {each.task}, not {task}; {remedy}, or choose another plan")
    if device != "auto":
        engines.engine(device)  # raises an error before a large graph is read, if the engine cannot run
    graph = load(file, reading)
    starts = draw(graph, sources, seed)
    where = {"device": device, "threads": threads}
    rows = placed(measured(graph, chosen, task, starts, rounds, where, f"timing {file.name}"))
    arcs = reached_arcs(graph, starts)
    if as_json:
        given = {"file": str(file), **sizes(graph), "task": task.value, "rounds": rounds}
        found = [{**vars(row), "teps": row.seconds and arcs / row.seconds} for row in rows]
        terminal.emit({**given, **where, "sources": starts, "arcs": arcs, "plans": found})
    else:
        terminal.line(f"{file}: {sentence(graph)}")
        terminal.show(shown(rows, arcs, len(starts), rounds))
    if any(row.note.startswith("WRONG") for row in rows):
        raise terminal.CheckFailed("a plan gave a wrong result; please report this")


def draw(graph: Graph, count: int, seed: int) -> list[int]:
    """Random vertices among those that the vertex of highest degree reaches."""
    if not graph.n:
        raise GraphError("the graph has no vertices, so there is nothing to time; use a graph with a vertex")
    inside = np.flatnonzero(hw.bfs(graph, graph.label(int(np.argmax(graph.degrees)))).distances >= 0)
    return [int(vertex) for vertex in np.random.default_rng(seed).choice(inside, min(count, len(inside)), False)]


def reached_arcs(graph: Graph, starts: Sequence[int]) -> float:
    """The mean number of arcs that a search from one of these sources follows: TEPS = arcs / time."""
    seen = [graph.degrees[hw.bfs(graph, graph.label(start)).distances >= 0].sum(dtype=np.int64) for start in starts]
    return float(np.mean(seen))


# A Check returns None, or what is wrong with a plan's results. A Once runs a plan once and returns seconds per source.
Check = Callable[[Graph, Plan, list[int], dict[str, Any]], str | None]
Once = Callable[[Graph, Plan, list[int], dict[str, Any]], float]


def measured(
    graph: Graph, plans: list[Plan], task: Task, starts: list[int], rounds: int, where: dict[str, Any], title: str
) -> list[Timed]:
    """Check every plan once, then time it in every round."""
    check: Check = check_searches if task is Task.SEARCH else check_betweenness
    once: Once = time_searches if task is Task.SEARCH else time_betweenness
    rows: list[Timed] = []
    times: dict[str, list[float]] = {}
    with Meter(title, len(plans) * (1 + rounds), None) as meter:
        for number, plan in enumerate(plans):
            note = attempt(check, graph, plan, starts, where)
            if note is None:
                times[plan.name] = []
            else:
                rows.append(Timed(plan.name, note=note))
            meter.update(number + 1)
        good = [plan for plan in plans if plan.name in times]
        for number in range(rounds):
            for plan in good:
                times[plan.name].append(once(graph, plan, starts, where))
            meter.update(len(plans) * (2 + number))
    for name, seconds in times.items():
        low, middle, high = statistics.quantiles(seconds, n=4, method="inclusive")
        rows.append(Timed(name, middle, low, high))
    return rows


def placed(rows: list[Timed]) -> list[Timed]:
    """The plans in the order of their times, with places; plans without a time come last.

    A place begins with its fastest plan. Plans whose times overlap with the times of that plan share its place: the
    difference may be noise.

    >>> rows = [Timed("a", 3.0, 2.0, 4.0), Timed("b", 2.5, 2.4, 2.6), Timed("c", 9.0, 8.0, 9.5), Timed("d", note="no")]
    >>> [(row.plan, row.place) for row in placed(rows)]
    [('b', 1), ('a', 1), ('c', 3), ('d', None)]
    """
    ranked = sorted(
        (row for row in rows if row.seconds is not None), key=lambda row: (row.seconds or 0.0, row.low, row.plan)
    )
    found: list[Timed] = []
    first: Timed | None = None
    for number, row in enumerate(ranked, start=1):
        if first is None or row.low > first.high:
            first = replace(row, place=number)
        found.append(replace(row, place=first.place))
    return found + [row for row in rows if row.seconds is None]


def attempt(check: Check, graph: Graph, plan: Plan, starts: list[int], where: dict[str, Any]) -> str | None:
    """What is wrong with a plan's results, or why the engine cannot run it; None if neither."""
    try:
        return check(graph, plan, starts, where)
    except (EngineError, PlanError) as error:
        return str(error)


def check_searches(graph: Graph, plan: Plan, starts: list[int], where: dict[str, Any]) -> str | None:
    """Check every search by Graph500's five rules."""
    for start in starts:
        source = graph.label(start)
        result = hw.bfs(graph, source, plan=plan, **where)
        verdict = validate(graph, source, result.distances, result.predecessors)
        if not verdict.ok:
            return f"WRONG: {'; '.join(verdict.failures)}"
    return None


def time_searches(graph: Graph, plan: Plan, starts: list[int], where: dict[str, Any]) -> float:
    """The median time over the sources, so that a few searches slowed by other work do not count."""
    seconds = []
    for start in starts:
        source = graph.label(start)
        began = time.perf_counter()
        hw.bfs(graph, source, plan=plan, **where)
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def check_betweenness(graph: Graph, plan: Plan, starts: list[int], where: dict[str, Any]) -> str | None:
    """Run once: a run that fails its certificate raises an error."""
    time_betweenness(graph, plan, starts, where)
    return None


def time_betweenness(graph: Graph, plan: Plan, starts: list[int], where: dict[str, Any]) -> float:
    """The time of one run over all sources, divided by their number."""
    labels = [graph.label(start) for start in starts]
    began = time.perf_counter()
    hw.betweenness_centrality(graph, sources=labels, plan=plan, progress=False, **where)
    return (time.perf_counter() - began) / len(starts)


def shown(rows: list[Timed], arcs: float, sources: int, rounds: int) -> Any:
    """The table, with bars relative to the slowest plan."""
    timed = [row.seconds for row in rows if row.seconds is not None]
    caption = (
        f"ms per source: median of {rounds} rounds over {sources} sources, results checked first; half of the rounds "
        "are within ±. Plans that share a place are not told apart: their times overlap. "
        f"GTEPS: {arcs:,.0f} arcs per source / time / 10^9."
    )
    titles = ("place", "plan", "ms", "±", "GTEPS", "")
    made = terminal.table("Plans on this graph", *titles, numbers=(0, 2, 3, 4), caption=caption)
    for row in rows:
        if row.seconds is None:
            made.add_row("–", row.plan, "–", "–", "–", row.note)
        else:
            bar = terminal.bar(row.seconds / max(timed), 30)
            rate = f"{arcs / row.seconds / 1e9:.3f}"
            spread = f"{100 * row.spread:.0f} %"
            made.add_row(str(row.place), row.plan, terminal.milliseconds(row.seconds), spread, rate, bar)
    return made
