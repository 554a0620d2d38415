"""The steps of plans on the GPU: one function per kind of level, and the choice of a step's function."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import cupy
import numpy as np

from hopwave.engines.cuda.launch import BLOCK, NULL, WARP, truth
from hopwave.engines.cuda.policy import CULLING_BLOCKS, CULLING_SHARE, FEW_ARCS, FEW_LISTS
from hopwave.engines.cuda.search.by_level import AHEAD, AHEAD_EDGES, CHECKED, EDGES, FOUND
from hopwave.planning.plan import Pull, Push
from hopwave.planning.trace import Level

# ---------------------------------------------------------------- launches as records
#
# A launch can be repeated for a later level (ahead.py). An argument that changes between levels is a marker: LEVEL,
# BEFORE or COUNTERS. All other arguments stay constant.


class Changing(Enum):
    LEVEL = "level"  # the depth of the frontier
    BEFORE = "before"  # the counters of the previous level, or null
    COUNTERS = "counters"  # the counters of this level


LEVEL, BEFORE, COUNTERS = Changing


@dataclass
class Launch:
    """A kernel with one thread per item of work; its arguments by parameter name, in order."""

    header: str
    name: str
    work: int
    shape: str
    arguments: dict[str, Any]
    blocks: int | None = None  # None: at most as many as the GPU can hold

    def now(self, search):
        return {
            name: getattr(search, value.value) if type(value) is Changing else value
            for name, value in self.arguments.items()
        }

    def make(self, search):
        search.launch(self.header, self.name, self.work, shape=self.shape, blocks=self.blocks, **self.now(search))


@dataclass
class Clear:
    array: Any
    size: int

    def make(self, search):
        self.array.data.memset_async(0, self.size)


WORDS = "hopwave::steps"  # the namespace of the enums in kernels/steps/gather.cuh


def compute(search, step):
    for launch in kind_of(step)(search, step) or ():
        launch.make(search)


def advance(search, step, choice):
    search.begin()
    began, ended = search.work.events(2)
    if search.timed:
        began.record()
    compute(search, step)
    if search.timed:
        ended.record()
    counters = search.read_counters(1)[0]
    level = entered(search, step, choice, counters, search.timed and cupy.cuda.get_elapsed_time(began, ended) * 1e-3)
    if search.duplicates and search.nf > room(search):  # the queue is incomplete: read the level from the status array
        search.has_queue = False
        search.need_queue()
        counters = search.read_counters(1)[0]
        search.nf, search.mf = counters[FOUND], counters[EDGES]
    return level


def entered(search, step, choice, counters, seconds):
    """Advance the search past the level with these counters. Returns the level, or None if levels are not traced."""
    sizes = search.nf, search.mf, search.mu
    early, early_edges = search.early, search.early_edges
    if isinstance(step, Push) and step.output == "scan":  # the scan also counted vertices found early
        counters[FOUND] -= early
        counters[EDGES] -= early_edges
    found = counters[FOUND] + counters[AHEAD]
    search.depth += 1
    search.nf, search.mf = counters[FOUND] + early, counters[EDGES] + early_edges
    search.early, search.early_edges = counters[AHEAD], counters[AHEAD_EDGES]
    search.mu -= counters[EDGES] + counters[AHEAD_EDGES]
    search.reached += found
    if search.sigma is not None:
        search.rescale()
    if not search.timed:
        return None
    return Level(search.depth, choice, str(step), *sizes, found, counters[CHECKED], seconds, counters[AHEAD])


# ---------------------------------------------------------------- pushes


def push_fused(search, step):
    """Gather and claim in one kernel: XBFS's scan-free, single-scan and no queue generation (section 4.1)."""
    output = step.output
    if search.waiting and (output == "reuse" or (search.early and output == "queue")):  # it lists vertices found early
        queue, length, output = search.work.arrays["waiting"], search.waiting, "reuse"
    else:
        search.need_queue()
        queue, length, output = search.queue, search.nf, "queue" if output == "reuse" else output
    search.clear_counters()
    loaded = search.loaded
    search.launch(
        "steps/push.cuh", "push", length,
        shape=f"{WORDS}::Mapping::{step.mapping}, {WORDS}::Output::{output}, {search.counting}",
        blocks=even_shares(search, length),
        offsets=loaded.offsets, neighbours=loaded.neighbours, queue=queue, length=np.uint64(length), depth=search.level,
        **search.answer, next=search.next_queue, counters=search.counters,
    )  # fmt: skip
    if output == "scan":
        search.launch(
            "steps/state.cuh", "single_scan", search.n, offsets=loaded.offsets, distance=search.distance,
            n=search.vertices, level=np.int32(search.depth + 1), queue=search.next_queue, counters=search.counters,
        )  # fmt: skip
    search.set_forms(queue=True)


