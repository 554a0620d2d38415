"""Names of the vertices of a graph: their labels, or their positions if there are no labels."""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.checks.numbers import is_number, is_whole, shown
from hopwave.errors import GraphError
from hopwave.graph.columns import index_of, is_numbered, iterable, plain

_BOOLS = (bool, np.bool_)
MOST_COMPARED = 20_000  # maximum labels that are compared with an unknown label


class Suggesting:
    """A message that suggests the label closest to an unknown one; the search runs when the message is printed."""

    def __init__(self, text: str, vertex: Any, labels: npt.NDArray[Any]) -> None:
        self.text, self.vertex, self.labels = text, vertex, labels

    def __str__(self) -> str:
        found, word = {str(label): label for label in self.labels.tolist()[:MOST_COMPARED]}, str(self.vertex)
        folded = [text for text in found if text.casefold() == word.casefold()]  # equal except for case or type
        near = folded or get_close_matches(word, found, n=1)
        return self.text + "".join(f"; did you mean {shown(found[one])}?" for one in near[:1])


class Named:
    """The names of a graph's vertices: conversion between names and positions in the graph's arrays."""

    if TYPE_CHECKING:

        @property
        def n(self) -> int: ...
        @property
        def labels(self) -> npt.NDArray[Any] | None: ...

    def index(self, vertex: Any) -> int:
        """The position of a vertex in every array of this graph. If the graph has labels, pass a label.

        `label` is the inverse: `G.label(3)` is the label of the vertex at position 3.

        >>> G = hw.Graph.from_edges(["ann"], ["bob"])
        >>> G.index("bob"), G.label(1), 1 in G
        (1, 'bob', False)
        """
        if self.labels is None:
            if is_whole(vertex) and 0 <= vertex < self.n:
                return int(vertex)
        elif (
            _hashable(vertex)
            and (found := self._numbers.get(plain(vertex))) is not None
            and (not isinstance(vertex, _BOOLS) or isinstance(self.labels[found], _BOOLS))  # True equals 1
        ):
            return found
        if hasattr(vertex, "as_py"):  # an Arrow scalar
            return self.index(vertex.as_py())
        message = f"{shown(int(vertex) if is_whole(vertex) else vertex)} is not a vertex of this graph; {self._reach()}"
        if self.labels is not None and is_whole(vertex) and 0 <= vertex < self.n:
            message += f"; for the vertex at position {int(vertex)}, pass G.label({int(vertex)})"
        if isinstance(vertex, _BOOLS):
            message += f"; for a mask, pass {'np.flatnonzero(mask)' if self.labels is None else 'G.labels[mask]'}"
        raise GraphError(message if self.labels is None else Suggesting(message, vertex, self.labels))

    def _positions(self, vertices: Iterable[Any]) -> list[int]:
        """`index` of several vertices."""
        if (
            type(vertices) is list
            and self.labels is None
            and {*map(type, vertices)} == {int}  # only C code, so that the usual case is fast
            and min(vertices) >= 0
            and max(vertices) < self.n
        ):
            return vertices
        return [self.index(vertex) for vertex in iterable(vertices)]

    def _reach(self) -> str:
        """The valid names of vertices, for messages."""
        if self.n == 0:
            return "the graph has no vertices"
        if self.labels is not None:
            return f"its vertices have labels such as {shown(self.label(0))}"
        return f"its vertices are the numbers 0 to {self.n - 1}"

    def label(self, vertex: int) -> Any:
        """The label of the vertex at a position, or the position itself if the graph has no labels.

        >>> hw.Graph.from_edges(["ann"], ["bob"]).label(0)
        'ann'
        """
        if not is_whole(vertex) or not 0 <= vertex < self.n:
            raise GraphError(f"{shown(vertex)} is not a position in this graph; positions are 0 to {self.n - 1}")
        return int(vertex) if self.labels is None else plain(self.labels[vertex])

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        assert self.labels is not None
        return {label: i for i, label in enumerate(self.labels.tolist())}

    def __contains__(self, vertex: Any) -> bool:
        try:
            self.index(vertex)
        except GraphError:
            return False
        return True


def by_index(graph: Named, given: Any, what: str) -> Any:
    """A pandas Series or DataFrame as an array in vertex order; other objects unchanged.

    The result is a dictionary by vertex if the index does not contain all vertices, or if the values are objects.
    """
    given = iterable(given)
    if (index := index_of(given)) is None:
        return given
    values, places = given.to_numpy(), _places(graph, index, what)
    times = np.bincount(places, minlength=graph.n)
    if times.max(initial=0) > 1:
        vertex = graph.label(int(times.argmax()))
        raise GraphError(f"the index of {what} lists {shown(vertex)} {times.max()} times; pass one row per vertex")
    if len(places) < graph.n or values.dtype == object:
        return {graph.label(v): value for v, value in zip(places.tolist(), values, strict=True)}
    found = np.empty_like(values)
    found[places] = values
    return found


def _places(graph: Named, index: Any, what: str) -> npt.NDArray[np.int64]:
    """The positions of the vertices in a pandas index; a default index (0, 1, 2, …) means vertex order."""
    if is_numbered(index, graph.n) and (graph.labels is None or not any(map(is_number, graph.labels.tolist()))):
        return np.arange(graph.n)
    ids = np.asarray(index)
    if graph.labels is None and ids.dtype.kind in "iu" and ((ids >= 0) & (ids < graph.n)).all():
        return ids.astype(np.int64)
    try:
        return np.array([graph.index(vertex := one) for one in index], np.int64)
    except GraphError:
        raise GraphError(
            f"the index of {what} has {shown(vertex)}, which is not a vertex of this graph; {graph._reach()}: "
            "pass a table with the vertices as its index (set_index), or .to_numpy() in vertex order"
        ) from None


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except (TypeError, ValueError):  # NumPy raises ValueError for a time without a unit
        return False
    return True
