"""What the CUDA engine holds in the GPU's memory, question by question, beside CuPy's and the driver's own.

The graph is taken to be on the host, and nothing of it on the GPU. Names are those of the engine's modules.
"""

from __future__ import annotations

from dataclasses import replace

from hopwave.engines.cuda import policy
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.ledger import Ask, Ledger, Shape

CHUNK = 16  # bytes of a piece of a long list (search/workspace.py)
BATCH_CHUNK = 24  # betweenness/lists.py
PATH_CHUNK = 24  # shortest_paths/search.py
SORTING, SORTING_WEIGHTED = 16, 44  # bytes per arc that is sorted (build.py)
LEAST_ARCS, PARTS = 1 << 22, 8  # of a part of a build
SWEEP_BLOCKS = 4  # of search_many per multiprocessor, by its registers
THREADS = 256  # per block
LOOKING = 12  # bytes per arc while values are checked and added up; measured
SPARE = 0.125  # of a build's neighbours that may stay unused


def footprint(shape: Shape, ask: Ask, machine: regimes.Machine | None = None, free: int | None = None) -> Ledger:
    """The arrays of one question on a GPU, by default an H200 with nothing else on it."""
    machine = machine or regimes.Machine()
    free = machine.memory if free is None else free
    run = Ledger()
    QUESTIONS[ask.what](run, shape, ask, machine, free)
    return run


# ---------------------------------------------------------------- the graph (graph.py, build.py)


def upload(run: Ledger, shape: Shape) -> None:
    """Rows as they are."""
    if "rows" not in run.held:
        run.take("rows", shape.rows)


def columns(run: Ledger, shape: Shape) -> None:
    """Arcs by head; of an undirected graph, its rows."""
    upload(run, shape)
    if not shape.directed or "columns" in run.held:
        return
    if shape.transposed:
        run.take("columns", shape.rows)
        return
    run.take("row of each arc", 4 * shape.m)
    sort_rows(run, "columns", shape.n, shape.m, shape.m, shape.offset)
    run.drop("row of each arc")


