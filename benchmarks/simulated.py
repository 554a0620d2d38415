"""A search over many ranks in one process: what each rank would look at and send, counted instead of sent.

The partition is that of hopwave.distributed (`Layout`), and the rule that of the plan. Which vertices a level finds
does not depend on the ranks; who meets them, and what is sent to whom, is worked out by arrays. tests/mpi compares the
counts with those of real jobs: they are equal, byte by byte.

    n, P    vertices and ranks        R × C   the grid of a 2D layout; C = 1 in 1D, where pulls need no ring
    turn    of a 2D pull: the bitmap of one rank's unvisited vertices goes round its row, one rank after another
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

import hopwave as hw
from hopwave.distributed.layout import Layout
from hopwave.distributed.search import sorts_rows
from hopwave.planning.plan import Plan, Push
from hopwave.planning.rules import Sizes

SHAPE = 24  # bytes that describe a packet
SUMS = 40  # bytes of a rank's sums at the end of a level
NEVER = np.iinfo(np.int32).max


@dataclass
class Level:
    """What one level did; arrays have one number per rank."""

    direction: str
    vertices: int
    edges: int
    found: int
    checked: Any  # arcs looked at
    sent: Any  # bytes to other ranks
    for_parents: Any  # of these, to tell owners the parents of their vertices
    packets: Any  # packets that are not empty, to other ranks
    exchanges: int = 1  # one after another, among all ranks or along a line of the grid; the last is that of the sums
    passes: int = 0  # from rank to rank round a row, one after another
    headers: int = 0  # bytes of `sent`, the same for every rank, that do not grow with the graph


class Search:
    """A search of an undirected graph over the ranks of a layout, with parents; rows have their hub in front."""

    def __init__(self, graph: hw.Graph, layout: Layout, plan: Plan) -> None:
        if sorts_rows(plan) or graph.directed:
            raise ValueError("simulated are undirected graphs, and plans that do not sort whole rows: take 'hopwave'")
        self.graph, self.layout, self.plan = graph, layout, plan
        self.ranks, self.columns = layout.size, layout.columns or 1
        ids = np.arange(graph.n)
        self.owner = layout.owner(ids)
        self.lengths = np.diff(layout.starts)
        degrees = np.diff(graph.indptr)
        self.degrees = degrees
        self.weight = np.minimum(np.log2(np.maximum(degrees, 1)) * 8, 255).astype(np.uint8)
        self.tail_slot = layout.slots(ids, self.owner, "column" if layout.columns else "alone")

    def run(self, source: int) -> list[Level]:
        """The levels of a search from one vertex."""
        n, m = self.graph.n, self.graph.m
        self.visited = np.zeros(n, bool)
        self.visited[source] = True
        self.known = np.zeros(n, bool)  # in 1D: all ranks know that these are visited, by a pull
        self.sent_before = np.empty(0, np.int64)  # rank · n + vertex
        self.levels: list[Level] = []
        frontier, nf0, mf0, last = np.array([source]), 0, 0, -1
        mu = m - int(self.degrees[source])
        while len(frontier):
            nf, mf = len(frontier), int(self.degrees[frontier].sum())
            choice = self.plan.rule.choose(Sizes(n, m, nf, mf, mu, nf0, mf0, last))
            zeros = [np.zeros(self.ranks, np.int64) for _ in range(4)]
            self.level = Level("push", nf, mf, 0, *zeros)
            self._header(SUMS * (self.ranks - 1))
            if isinstance(self.plan.steps[choice], Push):
                frontier = self._push(frontier)
            else:
                self.level.direction = "pull"
                frontier = self._pull(np.sort(frontier))
            self.visited[frontier] = True
            self.level.found = len(frontier)
            self.levels.append(self.level)
            nf0, mf0, last = nf, mf, choice
            mu -= int(self.degrees[frontier].sum())
        return self.levels

    # ------------------------------------------------------------------ exchanges

    def _header(self, size: int) -> None:
        """Every rank sends `size` bytes that describe its message."""
        self.level.sent += size
        self.level.headers += size

    def _gather(self, positions_of: Any, others: int) -> None:
        """Every rank sends a set of its own vertices, given as ids, to the same number of others."""
        if not others:
            return
        rank, sizes, _ = packed(self.owner[positions_of], positions_of - self._first(positions_of), None, self.lengths)
        self._header(SHAPE * others)
        self.level.sent[rank] += sizes * others
        self.level.packets[rank] += others
        self.level.exchanges += 2

    def _send(self, rank: Any, ids: Any, parents: Any, others: int, parents_only: bool = False) -> None:
        """Ranks send vertices and parents' slots to the vertices' owners; sorted by rank, then by vertex."""
        if not others:
            return
        away = rank != self.owner[ids]
        rank, ids, parents = rank[away], ids[away], parents[away]
        pair = rank.astype(np.int64) * self.ranks + self.owner[ids]
        pair, sizes, values = packed(pair, ids - self._first(ids), parents, self.lengths)
        by = pair // self.ranks
        self._header(SHAPE * others)
        np.add.at(self.level.sent, by, sizes)
        np.add.at(self.level.packets, by, 1)
        if parents_only:  # the vertices found are known already: this exchange is for their parents alone
            self.level.for_parents += SHAPE * others
        np.add.at(self.level.for_parents, by, sizes if parents_only else values)
        self.level.exchanges += 2

    def _first(self, ids: Any) -> Any:
        """The first vertex of each vertex's owner."""
        return self.layout.starts[self.owner[ids]]

    # ------------------------------------------------------------------ push

    def _push(self, frontier: Any) -> Any:
        """The vertices found by a push, in the order in which their owners see them."""
        owner, n = self.owner, self.graph.n
        if self.layout.columns:
            frontier = np.sort(frontier)
            self._gather(frontier, self.layout.rows - 1)
        tails = np.repeat(frontier, self.degrees[frontier])
        heads = self.graph.indices[spread(self.graph.indptr, frontier)]
        rank = owner[tails]
        if self.layout.columns:
            rank = owner[heads] // self.columns * self.columns + rank % self.columns
        self.level.checked += np.bincount(rank, minlength=self.ranks)
        new = ~(self.visited[heads] & (owner[heads] == rank)) & ~self.known[heads]
        keys, first = np.unique(rank[new].astype(np.int64) * n + heads[new], return_index=True)
        fresh = ~np.isin(keys, self.sent_before, assume_unique=True)
        keys, parents = keys[fresh], self.tail_slot[tails[new][first[fresh]]]
        rank, heads = keys // n, keys % n
        self._send(rank, heads, parents, (self.columns if self.layout.columns else self.ranks) - 1)
        self.sent_before = np.union1d(self.sent_before, keys)
        # Owners first claim what they found, then what arrives, in the order of ranks.
        unseen = ~self.visited[heads]
        rank, heads = rank[unseen], heads[unseen]
        turn = np.where(rank == owner[heads], -1, rank)
        order = np.lexsort((turn, heads))
        heads, turn = heads[order], turn[order]
        once = np.ones(len(heads), bool)
        once[1:] = heads[1:] != heads[:-1]
        heads, turn = heads[once], turn[once]
        return heads[np.lexsort((heads, turn, owner[heads]))]

    # ------------------------------------------------------------------ pull

    def _pull(self, frontier: Any) -> Any:
        """The vertices found by a pull, ascending."""
        graph, layout = self.graph, self.layout
        self._gather(frontier, (layout.rows if layout.columns else self.ranks) - 1)
        front = np.zeros(graph.n, bool)
        front[frontier] = True
        if not layout.columns:
            self.known |= front
        rows = np.flatnonzero(~self.visited & (self.degrees > 0))
        turn, parent = np.full(len(rows), NEVER, np.int32), np.zeros(len(rows), np.int64)
        arcs = graph.indptr, graph.indices, rows, front
        look(*arcs, self.owner, self.columns, self.weight, turn, parent, self.level.checked)
        found = turn != NEVER
        if self.columns > 1:
            self._round_row(rows, turn)
            owner = self.owner[rows]
            at = (owner // self.columns * self.columns + (owner - turn) % self.columns)[found]
            order = np.argsort(at, kind="stable")
            ids, slots = rows[found][order], self.tail_slot[parent[found]][order]
            self._send(at[order], ids, slots, self.columns - 1, parents_only=True)
        return rows[found]

    def _round_row(self, rows: Any, turn: Any) -> None:
        """The bitmaps of unvisited vertices that ranks pass on, as gaps where these are shorter."""
        for now in range(self.columns - 1):
            rows, turn = rows[turn > now], turn[turn > now]
            owner, sizes, _ = packed(self.owner[rows], rows - self._first(rows), None, self.lengths)
            by = owner // self.columns * self.columns + (owner - now) % self.columns
            self._header(SHAPE)
            np.add.at(self.level.sent, by, sizes)
            np.add.at(self.level.packets, by, 1)
            self.level.passes += 2


def spread(offsets: Any, rows: Any) -> Any:
    """The places of all arcs of some rows, in the order of the rows.

    >>> spread(np.array([0, 2, 3, 5]), np.array([2, 0])).tolist()
    [3, 4, 0, 1]
    """
    counts = offsets[rows + 1] - offsets[rows]
    return np.repeat(offsets[rows] - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())


def packed(group: Any, positions: Any, values: Any, lengths: Any) -> tuple[Any, Any, Any]:
    """The groups that have positions, the bytes of each one's packet, and of these the bytes of values.

    Sorted by group, then by position. lengths: positions of a group are below lengths[group % ranks]; for packets from
    rank to rank, group = rank · ranks + destination. hopwave.distributed.codec.pack makes such packets.

    >>> packed(np.array([0, 0, 1]), np.array([3, 900, 5]), np.array([7, 70_000, 1]), np.array([1000, 8]))
    (array([0, 1]), array([16, 16]), array([8, 8]))
    """
    if not len(group):
        return group, np.zeros(0, np.int64), np.zeros(0, np.int64)
    begin = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
    count = np.diff(np.append(begin, len(group)))
    gaps = np.diff(positions, prepend=0) - 1
    gaps[begin] = positions[begin]
    widest = np.maximum.reduceat(gaps, begin)
    width = np.select([widest < 1 << 8, widest < 1 << 16, widest < 1 << 32], [1, 2, 4], 8)
    bits = -(-lengths[group[begin] % len(lengths)] // 64) * 8
    size = np.where(bits < count * width, bits, whole_words(count * width))
    of_values = np.zeros_like(size)
    if values is not None:
        greatest = np.maximum.reduceat(values, begin)
        wide = np.maximum(1, np.ceil(np.log2(greatest + 1) / 8).astype(np.int64))
        of_values = whole_words(count * wide)
    return group[begin], size + of_values, of_values


def whole_words(size: Any) -> Any:
    """Bytes, rounded up to words of 8."""
    return -(-size // 8) * 8


@njit(cache=True)
def look(
    offsets: Any, tails: Any, rows: Any, front: Any, owner: Any, columns: int, weight: Any, turn: Any, parent: Any,
    checked: Any,
) -> None:  # fmt: skip
    """For each open row: the first turn in which a rank finds a tail in front, that tail, and arcs looked at by rank.

    A rank has the arcs of a row whose tails are in its column, the heaviest tail swapped to the front.
    """
    for at in range(len(rows)):
        row = rows[at]
        place, line = owner[row] % columns, owner[row] // columns * columns
        first = columns
        for k in range(offsets[row], offsets[row + 1]):
            if front[tails[k]]:
                first = min(first, (place - owner[tails[k]] % columns) % columns)
        count, best, hit, zero_hit, best_hit = 0, 0, -1, False, False
        hit_tail, zero_tail, best_tail = -1, -1, -1
        for k in range(offsets[row], offsets[row + 1]):
            tail = tails[k]
            now = (place - owner[tail] % columns) % columns
            if now < first:
                checked[line + (place - now) % columns] += 1
            elif now == first:
                if count == 0:
                    zero_hit, zero_tail, best_tail, best_hit = front[tail], tail, tail, front[tail]
                elif weight[tail] > weight[best_tail]:
                    best, best_tail, best_hit = count, tail, front[tail]
                count += 1
        if first == columns:
            continue
        turn[at] = first
        where = line + (place - first) % columns
        if best_hit:
            parent[at] = best_tail
            checked[where] += 1
            continue
        count = 0
        for k in range(offsets[row], offsets[row + 1]):  # the first after the heaviest, which stands in front
            tail = tails[k]
            if (place - owner[tail] % columns) % columns != first:
                continue
            if count > 0 and front[tail]:
                hit, hit_tail = count, tail
                break
            count += 1
        if zero_hit and (hit < 0 or best < hit):
            hit, hit_tail = best, zero_tail
        parent[at] = hit_tail
        checked[where] += hit + 1
