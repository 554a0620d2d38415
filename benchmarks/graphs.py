"""Edges into a graph, as the user calls it: on the CPU, on the GPU from CuPy and from NumPy arrays, and from Parquet.

    PYTHONPATH=src:. python -m benchmarks.graphs [--scale 21] [--edge-factor 44] [--device DEVICE] [--publish]

Kronecker edges, drawn beforehand. Every graph is compared, before it is timed, with rows made by code that is not
hopwave's: CuPy's `unique` over the keys of all arcs on a GPU, SciPy's coo → csr on a CPU. Times are wall-clock seconds
of `Graph.from_edges`, best of some rounds. "first in a process" is the first such call of a new process, after CUDA has
started, with kernels compiled on an earlier run. Peak memory is what the call takes beside the edges, over the size of
the finished graph: of CuPy's pool on a GPU, of the resident process on a CPU (both in processes of their own).

`--files [--weighted] [format …]` times hopwave.write and hopwave.read of a Kronecker graph in each format, and SciPy's
`mmread`, which returns a list of entries, while hopwave also sorts them into rows. Files stay in the page cache.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from benchmarks.pages import publish
from benchmarks.setting import command_line, gpu, hw, synchronize, tell, timed
from hopwave import Graph
from hopwave.generate import kronecker_edges


def drawn(scale: int, edge_factor: int, device: str) -> tuple[Any, Any]:
    """The edges as int32 columns, on the device."""
    if device == "cpu":
        return tuple(np.ascontiguousarray(column, np.int32) for column in kronecker_edges(scale, edge_factor, 1))  # type: ignore[return-value]
    from hopwave.engines.cuda import kronecker

    return kronecker.edges(scale, 1, 0, edge_factor << scale, np.int32)


def scipy_rows(arcs: tuple[Any, Any], n: int) -> Any:
    """SciPy's rows of these arcs: count, place, sort, sum the repeats."""
    A = sp.coo_array((np.ones(len(arcs[0]), np.int8), arcs), shape=(n, n)).tocsr()
    A.sum_duplicates()
    return A


def check(graph: Graph, u: Any, v: Any, n: int) -> None:
    """Assert that the graph's rows equal those of another program's sort."""
    if hasattr(u, "get"):
        import cupy

        keys = cupy.unique(cupy.concatenate([u.astype(np.int64) * n + v, v.astype(np.int64) * n + u]))
        starts = cupy.searchsorted(keys, cupy.arange(n + 1, dtype=np.int64) * n)
        right = bool((cupy.asarray(graph.indices) == keys % n).all() and (cupy.asarray(graph.indptr) == starts).all())
    else:
        A = scipy_rows((np.concatenate([u, v]), np.concatenate([v, u])), n)
        right = np.array_equal(A.indptr, graph.indptr) and np.array_equal(A.indices, graph.indices)
    if not right:
        raise SystemExit("these rows are not those of the other sort; nothing was timed")


