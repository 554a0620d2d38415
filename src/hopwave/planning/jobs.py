"""Inputs and outputs of engines, as records and protocols."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypedDict

import numpy as np
import numpy.typing as npt

from hopwave.algebra.operators import BinaryOp, Monoid
from hopwave.algebra.semiring import Semiring, any_pair, any_secondi, plus_first
from hopwave.arrays import Array, Prepared
from hopwave.planning.trace import Bucket


@dataclass(frozen=True)
class SearchJob:
    """Results that a search must compute: distances, and optionally predecessors and path counts."""

    predecessors: bool = True
    path_counts: bool = False
    depth_limit: int | None = None

    @property
    def semiring(self) -> Semiring:
        """The cheapest semiring whose ⊕ computes all requested results."""
        if self.path_counts:
            return plus_first
        return any_secondi if self.predecessors else any_pair


class FoundBySearch(TypedDict):
    """Results of a search. Arrays still on a device are Deferred; results that were not requested are None."""

    distances: Any
    predecessors: Any
    path_counts: Any
    depth: Any
    reached: Any


Progress = bool | None | Callable[[int, int], object]


@dataclass(frozen=True)
class BetweennessJob:
    """A betweenness run: Σ δ over these sources, to these targets (None: all), along paths of length at most cutoff.

    `targets` and `origins` have one number per vertex: the weight of paths to it, or from it. `copies`: how many
    vertices with the same neighbours each vertex stands for (algorithms.reduction.union); its sums count for all.
    `edges` requests one score per arc instead of one per vertex, `squares` Σ δ² after Σ δ. `endpoints` counts the
    endpoints of a path as vertices on it. `deterministic` requests bitwise identical runs on the same device. If
    `weighted`, a length is the sum of weights instead of the number of hops. A block of a larger job gives
    bitwise identical results: `out_of` is the number of sources of the larger job. `components`: the numbers of all
    vertices' components, if these ascend. With `shared`, a search may begin at consecutive sources whose components
    ascend; the first has their certificate. Otherwise, the components of all sources ascend.
    """

    sources: npt.NDArray[np.int64]
    targets: npt.NDArray[np.bool_ | np.float64] | None = None
    cutoff: float | None = None
    endpoints: bool = False
    edges: bool = False
    squares: bool = False
    memory_limit: int | None = None
    deterministic: bool = False
    weighted: bool = False
    out_of: int | None = None
    origins: npt.NDArray[np.float64] | None = None
    copies: npt.NDArray[np.float64] | None = None
    components: npt.NDArray[np.int32] | None = None
    shared: bool = False

    @property
    def planned_sources(self) -> int:
        """The number of sources for which blocks and preparations are planned."""
        return len(self.sources) if self.out_of is None else self.out_of

    @property
    def has_demand(self) -> bool:
        """Whether any pair has a weight other than 0 and 1."""
        return self.origins is not None or (self.targets is not None and self.targets.dtype != np.bool_)


def component_ranges(components: Any, sources: Any) -> Any:
    """The first vertex and the end of every source's component, if the components of all vertices ascend."""
    bounds = np.searchsorted(components, np.arange(components[-1] + 2)).astype(np.int32)
    pairs = np.stack([bounds[:-1], bounds[1:]], 1).view(np.int64)  # NumPy gathers one number faster than two
    return pairs[components[sources], 0].view(np.int32).reshape(-1, 2)


class Accumulation(Protocol):
    """A run of an engine over a job, block by block. `sums_on_device`: optional sums on a GPU (brandes.sums_of)."""

    blocks: int
    size: int  # sources per block
    certificate: npt.NDArray[np.float64]

    @property
    def done(self) -> int:
        """The number of completed blocks."""

    @property
    def total(self) -> npt.NDArray[np.float64]:
        """The sums over the completed blocks."""

    def advance(self, first: int, poll: Callable[[int], bool]) -> int:
        """Run blocks from number first until all are done or poll(done) requests a pause; returns the number done."""


Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SampleJob:
    """Random pairs of vertices and a shortest path of each, up to cutoff. Pair i depends on the seed `start` and i."""

    start: int
    cutoff: float | None = None
    memory_limit: int | None = None
    weighted: bool = False


class PathSampling(Protocol):
    """A run of an engine over the pairs of a job, in order. It can pause and resume after any pair."""

    done: int  # pairs drawn
    counts: Integers  # per vertex: the number of paths with it as an inner vertex
    sums: Integers  # in the order of PATH_SUMS

    def advance(self, until: int, poll: Callable[[int], bool]) -> int:
        """Draw pairs up to number `until`, or until poll(done) requests a pause; returns the number drawn."""


# Sums of a path sampling: arcs inspected, inner vertices of all paths, pairs without a path, pairs whose path
# counts exceeded float64, and paths that failed their check.
PATH_SUMS = ("arcs", "inner_vertices", "unconnected", "recounted", "wrong")


