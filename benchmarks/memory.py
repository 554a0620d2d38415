"""The peak memory of a question, compared with hw.estimate_memory.

    PYTHONPATH=src python -m benchmarks.memory [--device cpu|cuda] [--graphs kron17,…] [--only bfs,…] [--publish]

On the CPU the peak is the growth of the process's resident memory (VmHWM), each question in a new process, after a
small graph has compiled everything. On a GPU it is the greatest sum of CuPy's live allocations, counted by a hook; what
CuPy's pool then holds is shown too.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse  # noqa: F401  before estimates and calls: until it is loaded, NumPy sorts small graphs

from benchmarks import pages, setting
from benchmarks.setting import command_line, hw

GRAPHS: dict[str, Callable[[], Any]] = {
    "kron17": lambda: hw.generate.kronecker(17, 16, seed=1),
    "kron17 directed": lambda: hw.generate.kronecker(17, 16, seed=1, directed=True),
    "grid600": lambda: hw.generate.grid(600, 600),
    "smallworld17": lambda: hw.generate.smallworld(1 << 17, 10, 0.1, seed=1),
    "kron18": lambda: hw.generate.kronecker(18, 16, seed=1),
    "kron18 directed": lambda: hw.generate.kronecker(18, 16, seed=1, directed=True),
    "grid1000": lambda: hw.generate.grid(1000, 1000),
    "smallworld19": lambda: hw.generate.smallworld(1 << 19, 10, 0.1, seed=1),
}
TITLE = "Memory, estimated and measured"
NOTES = {
    "cpu": "*Peak* is the growth of the process's resident memory during the call, beside the graph's own arrays, each "
    "question in a process of its own with two threads, after small graphs have compiled everything. *Estimated* is "
    "what `hw.estimate_memory` says beforehand.",
    "cuda": "*Peak* is the greatest sum of CuPy's live allocations during the call, on a graph that was on the host. "
    "*Estimated* is what `hw.estimate_memory` says beforehand. *Pool* is by how much CuPy's pool grew; it keeps what "
    "earlier calls freed.",
}
ON_THE_CPU = tuple(GRAPHS)
ATTEMPTS = 4  # attempts until everything is compiled
ON_A_GPU = ("kron17", "kron17 directed", "grid600", "smallworld17")


def asks(graph: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """Questions by name: the function and its arguments."""
    hub = int(np.argmax(graph.degrees))
    joined = np.flatnonzero(graph.degrees)  # others reach nothing, and rows of them are never written to
    some = np.random.default_rng(1).choice(joined, min(200, len(joined)), replace=False).tolist()
    ends = list(range(min(1000, graph.n)))
    vertices, edges = "betweenness_centrality", "edge_betweenness_centrality"
    return {
        "bfs": ("bfs", {"source": hub}),
        "bfs, distances only": ("bfs", {"source": hub, "predecessors": False}),
        "bfs, path counts": ("bfs", {"source": hub, "path_counts": True}),
        "bfs_many, 200 sources": ("bfs_many", {"sources": some}),
        "bfs_many, 3 sources": ("bfs_many", {"sources": some[:3]}),
        "closeness, 200 sources": ("closeness_centrality", {"sources": some}),
        "harmonic, 20 sources": ("harmonic_centrality", {"sources": some[:20]}),
        "closeness along weights, 8 sources": ("closeness_centrality", {"sources": some[:8], "weights": True}),
        "betweenness, 1 source": (vertices, {"sources": [hub]}),
        "betweenness, 64 sources": (vertices, {"sources": some[:64]}),
        "betweenness, 64 sources in 100 MB": (vertices, {"sources": some[:64], "memory_limit": 100_000_000}),
        "betweenness by blocks, 20 sources": (vertices, {"sources": some[:20], "plan": "hopwave-block"}),
        "betweenness along weights, 4 sources": (vertices, {"sources": some[:4], "weights": True}),
        "edge betweenness, 8 sources": (edges, {"sources": some[:8]}),
        "edge betweenness along weights, 4 sources": (edges, {"sources": some[:4], "weights": True}),
        "sssp": ("sssp", {"source": hub, "weights": True}),
        "sssp, every arc 1": ("sssp", {"source": hub}),
        "sssp_many, 8 sources": ("sssp_many", {"sources": some[:8], "weights": True}),
        "sssp_many, every arc 1, 8 sources": ("sssp_many", {"sources": some[:8]}),
        "table, 200 × 1000 along weights": ("distance_table", {"sources": some, "targets": ends, "weights": True}),
        "table, 200 × 1000 hops": ("distance_table", {"sources": some, "targets": ends}),
        "accessibility of 200 within 9": ("accessibility", {"sources": some, "limit": 9, "weights": True}),
        "accessibility of 200, 3 columns": (
            "accessibility",
            {"values": np.ones((graph.n, 3)), "sources": some, "weights": True, "limit": [9, 99]},
        ),
        "pagerank": ("pagerank", {}),
        "pagerank along weights": ("pagerank", {"weights": True}),
        "components": ("weakly_connected_components", {}),
        "from_edges": ("from_edges", {}),
    }


def call(graph: Any, what: str, options: dict[str, Any], device: str, edges: Any = None) -> Any:
    """Ask a question; deferred answers are fetched too."""
    if what == "from_edges":
        return hw.Graph.from_edges(*edges, n=graph.n, directed=graph.directed, device=device)
    quiet = {"progress": False} if what not in ("bfs", "sssp", "pagerank", "weakly_connected_components") else {}
    answer = getattr(hw, what)(graph, **options, **quiet, device=device)
    for name in ("distances", "predecessors", "path_counts", "scores"):
        getattr(answer, name, None)
    return answer


def fresh(graph: Any, options: dict[str, Any]) -> Any:
    """A copy of the graph with nothing prepared, and with lengths if the question takes them."""
    weights = None
    if options.get("weights"):
        weights = 1.0 + (np.repeat(np.arange(graph.n), np.diff(graph.indptr)) + graph.indices) % 7
    return hw.Graph.from_csr(graph.indptr, graph.indices, directed=graph.directed, weights=weights, check=False)


# ---------------------------------------------------------------- a GPU


def on_gpu(graph: Any, what: str, options: dict[str, Any]) -> dict[str, int]:
    """Peak of live allocations, and what the pool holds afterwards."""
    import cupy

    class Live(cupy.cuda.MemoryHook):
        name, peak = "live", 0

        def __init__(self) -> None:
            super().__init__()
            self.sizes: dict[int, int] = {}  # sizes of the allocations since then

        def malloc_postprocess(self, **given: Any) -> None:
            self.sizes[given["mem_ptr"]] = given["mem_size"]
            self.peak = max(self.peak, sum(self.sizes.values()))

        def free_postprocess(self, **given: Any) -> None:
            self.sizes.pop(given["mem_ptr"], None)

    pool = cupy.get_default_memory_pool()
    edges = [cupy.asarray(column) for column in graph.to_edges()] if what == "from_edges" else None
    graph = fresh(graph, options)
    gc.collect()
    pool.free_all_blocks()
    before = pool.total_bytes()
    # Products keep their scratch with the stream: in a stream of its own, a question pays for it as a first call does.
    with cupy.cuda.Stream() if what == "pagerank" else nullcontext(), Live() as live:
        answer = call(graph, what, options, "cuda", edges)
    peak, held = live.peak, pool.total_bytes() - before
    del answer, graph, edges
    return {"peak": int(peak), "pool": int(held)}


# ---------------------------------------------------------------- the CPU


def resident(field: str) -> int:
    """Bytes of a line of /proc/self/status."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def on_cpu(folder: str, directed: bool, names: list[str]) -> dict[str, int]:
    """In this process: compile on small graphs, then ask about the large one; the peak of each question."""
    many = hw.Graph.from_csr(np.arange(1501) * 1500, np.tile(np.arange(1500, dtype=np.int32), 1500), check=False)
    if directed or "from_edges" in names:
        assert many.in_indices is not None  # compiles what builds large graphs
        hw.Graph.from_edges(*many.to_edges(), directed=directed)
    rows = [np.load(Path(folder) / f"{part}.npy") for part in ("indptr", "indices")]
    graph = hw.Graph.from_csr(*rows, directed=directed, check=False)
    peaks = {}
    for name in names:
        for small in (hw.generate.grid(120, 120), hw.generate.kronecker(13, 16, directed=directed)):
            what, options = asks(small)[name]
            call(fresh(small, options), what, options, "cpu", small.to_edges())
            if own := plan_of_large_graphs(what, options):
                call(fresh(small, options), what, {**options, "plan": own}, "cpu")
        what, options = asks(graph)[name]
        edges, asked = graph.to_edges() if name == "from_edges" else None, fresh(graph, options)
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # else the call would use memory that the compiler has freed
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        before = resident("VmRSS")
        answer = call(asked, what, options, "cpu", edges)
        peaks[name] = resident("VmHWM") - before
        del answer, asked, edges
    return peaks


