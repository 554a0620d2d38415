// A distance is kept as an unsigned integer that compares like the distance, so that atomicMin finds the least: u32 for
// whole lengths whose sums all fit, else u64, the bits of a float64 that is not negative. An entry is a vertex with a
// distance that it got. It is outdated when the vertex has got a shorter one; so each distance is passed on at most
// once.
#pragma once
#include "common/threads.cuh"

namespace hopwave::shortest_paths {

constexpr int THREADS = 1024, WARPS = THREADS / WARP;
constexpr int TRACE_COLUMNS = 5;  // least distance (its bits), rounds, vertices, arcs, nanoseconds
constexpr int IN_FLIGHT = 4;      // arcs of long rows that a lane loads at a time

// Distances of type Bits along lengths of type Length. NONE is the distance of a vertex that has no path.
template <class Length, class Bits>
struct Measure {  // float or double lengths, float64 sums
  using Value = Length;
  static constexpr Bits NONE = 0x7ff0000000000000ull;
  __device__ static Value load(const Length *lengths, i64 arc) { return __ldg(lengths + arc); }
  __device__ static Bits plus(Bits d, Value length) {
    return (u64)__double_as_longlong(__dadd_rn(__longlong_as_double((i64)d), (double)length));
  }
  __device__ static double number(Bits d) { return __longlong_as_double((i64)d); }
  // Returns the end of the bucket [least, least + width). It is above `least`, however narrow the bucket is.
  __device__ static Bits end(Bits least, Bits width) {
    return max(min((Bits)__double_as_longlong(__dadd_rn(number(least), number(width))), NONE), min(least + 1, NONE));
  }
  // Returns a bound of all distances that are d or less when `last` is added to them, also by rounding.
  __device__ static Bits without(Bits d, Value last) {
    const double less = __dadd_ru(__dsub_ru(number(d), (double)last), number(d) * 0x1p-52);
    return (u64)__double_as_longlong(max(less, 0.0));
  }
};

template <>
struct Measure<u32, u32> {  // whole lengths; no array of lengths if all are 1
  using Value = u32;
  static constexpr u32 NONE = ~0u;
  __device__ static Value load(const u32 *lengths, i64 arc) { return lengths ? __ldg(lengths + arc) : 1; }
  __device__ static u32 plus(u32 d, Value length) { return d + length; }
  __device__ static double number(u32 d) { return d == NONE ? __longlong_as_double(0x7ff0000000000000ll) : (double)d; }
  __device__ static u32 end(u32 least, u32 width) { return width < NONE - least ? least + max(width, 1u) : NONE; }
  __device__ static u32 without(u32 d, Value last) { return d > last ? d - last : 0; }
};

// An entry as one vector, so that one load or store moves it.
template <class Bits>
struct Packing {
  using Type = uint4;
  __device__ static Type pack(Bits d, int v) { return make_uint4((u32)d, (u32)(d >> 32), (u32)v, 0); }
  __device__ static Bits distance(Type e) { return (Bits)e.y << 32 | e.x; }
  __device__ static int vertex(Type e) { return (int)e.z; }
};
template <>
struct Packing<u32> {
  using Type = uint2;
  __device__ static Type pack(u32 d, int v) { return make_uint2(d, (u32)v); }
  __device__ static u32 distance(Type e) { return e.x; }
  __device__ static int vertex(Type e) { return (int)e.y; }
};
template <class Bits>
using Entry = typename Packing<Bits>::Type;

// A piece of a long row, and the distance that is passed on along it.
struct Chunk {
  u64 d;
  i64 begin;
  int v, length;
};

// The state of a search between two phases.
struct Standing {
  u64 threshold, lower;  // the current bucket: distances from lower to less than threshold
  i64 began;             // in nanoseconds, by the block's own clock
  u32 phase, pile;       // phases ended; number of the pile that is being filled
  u32 buckets, rounds;   // buckets begun before this one; rounds of this bucket, as the first block counts them
  u32 all_rounds, grid_phases, rebuilds;
  int fresh;    // whether the last phase went through the pile
  int crowded;  // whether the near entries have too many arcs for one block
};

// Data read after a barrier must not be written in the next phase, when a slow block may still be reading it. So there
// are three of each count: of this phase, of the next, and one being cleared.
struct Counters {
  __align__(128) u32 arrived;  // blocks that have arrived at the barrier since the beginning
  __align__(128) u32 left;     // blocks that have finished
  __align__(128) u32 near[3];  // entries of the near queues, by phase
  __align__(128) u32 chunks[3];
  __align__(128) u32 overflow[3];  // whether a buffer was full, by phase
  __align__(128) u32 far[3];       // entries of the far piles, by pile
  __align__(128) u64 least[3];     // the least distance that stays on a pile after a split
  __align__(128) u64 vertices;     // vertices that passed on their distance, for the trace
  __align__(128) u64 arcs;
  __align__(128) Standing standing[2];  // what the first block tells the others after it has worked alone
};

// A search's report to the host.
struct Report {
  u64 buckets, rounds, grid_phases, rebuilds;
};

template <class Bits>
struct Work {
  Bits *dist;
  Entry<Bits> *near[2], *far[2];
  Chunk *chunks[2];
  Counters *counters;
  i64 *trace;
  const int *targets;  // the search ends after the bucket of the last of them
  i64 trace_rows, target_count;
  i64 goal;       // if not -1, only a path to this vertex is wanted: distances that it does not need may not be final
  i64 both_ways;  // whether the goal's row has the arcs into it
  i64 capacity, chunk_capacity;  // of each near queue and far pile; of each list of chunks
  // Policy (engines/cuda/policy.py, PathSplit).
  i64 chunk;      // arcs from which a row is long: it is cut into pieces of this length
  i64 enter;      // entries up to which the first block goes on alone
  i64 alone;      // entries up to which the first block stays alone
  i64 pile;       // entries of a far pile up to which the first block takes it alone
  i64 local;      // entries per block up to which a block goes on with what it finds itself
  i64 subrounds;  // most rounds for which a block goes on so
  i64 arcs;       // most arcs of these entries
  i64 share;      // least entries per block, so that few entries go to few blocks
};

// In shared memory. Near entries also have the ends of their rows, read while the distance is being written.
template <class Offset, class Bits>
struct BlockQueues {
  static constexpr u32 NEAR = 16384 / (sizeof(Bits) + sizeof(Offset) + 8), FAR = 8192 / sizeof(Entry<Bits>);
  Entry<Bits> far[FAR];
  Bits near_d[2][NEAR];
  Offset near_begin[2][NEAR];
  int near_v[2][NEAR];
  u32 near_degree[2][NEAR];
  u32 near_count[3], near_arcs[3], far_count;
  u32 cut;    // whether a long row was cut in this phase
  u32 place;  // first place of a flush
  u32 vertices;
  u64 arcs;
};

// ---- Properties of the lengths of arcs, and their conversion to whole numbers of 32 bits.

struct Summary {
  double greatest, sum;
  u64 fractions;  // how many are not whole numbers
};

// One summary per block; the host adds them up in a fixed order, so that sums are the same in every run.
template <class T>
__global__ void __launch_bounds__(BLOCK) measure(const T *lengths, u64 count, Summary *of_block) {
  __shared__ Summary of_warp[BLOCK / WARP];
  Summary mine = {0, 0, 0};
  for (u64 i = thread_number(); i < count; i += thread_count()) {
    const double length = (double)lengths[i];
    mine.greatest = fmax(mine.greatest, length), mine.sum += length, mine.fractions += floor(length) != length;
  }
  mine = {warp_max(mine.greatest), warp_sum(mine.sum), warp_sum(mine.fractions)};
  if (lane() == 0) of_warp[block_warp()] = mine;
  __syncthreads();
  if (threadIdx.x) return;
  for (int i = 1; i < BLOCK / WARP; ++i) {
    mine.greatest = fmax(mine.greatest, of_warp[i].greatest);
    mine.sum += of_warp[i].sum, mine.fractions += of_warp[i].fractions;
  }
  of_block[blockIdx.x] = mine;
}

template <class T>
__global__ void to_whole(const T *lengths, u64 count, u32 *whole) {
  for (u64 i = thread_number(); i < count; i += thread_count()) whole[i] = (u32)lengths[i];
}

}  // namespace hopwave::shortest_paths
