"""XBFS's Figure 5 on a GPU: a queue of one level by atomic operations, and by prefix sums in two ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from hopwave.papers.lab import Lab, WrongAnswer
from hopwave.papers.records import Row, left_out

MILLIONS = (1, 4, 16, 64, 256, 512)  # statuses
SHARES = (1 / 64, 1 / 2)
ATOMIC = r"""
namespace hopwave::steps {
template <class Offset>
__global__ void atomic_queue(const int *distance, u64 n, int level, int *queue, u64 *tail) {
  for (u64 v = thread_number(); v < n; v += thread_count())
    if (distance[v] == level) queue[enqueue_at(tail)] = (int)v;
}
}
"""


def queues(lab: Lab) -> list[Row]:
    """Milliseconds of each way, the best of five, for arrays of many sizes; every queue is checked."""
    if lab.device != "cuda":
        return [{"GPU": "none"} | left_out("the ways to make a queue are a GPU's: --device cuda")]
    rows = []
    for row in times(MILLIONS[:2] if lab.quick else MILLIONS):
        gain = min(row["double scan"], row["CuPy"]) / row["atomic"]
        shown = {f"{way} ms": row[way] for way in ("atomic", "double scan", "CuPy")}
        series = f"this GPU, 1 of {round(1 / row['share'])} in the queue"
        rows.append({"millions": row["millions"], "share": row["share"], **shown, "gain": gain, "series": series})
        lab.release()
    return rows


def times(every: Iterable[int]) -> Iterator[Row]:
    """A row for each number of vertices and share of them in the queue."""
    for millions in every:
        for share in SHARES:
            yield {"millions": millions, "share": share, **ways(millions << 20, share)}


def ways(n: int, share: float) -> dict[str, float]:
    """Milliseconds of each way to make a queue of a share of n vertices."""
    import cupy

    from hopwave.engines.cuda.launch import BLOCK, kernels
    from hopwave.papers.enterprise import HEADER, segments_of

    launch = kernels("int")
    status = (cupy.random.default_rng(1).random(n, dtype=cupy.float32) < share).astype(cupy.int32) - 1
    right = cupy.flatnonzero(status == 0)
    queue, tail = cupy.empty(n, cupy.int32), cupy.zeros(1, cupy.uint64)
    segments, length, blocks = segments_of(n, launch.blocks)
    places, sums = cupy.empty(segments, cupy.uint32), cupy.empty(blocks, cupy.int64)
    # waits() selects unvisited vertices, so the same status arrays are used with -1 and 0 exchanged
    other = -1 - status
    sizes = np.uint64(n), np.int32(5), np.uint64(segments), np.uint64(length), places, sums, queue

    def atomic() -> None:
        tail.data.memset_async(0, 8)
        kernel = launch.get(HEADER, "atomic_queue", "", ATOMIC)
        kernel((launch.grid(n),), (BLOCK,), (status, np.uint64(n), np.int32(0), queue, tail))

    def double_scan() -> None:
        launch(HEADER, "scan_segments", n, other, *sizes, shape="1", blocks=blocks)
        launch(HEADER, "prefix_sum", blocks, sums, np.uint64(blocks), blocks=1)
        launch(HEADER, "scan_segments", n, other, *sizes, shape="2", blocks=blocks)

    found = {"atomic": best(atomic)}
    if int(tail[0]) != len(right):
        raise WrongAnswer("the atomic queue is wrong; please report this")
    found["double scan"] = best(double_scan)
    if not bool((queue[: len(right)] == right).all()):
        raise WrongAnswer("the double scan's queue is wrong; please report this")
    return found | {"CuPy": best(lambda: cupy.flatnonzero(status == 0))}


def best(call: Callable[[], Any], rounds: int = 5) -> float:
    """Milliseconds by the GPU's clock."""
    import cupy

    call()
    times = []
    for _ in range(rounds):
        began, ended = cupy.cuda.Event(), cupy.cuda.Event()
        began.record()
        call()
        ended.record()
        ended.synchronize()
        times.append(cupy.cuda.get_elapsed_time(began, ended))
    return float(min(times))
