"""Checks hopwave's own search on one GPU: on small traps in every variant, and on the graphs that are timed.

gpu_hopwave.py --check runs the traps; it also checks every graph before it times it.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace

import cupy as cp
import numpy as np

import hopwave as hw
from hopwave.engines.cuda.policy import LevelSplit
from hopwave.engines.cuda.search import one_launch
from hopwave.engines.cuda.search.end_of_search import deepest
from hopwave.engines.cuda.search.workspace import Workspace, trace_table
from hopwave.planning.jobs import SearchJob
from hopwave.planning.rules import Growing
from hopwave.planning.rules import Sizes as RuleSizes

LEVELS = 20_000  # most levels that are traced

NAIVE = r"""
extern "C" __global__ void level(const OFFSET *offsets, const int *neighbours, int n, int depth, int *distance,
                                 int *more) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || distance[v] != depth) return;
  for (OFFSET e = offsets[v]; e < offsets[v + 1]; e++)
    if (distance[neighbours[e]] < 0) distance[neighbours[e]] = depth + 1, *more = 1;
}
extern "C" __global__ void tree(const OFFSET *in_offsets, const int *in_neighbours, int n, const int *distance,
                                const int *parent, int *wrong) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int p = parent[v];
  if (distance[v] <= 0) { if (p != (distance[v] ? -1 : v)) atomicAdd(wrong, 1); return; }
  if (p < 0 || p >= n || distance[p] != distance[v] - 1) { atomicAdd(wrong, 1); return; }
  for (OFFSET e = in_offsets[v]; e < in_offsets[v + 1]; e++) if (in_neighbours[e] == p) return;
  atomicAdd(wrong, 1);
}
"""


class Loaded:
    """A graph on the GPU, with its neighbours by descending in-degree."""

    def __init__(self, offsets, neighbours, in_offsets=None, in_neighbours=None):
        self.offsets, self.neighbours = offsets, neighbours
        self.in_offsets = offsets if in_offsets is None else in_offsets
        self.in_neighbours = neighbours if in_neighbours is None else in_neighbours
        self.n, self.m = len(offsets) - 1, len(neighbours)
        self.kept = {}
        kind = "int" if offsets.dtype == np.int32 else "long long"
        self.naive = cp.RawModule(code=NAIVE.replace("OFFSET", kind))

    def reference(self, sources, limit=None):
        """Distances by the simplest kernel: one thread per vertex, one launch per level."""
        distance = cp.full(self.n, -1, np.int32)
        distance[cp.asarray(sources)] = 0
        kernel, more, depth = self.naive.get_function("level"), cp.ones(1, np.int32), 0
        while int(more[0]) and (limit is None or depth < limit):
            more.fill(0)
            for _ in range(16 if self.m < 1 << 23 and limit is None else 1):
                arguments = (self.offsets, self.neighbours, np.int32(self.n), np.int32(depth), distance, more)
                kernel((-(-self.n // 256),), (256,), arguments)
                depth += 1
        return distance

    def wrong_parents(self, distance, parent):
        wrong = cp.zeros(1, np.int32)
        arguments = (self.in_offsets, self.in_neighbours, np.int32(self.n), distance, parent, wrong)
        self.naive.get_function("tree")((-(-self.n // 256),), (256,), arguments)
        return int(wrong[0])


def load(graph, wide=False):
    """A hopwave Graph as a Loaded; wide: 64-bit offsets."""
    graph = graph.arranged()
    kind = np.int64 if wide else graph.indptr.dtype
    rows = cp.asarray(graph.indptr.astype(kind)), cp.asarray(graph.indices)
    if not graph.directed:
        return Loaded(*rows)
    return Loaded(*rows, cp.asarray(graph.in_indptr.astype(kind)), cp.asarray(graph.in_indices))


# ---------------------------------------------------------------- traps


def traps():
    """Small graphs, each with the sources to try."""
    draw = np.random.default_rng(5)

    def edges(pairs, n=None, directed=False):
        pairs = np.array(pairs).reshape(-1, 2)
        return hw.Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n, directed=directed)

    def random(n, m, directed):
        return hw.Graph.from_edges(*draw.integers(0, n, (2, m)), n=n, directed=directed)

    yield "one vertex", edges([], 1), [[0]]
    yield "isolated source", edges([[0, 1]], 3), [[2], [0], [0, 2]]
    yield "star", hw.generate.star(5000), [[0], [7], [7, 8]]
    yield "path 3000", hw.generate.path(3000), [[0], [1500], [0, 2999]]
    yield "directed path", hw.generate.path(3000, directed=True), [[0], [2999], [10, 700]]
    yield "cycle", hw.generate.cycle(1000), [[3]]
    yield "complete", hw.generate.complete(200), [[3]]
    yield "diamonds", hw.generate.diamonds(50), [[0]]
    yield "two components", edges([[0, 1], [1, 2], [3, 4], [4, 5], [5, 3]], 8), [[0], [4], [0, 3]]
    for n in (31, 32, 33, 63, 64, 65, 1023, 1024, 1025):
        yield f"random {n}", random(n, 3 * n, False), [[0], [n - 1], [0, n // 2, n - 1]]
        yield f"directed {n}", random(n, 2 * n, True), [[0], [n - 1], [0, n // 2, n - 1]]
    hub = np.stack([np.zeros(100_000, int), np.arange(1, 100_001)], 1)
    tail = np.stack([np.arange(100_000, 100_500), np.arange(100_001, 100_501)], 1)
    yield "hub with a tail", edges(np.concatenate([hub, tail])), [[0], [77], [100_500]]
    yield "hub into many", edges(hub, directed=True), [[0], [9]]
    yield "many into a hub", edges(np.concatenate([hub[:, ::-1], tail]), directed=True), [[0], [9], [100_000]]
    yield "two hubs far apart", edges(np.concatenate([hub, hub + 100_001, [[5, 100_010]]])), [[6], [100_001]]
    yield "grid", hw.generate.grid(150, 150, missing=0.05), [[0], [11_000], [0, 22_000]]
    yield "kron 12", hw.generate.kronecker(12, 16), [[int(i)] for i in draw.integers(0, 4096, 3)]
    yield "directed kron", hw.Graph.from_edges(*hw.generate.kronecker(12, 16).to_edges(), directed=True), [[0], [17]]
    yield "uniform", random(30_000, 240_000, False), [[0], [1, 2, 3]]
    yield "uniform directed", random(30_000, 240_000, True), [[0], [1, 2, 3]]
    yield "sparse", random(30_000, 26_000, False), [[0], [1, 2, 3], list(range(0, 30_000, 3))]
    yield "mycielskian", hw.generate.mycielskian(11), [[0], [1500]]


VARIANTS = {
    "as is": (LevelSplit(), Growing(10, 18)),
    "grid only": (LevelSplit(alone=-1, few=0, share=0), Growing(10, 18)),
    "teams": (LevelSplit(alone=16, few=128, share=64, team=2), Growing(10, 18)),
    "all together": (LevelSplit(alone=-1, few=0, share=1500), Growing(0, 0)),
    "pull": (LevelSplit(alone=64), Growing(1e12, 1e12)),
    "pull, all answers": (LevelSplit(alone=64, fill=0), Growing(1e12, 1e12)),
    "pull and push": (LevelSplit(chunk=32, long_row=64, alone=32, few=128, share=8), Growing(1e12, 2)),
    "push": (LevelSplit(chunk=32, alone=16, few=0, share=0), Growing(0, 0)),
}


# ---------------------------------------------------------------- checks


def replayed(rows, n, m, rule):
    """Whether the replayed rule makes the GPU's choices."""
    nf0, mf0, last = 0, 0, -1
    for _depth, choice, nf, mf, mu, _found, _checked, _blocks, _ended in rows:
        if rule.choose(RuleSizes(n, m, nf, mf, mu, nf0, mf0, last)) != choice:
            return False
        nf0, mf0, last = nf, mf, choice
    return True


