"""Push-pull's Table 2 on many graphs, on one GPU.

    PYTHONPATH=src:. python -m benchmarks.papers.ablations [--data FOLDER] [--graphs x,y] [--sources 16] [--go-on]

Every search is compared with the distances of `hopwave-gpu`, which on smaller graphs are compared with SciPy's for the
first source. Times are those inside the levels, by the GPU's events; median over sources. Writes one line for each plan
and graph, and gpu-ablations.md from them (ablations_page.py); --go-on keeps the lines of other graphs. XBFS's figures
are on gpu-xbfs.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from benchmarks import pages
from benchmarks.gpu.graphs import verified_searches
from benchmarks.gpu.search import GENERATED, head
from benchmarks.papers.ablations_page import PLANS
from benchmarks.setting import RESULTS, hw
from hopwave import Graph, engines
from hopwave.arrays import Deferred
from hopwave.engines.host_loop import by_levels
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan

GRAPHS = [
    "PGPgiantcompo",
    "ca-AstroPh",
    "cit-HepPh",
    "cnr-2000",
    "delaunay_n16",
    "ego-Twitter",
    "email-Enron",
    "p2p-Gnutella31",
    "ppi-cancer",
    "threads-math-sx",
    "wiki-Vote",
    "kron18e43",
    "kron21e44",
    "uniform20e16",
    "mycielskian15",
]
GRAPH500 = 64  # sources for Graph500's graphs


def levels_of(engine: Any, graph: Graph, plan: Plan, source: int, right: Any) -> list[Any]:
    """The levels of one search; fails unless its distances equal `right`."""
    search = engine.start(engine.load(graph, plan), (source,), SearchJob(predecessors=False))
    levels = by_levels(engine, search, graph.n, graph.m, plan)
    found = engine.fetch(search)["distances"]
    found = cupy.asarray(found.fetch() if isinstance(found, Deferred) else found)
    if not bool((found == right).all()):
        raise SystemExit(f"{plan.name} is wrong from {source}")
    return levels


def in_turn(
    engine: Any, graph: Graph, plans: Iterable[str], sources: list[int], right: list[Any]
) -> dict[str, list[list[Any]]]:
    """The levels of every search, by plan.

    All plans search from each source in turn, since levels include the host's time between launches, which drifts.
    """
    records = {name: hw.plan(name) for name in plans}
    for plan in records.values():
        levels_of(engine, graph, plan, sources[0], right[0])  # compiles, uploads, makes the buffers
    runs: dict[str, list[list[Any]]] = {name: [] for name in records}
    for source, one in zip(sources, right, strict=True):
        for name, plan in records.items():
            runs[name].append(levels_of(engine, graph, plan, source, one))
    return runs


def measure(engine: Any, name: str, graph: Graph, count: int) -> list[dict[str, Any]]:
    """One line for each plan."""
    sources, right = verified_searches(graph, count)
    degrees = cupy.asarray(graph.degrees)
    arcs = [int(degrees[one >= 0].sum()) for one in right]
    rows = []
    for plan, runs in in_turn(engine, graph, PLANS, sources, right).items():
        ms = [sum(level.seconds for level in run) * 1e3 for run in runs]
        up = [sum(level.seconds for level in run if level.direction == "pull") * 1e3 for run in runs]
        rows.append({
            "graph": name, "n": graph.n, "m": graph.m, "plan": plan, "sources": len(runs),
            "levels": int(np.median([int(one.max()) for one in right])), "ms": float(np.median(ms)),
            "ms in pulls": float(np.median(up)), "gteps": float(np.median(np.array(arcs) / np.array(ms))) / 1e6,
            "checked": float(np.median([sum(level.checked for level in run) for run in runs])),
        })  # fmt: skip
        print(name, plan, f"{rows[-1]['ms']:.3f} ms", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the .mtx.gz files")
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--sources", type=int, default=16)
    parser.add_argument("--go-on", action="store_true", help="keep the lines of other graphs")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    engine, about = engines.engine("cuda"), head()
    given.out.mkdir(parents=True, exist_ok=True)
    kept = given.out / "gpu-ablations.jsonl"
    before = kept.read_text(encoding="utf-8").splitlines() if given.go_on else []
    by_graph: dict[str, list[dict[str, Any]]] = {}
    for line in map(json.loads, before):
        by_graph.setdefault(line["graph"], []).append(line)
    for name in given.graphs.split(","):
        path = given.data / f"{name}.mtx.gz"
        if name not in GENERATED and not path.exists():
            print(f"{name}: {path} does not exist; left out")
            continue
        graph = (GENERATED[name]() if name in GENERATED else hw.read(path)).to("cuda")
        measured = measure(engine, name, graph, max(given.sources, GRAPH500 * name.startswith("kron")))
        by_graph[name] = [about | row for row in measured]
        graph._prepared.clear()
        cupy.get_default_memory_pool().free_all_blocks()
        lines = [line for one in GRAPHS for line in by_graph.get(one, [])]
        pages.write("gpu-ablations", given.out, lines)


if __name__ == "__main__":
    main()
