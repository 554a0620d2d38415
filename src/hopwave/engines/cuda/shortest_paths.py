"""Searches for shortest paths on the GPU: preparation of a matrix, the launch, and its report to the host."""

import threading
from dataclasses import dataclass, field
from typing import Any

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc, policy
from hopwave.engines.cuda.buffers import allocate, free_memory
from hopwave.engines.cuda.errors import explained
from hopwave.engines.cuda.launch import BLOCK, NULL, WARP, PreparedLaunch, expression, kernels, offset_type
from hopwave.engines.cuda.linalg.semiring_source import c_type
from hopwave.engines.cuda.policy import path_arrays, path_capacity, path_split, path_width, spur_arrays
from hopwave.engines.cuda.records import address, filled, record
from hopwave.engines.ledger import total
from hopwave.errors import EngineError
from hopwave.planning.trace import Bucket

# ---------------------------------------------------------------- lengths

STATE = "shortest_paths/state.cuh"
SUMMARY = record(STATE, "Summary", "f64 greatest sum", "u64 fractions")
WHOLE, REAL = "unsigned int", "unsigned long long"  # bits of a distance: integer lengths, real lengths
LENGTHS = {np.dtype(np.uint32): ("unsigned int", WHOLE), np.dtype(np.float32): ("float", REAL),
           np.dtype(np.float64): ("double", REAL)}  # fmt: skip
NO_DISTANCE = 2**32 - 1  # 32-bit distance without a path


def possible(values):
    """The types in LENGTHS that these values may use. If there are two, `lengths_of` decides by the values."""
    whole, real = LENGTHS[np.dtype(np.uint32)], LENGTHS[np.dtype(np.float64)]
    if values is None or values.dtype.kind in "bu":
        return [whole]
    return [whole, LENGTHS.get(values.dtype, real)]


def lengths_of(values, n):
    """Lengths of a type that kernels accept, or None if all are 1; and their mean."""
    if values is None or not len(values):
        return None, 1.0
    kind, count = c_type(values.dtype), np.uint64(len(values))
    nvrtc.begin(STATE, [expression(STATE, name, kind) for name in ("measure", "to_whole")])
    here, values = kernels(), cupy.ascontiguousarray(values)
    summaries = cupy.empty(here.blocks * SUMMARY.itemsize, np.uint8)
    here.get(STATE, "measure", kind)((here.blocks,), (BLOCK,), (values, count, summaries))
    found = summaries.get().view(SUMMARY)
    greatest, mean = float(found["greatest"].max()), float(found["sum"].sum()) / len(values)
    if not found["fractions"].any() and (greatest + 1) * (n + 1) < NO_DISTANCE:
        if values.dtype == np.uint32:
            return values, mean
        whole = cupy.empty(len(values), np.uint32)
        here.launch(here.get(STATE, "to_whole", kind), len(values), (values, count, whole))
        return whole, mean
    return values.astype(np.float32 if values.dtype == np.float32 else np.float64, copy=False), mean


# ---------------------------------------------------------------- searches

SEARCH, PREDECESSORS = "shortest_paths/search.cuh", "shortest_paths/predecessors.cuh"
THREADS = 1024  # per block, in kernels/shortest_paths/state.cuh
TRACE_COLUMNS = 5  # smallest distance, rounds, vertices, arcs, nanoseconds
TRACE_ROWS = 1 << 12
SHORT_PATH = 63  # maximum vertices of a path that one block walks back; longer paths need all predecessors

WORK = record(
    "shortest_paths/state.cuh", "Work<unsigned int>", "ptr dist near[2] far[2] chunks[2] counters trace targets",
    "i64 trace_rows target_count goal both_ways", "i64 capacity chunk_capacity",
    "i64 chunk enter alone pile local subrounds arcs share",
)  # fmt: skip


