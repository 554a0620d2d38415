// A block's share of a small frontier, in shared memory: lists cut into pieces of 2^shift arcs, with one lane for each
// arc of a piece. A warp that has found vertices reserves places for all their pieces with one addition, and then
// writes them there.
#pragma once
#include "one_launch/state.cuh"

namespace hopwave::one_launch {

template <class Offset>
struct FrontierShare {
  static constexpr u32 LANES = sizeof(Offset) == 4 ? 4096 : 3072, PIECES = LANES / 4;  // capacity
  Offset begin[PIECES];                                                                // a piece's first arc
  int length[PIECES];  // arcs from there to the list's end
  int from[PIECES];    // the vertex whose list it is
  static constexpr int BEGIN_AT = 0, LENGTH_AT = PIECES * sizeof(Offset), FROM_AT = LENGTH_AT + 4 * PIECES;
};

// A team block's scratch memory: its share of this frontier and of the coming one, and the vertices of the coming one.
template <class Offset>
struct TeamScratch {
  FrontierShare<Offset> share[2];
  int found[FrontierShare<Offset>::LANES];
  static constexpr int FOUND_AT = 2 * sizeof(FrontierShare<Offset>);
};

static_assert(sizeof(TeamScratch<int>) <= SCRATCH_BYTES && sizeof(TeamScratch<i64>) <= SCRATCH_BYTES, "must fit");

// How full a share is. `places` holds two numbers, so that one addition reserves room for both:
//
//   bits   31 ... 18   17 ... 0
//          vertices    pieces
struct Size {
  u32 places, arcs;
  static constexpr int ARCS_AT = 4;
};
constexpr int VERTEX_BIT = 18;
constexpr u32 PIECE_BITS = (1u << VERTEX_BIT) - 1;

// Addresses in shared memory that stay in registers: otherwise the compiler computes them at every use.
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
__device__ __forceinline__ void put(u32 address, u64 x) {
  put<AT>(address, (i64)x);
}
template <int AT>
__device__ __forceinline__ void get(u32 address, int &x) {
  asm volatile("ld.shared.b32 %0, [%1+%2];" : "=r"(x) : "r"(address), "n"(AT) : "memory");
}
template <int AT>
__device__ __forceinline__ void get(u32 address, i64 &x) {
  asm volatile("ld.shared.b64 %0, [%1+%2];" : "=l"(x) : "r"(address), "n"(AT) : "memory");
}
template <int AT>
__device__ __forceinline__ void get(u32 address, u64 &x) {
  asm volatile("ld.shared.b64 %0, [%1+%2];" : "=l"(x) : "r"(address), "n"(AT) : "memory");
}

// Where a warp's new vertices and their pieces go.
struct Places {
  u32 all, pieces, place, found;
  int degree;
};

// Reserves places for the lists of the lanes' new vertices; `size` is the shared address of a Size.
template <class Offset>
__device__ __forceinline__ Places reserve(bool fresh, Offset begin, Offset end, int shift, u32 size) {
  constexpr u32 LANES = FrontierShare<Offset>::LANES, PIECES = FrontierShare<Offset>::PIECES;
  Places my{__ballot_sync(ALL_LANES, fresh)};
  if (!my.all) return my;
  my.degree = fresh ? (int)min((i64)(end - begin), (i64)LANES + 1) : 0;
  my.pieces = (u32)(my.degree + (1 << shift) - 1) >> shift;
  // Prefix sums of numbers up to 3, by their bits: shorter than five shuffles.
  const u32 one = __ballot_sync(ALL_LANES, my.pieces & 1), two = __ballot_sync(ALL_LANES, my.pieces & 2);
  u32 before = __popc(one & lanes_below()) + 2 * __popc(two & lanes_below()), total = __popc(one) + 2 * __popc(two);
  if (__any_sync(ALL_LANES, my.pieces > 3)) {
    before = inclusive_scan(my.pieces) - my.pieces;
    total = min(__shfl_sync(ALL_LANES, before + my.pieces, 31), PIECES + 1);
  }
  const u32 arcs = warp_sum((u32)my.degree);
  u32 at = 0;
  asm volatile("{\n .reg .pred p;\n setp.eq.u32 p, %4, 0;\n @p atom.shared.add.u32 %0, [%1], %2;\n"
               " @p red.shared.add.u32 [%1+%5], %3;\n}"
               : "+r"(at)
               : "r"(size), "r"((__popc(my.all) << VERTEX_BIT) + total), "r"(arcs), "r"(lane()), "n"(Size::ARCS_AT)
               : "memory");
  at = __shfl_sync(ALL_LANES, at, 0);
  my.place = (at & PIECE_BITS) + before, my.found = (at >> VERTEX_BIT) + __popc(my.all & lanes_below());
  return my;
}

// Writes vertices and pieces to their reserved places, as far as they fit; `share` is the shared address of a
// FrontierShare.
template <class Offset, bool FROM>
__device__ __forceinline__ void store(Places my, int u, Offset begin, int shift, u32 most_pieces, u32 share) {
  using Share = FrontierShare<Offset>;
  constexpr u32 FEW = 8;
  auto write = [&](u32 to, int v, Offset first, int length) {
    put<Share::BEGIN_AT>(share + to * (u32)sizeof(Offset), first);
    put<Share::LENGTH_AT>(share + to * 4, length);
    if (FROM) put<Share::FROM_AT>(share + to * 4, v);
  };
  if (my.place + my.pieces > most_pieces) my.pieces = 0;
  if (my.pieces) write(my.place, u, begin, my.degree);
  if (!__any_sync(ALL_LANES, my.pieces > 1)) return;
  const u32 own = my.pieces <= FEW ? my.pieces : 0;
#pragma unroll 1
  for (u32 i = 1; i < own; i++) write(my.place + i, u, begin + (i << shift), my.degree - (i << shift));
  // Lists of many pieces: the whole warp writes them, one list after another.
  for (u32 todo = __ballot_sync(ALL_LANES, my.pieces > FEW); todo; todo &= todo - 1) {
    const int lead = __ffs(todo) - 1, v = __shfl_sync(ALL_LANES, u, lead);
    const u32 to = __shfl_sync(ALL_LANES, my.place, lead), length = __shfl_sync(ALL_LANES, my.degree, lead);
    const Offset first = __shfl_sync(ALL_LANES, begin, lead);
#pragma unroll 1
    for (u32 i = lane(); i << shift < length; i += 32) write(to + i, v, first + (i << shift), length - (i << shift));
  }
}

// Loads that stay where they are written: otherwise the compiler delays them past a barrier, until their use.
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
__device__ __forceinline__ u64 load_now(const u64 *at) { return (u64)load_now((const i64 *)at); }
__device__ __forceinline__ int neighbour_now(const int *rows, i64 e) { return load_now(rows + e); }
__device__ __forceinline__ int neighbour_now(const Packed *rows, i64 e) { return neighbour(rows, e); }
__device__ __forceinline__ u32 load_now(const u32 *at) {  // other blocks may be writing it: read from the L2 cache
  u32 x;
  asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(x) : "l"(at));
  return x;
}

}  // namespace hopwave::one_launch
