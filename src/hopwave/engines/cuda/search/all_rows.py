"""Push-pull's unmasked product by rows as a step: all rows, then the mask."""

import numpy as np

from hopwave.engines.cuda.launch import NULL

HEADER = "steps/pull.cuh"


def pull_shares(search, step):
    """All rows in equal shares of their arcs, then the mask (section 6.3, operation 1)."""
    search.need_visited()
    if step.operand == "frontier":
        search.need_frontier_bits()
    loaded, visited, found = search.loaded, search.bits("visited"), search.bits("next bits")
    operand = search.bits("frontier") if step.operand == "frontier" else visited
    # Empty before each product; the mask leaves them empty.
    dense = {
        "product": search.work.take("row product", search.n, np.int32, fill=-1),
        "sums": NULL if search.sigma is None else search.work.take("row sums", search.n, np.float64, fill=0),
    }
    search.clear_counters()
    search.launch(
        HEADER, "all_rows", loaded.m, shape=search.counting, blocks=search.equal_shares(loaded.m),
        in_offsets=loaded.in_offsets, in_neighbours=loaded.in_neighbours, n=search.vertices, arcs=np.uint64(loaded.m),
        operand=operand, sigma=search.sigmas, **dense, counters=search.counters,
    )  # fmt: skip
    search.launch(
        HEADER, "mask_rows", search.n, shape=search.counting, offsets=loaded.offsets, n=search.vertices,
        depth=search.level, **dense, visited=visited, next=found, **search.answer, counters=search.counters,
    )  # fmt: skip
    search.set_forms(bits=True, visited=True)
