// Searches from up to 64 WORDS sources in one cooperative launch, level by level; see many_state.cuh for the words.
#pragma once
#include "many_steps.cuh"

namespace hopwave {

// What a level's counts add to the sums of the sources: the arithmetic of cpu_waves.fill_sums, to the last bit.
template <class Offset, int WORDS>
__device__ inline void add_up(const Many<Offset>& job, int depth, number pairs) {
    for (number i = thread_number(); i < 64 * WORDS; i += thread_count()) {
        word* counts = job.counts[depth % 2] + i;
        const word fresh = __ldcg(counts);
        if (!fresh) continue;
        *counts = 0;
        const number source = i % WORDS * 64 + i / WORDS;
        job.reached[source] += fresh;
        job.total[source] += (long long)fresh * depth;
        job.farthest[source] = depth;
        if (depth) job.inverse[source] = __dadd_rn(job.inverse[source], __dmul_rn((double)fresh, 1.0 / (double)depth));
    }
    if (thread_number() == 0) job.histogram[depth] += pairs;
}

// How a phase computes: a push is followed by a settling, a pull needs none.
enum Phase { BEGIN, PUSH, SETTLE, PULL };

template <class Offset, int WORDS>
__global__ void __launch_bounds__(BLOCK, 4) search_many(const Many<Offset> job) {
    __shared__ Desk<WORDS> desk;
    for (int i = threadIdx.x; i < 64 * WORDS; i += BLOCK) desk.counts[i] = 0;
    if (threadIdx.x == 0) desk.staged = 0;
    __syncthreads();
    Counters& counters = *job.counters;
    word target = 0, active = 0, longs = 0;
    number left = job.reach, expected = job.expected;
    Phase phase = BEGIN;
    int depth = 0;
    while (true) {
        Steps<Offset, WORDS> steps(job, desk, depth);
        if (phase == BEGIN) steps.begin();
        if (phase == PUSH) steps.push(active, longs);
        if (phase == SETTLE || phase == PULL) steps.settle(phase == PULL, active);
        steps.finish();
        meet(&counters.arrived, target);
        const Standing* here = &counters.standing[depth % 3];
        active = __ldcg(&here->tail);
        if (phase == BEGIN || phase == PUSH) {
            phase = SETTLE;
            continue;
        }
        const number arcs = __ldcg(&here->arcs), pairs = __ldcg(&here->pairs);
        longs = __ldcg(&here->longs);
        if (job.keep & SUMS) add_up<Offset, WORDS>(job, depth, pairs);
        left -= pairs;
        if (phase == PULL) expected = __ldcg(&here->checked) + job.n;  // what the next pull looks at is seldom more
        if (!active || !left || depth >= job.limit) break;
        if (thread_number() == 0) counters.standing[(depth + 2) % 3] = Standing();
        phase = arcs * job.push_cost > expected ? PULL : PUSH;
        ++depth;
    }
}

}  // namespace hopwave
