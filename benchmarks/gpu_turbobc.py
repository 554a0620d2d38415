"""TurboBC's Tables 1-5 on one GPU: its three algorithms beside the paper's own figures, and ours.

    PYTHONPATH=src python -m benchmarks.gpu_turbobc [--data FOLDER] [--graphs a,b] [--sources 16] [--seconds 2]

The graphs of the paper that are available or can be generated (none of Table 4), and some that it does not have:
directed ones, and meshes whose path counts overflow its types. Every algorithm is verified against the CPU engine,
score by score, before it is timed. A time is the host's clock around whole sources (Python, launches and the copy of
the sums included), divided by their number; ours is a call of betweenness_centrality from 64 sources, divided by 64.
MTEPS are arcs over time, as in the paper. Memory is what CuPy's pool holds for a run, in words of 4 bytes over the
paper's 7n + m. An exact run of TurboBC is projected from the sources that were timed; ours is run whole where that
takes less than --exact seconds. `--go-on` keeps the lines of gpu-turbobc.jsonl and adds what is missing; with
`--graphs ""` it only writes the tables again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import cupy as cp
import numpy as np

from benchmarks.gpu_graphs import kronecker, mycielskian
from benchmarks.gpu_search import head
from benchmarks.setting import RESULTS, generate, hw, table
from hopwave import Graph, engines
from hopwave.algorithms.brandes import accumulate
from hopwave.catalogue import CATALOGUE
from hopwave.engines.cuda.graph import CudaGraph
from hopwave.jobs import Job

PLANS = ("turbobc-sccooc", "turbobc-sccsc", "turbobc-vecsc")
CHECKED = 2  # sources that every algorithm is verified from
OURS = 64  # sources that ours are timed from


@dataclass(frozen=True)
class Paper:
    """One line of the paper's tables; its GPU was a Titan Xp."""

    table: int
    algorithm: str
    arcs: int  # thousands
    depth: int
    scf: int
    ms: float
    mteps: int


PAPER = {
    "delaunay_n15": Paper(1, "scCSC", 197, 84, 13, 4.7, 42),
    "delaunay_n16": Paper(1, "scCSC", 393, 110, 14, 7.1, 55),
    "luxembourg_osm": Paper(1, "scCSC", 239, 1035, 2, 50.0, 5),
    "smallworld": Paper(2, "scCOOC", 1000, 9, 61, 1.0, 1000),
    "mycielskian15": Paper(3, "veCSC", 11111, 3, 41166, 1.7, 6536),
    "mycielskian16": Paper(3, "veCSC", 33383, 3, 82833, 3.4, 9819),
    "mycielskian17": Paper(3, "veCSC", 100246, 3, 166407, 7.9, 12689),
    "mycielskian18": Paper(3, "veCSC", 300934, 3, 333199, 18.5, 16267),
    "kron18": Paper(3, "veCSC", 21166, 6, 5846, 8.7, 2433),
    "kron19": Paper(3, "veCSC", 43563, 6, 6609, 17.4, 2504),
    "kron20": Paper(3, "veCSC", 89241, 6, 7410, 58.4, 1528),
    "kron21": Paper(3, "veCSC", 182084, 6, 8161, 193.2, 943),
}
EXACT = {"mycielskian16": (159.8, 10257), "mycielskian17": (715.2, 13778)}  # Table 5: seconds, MTEPS
MESHES = ("delaunay_n15", "email-Enron", "luxembourg_osm")  # exact runs that the paper does not have

MADE: dict[str, Callable[[], Graph]] = {
    "smallworld": lambda: generate.smallworld(100_000, 10, 0.1, seed=1),
    **{f"mycielskian{k}": lambda k=k: mycielskian(k) for k in (15, 16, 17, 18)},  # type: ignore[misc]
    **{f"kron{scale}": lambda scale=scale: kronecker(scale, 48) for scale in (18, 19, 20, 21)},  # type: ignore[misc]
    "grid1000": lambda: generate.grid(1000, 1000, missing=0.03, seed=1),
    "delaunay18": lambda: generate.delaunay(1 << 18, seed=1),
}
ORDER = [
    *PAPER,
    *("email-Enron", "cnr-2000", "ego-Twitter", "wiki-Vote"),  # the last three directed
    *("grid1000", "delaunay18"),
]


