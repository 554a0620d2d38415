"""The CPU engine: Numba with a crew of helper threads; the default if there is no GPU."""

from __future__ import annotations

import hopwave.system.numba_cache  # noqa: F401  # before other modules import Numba: signals cannot interrupt it

# isort: split
import weakref
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.arrays import ScaledCounts
from hopwave.engines import found_in
from hopwave.engines.cpu import path_counts, policy, team
from hopwave.engines.cpu.betweenness.small import SmallAccumulation
from hopwave.engines.cpu.crew import new_board, thread_count
from hopwave.engines.cpu.graph import CpuGraph
from hopwave.engines.cpu.intrinsics import callback
from hopwave.engines.cpu.search import loop, state
from hopwave.engines.cpu.search.steps import EARLY_EXIT, KEEPS_OPEN, OPERAND_VISITED, ROWS_ALL
from hopwave.graph import Graph
from hopwave.planning import jobs
from hopwave.planning.many_sources import Poll, Sweep, Swept
from hopwave.planning.plan import Plan, Pull
from hopwave.planning.rules import ByFunction, Rule
from hopwave.planning.trace import Level
from hopwave.system.compile_notice import First

NO_LIMIT = np.iinfo(np.int32).max
FIRST = First(loop.take_part)


class Search:
    """A search in progress: its arrays, and its position."""

    def __init__(self, loaded: CpuGraph, sources: tuple[int, ...], question: jobs.SearchJob, threads: int) -> None:
        self.loaded = loaded
        self.question = question
        self.sources = np.array(sources, np.int64)
        worth = loaded.n // policy.VERTICES_PER_THREAD + loaded.m // policy.ARCS_PER_THREAD
        self.threads = max(1, min(threads, worth, policy.MAX_TEAM + 1))
        self.here = np.zeros(state.HERE_CELLS, np.int64)
        self.W: Any = None
        self.A: Any = None
        self.counts: npt.NDArray[np.float64] | ScaledCounts | None = None


def _of_loaded(module: str, name: str) -> Any:
    """A method that is a function of a module of this package, called with the loaded graph instead of the graph."""
    function = found_in(f"{__name__}.{module}", name)

    def method(self: Engine, graph: Graph, *arguments: Any) -> Any:
        return function(self, self.load(graph, None), *arguments)

    vars(method).update(vars(function))
    return method


