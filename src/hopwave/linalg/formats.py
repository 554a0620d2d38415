"""A vector in the format that an operation reads. The engine converts it, because it has kernels for that."""

from __future__ import annotations

from hopwave.algebra.vector import Format, Vector
from hopwave.arrays import Array
from hopwave.engines import Algebra


def listed(x: Vector, engine: Algebra) -> tuple[Array, Array]:
    """Places and values, in no particular order; the vector's own arrays if it is sparse."""
    return x.listed() if x.format == "sparse" else engine.collect(*x.arrays())[:2]


def arrays(x: Vector, engine: Algebra) -> tuple[Array, Array]:
    """n values and n bits; the vector's own arrays if it is dense. Values without a bit are arbitrary."""
    return x.arrays() if x.format == "dense" else engine.spread(x.n, *x.listed())


def writable(x: Vector, engine: Algebra) -> tuple[Array, Array]:
    """Like `arrays`, but safe to write to: two different arrays that are writable and not the caller's."""
    values, present = arrays(x, engine)
    if x.format == "sparse":
        return values, present
    if x._borrowed:
        return values.copy(), present.copy()
    if values is present or not getattr(values.flags, "writeable", True):
        values = values.copy()
    return values, present if getattr(present.flags, "writeable", True) else present.copy()


def convert(x: Vector, to: Format, engine: Algebra) -> None:
    """Keep the vector in that format from now on."""
    if to == x.format:
        return
    if to == "dense":
        x._set_dense(*arrays(x, engine), x._count)
    else:
        x._set_sparse(*engine.collect(*x.arrays()))
