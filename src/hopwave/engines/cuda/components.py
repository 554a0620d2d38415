"""Weakly connected components on the GPU, by hooking (kernels/components/hooking.cuh)."""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cuda.graph import long_rows

HEADER = "components/hooking.cuh"
SAMPLED_ARCS = 2  # of every vertex, hooked before the giant component is looked for
SAMPLE = 1024
LONG_ROW = 4096  # arcs from which all threads share a row


def components(on_device):
    """The number of every vertex's component, counted by lowest vertex; int32 on the host."""
    n, few, vertices = on_device.n, np.int32(SAMPLED_ARCS), np.int32(on_device.n)
    if not n:
        return np.zeros(0, np.int32)
    rows = on_device.__dict__.get("arranged") if not on_device.directed else None
    offsets, neighbours = rows or on_device.rows
    parent = cupy.arange(n, dtype=np.int32)
    on_device.launch(HEADER, "hook_first", n, offsets, neighbours, vertices, few, parent)
    on_device.launch(HEADER, "flatten", n, vertices, parent)
    giant = -1 if on_device.directed else most_frequent(parent)
    longest = long_rows(offsets, LONG_ROW)
    on_device.launch(
        HEADER, "hook_rest", 32 * n, offsets, neighbours, vertices, few, np.int32(giant), longest,
        np.uint64(len(longest)), np.uint64(LONG_ROW), parent,
    )  # fmt: skip
    on_device.launch(HEADER, "flatten", n, vertices, parent)
    # A root is the lowest of its tree, so roots in their order are the components in theirs.
    number = cupy.cumsum(parent == cupy.arange(n, dtype=np.int32)) - 1
    return number[parent].astype(np.int32).get()


def most_frequent(parent):
    """The root that most of some vertices have, taken evenly from all."""
    n = len(parent)
    some = np.arange(min(SAMPLE, n), dtype=np.int64) * n // min(SAMPLE, n)
    roots, votes = np.unique(parent[cupy.asarray(some)].get(), return_counts=True)
    return int(roots[np.argmax(votes)])


def instances(offset):
    """(header, name) of every kernel here: what the compile test compiles."""
    return [(HEADER, f"hopwave::{name}<{offset}>") for name in ("hook_first", "hook_rest", "flatten")]