@dataclass
class PreparedPaths:
    """Cached with a matrix on the GPU: its arcs, its transpose's arcs, and buffers by stream.

    The first thread's arrays stay, because launches of other threads may already use their addresses.
    """

    arcs: dict[bool, "Arcs"] = field(default_factory=dict)
    buffers: dict[tuple[bool, int], "Buffers"] = field(default_factory=dict)
    beside: dict[bool, list[tuple[Any, "Buffers"]]] = field(default_factory=dict)

    def __reduce__(self):
        """A pickle or a copy of the matrix contains no prepared arrays."""
        return PreparedPaths, ()


class Arcs:
    def __init__(self, part):
        self.offsets, self.neighbours = part.indptr, part.indices
        self.offset = offset_type(part.indptr)
        self.n, self.m = len(part.indptr) - 1, len(part.indices)
        nvrtc.begin(SEARCH, [expression(SEARCH, "search", self.offset, *types) for types in possible(part.values)])
        self.lengths, mean = lengths_of(part.values, self.n)
        kind = np.dtype(np.uint32) if self.lengths is None else self.lengths.dtype
        self.length, self.bits = LENGTHS[kind]
        self.width = path_width(mean, self.m / max(1, self.n))

    @property
    def arguments(self):
        arrays = {"offsets": self.offsets, "neighbours": self.neighbours, "lengths": self.lengths}
        return {name: np.uint64(address(array)) for name, array in arrays.items()} | {"n": np.int64(self.n)}

    def kernel(self, header, name, *more):
        """A cooperative kernel; raises EngineError if this GPU does not support it."""
        kernel, fit = nvrtc.cooperative(header, expression(header, name, self.offset, self.length, *more), THREADS)
        blocks = kernels().attributes["MultiProcessorCount"]
        if not fit:
            raise EngineError("this GPU cannot launch cooperatively; use method='delta-stepping', or device='cpu'")
        return kernel, blocks


