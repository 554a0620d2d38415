"""GPU memory (bytes) of each function, without the memory of CuPy and the driver."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.engines.cuda import policy
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.ledger import Ask, Parts, Shape

SWEEP_BLOCKS, THREADS = 4, 256  # blocks of search_many per multiprocessor, limited by registers; threads per block
TABLES = ("bfs_many", "sssp_many", "distance_table")  # functions that return a distance for every source and vertex


def footprint(shape: Shape, ask: Ask, machine: regimes.Machine | None = None, free: int | None = None) -> Parts:
    """The parts of one function's peak memory on a GPU, by default an otherwise empty H200."""
    machine = machine or regimes.Machine()
    free = machine.memory if free is None else free
    if ask.what == "from_edges":
        moments = [_sorted(shape.n, shape.m * (1 if shape.directed else 2), ask.weighted)]
    elif ask.what == "pagerank":
        moments = _power(shape, ask)
    elif ask.what == "sssp":
        moments = _shortest_paths(shape, ask, 1)
    elif ask.what.endswith("betweenness_centrality"):
        moments = [_first_search(shape), *_betweenness(shape, ask, machine, free)]
    elif ask.what == "bfs" or ask.what.endswith("components"):
        moments = [_first_search(shape), _searching(shape)]
    else:
        moments = _many(shape, ask, machine, free)
    return max(moments, key=lambda parts: sum(parts.values()))


# ---------------------------------------------------------------- the graph


def _rows(shape: Shape, sides: int | None = None) -> Parts:
    """Offsets and neighbours, `sides` times: a directed graph also stores arcs by head; or packed rows."""
    sides = sides or (2 if shape.directed else 1)
    if shape.packed:
        packed = int(sides * shape.m * shape.packed / 8)
        return {"compressed rows": packed, "numbers and offsets": 8 * shape.n + 8 * sides * (shape.n + 1)}
    return {"rows": sides * shape.rows}


def _first_search(shape: Shape) -> Parts:
    """Memory while the neighbours of a graph are sorted by degree, or packed, before its first search."""
    if shape.packed:
        sides = 2 if shape.directed else 1
        return _rows(shape) | {"packing": policy.PACKING * min(shape.m, policy.PACKED_ARCS[0]) + 4 * sides * shape.n}
    sorting = 16 * min(shape.m, policy.SORTED_ARCS) + 8 * shape.n
    return _rows(shape) | {"rows by degree": 4 * shape.m, "sorting": sorting}


def _searching(shape: Shape) -> Parts:
    by_degree = {} if shape.packed else {"rows by degree": 4 * shape.m}
    return _rows(shape) | by_degree | {"search buffers": int((27 if shape.packed else 17) * shape.n + 0.3 * shape.m)}


