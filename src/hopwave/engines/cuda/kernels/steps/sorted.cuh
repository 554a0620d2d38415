// The column product of push-pull (Algorithm 3): scan, gather all neighbours, radix sort, segmented reduce, mask.
#pragma once
#include "common/products.cuh"
#include "steps/gather.cuh"

namespace hopwave::steps {

// ---- A stable radix sort of keys below 2^bits, with or without values: push-pull sorts log M bits (section 6.2), the
// least significant digit first, one pass per digit (Adinets and Merrill, Onesweep).

constexpr int DIGITS = BLOCK;            // values of a digit of up to 8 bits, one per thread
constexpr int KEYS = 16;                 // keys per thread
constexpr int SORT_TILE = KEYS * BLOCK;  // keys per block
constexpr int MAX_PLACES = 4;            // maximum number of digits of a key
constexpr u32 NO_KEY = 0xffffffffu;      // sorts after every key

struct SortTile {
  u32 counts[BLOCK / WARP][DIGITS];  // keys per warp and digit; then their start in the tile
  u32 starts[DIGITS];                // start of each digit in the tile
  u32 swap[SORT_TILE];
};

// Returns the index in the tile of the thread's key j: a warp has KEYS * WARP consecutive keys.
__device__ inline u32 key_number(int j) { return block_warp() * KEYS * WARP + j * WARP + lane(); }

// Ranks the tile's keys by the digit at `shift`; returns the number of keys with the value threadIdx.x.
__device__ inline u32 rank_keys(const u32 (&keys)[KEYS], int shift, u32 mask, u32 (&places)[KEYS], SortTile &tile) {
  for (int i = threadIdx.x; i < BLOCK / WARP * DIGITS; i += BLOCK) tile.counts[i / DIGITS][i % DIGITS] = 0;
  __syncthreads();
  u32 *counts = tile.counts[block_warp()];
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 digit = keys[j] >> shift & mask;
    const u32 same = __match_any_sync(ALL_LANES, digit);
    const u32 before = counts[digit];
    __syncwarp();
    places[j] = before + __popc(same & lanes_below());
    if (lane() == __ffs(same) - 1) counts[digit] = before + __popc(same);
    __syncwarp();
  }
  __syncthreads();
  u32 total = 0;
  for (int warp = 0; warp < BLOCK / WARP; ++warp) {
    const u32 count = tile.counts[warp][threadIdx.x];
    tile.counts[warp][threadIdx.x] = total;
    total += count;
  }
  u32 all;
  tile.starts[threadIdx.x] = block_scan(total, all);
  __syncthreads();
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 digit = keys[j] >> shift & mask;
    places[j] += tile.starts[digit] + counts[digit];
  }
  return total;
}

template <class Offset>
__global__ void digit_totals(const u32 *keys, u64 count, int bits, int width, u64 *totals) {
  __shared__ u32 found[MAX_PLACES][DIGITS];
  const int places = (bits + width - 1) / width;
  for (int place = 0; place < places; ++place) found[place][threadIdx.x] = 0;
  __syncthreads();
  for (u64 i = thread_number(); i < count; i += thread_count()) {
    const u32 key = keys[i];
    for (int place = 0; place < places; ++place)
      atomicAdd(&found[place][key >> place * width & ((1u << width) - 1)], 1u);
  }
  __syncthreads();
  for (int place = 0; place < places; ++place)
    if (const u32 some = found[place][threadIdx.x]) atomicAdd(&totals[place * DIGITS + threadIdx.x], (u64)some);
}

// A word of `progress` is 4 · count + kind: the number of keys of one digit value in the tile, or up to it.
enum Progress { NOTHING, OF_THE_TILE, UP_TO_THE_TILE };

// Keys with this thread's digit in all tiles before this one (decoupled look-back, Merrill and Garland).
__device__ inline u64 keys_before(u64 *progress, u64 tile, u64 own) {
  volatile u64 *said = progress + threadIdx.x;
  said[tile * DIGITS] = 4 * own + (tile ? OF_THE_TILE : UP_TO_THE_TILE);
  u64 before = 0;
  for (u64 other = tile; other-- > 0;) {
    u64 word;
    while ((word = said[other * DIGITS]) % 4 == NOTHING);
    before += word / 4;
    if (word % 4 == UP_TO_THE_TILE) break;
  }
  if (tile) said[tile * DIGITS] = 4 * (before + own) + UP_TO_THE_TILE;
  return before;
}

