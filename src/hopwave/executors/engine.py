"""An engine that distributes jobs over many sources to the workers of an executor."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from hopwave import engines
from hopwave.arrays import uploaded
from hopwave.engines.host_memory import check_memory
from hopwave.errors import EngineError
from hopwave.executors.deal import (
    Block,
    Deal,
    core_block,
    pairs_per_block,
    path_block,
    source_block,
    sources_per_block,
    sweep_block,
)
from hopwave.graph import Graph
from hopwave.planning.jobs import PATH_SUMS, Accumulation, BetweennessJob, Integers, PathSampling, SampleJob
from hopwave.planning.many_sources import Poll, Sweep, Swept
from hopwave.planning.plan import Plan

if TYPE_CHECKING:
    _Engine = engines.Engine  # mypy checks the methods below against the protocol
else:
    _Engine = object


class DealtEngine(_Engine):
    """See hopwave.engines.Engine. Its name is that of `engine`, which runs all operations not sent to workers."""

    def __init__(self, engine: engines.Engine, executor: Executor) -> None:
        self.engine, self.executor = engine, executor
        self.name = engine.name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.engine, name)

    def accumulation(self, graph: Graph, job: BetweennessJob, plan: Plan, threads: int | None = None) -> Accumulation:
        planned = self.engine.accumulation(graph, job, plan, 1 if self.name == "cpu" else None)

        def block(number: int) -> Block:
            sources = job.sources[number * planned.size : (number + 1) * planned.size]
            return partial(source_block, replace(job, sources=sources, out_of=len(job.sources)), plan)

        return DealtAccumulation(partial(self.deal, graph, block), planned)

    def path_sampling(self, graph: Graph, job: SampleJob, threads: int | None = None) -> PathSampling:
        return DealtPaths(self, graph, job, self.engine.path_sampling(graph, job, threads))

    def sweep(self, graph: Graph, job: Sweep, poll: Poll, threads: int | None = None) -> Swept:
        count = len(job.sources)
        if count < 2:  # one search is faster than a message
            return self.engine.sweep(graph, job, poll, threads)
        size = sources_per_block(job, graph.n, self.name)
        joined = Joined(job, graph.n)

        def block(number: int) -> Block:
            sources = job.sources[number * size : (number + 1) * size]
            return partial(sweep_block, replace(job, sources=sources, out_of=count))

        done = 0

        def add(number: int, part: Swept) -> None:
            nonlocal done
            joined.add(part)
            done = min((number + 1) * size, count)

        self.deal(graph, block, 0, -(-count // size)).collect(add, lambda: bool(poll(done)) and False)  # never pauses
        swept = joined.swept()
        # A table of distances belongs on the GPU if the graph or its reverse was on a GPU.
        came_from = graph.device, getattr(graph._known_reverse(), "device", None)
        follows = job.keep == "rows" and self.name == "cuda" and "cuda" in came_from
        return replace(swept, rows=uploaded(swept.rows)) if follows else swept

    def deal(self, graph: Graph, block: Callable[[int], Block], first: int, count: int) -> Deal:
        """The blocks with numbers in [first, count), distributed to the executor."""
        return Deal(self.executor, graph, self.name, block, first, count)


# ------------------------------------------------------------------ betweenness


class DealtAccumulation:
    """See hopwave.planning.jobs.Accumulation. `planned` defines the blocks, but is never started itself."""

    def __init__(self, deal: Callable[[int, int], Deal], planned: Accumulation) -> None:
        self.size, self.blocks, self.certificate = planned.size, planned.blocks, planned.certificate
        # (sums, number of blocks summed) in one tuple, so that a Ctrl-C leaves both old or both new.
        self._state = planned.total, 0
        self._begin = deal
        self._deal: Deal | None = None

    @property
    def total(self) -> Any:
        """The sums over all finished blocks."""
        return self._state[0]

    @property
    def done(self) -> int:
        """The number of finished blocks."""
        return self._state[1]

    def advance(self, first: int, poll: Callable[[int], bool]) -> int:
        """Add up blocks until all are finished or `poll` asks for a pause. Workers continue during the pause."""
        if self._deal is None or first != self.done:
            self._deal = self._begin(first, self.blocks)
        self._state = self.total, first

        def add(number: int, found: Any) -> None:
            sums, self.certificate[number * self.size : (number + 1) * self.size] = found
            self._state = self.total + sums, number + 1

        self._deal.collect(add, lambda: poll(self.done) and self.done > first)
        return self.done


def dealt_core(executor: Executor, graph: Graph, job: BetweennessJob, planned: Accumulation) -> Accumulation:
    """`planned`, a run over the core of a graph on the CPU, with its batches distributed to the executor."""
    return DealtAccumulation(partial(Deal, executor, graph, "cpu", partial(partial, core_block, job)), planned)


class DealtPaths:
    """See hopwave.planning.jobs.PathSampling. Counts are integers, so sums do not depend on the block size."""

    def __init__(self, engine: DealtEngine, graph: Graph, job: SampleJob, planned: PathSampling) -> None:
        self._state = planned.counts, planned.sums, 0
        self._job, self._engine, self._graph = job, engine, graph
        self._deal: Deal | None = None
        self._span = 0, 0, 0  # first pair of the Deal, pairs per block, end

    counts = property(lambda self: self._state[0])
    sums = property(lambda self: self._state[1])

    @property
    def done(self) -> int:
        """Number of pairs drawn."""
        return self._state[2]

    @done.setter
    def done(self, pairs: int) -> None:
        self._state = *self._state[:2], pairs
        self._deal = None

    def advance(self, until: int, poll: Callable[[int], bool]) -> int:
        """See hopwave.planning.jobs.PathSampling.advance."""
        first = self.done
        if until <= first:
            return first
        if self._deal is None or self._span[2] != until:
            self._span = first, pairs_per_block(until - first, self._engine.name), until
            self._deal = self._engine.deal(self._graph, self._block, 0, -(-(until - first) // self._span[1]))
        begin, size, _ = self._span

        def add(number: int, found: Any) -> None:
            counts, sums = found
            self._state = self.counts + counts, self.sums + sums, min(begin + (number + 1) * size, until)

        self._deal.collect(add, lambda: poll(self.done) and self.done > first)
        return self.done

    def _block(self, number: int) -> Block:
        begin, size, end = self._span
        return partial(path_block, self._job, begin + number * size, min(begin + (number + 1) * size, end))


# ------------------------------------------------------------------ searches


class Joined:
    """The joined results of all blocks of a sweep, added in the order of the blocks."""

    def __init__(self, job: Sweep, n: int) -> None:
        self._job, count = job, len(job.sources)
        if job.keep == "rows":  # check memory before the first search
            columns = n if job.targets is None else len(job.targets)
            check_memory((8 if job.weighted else 4) * columns * count, f"a table of {count:,} × {columns:,} distances")
        counted = job.keep in ("sums", "columns") and not job.weighted
        self._histogram: Integers = np.zeros(n + 1 if counted else 0, np.int64)
        self._columns: Any = None
        self._rows: Any = None  # the full table if job.keep is "rows", else empty
        self._parts: list[Swept] = []
        self._done = 0

    def add(self, part: Swept) -> None:
        """Add the result of the next block."""
        self._histogram[: len(part.histogram)] += part.histogram
        if self._columns is None:
            self._columns = np.zeros_like(part.columns)
            whole = (len(self._job.sources), *part.rows.shape[1:]) if self._job.keep == "rows" else part.rows.shape
            self._rows = np.empty(whole, part.rows.dtype)
        self._columns += part.columns
        self._rows[self._done : self._done + len(part.rows)] = part.rows
        self._done += len(part.rows)
        self._parts.append(replace(part, columns=part.columns[:0], rows=part.rows[:0]))

    def swept(self) -> Swept:
        """The result of all blocks."""
        together = {
            name: np.concatenate([getattr(part, name) for part in self._parts])
            for name in ("reached", "total", "farthest", "inverse", "values")
        }
        pairs: Any = tuple(np.concatenate([part.pairs[i] for part in self._parts]) for i in (0, 1))
        return Swept(**together, histogram=self._histogram, columns=self._columns, rows=self._rows, pairs=pairs)


# ---------------------------------------------------------------- the engine of remote workers

# Methods of an engine that one worker computes, and the position of the graph among their arguments.
ASKED: dict[str, int | None] = {
    "why_not": None, "without": None, "why_not_operation": 1, "regime": 0, "reach_bounds": 0, "components": 0,
}  # fmt: skip


def call(method: str, given: list[Any], at: int | None, engine: engines.Engine, graph: Graph, threads: Any) -> Any:
    """The result of a method of the worker's engine; unless `at` is None, the graph is inserted at that position."""
    return getattr(engine, method)(*(given if at is None else [*given[:at], graph, *given[at:]]))


