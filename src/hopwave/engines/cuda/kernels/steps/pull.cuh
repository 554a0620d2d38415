// Row products: TurboBFS's gathers (Algorithms 4 and 5) and bottom-up searches (6 and 7), and push-pull's four
// (Algorithm 2: masked or not, with early exit or not, over the frontier or over all visited vertices).
#pragma once
#include "common/products.cuh"
#include "steps/gather.cuh"

namespace hopwave::steps {

// WIDTH lanes search in_neighbours[begin, end) for a vertex of the operand; -1: none. With early exit, they stop at the
// first one found.
template <int WIDTH, bool early_exit, class Offset>
__device__ __forceinline__ int look_through(const int *in_neighbours, Offset begin, Offset end, const u32 *operand,
                                            u64 &checked) {
  int source = -1;
  if constexpr (early_exit) {
    for (Offset first = begin; first < end; first += WIDTH) {
      const Offset arc = WIDTH == 1 ? first : first + lane();
      if (arc < end) {
        const int u = in_neighbours[arc];
        checked += 1;
        if (has(operand, u)) source = u;
      }
      if (WIDTH == 1 ? source >= 0 : __any_sync(ALL_LANES, source >= 0)) break;
    }
  } else {
    if (WIDTH == 1 || lane() == 0) checked += (u64)(end - begin);
    gather<WIDTH>(
        in_neighbours, begin, end, [&](int u) { return has(operand, u); }, [](int) { return 0; },
        [&](int u, int) { source = u; });
  }
  return source;
}

// One level by rows.
//   operand            the bitmap in which neighbours are looked up: the frontier, or the visited vertices, which yield
//                      the same result without a bitmap of the frontier (push-pull, section 5.4)
//   rows               all: the mask is applied afterwards; unvisited: masked rows are skipped
//   early_exit         stops at the first neighbour found
//   mapping = thread   a warp processes the 32 vertices of a word, one per lane; a ballot forms the result word
//   mapping = warp     a warp processes one vertex; its lanes read 32 neighbours at a time
template <class Offset, Mapping mapping, Rows rows, Operand kind, bool early_exit>
__global__ void pull(const Offset *in_offsets, const int *in_neighbours, const Offset *offsets, int n, int depth,
                     const u32 *operand, u32 *visited, u32 *next, int *distance, int *parent, const u64 *before,
                     u64 *counters) {
  if (ended(before)) return;
  Tally mine;
  if (mapping == Mapping::thread) {
    const u64 words = ((u64)n + 31) / 32, warps = thread_count() / WARP;
    for (u64 w = thread_number() / WARP; w < words; w += warps) {
      const u32 seen = visited[w];
      const u64 v = 32 * w + lane();
      const bool masked = seen >> lane() & 1;
      int source = -1;
      if (v < n && (rows == Rows::all || !masked))
        source = look_through<1, early_exit>(in_neighbours, in_offsets[v], in_offsets[v + 1], operand, mine.checked);
      const bool found = source >= 0 && !masked;
      if (found) {
        distance[v] = depth + 1;
        if (parent) parent[v] = source;
        mine.add(offsets, (int)v);
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
      // One lane reads for all: another warp may be setting its bit in the word, and the lanes must agree.
      const bool masked = __shfl_sync(ALL_LANES, has((const u32 *)visited, (int)v), 0);
      if (rows != Rows::all && masked) continue;
      const int own =
          look_through<WARP, early_exit>(in_neighbours, in_offsets[v], in_offsets[v + 1], operand, mine.checked);
      const u32 finders = __ballot_sync(ALL_LANES, own >= 0);
      if (!finders || masked) continue;
      const int source = __shfl_sync(ALL_LANES, own, __ffs(finders) - 1);
      if (lane() == 0) {
        distance[v] = depth + 1;
        if (parent) parent[v] = source;
        atomicOr(&next[v / 32], 1u << (v % 32));
        if (kind == Operand::frontier) atomicOr(&visited[v / 32], 1u << (v % 32));
        mine.add(offsets, (int)v);
      }
    }
  }
  report(mine, counters);
}

// ---- Products into a dense vector, then the mask. Without path counts, an entry is u + 1 for some neighbour u in the
// frontier (Term = int: any writer is correct); with path counts, the sum of the neighbours' counts (double); 0: none.

// One thread per arc (TurboBFS, Algorithms 1 and 3, scCOOC), without path counts.
template <class Offset>
__global__ void scatter(const int *rows, const int *columns, u64 arcs, int depth, const int *distance, int *product,
                        const u64 *before) {
  if (ended(before)) return;
  hopwave::scatter(
      rows, arcs, [&](int u) { return distance[u] == depth; }, [](int) { return 0; },
      [&](u64 arc, int u, int) {
        if (u >= 0) product[columns[arc]] = u + 1;
      });
}

// All rows, unmasked, in equal shares of the arcs: push-pull's operation 1 (section 6.3). Path counts are read without
// the operand: all discovered neighbours of an undiscovered vertex are in the frontier.
template <class Offset, class Term>
__global__ void all_rows(const Offset *in_offsets, const int *in_neighbours, int n, u64 arcs, const u32 *operand,
                         const double *sigma, Term *product) {
  __shared__ u64 first_row, last_row;
  const u64 base = (u64)in_offsets[0];
  const Offset *ends = in_offsets + 1;
  for (u64 begin = (u64)blockIdx.x * SCRATCH; begin < arcs; begin += (u64)gridDim.x * SCRATCH) {
    const u64 end = min(begin + SCRATCH, arcs);
    __syncthreads();
    if (threadIdx.x == 0) first_row = first_above(ends, 0, n, base + begin);
    if (threadIdx.x == WARP) last_row = first_above(ends, 0, n, base + end - 1);
    __syncthreads();
    for (u64 i = begin + threadIdx.x; i < begin + SCRATCH; i += BLOCK) {  // full warps, for the shuffles
      const bool inside = i < end;
      const int u = inside ? in_neighbours[base + i] : 0;
      const auto row = [&] { return (int)first_above(ends, first_row, last_row, base + i); };
      if constexpr (sizeof(Term) == sizeof(int)) {
        if (inside && has(operand, u)) product[row()] = u + 1;
      } else {
        const int v = inside ? row() : -1;
        bool last;
        const double sum = run_sum(v, inside ? sigma[u] : 0.0, last);
        if (inside && last && sum != 0.0) atomicAdd(&product[v], sum);
      }
    }
  }
}

// Sets level, path count and parent of new vertices in the product, and clears the product. `read`: number of arcs that
// the product read, or 0 if it read the rows of unvisited vertices.
template <class Offset, class Term>
__global__ void mask(const Offset *in_offsets, const int *in_neighbours, const Offset *offsets, int n, int depth,
                     u64 read, Term *product, int *distance, int *parent, double *sigma, const u64 *before,
                     u64 *counters) {
  if (ended(before)) return;
  Tally mine;
  if (thread_number() == 0) mine.checked = read;
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    const Term arrived = product[v];
    if (arrived != 0) product[v] = 0;
    if (distance[v] >= 0) continue;
    if (!read) mine.checked += degree(in_offsets, (int)v);
    if (arrived == 0) continue;
    distance[v] = depth + 1;
    mine.add(offsets, (int)v);
    if constexpr (sizeof(Term) == sizeof(int)) {
      if (parent) parent[v] = arrived - 1;
    } else {
      sigma[v] = arrived;
      if (!parent) continue;
      Offset arc = in_offsets[v];  // the first neighbour of level `depth` is in the frontier
      while (distance[in_neighbours[arc]] != depth) ++arc;
      parent[v] = in_neighbours[arc];
    }
  }
  report(mine, counters);
}

// ---- Hiragushi's bottom-up kernel (Figure 3): unvisited vertices are packed in shared memory: no thread idles.

constexpr int PACKED = 4 * BLOCK;  // vertices that a block packs at a time

// A thread owns one word. In rounds of at most PACKED vertices, a block writes number 32 · thread + bit of each open
// vertex into scratch; replaces it by its bit if look(number) finds it, else by 0 (section 3.4); and collects the bits.
template <class Look>
__device__ inline u32 compacted(u32 open, Look look) {
  __shared__ u32 scratch[PACKED];
  u32 count, found = 0;
  u32 place = block_scan((u32)__popc(open), count);
  for (u32 done = 0; done < count; done += PACKED) {
    const u32 begin = place;
    for (; open && place < done + PACKED; ++place) {
      const int bit = 31 - __clz((int)open);
      scratch[place - done] = 32 * threadIdx.x + bit;
      open ^= 1u << bit;
    }
    __syncthreads();
    const u32 packed = min(count - done, (u32)PACKED);
    for (u32 i = threadIdx.x; i < packed; i += BLOCK) scratch[i] = look(scratch[i]) ? 1u << (scratch[i] % 32) : 0;
    __syncthreads();
    for (u32 i = begin; i < place; ++i) found |= scratch[i - done];
    __syncthreads();
  }
  return found;
}

// This kernel does not write `visited`, so it may be read through the read-only cache (the paper's texture cache).
// `closed` excludes the vertices without in-arcs.
template <class Offset>
__global__ void pull_compacted(const Offset *__restrict__ in_offsets, const int *__restrict__ in_neighbours,
                               const Offset *__restrict__ offsets, u64 words, int depth,
                               const u32 *__restrict__ visited, const u32 *__restrict__ closed, u32 *next,
                               int *distance, int *parent, u64 *counters) {
  Tally mine;
  for (u64 tile = (u64)blockIdx.x * BLOCK; tile < words; tile += (u64)gridDim.x * BLOCK) {
    const u64 w = tile + threadIdx.x;
    const u32 found = compacted(w < words ? ~(visited[w] | closed[w]) : 0, [&](u32 number) {
      const int v = (int)(32 * tile + number);
      const Offset end = in_offsets[v + 1];
      for (Offset arc = in_offsets[v]; arc < end; ++arc) {
        const int u = in_neighbours[arc];
        mine.checked += 1;
        if (!(__ldg(&visited[u / 32]) >> (u % 32) & 1)) continue;
        distance[v] = depth + 1;
        if (parent) parent[v] = u;
        mine.add(offsets, v);
        return true;
      }
      return false;
    });
    if (w < words) next[w] = found;
  }
  report(mine, counters);
}

}  // namespace hopwave::steps
