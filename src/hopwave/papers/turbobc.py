"""TurboBC: A Memory Efficient and Scalable GPU Based Betweenness Centrality Algorithm in the Language of Linear Algebra
(Artiles & Saeed, 2021)."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import fmean
from typing import Any

import numpy as np

import hopwave as hw
from hopwave import engines
from hopwave.arrays import on_host
from hopwave.errors import EngineError
from hopwave.graph import Graph
from hopwave.papers.graphs import module
from hopwave.papers.lab import Lab, WrongAnswer, degree_of, over, rows_of
from hopwave.papers.records import Case, Drawing, Exhibit, Paper, Row, numbers, table
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from hopwave.system.numba_cache import njit

PLANS = ("sccsc", "sccooc", "vecsc")
STATED = ("degree", "d", "scf", "ms", "MTEPS", "(sequential)x", "(gunrock)x", "(ligra)x")
TO_COMPARE = 3  # trials by which Table 5 finds the fastest algorithm

TABLE_1 = table("""
mark3j060sc Hollinger/mark3jac060sc matrix D    28    171 44/6/4             42     10   2.1    82 11.5  2.7  2.2
mark3j080sc Hollinger/mark3jac080sc matrix D    37    228 44/6/4             52     10   2.8    82  9.8  2.5  1.5
mark3j100sc Hollinger/mark3jac100sc matrix D    46    285 44/6/4             62     10   3.5    82 11.4  2.4  1.5
mark3j120sc Hollinger/mark3jac120sc matrix D    55    343 44/6/4             72     10   4.4    78 12.9  2.2  1.6
g7j140sc    Hollinger/g7jac140sc    matrix D    42    566 153/14/24          15    197   1.2   472 12.5  1.9  2.3
g7j160sc    Hollinger/g7jac160sc    matrix D    47    657 153/14/24          16    208   1.4   469 13.3  1.8  2.6
delaunayn15 DIMACS10/delaunay_n15   mesh   U    33    197 18/6/1             84     13   4.7    42 14.4  2.4  1.2
delaunayn16 DIMACS10/delaunay_n16   mesh   U    66    393 17/6/1            110     14   7.1    55 25.3  2.2  1.9
luxemb-osm  DIMACS10/luxembourg_osm road   U   115    239 6/2/0            1035      2  50.0     5 24.7  2.3  1.0
internet    Pajek/internet          social D   125    207 138/2/4            21      1   1.5   138 37.8  1.9  2.0
""", STATED, "1")  # fmt: skip

TABLE_2 = table("""
g7j180sc    Hollinger/g7jac180sc    matrix D    53    747 153/14/24          17    217   1.6   467 13.9  1.7  1.7
g7j200sc    Hollinger/g7jac200sc    matrix D    59    838 153/14/25          18    224   1.7   493 14.6  1.7  1.8
mark3j140sc Hollinger/mark3jac140sc matrix D    64    400 44/6/4             82     10   5.3    76 13.2  2.1  1.2
smallworld  smallworld:100000:10    goods  U   100   1000 17/10/1             9     61   1.0  1000 27.6  1.5  1.5
ASIC-100ks  Sandia/ASIC_100ks       matrix D    99    579 206/6/6            33      3   2.7   215 25.7  1.6  1.7
ASIC-680ks  Sandia/ASIC_680ks       matrix D   683   2329 210/3/4            31      2   6.6   353 43.9  1.0  1.5
com-Youtube SNAP/com-Youtube        social U  1135   5975 28754/5/51         14      8   9.7   616 48.4  1.0  2.8
mawi-12345  MAWI/mawi_201512012345  hub    U 18571  38040 16M/2/3806         10      2  74.8   509 33.6  1.0  3.6
mawi-20000  MAWI/mawi_201512020000  hub    U 35991  74485 33M/2/5414         11      2 143.0   521 33.9  1.0  3.4
mawi-20030  MAWI/mawi_201512020030  hub    U 68863 143415 63M/2/7597         12      2 261.4   549 32.3  1.0  3.2
""", STATED, "2")  # fmt: skip

TABLE_3 = table("""
mycielski15 mycielskian:15          social U    25  11111 12287/452/664       3  41166   1.7  6536 17.4  1.2  2.3
mycielski16 mycielskian:16          social U    49  33383 24575/679/1078      3  82833   3.4  9819 26.6  1.5  3.4
mycielski17 mycielskian:17          social U    98 100246 49151/1020/1747     3 166407   7.9 12689 34.6  1.7  4.4
mycielski18 mycielskian:18          social U   197 300934 98303/1531/2817     3 333199  18.5 16267 45.8  2.1  5.1
mycielski19 mycielskian:19          social U   393 903195 196607/2297/4530    3 651837  48.9 18470 53.1  2.7  5.2
kron-logn18 kron:18:48              social U   262  21166 49164/81/454        6   5846   8.7  2433 31.6  0.9  1.1
kron-logn19 kron:19:48              social U   524  43563 80676/83/541        6   6609  17.4  2504 44.7  1.0  0.9
kron-logn20 kron:20:48              social U  1049  89241 131505/85/641       6   7410  58.4  1528 34.0  1.3  1.0
kron-logn21 kron:21:48              social U  2097 182084 213906/87/756       6   8161 193.2   943 24.5  1.1  1.0
""", STATED, "3")  # fmt: skip

TABLE_4 = table("""
kmer-V1r    GenBank/kmer_V1r        chains U   214    465 8/2/1             324      2  14.3    33 94.5  0.9
it-2004     LAW/it-2004             web    D    42   1151 9964/28/67         50    543   3.1   371 39.5  0.8
GAP-twitter GAP/GAP-twitter         social D    62   1469 3M/24/1990         15    126   7.3   201 50.4  0.8
sk-2005     LAW/sk-2005             web    D    51   1950 12870/39/78        54   1262   6.8   287 30.5  0.7
""", ("degree", "d", "scf", "s", "MTEPS", "(sequential)x", "(ligra)x"), "4", unit=1_000_000)  # fmt: skip

TABLE_5 = table("""
mark3j60sc  Hollinger/mark3jac060sc matrix D 28    171 42    4694  49.3    95  8.2
mark3j80sc  Hollinger/mark3jac080sc matrix D 37    228 52    8345  90.8    92  9.2
g7j180sc    Hollinger/g7jac180sc    matrix D 53    747 17   39906 105.9   377 13.4
g7j200sc    Hollinger/g7jac200sc    matrix D 59    838 17   49688 129.7   383 14.3
mycielski16 mycielskian:16          social U 49  33383  3 1639081 159.8 10257 27.5
mycielski17 mycielskian:17          social U 98 100246  3 9854152 715.2 13778 38.0
""", ("d", "n·m, millions", "s", "MTEPS", "(sequential)x"), "5")  # fmt: skip


# ---------------------------------------------------------------- Algorithm 1 by one thread, with the matrix in CSC
# CP, row   the columns of A          s   the source          σ, S, δ   path counts, depths, dependencies


def dependencies(graph: Graph, source: int) -> Any:
    """δ of every vertex for one source."""
    columns = (graph.reversed() if graph.directed else graph).to("cpu")
    return _dependencies(columns.indptr, columns.indices, graph.n, source)


@njit(nogil=True, cache=True, boundscheck=False)
def _dependencies(CP: Any, row: Any, n: int, s: int) -> Any:
    sigma, f, f_t = np.zeros(n), np.zeros(n), np.zeros(n)
    S = np.full(n, -1, np.int32)
    sigma[s], f[s], S[s], d, found = 1.0, 1.0, 0, 0, True
    while found:
        d, found = d + 1, False
        for v in range(n):  # f_t = Aᵀ f, masked by σ = 0 (Algorithm 3)
            f_t[v] = 0.0
            if sigma[v] == 0.0:
                total = 0.0
                for k in range(CP[v], CP[v + 1]):
                    total += f[row[k]]
                f_t[v] = total
        for v in range(n):
            f[v] = f_t[v]
            if f[v] != 0.0:
                sigma[v], S[v], found = sigma[v] + f[v], d, True
    delta, share, sums = np.zeros(n), np.zeros(n), np.zeros(n)
    for depth in range(d - 1, 1, -1):
        for w in range(n):
            share[w] = (1.0 + delta[w]) / sigma[w] if S[w] == depth else 0.0
            sums[w] = 0.0
        for w in range(n):  # A · share: column w adds to its rows
            if share[w] > 0.0:
                for k in range(CP[w], CP[w + 1]):
                    sums[row[k]] += share[w]
        for v in range(n):
            if S[v] == depth - 1:
                delta[v] += sums[v] * sigma[v]
    return delta


# ---------------------------------------------------------------- studies


def one_graph(lab: Lab, case: Case, graph: Graph) -> Row:
    """One source of one graph, by the three algorithms."""
    root = lab.root_of(graph)
    right, depth, alone = expected(lab, graph, root)
    ms, row = {}, dict[str, Any]()
    for plan in PLANS:
        try:
            ms[plan], held = timed(lab, graph, plan, np.full(lab.effort.trials, root), right)
        except (EngineError, MemoryError):  # as scCOOC on Table 4's graphs in the paper
            continue
        row |= {f"{plan} ms": ms[plan], f"{plan} MB": held}
    if not ms:
        raise WrongAnswer(f"{case.shown}: no algorithm of TurboBC ran")
    best = min(ms, key=lambda plan: ms[plan])
    row |= {"degree": degree_of(graph), "d": depth + 1, "scf": scf_of(graph, module(lab.device)), "best": best,
            "ms": ms[best], "MTEPS": graph.m / ms[best] / 1e3, "(sequential)x": alone and alone / ms[best]}  # fmt: skip
    return row | {"7n + m, MB": (7 * graph.n + graph.m) * 4e-6, "9n + 2m, MB": (9 * graph.n + 2 * graph.m) * 4e-6,
                  "n + m": graph.n + graph.m}  # fmt: skip


single = over(one_graph, TABLE_1, TABLE_2, TABLE_3, TABLE_4)


def expected(lab: Lab, graph: Graph, root: int) -> tuple[Any, int, float | None]:
    """Dependencies, the depth, and the sequential milliseconds; on graphs that would take too long, by our own plan."""
    depth = hw.bfs(graph, root, predecessors=False, device=lab.device).depth
    if graph.m * (depth + 2) <= lab.effort.sequential:
        host = graph.to("cpu")
        dependencies(Graph(host.indptr[:1], host.indices[:0], directed=host.directed), 0)  # compiles
        began = time.perf_counter()
        right = dependencies(host, root)
        return right, depth, (time.perf_counter() - began) * 1e3
    found = hw.betweenness_centrality(graph, sources=[root], normalized=False, device=lab.device, progress=False)
    return on_host(found.scores) * (1 if graph.directed else 2), depth, None


def timed(lab: Lab, graph: Graph, plan: str, sources: Any, right: Any) -> tuple[float, float | None]:
    """Milliseconds per source of one algorithm, after its sums were compared with `right`; and megabytes held."""
    engine: Any = engines.engine(lab.device)
    record = CATALOGUE[f"turbobc-{plan}"]
    before = used_bytes(lab, graph)
    run = engine.accumulation(graph, BetweennessJob(np.asarray(sources[:1], np.int64)), record)
    run.advance(0, lambda done: False)
    held = (used_bytes(lab) - before) / 1e6 if lab.device == "cuda" else None  # with the graph
    if not np.allclose(on_host(run.total), right, rtol=1e-9, atol=1e-290):
        raise WrongAnswer(f"turbobc-{plan} differs from the sequential algorithm; please report this")
    del run
    run = engine.accumulation(graph, BetweennessJob(np.asarray(sources, np.int64)), record)
    began = time.perf_counter()
    done = run.advance(0, until(began, lab.effort.seconds))
    return (time.perf_counter() - began) / done * 1e3, held


def until(began: float, seconds: float) -> Callable[[int], bool]:
    """Stop after some sources once the seconds are used up."""
    return lambda done: done > 0 and time.perf_counter() - began > seconds


def used_bytes(lab: Lab, without: Graph | None = None) -> int:
    """Bytes of CuPy's pool, without those of a graph, whose other forms on the GPU are dropped; 0 on a CPU."""
    if lab.device == "cpu":
        return 0
    import cupy

    from hopwave.engines.cuda.graph import CudaGraph

    if without is not None:
        without._prepared.drop(CudaGraph)
        lab.release()
    own = sum(part.nbytes for part in rows_of(without, cupy)) if without is not None else 0
    return int(cupy.get_default_memory_pool().used_bytes()) - own