def _sorted(n: int, arcs: int, weighted: bool) -> Parts:
    """build.rows_of: rows that are sorted part by part."""
    part = min(arcs, max(policy.LEAST_ARCS, -(-arcs // policy.PARTS)))
    keys = part * (policy.SORTING_WEIGHTED if weighted else policy.SORTING)
    return {"rows": 4 * n + (12 if weighted else 4) * arcs, "sorting": 4 * n + keys}


def packed_bits(lengths: npt.NDArray[Any]) -> float:
    """Approximate bits per arc in packed rows (compressed.py), from the lengths of all rows."""
    lengths = lengths[lengths > 0].astype(np.float64)
    most = np.ceil(np.log2(max(2, len(lengths))))
    spans = np.minimum(most, np.log2(32 * max(1, len(lengths)) / lengths))
    return float(2 + (lengths * spans).sum() / max(1.0, lengths.sum()))


def in_fewer_bits(shape: Shape, ask: Ask, free: int, offsets: npt.NDArray[Any]) -> tuple[Shape, int | None] | None:
    """(shape, bytes of rows on the GPU or None for all) of a compressed graph; None if its vertices do not fit."""
    shape = replace(shape, packed=packed_bits(np.diff(offsets)))
    parts = footprint(shape, ask, free=free)
    besides = sum(parts.values()) - parts["compressed rows"]
    if besides + parts["compressed rows"] <= free:
        return shape, None
    return (shape, free - besides) if besides <= free else None


# ---------------------------------------------------------------- many sources


def _many(shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> list[Parts]:
    table, chosen = ask.what in TABLES, ask.targets is not None or ask.what == "accessibility"
    if ask.what == "distance_table" and not ask.weighted:
        ask = replace(ask, sources=min(ask.sources, ask.at_once))
    if not ask.weighted and (not chosen or (ask.together and table)):
        return [_first_search(shape), _sweep(shape, ask, machine, free)]
    if table and not chosen and policy.one_by_one(shape.n, shape.m):
        together = policy.ALONG_WEIGHTS.together if ask.sources >= policy.ALONG_WEIGHTS.together else 1
        kept = min(8 * shape.n * ask.sources, max(8 * shape.n, policy.ALONG_WEIGHTS.table_bytes))
        return [parts | {"table of distances": kept} for parts in _shortest_paths(shape, ask, together)]
    before, held = _along_weights(shape)
    n, k, row = shape.n, max(1, ask.sources), 8 * shape.n if table else 0
    block = regimes.block_shape(n, shape.m, k, shape.depth, replace(machine, shared=0, threads=1024))
    budget = free - sum(held.values())
    if chosen:
        row = 8 * (ask.values * ask.limits if ask.targets is None else ask.targets)
        held["targets or values"] = 8 * ask.values * n if ask.targets is None else 4 * ask.targets
        searches, at_once = policy.table_fit(k, block.blocks, 32 * n, max(1, row), budget)
        return [*before, held | {"pieces": row * at_once * (2 if k > at_once else 1), "searches": 32 * n * searches}]
    each = 24 * n if table else 32 * n
    searches = min(block.blocks, k, max(1, budget // max(1, each + row)))
    most = min(policy.ALONG_WEIGHTS.rounds * block.blocks, policy.ALONG_WEIGHTS.table_bytes // max(1, row))
    kept = {"table of distances": row * max(1, min(k, max(searches, most)))} if table else {}
    return [*before, held | {"searches": searches * each} | kept]


def _sweep(shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> Parts:
    """Searches that count hops, with 64 sources per word of a vertex, or one block per source."""
    n, k, table = shape.n, ask.sources, ask.what in TABLES
    held, width = _rows(shape), 1
    if policy.one_block_each(n, shape.m, shape.depth, machine.shared):
        blocks, _ = policy.each_grid(n, k, machine.multiprocessors, machine.threads, machine.shared, free)
        held["searches"] = 8 * n * blocks
    else:
        words = policy.words_for(k, n, free)
        width = policy.WORD * words
        groups = max(1, -(-k // width))
        most = SWEEP_BLOCKS * machine.multiprocessors
        subgrids, _ = policy.subgrids_for(n, words, groups, shape.depth, most, free, THREADS)
        held["searches"] = (24 * words + 8) * n * subgrids
    rows = min(k, max(1, policy.SWEEP.table_bytes // (4 * max(1, n)) // width) * width)
    return held | ({"table of distances": 4 * n * rows} if table else {"sums": 8 * n})


def _along_weights(shape: Shape) -> tuple[list[Parts], Parts]:
    """The stages of building rows with lengths, for both directions of a directed graph, and the remaining arrays."""
    held = _searching(shape) | {"lengths": (20 if shape.directed else 8) * shape.m}
    lengths = {"lengths": 8 * shape.m}
    sorting = _rows(shape) | lengths | {"sorting": 32 * shape.m}
    return [_first_search(shape) | lengths, *([sorting] if shape.directed else [])], held


# ---------------------------------------------------------------- betweenness


def _betweenness(shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> list[Parts]:
    """Betweenness of vertices or edges, in the regime that the engine would choose."""
    n, m, k = shape.n, shape.m, ask.sources
    width, budget = m if ask.edges else n, free if ask.memory_limit is None else ask.memory_limit
    regime = ask.plan.removeprefix("hopwave-") if ask.plan else regimes.choose(n, m, k, shape.depth, budget)[0]
    if shape.packed and regime == "batch":
        regime = "wide"
    held = _searching(shape) | {"sums": 8 * width}
    if ask.weighted:
        before, held = _along_weights(shape)
        return [*before[1:], held | _blocks(shape, ask, width, machine, budget)]  # no search measures the depth first
    if regime == "wide":
        return [held | {"levels, path counts, dependencies": regimes.wide_bytes(n, m, shape.directed)}]
    if regime == "block":
        return [held | _blocks(shape, ask, width, machine, budget)]
    lanes, levels = regimes.lanes_for(k), min(shape.depth, regimes.MAX_BATCH_LEVELS) + 2
    at_once = regimes.batches_at_once(n, m, k, lanes, machine, ask.edges)
    lanes, at_once = regimes.batch_fit(n, m, lanes, at_once, levels, budget)
    batches = min(at_once, -(-k // lanes)) * regimes.batch_bytes(n, m, lanes, levels)
    return [held | {"batches": batches, "lists": (48 if shape.directed else 24) * (n + m // regimes.CHUNK_ARCS)}]


def _blocks(shape: Shape, ask: Ask, width: int, machine: regimes.Machine, budget: int) -> Parts:
    """A row of scores for every source of a launch, and each block's own arrays."""
    n, m, k = shape.n, shape.m, ask.sources
    here = replace(machine, threads=1024, shared=0 if ask.weighted else machine.shared)
    form = regimes.block_shape(n, m, k, shape.depth, here)
    state = regimes.weighted_state(n, m) if ask.weighted else regimes.block_state(n, form.shared)
    size = regimes.block_size(k, width, form, machine)
    at_once, rows = regimes.block_fit(state, width, form, size, budget)
    scores = min(rows, size, k) * (regimes.FLOAT * width + regimes.ROW_OVERHEAD)
    sums = 8 * width * (2 if k > size else 1)
    return {"sums": sums, "scores of each source": scores, "blocks": min(at_once, k) * state}


# ---------------------------------------------------------------- shortest paths, PageRank


def _shortest_paths(shape: Shape, ask: Ask, together: int) -> list[Parts]:
    held = _rows(shape, 1) | ({"values": 8 * shape.m} if ask.weighted else {})
    queues = int(together * ((100 if ask.weighted else 68) * shape.n + 0.6 * shape.m + (3 << 20)))
    found = held | {"queues": queues, "distances and predecessors": 24 * shape.n}
    return [found, held | {"checking values": 12 * shape.m}] if ask.weighted else [found]


def _power(shape: Shape, ask: Ask) -> list[Parts]:
    """PageRank in one launch; rows of hubs are sorted by degree, rows of a randomly numbered mesh by neighbourhood."""
    n, m, value = shape.n, shape.m, 8 if ask.weighted else 0
    held = _rows(shape) | {"values": value * m * (2 if shape.directed else 1), "ranks and out-weights": 32 * n}
    checking = _rows(shape, 1) | {"values": value * m, "checking values": 12 * m if value else 0}
    if shape.packed:
        return [_first_search(shape), held]
    if shape.greatest > policy.POWER.short_row:
        ordered = _sorted(n, m, ask.weighted)
        ordered = {"sorted matrix": ordered["rows"], "sorting": ordered["sorting"] + 8 * (n + m)}
        return [held | ordered, checking]
    if n >= policy.POWER.order_vertices and shape.near < policy.POWER.near_share:
        return [held | {"moved matrix": shape.rows + 12 * n + 2 * value * m}, held | {"a search": 75 * n}, checking]
    return [held, checking]
