"""Statistics of a graph: sizes, degrees and a scale-free metric."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

# In TurboBC's Tables 1-4, regular graphs have a mean degree of at most 14, irregular graphs of at least 24. Their scf
# overlap (GAP-twitter, 126, is irregular; g7j200sc, 224, is regular). No rule also agrees with TurboBFS.
IRREGULAR_DEGREE = 16.0
HUB = 8.0  # minimum degree of a hub, in multiples of the mean degree; meshes and roads stay below 4
CROWDED = 5.0  # minimum share of arcs at the busiest 1 % of vertices, in multiples of their share of the vertices

Shape = Literal["even", "even with hubs", "uneven", "skewed"]


@dataclass(frozen=True)
class Statistics:
    """The result of `Graph.stats()`: sizes, the out-degree distribution, and a scale-free metric.

    `scf` is the scale-free metric of TurboBC, equation 5: the sum of degree(u)·degree(v) over all arcs, divided by
    n times the largest degree. (The paper does not print the division, but its Tables 1 and 3 need it.)
    `busiest_share` is the share of all arcs that leave the 1 % of vertices (at least one) with the largest degrees.

    >>> hw.Graph.from_edges([0, 0], [1, 2]).stats().mean_degree
    1.3333333333333333
    """

    n: int
    m: int
    directed: bool
    max_degree: int
    mean_degree: float
    std_degree: float
    isolated: int
    self_loops: int
    scf: float
    busiest_share: float

    @property
    def regular(self) -> bool:
        """Whether TurboBC would call the graph regular and use its scalar kernels instead of its vector kernels.

        Only the mean degree decides: it is below 16 in every regular graph of the paper's tables, and above 16 in every
        irregular graph. `shape` describes the spread of degrees.
        """
        return self.mean_degree < IRREGULAR_DEGREE

    @property
    def shape(self) -> Shape:
        """Spread of degrees, by the largest degree and the share of arcs at the busiest 1 % of vertices.

        "skewed": both are far above average, as in social networks and the web. "even": neither, as in meshes and
        roads. "even with hubs": only the largest degree. "uneven": only the share of arcs.
        """
        hubs = self.max_degree >= HUB * self.mean_degree > 0
        crowded = self.busiest_share * self.n >= CROWDED * busiest(self.n) > 0
        if hubs:
            return "skewed" if crowded else "even with hubs"
        return "uneven" if crowded else "even"


def busiest(n: int) -> int:
    """Number of vertices in the busiest 1 %: at least one, unless there are no vertices."""
    return -(-n // 100)


def measure(graph: Any) -> Statistics:
    """The statistics of a graph; users call `Graph.stats()`, which caches them."""
    n, m, degrees = graph.n, graph.m, graph.degrees
    largest, rest = int(degrees.max(initial=0)), n - busiest(n)
    return Statistics(
        n=n,
        m=m,
        directed=graph.directed,
        max_degree=largest,
        mean_degree=m / n if n else 0.0,
        std_degree=float(degrees.std()) if n else 0.0,
        isolated=int(np.count_nonzero((degrees == 0) & (graph.in_degrees == 0))),
        self_loops=graph._loops(),
        scf=scale_free_sum(graph.indptr, graph.indices, degrees) / (n * largest) if largest else 0.0,
        busiest_share=float(np.partition(degrees, rest)[rest:].sum(dtype=np.int64)) / m if m else 0.0,
    )


def scale_free_sum(indptr: npt.NDArray[Any], indices: npt.NDArray[np.int32], degrees: npt.NDArray[Any]) -> float:
    """Σ degree(u)·degree(v) over the arcs, in blocks, which avoids temporary arrays of m numbers."""
    degrees = degrees.astype(np.float64)
    total, block, m = 0.0, 1 << 22, len(indices)
    for first in range(0, m, block):
        last = min(first + block, m)
        low, high = np.searchsorted(indptr, [first, last - 1], side="right") - 1
        ends = np.clip(indptr[low : high + 2], first, last)
        total += float(np.repeat(degrees[low : high + 1], np.diff(ends)) @ degrees[indices[first:last]])
    return total
