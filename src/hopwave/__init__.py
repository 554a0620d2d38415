"""hopwave: breadth-first search and betweenness centrality at the speed of the hardware."""

from __future__ import annotations

from hopwave import generate
from hopwave.api import bfs, plans
from hopwave.catalogue import plan
from hopwave.errors import EngineError, FormatError, GraphError, HopwaveError, PlanError
from hopwave.graph import Graph, Statistics
from hopwave.result import BFSResult, Level, ScaledCounts, Trace

__version__ = "0.1.0"
__all__ = [
    "BFSResult",
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
    "bfs",
    "generate",
    "plan",
    "plans",
]
