// A distance is stored as an unsigned integer that compares like the distance, so that atomicMin finds the smallest:
// u32 for integer lengths whose sums all fit, otherwise u64, the bits of a non-negative float64. An entry is a vertex
// with one of its distances. It is outdated once the vertex has a shorter distance, so each distance is relaxed at most
// once.
#pragma once
#include "common/threads.cuh"

namespace hopwave::shortest_paths {

constexpr int THREADS = 1024, WARPS = THREADS / WARP;
constexpr int TRACE_COLUMNS = 5;  // smallest distance (its bits), rounds, vertices, arcs, nanoseconds
constexpr int IN_FLIGHT = 4;      // arcs of long rows that a lane loads at a time

// Distances of type Bits along lengths of type Length. NONE is the distance of a vertex without a path.
template <class Length, class Bits>
struct Measure {  // float or double lengths, float64 sums
  using Value = Length;
  static constexpr Bits NONE = 0x7ff0000000000000ull;
  __device__ static Value load(const Length *lengths, i64 arc) { return __ldg(lengths + arc); }
  __device__ static Bits plus(Bits d, Value length) {
    return (u64)__double_as_longlong(__dadd_rn(__longlong_as_double((i64)d), (double)length));
  }
  __device__ static double number(Bits d) { return __longlong_as_double((i64)d); }
  // Returns the end of the bucket [least, least + width), which is above `least` for any width.
  __device__ static Bits end(Bits least, Bits width) {
    return max(min((Bits)__double_as_longlong(__dadd_rn(number(least), number(width))), NONE), min(least + 1, NONE));
  }
  // Returns an upper bound on all distances x with x + `last` ≤ d in rounded arithmetic.
  __device__ static Bits without(Bits d, Value last) {
    const double less = __dadd_ru(__dsub_ru(number(d), (double)last), number(d) * 0x1p-52);
    return (u64)__double_as_longlong(max(less, 0.0));
  }
};

template <>
struct Measure<u32, u32> {  // integer lengths; no array of lengths if all are 1
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

// A piece of a long row, and the distance at its tail.
struct Chunk {
  u64 d;
  i64 begin;
  int v, length;
};

struct Standing {
  u64 threshold, lower;  // current bucket: distances from lower to below threshold
  i64 began;             // in nanoseconds, by the block's own clock
  u32 phase, pile;       // phases ended; index of the pile being filled
  u32 buckets, rounds;   // buckets before this one; rounds of this bucket, as counted by the first block
  u32 all_rounds, grid_phases, rebuilds;
  int fresh;    // whether the last phase scanned the pile
  int crowded;  // whether the near entries have too many arcs for one block
};

// Data read after a barrier must not be written in the next phase, when a slow block may still be reading it. So there
// are three of each count: of this phase, of the next phase, and one being cleared.
struct Counters {
  __align__(128) u32 arrived;  // number of arrivals at the barrier since the start
  __align__(128) u32 left;     // number of blocks that have finished
  __align__(128) u32 near[3];  // entries of the near queues, by phase
  __align__(128) u32 chunks[3];
  __align__(128) u32 overflow[3];  // whether a buffer was full, by phase
  __align__(128) u32 far[3];       // entries of the far piles, by pile
  __align__(128) u64 least[3];     // smallest distance that remains on a pile after a split
  __align__(128) u64 vertices;     // vertices whose distance was relaxed, for the trace
  __align__(128) u64 arcs;
  __align__(128) Standing standing[2];  // published by the first block after a phase that it ran alone
};

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
  const int *targets;  // the search ends after the bucket of the last target
  i64 trace_rows, target_count;
  i64 goal;                      // if not -1, only a path to this vertex is wanted: other distances may not be final
  i64 both_ways;                 // whether the goal's row contains the arcs into it
  i64 capacity, chunk_capacity;  // of each near queue and far pile; of each list of chunks
  // Policy (engines/cuda/policy.py, PathSplit).
  i64 chunk;      // minimum arcs of a long row, which is cut into pieces of this length
  i64 enter;      // maximum entries at which the first block begins to work alone
  i64 alone;      // maximum entries at which the first block continues alone
  i64 pile;       // maximum entries of a far pile that the first block splits without the others
  i64 local;      // maximum entries per block at which a block continues with its own finds
  i64 subrounds;  // maximum rounds for which a block continues with its own finds
  i64 arcs;       // maximum arcs of a block's own finds
  i64 share;      // minimum entries per block, so that few entries go to few blocks
};

// In shared memory. Near entries also contain begin and end of their rows, read while the distance is being written.
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
  u32 place;  // first index of a flush
  u32 vertices;
  u64 arcs;
};

