"""`hopwave plans`, `bench`, `graph500` and `paper`: the published algorithms, checked and timed."""

import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import typer

import hopwave as hw
from hopwave import engines
from hopwave.api.validate import validate
from hopwave.checks.options import check_thread_count
from hopwave.cli import terminal
from hopwave.cli.files import Reading, Running, load, timed
from hopwave.cli.searches import busiest
from hopwave.errors import EngineError, PlanError
from hopwave.graph import Graph
from hopwave.planning.plan import Plan
from hopwave.system import mpi
from hopwave.system.progress import Meter, say


def plans(plan: str | None = None, *, markdown: bool = False, as_json: bool = False) -> None:
    """List the plans: every published algorithm with its steps, its rule and its paper.

    plan [PLAN]: Show every choice of this plan.
    markdown: Print the table in Markdown, as in the README.
    """
    if as_json and markdown:
        raise typer.BadParameter("--json cannot be combined with --markdown; omit one of them")
    chosen = hw.plans() if plan is None else type(hw.plans())([hw.plan(plan)])
    names = ("name", "summary", "paper", "section", "task", "loop", "order", "lengths", "rule")
    records = [{name: getattr(one, name) for name in names} | {"steps": list(map(str, one.steps))} for one in chosen]
    if as_json:
        terminal.emit({"plans": records})
    elif markdown:
        terminal.line(chosen.markdown())
    elif plan is not None:
        about = {name: "\n".join(value) if name == "steps" else str(value) for name, value in records[0].items()}
        terminal.show(terminal.facts(plan, about))
    else:
        caption = "'hopwave plans PLAN' shows one plan in full."
        rows = ((one.name, one.summary, str(one.rule), f"{one.paper}, {one.section}") for one in chosen)
        shown = terminal.table("Plans", "plan", "description", "rule", "paper", rows=rows, caption=caption)
        shown.columns[0].style, shown.columns[0].no_wrap, shown.columns[2].no_wrap = "cyan", True, True
        terminal.show(shown)


# ------------------------------------------------------------------ bench


@dataclass(frozen=True)
class Timed:
    """A plan's seconds per source: median and quartiles over its rounds. Without a time, `note` is the reason."""

    plan: str
    seconds: float | None = None
    low: float = 0.0
    high: float = 0.0
    place: int | None = None
    note: str = ""


def bench(
    file: Path,
    reading: Reading,
    *,
    task: Literal["search", "betweenness"] = "search",
    plan: list[str] | None = None,
    sources: int = 8,
    seed: int = 1,
    rounds: int = 5,
    run: Running,
    as_json: bool = False,
) -> None:
    """Check and time every plan on a graph, and rank the plans; plans with overlapping times share a rank.

    task: Task to time: single searches, or one betweenness call with all sources.
    plan -p: Time this plan. Repeat for several. Default: all plans of the task.
    sources min=1: Number of random sources, all reached from the vertex of highest degree.
    seed min=0: Seed of the random sources.
    rounds min=3: How often to time every plan; the spread is computed from these rounds.
    device @Running: auto, cpu, cuda or reference.
    """
    hops = [each for each in hw.plans() if each.task == task and each.lengths == "hops"]
    chosen = [*dict.fromkeys(map(hw.plan, plan))] if plan else hops
    check_thread_count(run.threads)  # checked once here instead of failing in every plan
    for each in chosen:
        if each.task != task:
            remedy = f"add --task {each.task}" if each.task == "betweenness" else "run it with hopwave sssp --method"
            raise PlanError(f"plan {each.name!r} computes {each.task}, not {task}; {remedy}, or choose another plan")
    if run.device != "auto":
        engines.engine(run.device)  # raises an error before a large graph is read, if the engine cannot run
    graph = load(file, reading)
    starts = draw(graph, sources, seed)
    rows = placed(measured(graph, chosen, task, starts, rounds, vars(run), f"timing {file.name}"))
    reached = (hw.bfs(graph, start).distances >= 0 for start in starts)
    arcs = float(np.mean([graph.degrees[seen].sum(dtype=np.int64) for seen in reached]))  # TEPS = arcs / time
    if as_json:
        given = {"file": str(file), **terminal.sizes(graph), "task": task, "rounds": rounds, **vars(run)}
        found = [{**vars(row), "teps": row.seconds and arcs / row.seconds} for row in rows]
        terminal.emit({**given, "sources": [graph.index(start) for start in starts], "arcs": arcs, "plans": found})
    else:
        terminal.line(f"{file}: {terminal.sentence(graph)}")
        terminal.show(ranked(rows, arcs, len(starts), rounds))
    if any(row.note.startswith("WRONG") for row in rows):
        raise terminal.CheckFailed("a plan gave a wrong result; please report this")


