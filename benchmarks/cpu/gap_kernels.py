"""The six kernels of the GAP benchmark beside GAPBS's own programs: same machine, graphs, sources, weights and threads.

    python -m benchmarks.cpu.gap_kernels PROGRAMS [--threads 16] [--graphs kron20 …] [--folder FOLDER]
                                         [--name cpu-gap-kernels-16]

PROGRAMS is a folder with GAPBS's programs as its Makefile builds them; they read the graphs as `.sg` and `.wsg` files,
which are written to --folder. Both sides' times are the best of some rounds. hopwave's are those of the public call on
a graph that was asked before; components, which are kept with a graph, are asked of a new one. GAPBS's are those that
its programs print: its best of three Δ (2, 16 and 64) for `sssp`, and of two programs for `cc` and `pr`. PageRank stops
by the same rule, `tol = 1e-4 / n` beside `-t 1e-4`. Answers are checked before they are timed: the number of components
beside SciPy's, that of triangles beside GAPBS's, distances along every arc, ranks by the change of another round.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

from benchmarks.cpu.gapbs import ALL, SMALL_WORLD
from benchmarks.setting import giant_sources, hw, publish, timed

NAMES = [SMALL_WORLD, "delaunay18", "grid1000", "kron20", "uniform20"]
AIMS = {"bfs": 0.5, "bc, 4 sources": 0.25, "sssp": 0.7, "PageRank": 0.8, "components": 0.7, "triangles": 0.5}
ROUNDS, SEARCHED, WIDTHS = 5, 3, (2, 16, 64)
TITLE = "The six kernels of the GAP benchmark beside GAPBS, on the CPU"
NOTE = """\
Wall time of the public call, warm, beside the time that GAPBS's program prints for its kernel; the best of some rounds
each, one after the other. Below the aim, hopwave is ahead by more than was asked.
"""


def trials(folder: Path, threads: int, program: str, *options: object) -> float:
    """The best time that a program prints, in ms."""
    command = [str(folder / program), *map(str, options)]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return min(float(seconds) * 1e3 for seconds in re.findall(r"Trial Time:\s+([\d.]+)", out))


def count_of(folder: Path, threads: int, file: Path) -> int:
    """GAPBS's number of triangles."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    command = [str(folder / "tc"), "-f", str(file), "-n", "1", "-a"]
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return int(re.findall(r"(\d+) triangles", out)[0])


def load(name: str, folder: Path) -> tuple[hw.Graph, hw.Graph]:
    """A graph and the same with whole weights from 1 to 255, from their files if these exist, else generated."""
    plain, weighted = folder / f"{name}.sg", folder / f"{name}.wsg"
    if not weighted.exists():
        graph = ALL[name]().remove_self_loops()  # GAPBS would count them as sides of triangles
        hw.write(plain, graph)
        source, target = graph.to_edges()
        weights = np.random.default_rng(5).integers(1, 256, len(source)).astype(np.int32)
        hw.write(weighted, hw.Graph.from_edges(source, target, weights=weights, n=graph.n))
    return hw.read(plain, progress=False), hw.read(weighted, progress=False)


