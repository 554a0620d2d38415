"""Shortest paths along arcs with lengths, each search in one cooperative launch (kernels/shortest_paths)."""
