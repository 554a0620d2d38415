// Three ways to hand the neighbour lists of a frontier to threads. Each calls visit(u, arc, slot) once for every arc
// of every list, from whichever thread has it; arc is its place in the adjacency, slot a number of its own.
#pragma once
#include "common/atoms.cuh"

namespace hopwave {

constexpr int SCRATCH = 4 * BLOCK;

// A block's even share of a queue, in tiles of BLOCK (Merrill et al., section 4.2): few vertices each where the queue is
// short, for they may be hubs. Neighbours in the queue go to different warps, for the same reason.
struct Share {
    number begin, end;

    __device__ explicit Share(number length) {
        const number share = (length + gridDim.x - 1) / gridDim.x;
        begin = min(blockIdx.x * share, length);
        end = min(begin + share, length);
    }

    __device__ static number mine(number tile) { return tile + lane() * (BLOCK / WARP) + threadIdx.x / WARP; }
};

// A tile of lists, one from each thread of the block ([begin, end), empty for none), gathered by its length (Merrill
// et al., section 4; Hiragushi, section 3.2): a list of BLOCK arcs or more by the whole block, of WARP or more by a
// warp, and the short rest packed side by side in shared memory by a scan. Mappings other than twc use one of these
// for all lists. Arc a of a list has the slot shift + a.
template <Mapping mapping, class Offset, class Visit>
__device__ inline void gather_tile(int u, Offset begin, Offset end, number shift, Visit visit) {
    __shared__ Offset shared_begin, shared_end;
    __shared__ number shared_shift;
    __shared__ int shared_u, chosen;
    if (mapping == Mapping::block || mapping == Mapping::twc) {
        const Offset least = mapping == Mapping::block ? 1 : BLOCK;
        while (__syncthreads_or(end - begin >= least)) {
            if (threadIdx.x == 0) chosen = -1;
            __syncthreads();
            if (end - begin >= least) atomicMax(&chosen, (int)threadIdx.x);
            __syncthreads();
            if (chosen == threadIdx.x) {
                shared_u = u, shared_begin = begin, shared_end = end, shared_shift = shift;
                begin = end;
            }
            __syncthreads();
            for (Offset arc = shared_begin + threadIdx.x; arc < shared_end; arc += BLOCK)
                visit(shared_u, arc, shared_shift + (number)arc);
        }
    }
    if (mapping == Mapping::warp || mapping == Mapping::twc) {
        const Offset least = mapping == Mapping::warp ? 1 : WARP;
        while (const unsigned waiting = __ballot_sync(EVERYONE, end - begin >= least)) {
            const int leader = __ffs(waiting) - 1;
            const int its_u = __shfl_sync(EVERYONE, u, leader);
            const Offset its_begin = __shfl_sync(EVERYONE, begin, leader);
            const Offset its_end = __shfl_sync(EVERYONE, end, leader);
            const number its_shift = __shfl_sync(EVERYONE, shift, leader);
            for (Offset arc = its_begin + lane(); arc < its_end; arc += WARP) visit(its_u, arc, its_shift + (number)arc);
            if (lane() == leader) begin = end;
            __syncwarp();
        }
    }
    if (mapping == Mapping::thread)
        for (; begin < end; ++begin) visit(u, begin, shift + (number)begin);
    if (mapping == Mapping::twc) {
        __shared__ Offset arcs[SCRATCH];
        __shared__ number shifts[SCRATCH];
        __shared__ int sources[SCRATCH];
        unsigned total;
        unsigned place = block_scan((unsigned)(end - begin), total);
        for (unsigned done = 0; done < total; done += SCRATCH) {
            for (; begin < end && place < done + SCRATCH; ++begin, ++place)
                arcs[place - done] = begin, shifts[place - done] = shift, sources[place - done] = u;
            __syncthreads();
            const unsigned packed = min(total - done, (unsigned)SCRATCH);
            for (unsigned i = threadIdx.x; i < packed; i += BLOCK) visit(sources[i], arcs[i], shifts[i] + (number)arcs[i]);
            __syncthreads();
        }
    }
}

// The first of sums[low ... high) that is greater than value (high if there is none).
__device__ inline number first_above(const long long* sums, number low, number high, number value) {
    while (low < high) {
        const number middle = (low + high) / 2;
        if ((number)sums[middle] > value) high = middle;
        else low = middle + 1;
    }
    return low;
}

// Equal shares of all lists together (push-pull, section 6.2: IntervalGather). sums is the running sum of the lists'
// lengths; a block takes a stretch of arcs, finds the few lists it lies in, and each thread its own among those.
template <class Offset, class Visit>
__device__ inline void gather_shares(
    const Offset* offsets, const int* queue, const long long* sums, number lists, number arcs, Visit visit) {
    __shared__ number first_list, last_list;
    for (number begin = (number)blockIdx.x * SCRATCH; begin < arcs; begin += (number)gridDim.x * SCRATCH) {
        const number end = min(begin + SCRATCH, arcs);
        __syncthreads();
        if (threadIdx.x == 0) first_list = first_above(sums, 0, lists, begin);
        if (threadIdx.x == WARP) last_list = first_above(sums, 0, lists, end - 1);
        __syncthreads();
        for (number i = begin + threadIdx.x; i < end; i += BLOCK) {
            const number list = first_above(sums, first_list, last_list, i);
            const number before = list ? (number)sums[list - 1] : 0;
            const int u = queue[list];
            visit(u, offsets[u] + (Offset)(i - before), i);
        }
    }
}

// How long each list of the queue is, for the running sum.
template <class Offset>
__global__ void list_lengths(const Offset* offsets, const int* queue, number lists, long long* lengths) {
    for (number i = thread_number(); i < lists; i += thread_count()) lengths[i] = (long long)degree(offsets, queue[i]);
}

}  // namespace hopwave
