"""Questions beside the aims that were set for them: python -m benchmarks.questions.aims cpu | cuda | page

`cpu` and `cuda` measure one column each, on all cores and on the GPU, and append a line to questions-aims.jsonl; `page`
writes the page from the newest of both, with the ratios of cpu-gap-kernels-16. Times are the best of some calls, in ms.
Answers of the GPU and of the CPU are compared by a sum over them. reasons.json says why an aim was missed.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks import setting
from benchmarks.questions.page import REASONS, apart
from benchmarks.setting import generate, hw
from hopwave.prepared import Structure

Record = dict[str, Any]
NAME, GAP = "questions-aims", "cpu-gap-kernels-16"
SECONDS, LEAST = 0.4, 5
FEW = 8192  # sources of the rows that are per source


@dataclass(frozen=True)
class Aim:
    """A question, what was aimed at on 16 cores and on an H200 (None: nothing), and how many it is per."""

    question: str
    cores: float | None
    gpu: float | None
    ask: Callable[[Graphs], Any]
    per: float = 1


class Graphs:
    """The graphs, made when they are first needed; those whose name says so are on the GPU."""

    def __init__(self, device: str) -> None:
        self.device, self.random = device, np.random.default_rng(1)

    @cached_property
    def kron(self) -> hw.Graph:
        return generate.kronecker(12 if setting.QUICK else 18, seed=1)

    @cached_property
    def there(self) -> hw.Graph:
        return self.kron.to(self.device)

    @cached_property
    def directed(self) -> hw.Graph:
        return generate.rmat(12 if setting.QUICK else 18, seed=1).to(self.device)

    @cached_property
    def sources(self) -> list[int]:
        return self.random.permutation(np.flatnonzero(self.kron.degrees > 0)).tolist()

    @cached_property
    def lengths(self) -> hw.Graph:
        return with_lengths(self.kron)

    @cached_property
    def luxembourg(self) -> hw.Graph:
        return setting.real_graphs(["luxembourg_osm"])["luxembourg_osm"]

    @cached_property
    def luxembourg_lengths(self) -> hw.Graph:
        return with_lengths(self.luxembourg)

    @cached_property
    def moscow(self) -> hw.Graph:
        return setting.real_graphs(["moscow-roads"])["moscow-roads"].largest_component().relabel(None)

    @cached_property
    def half(self) -> Any:
        return np.sort(np.random.default_rng(2).permutation(self.kron.n)[: self.kron.n // 2])

    @cached_property
    def search(self) -> Any:
        return hw.bfs(self.there, self.sources[0], device=self.device)

    @cached_property
    def mesh(self) -> hw.Graph:
        return generate.delaunay(1 << 12 if setting.QUICK else 1 << 18, seed=1)

    @cached_property
    def large(self) -> hw.Graph:
        return generate.kronecker(12 if setting.QUICK else 21, 44, seed=1).to(self.device)

    def strong(self) -> Any:
        self.directed._prepared.record(Structure).components.pop(True, None)
        return hw.strongly_connected_components(self.directed, device=self.device)


def with_lengths(graph: hw.Graph) -> hw.Graph:
    """Whole ones from 1 to 255."""
    source, target = graph.to_edges()
    lengths = np.random.default_rng(5).integers(1, 256, len(source)).astype(float)
    return hw.Graph.from_edges(source, target, n=graph.n, weights=lengths)


def few(graphs: Graphs) -> list[int]:
    return np.random.default_rng(1).permutation(graphs.luxembourg.n)[:FEW].tolist()


def asked(function: Any, graph: str = "kron", **given: Any) -> Callable[[Graphs], Any]:
    """A call with the device; arguments that are functions are called with the graphs."""

    def ask(graphs: Graphs) -> Any:
        known = {name: one(graphs) if callable(one) else one for name, one in given.items()}
        return function(getattr(graphs, graph), **known, device=graphs.device)

    return ask


AIMS = [
    Aim("edge betweenness, 16 sources", 60, 8, asked(hw.edge_betweenness_centrality, sources=lambda g: g.sources[:16])),
    Aim("core_numbers", 40, 12, asked(hw.core_numbers)),
    Aim("is_bipartite", 2, 0.5, asked(hw.is_bipartite)),
    Aim("label_propagation", 100, 12, asked(hw.label_propagation, seed=1)),
    Aim("triangles (per vertex)", 100, 12, asked(hw.triangles)),
    Aim("hits", 60, 3, asked(hw.hits)),
    Aim("maximal_independent_set", 20, 3, asked(hw.maximal_independent_set, seed=1)),
    Aim("subgraph of half the vertices", 20, 4, lambda g: g.there.subgraph(g.half)),
    Aim(
        "validate", 15, 2,
        lambda g: hw.validate(g.there, g.sources[0], g.search.distances, g.search.predecessors),
    ),
    Aim(
        "shortest_path, weights", 3, 0.5,
        lambda g: hw.shortest_path(g.lengths, g.sources[0], g.sources[1], device=g.device),
    ),
    Aim("sssp_many, 16 sources", 60, 9, asked(hw.sssp_many, "lengths", sources=lambda g: g.sources[:16])),
    Aim("bfs_many, 64 sources, to the host", 25, 5, asked(hw.bfs_many, sources=lambda g: g.sources[:64])),
    Aim("to_undirected", 15, 3, lambda g: g.directed.to_undirected()),
    Aim("generate.kronecker", 40, 3, lambda g: generate.kronecker(12 if setting.QUICK else 18, seed=1)),
    Aim("strongly_connected_components", None, 5, Graphs.strong),
    Aim("triangle_count, kron 21 edge factor 44", None, 150, asked(hw.triangle_count, "large")),
    Aim("PageRank to 1e-6 in all, kron 21", None, 4, asked(hw.pagerank, "large", tol=lambda g: 1e-6 / g.large.n)),
    Aim("eigenvector, delaunay 18, to 1e-4", 30, None, asked(hw.eigenvector_centrality, "mesh", tol=1e-4, max_iter=99)),
    Aim("eccentricity of all, moscow-roads", None, 3000, asked(hw.eccentricity, "moscow")),
    Aim(
        "closeness by hops per source of 8,192, luxembourg (µs)", None, 8,
        asked(hw.closeness_centrality, "luxembourg", sources=few), FEW / 1e3,
    ),
    Aim(
        "betweenness with lengths per source of 8,192, luxembourg (µs)", None, 25,
        asked(hw.betweenness_centrality, "luxembourg_lengths", sources=few, weights=True), FEW / 1e3,
    ),
]  # fmt: skip


def waited(device: str) -> None:
    """Until the answer is there."""
    if device == "cuda":
        import cupy

        cupy.cuda.Device().synchronize()


def best(aim: Aim, graphs: Graphs) -> Record:
    """Milliseconds of the best call and the median, after one or two that load code and prepare."""
    from benchmarks.questions.run import digest, touch

    def ask() -> Any:
        answer = aim.ask(graphs)
        touch(answer)
        waited(graphs.device)
        return answer

    began = time.perf_counter()
    for _ in range(2):
        ask()
        if time.perf_counter() - began > 5 * SECONDS:
            break
    times: list[float] = []
    began = time.perf_counter()
    while len(times) < LEAST or time.perf_counter() - began < SECONDS:
        start = time.perf_counter()
        answer = ask()
        times.append(1e3 * (time.perf_counter() - start) / aim.per)
        if time.perf_counter() - began > 10 * SECONDS:
            break
    return {"ms": min(times), "median": statistics.median(times), "digest": digest(answer)}


def measure(device: str) -> None:
    graphs, rows = Graphs(device), []
    for aim in AIMS:
        if (aim.cores if device == "cpu" else aim.gpu) is None:
            continue
        try:
            found: Record = best(aim, graphs)
        except Exception as error:
            found = {"failed": f"{type(error).__name__}: {error}"[:200]}
        rows.append({"question": aim.question} | found)
        print(rows[-1], flush=True)
    line = {"device": device, "where": setting.machine() | setting.gpu(device), "rows": rows}
    with (setting.RESULTS / f"{NAME}.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(line) + "\n")


def values(lines: list[Record]) -> Record:
    """Both tables, from the newest line of each device and from the page of the GAP benchmark's kernels."""
    newest = {line["device"]: line for line in lines}
    found = {device: {row["question"]: row for row in line["rows"]} for device, line in newest.items()}
    questions = []
    for aim in AIMS:
        cores, gpu = (found[device].get(aim.question, {}) for device in ("cpu", "cuda"))
        why = [
            reason(f"{aim.question}, {device}", row["ms"], wanted)
            for device, row, wanted in (("cores", cores, aim.cores), ("GPU", gpu, aim.gpu))
            if "ms" in row
        ]
        if apart(cores, gpu):
            why.append("answers differ")
        why += [row["failed"] for row in (cores, gpu) if "failed" in row]
        row = {"question": aim.question, "cores_aim": aim.cores, "gpu_aim": aim.gpu}
        row |= {"cores": cores.get("ms"), "gpu_ms": gpu.get("ms"), "reason": "; ".join(filter(None, why)) or None}
        questions.append(row)
    text = (setting.ROOT / "benchmarks" / "results" / f"{GAP}.jsonl").read_text(encoding="utf-8")
    kernels = json.loads(text.splitlines()[-1])["rows"]
    for row in kernels:
        row |= {"hopwave_ms": row["hopwave ms"], "gapbs_ms": row["GAPBS ms"], "ratio": row["hopwave / GAPBS"]}
        row["reason"] = reason(f"{row['kernel']}, {row['graph']}", row["ratio"], row["aim"])
    about = {"cpu": newest["cpu"]["where"]["cpu"], "gpu": newest["cuda"]["where"]["gpu"]}
    return about | {"questions": questions, "kernels": kernels}


def reason(name: str, took: float, wanted: float | None) -> str | None:
    """Why an aim was missed; None if it was not."""
    return None if wanted is None or took <= wanted else REASONS["aims"].get(name, "not known")


def main() -> None:
    from benchmarks import pages

    warnings.simplefilter("ignore", hw.IgnoredWeightsWarning)
    pages.write(NAME) if sys.argv[1] == "page" else measure(sys.argv[1])


if __name__ == "__main__":
    main()
