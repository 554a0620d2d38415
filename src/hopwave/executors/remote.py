"""The workers' engine, for a process that cannot run it: a login node without a GPU whose workers have GPUs.

One worker answers what an engine decides for a whole run: the regime, the size of a block, what it cannot do.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hopwave import engines
from hopwave.errors import EngineError
from hopwave.executors.deal import Deal
from hopwave.executors.worker import Block, SweepBlock
from hopwave.graph import Graph
from hopwave.planning.jobs import PATH_SUMS, Accumulation, BetweennessJob, PathSampling, SampleJob
from hopwave.planning.many_sources import Poll, Sweep, Swept
from hopwave.planning.plan import Plan

# Methods of an engine that one worker answers, and the place of the graph among their arguments.
ASKED: dict[str, int | None] = {
    "why_not": None, "without": None, "why_not_operation": 1, "regime": 0, "reach_bounds": 0, "components": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """A method of the worker's engine and its arguments. The graph is put among them at this place, if at any."""

    method: str
    arguments: tuple[Any, ...]
    graph_at: int | None = None

    def run(self, engine: engines.Engine, graph: Graph, threads: int | None) -> Any:
        """What the method returns."""
        given = list(self.arguments)
        if self.graph_at is not None:
            given.insert(self.graph_at, graph)
        return getattr(engine, self.method)(*given)


@dataclass(frozen=True)
class PlanRun:
    """Asks how the worker's engine would run a betweenness job."""

    job: BetweennessJob
    plan: Plan

    def run(self, engine: engines.Engine, graph: Graph, threads: int | None) -> tuple[int, int, int]:
        """(sources per block, number of blocks, number of sums) of the run, which is not started."""
        planned = engine.accumulation(graph, self.job, self.plan, threads)
        return planned.size, planned.blocks, len(planned.total)


@dataclass
class Planned:
    """See hopwave.planning.jobs.Accumulation and PathSampling. Sums are 0; workers compute the blocks (engine.py)."""

    size: int = 0
    blocks: int = 0
    total: Any = None
    certificate: Any = None
    counts: Any = None
    sums: Any = None
    done: int = 0

    def advance(self, first: int, poll: Any) -> int:
        """Never called: its blocks are dealt."""
        raise NotImplementedError


class RemoteEngine:
    """See hopwave.engines.Engine. Calls that are not dealt to all workers are computed by one of them."""

    def __init__(self, name: str, executor: Executor, graph: Graph) -> None:
        self.name, self._executor, self._graph = name, executor, graph

    def _ask(self, graph: Graph, block: Block) -> Any:
        deal = Deal(self._executor, graph, self.name, lambda number: block, 0, 1)
        return next(found[1] for found in deal if found is not None)

    def _call(self, name: str, *positional: Any, **named: Any) -> Any:
        arguments = (*positional, *named.values())
        if (at := ASKED[name]) is None:
            return self._ask(self._graph, Call(name, arguments))
        return self._ask(arguments[at], Call(name, arguments[:at] + arguments[at + 1 :], at))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ASKED:
            return partial(self._call, name)
        raise EngineError(
            f"device={self.name!r} cannot run in this process, and an executor's workers do not compute {name!r}; use "
            "device='cpu'"
        )

    def accumulation(self, graph: Graph, job: BetweennessJob, plan: Plan, threads: int | None = None) -> Accumulation:
        size, blocks, width = self._ask(graph, PlanRun(job, plan))
        return Planned(size, blocks, np.zeros(width), np.zeros((len(job.sources), 2)))

    def path_sampling(self, graph: Graph, job: SampleJob, threads: int | None = None) -> PathSampling:
        return Planned(counts=np.zeros(graph.n, np.int64), sums=np.zeros(len(PATH_SUMS), np.int64))

    def sweep(self, graph: Graph, job: Sweep, poll: Poll, threads: int | None = None) -> Swept:
        swept: Swept = self._ask(graph, SweepBlock(job))
        return swept
