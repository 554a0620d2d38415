// Row products: TurboBFS's gathers (Algorithms 4 and 5) and bottom-up searches (6 and 7), and push-pull's four
// (Algorithm 2: masked or not, with early exit or not, over the frontier or over all visited vertices).
#pragma once
#include "common/atoms.cuh"

namespace hopwave {

// operand is the bitmap that is looked for: the frontier, or the visited vertices, which mean the same here (push-pull,
// section 5.4) and save making the other. rows = all computes every row and applies the mask afterwards; unvisited
// skips the rows that are masked out. Without early exit a row is read to its end, as sums must.
//
// mapping = thread: a warp takes the 32 vertices of a word, a lane each, and a ballot makes the word of those found.
// mapping = warp: a warp takes one vertex; its lanes read 32 neighbours at a time and a shuffle adds up their sums.
template <class Offset, Mapping mapping, Rows rows, Operand kind, bool early_exit, bool counting>
__global__ void pull(
    const Offset* in_offsets, const int* in_neighbours, const Offset* offsets, int n, int depth, const word* operand,
    word* visited, word* next, int* distance, int* parent, double* sigma, number* counters) {
    Tally mine;
    if (mapping == Mapping::thread) {
        const number words = ((number)n + 31) / 32, warps = thread_count() / WARP;
        for (number w = thread_number() / WARP; w < words; w += warps) {
            const word seen = visited[w];
            const number v = 32 * w + lane();
            const bool masked = seen >> lane() & 1;
            int source = -1;
            double sum = 0.0;
            if (v < n && (rows == Rows::all || !masked)) {
                const Offset end = in_offsets[v + 1];
                for (Offset arc = in_offsets[v]; arc < end; ++arc) {
                    const int u = in_neighbours[arc];
                    mine.checked += 1;
                    if (!has(operand, u)) continue;
                    source = u;
                    if (counting) sum += sigma[u];
                    if (early_exit) break;
                }
            }
            const bool found = source >= 0 && !masked;
            if (found) {
                distance[v] = depth + 1;
                if (parent) parent[v] = source;
                if (counting) sigma[v] = sum;
                mine.found += 1;
                mine.edges += degree(offsets, (int)v);
            }
            const word bits = __ballot_sync(EVERYONE, found);
            if (lane() == 0) {
                next[w] = bits;
                if (kind == Operand::frontier && bits) visited[w] = seen | bits;  // a visited operand must stay as it is
            }
        }
    } else {
        const number warps = thread_count() / WARP;
        for (number v = thread_number() / WARP; v < n; v += warps) {
            // One lane looks, for the warp must agree: another warp may be setting its own bit of the same word.
            const bool masked = __shfl_sync(EVERYONE, has((const word*)visited, (int)v), 0);
            if (rows != Rows::all && masked) continue;
            const Offset begin = in_offsets[v], end = in_offsets[v + 1];
            int source = -1;
            double sum = 0.0;
            for (Offset first = begin; first < end; first += WARP) {
                const Offset arc = first + lane();
                bool here = false;
                if (arc < end) {
                    const int u = in_neighbours[arc];
                    mine.checked += 1;
                    here = has(operand, u);
                    if (here) source = u;
                    if (here && counting) sum += sigma[u];
                }
                if (early_exit && __any_sync(EVERYONE, here)) break;
            }
            const unsigned finders = __ballot_sync(EVERYONE, source >= 0);
            if (!finders || masked) continue;
            if (counting)
                for (int step = WARP / 2; step; step /= 2) sum += __shfl_down_sync(EVERYONE, sum, step);
            source = __shfl_sync(EVERYONE, source, __ffs(finders) - 1);
            if (lane() == 0) {
                distance[v] = depth + 1;
                if (parent) parent[v] = source;
                if (counting) sigma[v] = sum;
                atomicOr(&next[v / 32], 1u << (v % 32));
                if (kind == Operand::frontier) atomicOr(&visited[v / 32], 1u << (v % 32));
                mine.found += 1;
                mine.edges += degree(offsets, (int)v);
            }
        }
    }
    report(mine, counters);
}

}  // namespace hopwave
