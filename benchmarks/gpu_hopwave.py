"""hopwave's own plan on one GPU: check it on traps and on the graphs of the table, then time it.

PYTHONPATH=src:. python benchmarks/gpu_hopwave.py [--check] [--time NAMES] [--data FOLDER] [--json FILE] [--publish]
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import cupy as cp
import numpy as np

import hopwave as hw
from hopwave.engines.cuda.search import one_launch
from hopwave.engines.cuda.search.one_launch import Sizes, Workspace
from hopwave.jobs import Question
from hopwave.rules import Growing
from hopwave.rules import Sizes as RuleSizes

# Milliseconds: the aim, and half of the best code there was before (device time, one H200).
TARGETS = {
    "email-Enron": 0.06, "kron18": 0.06, "kron21": 0.12, "rmat22": 0.20, "uniform20": 0.15, "mycielskian17": 0.05,
    "delaunay20": 1.2, "grid1000": 3.0, "luxembourg_osm": 1.5, "osm-netherlands-cities": 1.5,
}  # fmt: skip

# Milliseconds of the best code there was on the same kind of GPU.
BEFORE = {
    "email-Enron": (0.57, "XBFS"), "kron18": (0.4, "XBFS"), "kron21": (0.64, "Gunrock 1.2"),
    "rmat22": (0.73, "Gunrock 1.2"), "uniform20": (0.59, "XBFS"), "mycielskian17": (0.19, "XBFS"),
    "delaunay20": (10.9, "GSWITCH"), "grid1000": (32.5, "GSWITCH"), "luxembourg_osm": (19.2, "TurboBFS"),
    "osm-netherlands-cities": (15.4, "GSWITCH"),
}  # fmt: skip

SPIN = cp.RawKernel(
    r"""extern "C" __global__ void spin(long long ns) {
      long long begin, now;
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
      do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
      while (now - begin < ns);
    }""",
    "spin",
)
NAMES = ("depth", "choice", "nf", "mf", "mu", "found", "checked", "blocks")

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
    """A graph on the device, with its neighbours by descending in-degree."""

    def __init__(self, offsets, neighbours, in_offsets=None, in_neighbours=None):
        self.offsets, self.neighbours = offsets, neighbours
        self.in_offsets = offsets if in_offsets is None else in_offsets
        self.in_neighbours = neighbours if in_neighbours is None else in_neighbours
        self.n, self.m = len(offsets) - 1, len(neighbours)
        self.kept = {}
        kind = "int" if offsets.dtype == np.int32 else "long long"
        self.naive = cp.RawModule(code=NAIVE.replace("OFFSET", kind))

    def reference(self, sources, limit=None):
        """Distances by the plainest kernel there is."""
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


# ---------------------------------------------------------------- graphs made on the device


def kronecker_edges(scale, edge_factor, seed=1, A=0.57, B=0.19, C=0.19):
    n, m = 1 << scale, edge_factor << scale
    draw = cp.random.default_rng(seed)
    i, j = cp.zeros(m, np.int32), cp.zeros(m, np.int32)
    for b in range(scale):
        down = draw.random(m, dtype=np.float32) > A + B
        right = draw.random(m, dtype=np.float32) > cp.where(down, np.float32(C / (1 - A - B)), np.float32(A / (A + B)))
        i += down.astype(np.int32) << b
        j += right.astype(np.int32) << b
    scramble = cp.asarray(np.random.default_rng(seed).permutation(n).astype(np.int32))
    return n, scramble[i], scramble[j]


def undirected(n, i, j):
    """Symmetric rows without loops and repeats, neighbours by descending degree."""
    keep = i != j
    i, j = i[keep], j[keep]
    key = cp.empty(2 * len(i), np.int64)
    key[: len(i)] = i.astype(np.int64) * n + j
    key[len(i) :] = j.astype(np.int64) * n + i
    del i, j, keep
    key.sort()
    first = cp.ones(len(key), np.bool_)
    first[1:] = key[1:] != key[:-1]
    key = key[first]
    del first
    degree = cp.bincount((key // n).astype(np.int32), minlength=n)
    by_degree = cp.argsort(-degree, kind="stable").astype(np.int32)
    rank = cp.empty_like(by_degree)
    rank[by_degree] = cp.arange(n, dtype=np.int32)
    offsets = cp.zeros(n + 1, np.int64)
    offsets[1:] = cp.cumsum(degree)
    row = key // n
    key -= row * n
    row *= n
    row += rank[key.astype(np.int32)]
    del key
    row.sort()
    row %= n
    neighbours = by_degree[row.astype(np.int32)]
    return Loaded(offsets.astype(np.int32) if len(neighbours) < 1 << 31 else offsets, neighbours)


def uniform_edges(n, edge_factor, seed=1):
    draw = cp.random.default_rng(seed)
    return (n, *(draw.integers(0, n, n * edge_factor).astype(np.int32) for _ in range(2)))


def mycielskian_edges(k):
    edges, n = np.array([[0], [1]]), 2
    for _ in range(k - 2):
        u, v = edges
        tips = np.stack([np.arange(n) + n, np.full(n, 2 * n)])
        edges, n = np.concatenate([edges, [u + n, v], [u, v + n], tips], axis=1), 2 * n + 1
    return n, cp.asarray(edges[0].astype(np.int32)), cp.asarray(edges[1].astype(np.int32))


def graphs(data):
    """Every graph of the table, made when called."""
    table = {
        "email-Enron": lambda: load(hw.read(data / "email-Enron.mtx.gz")),
        "kron18": lambda: undirected(*kronecker_edges(18, 43)),
        "kron21": lambda: undirected(*kronecker_edges(21, 44)),
        "rmat22": lambda: undirected(*kronecker_edges(22, 64)),
        "uniform20": lambda: undirected(*uniform_edges(1 << 20, 16)),
        "mycielskian17": lambda: undirected(*mycielskian_edges(17)),
        "delaunay20": lambda: load(hw.generate.delaunay(1 << 20)),
        "grid1000": lambda: load(hw.generate.grid(1000, 1000, missing=0.03)),
        "luxembourg_osm": lambda: load(hw.read(data / "luxembourg_osm.mtx.gz")),
        "osm-netherlands-cities": lambda: load(hw.read(data / "osm-netherlands-cities.mtx.gz")),
        "kron26": lambda: undirected(*kronecker_edges(26, 16)),
    }
    return table


# ---------------------------------------------------------------- checking


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
    "as is": (Sizes(), Growing(10, 18)),
    "grid only": (Sizes(alone=-1, few=0, share=0), Growing(10, 18)),
    "teams": (Sizes(alone=16, few=128, share=64, team=2), Growing(10, 18)),
    "all together": (Sizes(alone=-1, few=0, share=1500), Growing(0, 0)),
    "pull": (Sizes(alone=64), Growing(1e12, 1e12)),
    "pull and push": (Sizes(chunk=32, long_row=64, alone=32, few=128, share=8), Growing(1e12, 2)),
    "push": (Sizes(chunk=32, alone=16, few=0, share=0), Growing(0, 0)),
}


def replayed(rows, n, m, rule):
    """Whether the rule, asked again, chooses what the device chose."""
    nf0, mf0, last = 0, 0, -1
    for _depth, choice, nf, mf, mu, _found, _checked, _blocks, _ended in rows:
        if rule.choose(RuleSizes(n, m, nf, mf, mu, nf0, mf0, last)) != choice:
            return False
        nf0, mf0, last = nf, mf, choice
    return True


def check(loaded, W, sources, rule, parents, limit=None):
    """None, or what is wrong with a search."""
    plan, question = replace(hw.plan("hopwave"), rule=rule), Question(parents, False, limit)
    distance = cp.full(loaded.n, -77, np.int32)
    parent = cp.full(loaded.n, -77, np.int32) if parents else None
    rows = cp.zeros((20_001, one_launch.TRACE_COLUMNS), np.int64)
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
    if one_launch.deepest(standing) != int(expected.max()):
        return f"depth {standing['depth']} nf {standing['nf']}"
    traced = rows[: int(standing["levels"])].tolist()
    if not replayed(traced, loaded.n, loaded.m, rule):
        return "the rule says otherwise"
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
    count, failures = 0, []
    for name, graph, all_sources in traps():
        print(name, end="; ", flush=True)
        for wide in (False, True):
            loaded = load(graph, wide)
            for variant, (sizes, rule) in VARIANTS.items():
                W = Workspace(loaded, sizes, options)
                for sources, parents in itertools.product(all_sources, (False, True)):
                    for limit in (None, 2) if parents else (None,):
                        wrong = check(loaded, W, sources, rule, parents, limit)
                        count += 1
                        if wrong:
                            failures.append(f"{name} wide={wide} {variant} {sources[:3]} parents={parents}: {wrong}")
    print(f"\ntraps: {count} searches checked, {len(failures)} wrong")
    print("\n".join(failures[:20]), flush=True)


def check_paths():
    """Path counts beside the CPU engine's, from small to beyond float64."""
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
            search = SimpleNamespace(loaded=loaded, sources=(source,), question=Question(True, True))
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


