// Betweenness for a batch of sources: every read of the graph serves all sources of the batch. Bit s of a vertex's mask
// stands for source s. σ, share and δ are rows with one number per source. A warp processes one chunk of a vertex's
// adjacency list: it reads the neighbours' masks, then only the rows that some source needs. Forward and backward pass
// are the same gather, Σ X(u) over the neighbours u whose mask shares a bit with v's. Chunk sums of a cut list are
// added in order.
#pragma once
#include "betweenness/brandes.cuh"

namespace hopwave::betweenness {

constexpr int WARPS = BLOCK / WARP;  // warps per block
constexpr int LANES = 64;            // maximum number of sources in a batch: one bit each in a mask

struct __align__(8) Chunk {
  i64 begin;
  int v, length;
  int slot, padding;  // slot: index of the chunk's sum among those of its list, -1 if the chunk is the full list
};

struct Long {  // an adjacency list that is cut into chunks
  int v, slot, slots;
};

struct Batch {
  const Chunk *chunks;
  const int *neighbours;
  const Long *longs;
  const u64 *other;      // masks of the level to gather from
  u64 *mask;             // masks of the level being computed: written in the forward pass, read in the backward pass
  u64 *visited, *alive;  // sources that have reached the vertex; sources whose last level was not empty
  double *X, *delta;     // rows: σ in the forward pass, share in the backward pass; δ
  double *partials;
  double *arcs;                     // scores of arcs, or null
  const double *targets, *origins;  // weight of a path to each vertex, and from each source; null: 1
  u64 *found;                       // per source: vertices found in this level,
  double *counted;                  // per source: total weight of the paths to these vertices
  i64 n, lanes, chunk_count, long_count, slots;
  i64 together;  // number of chunks whose masks a warp reads together
  i64 leaf;      // 1 in the deepest level, which has no level to gather from
};

__device__ __forceinline__ void select_batch(Batch &B) {
  const i64 b = blockIdx.y;
  B.other += b * B.n, B.mask += b * B.n, B.visited += b * B.n, B.alive += b;
  B.X += b * B.n * B.lanes, B.delta += b * B.n * B.lanes, B.partials += b * B.slots * B.lanes;
  B.found += b * B.lanes, B.counted += b * B.lanes;
  if (B.origins) B.origins += b * B.lanes;
}

// A lane's sums for its two sources, lane() and lane() + 32.
struct Pair {
  double a, b;
};

struct Tally {
  u32 found[2];
  double counted[2];
};

// A complete sum is σ in the forward pass; σ > 0 puts the vertex into the level. The backward pass derives δ and share.
template <bool BACK>
__device__ __forceinline__ void finish(const Batch &B, int v, u64 want, Pair sum, Tally &tally) {
  const i64 at = (i64)v * B.lanes + lane();
  const double t = weight(B.targets, v);
  if (BACK) {
    const u32 low = (u32)want, high = (u32)(want >> 32);
    if (low >> lane() & 1) {
      const double sigma = B.X[at], d = sigma * sum.a;
      B.delta[at] = d, B.X[at] = (t + d) / sigma;
    }
    if (high >> lane() & 1) {
      const double sigma = B.X[at + 32], d = sigma * sum.b;
      B.delta[at + 32] = d, B.X[at + 32] = (t + d) / sigma;
    }
    return;
  }
  const bool a = sum.a > 0.0, b = sum.b > 0.0;
  const u64 fresh = __ballot_sync(ALL_LANES, a) | (u64)__ballot_sync(ALL_LANES, b) << 32;
  if (!fresh) return;
  if (a) B.X[at] = sum.a;
  if (b) B.X[at + 32] = sum.b;
  if (lane() == 0) B.mask[v] = fresh, B.visited[v] |= fresh;
  tally.found[0] += a, tally.found[1] += b;
  tally.counted[0] += a ? t : 0.0, tally.counted[1] += b ? t : 0.0;
}

__device__ __forceinline__ void report(const Batch &B, const Tally &tally) {
  __shared__ u32 found[LANES];
  __shared__ double counted[LANES];  // without demand, sums of integers: their order does not matter
  for (int i = threadIdx.x; i < LANES; i += blockDim.x) found[i] = 0, counted[i] = 0.0;
  __syncthreads();
  for (int half = 0; half < 2; ++half)
    if (tally.found[half]) {
      const int s = lane() + 32 * half;
      atomicAdd(&found[s], tally.found[half]), atomicAdd(&counted[s], tally.counted[half]);
    }
  __syncthreads();
  for (int s = threadIdx.x; s < LANES; s += blockDim.x)
    if (found[s]) atomicAdd(&B.found[s], (u64)found[s]), atomicAdd(&B.counted[s], counted[s]);
}

template <bool BACK>
__device__ __forceinline__ u64 wanted(const Batch &B, int v) {
  return BACK ? B.mask[v] : ~B.visited[v] & *B.alive;
}

// Returns the sum over one chunk: every lane reads one mask, then the lanes add the needed rows one by one.
template <bool EDGES>
__device__ __forceinline__ Pair gather_rows(const Batch &B, const Chunk &c, u64 want) {
  __shared__ uint4 needed[WARPS][32];  // a neighbour, its index in the chunk, the common sources (two words)
  uint4 *const list = needed[block_warp()];
  const double *const X = B.X + lane();
  Pair sum = {0.0, 0.0}, sigma = {0.0, 0.0};
  if (EDGES) {
    if ((u32)want >> lane() & 1) sigma.a = X[c.v * B.lanes] * weight(B.origins, (int)lane());
    if ((u32)(want >> 32) >> lane() & 1) sigma.b = X[c.v * B.lanes + 32] * weight(B.origins, (int)lane() + 32);
  }
  for (int i = 0; i < c.length; i += 32) {
    int u = 0;
    u64 common = 0;
    if (i + lane() < c.length) {
      u = B.neighbours[c.begin + i + lane()];
      common = B.other[u] & want;
    }
    const u32 some = __ballot_sync(ALL_LANES, common != 0);
    if (!some) continue;
    if (common) list[__popc(some & lanes_below())] = make_uint4(u, i + lane(), (u32)common, (u32)(common >> 32));
    __syncwarp();
    const int count = __popc(some);
    for (int first = 0; first < count; first += IN_FLIGHT) {
      double a[IN_FLIGHT], b[IN_FLIGHT];
      u32 place[IN_FLIGHT];
      for (int k = 0; k < IN_FLIGHT; ++k) {
        a[k] = b[k] = 0.0;
        if (first + k >= count) continue;
        const uint4 one = list[first + k];
        const double *const row = X + (i64)one.x * B.lanes;
        place[k] = one.y;
        if (one.z >> lane() & 1) a[k] = row[0];
        if (one.w >> lane() & 1) b[k] = row[32];
      }
      for (int k = 0; k < IN_FLIGHT; ++k) {
        sum.a += a[k], sum.b += b[k];
        if (EDGES && first + k < count) {
          const double flow = warp_sum(sigma.a * a[k] + sigma.b * b[k]);
          if (lane() == 0) B.arcs[c.begin + place[k]] += flow;
        }
      }
    }
    __syncwarp();
  }
  return sum;
}

template <class Offset, bool BACK, bool EDGES>
__global__ void __launch_bounds__(BLOCK) gather_level(Batch B) {
  select_batch(B);
  Tally tally = {{0, 0}, {0.0, 0.0}};
  const i64 warp = (i64)blockIdx.x * WARPS + threadIdx.x / 32, warps = (i64)gridDim.x * WARPS;
  // Chunks are assigned to warps round-robin, longest first; a warp reads the masks of its next chunks together.
  for (i64 base = warp; base < B.chunk_count; base += warps * B.together) {
    const i64 mine = base + lane() * warps;
    Chunk chunk = {0, 0, 0, -1, 0};
    u64 want = 0;
    if (lane() < B.together && mine < B.chunk_count) {
      chunk = B.chunks[mine];
      if (BACK || chunk.length) want = wanted<BACK>(B, chunk.v);
    }
    u32 todo = __ballot_sync(ALL_LANES, want != 0);
    while (todo) {
      const int from = __ffs(todo) - 1;
      todo &= todo - 1;
      Chunk c;
      c.begin = __shfl_sync(ALL_LANES, chunk.begin, from), c.v = __shfl_sync(ALL_LANES, chunk.v, from);
      c.length = __shfl_sync(ALL_LANES, chunk.length, from), c.slot = __shfl_sync(ALL_LANES, chunk.slot, from);
      const u64 sources = __shfl_sync(ALL_LANES, want, from);
      Pair sum = {0.0, 0.0};
      if (!(BACK && B.leaf)) sum = gather_rows<EDGES>(B, c, sources);
      if (c.slot < 0) {
        finish<BACK>(B, c.v, sources, sum, tally);
      } else {
        double *const slot = B.partials + (i64)c.slot * B.lanes + lane();
        if (lane() < B.lanes) slot[0] = sum.a;
        if (lane() + 32 < B.lanes) slot[32] = sum.b;
      }
    }
  }
  if (!BACK) report(B, tally);
}

// Adds up the chunk sums of each cut list, in order. One warp per list.
template <class Offset, bool BACK>
__global__ void __launch_bounds__(BLOCK) finish_longs(Batch B) {
  select_batch(B);
  Tally tally = {{0, 0}, {0.0, 0.0}};
  const i64 warp = (i64)blockIdx.x * WARPS + threadIdx.x / 32, warps = (i64)gridDim.x * WARPS;
  for (i64 i = warp; i < B.long_count; i += warps) {
    const Long row = B.longs[i];
    const u64 want = wanted<BACK>(B, row.v);
    if (!want) continue;
    Pair sum = {0.0, 0.0};
    const double *slot = B.partials + (i64)row.slot * B.lanes + lane();
#pragma unroll 4
    for (int k = 0; k < row.slots; ++k, slot += B.lanes) {
      if (lane() < B.lanes) sum.a += slot[0];
      if (lane() + 32 < B.lanes) sum.b += slot[32];
    }
    __syncwarp();  // every lane has read `wanted` before the first one writes
    finish<BACK>(B, row.v, want, sum, tally);
  }
  if (!BACK) report(B, tally);
}

// Puts every batch's sources into its first level; all arrays are zero before. The sources of one search are in
// different components, which a search cannot leave; there may be more sources than threads.
template <class Offset>
__global__ void set_sources(Batch B, const int *sources, const int *searches, i64 count) {
  for (i64 i = signed_thread_number(); i < count; i += signed_thread_count()) {
    const i64 b = searches[i] / B.lanes, s = searches[i] % B.lanes, at = b * B.n + sources[i];
    atomicOr(&B.mask[at], 1ull << s);
    atomicOr(&B.visited[at], 1ull << s);
    atomicOr(&B.alive[b], 1ull << s);
    B.X[at * B.lanes + s] = 1.0;
  }
}

// After a level: finds the sources still alive, and adds it to Σ (d - 1) or Σ d. One block of 64 threads per batch.
template <class Offset>
__global__ void close_level(Batch B, i64 distance, double *due, double *total, u64 *told) {
  __shared__ u32 halves[2];
  select_batch(B);
  const int s = threadIdx.x;
  bool lives = false;
  if (s < B.lanes) {
    lives = B.found[s] != 0;
    const i64 at = (i64)blockIdx.y * B.lanes + s;
    due[at] += distance * B.counted[s], total[at] += B.counted[s];
    B.found[s] = 0, B.counted[s] = 0.0;
  }
  const u32 half = __ballot_sync(ALL_LANES, lives);
  if (lane() == 0) halves[s / 32] = half;
  __syncthreads();
  if (s == 0) told[blockIdx.y] = *B.alive = halves[0] | (u64)halves[1] << 32;
}

// With endpoints, a target scores 1 for every source that reaches it, and a source 1 for every target it reaches.
template <class Offset>
__global__ void __launch_bounds__(BLOCK)
    add_batches(Batch B, const u64 *first, const double *reached, i64 batches, i64 endpoints, i64 squares, i64 edges,
                double *total, double *parts) {
  __shared__ double tile[64][65];
  const i64 tiles = (B.n + 63) / 64, stretch = (tiles + gridDim.x - 1) / gridDim.x;
  const i64 begin = blockIdx.x * stretch, end = min(tiles, begin + stretch);
  const int s = threadIdx.x % 64, quarter = threadIdx.x / 64;
  for (i64 b = 0; b < batches; ++b) {
    double column = 0.0;
    for (i64 at = begin; at < end; ++at) {
      for (int r = quarter; r < 64; r += 4) {
        const i64 v = at * 64 + r, i = b * B.n + v;
        double x = 0.0;
        if (v < B.n && s < B.lanes && B.visited[i] >> s & 1) {
          const bool source = first[i] >> s & 1;
          if (edges || !source) x = B.delta[i * B.lanes + s];
          if (endpoints) x += source ? reached[b * B.lanes + s] : weight(B.targets, (int)v);
          x *= weight(B.origins, (int)(b * B.lanes + s));
        }
        tile[r][s] = x;
      }
      __syncthreads();
      const i64 v = at * 64 + s;
      if (quarter == 0 && !edges && v < B.n) {
        double sum = total[v], square = squares ? total[B.n + v] : 0.0;
        for (int k = 0; k < B.lanes; ++k) {
          const double x = tile[s][k];
          sum += x, square += x * x;
        }
        total[v] = sum;
        if (squares) total[B.n + v] = square;
      }
      if (quarter == 1)
        for (int r = 0; r < 64; ++r) column += tile[r][s];
      __syncthreads();
    }
    if (quarter == 1 && s < B.lanes) parts[(b * B.lanes + s) * gridDim.x + blockIdx.x] = column;
  }
}

// ---- Adjacency lists cut into chunks of at most `most` arcs. Keys sort chunks by descending length, vertex and index.

constexpr int PLACE_BITS = 23, VERTEX_BITS = 31;  // bits for chunk index and vertex; the other 10 bits are the length

// An empty list is a chunk, too: in the backward pass its vertex still needs its δ.
template <class Offset>
__device__ __forceinline__ u64 pieces(const Offset *offsets, u64 v, int most) {
  return max((u64)1, (degree(offsets, (int)v) + most - 1) / most);
}

// For a cut list: number of chunks in the upper bits, 1 in the lower; prefix sums yield its number and first slot.
template <class Offset>
__device__ __forceinline__ u64 slots_and_list(const Offset *offsets, u64 v, int most) {
  const u64 count = pieces(offsets, v, most);
  return count > 1 ? count << 32 | 1 : 0;
}

template <class Offset>
__global__ void sum_pieces(const Offset *offsets, u64 n, int most, u64 *sums) {
  sum_tiles(n, sums, [=](u64 v) { return slots_and_list(offsets, v, most); });
}
template <class Offset>
__global__ void scan_pieces(u64 *sums, u64 tiles, u64 *total) {  // one block
  const u64 all = scan_in_place(sums, tiles);
  if (threadIdx.x == 0) *total = all;
}

template <class Offset>
__global__ void write_pieces(const Offset *offsets, u64 n, int most, const u64 *sums, u64 *keys, int *slots,
                             Long *longs) {
  write_tiles(
      n, sums, [=](u64 v) { return slots_and_list(offsets, v, most); },
      [=](u64 v, u64 before) {
        const u64 slot = before >> 32, list = before & 0xffffffffu;
        const u64 arcs = degree(offsets, (int)v), count = pieces(offsets, v, most);
        slots[v] = (int)slot;
        if (count > 1) longs[list] = {(int)v, (int)slot, (int)count};
        for (u64 place = 0; place < count; ++place) {
          const u64 length = min((u64)most, arcs - place * most);
          keys[v + slot - list + place] = (most - length) << (VERTEX_BITS + PLACE_BITS) | v << PLACE_BITS | place;
        }
      });
}

template <class Offset>
__global__ void write_chunks(const Offset *offsets, const u64 *keys, u64 count, int most, const int *slots,
                             Chunk *chunks) {
  for (u64 i = thread_number(); i < count; i += thread_count()) {
    const u64 key = keys[i], place = key & ((1ull << PLACE_BITS) - 1);
    const int v = (int)(key >> PLACE_BITS & ((1ull << VERTEX_BITS) - 1));
    const int length = most - (int)(key >> (VERTEX_BITS + PLACE_BITS));
    const int slot = pieces(offsets, v, most) > 1 ? slots[v] + (int)place : -1;
    chunks[i] = {(i64)offsets[v] + (i64)place * most, v, length, slot, 0};
  }
}

}  // namespace hopwave::betweenness
