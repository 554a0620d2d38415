// Adds a term to a sum that other threads add to as well, for any ⊕. The last bits of floating-point sums depend on the
// order.
#pragma once
#include "common/threads.cuh"

namespace hopwave::linalg {

template <class Word, class T>
__device__ inline Word bits_of(T value) {
  Word word = 0;
  memcpy(&word, &value, sizeof(T));
  return word;
}

template <class T, class Word>
__device__ inline T value_of(Word word) {
  T value;
  memcpy(&value, &word, sizeof(T));
  return value;
}

// Compare-and-swap on the word that holds the target, repeated until no other thread came in between.
template <class Ring, class Word, class Sum>
__device__ inline void exchange(Word *word, int shift, Sum t) {
  const Word mask = (sizeof(Sum) < sizeof(Word) ? ((Word)1 << 8 * sizeof(Sum) % (8 * sizeof(Word))) - 1 : ~(Word)0)
                    << shift;
  Word old = *(volatile Word *)word;
  while (true) {
    const Sum before = value_of<Sum>((Word)((old & mask) >> shift));
    const Word next = (old & ~mask) | (bits_of<Word>((Sum)Ring::plus(before, t)) << shift);
    if (next == old) return;
    const Word seen = atomicCAS(word, old, next);
    if (seen == old) return;
    old = seen;
  }
}

template <class T>
__device__ inline void add_to(T *target, T t) {
  atomicAdd(target, t);
}
__device__ inline void add_to(i64 *target, i64 t) { atomicAdd((u64 *)target, (u64)t); }

template <class Ring, class Sum>
__device__ inline void combine(Sum *target, Sum t) {
  if constexpr (Ring::adds && sizeof(Sum) >= 4) {  // the GPU has no atomic sum of bytes
    add_to(target, t);
  } else if constexpr (sizeof(Sum) == 8) {
    exchange<Ring>((u64 *)target, 0, t);
  } else if constexpr (sizeof(Sum) == 4) {
    exchange<Ring>((u32 *)target, 0, t);
  } else {
    const u64 address = (u64)target;
    exchange<Ring>((u32 *)(address & ~3ull), 8 * (int)(address & 3), t);
  }
}

}  // namespace hopwave::linalg
