"""Sums of distances of vertices that are not searched from, out of the rows of distances of those that are.

The graph is what remains without its trees, one component after another: core vertices, then chains of vertices of
degree two, one after another. A chain has ends a and b in the core and a length L; d(a, b) goes any way.

    from an inner vertex at α to x outside of the chain   min(d(a, x) + α, d(b, x) + L − α)
    to one at β                                           min(|α − β|, L + d(a, b) − |α − β|)
    to a vertex of the tree at x                          its depth more

One such pass over a row is a few instructions per vertex, where a search chases pointers. Only Σ 1/d looks at every
vertex of a tree; Σ d and the greatest d take its size, its sum of depths and its height.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add, noinline, ordered_load, uncounted
from hopwave.engines.cpu.workers import FINISHED, NEXT_BATCH, STOP
from hopwave.system.numba_cache import njit

# For every vertex x: begin, end: of its component; weight, height: how many vertices its tree has with x, and how high
# it is; at: its distance from the end a of its chain; tree: where its tree's vertices begin. For each of these: depth,
# above (its parent among them, or −1 for x) and place (x). For every chain: its first vertex, its last + 1, its ends,
# its length.
Parts = namedtuple("Parts", "begin end weight height at tree depth above place first last a b length")
# items: (chain, begin, end), vertices whose sums are wanted, or (−1, x, x + 1) in the core; row: of a core vertex, in
# `rows`. inverse: whether Σ 1/d is wanted, in `sums`, of all vertices and then of trees; else Σ d, and the greatest
# distance to what is not in the tree.
Shared = namedtuple("Shared", "rows row items inverse total outside sums control")
Own = namedtuple("Own", "distance")

# Sums of distances are exact in any order, so they may be added in vector registers. Slices, and sums of the type of
# the rows, let the compiler do so.
SUMMED = INNER | {"fastmath": {"reassoc", "nnan", "nsz"}}


@njit(**SUMMED)
def add_distances(ra, near, rb, far, weight, height, begin, end, total):
    """`total` + Σ d, and the greatest d, from a vertex to a range of vertices and their trees.

    Σ takes every vertex of a tree as if it were at the root: depths are added elsewhere.
    """
    noinline()
    ra, rb, weight, height = ra[begin:end], rb[begin:end], weight[begin:end], height[begin:end]
    greatest = ra.dtype.type(0)
    for x in range(ra.size):
        d = min(ra.dtype.type(ra[x] + near), ra.dtype.type(rb[x] + far))
        total += weight[x] * d
        greatest = max(greatest, ra.dtype.type(d + height[x]))
    return total, greatest


@njit(**SUMMED)
def add_in_chain(here, at, around, weight, height, begin, end):
    """Σ d and the greatest d, as `add_distances`, to vertices of one's own chain."""
    noinline()
    total, greatest, at, weight, height = 0.0, 0.0, at[begin:end], weight[begin:end], height[begin:end]
    for y in range(at.size):
        straight = abs(here - at[y])
        d = min(straight, around - straight)
        total += weight[y] * d
        greatest = max(greatest, d + height[y])
    return total, greatest


@njit(**SUMMED)
def add_inverse(ra, near, rb, far, begin, end):
    """Σ 1/d."""
    noinline()
    total, ra, rb = 0.0, ra[begin:end], rb[begin:end]
    for x in range(ra.size):
        total += 1.0 / np.float64(min(ra.dtype.type(ra[x] + near), ra.dtype.type(rb[x] + far)))
    return total


@njit(**SUMMED)
def add_inverse_of_trees(ra, near, rb, far, place, depth, begin, end):
    """Σ 1/d to the vertices of trees."""
    noinline()
    total, place, depth = 0.0, place[begin:end], depth[begin:end]
    for j in range(place.size):
        x = place[j]
        total += 1.0 / (np.float64(min(ra[x] + near, rb[x] + far)) + depth[j])
    return total


@njit(**SUMMED)
def add_inverse_in_chain(here, at, around, more, tree, depth, begin, end):
    """Σ 1/d to vertices of the same chain and their trees."""
    noinline()
    total, at, tree = 0.0, at[begin:end], tree[begin : end + 1]
    for y in range(at.size):
        straight = abs(here - at[y])
        d = min(straight, around - straight) + more
        total += 1.0 / d
        for j in range(tree[y], tree[y + 1]):
            total += 1.0 / (d + depth[j])
    return total