# ---------------------------------------------------------------- timing


def giant_sources(loaded, count=16, seed=7):
    """Vertices of the largest component, always the same ones."""
    draw = np.random.default_rng(seed)
    degrees = cp.diff(loaded.offsets).get()
    busy = np.flatnonzero(degrees > 0)
    best = None
    for s in draw.choice(busy, min(8, len(busy)), replace=False):
        distance = loaded.reference([int(s)])
        if best is None or int((distance >= 0).sum()) > int((best >= 0).sum()):
            best = distance
        if int((best >= 0).sum()) > len(busy) // 2:
            break
    members = cp.flatnonzero(best >= 0).get()
    return draw.choice(members, min(count, len(members)), replace=False).astype(int).tolist()


def milliseconds(W, sources, parents, plan):
    """Median over sources of the median of 5."""
    distance = cp.empty(W.n, np.int32)
    parent = cp.empty(W.n, np.int32) if parents else None
    question, medians = Question(parents), []
    for s in sources:
        ids, times = cp.asarray(np.array([s], np.int32)), []
        for repeat in range(6):
            events = cp.cuda.Event(), cp.cuda.Event()
            SPIN((1,), (1,), (np.int64(150_000),))  # else the device would wait for Python after the first event
            events[0].record()
            W.launch(distance, parent, ids, question, plan)
            events[1].record()
            events[1].synchronize()
            if repeat:
                times.append(cp.cuda.get_elapsed_time(*events))
        medians.append(float(np.median(times)))
    return float(np.median(medians)), medians


