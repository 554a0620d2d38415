"""Edge attributes as lengths of arcs, if hopwave finds the same distances with them as NetworkX.

Other attributes raise NotImplementedError with the reason, and NetworkX then answers the call itself: values that are
not numbers, None (which hides an edge), negative, infinite, or whole numbers whose sums float64 would round.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

EXACT = 2.0**53  # up to here float64 holds every whole number


@dataclass(frozen=True, eq=False)
class Lengths:
    """One length per arc. `whole`: all of them are Python ints, and so are NetworkX's distances."""

    values: npt.NDArray[np.float64]
    whole: bool

    def numbers(self, distances: npt.NDArray[np.float64]) -> list[Any]:
        """Distances along these lengths as Python numbers."""
        return plain_numbers(distances, self.whole)


def plain_numbers(values: npt.NDArray[Any], whole: bool) -> list[Any]:
    """Distances, or sums of distances, as Python numbers: int if NetworkX has int.

    >>> plain_numbers(np.array([2.0]), whole=True), plain_numbers(np.array([2.5]), whole=False)
    ([2], [2.5])
    """
    numbers: list[Any] = (values.astype(np.int64) if whole else values).tolist()
    return numbers


def read_lengths(adjacency: Any, nodes: list[Any], attribute: Any, missing: Any, several: bool) -> Lengths:
    """An attribute of every arc, row by row, as in `convert`; parallel edges have their least value."""
    try:
        found = list(_values(adjacency, nodes, attribute, missing, several))
    except TypeError as error:  # min() of values that cannot be compared
        raise NotImplementedError(f"the edge attribute {attribute!r} is no number somewhere: {error}") from None
    kinds = set(map(type, found))
    for kind in kinds:
        if not issubclass(kind, int | float | np.int64):
            raise NotImplementedError(
                f"the edge attribute {attribute!r} is {kind.__name__} somewhere, not int or float"
            )
    whole = not any(issubclass(kind, float) for kind in kinds)
    if not whole and any(abs(value) > EXACT for value in found if not isinstance(value, float)):
        raise NotImplementedError(f"the edge attribute {attribute!r} is a whole number that float64 rounds")
    try:
        values = np.array(found, np.float64)
    except OverflowError:
        values = np.full(1, np.inf)
    least, greatest = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    if not (least >= 0 and np.isfinite(greatest * len(nodes) ** 2)):
        raise NotImplementedError(f"the edge attribute {attribute!r} is negative, NaN or too great somewhere")
    if whole and greatest * len(nodes) >= EXACT:
        raise NotImplementedError(f"the edge attribute {attribute!r} is so great that float64 rounds sums of it")
    return Lengths(values, whole)


def _values(adjacency: Any, nodes: list[Any], attribute: Any, missing: Any, several: bool) -> Iterable[Any]:
    if several:
        return (
            min(data.get(attribute, missing) for data in keys.values())
            for node in nodes
            for keys in adjacency[node].values()
        )
    return (data.get(attribute, missing) for node in nodes for data in adjacency[node].values())
