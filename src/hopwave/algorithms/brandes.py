"""Betweenness centrality (Brandes; TurboBC, Algorithm 1): the sum over all sources, and its check.

    s, t   source and target        σ   number of shortest paths        δ_s(v)   = Σ_t σ_st(v) / σ_st, v's dependency

Engines sum δ_s(v) over the sources, block by block and always in the same order. The code shared by all engines
is here: progress, checkpoints, the identity that every correct run satisfies, and scaling of sums.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algebra.operators import monoid
from hopwave.algorithms.apart import accumulation
from hopwave.algorithms.checkpoint import Checkpoint, File, key_of
from hopwave.algorithms.many_sources import polled
from hopwave.arrays import Array, on_gpu, on_host
from hopwave.engines import Engine
from hopwave.errors import EngineError, ExecutorError, GraphError
from hopwave.graph import Graph
from hopwave.graph.csr import arc_tails, is_compiled_faster
from hopwave.planning.jobs import Accumulation, BetweennessJob, Floats, Integers, Progress
from hopwave.planning.many_sources import PathSums
from hopwave.planning.plan import Plan, PlanUsed
from hopwave.system.progress import quietly, say
from hopwave.system.threads import parted

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Certificate:
    """Deviation of a betweenness run from the identity that every correct run satisfies.

    For each source s, Σ_v δ_s(v) over v ≠ s equals Σ_t (h(s, t) − 1) over the reached targets (for edges: Σ_t h(s, t)).
    A pair with demand a(s) · b(t) counts with this factor on both sides.
    h(s, t) is the number of hops, d(s, t). Along weights, shortest paths differ in their number of hops, and h(s, t) is
    their mean: with σ the number of shortest paths from s, h(s, v) = Σ_u σ(u) (h(s, u) + 1) / σ(v) over the
    predecessors u of v. Both sides are by-products of the run. An error above the tolerance raises an EngineError.

    Attributes
    ----------
    error : float
        The largest relative difference between the two sides, over all sources and for their total.
    tolerance : float
        The largest accepted error.
    sources : int
        Number of sources checked.

    Examples
    --------
    >>> hw.betweenness_centrality(hw.generate.path(4)).certificate.error
    0.0
    """

    error: float
    tolerance: float
    sources: int

    def __str__(self) -> str:
        return f"arithmetic checked to {self.error:.1e} (tolerance {self.tolerance:g})"


@dataclass
class SourceRun:
    """The engine and the plan that sum dependencies over sources."""

    graph: Graph
    engine: Engine
    plan: Plan
    why: str
    threads: int | None

    def add_up(
        self, job: BetweennessJob, title: str, progress: Progress, checkpoint: File = None, fetch: bool = True
    ) -> tuple[Array, Certificate]:
        """The sums over the sources of a job, and their certificate; with fetch=False the sums may stay on a device."""
        run = accumulation(self.engine, self.graph, job, self.plan, self.threads)
        saved = None
        if checkpoint is None:
            progress = quietly(progress, len(job.sources) * (self.graph.n + self.graph.m))
        else:
            what = (job.cutoff, job.endpoints, job.edges, job.squares, self.plan.name, self.engine.name)
            demand = job.targets, job.origins, job.copies
            saved = Checkpoint(checkpoint, key_of(self.graph, job.weighted, job.sources, *demand, what))
        certificate = accumulate(run, job, title, progress, saved)
        return run.total if fetch else sums_of(run), certificate

    @property
    def plan_used(self) -> PlanUsed:
        """The plan that ran and the reason, for the result."""
        return PlanUsed(self.plan, self.why, self.engine.without(self.plan))


def accumulate(
    run: Accumulation, job: BetweennessJob, title: str, progress: Progress, checkpoint: Checkpoint | None
) -> Certificate:
    """Run a job to its end and check it; the sums are then in run.total. A checkpoint is also written on Ctrl-C."""
    done = checkpoint.load(run) if checkpoint else 0
    sources = len(job.sources)
    if checkpoint and done and progress is not False:
        say(checkpoint.continues(f"{min(done * run.size, sources):,} of {sources:,} sources"))
    with polled(title, sources, progress) as show:

        def poll(blocks: int) -> bool:
            show(min(blocks * run.size, sources))
            return checkpoint is not None and checkpoint.is_due()

        try:
            while done < run.blocks:
                done = run.advance(done, poll)
                if checkpoint:
                    checkpoint.save(run, done)
        except (KeyboardInterrupt, ExecutorError) as error:
            if checkpoint:
                checkpoint.save_and_tell(error, run, max(done, run.done))  # run.done is 0 before the run starts
            raise
    sums = None if job.endpoints else sums_of(run)  # with endpoints the sums are not Σ δ, so the total is not checked
    if sums is not None and job.squares:
        sums = sums[: len(sums) // 2]
    return certify(run.certificate, sums)


def sums_of(run: Accumulation) -> Array:
    """The sums of a run, not copied: on the device if the run stored them there, else on the host."""
    left: Array = getattr(run, "sums_on_device", None)
    return run.total if left is None else left


def _sum(values: Array) -> float:
    """Σ values. On a GPU, by hopwave's kernel: CuPy would first compile one."""
    if not on_gpu(values):
        return float(sum(parted(np.add.reduce, values)))
    return float(engines.algebra("cuda").reduce(monoid.plus, values, np.dtype(np.float64))) if len(values) else 0.0


