"""TurboBC's Tables 1-5 on one GPU: its three algorithms, the paper's own numbers, and our plan.

    PYTHONPATH=src python -m benchmarks.papers.turbobc [--data FOLDER] [--graphs a,b] [--sources 16] [--seconds 2]

Uses the paper's graphs that are available or can be generated (none of Table 4), and others: directed graphs, and
meshes whose path counts overflow the paper's types. Every algorithm is verified, score by score, before it is timed:
against the CPU engine, or for graphs of over 500 million arcs against sums made of CuPy's own operations. A time is the
host's clock around whole sources (Python, launches and the copy of the sums included), divided by their number; ours is
a call of betweenness_centrality from 64 sources, divided by 64. MTEPS are arcs divided by time, as in the paper. Memory
is what CuPy's pool holds for a run, in words of 4 bytes, divided by the paper's 7n + m. An exact run of TurboBC is
extrapolated from the timed sources; ours is run in full if that takes less than --exact seconds. `--go-on` keeps the
lines of gpu-turbobc.jsonl and adds what is missing, or with `--again` what is named; with `--graphs ""` it only writes
the tables again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import cupy as cp
import numpy as np

from benchmarks import pages
from benchmarks.gpu.graphs import kronecker, mycielskian
from benchmarks.gpu.search import head
from benchmarks.papers.turbobc_page import EXACT, MESHES, ORDER, PLANS
from benchmarks.setting import RESULTS, generate, hw
from hopwave import Graph, engines
from hopwave.algorithms.brandes import accumulate
from hopwave.engines.cuda.graph import CudaGraph
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob

LEAST = 16  # least sources per algorithm, even if it has used up its seconds
CHECKED = 2  # sources from which every algorithm is verified; one on the largest graphs
OURS = 64  # sources from which ours is timed
MOST_ON_HOST = 500_000_000  # most arcs of a graph that the CPU engine verifies
CHUNK = 1 << 27  # arcs that CuPy processes at a time


def one_hub(n: int) -> Graph:
    """Like the paper's mawi graphs: one vertex is joined to 88% of all vertices, and the mean degree is 2."""
    random = np.random.default_rng(1)
    spokes = 1 + random.permutation(n - 1)[: int(0.88 * n)]
    u, v = random.integers(0, n, (2, int(0.15 * n)))
    return Graph.from_edges(np.concatenate([np.zeros_like(spokes), u]), np.concatenate([spokes, v]), n=n)


MADE: dict[str, Callable[[], Graph]] = {
    "hub17": lambda: one_hub(1 << 17),
    "smallworld": lambda: generate.smallworld(100_000, 10, 0.1, seed=1),
    **{f"mycielskian{k}": lambda k=k: mycielskian(k) for k in range(15, 20)},  # type: ignore[misc]
    **{f"kron{scale}": lambda scale=scale: kronecker(scale, 48) for scale in (18, 19, 20, 21)},  # type: ignore[misc]
    "grid1000": lambda: generate.grid(1000, 1000, missing=0.03, seed=1),
    "delaunay18": lambda: generate.delaunay(1 << 18, seed=1),
}


def described(name: str, graph: Graph) -> dict[str, Any]:
    """The columns of the paper's tables that describe a graph; scf is computed on the GPU, as arcs may be many."""
    degrees = cp.asarray(graph.degrees).astype(cp.float64)
    on_device = CudaGraph(graph)
    rows = on_device.arc_rows(on_device.rows[0], graph.m)
    scf = float(cp.dot(degrees[rows], degrees[on_device.rows[1]])) / (graph.n * max(1.0, float(degrees.max())))
    of = f"{int(degrees.max())}/{graph.m / graph.n:.0f}/{float(degrees.std()):.0f}"
    kind = "D" if graph.directed else "U"
    return {"graph": f"{name} ({kind})", "n": graph.n, "m": graph.m, "degree max/mean/std": of, "scf": round(scf)}


