"""How searches and betweenness scale with threads.

    python -m benchmarks.cpu.scaling [--threads 1 2 4 8 16] [--graphs kron20 …]

Search: median of 16 sources. Betweenness: 64 sources, best of two runs. The scores of every run equal those of one
thread, bit for bit. Writes a table and, if matplotlib is installed, a picture.
"""

from __future__ import annotations

import statistics
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.setting import GRAPHS, RESULTS, command_line, giant_sources, hw, plotting, publish, timed

NAMES = ["kron20", "uniform20", "delaunay20"]


def measure(name: str, counts: list[int]) -> list[dict[str, Any]]:
    graph = GRAPHS[name]()
    sources = giant_sources(graph, 16)
    for source in sources:
        hw.bfs(graph, source)
    # Compile, and prepare what is kept per graph, before anything is timed.
    hw.betweenness_centrality(graph, k=64, seed=1, progress=False)
    rows: list[dict[str, Any]] = []
    first: Any = None
    for threads in counts:
        times = [timed(partial(hw.bfs, graph, source, threads=threads), 1)[0] for source in sources * 2]
        run = partial(hw.betweenness_centrality, graph, k=64, seed=1, threads=threads, progress=False)
        best, result = timed(run, 1 if threads == 1 else 2)
        scores = result.scores
        first = scores if first is None else first
        if not np.array_equal(first, scores):
            raise SystemExit(f"{name}: {threads} threads change the scores")
        rows.append(
            {
                "graph": name,
                "threads": threads,
                "search ms": statistics.median(times) * 1e3,
                "betweenness ms per source": best / 64 * 1e3,
            }
        )
        rows[-1]["search speed-up"] = rows[0]["search ms"] / rows[-1]["search ms"]
        rows[-1]["betweenness speed-up"] = rows[0]["betweenness ms per source"] / rows[-1]["betweenness ms per source"]
        print(rows[-1], flush=True)
    return rows


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    if (pyplot := plotting()) is None:
        return
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
    for axis, what in zip(axes, ("search", "betweenness"), strict=True):
        for name in NAMES:
            mine = [row for row in rows if row["graph"] == name]
            axis.plot([row["threads"] for row in mine], [row[f"{what} speed-up"] for row in mine], "o-", label=name)
        most = max(row["threads"] for row in rows)
        axis.plot([1, most], [1, most], ":", color="grey", label="ideal")
        axis.set(title=what, xlabel="threads", xscale="log", yscale="log")
        axis.set_xticks(sorted({row["threads"] for row in rows}), labels=sorted({row["threads"] for row in rows}))
        axis.minorticks_off()
    axes[0].set_ylabel("speed-up over one thread")
    axes[0].set_yticks([1, 2, 4, 8, 16], labels=[1, 2, 4, 8, 16])
    axes[0].legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    options = command_line(__doc__, threads=[1, 2, 4, 8, 16], graphs=NAMES)
    rows = [row for name in options.graphs for row in measure(name, options.threads)]
    publish("cpu-scaling", "Threads: searches and betweenness on the CPU", rows)
    draw(rows, RESULTS / "cpu-scaling.png")


if __name__ == "__main__":
    main()
