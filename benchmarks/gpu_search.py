"""Every search plan on many graphs, on one GPU: milliseconds, GTEPS, levels, bytes.

    PYTHONPATH=src python benchmarks/gpu_search.py [--data FOLDER] [--sources 8] [--plans a,b] [--graphs x,y]

Every plan is checked against the CPU engine on every graph before it is timed. A time is the GPU's own, between two
events around a whole search (its reset and Python's launches included, the copy of the answer to the host not), the
median over sources in the largest component. GTEPS are the arcs of the reached part over that time. Bytes are the
device memory that the graph and one search hold. Writes one JSON line a run and a table, gpu_search.jsonl and .md.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy
import numpy as np

import hopwave as hw
from hopwave import Graph, engines, generate
from hopwave.algorithms.bfs import host_loop
from hopwave.catalogue import CATALOGUE
from hopwave.semiring import Question

FILES = (
    "email-Enron ca-AstroPh cnr-2000 ego-Twitter cit-HepPh wiki-Vote delaunay_n16 luxembourg_osm osm-netherlands-cities"
)
GENERATED: dict[str, Callable[[], Graph]] = {
    "kron18e43": lambda: kronecker(18, 43),
    "kron21e44": lambda: kronecker(21, 44),
    "uniform20e16": lambda: made(1 << 20, *uniform_ends(1 << 20, 16 << 20)),
    "mycielskian15": lambda: generate.mycielskian(15),
    "grid1000": lambda: generate.grid(1000, 1000, missing=0.03, seed=0),
}


def uniform_ends(n: int, m: int) -> tuple[Any, Any]:
    random = cupy.random.default_rng(1)
    return random.integers(0, n, m, dtype=cupy.int32), random.integers(0, n, m, dtype=cupy.int32)


def kronecker(scale: int, edge_factor: int) -> Graph:
    """Graph500's generator, drawn on the GPU: the host's would take minutes at these sizes."""
    n, m = 1 << scale, edge_factor << scale
    random = cupy.random.default_rng(1)
    source, target = cupy.zeros(m, cupy.int32), cupy.zeros(m, cupy.int32)
    for bit in range(scale):
        low = random.random(m, dtype=cupy.float32) > 0.76
        right = random.random(m, dtype=cupy.float32) > cupy.where(low, cupy.float32(0.19 / 0.24), cupy.float32(0.75))
        source += low.astype(cupy.int32) << bit
        target += right.astype(cupy.int32) << bit
    names = cupy.asarray(np.random.default_rng(1).permutation(n).astype(np.int32))
    return made(n, names[source], names[target])


def made(n: int, source: Any, target: Any) -> Graph:
    """An undirected graph without loops or repeats, its rows built on the GPU."""
    keep = source != target
    source, target = source[keep].astype(cupy.int64), target[keep].astype(cupy.int64)
    keys = cupy.concatenate([source * n + target, target * n + source])
    keys.sort()
    keys = keys[cupy.concatenate([cupy.ones(1, cupy.bool_), keys[1:] != keys[:-1]])]
    rows = cupy.searchsorted(keys, cupy.arange(n + 1, dtype=cupy.int64) * n).astype(cupy.int32)
    indices = (keys % n).astype(cupy.int32)
    graph = Graph(rows.get(), indices.get(), directed=False)
    del keys, source, target, rows, indices
    cupy.get_default_memory_pool().free_all_blocks()
    return graph


def sources_of(graph: Graph, count: int) -> list[int]:
    """Sources in the largest component, found from the vertex of greatest degree."""
    reached = hw.bfs(graph, int(np.argmax(graph.degrees)), device="cpu", predecessors=False).distances >= 0
    random = np.random.default_rng(7)
    inside = np.flatnonzero(reached & (graph.degrees > 0))
    return [int(s) for s in random.choice(inside, min(count, len(inside)), replace=False)]


def search_ms(engine: Any, graph: Graph, plan: Any, source: int, question: Question) -> tuple[float, int, int]:
    """One search on the GPU's clock: milliseconds, levels, bytes."""
    began, ended = cupy.cuda.Event(), cupy.cuda.Event()
    loaded = engine.load(graph, plan)
    began.record()
    search = engine.start(loaded, (source,), question)
    levels = engine.run(search, plan, False)
    if levels is None:
        levels = host_loop(engine, graph, search, question, plan)
    ended.record()
    ended.synchronize()
    depth = int(search.depth)
    held = sum(int(a.nbytes) for a in (search.distance, search.parent, search.sigma) if a is not None)
    if search.work is not None:
        search.on_device.workspaces.append(search.work)
        search.work = None
    return cupy.cuda.get_elapsed_time(began, ended), depth, held + int(loaded.on_device.bytes)


