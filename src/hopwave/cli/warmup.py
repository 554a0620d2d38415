"""`hopwave warmup`: compile everything once, in several processes; the last part calls every public function."""

import inspect
import os
import tempfile
import time
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import Any, Literal

import numpy as np

import hopwave as hw
from hopwave import generate
from hopwave.cli import terminal
from hopwave.cli.given import required
from hopwave.engines import engine
from hopwave.errors import HopwaveError
from hopwave.graph import Graph
from hopwave.system.progress import Meter

Part = dict[str, Any]  # name; seconds of the first use; compiled: whether the first use compiled anything


def weighted(graph: Graph, value: float = 1.0) -> Graph:
    """The graph with the same weight on every arc."""
    return graph.with_weights(np.full(graph.m, value))


def spanning() -> Graph:
    """A chain of diamonds and a path of the same length between the same two vertices: 2^2200 shortest paths and 1."""
    chain = generate.diamonds(2200)
    path = [0, *range(chain.n, chain.n + 4399), chain.n - 1]
    u, v = (np.concatenate(parts) for parts in zip(chain.to_edges(), (path[:-1], path[1:]), strict=True))
    return Graph.from_edges(u, v)


def products() -> None:
    """Products over the semirings of searches, shortest paths and triangles, in both directions."""
    graph, la = generate.kronecker(6), hw.linalg
    A, W = la.Matrix.from_graph(graph), la.Matrix.from_graph(graph, np.ones(graph.m))
    x, ring = la.Vector.from_entries([0], 1.0, graph.n), la.semiring
    for direction in ("push", "pull"):
        for matrix, semiring in ((A, ring.any_pair), (A, ring.any_secondi), (W, ring.min_plus), (W, ring.plus_times)):
            la.vxm(x, matrix, semiring, direction=direction, device="cpu")
        la.mxm(A, A, ring.plus_pair, mask=A, direction=direction, device="cpu")
    la.mxv(A, la.Vector.full(graph.n, 1.0), ring.plus_second, device="cpu")


def reading() -> None:
    """Read files that are large enough for the compiled scanners, with and without weights, and adjacency lists."""
    from hopwave.generate.recursive_compiled import draw_edges
    from hopwave.graph.csr_compiled import is_symmetric_pattern, sorted_rows
    from hopwave.io import scan

    graph = generate.grid(300, 300)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("graph.mtx", "graph.txt", "graph.graph", "weighted.mtx", "weighted.txt"):
            hw.write(Path(folder) / name, weighted(graph, 0.5) if name.startswith("weighted") else graph)
            hw.read(Path(folder) / name, progress=False)
    sorted_rows(np.array([0], np.int32), np.array([1], np.int32), 2, symmetric=True)  # used for larger files
    is_symmetric_pattern(graph.indptr, graph.indices)
    draw_edges(1, 1, 0, 1, 31, np.zeros(3, np.uint32), True)
    scan.printed_rows("%d %d\n", [np.array([0]), np.array([1])])
    scan.printed_lists(np.array([1]), np.array([1]))


def questions() -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    """Every public function of a graph, with the other arguments that it requires."""
    for function in (getattr(hw, name) for name in hw.__all__):
        if inspect.isfunction(function) and "G" in inspect.signature(function).parameters:
            yield function, required(function)


def every_function(share: int = 0, of: int = 1) -> None:
    """Every public function, on each kind of graph, with weights if supported; unsupported calls are skipped."""
    grid, ring = generate.grid(6, 6), generate.cycle(8, directed=True)
    graphs = [grid, generate.kronecker(6, directed=True), ring, generate.path(8, directed=True), generate.kronecker(9)]
    graphs += [one.with_weights(np.ones(one.m, kind)) for one in (grid, ring) for kind in "df"]
    for function, given in list(questions())[share::of]:
        options = {"weights": True} if "weights" in inspect.signature(function).parameters else {}
        for graph in graphs:
            with suppress(HopwaveError):
                found = function(graph, **given | (options if graph.is_weighted else {}))
                list(found) if inspect.isgenerator(found) else None


