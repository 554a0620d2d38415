"""Kronecker graphs too large to sort: drawn, built and searched on the GPU, with 64-bit offsets where they are needed.

    PYTHONPATH=src python -m benchmarks.gpu_scale --scale 26 28 [--sources 8]

Edges are a hash of (edge, bit), so that they can be drawn twice instead of kept: once to count the rows, once to fill
them. Loops and repeats stay, and neighbours stand in no order: this measures what fits and how fast it then is, not the
best arrangement. Every search is verified on the GPU: the source alone is at 0, every arc joins levels that differ by
at most one, or two vertices that were not reached, and every vertex reached has a neighbour one level up.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import cupy as cp
import numpy as np

from benchmarks.gpu_hopwave import Loaded, milliseconds
from benchmarks.gpu_search import head
from benchmarks.setting import RESULTS, hw, table
from hopwave.engines.cuda_hopwave import Workspace
from hopwave.semiring import Question

KERNELS = r"""
typedef unsigned long long u64;
__device__ u64 hash(u64 x) {  // SplitMix64's finaliser
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}
// Edge number e of the Graph500 generator, A, B, C, D = 0.57, 0.19, 0.19, 0.05: one hash serves two bits.
__device__ void draw(u64 e, int scale, unsigned* u, unsigned* v) {
    unsigned i = 0, j = 0;
    u64 bits = 0;
    for (int b = 0; b < scale; b++) {
        if ((b & 1) == 0) bits = hash(e * 32 + b);
        unsigned r = (unsigned)bits;
        bits >>= 32;
        unsigned quadrant = (r >= 2448131359u) + (r >= 3264175145u) + (r >= 4080218931u);  // 2^32 times .57 .76 .95
        i = 2 * i + (quadrant >> 1);
        j = 2 * j + (quadrant & 1);
    }
    // Scrambled by a bijection of scale bits: odd multiples and shifts.
    unsigned mask = (1u << scale) - 1;
    for (int k = 0; k < 2; k++) {
        i = (i * 0x9e3779b1u + 0x7f4a7c15u) & mask; i ^= i >> (scale / 2);
        j = (j * 0x9e3779b1u + 0x7f4a7c15u) & mask; j ^= j >> (scale / 2);
    }
    *u = i; *v = j;
}
extern "C" __global__ void count(u64 edges, int scale, unsigned* degree) {
    for (u64 e = blockIdx.x * (u64)blockDim.x + threadIdx.x; e < edges; e += (u64)gridDim.x * blockDim.x) {
        unsigned u, v; draw(e, scale, &u, &v);
        atomicAdd(&degree[u], 1u); atomicAdd(&degree[v], 1u);
    }
}
extern "C" __global__ void fill(u64 edges, int scale, const long long* offsets, unsigned* filled, int* neighbours) {
    for (u64 e = blockIdx.x * (u64)blockDim.x + threadIdx.x; e < edges; e += (u64)gridDim.x * blockDim.x) {
        unsigned u, v; draw(e, scale, &u, &v);
        neighbours[offsets[u] + atomicAdd(&filled[u], 1u)] = v;
        neighbours[offsets[v] + atomicAdd(&filled[v], 1u)] = u;
    }
}
extern "C" __global__ void verify(long long n, const long long* offsets, const int* neighbours, const int* distance,
                                  int source, u64* wrong) {
    u64 warp = (blockIdx.x * (u64)blockDim.x + threadIdx.x) / 32, warps = (u64)gridDim.x * blockDim.x / 32;
    for (u64 v = warp; v < n; v += warps) {
        int d = distance[v];
        bool parent = d <= 0, bad = (d == 0) != ((int)v == source);
        for (long long a = offsets[v] + threadIdx.x % 32; a < offsets[v + 1]; a += 32) {
            int other = distance[neighbours[a]];
            bad |= (d < 0) != (other < 0) || (d >= 0 && other - d > 1);
            parent |= other == d - 1;
        }
        parent = __any_sync(~0u, parent);
        if (__any_sync(~0u, bad) || !parent) { if (threadIdx.x % 32 == 0) atomicAdd(wrong, 1ull); }
    }
}
"""
GRID, BLOCK = (132 * 16,), (256,)


def build(scale: int, edge_factor: int) -> tuple[Any, float]:
    """The graph on the device, and the seconds it took."""
    module = cp.RawModule(code=KERNELS)
    n, edges = 1 << scale, edge_factor << scale
    began = time.perf_counter()
    degree = cp.zeros(n, np.uint32)
    module.get_function("count")(GRID, BLOCK, (np.uint64(edges), np.int32(scale), degree))
    offsets = cp.zeros(n + 1, np.int64)
    cp.cumsum(degree, dtype=np.int64, out=offsets[1:])
    neighbours = cp.empty(2 * edges, np.int32)
    degree[:] = 0
    module.get_function("fill")(GRID, BLOCK, (np.uint64(edges), np.int32(scale), offsets, degree, neighbours))
    cp.cuda.Device().synchronize()
    del degree
    cp.get_default_memory_pool().free_all_blocks()
    return Loaded(offsets, neighbours), time.perf_counter() - began


def measure(scale: int, edge_factor: int, count: int) -> dict[str, Any]:
    loaded, built = build(scale, edge_factor)
    verify = cp.RawModule(code=KERNELS).get_function("verify")
    W = Workspace(loaded)
    plan, question = hw.plan("hopwave"), Question(predecessors=False)
    degrees = cp.diff(loaded.offsets)
    candidates = cp.flatnonzero(degrees[: 1 << 20] > 0).get()
    sources = np.random.default_rng(7).choice(candidates, count, replace=False).tolist()
    distance = cp.empty(loaded.n, np.int32)
    arcs = []
    for source in sources:
        W.launch(distance, None, cp.asarray(np.array([source], np.int32)), question, plan)
        wrong = cp.zeros(1, np.uint64)
        verify(GRID, BLOCK, (np.int64(loaded.n), loaded.offsets, loaded.neighbours, distance, np.int32(source), wrong))
        if int(wrong[0]):
            raise SystemExit(f"scale {scale}, source {source}: {int(wrong[0])} vertices break a rule")
        arcs.append(int(degrees[distance >= 0].sum()))
    ms, _ = milliseconds(W, sources, False, plan)
    held = loaded.offsets.nbytes + loaded.neighbours.nbytes
    row = {
        "scale": scale,
        "edge factor": edge_factor,
        "vertices": loaded.n,
        "arcs": loaded.m,
        "built s": built,
        "graph bytes an arc": held / loaded.m,
        "search bytes a vertex": (W.bytes + distance.nbytes) / loaded.n,
        "search ms": ms,
        "GTEPS (arcs of the reached part)": float(np.median(arcs)) / ms / 1e6,
        "searches verified": count,
    }
    print(row, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, nargs="*", default=[26, 28])
    parser.add_argument("--edge-factor", type=int, default=16)
    parser.add_argument("--sources", type=int, default=8)
    given = parser.parse_args()
    rows = []
    for scale in given.scale:
        rows.append(measure(scale, given.edge_factor, given.sources))
        cp.get_default_memory_pool().free_all_blocks()
    about = ", ".join(f"{key} {value}" for key, value in head().items())
    text = f"# Large Kronecker graphs on the GPU\n\n{about}\n\n{table(rows)}\n"
    (RESULTS / "gpu-scale.md").write_text(text, encoding="utf-8")
    with (RESULTS / "gpu-scale.jsonl").open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(head() | row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