// Writes every tile's keys, and values if `pairs`, to their positions by one digit. One block per tile. `totals` are
// the totals of this digit; `ticket` and `progress` (one word per tile and value) are 0 before.
template <class Offset, bool pairs>
__global__ void __launch_bounds__(BLOCK)
    digit_scatter(const u32 *keys, const u32 *values, u64 count, int shift, u32 mask, const u64 *totals, u32 *ticket,
                  u64 *progress, u32 *sorted_keys, u32 *sorted_values) {
  __shared__ SortTile tile;
  __shared__ i64 firsts[DIGITS];  // target of the tile's keys of a digit, minus their start in the tile
  __shared__ u32 number;
  if (threadIdx.x == 0) number = atomicAdd(ticket, 1u);
  __syncthreads();
  const u64 begin = (u64)number * SORT_TILE;
  const u32 valid = (u32)min((u64)SORT_TILE, count - begin);
  u32 mine[KEYS], places[KEYS];
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 i = key_number(j);
    mine[j] = i < valid ? keys[begin + i] : NO_KEY;
  }
  u64 own = rank_keys(mine, shift, mask, places, tile);
  if (threadIdx.x == mask) own -= SORT_TILE - valid;  // the padding of the last tile
  u64 all;
  const u64 less = block_scan(totals[threadIdx.x], all);
  const u64 before = threadIdx.x <= mask ? keys_before(progress, number, own) : 0;
  firsts[threadIdx.x] = (i64)(less + before) - (i64)tile.starts[threadIdx.x];
#pragma unroll
  for (int j = 0; j < KEYS; ++j) tile.swap[places[j]] = mine[j];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 i = j * BLOCK + threadIdx.x;
    if (i >= valid) continue;
    const u32 key = tile.swap[i];
    const u64 target = (u64)(firsts[key >> shift & mask] + i);
    sorted_keys[target] = key;
    mine[j] = (u32)(key >> shift & mask);  // stored for the values, which are moved next
  }
  if (!pairs) return;
  u32 their[KEYS];
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 i = key_number(j);
    their[j] = i < valid ? values[begin + i] : 0;
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < KEYS; ++j) tile.swap[places[j]] = their[j];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 i = j * BLOCK + threadIdx.x;
    if (i < valid) sorted_values[(u64)(firsts[mine[j]] + i)] = tile.swap[i];
  }
}

template <bool pairs>
__device__ inline void sort_in_place(u32 *keys, u32 *values, u64 count, int bits, int width) {
  __shared__ SortTile tile;
  u32 mine[KEYS], its[KEYS], places[KEYS];
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 i = key_number(j);
    mine[j] = i < count ? keys[i] : NO_KEY;
    its[j] = pairs && i < count ? values[i] : 0;
  }
  for (int shift = 0; shift < bits; shift += width) {
    rank_keys(mine, shift, (1u << width) - 1, places, tile);
#pragma unroll
    for (int j = 0; j < KEYS; ++j) tile.swap[places[j]] = mine[j];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < KEYS; ++j) mine[j] = tile.swap[key_number(j)];
    __syncthreads();
    if (!pairs) continue;
#pragma unroll
    for (int j = 0; j < KEYS; ++j) tile.swap[places[j]] = its[j];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < KEYS; ++j) its[j] = tile.swap[key_number(j)];
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 i = key_number(j);
    if (i >= count) continue;
    keys[i] = mine[j];
    if (pairs) values[i] = its[j];
  }
}

template <class Offset, bool pairs>
__global__ void sort_tile(u32 *keys, u32 *values, u64 count, int bits, int width) {
  sort_in_place<pairs>(keys, values, count, bits, width);
}

