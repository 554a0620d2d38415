"""`hopwave bfs`, `sssp`, `routes`, `table`, `accessibility`, `nearest` and `isochrones`: distances and paths."""

from dataclasses import asdict
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import typer
from rich.table import Table

import hopwave as hw
from hopwave.api.validate import Validation, validate
from hopwave.cli import files, terminal
from hopwave.cli.files import Drawn, Reading, ReadingLengths, Running, Written, load, timed, vertex
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.io.lines import NUMERIC, Problem, Source, float_of
from hopwave.io.table import MISSING, sheet_of
from hopwave.io.table import rows as table_rows
from hopwave.results.search import BFSResult
from hopwave.system.progress import Meter

Way = Literal["out", "in"]
ROWS = 16  # rows of the distribution of distances
SHOWN = 12  # maximum rows and columns of a distance table on the screen


def bfs(
    file: Path,
    reading: Reading,
    to: Drawn,
    *,
    source: list[str] | None = None,
    direction: Way = "out",
    depth_limit: int | None = None,
    path_counts: bool = False,
    plan: str = "auto",
    run: Running,
    check: bool = False,
    all_levels: bool = False,
) -> None:
    """Breadth-first search: the number of hops from a vertex to every other, level by level.

    depth_limit: Stop after this many hops.
    path_counts: Also count the shortest paths.
    device @Running: auto, cpu, cuda or reference.
    check --validate @Running: Check the result by Graph500's five rules.
    all_levels @Output: Show every level, even if there are thousands.
    """
    to.check(plan)
    graph = load(file, reading)
    starts, chosen = sources(graph, source, direction)
    about: Any = {"depth_limit": depth_limit, "direction": direction}
    more: Any = {"path_counts": path_counts, "plan": plan, "trace": True, **vars(run)}
    result, wall = timed(f"searching {file.name}", lambda: hw.bfs(graph, starts, **about, **more))
    verdict = None
    if check:
        found = result.distances, result.predecessors
        verdict, _ = timed("validating", lambda: validate(graph, starts, *found, **about))
    to.write(result, lambda path: files.draw_levels(path, result))
    record = {
        "source_given": bool(source),
        **about,
        **terminal.record(result, "reached", "depth", "engine"),
        "vertices_by_level": np.bincount(result.distances[result.distances >= 0]).tolist(),
        "without": list(result.plan.without),
        "seconds": seconds(result),
        "levels": [asdict(level) for level in result.trace or ()],
        "wall_seconds": wall,
    }
    if verdict is not None:
        rules = {rule.name: rule.passed for rule in verdict.rules}
        record["validation"] = {"ok": verdict.ok, "rules": rules, "failures": list(verdict.failures)}
    to.tell(file, graph, record, [*chosen, terminal.level_table(result, all_levels), summary(result, verdict)])
    if verdict is not None and not verdict.ok:
        raise terminal.CheckFailed(f"not a breadth-first search: {'; '.join(verdict.failures)}")


def sources(graph: Graph, names: list[str] | None, direction: str = "out") -> tuple[list[Any], list[str]]:
    """The user's sources, or the vertex of highest degree and a line that reports this choice."""
    if names:
        return [vertex(graph, name) for name in names], []
    start = busiest(graph, direction)
    degree = int((graph.in_degrees if direction == "in" else graph.degrees)[start])
    name = graph.label(start)
    return [name], [f"without --source, the search starts from {name}, which has the highest degree, {degree:,}"]


def busiest(graph: Graph, direction: str = "out") -> int:
    """The first vertex of highest degree, in the direction of the search."""
    if not graph.n:
        raise GraphError("the graph has no vertices to start from; use a graph with at least one vertex")
    return int(np.argmax(graph.in_degrees if direction == "in" else graph.degrees))


def summary(result: BFSResult, verdict: Validation | None) -> Table:
    """The result in a few lines, with the plan and the reason for this plan."""
    lines = {"reached": terminal.reach(result), "plan": str(result.plan), "engine": result.engine}
    lines["time"] = f"{terminal.milliseconds(seconds(result))} ms in the levels"
    counts = result.path_counts
    if counts is not None:
        sizes, form = (counts.log2(), "2^{:.1f}") if isinstance(counts, hw.ScaledCounts) else (counts, "{:,.15g}")
        top = int(np.argmax(sizes))
        most = form.format(sizes[top])
        lines["path counts"] = f"at most {most}, to {result.graph.label(top)}"
    if verdict is not None:
        passed = sum(rule.passed is True for rule in verdict.rules)
        invalid = "" if verdict.ok else "; NOT a valid search"
        lines["validated"] = f"{passed} of {len(verdict.rules)} rules hold{invalid}"
    return terminal.facts("", lines)


