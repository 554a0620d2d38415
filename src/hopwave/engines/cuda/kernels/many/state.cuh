// Searches from many sources at once: what its steps share.
//
//   group       the sources that are searched from at once, up to 64 WORDS of them
//   row         a vertex's WORDS words of 64 bits; bit b of word w stands for source 64 w + b of the group
//   seen        rows: the sources that have reached a vertex
//   front       rows: those that did in the level before            fresh   rows: those that do in this level
//   team        WORDS threads of a warp, which take a row, a word each; a warp has TEAMS of them
//
// Rows of front and fresh are never cleared: what an earlier level left in one has been handed on to all neighbours then,
// so it is in their rows of seen, and whatever is in seen is masked.
//
// All threads of a warp go through a loop together, teams that have nothing left too: so a warp may count by votes.
#pragma once
#include "common/atoms.cuh"

namespace hopwave {

enum Keep { SUMS = 1, COLUMNS = 2, ROWS = 4, PAIRS = 8 };  // hopwave/engines/cuda/many.py

constexpr int STAGE = 1024;  // vertices that a block notes before it must bother the others
constexpr int ABREAST = 4;   // neighbours whose rows are on their way at a time
constexpr int PIECE = 64;    // neighbours that a team takes of a long row, before it asks what the others found
constexpr int PLANES = 6;    // of a counter kept in bits: up to 63 additions

// What a level adds up to, over the grid.
struct __align__(128) Standing {
    number arcs, checked, pairs;  // out-arcs of the found; in-arcs looked at; (source, vertex) pairs that are new
    word tail, longs;             // vertices found; those of them with long rows
};

struct Counters {
    Standing standing[3];  // of this turn, the one before, and one that is cleared for the next
    __align__(128) word arrived;
    __align__(128) number listed;  // pairs written, or that would be had there been room
};

// Everything, 8 bytes a field: the record MANY of hopwave/engines/cuda/many.py. The launch is cut into `grids` parts of
// the whole grid that take a group of sources each; what a part works in comes `grids` times, one after another.
template <class Offset>
struct Many {
    const Offset* offsets;
    const int* neighbours;
    const Offset* in_offsets;
    const int *in_neighbours, *long_rows;  // the vertices with long in-rows
    number* state;                         // a part: seen, even, odd; the last two take turns as front and fresh
    word* touched;                         // a part: bitmap: in the list already; all 0 between levels
    int *lists, *longs;                    // a part: twice, by level: the vertices found, those with long out-rows
    word* counts;                          // a part: twice, by level: vertices new to a source
    Counters* counters;                    // a part: one
    const int* sources;                    // of all groups
    const long long *places, *reach;       // a source's row of the table; pairs that a group can find at most
    long long *reached, *total, *farthest;
    double* inverse;
    long long *histogram, *columns;
    int* rows;
    number* pairs;
    long long n, grids, first, last, width, count;  // groups [first, last) of the `count` sources, `width` a group
    long long long_count, long_row, long_room, limit, keep;
    long long hops, shift;  // of columns: w(d) = d, or 2^shift / d
    long long upwards, room, vertex_bits, depth_bits;
    long long push_cost, expected;
};

// One group in its part of the grid.
struct Group {
    number *seen, *even, *odd;
    word* touched;
    int *list[2], *longs[2];
    word* counts[2];
    Counters* counters;
    long long first, count;  // of its sources
};

template <int WORDS>
struct Desk {
    word counts[64 * WORDS];
    int stage[STAGE];
    word staged, base;
    number sums[BLOCK / WARP][3];
    number gathered[WORDS];
    Group group;
};

// This block's place in its part of the grid. Parts lie across one another, so that each has some of every multiprocessor.
struct Place {
    word part, block, blocks;

    __device__ Place(long long grids)
        : part(blockIdx.x % (word)grids), block(blockIdx.x / (word)grids), blocks(gridDim.x / (word)grids) {}
    __device__ number thread() const { return (number)block * BLOCK + threadIdx.x; }
    __device__ number threads() const { return (number)blocks * BLOCK; }
};

// All blocks of a part meet here; what was written before is seen after.
__device__ inline void meet(word* arrived, word& target, word blocks) {
    target += blocks;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1u);
        while ((int)(*(volatile word*)arrived - target) < 0) __nanosleep(20);
        __threadfence();
    }
    __syncthreads();
}

}  // namespace hopwave
