"""Kronecker graphs too large to sort: drawn, built and searched on the GPU, with 64-bit offsets if needed.

    PYTHONPATH=src python -m benchmarks.gpu.scale --scale 26 28 29 [--sources 8] [--rows plain compressed bus cpu]

The graph is the one that `hopwave graph500` builds (engines/cuda/kronecker.py), with loops and repeats. Every search
is validated on the GPU by Graph500's five rules; then distances alone are timed, and distances with predecessors. A
time is the GPU's, until the answers are stored by vertex id. Across the bus, rows are compressed, and the GPU's memory
holds as many of their bytes as a quarter of the plain rows has. `cpu`: the CPU engine on the plain rows, in the same
order, in the host's memory; its time is the host's. `--graphs`: files whose rows are compressed; searches and other
questions of both kinds of rows, answers compared. Rows are appended to what the page has.
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from benchmarks import pages
from benchmarks.gpu.graphs import milliseconds
from benchmarks.gpu.search import head
from benchmarks.setting import RESULTS, command_line, hw, tell, timed
from hopwave.arrays import on_host
from hopwave.engines.cuda.graph import uploaded
from hopwave.engines.cuda.kronecker import Rows
from hopwave.engines.cuda.search.workspace import NumberedWorkspace
from hopwave.graph500.on_cuda import broken_rules
from hopwave.planning.jobs import SearchJob
from hopwave.prepared import Structure

ROWS = ("plain", "compressed", "bus", "cpu")


def build(scale: int, edge_factor: int, kind: str) -> tuple[Any, float]:
    """The graph on the GPU, and the seconds that it took to build."""
    quarter = 2 * edge_factor << scale if kind == "bus" else None  # bytes: a plain arc has four
    began = time.perf_counter()
    rows = Rows(scale, edge_factor, seed=1, compressed=kind in ("compressed", "bus"), memory_limit=quarter)
    built = time.perf_counter() - began
    rows.check()
    cp.get_default_memory_pool().free_all_blocks()
    return rows, built


TIMED = 8  # most sources whose searches are timed; all are validated


def drawn(loaded: Any, count: int) -> list[int]:
    """That many vertices with arcs, the same for every kind of rows."""
    candidates = cp.flatnonzero(loaded.degrees[loaded.numbering.numbers[: 1 << 20]] > 0).get()
    found: list[int] = np.random.default_rng(7).choice(candidates, count, replace=False).tolist()
    return found


def measure(scale: int, edge_factor: int, count: int, kind: str, most_seconds: float = 1e9) -> dict[str, Any]:
    """One row of the page. Validates `count` searches, or as many as that many seconds allow."""
    loaded, built = build(scale, edge_factor, kind)
    print(
        f"scale {scale}, {kind} rows, built in {built:.2f} s: {loaded.bytes / loaded.m:.3f} bytes per arc", flush=True
    )
    searches = NumberedWorkspace(loaded)
    plan = hw.plan("hopwave-dense")
    sources = drawn(loaded, count)
    distance, parent = cp.empty(loaded.vertices, np.int32), cp.empty(loaded.vertices, np.int32)
    arcs, began = [], time.perf_counter()
    for source in sources:
        if time.perf_counter() - began > most_seconds:
            break
        searches.launch(distance, parent, (source,), SearchJob(), plan)
        broken = broken_rules(loaded, distance, parent, source)
        if broken:
            raise SystemExit(f"scale {scale}, source {source}: breaks the rules {broken}")
        arcs.append(2 * loaded.edges_within(distance >= 0))
    few = sources[: len(arcs)][:TIMED]
    ms = milliseconds(lambda source: searches.launch(distance, None, (source,), SearchJob(False), plan), few)
    both = milliseconds(lambda source: searches.launch(distance, parent, (source,), SearchJob(), plan), few)
    host = loaded.packed.host_bytes if loaded.packed else 0
    held = loaded.bytes, host, (searches.bytes + distance.nbytes) / loaded.vertices
    return page_row(scale, "across the bus" if kind == "bus" else kind, loaded, built, held, (ms, both, arcs))


def page_row(
    scale: int, name: str, loaded: Any, built: float, held: tuple[int, int, float], found: tuple[list[float], ...]
) -> dict[str, Any]:
    """A row of the page. held: bytes of the graph on the GPU and on the host, and those of a search per vertex; found:
    milliseconds without and with predecessors, and arcs within the reached part.
    """
    ms, both, arcs = found
    row = {
        "scale": scale,
        "row format": name,
        "edge factor": loaded.edges // loaded.vertices,
        "vertices": loaded.vertices,
        "arcs": loaded.m,
        "built s": built,
        "graph bytes per arc": held[0] / loaded.m,
        "host bytes per arc": held[1] / loaded.m,
        "search bytes per vertex": held[2],
        "search ms": float(np.median(ms)),
        "with predecessors ms": float(np.median(both)),
        "GTEPS (arcs of the reached part)": float(np.median(arcs)) / float(np.median(ms)) / 1e6,
        "Graph500 GTEPS": 1e-6 / float(np.mean([2 * each / one for each, one in zip(both, arcs, strict=False)])),
        "searches verified": len(arcs),
    }
    return tell(row)


def on_cpu(scale: int, edge_factor: int, count: int) -> dict[str, Any]:
    """The row of the CPU engine: its distances are compared with the GPU's."""
    loaded, _ = build(scale, edge_factor, "plain")
    began = time.perf_counter()
    rows = loaded.offsets.get(), loaded.neighbours.get()
    graph = hw.Graph.from_csr(*rows, directed=False, check=False)
    graph.__dict__["_arranged"] = graph  # rows are by degree; to sort them again would take minutes
    searches, plan = NumberedWorkspace(loaded), hw.plan("hopwave-dense")
    sources = drawn(loaded, count)[:TIMED]
    numbers = loaded.numbering.numbers[cp.asarray(sources)].tolist()
    distance, times, arcs = cp.empty(loaded.vertices, np.int32), {True: [], False: []}, []  # type: ignore[var-annotated]
    hw.bfs(graph, numbers[0], device="cpu")
    built = time.perf_counter() - began
    for source, number in zip(sources, numbers, strict=True):
        searches.launch(distance, None, (source,), SearchJob(False), plan)
        for parents in (False, True):
            search = partial(hw.bfs, graph, number, predecessors=parents, device="cpu")
            seconds, result = timed(lambda search=search: search().distances, 3)
            times[parents].append(1e3 * seconds)
        if not np.array_equal(result, distance[loaded.ids].get()):
            raise SystemExit(f"scale {scale}, source {source}: the CPU's distances are not the GPU's")
        arcs.append(2 * loaded.edges_within(distance >= 0))
    name, held = f"CPU engine, {len(os.sched_getaffinity(0))} cores", graph.indptr.nbytes + graph.indices.nbytes
    return page_row(scale, name, loaded, built, (0, held, 0.0), (times[False], times[True], arcs))


