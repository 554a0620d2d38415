"""Questions to a distributed graph: every rank asks, every rank gets its share of the answer."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.api.arguments import hops, is_whole
from hopwave.catalogue import CATALOGUE
from hopwave.catalogue import plan as named_plan
from hopwave.distributed.graph import DistributedGraph
from hopwave.distributed.search import Search, why_not
from hopwave.errors import GraphError, PlanError
from hopwave.plan import Plan, PlanUsed
from hopwave.trace import Trace


@dataclass(frozen=True, eq=False)
class DistributedBFSResult:
    """A rank's share of a search: one distance and one predecessor (a global id) for each of its own vertices, from
    number `first` on. `gather()` puts the whole together on rank 0. The rest is the same on every rank.

    >>> from hopwave import distributed
    >>> r = distributed.bfs(distributed.from_edges([0, 1], [1, 2]), 0)
    >>> r.distances.tolist(), r.depth, r.reached
    ([0, 1, 2], 2, 3)
    """

    distances: npt.NDArray[np.int32]
    predecessors: npt.NDArray[Any] | None
    first: int
    depth: int
    reached: int
    sources: tuple[int, ...]
    plan: PlanUsed
    trace: Trace
    graph: DistributedGraph = field(repr=False)

    def gather(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None] | None:
        """All distances and predecessors, on rank 0; None on the other ranks.

        >>> from hopwave import distributed
        >>> distributed.bfs(distributed.from_edges([0], [1]), 1).gather()[0].tolist()
        [1, 0]
        """
        distances = self.graph.gather(self.distances)
        predecessors = None if self.predecessors is None else self.graph.gather(self.predecessors)
        return None if distances is None else (distances, predecessors)

    def edges(self) -> int:
        """Edges given, repeats and loops included, in the part that was reached; all ranks must ask.

        >>> from hopwave import distributed
        >>> distributed.bfs(distributed.from_edges([0, 0, 2], [1, 1, 3]), 0).edges()
        2
        """
        return self.graph.edges_within(self.distances >= 0)

    def __repr__(self) -> str:
        return f"DistributedBFSResult(reached={self.reached:,}, depth={self.depth}, plan={self.plan.name})"


def bfs(
    G: DistributedGraph,
    source: Any,
    predecessors: bool = True,
    depth_limit: int | None = None,
    plan: str | Plan = "auto",
    *,
    compress: bool = True,
) -> DistributedBFSResult:
    """Hops from a source, or from the nearest of several, to every vertex; called by all ranks, with the same source.

    `plan` is one of those that choose between a push and a pull: "auto", "hiragushi-hybrid", "merrill", ...
    `compress=False` sends ids as plain 64-bit numbers, to see what compression saves. The trace is always kept: it
    costs nothing beside a level's exchange, and says how many bytes each level sent.

    >>> from hopwave import distributed
    >>> distributed.bfs(distributed.kronecker(5), 3).trace[0].vertices
    1
    """
    sources, limit, (chosen, why) = G.world.together(
        lambda: (source_ids(G, source), hops("depth_limit", depth_limit), choose_plan(plan))
    )
    agree(G, sources, predecessors, limit, chosen, compress)
    search = Search(G, sources, predecessors, limit, compress)
    search.run(chosen)
    xp = G.part.xp
    return DistributedBFSResult(
        search.distance if xp is np else search.distance.get(),
        None if search.parent is None else search.parent if xp is np else search.parent.get(),
        G.first,
        search.deepest,
        search.reached,
        sources,
        PlanUsed(chosen, why, ("thread mappings", "queue making")),
        Trace(search.levels),
        G,
    )


def agree(G: DistributedGraph, *question: Any) -> None:
    """An error on every rank where they do not all ask the same: their answers would be parts of different ones."""
    mine = np.array([zlib.crc32(repr(question).encode())], np.int64)
    asked = G.wire.tell(G.world.comm, mine).ravel()
    other = int(np.argmax(asked != asked[0]))

    def refuse() -> None:
        raise GraphError(f"rank {other} asks another question than rank 0; all ranks must give the same arguments")

    if other:
        G.world.together(refuse)


def choose_plan(plan: str | Plan) -> tuple[Plan, str]:
    """The plan to lead a search over ranks, and why."""
    if plan == "auto":
        return CATALOGUE["hopwave"], "the default"
    chosen = named_plan(plan)
    reason = why_not(chosen)
    if reason:
        raise PlanError(reason)
    return chosen, "asked for"


def source_ids(G: DistributedGraph, source: Any) -> tuple[int, ...]:
    """One source or several, as ids of this graph."""
    several = isinstance(source, Iterable) and not isinstance(source, str | bytes)
    found = tuple(dict.fromkeys(source if several else [source]))
    if not found:
        raise GraphError("the list of sources is empty; a search needs at least one vertex to start from")
    for one in found:
        if not is_whole(one) or not 0 <= one < G.n:
            raise GraphError(f"{one!r} is not a vertex of this graph; its vertices are the numbers 0 to {G.n - 1}")
    return tuple(int(one) for one in found)
