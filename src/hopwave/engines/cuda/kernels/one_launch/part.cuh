// A block's part of a small frontier, in shared memory: lists cut into pieces of 2^shift arcs, as many lanes for each. A
// warp that has found vertices first finds places for their pieces, all with one addition, and then writes them there.
#pragma once
#include "one_launch/state.cuh"

// A block's part of a frontier.
template <class Offset>
struct Part {
  static constexpr u32 LANES = sizeof(Offset) == 4 ? 4096 : 3072, PIECES = LANES / 4;  // at most
  Offset begin[PIECES];
  int length[PIECES];           // arcs to the list's end
  int from[PIECES];
};
template <class Offset>
struct Team {
  Part<Offset> part[2];
  int found[Part<Offset>::LANES];
};
static_assert(sizeof(Team<int>) <= ROOM && sizeof(Team<i64>) <= ROOM, "both parts must fit");

// A block's vertices and pieces in one number, so that one addition finds a place for both; and its arcs.
struct Size {
  u32 places, arcs;
};
constexpr int VERTEX_BIT = 18;
constexpr u32 PIECE_BITS = (1u << VERTEX_BIT) - 1;

// Shared memory by addresses that stay in registers: left to itself, the compiler computes them at every use.
__device__ __forceinline__ u32 address_of(const void *shared) {
  u32 address = (u32)__cvta_generic_to_shared(shared);
  asm volatile("" : "+r"(address));
  return address;
}
template <int AT>
__device__ __forceinline__ void put(u32 address, int x) {
  asm volatile("st.shared.b32 [%0+%1], %2;" ::"r"(address), "n"(AT), "r"(x) : "memory");
}
template <int AT>
__device__ __forceinline__ void put(u32 address, i64 x) {
  asm volatile("st.shared.b64 [%0+%1], %2;" ::"r"(address), "n"(AT), "l"(x) : "memory");
}
template <int AT>
__device__ __forceinline__ void get(u32 address, int &x) {
  asm volatile("ld.shared.b32 %0, [%1+%2];" : "=r"(x) : "r"(address), "n"(AT) : "memory");
}
template <int AT>
__device__ __forceinline__ void get(u32 address, i64 &x) {
  asm volatile("ld.shared.b64 %0, [%1+%2];" : "=l"(x) : "r"(address), "n"(AT) : "memory");
}

// Where a warp's fresh vertices and their pieces go.
struct Places {
  u32 all, pieces, place, found;
  int degree;
};

// Find places for the lists of the lanes' fresh vertices; `size` is the shared address of a Size.
template <class Offset>
__device__ __forceinline__ Places reserve(bool fresh, Offset begin, Offset end, int shift, u32 size) {
  constexpr u32 LANES = Part<Offset>::LANES, PIECES = Part<Offset>::PIECES;
  Places my{__ballot_sync(ALL, fresh)};
  if (!my.all) return my;
  my.degree = fresh ? (int)min((i64)(end - begin), (i64)LANES + 1) : 0;
  my.pieces = (u32)(my.degree + (1 << shift) - 1) >> shift;
  // A sum by the bits of small numbers: shorter than five shuffles.
  const u32 one = __ballot_sync(ALL, my.pieces & 1), two = __ballot_sync(ALL, my.pieces & 2);
  u32 before = __popc(one & below()) + 2 * __popc(two & below()), total = __popc(one) + 2 * __popc(two);
  if (__any_sync(ALL, my.pieces > 3)) {
    before = inclusive_scan(my.pieces) - my.pieces;
    total = min(__shfl_sync(ALL, before + my.pieces, 31), PIECES + 1);
  }
  const u32 arcs = warp_sum((u32)my.degree);
  u32 at = 0;
  asm volatile("{\n .reg .pred p;\n setp.eq.u32 p, %4, 0;\n @p atom.shared.add.u32 %0, [%1], %2;\n"
               " @p red.shared.add.u32 [%1+4], %3;\n}"
               : "+r"(at)
               : "r"(size), "r"((__popc(my.all) << VERTEX_BIT) + total), "r"(arcs), "r"(lane())
               : "memory");
  at = __shfl_sync(ALL, at, 0);
  my.place = (at & PIECE_BITS) + before, my.found = (at >> VERTEX_BIT) + __popc(my.all & below());
  return my;
}

// Write them there, as far as they fit; `part` is the shared address of a Part.
template <class Offset, bool FROM>
__device__ __forceinline__ void store(Places my, int u, Offset begin, int shift, u32 most_pieces, u32 part) {
  using P = Part<Offset>;
  constexpr u32 FEW = 8;
  auto write = [&](u32 to, int v, Offset first, int length) {
    put<0>(part + to * (u32)sizeof(Offset), first);
    put<P::PIECES * sizeof(Offset)>(part + to * 4, length);
    if (FROM) put<P::PIECES * (sizeof(Offset) + 4)>(part + to * 4, v);
  };
  if (my.place + my.pieces > most_pieces) my.pieces = 0;
  if (my.pieces) write(my.place, u, begin, my.degree);
  if (!__any_sync(ALL, my.pieces > 1)) return;
  const u32 own = my.pieces <= FEW ? my.pieces : 0;
#pragma unroll 1
  for (u32 i = 1; i < own; i++) write(my.place + i, u, begin + (i << shift), my.degree - (i << shift));
  for (u32 todo = __ballot_sync(ALL, my.pieces > FEW); todo; todo &= todo - 1) {  // long ones by the whole warp
    const int lead = __ffs(todo) - 1, v = __shfl_sync(ALL, u, lead);
    const u32 to = __shfl_sync(ALL, my.place, lead), length = __shfl_sync(ALL, my.degree, lead);
    const Offset first = __shfl_sync(ALL, begin, lead);
#pragma unroll 1
    for (u32 i = lane(); i << shift < length; i += 32) write(to + i, v, first + (i << shift), length - (i << shift));
  }
}

// Loads that stay where they are written: the compiler would put them off until they are needed, after a barrier.
__device__ __forceinline__ int load_now(const int *at) {
  int x;
  asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(x) : "l"(at));
  return x;
}
__device__ __forceinline__ i64 load_now(const i64 *at) {
  i64 x;
  asm volatile("ld.global.nc.b64 %0, [%1];" : "=l"(x) : "l"(at));
  return x;
}
__device__ __forceinline__ u32 load_now(const u32 *at) {  // what others may be writing: from the L2 cache
  u32 x;
  asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(x) : "l"(at));
  return x;
}

