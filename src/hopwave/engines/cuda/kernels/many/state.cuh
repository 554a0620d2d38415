// Searches from many sources at once: the state that their steps share.
//
//   group       the sources that are searched from at once, up to 64 · WORDS of them
//   row         WORDS words of 64 bits for a vertex; bit b of word w stands for source 64 w + b of the group
//   seen        rows: the sources that have reached a vertex
//   front       rows: the sources that did in the level before      fresh   rows: those that do in this level
//   subwarp     WORDS threads of a warp, which take a row together, one word each; a warp has SUBWARPS of them
//   subgrid     some blocks of the grid, which take a group together
//   turn        levels so far, of all groups that a subgrid has searched
//
// Rows of front and fresh are never cleared. Bits left by an earlier level were passed on to all neighbours then, so
// they are in the neighbours' rows of seen, and bits in seen are masked out.
//
// All threads of a warp stay in a loop together, even subwarps without work, so that the warp can use ballots.
#pragma once
#include "common/barrier.cuh"
#include "common/graph.cuh"
#include "common/rows.cuh"

namespace hopwave::many {

enum Keep { SUMS = 1, COLUMNS = 2, ROWS = 4, PAIRS = 8 };  // hopwave/engines/cuda/many.py

constexpr int STAGE = 1024;   // vertices that a block keeps in shared memory before it uses the list in global memory
constexpr int IN_FLIGHT = 4;  // neighbours whose rows a thread loads at a time
constexpr int PIECE = 64;     // neighbours of a long row that a subwarp takes before it checks what the others found
constexpr int PLANES = 6;     // bits of a counter (see Findings::count): up to 63 additions

// The sums of one level over a subgrid.
struct __align__(128) LevelSums {
  u64 arcs, checked, pairs;  // out-arcs of the vertices found; in-arcs read; new (source, vertex) pairs
  u32 tail, longs;           // vertices found; vertices found that have long rows
};

struct Counters {
  LevelSums sums[3];  // of this turn, of the one before, and one being cleared for the next
  __align__(128) u32 arrived;
  __align__(128) u64 listed;  // pairs found, even if there was no room to write them
};

// All arguments of a launch, 8 bytes per field. The grid is cut into `grids` subgrids, which take one group of sources
// each. Arrays marked "each" exist once per subgrid, one after another.
template <class Offset>
struct Many {
  const Offset *offsets;
  Neighbours<Offset> neighbours;
  const Offset *in_offsets;
  Neighbours<Offset> in_neighbours;
  const int *long_rows;       // the vertices with long in-rows
  u64 *state;                 // each: seen, even, odd; the last two take turns as front and fresh
  u32 *touched;               // each: bitmap of the vertices in the list; all 0 between levels
  int *lists, *longs;         // each, two by turn: the vertices found; the ones with long out-rows
  u32 *counts;                // each, two by turn: vertices new to each source
  Counters *counters;         // each: one
  const int *sources;         // of all groups, one after another
  const i64 *places, *reach;  // a source's row in `rows`; the most pairs that a group can find
  i64 *reached, *total, *farthest;
  double *inverse;
  i64 *histogram, *columns;
  int *rows;
  u64 *pairs;
  i64 n, grids, first, last, width, count;  // groups [first, last) of the `count` sources, `width` sources per group
  i64 long_count, long_row, long_room, limit, keep;
  i64 hops, shift;  // the weight of a distance d in columns: d, or 2^shift / d
  i64 upwards, room, vertex_bits, depth_bits;
  i64 push_cost, expected;
};

// One group and its subgrid's memory.
struct Group {
  u64 *seen, *even, *odd;
  u32 *touched;
  int *list[2], *longs[2];
  u32 *counts[2];
  Counters *counters;
  i64 first, count;  // its sources
};

// A block's shared memory.
template <int WORDS>
struct BlockState {
  u32 counts[64 * WORDS];
  int stage[STAGE];
  u32 staged, base;
  u64 sums[BLOCK / WARP][3];
  u64 gathered[WORDS];
  Group group;
};

// This block's subgrid, and its place there. Subgrids are interleaved, so that each has blocks on every multiprocessor.
struct Subgrid {
  u32 index, block, blocks;

  __device__ Subgrid(i64 grids)
      : index(blockIdx.x % (u32)grids), block(blockIdx.x / (u32)grids), blocks(gridDim.x / (u32)grids) {}
  __device__ u64 thread() const { return (u64)block * BLOCK + threadIdx.x; }
  __device__ u64 threads() const { return (u64)blocks * BLOCK; }
};

}  // namespace hopwave::many