def described(name: str, graph: Graph) -> dict[str, Any]:
    """The columns of the paper's tables that describe a graph; scf is computed on the GPU, since arcs may be many."""
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
    """Vertices drawn from those that reach the vertex of highest degree; repeated where they are few."""
    far = np.flatnonzero(search(graph, int(np.argmax(graph.degrees)), "in").distances >= 0)
    drawn = np.random.default_rng(7).permutation(far)[:count]
    return np.resize(drawn, count).tolist()


def checked(graph: Graph, sources: list[int]) -> Any:
    """Sums from a few sources, by the CPU engine."""
    job = Job(np.array(sources, np.int64))
    run = engines.engine("cpu").accumulation(graph, job, CATALOGUE["hopwave-block"])
    accumulate(run, job, "", False, None)
    return run.total


def measure(graph: Graph, plan: str, sources: list[int], expected: Any, seconds: float) -> dict[str, Any]:
    """Milliseconds per source of one of the paper's algorithms, after a check; its memory."""
    engine, pool = engines.engine("cuda"), cp.get_default_memory_pool()
    # A new graph, so that nothing that earlier runs keep on the GPU is used again.
    graph = Graph(graph.indptr, graph.indices, directed=graph.directed)
    pool.free_all_blocks()
    before = pool.used_bytes()
    few = Job(np.array(sources[:CHECKED], np.int64))
    run: Any = engine.accumulation(graph, few, CATALOGUE[plan])
    certificate = accumulate(run, few, "", False, None)
    held = pool.used_bytes() - before
    np.testing.assert_allclose(run.total, expected, rtol=1e-9, atol=1e-290)
    job = Job(np.array(sources, np.int64))
    run = engine.accumulation(graph, job, CATALOGUE[plan])
    began = time.perf_counter()
    done = run.advance(0, lambda done: time.perf_counter() - began > seconds)
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


def ours(graph: Graph, sources: list[int], expected: Any) -> dict[str, Any]:
    """Milliseconds per source of plan="auto" from OURS sources, after a first call that is checked."""
    options: dict[str, Any] = {"normalized": False, "device": "cuda"}
    first = hw.betweenness_centrality(graph, sources=sources[:CHECKED], **options)
    np.testing.assert_allclose(first.scores * (1 if graph.directed else 2), expected, rtol=1e-9, atol=1e-290)
    hw.betweenness_centrality(graph, sources=sources, **options)
    began = time.perf_counter()
    result = hw.betweenness_centrality(graph, sources=sources, **options)
    ms = (time.perf_counter() - began) / len(sources) * 1e3
    return {"plan": result.plan.name, "ms": ms, "mteps": graph.m / ms / 1e3, "certificate": result.certificate.error}


def timed(name: str, graph: Graph, given: argparse.Namespace, record: dict[str, Any]) -> None:
    """Everything about one graph, into its record; the paper's part is kept where it exists already."""
    record |= {"name": name, "where": head()} | described(name, graph)
    sources = sources_of(graph, OURS)
    record["depth"] = search(graph, sources[0]).depth
    expected = checked(graph, sources[:CHECKED])
    for plan in PLANS:
        if plan not in record:
            record[plan] = measure(graph, plan, sources[: given.sources], expected, given.seconds)
    if given.paper_alone:
        record.setdefault("ours", None)
        return
    record["ours"] = own = ours(graph, sources, expected)
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
        given.out.mkdir(parents=True, exist_ok=True)
        kept.write_text("".join(json.dumps(one) + "\n" for one in records.values()))
    if records:
        page = given.out / "gpu-turbobc.md"
        page.write_text(tables([records[name] for name in ORDER if name in records]), encoding="utf-8")


