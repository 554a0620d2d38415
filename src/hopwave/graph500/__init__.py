"""The Graph500 benchmark: a Kronecker graph, searches from random roots, each validated, and their statistics.

>>> from hopwave import graph500
>>> outcome = graph500.run(scale=8, roots=4)
>>> outcome.valid, outcome.values()["SCALE"]
(True, 8)
"""

from hopwave.graph500.benchmark import Outcome, Searched, run

__all__ = ["Outcome", "Searched", "run"]