def plan_of_large_graphs(what: str, options: dict[str, Any]) -> str | None:
    """The plan that large graphs get, if small graphs get another: with it, a call on a small graph compiles it."""
    if what == "bfs":
        return "hopwave-paths" if options.get("path_counts") else "hopwave"
    return "hopwave-wide" if what == "betweenness_centrality" and len(options.get("sources", ())) == 1 else None


def in_a_process(graph: Any, names: list[str]) -> dict[str, int]:
    """Measures in a new process, which returns freed arrays to the system at once.

    A run that compiled something is repeated: it would reuse memory that the compiler freed.
    """
    known = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "HOPWAVE_PROGRESS": "0"}
    with tempfile.TemporaryDirectory() as folder:
        for part in ("indptr", "indices"):
            np.save(Path(folder) / f"{part}.npy", getattr(graph, part))
        line = [sys.executable, "-m", "benchmarks.memory", "--one", json.dumps([folder, graph.directed, names])]
        for _ in range(ATTEMPTS):
            done = subprocess.run(line, capture_output=True, text=True, env=known, check=False, cwd=setting.ROOT)
            if done.returncode:
                raise SystemExit(done.stderr)
            peaks, compiled = json.loads(done.stdout.splitlines()[-1])
            if not compiled:
                break
    return dict(peaks)


