"""Engines: the machines that plans run on, and the two protocols that an engine implements.

An engine is a folder of this package, found by its name. Its `__init__` contains a class `Engine`, its module `linalg`
a class `Algebra`; mypy checks both. `why_not` and `why_not_operation` return None or the reason why the engine cannot
run a plan or an operation. Calling an operation that the engine lacks raises an EngineError with that reason.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import BinaryOp, Monoid, UnaryOp
from hopwave.algebra.vector import Vector
from hopwave.arrays import Array
from hopwave.errors import EngineError, GraphError
from hopwave.graph import Graph
from hopwave.graph.csr import Rows
from hopwave.graph.row_operations import Place
from hopwave.planning import jobs
from hopwave.planning.many_sources import Balls, CutSweep, CutSwept, HyperBallJob, PathSums, Poll, Sweep, Swept
from hopwave.planning.plan import Plan
from hopwave.planning.trace import Level
from hopwave.system.threads import aside, imported

NAMES = ("cuda", "cpu", "reference")  # in the order of preference of device="auto"

# Operations that an engine may lack: see Engine.why_not_operation and Algebra.why_not_operation.
Lackable = Literal[
    "components", "blocks", "shortest_path", "local_efficiencies", "path_sums", "hyperball", "cut_sweep", "reach_bounds"
]
Operation = Literal[Lackable, "sweep", "weighted_sweep", "strong_components", "path_sampling", "weighted_path_sampling"]
Shortcut = Literal[
    "waves", "count_entries", "count_triangles", "triangles", "core_numbers", "label_propagation", "independent_set",
    "power_iteration", "lanczos", "dijkstra", "delta_stepping", "near_far",
]  # fmt: skip

Loaded = Any  # a graph prepared for searches, which only its engine reads
Search = Any  # a search in progress, which only its engine reads


class Machine(Protocol):
    """Members that every engine has."""

    name: str

    def missing(self) -> str | None:
        """Why this engine cannot run on this machine, with a remedy; None if it can."""


class DirectSearch(Protocol):
    """Searches of one graph, each in one call; several threads may call it."""

    @property
    def without(self) -> tuple[str, ...]:
        """The plan's choices that this engine ignores."""

    def __call__(self, sources: tuple[int, ...], limit: int | None) -> jobs.FoundBySearch | None:
        """Searches from these sources up to a limit of hops. Returns None if one call does not suffice."""


