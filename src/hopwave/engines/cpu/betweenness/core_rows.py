"""One row of the core: all pairs whose path leaves for the core at e. See algorithms/reduction/chains.py.

    d, s       distances and path counts from e              T   demand at every core vertex, for paths from e
    f          the other end of a chain p that begins at e   h   inner vertices of p nearer than h/2 to e leave there

What is added up, one after another in a row of sums (`layout`): scores of core vertices; flows through core arcs; out,
inn: per chain p and inner vertex, what leaves or comes in by end[p], per unit of its demand, as differences between
neighbours; starts, ends: what begins or ends at an inner vertex and stays in the chain.
"""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.intrinsics import INNER, noinline
from hopwave.system.numba_cache import njit

FAR = np.int32(2**31 - 1)
TOO_MANY = 2.0**1000


@njit(**INNER)
def forward(C, e, low, high, d, s, order, buckets, following, vertices):
    """Distances, path counts and the order of vertices from e; buckets by length modulo their number (Dial). Returns
    the greatest path count."""
    noinline()
    for v in range(low, high):
        d[v], s[v] = FAR, 0.0
    width, entries, waiting, settled, here, most = buckets.size, 1, 1, 0, 0, 1.0
    d[e], s[e] = 0, 1.0
    vertices[0], following[0], buckets[0] = e, -1, 0
    while waiting > 0:
        entry = buckets[here % width]
        if entry < 0:
            here += 1
            continue
        buckets[here % width] = following[entry]
        waiting -= 1
        v = vertices[entry]
        if d[v] != here or s[v] < 0.0:
            continue
        paths = s[v]
        s[v] = -paths  # settled
        most = max(most, paths)
        order[settled] = v
        settled += 1
        for j in range(C.indptr[v], C.indptr[v + 1]):
            w, reached = C.heads[j], here + C.lengths[j]
            if reached < d[w]:
                d[w], s[w] = reached, paths * C.counts[j]
                vertices[entries], following[entries] = w, buckets[reached % width]
                buckets[reached % width] = entries
                entries += 1
                waiting += 1
            elif reached == d[w]:
                s[w] += paths * C.counts[j]
    for v in range(low, high):
        s[v] = -s[v]
    return most


@njit(**INNER)
def backward(C, e, d, s, order, settled, T, delta, V, flow):
    """Dependencies from the farthest vertex to e; they are added to V, the flows of arcs to flow."""
    noinline()
    for i in range(settled - 1, 0, -1):
        w = order[i]
        share = (T[w] + delta[w]) / s[w]
        V[w] += delta[w]
        delta[w] = 0.0
        if share == 0.0:
            continue
        here = d[w]
        for j in range(C.indptr[w], C.indptr[w + 1]):
            v = C.heads[j]
            if d[v] + C.lengths[j] == here:
                part = s[v] * C.counts[j] * share
                delta[v] += part
                flow[j] += part
    delta[e] = 0.0


@njit(**INNER)
def below(twice, begin, size, h):
    """How many inner vertices of a chain are nearer than h/2."""
    if h <= twice[begin]:
        return 0
    if h > twice[begin + size - 1]:
        return size
    low, high = 0, size - 1  # twice[low] < h <= twice[high]
    while high - low > 1:
        middle = (low + high) >> 1
        if twice[begin + middle] < h:
            low = middle
        else:
            high = middle
    return high


@njit(**INNER)
def enter(C, q, low, tie, by_x, by_y, tie_x, tie_y, inn):
    """Demand of sources that come to chain q: by_x to its first `low` vertices, by_y to the last; a tie splits."""
    begin, size = C.begin[q], C.size[q]
    if by_x != 0.0 and low > 0:
        inn[begin] += by_x
        inn[begin + low] -= by_x
    other, rest = C.begin[q ^ 1], size - low - (1 if tie else 0)
    if by_y != 0.0 and rest > 0:
        inn[other] += by_y
        inn[other + rest] -= by_y
    if tie:
        if tie_x != 0.0:
            inn[begin + low] += tie_x
            inn[begin + low + 1] -= tie_x
        if tie_y != 0.0:
            inn[other + rest] += tie_y
            inn[other + rest + 1] -= tie_y


@njit(**INNER)
def to_core(C, e, p, low, high, de, se, df, sf, T, out):
    """Inner sources of chain p that leave at e, to core vertices. Returns what passes e."""
    noinline()
    begin, size, length = C.begin[p], C.size[p], C.length[p]
    twice, sent, B = C.twice, C.sent, C.demand
    passes = 0.0
    for z in range(low, high):
        amount = B[z, 1]
        h = length + df[z] - de[z]
        if amount == 0.0 or h < twice[begin]:
            continue
        nearer = below(twice, begin, size, h)
        leaves = sent[begin + nearer]
        if nearer > 0:
            out[begin] += amount
            out[begin + nearer] -= amount
        if nearer < size and twice[begin + nearer] == h:
            share = se[z] / (se[z] + sf[z])
            leaves += (sent[begin + nearer + 1] - sent[begin + nearer]) * share
            out[begin + nearer] += amount * share
            out[begin + nearer + 1] -= amount * share
        T[z] += leaves * amount
        if z != e:
            passes += leaves * amount
    return passes


