// What every kernel is made of: names for numbers, a warp's and a block's manners, counting.
//
//   n          vertices             distance   int a vertex, -1 = not visited: the status array of the papers
//   depth      of the frontier      parent     int a vertex, or null where predecessors are not asked for
//   offsets    n + 1, row starts    sigma      path counts of a level over 2^shift, or null
//   bitmaps    bit v % 32 of word v / 32 is vertex v
//
// Every kernel is a template over Offset (int or long long), also where it reads no offsets: a template is compiled only
// where one of its instances is asked for.
//
// Memory that a kernel writes is never read through __ldg or __restrict__ const there: the read-only cache is not
// kept coherent within a launch.
#pragma once

namespace hopwave {

typedef unsigned int word;
typedef unsigned long long number;

constexpr int WARP = 32;
constexpr int BLOCK = 256;
constexpr unsigned EVERYONE = 0xffffffffu;

// The words of hopwave/plan.py; a word with a meaning in C++ has an underscore after it.
enum class Mapping { thread, warp, block, twc, merge, edge };
enum class Output { queue, scan, dense, sort, reuse };
enum class Claim { atomic, benign };
enum class Rows { all, unvisited, compacted };
enum class Operand { frontier, visited };
enum class Balance { static_, thread, warp };

// What a level reports, one number each; hopwave/engines/cuda/search/state.py reads them in this order.
enum Counter { FOUND, EDGES, CHECKED, AHEAD, AHEAD_EDGES, TAIL, GATHERED, TICKET, GREATEST, LEAST, COUNTERS };

__device__ inline unsigned lane() { return threadIdx.x % WARP; }
__device__ inline number thread_number() { return (number)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline number thread_count() { return (number)gridDim.x * blockDim.x; }

// A status that other threads of this launch may be writing: read from memory each time, never kept in a register.
__device__ inline int status(const int* distance, int v) { return *(const volatile int*)(distance + v); }

__device__ inline bool has(const word* bits, int v) { return bits[v / 32] >> (v % 32) & 1; }

template <class Offset>
__device__ inline number degree(const Offset* offsets, int v) {
    return (number)(offsets[v + 1] - offsets[v]);
}

// The next free place at a queue's end. Threads that come here together share one atomic operation.
__device__ inline number enqueue_at(number* tail) {
    const unsigned together = __activemask();
    const int leader = __ffs(together) - 1;
    number first = 0;
    if (lane() == leader) first = atomicAdd(tail, (number)__popc(together));
    first = __shfl_sync(together, first, leader);
    return first + __popc(together & ((1u << lane()) - 1));
}

// Σ of value over the threads before this one in the block, and over all of it. Ends with every thread past its reads.
template <class T>
__device__ inline T block_scan(T value, T& total) {
    __shared__ T sums[BLOCK / WARP];
    T through = value;
    for (int step = 1; step < WARP; step *= 2) {
        const T other = __shfl_up_sync(EVERYONE, through, step);
        if (lane() >= step) through += other;
    }
    if (lane() == WARP - 1) sums[threadIdx.x / WARP] = through;
    __syncthreads();
    T before = 0;
    total = 0;
    for (int warp = 0; warp < blockDim.x / WARP; ++warp) {
        if (warp == threadIdx.x / WARP) before = total;
        total += sums[warp];
    }
    __syncthreads();
    return before + through - value;
}

// A thread's share of a level's counters.
struct Tally {
    number found = 0, edges = 0, checked = 0, ahead = 0, ahead_edges = 0;
};

// Adds up the tallies of a block and then, with one atomic operation each, of the grid. The whole block comes here.
__device__ inline void report(const Tally& mine, number* counters) {
    __shared__ number sums[5];
    number parts[5] = {mine.found, mine.edges, mine.checked, mine.ahead, mine.ahead_edges};
    if (threadIdx.x < 5) sums[threadIdx.x] = 0;
    __syncthreads();
    for (int part = 0; part < 5; ++part) {
        for (int step = WARP / 2; step; step /= 2) parts[part] += __shfl_down_sync(EVERYONE, parts[part], step);
        if (lane() == 0 && parts[part]) atomicAdd(&sums[part], parts[part]);
    }
    __syncthreads();
    if (threadIdx.x < 5 && sums[threadIdx.x]) atomicAdd(&counters[FOUND + threadIdx.x], sums[threadIdx.x]);
}

}  // namespace hopwave
