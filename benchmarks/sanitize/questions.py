"""Questions beside searches, under compute-sanitizer (parts.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

import hopwave as hw
from benchmarks.sanitize.graphs import lengths, repeats, same, tiny, traps
from hopwave import generate
from hopwave.api.validate import validate
from hopwave.arrays import on_host


def connected() -> Iterator[str]:
    """Strong components, the sides of a bipartite graph, and blocks."""
    rings = hw.Graph.from_edges([*range(12), 0, 3], [1, 2, 0, 4, 5, 6, 3, 8, 9, 10, 11, 7, 3, 7], directed=True)
    for where, graph in (traps() | {"rings": rings}).items():  # components of rings need searches and colours
        right = connected_components(graph.to_scipy(), directed=graph.directed, connection="strong")[0]
        if hw.strongly_connected_components(graph, device="cuda").count != right:
            yield f"strong components of {where}"
        bipartite = "kronecker" not in where and where not in ("loops", "rings")
        if hw.is_bipartite(graph, device="cuda") != bipartite:
            yield f"sides of {where}"
        if not graph.directed:
            blocks = nx.biconnected_components(graph.to_networkx())
            if hw.biconnected_components(graph.to("cuda"), device="cuda").count != sum(1 for _ in blocks):
                yield f"blocks of {where}"


def compressed(limit: int | None) -> Callable[[], Iterator[str]]:
    """Packed rows with that many bytes on the GPU: searches, also those that write every answer at once, searches from
    many sources, and components.
    """

    def part() -> Iterator[str]:
        from hopwave.engines.cuda.policy import LevelSplit
        from hopwave.engines.cuda.search import workspace

        for where, graph in traps().items():
            packed = graph.to("cuda", compressed=True, memory_limit=limit)
            right = hw.bfs(graph, 0, device="reference").distances
            some = np.arange(0, graph.n, 1 + graph.n // 200)  # more than 128 sources take the wide kernel
            rows = shortest_path(graph.to_scipy(), unweighted=True, indices=some)
            rows[np.isinf(rows)] = -1
            with patch.object(workspace, "level_split", lambda m: LevelSplit(fill=0)):
                again = graph.to("cuda", compressed=True, memory_limit=limit)
                for predecessors in (False, True):
                    found = hw.bfs(again, 0, predecessors=predecessors, device="cuda").distances
                    if not np.array_equal(on_host(found), right):
                        yield f"distances of {where}, compressed and filled"
            for name, found, expected in (
                ("distances", hw.bfs(packed, 0, device="cuda").distances, right),
                ("distances alone", hw.bfs(packed, 0, predecessors=False, device="cuda").distances, right),
                ("rows", hw.bfs_many(packed, some, device="cuda"), rows),
                ("few rows", hw.bfs_many(packed, some[:70], device="cuda"), rows[:70]),
                (
                    "components",
                    hw.weakly_connected_components(packed, device="cuda").count,
                    connected_components(graph.to_scipy(), directed=True, connection="weak")[0],
                ),
            ):
                if not np.array_equal(on_host(found), expected):
                    yield f"{name} of {where}, compressed"
            with one_block_each():
                if not np.array_equal(on_host(hw.bfs_many(packed, some[:12], device="cuda")), rows[:12]):
                    yield f"rows of {where}, compressed, by a block each"

    return part


def compressed_scores(limit: int | None) -> Callable[[], Iterator[str]]:
    """Betweenness of such rows."""

    def part() -> Iterator[str]:
        for where, graph in tiny().items():
            packed = graph.to("cuda", compressed=True, memory_limit=limit)
            for plan in ("hopwave-block", "hopwave-wide"):
                yield from scores_by(plan, packed, graph, f"{plan} on {where}, compressed")

    return part


def compressed_ranks(limit: int | None) -> Callable[[], Iterator[str]]:
    """Every power iteration on such rows."""

    def part() -> Iterator[str]:
        from hopwave.engines.cuda.linalg import power as rounds

        narrow = replace(rounds.POWER, short_row=0, hot_arcs=0)  # ranks in float32, as on large matrices
        for where, graph in tiny().items():
            packed = graph.to("cuda", compressed=True, memory_limit=limit)
            near = 1e-9 if repeats[0] > 1 else 0.4 / graph.n  # under a tool, a few rounds
            rough = 0.01 if repeats[0] > 1 else 0.5 * graph.n**-0.5
            for name, ask in {
                "ranks": lambda G, tol=near: hw.pagerank(G, tol=tol, device="cuda").scores,
                "eigenvector": lambda G, tol=rough: (
                    hw.eigenvector_centrality(G, max_iter=5000, tol=tol, device="cuda").scores
                ),
                "Katz": lambda G: hw.katz_centrality(G, 1e-4, device="cuda").scores,
            }.items():
                if not same(on_host(ask(packed)), on_host(ask(graph)), 1e-7):
                    yield f"{name} of {where}, compressed"
            with patch.object(rounds, "POWER", narrow):
                again = graph.to("cuda", compressed=True, memory_limit=limit)
                if not same(on_host(hw.pagerank(again, tol=max(near, 1e-6), device="cuda").scores).sum(), 1.0, 1e-5):
                    yield f"ranks in float32 of {where}, compressed"

    return part


def compressed_blocks() -> Iterator[str]:
    """Betweenness of packed rows by blocks: without shared memory, by teams, with counts as mantissa and exponent."""
    from hopwave.engines.cuda.betweenness import block, run

    machine, add_up = run._machine, block.Blocks._run

    def with_exponents(self: Any, results: Any, which: Any, count: int, at_once: int, *kind: Any) -> None:
        add_up(self, results, which, count, at_once, block.EXTENDED, 0, 1)

    for directed in (False, True):
        ends = generate.uniform(4000, 16, seed=1).to_edges()
        wide = hw.Graph.from_edges(*ends, n=4000, directed=directed)  # few sources get several blocks each
        small = generate.kronecker(5, edge_factor=8, directed=directed)
        for graph, name in ((wide, "by teams"), (small, "with little memory"), (small, "with exponents")):
            packed = graph.to("cuda", compressed=True)
            shared = replace(machine(0), shared=256 if graph is wide else 0)
            if name == "with exponents":
                with patch.object(block.Blocks, "_run", with_exponents):
                    yield from scores_by("hopwave-block", packed, graph, name)
                continue
            with patch.object(run, "_machine", lambda device, shared=shared: shared):
                yield from scores_by("hopwave-block", packed, graph, name)


def scores_by(plan: str, packed: hw.Graph, graph: hw.Graph, about: str) -> Iterator[str]:
    """Betweenness of two sources of packed rows, beside the reference engine."""
    options: dict[str, Any] = {"sources": range(min(graph.n, 2))}
    right = hw.betweenness_centrality(graph, **options, weights=np.ones(graph.m), device="reference").scores
    found = hw.betweenness_centrality(packed, **options, plan=plan, device="cuda").scores
    if not same(on_host(found), right):
        yield about


def chains() -> Iterator[str]:
    """Betweenness by the core of a graph of chains, of vertices and edges, by hops and lengths."""
    from hopwave.algorithms import reduction
    from hopwave.algorithms.reduction import chains as core

    always = {"LEAST_SOURCES": 0, "LEAST_GAIN": 0.0, "LEAST_WORK": {"cuda": 0}, "LOOK_ANYWAY": 0}
    u, v = generate.delaunay(12, seed=1).to_edges()
    inside = 12 + np.arange(3 * len(u)).reshape(len(u), 3)  # three vertices on every edge
    path = np.column_stack([u, inside, v])
    plain = hw.Graph.from_edges(path[:, :-1].ravel(), path[:, 1:].ravel())
    for graph in (plain, plain.with_weights(lengths(plain))):
        for ask in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
            weights = graph.weights if graph.weights is not None else np.ones(graph.m)
            with patch.multiple(reduction, **always), patch.multiple(core, LEAST_INNER=0.0, LEAST_GAIN=0.0):
                found = ask(graph, weights=graph.weights is not None, device="cuda")
            right = ask(plain, weights=weights, reduce=False, device="reference").scores
            if found.reduction is None or not found.reduction.chains or not same(on_host(found.scores), right):
                yield f"{ask.__name__} of chains"


@contextmanager
def one_block_each() -> Iterator[None]:
    """Every graph counts as deep, and lists have little room: each of many searches gets a block."""
    from hopwave.engines.cuda import policy

    few = policy.SweepPolicy(each_deep=0, room=4)
    with patch.object(policy, "SWEEP", few), patch.object(policy, "LOW_DEGREE", np.inf):
        yield


def cores() -> Iterator[str]:
    """Core numbers: every vertex has enough neighbours in its core; the core of a star is 1."""
    for where, graph in tiny().items():
        found = hw.core_numbers(graph, device="cuda").scores
        rows = graph.remove_self_loops().to_scipy(np.int64)
        within = rows @ np.eye(graph.n, dtype=np.int64) if graph.n < 300 else None
        if within is not None:
            both = within + within.T if graph.directed else within
            enough = [both[v][found >= found[v]].sum() >= found[v] for v in range(graph.n)]
            if not all(enough):
                yield f"cores of {where}"
        elif found.max() != 1:  # a star
            yield f"cores of {where}"


def triangles() -> Iterator[str]:
    """Triangles of all vertices, with tables of warps and of blocks, and with the partners of large graphs."""
    from hopwave.engines.cuda.linalg import triangles as counting

    for where, graph in tiny().items():
        if graph.directed:
            continue
        plain = graph.remove_self_loops().to_scipy(np.int64)
        right = np.asarray((plain @ plain).multiply(plain).sum(axis=1)).ravel() // 2
        for least in (counting.PARTNERS, 0):
            with patch.object(counting, "PARTNERS", least):
                each, total = hw.triangles(graph, device="cuda").scores, hw.triangle_count(graph, device="cuda")
            if not same(each, right) or 3 * total != right.sum():
                yield f"triangles of {where}, with partners from {least} arcs on"
        if graph.n < 300 and not (same(in_blocks(graph, True), right) and 3 * in_blocks(graph, False) == right.sum()):
            yield f"triangles of {where}, in blocks"


def in_blocks(graph: hw.Graph, each: bool) -> Any:
    """Triangles with a block for each vertex, as vertices with more than 512 arcs out have: too many for a tool."""
    import cupy

    from hopwave.engines.cuda.launch import kernels, offset_type, truth
    from hopwave.engines.cuda.linalg.triangles import HEADER, LONG_THREADS

    src, dst = np.repeat(np.arange(graph.n), graph.degrees), graph.indices
    up = src < dst  # any order of the vertices will do
    begin = np.searchsorted(src[up], np.arange(graph.n + 1)).astype(graph.indptr.dtype)
    found, total, room = cupy.zeros(graph.n, np.int64), cupy.zeros(1, np.uint64), 512
    every = cupy.arange(graph.n, dtype=np.int32)
    rows = cupy.asarray(begin), cupy.asarray(dst[up].astype(np.int32))
    kernels(offset_type(begin)).exactly(
        HEADER, "count_long", truth(each), (4,), LONG_THREADS,
        (*rows, *rows, every, np.uint32(graph.n), np.uint32(room), cupy.zeros(1, np.uint32), found, total),
        (8 if each else 4) * room,
    )  # fmt: skip
    return found.get() if each else int(total.get()[0])


def chosen_vertices() -> Iterator[str]:
    """Independent sets and communities."""
    for where, graph in traps().items():
        if graph.directed:
            continue
        chosen = np.zeros(graph.n, bool)
        chosen[hw.maximal_independent_set(graph, seed=1, device="cuda")] = True
        beside = graph.remove_self_loops().to_scipy(np.int64) @ chosen > 0
        if (beside == chosen).any():
            yield f"independent set of {where}"
        if len(hw.label_propagation(graph, seed=1, max_rounds=3, device="cuda").labels) != graph.n:
            yield f"communities of {where}"


def made_of_arcs() -> Iterator[str]:
    """Subgraphs, graphs without directions, validation, paths between two vertices, tables along weights."""
    for where, graph in traps().items():
        there, half = graph.to("cuda"), np.arange(0, graph.n, 2)
        if there.subgraph(half) != graph.subgraph(half) or there.to_undirected() != graph.to_undirected():
            yield f"graphs made of {where}"
        found = hw.bfs(there, 0, device="cuda")
        if not validate(there, 0, found.distances, found.predecessors) or not validate(there, 0, found.distances):
            yield f"validation on {where}"
        weighted = graph.with_weights(lengths(graph))
        row = hw.sssp_many(weighted, [0], device="cuda")[0]
        if not same(row, hw.sssp_many(weighted, [0], device="reference")[0]):
            yield f"table along weights on {where}"
        for target in np.flatnonzero(np.isfinite(row))[:3].tolist():
            if hw.shortest_path(weighted, 0, target, device="cuda")[-1] != target:
                yield f"path along weights on {where}"


def tables() -> Iterator[str]:
    """Distances to some targets, and sums of values within limits, by blocks and by teams of blocks."""
    graphs = {**traps(), "wide levels": generate.uniform(4000, 8, seed=1)}  # few sources of it get several blocks each
    for where, graph in graphs.items():
        weighted = graph.with_weights(lengths(graph))
        sources = np.array([0, 7]) if where == "wide levels" else np.arange(0, graph.n, 1 + graph.n // 5)
        targets, values = np.arange(0, graph.n, 2), 1.0 + np.arange(graph.n) % 3
        far = hw.sssp_many(weighted, sources, device="reference")
        if not same(hw.distance_table(weighted, sources, targets, device="cuda").values, far[:, targets]):
            yield f"table of {where}"
        within = np.stack([((far <= limit) * values).sum(1) for limit in (3.0, 9.0)], 1)
        found = hw.accessibility(weighted, values, limit=[3.0, 9.0], sources=sources, device="cuda").sums
        if not same(found[:, 0], within):
            yield f"sums within limits of {where}"
        faded = (np.exp(-far / 4.0) * values).sum(1)
        found = hw.accessibility(weighted, values, decay=("exponential", 4.0), sources=sources, device="cuda").sums
        if not same(found[:, 0, 0], faded):
            yield f"sums that fade of {where}"


def deep() -> Iterator[str]:
    """Searches with a block for each source."""
    with one_block_each():
        for where, graph in traps().items():
            sources = np.arange(0, graph.n, 1 + graph.n // 12)
            table = hw.bfs_many(graph, sources, device="cuda")
            if not same(table[0], hw.bfs(graph, 0, device="reference").distances):
                yield f"tables of {where}"
            if len(hw.closeness_centrality(graph, sources, device="cuda").scores) != len(sources):
                yield f"sums of {where}"


def spurs() -> Iterator[str]:
    """The spurs of a shortest path from every one of its vertices, in arrays for a few of them."""
    from hopwave.engines.cpu.shortest_paths import deviations, dijkstra
    from hopwave.engines.cuda import policy
    from hopwave.engines.cuda.shortest_paths.spurs import Spurs

    for where, graph in (traps() | {"grid": generate.grid(6, 5)}).items():
        A = csr_array((lengths(graph) / 7, graph.indices, graph.indptr), shape=(graph.n, graph.n))
        d, before = shortest_path(A, method="D", indices=0, return_predecessors=True)
        target = int(np.argmax(np.where(np.isfinite(d), d, -1.0)))
        path = [target]
        while path[-1] != 0:
            path.append(int(before[path[-1]]))
        path.reverse()
        right = np.empty(len(path) - 1)
        for at, u in enumerate(path[:-1]):
            left = A.tolil()
            left[path[:at], :] = left[:, path[:at]] = left[u, path[at + 1]] = 0.0
            right[at] = d[u] + shortest_path(left.tocsr(), method="D", indices=u)[target]
        rest = shortest_path(A.T.tocsr(), method="D", indices=target)
        arcs = dijkstra.arcs((graph.indptr, graph.indices), A.data)
        count = len(right)
        with patch.object(policy, "SPURS", replace(policy.SPURS, at_once=3)):
            search = Spurs(arcs, rest, 1.0 + 2.0**-40, target)
        for most in (np.inf, float(np.min(right, initial=np.inf)) * 1.55):
            paths = deviations.Paths(np.array(path, np.uint32), d[path], np.array([0, len(path)]))
            known = deviations.Spurs(*np.array([[0], [0], [-1]]))
            asked = deviations.Spurs(np.zeros(count, int), np.arange(count), np.full(count, -1))
            if count and not same(search.lengths(paths, known, asked, most), np.where(right <= most, right, np.inf)):
                yield f"spurs up to {most} on {where}"
