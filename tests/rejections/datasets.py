"""Rejections by hopwave.datasets."""

from __future__ import annotations

from hopwave import GraphError, datasets
from rejections import Row, each

ROWS: list[Row] = [
    *each(lambda get: get("no such"), [datasets.download, datasets.fetch], GraphError, "Group/name"),
    (lambda: datasets.load("no such"), GraphError, "use one of karate"),
]
