"""Sampled betweenness and distances: time and real error, and how often bounds hold.

    python -m benchmarks.sampling time [--device cpu | cuda]    samples, time, real and stated error per graph
    python -m benchmarks.sampling promise [--runs 200]          how often a score from sampled paths is beyond its bound
    python -m benchmarks.sampling k-bounds [--runs 20]          the same for samples of k sources; the width of bounds
    python -m benchmarks.sampling intervals [--runs 1000]       intervals of closeness, harmonic and mean distance

Exact scores are from all sources; they are cached in the temporary folder for the next run. On a GPU the paths of the
first pairs are compared with the CPU engine's before anything is timed: all counts must be equal.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.pages import Record, publish
from benchmarks.setting import QUICK, command_line, generate, gpu, graph_named, hw, tell
from hopwave import engines
from hopwave.algorithms.betweenness_sampling.costs import sources_needed
from hopwave.algorithms.betweenness_sampling.paths import Goal
from hopwave.planning.jobs import SampleJob

DELTA = 0.1
COMPARED = 2048  # pairs that both engines draw
EXACT_ARCS = 2e10  # sources × arcs up to which exact scores are computed, to know the real error
SOURCE_ARCS = 2e9  # sources × arcs up to which the sample of sources is run
MANY_RUNS_ARCS = 2e7  # sources × arcs of a sample of k sources up to which all runs are made; beyond, a tenth of them
ASKED: dict[str, dict[str, list[dict[str, Any]]]] = {
    "cpu": {
        "PGPgiantcompo": [{"epsilon": 0.02}, {"epsilon": 0.005}],
        "wiki-Vote": [{"epsilon": 0.02}, {"epsilon": 0.005}],
        "luxembourg_osm": [{"epsilon": 0.05}],
        "email-Enron": [{"epsilon": 0.02}, {"epsilon": 0.005}],
        "kron18": [{"epsilon": 0.02}, {"epsilon": 0.005}],
    },
    "cuda": {
        "email-Enron": [{"epsilon": 0.005}],
        "luxembourg_osm": [{"epsilon": 0.01}],
        "kron18e43": [{"epsilon": 0.02}, {"epsilon": 0.001}],
        "kron21e44": [{"epsilon": 0.001}],
        "kron24": [{"epsilon": 0.001, "top": 100}, {"epsilon": 0.0005, "top": 100}],
    },
}


def exact_scores(name: str, graph: hw.Graph) -> Any:
    """Exact scores, cached between runs; None if they would take too long."""
    cached = Path(tempfile.gettempdir()) / f"exact-{name}-{graph.n}-{graph.m}.npy"
    if cached.exists():
        return np.load(cached)
    if graph.n * graph.m > EXACT_ARCS:
        return None
    scores = hw.betweenness_centrality(graph, weights=graph.weights is not None, progress=False, device="cpu").scores
    np.save(cached, scores)
    return scores


def same_paths(name: str, graph: hw.Graph) -> None:
    """End the run unless both engines draw the same paths."""
    runs = [engines.engine(device).path_sampling(graph, SampleJob(1)) for device in ("cuda", "cpu")]
    for run in runs:
        run.advance(COMPARED, lambda done: False)
    if not all(np.array_equal(getattr(runs[0], what), getattr(runs[1], what)) for what in ("counts", "sums")):
        raise SystemExit(f"{name}: the GPU's paths are not the CPU's")


def times(device: str) -> None:
    """One row per graph, precision and method."""
    rows = []
    for name, wanted in ASKED[device].items():
        graph = graph_named(name)
        if graph is None:
            continue
        if device == "cuda":
            same_paths(name, graph)
        exact = exact_scores(name, graph)
        for asked in wanted:
            methods = ["paths"]
            needed = sources_needed(graph.n, Goal(asked["epsilon"], DELTA, asked.get("top")), 0.1)
            if needed * graph.m <= SOURCE_ARCS and "top" not in asked:
                methods.append("sources")
            for method in methods:
                rows.append(tell(sampled(name, graph, asked, method, device, exact)))
    note = (
        f"All scores within ± epsilon with probability {1 - DELTA:g}, or, with top, as soon as the highest are known; "
        "samples are pairs or sources. Real error: the greatest of all scores, if exact ones are known."
    )
    title = (
        f"Betweenness within ± epsilon{' on one GPU' if device == 'cuda' else ''}: sampled paths and sampled sources"
    )
    publish("cpu-paths" if device == "cpu" else "gpu-paths", title, rows, note, gpu(device))


def sampled(name: str, graph: hw.Graph, asked: dict[str, Any], method: str, device: str, exact: Any) -> Record:
    """One call, after one that compiles."""
    options: dict[str, Any] = {"delta": DELTA, "seed": 1, "method": method, "device": device, "progress": False}
    hw.betweenness_centrality(graph, epsilon=0.2, **options)
    began = time.perf_counter()
    found = hw.betweenness_centrality(graph, **asked, **options)
    seconds = time.perf_counter() - began
    off = None if exact is None else float(np.abs(found.scores - exact).max())
    row = {"graph": name, **asked, "method": f"hopwave, {method}"}
    row |= {"samples": found.sources if found.pairs is None else found.pairs, "seconds": seconds}
    return row | {"real error": off, "stated error": float(found.bounds.max())}


# ---------------------------------------------------------------- promises


def weighted(graph: hw.Graph) -> hw.Graph:
    """Lengths of 1, 2 or 3 on all arcs, equal both ways: many shortest paths are equally long."""
    tails = np.repeat(np.arange(graph.n), graph.degrees)
    low, high = np.minimum(tails, graph.indices), np.maximum(tails, graph.indices)
    return graph.with_weights((7 * low + 13 * high) % 3 + 1.0)


TESTED: dict[str, Callable[[], hw.Graph | None]] = {  # graphs that are small enough for hundreds of runs
    **{name: partial(graph_named, name) for name in ("PGPgiantcompo", "email-Enron", "wiki-Vote", "ego-Facebook")},
    "kron10-directed": lambda: generate.kronecker(10, 8, seed=1, directed=True),
    "grid40": lambda: generate.grid(40, 40),
    "les-miserables, weighted": lambda: hw.datasets.load("les-miserables"),
    "kron8-directed, weighted": lambda: weighted(generate.kronecker(8, 6, seed=1, directed=True)),
    "grid20, weighted": lambda: weighted(generate.grid(20, 20)),
}  # fmt: skip


def beyond(graph: hw.Graph, exact: Any, runs: int, **asked: Any) -> Record:
    """How many of `runs` seeded runs have a score outside its bound, and how much too wide the bounds are."""
    outside, errors, widths = 0, [], []
    for seed in range(runs):
        along = graph.weights is not None
        found = hw.betweenness_centrality(graph, delta=DELTA, seed=seed, weights=along, progress=False, **asked)
        off = np.abs(found.scores - exact)
        outside += bool((off > found.bounds).any())
        errors.append(float(off.max()))
        widths.append(float(found.bounds.max()))
    return {
        "runs": runs,
        "beyond a bound": outside,
        "p-value": float(stats.binom.sf(outside - 1, runs, DELTA)),
        "greatest error": max(errors),
        "widest bound / greatest error": float(np.median(np.array(widths) / np.array(errors))),
    }


def promises(kind: str, runs: int) -> None:
    """Bounds of sampled paths, or of samples of k sources."""
    rows = []
    for name, make in TESTED.items():
        graph = make()
        if graph is None:
            continue
        exact = exact_scores(name, graph)
        if kind == "promise":
            for epsilon in (0.02, 0.005):
                found = beyond(graph, exact, runs, epsilon=epsilon, method="paths")
                rows.append(tell({"graph": name, "epsilon": epsilon} | found))
            continue
        for k in (32, 128, 512, 2048):
            if 2 * k <= graph.n:
                count = runs if k * graph.m < MANY_RUNS_ARCS else -(-runs // 10)
                rows.append(tell({"graph": name, "n": graph.n, "k": k} | beyond(graph, exact, count, k=k)))
    titles = {
        "promise": "Sampled paths: how often a score is beyond its bound",
        "k-bounds": "Samples of k sources: how wide their bounds are",
    }
    note = (
        f"The promise: in at most {DELTA:.0%} of runs is a score beyond its bound. The p-value is the chance of at "
        "least this many such runs, if it were exactly that. The last column is a median over the runs."
    )
    publish("cpu-paths-promise" if kind == "promise" else "cpu-k-bounds", titles[kind], rows, note)


# ---------------------------------------------------------------- intervals of distances


def interval_graphs() -> Iterator[tuple[str, hw.Graph]]:
    yield "scale-free", generate.barabasi_albert(600, 3, seed=1)
    yield "grid", generate.grid(24, 24)
    yield "small world", generate.smallworld(600, 6, 0.1, seed=1)
    src, dst = generate.grid(24, 24).to_edges()
    lengths = np.random.default_rng(1).lognormal(5, 1, len(src))
    yield "grid with lengths", hw.Graph.from_edges(src, dst, weights=lengths)
    web = generate.kronecker(10, 8, seed=1, directed=True)
    label = hw.strongly_connected_components(web).labels
    yield "directed, strongly connected", web.subgraph(np.flatnonzero(label == np.bincount(label).argmax()))


def held(found: Any, exact: Any) -> tuple[bool, float, float]:
    """Whether all exact scores are in their intervals, the share that is, and the mean half-width by the mean score."""
    rounding = 1e-9 * np.abs(exact)
    inside = (found.low <= exact + rounding) & (exact - rounding <= found.high)
    return bool(np.all(inside)), float(np.mean(inside)), float(np.mean((found.high - found.low) / 2) / np.mean(exact))


def intervals(runs: int) -> None:
    """Closeness, harmonic centrality and the mean distance, guaranteed and normal intervals, each over `runs` seeds."""
    rows = []
    for name, graph in interval_graphs():
        for ask in (hw.closeness_centrality, hw.harmonic_centrality, hw.average_shortest_path_length):
            options: dict[str, Any] = {"weights": graph.weights is not None, "progress": False, "threads": 1}
            exact: Any = ask(graph, **options)
            right = np.asarray(exact if isinstance(exact, float) else exact.scores)
            for k in (64, 256):
                for interval in ("guaranteed", "normal"):
                    given = options | {"k": k, "delta": DELTA, "interval": interval}
                    found = [held(ask(graph, seed=s, **given), right) for s in range(runs)]
                    every, share, width = np.mean(found, axis=0)
                    row = {"graph": name, "n": graph.n, "score": ask.__name__, "k": k, "interval": interval}
                    row |= {"runs": runs, "all hold": f"{every:.1%}", "one holds": f"{share:.1%}"}
                    rows.append(tell(row | {"± of the score": f"{width:.1%}"}))
    publish(
        "cpu-intervals",
        "Intervals of sampled distances: how often they hold",
        rows,
        f"The promise of a guaranteed interval: in {1 - DELTA:.0%} of runs *all* exact scores of a graph lie in their "
        f"intervals. Of a normal one: *one* score does, in about {1 - DELTA:.0%} of runs. The last column is the mean "
        "half-width, as a share of the mean score.",
    )


def main() -> None:
    given = command_line(__doc__, {"what": ["time"]}, device="cpu", runs=2 if QUICK else 100)
    for what in given.what:
        if what == "time":
            times(given.device)
        elif what == "intervals":
            intervals(given.runs)
        else:
            promises(what, given.runs)


if __name__ == "__main__":
    main()