// ---- Properties of arc lengths, and their conversion to 32-bit integers.

struct Summary {
  double greatest, sum;
  u64 fractions;  // number of lengths that are not integers
};

// One summary per block; the host adds them up in a fixed order, so that sums are deterministic.
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

// ---- Relaxing arcs: a warp distributes the arcs of up to 32 entries to its lanes. Heads whose distance falls are
// queued: below the threshold in a near queue, others on the far pile.

template <class Offset, class Length, class Bits>
struct Relaxing {
  using M = Measure<Length, Bits>;
  using Value = typename M::Value;
  using Queues = BlockQueues<Offset, Bits>;
  using Pack = Packing<Bits>;

  const Offset *offsets;
  const int *neighbours;
  const Length *lengths;
  const Work<Bits> &work;
  Queues &own;
  Bits most;  // in this phase, larger distances are useless, except the goal's
  Bits threshold;
  u32 phase, pile;  // entries go to the near queue of the next phase, or onto this pile
  u32 round;        // index of the block's round within the phase
  bool local;       // whether near entries stay in the block
  u32 vertices;
  u64 arcs;

  static constexpr i64 MOST_ARCS = 1 << 20;  // a longer row counts as this many arcs in sums

  // ---- queues. Full warps call these functions; bit i of `who` is lane i.

  __device__ __forceinline__ void near_at(u32 place, Bits d, int v) {
    if (place < work.capacity) work.near[(phase + 1) % 2][place] = Pack::pack(d, v);
    else work.counters->overflow[(phase + 1) % 3] = 1;
  }
  __device__ __forceinline__ void far_at(u32 place, Bits d, int v) {
    if (place < work.capacity) work.far[pile % 2][place] = Pack::pack(d, v);
    else work.counters->overflow[(phase + 1) % 3] = 1;
  }

  // If K is 1 and entries stay in the block, `begin` and `end` of the rows are known.
  template <int K>
  __device__ __forceinline__ void queue_near(const u32 (&who)[K], u32 count, const Bits (&d)[K], const int (&v)[K],
                                             const Offset (&begin)[K], const Offset (&end)[K]) {
    u32 *tail = &work.counters->near[(phase + 1) % 3], at = 0;
    if (lane() == 0) {
      if (local) at = atomicAdd(&own.near_count[(round + 1) % 3], count);
      else at = atomicAdd(tail, count);
    }
    at = __shfl_sync(ALL_LANES, at, 0);
    u32 row_arcs = 0;
#pragma unroll
    for (int k = 0; k < K; k++) {
      const u32 place = at + __popc(who[k] & lanes_below());
      if (who[k] >> lane() & 1) {
        if (!local) near_at(place, d[k], v[k]);
        else if (place >= Queues::NEAR) near_at(enqueue_at(tail), d[k], v[k]);
        else {
          const u32 half = (round + 1) % 2;
          const Offset first = K == 1 ? begin[k] : __ldg(offsets + v[k]);
          const Offset last = K == 1 ? end[k] : __ldg(offsets + v[k] + 1);
          own.near_d[half][place] = d[k], own.near_v[half][place] = v[k], own.near_begin[half][place] = first;
          const u32 degree = (u32)min((i64)(last - first), (i64)MOST_ARCS);
          own.near_degree[half][place] = degree, row_arcs += degree;
        }
      }
      at += __popc(who[k]);
    }
    if (local) {
      row_arcs = warp_sum(row_arcs);
      if (lane() == 0) atomicAdd(&own.near_arcs[(round + 1) % 3], row_arcs);
    }
  }

  template <int K>
  __device__ __forceinline__ void queue_far(const u32 (&who)[K], u32 count, const Bits (&d)[K], const int (&v)[K]) {
    u32 *tail = &work.counters->far[pile % 3], at = 0;
    if (lane() == 0) {
      if (local) at = atomicAdd(&own.far_count, count);
      else at = atomicAdd(tail, count);
    }
    at = __shfl_sync(ALL_LANES, at, 0);
#pragma unroll
    for (int k = 0; k < K; k++) {
      const u32 place = at + __popc(who[k] & lanes_below());
      if (who[k] >> lane() & 1) {
        if (!local) far_at(place, d[k], v[k]);
        else if (place < Queues::FAR) own.far[place] = Pack::pack(d[k], v[k]);
        else far_at(enqueue_at(tail), d[k], v[k]);
      }
      at += __popc(who[k]);
    }
  }

