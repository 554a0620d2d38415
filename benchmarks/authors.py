"""The papers' plans on one GPU, compared with the authors' own programs.

    PYTHONPATH=src python -m benchmarks.authors [--sources 64] [--seconds 1] [--graphs a,b] [--go-on]

Each source's search is a call of hw.bfs, timed by the host's clock, with the answers left on the GPU; the time inside
its levels is the GPU's, from a second, traced call. Before it is timed, the first source's answer is checked by CuPy's
own operations, and all plans must find the same distances from every source. Every plan is timed from at least 16
sources, and from all of them on Graph500's graphs. Writes gpu-authors: JSON lines and a page; --go-on
keeps the lines of other graphs.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from typing import Any

import numpy as np

from benchmarks import pages
from benchmarks.pages import Record
from benchmarks.setting import command_line, giant_sources, gpu, graph_named, hw

LEAST = 16  # least number of sources, even if a plan has used up its seconds


TURBOBFS = [f"turbobfs-{name}" for name in ("td-sccooc", "td-sccsc", "td-vecsc", "bu-sc", "bu-ve", "tdbu", "tdbu-ve")]
PLANS = ["hopwave-dense", *TURBOBFS, "xbfs", "pushpull"]
PROGRAMS = ("TurboBFS", "XBFS", "GraphBLAST", "Gunrock", "GSWITCH")
# Milliseconds of other programs on an H200, by graph and program: peers.md shows them.
AUTHORS: dict[str, Record] = {
    row["graph"]: {program: row.get(f"{program} ms") for program in PROGRAMS} for row in pages.rows("peers-authors")
}


def values(lines: list[Record]) -> Record:
    """Our times, theirs, and the host's time."""
    graphs = [one | computed(one) for one in lines]
    slower = [f"{program} on {one['name']} ({gain:.2g})" for one in graphs
              for program, gain in one["gain"].items() if gain is not None and gain < 1]  # fmt: skip
    return {
        "sources": max(one[plan]["searches"] for one in lines for plan in PLANS if plan in one), "graphs": graphs,
        "algorithms": ", ".join(plan.removeprefix("turbobfs-") for plan in TURBOBFS if plan in lines[-1]),
        "slower": ", ".join(slower) or "none",
        "host_rule": host_time(lines, ["xbfs", "pushpull"]), "host_ahead": host_time(lines, TURBOBFS[:5]),
    }  # fmt: skip


def computed(one: Record) -> Record:
    """The fastest of TurboBFS's algorithms, the authors' times, and their ratios to ours."""
    best, *_, slowest = sorted((plan for plan in TURBOBFS if plan in one), key=lambda plan: float(one[plan]["ms"]))
    theirs = AUTHORS[one["name"]]
    ours = {"TurboBFS": one[best]["ms"], "XBFS": one["xbfs"]["ms in levels"], "GraphBLAST": one["pushpull"]["ms"]}
    gain = {program: value / ms if isinstance(value := theirs[program], (int, float)) else None
            for program, ms in ours.items()}  # fmt: skip
    return {"turbobfs": one[best], "best": best.removeprefix("turbobfs-"), "levels": round(one[best]["levels"]),
            "theirs": theirs, "gain": gain, "slowest": slowest.removeprefix("turbobfs-"),
            "slow": one[slowest]}  # fmt: skip


def host_time(lines: list[Record], plans: list[str]) -> float:
    """Milliseconds that whole calls take beyond their levels: the median over graphs and plans."""
    return median(one[plan]["ms"] - one[plan]["ms in levels"] for one in lines for plan in plans)


def measured(name: str, graph: hw.Graph, plans: list[str], given: argparse.Namespace) -> dict[str, Any]:
    """The line of one graph: medians over the sources, per plan."""
    import cupy

    from hopwave.papers.lab import wrong

    line: Record = {"name": name, "n": graph.n, "m": graph.m, "directed": graph.directed}
    sources, right, host = giant_sources(graph, given.sources), {}, graph
    degrees = cupy.asarray(graph.degrees)
    for plan in plans:
        traced = hw.plan(plan).loop == "host"  # the host sees no levels of a search in one launch
        options: dict[str, Any] = {"device": "cuda", "predecessors": False}
        graph = host.to("cuda")  # a new one: only this plan's arrays are prepared
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
    given = command_line(__doc__, graphs=list(AUTHORS), sources=64, seconds=1.0, go_on=False)
    records: dict[str, Any] = {one["name"]: one for one in pages.rows("gpu-authors")} if given.go_on else {}
    for name in given.graphs:
        graph = graph_named(name)
        if graph is None:
            continue
        began = time.perf_counter()
        records[name] = line = measured(name, graph, PLANS, given)
        shown = " ".join(f"{plan} {line[plan]['ms']:.3f}/{line[plan]['ms in levels']:.3f}" for plan in PLANS)
        print(f"{name} ({time.perf_counter() - began:.1f} s) {shown}", flush=True)
        title, lines = "The papers' plans compared with their authors' programs", list(records.values())
        pages.keep([{"benchmark": "gpu-authors", "title": title, "where": gpu(), "rows": lines, "note": ""}])


if __name__ == "__main__":
    main()