def scf_of(graph: Graph, xp: Any) -> float:
    """The scale-free metric: Σ degree(u)·degree(v) over the arcs, over n times the greatest degree."""
    offsets, neighbours = rows_of(graph, xp)
    degrees = xp.diff(offsets).astype(xp.float64)
    sums = xp.concatenate([xp.zeros(1), xp.cumsum(degrees[neighbours])])[offsets]
    return float(xp.dot(degrees, xp.diff(sums))) / (graph.n * max(1.0, float(degrees.max())))


def all_sources(lab: Lab, case: Case, graph: Graph) -> Row:
    """Table 5: seconds for all sources, by the fastest algorithm; what does not end in time is projected."""
    root = lab.root_of(graph)
    right, depth, alone = expected(lab, graph, root)
    ms = {plan: timed(lab, graph, plan, np.full(TO_COMPARE, root), right)[0] for plan in PLANS}
    best = min(ms, key=lambda plan: ms[plan])
    run: Any = engines.engine(lab.device).accumulation(
        graph, BetweennessJob(np.arange(graph.n)), CATALOGUE[f"turbobc-{best}"]
    )
    began = time.perf_counter()
    done = run.advance(0, until(began, 0.3 if lab.quick else max(1.0, (lab.until - began) / 2)))
    taken = (time.perf_counter() - began) / done * graph.n
    own_ms = None
    for _ in () if lab.quick else range(2):  # the first call may compile
        began = time.perf_counter()
        some = np.arange(min(graph.n, 1024))
        hw.betweenness_centrality(graph, sources=some.tolist(), device=lab.device, progress=False)
        own_ms = (time.perf_counter() - began) / len(some) * 1e3
    how = "all sources" if done == graph.n else f"projected from {done:,} of {graph.n:,} sources"
    return {"d": depth + 1, "n·m, millions": graph.n * graph.m / 1e6, "s": taken, "best": best, "how": how,
            "MTEPS": graph.n * graph.m / taken / 1e6, "(sequential)x": alone and alone * graph.n / 1e3 / taken,
            "hopwave's own plan, s": own_ms and own_ms * graph.n / 1e3}  # fmt: skip