def sort_rows(run: Ledger, name: str, n: int, arcs: int, kept: int, offset: int, weight: int = 0) -> None:
    """build.rows_of: sorted rows of `arcs` arcs, of which `kept` remain."""
    part = min(arcs, max(LEAST_ARCS, -(-arcs // PARTS)))
    run.take("degrees", 4 * n)
    run.take(name, (4 + weight) * arcs)
    run.passing("keys of a part", part * (SORTING_WEIGHTED if weight else SORTING))
    run.take("offsets", offset * (n + 1))
    if arcs - kept > SPARE * kept:
        run.take("trimmed", (4 + weight) * kept)
        run.drop(name, "trimmed")
        run.take(name, (4 + weight) * kept)
    run.drop("degrees", "offsets")
    run.take(name, offset * (n + 1))


def arranged(run: Ledger, shape: Shape) -> None:
    """Rows by descending degree of their neighbours, as plan hopwave-gpu wants them."""
    if "arranged" in run.held:
        return
    had = set(run.held)
    columns(run, shape)
    if not shape.m:
        return
    n, some = shape.n, min(shape.m, policy.SORTED_ARCS)
    run.take("degree keys", 8 * n)
    run.passing("sorting", 8 * n)
    run.take("ranks", 8 * n)
    run.take("arranged", 4 * shape.m)
    run.take("arc keys", 8 * some)
    run.drop("degree keys")
    run.passing("sorting", 8 * some)
    run.drop("arc keys", "ranks")
    if shape.directed and "columns" not in had:
        run.drop("columns")
        run.take("arranged", shape.offset * (n + 1))
    elif not shape.directed and "rows" not in had:
        run.drop("rows")
        run.take("arranged", shape.offset * (n + 1))


# ---------------------------------------------------------------- searches (search/workspace.py)


def workspace(run: Ledger, shape: Shape) -> None:
    """What searches in one launch share."""
    if shape.directed:
        upload(run, shape)
    arranged(run, shape)
    if "search buffers" in run.held:
        return
    n, m, split = shape.n, shape.m, policy.level_split(shape.m)
    words = -(-n // 256) * 8
    pieces = CHUNK * (3 * (m // split.chunk) + 3 + 2 * (m // split.long_row) + 2)
    run.take("search buffers", 4 * n + 4 * words + (0 if shape.offset == 4 else 2 * n) + 8 * words + 4 * n + pieces)


def search(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """bfs by plan hopwave-gpu."""
    workspace(run, shape)
    run.take("distances", 4 * shape.n)
    if ask.predecessors:
        run.take("predecessors", 4 * shape.n)
    if ask.path_counts:
        run.take("path counts", 8 * shape.n)
        run.take("vertices by level", 4 * shape.n)


def probe(run: Ledger, shape: Shape) -> None:
    """The search that tells how deep a graph is; its buffers stay."""
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
    words, table = policy.words_for(k, n, free), ask.what in ("bfs_many", "sssp_many")
    groups = max(1, -(-k // (policy.WORD * words)))
    most = SWEEP_BLOCKS * machine.multiprocessors
    subgrids, _ = policy.subgrids_for(n, words, groups, shape.depth, most, free, THREADS)
    longs = min(n, shape.m // policy.SWEEP.long_row + 1)
    run.take("long rows", 8 * longs)
    if not table:
        run.take("sums", 32 * k + 8 * n)
    state = 24 * words * n + n // 8 + 8 * n + 8 * longs + 8 * policy.WORD * words
    run.take("searches", subgrids * state)
    if table:
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
    """Searches along weights: a block or a team for each."""
    n, k = shape.n, ask.sources
    arcs_with_lengths(run, shape)
    probe(run, shape)
    block = regimes.block_shape(n, shape.m, max(1, k), shape.depth, replace(machine, shared=0, threads=1024))
    table = ask.what == "sssp_many"
    state, row = policy.search_bytes(n, not table), 8 * n if table else 0
    searches = min(block.blocks, k, max(1, (free - sum(run.held.values())) // (state + row)))
    run.take("searches", searches * state)
    if table:
        most = min(policy.ALONG_WEIGHTS.rounds * block.blocks, policy.ALONG_WEIGHTS.table_bytes // max(1, row))
        run.take("table of distances", row * max(1, min(k, max(searches, most))))


# ---------------------------------------------------------------- betweenness (betweenness/run.py and its regimes)


def betweenness(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """Of vertices or edges, by the regime that would be chosen."""
    n, m, k = shape.n, shape.m, ask.sources
    budget = free if ask.memory_limit is None else ask.memory_limit
    upload(run, shape)
    if shape.directed:
        columns(run, shape)
    regime = ask.plan.removeprefix("hopwave-") if ask.plan else regimes.choose(n, m, k, shape.depth, budget)[0]
    width = m if ask.edges else n
    if ask.weighted:
        probe(run, shape)
        arcs_with_lengths(run, shape)
        weighted_blocks(run, shape, ask, machine, budget)
    elif regime == "wide":
        probe(run, shape)
        wide(run, shape)
        run.take("sums", 8 * width)
    elif regime == "batch":
        probe(run, shape)
        batches(run, shape, ask, machine, budget)
    else:
        probe(run, shape)
        blocks(run, shape, ask, machine, budget)


def wide(run: Ledger, shape: Shape) -> None:
    """betweenness/wide.py."""
    run.take("levels, path counts, dependencies", regimes.wide_bytes(shape.n, shape.m, shape.directed))


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
        run.passing("cutting lists", 20 * chunks)
        run.take(f"lists {number}", BATCH_CHUNK * chunks)
    width = m if ask.edges else n
    run.take("sums", 8 * width)
    run.take("batches", at_once * regimes.batch_bytes(n, m, lanes, levels))
    run.take("parts", 8 * at_once * lanes * min(-(-n // 64), 8 * machine.multiprocessors))


def blocks(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, budget: int) -> None:
    """betweenness/block.py."""
    n, m, k = shape.n, shape.m, ask.sources
    form = regimes.block_shape(n, m, k, shape.depth, replace(machine, threads=1024))
    state = regimes.block_state(n, regimes.FLOAT, form.shared)
    rows_of_scores(run, shape, ask, form, state, machine, budget)


def weighted_blocks(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, budget: int) -> None:
    """betweenness/weighted.py."""
    n, m, k = shape.n, shape.m, ask.sources
    form = regimes.block_shape(n, m, k, shape.depth, replace(machine, shared=0, threads=1024))
    state = policy.search_bytes(n, own=True) + 2 * regimes.FLOAT * n + 8 * (-(-m // 32))
    rows_of_scores(run, shape, ask, form, state, machine, budget)


def rows_of_scores(
    run: Ledger, shape: Shape, ask: Ask, form: regimes.Shape, state: int, machine: regimes.Machine, budget: int
) -> None:
    """A row of scores for every source of a launch, and each block's own arrays."""
    width, k = (shape.m if ask.edges else shape.n), ask.sources
    size = regimes.block_size(k, width, form, machine)
    at_once, rows = regimes.block_fit(state, width, form, size, budget)
    run.take("sums", 8 * width * (2 if k > size else 1))
    run.take("scores of each source", min(rows, size, k) * (regimes.FLOAT * width + regimes.ROW_OVERHEAD))
    run.take("blocks", min(at_once, k) * state)


# ---------------------------------------------------------------- shortest paths, PageRank


def shortest_paths(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """sssp by plan near-far (shortest_paths/search.py)."""
    n, m = shape.n, shape.m
    upload(run, shape)
    whole = ask.whole_lengths or not ask.weighted
    if ask.weighted:
        run.take("values", 8 * m)
        run.passing("looking at values", LOOKING * m)
        if whole:
            run.take("lengths", 4 * m)
    split = policy.path_split(m / max(1, n))
    capacity = 2 * n + (1 << 16)
    run.take("queues", 4 * capacity * (8 if whole else 16))
    run.take("pieces", 2 * PATH_CHUNK * (2 * (m // split.chunk) + 64))
    run.take("distances", 8 * n + (4 * n if whole else 0))
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
    if shape.directed:
        run.take("row of each arc", 4 * m)
        sort_rows(run, "columns", n, m, m, shape.offset, value)
        run.drop("row of each arc")
    run.take("out-weights", 17 * n)
    run.passing("lengths of rows", 8 * n)
    if shape.greatest > policy.POWER.short_row:
        run.take("order of rows", 8 * n)
        run.take("new numbers of tails and heads", 8 * m)
        sort_rows(run, "sorted matrix", n, m, m, shape.offset, value)
        run.drop("new numbers of tails and heads")
    elif n >= policy.POWER.order_vertices and shape.near < policy.POWER.near_share:  # a mesh in any order
        run.passing("a search", 4 * 8 * (2 * n + (1 << 16)) + 12 * n)
        run.take("order of rows", 12 * n)
        run.passing("sorting", 16 * n)
        run.take("moved matrix", shape.rows)
        if value:
            run.take("moved values", 8 * m)
            run.passing("places of arcs", 8 * m)
    run.take("ranks", 24 * n)


# ---------------------------------------------------------------- building


def building(run: Ledger, shape: Shape, ask: Ask, machine: regimes.Machine, free: int) -> None:
    """Graph.from_edges, beside the edges themselves; how many repeats there are is not known, none is assumed."""
    arcs = shape.m * (1 if shape.directed else 2)
    sort_rows(run, "rows", shape.n, arcs, arcs, shape.offset, 8 if ask.weighted else 0)


QUESTIONS = {
    "bfs": search,
    "bfs_many": sweep,
    "sssp_many": sweep,
    "closeness_centrality": sweep,
    "harmonic_centrality": sweep,
    "betweenness_centrality": betweenness,
    "edge_betweenness_centrality": betweenness,
    "sssp": shortest_paths,
    "pagerank": power,
    "connected_components": components,
    "weakly_connected_components": components,
    "from_edges": building,
}
