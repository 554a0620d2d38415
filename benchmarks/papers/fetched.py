"""`make papers`: the tables of TurboBFS and TurboBC on this machine, on the papers' own graphs.

    python -m benchmarks.papers.fetched [--most 5000000] [--device cpu | cuda] [--trials 50] [--seconds 1]

The graphs, up to `--most` arcs, are downloaded once from the SuiteSparse collection (docs/graphs.md says where they are
kept). As in the papers, the source is vertex 0, weights are ignored, the mean of the trials counts, MTEPS are arcs over
time, and a row has the fastest of the paper's algorithms. A time is the host's clock around a whole call, with the
answer in host memory. Every algorithm must give the distances of our own search (which pass Graph500's rules), or the
scores of our own betweenness, before it is timed. A graph that cannot be downloaded is left out, with a printed line.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.papers.turbo_tables import ROWS
from benchmarks.setting import LEFT_OUT, gpu, hw, publish
from hopwave.datasets.collection import find
from hopwave.planning.catalogue import CATALOGUE

NOTE = (
    "One source, vertex 0; the mean of up to {trials} trials. MTEPS are arcs over the time of a whole call. The "
    "papers' figures are those of their fastest algorithm on a Titan Xp; their d also counts the last, empty level."
)


def arcs_of(name: str) -> int:
    """The arcs that the papers state for a graph of the collection."""
    entry = find(name)
    assert entry is not None and entry.arcs is not None, name
    return entry.arcs


def calls(paper: str, graph: hw.Graph, device: str) -> dict[str, Callable[[], Any]]:
    """Calls of the paper's algorithms that return an array, by plan name."""
    task = "search" if paper == "TurboBFS" else "betweenness"
    names = [name for name, plan in CATALOGUE.items() if plan.task == task and name.startswith(paper.lower())]
    if task == "search":
        return {
            name: lambda name=name: np.asarray(hw.bfs(graph, 0, plan=name, device=device, predecessors=False).distances)
            for name in names
        }
    return {
        name: lambda name=name: np.asarray(
            hw.betweenness_centrality(graph, sources=[0], plan=name, device=device, progress=False).scores
        )
        for name in names
    }


def mean_seconds(call: Callable[[], Any], trials: int, seconds: float) -> float:
    """The mean of up to `trials` calls; fewer if the seconds are used up."""
    began, done, taken = time.perf_counter(), 0, 0.0
    while done < trials and taken <= seconds:
        call()
        done, taken = done + 1, time.perf_counter() - began
    return taken / done


def measure(table: str, name: str, graph: hw.Graph, given: argparse.Namespace) -> dict[str, Any]:
    """Our part of a row: the depth from vertex 0, the fastest algorithm, its time and MTEPS."""
    right = hw.bfs(graph, 0, device="cpu")
    if not hw.validate(graph, 0, right.distances, right.predecessors).ok:
        raise SystemExit(f"{name}: the search of plan hopwave breaks Graph500's rules")
    paper = table.partition(" ")[0]
    if paper == "TurboBFS":
        expected = right.distances
    else:
        expected = hw.betweenness_centrality(graph, sources=[0], device="cpu", progress=False).scores
    taken = {}
    for plan, call in calls(paper, graph, given.device).items():
        if not np.allclose(call(), expected, rtol=1e-9, atol=1e-12):
            raise SystemExit(f"{name}: {plan} disagrees with hopwave's own plan")
        taken[plan] = mean_seconds(call, given.trials, given.seconds)
    best = min(taken, key=lambda plan: taken[plan])
    mteps = graph.m / taken[best] / 1e6
    return {"n": graph.n, "arcs": graph.m, "d": right.depth + 1, "plan": best, "ms": taken[best] * 1e3, "MTEPS": mteps}


def main() -> None:
    """Fetch, measure, publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=5_000_000, help="arcs of the largest graph")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=1.0, help="stop timing an algorithm after that many")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    missing: set[str] = set()
    for table, name, depth, mteps in ROWS:
        if name in missing or arcs_of(name) > given.most:
            continue
        try:
            graph = hw.datasets.fetch(name, weights=False)
        except (hw.DownloadError, hw.FormatError) as error:
            missing.add(name)
            print(f"{LEFT_OUT}{name}; {error}", flush=True)
            continue
        ours = measure(table, name, graph, given)
        row = {"table": table, "graph": name, **ours}
        rows.append(row | {"paper's d": depth, "paper's MTEPS": mteps, "times the paper": ours["MTEPS"] / mteps})
        print(rows[-1], flush=True)
    if not rows:
        raise SystemExit("no graph of the papers could be had; nothing was measured")
    larger = len({name for _, name, *_ in ROWS if arcs_of(name) > given.most})
    note = (
        NOTE.format(trials=given.trials) + f" Left out: {larger} graph{'s' * (larger != 1)} of over {given.most:,} arcs"
    )
    note += f", and {', '.join(sorted(missing))}, which could not be had." if missing else "."
    publish(f"papers-{given.device}", "The tables of TurboBFS and TurboBC", rows, note, gpu(given.device))


if __name__ == "__main__":
    main()
