"""One row of the core: all pairs whose paths enter the core at e. See algorithms/reduction/__init__.py.

    d, s   distances and path counts from e                 T   demand at every core vertex, for paths from e
    p      a chain that begins at e, to its other end f     q   a chain that is entered, with endpoints x and y
    h      inner vertices of p at less than h/2 from e leave at e, and one at h/2 leaves at both ends
    code   2 × the number of inner vertices nearer than h/2, plus 1 if one is at h/2

A row of sums has consecutive parts: scores of core vertices; flows through core arcs; and per chain p that begins at e,
`first` and `single`: demand that the first inner vertices, or one of them, send through e, per unit; `into`: demand
that enters through e for the first inner vertices; starts, ends: pairs inside the chain, at their beginning and end.
All terms are positive, so that small scores keep their precision.
"""

import numpy as np

from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import inner, noinline, outer, prefetch, prefetch_to_write

TOO_MANY = 2.0**1000
TOGETHER = 16  # chains at e whose codes are stored at a time
FAR = np.int32(2**30)  # larger than every distance; adding a length does not overflow
AHEAD = np.uint64(12)  # prefetch distance (vertices): the adjacency list of the vertex this far ahead is prefetched


@inner
def search(C, e, low, high, d, s, order, buckets, following, vertices):
    """Fill d and s for the vertices [low, high) by Dial's buckets, and list them by distance. Returns the largest s."""
    noinline()
    indptr, heads, lengths, counts, shift = C.indptr, C.heads, C.lengths, C.counts, C.shift
    for v in range(np.uint64(low), np.uint64(high)):
        d[v], s[v] = FAR, 0.0
    mask, entries, settled, here, most = buckets.size - 1, U1, U0, 0, 1.0
    waiting = 1
    d[e] = 0
    vertices[0], following[0], buckets[0] = e, -1, 0
    while waiting > 0:
        slot = np.uint64(here & mask)
        if buckets[slot] < 0:
            here += 1
            continue
        entry = np.uint32(buckets[slot])
        v = np.uint32(vertices[entry])
        buckets[slot] = following[entry]
        waiting -= 1
        if s[v] > 0.0:  # already settled
            continue
        reached, paths = d[v], 1.0 if v == e else 0.0
        order[settled] = v
        settled += U1
        for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
            w = np.uint32(heads[j])
            known, by = d[w], s[w] * counts[j]
            paths += by if known + lengths[j] == reached else 0.0
            there = reached + lengths[j]
            if there < known:
                d[w] = there
                slot = np.uint64((there >> shift) & mask)
                vertices[entries], following[entries] = w, buckets[slot]
                buckets[slot] = entries
                entries += U1
                waiting += 1
        s[v] = paths
        most = max(most, paths)
    return most


@inner
def go_back(C, e, order, d, s, T, x, V, flow):
    """Add the dependencies of all vertices on e to V, and the flows of arcs to flow; x: (demand + dependency) / s."""
    noinline()
    indptr, heads, lengths, counts = C.indptr, C.heads, C.lengths, C.counts_back
    i = np.uint64(order.size)
    while i > U0:
        i -= U1
        v, then = np.uint32(order[i]), indptr[np.uint32(order[i - min(i, AHEAD)])]
        prefetch(heads, then)
        prefetch(lengths, then)
        prefetch(counts, then)
        prefetch_to_write(flow, then)
        here, paths, total = d[v], s[v], 0.0
        for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
            w = np.uint32(heads[j])
            share = x[w] * counts[j]
            share = share if here + lengths[j] == d[w] else 0.0
            flow[j] += paths * share
            total += share
        x[v] = T[v] / paths + total
        if v != e:
            V[v] += paths * total


