"""Graph generators. The same arguments give the same graph on every machine, with any number of threads.

Parameters that many generators share:

n : int
    Number of vertices.
scale : int
    Exponent of the number of vertices, k^scale: 2^scale for a 2 × 2 initiator.
edge_factor : int, optional
    Number of edges to draw per vertex. Repeated edges are merged, so the graph may have fewer edges.
initiator : sequence of float, optional
    k × k matrix of probabilities, row by row. Default: the 2 × 2 initiator of Graph500.
seed : int, optional
    Seed of the random numbers. The same seed gives the same graph.
directed : bool, optional
    Whether the graph is directed.
permute : bool, optional
    Whether to shuffle the vertex ids, so that the id of a vertex does not depend on its degree.
first, count : int, optional
    Part of the list of edges to draw: the position of the first edge, and the number of edges. Default: all edges.

>>> from hopwave import generate
>>> generate.grid(10, 10).n
100
>>> sorted(generate.generators())[:3]
['barabasi_albert', 'complete', 'cycle']
"""

from hopwave.checks.keywords import offer
from hopwave.generate.parameters import Generator, Parameter, describe
from hopwave.generate.recursive import kronecker, kronecker_edges, rmat
from hopwave.generate.shapes import (
    barabasi_albert,
    complete,
    cycle,
    delaunay,
    diamonds,
    geometric,
    grid,
    mycielskian,
    path,
    smallworld,
    star,
    uniform,
    uniform_edges,
)

__all__ = [
    "Generator", "Parameter", "barabasi_albert", "complete", "cycle", "delaunay", "diamonds", "generators", "geometric",
    "grid", "kronecker", "kronecker_edges", "mycielskian", "path", "rmat", "smallworld", "star", "uniform",
    "uniform_edges",
]  # fmt: skip

_FUNCTIONS = (
    kronecker, rmat, uniform, smallworld, barabasi_albert, mycielskian, delaunay, geometric, grid, star, path, cycle,
    complete, diamonds,
)  # fmt: skip


def generators() -> dict[str, Generator]:
    """All generators by name, with their parameters, as the command `hopwave generate` offers them.

    Examples
    --------
    >>> [parameter.name for parameter in generators()["grid"].parameters]
    ['rows', 'columns', 'missing', 'seed']
    """
    return {function.__name__: describe(function) for function in _FUNCTIONS}


offer(globals(), __all__)
