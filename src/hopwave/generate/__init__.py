"""Graph generators. The same arguments give the same graph on every machine, with any number of threads.

>>> from hopwave import generate
>>> generate.grid(10, 10).n
100
>>> sorted(generate.generators())[:3]
['barabasi_albert', 'complete', 'cycle']
"""

from __future__ import annotations

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
    """All generators by name, with their parameters. The command `hopwave generate` offers these.

    See Also
    --------
    kronecker, grid

    Examples
    --------
    >>> [parameter.name for parameter in generators()["grid"].parameters]
    ['rows', 'columns', 'missing', 'seed']
    """
    return {function.__name__: describe(function) for function in _FUNCTIONS}


offer(globals(), __all__)
