// TurboBC (Artiles & Saeed 2021), Algorithm 1: betweenness from one source as linear algebra.
//
//   f, ft      the frontier's path counts, and the product fA         sigma   path counts, 0 = not yet discovered
//   delta_u    (1 + delta) / sigma of one level                       S       levels, 0 = the source or not reached
//   delta_ut   the product A delta_u                                  delta   dependencies
//
// The kernels of the paper's Figure 2: two per level in the forward pass, three in the backward pass, one for the
// scores of vertices or of edges (flows_*). A product has three forms: one thread per arc (scCOOC, Algorithm 2), one
// thread per column (scCSC, Algorithm 3), one warp per column (veCSC, Algorithm 4). TurboBFS uses the same forward
// products (common/products.cuh). The matrix is stored as its pattern, by columns, so the backward pass scatters in a
// directed graph and gathers in an undirected one.
//
// Count is unsigned, as in the paper, or double if 32 bits are too few. A count that exceeds 32 bits sets `overflowed`,
// and the source is computed again with double.
#pragma once
#include "common/products.cuh"

namespace hopwave::betweenness {

// State of a job. The host clears every field except `done` before each source.
struct RunState {
  u64 done;        // number of sources whose scores are in the sums
  u64 deepest;     // last level that contains a vertex
  u64 overflowed;  // whether a count exceeded 32 bits
  u64 due;         // Σ (d − 1) over the targets reached; Σ delta must equal this sum
  u64 ends;        // number of targets reached
  u64 ticket;      // number of blocks that have added their scores
  double found;    // Σ delta
};

// ---------------------------------------------------------------- forward pass: ft ← fA, then f, sigma, S

// f ← ft at undiscovered vertices; sigma ← sigma + f; S ← depth (lines 20-27). ft is cleared.
template <class Offset, class Count>
__global__ void discover(int n, int depth, Count *f, Count *ft, Count *sigma, int *S, RunState *run) {
  const u64 v = thread_number();
  if (v >= n) return;
  const Count arrived = ft[v];
  const bool fresh = arrived > 0 && sigma[v] == 0;
  if (arrived != 0) ft[v] = 0;
  f[v] = fresh ? arrived : Count(0);
  if (!fresh) return;
  sigma[v] = arrived;
  S[v] = depth;
  run->deepest = depth;  // levels only increase, and all threads write the same number
}

// ---------------------------------------------------------------- backward pass: delta_u, delta_ut ← A delta_u, delta

// delta_u ← (1 + delta) / sigma of one level (lines 32-36), times `factor`: the scale of the level above.
template <class Offset, class Count>
__global__ void spread(int n, int depth, double factor, const u8 *targets, const int *S, const Count *sigma,
                       const double *delta, double *delta_u) {
  const u64 v = thread_number();
  if (v >= n) return;
  double share = 0.0;
  if (S[v] == depth) share = ((targets ? (double)targets[v] : 1.0) + delta[v]) / (double)sigma[v] * factor;
  delta_u[v] = share;
}

template <class Offset>
__global__ void backward_arcs(const int *rows, const int *columns, u64 arcs, const double *delta_u, double *delta_ut) {
  scatter(
      columns, arcs, Always(), [&](int v) { return delta_u[v]; },
      [&](u64 arc, int, double share) {
        if (share > 0) atomicAdd(&delta_ut[rows[arc]], share);
      });
}

// In an undirected graph the arcs of a column are also out-arcs, so the column can gather its own entry.
template <class Offset, bool directed, int WIDTH>
__global__ void backward_columns(const Offset *offsets, const int *rows, int n, const double *delta_u,
                                 double *delta_ut) {
  const u64 v = thread_number() / WIDTH;
  const int first = WIDTH == 1 ? 0 : (int)lane();
  if (v >= n) return;
  const Offset end = offsets[v + 1];
  if (directed) {
    const double share = delta_u[v];
    if (share > 0)
      for (Offset arc = offsets[v] + first; arc < end; arc += WIDTH) atomicAdd(&delta_ut[rows[arc]], share);
  } else {
    const double sum = column_sum<WIDTH>(rows, offsets[v], end, 0.0, [&](int u) { return delta_u[u]; });
    if (first == 0 && sum > 0) delta_ut[v] = sum;
  }
}

// delta ← delta + delta_ut · sigma of the level above (lines 38-40). delta_ut is cleared.
template <class Offset, class Count>
__global__ void collect(int n, int depth, const int *S, const Count *sigma, double *delta_ut, double *delta) {
  const u64 v = thread_number();
  if (v >= n) return;
  const double arrived = delta_ut[v];
  if (arrived == 0) return;
  delta_ut[v] = 0.0;
  if (S[v] == depth - 1) delta[v] += arrived * (double)sigma[v];
}

// ---------------------------------------------------------------- the scores

// Adds up both sides of the certificate. The full block calls this; returns true to one thread of the last block.
__device__ inline bool certified(double found, u64 due, u64 ends, RunState *run) {
  double all_found;
  u64 all_due, all_ends;
  block_scan(found, all_found);
  block_scan(due, all_due);
  block_scan(ends, all_ends);
  if (threadIdx.x) return false;
  atomicAdd(&run->found, all_found);
  atomicAdd(&run->due, all_due);
  atomicAdd(&run->ends, all_ends);
  __threadfence();
  return atomicAdd(&run->ticket, 1ull) + 1 == gridDim.x;
}

// bc ← bc + delta except for the source (lines 43-47), and both sides of the certificate. If `squares` is not null, the
// sums of delta² are added to it. With `endpoints`, both endpoints of a path count as vertices on it.
template <class Offset>
__global__ void scores(int n, int source, u64 finished, const int *S, const u8 *targets, const double *delta,
                       bool endpoints, double *bc, double *squares, RunState *run) {
  const u64 v = thread_number();
  double found = 0.0;
  u64 due = 0, ends = 0;
  if (v < n && S[v] > 0) {
    found = delta[v];
    ends = targets ? targets[v] : 1;
    due = ends * (u64)(S[v] - 1);
    bc[v] += endpoints ? found + (double)ends : found;
    if (squares) squares[v] = __dadd_rn(squares[v], found * found);  // rounded separately, as in the block regime
  }
  if (!certified(found, due, ends, run)) return;
  if (endpoints) bc[source] += (double)atomicAdd(&run->ends, 0ull);
  run->done = finished;
}

// The flow over an arc u → v is sigma(u) · (1 + delta(v)) / sigma(v) if v is one level below u; an edge's score is the
// sum of its flows, in matrix order. `factors`, if not null, converts each level to the scale of the level above.
template <class Count>
struct Flows {
  int n, source;
  u64 finished;
  const int *S;
  const u8 *targets;
  const Count *sigma;
  const double *delta, *factors;
  double *bc;
  RunState *run;

