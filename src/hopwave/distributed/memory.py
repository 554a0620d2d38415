"""Whether a graph will fit the ranks, said before an hour is spent on finding out."""

from __future__ import annotations

from typing import Any

from hopwave.distributed.graph import fitting_columns
from hopwave.distributed.layout import NARROW
from hopwave.distributed.world import World
from hopwave.errors import EngineError

AN_ARC, AN_ARC_2D = 22, 31  # bytes at the peak, while a graph is built (docs/distributed.md)
A_VERTEX = 44  # bytes: offsets, degrees, distance, predecessor


def bytes_a_rank(n: int, edges: int, directed: bool, columns: int, size: int) -> int:
    """About what each of so many ranks takes while a graph is built and searched, if all have equal shares.

    columns: of the grid that they stand in, 0 for a 1D layout.

    >>> bytes_a_rank(1 << 20, 16 << 20, False, 0, 4) < bytes_a_rank(1 << 20, 16 << 20, False, 2, 4) < 10**9
    True
    """
    arcs = edges * (1 if directed and columns else 2) // size
    group = n // min(columns, size // columns) if columns else n
    an_arc = (AN_ARC_2D if columns else AN_ARC) * (1 if group <= NARROW else 2)
    offsets = 16 * group if columns else 0  # of a row and of a column of ranks
    return arcs * an_arc + offsets + A_VERTEX * n // size + group // 4


def check_memory(world: World, n: int, edges: int, directed: bool, layout: Any, device: str) -> None:
    """An EngineError, on all ranks, where some have not the memory for their share."""
    columns = world.together(lambda: fitting_columns(layout, world.size, n))
    need = bytes_a_rank(n, edges, directed, columns, world.size)
    if device == "cuda":
        need += need // 2  # a GPU does not sort in place

    def look() -> None:
        have = _free(world, device)
        if have is not None and need > have:
            raise EngineError(
                f"{edges:,} edges on {world.size} ranks take some {need / 1e9:,.1f} GB a rank while it is built, "
                f"and {have / 1e9:,.1f} GB are free for each; use more ranks on more machines, or a smaller graph"
            )

    world.together(look)


def _free(world: World, device: str) -> int | None:
    """This rank's share of what is free on its machine, or on its GPU; None where the system does not say."""
    if device == "cuda":
        import cupy

        sharing = -(-world.near // int(cupy.cuda.runtime.getDeviceCount()))
        kept = int(cupy.get_default_memory_pool().free_bytes())  # by CuPy, for us
        return int(cupy.cuda.runtime.memGetInfo()[0]) // sharing + kept
    from hopwave.engines.host_memory import available_memory

    free = available_memory()
    return None if free is None else int(free) // world.near
