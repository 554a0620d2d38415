"""Records of the levels of a search, and of the buckets of a search for shortest paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from hopwave.display import drawing, html
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Level:
    """One level of a search, as recorded by the engine.

    The plan's rule reads three counts: `vertices` of the frontier, `edges` that leave the frontier, and
    `unvisited_edges` that leave unvisited vertices. The level reached `found` vertices and read `checked` arcs; `ahead`
    of the found vertices belong to the next level (asynchronous pulls only).

    With several ranks, `sent` is the number of bytes between ranks, and `sent_for_parents` the part for predecessors.
    `sent_by_one` is the maximum that one rank sent; `sets_by_one` is the maximum apart from predecessors: sets of
    vertices (bitmaps or shorter) and a few control words. Of `seconds`, the rank that recorded the trace
    spent `waiting` in exchanges and the rest in computation.

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
    waiting: float = 0.0

    @property
    def direction(self) -> str:
        """ "push" or "pull"."""
        return self.step.partition("(")[0]


Record = TypeVar("Record")


class _Table(tuple[Record, ...], drawing.Plotted):
    """Records in order; shown as a table or a plot."""

    _kind: ClassVar[Any]
    _title: ClassVar[str]

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with one row per level or bucket, and the columns of `Level` or `Bucket`.

        >>> hw.bfs(hw.generate.path(3), 0, trace=True).trace.to_pandas()["found"].tolist()
        [1, 1]
        """
        columns = list(self._kind.__dataclass_fields__)
        rows = [vars(record) for record in self]
        return optional("pandas", "to_pandas").DataFrame(rows, columns=columns).set_index(columns[0])

    def _cells(self) -> list[list[str]]:
        """The cells of the table as text, headers first."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        heads, *rows = self._cells()
        return html.table(self._title, rows, heads)

    def __str__(self) -> str:
        rows = self._cells()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.rjust, row, widths)) for row in rows)


class Trace(_Table[Level]):
    """The levels of a search in order; `str(trace)` is a table.

    `plot()` draws the vertices of each level as bars, coloured by its direction.

    >>> hw.bfs(hw.generate.path(3), 0, plan="turbobfs-bu-sc", trace=True).trace.directions
    ['pull', 'pull', 'pull']
    """

    _kind, _title = Level, "Levels of a search"

    @property
    def directions(self) -> list[str]:
        """The direction of each level."""
        return [level.direction for level in self]

    def _draw(self, axes: Axes) -> None:
        ahead = [0, *(level.ahead for level in self)]  # a vertex found ahead belongs to the next level
        found = [level.found - level.ahead + before for level, before in zip(self, ahead, strict=False)]
        counts = [self[0].vertices, *found] if self else []
        drawing.levels(axes, range(len(counts)), counts, ["source", *self.directions][: len(counts)])
        axes.set_xlabel("hops from the source")

    def _cells(self) -> list[list[str]]:
        over_ranks = any(level.sent for level in self)
        heads = ["level", "step", "vertices", "edges", "found", "checked", "ms"]
        rows = [heads + ["ms waiting", "bytes sent", "for parents"] * over_ranks]
        for level in self:
            counts = (level.vertices, level.edges, level.found, level.checked)
            sent = [f"{level.waiting * 1e3:.3f}", f"{level.sent:,}", f"{level.sent_for_parents:,}"] * over_ranks
            ms = f"{level.seconds * 1e3:.3f}"
            rows.append([str(level.depth), level.step, *(f"{count:,}" for count in counts), ms, *sent])
        return rows


@dataclass(frozen=True)
class Bucket:
    """One bucket of a search for shortest paths: distances at least `least` and below `least` + Δ.

    In each of its `rounds`, the vertices with a new distance in the bucket relax their arcs. `vertices` and `arcs`
    count them over all rounds; a vertex whose distance is shortened again counts again.

    >>> Bucket(least=0.0, rounds=1, vertices=2, arcs=3, seconds=0.001).vertices
    2
    """

    least: float
    rounds: int
    vertices: int
    arcs: int
    seconds: float


class BucketTrace(_Table[Bucket]):
    """The buckets of a search for shortest paths in order, without empty ones; `str(trace)` is a table.

    `plot()` draws the `vertices` of each bucket over its smallest distance.

    >>> roads = hw.Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[1.0, 1.0, 4.0])
    >>> [(b.least, b.vertices, b.arcs) for b in hw.sssp(roads, 0, delta=2.0, trace=True).trace]
    [(0.0, 2, 3), (2.0, 1, 2), (6.0, 1, 1)]
    """

    _kind, _title = Bucket, "Buckets of a search"

    def _draw(self, axes: Axes) -> None:
        axes.step([b.least for b in self], [b.vertices for b in self], where="post", color=drawing.COLOURS["push"])
        axes.set(xlabel="distance from the source", ylabel="vertices in the bucket")
        axes.grid(axis="y", color=drawing.PALE)

    def _cells(self) -> list[list[str]]:
        rows = [["from", "rounds", "vertices", "arcs", "ms"]]
        for b in self:
            rows.append([f"{b.least:g}", f"{b.rounds:,}", f"{b.vertices:,}", f"{b.arcs:,}", f"{b.seconds * 1e3:.3f}"])
        return rows
