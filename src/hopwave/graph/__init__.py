"""The class Graph and its parts."""

from hopwave.graph.graph import Graph

__all__ = ["Graph"]
