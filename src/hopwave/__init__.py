"""hopwave: breadth-first search and betweenness centrality at the speed of the hardware."""

from __future__ import annotations

from hopwave import generate
from hopwave.api import betweenness_centrality, bfs, bfs_each, edge_betweenness_centrality, plans
from hopwave.catalogue import plan
from hopwave.devices import Device, devices
from hopwave.errors import EngineError, FormatError, GraphError, HopwaveError, PlanError
from hopwave.graph import Graph
from hopwave.io import formats, read, write
from hopwave.result import (
    BetweennessResult,
    BFSResult,
    Certificate,
    EdgeBetweennessResult,
    Level,
    ScaledCounts,
    Trace,
)
from hopwave.statistics import Statistics
from hopwave.validate import Validation, validate

__version__ = "0.1.0"
__all__ = [
    "BFSResult",
    "BetweennessResult",
    "Certificate",
    "Device",
    "EdgeBetweennessResult",
    "EngineError",
    "FormatError",
    "Graph",
    "GraphError",
    "HopwaveError",
    "Level",
    "PlanError",
    "ScaledCounts",
    "Statistics",
    "Trace",
    "Validation",
    "betweenness_centrality",
    "bfs",
    "bfs_each",
    "devices",
    "edge_betweenness_centrality",
    "formats",
    "generate",
    "plan",
    "plans",
    "read",
    "validate",
    "write",
]
