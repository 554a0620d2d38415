"""The specification: a search in SciPy products, short enough to read first.

    A   adjacency matrix, A[u, v] = 1 for an arc u → v       q   frontier, a sorted list of vertices
    d   distances, -1 = unvisited                            p   predecessors
    σ   path counts, stored as mantissa · 2^exponent, so that no graph overflows them

A push reads the rows of A for the frontier; a pull reads the rows of Aᵀ that the mask allows, and keeps the columns
that are in the operand. Both produce the same list of arcs (u, v) into the next level, from which the result is read.
Early exit and thread mappings change how fast this list is found, never its contents.
"""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.arrays import ScaledCounts
from hopwave.engines import NoOperations, by_levels
from hopwave.engines.reference import betweenness
from hopwave.errors import EngineError
from hopwave.graph import Graph
from hopwave.planning.jobs import Accumulation, BetweennessJob, FoundBySearch, PathSampling, SampleJob, SearchJob
from hopwave.planning.many_sources import PathSums, Poll, Sweep, Swept
from hopwave.planning.plan import Plan, Pull, Step
from hopwave.planning.trace import Level


def check_threads(threads: int | None) -> None:
    if threads is not None:
        raise EngineError(f"threads={threads!r} is for device='cpu'; omit threads=: device='reference' uses one thread")


@dataclass
class Search:
    """A search in progress; the letters are defined at the top of this file. `mu`: arcs out of unvisited vertices."""

    A: Any  # CSR by out-arcs
    AT: Any  # CSR by in-arcs
    question: SearchJob
    d: npt.NDArray[np.int32]
    p: npt.NDArray[np.int32]
    mantissa: npt.NDArray[np.float64]
    exponent: npt.NDArray[np.int64]
    q: npt.NDArray[np.int64]
    mu: int
    depth: int = 0

    @property
    def nf(self) -> int:
        return len(self.q)

    @property
    def mf(self) -> int:
        return int(self.A.indptr[self.q + 1].sum() - self.A.indptr[self.q].sum())


class Engine(NoOperations):
    """See hopwave.engines.Engine."""

    name = "reference"

    def missing(self) -> str | None:
        return None

    def why_not(self, plan: Plan, job: SearchJob | BetweennessJob) -> str | None:
        return plan.why_not(job) if isinstance(job, SearchJob) else None

    def without(self, plan: Plan) -> tuple[str, ...]:
        if plan.task == "betweenness":
            return ("thread mappings", "direction rule", "regime")
        return ("thread mappings", "early exit", "look ahead", "neighbour order")

    def direct_search(
        self, graph: Graph, question: SearchJob, plan: Plan, named: bool, threads: int | None = None
    ) -> None:
        return None

    def load(self, graph: Graph, plan: Plan) -> tuple[Any, Any]:
        return graph.to_scipy(np.float64), graph.reversed().to_scipy(np.float64)

    def start(
        self, loaded: tuple[Any, Any], sources: tuple[int, ...], question: SearchJob, threads: int | None = None
    ) -> Search:
        check_threads(threads)
        A, AT = loaded
        n = A.shape[0]
        q = np.unique(np.array(sources, np.int64))
        d, p = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
        mantissa, exponent = np.zeros(n), np.zeros(n, np.int64)
        d[q], p[q] = 0, q
        mantissa[q], exponent[q] = 0.5, 1
        search = Search(A, AT, question, d, p, mantissa, exponent, q, 0)
        search.mu = A.nnz - search.mf
        return search

    def run(self, search: Search, plan: Plan, trace: bool) -> list[Level]:
        return by_levels(self, search, search.A.shape[0], search.A.nnz, plan)

    def advance(self, search: Search, step: Step, choice: int) -> Level:
        began, sizes = time.perf_counter(), (search.nf, search.mf, search.mu)
        unvisited = search.d < 0
        if isinstance(step, Pull):
            # q⟨¬v⟩ = Aᵀ q by rows: masked before the product, or (rows = "all") after it.
            rows = np.arange(len(unvisited)) if step.rows == "all" else np.flatnonzero(unvisited)
            operand = (~unvisited) if step.operand == "visited" else (search.d == search.depth)
            arcs = search.AT[rows].tocoo()
            v, u = rows[arcs.row], arcs.col
            keep = operand[u] & unvisited[v]
        else:
            # q⟨¬v⟩ = q A by columns: the mask can only be applied to the result.
            arcs = search.A[search.q].tocoo()
            u, v = search.q[arcs.row], arcs.col
            keep = unvisited[v]
        checked = len(u)
        u, v = u[keep], v[keep]
        search.depth += 1
        search.q = np.unique(v)
        search.d[search.q] = search.depth
        search.p[v] = u  # any writer is correct: each u is a valid parent
        if search.question.path_counts and len(v):
            # σ[v] = Σ σ[u]: terms are converted to the largest exponent among v's terms before they are added.
            search.exponent[search.q] = np.iinfo(np.int64).min
            np.maximum.at(search.exponent, v, search.exponent[u])
            shift = np.maximum(search.exponent[u] - search.exponent[v], -2000)
            np.add.at(search.mantissa, v, np.ldexp(search.mantissa[u], shift))
            search.mantissa[search.q], carried = np.frexp(search.mantissa[search.q])
            search.exponent[search.q] += carried
        search.mu -= search.mf
        return Level(search.depth, choice, str(step), *sizes, len(search.q), checked, time.perf_counter() - began)

    def fetch(self, search: Search) -> FoundBySearch:
        wanted = search.question
        return {
            "distances": search.d,
            "predecessors": search.p if wanted.predecessors else None,
            "path_counts": ScaledCounts.plain(search.mantissa, search.exponent) if wanted.path_counts else None,
            "depth": int(search.d.max(initial=0)),
            "reached": int(np.count_nonzero(search.d >= 0)),
        }

    # ---------------------------------------------------------------- operations specified in betweenness.py

    def why_not_operation(self, operation: engines.Operation, graph: Graph) -> str | None:
        if operation in ("weighted_sweep", "path_sampling", "weighted_path_sampling", "path_sums"):
            return None
        return "device='reference' runs only one search at a time; use device='cpu' or 'auto'"

    def sweep(self, graph: Graph, job: Sweep, poll: Poll, threads: int | None = None) -> Swept:
        if not job.weighted:
            raise EngineError(self.why_not_operation("sweep", graph))
        check_threads(threads)
        return betweenness.sweep(graph, job, poll)

    def path_sampling(self, graph: Graph, job: SampleJob, threads: int | None = None) -> PathSampling:
        check_threads(threads)
        return betweenness.PathSampling(graph, job)

    def path_sums(self, graph: Graph, job: PathSums, poll: Poll, threads: int | None = None) -> npt.NDArray[np.float64]:
        check_threads(threads)
        return betweenness.path_sums(graph, job, poll)

    def regime(self, graph: Graph, job: BetweennessJob, plan: Plan) -> None:
        return None

    def accumulation(self, graph: Graph, job: BetweennessJob, plan: Plan, threads: int | None = None) -> Accumulation:
        check_threads(threads)
        return betweenness.Accumulation(graph, job)


if TYPE_CHECKING:
    _: engines.Engine = Engine()  # mypy checks the protocol
