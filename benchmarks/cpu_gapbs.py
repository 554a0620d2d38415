"""Searches and betweenness beside the GAP Benchmark Suite, on the same machine, graphs, sources and threads.

    python -m benchmarks.cpu_gapbs SEARCH BETWEENNESS [--threads 2 16] [--graphs kron18 …] [--sources 1 4 8 16 64]
                                   [--folder FOLDER] [--name cpu-gapbs]

SEARCH and BETWEENNESS are programs around GAPBS's own functions, which hopwave has no copy of. They are called as

    SEARCH graph.sg ROUNDS SOURCE …           and print a line `source reached ms` for each, the best of the rounds
    BETWEENNESS graph.sg ROUNDS K,K SOURCE …  and print a line `k ms-per-source` for each k, from the first k sources

with OMP_NUM_THREADS set. hopwave's times are those of the public call, the best of five after twenty; of four sources
the mean. Of betweenness, both do as many rounds, fewer with more sources, and hopwave one more before. GAPBS returns
parents; hopwave returns parents and distances. Both must reach the same number of vertices.

With --folder, graphs are kept there as NAME.sg. The page is benchmarks/results/cpu-gapbs, or what --name says.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.setting import GRAPHS, generate, giant_sources, hw, publish, timed

SMALL_WORLD = "smallworld17"
ALL = GRAPHS | {SMALL_WORLD: lambda: generate.smallworld(1 << 17, 10, 0.1, seed=1)}
NAMES = ["kron18", "kron20", "uniform20", "delaunay18", "grid1000", SMALL_WORLD, "mycielskian15"]
SEARCHED, ROUNDS, BEFORE = 4, 5, 20
TITLE = "Searches and betweenness beside GAPBS, on the CPU"
MANY = 16  # sources of betweenness from which on one round is enough, since a round is a mean over them

AIMS = "The aims are 0.5 for searches and 0.25 for betweenness."
NOTES = {
    "cpu-gapbs": AIMS,
    "cpu-gapbs-16": f"""\
Both programs in one visit to the 16 cores of the H200's host, one after the other, graph by graph; on two threads
searches alone. {AIMS} What a log of every job, made in the same visit, says about those that are missed:

- Barriers are short. All fifteen helpers join a level within 4 µs, and it is closed half a microsecond after the last
  of them ends. (Before, they slept between calls: 2 to 6 of 15 joined in a search of less than a millisecond.)
- Small world, a search of 0.37 ms: 0.1 ms are Python before and after it. Four pushes take 0.15 ms; the last looks at
  160,132 arcs, 8.5 ns per arc and thread, since cores take the cache lines of `parent` from each other. Three pulls
  take 0.09 ms.
- Delaunay 18, a search: 185 levels of 1,409 vertices, 12 µs each, of which 9 are work, 14 ns per arc and thread. The
  levels of the grid are smaller.
- One to eight sources of Delaunay 18 and the grid: path counts pass 2^53 and are rounded, so a source stays on one
  thread, and the number of threads changes no bit of a score.
- One to eight sources elsewhere: all threads share one source. On kron 18, of 5 ms, adding up the counts of 640,706
  arcs by atomics takes 1.6 ms (32 ns per arc and thread: few vertices are the target of most), and going back along
  272,140 arcs, all of which every thread looks at, 1.9. Memory, certificate and scaling, in Python, take 0.5 ms on the
  small world, a third of one source.
""",
}


def lines(program: str, threads: int, *arguments: object) -> list[list[str]]:
    """What a program prints, those lines that begin with a digit."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    command = [program, *map(str, arguments)]
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return [line.split() for line in out.splitlines() if line[:1].isdigit()]


def ms(call: Callable[[], Any], rounds: int = ROUNDS) -> float:
    return timed(call, rounds)[0] * 1e3


def rounds_of(size: int) -> int:
    """How often betweenness of so many sources is measured."""
    return max(1, ROUNDS * (MANY - size) // MANY)


def load(name: str, folder: Path) -> hw.Graph:
    """A graph, from its file in the folder if that is there, else generated and written to it."""
    file = folder / f"{name}.sg"
    if not file.exists():
        hw.write(file, ALL[name]())
    return hw.read(file, progress=False)


def measure(
    name: str, counts: list[int], sizes: list[int], search: str, betweenness: str, kept: Path | None
) -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = kept or Path(temporary)
        graph, file = load(name, folder), folder / f"{name}.sg"
        sources = giant_sources(graph, max([SEARCHED, *sizes]))
        for threads in counts:
            for _ in range(BEFORE):
                reached = hw.bfs(graph, sources[0], threads=threads).reached
            theirs = lines(search, threads, file, ROUNDS, *sources[:SEARCHED])
            if int(theirs[0][1]) != reached:
                raise SystemExit(f"{name}: hopwave reaches {reached} vertices, GAPBS {theirs[0][1]}")
            searches = (partial(hw.bfs, graph, source, threads=threads) for source in sources[:SEARCHED])
            ours = statistics.mean(ms(one) for one in searches)
            rows.append(row(name, "search", threads, ours, statistics.mean(float(line[2]) for line in theirs)))
            for k in sizes:
                rounds = rounds_of(k)
                ((_, theirs_each),) = lines(betweenness, threads, file, rounds, k, *sources[:k])
                run = partial(hw.betweenness_centrality, graph, sources=sources[:k], threads=threads, progress=False)
                run()
                what = f"betweenness, {k} sources, per source"
                rows.append(row(name, what, threads, ms(run, rounds) / k, float(theirs_each)))
    return rows


def row(name: str, what: str, threads: int, ours: float, theirs: float) -> dict[str, Any]:
    found = {"graph": name, "what": what, "threads": threads, "hopwave ms": ours, "GAPBS ms": theirs}
    found["hopwave / GAPBS"] = ours / theirs
    print(found, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("search")
    parser.add_argument("betweenness")
    parser.add_argument("--threads", type=int, nargs="*", default=[2, 16])
    parser.add_argument("--graphs", nargs="*", default=NAMES)
    parser.add_argument("--sources", type=int, nargs="*", default=[1, 4, 8, 16, 64])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--name", default="cpu-gapbs")
    options = parser.parse_args()
    rows = []
    for name in options.graphs:
        rows += measure(name, options.threads, options.sources, options.search, options.betweenness, options.folder)
    publish(options.name, TITLE, rows, NOTES.get(options.name, AIMS))


if __name__ == "__main__":
    main()