@njit(**INNER)
def walk(C, e, p, i, q, de, se, df, sf, T, V, out, inn):
    """One inner source of p, for which the ends of q are not reached by the same exit, to chain q; what leaves at e."""
    noinline()
    begin, x, y = C.begin[p] + i, C.end[q], C.end[q ^ 1]
    near = np.int64(C.twice[begin]) >> 1
    far = C.length[p] - near
    demand = C.sent[begin + 1] - C.sent[begin]
    x_here, x_there, y_here, y_there = near + de[x], far + df[x], near + de[y], far + df[y]
    to_x, to_y = min(x_here, x_there), min(y_here, y_there)
    paths_x = (se[x] if x_here == to_x else 0.0) + (sf[x] if x_there == to_x else 0.0)
    paths_y = (se[y] if y_here == to_y else 0.0) + (sf[y] if y_there == to_y else 0.0)
    h = C.length[q] + to_y - to_x
    at, size = C.begin[q], C.size[q]
    low = below(C.twice, at, size, h)
    tie = low < size and C.twice[at + low] == h
    high = low + (1 if tie else 0)
    first, last = C.taken[at + low], C.taken[at + size] - C.taken[at + high]
    middle = C.taken[at + high] - C.taken[at + low]
    share_x = se[x] / paths_x if x_here == to_x else 0.0
    share_y = se[y] / paths_y if y_here == to_y else 0.0
    both = paths_x + paths_y
    tie_x = se[x] / both if x_here == to_x else 0.0
    tie_y = se[y] / both if y_here == to_y else 0.0
    by_x, by_y = first * share_x + middle * tie_x, last * share_y + middle * tie_y
    if by_x + by_y == 0.0:
        return 0.0
    T[x] += demand * by_x
    T[y] += demand * by_y
    if x != e:
        V[x] += demand * by_x
    if y != e:
        V[y] += demand * by_y
    out[begin] += by_x + by_y
    out[begin + 1] -= by_x + by_y
    enter(C, q, low, tie, demand * share_x, demand * share_y, demand * tie_x, demand * tie_y, inn)
    return demand * (by_x + by_y)


@njit(**INNER)
def to_chain(C, e, q, de, se, rows_d, rows_s, place, T, V, out, inn):
    """All that leaves at e, from e itself and from chains at e, to the inner vertices of chain q, but from q itself."""
    x, y, at, size = C.end[q], C.end[q ^ 1], C.begin[q], C.size[q]
    whole, demand = C.taken[at + size], C.demand[e, 0]
    passes = 0.0
    for slot in range(C.at[e], C.at[e + 1]):
        p = C.chains[slot]
        if p >> 1 == q >> 1:
            continue
        df, begin, length = rows_d[place[C.end[p ^ 1]]], C.begin[p], C.length[p]
        h_x, h_y = length + df[x] - de[x], length + df[y] - de[y]
        least, most = min(h_x, h_y), max(h_x, h_y)
        if most < C.twice[begin]:
            continue
        nearer = below(C.twice, begin, C.size[p], least)
        if nearer > 0:
            demand += C.sent[begin + nearer]
            passes += C.sent[begin + nearer] * whole
            out[begin] += whole
            out[begin + nearer] -= whole
        upto = below(C.twice, begin, C.size[p], most + 1)
        for i in range(nearer, upto):
            sf = rows_s[place[C.end[p ^ 1]]]
            passes += walk(C, e, p, i, q, de, se, df, sf, T, V, out, inn)
    if demand == 0.0:
        return passes
    h = C.length[q] + de[y] - de[x]
    low = below(C.twice, at, size, h)
    tie = low < size and C.twice[at + low] == h
    high = low + (1 if tie else 0)
    tie_x = se[x] / (se[x] + se[y]) if tie else 0.0
    middle = C.taken[at + high] - C.taken[at + low]
    by_x = demand * (C.taken[at + low] + middle * tie_x)
    by_y = demand * (whole - C.taken[at + high] + middle * (1.0 - tie_x))
    T[x] += by_x
    T[y] += by_y
    if x != e:
        V[x] += by_x
    if y != e:
        V[y] += by_y
    enter(C, q, low, tie, demand, demand, demand * tie_x, demand * (1.0 - tie_x), inn)
    return passes


@njit(**INNER)
def within(C, e, p, de, se, T, V, out, inn, starts, ends):
    """Pairs of inner vertices of one chain p from e: around by both ends; straight ones once, from x."""
    noinline()
    begin, size, f = C.begin[p], C.size[p], C.end[p ^ 1]
    other, around, paths = C.begin[p ^ 1], C.length[p] + de[f], se[f]
    twice, sent, taken = C.twice, C.sent, C.taken
    passes, first = 0.0, 0
    straight = p & 1 == 0
    for i in range(size):
        far = twice[begin + i] + around
        low = below(twice, begin, size, far)
        tie = low < size and twice[begin + low] == far
        high = low + (1 if tie else 0)
        a, b = sent[begin + i + 1] - sent[begin + i], taken[begin + i + 1] - taken[begin + i]
        amount = taken[begin + size] - taken[begin + high]
        if tie:
            share = paths / (1.0 + paths)
            at = taken[begin + high] - taken[begin + low]
            amount += at * share
            inn[other + size - high] += a * share
            inn[other + size - high + 1] -= a * share
        if high < size:
            inn[other] += a
            inn[other + size - high] -= a
        out[begin + i] += amount
        out[begin + i + 1] -= amount
        T[f] += a * amount
        V[f] += a * amount
        passes += a * amount
        if not straight:
            continue
        starts[i] += a * (taken[begin + low] - taken[begin + i + 1]) + b * (sent[begin + low] - sent[begin + i + 1])
        while twice[begin + first] + around <= twice[begin + i]:  # the first that reaches i straight
            first += 1
        ends[i] += b * (sent[begin + i] - sent[begin + first]) + a * (taken[begin + i] - taken[begin + first])
        if tie:
            a_there, b_there = sent[begin + high] - sent[begin + low], taken[begin + high] - taken[begin + low]
            both = (a * b_there + b * a_there) / (1.0 + paths)
            starts[i] += both
            ends[low] += both
    return passes
