"""Betweenness on the GPU."""
