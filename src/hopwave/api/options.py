"""The arguments that many functions share, described once.

G : Graph, SciPy sparse matrix or NetworkX graph
    The graph. Weights are the values of a matrix, or the edge attribute "weight" of a NetworkX graph (1 if missing). To
    call several functions, convert the graph once with `Graph.from_networkx` or `Graph.from_scipy`. Vertices are ids,
    or labels if the graph has labels.
weights : bool, array or str, optional
    Lengths of the arcs, or their strengths for PageRank and other centralities by power iteration. True: the graph's
    own weights; an error if it has none. False: every arc counts 1. An array: one number per stored arc, in the order
    of `G.indices`, equal for both arcs of an undirected edge. A string: an edge attribute of a NetworkX graph. Lengths
    must be finite and not negative. Pass weights in the order of the edges to `Graph.from_edges(weights=)`. By default,
    some functions use the weights of a graph and others count hops; the docstring of each function says which.
direction : {"out", "in"}, optional
    "out", the default, follows arcs from tail to head; "in" follows arcs backwards.
source, target : vertex
    An id, or a label if the graph has labels. Functions that search from one source also accept a list of vertices;
    distances are then those from the nearest.
seed : int, random.Random or NumPy generator, optional
    Seed of the random choices, which makes the result reproducible.
device : {"auto", "cpu", "cuda", "reference"}, optional
    Where to compute. "auto", the default, uses a GPU if there is one, it supports the function, and the work repays the
    upload of the graph; otherwise the CPU. Algorithms made of matrix products run on the graph's device. "reference" is
    a slow engine in Python, NumPy and SciPy for small graphs, which most functions do not support.
progress : bool or callable, optional
    Whether to show a progress bar: True immediately, None (the default) after two seconds, False never. A function is
    called with (finished sources, all sources).
threads : int, optional
    Number of threads of the CPU engine; default: HOPWAVE_NUM_THREADS or all cores. Results do not depend on it.
executor : concurrent.futures.Executor, optional
    Executor whose workers compute instead of this process: on their CPUs, or on their GPUs with `device="cuda"`; see
    docs/executors.md. Results are bitwise identical. It cannot be combined with `threads`.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import NamedTuple, TypedDict

from hopwave.algorithms import many_sources
from hopwave.api.choice import distance_engine
from hopwave.checks.keywords import shared
from hopwave.engines import Engine
from hopwave.graph import Graph
from hopwave.planning.jobs import Progress
from hopwave.planning.many_sources import Sweep, Swept


class Run(TypedDict, total=False):
    """Options of functions that search from many vertices, for type checkers: `**run: Unpack[Run]`."""

    device: str
    progress: Progress
    threads: int | None
    executor: Executor | None


@shared("Run")
class Running(NamedTuple):
    """The options of `Run` with their defaults."""

    device: str = "auto"
    progress: Progress = None
    threads: int | None = None
    executor: Executor | None = None

    @property
    def alone(self) -> bool:
        """Whether this process computes instead of the workers of an executor."""
        return self.executor is None

    def engine(self, weighted: bool, graph: Graph, searches: int) -> Engine:
        """The engine for that many searches, by weights or by hops."""
        return distance_engine(weighted, self.device, graph, self.threads, searches, self.executor)

    def sweep(self, engine: Engine, graph: Graph, job: Sweep, title: str) -> Swept:
        """Search from all sources of the job."""
        return many_sources.sweep(engine, graph, job, title, self.progress, self.threads)
