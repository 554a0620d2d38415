"""What the CUDA engine holds in the GPU's memory for each kind of question, beside CuPy's and the driver's own memory.

The arrays are those that the engine allocates (search_arrays.py, betweenness/regimes.py). The temporary memory of
Thrust's sorts and CuPy's checks is given as bytes per item. The graph is assumed to be on the host only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.engines.cuda import policy, search_arrays
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.cuda.graph_footprint import arranged, columns, packed_bits, sort_rows, upload
from hopwave.engines.ledger import Ask, Ledger, Shape, total

LIST_CHUNK, CUTTING = 24, 20  # bytes per chunk (betweenness/lists.py), and per chunk while lists are cut
SWEEP_BLOCKS = 4  # blocks of search_many per multiprocessor, limited by registers
THREADS = 256  # per block
LOOKING = 12  # bytes per arc while values are checked and added up; measured
TABLES = ("bfs_many", "sssp_many", "distance_table")  # questions that return a distance for every source and vertex


def footprint(shape: Shape, ask: Ask, machine: regimes.Machine | None = None, free: int | None = None) -> Ledger:
    """The arrays of one question on a GPU, by default an H200 with nothing else on it."""
    machine = machine or regimes.Machine()
    free = machine.memory if free is None else free
    run = Ledger()
    QUESTIONS[ask.what](run, shape, ask, machine, free)
    return run


# ---------------------------------------------------------------- rows that do not fit


def in_fewer_bits(shape: Shape, ask: Ask, free: int, offsets: npt.NDArray[Any]) -> tuple[Shape, int | None] | None:
    """How a graph whose plain rows do not fit is kept: its shape, and how many bytes of its rows fit on the GPU, or
    None for all; None if not even its vertices fit.
    """
    shape = replace(shape, packed=packed_bits(np.diff(offsets)))
    run = footprint(shape, ask, free=free)
    rows = run.at_peak.get("compressed rows", 0)
    if run.peak <= free:
        return shape, None
    return (shape, free - (run.peak - rows)) if run.peak - rows <= free else None


# ---------------------------------------------------------------- searches (search/workspace.py)


def workspace(run: Ledger, shape: Shape) -> None:
    """The buffers that searches in one launch share."""
    if shape.directed:
        upload(run, shape)
    arranged(run, shape)
    if "search buffers" in run.held:
        return
    buffers = total(search_arrays.level_arrays(shape.n, shape.m, policy.level_split(shape.m)))
    run.take(
        "search buffers", total(search_arrays.prepared_arrays(shape.n, shape.offset == 8 or shape.packed > 0)) + buffers
    )
    if shape.packed:
        run.take("answers by number", 8 * shape.n)


def search(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """bfs by plan hopwave-dense."""
    workspace(run, shape)
    run.take("distances", 4 * shape.n)
    if ask.predecessors:
        run.take("predecessors", 4 * shape.n)
    if ask.path_counts:
        run.take("path counts", 8 * shape.n)
        run.take("vertices by level", 4 * shape.n)


def probe(run: Ledger, shape: Shape) -> None:
    """The search that finds how deep a graph is; its buffers stay."""
    workspace(run, shape)
    run.passing("probe", 8 * shape.n)


def components(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """Weak components: trees, then labels."""
    if shape.directed:
        upload(run, shape)
    arranged(run, shape)
    run.take("trees", 4 * shape.n)
    most = min(shape.n, shape.m // (policy.COMPONENTS.long_row + 1))
    run.take("long rows", 16 * most)
    run.take("labels", 4 * shape.n)
    run.drop("trees", "labels", "long rows")


# ---------------------------------------------------------------- many sources (many.py, many_weighted.py)


def sweep(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """bfs_many and sums of distances."""
    n, k = shape.n, ask.sources
    if ask.weighted:
        sweep_weighted(run, shape, ask, machine, free)
        return
    if not shape.directed:
        components(run, shape, ask, machine, free)
    else:
        upload(run, shape)
        arranged(run, shape)
    keep = "rows" if ask.what in TABLES else "sums"
    if policy.one_block_each(n, shape.m, shape.depth, machine.shared):
        blocks, _ = policy.each_grid(n, k, machine.multiprocessors, machine.threads, machine.shared, free)
        run.take("searches", 4 * k + total(search_arrays.each_arrays(n, k, keep, blocks)))
        if keep == "rows":
            run.take("table of distances", 4 * n * min(k, max(1, policy.SWEEP.table_bytes // (4 * n))))
        return
    words = policy.words_for(k, n, free)
    groups = max(1, -(-k // (policy.WORD * words)))
    most = SWEEP_BLOCKS * machine.multiprocessors
    subgrids, _ = policy.subgrids_for(n, words, groups, shape.depth, most, free, THREADS)
    run.take("long rows", 8 * search_arrays.most_long_rows(n, shape.m))
    run.take("sums", total(search_arrays.sum_arrays(n, k, keep)))
    run.take("searches", total(search_arrays.sweep_arrays(n, shape.m, subgrids, words)))
    if keep == "rows":
        width = policy.WORD * words
        at_once = max(1, policy.SWEEP.table_bytes // (4 * max(1, n)) // width) * width
        run.take("table of distances", 4 * n * min(k, at_once))


def arcs_with_lengths(run: Ledger, shape: Shape) -> None:
    """along_weights.arcs_of."""
    upload(run, shape)
    run.take("lengths", 8 * shape.m)
    if shape.directed:
        columns(run, shape)
        run.take("order by head", 8 * shape.m)
        run.passing("sorting", 24 * shape.m)
        run.take("row of each arc", 4 * shape.m)
        run.take("arcs by head", 12 * shape.m)
        run.drop("order by head", "row of each arc")


def sweep_weighted(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """Searches along weights: one block or team each."""
    n, k = shape.n, ask.sources
    if ask.what in TABLES and policy.one_by_one(n, shape.m):
        together = policy.ALONG_WEIGHTS.together if k >= policy.ALONG_WEIGHTS.together else 1
        shortest_paths(run, shape, replace(ask, predecessors=False), machine, free, together)
        run.take("table of distances", 8 * n * min(k, max(1, policy.ALONG_WEIGHTS.table_bytes // (8 * n))))
        return
    arcs_with_lengths(run, shape)
    probe(run, shape)
    block = regimes.block_shape(n, shape.m, max(1, k), shape.depth, replace(machine, shared=0, threads=1024))
    table = ask.what in TABLES
    state, row = total(search_arrays.length_arrays(n, 1, not table)), 8 * n if table else 0
    searches = min(block.blocks, k, max(1, (free - sum(run.held.values())) // (state + row)))
    run.take("searches", total(search_arrays.length_arrays(n, searches, not table)))
    if table:
        most = min(policy.ALONG_WEIGHTS.rounds * block.blocks, policy.ALONG_WEIGHTS.table_bytes // max(1, row))
        run.take("table of distances", row * max(1, min(k, max(searches, most))))


def table(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """distance_table: whole rows, or the columns of the targets by searches along weights, or lengths of 1."""
    if not ask.weighted:
        ask = replace(ask, sources=min(ask.sources, ask.at_once))
    if ask.targets is None or (ask.together and not ask.weighted):
        sweep(run, shape, ask, machine, free)
        return
    chosen(run, shape, ask, machine, free, 8 * ask.targets, 4 * ask.targets)


def values(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """accessibility."""
    given = 8 * (ask.values * shape.n + ask.limits)
    chosen(run, shape, ask, machine, free, 8 * ask.values * ask.limits, given)


def chosen(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int, row: int, given: int) -> None:
    """Searches of which a row of few numbers is kept; while one piece is copied, the next is searched."""
    n, k = shape.n, max(1, ask.sources)
    arcs_with_lengths(run, shape)
    run.take("targets or values", given)
    probe(run, shape)
    block = regimes.block_shape(n, shape.m, k, shape.depth, replace(machine, shared=0, threads=1024))
    budget, state = free - sum(run.held.values()), total(search_arrays.length_arrays(n, 1, True))
    searches, at_once = policy.table_fit(k, block.blocks, state, max(1, row), budget)
    run.take("pieces", row * at_once * (2 if k > at_once else 1))
    run.take("searches", total(search_arrays.length_arrays(n, searches, True)))


# ---------------------------------------------------------------- betweenness (betweenness/run.py and its regimes)


def betweenness(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """Betweenness of vertices or edges, in the regime that would be chosen."""
    n, m, k = shape.n, shape.m, ask.sources
    budget = free if ask.memory_limit is None else ask.memory_limit
    upload(run, shape)
    if shape.directed:
        columns(run, shape)
    regime = ask.plan.removeprefix("hopwave-") if ask.plan else regimes.choose(n, m, k, shape.depth, budget)[0]
    if shape.packed and regime == "batch":
        regime = "wide"
    probe(run, shape)
    if ask.weighted:
        arcs_with_lengths(run, shape)
    elif regime == "wide":
        run.take("levels, path counts, dependencies", regimes.wide_bytes(n, m, shape.directed))
        run.take("sums", 8 * (m if ask.edges else n))
        return
    elif regime == "batch":
        batches(run, shape, ask, machine, budget)
        return
    blocks(run, shape, ask, machine, budget)


def batches(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, budget: int) -> None:
    """betweenness/batch.py."""
    n, m, k = shape.n, shape.m, ask.sources
    lanes = regimes.lanes_for(k)
    at_once = regimes.batches_at_once(n, m, k, lanes, machine, ask.edges)
    levels = min(shape.depth, regimes.MAX_BATCH_LEVELS) + 2
    lanes, at_once = regimes.batch_fit(n, m, lanes, at_once, levels, budget)
    at_once = min(at_once, -(-k // lanes))
    lists = 2 if shape.directed else 1
    chunks = n + m // regimes.CHUNK_ARCS
    for number in range(lists):
        run.passing("cutting lists", CUTTING * chunks)
        run.take(f"lists {number}", LIST_CHUNK * chunks)
    width = m if ask.edges else n
    run.take("sums", 8 * width)
    run.take("batches", at_once * regimes.batch_bytes(n, m, lanes, levels))
    run.take("parts", regimes.part_array(n, at_once * lanes, machine.multiprocessors).nbytes)


def blocks(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, budget: int) -> None:
    """betweenness/block.py, weighted.py: a row of scores for every source of a launch, and each block's own arrays."""
    n, m, k, width = shape.n, shape.m, ask.sources, shape.m if ask.edges else shape.n
    here = replace(machine, threads=1024, shared=0 if ask.weighted else machine.shared)
    form = regimes.block_shape(n, m, k, shape.depth, here)
    state = regimes.weighted_state(n, m) if ask.weighted else regimes.block_state(n, form.shared)
    size = regimes.block_size(k, width, form, machine)
    at_once, rows = regimes.block_fit(state, width, form, size, budget)
    run.take("sums", 8 * width * (2 if k > size else 1))
    run.take("scores of each source", min(rows, size, k) * (regimes.FLOAT * width + regimes.ROW_OVERHEAD))
    run.take("blocks", min(at_once, k) * state)


