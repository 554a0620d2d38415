"""hopwave's own plan on one GPU: check it on traps and on the graphs of the table, then time it.

PYTHONPATH=src:. python -m benchmarks.gpu.hopwave [--check] [--time NAMES] [--json FILE] [--publish]
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import cupy as cp
import numpy as np

import hopwave as hw
from benchmarks.gpu.graphs import arc_keys, kronecker_ends, milliseconds, uniform_ends
from benchmarks.gpu.hopwave_check import LEVELS, Loaded, check, check_paths, check_traps, load
from benchmarks.setting import DATA
from hopwave.engines.cuda.policy import LevelSplit
from hopwave.engines.cuda.search.workspace import Workspace, trace_table
from hopwave.papers.graphs import mycielskian_ends
from hopwave.planning.jobs import SearchJob
from hopwave.planning.rules import Growing

# The most milliseconds that a search should take (device time, one H200).
TARGETS = {
    "email-Enron": 0.06, "kron18": 0.06, "kron21": 0.12, "rmat22": 0.20, "uniform20": 0.15, "mycielskian17": 0.05,
    "delaunay20": 1.2, "grid1000": 3.0, "luxembourg_osm": 1.5, "osm-netherlands-cities": 1.5,
}  # fmt: skip

NAMES = ("depth", "choice", "nf", "mf", "mu", "found", "checked", "blocks")


def undirected(n, source, target):
    """Rows on the GPU, neighbours by descending degree."""
    keys = arc_keys(n, source, target)
    degree = cp.bincount((keys // n).astype(np.int32), minlength=n)
    by_degree = cp.argsort(-degree, kind="stable").astype(np.int32)
    rank = cp.empty_like(by_degree)
    rank[by_degree] = cp.arange(n, dtype=np.int32)
    offsets = cp.zeros(n + 1, np.int64)
    offsets[1:] = cp.cumsum(degree)
    row = keys // n
    keys -= row * n
    row *= n
    row += rank[keys.astype(np.int32)]
    del keys
    row.sort()
    row %= n
    neighbours = by_degree[row.astype(np.int32)]
    return Loaded(offsets.astype(np.int32) if len(neighbours) < 1 << 31 else offsets, neighbours)


def graphs():
    """The graphs of the table; each is made when called."""
    return {
        "email-Enron": lambda: load(hw.read(DATA / "email-Enron.mtx.gz")),
        "kron18": lambda: undirected(*kronecker_ends(18, 43)),
        "kron21": lambda: undirected(*kronecker_ends(21, 44)),
        "rmat22": lambda: undirected(*kronecker_ends(22, 64)),
        "uniform20": lambda: undirected(*uniform_ends(1 << 20, 16 << 20, np.int64)),
        "mycielskian17": lambda: undirected(*mycielskian_ends(17)),
        "delaunay20": lambda: load(hw.generate.delaunay(1 << 20)),
        "grid1000": lambda: load(hw.generate.grid(1000, 1000, missing=0.03)),
        "luxembourg_osm": lambda: load(hw.read(DATA / "luxembourg_osm.mtx.gz")),
        "osm-netherlands-cities": lambda: load(hw.read(DATA / "osm-netherlands-cities.mtx.gz")),
        "kron26": lambda: undirected(*kronecker_ends(26, 16)),
    }


def giant_sources(loaded, count=16, seed=7):
    """Vertices of the largest component, the same ones in every run."""
    draw = np.random.default_rng(seed)
    degrees = cp.diff(loaded.offsets).get()
    busy = np.flatnonzero(degrees > 0)
    best = None
    for s in draw.choice(busy, min(8, len(busy)), replace=False):
        distance = loaded.reference([int(s)])
        if best is None or int((distance >= 0).sum()) > int((best >= 0).sum()):
            best = distance
        if int((best >= 0).sum()) > len(busy) // 2:
            break
    members = cp.flatnonzero(best >= 0).get()
    return draw.choice(members, min(count, len(members)), replace=False).astype(int).tolist()


def searched(W, sources, parents, plan):
    """Milliseconds: the median over sources of the median of 5, and each source's median."""
    distance = cp.empty(W.n, np.int32)
    parent = cp.empty(W.n, np.int32) if parents else None
    ids = {s: cp.asarray(np.array([s], np.int32)) for s in sources}
    medians = milliseconds(lambda s: W.launch(distance, parent, ids[s], SearchJob(parents), plan), sources)
    return float(np.median(medians)), medians


