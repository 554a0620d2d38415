// Operations on full arrays: operators, sums, scattered sums, and a vector's two forms (entries; n values and n bits).
#pragma once
#include "linalg/products.cuh"

namespace hopwave::linalg {

// z(i) = op(x(i), y(i)); an operand with step 0 is a single value.
template <class Op>
__global__ void map_two(const typename Op::A *x, int x_step, const typename Op::X *y, int y_step, typename Op::Sum *z,
                        u64 count) {
  for (u64 i = thread_number(); i < count; i += thread_count()) z[i] = Op::two(x[i * x_step], y[i * y_step]);
}

template <class Op>
__global__ void map_one(const typename Op::A *x, typename Op::Sum *z, u64 count) {
  for (u64 i = thread_number(); i < count; i += thread_count()) z[i] = Op::one(x[i]);
}

// ⊕ of all values, in a fixed order: deterministic. The last block to finish adds up the blocks' sums.
template <class Ring>
__global__ void __launch_bounds__(BLOCK) sum_all(const typename Ring::A *values, u64 count, typename Ring::Sum *partial,
                                                 Progress *progress, typename Ring::Sum *result) {
  __shared__ typename Ring::Sum sums[BLOCK / WARP];
  __shared__ int filled[BLOCK / WARP];
  __shared__ bool last;
  const auto over_block = [&](Total<Ring> total) {
    total.over_warp();
    __syncthreads();
    if (lane() == 0) filled[block_warp()] = total.here;
    if (lane() == 0 && total.here) sums[block_warp()] = total.sum;
    __syncthreads();
    Total<Ring> whole;
    for (int warp = 0; warp < BLOCK / WARP; ++warp)
      if (filled[warp]) whole.add(sums[warp]);
    return whole;
  };
  Total<Ring> mine;
  for (u64 i = thread_number(); i < count; i += thread_count()) mine.add((typename Ring::Sum)values[i]);
  const Total<Ring> ours = over_block(mine);
  if (threadIdx.x == 0) {
    *(volatile typename Ring::Sum *)&partial[blockIdx.x] = ours.sum;  // every block has at least one value
    __threadfence();
    last = atomicAdd(&progress->done, 1ull) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  Total<Ring> rest;
  for (u32 i = threadIdx.x; i < gridDim.x; i += BLOCK) rest.add(*(volatile typename Ring::Sum *)&partial[i]);
  const Total<Ring> all = over_block(rest);
  if (threadIdx.x == 0) *result = all.sum, progress->done = 0;
}

// target(places(i)) ⊕= values(i), in any order.
template <class Ring>
__global__ void combine_at(typename Ring::Sum *target, const int *places, const typename Ring::A *values, u64 count) {
  for (u64 i = thread_number(); i < count; i += thread_count())
    combine<Ring>(target + places[i], (typename Ring::Sum)values[i]);
}

// Same, in the order of the list, for operators that are not commutative. `order` sorts the list by index.
template <class Op>
__global__ void combine_sorted(typename Op::Sum *target, const int *places, const i64 *order,
                               const typename Op::X *values, u64 count) {
  for (u64 i = thread_number(); i < count; i += thread_count()) {
    const int place = places[order[i]];
    if (i && places[order[i - 1]] == place) continue;
    typename Op::Sum sum = target[place];
    for (u64 j = i; j < count && places[order[j]] == place; ++j) sum = Op::two(sum, values[order[j]]);
    target[place] = sum;
  }
}

// Converts a list of entries to n values and n bits; the bits are zero before.
template <class T>
__global__ void spread(const int *places, const T *values, u64 count, T *all, bool *present) {
  for (u64 i = thread_number(); i < count; i += thread_count()) all[places[i]] = values[i], present[places[i]] = true;
}

template <class T>
__global__ void __launch_bounds__(BLOCK)
    collect(const T *all, const bool *present, u64 count, int *places, T *values, Progress *progress, u64 *host) {
  const u64 padded = (count + WARP - 1) / WARP * WARP;
  for (u64 i = thread_number(); i < padded; i += thread_count()) {
    const bool here = i < count && present[i];
    const u32 together = __ballot_sync(ALL_LANES, here);
    if (!together) continue;
    u64 first = 0;
    if (lane() == 0) first = atomicAdd(&progress->found, (u64)__popc(together));
    first = from_lane(first, 0) + __popc(together & lanes_below());
    if (here) places[first] = (int)i, values[first] = all[i];
  }
  finish(0, 0, progress, host);
}

// Writes one value at the indices of a list, where a bit differs from `complement`, or everywhere (both null).
template <class T>
__global__ void fill(T *all, bool *present, T value, const int *rows, const bool *bits, bool complement, u64 count) {
  for (u64 i = thread_number(); i < count; i += thread_count()) {
    if (bits && bits[i] == complement) continue;
    const u64 place = rows ? (u64)rows[i] : i;
    all[place] = value, present[place] = true;
  }
}

template <class T>
__global__ void take(const T *all, const int *places, u64 count, T *values) {
  for (u64 i = thread_number(); i < count; i += thread_count()) values[i] = all[places[i]];
}

}  // namespace hopwave::linalg