# ---------------------------------------------------------------- shortest paths, PageRank


def shortest_paths(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int, together: int = 1) -> None:
    """sssp by plan near-far (shortest_paths/search.py); together: searches at the same time."""
    n, m = shape.n, shape.m
    upload(run, shape)
    whole = ask.whole_lengths or not ask.weighted
    if ask.weighted:
        run.take("values", 8 * m)
        run.passing("looking at values", LOOKING * m)
        if whole:
            run.take("lengths", 4 * m)
    arrays = search_arrays.path_arrays(n, m, whole, policy.path_split(m / max(1, n)), search_arrays.path_capacity(n))
    run.take("queues", together * total(arrays))
    run.take("distances", 8 * n)
    if ask.predecessors:
        run.take("predecessors", 16 * n)


def power(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """PageRank in one launch (linalg/power.py)."""
    n, m = shape.n, shape.m
    value = 8 if ask.weighted else 0
    upload(run, shape)
    run.take("values", value * m)
    if ask.weighted:
        run.passing("looking at values", LOOKING * m)
    if shape.directed and not shape.packed:
        run.take("row of each arc", 4 * m)
        sort_rows(run, "columns", n, m, shape.offset, value)
        run.drop("row of each arc")
    run.take("out-weights and their inverses", (17 if ask.weighted else 8) * n)
    if shape.packed:
        run.passing("keys of rows", 8 * n)
    elif shape.greatest > policy.POWER.short_row:
        run.take("order of rows", 8 * n)
        run.take("new numbers of tails and heads", 8 * m)
        sort_rows(run, "sorted matrix", n, m, shape.offset, value)
        run.drop("new numbers of tails and heads")
    elif n >= policy.POWER.order_vertices and shape.near < policy.POWER.near_share:  # a mesh in random order
        arrays = search_arrays.path_arrays(n, m, True, policy.path_split(m / max(1, n)), search_arrays.path_capacity(n))
        run.passing("a search", total(arrays) + 8 * n)
        run.take("order of rows", 12 * n)
        run.passing("sorting", 16 * n)
        run.take("moved matrix", shape.rows)
        if value:
            run.take("moved values", 8 * m)
            run.passing("places of arcs", 8 * m)
    run.take("ranks", 24 * n)


# ---------------------------------------------------------------- building


def building(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """Graph.from_edges, beside the edges themselves; edges are assumed not to repeat."""
    arcs = shape.m * (1 if shape.directed else 2)
    sort_rows(run, "rows", shape.n, arcs, shape.offset, 8 if ask.weighted else 0)


QUESTIONS = {
    "bfs": search, "bfs_many": sweep, "sssp_many": sweep, "closeness_centrality": sweep, "harmonic_centrality": sweep,
    "betweenness_centrality": betweenness, "edge_betweenness_centrality": betweenness, "distance_table": table,
    "accessibility": values, "sssp": shortest_paths, "pagerank": power, "connected_components": components,
    "weakly_connected_components": components, "from_edges": building,
}  # fmt: skip
