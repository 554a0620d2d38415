// SplitMix64: random numbers by counter, equal to those of hopwave/generate/counter.py.
#pragma once
#include "common/threads.cuh"

namespace hopwave {

constexpr u64 WEYL = 0x9E3779B97F4A7C15ull;  // the step from one state of the stream to the next

// Returns the number that belongs to a state of the stream.
__device__ __forceinline__ u64 splitmix(u64 state) {
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ull;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBull;
  return state ^ (state >> 31);
}

}  // namespace hopwave
