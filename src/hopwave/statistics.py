"""What a graph looks like: sizes, degrees, and how scale-free it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

# TurboBC's Tables 1-3 measure scf in [1, 224] for regular and in [5846, 651837] for irregular graphs; the border is
# their geometric mean.
IRREGULAR_SCF = 1144.0


@dataclass(frozen=True)
class Statistics:
    """What `Graph.stats()` returns: sizes, the out-degree distribution, and how scale-free the graph is.

    `scf` is the scale-free metric of TurboBC, equation 5: the sum of degree(u)·degree(v) over all arcs, divided by
    n times the greatest degree. (The division is not printed in the paper; it is what reproduces its Tables 1 and 3.)

    >>> import hopwave as hw
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

    @property
    def regular(self) -> bool:
        """True where TurboBC's scalar algorithms (one thread per vertex) won, False where its vector ones did."""
        return self.scf < IRREGULAR_SCF


def measure(
    indptr: npt.NDArray[Any],
    indices: npt.NDArray[np.int32],
    degrees: npt.NDArray[Any],
    in_degrees: npt.NDArray[Any],
    directed: bool,
) -> Statistics:
    """The statistics of a graph, given its rows and degrees; people call `Graph.stats()`, which keeps them."""
    n, m = len(degrees), len(indices)
    largest = int(degrees.max(initial=0))
    loops = np.count_nonzero(indices == np.repeat(np.arange(n, dtype=np.int32), degrees))
    isolated = np.count_nonzero((degrees == 0) & (in_degrees == 0))
    return Statistics(
        n=n,
        m=m,
        directed=directed,
        max_degree=largest,
        mean_degree=m / n if n else 0.0,
        std_degree=float(degrees.std()) if n else 0.0,
        isolated=int(isolated),
        self_loops=int(loops),
        scf=scale_free_sum(indptr, indices, degrees) / (n * largest) if largest else 0.0,
    )


def scale_free_sum(indptr: npt.NDArray[Any], indices: npt.NDArray[np.int32], degrees: npt.NDArray[Any]) -> float:
    """Σ degree(u)·degree(v) over the arcs, in blocks so that no array as long as the arcs is made."""
    degrees = degrees.astype(np.float64)
    total, block, m = 0.0, 1 << 22, len(indices)
    for first in range(0, m, block):
        last = min(first + block, m)
        low, high = np.searchsorted(indptr, [first, last - 1], side="right") - 1
        ends = np.clip(indptr[low : high + 2], first, last)
        total += float(np.repeat(degrees[low : high + 1], np.diff(ends)) @ degrees[indices[first:last]])
    return total
