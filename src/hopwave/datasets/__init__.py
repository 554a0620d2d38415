"""Example graphs: small graphs that ship with hopwave, and downloads from the SuiteSparse Matrix Collection.

>>> from hopwave import datasets
>>> datasets.names()
('karate', 'les-miserables', 'mesh', 'road')
>>> datasets.load("karate")
Graph(34 vertices, 78 edges, undirected)
>>> email = datasets.fetch("SNAP/email-Enron")  # doctest: +SKIP
"""

from hopwave.checks.keywords import offer
from hopwave.datasets.collection import Published, load, names, published
from hopwave.datasets.fetching import download, fetch
from hopwave.system.files import cache_folder

__all__ = ["Published", "cache_folder", "download", "fetch", "load", "names", "published"]

offer(globals(), __all__)