def best(call: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """The best time of a call in ms, after two others."""
    call()
    call()
    return timed(call, rounds)[0] * 1e3


def check(name: str, right: bool, what: str) -> None:
    if not right:
        raise SystemExit(f"{name}: hopwave's {what} are wrong")


def are_distances(graph: hw.Graph, source: int, d: Any) -> bool:
    """No arc leads nearer, and one leads to every vertex but the source: true of distances alone, weights being > 0."""
    tail, head = np.repeat(np.arange(graph.n, dtype=np.int32), graph.degrees), graph.indices
    through = d[tail] + graph.weights
    reached = np.zeros(graph.n, bool)
    reached[head[(through == d[head]) & (through < np.inf)]] = True
    reached[source] = True
    return bool(d[source] == 0 and (through >= d[head]).all() and np.array_equal(reached, d < np.inf))


def measure(name: str, threads: int, programs: Path, folder: Path) -> Iterator[tuple[str, float, float]]:
    """(kernel, hopwave's time, GAPBS's time) for every kernel."""
    graph, weighted = load(name, folder)
    file, lengths = folder / f"{name}.sg", folder / f"{name}.wsg"
    gap, sources = partial(trials, programs, threads), giant_sources(graph, 4)
    A = sp.csr_matrix((np.ones(graph.m, np.int8), graph.indices, graph.indptr), shape=(graph.n, graph.n))

    tol = 1e-4 / graph.n
    x, degrees = hw.pagerank(graph, tol=tol, device="cpu").scores, np.maximum(1, graph.degrees)
    dead = float(x[graph.degrees == 0].sum())
    after = 0.85 * (A @ (x / degrees) + dead / graph.n) + 0.15 / graph.n
    check(name, float(np.abs(after - x).sum()) < 1e-4, "ranks")
    theirs = min(gap(program, "-f", file, "-n", ROUNDS, "-t", 1e-4) for program in ("pr", "pr_spmv"))
    yield "PageRank", best(lambda: hw.pagerank(graph, tol=tol, device="cpu"), 2 * ROUNDS), theirs

    new = iter([hw.Graph(graph.indptr, graph.indices, directed=False) for _ in range(2 * ROUNDS + 3)])
    found = hw.connected_components(next(new), device="cpu")
    check(name, found.count == csgraph.connected_components(A, directed=False)[0], "components")
    theirs = min(gap(program, "-f", file, "-n", ROUNDS) for program in ("cc", "cc_sv"))
    yield "components", best(lambda: hw.connected_components(next(new), device="cpu"), 2 * ROUNDS), theirs

    found_triangles = hw.triangle_count(graph, device="cpu")
    check(name, found_triangles == count_of(programs, threads, file), "triangles")
    yield "triangles", best(lambda: hw.triangle_count(graph, device="cpu"), 3), gap("tc", "-f", file, "-n", 2)

    check(name, are_distances(weighted, sources[0], hw.sssp(weighted, sources[0], device="cpu").distances), "distances")
    theirs = min(
        statistics.mean(gap("sssp", "-f", lengths, "-n", 3, "-r", s, "-d", width) for s in sources[:SEARCHED])
        for width in WIDTHS
    )
    ours = statistics.mean(best(partial(hw.sssp, weighted, s, device="cpu")) for s in sources[:SEARCHED])
    yield "sssp", ours, theirs

    for _ in range(20):  # until the graph is prepared
        hw.bfs(graph, sources[0], device="cpu")
    theirs = statistics.mean(gap("bfs", "-f", file, "-n", ROUNDS, "-r", s) for s in sources[:SEARCHED])
    yield "bfs", statistics.mean(best(partial(hw.bfs, graph, s, device="cpu")) for s in sources[:SEARCHED]), theirs

    run = partial(hw.betweenness_centrality, graph, sources=sources, progress=False, device="cpu")
    yield "bc, 4 sources", best(run, 3), gap("bc", "-f", file, "-n", 3, "-i", 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--graphs", nargs="*", default=NAMES)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--name", default="cpu-gap-kernels-16")
    options = parser.parse_args()
    os.environ["HOPWAVE_NUM_THREADS"] = str(options.threads)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.graphs:
            for kernel, ours, theirs in measure(
                name, options.threads, options.programs, options.folder or Path(temporary)
            ):
                row = {"graph": name, "kernel": kernel, "threads": options.threads, "hopwave ms": ours}
                row |= {"GAPBS ms": theirs, "hopwave / GAPBS": ours / theirs, "aim": AIMS[kernel]}
                print(row, flush=True)
                rows.append(row)
    publish(options.name, TITLE, rows, NOTE)


if __name__ == "__main__":
    main()