def tables(records: list[dict[str, Any]]) -> str:
    """The page of results."""
    text = ["# TurboBC's tables", ", ".join(f"{key} {value}" for key, value in records[0]["where"].items())]
    text += ["## One source (Tables 1-3)", table(map(speed_row, records)), NOTE]
    text += ["## Memory (Figures 3-5)", table(map(memory_row, records)), MEMORY]
    exact = [exact_row(one) for one in records if one["name"] in (*EXACT, *MESHES)]
    if exact:
        text += ["## All sources (Table 5)", table(exact), WHOLE]
    return "\n\n".join(text) + "\n"


NOTE = (
    "Milliseconds per source, measured on the host. The paper's figures are quoted from it: the algorithm it found "
    "best, on a Titan Xp; its d also counts the last, empty level. *In float64* and *on the CPU* count, among the "
    "sources timed with scCSC, those whose path counts exceeded 32 bits and those whose levels span more than the "
    "range of float64. *Ours* is `plan='auto'` with 64 sources. Every score of every algorithm agreed with the CPU "
    "engine's to 1e-9 before it was timed."
)
MEMORY = (
    "Words of 4 bytes that CuPy's memory pool holds for a run, divided by the paper's 7n + m. Each vertex has the "
    "paper's seven arrays, but four of them are float64 (float32 cannot be certified to 1e-9): 11n + m words. Where "
    "path counts needed float64, there is one n more. scCOOC also stores m columns."
)
WHOLE = (
    "TurboBC's times are the milliseconds per source above, times n: a projection from up to 64 sources. Ours was run"
    " on all sources and certified, unless marked as projected. *Certificate* is its relative error."
)


def speed_row(one: dict[str, Any]) -> dict[str, Any]:
    paper, best = PAPER.get(one["name"]), min(PLANS, key=lambda plan: one[plan]["ms"])
    row = {key: one[key] for key in ("graph", "n", "m", "degree max/mean/std", "scf", "depth")}
    row["paper m · d · scf"] = f"{paper.arcs}k · {paper.depth} · {paper.scf}" if paper else None
    row["paper"] = f"{paper.ms} ms, {paper.mteps} MTEPS ({paper.algorithm})" if paper else None
    row |= {plan.removeprefix("turbobc-"): f"{one[plan]['ms']:.3g}" for plan in PLANS}
    row["MTEPS"] = f"{one[best]['mteps']:.0f} ({best.removeprefix('turbobc-')})"
    again = one["turbobc-sccsc"]
    row["in float64 · on the CPU"] = f"{again['in float64']} · {again['on the cpu']} of {again['sources']}"
    own = one["ours"]
    return row | {"ours": own and f"{own['ms']:.3g} ({own['plan']})", "ours MTEPS": own and round(own["mteps"])}


def memory_row(one: dict[str, Any]) -> dict[str, Any]:
    row = {"graph": one["graph"], "7n + m, MB": (7 * one["n"] + one["m"]) * 4 / 1e6}
    for plan in PLANS:
        short = plan.removeprefix("turbobc-")
        row |= {f"{short} MB": one[plan]["words"] * 4 / 1e6, f"{short} ×": one[plan]["words over 7n + m"]}
    return row


def exact_row(one: dict[str, Any]) -> dict[str, Any]:
    paper = EXACT.get(one["name"])
    row = {"graph": one["graph"], "n · m, millions": f"{one['n'] * one['m'] / 1e6:.0f}"}
    row["paper s"] = f"{paper[0]} ({paper[1]} MTEPS)" if paper else "–"
    row |= {f"{plan.removeprefix('turbobc-')} s": f"{one[plan]['ms'] * one['n'] / 1e3:.3g}" for plan in PLANS}
    exact, own = one.get("exact"), one["ours"]
    row["ours s"] = f"{exact['seconds']:.3g}" if exact else own and f"{own['ms'] * one['n'] / 1e3:.3g} (projected)"
    return row | {"certificate": exact and f"{exact['certificate']:.1e}"}


if __name__ == "__main__":
    main()
