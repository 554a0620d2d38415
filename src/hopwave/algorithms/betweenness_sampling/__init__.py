"""Betweenness from a sample: of sources, or of random shortest paths.

costs           which way within ± epsilon is cheapest: all sources, a growing sample of sources, or a sample of paths
source_bounds   how far scores may be off after a sample of k sources
paths           random paths: how many to draw, the pilot, the looks, checkpoints, and the check of every path
"""