class Buffers:
    """The arrays that a search writes: allocated once, reused by consecutive searches of a stream."""

    def __init__(self, arcs, split=None, capacity=None, share=1):
        n, m = arcs.n, arcs.m
        split = path_split(m / max(1, n)) if split is None else split
        capacity = path_capacity(n) if capacity is None else max(capacity, n)
        self.arrays = allocate(path_arrays(n, m, arcs.bits == WHOLE, split, capacity))
        entries, chunks = self.arrays["entries"], self.arrays["chunks"]
        self.counters, self.whole, self.report = (self.arrays[name] for name in ("counters", "whole", "report"))
        self.work = filled(
            WORK, dist=self.whole, counters=self.counters, goal=-1, capacity=capacity, chunk_capacity=chunks.shape[1],
            **vars(split),
        )  # fmt: skip
        self.work["near"] = [address(queue) for queue in entries[:2]]
        self.work["far"] = [address(pile) for pile in entries[2:]]
        self.work["chunks"] = [address(chunk) for chunk in chunks]
        self.lock, self.prepared, self.plain = threading.Lock(), None, True  # plain: without trace and targets
        self.share = share

    def launch(self, arcs):
        if self.prepared is None:
            kernel, blocks = arcs.kernel(SEARCH, "search", arcs.bits)
            blocks = max(1, blocks // self.share)
            self.prepared = PreparedLaunch(
                kernel, blocks, THREADS, **arcs.arguments, work=self.work, sources=NULL, source=np.int32(0),
                count=np.int64(1), limit=NULL, width=NULL, out=NULL, report=np.uint64(address(self.report)),
            )  # fmt: skip
        return self.prepared


def arcs_of(A):
    kept = A._prepared.record(PreparedPaths).arcs
    found = kept.get(A._turned)
    return kept.setdefault(A._turned, Arcs(A.rows)) if found is None else found


def buffers_of(A, arcs):
    kept = A._prepared.record(PreparedPaths).buffers
    key = A._turned, cupy.cuda.get_current_stream().ptr
    found = kept.get(key)
    return kept.setdefault(key, Buffers(arcs)) if found is None else found


def searches_beside(A, count):
    """(stream, buffers) for up to `count` concurrent searches, as memory allows; they wait for this stream."""
    arcs, kept = arcs_of(A), A._prepared.record(PreparedPaths).beside
    made = kept.setdefault(A._turned, [])
    try:
        while len(made) < count:
            made.append((cupy.cuda.Stream(non_blocking=True), Buffers(arcs, share=count)))
    except cupy.cuda.memory.OutOfMemoryError:
        if not made:
            raise
    now = cupy.cuda.get_current_stream().record()
    for stream, _ in made:
        stream.wait_event(now)
    return made


def search(A, job, width, trace, out=None):
    """Distances as a CuPy array of float64, and the buckets if they are traced."""
    arcs, both_ways = arcs_of(A), job.path_only and is_symmetric(A)
    return launch(arcs, buffers_of(A, arcs), job, arcs.width if width is None else width, trace, out, both_ways)


def is_symmetric(A):
    return A.columns.indices is A.rows.indices


def launch(arcs, buffers, job, width, trace, out=None, both_ways=False):
    """Run search() on these arcs, in these buffers; both_ways: rows contain the arcs into their vertices."""
    distances = cupy.empty(arcs.n, np.float64) if out is None else out
    if not arcs.n:
        return distances, []
    prepared = buffers.launch(arcs)
    sources, only, count = sources_of(job.sources)
    work = buffers.work.copy()
    if arcs.bits == REAL:
        work["dist"] = address(distances)
        limit, width = (int(np.float64(x).view(np.uint64)) for x in (job.limit, min(width, np.finfo(np.float64).max)))
    else:
        limit, width = int(min(job.limit, NO_DISTANCE - 1)), int(max(1, min(width, NO_DISTANCE)))
    if job.path_only:
        work["goal"], work["both_ways"] = job.targets[0], both_ways
    elif job.targets:
        targets = cupy.asarray(np.array(job.targets, np.int32))
        work["targets"], work["target_count"] = address(targets), len(targets)
    rows, plain = TRACE_ROWS if trace else 0, not trace and not job.targets
    while True:
        table = cupy.empty((rows, TRACE_COLUMNS), np.int64) if trace else None
        work["trace"], work["trace_rows"] = address(table), rows
        with buffers.lock:
            if arcs.bits == REAL or not (plain and buffers.plain):
                prepared.record("work", work)
            buffers.plain = plain
            prepared(
                sources=address(sources), source=only, count=count, limit=limit, width=width, out=address(distances)
            )  # fmt: skip
        if not trace:
            return distances, []
        made = int(buffers.report.get().view(policy.PATH_REPORT)[0]["buckets"])
        if made <= rows:
            return distances, buckets(table[:made].get(), arcs.bits)
        rows = made  # more buckets than rows of the trace: repeat with enough rows


def sources_of(sources):
    """(ids on the GPU, id, count). With one source the ids are None; with several the id is 0."""
    if len(sources) == 1:
        return None, sources[0], 1
    unique = np.unique(np.array(sources, np.int32))
    return cupy.asarray(unique), 0, len(unique)


def buckets(table, bits):
    least = table[:, 0].view(np.float64) if bits == REAL else table[:, 0].astype(np.float64)
    steps = np.diff(table[:, 2:], axis=0, prepend=np.zeros((1, 3), np.int64))
    rows = zip(least.tolist(), table[:, 1].tolist(), *steps.T.tolist(), strict=True)
    return [Bucket(first, *counts, nanoseconds * 1e-9) for first, *counts, nanoseconds in rows]


def predecessors(A, sources, distances):
    """Each vertex's predecessor on a shortest path, a CuPy array of int32, from final distances on the GPU."""
    arcs = arcs_of(A)
    n = arcs.n
    parent, step, lists = cupy.empty(n, np.int32), cupy.empty(n, np.int32), cupy.empty(2 * n, np.int32)
    kernel, blocks = arcs.kernel(PREDECESSORS, "choose")
    if n:
        ids, only, count = sources_of(sources)
        kernel(
            (blocks,), (THREADS,),
            (*arcs.arguments.values(), np.int64(arcs.m), distances, NULL if ids is None else ids, np.int32(only),
             np.int64(count), parent, step, lists, buffers_of(A, arcs).counters),
        )  # fmt: skip
    return parent


def path_back(A, source, target, distances):
    """The ids of a shortest path, including both endpoints, from distances on the GPU; None if no path exists."""
    into = arcs_of(A if is_symmetric(A) else A.T)
    path = cupy.empty(1 + SHORT_PATH, np.int32)
    nvrtc.begin(PREDECESSORS, [expression(PREDECESSORS, "choose", into.offset, into.length)])  # for a longer path
    kernel = kernels(into.offset).get(PREDECESSORS, "walk_back", into.length)
    given = (into.offsets, into.neighbours, NULL if into.lengths is None else into.lengths, distances)
    kernel((1,), (THREADS,), (*given, np.int32(source), np.int32(target), np.int32(SHORT_PATH), path))
    count, *back = path.get().tolist()
    if count >= 0:
        return back[:count][::-1] or None
    before, back = predecessors(A, (source,), distances).get(), [target]
    while back[-1] != source:
        back.append(int(before[back[-1]]))
    return back[::-1]


# ---------------------------------------------------------------- spurs of known paths, one warp for each

SPUR_KERNELS = "shortest_paths/spurs.cuh"
SEARCHES = record(
    SPUR_KERNELS, "SpurSearches", "ptr offsets neighbours lengths rest vertices so_far begins known_path known_before",
    "ptr path at before found distance near_stamp far_stamp lists rounds ticket", "f64 most slack steps",
    "i64 n count target",
)  # fmt: skip


class Spurs:
    """Searches in one graph, which is copied to the GPU at the first search."""

    def __init__(self, arcs, rest, slack, target):
        self.arcs, self.rest, self.slack, self.target = arcs, rest, slack, target
        self.n, self.given, self.state = len(rest), {}, {}
        room = min(policy.SPURS.total_bytes, free_memory() // 2) // total(spur_arrays(self.n, 1))
        self.at_once = min(policy.SPURS.at_once, room)

    def are_worth_it(self, count):
        fits = self.at_once >= policy.SPURS.fewest and len(self.arcs.indices) < 1 << 31
        return fits and count >= policy.SPURS.least

    @explained("searching for paths", remedy="request fewer paths")
    def lengths(self, paths, known, spurs, most):
        """The lengths of spurs that leave known paths; infinite for spurs longer than `most`."""
        if not self.given:
            whole = {"offsets": self.arcs.indptr, "neighbours": self.arcs.indices}
            self.given = {name: cupy.asarray(part.astype(np.int32)) for name, part in whole.items()}
            self.given |= {"lengths": cupy.asarray(np.array(self.arcs.lengths)), "rest": cupy.asarray(self.rest)}
            self.state = allocate(spur_arrays(self.n, self.at_once))
        end = int(paths.begins[-1])
        there = {
            "vertices": paths.vertices[:end], "so_far": paths.so_far[:end], "begins": paths.begins,
            "known_path": known.path, "known_before": known.before,
        }  # fmt: skip
        there = self.given | {name: cupy.asarray(part) for name, part in there.items()}
        found = np.empty(len(spurs.path))
        for i in range(0, len(found), policy.SPURS.piece):
            part = slice(i, i + policy.SPURS.piece)
            found[part] = self._some(there, {name: array[part] for name, array in spurs._asdict().items()}, most)
        return found

    def _some(self, there, spurs, most):
        count = len(spurs["path"])
        spurs = {name: cupy.asarray(part) for name, part in spurs.items()}
        found, ticket = cupy.empty(count, np.float64), cupy.zeros(1, np.uint32)
        job = filled(
            SEARCHES, **there, **self.state, **spurs, found=found, ticket=ticket, most=most, slack=self.slack,
            steps=policy.SPURS.steps, n=self.n, count=count, target=self.target,
        )  # fmt: skip
        kernels("int").exactly(SPUR_KERNELS, "find_spurs", "", (min(self.at_once, count),), WARP, (job,))
        return found.get()
