"""Results as tables: the highest scores, and rows of pandas. Vertices are called by their labels, if they have any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph_arrays import vertex_names
from hopwave.optional import optional
from hopwave.whole_numbers import is_whole

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 10  # rows of a result that a notebook shows
SOURCES_SHOWN = 5


def highest(scores: npt.NDArray[Any], k: int) -> list[int]:
    """Where the k highest scores are, highest first; of equal ones, the first comes first.

    >>> highest(np.array([1.0, 3.0, 3.0]), 2)
    [1, 2]
    """
    if not is_whole(k) or k < 0:
        raise GraphError(f"{k!r} is not a number of the highest scores; give a whole number from 0")
    places: list[int] = np.argsort(-scores, kind="stable")[:k].tolist()
    return places


def by_vertex(graph: Graph, columns: Mapping[str, Any], vertices: Any = slice(None)) -> pd.DataFrame:
    """A DataFrame with one row per vertex (or per one of those given), named by label or id."""
    pandas = optional("pandas", "to_pandas")
    names = np.asarray(vertex_names(graph))[vertices]
    index = pandas.Index(names, name="vertex", tupleize_cols=False)  # a label may be a tuple
    return pandas.DataFrame(dict(columns), index=index)


def named(graph: Graph, ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The labels of vertices, None where an id is −1. A graph without labels keeps the ids.

    >>> named(Graph.from_edges(["ann"], ["bob"]), np.array([1, -1])).tolist()
    ['bob', None]
    """
    if graph.labels is None:
        return ids
    found: npt.NDArray[Any] = graph.labels.astype(object)[ids]
    found[ids < 0] = None
    return found


def first_names(graph: Graph, ids: tuple[int, ...]) -> str:
    """The names of some vertices in one line; the first few, if there are many.

    >>> first_names(Graph.from_edges(["ann"], ["bob"]), (1, 0))
    'bob, ann'
    """
    names = ", ".join(str(graph.label(v)) for v in ids[:SOURCES_SHOWN])
    return names if len(ids) <= SOURCES_SHOWN else f"{names}, … ({len(ids):,} in all)"
