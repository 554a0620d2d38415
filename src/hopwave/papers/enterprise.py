"""Enterprise, as far as the XBFS paper describes it: the baseline of its Figures 11 to 14.

According to XBFS, Enterprise (its reference 24) makes every queue, top-down and bottom-up, by scanning the status
array, with prefix sums. Its sorted bottom-up queue needs strided reads (section 4.2), since each thread scans its own
segment. A row's degree decides whether a block, a warp or a thread takes it, bottom-up too (section 5.1.1). The
functions here compute such levels; `Levels` uses them instead of a plan's own steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hopwave.engines.cuda.launch import BLOCK
from hopwave.engines.cuda.search import steps
from hopwave.planning.plan import Step
from hopwave.planning.trace import Level

HEADER = "steps/double_scan.cuh"
KERNELS = r"""
namespace hopwave::steps {

// One of the two scans of a status array: each thread reads a segment of its own.
template <class Offset, int scan, bool bottom_up>
__global__ void strided_scan(const Offset *offsets, const int *distance, u64 n, int depth, u64 segments,
                             u64 segment_length, u32 *places, i64 *sums, int *queue, u64 *counters) {
  const u64 segment = thread_number(), begin = segment * segment_length;
  Tally mine;
  u32 count = 0;
  u64 place = scan == 2 && segment < segments ? (u64)sums[blockIdx.x] + places[segment] : 0;
  for (u64 v = begin; segment < segments && v < begin + segment_length && v < n; ++v) {
    if (bottom_up ? !waits(distance, v, n, depth) : distance[v] != depth + 1) continue;
    if (scan == 2) queue[place++] = (int)v;
    else count += 1, mine.found += 1, mine.edges += degree(offsets, (int)v);
  }
  if (scan == 1) {
    u32 total;
    const u32 before = block_scan(count, total);
    if (segment < segments) places[segment] = before;
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
    if (!bottom_up) report(mine, counters);
  }
}

// Rows of a queue by degree: BLOCK arcs or more by the block, WARP or more by a warp, the others by a thread.
template <class Offset>
__global__ void pull_by_degree(const Offset *in_offsets, const int *in_neighbours, const Offset *offsets,
                               const int *queue, u64 length, int depth, int *distance, int *parent, u64 *counters) {
  __shared__ Offset shared_begin, shared_end;
  __shared__ int chosen, source;
  Tally mine;
  for (u64 tile = (u64)blockIdx.x * BLOCK; tile < length; tile += (u64)gridDim.x * BLOCK) {
    const u64 i = tile + threadIdx.x;
    const int v = i < length ? queue[i] : -1;
    Offset begin = v < 0 ? 0 : in_offsets[v], end = v < 0 ? 0 : in_offsets[v + 1];
    int found = -1;
    while (__syncthreads_or(end - begin >= BLOCK)) {
      if (threadIdx.x == 0) chosen = -1, source = -1;
      __syncthreads();
      if (end - begin >= BLOCK) atomicMax(&chosen, (int)threadIdx.x);
      __syncthreads();
      const bool owner = chosen == threadIdx.x;
      if (owner) shared_begin = begin, shared_end = end, begin = end;
      __syncthreads();
      for (Offset first = shared_begin; first < shared_end; first += BLOCK) {
        bool here = false;
        if (shared_end - first > (Offset)threadIdx.x) {
          const int u = in_neighbours[first + (Offset)threadIdx.x];
          mine.checked += 1;
          here = status(distance, u) == depth;
          if (here) source = u;
        }
        if (__syncthreads_or(here)) break;
      }
      if (owner) found = source;
      __syncthreads();
    }
    while (const u32 waiting = __ballot_sync(ALL_LANES, end - begin >= WARP)) {
      const int leader = __ffs(waiting) - 1;
      const Offset its_begin = __shfl_sync(ALL_LANES, begin, leader), its_end = __shfl_sync(ALL_LANES, end, leader);
      u32 finders = 0;
      int u = -1;
      for (Offset first = its_begin; first < its_end && !finders; first += WARP) {
        bool here = false;
        if (its_end - first > (Offset)lane()) {
          u = in_neighbours[first + (Offset)lane()];
          mine.checked += 1;
          here = status(distance, u) == depth;
        }
        finders = __ballot_sync(ALL_LANES, here);
      }
      u = __shfl_sync(ALL_LANES, u, finders ? __ffs(finders) - 1 : 0);
      if (lane() == leader) {
        if (finders) found = u;
        begin = end;
      }
    }
    for (; begin < end && found < 0; ++begin) {
      const int u = in_neighbours[begin];
      mine.checked += 1;
      if (status(distance, u) == depth) found = u;
    }
    if (v >= 0) write_row<Offset, false>(v, found, -1, offsets, depth, distance, parent, nullptr, counters, mine);
  }
  report(mine, counters);
}

}  // namespace hopwave::steps
"""


def _launch(search: Any, name: str, blocks: int, *arguments: Any, shape: str = "") -> None:
    search.launch(HEADER, name, blocks, *arguments, shape=shape, blocks=blocks, text=KERNELS)


def segments_of(n: int, most: int) -> tuple[int, int, int]:
    """Segments of n statuses, one per thread of at most `most` blocks; vertices of each; blocks."""
    length = -(-n // (32 * min(-(-n // 32), BLOCK * most))) * 32
    segments = -(-n // length)
    return segments, length, -(-segments // BLOCK)


def strided_queue(search: Any, queue: Any, depth: int, bottom_up: bool) -> None:
    """A queue of level depth + 1, or of unvisited vertices, by prefix sums over segments of one thread each."""
    n = search.n
    segments, length, blocks = segments_of(n, search.on_device.device.blocks)
    places, sums = search.work.take("places", segments, np.uint32), search.work.take("block sums", blocks, np.int64)
    arguments = (
        search.loaded.offsets, search.distance, np.uint64(n), np.int32(depth), np.uint64(segments),
        np.uint64(length), places, sums, queue, search.counters,
    )  # fmt: skip
    way = "true" if bottom_up else "false"
    _launch(search, "strided_scan", blocks, *arguments, shape=f"1, {way}")
    search.launch(HEADER, "prefix_sum", blocks, sums, np.uint64(blocks), blocks=1)
    _launch(search, "strided_scan", blocks, *arguments, shape=f"2, {way}")


def push(search: Any, step: Any) -> None:
    """Top-down: neighbours are marked by plain stores, then the status array is scanned."""
    if not search.has_queue:  # after a pull
        strided_queue(search, search.queue, search.depth - 1, bottom_up=False)
    search.clear_counters()
    loaded = search.loaded
    search.launch(
        "steps/push.cuh", "push", search.nf, loaded.offsets, loaded.neighbours, search.queue, np.uint64(search.nf),
        search.level, search.distance, search.parents, search.sigmas, search.next_queue, search.counters,
        shape=steps.push_shape("twc", "scan", search.counting), blocks=steps.even_shares(search, search.nf),
    )  # fmt: skip
    strided_queue(search, search.next_queue, search.depth, bottom_up=False)
    search.set_forms(queue=True)


def pull(search: Any, step: Any) -> None:
    """Bottom-up: a strided queue, rows by degree. If every vertex is visited, nothing is scanned, as in our XBFS."""
    waiting = search.work.take("waiting", search.n, np.int32)
    if search.reached < search.n:
        strided_queue(search, waiting, search.depth, bottom_up=True)
    _pull_by_degree(search, waiting)
    search.set_forms()


def pull_double_scan(search: Any, step: Any) -> None:
    """A pull by degree after XBFS's double-scan queue: the figure's second bar."""
    waiting = search.n - search.reached
    _pull_by_degree(search, steps.unvisited_queue(search) if waiting else None)
    search.set_forms(waiting=waiting)


def _pull_by_degree(search: Any, waiting: Any) -> None:
    loaded, length = search.loaded, search.n - search.reached
    search.clear_counters()
    _launch(
        search, "pull_by_degree", min(-(-length // BLOCK), search.on_device.device.blocks), loaded.in_offsets,
        loaded.in_neighbours, loaded.offsets, waiting, np.uint64(length), search.level, search.distance, search.parents,
        search.counters,
    )  # fmt: skip


class Levels:
    """An engine for host_loop.by_levels: computes levels by a plan's steps, or by a given function per choice."""

    def __init__(self, functions: dict[int, Callable[[Any, Any], None]]):
        self.functions = functions

    def advance(self, search: Any, step: Step, choice: int) -> Level:
        """One level."""
        level: Level = steps.advance(search, step, choice, self.functions.get(choice))
        return level