Call = tuple[str, Callable[[], Graph], dict[str, Any]]  # a public function, its graph, its other arguments
mesh, ring = partial(generate.grid, 8, 8), partial(generate.cycle, 24_000)  # the ring is large enough to be reduced
tiny, small, hubs = (partial(generate.kronecker, scale) for scale in (6, 8, 9))
roads, halves, dense = (
    lambda: weighted(mesh()),
    lambda: weighted(mesh(), 0.5),  # integer weights are summed as integers, these as floats
    lambda: weighted(generate.kronecker(6, 32)),  # short arcs are relaxed first
)
PARTS: dict[str, list[Call] | Callable[[], Any]] = {  # the longest first; the calls of a part share their graphs
    "betweenness, all threads on one source": [
        ("betweenness_centrality", mesh, {"plan": "hopwave-wide"}),
        ("betweenness_centrality", partial(generate.smallworld, 40_000, 6, 0.1, 1), {"sources": [0, 1], "threads": 4}),
    ],
    "search": [  # named plans use the kernels of large graphs on a small one; only a second search checks for hubs
        ("bfs", small, {"source": 0, "plan": plan}) for plan in ("auto", "hopwave", "hopwave", "hiragushi-hybrid")
    ],
    "betweenness, reduced": [
        ("betweenness_centrality", partial(generate.cycle, 1000), {}),
        ("edge_betweenness_centrality", mesh, {}),
    ],
    "products over semirings": products,
    "reading and building large graphs": reading,
    "many searches at once": [  # all scores of a cycle are equal, so that no search is skipped
        ("closeness_centrality", mesh, {}),
        ("harmonic_centrality", partial(generate.cycle, 300), {"top": 1}),
        ("harmonic_centrality", partial(generate.cycle, 300, directed=True), {"top": 1}),
        ("bfs_many", mesh, {"sources": [0, 1]}),
    ],
    "betweenness": [  # small graphs have a dedicated kernel; a star is renumbered by degree
        ("betweenness_centrality", mesh, {}),
        ("betweenness_centrality", partial(generate.star, 40_000), {"k": 32}),
    ],
    "components, triangles, cores": [
        *((name, mesh, {}) for name in ("triangle_count", "connected_components", "biconnected_components")),
        *((name, hubs, {}) for name in ("triangle_count", "triangles", "core_numbers")),
        ("strongly_connected_components", partial(generate.kronecker, 6, directed=True), {}),
        ("shortest_path", mesh, {"source": 0, "target": 63}),
    ],
    "shortest paths with lengths": [
        *(("sssp", graph, {"source": 0, "delta": 1.0}) for graph in (roads, halves)),
        ("sssp", roads, {"source": 0, "method": "delta-stepping"}),
        ("sssp_many", dense, {"sources": range(4)}),
        ("diameter", roads, {"weights": True}),
        ("closeness_centrality", lambda: weighted(ring()), {"weights": True}),
    ],
    "ranks": [  # the last graph is large enough for threads and for reordered rows
        *((name, tiny, {}) for name in ("pagerank", "eigenvector_centrality")),
        *((name, lambda: weighted(tiny()), {}) for name in ("pagerank", "eigenvector_centrality")),
        ("pagerank", partial(generate.kronecker, 16), {"tol": 1e-8}),
    ],
    "betweenness of edges": [("edge_betweenness_centrality", hubs, {})],
    "distances": [
        ("closeness_centrality", ring, {}),
        *((name, mesh, {}) for name in ("local_efficiency", "load_centrality", "hyperball")),
    ],
    "betweenness along weights": [("betweenness_centrality", roads, {"weights": True})],
    "betweenness from sampled paths": [("betweenness_centrality", mesh, {"epsilon": 0.2, "method": "paths"})],
    "path counts": [
        *(("bfs", graph, {"source": 0, "path_counts": True}) for graph in (small, spanning)),
        ("betweenness_centrality", spanning, {"sources": [0]}),
    ],
}
LAST = "every other function"  # runs last to reuse code that other parts compiled
SHARES = 4  # number of processes that divide the last part


