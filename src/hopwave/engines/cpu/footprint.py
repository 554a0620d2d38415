"""What the CPU engine adds to the process's resident memory, question by question.

The arrays are those that the engine's modules declare and allocate. Pages that nobody writes to cost nothing: so arrays
with room for an entry per arc, of which a search fills a part, count with that part. How large it is follows from a
search (Shape.tree), or was measured. What NumPy, SciPy and compiled code take in passing is not declared anywhere; it
stands here as bytes per vertex or arc. The graph's own arrays are taken to be there already, and nothing prepared.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness.dijkstra import predecessor_arrays
from hopwave.engines.cpu.betweenness.dijkstra import vertex_arrays as betweenness_arrays
from hopwave.engines.cpu.betweenness.edges import AT_ONCE, kept_arrays
from hopwave.engines.cpu.betweenness.run import Accumulation
from hopwave.engines.cpu.betweenness.state import scores_array, worker_arrays
from hopwave.engines.cpu.betweenness.weighted import WeightedAccumulation
from hopwave.engines.cpu.betweenness.wide_levels import wide_arrays
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.many import run as hops
from hopwave.engines.cpu.many import weighted as lengths
from hopwave.engines.cpu.many.values import value_arrays
from hopwave.engines.cpu.many.waiting import waiting_arrays
from hopwave.engines.cpu.path_counts import LARGEST
from hopwave.engines.cpu.search.state import workspace_arrays
from hopwave.engines.cpu.shortest_paths.bins import pool_arrays
from hopwave.engines.cpu.views import ASKED_FOR, WORTH_ONE, paged, resident
from hopwave.engines.ledger import Ask, Ledger, Shape, total
from hopwave.graph.csr import COMPILED_FROM, COMPILED_FROM_IF_LOADED, by_scipy
from hopwave.system import parts

# Shares of arrays that are filled, measured.
ENTRIES_AT_ONCE, ENTRIES_ON_MESHES = 1.0, 0.05  # entries per vertex, where a search uses entries again, if not known
BLOCKS_FILLED = 0.5  # of the bins that Δ-stepping begins with; on meshes, hardly any
PUSHED_FROM_A_HUB = 0.25  # of the arcs to the next level, in a graph with hubs: the others are pulled
SORTED_ARCS = 0.5  # of the room for them; on meshes, none
# Bytes per vertex, measured.
EXTENDED = 44  # of a worker whose path counts along weights have exponents of their own (Numba's arrays)
# Bytes per arc.
SORTED_BY_SCIPY, SORTED_BY_NUMPY, TURNED = (15, 6), (37, 44), 5  # measured; sorted: undirected, directed
TRANSPOSED_BY_SCIPY, WITH_WEIGHTS = 10, 32  # two arrays of values, or of their places; two of heads
BOTH_WAYS, SCALED = 20, 8  # to sort the reverse of each arc; to scale the sums

LENGTHS_AS_HOPS = 13  # bytes per entry: whether it is finite, what is put there, the hops
GIVEN_VALUES = 9  # bytes per vertex and column: the number, and whether there is one
TABLES = ("bfs_many", "sssp_many", "distance_table")  # what returns a distance for every source and vertex


def footprint(shape: Shape, ask: Ask) -> Ledger:
    """The arrays of one question on the CPU."""
    run = Ledger()
    QUESTIONS[ask.what](run, shape, ask)
    return run


# ---------------------------------------------------------------- the graph (engines/cpu/graph.py, csr_compiled.py)


def prepare(run: Ledger, shape: Shape, name: str = "prepared", weighted: bool = False) -> None:
    """Degrees, what is not visited yet, bitmaps; offsets in huge pages, unless along weights; arcs by head."""
    n, offset = shape.n, shape.offset
    copied = paged(offset * (n + 1)) if WORTH_ONE <= offset * (n + 1) < ASKED_FOR and not weighted else 0
    if shape.directed and not shape.transposed and name == "prepared":
        transpose(run, shape, weighted)
        run.take("in-degrees", offset * n)
        copied *= 2
    run.take(name, offset * n + 4 * n + n // 4)
    run.passing("degrees, widened", 16 * n)
    run.take("offsets in huge pages", copied)


def irregular(shape: Shape) -> bool:
    """The same decision as CpuGraph.irregular."""
    return shape.greatest > policy.IRREGULAR * shape.mean


def flat(shape: Shape) -> bool:
    """The same decision as CpuGraph.flat: betweenness never pulls."""
    return not irregular(shape) and shape.m <= policy.FLAT_DEGREE * shape.n


def transpose(run: Ledger, shape: Shape, weighted: bool = False) -> None:
    """csr.transposed; weights go with their arcs."""
    weight = 8 if weighted else 0
    if shape.m < COMPILED_FROM:
        run.passing("SciPy's transpose", (WITH_WEIGHTS if weighted else TRANSPOSED_BY_SCIPY) * shape.m + 8 * shape.n)
        run.take("arcs by head", shape.rows + weight * shape.m)
        return
    run.take("row of each arc", 4 * shape.m)
    sort_rows(run, "arcs by head", shape.n, shape.m, shape.offset, weight)
    run.drop("row of each arc")


def sort_rows(run: Ledger, name: str, n: int, arcs: int, offset: int, weight: int = 0) -> None:
    """csr_compiled.sorted_rows: 64-bit keys, over which the rows are written."""
    run.take("keys", (8 + weight) * arcs)
    run.take("degrees of rows", 16 * n)
    run.take(name, offset * (n + 1))
    run.drop("keys", "degrees of rows")
    run.take(name, (4 + weight) * arcs)


# ---------------------------------------------------------------- searches


def search(run: Ledger, shape: Shape, ask: Ask) -> None:
    """bfs, in the shared loop."""
    n = shape.n
    prepare(run, shape)
    threads = max(1, min(thread_count(ask.threads), n // policy.VERTICES_PER_THREAD))
    run.take("queue and bitmaps", resident(workspace_arrays(n, threads), segments=shape.depth / max(1, n)))
    run.take("distances", paged(4 * n))
    run.take("predecessors", paged(4 * n))  # the search needs them, whether they are wanted or not
    if ask.path_counts:
        run.take("path counts", 8 * n)
        if counts_outgrow_float64(shape):
            run.take("mantissas and exponents", 32 * n)


def counts_outgrow_float64(shape: Shape, weighted: bool = False) -> bool:
    """Whether path counts pass 2^LARGEST. Without weights they grow by about half the mean degree in every level."""
    if weighted:
        return shape.path_bits > LARGEST
    return shape.depth * math.log2(max(1.0, shape.mean / 2)) > LARGEST


def components(run: Ledger, shape: Shape, ask: Ask) -> None:
    """Weak components by hooking."""
    run.take("labels, twice", 2 * paged(4 * shape.n))
    run.passing("parents", paged(4 * shape.n))
    run.take("sizes of components", 8 * shape.n)


# ---------------------------------------------------------------- many sources


def sweep(run: Ledger, shape: Shape, ask: Ask) -> None:
    """bfs_many and sums of distances."""
    n, m, k, keep = shape.n, shape.m, ask.sources, "rows" if ask.what in TABLES else "sums"
    if ask.weighted:
        sweep_weighted(run, shape, ask)
        return
    prepare(run, shape)
    if not shape.directed:
        run.take("labels", paged(4 * n))
    if ask.together or keep == "rows":  # else the search that finds the depth leaves its arrays to a worker
        probe(run, shape, ask)
    workers = max(1, min(thread_count(ask.threads), k // policy.SOURCES_PER_WORKER if ask.together else k))
    alone, arrays = k * (n + m) <= policy.SMALL_JOB, hops.worker_arrays(n, keep, ask.together)
    shared = ask.together and not alone and policy.side_by_side(shape.depth, k, thread_count(ask.threads))
    if shared:
        arrays = hops.side_by_side.arrays(n, keep)
    if alone or shared:
        workers = 1
    if ask.together and not shared and irregular(shape) and k >= policy.SOURCES_BEFORE_ARRANGING:
        run.passing("arranging by degree", 12 * m)
        run.take("rows by degree", shape.rows + 4 * n)
    if ask.together and k > policy.batch_width(k, workers, together=True):
        run.take("order of neighbourhoods", 8 * n)
    run.take("table of distances", hops.table_array(n, k, keep).nbytes)
    run.take("workers", workers * resident(arrays, histogram=shape.depth / (n + 1)))
    if keep == "sums":
        run.take("histogram", 8 * n)
    if ask.what == "sssp_many":  # hops become lengths (api/many.py)
        if run.held["workers"] > policy.BYTES_LEFT:
            run.drop("workers")
        run.passing("distances as lengths", 9 * n * k)


def probe(run: Ledger, shape: Shape, ask: Ask) -> None:
    """What the search that finds the depth leaves to later ones (algorithms/many_sources.probed_depth)."""
    arrays = hops.worker_arrays(shape.n, "sums", together=False)
    left = {name: array for name, array in arrays.items() if name not in hops.SUMS}
    run.take("the search that finds the depth", resident(left) if ask.probed else 0)


def sweep_weighted(run: Ledger, shape: Shape, ask: Ask) -> None:
    """One search by Dijkstra's algorithm per source and worker."""
    n, k, table, whole = shape.n, ask.sources, ask.what in TABLES, ask.targets is None
    prepare(run, shape, weighted=True)
    run.take("sums of sources", total(lengths.source_arrays(k)))
    run.take("table of distances", lengths.table_array(n if ask.targets is None else ask.targets, k, table).nbytes)
    if ask.targets is not None:
        components(run, shape, ask)
        run.drop("labels, twice", "sizes of components")
        run.take("labels", paged(4 * n))
        run.take("targets", total(lengths.aim_arrays(n, k, ask.targets)))
    if policy.short_arcs_first(n, shape.m, shape.directed, k):
        run.take("short arcs", shape.offset * (n + 1) + int(12 * (shape.short if ask.weighted else 0) * shape.m))
    own = resident(lengths.vertex_arrays(n, table and whole, ask.values * ask.limits), order=shape.reached)
    run.take("workers", max(1, min(thread_count(ask.threads), k)) * (own + waiting(shape, at_once(shape))))