exact = over(all_sources, TABLE_5, share=0.3)

# The abstract's averages, and the means of Tables 1 to 3. Of 31.9, the paper does not say over which graphs it is: with
# Table 4 the mean is 29.9, and with Table 5 28.2.
CLAIMS = {
    f"× {name}": (value, fmean(numbers((*TABLE_1, *TABLE_2, *TABLE_3), column)))
    for name, value, column in (("the sequential algorithm", 31.9, "(sequential)x"), ("gunrock", 1.7, "(gunrock)x"),
                                ("ligra", 2.2, "(ligra)x"))
}  # fmt: skip


def averages(lab: Lab) -> list[Row]:
    """The abstract: GTEPS, and the mean speed-ups."""
    alone = "(sequential)x", "mean of {} graphs; one thread of this machine's CPU", "one thread takes too long"
    gteps = "GTEPS, more than", 18.0, "the fastest of each graph"
    return lab.promised("single", "MTEPS", gteps, CLAIMS, {"× the sequential algorithm": alone})


def arrays(lab: Lab) -> list[Row]:
    """Figure 4: the arrays of both programs, as the paper counts them, and ours."""
    return [
        {"program": "gunrock, by the paper", "words": "9n + 2m"},
        {"program": "TurboBC, by the paper", "words": "7n + m"},
        {"program": "here",
         "words": "11n + m: four of the seven arrays are float64, since float32 cannot be certified"},
    ]  # fmt: skip


