"""What runs on a worker of an executor: one block of a job, on a graph that the worker keeps.

A task names its graph by a key. A worker that does not have the graph replies so, and gets it with the next task
(deal.py). So a graph is sent once to each worker process, not with each block. Threads of the process that made the
graph, and processes forked from it, have it already.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol
from uuid import uuid4
from weakref import WeakValueDictionary

import numpy as np

from hopwave.arrays import on_host
from hopwave.engines import Engine, engine
from hopwave.errors import HopwaveError
from hopwave.executors import sizes
from hopwave.graph import Graph
from hopwave.planning.jobs import BetweennessJob, SampleJob
from hopwave.planning.many_sources import Sweep, Swept
from hopwave.planning.plan import Plan

# ------------------------------------------------------------------ blocks of work


class Block(Protocol):
    """A part of a job. It is pickled, so it holds no graph."""

    def run(self, engine: Engine, graph: Graph, threads: int | None) -> Any:
        """Compute the block; returns its part of the result."""


@dataclass(frozen=True)
class SourceBlock:
    """Sums of dependencies over one block of sources: the sums, and both sides of each source's certificate."""

    job: BetweennessJob
    plan: Plan

    def run(self, engine: Engine, graph: Graph, threads: int | None) -> tuple[Any, Any]:
        """As algorithms/brandes.py runs a job."""
        run = engine.accumulation(graph, self.job, self.plan, threads)
        done = 0
        while done < run.blocks:
            done = run.advance(done, _go_on)
        return run.total, run.certificate


@dataclass(frozen=True)
class CoreBlock:
    """One batch of core vertices of a reduced job (hopwave.algorithms.reduction.chains): its sums."""

    job: BetweennessJob
    number: int

    def run(self, engine: Engine, graph: Graph, threads: int | None) -> tuple[Any, Any]:
        """On the CPU. The graph belongs to this job alone, and keeps the core for the next block."""
        from hopwave.engines.cpu.betweenness.core_run import CoreRun, run_of

        kept = graph._prepared.find(CoreRun) or graph._prepared.keep(run_of(graph, self.job, threads))
        return kept.batches(self.number, self.number + 1), kept.certificate


@dataclass(frozen=True)
class SweepBlock:
    """Searches from one block of sources."""

    job: Sweep

    def run(self, engine: Engine, graph: Graph, threads: int | None) -> Swept:
        """As algorithms/many_sources.py runs a job; the histogram is cut after the greatest distance."""
        found = engine.sweep(graph, self.job, _ignore, threads)
        return replace(found, histogram=np.trim_zeros(found.histogram, "b"), rows=on_host(found.rows))


@dataclass(frozen=True)
class PathBlock:
    """Random paths of the pairs from number `begin` to `end`: counts per vertex, and sums."""

    job: SampleJob
    begin: int
    end: int

    def run(self, engine: Engine, graph: Graph, threads: int | None) -> tuple[Any, Any]:
        """As algorithms/betweenness_sampling/paths.py draws them."""
        run = engine.path_sampling(graph, self.job, threads)
        run.done = self.begin
        while run.done < self.end:
            run.advance(self.end, _go_on)
        return run.counts, run.sums


def _go_on(done: int) -> bool:
    return False


def _ignore(done: int) -> None:
    """Shows nothing: the process that collects the results shows progress."""


# ------------------------------------------------------------------ graphs


@dataclass
class GraphKey:
    """The name of a graph among all processes."""

    key: str = field(default_factory=lambda: uuid4().hex)


_at_home: WeakValueDictionary[str, Graph] = WeakValueDictionary()  # graphs of this process
_received: OrderedDict[str, Graph] = OrderedDict()  # graphs that came with a task; the one used last is at the end
_lock = threading.Lock()


def register(graph: Graph) -> tuple[str, bool]:
    """(key, turned). If `turned`, the key is that of the reversed graph, and workers reverse the graph they have."""
    other = graph._known_reverse()
    known = None if other is None else other._prepared.find(GraphKey)
    if other is not None and known is not None and graph._prepared.find(GraphKey) is None:
        _at_home[known.key] = other
        return known.key, True
    key = graph._prepared.record(GraphKey).key
    _at_home[key] = graph
    return key, False


def _graph(key: str, parcel: Graph | None) -> Graph | None:
    with _lock:
        found = _at_home.get(key)
        if found is not None:
            return found
        found = _received.pop(key, parcel)
        if found is not None:
            _received[key] = found
            while len(_received) > sizes.GRAPHS_KEPT:
                _received.popitem(last=False)
        return found


# ------------------------------------------------------------------ tasks


@dataclass(frozen=True)
class Task:
    """One block, the key of its graph (or of the graph's reverse), and the engine that computes it.

    No two tasks have the same name, because some executors, such as Dask's, compute equal calls only once: a task that
    is sent again may find the graph that the worker lacked the first time.
    """

    name: str
    graph: str
    turned: bool
    device: str
    block: Block


class Reply(NamedTuple):
    """What a worker returns: the result, or an error that others would find too, or neither if it lacks the graph."""

    process: str
    thread: int
    lacks_graph: bool
    result: Any = None
    error: HopwaveError | OverflowError | None = None


_PROCESS = uuid4().hex


def do(task: Task, parcel: Graph | None) -> Reply:
    """Compute a block. `parcel` is its graph, if it is sent with the task."""
    who = f"{_PROCESS} {os.getpid()}", threading.get_ident()  # a fork has its parent's _PROCESS, so add the pid
    graph = _graph(task.graph, parcel)
    if graph is None:
        return Reply(*who, lacks_graph=True)
    threads = 1 if task.device == "cpu" else None  # one thread per worker; the reference engine accepts no threads=
    try:
        result = task.block.run(engine(task.device), graph.reversed() if task.turned else graph, threads)
    except (HopwaveError, OverflowError) as error:
        return Reply(*who, lacks_graph=False, error=error)
    return Reply(*who, lacks_graph=False, result=result)