def table(run: Ledger, shape: Shape, ask: Ask) -> None:
    """distance_table: along weights in one piece; hops in blocks of rows, of all vertices or by lengths of 1."""
    if ask.weighted:
        sweep_weighted(run, shape, ask)
        return
    rows, width = min(ask.sources, ask.at_once), shape.n if ask.targets is None else ask.targets
    run.take("the whole table", 4 * ask.sources * width)
    if ask.targets is None or ask.together:
        sweep(run, shape, replace(ask, sources=rows, targets=None))
        run.drop("workers")
        run.passing("columns of targets", 4 * rows * width)
        return
    prepare(run, shape, "prepared to find the depth")
    probe(run, shape, ask)
    run.take("lengths", 8 * shape.m)
    sweep_weighted(run, shape, replace(ask, sources=rows))
    run.drop("workers")
    run.passing("lengths as hops", LENGTHS_AS_HOPS * rows * width)


def values(run: Ledger, shape: Shape, ask: Ask) -> None:
    """accessibility: one search per source, which adds up columns of values."""
    n, k, c = shape.n, ask.sources, ask.values
    if not ask.weighted:
        run.take("lengths", 8 * shape.m)
    run.take("values as they came", GIVEN_VALUES * n * (c - 1))
    run.take("values", 8 * n * c + total(value_arrays(n, k, c, ask.limits)))
    sweep_weighted(run, shape, ask)
    run.drop("workers")
    run.passing("sums and counts", 16 * k * (c - 1) * ask.limits)


