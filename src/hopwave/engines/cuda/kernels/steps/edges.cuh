// A thread an arc (TurboBFS, Algorithms 1 and 3, scCOOC): two kernels a level, ft = Aᵀf over all arcs, then the mask.
#pragma once
#include "common/atoms.cuh"

namespace hopwave {

// ft(column) ⊕= f(row) where the row is in the frontier. Arcs stand in column order. Under ANY the product is the row
// itself, and any writer is right; under PLUS it is the row's path count, and an atomic operation adds it.
template <class Offset, bool counting>
__global__ void scatter(
    const int* rows, const int* columns, number arcs, int depth, const int* distance, const double* sigma, int* product,
    double* sums, number* counters) {
    Tally mine;
    for (number k = thread_number(); k < arcs; k += thread_count()) {
        const int u = rows[k];
        mine.checked += 1;
        if (distance[u] != depth) continue;
        product[columns[k]] = u;
        if (counting) atomicAdd(&sums[columns[k]], sigma[u]);
    }
    report(mine, counters);
}

// f = ft where nothing was before, σ += f; and ft back to nothing for the next level.
template <class Offset, bool counting>
__global__ void mask(
    const Offset* offsets, int n, int depth, int* product, double* sums, int* distance, int* parent, double* sigma,
    number* counters) {
    Tally mine;
    for (number v = thread_number(); v < n; v += thread_count()) {
        const int u = product[v];
        if (u < 0) continue;
        product[v] = -1;
        if (distance[v] < 0) {
            distance[v] = depth + 1;
            if (parent) parent[v] = u;
            if (counting) sigma[v] = sums[v];
            mine.found += 1;
            mine.edges += degree(offsets, (int)v);
        }
        if (counting) sums[v] = 0;
    }
    report(mine, counters);
}

}  // namespace hopwave
