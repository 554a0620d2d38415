"""hopwave's own plan on the GPU: a full search is one cooperative launch (kernels/one_launch/search.cuh)."""

from dataclasses import replace

import cupy
import numpy as np

from hopwave import engines
from hopwave.arrays import Deferred, Structure
from hopwave.engines.cuda import build, nvrtc
from hopwave.engines.cuda.buffers import to_host
from hopwave.engines.cuda.errors import explained
from hopwave.engines.cuda.launch import expression, kernels, truth
from hopwave.engines.cuda.policy import LevelSplit
from hopwave.engines.cuda.records import filled, record
from hopwave.engines.cuda.search import by_level
from hopwave.engines.cuda.search.workspace import (
    BLOCK,
    HEADER,
    TRACE_ROWS,
    NoCooperativeLaunch,
    NumberedWorkspace,
    Workspace,
    trace_table,
)
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Pull, Push
from hopwave.planning.rules import Growing
from hopwave.planning.trace import Level

SCALING = record(by_level.HEADER, "ScalingState", "u64 greatest[2]", "i32 overflowed bound", "i64 shift")


def runs(plan):
    """Whether this module can run the plan: a push and a pull under the rule Growing, with the loop on the device."""
    kinds = tuple(type(step) for step in plan.steps)
    return plan.loop == "device" and kinds == (Push, Pull) and isinstance(plan.rule, Growing)


def begin(offset, n, question):
    shape = truth(question.predecessors), truth(n >= LevelSplit.fill)
    nvrtc.begin(HEADER, [expression(HEADER, "prepare", offset), expression(HEADER, "search", offset, *shape)])
    if question.path_counts:
        begin_counting(offset)


def is_kept(loaded):
    """Whether the kernel of a plain search of this graph is cached on disk."""
    shape = "true", truth(loaded.n >= LevelSplit.fill)
    return nvrtc.is_kept(HEADER, expression(HEADER, "search", loaded.on_device.offset, *shape))


def begin_counting(offset):
    nvrtc.begin(HEADER, [expression(HEADER, "count_paths", offset)])
    for header in (by_level.HEADER, build.HEADER):
        kernels(offset).begin(header)


def workspace(loaded):
    if "hopwave" not in loaded.kept:
        loaded.kept["hopwave"] = (Workspace if loaded.numbering is None else NumberedWorkspace)(loaded)
    return loaded.kept["hopwave"]


def run(search, plan, trace):
    if "hopwave" not in search.loaded.kept:
        begin(search.on_device.offset, search.n, search.question)
    try:
        W = workspace(search.loaded)
        W.prepared(search.parent is not None, plan)
    except NoCooperativeLaunch:
        return None
    rows = trace_table() if trace else None
    ending = W.launch(search.distance, search.parent, search.sources, search.question, plan, rows)
    if trace and ending.found()["levels"] > TRACE_ROWS:  # a deep graph: repeat with a row for every level
        rows = trace_table(ending.found()["levels"])
        ending = W.launch(search.distance, search.parent, search.sources, search.question, plan, rows)
    search.depth, search.reached = ending.depth(), ending.reached()
    search.counts = path_counts(W, search.distance, search.depth) if search.question.path_counts else None
    return levels(rows.get(), ending.found()["levels"], plan) if trace else []


class DirectSearch:
    """Searches of one graph by one plan, each a single launch: see hopwave.engines.Engine.direct_search."""

    without = ()

    def __init__(self, loaded, plan, question):
        self.workspace, self.plan, self.question = workspace(loaded), plan, question
        self.workspace.prepared(question.predecessors, plan)
        self.n, self.on_device = loaded.n, loaded.on_device

    def __call__(self, sources, limit):
        on_device = self.on_device
        with explained("searching", on_device.graph()), on_device.lock:
            question = self.question if limit is None else replace(self.question, depth_limit=limit)
            distance = cupy.empty(self.n, np.int32)
            parent = cupy.empty(self.n, np.int32) if question.predecessors else None
            ending = self.workspace.launch(distance, parent, sources, question, self.plan)
        stays = on_device.follows
        return {
            "distances": distance if stays else self._later(distance),
            "predecessors": parent if stays or parent is None else self._later(parent),
            "path_counts": None,
            "depth": Deferred(ending.depth),
            "reached": Deferred(ending.reached),
        }

    def _later(self, array):
        stream, on_device = self.workspace.stream, self.on_device

        def fetch():
            with explained("fetching the result", on_device.graph()):
                return to_host(array, stream)

        return Deferred(fetch)


