"""Sums along arcs in numbers that never overflow: mantissa · 2^exponent, both kept for every vertex.

For betweenness over ranks: path counts on the way forward, shares of dependencies on the way back.
"""

import numpy as np

from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.engines.cpu.path_counts import add_scaled
from hopwave.system.numba_cache import njit


@njit(**COMPILED)
def scatter(offsets, neighbours, width, cells, mantissas, exponents, skip, sums, powers, touched):
    """Add every cell's number to the cells of all neighbours but those in skip. Lists those touched; returns how many.

    A vertex has `width` cells, one per source of a batch: cell c of vertex v is v · width + c. sums must be 0 where
    nothing was added; the caller sets them back to 0.
    """
    count = 0
    for i in range(cells.size):
        row = cells[i] // width
        column = np.uint64(cells[i] - row * width)
        for j in range(offsets[row], offsets[row + 1]):
            place = np.uint64(neighbours[j]) * np.uint64(width) + column
            if skip.size and (skip[place >> U6] >> (place & U63)) & U1 != U0:
                continue
            if sums[place] == 0.0:
                touched[count] = place
                count += 1
            sums[place], powers[place] = add_scaled(sums[place], powers[place], mantissas[i], exponents[i])
    return count


@njit(**COMPILED)
def add_all(places, mantissas, exponents, sums, powers):
    """Add numbers that arrived to the vertices that they are for."""
    for i in range(places.size):
        place = places[i]
        sums[place], powers[place] = add_scaled(sums[place], powers[place], mantissas[i], exponents[i])