class Engine:
    """See hopwave.engines.Engine."""

    name = "cpu"

    def missing(self) -> str | None:
        return None

    def load(self, graph: Graph, plan: Plan | None) -> CpuGraph:
        return graph._prepared.find(CpuGraph) or graph._prepared.keep(CpuGraph(graph))

    def why_not(self, plan: Plan, job: jobs.SearchJob | jobs.BetweennessJob) -> str | None:
        if isinstance(job, jobs.SearchJob):
            return plan.why_not(job)
        if plan.regime == "batch":
            return f"plan {plan.name!r} shares reads among GPU threads; on the CPU, use 'hopwave-block' or plan='auto'"
        if plan.regime == "wide" and (job.edges or job.squares):
            return f"plan {plan.name!r} only scores vertices, without bounds; use 'hopwave-block' or plan='auto'"
        return None

    def without(self, plan: Plan) -> tuple[str, ...]:
        return ("thread mappings", "queue making")

    def direct_search(
        self, graph: Graph, question: jobs.SearchJob, plan: Plan, named: bool, threads: int | None = None
    ) -> engines.DirectSearch | None:
        if named:
            return None
        from hopwave.engines.cpu.search.small import FirstSearches, SmallSearch

        if graph.n + graph.m > policy.SMALL_GRAPH:
            if FIRST.is_compiled():
                return None
            held = weakref.ref(graph)  # the graph caches its searches: a reference cycle would delay freeing both

            def search(sources: tuple[int, ...]) -> None:
                if (there := held()) is not None:
                    self.run(self.start(self.load(there, plan), sources, question, threads), plan, False)

            return FirstSearches(graph, question, threads, FIRST, search)
        return SmallSearch(graph, question, threads)

    def start(
        self, loaded: CpuGraph, sources: tuple[int, ...], question: jobs.SearchJob, threads: int | None = None
    ) -> Search:
        return Search(loaded, sources, question, thread_count(threads))

    def run(self, search: Search, plan: Plan, trace: bool) -> list[Level]:
        """The full search in compiled code, including the rule; returns its levels if they are traced."""
        counting = search.question.path_counts
        search.A = search.loaded.adjacency(neighbour_order(plan))
        with search.loaded.workspace(search.threads, counting) as search.W:
            rows = self._search(search, plan, trace)
            if counting:
                search.counts = self._counts(search, plan)
        return [
            Level(depth, choice, str(plan.steps[choice]), nf, mf, mu, found, checked, elapsed * 1e-9, ahead)
            for depth, choice, nf, mf, mu, found, checked, ahead, elapsed in rows
        ]

    def _search(self, search: Search, plan: Plan, trace: bool) -> list[list[int]]:
        A, W, here = search.A, search.W, search.here
        steps, rule, fill_now = _encode(plan)
        depth_limit = search.question.depth_limit
        limits = (  # in the order of the cells that start at state.DEPTH_LIMIT
            NO_LIMIT if depth_limit is None else min(depth_limit, NO_LIMIT),
            search.threads,
            search.loaded.degree_bits,
            fill_now,
            search.loaded.findable if plan.loop == "device" else -NO_LIMIT,
            0,  # state.OWN_RULE
        )
        levels = min(search.loaded.n, limits[0]) + 1 if trace else 0
        buffer = np.empty((levels, state.TRACE_COLUMNS), np.int64)  # unused rows use no memory
        cells = np.array(limits, np.int64)
        part = A, W, new_board(), here, search.sources, steps, rule, cells, buffer
        helpers, offsets = search.threads - 1, (A.indptr.itemsize, A.in_indptr.itemsize)
        with address_of(plan.rule) as cells[state.OWN_RULE]:
            team.lead(helpers, loop.take_part, part, offsets)
        return buffer[: here[state.TRACED]].tolist()

    def _counts(self, search: Search, plan: Plan) -> npt.NDArray[np.float64] | ScaledCounts:
        """σ from σ̂ and each level's shift; by mantissa and exponent if a level spans more than float64."""
        W, here = search.W, search.here
        if here[state.OVERFLOWED]:
            search.W = W = W._replace(sigma=np.empty(0))
            self._search(search, plan, trace=False)
            reached = np.flatnonzero(W.distance >= 0)
            order = reached[np.argsort(W.distance[reached], kind="stable")].astype(np.uint32)
            mantissa, exponent = np.zeros(search.loaded.n), np.zeros(search.loaded.n, np.int64)
            path_counts.count_extended(search.A, order, W.distance, mantissa, exponent)
            return ScaledCounts.plain(mantissa, exponent)
        segments = W.segments[: here[state.SEGMENTS]]
        if not segments[:, 2].any():
            return W.sigma
        mantissa, exponent = np.frexp(W.sigma)
        exponent = exponent.astype(np.int64)
        lengths = np.diff(segments[:, 0], append=here[state.QUEUE_END])
        exponent[W.queue[: here[state.QUEUE_END]]] += np.repeat(segments[:, 2], lengths)
        return ScaledCounts.plain(mantissa, exponent)

    def regime(self, graph: Graph, job: jobs.BetweennessJob, plan: Plan) -> None:
        return None

    def accumulation(
        self, graph: Graph, job: jobs.BetweennessJob, plan: Plan, threads: int | None = None
    ) -> jobs.Accumulation:
        loaded = self.load(graph, plan)
        if job.weighted:
            from hopwave.engines.cpu.betweenness.weighted import WeightedAccumulation

            return WeightedAccumulation(loaded, job, plan, threads)
        if plan.regime == "wide":
            from hopwave.engines.cpu.betweenness.wide import WideAccumulation  # compiled at first use

            return WideAccumulation(loaded, job, plan, threads)
        workers = partial(self._by_workers, loaded, job, plan, threads)
        if policy.runs_alone(job, plan) and job.planned_sources * (loaded.n + loaded.m) <= policy.SMALL_JOB:
            return SmallAccumulation(loaded, job, threads, workers, max(1, len(job.sources)))
        if policy.sums_like_workers(loaded, job, plan):
            from hopwave.engines.cpu.betweenness.run import FIRST as FIRST_WORKERS

            seconds = len(job.sources) * (loaded.n + loaded.m) * policy.SECONDS_PER_SUMMED_ARC
            if FIRST_WORKERS.avoids(seconds, lambda: workers().advance(0, lambda done: True)):
                return SmallAccumulation(loaded, job, threads, workers, policy.block_size(job.planned_sources))
        return workers()

    @staticmethod
    def _by_workers(loaded: CpuGraph, job: jobs.BetweennessJob, plan: Plan, threads: int | None) -> jobs.Accumulation:
        from hopwave.engines.cpu.betweenness.run import Accumulation, RenumberedAccumulation, RenumberedGraph

        if job.edges and policy.pulls_of(plan, loaded) != policy.PULL_NEVER:
            from hopwave.engines.cpu.betweenness.edges import EdgeAccumulation

            return EdgeAccumulation(loaded, job, plan, threads)
        if not policy.worth_renumbering(loaded, job):
            threads = thread_count(threads)
            if policy.all_on_one_source(loaded, job, plan, threads):
                from hopwave.engines.cpu.betweenness.wide import WideAccumulation

                return WideAccumulation(loaded, job, plan, threads)
            return Accumulation(loaded, job, plan, threads)
        prepared = loaded.graph._prepared
        renumbered = prepared.find(RenumberedGraph) or prepared.keep(RenumberedGraph(loaded.graph))
        return RenumberedAccumulation(renumbered, job, plan, threads)

    def path_sampling(self, graph: Graph, job: jobs.SampleJob, threads: int | None = None) -> jobs.PathSampling:
        if job.weighted:
            from hopwave.engines.cpu.betweenness.sampled_weighted_paths import WeightedPathSampling

            return WeightedPathSampling(self.load(graph, None), job, threads)
        from hopwave.engines.cpu.betweenness.sampled_paths import PathSampling

        return PathSampling(self.load(graph, None), job, threads)

    def why_not_operation(self, operation: engines.Operation, graph: Graph) -> str | None:
        return None

    def sweep(self, graph: Graph, job: Sweep, poll: Poll, threads: int | None = None) -> Swept:
        if job.weighted:
            from hopwave.engines.cpu.many.weighted import sweep
        else:
            from hopwave.engines.cpu.many.run import sweep
        return job.chosen(sweep(self.load(graph, None), job, poll, threads))

    def components(self, graph: Graph, strong: bool) -> npt.NDArray[np.int32]:
        from hopwave.engines.cpu.many.run import own_component_labels

        return own_component_labels(graph, strong)

    cut_sweep = _of_loaded("many.cut", "cut_sweep")
    reach_bounds = _of_loaded("many.cut", "reach_bounds")
    blocks = _of_loaded("blocks", "blocks")
    shortest_path = _of_loaded("shortest_paths.between", "shortest_path")
    local_efficiencies = _of_loaded("many.neighbours", "local_efficiencies")
    path_sums = _of_loaded("betweenness.path_sums", "path_sums")
    hyperball = _of_loaded("many.hyperball", "hyperball")

    def fetch(self, search: Search) -> jobs.FoundBySearch:
        W, here = search.W, search.here
        # The last level is empty, unless a limit ended the search before.
        depth = int(here[state.DEPTH]) - (not here[state.NF] and here[state.DEPTH] > 0)
        return {
            "distances": W.distance,
            "predecessors": W.parent if search.question.predecessors else None,
            "path_counts": search.counts,
            "depth": int(depth),
            "reached": int(here[state.REACHED]),
        }


