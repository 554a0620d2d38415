// Two representations of path counts that never overflow.
//
//   scaled     σ / 2^shift as float64, with one shift per level. A level is scaled down when the next one might exceed
//              2^LARGEST, and by no more than needed: counts below 2^SMALLEST would lose their ratio to the others.
//   extended   mantissa · 2^exponent for each vertex, for levels whose counts span more than float64 does.
//
// docs/betweenness.md explains both; engines/cpu/search/loop.py scales counts on the CPU.
#pragma once
#include "common/threads.cuh"

namespace hopwave {

// ---- scaled

constexpr int LARGEST = 1000, SMALLEST = -900;

// Whether the next level might exceed 2^LARGEST: this level's counts are below 2^bound, degrees below 2^degree_bits.
__device__ __forceinline__ bool might_overflow(int bound, int degree_bits) { return bound + degree_bits > LARGEST; }

// The bound to which a level is scaled down: well below LARGEST, so that the following levels need no scaling.
__device__ __forceinline__ int scaled_bound(int degree_bits) { return max(LARGEST / 2, LARGEST - 64 * degree_bits); }

__device__ __forceinline__ void clear(double &x) { x = 0.0; }
__device__ __forceinline__ void set_one(double &x) { x = 1.0; }
__device__ __forceinline__ double add(double x, double y) { return x + y; }
__device__ __forceinline__ double shuffle_xor(u32 lanes, double x, int step) { return __shfl_xor_sync(lanes, x, step); }

// ---- extended

struct __align__(16) Extended {
  double m;  // 0, or at least 1/2 and less than 1
  i64 e;
};

// 2^e, with e clamped to ±2000: smaller terms do not change a sum.
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

__device__ __forceinline__ Extended shuffle_xor(u32 lanes, Extended x, int step) {
  return {__shfl_xor_sync(lanes, x.m, step), __shfl_xor_sync(lanes, x.e, step)};
}

// ---- differences between the two when a level is scaled

template <class Number>
struct Scaling {
  static constexpr bool NEEDED = false;
  __device__ static int exponent(Number) { return 0; }
  __device__ static Number scaled(Number x, int) { return x; }
};
template <>
struct Scaling<double> {
  static constexpr bool NEEDED = true;
  __device__ static int exponent(double x) { return ilogb(x); }
  __device__ static double scaled(double x, int shift) { return x * two_to(-shift); }
};

}  // namespace hopwave