def measure(engine: Any, name: str, graph: Graph, plans: list[Any], count: int, seconds: float) -> list[dict[str, Any]]:
    sources = sources_of(graph, count)
    expected = hw.bfs(graph, sources[0], device="cpu", predecessors=False)
    arcs = int(graph.degrees[expected.distances >= 0].sum())
    rows = []
    for plan in plans:
        graph._prepared.pop("cuda", None)  # so that bytes are this plan's alone
        cupy.get_default_memory_pool().free_all_blocks()
        row: dict[str, Any] = {"graph": name, "n": graph.n, "m": graph.m, "plan": plan.name, "arcs": arcs}
        question = Question(predecessors=False)
        try:
            found = hw.bfs(graph, sources[0], plan=plan, device="cuda", predecessors=False).distances
            row["verified"] = bool(np.array_equal(found, expected.distances))
            times, until = [], time.perf_counter() + seconds
            for source in [sources[0], *sources]:
                times.append(search_ms(engine, graph, plan, source, question))
                if time.perf_counter() > until and len(times) > 1:
                    break
            ms = float(np.median([t[0] for t in times[1:]]))
            row |= {"ms": round(ms, 4), "gteps": round(arcs / ms / 1e6, 3), "levels": times[0][1], "bytes": times[0][2]}
            row["searches"] = len(times) - 1
        except hw.EngineError as error:
            row["error"] = str(error)
        print(f"{name:<24} {plan.name:<22} {row.get('ms', row.get('error'))!s:>10}  {row.get('verified')}", flush=True)
        rows.append(row)
    return rows


def head() -> dict[str, Any]:
    about = cupy.cuda.runtime.getDeviceProperties(0)
    return {
        "gpu": about["name"].decode(),
        "multiprocessors": int(about["multiProcessorCount"]),
        "driver": cupy.cuda.runtime.driverGetVersion(),
        "cuda": cupy.cuda.runtime.runtimeGetVersion(),
        "cupy": cupy.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "hopwave": hw.__version__,
    }


def table(about: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    lines = ["# Every search plan on the GPU", "", ", ".join(f"{key} {value}" for key, value in about.items()), ""]
    lines += [
        "Milliseconds of GPU time a search, distances only; median over sources. GTEPS in brackets.",
        "",
    ]
    graphs, plans = list(dict.fromkeys(r["graph"] for r in rows)), list(dict.fromkeys(r["plan"] for r in rows))
    cell = {(r["graph"], r["plan"]): r for r in rows}
    lines += ["| plan | " + " | ".join(graphs) + " |", "|---" * (len(graphs) + 1) + "|"]
    for plan in plans:
        shown = []
        for graph in graphs:
            r = cell.get((graph, plan), {})
            good = r.get("verified") and "ms" in r
            shown.append(f"{r['ms']:.3f} ({r['gteps']:.2f})" if good else r.get("error", "wrong" if r else ""))
        lines.append(f"| {plan} | " + " | ".join(shown) + " |")
    lines += ["", "| graph | vertices | arcs | levels | bytes a vertex and arc, by plan |", "|---|---|---|---|---|"]
    for graph in graphs:
        some = [cell[graph, plan] for plan in plans if "bytes" in cell.get((graph, plan), {})]
        each = ", ".join(f"{r['plan']} {r['bytes'] / (r['n'] + r['m']):.1f}" for r in some)
        if some:
            lines.append(f"| {graph} | {some[0]['n']:,} | {some[0]['m']:,} | {some[0]['levels']} | {each} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=2.0, help="stop timing a plan after so long")
    parser.add_argument("--plans", default="")
    parser.add_argument("--graphs", default="")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    plans = [
        p for p in CATALOGUE.values() if p.task == "search" and (not given.plans or p.name in given.plans.split(","))
    ]
    wanted = given.graphs.split(",") if given.graphs else [*FILES.split(), *GENERATED]
    engine = engines.engine("cuda")
    rows: list[dict[str, Any]] = []
    given.out.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        path = given.data / f"{name}.mtx.gz"
        if name not in GENERATED and not path.exists():
            print(f"{name}: {path} is not there; left out", file=sys.stderr)
            continue
        graph = GENERATED[name]() if name in GENERATED else hw.read(path)
        rows += measure(engine, name, graph, plans, given.sources, given.seconds)
        about = head()
        (given.out / "gpu_search.jsonl").write_text("".join(json.dumps(about | row) + "\n" for row in rows))
        (given.out / "gpu_search.md").write_text(table(about, rows))
    return 0 if rows and all(row.get("verified") for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
