// Kronecker edges by counter, identical to those of hopwave/generate/recursive.py, and the rows built from them. An
// edge is a hash of its number, so edges are drawn twice instead of stored. Loops and repeated edges are kept, as in
// Graph500.
#pragma once
#include "common/rows.cuh"

namespace hopwave::generate {

struct Recipe {
  u64 start;                // start of the stream of draws
  u64 multiply[4], add[4];  // permutation of ids, four rounds
  u32 borders[3];           // borders between the four cells, on a scale of 2^31
  int scale;
};

__device__ __forceinline__ u64 scrambled(u64 id, const Recipe &recipe) {
  const u64 mask = (1ull << recipe.scale) - 1;
  const int fold = (recipe.scale + 1) / 2;
  for (int turn = 0; turn < 4; turn++) {
    id = (id * recipe.multiply[turn] + recipe.add[turn]) & mask;
    id ^= id >> fold;
  }
  return id;
}

__device__ __forceinline__ void draw(u64 edge, const Recipe &recipe, u64 &u, u64 &v) {
  const u64 words = (recipe.scale + 1) / 2;
  u64 row = 0, column = 0, word = 0;
  for (int level = 0; level < recipe.scale; level++) {
    if ((level & 1) == 0) word = splitmix(recipe.start + (edge * words + level / 2 + 1) * WEYL);
    const u32 drawn = level & 1 ? (u32)word & 0x7fffffffu : (u32)(word >> 33);
    const u32 low = drawn >= recipe.borders[0], middle = drawn >= recipe.borders[1], high = drawn >= recipe.borders[2];
    row = 2 * row + middle;
    column = 2 * column + (low ^ middle ^ high);
  }
  u = scrambled(row, recipe), v = scrambled(column, recipe);
}

template <class Id>
__global__ void draw_edges(const __grid_constant__ Recipe recipe, u64 first, i64 count, Id *source, Id *target) {
  for (i64 i = signed_thread_number(); i < count; i += signed_thread_count()) {
    u64 u, v;
    draw(first + i, recipe, u, v);
    source[i] = (Id)u, target[i] = (Id)v;
  }
}

template <class Id>
__global__ void count_ends(const __grid_constant__ Recipe recipe, i64 edges, u32 *degree) {
  for (i64 i = signed_thread_number(); i < edges; i += signed_thread_count()) {
    u64 u, v;
    draw(i, recipe, u, v);
    atomicAdd(degree + u, 1u), atomicAdd(degree + v, 1u);
  }
}

// `numbers` contains the row of every vertex; null if rows are sorted by id.
template <class Id>
__global__ void fill_rows(const __grid_constant__ Recipe recipe, i64 edges, const int *numbers, const i64 *offsets,
                          u32 *filled, Id *neighbours) {
  for (i64 i = signed_thread_number(); i < edges; i += signed_thread_count()) {
    u64 u, v;
    draw(i, recipe, u, v);
    if (numbers) u = numbers[u], v = numbers[v];
    neighbours[offsets[u] + atomicAdd(filled + u, 1u)] = (Id)v;
    neighbours[offsets[v] + atomicAdd(filled + v, 1u)] = (Id)u;
  }
}

// Writes the arcs of rows [first, last) as keys, in any order: the row above the neighbour.
template <class Id>
__global__ void draw_keys(const __grid_constant__ Recipe recipe, i64 edges, const int *numbers, i64 first, i64 last,
                          u64 *keys, u64 *count) {
  for (i64 i = signed_thread_number(); i < edges; i += signed_thread_count()) {
    u64 u, v;
    draw(i, recipe, u, v);
    const i64 row = numbers[u], other = numbers[v];
    if (row >= first && row < last) keys[enqueue_at(count)] = (u64)(row - first) << 32 | (u64)other;
    if (other >= first && other < last) keys[enqueue_at(count)] = (u64)(other - first) << 32 | (u64)row;
  }
}

// Check that the rows contain exactly the edges: the sum of a hash of every arc, over the edges and over the rows.
template <class Id>
__global__ void sum_edges(const __grid_constant__ Recipe recipe, i64 edges, u64 *sum) {
  u64 mine = 0;
  for (i64 i = signed_thread_number(); i < edges; i += signed_thread_count()) {
    u64 u, v;
    draw(i, recipe, u, v);
    mine += splitmix(splitmix(u + WEYL) + v) + splitmix(splitmix(v + WEYL) + u);
  }
  mine = warp_sum(mine);
  if (lane() == 0) atomicAdd(sum, mine);
}

// `ids` contains the vertex of every row; null if rows are sorted by id.
template <class Id>
__global__ void sum_rows(const i64 *offsets, const Id *neighbours, const int *ids, i64 rows, u64 *sum) {
  u64 mine = 0;
  for (i64 row = signed_thread_number() / 32; row < rows; row += signed_thread_count() / 32) {
    const u64 mixed = splitmix((ids ? ids[row] : row) + WEYL);
    for (i64 e = offsets[row] + lane(); e < offsets[row + 1]; e += 32)
      mine += splitmix(mixed + (u64)(ids ? ids[neighbour(neighbours, e)] : neighbour(neighbours, e)));
  }
  mine = warp_sum(mine);
  if (lane() == 0) atomicAdd(sum, mine);
}

}  // namespace hopwave::generate
