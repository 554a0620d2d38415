"""`hopwave warmup`: compile everything once, so that later runs do not wait for the compiler.

Parts are compiled by several processes at once: Numba compiles one function at a time in each. The last part calls
every public function, so that none is missing.
"""

from __future__ import annotations

import inspect
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import numpy as np

import hopwave as hw
from hopwave.cli import terminal
from hopwave.cli.benchmarks import threads_of
from hopwave.engines import engine
from hopwave.errors import HopwaveError
from hopwave.graph import Graph
from hopwave.system.progress import Meter


@dataclass(frozen=True)
class Part:
    """A part of hopwave: how long its first use took, and whether that compiled anything."""

    name: str
    seconds: float
    compiled: bool


def weighted(graph: Graph, value: float = 1.0) -> Graph:
    """The graph with the same weight on every arc."""
    return graph.with_weights(np.full(graph.m, value))


def search() -> None:
    """Search with neighbours in any order and by degree; named plans use the kernels of large graphs on small ones."""
    graph = hw.generate.kronecker(8)
    for plan in ("auto", "hopwave", "hopwave", "hiragushi-hybrid"):  # only a second search looks for hubs
        hw.bfs(graph, 0, plan=plan, device="cpu")


def paths() -> None:
    """Count paths, also on a level that needs more than one scale: one vertex has 2^2200 paths, another has 1."""
    hw.bfs(hw.generate.kronecker(8), 0, path_counts=True, device="cpu")
    chain = hw.generate.diamonds(2200)
    path = [0, *range(chain.n, chain.n + 4399), chain.n - 1]  # of the same length between the same two vertices
    ends = [np.concatenate(parts) for parts in zip(chain.to_edges(), (path[:-1], path[1:]), strict=True)]
    hw.bfs(Graph.from_edges(*ends), 0, path_counts=True, device="cpu")


def betweenness() -> None:
    """Betweenness of vertices: of a small graph, which has its own kernel, and renumbered by degree."""
    hw.betweenness_centrality(hw.generate.grid(8, 8), device="cpu")
    hw.betweenness_centrality(hw.generate.star(40_000), k=32, device="cpu")


def reduced_betweenness() -> None:
    """Betweenness of a graph that is reduced: with chains, branches and blocks."""
    hw.betweenness_centrality(hw.generate.cycle(1000), device="cpu")
    hw.edge_betweenness_centrality(hw.generate.grid(8, 8), device="cpu")


def wide() -> None:
    """Betweenness with all threads on one source, and with teams of two, as on a large mesh."""
    hw.betweenness_centrality(hw.generate.grid(8, 8), plan="hopwave-wide", device="cpu")
    hw.betweenness_centrality(hw.generate.smallworld(40_000, 6, 0.1, seed=1), sources=[0, 1], threads=4, device="cpu")


def many() -> None:
    """Many searches at once, along arcs and against them, all of them or those that can change the result."""
    graph = hw.generate.grid(8, 8)
    hw.closeness_centrality(graph, device="cpu")
    for directed in (False, True):  # all scores of a cycle are equal, so that no search is skipped
        hw.harmonic_centrality(hw.generate.cycle(300, directed=directed), top=1, device="cpu")
    hw.bfs_many(graph, [0, 1], device="cpu")


def distances() -> None:
    """Distances along weights, around vertices, and by sketches."""
    graph, ring = hw.generate.grid(8, 8), hw.generate.cycle(24_000)  # the ring is large enough to be reduced
    hw.diameter(weighted(graph), weights=True, device="cpu")
    for weights in (None, np.ones(ring.m)):
        hw.closeness_centrality(ring, weights=weights, device="cpu")
    for function in (hw.local_efficiency, hw.load_centrality, hw.hyperball):
        function(graph, device="cpu")


def structure() -> None:
    """Components, single paths, triangles and cores."""
    graph, arcs, hubs = hw.generate.grid(8, 8), hw.generate.kronecker(6, directed=True), hw.generate.kronecker(9)
    for function in (hw.triangle_count, hw.connected_components, hw.biconnected_components):
        function(graph, device="cpu")
    for function in (hw.triangle_count, hw.triangles, hw.core_numbers):
        function(hubs, device="cpu")
    hw.topological_order(hw.generate.path(3, directed=True))
    hw.strongly_connected_components(arcs, device="cpu")
    hw.shortest_path(graph, 0, 63, device="cpu")