def check(loaded, W, sources, rule, parents, limit=None):
    """What is wrong with a search, or None."""
    plan, question = replace(hw.plan("hopwave"), rule=rule), SearchJob(parents, False, limit)
    distance = cp.full(loaded.n, -77, np.int32)
    parent = cp.full(loaded.n, -77, np.int32) if parents else None
    rows = trace_table(LEVELS)
    W.launch(distance, parent, cp.asarray(np.array(sources, np.int32)), question, plan, rows)
    standing = W.standing()
    expected = loaded.reference(sources, limit)
    bad = int((distance != expected).sum())
    if bad:
        return f"{bad} distances of {loaded.n}"
    if parents and (bad := loaded.wrong_parents(distance, parent)):
        return f"{bad} parents of {loaded.n}"
    if int(standing["reached"]) != int((expected >= 0).sum()):
        return f"reached {standing['reached']}"
    if deepest(standing) != int(expected.max()):
        return f"depth {standing['depth']} nf {standing['nf']}"
    traced = rows[: int(standing["levels"])].tolist()
    if not replayed(traced, loaded.n, loaded.m, rule):
        return "the rule says otherwise"
    return wrong_sizes(loaded, sources, expected, traced)


def wrong_sizes(loaded, sources, expected, traced):
    """The first of the first 12 levels whose traced sizes are wrong, or None."""
    degrees = cp.diff(loaded.offsets)
    mu = loaded.m - int(degrees[cp.asarray(sources)].sum())
    for depth, _choice, nf, mf, left, found, _checked, _blocks, _ended in traced:
        now = expected == depth - 1
        if (nf, mf, left, found) != (int(now.sum()), int(degrees[now].sum()), mu, int((expected == depth).sum())):
            return f"sizes of level {depth}"
        if depth > 12:
            break
        mu -= int(degrees[expected == depth].sum())
    return None