def waiting(shape: Shape, entries: float) -> int:
    """What waits in a search along weights, with that many entries per vertex. The heap stays small."""
    share = entries * shape.n / max(1, shape.m)
    return resident(waiting_arrays(shape.m), vertex=share, key=share, following=share, keys=0, items=0)


def at_once(shape: Shape) -> float:
    """Entries per vertex that wait at a time, in searches that use entries again."""
    return shape.waiting or (ENTRIES_ON_MESHES if flat(shape) else ENTRIES_AT_ONCE)


# ---------------------------------------------------------------- betweenness


def betweenness(run: Ledger, shape: Shape, ask: Ask) -> None:
    """Of vertices or edges: all threads on one source, or one source per worker."""
    n, m, k = shape.n, shape.m, ask.sources
    threads, limited = thread_count(ask.threads), ask.memory_limit is not None
    prepare(run, shape, weighted=ask.weighted)
    few = policy.few_sources(n, irregular(shape), flat(shape), k, threads)
    few = few and policy.adds_along_rows(n, m, flat(shape), k)
    if not ask.weighted and not ask.edges and (ask.plan == "hopwave-wide" or few):
        wide(run, shape, ask, threads, limited)
        return
    width = m if ask.edges else n
    renumbered = irregular(shape) and n > policy.CACHED_VERTICES and k >= policy.SOURCES_BEFORE_RENUMBERING
    if renumbered and not ask.edges and not ask.weighted and not limited:
        run.take("order by degree", 12 * n)
        run.passing("sorting", 16 * n)
        run.take("renumbered rows", shape.rows * (2 if shape.directed else 1))
        prepare(run, shape, "renumbered")
        run.take("sums in the old order", 8 * n)
    flows = ask.edges and not ask.weighted and not flat(shape)
    if flows and not limited:
        run.take("sums", 8 * width)
        run.take("workers", max(1, min(threads, k)) * (worker_bytes(shape, ask) + 8 * n))
        used = min(1.0, k / AT_ONCE)
        filled_to = {"paths": used, "shares": used, "depth": used, "exponent": used * counts_outgrow_float64(shape)}
        run.take("scores of blocks", resident(kept_arrays(n), **filled_to))
        edge_scores(run, shape, ask)
        return
    blocks = -(-k // policy.block_size(k, flows=flows))
    workers = max(1, min(threads, blocks))
    if ask.memory_limit is not None:
        kind = WeightedAccumulation if ask.weighted else Accumulation
        most = kind.bytes_per_worker(n, m, width, ask.edges)
        workers = max(1, min(workers, ask.memory_limit // max(1, most)))
    run.take("sums", 8 * width)
    run.take("scores of blocks", scores_array(width, workers, blocks).nbytes)
    run.take("workers", workers * worker_bytes(shape, ask))
    if ask.edges:
        edge_scores(run, shape, ask)


def wide(run: Ledger, shape: Shape, ask: Ask, threads: int, limited: bool) -> None:
    """Threads that share a source (betweenness/wide.py)."""
    n = shape.n
    together = ask.plan == "hopwave-wide" or limited
    teams = 1 if together else policy.sources_at_once(flat(shape), ask.sources, threads)
    sorted_arcs = 0 if flat(shape) else SORTED_ARCS
    shares = {"getters": sorted_arcs, "values": sorted_arcs, "runs": sorted_arcs, "levels": shape.depth / max(1, n)}
    run.take("teams", teams * resident(wide_arrays(n, shape.m, teams, threads // teams, limited), **shares))
    run.take("sums", 8 * n if limited else paged(8 * n))
    run.take("scores", 8 * n)
    if counts_outgrow_float64(shape):
        run.take("sums of sources counted again", paged(8 * n))


def edge_scores(run: Ledger, shape: Shape, ask: Ask) -> None:
    """Sums of arcs as scores of edges. Meanwhile the graph keeps workers' arrays for the next run, unless they are
    large (betweenness/run.Accumulation._leave_states)."""
    for name in ("workers", "scores of blocks"):
        if ask.weighted or ask.memory_limit is not None or run.held[name] > policy.BYTES_LEFT:
            run.drop(name)
    if shape.directed:
        run.passing("edges from arcs", SCALED * shape.m * (not ask.named))  # else they are overwritten
    elif shape.m < COMPILED_FROM_IF_LOADED:
        run.passing("edges from arcs", BOTH_WAYS * shape.m)
    else:  # arcs_compiled.add_reverse_values: places of all cores
        run.passing("edges from arcs", (parts.thread_count() + 2) * shape.offset * shape.n)


def worker_bytes(shape: Shape, ask: Ask) -> int:
    """One worker's own arrays, beside scores."""
    n, m = shape.n, shape.m
    if ask.weighted:
        ties = dict.fromkeys(("tie_tail", "tie_arc", "following"), shape.ties)
        before = resident(predecessor_arrays(n, m, ask.edges), **ties)
        extended = EXTENDED * n if counts_outgrow_float64(shape, weighted=True) else 0
        return resident(betweenness_arrays(n)) + before + waiting(shape, shape.entries) + extended
    stored = PUSHED_FROM_A_HUB if irregular(shape) and ask.sources == 1 else 1.0
    shares = {"successors": stored * shape.tree, "levels": shape.depth / max(1, n)}
    if flat(shape):
        shares["gathered"] = 0  # no level is pulled
    return resident(worker_arrays(n, m), **shares)


# ---------------------------------------------------------------- shortest paths, PageRank


def shortest_paths(run: Ledger, shape: Shape, ask: Ask) -> None:
    """sssp: one core by buckets, or all by Δ-stepping."""
    n, m = shape.n, shape.m
    workers = min(thread_count(ask.threads), policy.path_threads(m))
    run.take("distances", 8 * n)
    if ask.weighted and policy.one_core_is_faster(m / max(1, n), workers):
        run.take("search", waiting(shape, at_once(shape)))
    else:
        if ask.whole_lengths:
            run.take("lengths and distances of 32 bits", 4 * (m * ask.weighted + n))
        if not flat(shape):
            pool = pool_arrays(
                policy.first_blocks(n, ask.sources, workers), np.uint32 if ask.whole_lengths else np.float64
            )
            run.take("bins", resident(pool, vertex=BLOCKS_FILLED, distance=BLOCKS_FILLED))
    if ask.predecessors:  # computed when they are first read
        run.passing("looking for predecessors", 17 * m)
        run.take("predecessors", 4 * n)


def power(run: Ledger, shape: Shape, ask: Ask) -> None:
    """PageRank by rounds (linalg/power.py)."""
    n, m, values = shape.n, shape.m, 8 * shape.m * ask.weighted
    if shape.directed and not shape.transposed:
        run.take("arcs by head", shape.rows + values)
        run.passing("turning the matrix", TURNED * m)
    run.take("sums of weights", 9 * n)
    run.take("factors and ranks", paged(16 * n) + paged(8 * n) + 8 * n * (shape.directed or ask.weighted))
    if irregular(shape) and n > policy.CACHED_VERTICES:
        run.take("arcs in the order of degrees", shape.offset * (n + 1) + paged(4 * m) + paged(values) + 4 * n)
        run.passing("sorting by degree", 24 * n)


# ---------------------------------------------------------------- building


def building(run: Ledger, shape: Shape, ask: Ask) -> None:
    """Graph.from_edges, beside the edges themselves; how many repeats there are is not known, none is assumed."""
    arcs = shape.m * (1 if shape.directed else 2)
    if shape.m < COMPILED_FROM_IF_LOADED and not ask.weighted:
        run.passing("sorting", (SORTED_BY_SCIPY if by_scipy(shape.m) else SORTED_BY_NUMPY)[shape.directed] * arcs)
        run.take("rows", shape.offset * (shape.n + 1) + 4 * arcs)
        return
    sort_rows(run, "rows", shape.n, arcs, shape.offset, 8 if ask.weighted else 0)


QUESTIONS = {
    "bfs": search,
    "bfs_many": sweep,
    "sssp_many": sweep,
    "closeness_centrality": sweep,
    "harmonic_centrality": sweep,
    "betweenness_centrality": betweenness,
    "edge_betweenness_centrality": betweenness,
    "distance_table": table,
    "accessibility": values,
    "sssp": shortest_paths,
    "pagerank": power,
    "connected_components": components,
    "weakly_connected_components": components,
    "from_edges": building,
}
