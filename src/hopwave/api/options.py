"""The arguments that many functions share, described once.

G : Graph, SciPy sparse matrix or NetworkX graph
    The graph. The values of a matrix are its weights, and so is the edge attribute "weight" of a NetworkX graph (1 for
    an edge without it). Convert a graph once, by `Graph.from_networkx` or `Graph.from_scipy`, if you call several
    functions. Vertices are ids, or labels if the graph has labels.
weights : bool, array or str, optional
    Lengths of the arcs (for PageRank and the other centralities by power iteration: their strengths). True: the graph's
    own weights, an error if it has none. False: every arc counts 1. An array: one number per stored arc, in the order
    of `G.indices`; both arcs of an undirected edge need the same one. A string: an edge attribute of a NetworkX graph.
    Lengths must be finite and not negative. Weights in the order of the edges belong in `Graph.from_edges(weights=)`.
    By default some functions follow the weights of a graph and others count hops; each function says which.
direction : {"out", "in"}, optional
    "out", the default, follows arcs from tail to head; "in" follows them backwards.
source, target : vertex
    An id, or a label if the graph has labels. Functions that search from one source also take a list of vertices:
    distances are then those from the nearest.
seed : int, random.Random or NumPy generator, optional
    Seed of what is drawn at random, which makes the result repeatable.
device : {"auto", "cpu", "cuda", "reference"}, optional
    Where to compute. "auto", the default, uses a GPU if there is one, the graph is large enough to be worth the upload
    and the function runs there; otherwise the CPU. Algorithms made of products run where the graph is. "reference" is
    a slow engine of plain Python for small graphs, which most functions do not offer.
progress : bool or callable, optional
    None, the default, shows a progress bar on a terminal after two seconds, True at once, False never. A function is
    called with (sources done, all sources).
threads : int, optional
    Threads of the CPU engine; by default HOPWAVE_NUM_THREADS, or all cores. Results do not depend on it.
executor : concurrent.futures.Executor, optional
    Compute in its workers instead of this process: on their CPUs, or on their GPUs with `device="cuda"`; see
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
    """The same options with their defaults."""

    device: str = "auto"
    progress: Progress = None
    threads: int | None = None
    executor: Executor | None = None

    @property
    def alone(self) -> bool:
        """Whether this process computes, not the workers of an executor."""
        return self.executor is None

    def engine(self, weighted: bool, graph: Graph, searches: int) -> Engine:
        """The engine for that many searches: along weights, or counting hops."""
        return distance_engine(weighted, self.device, graph, self.threads, searches, self.executor)

    def sweep(self, engine: Engine, graph: Graph, job: Sweep, title: str) -> Swept:
        """Search from all sources of the job."""
        return many_sources.sweep(engine, graph, job, title, self.progress, self.threads)
