"""`hopwave gap`: the six kernels of the GAP benchmark suite by its rules (Beamer, Asanović and Patterson, 2015)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import typer

import hopwave as hw
from hopwave.algorithms.components import roots
from hopwave.cli import terminal
from hopwave.cli.files import Reading, load, timed
from hopwave.errors import GraphError
from hopwave.generate.parameters import check_whole
from hopwave.graph import Graph
from hopwave.graph.csr import arc_tails
from hopwave.system.progress import Meter

BC_SOURCES = 4  # per trial
SEED = 27
LONGEST = 255  # maximum weight that GAP draws for a graph without weights
HUB = 8  # times the mean degree: neighbours of a graph with such hubs are sorted before CPU searches
TOLERANCE, ALPHA = 1e-4, 0.85  # PageRank: sum of all changes at which rounds end; damping
# What a kernel gives `run_trials`: one call per trial, a check of its result ("" if right), and the check's name.
Trials = tuple[list[Callable[[], Any]], Callable[[int, Any], str], str]


@contextmanager
def threads_of(threads: int | None) -> Iterator[None]:
    """Let functions without threads= use that many."""
    before = os.environ.copy()
    if threads is not None:
        os.environ["HOPWAVE_NUM_THREADS"] = str(threads)
    try:
        yield
    finally:
        os.environ.pop("HOPWAVE_NUM_THREADS", None)
        os.environ.update(before)


def pick_sources(graph: Graph, count: int) -> list[Any]:
    """Random sources among the vertices that have an out-edge, by their labels; the first are always the same."""
    candidates = np.flatnonzero(graph.degrees)
    if not len(candidates):
        raise GraphError("the graph has no edge, so there is no source to search from; use another graph")
    most = max(64, count)
    drawn = np.random.default_rng(SEED).choice(candidates, most, replace=len(candidates) < most)
    return [graph.label(vertex) for vertex in drawn.tolist()][:count]


def run_trials(name: str, calls: list[Any], check: Callable[[int, Any], str], checked: str) -> dict[str, Any]:
    """Time and check each call; the first one also runs before, to compile and prepare. A wrong result is an error."""
    first = calls[0]()
    spent, errors = [], []
    with Meter(f"gap {name}", len(calls), None) as meter:
        for number, call in enumerate(calls):
            found, seconds = timed("", call)
            spent.append(seconds)
            errors += [found.certificate.error] if hasattr(found, "certificate") else []
            if wrong := check(number, found):
                raise terminal.CheckFailed(f"{name}, trial {number + 1}: {wrong}")
            meter.update(number + 1)
    engine = {"engine": first.engine} if hasattr(first, "engine") else {}
    checked += f" {max(errors):.1e}" if errors else ""
    return {"seconds": spent, "average": float(np.mean(spent)), "checked": checked, **engine}


def time_bfs(graph: Graph, count: int, device: str, threads: int | None) -> Trials:
    """One search per trial, validated."""
    sources, searched = pick_sources(graph, count), graph

    def ask(source: Any, plan: Any = "auto") -> Any:
        found = hw.bfs(searched, source, device=device, threads=threads, plan=plan)
        found.reached  # noqa: B018  # known when a GPU is done
        return found

    def check(number: int, found: Any) -> str:
        return "; ".join(hw.validate(graph, sources[number], found.distances, found.predecessors).failures)

    first = ask(sources[0])
    if first.engine == "cpu":  # compile the loop of large searches; with hubs, sort the neighbours by degree
        plan = ask(sources[0], first.plan.plan).plan.plan
        if graph.degrees.max() > HUB * graph.m / graph.n:
            searched = graph.arranged()
            ask(sources[0], plan)
    return [partial(ask, source) for source in sources], check, "five rules"


def time_sssp(graph: Graph, count: int, device: str, threads: int | None) -> Trials:
    """One search along weights, the graph's or random ones: no arc leads nearer, and one leads to each vertex."""
    sources = pick_sources(graph, count)
    if not graph.is_weighted:
        drawn = np.random.default_rng(graph.n).integers(0, LONGEST, graph.n)
        graph = graph.with_weights(1.0 + (drawn[arc_tails(graph)] + drawn[graph.indices]) % LONGEST)
    tail, head, length = arc_tails(graph), graph.indices, np.asarray(graph.weights)

    def check(number: int, d: Any) -> str:
        start, through = graph.index(sources[number]), d[tail] + length
        led = np.zeros(graph.n, bool)
        led[head[(through == d[head]) & np.isfinite(through)]] = True
        led[start] = True
        if d[start] != 0 or (through < d[head]).any():
            return "an arc leads nearer to a vertex than its distance"
        return "" if np.array_equal(led, np.isfinite(d)) else "no arc leads to a vertex at its distance"

    def ask(source: Any) -> Any:
        return hw.sssp(graph, source, device=device).distances

    return [partial(ask, source) for source in sources], check, "every arc"


def time_pr(graph: Graph, count: int, device: str, threads: int | None) -> Trials:
    """PageRank from the start in every trial: another round must change it by less than the tolerance."""
    tail, degrees = arc_tails(graph), np.asarray(graph.degrees)

    def check(number: int, x: Any) -> str:
        share = np.divide(x, degrees, out=np.zeros(graph.n), where=degrees > 0)
        after = ALPHA * (np.bincount(graph.indices, share[tail], graph.n) + x[degrees == 0].sum() / graph.n)
        change = float(np.abs(after + (1 - ALPHA) / graph.n - x).sum())
        return "" if change < TOLERANCE else f"another round changes the ranks by {change:g}"

    tol = TOLERANCE / graph.n
    return [lambda: hw.pagerank(graph, ALPHA, tol=tol, device=device).scores] * count, check, "another round"