def seconds(result: BFSResult) -> float:
    """The time spent in the levels."""
    return sum(level.seconds for level in result.trace or ())


# ------------------------------------------------------------------ shortest paths


def sssp(
    file: Path,
    reading: ReadingLengths,
    to: Written,
    *,
    source: list[str] | None = None,
    target: list[str] | None = None,
    limit: float | None = None,
    method: str = "auto",
    delta: float | None = None,
    run: Running,
    trace: bool = False,
) -> None:
    """Shortest paths from a vertex to every other, along weighted edges. Edges count 1 if the file has no weights.

    target -t: Show a shortest path to this vertex. Repeat for several.
    method @Running: auto, dijkstra, delta-stepping, near-far or bellman-ford.
    delta @Running: Width of the buckets of Δ-stepping and near-far.
    trace @Output: Show the work of every bucket.
    """
    graph = load(file, reading, to)
    starts, chosen = sources(graph, source)
    ends = [vertex(graph, name) for name in target or ()]
    about: Any = {"limit": limit, "delta": delta}
    more: Any = {"method": method, "trace": trace, **vars(run)}
    result, wall = timed(f"searching {file.name}", lambda: hw.sssp(graph, starts, **about, **more))
    to.write(result)
    found: list[dict[str, Any]] = [
        {"target": end, "length": result.get(end), "path": result.path_to(end) if end in result else None}
        for end in ends
    ]
    d = result.distances[np.isfinite(result.distances)]
    farthest, weighted = float(d.max(initial=0.0)), result.matrix.has_values
    record = {
        "source_given": bool(source),
        **about,
        **terminal.record(result, "reached", "method"),
        "weights": weighted,
        "greatest_distance": farthest,
        "buckets": None if result.trace is None else [vars(bucket) for bucket in result.trace],
        "wall_seconds": wall,
        "paths": found,
    }
    lines = {
        "reached": f"{result.reached:,} of {graph.n:,} vertices",
        "greatest distance": f"{farthest:g}",
        "lengths": "the weights of the file" if weighted else "1 per edge",
        "plan": str(result.plan),
        "time": f"{terminal.milliseconds(wall)} ms",
    }
    counts, limits = np.histogram(d, bins=min(ROWS, max(1, len(np.unique(d[:10_000])))))  # ranges of equal length
    names = (f"{low:,.6g} – {high:,.6g}" for low, high in pairwise(limits.tolist()))
    title = terminal.title(result, "Shortest paths")
    table = terminal.distribution(title, "distance", names, counts.tolist())
    parts: list[Any] = [*chosen, table, terminal.facts("", lines)]
    parts += [] if result.trace is None else [str(result.trace)]
    for end, length, path in (one.values() for one in found):
        parts.append(f"to {end} ({length:g}): {' → '.join(map(str, path))}" if path else f"to {end}: no path")
    to.tell(file, graph, record, parts)


def routes(
    file: Path, reading: ReadingLengths, to: Written, *, source: str, target: str, k: int = 3, device: str = "auto"
) -> None:
    """The k shortest paths from one vertex to another that visit no vertex twice, shortest first.

    source -s: Vertex where the paths begin.
    target -t: Vertex where the paths end.
    k -k: Number of paths.
    out @Output: Write one row per path and vertex: .csv, .csv.gz, .parquet or .npz; - prints them as CSV.
    """
    graph = load(file, reading, to)
    ends = vertex(graph, source), vertex(graph, target)
    found, wall = timed(f"searching {file.name}", lambda: hw.k_shortest_paths(graph, *ends, k, device=device))
    steps = [(number, length, graph.index(v)) for number, (length, path) in enumerate(found, 1) for v in path]
    numbers, lengths, ids = map(np.array, zip(*steps, strict=True))
    to.write({"route": numbers, "length": lengths, "vertex": vertex_names(graph)[ids]})
    rows = [{"length": length, "path": path} for length, path in found]
    to.tell_rows(file, graph, {"k": k}, f"Shortest paths from {ends[0]} to {ends[1]}", rows, wall)


# ------------------------------------------------------------------ tables of distances, and accessibility


