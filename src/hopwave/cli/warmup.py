"""`hopwave warmup`: compile everything once, so that later runs do not wait for the compiler."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer

import hopwave as hw
from hopwave.cli import options, terminal
from hopwave.engines import engine
from hopwave.graph import Graph
from hopwave.system.progress import Meter


@dataclass(frozen=True)
class Part:
    """A part of hopwave: how long its first use took, and whether that compiled anything."""

    name: str
    seconds: float
    compiled: bool


def search() -> None:
    """Search twice, because only the second search looks for hubs; and with neighbours ordered by degree.

    Plans are named because plan="auto" searches a small graph by another kernel than a large one.
    """
    graph = hw.generate.kronecker(8)
    hw.bfs(graph, 0, device="cpu")
    for plan in ("hopwave", "hopwave", "hiragushi-hybrid"):
        hw.bfs(graph, 0, plan=plan, device="cpu")


def paths() -> None:
    """Count paths, also on a level that needs more than one scale: one vertex has 2^2200 paths, another has 1."""
    hw.bfs(hw.generate.kronecker(8), 0, path_counts=True, device="cpu")
    hw.bfs(spanning(), 0, path_counts=True, device="cpu")


def betweenness() -> None:
    """Betweenness of vertices, also renumbered by degree, along weights and from sampled paths; and of edges."""
    graph = hw.generate.grid(8, 8)
    hw.betweenness_centrality(graph, device="cpu")  # small graphs have a kernel of their own
    hw.betweenness_centrality(hw.generate.star(40_000), k=32, device="cpu")
    hw.betweenness_centrality(graph, weights=np.ones(graph.m), device="cpu")
    hw.edge_betweenness_centrality(graph, device="cpu")
    hw.betweenness_centrality(graph, epsilon=0.2, method="paths", device="cpu")


def wide() -> None:
    """Betweenness with all threads on one source, and with teams of two, as on a large mesh."""
    hw.betweenness_centrality(hw.generate.grid(8, 8), plan="hopwave-wide", device="cpu")
    hw.betweenness_centrality(hw.generate.smallworld(40_000, 6, 0.1, seed=1), sources=[0, 1], threads=4, device="cpu")


def distances() -> None:
    """Many searches at once, components, and single paths."""
    graph, arcs = hw.generate.grid(8, 8), hw.generate.kronecker(6, directed=True)
    hw.closeness_centrality(graph, device="cpu")
    for directed in (False, True):  # all scores of a cycle are equal, so that no search is skipped
        hw.harmonic_centrality(hw.generate.cycle(300, directed=directed), top=1, device="cpu")
    hw.bfs_many(graph, [0, 1], device="cpu")
    hw.diameter(graph, weights=np.ones(graph.m), device="cpu")
    hw.local_efficiency(graph, device="cpu")
    hw.load_centrality(graph, device="cpu")
    hw.hyperball(graph, device="cpu")
    hw.topological_order(hw.generate.path(3, directed=True))
    hw.connected_components(graph, device="cpu")
    hw.strongly_connected_components(arcs, device="cpu")
    hw.biconnected_components(graph, device="cpu")
    hw.shortest_path(graph, 0, 63, device="cpu")


def shortest_paths() -> None:
    """Shortest paths with lengths: by buckets on several threads and on one thread, and by a heap."""
    graph = hw.generate.grid(8, 8)
    roads = graph.with_weights(np.ones(graph.m))
    hw.sssp(roads, 0, delta=1.0, device="cpu")
    hw.sssp(roads, 0, method="delta-stepping", device="cpu")
    hw.nearest(roads, 0, 3)


def products() -> None:
    """Products over the semirings of searches, PageRank, shortest paths and triangles, in both directions."""
    graph = hw.generate.kronecker(6)
    A, la = hw.linalg.Matrix.from_graph(graph), hw.linalg
    W = la.Matrix.from_graph(graph, np.ones(graph.m))
    x = la.Vector.from_entries([0], 1.0, graph.n)
    for direction in ("push", "pull"):
        la.vxm(x, A, la.semiring.any_pair, direction=direction, device="cpu")
        la.vxm(x, A, la.semiring.any_secondi, direction=direction, device="cpu")
        la.vxm(x, W, la.semiring.min_plus, direction=direction, device="cpu")
        la.vxm(x, W, la.semiring.plus_times, direction=direction, device="cpu")
        la.mxm(A, A, la.semiring.plus_pair, mask=A, direction=direction, device="cpu")
    la.mxv(A, la.Vector.full(graph.n, 1.0), la.semiring.plus_second, device="cpu")
    hw.pagerank(A, device="cpu")
    for matrix in (A, W):
        hw.eigenvector_centrality(matrix, device="cpu")


def reading() -> None:
    """Read files that are large enough for the compiled scanners, with and without weights, also adjacency lists."""
    from hopwave.graph.csr_compiled import sorted_rows

    graph = hw.generate.grid(300, 300)
    with tempfile.TemporaryDirectory() as folder:
        weighted = graph.with_weights(np.full(graph.m, 0.5))
        for name in ("graph.mtx", "graph.txt", "graph.graph", "weighted.mtx", "weighted.txt"):
            hw.write(Path(folder) / name, weighted if name.startswith("weighted") else graph)
            hw.read(Path(folder) / name, progress=False)
    sorted_rows(np.array([0], np.int32), np.array([1], np.int32), 2, symmetric=True)  # only for larger files


def spanning() -> Graph:
    """A chain of diamonds and a path of the same length between the same two vertices."""
    chain = hw.generate.diamonds(2200)
    path = [0, *range(chain.n, chain.n + 4399), chain.n - 1]
    source, target = chain.to_edges()
    return Graph.from_edges(np.concatenate([source, path[:-1]]), np.concatenate([target, path[1:]]))


PARTS: dict[str, Callable[[], None]] = {
    "search": search,
    "path counts": paths,
    "betweenness": betweenness,
    "betweenness, all threads on one source": wide,
    "distances, components, paths": distances,
    "shortest paths with lengths": shortest_paths,
    "products over semirings": products,
    "reading and building large graphs": reading,
}


def warmup(
    device: Annotated[
        Literal["cpu", "cuda"],
        typer.Option(help="Compile for the CPU: the engine and the file readers; or all kernels for this GPU."),
    ] = "cpu",
    as_json: options.Json = False,
) -> None:
    """Compile the CPU engine and the file readers for this machine, or all kernels for its GPU. Later runs load them
    from disk."""
    _report(_compile_for_gpu() if device == "cuda" else _compile_for_cpu(), as_json)


def _compile_for_gpu() -> list[Part]:
    """All kernels, several at a time; one part per header."""
    engine("cuda")  # raises an error that says what is missing
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
                parts.append(Part(header, now - began, not here[header]))
                began = now
    return parts


def _compile_for_cpu() -> list[Part]:
    """Use each part once, which compiles it."""
    from numba.core.event import install_recorder

    parts = []
    with Meter("compiling", len(PARTS), None) as meter:
        for name, use in PARTS.items():
            began = time.perf_counter()
            with install_recorder("numba:compile") as record:  # empty if all code came from disk
                use()
            parts.append(Part(name, time.perf_counter() - began, bool(record.buffer)))
            meter.update(len(parts))
    return parts


def _report(parts: list[Part], as_json: bool) -> None:
    total = sum(part.seconds for part in parts)
    if as_json:
        terminal.emit({"parts": [asdict(part) for part in parts], "seconds": total})
        return
    shown = terminal.table("Compiled for this machine", "what", "seconds", "", numbers=(1,))
    for part in parts:
        shown.add_row(part.name, f"{part.seconds:.2f}", "compiled" if part.compiled else "already on disk")
    terminal.show(shown)
    terminal.line(f"Ready in {total:.1f} s. Later runs load the compiled code from disk.")
