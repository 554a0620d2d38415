"""Functions that read all arcs of a graph on the GPU (kernels/build/arcs.cuh)."""

import cupy
import numpy as np

from hopwave.engines.cuda.errors import LESS_MEMORY, explained
from hopwave.engines.cuda.graph import uploaded
from hopwave.engines.cuda.launch import NULL, kernels, together

HEADER = "build/arcs.cuh"
together(
    HEADER, "add_reverse", "scale_values", "count_inside", "write_inside", "judge_vertices", "judge_arcs", "judge_found"
)  # fmt: skip
NO_LIMIT = np.int64(np.iinfo(np.int32).max)


def with_reverse(graph, values):
    """For every arc of an undirected graph: its value plus the value of the reverse arc."""
    with explained("adding up both directions of edges", graph, LESS_MEMORY):
        on_device = uploaded(graph)
        sums = cupy.empty_like(values)
        arcs = np.int32(on_device.n), np.uint64(on_device.m)
        on_device.launch(HEADER, "add_reverse", on_device.m, *on_device.rows, *arcs, values, sums)
        return sums


def scaled(values, factor=1.0, divisor=1.0):
    """values · factor / divisor, one of which is 1: bitwise identical to NumPy, and no kernel to compile."""
    with explained("scaling scores", remedy=LESS_MEMORY):
        found = cupy.empty_like(values)
        numbers = np.uint64(len(values)), np.float64(factor), np.float64(divisor)
        kernels("int")(HEADER, "scale_values", len(values), values, *numbers, found)
        return found


def obeys(graph, levels, tree, sources, limit):
    """Whether levels, and predecessors if passed, obey the rules of a search (api/validate.py)."""
    with explained("validating a search", graph):
        on_device = uploaded(graph)
        n, m, launch = on_device.n, on_device.m, on_device.launch
        rows = on_device.__dict__.get("arranged") if not on_device.directed else None  # order does not matter
        is_source, found, broken = cupy.zeros(n, np.uint8), cupy.empty(n, np.uint8), cupy.zeros(1, np.uint32)
        is_source[cupy.asarray(sources)] = 1
        levels, tree = cupy.asarray(levels), NULL if tree is None else cupy.asarray(tree)
        limit = NO_LIMIT if limit is None else np.int64(min(limit, NO_LIMIT))
        launch(HEADER, "judge_vertices", n, np.int32(n), levels, tree, is_source, limit, found, broken)
        arcs = np.int32(n), np.uint64(m)
        launch(HEADER, "judge_arcs", m, *(rows or on_device.rows), *arcs, levels, tree, limit, found, broken)
        launch(HEADER, "judge_found", n, np.int32(n), found, broken)
        return not int(broken.get()[0])