def estimated(graph: Any, what: str, options: dict[str, Any], device: str) -> int:
    """hw.estimate_memory for a graph with nothing prepared."""
    if what == "from_edges":
        size = graph.n, len(graph.to_edges()[0])
        return int(hw.estimate_memory(size, what, device=device, directed=graph.directed))
    return int(hw.estimate_memory(fresh(graph, options), what, device=device, **options))


def main() -> None:
    """Measure, print, and publish if asked."""
    given = command_line(__doc__, device="cpu", graphs="", only="", publish=False, one=str)
    if given.one:
        from numba.core.event import install_recorder

        with install_recorder("numba:compile") as compiled:
            peaks = on_cpu(*json.loads(given.one))
        print(json.dumps([peaks, len(compiled.buffer)]))
        return
    rows = []
    names = given.graphs.split(",") if given.graphs else ON_THE_CPU if given.device == "cpu" else ON_A_GPU
    for name in names:
        graph = GRAPHS[name]()
        for ask, (what, options) in asks(graph).items():
            if given.only and not any(part in ask for part in given.only.split(",")):
                continue
            if given.device == "cuda":
                call(fresh(graph, options), what, options, "cuda", graph.to_edges())  # compiles
            found = (
                on_gpu(graph, what, options) if given.device == "cuda" else {"peak": in_a_process(graph, [ask])[ask]}
            )
            try:
                said = estimated(graph, what, options, given.device)
            except Exception as error:  # show what was measured anyway
                print(f"{name}, {ask}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                said = None
            row = {"graph": name, "n": graph.n, "m": graph.m, "question": ask, "peak MB": found["peak"] / 1e6}
            if said is not None:
                row |= {"estimated MB": said / 1e6, "estimated / peak": said / max(1, found["peak"])}
            if "pool" in found:
                row["pool MB"] = found["pool"] / 1e6
            rows.append(row)
            print(json.dumps(row), flush=True)
    if given.publish:
        more = {"threads": os.environ.get("HOPWAVE_NUM_THREADS", "all")} if given.device == "cpu" else setting.gpu()
        pages.publish(f"memory-{given.device}", TITLE, rows, NOTES[given.device], more)


if __name__ == "__main__":
    main()
