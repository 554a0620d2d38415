"""Betweenness from a sample: of sources, or of random shortest paths.

costs           which way within ± epsilon is cheapest: all sources, a sample of sources, or a sample of paths
sources         a sample of sources that grows until scores are within ± epsilon
source_bounds   how far scores may be off after a sample of k sources
path_schedule   how many random paths to draw, and when they are enough
paths           drawing random paths: the pilot, the looks, checkpoints, and the check of every path
"""
