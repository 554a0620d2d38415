// The steps of a level: a push hands rows on, a settling says what is new in them; a pull does both at once.
#pragma once
#include "many/part.cuh"

namespace hopwave {

template <class Offset, int WORDS>
struct Steps : Part<Offset, WORDS> {
    using Base = Part<Offset, WORDS>;
    using Base::job, Base::desk, Base::group, Base::turn, Base::checked, Base::note, Base::keep, Base::place,
        Base::team_any, Base::my_word, Base::my_team;
    static constexpr int TEAMS = Base::TEAMS, BLOCK_TEAMS = BLOCK / WORDS;

    number *const all_seen, *const front, *const fresh;
    const Place at;

    __device__ Steps(const Many<Offset>& job, Desk<WORDS>& desk, int depth, int turn, Place at)
        : Base(job, desk, depth, turn), all_seen(desk.group.seen), front(turn % 2 ? desk.group.even : desk.group.odd),
          fresh(turn % 2 ? desk.group.odd : desk.group.even), at(at) {}

    // The first team of this warp, and how many teams there are.
    __device__ number first_team() const { return at.thread() / WARP * TEAMS; }
    __device__ number all_teams() const { return at.threads() / WORDS; }

    // Lanes that are not in v's row of fresh yet; one thread of the team puts v on the list if nobody has.
    __device__ void hand(int v, number lanes) {
        if (lanes) atomicOr(fresh + place(v), lanes);
        if (!team_any(lanes) || my_word()) return;
        word* touched = group.touched + v / 32;
        const word bit = 1u << v % 32;
        if (!(__ldcg(touched) & bit) && !(atomicOr(touched, bit) & bit)) note(v);
    }

    // Rows of another group are there still.
    __device__ void clear() {
        const number words = 3ull * WORDS * job.n;  // an even number
        ulonglong2* rows = (ulonglong2*)all_seen;
        for (number i = at.thread(); i < words / 2; i += at.threads()) rows[i] = make_ulonglong2(0, 0);
    }

    // The sources reach themselves.
    __device__ void begin() {
        for (number i = first_team(); i < group.count; i += all_teams()) {
            const number source = i + my_team();
            const bool there = source < group.count;
            const bool mine = there && source / 64 == my_word();
            hand(there ? job.sources[group.first + source] : 0, mine ? 1ull << source % 64 : 0);
        }
    }

    // Neighbours [e, end) get the lanes, ABREAST at a time.
    __device__ void push_arcs(number lanes, Offset e, Offset end) {
        while (__any_sync(EVERYONE, e < end)) {
            int v[ABREAST];
            number got[ABREAST];
#pragma unroll
            for (int k = 0; k < ABREAST; ++k) v[k] = e + k < end ? __ldg(job.neighbours + e + k) : -1;
#pragma unroll
            for (int k = 0; k < ABREAST; ++k) got[k] = v[k] >= 0 && lanes ? lanes & ~all_seen[place(v[k])] : 0;
#pragma unroll
            for (int k = 0; k < ABREAST; ++k)
                if (got[k]) got[k] &= ~__ldcg(fresh + place(v[k]));
#pragma unroll
            for (int k = 0; k < ABREAST; ++k) hand(v[k], got[k]);
            e += ABREAST;
        }
    }

    // Vertices found in the level before hand their rows on: a team a vertex, and all teams on a long list.
    __device__ void push(word active, word longs) {
        const int* list = group.list[(turn + 1) % 2];
        for (number i = first_team(); i < active; i += all_teams()) {
            const bool there = i + my_team() < active;
            const int u = there ? list[i + my_team()] : 0;
            Offset e = there ? __ldg(job.offsets + u) : 0, end = there ? __ldg(job.offsets + u + 1) : 0;
            if (end - e > job.long_row) end = e;
            push_arcs(e < end ? front[place(u)] : 0, e, end);
        }
        for (word i = 0; i < longs; ++i) {
            const int u = group.longs[(turn + 1) % 2][i];
            const number lanes = front[place(u)], begin = __ldg(job.offsets + u), end = __ldg(job.offsets + u + 1);
            // Lists begin with different warps, so that many short of these still keep all of them at work.
            const number first = (first_team() + (number)i * TEAMS) % all_teams();
            for (number e = begin + first * PIECE; e < end; e += all_teams() * PIECE) {
                const number mine = e + my_team() * PIECE;
                push_arcs(lanes, (Offset)(mine < end ? mine : end), (Offset)(mine + PIECE < end ? mine + PIECE : end));
            }
        }
    }