def check_traps(options):
    """Check every trap, with 32- and 64-bit offsets, in every variant."""
    count, failures = 0, []
    for name, graph, all_sources in traps():
        print(name, end="; ", flush=True)
        for wide, (variant, (split, rule)) in itertools.product((False, True), VARIANTS.items()):
            loaded = load(graph, wide)
            W = Workspace(loaded, split, options)
            for sources, parents in itertools.product(all_sources, (False, True)):
                for limit in (None, 2) if parents else (None,):
                    wrong = check(loaded, W, sources, rule, parents, limit)
                    count += 1
                    if wrong:
                        failures.append(f"{name} wide={wide} {variant} {sources[:3]} parents={parents}: {wrong}")
    print(f"\ntraps: {count} searches checked, {len(failures)} wrong")
    print("\n".join(failures[:20]), flush=True)


def check_paths():
    """Compare path counts with the CPU engine's, from small ones to those beyond float64."""
    wrong = []
    graphs = {
        "diamonds": hw.generate.diamonds(1100), "grid 30": hw.generate.grid(30, 30), "star": hw.generate.star(5000),
        "grid 400": hw.generate.grid(400, 400), "kron 12": hw.generate.kronecker(12, 16),
        "path": hw.generate.path(3000),
        "directed": hw.Graph.from_edges(*hw.generate.kronecker(12, 16).to_edges(), directed=True),
        "mycielskian": hw.generate.mycielskian(11), "delaunay": hw.generate.delaunay(1 << 14),
    }  # fmt: skip
    for name, graph in graphs.items():
        for source in (0, graph.n // 2):
            loaded = load(graph)
            loaded.graph = graph
            search = SimpleNamespace(loaded=loaded, sources=(source,), question=SearchJob(True, True))
            search.distance, search.parent = cp.empty(graph.n, np.int32), cp.empty(graph.n, np.int32)
            one_launch.run(search, hw.plan("hopwave-paths"), True)
            expected = hw.bfs(graph, source, path_counts=True, device="cpu").path_counts
            logs = [c.log2() if isinstance(c, hw.ScaledCounts) else log2(c) for c in (search.counts, expected)]
            finite = np.isfinite(logs[1])
            if type(search.counts).__name__ != type(expected).__name__ and isinstance(expected, hw.ScaledCounts):
                wrong.append(f"{name} {source}: {type(search.counts)}")
            elif (np.isfinite(logs[0]) != finite).any() or np.abs(logs[0] - logs[1])[finite].max() > 1e-9:
                wrong.append(f"{name} {source}: differs")
    print(f"path counts: {2 * len(graphs)} searches checked, {len(wrong)} wrong", wrong, flush=True)


def log2(counts):
    counts = counts.get() if isinstance(counts, cp.ndarray) else counts
    with np.errstate(divide="ignore"):
        return np.log2(counts)
