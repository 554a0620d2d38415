"""Graphs built on the GPU, Graph500 and the ranks of a job, under compute-sanitizer (parts.py)."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

import hopwave as hw
from hopwave import generate
from hopwave.arrays import on_host

Part = Callable[[], Iterator[str]]


def building(bits: int) -> Part:
    """Rows from edges on the GPU, ids and weights of `bits` bits: every rule for repeats; transposes; by degree."""

    def part() -> Iterator[str]:
        import cupy

        from hopwave.engines.cuda import build

        rng = np.random.default_rng(3)
        ids, kind = (np.int32, np.float32) if bits == 32 else (np.int64, np.float64)
        with patch.object(build, "LEAST_ARCS", 500):
            for n, edges in ((1, 9), (200, 600)):
                u, v = (rng.integers(0, n, edges) ** 2 // n for _ in range(2))
                a, b = cupy.asarray(u.astype(ids)), cupy.asarray(v.astype(ids))
                weights = cupy.asarray((rng.integers(1, 5, edges) / 3).astype(kind))
                for directed in (True, False):
                    right = hw.Graph.from_edges(u, v, n=n, directed=directed, device="cpu")
                    if hw.Graph.from_edges(a, b, n=n, directed=directed) != right:
                        yield f"{edges} edges of {bits} bits"
                for combine in ("min", "max", "sum", "first") if n > 1 else ():
                    hw.Graph.from_edges(a, b, n=n, weights=weights, combine=combine)
                hw.Graph.from_edges(a, b, n=n, weights=weights, repeats="keep")

    return part


def graph500() -> Iterator[str]:
    """Both searches of Graph500 and their validation, on one GPU; and edges of a graph that no GPU can hold."""
    from hopwave.engines.cuda.kronecker import edges
    from hopwave.engines.cuda.rank import part as rank
    from hopwave.graph500.on_cuda import OnCuda, broken_rules

    with patch.object(rank, "LONG_CHECKED_ROW", 20):
        for compressed in (False, True):
            machine = OnCuda(6, 8, seed=1, compressed=compressed)
            root = int(machine.graph.ids[0])
            if machine.search(root).broken or (not compressed and machine.shortest(4).search(root).broken):
                yield f"Graph500, compressed={compressed}"
            machine.distance[5] = 77
            if not broken_rules(machine.graph, machine.distance, machine.parent, root):
                yield f"a wrong answer is not noticed, compressed={compressed}"
    for scale, first, kind in ((36, (1 << 39) + 7, np.int64), (20, 5, np.int32)):
        there = edges(scale, 5, first, 300, kind)
        here = generate.kronecker_edges(scale, seed=5, first=first, count=300)
        if not all(np.array_equal(one.get(), other) for one, other in zip(there, here, strict=True)):
            yield "edges of a huge graph"


def job_ranks(layout: str, **sizes: int) -> Part:
    """Searches, shortest paths and validation by the ranks of an MPI job (under mpiexec or alone)."""

    def part() -> Iterator[str]:
        if importlib.util.find_spec("mpi4py") is None:
            raise SystemExit("mpi4py is not installed")
        from hopwave.distributed import layout as layouts
        from hopwave.engines.cuda.rank import part as rank
        from hopwave.graph500.over_ranks import OverRanks

        with patch.object(rank, "LONG_CHECKED_ROW", 20), patch.multiple(layouts, **sizes) if sizes else nullcontext():
            machine = OverRanks(6, 8, "cuda", 1, layout, None, "hopwave")
            root = next(v for v in range(64) if machine.can_start(np.array([v]))[0])
            if machine.search(root).broken or machine.shortest(4).search(root).broken:
                yield f"{layout} from {root}"

    return part


def rank_kernels() -> Iterator[str]:
    """The ranks' kernels with all types of slots, levels and ids, some of which only huge graphs have."""
    import cupy

    from hopwave.engines.cuda.packed import PackedRows
    from hopwave.engines.cuda.rank import part as rank

    graph = generate.kronecker(6, edge_factor=8)
    offsets, n = cupy.asarray(graph.indptr.astype(np.int64)), graph.n
    matrix = csr_array((np.ones(graph.m), graph.indices, graph.indptr), shape=(n, n))
    root = int(graph.degrees.argmax())
    distances = hw.bfs(graph, root, device="reference").distances
    parents = np.array(breadth_first_order(matrix, root)[1], np.int64)
    parents[parents < 0] = -1
    packed = PackedRows(graph.m)
    packed.add(cupy.asarray(graph.indices.astype(np.int32)))
    if not np.array_equal(packed.finish().unpacked().get(), graph.indices):
        yield "rows that were packed and unpacked"
    for slot in (*rank.SLOTS, rank.PACKED):
        is_packed = slot == rank.PACKED
        tails = packed.heads if is_packed else cupy.asarray(graph.indices.astype(slot))
        with patch.object(rank, "LONG_CHECKED_ROW", 20):
            for kind in rank.LEVELS:
                levels = cupy.asarray(distances.astype(kind))
                given = offsets, tails, levels, levels, cupy.asarray(parents), cupy.zeros(n, np.uint8)
                how = rank.long_rows(offsets), rank.PACKED if is_packed else None
                if rank.check(*given, *how)[:, 0].any():
                    yield f"a right answer is refused, {slot} and {kind}"
                levels[root] = 3
                if not rank.check(*given, *how)[:, 0].any():
                    yield f"a wrong answer is not noticed, {slot} and {kind}"
        if slot != np.int32 and not is_packed:
            rows = tails.copy()
            rank.hubs_first(offsets, rows, cupy.asarray(np.minimum(graph.degrees, 255).astype(np.uint8)))
            if not np.array_equal(np.sort(rows.get()), np.sort(graph.indices)):
                yield f"hubs first, {slot}"
            yield from one_level(rank.Part((offsets, tails), (offsets, tails)), graph, root)


def one_level(part: Any, graph: hw.Graph, root: int) -> Iterator[str]:
    """One level from a vertex, pushed and pulled, and claimed with both types of ids. `part`: from any engine."""
    xp, words = part.xp, -(-graph.n // 64)
    near = np.sort(graph.indices[graph.indptr[root] : graph.indptr[root + 1]])
    near = near[near != root]  # the root is visited already
    start = xp.zeros(words, np.uint64)
    start[root // 64] = np.uint64(1 << root % 64)
    for how in ({}, {"two_phase": True})[: 1 + (part.device == "cuda")]:
        heads, tails = (on_host(array) for array in part.push(xp.array([root]), start.copy(), **how))
        if not (np.array_equal(np.sort(heads), near) and (tails == root).all()):
            yield f"pushed, {heads.dtype} {how}"
    for how in ({}, {"compacted": True})[: 1 + (part.device == "cuda")]:
        found, _ = part.pull(0, start.copy(), start, xp.zeros(64 * words, part.tails.dtype), **how)
        if found != len(near):
            yield f"pulled, {heads.dtype} {how}"
    for kind in (np.int32, np.int64):
        ids = xp.asarray(near.astype(np.int64))
        parent = xp.full(graph.n, -1, kind)
        kept = part.claim(ids, xp.full(len(near), root, kind), start.copy(), parent)
        if not np.array_equal(np.sort(on_host(kept)), near) or int((parent == root).sum()) != len(near):
            yield f"claimed, {np.dtype(kind)}"
