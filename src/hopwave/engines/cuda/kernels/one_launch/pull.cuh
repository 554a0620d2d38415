// A pull by the whole grid: each vertex not yet visited looks for a visited in-neighbour, which is in the frontier, or
// the vertex would have been found earlier. So the frontier needs no bitmap.
#pragma once
#include "one_launch/state.cuh"

namespace hopwave::one_launch {

constexpr int WORDS = 8;            // most words of the bitmap that a warp takes at a time
constexpr int PULL_IN_FLIGHT = 4;   // words, or neighbours, that a thread loads at a time
constexpr int MANY_IN_FLIGHT = 16;  // the same when the grid has idle threads
constexpr int PATIENCE = 32;        // neighbours that a thread reads alone before its warp helps
static_assert(WORDS * 33 * WARPS * 4 <= SCRATCH_BYTES, "the warps' lists must fit");

// One warp's view of a level's pull.
template <class Offset, class Answer>
struct Pulling {
  static constexpr bool ONCE = sizeof(Offset) == 8;  // whether everything but the bitmaps is too large for the caches
  const Graph<Offset> &graph;
  const Work &work;
  Answer answer;
  const u32 *before;  // visited before this level
  u32 *after;
  int depth;
  bool fills;  // whether this is the first pull, which writes the answer of every vertex not visited before
  u64 edges;
  u32 found, checked;

  __device__ __forceinline__ void reach(int v, int u) {
    answer.reach(v, u, depth);
    edges += (u64)(__ldg(graph.offsets + v + 1) - __ldg(graph.offsets + v));
  }

  // Returns the first of the lane's neighbours that is visited, or -1; u[k] < 0 stands for no neighbour.
  template <int N>
  __device__ __forceinline__ int first_visited(const int (&u)[N]) const {
    u32 word[N];
    int hit = -1;
    for (int k = 0; k < N; k++) word[k] = before[word_of(u[k])];
    for (int k = N - 1; k >= 0; k--) hit = word[k] & bit_of(u[k]) ? u[k] : hit;
    return hit;
  }

  // Each lane searches in_neighbours[e, end) of its vertex, alone at first. Then it cuts a long row into pieces for the
  // whole grid; the warp searches the other rows. Returns the neighbour found, or -1.
  template <int N>
  __device__ __forceinline__ int look(int v, i64 e, i64 end, LevelSums *sums) {
    int hit = -1;
    i64 stop = min(end, e + PATIENCE);
    while (e < stop) {
      int u[N];
      for (int k = 0; k < N; k++) u[k] = e + k < stop ? neighbour(graph.in_neighbours, e + k) : -1;
      hit = first_visited(u);
      checked += (u32)min((i64)N, stop - e);
      e += N;
      if (hit >= 0) break;
    }
    const bool open = hit < 0 && e < end, is_long = open && end - e > work.long_row;
    cut(is_long, v, e, end - e, work.rest, &sums->rest, work.long_row);
    u32 left = __ballot_sync(ALL_LANES, open && !is_long);
    while (left) {
      int from = __ffs(left) - 1;
      left &= left - 1;
      int got = warp_look(__shfl_sync(ALL_LANES, e, from), __shfl_sync(ALL_LANES, end, from));
      if (lane() == from) hit = got;
    }
    return hit;
  }

  // The whole warp searches in_neighbours[e, end).
  __device__ __forceinline__ int warp_look(i64 e, i64 end) {
    for (; e < end; e += 32 * PULL_IN_FLIGHT) {
      int u[PULL_IN_FLIGHT];
      for (int k = 0; k < PULL_IN_FLIGHT; k++) {
        i64 i = e + k * 32 + lane();
        u[k] = i < end ? neighbour(graph.in_neighbours, i) : -1;
        checked += i < end;
      }
      const int hit = first_visited(u);
      u32 hits = __ballot_sync(ALL_LANES, hit >= 0);
      if (hits) return __shfl_sync(ALL_LANES, hit, __ffs(hits) - 1);
    }
    return -1;
  }