def levels_of(W, source, plan):
    """How many levels a search has."""
    W.launch(cp.empty(W.n, np.int32), None, cp.asarray(np.array([source], np.int32)), Question(False), plan)
    return int(W.standing()["levels"])


def measure(name, make, sizes_list, rules, options, report, show_trace):
    began = time.perf_counter()
    loaded = make()
    cp.get_default_memory_pool().free_all_blocks()
    sources = giant_sources(loaded)
    built = time.perf_counter() - began
    plans = {rule: replace(hw.plan("hopwave"), rule=rule) for rule in rules}
    for sizes in sizes_list:
        W = Workspace(loaded, sizes, options)
        wrong = [w for s in sources[:3] for parents in (False, True) if (w := check(loaded, W, [s], rules[0], parents))]
        for rule, plan in plans.items():
            fast, all_fast = milliseconds(W, sources, False, plan)
            full, _ = milliseconds(W, sources, True, plan)
            all_levels = [levels_of(W, s, plan) for s in sources]
            levels = int(np.median(all_levels))
            row = {
                "graph": name, "n": loaded.n, "m": loaded.m, "levels": levels, "ms": fast, "with parents": full,
                "target": TARGETS.get(name), "rule": str(rule), "sizes": str(sizes), "wrong": wrong, "all": all_fast,
                "all levels": all_levels,
                "bytes": W.bytes, "built s": built, "options": options,
            }  # fmt: skip
            report.append(row)
            print(
                f"{name:<23} levels {levels:>5}  {fast:8.4f} ms (target {row['target']})  parents {full:8.4f}  "
                f"{rule} {sizes}  {'WRONG ' + str(wrong) if wrong else 'ok'}",
                flush=True,
            )
        if show_trace:
            rows = cp.zeros((20_001, one_launch.TRACE_COLUMNS), np.int64)
            W.launch(cp.empty(W.n, np.int32), None, cp.asarray(np.array(sources[:1], np.int32)), Question(False),
                     plans[rules[0]], rows)  # fmt: skip
            levels, table = int(W.standing()["levels"]), rows.get()
            ends = np.concatenate([[table[-1, -1]], table[:levels, -1]])
            for row, us in list(zip(table[:levels], np.diff(ends) / 1e3, strict=True))[:: max(1, levels // 12)]:
                print("   ", dict(zip(NAMES, row.tolist(), strict=False)),
                      f"{us:.1f} us", flush=True)  # fmt: skip
    del loaded
    cp.get_default_memory_pool().free_all_blocks()


NOTE = """\
Median over 16 sources of the largest component, device time of a whole search with its reset, distances only; every
graph was checked against a plain kernel first (three sources, with and without predecessors, every level's sizes and
the rule asked again). Plan `hopwave-gpu`. *Best before* are the best existing codes on the same GPU model and the same
graph families, as collected for the project before it began; they were not run again here, and XBFS's are its kernel
time alone. Made by `benchmarks/gpu_hopwave.py --time --publish`."""
DEEP = """\
Microseconds a level, each source by its own number of levels:"""
TRIED = """\
What was tried and did not pay: teams of 8, 24, 32 or 64 blocks in the middle; 256 or 512 working threads a block;
pieces of two arcs; a messenger that leaves before the finds are written; fences of acquire and release instead of
sequential ones in the grid's barrier."""


def publish(report):
    """The tables of benchmarks/results/gpu-hopwave.md, and its lines of JSON."""
    from benchmarks.gpu_search import head
    from benchmarks.setting import RESULTS, table

    assert not any(row["wrong"] for row in report), "a wrong search is not worth its time"
    times, deep = [], []
    for row in report:
        before, code = BEFORE[row["graph"]]
        times.append({
            "graph": row["graph"], "vertices": row["n"], "arcs": row["m"], "levels": row["levels"], "ms": row["ms"],
            "with predecessors ms": row["with parents"], "aim ms": row["target"],
            "aim met": "yes" if row["ms"] <= row["target"] else "no", "best before ms": f"{before} ({code})",
            "× faster": before / row["ms"],
        })  # fmt: skip
        if row["levels"] > 100:
            each = [1e3 * ms / levels for ms, levels in zip(row["all"], row["all levels"], strict=True)]
            deep.append({"graph": row["graph"], "median of 16 sources": float(np.median(each)),
                         "slowest source": max(each), "levels, median": row["levels"]})  # fmt: skip
    about = ", ".join(f"{key} {value}" for key, value in head().items())
    text = ["# hopwave's own search on the GPU", about, NOTE, table(times), DEEP, table(deep), TRIED]
    (RESULTS / "gpu-hopwave.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")
    lines = [json.dumps(head() | row) + "\n" for row in report]
    (RESULTS / "gpu-hopwave.jsonl").write_text("".join(lines), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="check every trap")
    parser.add_argument("--time", nargs="*", help="graphs to time; all of the table when none is named")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the .mtx.gz files")
    parser.add_argument("--json", type=Path, help="append one JSON line per row here")
    parser.add_argument("--option", action="append", default=[], help="for the compiler")
    parser.add_argument("--sizes", nargs="*", default=[""], help="such as alone=512,share=512")
    parser.add_argument("--alpha", type=float, nargs="*", default=[hw.plan("hopwave-gpu").rule.alpha])
    parser.add_argument("--trace", action="store_true", help="print the levels of one search")
    parser.add_argument("--publish", action="store_true", help="write what was timed to benchmarks/results")
    given = parser.parse_args()
    options, report = tuple(given.option), []
    if given.check:
        check_traps(options)
        check_paths()
    if given.time is not None:
        table = graphs(given.data)
        rules = [Growing(alpha, 18) for alpha in given.alpha]
        for name in given.time or list(TARGETS):
            pairs = [[pair.split("=") for pair in text.split(",") if pair] for text in given.sizes]
            sizes_list = [Sizes(**{key: int(value) for key, value in some}) for some in pairs]
            measure(name, table[name], sizes_list, rules, options, report, given.trace)
    if given.json:
        with given.json.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in report)
    if given.publish:
        publish(report)


if __name__ == "__main__":
    main()
