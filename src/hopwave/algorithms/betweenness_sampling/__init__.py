"""Betweenness from a sample: of sources, or of random shortest paths."""
