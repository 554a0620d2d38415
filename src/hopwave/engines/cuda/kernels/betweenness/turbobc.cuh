// TurboBC (Artiles & Saeed 2021), Algorithm 1: betweenness from one source in the language of linear algebra.
//
//   f, ft      the frontier's path counts, and the product fA         sigma   path counts, 0 = not yet discovered
//   delta_u    (1 + delta) / sigma of one level, and its product      S       the level of every vertex behind the source
//   delta_ut   with A                                                 delta   dependencies
//
// Two kernels a level on the way out (forward_*, discover), three on the way back (spread, backward_*, collect), one for
// the scores, as in the paper's Figure 2. A product has three forms: a thread an arc (scCOOC, Algorithm 2), a thread a
// column (scCSC, Algorithm 3), a warp a column (veCSC, Algorithm 4). The matrix is its pattern alone, by columns: no
// values and no second copy by rows, so that a directed graph's way back scatters where an undirected one's gathers.
//
// Count is unsigned, as in the paper, or double where that was too narrow. What does not fit into 32 bits is noticed
// where it arises, and the source is done again.
#pragma once
#include "common/atoms.cuh"

namespace hopwave {

// Where a run stands; hopwave/engines/cuda/betweenness/turbobc.py reads it in this order. All but `done` is cleared for a source.
struct Standing {
    number done;        // sources whose scores are in the sums
    number deepest;     // the last level that has a vertex
    number overflowed;  // whether a count did not fit
    number due;         // Σ (d − 1) over the targets reached: what Σ delta must be
    number ends;        // targets reached
    number ticket;      // blocks that have added their scores
    double found;       // Σ delta
};

// Row sums are 64 bits wide; a count keeps 32 of them, or says that it cannot.
__device__ inline number sum_of(unsigned) { return 0; }
__device__ inline double sum_of(double) { return 0.0; }

__device__ inline unsigned counted(number sum, Standing* standing) {
    if (sum > 0xffffffffu) standing->overflowed = 1;
    return (unsigned)sum;
}
__device__ inline double counted(double sum, Standing*) { return sum; }

// Whether a scattered term has carried past 32 bits.
__device__ inline bool carried(unsigned* place, unsigned term) { return atomicAdd(place, term) + term < term; }
__device__ inline bool carried(double* place, double term) { return atomicAdd(place, term), false; }

// f(u). At the first level `source` is the vertex that stands for the whole frontier (lines 15-18); later it is none.
template <class Count>
__device__ inline Count frontier(const Count* f, int u, int source) {
    return u == source ? Count(1) : f[u];
}

template <class Sum>
__device__ inline Sum warp_sum(Sum sum) {
    for (int step = WARP / 2; step; step /= 2) sum += __shfl_down_sync(EVERYONE, sum, step);
    return sum;
}

// ---------------------------------------------------------------- the way out: ft ← fA, then f, sigma, S

// A thread an arc: scCOOC. The mask comes after the product, so a sum that is masked out may be too large, too.
template <class Offset, class Count>
__global__ void forward_arcs(
    const int* rows, const int* columns, number arcs, int source, const Count* f, Count* ft, Count* sigma,
    Standing* standing) {
    const number k = thread_number();
    if (k == 0 && source >= 0) sigma[source] = 1;
    if (k >= arcs) return;
    const Count term = frontier(f, rows[k], source);
    if (term > 0 && carried(&ft[columns[k]], term) && sigma[columns[k]] == 0) standing->overflowed = 1;
}

// A thread a column: scCSC. The mask is part of the product.
template <class Offset, class Count>
__global__ void forward_columns(
    const Offset* offsets, const int* rows, int n, int source, const Count* f, Count* ft, Count* sigma,
    Standing* standing) {
    const number v = thread_number();
    if (v >= n) return;
    if (v == source) sigma[v] = 1;
    if (v == source || sigma[v] != 0) return;
    auto sum = sum_of(Count());
    const Offset end = offsets[v + 1];
    for (Offset arc = offsets[v]; arc < end; ++arc) sum += frontier(f, rows[arc], source);
    if (sum > 0) ft[v] = counted(sum, standing);
}

// A warp a column: veCSC. A shuffle adds up the lanes' sums, without shared memory.
template <class Offset, class Count>
__global__ void forward_warps(
    const Offset* offsets, const int* rows, int n, int source, const Count* f, Count* ft, Count* sigma,
    Standing* standing) {
    const number v = thread_number() / WARP;
    if (v >= n) return;
    if (v == source && lane() == 0) sigma[v] = 1;
    if (v == source || sigma[v] != 0) return;
    auto sum = sum_of(Count());
    const Offset end = offsets[v + 1];
    for (Offset arc = offsets[v] + lane(); arc < end; arc += WARP) sum += frontier(f, rows[arc], source);
    sum = warp_sum(sum);
    if (lane() == 0 && sum > 0) ft[v] = counted(sum, standing);
}

// f ← ft where nothing was before; sigma ← sigma + f; S ← depth (lines 20-27). ft is left empty for the next level.
template <class Offset, class Count>
__global__ void discover(int n, int depth, Count* f, Count* ft, Count* sigma, int* S, Standing* standing) {
    const number v = thread_number();
    if (v >= n) return;
    const Count arrived = ft[v];
    const bool fresh = arrived > 0 && sigma[v] == 0;
    if (arrived != 0) ft[v] = 0;
    f[v] = fresh ? arrived : Count(0);
    if (!fresh) return;
    sigma[v] = arrived;
    S[v] = depth;
    standing->deepest = depth;  // levels go up, and all of one level write the same
}

// ---------------------------------------------------------------- the way back: delta_u, delta_ut ← A delta_u, delta

// delta_u ← (1 + delta) / sigma of one level (lines 32-36). Where targets are given, 1 counts for those alone. factor
// brings a scaled level to the scale of the one before.
template <class Offset, class Count>
__global__ void spread(
    int n, int depth, double factor, const unsigned char* targets, const int* S, const Count* sigma,
    const double* delta, double* delta_u) {
    const number v = thread_number();
    if (v >= n) return;
    double share = 0.0;
    if (S[v] == depth) share = ((targets ? (double)targets[v] : 1.0) + delta[v]) / (double)sigma[v] * factor;
    delta_u[v] = share;
}

template <class Offset>
__global__ void backward_arcs(
    const int* rows, const int* columns, number arcs, const double* delta_u, double* delta_ut) {
    const number k = thread_number();
    if (k >= arcs) return;
    const double share = delta_u[columns[k]];
    if (share > 0) atomicAdd(&delta_ut[rows[k]], share);
}

// A column holds the arcs into its vertex, and the way back follows them to their rows. In an undirected graph the same
// arcs lead out, so the column's own entry can be gathered.
template <class Offset, bool directed>
__global__ void backward_columns(
    const Offset* offsets, const int* rows, int n, const double* delta_u, double* delta_ut) {
    const number v = thread_number();
    if (v >= n) return;
    const Offset end = offsets[v + 1];
    if (directed) {
        const double share = delta_u[v];
        if (share > 0)
            for (Offset arc = offsets[v]; arc < end; ++arc) atomicAdd(&delta_ut[rows[arc]], share);
    } else {
        double sum = 0.0;
        for (Offset arc = offsets[v]; arc < end; ++arc) sum += delta_u[rows[arc]];
        if (sum > 0) delta_ut[v] = sum;
    }
}

template <class Offset, bool directed>
__global__ void backward_warps(const Offset* offsets, const int* rows, int n, const double* delta_u, double* delta_ut) {
    const number v = thread_number() / WARP;
    if (v >= n) return;
    const Offset end = offsets[v + 1];
    if (directed) {
        const double share = delta_u[v];
        if (share > 0)
            for (Offset arc = offsets[v] + lane(); arc < end; arc += WARP) atomicAdd(&delta_ut[rows[arc]], share);
    } else {
        double sum = 0.0;
        for (Offset arc = offsets[v] + lane(); arc < end; arc += WARP) sum += delta_u[rows[arc]];
        sum = warp_sum(sum);
        if (lane() == 0 && sum > 0) delta_ut[v] = sum;
    }
}

// delta ← delta + delta_ut · sigma of the level before (lines 38-40). delta_ut is left empty.
template <class Offset, class Count>
__global__ void collect(int n, int depth, const int* S, const Count* sigma, double* delta_ut, double* delta) {
    const number v = thread_number();
    if (v >= n) return;
    const double arrived = delta_ut[v];
    if (arrived == 0) return;
    delta_ut[v] = 0.0;
    if (S[v] == depth - 1) delta[v] += arrived * (double)sigma[v];
}

// ---------------------------------------------------------------- the scores

// bc ← bc + delta behind the source (lines 43-47), and both sides of the certificate. squares, where asked for, sums up
// delta². endpoints counts both ends of a path as vertices on it.
template <class Offset>
__global__ void scores(
    int n, int source, number finished, const int* S, const unsigned char* targets, const double* delta, bool endpoints,
    double* bc, double* squares, Standing* standing) {
    const number v = thread_number();
    double found = 0.0, all_found;
    number due = 0, ends = 0, all_due, all_ends;
    if (v < n && S[v] > 0) {
        found = delta[v];
        ends = targets ? targets[v] : 1;
        due = ends * (number)(S[v] - 1);
        bc[v] += endpoints ? found + (double)ends : found;
        if (squares) squares[v] += found * found;
    }
    block_scan(found, all_found);
    block_scan(due, all_due);
    block_scan(ends, all_ends);
    if (threadIdx.x) return;
    atomicAdd(&standing->found, all_found);
    atomicAdd(&standing->due, all_due);
    atomicAdd(&standing->ends, all_ends);
    __threadfence();
    if (atomicAdd(&standing->ticket, 1ull) + 1 < gridDim.x) return;
    // The last block: one addition to the source, in whatever order the blocks came, gives the same bits every time.
    if (endpoints) bc[source] += (double)atomicAdd(&standing->ends, 0ull);
    standing->done = finished;
}

// A source that was computed elsewhere: its row is added, and it counts as done.
template <class Offset>
__global__ void add_row(
    number width, const double* row, double* bc, number finished, double found, number due, Standing* standing) {
    const number i = thread_number();
    if (i < width) bc[i] += row[i];
    if (i) return;
    standing->found = found;
    standing->due = due;
    standing->done = finished;
}

}  // namespace hopwave
