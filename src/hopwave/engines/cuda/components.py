"""Weakly connected components on the GPU, by hooking (kernels/components/hooking.cuh)."""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cuda import policy
from hopwave.engines.cuda.graph import long_rows
from hopwave.engines.cuda.launch import WARP, expression

HEADER = "components/hooking.cuh"


def components(on_device):
    """The number of every vertex's component, in the order of their lowest vertices; int32 on the host."""
    few, vertices = np.int32(policy.COMPONENTS.sampled_arcs), np.int32(on_device.n)
    n, launch, long = on_device.n, on_device.launch, policy.COMPONENTS.long_row
    if not n:
        return np.zeros(0, np.int32)
    rows = on_device.__dict__.get("arranged") if not on_device.directed else None
    offsets, neighbours = rows or on_device.rows
    parent = cupy.arange(n, dtype=np.int32)
    launch(HEADER, "hook_first", n, offsets, neighbours, vertices, few, parent)
    launch(HEADER, "flatten", n, vertices, parent)
    giant = -1 if on_device.directed else most_frequent(parent)
    longest = long_rows(offsets, long)
    launch(
        HEADER, "hook_rest", WARP * n, offsets, neighbours, vertices, few, np.int32(giant), longest,
        np.uint64(len(longest)), np.uint64(long), parent,
    )  # fmt: skip
    launch(HEADER, "flatten", n, vertices, parent)
    # A root is the lowest vertex of its tree, so roots in ascending order are the components in their order.
    number = cupy.cumsum(parent == cupy.arange(n, dtype=np.int32)) - 1
    return number[parent].astype(np.int32).get()


def most_frequent(parent):
    """The most frequent root among some vertices, taken evenly from all."""
    n = len(parent)
    count = min(policy.COMPONENTS.sampled_vertices, n)
    some = np.arange(count, dtype=np.int64) * n // count
    roots, votes = np.unique(parent[cupy.asarray(some)].get(), return_counts=True)
    return int(roots[np.argmax(votes)])


def instances(offset):
    """(header, name) of every kernel here: what the compile test compiles."""
    return [(HEADER, expression(HEADER, name, offset)) for name in ("hook_first", "hook_rest", "flatten")]
