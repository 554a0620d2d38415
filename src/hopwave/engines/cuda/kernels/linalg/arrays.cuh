// Whole arrays: operators on them, sums, scattered sums, and a vector's two forms.
#pragma once
#include "linalg/products.cuh"
#include "linalg/combine.cuh"

namespace hopwave {

// z(i) = op(x(i), y(i)); a step of 0 takes the one value there is.
template <class Op>
__global__ void map_two(
    const typename Op::A* x, int x_step, const typename Op::X* y, int y_step, typename Op::Sum* z, number count) {
    for (number i = thread_number(); i < count; i += thread_count()) z[i] = Op::two(x[i * x_step], y[i * y_step]);
}

template <class Op>
__global__ void map_one(const typename Op::A* x, typename Op::Sum* z, number count) {
    for (number i = thread_number(); i < count; i += thread_count()) z[i] = Op::one(x[i]);
}

// ⊕ of all values: blocks in a fixed order, so that the sum is the same in every run. The last block adds up the parts.
template <class Ring>
__global__ void __launch_bounds__(BLOCK) sum_all(
    const typename Ring::A* values, number count, typename Ring::Sum* parts, Progress* progress,
    typename Ring::Sum* result) {
    __shared__ typename Ring::Sum sums[BLOCK / WARP];
    __shared__ int filled[BLOCK / WARP];
    __shared__ bool last;
    const auto over_block = [&](Total<Ring> total) {  // in the first warp
        total.over_warp();
        __syncthreads();
        if (lane() == 0) filled[threadIdx.x / WARP] = total.here;
        if (lane() == 0 && total.here) sums[threadIdx.x / WARP] = total.sum;
        __syncthreads();
        Total<Ring> whole;
        for (int warp = 0; warp < BLOCK / WARP; ++warp)
            if (filled[warp]) whole.add(sums[warp]);
        return whole;
    };
    Total<Ring> mine;
    for (number i = thread_number(); i < count; i += thread_count()) mine.add((typename Ring::Sum)values[i]);
    const Total<Ring> ours = over_block(mine);
    if (threadIdx.x == 0) {
        *(volatile typename Ring::Sum*)&parts[blockIdx.x] = ours.sum;  // no block is without a value
        __threadfence();
        last = atomicAdd(&progress->done, 1ull) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    Total<Ring> rest;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += BLOCK) rest.add(*(volatile typename Ring::Sum*)&parts[i]);
    const Total<Ring> all = over_block(rest);
    if (threadIdx.x == 0) *result = all.sum, progress->done = 0;
}

// target(places(i)) ⊕= values(i), in whatever order.
template <class Ring>
__global__ void combine_at(typename Ring::Sum* target, const int* places, const typename Ring::A* values, number count) {
    for (number i = thread_number(); i < count; i += thread_count())
        combine<Ring>(target + places[i], (typename Ring::Sum)values[i]);
}

// The same one after the other, for operators that are not commutative: equal places stand side by side, in order.
template <class Op>
__global__ void combine_sorted(
    typename Op::Sum* target, const int* places, const long long* order, const typename Op::X* values, number count) {
    for (number i = thread_number(); i < count; i += thread_count()) {
        const int place = places[order[i]];
        if (i && places[order[i - 1]] == place) continue;
        typename Op::Sum sum = target[place];
        for (number j = i; j < count && places[order[j]] == place; ++j) sum = Op::two(sum, values[order[j]]);
        target[place] = sum;
    }
}

// A list of entries as n values and n bits, which are zero before.
template <class T>
__global__ void spread(const int* places, const T* values, number count, T* all, bool* present) {
    for (number i = thread_number(); i < count; i += thread_count()) all[places[i]] = values[i], present[places[i]] = true;
}

// And back, in no order.
template <class T>
__global__ void __launch_bounds__(BLOCK) collect(
    const T* all, const bool* present, number count, int* places, T* values, Progress* progress, number* host) {
    const number padded = (count + WARP - 1) / WARP * WARP;
    for (number i = thread_number(); i < padded; i += thread_count()) {
        const bool here = i < count && present[i];
        const unsigned together = __ballot_sync(EVERYONE, here);
        if (!together) continue;
        number first = 0;
        if (lane() == 0) first = atomicAdd(&progress->found, (number)__popc(together));
        first = from_lane(first, 0) + __popc(together & ((1u << lane()) - 1));
        if (here) places[first] = (int)i, values[first] = all[i];
    }
    finish(0, 0, progress, host);
}

// One value at the places of a list, or where a bit differs from `complement`.
template <class T>
__global__ void fill(T* all, bool* present, T value, const int* rows, const bool* bits, bool complement, number count) {
    for (number i = thread_number(); i < count; i += thread_count()) {
        if (bits && bits[i] == complement) continue;
        const number place = rows ? (number)rows[i] : i;
        all[place] = value, present[place] = true;
    }
}

// The sums of a list's rows.
template <class T>
__global__ void take(const T* all, const int* places, number count, T* values) {
    for (number i = thread_number(); i < count; i += thread_count()) values[i] = all[places[i]];
}

}  // namespace hopwave
