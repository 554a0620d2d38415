// Path counts that never overflow: σ̂ = σ / 2^shift with one shift a level, and mantissa · 2^exponent a vertex where a
// level spans more than float64 does.
#pragma once
#include "common/atoms.cuh"

namespace hopwave {

// The greatest and least σ̂ of a level. Positive floats are ordered as their bits are. LEAST is kept upside down, so
// that both start from 0.
template <class Offset>
__global__ void level_extent(const int* distance, int n, int depth, const double* sigma, number* counters) {
    number greatest = 0, least = 0;
    for (number v = thread_number(); v < n; v += thread_count()) {
        if (distance[v] != depth) continue;
        const number bits = (number)__double_as_longlong(sigma[v]);
        greatest = max(greatest, bits);
        least = max(least, ~bits);
    }
    for (int step = WARP / 2; step; step /= 2) {
        greatest = max(greatest, __shfl_down_sync(EVERYONE, greatest, step));
        least = max(least, __shfl_down_sync(EVERYONE, least, step));
    }
    if (lane() == 0 && greatest) {
        atomicMax(&counters[GREATEST], greatest);
        atomicMax(&counters[LEAST], least);
    }
}

template <class Offset>
__global__ void scale_level(const int* distance, int n, int depth, double factor, double* sigma) {
    for (number v = thread_number(); v < n; v += thread_count())
        if (distance[v] == depth) sigma[v] *= factor;
}

// 2^power for power ≤ 0, exactly; 0 where that is too small to matter beside 1.
__device__ inline double two_to(long long power) { return power < -1000 ? 0.0 : ldexp(1.0, (int)power); }

// σ of one level from the level before, each term brought to the greatest exponent met so far.
template <class Offset>
__global__ void count_extended(
    const Offset* in_offsets, const int* in_neighbours, const int* level, number length, int depth, const int* distance,
    double* mantissa, long long* exponent) {
    for (number i = thread_number(); i < length; i += thread_count()) {
        const int v = level[i];
        if (depth == 0) {
            mantissa[v] = 0.5, exponent[v] = 1;
            continue;
        }
        double total = 0.0;
        long long power = 0;
        for (Offset arc = in_offsets[v]; arc < in_offsets[v + 1]; ++arc) {
            const int u = in_neighbours[arc];
            if (distance[u] != depth - 1) continue;
            const long long gap = exponent[u] - power;
            if (total == 0.0) total = mantissa[u], power = exponent[u];
            else if (gap > 0) total = total * two_to(-gap) + mantissa[u], power = exponent[u];
            else total += mantissa[u] * two_to(gap);
        }
        int carried = 0;
        mantissa[v] = frexp(total, &carried);
        exponent[v] = power + carried;
    }
}

}  // namespace hopwave
