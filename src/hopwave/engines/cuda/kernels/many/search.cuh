// Searches from many groups of up to 64 WORDS sources in one cooperative launch; see many/state.cuh for the words.
//
// A level of a small or deep graph does not fill a GPU, and waits at its barriers: so the grid is cut into parts that
// each take a group at a time, and know nothing of one another.
#pragma once
#include "many/steps.cuh"

namespace hopwave {

// How a phase computes: a push is followed by a settling, a pull needs none.
enum Phase { CLEAR, BEGIN, PUSH, SETTLE, PULL };

template <class Offset, int WORDS>
__device__ inline void open_group(const Many<Offset>& job, Group& group, word part, long long index) {
    group.seen = job.state + 3ull * WORDS * job.n * part;
    group.even = group.seen + (number)WORDS * job.n;
    group.odd = group.even + (number)WORDS * job.n;
    group.touched = job.touched + (job.n + 31) / 32 * part;
    for (int side = 0; side < 2; ++side) {
        group.list[side] = job.lists + job.n * (2ll * part + side);
        group.longs[side] = job.longs + job.long_room * (2ll * part + side);
        group.counts[side] = job.counts + 64ll * WORDS * (2ll * part + side);
    }
    group.counters = job.counters + part;
    group.first = index * job.width;
    group.count = job.count - group.first < job.width ? job.count - group.first : job.width;
}

// What a level's counts add to the sums of the sources: the arithmetic of engines/cpu/many/kernels.fill_sums, to the last bit.
template <class Offset, int WORDS>
__device__ inline void add_up(const Many<Offset>& job, const Group& group, Place at, int depth, int turn, number pairs) {
    for (number i = at.thread(); i < 64 * WORDS; i += at.threads()) {
        word* counts = group.counts[turn % 2] + i;
        const word fresh = __ldcg(counts);
        if (!fresh) continue;
        *counts = 0;
        const number source = group.first + i % WORDS * 64 + i / WORDS;
        job.reached[source] += fresh;
        job.total[source] += (long long)fresh * depth;
        job.farthest[source] = depth;
        if (depth) job.inverse[source] = __dadd_rn(job.inverse[source], __dmul_rn((double)fresh, 1.0 / (double)depth));
    }
    if (at.thread() == 0) atomicAdd((number*)job.histogram + depth, pairs);
}

template <class Offset, int WORDS>
__global__ void __launch_bounds__(BLOCK, 4) search_many(const Many<Offset> job) {
    __shared__ Desk<WORDS> desk;
    for (int i = threadIdx.x; i < 64 * WORDS; i += BLOCK) desk.counts[i] = 0;
    if (threadIdx.x == 0) desk.staged = 0;
    const Place at(job.grids);
    Counters& counters = job.counters[at.part];
    word target = 0;
    int turn = 0;
    for (long long index = job.first + at.part; index < job.last; index += job.grids, ++turn) {
        __syncthreads();  // before: some may still look at the group that was
        if (threadIdx.x == 0) open_group<Offset, WORDS>(job, desk.group, at.part, index);
        __syncthreads();
        word active = 0, longs = 0;
        number left = job.reach[index], expected = job.expected;
        Phase phase = CLEAR;
        int depth = 0;
        while (true) {
            Steps<Offset, WORDS> steps(job, desk, depth, turn, at);
            if (phase == CLEAR) steps.clear();
            if (phase == BEGIN) steps.begin();
            if (phase == PUSH) steps.push(active, longs);
            if (phase == SETTLE || phase == PULL) steps.settle(phase == PULL, active);
            steps.finish();
            meet(&counters.arrived, target, at.blocks);
            const Standing* here = &counters.standing[turn % 3];
            active = __ldcg(&here->tail);
            if (phase < SETTLE) {
                phase = phase == CLEAR ? BEGIN : SETTLE;
                continue;
            }
            const number arcs = __ldcg(&here->arcs), pairs = __ldcg(&here->pairs);
            longs = __ldcg(&here->longs);
            if (job.keep & SUMS) add_up<Offset, WORDS>(job, desk.group, at, depth, turn, pairs);
            left -= pairs;
            if (phase == PULL) expected = __ldcg(&here->checked) + job.n;  // the next pull seldom looks at more
            // What all have read by now is cleared for the turn after next, which may be another group's.
            if (at.thread() == 0) counters.standing[(turn + 2) % 3] = Standing();
            if (!active || !left || depth >= job.limit) break;
            phase = arcs * job.push_cost > expected ? PULL : PUSH;
            ++depth, ++turn;
        }
    }
}

}  // namespace hopwave
