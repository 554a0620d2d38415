"""Vertices and edges of files that declare them one by one: GraphML, GML and Pajek."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.graph import Graph
from hopwave.io.format import Request, Target
from hopwave.io.numbers import Problem, float_of
from hopwave.io.source import Source
from hopwave.io.vertices import plain_labels

# Whole numbers in their usual spelling: "7" and "-7", but not "07" or "-0", which are names.
_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)


class Vertices:
    """The vertices that a file declares, by their ids there. Edges may mention a vertex before it is declared."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._numbers: dict[str | int, int] = {}
        self._undeclared: dict[str | int, int] = {}  # the line that mentions it first
        self._order = array("q")  # numbers of the declared vertices, in the order of the file
        self.labels: list[str] = []
        self.lines = array("q")

    def mention(self, key: str | int, line: int) -> int:
        """The number of the vertex at the end of an edge."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            self._undeclared[key] = line
        return number

    def declare(self, key: str | int, label: str, line: int) -> None:
        """A vertex of the file."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
        elif self._undeclared.pop(key, None) is None:
            raise self._source.fail(f"a second vertex with the id {_short(key)}; expected different ids", line)
        self._order.append(number)
        self.labels.append(label)
        self.lines.append(line)

    def places(self) -> npt.NDArray[np.int64]:
        """From the numbers of `mention` to the order of the file."""
        for key, line in self._undeclared.items():
            raise self._source.fail(f"an edge ends at {_short(key)}; expected a declared vertex", line)
        place = np.empty(len(self._order), np.int64)
        place[np.frombuffer(self._order, np.int64)] = np.arange(len(self._order))
        return place


class Edges:
    """The edges of a file as they are read: arcs and undirected edges, with weights or without."""

    def __init__(self) -> None:
        self._u = array("q")
        self._v = array("q")
        self._weights = array("d")  # NaN: none
        self._arcs = bytearray()

    def add(self, u: int, v: int, weight: float | None, arc: bool) -> None:
        """An edge between two numbers."""
        self._u.append(u)
        self._v.append(v)
        self._weights.append(math.nan if weight is None else weight)
        self._arcs.append(arc)

    def graph(
        self,
        source: Source,
        request: Request,
        n: int,
        *,
        directed: bool,
        places: npt.NDArray[np.int64] | None = None,
        labels: npt.NDArray[Any] | None = None,
        default: float | None = None,
        single: bool = False,
        weighted: bool = False,
    ) -> Graph:
        """The graph. `directed` is for a file without edges; arcs among edges make every edge two arcs.

        `places` renumbers the ends. If only some edges have a weight, the others get the default, or else 1.
        `single` says that weights are float32 (unless one is too large for that), `weighted` that a graph without edges
        has weights.
        """
        u, v = np.frombuffer(self._u, np.int64), np.frombuffer(self._v, np.int64)
        if places is not None:
            u, v = places[u], places[v]
        weights: npt.NDArray[Any] | None = None
        given = np.frombuffer(self._weights, np.float64)
        missing = np.isnan(given)
        if (default is not None or not missing.all()) if len(given) else weighted:
            weights = np.where(missing, 1.0 if default is None else default, given)
            finite = np.abs(weights[np.isfinite(weights)])
            if single and finite.max(initial=0) <= np.finfo(np.float32).max:
                weights = weights.astype(np.float32)
        arcs = np.frombuffer(self._arcs, np.bool_)
        if len(arcs):
            directed = bool(arcs.any())
        if directed and request.directed is not False and not arcs.all():
            back = ~arcs & (u != v)
            u, v = np.concatenate([u, v[back]]), np.concatenate([v, u[back]])
            weights = None if weights is None else np.concatenate([weights, weights[back]])
        return request.graph(source, u, v, n, directed=directed, labels=labels, weights=weights)


def weight_of(source: Source, text: str, line: int) -> float:
    """The number that a file gives as a weight."""
    try:
        return float_of(text)
    except Problem as problem:
        raise source.fail(f"{problem} (weight= names another attribute, weight=None leaves them out)", line) from None


def numbered(
    source: Source, labels: Sequence[str], lines: Sequence[int], names: bool | None
) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[Any] | None]:
    """Where each vertex of the file stands in the graph (None: where it is), and the labels.

    Whole numbers that are exactly 0 … n−1 are the vertices themselves. Other whole numbers are integer labels, anything
    else is a name. names=True makes all of them names, names=False requires whole numbers.
    """
    seen: dict[str, int] = {}
    for i, label in enumerate(labels):
        if seen.setdefault(label, i) != i:
            raise source.fail(
                f"a second vertex is called {_short(label)}; expected different names: choose others with label=, or "
                "drop them with labels=False",
                lines[i],
            )
    odd = 0 if names else next((i for i, label in enumerate(labels) if not _WHOLE.fullmatch(label)), None)
    if odd is not None and names is False:
        raise source.fail(f"vertex {_short(labels[odd])}; expected a whole number, or names=True", lines[odd])
    if names or odd is not None:
        texts = np.empty(len(labels), object)
        texts[:] = labels
        return None, texts
    ids = np.array([int(label) for label in labels], np.int64)
    if len(ids) == 0 or (ids.min() == 0 and ids.max() == len(ids) - 1):
        return ids, None
    return None, ids


def texts_of(target: Target, graph: Graph) -> tuple[list[str], bool]:
    """What to call the vertices in a file, and whether that must be marked as names: they look like numbers."""
    labels = plain_labels(target, graph)
    if labels is None:
        return [str(i) for i in range(graph.n)], False
    texts = [str(label) for label in labels]
    whole = all(_WHOLE.fullmatch(text) for text in texts)
    if not whole and labels and isinstance(labels[0], int):
        raise target.fail("a label of more than 18 digits; use .npz, or drop labels with labels=False")
    return texts, whole and isinstance(labels[0] if labels else 0, str)


def _short(key: str | int) -> str:
    text = repr(key)
    return text if len(text) <= 40 else text[:40] + "..."
