// From edges to sorted rows: the kernels around the sort (engines/cuda/build.py lists the steps in order). An arc of
// rows [first, last) is one key: (row - first) << bits | target. Blocks process equal shares of the edges and write
// their keys in order, so that repeated arcs keep the order of their edges.
#pragma once
#include "common/rows.cuh"

namespace hopwave::build {

constexpr int BUCKETS = 4096;  // groups of consecutive rows, counted to cut the rows into parts of similar size
constexpr int EACH = 4;        // items per thread and iteration

enum Combine { KEEP, MERGE, SAME, MIN, MAX, SUM, FIRST };  // what to do with repeated arcs

__device__ inline u64 share_begin(u64 count) {  // start of this block's share; shares are multiples of an iteration
  const u64 turn = BLOCK * EACH, turns = (count + turn - 1) / turn;
  return min(count, (turns * blockIdx.x / gridDim.x) * turn);
}
__device__ inline u64 share_end(u64 count) {
  const u64 turn = BLOCK * EACH, turns = (count + turn - 1) / turn;
  return min(count, (turns * (blockIdx.x + 1) / gridDim.x) * turn);
}

// Finds the smallest and largest id of a column. extent[0] starts as the largest number, extent[1] as the smallest.
template <class Id>
__global__ void extent(const Id *ids, u64 count, i64 *extent) {
  i64 least = 0x7fffffffffffffffll, greatest = -least - 1;
  for (u64 i = thread_number(); i < count; i += thread_count()) {
    const i64 id = (i64)ids[i];
    least = min(least, id), greatest = max(greatest, id);
  }
  for (int step = WARP / 2; step; step /= 2) {
    least = min(least, __shfl_down_sync(ALL_LANES, least, step));
    greatest = max(greatest, __shfl_down_sync(ALL_LANES, greatest, step));
  }
  if (lane() == 0) atomicMin(extent, least), atomicMax(extent + 1, greatest);
}

// Counts the arcs per bucket of 2^shift rows. An edge is one arc, or two if `symmetric` adds reverses; a loop is one.
template <class Id>
__global__ void count_buckets(const Id *source, const Id *target, u64 edges, int symmetric, int shift, u64 *counts) {
  __shared__ u32 mine[BUCKETS];
  for (int b = threadIdx.x; b < BUCKETS; b += BLOCK) mine[b] = 0;
  __syncthreads();
  for (u64 i = thread_number(); i < edges; i += thread_count()) {
    const Id u = source[i], v = target[i];
    atomicAdd(mine + (u >> shift), 1u);
    if (symmetric && u != v) atomicAdd(mine + (v >> shift), 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < BUCKETS; b += BLOCK)
    if (mine[b]) atomicAdd(counts + b, (u64)mine[b]);
}

template <class Id>
__device__ inline bool inside(Id row, i64 first, i64 last) {
  return row >= first && row < last;
}

template <class Id>
__global__ void count_part(const Id *source, const Id *target, u64 edges, int symmetric, i64 first, i64 last,
                           u64 *counts) {
  u32 mine = 0;
  for (u64 i = share_begin(edges) + threadIdx.x; i < share_end(edges); i += BLOCK) {
    const Id u = source[i], v = target[i];
    mine += inside(u, first, last);
    mine += symmetric && u != v && inside(v, first, last);
  }
  u32 total;
  block_scan(mine, total);
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// Writes the keys of the counted arcs, starting at begins[block]; edge[i] is the edge that key i comes from.
template <class Id>
__global__ void write_part(const Id *source, const Id *target, u64 edges, int symmetric, i64 first, i64 last, int bits,
                           const u64 *begins, u64 *keys, u32 *edge) {
  u64 next = begins[blockIdx.x];
  for (u64 turn = share_begin(edges); turn < share_end(edges); turn += BLOCK * EACH) {
    Id u[EACH], v[EACH];
    u32 mine = 0;
    for (int k = 0; k < EACH; k++) {
      const u64 i = turn + threadIdx.x * EACH + k;
      const bool there = i < share_end(edges);
      u[k] = there ? source[i] : (Id)-1, v[k] = there ? target[i] : (Id)-1;
      mine += inside(u[k], first, last);
      mine += symmetric && u[k] != v[k] && inside(v[k], first, last);
    }
    u32 total;
    u64 place = next + block_scan(mine, total);
    for (int k = 0; k < EACH; k++) {
      const u64 i = turn + threadIdx.x * EACH + k;
      if (inside(u[k], first, last)) {
        if (edge) edge[place] = (u32)i;
        keys[place++] = (u64)(u[k] - first) << bits | (u64)v[k];
      }
      if (symmetric && u[k] != v[k] && inside(v[k], first, last)) {
        if (edge) edge[place] = (u32)i;
        keys[place++] = (u64)(v[k] - first) << bits | (u64)u[k];
      }
    }
    next += total;
  }
}

// Exclusive prefix sum in place; counts[count] becomes the total. One block.
template <class Id>
__global__ void scan(u64 *counts, u64 count) {
  const u64 all = scan_in_place(counts, count);
  if (threadIdx.x == 0) counts[count] = all;
}

// `order` maps sorted indices to indices before the sort; null: the keys themselves are sorted.
__device__ inline u64 key_at(const u64 *keys, const i64 *order, u64 i) { return keys[order ? order[i] : i]; }
__device__ inline bool is_kept(const u64 *keys, const i64 *order, u64 i, int combine) {
  return combine == KEEP || i == 0 || key_at(keys, order, i) != key_at(keys, order, i - 1);
}

template <class Id>
__global__ void count_kept(const u64 *keys, const i64 *order, u64 arcs, int combine, u64 *counts) {
  u32 mine = 0;
  for (u64 i = share_begin(arcs) + threadIdx.x; i < share_end(arcs); i += BLOCK)
    mine += is_kept(keys, order, i, combine);
  u32 total;
  block_scan(mine, total);
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// A row's degree is its end minus its beginning: the threads at both ends add their parts, and u32 arithmetic wraps.
template <class Id>
__global__ void write_kept(const u64 *keys, const i64 *order, u64 arcs, int combine, int bits, i64 first,
                           const u64 *begins, u64 base, Id *neighbours, u32 *degrees) {
  const u64 low = ((u64)1 << bits) - 1;
  u64 next = begins[blockIdx.x];
  for (u64 turn = share_begin(arcs); turn < share_end(arcs); turn += BLOCK) {
    const u64 i = turn + threadIdx.x;
    const bool there = i < share_end(arcs), kept = there && is_kept(keys, order, i, combine);
    u32 total;
    const u64 place = base + next + block_scan((u32)kept, total);
    if (there) {
      const u64 key = key_at(keys, order, i), row = key >> bits;
      if (kept) neighbours[place] = (Id)(key & low);
      if (i == 0 || key_at(keys, order, i - 1) >> bits != row) atomicSub(degrees + first + row, (u32)place);
      if (i + 1 == arcs || key_at(keys, order, i + 1) >> bits != row)
        atomicAdd(degrees + first + row, (u32)place + kept);
    }
    next += total;
  }
}

// The weight of every remaining arc, combined over its repeats in the order of the edges.
template <class Weight>
__global__ void write_weights(const u64 *keys, const i64 *order, u64 arcs, int combine, const u64 *begins, u64 base,
                              const u32 *edge, const Weight *given, Weight *weights, u64 *conflict) {
  u64 next = begins[blockIdx.x];
  for (u64 turn = share_begin(arcs); turn < share_end(arcs); turn += BLOCK) {
    const u64 i = turn + threadIdx.x;
    const bool kept = i < share_end(arcs) && is_kept(keys, order, i, combine);
    u32 total;
    const u64 place = base + next + block_scan((u32)kept, total);
    if (kept) {
      Weight sum = given[edge[order[i]]];
      if (combine != KEEP && combine != FIRST)
        for (u64 j = i + 1; j < arcs && keys[order[j]] == keys[order[i]]; j++) {
          const Weight other = given[edge[order[j]]];
          if (combine == MIN) sum = other < sum ? other : sum;
          if (combine == MAX) sum = other > sum ? other : sum;
          if (combine == SUM) sum += other;
          if (combine == SAME && other != sum) atomicMin(conflict, place);
        }
      weights[place] = sum;
    }
    next += total;
  }
}

template <class Offset>
__global__ void sum_degrees(const u32 *degrees, u64 n, u64 *sums) {
  sum_tiles(n, sums, [=](u64 r) { return degrees[r]; });
}
template <class Offset>
__global__ void write_offsets(const u32 *degrees, u64 n, const u64 *sums, Offset *offsets) {
  write_tiles(n, sums, [=](u64 r) { return degrees[r]; }, [=](u64 r, u64 before) { offsets[r] = (Offset)before; });
  if (thread_number() == 0) offsets[n] = (Offset)sums[(n + TILE - 1) / TILE];
}

template <class Weight>
__global__ void find_nan(const Weight *weights, u64 count, u64 *first) {
  for (u64 i = thread_number(); i < count; i += thread_count())
    if (weights[i] != weights[i]) atomicMin(first, i);
}

// Sorts vertices by descending degree, ties by number: one kernel writes the keys, the other reads them back sorted.
template <class Offset>
__global__ void degree_keys(const Offset *offsets, u64 n, u64 *keys) {
  for (u64 v = thread_number(); v < n; v += thread_count())
    keys[v] = (u64)(0xffffffffu - (u32)(offsets[v + 1] - offsets[v])) << 32 | v;
}
template <class Offset>
__global__ void ranks(const u64 *keys, u64 n, int *by_degree, int *rank) {
  for (u64 i = thread_number(); i < n; i += thread_count()) {
    const int v = (int)(keys[i] & 0xffffffffu);
    by_degree[i] = v, rank[v] = (int)i;
  }
}

// Converts the arcs of rows [first, last) to keys, the row above the neighbour's rank; and back, after the sort.
template <class Offset>
__global__ void rank_keys(const Offset *offsets, const int *neighbours, i64 first, i64 last, const int *rank,
                          u64 *keys) {
  const i64 warps = signed_thread_count() / WARP;
  for (i64 v = first + signed_thread_number() / WARP; v < last; v += warps)
    for (Offset arc = offsets[v] + lane(); arc < offsets[v + 1]; arc += WARP)
      keys[arc - offsets[first]] = (u64)(v - first) << 32 | (u32)rank[neighbours[arc]];
}
template <class Offset>
__global__ void neighbours_of_ranks(const u64 *keys, u64 arcs, const int *by_degree, int *neighbours) {
  for (u64 i = thread_number(); i < arcs; i += thread_count()) neighbours[i] = by_degree[keys[i] & 0xffffffffu];
}

template <class Offset>
__global__ void greatest_length(const Offset *offsets, u64 n, u64 *greatest) {
  u64 mine = 0;
  for (u64 v = thread_number(); v < n; v += thread_count()) mine = max(mine, degree(offsets, (int)v));
  mine = warp_max(mine);
  if (lane() == 0 && mine) atomicMax(greatest, mine);
}

// Lists the rows of more than `length` arcs, in any order, as keys that sort by descending length, then by row.
template <class Offset>
__global__ void find_long(const Offset *offsets, u64 n, u64 length, u64 *keys, u64 *count) {
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    const u64 arcs = degree(offsets, (int)v);
    if (arcs > length) keys[enqueue_at(count)] = (u64)(0xffffffffu - (u32)arcs) << 32 | v;
  }
}

template <class Offset>
__global__ void rows_of_keys(const u64 *keys, u64 count, int *rows) {
  for (u64 i = thread_number(); i < count; i += thread_count()) rows[i] = (int)(keys[i] & 0xffffffffu);
}

// ---- Vertices were renumbered for a search; these kernels restore the order of ids in its results.

// One thread per four vertices. out[v] = values[numbers[v]]. If `ids` is not null, values are also numbers, or -1.
template <class Offset>
__global__ void spread(const int *numbers, const int *values, const int *ids, i64 n, int *out) {
  auto id = [&](int number) { return number < 0 ? number : __ldg(ids + number); };
  for (i64 i = signed_thread_number(); i < n / 4; i += signed_thread_count()) {
    const int4 at = __ldcs((const int4 *)numbers + i);
    int4 x = make_int4(__ldg(values + at.x), __ldg(values + at.y), __ldg(values + at.z), __ldg(values + at.w));
    if (ids) x = make_int4(id(x.x), id(x.y), id(x.z), id(x.w));
    __stcs((int4 *)out + i, x);
  }
  const i64 v = n / 4 * 4 + signed_thread_number();
  if (v < n) out[v] = ids ? id(values[numbers[v]]) : values[numbers[v]];
}

// ---- Packs and unpacks neighbours (format: common/rows.cuh). One warp per group.

// The arcs of groups [first, first + groups) begin at values[0]; the last group may be short, and repeats its last arc.
__device__ __forceinline__ u32 value_of(const int *values, i64 count, i64 group) {
  return (u32)values[min(group * 32 + lane(), count - 1)];
}

__device__ __forceinline__ u64 *head_of(Packed *rows, u64 group) {
  return &rows->head + (group >> BLOCK_BITS) * HEADS + 1 + (group & (BLOCK_GROUPS - 1));
}

template <class Offset>
__global__ void measure_groups(const int *values, i64 count, i64 first, i64 groups, Packed *rows) {
  for (i64 g = signed_thread_number() / WARP; g < groups; g += signed_thread_count() / WARP) {
    const u32 x = value_of(values, count, g), most = warp_max(x), least = ~warp_max(~x);
    if (lane() == 0) *head_of(rows, first + g) = (u64)least << BASE_BIT | max(1, 32 - __clz(most - least));
  }
}

// Writes the index of every group's first word, and the number of words of each block of groups. One thread block each.
template <class Offset>
__global__ void place_groups(i64 first, i64 blocks, i64 groups, Packed *rows, u64 *sizes) {
  for (i64 b = blockIdx.x; b < blocks; b += gridDim.x) {
    u64 *heads = &rows->head + (first + b) * HEADS + 1;
    const i64 here = min((i64)BLOCK_GROUPS, groups - b * BLOCK_GROUPS);
    u32 before = 0;
    for (i64 base = 0; base < here; base += BLOCK) {
      const i64 g = base + threadIdx.x;
      const u64 head = g < here ? heads[g] : 0;
      u32 total;
      const u32 at = before + block_scan((u32)head & 31, total);
      if (g < here) heads[g] = head | (u64)at << WIDTH_BITS;
      before += total;
    }
    if (threadIdx.x == 0) sizes[b] = before;
  }
}

template <class Offset>
__global__ void pack_groups(const int *values, i64 count, i64 first, i64 groups, Packed *rows) {
  for (i64 g = signed_thread_number() / WARP; g < groups; g += signed_thread_count() / WARP) {
    const u64 head = *head_of(rows, first + g);
    u32 *words = (u32 *)(&rows->head)[((u64)(first + g) >> BLOCK_BITS) * HEADS] + ((u32)head >> WIDTH_BITS);
    const u32 width = (u32)head & 31, x = value_of(values, count, g) - (u32)(head >> BASE_BIT);
    u32 word = 0;
    for (u32 k = 0, bit = 0; k < 32; k++, bit += width) {
      const u32 bits = __shfl_sync(ALL_LANES, x, k), shift = bit & 31;
      if (lane() == bit >> 5) word |= bits << shift;
      else if (lane() == (bit >> 5) + 1 && shift) word |= bits >> (32 - shift);
    }
    if (lane() < width) words[lane()] = word;
  }
}

// Writes the arcs of rows [from, to), given by id, as keys: the row's number above the neighbour's number. Skips rows
// whose numbers are not in [first, last). `neighbours` begin at arc `begin` of the graph; places[number] is the start
// of a row if rows are sorted by number. One warp per row.
template <class Offset>
__global__ void number_keys(const Offset *offsets, const int *neighbours, i64 from, i64 to, i64 begin,
                            const int *numbers, const i64 *places, i64 first, i64 last, u64 *keys) {
  for (i64 v = from + signed_thread_number() / WARP; v < to; v += signed_thread_count() / WARP) {
    const i64 number = numbers[v];
    if (number < first || number >= last) continue;
    u64 *row = keys + (places[number] - places[first]);
    const i64 arcs = offsets[v + 1] - offsets[v];
    for (i64 k = lane(); k < arcs; k += WARP)
      row[k] = (u64)(number - first) << 32 | (u64)numbers[neighbours[offsets[v] - begin + k]];
  }
}

template <class Offset>
__global__ void unpack(const Packed *rows, i64 first, i64 count, int *values) {
  for (i64 i = signed_thread_number(); i < count; i += signed_thread_count()) values[i] = neighbour(rows, first + i);
}

}  // namespace hopwave::build
