"""Exact betweenness with fewer searches: simplify the graph, search the rest, then restore the removed parts.

    a, b   demand: a pair (s, t) counts a(s) · b(t)

Blocks. Shortest paths between two blocks lead through articulation points. So each block is solved separately, with the
demand of everything attached to a vertex added to this vertex. An articulation point also counts pairs between its
branches. Trees are blocks of one edge and need no search. All other blocks become the components of *one* graph, so
that the reduced job is an ordinary job. (Puzis et al. 2015; Sariyüce et al. 2013) If this saves work, vertices with the
same neighbours are merged, and chains of vertices of degree two are contracted (union.py).

Paths must be identical in a part and in the graph: lengths are hops, or numbers whose sums are all exact.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from hopwave.algorithms import brandes
from hopwave.algorithms.brandes import Certificate
from hopwave.algorithms.checkpoint import Checkpoint, File, key_of
from hopwave.algorithms.reduction.union import (
    Twins,
    Union,
    as_whole,
    both_sides,
    core_of,
    first_alike,
    merged,
    worth_merging,
)
from hopwave.graph import Graph
from hopwave.planning.jobs import Accumulation, BetweennessJob, Floats, Progress

Share = Callable[[Graph, BetweennessJob, Accumulation], Accumulation]

LEAST_SOURCES = 1000  # minimum sources: finding blocks takes as long as several searches
LEAST_GAIN = 1.15  # minimum ratio of the work without and with the reduction
LEAST_LOW = {"cpu": 1 / 16, "cuda": 1 / 4}  # minimum share of vertices of degree 0 to 2, as in trees and chains
LOOK_ANYWAY = 200_000  # minimum sources for always searching blocks: the check is cheap by comparison
LEAST_WORK = {"cpu": 0, "cuda": 1 << 33}  # minimum sources × arcs: less work ends before the blocks are found
ARCS_PER_SECOND = 2e10  # throughput of a GPU that searches the full graph


@dataclass(frozen=True)
class Reduction:
    """Removed and remaining parts of a reduced run.

    Attributes
    ----------
    blocks : int
        Biconnected components, which are solved separately. Blocks of a single edge need no search. 0 for closeness and
        other sums of distances, which do not use blocks.
    searched : int
        Blocks that needed searches.
    vertices, edges : int
        Size of the searched blocks, without inner vertices of `chains`; articulation points count in each block. For
        sums of distances: the sources of searches, and the edges of the searched graph.
    twins : int
        Vertices merged with a vertex that has the same neighbours; 0 if merging saves little work.
    chains : int
        Chains of vertices of degree two contracted to edges; 0 if searching them is less work. For sums
        of distances: chains without searches.
    gain : float
        Sources × edges of the full graph, divided by searches × edges of the parts.
    whole : tuple
        Vertices and edges of the graph.

    Examples
    --------
    >>> print(hw.betweenness_centrality(hw.generate.path(1000)).reduction)
    reduced to nothing: no search was needed for 1,000 vertices, 999 edges
    """

    blocks: int
    searched: int
    vertices: int
    edges: int
    twins: int
    chains: int
    gain: float
    whole: tuple[int, int]

    def __str__(self) -> str:
        n, edges = self.whole
        if not self.blocks:
            chains = f"; chains without searches: {self.chains:,}" if self.chains else ""
            from_ = f"searches from {self.vertices:,} of {n:,} vertices"
            return f"reduced to {from_}, over {self.edges:,} of {edges:,} edges{chains}"
        if not self.searched:
            return f"reduced to nothing: no search was needed for {n:,} vertices, {edges:,} edges"
        return (
            f"reduced to {self.vertices:,} of {n:,} vertices, {self.edges:,} of {edges:,} edges in {self.searched:,} "
            f"of {self.blocks:,} blocks"
            + (f"; twins merged: {self.twins:,}" if self.twins else "")
            + (f"; chains contracted to edges: {self.chains:,}" if self.chains else "")
        )


class ReducedJob:
    """A reduced job: an engine runs `graph` and `job`; `put_back` converts their sums to sums of the full job."""

    def __init__(self, job: BetweennessJob, union: Union, twins: Twins | None, core: Any, about: Reduction) -> None:
        self.about, self._union, self._twins, self.core, self._whole = about, union, twins, core, job
        part = twins or union
        self.graph, self._demand = part.graph, part.demand
        origins, targets = np.ascontiguousarray(part.demand.T)
        self.job = replace(
            job, sources=np.flatnonzero(origins > 0), origins=origins, targets=targets, endpoints=False,
            copies=part.copies,
        )  # fmt: skip

    def by_core(
        self, share: Share, title: str, progress: Progress, checkpoint: File
    ) -> tuple[Floats, Certificate] | None:
        """Sums and certificate of the full job from its core; `share` assigns the batches. None if counts overflow."""
        run, graph, demand, job, saved = self.core, self.graph, self._demand, self.job, None
        if run is None:
            return None
        run.prepare()
        if checkpoint is not None:
            saved = Checkpoint(checkpoint, key_of(graph, job.weighted, demand, job.copies, "core by pairs"))
        try:
            shared = share(graph, job, run)
            rows = BetweennessJob(np.arange(run.K), endpoints=True)  # no total exists to compare its sums with
            brandes.accumulate(shared, rows, title, progress, saved)
            run.total = shared.total
        except OverflowError:
            if saved is not None:
                saved.path.unlink(missing_ok=True)  # delete the sums of an earlier pause
            self.about = replace(self.about, vertices=graph.n, edges=graph.m // 2, chains=0)
            return None
        vertices, arcs = run.scores()
        edges = brandes.of_both_directions(graph, arcs.copy())
        certificate = brandes.certify(both_sides(graph, demand, run.label, vertices, edges), whose="vertex")
        return self.put_back(arcs if job.edges else vertices), certificate

    def put_back(self, sums: Floats) -> Floats:
        """The sums of the full job."""
        if self._whole.edges:
            return self._union.edge_sums(sums if self._twins is None else self._twins.edge_sums(sums))
        sums = sums if self._twins is None else self._twins.vertex_sums(sums)
        return self._union.vertex_sums(sums, self._whole.endpoints)


def why_whole(graph: Graph, job: BetweennessJob, engine: str, most: int) -> str | None:
    """The reason not to reduce a job, without finding its blocks; None if it may be reduced, "" if it is too small.

    `most`: maximum sources in one component. Components with few sources are searched without this check.
    """
    if most < LEAST_SOURCES or most * graph.m < LEAST_WORK.get(engine, np.inf):
        return ""
    if graph.directed:
        return "the graph is directed"
    if job.cutoff is not None or job.squares:
        return "cutoff= is set, or sources are a sample"
    if job.memory_limit is not None:
        return "memory_limit= is set"
    if graph.has_parallel_arcs:
        return "the graph has parallel edges"
    low = np.count_nonzero(np.diff(graph.indptr) <= 2)
    worth = low >= LEAST_LOW[engine] * graph.n or most >= LOOK_ANYWAY
    if not worth and (engine != "cpu" or not worth_merging(first_alike(graph, job.weighted))):
        return "few vertices have one or two neighbours, or a twin"
    if job.weighted and as_whole(graph) is None:
        return "sums of lengths are rounded"
    return None


@cache
def _first_reductions() -> Any:
    from hopwave.engines.cpu.betweenness.core_graph import walk_chains
    from hopwave.system.compile_notice import First

    return First(walk_chains)


def is_compiled_later(graph: Graph, job: BetweennessJob, use: Callable[[], Any]) -> bool:
    """Whether a GPU would finish the full search before the CPU's part of the reduction, use(), is compiled."""
    return bool(_first_reductions().avoids(len(job.sources) * graph.m / ARCS_PER_SECOND, use))