def time_cc(graph: Graph, count: int, device: str, threads: int | None) -> Trials:
    """Weak components, each time of a new graph, which has none cached; a search from the lowest vertex of a component
    must reach all of it, and no arc another component."""
    tail = arc_tails(graph)
    undirected = graph.to_undirected() if graph.directed else graph
    new = iter([Graph(graph.indptr, graph.indices, directed=graph.directed) for _ in range(count + 1)])

    def check(number: int, label: Any) -> str:
        if (label[tail] != label[graph.indices]).any():
            return "the ends of an arc are in different components"
        found = hw.bfs(undirected, [undirected.label(v) for v in roots(label).tolist()], device="cpu")
        joined = found.reached == graph.n and (label[found.predecessors] == label).all()
        return "" if joined else "a component is not connected"

    return [lambda: hw.weakly_connected_components(next(new), device=device).labels] * count, check, "search"


def time_bc(graph: Graph, count: int, device: str, threads: int | None) -> Trials:
    """Four sources per trial; a run that fails its certificate raises an error."""
    drawn = pick_sources(graph, count * BC_SOURCES)
    more: dict[str, Any] = {"device": device, "threads": threads, "normalized": False, "progress": False}

    def ask(first: int) -> Any:
        return hw.betweenness_centrality(graph, sources=drawn[first : first + BC_SOURCES], **more)

    ask(0)  # the next call finds all that this one has prepared
    calls: list[Callable[[], Any]] = [partial(ask, first) for first in range(0, count * BC_SOURCES, BC_SOURCES)]
    return calls, lambda number, found: "", "certificate"


def time_tc(graph: Graph, count: int, device: str, threads: int | None) -> Trials:
    """The number of triangles: three times as many are counted vertex by vertex."""
    undirected = graph.to_undirected() if graph.directed else graph
    expected = int(hw.triangles(undirected, device="cpu").scores.sum()) // 3

    def check(number: int, found: int) -> str:
        return "" if found == expected else f"{found} triangles, but {expected} counted vertex by vertex"

    return [lambda: hw.triangle_count(undirected, device=device)] * count, check, "per vertex"


KERNELS = {  # trials, rule and function, in GAP's order
    "bfs": (64, "a random source each", time_bfs),
    "sssp": (64, "a random source each, weights 1 to 255", time_sssp),
    "pr": (16, "until all changes are below 1e-4", time_pr),
    "cc": (16, "weak components", time_cc),
    "bc": (16, "4 random sources each", time_bc),
    "tc": (3, "the number of triangles", time_tc),
}


def gap(
    file: Path | None = None,
    *,
    scale: int | None = None,
    uniform: bool = False,
    kernel: str = "all",
    trials: int | None = None,
    device: str = "auto",
    threads: int | None = None,
    as_json: bool = False,
) -> None:
    """Time searches, shortest paths, PageRank, components, betweenness and triangles by the rules of the GAP benchmark
    suite, and check every result.

    Loading, compiling and preparing the graph are not timed: calls before the trials do that.

    file [FILE]: Graph in any format that hopwave reads; or pass --scale instead.
    scale: Generate a graph of 2^scale vertices.
    uniform: Generate GAP's urand instead of its kron.
    kernel: bfs, sssp, pr, cc, bc, tc or all.
    trials min=1: Number of trials, instead of GAP's 64 for bfs and sssp, 16 for pr, cc and bc, 3 for tc.
    """
    if (file is None) == (scale is None):
        raise typer.BadParameter("pass either a file, or --scale to generate a graph")
    if kernel not in (*KERNELS, "all"):
        raise typer.BadParameter(f"--kernel {kernel} is not known; use {', '.join(KERNELS)} or all")
    if uniform and file is not None:
        raise typer.BadParameter("--uniform needs a generated graph; omit it, or pass --scale instead of a file")
    if file is not None:
        graph = load(file, Reading())
    elif uniform:
        graph = hw.generate.uniform(1 << check_whole("scale", scale, 0, 30))
    else:
        graph = hw.generate.kronecker(scale or 0)
    plain = graph.without_weights() if graph.is_weighted else graph  # only sssp uses weights
    results: dict[str, dict[str, Any]] = {}
    for name, (usual, _, made) in KERNELS.items():
        if kernel in (name, "all"):
            with threads_of(threads):
                asked = made(graph if name == "sssp" else plain, trials or usual, device, threads)
                results[name] = run_trials(name, *asked)
    if as_json:
        terminal.emit({**terminal.sizes(graph), **results})
        return
    titles = ("kernel", "trials", "average s", "fastest s", "slowest s", "rule", "checked")
    shown = terminal.table("GAP", *titles, numbers=(1, 2, 3, 4))
    for name, result in results.items():
        spent = result["seconds"]
        figures = (f"{figure:.6f}" for figure in (result["average"], min(spent), max(spent)))
        shown.add_row(name, str(len(spent)), *figures, KERNELS[name][1], result["checked"])
    terminal.line(f"{file or 'generated'}: {terminal.sentence(graph)}")
    terminal.show(shown)
