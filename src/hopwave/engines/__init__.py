"""Engines: the machines that plans run on. What an engine is, is written here and nowhere else.

An engine is a folder beside this file, found by its name. Its `__init__` has a class `Engine` (searches, betweenness,
many sources), its module `linalg` a class `Algebra` (products over semirings). mypy checks both classes against the
protocols below.

Two methods say what an engine cannot do: `why_not` for a plan, `why_not_operation` for an operation. They return None
where it can, else a sentence with the reason and what to use instead. A method that is called nevertheless raises an
EngineError with that sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import BinaryOp, Monoid, UnaryOp
from hopwave.algebra.vector import Vector
from hopwave.arrays import Array
from hopwave.errors import EngineError
from hopwave.graph import Graph, csr
from hopwave.graph.csr import Rows
from hopwave.graph.row_operations import Place
from hopwave.planning.jobs import (
    Accumulation,
    Allowed,
    BetweennessJob,
    CutSweep,
    CutSwept,
    Direction,
    FoundByBuckets,
    FoundBySearch,
    FoundNearFar,
    Integers,
    PathSampling,
    Poll,
    PowerEnd,
    PowerIteration,
    PowerJob,
    Product,
    SampleJob,
    SearchJob,
    Settled,
    ShortestPathsJob,
    Sweep,
    Swept,
    Touched,
)
from hopwave.planning.plan import Plan
from hopwave.planning.trace import Level

NAMES = ("cuda", "cpu", "reference")  # in the order device="auto" prefers them

# What an engine may lack: see Engine.why_not_operation and Algebra.why_not_operation.
Operation = Literal[
    "sweep",
    "weighted_sweep",
    "components",
    "strong_components",
    "shortest_path",
    "local_efficiencies",
    "path_sampling",
    "weighted_path_sampling",
    "cut_sweep",
    "reach_bounds",
]
Shortcut = Literal[
    "waves",
    "count_entries",
    "count_triangles",
    "pagerank",
    "power_iteration",
    "dijkstra",
    "delta_stepping",
    "near_far",
]

# Only the engine itself looks inside these; callers pass them from one method to the next.
Loaded = Any  # a graph, prepared for searches
Search = Any  # a search under way


class DirectSearch(Protocol):
    """Searches of one graph, each in one call."""

    @property
    def without(self) -> tuple[str, ...]:
        """The plan's choices that have no meaning here."""

    def __call__(self, sources: tuple[int, ...], limit: int | None) -> FoundBySearch | None:
        """The search from these sources up to a limit of hops; None where it needs more than one call."""


