"""Rejections by hopwave.generate."""

from __future__ import annotations

from hopwave import GraphError, generate
from rejections import Row, each

ROWS: list[Row] = [
    *each(lambda make: make(-1), [generate.complete, generate.cycle, generate.delaunay], GraphError, "n=-1 is out of"),
    *each(lambda make: make(-1), [generate.geometric, generate.path, generate.star], GraphError, "n=-1 is out of"),
    *each(lambda make: make(-1), [generate.uniform, generate.uniform_edges], GraphError, "n=-1 is out of"),
    *each(lambda make: make(-1, 2), [generate.barabasi_albert, generate.smallworld], GraphError, "n=-1"),
    *each(lambda make: make(-1), [generate.diamonds, generate.mycielskian], GraphError, "k=-1"),
    *each(lambda make: make(-1), [generate.kronecker, generate.kronecker_edges, generate.rmat], GraphError, "scale=-1"),
    (lambda: generate.grid(-1, 2), GraphError, "rows=-1"),
]
