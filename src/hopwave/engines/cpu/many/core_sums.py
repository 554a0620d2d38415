"""Sums of distances of vertices without a search, from the rows of distances of vertices with one.

Trees attached to the rest need no search. Along the edge from p to v, of length ℓ, the `size` vertices of v's branch
come nearer and all others move away: Σ d(v) = Σ d(p) + ℓ · (reached − 2 · size). A component that is a tree keeps one
vertex. The rest has core vertices and chains of degree-2 vertices, with endpoints a and b in the core and a length L.

    from an inner vertex at α to x outside the chain      min(d(a, x) + α, d(b, x) + L − α)
    to one at β                                           min(|α − β|, L + d(a, b) − |α − β|)
    to a vertex of the tree at x                          plus its depth
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hopwave import engines
from hopwave.engines.cpu.betweenness import core_graph as cores
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.intrinsics import INNER, atomic_add, inner, noinline, outer, uncounted
from hopwave.engines.cpu.views import read_only
from hopwave.engines.cpu.workers import FINISHED, new_control, next_batch, run_workers
from hopwave.graph import Graph
from hopwave.graph.csr import arc_tails
from hopwave.system.numba_cache import njit

# ------------------------------------------------------------------ trees

# order: the removed vertices, leaves first. Per vertex: parent, or −1 if it was not removed; length of the edge to the
# parent; root and depth: where its tree is attached, and at what distance; size and height of its branch; second: the
# height of its second highest branch.
Trees = namedtuple("Trees", "order parent length root depth size height second")


def hanging_trees(graph: Any, weighted: bool) -> Trees:
    """All attached trees of an undirected graph without parallel edges; depths in the graph's lengths, or in hops."""
    lengths = np.asarray(graph.weights, np.float64) if weighted else np.zeros(0)
    return Trees(*cores.arrays_of(take_away, graph.indptr, graph.indices, read_only(lengths)))


@outer
def take_away(indptr, indices, lengths):
    n = indptr.size - 1
    left, queue, tail = np.zeros(n, np.int64), np.empty(n, np.int64), 0  # left: remaining neighbours
    for v in range(n):
        for j in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            left[v] += np.int64(indices[j]) != v
        if left[v] == 1:
            queue[tail] = v
            tail += 1
    order, parent, length, count, i = np.empty(n, np.int64), np.full(n, -1, np.int64), np.zeros(n), 0, 0
    size, height, second = np.ones(n), np.zeros(n), np.zeros(n)
    while i < tail:
        v = queue[i]
        i += 1
        if left[v] == 0:  # the last vertex of a component
            continue
        for j in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            p = np.int64(indices[j])
            if p != v and left[p] > 0 and parent[p] < 0:
                break
        order[count], parent[v], left[v] = v, p, 0
        count += 1
        length[v] = lengths[j] if lengths.size else 1.0
        size[p] += size[v]
        reach = height[v] + length[v]
        second[p] = max(second[p], min(height[p], reach))
        height[p] = max(height[p], reach)
        left[p] -= 1
        if left[p] == 1:
            queue[tail] = p
            tail += 1
    root, depth = np.arange(n), np.zeros(n)
    for i in range(count - 1, -1, -1):
        v = order[i]
        root[v], depth[v] = root[parent[v]], depth[parent[v]] + length[v]
    return order[:count], parent, length, root, depth, size, height, second


@outer
def down_the_trees(order, parent, length, size, height, second, reached, total, outside):
    """From the roots outwards: Σ d, and the largest distance to vertices outside a vertex's branch (`outside`)."""
    for i in range(order.size - 1, -1, -1):
        v = order[i]
        p = parent[v]
        total[v] = total[p] + length[v] * (reached[v] - 2.0 * size[v])
        beside = second[p] if height[v] + length[v] == height[p] else height[p]
        outside[v] = length[v] + max(outside[p], beside)


# ------------------------------------------------------------------ passes over rows

# Per vertex x: begin, end: of its component; weight, height: number of vertices in its tree, including x, and its
# height; at: distance from the endpoint a of its chain; tree: start of its tree's vertices. Per tree vertex: depth,
# above (its parent among them, or −1 for x) and place (x). Per chain: its first vertex, its last + 1, its endpoints,
# its length.
Parts = namedtuple("Parts", "begin end weight height at tree depth above place first last a b length")
# items: (chain, begin, end), vertices whose sums are wanted, or (−1, x, x + 1) in the core; row: index in `rows` of a
# core vertex. inverse: whether Σ 1/d is wanted, in `sums`, of all vertices and then of trees; otherwise Σ d, and the
# largest distance to vertices outside the tree.
Shared = namedtuple("Shared", "rows row items inverse total outside sums control")
Own = namedtuple("Own", "distance")

# Sums of distances are exact in any order, so they may be added in vector registers. Slices, and sums of the rows'
# type, allow the compiler to vectorise.
SUMMED = INNER | {"fastmath": {"reassoc", "nnan", "nsz"}}