def levels_of(W, source, plan):
    """How many levels a search has."""
    W.launch(cp.empty(W.n, np.int32), None, cp.asarray(np.array([source], np.int32)), SearchJob(False), plan)
    return int(W.standing()["levels"])


def measure(name, make, splits, rules, options, report, show_trace):
    """Check and time one graph, for every split of its levels and every rule."""
    began = time.perf_counter()
    loaded = make()
    cp.get_default_memory_pool().free_all_blocks()
    sources = giant_sources(loaded)
    about = {"graph": name, "n": loaded.n, "m": loaded.m, "built s": time.perf_counter() - began, "options": options}
    plans = {rule: replace(hw.plan("hopwave"), rule=rule) for rule in rules}
    for split in splits:
        W = Workspace(loaded, split, options)
        wrong = [w for s in sources[:3] for parents in (False, True) if (w := check(loaded, W, [s], rules[0], parents))]
        for rule, plan in plans.items():
            row = about | {"rule": str(rule), "sizes": str(split), "wrong": wrong} | times(name, W, sources, plan)
            report.append(row)
            print(
                f"{name:<23} levels {row['levels']:>5}  {row['ms']:8.4f} ms (target {row['target']})  "
                f"parents {row['with parents']:8.4f}  {rule} {split}  {'WRONG ' + str(wrong) if wrong else 'ok'}",
                flush=True,
            )
        if show_trace:
            print_trace(W, sources[0], plans[rules[0]])
    del loaded
    cp.get_default_memory_pool().free_all_blocks()


def times(name, W, sources, plan):
    """Milliseconds and levels of searches from these sources."""
    fast, all_fast = searched(W, sources, False, plan)
    full, _ = searched(W, sources, True, plan)
    all_levels = [levels_of(W, s, plan) for s in sources]
    return {
        "levels": int(np.median(all_levels)), "ms": fast, "with parents": full, "target": TARGETS.get(name),
        "all": all_fast, "all levels": all_levels, "bytes": W.bytes,
    }  # fmt: skip


def print_trace(W, source, plan):
    """About twelve levels of one search, at even distances, with their microseconds."""
    rows = trace_table(LEVELS)
    ids = cp.asarray(np.array([source], np.int32))
    W.launch(cp.empty(W.n, np.int32), None, ids, SearchJob(False), plan, rows)
    levels, table = int(W.standing()["levels"]), rows.get()
    ends = np.concatenate([[table[-1, -1]], table[:levels, -1]])
    for row, us in list(zip(table[:levels], np.diff(ends) / 1e3, strict=True))[:: max(1, levels // 12)]:
        print("   ", dict(zip(NAMES, row.tolist(), strict=False)), f"{us:.1f} us", flush=True)


def publish(report):
    """Write benchmarks/results/gpu-hopwave.md and its JSON lines."""
    from benchmarks import pages
    from benchmarks.gpu.search import head
    from benchmarks.setting import RESULTS

    assert not any(row["wrong"] for row in report), "a wrong search is not worth its time"
    pages.write("gpu-hopwave", RESULTS, [head() | row for row in report])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="check every trap")
    parser.add_argument("--time", nargs="*", help="graphs to time; all of the table when none is named")
    parser.add_argument("--json", type=Path, help="append one JSON line per row here")
    parser.add_argument("--option", action="append", default=[], help="for the compiler")
    parser.add_argument("--sizes", nargs="*", default=[""], help="fields of LevelSplit, such as alone=512,share=512")
    parser.add_argument("--alpha", type=float, nargs="*", default=[hw.plan("hopwave-dense").rule.alpha])
    parser.add_argument("--trace", action="store_true", help="print the levels of one search")
    parser.add_argument("--publish", action="store_true", help="write what was timed to benchmarks/results")
    given = parser.parse_args()
    options, report = tuple(given.option), []
    if given.check:
        check_traps(options)
        check_paths()
    if given.time is not None:
        table = graphs()
        rules = [Growing(alpha, 18) for alpha in given.alpha]
        for name in given.time or list(TARGETS):
            pairs = [[pair.split("=") for pair in text.split(",") if pair] for text in given.sizes]
            splits = [LevelSplit(**{key: int(value) for key, value in some}) for some in pairs]
            measure(name, table[name], splits, rules, options, report, given.trace)
    if given.json:
        with given.json.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in report)
    if given.publish:
        publish(report)


if __name__ == "__main__":
    main()