def reduced(
    graph: Graph,
    job: BetweennessJob,
    blocks: Any,
    threads: int | None,
    engine: str | None,
    walked_by: str | None = None,
) -> ReducedJob | None:
    """The reduced job, if that is less work. `engine`: computes the core (None: no core); `walked_by`: finds chains."""
    demand = np.zeros((graph.n, 2))
    demand[job.sources, 0] = 1.0 if job.origins is None else job.origins[job.sources]
    demand[:, 1] = 1.0 if job.targets is None else job.targets
    union = Union(graph, blocks.label, blocks.head, blocks.arc_labels, demand, job.weighted)
    twins = merged(union, job.weighted, job.edges) if engine == "cpu" else None
    part: Union | Twins = twins or union
    run = None if engine is None else core_of(part, job.weighted, walked_by or engine, threads)
    gain = len(job.sources) * graph.m / max(part.work if run is None else run.passes, 1)
    if gain < LEAST_GAIN:
        return None
    vertices, edges, shortened = (part.graph.n, part.graph.m // 2, 0) if run is None else run.sizes
    sizes = vertices, edges, union.graph.n - part.graph.n, shortened
    about = Reduction(len(blocks.head), union.blocks, *sizes, float(gain), (graph.n, graph.m // 2))
    return ReducedJob(job, union, twins, run, about)
