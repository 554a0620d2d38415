// Shared by the block and the batch regime: the graph, and the arithmetic of Brandes's dependencies.
//
//   σ       path counts from the source       t   weight of a path to a vertex (by default 1)
//   share   (t(w) + δ(w)) / σ(w); δ(u) = σ(u) Σ share(w) over the successors w of u
//
// Once share(v) is known, σ(v) is not needed any more: one array stores σ, then, in the backward pass, share.
#pragma once
#include "common/counts.cuh"
#include "common/rows.cuh"

namespace hopwave::betweenness {

constexpr int IN_FLIGHT = 4;  // neighbours, or rows of numbers, that a lane loads at a time

template <class Offset>
struct Graph {
  const Offset *offsets;  // out-arcs
  Neighbours<Offset> neighbours;
  const Offset *in_offsets;  // in-arcs; the same arrays as the out-arcs if the graph is undirected
  Neighbours<Offset> in_neighbours;
  i64 n, m;
};

// Where a row of scores would begin if it had all scores. With `places`, it has those of the source's component alone.
__device__ __forceinline__ double *row_of(double *rows, i64 number, i64 width, const i64 *places) {
  return rows + number * width - (places ? places[2 * number] : 0);
}

// u8: 1 for a target, 0 for any other vertex.
template <class T>
__device__ __forceinline__ double weight(const T *targets, int v) {
  return targets ? (double)targets[v] : 1.0;
}

// Σ x over the `width` lanes of the mask `mates`.
template <class Number>
__device__ __forceinline__ Number group_sum(Number x, int width, u32 mates) {
  for (int step = width / 2; step; step /= 2) x = add(x, shuffle_xor(mates, x, step));
  return x;
}

__device__ __forceinline__ double times(double sigma, double share) { return sigma * share; }
__device__ __forceinline__ double share_of(double x, double sigma) { return x / sigma; }

__device__ inline double times(Extended sigma, Extended share) {
  return share.m == 0.0 ? 0.0 : sigma.m * share.m * two_to(sigma.e + share.e);
}
__device__ inline Extended share_of(double x, Extended sigma) {
  int e = 0;
  const double m = frexp(x / sigma.m, &e);
  return {m, m == 0.0 ? 0 : e - sigma.e};
}

}  // namespace hopwave::betweenness