# Of a graph and its vertex of highest degree; and how much an answer of compressed rows may differ, relatively.
QUESTIONS: dict[str, tuple[Any, float]] = {
    "betweenness": (lambda G, s: hw.betweenness_centrality(G, sources=[s], device="cuda").scores, 1e-10),
    "PageRank": (lambda G, s: hw.pagerank(G, tol=1e-8, max_iter=500, device="cuda").scores, 1e-6),
    "components": (lambda G, s: hw.weakly_connected_components(G, device="cuda").labels, 0.0),
    "closeness": (lambda G, s: hw.closeness_centrality(G, range(min(G.n, 1024)), device="cuda").scores, 0.0),
}


def questions(plain: Any, packed: Any, source: int) -> dict[str, float]:
    """Milliseconds of other questions on plain and on compressed rows by the host's clock, the least of 5."""
    row = {}
    for name, (ask, rtol) in QUESTIONS.items():
        answers = [on_host(ask(graph, source)) for graph in (plain, packed)]
        if not np.allclose(*answers, rtol=rtol, atol=0):
            raise SystemExit(f"{name}: compressed rows have another answer")
        for kind, graph in (("", plain), ("compressed ", packed)):
            times = []
            for _ in range(5):
                if name == "components":  # which a second call would find
                    graph._prepared.record(Structure).components.clear()
                cp.cuda.Device().synchronize()
                began = time.perf_counter()
                ask(graph, source)
                cp.cuda.Device().synchronize()
                times.append(time.perf_counter() - began)
            row[f"{kind}{name} ms"] = 1e3 * min(times)
    return row


def compression(path: Path) -> dict[str, Any]:
    """What compressing the rows of one graph takes and saves, and questions to it by both kinds of rows."""
    graph = hw.read(path, weights=False)
    plain, source = graph.to("cuda"), int(np.argmax(np.diff(graph.indptr)))
    graph.to("cuda", compressed=True)
    cp.cuda.Device().synchronize()
    began = time.perf_counter()
    packed = graph.to("cuda", compressed=True)
    cp.cuda.Device().synchronize()
    seconds = time.perf_counter() - began
    both = [hw.bfs(one, source, device="cuda").distances for one in (plain, packed)]
    if not bool((both[0] == both[1]).all()):
        raise SystemExit(f"{path}: compressed rows have other distances")
    held = uploaded(packed).compressed.all_packed
    bits = 8 * sum(rows.bytes for rows in held) / (graph.m * len(held))
    row = {
        "graph": path.name.partition(".")[0],
        "vertices": graph.n,
        "arcs": graph.m,
        "bits per arc": bits,
        "times smaller": 32 / bits,
        "compressed ms": 1e3 * seconds,
        "search ms": milliseconds(lambda s: hw.bfs(plain, s, device="cuda"), [source])[0],
        "compressed search ms": milliseconds(lambda s: hw.bfs(packed, s, device="cuda"), [source])[0],
    } | questions(plain, packed, source)
    return tell(row)


def main() -> None:
    given = command_line(__doc__, scale=[26, 28, 29], edge_factor=16, sources=8, graphs=[], rows=["plain"])
    kept = pages.earlier("gpu-scale")
    for path in map(Path, given.graphs):
        row = head() | compression(path)
        kept = [one for one in kept if one.get("graph") != row["graph"]] + [row]
        pages.write("gpu-scale", RESULTS, kept)
    for kind in given.rows if given.scale else ():
        run = on_cpu if kind == "cpu" else partial(measure, kind=kind)
        run(4, given.edge_factor, 1)  # compiles before anything is timed
        for scale in given.scale:
            row = head() | run(scale, given.edge_factor, given.sources)
            cp.get_default_memory_pool().free_all_blocks()
            kept = [one for one in kept if (one.get("scale"), one.get("row format")) != (scale, row["row format"])] + [
                row
            ]
            pages.write("gpu-scale", RESULTS, kept)


if __name__ == "__main__":
    main()
