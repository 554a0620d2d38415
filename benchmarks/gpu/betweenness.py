"""Betweenness on one GPU: milliseconds for one source, per source of 64, seconds of exact runs, agreement with the CPU.

    PYTHONPATH=src python -m benchmarks.gpu.betweenness [--parts single,sampled,exact,agree]
                                                        [--graphs a,b] [--kept FOLDER]

Everything is compared score by score before it is timed: with the CPU engine, single sources with the batch regime. A
time is the host's clock around a call of betweenness_centrality with device="cuda" and plan="auto": sums are scaled,
certified and copied to the host; for single sources, graphs and scores stay on the GPU. A first call uploads the graph,
compiles, and prepares what is kept with the graph (a probe, lists cut into chunks, new numbers for deep graphs); its
time has a separate column. Generated graphs are those of gpu-hopwave.md. The CPU engine's scores of whole graphs are
read from the folder --kept, and written there if missing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from benchmarks import pages
from benchmarks.gpu.graphs import kronecker, kronecker_ends, made_on_gpu, mycielskian, sources_of, uniform
from benchmarks.gpu.search import head
from benchmarks.gpu.values import ALL, PARTS, SOURCES
from benchmarks.setting import DATA, RESULTS, command_line, files, generate, hw, timed
from hopwave import Graph

CHECKED = 4
MADE: dict[str, Callable[[], Graph]] = {
    "kron18e43": lambda: kronecker(18, 43),
    "kron21e44": lambda: kronecker(21, 44),
    "rmat22e64": lambda: kronecker(22, 64),
    "uniform20e16": lambda: uniform(1 << 20, 16 << 20),
    "mycielskian16": lambda: mycielskian(16),
    "mycielskian17": lambda: mycielskian(17),
    "delaunay20": lambda: generate.delaunay(1 << 20, seed=1),
    "grid1000": lambda: generate.grid(1000, 1000, missing=0.03, seed=1),
}
# Graphs for one source: scale, edge factor, and milliseconds of a call before the wide regime became one launch.
SINGLE: dict[str, tuple[int, int, float]] = {
    "kron18e43": (18, 43, 3.8), "kron21e44": (21, 44, 14.6), "kron24e16": (24, 16, 140.0), "kron26e16": (26, 16, 560.0),
}  # fmt: skip
# Milliseconds per source of the best earlier code, on the same kind of GPU; None: all of them return garbage.
BEFORE: dict[str, float | None] = {
    "kron18e43": 2.3, "kron21e44": 8.0, "rmat22e64": 19.0, "uniform20e16": 2.9, "mycielskian17": 1.25,
    "luxembourg_osm": 8.6, "delaunay20": None, "grid1000": None,
}  # fmt: skip
# Seconds of an exact run in TurboBC's Table 5, on a Titan Xp.
EXACT: dict[str, float | None] = {
    "delaunay_n15": None, "email-Enron": None, "luxembourg_osm": None, "mycielskian16": 159.8, "mycielskian17": 715.2,
}  # fmt: skip


def graph_of(name: str) -> Graph:
    for path in (DATA / f"{name}.npz", DATA / f"{name}.mtx.gz"):
        if path.exists():
            return hw.read(path)
    return MADE[name]()


def run(graph: Graph, sources: Any, device: str = "cuda", **more: Any) -> Any:
    return hw.betweenness_centrality(graph, sources=sources, normalized=False, device=device, progress=False, **more)


def by_cpu(name: str, graph: Graph, sources: Any, kept: Path | None) -> Any:
    """The CPU engine's scores."""
    path = kept and sources is None and kept / f"{name}.npy"
    if path and path.exists():
        return np.load(path)
    scores = run(graph, sources, "cpu").scores
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, scores)
    return scores


def difference(found: Any, expected: Any) -> float:
    """The greatest relative difference of a run's scores; if it exceeds 1e-9, the benchmark stops."""
    worst = float((np.abs(found.scores - expected) / np.maximum(np.abs(expected), 1e-290)).max(initial=0.0))
    if not worst <= 1e-9:
        raise SystemExit(f"{found} differs from the CPU engine's result by {worst:g}")
    return worst


def sampled(name: str, graph: Graph, kept: Path | None) -> dict[str, Any]:
    sources = sources_of(graph, SOURCES)
    few = sources[:CHECKED]
    worst = difference(run(graph, few), by_cpu(name, graph, few, kept))
    first, _ = timed(lambda: run(graph, sources), 1)
    seconds, result = timed(lambda: run(graph, sources))
    ms, before = seconds / len(sources) * 1e3, BEFORE.get(name)
    return {
        "graph": name, "n": graph.n, "m": graph.m, "plan": result.plan.name, "ms per source": ms,
        "GTEPS": graph.m / ms / 1e6, "best before, ms": before, "times faster": before and before / ms,
        "first call s": first, "certificate": result.certificate.error, "difference from CPU": worst,
    }  # fmt: skip


