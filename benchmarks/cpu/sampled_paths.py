"""Betweenness within ± epsilon on the CPU: sampled paths, sampled sources, and NetworKit's KADABRA, in one run.

    python -m benchmarks.cpu.sampled_paths [--networkit PYTHON]  samples, time, real and stated error per graph
    python -m benchmarks.cpu.sampled_paths --promise 200         how often a score is off by more than its bound
    python -m benchmarks.cpu.sampled_paths --k-bounds 20         the same for samples of k sources; width of bounds

PYTHON is an interpreter that has NetworKit and SciPy, in a separate environment. NetworKit's scores of undirected
graphs are twice NetworkX's: it is asked for ± 2 epsilon, and its scores are halved. Both take turns on the same cores
for some rounds (sources: one round), and the fastest call of each counts; CPU seconds are the sum over all threads, the
least of the rounds. Exact scores are kept in the temporary folder for the next run.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import stats

from benchmarks.setting import DATA, LEFT_OUT, command_line, generate, hw, publish, tell
from hopwave.algorithms.betweenness_sampling.costs import sources_needed
from hopwave.algorithms.betweenness_sampling.path_schedule import Goal

DELTA = 0.1
EXACT_ARCS = 2e10  # sources × arcs up to which exact scores are computed, to know the real error
SOURCE_ARCS = 2e9  # sources × arcs up to which the sample of sources is run
MANY_RUNS_ARCS = 2e7  # sources × arcs of a sample of k sources up to which all runs are made; beyond, a tenth of them
DEEP = ("luxembourg_osm",)  # a pair costs a quarter of a source: only coarse precision

KADABRA = """
import json, sys, time
import networkit as nk, numpy as np, scipy.sparse as sp
A = sp.load_npz(sys.argv[1]).tocoo()
nk.setNumberOfThreads(int(sys.argv[3]))
keep = A.row < A.col
graph = nk.GraphFromCoo((A.row[keep].astype(np.int64), A.col[keep].astype(np.int64)), n=A.shape[0])
began, used = time.perf_counter(), time.process_time()
run = nk.centrality.KadabraBetweenness(graph, float(sys.argv[2]), DELTA)
run.run()
took, used = time.perf_counter() - began, time.process_time() - used
np.save(sys.argv[4], np.array(run.scores()) / 2)
print(json.dumps({"samples": run.getNumberOfIterations(), "seconds": took, "used": used}))
""".replace("DELTA", str(DELTA))


def graphs() -> dict[str, Callable[[], hw.Graph]]:
    """The graphs of the comparison, read or made when needed."""
    files = ("PGPgiantcompo", "wiki-Vote", "luxembourg_osm", "email-Enron")
    return {name: lambda name=name: hw.read(DATA / f"{name}.mtx.gz", progress=False) for name in files} | {
        "kron18": lambda: generate.kronecker(18, 16, seed=1)
    }


def exact_scores(name: str, graph: hw.Graph) -> Any:
    """Exact scores, kept between runs; None if they would take too long."""
    kept = Path(tempfile.gettempdir()) / f"exact-{name}.npy"
    if kept.exists():
        return np.load(kept)
    if graph.n * graph.m > EXACT_ARCS:
        return None
    scores = hw.betweenness_centrality(graph, weights=graph.weights is not None, progress=False).scores
    np.save(kept, scores)
    return scores


def error(scores: Any, exact: Any) -> float | None:
    """The greatest error of any score."""
    return None if exact is None else float(np.abs(scores - exact).max())


def sampled(name: str, graph: hw.Graph, epsilon: float, exact: Any, method: str) -> dict[str, Any]:
    """Measure one call of hopwave."""
    began, used = time.perf_counter(), time.process_time()
    found = hw.betweenness_centrality(graph, epsilon=epsilon, delta=DELTA, seed=1, method=method, progress=False)
    seconds, used = time.perf_counter() - began, time.process_time() - used
    return {
        "graph": name,
        "epsilon": epsilon,
        "method": f"hopwave, {method}",
        "samples": found.sources if found.pairs is None else found.pairs,
        "seconds": seconds,
        "CPU seconds": used,
        "real error": error(found.scores, exact),
        "stated error": float(found.bounds.max()),
    }


def kadabra(name: str, graph: hw.Graph, epsilon: float, exact: Any, python: str) -> dict[str, Any]:
    """NetworKit in a separate process, with as many threads as hopwave; the graph is loaded before the clock starts."""
    with tempfile.TemporaryDirectory() as folder:
        matrix, scores = Path(folder) / "graph.npz", Path(folder) / "scores.npy"
        sp.save_npz(matrix, sp.csr_matrix(graph.to_scipy()), compressed=False)
        threads = str(len(os.sched_getaffinity(0)))
        call = [python, "-I", "-c", KADABRA, str(matrix), str(2 * epsilon), threads, str(scores)]
        told = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        return {
            "graph": name,
            "epsilon": epsilon,
            "method": "NetworKit, KADABRA",
            "samples": told["samples"],
            "seconds": told["seconds"],
            "CPU seconds": told["used"],
            "real error": error(np.load(scores), exact),
            "stated error": epsilon,
        }


def fastest(tries: list[dict[str, Any]]) -> dict[str, Any]:
    """The fastest of some calls, with the least CPU seconds of all."""
    best = min(tries, key=lambda row: row["seconds"])
    return best | {"CPU seconds": min(row["CPU seconds"] for row in tries)}


def rows_of(name: str, graph: hw.Graph, epsilon: float, networkit: str | None, rounds: int) -> list[dict[str, Any]]:
    exact = exact_scores(name, graph)
    calls: dict[str, Callable[[], dict[str, Any]]] = {"paths": lambda: sampled(name, graph, epsilon, exact, "paths")}
    if networkit and not graph.directed:
        calls["networkit"] = lambda: kadabra(name, graph, epsilon, exact, networkit)
    sampled(name, graph, 0.2, exact, "paths")  # compiles
    tries: dict[str, list[dict[str, Any]]] = {what: [] for what in calls}
    for _ in range(rounds):
        for what, call in calls.items():
            tries[what].append(call())
    rows = [fastest(found) for found in tries.values()]
    needed = sources_needed(graph.n, Goal(epsilon, DELTA), 0.1)
    if needed * graph.m <= SOURCE_ARCS:
        rows.append(sampled(name, graph, epsilon, exact, "sources"))
    return rows


def compare(networkit: str | None, names: list[str] | None, rounds: int, note: str) -> None:
    rows = []
    for name, make in graphs().items():
        if names and name not in names:
            continue
        if name != "kron18" and not (DATA / f"{name}.mtx.gz").exists():
            print(f"{LEFT_OUT}{name}; it is not in {DATA}: 'hopwave fetch {name}' downloads it", flush=True)
            continue
        graph = make()
        for epsilon in (0.05,) if name in DEEP else (0.02, 0.005):
            more = rows_of(name, graph, epsilon, networkit, rounds)
            print(*more, sep="\n", flush=True)
            rows += more
    publish(
        "cpu-paths",
        "Betweenness within ± epsilon: sampled paths, sampled sources, NetworKit",
        rows,
        f"All scores within ± epsilon with probability {1 - DELTA:g}; samples are pairs or sources. Real error: the "
        "greatest of all scores, where exact ones are known. NetworKit's scores of undirected graphs are "
        "twice NetworkX's: it was asked for ± 2 epsilon, and its scores halved. It refuses directed graphs. hopwave "
        f"and NetworKit took turns, {rounds} times, and the fastest call of each is shown; CPU seconds are those of "
        "both threads, the least of all calls. Sources were drawn once. " + note,
    )


def tested_graphs() -> dict[str, Callable[[], hw.Graph]]:
    """Graphs that are small enough for hundreds of runs."""
    tested = {name: graphs()[name] for name in ("PGPgiantcompo", "email-Enron", "wiki-Vote")}
    tested["ego-Facebook"] = lambda: hw.read(DATA / "ego-Facebook.mtx.gz", progress=False)
    tested["kron10-directed"] = lambda: generate.kronecker(10, 8, seed=1, directed=True)
    tested["grid40"] = lambda: generate.grid(40, 40)
    tested["les-miserables, weighted"] = lambda: hw.datasets.load("les-miserables")
    tested["kron8-directed, weighted"] = lambda: weighted(generate.kronecker(8, 6, seed=1, directed=True))
    tested["grid20, weighted"] = lambda: weighted(generate.grid(20, 20))
    return tested


def promise(runs: int, note: str) -> None:
    """How many of `runs` seeded runs have a score outside its bound, and how much too wide the bounds are."""
    rows = []
    for epsilon in (0.02, 0.005):
        for name, make in tested_graphs().items():
            graph = make()
            rows.append(tell(kept(name, graph, exact_scores(name, graph), epsilon, runs)))
    publish(
        "cpu-paths-promise",
        "Sampled paths: how often a score is farther off than promised",
        rows,
        f"The promise: in at most {DELTA:.0%} of runs. The p-value is the chance of at least "
        "this many runs beyond a bound, if it were exactly that. The last column is a median over the runs. Compared "
        "with the exact scores of hopwave, from all sources. " + note,
    )


def bounds_of_k(runs: int, note: str) -> None:
    """How wide the bounds from k sources are, compared with the real error."""
    tested = tested_graphs()
    rows = []
    names = ("ego-Facebook", "wiki-Vote", "kron10-directed", "grid40", "kron8-directed, weighted", "grid20, weighted")
    for name in ("PGPgiantcompo", *names):
        graph = tested[name]()
        along = graph.weights is not None
        exact = exact_scores(name, graph)
        for k in (32, 128, 512, 2048):
            if 2 * k > graph.n:
                continue
            beyond, ratios, count = 0, [], runs if k * graph.m < MANY_RUNS_ARCS else -(-runs // 10)
            for seed in range(count):
                found = hw.betweenness_centrality(graph, k=k, seed=seed, delta=DELTA, weights=along, progress=False)
                off = np.abs(found.scores - exact)
                beyond += bool((off > found.bounds).any())
                ratios.append(float(found.bounds.max() / off.max()))
            rows.append(
                {"graph": name, "k": k, "n": graph.n, "runs": count, "beyond a bound": beyond,
                 "widest bound / greatest error": float(np.median(ratios))}
            )  # fmt: skip
            print(rows[-1], flush=True)
    publish(
        "cpu-k-bounds",
        "Samples of k sources: how wide their bounds are",
        rows,
        f"The promise: in at most {DELTA:.0%} of runs is a score beyond its bound. The last column is a median over "
        "all runs. Compared with the exact scores of hopwave, from all sources. " + note,
    )


def weighted(graph: hw.Graph) -> hw.Graph:
    """Lengths of 1, 2 or 3 on all arcs, equal both ways: many shortest paths are equally long."""
    tails = np.repeat(np.arange(graph.n), graph.degrees)
    low, high = np.minimum(tails, graph.indices), np.maximum(tails, graph.indices)
    return graph.with_weights((7 * low + 13 * high) % 3 + 1.0)


def kept(name: str, graph: hw.Graph, exact: Any, epsilon: float, runs: int) -> dict[str, Any]:
    """Make `runs` seeded runs on one graph."""
    beyond_epsilon, beyond_bound, errors, pairs, widths = 0, 0, [], [], []
    along = graph.weights is not None
    for seed in range(runs):
        found = hw.betweenness_centrality(
            graph, epsilon=epsilon, delta=DELTA, seed=seed, method="paths", weights=along, progress=False
        )
        off = np.abs(found.scores - exact)
        beyond_epsilon += bool(off.max() > epsilon)
        beyond_bound += bool((off > found.bounds).any())
        errors.append(float(off.max()))
        pairs.append(found.pairs)
        widths.append(float(found.bounds.max()))
    return {
        "graph": name,
        "epsilon": epsilon,
        "runs": runs,
        "beyond epsilon": beyond_epsilon,
        "beyond a bound": beyond_bound,
        "p-value": float(stats.binom.sf(beyond_bound - 1, runs, DELTA)),
        "mean pairs": int(np.mean(pairs)),
        "mean greatest error": float(np.mean(errors)),
        "greatest error": max(errors),
        "widest bound / greatest error": float(np.median(np.array(widths) / np.array(errors))),
    }


def main() -> None:
    options = command_line(__doc__, networkit=str, promise=int, k_bounds=int, graphs=(), rounds=2, note="")
    if options.promise:
        promise(options.promise, options.note)
    elif options.k_bounds:
        bounds_of_k(options.k_bounds, options.note)
    else:
        compare(options.networkit, options.graphs, options.rounds, options.note)


if __name__ == "__main__":
    main()