def resident(kind: str) -> int:
    """Bytes in memory now (VmRSS) or at the peak (VmHWM), on Linux; getrusage would count the parent's peak too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(kind))


def size_of(graph: Graph) -> int:
    """Bytes of the finished graph."""
    return graph.indices.nbytes + graph.indptr.nbytes


def synced(call: Callable[[], Any]) -> Callable[[], Any]:
    """The call, followed by a wait for the GPU."""

    def run() -> Any:
        result = call()
        synchronize("cuda")
        return result

    return run


def first_search(graph: Graph, source: int, device: str) -> float:
    """Seconds of the first search of a new graph, including what it prepares."""
    began = time.perf_counter()
    hw.bfs(graph, source, device=device).depth  # noqa: B018 (may be deferred until it is read)
    return time.perf_counter() - began


def in_process(kind: str, scale: int, edge_factor: int) -> dict[str, float]:
    """One measurement in a new process."""
    command = [sys.executable, "-m", "benchmarks.graphs", "--alone", kind]
    command += ["--scale", str(scale), "--edge-factor", str(edge_factor)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def alone(kind: str, scale: int, edge_factor: int) -> dict[str, float]:
    """Runs in the subprocess: the first call, the search after it, and the peak."""
    n, device = 1 << scale, "cpu" if kind == "cpu" else "cuda"
    u, v = drawn(scale, edge_factor, device)
    if kind == "numpy":
        u, v = u.get(), v.get()
    if device == "cuda":
        import cupy

        pool = cupy.get_default_memory_pool()
        cupy.cuda.Device().synchronize()
        pool.free_all_blocks()
        before = pool.total_bytes()
        build = synced(lambda: Graph.from_edges(u, v, n))
    else:
        before = resident("VmRSS")

        def build() -> Graph:
            return Graph.from_edges(u, v, n, device="cpu")

    began = time.perf_counter()
    graph = build()
    first = time.perf_counter() - began
    peak = (pool.total_bytes() if device == "cuda" else resident("VmHWM")) - before
    search = first_search(graph, int(u[0]), device)
    return {"first s": first, "first search s": search, "peak": peak / size_of(graph)}


def rows(scale: int, edge_factor: int, device: str) -> list[dict[str, Any]]:
    """The table."""
    n = 1 << scale
    u, v = drawn(scale, edge_factor, device)
    ways: list[tuple[str, str, Callable[[], Graph]]] = []
    if device == "cuda":
        host = u.get(), v.get()
        ways.append(("CuPy arrays", "cupy", synced(lambda: Graph.from_edges(u, v, n))))
        ways.append(("NumPy arrays, built on the GPU", "numpy", synced(lambda: Graph.from_edges(*host, n))))
        ways.append(("NumPy arrays, all cores", "cpu", lambda: Graph.from_edges(*host, n, device="cpu")))
    else:
        ways.append(("NumPy arrays, all cores", "cpu", lambda: Graph.from_edges(u, v, n, device="cpu")))
    table = []
    for title, kind, call in ways:
        graph = call()
        check(graph, u, v, n)
        arcs = graph.m
        del graph
        best, _ = timed(call, 3)
        search = min(first_search(call(), int(u[0]), "cpu" if kind == "cpu" else "cuda") for _ in range(3))
        found = in_process(kind, scale, edge_factor)
        table.append({
            "edges": len(u), "arcs": arcs, "from": title, "s": round(best, 4),
            "first search of it, s": round(search, 4), "first in a process, s": round(found["first s"], 3),
            "first search in a process, s": round(found["first search s"], 3), "peak / graph": round(found["peak"], 2),
        })  # fmt: skip
    return [*table, *other_rows(u, v, n, device)]


def other_rows(u: Any, v: Any, n: int, device: str) -> list[dict[str, Any]]:
    """SciPy on the same edges (unless there are too many), and Parquet."""
    found = []
    if device == "cpu":
        both = np.concatenate([u, v]), np.concatenate([v, u])
        best, _ = timed(lambda: scipy_rows(both, n), 2)
        found.append({"edges": len(u), "from": "SciPy coo → csr, duplicates summed", "s": round(best, 4)})
    import pyarrow as pa
    import pyarrow.parquet as pq

    count = min(len(u), 40_000_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.parquet"
        part = [column[:count].get() if hasattr(column, "get") else column[:count] for column in (u, v)]
        pq.write_table(pa.table(part, names=["source", "target"]), path)
        best, _ = timed(lambda: pq.read_table(path), 3)
        found.append({"edges": count, "from": "Parquet, pyarrow reading the columns", "s": round(best, 4)})
        graph = hw.read(path, progress=False)
        check(Graph.from_csr(graph.indptr, graph.indices, directed=False, check=False), *restored(graph, part), graph.n)
        best, _ = timed(lambda: hw.read(path, progress=False), 3)
        found.append({"edges": count, "arcs": graph.m, "from": "Parquet, hopwave.read", "s": round(best, 4)})
    return found


def restored(graph: Graph, part: list[Any]) -> list[Any]:
    """The columns as ids of the graph, whose sparse ids became labels."""
    if graph.labels is None:
        return part
    labels = graph.labels.astype(np.int64)
    return [np.searchsorted(labels, column).astype(np.int32) for column in part]


# ---------------------------------------------------------------- files

EXTENSIONS = {
    "npz": "npz", "csv": "csv", "matrix-market": "mtx", "snap": "txt", "parquet": "parquet", "gapbs": "el",
    "gapbs serialised": "sg", "dimacs": "gr", "metis": "graph",
}  # fmt: skip
WEIGHTED = {"gapbs": "wel", "gapbs serialised": "wsg"}


def files(given: argparse.Namespace) -> None:
    """Seconds to write and to read a graph in each format; the graph that was read is compared first."""
    graph = hw.generate.kronecker(given.scale, given.edge_factor, seed=1).remove_self_loops()  # METIS refuses them
    if given.weighted:
        u, v = graph.to_edges()
        graph = hw.Graph.from_edges(u, v, graph.n, weights=np.random.default_rng(1).integers(1, 256, len(u)))
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in given.formats or EXTENSIONS:
            file = Path(folder) / f"graph.{(WEIGHTED if given.weighted else {}).get(name, EXTENSIONS[name])}"
            try:
                written, _ = timed(lambda file=file: hw.write(file, graph), given.rounds)
                read, found = timed(lambda file=file: hw.read(file, progress=False, directed=False), given.rounds)
                assert found == graph, f"{name}: the graph that was read is another one"
            except (AssertionError, hw.HopwaveError) as error:
                print(f"left out: {name}; {error}", flush=True)
                continue
            size = file.stat().st_size / 1e6
            rows.append(tell({"format": name, "MB": size, "write, s": written, "read, s": read}))
            if name == "npz" and "mmap" in hw.read.__doc__:
                mapped, found = timed(lambda file=file: hw.read(file, progress=False, mmap=True), given.rounds)
                assert found == graph
                rows.append(tell({"format": "npz, mapped", "MB": size, "write, s": None, "read, s": mapped}))
            if name == "matrix-market":
                theirs, _ = timed(lambda file=file: scipy.io.mmread(file, spmatrix=False), given.rounds)
                rows.append(tell({"format": "matrix-market, SciPy", "MB": size, "write, s": None, "read, s": theirs}))
            file.unlink()
    kind = "weighted" if given.weighted else "unweighted"
    publish(
        "graphs-files" + ("-weighted" if given.weighted else ""),
        f"Writing and reading a file, {graph.m // 2:,} edges, {kind}",
        rows,
    )


def main() -> None:
    """Read the options, print or publish the table."""
    options = command_line(
        __doc__, {"formats": []}, scale=21, edge_factor=44, device="cpu", publish=False, alone=str, files=False,
        rounds=2, weighted=False,
    )  # fmt: skip
    if options.files:
        files(options)
        return
    if options.alone:
        print(json.dumps(alone(options.alone, options.scale, options.edge_factor)))
        return
    table = rows(options.scale, options.edge_factor, options.device)
    if options.publish:
        name = "graphs-building" + ("-h200" if options.device == "cuda" else "")
        publish(
            name,
            "Edges into a graph",
            table,
            (__doc__ or "").partition("\n\n")[2].partition("\n\n")[2],
            gpu(options.device),
        )
    else:
        print(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