  template <int K>
  __device__ __forceinline__ void queue(const bool (&wanted)[K], const Bits (&d)[K], const int (&v)[K],
                                        const Offset (&begin)[K], const Offset (&end)[K]) {
    u32 near[K], far[K], near_count = 0, far_count = 0;
#pragma unroll
    for (int k = 0; k < K; k++) {
      near[k] = __ballot_sync(ALL_LANES, wanted[k] && d[k] < threshold);
      far[k] = __ballot_sync(ALL_LANES, wanted[k] && !(d[k] < threshold));
      near_count += __popc(near[k]), far_count += __popc(far[k]);
    }
    if (near_count) queue_near<K>(near, near_count, d, v, begin, end);
    if (far_count) queue_far<K>(far, far_count, d, v);
  }

  // ---- arcs

  // A negative head means no arc. All loads of a kind are issued together. Bit i of `alive`: lane i's arcs count.
  template <int K, class Alive>
  __device__ __forceinline__ void relax(const i64 (&arc)[K], const Bits (&from)[K], const int (&owner)[K],
                                        Alive alive) {
    int v[K];
    Value length[K];
    Bits offer[K], before[K];
    bool better[K];
    Offset begin[K], end[K];
#pragma unroll
    for (int k = 0; k < K; k++) {
      v[k] = arc[k] < 0 ? -1 : __ldg(neighbours + arc[k]);
      length[k] = arc[k] < 0 ? (Value)0 : M::load(lengths, arc[k]);
    }
    const u32 live = alive();
#pragma unroll
    for (int k = 0; k < K; k++) {
      // With few arcs (K == 1), latency matters: without this load, the atomic operation is the only memory access.
      before[k] = v[k] < 0 || !(live >> owner[k] & 1) ? 0 : K == 1 ? M::NONE : __ldcg(work.dist + v[k]);
      offer[k] = M::plus(from[k], length[k]);
      if (K == 1 && local && v[k] >= 0) begin[k] = __ldg(offsets + v[k]), end[k] = __ldg(offsets + v[k] + 1);
    }
#pragma unroll
    for (int k = 0; k < K; k++) {
      better[k] = offer[k] < before[k] && (offer[k] <= most || v[k] == (int)work.goal);
      if (better[k]) before[k] = atomicMin(work.dist + v[k], offer[k]);
    }
#pragma unroll
    for (int k = 0; k < K; k++) better[k] = better[k] && offer[k] < before[k];
    queue<K>(better, offer, v, begin, end);
  }

  __device__ __forceinline__ void cut(u32 long_rows, int v, Bits d, i64 begin, i64 degree) {
    for (; long_rows; long_rows &= long_rows - 1) {
      const int lead = __ffs(long_rows) - 1;
      const i64 first = __shfl_sync(ALL_LANES, begin, lead), all = __shfl_sync(ALL_LANES, degree, lead);
      const Bits distance = __shfl_sync(ALL_LANES, d, lead);
      const int row = __shfl_sync(ALL_LANES, v, lead);
      const u32 pieces = (u32)((all + work.chunk - 1) / work.chunk);
      u32 at = 0;
      if (lane() == 0) at = atomicAdd(&work.counters->chunks[(phase + 1) % 3], pieces);
      at = __shfl_sync(ALL_LANES, at, 0);
      for (u32 i = lane(); i < pieces; i += WARP) {
        const i64 skipped = i * work.chunk;
        const Chunk piece{(u64)distance, first + skipped, row, (int)min(work.chunk, all - skipped)};
        if (at + i < work.chunk_capacity) work.chunks[(phase + 1) % 2][at + i] = piece;
        else work.counters->overflow[(phase + 1) % 3] = 1;
      }
      if (lane() == 0) atomicOr(&own.cut, 1u);
    }
  }

  // Each lane contributes consecutive arcs, which all lanes share evenly; none for an outdated entry (`now` is not d).
  __device__ __forceinline__ void share(Bits d, Bits now, i64 begin, u32 length) {
    u32 end = inclusive_scan(length), total = __shfl_sync(ALL_LANES, end, WARP - 1);
    if (total <= WARP) {  // the arcs are read without waiting for `now`
      deal<1>(0, total, end, begin - (end - length), d, [&] { return __ballot_sync(ALL_LANES, now == d); });
      arcs += total;
      return;
    }
    if (now != d) length = 0;
    end = inclusive_scan(length), total = __shfl_sync(ALL_LANES, end, WARP - 1);
    const i64 base = begin - (end - length);
    arcs += total;
    for (u32 i = 0; i < total; i += WARP * IN_FLIGHT) deal<IN_FLIGHT>(i, total, end, base, d, [] { return ALL_LANES; });
  }

