"""The run of core_sums.py: which vertices are searched from, in which batches, and what follows from their rows."""

from __future__ import annotations

import numpy as np

from hopwave import engines
from hopwave.engines.cpu.betweenness import core_graph as cores
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.many import core_sums as kernels
from hopwave.engines.cpu.many.hanging_trees import down_the_trees
from hopwave.engines.cpu.workers import new_control, run_workers
from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails

BYTES_OF_ROWS = 1 << 27  # of a batch
PIECE = 64  # vertices of a chain that one worker takes


class CoreSums:
    """Sums of distances of all vertices of a graph. `trees`: a Trees of it; `lengths`: whole numbers, None for hops.

    `graph` is what is searched: the given one without its trees, its vertices in another order (`kept`). `gain`: of
    work, which the caller knows.
    """

    gain = 0.0

    def __init__(self, whole, trees, lengths):
        self._whole, self._trees, weighted = whole, trees, lengths is not None
        self._unit = whole.weights[0] / lengths[0] if weighted and whole.m else 1.0
        rest = np.flatnonzero(trees.parent < 0)
        graph, along = _renumbered(whole, rest, lengths if weighted else np.ones(whole.m, np.int64))
        label = engines.engine("cpu").components(graph, False)
        is_core = cores.core_vertices(graph, label)
        found = cores.Chains(*cores.arrays_of(cores.walk_chains, graph.indptr, graph.indices, along, is_core))
        kept = np.flatnonzero(is_core)
        kept = kept[np.argsort(label[kept], kind="stable")]
        number = np.full(graph.n, -1, np.int64)
        number[kept] = np.arange(len(kept))
        x, y = (np.concatenate([number[found.edges[:, k]], number[found.ends[:, k]]]) for k in (0, 1))
        indptr, heads, *_ = cores.arcs_of(len(kept), x, y, np.concatenate([found.edges[:, 2], found.length]))
        size = max(8, min(4096, BYTES_OF_ROWS // ((8 if weighted else 4) * max(1, graph.n))))
        chained = cores.chained_arcs(indptr, heads, number[found.ends])
        order, self._first = cores.arrays_of(cores.grow_batches, indptr, heads, chained, size)
        kept = kept[order]
        number[kept] = np.arange(len(kept))  # core vertices in the order of their batches
        self.searched, self.chains = len(kept), len(found.size)
        self._number(graph, rest, label, kept, number, found, along if weighted else None)

    def _number(self, graph, rest, label, kept, number, found, lengths):
        """Number the vertices: components, in them the core in the order of batches, then chains."""
        ends = number[found.ends].reshape(-1, 2)
        owner = np.argmin(ends, axis=1)
        by_owner = np.argsort(ends.min(axis=1), kind="stable")
        starts, size = np.cumsum(found.size) - found.size, found.size[by_owner]
        begins = np.cumsum(size) - size
        inner = found.inner[np.repeat(starts[by_owner] - begins, size) + np.arange(size.sum())]
        listed = np.concatenate([kept, inner])
        listed = listed[np.argsort(label[listed], kind="stable")]
        place = np.empty(graph.n, np.int64)
        place[listed] = np.arange(graph.n)
        self.kept, trees = rest[listed], self._trees
        self.graph, along = _renumbered(graph, listed, np.ones(graph.m, np.int64) if lengths is None else lengths)
        if lengths is not None:
            self.graph = self.graph.with_weights(along * self._unit)
        labels, counts = np.unique(label[listed], return_counts=True)
        ends_of = np.cumsum(counts)
        component = np.searchsorted(labels, label[listed])
        at = np.zeros(graph.n)
        at[place[found.inner]] = found.distance * self._unit
        hang = trees.order
        new = np.full(self._whole.n, -1, np.int64)
        new[self.kept] = np.arange(graph.n)
        hang = hang[np.lexsort((trees.depth[hang], new[trees.root[hang]]))]
        self._hanging, of = hang, new[trees.root[hang]]
        tree = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=graph.n))])
        new[hang] = np.arange(len(hang))  # places in a tree from here on
        parent = trees.parent[hang]
        above = np.where(trees.parent[parent] < 0, -1, new[parent])
        first = place[found.inner[starts[by_owner]]]
        kind = np.int32 if lengths is None else np.float64
        self._parts = kernels.Parts(
            (ends_of - counts)[component], ends_of[component], trees.size[self.kept].astype(kind),
            trees.height[self.kept].astype(kind), at, tree,
            trees.depth[hang], above, of, first, first + size, place[found.ends[by_owner, 0]],
            place[found.ends[by_owner, 1]], found.length[by_owner] * self._unit,
        )  # fmt: skip
        self._core = place[kept]  # by its number
        self._alone = np.stack([np.full(len(kept), -1), self._core, self._core + 1], axis=1)
        p = 2 * by_owner + owner[by_owner]  # seen from the end that comes first; in the order of these ends
        both = ends.reshape(-1)
        slots = np.concatenate([[0], np.cumsum(np.bincount(both[p], minlength=len(kept)))])
        self._slots = slots
        self._needed, self._needed_begin = cores.arrays_of(cores.needed_rows, self._first, slots, p, both)
        self.rows, self.widest = len(self._needed), int(np.diff(self._needed_begin).max(initial=0))

    @property
    def nbytes(self):
        """Bytes of what is searched, its parts, and the trees."""
        searched = self.graph.indptr, self.graph.indices, self.graph.weights
        arrays = (*self._parts, *self._trees, *searched, self._needed, self._alone, self.kept)
        return sum(one.nbytes for one in arrays if one is not None)

    def run(self, rows_of, inverse, threads, poll):
        """Of all vertices of the whole graph: reached, and Σ 1/d (`inverse`) or Σ d and the greatest d.

        rows_of(graph, sources): their rows of distances."""
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
            shared = kernels.Shared(rows, row, items, inverse, total, outside, sums, new_control())
            states = [kernels.Own(np.zeros(widest)) for _ in range(max(1, min(thread_count(threads), len(items))))]
            with compiling(kernels.take_items):
                run_workers(kernels.take_items, P, states, shared, lambda _: None)
            del rows, shared  # before the next ones are made
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
        """Items of these chains, none of many vertices."""
        P = self._parts
        pieces = -(-(P.last[begin:end] - P.first[begin:end]) // PIECE)
        chain = np.repeat(np.arange(begin, end), pieces)
        number = np.arange(len(chain)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        first = P.first[chain] + PIECE * number
        return np.stack([chain, first, np.minimum(first + PIECE, P.last[chain])], axis=1)


def _renumbered(graph, vertices, lengths):
    """The graph of these vertices in this order, without loops, and the lengths of its arcs."""
    number = np.full(graph.n, -1, np.int64)
    number[vertices] = np.arange(len(vertices))
    tails, heads = number[arc_tails(graph)], number[graph.indices]
    arcs = np.flatnonzero((tails >= 0) & (heads >= 0) & (tails != heads))
    arcs = arcs[np.argsort(tails[arcs] * np.int64(len(vertices)) + heads[arcs], kind="stable")]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tails[arcs], minlength=len(vertices)))])
    return Graph(indptr.astype(graph.indptr.dtype), heads[arcs].astype(np.int32), directed=False), lengths[arcs]