def warmup(*, device: Literal["cpu", "cuda"] = "cpu", as_json: bool = False) -> None:
    """Compile the CPU engine and the file readers for this machine, or all kernels for its GPU. Later runs load code
    from disk.

    device: cpu compiles the CPU engine and the file readers, cuda all kernels for this GPU.
    """
    began = time.perf_counter()
    parts = _compile_for_gpu() if device == "cuda" else _compile_for_cpu()
    total = time.perf_counter() - began
    if as_json:
        terminal.emit({"parts": parts, "seconds": total})
        return
    rows = ((one["name"], f"{one['seconds']:.2f}", ("already on disk", "compiled")[one["compiled"]]) for one in parts)
    terminal.show(terminal.table("Compiled for this machine", "part", "seconds", "", rows=rows, numbers=(1,)))
    terminal.line(f"Ready in {total:.1f} s. Later runs load the compiled code from disk.")


def _compile_for_gpu() -> list[Part]:
    """All kernels, several at a time; one part per header."""
    engine("cuda")  # raises an error that names the missing part
    from hopwave.engines.cuda import nvrtc
    from hopwave.engines.cuda.errors import explained
    from hopwave.engines.cuda.instances import all_instances

    parts = []
    with explained("compiling all kernels"):
        kernels = all_instances()
        here = {header: all(nvrtc.is_kept(header, name) for name in names) for header, names in kernels.items()}
        began = time.perf_counter()
        with Meter("compiling", sum(map(len, kernels.values())), None) as meter:
            begun = {header: nvrtc.begin(header, names) for header, names in kernels.items()}
            done = 0
            for header, futures in begun.items():
                for future in futures:
                    future.result()
                    done += 1
                    meter.update(done)
                now = time.perf_counter()
                parts.append({"name": header, "seconds": now - began, "compiled": not here[header]})
                began = now
    return parts


def _compile_for_cpu() -> list[Part]:
    """Use each part once, which compiles it, with one process per core."""
    from hopwave.system.threads import host_cores

    names, parts, last = list(PARTS), {}, []
    # Spawned, not forked: a fork would copy locks held by other threads.
    with (
        Meter("compiling", len(PARTS) + SHARES, None) as meter,
        ProcessPoolExecutor(min(host_cores(), len(PARTS)), get_context("spawn"), on_two_threads) as pool,
        ExitStack() as stack,  # kills the processes: after Ctrl-C, the pool would wait until they have compiled all
    ):
        stack.callback(lambda: [one.kill() for one in active_children()])  # type: ignore[func-returns-value]
        for done in as_completed([pool.submit(use_part, name) for name in names]):
            parts[done.result()["name"]] = done.result()
            meter.update(len(parts))
        for done in as_completed([pool.submit(use_part, LAST, share, SHARES) for share in range(SHARES)]):
            last.append(done.result())
            meter.update(len(parts) + len(last))
    spent, compiled = sum(part["seconds"] for part in last), any(part["compiled"] for part in last)
    return [*(parts[name] for name in names), {"name": LAST, "seconds": spent, "compiled": compiled}]


def on_two_threads() -> None:
    """Let this process use two threads, as an image built on one core may run on many; it ends with its parent."""
    os.environ["HOPWAVE_NUM_THREADS"] = "2"
    start_new_thread(lambda: os._exit(parent_process().join() or 1), ())  # type: ignore[union-attr]


def use_part(name: str, *share: int) -> Part:
    """Use one part, or a share of it, and report whether this compiled anything."""
    from numba.core.event import install_recorder

    began = time.perf_counter()
    with install_recorder("numba:compile") as record:  # empty if all code came from disk
        part = every_function if name == LAST else PARTS[name]
        if callable(part):
            part(*share)
        else:
            graphs = {make: make() for _, make, _ in part}
            for function, make, given in part:
                getattr(hw, function)(graphs[make], device="cpu", **given)
    return {"name": name, "seconds": time.perf_counter() - began, "compiled": bool(record.buffer)}