@inner
def to_core(C, e, p, k, many, low, high, de, se, df, sf, T, first, codes):
    """Pairs from inner sources of p that leave at e to core vertices, and p's codes. Returns the flow through e."""
    noinline()
    begin_z, nearest = low, np.int64(-1)
    if C.half:
        begin_z = nearest = min(C.end[p], C.end[p ^ 1])  # which sends to the chain itself
    begin, length = C.begin[p], np.int64(C.length[p])
    twice, sent, own, B = C.twice, C.sent, C.own_sent, C.demand_in
    table, table_begin, shift = C.table, C.table_begin[p], C.table_shift[p]
    passes = 0.0
    for z in range(begin_z, high):
        amount = B[z] if z != nearest else 0.0
        h = length + df[z] - de[z]
        found = np.int64(table[table_begin + (h >> shift)])
        while twice[begin + found] < h:
            found += 1
        at = begin + found
        leaves = sent[at]
        if twice[at] == h:
            share = se[z] / (se[z] + sf[z])
            leaves += own[at] * share
            first[at] += amount * (1.0 - share)
            first[at + 1] += amount * share
            codes[(z - low) * many + k] = 2 * found + 1
        else:
            first[at] += amount
            codes[(z - low) * many + k] = 2 * found
        if z != e:
            T[z] += leaves * amount
            passes += leaves * amount
    return passes


@inner
def way_to(code, i, near, far, d, s, other_d, other_s):
    """Paths from inner source i of a chain to a core vertex: their number, the share through e, and the distance."""
    if 2 * i < code - 1:
        return s, 1.0, near + d
    if 2 * i + 1 == code:  # through both ends
        return s + other_s, s / (s + other_s), near + d
    return other_s, 0.0, far + other_d


@inner
def enter(C, q, h, amount, paths_x, share_x, paths_y, share_y, into):
    """Let `amount` enter a chain at both ends, meeting at h/2 from x. Returns what each end passes on, per unit."""
    twice, taken, begin_x = C.twice, C.taken, C.begin[q]
    found = np.int64(C.table[C.table_begin[q] + (h >> C.table_shift[q])])
    while twice[begin_x + found] < h:
        found += 1
    from_x, from_y = begin_x + found, C.begin[q + 1] + C.size[q] - found
    if twice[from_x] != h:
        into[from_x] += amount * share_x
        into[from_y] += amount * share_y
        return taken[from_x] * share_x, taken[from_y] * share_y
    from_y -= 1
    both = 1.0 / (paths_x + paths_y)
    tie_x, tie_y, middle = share_x * paths_x * both, share_y * paths_y * both, C.own_taken[from_x]
    into[from_x] += amount * (share_x - tie_x)
    into[from_x + 1] += amount * tie_x
    into[from_y] += amount * (share_y - tie_y)
    into[from_y + 1] += amount * tie_y
    return taken[from_x] * share_x + middle * tie_x, taken[from_y] * share_y + middle * tie_y


@inner
def to_chains(C, e, demand_of_e, slots, low, chains, de, se, rows_d, rows_s, place, codes, T, first, single, into):
    """Flow from e to inner vertices of other chains, each pair once if pairs count once; returns the flow through e."""
    noinline()
    half, entered = C.half, C.entered[e]
    begin_slot, end_slot = slots
    many, passes = end_slot - begin_slot, 0.0
    chains_at, begins, sent, ends, lengths = C.chains, C.begin, C.sent, C.end, C.length
    for c in range(chains[0], chains[1]):
        q = 2 * c
        x, y, length = ends[q], ends[q + 1], lengths[q]
        whole, demand = C.taken[begins[q] + C.size[q]], 0.0
        for k in range(many):
            p = chains_at[begin_slot + k]
            if p >> 1 == c or (half and p >> 1 > c):
                continue
            code_x, code_y = codes[(x - low) * many + k], codes[(y - low) * many + k]
            least, most = min(code_x, code_y) >> 1, (max(code_x, code_y) + 1) >> 1
            at = begins[p] + least
            demand += sent[at]
            first[at] += whole
            for i in range(least, most):  # one by one
                there, at = place[ends[p ^ 1]], begins[p] + i
                near, alone = np.int64(C.twice[at]) >> 1, C.own_sent[at]
                far = lengths[p] - near
                paths_x, share_x, to_x = way_to(code_x, i, near, far, de[x], se[x], rows_d[there, x], rows_s[there, x])
                paths_y, share_y, to_y = way_to(code_y, i, near, far, de[y], se[y], rows_d[there, y], rows_s[there, y])
                by_x, by_y = enter(C, q, length + to_y - to_x, alone, paths_x, share_x, paths_y, share_y, into)
                T[x] += alone * by_x
                T[y] += alone * by_y
                single[at] += by_x + by_y
                passes += alone * (by_x + by_y)
        passes += demand * whole
        demand += demand_of_e if c >= entered else 0.0
        by_x, by_y = enter(C, q, length + np.int64(de[y]) - de[x], demand, se[x], 1.0, se[y], 1.0, into)
        T[x] += demand * by_x
        T[y] += demand * by_y
    return passes