def shortest_paths() -> None:
    """Shortest paths with lengths: by buckets on several threads and on one thread, and by a heap."""
    graph = hw.generate.grid(8, 8)
    for length in (1.0, 0.5):  # integers are added up as integers
        hw.sssp(weighted(graph, length), 0, delta=1.0, device="cpu")
    hw.sssp(weighted(graph), 0, method="delta-stepping", device="cpu")
    hw.nearest(weighted(graph), 0, 3)
    hw.sssp_many(weighted(hw.generate.kronecker(6, 32)), range(4), device="cpu")  # its short arcs are followed first


def products() -> None:
    """Products over the semirings of searches, shortest paths and triangles, in both directions."""
    graph, la = hw.generate.kronecker(6), hw.linalg
    A, W = la.Matrix.from_graph(graph), la.Matrix.from_graph(graph, np.ones(graph.m))
    x, ring = la.Vector.from_entries([0], 1.0, graph.n), la.semiring
    for direction in ("push", "pull"):
        for matrix, semiring in ((A, ring.any_pair), (A, ring.any_secondi), (W, ring.min_plus), (W, ring.plus_times)):
            la.vxm(x, matrix, semiring, direction=direction, device="cpu")
        la.mxm(A, A, ring.plus_pair, mask=A, direction=direction, device="cpu")
    la.mxv(A, la.Vector.full(graph.n, 1.0), ring.plus_second, device="cpu")


def ranks() -> None:
    """PageRank by rounds of products: on one thread, on several, and with rows in another order."""
    graph = hw.generate.kronecker(6)
    for G in (graph, weighted(graph)):
        hw.pagerank(G, device="cpu")
        hw.eigenvector_centrality(G, device="cpu")
    hw.pagerank(hw.generate.kronecker(16), device="cpu")  # large enough for threads and for another order


def reading() -> None:
    """Read files that are large enough for the compiled scanners, with and without weights, also adjacency lists."""
    from hopwave.generate.recursive_compiled import draw_edges
    from hopwave.graph.csr_compiled import is_symmetric_pattern, sorted_rows
    from hopwave.io import print_lines

    graph = hw.generate.grid(300, 300)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("graph.mtx", "graph.txt", "graph.graph", "weighted.mtx", "weighted.txt"):
            hw.write(Path(folder) / name, weighted(graph, 0.5) if name.startswith("weighted") else graph)
            hw.read(Path(folder) / name, progress=False)
    sorted_rows(np.array([0], np.int32), np.array([1], np.int32), 2, symmetric=True)  # only for larger files
    is_symmetric_pattern(graph.indptr, graph.indices)
    draw_edges(1, 1, 0, 31, np.zeros(3, np.uint32), True, *np.zeros((2, 1), np.int32))
    print_lines.rows("%d %d\n", (np.array([0]), np.array([1])))
    print_lines.lists(np.array([1]), np.array([1]))


# Values for the arguments that public functions require; one that is not here fails a test.
GIVEN: dict[str, Any] = {
    "source": 0, "target": 3, "vertex": 0, "sources": [0, 1], "k": 3, "d": 2, "group": [0, 1], "what": "bfs",
    "communities": [range(8)], "limits": 2, "facilities": [0], "pairs": [(0, 3)],
}  # fmt: skip


def questions() -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    """Every public function of a graph, with the other arguments that it requires."""
    for function in (getattr(hw, name) for name in hw.__all__):
        if inspect.isfunction(function) and "G" in (options := inspect.signature(function).parameters):
            required = [one.name for one in options.values() if one.default is one.empty and one.kind < one.VAR_KEYWORD]
            yield function, {name: GIVEN.get(name) for name in required if name != "G"}


