"""What comes back: the answer, how it was found, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.plan import Plan

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Level:
    """One level of a search, as the engine saw it.

    `vertices` and `edges` are the frontier's size and the arcs that leave it, `unvisited_edges` the arcs that leave
    vertices not yet visited: the sizes the rule looked at. `found` vertices came out; `checked` arcs were looked at;
    `ahead` of the found ones belong to the level after (asynchronous pulls only). Over several ranks, `sent` bytes went
    from rank to rank, `sent_for_parents` of them to tell owners a vertex's predecessor; `sent_by_one` is what the rank
    that sent most did send, and `sets_by_one` the same with the parents left out: sets of vertices, as bitmaps or
    shorter, and a few words beside.

    >>> import hopwave as hw
    >>> level = hw.bfs(hw.generate.star(5), 0, plan="merrill", trace=True).trace[0]
    >>> level.direction, level.vertices, level.edges, level.found
    ('push', 1, 4, 4)
    """

    depth: int
    choice: int
    step: str
    vertices: int
    edges: int
    unvisited_edges: int
    found: int
    checked: int
    seconds: float
    ahead: int = 0
    sent: int = 0
    sent_for_parents: int = 0
    sent_by_one: int = 0
    sets_by_one: int = 0

    @property
    def direction(self) -> str:
        """ "push" or "pull"."""
        return self.step.partition("(")[0]


class Trace(tuple[Level, ...]):
    """The levels of a search in order; `str(trace)` is a table.

    >>> import hopwave as hw
    >>> hw.bfs(hw.generate.path(3), 0, plan="turbobfs-bu-sc", trace=True).trace.directions
    ['pull', 'pull', 'pull']
    """

    @property
    def directions(self) -> list[str]:
        """The direction each level took."""
        return [level.direction for level in self]

    def __str__(self) -> str:
        wide = max([len(level.step) for level in self], default=4)
        over_ranks = any(level.sent for level in self)
        head = f"{'level':>5} {'step':<{wide}} {'vertices':>11} {'edges':>13} {'found':>11} {'checked':>13} {'ms':>9}"
        head += f" {'bytes sent':>13} {'for parents':>13}" * over_ranks
        rows = [
            f"{level.depth:>5} {level.step:<{wide}} {level.vertices:>11,} {level.edges:>13,} {level.found:>11,} "
            f"{level.checked:>13,} {level.seconds * 1e3:>9.3f}"
            + f" {level.sent:>13,} {level.sent_for_parents:>13,}"
            * over_ranks
            for level in self
        ]
        return "\n".join([head, *rows])


@dataclass(frozen=True)
class Ran:
    """Which plan ran, why it was chosen, and which of its choices had no meaning on the engine.

    Compares equal to its name: `result.plan == "hopwave"`.
    """

    plan: Plan
    why: str
    without: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The plan's name in the catalogue."""
        return self.plan.name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Ran):
            return (self.plan, self.why, self.without) == (other.plan, other.why, other.without)
        return other == self.name if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        without = f"; without {', '.join(self.without)}" if self.without else ""
        return f"{self.name} ({self.why}{without})"


