"""XBFS's Figures 5 and 9 to 15, Table 2 and Lemma 3 on one GPU.

    PYTHONPATH=src:. python -m benchmarks.papers.xbfs [--data FOLDER] [--graphs x,y] [--sources 16] [--go-on]

The paper's baseline is Enterprise; enterprise.py implements it as the paper describes it. As in the paper (section
2.3), directed graphs get the reverse of each arc. Every search is compared with the distances of `hopwave-gpu`, which
on smaller graphs are compared with SciPy's for the first source. Times are those inside the levels, by the GPU's
events. Writes one line for each graph, and gpu-xbfs.md from them (xbfs_page.py); --go-on keeps the lines of other
graphs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cupy
import numpy as np

from benchmarks import pages
from benchmarks.gpu.graphs import LARGE, verified_searches
from benchmarks.gpu.search import GENERATED, head
from benchmarks.setting import RESULTS, hw
from hopwave import Graph, engines
from hopwave.arrays import Deferred
from hopwave.engines.host_loop import by_levels
from hopwave.papers import enterprise, xbfs_counts, xbfs_queues
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan

SHALLOW = [
    "PGPgiantcompo",
    "ca-AstroPh",
    "ego-Twitter",
    "email-Enron",
    "p2p-Gnutella31",
    "threads-math-sx",
    "wiki-Vote",
    "kron18e43",
    "kron21e44",
    "uniform20e16",
    "mycielskian15",
]
MOST_TO_COUNT = 200_000_000  # most arcs for which Lemma 3 is computed for every source; else for four
DEEP = ["luxembourg_osm", "grid1000"]  # never bottom-up: only for Table 2
GRAPHS = [*SHALLOW, "rmat22e64", "rmat24e16", *DEEP]


@dataclass(frozen=True)
class Variant:
    """A plan, and functions that replace its steps."""

    plan: Plan
    functions: dict[int, Callable[[Any, Any], None]]


def variants() -> dict[str, Variant]:
    """The figures' bars. Choices of XBFS's rule: 0 and 4 scan-free, 1 single-scan, 2 bottom-up, 3 no queue."""
    whole = hw.plan("xbfs")
    scan_free, single_scan, pull, no_queue, _ = whole.steps

    def still(balance: str) -> Plan:
        step = replace(pull, asynchronous=False, balance=balance)  # type: ignore[call-arg]
        return replace(whole, name=f"xbfs-{balance}-sync", steps=(scan_free, single_scan, step, no_queue, scan_free))

    waiting = replace(pull, asynchronous=False, balance="static")  # type: ignore[call-arg]
    baseline = replace(whole, name="enterprise", steps=(single_scan, single_scan, waiting, single_scan, single_scan))
    push = dict.fromkeys((0, 1, 3, 4), enterprise.push)
    return {
        "Enterprise": Variant(baseline, push | {2: enterprise.pull}),
        "+ Ad": Variant(still("static"), {2: enterprise.pull_double_scan}),
        **{balance: Variant(still(balance), {}) for balance in ("static", "thread", "warp", "donate")},
        "XBFS": Variant(whole, {}),
    }


def searched(engine: Any, graph: Graph, variant: Variant, source: int) -> tuple[list[Any], Any]:
    """The levels of one search, and its distances on the GPU."""
    search = engine.start(engine.load(graph, variant.plan), (source,), SearchJob(predecessors=False))
    levels = by_levels(enterprise.Levels(variant.functions), search, graph.n, graph.m, variant.plan)
    distances = engine.fetch(search)["distances"]
    return levels, cupy.asarray(distances.fetch() if isinstance(distances, Deferred) else distances)


def measure(engine: Any, name: str, graph: Graph, count: int) -> dict[str, Any]:
    """Everything about one graph."""
    sources, right = verified_searches(graph, count)
    record: dict[str, Any] = {"graph": name, "n": graph.n, "m": graph.m, "sources": count, "where": head()}
    record["levels"] = int(np.median([int(one.max()) for one in right]))
    bars = {bar: one for bar, one in variants().items() if name not in DEEP or bar in ("Enterprise", "XBFS")}
    for variant in bars.values():
        for source in sources[: 1 if name in DEEP else None]:  # compiles, uploads, makes the buffers
            searched(engine, graph, variant, source)
    traces: dict[str, list[list[Any]]] = {bar: [] for bar in bars}
    for source, expected in zip(sources, right, strict=True):
        for bar, variant in bars.items():  # in turn: levels include the host's time between launches, which drifts
            levels, distances = searched(engine, graph, variant, source)
            if not bool((distances == expected).all()):
                raise SystemExit(f"{bar} is wrong on {name} from {source}")
            traces[bar].append(levels)
    record |= {bar: summary(runs) for bar, runs in traces.items()}
    arrays = cupy, cupy.asarray(graph.indptr), cupy.asarray(graph.indices)
    some = slice(None if graph.m <= MOST_TO_COUNT else 4)
    record["ahead"] = ahead(arrays, traces["XBFS"][some], right[some])
    work = [work_of(arrays, levels, one) for levels, one in list(zip(traces["XBFS"], right, strict=True))[:4]]
    record["work"] = next((one for one in work if one), None)
    return record


def summary(runs: list[list[Any]]) -> dict[str, Any]:
    """One variant: milliseconds of a search, sums by choice and by direction, and arcs checked bottom-up."""
    found: dict[str, Any] = {"ms": float(np.median([sum(level.seconds for level in run) * 1e3 for run in runs]))}
    levels = [level for run in runs for level in run]
    for choice in range(4):  # of the four ways to make a queue: both phases of scan-free are one
        taken = sum(level.seconds for level in levels if level.choice % 4 == choice)
        found[f"choice {choice}"] = taken * 1e3 / len(runs)
    found["checked bottom-up"] = sum(level.checked for level in levels if level.direction == "pull")
    found["searches bottom-up"] = sum(any(level.direction == "pull" for level in run) for run in runs)
    return found


def ahead(arrays: Any, runs: list[list[Any]], right: list[Any]) -> dict[str, Any] | None:
    """Figure 10 and Lemma 3: the share of the second bottom-up level that the first one found, and its probability."""
    shares, chances = [], []
    for levels, distances in zip(runs, right, strict=True):
        first = next((level for level in levels if level.direction == "pull"), None)
        following = 0 if first is None else int((distances == first.depth + 1).sum())
        if following:
            shares.append(first.ahead / following)
            chances.append(xbfs_counts.chance_ahead(*arrays, distances, first.depth))
    if not shares:
        return None
    return {"searches": len(shares), "share": float(np.mean(shares)), "least": min(shares), "most": max(shares),
            "lemma 3": float(np.mean(chances))}  # fmt: skip


def work_of(arrays: Any, levels: list[Any], distances: Any) -> dict[str, Any] | None:
    """Figure 9 for the first bottom-up level of a search."""
    first = next((level for level in levels if level.direction == "pull"), None)
    if first is None:
        return None
    return xbfs_counts.work_by_degree(cupy, *xbfs_counts.looks(*arrays, distances, first.depth))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the .mtx.gz files")
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--sources", type=int, default=16)
    parser.add_argument("--go-on", action="store_true", help="keep the lines of other graphs, and Figure 5")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    engine, made = engines.engine("cuda"), LARGE | GENERATED
    given.out.mkdir(parents=True, exist_ok=True)
    before = (given.out / "gpu-xbfs.jsonl").read_text(encoding="utf-8").splitlines() if given.go_on else []
    records: dict[str, Any] = {one["graph"]: one for one in map(json.loads, before)}
    if "queues" not in records:
        records["queues"] = {"graph": "queues", "where": head(), "rows": list(xbfs_queues.times(xbfs_queues.MILLIONS))}
    for name in given.graphs.split(","):
        path = given.data / f"{name}.mtx.gz"
        if name not in made and not path.exists():
            print(f"{name}: {path} does not exist; left out")
            continue
        graph = made[name]() if name in made else hw.read(path)
        graph = (graph.to_undirected() if graph.directed else graph).to("cuda")
        records[name] = measure(engine, name, graph, given.sources)
        graph._prepared.clear()
        cupy.get_default_memory_pool().free_all_blocks()
        print(json.dumps(records[name]), flush=True)
        pages.write("gpu-xbfs", given.out, [records[one] for one in ["queues", *GRAPHS] if one in records])


if __name__ == "__main__":
    main()