class Engine(Protocol):
    """Searches, betweenness, and questions about many sources."""

    name: str

    def missing(self) -> str | None:
        """Why this engine cannot run on this machine and what to do about it, or None."""

    # ---------------------------------------------------------------- searches

    def why_not(self, plan: Plan, job: SearchJob | BetweennessJob) -> str | None:
        """None if this engine can run the plan for that search or betweenness job, else the reason."""

    def without(self, plan: Plan) -> tuple[str, ...]:
        """The plan's choices that have no meaning on this engine."""

    def direct_search(
        self, graph: Graph, question: SearchJob, plan: Plan, named: bool, threads: int | None = None
    ) -> DirectSearch | None:
        """Searches of this graph by this plan as one function, with everything prepared.

        None where there is none: load, start, run and fetch then do it. On a CPU it is for graphs so small that a
        plan's rule costs more than it saves, and only for plans that the caller has not `named`; on a GPU for plans
        that are one launch. The question's depth limit is given to the call. Several threads may call it at once.
        """

    def load(self, graph: Graph, plan: Plan) -> Loaded:
        """The graph as the engine needs it for the plan, prepared once and kept with the graph."""

    def start(
        self, loaded: Loaded, sources: tuple[int, ...], question: SearchJob, threads: int | None = None
    ) -> Search:
        """A search that has reached its sources. Only the CPU engine takes threads=; others raise an EngineError."""

    def run(self, search: Search, plan: Plan, trace: bool) -> list[Level]:
        """Compute all levels. Returns them if `trace` is set; some engines always return them."""

    def fetch(self, search: Search) -> FoundBySearch:
        """The result of a search that has run."""

    # ---------------------------------------------------------------- betweenness

    def regime(self, graph: Graph, job: BetweennessJob, plan: Plan) -> tuple[str, str] | None:
        """Which of our betweenness regimes suits the job on this machine, and why; None: the engine does not choose."""

    def accumulation(self, graph: Graph, job: BetweennessJob, plan: Plan, threads: int | None = None) -> Accumulation:
        """A betweenness run: sums of dependencies over the job's sources (algorithms/brandes.py)."""

    def path_sampling(self, graph: Graph, job: SampleJob, threads: int | None = None) -> PathSampling:
        """A run that draws shortest paths between random pairs (algorithms/betweenness_sampling)."""

    # ---------------------------------------------------------------- many sources

    def why_not_operation(self, operation: Operation, graph: Graph) -> str | None:
        """None if this engine has that operation for the graph, else the reason."""

    def sweep(self, graph: Graph, job: Sweep, poll: Poll, threads: int | None = None) -> Swept:
        """Searches from many sources, and what is kept of them (algorithms/many_sources.py)."""

    def cut_sweep(self, graph: Graph, job: CutSweep, poll: Poll, threads: int | None = None) -> CutSwept:
        """Searches that are cut off once their source cannot be among the highest (algorithms/top_scores.py)."""

    def reach_bounds(self, graph: Graph) -> tuple[Integers, Integers]:
        """How many vertices each vertex reaches, itself included: at least, and at most."""

    def components(self, graph: Graph, strong: bool) -> npt.NDArray[np.int32]:
        """The number of every vertex's component, weak or strong, counted by lowest vertex."""

    def shortest_path(self, graph: Graph, source: int, target: int) -> list[int] | None:
        """The ids of one shortest path, both ends included; None where there is no path."""

    def local_efficiencies(self, graph: Graph, poll: Poll, threads: int | None = None) -> npt.NDArray[np.float64]:
        """The efficiency of the graph that each vertex's neighbours induce."""


class FoundByWaves(NamedTuple):
    """What one launch for all products of `linalg.waves` found; `trace` has one row per product, where it is wanted."""

    levels: Vector
    values: Vector | None
    trace: list[list[int]] | None


