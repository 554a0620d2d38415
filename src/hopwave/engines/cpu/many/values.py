"""Sums of values at the vertices that a search has reached, by column and limit, faded with distance.

A vertex adds to the first limit that it is within; at the end, every limit gets the sums of those before it. What
rounding loses is carried along, so a sum is the exact one rounded, or next to it; sums of whole numbers are exact.
"""

import math
from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.intrinsics import INNER
from hopwave.engines.cpu.views import allocate
from hopwave.engines.ledger import declare
from hopwave.planning.many_sources import EXPONENTIAL, GAUSSIAN, NONE, Decay
from hopwave.system.numba_cache import njit

# columns: one row per vertex; found: sources × columns × limits.
Values = namedtuple("Values", "columns limits kind scale least found")


def value_arrays(n, k, columns, limits):
    """What workers read and write of a job that adds up columns of values."""
    return declare(np.float64, columns=(n, columns)) | declare(np.float64, fill=0, found=(k, columns, limits))


def new_values(valued, k):
    """What all workers share of a job that adds up values, for k sources; empty for another job."""
    if valued is None:
        nothing = Decay()
        return Values(np.empty((0, 0)), np.empty(0), nothing.kind, nothing.scale, nothing.least, np.empty((0, 0, 0)))
    columns, limits, decay = valued.columns, valued.limits, valued.decay
    made = allocate(value_arrays(columns.shape[1], k, len(columns), len(limits)))
    made["columns"][:] = columns.T
    return Values(made["columns"], limits, decay.kind, float(decay.scale), float(decay.least), made["found"])


@njit(**INNER)
def plus(total, lost, x):
    """total + x, and `lost` with the rounding error of this addition."""
    rounded = total + x
    share = rounded - total
    return rounded, lost + ((total - (rounded - share)) + (x - share))


@njit(**INNER)
def faded(d, kind, scale, least):
    """f(d), as hopwave.planning.many_sources.Decay has it."""
    if kind == EXPONENTIAL:
        return math.exp(-d / scale)
    if kind == GAUSSIAN:
        return math.exp(-0.5 * (d / scale) ** 2)
    return max(d, least) ** -scale


@njit(**INNER)
def add_values(d, order, count, own, valued, number):
    """Add up the values at the first `count` vertices of order for one source."""
    columns, limits, kind, found = valued.columns, valued.limits, valued.kind, valued.found
    sums, lost, most = own.sums, own.lost, limits.size
    sums[:] = 0.0
    lost[:] = 0.0
    for i in range(count):
        v = order[i]
        x = d[v]
        within = 0
        while x > limits[within]:
            within += 1
        share = 1.0 if kind == NONE else faded(x, kind, valued.scale, valued.least)
        for c in range(columns.shape[1]):
            place = c * most + within
            sums[place], lost[place] = plus(sums[place], lost[place], columns[v, c] * share)
    for c in range(columns.shape[1]):
        total, small = 0.0, 0.0
        for within in range(most):
            place = c * most + within
            total, small = plus(total, small + lost[place], sums[place])
            found[number, c, within] = total + small
