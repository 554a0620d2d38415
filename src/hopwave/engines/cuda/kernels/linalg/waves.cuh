// A sequence of masked products in one launch: f⟨¬v⟩ = f ⊕.⊗ A, v⟨f⟩ = f, until f is empty, where ⊕ accepts any term
// and ⊗ does not use A's values. The levels are those of hopwave's search (one_launch/search.cuh). Operand reuse
// (push-pull, section 5.4) works for every such semiring: if an index outside v has a neighbour in v, that neighbour is
// in f; otherwise the index would have been reached before. So f needs no array of its own.
#pragma once
#include "linalg/products.cuh"
#include "one_launch/search.cuh"

namespace hopwave::linalg {

// The `Answer` of the search, as defined in one_launch/state.cuh.
template <class Ring>
struct Reached {
  using Sum = typename Ring::Sum;
  static constexpr bool FROM = Ring::carries, EVERY = true, FILLS = false;
  static constexpr int HUB = 0;
  int *levels;
  Sum *values;        // values of v, if ⊕.⊗ carries values
  bool *present;      // whether each index was reached
  const int *places;  // indices of x; null: x has one entry, at `only`
  const Sum *x;       // values of x
  int only;
  Sum only_value;
  u64 *host;  // receives the number of reached indices and of products

  __device__ __forceinline__ int source(u32 i) const { return places ? places[i] : only; }
  __device__ __forceinline__ void begin(u32 i, int s) const {
    levels[s] = 0;
    if (Ring::carries) values[s] = places ? x[i] : only_value;
  }
  __device__ __forceinline__ void reach(int v, int from, int depth) const {
    levels[v] = depth;
    if (Ring::carries) values[v] = Ring::term((typename Ring::A)1, Ring::reads_x ? values[from] : (Sum)1, v, from, 0);
  }
  template <bool ONCE>
  __device__ __forceinline__ void fill(int, int, int) const {}
  __device__ __forceinline__ void close(i64 v, bool reached) const { present[v] = reached; }
  __device__ __forceinline__ void tell(const one_launch::Standing &here) const {
    host[0] = here.reached, host[1] = here.levels;
  }
};

template <class Ring, class Offset>
__global__ void __launch_bounds__(one_launch::THREADS, 1)
    waves(const __grid_constant__ one_launch::Graph<Offset> graph, const __grid_constant__ one_launch::Work work,
          int *levels, typename Ring::Sum *values, bool *present, const int *places, const typename Ring::Sum *x,
          int only, typename Ring::Sum only_value, int count, int depth_limit, double alpha, double beta, u64 *host) {
  one_launch::all_levels(graph, work, Reached<Ring>{levels, values, present, places, x, only, only_value, host}, count,
                         depth_limit, alpha, beta);
}

// For semirings that need every term or the values: ⊕ over the entries whose column is one level up; -1: no level.
template <class Ring, class Offset>
__global__ void __launch_bounds__(one_launch::THREADS, 1)
    sum_levels(const Offset *offsets, const int *indices, const typename Ring::A *a,
               const __grid_constant__ one_launch::Levels by, const int *levels, typename Ring::Sum *values,
               const int *places, const typename Ring::Sum *x, int only, typename Ring::Sum only_value, int count,
               one_launch::Counters *counters) {
  using Sum = typename Ring::Sum;
  u32 target = 0;
  auto wait = [&](bool patient) { one_launch::grid_barrier(counters, target, patient, [] {}); };
  auto level = [&](int depth, u32 rank, u32 team) {
    one_launch::sum_level<Total<Ring>>(
        by, depth, offsets, rank, team,
        [&](Total<Ring> &total, int v, i64 e) {
          const int u = __ldg(indices + e);
          if (__ldg(levels + u) != depth - 1) return;
          const typename Ring::A left = Ring::reads_a ? a[e] : (typename Ring::A)1;
          total.add(Ring::term(left, Ring::reads_x ? values[u] : (Sum)1, v, u, 0));
        },
        [&](int v, Sum sum) { values[v] = sum; });
  };
  for (i64 i = signed_thread_number(); i < count; i += signed_thread_count())
    values[places ? places[i] : only] = places ? x[i] : only_value;
  wait(false);
  for (int depth = 1; depth < by.count;) {
    if (!by.small(depth)) {
      level(depth++, blockIdx.x, gridDim.x);
      wait(false);
      continue;
    }
    for (; depth < by.count && by.small(depth); depth++) {
      if (blockIdx.x == 0) {
        level(depth, 0, 1);
        __syncthreads();
      }
    }
    wait(blockIdx.x != 0);
  }
  one_launch::leave_grid(counters);
}

constexpr i64 MAX_LOOKED_AT = 4096;  // entries of a row that are searched for its fullest column

// Once per matrix: each row's entry in the fullest column, at which most rows stop; and a bitmap of empty rows.
template <class Offset>
__global__ void fullest(const Offset *offsets, const Offset *in_offsets, const int *in_neighbours, i64 n, int *hub,
                        u32 *closed, u64 *findable) {
  const u32 words = (u32)((n + 31) / 32), warps = gridDim.x * (blockDim.x / 32);
  for (u32 w = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; w < words; w += warps) {
    const i64 mine = (i64)w * 32 + lane();
    const i64 begin = mine < n ? in_offsets[mine] : 0, end = mine < n ? in_offsets[mine + 1] : 0;
    u32 open = __ballot_sync(ALL_LANES, begin < end);
    int found = -1;
    if (lane() == 0) {
      closed[w] = ~open;
      if (open) atomicAdd(findable, (u64)__popc(open));
    }
    for (; open; open &= open - 1) {
      const int j = __ffs(open) - 1;
      const i64 first = __shfl_sync(ALL_LANES, begin, j),
                last = min(__shfl_sync(ALL_LANES, end, j), first + MAX_LOOKED_AT);
      i64 most = -1;
      int best = 0x7fffffff;
      for (i64 e = first + lane(); e < last; e += 32) {
        const int k = in_neighbours[e];
        const i64 entries = (i64)(offsets[k + 1] - offsets[k]);
        if (entries > most || (entries == most && k < best)) most = entries, best = k;
      }
      for (int step = 16; step; step >>= 1) {
        const i64 entries = __shfl_xor_sync(ALL_LANES, most, step);
        const int k = __shfl_xor_sync(ALL_LANES, best, step);
        if (entries > most || (entries == most && k < best)) most = entries, best = k;
      }
      if (lane() == j) found = best;
    }
    if (mine < n) hub[mine] = found;
  }
}

}  // namespace hopwave::linalg