def certify(both_sides: npt.NDArray[np.float64], sums: Array = None, whose: str = "source") -> Certificate:
    """Compare both sides of the identity per source (`whose`), and their total with the sums; raises an EngineError."""
    found, due = both_sides[:, 0], both_sides[:, 1]
    error = np.abs(found - due) / np.maximum(due, 1.0)
    worst, right = float(np.maximum.reduce(error, initial=0.0)), float(np.add.reduce(due))
    wrong = ""
    if not worst <= TOLERANCE:  # NaN also fails
        bad = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
        wrong = f"{whose} number {bad} sums to {found[bad]!r} instead of {due[bad]!r}"
    elif sums is not None:
        whole = _sum(sums)
        worst = max(abs(whole - right) / max(right, 1.0), worst)
        if not worst <= TOLERANCE:
            wrong = f"all sources sum to {whole!r} in total instead of {right!r}"
    if wrong:
        raise EngineError(
            f"betweenness failed its check: {wrong}; "
            "this is a bug in hopwave or a hardware fault: please report it, and try another device="
        )
    return Certificate(worst, TOLERANCE, len(both_sides))


def scale(
    sums: npt.NDArray[np.float64],
    n: int,
    *,
    normalized: bool,
    directed: bool,
    endpoints: bool,
    sampled: npt.NDArray[np.int64] | None = None,
    subset: bool = False,
) -> npt.NDArray[np.float64]:
    """Sums over all sources, or over `sampled` ones, as scores: exactly NetworkX 3.6.1's `_rescale`.

    `subset`: over the caller's sources and targets, as NetworkX's `..._subset`; overwrites sums on the host.
    """
    if subset:
        pairs = n * (n - 1) if endpoints else (n - 1) * (n - 2)
        divisor = max(pairs, 1) if normalized else 1 if directed else 2
        if divisor > 1 and not on_gpu(sums):  # runs on all cores
            parted(lambda part: np.divide(part, divisor, out=part), sums)
            return sums
        return times(sums, 1.0, divisor) if divisor > 1 else sums
    N = n if endpoints else n - 1
    if N < 2:
        return sums

    def factor(k: int) -> float:
        """The factor for a sum over k sources; NaN if k is 0."""
        if k == 0:
            return math.nan
        return 1 / (k * (N - 1)) if normalized else N / (k * (1 if directed else 2))

    if sampled is None:
        return times(sums, factor(N))
    scaled = times(sums, factor(len(sampled)))
    if not endpoints:
        # A source adds nothing to its own sum, so the sum of a sampled source is over k - 1 sources.
        scaled[sampled] = sums[sampled] * factor(len(sampled) - 1)
    return scaled