@njit(**SUMMED)
def add_distances(ra, near, rb, far, weight, height, begin, end, total):
    """`total` + Σ d, and the largest d, to a range of vertices; all vertices of a tree count as if at its root."""
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
    """Σ d and the largest d, like `add_distances`, to vertices of the same chain."""
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
    noinline()
    total, ra, rb = 0.0, ra[begin:end], rb[begin:end]
    for x in range(ra.size):
        total += 1.0 / np.float64(min(ra.dtype.type(ra[x] + near), ra.dtype.type(rb[x] + far)))
    return total


@njit(**SUMMED)
def add_inverse_of_trees(ra, near, rb, far, place, depth, begin, end):
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


@inner
def outside_inverse(P, x, ra, near, rb, far, first, last, around, more):
    """Σ 1/d to all vertices outside the tree of x, from a vertex of this tree at depth `more`."""
    noinline()
    low, high, tree = P.begin[x], P.end[x], P.tree
    found = add_inverse(ra, near + more, rb, far + more, low, first)
    found += add_inverse(ra, near + more, rb, far + more, last, high)
    found += add_inverse_of_trees(ra, near + more, rb, far + more, P.place, P.depth, tree[low], tree[first])
    found += add_inverse_of_trees(ra, near + more, rb, far + more, P.place, P.depth, tree[last], tree[high])
    found += add_inverse_in_chain(P.at[x], P.at, around, more, tree, P.depth, first, x)
    return found + add_inverse_in_chain(P.at[x], P.at, around, more, tree, P.depth, x + 1, last)


@inner
def inside_inverse(P, begin, end, u, distance):
    """Σ 1/d between a vertex u of a tree and the tree's other vertices; u < begin is the root."""
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
    for j in range(begin, end):  # parents precede their children
        d = distance[j - begin]
        if d < 0.0:
            p = above[j]
            d = own + depth[j] if p < begin else distance[p - begin] + (depth[j] - depth[p])
            distance[j - begin] = d
        if j != u:
            found += 1.0 / d
    return found


@inner
def fill(P, shared, own, x, ra, near, rb, far, first, last, around):
    """All sums of x; for Σ 1/d, also those of its tree's vertices. first, last: the vertices of its chain, or x."""
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


@outer
def take_items(P, own, shared):
    P, own, shared = uncounted(P), uncounted(own), uncounted(shared)
    control, items, rows, row = shared.control, shared.items, shared.rows, shared.row
    zero = rows.dtype.type(0)
    while True:
        i, stop = next_batch(control, 1, items.shape[0])
        if i == stop:
            return
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


# ------------------------------------------------------------------ runs

BYTES_OF_ROWS = 1 << 27  # bytes of the rows of a batch
PIECE = 64  # vertices of a chain per work item


