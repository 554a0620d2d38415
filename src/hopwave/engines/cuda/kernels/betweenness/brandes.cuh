// What all betweenness kernels share: the graph, the numbers that path counts are kept in, a block's sums.
//
//   σ       path counts from the source       t   1 for a target, 0 for others (all are, where there is no list)
//   share   (t(w) + δ(w)) / σ(w), what every predecessor u of w takes σ(u) times: δ(u) = σ(u) Σ share(w)
//
// σ(v) is not needed any more when share(v) is known: both live in one array.
#pragma once

namespace hopwave {
namespace brandes {

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr u32 ALL = 0xffffffffu;

template <class Offset>
struct Graph {
  const Offset *offsets;     // out-arcs
  const int *neighbours;
  const Offset *in_offsets;  // in-arcs; the same arrays where the graph is undirected
  const int *in_neighbours;
  i64 n, m;
};

__device__ __forceinline__ u32 lane() { return threadIdx.x & 31; }
__device__ __forceinline__ u32 below() { return (1u << lane()) - 1; }
__device__ __forceinline__ double weight(const u8 *targets, int v) { return targets ? (double)targets[v] : 1.0; }

// ---- plain numbers: float64, which a level's common power of two keeps in range

__device__ __forceinline__ void clear(double &x) { x = 0.0; }
__device__ __forceinline__ void set_one(double &x) { x = 1.0; }
__device__ __forceinline__ double add(double x, double y) { return x + y; }
__device__ __forceinline__ double times(double sigma, double share) { return sigma * share; }
__device__ __forceinline__ double share_of(double x, double sigma) { return x / sigma; }
__device__ __forceinline__ double from(u32 group, double x, int step) { return __shfl_xor_sync(group, x, step); }

// ---- mantissa and exponent: right however far the counts of one level lie apart

struct __align__(16) Extended {
  double m;  // 0, or from 1/2 to 1
  i64 e;
};

__device__ __forceinline__ double two_to(i64 e) { return ldexp(1.0, (int)max(-2000ll, min(2000ll, e))); }
__device__ __forceinline__ void clear(Extended &x) { x = {0.0, 0}; }
__device__ __forceinline__ void set_one(Extended &x) { x = {0.5, 1}; }

__device__ inline Extended add(Extended x, Extended y) {
  if (x.m == 0.0) return y;
  if (y.m == 0.0) return x;
  if (x.e < y.e) {
    const Extended z = x;
    x = y, y = z;
  }
  x.m += y.m * two_to(y.e - x.e);
  if (x.m >= 1.0) x.m *= 0.5, x.e += 1;
  return x;
}

__device__ inline double times(Extended sigma, Extended share) {
  return share.m == 0.0 ? 0.0 : sigma.m * share.m * two_to(sigma.e + share.e);
}

__device__ inline Extended share_of(double x, Extended sigma) {
  int e = 0;
  const double m = frexp(x / sigma.m, &e);
  return {m, m == 0.0 ? 0 : e - sigma.e};
}

__device__ __forceinline__ Extended from(u32 group, Extended x, int step) {
  return {__shfl_xor_sync(group, x.m, step), __shfl_xor_sync(group, x.e, step)};
}

}  // namespace brandes
}  // namespace hopwave