def search(graph: Graph, source: int, direction: Literal["out", "in"] = "out") -> Any:
    """A search by TurboBFS's counterpart of veCSC, which compiles quickly."""
    return hw.bfs(graph, source, predecessors=False, direction=direction, plan="turbobfs-td-vecsc", device="cuda")


def sources_of(graph: Graph, count: int) -> list[int]:
    """Vertices drawn from those that reach the vertex of highest degree; repeated if there are few."""
    far = np.flatnonzero(search(graph, int(np.argmax(graph.degrees)), "in").distances >= 0)
    drawn = np.random.default_rng(7).permutation(far)[:count]
    return np.resize(drawn, count).tolist()


def checked(graph: Graph, sources: list[int]) -> Any:
    """Sums over a few sources, by the CPU engine."""
    job = BetweennessJob(np.array(sources, np.int64))
    run = engines.engine("cpu").accumulation(graph, job, CATALOGUE["hopwave-block"])
    accumulate(run, job, "", False, None)
    return run.total


def by_cupy(graph: Graph, sources: list[int]) -> Any:
    """The same sums by CuPy's operations on all arcs at every level: for shallow graphs that are slow on the host."""
    offsets, neighbours = CudaGraph(graph).rows

    def along(distance: Any, depth: int, value: Callable[[Any, Any], Any], to_heads: bool) -> Any:
        """Σ value(tail, head) over the arcs from level depth to the next, at their heads or tails."""
        sums = cp.zeros(graph.n, cp.float64)
        for begin in range(0, graph.m, CHUNK):
            heads = neighbours[begin : begin + CHUNK]
            tails = cp.searchsorted(offsets, cp.arange(begin, begin + len(heads)), side="right") - 1
            here = (distance[tails] == depth) & (distance[heads] == depth + 1)
            tails, heads = tails[here], heads[here]
            sums += cp.bincount(heads if to_heads else tails, weights=value(tails, heads), minlength=graph.n)
        return sums

    total = cp.zeros(graph.n, cp.float64)
    for source in sources:
        distance, depth, frontier = cp.full(graph.n, -1, cp.int32), 0, cp.array([source])
        sigma, delta = cp.zeros(graph.n, cp.float64), cp.zeros(graph.n, cp.float64)
        distance[source], sigma[source] = 0, 1.0
        while len(frontier):
            open_ = cp.where(distance < 0, depth + 1, distance)  # treat unvisited vertices as the next level
            counts = along(open_, depth, lambda tails, heads, sigma=sigma: sigma[tails], True)
            frontier = cp.flatnonzero((distance < 0) & (counts > 0))
            distance[frontier], sigma[frontier], depth = depth + 1, counts[frontier], depth + 1
        for level in range(depth - 1, 0, -1):

            def share(tails: Any, heads: Any, sigma: Any = sigma, delta: Any = delta) -> Any:
                return sigma[tails] / sigma[heads] * (1 + delta[heads])

            delta += along(distance, level, share, False)
        total += delta
    return total.get()


def measure(
    graph: Graph, plan: str, sources: list[int], few: BetweennessJob, expected: Any, seconds: float
) -> dict[str, Any]:
    """Milliseconds per source of one of the paper's algorithms, after a check; and its memory."""
    engine, pool = engines.engine("cuda"), cp.get_default_memory_pool()
    # A new graph, so that nothing that earlier runs kept on the GPU is used.
    graph = Graph(graph.indptr, graph.indices, directed=graph.directed)
    pool.free_all_blocks()
    before = pool.used_bytes()
    run: Any = engine.accumulation(graph, few, CATALOGUE[plan])
    certificate = accumulate(run, few, "", False, None)
    held = pool.used_bytes() - before
    np.testing.assert_allclose(run.total, expected, rtol=1e-9, atol=1e-290)
    job = BetweennessJob(np.array(sources, np.int64))
    run = engine.accumulation(graph, job, CATALOGUE[plan])
    began = time.perf_counter()
    done = run.advance(0, lambda done: done >= LEAST and time.perf_counter() - began > seconds)
    ms = (time.perf_counter() - began) / done * 1e3
    return {
        "ms": ms,
        "mteps": graph.m / ms / 1e3,
        "sources": done,
        "words": held / 4,
        "words over 7n + m": held / 4 / (7 * graph.n + graph.m),
        "in float64": run.widened,
        "on the cpu": run.extended,
        "certificate": certificate.error,
    }