def every_function(share: int = 0, of: int = 1) -> None:
    """Every public function, on graphs of each kind, along weights if it can; calls that do not fit are skipped."""
    grid, ring = hw.generate.grid(6, 6), hw.generate.cycle(8, directed=True)
    graphs = [grid, hw.generate.kronecker(6, directed=True), ring, hw.generate.path(8, directed=True)]
    graphs += [hw.generate.kronecker(9)]
    graphs += [one.with_weights(np.ones(one.m, kind)) for one in (grid, ring) for kind in "df"]
    for function, given in list(questions())[share::of]:
        takes_weights = "weights" in inspect.signature(function).parameters
        for graph in graphs:
            along = {"weights": True} if graph.is_weighted and takes_weights else {}
            with suppress(HopwaveError):
                found = function(graph, **given | along)
                list(found) if inspect.isgenerator(found) else None


def _scores(graph: Callable[[], Graph], **given: Any) -> None:
    hw.betweenness_centrality(graph(), device="cpu", **given)


PARTS: dict[str, Callable[..., object]] = {  # the longest first
    "betweenness, all threads on one source": wide,
    "search": search,
    "betweenness, reduced": reduced_betweenness,
    "products over semirings": products,
    "reading and building large graphs": reading,
    "many searches at once": many,
    "betweenness": betweenness,
    "components, triangles, cores": structure,
    "shortest paths with lengths": shortest_paths,
    "ranks": ranks,
    "betweenness of edges": lambda: hw.edge_betweenness_centrality(hw.generate.kronecker(9), device="cpu"),  # with hubs
    "distances": distances,
    "betweenness along weights": partial(_scores, lambda: weighted(hw.generate.grid(8, 8)), weights=True),
    "betweenness from sampled paths": partial(_scores, partial(hw.generate.grid, 8, 8), epsilon=0.2, method="paths"),
    "path counts": paths,
}
LAST = "every other function"  # finds what the others have compiled
SHARES = 4  # into which the last part is divided, for as many processes


def warmup(*, device: Literal["cpu", "cuda"] = "cpu", as_json: bool = False) -> None:
    """Compile the CPU engine and the file readers for this machine, or all kernels for its GPU. Later runs load them
    from disk.

    device: Compile for the CPU: the engine and the file readers; or all kernels for this GPU.
    """
    began = time.perf_counter()
    parts = _compile_for_gpu() if device == "cuda" else _compile_for_cpu()
    total = time.perf_counter() - began
    if as_json:
        terminal.emit({"parts": [asdict(part) for part in parts], "seconds": total})
        return
    shown = terminal.table("Compiled for this machine", "what", "seconds", "", numbers=(1,))
    for part in parts:
        shown.add_row(part.name, f"{part.seconds:.2f}", "compiled" if part.compiled else "already on disk")
    terminal.show(shown)
    terminal.line(f"Ready in {total:.1f} s. Later runs load the compiled code from disk.")


def _compile_for_gpu() -> list[Part]:
    """All kernels, several at a time; one part per header."""
    engine("cuda")  # raises an error that names what is missing
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
    """Use each part once, which compiles it: in as many processes as there are cores."""
    from hopwave.system.devices import host_cores

    names, parts, last = list(PARTS), {}, []
    # Spawned, not forked: a fork would copy locks that other threads hold.
    with (
        Meter("compiling", len(PARTS) + SHARES, None) as meter,
        ProcessPoolExecutor(min(host_cores(), len(PARTS)), get_context("spawn")) as pool,
    ):
        for done in as_completed([pool.submit(use_part, name) for name in names]):
            parts[done.result().name] = done.result()
            meter.update(len(parts))
        for done in as_completed([pool.submit(use_part, LAST, share, SHARES) for share in range(SHARES)]):
            last.append(done.result())
            meter.update(len(parts) + len(last))
    whole = Part(LAST, sum(part.seconds for part in last), any(part.compiled for part in last))
    return [*(parts[name] for name in names), whole]


def use_part(name: str, *share: int) -> Part:
    """Use one part, or a share of it, by several threads, and tell whether that compiled anything."""
    from numba.core.event import install_recorder

    from hopwave.engines.cpu.compile_notice import FirstWork

    FirstWork.seconds = 0.0  # as on a machine that has compiled nothing yet
    began = time.perf_counter()
    # Two threads: an image that is built on one core may run on many. The record is empty if all code came from disk.
    with threads_of(2), install_recorder("numba:compile") as record:
        (PARTS | {LAST: every_function})[name](*share)
    return Part(name, time.perf_counter() - began, bool(record.buffer))