@dataclass(frozen=True)
class ShortestPathsJob:
    """A search for shortest paths along weighted arcs, from the nearest of several sources, of length at most `limit`.

    It ends early after settling all `targets`, or `most` vertices and all vertices at the same distance as the last.
    Distances beyond the last target are not final; with `path_only`, only distances on the path to it are final.
    """

    sources: tuple[int, ...]
    limit: float = math.inf
    targets: tuple[int, ...] = ()
    most: int | None = None
    path_only: bool = False


class Settled(NamedTuple):
    """Result of Dijkstra's algorithm: settled vertices in order; others have distance infinity and predecessor −1."""

    order: npt.NDArray[np.int32]
    distances: npt.NDArray[np.float64]
    predecessors: npt.NDArray[np.int32]


class FoundByBuckets(NamedTuple):
    """Result of Δ-stepping, the trace of its buckets if requested, and whether "dijkstra-buckets" ran instead."""

    distances: npt.NDArray[np.float64]
    buckets: tuple[Bucket, ...]
    on_one_core: bool


class FoundNearFar(NamedTuple):
    """Result of a search in one launch, on the GPU, and functions to read it; `path` is None if unreachable."""

    distances: Array
    buckets: tuple[Bucket, ...]
    predecessors: Callable[[], Array]
    to_host: Callable[[Array], npt.NDArray[Any]]
    path: Callable[[int], list[int] | None]


# Kind of a term A(i,k) ⊗ x(k): 1, the vector's value, the matrix's value, the number i of the row, the number k of
# the entry, 0, or ⊗ of both values. Engines see this instead of operators' names.
Term = Literal["one", "x", "a", "out", "inner", "zero", "both"]

Direction = Literal["auto", "push", "pull"]


@dataclass(frozen=True)
class Product:
    """The arithmetic of y(i) = ⊕ₖ A(i,k) ⊗ x(k), in the engines' format. If A has no values, A(i,k) is True.

    `flip` computes x ⊗ a instead of a ⊗ x (vxm). `early_exit` and `structure_only` are set if requested *and* valid.
    """

    add: Monoid
    multiply: BinaryOp
    term: Term
    flip: bool
    dtype: np.dtype[Any]  # type of sums; terms are cast to it before they are added
    early_exit: bool
    structure_only: bool
    prepared: Prepared = field(default_factory=Prepared, init=False, compare=False, repr=False)  # kernels of engines


@dataclass(frozen=True)
class Allowed:
    """The rows that a mask allows: `rows` (int32, each once), or rows whose bit differs from `complement`."""

    rows: Array | None = None
    bits: Array | None = None
    complement: bool = False
    ascending: bool = True
    count: int | None = None  # number of allowed rows, if known

    def as_bits(self, n: int, xp: Any) -> Array:
        """One bool per row: whether the mask allows it."""
        if self.bits is not None:
            return ~self.bits if self.complement else self.bits
        found = xp.zeros(n, xp.bool_)
        found[self.rows] = True
        return found


@dataclass
class Touched:
    """Reads of a product. entries: the number of matrix entries read, or a function that waits for this number."""

    entries: int | Callable[[], int] = 0
    rows: int = 0
    notes: list[str] = field(default_factory=list)

    def count(self) -> int:
        """The number of entries; waits for it if necessary."""
        return self.entries() if callable(self.entries) else self.entries


class LabelRounds(Protocol):
    """Label propagation. A label is the number of some vertex; self-loops are ignored. `f`: every vertex's label."""

    f: Any

    def settle(self, seed: int, most: int) -> bool:
        """Run at most `most` rounds, until no vertex would switch; returns whether the labels converged.

        A vertex would switch if its label is not among the most frequent of its neighbours. In round i, vertices whose
        coins (the top bits of `generate.counter.mixed`, seed + i, stream "labels") are 1 switch to the most frequent.
        """


@dataclass(frozen=True)
class PowerJob:
    """A complete power iteration. One round computes (A: the arcs with their weights)

        x = factor · (x/totals · A + (Σ x with totals 0) · dead) + base
        x = x · (A + I), divided by its length, if `normed`

    `start`, `base` and `dead` are arrays of the device with one number per vertex, or one number for all.
    """

    start: Array | float
    enough: float  # stop when Σ |change| is below this
    max_iter: int
    factor: float = 1.0
    base: Array | float = 0.0
    dead: Array | float = 0.0
    totals: Callable[[], Array] | None = None  # returns the sum of every vertex's weights; None: 1 for each
    normed: bool = False


class PowerEnd(NamedTuple):
    """Result of a power iteration: the numbers, the number of rounds, and Σ |change| of the last round."""

    x: Array
    rounds: int
    change: float
