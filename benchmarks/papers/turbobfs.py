"""TurboBFS's Tables I to III on one GPU: its six algorithms, with the paper's own numbers.

    PYTHONPATH=src python -m benchmarks.papers.turbobfs [--data FOLDER] [--graphs a,b] [--trials 50] [--seconds 1]

Uses the paper's graphs that are available or can be generated, and one as large as those of Table III. As in the paper:
one root (vertex 0, or the first with a neighbour; the paper does not name its own), the mean of 50 trials, MTEPS = arcs
/ time, and path counts if the algorithm has them. A time is the host's clock around a whole call of hw.bfs, whose
answers stay on the GPU. Every answer is checked before it is timed. Writes gpu-turbobfs.jsonl, a line per graph, and
its page; --go-on keeps the lines of other graphs.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy

from benchmarks import pages
from benchmarks.gpu.graphs import kronecker_ends, kronecker_on_gpu, made_on_gpu, mycielskian_ends
from benchmarks.gpu.search import head
from benchmarks.papers.turbobfs_page import OWN_BIG, PAPER, PLANS
from benchmarks.setting import RESULTS, generate, hw
from hopwave import Graph
from hopwave.engines.cuda.graph import CudaGraph
from hopwave.planning.jobs import SearchJob

CHUNK = 1 << 27  # arcs checked at a time
TRACED = 3  # searches whose levels are timed

MADE: dict[str, Callable[[], Graph]] = {
    "smallworld": lambda: generate.smallworld(100_000, 10, 0.1, seed=1),
    **{f"mycielskian{k}": lambda k=k: made_on_gpu(*mycielskian_ends(k)) for k in range(12, 20)},  # type: ignore[misc]
    **{f"kron{s}": lambda s=s: made_on_gpu(*kronecker_ends(s, 48)) for s in range(16, 22)},  # type: ignore[misc]
    OWN_BIG: lambda: kronecker_on_gpu(25, 16),
}


def wrong(rows: tuple[Any, ...], distance: Any, counts: Any, source: int = 0) -> str:
    """What is wrong with distances and path counts from a source, checked by CuPy's own operations; "" if nothing."""
    offsets, neighbours = rows
    n, m = len(distance), len(neighbours)
    if int(distance[source]) or int(cupy.count_nonzero(distance == 0)) != 1:
        return "the source is not the one vertex at distance 0"
    parents, sums = cupy.zeros(n, cupy.int64), cupy.zeros(n, cupy.float64)
    for begin in range(0, m, CHUNK):
        heads = neighbours[begin : begin + CHUNK]
        tails = cupy.searchsorted(offsets, cupy.arange(begin, begin + len(heads)), side="right") - 1
        above, below = distance[tails], distance[heads]
        if bool(((above >= 0) & ((below < 0) | (below > above + 1))).any()):
            return "an arc leads down more than one level"
        down = (above >= 0) & (below == above + 1)
        tails, heads = tails[down], heads[down]
        parents += cupy.bincount(heads, minlength=n)
        if counts is not None:
            sums += cupy.bincount(heads, weights=counts[tails], minlength=n)
    found = distance > 0
    if not bool((parents[found] > 0).all()):
        return "a vertex has no arc from the level before"
    if counts is not None and not bool(cupy.allclose(sums[found], counts[found], rtol=1e-12, atol=0)):
        return "a path count is not the sum over the arcs from the level before"
    return ""


def measure(graph: Graph, root: int, plan: str, options: dict[str, Any], given: argparse.Namespace) -> dict[str, Any]:
    """Bytes, mean milliseconds of whole calls, and milliseconds inside the levels."""
    kept = graph._prepared.find(CudaGraph)
    held = kept.bytes + 4 * graph.n + 8 * graph.n * options["path_counts"]
    began, done, taken = time.perf_counter(), 0, 0.0
    while done < given.trials and taken <= given.seconds:
        hw.bfs(graph, root, plan=plan, **options)
        done, taken = done + 1, time.perf_counter() - began
    inside = []
    for _ in range(TRACED):
        trace = hw.bfs(graph, root, plan=plan, trace=True, **options).trace
        inside.append(sum(level.seconds for level in trace) * 1e3)
    return {"ms": taken / done * 1e3, "ms in levels": sorted(inside)[TRACED // 2], "trials": done, "bytes": held,
            "path counts": options["path_counts"]}  # fmt: skip


def measured(name: str, graph: Graph, given: argparse.Namespace) -> dict[str, Any]:
    """The line of one graph."""
    rows = tuple(CudaGraph(graph).rows)
    degrees = cupy.diff(rows[0])
    mean, spread = graph.m / graph.n, float(degrees.astype(cupy.float64).std())
    where = head() | {"trials": given.trials, "seconds per plan": given.seconds}
    line: dict[str, Any] = {"name": name, "where": where, "n": graph.n, "m": graph.m, "directed": graph.directed}
    line["degree"] = f"{int(degrees.max())}/{mean:.0f}/{spread:.0f}"
    root = 0 if int(degrees[0]) else int(cupy.flatnonzero(degrees)[0])
    line["root"] = root
    first: Any = None
    for short in PLANS:
        plan = f"turbobfs-{short}"
        counted = hw.plan(plan).why_not(SearchJob(path_counts=True)) is None
        options = {"device": "cuda", "predecessors": False, "path_counts": counted}
        graph._prepared.drop(CudaGraph)  # so that only this plan's bytes are counted
        cupy.get_default_memory_pool().free_all_blocks()
        found = hw.bfs(graph, root, plan=plan, **options)
        distance = cupy.asarray(found.distances)
        counts = cupy.asarray(found.path_counts) if counted else None
        if first is None:
            broken = wrong(rows, distance, counts, root)
            first, line["d"] = (distance, counts), found.depth + 1
        else:
            broken = "" if bool((distance == first[0]).all()) else "other distances than the first algorithm"
            if counted and not bool(cupy.allclose(counts, first[1], rtol=1e-12, atol=0)):
                broken = "other path counts than the first algorithm"
        if broken:
            raise SystemExit(f"{name}, {plan}: {broken}")
        del distance, counts, found
        line[short] = measure(graph, root, plan, options, given)
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--graphs", default=",".join([*PAPER, OWN_BIG]))
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=1.0, help="stop timing an algorithm after that many")
    parser.add_argument("--go-on", action="store_true", help="keep the lines of other graphs")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    kept = given.out / "gpu-turbobfs.jsonl"
    lines = kept.read_text().splitlines() if given.go_on and kept.exists() else []
    records: dict[str, Any] = {one["name"]: one for one in map(json.loads, lines)}
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.graphs.split(","):
        path = given.data / f"{name}.mtx.gz"
        if name not in MADE and not path.exists():
            print(f"{name}: {path} does not exist; left out")
            continue
        clock = time.perf_counter()
        graph = MADE[name]() if name in MADE else hw.read(path, progress=False)
        made = time.perf_counter() - clock
        records[name] = line = measured(name, graph, given)
        del graph
        cupy.get_default_memory_pool().free_all_blocks()
        shown = " ".join(f"{plan} {line[plan]['ms']:.3f}/{line[plan]['ms in levels']:.3f}" for plan in PLANS)
        print(f"{name} ({made:.1f} + {time.perf_counter() - clock - made:.1f} s) d {line['d']} {shown}", flush=True)
        ordered = [records[one] for one in [*PAPER, OWN_BIG] if one in records]
        pages.write("gpu-turbobfs", given.out, ordered)


if __name__ == "__main__":
    main()
