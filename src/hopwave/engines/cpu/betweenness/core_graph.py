"""The core of a graph: vertices of degree at least three, joined by edges and by chains of degree-2 vertices.

Every component is one block (biconnected), so that a chain has two different endpoints. Each chain c is stored twice,
once per endpoint: p = 2c from x, p ^ 1 = 2c + 1 from y.

    end[p]       the core vertex at which p begins           begin[p]   start of its numbers in the arrays below
    twice[..]    2 × the distance of its inner vertices from end[p], ascending, and a number larger than any distance
    sent[..]     prefix sums of its inner vertices' demand as sources, starting with 0; own_sent[..]: their demand
    taken[..]    prefix sums of their demand as targets; own_taken[..]: their demand
    table        from table_begin[p]: for each number, how many inner vertices have twice[..] < number << table_shift[p]
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hopwave.engines.cpu.intrinsics import outer

NEVER = np.int32(2**31 - 1)  # larger than any distance
LOOKED_AT = 64  # vertices around a batch that are considered: more vertices make long batches, and take time

# The core as workers read it. Arcs have lengths and counts: the number of edges and chains of this length, times the
# copies of the head (counts_back: of the tail); shift: 2^shift is at most the shortest length. half: whether pairs
# count once; entered: the first chain to which a core vertex sends; stride: see core_run.py. first_vertex, first_chain:
# of each component; `component`: of each core vertex. at, chains: the chains p that begin at a vertex. first, needed:
# batches of core vertices, and the rows that they read.
Core = namedtuple(
    "Core",
    "indptr heads lengths counts counts_back shift half stride entered component first_vertex first_chain at "
    "chains end begin size length twice sent taken own_sent own_taken table table_begin table_shift demand_out "
    "demand_in first needed needed_begin",
)


class Chains(namedtuple("Chains", "ends length size inner distance arcs edges")):
    """Chains in the numbers of the graph: ends, length, number of inner vertices; all inner vertices, their distances
    from x, and the arcs of all edges, one more per chain than inner vertices. `edges`: x, y, length, arc of others.
    """

    def rows(self, number: Any, count: int) -> Any:
        """Rows of the core graph (arcs_of); `number`: the number of each of its `count` vertices, −1 for others."""
        x, y = (np.concatenate([number[self.edges[:, k]], number[self.ends[:, k]]]) for k in (0, 1))
        return arcs_of(count, x, y, np.concatenate([self.edges[:, 2], self.length]))


def chains_of(graph: Any, label: Any, lengths: Any, copies: Any = None) -> tuple[Chains, Any]:
    """The chains of a graph and its core, by components; vertices with copies and their neighbours are in the core."""
    core = np.diff(graph.indptr) != 2
    if copies is not None:
        core |= copies > 1
        core[graph.indices[np.repeat(copies > 1, np.diff(graph.indptr))]] = True
    without = np.setdiff1d(label, label[core])
    if len(without):
        first = np.unique(label, return_index=True)
        chosen = first[1][np.searchsorted(first[0], without)]
        core[chosen] = True
        core[graph.indices[graph.indptr[chosen]]] = True
    found, kept = Chains(*arrays_of(walk_chains, graph.indptr, graph.indices, lengths, core)), np.flatnonzero(core)
    return found, kept[np.argsort(label[kept], kind="stable")]


def places(vertices: Any, n: int) -> Any:
    """The index of every vertex in a list of some; −1 for others."""
    place = np.full(n, -1, np.int64)
    place[vertices] = np.arange(len(vertices))
    return place


def arrays_of(compiled, *arguments):
    """Call compiled(…), which returns arrays. Ctrl-C while Numba boxes them raises a SystemError; this restores it."""
    try:
        return compiled(*arguments)
    except SystemError as error:
        cause: BaseException | None = error
        while isinstance(cause, SystemError):  # one SystemError per array after the first
            cause = cause.__cause__
        raise (cause if isinstance(cause, KeyboardInterrupt) else error) from None


@outer
def walk_chains(indptr, indices, lengths, core):
    """The arrays of Chains, each trimmed to its length."""
    n, m = core.size, indices.size
    ends, length, size = np.empty((m, 2), np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    inner, distance, arcs = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(m, np.int64)
    edges, seen = np.empty((m, 4), np.int64), np.zeros(n, np.bool_)
    chains, placed, walked, direct = 0, 0, 0, 0
    for x in range(n):
        if not core[x]:
            continue
        for j in range(np.int64(indptr[x]), np.int64(indptr[x + 1])):
            v, so_far, arc = np.int64(indices[j]), np.int64(lengths[j]), j
            if core[v]:
                if x < v:
                    edges[direct, 0], edges[direct, 1], edges[direct, 2], edges[direct, 3] = x, v, so_far, j
                    direct += 1
                continue
            if seen[v]:
                continue
            before, k = x, 0
            while True:
                arcs[walked] = arc
                walked += 1
                if core[v]:
                    break
                seen[v] = True
                inner[placed], distance[placed] = v, so_far
                placed += 1
                k += 1
                arc = np.int64(indptr[v])
                if indices[arc] == before:
                    arc += 1
                before, v, so_far = v, np.int64(indices[arc]), so_far + np.int64(lengths[arc])
            ends[chains, 0], ends[chains, 1], length[chains], size[chains] = x, v, so_far, k
            chains += 1
    return (
        ends[:chains], length[:chains], size[:chains], inner[:placed], distance[:placed], arcs[:walked], edges[:direct]
    )  # fmt: skip


def chained_arcs(indptr: Any, heads: Any, ends: Any) -> Any:
    """For each arc of a core graph, whether a chain joins its endpoints; `ends`: the two endpoints of each chain."""
    K = len(indptr) - 1
    arcs, found = np.repeat(np.arange(K), np.diff(indptr)) * K + heads, np.zeros(len(heads), np.bool_)
    for x, y in (ends.T, ends.T[::-1]):
        found[np.searchsorted(arcs, x * K + y)] = True
    return found


@outer
def grow_batches(indptr, heads, chained, most):
    """Core vertices in batches that share rows, each in depth-first order (cache lines); and where batches begin."""
    n = indptr.size - 1
    order, taken, begins = np.empty(n, np.int64), np.zeros(n, np.bool_), [0]
    waiting, waits, row = np.empty(n, np.int64), np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    following, count, looked_at = 0, 0, LOOKED_AT if most < n else 1  # a single batch has all rows anyway
    for end in range(n):
        b = len(begins)
        if count == 0:  # no neighbour remains: continue anywhere
            while taken[following]:
                following += 1
            waiting[0], waits[following], count = following, b, 1
        best, fewest = 0, n
        for i in range(min(count, looked_at)):
            v = waiting[i]
            new = -1 if row[v] == b else 0
            for j in range(indptr[v], indptr[v + 1]):
                new += chained[j] and row[heads[j]] != b
            if new < fewest:
                best, fewest = i, new
        v = waiting[best]
        count -= 1
        for i in range(best, count):
            waiting[i] = waiting[i + 1]
        order[end], taken[v], row[v] = v, True, b
        for j in range(indptr[v], indptr[v + 1]):
            w = heads[j]
            if chained[j]:
                row[w] = b
            if not taken[w] and waits[w] != b:
                waiting[count], waits[w] = w, b
                count += 1
        if end + 1 - begins[-1] == most or end + 1 == n:
            begins.append(end + 1)
            count = 0
    batch, stack, found = np.empty(n, np.int64), np.empty(heads.size + n, np.int64), np.empty(n, np.int64)
    for b in range(len(begins) - 1):
        batch[order[begins[b] : begins[b + 1]]] = b
    end = 0
    for v in order:
        b, stack[0] = batch[v], v
        top = 1 if b >= 0 else 0  # −1: already placed
        while top > 0:
            top -= 1
            u = stack[top]
            if batch[u] < 0:
                continue
            batch[u], found[end] = -1, u
            end += 1
            for j in range(indptr[u], indptr[u + 1]):
                if batch[heads[j]] == b:
                    stack[top] = heads[j]
                    top += 1
    return found, np.array(begins)


@outer
def needed_rows(first, at, chains, end):
    """The rows that each batch needs: its core vertices, then the other endpoints of their chains; and their starts."""
    mark = np.full(at.size - 1, -1, np.int64)
    needed = np.empty(at.size - 1 + chains.size, np.int64)
    begins, used = np.zeros(first.size, np.int64), 0
    for batch in range(first.size - 1):
        for v in range(first[batch], first[batch + 1]):
            mark[v] = batch
            needed[used] = v
            used += 1
        for slot in range(at[first[batch]], at[first[batch + 1]]):
            f = end[chains[slot] ^ 1]
            if mark[f] != batch:
                mark[f] = batch
                needed[used] = f
                used += 1
        others = begins[batch] + first[batch + 1] - first[batch]
        needed[others:used] = np.sort(needed[others:used])  # ascending, so that neighbouring rows are close in memory
        begins[batch + 1] = used
    return needed[:used], begins


@outer
def fill_chains(size, begins, length, distance, demand):
    """twice, sent, taken, own_sent, own_taken, table, table_begin, table_shift of all chains, from either end."""
    twice, sums, own = np.zeros(begins[-1], np.int32), np.zeros((2, begins[-1])), np.zeros((2, begins[-1]))
    table_begin, shift = np.zeros(2 * size.size + 1, np.int64), np.zeros(2 * size.size, np.int64)
    placed = 0
    for p in range(2 * size.size):
        c, k = p >> 1, size[p >> 1]
        for i in range(k):
            v = placed + (k - 1 - i if p & 1 else i)
            away = length[c] - distance[v] if p & 1 else distance[v]
            twice[begins[p] + i] = 2 * away
            for side in range(2):
                own[side, begins[p] + i] = demand[v, side]
                sums[side, begins[p] + i + 1] = sums[side, begins[p] + i] + demand[v, side]
        twice[begins[p] + k] = NEVER
        while (2 * length[c]) >> shift[p] >= 4 * (k + 1):
            shift[p] += 1
        table_begin[p + 1] = table_begin[p] + ((2 * length[c]) >> shift[p]) + 1
        placed += k if p & 1 else 0
    table = np.zeros(table_begin[-1], np.int32)
    for p in range(2 * size.size):
        found = 0
        for cell in range(table_begin[p + 1] - table_begin[p]):
            while twice[begins[p] + found] < cell << shift[p]:
                found += 1
            table[table_begin[p] + cell] = found
    return twice, sums[0], sums[1], own[0], own[1], table, table_begin, shift


@outer
def chain_scores(C, through, sums, starts, ends, vertex, edge):
    """Scores of inner vertices, and of the edges of chains, one more per chain than inner vertices."""
    first, single, into = sums
    placed = 0
    for c in range(through.size):
        size = C.size[2 * c]
        by = np.zeros((2, size + 1))  # flow through each edge of the chain, counted from x: towards x, and towards y
        for side in range(2):
            begin, out, inn = C.begin[2 * c + side], 0.0, 0.0
            own = np.empty(size)
            for i in range(size - 1, -1, -1):
                out += first[begin + i + 1]
                inn += into[begin + i + 1]
                own[i] = C.own_sent[begin + i] * (out + single[begin + i]) + C.own_taken[begin + i] * inn
            total = 0.0
            for i in range(size - 1, -1, -1):  # farthest vertex first
                total += own[i]
                by[side, size - i if side else i] = total
        inside = 0.0
        for i in range(size + 1):
            edge[placed + c + i] = through[c] + by[0, i] + by[1, i] + inside
            if i < size:
                vertex[placed + i] = through[c] + by[0, i + 1] + by[1, i] + (inside - ends[placed + i])
                inside += starts[placed + i] - ends[placed + i]
        placed += size


def arcs_of(K: int, x: Any, y: Any, length: Any) -> tuple[Any, Any, Any, Any, tuple[Any, Any]]:
    """Rows of the core graph: offsets, heads, minimum lengths, number of arcs of that length; arcs per pair; pairs."""
    low, high = np.minimum(x, y), np.maximum(x, y)
    pair = low * np.int64(K) + high
    order = np.lexsort((length, pair))
    first = np.ones(len(order), bool)
    first[1:] = pair[order[1:]] != pair[order[:-1]]
    group = np.cumsum(first) - 1
    best = length[order][first]
    tight = length[order] == best[group]
    count = np.bincount(group[tight], minlength=len(best)).astype(np.float64)
    low, high = low[order][first], high[order][first]
    tails, heads = np.concatenate([low, high]), np.concatenate([high, low])
    rows = np.argsort(tails * np.int64(K) + heads)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=K))])
    place = np.empty(len(rows), np.int64)
    place[rows] = np.arange(len(rows))
    both = np.stack([place[: len(best)], place[len(best) :]], axis=1)  # the two arcs of a pair of endpoints
    pair = np.empty(len(order), np.int64)
    pair[order] = np.where(tight, group, -1)
    return indptr, heads[rows], np.tile(best, 2)[rows], np.tile(count, 2)[rows], (both, pair)
