"""Steps of plans that compute a whole dense vector, and mask it afterwards."""

from __future__ import annotations

import numpy as np

from hopwave.engines.cuda.launch import NULL


def push_edges(search, step):
    """One thread per arc of the whole graph scatters into a dense vector, then the mask (TurboBFS, Algorithms 1, 3)."""
    loaded = search.loaded
    product_, sums = dense_product(search)
    search.clear_counters()
    search.launch(
        "steps/edges.cuh", "scatter", loaded.m, loaded.in_neighbours, search.on_device.arc_columns, np.uint64(loaded.m),
        search.level, search.distance, search.sigmas, product_, sums, search.counters, shape=search.counting,
    )  # fmt: skip
    mask_product(search, product_, sums)


def pull_shares(search, step):
    """All rows in equal shares of their arcs, then the mask: push-pull's unmasked product (section 6.3)."""
    search.need_visited()
    if step.operand == "frontier":
        search.need_frontier_bits()
    loaded, operand = search.loaded, search.bits("frontier" if step.operand == "frontier" else "visited")
    product_, sums = dense_product(search)
    search.clear_counters()
    search.launch(
        "steps/all_rows.cuh", "all_rows", loaded.m, loaded.in_offsets, loaded.in_neighbours, search.vertices,
        np.uint64(loaded.m), operand, search.sigmas, product_, sums, search.counters, shape=search.counting,
        blocks=search.equal_shares(loaded.m),
    )  # fmt: skip
    mask_product(search, product_, sums)


def dense_product(search):
    """An empty dense vector for a product before its mask, and for its path counts; the mask leaves them empty."""
    product_ = search.work.take("product", search.n, np.int32, fill=-1)
    return product_, NULL if search.sigma is None else search.work.take("product sums", search.n, np.float64, fill=0)


def mask_product(search, product_, sums):
    """Of a dense product, what was not visited is the new frontier."""
    search.launch(
        "steps/edges.cuh", "mask", search.n, search.loaded.offsets, search.vertices, search.level, product_, sums,
        search.distance, search.parents, search.sigmas, search.counters, shape=search.counting,
    )  # fmt: skip
    search.set_forms()
