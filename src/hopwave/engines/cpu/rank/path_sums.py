"""Sums along arcs in numbers that never overflow: mantissa · 2^exponent, both kept for every vertex.

For betweenness over ranks: path counts on the way forward, shares of dependencies on the way back.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hopwave.engines.cpu.intrinsics import COMPILED, INNER, U0, U1, U6, U63


@njit(**INNER)
def add(mantissas, exponents, place, mantissa, exponent):
    """mantissas[place] · 2^exponents[place] += mantissa · 2^exponent; a mantissa of 0 is nothing yet."""
    here = mantissas[place]
    if here == 0.0:
        mantissas[place], exponents[place] = mantissa, exponent
        return
    gap = np.int64(exponent) - np.int64(exponents[place])
    if gap > 0:
        total = mantissa + (math.ldexp(here, -gap) if gap < 1000 else 0.0)
        power = np.int64(exponent)
    else:
        total = here + (math.ldexp(mantissa, gap) if gap > -1000 else 0.0)
        power = np.int64(exponents[place])
    mantissas[place], carried = math.frexp(total)
    exponents[place] = power + carried


@njit(**COMPILED)
def scatter(offsets, neighbours, rows, mantissas, exponents, skip, sums, powers, touched):
    """Every row's number to all of its neighbours but those in skip. Returns how many were touched, and lists them.

    sums must be 0 where nothing was added; whoever takes a sum puts the 0 back.
    """
    count = 0
    for i in range(rows.size):
        row = rows[i]
        for j in range(offsets[row], offsets[row + 1]):
            place = np.uint64(neighbours[j])
            if skip.size and (skip[place >> U6] >> (place & U63)) & U1 != U0:
                continue
            if sums[place] == 0.0:
                touched[count] = neighbours[j]
                count += 1
            add(sums, powers, place, mantissas[i], exponents[i])
    return count


@njit(**COMPILED)
def add_all(places, mantissas, exponents, sums, powers):
    """Numbers that arrived, added to where they belong."""
    for i in range(places.size):
        add(sums, powers, places[i], mantissas[i], exponents[i])
