// Pull on the full grid: each unvisited vertex searches for a visited in-neighbour. That neighbour is in the frontier;
// otherwise the vertex would have been found earlier. The frontier therefore needs no bitmap.
#pragma once
#include "one_launch/state.cuh"

namespace hopwave::one_launch {

constexpr int WORDS = 8;            // maximum words of the bitmap that a warp processes at a time
constexpr int PULL_IN_FLIGHT = 4;   // words, or neighbours, that a thread loads at a time
constexpr int MANY_IN_FLIGHT = 16;  // words, or neighbours, that a thread loads at a time if the grid has idle threads
constexpr int PATIENCE = 32;        // neighbours that a thread reads before its warp helps
static_assert(WORDS * 33 * WARPS * 4 <= SCRATCH_BYTES, "the warps' lists must fit");

template <class Offset, class Answer>
struct Pulling {
  static constexpr bool ONCE = sizeof(Offset) == 8;  // whether all data except the bitmaps is too large for the caches
  const Graph<Offset> &graph;
  const Work &work;
  Answer answer;
  const u32 *before;  // vertices visited before this level
  u32 *after;
  int depth;
  bool fills;  // whether this is the first pull, which writes the result of every vertex not visited before
  u64 edges;
  u32 found, checked;

  __device__ __forceinline__ void reach(int v, int u) {
    answer.reach(v, u, depth);
    edges += (u64)(__ldg(graph.offsets + v + 1) - __ldg(graph.offsets + v));
  }

  // Returns the first of the lane's neighbours that is visited, or -1; u[k] < 0 means no neighbour.
  template <int N>
  __device__ __forceinline__ int first_visited(const int (&u)[N]) const {
    u32 word[N];
    int hit = -1;
    for (int k = 0; k < N; k++) word[k] = before[word_of(u[k])];
    for (int k = N - 1; k >= 0; k--) hit = word[k] & bit_of(u[k]) ? u[k] : hit;
    return hit;
  }

  // Each lane searches PATIENCE arcs of its row. A long remainder is cut for the grid; the warp searches a short one.
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

  // Returns the vertices of a word whose results a filling pull does not write: visited before, or past n.
  __device__ __forceinline__ u32 kept(u32 word, u32 old) const {
    const i64 rest = graph.n - (i64)word * 32;
    return rest >= 32 ? old : rest > 0 ? old | ALL_LANES << rest : ALL_LANES;
  }

  __device__ __forceinline__ void write(int v, int u, bool hit, u32 kept) {
    if (Answer::FILLS && fills) {
      if (!(kept >> lane() & 1)) answer.template fill<ONCE>(v, hit ? u : -1, depth);
    } else if (hit) {
      answer.reach(v, u, depth);
    }
  }