COLUMNS = ("graph", "kind", "n", "m", "degree", "paper: degree", "d", "paper: d", "scf", "paper: scf", "ms", "best",
           *(f"{plan} ms" for plan in PLANS), "paper: ms", "paper: s",
           "MTEPS", "paper: MTEPS", "(sequential)x", "paper: (sequential)x",
           "paper: (gunrock)x", "paper: (ligra)x", "from")  # fmt: skip
MEMORY = ("vecsc MB", "7n + m, MB", "9n + 2m, MB")
GPU_ONLY = "The bytes that CuPy's pool holds for a run; on a CPU there are none."
NCU = "Needs a profiler of the GPU, Nsight Compute: benchmarks/turbo_kernels.py, and its page."

PAPER = Paper(
    "turbobc",
    "TurboBC: A Memory Efficient and Scalable GPU Based Betweenness Centrality Algorithm in the Language of Linear "
    "Algebra",
    "O. Artiles and F. Saeed, ICPP Workshops 2021",
    "NVIDIA Titan Xp; sequential and ligra on 22 Xeon Gold 6152",
    {"exact": exact, "single": single, "averages": averages, "arrays": arrays},
    (
        Exhibit("Abstract", "What the paper promises", "averages",
                ("claim", "ours", "paper", "paper's tables", "remark")),
        Exhibit("Figures 1 and 2", "Formats of an example, and the pipeline of kernels",
                note="Pictures that are not in the paper's text; docs/papers.md names our code and its tests."),
        Exhibit("Figure 3", "Memory beside the size of the arrays, mycielski group", "single",
                ("graph", *MEMORY, "from"), ("table", "3"),
                (Drawing("lines", "7n + m, MB", ("vecsc MB", "9n + 2m, MB"), "MB", (True, True)),), GPU_ONLY),
        Exhibit("Figure 4", "Data flow: arrays and their words", "arrays", ("program", "words")),
        *(Exhibit(f"Table {number}", caption, "single", COLUMNS, ("table", number))
          for number, caption in (("1", "Regular graphs on which the paper's fastest is scCSC"),
                                  ("2", "Regular graphs on which it is scCOOC"), ("3", "Irregular graphs, veCSC"))),
        Exhibit("Figure 5(a)", "Memory beside n + m", "single", ("graph", "n + m", *MEMORY, "from"), ("table", "3"),
                (Drawing("lines", "n + m", MEMORY, "MB", (True, True)),),
                GPU_ONLY + " gunrock's 9n + 2m is the paper's count, not a measurement."),
        Exhibit("Figures 5(b) and 5(c)", "Global load throughput, and MTEPS over it", note=NCU),
        Exhibit("Table 4", "Big graphs", "single", COLUMNS, ("table", "4")),
        Exhibit("Figure 6", "Speed-up over the sequential algorithm, and MTEPS, on the big graphs", "single",
                ("graph", "(sequential)x", "paper: (sequential)x", "MTEPS", "paper: MTEPS", "from"), ("table", "4"),
                (Drawing("bars", "graph", ("(sequential)x", "paper: (sequential)x"), "times faster"),
                 Drawing("bars", "graph", ("MTEPS", "paper: MTEPS"), "MTEPS", (False, True)))),
        Exhibit("Table 5", "Exact betweenness of all vertices", "exact",
                ("graph", "d", "paper: d", "n·m, millions", "paper: n·m, millions", "s", "how", "best", "paper: s",
                 "MTEPS", "paper: MTEPS", "(sequential)x", "paper: (sequential)x", "hopwave's own plan, s", "from")),
        Exhibit("Figure 7", "Speed-up and MTEPS of the exact computation", "exact",
                ("graph", "(sequential)x", "MTEPS", "from"), None,
                (Drawing("bars", "graph", ("(sequential)x", "paper: (sequential)x"), "times faster"),
                 Drawing("bars", "graph", ("MTEPS", "paper: MTEPS"), "MTEPS", (False, True)))),
    ),
    "From vertex 0, or where that reaches less than 1% of the vertices from that of highest degree; milliseconds per "
    "source are the mean of the trials; MTEPS are m/t for one source and mn/t for all. Before it was timed, every "
    "algorithm's sums were compared with those of the sequential algorithm (one thread, CSC), or where that would take "
    "too long with our own certified run.",
)  # fmt: skip