def ours(graph: Graph, sources: list[int], some: list[int], expected: Any) -> dict[str, Any]:
    """Milliseconds per source of plan="auto" from OURS sources, after a first call that is checked."""
    options: dict[str, Any] = {"normalized": False, "device": "cuda"}
    first = hw.betweenness_centrality(graph, sources=some, **options)
    np.testing.assert_allclose(first.scores * (1 if graph.directed else 2), expected, rtol=1e-9, atol=1e-290)
    hw.betweenness_centrality(graph, sources=sources, **options)
    began = time.perf_counter()
    result = hw.betweenness_centrality(graph, sources=sources, **options)
    ms = (time.perf_counter() - began) / len(sources) * 1e3
    return {"plan": result.plan.name, "ms": ms, "mteps": graph.m / ms / 1e3, "certificate": result.certificate.error}


def timed(name: str, graph: Graph, given: argparse.Namespace, record: dict[str, Any]) -> None:
    """Measure everything about one graph into its record; keeps the paper's part if it is already there."""
    record |= {"name": name, "where": head()} | described(name, graph)
    sources = sources_of(graph, OURS)
    record["depth"] = search(graph, sources[0]).depth
    some = sources[: 1 if graph.m > MOST_ON_HOST else CHECKED]
    expected = (by_cupy if graph.m > MOST_ON_HOST else checked)(graph, some)
    few = BetweennessJob(np.array(some, np.int64))
    for plan in PLANS:
        if plan not in record or given.again:
            record[plan] = measure(graph, plan, sources[: given.sources], few, expected, given.seconds)
    if given.paper_alone:
        record.setdefault("ours", None)
        return
    record["ours"] = own = ours(graph, sources, some, expected)
    if name in (*EXACT, *MESHES) and own["ms"] * graph.n / 1e3 < given.exact:
        seconds = []
        for _ in range(2):  # the first may compile
            began = time.perf_counter()
            result = hw.betweenness_centrality(graph, device="cuda")
            seconds.append(time.perf_counter() - began)
        record["exact"] = {"seconds": min(seconds), "certificate": result.certificate.error}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--graphs", default=",".join(ORDER))
    parser.add_argument("--sources", type=int, default=64, help="at most, for each algorithm of the paper")
    parser.add_argument("--seconds", type=float, default=1.0, help="stop timing an algorithm after that many")
    parser.add_argument("--exact", type=float, default=30.0, help="run ours whole where that should take less")
    parser.add_argument("--paper-alone", action="store_true", help="leave ours out")
    parser.add_argument("--go-on", action="store_true", help="keep the results of the paper's algorithms")
    parser.add_argument("--again", action="store_true", help="but measure the named graphs again")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    kept = given.out / "gpu-turbobc.jsonl"
    lines = kept.read_text().splitlines() if given.go_on and kept.exists() else []
    records: dict[str, Any] = {one["name"]: one for one in map(json.loads, lines)}
    for name in filter(None, given.graphs.split(",")):
        path = given.data / f"{name}.mtx.gz"
        if name not in MADE and not path.exists():
            print(f"{name}: {path} does not exist; left out")
            continue
        clock = time.perf_counter()
        graph = MADE[name]() if name in MADE else hw.read(path)
        record = records.get(name, {})
        timed(name, graph, given, record)
        records[name] = record
        graph._prepared.clear()
        cp.get_default_memory_pool().free_all_blocks()
        shown = [f"{plan} {record[plan]['ms']:.3f}" for plan in (*PLANS, "ours") if record[plan]]
        print(name, f"({time.perf_counter() - clock:.1f} s)", *shown, record.get("exact"), flush=True)
        pages.write("gpu-turbobc", given.out, list(records.values()))


if __name__ == "__main__":
    main()