  // Tests the hub of every open vertex. Sets `got`, the lane's word of vertices found; lists and counts the others.
  __device__ __forceinline__ u32 hub_pass(u32 first, u32 open, u32 keep, int *list, u32 &got) {
    const bool symmetric = graph.in_offsets == graph.offsets;  // in-degrees then equal out-degrees
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
      if (Degree<Offset>::SHORT) {  // read all degrees: they also show which rows contain only the hub
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

  // The listed vertices search their neighbours, packed into full warps. Sets the bits of the vertices found in `late`.
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

// ---- Push on the full grid: warps process chunks of long lists, and tiles of up to 32 vertices with shorter lists.

constexpr int PUSH_IN_FLIGHT = 4;  // arcs that a lane loads at a time
constexpr u32 FULL = 128;          // vertices that a warp collects before it queues them
constexpr u32 BUFFER = FULL + 32 * PUSH_IN_FLIGHT;
static_assert(BUFFER * WARPS * 4 <= SCRATCH_BYTES, "the warps' buffers must fit");

// Vertices that a warp has found and not yet queued.
struct Finds {
  int *buffer;
  u32 count, big, queued;
  u64 edges;
};

template <class Offset, class Answer>
struct Pushing {
  const Graph<Offset> &graph;
  const Work &work;
  Answer answer;
  u32 *visited;
  int depth;
  Finds finds;

  // Claims the lanes' neighbours; u[k] < 0 means no neighbour. Branch-free, so that loads are issued together.
  __device__ __forceinline__ void take(const int (&u)[PUSH_IN_FLIGHT], const int (&from)[PUSH_IN_FLIGHT]) {
    u32 bit[PUSH_IN_FLIGHT], old[PUSH_IN_FLIGHT];
    Degree<Offset> degrees[PUSH_IN_FLIGHT];
    for (int k = 0; k < PUSH_IN_FLIGHT; k++) old[k] = __ldcg(visited + word_of(u[k]));
    for (int k = 0; k < PUSH_IN_FLIGHT; k++) bit[k] = bit_of(u[k]) & ~old[k];
    for (int k = 0; k < PUSH_IN_FLIGHT; k++) old[k] = claim(visited + word_of(u[k]), bit[k]);
    for (int k = 0; k < PUSH_IN_FLIGHT; k++) {
      bit[k] &= ~old[k];  // from here: whether the vertex is new
      degrees[k].load(graph, u[k], bit[k]);
    }
    for (int k = 0; k < PUSH_IN_FLIGHT; k++) {
      const u32 all = __ballot_sync(ALL_LANES, bit[k]);
      if (bit[k]) {
        answer.reach(u[k], from[k], depth);
        finds.buffer[finds.count + __popc(all & lanes_below())] = u[k];
      }
      finds.count += __popc(all);
    }
    for (int k = 0; k < PUSH_IN_FLIGHT; k++) {
      const Offset degree = degrees[k].get(graph, u[k], bit[k]);
      finds.edges += degree, finds.big += degree >= work.chunk;
    }
    __syncwarp();
    if (finds.count >= FULL) {
      u32 at = 0;
      if (lane() == 0) at = atomicAdd(&work.counters->tail, finds.count);
      write_out(__shfl_sync(ALL_LANES, at, 0));
      finds.queued += finds.count, finds.count = 0;
    }
  }

  __device__ __forceinline__ void write_out(u32 at) {
    for (u32 i = lane(); i < finds.count; i += 32) work.queue[at + i] = finds.buffer[i];
    __syncwarp();
  }

  __device__ __forceinline__ void one_list(int v, i64 begin, i64 length) {
    for (i64 e = 0; e < length; e += 32 * PUSH_IN_FLIGHT) {
      int u[PUSH_IN_FLIGHT], from[PUSH_IN_FLIGHT];
      for (int k = 0; k < PUSH_IN_FLIGHT; k++) {
        i64 i = e + k * 32 + lane();
        u[k] = i < length ? neighbour(graph.neighbours, begin + i) : -1;
        from[k] = v;
      }
      take(u, from);
    }
  }

  // Processes up to 32 vertices, one per lane; the lanes share their arcs evenly.
  __device__ __forceinline__ void tile(bool mine, int v, i64 begin, i64 degree) {
    u32 end = inclusive_scan(mine ? (u32)degree : 0);
    u32 total = __shfl_sync(ALL_LANES, end, 31);
    i64 base = begin - (end - (mine ? (u32)degree : 0));
    for (u32 e = 0; e < total; e += 32 * PUSH_IN_FLIGHT) {
      int u[PUSH_IN_FLIGHT], from[PUSH_IN_FLIGHT];
      for (int k = 0; k < PUSH_IN_FLIGHT; k++) {
        u32 i = e + k * 32 + lane();
        int owner = 0;
        for (int step = 16; step; step >>= 1)
          if (__shfl_sync(ALL_LANES, end, owner + step - 1) <= i) owner += step;
        i64 at = __shfl_sync(ALL_LANES, base, owner) + i;
        from[k] = __shfl_sync(ALL_LANES, v, owner);
        u[k] = i < total ? neighbour(graph.neighbours, at) : -1;
      }
      take(u, from);
    }
  }
};

// Adds up the vertices a block has found, and queues them with one atomic addition for all its warps.
template <class Offset, class Answer>
__device__ __forceinline__ void block_finish(Pushing<Offset, Answer> &pushing, LevelSums *sums) {
  __shared__ u32 begins[WARPS];
  if (lane() == 0) begins[block_warp()] = pushing.finds.count;
  const Finds &finds = pushing.finds;
  const BlockSums all = block_sum(finds.edges, finds.big, lane() == 0 ? finds.queued + finds.count : 0);
  if (threadIdx.x < 32) {
    u32 count = lane() < WARPS ? begins[lane()] : 0, end = inclusive_scan(count), at = 0;
    if (lane() == 31 && end) at = atomicAdd(&pushing.work.counters->tail, end);
    if (lane() == 0 && all.a) atomicAdd(&sums->mf, all.a);
    if (lane() == 0 && all.b) atomicAdd(&sums->big, all.b);
    if (lane() == 0 && all.c) atomicAdd(&sums->found, all.c);
    at = __shfl_sync(ALL_LANES, at, 31);
    if (lane() < WARPS) begins[lane()] = at + end - count;
  }
  __syncthreads();
  pushing.write_out(begins[block_warp()]);
}

template <class Offset, class Answer>
__device__ void push_level(const Graph<Offset> &graph, const Work &work, Answer answer, const Standing &here,
                           u32 chunks, LevelSums *sums, u8 *scratch) {
  Pushing<Offset, Answer> pushing{graph,          work,
                                  answer,         work.visited(here.which),
                                  here.depth + 1, {(int *)scratch + block_warp() * BUFFER, 0, 0, 0, 0}};
  u32 warps = grid_warps();
  u32 size = min(32u, (here.nf + warps - 1) / warps), tiles = (here.nf + size - 1) / size;
  for (u32 task = grid_warp(); task < chunks + tiles; task += warps) {
    if (task < chunks) {
      Chunk chunk = work.chunks[task];
      pushing.one_list(chunk.v, chunk.begin, chunk.length);
      continue;
    }
    u32 i = (task - chunks) * size + lane();
    bool mine = lane() < size && i < here.nf;
    int v = mine ? work.queue[here.begin + i] : 0;
    i64 begin = mine ? (i64)__ldg(graph.offsets + v) : 0;
    i64 degree = mine ? (i64)__ldg(graph.offsets + v + 1) - begin : 0;
    if (degree >= work.chunk) degree = 0;  // a long list's chunks are separate tasks
    if (size == 1)
      pushing.one_list(__shfl_sync(ALL_LANES, v, 0), __shfl_sync(ALL_LANES, begin, 0),
                       __shfl_sync(ALL_LANES, degree, 0));
    else pushing.tile(mine, v, begin, degree);
  }
  block_finish(pushing, sums);
}

template <class Offset>
__device__ void cut_frontier(const Graph<Offset> &graph, const Work &work, const Standing &here, LevelSums *sums) {
  for (u32 base = grid_warp() * 32; base < here.nf; base += grid_warps() * 32) {
    u32 i = base + lane();
    int v = i < here.nf ? work.queue[here.begin + i] : 0;
    i64 begin = 0, degree = 0;
    if (i < here.nf) begin = __ldg(graph.offsets + v), degree = __ldg(graph.offsets + v + 1) - begin;
    cut_long(v, begin, degree, work, sums);
  }
}

// After a pull the frontier is the difference of the two bitmaps; a push needs it in the queue, with long lists cut.
template <class Offset>
__device__ void queue_frontier(const Graph<Offset> &graph, const Work &work, const Standing &here, LevelSums *sums) {
  u32 words = (u32)((graph.n + 31) / 32), big = 0;
  for (u32 base = grid_warp() * 32; base < words; base += grid_warps() * 32) {
    u32 w = base + lane();
    u32 bits = w < words ? work.visited(here.which)[w] & ~work.visited(here.which ^ 1)[w] : 0;
    u32 count = __popc(bits), end = inclusive_scan(count), at = 0;
    if (lane() == 31 && end) at = atomicAdd(&work.counters->tail, end);
    at = __shfl_sync(ALL_LANES, at, 31) + end - count;
    for (; __any_sync(ALL_LANES, bits); bits &= bits - 1) {
      int v = w * 32 + __ffs(bits) - 1;
      i64 begin = 0, degree = 0;
      if (bits) {
        begin = __ldg(graph.offsets + v), degree = __ldg(graph.offsets + v + 1) - begin;
        big += degree >= work.chunk;
        work.queue[at++] = v;
      }
      cut_long(v, begin, degree, work, sums);
    }
  }
  add_warp_sum(&sums->big, big);
}

}  // namespace hopwave::one_launch