def draw(graph: Graph, count: int, seed: int) -> list[Any]:
    """Random vertices among those that the vertex of highest degree reaches."""
    inside = np.flatnonzero(hw.bfs(graph, graph.label(busiest(graph))).distances >= 0)
    drawn = np.random.default_rng(seed).choice(inside, min(count, len(inside)), False)
    return [graph.label(int(vertex)) for vertex in drawn]


def measured(
    graph: Graph, plans: list[Plan], task: str, starts: list[Any], rounds: int, where: dict[str, Any], title: str
) -> list[Timed]:
    """Check every plan once, then time all plans in turn in every round, so that other load affects all equally."""

    def once(plan: Plan) -> float:
        """Seconds per source: the median over single searches, or the mean of one betweenness call."""
        if task == "search":
            return statistics.median(timed("", partial(hw.bfs, graph, one, plan=plan, **where))[1] for one in starts)
        call = partial(hw.betweenness_centrality, graph, sources=starts, plan=plan, progress=False, **where)
        return timed("", call)[1] / len(starts)

    def check(plan: Plan) -> str:
        """Violations of Graph500's five rules; a betweenness call that fails its certificate raises an error."""
        if task != "search":
            once(plan)
            return ""
        results = ((one, hw.bfs(graph, one, plan=plan, **where)) for one in starts)
        verdicts = (validate(graph, one, found.distances, found.predecessors) for one, found in results)
        return next((f"WRONG: {'; '.join(verdict.failures)}" for verdict in verdicts if not verdict.ok), "")

    wrong: dict[str, str] = {}
    with Meter(title, len(plans) * (1 + rounds), None) as meter:
        for number, plan in enumerate(plans):
            try:
                wrong[plan.name] = check(plan)
            except (EngineError, PlanError) as error:
                wrong[plan.name] = str(error)
            meter.update(number + 1)
        times: dict[str, list[float]] = {plan.name: [] for plan in plans if not wrong[plan.name]}
        for number in range(rounds):
            for plan in plans:
                if plan.name in times:
                    times[plan.name].append(once(plan))
            meter.update(len(plans) * (2 + number))
    rows = [Timed(name, note=note) for name, note in wrong.items() if note]
    for name, spent in times.items():
        low, middle, high = statistics.quantiles(spent, n=4, method="inclusive")
        rows.append(Timed(name, middle, low, high))
    return rows


def placed(rows: list[Timed]) -> list[Timed]:
    """The plans sorted by time, with places. Plans whose times overlap with the first plan of a place share the place.

    >>> rows = [Timed("a", 3.0, 2.0, 4.0), Timed("b", 2.5, 2.4, 2.6), Timed("c", 9.0, 8.0, 9.5), Timed("d", note="no")]
    >>> [(row.plan, row.place) for row in placed(rows)]
    [('b', 1), ('a', 1), ('c', 3), ('d', None)]
    """
    timed = sorted((row for row in rows if row.seconds), key=lambda row: (row.seconds or 0.0, row.low, row.plan))
    found: list[Timed] = []
    first: Timed | None = None
    for number, row in enumerate(timed, start=1):
        if first is None or row.low > first.high:
            first = replace(row, place=number)
        found.append(replace(row, place=first.place))
    return found + [row for row in rows if not row.seconds]


def ranked(rows: Sequence[Timed], arcs: float, sources: int, rounds: int) -> Any:
    """The table, with bars relative to the slowest plan."""
    slowest = max((row.seconds or 0.0 for row in rows), default=0.0)
    caption = (
        f"ms per source: median of {rounds} rounds over {sources} sources, results checked first; half of the rounds "
        "are within ±. Plans that share a place have overlapping times. "
        f"GTEPS: {arcs:,.0f} arcs per source / time / 10^9."
    )
    titles = ("place", "plan", "ms", "±", "GTEPS", "")
    made = terminal.table("Plans on this graph", *titles, numbers=(0, 2, 3, 4), caption=caption)
    for row in rows:
        cells: tuple[Any, ...] = ("–", "–", "–", row.note)
        if row.seconds is not None:
            spread = f"{100 * (row.high - row.low) / (2 * row.seconds):.0f} %"  # half of the quartiles' distance
            bar = terminal.bar(row.seconds / slowest, 30)
            cells = terminal.milliseconds(row.seconds), spread, f"{arcs / row.seconds / 1e9:.3f}", bar
        made.add_row(str(row.place or "–"), row.plan, *cells)
    return made


# ------------------------------------------------------------------ Graph500, papers


