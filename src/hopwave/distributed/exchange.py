"""From edges that lie anywhere to rows that lie where a search wants them.

Edges come in blocks, each rank's own. Every arc goes to the rank that keeps it (layout.py), named by slots; there the
arcs are sorted into rows, and repeats are merged. All ranks take part in as many exchanges as the busiest needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hopwave.distributed.layout import Layout, bucket
from hopwave.distributed.sorting import Rows, packed, rows_from, turned
from hopwave.distributed.wire import HostWire
from hopwave.distributed.world import World, wait_for
from hopwave.errors import GraphError

Edges = tuple[Any, Any]

BLOCK = 1 << 21  # edges that are dealt out at a time


@dataclass(frozen=True)
class Built:
    """A rank's arcs. `out`: heads by tail, for pushes; `into`: tails by head, for pulls (the same, where they may be).

    `tuples`: how many of the edges given, repeats and loops among them, end at each tail's slot; an edge counts at
    both of its ends.
    """

    out: Rows
    into: Rows
    tuples: Any
    edges: int


def in_blocks(source: Any, target: Any) -> Iterator[Edges]:
    """Two columns, a block at a time."""
    for begin in range(0, max(len(source), 1), BLOCK):
        yield source[begin : begin + BLOCK], target[begin : begin + BLOCK]


def weights(world: World, blocks: Iterable[Edges], n: int) -> Any:
    """How much work each bucket of ids is, over all ranks: a vertex counts one, and so does each end of an edge."""
    size = bucket(n)
    count = -(-n // size)
    counted = np.zeros(count, np.int64)

    def look() -> None:
        for block in blocks:
            for ends in _checked(block, n) or ():
                counted[:] += np.bincount(ends // size, minlength=count)

    world.together(look)
    return world.add_up(counted) + size


def build(
    world: World,
    layout: Layout,
    blocks: Iterable[Edges],
    directed: bool,
    wire: HostWire,
    slot_type: Any,
) -> Built:
    """Deal out every arc and sort what arrived; blocks hold this rank's edges by global ids."""
    xp, wide = wire.xp, slot_type != np.uint32
    one_copy = layout.columns > 0 or not directed
    kept: dict[str, list[Any]] = {"out": [], "into": []}
    edges = 0
    for u, v in _in_step(world, blocks, layout.n):
        u, v = xp.asarray(u, dtype=np.int64), xp.asarray(v, dtype=np.int64)
        edges += len(u)
        if not directed:
            u, v = xp.concatenate([u, v]), xp.concatenate([v, u])
        of_u, of_v = layout.owner(u), layout.owner(v)
        if layout.columns:
            place = of_v // layout.columns * layout.columns + of_u % layout.columns
            names = layout.slots(u, of_u, "column"), layout.slots(v, of_v, "row")
            kept["out"].append(_dealt(world, wire, place, packed(xp, *names, wide)))
            continue
        names = layout.slots(u, of_u, "alone"), layout.slots(v, of_v, "world")
        kept["out"].append(_dealt(world, wire, of_u, packed(xp, *names, wide)))
        if not one_copy:
            names = layout.slots(v, of_v, "alone"), layout.slots(u, of_u, "world")
            kept["into"].append(_dealt(world, wire, of_v, packed(xp, *names, wide)))

    if layout.columns:
        tails, heads = layout.column(world.rank).size, layout.row(world.rank).size
    else:
        tails = heads = layout.alone(world.rank).size
    out, arcs, tuples = rows_from(xp, _joined(xp, kept.pop("out"), wide), tails)
    if layout.columns:
        arcs = turned(xp, arcs)
        into, _, _ = rows_from(xp, arcs, heads)
    elif directed:
        del arcs
        into, _, _ = rows_from(xp, _joined(xp, kept.pop("into"), wide), heads)
    else:
        into = out
    return Built(out, into, tuples, world.total(edges))


def _in_step(world: World, blocks: Iterable[Edges], n: int) -> Iterator[Edges]:
    """This rank's blocks, then empty ones until every rank is through; ids are checked, for all ranks at once."""
    rest = iter(blocks)
    empty = np.empty(0, np.int64)
    while True:
        block = world.together(lambda: _checked(next(rest, None), n))
        if not world.total(int(block is not None)):
            return
        yield block if block is not None else (empty, empty)


def _checked(block: Edges | None, n: int) -> Edges | None:
    for ends in block or ():
        if len(ends) and not (int(ends.min()) >= 0 and int(ends.max()) < n):
            bad = int(ends.min()) if int(ends.min()) < 0 else int(ends.max())
            raise GraphError(
                f"edge end {bad} is not a vertex; the vertices are 0 to {n - 1}: give a larger n, or fix it"
            )
    return block


def _dealt(world: World, wire: HostWire, place: Any, arcs: Any) -> Any:
    """Arcs to the ranks that keep them; those for us come back."""
    if world.size == 1:
        return arcs
    xp = wire.xp
    counts = xp.bincount(place, minlength=world.size)
    counts = np.asarray(counts if xp is np else counts.get(), np.int64)
    arriving = np.empty_like(counts)
    wait_for(world.comm.Ialltoall(counts, arriving), world.crowded)
    # Sixteen bits sort in two counting passes.
    order = xp.argsort(place.astype(np.int16) if world.size < 1 << 15 else place, kind="stable")
    width = arcs.itemsize * arcs.ndim  # a table of wide slots has two columns
    out, into = (counts * width).tolist(), (arriving * width).tolist()
    data = wire.one_to_one(world.comm, arcs[order].ravel().view(np.uint8), out, into)()
    return data.view(np.uint64).reshape(-1, *arcs.shape[1:])


def _joined(xp: Any, pieces: list[Any], wide: bool) -> Any:
    arcs = xp.concatenate([xp.empty((0, 2) if wide else 0, np.uint64), *pieces])
    pieces.clear()
    return arcs


Blocks = Callable[[], Iterable[Edges]]  # called once for each time the edges are needed
