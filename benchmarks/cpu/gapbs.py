"""Searches and betweenness compared with the GAP Benchmark Suite, on the same machine, graphs, sources and threads.

    python -m benchmarks.cpu.gapbs SEARCH BETWEENNESS [--threads 2 16] [--graphs kron18 …] [--sources 1 4 8 16 64]
                                   [--folder FOLDER] [--name cpu-gapbs]

SEARCH and BETWEENNESS are programs that call GAPBS's own functions; hopwave has no copy of those. They are called as

    SEARCH graph.sg ROUNDS SOURCE …           and print a line `source reached ms` for each, the best of the rounds
    BETWEENNESS graph.sg ROUNDS K,K SOURCE …  and print a line `k ms-per-source` for each k, from the first k sources

with OMP_NUM_THREADS set. hopwave's times are those of the public call: the best of five after twenty, and the mean over
four sources. For betweenness both run equally many rounds, fewer with more sources; hopwave runs one more before. GAPBS
returns parents; hopwave returns parents and distances. Both must reach the same number of vertices.

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
MANY = 16  # sources of betweenness from which one round is enough, since a round is a mean over them

AIMS = "The aims are 0.5 for searches and 0.25 for betweenness."
NOTES = {
    "cpu-gapbs": AIMS,
    "cpu-gapbs-16": f"""\
Both programs in one visit to the 16 cores of the H200's host, one after the other, graph by graph. {AIMS} What logs of
every job, from three visits to this machine, say about those that are missed:

- Barriers are short. All fifteen helpers join a level within 4 µs, and it is closed half a microsecond after the last
  of them ends.
- Small world, a search: 0.1 ms are Python before and after it. Four pushes take 0.15 to 0.2 ms; the last looks at
  160,132 arcs, 8.5 to 10 ns per arc and thread, since cores take the cache lines of `parent` from each other. Three
  pulls take 0.1 ms.
- Delaunay 18, a search: 185 levels of 1,409 vertices, 12 µs each, of which 9 are work, 14 ns per arc and thread. The
  levels of the grid are smaller. Tried without gain: chunks half or twice as large (3.9 to 4.4 ms instead of 3.5), and
  threads that begin with the vertices they found themselves (15 µs per level).
- Delaunay 18, betweenness of one source: 208 levels, 18 µs each on the way out and 12 on the way back, and 1 ms on one
  thread. More threads hardly help: in an earlier visit 27 ms on one, 19 on two, 12 on four, 8.5 on eight, 8.0 on
  sixteen. Four sources have a team of four threads each, and take 16 ms together. Eight have one thread each, and the
  other eight have nothing to do.
- The grid, betweenness of one source: it stays on one thread. Levels have 500 vertices; shared, a source took 57 ms on
  two threads, 39 on four, 36 on eight and 43 on sixteen, beside 42 on one.
- One source of kron 18: 1.0 of 3.4 ms are on one thread: Python, clearing the sums, their check and scaling them. A
  push of 640,706 arcs takes 0.5 ms and counting along them 0.55 (by atomics it was 1.6 in all), going back along
  272,140 arcs 0.5 (it was 1.9, when every thread looked at all of them).
- Small world, betweenness: of 1.6 ms with one source, 0.7 are on one thread. Levels of 16,000 to 55,000 vertices take
  0.07 to 0.17 ms each, 4 to 6 ns per arc and thread, three on the way out and three back.
""",
}


def lines(program: str, threads: int, *arguments: object) -> list[list[str]]:
    """The lines of a program's output that begin with a digit, as words."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    command = [program, *map(str, arguments)]
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return [line.split() for line in out.splitlines() if line[:1].isdigit()]


def ms(call: Callable[[], Any], rounds: int = ROUNDS) -> float:
    return timed(call, rounds)[0] * 1e3


def rounds_of(size: int) -> int:
    """How often to measure betweenness of `size` sources."""
    return max(1, ROUNDS * (MANY - size) // MANY)


def load(name: str, folder: Path) -> hw.Graph:
    """A graph, from its file in the folder if it exists, else generated and written there."""
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
