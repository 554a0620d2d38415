"""Engines: the machines that plans run on. An engine is a file here, found by its name.

Six verbs: `load` a graph once; say what it `supports`; `start` a search; `advance` it by one level with a given step;
`run` it whole with the rule inside; `fetch` the answer.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from hopwave.errors import EngineError
from hopwave.graph import Graph
from hopwave.plan import Plan, Step
from hopwave.result import Level
from hopwave.semiring import Question

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from hopwave.algorithms.brandes import Accumulation, Job
    from hopwave.algorithms.many import Poll, Sweep, Swept

NAMES = ("cuda", "cpu", "reference")  # in the order device="auto" prefers them


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

    def supports(self, plan: Plan, question: Question) -> str | None:
        """None, or a sentence that says why not."""

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

    def refuses(self, plan: Plan, job: Job) -> str | None:
        """None, or why this engine cannot run a betweenness plan for that job."""

    def accumulation(self, graph: Graph, job: Job, plan: Plan, threads: int | None = None) -> Accumulation:
        """A betweenness run: sums of dependencies over the job's sources (algorithms/brandes.py)."""

    def declines(self, verb: str, graph: Graph) -> str | None:
        """None, or why this engine does not answer a question by one of the verbs below; "strong_components" too."""

    def sweep(self, graph: Graph, job: Sweep, poll: Poll, threads: int | None = None) -> Swept:
        """Searches from many sources, and what is kept of them (algorithms/many.py)."""

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