    // What of `left` is in no row of the neighbours [e, end); ends when nothing is left to the team.
    __device__ number look(number left, Offset e, Offset end, bool open) {
        int u[ABREAST], ahead[ABREAST];
        const Offset begin = e;
#pragma unroll
        for (int k = 0; k < ABREAST; ++k) u[k] = open && e + k < end ? __ldg(job.in_neighbours + e + k) : -1;
        while (__any_sync(EVERYONE, open && e < end)) {
            number got = 0;
#pragma unroll
            for (int k = 0; k < ABREAST; ++k)
                ahead[k] = open && e + ABREAST + k < end ? __ldg(job.in_neighbours + e + ABREAST + k) : -1;
#pragma unroll
            for (int k = 0; k < ABREAST; ++k) got |= u[k] >= 0 && left ? front[place(u[k])] : 0;
            if (open && e < end) e += ABREAST;
            left &= ~got;
            open = team_any(left) && open;
#pragma unroll
            for (int k = 0; k < ABREAST; ++k) u[k] = open ? ahead[k] : -1;
        }
        if (my_word() == 0) checked += (number)((e < end ? e : end) - begin);
        return left;
    }

    // What a team's vertex gets: after a push, what is new in its row of fresh.
    __device__ number settle_row(int v, bool there) {
        if (!there) return 0;
        const number seen = all_seen[place(v)], lanes = fresh[place(v)] & ~seen;
        fresh[place(v)] = lanes;
        if (lanes) all_seen[place(v)] = seen | lanes;
        group.touched[v / 32] = 0;
        return lanes;
    }

    // In a pull, what it misses and its in-neighbours have. Long rows wait for the whole block.
    __device__ number pull_row(int v, bool there, number full) {
        const number missing = there ? full & ~all_seen[place(v)] : 0;
        bool open = team_any(missing);
        Offset e = open ? __ldg(job.in_offsets + v) : 0, end = open ? __ldg(job.in_offsets + v + 1) : 0;
        if (end - e > job.long_row) end = e, open = false;
        return write_row(v, missing & ~look(missing, e, end, open));
    }

    // A long row, looked through by all teams of the block; the first one gets the lanes.
    __device__ number pull_long(int v, number full) {
        const number missing = full & ~all_seen[place(v)];
        if (!team_any(missing)) return 0;  // so for all teams
        if (threadIdx.x < WORDS) desk.gathered[threadIdx.x] = 0;
        __syncthreads();
        const number begin = __ldg(job.in_offsets + v), end = __ldg(job.in_offsets + v + 1);
        number left = missing;
        for (number first = begin + threadIdx.x / WARP * TEAMS * PIECE; first < end; first += BLOCK_TEAMS * PIECE) {
            const number e = first + my_team() * PIECE;
            left &= ~*(volatile number*)&desk.gathered[my_word()];
            const bool open = team_any(left) && e < end;
            const number after =
                look(left, (Offset)(e < end ? e : end), (Offset)(e + PIECE < end ? e + PIECE : end), open);
            if (left & ~after) atomicOr(&desk.gathered[my_word()], left & ~after);
            left = after;
            if (!__any_sync(EVERYONE, left != 0)) break;
        }
        __syncthreads();
        const number lanes = threadIdx.x < WORDS ? missing & desk.gathered[my_word()] : 0;
        __syncthreads();
        return write_row(v, lanes);
    }

    __device__ number write_row(int v, number lanes) {
        if (lanes) all_seen[place(v)] |= lanes;
        if (!team_any(lanes)) return 0;
        fresh[place(v)] = lanes;
        if (my_word() == 0) note(v);
        return lanes;
    }

    // All vertices that this level may find, and what is kept of them: those on the list after a push; in a pull every
    // vertex, a team each, and then the long rows, a block each.
    __device__ void settle(bool pulling, word tail) {
        const long long sources = group.count - 64ll * my_word();
        const number full = sources >= 64 ? ~0ull : sources > 0 ? (1ull << sources) - 1 : 0;
        const number size = pulling ? job.n : tail, longs = pulling ? job.long_count : 0;
        number i = first_team(), row = at.block;
        while (i < size || row < longs) {
            const bool shared = i >= size;
            const bool there = !shared && i + my_team() < size;
            int v = 0;
            number lanes;
            if (shared) {
                v = __ldg(job.long_rows + row);
                lanes = pull_long(v, full);
                row += at.blocks;
            } else {
                if (there) v = pulling ? (int)(i + my_team()) : group.list[turn % 2][i + my_team()];
                lanes = pulling ? pull_row(v, there, full) : settle_row(v, there);
                i += all_teams();
            }
            keep(v, team_any(lanes), lanes);
        }
    }
};

}  // namespace hopwave
