"""Results as pandas tables. Vertices are named by their labels, if they have any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 10  # rows of a result that a notebook shows
SOURCES_SHOWN = 5


def by_vertex(graph: Graph, columns: Mapping[str, Any], vertices: Any = slice(None)) -> pd.DataFrame:
    """A DataFrame with one row per vertex (all, or those in `vertices`), indexed by label or id."""
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
    """The names of some vertices in one line; only the first few if there are many.

    >>> first_names(Graph.from_edges(["ann"], ["bob"]), (1, 0))
    'bob, ann'
    """
    names = ", ".join(str(graph.label(v)) for v in ids[:SOURCES_SHOWN])
    return names if len(ids) <= SOURCES_SHOWN else f"{names}, … ({len(ids):,} in all)"