def even_shares(search, length):
    """Blocks for even shares of a queue: as many as the GPU can hold, but at least one vertex per block."""
    return min(length, search.on_device.device.blocks)


def push_two_phase(search, step):
    """Expand, then contract (Merrill), with Hiragushi's exact bitmap if duplicates are not allowed (section 3.2)."""
    search.need_queue()
    blocks = None  # one thread per arc
    if search.duplicates:  # few blocks contract the arcs, because two blocks may keep the same vertex
        search.need_marks()
        blocks = max(1, min(search.mf // CULLING_SHARE, CULLING_BLOCKS * search.on_device.device.multiprocessors))
    else:
        search.need_visited()
    search.clear_counters()
    targets = search.work.take("targets", search.mf, np.int32)
    sources = NULL
    if search.parent is not None or search.sigma is not None:
        sources = search.work.take("sources", search.mf, np.int32)
    search.launch(
        "steps/push.cuh", "expand", search.nf, blocks=even_shares(search, search.nf),
        offsets=search.loaded.offsets, neighbours=search.loaded.neighbours, queue=search.queue,
        length=np.uint64(search.nf), targets=targets, sources=sources, counters=search.counters,
    )  # fmt: skip
    arcs = {"targets": targets, "sources": sources, "arcs": np.uint64(search.mf), "depth": search.level}
    search.launch(
        "steps/push.cuh", "contract", search.mf, shape=truth(not search.duplicates), blocks=blocks,
        offsets=search.loaded.offsets, **arcs, visited=search.bits("visited"), distance=search.distance,
        parent=search.parents, next=search.next_queue, capacity=np.uint64(room(search)), counters=search.counters,
    )  # fmt: skip
    if search.sigma is not None:
        search.launch("steps/push.cuh", "count_arcs", search.mf, **arcs, distance=search.distance, sigma=search.sigma)
    search.set_forms(queue=True, visited=not search.duplicates)


def room(search):
    """Capacity of a queue, in vertices; only duplicates can exceed it."""
    return search.n


def running_sums(search):
    """The end of each list of the frontier, all lists concatenated."""
    sums = search.work.take("sums", search.n, np.int64)[: search.nf]
    lists = search.loaded.offsets, search.queue, np.uint64(search.nf), sums
    if search.nf <= FEW_LISTS:
        search.launch("steps/gather.cuh", "list_ends", search.nf, *lists, blocks=1)
        return sums
    search.launch("steps/gather.cuh", "list_lengths", search.nf, *lists)
    return cupy.cumsum(sums)


def push_shares(search, step):
    """Equal shares of the frontier's arcs; vertices are claimed immediately."""
    search.need_queue()
    loaded, sums = search.loaded, running_sums(search)
    search.clear_counters()
    search.launch(
        "steps/push.cuh", "push_shares", search.mf, shape=search.counting, blocks=search.equal_shares(search.mf),
        offsets=loaded.offsets, neighbours=loaded.neighbours, queue=search.queue, sums=sums,
        lists=np.uint64(search.nf), arcs=np.uint64(search.mf), depth=search.level, **search.answer,
        next=search.next_queue, counters=search.counters,
    )  # fmt: skip
    search.set_forms(queue=True)


def push_sorted(search, step):
    """The column product: scan, gather, radix sort, segmented reduce, mask (push-pull, Algorithm 3)."""
    search.need_queue()
    search.need_visited()
    loaded, arcs, pairs = search.loaded, np.uint64(search.mf), not step.structure_only or search.sigma is not None
    values = NULL if step.structure_only else search.on_device.arc_values
    lists = {"offsets": loaded.offsets, "neighbours": loaded.neighbours, "values": values, "queue": search.queue}
    found = {"depth": search.level, "visited": search.bits("visited"), **search.answer, "next": search.next_queue}
    keys = search.work.take("keys", search.mf, np.int32)
    sources, parent = (search.work.take("sources", search.mf, np.int32), NULL) if pairs else (NULL, search.parents)
    search.clear_counters()
    if search.nf <= FEW_LISTS and search.mf <= FEW_ARCS:
        ends, (bits, width) = search.work.take("sums", search.n, np.int64), digits(search.n)
        search.launch(
            "steps/sorted.cuh", "push_tile", search.mf, shape=truth(pairs), blocks=1, **lists,
            lists=np.uint64(search.nf), arcs=arcs, ends=ends, keys=keys, sources=sources, bits=np.int32(bits),
            width=np.int32(width), **found, counters=search.counters,
        )  # fmt: skip
        search.set_forms(queue=True, visited=True)
        return
    sums = running_sums(search)
    search.launch(
        "steps/sorted.cuh", "gather_pairs", search.mf, blocks=search.equal_shares(search.mf), **lists, sums=sums,
        lists=np.uint64(search.nf), arcs=arcs, distance=search.distance, keys=keys, sources=sources, parent=parent,
        counters=search.counters,
    )  # fmt: skip
    keys, sources = radix_sort(search, search.mf, "keys", "sources" if pairs else None)
    search.launch(
        "steps/sorted.cuh", "reduce_sorted", search.mf, offsets=loaded.offsets, keys=keys, sources=sources, arcs=arcs,
        **found, counters=search.counters,
    )  # fmt: skip
    search.set_forms(queue=True, visited=True)


def push_edges(search, step):
    """One thread per arc of the graph scatters into a dense vector, then the mask (TurboBFS, Algorithms 1 and 3)."""
    loaded, product = search.loaded, dense_product(search)
    arcs = {"rows": loaded.in_neighbours, "columns": search.on_device.arc_columns, "arcs": np.uint64(loaded.m)}
    search.clear_counters()
    if search.sigma is None:
        operand = {"depth": LEVEL, "distance": search.distance, "product": product, "before": BEFORE}
        yield Launch("steps/pull.cuh", "scatter", loaded.m, "", arcs | operand)
    else:
        blocks = -(-loaded.m // (4 * BLOCK))  # four arcs per thread
        yield Launch(PRODUCTS, "forward_arcs", loaded.m, "double", arcs | counts(search, product), blocks)
    yield masked(search, product, loaded.m)


PRODUCTS = "common/products.cuh"


def dense_product(search):
    """The vector of a product, empty: some neighbour of each vertex, or a sum of path counts."""
    name, kind = ("product", np.int32) if search.sigma is None else ("path sums", np.float64)
    return search.work.take(name, search.n, kind, fill=0)


def counts(search, product):
    """Inputs and outputs of the products of path counts: σ replaces f (push-pull, section 5.4)."""
    return {"source": np.int32(-1), "f": search.sigma, "ft": product, "sigma": search.sigma, "overflowed": NULL,
            "before": BEFORE}  # fmt: skip


def masked(search, product, read):
    """The launch that ends a level with a dense product: writes level, path count and parent of new vertices."""
    loaded = search.loaded
    search.set_forms()
    return Launch("steps/pull.cuh", "mask", search.n, "int" if search.sigma is None else "double", {
        "in_offsets": loaded.in_offsets, "in_neighbours": loaded.in_neighbours, "offsets": loaded.offsets,
        "n": search.vertices, "depth": LEVEL, "read": np.uint64(read), "product": product, **search.answer,
        "before": BEFORE, "counters": COUNTERS,
    })  # fmt: skip


# ---------------------------------------------------------------- pulls


def pull_rows(search, step):
    """Row products: TurboBFS's gathers and bottom-up searches, and push-pull's; over bitmaps, or over path counts."""
    width = WARP if step.mapping == "warp" else 1
    if search.sigma is not None:
        loaded, product, read = search.loaded, dense_product(search), step.rows == "all"
        columns = {"offsets": loaded.in_offsets, "rows": loaded.in_neighbours, "n": search.vertices}
        search.clear_counters()
        columns |= counts(search, product) | {"all": np.bool_(read)}
        blocks = -(-search.n * width // BLOCK)  # a block per piece: the GPU schedules further blocks as others finish
        yield Launch(PRODUCTS, "forward_columns", search.n * width, f"double, {width}", columns, blocks)
        yield masked(search, product, loaded.m * read)
        return
    search.need_visited()
    if step.operand == "frontier":
        search.need_frontier_bits()
    loaded, visited, found = search.loaded, search.bits("visited"), search.bits("next bits")
    operand = search.bits("frontier") if step.operand == "frontier" else visited
    search.clear_counters()
    if width == WARP:
        yield Clear(found, 4 * search.words)
    words = {"Mapping": step.mapping, "Rows": step.rows, "Operand": step.operand}
    shape = [*(f"{WORDS}::{kind}::{word}" for kind, word in words.items()), truth(step.early_exit)]
    yield Launch("steps/pull.cuh", "pull", search.n * width, ", ".join(shape), {
        "in_offsets": loaded.in_offsets, "in_neighbours": loaded.in_neighbours, "offsets": loaded.offsets,
        "n": search.vertices, "depth": LEVEL, "operand": operand, "visited": visited, "next": found,
        "distance": search.distance, "parent": search.parents, "before": BEFORE, "counters": COUNTERS,
    })  # fmt: skip
    if step.operand == "visited":
        bits = {"visited": visited, "found": found, "words": np.uint64(search.words)}
        yield Launch("steps/state.cuh", "merge_bits", search.words, "", bits)
    search.set_forms(bits=True, visited=True)


def pull_compacted(search, step):
    """Hiragushi's Figure 3: unvisited vertices packed in shared memory, updates gathered from there."""
    search.need_visited()
    loaded, visited, found = search.loaded, search.bits("visited"), search.bits("next bits")
    search.clear_counters()
    search.launch(
        "steps/pull.cuh", "pull_compacted", search.words, in_offsets=loaded.in_offsets,
        in_neighbours=loaded.in_neighbours, offsets=loaded.offsets, words=np.uint64(search.words), depth=search.level,
        visited=visited, closed=search.on_device.closed, next=found, distance=search.distance, parent=search.parents,
        counters=search.counters,
    )  # fmt: skip
    search.launch(
        "steps/state.cuh", "merge_bits", search.words, visited=visited, found=found, words=np.uint64(search.words)
    )
    search.set_forms(bits=True, visited=True)


def pull_queue(search, step):
    """XBFS's bottom-up step: a sorted queue by double scan, assigned rows, and a look-ahead if the limit allows."""
    loaded = search.loaded
    length = search.n - search.reached + search.early  # unvisited vertices at the start of this level
    waiting = unvisited_queue(search) if length else None  # in the last level, often every vertex is visited
    search.clear_counters()
    limit = search.question.depth_limit
    ahead = step.asynchronous and (limit is None or search.depth + 1 < limit)
    balance = "static_" if step.balance == "static" else step.balance  # a C++ keyword
    search.launch(
        "steps/double_scan.cuh", "pull_queue", length, shape=f"{WORDS}::Balance::{balance}, {truth(ahead)}",
        in_offsets=loaded.in_offsets, in_neighbours=loaded.in_neighbours, offsets=loaded.offsets, queue=waiting,
        length=np.uint64(length), depth=search.level, distance=search.distance, parent=search.parents,
        counters=search.counters,
    )  # fmt: skip
    search.set_forms(waiting=length)


def unvisited_queue(search):
    """The unvisited vertices in order, by double scan: threads count one segment of 32 vertices each, then list it."""
    n, segment_length = search.n, 32
    waiting = search.work.take("waiting", n, np.int32)
    segments = -(-n // segment_length)
    blocks = -(-segments // BLOCK)
    places, sums = search.work.take("places", segments, np.uint32), search.work.take("block sums", blocks, np.int64)
    scanned = {
        "distance": search.distance, "n": np.uint64(n), "depth": search.level, "segments": np.uint64(segments),
        "segment_length": np.uint64(segment_length), "places": places, "sums": sums, "queue": waiting,
    }  # fmt: skip
    search.launch("steps/double_scan.cuh", "scan_segments", n, shape="1", blocks=blocks, **scanned)
    search.launch("steps/double_scan.cuh", "prefix_sum", blocks, sums, np.uint64(blocks), blocks=1)
    search.launch("steps/double_scan.cuh", "scan_segments", n, shape="2", blocks=blocks, **scanned)
    return waiting


# ---------------------------------------------------------------- the available steps


def kind_of(step):
    """The function that computes a level by this step; None if no kernel exists."""
    if isinstance(step, Push):
        if step.mapping == "edge":
            return push_edges if step.output == "dense" else None
        if step.mapping == "merge":
            return {"queue": push_shares, "sort": push_sorted}.get(step.output)
        return {"queue": push_queue, "scan": push_fused, "reuse": push_fused}.get(step.output)
    if step.rows != "compacted":
        if step.asynchronous or step.balance != "static":
            return None
        if step.mapping == "merge":  # equal shares read every arc of a row
            return pull_shares if step.rows == "all" and not step.early_exit else None
        return pull_rows
    if step.mapping != "thread" or not step.early_exit:
        return None
    if step.operand == "frontier":
        return pull_queue
    return None if step.asynchronous or step.balance != "static" else pull_compacted


# These functions yield their launches, which can precede the reading of earlier levels (ahead.py).
LAUNCHES = pull_rows, push_edges


def push_queue(search, step):
    """A push from a queue. XBFS claims vertices in its status array, in one phase; Merrill in a bitmap, in two."""
    one_phase = step.claim == "atomic" and (search.scans or step.mapping != "twc")
    (push_fused if one_phase else push_two_phase)(search, step)


def why_not(plan):
    for step in plan.steps:
        if kind_of(step) is None or (isinstance(step, Push) and not _claims(step)):
            return f"no CUDA kernel computes {step!r} of plan {plan.name!r}; use device='cpu', or a plan that has one"
    if any(isinstance(step, Pull) and step.asynchronous for step in plan.steps) and any(
        kind_of(step) not in (push_queue, push_fused, pull_queue) for step in plan.steps
    ):
        return (
            f"plan {plan.name!r} mixes an asynchronous pull with steps that cannot use vertices found early; "
            "use device='cpu', or asynchronous=False"
        )
    return None


def _claims(step):
    """Whether the kernels support this claim: plain stores need a second test, which only scan and twc perform."""
    if step.claim == "benign":
        return step.output == "scan" or (step.output, step.mapping) == ("queue", "twc")
    return step.output != "scan"


# ---------------------------------------------------------------- push-pull's unmasked product by rows


def pull_shares(search, step):
    """All rows in equal shares of their arcs, then the mask (section 6.3, operation 1)."""
    search.need_visited()
    if step.operand == "frontier":
        search.need_frontier_bits()
    loaded, product = search.loaded, dense_product(search)
    search.clear_counters()
    search.launch(
        "steps/pull.cuh", "all_rows", loaded.m, shape="int" if search.sigma is None else "double",
        blocks=search.equal_shares(loaded.m), in_offsets=loaded.in_offsets, in_neighbours=loaded.in_neighbours,
        n=search.vertices, arcs=np.uint64(loaded.m), operand=search.bits(step.operand), sigma=search.sigmas,
        product=product,
    )  # fmt: skip
    masked(search, product, loaded.m).make(search)


# ---------------------------------------------------------------- push-pull's radix sort of vertices

SORTED = "steps/sorted.cuh"
SORT_TILE = 16 * BLOCK  # keys per block: SORT_TILE in the header
DIGIT = 8  # maximum bits of a digit
DIGITS = 1 << DIGIT


def digits(n):
    """Bits of the ids below n, and bits per digit: as few digits as possible, of similar size."""
    bits = max(1, (n - 1).bit_length())
    return bits, -(-bits // -(-bits // DIGIT))


def radix_sort(search, count, keys, values=None):
    """Sort `count` keys of the buffer `keys`, and their values, stably. Returns both; buffers keep their names."""
    bits, width = digits(search.n)
    arrays, pairs, size = search.work.arrays, truth(values is not None), np.uint64(count)
    names = [keys] if values is None else [keys, values]
    for kernel in ("sort_tile", "digit_scatter"):  # compiled at the first sort, so that no later search waits for one
        search.launch.get(SORTED, kernel, pairs)
    if count > SORT_TILE:
        tiles, passes = -(-count // SORT_TILE), -(-bits // width)
        # For each digit: a ticket, the count of each value, and the progress of tiles. All are 0 at first.
        words = passes * DIGITS * (1 + tiles) + passes
        counts = search.work.take("digit counts", words, np.uint64)
        counts.data.memset_async(0, 8 * words)

        def place(word):
            """The address of a number in the array: slicing the array would take longer than a launch."""
            return np.uint64(counts.data.ptr + 8 * word)

        search.launch(
            SORTED, "digit_totals", count, arrays[keys], size, np.int32(bits), np.int32(width), place(passes),
            blocks=min(tiles, search.on_device.device.blocks),
        )  # fmt: skip
        for number in range(passes):
            sorted_ = [search.work.take(f"sorted {name}", count, np.int32) for name in names]
            nothing = [NULL] * (values is None)
            search.launch(
                SORTED, "digit_scatter", count, *(arrays[name] for name in names), *nothing, size,
                np.int32(number * width), np.uint32((1 << width) - 1), place(passes + number * DIGITS), place(number),
                place(passes * (1 + DIGITS) + number * DIGITS * tiles), *sorted_, *nothing, shape=pairs, blocks=tiles,
            )  # fmt: skip
            for name in names:
                arrays[name], arrays[f"sorted {name}"] = arrays[f"sorted {name}"], arrays[name]
    else:
        given = arrays[keys], NULL if values is None else arrays[values]
        search.launch(SORTED, "sort_tile", count, *given, size, np.int32(bits), np.int32(width), shape=pairs, blocks=1)
    return arrays[keys], NULL if values is None else arrays[values]