class Engine(Machine, Protocol):
    """An engine for plans."""

    # One search: load, start, run, fetch, or all steps in one call.

    def why_not(self, plan: Plan, job: jobs.SearchJob | jobs.BetweennessJob) -> str | None:
        """None if this engine can run the plan for this search or betweenness job, otherwise the reason."""

    def without(self, plan: Plan) -> tuple[str, ...]:
        """The plan's choices that this engine ignores."""

    def direct_search(
        self, graph: Graph, question: jobs.SearchJob, plan: Plan, named: bool, threads: int | None = None
    ) -> DirectSearch | None:
        """Searches of a question without a depth limit by this plan, or None. named: the caller named the plan."""

    def load(self, graph: Graph, plan: Plan) -> Loaded:
        """The graph in the engine's form for the plan, prepared once and cached with the graph."""

    def start(
        self, loaded: Loaded, sources: tuple[int, ...], question: jobs.SearchJob, threads: int | None = None
    ) -> Search:
        """A search that has reached its sources. Only the CPU engine accepts threads=; others raise an EngineError."""

    def run(self, search: Search, plan: Plan, trace: bool) -> list[Level]:
        """Compute all levels. Returns them if `trace` is set; some engines always return them."""

    def fetch(self, search: Search) -> jobs.FoundBySearch:
        """The result of a finished search."""

    # Betweenness from sources or from random paths. `why_not` reports which plans can run.

    def regime(self, graph: Graph, job: jobs.BetweennessJob, plan: Plan) -> tuple[str, str] | None:
        """The regime that suits the job on this machine, and why. Returns None if the engine does not choose."""

    def accumulation(
        self, graph: Graph, job: jobs.BetweennessJob, plan: Plan, threads: int | None = None
    ) -> jobs.Accumulation:
        """A betweenness run: sums of dependencies over the job's sources (algorithms/brandes.py)."""

    def path_sampling(self, graph: Graph, job: jobs.SampleJob, threads: int | None = None) -> jobs.PathSampling:
        """A run that draws shortest paths between random pairs (algorithms/betweenness_sampling)."""

    # Operations without a plan.

    def why_not_operation(self, operation: Operation, graph: Graph) -> str | None:
        """None if this engine supports the operation for the graph, otherwise the reason."""

    def sweep(self, graph: Graph, job: Sweep, poll: Poll, threads: int | None = None) -> Swept:
        """Search from many sources, and return the results that the job selects (algorithms/many_sources.py)."""

    def cut_sweep(self, graph: Graph, job: CutSweep, poll: Poll, threads: int | None = None) -> CutSwept:
        """Search from many sources; stop a search once its source cannot be in the top (algorithms/top_scores.py)."""

    def reach_bounds(self, graph: Graph) -> tuple[jobs.Integers, jobs.Integers]:
        """Lower and upper bounds on the number of vertices that each vertex reaches, including itself."""

    def components(self, graph: Graph, strong: bool) -> npt.NDArray[np.int32]:
        """The component of every vertex, numbered by lowest vertices, in an array that the caller may change."""

    def blocks(
        self, graph: Graph, parent: jobs.Integers, depth: npt.NDArray[np.int32], threads: int | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The biconnected block of every vertex and the head of every block, from a breadth-first search tree."""

    def shortest_path(self, graph: Graph, source: int, target: int) -> list[int] | None:
        """The ids of one shortest path, including both endpoints, or None if no path exists."""

    def local_efficiencies(self, graph: Graph, poll: Poll, threads: int | None = None) -> npt.NDArray[np.float64]:
        """The efficiency of the graph that each vertex's neighbours induce."""

    def path_sums(self, graph: Graph, job: PathSums, poll: Poll, threads: int | None = None) -> npt.NDArray[np.float64]:
        """Stress or load of every vertex; for a group, the share of every source (algorithms/brandes.py)."""

    def hyperball(self, graph: Graph, job: HyperBallJob, poll: Poll, threads: int | None = None) -> Balls:
        """One run of HyperBall; `poll` is called at every step (algorithms/hyperball.py)."""


class FoundByWaves(NamedTuple):
    """The result of one launch for all products of `linalg.waves`; `trace` has one row per product, or is None."""

    levels: Vector
    values: Vector | None
    trace: list[list[int]] | None


class Algebra(Machine, Protocol):
    """An engine for hopwave.linalg, with masks, accumulators and replacement. All operands are on its device."""

    xp: Any  # module of its arrays: numpy or cupy

    # Products over semirings.

    def push(
        self, A: Matrix, x: Vector, product: jobs.Product, allowed: jobs.Allowed | None, threads: int | None
    ) -> tuple[Vector, jobs.Touched]:
        """The product by columns of A (rows of A.T): x is sparse; the result may be sparse or dense."""

    def pull(
        self, A: Matrix, x: Vector, product: jobs.Product, allowed: jobs.Allowed | None, threads: int | None
    ) -> tuple[Vector, jobs.Touched]:
        """The product by allowed rows of A: x is dense; the result may be sparse or dense."""

    def multiply(
        self,
        A: Matrix,
        B: Matrix,
        product: jobs.Product,
        mask: Rows | None,
        complement: bool,
        by: jobs.Direction,
        threads: int | None,
    ) -> tuple[Rows, jobs.Touched]:
        """A ⊕.⊗ B by rows of B ("push", Gustavson) or by dot products ("pull", masked only), recorded in Touched.

        In a term, a is A's value and x is B's; `out` is the row of A, `zero` the column of B.
        """

    # Operators on full arrays, and conversions of a vector's format.

    def binary(self, op: BinaryOp) -> Callable[[Array, Array], Array]:
        """The operator on full arrays."""

    def unary(self, op: UnaryOp) -> Callable[[Array], Array]:
        """The operator on a full array."""

    def reduce(self, add: Monoid, values: Array, dtype: np.dtype[Any]) -> Any:
        """The sum of a non-empty array, as a Python scalar."""

    def fill(self, values: Array, present: Array, allowed: jobs.Allowed, value: Any) -> int | None:
        """Write value and set the bit wherever the mask allows. Returns the number of bits now set, or None."""

    def scatter(self, op: BinaryOp, target: Array, places: Array, values: Array) -> None:
        """target[places] = op(target[places], values). Indices may repeat: all their values are combined."""

    def collect(self, values: Array, present: Array) -> tuple[Array, Array, bool]:
        """The entries whose bit is set: their indices, their values, and whether the indices ascend."""

    def spread(self, n: int, places: Array, values: Array) -> tuple[Array, Array]:
        """The inverse of `collect`: n values and n bits. A value whose bit is not set is undefined."""

    def by_place(self, part: Rows, where: Place, diagonal: int) -> Rows:
        """The entries on and below a diagonal, on and above it, on it, or off it."""

    # Shortcuts: compiled calls for results that products could also compute. If a shortcut returns None, use products.

    def why_not_operation(self, operation: Shortcut) -> str | None:
        """None if this engine has this shortcut, otherwise the reason."""

    def waves(
        self,
        A: Matrix,
        x: Vector,
        product: jobs.Product,
        places: jobs.Product,
        depth_limit: int | None,
        alpha: float,
        beta: float,
        trace: bool,
    ) -> FoundByWaves | None:
        """All products of `linalg.waves`, by Growing(alpha, beta); `places`: any_pair, for levels. A is transposed."""

    def count_entries(self, A: Matrix, x: Vector, enough: int) -> int:
        """The number of entries of A in the columns of x's entries. Counting may stop above `enough`."""

    def count_triangles(self, part: Rows) -> int | None:
        """The number of triangles of a symmetric pattern."""

    def triangles(self, part: Rows) -> Array | None:
        """The number of triangles of a symmetric pattern that contain each vertex."""

    def core_numbers(self, A: Matrix, both: bool) -> Array:
        """The core number of every vertex; `both`: in- and out-arcs count. A repeats no entry; loops are ignored."""

    def label_propagation(self, A: Matrix, order: Array) -> jobs.LabelRounds:
        """Rounds of label propagation; among equally frequent labels, the last in `order` wins."""

    def independent_set(self, A: Matrix, seed: int) -> Array:
        """Whether each vertex is in a maximal independent set (linalg/algorithms/structure.py)."""

    def power_iteration(self, A: Matrix, job: jobs.PowerJob) -> jobs.PowerEnd | None:
        """All rounds of a power iteration."""

    def lanczos(self, A: Matrix, Q: Array, k: int) -> list[tuple[Array, float]] | None:
        """Q[k + 1] = AᵀA Q[k], orthogonalised against Q[: k + 1] and normalised, and possibly further rows.

        Returns coefficients (on the host) and norm of each; after a norm of 0, results are undefined. A has no values.
        """

    def dijkstra(self, A: Matrix, search: jobs.ShortestPathsJob) -> jobs.Settled:
        """Shortest paths, nearest vertex first; lengths are non-negative."""

    def delta_stepping(
        self, A: Matrix, search: jobs.ShortestPathsJob, delta: float | None, trace: bool, threads: int | None
    ) -> jobs.FoundByBuckets:
        """Shortest paths by buckets of distances, each of width Δ."""

    def near_far(self, A: Matrix, search: jobs.ShortestPathsJob, delta: float | None, trace: bool) -> jobs.FoundNearFar:
        """Shortest paths by near and far lists, in one launch on a GPU; lengths are non-negative."""


@cache
def engine(name: str) -> Engine:
    """The engine of this name, ready to run; raises an EngineError with the reason if it is unavailable."""
    return aside(_ready, name, f"hopwave.engines.{name}", "Engine")  # type: ignore[no-any-return]


@cache
def algebra(name: str) -> Algebra:
    """The engine of this name for products, ready to run; raises an EngineError if it is unavailable."""
    engine(name)  # raises an error if the engine is unavailable
    return aside(_ready, name, f"hopwave.engines.{name}.linalg", "Algebra")  # type: ignore[no-any-return]


def _ready(name: str, module: str, kind: str) -> Any:
    if name not in NAMES:
        raise EngineError(f"device {name!r} is not known; use 'auto', 'cuda', 'cpu' or 'reference'")
    found = getattr(import_module(module), kind)()
    if reason := found.missing():
        raise EngineError(reason)
    return found


# ---------------------------------------------------------------- methods that an engine lacks, or imports


def _absent(operation: Operation | Shortcut) -> Any:
    def refuse(self: Any, *arguments: Any, **keywords: Any) -> Any:
        graph = arguments[:1] if isinstance(self, NoOperations) else ()
        raise EngineError(self.why_not_operation(operation, *graph))

    return refuse


def found_in(module: str, name: str) -> Any:
    """A method that is a function of a module, which is imported at the first call."""

    def method(_: Any, *arguments: Any) -> Any:
        return getattr(imported(module), name)(*arguments)

    vars(method)["home"] = module, name  # a test compares the arguments
    return method


class NoOperations:
    """Operations that an engine may lack; every engine has some form of `sweep`."""

    (
        components, blocks, shortest_path, local_efficiencies, path_sums, hyperball, cut_sweep, reach_bounds,
    ) = map(_absent, get_args(Lackable))  # fmt: skip

    def why_not_operation(self, operation: Operation, graph: Graph) -> str | None:
        raise NotImplementedError


class NoShortcuts:
    """Shortcuts that an engine may lack."""

    name: str

    (
        waves, count_entries, count_triangles, triangles, core_numbers, label_propagation, independent_set,
        power_iteration, lanczos, dijkstra, delta_stepping, near_far,
    ) = map(_absent, get_args(Shortcut))  # fmt: skip

    def why_not_operation(self, operation: Shortcut) -> str | None:
        if getattr(type(self), operation) is not getattr(NoShortcuts, operation):
            return None
        return f"device={self.name!r} does not support {operation}; compute it by products, or use another device"


# ---------------------------------------------------------------- searches level by level, on the host


def by_levels(engine: Any, search: Any, n: int, m: int, plan: Plan, trace: bool = True) -> list[Level]:
    """Run a search level by level on a graph of n vertices and m arcs, by the plan's rule; the levels if traced."""
    levels: list[Level] = []
    rule, (a, b) = plan.rule.function, plan.rule.parameters()
    depth_limit = search.question.depth_limit
    nf0, mf0, last = 0, 0, -1
    while search.nf and (depth_limit is None or search.depth < depth_limit):
        nf, mf = search.nf, search.mf
        last = rule(a, b, n, m, nf, mf, search.mu, nf0, mf0, last)
        level = engine.advance(search, plan.steps[last], last)
        if trace:
            levels.append(level)
        nf0, mf0 = nf, mf
    return levels


# ---------------------------------------------------------------- paths that cannot be counted


def uncountable(graph: Graph, source: int, u: int, v: int) -> GraphError:
    """The error for a cycle of arcs that add nothing to the distance from the source; u → v is such an arc."""
    if not graph.directed:
        u, v = min(u, v), max(u, v)
    begin, end = int(graph.indptr[u]), int(graph.indptr[u + 1])
    weight = float(np.asarray(graph.weights)[begin:end][graph.indices[begin:end] == v].min())
    arc = f"{graph.label(u)!r} {'→' if graph.directed else '–'} {graph.label(v)!r}"
    return GraphError(
        f"shortest paths from {graph.label(source)!r} cannot be counted: weight {weight:g} of {arc} adds nothing to "
        "the length of a path, so a path can repeat a cycle any number of times; merge vertices at distance 0, or "
        "use positive weights of similar magnitude"
    )
