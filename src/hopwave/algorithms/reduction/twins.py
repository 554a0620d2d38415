"""Twins: vertices with the same neighbours at the same lengths become one, which stands for all of them.

    open, closed   twins that are no neighbours of each other, and twins that are, at a length λ
    m              how many vertices a class of twins stands for

All other vertices see twins alike, and no shortest path between others, or from one of the class, leads through two of
them. So one search per class serves all its sources, where a class counts m times the paths that reach one of it
(jobs.BetweennessJob.copies); every vertex has 1/m of the score of its class, and every edge 1/m of that of each end.
Demand may differ within a class: it is added up. The score of an edge then depends on it; so for edges, only twins with
the same demand are merged.

Two twins are λ apart, or twice the length to their nearest neighbours, each of which is on one of the shortest paths:
what such pairs add to scores needs no search. (Puzis et al. 2015 merge structurally equivalent vertices, Sariyüce et
al. 2013 open and closed twins, "type-I and type-II identical vertices".)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.reduction.union import Union, work_of
from hopwave.arrays import seeded
from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails
from hopwave.graph.csr import offset_type
from hopwave.planning.jobs import Floats, Integers

LEAST_GAIN = 1.05  # work without merging twins, divided by the work with it
LEAST_SHARE = 1 / 20  # of all vertices, merged with another: with fewer, they are not worth a look


def first_alike(graph: Graph, weighted: bool, kind: Integers | None = None) -> npt.NDArray[np.int32]:
    """Of every vertex the first that is its twin, or itself, by a hash of neighbours; twins are of the same `kind`.

    >>> first_alike(Graph.from_edges([0, 1, 2, 0, 3], [1, 2, 3, 3, 4]), False).tolist()  # a square and a tail
    [0, 1, 0, 3, 4]
    """
    code = seeded(1).integers(0, 1 << 63, graph.n, np.uint64)
    tails, heads, odd = arc_tails(graph), graph.indices, np.ones(1, np.uint64)
    if weighted:
        odd = np.asarray(graph.weights, np.float64).view(np.uint64) * np.uint64(2) + odd
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(code[heads] * odd)])
    rows = np.diff(sums[graph.indptr])
    if kind is not None:
        rows += seeded(2).integers(0, 1 << 63, graph.n, np.uint64)[kind]
    order = np.argsort(rows, kind="stable")
    new = np.ones(graph.n, np.bool_)
    new[1:] = rows[order[1:]] != rows[order[:-1]]
    first = np.empty(graph.n, np.int32)
    first[order] = order[new][np.cumsum(new) - 1]
    closed = rows[tails] + code[tails] * odd == rows[heads] + code[heads] * odd
    np.minimum.at(first, tails[closed], heads[closed])
    return first


def share_of_twins(graph: Graph, weighted: bool) -> float:
    """How many of all vertices would be merged with another."""
    return float(np.mean(first_alike(graph, weighted) != np.arange(graph.n))) if graph.n else 0.0


class Twins:
    """As a Union, with one vertex per class of twins; and `copies`, which is m."""

    def __init__(self, union: Union, weighted: bool, first: npt.NDArray[np.int32]) -> None:
        whole, demand = union.graph, union.demand
        kept = np.flatnonzero(first == np.arange(whole.n))
        self._first, self._demand = first, demand
        self._of = of = np.searchsorted(kept, first)
        self.copies = np.bincount(of).astype(np.float64)
        self.demand: Any = np.stack([np.bincount(of, column, len(kept)) for column in demand.T], axis=1)
        self._ends = tails, heads = arc_tails(whole), whole.indices
        self._length = np.asarray(whole.weights, np.float64) if weighted else np.ones(whole.m)
        arcs = np.flatnonzero((first[tails] == tails) & (first[heads] == heads))
        self._x, self._y = of[tails[arcs]], of[heads[arcs]]
        indptr = np.zeros(len(kept) + 1, offset_type(len(arcs)))
        np.cumsum(np.bincount(self._x, minlength=len(kept)), out=indptr[1:])
        weights = self._length[arcs] if weighted else None
        self.graph = Graph(indptr, self._y.astype(np.int32), directed=False, weights=weights)
        self.work = work_of(self.graph, union.block[kept], self.demand)
        self._reach(self._length[arcs])

    def _reach(self, length: Floats) -> None:
        """How the twins of a class reach each other: `via` of every arc, whether over its head; `straight` of every
        class; and what one vertex sends to and takes from the others, on each of the shortest paths."""
        near, apart = np.full(len(self.copies), np.inf), np.full(len(self.copies), np.inf)
        np.minimum.at(near, self._x, length)
        tails, heads = self._ends
        within = self._of[tails] == self._of[heads]
        apart[self._of[tails[within]]] = self._length[within]
        self._via = (length == near[self._x]) & (2 * near <= apart)[self._x]
        self._straight = np.isfinite(apart) & (apart <= 2 * near)
        paths = np.bincount(self._x[self._via], self.copies[self._y[self._via]], len(near)) + self._straight
        others = sums_of_others(self._of, self._demand)
        self._paths = np.maximum(paths, 1.0)
        self._out, self._into = (self._demand * others[:, ::-1] / self._paths[self._of][:, None]).T

    def are_right(self, kind: Integers | None = None) -> bool:
        """Whether the hash was right: twins have the same other neighbours, and all or none of their class."""
        first, (tails, heads), length = self._first, self._ends, self._length
        outer = first[tails] != first[heads]
        within = np.bincount(tails[~outer], minlength=len(first))
        full = np.bincount(first, minlength=len(first))[first] - 1
        count = np.bincount(tails[outer], minlength=len(first))
        same = [within == within[first], (within == 0) | (within == full), count == count[first]]
        if not all(one.all() for one in same) or (kind is not None and (kind != kind[first]).any()):
            return False
        begin = np.cumsum(count) - count
        there = np.arange(len(tails[outer])) + np.repeat(begin[first] - begin, count)
        apart = np.zeros(len(first))
        apart[first[tails[~outer]]] = length[~outer]
        alike = [(one == one[there]).all() for one in (heads[outer], length[outer])]
        return all(alike) and bool((apart[first[tails[~outer]]] == length[~outer]).all())

    def vertex_sums(self, sums: Floats) -> Floats:
        """Scores of all vertices, of those of classes."""
        pairs = np.bincount(self._of, self._out, len(self.copies))
        between = np.bincount(self._y[self._via], pairs[self._x[self._via]], len(self.copies))
        found: Floats = (sums / self.copies + between)[self._of]
        return found

    def edge_sums(self, sums: Floats) -> Floats:
        """Scores of all arcs, of those between classes."""
        (tails, heads), of, classes = self._ends, self._of, np.int64(len(self.copies))
        x, y, a, b = of[tails], of[heads], *self._demand.T
        total: Floats = a[tails] * b[heads] * self._straight[x] / self._paths[x]  # of two twins
        outer, names = x != y, self._x * classes + self._y
        tails, heads, x, y = tails[outer], heads[outer], x[outer], y[outer]
        arc, back = np.searchsorted(names, x * classes + y), np.searchsorted(names, y * classes + x)
        through = sums[arc] / (self.copies[x] * self.copies[y])
        total[outer] = through + self._via[arc] * self._out[tails] + self._via[back] * self._into[heads]
        return total


def sums_of_others(of: Integers, demand: Floats) -> Floats:
    """Of every vertex the demand of all others of its class: sums, never differences.

    >>> sums_of_others(np.array([0, 1, 0, 0]), np.array([[1.0], [2.0], [3.0], [4.0]])).ravel().tolist()
    [7.0, 0.0, 5.0, 4.0]
    """
    found, order, size = np.zeros_like(demand), np.argsort(of, kind="stable"), np.bincount(of)
    for several in np.unique(size[size > 1]):
        members = order[size[of[order]] == several].reshape(-1, several)
        for way in (members, members[:, ::-1]):
            found[way[:, 1:]] += np.cumsum(demand[way], axis=1)[:, :-1]
    return found


def merged(union: Union, weighted: bool, edges: bool) -> Twins | None:
    """The union with one vertex per class of twins, if that is less work."""
    kind: Any = np.unique(union.demand, axis=0, return_inverse=True)[1].reshape(-1) if edges else None
    first = first_alike(union.graph, weighted, kind)
    if not np.count_nonzero(first != np.arange(len(first))) > LEAST_SHARE * len(first):
        return None
    found = Twins(union, weighted, first)
    return found if union.work >= LEAST_GAIN * found.work and found.are_right(kind) else None
