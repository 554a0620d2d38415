"""Triangles on the GPU, by hash tables in shared memory (kernels/linalg/triangles.cuh)."""

import cupy
import numpy as np

from hopwave.engines.cuda import build
from hopwave.engines.cuda.launch import WARP, kernels, offset_type, truth

HEADER = "linalg/triangles.cuh"
WARP_SLOTS = 1024  # in the kernels
THREADS, LONG_THREADS = 128, 256  # per block: a warp for each vertex, or all for one
PER_MULTIPROCESSOR, LONG_PER_MULTIPROCESSOR = 14, 8  # blocks


def counted(part, each):
    """How many triangles a symmetric pattern has; with `each`, how many every vertex is in, int64 on the GPU.

    None if the table of some vertex does not fit into shared memory.
    """
    offsets, neighbours, _ = part
    n, launch = len(offsets) - 1, kernels(offset_type(offsets))
    found, total = cupy.zeros(n if each else 0, np.int64), cupy.zeros(1, np.uint64)
    ups, longs = cupy.empty(n, np.uint32), cupy.empty(n, np.int32)
    counts = cupy.zeros(4, np.uint32)  # vertices with long lists, the longest; the next vertex, the next of the long
    rows = offsets, neighbours, np.uint64(n)
    launch(HEADER, "count_up", WARP * n, *rows, ups, longs, counts)
    up = build.offsets_of(ups, n, offsets.dtype)
    heads = cupy.empty(len(neighbours) // 2, np.int32)  # every edge but loops is stored twice
    launch(HEADER, "write_up", WARP * n, *rows, up, heads)
    long, most = counts[:2].tolist()
    multiprocessors = launch.attributes["MultiProcessorCount"]
    size, shape = 8 if each else 4, truth(each)  # bytes per slot: a vertex, and how often it was found
    room = 1 << max(1, 2 * most - 1).bit_length()
    if long and size * room > launch.attributes["MaxSharedMemoryPerBlockOptin"]:
        return None
    sums = found, total
    if n:
        blocks = min(-(-n // 16), PER_MULTIPROCESSOR * multiprocessors)
        launch.exactly(
            HEADER, "count_short", shape, (blocks,), THREADS,
            (up, heads, np.uint32(n), counts[2:], *sums), size * WARP_SLOTS * (THREADS // WARP),
        )  # fmt: skip
    if long:
        launch.exactly(
            HEADER, "count_long", shape, (min(long, LONG_PER_MULTIPROCESSOR * multiprocessors),), LONG_THREADS,
            (up, heads, longs, np.uint32(long), np.uint32(room), counts[3:], *sums), size * room,
        )  # fmt: skip
    return found if each else int(total.get()[0])
