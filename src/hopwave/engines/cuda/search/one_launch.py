"""hopwave's own plan on the GPU: a whole search is one cooperative launch (kernels/one_launch/search.cuh)."""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cuda import scaling
from hopwave.engines.cuda.launch import kernels
from hopwave.engines.cuda.records import filled, record
from hopwave.engines.cuda.search.workspace import (
    BLOCK,
    TRACE_ROWS,
    NoCooperativeLaunch,
    Workspace,
    deepest,
    trace_table,
)
from hopwave.engines.cuda.search.workspace import instances as instances_of
from hopwave.plan import Pull, Push
from hopwave.rules import Growing
from hopwave.trace import Level

LEVELS = record(
    "one_launch/path_counts.cuh", "Levels", "ptr order starts arcs shifts", "i64 count degree_bits", "ptr scaling"
)
SCALING = record("one_launch/path_counts.cuh", "ScalingState", "u64 greatest[2]", "i32 overflowed bound", "i64 shift")


def why_not(plan, question):
    """None, or why this loop cannot run the plan.

    >>> import hopwave as hw
    >>> from hopwave.jobs import Question
    >>> why_not(hw.plan("hopwave"), Question()) is None
    True
    """
    kinds = tuple(type(step) for step in plan.steps)
    if plan.loop != "device" or kinds != (Push, Pull) or not isinstance(plan.rule, Growing):
        return f"plan {plan.name!r} is not a push and a pull under the rule Growing, with its loop on the device"
    return None


def instances():
    """Every kernel there is: header and name expression."""
    for offset in ("int", "long long"):
        yield from instances_of(offset)


def workspace(loaded):
    """The graph's workspace, made at its first search."""
    if "hopwave" not in loaded.kept:
        loaded.kept["hopwave"] = Workspace(loaded)
    return loaded.kept["hopwave"]


def run(search, plan, trace):
    """The whole search; its levels when they are traced. Sets search.depth, .reached and .counts.

    None, with nothing done, where this GPU cannot hold a whole grid at once: the host must then run the levels.
    """
    try:
        W = workspace(search.loaded)
        W.kernel(search.parent is not None)
    except NoCooperativeLaunch:
        return None
    sources = cupy.asarray(np.array(search.sources, np.int32))
    rows = trace_table() if trace else None
    W.launch(search.distance, search.parent, sources, search.question, plan, rows)
    standing = W.standing()
    if trace and standing["levels"] > TRACE_ROWS:  # a deep graph: once more, with a row for every level
        rows = trace_table(int(standing["levels"]))
        W.launch(search.distance, search.parent, sources, search.question, plan, rows)
        standing = W.standing()
    search.depth, search.reached = deepest(standing), int(standing["reached"])
    search.counts = path_counts(W, search.distance, search.depth) if search.question.path_counts else None
    return levels(rows, int(standing["levels"]), plan) if trace else []


def levels(rows, count, plan):
    """The GPU's trace as Levels."""
    began = int(rows[-1, -1])
    traced = []
    for depth, choice, nf, mf, mu, found, checked, _blocks, ended in rows[:count].tolist():
        traced.append(Level(depth, choice, str(plan.steps[choice]), nf, mf, mu, found, checked, (ended - began) * 1e-9))
        began = ended
    return traced


def path_counts(W, distance, depth):
    """σ along a finished search: a float64 array on the GPU, or on the host where a level had to be scaled."""
    in_rows = W.loaded.in_offsets, W.loaded.in_neighbours
    order, starts, arcs, degree_bits = by_level(in_rows[0], distance, depth)
    shifts, state = cupy.empty(depth + 1, np.int64), cupy.zeros(SCALING.itemsize, np.uint8)
    sigma = cupy.empty(W.n, np.float64)
    arguments = filled(
        LEVELS, order=order, starts=starts, arcs=arcs, shifts=shifts, count=depth + 1, degree_bits=degree_bits,
        scaling=state,
    )  # fmt: skip
    kernel = W.function("count_paths")
    kernel((W.multiprocessors,), (BLOCK,), (W.graph, arguments, W.buffers.counters, distance, sigma))
    if state.get().view(SCALING)[0]["overflowed"]:
        return scaling.extended_counts(kernels(W.offset), in_rows, distance, depth)
    shifts = shifts.get()
    return scaling.unscaled(sigma, distance, shifts) if shifts.any() else sigma


def by_level(in_offsets, distance, depth):
    """Reached vertices level by level, each level by descending in-degree; where levels begin; each one's in-arcs;
    and the bits of the greatest in-degree."""
    in_degrees = cupy.diff(in_offsets).astype(np.int64)
    reached = cupy.flatnonzero(distance >= 0).astype(np.int32)
    depths = distance[reached].astype(np.int64)
    order = reached[cupy.argsort((depths << 32) - in_degrees[reached])]
    starts = cupy.zeros(depth + 2, np.int64)
    starts[1:] = cupy.cumsum(cupy.bincount(depths, minlength=depth + 1))
    ends = cupy.concatenate([cupy.zeros(1, np.int64), cupy.cumsum(in_degrees[order])])
    return order, starts, cupy.diff(ends[starts]), int(in_degrees.max()).bit_length()
