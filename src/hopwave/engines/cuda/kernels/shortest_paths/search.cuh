// Shortest paths from one vertex, or the nearest of several, in one cooperative launch. A near queue stores entries of
// the current bucket, a far pile all others (Davidson et al., Work-efficient parallel GPU methods for single-source
// shortest paths, 2014). A launch is a sequence of phases, separated by barriers:
//
//   round     entries of the near queue, and chunks of long rows, are relaxed along their arcs. Vertices found below
//             the threshold go into the next near queue, others onto the pile. A block with few entries continues
//             with the entries that it finds itself, for some rounds with barriers only inside the block.
//   split     the near queue is empty: the threshold advances. Entries of the pile below it become the near queue;
//             outdated entries are dropped.
//   rebuild   a buffer was full, so entries were lost: all vertices of the current bucket and beyond it are queued
//             again. This only repeats work.
//
// The first block computes small phases while the others wait. The order of relaxations does not change the result:
// rounded sums are monotone in their terms, so a vertex's smallest distance also yields its neighbours' smallest.
#pragma once
#include "shortest_paths/state.cuh"

namespace hopwave::shortest_paths {

struct Here {
  u32 near, chunks, far, overflow;
  u64 least;
};

template <class Bits>
struct Ended {
  Bits lower, threshold;  // bucket of a split
  u32 rounds;             // number of rounds of a round phase
  bool split, rebuilt, grid, crowded;
};

// Data common to a block's threads is in shared memory. Thread 0 changes it between two phases, while the others wait.
template <class Offset, class Length, class Bits>
struct Search {
  using M = Measure<Length, Bits>;
  using R = Relaxing<Offset, Length, Bits>;
  using Queues = BlockQueues<Offset, Bits>;

  const Work<Bits> &work;
  R &relaxing;
  Queues &own;
  Here &here;
  Standing &at;
  Bits width, limit;       // width of a bucket; maximum distance
  typename M::Value last;  // minimum length of the last arc of a path to the goal
  u32 target;              // for barrier()

  __device__ __forceinline__ void advance(const Ended<Bits> &ended) {
    at.phase++, at.grid_phases += ended.grid;
    if (ended.split) {
      if (!ended.rebuilt)
        at.buckets += !at.fresh, at.rounds = 0, at.lower = ended.lower, at.threshold = ended.threshold;
      at.pile++, at.fresh = 1, at.rebuilds += ended.rebuilt;
    } else {
      at.fresh = 0, at.crowded = ended.crowded, at.rounds += ended.rounds, at.all_rounds += ended.rounds;
    }
  }

  __device__ __forceinline__ void look() {
    const Counters *c = work.counters;
    const u32 i = at.phase % 3;
    here.near = __ldcg(&c->near[i]), here.chunks = __ldcg(&c->chunks[i]), here.overflow = __ldcg(&c->overflow[i]);
    here.far = __ldcg(&c->far[at.pile % 3]), here.least = __ldcg(&c->least[(at.pile + 2) % 3]);
  }

  __device__ __forceinline__ void meet_alone(const Ended<Bits> &ended) {
    __syncthreads();
    if (threadIdx.x == 0) {
      advance(ended);
      __threadfence();
      look();
    }
    __syncthreads();
  }

  // Ends a phase of all blocks, or of only the first block, which then publishes the state of the search in `told`.
  __device__ __forceinline__ void meet(const Ended<Bits> *ended, const Standing *told) {
    barrier(
        &work.counters->arrived, target, gridDim.x, [] {},
        [&] {
          if (told) {
            const volatile Standing &said = *told;
            at.threshold = said.threshold, at.lower = said.lower, at.phase = said.phase, at.pile = said.pile;
            at.buckets = said.buckets, at.rounds = said.rounds, at.all_rounds = said.all_rounds;
            at.grid_phases = said.grid_phases, at.rebuilds = said.rebuilds, at.fresh = said.fresh;
            at.crowded = said.crowded;
          } else if (ended) {
            advance(*ended);
          }
          look();
        });
  }

  __device__ __forceinline__ bool nothing_near() const { return !(here.near | here.chunks); }
  __device__ __forceinline__ bool over() const { return !here.overflow && nothing_near() && !here.far; }

  // Whether all targets are in final buckets. Any other path to the goal has a length of at least threshold + last.
  __device__ __forceinline__ bool settled() const {
    if (!nothing_near() || here.overflow) return false;
    if (work.goal >= 0) return __ldcg(work.dist + work.goal) < M::plus((Bits)at.threshold, last);
    if (!work.target_count) return false;
    bool all = true;
    for (i64 i = threadIdx.x; all && i < work.target_count; i += THREADS)
      all = (u64)__ldcg(work.dist + work.targets[i]) < at.threshold;
    return __syncthreads_and(all);
  }

  // Whether only the first block computes the next phase; `most` is the maximum number of entries for this.
  __device__ __forceinline__ bool small(i64 most) const {
    if (here.overflow || over() || at.crowded) return false;
    return nothing_near() ? here.far <= work.pile : here.near <= most && here.chunks <= 4;
  }