class CoreSums:
    """Sums of distances of all vertices, from searches of `graph`: the rest without `trees`, renumbered."""

    gain = 0.0

    def __init__(self, whole, trees, lengths):
        self._whole, self._trees, weighted = whole, trees, lengths is not None
        self._unit = whole.weights[0] / lengths[0] if weighted and whole.m else 1.0
        rest = np.flatnonzero(trees.parent < 0)
        graph, along = _renumbered(whole, rest, lengths if weighted else np.ones(whole.m, np.int64))
        label = engines.engine("cpu").components(graph, False)
        found, kept = cores.chains_of(graph, label, along)
        number = cores.places(kept, graph.n)
        indptr, heads, *_ = found.rows(number, len(kept))
        size = max(8, min(4096, BYTES_OF_ROWS // ((8 if weighted else 4) * max(1, graph.n))))
        chained = cores.chained_arcs(indptr, heads, number[found.ends])
        order, self._first = cores.arrays_of(cores.grow_batches, indptr, heads, chained, size)
        kept = kept[order]
        number[kept] = np.arange(len(kept))  # core vertices in the order of their batches
        self.searched, self.chains = len(kept), len(found.size)
        self._number(graph, rest, label, kept, number, found, along if weighted else None)

    def _number(self, graph, rest, label, kept, number, found, lengths):
        """Number the vertices: by component, in each the core in the order of batches, then chains."""
        ends = number[found.ends].reshape(-1, 2)
        owner = np.argmin(ends, axis=1)
        by_owner = np.argsort(ends.min(axis=1), kind="stable")
        starts, size = np.cumsum(found.size) - found.size, found.size[by_owner]
        begins = np.cumsum(size) - size
        inner = found.inner[np.repeat(starts[by_owner] - begins, size) + np.arange(size.sum())]
        listed = np.concatenate([kept, inner])
        listed = listed[np.argsort(label[listed], kind="stable")]
        place = cores.places(listed, graph.n)
        self.kept, trees = rest[listed], self._trees
        self.graph, along = _renumbered(graph, listed, np.ones(graph.m, np.int64) if lengths is None else lengths)
        if lengths is not None:
            self.graph = self.graph.with_weights(along * self._unit)
        labels, counts = np.unique(label[listed], return_counts=True)
        ends_of = np.cumsum(counts)
        component = np.searchsorted(labels, label[listed])
        at = np.zeros(graph.n)
        at[place[found.inner]] = found.distance * self._unit
        hang, new = trees.order, cores.places(self.kept, self._whole.n)
        hang = hang[np.lexsort((trees.depth[hang], new[trees.root[hang]]))]
        self._hanging, of = hang, new[trees.root[hang]]
        tree = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=graph.n))])
        new[hang] = np.arange(len(hang))  # from here: indices within a tree
        parent = trees.parent[hang]
        above = np.where(trees.parent[parent] < 0, -1, new[parent])
        first = place[found.inner[starts[by_owner]]]
        kind = np.int32 if lengths is None else np.float64
        self._parts = Parts(
            (ends_of - counts)[component], ends_of[component], trees.size[self.kept].astype(kind),
            trees.height[self.kept].astype(kind), at, tree,
            trees.depth[hang], above, of, first, first + size, place[found.ends[by_owner, 0]],
            place[found.ends[by_owner, 1]], found.length[by_owner] * self._unit,
        )  # fmt: skip
        self._core = place[kept]  # by its number
        self._alone = np.stack([np.full(len(kept), -1), self._core, self._core + 1], axis=1)
        p = 2 * by_owner + owner[by_owner]  # seen from the endpoint that comes first; in the order of these endpoints
        both = ends.reshape(-1)
        self._slots = slots = np.concatenate([[0], np.cumsum(np.bincount(both[p], minlength=len(kept)))])
        self._needed, self._needed_begin = cores.arrays_of(cores.needed_rows, self._first, slots, p, both)
        self.rows, self.widest = len(self._needed), int(np.diff(self._needed_begin).max(initial=0))

    @property
    def nbytes(self):
        searched = self.graph.indptr, self.graph.indices, self.graph.weights
        arrays = (*self._parts, *self._trees, *searched, self._needed, self._alone, self.kept)
        return sum(one.nbytes for one in arrays if one is not None)

    def run(self, rows_of, inverse, threads, poll):
        """For all vertices: reached, and Σ 1/d (`inverse`) or Σ d and the largest d. rows_of(graph, sources): rows."""
        P, trees, whole, done = self._parts, self._trees, self._whole, 0
        total, outside = (np.zeros(0 if inverse else self.graph.n) for _ in range(2))
        sums = np.zeros(whole.n if inverse else 0)
        row = np.zeros(self.graph.n, np.int64)
        widest = int(np.diff(P.tree).max(initial=0))
        for b in range(len(self._first) - 1):
            needed = self._core[self._needed[self._needed_begin[b] : self._needed_begin[b + 1]]]
            row[needed] = np.arange(len(needed))
            rows = rows_of(self.graph, needed)
            begin, end = self._first[b], self._first[b + 1]
            items = np.concatenate([self._alone[begin:end], self._pieces_of(*self._slots[[begin, end]])])
            shared = Shared(rows, row, items, inverse, total, outside, sums, new_control())
            states = [Own(np.zeros(widest)) for _ in range(max(1, min(thread_count(threads), len(items))))]
            run_workers(take_items, P, states, shared, lambda _: None)
            del rows, shared  # before the next rows are allocated
            done += int(end - begin)
            poll(done)
        label = engines.engine("cpu").components(whole, False)
        reached = np.bincount(label)[label].astype(np.float64)
        if inverse:
            found = np.zeros(whole.n)
            found[self.kept], found[self._hanging] = sums[: self.graph.n], sums[self.graph.n :]
            return reached, found
        depths = np.bincount(label, trees.depth)[label]
        sum_of, beyond = np.zeros(whole.n), np.zeros(whole.n)
        sum_of[self.kept], beyond[self.kept] = total + depths[self.kept], outside
        down_the_trees(
            trees.order, trees.parent, trees.length, trees.size, trees.height, trees.second, reached, sum_of, beyond
        )
        return reached, sum_of, np.maximum(beyond, trees.height)

    def _pieces_of(self, begin, end):
        P = self._parts
        pieces = -(-(P.last[begin:end] - P.first[begin:end]) // PIECE)
        chain = np.repeat(np.arange(begin, end), pieces)
        number = np.arange(len(chain)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        first = P.first[chain] + PIECE * number
        return np.stack([chain, first, np.minimum(first + PIECE, P.last[chain])], axis=1)


def _renumbered(graph, vertices, lengths):
    """The graph of these vertices in this order, without loops, and the lengths of its arcs."""
    number = cores.places(vertices, graph.n)
    tails, heads = number[arc_tails(graph)], number[graph.indices]
    arcs = np.flatnonzero((tails >= 0) & (heads >= 0) & (tails != heads))
    arcs = arcs[np.argsort(tails[arcs] * np.int64(len(vertices)) + heads[arcs], kind="stable")]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tails[arcs], minlength=len(vertices)))])
    return Graph(indptr.astype(graph.indptr.dtype), heads[arcs].astype(np.int32), directed=False), lengths[arcs]
