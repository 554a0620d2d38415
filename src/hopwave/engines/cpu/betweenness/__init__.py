"""Betweenness on the CPU."""