class Algebra(Protocol):
    """Products over semirings, and what `hopwave.linalg` needs beside them. All operands are on the engine's device.

    What masks, accumulators and replacement mean is written once, in hopwave.linalg, over arrays of `xp`. An engine
    adds what needs compiled code.
    """

    name: str
    xp: Any  # the module of its arrays: numpy or cupy

    def missing(self) -> str | None:
        """Why this engine cannot run on this machine and what to do about it, or None."""

    # ---------------------------------------------------------------- products

    def push(
        self, A: Matrix, x: Vector, product: Product, allowed: Allowed | None, threads: int | None
    ) -> tuple[Vector, Touched]:
        """The product by columns of A (rows of A.T): x is sparse; the result may be either."""

    def pull(
        self, A: Matrix, x: Vector, product: Product, allowed: Allowed | None, threads: int | None
    ) -> tuple[Vector, Touched]:
        """The product by rows of A, only those allowed: x is dense; the result may be either."""

    def multiply(
        self,
        A: Matrix,
        B: Matrix,
        product: Product,
        mask: Rows | None,
        complement: bool,
        by: Direction,
        threads: int | None,
    ) -> tuple[Rows, Touched]:
        """A ⊕.⊗ B; by rows of B ("push", Gustavson) or by dot products with its columns ("pull", masked only).

        In a term, a is A's value and x is B's; `out` is the row of A, `zero` the column of B. The first note of Touched
        is the direction that was taken.
        """

    # ---------------------------------------------------------------- arrays

    def binary(self, op: BinaryOp) -> Callable[[Array, Array], Array]:
        """The operator on whole arrays."""

    def unary(self, op: UnaryOp) -> Callable[[Array], Array]:
        """The operator on a whole array."""

    def reduce(self, add: Monoid, values: Array, dtype: np.dtype[Any]) -> Any:
        """The sum of an array that is not empty, as a Python scalar."""

    def fill(self, values: Array, present: Array, allowed: Allowed, value: Any) -> int | None:
        """Write value and set the bit wherever the mask allows; returns how many bits are set then, if it is known."""

    def scatter(self, op: BinaryOp, target: Array, places: Array, values: Array) -> None:
        """target[places] = op(target[places], values), where places may repeat: all of them are combined."""

    def collect(self, values: Array, present: Array) -> tuple[Array, Array, bool]:
        """The entries of n values and n bits as a list: places, their values, and whether the places ascend."""

    def spread(self, n: int, places: Array, values: Array) -> tuple[Array, Array]:
        """A list of entries as n values and n bits. Values where no bit is set mean nothing."""

    def by_place(self, part: Rows, where: Place, diagonal: int) -> Rows:
        """The entries on and below a diagonal, on and above it, on it, or off it."""

    # ---------------------------------------------------------------- shortcuts: what products could compute too

    def why_not_operation(self, operation: Shortcut) -> str | None:
        """None if this engine has that shortcut, else the reason."""

    def waves(
        self,
        A: Matrix,
        x: Vector,
        product: Product,
        places: Product,
        depth_limit: int | None,
        alpha: float,
        beta: float,
        trace: bool,
    ) -> FoundByWaves | None:
        """All products of `linalg.waves`, directions by the rule Growing(alpha, beta); None where it takes a loop.

        A is transposed: its rows are the result's places. `places` is the arithmetic of any_pair, which finds the
        levels where `product` itself cannot.
        """

    def count_entries(self, A: Matrix, x: Vector, enough: int) -> int:
        """How many entries A has in the columns that x names; counting may stop once there are more than enough."""

    def count_triangles(self, part: Rows, most: int) -> int | None:
        """How many triangles a symmetric pattern has; None where that would read more than `most` entries."""

    def pagerank(self, A: Matrix, total: Array, alpha: float, p: Array, q: Array, x: Array) -> PowerIteration:
        """Rounds of PageRank from the ranks x; linalg/algorithms/pagerank.py explains the other arguments."""

    def power_iteration(self, A: Matrix, job: PowerJob) -> PowerEnd | None:
        """All rounds of a power iteration at once; None where it takes a loop of products."""

    def dijkstra(self, A: Matrix, search: ShortestPathsJob) -> Settled:
        """Shortest paths, nearest vertex first; lengths are not negative."""

    def delta_stepping(
        self, A: Matrix, search: ShortestPathsJob, delta: float | None, trace: bool, threads: int | None
    ) -> FoundByBuckets:
        """All shortest paths of the search, one bucket of distances after another, each Δ wide."""

    def near_far(self, A: Matrix, search: ShortestPathsJob, delta: float | None, trace: bool) -> FoundNearFar:
        """The same in one launch on a GPU; lengths are not negative."""


@cache
def engine(name: str) -> Engine:
    """The engine of that name, ready to run, or an EngineError that says what is missing.

    >>> engine("reference").name
    'reference'
    """
    found: Engine = _ready(name, f"hopwave.engines.{name}", "Engine")
    return found


@cache
def algebra(name: str) -> Algebra:
    """The engine of that name for products, ready to compute, or an EngineError that says what is missing.

    >>> algebra("reference").name
    'reference'
    """
    found: Algebra = _ready(name, f"hopwave.engines.{name}.linalg", "Algebra")
    return found


def _ready(name: str, module: str, kind: str) -> Any:
    if name not in NAMES:
        raise EngineError(f"device {name!r} is not known; use 'auto', 'cuda', 'cpu' or 'reference'")
    try:
        found = getattr(import_module(module), kind)()
    except ModuleNotFoundError as error:
        raise EngineError(f"device {name!r} cannot run here: {error}; install it, or use device='cpu'") from None
    reason = found.missing()
    if reason:
        raise EngineError(reason)
    return found


@cache
def _gpu_builder() -> csr.Builder:
    engine("cuda")  # or an EngineError that says what is missing
    found: csr.Builder = import_module("hopwave.engines.cuda.build")
    return found


csr.builders["cuda"] = _gpu_builder