  template <int K, class Alive>
  __device__ __forceinline__ void deal(u32 first, u32 total, u32 end, i64 base, Bits d, Alive alive) {
    i64 arc[K];
    Bits from[K];
    int owner[K];
#pragma unroll
    for (int k = 0; k < K; k++) {
      const u32 i = first + k * WARP + lane();
      owner[k] = 0;
#pragma unroll
      for (int step = WARP / 2; step; step /= 2)
        if (__shfl_sync(ALL_LANES, end, owner[k] + step - 1) <= i) owner[k] += step;
      const i64 at = __shfl_sync(ALL_LANES, base, owner[k]) + i;
      from[k] = __shfl_sync(ALL_LANES, d, owner[k]);
      arc[k] = i < total ? at : -1;
    }
    relax<K>(arc, from, owner, alive);
  }

  // ---- a block's part of a phase

  // Some arcs of an entry. `now` is its vertex's distance, which may still be loading; `whole`: whether to count it.
  struct Stretch {
    Bits d, now;
    i64 begin;
    u32 length;
    bool whole;
  };

  __device__ __forceinline__ Stretch chunk(u32 i) {
    const Chunk *c = work.chunks[phase % 2] + i;
    const int v = __ldcg(&c->v);
    const i64 begin = __ldcg(&c->begin);
    const Bits d = (Bits)__ldcg(&c->d);
    const bool mine = lane() == 0;
    return {d, d <= most ? __ldcg(work.dist + v) : d + 1, begin, mine ? (u32)__ldcg(&c->length) : 0,
            mine && begin == (i64)__ldg(offsets + v)};
  }

  // Reads up to 32 entries, one per lane, from a list or, if it is null, from the block's own entries; cuts long rows.
  __device__ __forceinline__ Stretch tile(const Entry<Bits> *list, u32 i, bool mine) {
    int v = 0;
    Bits d = 0, now = 1;
    i64 begin = 0, degree = 0;
    if (mine) {
      if (list) {
        const Entry<Bits> entry = list[i];
        v = Pack::vertex(entry), d = Pack::distance(entry);
        begin = (i64)__ldg(offsets + v), degree = (i64)__ldg(offsets + v + 1) - begin;
      } else {
        const u32 half = round % 2;
        v = own.near_v[half][i], d = own.near_d[half][i];
        begin = (i64)own.near_begin[half][i], degree = (i64)own.near_degree[half][i];
      }
      now = d <= most ? __ldcg(work.dist + v) : d + 1;  // if this is less than d, the vertex has another entry
    }
    if (__any_sync(ALL_LANES, degree >= work.chunk)) {
      const u32 long_rows = __ballot_sync(ALL_LANES, degree >= work.chunk && now == d);
      if (long_rows) cut(long_rows, v, d, begin, (i64)__ldg(offsets + v + 1) - begin);
      if (degree >= work.chunk) degree = 0, now = d + 1;
    }
    return {d, now, begin, (u32)degree, mine};
  }

  // The team's warps process chunks, this block's warps entries. One code path relaxes all arcs: a short kernel.
  __device__ __forceinline__ void pass_on(const Entry<Bits> *list, u32 begin, u32 end, u32 chunks, u32 blocks,
                                          u32 rank) {
    const u32 size = min(32u, max(1u, (end - begin + WARPS - 1) / WARPS));
    u32 c = block_warp() * blocks + rank, i = begin + block_warp() * size;
    while (c < chunks || i < end) {
      Stretch mine;
      if (c < chunks) mine = chunk(c), c += WARPS * blocks;
      else mine = tile(list, i + lane(), lane() < size && i + lane() < end), i += WARPS * size;
      share(mine.d, mine.now, mine.begin, mine.length);
      vertices += __popc(__ballot_sync(ALL_LANES, mine.whole && mine.now == mine.d));
    }
  }

  __device__ __forceinline__ void flush_far() {
    __syncthreads();
    const u32 count = min(own.far_count, Queues::FAR);
    __syncthreads();
    if (!count) return;
    if (threadIdx.x == 0) {
      own.place = atomicAdd(&work.counters->far[pile % 3], count);
      own.far_count = 0;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < count; i += THREADS) {
      const Entry<Bits> e = own.far[i];
      far_at(own.place + i, Pack::distance(e), Pack::vertex(e));
    }
    __syncthreads();
  }

  __device__ __forceinline__ void flush_near(u32 count) {
    __syncthreads();
    if (threadIdx.x == 0) {
      if (count) own.place = atomicAdd(&work.counters->near[(phase + 1) % 3], count);
      for (int i = 0; i < 3; i++) own.near_count[i] = own.near_arcs[i] = 0;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < count; i += THREADS) {
      near_at(own.place + i, own.near_d[(round + 1) % 2][i], own.near_v[(round + 1) % 2][i]);
    }
    __syncthreads();
  }
};

}  // namespace hopwave::shortest_paths