def levels(rows, count, plan):
    began = int(rows[-1, -1])
    traced = []
    for depth, choice, nf, mf, mu, found, checked, _blocks, ended in rows[:count].tolist():
        traced.append(Level(depth, choice, str(plan.steps[choice]), nf, mf, mu, found, checked, (ended - began) * 1e-9))
        began = ended
    return traced


def path_counts(W, distance, depth):
    """σ along a finished search: float64 on the GPU or, if a level was scaled, unscaled counts on the host."""
    if W.loaded.numbering is not None:
        W.loaded.on_device.refuse_compressed()
    kernel = W.loaded.kept.get("count_paths")
    if kernel is None:
        begin_counting(W.offset)
        kernel = W.loaded.kept["count_paths"] = W.function("count_paths")
    in_rows = W.loaded.in_offsets, W.loaded.in_neighbours
    launch = kernels(W.offset)
    order, starts, arcs = by_level.by_level(launch, in_rows[0], distance, depth)
    shifts, state = cupy.empty(depth + 1, np.int64), cupy.zeros(SCALING.itemsize, np.uint8)
    sigma = cupy.empty(W.n, np.float64)
    arguments = filled(
        by_level.LEVELS, order=order, starts=starts, arcs=arcs, shifts=shifts, count=depth + 1,
        degree_bits=W.loaded.on_device.degree_bits, scaling=state,
    )  # fmt: skip
    kernel((W.multiprocessors,), (BLOCK,), (W.graph, arguments, W.buffers.counters, distance, sigma))
    if state.get().view(SCALING)[0]["overflowed"]:
        return by_level.extended_counts(launch, in_rows, distance, depth)
    shifts = shifts.get()
    return by_level.unscaled(sigma, distance, shifts) if shifts.any() else sigma


# ---------------------------------------------------------------- searches for the engine's own use


def distances_from(loaded, source):
    """Hops from one vertex to every other (-1: unreached), and the maximum."""
    engine, plan = engines.engine("cuda"), CATALOGUE["hopwave-dense"]
    # With predecessors: most searches compute them, so that kernel is already compiled.
    search = engine.start(engine.load(loaded.graph, plan), (source,), SearchJob())
    engine.run(search, plan, False)
    return search.distance, engine.fetch(search)["depth"]


MAX_HOST_ARCS = 1 << 22  # SciPy searches this many arcs in 5% of the time that compiling the GPU search takes


def probed_depth(loaded):
    """Levels of a search from the vertex of highest degree, measured once per graph."""
    graph = loaded.graph
    known = graph._prepared.record(Structure)
    if known.depth is None:
        on_host = graph._host is not None and loaded.m <= MAX_HOST_ARCS and not is_kept(loaded)
        if not loaded.m:
            known.depth = 0
        elif on_host:
            known.depth = depth_on_host(graph._host, int(graph.degrees.argmax()))
        else:
            known.depth = distances_from(loaded, int(graph.degrees.argmax()))[1]
    return known.depth


def depth_on_host(rows, source):
    """The maximum number of hops from a vertex along these rows, by SciPy."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    n, m = len(rows.indptr) - 1, len(rows.indices)
    order, before = breadth_first_order(csr_array((np.ones(m), rows.indices, rows.indptr), (n, n)), source)
    v, depth = order[-1], 0
    while v != source:
        v, depth = before[v], depth + 1
    return depth
