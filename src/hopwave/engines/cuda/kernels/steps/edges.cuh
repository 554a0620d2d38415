// One thread per arc (TurboBFS, Algorithms 1 and 3, scCOOC): two kernels per level, ft = Aᵀf over all arcs, then the
// mask.
#pragma once
#include "common/graph.cuh"
#include "common/products.cuh"
#include "steps/report.cuh"

namespace hopwave::steps {

// ft(column) ⊕= f(row) for every row in the frontier. Arcs are in column order. With ANY the product is the row itself,
// and any writer is right. With PLUS it is the sum of path counts; a warp first adds up its arcs of one column.
template <class Offset, bool counting>
__global__ void scatter(const int *rows, const int *columns, u64 arcs, int depth, const int *distance,
                        const double *sigma, int *product, double *sums, const u64 *before, u64 *counters) {
  if (ended(before)) return;
  Tally mine;
  if (thread_number() == 0) mine.checked = arcs;
  const auto in_frontier = [&](int u) { return distance[u] == depth; };
  const auto paths = [&](int u) { return counting ? sigma[u] : 0.0; };
  hopwave::scatter(rows, arcs, in_frontier, paths, [&](u64 arc, int u, double count) {
    const int v = arc < arcs ? columns[arc] : -1;
    if (u >= 0) product[v] = u;
    if (!counting) return;
    bool last;
    const double sum = run_sum(v, count, last);
    if (last && sum != 0.0) atomicAdd(&sums[v], sum);
  });
  report(mine, counters);
}

// f = ft at vertices not visited before, σ += f; ft is cleared for the next level.
template <class Offset, bool counting>
__global__ void mask(const Offset *offsets, int n, int depth, int *product, double *sums, int *distance, int *parent,
                     double *sigma, const u64 *before, u64 *counters) {
  if (ended(before)) return;
  Tally mine;
  for (u64 v = thread_number(); v < n; v += thread_count()) {
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

}  // namespace hopwave::steps
