"""Every search plan on many graphs, on one GPU: milliseconds, GTEPS, levels, bytes.

    PYTHONPATH=src python -m benchmarks.gpu.search [--sources 16] [--plans a,b] [--graphs x,y] [--go-on]

Every search that is timed is checked against the CPU engine's. A time is the GPU's, between two events around a whole
search: with its reset and Python's launches, without the copy of the answer to the host. It is the median over sources
in the largest component. "In levels" is the time inside the levels of a host loop, without Python's work between them.
GTEPS are the arcs of the reached part divided by the whole time. Bytes are the device memory that the graph and one
search hold. Writes a table and one JSON line for each plan and graph, with the arcs checked, the vertices found ahead
and the time in each kind of step (XBFS's Figures 10 and 13-15). --go-on keeps the lines of other graphs.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

import hopwave as hw
from benchmarks import pages
from benchmarks.gpu.graphs import kronecker, sources_of, uniform
from benchmarks.setting import RESULTS, command_line, files, gpu, real_graphs
from hopwave import Graph, engines, generate
from hopwave.arrays import Deferred
from hopwave.engines.cuda.graph import CudaGraph
from hopwave.engines.cuda.search import ahead
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob

GENERATED: dict[str, Callable[[], Graph]] = {
    "kron18e43": lambda: kronecker(18, 43),
    "kron21e44": lambda: kronecker(21, 44),
    "uniform20e16": lambda: uniform(1 << 20, 16 << 20),
    "mycielskian15": lambda: generate.mycielskian(15),
    "grid1000": lambda: generate.grid(1000, 1000, missing=0.03, seed=0),
}

LONG = ("moscow-roads", "osm-netherlands-cities", "grid1000")  # minutes with every plan: only if they are named


def timed(engine: Any, graph: Graph, plan: Any, source: int, expected: Any) -> dict[str, Any]:
    """One search timed by the GPU's clock, and whether it was right."""
    question = SearchJob(predecessors=False)
    began, ended = cupy.cuda.Event(), cupy.cuda.Event()
    loaded = engine.load(graph, plan)
    began.record()
    search = engine.start(loaded, (source,), question)
    levels = engine.run(search, plan, plan.loop == "host" and not ahead.possible(plan))
    ended.record()
    ended.synchronize()
    ms = cupy.cuda.get_elapsed_time(began, ended)
    arcs = int(cupy.diff(loaded.offsets)[search.distance >= 0].sum())
    seen = {"ms": ms, "ms_in_levels": sum(level.seconds for level in levels) * 1e3 if levels else ms}
    seen |= {"gteps": arcs / ms / 1e6, "checked": sum(level.checked for level in levels)}
    seen |= {"ahead": sum(level.ahead for level in levels), "found": int(search.reached) - 1}
    distances = engine.fetch(search)["distances"]
    distances = distances.fetch() if isinstance(distances, Deferred) else distances
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
        graph._prepared.drop(CudaGraph)  # so that only this plan's bytes are counted
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


def main() -> int:
    given = command_line(__doc__, sources=16, seconds=10.0, plans="", graphs="", go_on=False)
    plans = [
        p for p in CATALOGUE.values() if p.task == "search" and (not given.plans or p.name in given.plans.split(","))
    ]
    every = [name for name in (*files(), *GENERATED) if name not in LONG]
    wanted = given.graphs.split(",") if given.graphs else every
    engine = engines.engine("cuda")
    before = pages.earlier("gpu-search") if given.go_on else []
    lines: dict[tuple[str, str], dict[str, Any]] = {(one["graph"], one["plan"]): one for one in before}
    for name in wanted:
        graph = GENERATED[name]() if name in GENERATED else real_graphs([name]).get(name)
        if graph is None:
            continue
        about = head()
        for row in measure(engine, name, graph, plans, given.sources, given.seconds):
            lines[name, row["plan"]] = about | row
        pages.write("gpu-search", RESULTS, list(lines.values()))
    return 0 if lines and all(line.get("verified") for line in lines.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
