"""Biconnected blocks of a graph on the GPU: all arcs are read there, and the tree is walked on the host."""

import cupy
import numpy as np

from hopwave.engines.cpu import blocks as tree
from hopwave.engines.cuda import components
from hopwave.engines.cuda.buffers import copied
from hopwave.engines.cuda.launch import together

HEADER = "components/hooking.cuh"
together(HEADER, "neighbour_range", "join_others")


def blocks(on_device, parent, depth):
    """As hopwave.engines.cpu.blocks.blocks."""
    on_device.refuse_compressed()
    n, launch, size = on_device.n, on_device.launch, np.empty(on_device.n, np.int32)
    first, label, head = np.zeros(n, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    order = tree.number_subtrees(parent, depth, first, size)
    numbers, up = cupy.asarray(first), cupy.asarray(parent.astype(np.int32))
    low, high = copied(numbers), copied(numbers)
    arcs = *on_device.rows, np.int32(n), np.uint64(on_device.m), up
    launch(HEADER, "neighbour_range", on_device.m, *arcs, numbers, low, high)
    above = np.arange(n).astype(np.uint32)
    tree.join_tree(order, parent, first, size, low.get(), high.get(), above)
    sets = cupy.asarray(above.view(np.int32))
    launch(HEADER, "join_others", on_device.m, *arcs, sets)
    launch(components.HEADER, "flatten", n, np.int32(n), sets)
    count = tree.number_blocks(parent, depth, sets.get().view(np.uint32), label, head)
    return label, head[:count].copy()