def table(
    file: Path,
    reading: ReadingLengths,
    to: Written,
    *,
    source: list[str] | None = None,
    target: list[str] | None = None,
    sources: Path | None = None,
    targets: Path | None = None,
    limit: float | None = None,
    dtype: str = "auto",
    run: Running,
    checkpoint: Path | None = None,
) -> None:
    """Distances from every source to every target, along weights or in hops.

    source -s: Vertex of a row. Repeat for several.
    target -t: Vertex of a column. Repeat for several.
    sources: Text file of the rows' vertices, one per line. Default: all vertices.
    targets: Text file of the columns' vertices, one per line. Default: all vertices.
    dtype: auto, float64, float32 or hops.
    out @Output: Write the table: .npy, or the connected pairs as .parquet or .csv.
    checkpoint @Output: With --out: file that records progress; resume from it if it exists.
    """
    graph = load(file, reading)
    rows, columns = vertices(graph, source, sources), vertices(graph, target, targets)
    more: dict[str, Any] = {"dtype": dtype, "out": to.out, "checkpoint": checkpoint, **vars(run)}
    found, wall = timed("", lambda: hw.distance_table(graph, rows, columns, limit=limit, **more))
    shape = tuple(graph.n if part is None else len(part) for part in (rows, columns))
    record: dict[str, Any] = {"rows": shape[0], "columns": shape[1], "limit": limit, "weights": graph.is_weighted}
    parts: list[Any] = []
    if isinstance(found, hw.DistanceTable):
        few = [[None if d == np.inf or d < 0 else d.item() for d in row[:SHOWN]] for row in found.values[:SHOWN]]
        names = [[graph.label(int(v)) for v in ids[:SHOWN]] for ids in (found.sources, found.targets)]
        record |= {"sources": names[0], "targets": names[1], "distances": few}
        made = terminal.table("Distances", "", *map(str, names[1]), numbers=range(1, 1 + len(names[1])))
        for name, row in zip(names[0], few, strict=True):
            made.add_row(terminal.printable(str(name)), *("–" if d is None else f"{d:g}" for d in row))
        parts.append(made)
    lines = {"table": f"{shape[0]:,} × {shape[1]:,}", "time": f"{wall:,.2f} s"}
    to.tell(file, graph, record | {"wall_seconds": wall}, [*parts, terminal.facts("", lines)])


def vertices(graph: Graph, named: list[str] | None, file: Path | None) -> list[Any] | None:
    """The labels or ids of vertices from options or from the lines of a file; None without both."""
    if named and file is not None:
        raise typer.BadParameter(f"{file} cannot be combined with single vertices; omit one of them")
    if file is not None:
        source, found = Source(file, Meter("", None, False)), []
        for line, cells, *_ in table_rows(source, ","):
            if len(cells) > 1:
                raise source.fail(f"{len(cells)} cells; expected one vertex (quote names that contain a comma)", line)
            found.append(_listed(graph, cells[0], source, line))
        if not found:
            raise source.fail("lists no vertex; write one per line")
        return found
    return [vertex(graph, name) for name in named] if named else None


def _listed(graph: Graph, name: str, source: Source, line: int) -> Any:
    """The vertex in a line of a file; an error names the line."""
    try:
        return vertex(graph, name)
    except GraphError as error:
        raise source.fail(str(error), line) from None


def accessibility(
    file: Path,
    reading: ReadingLengths,
    to: Written,
    *,
    limits: list[str] | None = None,
    values: Path | None = None,
    decay: str | None = None,
    inwards: bool = False,
    run: Running,
    top: int = 10,
) -> None:
    """Sum of the values, or number of vertices, that each vertex reaches within limits or with a distance decay.

    values: CSV or TSV file with a header: vertices, then columns of values. Default: count vertices.
    decay: exponential:SCALE, gaussian:SCALE or power:P. Default: no decay.
    inwards: Sum the values of vertices that reach a vertex, instead of those that it reaches.
    top min=1 @Output: Number of vertices to show.
    """
    graph = load(file, reading, to)
    given = None if values is None else read_values(graph, values)
    name, _, number = (decay or "").partition(":")
    try:
        fading = None if decay is None else (name, float(number))
    except ValueError:
        raise typer.BadParameter(f"--decay {decay} lacks a number; write, for example, exponential:10") from None
    more: Any = {"direction": "in" if inwards else "out", **vars(run)}
    result, wall = timed("", lambda: hw.accessibility(graph, given, distances(limits), fading, **more))
    to.write(result)
    title, sums = next(iter(result._columns().items()))
    best = np.argsort(-sums, kind="stable")[:top]
    record = {"limits": [x for x in result.limits if x < np.inf], "decay": decay}
    to.tell_rows(file, graph, record, f"Most {title}", files.rows(result, best), wall)


