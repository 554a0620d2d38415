"""Graph500, and large Kronecker graphs in several row formats, on one GPU.

    python -m benchmarks.graph500 --scale 26 28 [--roots 64] [--sssp] [--device cuda]         Graph500 itself
    python -m benchmarks.graph500 --rows plain compressed bus --scale 26 28 29 [--sources 8]  row formats
    python -m benchmarks.graph500 --graphs FILE …                                             files, compressed

Graph500's graph is drawn, built, searched and validated on the GPU, with loops and repeats. Every search
is validated on the GPU by Graph500's five rules; then distances alone are timed, and distances with predecessors. A
time is the GPU's, until the answers are stored by vertex id. Across the bus, rows are compressed, and the GPU's memory
holds as many of their bytes as a quarter of the plain rows has. `--graphs`: searches and other questions of plain and
of compressed rows, answers compared.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import device_ms
from benchmarks.pages import publish
from benchmarks.pages import rows as kept_rows
from benchmarks.setting import command_line, gpu, hw, tell
from hopwave import graph500
from hopwave.arrays import on_host
from hopwave.planning.jobs import SearchJob


def build(scale: int, edge_factor: int, kind: str) -> tuple[Any, float]:
    """The graph on the GPU, and the seconds that it took to build."""
    import cupy as cp

    from hopwave.engines.cuda.kronecker import Rows

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
    import cupy as cp

    candidates = cp.flatnonzero(loaded.degrees[loaded.numbering.numbers[: 1 << 20]] > 0).get()
    found: list[int] = np.random.default_rng(7).choice(candidates, count, replace=False).tolist()
    return found


def measure(scale: int, edge_factor: int, count: int, kind: str, most_seconds: float = 1e9) -> dict[str, Any]:
    """One row of the page. Validates `count` searches, or as many as that many seconds allow."""
    import cupy as cp

    from hopwave.engines.cuda.search.workspace import NumberedWorkspace
    from hopwave.graph500.on_cuda import broken_rules

    loaded, built = build(scale, edge_factor, kind)
    print(
        f"scale {scale}, {kind} rows, built in {built:.2f} s: {loaded.bytes / loaded.m:.3f} bytes per arc", flush=True
    )
    pool = cp.get_default_memory_pool()
    before = pool.used_bytes() - loaded.numbering.numbers.nbytes - loaded.numbering.ids.nbytes
    searches = NumberedWorkspace(loaded)
    buffers = pool.used_bytes() - before
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
    alone, both_jobs = SearchJob(False), SearchJob()
    ms = [device_ms(lambda s=s: searches.launch(distance, None, (s,), alone, plan)) for s in few]
    both = [device_ms(lambda s=s: searches.launch(distance, parent, (s,), both_jobs, plan)) for s in few]
    host = loaded.packed.host_bytes if loaded.packed else 0
    held = loaded.bytes, host, (buffers + distance.nbytes) / loaded.vertices
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


# Of a graph and its vertex of highest degree; and how much an answer of compressed rows may differ, relatively.
QUESTIONS: dict[str, tuple[Any, float]] = {
    "betweenness": (lambda G, s: hw.betweenness_centrality(G, sources=[s], device="cuda").scores, 1e-10),
    "PageRank": (lambda G, s: hw.pagerank(G, tol=1e-8, max_iter=500, device="cuda").scores, 1e-6),
    "closeness": (lambda G, s: hw.closeness_centrality(G, range(min(G.n, 1024)), device="cuda").scores, 0.0),
}


def questions(plain: Any, packed: Any, source: int) -> dict[str, float]:
    """Milliseconds of other questions on plain and on compressed rows by the host's clock, the least of 5."""
    import cupy as cp

    row = {}
    for name, (ask, rtol) in QUESTIONS.items():
        answers = [on_host(ask(graph, source)) for graph in (plain, packed)]
        if not np.allclose(*answers, rtol=rtol, atol=0):
            raise SystemExit(f"{name}: compressed rows have another answer")
        for kind, graph in (("", plain), ("compressed ", packed)):
            times = []
            for _ in range(5):
                cp.cuda.Device().synchronize()
                began = time.perf_counter()
                ask(graph, source)
                cp.cuda.Device().synchronize()
                times.append(time.perf_counter() - began)
            row[f"{kind}{name} ms"] = 1e3 * min(times)
    return row


def compression(path: Path) -> dict[str, Any]:
    """What compressing the rows of one graph takes and saves, and questions to it by both kinds of rows."""
    import cupy as cp

    from hopwave.engines.cuda.graph import uploaded

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
        "search ms": device_ms(lambda: hw.bfs(plain, source, device="cuda")),
        "compressed search ms": device_ms(lambda: hw.bfs(packed, source, device="cuda")),
    } | questions(plain, packed, source)
    return tell(row)


def official(scale: int, device: str, roots: int, seed: int, sssp: bool) -> dict[str, Any]:
    began = time.perf_counter()
    outcome = graph500.run(scale, device=device, roots=roots, seed=seed, sssp=sssp)
    if not outcome.valid:
        raise SystemExit(f"scale {scale}: not every search is valid: {outcome.searches}")
    values = outcome.values()
    row: dict[str, Any] = {
        "scale": scale,
        "edge factor": outcome.edge_factor,
        "searches, all valid": len(outcome.searches),
        "construction s": values["construction_time"],
        "median ms": values["bfs_median_time"] * 1e3,
        "slowest ms": values["bfs_max_time"] * 1e3,
        "GTEPS, harmonic mean": values["bfs_harmonic_mean_TEPS"] / 1e9,
        "deviation": values["bfs_harmonic_stddev_TEPS"] / 1e9,
        "slowest GTEPS": values["bfs_min_TEPS"] / 1e9,
        "whole run s": time.perf_counter() - began,
        "device": outcome.about["device"],
        "GB used": outcome.about.get("device_bytes_used", 0) / 1e9,
    }
    if sssp:
        row["SSSP median ms"] = values["sssp_median_time"] * 1e3
        row["SSSP GTEPS, harmonic mean"] = values["sssp_harmonic_mean_TEPS"] / 1e9
    return tell(row)


def main() -> None:
    given = command_line(
        __doc__, scale=[26, 28], edge_factor=16, sources=8, graphs=[], rows=[str], roots=64, seed=1, device="cuda",
        sssp=False,
    )  # fmt: skip
    where = gpu(given.device)
    if given.graphs:
        files = [compression(Path(path)) for path in given.graphs]
        kept = [one for one in kept_rows("gpu-scale-files") if one["graph"] not in {row["graph"] for row in files}]
        note = (
            "A directed graph has its rows and its columns compressed. Searches are from the vertex of highest degree."
        )
        publish("gpu-scale-files", "Graphs of files, compressed", kept + files, note, where)
    elif given.rows:
        rows = [measure(scale, given.edge_factor, given.sources, kind) for kind in given.rows for scale in given.scale]
        new = {(row["scale"], row["row format"]) for row in rows}
        kept = [one for one in kept_rows("gpu-scale") if (one["scale"], one["row format"]) not in new]
        note = "Device time until the answers are stored by vertex id; medians over at most 8 sources."
        publish("gpu-scale", "Kronecker graphs", kept + rows, note, where)
    else:
        rows = [official(scale, given.device, given.roots, given.seed, given.sssp) for scale in given.scale]
        note = (
            "TEPS are the input edges of the component divided by the time from the launch to its end, measured on the "
            "host. Searches write distances and predecessors. Every search was validated on the device, by the five "
            "rules, against every input edge."
        )
        publish("graph500", "Graph500", rows, note, where)


if __name__ == "__main__":
    main()
