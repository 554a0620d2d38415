// A block's part of a level: who is found, how many there are, and what is kept of them.
#pragma once
#include "many/state.cuh"

namespace hopwave {

template <class Offset, int WORDS>
struct Part {
    static constexpr int TEAMS = WARP / WORDS;
    static constexpr int STEPS = TEAMS == 2 ? 1 : 4;  // its logarithm
    static constexpr number SHARE = ~0ull / ((1ull << TEAMS) - 1);  // every TEAMS-th bit
    static_assert(1 << STEPS == TEAMS, "WORDS is 2 or 16");

    const Many<Offset>& job;
    Desk<WORDS>& desk;
    const Group& group;
    const int depth, turn;  // turn: levels so far, of all groups
    Standing& standing;
    number arcs = 0, checked = 0, pairs = 0;
    number plane[PLANES] = {};  // a counter for each of a word's 64 sources: bit p of all of them is plane[p]
    int added = 0;

    __device__ Part(const Many<Offset>& job, Desk<WORDS>& desk, int depth, int turn)
        : job(job), desk(desk), group(desk.group), depth(depth), turn(turn),
          standing(desk.group.counters->standing[turn % 3]) {}

    static __device__ int my_word() { return lane() % WORDS; }
    static __device__ int my_team() { return lane() / WORDS; }
    static __device__ number place(int v) { return (number)v * WORDS + my_word(); }

    // Whether some thread of the team says yes. All of a warp comes here, as to everything below but `note`.
    static __device__ bool team_any(bool yes) {
        return __ballot_sync(EVERYONE, yes) >> (my_team() * WORDS) & (EVERYONE >> (WARP - WORDS));
    }

    // Put a vertex on the list of this level; for one thread of a team.
    __device__ void note(int v) {
        const word at = atomicAdd(&desk.staged, 1u);
        if (at < STAGE)
            desk.stage[at] = v;
        else
            group.list[turn % 2][atomicAdd(&standing.tail, 1u)] = v;
    }

    // The sources in `fresh` reach v in this level; found: whether there are any in the team's row.
    __device__ void keep(int v, bool found, number fresh) {
        pairs += __popcll(fresh);
        if (found && my_word() == 0) {
            const number out = degree(job.offsets, v);
            arcs += out;
            if (out > job.long_row) group.longs[turn % 2][atomicAdd(&standing.longs, 1u)] = v;
        }
        if (job.keep & SUMS) count(fresh);
        if (job.keep & COLUMNS) add_column(v, found, fresh);
        if (job.keep & ROWS) fill_rows(v, fresh);
        if (job.keep & PAIRS && depth) list_pairs(v, fresh);
    }

    // One more for every source in `fresh`: an addition to 64 counters at once, carried from plane to plane.
    __device__ void count(number fresh) {
#pragma unroll
        for (int p = 0; p < PLANES; ++p) {
            const number carry = plane[p] & fresh;
            plane[p] ^= fresh;
            fresh = carry;
        }
        if (++added == (1 << PLANES) - 1) spill();
    }

    // Empty the counters: teams add theirs up, still in planes, and deal the sources out for the last addition.
    __device__ void spill() {
        number sum[PLANES + STEPS], any = 0;
#pragma unroll
        for (int p = 0; p < PLANES; ++p) sum[p] = plane[p], plane[p] = 0;
#pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            number carry = 0;
#pragma unroll
            for (int p = 0; p < PLANES + STEPS; ++p) {
                if (p >= PLANES + step) continue;
                const number other = __shfl_xor_sync(EVERYONE, sum[p], WORDS << step), half = sum[p] ^ other;
                const number both = sum[p] & other;
                sum[p] = half ^ carry;
                carry = both | (half & carry);
            }
            sum[PLANES + step] = carry;
        }
#pragma unroll
        for (int p = 0; p < PLANES + STEPS; ++p) any |= sum[p];
        for (number left = any & (SHARE << my_team()); left; left &= left - 1) {
            const int bit = __ffsll((long long)left) - 1;
            word times = 0;
#pragma unroll
            for (int p = 0; p < PLANES + STEPS; ++p) times |= (word)(sum[p] >> bit & 1) << p;
            atomicAdd(&desk.counts[bit * WORDS + my_word()], times);
        }
        added = 0;
    }