  // Returns the vertices of a word whose answers a filling pull does not write: those visited before, and those past n.
  __device__ __forceinline__ u32 kept(u32 word, u32 old) const {
    const i64 rest = graph.n - (i64)word * 32;
    return rest >= 32 ? old : rest > 0 ? old | ALL_LANES << rest : ALL_LANES;
  }

  // Writes the answer of v after its hub u was tested; `hit`: whether u was visited.
  __device__ __forceinline__ void write(int v, int u, bool hit, u32 kept) {
    if (Answer::FILLS && fills) {
      if (!(kept >> lane() & 1)) answer.template fill<ONCE>(v, hit ? u : -1, depth);
    } else if (hit) {
      answer.reach(v, u, depth);
    }
  }

  // Tests the hub of every open vertex. `open` and `keep` are one word per lane. Sets `got`, the lane's word of
  // vertices found. Lists the vertices that must search their other neighbours, and returns how many there are.
  __device__ __forceinline__ u32 hub_pass(u32 first, u32 open, u32 keep, int *list, u32 &got) {
    const bool symmetric = graph.in_offsets == graph.offsets;  // then a vertex has as many in-arcs as out-arcs
    u32 left = 0;
    for (int j = 0; j < WORDS; j += PULL_IN_FLIGHT) {
      u32 mask[PULL_IN_FLIGHT], any = 0;
      int u[PULL_IN_FLIGHT];
      for (int k = 0; k < PULL_IN_FLIGHT; k++) mask[k] = __shfl_sync(ALL_LANES, open, j + k), any |= mask[k];
      if (!any && !(Answer::FILLS && fills)) continue;
      for (int k = 0; k < PULL_IN_FLIGHT; k++)
        u[k] = mask[k] >> lane() & 1 ? read_once<ONCE>(graph.hub + (first + j + k) * 32 + lane()) : -1;
      u32 hit[PULL_IN_FLIGHT];
      Degree<Offset> degrees[PULL_IN_FLIGHT];
      if (Degree<Offset>::SHORT) {  // read all degrees: they also tell which rows have only the hub
        for (int k = 0; k < PULL_IN_FLIGHT; k++)
          degrees[k].load(graph, (first + j + k) * 32 + lane(), mask[k] >> lane() & 1);
      }
      for (int k = 0; k < PULL_IN_FLIGHT; k++) hit[k] = before[word_of(u[k])];
      for (int k = 0; k < PULL_IN_FLIGHT; k++) {
        hit[k] &= bit_of(u[k]);
        if (!Degree<Offset>::SHORT) degrees[k].load(graph, (first + j + k) * 32 + lane(), hit[k]);
      }
      for (int k = 0; k < PULL_IN_FLIGHT; k++) {
        const int v = (first + j + k) * 32 + lane();
        const u32 hits = __ballot_sync(ALL_LANES, hit[k]);
        u32 misses = mask[k] & ~hits;
        if (Degree<Offset>::SHORT && symmetric)
          misses &= __ballot_sync(ALL_LANES, degrees[k].at_least(Answer::HUB + 1));
        write(v, u[k], hit[k], __shfl_sync(ALL_LANES, keep, j + k));
        if (misses >> lane() & 1) list[left + __popc(misses & lanes_below())] = v;
        if (lane() == j + k) got = hits;
        left += __popc(misses), checked += u[k] >= 0;
      }
      for (int k = 0; k < PULL_IN_FLIGHT; k++)
        edges += (u64)degrees[k].get(graph, (first + j + k) * 32 + lane(), hit[k]);
    }
    return left;
  }

