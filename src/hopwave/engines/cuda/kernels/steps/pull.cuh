// Row products: TurboBFS's gathers (Algorithms 4 and 5) and bottom-up searches (6 and 7), and push-pull's four
// (Algorithm 2: masked or not, with early exit or not, over the frontier or over all visited vertices).
#pragma once
#include "common/graph.cuh"
#include "steps/plan.cuh"
#include "steps/report.cuh"

namespace hopwave::steps {

// One level by rows.
//   operand            the bitmap in which neighbours are looked up: the frontier, or the visited vertices, which give
//                      the same answer (push-pull, section 5.4) without a bitmap of the frontier
//   rows = all         computes every row and applies the mask afterwards
//   rows = unvisited   skips the rows that are masked out
//   early_exit         stops at the first neighbour found; sums need every neighbour
//   mapping = thread   a warp takes the 32 vertices of a word, one per lane; a ballot makes the word of those found
//   mapping = warp     a warp takes one vertex; its lanes read 32 neighbours at a time, and their sums are added up
template <class Offset, Mapping mapping, Rows rows, Operand kind, bool early_exit, bool counting>
__global__ void pull(const Offset *in_offsets, const int *in_neighbours, const Offset *offsets, int n, int depth,
                     const u32 *operand, u32 *visited, u32 *next, int *distance, int *parent, double *sigma,
                     const u64 *before, u64 *counters) {
  if (ended(before)) return;
  Tally mine;
  if (mapping == Mapping::thread) {
    const u64 words = ((u64)n + 31) / 32, warps = thread_count() / WARP;
    for (u64 w = thread_number() / WARP; w < words; w += warps) {
      const u32 seen = visited[w];
      const u64 v = 32 * w + lane();
      const bool masked = seen >> lane() & 1;
      int source = -1;
      double sum = 0.0;
      if (v < n && (rows == Rows::all || !masked)) {
        const Offset end = in_offsets[v + 1];
        for (Offset arc = in_offsets[v]; arc < end; ++arc) {
          const int u = in_neighbours[arc];
          mine.checked += 1;
          if (!has(operand, u)) continue;
          source = u;
          if (counting) sum += sigma[u];
          if (early_exit) break;
        }
      }
      const bool found = source >= 0 && !masked;
      if (found) {
        distance[v] = depth + 1;
        if (parent) parent[v] = source;
        if (counting) sigma[v] = sum;
        mine.found += 1;
        mine.edges += degree(offsets, (int)v);
      }
      const u32 bits = __ballot_sync(ALL_LANES, found);
      if (lane() == 0) {
        next[w] = bits;
        if (kind == Operand::frontier && bits)
          visited[w] = seen | bits;  // a visited operand must not change within a level
      }
    }
  } else {
    const u64 warps = thread_count() / WARP;
    for (u64 v = thread_number() / WARP; v < n; v += warps) {
      // One lane reads for all: another warp may be setting its bit of the same word, and the lanes must agree.
      const bool masked = __shfl_sync(ALL_LANES, has((const u32 *)visited, (int)v), 0);
      if (rows != Rows::all && masked) continue;
      const Offset begin = in_offsets[v], end = in_offsets[v + 1];
      int source = -1;
      double sum = 0.0;
      for (Offset first = begin; first < end; first += WARP) {
        const Offset arc = first + lane();
        bool here = false;
        if (arc < end) {
          const int u = in_neighbours[arc];
          mine.checked += 1;
          here = has(operand, u);
          if (here) source = u;
          if (here && counting) sum += sigma[u];
        }
        if (early_exit && __any_sync(ALL_LANES, here)) break;
      }
      const u32 finders = __ballot_sync(ALL_LANES, source >= 0);
      if (!finders || masked) continue;
      if (counting) sum = warp_sum(sum);
      source = __shfl_sync(ALL_LANES, source, __ffs(finders) - 1);
      if (lane() == 0) {
        distance[v] = depth + 1;
        if (parent) parent[v] = source;
        if (counting) sigma[v] = sum;
        atomicOr(&next[v / 32], 1u << (v % 32));
        if (kind == Operand::frontier) atomicOr(&visited[v / 32], 1u << (v % 32));
        mine.found += 1;
        mine.edges += degree(offsets, (int)v);
      }
    }
  }
  report(mine, counters);
}

}  // namespace hopwave::steps