    // Whole numbers, so that it does not matter in what order they are added: as engines/cpu/many/kernels.weights.
    __device__ void add_column(int v, bool found, number fresh) {
        int sources = __popcll(fresh);
#pragma unroll
        for (int step = 1; step < WORDS; step *= 2) sources += __shfl_xor_sync(EVERYONE, sources, step);
        if (!found || my_word()) return;
        long long weight = depth, square = (long long)depth * depth;
        if (!job.hops && depth) {
            const double unit = (double)(1ll << job.shift), d = depth;
            weight = (long long)rint(unit / d), square = (long long)rint(unit / (d * d));
        }
        number* column = (number*)job.columns + 3ll * v;  // other parts add to it too
        atomicAdd(column, (number)sources);
        atomicAdd(column + 1, (number)(sources * weight));
        atomicAdd(column + 2, (number)(sources * square));
    }

    __device__ void fill_rows(int v, number fresh) {
        for (; fresh; fresh &= fresh - 1) {
            const int source = 64 * my_word() + __ffsll((long long)fresh) - 1;
            job.rows[job.places[group.first + source] * job.n + v] = depth;
        }
    }

    // A pair is one number that sorts by source, distance and vertex.
    __device__ void list_pairs(int v, number fresh) {
        if (job.upwards)
            for (number left = fresh; left; left &= left - 1) {
                const int bit = __ffsll((long long)left) - 1;
                if (job.sources[group.first + 64 * my_word() + bit] > v) fresh &= ~(1ull << bit);
            }
        const word mine = __popcll(fresh);
        word through = mine;
        for (int step = 1; step < WARP; step *= 2) {
            const word other = __shfl_up_sync(EVERYONE, through, step);
            if (lane() >= step) through += other;
        }
        number at = 0;
        if (lane() == WARP - 1 && through) at = atomicAdd(&group.counters->listed, (number)through);
        at = __shfl_sync(EVERYONE, at, WARP - 1) + through - mine;
        for (; fresh; fresh &= fresh - 1, ++at) {
            const number source = 64 * my_word() + __ffsll((long long)fresh) - 1;
            if (at < job.room) job.pairs[at] = (source << job.depth_bits | depth) << job.vertex_bits | v;
        }
    }

    // The block's sums join those of its part of the grid. All of the block comes here; a barrier must follow.
    __device__ void finish() {
        if (added) spill();
        number parts[3] = {arcs, checked, pairs};
        for (int part = 0; part < 3; ++part) {
            for (int step = WARP / 2; step; step /= 2) parts[part] += __shfl_xor_sync(EVERYONE, parts[part], step);
            if (lane() == 0) desk.sums[threadIdx.x / WARP][part] = parts[part];
        }
        __syncthreads();
        if (threadIdx.x < 3) {
            number sum = 0;
            for (int warp = 0; warp < BLOCK / WARP; ++warp) sum += desk.sums[warp][threadIdx.x];
            if (sum) atomicAdd(&standing.arcs + threadIdx.x, sum);
        }
        const word staged = desk.staged < STAGE ? desk.staged : STAGE;
        if (threadIdx.x == 0 && staged) desk.base = atomicAdd(&standing.tail, staged);
        if (job.keep & SUMS)
            for (int i = threadIdx.x; i < 64 * WORDS; i += BLOCK)
                if (desk.counts[i]) atomicAdd(&group.counts[turn % 2][i], desk.counts[i]), desk.counts[i] = 0;
        __syncthreads();
        for (word i = threadIdx.x; i < staged; i += BLOCK) group.list[turn % 2][desk.base + i] = desk.stage[i];
        if (threadIdx.x == 0) desk.staged = 0;
    }
};

}  // namespace hopwave
