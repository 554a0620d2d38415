"""TurboBC: A Memory Efficient and Scalable GPU Based Betweenness Centrality Algorithm in the Language of Linear Algebra
(Artiles & Saeed, 2021)."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import hopwave as hw
from hopwave import engines
from hopwave.arrays import on_host
from hopwave.errors import EngineError
from hopwave.graph import Graph
from hopwave.papers.graphs import module
from hopwave.papers.lab import Lab, WrongAnswer, claimed, degree_of, over, rows_of
from hopwave.papers.records import Case, Row, quoted, tables
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from hopwave.system.numba_cache import njit

PLANS = ("sccsc", "sccooc", "vecsc")
TO_COMPARE = 3  # trials to find the fastest algorithm for Table 5
TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5 = tables("turbobc")


# ---------------------------------------------------------------- Algorithm 1 by one thread, with the matrix in CSC
# CP, row   the columns of A          s   the source          σ, S, δ   path counts, depths, dependencies


def dependencies(columns: Graph, source: int) -> Any:
    """δ of every vertex for one source; `columns` is the reverse of a directed graph: its rows are columns of A."""
    return _dependencies(columns.indptr, columns.indices, columns.n, source)


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
    """Dependencies, the depth, and the sequential milliseconds; hopwave's plan if the row's time is too short."""
    depth = hw.bfs(graph, root, predecessors=False, device=lab.device).depth
    if (8 * graph.n + graph.m) * (depth + 2) * 1e-9 <= lab.until - time.perf_counter():  # seconds, measured
        host = graph.to("cpu")
        host = host.reversed() if host.directed else host
        dependencies(Graph(host.indptr[:2] * 0, host.indices[:0], directed=False), 0)  # warm-up: compiles
        began = time.perf_counter()
        right = dependencies(host, root)
        return right, depth, (time.perf_counter() - began) * 1e3
    found = hw.betweenness_centrality(graph, sources=[root], normalized=False, device=lab.device, progress=False)
    return on_host(found.scores) * (1 if graph.directed else 2), depth, None


def timed(lab: Lab, graph: Graph, plan: str, sources: Any, right: Any) -> tuple[float, float | None]:
    """Milliseconds per source of one algorithm, after its sums were compared with `right`; and megabytes used."""
    engine: Any = engines.engine(lab.device)
    record = CATALOGUE[f"turbobc-{plan}"]
    before = used_bytes(lab, graph)
    run = engine.accumulation(graph, BetweennessJob(np.asarray(sources[:1], np.int64)), record)
    run.advance(0, lambda done: False)
    held = (used_bytes(lab) - before) / 1e6 if lab.device == "cuda" else None  # including the graph
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
    """Bytes of CuPy's pool, without a graph, whose other forms on the GPU are dropped; 0 on a CPU."""
    if lab.device == "cpu":
        return 0
    import cupy

    from hopwave.engines.cuda.graph import CudaGraph

    if without is not None:
        without._prepared.pop(CudaGraph, None)
        lab.release()
    own = sum(part.nbytes for part in rows_of(without, cupy)) if without is not None else 0
    return int(cupy.get_default_memory_pool().used_bytes()) - own


def scf_of(graph: Graph, xp: Any) -> float:
    """The scale-free metric: Σ degree(u)·degree(v) over the arcs, divided by n times the maximum degree."""
    offsets, neighbours = rows_of(graph, xp)
    degrees = xp.diff(offsets).astype(xp.float64)
    sums = xp.concatenate([xp.zeros(1), xp.cumsum(degrees[neighbours])])[offsets]
    return float(xp.dot(degrees, xp.diff(sums))) / (graph.n * max(1.0, float(degrees.max())))


def all_sources(lab: Lab, case: Case, graph: Graph) -> Row:
    """Table 5: seconds for all sources, by the fastest algorithm; extrapolated if the time limit is reached."""
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


def arrays(lab: Lab) -> list[Row]:
    """Figure 4: the arrays of both programs, as counted in the paper, and hopwave's arrays."""
    here = {"here": "11n + m: four of the seven arrays are float64, since float32 cannot be certified"}
    return [{"program": program, "words": words} for program, words in (quoted("turbobc")["arrays"] | here).items()]


STUDIES = {"exact": exact, "single": single, "claims": claimed("turbobc"), "arrays": arrays}