def neighbour_order(plan: Plan) -> str:
    """The order of neighbours that CpuGraph.adjacency must prepare for a plan."""
    return "any" if plan.order == "any" else "paper" if plan.loop == "host" else "degree"


@lru_cache(maxsize=64)
def _encode(plan: Plan) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], bool]:
    """A plan as input of the compiled loop: steps (pull?, flags, asynchronous?), rule, whether it reads distances."""
    rule = np.array([plan.rule.code, *plan.rule.parameters()])
    steps = np.zeros((len(plan.steps), 3), np.int64)
    keeps_open = any(isinstance(step, Pull) and step.operand == "visited" for step in plan.steps)
    for row, step in zip(steps, plan.steps, strict=True):
        if isinstance(step, Pull):
            flags = ROWS_ALL * (step.rows == "all") | OPERAND_VISITED * (step.operand == "visited")
            row[:] = 1, flags | EARLY_EXIT * step.early_exit | KEEPS_OPEN * keeps_open, step.asynchronous
    return steps, rule, bool(steps[:, 2].any())


def address_of(rule: Rule) -> AbstractContextManager[int]:
    """The address that `limits` needs; 0 for a compiled rule."""
    if isinstance(rule, ByFunction):
        return callback(partial(rule.function, 0.0, 0.0), 8)  # n, m, nf, mf, mu, nf0, mf0, last
    return nullcontext(0)


if TYPE_CHECKING:
    _: engines.Engine = Engine()  # mypy checks the protocol