  __device__ __forceinline__ double share(int v) const {
    const int level = S[v];
    if (level == 0) return 0.0;
    const double spread = ((targets ? (double)targets[v] : 1.0) + delta[v]) / (double)sigma[v];
    return factors ? spread * factors[level] : spread;
  }

  __device__ __forceinline__ double add(u64 arc, int u, int v, double share) const {
    const int level = S[v];
    if (share == 0.0 || S[u] != level - 1 || (level == 1 && u != source)) return 0.0;
    const double flow = (double)sigma[u] * share;
    bc[arc] += flow;
    return flow;
  }

  __device__ __forceinline__ void finish(double found) const {
    u64 due = 0;
    for (u64 v = thread_number(); v < n; v += thread_count()) due += (targets ? (u64)targets[v] : 1) * (u64)S[v];
    if (certified(found, due, 0, run)) run->done = finished;
  }
};

template <class Offset, class Count>
__global__ void flows_arcs(const int *rows, const int *columns, u64 arcs, Flows<Count> flows) {
  double found = 0.0;
  for (u64 arc = thread_number(); arc < arcs; arc += thread_count())
    found += flows.add(arc, rows[arc], columns[arc], flows.share(columns[arc]));
  flows.finish(found);
}

template <class Offset, class Count, int WIDTH>
__global__ void flows_columns(const Offset *offsets, const int *rows, int n, Flows<Count> flows) {
  double found = 0.0;
  for (u64 v = thread_number() / WIDTH; v < n; v += thread_count() / WIDTH) {
    const double share = flows.share((int)v);
    if (share == 0.0) continue;
    for (Offset arc = offsets[v] + (WIDTH == 1 ? 0 : (int)lane()); arc < offsets[v + 1]; arc += WIDTH)
      found += flows.add((u64)arc, rows[arc], (int)v, share);
  }
  flows.finish(found);
}

// Adds the row of a source that another regime computed, and counts the source as done.
template <class Offset>
__global__ void add_row(u64 width, const double *row, double *bc, u64 finished, double found, u64 due, RunState *run) {
  const u64 i = thread_number();
  if (i < width) bc[i] += row[i];
  if (i) return;
  run->found = found;
  run->due = due;
  run->done = finished;
}

}  // namespace hopwave::betweenness
