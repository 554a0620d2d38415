"""`hopwave bfs FILE`: a search, with a table of its levels, and optionally a picture and a file."""

from __future__ import annotations

import time
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
import typer

import hopwave as hw
from hopwave.api.validate import Validation, validate
from hopwave.cli import columns, options, output, picture, terminal
from hopwave.cli.files import File, Reading, load
from hopwave.cli.levels import level_table, reach, rows, title
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.results.search import BFSResult
from hopwave.system.progress import Meter


class Direction(StrEnum):
    """The direction in which arcs are followed."""

    OUT = "out"
    IN = "in"


def bfs(
    file: File,
    reading: Reading,
    to: options.Drawn,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            "-s",
            help="Where to start: a label, or a number where there are no labels. Repeat for several sources. "
            "Default: the vertex of highest degree.",
        ),
    ] = None,
    direction: Annotated[Direction, typer.Option(help="Follow arcs forwards, or backwards.")] = Direction.OUT,
    depth_limit: Annotated[int | None, typer.Option(help="Stop after this many hops.")] = None,
    path_counts: Annotated[bool, typer.Option("--path-counts", help="Also count the shortest paths.")] = False,
    plan: options.Plan = "auto",
    device: options.SearchDevice = "auto",
    threads: options.Threads = None,
    check: Annotated[bool, options.running("--validate", help="Check the result by Graph500's five rules.")] = False,
    all_levels: Annotated[
        bool, options.printing("--all-levels", help="Show every level, even if there are thousands.")
    ] = False,
) -> None:
    """Breadth-first search: the number of hops from a vertex to every other, level by level."""
    to.check(plan)
    graph = load(file, reading)
    starts = [vertex(graph, name) for name in source] if source else [busiest(graph, direction)]
    with Meter(f"searching {file.name}", None, None) as meter:
        began = time.perf_counter()
        result = hw.bfs(
            graph,
            [graph.label(start) for start in starts],
            path_counts=path_counts,
            depth_limit=depth_limit,
            direction=direction.value,
            plan=plan,
            device=device,
            trace=True,
            threads=threads,
        )
        wall = time.perf_counter() - began
        verdict = None
        if check:
            meter.stage("validating")
            verdict = validate(
                graph,
                [graph.label(start) for start in result.sources],
                result.distances,
                result.predecessors,
                depth_limit=depth_limit,
                direction=direction.value,
            )
        if to.out is not None:
            meter.stage(f"writing {to.out.name}")
            columns.write(to.out, columns.of(result))
        if to.plot is not None:
            meter.stage(f"drawing {to.plot.name}")
            picture.levels(to.plot, rows(result), title(graph, result), reach(graph, result))

    given = {"source_given": bool(source), "direction": direction.value, "depth_limit": depth_limit}
    record = {**given, **in_json(graph, result), "wall_seconds": wall, **validation(verdict)}
    parts: list[Any] = [level_table(title(graph, result), rows(result), all_levels), summary(graph, result, verdict)]
    if not source:
        degree = (graph.in_degrees if direction is Direction.IN else graph.degrees)[starts[0]]
        start = f"no --source given: starting from {graph.label(starts[0])}, which has the highest degree, {degree:,}"
        parts.insert(0, start)
    output.tell(file, graph, to, record, parts)
    if verdict is not None and not verdict.ok:
        raise terminal.CheckFailed(f"not a breadth-first search: {'; '.join(verdict.failures)}")


def vertex(graph: Graph, name: str) -> int:
    """The id of a vertex that the user has typed: a label, which may be a number; without labels, the id itself."""
    if name not in graph and name.isascii() and name.removeprefix("-").isdigit() and len(name) < 20:
        number = int(name)
        if graph.labels is None or number in graph:
            return graph.index(number)
    return graph.index(name)


def busiest(graph: Graph, direction: Direction = Direction.OUT) -> int:
    """The first vertex of highest degree, in the direction of the search."""
    if not graph.n:
        raise GraphError("the graph has no vertices, so there is no source; use a graph with a vertex")
    return int(np.argmax(graph.in_degrees if direction is Direction.IN else graph.degrees))


def summary(graph: Graph, result: BFSResult, verdict: Validation | None) -> Any:
    """The result in a few lines, with the plan and why it was chosen."""
    lines = {"reached": reach(graph, result), "plan": str(result.plan), "engine": result.engine}
    lines["time"] = f"{terminal.milliseconds(sum(level.seconds for level in result.trace or ()))} ms in the levels"
    if result.path_counts is not None:
        lines["path counts"] = most_paths(graph, result)
    if verdict is not None:
        passed = sum(rule.passed is True for rule in verdict.rules)
        lines["validated"] = f"{passed} of {len(verdict.rules)} rules hold" + (
            "" if verdict.ok else "; NOT a valid search"
        )
    return terminal.facts("", lines)


def most_paths(graph: Graph, result: BFSResult) -> str:
    """The vertex with the most shortest paths from the source."""
    counts = result.path_counts
    if isinstance(counts, hw.ScaledCounts):
        logarithms = counts.log2()
        top = int(np.argmax(logarithms))
        return f"at most 2^{logarithms[top]:.1f}, to {graph.label(top)}"
    assert counts is not None
    top = int(np.argmax(counts))
    return f"at most {counts[top]:,.15g}, to {graph.label(top)}"


def in_json(graph: Graph, result: BFSResult) -> dict[str, Any]:
    """The search, for JSON."""
    return {
        "sources": [graph.label(start) for start in result.sources],
        "reached": result.reached,
        "depth": result.depth,
        "vertices_by_level": np.bincount(result.distances[result.distances >= 0]).tolist(),
        "plan": result.plan.name,
        "why": result.plan.why,
        "without": list(result.plan.without),
        "engine": result.engine,
        "seconds": sum(level.seconds for level in result.trace or ()),
        "levels": [asdict(level) for level in result.trace or ()],
    }


def validation(verdict: Validation | None) -> dict[str, Any]:
    """The result of the check, for JSON; empty without a check."""
    if verdict is None:
        return {}
    rules = {rule.name: rule.passed for rule in verdict.rules}
    return {"validation": {"ok": verdict.ok, "rules": rules, "failures": list(verdict.failures)}}
