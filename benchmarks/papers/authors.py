"""The papers' plans on one GPU, beside the authors' own programs.

    PYTHONPATH=src python -m benchmarks.papers.authors [--sources 64] [--seconds 1] [--graphs a,b]
        [--go-on]

Each source's search is a call of hw.bfs, timed by the host's clock, with the answers left on the GPU; the time inside
its levels is the GPU's, from a second, traced call. Before it is timed, the first source's answer is checked by CuPy's
own operations, and all plans must find the same distances from every source. Every plan is timed from at least 16
sources, and from all of them on Graph500's graphs. Writes gpu-authors: JSON lines and a page; --go-on
keeps the lines of other graphs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from benchmarks import pages
from benchmarks.gpu.graphs import kronecker_ends, made_on_gpu, sources_of, uniform_ends
from benchmarks.gpu.search import head
from benchmarks.papers import authors_page
from benchmarks.setting import DATA, RESULTS, command_line, generate, hw
from hopwave import Graph
from hopwave.engines.cuda.graph import CudaGraph
from hopwave.papers.graphs import mycielskian_ends
from hopwave.papers.lab import wrong

LEAST = 16  # least number of sources, even if a plan has used up its seconds


MADE: dict[str, Callable[[], Graph]] = {
    "kron18e43": lambda: made_on_gpu(*kronecker_ends(18, 43)),
    "kron21e44": lambda: made_on_gpu(*kronecker_ends(21, 44)),
    "rmat22e64": lambda: made_on_gpu(*kronecker_ends(22, 64)),
    "uniform20e16": lambda: made_on_gpu(*uniform_ends(1 << 20, 16 << 20)),
    "mycielskian15": lambda: made_on_gpu(*mycielskian_ends(15)),
    "mycielskian17": lambda: made_on_gpu(*mycielskian_ends(17)),
    "grid1000": lambda: generate.grid(1000, 1000, missing=0.03, seed=0),
    "delaunay20": lambda: generate.delaunay(1 << 20, seed=1),
}


def measured(name: str, graph: Graph, plans: list[str], given: argparse.Namespace) -> dict[str, Any]:
    """The line of one graph: medians over the sources, per plan."""
    line: dict[str, Any] = {"name": name, "where": head() | {"sources": given.sources}, "n": graph.n, "m": graph.m}
    line["directed"] = graph.directed
    sources, right = sources_of(graph, given.sources), {}
    rows = tuple(CudaGraph(graph).rows)
    degrees = cupy.diff(rows[0])
    for plan in plans:
        traced = hw.plan(plan).loop == "host"  # the host sees no levels of a search in one launch
        options: dict[str, Any] = {"device": "cuda", "predecessors": False}
        graph._prepared.drop(CudaGraph)
        seen: list[dict[str, float]] = []
        first = hw.bfs(graph, sources[0], plan=plan, **options)  # compiles, uploads, makes the buffers
        if not right:
            right[sources[0]] = cupy.asarray(first.distances)
            if broken := wrong(graph, right[sources[0]], None, sources[0]):
                raise SystemExit(f"{name}, {plan}, source {sources[0]}: {broken}")
        spent, least = 0.0, given.sources if name.startswith("kron") else LEAST
        for source in sources:
            began = time.perf_counter()
            found = hw.bfs(graph, source, plan=plan, **options)
            depth = found.depth  # the call of a search in one launch does not wait; reading depth does
            ms = (time.perf_counter() - began) * 1e3
            distance = cupy.asarray(found.distances)
            if not bool((distance == right.setdefault(source, distance)).all()):
                raise SystemExit(f"{name}, {plan}, source {source}: other distances than {plans[0]}")
            trace = (hw.bfs(graph, source, plan=plan, trace=True, **options).trace if traced else None) or ()
            inside = sum(level.seconds for level in trace) * 1e3 if traced else ms
            seen.append({
                "ms": ms, "ms in levels": inside, "levels": depth,
                "gteps": float(degrees[distance >= 0].sum()) / inside / 1e6,
                "pull share": sum(lv.seconds for lv in trace if lv.direction == "pull") * 1e3 / inside,
                "read again": sum(lv.checked for lv in trace) / max(1, sum(lv.edges for lv in trace)) - 1,
            })  # fmt: skip
            spent += ms
            if spent > given.seconds * 1e3 and len(seen) >= least:
                break
        line[plan] = {key: float(np.median([one[key] for one in seen])) for key in seen[0]} | {"searches": len(seen)}
    return line


def main() -> None:
    given = command_line(__doc__, graphs="", sources=64, seconds=1.0, go_on=False)
    plans, graphs = authors_page.PLANS, list(authors_page.AUTHORS)
    before = pages.earlier("gpu-authors") if given.go_on else []
    records: dict[str, Any] = {one["name"]: one for one in before}
    for name in given.graphs.split(",") if given.graphs else graphs:
        files = [file for end in ("npz", "mtx.gz") if (file := DATA / f"{name}.{end}").exists()]
        if name not in MADE and not files:
            print(f"{name}: {DATA / name}.mtx.gz does not exist; left out")
            continue
        clock = time.perf_counter()
        graph = hw.read(files[0], progress=False) if files else MADE[name]()
        records[name] = line = measured(name, graph, plans, given)
        del graph
        cupy.get_default_memory_pool().free_all_blocks()
        shown = " ".join(f"{plan} {line[plan]['ms']:.3f}/{line[plan]['ms in levels']:.3f}" for plan in plans)
        print(f"{name} ({time.perf_counter() - clock:.1f} s) {shown}", flush=True)
        lines = [records[one] for one in graphs if one in records]
        pages.write("gpu-authors", RESULTS, lines)


if __name__ == "__main__":
    main()
