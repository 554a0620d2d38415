"""Shortest paths along arcs with lengths."""
