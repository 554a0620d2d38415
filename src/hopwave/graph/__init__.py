"""The graph that everything runs on, and what it is made of."""

from hopwave.graph.graph import Graph

__all__ = ["Graph"]