  // The listed vertices search their neighbours, packed into full warps. Sets the bits of those found in `late`.
  __device__ __forceinline__ void list_pass(u32 first, u32 words, const int *list, u32 count, u32 *late,
                                            LevelSums *sums) {
    for (u32 i = lane(); i < ((count + 31) & ~31u); i += 32) {
      int v = i < count ? list[i] : -1, u = -1;
      i64 e = 0, end = 0;
      if (v >= 0) e = __ldg(graph.in_offsets + v) + Answer::HUB, end = __ldg(graph.in_offsets + v + 1);
      u = words == 1 ? look<MANY_IN_FLIGHT>(v, e, end, sums) : look<PULL_IN_FLIGHT>(v, e, end, sums);
      if (u >= 0) {
        reach(v, u);
        atomicOr(late + (v >> 5) - first, 1u << (v & 31));
      }
    }
  }

  // Takes the vertices of some words: first tests the hub of each, then searches the lists of those not found yet.
  __device__ __forceinline__ void task(u32 first, u32 words, int *list, u32 *late, LevelSums *sums) {
    u32 old = ALL_LANES, open = 0, got = 0;
    if (lane() < words) old = before[first + lane()], open = ~(old | __ldg(graph.closed + first + lane()));
    if ((Answer::FILLS && fills) || __any_sync(ALL_LANES, open)) {
      const u32 keep = Answer::FILLS && fills && lane() < words ? kept(first + lane(), old) : ALL_LANES;
      const u32 left = hub_pass(first, open, keep, list, got);
      __syncwarp();
      list_pass(first, words, list, left, late, sums);
      __syncwarp();
      if (lane() < words) got |= late[lane()], late[lane()] = 0;
      __syncwarp();
    }
    if (lane() < words) after[first + lane()] = old | got;
    found += __popc(got);
  }

  __device__ __forceinline__ void finish(LevelSums *sums) {
    const BlockSums all = block_sum(edges, found, work.trace ? checked : 0);
    if (threadIdx.x == 0) {
      if (all.b) atomicAdd(&sums->found, all.b), atomicAdd(&sums->mf, all.a);
      if (all.c) atomicAdd(&sums->checked, (u64)all.c);
    }
  }
};

template <class Offset, class Answer>
__device__ void pull_level(const Graph<Offset> &graph, const Work &work, Answer answer, const Standing &here,
                           bool fills, LevelSums *sums, u8 *scratch) {
  Pulling<Offset, Answer> pulling{
      graph, work, answer, work.visited(here.which), work.visited(here.which ^ 1), here.depth + 1, fills, 0, 0, 0};
  int *list = (int *)scratch + block_warp() * WORDS * 32;
  u32 *late = (u32 *)scratch + WARPS * WORDS * 32 + block_warp() * WORDS;
  if (lane() < WORDS) late[lane()] = 0;
  __syncwarp();
  u32 words = (u32)((graph.n + 31) / 32), warps = grid_warps();
  u32 size = min((u32)WORDS, (words + warps - 1) / warps);
  for (u32 first = grid_warp() * size; first < words; first += warps * size)
    pulling.task(first, min(size, words - first), list, late, sums);
  pulling.finish(sums);
}

// After a barrier: searches the rest of long rows, one warp per piece.
template <class Offset, class Answer>
__device__ void pull_rest(const Graph<Offset> &graph, const Work &work, Answer answer, const Standing &here,
                          LevelSums *sums, u32 pieces) {
  Pulling<Offset, Answer> pulling{
      graph, work, answer, work.visited(here.which), work.visited(here.which ^ 1), here.depth + 1, false, 0, 0, 0};
  for (u32 i = grid_warp(); i < pieces; i += grid_warps()) {
    Chunk piece = work.rest[i];
    u32 *word = pulling.after + (piece.v >> 5), bit = 1u << (piece.v & 31);
    if (__any_sync(ALL_LANES, __ldcg(word) & bit)) continue;
    int u = pulling.warp_look(piece.begin, piece.begin + piece.length);
    if (u >= 0 && lane() == 0 && !(atomicOr(word, bit) & bit)) {
      pulling.reach(piece.v, u);
      pulling.found++;
    }
  }
  pulling.finish(sums);
}

}  // namespace hopwave::one_launch