def single(name: str) -> dict[str, Any]:
    """One source per call, with the graph on the GPU: the median of seven calls, and the mean over sources."""
    scale, edge_factor, earlier_ms = SINGLE[name]
    graph = made_on_gpu(*kronecker_ends(scale, edge_factor))
    sources = sources_of(graph, CHECKED)
    first, one = timed(lambda: run(graph, [sources[0]]), 1)
    results = [one, *(run(graph, [source]) for source in sources[1:])]
    together = run(graph, sources, plan="hopwave-batch").scores
    worst = float((abs(sum(r.scores for r in results) - together) / cupy.maximum(together, 1e-290)).max())
    if not worst <= 1e-11:
        raise SystemExit(f"single sources of {name} differ from the batch regime by {worst:g}")
    stream, ms = cupy.cuda.get_current_stream(), []
    for source in sources:
        times = [timed(lambda: (run(graph, [source]), stream.synchronize()), 1)[0] for _ in range(7)]  # noqa: B023
        ms.append(1e3 * float(np.median(times)))
    mean, before = float(np.mean(ms)), BEFORE.get(name)
    return {
        "graph": name, "n": graph.n, "m": graph.m, "plan": results[0].plan.name, "ms": mean,
        "slowest source ms": max(ms), "GTEPS": graph.m / mean / 1e6, "level by level, ms": earlier_ms,
        "best before, ms": before, "times faster": before and before / mean, "first call s": first,
        "certificate": max(r.certificate.error for r in results), "difference from batch": worst,
    }  # fmt: skip


def exact(name: str, graph: Graph, kept: Path | None) -> dict[str, Any]:
    few = sources_of(graph, CHECKED)
    worst = difference(run(graph, few), by_cpu(name, graph, few, kept))
    first, _ = timed(lambda: run(graph, range(min(graph.n, 4 * SOURCES))), 1)
    seconds, result = timed(lambda: run(graph, None), 1 if graph.m > 1 << 24 else 2)
    return {
        "graph": name, "n": graph.n, "m": graph.m, "plan": result.plan.name, "seconds": seconds,
        "µs per source": seconds / graph.n * 1e6, "GTEPS": graph.n * graph.m / seconds / 1e9,
        "TurboBC's paper, s": EXACT.get(name), "first call s": first, "certificate": result.certificate.error,
        "difference from CPU": worst,
    }  # fmt: skip


def agree(name: str, graph: Graph, kept: Path | None) -> dict[str, Any]:
    """Scores of vertices and of edges compared with the CPU engine's, by every regime."""
    sources = None if graph.n <= ALL else sources_of(graph, SOURCES)
    expected = by_cpu(name, graph, sources, kept)
    seconds, found = timed(lambda: run(graph, sources), 1)
    worst = {"auto": difference(found, expected)}
    for plan in ("hopwave-block", "hopwave-batch"):
        worst[plan] = difference(run(graph, sources, plan=plan), expected)
    few = sources_of(graph, SOURCES)
    edges, right = (
        hw.edge_betweenness_centrality(graph, sources=few, device=device, progress=False) for device in ("cuda", "cpu")
    )
    return {
        "graph": f"{name} ({'directed' if graph.directed else 'undirected'})", "n": graph.n, "m": graph.m,
        "sources": "all" if sources is None else len(sources), "plan": found.plan.name, "seconds": seconds,
        "certificate": found.certificate.error, "difference": worst["auto"],
        "with hopwave-block": worst["hopwave-block"], "with hopwave-batch": worst["hopwave-batch"],
        "of edges": difference(edges, right.scores),
    }  # fmt: skip


def main() -> None:
    given = command_line(__doc__, parts="single,sampled,exact,agree", graphs="", kept=Path)
    found = earlier(given.parts.split(","))
    for part in given.parts.split(","):
        names = {"single": list(SINGLE), "sampled": list(BEFORE), "exact": list(EXACT)}.get(part) or files()
        for name in names:
            if given.graphs and name not in given.graphs.split(","):
                continue
            if part == "single":
                row = single(name)
            else:
                graph = graph_of(name)
                row = {"sampled": sampled, "exact": exact, "agree": agree}[part](name, graph, given.kept)
                graph._prepared.clear()
            found[part].append(row)
            print(" ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
                           for key, value in row.items()), flush=True)  # fmt: skip
            cupy.get_default_memory_pool().free_all_blocks()
            write(found)


def earlier(parts: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Rows of an earlier run, except those of the named parts, which are measured again."""
    found: dict[str, list[dict[str, Any]]] = {part: [] for part in PARTS}
    for line in pages.earlier("gpu-betweenness"):
        row = {key: value for key, value in line.items() if key not in head()}
        part = row.pop("part")
        if part not in parts:
            found[part].append(row)
    return found


def write(found: dict[str, list[dict[str, Any]]]) -> None:
    about = head()
    lines = [about | {"part": part} | row for part, rows in found.items() for row in rows]
    pages.write("gpu-betweenness", RESULTS, lines)


if __name__ == "__main__":
    main()
