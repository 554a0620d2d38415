"""Breadth-first search of a distributed graph: every rank calls `bfs`, and gets the result of its own vertices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.api.arguments import check_hops, source_ids
from hopwave.distributed.graph import DistributedGraph
from hopwave.distributed.search import Search
from hopwave.distributed.steps import why_not, without
from hopwave.errors import GraphError, PlanError
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.catalogue import plan as named_plan
from hopwave.planning.plan import Plan, PlanUsed
from hopwave.planning.trace import Trace


@dataclass(frozen=True, eq=False)
class DistributedBFSResult:
    """A rank's share of a search: one distance and one predecessor (a global id) per own vertex, from id `first` on.

    `graph.label(id)` names a vertex that has a label. `gather()` joins the shares on rank 0. The other attributes are
    the same on every rank.

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

        >>> distributed.bfs(distributed.from_edges([0], [1]), 1).gather()[0].tolist()
        [1, 0]
        """
        distances = self.graph.gather(self.distances)
        predecessors = None if self.predecessors is None else self.graph.gather(self.predecessors)
        return None if distances is None else (distances, predecessors)

    def edges(self) -> int:
        """Counts the input edges between reached vertices, repeats and loops included; call it on all ranks.

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
    """Hops from a source, or from the nearest of several, to every vertex; called by all ranks with the same arguments.

    `plan` may be any plan that neither looks ahead nor reuses a queue: "auto", "hiragushi-hybrid", "pushpull", ...
    Ranks on CPUs follow its rule, mask, operand and early exit. The result's `plan.without` names the choices that
    ranks do not follow, and its trace has the steps that really ran.
    `compress=False` sends ids as plain 64-bit numbers, to see what compression saves. The trace, which has the bytes
    that each level sent, is always kept: it costs nothing compared with a level's exchange.

    Parameters
    ----------
    G : DistributedGraph
        The graph.
    source : vertex or list of vertices
        Where the search starts.
    predecessors : bool, optional
        Whether to find, for each vertex, the vertex before it.
    depth_limit : int, optional
        The greatest number of hops.
    plan : str or Plan, optional
        Any plan that neither looks ahead nor reuses a queue.
    compress : bool, optional
        False sends ids as plain 64-bit numbers, to see what compression saves.

    Returns
    -------
    DistributedBFSResult
        The distances and predecessors of this rank's vertices; `gather()` collects them.

    Raises
    ------
    PlanError
        If ranks cannot run the plan.

    See Also
    --------
    hopwave.bfs, betweenness_centrality

    Examples
    --------
    >>> distributed.bfs(distributed.kronecker(5), 3).trace[0].vertices
    1
    """
    if not isinstance(G, DistributedGraph):
        raise GraphError(
            f"{G!r:.60} is not a DistributedGraph; make one with hopwave.distributed.spread, or call hopwave.bfs"
        )
    if isinstance(source, Iterator):
        source = list(source)
    options = {"predecessors": predecessors, "depth_limit": depth_limit, "plan": plan, "compress": compress}
    G.world.agree("bfs", G=G.named, source=source, **options)
    sources, limit, (chosen, why) = G.world.together(
        lambda: (source_ids(G, source), check_hops("depth_limit", depth_limit), choose_plan(plan))
    )
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
        PlanUsed(chosen, why, without(chosen, G.part.device, grid=G.layout.columns > 1)),
        Trace(search.levels),
        G,
    )


def choose_plan(plan: str | Plan) -> tuple[Plan, str]:
    """The plan of a search over ranks, and why it was chosen."""
    if plan == "auto":
        return CATALOGUE["hopwave"], "the default"
    chosen = named_plan(plan)
    reason = why_not(chosen)
    if reason:
        raise PlanError(reason)
    return chosen, "asked for"