def graph500(
    *,
    scale: int,
    edgefactor: int = 16,
    device: str = "auto",
    nbfs: int = 64,
    seed: int = 1,
    layout: str = "1d",
    sssp: bool = False,
    plan: str = "auto",
    threads: int | None = None,
    as_json: bool = False,
) -> None:
    """Run the Graph500 benchmark: generate, build, search, validate. With MPI: mpiexec -n 4 hopwave graph500 …

    scale: The graph has 2^scale vertices.
    edgefactor: Edges per vertex.
    nbfs min=1: Number of searches, each from another root; the rules require 64.
    seed: Seed of the graph and of the roots.
    layout: 1d or 2d: how the graph is distributed over the ranks.
    sssp: Also run kernel 3: shortest paths with random edge lengths.
    """
    from hopwave import graph500 as benchmark  # imports Numba, which other commands do not need
    from hopwave.distributed.ranks import world

    ranks = mpi.copies() > 1 or "PMIX_RANK" in os.environ  # started by mpiexec, srun, …
    prints = not ranks or world().rank == 0
    began = time.perf_counter()
    with Meter(f"graph500, scale {scale}", nbfs * (2 if sssp else 1), None if prints else False) as meter:
        more: dict[str, Any] = {"layout": layout, "threads": threads, "ranks": ranks, "sssp": sssp, "plan": plan}
        more["progress"] = lambda number, _: meter.update(number)
        outcome = benchmark.run(scale, edgefactor, device, nbfs, seed, **more)
    about = dict(outcome.about)
    if outcome.waiting_share is not None:
        about["waiting_share"] = round(outcome.waiting_share, 4)
    searches = (*outcome.searches, *outcome.paths)
    if prints and as_json:
        facts = {"valid": outcome.valid, "wall_seconds": time.perf_counter() - began, **about}
        terminal.emit({**outcome.values(), **facts})
    elif prints:
        words = ", ".join(f"{key} {value}" for key, value in about.items())
        verdict = f"validation: {'passed' if outcome.valid else 'FAILED'}, {len(searches)} searches ({words})"
        for line in (*outcome.lines(), verdict):
            terminal.line(line)
    if not outcome.valid:
        bad = next(one for one in searches if one.broken)
        failed = terminal.CheckFailed(f"the search from root {bad.root} broke the rules: {', '.join(bad.broken)}")
        failed.everywhere = ranks
        raise failed


def paper(
    name: Literal["turbobfs", "hiragushi", "turbobc", "xbfs", "pushpull"],
    *,
    device: Literal["cpu", "cuda"] = "cpu",
    quick: bool = False,
    only: str | None = None,
    seconds: float | None = None,
    out: Path = Path("papers"),
    as_json: bool = False,
) -> None:
    """Measure every table and figure of a paper, and write one page with the published numbers next to ours.

    Graphs are read from the folder HOPWAVE_DATA, generated or downloaded. If none of these is possible, a graph of the
    same kind replaces it, and its row is marked.

    name: Paper to reproduce.
    device @Running: Device to measure on.
    quick @Running: Small graphs, one of each kind: under two minutes.
    only @Running: Measure only this table or figure, for example "Table II".
    seconds min=1 @Running: Total measuring time, divided among the graphs; it decides how many trials there are.
    out @Output: Folder for NAME.html and NAME.jsonl; with --only, NAME-NUMBER.html and NAME-NUMBER.jsonl.
    """
    engines.engine(device)  # raises an error at once if the engine cannot run
    from hopwave import papers
    from hopwave.papers import run

    whole = papers.paper(name)
    paper = whole if only is None else run.only(whole, only)
    if not paper.exhibits:
        known = ", ".join(repr(one.number) for one in whole.exhibits)
        raise typer.BadParameter(f"--only {only!r} is not a table or figure of {name}; use one of {known}")
    outcome = run.measure(paper, device, quick, say, seconds or 0.0, out)
    page, lines = run.write(outcome, out)
    counts = outcome.summary()
    if as_json:
        about = {"paper": name, "page": str(page), "lines": str(lines), "seconds": outcome.seconds}
        terminal.emit({**about, **counts})
    else:
        terminal.line(
            f"{page}: {counts['measured']} of {counts['exhibits']} tables and figures measured, {counts['rows']} rows; "
            f"{counts['stand-ins']} of {counts['graphs']} graphs are stand-ins; {counts['left out']} rows omitted; "
            f"{outcome.seconds:.0f} s; numbers in {lines}"
        )
    if outcome.wrong:
        raise terminal.CheckFailed(f"results were wrong: {'; '.join(outcome.wrong)}")
