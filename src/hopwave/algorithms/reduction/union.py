"""The blocks of a graph that need searches, as the components of one graph, with the demand attached to them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import seeded
from hopwave.graph import Graph
from hopwave.graph.csr import arc_tails, offset_type
from hopwave.planning.jobs import Floats, Integers
from hopwave.system.threads import imported


def as_whole(graph: Graph) -> npt.NDArray[np.int64] | None:
    """Lengths as integers in units of a power of 2, if all sums are exact in float64 and no length is 0; else None."""
    lengths = np.asarray(graph.weights, np.float64)
    if not len(lengths):
        return np.zeros(0, np.int64)
    if not (lengths > 0).all():
        return None
    mantissa, exponent = np.frexp(lengths)
    bits = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = exponent - 53 + np.round(np.log2((bits & -bits).astype(np.float64))).astype(np.int64)
    whole = np.ldexp(lengths, -int(lowest.min()))
    return whole.astype(np.int64) if whole.sum() < 2.0**53 else None


Labels = npt.NDArray[np.int32]


def work_of(graph: Graph, block: npt.NDArray[np.int32], demand: Floats) -> int:
    """The number of arcs inspected by all searches. `block`: the block of every vertex."""
    sources = np.bincount(block[demand[:, 0] > 0], minlength=block.max(initial=0) + 1)
    return int((sources[block] * np.diff(graph.indptr)).sum())


class Union:
    """`graph`: blocks of more than one edge as components, with integer lengths; `demand`: demand of its
    vertices as sources and targets; `block`: the block of each; `work`: the arcs inspected by all searches."""

    copies: Floats | None = None  # every vertex represents only itself

    def __init__(self, whole: Graph, label: Labels, head: Labels, arcs: Labels, own: Floats, weighted: bool) -> None:
        from hopwave.engines.cpu.blocks import behind  # compiled code, imported when first used

        self._whole, self._own, self._label, self._head, self._arcs = whole, own, label, head, arcs
        self._behind = behind(label, head, own)
        sizes = np.bincount(label[label >= 0], minlength=len(head)) + 1
        wide = sizes > 2
        inside = label >= 0
        inside[inside] = wide[label[inside]]
        self._members, chosen = np.flatnonzero(inside), np.flatnonzero(wide)
        self._origin = np.concatenate([self._members, head[chosen]])  # vertices of the union → of the graph
        self.blocks = len(chosen)
        as_member, as_head = np.full(whole.n, -1, np.int32), np.full(len(head), -1, np.int32)
        as_member[self._members] = np.arange(len(self._members))
        as_head[chosen] = len(self._members) + np.arange(len(chosen))
        self.demand = np.concatenate([self._behind.below[self._members], self._behind.at_head[chosen]])
        self._kept = np.flatnonzero((arcs >= 0) & wide[arcs]) if len(head) else np.zeros(0, np.int64)
        of, ends = arcs[self._kept], (arc_tails(whole)[self._kept], whole.indices[self._kept])
        tails, heads = (np.where(label[end] == of, as_member[end], as_head[of]) for end in ends)
        order = np.argsort(tails * np.int64(len(self._origin)) + heads, kind="stable")  # long runs are already sorted
        self._kept = self._kept[order]  # arcs of the union → of the graph
        n = len(self._origin)
        indptr = np.zeros(n + 1, offset_type(len(order)))
        np.cumsum(np.bincount(tails, minlength=n), out=indptr[1:])
        lengths = as_whole(whole) if weighted else None
        weights = None if lengths is None else lengths[self._kept].astype(np.float64)
        self.graph = Graph(indptr, heads[order], directed=False, weights=weights)
        self.block = np.concatenate([label[self._members], chosen])
        self.work = work_of(self.graph, self.block, self.demand)

    def vertex_sums(self, sums: Floats, endpoints: bool) -> Floats:
        """Scores of all vertices: sums over their blocks and over pairs between branches."""
        total = np.bincount(self._origin, sums, minlength=self._whole.n) + self._behind.passes
        if endpoints:
            total += self._own[:, 0] * self._behind.others[:, 1] + self._own[:, 1] * self._behind.others[:, 0]
        return total

    def edge_sums(self, sums: Floats) -> Floats:
        """Scores of all arcs. An edge that is a block counts all pairs across it."""
        total = np.zeros(self._whole.m)
        total[self._kept] = sums
        alone = np.setdiff1d(np.flatnonzero(self._arcs >= 0), self._kept, assume_unique=True)
        block, tails, heads = self._arcs[alone], arc_tails(self._whole)[alone], self._whole.indices[alone]
        below, at_head = self._behind.below, self._behind.at_head
        outward = self._label[heads] == block  # away from the head of the block
        total[alone] = np.where(outward, at_head[block, 0] * below[heads, 1], below[tails, 0] * at_head[block, 1])
        return total


# ---------------------------------------------------------------- twins

#     open, closed   twins that are not adjacent, and twins that are adjacent, at length λ
#     m              number of vertices in a class of twins
#
# Twins have equal distances to all other vertices, and no shortest path between others, or from the class, visits two
# of them. So one search per class serves all its sources. A class counts m times the paths that reach one twin
# (jobs.BetweennessJob.copies); every vertex has 1/m of the score of its class, and every edge 1/m of that of each end.
# Demand may differ within a class: it is summed. The score of an edge then depends on the demand; for edges, only twins
# with the same demand are merged.
#
# Two twins are λ apart, or twice the length to their nearest neighbours, each of which is on a shortest path. The
# contribution of such pairs needs no search. (Puzis et al. 2015 merge structurally equivalent vertices, Sariyüce et
# al. 2013 open and closed twins, "type-I and type-II identical vertices".)


LEAST_TWIN_GAIN = 1.05  # minimum ratio of the work without and with merged twins
LEAST_SHARE = 1 / 20  # minimum share of vertices with an earlier twin for merging


def first_alike(graph: Graph, weighted: bool, kind: Integers | None = None) -> npt.NDArray[np.int32]:
    """The first twin of every vertex, or itself, by a hash of neighbours; twins have the same `kind`."""
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


def worth_merging(first: npt.NDArray[np.int32]) -> bool:
    """Whether enough vertices have an earlier twin."""
    return bool(np.count_nonzero(first != np.arange(len(first))) > LEAST_SHARE * len(first))


class Twins:
    """A Union with one vertex per class of twins; `copies`: the number m of twins in each class."""

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
        """Compute how twins reach each other: via the head of an arc (`via`, per arc) or along their own edge
        (`straight`, per class), and the demand from and to the other twins on each of the shortest paths."""
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
        """Whether the hash was correct: twins have the same neighbours outside their class, and all or none inside."""
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
        """Scores of all vertices, from the scores of classes."""
        pairs = np.bincount(self._of, self._out, len(self.copies))
        between = np.bincount(self._y[self._via], pairs[self._x[self._via]], len(self.copies))
        return (sums / self.copies + between)[self._of]

    def edge_sums(self, sums: Floats) -> Floats:
        """Scores of all arcs, from the scores of arcs between classes."""
        (tails, heads), of, classes = self._ends, self._of, np.int64(len(self.copies))
        x, y, a, b = of[tails], of[heads], *self._demand.T
        total: Floats = a[tails] * b[heads] * self._straight[x] / self._paths[x]  # between two twins
        outer, names = x != y, self._x * classes + self._y
        tails, heads, x, y = tails[outer], heads[outer], x[outer], y[outer]
        arc, back = np.searchsorted(names, x * classes + y), np.searchsorted(names, y * classes + x)
        through = sums[arc] / (self.copies[x] * self.copies[y])
        total[outer] = through + self._via[arc] * self._out[tails] + self._via[back] * self._into[heads]
        return total


def sums_of_others(of: Integers, demand: Floats) -> Floats:
    """For every vertex, the demand of all others in its class, by sums and never by differences."""
    found, order, size = np.zeros_like(demand), np.argsort(of, kind="stable"), np.bincount(of)
    for several in np.unique(size[size > 1]):
        members = order[size[of[order]] == several].reshape(-1, several)
        for way in (members, members[:, ::-1]):
            found[way[:, 1:]] += np.cumsum(demand[way], axis=1)[:, :-1]
    return found


def merged(union: Union, weighted: bool, edges: bool) -> Twins | None:
    """The union with one vertex per class of twins, if merging is less work."""
    kind: Any = np.unique(union.demand, axis=0, return_inverse=True)[1].reshape(-1) if edges else None
    first = first_alike(union.graph, weighted, kind)
    if not worth_merging(first):
        return None
    found = Twins(union, weighted, first)
    return found if union.work >= LEAST_TWIN_GAIN * found.work and found.are_right(kind) else None


# ---------------------------------------------------------------- chains of vertices of degree two

#     a chain P has endpoints x ≠ y in the core, a length L, and inner vertices at distances α from x
#
# The core keeps the shortest arc per pair of endpoints and counts the edges and chains of this length. Every pair
# (s, t) becomes demand between core vertices: paths leave the chain of s and enter the chain of t at one end, or both
# in proportion to path counts. From s at α, paths to a core vertex w use x if 2α < L + d(y, w) − d(x, w), and y if it
# is more. So the inner vertices that leave at x for w are the first ones of the chain, and a lookup in its prefix sums
# adds all of them; chain to chain, only vertices between two such thresholds are handled one by one. One search and
# one backward pass per core vertex e, with the demand D(e, ·) that leaves there, then serve all sources of the graph.
#
# Scores inside a chain are sums of the demand through its two ends, the demand that stays inside, and an equal part
# of the demand over the core's arc. (Bentert et al. 2018 also avoid searches from vertices of degree two; that all
# pairs share one demand between core vertices is hopwave's. docs/reduction.md)
#
# Certificate: at every vertex, the scores of its edges add up to twice its own score plus the pairs that end there.


LEAST_INNER = 1 / 4  # minimum share of vertices of degree two: with fewer, the core saves little work
LEAST_CHAIN_GAIN = 2.0  # minimum ratio of arcs in searches of all sources to arcs in the core plus lookups


def core_of(part: Union | Twins, weighted: bool, engine: str, threads: int | None) -> Any:
    """A run of an engine over the core of a graph whose components are blocks, if this is less work."""
    graph = part.graph
    inner = np.count_nonzero(np.diff(graph.indptr) == 2)
    if inner <= LEAST_INNER * graph.n or (graph.m if graph.weights is None else graph.weights.sum()) >= 2**29:
        return None
    module = imported(f"hopwave.engines.{engine}.betweenness.core_run")  # compiled code, imported when first used
    run = module.CoreRun(graph, part.demand, weighted, threads, part.copies)
    return run if run.chains and run.possible and part.work >= LEAST_CHAIN_GAIN * (run.passes + run.lookups) else None


def both_sides(graph: Graph, demand: Floats, label: Any, vertices: Floats, edges: Floats) -> Floats:
    """Per vertex, the sum of its edges' scores and the required value: twice its score plus its own pairs.

    The required value counts the pair of a vertex with itself twice, so this pair is added to the sum.
    """
    a, b = demand.T
    all_a, all_b = (np.bincount(label, one)[label] for one in (a, b))
    found = np.bincount(arc_tails(graph), edges, minlength=graph.n) + 2 * a * b
    return np.stack([found, 2 * vertices + a * all_b + b * all_a], axis=1)
