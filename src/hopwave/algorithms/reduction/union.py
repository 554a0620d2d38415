"""The blocks of a graph that need searches, as the components of one graph, with the demand that hangs on them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.reduction.lengths import as_whole
from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails
from hopwave.graph.csr import offset_type
from hopwave.planning.jobs import Floats

Labels = npt.NDArray[np.int32]


def work_of(graph: Graph, block: npt.NDArray[np.int32], demand: Floats) -> int:
    """Arcs that all searches look at; `block` of every vertex."""
    sources = np.bincount(block[demand[:, 0] > 0], minlength=block.max(initial=0) + 1)
    return int((sources[block] * np.diff(graph.indptr)).sum())


class Union:
    """`graph`: all blocks of more than one edge, side by side, with whole lengths; `demand` of its vertices as sources
    and targets; `block` of each; `work`: the arcs that all searches look at."""

    copies: Floats | None = None  # every vertex stands for itself alone

    def __init__(self, whole: Graph, label: Labels, head: Labels, arcs: Labels, own: Floats, weighted: bool) -> None:
        from hopwave.engines.cpu.betweenness.block_tree import behind  # compiled code, loaded when it is used

        self._whole, self._own, self._label, self._head, self._arcs = whole, own, label, head, arcs
        self._behind = behind(label, head, own)
        sizes = np.bincount(label[label >= 0], minlength=len(head)) + 1
        wide = sizes > 2
        inside = label >= 0
        inside[inside] = wide[label[inside]]
        self._members, chosen = np.flatnonzero(inside), np.flatnonzero(wide)
        self._origin = np.concatenate([self._members, head[chosen]])  # of each vertex of the union, that of the whole
        self.blocks = len(chosen)
        as_member, as_head = np.full(whole.n, -1, np.int32), np.full(len(head), -1, np.int32)
        as_member[self._members] = np.arange(len(self._members))
        as_head[chosen] = len(self._members) + np.arange(len(chosen))
        self.demand = np.concatenate([self._behind.below[self._members], self._behind.at_head[chosen]])
        self._kept = np.flatnonzero((arcs >= 0) & wide[arcs]) if len(head) else np.zeros(0, np.int64)
        of, ends = arcs[self._kept], (arc_tails(whole)[self._kept], whole.indices[self._kept])
        tails, heads = (np.where(label[end] == of, as_member[end], as_head[of]) for end in ends)
        order = np.argsort(tails * np.int64(len(self._origin)) + heads, kind="stable")  # long runs are in order
        self._kept = self._kept[order]  # of each arc of the union, that of the whole
        n = len(self._origin)
        indptr = np.zeros(n + 1, offset_type(len(order)))
        np.cumsum(np.bincount(tails, minlength=n), out=indptr[1:])
        lengths = as_whole(whole) if weighted else None
        weights = None if lengths is None else lengths[self._kept].astype(np.float64)
        self.graph = Graph(indptr, heads[order], directed=False, weights=weights)
        self.block = np.concatenate([label[self._members], chosen])
        self.work = work_of(self.graph, self.block, self.demand)

    def vertex_sums(self, sums: Floats, endpoints: bool) -> Floats:
        """Scores of all vertices: in each of their blocks, and between their branches."""
        total = np.bincount(self._origin, sums, minlength=self._whole.n) + self._behind.passes
        if endpoints:
            total += self._own[:, 0] * self._behind.others[:, 1] + self._own[:, 1] * self._behind.others[:, 0]
        return total

    def edge_sums(self, sums: Floats) -> Floats:
        """Scores of all arcs. An edge that is a block by itself has all that lies on both of its sides."""
        total = np.zeros(self._whole.m)
        total[self._kept] = sums
        alone = np.setdiff1d(np.flatnonzero(self._arcs >= 0), self._kept, assume_unique=True)
        block, tails, heads = self._arcs[alone], arc_tails(self._whole)[alone], self._whole.indices[alone]
        below, at_head = self._behind.below, self._behind.at_head
        outward = self._label[heads] == block  # from the head of the block
        total[alone] = np.where(outward, at_head[block, 0] * below[heads, 1], below[tails, 0] * at_head[block, 1])
        return total