def nearest(
    file: Path,
    reading: ReadingLengths,
    to: Written,
    *,
    facility: list[str] | None = None,
    facilities: Path | None = None,
    k: int = 1,
    limit: float | None = None,
    direction: Way = "out",
    top: int = 10,
) -> None:
    """The k nearest facilities of every vertex, such as schools or shops, and their distances.

    facility: Vertex of a facility. Repeat for several.
    facilities: Text file with one facility's vertex per line.
    k -k: Number of facilities to find for every vertex.
    direction: Paths from each vertex to the facilities (out), or from the facilities to each vertex (in).
    top min=1 @Output: Number of vertices to show, the farthest from a facility first.
    """
    graph = load(file, reading, to)
    which = vertices(graph, facility, facilities)
    if which is None:
        raise typer.BadParameter("facilities are missing; pass --facility VERTEX or --facilities FILE")
    result, wall = timed("", lambda: hw.nearest_of(graph, which, k, limit=limit, direction=direction))
    to.write(result)
    d = result.distances[:, 0]
    far = np.flatnonzero(np.isfinite(d))
    record = {"k": k, "limit": limit, "reached": len(far)}
    far = far[np.argsort(-d[far], kind="stable")[:top]]
    to.tell_rows(file, graph, record, "Farthest from a facility", files.rows(result, far), wall)


def isochrones(
    file: Path, reading: ReadingLengths, to: Written, *, source: list[str], limits: list[str], direction: Way = "out"
) -> None:
    """Vertices and arcs within given distances of a vertex, or of the nearest of several vertices.

    source -s: Vertex to start from. Repeat for several.
    out @Output: Write one row per limit and arc, with the fraction that is reached: .csv, .csv.gz, .parquet or .npz.
    """
    graph = load(file, reading, to)
    starts = [vertex(graph, name) for name in source]
    result, wall = timed("", lambda: hw.isochrone(graph, starts, distances(limits), direction=direction))
    arcs = {limit: result.arcs(limit) for limit in result.limits}
    parts = zip(("tail", "head", "fraction"), map(np.concatenate, zip(*arcs.values(), strict=True)), strict=True)
    to.write({"limit": np.repeat(list(arcs), [len(some.tail) for some in arcs.values()]), **dict(parts)})
    rows = [{"limit": x, "vertices": len(result.vertices(x)), "arcs": len(arcs[x].tail)} for x in arcs]
    title = f"Within reach of {', '.join(map(str, starts))}"
    to.tell_rows(file, graph, {"sources": starts, "direction": direction}, title, rows, wall)


def distances(given: list[str] | None) -> Any:
    """The distances of --limit, which may be repeated or contain numbers separated by commas."""
    try:
        return [float(one) for text in given for one in text.split(",")] if given else None
    except ValueError:
        wrong = f"--limit {','.join(given or ())} is not a list of distances; write, for example, --limit 500,1000"
        raise typer.BadParameter(wrong) from None


def read_values(graph: Graph, file: Path) -> dict[str, dict[Any, float]]:
    """The columns of a CSV file by header; the first column contains vertices. Empty cells are skipped."""
    source = Source(file, Meter("", None, False))
    sheet = sheet_of(source, header=True)
    titles, first = sheet.table.titles[1:], len(sheet.before) + 1
    if not titles or any(NUMERIC.fullmatch(title) or title.lower() in MISSING for title in titles):
        problem = "expected a header with a name for each column: vertices first, then values"
        raise source.fail(f"the first row is {', '.join(map(repr, sheet.table.titles))[:60]}; {problem}", first)
    found: dict[str, dict[Any, float]] = {title: {} for title in titles}
    if len(found) < len(titles):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise source.fail(f"two columns have the header {twice!r}; rename one of them", first)
    named = set()
    for line, (name, *cells), *_ in islice(table_rows(source, sheet.delimiter, len(sheet.before)), 1, None):
        if len(cells) != len(titles):
            raise source.fail(f"{len(cells) + 1} cells; the header has {len(titles) + 1}", line)
        which = _listed(graph, name, source, line)
        if which in named:
            problem = f"vertex {name!r} occurs twice; add up its values, or drop a line"
            raise source.fail(problem, line)
        named.add(which)
        for title, cell in zip(titles, cells, strict=True):
            try:
                if cell.strip():
                    found[title][which] = float_of(cell)
            except Problem as found_there:
                raise source.fail(f"column {title!r}: {found_there}", line) from None
    if not named:
        raise source.fail("lists no vertex; write one per line, or omit the option to count vertices")
    return found
