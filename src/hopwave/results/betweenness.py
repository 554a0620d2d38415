"""What betweenness comes back with: scores, and the certificate of their arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import on_host
from hopwave.graph import Graph, vertex_names
from hopwave.plan import PlanUsed

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Certificate:
    """How far a betweenness run is from the identity that every right one satisfies.

    For each source s, Σ_v δ_s(v) over v ≠ s equals Σ_t (d(s, t) − 1) over the targets reached (for edges: Σ_t d(s, t)):
    both sides fall out of the run. `error` is the greatest relative difference over all sources, and over their sum; a
    run whose error exceeds the tolerance raises instead of returning.

    >>> import hopwave as hw
    >>> hw.betweenness_centrality(hw.generate.path(4)).certificate.error
    0.0
    """

    error: float
    tolerance: float
    sources: int

    def __str__(self) -> str:
        return f"certified to {self.error:.1e} over {self.sources:,} sources (tolerance {self.tolerance:g})"


@dataclass(frozen=True, eq=False)
class BetweennessResult:
    """Betweenness of every vertex, in vertex order, with its certificate.

    `bounds` are half-widths of the scores' confidence intervals after an adaptive sample (epsilon=), else None;
    `sources` is how many searches were made.

    >>> import hopwave as hw
    >>> b = hw.betweenness_centrality(hw.generate.star(5))
    >>> b.scores.tolist(), b.top(1)
    ([1.0, 0.0, 0.0, 0.0, 0.0], [(0, 1.0)])
    """

    scores: npt.NDArray[np.float64]
    certificate: Certificate
    sources: int
    plan: PlanUsed
    engine: str
    bounds: npt.NDArray[np.float64] | None
    graph: Graph = field(repr=False, compare=False)

    def top(self, k: int = 10) -> list[tuple[Any, float]]:
        """The k vertices of highest score, by label or id, highest first; ties by vertex order.

        >>> import hopwave as hw
        >>> hw.betweenness_centrality(hw.generate.path(3)).top(1)
        [(1, 1.0)]
        """
        scores = on_host(self.scores)
        best = np.argsort(-scores, kind="stable")[:k].tolist()
        return [(self.graph.label(v), float(scores[v])) for v in best]

    def to_dict(self) -> dict[Any, float]:
        """Score by vertex, as NetworkX gives it."""
        return dict(zip(np.asarray(vertex_names(self.graph)).tolist(), self.scores.tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """One row a vertex: its score, and the bound where there is one."""
        import pandas as pd

        columns = {"betweenness": on_host(self.scores)}
        if self.bounds is not None:
            columns["bound"] = on_host(self.bounds)
        return pd.DataFrame(columns, index=pd.Index(vertex_names(self.graph), name="vertex"))

    def __repr__(self) -> str:
        return f"BetweennessResult(n={len(self.scores):,}, sources={self.sources:,}, {self.certificate})"


@dataclass(frozen=True, eq=False)
class EdgeBetweennessResult:
    """Betweenness of every stored arc. `edges` are its two ends, row after row as the graph keeps them; both arcs of an
    undirected edge carry the edge's score.

    >>> import hopwave as hw
    >>> e = hw.edge_betweenness_centrality(hw.generate.path(3), normalized=False)
    >>> e.to_dict()
    {(0, 1): 2.0, (1, 2): 2.0}
    """

    scores: npt.NDArray[np.float64]
    edges: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
    certificate: Certificate
    sources: int
    plan: PlanUsed
    engine: str
    graph: Graph = field(repr=False, compare=False)

    def _once(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Ends and scores of the arcs that stand for edges: of an undirected graph those with src ≤ dst."""
        source, target, scores = (on_host(array) for array in (*self.edges, self.scores))
        once = slice(None) if self.graph.directed else source <= target
        return source[once], target[once], scores[once]

    def top(self, k: int = 10) -> list[tuple[tuple[Any, Any], float]]:
        """The k edges of highest score, highest first."""
        source, target, scores = self._once()
        best = np.argsort(-scores, kind="stable")[:k]
        return [((self.graph.label(int(source[j])), self.graph.label(int(target[j]))), float(scores[j])) for j in best]

    def to_dict(self) -> dict[tuple[Any, Any], float]:
        """Score by edge (u, v), as NetworkX gives it; an undirected edge once, with u before v in vertex order."""
        source, target, scores = self._once()
        names = np.asarray(vertex_names(self.graph)).tolist()
        pairs = ((names[u], names[v]) for u, v in zip(source.tolist(), target.tolist(), strict=True))
        return dict(zip(pairs, scores.tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """One row an edge: source, target, betweenness."""
        import pandas as pd

        source, target, scores = self._once()
        names = np.asarray(vertex_names(self.graph))
        return pd.DataFrame({"source": names[source], "target": names[target], "betweenness": scores})

    def __repr__(self) -> str:
        return f"EdgeBetweennessResult(arcs={len(self.scores):,}, sources={self.sources:,}, {self.certificate})"
