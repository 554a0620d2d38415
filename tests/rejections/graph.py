"""Rejections by Graph: constructors, conversions and methods."""

from __future__ import annotations

import numpy as np

from hopwave import Graph, GraphError, generate
from rejections import Row, masked

PATH = generate.path(4)

ROWS: list[Row] = [
    (lambda: Graph.from_edges(masked([0, 1, 2]), [1, 2, 3]), GraphError, ""),
    (lambda: Graph.from_edges([1, 2, 3], masked([0, 1, 2])), GraphError, ""),
    (lambda: Graph.from_edges([0, 1, 2], [1, 2, 3], weights=masked([0, 1, 2])), GraphError, ""),
    (lambda: PATH.with_weights(masked(np.ones(PATH.m))), GraphError, ""),
    (lambda: Graph.from_csr([0, 1], [5]), GraphError, ""),
]
