"""Engines: the machines that plans run on. An engine is a file here, found by its name.

Six verbs: `load` a graph once; say what it `supports`; `start` a search; `advance` it by one level with a given step;
`run` it whole with the rule inside; `fetch` the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np

from hopwave.arrays import Array
from hopwave.errors import EngineError
from hopwave.graph import Graph
from hopwave.jobs import Allowed, Product, Question, Touched
from hopwave.operators import BinaryOp, Monoid, UnaryOp
from hopwave.plan import Plan, Step
from hopwave.trace import Level

if TYPE_CHECKING:
    from hopwave.linalg.matrix import Matrix, Rows
    from hopwave.linalg.vector import Vector

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from hopwave.jobs import Accumulation, Job, Poll, Sweep, Swept

NAMES = ("cuda", "cpu", "reference")  # in the order device="auto" prefers them

# What an engine may lack beside plans: see Engine.why_not_operation.
Operation = Literal["sweep", "components", "strong_components", "shortest_path", "local_efficiencies"]


class Search(Protocol):
    """A search under way. The sizes are those a rule looks at."""

    depth: int
    nf: int
    mf: int
    mu: int


class Engine(Protocol):
    """What every engine file offers as its class `Engine`."""

    name: str

    def missing(self) -> str | None:
        """Why this engine cannot run here and what to do about it, or None."""

    def load(self, graph: Graph, plan: Plan) -> Any:
        """The graph as the engine wants it, prepared once and kept with the graph."""

    def why_not(self, plan: Plan, job: Question | Job) -> str | None:
        """None if this engine can run the plan for that job, else a sentence that says why not."""

    def without(self, plan: Plan) -> tuple[str, ...]:
        """The plan's choices that have no meaning here."""

    def start(self, loaded: Any, sources: tuple[int, ...], question: Question, threads: int | None = None) -> Search:
        """A search that stands at its sources. threads= is the CPU engine's; others refuse it."""

    def advance(self, search: Any, step: Step, choice: int) -> Level:
        """One level, computed by that step."""

    def run(self, search: Any, plan: Plan, trace: bool) -> list[Level] | None:
        """All levels, the rule inside the engine; None where this engine leaves the loop to the caller."""

    def fetch(self, search: Any) -> dict[str, Any]:
        """distances, predecessors, path_counts (each None if not asked for), depth, reached."""

    def accumulation(self, graph: Graph, job: Job, plan: Plan, threads: int | None = None) -> Accumulation:
        """A betweenness run: sums of dependencies over the job's sources (algorithms/brandes.py)."""

    def why_not_operation(self, operation: Operation, graph: Graph) -> str | None:
        """None if this engine has that operation for the graph, else a sentence that says why not."""

    def sweep(self, graph: Graph, job: Sweep, poll: Poll, threads: int | None = None) -> Swept:
        """Searches from many sources, and what is kept of them (algorithms/many_sources.py)."""

    def components(self, graph: Graph, strong: bool) -> npt.NDArray[np.int32]:
        """The number of every vertex's component, weak or strong, counted by lowest vertex."""

    def shortest_path(self, graph: Graph, source: int, target: int) -> list[int] | None:
        """The ids of one shortest path, both ends included, or None."""

    def local_efficiencies(self, graph: Graph, poll: Poll, threads: int | None = None) -> npt.NDArray[np.float64]:
        """The efficiency of the graph that each vertex's neighbours induce."""


@runtime_checkable
class Regimes(Protocol):
    """An engine that chooses among our betweenness regimes by what it knows of its own machine."""

    def regime(self, graph: Graph, job: Job, plan: Plan) -> tuple[str, str]:
        """The regime's name and why."""


@cache
def engine(name: str) -> Engine:
    """The engine of that name, ready to run, or an EngineError that says what it lacks.

    >>> engine("reference").name
    'reference'
    """
    found: Engine = ready(name, f"hopwave.engines.{name}", "Engine")
    return found


def ready(name: str, module: str, kind: str) -> Any:
    """One of a device's engines, made and not missing anything; shared with hopwave.linalg, which has its own kind."""
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


class Algebra(Protocol):
    """What every file `engines/NAME_linalg.py` offers as its class `Algebra`."""

    name: str
    xp: Any  # numpy or cupy

    def missing(self) -> str | None:
        """Why this engine cannot run here and what to do about it, or None."""

    def push(
        self, A: Matrix, x: Vector, product: Product, allowed: Allowed | None, threads: int | None
    ) -> tuple[Vector, Touched]:
        """The product by columns of A (rows of A.T): x is sparse; the result may be either."""

    def pull(
        self, A: Matrix, x: Vector, product: Product, allowed: Allowed | None, threads: int | None
    ) -> tuple[Vector, Touched]:
        """The product by rows of A, only those allowed: x is dense; the result may be either."""

    def multiply(
        self, A: Matrix, B: Matrix, product: Product, mask: Rows | None, complement: bool, by: str, threads: int | None
    ) -> tuple[Rows, Touched]:
        """A ⊕.⊗ B; by rows of B ("push", Gustavson) or by dot products with its columns ("pull", masked only).

        In a term, a is A's value and x is B's; `out` is the row of A, `zero` the column of B.
        """

    def binary(self, op: BinaryOp) -> Callable[[Array, Array], Array]:
        """The operator on whole arrays."""

    def unary(self, op: UnaryOp) -> Callable[[Array], Array]:
        """The operator on a whole array."""

    def reduce(self, add: Monoid, values: Array, dtype: np.dtype[Any]) -> Any:
        """The sum of an array that is not empty, as a Python scalar."""

    def fill(self, values: Array, present: Array, allowed: Allowed, value: Any) -> int | None:
        """Write value, and set the bit, where the mask lets it; returns how many bits are set then, if it is known."""

    def scatter(self, op: BinaryOp, target: Array, places: Array, values: Array) -> None:
        """target[places] = op(target[places], values), where places may repeat: all of them are combined."""


@cache
def algebra(name: str) -> Algebra:
    """The engine of that name, ready to compute, or an EngineError that says what it lacks.

    >>> algebra("reference").name
    'reference'
    """
    found: Algebra = ready(name, f"hopwave.engines.{name}.linalg", "Algebra")
    return found