def times(sums: Floats, factor: float, divisor: float = 1.0) -> Floats:
    """sums · factor / divisor on the device of the sums; factor or divisor is 1."""
    if not on_gpu(sums):
        return sums * factor if divisor == 1 else sums / divisor
    from hopwave.engines.cuda.arcs import scaled

    found: Floats = scaled(sums, factor, divisor)
    return found


def of_both_directions(graph: Graph, values: Array) -> Array:
    """For every arc of an undirected graph, its value plus its reverse's; overwrites `values` on the host."""
    if not on_gpu(values) or graph.order != "ascending":
        values = on_host(values)
        if not _is_compiled(graph):
            return values + of_reverse_arcs(graph, values)
        from hopwave.graph.csr_compiled import add_reverse_values

        add_reverse_values(graph.indptr, graph.indices, values)
        return values
    from hopwave.engines.cuda.arcs import with_reverse

    return with_reverse(graph, values)


def of_reverse_arcs(graph: Graph, values: Floats) -> Floats:
    """For every arc of an undirected graph, the value of its reverse: the i-th arc in the order (head, tail)."""
    if _is_compiled(graph):
        from hopwave.graph.csr_compiled import reverse_values

        return reverse_values(graph.indptr, graph.indices, values)
    tails, heads = arc_tails(graph), graph.indices
    backward = values[np.lexsort((tails, heads))]
    if graph.order == "ascending":
        return backward
    found = np.empty_like(values)
    found[np.lexsort((heads, tails))] = backward
    return found


def _is_compiled(graph: Graph) -> bool:
    return graph.order == "ascending" and is_compiled_faster(graph.m)


# ---------------------------------------------------------------- other measures of paths through a vertex

#     σ(s, t)   shortest paths from s to t        σ(s, t | v)   those that visit v, which is neither s nor t
#
#     stress(v) = Σ σ(s, t | v)
#     group(C)  = Σ σ(s, t | C) / σ(s, t)
#     load(v)   = the flow through v if every t sends 1 to every s, and each vertex divides its flow equally among
#                 its neighbours one hop nearer to s
#
# Engines sum over sources (`PathSums`); Brandes, On variants of shortest-path betweenness centrality (2008), sections
# 3.1 and 3.3; Everett and Borgatti, The centrality of groups and classes (1999).


def _summed(engine: Engine, graph: Graph, job: PathSums, progress: Progress, threads: int | None) -> Floats:
    with polled({"group": "group betweenness"}.get(job.kind, job.kind), graph.n, progress) as poll:
        return engine.path_sums(graph, job, poll, threads)


def stress(engine: Engine, graph: Graph, progress: Progress, threads: int | None) -> Floats:
    """Shortest paths through every vertex. A pair of vertices of an undirected graph counts once."""
    counts = _summed(engine, graph, PathSums("stress"), progress, threads)
    beyond = np.flatnonzero(~np.isfinite(counts))
    if len(beyond):
        problem = f"more than 1.8e308 shortest paths lead through {graph.label(int(beyond[0]))!r}, too many for float64"
        raise GraphError(f"{problem}; use betweenness_centrality, whose scores are shares of paths and never overflow")
    return counts if graph.directed else counts / 2


def load(
    engine: Engine, graph: Graph, cutoff: int | None, normalized: bool, progress: Progress, threads: int | None
) -> Floats:
    """NetworkX's load: both directions of a pair count, also in an undirected graph."""
    scores = _summed(engine, graph, PathSums("load", cutoff), progress, threads)
    n = graph.n
    return scores * (1.0 / ((n - 1) * (n - 2))) if normalized and n > 2 else scores


def through_group(
    engine: Engine, graph: Graph, group: Integers, endpoints: bool, progress: Progress, threads: int | None
) -> float:
    """Σ over ordered pairs of the fraction of their shortest paths that contain a vertex of the group."""
    member = np.zeros(graph.n, np.bool_)
    member[group] = True
    job = PathSums("group", group=member, endpoints=endpoints)
    return float(_summed(engine, graph, job, progress, threads).sum())
