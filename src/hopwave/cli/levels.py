"""The levels of a search as rows, as `hopwave bfs` and `hopwave demo` show them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from rich.table import Table
from rich.text import Text

from hopwave.cli import terminal
from hopwave.graph import Graph
from hopwave.results.search import BFSResult
from hopwave.results.shortest_paths import ShortestPaths

MOST_ROWS = 40  # more levels (a road network has a thousand) are shown in groups of equal size


@dataclass(frozen=True)
class Row:
    """One row of the table: a level of the search, or several consecutive levels."""

    first: int
    last: int
    step: str
    vertices: int
    seconds: float

    @property
    def name(self) -> str:
        """The level's number, or the first and last of a group."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"

    @property
    def direction(self) -> str:
        """ "source", "push" or "pull"; for a group, the direction of its first level."""
        return self.step.partition("(")[0].partition(" ")[0]


def rows(result: BFSResult) -> list[Row]:
    """The levels in order: the source, then every level that the engine computed; the last one may be empty.

    >>> [(row.name, row.vertices) for row in rows(hw.bfs(hw.generate.path(3), 0, trace=True))]
    [('0', 1), ('1', 1), ('2', 1)]
    """
    found = np.bincount(result.distances[result.distances >= 0]).tolist()
    levels = {level.depth: level for level in result.trace or ()}
    made = [Row(0, 0, "source", found[0], 0.0)]
    for depth in range(1, max([len(found) - 1, *levels]) + 1):
        level = levels.get(depth)
        count = found[depth] if depth < len(found) else 0
        made.append(Row(depth, depth, level.step if level else "", count, level.seconds if level else 0.0))
    return made


def grouped(levels: list[Row], most: int = MOST_ROWS) -> list[Row]:
    """Consecutive levels in groups of equal size, so that there are at most `most` rows."""
    size = -(-len(levels) // most)
    groups = [levels[first : first + size] for first in range(0, len(levels), size)]
    return [
        Row(
            group[0].first, group[-1].last, _steps(group), sum(r.vertices for r in group), sum(r.seconds for r in group)
        )
        for group in groups
    ]


def _steps(group: list[Row]) -> str:
    if len(group) == 1:
        return group[0].step
    counts: dict[str, int] = {}
    for row in group:
        counts[row.direction] = counts.get(row.direction, 0) + 1
    return ", ".join(f"{direction} × {count}" if count > 1 else direction for direction, count in counts.items())


def level_table(heading: str, levels: list[Row], every: bool = False) -> Table:
    """The table of levels, with a bar for the vertices of each."""
    shown = levels if every else grouped(levels)
    caption = None
    if len(shown) < len(levels):
        caption = f"{len(levels):,} levels in groups; --all-levels shows each"
    made = terminal.table(heading, "level", "step", "vertices", "", "ms", numbers=(0, 2, 4), caption=caption)
    widest = max(len(row.step) for row in shown)
    width, most = terminal.bar_width(46 + widest), max(row.vertices for row in shown)
    for row in shown:
        colour = terminal.COLOURS.get(row.direction, "white")
        step = Text(row.step, style=colour)
        spent = "" if row.step == "source" else terminal.milliseconds(row.seconds)
        made.add_row(row.name, step, f"{row.vertices:,}", terminal.bar(row.vertices / most, width, colour), spent)
    return made


def title(graph: Graph, result: BFSResult | ShortestPaths, what: str = "Search") -> str:
    """The sources of the search, as a heading."""
    names = [str(graph.label(start)) for start in result.sources[:3]]
    more = f" and {len(result.sources) - 3} more" if len(result.sources) > 3 else ""
    return f"{what} from {', '.join(names)}{more}"


def reach(graph: Graph, result: BFSResult) -> str:
    """How many vertices were reached, within how many hops."""
    share = math.floor(1000 * result.reached / graph.n) / 10  # rounded down, so that 100% means all vertices
    hops = "hop" if result.depth == 1 else "hops"
    return f"{result.reached:,} of {graph.n:,} vertices ({share:.1f}%) within {result.depth:,} {hops}"
