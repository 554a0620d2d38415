"""Whether a graph will fit into the memory of the ranks, checked before it is built."""

from __future__ import annotations

from typing import Any

import numpy as np

from hopwave.distributed.layout import Layout, columns_for, slot_type
from hopwave.distributed.ranks import World
from hopwave.errors import EngineError

# Peak memory while a graph is built (docs/distributed.md), in bytes, with slots of 32 bits.
PEAK_BYTES_PER_ARC, PEAK_BYTES_PER_ARC_2D = 22, 31
BYTES_PER_VERTEX = 44  # offsets, degrees, distance, predecessor


def bytes_per_rank(n: int, edges: int, directed: bool, columns: int, size: int) -> int:
    """About how many bytes each of `size` ranks needs to build and search a graph, if all have equal shares.

    columns: the number of columns in the grid of ranks; 0 for a 1D layout.

    >>> bytes_per_rank(1 << 20, 16 << 20, False, 0, 4) < bytes_per_rank(1 << 20, 16 << 20, False, 2, 4) < 10**9
    True
    """
    arcs = edges * (1 if directed and columns else 2) // size
    group = n // min(columns, size // columns) if columns else n
    widths = int(np.dtype(slot_type(group)).itemsize) // 4  # 1, or 2 with slots of 64 bits
    per_arc = (PEAK_BYTES_PER_ARC_2D if columns else PEAK_BYTES_PER_ARC) * widths
    offsets = 16 * group if columns else 0  # for the vertices of a row and of a column of ranks
    return arcs * per_arc + offsets + BYTES_PER_VERTEX * n // size + group // 4


def check_memory(world: World, n: int, edges: int, directed: bool, layout: Any, device: str) -> None:
    """Raises an EngineError on all ranks if a rank has too little memory for its share."""
    columns = world.together(lambda: columns_for(layout, world.size, n))
    owned = int(layout.starts[-1] - layout.starts[0]) if isinstance(layout, Layout) else n
    need = bytes_per_rank(owned, edges, directed, columns, world.size)
    if device == "cuda":
        need += need // 2  # a GPU does not sort in place

    def check() -> None:
        have = _free(world, device)
        if have is not None and need > have:
            raise EngineError(
                f"{n:,} vertices and {edges:,} edges on {world.size} ranks take about {need / 1e9:,.1f} GB per rank "
                f"while the graph is built, and {have / 1e9:,.1f} GB are free for it; use more ranks on more machines, "
                "or a smaller graph"
            )

    world.together(check)


def _free(world: World, device: str) -> int | None:
    """This rank's share of the free memory of its machine or its GPU; None if the system does not tell."""
    if device == "cuda":
        import cupy

        sharing = -(-world.machine_size // int(cupy.cuda.runtime.getDeviceCount()))
        pooled = int(cupy.get_default_memory_pool().free_bytes())  # kept by CuPy for this process
        return int(cupy.cuda.runtime.memGetInfo()[0]) // sharing + pooled
    from hopwave.engines.host_memory import available_memory

    free = available_memory()
    return None if free is None else int(free) // world.machine_size
