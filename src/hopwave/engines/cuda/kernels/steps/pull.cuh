// Row products: TurboBFS's gathers (Algorithms 4 and 5) and bottom-up searches (6 and 7), and push-pull's four
// (Algorithm 2: masked or not, with early exit or not, over the frontier or over all visited vertices).
#pragma once
#include "common/graph.cuh"
#include "common/products.cuh"
#include "steps/plan.cuh"
#include "steps/report.cuh"

namespace hopwave::steps {

// What one lane has found of a row: a neighbour in the operand (-1: no neighbour), and the sum of all such neighbours'
// path counts.
struct Row {
  int source = -1;
  double paths = 0.0;
};

// WIDTH lanes search in_neighbours[begin, end). With early exit they stop at the first neighbour found.
template <int WIDTH, bool early_exit, bool counting, class Offset>
__device__ __forceinline__ Row look_through(const int *in_neighbours, Offset begin, Offset end, const u32 *operand,
                                            const double *sigma, u64 &checked) {
  Row row;
  if constexpr (early_exit) {
    for (Offset first = begin; first < end; first += WIDTH) {
      const Offset arc = WIDTH == 1 ? first : first + lane();
      if (arc < end) {
        const int u = in_neighbours[arc];
        checked += 1;
        if (has(operand, u)) row.source = u;
      }
      if (WIDTH == 1 ? row.source >= 0 : __any_sync(ALL_LANES, row.source >= 0)) break;
    }
  } else {
    if (WIDTH == 1 || lane() == 0) checked += (u64)(end - begin);
    gather<WIDTH>(
        in_neighbours, begin, end, [&](int u) { return has(operand, u); },
        [&](int u) { return counting ? sigma[u] : 0.0; },
        [&](int u, double paths) {
          row.source = u;
          if (counting) row.paths += paths;
        });
  }
  return row;
}

// One level by rows.
//   operand            the bitmap in which neighbours are looked up: the frontier, or the visited vertices, which give
//                      the same answer without a bitmap of the frontier (push-pull, section 5.4)
//   rows = all         computes every row and applies the mask afterwards
//   rows = unvisited   skips the rows that are masked out
//   early_exit         stops at the first neighbour found; not for sums, which need every neighbour
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
      Row row;
      if (v < n && (rows == Rows::all || !masked))
        row = look_through<1, early_exit, counting>(in_neighbours, in_offsets[v], in_offsets[v + 1], operand, sigma,
                                                    mine.checked);
      const bool found = row.source >= 0 && !masked;
      if (found) {
        distance[v] = depth + 1;
        if (parent) parent[v] = row.source;
        if (counting) sigma[v] = row.paths;
        mine.found += 1;
        mine.edges += degree(offsets, (int)v);
      }
      const u32 bits = __ballot_sync(ALL_LANES, found);
      if (lane() == 0) {
        next[w] = bits;
        if (kind == Operand::frontier && bits)
          visited[w] = seen | bits;  // visited, if it is the operand, must not change within a level
      }
    }
  } else {
    const u64 warps = thread_count() / WARP;
    for (u64 v = thread_number() / WARP; v < n; v += warps) {
      // One lane reads for all: another warp may be setting its bit of the same word, and the lanes must agree.
      const bool masked = __shfl_sync(ALL_LANES, has((const u32 *)visited, (int)v), 0);
      if (rows != Rows::all && masked) continue;
      const Row row = look_through<WARP, early_exit, counting>(in_neighbours, in_offsets[v], in_offsets[v + 1], operand,
                                                               sigma, mine.checked);
      const u32 finders = __ballot_sync(ALL_LANES, row.source >= 0);
      if (!finders || masked) continue;
      const double sum = counting ? warp_sum(row.paths) : 0.0;
      const int source = __shfl_sync(ALL_LANES, row.source, __ffs(finders) - 1);
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
