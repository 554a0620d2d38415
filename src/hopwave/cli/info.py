"""`hopwave info FILE`: a graph's statistics, and its degree distribution as bars."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
import typer

from hopwave.api.memory_estimate import estimate_memory
from hopwave.cli import options, terminal
from hopwave.cli.files import File, ReadingLengths, load
from hopwave.graph import Graph
from hopwave.graph.statistics import IRREGULAR_DEGREE

DEVICES = ("cpu", "cuda")
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {  # the rows of --memory
    "bfs": ("bfs", {}),
    "pagerank": ("pagerank", {"weights": False}),
    "weakly_connected_components": ("weakly_connected_components", {}),
    "closeness_centrality, all vertices": ("closeness_centrality", {}),
    "betweenness_centrality, 1 source": ("betweenness_centrality", {"k": 1}),
    "betweenness_centrality, all sources": ("betweenness_centrality", {}),
}


def info(
    file: File,
    reading: ReadingLengths,
    memory: Annotated[
        bool, typer.Option("--memory", help="Show how much memory questions would take, on the CPU and on a GPU.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Show a graph's statistics, its weights and its degree distribution."""
    graph = load(file, reading)
    bins = degree_bins(graph.degrees)
    needed = {  # question → device → bytes at the peak
        name: {device: int(estimate_memory(graph, what, device=device, **given)) for device in DEVICES}
        for name, (what, given) in (QUESTIONS if memory else {}).items()
    }
    if as_json:
        distribution = [{"from": low, "to": high, "vertices": count} for low, high, count in bins]
        about = {
            "file": str(file),
            "bytes": file.stat().st_size if file.is_file() else None,
            **record(graph),
            "degrees": distribution,
        }
        terminal.emit(about | ({"memory": needed} if memory else {}))
        return
    terminal.show(terminal.facts(str(file), described(graph)))
    if memory:
        shown = terminal.table("Memory at the peak", "question", "CPU", "GPU", numbers=(1, 2))
        for name, sizes_of in needed.items():
            shown.add_row(name, *(terminal.size(sizes_of[device]) for device in DEVICES))
        terminal.show(shown)
    if not graph.n:
        return
    kind = "out-degree" if graph.directed else "degree"
    shown = terminal.table(f"Distribution of the {kind}", kind, "vertices", "%", "", numbers=(0, 1, 2))
    width, most = terminal.bar_width(46), max(count for *_, count in bins)
    for low, high, count in bins:
        name = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        shown.add_row(name, f"{count:,}", f"{100 * count / graph.n:.2f}", terminal.bar(count / most, width))
    terminal.show(shown)


def degree_bins(degrees: Any) -> list[tuple[int, int, int]]:
    """(lowest degree, highest degree, vertices) in bins that double: 0, 1, 2–3, 4–7, … up to the highest degree.

    >>> degree_bins(np.array([0, 1, 1, 3, 5]))
    [(0, 0, 1), (1, 1, 2), (2, 3, 1), (4, 7, 1)]
    """
    _, place = np.frexp(degrees.astype(np.float64))  # the number of binary digits; 0 for 0
    counts = np.bincount(place).tolist()
    bins = [((1 << i) >> 1, max((1 << i) - 1, 0), count) for i, count in enumerate(counts)]
    return bins if counts and counts[0] else bins[1:]


def described(graph: Graph) -> dict[str, str]:
    """A graph's statistics in words, for a table."""
    stats = graph.stats()
    kind = "directed" if graph.directed else "undirected"
    group = "regular (a mean degree below" if stats.regular else "irregular (a mean degree of at least"
    times = stats.max_degree / stats.mean_degree if graph.m else 0.0
    return {
        "kind": f"{kind}, {'vertices with labels' if graph.labels is not None else 'vertices numbered from 0'}",
        "vertices": f"{graph.n:,}",
        "edges" if not graph.directed else "arcs": f"{graph.number_of_edges:,}",
        "stored arcs": f"{graph.m:,} in {terminal.size(sum(part.nbytes for part in graph_arrays(graph)))}",
        "weights": weights_described(graph),
        "degree": f"mean {stats.mean_degree:.2f}, deviation {stats.std_degree:.2f}, maximum {stats.max_degree:,}",
        "shape": f"{stats.shape}: the maximum is {times:.3g} times the mean, and the busiest 1 % of the vertices have "
        f"{100 * stats.busiest_share:.2g} % of the arcs",
        "isolated vertices": f"{stats.isolated:,}" + (", vertex 0: do ids begin at 1?" if begins_at_1(graph) else ""),
        "self-loops": f"{stats.self_loops:,}",
        "scale-free metric": f"{stats.scf:,.1f}; TurboBC's group: {group} {IRREGULAR_DEGREE:.0f})",
    }


def begins_at_1(graph: Graph) -> bool:
    """Whether vertex 0 alone has no edge, as where ids count from 1: it is no vertex of the data, then.

    >>> begins_at_1(hw.Graph.from_edges([1, 2], [2, 3])), begins_at_1(hw.generate.path(3))
    (True, False)
    """
    return graph.labels is None and graph.stats().isolated == 1 and not graph.degrees[0] and not graph.in_degrees[0]


def graph_arrays(graph: Graph) -> list[Any]:
    """The arrays of a graph."""
    return [part for part in (graph.indptr, graph.indices, graph.weights) if part is not None]


def weights_described(graph: Graph) -> str:
    """The least and the greatest weight, and their type."""
    weights = graph.weights
    if weights is None:
        return "none"
    return f"{weights.min():g} to {weights.max():g}, {weights.dtype}" if len(weights) else str(weights.dtype)


def sizes(graph: Graph) -> dict[str, Any]:
    """The size of a graph, for the JSON of every command. An undirected edge counts 1 in `edges` and 2 in `m`.

    >>> sizes(hw.generate.path(3))
    {'n': 3, 'm': 4, 'edges': 2, 'directed': False}
    """
    return {"n": graph.n, "m": graph.m, "edges": graph.number_of_edges, "directed": graph.directed}


def record(graph: Graph) -> dict[str, Any]:
    """A graph's statistics, for JSON."""
    stats, weights = graph.stats(), graph.weights
    about = None
    if weights is not None:
        ends = (weights.min().item(), weights.max().item()) if len(weights) else (None, None)
        about = {"type": str(weights.dtype), "min": ends[0], "max": ends[1]}
    return {
        **asdict(stats),
        "regular": stats.regular,
        "shape": stats.shape,
        "edges": graph.number_of_edges,
        "labels": graph.labels is not None,
        "weights": about,
    }


def sentence(graph: Graph, labels: bool = True) -> str:
    """The size and kind of a graph, in a few words."""
    kind = "directed" if graph.directed else "undirected"
    named = ", with labels" if labels and graph.labels is not None else ""
    named += ", with weights" if graph.is_weighted else ""
    return f"{graph.n:,} vertices, {graph.number_of_edges:,} {'arcs' if graph.directed else 'edges'}, {kind}{named}"