  // ---- phases, by a team of `blocks` blocks; this block has the index `rank`

  __device__ __forceinline__ void clear_for_later(u32 rank) {
    if (rank || threadIdx.x) return;
    Counters *c = work.counters;
    const u32 i = (at.phase + 2) % 3;
    c->near[i] = c->chunks[i] = c->overflow[i] = 0;
  }

  __device__ __forceinline__ Ended<Bits> round(u32 blocks, u32 rank) {
    clear_for_later(rank);
    const u32 share = max((here.near + blocks - 1) / blocks, (u32)work.share);
    const u32 begin = min(rank * share, here.near), end = min(begin + share, here.near);
    const bool alone = blocks == 1;
    const u32 most = alone ? (u32)min(work.alone, (i64)Queues::NEAR) : Queues::NEAR;
    const u32 subrounds = alone ? ~0u : share <= work.local ? (u32)work.subrounds : 0;
    R &r = relaxing;
    r.phase = at.phase, r.pile = at.pile, r.threshold = (Bits)at.threshold, r.round = 0, r.local = subrounds > 0;
    r.most = work.goal < 0 ? limit : M::without(__ldcg(work.dist + work.goal), last);
    r.vertices = 0, r.arcs = 0;
    const Entry<Bits> *list = work.near[at.phase % 2];
    u32 rounds = 0, first = begin, last = end, chunks = here.chunks, found = 0, found_arcs = 0;
    while (true) {
      r.pass_on(list, first, last, chunks, blocks, rank);
      rounds++;
      if (!r.local) break;
      __syncthreads();
      found = own.near_count[(r.round + 1) % 3], found_arcs = own.near_arcs[(r.round + 1) % 3];
      const u32 far = own.far_count, cut = own.cut;
      __syncthreads();  // all threads have read the data that the next round changes
      if (far >= Queues::FAR / 2) r.flush_far();
      if (!found || found > most || found_arcs > work.arcs || cut || rounds > subrounds) break;
      r.round++;
      if (threadIdx.x == 0) own.near_count[(r.round + 2) % 3] = own.near_arcs[(r.round + 2) % 3] = 0;
      list = nullptr, first = 0, last = min(found, Queues::NEAR), chunks = 0;
    }
    if (r.local) {
      r.flush_near(min(found, Queues::NEAR));
      r.flush_far();
      if (threadIdx.x == 0) own.cut = 0;
    }
    if (work.trace) note_sums();
    return {0, 0, rounds, false, false, !alone, alone && found_arcs > work.arcs};
  }

  __device__ __forceinline__ void note_sums() {
    if (threadIdx.x == 0) own.vertices = 0, own.arcs = 0;
    __syncthreads();
    if (lane() == 0) atomicAdd(&own.vertices, relaxing.vertices), atomicAdd(&own.arcs, relaxing.arcs);
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(&work.counters->vertices, (u64)own.vertices), atomicAdd(&work.counters->arcs, own.arcs);
    }
  }

  // Divides the far pile into the near queue of the next bucket and a new pile; a rebuild divides all n vertices.
  __device__ __forceinline__ Ended<Bits> split(u32 blocks, u32 rank, i64 n) {
    clear_for_later(rank);
    const bool rebuild = here.overflow;
    if (rank == 0 && threadIdx.x == 0) {
      work.counters->far[(at.pile + 2) % 3] = 0;
      work.counters->least[(at.pile + 1) % 3] = M::NONE;
      if (!at.fresh && !rebuild) note_bucket();
    }
    // If the last phase also scanned the pile, its smallest distance is known: the next bucket begins there.
    const Bits lower = (Bits)(rebuild ? at.lower : at.fresh ? here.least : at.threshold);
    const Bits threshold = rebuild ? (Bits)at.threshold : M::end(lower, width);
    R &r = relaxing;
    r.phase = at.phase, r.pile = at.pile + 1, r.threshold = threshold, r.local = false;
    const Entry<Bits> *pile = work.far[at.pile % 2];
    const u32 count = rebuild ? (u32)n : here.far;
    const Offset none[1] = {0};
    Bits least = M::NONE;
    for (u32 begin = (block_warp() * blocks + rank) * WARP; begin < count; begin += blocks * THREADS) {
      const u32 i = begin + lane();
      Bits d[1] = {0};
      int v[1] = {0};
      bool wanted[1] = {false};
      if (i < count) {
        const Entry<Bits> e = rebuild ? Packing<Bits>::pack(0, (int)i) : pile[i];
        d[0] = Packing<Bits>::distance(e), v[0] = Packing<Bits>::vertex(e);
        const Bits now = __ldcg(work.dist + v[0]);
        if (rebuild) d[0] = now;
        wanted[0] = rebuild ? now != M::NONE && now >= lower : now == d[0];
      }
      if (wanted[0] && !(d[0] < threshold)) least = min(least, d[0]);
      r.template queue<1>(wanted, d, v, none, none);
    }
    for (int step = WARP / 2; step; step /= 2) least = min(least, __shfl_xor_sync(ALL_LANES, least, step));
    if (lane() == 0 && least != M::NONE) atomicMin(&work.counters->least[at.pile % 3], (u64)least);
    return {lower, threshold, 0, true, rebuild, blocks > 1, false};
  }