def plan_run(job: BetweennessJob, plan: Plan, engine: engines.Engine, graph: Graph, threads: Any) -> tuple[int, ...]:
    """(sources per block, number of blocks, number of sums) of a betweenness run, without starting it."""
    planned = engine.accumulation(graph, job, plan, threads)
    return planned.size, planned.blocks, len(planned.total)


class RemoteEngine:
    """See hopwave.engines.Engine. Calls that are not distributed to all workers are computed by one worker."""

    def __init__(self, name: str, executor: Executor, graph: Graph) -> None:
        self.name, self._executor, self._graph = name, executor, graph

    def _ask(self, graph: Graph, block: Block) -> Any:
        deal = Deal(self._executor, graph, self.name, lambda number: block, 0, 1)
        return next(found[1] for found in deal if found is not None)

    def _call(self, name: str, *positional: Any, **named: Any) -> Any:
        at, given = ASKED[name], [*positional, *named.values()]
        graph = self._graph if at is None else given.pop(at)
        return self._ask(graph, partial(call, name, given, at))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ASKED:
            return partial(self._call, name)
        raise EngineError(
            f"device={self.name!r} is not available in this process, and workers of an executor do not compute "
            f"{name!r}; use device='cpu'"
        )

    def accumulation(self, graph: Graph, job: BetweennessJob, plan: Plan, threads: int | None = None) -> Any:
        """A run that is never started: workers compute its blocks."""
        size, blocks, width = self._ask(graph, partial(plan_run, job, plan))
        sums = {"total": np.zeros(width), "certificate": np.zeros((len(job.sources), 2))}
        return SimpleNamespace(size=size, blocks=blocks, **sums)

    def path_sampling(self, graph: Graph, job: SampleJob, threads: int | None = None) -> Any:
        return SimpleNamespace(counts=np.zeros(graph.n, np.int64), sums=np.zeros(len(PATH_SUMS), np.int64))

    def sweep(self, graph: Graph, job: Sweep, poll: Poll, threads: int | None = None) -> Swept:
        swept: Swept = self._ask(graph, partial(sweep_block, job))
        return swept