// Lines 6-10. In a structure-only product, keys have no values; the predecessor is written here. In a key-value
// product, the value is A(u, v) · u, from which the reduction chooses (ANY) or looks up path counts (PLUS).
template <class Offset>
__device__ inline void gather_values(const Offset *offsets, const int *neighbours, const int *values, const int *queue,
                                     const i64 *sums, u64 lists, u64 arcs, const int *distance, int *keys, int *sources,
                                     int *parent, u64 *counters) {
  Tally mine;
  gather_shares(offsets, queue, sums, lists, arcs, [&](int u, Offset arc, u64 slot) {
    const int v = neighbours[arc];
    mine.checked += 1;
    keys[slot] = v;
    if (sources) sources[slot] = values ? values[arc] * u : u;
    if (parent && distance[v] < 0) parent[v] = u;
  });
  report(mine, counters);
}

// Equal keys are one vertex: with PLUS, their sum is its path count; with ANY, one value is its predecessor.
template <class Offset>
__device__ inline void reduce_keys(const Offset *offsets, const int *keys, const int *sources, u64 arcs, int depth,
                                   u32 *visited, int *distance, int *parent, double *sigma, int *next, u64 *counters) {
  Tally mine;
  const u64 padded = (arcs + WARP - 1) / WARP * WARP;
  for (u64 i = thread_number(); i < padded; i += thread_count()) {
    const int v = i < arcs ? keys[i] : -1;
    const int d = v >= 0 ? status(distance, v) : 0;
    const bool unmasked = v >= 0 && (d < 0 || d == depth + 1);  // d == depth + 1: an equal key has found v
    if (sigma) {
      bool last;
      const double sum = run_sum(v, unmasked ? sigma[sources[i]] : 0.0, last);
      if (unmasked && last) atomicAdd(&sigma[v], sum);
    }
    int value = unmasked && sources ? sources[i] : -1;
    if (sources && !sigma) {  // the largest value of equal keys, at the first lane with the key
      for (int step = 1; step < WARP; step *= 2) {
        const int other = __shfl_down_sync(ALL_LANES, value, step), its = __shfl_down_sync(ALL_LANES, v, step);
        if (lane() + step < WARP && its == v) value = max(value, other);
      }
    }
    if (unmasked && (i == 0 || keys[i - 1] != v) && (!sources || value >= 0)) {
      distance[v] = depth + 1;
      atomicOr(&visited[v / 32], 1u << (v % 32));  // mask and operand of a row product that may follow
      if (sources && parent) parent[v] = value;
      next[enqueue_at(&counters[TAIL])] = v;
      mine.add(offsets, v);
    }
  }
  report(mine, counters);
}

template <class Offset>
__global__ void gather_pairs(const Offset *offsets, const int *neighbours, const int *values, const int *queue,
                             const i64 *sums, u64 lists, u64 arcs, const int *distance, int *keys, int *sources,
                             int *parent, u64 *counters) {
  gather_values(offsets, neighbours, values, queue, sums, lists, arcs, distance, keys, sources, parent, counters);
}

template <class Offset>
__global__ void reduce_sorted(const Offset *offsets, const int *keys, const int *sources, u64 arcs, int depth,
                              u32 *visited, int *distance, int *parent, double *sigma, int *next, u64 *counters) {
  reduce_keys(offsets, keys, sources, arcs, depth, visited, distance, parent, sigma, next, counters);
}

// The full product of up to SORT_TILE arcs in one block: barriers between steps instead of launches.
template <class Offset, bool pairs>
__global__ void push_tile(const Offset *offsets, const int *neighbours, const int *values, const int *queue, u64 lists,
                          u64 arcs, i64 *ends, int *keys, int *sources, int bits, int width, int depth, u32 *visited,
                          int *distance, int *parent, double *sigma, int *next, u64 *counters) {
  write_ends(offsets, queue, lists, ends);
  __syncthreads();
  int *any_parent = pairs ? nullptr : parent;
  gather_values(offsets, neighbours, values, queue, ends, lists, arcs, distance, keys, sources, any_parent, counters);
  __syncthreads();
  sort_in_place<pairs>((u32 *)keys, (u32 *)sources, arcs, bits, width);
  __syncthreads();
  reduce_keys(offsets, keys, sources, arcs, depth, visited, distance, parent, sigma, next, counters);
}

}  // namespace hopwave::steps