  __device__ __forceinline__ void note_bucket() {
    if (work.trace && at.buckets < work.trace_rows) {
      i64 *row = work.trace + (i64)at.buckets * TRACE_COLUMNS;
      row[0] = (i64)at.lower, row[1] = at.rounds;
      row[2] = (i64)__ldcg(&work.counters->vertices), row[3] = (i64)__ldcg(&work.counters->arcs);
      row[4] = nanoseconds() - at.began;
    }
  }

  __device__ __forceinline__ void run(i64 n) {
    for (int told = 0; !over() && !settled();) {
      const bool alone = small(work.enter);
      const u32 blocks = alone ? 1 : gridDim.x, rank = alone ? 0 : blockIdx.x;
      Ended<Bits> ended{};
      while (!alone || blockIdx.x == 0) {
        ended = here.overflow || nothing_near() ? split(blocks, rank, n) : round(blocks, rank);
        if (!alone) break;
        meet_alone(ended);
        if (!small(work.alone) || settled()) break;
      }
      Standing *standing = work.counters->standing + told;
      if (alone && thread_number() == 0) *standing = at;
      meet(&ended, alone ? standing : nullptr);
      told ^= alone;
    }
  }
};

// Returns the minimum length of the arcs into the goal; 0 if unknown. The full block calls this function.
template <class M, class Offset, class Length, class Bits>
__device__ __forceinline__ typename M::Value last_arc(const Offset *offsets, const Length *lengths,
                                                      const Work<Bits> &work) {
  __shared__ typename M::Value of_warp[WARPS];
  if (work.goal < 0 || !work.both_ways || offsets[work.goal] == offsets[work.goal + 1]) return 0;
  typename M::Value least = M::load(lengths, (i64)offsets[work.goal]);
  for (i64 arc = (i64)offsets[work.goal] + threadIdx.x; arc < (i64)offsets[work.goal + 1]; arc += THREADS)
    least = min(least, M::load(lengths, arc));
  for (int step = WARP / 2; step; step /= 2) least = min(least, __shfl_xor_sync(ALL_LANES, least, step));
  if (lane() == 0) of_warp[block_warp()] = least;
  __syncthreads();
  for (int i = 0; i < WARPS; i++) least = min(least, of_warp[i]);
  return least;
}

// Writes distances from the nearest of `count` sources to `out`, as float64; `out` may be work.dist itself.
template <class Offset, class Length, class Bits>
__global__ void __launch_bounds__(THREADS)
    search(const Offset *offsets, const int *neighbours, const Length *lengths, i64 n,
           const __grid_constant__ Work<Bits> work, const int *sources, int source, i64 count, u64 limit, u64 width,
           double *out, Report *report) {
  using M = Measure<Length, Bits>;
  __shared__ BlockQueues<Offset, Bits> own;
  __shared__ Here here;
  __shared__ Standing standing;
  Counters *counters = work.counters;
  if (threadIdx.x < 3) own.near_count[threadIdx.x] = own.near_arcs[threadIdx.x] = 0;
  if (threadIdx.x == 0) own.far_count = own.cut = 0;
  for (i64 v = signed_thread_number(); v < n; v += signed_thread_count()) work.dist[v] = M::NONE;
  if (thread_number() == 0) {
    counters->near[0] = (u32)count;
    for (int i = 0; i < 3; i++) counters->least[i] = M::NONE;
  }
  Relaxing<Offset, Length, Bits> relaxing{offsets, neighbours, lengths, work, own};
  const auto last = last_arc<M>(offsets, lengths, work);
  Search<Offset, Length, Bits> search{work, relaxing, own, here, standing, (Bits)width, (Bits)limit, last, 0};
  if (threadIdx.x == 0) standing = {}, standing.threshold = M::end(0, (Bits)width), standing.began = nanoseconds();
  search.meet(nullptr, nullptr);
  for (i64 i = signed_thread_number(); i < count; i += signed_thread_count()) {
    const int s = sources ? sources[i] : source;
    work.dist[s] = 0;
    work.near[0][i] = Packing<Bits>::pack(0, s);
  }
  search.meet(nullptr, nullptr);
  search.run(n);
  if ((void *)out != (void *)work.dist)
    for (i64 v = signed_thread_number(); v < n; v += signed_thread_count()) out[v] = M::number(__ldcg(work.dist + v));
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    if (!search.at.fresh) search.note_bucket();
    const Standing &end = search.at;
    *report = Report{end.buckets + !end.fresh, end.all_rounds, end.grid_phases, end.rebuilds};
  }
  __threadfence();
  if (atomicAdd(&counters->left, 1) == gridDim.x - 1) {
    counters->left = counters->arrived = 0;
    counters->vertices = counters->arcs = 0;
    for (int i = 0; i < 3; i++) counters->near[i] = counters->chunks[i] = counters->overflow[i] = counters->far[i] = 0;
  }
}

}  // namespace hopwave::shortest_paths