@dataclass(frozen=True, eq=False)
class ScaledCounts:
    """Path counts beyond float64: count[v] = mantissa[v] · 2^exponent[v], with mantissa in [0.5, 1), or 0.

    >>> ScaledCounts(np.array([0.5]), np.array([1101])).log2().tolist()
    [1100.0]
    """

    mantissa: npt.NDArray[np.float64]
    exponent: npt.NDArray[np.int64]

    def log2(self) -> npt.NDArray[np.float64]:
        """The binary logarithm of every count; −inf where there is no path."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log2(self.mantissa) + self.exponent)

    def __len__(self) -> int:
        return len(self.mantissa)

    @staticmethod
    def plain(
        mantissa: npt.NDArray[np.float64], exponent: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64] | ScaledCounts:
        """One float64 array where that can hold every count, else the pair."""
        if len(exponent) and int(exponent.max()) > 1024:  # a mantissa is below 1
            return ScaledCounts(mantissa, exponent)
        return np.asarray(np.ldexp(mantissa, exponent), np.float64)


class Later:
    """Part of an answer that is still on the device: `fetch` brings it to the host when it is first looked at."""

    def __init__(self, fetch: Callable[[], Any]) -> None:
        self.fetch = fetch


@dataclass(frozen=True, eq=False)
class BFSResult:
    """The answer of a search.

    >>> import hopwave as hw
    >>> r = hw.bfs(hw.generate.path(4), 1)
    >>> r.distances.tolist(), r.predecessors.tolist(), r.depth, r.reached
    ([1, 0, 1, 2], [1, 1, 1, 2], 2, 4)
    """

    distances: npt.NDArray[np.int32]
    predecessors: npt.NDArray[np.int32] | None
    path_counts: npt.NDArray[np.float64] | ScaledCounts | None
    depth: int
    reached: int
    sources: tuple[int, ...]
    plan: Ran
    engine: str
    trace: Trace | None
    graph: Graph = field(repr=False, compare=False)

    def __getattribute__(self, name: str) -> Any:
        value = object.__getattribute__(self, name)
        if isinstance(value, Later):
            value = value.fetch()
            object.__setattr__(self, name, value)
        return value

    def path_to(self, vertex: Any) -> list[Any]:
        """One shortest path from a source to the vertex, by label or id; needs predecessors.

        >>> import hopwave as hw
        >>> hw.bfs(hw.generate.path(4), 0).path_to(3)
        [0, 1, 2, 3]
        """
        if self.predecessors is None:
            raise GraphError("this search kept no predecessors; call bfs(..., predecessors=True)")
        v = self.graph.index(vertex)
        if self.distances[v] < 0:
            raise GraphError(
                f"{vertex!r} was not reached by this search, so it has no path; try another source or limit"
            )
        path = [v]
        while self.distances[v] > 0:
            v = int(self.predecessors[v])
            path.append(v)
        return [self._name(v) for v in reversed(path)]

    def to_dict(self) -> dict[Any, int]:
        """Distance by vertex (label or id), reached vertices alone, as NetworkX gives it.

        >>> import hopwave as hw
        >>> hw.bfs(hw.Graph.from_edges(["a"], ["b"]), "a").to_dict()
        {'a': 0, 'b': 1}
        """
        distances = on_host(self.distances)
        reached = np.flatnonzero(distances >= 0).tolist()
        return dict(zip(map(self._name, reached), distances[reached].tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """One row a vertex: distance, and predecessor and path count where they were asked for."""
        import pandas as pd

        columns: dict[str, Any] = {"distance": on_host(self.distances)}
        if self.predecessors is not None:
            columns["predecessor"] = on_host(self.predecessors)
        if isinstance(self.path_counts, ScaledCounts):
            columns["path_count_log2"] = self.path_counts.log2()
        elif self.path_counts is not None:
            columns["path_count"] = on_host(self.path_counts)
        return pd.DataFrame(columns, index=pd.Index(vertex_names(self.graph), name="vertex"))

    def _name(self, vertex: int) -> Any:
        return self.graph.label(vertex)

    def __repr__(self) -> str:
        return f"BFSResult(reached={self.reached:,}, depth={self.depth}, plan={self.plan.name}, engine={self.engine})"


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
    plan: Ran
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
    plan: Ran
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


def on_host(array: Any) -> npt.NDArray[Any]:
    """A NumPy array of what may be on a device, where it stays if the graph came from there."""
    found: npt.NDArray[Any] = array.get() if hasattr(array, "get") else array
    return found


def vertex_names(graph: Graph) -> Any:
    """The vertices' labels, or their ids."""
    return np.arange(graph.n, dtype=np.int32) if graph.labels is None else graph.labels


class PlanTable(tuple[Plan, ...]):
    """The catalogue; prints as a table, iterates over plans.

    >>> import hopwave as hw
    >>> [plan.name for plan in hw.plans()][0]
    'hopwave'
    """

    def __str__(self) -> str:
        width = max(len(plan.name) for plan in self)
        return "\n".join(f"{plan.name:<{width}}  {plan.summary}  [{plan.paper}, {plan.section}]" for plan in self)

    __repr__ = __str__

    def rows(self) -> Iterator[tuple[str, str, str, str, str]]:
        """Name, what it is, steps, rule, paper: what the README's table shows."""
        for plan in self:
            steps = " · ".join(str(step) for step in plan.steps)
            yield plan.name, plan.summary, steps, str(plan.rule), f"{plan.paper}, {plan.section}"

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = ["| plan | what it is | steps | rule | paper |", "|---|---|---|---|---|"]
        lines += [
            f"| `{name}` | {what} | {steps} | {rule} | {paper} |" for name, what, steps, rule, paper in self.rows()
        ]
        return "\n".join(lines)