@njit(**INNER)
def outside_inverse(P, x, ra, near, rb, far, first, last, around, more):
    """Σ 1/d to all that is not in the tree of x, from a vertex of this tree at depth `more`."""
    noinline()
    low, high, tree = P.begin[x], P.end[x], P.tree
    found = add_inverse(ra, near + more, rb, far + more, low, first)
    found += add_inverse(ra, near + more, rb, far + more, last, high)
    found += add_inverse_of_trees(ra, near + more, rb, far + more, P.place, P.depth, tree[low], tree[first])
    found += add_inverse_of_trees(ra, near + more, rb, far + more, P.place, P.depth, tree[last], tree[high])
    found += add_inverse_in_chain(P.at[x], P.at, around, more, tree, P.depth, first, x)
    return found + add_inverse_in_chain(P.at[x], P.at, around, more, tree, P.depth, x + 1, last)


@njit(**INNER)
def inside_inverse(P, begin, end, u, distance):
    """Σ 1/d between a vertex u of a tree and the others of it; u < begin is the root."""
    found, depth, above = 0.0, P.depth, P.above
    if u >= begin:
        found = 1.0 / depth[u]
    for j in range(begin, end):
        distance[j - begin] = -1.0
    j = u
    while j >= begin:
        distance[j - begin] = depth[u] - depth[j]
        j = above[j]
    own = depth[u] if u >= begin else 0.0
    for j in range(begin, end):  # parents come before their children
        d = distance[j - begin]
        if d < 0.0:
            p = above[j]
            d = own + depth[j] if p < begin else distance[p - begin] + (depth[j] - depth[p])
            distance[j - begin] = d
        if j != u:
            found += 1.0 / d
    return found


@njit(**INNER)
def fill(P, shared, own, x, ra, near, rb, far, first, last, around):
    """All sums of x; for Σ 1/d, those of its tree's vertices too. first, last: the vertices of its chain, or x."""
    noinline()
    low, high, tree = P.begin[x], P.end[x], P.tree
    if not shared.inverse:
        total, before = add_distances(ra, near, rb, far, P.weight, P.height, low, first, P.weight[0] * near * 0)
        total, behind = add_distances(ra, near, rb, far, P.weight, P.height, last, high, total)
        left, far_left = add_in_chain(P.at[x], P.at, around, P.weight, P.height, first, x)
        right, far_right = add_in_chain(P.at[x], P.at, around, P.weight, P.height, x + 1, last)
        shared.total[x] = np.float64(total) + left + right
        shared.outside[x] = max(np.float64(max(before, behind)), far_left, far_right)
        return
    sums, n = shared.sums, P.begin.size
    known, at = outside_inverse(P, x, ra, near, rb, far, first, last, around, ra.dtype.type(0)), 0.0
    sums[x] = known + inside_inverse(P, tree[x], tree[x + 1], tree[x] - 1, own.distance)
    for u in range(tree[x], tree[x + 1]):
        if P.depth[u] != at:
            at = P.depth[u]
            known = outside_inverse(P, x, ra, near, rb, far, first, last, around, ra.dtype.type(at))
        sums[n + u] = known + inside_inverse(P, tree[x], tree[x + 1], u, own.distance)


@njit(**COMPILED)
def take_items(P, own, shared):
    """A worker: core vertices, and pieces of chains, until none is left."""
    P, own, shared = uncounted(P), uncounted(own), uncounted(shared)
    control, items, rows, row = shared.control, shared.items, shared.rows, shared.row
    zero = rows.dtype.type(0)
    while ordered_load(control, STOP) == 0:
        i = atomic_add(control, NEXT_BATCH, 1)
        if i >= items.shape[0]:
            break
        c, begin, end = items[i]
        if c < 0:
            ra = rows[row[begin]]
            fill(P, shared, own, begin, ra, zero, ra, zero, begin, end, 0.0)
        else:
            first, last, a, b, length = P.first[c], P.last[c], P.a[c], P.b[c], P.length[c]
            ra, rb = rows[row[a]], rows[row[b]]
            around = length + np.float64(ra[b])
            for x in range(begin, end):
                near = rows.dtype.type(P.at[x])
                fill(P, shared, own, x, ra, near, rb, rows.dtype.type(length) - near, first, last, around)
        atomic_add(control, FINISHED, 1)
