"""Every search plan on many graphs, on one GPU: milliseconds, GTEPS, levels, bytes.

    PYTHONPATH=src python -m benchmarks.gpu_search [--data FOLDER] [--sources 8] [--plans a,b] [--graphs x,y]

Every search that is timed is checked against the CPU engine's. A time is the GPU's own, between two events around a
whole search (its reset and Python's launches included, the copy of the answer to the host not), the median over
sources in the largest component; "in levels" is the part of it inside the levels of a host loop, that is without what
Python does between them. GTEPS are the arcs of the reached part over the whole time. Bytes are the device memory that
the graph and one search hold. Writes a table and one JSON line for each plan and graph, with the arcs checked, the
vertices found ahead and the time in each kind of step (XBFS's Figures 10 and 13-15).
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
from benchmarks.setting import gpu
from hopwave import Graph, engines, generate
from hopwave.arrays import DeferredArray
from hopwave.catalogue import CATALOGUE
from hopwave.engines.cuda.graph import CudaGraph
from hopwave.jobs import Question

ACROSS = 5  # graphs in one table
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


def timed(engine: Any, graph: Graph, plan: Any, source: int, expected: Any) -> dict[str, Any]:
    """One search on the GPU's clock, and whether it was right."""
    question = Question(predecessors=False)
    began, ended = cupy.cuda.Event(), cupy.cuda.Event()
    loaded = engine.load(graph, plan)
    began.record()
    search = engine.start(loaded, (source,), question)
    levels = engine.run(search, plan, False)
    ended.record()
    ended.synchronize()
    ms = cupy.cuda.get_elapsed_time(began, ended)
    arcs = int(cupy.diff(loaded.offsets)[search.distance >= 0].sum())
    seen = {"ms": ms, "ms_in_levels": sum(level.seconds for level in levels) * 1e3 if levels else ms}
    seen |= {"gteps": arcs / ms / 1e6, "checked": sum(level.checked for level in levels)}
    seen |= {"ahead": sum(level.ahead for level in levels), "found": int(search.reached) - 1}
    distances = engine.fetch(search)["distances"]
    distances = distances.fetch() if isinstance(distances, DeferredArray) else distances
    seen["verified"] = np.array_equal(distances, expected)
    seen["bytes"] = int(search.distance.nbytes) + int(loaded.on_device.bytes)
    for level in levels:
        seen[f"ms in {level.step}"] = seen.get(f"ms in {level.step}", 0.0) + level.seconds * 1e3
    return seen


def measure(engine: Any, name: str, graph: Graph, plans: list[Any], count: int, seconds: float) -> list[dict[str, Any]]:
    sources = sources_of(graph, count)
    expected = [hw.bfs(graph, source, device="cpu", predecessors=False) for source in sources]
    rows = []
    for plan in plans:
        graph._prepared.drop(CudaGraph)  # so that bytes are this plan's alone
        cupy.get_default_memory_pool().free_all_blocks()
        row: dict[str, Any] = {"graph": name, "n": graph.n, "m": graph.m, "directed": graph.directed, "plan": plan.name}
        row["levels"] = int(np.median([result.depth for result in expected]))
        try:
            timed(engine, graph, plan, sources[0], expected[0].distances)  # compiles, uploads, makes the buffers
            seen, until = [], time.perf_counter() + seconds
            for source, right in zip(sources, expected, strict=True):
                seen.append(timed(engine, graph, plan, source, right.distances))
                if time.perf_counter() > until:
                    break
            row["verified"] = all(one.pop("verified") for one in seen)
            row["searches"] = len(seen)
            for what in dict.fromkeys(what for one in seen for what in one):
                row[what] = round(float(np.median([one.get(what, 0) for one in seen])), 4)
        except hw.EngineError as error:
            row["error"] = str(error)
        shown = f"{row['ms']:10.3f} {row['ms_in_levels']:10.3f}" if "ms" in row else row["error"]
        print(f"{name:<24} {plan.name:<22} {shown}  {row.get('verified')}", flush=True)
        rows.append(row)
    return rows


def head() -> dict[str, Any]:
    versions = {"numpy": np.__version__, "python": platform.python_version(), "hopwave": hw.__version__}
    return gpu() | versions


def table(about: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    lines = ["# Every search plan on the GPU", "", ", ".join(f"{key} {value}" for key, value in about.items()), ""]
    lines += [
        "Milliseconds of GPU time a search / in its levels alone, distances only; median over sources. (GTEPS) Every "
        "search was equal to the CPU engine's. Whole times hold Python's launches, a few hundred microseconds; "
        "gpu-hopwave.md times our kernel alone.",
        "",
    ]
    graphs, plans = list(dict.fromkeys(r["graph"] for r in rows)), list(dict.fromkeys(r["plan"] for r in rows))
    cell = {(r["graph"], r["plan"]): r for r in rows}
    for some in (graphs[begin : begin + ACROSS] for begin in range(0, len(graphs), ACROSS)):
        lines += ["| plan | " + " | ".join(some) + " |", "|---" * (len(some) + 1) + "|"]
        lines += [f"| {plan} | " + " | ".join(shown(cell.get((graph, plan), {})) for graph in some) + " |"
                  for plan in plans]  # fmt: skip
        lines.append("")
    lines += ["| graph | vertices | arcs | levels | bytes a vertex and arc, by plan |", "|---|---|---|---|---|"]
    for graph in graphs:
        some = [cell[graph, plan] for plan in plans if "bytes" in cell.get((graph, plan), {})]
        each = ", ".join(f"{r['plan']} {r['bytes'] / (r['n'] + r['m']):.1f}" for r in some)
        if some:
            lines.append(f"| {graph} | {some[0]['n']:,} | {some[0]['m']:,} | {some[0]['levels']} | {each} |")
    return "\n".join(lines) + "\n"


def shown(row: dict[str, Any]) -> str:
    """One plan on one graph."""
    if row.get("verified"):
        return f"{row['ms']:.3f} / {row['ms_in_levels']:.3f} ({row['gteps']:.2f})"
    return row.get("error", "wrong" if row else "")


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
    files = sorted(path.name.removesuffix(".mtx.gz") for path in given.data.glob("*.mtx.gz"))
    wanted = given.graphs.split(",") if given.graphs else [*files, *GENERATED]
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
        (given.out / "gpu-search.jsonl").write_text("".join(json.dumps(about | row) + "\n" for row in rows))
        (given.out / "gpu-search.md").write_text(table(about, rows))
    return 0 if rows and all(row.get("verified") for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
