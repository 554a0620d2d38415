"""A vector in the format that an operation reads. Conversions are made by the engine, which has kernels for them."""

from __future__ import annotations

from hopwave.algebra.vector import Format, Vector
from hopwave.arrays import Array
from hopwave.engines import Algebra


def listed(x: Vector, engine: Algebra) -> tuple[Array, Array]:
    """Places and values, in no particular order; the vector's own arrays where it is sparse."""
    return x.listed() if x.format == "sparse" else engine.collect(*x.arrays())[:2]


def arrays(x: Vector, engine: Algebra) -> tuple[Array, Array]:
    """n values and n bits; the vector's own arrays where it is dense. Values where no bit is set mean nothing."""
    return x.arrays() if x.format == "dense" else engine.spread(x.n, *x.listed())


def writable(x: Vector, engine: Algebra) -> tuple[Array, Array]:
    """As `arrays`, for a caller who writes to them: two different arrays, neither read-only nor somebody else's."""
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