@inner
def exact_sums(values):
    """Prefix sums of the values, and their rounding errors: differences of both are as accurate as sums."""
    sums, lost = np.zeros(values.size + 1), np.zeros(values.size + 1)
    for i in range(values.size):
        total = sums[i] + values[i]
        back = total - sums[i]
        sums[i + 1] = total
        lost[i + 1] = lost[i] + ((sums[i] - (total - back)) + (values[i] - back))
    return sums, lost


@inner
def span(sums, i, j):
    """The sum of values i to j − 1, from exact_sums."""
    return (sums[0][j] - sums[0][i]) + (sums[1][j] - sums[1][i])


@inner
def around(C, p, de, se, T, single, into):
    """Pairs of inner vertices of chain p that go around via both ends, and leave at e. Returns the flow through e."""
    noinline()
    begin, size, f, other = C.begin[p], C.size[p], C.end[p ^ 1], C.begin[p ^ 1]
    twice, share, passes, low = C.twice, se[f] / (1.0 + se[f]), 0.0, 0
    for i in range(size):
        far = np.int64(twice[begin + i]) + C.length[p] + de[f]
        while twice[begin + low] < far and low < size:
            low += 1
        a, amount, rest = C.own_sent[begin + i], 0.0, other + size - low
        if low < size and twice[begin + low] == far:  # for one vertex, both directions are equally long
            amount = C.own_taken[begin + low] * share + C.taken[rest - 1]
            into[rest - 1] += a * (1.0 - share)
            into[rest] += a * share
        else:
            amount = C.taken[rest]
            into[rest] += a
        single[begin + i] += amount
        T[f] += a * amount
        passes += a * amount
    return passes


@inner
def straight(C, p, distance, paths, starts, ends):
    """Pairs of inner vertices that stay inside chain p. `distance`, `paths`: between its endpoints, via the core."""
    noinline()
    begin, size, placed = C.begin[p], C.size[p], (C.begin[p] >> 1) - (p >> 1)  # placed: number of inner vertices before
    starts, ends = starts[placed : placed + size], ends[placed : placed + size]
    twice, first, low = C.twice[begin : begin + size], 0, 0
    a, b = C.own_sent[begin : begin + size], C.own_taken[begin : begin + size]
    sent, taken = exact_sums(a), exact_sums(b)
    way = np.int64(C.length[p]) + np.int64(distance)
    for i in range(size):
        while low < size and twice[low] < twice[i] + way:
            low += 1
        while twice[first] + way <= twice[i]:  # the first vertex that reaches i directly
            first += 1
        starts[i] += a[i] * span(taken, i + 1, low) + b[i] * span(sent, i + 1, low)
        ends[i] += b[i] * span(sent, first, i) + a[i] * span(taken, first, i)
        if low < size and twice[low] == twice[i] + way:
            both = (a[i] * b[low] + b[i] * a[low]) / (1.0 + paths)
            starts[i] += both
            ends[low] += both


@outer
def stay_inside(C, chains, between, starts, ends):
    """Pairs within one chain: `straight`, once per chain. `between`: distance and path count between its endpoints."""
    for p in chains:
        if p & 1 == 0:
            straight(C, p, between[p >> 1, 0], between[p >> 1, 1], starts, ends)
